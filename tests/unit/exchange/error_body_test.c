/* error_body_test.c - what the gateway says when it does not answer, in both shapes. */
#include "acog/memory.h"
#include "driver.h"
#include "state.h"
#include "streams.h"

#define OTHER_CHAT "{\"model\":\"x\\\"y\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"
#define OTHER_MESSAGES                                                                     \
    "{\"model\":\"x\\\"y\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":" \
    "\"hi\"}]}"

static const struct acog_header_row id = {{"x-request-id", 12}, {"r1", 2}};

static void post(struct driver *driver, const char *target, const char *body)
{
    driver_start(driver, "POST", target, &id, 1, acog_view_of(body));
}

static void an_unknown_model_is_a_409_in_both_shapes(void **state) /* S4.2, B75 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    post(&driver, "/v1/chat/completions", OTHER_CHAT);
    assert_int_equal(driver.status, 409);
    driver_reply_is(&driver,
                    ACOG_VIEW("{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"No "
                              "connection declares the model \\\"x\\\"y\\\". Declare it on a "
                              "connection, or ask GET /v1/models for what is served.\",\"param\":"
                              "null,\"code\":\"model_not_configured\"},\"request_id\":\"r1\"}"));
    assert_false(driver_has(&driver.headers, "retry-after"));
    driver_again(&driver);
    post(&driver, "/v1/messages", OTHER_MESSAGES);
    assert_int_equal(driver.status, 409);
    driver_reply_is(
        &driver, ACOG_VIEW("{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
                           "\"message\":\"No connection declares the model \\\"x\\\"y\\\". "
                           "Declare it on a connection, or ask GET /v1/models for what is "
                           "served.\",\"code\":\"model_not_configured\"},\"request_id\":\"r1\"}"));
    driver_header_is(&driver, "request-id: r1\n");
    driver_fini(&driver);
}

/* A default connection whose circuit is open. */
static void open_the_default(struct driver *driver)
{
    struct acog_policy *policy = &driver->snapshot->policy;
    policy->health.mode = ACOG_HEALTH_EXCLUDE;
    driver->connections[0].is_default = true;
    for (uint32_t i = 0; i < policy->health.threshold; i++) {
        driver_post(driver, "/v1/messages", ASK_MESSAGES_WHOLE);
        for (uint32_t attempt = 1; attempt <= driver->send_count && !driver->finished; attempt++) {
            driver_failed(driver, attempt, ACOG_CAUSE_CONNECT);
        }
        driver_again(driver);
    }
}

