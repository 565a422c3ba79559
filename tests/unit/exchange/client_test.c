/* client_test.c - from a client's request to facts, or to a refusal that names what is wrong. */
#include "driver.h"
#include "state.h"
#include "streams.h"

static struct acog_view request_id(const struct driver *driver)
{
    return acog_exchange_record(driver->exchange)->request_id;
}

static void a_sane_request_id_is_kept(void **state)
{
    struct driver driver;
    struct acog_header_row id = {ACOG_VIEW("x-request-id"), ACOG_VIEW("Trace-1.2_3")};
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "GET", "/healthz", &id, 1, ACOG_VIEW(""));
    driver_header_is(&driver, "x-request-id: Trace-1.2_3\n");
    driver_fini(&driver);
}

static void any_other_request_id_is_replaced(void **state)
{
    static char much[130];
    memset(much, 'a', 129);
    const char *const ids[] = {"", "a b", "a\tb", "a\"b", "a;b", "\xc3\xa9", much};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct acog_header_row id = {ACOG_VIEW("x-request-id"), acog_view_of(ids[i])};
        driver_start(&driver, "GET", "/healthz", &id, 1, ACOG_VIEW(""));
        assert_int_equal(request_id(&driver).len, 28);
        assert_true(acog_view_starts(request_id(&driver), ACOG_VIEW("req_")));
        assert_true(acog_exchange_sane_token(request_id(&driver), 128));
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void a_made_request_id_follows_from_the_seed(void **state)
{
    struct driver driver;
    char first[64];
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "GET", "/healthz", NULL, 0, ACOG_VIEW(""));
    driver_copy(first, sizeof(first), request_id(&driver));
    driver_again(&driver);
    driver_start(&driver, "GET", "/healthz", NULL, 0, ACOG_VIEW(""));
    assert_true(acog_view_equal(request_id(&driver), acog_view_of(first)));
    driver_again(&driver);
    driver.seed++;
    driver_start(&driver, "GET", "/healthz", NULL, 0, ACOG_VIEW(""));
    assert_false(acog_view_equal(request_id(&driver), acog_view_of(first)));
    driver_fini(&driver);
}

