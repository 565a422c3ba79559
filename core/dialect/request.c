/* request.c - a client's body on the same-dialect path: the members at the top, and what to say when one is wrong.
 *
 * The gateway is not the author: it checks only what it reads itself, and only as far as it must to read it safely.
 * `null` stands for "not given" where the official SDKs send it so.
 */
#include "request.h"

#include "acog/contract.h"
#include "leaf.h"

#include <string.h>

#define MODEL_BYTES_MAX ((size_t)512)
#define PLACE_DEPTH_MAX 8  /* deeper places are shown from the body down to this level */
#define KEY_BYTES_SHOWN 48 /* of a client's key in a problem's text */

/* -- saying what is wrong -------------------------------------------------------------------------- */

static void append(struct acog_request_problem *problem, struct acog_view text)
{
    size_t used = strlen(problem->text);
    size_t room = sizeof(problem->text) - 1 - used;
    size_t bytes = text.len < room ? text.len : room;
    memcpy(problem->text + used, text.ptr, bytes);
    problem->text[used + bytes] = '\0';
}

static void append_number(struct acog_request_problem *problem, size_t number)
{
    char digits[ACOG_DIGITS_MAX];
    append(problem, acog_view_from_u64(number, digits));
}

static void append_place(struct acog_request_problem *problem,
                         const struct acog_request_place *place)
{
    const struct acog_request_place *chain[PLACE_DEPTH_MAX];
    size_t depth = 0;
    for (; place->up != NULL; place = place->up) {
        chain[depth % PLACE_DEPTH_MAX] = place;
        depth++;
    }
    size_t shown = depth < PLACE_DEPTH_MAX ? depth : PLACE_DEPTH_MAX;
    for (size_t i = 1; i <= shown; i++) {
        const struct acog_request_place *step = chain[(depth - i) % PLACE_DEPTH_MAX];
        if (acog_json_present(step->key)) {
            struct acog_view key = acog_view_slice(step->key.raw, 1, step->key.raw.len - 1);
            append(problem, i == 1 ? ACOG_VIEW("") : ACOG_VIEW("."));
            append(problem, acog_view_slice(key, 0, KEY_BYTES_SHOWN));
        } else {
            append(problem, ACOG_VIEW("["));
            append_number(problem, step->index);
            append(problem, ACOG_VIEW("]"));
        }
    }
    append(problem, depth == 0 ? ACOG_VIEW("the body: ") : ACOG_VIEW(": "));
}

static void stop(struct acog_request_reader *reader, enum acog_code code)
{
    reader->code = code;
    reader->scanner.what = "stopped";
}

void acog_request_refuse(struct acog_request_reader *reader, const struct acog_request_place *place,
                         const char *what)
{
    if (reader->code != ACOG_OK || reader->scanner.what != NULL) {
        return;
    }
    append_place(reader->problem, place);
    append(reader->problem, acog_view_of(what));
    stop(reader, ACOG_INVALID);
}

/* What the scanner itself found: broken grammar, UTF-8, depth. */
static void refuse_text(struct acog_request_reader *reader)
{
    struct acog_json_error error = acog_json_scan_error(&reader->scanner);
    append(reader->problem, ACOG_VIEW("the body: not valid JSON at byte "));
    append_number(reader->problem, error.offset);
    append(reader->problem, ACOG_VIEW(": "));
    append(reader->problem, acog_view_of(error.what));
    stop(reader, ACOG_INVALID);
}

/* -- walking --------------------------------------------------------------------------------------- */

struct acog_json_value acog_request_pass(struct acog_request_reader *reader)
{
    struct acog_json_value value;
    (void)acog_json_scan_value(&reader->scanner, &value);
    return value;
}

