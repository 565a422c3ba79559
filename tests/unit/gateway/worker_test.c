/* worker_test.c - a worker's thread, its orders, and what it says of bytes that are no request. */
#include "serving.h"

static uint64_t wait_for_end(const struct serving *serving)
{
    uint64_t ended = 0;
    assert_int_equal(read(serving->service.ended_fd, &ended, sizeof(ended)), sizeof(ended));
    return ended;
}

/* Reads until the peer closes, blocking: the worker runs by itself. */
static void read_all(int client, struct acog_buffer *came)
{
    char piece[4096];
    ssize_t got = 0;
    while ((got = recv(client, piece, sizeof(piece), 0)) > 0) {
        assert_int_equal(acog_buffer_append(came, (struct acog_view){piece, (size_t)got}), ACOG_OK);
    }
}

static void start_thread(struct serving *serving)
{
    struct acog_error error;
    serving->service.ended_fd = eventfd(0, EFD_CLOEXEC);
    assert_true(serving->service.ended_fd >= 0);
    assert_int_equal(acog_worker_start(serving->worker, &error), ACOG_OK);
}

static void end_thread(struct serving *serving)
{
    assert_int_equal(wait_for_end(serving), 1);
    acog_worker_join(serving->worker);
    assert_int_equal(close(serving->service.ended_fd), 0);
}

static void a_drained_worker_closes_idle_clients_and_ends(void **state)
{
    struct serving *serving = *state;
    serving_start(serving);
    start_thread(serving);
    int client = client_open(serving);
    client_send(client, "GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n");
    char first;
    assert_int_equal(recv(client, &first, 1, 0), 1);
    acog_worker_tell(serving->worker, ACOG_WORKER_DRAIN);
    read_all(client, &serving->came);
    end_thread(serving);
    assert_int_equal(close(client), 0);
}

static void a_drained_worker_finishes_what_runs(void **state)
{
    struct serving *serving = *state;
    serving->replies[0].text = ACOG_VIEW("a b c d e f g h");
    serving->replies[0].pace_ms = 10;
    serving_start(serving);
    start_thread(serving);
    int client = client_open(serving);
    client_send(client, CHAT_STREAM);
    char first;
    assert_int_equal(recv(client, &first, 1, 0), 1); /* the stream has begun */
    acog_worker_tell(serving->worker, ACOG_WORKER_DRAIN);
    read_all(client, &serving->came);
    assert_true(has(serving, "[DONE]"));
    end_thread(serving);
    assert_int_equal(close(client), 0);
}

static void a_stopped_worker_does_not_wait(void **state)
{
    struct serving *serving = *state;
    serving->replies[0].hang = ACOG_STAGE_EVENTS;
    serving->replies[0].after_events = 2;
    serving_start(serving);
    start_thread(serving);
    int client = client_open(serving);
    client_send(client, CHAT_STREAM);
    char first;
    assert_int_equal(recv(client, &first, 1, 0), 1);
    acog_worker_tell(serving->worker, ACOG_WORKER_DRAIN);
    acog_worker_tell(serving->worker, ACOG_WORKER_STOP);
    end_thread(serving);
    acog_worker_free(&serving->worker);
    read_all(client, &serving->came);
    assert_false(has(serving, "0\r\n\r\n"));
    assert_int_equal(close(client), 0);
}

static void bytes_that_are_no_request_are_refused_in_json(void **state)
{
    struct serving *serving = *state;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client,
                "POST /v1/messages HTTP/1.1\r\nhost: test\r\ncontent-length: +3\r\n\r\nabc");
    assert_true(client_sees(serving, client, "}"));
    assert_int_equal(acog_view_find(acog_buffer_view(&serving->came), ACOG_VIEW("HTTP/1.1 400 ")),
                     0);
    assert_int_equal(acog_count_get(&serving->worker->counts->refused), 1);
    assert_int_equal(acog_count_get(&serving->worker->counts->requests), 0);
    assert_int_equal(close(client), 0);
}

static void connections_are_shared_out_among_the_workers(void **state)
{
    struct serving *serving = *state;
    serving->rows->snapshot.limits.connections = 1;
    serving_start(serving);
    int first = client_open(serving);
    turn(serving);
    int second = client_open(serving);
    client_send(second, "GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n");
    assert_true(client_sees(serving, second, "overloaded"));
    assert_int_equal(acog_view_find(acog_buffer_view(&serving->came), ACOG_VIEW("HTTP/1.1 503 ")),
                     0);
    assert_int_equal(close(second), 0);
    assert_int_equal(close(first), 0);
}

static void a_rest_gives_back_what_was_kept_and_takes_nothing_away(void **state)
{
    struct serving *serving = *state;
    serving_start(serving);
    int client = client_open(serving);
    for (int i = 0; i < 2; i++) {
        serving->came.len = 0;
        client_send(client, CHAT_WHOLE);
        assert_true(client_sees(serving, client, "\"finish_reason\""));
        until_running(serving, 0);
        assert_int_equal(serving->worker->spare_count, 1);
        acog_worker_rest(serving->worker);
        assert_int_equal(serving->worker->spare_count, 0);
        assert_null(serving->worker->spare);
    }
    assert_int_equal(close(client), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVING(a_drained_worker_closes_idle_clients_and_ends),
        SERVING(a_drained_worker_finishes_what_runs),
        SERVING(a_stopped_worker_does_not_wait),
        SERVING(bytes_that_are_no_request_are_refused_in_json),
        SERVING(connections_are_shared_out_among_the_workers),
        SERVING(a_rest_gives_back_what_was_kept_and_takes_nothing_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
