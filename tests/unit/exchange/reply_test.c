/* reply_test.c - reply heads: the policy's header names, and that nothing can break out of a header line. */
#include "driver.h"
#include "state.h"
#include "streams.h"

/* Only what a header block may hold: one "name: value" a line, visible ASCII. */
static void headers_are_sane(const struct driver *driver)
{
    size_t lines = 0;
    for (size_t i = 0; i < driver->headers.len; i++) {
        unsigned char c = (unsigned char)driver->headers.ptr[i];
        lines += c == '\n' ? 1 : 0;
        assert_true(c == '\n' || (c >= 0x20 && c < 0x7f));
    }
    assert_int_equal(lines, driver->header_count);
}

static void answer(struct driver *driver)
{
    driver_head(driver, 1, 200, "application/json");
    driver_text(driver, 1, MESSAGES_WHOLE);
    driver_end(driver, 1);
}

static void names_that_could_break_a_line_are_written_safely(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.connections[0].id = ACOG_VIEW("one\r\nset-cookie: a=b");
    driver.candidates[0].send_id = ACOG_VIEW("m\r\n\r\n<html>\x01\xc3\xa9");
    driver_start(&driver, "POST", "/v1/messages", NULL, 0, ACOG_VIEW(ASK_MESSAGES_WHOLE));
    answer(&driver);
    headers_are_sane(&driver);
    driver_header_is(&driver, "x-acog-connection: one??set-cookie");
    driver_header_is(&driver, "x-acog-resolved-model: m??"
                              "?"
                              "?<html>???\n");
    driver_fini(&driver);
}

static void a_clients_model_cannot_break_a_line(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.send_id = ACOG_SEND_CLIENT;
    driver.candidates[0].declared = ACOG_VIEW("m\xc2\x85x");
    driver.candidates[0].family = driver.candidates[0].declared;
    driver_post(&driver, "/v1/messages",
                "{\"model\":\"m\\u0085x\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\","
                "\"content\":\"hi\"}]}");
    answer(&driver);
    assert_int_equal(driver.status, 200);
    headers_are_sane(&driver);
    driver_header_is(&driver, "x-acog-resolved-model: m??x\n");
    driver_fini(&driver);
}

static void a_pin_or_an_id_cannot_break_a_line_or_the_json(void **state)
{
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("x-acog-channel"), ACOG_VIEW("http://evil\"},{\r\nx: y")},
        {ACOG_VIEW("x-request-id"), ACOG_VIEW("a\r\nx: y")},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/messages", rows, 2, ACOG_VIEW(ASK_MESSAGES_WHOLE));
    assert_int_equal(driver.status, 409); /* S4.21, B108 */
    headers_are_sane(&driver);
    assert_true(driver_has(&driver.reply, "http://evil\\\"},{\\r\\nx: y"));
    driver_fini(&driver);
}

static void a_relayed_content_type_cannot_break_a_line(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    driver_head(&driver, 1, 400, "application/json\r\nx: y");
    driver_text(&driver, 1, "{\"error\":{}}");
    driver_end(&driver, 1);
    headers_are_sane(&driver);
    driver_reply_is(&driver, ACOG_VIEW("{\"error\":{}}"));
    driver_fini(&driver);
}

static void a_long_value_is_cut(void **state)
{
    static char much[1000];
    struct driver driver;
    (void)state;
    driver_init(&driver);
    memset(much, '#', sizeof(much) - 1);
    driver.connections[0].id = acog_view_of(much);
    driver.candidates[0].send_id = acog_view_of(much);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    answer(&driver);
    assert_int_equal(driver.status, 200);
    assert_int_equal(driver_count(acog_buffer_view(&driver.headers), "#"), 2 * 256);
    driver_fini(&driver);
}

static void add_fact(struct driver *driver, enum acog_header_fact fact, const char *name)
{
    struct acog_policy *policy = &driver->snapshot->policy;
    driver->response_headers[policy->response_header_count] =
        (struct acog_response_header){.fact = fact, .name = acog_view_of(name)};
    policy->response_header_count++;
}

