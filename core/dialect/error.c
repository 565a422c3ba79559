/* error.c - an error body's facts: its texts, wherever the provider put them, and the shapes that they have.
 *
 *   {"error":{…}}  {"error":"…"}  {"type":"error","error":{…}}  [{"error":{…}}]  {"message":…}  {"detail":…}
 *   {"response":{"error":{…}}}  {"errors":[{…}]}  "…"  text  HTML  nothing
 *
 * First the texts are gathered: messages for humans, and codes (code, type, Google's status and reasons, Azure's inner
 * code). Then every row of error_phrase.def is tried on them. Errors are rare: this is written to be read, not fast.
 */
#include "content.h"

#define DEPTH_MAX      128
#define WORDS_MAX      10             /* codes, and messages, looked at */
#define WORD_BYTES_MAX ((size_t)128)  /* of a code */
#define TEXT_BYTES_MAX ((size_t)8192) /* of a body that is no JSON */
#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))

struct error_reader {
    struct acog_arena *arena;
    struct acog_failure *failure;
    struct acog_view codes[WORDS_MAX]; /* lower case, '_' for '-' and ' ' */
    size_t code_count;
    struct acog_view texts[WORDS_MAX]; /* lower case */
    size_t text_count;
};

/* -- words ----------------------------------------------------------------------------------------- */

static char fold(char byte, bool code)
{
    if (byte >= 'A' && byte <= 'Z') {
        return (char)(byte + ('a' - 'A'));
    }
    if (code && (byte == '-' || byte == ' ')) {
        return '_';
    }
    return byte;
}

/* A copy in lower case; `code`: with '_' for '-' and ' '. Empty when there is no memory. */
static struct acog_view folded(struct error_reader *reader, struct acog_view text, bool code)
{
    char *copy = acog_arena_take(reader->arena, text.len + 1);
    if (copy == NULL) {
        return (struct acog_view){0};
    }
    for (size_t i = 0; i < text.len; i++) {
        copy[i] = fold(text.ptr[i], code);
    }
    return (struct acog_view){.ptr = copy, .len = text.len};
}

static struct acog_view text_of(struct error_reader *reader, struct acog_json_value value)
{
    struct acog_view text;
    if (value.type != ACOG_JSON_STRING || acog_json_text(value, reader->arena, &text) != ACOG_OK) {
        return (struct acog_view){0};
    }
    return text;
}

/* At most `bytes_max` bytes, cut between characters. */
static struct acog_view cut(struct acog_view text, size_t bytes_max)
{
    if (text.len <= bytes_max) {
        return text;
    }
    while (bytes_max > 0 && ((unsigned char)text.ptr[bytes_max] & 0xc0U) == 0x80U) {
        bytes_max--;
    }
    return acog_view_slice(text, 0, bytes_max);
}

/* A code, type or reason; numbers say no more than the status does. */
static void add_code(struct error_reader *reader, struct acog_json_value value)
{
    struct acog_view text = cut(text_of(reader, value), WORD_BYTES_MAX);
    if (text.len > 0 && reader->code_count < WORDS_MAX) {
        reader->codes[reader->code_count++] = folded(reader, text, true);
    }
}

static void add_text(struct error_reader *reader, struct acog_view text)
{
    text = cut(text, TEXT_BYTES_MAX);
    if (text.len > 0 && reader->text_count < WORDS_MAX) {
        reader->texts[reader->text_count++] = folded(reader, text, false);
    }
}

/* A text for a human; the first one is the failure's message. */
static void add_message(struct error_reader *reader, struct acog_json_value value)
{
    struct acog_view text = text_of(reader, value);
    if (text.len > 0 && reader->failure->message.len == 0) {
        reader->failure->message = cut(text, ACOG_ERROR_MESSAGE_MAX);
    }
    add_text(reader, text);
}

/* As written: a string's text, a number's digits. */
static struct acog_view word_of(struct error_reader *reader, struct acog_json_value value)
{
    if (value.type == ACOG_JSON_NUMBER) {
        return cut(value.raw, WORD_BYTES_MAX);
    }
    return cut(text_of(reader, value), WORD_BYTES_MAX);
}

/* -- refusals -------------------------------------------------------------------------------------- */

static void add_category(struct acog_failure *failure, struct acog_view category)
{
    for (size_t i = 0; i < failure->category_count; i++) {
        if (acog_view_equal(failure->categories[i], category)) {
            return;
        }
    }
    if (category.len > 0 && failure->category_count < ACOG_CATEGORIES_MAX) {
        failure->categories[failure->category_count++] = category;
    }
}

