/* error.c - an error body's facts: its texts, wherever the provider put them, and the shapes that they have.
 *
 *   {"error":{…}}  {"error":"…"}  {"type":"error","error":{…}}  [{"error":{…}}]  {"message":…}  {"detail":…}
 *   {"response":{"error":{…}}}  {"errors":[{…}]}  "…"  text  HTML  nothing
 *
 * First the words are gathered: texts for humans, and codes (code, type, Google's status and reasons, Azure's inner
 * code). Relays put the error of the provider behind them into their own, as an object or as JSON in a text: what is
 * found inside waits in a list and is read in its turn. Then every row of error_phrase.def is tried on the words
 * (error_shape.c). Errors are rare: this is written to be read, not fast.
 */
#include "error.h"

#include "content.h"

#define DEPTH_MAX      128
#define INSIDE_MAX     8              /* objects inside the body, read in their turn */
#define WORD_BYTES_MAX ((size_t)128)  /* of a code */
#define TEXT_BYTES_MAX ((size_t)8192) /* of a text, and of a body that is no JSON */

struct error_reader {
    struct acog_arena *arena;
    struct acog_failure *failure;
    struct acog_error_words words;
    struct acog_json_value inside[INSIDE_MAX];
    size_t inside_count;
    struct acog_view spare_message; /* for want of a better one */
    struct acog_view spare_code;
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
static void add_code(struct error_reader *reader, struct acog_view code)
{
    struct acog_error_words *words = &reader->words;
    code = cut(code, WORD_BYTES_MAX);
    if (code.len > 0 && words->code_count < ACOG_ERROR_WORDS_MAX) {
        words->codes[words->code_count++] = folded(reader, code, true);
    }
}

static void add_text(struct error_reader *reader, struct acog_view text)
{
    struct acog_error_words *words = &reader->words;
    text = cut(text, TEXT_BYTES_MAX);
    if (text.len > 0 && words->text_count < ACOG_ERROR_WORDS_MAX) {
        words->texts[words->text_count++] = folded(reader, text, false);
    }
}

/* As written: a string's text, a number's digits. */
static struct acog_view word_of(struct error_reader *reader, struct acog_json_value value)
{
    if (value.type == ACOG_JSON_NUMBER) {
        return cut(value.raw, WORD_BYTES_MAX);
    }
    return cut(text_of(reader, value), WORD_BYTES_MAX);
}

static void keep_first(struct acog_view *kept, struct acog_view text)
{
    if (kept->len == 0) {
        *kept = text;
    }
}

/* A code that only repeats the HTTP status names nothing: it is taken when nothing else is there. */
static void keep_code(struct error_reader *reader, struct acog_view code)
{
    unsigned long long number = 0;
    bool status = acog_view_to_u64(code, &number) && number >= 100 && number < 600;
    keep_first(status ? &reader->spare_code : &reader->failure->code, code);
}

/* -- what is inside -------------------------------------------------------------------------------- */

/* An object to be read later; any other value is none. */
static void add_inside(struct error_reader *reader, struct acog_json_value value)
{
    if (value.type == ACOG_JSON_OBJECT && reader->inside_count < INSIDE_MAX) {
        reader->inside[reader->inside_count++] = value;
    }
}

static void add_each_inside(struct error_reader *reader, struct acog_json_value list)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    while (list.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        add_inside(reader, cursor.value);
    }
}

/* Of a list, as Vertex sends one for a stream, the element that has the error. */
static struct acog_json_value error_in_list(struct acog_json_value value)
{
    struct acog_json_value first = {0};
    struct acog_json_value error;
    struct acog_json_cursor cursor = acog_json_enter(value);
    if (value.type != ACOG_JSON_ARRAY) {
        return value;
    }
    while (acog_json_next(&cursor)) {
        if (acog_json_member(cursor.value, ACOG_VIEW("error"), &error)) {
            return cursor.value;
        }
        first = acog_json_present(first) ? first : cursor.value;
    }
    return first;
}

static size_t find_last(struct acog_view text, char byte)
{
    size_t at = text.len;
    while (at > 0 && text.ptr[at - 1] != byte) {
        at--;
    }
    return at > 0 ? at - 1 : text.len;
}

/* An error as JSON in a text: the whole text, or, with words before it ("400 {…}", "event: error\ndata: {…}"), an
 * object with an `error`; a text may quote other JSON, that of the request. */
