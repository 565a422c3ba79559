/* answer.c - a whole answer with status 2xx: is it one, what is in it, or is it an error in disguise.
 *
 * B117 and B118: HTML, other JSON, no choices, or a message without anything is no answer; the caller treats that as
 * the provider's failure, never as an empty success.
 *
 * An answer may be megabytes, so its members are found in one walk, whatever its surface.
 */
#include "acog/contract.h"
#include "content.h"
#include "gemini.h"

#define DEPTH_MAX 128

/* The members of an answer that say anything here. */
enum member {
    ACOG_MEMBER_ERROR = 0,
    ACOG_MEMBER_TYPE,
    ACOG_MEMBER_OBJECT,
    ACOG_MEMBER_STATUS,
    ACOG_MEMBER_MESSAGE,
    ACOG_MEMBER_MODEL,
    ACOG_MEMBER_USAGE,
    ACOG_MEMBER_CHOICES,
    ACOG_MEMBER_CONTENT,
    ACOG_MEMBER_STOP_REASON,
    ACOG_MEMBER_OUTPUT,
    ACOG_MEMBER_INCOMPLETE_DETAILS,
    ACOG_MEMBER_INPUT_TOKENS,
    ACOG_MEMBER_DATA,
    ACOG_MEMBER_COUNT
};

static const struct acog_view member_names[] = {
    [ACOG_MEMBER_ERROR] = {"error", 5},
    [ACOG_MEMBER_TYPE] = {"type", 4},
    [ACOG_MEMBER_OBJECT] = {"object", 6},
    [ACOG_MEMBER_STATUS] = {"status", 6},
    [ACOG_MEMBER_MESSAGE] = {"message", 7},
    [ACOG_MEMBER_MODEL] = {"model", 5},
    [ACOG_MEMBER_USAGE] = {"usage", 5},
    [ACOG_MEMBER_CHOICES] = {"choices", 7},
    [ACOG_MEMBER_CONTENT] = {"content", 7},
    [ACOG_MEMBER_STOP_REASON] = {"stop_reason", 11},
    [ACOG_MEMBER_OUTPUT] = {"output", 6},
    [ACOG_MEMBER_INCOMPLETE_DETAILS] = {"incomplete_details", 18},
    [ACOG_MEMBER_INPUT_TOKENS] = {"input_tokens", 12},
    [ACOG_MEMBER_DATA] = {"data", 4},
};

struct answer_reader {
    struct acog_json_value object;
    struct acog_json_value found[ACOG_MEMBER_COUNT];
    struct acog_json_value model;
    struct acog_whole_answer *answer;
};

static const unsigned content_bits = ACOG_BIT(ACOG_OUTPUT_TEXT) | ACOG_BIT(ACOG_OUTPUT_REASONING) |
                                     ACOG_BIT(ACOG_OUTPUT_TOOL) | ACOG_BIT(ACOG_OUTPUT_REFUSAL);

static bool is_empty(const struct acog_whole_answer *answer)
{
    return (answer->outputs & content_bits) == 0;
}

/* `usage` is an object, null or absent. */
static bool usage_is_readable(struct acog_json_value usage)
{
    return usage.type == ACOG_JSON_OBJECT || usage.type == ACOG_JSON_NULL;
}

static void add_stop(struct acog_whole_answer *answer, struct acog_json_value reason)
{
    if (acog_dialect_nonempty(reason)) {
        answer->outputs |= ACOG_BIT(ACOG_OUTPUT_STOP);
    }
}

static bool has_null_element(struct acog_json_value list)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    while (!cursor.object && acog_json_next(&cursor)) {
        if (cursor.value.type == ACOG_JSON_NULL) {
            return true;
        }
    }
    return false;
}

/* One choice. Without any content it is an answer only if something explains that: its finish reason (Azure's filter
 * leaves the whole message away), or output tokens that the provider counted. */
static enum acog_code read_choice(struct acog_whole_answer *answer, struct acog_json_value choice,
                                  bool *filtered)
{
    static const struct acog_view names[] = {{"message", 7}, {"finish_reason", 13}};
    static const struct acog_view inner[] = {{"content", 7}, {"tool_calls", 10}};
    struct acog_json_value found[2];
    struct acog_json_value parts[2];
    acog_json_members(choice, names, found, 2);
    acog_json_members(found[0], inner, parts, 2);
    unsigned outputs = acog_dialect_chat_outputs(found[0]);
    bool filter = acog_json_text_is(found[1], ACOG_VIEW("content_filter"));
    bool explained = filter || acog_json_text_is(found[1], ACOG_VIEW("length"));
    if (found[0].type != ACOG_JSON_OBJECT && !explained) {
        return ACOG_INVALID;
    }
    explained = explained || answer->usage.output_tokens > 0;
    if (has_null_element(parts[1]) ||
        (outputs == 0 && parts[0].type == ACOG_JSON_NULL && !explained)) {
        return ACOG_INVALID;
    }
    answer->outputs |= outputs;
    add_stop(answer, found[1]);
    *filtered = *filtered || filter;
    return ACOG_OK;
}

