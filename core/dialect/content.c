/* content.c - texts, reasoning, tool calls, refusals and usage, in the spellings of the three dialects. */
#include "content.h"

#include "acog/contract.h"
#include "leaf.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

bool acog_dialect_is_tagged(struct acog_json_value value)
{
    return value.type == ACOG_JSON_STRING && acog_view_starts(value.raw, ACOG_VIEW("\"acog."));
}

bool acog_dialect_holds_tag(struct acog_json_value value)
{
    return acog_view_find(value.raw, ACOG_VIEW("\"acog.")) < value.raw.len;
}

struct acog_json_value acog_dialect_event_object(struct acog_view data)
{
    size_t from = 0;
    size_t to = data.len;
    while (from < to && is_space(data.ptr[from])) {
        from++;
    }
    while (to > from && is_space(data.ptr[to - 1])) {
        to--;
    }
    if (from == to || data.ptr[from] != '{') {
        return (struct acog_json_value){.escaped = false};
    }
    return (struct acog_json_value){.raw = acog_view_slice(data, from, to),
                                    .type = ACOG_JSON_OBJECT};
}

bool acog_dialect_is_error(struct acog_json_value value)
{
    switch (value.type) {
    case ACOG_JSON_NULL: /* or absent */
    case ACOG_JSON_FALSE:
        return false;
    case ACOG_JSON_STRING:
        return acog_dialect_nonempty(value);
    case ACOG_JSON_NUMBER:
        return !acog_view_equal(value.raw, ACOG_VIEW("0"));
    case ACOG_JSON_TRUE:
    case ACOG_JSON_ARRAY:
    case ACOG_JSON_OBJECT:
        break;
    }
    return true;
}

static unsigned bit_if(bool there, enum acog_output output)
{
    return there ? ACOG_BIT(output) : 0;
}

static bool ends_in(struct acog_json_value value, struct acog_view ending)
{
    if (!acog_dialect_nonempty(value)) {
        return false;
    }
    struct acog_view word = acog_dialect_word(value);
    return word.len >= ending.len &&
           memcmp(word.ptr + word.len - ending.len, ending.ptr, ending.len) == 0;
}

/* -- chat ------------------------------------------------------------------------------------------ */

/* Mistral: a list of parts, where a thinking part holds parts again. */
static unsigned chat_parts(struct acog_json_value parts)
{
    static const struct acog_view names[] = {{"type", 4}, {"text", 4}, {"thinking", 8}};
    unsigned outputs = 0;
    struct acog_json_cursor cursor = acog_json_enter(parts);
    while (acog_json_next(&cursor)) {
        struct acog_json_value found[COUNT(names)];
        acog_json_members(cursor.value, names, found, COUNT(names));
        if (acog_json_text_is(found[0], ACOG_VIEW("thinking"))) {
            outputs |= ACOG_BIT(ACOG_OUTPUT_REASONING);
        } else {
            outputs |= bit_if(acog_dialect_nonempty(found[1]), ACOG_OUTPUT_TEXT);
        }
    }
    return outputs;
}

static unsigned chat_calls(struct acog_json_value calls)
{
    struct acog_json_cursor cursor = acog_json_enter(calls);
    while (calls.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        if (cursor.value.type == ACOG_JSON_OBJECT) {
            return ACOG_BIT(ACOG_OUTPUT_TOOL);
        }
    }
    return 0;
}

