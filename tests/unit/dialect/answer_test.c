/* answer_test.c - what counts as an answer, and what is an error or nothing in spite of its status 200. */
#include "acog/dialect.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#define TEXT      ACOG_BIT(ACOG_OUTPUT_TEXT)
#define REASONING ACOG_BIT(ACOG_OUTPUT_REASONING)
#define TOOL      ACOG_BIT(ACOG_OUTPUT_TOOL)
#define REFUSAL   ACOG_BIT(ACOG_OUTPUT_REFUSAL)
#define USAGE     ACOG_BIT(ACOG_OUTPUT_USAGE)
#define STOP      ACOG_BIT(ACOG_OUTPUT_STOP)

struct read {
    struct acog_arena arena;
    struct acog_whole_answer answer;
    struct acog_failure failure;
    enum acog_code code;
};

static struct read read_text(enum acog_surface surface, const char *body)
{
    struct read read = {.failure = {.retry_after_ms = -1}};
    acog_arena_init(&read.arena, 1U << 20U);
    read.code = acog_dialect_read_answer(acog_surface_dialect(surface), surface, acog_view_of(body),
                                         &read.arena, &read.answer, &read.failure);
    return read;
}

static void answers(enum acog_surface surface, const char *body, unsigned outputs)
{
    struct read read = read_text(surface, body);
    if (read.code != ACOG_OK || read.answer.is_error || read.answer.outputs != outputs) {
        fail_msg("%s\n  code %d, error %d, outputs %#x", body, (int)read.code,
                 (int)read.answer.is_error, read.answer.outputs);
    }
    acog_arena_fini(&read.arena);
}

static void is_no_answer(enum acog_surface surface, const char *body)
{
    struct read read = read_text(surface, body);
    if (read.code != ACOG_INVALID) {
        fail_msg("%s\n  code %d, error %d", body, (int)read.code, (int)read.answer.is_error);
    }
    acog_arena_fini(&read.arena);
}

static void is_an_error(enum acog_surface surface, const char *body, const char *message)
{
    struct read read = read_text(surface, body);
    if (read.code != ACOG_OK || !read.answer.is_error ||
        !acog_view_equal(read.failure.message, acog_view_of(message))) {
        fail_msg("%s\n  code %d, error %d, message %.*s", body, (int)read.code,
                 (int)read.answer.is_error, ACOG_VIEW_FMT(read.failure.message));
    }
    assert_int_equal(read.failure.cause, ACOG_CAUSE_STREAM_ERROR);
    acog_arena_fini(&read.arena);
}

#define CHOICE(message, reason) \
    "{\"choices\":[{\"index\":0,\"message\":{" message "},\"finish_reason\":" reason "}]}"

static void outputs_of_whole_answers(void **state)
{
    (void)state;
    answers(ACOG_SURFACE_CHAT, CHOICE("\"content\":\"a\"", "\"stop\""), TEXT | STOP);
    answers(ACOG_SURFACE_CHAT, CHOICE("\"content\":\"\"", "\"stop\""), STOP);
    answers(ACOG_SURFACE_CHAT, CHOICE("\"content\":null,\"tool_calls\":[{}]", "\"tool_calls\""),
            TOOL | STOP);
    answers(ACOG_SURFACE_CHAT, CHOICE("\"content\":null,\"refusal\":\"no\"", "\"stop\""),
            REFUSAL | STOP);
    answers(ACOG_SURFACE_CHAT, CHOICE("\"content\":null,\"reasoning\":\"x\"", "\"length\""),
            REASONING | STOP);
    answers(ACOG_SURFACE_CHAT, CHOICE("\"content\":null", "\"length\""), STOP);
    answers(
        ACOG_SURFACE_MESSAGES,
        "{\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\"},{\"type\":\"text\",\"text\":\"a\"},"
        "{\"type\":\"tool_use\"}],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":1}}",
        REASONING | TEXT | TOOL | STOP | USAGE);
    /* the provider counted tokens: a model that said nothing; and Azure's filter, which leaves the message away */
    answers(ACOG_SURFACE_CHAT,
            "{\"choices\":[{\"message\":{\"content\":null},\"finish_reason\":\"stop\"}],\"usage\":{"
            "\"completion_tokens\":9}}",
            STOP | USAGE);
    answers(ACOG_SURFACE_CHAT, "{\"choices\":[{\"finish_reason\":\"content_filter\"}]}", STOP);
    answers(ACOG_SURFACE_MESSAGES, "{\"content\":[],\"stop_reason\":\"end_turn\"}", STOP);
    answers(
        ACOG_SURFACE_RESPONSES,
        "{\"status\":\"completed\",\"error\":null,\"output\":[{\"type\":\"reasoning\",\"summary\":[]},"
        "{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"a\"}]},"
        "{\"type\":\"function_call\"}]}",
        TEXT | TOOL | STOP);
    answers(
        ACOG_SURFACE_RESPONSES,
        "{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"refusal\","
        "\"refusal\":\"no\"}]}]}",
        REFUSAL | STOP);
    answers(ACOG_SURFACE_COUNT_TOKENS, "{\"input_tokens\":12}", 0);
    answers(ACOG_SURFACE_EMBEDDINGS,
            "{\"data\":[{\"embedding\":[0.1]}],\"usage\":{\"prompt_tokens\":3,\"total_tokens\":3}}",
            USAGE);
}

