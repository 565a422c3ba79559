/* upstream_test.c - calls that are cancelled, and calls without memory. */
#include "fixture.h"

#define HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static struct acog_upstream_counts counts(const struct fixture *f)
{
    return acog_upstream_counts(f->upstream);
}

/* -- cancelling ------------------------------------------------------------------------------------ */

/* B62 */
static void a_cancel_before_the_first_byte_closes_at_once(void **state)
{
    struct fixture *f = *state;
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    cancel(f);
    assert_int_equal(counts(f).open, 0);
    (void)event_base_loop(f->base, EVLOOP_ONCE); /* one turn, and the provider has seen it */
    assert_int_equal(f->provider.ends, 1);
    assert_int_equal(f->told.finished, 0);
}

static void a_cancel_while_connecting_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    send_order(f);
    cancel(f);
    settle(f);
    assert_int_equal(f->told.connected, 0);
    assert_int_equal(f->told.finished, 0);
    assert_int_equal(counts(f).open, 0);
}

static void a_cancel_of_a_deferred_failure_silences_it(void **state)
{
    struct fixture *f = *state;
    f->connection.channel = ACOG_CHANNEL_VERTEX;
    send_order(f);
    cancel(f);
    settle(f);
    assert_int_equal(f->told.finished, 0);
}

static void a_cancel_on_a_reused_connection_before_it_is_told_silences_it(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    send_and_finish(f);
    send_order(f);
    cancel(f);
    settle(f);
    assert_int_equal(f->told.connected, 0);
    assert_int_equal(counts(f).open, 0);
}

static void a_cancel_inside_connected_works(void **state)
{
    struct fixture *f = *state;
    f->cancel_at_connected = true;
    send_order(f);
    run_until(f, &f->told.connected, 1);
    settle(f);
    assert_null(f->call);
    assert_int_equal(f->told.finished, 0);
    assert_int_equal(f->provider.requests, 0);
    assert_int_equal(counts(f).open, 0);
}

static void a_cancel_inside_the_head_works(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 200 OK\r\n"
                           "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")};
    script(f, &reply, 1);
    f->cancel_at_head = true;
    send_order(f);
    run_until(f, &f->told.heads, 1);
    run_until(f, &f->provider.ends, 1);
    assert_int_equal(f->told.bodies, 0);
    assert_int_equal(f->told.finished, 0);
}

static void a_cancel_in_the_middle_of_a_stream_closes_it(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n")};
    script(f, &reply, 1);
    f->cancel_at_bodies = 2;
    send_order(f);
    run_until(f, &f->told.bodies, 2);
    run_until(f, &f->provider.ends, 1);
    expect_body(f, ACOG_VIEW("ab"));
    assert_int_equal(f->told.finished, 0);
    assert_int_equal(counts(f).open, 0);
}

static void a_small_known_rest_is_read_and_the_connection_kept(void **state)
{
    struct fixture *f = *state;
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    struct peer *peer = &f->provider.peers[0];
    peer_send(peer, ACOG_VIEW("HTTP/1.1 503 Busy\r\nContent-Length: 10\r\n\r\nbusy"));
    run_until(f, &f->told.bodies, 1);
    cancel(f);
    assert_int_equal(counts(f).open, 1);
    peer_send(peer, ACOG_VIEW("-again"));
    settle(f);
    assert_int_equal(counts(f).idle, 1);
    assert_int_equal(f->told.bodies, 1);
    assert_int_equal(f->told.finished, 0);
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.reused, 1);
    expect_body(f, ACOG_VIEW("hello"));
}

static void a_small_rest_may_be_cancelled_inside_the_head_and_inside_a_pause(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    f->cancel_at_head = true;
    send_order(f);
    run_until(f, &f->told.heads, 1);
    settle(f);
    assert_int_equal(f->told.bodies, 0);
    assert_int_equal(counts(f).idle, 1);

    f->cancel_at_head = false;
    f->pause_at_bodies = 1;
    send_order(f);
    run_until(f, &f->told.bodies, 1);
    cancel(f);
    settle(f);
    assert_int_equal(counts(f).idle, 1);
    assert_int_equal(f->told.finished, 0);
}