static void an_open_circuit_of_the_default_is_a_503_in_both_shapes(void **state) /* S4.5, B75 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    open_the_default(&driver);
    post(&driver, "/v1/chat/completions", ASK_CHAT);
    assert_int_equal(driver.status, 503);
    assert_int_equal(driver.send_count, 0);
    driver_header_is(&driver, "retry-after: 5\n");
    driver_reply_is(
        &driver, ACOG_VIEW("{\"error\":{\"type\":\"server_error\",\"message\":\"Every connection "
                           "that serves \\\"m\\\" is cooling down. Retry in a moment.\",\"param\":"
                           "null,\"code\":\"upstream_unavailable\"},\"request_id\":\"r1\"}"));
    driver_again(&driver);
    post(&driver, "/v1/messages", ASK_MESSAGES);
    assert_int_equal(driver.status, 503);
    driver_header_is(&driver, "retry-after: 5\n");
    driver_reply_is(
        &driver, ACOG_VIEW("{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":"
                           "\"Every connection that serves \\\"m\\\" is cooling down. Retry in a "
                           "moment.\",\"code\":\"upstream_unavailable\"},\"request_id\":\"r1\"}"));
    driver_fini(&driver);
}

static void types_are_the_providers_own_by_status(void **state)
{
    static const struct {
        unsigned status;
        const char *anthropic;
        const char *openai;
    } cases[] = {
        {400, "invalid_request_error", "invalid_request_error"},
        {401, "authentication_error", "authentication_error"},
        {402, "billing_error", "invalid_request_error"},
        {403, "permission_error", "permission_error"},
        {404, "not_found_error", "invalid_request_error"},
        {408, "timeout_error", "invalid_request_error"},
        {409, "invalid_request_error", "invalid_request_error"},
        {413, "request_too_large", "invalid_request_error"},
        {429, "rate_limit_error", "rate_limit_error"},
        {500, "api_error", "server_error"},
        {502, "api_error", "server_error"},
        {504, "timeout_error", "server_error"},
        {529, "overloaded_error", "server_error"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct acog_exchange_error error = {.status = cases[i].status};
        assert_true(acog_view_equal(acog_exchange_error_type(ACOG_DIALECT_MESSAGES, &error),
                                    acog_view_of(cases[i].anthropic)));
        assert_true(acog_view_equal(acog_exchange_error_type(ACOG_DIALECT_CHAT, &error),
                                    acog_view_of(cases[i].openai)));
    }
}

static void a_type_of_the_policys_row_wins(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.errors[ACOG_CONDITION_UNKNOWN_MODEL].type = ACOG_VIEW("odd_error");
    driver_post(&driver, "/v1/messages", OTHER_MESSAGES);
    assert_true(driver_has(&driver.reply, "\"error\":{\"type\":\"odd_error\""));
    driver_fini(&driver);
}

static void headers_of_the_policys_row_are_sent(void **state)
{
    static const struct acog_header_row rows[] = {{{"x-hint", 6}, {"a\r\nb", 4}}};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.errors[ACOG_CONDITION_UNKNOWN_MODEL].headers = rows;
    driver.snapshot->policy.errors[ACOG_CONDITION_UNKNOWN_MODEL].header_count = 1;
    driver_post(&driver, "/v1/messages", OTHER_MESSAGES);
    driver_header_is(&driver, "x-hint: a??b\n");
    driver_fini(&driver);
}

static void every_class_has_words_and_a_status(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", OTHER_MESSAGES); /* for a request to speak of */
    for (int class = 0; class < ACOG_CLASS_COUNT; class ++) {
        struct acog_error_answer answer = {
            .by_class = true, .class = (enum acog_failure_class) class, .retry_after_ms = -1};
        struct acog_exchange_error error;
        acog_exchange_error_of_answer(driver.exchange, &answer, &error);
        assert_true(error.message.len > 10);
        assert_true(error.code.len > 0);
        assert_true(error.status >= 400);
    }
    driver_fini(&driver);
}

/* A status that a provider makes up is none to tell. */
static void a_providers_status_is_told_if_it_is_one_of_errors(void **state)
{
    static const uint16_t statuses[][2] = {{0, 502},   {200, 502}, {302, 502}, {400, 400},
                                           {529, 529}, {599, 599}, {600, 502}, {999, 502}};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", OTHER_MESSAGES);
    driver.snapshot->policy.classes[ACOG_CLASS_BAD_ANSWER].status = 0; /* the provider's */
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        struct acog_error_answer answer = {.by_class = true,
                                           .class = ACOG_CLASS_BAD_ANSWER,
                                           .upstream_status = statuses[i][0],
                                           .retry_after_ms = -1};
        struct acog_exchange_error error;
        acog_exchange_error_of_answer(driver.exchange, &answer, &error);
        assert_int_equal(error.status, statuses[i][1]);
    }
    driver_fini(&driver);
}

static void written(struct acog_view message, const struct acog_exchange_words *words,
                    struct acog_view wanted)
{
    struct acog_buffer out;
    struct acog_exchange_error error = {.message = message, .words = *words};
    acog_buffer_init(&out, 4096);
    assert_int_equal(acog_exchange_write_message(&error, &out), ACOG_OK);
    assert_true(acog_view_equal(acog_buffer_view(&out), wanted));
    acog_buffer_fini(&out);
}

static void templates_take_three_words_and_nothing_else(void **state)
{
    const struct acog_exchange_words words = {
        .model = ACOG_VIEW("%{detail}"), .channel = ACOG_VIEW("\n"), .detail = ACOG_VIEW("d")};
    (void)state;
    written(ACOG_VIEW("a %{model}%{channel}b%{detail}"), &words, ACOG_VIEW("a %{detail}\\nbd"));
    written(ACOG_VIEW("%{other} 100% %{ %{model"), &words, ACOG_VIEW("%{other} 100% %{ %{model"));
    written(ACOG_VIEW(""), &words, ACOG_VIEW(""));
    written(ACOG_VIEW("%"), &words, ACOG_VIEW("%"));
}

