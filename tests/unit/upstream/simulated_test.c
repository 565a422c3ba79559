/* simulated_test.c - a provider played inside the gateway, on real timers of a few milliseconds. */
#include "acog/provider.h"
#include "fixture.h"

static const struct acog_provider_reply good = {
    .status = 200, .text = {.ptr = "one two three", .len = 13}, .output_tokens = -1};

static void play(struct fixture *f, const struct acog_provider_script *script)
{
    f->connection.simulate = script;
    send_and_finish(f);
}

static void a_whole_answer_is_played(void **state)
{
    struct fixture *f = *state;
    const struct acog_provider_script script = {.replies = &good, .reply_count = 1};
    play(f, &script);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.connected, 1);
    assert_int_equal(f->told.status, 200);
    assert_true(holds(&f->told.headers, "content-type: application/json"));
    assert_true(holds(&f->told.body, "one two three"));
    assert_int_equal(f->provider.peer_count, 0);
}

static void a_stream_is_played_event_by_event(void **state)
{
    struct fixture *f = *state;
    struct acog_provider_reply reply = good;
    reply.pace_ms = 1;
    const struct acog_provider_script script = {.replies = &reply, .reply_count = 1};
    f->order.stream = true;
    play(f, &script);
    assert_int_equal(f->told.ends, 1);
    assert_true(f->told.bodies >= 3);
    assert_true(holds(&f->told.headers, "content-type: text/event-stream"));
    assert_true(holds(&f->told.body, "[DONE]"));
    /* Every event is what it was, though the play makes them all in one buffer. */
    struct acog_view body = acog_buffer_view(&f->told.body);
    size_t first = acog_view_find(body, ACOG_VIEW("one"));
    size_t second = acog_view_find(body, ACOG_VIEW("two"));
    size_t third = acog_view_find(body, ACOG_VIEW("three"));
    assert_true(first < second);
    assert_true(second < third);
    assert_true(third < body.len);
}

static void embeddings_answer_each_input(void **state)
{
    struct fixture *f = *state;
    const struct acog_provider_script script = {.replies = &good, .reply_count = 1};
    f->order.surface = ACOG_SURFACE_EMBEDDINGS;
    f->order.pieces[0] = ACOG_VIEW("{\"input\":[\"a\",");
    f->order.pieces[1] = ACOG_VIEW("\"b\"]}");
    f->order.body_bytes = f->order.pieces[0].len + f->order.pieces[1].len;
    play(f, &script);
    assert_int_equal(f->told.ends, 1);
    assert_true(holds(&f->told.body, "\"index\":1"));
    assert_false(holds(&f->told.body, "\"index\":2"));
}

static void usage_comes_in_a_chat_stream_that_asks_for_it(void **state)
{
    struct fixture *f = *state;
    const struct acog_provider_script script = {.replies = &good, .reply_count = 1};
    f->order.stream = true;
    play(f, &script);
    assert_false(holds(&f->told.body, "\"prompt_tokens\""));
    f->order.pieces[0] =
        ACOG_VIEW("{\"messages\":[{\"content\":\"\\\"include_usage\\\": true\"}]}");
    play(f, &script);
    assert_false(holds(&f->told.body, "\"prompt_tokens\""));
    f->order.pieces[0] = ACOG_VIEW("{\"stream_options\":{\"include_usage\" : true}}");
    play(f, &script);
    assert_true(holds(&f->told.body, "\"prompt_tokens\""));
}

static void every_connection_counts_its_own_requests(void **state)
{
    struct fixture *f = *state;
    struct acog_provider_reply replies[2] = {good, good};
    replies[0].status = 503;
    const struct acog_provider_script script = {.replies = replies, .reply_count = 2};
    play(f, &script);
    assert_int_equal(f->told.status, 503);
    f->connection.id = ACOG_VIEW("another");
    play(f, &script);
    assert_int_equal(f->told.status, 503);
    f->connection.id = ACOG_VIEW("openai");
    play(f, &script);
    assert_int_equal(f->told.status, 200);
}

static void two_workers_share_a_script(void **state)
{
    struct fixture *f = *state;
    struct acog_provider_reply replies[2] = {good, good};
    replies[0].status = 503;
    const struct acog_provider_script script = {.replies = replies, .reply_count = 2};
    play(f, &script);
    assert_int_equal(f->told.status, 503);
    make_upstream(f, 1, 1000, 1024); /* another worker's, as far as the count goes */
    play(f, &script);
    assert_int_equal(f->told.status, 200);
}

