/* serving.h - one worker whose loop the test turns by hand, with simulated connections, and clients on its socket.
 *
 * core/policy is not linked: its few functions that a worker calls are below, so that a test decides what a policy's
 * function answers.
 */
#ifndef ACOG_TESTS_GATEWAY_SERVING_H
#define ACOG_TESTS_GATEWAY_SERVING_H

#include "acog/memory.h"
#include "acog/policy.h"
#include "acog/provider.h"
#include "address.h"
#include "drive.h"
#include "tests/support/check.h"
#include "tests/support/engine_rows.h"
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>

#define SERVING_TURNS_MAX 5000 /* of a millisecond at least: nothing that comes takes so long */
#define SERVING_TEXT_MAX  ((size_t)64 << 20)

#define CHAT_HEAD \
    "POST /v1/chat/completions HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
#define CHAT_WHOLE \
    CHAT_HEAD      \
    "content-length: 61\r\n\r\n{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"secret\"}]}"
#define CHAT_STREAM               \
    CHAT_HEAD                     \
    "content-length: 75\r\n\r\n{" \
    "\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"secret\"}]}"

/* -- core/policy, played ------------------------------------------------------------------------------ */

static bool serving_function_fails;
static unsigned serving_number; /* each test has its own socket, that one failure stays one */

struct acog_snapshot *acog_snapshot_ref(struct acog_snapshot *snapshot)
{
    return snapshot;
}

void acog_snapshot_unref(struct acog_snapshot **snapshot)
{
    *snapshot = NULL;
}

struct acog_policy_state *acog_policy_state_new(struct acog_snapshot *snapshot,
                                                struct acog_error *error)
{
    (void)error;
    return (struct acog_policy_state *)(void *)snapshot; /* never looked into */
}

void acog_policy_state_free(struct acog_policy_state **state)
{
    *state = NULL;
}

/* The one function there is keeps every candidate, or fails. */
void acog_policy_answer(struct acog_policy_state *state, const struct acog_ask *ask,
                        struct acog_answer *answer, struct acog_error *error)
{
    static const struct acog_verdict keep[ACOG_PLAN_MAX] = {
        {.keep = true}, {.keep = true}, {.keep = true}};
    (void)state;
    answer->failed = serving_function_fails;
    answer->count = ask->count;
    answer->verdicts = keep;
    if (serving_function_fails) {
        (void)acog_error_set(error, ACOG_POLICY, "gateway.lua:7: it was told to fail");
    }
}

/* -- the worker --------------------------------------------------------------------------------------- */

struct serving {
    struct engine_rows *rows;
    struct acog_provider_reply replies[2];
    struct acog_provider_script scripts[2];
    struct acog_service service;
    struct acog_listener listener;
    struct acog_worker *worker;
    struct acog_buffer came; /* what clients saw */
    char path[100];
};