static bool find_error_in(struct acog_view text, struct acog_json_value *found)
{
    struct acog_json_error problem;
    struct acog_json_value error;
    text = acog_view_trim(text);
    if (text.len > 0 && (text.ptr[0] == '{' || text.ptr[0] == '[')) {
        bool good = acog_json_check(text, DEPTH_MAX, found, &problem) == ACOG_OK;
        *found = good ? error_in_list(*found) : *found;
        return good && found->type == ACOG_JSON_OBJECT;
    }
    size_t from = acog_view_find(text, ACOG_VIEW("{"));
    struct acog_view object = acog_view_slice(text, from, find_last(text, '}') + 1);
    return object.len > 0 && acog_json_check(object, DEPTH_MAX, found, &problem) == ACOG_OK &&
           acog_json_member(*found, ACOG_VIEW("error"), &error);
}

/* -- messages -------------------------------------------------------------------------------------- */

/* OpenRouter's way to say that the message is elsewhere. */
static bool says_nothing(struct acog_view text)
{
    return acog_view_equal(text, ACOG_VIEW("Provider returned error"));
}

/* A text for a human: the first one is the failure's message, unless a better one is inside. */
static void add_message_text(struct error_reader *reader, struct acog_view text)
{
    struct acog_json_value error;
    if (find_error_in(text, &error)) {
        add_inside(reader, error);
        keep_first(&reader->spare_message, text);
        return;
    }
    keep_first(says_nothing(text) ? &reader->spare_message : &reader->failure->message, text);
    add_text(reader, text);
}

static void add_message(struct error_reader *reader, struct acog_json_value value)
{
    add_inside(reader, value); /* Mistral puts FastAPI's {"detail":[…]} there */
    add_message_text(reader, text_of(reader, value));
}

/* -- refusals -------------------------------------------------------------------------------------- */

static void add_refusal(struct error_reader *reader, struct acog_json_value category)
{
    struct acog_view name = cut(text_of(reader, category), WORD_BYTES_MAX);
    reader->failure->shapes |= ACOG_BIT(ACOG_SHAPE_REFUSAL);
    acog_error_add_category(reader->failure, folded(reader, name, true));
}

static bool is_filtered(struct acog_json_value verdict)
{
    struct acog_json_value filtered;
    struct acog_json_cursor cursor = acog_json_enter(verdict);
    while (verdict.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) { /* of block lists */
        if (acog_json_member(cursor.value, ACOG_VIEW("filtered"), &filtered) &&
            filtered.type == ACOG_JSON_TRUE) {
            return true;
        }
    }
    return acog_json_member(verdict, ACOG_VIEW("filtered"), &filtered) &&
           filtered.type == ACOG_JSON_TRUE;
}

/* Azure: {"hate":{"filtered":false,…},"self_harm":{"filtered":true,…},…}. With an `error` in it the filter itself
 * failed, and nothing was judged. */
static void read_filter_result(struct error_reader *reader, struct acog_json_value result)
{
    struct acog_json_value error;
    struct acog_json_cursor cursor = acog_json_enter(result);
    if (result.type != ACOG_JSON_OBJECT || acog_json_member(result, ACOG_VIEW("error"), &error)) {
        return;
    }
    reader->failure->shapes |= ACOG_BIT(ACOG_SHAPE_REFUSAL);
    while (acog_json_next(&cursor)) {
        if (is_filtered(cursor.value)) {
            add_refusal(reader, cursor.key);
        }
    }
}

/* OpenRouter: {"reasons":["violence"],"flagged_input":…} of its moderation; what was flagged is not looked at. */
static void read_flags(struct error_reader *reader, struct acog_json_value metadata)
{
    static const struct acog_view names[] = {{"reasons", 7}, {"flagged_input", 13}};
    struct acog_json_value found[2];
    acog_json_members(metadata, names, found, 2);
    struct acog_json_cursor cursor = acog_json_enter(found[0]);
    while (acog_json_present(found[1]) && found[0].type == ACOG_JSON_ARRAY &&
           acog_json_next(&cursor)) {
        add_refusal(reader, cursor.value);
    }
}

/* -- members --------------------------------------------------------------------------------------- */