static enum acog_code read_chat(struct answer_reader *reader)
{
    const struct acog_json_value *found = reader->found;
    bool filtered = false;
    bool any = false;
    if (found[ACOG_MEMBER_CHOICES].type != ACOG_JSON_ARRAY ||
        !usage_is_readable(found[ACOG_MEMBER_USAGE])) {
        return ACOG_INVALID;
    }
    (void)acog_dialect_chat_usage(found[ACOG_MEMBER_USAGE], &reader->answer->usage);
    struct acog_json_cursor cursor = acog_json_enter(found[ACOG_MEMBER_CHOICES]);
    while (acog_json_next(&cursor)) {
        any = true;
        if (read_choice(reader->answer, cursor.value, &filtered) != ACOG_OK) {
            return ACOG_INVALID;
        }
    }
    reader->answer->refused = filtered && is_empty(reader->answer);
    return any ? ACOG_OK : ACOG_INVALID;
}

static enum acog_code read_messages(struct answer_reader *reader)
{
    const struct acog_json_value *found = reader->found;
    if (found[ACOG_MEMBER_CONTENT].type != ACOG_JSON_ARRAY ||
        has_null_element(found[ACOG_MEMBER_CONTENT]) ||
        !usage_is_readable(found[ACOG_MEMBER_USAGE])) {
        return ACOG_INVALID;
    }
    struct acog_json_cursor cursor = acog_json_enter(found[ACOG_MEMBER_CONTENT]);
    while (acog_json_next(&cursor)) {
        reader->answer->outputs |= acog_dialect_block_outputs(cursor.value);
    }
    add_stop(reader->answer, found[ACOG_MEMBER_STOP_REASON]);
    reader->answer->refused =
        acog_json_text_is(found[ACOG_MEMBER_STOP_REASON], ACOG_VIEW("refusal")) &&
        is_empty(reader->answer);
    (void)acog_dialect_messages_usage(found[ACOG_MEMBER_USAGE], &reader->answer->usage);
    return ACOG_OK;
}

static enum acog_code read_responses(struct answer_reader *reader)
{
    const struct acog_json_value *found = reader->found;
    struct acog_json_value reason;
    if (found[ACOG_MEMBER_OUTPUT].type != ACOG_JSON_ARRAY ||
        has_null_element(found[ACOG_MEMBER_OUTPUT]) ||
        !usage_is_readable(found[ACOG_MEMBER_USAGE])) {
        return ACOG_INVALID;
    }
    reader->answer->outputs |= acog_dialect_items_outputs(found[ACOG_MEMBER_OUTPUT]);
    add_stop(reader->answer, found[ACOG_MEMBER_STATUS]);
    reader->answer->refused =
        acog_json_member(found[ACOG_MEMBER_INCOMPLETE_DETAILS], ACOG_VIEW("reason"), &reason) &&
        acog_json_text_is(reason, ACOG_VIEW("content_filter")) && is_empty(reader->answer);
    (void)acog_dialect_responses_usage(found[ACOG_MEMBER_USAGE], &reader->answer->usage);
    return ACOG_OK;
}

/* A prompt that was blocked has no candidate. A candidate without any part is an answer only if something explains that,
 * as in chat: what Google calls STOP with nothing in it, or a call that it could not parse, is none. */
static enum acog_code read_gemini(struct answer_reader *reader)
{
    struct acog_whole_answer *answer = reader->answer;
    struct acog_gemini_answer read = acog_gemini_read(reader->object);
    if (!read.is_answer || !usage_is_readable(read.usage)) {
        return ACOG_INVALID;
    }
    bool refusal = acog_json_present(read.blocked) || acog_gemini_is_refusal(read.finish);
    bool explained = refusal || acog_json_text_is(read.finish, ACOG_VIEW("MAX_TOKENS"));
    (void)acog_gemini_usage(read.usage, &answer->usage);
    answer->outputs |= acog_gemini_outputs(read.parts);
    if (!acog_gemini_says_anything(read.parts) && !explained && answer->usage.output_tokens <= 0) {
        return ACOG_INVALID;
    }
    add_stop(answer, acog_json_present(read.blocked) ? read.blocked : read.finish);
    answer->refused = refusal && is_empty(answer);
    reader->model = read.model;
    return ACOG_OK;
}

