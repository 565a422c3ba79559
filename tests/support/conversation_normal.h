/* conversation_normal.h - what must be the same in a conversation and in the one that comes back from another dialect.
 *
 * What is compared as a text, part by part (normal_turns; `told`: the dialects that it was told in on its way, there and
 * back):
 *
 *   system "…"                    all leading system texts, a blank line between them, as responses has them
 *   user text "…"                 a system text between the turns counts as a user's "<system>…</system>" (B14); through
 *                                 messages so does one before all others that is no leading one there
 *   user media TYPE DATA          an address has no type; a document of plain text is a text
 *   user result N "…" media …     N: of the calls of the turn before; all its texts as one, "Error: " before those of an
 *                                 error (B25); through chat its media are the user's own, behind the results
 *   assistant text "…"            through messages a refusal is a text
 *   assistant refusal "…"         through chat behind the texts, and all as one
 *   assistant call NAME {…}
 *
 * Losses of the table in core/dialect/README.md that it leaves out: reasoning (its maker alone gets it back, B28, B39),
 * cache markers, names and details of media, the spelling of call ids (B08).
 *
 * The rest, field by field (normal_settings): the same, or named to the client as dropped.
 */
#ifndef ACOG_TESTS_SUPPORT_CONVERSATION_NORMAL_H
#define ACOG_TESTS_SUPPORT_CONVERSATION_NORMAL_H

#include "acog/contract.h"
#include "core/dialect/conversation.h"
#include "core/dialect/media.h"
#include "core/dialect/schema.h"

#include <stdio.h>
#include <string.h>

static inline void normal_put(struct acog_buffer *out, struct acog_view bytes)
{
    ACOG_ASSERT(acog_buffer_append(out, bytes) == ACOG_OK);
}

static inline void normal_put_text(struct acog_buffer *out, struct acog_text text)
{
    ACOG_ASSERT(acog_text_append_plain(out, text) == ACOG_OK);
}

static inline bool normal_is_text(const struct acog_part *part)
{
    return part->kind == ACOG_PART_TEXT ||
           (part->kind == ACOG_PART_MEDIA && part->media.source == ACOG_MEDIA_TEXT);
}

static inline struct acog_text normal_text_of(const struct acog_part *part)
{
    return part->kind == ACOG_PART_MEDIA ? part->media.data : acog_text_of(part->text);
}

/* The name of a function, as it is told to those that do not take every name. */
static inline void normal_put_name(struct acog_buffer *out, struct acog_text name, unsigned told)
{
    char memory[ACOG_IDENTITY_TOLD_MAX];
    size_t from = out->len;
    normal_put_text(out, name);
    for (int dialect = 0; dialect < ACOG_DIALECT_COUNT; dialect++) {
        struct acog_view characters = acog_view_slice(acog_buffer_view(out), from, out->len);
        if ((told & ACOG_BIT(dialect)) != 0 &&
            !acog_tool_name_fits((enum acog_dialect)dialect, characters)) {
            const struct acog_tool_identity identity =
                acog_identity_make((struct acog_view){0}, characters);
            struct acog_view fitting = acog_identity_told_name(&identity, true, memory);
            out->len = from;
            normal_put(out, fitting);
        }
    }
}

/* -- turns ----------------------------------------------------------------------------------------- */

/* The formats of audio have several media types each. */
static inline void normal_put_media(struct acog_buffer *out, const struct acog_media *media)
{
    struct acog_view format = acog_media_audio_format(media->media_type);
    normal_put(out, ACOG_VIEW("media "));
    if (media->source == ACOG_MEDIA_BASE64) {
        normal_put(out, format.len > 0 ? format : media->media_type);
    }
    normal_put(out, ACOG_VIEW(" "));
    normal_put_text(out, media->data);
    normal_put(out, ACOG_VIEW("\n"));
}

static inline void normal_put_said(struct acog_buffer *out, const struct acog_part *part)
{
    if (normal_is_text(part)) {
        normal_put(out, ACOG_VIEW("text \""));
        normal_put_text(out, normal_text_of(part));
        normal_put(out, ACOG_VIEW("\"\n"));
    } else {
        normal_put_media(out, &part->media);
    }
}

