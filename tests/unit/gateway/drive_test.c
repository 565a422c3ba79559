/* drive_test.c - a request between a client's socket and simulated connections. */
#include "acog/memory.h"
#include "serving.h"

#include <stdlib.h>

#include <event2/event_struct.h>

static void a_request_is_answered_counted_and_logged_without_its_text(void **state)
{
    struct serving *serving = *state;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_WHOLE);
    assert_true(client_sees(serving, client, "\"finish_reason\""));
    assert_true(has(serving, "HTTP/1.1 200 "));
    assert_true(has(serving, "\"one\""));
    until_running(serving, 0);
    assert_int_equal(acog_count_get(&serving->worker->counts->requests), 1);
    assert_non_null(strstr(log_of(serving), "\"event\":\"request\""));
    assert_non_null(strstr(log_of(serving), "\"connection\":\"first\""));
    assert_null(strstr(log_of(serving), "secret"));
    assert_int_equal(close(client), 0);
}

static void a_connection_that_fails_is_followed_by_the_next(void **state)
{
    struct serving *serving = *state;
    serving->replies[0].reset = ACOG_STAGE_HEAD;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_WHOLE);
    assert_true(client_sees(serving, client, "\"finish_reason\""));
    assert_true(has(serving, "\"two\""));
    until_running(serving, 0);
    assert_non_null(strstr(log_of(serving), "\"connection\":\"second\""));
    assert_non_null(strstr(log_of(serving), "\"attempts\":2"));
    assert_int_equal(acog_count_get(&serving->worker->counts->charged_failures), 1);
    assert_int_equal(close(client), 0);
}

static void the_next_request_uses_what_the_last_one_left(void **state)
{
    struct serving *serving = *state;
    serving_start(serving);
    int client = client_open(serving);
    struct acog_drive *spare = NULL;
    for (int i = 0; i < 3; i++) {
        serving->came.len = 0;
        client_send(client, CHAT_STREAM);
        assert_true(client_sees(serving, client, "data: [DONE]\n\n\r\n0\r\n\r\n"));
        until_running(serving, 0);
        assert_int_equal(serving->worker->spare_count, 1);
        assert_true(spare == NULL || spare == serving->worker->spare);
        spare = serving->worker->spare;
    }
    assert_int_equal(acog_count_get(&serving->worker->counts->requests), 3);
    assert_int_equal(close(client), 0);
}

static void a_client_that_leaves_ends_its_request(void **state)
{
    struct serving *serving = *state;
    serving->replies[0].hang = ACOG_STAGE_HEAD;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_WHOLE);
    until_running(serving, 1);
    assert_int_equal(close(client), 0);
    until_running(serving, 0);
    assert_non_null(strstr(log_of(serving), "\"outcome\":\"cancelled\""));
    assert_int_equal(acog_upstream_counts(serving->worker->upstream).open, 0);
}

static void a_slow_reader_stops_the_source_and_loses_nothing(void **state)
{
    struct serving *serving = *state;
    struct acog_buffer text;
    acog_buffer_init(&text, SERVING_TEXT_MAX);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(acog_buffer_format(&text, "word%05d ", i), ACOG_OK);
    }
    serving->replies[0].text = acog_buffer_view(&text);
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_STREAM);
    for (int i = 0; i < 200; i++) {
        turn(serving);
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(serving->worker->running_count, 1); /* two megabytes wait for their reader */
    assert_true(client_sees(serving, client, "data: [DONE]\n\n\r\n0\r\n\r\n"));
    for (int i = 0; i < 10000; i += 999) {
        char word[20];
        (void)snprintf(word, sizeof(word), "word%05d", i);
        assert_true(has(serving, word));
    }
    until_running(serving, 0);
    assert_int_equal(close(client), 0);
    acog_buffer_fini(&text);
}

static void a_slow_reader_does_not_stop_the_clock_of_all_an_answer_may_take(void **state)
{
    struct serving *serving = *state;
    struct acog_buffer text;
    acog_buffer_init(&text, SERVING_TEXT_MAX);
    const struct acog_clock_row total = {
        .clock = ACOG_CLOCK_TOTAL, .stream = true, .whole = true, .formula = {.base_ms = 300}};
    serving->rows->snapshot.policy.clocks = &total;
    serving->rows->snapshot.policy.clock_count = 1;
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(acog_buffer_format(&text, "word%05d ", i), ACOG_OK);
    }
    serving->replies[0].text = acog_buffer_view(&text);
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_STREAM);
    until_running(serving, 1);
    until_running(serving, 0); /* although nobody has read a byte */
    assert_non_null(strstr(log_of(serving), "\"outcome\":\"incomplete\""));
    assert_true(client_sees(serving, client, "\r\n0\r\n\r\n"));
    assert_true(has(serving, "\"error\""));
    assert_int_equal(close(client), 0);
    acog_buffer_fini(&text);
}