/* B117 (the upstream's side), B118: never an empty 200. */
static void what_is_no_answer(void **state)
{
    (void)state;
    is_no_answer(ACOG_SURFACE_CHAT, "");
    is_no_answer(ACOG_SURFACE_CHAT, "null");
    is_no_answer(ACOG_SURFACE_CHAT, "[]");
    is_no_answer(ACOG_SURFACE_CHAT, "{}");
    is_no_answer(ACOG_SURFACE_CHAT, "<html><body>log in</body></html>");
    is_no_answer(ACOG_SURFACE_CHAT, "{\"choices\":[{\"message\":{\"content\":\"cut");
    is_no_answer(ACOG_SURFACE_CHAT, "data: {\"choices\":[]}\n\n");
    is_no_answer(ACOG_SURFACE_CHAT, "{\"choices\":null}");
    is_no_answer(ACOG_SURFACE_CHAT, "{\"choices\":[]}");
    is_no_answer(ACOG_SURFACE_CHAT, "{\"choices\":{}}");
    is_no_answer(ACOG_SURFACE_CHAT, "{\"choices\":[null]}");
    is_no_answer(ACOG_SURFACE_CHAT, "{\"choices\":[{\"message\":null}]}");
    is_no_answer(ACOG_SURFACE_CHAT, CHOICE("\"content\":null", "\"stop\""));
    is_no_answer(ACOG_SURFACE_CHAT, CHOICE("\"content\":null,\"tool_calls\":[null]", "\"stop\""));
    is_no_answer(ACOG_SURFACE_CHAT,
                 "{\"choices\":[{\"message\":{\"content\":\"a\"}}],\"usage\":\"x\"}");
    is_no_answer(ACOG_SURFACE_MESSAGES, "{\"content\":null,\"stop_reason\":\"end_turn\"}");
    is_no_answer(ACOG_SURFACE_MESSAGES, "{\"content\":\"a\"}");
    is_no_answer(ACOG_SURFACE_MESSAGES, "{\"content\":[null]}");
    is_no_answer(ACOG_SURFACE_MESSAGES, CHOICE("\"content\":\"a\"", "\"stop\""));
    is_no_answer(ACOG_SURFACE_RESPONSES, "{\"status\":\"completed\",\"output\":null}");
    is_no_answer(ACOG_SURFACE_COUNT_TOKENS, "{\"input_tokens\":\"12\"}");
    is_no_answer(ACOG_SURFACE_COUNT_TOKENS, "{}");
    is_no_answer(ACOG_SURFACE_EMBEDDINGS, "{\"data\":[]}");
    is_no_answer(ACOG_SURFACE_EMBEDDINGS, "{\"data\":null}");
}

