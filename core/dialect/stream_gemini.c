/* stream_gemini.c - events of streamGenerateContent with alt=sse: each is an answer with a piece of the content.
 *
 * There is no event that says that it is the last one: a finish reason ends the answer, or a prompt feedback that blocks
 * it, and usage may still come in the same event. A call comes whole, so none is ever cut.
 */
#include "content.h"
#include "gemini.h"
#include "stream.h"

enum acog_stream_event acog_stream_read_gemini(struct acog_stream_input *input)
{
    struct acog_stream_tracker *tracker = input->tracker;
    struct acog_gemini_answer answer = acog_gemini_read(input->object);
    acog_stream_keep_names(input, answer.id, answer.model);
    if (acog_gemini_usage(answer.usage, &tracker->usage)) {
        input->outputs |= ACOG_BIT(ACOG_OUTPUT_USAGE);
    }
    if (acog_dialect_is_error(answer.error)) {
        return acog_stream_error(input);
    }
    input->outputs |= acog_gemini_outputs(answer.parts);
    bool blocked = acog_json_present(answer.blocked);
    if (blocked || acog_json_present(answer.finish)) {
        input->outputs |= ACOG_BIT(ACOG_OUTPUT_STOP);
        tracker->finish_seen = true;
        tracker->refused = tracker->refused || blocked || acog_gemini_is_refusal(answer.finish);
    }
    return acog_stream_output_or_other(input);
}
