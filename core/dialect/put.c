/* put.c - what all writers of requests share. */
#include "put.h"

#include "acog/contract.h"
#include "id_index.h"
#include "schema.h"

#include <stdarg.h>

void acog_put(struct acog_request_writer *writer, struct acog_view bytes)
{
    if (writer->code == ACOG_OK) {
        writer->code = acog_buffer_append(writer->out, bytes);
    }
}

void acog_put_format(struct acog_request_writer *writer, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (writer->code == ACOG_OK) {
        writer->code = acog_buffer_format_list(writer->out, fmt, args);
    }
    va_end(args);
}

void acog_put_inside(struct acog_request_writer *writer, struct acog_text text)
{
    if (writer->code == ACOG_OK) {
        writer->code = acog_text_append_inside(writer->out, text);
    }
}

void acog_put_string(struct acog_request_writer *writer, struct acog_text text)
{
    acog_put(writer, ACOG_VIEW("\""));
    acog_put_inside(writer, text);
    acog_put(writer, ACOG_VIEW("\""));
}

void acog_put_decoded(struct acog_request_writer *writer, struct acog_text text)
{
    if (writer->code == ACOG_OK) {
        writer->code = acog_text_append_plain(writer->out, text);
    }
}

struct acog_view acog_writer_characters(struct acog_request_writer *writer, struct acog_text text)
{
    struct acog_view characters = {0};
    if (writer->code == ACOG_OK) {
        writer->code = acog_text_characters(text, writer->arena, &characters);
    }
    return characters;
}

void acog_put_member(struct acog_request_writer *writer, struct acog_view name,
                     struct acog_json_value value)
{
    if (acog_json_present(value)) {
        acog_put(writer, ACOG_VIEW(",\""));
        acog_put(writer, name);
        acog_put(writer, ACOG_VIEW("\":"));
        acog_put(writer, value.raw);
    }
}

void acog_put_openai_tool_choice(struct acog_request_writer *writer, struct acog_view before_name,
                                 struct acog_view after_name)
{
    const struct acog_conversation *conversation = writer->conversation;
    switch (conversation->tool_choice) {
    case ACOG_TOOL_CHOICE_UNSET:
        break;
    case ACOG_TOOL_CHOICE_AUTO:
        acog_put(writer, ACOG_VIEW(",\"tool_choice\":\"auto\""));
        break;
    case ACOG_TOOL_CHOICE_NONE:
        acog_put(writer, ACOG_VIEW(",\"tool_choice\":\"none\""));
        break;
    case ACOG_TOOL_CHOICE_REQUIRED:
        acog_put(writer, ACOG_VIEW(",\"tool_choice\":\"required\""));
        break;
    case ACOG_TOOL_CHOICE_NAMED:
        acog_put(writer, ACOG_VIEW(",\"tool_choice\":"));
        acog_put(writer, before_name);
        acog_put_tool_name(writer, acog_text_of(conversation->tool_choice_name));
        acog_put(writer, after_name);
        break;
    }
    if (conversation->parallel_off) {
        acog_put(writer, ACOG_VIEW(",\"parallel_tool_calls\":false"));
    }
}

/* Cut where a character ends. */
static struct acog_view beginning(struct acog_view text, size_t bytes)
{
    while (bytes > 0 && ((unsigned char)text.ptr[bytes] & 0xc0U) == 0x80U) {
        bytes--;
    }
    return acog_view_slice(text, 0, bytes);
}

void acog_put_openai_call_id(struct acog_request_writer *writer, struct acog_text id,
                             size_t bytes_max)
{
    struct acog_view characters = acog_writer_characters(writer, id);
    acog_put(writer, ACOG_VIEW("\""));
    if (characters.len <= bytes_max) {
        acog_put_inside(writer, acog_text_plain(characters));
    } else {
        acog_put_inside(writer, acog_text_plain(beginning(characters, bytes_max - 17)));
        acog_put_format(writer, "_%016llx", (unsigned long long)acog_id_hash(characters));
    }
    acog_put(writer, ACOG_VIEW("\""));
}

void acog_put_openai_schema(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    acog_put(writer, ACOG_VIEW("\"name\":"));
    acog_put(writer, acog_text_of(conversation->schema_name).bytes.len > 0
                         ? conversation->schema_name.raw
                         : ACOG_VIEW("\"" ACOG_SCHEMA_TOOL_NAME "\""));
    acog_put_member(writer, ACOG_VIEW("description"), conversation->schema_description);
    acog_put_member(writer, ACOG_VIEW("schema"), conversation->schema);
    acog_put_member(writer, ACOG_VIEW("strict"), acog_schema_openai_strict_format(writer));
}