/* The gateway's own answers with their defaults, as a load fills them in. */
static inline void serving_fill_errors(struct acog_policy *policy)
{
#define ACOG_CONDITION(name_, text_, status_, code_, message_)  \
    policy->errors[ACOG_CONDITION_##name_] =                    \
        (struct acog_error_row){.status = (status_),            \
                                .code = ACOG_VIEW(code_),       \
                                .message = ACOG_VIEW(message_), \
                                .retry_after_ms = -1};
#include "acog/condition.def"
#undef ACOG_CONDITION
}

/* Two connections that declare "m": "first" says one, "second" says two. Nothing runs yet: a test may change rows and
 * replies. */
static inline void serving_prepare(struct serving *serving)
{
    static const char *const ids[] = {"first", "second"};
    *serving = (struct serving){.service = {.path = "gateway.lua"}};
    acog_buffer_init(&serving->came, SERVING_TEXT_MAX);
    serving_function_fails = false;
    serving->rows = engine_rows_new(ENGINE_POLICY_ACOG);
    for (size_t i = 0; i < 2; i++) {
        acog_provider_reply_init(&serving->replies[i]);
        serving->replies[i].text = i == 0 ? ACOG_VIEW("one") : ACOG_VIEW("two");
        serving->scripts[i] =
            (struct acog_provider_script){.replies = &serving->replies[i], .reply_count = 1};
        (void)engine_rows_add(serving->rows, ids[i],
                              i == 0 ? ACOG_CHANNEL_DIRECT : ACOG_CHANNEL_VERTEX, "m");
        engine_rows_find(serving->rows, ids[i])->simulate = &serving->scripts[i];
    }
    serving_fill_errors(&serving->rows->snapshot.policy);
    serving->rows->snapshot.limits = (struct acog_limits){.head_bytes = 65536,
                                                          .headers = 100,
                                                          .body_bytes = 1 << 20,
                                                          .json_depth = 128,
                                                          .event_bytes = 1 << 20,
                                                          .answer_bytes = 1 << 20,
                                                          .connections = 100,
                                                          .pool_idle = 4,
                                                          .keep_alive_ms = 60000,
                                                          .head_ms = 60000,
                                                          .body_ms = 60000,
                                                          .drain_ms = 60000,
                                                          .write_high_bytes = 65536};
}

static inline void serving_start(struct serving *serving)
{
    struct acog_error error = {.code = ACOG_OK};
    int socket = -1;
    uint16_t port = 0;
    const struct acog_log_options log = {.fd = open("/dev/null", O_WRONLY | O_CLOEXEC),
                                         .level = ACOG_LOG_DEBUG,
                                         .queue_bytes_max = 1 << 20,
                                         .close_ms = 60000};
    (void)snprintf(serving->path, sizeof(serving->path), "/tmp/acog-serving-test-%d-%u.sock",
                   (int)getpid(), serving_number++);
    serving->listener = (struct acog_listener){.unix_socket = acog_view_of(serving->path)};
    serving->service.snapshot = &serving->rows->snapshot;
    serving->service.shared = &serving->rows->shared;
    serving->service.metrics = acog_metrics_new(1, serving->rows->snapshot.connection_count);
    serving->service.log = acog_log_new(&log, &error);
    serving->service.ended_fd = -1;
    assert_non_null(serving->service.metrics);
    assert_non_null(serving->service.log);
    assert_int_equal(acog_upstream_global_init(&error), ACOG_OK);
    assert_int_equal(acog_listener_open(&serving->listener, &socket, 1, &port, &error), ACOG_OK);
    serving->worker = acog_worker_new(&serving->service, 0, socket, 1, &error);
    if (serving->worker == NULL) {
        fail_msg("%s", error.text);
    }
}

static inline void serving_stop(struct serving *serving)
{
    if (serving->worker != NULL) {
        acog_worker_free(&serving->worker);
    }
    acog_listener_remove(&serving->listener);
    acog_upstream_global_fini();
    acog_log_free(&serving->service.log);
    acog_metrics_free(&serving->service.metrics);
    engine_rows_free(&serving->rows);
    acog_buffer_fini(&serving->came);
}

/* A test that finds its serving prepared, and starts it. */
#define SERVING(test) cmocka_unit_test_setup_teardown(test, serving_begin, serving_end)

static inline int serving_begin(void **state)
{
    struct serving *serving = acog_new(sizeof(*serving));
    serving_prepare(serving);
    *state = serving;
    return 0;
}

static inline int serving_end(void **state)
{
    serving_stop(*state);
    acog_free(*state);
    return 0;
}

static inline void turn(struct serving *serving)
{
    assert_true(event_base_loop(serving->worker->base, EVLOOP_NONBLOCK) >= 0);
}

/* The lines of this worker so far, as text. */
static inline const char *log_of(struct serving *serving)
{
    struct acog_buffer *lines = &serving->worker->log_lines;
    assert_int_equal(acog_buffer_reserve(lines, 1), ACOG_OK);
    lines->ptr[lines->len] = '\0';
    return lines->ptr;
}

/* -- clients ------------------------------------------------------------------------------------------ */

static inline int client_open(struct serving *serving)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, serving->path, strlen(serving->path) + 1);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(client >= 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
    return client;
}

static inline void client_send(int client, const char *text)
{
    assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Whether clients saw it. */
static inline bool has(const struct serving *serving, const char *text)
{
    const struct acog_buffer *came = &serving->came;
    return acog_view_find(acog_buffer_view(came), acog_view_of(text)) < came->len;
}

/* Turns the loop until `text` has come, or the connection ended. True: `text` is there. */
static inline bool client_sees(struct serving *serving, int client, const char *text)
{
    struct acog_buffer *came = &serving->came;
    char piece[65536];
    for (int i = 0; i < SERVING_TURNS_MAX; i++) {
        turn(serving);
        ssize_t got = recv(client, piece, sizeof(piece), MSG_DONTWAIT);
        if (got > 0) {
            assert_int_equal(acog_buffer_append(came, (struct acog_view){piece, (size_t)got}),
                             ACOG_OK);
        }
        size_t from = came->len > (size_t)(got > 0 ? got : 0) + strlen(text)
                          ? came->len - (size_t)(got > 0 ? got : 0) - strlen(text)
                          : 0;
        struct acog_view fresh = acog_view_slice(acog_buffer_view(came), from, came->len);
        if (acog_view_find(fresh, acog_view_of(text)) < fresh.len) {
            return true;
        }
        if (got == 0 || (got < 0 && errno != EAGAIN)) {
            return false;
        }
        if (got < 0) {
            struct pollfd readable = {.fd = client, .events = POLLIN};
            (void)poll(&readable, 1, 1);
        }
    }
    fail_msg("%s did not come, but %.*s", text, (int)came->len, came->ptr);
    return false;
}

/* Turns the loop until `count` requests run. */
static inline void until_running(struct serving *serving, size_t count)
{
    for (int i = 0; i < SERVING_TURNS_MAX; i++) {
        turn(serving);
        if (serving->worker->running_count == count) {
            return;
        }
        (void)poll(NULL, 0, 1);
    }
    fail_msg("%zu requests run, not %zu", serving->worker->running_count, count);
}

#endif