bool acog_request_member(struct acog_request_reader *reader, struct acog_json_keys *keys,
                         const struct acog_request_place *up, struct acog_request_place *place)
{
    *place = (struct acog_request_place){.up = up};
    if (!acog_json_scan_next(&reader->scanner, &place->key)) {
        return false;
    }
    const char *wrong = acog_json_keys_add(keys, place->key);
    if (wrong != NULL) {
        acog_request_refuse(reader, place, wrong);
        return false;
    }
    return true;
}

/* -- single fields --------------------------------------------------------------------------------- */

static void read_model(struct acog_request_reader *reader, const struct acog_request_place *place)
{
    struct acog_view *model = &reader->request->model;
    struct acog_json_value value = acog_request_pass(reader);
    if (reader->scanner.what != NULL) {
        return;
    }
    if (value.type != ACOG_JSON_STRING) {
        acog_request_refuse(reader, place, "must be a string");
        return;
    }
    if (acog_json_text(value, reader->arena, model) != ACOG_OK) {
        stop(reader, ACOG_NO_MEMORY);
        return;
    }
    if (model->len == 0 || model->len > MODEL_BYTES_MAX) {
        acog_request_refuse(reader, place, model->len == 0 ? "must not be empty" : "too long");
        return;
    }
    for (size_t i = 0; i < model->len; i++) {
        /* It goes into headers and logs. */
        if ((unsigned char)model->ptr[i] < 0x20 || model->ptr[i] == 0x7f) {
            acog_request_refuse(reader, place, "must not hold control characters");
            return;
        }
    }
    reader->request->spans.model = value.raw;
    reader->model_given = true;
}

static bool read_flag(struct acog_request_reader *reader, const struct acog_request_place *place,
                      struct acog_view *span)
{
    struct acog_json_value value = acog_request_pass(reader);
    if (value.type != ACOG_JSON_TRUE && value.type != ACOG_JSON_FALSE &&
        value.type != ACOG_JSON_NULL) {
        acog_request_refuse(reader, place, "must be true or false");
    }
    *span = value.raw;
    return value.type == ACOG_JSON_TRUE;
}

static void read_stream(struct acog_request_reader *reader, const struct acog_request_place *place)
{
    struct acog_view span;
    reader->request->stream = read_flag(reader, place, &span);
}

static void read_stream_options(struct acog_request_reader *reader,
                                const struct acog_request_place *place)
{
    enum acog_json_type type = acog_json_scan_type(&reader->scanner);
    const char *start = reader->scanner.at;
    struct acog_request_place member;
    struct acog_json_keys keys;
    struct acog_request_spans *spans = &reader->request->spans;
    if (type == ACOG_JSON_NULL) {
        spans->stream_options = acog_request_pass(reader).raw;
        return;
    }
    if (type != ACOG_JSON_OBJECT) {
        acog_request_refuse(reader, place, "must be an object");
        return;
    }
    keys.count = 0;
    (void)acog_json_scan_enter(&reader->scanner);
    while (acog_request_member(reader, &keys, place, &member)) {
        if (acog_json_text_is(member.key, ACOG_VIEW("include_usage"))) {
            reader->request->usage_asked = read_flag(reader, &member, &spans->include_usage);
        } else {
            (void)acog_request_pass(reader);
        }
    }
    spans->stream_options =
        (struct acog_view){.ptr = start, .len = (size_t)(reader->scanner.at - start)};
}

/* -1 for null and where something is wrong. */
static int64_t read_limit(struct acog_request_reader *reader,
                          const struct acog_request_place *place, int64_t least)
{
    int64_t number = -1;
    struct acog_json_value value = acog_request_pass(reader);
    if (value.type == ACOG_JSON_NULL) {
        return -1;
    }
    if (!acog_leaf_whole_number(value, &number)) {
        acog_request_refuse(reader, place, "must be a whole number");
        return -1;
    }
    if (number < least) {
        acog_request_refuse(reader, place, "must be at least 1");
        return -1;
    }
    return number;
}

/* B10: zero and less are refused in OpenAI's dialects. In Anthropic's they have, or may get, a meaning that is the
 * provider's to judge. */
