/* answer_recorder.h - an answer as every dialect must tell it: what is left when the spelling is taken away. For tests
 * that compare an answer with the same one after a way through another dialect.
 *
 *   text, reasoning   all pieces one behind the other; a refusal counts as text (messages has no other place for it)
 *   calls             "id name arguments\n" in order; `broken_calls`: the arguments of one are no JSON object
 *   citations         "address title\n" in order; messages has no place for them
 *   reason            stop, length, calls or refusal: what the poorest dialect can tell apart; a stop behind a refusal in
 *                     the model's words is a refusal
 *   usage             as the flow has it
 */
#ifndef ACOG_TESTS_ANSWER_RECORDER_H
#define ACOG_TESTS_ANSWER_RECORDER_H

#include "acog/contract.h"
#include "core/dialect/flow.h"

#include <string.h>

#define RECORDED_BYTES_MAX ((size_t)16 * 1024 * 1024)

struct recorded_answer {
    struct acog_buffer text;
    struct acog_buffer reasoning;
    struct acog_buffer calls;
    struct acog_buffer citations;
    size_t arguments_at; /* in `calls`: of the open one */
    bool broken_calls;
    enum acog_finish_reason reason;
    struct acog_usage usage;
    bool usage_estimated;
    bool finished;
};

/* The forms' state is not reachable from outside the flow: the one answer that is being recorded. */
static struct recorded_answer *recording;

static inline void recorded_init(struct recorded_answer *answer)
{
    *answer = (struct recorded_answer){.usage_estimated = false};
    acog_buffer_init(&answer->text, RECORDED_BYTES_MAX);
    acog_buffer_init(&answer->reasoning, RECORDED_BYTES_MAX);
    acog_buffer_init(&answer->calls, RECORDED_BYTES_MAX);
    acog_buffer_init(&answer->citations, RECORDED_BYTES_MAX);
}

static inline void recorded_fini(struct recorded_answer *answer)
{
    acog_buffer_fini(&answer->text);
    acog_buffer_fini(&answer->reasoning);
    acog_buffer_fini(&answer->calls);
    acog_buffer_fini(&answer->citations);
}

static inline void record_begin(struct acog_flow *flow, void *writer)
{
    (void)flow;
    (void)writer;
}

static inline void record_part_begin(struct acog_flow *flow, void *writer,
                                     const struct acog_flow_part *part)
{
    (void)writer;
    if (part->kind == ACOG_FLOW_CALL) {
        acog_flow_keep(flow, &recording->calls, acog_flow_name_view(&part->call_id));
        acog_flow_keep(flow, &recording->calls, ACOG_VIEW(" "));
        acog_flow_keep(flow, &recording->calls, acog_flow_name_view(&part->call_name));
        acog_flow_keep(flow, &recording->calls, ACOG_VIEW(" "));
        recording->arguments_at = recording->calls.len;
    }
}

static inline void record_part_text(struct acog_flow *flow, void *writer,
                                    const struct acog_flow_part *part, struct acog_text text)
{
    (void)writer;
    switch (part->kind) {
    case ACOG_FLOW_TEXT:
    case ACOG_FLOW_REFUSAL:
        acog_flow_keep_plain(flow, &recording->text, text);
        break;
    case ACOG_FLOW_REASONING:
        acog_flow_keep_plain(flow, &recording->reasoning, text);
        break;
    case ACOG_FLOW_CALL:
        acog_flow_keep_plain(flow, &recording->calls, text);
        break;
    }
}

static inline void record_part_opaque(struct acog_flow *flow, void *writer,
                                      const struct acog_flow_part *part,
                                      const struct acog_opaque *opaque)
{
    (void)flow;
    (void)writer;
    (void)part;
    (void)opaque;
}

static inline void record_part_citation(struct acog_flow *flow, void *writer,
                                        const struct acog_flow_part *part, struct acog_text url,
                                        struct acog_text title)
{
    (void)writer;
    (void)part;
    acog_flow_keep_plain(flow, &recording->citations, url);
    acog_flow_keep(flow, &recording->citations, ACOG_VIEW(" "));
    acog_flow_keep_plain(flow, &recording->citations, title);
    acog_flow_keep(flow, &recording->citations, ACOG_VIEW("\n"));
}

/* White space around arguments is nobody's to keep. */
static inline void record_part_end(struct acog_flow *flow, void *writer,
                                   const struct acog_flow_part *part)
{
    struct acog_buffer *calls = &recording->calls;
    struct acog_json_value value;
    struct acog_json_error error;
    (void)writer;
    if (part->kind != ACOG_FLOW_CALL || flow->code != ACOG_OK) {
        return;
    }
    struct acog_view all = acog_buffer_view(calls);
    struct acog_view arguments =
        acog_view_trim(acog_view_slice(all, recording->arguments_at, all.len));
    if (arguments.len == 0) {
        calls->len = recording->arguments_at;
        acog_flow_keep(flow, calls, ACOG_VIEW("{}\n"));
        return;
    }
    recording->broken_calls =
        recording->broken_calls ||
        acog_json_check(arguments, ACOG_JSON_DEPTH_MAX, &value, &error) != ACOG_OK ||
        value.type != ACOG_JSON_OBJECT;
    memmove(calls->ptr + recording->arguments_at, arguments.ptr, arguments.len);
    calls->len = recording->arguments_at + arguments.len;
    acog_flow_keep(flow, calls, ACOG_VIEW("\n"));
}

static inline void record_finish(struct acog_flow *flow, void *writer)
{
    (void)writer;
    switch (flow->finish.reason) {
    case ACOG_FINISH_STOP:
    case ACOG_FINISH_STOP_SEQUENCE:
        /* Responses tells a stop behind a call as it tells a call, messages one behind a refusal as it tells that. */
        recording->reason = recording->calls.len > 0                   ? ACOG_FINISH_CALLS
                            : flow->kind_counts[ACOG_FLOW_REFUSAL] > 0 ? ACOG_FINISH_REFUSAL
                                                                       : ACOG_FINISH_STOP;
        break;
    case ACOG_FINISH_LENGTH:
    case ACOG_FINISH_CONTEXT:
    case ACOG_FINISH_PAUSE:
    case ACOG_FINISH_UNKNOWN:
        recording->reason = ACOG_FINISH_LENGTH;
        break;
    case ACOG_FINISH_CALLS:
    case ACOG_FINISH_REFUSAL:
        recording->reason = flow->finish.reason;
        break;
    }
    recording->usage = flow->usage;
    recording->usage_estimated = flow->usage_estimated;
    recording->finished = true;
}

static const struct acog_answer_writer_form recorder_form = {
    .state_bytes = 1,
    .begin = record_begin,
    .part_begin = record_part_begin,
    .part_text = record_part_text,
    .part_opaque = record_part_opaque,
    .part_citation = record_part_citation,
    .part_end = record_part_end,
    .finish = record_finish,
};

#endif
