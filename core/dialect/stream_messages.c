/* stream_messages.c - events of Anthropic Messages.
 *
 * The kind is the `type` inside the data; the event's name says the same, and counts where the type is missing.
 * Usage comes in message_start and again in message_delta: overwritten, never added (FACTS, 8).
 */
#include "content.h"
#include "stream.h"

enum member {
    ACOG_MEMBER_TYPE = 0,
    ACOG_MEMBER_DELTA,
    ACOG_MEMBER_BLOCK,
    ACOG_MEMBER_MESSAGE,
    ACOG_MEMBER_USAGE,
    ACOG_MEMBER_ERROR,
    ACOG_MEMBER_COUNT
};

static const struct acog_view member_names[ACOG_MEMBER_COUNT] = {
    [ACOG_MEMBER_TYPE] = {"type", 4},
    [ACOG_MEMBER_DELTA] = {"delta", 5},
    [ACOG_MEMBER_BLOCK] = {"content_block", 13},
    [ACOG_MEMBER_MESSAGE] = {"message", 7},
    [ACOG_MEMBER_USAGE] = {"usage", 5},
    [ACOG_MEMBER_ERROR] = {"error", 5},
};

static unsigned delta_outputs(struct acog_json_value delta)
{
    static const struct acog_view names[] = {{"text", 4}, {"partial_json", 12}, {"thinking", 8}};
    struct acog_json_value found[3];
    acog_json_members(delta, names, found, 3);
    if (acog_dialect_nonempty(found[0])) {
        return ACOG_BIT(ACOG_OUTPUT_TEXT);
    }
    if (acog_dialect_nonempty(found[1])) {
        return ACOG_BIT(ACOG_OUTPUT_TOOL);
    }
    return acog_dialect_nonempty(found[2]) ? ACOG_BIT(ACOG_OUTPUT_REASONING) : 0;
}

static void read_start(struct acog_stream_input *input, struct acog_json_value message)
{
    static const struct acog_view names[] = {{"id", 2}, {"model", 5}, {"usage", 5}};
    struct acog_json_value found[3];
    acog_json_members(message, names, found, 3);
    acog_stream_keep_names(input, found[0], found[1]);
    (void)acog_dialect_messages_usage(found[2], &input->tracker->usage);
}

static void read_end(struct acog_stream_input *input, struct acog_json_value delta,
                     struct acog_json_value usage)
{
    struct acog_stream_tracker *tracker = input->tracker;
    struct acog_json_value reason;
    if (acog_json_member(delta, ACOG_VIEW("stop_reason"), &reason) &&
        acog_dialect_nonempty(reason)) {
        tracker->finish_seen = true;
        tracker->tool_open = false;
        tracker->refused = tracker->refused || acog_json_text_is(reason, ACOG_VIEW("refusal"));
        input->outputs |= ACOG_BIT(ACOG_OUTPUT_STOP);
    }
    if (acog_dialect_messages_usage(usage, &tracker->usage)) {
        input->outputs |= ACOG_BIT(ACOG_OUTPUT_USAGE);
    }
}

enum acog_stream_event acog_stream_read_messages(struct acog_stream_input *input)
{
    struct acog_json_value found[ACOG_MEMBER_COUNT];
    struct acog_stream_tracker *tracker = input->tracker;
    acog_json_members(input->object, member_names, found, ACOG_MEMBER_COUNT);
    struct acog_view type = input->name;
    if (acog_dialect_nonempty(found[ACOG_MEMBER_TYPE])) {
        type = acog_dialect_word(found[ACOG_MEMBER_TYPE]);
    }
    if (acog_view_equal(type, ACOG_VIEW("content_block_delta"))) {
        input->outputs = delta_outputs(found[ACOG_MEMBER_DELTA]);
    } else if (acog_view_equal(type, ACOG_VIEW("content_block_start"))) {
        input->outputs = acog_dialect_block_outputs(found[ACOG_MEMBER_BLOCK]);
    } else if (acog_view_equal(type, ACOG_VIEW("message_delta"))) {
        read_end(input, found[ACOG_MEMBER_DELTA], found[ACOG_MEMBER_USAGE]);
    } else if (acog_view_equal(type, ACOG_VIEW("message_start"))) {
        read_start(input, found[ACOG_MEMBER_MESSAGE]);
    } else if (acog_view_equal(type, ACOG_VIEW("message_stop"))) {
        tracker->done_seen = true;
        return ACOG_STREAM_EVENT_DONE;
    } else if (acog_view_equal(type, ACOG_VIEW("ping"))) {
        return ACOG_STREAM_EVENT_PING;
    } else if (acog_view_equal(type, ACOG_VIEW("error")) ||
               acog_dialect_is_error(found[ACOG_MEMBER_ERROR])) {
        return acog_stream_error(input);
    }
    if ((input->outputs & ACOG_BIT(ACOG_OUTPUT_TOOL)) != 0) {
        tracker->tool_open = true;
    }
    return acog_stream_output_or_other(input);
}