/* A number of seconds, or a text like "34.4s". The head's Retry-After goes before it. */
static void read_wait(struct error_reader *reader, struct acog_json_value value)
{
    if (reader->failure->retry_after_ms < 0) {
        reader->failure->retry_after_ms = acog_dialect_reset_ms(word_of(reader, value), 0);
    }
}

/* Google: [{"@type":…,"reason":"API_KEY_INVALID"},{"@type":…"RetryInfo","retryDelay":"34.4s"}] */
static void read_details(struct error_reader *reader, struct acog_json_value details)
{
    static const struct acog_view names[] = {{"reason", 6}, {"retryDelay", 10}};
    struct acog_json_cursor cursor = acog_json_enter(details);
    while (details.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        struct acog_json_value found[2];
        acog_json_members(cursor.value, names, found, 2);
        keep_code(reader, word_of(reader, found[0]));
        add_code(reader, text_of(reader, found[0]));
        read_wait(reader, found[1]);
    }
}

/* OpenRouter: {"raw":…} is what the provider behind it said, `error_type` its own code for it. Of those
 * "invalid_prompt" is a message of a wrong form, where OpenAI's code of that name is a refusal. */
static void read_metadata(struct error_reader *reader, struct acog_json_value metadata)
{
    static const struct acog_view names[] = {{"raw", 3}, {"error_type", 10}};
    struct acog_json_value found[2];
    acog_json_members(metadata, names, found, 2);
    add_message(reader, found[0]);
    if (!acog_json_text_is(found[1], ACOG_VIEW("invalid_prompt"))) {
        add_code(reader, text_of(reader, found[1]));
    }
    read_flags(reader, metadata);
}

/* FastAPI: a text, an object, or a list of {"msg":…}. */
static void read_detail(struct error_reader *reader, struct acog_json_value detail)
{
    struct acog_json_value text;
    struct acog_json_cursor cursor = acog_json_enter(detail);
    while (detail.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        if (acog_json_member(cursor.value, ACOG_VIEW("msg"), &text)) {
            add_message(reader, text);
        }
    }
    add_message(reader, detail);
}

/* The names that AWS gives to errors: "com.amazon.coral.service#ThrottlingException:http://…". */
static struct acog_view aws_name(struct acog_view type)
{
    size_t hash = acog_view_find(type, ACOG_VIEW("#"));
    type = hash < type.len ? acog_view_slice(type, hash + 1, type.len) : type;
    return acog_view_slice(type, 0, acog_view_find(type, ACOG_VIEW(":")));
}

/* A type that names the kind of error, and not that it is one ("error") or where to read of it (a URL). */
static bool names_kind(struct acog_view type)
{
    return type.len > 0 && !acog_view_equal(type, ACOG_VIEW("error")) &&
           !acog_view_equal(type, ACOG_VIEW("about:blank")) &&
           acog_view_find(type, ACOG_VIEW("://")) == type.len;
}

enum member {
    ACOG_MEMBER_MESSAGE = 0,
    ACOG_MEMBER_CODE,
    ACOG_MEMBER_TYPE,
    ACOG_MEMBER_STATUS,
    ACOG_MEMBER_DETAILS,
    ACOG_MEMBER_INNER,
    ACOG_MEMBER_INNER_OLD,
    ACOG_MEMBER_SPECIFIC,
    ACOG_MEMBER_METADATA,
    ACOG_MEMBER_REASON,
    ACOG_MEMBER_ERROR_CODE,
    ACOG_MEMBER_ERROR_TYPE,
    ACOG_MEMBER_AWS_TYPE,
    ACOG_MEMBER_AWS_MESSAGE,
    ACOG_MEMBER_TITLE,
    ACOG_MEMBER_DETAIL,
    ACOG_MEMBER_ERRORS,
    ACOG_MEMBER_RETRY_AFTER,
    ACOG_MEMBER_FILTER_RESULT,
    ACOG_MEMBER_FILTER_RESULTS,
    ACOG_MEMBER_FILTERS,
    ACOG_MEMBER_COUNT
};

