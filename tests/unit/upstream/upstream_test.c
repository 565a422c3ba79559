/* upstream_test.c - the life of calls and of the connections under them. */
#include "fixture.h"

#define HELLO      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define BODY_BYTES (5U << 20U)

static struct acog_upstream_counts counts(const struct fixture *f)
{
    return acog_upstream_counts(f->upstream);
}

/* -- the request ----------------------------------------------------------------------------------- */

static void the_request_is_a_head_and_its_pieces(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    char expected[512];
    int length = snprintf(expected, sizeof(expected),
                          "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:%u\r\n"
                          "user-agent: acog/" ACOG_VERSION "\r\naccept-encoding: identity\r\n"
                          "content-length: 17\r\nauthorization: Bearer sk-test\r\n\r\n"
                          "{\"model\":\"gpt-5\"}",
                          (unsigned)f->provider.port);
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->provider.last_request.len, length);
    assert_memory_equal(f->provider.last_request.ptr, expected, (size_t)length);
}

static void a_body_larger_than_the_socket_arrives_whole(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    char *body = acog_new(BODY_BYTES);
    for (size_t i = 0; i < BODY_BYTES; i++) {
        body[i] = (char)('a' + i % 23);
    }
    f->order.pieces[0] = (struct acog_view){.ptr = body, .len = 1000};
    f->order.pieces[1] = (struct acog_view){0};
    f->order.pieces[2] = (struct acog_view){.ptr = body + 1000, .len = BODY_BYTES - 1000};
    f->order.piece_count = 3;
    f->order.body_bytes = BODY_BYTES;
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    const struct acog_buffer *request = &f->provider.last_request;
    assert_true(request->len > BODY_BYTES);
    assert_memory_equal(request->ptr + (request->len - BODY_BYTES), body, BODY_BYTES);
    assert_int_equal(counts(f).idle, 1);
    acog_free(body);
}

/* A provider that refuses a body need not read it: its answer counts, not the broken upload. */
static void an_early_answer_is_told_although_the_upload_breaks(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 413 Too Large\r\nConnection: close\r\n"
                           "Content-Length: 3\r\n\r\nbig"),
        .then = THEN_CLOSE, /* with unread bytes: a reset */
        .at_head = true,
    };
    char *body = acog_new(BODY_BYTES);
    f->order.pieces[0] = (struct acog_view){.ptr = body, .len = BODY_BYTES};
    f->order.piece_count = 1;
    f->order.body_bytes = BODY_BYTES;
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.status, 413);
    expect_body(f, ACOG_VIEW("big"));
    assert_int_equal(counts(f).open, 0);
    acog_free(body);
}

static void an_upload_that_breaks_without_an_answer_is_closed(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.then = THEN_RESET, .at_head = true};
    char *body = acog_new(BODY_BYTES);
    f->order.pieces[0] = (struct acog_view){.ptr = body, .len = BODY_BYTES};
    f->order.piece_count = 1;
    f->order.body_bytes = BODY_BYTES;
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CLOSED);
    acog_free(body);
}

static void a_header_that_cannot_be_sent_is_the_gateways_fault(void **state)
{
    struct fixture *f = *state;
    f->connection.key = ACOG_VIEW("sk-test\r\nx-evil: 1");
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_GATEWAY);
    assert_null(strstr(f->told.why, "sk-test"));
    assert_int_equal(f->provider.peer_count, 0);
}

static void a_channel_that_is_not_built_yet_says_so(void **state)
{
    struct fixture *f = *state;
    f->connection.channel = ACOG_CHANNEL_BEDROCK;
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_GATEWAY);
    assert_string_equal(f->told.why, "the channel is not available yet");
}

/* -- the pool -------------------------------------------------------------------------------------- */

static void a_connection_serves_the_next_request(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    send_and_finish(f);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.reused, 1);
    assert_int_equal(f->provider.peer_count, 1);
    assert_int_equal(f->provider.requests, 2);
    assert_int_equal(counts(f).connects, 1);
    assert_int_equal(counts(f).reuses, 1);
}

static void endpoints_with_other_keys_do_not_share(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    send_and_finish(f);
    f->connection.endpoint.pool_key = ACOG_VIEW("another");
    send_and_finish(f);
    assert_int_equal(f->told.reused, 0);
    assert_int_equal(f->provider.peer_count, 2);
}

static void connection_close_is_honoured(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")};
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(counts(f).open, 0);
    run_until(f, &f->provider.ends, 1);
}

static void an_idle_connection_that_closes_is_removed_at_once(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(counts(f).idle, 1);
    peer_close(&f->provider.peers[0], false);
    settle(f);
    assert_int_equal(counts(f).idle, 0);
    assert_int_equal(counts(f).open, 0);
}

/* What a provider says without being asked must never answer the next request. */
static void a_connection_that_speaks_unasked_is_dropped(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    send_and_finish(f);
    peer_send(&f->provider.peers[0], ACOG_VIEW("HTTP/1.1 408 Timeout\r\n\r\n"));
    send_and_finish(f); /* before the loop saw it */
    assert_int_equal(f->told.status, 200);
    assert_int_equal(f->told.reused, 0);
    assert_int_equal(f->provider.peer_count, 2);
    assert_int_equal(counts(f).open, 1);
}

