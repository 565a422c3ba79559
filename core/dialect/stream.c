/* stream.c - the tracker: what every dialect's stream has in common.
 *
 *   data that is no JSON ─> BAD      [DONE] ─> DONE      an object ─> stream_chat.c, stream_messages.c,
 *                                                                     stream_responses.c, stream_gemini.c
 *
 * One strict check of the event, then look-ups of the members that matter; no tree.
 */
#include "stream.h"

#include "content.h"

#include <string.h>

#define DEPTH_MAX 128 /* of an event */

void acog_stream_tracker_init(struct acog_stream_tracker *tracker, enum acog_dialect dialect)
{
    *tracker = (struct acog_stream_tracker){
        .dialect = dialect, .sequence = -1, .usage = acog_dialect_no_usage()};
}

static void keep_text(char *kept, size_t room, struct acog_json_value value,
                      struct acog_arena *arena)
{
    struct acog_view text;
    if (kept[0] == '\0' && acog_dialect_nonempty(value) &&
        acog_json_text(value, arena, &text) == ACOG_OK) {
        size_t bytes = text.len < room ? text.len : room - 1;
        memcpy(kept, text.ptr, bytes);
        kept[bytes] = '\0';
    }
}

void acog_stream_keep_names(struct acog_stream_input *input, struct acog_json_value id,
                            struct acog_json_value model)
{
    struct acog_stream_tracker *tracker = input->tracker;
    keep_text(tracker->id_text, sizeof(tracker->id_text), id, input->arena);
    keep_text(tracker->model_text, sizeof(tracker->model_text), model, input->arena);
}

enum acog_stream_event acog_stream_error(struct acog_stream_input *input)
{
    input->tracker->error_seen = true;
    acog_dialect_read_error(input->data, 0, input->arena, input->failure);
    input->failure->cause = ACOG_CAUSE_STREAM_ERROR;
    return ACOG_STREAM_EVENT_ERROR;
}

enum acog_stream_event acog_stream_output_or_other(const struct acog_stream_input *input)
{
    return input->outputs != 0 ? ACOG_STREAM_EVENT_OUTPUT : ACOG_STREAM_EVENT_OTHER;
}

static enum acog_stream_event read_object(struct acog_stream_input *input)
{
    switch (input->tracker->dialect) {
    case ACOG_DIALECT_CHAT:
        return acog_stream_read_chat(input);
    case ACOG_DIALECT_MESSAGES:
        return acog_stream_read_messages(input);
    case ACOG_DIALECT_RESPONSES:
        return acog_stream_read_responses(input);
    case ACOG_DIALECT_GEMINI:
        return acog_stream_read_gemini(input);
    case ACOG_DIALECT_COUNT:
        break;
    }
    return ACOG_STREAM_EVENT_OTHER;
}

static enum acog_stream_event read_event(struct acog_stream_input *input)
{
    struct acog_json_error error;
    bool is_error = acog_view_equal(input->name, ACOG_VIEW("error"));
    if (input->tracker->done_seen) {
        return ACOG_STREAM_EVENT_OTHER;
    }
    if (input->data.len == 0 && !is_error) {
        return ACOG_STREAM_EVENT_COMMENT;
    }
    if (acog_view_equal(acog_view_trim(input->data), ACOG_VIEW("[DONE]"))) {
        input->tracker->done_seen = true;
        return ACOG_STREAM_EVENT_DONE;
    }
    if (acog_json_check(input->data, DEPTH_MAX, &input->object, &error) != ACOG_OK) {
        return is_error ? acog_stream_error(input) : ACOG_STREAM_EVENT_BAD;
    }
    if (input->object.type == ACOG_JSON_ARRAY) { /* Vertex tells errors so */
        return acog_stream_error(input);
    }
    if (is_error) {
        return acog_stream_error(input);
    }
    return input->object.type == ACOG_JSON_OBJECT ? read_object(input) : ACOG_STREAM_EVENT_BAD;
}

enum acog_stream_event acog_stream_tracker_read(struct acog_stream_tracker *tracker,
                                                struct acog_view name, struct acog_view data,
                                                struct acog_arena *arena, unsigned *outputs,
                                                struct acog_failure *failure)
{
    struct acog_stream_input input = {
        .tracker = tracker, .name = name, .data = data, .arena = arena, .failure = failure};
    enum acog_stream_event event = read_event(&input);
    tracker->outputs |= input.outputs;
    *outputs = input.outputs;
    return event;
}

/* B59 and CONFORMANCE, decision 15. A finish reason ends the answer, the marker behind it may be missing. A marker
 * without a finish reason is believed when something came out and no tool's arguments may have been cut. The end of
 * the bytes alone is a cut. */
bool acog_stream_tracker_complete(const struct acog_stream_tracker *tracker)
{
    unsigned content = ACOG_BIT(ACOG_OUTPUT_TEXT) | ACOG_BIT(ACOG_OUTPUT_REASONING) |
                       ACOG_BIT(ACOG_OUTPUT_TOOL) | ACOG_BIT(ACOG_OUTPUT_REFUSAL);
    if (tracker->error_seen) {
        return false;
    }
    if (tracker->done_seen) {
        return tracker->finish_seen || (!tracker->tool_open && (tracker->outputs & content) != 0);
    }
    return tracker->finish_seen && (tracker->choices_begun & ~tracker->choices_finished) == 0;
}
