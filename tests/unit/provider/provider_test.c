/* provider_test.c - scripts, times and faults. */
#include "tests/support/memory_sweep.h"
#include "tests/unit/provider/played.h"

/* Each surface in its own dialect, and behind the last of them the dialect that has no surface. */
static struct acog_provider_request request_of(int which, bool stream)
{
    bool gemini = which == ACOG_SURFACE_COUNT;
    struct acog_provider_request request =
        request_for(gemini ? ACOG_SURFACE_CHAT : (enum acog_surface)which, stream);
    if (gemini) {
        request.dialect = ACOG_DIALECT_GEMINI;
    }
    return request;
}

static void a_script_repeats_its_last_reply_or_starts_again(void **state)
{
    (void)state;
    struct acog_provider_reply replies[] = {good_reply(), good_reply(), good_reply()};
    struct acog_provider_script script = {.replies = replies, .reply_count = 3};
    assert_ptr_equal(acog_provider_pick(&script, 0), &replies[0]);
    assert_ptr_equal(acog_provider_pick(&script, 2), &replies[2]);
    assert_ptr_equal(acog_provider_pick(&script, 9), &replies[2]);
    script.cycle = true;
    assert_ptr_equal(acog_provider_pick(&script, 3), &replies[0]);
    assert_ptr_equal(acog_provider_pick(&script, 10), &replies[1]);
}

static void the_same_request_gives_the_same_bytes_and_another_one_other_ids(void **state)
{
    (void)state;
    struct played first;
    struct played again;
    struct played other;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, true);
    played_run(&first, &reply, &request);
    played_run(&again, &reply, &request);
    request.served = 1;
    played_run(&other, &reply, &request);
    assert_true(acog_view_equal(played_body(&first), played_body(&again)));
    assert_false(acog_view_equal(played_body(&first), played_body(&other)));
    played_fini(&first);
    played_fini(&again);
    played_fini(&other);
}

static void head_first_output_and_pace_come_when_the_script_says(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, true);
    reply.text = ACOG_VIEW("a b c");
    reply.delay_ms = 1000;
    reply.first_output_delay_ms = 20000;
    reply.pace_ms = 10;
    played_run(&played, &reply, &request);
    static const int64_t at_ms[] = {
        0,     1000,                /* connected, head */
        1000,  1010,                /* message_start, content_block_start */
        21000, 21010, 21020, 21030, /* three deltas, content_block_stop */
        21040, 21050, 21050,        /* message_delta, message_stop, end */
    };
    assert_int_equal(played.step_count, sizeof(at_ms) / sizeof(at_ms[0]));
    for (size_t i = 0; i < played.step_count; i++) {
        assert_int_equal(played.steps[i].at_ms, at_ms[i]);
    }
    played_fini(&played);
}

static void a_whole_answer_comes_after_both_delays(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, false);
    reply.delay_ms = 100;
    reply.first_output_delay_ms = 50;
    played_run(&played, &reply, &request);
    assert_int_equal(played.step_count, 4);
    assert_int_equal(played.steps[1].at_ms, 100);
    assert_int_equal(played.steps[2].at_ms, 150);
    assert_int_equal(played.steps[3].kind, ACOG_STEP_END);
    played_fini(&played);
}

/* Plays a streamed chat answer of seven events with one fault and tells its steps. */
static void play_fault(struct played *played, enum acog_provider_stage hang,
                       enum acog_provider_stage reset, enum acog_provider_stage closes,
                       uint32_t after_events)
{
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.text = ACOG_VIEW("a b c d");
    reply.delay_ms = 5;
    reply.hang = hang;
    reply.reset = reset;
    reply.close = closes;
    reply.after_events = after_events;
    played_run(played, &reply, &request);
}

