/* error_test.c - where the words of an error body are, on samples of our own; tests/data has the recorded ones. */
#include "acog/buffer.h"
#include "acog/dialect.h"
#include "acog/memory.h"
#include "tests/support/check.h"
#include "tests/support/error_read.h"

#include <stdio.h>
#include <string.h>

static void texts_and_codes_come_from_wherever_they_are(void **state)
{
    static const struct {
        const char *body;
        const char *message;
        const char *code;
        const char *type;
    } cases[] = {
        {"{\"error\":{\"message\":\"a\\nb\",\"code\":\"c\",\"type\":\"t\"}}", "a\nb", "c", "t"},
        {"{\"type\":\"error\",\"error\":{\"type\":\"t\",\"message\":\"m\"}}", "m", "t", "t"},
        {"{\"error\":{\"code\":429,\"message\":\"m\",\"status\":\"S\"}}", "m", "S", "S"},
        {"{\"error\":{\"code\":429,\"message\":\"m\"}}", "m", "429", ""},
        {"{\"object\":\"error\",\"message\":\"m\",\"type\":\"T\",\"code\":400}", "m", "T", "T"},
        {"{\"object\":\"error\",\"message\":\"m\",\"type\":\"T\",\"code\":\"3210\"}", "m", "3210",
         "T"},
        {"{\"code\":\"c\",\"error\":\"m\"}", "m", "c", ""},
        {"{\"detail\":\"m\"}", "m", "", ""},
        {"{\"detail\":[{\"msg\":\"m\",\"loc\":[]}]}", "m", "", ""},
        {"{\"errors\":[{\"code\":7003,\"message\":\"m\"}]}", "m", "7003", ""},
        {"[{\"error\":{\"message\":\"m\",\"status\":\"S\"}}]", "m", "S", "S"},
        {"{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"c\",\"message\":\"m\"}}}",
         "m", "c", ""},
        {"{\"type\":\"error\",\"code\":\"c\",\"message\":\"m\",\"param\":null}", "m", "c", ""},
        {"{\"Message\":\"m\"}", "m", "", ""},
        {"{\"__type\":\"com.amazon.coral.service#AException:http://a/\",\"Message\":\"m\"}", "m",
         "AException", "AException"},
        {"{\"error\":\"m\",\"error_type\":\"t\"}", "m", "t", "t"},
        {"{\"error_code\":\"C\",\"message\":\"m\"}", "m", "C", ""},
        {"{\"type\":\"about:blank\",\"title\":\"t\",\"detail\":\"m\",\"status\":403}", "m", "", ""},
        {"{\"type\":\"https://a.example/e\",\"title\":\"m\",\"status\":\"failed\"}", "m", "", ""},
        {"{\"detail\":{\"error\":\"m\"}}", "m", "", ""},
        {"{\"object\":\"error\",\"message\":{\"detail\":[{\"msg\":\"m\"}]},\"type\":\"t\"}", "m",
         "t", "t"},
        {"{\"error\":{\"error\":{\"message\":\"m\",\"code\":\"c\"}}}", "m", "c", ""},
        {"{\"error\":{\"error\":\"m\"}}", "m", "", ""},
        {"[{\"candidates\":[]},{\"error\":{\"message\":\"m\",\"code\":503}}]", "m", "503", ""},
        {"{\"error\":{\"code\":400,\"message\":\"m\",\"status\":\"S\",\"details\":[{\"reason\":\"R\"}]}}",
         "m", "R", "S"},
        {"{\"error\":{\"code\":null,\"message\":\"m\",\"innererror\":{\"code\":\"c\"}}}", "m", "c",
         ""},
        {"\"m\"", "m", "", ""},
        {" plain words ", "plain words", "", ""},
        {"<html>x</html>", "", "", ""},
        {"{\"error\":{\"message\":\"cut", "", "", ""},
        {"", "", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read read = read_text(cases[i].body);
        if (!acog_view_equal(read.failure.message, acog_view_of(cases[i].message)) ||
            !acog_view_equal(read.failure.code, acog_view_of(cases[i].code)) ||
            !acog_view_equal(read.failure.type, acog_view_of(cases[i].type))) {
            fail_msg("%s\n  gave %.*s | %.*s | %.*s", cases[i].body,
                     ACOG_VIEW_FMT(read.failure.message), ACOG_VIEW_FMT(read.failure.code),
                     ACOG_VIEW_FMT(read.failure.type));
        }
        acog_arena_fini(&read.arena);
    }
}

/* An error as a relay wraps it: the first text that means something is the message. */
static void errors_inside_of_errors_are_read(void **state)
{
    static const struct {
        const char *body;
        unsigned shapes;
        const char *message;
        const char *code;
    } cases[] = {
        /* JSON as the text of an error: Gemini's SDK, Databricks */
        {"{\"error\":{\"message\":\"{\\\"error\\\":{\\\"code\\\":429,\\\"message\\\":\\\"slow\\\","
         "\\\"status\\\":\\\"RESOURCE_EXHAUSTED\\\"}}\",\"code\":429}}",
         RATE_LIMIT, "slow", "RESOURCE_EXHAUSTED"},
        {"{\"error\":\"[{\\\"error\\\":{\\\"message\\\":\\\"no\\\",\\\"code\\\":"
         "\\\"model_not_found\\\"}}]\"}",
         MODEL_UNKNOWN, "no", "model_not_found"},
        /* with words before it */
        {"{\"error\":\"Error: 400 {\\\"type\\\":\\\"error\\\",\\\"error\\\":{\\\"type\\\":"
         "\\\"overloaded_error\\\",\\\"message\\\":\\\"busy\\\"}}\"}",
         OVERLOAD, "busy", "overloaded_error"},
        /* an event stream with an error's status */
        {"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\","
         "\"message\":\"slow\"}}\n\n",
         RATE_LIMIT, "slow", "rate_limit_error"},
        /* OpenRouter: words, JSON or an object of the provider behind it */
        {"{\"error\":{\"message\":\"Provider returned error\",\"code\":400,\"metadata\":{\"raw\":"
         "\"{\\\"error\\\":{\\\"message\\\":\\\"long\\\",\\\"code\\\":"
         "\\\"context_length_exceeded\\\"}}\",\"provider_name\":\"X\"}}}",
         CONTEXT_OVERFLOW, "long", "context_length_exceeded"},
        {"{\"error\":{\"message\":\"Provider returned error\",\"code\":429,\"metadata\":{\"raw\":"
         "\"m is rate-limited upstream\"}}}",
         RATE_LIMIT, "m is rate-limited upstream", "429"},
        {"{\"error\":{\"message\":\"Provider returned error\",\"code\":502,\"metadata\":{\"raw\":{"
         "\"error\":{\"type\":\"overloaded_error\"}}}}}",
         OVERLOAD, "Provider returned error", "overloaded_error"},
        /* a reason inside Google's older list */
        {"[{\"error\":{\"code\":429,\"message\":\"m\",\"errors\":[{\"reason\":"
         "\"rateLimitExceeded\"}]}}]",
         RATE_LIMIT, "m", "429"},
        /* what a message quotes of the request is none */
        {"{\"error\":{\"message\":\"bad arguments {\\\"code\\\":\\\"slow_down\\\"}\"}}", 0,
         "bad arguments {\"code\":\"slow_down\"}", ""},
        /* nor what a model wrote (Groq) */
        {"{\"error\":{\"message\":\"m\",\"code\":\"tool_use_failed\",\"failed_generation\":"
         "\"{\\\"error\\\":{\\\"code\\\":\\\"overloaded\\\"}}\"}}",
         0, "m", "tool_use_failed"},
        /* JSON that says nothing is still a text */
        {"{\"error\":\"{\\\"a\\\":1}\"}", 0, "{\"a\":1}", ""},
        {"{\"error\":\"{\\\"a\\\":\"}", 0, "{\"a\":", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read read = read_text(cases[i].body);
        if (read.failure.shapes != cases[i].shapes ||
            !acog_view_equal(read.failure.message, acog_view_of(cases[i].message)) ||
            !acog_view_equal(read.failure.code, acog_view_of(cases[i].code))) {
            fail_msg("%s\n  gave %#x | %.*s | %.*s", cases[i].body, read.failure.shapes,
                     ACOG_VIEW_FMT(read.failure.message), ACOG_VIEW_FMT(read.failure.code));
        }
        acog_arena_fini(&read.arena);
    }
}

/* FACTS 2 */
static void google_tells_the_delay_in_the_body(void **state)
{
    struct acog_view body = ACOG_VIEW(
        "{\"error\":{\"code\":429,\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\","
        "\"retryDelay\":\"34.4s\"}]}}");
    struct read read = read_view(body, 429);
    (void)state;
    assert_true(read.failure.retry_after_ms == 34400);
    read.failure.retry_after_ms = 1000; /* the header said so: it stays */
    acog_dialect_read_error(body, 429, &read.arena, &read.failure);
    assert_true(read.failure.retry_after_ms == 1000);
    acog_arena_fini(&read.arena);
}

/* FACTS 2: Google's RetryInfo, a number of seconds, or words; what only says "later" tells no time. */
static void the_body_tells_how_long_to_wait(void **state)
{
    static const struct {
        const char *body;
        int64_t wait_ms;
    } cases[] = {
        {"{\"error\":{\"code\":429,\"details\":[{\"reason\":\"a\"},{\"retryDelay\":\"7s\"}]}}",
         7000},
        {"[{\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"1m2.5s\"}]}}]", 62500},
        {"{\"title\":\"t\",\"status\":429,\"retry_after\":30}", 30000},
        {"{\"error\":{\"message\":\"m\",\"retry_after\":\"1.5\"}}", 1500},
        {"{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Limit 3. Please try again in "
         "1m0.2s. Visit us.\"}}",
         60200},
        {"{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Please try again in 438ms.\"}}",
         438},
        {"{\"error\":{\"code\":\"429\",\"message\":\"Above the call rate limit. Please retry after 2 "
         "seconds.\"}}",
         2000},
        {"{\"error\":{\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"Please retry in 20.5s.\"}}",
         20500},
        {"{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Please try again in 3 "
         "minutes.\"}}",
         -1},
        {"{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Please try again in a moment.\"}}",
         -1},
        {"{\"error\":{\"message\":\"It is no use to try again in 5s.\"}}", -1},
        {"{\"error\":{\"message\":\"m\",\"retry_after\":-1}}", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read read = read_text(cases[i].body);
        if (read.failure.retry_after_ms != cases[i].wait_ms) {
            fail_msg("%s: %lld", cases[i].body, (long long)read.failure.retry_after_ms);
        }
        acog_arena_fini(&read.arena);
    }
}

/* Errors in errors without end: what is beyond the caps is not looked at. */
static void what_is_looked_at_is_capped(void **state)
{
    struct acog_buffer body;
    (void)state;
    acog_buffer_init(&body, 1U << 16U);
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("{\"errors\":[")), ACOG_OK);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(acog_buffer_format(&body, "{\"code\":\"c%d\",\"message\":\"m%d\"},", i, i),
                         ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("{\"code\":\"overloaded_error\"}]}")),
                     ACOG_OK);
    struct read read = read_view(acog_buffer_view(&body), 400);
    assert_true(acog_view_equal(read.failure.code, ACOG_VIEW("c0")));
    assert_int_equal(read.failure.shapes, 0);
    acog_arena_fini(&read.arena);
    acog_buffer_fini(&body);
}

