/* flow_seen.h - an answer as the flow tells it to a writer, one line a call, so that a test can say all of it at once.
 *
 *   begin "id" "model"
 *   text 0 "He"          a part's kind and number among all parts, and what came; then its end
 *   end 0
 *   call 1 "call_1" "f"
 *   arguments 1 "{}"
 *   end 1
 *   finish calls "tool_calls" 9 in, 4 cached, 2 out
 */
#ifndef ACOG_TESTS_SUPPORT_FLOW_SEEN_H
#define ACOG_TESTS_SUPPORT_FLOW_SEEN_H

#include "acog/sse.h"
#include "core/dialect/flow.h"
#include "tests/support/check.h"

#include <stdlib.h>

#define FLOW_SEEN_BYTES_MAX ((size_t)1 << 20U)

static inline void seen_begin(struct acog_flow *flow, void *writer)
{
    (void)writer;
    acog_flow_put(flow, ACOG_VIEW("begin \""));
    acog_flow_put_name(flow, &flow->id);
    acog_flow_put(flow, ACOG_VIEW("\" \""));
    acog_flow_put_name(flow, &flow->model);
    acog_flow_put(flow, ACOG_VIEW("\"\n"));
}

static inline void seen_part_begin(struct acog_flow *flow, void *writer,
                                   const struct acog_flow_part *part)
{
    (void)writer;
    if (part->kind == ACOG_FLOW_CALL) {
        acog_flow_put_format(flow, "call %u \"", part->index);
        acog_flow_put_name(flow, &part->call_id);
        acog_flow_put(flow, ACOG_VIEW("\" \""));
        acog_flow_put_name(flow, &part->call_name);
        acog_flow_put(flow, ACOG_VIEW("\"\n"));
    }
}

static inline void seen_part_text(struct acog_flow *flow, void *writer,
                                  const struct acog_flow_part *part, struct acog_text text)
{
    static const char *const kinds[] = {"text", "reasoning", "refusal", "arguments"};
    (void)writer;
    acog_flow_put_format(flow, "%s %u \"", kinds[part->kind], part->index);
    acog_flow_put_inside(flow, text);
    acog_flow_put(flow, ACOG_VIEW("\"\n"));
}

static inline void seen_part_opaque(struct acog_flow *flow, void *writer,
                                    const struct acog_flow_part *part,
                                    const struct acog_opaque *opaque)
{
    (void)writer;
    acog_flow_put_format(flow, "%s %u \"", opaque->redacted ? "redacted" : "opaque", part->index);
    acog_flow_put_inside(flow, opaque->bytes);
    acog_flow_put(flow, ACOG_VIEW("\"\n"));
}

static inline void seen_part_citation(struct acog_flow *flow, void *writer,
                                      const struct acog_flow_part *part, struct acog_text url,
                                      struct acog_text title)
{
    (void)writer;
    acog_flow_put_format(flow, "citation %u \"", part->index);
    acog_flow_put_inside(flow, url);
    acog_flow_put(flow, ACOG_VIEW("\" \""));
    acog_flow_put_inside(flow, title);
    acog_flow_put(flow, ACOG_VIEW("\"\n"));
}

static inline void seen_part_end(struct acog_flow *flow, void *writer,
                                 const struct acog_flow_part *part)
{
    (void)writer;
    acog_flow_put_format(flow, "end %u\n", part->index);
}

static inline void seen_figure(struct acog_flow *flow, int64_t figure, const char *name)
{
    if (figure >= 0) {
        acog_flow_put_format(flow, ", %lld %s", (long long)figure, name);
    }
}

static inline void seen_finish(struct acog_flow *flow, void *writer)
{
    static const char *const reasons[] = {"stop",  "stop_sequence", "length", "context",
                                          "calls", "refusal",       "pause",  "unknown"};
    const struct acog_usage *usage = &flow->usage;
    (void)writer;
    acog_flow_put_format(flow, "finish %s \"", reasons[flow->finish.reason]);
    acog_flow_put_name(flow, &flow->finish.native);
    acog_flow_put(flow, ACOG_VIEW("\""));
    seen_figure(flow, usage->input_tokens, "in");
    seen_figure(flow, usage->cached_tokens, "cached");
    seen_figure(flow, usage->cache_write_tokens, "written");
    seen_figure(flow, usage->output_tokens, "out");
    seen_figure(flow, usage->reasoning_tokens, "reasoning");
    acog_flow_put(flow, flow->usage_estimated ? ACOG_VIEW(", estimated\n") : ACOG_VIEW("\n"));
}

static const struct acog_answer_writer_form flow_seen_form = {
    .state_bytes = 1,
    .begin = seen_begin,
    .part_begin = seen_part_begin,
    .part_text = seen_part_text,
    .part_opaque = seen_part_opaque,
    .part_citation = seen_part_citation,
    .part_end = seen_part_end,
    .finish = seen_finish,
};

/* What reads an event: acog_chat_read_event() and the like. */
typedef void flow_reader(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                         struct acog_arena *scratch);

/* Feeds a stream of server-sent events in pieces of `piece_bytes` and appends what `form` makes of it. Events with
 * "[DONE]" for data are not the reader's. */
static inline void flow_feed(const struct acog_translation *translation,
                             const struct acog_answer_writer_form *form, flow_reader *reader,
                             struct acog_view stream, size_t piece_bytes, struct acog_buffer *out)
{
    struct acog_flow flow;
    struct acog_sse_reader sse;
    struct acog_sse_event event;
    struct acog_arena scratch;
    acog_arena_init(&scratch, FLOW_SEEN_BYTES_MAX);
    acog_sse_init(&sse, FLOW_SEEN_BYTES_MAX);
    assert_int_equal(acog_flow_init(&flow, translation, form), ACOG_OK);
    flow.out = out;
    while (stream.len > 0) {
        struct acog_view piece = acog_view_slice(stream, 0, piece_bytes);
        size_t used = 0;
        while (acog_sse_next(&sse, piece, &used, &event) == ACOG_OK) {
            if (event.has_data && !acog_view_equal(event.data, ACOG_VIEW("[DONE]"))) {
                reader(&flow, event.name, event.data, &scratch);
            }
            piece = acog_view_slice(piece, used, piece.len);
        }
        stream = acog_view_slice(stream, piece_bytes, stream.len);
    }
    acog_flow_end(&flow);
    assert_int_equal(flow.code, ACOG_OK);
    acog_flow_fini(&flow);
    acog_sse_fini(&sse);
    acog_arena_fini(&scratch);
}

#endif