/* The models that speak: the transcript is the text, the data its sound. */
static bool has_audio(struct acog_json_value audio)
{
    static const struct acog_view names[] = {{"transcript", 10}, {"data", 4}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(audio, names, found, COUNT(names));
    return acog_dialect_nonempty(found[0]) || acog_dialect_nonempty(found[1]);
}

unsigned acog_dialect_chat_outputs(struct acog_json_value message)
{
    unsigned outputs = 0;
    struct acog_json_cursor cursor = acog_json_enter(message);
    while (cursor.object && acog_json_next(&cursor)) {
        struct acog_json_value value = cursor.value;
        if (acog_json_key_is(&cursor, ACOG_VIEW("content"))) {
            outputs |= value.type == ACOG_JSON_ARRAY
                           ? chat_parts(value)
                           : bit_if(acog_dialect_nonempty(value), ACOG_OUTPUT_TEXT);
        } else if (acog_json_key_is(&cursor, ACOG_VIEW("reasoning_content")) ||
                   acog_json_key_is(&cursor, ACOG_VIEW("reasoning"))) {
            outputs |= bit_if(acog_dialect_nonempty(value), ACOG_OUTPUT_REASONING);
        } else if (acog_json_key_is(&cursor, ACOG_VIEW("tool_calls"))) {
            outputs |= chat_calls(value);
        } else if (acog_json_key_is(&cursor, ACOG_VIEW("function_call"))) {
            outputs |= bit_if(value.type == ACOG_JSON_OBJECT, ACOG_OUTPUT_TOOL);
        } else if (acog_json_key_is(&cursor, ACOG_VIEW("refusal"))) {
            outputs |= bit_if(acog_dialect_nonempty(value), ACOG_OUTPUT_REFUSAL);
        } else if (acog_json_key_is(&cursor, ACOG_VIEW("audio"))) {
            outputs |= bit_if(has_audio(value), ACOG_OUTPUT_TEXT);
        }
    }
    return outputs;
}

/* -- messages -------------------------------------------------------------------------------------- */

unsigned acog_dialect_block_outputs(struct acog_json_value block)
{
    static const struct acog_view names[] = {
        {"type", 4}, {"text", 4}, {"thinking", 8}, {"data", 4}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(block, names, found, COUNT(names));
    struct acog_json_value type = found[0];
    /* tool_use, server_tool_use, mcp_tool_use, web_search_tool_result, … */
    if (ends_in(type, ACOG_VIEW("tool_use")) || ends_in(type, ACOG_VIEW("tool_result"))) {
        return ACOG_BIT(ACOG_OUTPUT_TOOL);
    }
    if (acog_json_text_is(type, ACOG_VIEW("text"))) {
        return bit_if(acog_dialect_nonempty(found[1]), ACOG_OUTPUT_TEXT);
    }
    if (acog_json_text_is(type, ACOG_VIEW("thinking"))) {
        return bit_if(acog_dialect_nonempty(found[2]), ACOG_OUTPUT_REASONING);
    }
    if (acog_json_text_is(type, ACOG_VIEW("redacted_thinking"))) {
        return bit_if(acog_dialect_nonempty(found[3]), ACOG_OUTPUT_REASONING);
    }
    return 0;
}

/* -- responses ------------------------------------------------------------------------------------- */

/* Parts of a message's content or of a reasoning item. */
static unsigned item_parts(struct acog_json_value parts, enum acog_output text_is)
{
    static const struct acog_view names[] = {{"text", 4}, {"refusal", 7}};
    unsigned outputs = 0;
    struct acog_json_cursor cursor = acog_json_enter(parts);
    while (acog_json_next(&cursor)) {
        struct acog_json_value found[COUNT(names)];
        acog_json_members(cursor.value, names, found, COUNT(names));
        outputs |= bit_if(acog_dialect_nonempty(found[0]), text_is);
        outputs |= bit_if(acog_dialect_nonempty(found[1]), ACOG_OUTPUT_REFUSAL);
    }
    return outputs;
}

unsigned acog_dialect_item_outputs(struct acog_json_value item)
{
    static const struct acog_view names[] = {{"type", 4}, {"content", 7}, {"summary", 7}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(item, names, found, COUNT(names));
    /* function_call, web_search_call, mcp_call, … and what such a call brought */
    if (ends_in(found[0], ACOG_VIEW("_call")) || ends_in(found[0], ACOG_VIEW("_output"))) {
        return ACOG_BIT(ACOG_OUTPUT_TOOL);
    }
    if (acog_json_text_is(found[0], ACOG_VIEW("reasoning"))) {
        return item_parts(found[1], ACOG_OUTPUT_REASONING) |
               item_parts(found[2], ACOG_OUTPUT_REASONING);
    }
    return item_parts(found[1], ACOG_OUTPUT_TEXT);
}

unsigned acog_dialect_items_outputs(struct acog_json_value output)
{
    unsigned outputs = 0;
    struct acog_json_cursor cursor = acog_json_enter(output);
    while (output.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        outputs |= acog_dialect_item_outputs(cursor.value);
    }
    return outputs;
}

/* -- usage ----------------------------------------------------------------------------------------- */

struct acog_usage acog_dialect_no_usage(void)
{
    return (struct acog_usage){.input_tokens = -1,
                               .cached_tokens = -1,
                               .cache_write_tokens = -1,
                               .output_tokens = -1,
                               .reasoning_tokens = -1};
}

#define USAGE_MEMBERS_MAX 5

/* Where a figure is told: the member, or one inside it. Of two rows for a figure the later one counts. */
struct usage_row {
    size_t member;          /* of the dialect's names */
    struct acog_view inner; /* empty: the member itself */
    size_t offset;          /* of the figure in struct acog_usage */
};

#define FIGURE(of, figure)                                            \
    {                                                                 \
        .member = (of), .offset = offsetof(struct acog_usage, figure) \
    }
#define INNER_FIGURE(of, name, figure)                       \
    {                                                        \
        .member = (of), .inner = {(name), sizeof(name) - 1}, \
        .offset = offsetof(struct acog_usage, figure)        \
    }

static bool read_usage(struct acog_json_value object, const struct acog_view *names,
                       size_t name_count, const struct usage_row *rows, size_t row_count,
                       struct acog_usage *usage)
{
    struct acog_json_value found[USAGE_MEMBERS_MAX];
    bool any = false;
    ACOG_ASSERT(name_count <= USAGE_MEMBERS_MAX);
    if (object.type != ACOG_JSON_OBJECT) {
        return false; /* most events of a stream have none */
    }
    acog_json_members(object, names, found, name_count);
    for (size_t i = 0; i < row_count; i++) {
        struct acog_json_value value = found[rows[i].member];
        int64_t number = 0;
        if (rows[i].inner.len > 0) {
            (void)acog_json_member(value, rows[i].inner, &value);
        }
        if (acog_leaf_whole_number(value, &number) && number >= 0) {
            memcpy((char *)usage + rows[i].offset, &number, sizeof(number));
            any = true;
        }
    }
    return any;
}

bool acog_dialect_chat_usage(struct acog_json_value object, struct acog_usage *usage)
{
    static const struct acog_view names[] = {{"prompt_tokens", 13},
                                             {"completion_tokens", 17},
                                             {"prompt_cache_hit_tokens", 23}, /* DeepSeek */
                                             {"prompt_tokens_details", 21},
                                             {"completion_tokens_details", 25}};
    static const struct usage_row rows[] = {
        FIGURE(0, input_tokens),
        FIGURE(1, output_tokens),
        FIGURE(2, cached_tokens),
        INNER_FIGURE(3, "cached_tokens", cached_tokens),
        INNER_FIGURE(3, "cache_write_tokens", cache_write_tokens),
        INNER_FIGURE(4, "reasoning_tokens", reasoning_tokens),
    };
    return read_usage(object, names, COUNT(names), rows, COUNT(rows), usage);
}

bool acog_dialect_messages_usage(struct acog_json_value object, struct acog_usage *usage)
{
    static const struct acog_view names[] = {{"input_tokens", 12},
                                             {"output_tokens", 13},
                                             {"cache_read_input_tokens", 23},
                                             {"cache_creation_input_tokens", 27},
                                             {"output_tokens_details", 21}};
    static const struct usage_row rows[] = {
        FIGURE(0, input_tokens),
        FIGURE(1, output_tokens),
        FIGURE(2, cached_tokens),
        FIGURE(3, cache_write_tokens),
        INNER_FIGURE(4, "thinking_tokens", reasoning_tokens),
    };
    return read_usage(object, names, COUNT(names), rows, COUNT(rows), usage);
}

bool acog_dialect_responses_usage(struct acog_json_value object, struct acog_usage *usage)
{
    static const struct acog_view names[] = {{"input_tokens", 12},
                                             {"output_tokens", 13},
                                             {"input_tokens_details", 20},
                                             {"output_tokens_details", 21}};
    static const struct usage_row rows[] = {
        FIGURE(0, input_tokens),
        FIGURE(1, output_tokens),
        INNER_FIGURE(2, "cached_tokens", cached_tokens),
        INNER_FIGURE(2, "cache_write_tokens", cache_write_tokens),
        INNER_FIGURE(3, "reasoning_tokens", reasoning_tokens),
    };
    return read_usage(object, names, COUNT(names), rows, COUNT(rows), usage);
}