static void a_long_word_is_cut_where_a_character_ends(void **state)
{
    char text[256 + 3];
    (void)state;
    memset(text, 'a', sizeof(text));
    text[255] = '\xc3';
    text[256] = '\xa9';
    struct acog_view cut = acog_exchange_cut((struct acog_view){text, sizeof(text)}, 256);
    assert_int_equal(cut.len, 255);
    assert_int_equal(acog_exchange_cut((struct acog_view){text, 257}, 257).len, 257);
    assert_int_equal(acog_exchange_cut((struct acog_view){"\x80\x80", 2}, 1).len, 0);
}

static void secrets_are_found_in_part_too(void **state) /* B109 */
{
    static const struct acog_header_row rows[] = {
        {{"authorization", 13}, {"Bearer 0123456789abcdef", 23}}, {{"x-v", 3}, {"2023-06-01", 10}}};
    const struct acog_connection connection = {
        .key = ACOG_VIEW("abcdefghij"), .headers = rows, .header_count = 2};
    const struct acog_connection bare = {.id = ACOG_VIEW("x")};
    const struct acog_connection small = {.key = ACOG_VIEW("abc")};
    (void)state;
    assert_true(acog_exchange_tells_secret(&connection, ACOG_VIEW("x abcdefgh y")));
    assert_true(acog_exchange_tells_secret(&connection, ACOG_VIEW("cdefghij")));
    assert_false(acog_exchange_tells_secret(&connection, ACOG_VIEW("abcdefg hij")));
    assert_true(acog_exchange_tells_secret(&connection, ACOG_VIEW("Bearer 0123456789abcdef")));
    assert_false(acog_exchange_tells_secret(&connection, ACOG_VIEW("version 2023-06-01")));
    assert_false(acog_exchange_tells_secret(&bare, ACOG_VIEW("anything")));
    assert_true(acog_exchange_tells_secret(&small, ACOG_VIEW("xabcx")));
    assert_false(acog_exchange_tells_secret(&small, ACOG_VIEW("")));
}

static void the_server_gets_bodies_by_path(void **state)
{
    struct driver driver;
    struct acog_buffer out;
    (void)state;
    driver_init(&driver);
    acog_buffer_init(&out, 4096);
    assert_int_equal(acog_exchange_error_body(driver.snapshot, ACOG_CONDITION_TOO_LARGE,
                                              ACOG_VIEW("/v1/messages?beta=true"),
                                              ACOG_VIEW("The body is over 32 MB."), ACOG_VIEW("r1"),
                                              &out),
                     413);
    assert_true(acog_view_equal(
        acog_buffer_view(&out),
        ACOG_VIEW(
            "{\"type\":\"error\",\"error\":{\"type\":\"request_too_large\",\"message\":\"The body "
            "is over 32 MB.\",\"code\":\"request_too_large\"},\"request_id\":\"r1\"}")));
    out.len = 0;
    assert_int_equal(acog_exchange_error_body(driver.snapshot, ACOG_CONDITION_INVALID_REQUEST,
                                              ACOG_VIEW(""), ACOG_VIEW("bare LF"), ACOG_VIEW(""),
                                              &out),
                     400);
    assert_true(acog_view_equal(
        acog_buffer_view(&out),
        ACOG_VIEW(
            "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"bare LF\",\"param\":"
            "null,\"code\":\"invalid_request\"}}")));
    acog_buffer_fini(&out);
    acog_buffer_init(&out, 8); /* no room for any */
    assert_int_equal(acog_exchange_error_body(driver.snapshot, ACOG_CONDITION_OVERLOADED,
                                              ACOG_VIEW("/v1/messages/count_tokens"), ACOG_VIEW(""),
                                              ACOG_VIEW("r1"), &out),
                     503);
    assert_int_equal(out.len, 0);
    acog_buffer_fini(&out);
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_model_is_a_409_in_both_shapes),
        cmocka_unit_test(an_open_circuit_of_the_default_is_a_503_in_both_shapes),
        cmocka_unit_test(types_are_the_providers_own_by_status),
        cmocka_unit_test(a_type_of_the_policys_row_wins),
        cmocka_unit_test(headers_of_the_policys_row_are_sent),
        cmocka_unit_test(every_class_has_words_and_a_status),
        cmocka_unit_test(a_providers_status_is_told_if_it_is_one_of_errors),
        cmocka_unit_test(templates_take_three_words_and_nothing_else),
        cmocka_unit_test(a_long_word_is_cut_where_a_character_ends),
        cmocka_unit_test(secrets_are_found_in_part_too),
        cmocka_unit_test(the_server_gets_bodies_by_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