static inline void normal_put_call_number(struct acog_buffer *out, const struct acog_turn *calls,
                                          struct acog_text id)
{
    int number = 0;
    const struct acog_part *part = calls == NULL ? NULL : calls->parts.first;
    for (; part != NULL && !acog_view_equal(part->id.bytes, id.bytes); part = part->next) {
        number += part->kind == ACOG_PART_TOOL_CALL ? 1 : 0;
    }
    ACOG_ASSERT(part != NULL); /* decision 13 */
    ACOG_ASSERT(acog_buffer_format(out, "%d", number) == ACOG_OK);
}

static inline void normal_put_result(struct acog_buffer *out, const struct acog_turn *calls,
                                     const struct acog_part *result, unsigned told)
{
    normal_put(out, ACOG_VIEW("user result "));
    normal_put_call_number(out, calls, result->id);
    normal_put(out, result->is_error ? ACOG_VIEW(" \"Error: ") : ACOG_VIEW(" \""));
    for (const struct acog_part *part = result->content.first; part != NULL; part = part->next) {
        bool moved = (told & ACOG_BIT(ACOG_DIALECT_CHAT)) != 0 && part->kind == ACOG_PART_MEDIA;
        if (normal_is_text(part) && !moved) {
            normal_put_text(out, normal_text_of(part));
        }
    }
    normal_put(out, ACOG_VIEW("\"\n"));
    for (const struct acog_part *part = result->content.first;
         part != NULL && (told & ACOG_BIT(ACOG_DIALECT_CHAT)) == 0; part = part->next) {
        if (!normal_is_text(part)) {
            normal_put_media(out, &part->media);
        }
    }
}

/* What chat puts behind the results of a turn. */
static inline void normal_put_moved(struct acog_buffer *out, const struct acog_turn *turn)
{
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        for (const struct acog_part *inner = part->content.first; inner != NULL;
             inner = inner->next) {
            if (inner->kind == ACOG_PART_MEDIA) {
                normal_put(out, ACOG_VIEW("user "));
                normal_put_said(out, inner);
            }
        }
    }
}

static inline void normal_put_user(struct acog_buffer *out, const struct acog_turn *calls,
                                   const struct acog_turn *turn, unsigned told)
{
    const struct acog_part *part = turn->parts.first;
    for (; part != NULL && part->kind == ACOG_PART_TOOL_RESULT; part = part->next) {
        normal_put_result(out, calls, part, told);
    }
    if ((told & ACOG_BIT(ACOG_DIALECT_CHAT)) != 0) {
        normal_put_moved(out, turn);
    }
    for (; part != NULL; part = part->next) {
        normal_put(out, ACOG_VIEW("user "));
        normal_put_said(out, part);
    }
}

static inline void normal_put_refusals(struct acog_buffer *out, const struct acog_turn *turn)
{
    bool any = false;
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind == ACOG_PART_REFUSAL) {
            normal_put(out, any ? ACOG_VIEW("") : ACOG_VIEW("assistant refusal \""));
            normal_put_text(out, acog_text_of(part->text));
            any = true;
        }
    }
    normal_put(out, any ? ACOG_VIEW("\"\n") : ACOG_VIEW(""));
}

static inline void normal_put_call(struct acog_buffer *out, const struct acog_part *call,
                                   unsigned told)
{
    normal_put(out, ACOG_VIEW("assistant call "));
    normal_put_name(out, call->name, told);
    normal_put(out, ACOG_VIEW(" "));
    size_t from = out->len;
    normal_put_text(out, call->arguments);
    struct acog_view arguments = acog_view_slice(acog_buffer_view(out), from, out->len);
    struct acog_view trimmed = acog_view_trim(arguments);
    memmove(out->ptr + from, trimmed.ptr, trimmed.len);
    out->len = from + trimmed.len;
    normal_put(out, ACOG_VIEW("\n"));
}

static inline void normal_put_assistant(struct acog_buffer *out, const struct acog_turn *turn,
                                        unsigned told)
{
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        bool refusal = part->kind == ACOG_PART_REFUSAL;
        if (normal_is_text(part) || (refusal && (told & ACOG_BIT(ACOG_DIALECT_MESSAGES)) != 0)) {
            normal_put(out, ACOG_VIEW("assistant text \""));
            normal_put_text(out, normal_text_of(part));
            normal_put(out, ACOG_VIEW("\"\n"));
        } else if (refusal && (told & ACOG_BIT(ACOG_DIALECT_CHAT)) == 0) {
            normal_put(out, ACOG_VIEW("assistant refusal \""));
            normal_put_text(out, acog_text_of(part->text));
            normal_put(out, ACOG_VIEW("\"\n"));
        }
    }
    if ((told & ACOG_BIT(ACOG_DIALECT_CHAT)) != 0 &&
        (told & ACOG_BIT(ACOG_DIALECT_MESSAGES)) == 0) {
        normal_put_refusals(out, turn);
    }
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind == ACOG_PART_TOOL_CALL) {
            normal_put_call(out, part, told);
        }
    }
}

