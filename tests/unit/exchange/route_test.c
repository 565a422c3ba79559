/* route_test.c - POST /v1/route, GET /v1/generation and /v1/receipts (D16, S0.78, S3.17), and the transcript. */
#include "driver.h"
#include "state.h"

#include <jansson.h>

#define ASK \
    "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"planted\"}]}"

static json_t *reply_of(const struct driver *driver)
{
    json_t *reply = json_loadb(driver->reply.ptr, driver->reply.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(reply);
    return reply;
}

static void text_is(const json_t *object, const char *name, const char *wanted)
{
    const char *text = json_string_value(json_object_get(object, name));
    assert_non_null(text);
    assert_string_equal(text, wanted);
}

static void a_route_is_the_plan_and_nothing_is_sent(void **state) /* D16 */
{
    const struct acog_header_row surface = {ACOG_VIEW("x-acog-surface"), ACOG_VIEW("messages")};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/route", &surface, 1, ACOG_VIEW(ASK));
    assert_true(driver.finished);
    assert_int_equal(driver.send_count, 0);
    assert_int_equal(driver.status, 200);
    assert_false(driver_has(&driver.reply, "planted"));
    json_t *record = reply_of(&driver);
    text_is(record, "surface", "messages");
    text_is(record, "model", "m");
    const json_t *candidates = json_object_get(record, "candidates");
    assert_int_equal(json_array_size(candidates), 2);
    text_is(json_array_get(candidates, 0), "verdict", "not_reached");
    assert_int_equal(json_array_size(json_object_get(record, "attempts")), 0);
    assert_int_equal(json_array_size(json_object_get(record, "admission_events")), 0);
    json_decref(record);
    driver_fini(&driver);
}

static void a_plan_without_candidates_tells_what_the_request_would_be_told(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/route?surface=chat",
                "{\"model\":\"none\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
    assert_int_equal(driver.status, 200);
    json_t *record = reply_of(&driver);
    assert_int_equal(json_integer_value(json_object_get(record, "status")), 409);
    const json_t *event =
        json_array_get(json_object_get(record, "admission_events"), 0); /* S0.82 */
    assert_int_equal(json_integer_value(json_object_get(event, "status")), 409);
    assert_int_equal(acog_exchange_record(driver.exchange)->planned_status, 409);
    json_decref(record);
    driver_fini(&driver);
}

static void a_route_reads_the_body_as_its_surface_does(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/route?surface=responses", "{\"model\":7}");
    assert_int_equal(driver.status, 400);
    driver_again(&driver);
    driver_post(&driver, "/v1/route?surface=telepathy", ASK);
    assert_int_equal(driver.status, 400);
    driver_again(&driver);
    driver_start(&driver, "GET", "/v1/route", NULL, 0, ACOG_VIEW(""));
    assert_int_equal(driver.status, 405);
    driver_fini(&driver);
}

static void records_are_not_shown_to_strangers(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.remote = true;
    driver_post(&driver, "/v1/route", ASK);
    assert_int_equal(driver.status, 404);
    driver_again(&driver);
    driver_start(&driver, "GET", "/v1/receipts/one", NULL, 0, ACOG_VIEW(""));
    assert_int_equal(driver.status, 404);
    driver_fini(&driver);
}

static enum acog_code find_one(void *user, struct acog_view request_id, struct acog_buffer *out)
{
    (void)user;
    return acog_view_equal(request_id, ACOG_VIEW("one"))
               ? acog_buffer_append(out, ACOG_VIEW("{\"request_id\":\"one\"}"))
               : ACOG_NOT_FOUND;
}

static void a_record_is_found_by_both_paths(void **state) /* S0.78, S3.17 */
{
    static const struct {
        const char *target;
        unsigned status;
    } cases[] = {
        {"/v1/generation?id=one", 200},  {"/v1/generation?x=1&id=one", 200},
        {"/v1/receipts/one", 200},       {"/v1/generation?id=two", 404},
        {"/v1/generation?id=", 404},     {"/v1/generation", 404},
        {"/v1/generation?xid=one", 404}, {"/v1/receipts/", 404},
        {"/v1/receipts/one/more", 404},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.find_record = find_one;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        driver_start(&driver, "GET", cases[i].target, NULL, 0, ACOG_VIEW(""));
        assert_int_equal(driver.status, cases[i].status);
        assert_int_equal(driver_has(&driver.reply, "\"request_id\":\"one\""),
                         cases[i].status == 200);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void a_record_that_is_not_there_says_so(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.find_record = find_one;
    driver_start(&driver, "GET", "/v1/generation?id=two", NULL, 0, ACOG_VIEW(""));
    assert_true(driver_has(&driver.reply, "no record of such a request is kept"));
    driver_again(&driver);
    driver_start(&driver, "GET", "/v1/generation", NULL, 0, ACOG_VIEW(""));
    assert_true(driver_has(&driver.reply, "without the id of a request (?id=ID)"));
    driver_fini(&driver);
}

static void the_transcript_has_events_and_actions(void **state)
{
    struct acog_buffer transcript;
    struct driver driver;
    (void)state;
    driver_init(&driver);
    acog_buffer_init(&transcript, 4096);
    driver.transcript = &transcript;
    driver_post(&driver, "/v1/messages", ASK);
    driver_failed(&driver, 1, ACOG_CAUSE_CONNECT);
    driver_gone(&driver);
    assert_true(driver_has(&transcript, "arrived"));
    assert_true(driver_has(&transcript, "dispatch"));
    assert_true(driver_has(&transcript, "finish"));
    assert_false(driver_has(&transcript, "planted"));
    acog_buffer_fini(&transcript);
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_route_is_the_plan_and_nothing_is_sent),
        cmocka_unit_test(a_plan_without_candidates_tells_what_the_request_would_be_told),
        cmocka_unit_test(a_route_reads_the_body_as_its_surface_does),
        cmocka_unit_test(records_are_not_shown_to_strangers),
        cmocka_unit_test(a_record_is_found_by_both_paths),
        cmocka_unit_test(a_record_that_is_not_there_says_so),
        cmocka_unit_test(the_transcript_has_events_and_actions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
