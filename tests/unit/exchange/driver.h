/* driver.h - a driver of the exchange for its tests: a configuration of rows made by hand, and one request at a time,
 * whose commands are performed into plain text that a test can compare. Time is what the test says.
 *
 * It checks on the way what every driver relies on: one head, one end, nothing after the end, FINISHED last, no
 * CANCEL of what is not running.
 */
#ifndef ACOG_TESTS_UNIT_EXCHANGE_DRIVER_H
#define ACOG_TESTS_UNIT_EXCHANGE_DRIVER_H

#include "acog/buffer.h"
#include "acog/exchange.h"
#include "tests/support/check.h"
#include "tests/support/engine_rows.h"
#include "tests/support/memory_sweep.h"

#include <stdlib.h>
#include <string.h>

#define DRIVER_SENDS 8

struct driver_send {
    struct acog_buffer body;
    struct acog_buffer headers; /* "name: value\n" … */
    char connection[1024];
    char model[1024];
    char query[64];
    uint64_t body_bytes;
    bool stream;
    bool fresh;
    bool running;
    bool cancelled;
};

struct driver {
    struct engine_rows *rows; /* owned; the two below are parts of it */
    struct acog_snapshot *snapshot;
    struct acog_connection
        *connections; /* "one" and "two", both with the model "m", sent as "m-1" */
    struct acog_candidate *candidates;
    struct acog_listed_model models[2];
    struct acog_response_header response_headers[16];
    struct acog_view client_headers[2];
    struct acog_exchange *exchange;
    char *body; /* of the request */
    int64_t now_ms;
    uint64_t seed;
    bool draining;
    bool remote; /* the client is on another machine */
    enum acog_code (*find_record)(void *user, struct acog_view request_id, struct acog_buffer *out);
    struct acog_buffer *transcript;
    /* what was commanded */
    struct driver_send sends[DRIVER_SENDS];
    size_t send_count;
    unsigned status;
    struct acog_buffer headers;
    size_t header_count;
    int64_t content_length;
    struct acog_buffer reply;
    size_t data_commands;
    bool ended;
    bool aborted;
    bool finished;
    size_t asks;
};

/* -- the snapshot's reference, which core/policy defines for the product ----------------------------- */

struct acog_snapshot *acog_snapshot_ref(struct acog_snapshot *snapshot)
{
    return snapshot;
}

void acog_snapshot_unref(struct acog_snapshot **snapshot)
{
    *snapshot = NULL;
}

/* -- rows ------------------------------------------------------------------------------------------ */

