/* exchange_test.c - one request from start to FINISHED: hang-ups in each state, questions to the policy, time, a second
 * request on the same exchange, and each allocation failed in turn.
 */
#include "acog/memory.h"
#include "driver.h"
#include "state.h"
#include "streams.h"

/* -- a client that leaves -------------------------------------------------------------------------- */

static void gone_means_cancelled(struct driver *driver)
{
    driver_gone(driver);
    assert_true(driver->finished);
    assert_true(driver->sends[0].cancelled);
    assert_false(driver->ended || driver->aborted);
    assert_int_equal(driver->send_count, 1);
    assert_int_equal(acog_exchange_record(driver->exchange)->request->outcome,
                     ACOG_OUTCOME_CANCELLED);
    driver_gone(driver); /* once more changes nothing */
    driver_again(driver);
}

static void a_client_may_leave_at_any_time_before_commit(void **state) /* B62 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    gone_means_cancelled(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_connected(&driver, 1);
    gone_means_cancelled(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    gone_means_cancelled(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, MESSAGES_START "event: pi");
    gone_means_cancelled(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, "{");
    gone_means_cancelled(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    driver_head(&driver, 1, 503, "application/json");
    driver_text(&driver, 1, "{");
    gone_means_cancelled(&driver);
    driver_fini(&driver);
}

static void a_client_that_leaves_amid_a_stream_hears_no_more(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, MESSAGES_BEGIN);
    assert_int_equal(driver.status, 200);
    gone_means_cancelled(&driver);
    driver_fini(&driver);
}

static void a_client_may_leave_during_a_backoff(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.backoff =
        (struct acog_backoff){.kind = ACOG_BACKOFF_RANDOM, .ms_min = 50, .ms_max = 50};
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_failed(&driver, 1, ACOG_CAUSE_CONNECT);
    assert_int_equal(driver.send_count, 1);
    assert_int_equal(acog_exchange_deadline_ms(driver.exchange), driver.now_ms + 50);
    driver_gone(&driver);
    assert_true(driver.finished);
    assert_int_equal(driver.status, 0);
    assert_int_equal(acog_exchange_record(driver.exchange)->status, 0);
    driver_fini(&driver);
}

static void a_left_stream_is_read_on_where_the_policy_says_so(void **state) /* S2.45 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.drain_ms = 15000;
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, MESSAGES_BEGIN);
    size_t said = driver.reply.len;
    driver_gone(&driver);
    assert_false(driver.finished);
    driver_text(&driver, 1, MESSAGES_TEXT("llo") MESSAGES_BLOCK_STOP MESSAGES_FINISH("end_turn"));
    driver_text(&driver, 1, MESSAGES_STOP);
    driver_end(&driver, 1);
    assert_true(driver.finished);
    assert_int_equal(driver.reply.len, said);
    assert_int_equal(acog_exchange_record(driver.exchange)->usage.output_tokens, 2);
    driver_again(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, MESSAGES_BEGIN);
    driver_gone(&driver);
    driver_tick(&driver, 15000);
    assert_true(driver.finished && driver.sends[0].cancelled);
    driver_fini(&driver);
}

/* -- late news ------------------------------------------------------------------------------------- */

static void news_of_a_cancelled_attempt_is_ignored(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, "text/html");
    assert_int_equal(driver.send_count, 2);
    driver_text(&driver, 1, "<html>");
    driver_connected(&driver, 1);
    driver_head(&driver, 1, 200, SSE);
    driver_end(&driver, 1);
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    acog_exchange_upstream_end(driver.exchange, 99, driver.now_ms);
    acog_exchange_upstream_end(driver.exchange, 0, driver.now_ms);
    driver_drain(&driver);
    assert_int_equal(driver.status, 0);
    driver_gone(&driver);
    driver_fini(&driver);
}

static void time_never_goes_back(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver.now_ms -= 500;
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, MESSAGES_STREAM);
    driver_end(&driver, 1);
    assert_int_equal(acog_exchange_record(driver.exchange)->ended_ms,
                     acog_exchange_record(driver.exchange)->started_ms);
    driver_fini(&driver);
}

/* -- clocks ---------------------------------------------------------------------------------------- */

static void a_silent_upstream_is_left_for_the_next(void **state) /* B73 a, b */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_connected(&driver, 1);
    driver_tick(&driver, acog_exchange_deadline_ms(driver.exchange) - driver.now_ms);
    assert_true(driver.sends[0].cancelled);
    assert_int_equal(driver.send_count, 2);
    driver_connected(&driver, 2);
    driver_head(&driver, 2, 200, SSE);
    driver_tick(&driver, acog_exchange_deadline_ms(driver.exchange) - driver.now_ms);
    assert_true(driver.sends[1].cancelled && driver.finished);
    assert_int_equal(driver.status, 504);
    driver_fini(&driver);
}