static void a_clock_moves_a_silent_connection_on(void **state)
{
    struct serving *serving = *state;
    const struct acog_clock_row headers = {
        .clock = ACOG_CLOCK_HEADERS, .stream = true, .whole = true, .formula = {.base_ms = 30}};
    serving->rows->snapshot.policy.clocks = &headers;
    serving->rows->snapshot.policy.clock_count = 1;
    serving->replies[0].hang = ACOG_STAGE_HEAD;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_WHOLE);
    assert_true(client_sees(serving, client, "\"two\""));
    until_running(serving, 0);
    assert_non_null(strstr(log_of(serving), "\"class\":\"timeout_headers\""));
    assert_int_equal(close(client), 0);
}

static void a_function_that_fails_is_told_to_the_log_and_not_to_the_client(void **state)
{
    struct serving *serving = *state;
    struct acog_policy *policy = &serving->rows->snapshot.policy;
    policy->filters[policy->filter_count++] = (struct acog_filter){
        .kind = ACOG_FILTER_FUNCTION, .name = ACOG_VIEW("mine"), .place = ACOG_VIEW("x.lua:1")};
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_WHOLE);
    assert_true(client_sees(serving, client, "\"one\""));
    serving_function_fails = true;
    serving->came.len = 0;
    client_send(client, CHAT_WHOLE);
    assert_true(client_sees(serving, client, "policy_error"));
    assert_true(has(serving, "HTTP/1.1 500 "));
    assert_false(has(serving, "gateway.lua:7"));
    assert_int_equal(acog_count_get(&serving->worker->counts->policy_failures), 1);
    assert_int_equal(close(client), 0);
}

/* S2.45: the policy reads on when the client has left; what the client sent lives as long. */
static void a_policy_may_read_on_without_the_client(void **state)
{
    struct serving *serving = *state;
    serving->rows->snapshot.policy.drain_ms = 60000;
    serving->replies[0].text = ACOG_VIEW("a b c d e f");
    serving->replies[0].pace_ms = 5;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_STREAM);
    assert_true(client_sees(serving, client, "data: "));
    assert_int_equal(close(client), 0);
    while (acog_http_server_connections(serving->worker->server) > 0) {
        turn(serving);
    }
    assert_int_equal(serving->worker->running_count, 1);
    until_running(serving, 0);
    assert_non_null(strstr(log_of(serving), "\"model\":\"m\""));
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void without_memory_the_answer_is_overloaded(void **state)
{
    struct serving *serving = *state;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_WHOLE); /* the server has what it needs after this */
    assert_true(client_sees(serving, client, "\"one\""));
    until_running(serving, 0);
    acog_drive_end_all(serving->worker);
    assert_int_equal(acog_buffer_reserve(&serving->came, 100000), ACOG_OK);
    serving->came.len = 0;
    client_send(client, CHAT_WHOLE);
    acog_memory_fail_when(always, NULL);
    bool seen = client_sees(serving, client, "overloaded");
    acog_memory_fail_when(NULL, NULL);
    assert_true(seen);
    assert_true(has(serving, "HTTP/1.1 503 "));
    assert_true(has(serving, "retry-after: 1\r\n"));
    assert_int_equal(acog_count_get(&serving->worker->counts->refused), 1);
    assert_int_equal(close(client), 0);
}

static bool timers_get_no_memory;

/* As libevent asks for more places for its timers. */
static void *grow(void *memory, size_t bytes)
{
    return timers_get_no_memory ? NULL : realloc(memory, bytes);
}

static void on_never(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    (void)user;
}

#define TIMERS_MAX 64

/* Takes all places that the loop has for timers, and there are no more. */
static void use_up_timers(struct event_base *base, struct event *timers)
{
    const struct timeval hour = {.tv_sec = 3600};
    timers_get_no_memory = true;
    memset(timers, 0, TIMERS_MAX * sizeof(*timers));
    for (size_t i = 0; i < TIMERS_MAX; i++) {
        (void)evtimer_assign(&timers[i], base, on_never, NULL);
        if (evtimer_add(&timers[i], &hour) != 0) {
            return;
        }
    }
    fail_msg("the loop had more than %d places", TIMERS_MAX);
}