/* Azure: {"hate":{"filtered":false,…},"self_harm":{"filtered":true,…},…}. */
static void read_filter_result(struct error_reader *reader, struct acog_json_value result)
{
    struct acog_json_cursor cursor = acog_json_enter(result);
    reader->failure->shapes |= ACOG_BIT(ACOG_SHAPE_REFUSAL);
    while (cursor.object && acog_json_next(&cursor)) {
        struct acog_json_value filtered;
        if (acog_json_member(cursor.value, ACOG_VIEW("filtered"), &filtered) &&
            filtered.type == ACOG_JSON_TRUE) {
            struct acog_view name = cut(text_of(reader, cursor.key), WORD_BYTES_MAX);
            add_category(reader->failure, folded(reader, name, true));
        }
    }
}

/* Where an error has it: Azure, now and earlier, and LiteLLM in front of Azure. */
static void find_filter_result(struct error_reader *reader, struct acog_json_value error)
{
    static const struct acog_view paths[] = {
        {"innererror.content_filter_result", 32},
        {"innererror.content_filter_results", 33},
        {"inner_error.content_filter_result", 33},
        {"inner_error.content_filter_results", 34},
        {"content_filter_result", 21},
        {"content_filter_results", 22},
        {"provider_specific_fields.innererror.content_filter_result", 57},
        {"provider_specific_fields.inner_error.content_filter_results", 59},
    };
    for (size_t i = 0; i < COUNT(paths); i++) {
        struct acog_json_value result;
        if (acog_json_path(error, paths[i], &result) && result.type == ACOG_JSON_OBJECT) {
            read_filter_result(reader, result);
        }
    }
}

/* -- gathering ------------------------------------------------------------------------------------- */

/* Google: [{"@type":…,"reason":"API_KEY_INVALID"},{"@type":…"RetryInfo","retryDelay":"34.4s"}] */
static void read_details(struct error_reader *reader, struct acog_json_value details)
{
    static const struct acog_view names[] = {{"reason", 6}, {"retryDelay", 10}};
    struct acog_json_cursor cursor = acog_json_enter(details);
    while (details.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        struct acog_json_value found[2];
        acog_json_members(cursor.value, names, found, 2);
        add_code(reader, found[0]);
        if (found[1].type == ACOG_JSON_STRING && reader->failure->retry_after_ms < 0) {
            reader->failure->retry_after_ms = acog_dialect_reset_ms(text_of(reader, found[1]), 0);
        }
    }
}

enum member {
    ACOG_MEMBER_MESSAGE = 0,
    ACOG_MEMBER_CODE,
    ACOG_MEMBER_TYPE,
    ACOG_MEMBER_STATUS,
    ACOG_MEMBER_DETAILS,
    ACOG_MEMBER_INNER,
    ACOG_MEMBER_INNER_OLD,
    ACOG_MEMBER_METADATA,
    ACOG_MEMBER_COUNT
};

/* The object that has the message. */
static void read_error_object(struct error_reader *reader, struct acog_json_value object)
{
    static const struct acog_view names[ACOG_MEMBER_COUNT] = {
        [ACOG_MEMBER_MESSAGE] = {"message", 7},
        [ACOG_MEMBER_CODE] = {"code", 4},
        [ACOG_MEMBER_TYPE] = {"type", 4},
        [ACOG_MEMBER_STATUS] = {"status", 6}, /* Google */
        [ACOG_MEMBER_DETAILS] = {"details", 7},
        [ACOG_MEMBER_INNER] = {"innererror", 10},      /* Azure */
        [ACOG_MEMBER_INNER_OLD] = {"inner_error", 11}, /* Azure, older */
        [ACOG_MEMBER_METADATA] = {"metadata", 8},      /* OpenRouter: the provider's own words */
    };
    struct acog_json_value found[ACOG_MEMBER_COUNT];
    struct acog_json_value inner;
    struct acog_failure *failure = reader->failure;
    acog_json_members(object, names, found, ACOG_MEMBER_COUNT);
    add_message(reader, found[ACOG_MEMBER_MESSAGE]);
    struct acog_json_value type = found[ACOG_MEMBER_TYPE];
    if (acog_json_text_is(type, ACOG_VIEW("error"))) {
        type = (struct acog_json_value){0}; /* of the envelope, not of the error */
    }
    if (failure->type.len == 0) {
        failure->type =
            text_of(reader, acog_dialect_nonempty(type) ? type : found[ACOG_MEMBER_STATUS]);
        failure->type = cut(failure->type, WORD_BYTES_MAX);
    }
    if (failure->code.len == 0) {
        failure->code = word_of(reader, found[ACOG_MEMBER_CODE]);
    }
    add_code(reader, found[ACOG_MEMBER_CODE]);
    add_code(reader, type);
    add_code(reader, found[ACOG_MEMBER_STATUS]);
    read_details(reader, found[ACOG_MEMBER_DETAILS]);
    for (size_t i = ACOG_MEMBER_INNER; i <= ACOG_MEMBER_INNER_OLD; i++) {
        if (acog_json_member(found[i], ACOG_VIEW("code"), &inner)) {
            add_code(reader, inner);
        }
    }
    if (acog_json_member(found[ACOG_MEMBER_METADATA], ACOG_VIEW("raw"), &inner)) {
        add_text(reader, text_of(reader, inner));
    }
}