static inline void normal_put_system(struct acog_buffer *out, const struct acog_part_list *list,
                                     bool *any)
{
    for (const struct acog_part *part = list->first; part != NULL; part = part->next) {
        normal_put(out, *any ? ACOG_VIEW("\n\n") : ACOG_VIEW("system \""));
        normal_put_text(out, acog_text_of(part->text));
        *any = true;
    }
}

static inline void normal_put_downgraded(struct acog_buffer *out, const struct acog_turn *turn)
{
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        normal_put(out, ACOG_VIEW("user text \"<system>"));
        normal_put_text(out, acog_text_of(part->text));
        normal_put(out, ACOG_VIEW("</system>\"\n"));
    }
}

static inline bool normal_only_thought(const struct acog_turn *turn)
{
    const struct acog_part *part = turn->parts.first;
    while (part != NULL && part->kind == ACOG_PART_REASONING) {
        part = part->next;
    }
    return part == NULL;
}

static inline void normal_turns(struct acog_buffer *out,
                                const struct acog_conversation *conversation, unsigned told,
                                enum acog_dialect via)
{
    const struct acog_turn *calls = NULL; /* the assistant's turn before */
    const struct acog_turn *turn = conversation->turns;
    bool any = false;
    normal_put_system(out, &conversation->system, &any);
    for (; turn != NULL && via != ACOG_DIALECT_MESSAGES &&
           (turn->role == ACOG_TURN_SYSTEM || normal_only_thought(turn));
         turn = turn->next) { /* nothing was said before them: they are leading ones too */
        if (turn->role == ACOG_TURN_SYSTEM) {
            normal_put_system(out, &turn->parts, &any);
        }
    }
    normal_put(out, any ? ACOG_VIEW("\"\n") : ACOG_VIEW(""));
    for (; turn != NULL; turn = turn->next) {
        switch (turn->role) {
        case ACOG_TURN_USER:
            normal_put_user(out, calls, turn, told);
            break;
        case ACOG_TURN_ASSISTANT:
            normal_put_assistant(out, turn, told);
            break;
        case ACOG_TURN_SYSTEM:
            normal_put_downgraded(out, turn);
            break;
        }
        calls = turn->role == ACOG_TURN_ASSISTANT ? turn : NULL;
    }
}

/* -- settings -------------------------------------------------------------------------------------- */

/* A way there and back. `dropped`: what was named on it, in the names of the one and of the other dialect. */
struct normal_trip {
    const struct acog_conversation *first;
    const struct acog_conversation *back;
    enum acog_dialect from;
    enum acog_dialect via;
    struct acog_view dropped[2];
};

static inline bool normal_names(const struct normal_trip *trip, struct acog_view name)
{
    for (int i = 0; i < 2; i++) {
        struct acog_view list = trip->dropped[i];
        while (name.len > 0 && list.len > 0) {
            size_t end = acog_view_find(list, ACOG_VIEW(", "));
            if (acog_view_equal(acog_view_slice(list, 0, end), name)) {
                return true;
            }
            list = acog_view_slice(list, end + 2, list.len);
        }
    }
    return false;
}

/* Any of the names that the dialects have for a setting. */
static inline bool normal_names_any(const struct normal_trip *trip, const char *const names[4])
{
    bool named = false;
    for (int i = 0; i < 4 && names[i] != NULL; i++) {
        named = named || normal_names(trip, acog_view_of(names[i]));
    }
    return named;
}

/* What happens anyway, and a list that asks for nothing (read_messages.c): left out unseen. */
static inline bool normal_is_neutral(enum acog_field field, struct acog_json_value value)
{
    double number = 0;
    struct acog_json_cursor cursor = acog_json_enter(value);
    if (value.type == ACOG_JSON_ARRAY) {
        return !acog_json_next(&cursor);
    }
    if (field == ACOG_FIELD_STORE) {
        return value.type == ACOG_JSON_FALSE;
    }
    return (field == ACOG_FIELD_TEMPERATURE || field == ACOG_FIELD_TOP_P) &&
           acog_json_double(value, &number) && number > 0.9999 && number < 1.0001;
}