static void give_back_timers(struct event *timers)
{
    timers_get_no_memory = false;
    for (size_t i = 0; i < TIMERS_MAX; i++) {
        if (event_initialized(&timers[i]) != 0) {
            (void)event_del(&timers[i]);
        }
    }
}

static void a_request_whose_clock_finds_no_memory_is_cut_off(void **state)
{
    struct serving *serving = *state;
    struct event timers[TIMERS_MAX];
    const struct acog_clock_row headers = {
        .clock = ACOG_CLOCK_HEADERS, .stream = true, .whole = true, .formula = {.base_ms = 60000}};
    serving->rows->snapshot.policy.clocks = &headers;
    serving->rows->snapshot.policy.clock_count = 1;
    serving->replies[0].hang = ACOG_STAGE_HEAD;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, "POST ");
    while (acog_http_server_connections(serving->worker->server) == 0) {
        turn(serving);
    }
    use_up_timers(serving->worker->base, timers);
    client_send(client, &CHAT_WHOLE[strlen("POST ")]);
    assert_false(client_sees(serving, client, "HTTP/1.1 "));
    give_back_timers(timers);
    assert_int_equal(serving->worker->running_count, 0);
    assert_non_null(strstr(log_of(serving), "\"outcome\":\"cancelled\""));
    assert_int_equal(acog_upstream_counts(serving->worker->upstream).open, 0);
    assert_int_equal(close(client), 0);
}

/* Without clocks nothing else would ever end it. */
static void a_simulated_answer_that_finds_no_timer_fails(void **state)
{
    struct serving *serving = *state;
    struct event timers[TIMERS_MAX];
    serving->rows->snapshot.policy.clock_count = 0;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, "POST ");
    while (acog_http_server_connections(serving->worker->server) == 0) {
        turn(serving);
    }
    use_up_timers(serving->worker->base, timers);
    client_send(client, &CHAT_WHOLE[strlen("POST ")]);
    assert_true(client_sees(serving, client, "\"error\""));
    give_back_timers(timers);
    assert_true(has(serving, "HTTP/1.1 502 "));
    assert_int_equal(serving->worker->running_count, 0);
    assert_int_equal(close(client), 0);
}

static void nothing_is_read_on_without_a_clock(void **state)
{
    struct serving *serving = *state;
    struct event timers[TIMERS_MAX];
    serving->rows->snapshot.policy.clock_count = 0;
    serving->rows->snapshot.policy.drain_ms = 60000;
    serving->replies[0].hang = ACOG_STAGE_EVENTS;
    serving->replies[0].after_events = 2;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_STREAM);
    assert_true(client_sees(serving, client, "data: "));
    use_up_timers(serving->worker->base, timers);
    assert_int_equal(close(client), 0);
    until_running(serving, 0);
    give_back_timers(timers);
    assert_int_equal(acog_upstream_counts(serving->worker->upstream).open, 0);
}

static void at_the_end_what_runs_is_cut_off_and_logged(void **state)
{
    struct serving *serving = *state;
    serving->rows->snapshot.policy.drain_ms = 60000; /* not even the policy's drain holds it up */
    serving->replies[0].hang = ACOG_STAGE_EVENTS;
    serving->replies[0].after_events = 2;
    serving_start(serving);
    int client = client_open(serving);
    client_send(client, CHAT_STREAM);
    assert_true(client_sees(serving, client, "data: "));
    acog_drive_end_all(serving->worker);
    assert_int_equal(serving->worker->running_count, 0);
    assert_false(client_sees(serving, client, "0\r\n\r\n"));
    assert_int_equal(close(client), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVING(a_request_is_answered_counted_and_logged_without_its_text),
        SERVING(a_connection_that_fails_is_followed_by_the_next),
        SERVING(the_next_request_uses_what_the_last_one_left),
        SERVING(a_client_that_leaves_ends_its_request),
        SERVING(a_slow_reader_stops_the_source_and_loses_nothing),
        SERVING(a_slow_reader_does_not_stop_the_clock_of_all_an_answer_may_take),
        SERVING(a_clock_moves_a_silent_connection_on),
        SERVING(a_function_that_fails_is_told_to_the_log_and_not_to_the_client),
        SERVING(a_policy_may_read_on_without_the_client),
        SERVING(without_memory_the_answer_is_overloaded),
        SERVING(a_request_whose_clock_finds_no_memory_is_cut_off),
        SERVING(a_simulated_answer_that_finds_no_timer_fails),
        SERVING(nothing_is_read_on_without_a_clock),
        SERVING(at_the_end_what_runs_is_cut_off_and_logged),
    };
    event_set_mem_functions(malloc, grow, free); /* before libevent is used */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