static const struct acog_view member_names[ACOG_MEMBER_COUNT] = {
    [ACOG_MEMBER_MESSAGE] = {"message", 7},
    [ACOG_MEMBER_CODE] = {"code", 4},
    [ACOG_MEMBER_TYPE] = {"type", 4},
    [ACOG_MEMBER_STATUS] = {"status", 6}, /* Google */
    [ACOG_MEMBER_DETAILS] = {"details", 7},
    [ACOG_MEMBER_INNER] = {"innererror", 10},                  /* Azure */
    [ACOG_MEMBER_INNER_OLD] = {"inner_error", 11},             /* Azure, older */
    [ACOG_MEMBER_SPECIFIC] = {"provider_specific_fields", 24}, /* LiteLLM, before Azure */
    [ACOG_MEMBER_METADATA] = {"metadata", 8},                  /* OpenRouter */
    [ACOG_MEMBER_REASON] = {"reason", 6},                      /* Google, older */
    [ACOG_MEMBER_ERROR_CODE] = {"error_code", 10},             /* Databricks */
    [ACOG_MEMBER_ERROR_TYPE] = {"error_type", 10},             /* TGI */
    [ACOG_MEMBER_AWS_TYPE] = {"__type", 6},
    [ACOG_MEMBER_AWS_MESSAGE] = {"Message", 7},
    [ACOG_MEMBER_TITLE] = {"title", 5}, /* problem+json */
    [ACOG_MEMBER_DETAIL] = {"detail", 6},
    [ACOG_MEMBER_ERRORS] = {"errors", 6},            /* Cloudflare; Google inside `error` */
    [ACOG_MEMBER_RETRY_AFTER] = {"retry_after", 11}, /* Cloudflare, Replicate */
    [ACOG_MEMBER_FILTER_RESULT] = {"content_filter_result", 21}, /* Azure */
    [ACOG_MEMBER_FILTER_RESULTS] = {"content_filter_results", 22},
    [ACOG_MEMBER_FILTERS] = {"content_filters", 15}, /* Azure's Responses: a list of them */
};

static void read_codes(struct error_reader *reader, const struct acog_json_value *found)
{
    struct acog_failure *failure = reader->failure;
    struct acog_view type = text_of(reader, found[ACOG_MEMBER_TYPE]);
    struct acog_view status = text_of(reader, found[ACOG_MEMBER_STATUS]);
    struct acog_view aws = aws_name(text_of(reader, found[ACOG_MEMBER_AWS_TYPE]));
    bool google = status.len > 0 && status.ptr[0] >= 'A' && status.ptr[0] <= 'Z';
    type = names_kind(type) ? type : aws;
    type = type.len > 0 ? type : text_of(reader, found[ACOG_MEMBER_ERROR_TYPE]);
    type = type.len > 0 || !google ? type : status;
    keep_first(&failure->type, cut(type, WORD_BYTES_MAX));
    keep_code(reader, word_of(reader, found[ACOG_MEMBER_CODE]));
    keep_code(reader, word_of(reader, found[ACOG_MEMBER_ERROR_CODE]));
    add_code(reader, text_of(reader, found[ACOG_MEMBER_CODE]));
    add_code(reader, text_of(reader, found[ACOG_MEMBER_ERROR_CODE]));
    add_code(reader, type);
    add_code(reader, google ? status : (struct acog_view){0});
    add_code(reader, text_of(reader, found[ACOG_MEMBER_REASON]));
}

/* The object that has the message, all but an `error` in it. */
static void read_members(struct error_reader *reader, struct acog_json_value object)
{
    struct acog_json_value found[ACOG_MEMBER_COUNT];
    acog_json_members(object, member_names, found, ACOG_MEMBER_COUNT);
    read_codes(reader, found);
    add_message(reader, found[ACOG_MEMBER_MESSAGE]);
    add_message(reader, found[ACOG_MEMBER_AWS_MESSAGE]);
    read_detail(reader, found[ACOG_MEMBER_DETAIL]);
    add_message(reader, found[ACOG_MEMBER_TITLE]);
    read_metadata(reader, found[ACOG_MEMBER_METADATA]);
    read_details(reader, found[ACOG_MEMBER_DETAILS]);
    read_wait(reader, found[ACOG_MEMBER_RETRY_AFTER]);
    read_filter_result(reader, found[ACOG_MEMBER_FILTER_RESULT]);
    read_filter_result(reader, found[ACOG_MEMBER_FILTER_RESULTS]);
    add_inside(reader, found[ACOG_MEMBER_INNER]);
    add_inside(reader, found[ACOG_MEMBER_INNER_OLD]);
    add_inside(reader, found[ACOG_MEMBER_SPECIFIC]);
    add_each_inside(reader, found[ACOG_MEMBER_FILTERS]);
    add_each_inside(reader, found[ACOG_MEMBER_ERRORS]);
}