static inline void normal_fields(const struct normal_trip *trip)
{
    for (int i = 0; i < ACOG_FIELD_COUNT; i++) {
        enum acog_field field = (enum acog_field)i;
        struct acog_json_value before = trip->first->fields[i];
        if (!acog_json_present(before) || normal_is_neutral(field, before)) {
            continue;
        }
        bool kept = acog_view_equal(before.raw, trip->back->fields[i].raw) ||
                    normal_names(trip, acog_field_name(field, trip->from)) ||
                    normal_names(trip, acog_field_name(field, trip->via));
        if (!kept) {
            (void)fprintf(stderr, "lost: %.*s\n",
                          ACOG_VIEW_FMT(acog_field_name(field, trip->from)));
        }
        ACOG_ASSERT(kept);
    }
}

static inline bool normal_is_any_object(struct acog_json_value schema)
{
    static const char *const spellings[] = {
        "{\"type\":\"object\"}",
        "{\"type\":\"object\",\"properties\":{}}",
        "{\"properties\":{},\"type\":\"object\"}",
        "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}",
        "{\"properties\":{},\"type\":\"object\",\"additionalProperties\":false}",
    };

    struct acog_json_cursor cursor = acog_json_enter(schema);
    bool any =
        !acog_json_present(schema) || (schema.type == ACOG_JSON_OBJECT && !acog_json_next(&cursor));
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]) && !any; i++) {
        any = acog_view_equal(schema.raw, acog_view_of(spellings[i]));
    }
    return any;
}

/* As Anthropic's native formats have it, if they can: that comes back as it is. */
static inline void normal_put_native(struct acog_buffer *out, struct acog_json_value schema)
{
    struct acog_request_writer writer = {.out = out};
    if (acog_schema_fit_messages(schema).objection == NULL) {
        acog_schema_put_messages(&writer, schema);
        ACOG_ASSERT(writer.code == ACOG_OK);
    } else {
        normal_put(out, schema.raw);
    }
}

/* Anthropic demands the type that others leave away, responses a schema, OpenAI properties. */
static inline void normal_put_object_schema(struct acog_buffer *out, struct acog_json_value schema)
{
    static const struct acog_view names[] = {{"type", 4}, {"properties", 10}};
    struct acog_json_value found[2];
    if (normal_is_any_object(schema)) {
        normal_put(out, ACOG_VIEW("{\"type\":\"object\"}"));
        return;
    }
    acog_json_members(schema, names, found, 2);
    bool typed = acog_json_present(found[0]);
    bool object = !typed || acog_json_text_is(found[0], ACOG_VIEW("object"));
    normal_put(out, object && !acog_json_present(found[1]) ? ACOG_VIEW("{\"properties\":{},")
                                                           : ACOG_VIEW("{"));
    normal_put(out, typed ? ACOG_VIEW("") : ACOG_VIEW("\"type\":\"object\","));
    normal_put(out, acog_view_slice(schema.raw, 1, schema.raw.len));
}

static inline struct acog_json_value normal_parsed(const struct acog_buffer *text)
{
    struct acog_json_value value = {.raw = {0}};
    struct acog_json_error error;
    ACOG_ASSERT(acog_json_check(acog_buffer_view(text), ACOG_JSON_DEPTH_MAX, &value, &error) ==
                ACOG_OK);
    return value;
}

/* Also a strict one comes back in the native form, and OpenAI wants the items of arrays. */
static inline void normal_put_schema(struct acog_buffer *out, struct acog_json_value schema)
{
    struct acog_buffer object;
    struct acog_buffer told;
    struct acog_buffer native;
    acog_buffer_init(&object, out->bytes_max);
    acog_buffer_init(&told, out->bytes_max);
    acog_buffer_init(&native, out->bytes_max);
    struct acog_request_writer writer = {.out = &told};
    normal_put_object_schema(&object, schema);
    acog_schema_put_openai_object(&writer, normal_parsed(&object));
    ACOG_ASSERT(writer.code == ACOG_OK);
    normal_put_native(&native, normal_parsed(&told));
    struct acog_json_value value = normal_parsed(&native);
    normal_put(out, normal_is_any_object(value) ? ACOG_VIEW("{\"type\":\"object\"}") : value.raw);
    acog_buffer_fini(&native);
    acog_buffer_fini(&told);
    acog_buffer_fini(&object);
}

