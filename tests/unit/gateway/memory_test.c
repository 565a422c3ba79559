/* memory_test.c - each allocation of a served request fails in turn, from its first byte to its log line and record.
 *
 * A worker that has nothing to spare is told a client's story; the event loop and jansson ask for their memory at the
 * same door, so theirs fails too. However it ends for that client, it ends, and the next one is served.
 */
#include "acog/memory.h"

#include "acog/contract.h"
#include "admin.h"
#include "drive_parts.h"
#include "receipts.h"
#include "serving.h"
#include "tests/support/memory_sweep.h"

#include <stdlib.h>

#include <jansson.h>

#define CAME_MAX ((size_t)4 << 20)

#define CLOSE "connection: close\r\n"
#define CHAT_WHOLE_BODY                                         \
    "content-length: 61\r\n\r\n{\"model\":\"m\",\"messages\":[" \
    "{\"role\":\"user\",\"content\":\"secret\"}]}"
#define CHAT_STREAM_BODY                                                        \
    "content-length: 75\r\n\r\n{\"model\":\"m\",\"stream\":true,\"messages\":[" \
    "{\"role\":\"user\",\"content\":\"secret\"}]}"

/* What one client does, and what it gets when there is memory. */
struct story {
    const char *name;
    void (*prepare)(struct serving *serving); /* NULL: nothing */
    const char *sends;                        /* the server closes after the reply */

    enum leaving {
        ACOG_CLIENT_STAYS = 0,  /* until the server closes */
        ACOG_CLIENT_READS_LATE, /* stays, and reads when its upstream waits for it */
        ACOG_CLIENT_LEAVES_WAITING,
        ACOG_CLIENT_LEAVES_READING,
        ACOG_CLIENT_IS_CUT_OFF, /* by the end of the worker */
    } leaving;

    const char *reply; /* NULL: it is not there to see it */
};

/* -- what comes ---------------------------------------------------------------------------------------- */

static char came[CAME_MAX];
static size_t came_bytes;

/* Where `text` begins; came_bytes: it is not there. */
static size_t place_of(const char *text)
{
    return acog_view_find((struct acog_view){.ptr = came, .len = came_bytes}, acog_view_of(text));
}

static bool has_come(const char *text)
{
    return place_of(text) < came_bytes;
}

/* Turns the loop once and takes what is there. False: the server closed. */
static bool receive(struct serving *serving, int client)
{
    assert_true(came_bytes < sizeof(came));
    turn(serving);
    ssize_t got = recv(client, came + came_bytes, sizeof(came) - came_bytes, MSG_DONTWAIT);
    if (got > 0) {
        came_bytes += (size_t)got;
        return true;
    }
    if (got == 0 || errno != EAGAIN) {
        return false;
    }
    struct pollfd readable = {.fd = client, .events = POLLIN};
    (void)poll(&readable, 1, 1);
    return true;
}

/* -- one telling --------------------------------------------------------------------------------------- */

static bool is_told(const struct story *story, const struct serving *serving)
{
    switch (story->leaving) {
    case ACOG_CLIENT_STAYS:
    case ACOG_CLIENT_READS_LATE:
        return false;
    case ACOG_CLIENT_LEAVES_WAITING:
        return serving->worker->running_count > 0;
    case ACOG_CLIENT_LEAVES_READING:
    case ACOG_CLIENT_IS_CUT_OFF:
        return came_bytes > 0;
    }
    ACOG_UNREACHABLE("unknown leaving");
}

/* Until the answer waits for its reader. False: there is none. */
static bool waits_for_reader(struct serving *serving)
{
    for (int i = 0; i < SERVING_TURNS_MAX; i++) {
        const struct acog_drive *drive = serving->worker->running;
        if (drive != NULL && drive->paused) {
            return true;
        }
        if (drive == NULL && i > 20) { /* accepted and read by now */
            return false;
        }
        turn(serving);
        (void)poll(NULL, 0, 1);
    }
    return false;
}

