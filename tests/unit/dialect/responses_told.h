/* responses_told.h - what the tests of answers for OpenAI Responses share, streamed and whole. */
#ifndef ACOG_TESTS_UNIT_DIALECT_RESPONSES_TOLD_H
#define ACOG_TESTS_UNIT_DIALECT_RESPONSES_TOLD_H

#include "core/dialect/answer_to_responses.h"
#include "tests/unit/dialect/answer_told.h"

static inline void begin(struct run *run, enum acog_dialect upstream,
                         const struct acog_answer_writer_form *form)
{
    run_begin(run, ACOG_DIALECT_RESPONSES, upstream, form);
}

static inline void usage(struct run *run, int64_t input, int64_t output)
{
    struct acog_usage usage = {input, -1, -1, output, -1};
    acog_flow_usage(&run->flow, &usage);
}

/* A function in a namespace, and two custom tools. */
static inline void begin_with_identities(struct run *run,
                                         const struct acog_answer_writer_form *form)
{
    struct acog_tool_identity patch = {.name = {"patch", 5}, .told = {"patch", 5}, .custom = true};
    struct acog_tool_identity script = {.name_space = {"n", 1},
                                        .name = {"run", 3},
                                        .told = {"n__run", 6},
                                        .custom = true,
                                        .next = &patch};
    struct acog_tool_identity close = {.name_space = {"ag\"ents", 7},
                                       .name = {"close", 5},
                                       .told = {"ag_ents__close", 14},
                                       .next = &script};
    begin(run, ACOG_DIALECT_CHAT, form);
    acog_flow_fini(&run->flow);
    run->translation.identities = &close;
    assert_int_equal(acog_flow_init(&run->flow, &run->translation, form), ACOG_OK);
    run->translation.identities = NULL;
    run->flow.out = &run->out;
    acog_flow_begin(&run->flow, text("c"), text("m"));
}

static inline void show(struct acog_buffer *shown, struct acog_view bytes)
{
    assert_int_equal(acog_buffer_append(shown, bytes), ACOG_OK);
}

static inline void show_member(struct acog_buffer *shown, struct acog_json_value object,
                               struct acog_view name)
{
    struct acog_json_value value = {.type = ACOG_JSON_NULL};
    if (acog_json_member(object, name, &value)) {
        show(shown, ACOG_VIEW(" "));
        show(shown, value.raw);
    }
}

/* Of a response: what is not the same in all of them. */
static inline void show_response(struct acog_buffer *shown, struct acog_json_value response)
{
    static const char *const names[] = {
        "id", "model", "status", "incomplete_details", "output", "usage", "native_finish_reason"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        show_member(shown, response, acog_view_of(names[i]));
    }
}

static inline void is_shown(struct acog_buffer *shown, const char *expected)
{
    assert_quoted(acog_buffer_view(shown), expected);
    acog_buffer_fini(shown);
}

#define USAGE(input, output, total)                                                              \
    " {'input_tokens':" input ",'input_tokens_details':{'cached_tokens':0,'cache_write_tokens':" \
    "0},'output_tokens':" output ",'output_tokens_details':{'reasoning_tokens':0},"              \
    "'total_tokens':" total "}"

#define HEY_PART "{'type':'output_text','annotations':[],'logprobs':[],'text':'Hey'}"
#define HEY_MESSAGE                                                                                 \
    "{'id':'msg_c_0','type':'message','status':'completed','role':'assistant','content':[" HEY_PART \
    "]}"

#endif