static inline bool normal_is_same_format(struct acog_json_value first, struct acog_json_value back)
{
    struct acog_buffer texts[2];
    acog_buffer_init(&texts[0], first.raw.len * 4 + ACOG_SCHEMA_BYTES_MAX);
    acog_buffer_init(&texts[1], back.raw.len * 4 + ACOG_SCHEMA_BYTES_MAX);
    normal_put_native(&texts[0], first);
    normal_put_native(&texts[1], back);
    bool same = acog_view_equal(acog_buffer_view(&texts[0]), acog_buffer_view(&texts[1]));
    acog_buffer_fini(&texts[0]);
    acog_buffer_fini(&texts[1]);
    return same;
}

static inline void normal_tools(struct acog_buffer *out,
                                const struct acog_conversation *conversation, unsigned told)
{
    for (const struct acog_tool *tool = conversation->tools; tool != NULL; tool = tool->next) {
        normal_put_name(out, acog_text_of(tool->name), told);
        normal_put(out, ACOG_VIEW(" "));
        normal_put(out, acog_text_of(tool->description).bytes);
        normal_put(out, ACOG_VIEW(" "));
        normal_put_schema(out, tool->schema);
        normal_put(out, ACOG_VIEW("\n"));
    }
}

static inline enum acog_tool_choice normal_choice(const struct acog_conversation *conversation)
{
    return conversation->tool_choice == ACOG_TOOL_CHOICE_UNSET ? ACOG_TOOL_CHOICE_AUTO
                                                               : conversation->tool_choice;
}

/* Of no meaning without calls. */
static inline bool normal_parallel_off(const struct acog_conversation *conversation)
{
    return conversation->parallel_off && conversation->tool_choice != ACOG_TOOL_CHOICE_NONE;
}

static inline void normal_limits(const struct normal_trip *trip)
{
    static const char *const limits[4] = {"max_tokens", "max_completion_tokens",
                                          "max_output_tokens"};
    static const char *const stops[4] = {"stop", "stop_sequences"};
    const struct acog_conversation *first = trip->first;
    const struct acog_conversation *back = trip->back;
    ACOG_ASSERT(first->max_tokens < 1 || first->max_tokens == back->max_tokens ||
                normal_names_any(trip, limits));
    if (normal_names_any(trip, stops)) {
        return;
    }
    ACOG_ASSERT(first->stop_count == back->stop_count);
    for (size_t i = 0; i < first->stop_count; i++) {
        ACOG_ASSERT(acog_view_equal(first->stops[i].raw, back->stops[i].raw));
    }
}

static inline bool normal_must_call(const struct acog_conversation *conversation)
{
    return conversation->tools != NULL && (conversation->tool_choice == ACOG_TOOL_CHOICE_REQUIRED ||
                                           conversation->tool_choice == ACOG_TOOL_CHOICE_NAMED);
}

/* `by_tool`: a schema went as a tool, and cannot be told from one that comes back. */
static inline void normal_settings(const struct normal_trip *trip, bool by_tool)
{
    const struct acog_conversation *first = trip->first;
    const struct acog_conversation *back = trip->back;
    normal_fields(trip);
    normal_limits(trip);
    ACOG_ASSERT(acog_view_equal(first->user.raw, back->user.raw) ||
                normal_names(trip, ACOG_VIEW("user")) ||
                normal_names(trip, ACOG_VIEW("metadata.user_id")));
    if (by_tool) {
        return;
    }
    ACOG_ASSERT(normal_choice(first) == normal_choice(back));
    ACOG_ASSERT(normal_parallel_off(first) == normal_parallel_off(back));
    if (normal_must_call(first) && back->format == ACOG_FORMAT_TEXT) {
        return; /* there is no text to be held to a format: it may be left out */
    }
    ACOG_ASSERT(first->format == back->format);
    ACOG_ASSERT(acog_view_equal(first->schema.raw, back->schema.raw) ||
                ((trip->from == ACOG_DIALECT_MESSAGES || trip->via == ACOG_DIALECT_MESSAGES) &&
                 normal_is_same_format(first->schema, back->schema)));
}

#endif