static void a_fault_comes_at_its_stage(void **state)
{
    (void)state;
    struct played played;
    play_fault(&played, ACOG_STAGE_NEVER, ACOG_STAGE_CONNECT, ACOG_STAGE_NEVER, 0);
    assert_int_equal(played.step_count, 1);
    assert_int_equal(played_end(&played), ACOG_STEP_REFUSED);
    assert_int_equal(played_end_ms(&played), 5);
    played_fini(&played);

    play_fault(&played, ACOG_STAGE_CONNECT, ACOG_STAGE_NEVER, ACOG_STAGE_NEVER, 0);
    assert_int_equal(played.step_count, 1);
    assert_int_equal(played_end(&played), ACOG_STEP_SILENCE);
    played_fini(&played);

    play_fault(&played, ACOG_STAGE_NEVER, ACOG_STAGE_NEVER, ACOG_STAGE_HEAD, 0);
    assert_int_equal(played.step_count, 2);
    assert_int_equal(played.steps[0].kind, ACOG_STEP_CONNECTED);
    assert_int_equal(played_end(&played), ACOG_STEP_CLOSED);
    played_fini(&played);

    play_fault(&played, ACOG_STAGE_NEVER, ACOG_STAGE_BODY, ACOG_STAGE_NEVER, 0);
    assert_int_equal(played.step_count, 3);
    assert_int_equal(played.steps[1].kind, ACOG_STEP_HEAD);
    assert_int_equal(played_end(&played), ACOG_STEP_RESET);
    played_fini(&played);
}

static void a_stream_breaks_after_n_events(void **state)
{
    (void)state;
    struct played played;
    play_fault(&played, ACOG_STAGE_NEVER, ACOG_STAGE_EVENTS, ACOG_STAGE_NEVER, 3);
    json_t *events = played_events(&played);
    assert_int_equal(json_array_size(events), 3);
    assert_int_equal(played_end(&played), ACOG_STEP_RESET);
    json_decref(events);
    played_fini(&played);

    play_fault(&played, ACOG_STAGE_EVENTS, ACOG_STAGE_NEVER, ACOG_STAGE_NEVER, 7);
    assert_true(played_body_has(&played, "[DONE]"));
    assert_int_equal(played_end(&played), ACOG_STEP_SILENCE); /* after all seven, before the end */
    played_fini(&played);

    play_fault(&played, ACOG_STAGE_NEVER, ACOG_STAGE_NEVER, ACOG_STAGE_EVENTS, 8);
    assert_int_equal(played_end(&played), ACOG_STEP_END); /* it has seven */
    played_fini(&played);
}

static void a_silence_with_a_length_ends_in_a_close(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.delay_ms = 5;
    reply.hang = ACOG_STAGE_EVENTS;
    reply.hang_ms = 30000;
    reply.after_events = 2;
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_int_equal(json_array_size(events), 2);
    assert_int_equal(played_end(&played), ACOG_STEP_CLOSED);
    assert_int_equal(played_end_ms(&played), 30005);
    json_decref(events);
    played_fini(&played);

    reply.hang = ACOG_STAGE_CONNECT;
    played_run(&played, &reply, &request);
    assert_int_equal(played_end(&played), ACOG_STEP_REFUSED);
    assert_int_equal(played_end_ms(&played), 30005);
    played_fini(&played);
}

static void a_whole_answer_breaks_at_its_half(void **state)
{
    (void)state;
    struct played good;
    struct played broken;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_RESPONSES, false);
    played_run(&good, &reply, &request);
    reply.close = ACOG_STAGE_EVENTS;
    played_run(&broken, &reply, &request);
    assert_int_equal(broken.body.len, good.body.len / 2);
    assert_int_equal(played_end(&broken), ACOG_STEP_CLOSED);
    played_fini(&good);
    played_fini(&broken);
}

static void an_event_that_is_no_json_stands_between_good_ones(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.malformed_event = true;
    reply.malformed_event_after = 2;
    played_run(&played, &reply, &request);
    struct acog_view body = played_body(&played);
    size_t bad = acog_view_find(body, ACOG_VIEW("data: {\"choices\": \n\n"));
    assert_true(bad < body.len);
    assert_true(acog_view_find(body, ACOG_VIEW("\"content\":\"Hello\"")) < bad);
    assert_true(played_body_has(&played, "\"finish_reason\":\"stop\""));
    assert_true(played_body_has(&played, "[DONE]"));
    assert_int_equal(played_end(&played), ACOG_STEP_END);
    played_fini(&played);
}

static void comments_keep_a_silent_stream_alive(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.comments = true;
    reply.first_output_delay_ms = 60000;
    played_run(&played, &reply, &request);
    assert_true(acog_view_starts(played_body(&played), ACOG_VIEW(": keep-alive\n\ndata: {")));
    assert_int_equal(played.steps[4].at_ms, 30000); /* half way to the first output */
    assert_int_equal(played.steps[5].at_ms, 60000);
    played_fini(&played);
}