/* The client's part, until it leaves or the server closes. */
static void tell_client(const struct story *story, struct serving *serving, int client)
{
    came_bytes = 0;
    client_send(client, story->sends);
    if (story->leaving == ACOG_CLIENT_READS_LATE) {
        assert_true(waits_for_reader(serving) || memory_sweep_failed());
    }
    for (int i = 0; receive(serving, client) && !is_told(story, serving); i++) {
        if (i == SERVING_TURNS_MAX) {
            fail_msg("%s: it does not end: %.*s", story->name, (int)came_bytes, came);
        }
    }
}

/* Whether the (first) answer ends before it says that it ends. */
static bool is_cut(void)
{
    size_t length = place_of("content-length: ");
    size_t body = place_of("\r\n\r\n") + strlen("\r\n\r\n");
    if (length >= body) {
        return !has_come("\r\n0\r\n\r\n");
    }
    return came_bytes < body + strtoul(came + length + strlen("content-length: "), NULL, 10);
}

/* What a client may be told for want of memory: an error, half an answer that it can tell from a whole one, nothing. */
static void check(const struct story *story)
{
    static const char *const errors[] = {"HTTP/1.1 500 ", "HTTP/1.1 502 ", "HTTP/1.1 503 ",
                                         "HTTP/1.1 404 "};
    if (story->reply == NULL || has_come(story->reply)) {
        return;
    }
    bool ordinary = came_bytes == 0 || (has_come("HTTP/1.1 200 ") && is_cut());
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        ordinary = ordinary || has_come(errors[i]);
    }
    if (!memory_sweep_failed() || !ordinary) {
        fail_msg("%s: %.*s", story->name, (int)came_bytes, came);
    }
}

static void serve_another(struct serving *serving)
{
    int client = client_open(serving);
    serving->replies[0].hang = ACOG_STAGE_NEVER;
    serving->replies[0].reset = ACOG_STAGE_NEVER;
    serving_function_fails = false;
    came_bytes = 0;
    client_send(client, CHAT_HEAD CLOSE CHAT_WHOLE_BODY);
    for (int i = 0; receive(serving, client); i++) {
        assert_true(i < SERVING_TURNS_MAX);
    }
    assert_true(has_come("HTTP/1.1 200 "));
    assert_true(has_come("\"finish_reason\""));
    assert_int_equal(close(client), 0);
}

static void tell(void *user)
{
    const struct story *story = user;
    struct serving serving;
    memory_sweep_spare();
    serving_prepare(&serving);
    if (story->prepare != NULL) {
        story->prepare(&serving);
    }
    serving.service.receipts = acog_receipts_new(4);
    serving_start(&serving);
    serving.service.listener = &serving.listener;
    int client = client_open(&serving);
    memory_sweep_fail_again();
    tell_client(story, &serving, client);
    if (story->leaving == ACOG_CLIENT_IS_CUT_OFF) {
        acog_worker_free(&serving.worker);
        memory_sweep_spare();
        assert_int_equal(close(client), 0);
    } else {
        assert_int_equal(close(client), 0);
        until_running(&serving, 0);
        memory_sweep_spare();
        check(story);
        assert_int_equal(acog_upstream_counts(serving.worker->upstream).open, 0);
        serve_another(&serving);
    }
    acog_receipts_free(&serving.service.receipts);
    serving_stop(&serving);
    memory_sweep_fail_again();
}

/* -- the stories --------------------------------------------------------------------------------------- */

static void first_dies(struct serving *serving)
{
    serving->replies[0].reset = ACOG_STAGE_HEAD;
}

static void asks_the_policy(struct serving *serving)
{
    struct acog_policy *policy = &serving->rows->snapshot.policy;
    policy->filters[policy->filter_count++] = (struct acog_filter){
        .kind = ACOG_FILTER_FUNCTION, .name = ACOG_VIEW("mine"), .place = ACOG_VIEW("x.lua:1")};
}

static void policy_fails(struct serving *serving)
{
    asks_the_policy(serving);
    serving_function_fails = true;
}

