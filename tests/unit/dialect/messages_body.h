/* messages_body.h - for the tests of what is read of a Messages client's request: a body, and the conversation that it is.
 * Bodies have ' for ". */
#ifndef ACOG_TESTS_UNIT_DIALECT_MESSAGES_BODY_H
#define ACOG_TESTS_UNIT_DIALECT_MESSAGES_BODY_H

#include "core/dialect/conversation.h"
#include "tests/support/check.h"
#include "tests/support/quotes.h"

#include <stdlib.h>
#include <string.h>

#define OUT_BYTES_MAX ((size_t)1 << 16U)

struct bench {
    struct acog_arena arena;
    struct acog_conversation conversation;
    struct acog_request_problem problem;
    struct acog_buffer shown;
    char *body;
};

static inline enum acog_code read_body(struct bench *bench, const char *body)
{
    struct acog_json_value object = {.type = ACOG_JSON_NULL};
    struct acog_json_error error;
    memset(bench, 0, sizeof(*bench));
    acog_arena_init(&bench->arena, OUT_BYTES_MAX);
    acog_buffer_init(&bench->shown, OUT_BYTES_MAX);
    bench->body = with_quotes(body);
    assert_int_equal(acog_json_check(acog_view_of(bench->body), 128, &object, &error), ACOG_OK);
    bench->conversation = (struct acog_conversation){
        .surface = ACOG_SURFACE_MESSAGES,
        .max_tokens = -1,
        .reasoning = {.effort = ACOG_EFFORT_COUNT, .budget_tokens = -1},
    };
    struct acog_conversation_builder builder = {
        .arena = &bench->arena, .conversation = &bench->conversation, .problem = &bench->problem};
    acog_messages_read_conversation(&builder, object);
    acog_builder_finish(&builder);
    return builder.code;
}

static inline void end(struct bench *bench)
{
    acog_buffer_fini(&bench->shown);
    acog_arena_fini(&bench->arena);
    free(bench->body);
}

static inline void is_refused(const char *body, const char *problem)
{
    struct bench bench;
    char *wanted = with_quotes(problem);
    enum acog_code code = read_body(&bench, body);
    if (code != ACOG_INVALID || strstr(bench.problem.text, wanted) == NULL) {
        fail_msg("%s\ncode %d, problem %s", body, (int)code, bench.problem.text);
    }
    free(wanted);
    end(&bench);
}

/* A body with one user message and `more`, ready to be looked at. */
static inline const struct acog_conversation *with(struct bench *bench, const char *more)
{
    char body[1024];
    struct acog_buffer text;
    acog_buffer_init_over(&text, body, sizeof(body) - 1);
    assert_int_equal(acog_buffer_format(
                         &text, "{'model':'m','messages':[{'role':'user','content':'x'}]%s}", more),
                     ACOG_OK);
    body[text.len] = '\0';
    assert_int_equal(read_body(bench, body), ACOG_OK);
    return &bench->conversation;
}

static inline bool names(const struct acog_conversation *conversation, const char *name)
{
    const struct acog_unknown_field *unknown = conversation->unknown;
    while (unknown != NULL && !acog_json_text_is(unknown->name, acog_view_of(name))) {
        unknown = unknown->next;
    }
    return unknown != NULL;
}

static inline bool is(struct acog_json_value value, const char *raw)
{
    char *wanted = with_quotes(raw);
    bool equal = acog_view_equal(value.raw, acog_view_of(wanted));
    free(wanted);
    return equal;
}

#endif
