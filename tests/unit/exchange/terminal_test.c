/* terminal_test.c - each row of D15: how a committed answer ends that cannot be completed. */
#include "driver.h"
#include "state.h"
#include "streams.h"

#define CHAT_ERROR_EVENT \
    "data: {\"error\":{\"message\":\"mine\",\"type\":\"server_error\",\"code\":\"x\"}}\n\n"

static void begin_chat(struct driver *driver)
{
    driver_post(driver, "/v1/chat/completions", ASK_CHAT_USAGE);
    driver_head(driver, 1, 200, SSE);
    driver_text(driver, 1, CHAT_BEGIN);
}

static struct acog_view end_of(const struct driver *driver, const char *begin)
{
    struct acog_view reply = acog_buffer_view(&driver->reply);
    assert_true(acog_view_starts(reply, acog_view_of(begin)));
    return acog_view_slice(reply, strlen(begin), reply.len);
}

static void rows(struct driver *driver, enum acog_dialect dialect, enum acog_stream_end on_event,
                 enum acog_stream_end on_lost)
{
    driver->snapshot->policy.stream_errors[dialect] =
        (struct acog_stream_error){.on_event = on_event, .on_lost = on_lost};
}

static void chat_gets_an_error_chunk_and_no_done(void **state) /* DESIGN, S4 */
{
    const struct acog_header_row id = {ACOG_VIEW("x-request-id"), ACOG_VIEW("r1")};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/chat/completions", &id, 1, ACOG_VIEW(ASK_CHAT_USAGE));
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, CHAT_BEGIN);
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    assert_true(acog_view_equal(
        end_of(&driver, CHAT_BEGIN),
        ACOG_VIEW(
            "data: {\"error\":{\"type\":\"server_error\",\"message\":\"The answer was cut off: "
            "the connection to the provider was lost or fell silent.\",\"param\":null,\"code\":"
            "\"upstream_error\"},\"request_id\":\"r1\"}\n\n")));
    assert_true(acog_view_equal(acog_exchange_record(driver.exchange)->error_code,
                                ACOG_VIEW("upstream_error")));
    driver_fini(&driver);
}

static void a_silent_stream_ends_by_the_idle_clock(void **state) /* B73 d */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    begin_chat(&driver);
    driver_tick(&driver, acog_exchange_deadline_ms(driver.exchange) - driver.now_ms);
    assert_true(driver.ended && driver.sends[0].cancelled);
    assert_true(driver_has(&driver.reply, "fell silent"));
    assert_int_equal(driver.send_count, 1);
    driver_fini(&driver);
}

static void chat_may_get_done_behind_the_error(void **state) /* S3 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    rows(&driver, ACOG_DIALECT_CHAT, ACOG_STREAM_END_EVENT_AND_DONE,
         ACOG_STREAM_END_EVENT_AND_DONE);
    begin_chat(&driver);
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    assert_int_equal(driver_count(end_of(&driver, CHAT_BEGIN), "data: "), 2);
    assert_true(driver_has(&driver.reply, "}\n\ndata: [DONE]\n\n"));
    driver_fini(&driver);
}

static void chat_may_finish_with_error(void **state) /* S2.41 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    rows(&driver, ACOG_DIALECT_CHAT, ACOG_STREAM_END_FINISH_ERROR, ACOG_STREAM_END_CLOSE);
    begin_chat(&driver);
    driver_text(&driver, 1, CHAT_ERROR_EVENT);
    assert_true(acog_view_equal(
        end_of(&driver, CHAT_BEGIN),
        ACOG_VIEW("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":"
                  "1764500000,\"model\":\"m-1-served\",\"choices\":[{\"index\":0,\"delta\":{},"
                  "\"finish_reason\":\"error\"}]}\n\n")));
    assert_true(driver.ended);
    driver_fini(&driver);
}

static void the_providers_event_may_go_out_verbatim(void **state) /* S2.43 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    rows(&driver, ACOG_DIALECT_CHAT, ACOG_STREAM_END_VERBATIM, ACOG_STREAM_END_CLOSE);
    begin_chat(&driver);
    driver_text(&driver, 1, CHAT_ERROR_EVENT);
    assert_true(acog_view_equal(end_of(&driver, CHAT_BEGIN), ACOG_VIEW(CHAT_ERROR_EVENT)));
    assert_true(driver.ended);
    driver_fini(&driver);
}

static void a_verbatim_event_that_tells_the_key_is_replaced(void **state) /* B109 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    rows(&driver, ACOG_DIALECT_CHAT, ACOG_STREAM_END_VERBATIM, ACOG_STREAM_END_CLOSE);
    begin_chat(&driver);
    driver_text(&driver, 1, "data: {\"error\":{\"message\":\"sk-secret-of-one-0123456789\"}}\n\n");
    assert_false(driver_has(&driver.reply, "sk-"));
    assert_true(acog_view_starts(end_of(&driver, CHAT_BEGIN), ACOG_VIEW("data: {\"error\":{")));
    driver_fini(&driver);
}

static void a_lost_connection_may_just_be_closed(void **state) /* S1, S2 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    rows(&driver, ACOG_DIALECT_MESSAGES, ACOG_STREAM_END_VERBATIM, ACOG_STREAM_END_CLOSE);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, MESSAGES_BEGIN);
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    assert_true(driver.aborted && driver.finished);
    driver_reply_is(&driver, ACOG_VIEW(MESSAGES_BEGIN));
    driver_fini(&driver);
}

static void the_providers_message_is_told_only_where_the_class_says_so(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    begin_chat(&driver);
    driver_text(&driver, 1, CHAT_ERROR_EVENT);
    assert_false(driver_has(&driver.reply, "mine"));
    driver_again(&driver);
    for (int class = 0; class < ACOG_CLASS_COUNT; class ++) {
        driver.snapshot->policy.classes[class].relay = ACOG_RELAY_MESSAGE;
    }
    begin_chat(&driver);
    driver_text(&driver, 1, CHAT_ERROR_EVENT);
    assert_true(driver_has(&driver.reply, "\"message\":\"mine\""));
    driver_fini(&driver);
}

static void responses_fail_with_an_id_of_our_own_when_none_came(void **state) /* B41 */
{
    const struct acog_header_row id = {ACOG_VIEW("x-request-id"), ACOG_VIEW("r1")};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/responses", &id, 1, ACOG_VIEW(ASK_RESPONSES));
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, "data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n");
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    assert_true(
        driver_has(&driver.reply, "\"sequence_number\":0,\"response\":{\"id\":\"resp_r1\""));
    assert_true(driver_has(&driver.reply, "\"model\":\"m-1\"}}\n\n"));
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chat_gets_an_error_chunk_and_no_done),
        cmocka_unit_test(a_silent_stream_ends_by_the_idle_clock),
        cmocka_unit_test(chat_may_get_done_behind_the_error),
        cmocka_unit_test(chat_may_finish_with_error),
        cmocka_unit_test(the_providers_event_may_go_out_verbatim),
        cmocka_unit_test(a_verbatim_event_that_tells_the_key_is_replaced),
        cmocka_unit_test(a_lost_connection_may_just_be_closed),
        cmocka_unit_test(the_providers_message_is_told_only_where_the_class_says_so),
        cmocka_unit_test(responses_fail_with_an_id_of_our_own_when_none_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