static void first_is_silent(struct serving *serving)
{
    serving->replies[0].hang = ACOG_STAGE_HEAD;
}

static void stream_stops(struct serving *serving)
{
    serving->replies[0].hang = ACOG_STAGE_EVENTS;
    serving->replies[0].after_events = 2;
}

/* More than the sockets and the queue hold. */
static void much_is_said(struct serving *serving)
{
    static char words[12000];
    for (size_t i = 0; i < sizeof(words); i++) {
        words[i] = i % 8 == 7 ? ' ' : 'w';
    }
    serving->replies[0].text = (struct acog_view){.ptr = words, .len = sizeof(words)};
}

static void policy_reads_on(struct serving *serving)
{
    serving->rows->snapshot.policy.drain_ms = 60000;
    serving->replies[0].text = ACOG_VIEW("a b c d");
}

static void a_clock_runs(struct serving *serving)
{
    static const struct acog_clock_row headers = {
        .clock = ACOG_CLOCK_HEADERS, .stream = true, .whole = true, .formula = {.base_ms = 5}};
    serving->rows->snapshot.policy.clocks = &headers;
    serving->rows->snapshot.policy.clock_count = 1;
    first_is_silent(serving);
}

static const struct story stories[] = {
    {"whole", NULL, CHAT_HEAD CLOSE CHAT_WHOLE_BODY, ACOG_CLIENT_STAYS, "\"one\""},
    {"stream", NULL, CHAT_HEAD CLOSE CHAT_STREAM_BODY, ACOG_CLIENT_STAYS, "data: [DONE]\n\n"},
    {"failover", first_dies, CHAT_HEAD CLOSE CHAT_STREAM_BODY, ACOG_CLIENT_STAYS, "\"two\""},
    {"a clock", a_clock_runs, CHAT_HEAD CLOSE CHAT_WHOLE_BODY, ACOG_CLIENT_STAYS, "\"two\""},
    {"the policy is asked", asks_the_policy, CHAT_HEAD CLOSE CHAT_WHOLE_BODY, ACOG_CLIENT_STAYS,
     "\"one\""},
    {"the policy fails", policy_fails, CHAT_HEAD CLOSE CHAT_WHOLE_BODY, ACOG_CLIENT_STAYS,
     "policy_error"},
    {"the record", NULL,
     CHAT_HEAD "x-request-id: r-1\r\n" CHAT_WHOLE_BODY
               "GET /v1/receipts/r-1 HTTP/1.1\r\nhost: localhost\r\n" CLOSE "\r\n",
     ACOG_CLIENT_STAYS, "\"request_id\":\"r-1\""},
    {"no request", NULL, CHAT_HEAD CLOSE "content-length: +3\r\n\r\nabc", ACOG_CLIENT_STAYS,
     "HTTP/1.1 400 "},
    {"leaves while it waits", first_is_silent, CHAT_HEAD CLOSE CHAT_WHOLE_BODY,
     ACOG_CLIENT_LEAVES_WAITING, NULL},
    {"leaves while it reads", stream_stops, CHAT_HEAD CLOSE CHAT_STREAM_BODY,
     ACOG_CLIENT_LEAVES_READING, NULL},
    {"the policy reads on", policy_reads_on, CHAT_HEAD CLOSE CHAT_STREAM_BODY,
     ACOG_CLIENT_LEAVES_READING, NULL},
    {"reads late", much_is_said, CHAT_HEAD CLOSE CHAT_STREAM_BODY, ACOG_CLIENT_READS_LATE,
     "data: [DONE]\n\n"},
    {"is cut off", stream_stops, CHAT_HEAD CLOSE CHAT_STREAM_BODY, ACOG_CLIENT_IS_CUT_OFF, NULL},
};

static void each_allocation_of_each_story_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
        struct story story = stories[i];
        size_t allocations = memory_sweep(tell, &story, 1);
        print_message("%s: %zu allocations\n", story.name, allocations);
        assert_true(allocations >
                    4); /* the connection, its stream, its head, the drive, its exchange */
    }
}

