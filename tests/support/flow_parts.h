/* flow_parts.h - an answer as the flow tells it to a writer, one line a part, so that a test can say all of it at once.
 * (flow_seen.h has one line a call, for tests of how it comes.)
 *
 *   begin ID MODEL input 9               the figure where it is known as early as that
 *   reasoning: [Hm] [m] sealed(c2ln)     pieces as they came; what is opaque, behind its id where it has one
 *   text: [So] source(https://a|Title)
 *   call ID NAME: nothing                no piece came
 *   refusal content_filter for cyber: why
 *   usage 9/-1/-1/12/-1                  input, cached, written, output, reasoning; or "usage estimated"
 */
#ifndef ACOG_TESTS_SUPPORT_FLOW_PARTS_H
#define ACOG_TESTS_SUPPORT_FLOW_PARTS_H

#include "core/dialect/flow.h"
#include "tests/support/check.h"

static inline void part_say(struct acog_flow *flow, const char *text)
{
    acog_flow_put(flow, acog_view_of(text));
}

/* A name behind what leads to it; nothing when it is empty. */
static inline void part_say_name(struct acog_flow *flow, const char *lead,
                                 const struct acog_flow_name *name)
{
    if (name->len > 0) {
        part_say(flow, lead);
        acog_flow_put_name(flow, name);
    }
}

static inline void parts_begin(struct acog_flow *flow, void *writer)
{
    (void)writer;
    part_say(flow, "begin ");
    acog_flow_put_name(flow, &flow->id);
    part_say(flow, " ");
    acog_flow_put_name(flow, &flow->model);
    if (flow->usage.input_tokens >= 0) {
        acog_flow_put_format(flow, " input %lld", (long long)flow->usage.input_tokens);
    }
    part_say(flow, "\n");
}

static inline void parts_part_begin(struct acog_flow *flow, void *writer,
                                    const struct acog_flow_part *part)
{
    static const char *const kinds[] = {"text:", "reasoning:", "refusal:", "call "};
    (void)writer;
    part_say(flow, kinds[part->kind]);
    if (part->kind == ACOG_FLOW_CALL) {
        acog_flow_put_name(flow, &part->call_id);
        part_say(flow, " ");
        acog_flow_put_name(flow, &part->call_name);
        part_say(flow, ":");
    }
}

static inline void parts_part_text(struct acog_flow *flow, void *writer,
                                   const struct acog_flow_part *part, struct acog_text text)
{
    (void)writer;
    (void)part;
    part_say(flow, " [");
    acog_flow_put_inside(flow, text);
    part_say(flow, "]");
}

/* A reader gives out nothing but what its own dialect made. */
static inline void parts_part_opaque(struct acog_flow *flow, void *writer,
                                     const struct acog_flow_part *part,
                                     const struct acog_opaque *opaque)
{
    (void)writer;
    (void)part;
    assert_int_equal(opaque->maker, flow->translation->upstream);
    part_say(flow, opaque->redacted ? " redacted(" : " sealed(");
    acog_flow_put_inside(flow, opaque->id);
    part_say(flow, opaque->id.bytes.len > 0 ? " " : "");
    acog_flow_put_inside(flow, opaque->bytes);
    part_say(flow, ")");
}

static inline void parts_part_citation(struct acog_flow *flow, void *writer,
                                       const struct acog_flow_part *part, struct acog_text url,
                                       struct acog_text title)
{
    (void)writer;
    (void)part;
    part_say(flow, " source(");
    acog_flow_put_inside(flow, url);
    part_say(flow, "|");
    acog_flow_put_inside(flow, title);
    part_say(flow, ")");
}

static inline void parts_part_end(struct acog_flow *flow, void *writer,
                                  const struct acog_flow_part *part)
{
    (void)writer;
    part_say(flow, part->begun ? "\n" : " nothing\n");
}

static inline void parts_finish(struct acog_flow *flow, void *writer)
{
    static const char *const reasons[] = {"stop",  "stop_sequence", "length", "context",
                                          "calls", "refusal",       "pause",  "unknown"};
    const struct acog_usage *usage = &flow->usage;
    (void)writer;
    part_say(flow, reasons[flow->finish.reason]);
    part_say(flow, " ");
    acog_flow_put_name(flow, &flow->finish.native);
    part_say_name(flow, " at ", &flow->finish.stop_sequence);
    part_say_name(flow, " for ", &flow->finish.category);
    part_say_name(flow, ": ", &flow->finish.explanation);
    if (flow->usage_estimated) {
        part_say(flow, "\nusage estimated\n");
        return;
    }
    acog_flow_put_format(flow, "\nusage %lld/%lld/%lld/%lld/%lld\n", (long long)usage->input_tokens,
                         (long long)usage->cached_tokens, (long long)usage->cache_write_tokens,
                         (long long)usage->output_tokens, (long long)usage->reasoning_tokens);
}

static const struct acog_answer_writer_form flow_parts_form = {
    .state_bytes = 1,
    .begin = parts_begin,
    .part_begin = parts_part_begin,
    .part_text = parts_part_text,
    .part_opaque = parts_part_opaque,
    .part_citation = parts_part_citation,
    .part_end = parts_part_end,
    .finish = parts_finish,
};

#endif