static void surplus_bytes_drop_the_connection_and_not_the_answer(void **state)
{
    struct fixture *f = *state;
    const struct scripted replies[] = {{.bytes = ACOG_VIEW(HELLO "HTTP/1.1 200 OK\r\n")},
                                       {.bytes = ACOG_VIEW(HELLO)}};
    script(f, replies, 2);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    expect_body(f, ACOG_VIEW("hello"));
    assert_int_equal(counts(f).open, 0);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    expect_body(f, ACOG_VIEW("hello"));
    assert_int_equal(f->told.reused, 0);
}

static void a_reused_connection_that_dies_without_a_byte_says_so(void **state)
{
    struct fixture *f = *state;
    const struct scripted replies[] = {{.bytes = ACOG_VIEW(HELLO)}, {.then = THEN_CLOSE}};
    script(f, replies, 2);
    send_and_finish(f);
    send_and_finish(f);
    assert_int_equal(f->told.reused, 1);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CLOSED);
    assert_true(f->told.reused_no_byte);
    assert_int_equal(f->provider.requests, 2);
}

static void one_byte_on_a_reused_connection_makes_a_resend_unsafe(void **state)
{
    struct fixture *f = *state;
    const struct scripted replies[] = {{.bytes = ACOG_VIEW(HELLO)},
                                       {.bytes = ACOG_VIEW("H"), .then = THEN_CLOSE}};
    script(f, replies, 2);
    send_and_finish(f);
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CLOSED);
    assert_false(f->told.reused_no_byte);
}

/* Sends `count` requests at the same time and finishes them. */
static void send_many(struct fixture *f, struct fixture *users, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        users[i] = (struct fixture){.upstream = f->upstream, .order = f->order};
        acog_buffer_init(&users[i].told.headers, 65536);
        acog_buffer_init(&users[i].told.body, 65536);
        users[i].call = acog_upstream_send(f->upstream, &users[i].order, &told_events, &users[i]);
    }
    for (size_t i = 0; i < count; i++) {
        run_until(f, &users[i].told.finished, 1);
        assert_int_equal(users[i].told.ends, 1);
        acog_buffer_fini(&users[i].told.headers);
        acog_buffer_fini(&users[i].told.body);
    }
}

static void the_pool_keeps_no_more_than_its_cap(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    struct fixture *users = acog_new(5 * sizeof(*users));
    make_upstream(f, 2, 75000, 1U << 20U);
    script(f, &reply, 1);
    send_many(f, users, 5);
    assert_int_equal(f->provider.peer_count, 5);
    assert_int_equal(counts(f).idle, 2);
    assert_int_equal(counts(f).open, 2);
    run_until(f, &f->provider.ends, 3);
    acog_free(users);
}

static void more_connections_than_one_multi_handle_takes_work(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    struct fixture *users = acog_new(150 * sizeof(*users));
    script(f, &reply, 1);
    send_many(f, users, 150);
    assert_int_equal(counts(f).connects, 150);
    assert_int_equal(counts(f).idle, 64);
    acog_free(users);
}

static void the_connection_used_last_is_taken_first(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    struct fixture *users = acog_new(2 * sizeof(*users));
    script(f, &reply, 1);
    send_many(f, users, 2);
    /* The peer that answered last is the one that answers again. */
    send_and_finish(f);
    peer_close(&f->provider.peers[0], false);
    settle(f);
    assert_int_equal(counts(f).idle, 1);
    send_and_finish(f);
    assert_int_equal(f->told.reused, 1);
    acog_free(users);
}

static void an_idle_connection_is_closed_when_its_time_is_over(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    make_upstream(f, 64, 20, 1U << 20U);
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(counts(f).idle, 1);
    run_until(f, &f->provider.ends, 1);
    assert_int_equal(counts(f).open, 0);
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
    run_until(f, &f->provider.ends, 1); /* after a second of the gateway's own */
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
        TEST(the_request_is_a_head_and_its_pieces),
        TEST(a_body_larger_than_the_socket_arrives_whole),
        TEST(an_early_answer_is_told_although_the_upload_breaks),
        TEST(an_upload_that_breaks_without_an_answer_is_closed),
        TEST(a_header_that_cannot_be_sent_is_the_gateways_fault),
        TEST(a_channel_that_is_not_built_yet_says_so),
        TEST(a_connection_serves_the_next_request),
        TEST(endpoints_with_other_keys_do_not_share),
        TEST(connection_close_is_honoured),
        TEST(an_idle_connection_that_closes_is_removed_at_once),
        TEST(a_connection_that_speaks_unasked_is_dropped),
        TEST(surplus_bytes_drop_the_connection_and_not_the_answer),
        TEST(a_reused_connection_that_dies_without_a_byte_says_so),
        TEST(one_byte_on_a_reused_connection_makes_a_resend_unsafe),
        TEST(the_pool_keeps_no_more_than_its_cap),
        TEST(more_connections_than_one_multi_handle_takes_work),
        TEST(the_connection_used_last_is_taken_first),
        TEST(an_idle_connection_is_closed_when_its_time_is_over),
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