void acog_put_openai_url(struct acog_request_writer *writer, const struct acog_media *media)
{
    acog_put(writer, ACOG_VIEW("\""));
    if (media->source == ACOG_MEDIA_BASE64) {
        acog_put(writer, ACOG_VIEW("data:"));
        acog_put_inside(writer, acog_text_plain(media->media_type));
        acog_put(writer, ACOG_VIEW(";base64,"));
    }
    acog_put_inside(writer, media->data);
    acog_put(writer, ACOG_VIEW("\""));
}

void acog_put_openai_file_name(struct acog_request_writer *writer, const struct acog_media *media)
{
    struct acog_text name = acog_text_of(media->name);
    bool pdf = acog_view_equal(media->media_type, ACOG_VIEW("application/pdf"));
    if (name.bytes.len == 0) {
        name = acog_text_plain(pdf ? ACOG_VIEW("document.pdf") : ACOG_VIEW("document"));
    }
    acog_put_string(writer, name);
}

/* -- what is not sent ------------------------------------------------------------------------------ */

static bool is_named(struct acog_view list, struct acog_view name)
{
    size_t from = 0;
    while (from < list.len) {
        struct acog_view rest = acog_view_slice(list, from, list.len);
        size_t end = acog_view_find(rest, ACOG_VIEW(", "));
        if (acog_view_equal(acog_view_slice(rest, 0, end), name)) {
            return true;
        }
        from += end + 2;
    }
    return false;
}

/* What stands in a header: a name that has other bytes than visible ASCII, a comma or a quote is nobody's field. */
static bool is_sane_name(struct acog_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        char byte = name.ptr[i];
        if (byte <= 0x20 || byte > 0x7e || byte == ',' || byte == '"' || byte == '\\') {
            return false;
        }
    }
    return name.len > 0 && name.len <= ACOG_DROPPED_NAME_MAX;
}

/* A list that is full says so: the header is for people, and has a cap. */
void acog_put_dropped(struct acog_request_writer *writer, struct acog_view name)
{
    const struct acog_view more = ACOG_VIEW(", ...");
    struct acog_buffer *list = &writer->dropped;
    size_t before = list->len;
    if (writer->code != ACOG_OK || is_named(acog_buffer_view(list), name)) {
        return;
    }
    if (!is_sane_name(name)) {
        name = ACOG_VIEW("(unnamed)");
        if (is_named(acog_buffer_view(list), name)) {
            return;
        }
    }
    if (before + name.len + 2 * more.len > list->bytes_max) {
        name = ACOG_VIEW("...");
        if (is_named(acog_buffer_view(list), name)) {
            return;
        }
    }
    writer->code = before == 0 ? ACOG_OK : acog_buffer_append(list, ACOG_VIEW(", "));
    if (writer->code == ACOG_OK) {
        writer->code = acog_buffer_append(list, name);
    }
}

void acog_put_lost(struct acog_request_writer *writer, struct acog_view chat,
                   struct acog_view messages, struct acog_view responses)
{
    switch (acog_surface_dialect(writer->conversation->surface)) {
    case ACOG_DIALECT_CHAT:
        acog_put_dropped(writer, chat);
        return;
    case ACOG_DIALECT_MESSAGES:
        acog_put_dropped(writer, messages);
        return;
    case ACOG_DIALECT_RESPONSES:
        acog_put_dropped(writer, responses);
        return;
    case ACOG_DIALECT_GEMINI:
    case ACOG_DIALECT_COUNT:
        break;
    }
    ACOG_UNREACHABLE("a dialect of clients");
}

void acog_put_user(struct acog_request_writer *writer, struct acog_view before,
                   struct acog_view after, size_t bytes_max)
{
    struct acog_json_value user = writer->conversation->user;
    if (!acog_json_present(user)) {
        return;
    }
    if (acog_writer_characters(writer, acog_text_of(user)).len > bytes_max) {
        acog_put_lost(writer, ACOG_VIEW("user"), ACOG_VIEW("metadata.user_id"), ACOG_VIEW("user"));
        return;
    }
    acog_put(writer, before);
    acog_put(writer, user.raw);
    acog_put(writer, after);
}