/* The default policy, without what would make a test wait or depend on chance: no backoff, catalogue order. */
static inline void driver_fill_policy(struct driver *driver)
{
    struct acog_policy *policy = &driver->snapshot->policy;
    policy->name = ACOG_VIEW("test");
    policy->backoff = (struct acog_backoff){.kind = ACOG_BACKOFF_NONE};
    policy->attempts.max = 2;
    policy->health.mode = ACOG_HEALTH_OFF; /* a test makes many requests fail */
    policy->order[0] = (struct acog_order_key){.kind = ACOG_ORDER_CATALOGUE, .slot = ACOG_NO_SLOT};
    policy->order_count = 1;
    policy->refusal = (struct acog_refusal){0};
    policy->bad_event_drops = true;
    policy->commit.held_bytes_max = (size_t)64 * 1024;
    memset(policy->reads_body, 0xff, sizeof(policy->reads_body));
#define ACOG_CONDITION(name_, text_, status_, code_, message_)      \
    policy->errors[ACOG_CONDITION_##name_].status = (status_);      \
    policy->errors[ACOG_CONDITION_##name_].code = ACOG_VIEW(code_); \
    policy->errors[ACOG_CONDITION_##name_].message = ACOG_VIEW(message_);
#include "acog/condition.def"
#undef ACOG_CONDITION
    driver->response_headers[0] = (struct acog_response_header){
        .fact = ACOG_FACT_CONNECTION, .name = ACOG_VIEW("x-acog-connection")};
    driver->response_headers[1] = (struct acog_response_header){
        .fact = ACOG_FACT_RESOLVED_MODEL, .name = ACOG_VIEW("x-acog-resolved-model")};
    driver->response_headers[2] = (struct acog_response_header){
        .fact = ACOG_FACT_ATTEMPTS, .name = ACOG_VIEW("x-acog-attempts")};
    driver->response_headers[3] = (struct acog_response_header){
        .fact = ACOG_FACT_DROPPED_PARAMS, .name = ACOG_VIEW("x-acog-dropped-params")};
    driver->response_headers[4] = (struct acog_response_header){
        .fact = ACOG_FACT_POLICY_FALLBACK, .name = ACOG_VIEW("x-acog-policy-fallback")};
    policy->response_headers = driver->response_headers;
    policy->response_header_count = 5;
}

static inline void driver_fill_rows(struct driver *driver)
{
    struct engine_rows *rows = engine_rows_new(ENGINE_POLICY_ACOG);
    driver->rows = rows;
    driver->snapshot = &rows->snapshot;
    driver->snapshot->limits = (struct acog_limits){
        .json_depth = 64, .event_bytes = (size_t)64 * 1024, .answer_bytes = (size_t)1024 * 1024};
    driver_fill_policy(driver);
    (void)engine_rows_add(rows, "one", ACOG_CHANNEL_DIRECT, "m");
    (void)engine_rows_add(rows, "two", ACOG_CHANNEL_VERTEX, "m");
    driver->connections = rows->connections;
    driver->candidates = rows->candidates;
    for (size_t i = 0; i < 2; i++) {
        driver->candidates[i].send_id = ACOG_VIEW("m-1");
        driver->connections[i].key = i == 0 ? ACOG_VIEW("sk-secret-of-one-0123456789")
                                            : ACOG_VIEW("sk-secret-of-two-0123456789");
    }
    driver->models[0] = (struct acog_listed_model){ACOG_VIEW("m"), ACOG_VIEW("acog")};
    driver->models[1] = (struct acog_listed_model){ACOG_VIEW("a/b@1"), ACOG_VIEW("maker")};
    driver->snapshot->models = driver->models;
    driver->snapshot->model_count = 2;
}

/* -- life ------------------------------------------------------------------------------------------ */

static inline void driver_init(struct driver *driver)
{
    memset(driver, 0, sizeof(*driver));
    driver->exchange = acog_exchange_new();
    assert_non_null(driver->exchange);
    driver->now_ms = 1000;
    driver->seed = 7;
    driver_fill_rows(driver);
    acog_buffer_init(&driver->headers, (size_t)64 * 1024);
    acog_buffer_init(&driver->reply, (size_t)8 * 1024 * 1024);
    for (size_t i = 0; i < DRIVER_SENDS; i++) {
        acog_buffer_init(&driver->sends[i].body, (size_t)8 * 1024 * 1024);
        acog_buffer_init(&driver->sends[i].headers, (size_t)64 * 1024);
    }
}

/* Ready for the next request, as a real driver would be. */
static inline void driver_again(struct driver *driver)
{
    acog_exchange_reset(driver->exchange);
    acog_buffer_clear(&driver->headers, 0);
    acog_buffer_clear(&driver->reply, 0);
    for (size_t i = 0; i < DRIVER_SENDS; i++) {
        struct acog_buffer body = driver->sends[i].body;
        struct acog_buffer headers = driver->sends[i].headers;
        acog_buffer_clear(&body, 0);
        acog_buffer_clear(&headers, 0);
        driver->sends[i] = (struct driver_send){.body = body, .headers = headers};
    }
    driver->send_count = 0;
    driver->status = 0;
    driver->data_commands = 0;
    driver->ended = false;
    driver->aborted = false;
    driver->finished = false;
    driver->asks = 0;
}

static inline void driver_fini(struct driver *driver)
{
    acog_exchange_free(&driver->exchange);
    assert_null(driver->exchange);
    free(driver->body);
    engine_rows_free(&driver->rows);
    acog_buffer_fini(&driver->headers);
    acog_buffer_fini(&driver->reply);
    for (size_t i = 0; i < DRIVER_SENDS; i++) {
        acog_buffer_fini(&driver->sends[i].body);
        acog_buffer_fini(&driver->sends[i].headers);
    }
}

/* -- commands -------------------------------------------------------------------------------------- */

static inline void driver_append(struct acog_buffer *out, struct acog_view text)
{
    assert_int_equal(acog_buffer_append(out, text), ACOG_OK);
}

static inline void driver_append_headers(struct acog_buffer *out,
                                         const struct acog_header_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        driver_append(out, rows[i].name);
        driver_append(out, ACOG_VIEW(": "));
        driver_append(out, rows[i].value);
        driver_append(out, ACOG_VIEW("\n"));
    }
}

static inline void driver_copy(char *out, size_t room, struct acog_view text)
{
    assert_true(text.len < room);
    memcpy(out, text.len == 0 ? "" : text.ptr, text.len);
    out[text.len] = '\0';
}

static inline void driver_send(struct driver *driver, const struct acog_command *command)
{
    const struct acog_upstream_order *order = command->order;
    assert_int_equal(command->attempt, driver->send_count + 1);
    assert_true(driver->send_count < DRIVER_SENDS);
    struct driver_send *send = &driver->sends[driver->send_count];
    driver->send_count++;
    for (size_t i = 0; i < order->piece_count; i++) {
        driver_append(&send->body, order->pieces[i]);
    }
    assert_int_equal(order->body_bytes, send->body.len);
    driver_append_headers(&send->headers, order->headers, order->header_count);
    driver_copy(send->connection, sizeof(send->connection), order->connection->id);
    driver_copy(send->model, sizeof(send->model), order->model);
    driver_copy(send->query, sizeof(send->query), order->query);
    send->stream = order->stream;
    send->fresh = order->fresh;
    send->running = true;
}

static inline void driver_perform(struct driver *driver, const struct acog_command *command)
{
    assert_false(driver->finished);
    switch (command->type) {
    case ACOG_COMMAND_ASK:
        driver->asks++;
        break;
    case ACOG_COMMAND_SEND:
        driver_send(driver, command);
        break;
    case ACOG_COMMAND_CANCEL:
        assert_in_range(command->attempt, 1, driver->send_count);
        assert_true(driver->sends[command->attempt - 1].running);
        driver->sends[command->attempt - 1].running = false;
        driver->sends[command->attempt - 1].cancelled = true;
        break;
    case ACOG_COMMAND_REPLY_HEAD:
        assert_int_equal(driver->status, 0);
        driver->status = command->head.status;
        driver->content_length = command->head.content_length;
        driver->header_count = command->head.header_count;
        driver_append_headers(&driver->headers, command->head.headers, command->head.header_count);
        break;
    case ACOG_COMMAND_REPLY_DATA:
        assert_int_not_equal(driver->status, 0);
        assert_false(driver->ended || driver->aborted);
        assert_int_not_equal(command->data.len, 0);
        driver->data_commands++;
        driver_append(&driver->reply, command->data);
        break;
    case ACOG_COMMAND_REPLY_END:
        assert_false(driver->ended || driver->aborted);
        driver->ended = true;
        break;
    case ACOG_COMMAND_REPLY_ABORT:
        assert_false(driver->ended || driver->aborted);
        driver->aborted = true;
        break;
    case ACOG_COMMAND_FINISHED:
        driver->finished = true;
        for (size_t i = 0; i < driver->send_count; i++) {
            assert_false(driver->sends[i].running);
        }
        break;
    }
}

/* What a driver does with the client's body as soon as it may. */
static inline void driver_drain(struct driver *driver)
{
    struct acog_command command;
    while (acog_exchange_next(driver->exchange, &command)) {
        memory_sweep_spare();
        driver_perform(driver, &command);
        memory_sweep_fail_again();
    }
    if (acog_exchange_body_done(driver->exchange)) {
        free(driver->body);
        driver->body = NULL;
    }
}

/* -- what happens ---------------------------------------------------------------------------------- */

static inline void driver_start(struct driver *driver, const char *method, const char *target,
                                const struct acog_header_row *headers, size_t header_count,
                                struct acog_view body)
{
    free(driver->body);
    driver->body = malloc(body.len + 1);
    assert_non_null(driver->body);
    for (size_t i = 0; i < body.len; i++) {
        driver->body[i] = body.ptr[i];
    }
    struct acog_exchange_start start = {.snapshot = driver->snapshot,
                                        .shared = &driver->rows->shared,
                                        .method = acog_view_of(method),
                                        .target = acog_view_of(target),
                                        .headers = headers,
                                        .header_count = header_count,
                                        .body = {.ptr = driver->body, .len = body.len},
                                        .now_ms = driver->now_ms,
                                        .unix_ms = INT64_C(1764500000000),
                                        .seed = driver->seed,
                                        .draining = driver->draining,
                                        .local = !driver->remote,
                                        .find_record = driver->find_record,
                                        .find_record_user = driver,
                                        .transcript = driver->transcript};
    acog_exchange_start(driver->exchange, &start);
    driver_drain(driver);
}

static inline void driver_post(struct driver *driver, const char *target, const char *body)
{
    driver_start(driver, "POST", target, NULL, 0, acog_view_of(body));
}

static inline void driver_connected(struct driver *driver, uint32_t attempt)
{
    acog_exchange_connected(driver->exchange, attempt, false, driver->now_ms);
    driver_drain(driver);
}

static inline void driver_head(struct driver *driver, uint32_t attempt, unsigned status,
                               const char *content_type)
{
    struct acog_header_row row = {ACOG_VIEW("content-type"), acog_view_of(content_type)};
    acog_exchange_upstream_sent(driver->exchange, attempt);
    acog_exchange_upstream_head(driver->exchange, attempt, status, &row,
                                content_type == NULL ? 0 : 1, driver->now_ms);
    driver_drain(driver);
}

/* From memory of its own that is wiped afterwards, as a driver's read buffer would be. */
static inline void driver_body(struct driver *driver, uint32_t attempt, struct acog_view bytes)
{
    static char memory[512 * 1024];
    assert_true(bytes.len <= sizeof(memory));
    for (size_t i = 0; i < bytes.len; i++) {
        memory[i] = bytes.ptr[i];
    }
    acog_exchange_upstream_body(driver->exchange, attempt,
                                (struct acog_view){.ptr = memory, .len = bytes.len},
                                driver->now_ms);
    driver_drain(driver);
    memset(memory, '#', bytes.len);
}

static inline void driver_text(struct driver *driver, uint32_t attempt, const char *text)
{
    driver_body(driver, attempt, acog_view_of(text));
}

static inline void driver_end(struct driver *driver, uint32_t attempt)
{
    driver->sends[attempt - 1].running = false;
    acog_exchange_upstream_end(driver->exchange, attempt, driver->now_ms);
    driver_drain(driver);
}

static inline void driver_failed(struct driver *driver, uint32_t attempt, enum acog_cause cause)
{
    driver->sends[attempt - 1].running = false;
    acog_exchange_upstream_failed(driver->exchange, attempt, cause, false, driver->now_ms);
    driver_drain(driver);
}

static inline void driver_gone(struct driver *driver)
{
    acog_exchange_client_gone(driver->exchange, driver->now_ms);
    driver_drain(driver);
}

static inline void driver_tick(struct driver *driver, int64_t later_ms)
{
    driver->now_ms += later_ms;
    acog_exchange_tick(driver->exchange, driver->now_ms);
    driver_drain(driver);
}

/* -- what came of it ------------------------------------------------------------------------------- */

static inline void driver_reply_is(const struct driver *driver, struct acog_view text)
{
    if (!acog_view_equal(acog_buffer_view(&driver->reply), text)) {
        print_error("reply:\n%.*s\nwanted:\n%.*s\n",
                    ACOG_VIEW_FMT(acog_buffer_view(&driver->reply)), ACOG_VIEW_FMT(text));
        fail();
    }
}

static inline bool driver_has(const struct acog_buffer *buffer, const char *text)
{
    return acog_view_find(acog_buffer_view(buffer), acog_view_of(text)) < buffer->len;
}

static inline size_t driver_count(struct acog_view text, const char *part)
{
    size_t count = 0;
    struct acog_view needle = acog_view_of(part);
    for (size_t at = acog_view_find(text, needle); at < text.len;
         at = acog_view_find(text, needle)) {
        count++;
        text = acog_view_slice(text, at + needle.len, text.len);
    }
    return count;
}

static inline void driver_header_is(const struct driver *driver, const char *line)
{
    if (!driver_has(&driver->headers, line)) {
        print_error("headers:\n%.*s\nwanted: %s\n",
                    ACOG_VIEW_FMT(acog_buffer_view(&driver->headers)), line);
        fail();
    }
}

#endif