static void faults_come_as_the_facts_that_they_are(void **state)
{
    struct fixture *f = *state;

    static const struct {
        enum acog_provider_stage reset;
        enum acog_provider_stage close;
        enum acog_cause cause;
    } rows[] = {
        {ACOG_STAGE_CONNECT, ACOG_STAGE_NEVER, ACOG_CAUSE_CONNECT},
        {ACOG_STAGE_HEAD, ACOG_STAGE_NEVER, ACOG_CAUSE_CLOSED},
        {ACOG_STAGE_NEVER, ACOG_STAGE_HEAD, ACOG_CAUSE_CLOSED},
        {ACOG_STAGE_BODY, ACOG_STAGE_NEVER, ACOG_CAUSE_CUT},
        {ACOG_STAGE_NEVER, ACOG_STAGE_EVENTS, ACOG_CAUSE_CUT},
    };

    f->order.stream = true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acog_provider_reply reply = good;
        reply.reset = rows[i].reset;
        reply.close = rows[i].close;
        reply.after_events = 2;
        const struct acog_provider_script script = {.replies = &reply, .reply_count = 1};
        play(f, &script);
        assert_int_equal(f->told.cause, rows[i].cause);
        assert_int_equal(f->told.failures, 1);
        assert_false(f->told.reused_no_byte);
    }
}

/* B73 */
static void silence_lasts_until_it_is_cancelled(void **state)
{
    struct fixture *f = *state;
    struct acog_provider_reply reply = good;
    reply.hang = ACOG_STAGE_HEAD;
    const struct acog_provider_script script = {.replies = &reply, .reply_count = 1};
    f->connection.simulate = &script;
    send_order(f);
    run_until(f, &f->told.connected, 1);
    settle(f);
    assert_int_equal(f->told.heads, 0);
    cancel(f);
    settle(f);
    assert_int_equal(f->told.finished, 0);
}

static void a_cancel_before_and_inside_an_event_ends_the_play(void **state)
{
    struct fixture *f = *state;
    const struct acog_provider_script script = {.replies = &good, .reply_count = 1};
    f->connection.simulate = &script;
    f->order.stream = true;
    send_order(f);
    cancel(f);
    settle(f);
    assert_int_equal(f->told.connected, 0);

    f->cancel_at_bodies = 2;
    send_order(f);
    run_until(f, &f->told.bodies, 2);
    settle(f);
    assert_int_equal(f->told.bodies, 2);
    assert_int_equal(f->told.finished, 0);
}

static void a_pause_holds_the_play(void **state)
{
    struct fixture *f = *state;
    const struct acog_provider_script script = {.replies = &good, .reply_count = 1};
    f->connection.simulate = &script;
    f->order.stream = true;
    f->pause_at_bodies = 1;
    send_order(f);
    run_until(f, &f->told.bodies, 1);
    settle(f);
    assert_int_equal(f->told.bodies, 1);
    assert_int_equal(f->told.finished, 0);
    acog_upstream_pause(f->call, false);
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.ends, 1);
    assert_true(holds(&f->told.body, "[DONE]"));
}

static void delays_are_kept(void **state)
{
    struct fixture *f = *state;
    struct acog_provider_reply reply = good;
    struct timeval before;
    struct timeval after;
    reply.delay_ms = 30;
    const struct acog_provider_script script = {.replies = &reply, .reply_count = 1};
    f->connection.simulate = &script;
    (void)event_base_gettimeofday_cached(f->base, &before);
    send_order(f);
    run_until(f, &f->told.connected, 1);
    assert_int_equal(f->told.heads, 0);
    run_until(f, &f->told.finished, 1);
    (void)event_base_gettimeofday_cached(f->base, &after);
    assert_true((after.tv_sec - before.tv_sec) * 1000 + (after.tv_usec - before.tv_usec) / 1000 >=
                29);
}

static bool always_fails(void *user)
{
    (void)user;
    return true;
}

static void without_memory_the_failure_is_the_gateways(void **state)
{
    struct fixture *f = *state;
    const struct acog_provider_script script = {.replies = &good, .reply_count = 1};
    play(f, &script); /* leaves a call's memory to use again */
    forget_told(f);
    acog_memory_fail_when(always_fails, NULL);
    f->call = acog_upstream_send(f->upstream, &f->order, &told_events, f);
    acog_memory_fail_when(NULL, NULL);
    assert_non_null(f->call);
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.cause, ACOG_CAUSE_GATEWAY);
}

static int forget_and_set_up(void **state)
{
    acog_upstream_global_fini();
    return set_up_all(state) == 0 ? set_up(state) : -1;
}

#define FRESH(name) cmocka_unit_test_setup_teardown(name, forget_and_set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(a_whole_answer_is_played),
        FRESH(a_stream_is_played_event_by_event),
        FRESH(embeddings_answer_each_input),
        FRESH(usage_comes_in_a_chat_stream_that_asks_for_it),
        FRESH(every_connection_counts_its_own_requests),
        FRESH(two_workers_share_a_script),
        FRESH(faults_come_as_the_facts_that_they_are),
        FRESH(silence_lasts_until_it_is_cancelled),
        FRESH(a_cancel_before_and_inside_an_event_ends_the_play),
        FRESH(a_pause_holds_the_play),
        FRESH(delays_are_kept),
        FRESH(without_memory_the_failure_is_the_gateways),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