static void read_max_tokens(struct acog_request_reader *reader,
                            const struct acog_request_place *place)
{
    bool messages = acog_surface_dialect(reader->surface) == ACOG_DIALECT_MESSAGES;
    int64_t number = read_limit(reader, place, messages ? INT64_MIN : 1);
    reader->request->max_tokens = number < 0 ? -1 : number;
}

static void read_max_completion_tokens(struct acog_request_reader *reader,
                                       const struct acog_request_place *place)
{
    reader->max_completion_tokens = read_limit(reader, place, 1);
}

static void read_thread(struct acog_request_reader *reader, const struct acog_request_place *place)
{
    (void)place;
    reader->request->threaded = acog_request_pass(reader).type != ACOG_JSON_NULL;
}

static void read_choices(struct acog_request_reader *reader, const struct acog_request_place *place)
{
    int64_t number = read_limit(reader, place, 1);
    if (number > UINT32_MAX) {
        acog_request_refuse(reader, place, "too large");
    } else if (number > 0) {
        reader->request->choices = (uint32_t)number;
    }
}

/* `response_format`, `text`, `output_config`: an answer of a given form is asked for when the object, or its `format`,
 * has a `type` other than "text". Anything else travels on as written. */
static void read_format(struct acog_request_reader *reader, const struct acog_request_place *place)
{
    struct acog_json_value value = acog_request_pass(reader);
    struct acog_json_value type;
    struct acog_json_value inner;
    (void)place;
    if (acog_json_member(value, ACOG_VIEW("format"), &inner)) {
        value = inner;
    }
    if (acog_json_member(value, ACOG_VIEW("type"), &type) && type.type == ACOG_JSON_STRING &&
        !acog_json_text_is(type, ACOG_VIEW("text"))) {
        reader->request->structured = true;
    }
}

/* Embeddings: texts or lists of token numbers, which nothing here needs to look into. */
static void read_embedding_input(struct acog_request_reader *reader,
                                 const struct acog_request_place *place)
{
    struct acog_json_value value = acog_request_pass(reader);
    struct acog_json_cursor cursor = acog_json_enter(value);
    if (value.type != ACOG_JSON_STRING && value.type != ACOG_JSON_ARRAY) {
        acog_request_refuse(reader, place, "must be a string or a list");
    } else if (value.type == ACOG_JSON_ARRAY && !acog_json_next(&cursor)) {
        acog_request_refuse(reader, place, "must not be empty");
    }
    reader->content_given = true;
}

/* -- the fields of each surface -------------------------------------------------------------------- */

struct field {
    struct acog_view name;
    void (*read)(struct acog_request_reader *reader, const struct acog_request_place *place);
};

#define FIELD(text, function)                                                \
    {                                                                        \
        .name = {.ptr = (text), .len = sizeof(text) - 1}, .read = (function) \
    }
#define FIELDS_END                \
    {                             \
        .name = {0}, .read = NULL \
    }

static const struct field chat_fields[] = {
    FIELD("model", read_model),
    FIELD("messages", acog_request_read_messages),
    FIELD("stream", read_stream),
    FIELD("stream_options", read_stream_options),
    FIELD("max_tokens", read_max_tokens),
    FIELD("max_completion_tokens", read_max_completion_tokens),
    FIELD("n", read_choices),
    FIELD("tools", acog_request_read_tools),
    FIELD("functions", acog_request_read_tools),
    FIELD("response_format", read_format),
    FIELDS_END,
};

static const struct field messages_fields[] = {
    FIELD("model", read_model),
    FIELD("messages", acog_request_read_messages),
    FIELD("system", acog_request_read_system),
    FIELD("stream", read_stream),
    FIELD("max_tokens", read_max_tokens),
    FIELD("tools", acog_request_read_tools),
    FIELD("output_config", read_format),
    FIELD("output_format", read_format),
    FIELD("thread", read_thread),
    FIELDS_END,
};