static void a_raw_body_is_sent_as_it_is(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.body = ACOG_VIEW("<html>busy</html>");
    reply.content_type = ACOG_VIEW("text/html");
    reply.status = 503;
    played_run(&played, &reply, &request);
    assert_true(acog_view_equal(played_body(&played), ACOG_VIEW("<html>busy</html>")));
    assert_true(played_head_has(&played, "content-type: text/html\n"));
    played_fini(&played);

    reply = good_reply();
    reply.body = ACOG_VIEW(""); /* B59: an event stream without a byte */
    played_run(&played, &reply, &request);
    assert_int_equal(played.step_count, 3);
    assert_true(played_head_has(&played, "content-type: text/event-stream"));
    assert_int_equal(played_end(&played), ACOG_STEP_END);
    played_fini(&played);
}

/* Every byte of a text may have to be escaped, and every event must fit the room that was reckoned. */
static void texts_full_of_escapes_fit_on_every_surface(void **state)
{
    (void)state;
    char text[512];
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = "\x01\"\xff"[i % 3]; /* the last is no UTF-8 */
    }
    struct acog_view hard = {.ptr = text, .len = sizeof(text)};
    for (int which = 0; which <= ACOG_SURFACE_COUNT; which++) {
        for (int stream = 0; stream < 2; stream++) {
            for (int fails = 0; fails < 2; fails++) {
                struct played played;
                struct acog_provider_reply reply = good_reply();
                struct acog_provider_request request = request_of(which, stream == 1);
                reply.text = reply.reasoning = reply.tool_name = reply.finish = hard;
                reply.refusal_category = reply.model = hard;
                reply.error_message = reply.error_type = reply.error_code = hard;
                reply.refusal = true;
                reply.chunks = 3;
                reply.error_event = fails == 1;
                played_run(&played, &reply, &request);
                assert_int_equal(played_end(&played), ACOG_STEP_END);
                played_fini(&played);
            }
        }
    }
}

static void a_play_that_has_no_room_is_not_started(void **state)
{
    (void)state;
    struct acog_arena arena;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    acog_arena_init(&arena, 2048);
    assert_null(acog_provider_play(&reply, &request, &arena));
    acog_arena_fini(&arena);
}

static void play_once(void *user)
{
    const struct acog_provider_request *request = user;
    struct acog_provider_reply reply = good_reply();
    struct acog_arena arena;
    acog_arena_init(&arena, (size_t)1 << 20);
    struct acog_provider_play *play = acog_provider_play(&reply, request, &arena);
    assert_true((play == NULL) == memory_sweep_failed()); /* all is taken at the start */
    struct acog_provider_step step;
    while (play != NULL && acog_provider_next(play, &step)) {
        assert_false(memory_sweep_failed());
    }
    acog_arena_fini(&arena);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (int which = 0; which <= ACOG_SURFACE_COUNT; which++) {
        for (int stream = 0; stream < 2; stream++) {
            struct acog_provider_request request = request_of(which, stream == 1);
            assert_true(memory_sweep(play_once, &request, 1) > 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_repeats_its_last_reply_or_starts_again),
        cmocka_unit_test(the_same_request_gives_the_same_bytes_and_another_one_other_ids),
        cmocka_unit_test(head_first_output_and_pace_come_when_the_script_says),
        cmocka_unit_test(a_whole_answer_comes_after_both_delays),
        cmocka_unit_test(a_fault_comes_at_its_stage),
        cmocka_unit_test(a_stream_breaks_after_n_events),
        cmocka_unit_test(a_silence_with_a_length_ends_in_a_close),
        cmocka_unit_test(a_whole_answer_breaks_at_its_half),
        cmocka_unit_test(an_event_that_is_no_json_stands_between_good_ones),
        cmocka_unit_test(comments_keep_a_silent_stream_alive),
        cmocka_unit_test(a_raw_body_is_sent_as_it_is),
        cmocka_unit_test(texts_full_of_escapes_fit_on_every_surface),
        cmocka_unit_test(a_play_that_has_no_room_is_not_started),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