static void a_long_message_is_cut_between_characters(void **state)
{
    struct acog_buffer body;
    (void)state;
    acog_buffer_init(&body, 1U << 16U);
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("{\"error\":\"x")), ACOG_OK);
    for (size_t i = 0; i < ACOG_ERROR_MESSAGE_MAX; i++) {
        assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("\xc3\xa9")), ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("\"}")), ACOG_OK);
    struct read read = read_view(acog_buffer_view(&body), 400);
    assert_int_equal(read.failure.message.len, ACOG_ERROR_MESSAGE_MAX - 1);
    acog_arena_fini(&read.arena);
    acog_buffer_fini(&body);
}

static void cause_clock_and_status_are_left_alone(void **state)
{
    struct acog_arena arena;
    struct acog_failure failure = {
        .cause = ACOG_CAUSE_STATUS, .clock = ACOG_CLOCK_IDLE, .status = 503, .retry_after_ms = 7};
    (void)state;
    acog_arena_init(&arena, 4096);
    acog_dialect_read_error(ACOG_VIEW("{\"error\":\"x\"}"), 503, &arena, &failure);
    assert_int_equal(failure.cause, ACOG_CAUSE_STATUS);
    assert_int_equal(failure.clock, ACOG_CLOCK_IDLE);
    assert_int_equal(failure.status, 503);
    assert_true(failure.retry_after_ms == 7);
    acog_arena_fini(&arena);
}

static bool always_fails(void *user)
{
    (void)user;
    return true;
}

static void without_memory_the_facts_are_fewer(void **state)
{
    (void)state;
    acog_memory_fail_when(always_fails, NULL);
    struct read read = read_text("{\"error\":{\"message\":\"Overloaded\",\"code\":\"a\\u0062\"}}");
    acog_memory_fail_when(NULL, NULL);
    assert_true(acog_view_equal(read.failure.message, ACOG_VIEW("Overloaded")));
    assert_int_equal(read.failure.shapes, 0);
    acog_arena_fini(&read.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_codes_come_from_wherever_they_are),
        cmocka_unit_test(errors_inside_of_errors_are_read),
        cmocka_unit_test(google_tells_the_delay_in_the_body),
        cmocka_unit_test(the_body_tells_how_long_to_wait),
        cmocka_unit_test(what_is_looked_at_is_capped),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
        cmocka_unit_test(cause_clock_and_status_are_left_alone),
        cmocka_unit_test(without_memory_the_facts_are_fewer),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
