/* record_test.c - the decision record as JSON (D16, S0.80). */
#include "driver.h"
#include "state.h"
#include "streams.h"

#include <jansson.h>

static json_t *render(const struct driver *driver)
{
    struct acog_buffer out;
    acog_buffer_init(&out, 1 << 16);
    assert_int_equal(acog_exchange_render_record(acog_exchange_record(driver->exchange), &out),
                     ACOG_OK);
    json_t *record = json_loadb(out.ptr, out.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(record);
    acog_buffer_fini(&out);
    return record;
}

static void text_is(const json_t *object, const char *name, const char *wanted)
{
    const char *text = json_string_value(json_object_get(object, name));
    assert_non_null(text);
    assert_string_equal(text, wanted);
}

static void it_tells_of_candidates_and_attempts(void **state) /* S0.80 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.connections[0].id = ACOG_VIEW("o\"ne");
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver.now_ms += 5;
    driver_failed(&driver, 1, ACOG_CAUSE_CONNECT);
    driver_connected(&driver, 2);
    driver_head(&driver, 2, 200, SSE);
    driver.now_ms += 10;
    driver_body(&driver, 2, ACOG_VIEW(MESSAGES_STREAM));
    driver_end(&driver, 2);
    json_t *record = render(&driver);
    text_is(record, "model", "m");
    text_is(record, "surface", "messages");
    text_is(record, "outcome", "completed");
    assert_true(json_is_true(json_object_get(record, "stream")));
    assert_true(json_is_true(json_object_get(record, "committed")));
    const json_t *candidates = json_object_get(record, "candidates");
    assert_int_equal(json_array_size(candidates), 2);
    text_is(json_array_get(candidates, 0), "connection", "o\"ne");
    text_is(json_array_get(candidates, 0), "verdict", "tried");
    const json_t *attempts = json_object_get(record, "attempts");
    assert_int_equal(json_array_size(attempts), 2);
    text_is(json_array_get(attempts, 0), "class", "network");
    text_is(json_array_get(attempts, 0), "cause", "connect");
    text_is(json_array_get(attempts, 0), "outcome", "failed");
    text_is(json_array_get(attempts, 1), "outcome", "completed");
    text_is(json_array_get(attempts, 1), "model", "m-1");
    const json_t *second = json_array_get(attempts, 1);
    assert_int_equal(json_integer_value(json_object_get(second, "first_output_ms")), 15);
    assert_int_equal(json_integer_value(json_object_get(second, "status")), 200);
    json_decref(record);
    driver_fini(&driver);
}

static void it_tells_why_a_candidate_was_dropped(void **state)
{
    const struct acog_header_row pin = {ACOG_VIEW("x-acog-channel"), ACOG_VIEW("vertex")};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/messages", &pin, 1, ACOG_VIEW(ASK_MESSAGES));
    json_t *record = render(&driver);
    const json_t *candidates = json_object_get(record, "candidates");
    text_is(json_array_get(candidates, 0), "connection", "two");
    text_is(json_array_get(candidates, 1), "verdict", "dropped");
    text_is(json_array_get(candidates, 1), "filter", "pin");
    assert_null(json_object_get(record, "outcome")); /* still under way */
    json_decref(record);
    driver_gone(&driver);
    driver_fini(&driver);
}

static void it_never_holds_prompt_or_answer(void **state)
{
    struct driver driver;
    struct acog_buffer out;
    (void)state;
    driver_init(&driver);
    acog_buffer_init(&out, 1 << 16);
    driver_post(&driver, "/v1/chat/completions",
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"planted\"}]}");
    driver_head(&driver, 1, 400, "application/json");
    driver_text(&driver, 1, "{\"error\":{\"message\":\"planted\"}}");
    driver_end(&driver, 1);
    assert_int_equal(acog_exchange_render_record(acog_exchange_record(driver.exchange), &out),
                     ACOG_OK);
    assert_false(driver_has(&out, "planted"));
    acog_buffer_fini(&out);
    driver_fini(&driver);
}

static void a_full_buffer_is_an_ordinary_error(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    for (size_t room = 1; room < 200; room++) {
        struct acog_buffer out;
        acog_buffer_init(&out, room);
        assert_int_equal(acog_exchange_render_record(acog_exchange_record(driver.exchange), &out),
                         ACOG_TOO_BIG);
        acog_buffer_fini(&out);
    }
    driver_gone(&driver);
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_tells_of_candidates_and_attempts),
        cmocka_unit_test(it_tells_why_a_candidate_was_dropped),
        cmocka_unit_test(it_never_holds_prompt_or_answer),
        cmocka_unit_test(a_full_buffer_is_an_ordinary_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