static void a_small_rest_that_does_not_come_is_not_waited_for(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 503 Busy\r\nContent-Length: 10\r\n\r\nbusy")};
    script(f, &reply, 1);
    f->cancel_at_bodies = 1;
    send_order(f);
    run_until(f, &f->provider.ends, 1); /* when the time for it is over */
    assert_int_equal(counts(f).open, 0);
}

static void a_large_rest_is_not_waited_for(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 503 Busy\r\nContent-Length: 16390\r\n\r\nbusy")};
    script(f, &reply, 1);
    f->cancel_at_bodies = 1;
    send_order(f);
    run_until(f, &f->told.bodies, 1);
    assert_int_equal(counts(f).open, 0);
}

static void freeing_cancels_what_runs(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    send_and_finish(f);
    f->provider.script_count = 0;
    send_order(f);
    struct acog_upstream_call *busy = f->call;
    run_until(f, &f->provider.requests, 2);
    send_order(f); /* and one in the making */
    assert_ptr_not_equal(busy, f->call);
    acog_upstream_free(&f->upstream);
    settle(f);
    assert_int_equal(f->told.finished, 0);
    assert_int_equal(f->provider.ends, 1);
}

/* -- memory ---------------------------------------------------------------------------------------- */

struct countdown {
    const struct fixture *fixture;
    size_t left;
    bool fired;
};

static bool fails_once(void *user)
{
    struct countdown *countdown = user;
    if (countdown->fixture->provider.running || countdown->fired) {
        return false;
    }
    countdown->fired = countdown->left == 0;
    countdown->left--;
    return countdown->fired;
}

/* The user's own memory is not at stake. */
static void reserve_told(struct fixture *f)
{
    forget_told(f);
    assert_int_equal(acog_buffer_reserve(&f->told.headers, 4096), ACOG_OK);
    assert_int_equal(acog_buffer_reserve(&f->told.body, 4096), ACOG_OK);
}

/* Each allocation of a whole request fails once: the call fails, or it did not matter, and nothing is lost. */
static void fail_each_allocation(struct fixture *f)
{
    bool failed = true;
    size_t failures = 0;
    for (size_t i = 0; failed; i++) {
        struct countdown countdown = {.fixture = f, .left = i};
        make_upstream(f, 64, 75000, 1U << 20U);
        reserve_told(f);
        f->provider.requests = 0;
        acog_memory_fail_when(fails_once, &countdown);
        f->call = acog_upstream_send(f->upstream, &f->order, &told_events, f);
        if (f->call != NULL) {
            run_until(f, &f->told.finished, 1);
        }
        acog_memory_fail_when(NULL, NULL);
        failed = countdown.fired;
        failures += f->told.failures;
        assert_true(failed || f->told.ends == 1);
    }
    assert_true(failures > 0);
}

static void every_allocation_of_a_request_may_fail(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    fail_each_allocation(f);
}

static void every_allocation_of_a_compressed_answer_may_fail(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n"
                           "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0"
                           "\x86\xa6\x10\x36\x05\0\0\0")};
    script(f, &reply, 1);
    fail_each_allocation(f);
    expect_body(f, ACOG_VIEW("hello"));
}

static void every_allocation_of_a_paused_answer_may_fail(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n")};
    script(f, &reply, 1);
    f->pause_at_bodies = 1;
    f->resume_at_once = true;
    fail_each_allocation(f);
    expect_body(f, ACOG_VIEW("abc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cancel_before_the_first_byte_closes_at_once),
        TEST(a_cancel_while_connecting_leaves_nothing),
        TEST(a_cancel_of_a_deferred_failure_silences_it),
        TEST(a_cancel_on_a_reused_connection_before_it_is_told_silences_it),
        TEST(a_cancel_inside_connected_works),
        TEST(a_cancel_inside_the_head_works),
        TEST(a_cancel_in_the_middle_of_a_stream_closes_it),
        TEST(a_small_known_rest_is_read_and_the_connection_kept),
        TEST(a_small_rest_may_be_cancelled_inside_the_head_and_inside_a_pause),
        TEST(a_small_rest_that_does_not_come_is_not_waited_for),
        TEST(a_large_rest_is_not_waited_for),
        TEST(freeing_cancels_what_runs),
        TEST(every_allocation_of_a_request_may_fail),
        TEST(every_allocation_of_a_compressed_answer_may_fail),
        TEST(every_allocation_of_a_paused_answer_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