/* FastAPI: a text, an object, or a list of {"msg":…}. */
static void read_detail(struct error_reader *reader, struct acog_json_value detail)
{
    struct acog_json_value text;
    struct acog_json_cursor cursor = acog_json_enter(detail);
    if (detail.type == ACOG_JSON_OBJECT) {
        read_error_object(reader, detail);
    } else if (detail.type == ACOG_JSON_ARRAY && acog_json_next(&cursor) &&
               acog_json_member(cursor.value, ACOG_VIEW("msg"), &text)) {
        add_message(reader, text);
    } else {
        add_message(reader, detail);
    }
}

/* An `error` member: the object with the message, or (xAI, TGI, Ollama) the message. */
static void read_error_member(struct error_reader *reader, struct acog_json_value error)
{
    if (error.type == ACOG_JSON_OBJECT) {
        read_error_object(reader, error);
        find_filter_result(reader, error);
    } else {
        add_message(reader, error);
    }
}

enum envelope {
    ACOG_ENVELOPE_ERROR = 0,
    ACOG_ENVELOPE_RESPONSE, /* the event response.failed */
    ACOG_ENVELOPE_DETAIL,
    ACOG_ENVELOPE_ERRORS,     /* Cloudflare */
    ACOG_ENVELOPE_MESSAGE,    /* AWS, with a capital */
    ACOG_ENVELOPE_TYPE,       /* AWS */
    ACOG_ENVELOPE_ERROR_TYPE, /* TGI */
    ACOG_ENVELOPE_COUNT
};

static void read_object(struct error_reader *reader, struct acog_json_value object)
{
    static const struct acog_view names[ACOG_ENVELOPE_COUNT] = {
        [ACOG_ENVELOPE_ERROR] = {"error", 5},
        [ACOG_ENVELOPE_RESPONSE] = {"response", 8},
        [ACOG_ENVELOPE_DETAIL] = {"detail", 6},
        [ACOG_ENVELOPE_ERRORS] = {"errors", 6},
        [ACOG_ENVELOPE_MESSAGE] = {"Message", 7},
        [ACOG_ENVELOPE_TYPE] = {"__type", 6},
        [ACOG_ENVELOPE_ERROR_TYPE] = {"error_type", 10},
    };
    struct acog_json_value found[ACOG_ENVELOPE_COUNT];
    struct acog_json_value inner;
    acog_json_members(object, names, found, ACOG_ENVELOPE_COUNT);
    if (acog_json_member(found[ACOG_ENVELOPE_RESPONSE], ACOG_VIEW("error"), &inner)) {
        read_error_member(reader, inner);
        return;
    }
    read_error_member(reader, found[ACOG_ENVELOPE_ERROR]);
    read_error_object(reader, object); /* flat: vLLM, Mistral, Bedrock, Cohere, Responses' event */
    read_detail(reader, found[ACOG_ENVELOPE_DETAIL]);
    struct acog_json_cursor cursor = acog_json_enter(found[ACOG_ENVELOPE_ERRORS]);
    if (acog_json_next(&cursor)) {
        read_error_object(reader, cursor.value);
    }
    add_message(reader, found[ACOG_ENVELOPE_MESSAGE]);
    add_code(reader, found[ACOG_ENVELOPE_TYPE]);
    add_code(reader, found[ACOG_ENVELOPE_ERROR_TYPE]);
}

/* Text or HTML. Text is a message; HTML is looked through but shown to nobody. */
static void read_plain(struct error_reader *reader, struct acog_view body)
{
    struct acog_view text = acog_view_trim(body);
    add_text(reader, text);
    if (text.len > 0 && text.ptr[0] != '<' && text.ptr[0] != '{' && text.ptr[0] != '[') {
        reader->failure->message = cut(text, ACOG_ERROR_MESSAGE_MAX);
    }
}