/* FACTS 6: a 200 whose body is an error. */
static void errors_in_a_200(void **state)
{
    (void)state;
    is_an_error(ACOG_SURFACE_CHAT, "{\"error\":{\"message\":\"m\",\"status\":400}}", "m");
    is_an_error(ACOG_SURFACE_CHAT, "{\"error\":\"m\"}", "m");
    is_an_error(ACOG_SURFACE_CHAT,
                "{\"choices\":[{\"message\":{\"content\":\"a\"}}],\"error\":{\"message\":\"m\"}}",
                "m");
    is_an_error(ACOG_SURFACE_CHAT, "{\"object\":\"error\",\"message\":\"m\"}", "m");
    is_an_error(ACOG_SURFACE_CHAT, "{\"message\":\"Too many tokens, please wait\"}",
                "Too many tokens, please wait");
    is_an_error(ACOG_SURFACE_MESSAGES,
                "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"m\"}}", "m");
    is_an_error(ACOG_SURFACE_RESPONSES,
                "{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"m\"},"
                "\"output\":[]}",
                "m");
    is_an_error(ACOG_SURFACE_COUNT_TOKENS, "{\"error\":{\"message\":\"m\"}}", "m");
    is_an_error(ACOG_SURFACE_EMBEDDINGS, "{\"error\":{\"message\":\"m\"}}", "m");
}

/* S4.24; B76 */
static void refused_only_when_empty(void **state)
{
    static const struct {
        enum acog_surface surface;
        const char *body;
        bool refused;
    } cases[] = {
        {ACOG_SURFACE_MESSAGES,
         "{\"content\":[],\"stop_reason\":\"refusal\",\"stop_details\":{\"category\":\"cyber\"}}",
         true},
        {ACOG_SURFACE_MESSAGES,
         "{\"content\":[{\"type\":\"text\",\"text\":\"\"}],\"stop_reason\":\"refusal\"}", true},
        {ACOG_SURFACE_MESSAGES,
         "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"stop_reason\":\"refusal\"}", false},
        {ACOG_SURFACE_MESSAGES, "{\"content\":[],\"stop_reason\":\"end_turn\"}", false},
        {ACOG_SURFACE_CHAT, CHOICE("\"content\":null", "\"content_filter\""), true},
        {ACOG_SURFACE_CHAT, CHOICE("\"content\":\"a\"", "\"content_filter\""), false},
        {ACOG_SURFACE_RESPONSES,
         "{\"output\":[],\"incomplete_details\":{\"reason\":\"content_filter\"}}", true},
        {ACOG_SURFACE_RESPONSES,
         "{\"output\":[],\"incomplete_details\":{\"reason\":\"max_output_tokens\"}}", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read read = read_text(cases[i].surface, cases[i].body);
        assert_int_equal(read.code, ACOG_OK);
        assert_int_equal(read.answer.refused, cases[i].refused);
        acog_arena_fini(&read.arena);
    }
}

static void usage_and_model(void **state)
{
    struct read read = read_text(
        ACOG_SURFACE_CHAT,
        "{\"model\":\"m\\u002d1\",\"choices\":[{\"message\":{\"content\":\"a\"}}],\"usage\":{\"prompt_"
        "tokens\":10,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":8}}}");
    (void)state;
    assert_true(acog_view_equal(read.answer.model, ACOG_VIEW("m-1")));
    assert_true(read.answer.usage.input_tokens == 10);
    assert_true(read.answer.usage.output_tokens == 2);
    assert_true(read.answer.usage.cached_tokens == 8);
    assert_true(read.answer.usage.reasoning_tokens == -1);
    acog_arena_fini(&read.arena);
    /* B98: null is unknown, never zero */
    read = read_text(ACOG_SURFACE_CHAT,
                     "{\"choices\":[{\"message\":{\"content\":\"a\"}}],\"usage\":null}");
    assert_int_equal(read.code, ACOG_OK);
    assert_true(read.answer.usage.input_tokens == -1);
    assert_int_equal(read.answer.model.len, 0);
    acog_arena_fini(&read.arena);
    /* A program that has no whole numbers wrote it. */
    read = read_text(
        ACOG_SURFACE_CHAT,
        "{\"choices\":[{\"message\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":10.0,"
        "\"completion_tokens\":2e1}}");
    assert_int_equal(read.answer.usage.input_tokens, 10);
    assert_int_equal(read.answer.usage.output_tokens, 20);
    acog_arena_fini(&read.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_of_whole_answers), cmocka_unit_test(what_is_no_answer),
        cmocka_unit_test(errors_in_a_200),          cmocka_unit_test(refused_only_when_empty),
        cmocka_unit_test(usage_and_model),
    };
    return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
