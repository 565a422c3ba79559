/* reader_test.c - heads, whole answers, and what explains a failure. */
#include "acog/memory.h"
#include "driver.h"
#include "state.h"
#include "streams.h"

/* -- whole answers --------------------------------------------------------------------------------- */

static void a_whole_answer_goes_out_unchanged_with_its_length(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    driver_connected(&driver, 1);
    driver_head(&driver, 1, 200, "application/json; charset=utf-8");
    for (size_t i = 0; i < sizeof(MESSAGES_WHOLE) - 1; i++) {
        driver_body(&driver, 1, acog_view_slice(ACOG_VIEW(MESSAGES_WHOLE), i, i + 1));
    }
    assert_int_equal(driver.status, 0);
    driver_end(&driver, 1);
    assert_int_equal(driver.status, 200);
    driver_reply_is(&driver, ACOG_VIEW(MESSAGES_WHOLE));
    assert_int_equal(driver.content_length, driver.reply.len);
    driver_header_is(&driver, "content-type: application/json\n");
    driver_header_is(&driver, "x-acog-connection: one\n");
    driver_header_is(&driver, "x-acog-resolved-model: m-1\n"); /* S4.32 */
    assert_int_equal(acog_exchange_record(driver.exchange)->usage.output_tokens, 2);
    assert_int_equal(acog_exchange_record(driver.exchange)->reply_bytes, driver.reply.len);
    driver_fini(&driver);
}

static void embeddings_and_counts_are_whole_answers(void **state)
{
    static const char embedding[] = "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\","
                                    "\"index\":0,\"embedding\":[0.1]}],\"model\":\"m\",\"usage\":"
                                    "{\"prompt_tokens\":1,\"total_tokens\":1}}";
    static const char count[] = "{\"input_tokens\":12}";
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/embeddings", "{\"model\":\"m\",\"input\":\"hi\",\"stream\":true}");
    assert_false(driver.sends[0].stream);
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, embedding);
    driver_end(&driver, 1);
    driver_reply_is(&driver, acog_view_of(embedding));
    driver_again(&driver);
    driver_post(&driver, "/v1/messages/count_tokens", ASK_MESSAGES_WHOLE);
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, count);
    driver_end(&driver, 1);
    driver_reply_is(&driver, acog_view_of(count));
    driver_fini(&driver);
}

static void a_whole_answer_that_is_none_fails_over(void **state) /* B117, FACTS 6 */
{
    static const char *const bodies[] = {
        "",
        "null",
        "[]",
        "{}",
        "<html>",
        "{\"id\":",
        "{\"error\":{\"message\":\"x\"}}",
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}",
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
        driver_head(&driver, 1, 200, "application/json");
        if (bodies[i][0] != '\0') {
            driver_text(&driver, 1, bodies[i]);
        }
        driver_end(&driver, 1);
        assert_int_equal(driver.status, 0);
        assert_int_equal(driver.send_count, 2);
        driver_gone(&driver);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void a_whole_answer_over_the_hold_streams_on(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.commit.held_bytes_max = 20;
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, "{\"id\":\"msg_1\",");
    assert_int_equal(driver.status, 0);
    driver_text(&driver, 1, "\"type\":\"message\",");
    assert_int_equal(driver.status, 200);
    assert_int_equal(driver.content_length, -1);
    driver_reply_is(&driver, ACOG_VIEW("{\"id\":\"msg_1\",\"type\":\"message\","));
    driver_text(&driver, 1, "\"rest\":1}");
    driver_end(&driver, 1);
    driver_reply_is(&driver, ACOG_VIEW("{\"id\":\"msg_1\",\"type\":\"message\",\"rest\":1}"));
    assert_true(driver.ended && !driver.aborted);
    driver_fini(&driver);
}

static void a_whole_answer_that_is_cut_after_commit_is_aborted(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.commit.whole = ACOG_COMMIT_HEADERS;
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, "{\"id\":");
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    assert_true(driver.aborted && driver.finished && !driver.ended);
    driver_fini(&driver);
}

static void a_whole_answer_has_a_cap(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.commit.whole = ACOG_COMMIT_HEADERS;
    driver.snapshot->limits.answer_bytes = 10;
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, "0123456789");
    assert_false(driver.aborted);
    driver_text(&driver, 1, "0");
    assert_true(driver.aborted && driver.sends[0].cancelled);
    driver_fini(&driver);
}

/* -- heads that do not fit ------------------------------------------------------------------------- */