static void a_slow_clients_silence_is_not_the_upstreams(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, MESSAGES_BEGIN);
    acog_exchange_client_full(driver.exchange, true, driver.now_ms);
    driver_drain(&driver);
    for (int i = 0; i < 5; i++) {
        driver_tick(&driver, acog_exchange_deadline_ms(driver.exchange) - driver.now_ms);
        assert_false(driver.ended);
    }
    driver.now_ms += 59000;
    acog_exchange_client_full(driver.exchange, false, driver.now_ms);
    driver_drain(&driver);
    assert_int_equal(acog_exchange_deadline_ms(driver.exchange), driver.now_ms + 60000);
    driver_tick(&driver, 60000);
    assert_true(driver.ended && driver.sends[0].cancelled);
    driver_fini(&driver);
}

static void an_early_tick_does_nothing(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_tick(&driver, 1);
    assert_false(driver.sends[0].cancelled);
    driver_gone(&driver);
    driver_tick(&driver, 1000000);
    driver_fini(&driver);
}

/* -- questions ------------------------------------------------------------------------------------- */

static void answer_match(struct driver *driver, bool failed)
{
    static const uint16_t both[] = {1, 0};
    const struct acog_answer answer = {.failed = failed, .count = 2, .candidates = both};
    assert_int_equal(driver->asks, 1);
    acog_exchange_policy_answered(driver->exchange, &answer, driver->now_ms);
    driver_drain(driver);
}

static void a_question_is_answered_before_the_next_command(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.match_slot = 3;
    struct acog_exchange_start start = {.snapshot = driver.snapshot,
                                        .shared = &driver.rows->shared,
                                        .method = ACOG_VIEW("POST"),
                                        .target = ACOG_VIEW("/v1/messages"),
                                        .body = ACOG_VIEW(ASK_MESSAGES),
                                        .now_ms = driver.now_ms,
                                        .seed = 1};
    struct acog_command command;
    acog_exchange_start(driver.exchange, &start);
    assert_true(acog_exchange_next(driver.exchange, &command));
    assert_int_equal(command.type, ACOG_COMMAND_ASK);
    assert_int_equal(command.ask->kind, ACOG_SLOT_MATCH);
    assert_int_equal(command.ask->slot, 3);
    assert_true(acog_view_equal(command.ask->model, ACOG_VIEW("m")));
    driver.asks = 1;
    answer_match(&driver, false);
    assert_int_equal(driver.send_count, 1);
    driver_gone(&driver);
    driver_fini(&driver);
}

static void a_policy_that_fails_is_a_500_that_does_not_say_where(void **state) /* DESIGN */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.match_slot = 3;
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    answer_match(&driver, true);
    assert_int_equal(driver.status, 500);
    assert_true(driver_has(&driver.reply, "\"code\":\"policy_error\""));
    driver_fini(&driver);
}

static void a_client_may_leave_while_the_policy_is_asked(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.match_slot = 3;
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_gone(&driver);
    assert_true(driver.finished);
    answer_match(&driver, false); /* comes too late */
    assert_int_equal(driver.send_count, 0);
    driver_fini(&driver);
}

/* An upstream that resets its connections has reset the other pooled ones too. */
static void a_resend_asks_for_a_fresh_connection(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.attempts.resend_max = 1;
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    assert_false(driver.sends[0].fresh);
    driver.sends[0].running = false;
    acog_exchange_upstream_failed(driver.exchange, 1, ACOG_CAUSE_CLOSED, true, driver.now_ms);
    driver_drain(&driver);
    assert_int_equal(driver.send_count, 2);
    assert_string_equal(driver.sends[1].connection, driver.sends[0].connection);
    assert_true(driver.sends[1].fresh);
    driver_head(&driver, 2, 200, SSE);
    driver_text(&driver, 2, MESSAGES_STREAM);
    driver_end(&driver, 2);
    driver_reply_is(&driver, ACOG_VIEW(MESSAGES_STREAM));
    driver_fini(&driver);
}

/* -- refusals -------------------------------------------------------------------------------------- */

static void allow_fallback(struct driver *driver)
{
    driver->snapshot->policy.refusal = (struct acog_refusal){
        .empty_200 = true, .fallback_model = ACOG_VIEW("m2"), .same_connection = true};
    (void)engine_rows_candidate(driver->rows, &driver->connections[0], "m2");
}