static void use_all_facts(struct driver *driver)
{
    driver->snapshot->policy.response_header_count = 0;
    add_fact(driver, ACOG_FACT_REQUEST_ID, "x-tm-id");
    add_fact(driver, ACOG_FACT_CHANNEL, "x-channel");
    add_fact(driver, ACOG_FACT_SERVED_BY, "x-served-by");
    add_fact(driver, ACOG_FACT_UPSTREAM_MODEL, "x-model");
    driver->response_headers[3].only_when_differs = true;
    add_fact(driver, ACOG_FACT_UPSTREAM_STATUS, "x-status");
    add_fact(driver, ACOG_FACT_PLAN_ID, "x-plan");
    add_fact(driver, ACOG_FACT_ERROR_CLASS, "x-class");
    driver->response_headers[6].only_on_error = true;
    add_fact(driver, ACOG_FACT_ERROR_ORIGIN, "x-origin");
    add_fact(driver, ACOG_FACT_LIMIT_KIND, "x-limit");
    add_fact(driver, ACOG_FACT_FALLBACK_REASON, "x-why");
    add_fact(driver, ACOG_FACT_FIRST_OUTPUT_MS, "x-first");
    add_fact(driver, ACOG_FACT_ATTEMPTS, "x-attempts");
}

static void facts_come_under_the_policys_names(void **state) /* D13, S0.61-S0.75 */
{
    const struct acog_header_row id = {ACOG_VIEW("x-request-id"), ACOG_VIEW("r1")};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    use_all_facts(&driver);
    driver_start(&driver, "POST", "/v1/messages", &id, 1, ACOG_VIEW(ASK_MESSAGES));
    driver_failed(&driver, 1, ACOG_CAUSE_CONNECT);
    driver.now_ms += 40;
    driver_head(&driver, 2, 200, SSE);
    driver.now_ms += 2;
    driver_body(&driver, 2, ACOG_VIEW(MESSAGES_BEGIN));
    driver_header_is(&driver, "x-request-id: r1\nrequest-id: r1\nx-tm-id: r1\n");
    driver_header_is(&driver, "x-channel: vertex\nx-model: m-1\nx-status: 200\nx-plan: r1\n");
    driver_header_is(&driver, "x-first: 42\nx-attempts: 2\n");
    assert_false(driver_has(&driver.headers, "x-class") || driver_has(&driver.headers, "x-served"));
    driver_gone(&driver);
    driver_fini(&driver);
}

static void the_model_is_only_told_when_it_differs(void **state) /* S0.64 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    use_all_facts(&driver);
    driver.candidates[0].send_id = ACOG_VIEW("m");
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    answer(&driver);
    assert_false(driver_has(&driver.headers, "x-model"));
    driver_fini(&driver);
}

static void an_error_tells_its_class_and_origin(void **state) /* S0.72, S0.73, B106 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    use_all_facts(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    driver_head(&driver, 1, 403, "application/json");
    driver_end(&driver, 1);
    driver_header_is(&driver, "x-status: 403\n");
    driver_header_is(&driver, "x-class: auth\nx-origin: upstream\n");
    driver_header_is(&driver, "x-attempts: 1\n");
    driver_again(&driver);
    driver_post(&driver, "/v1/messages",
                "{\"model\":\"other\",\"max_tokens\":9,\"messages\":"
                "[{\"role\":\"user\",\"content\":\"hi\"}]}");
    driver_header_is(&driver, "x-class: model_not_configured\nx-origin: gateway_admission\n");
    assert_false(driver_has(&driver.headers, "x-channel"));
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_could_break_a_line_are_written_safely),
        cmocka_unit_test(a_clients_model_cannot_break_a_line),
        cmocka_unit_test(a_pin_or_an_id_cannot_break_a_line_or_the_json),
        cmocka_unit_test(a_relayed_content_type_cannot_break_a_line),
        cmocka_unit_test(a_long_value_is_cut),
        cmocka_unit_test(facts_come_under_the_policys_names),
        cmocka_unit_test(the_model_is_only_told_when_it_differs),
        cmocka_unit_test(an_error_tells_its_class_and_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