/* -- objects --------------------------------------------------------------------------------------- */

/* An object and what its `error` says: an object with the message, or (xAI, TGI, Ollama) the message. */
static void read_object(struct error_reader *reader, struct acog_json_value object)
{
    static const struct acog_view names[] = {{"error", 5}, {"response", 8}};
    struct acog_json_value found[2];
    struct acog_json_value inner;
    acog_json_members(object, names, found, 2);
    if (acog_json_member(found[1], ACOG_VIEW("error"), &inner)) { /* the event response.failed */
        read_members(reader, inner);
        return;
    }
    if (found[0].type == ACOG_JSON_OBJECT) {
        read_members(reader, found[0]);
        if (acog_json_member(found[0], ACOG_VIEW("error"), &inner)) {
            add_inside(reader, inner);
            add_message_text(reader, text_of(reader, inner));
        }
    } else {
        add_message_text(reader, text_of(reader, found[0]));
    }
    read_members(reader, object); /* flat: vLLM, Mistral, Bedrock, Cohere, Responses' event */
}

/* Text or HTML. Text is a message; HTML is looked through but shown to nobody. */
static void read_plain(struct error_reader *reader, struct acog_view body)
{
    struct acog_view text = acog_view_trim(body);
    bool markup = text.len > 0 && (text.ptr[0] == '<' || text.ptr[0] == '{' || text.ptr[0] == '[');
    if (markup) {
        add_text(reader, text);
    } else {
        add_message_text(reader, text);
    }
}

static void gather(struct error_reader *reader, struct acog_view body)
{
    struct acog_json_value value;
    struct acog_json_error error;
    if (acog_json_check(body, DEPTH_MAX, &value, &error) != ACOG_OK) {
        read_plain(reader, body);
    } else {
        value = error_in_list(value);
        add_message(reader, value);
    }
    for (size_t i = 0; i < reader->inside_count; i++) {
        read_object(reader, reader->inside[i]);
    }
    struct acog_failure *failure = reader->failure;
    keep_first(&failure->message, reader->spare_message);
    failure->message = cut(failure->message, ACOG_ERROR_MESSAGE_MAX);
    keep_first(&failure->code, failure->type);
    keep_first(&failure->code, reader->spare_code);
}

/* -- what only the whole tells --------------------------------------------------------------------- */

/* Anthropic's whole message is "model: NAME", with the type not_found_error. */
static bool is_anthropic_model(const struct acog_failure *failure)
{
    return acog_view_equal(failure->type, ACOG_VIEW("not_found_error")) &&
           acog_view_starts(failure->message, ACOG_VIEW("model: "));
}

/* What a status tells, whatever the body says (451: S1.13), or because it says nothing (413). */
static unsigned shapes_of_status(const struct error_reader *reader, unsigned status)
{
    if (status == 451) {
        return ACOG_BIT(ACOG_SHAPE_REFUSAL);
    }
    bool silent = reader->words.code_count == 0 && reader->failure->message.len == 0;
    return status == 413 && silent ? ACOG_BIT(ACOG_SHAPE_CONTEXT_OVERFLOW) : 0;
}

void acog_dialect_read_error(struct acog_view body, unsigned status, struct acog_arena *arena,
                             struct acog_failure *failure)
{
    static const unsigned passing = ACOG_BIT(ACOG_SHAPE_RATE_LIMIT) |
                                    ACOG_BIT(ACOG_SHAPE_OVERLOAD) |
                                    ACOG_BIT(ACOG_SHAPE_CANNOT_SERVE);
    struct error_reader reader = {.arena = arena, .failure = failure};
    failure->shapes = 0;
    failure->message = (struct acog_view){0};
    failure->code = (struct acog_view){0};
    failure->type = (struct acog_view){0};
    failure->category_count = 0;
    gather(&reader, body);
    acog_error_find_shapes(&reader.words, failure);
    if (is_anthropic_model(failure)) {
        failure->shapes |= ACOG_BIT(ACOG_SHAPE_MODEL_UNKNOWN);
    }
    failure->shapes |= shapes_of_status(&reader, status);
    if (failure->retry_after_ms < 0 && (failure->shapes & passing) != 0) {
        failure->retry_after_ms = acog_error_find_wait(&reader.words);
    }
}