#define REFUSED_STREAM MESSAGES_START MESSAGES_FINISH("refusal") MESSAGES_STOP

static void a_refusal_is_asked_again_of_the_fallback_model(void **state) /* S4.24, S4.25, S4.27 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    allow_fallback(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, MESSAGES_REFUSED);
    driver_end(&driver, 1);
    assert_int_equal(driver.status, 0);
    assert_int_equal(driver.send_count, 2);
    assert_string_equal(driver.sends[1].connection, "one");
    assert_string_equal(driver.sends[1].model, "m2");
    driver_head(&driver, 2, 200, "application/json");
    acog_exchange_upstream_body(driver.exchange, 2, ACOG_VIEW(MESSAGES_WHOLE), driver.now_ms);
    driver_drain(&driver);
    driver_end(&driver, 2);
    driver_header_is(&driver, "x-acog-policy-fallback: applied\n");
    driver_reply_is(&driver, ACOG_VIEW(MESSAGES_WHOLE));
    driver_fini(&driver);
}

static void a_fallback_that_fails_replays_the_original_refusal(void **state) /* S4.29, B76 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    allow_fallback(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, REFUSED_STREAM);
    driver_end(&driver, 1);
    assert_int_equal(driver.send_count, 2);
    driver_head(&driver, 2, 503, "application/json");
    driver_end(&driver, 2);
    assert_int_equal(driver.status, 200);
    driver_header_is(&driver, "x-acog-policy-fallback: unavailable\n");
    driver_header_is(&driver, "content-type: text/event-stream\n");
    driver_reply_is(&driver, ACOG_VIEW(REFUSED_STREAM));
    assert_true(driver.ended && driver.finished);
    driver_fini(&driver);
}

static void a_whole_refusal_is_replayed_with_its_length(void **state) /* S4.29, S4.31 */
{
    const struct acog_header_row off = {ACOG_VIEW("x-acog-policy-fallback"), ACOG_VIEW("off")};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    allow_fallback(&driver);
    driver.snapshot->policy.refusal.opt_out_header = ACOG_VIEW("x-acog-policy-fallback");
    driver.snapshot->policy.refusal.opt_out_value = ACOG_VIEW("off");
    driver_start(&driver, "POST", "/v1/messages", &off, 1, ACOG_VIEW(ASK_MESSAGES_WHOLE));
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, MESSAGES_REFUSED);
    driver_end(&driver, 1);
    assert_int_equal(driver.send_count, 1);
    driver_header_is(&driver, "x-acog-policy-fallback: unavailable\n");
    driver_reply_is(&driver, ACOG_VIEW(MESSAGES_REFUSED));
    assert_int_equal(driver.content_length, sizeof(MESSAGES_REFUSED) - 1);
    driver_fini(&driver);
}

static void a_refusal_is_an_answer_where_no_policy_looks_for_it(void **state) /* C-1 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, REFUSED_STREAM);
    driver_end(&driver, 1);
    driver_reply_is(&driver, ACOG_VIEW(REFUSED_STREAM));
    assert_false(driver_has(&driver.headers, "x-acog-policy-fallback"));
    driver_fini(&driver);
}

/* -- memory ---------------------------------------------------------------------------------------- */

