/* gemini_test.c - whole answers of generateContent as facts. */
#include "acog/dialect.h"
#include "tests/support/check.h"

#define TEXT      ACOG_BIT(ACOG_OUTPUT_TEXT)
#define REASONING ACOG_BIT(ACOG_OUTPUT_REASONING)
#define TOOL      ACOG_BIT(ACOG_OUTPUT_TOOL)
#define USAGE     ACOG_BIT(ACOG_OUTPUT_USAGE)
#define STOP      ACOG_BIT(ACOG_OUTPUT_STOP)

struct read {
    enum acog_code code;
    struct acog_whole_answer answer;
    struct acog_failure failure;
};

/* With what needs no arena to outlive it. */
static struct read read_text(const char *body)
{
    struct read read = {.failure = {.retry_after_ms = -1}};
    struct acog_arena arena;
    acog_arena_init(&arena, 1U << 16U);
    read.code = acog_dialect_read_answer(ACOG_DIALECT_GEMINI, ACOG_SURFACE_CHAT, acog_view_of(body),
                                         &arena, &read.answer, &read.failure);
    acog_arena_fini(&arena);
    return read;
}

static void what_came_out_is_told_whatever_the_client_speaks(void **state)
{
    static const struct {
        const char *body;
        unsigned outputs;
    } rows[] = {
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true},{\"text\":"
         "\"hi\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,"
         "\"candidatesTokenCount\":1}}",
         TEXT | REASONING | USAGE | STOP},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{}}}"
         "]},\"finishReason\":\"STOP\"}]}",
         TOOL | STOP},
        {"{\"candidates\":[{\"finishReason\":\"MAX_TOKENS\"}]}", STOP},
        {"{\"candidates\":[{\"finishReason\":2}]}", STOP}, /* enums as numbers */
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}]},\"finishReason\":\"STOP\"}]}",
         STOP},
        {"{\"candidates\":[{\"content\":{},\"finishReason\":\"STOP\"}],\"usageMetadata\":{"
         "\"thoughtsTokenCount\":9}}",
         USAGE | STOP},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct read read = read_text(rows[i].body);
        if (read.code != ACOG_OK || read.answer.is_error || read.answer.refused ||
            read.answer.outputs != rows[i].outputs) {
            fail_msg("%s\n  code %d, outputs %#x", rows[i].body, (int)read.code,
                     read.answer.outputs);
        }
    }
}

static void the_model_that_answered_and_the_usage_are_read(void **state)
{
    struct read read = read_text(
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]}}],\"modelVersion\":"
        "\"gemini-x-001\",\"usageMetadata\":{\"promptTokenCount\":15,\"candidatesTokenCount\":37,"
        "\"toolUsePromptTokenCount\":770,\"thoughtsTokenCount\":742,\"cachedContentTokenCount\":5}"
        "}");
    (void)state;
    assert_int_equal(read.code, ACOG_OK);
    assert_true(acog_view_equal(read.answer.model, ACOG_VIEW("gemini-x-001")));
    assert_int_equal(read.answer.usage.input_tokens, 785);
    assert_int_equal(read.answer.usage.output_tokens, 779);
    assert_int_equal(read.answer.usage.reasoning_tokens, 742);
    assert_int_equal(read.answer.usage.cached_tokens, 5);
    read = read_text(
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]}}],\"usageMetadata\":{"
        "\"candidatesTokenCount\":37,\"thoughtsTokenCount\":9223372036854775807}}");
    assert_int_equal(read.answer.usage.output_tokens, INT64_MAX); /* and no more */
}

static void an_empty_answer_that_a_filter_explains_is_a_refusal(void **state)
{
    static const char *const bodies[] = {
        "{\"candidates\":[{\"content\":{},\"finishReason\":\"SAFETY\"}]}",
        "{\"candidates\":[{\"finishReason\":\"SPII\"}]}",
        "{\"candidates\":[{\"finishReason\":3}]}",
        "{\"promptFeedback\":{\"blockReason\":\"MODEL_ARMOR\"}}",
        ("{\"candidates\":[],\"promptFeedback\":{\"blockReason\":\"SAFETY\"},\"usageMetadata\":{"
         "\"promptTokenCount\":12,\"totalTokenCount\":12}}"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct read read = read_text(bodies[i]);
        assert_int_equal(read.code, ACOG_OK);
        assert_true(read.answer.refused);
        assert_true((read.answer.outputs & STOP) != 0);
    }
    assert_false(read_text("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"some\"}]},"
                           "\"finishReason\":\"SAFETY\"}]}")
                     .answer.refused);
}

/* B117, B118: an empty one that nothing explains, a call that could not be parsed, other JSON. */
static void what_says_nothing_is_no_answer(void **state)
{
    static const char *const bodies[] = {
        "{\"candidates\":[{\"content\":{\"parts\":[]},\"finishReason\":\"STOP\"}]}",
        ("{\"candidates\":[{\"content\":{\"role\":\"model\"},\"finishReason\":\"STOP\"}],"
         "\"usageMetadata\":{\"promptTokenCount\":9,\"totalTokenCount\":9}}"),
        "{\"candidates\":[{\"finishReason\":\"MALFORMED_FUNCTION_CALL\"}]}",
        "{\"candidates\":[]}",
        "{\"candidates\":[null]}",
        "{\"candidates\":{\"content\":{}}}",
        "{\"promptFeedback\":{}}",
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]}}],\"usageMetadata\":[]}",
        "{\"choices\":[{\"message\":{\"content\":\"hi\"}}]}",
        "[]",
        "<html>",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        if (read_text(bodies[i]).code != ACOG_INVALID) {
            fail_msg("taken for an answer: %s", bodies[i]);
        }
    }
}

static void an_error_with_a_good_status_is_an_error(void **state)
{
    struct read read = read_text("{\"error\":{\"code\":503,\"message\":\"overloaded\",\"status\":"
                                 "\"UNAVAILABLE\"}}");
    (void)state;
    assert_int_equal(read.code, ACOG_OK);
    assert_true(read.answer.is_error);
    assert_int_equal(read.failure.cause, ACOG_CAUSE_STREAM_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_out_is_told_whatever_the_client_speaks),
        cmocka_unit_test(the_model_that_answered_and_the_usage_are_read),
        cmocka_unit_test(an_empty_answer_that_a_filter_explains_is_a_refusal),
        cmocka_unit_test(what_says_nothing_is_no_answer),
        cmocka_unit_test(an_error_with_a_good_status_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
