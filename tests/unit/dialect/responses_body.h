/* responses_body.h - for the tests of what is read of a Responses client's request: a body, and the conversation that it
 * is. Bodies have ' for ".
 */
#ifndef ACOG_TESTS_UNIT_DIALECT_RESPONSES_BODY_H
#define ACOG_TESTS_UNIT_DIALECT_RESPONSES_BODY_H

#include "acog/translate.h"
#include "core/dialect/conversation.h"
#include "tests/support/check.h"
#include "tests/support/conversation_shown.h"
#include "tests/support/quotes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 20U)

struct bench {
    struct acog_arena arena;
    struct acog_request_problem problem;
    const struct acog_conversation *conversation;
    char *body;
};

static inline enum acog_code read_body(struct bench *bench, const char *body)
{
    memset(bench, 0, sizeof(*bench));
    acog_arena_init(&bench->arena, BYTES_MAX);
    bench->body = with_quotes(body);
    return acog_conversation_read(ACOG_SURFACE_RESPONSES, acog_view_of(bench->body), &bench->arena,
                                  &bench->conversation, &bench->problem);
}

static inline void end(struct bench *bench)
{
    acog_arena_fini(&bench->arena);
    free(bench->body);
}

static inline void is_read_as(const char *body, const char *expected)
{
    struct bench bench;
    struct acog_buffer shown;
    char *wanted = with_quotes(expected);
    acog_buffer_init(&shown, BYTES_MAX);
    if (read_body(&bench, body) != ACOG_OK) {
        fail_msg("%s\n%s", body, bench.problem.text);
    }
    show_conversation(&shown, bench.conversation);
    if (!acog_view_equal(acog_buffer_view(&shown), acog_view_of(wanted))) {
        fail_msg("%s\nis read as\n%.*s\nnot as\n%s", body, (int)shown.len, shown.ptr, wanted);
    }
    acog_buffer_fini(&shown);
    free(wanted);
    end(&bench);
}

static inline void items_are_read_as(const char *items, const char *expected)
{
    char body[4096];
    int length = snprintf(body, sizeof(body), "{'model':'m','input':[%s]}", items);
    assert_true(length > 0 && (size_t)length < sizeof(body));
    is_read_as(body, expected);
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

static inline void items_are_refused(const char *items, const char *problem)
{
    char body[4096];
    int length = snprintf(body, sizeof(body), "{'model':'m','input':[%s]}", items);
    assert_true(length > 0 && (size_t)length < sizeof(body));
    is_refused(body, problem);
}

/* A body with one user message and `more`, ready to be looked at. */
static inline const struct acog_conversation *with(struct bench *bench, const char *more)
{
    char body[4096];
    int length = snprintf(body, sizeof(body), "{'model':'m','input':'x'%s}", more);
    assert_true(length > 0 && (size_t)length < sizeof(body));
    enum acog_code code = read_body(bench, body);
    if (code != ACOG_OK) {
        fail_msg("%s\n%s", body, bench->problem.text);
    }
    return bench->conversation;
}

static inline bool names(const struct acog_conversation *conversation, const char *name)
{
    const struct acog_unknown_field *unknown = conversation->unknown;
    while (unknown != NULL && !acog_json_text_is(unknown->name, acog_view_of(name))) {
        unknown = unknown->next;
    }
    return unknown != NULL;
}

static inline bool has(const struct acog_conversation *conversation, enum acog_field field)
{
    return acog_json_present(conversation->fields[field]);
}

static inline bool is(struct acog_json_value value, const char *raw)
{
    char *wanted = with_quotes(raw);
    bool equal = acog_view_equal(value.raw, acog_view_of(wanted));
    free(wanted);
    return equal;
}

/* Why it does not fit a messages upstream; empty: it does. */
static inline const char *objection(struct bench *bench, const char *more)
{
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    rules.schema = ACOG_SCHEMA_NATIVE;
    (void)with(bench, more);
    enum acog_code code =
        acog_conversation_fits(bench->conversation, ACOG_DIALECT_MESSAGES, &rules, &bench->problem);
    return code == ACOG_OK ? "" : bench->problem.text;
}

static inline void does_not_fit(const char *more, const char *problem)
{
    struct bench bench;
    const char *why = objection(&bench, more);
    if (strstr(why, problem) == NULL) {
        fail_msg("%s\nproblem: %s", more, why);
    }
    end(&bench);
}

#endif
