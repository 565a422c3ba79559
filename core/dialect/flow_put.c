/* flow_put.c - what a writer of answers appends. Once a flow failed, nothing is appended any more. */
#include "flow.h"

#include <stdarg.h>

void acog_flow_keep(struct acog_flow *flow, struct acog_buffer *buffer, struct acog_view bytes)
{
    if (flow->code == ACOG_OK) {
        flow->code = acog_buffer_append(buffer, bytes);
    }
}

void acog_flow_keep_inside(struct acog_flow *flow, struct acog_buffer *buffer,
                           struct acog_text text)
{
    if (flow->code == ACOG_OK) {
        flow->code = acog_text_append_inside(buffer, text);
    }
}

void acog_flow_keep_plain(struct acog_flow *flow, struct acog_buffer *buffer, struct acog_text text)
{
    if (flow->code == ACOG_OK) {
        flow->code = acog_text_append_plain(buffer, text);
    }
}

void acog_flow_put(struct acog_flow *flow, struct acog_view bytes)
{
    acog_flow_keep(flow, flow->out, bytes);
}

void acog_flow_put_inside(struct acog_flow *flow, struct acog_text text)
{
    acog_flow_keep_inside(flow, flow->out, text);
}

void acog_flow_put_name(struct acog_flow *flow, const struct acog_flow_name *name)
{
    acog_flow_keep_inside(flow, flow->out, acog_text_plain(acog_flow_name_view(name)));
}

void acog_flow_put_opaque(struct acog_flow *flow, const struct acog_opaque *opaque)
{
    if (flow->code == ACOG_OK) {
        flow->code = acog_opaque_append(flow->out, opaque, flow->translation->client);
    }
}

void acog_flow_put_format(struct acog_flow *flow, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (flow->code == ACOG_OK) {
        flow->code = acog_buffer_format_list(flow->out, fmt, args);
    }
    va_end(args);
}

void acog_flow_put_id(struct acog_flow *flow, const char *prefix)
{
    struct acog_view wanted = acog_view_of(prefix);
    struct acog_view id = acog_flow_name_view(&flow->id);
    if (id.len == 0) {
        id = flow->translation->request_id;
    }
    if (!acog_view_starts(id, wanted)) {
        acog_flow_put(flow, wanted);
    }
    acog_flow_put_inside(flow, acog_text_plain(id));
}

/* -- why it ended ---------------------------------------------------------------------------------- */

struct acog_view acog_flow_usual_word(const struct acog_flow *flow, enum acog_finish_reason reason)
{
    static const struct {
        const char *stop;
        const char *length;
        const char *calls;
        const char *refusal;
    } words[ACOG_DIALECT_COUNT] = {
        [ACOG_DIALECT_CHAT] = {"stop", "length", "tool_calls", "content_filter"},
        [ACOG_DIALECT_MESSAGES] = {"end_turn", "max_tokens", "tool_use", "refusal"},
        [ACOG_DIALECT_RESPONSES] = {"completed", "max_output_tokens", "completed",
                                    "content_filter"},
        [ACOG_DIALECT_GEMINI] = {"STOP", "MAX_TOKENS", "STOP", "SAFETY"},
    };
    enum acog_dialect upstream = flow->translation->upstream;

    switch (reason) {
    case ACOG_FINISH_STOP:
        return acog_view_of(words[upstream].stop);
    case ACOG_FINISH_LENGTH:
        return acog_view_of(words[upstream].length);
    case ACOG_FINISH_CALLS:
        return acog_view_of(words[upstream].calls);
    case ACOG_FINISH_REFUSAL:
        return acog_view_of(words[upstream].refusal);
    case ACOG_FINISH_STOP_SEQUENCE:
    case ACOG_FINISH_CONTEXT:
    case ACOG_FINISH_PAUSE:
    case ACOG_FINISH_UNKNOWN:
        break;
    }
    return (struct acog_view){0};
}

bool acog_flow_native_is_lost(const struct acog_flow *flow)
{
    struct acog_view native = acog_flow_name_view(&flow->finish.native);
    /* A model that refuses in so many words ends as any other. */
    bool worded = flow->finish.reason == ACOG_FINISH_REFUSAL &&
                  flow->kind_counts[ACOG_FLOW_REFUSAL] > 0 &&
                  acog_view_equal(native, acog_flow_usual_word(flow, ACOG_FINISH_STOP));
    return native.len > 0 && !worded &&
           !acog_view_equal(native, acog_flow_usual_word(flow, flow->finish.reason));
}
