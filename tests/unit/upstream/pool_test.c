/* pool_test.c - which connections serve again, and which must not. */
#include "fixture.h"

#define HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static struct acog_upstream_counts counts(const struct fixture *f)
{
    return acog_upstream_counts(f->upstream);
}

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

static void a_fresh_order_gets_a_connection_of_its_own(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    send_and_finish(f);
    f->order.fresh = true;
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.reused, 0);
    assert_int_equal(counts(f).connects, 2);
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
    const struct scripted replies[] = {{.bytes = ACOG_VIEW(HELLO)}, {.then = ACOG_THEN_CLOSE}};
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
                                       {.bytes = ACOG_VIEW("H"), .then = ACOG_THEN_CLOSE}};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_connection_serves_the_next_request),
        TEST(a_fresh_order_gets_a_connection_of_its_own),
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
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