static const struct field responses_fields[] = {
    FIELD("model", read_model),
    FIELD("input", acog_request_read_input),
    FIELD("stream", read_stream),
    FIELD("stream_options", read_stream_options),
    FIELD("max_output_tokens", read_max_tokens),
    FIELD("tools", acog_request_read_tools),
    FIELD("text", read_format),
    FIELDS_END,
};

static const struct field embeddings_fields[] = {
    FIELD("model", read_model),
    FIELD("input", read_embedding_input),
    FIELDS_END,
};

static const struct field *fields_of(enum acog_surface surface)
{
    switch (surface) {
    case ACOG_SURFACE_CHAT:
        return chat_fields;
    case ACOG_SURFACE_MESSAGES:
    case ACOG_SURFACE_COUNT_TOKENS:
        return messages_fields;
    case ACOG_SURFACE_RESPONSES:
        return responses_fields;
    case ACOG_SURFACE_EMBEDDINGS:
        return embeddings_fields;
    case ACOG_SURFACE_COUNT:
        break;
    }
    ACOG_UNREACHABLE("unknown surface");
}

static void read_body(struct acog_request_reader *reader)
{
    static const struct acog_request_place body = {0};
    const struct field *fields = fields_of(reader->surface);
    struct acog_request_place place;
    struct acog_json_keys keys;
    if (reader->scanner.what != NULL) {
        return;
    }
    if (acog_json_scan_type(&reader->scanner) != ACOG_JSON_OBJECT) {
        (void)acog_request_pass(reader); /* what is wrong with the text itself is said first */
        acog_request_refuse(reader, &body, "must be a JSON object");
        return;
    }
    const char *start = reader->scanner.at;
    keys.count = 0;
    (void)acog_json_scan_enter(&reader->scanner);
    while (acog_request_member(reader, &keys, &body, &place)) {
        const struct field *field = fields;
        while (field->read != NULL && !acog_json_text_is(place.key, field->name)) {
            field++;
        }
        if (field->read != NULL) {
            field->read(reader, &place);
        } else {
            (void)acog_request_pass(reader);
        }
    }
    reader->request->spans.object =
        (struct acog_view){.ptr = start, .len = (size_t)(reader->scanner.at - start)};
    (void)acog_json_scan_end(&reader->scanner);
}

/* A missing field has no place in the text; its name is the place. Responses may take its input from a stored prompt:
 * that is the provider's to judge. */
static void require_fields(struct acog_request_reader *reader)
{
    const char *missing = NULL;
    if (!reader->model_given) {
        missing = "model: required";
    } else if (!reader->content_given && reader->surface != ACOG_SURFACE_RESPONSES) {
        missing =
            reader->surface == ACOG_SURFACE_EMBEDDINGS ? "input: required" : "messages: required";
    }
    if (missing != NULL) {
        append(reader->problem, acog_view_of(missing));
        stop(reader, ACOG_INVALID);
    }
}

enum acog_code acog_dialect_read_request(enum acog_surface surface, struct acog_view body,
                                         size_t depth_max, struct acog_arena *arena,
                                         struct acog_client_request *request,
                                         struct acog_request_problem *problem)
{
    struct acog_request_reader reader = {.arena = arena,
                                         .surface = surface,
                                         .request = request,
                                         .problem = problem,
                                         .max_completion_tokens = -1};
    *request = (struct acog_client_request){.max_tokens = -1, .choices = 1};
    problem->text[0] = '\0';
    acog_json_scan(&reader.scanner, body, depth_max);
    read_body(&reader);
    if (reader.code == ACOG_OK && reader.scanner.what != NULL) {
        refuse_text(&reader);
    }
    if (reader.code == ACOG_OK) {
        require_fields(&reader);
    }
    if (reader.max_completion_tokens >= 0) {
        request->max_tokens = reader.max_completion_tokens;
    }
    return reader.code;
}
