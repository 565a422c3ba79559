/* stream_responses.c - events of OpenAI Responses.
 *
 * There are about fifty types, and more come: they are read by their form. `response.….delta` and `response.….done`
 * bring out text, refusal, reasoning or tool input as a word in the middle says; a terminal event brings the whole
 * response once more. Some providers send no `event:` lines and some a [DONE] at the end (FACTS, 8).
 */
#include "content.h"
#include "stream.h"

#include <string.h>

enum member {
    ACOG_MEMBER_TYPE = 0,
    ACOG_MEMBER_SEQUENCE,
    ACOG_MEMBER_DELTA,
    ACOG_MEMBER_TEXT,
    ACOG_MEMBER_REFUSAL,
    ACOG_MEMBER_ARGUMENTS,
    ACOG_MEMBER_ITEM,
    ACOG_MEMBER_RESPONSE,
    ACOG_MEMBER_ERROR,
    ACOG_MEMBER_COUNT
};

static const struct acog_view member_names[ACOG_MEMBER_COUNT] = {
    [ACOG_MEMBER_TYPE] = {"type", 4},       [ACOG_MEMBER_SEQUENCE] = {"sequence_number", 15},
    [ACOG_MEMBER_DELTA] = {"delta", 5},     [ACOG_MEMBER_TEXT] = {"text", 4},
    [ACOG_MEMBER_REFUSAL] = {"refusal", 7}, [ACOG_MEMBER_ARGUMENTS] = {"arguments", 9},
    [ACOG_MEMBER_ITEM] = {"item", 4},       [ACOG_MEMBER_RESPONSE] = {"response", 8},
    [ACOG_MEMBER_ERROR] = {"error", 5},
};

static bool has(struct acog_view type, struct acog_view word)
{
    return acog_view_find(type, word) < type.len;
}

static bool ends_in(struct acog_view type, struct acog_view ending)
{
    return type.len >= ending.len &&
           memcmp(type.ptr + type.len - ending.len, ending.ptr, ending.len) == 0;
}

/* What a `.delta` or `.done` of this type brings out, when it has something in it. */
static unsigned output_of(struct acog_view type)
{
    if (has(type, ACOG_VIEW("reasoning"))) {
        return ACOG_BIT(ACOG_OUTPUT_REASONING);
    }
    if (has(type, ACOG_VIEW("refusal"))) {
        return ACOG_BIT(ACOG_OUTPUT_REFUSAL);
    }
    /* function_call_arguments, mcp_call_arguments, custom_tool_call_input, code_interpreter_call_code */
    return has(type, ACOG_VIEW("_call")) ? ACOG_BIT(ACOG_OUTPUT_TOOL) : ACOG_BIT(ACOG_OUTPUT_TEXT);
}

static enum acog_stream_event read_terminal(struct acog_stream_input *input,
                                            struct acog_json_value response)
{
    struct acog_stream_tracker *tracker = input->tracker;
    struct acog_json_value found[2];
    static const struct acog_view names[] = {{"output", 6}, {"usage", 5}};
    struct acog_json_value reason;
    acog_json_members(response, names, found, 2);
    tracker->finish_seen = true;
    tracker->done_seen = true;
    tracker->tool_open = false;
    input->outputs = ACOG_BIT(ACOG_OUTPUT_STOP) | acog_dialect_items_outputs(found[0]);
    if (acog_dialect_responses_usage(found[1], &tracker->usage)) {
        input->outputs |= ACOG_BIT(ACOG_OUTPUT_USAGE);
    }
    if (acog_json_path(response, ACOG_VIEW("incomplete_details.reason"), &reason)) {
        tracker->refused =
            tracker->refused || acog_json_text_is(reason, ACOG_VIEW("content_filter"));
    }
    return ACOG_STREAM_EVENT_DONE;
}

static void read_progress(struct acog_stream_input *input, struct acog_view type,
                          const struct acog_json_value *found)
{
    if (ends_in(type, ACOG_VIEW(".delta"))) {
        input->outputs = acog_dialect_nonempty(found[ACOG_MEMBER_DELTA]) ? output_of(type) : 0;
    } else if (ends_in(type, ACOG_VIEW(".done")) &&
               (acog_dialect_nonempty(found[ACOG_MEMBER_TEXT]) ||
                acog_dialect_nonempty(found[ACOG_MEMBER_REFUSAL]) ||
                acog_dialect_nonempty(found[ACOG_MEMBER_ARGUMENTS]))) {
        input->outputs = output_of(type); /* some send no deltas (B37) */
    } else if (acog_json_present(found[ACOG_MEMBER_ITEM])) {
        input->outputs = acog_dialect_item_outputs(found[ACOG_MEMBER_ITEM]);
    }
    if ((input->outputs & ACOG_BIT(ACOG_OUTPUT_TOOL)) != 0) {
        input->tracker->tool_open = true;
    }
}

enum acog_stream_event acog_stream_read_responses(struct acog_stream_input *input)
{
    static const struct acog_view names[] = {{"id", 2}, {"model", 5}};
    struct acog_json_value found[ACOG_MEMBER_COUNT];
    acog_json_members(input->object, member_names, found, ACOG_MEMBER_COUNT);
    struct acog_view type = input->name;
    if (acog_dialect_nonempty(found[ACOG_MEMBER_TYPE])) {
        type = acog_dialect_word(found[ACOG_MEMBER_TYPE]);
    }
    (void)acog_json_int(found[ACOG_MEMBER_SEQUENCE], &input->tracker->sequence);
    if (found[ACOG_MEMBER_RESPONSE].type == ACOG_JSON_OBJECT) {
        struct acog_json_value named[2];
        acog_json_members(found[ACOG_MEMBER_RESPONSE], names, named, 2);
        acog_stream_keep_names(input, named[0], named[1]);
    }
    if (acog_view_equal(type, ACOG_VIEW("response.completed")) ||
        acog_view_equal(type, ACOG_VIEW("response.incomplete"))) {
        return read_terminal(input, found[ACOG_MEMBER_RESPONSE]);
    }
    if (acog_view_equal(type, ACOG_VIEW("response.failed")) ||
        acog_view_equal(type, ACOG_VIEW("response.cancelled")) ||
        acog_view_equal(type, ACOG_VIEW("error")) ||
        acog_dialect_is_error(found[ACOG_MEMBER_ERROR])) {
        return acog_stream_error(input);
    }
    if (acog_view_equal(type, ACOG_VIEW("keepalive")) || acog_view_equal(type, ACOG_VIEW("ping"))) {
        return ACOG_STREAM_EVENT_PING;
    }
    read_progress(input, type, found);
    return acog_stream_output_or_other(input);
}