static void gather(struct error_reader *reader, struct acog_view body)
{
    struct acog_json_value value;
    struct acog_json_error error;
    if (acog_json_check(body, DEPTH_MAX, &value, &error) != ACOG_OK) {
        read_plain(reader, body);
        return;
    }
    if (value.type == ACOG_JSON_ARRAY) { /* Vertex on stream requests */
        struct acog_json_cursor cursor = acog_json_enter(value);
        value = acog_json_next(&cursor) ? cursor.value : value;
    }
    if (value.type == ACOG_JSON_OBJECT) {
        read_object(reader, value);
    } else {
        add_message(reader, value);
    }
    if (reader->failure->code.len == 0) {
        reader->failure->code = reader->failure->type;
    }
}

/* -- shapes ---------------------------------------------------------------------------------------- */

enum where {
    ACOG_WHERE_CODE,
    ACOG_WHERE_CODE_HAS,
    ACOG_WHERE_TEXT,
};

struct phrase {
    enum acog_shape shape;
    enum where where;
    struct acog_view text;
};

static const struct phrase phrases[] = {
#define ACOG_PHRASE(name, place, words) \
    {.shape = ACOG_SHAPE_##name,        \
     .where = ACOG_WHERE_##place,       \
     .text = {.ptr = (words), .len = sizeof(words) - 1}},
#include "error_phrase.def"
#undef ACOG_PHRASE
};

/* The parts between the '*', in this order. */
static bool contains(struct acog_view text, struct acog_view pattern)
{
    while (pattern.len > 0) {
        size_t star = acog_view_find(pattern, ACOG_VIEW("*"));
        struct acog_view part = acog_view_slice(pattern, 0, star);
        size_t at = acog_view_find(text, part);
        if (at == text.len && part.len > 0) {
            return false;
        }
        text = acog_view_slice(text, at + part.len, text.len);
        pattern = acog_view_slice(pattern, star + 1, pattern.len);
    }
    return true;
}

static bool code_fits(struct acog_view code, const struct phrase *phrase)
{
    switch (phrase->where) {
    case ACOG_WHERE_CODE:
        return acog_view_equal(code, phrase->text);
    case ACOG_WHERE_CODE_HAS:
        return acog_view_find(code, phrase->text) < code.len;
    case ACOG_WHERE_TEXT:
        break;
    }
    return false;
}

/* Tries one row. A code that names a refusal is one of its categories too (S1.15). */
static void try_phrase(struct error_reader *reader, const struct phrase *phrase)
{
    bool fits = false;
    for (size_t i = 0; i < reader->code_count; i++) {
        if (code_fits(reader->codes[i], phrase)) {
            fits = true;
            if (phrase->shape == ACOG_SHAPE_REFUSAL) {
                add_category(reader->failure, reader->codes[i]);
            }
        }
    }
    for (size_t i = 0; i < reader->text_count && phrase->where == ACOG_WHERE_TEXT; i++) {
        fits = fits || contains(reader->texts[i], phrase->text);
    }
    reader->failure->shapes |= fits ? ACOG_BIT(phrase->shape) : 0;
}

/* Anthropic's whole message is "model: NAME", with the type not_found_error. */
static bool is_anthropic_model(const struct error_reader *reader)
{
    return acog_view_equal(reader->failure->type, ACOG_VIEW("not_found_error")) &&
           acog_view_starts(reader->failure->message, ACOG_VIEW("model: "));
}

void acog_dialect_read_error(struct acog_view body, unsigned status, struct acog_arena *arena,
                             struct acog_failure *failure)
{
    struct error_reader reader = {.arena = arena, .failure = failure};
    failure->shapes = 0;
    failure->message = (struct acog_view){0};
    failure->code = (struct acog_view){0};
    failure->type = (struct acog_view){0};
    failure->category_count = 0;
    gather(&reader, body);
    for (size_t i = 0; i < COUNT(phrases); i++) {
        try_phrase(&reader, &phrases[i]);
    }
    if (is_anthropic_model(&reader)) {
        failure->shapes |= ACOG_BIT(ACOG_SHAPE_MODEL_UNKNOWN);
    }
    if (status == 451) { /* S1.13: whatever the body says */
        failure->shapes |= ACOG_BIT(ACOG_SHAPE_REFUSAL);
    }
}