/* The count is the answer, not what the call used. */
static enum acog_code read_count(struct answer_reader *reader)
{
    int64_t number = 0;
    return acog_json_int(reader->found[ACOG_MEMBER_INPUT_TOKENS], &number) && number >= 0
               ? ACOG_OK
               : ACOG_INVALID;
}

static enum acog_code read_embeddings(struct answer_reader *reader)
{
    const struct acog_json_value *found = reader->found;
    struct acog_json_cursor cursor = acog_json_enter(found[ACOG_MEMBER_DATA]);
    if (found[ACOG_MEMBER_DATA].type != ACOG_JSON_ARRAY ||
        !usage_is_readable(found[ACOG_MEMBER_USAGE]) || !acog_json_next(&cursor) ||
        cursor.value.type != ACOG_JSON_OBJECT) {
        return ACOG_INVALID;
    }
    (void)acog_dialect_chat_usage(found[ACOG_MEMBER_USAGE], &reader->answer->usage);
    return ACOG_OK;
}

static enum acog_code read_dialect(struct answer_reader *reader, enum acog_dialect dialect)
{
    switch (dialect) {
    case ACOG_DIALECT_CHAT:
        return read_chat(reader);
    case ACOG_DIALECT_MESSAGES:
        return read_messages(reader);
    case ACOG_DIALECT_RESPONSES:
        return read_responses(reader);
    case ACOG_DIALECT_GEMINI:
        return read_gemini(reader);
    case ACOG_DIALECT_COUNT:
        break;
    }
    ACOG_UNREACHABLE("unknown dialect");
}

static enum acog_code read_surface(struct answer_reader *reader, enum acog_surface surface,
                                   enum acog_dialect dialect)
{
    switch (surface) {
    case ACOG_SURFACE_CHAT:
    case ACOG_SURFACE_MESSAGES:
    case ACOG_SURFACE_RESPONSES:
        return read_dialect(reader, dialect);
    case ACOG_SURFACE_COUNT_TOKENS:
        return read_count(reader);
    case ACOG_SURFACE_EMBEDDINGS:
        return read_embeddings(reader);
    case ACOG_SURFACE_COUNT:
        break;
    }
    ACOG_UNREACHABLE("unknown surface");
}

/* `error` beside whatever else; a flat error says so in `type` or `object`; a failed response in `status`. */
static bool tells_an_error(const struct acog_json_value *found)
{
    return acog_dialect_is_error(found[ACOG_MEMBER_ERROR]) ||
           acog_json_text_is(found[ACOG_MEMBER_TYPE], ACOG_VIEW("error")) ||
           acog_json_text_is(found[ACOG_MEMBER_OBJECT], ACOG_VIEW("error")) ||
           acog_json_text_is(found[ACOG_MEMBER_STATUS], ACOG_VIEW("failed"));
}

enum acog_code acog_dialect_read_answer(enum acog_dialect dialect, enum acog_surface surface,
                                        struct acog_view body, struct acog_arena *arena,
                                        struct acog_whole_answer *answer,
                                        struct acog_failure *failure)
{
    struct answer_reader reader = {.answer = answer};
    struct acog_json_error error;
    *answer = (struct acog_whole_answer){.usage = acog_dialect_no_usage()};
    if (acog_json_check(body, DEPTH_MAX, &reader.object, &error) != ACOG_OK ||
        reader.object.type != ACOG_JSON_OBJECT) {
        return ACOG_INVALID;
    }
    acog_json_members(reader.object, member_names, reader.found, ACOG_MEMBER_COUNT);
    reader.model = reader.found[ACOG_MEMBER_MODEL];
    answer->is_error = tells_an_error(reader.found);
    if (!answer->is_error) {
        enum acog_code code = read_surface(&reader, surface, dialect);
        /* No answer of its surface, but a text for a human: what a relay sends with a 200. */
        answer->is_error =
            code != ACOG_OK && acog_dialect_nonempty(reader.found[ACOG_MEMBER_MESSAGE]);
        if (code != ACOG_OK && !answer->is_error) {
            return code;
        }
    }
    if (answer->is_error) {
        acog_dialect_read_error(body, 0, arena, failure);
        failure->cause = ACOG_CAUSE_STREAM_ERROR;
        return ACOG_OK;
    }
    if (answer->usage.input_tokens >= 0 || answer->usage.output_tokens >= 0) {
        answer->outputs |= ACOG_BIT(ACOG_OUTPUT_USAGE);
    }
    return reader.model.type == ACOG_JSON_STRING
               ? acog_json_text(reader.model, arena, &answer->model)
               : ACOG_OK;
}