static void a_head_that_does_not_fit_fails_over(void **state) /* B118 c, d */
{
    static const struct {
        const char *asked;
        const char *type;
    } cases[] = {
        {ASK_MESSAGES_WHOLE, "text/event-stream"},  {ASK_MESSAGES_WHOLE, "text/html"},
        {ASK_MESSAGES, "text/html; charset=utf-8"}, {ASK_MESSAGES, "text/plain"},
        {ASK_MESSAGES, "text/event-streams"},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        driver_post(&driver, "/v1/messages", cases[i].asked);
        driver_head(&driver, 1, 200, cases[i].type);
        assert_int_equal(driver.status, 0);
        assert_true(driver.sends[0].cancelled);
        assert_int_equal(driver.send_count, 2);
        driver_gone(&driver);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void json_on_a_stream_request_fails_over(void **state) /* B118 a, b */
{
    static const char *const bodies[] = {
        MESSAGES_WHOLE,
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}",
        "{\"error\":{\"message\":\"x\"}}",
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        driver_post(&driver, "/v1/messages", ASK_MESSAGES);
        driver_head(&driver, 1, 200, "application/json");
        assert_int_equal(driver.send_count, 1);
        driver_text(&driver, 1, bodies[i]);
        driver_end(&driver, 1);
        assert_int_equal(driver.status, 0);
        assert_int_equal(driver.send_count, 2);
        driver_gone(&driver);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void a_head_without_a_type_is_taken_at_its_word(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, NULL);
    driver_text(&driver, 1, MESSAGES_STREAM);
    driver_end(&driver, 1);
    driver_reply_is(&driver, ACOG_VIEW(MESSAGES_STREAM));
    driver_fini(&driver);
}

static void a_redirect_is_a_failure_and_its_place_is_not_told(void **state) /* B102 */
{
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("location"), ACOG_VIEW("http://10.0.0.5/")},
        {ACOG_VIEW("set-cookie"), ACOG_VIEW("a=b")},
        {ACOG_VIEW("server"), ACOG_VIEW("internal")},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    acog_exchange_upstream_head(driver.exchange, 1, 302, rows, 3, driver.now_ms);
    driver_drain(&driver);
    driver_end(&driver, 1);
    assert_true(driver.status >= 400);
    assert_false(driver_has(&driver.headers, "10.0.0.5") || driver_has(&driver.headers, "cookie") ||
                 driver_has(&driver.headers, "internal"));
    driver_fini(&driver);
}

/* -- error statuses -------------------------------------------------------------------------------- */

#define NATIVE_400                                                                   \
    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":" \
    "\"max_tokens: too large\"},\"request_id\":\"req_up\"}"

static void fail_both(struct driver *driver, unsigned status, const char *body)
{
    driver_post(driver, "/v1/messages", ASK_MESSAGES);
    for (uint32_t attempt = 1; attempt <= driver->send_count && !driver->finished; attempt++) {
        driver_head(driver, attempt, status, "application/json");
        driver_text(driver, attempt, body);
        driver_end(driver, attempt);
    }
}

static void a_request_fault_is_relayed_as_it_came(void **state) /* S4.15, D14 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    fail_both(&driver, 400, NATIVE_400);
    assert_int_equal(driver.send_count, 1);
    assert_int_equal(driver.status, 400);
    driver_reply_is(&driver, ACOG_VIEW(NATIVE_400));
    driver_header_is(&driver, "content-type: application/json\n");
    assert_int_equal(driver.content_length, driver.reply.len);
    driver_fini(&driver);
}

static void a_fault_that_is_no_json_gets_our_own_body(void **state) /* B109 */
{
    static const char *const bodies[] = {"<html>db-7.internal</html>", "\"text\"", "[1]",
                                         "{\"broken\""};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        fail_both(&driver, 400, bodies[i]);
        assert_int_equal(driver.status, 400);
        assert_true(driver_has(&driver.reply, "{\"type\":\"error\""));
        assert_false(driver_has(&driver.reply, "internal"));
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void an_exhausted_request_tells_the_providers_message(void **state) /* DESIGN, S4 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    fail_both(&driver, 503, "{\"error\":{\"message\":\"pool is \\u0022full\\u0022\"}}");
    assert_int_equal(driver.send_count, 2);
    assert_int_equal(driver.status, 503);
    assert_true(driver_has(&driver.reply, "\"message\":\"pool is \\\"full\\\"\""));
    assert_true(driver_has(&driver.reply, "\"type\":\"api_error\""));
    driver_header_is(&driver, "x-acog-attempts: 2\n");
    driver_header_is(&driver, "x-acog-connection: two\n");
    driver_fini(&driver);
}

static void a_body_that_tells_the_key_is_replaced(void **state) /* B109 */
{
    static const char *const bodies[] = {
        "{\"error\":{\"message\":\"bad key sk-secret-of-one-0123456789\"}}",
        "{\"error\":{\"message\":\"bad key sk-secre****6789\"}}",
        "{\"error\":{\"message\":\"see https://x/?key=of-one-01\"}}",
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        driver.snapshot->policy.classes[ACOG_CLASS_AUTH].relay = ACOG_RELAY_MESSAGE;
        fail_both(&driver, i % 2 == 0 ? 400 : 401, bodies[i]);
        assert_false(driver_has(&driver.reply, "sk-") || driver_has(&driver.reply, "of-one"));
        assert_true(driver_has(&driver.reply, "\"message\":\"The provider did not accept"));
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void auth_failures_are_told_in_our_own_words(void **state) /* DESIGN, S4 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    fail_both(&driver, 401, "{\"error\":{\"message\":\"Incorrect API key provided: abc\"}}");
    assert_int_equal(driver.send_count, 1);
    assert_int_equal(driver.status, 401);
    assert_true(driver_has(&driver.reply, "\"type\":\"authentication_error\""));
    assert_true(driver_has(&driver.reply, "did not accept the gateway's credentials"));
    assert_false(driver_has(&driver.reply, "abc"));
    driver_fini(&driver);
}

static void retry_after_is_told_in_whole_seconds(void **state) /* B69 */
{
    static const struct {
        const char *name;
        const char *value;
        const char *told;
    } cases[] = {
        {"retry-after", "7", "retry-after: 7\n"},
        {"retry-after", "9999", "retry-after: 60\n"},
        {"retry-after-ms", "1200", "retry-after: 2\n"},
        {"retry-after", "0", "retry-after: 0\n"},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct acog_header_row row = {acog_view_of(cases[i].name), acog_view_of(cases[i].value)};
        driver_post(&driver, "/v1/messages", ASK_MESSAGES);
        for (uint32_t attempt = 1; attempt <= driver.send_count; attempt++) {
            acog_exchange_upstream_head(driver.exchange, attempt, 429, &row, 1, driver.now_ms);
            driver_drain(&driver);
            driver_end(&driver, attempt);
        }
        assert_int_equal(driver.status, 429);
        driver_header_is(&driver, cases[i].told);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void a_good_answers_retry_after_means_nothing(void **state) /* FACTS 1 */
{
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("retry-after"), ACOG_VIEW("61")},
        {ACOG_VIEW("content-type"), ACOG_VIEW("application/json")}};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    acog_exchange_upstream_head(driver.exchange, 1, 200, rows, 2, driver.now_ms);
    driver_drain(&driver);
    driver_text(&driver, 1, MESSAGES_WHOLE);
    driver_end(&driver, 1);
    assert_int_equal(driver.status, 200);
    assert_false(driver_has(&driver.headers, "retry-after"));
    driver_fini(&driver);
}

static void a_body_that_no_row_wants_is_not_waited_for(void **state) /* S1.12, decision 16 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    memset(driver.snapshot->policy.reads_body, 0, sizeof(driver.snapshot->policy.reads_body));
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 503, "application/json");
    assert_true(driver.sends[0].cancelled);
    assert_int_equal(driver.send_count, 2);
    driver_gone(&driver);
    driver_fini(&driver);
}

static void an_error_body_has_a_cap(void **state)
{
    static char much[ACOG_EXCHANGE_FAULT_MAX + 2];
    struct driver driver;
    (void)state;
    driver_init(&driver);
    memset(much, ' ', sizeof(much) - 1);
    much[0] = '{';
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 400, "application/json");
    driver_text(&driver, 1, much);
    assert_int_equal(driver.status, 400); /* without waiting for the rest */
    assert_true(driver.sends[0].cancelled);
    assert_true(driver_has(&driver.reply, "{\"type\":\"error\""));
    driver_fini(&driver);
}

static void an_error_body_is_not_waited_for_longer_than_a_while(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 400, "application/json");
    driver_text(&driver, 1, "{\"error\":");
    assert_int_equal(acog_exchange_deadline_ms(driver.exchange),
                     driver.now_ms + ACOG_EXCHANGE_FAULT_WAIT_MS);
    driver_tick(&driver, ACOG_EXCHANGE_FAULT_WAIT_MS);
    assert_int_equal(driver.status, 400); /* the status, not a clock */
    assert_true(driver.finished);
    driver_fini(&driver);
}

static void an_error_body_that_is_cut_still_has_its_status(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 400, "application/json");
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    assert_int_equal(driver.status, 400);
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_answer_goes_out_unchanged_with_its_length),
        cmocka_unit_test(embeddings_and_counts_are_whole_answers),
        cmocka_unit_test(a_whole_answer_that_is_none_fails_over),
        cmocka_unit_test(a_whole_answer_over_the_hold_streams_on),
        cmocka_unit_test(a_whole_answer_that_is_cut_after_commit_is_aborted),
        cmocka_unit_test(a_whole_answer_has_a_cap),
        cmocka_unit_test(a_head_that_does_not_fit_fails_over),
        cmocka_unit_test(json_on_a_stream_request_fails_over),
        cmocka_unit_test(a_head_without_a_type_is_taken_at_its_word),
        cmocka_unit_test(a_redirect_is_a_failure_and_its_place_is_not_told),
        cmocka_unit_test(a_request_fault_is_relayed_as_it_came),
        cmocka_unit_test(a_fault_that_is_no_json_gets_our_own_body),
        cmocka_unit_test(an_exhausted_request_tells_the_providers_message),
        cmocka_unit_test(a_body_that_tells_the_key_is_replaced),
        cmocka_unit_test(auth_failures_are_told_in_our_own_words),
        cmocka_unit_test(retry_after_is_told_in_whole_seconds),
        cmocka_unit_test(a_good_answers_retry_after_means_nothing),
        cmocka_unit_test(a_body_that_no_row_wants_is_not_waited_for),
        cmocka_unit_test(an_error_body_has_a_cap),
        cmocka_unit_test(an_error_body_is_not_waited_for_longer_than_a_while),
        cmocka_unit_test(an_error_body_that_is_cut_still_has_its_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