void acog_put_cache_lost(struct acog_request_writer *writer, const struct acog_part *part,
                         bool leading)
{
    if (acog_json_present(part->cache)) {
        acog_put_lost(writer, ACOG_VIEW("messages.cache_control"),
                      leading ? ACOG_VIEW("system.cache_control")
                              : ACOG_VIEW("messages.cache_control"),
                      ACOG_VIEW("input.cache_control"));
    }
}

void acog_put_reasoning_lost(struct acog_request_writer *writer)
{
    bool word = writer->conversation->reasoning.effort != ACOG_EFFORT_COUNT;
    acog_put_lost(writer, ACOG_VIEW("reasoning_effort"),
                  word ? ACOG_VIEW("output_config.effort") : ACOG_VIEW("thinking"),
                  word ? ACOG_VIEW("reasoning.effort") : ACOG_VIEW("reasoning"));
}

/* -- fields ---------------------------------------------------------------------------------------- */

static bool is_penalty(enum acog_field field)
{
    return field == ACOG_FIELD_FREQUENCY_PENALTY || field == ACOG_FIELD_PRESENCE_PENALTY;
}

/* Of the fields that a model which reasons refuses (B12). Its own temperature, 1, may be left out unseen. */
static bool is_sampling(enum acog_field field)
{
    return field == ACOG_FIELD_TEMPERATURE || field == ACOG_FIELD_TOP_P ||
           field == ACOG_FIELD_TOP_K || is_penalty(field);
}

bool acog_put_takes(const struct acog_request_writer *writer, enum acog_field field)
{
    const struct acog_model_rules *rules = writer->translation->rules;
    if (field == ACOG_FIELD_STORE) {
        return false; /* what is kept of a translated request is nothing that its client could ask for again */
    }
    if (field == ACOG_FIELD_INCLUDE) {
        return false; /* what a translated answer needs its writer asks for */
    }
    if ((field == ACOG_FIELD_TOP_K && !rules->top_k) || (is_penalty(field) && !rules->penalties)) {
        return false;
    }
    return !is_sampling(field) || rules->temperature;
}

/* What happens anyway, where the field is not sent. */
static bool is_default(enum acog_field field, struct acog_json_value value)
{
    double number = 0;
    if (field == ACOG_FIELD_STORE) {
        return value.type == ACOG_JSON_FALSE;
    }
    return field == ACOG_FIELD_TEMPERATURE && acog_json_double(value, &number) && number > 0.9999 &&
           number < 1.0001;
}

void acog_put_field_lost(struct acog_request_writer *writer, enum acog_field field)
{
    const struct acog_conversation *conversation = writer->conversation;
    if (!is_default(field, conversation->fields[field])) {
        acog_put_dropped(writer,
                         acog_field_name(field, acog_surface_dialect(conversation->surface)));
    }
}

void acog_put_field_value(struct acog_request_writer *writer, enum acog_field field)
{
    const struct acog_model_rules *rules = writer->translation->rules;
    struct acog_json_value value = writer->conversation->fields[field];
    double number = 0;
    if (field == ACOG_FIELD_TEMPERATURE && acog_json_double(value, &number) &&
        number > rules->temperature_max) {
        acog_put_format(writer, "%g", rules->temperature_max);
        acog_put_field_lost(writer, field);
    } else if (field == ACOG_FIELD_SERVICE_TIER &&
               acog_json_text_is(value, ACOG_VIEW("standard_only"))) {
        acog_put(writer, ACOG_VIEW("\"default\"")); /* Anthropic's word for it; it writes its own */
    } else {
        acog_put(writer, value.raw);
    }
}

void acog_put_fields(struct acog_request_writer *writer, enum acog_dialect dialect)
{
    for (int i = 0; i < ACOG_FIELD_COUNT; i++) {
        enum acog_field field = (enum acog_field)i;
        struct acog_view name = acog_field_name(field, dialect);
        if (!acog_json_present(writer->conversation->fields[i]) ||
            acog_view_find(name, ACOG_VIEW(".")) < name.len) {
            continue;
        }
        if (name.len == 0 || !acog_put_takes(writer, field)) {
            acog_put_field_lost(writer, field);
            continue;
        }
        acog_put(writer, ACOG_VIEW(",\""));
        acog_put(writer, name);
        acog_put(writer, ACOG_VIEW("\":"));
        acog_put_field_value(writer, field);
    }
    const struct acog_unknown_field *unknown = writer->conversation->unknown;
    for (; unknown != NULL; unknown = unknown->next) {
        acog_put_dropped(writer, acog_text_of(unknown->name).bytes);
    }
}