/* -- the operator's pages ------------------------------------------------------------------------------ */

static void ask_for_page(void *user)
{
    const char *target = user;
    struct serving serving;
    struct acog_error error = {.code = ACOG_OK};
    memory_sweep_spare();
    serving_prepare(&serving);
    serving.service.receipts = acog_receipts_new(4);
    serving_start(&serving);
    int socket = -1;
    uint16_t port = 0;
    acog_listener_remove(&serving.listener); /* the clients' socket gives way to the operator's */
    assert_int_equal(acog_listener_open(&serving.listener, &socket, 1, &port, &error), ACOG_OK);
    memory_sweep_fail_again();
    struct acog_admin *admin =
        acog_admin_new(serving.worker->base, &serving.service, &serving.listener, socket, &error);
    assert_true(admin != NULL || error.code != ACOG_OK);
    if (admin != NULL) {
        int client = client_open(&serving);
        came_bytes = 0;
        client_send(client, "GET ");
        client_send(client, target);
        client_send(client, " HTTP/1.1\r\nhost: localhost\r\n" CLOSE "\r\n");
        for (int i = 0; receive(&serving, client); i++) {
            assert_true(i < SERVING_TURNS_MAX);
        }
        assert_int_equal(close(client), 0);
        acog_admin_free(&admin);
    }
    memory_sweep_spare();
    assert_true(memory_sweep_failed() || (has_come("HTTP/1.1 200 ") && !is_cut()));
    acog_receipts_free(&serving.service.receipts);
    serving_stop(&serving);
    memory_sweep_fail_again();
}

static void each_allocation_of_a_page_may_fail(void **state)
{
    (void)state;
    char pages[][16] = {"/metrics", "/status.json", "/healthz"};
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        size_t allocations = memory_sweep(ask_for_page, pages[i], 1);
        print_message("%s: %zu allocations\n", pages[i], allocations);
        assert_true(allocations > 4);
    }
}

/* -- births ---------------------------------------------------------------------------------------------- */

static void make_worker(void *user)
{
    struct serving *serving = user;
    struct acog_error error = {.code = ACOG_OK};
    int socket = -1;
    uint16_t port = 0;
    memory_sweep_spare();
    assert_int_equal(acog_listener_open(&serving->listener, &socket, 1, &port, &error), ACOG_OK);
    memory_sweep_fail_again();
    struct acog_worker *worker = acog_worker_new(&serving->service, 0, socket, 1, &error);
    assert_true((worker == NULL) == memory_sweep_failed());
    assert_true(worker != NULL || error.code != ACOG_OK);
    if (worker != NULL) {
        acog_worker_free(&worker);
    }
}

static void make_tables(void *user)
{
    (void)user;
    struct acog_metrics *metrics = acog_metrics_new(2, 3);
    struct acog_receipts *receipts = acog_receipts_new(4);
    assert_true((metrics == NULL || receipts == NULL) == memory_sweep_failed());
    acog_metrics_free(&metrics);
    acog_receipts_free(&receipts);
}

static void each_allocation_of_a_birth_may_fail(void **state)
{
    (void)state;
    struct serving serving;
    serving_prepare(&serving);
    serving_start(&serving);
    acog_worker_free(&serving.worker);
    assert_true(memory_sweep(make_worker, &serving, 1) > 4);
    assert_true(memory_sweep(make_tables, NULL, 1) > 4);
    serving_stop(&serving);
}

/* -- the whole ------------------------------------------------------------------------------------------- */

static void *take(size_t bytes)
{
    return acog_grow(NULL, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_each_story_may_fail),
        cmocka_unit_test(each_allocation_of_a_page_may_fail),
        cmocka_unit_test(each_allocation_of_a_birth_may_fail),
    };
    event_set_mem_functions(take, acog_grow, acog_free);
    json_set_alloc_funcs(take, acog_free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