static void an_exchange_serves_one_request_after_another(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (int i = 0; i < 50; i++) {
        driver_post(&driver, "/v1/messages", i % 2 == 0 ? ASK_MESSAGES : ASK_MESSAGES_WHOLE);
        driver_head(&driver, 1, 200, i % 2 == 0 ? SSE : "application/json");
        driver_text(&driver, 1, i % 2 == 0 ? MESSAGES_STREAM : MESSAGES_WHOLE);
        driver_end(&driver, 1);
        assert_int_equal(driver.status, 200);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void an_exchange_may_be_freed_amid_a_request(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, MESSAGES_START "data: {");
    driver_fini(&driver);
}

struct countdown {
    size_t left;
};

static bool now_it_fails(void *user)
{
    struct countdown *countdown = user;
    if (countdown->left == 0) {
        return true;
    }
    countdown->left--;
    return false;
}

/* Only calls of the exchange run with failing memory; the driver's own texts must not. */
static bool step_without_memory(struct driver *driver, struct countdown *countdown,
                                struct acog_command *command)
{
    acog_memory_fail_when(now_it_fails, countdown);
    bool more = acog_exchange_next(driver->exchange, command);
    acog_memory_fail_when(NULL, NULL);
    return more;
}

static void drain_without_memory(struct driver *driver, struct countdown *countdown)
{
    struct acog_command command;
    while (step_without_memory(driver, countdown, &command)) {
        driver_perform(driver, &command);
    }
}

/* A request whose first attempt fails with a body and whose second streams, with the `left`-th and all later
 * allocations failing. */
static void run_without_memory(struct driver *driver, size_t left)
{
    static const char begin[] = MESSAGES_START "event: ping\nda";
    static const char rest[] = "ta: {\"type\": \"ping\"}\n\n" MESSAGES_BLOCK MESSAGES_TEXT("He");
    struct countdown countdown = {.left = left};
    const struct acog_header_row sse = {ACOG_VIEW("content-type"), ACOG_VIEW(SSE)};
    struct acog_exchange_start start = {.snapshot = driver->snapshot,
                                        .shared = &driver->rows->shared,
                                        .method = ACOG_VIEW("POST"),
                                        .target = ACOG_VIEW("/v1/messages"),
                                        .body = ACOG_VIEW(ASK_MESSAGES),
                                        .now_ms = driver->now_ms,
                                        .seed = 1};
    for (int step = 0; step < 8 && !driver->finished; step++) {
        acog_memory_fail_when(now_it_fails, &countdown);
        uint32_t second = driver->send_count < 2 ? 1 : 2;
        switch (step) {
        case 0:
            acog_exchange_start(driver->exchange, &start);
            break;
        case 1:
            acog_exchange_upstream_head(driver->exchange, 1, 503, NULL, 0, driver->now_ms);
            break;
        case 2:
            acog_exchange_upstream_body(driver->exchange, 1,
                                        ACOG_VIEW("{\"error\":{\"message\":\"\\u0041\"}}"),
                                        driver->now_ms);
            break;
        case 3:
            driver->sends[0].running = false;
            acog_exchange_upstream_end(driver->exchange, 1, driver->now_ms);
            break;
        case 4:
            acog_exchange_upstream_head(driver->exchange, second, 200, &sse, 1, driver->now_ms);
            break;
        case 5:
            acog_exchange_upstream_body(driver->exchange, second, ACOG_VIEW(begin), driver->now_ms);
            break;
        case 6:
            acog_exchange_upstream_body(driver->exchange, second, ACOG_VIEW(rest), driver->now_ms);
            break;
        default:
            acog_exchange_upstream_failed(driver->exchange, second, ACOG_CAUSE_CUT, false,
                                          driver->now_ms);
            driver->sends[second - 1].running = false;
            break;
        }
        acog_memory_fail_when(NULL, NULL);
        drain_without_memory(driver, &countdown);
    }
    if (!driver->finished) {
        driver_gone(driver);
    }
    assert_true(driver->finished);
    assert_true(driver->ended || driver->aborted || driver->status == 0);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t left = 0; left < 40; left++) {
        struct driver driver;
        driver_init(&driver);
        run_without_memory(&driver, left);
        driver_fini(&driver);
    }
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void no_memory_for_an_exchange_is_null(void **state)
{
    (void)state;
    acog_memory_fail_when(always, NULL);
    struct acog_exchange *exchange = acog_exchange_new();
    acog_memory_fail_when(NULL, NULL);
    assert_null(exchange);
    acog_exchange_free(&exchange);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_may_leave_at_any_time_before_commit),
        cmocka_unit_test(a_client_that_leaves_amid_a_stream_hears_no_more),
        cmocka_unit_test(a_client_may_leave_during_a_backoff),
        cmocka_unit_test(a_left_stream_is_read_on_where_the_policy_says_so),
        cmocka_unit_test(news_of_a_cancelled_attempt_is_ignored),
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(a_silent_upstream_is_left_for_the_next),
        cmocka_unit_test(a_slow_clients_silence_is_not_the_upstreams),
        cmocka_unit_test(an_early_tick_does_nothing),
        cmocka_unit_test(a_question_is_answered_before_the_next_command),
        cmocka_unit_test(a_policy_that_fails_is_a_500_that_does_not_say_where),
        cmocka_unit_test(a_client_may_leave_while_the_policy_is_asked),
        cmocka_unit_test(a_resend_asks_for_a_fresh_connection),
        cmocka_unit_test(a_refusal_is_asked_again_of_the_fallback_model),
        cmocka_unit_test(a_fallback_that_fails_replays_the_original_refusal),
        cmocka_unit_test(a_whole_refusal_is_replayed_with_its_length),
        cmocka_unit_test(a_refusal_is_an_answer_where_no_policy_looks_for_it),
        cmocka_unit_test(an_exchange_serves_one_request_after_another),
        cmocka_unit_test(an_exchange_may_be_freed_amid_a_request),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(no_memory_for_an_exchange_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
