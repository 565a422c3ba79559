/* messages_told.h - what the tests of answers for Anthropic Messages share, streamed and whole. */
#ifndef ACOG_TESTS_UNIT_DIALECT_MESSAGES_TOLD_H
#define ACOG_TESTS_UNIT_DIALECT_MESSAGES_TOLD_H

#include "tests/unit/dialect/answer_told.h"

static inline void begin(struct run *run, enum acog_dialect upstream,
                         const struct acog_answer_writer_form *form)
{
    run_begin(run, ACOG_DIALECT_MESSAGES, upstream, form);
}

static inline void usage(struct run *run, int64_t input, int64_t cached, int64_t written,
                         int64_t output)
{
    struct acog_usage figures = {input, cached, written, output, -1};
    acog_flow_usage(&run->flow, &figures);
}

static inline void opaque(struct run *run, enum acog_flow_kind kind, uint32_t key,
                          enum acog_dialect maker, const char *bytes, bool redacted)
{
    struct acog_opaque value = {.maker = maker, .bytes = text(bytes), .redacted = redacted};
    acog_flow_opaque(&run->flow, kind, key, &value);
}

#define USAGE(input, output)                                                                 \
    "{'input_tokens':" input ",'cache_creation_input_tokens':0,'cache_read_input_tokens':0," \
    "'output_tokens':" output "}"

#endif
