/* answer_told.h - an answer of a flow, told to a client of one dialect: what the tests of its writers begin and end with. */
#ifndef ACOG_TESTS_UNIT_DIALECT_ANSWER_TOLD_H
#define ACOG_TESTS_UNIT_DIALECT_ANSWER_TOLD_H

#include "core/dialect/flow.h"
#include "tests/support/check.h"
#include "tests/support/quotes.h"

#define OUT_BYTES_MAX ((size_t)1 << 18U)

static inline struct acog_text text(const char *characters)
{
    return acog_text_plain(acog_view_of(characters));
}

struct run {
    struct acog_flow flow;
    struct acog_buffer out;
    struct acog_translation translation;
};

static inline void run_begin(struct run *run, enum acog_dialect client, enum acog_dialect upstream,
                             const struct acog_answer_writer_form *form)
{
    run->translation = (struct acog_translation){.client = client,
                                                 .upstream = upstream,
                                                 .model = {"sent", 4},
                                                 .request_id = {"r1", 2},
                                                 .unix_s = 1700000000,
                                                 .input_tokens_estimate = 11,
                                                 .max_tokens = -1};
    acog_buffer_init(&run->out, OUT_BYTES_MAX);
    assert_int_equal(acog_flow_init(&run->flow, &run->translation, form), ACOG_OK);
    run->flow.out = &run->out;
}

static inline void end(struct run *run)
{
    acog_flow_fini(&run->flow);
    acog_buffer_fini(&run->out);
}

#endif