static void only_json_is_read(void **state)
{
    static const char *const good[] = {"application/json", "Application/JSON; charset=utf-8",
                                       "application/vnd.x+json", ""};
    static const char *const bad[] = {"text/plain", "multipart/form-data; boundary=x",
                                      "application/jsonx", "application/x-www-form-urlencoded"};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct acog_header_row type = {ACOG_VIEW("content-type"), acog_view_of(good[i])};
        driver_start(&driver, "POST", "/v1/messages", &type, 1, ACOG_VIEW(ASK_MESSAGES_WHOLE));
        assert_int_equal(driver.send_count, 1);
        driver_gone(&driver);
        driver_again(&driver);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct acog_header_row type = {ACOG_VIEW("content-type"), acog_view_of(bad[i])};
        driver_start(&driver, "POST", "/v1/messages", &type, 1, ACOG_VIEW(ASK_MESSAGES_WHOLE));
        assert_int_equal(driver.status, 415);
        assert_int_equal(driver.send_count, 0);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void a_page_of_a_browser_must_name_the_type(void **state)
{
    const struct acog_header_row page[] = {
        {ACOG_VIEW("origin"), ACOG_VIEW("https://evil.example")},
        {ACOG_VIEW("content-type"), ACOG_VIEW("application/json")},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/messages", page, 1, ACOG_VIEW(ASK_MESSAGES_WHOLE));
    assert_int_equal(driver.status, 415);
    assert_int_equal(driver.send_count, 0);
    driver_again(&driver);
    driver_start(&driver, "POST", "/v1/messages", page, 2, ACOG_VIEW(ASK_MESSAGES_WHOLE));
    assert_int_equal(driver.send_count, 1);
    driver_gone(&driver);
    driver_fini(&driver);
}

static void a_compressed_body_is_not_read(void **state)
{
    struct driver driver;
    struct acog_header_row coding = {ACOG_VIEW("content-encoding"), ACOG_VIEW("gzip")};
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/messages", &coding, 1, ACOG_VIEW(ASK_MESSAGES_WHOLE));
    assert_int_equal(driver.status, 415);
    driver_fini(&driver);
}

static void a_wrong_field_is_named_in_openais_shape(void **state) /* B117 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/chat/completions", "{\"model\":7,\"messages\":[]}");
    assert_int_equal(driver.status, 400);
    assert_true(driver_has(&driver.reply, "{\"error\":{\"type\":\"invalid_request_error\","
                                          "\"message\":\"model"));
    assert_true(driver_has(&driver.reply, "\"param\":\"model\",\"code\":\"invalid_request\"}"));
    assert_true(acog_view_equal(acog_exchange_record(driver.exchange)->error_code,
                                ACOG_VIEW("invalid_request")));
    driver_fini(&driver);
}

static void a_wrong_field_is_named_in_anthropics_shape(void **state) /* B117 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", "{\"model\":\"m\",\"max_tokens\":1,\"messages\":{}}");
    assert_int_equal(driver.status, 400);
    assert_true(driver_has(&driver.reply, "{\"type\":\"error\",\"error\":{\"type\":"
                                          "\"invalid_request_error\",\"message\":\"messages"));
    driver_fini(&driver);
}

static void an_empty_body_is_a_400(void **state) /* B117 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (int i = 0; i < ACOG_SURFACE_COUNT; i++) {
        char path[64];
        driver_copy(path, sizeof(path), acog_surface_path((enum acog_surface)i));
        driver_post(&driver, path, "");
        assert_int_equal(driver.status, 400);
        assert_true(driver.finished);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static const struct acog_request_facts *facts(const struct driver *driver)
{
    return acog_exchange_record(driver->exchange)->request->facts;
}

static void facts_tell_what_was_asked(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    assert_int_equal(facts(&driver)->surface, ACOG_SURFACE_MESSAGES);
    assert_true(facts(&driver)->stream);
    assert_int_equal(facts(&driver)->max_tokens, 9);
    assert_int_equal(facts(&driver)->body_bytes, sizeof(ASK_MESSAGES) - 1);
    assert_true(acog_exchange_record(driver.exchange)->routed);
    driver_gone(&driver);
    driver_fini(&driver);
}

static void a_policy_sees_only_the_headers_it_was_given(void **state)
{
    struct driver driver;
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("authorization"), ACOG_VIEW("Bearer secret")},
        {ACOG_VIEW("x-team"), ACOG_VIEW("legal")},
        {ACOG_VIEW("cookie"), ACOG_VIEW("a=b")},
    };
    (void)state;
    driver_init(&driver);
    driver.client_headers[0] = ACOG_VIEW("x-team");
    driver.snapshot->client_headers = driver.client_headers;
    driver.snapshot->client_header_count = 1;
    driver_start(&driver, "POST", "/v1/messages", rows, 3, ACOG_VIEW(ASK_MESSAGES_WHOLE));
    assert_int_equal(facts(&driver)->header_count, 1);
    assert_true(acog_view_equal(facts(&driver)->headers[0].value, ACOG_VIEW("legal")));
    driver_gone(&driver);
    driver_fini(&driver);
}

static void pins_are_read_from_header_and_body(void **state)
{
    struct driver driver;
    struct acog_header_row pin = {ACOG_VIEW("x-acog-channel"), ACOG_VIEW(" vertex ")};
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.pin = (struct acog_pin){.scope = ACOG_PIN_CONNECTION,
                                                    .header = ACOG_VIEW("x-acog-channel"),
                                                    .body_path = ACOG_VIEW("provider.only")};
    driver_start(&driver, "POST", "/v1/chat/completions", &pin, 1,
                 ACOG_VIEW("{\"model\":\"m\",\"provider\":{\"only\":[\"one\",\"two\"]},"
                           "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"));
    assert_int_equal(facts(&driver)->pin_count, 3);
    assert_true(acog_view_equal(facts(&driver)->pins[0], ACOG_VIEW("vertex")));
    assert_true(acog_view_equal(facts(&driver)->pins[2], ACOG_VIEW("two")));
    if (!driver.finished) {
        driver_gone(&driver);
    }
    driver_fini(&driver);
}

static void an_opt_out_is_seen(void **state) /* S4.31 */
{
    struct driver driver;
    struct acog_header_row off = {ACOG_VIEW("x-acog-policy-fallback"), ACOG_VIEW("Off")};
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.refusal.opt_out_header = ACOG_VIEW("x-acog-policy-fallback");
    driver.snapshot->policy.refusal.opt_out_value = ACOG_VIEW("off");
    driver_start(&driver, "POST", "/v1/messages", &off, 1, ACOG_VIEW(ASK_MESSAGES_WHOLE));
    assert_true(facts(&driver)->fallback_opt_out);
    driver_gone(&driver);
    driver_again(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    assert_false(facts(&driver)->fallback_opt_out);
    driver_gone(&driver);
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sane_request_id_is_kept),
        cmocka_unit_test(any_other_request_id_is_replaced),
        cmocka_unit_test(a_made_request_id_follows_from_the_seed),
        cmocka_unit_test(only_json_is_read),
        cmocka_unit_test(a_page_of_a_browser_must_name_the_type),
        cmocka_unit_test(a_compressed_body_is_not_read),
        cmocka_unit_test(a_wrong_field_is_named_in_openais_shape),
        cmocka_unit_test(a_wrong_field_is_named_in_anthropics_shape),
        cmocka_unit_test(an_empty_body_is_a_400),
        cmocka_unit_test(facts_tell_what_was_asked),
        cmocka_unit_test(a_policy_sees_only_the_headers_it_was_given),
        cmocka_unit_test(pins_are_read_from_header_and_body),
        cmocka_unit_test(an_opt_out_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
