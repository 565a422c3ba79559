/* drive.c - the loop between an exchange and the sockets. */
#include "drive.h"

#include "acog/arena.h"
#include "acog/contract.h"
#include "acog/exchange.h"
#include "acog/memory.h"
#include "acog/random.h"
#include "acog/time.h"
#include "address.h"
#include "admin.h"
#include "receipts.h"
#include "record.h"

#include <string.h>

#include <event2/event.h>

#define WHY_BYTES_MAX 160

enum drive_state {
    ACOG_DRIVE_SPARE = 0,
    ACOG_DRIVE_OPEN,
    ACOG_DRIVE_ENDED,
    ACOG_DRIVE_ABORTED,
    ACOG_DRIVE_GONE,
};

/* What an upstream's events find their attempt by. */
struct call_slot {
    struct acog_drive *drive;
    uint32_t attempt;
    struct acog_upstream_call *call; /* NULL: not under way */
};

struct acog_drive {
    struct acog_worker *worker;
    struct acog_drive *next; /* of the worker's list */
    struct acog_drive *before;
    enum drive_state state;
    struct acog_exchange *exchange;  /* owned for good */
    struct acog_http_stream *stream; /* NULL when SPARE or GONE */
    struct acog_view target;
    struct call_slot calls[ACOG_ATTEMPTS_MAX];
    uint32_t unsent; /* an attempt that found no memory, to be told after the commands; 0: none */
    bool paused;     /* the client is slow: the upstream is not read */
    struct event timer;
    int64_t timer_at_ms; /* INT64_MAX: not armed */
    struct acog_arena
        copy; /* of the client's request, where the policy reads on without the client */
    char why[WHY_BYTES_MAX];
};

static void pump(struct acog_drive *drive);

/* -- lists -------------------------------------------------------------------------------------------- */

static void link_running(struct acog_drive *drive)
{
    struct acog_worker *worker = drive->worker;
    drive->before = NULL;
    drive->next = worker->running;
    if (drive->next != NULL) {
        drive->next->before = drive;
    }
    worker->running = drive;
    worker->running_count++;
}

static void unlink_running(struct acog_drive *drive)
{
    struct acog_worker *worker = drive->worker;
    if (drive->before != NULL) {
        drive->before->next = drive->next;
    } else {
        worker->running = drive->next;
    }
    if (drive->next != NULL) {
        drive->next->before = drive->before;
    }
    worker->running_count--;
}

static void drive_free(struct acog_drive *drive)
{
    if (event_initialized(&drive->timer) != 0) {
        (void)event_del(&drive->timer);
    }
    acog_exchange_free(&drive->exchange);
    acog_arena_fini(&drive->copy);
    acog_free(drive);
}

static void keep_spare(struct acog_drive *drive)
{
    struct acog_worker *worker = drive->worker;
    drive->state = ACOG_DRIVE_SPARE;
    drive->stream = NULL;
    if (worker->spare_count >= ACOG_SPARE_DRIVES_MAX) {
        drive_free(drive);
        return;
    }
    acog_arena_reset(&drive->copy);
    drive->next = worker->spare;
    worker->spare = drive;
    worker->spare_count++;
}

/* -- clocks ------------------------------------------------------------------------------------------- */

static void arm(struct acog_drive *drive)
{
    int64_t deadline = acog_exchange_deadline_ms(drive->exchange);
    if (deadline >= drive->timer_at_ms) {
        return;
    }
    int64_t wait = deadline - acog_now_ms();
    wait = wait < 1 ? 1 : wait;
    const struct timeval time = acog_time_wait(wait);
    if (evtimer_add(&drive->timer, &time) == 0) {
        drive->timer_at_ms = deadline;
    }
}

static void on_timer(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    struct acog_drive *drive = user;
    drive->timer_at_ms = INT64_MAX;
    if (drive->state == ACOG_DRIVE_SPARE) {
        return;
    }
    int64_t now = acog_now_ms();
    if (now < acog_exchange_deadline_ms(drive->exchange)) {
        arm(drive);
        return;
    }
    acog_exchange_tick(drive->exchange, now);
    pump(drive);
}

/* -- the upstream's events ---------------------------------------------------------------------------- */

static void on_connected(void *user, bool reused)
{
    struct call_slot *slot = user;
    acog_exchange_connected(slot->drive->exchange, slot->attempt, reused, acog_now_ms());
    pump(slot->drive);
}

static void on_head(void *user, unsigned status, const struct acog_header_row *headers,
                    size_t count)
{
    struct call_slot *slot = user;
    acog_exchange_upstream_head(slot->drive->exchange, slot->attempt, status, headers, count,
                                acog_now_ms());
    pump(slot->drive);
}

static void on_body(void *user, struct acog_view bytes)
{
    struct call_slot *slot = user;
    acog_exchange_upstream_body(slot->drive->exchange, slot->attempt, bytes, acog_now_ms());
    pump(slot->drive);
}

static void on_end(void *user)
{
    struct call_slot *slot = user;
    slot->call = NULL;
    acog_exchange_upstream_end(slot->drive->exchange, slot->attempt, acog_now_ms());
    pump(slot->drive);
}

static struct acog_view connection_of(const struct call_slot *slot)
{
    const struct acog_exchange_record *record = acog_exchange_record(slot->drive->exchange);
    if (record->request == NULL || slot->attempt > record->request->attempt_count) {
        return (struct acog_view){0};
    }
    uint16_t candidate = record->request->attempts[slot->attempt - 1].candidate;
    return record->snapshot->connections[record->snapshot->candidates[candidate].connection].id;
}

static void log_failure(const struct call_slot *slot, enum acog_cause cause, const char *why)
{
    struct acog_log *log = slot->drive->worker->service->log;
    if (acog_log_wants(log, ACOG_LOG_DEBUG)) {
        const struct acog_log_field fields[] = {
            acog_log_text("request_id", acog_exchange_record(slot->drive->exchange)->request_id),
            acog_log_number("attempt", slot->attempt),
            acog_log_text("connection", connection_of(slot)),
            acog_log_text("cause", acog_name(ACOG_VOCABULARY_CAUSE, (int)cause)),
            acog_log_text("why", acog_view_of(why)),
        };
        acog_log_write(log, ACOG_LOG_DEBUG, "upstream_failed", fields,
                       sizeof(fields) / sizeof(fields[0]));
    }
}

static void on_failed(void *user, enum acog_cause cause, bool reused_no_byte, const char *why)
{
    struct call_slot *slot = user;
    struct acog_view text = acog_view_slice(acog_view_of(why), 0, WHY_BYTES_MAX - 1);
    slot->call = NULL;
    if (text.len > 0) {
        memcpy(slot->drive->why, text.ptr, text.len);
    }
    slot->drive->why[text.len] = '\0';
    log_failure(slot, cause, why);
    acog_exchange_upstream_failed(slot->drive->exchange, slot->attempt, cause, reused_no_byte,
                                  acog_now_ms());
    pump(slot->drive);
}

static const struct acog_upstream_events upstream_events = {
    .connected = on_connected,
    .head = on_head,
    .body = on_body,
    .end = on_end,
    .failed = on_failed,
};

/* -- the exchange's commands -------------------------------------------------------------------------- */

static struct call_slot *slot_of(struct acog_drive *drive, uint32_t attempt)
{
    ACOG_ASSERT(attempt > 0);
    ACOG_ASSERT(attempt <= ACOG_ATTEMPTS_MAX);
    return &drive->calls[attempt - 1];
}

static void ask(struct acog_drive *drive, const struct acog_ask *question)
{
    struct acog_worker *worker = drive->worker;
    struct acog_answer answer = {0};
    struct acog_error error = {.code = ACOG_OK};
    acog_policy_answer(worker->policy, question, &answer, &error);
    if (answer.failed) {
        const struct acog_log_field fields[] = {
            acog_log_text("request_id", acog_exchange_record(drive->exchange)->request_id),
            acog_log_text("place", acog_view_of(error.text)),
        };
        acog_count_add(&worker->counts->policy_failures, 1);
        acog_log_write(worker->service->log, ACOG_LOG_ERROR, "policy_error", fields,
                       sizeof(fields) / sizeof(fields[0]));
    }
    acog_exchange_policy_answered(drive->exchange, &answer, acog_now_ms());
}

static void send_order(struct acog_drive *drive, const struct acog_command *command)
{
    struct call_slot *slot = slot_of(drive, command->attempt);
    ACOG_ASSERT(slot->call == NULL);
    slot->drive = drive;
    slot->attempt = command->attempt;
    slot->call =
        acog_upstream_send(drive->worker->upstream, command->order, &upstream_events, slot);
    if (slot->call == NULL) {
        drive->unsent = command->attempt;
    }
}

static void cancel_call(struct call_slot *slot)
{
    if (slot->call != NULL) {
        acog_upstream_cancel(&slot->call);
        slot->call = NULL;
    }
}

static void reply_head(struct acog_drive *drive, const struct acog_reply_head *head)
{
    acog_http_reply_head(drive->stream, head->status, head->headers, head->header_count,
                         head->content_length);
}

/* Replies to a client that is gone have nowhere to go. */
static void reply(struct acog_drive *drive, const struct acog_command *command)
{
    if (drive->state != ACOG_DRIVE_OPEN) {
        return;
    }
    if (command->type == ACOG_COMMAND_REPLY_HEAD) {
        reply_head(drive, &command->head);
    } else if (command->type == ACOG_COMMAND_REPLY_DATA) {
        acog_http_reply_data(drive->stream, command->data);
    } else {
        drive->state =
            command->type == ACOG_COMMAND_REPLY_END ? ACOG_DRIVE_ENDED : ACOG_DRIVE_ABORTED;
    }
}

static void perform(struct acog_drive *drive, const struct acog_command *command)
{
    switch (command->type) {
    case ACOG_COMMAND_ASK:
        ask(drive, command->ask);
        return;
    case ACOG_COMMAND_SEND:
        send_order(drive, command);
        return;
    case ACOG_COMMAND_CANCEL:
        cancel_call(slot_of(drive, command->attempt));
        return;
    case ACOG_COMMAND_REPLY_HEAD:
    case ACOG_COMMAND_REPLY_DATA:
    case ACOG_COMMAND_REPLY_END:
    case ACOG_COMMAND_REPLY_ABORT:
        reply(drive, command);
        return;
    case ACOG_COMMAND_FINISHED: /* pump() ends with it */
        break;
    }
    ACOG_UNREACHABLE("unknown acog_command_type");
}

/* -- the end ------------------------------------------------------------------------------------------ */

/* Records are for the operator and for whoever made the request: as long as there are no gateway keys to tell one caller
 * from another, for callers on this machine, and not for a page that a browser was made to open (DNS rebinding). */
static bool may_see_records(const struct acog_service *service, const struct acog_http_head *head)
{
    return service->listener != NULL && acog_listener_is_local(service->listener) &&
           acog_admin_host_allowed(
               acog_header_find(head->fields, head->field_count, ACOG_VIEW("host")),
               service->listener);
}

static enum acog_code find_record(void *user, struct acog_view request_id, struct acog_buffer *out)
{
    return acog_receipts_find(user, request_id, out);
}

static void keep_record(struct acog_worker *worker, const struct acog_exchange_record *record)
{
    struct acog_receipts *receipts = worker->service->receipts;
    if (receipts == NULL || !record->routed) {
        return;
    }
    worker->receipt.len = 0;
    if (acog_exchange_render_record(record, &worker->receipt) == ACOG_OK) {
        acog_receipts_add(receipts, record->request_id, &worker->receipt);
    }
}

static void note(struct acog_drive *drive)
{
    struct acog_worker *worker = drive->worker;
    const struct acog_exchange_record *record = acog_exchange_record(drive->exchange);
    acog_metrics_note(worker->counts, worker->service->snapshot->connection_count, record);
    keep_record(worker, record);
    if (!acog_log_wants(worker->service->log, acog_record_level(record))) {
        return;
    }
    const struct acog_record_context context = {
        .target = drive->target, .why = acog_view_of(drive->why), .unix_ms = acog_unix_ms()};
    if (acog_record_line(record, &context, &worker->log_lines) == ACOG_OK) {
        worker->log_line_count++;
    }
}

/* The request is over: nobody may use `drive` after this. */
static void finish(struct acog_drive *drive)
{
    enum drive_state state = drive->state;
    struct acog_http_stream *stream = drive->stream;
    for (size_t i = 0; i < ACOG_ATTEMPTS_MAX; i++) {
        cancel_call(&drive->calls[i]);
    }
    note(drive);
    acog_exchange_reset(drive->exchange);
    unlink_running(drive);
    keep_spare(drive);
    switch (state) {
    case ACOG_DRIVE_ENDED:
        acog_http_stream_set_user(stream, NULL);
        acog_http_reply_end(&stream);
        return;
    case ACOG_DRIVE_ABORTED:
        acog_http_stream_set_user(stream, NULL);
        acog_http_reply_abort(&stream);
        return;
    case ACOG_DRIVE_GONE:
        return;
    case ACOG_DRIVE_SPARE:
    case ACOG_DRIVE_OPEN:
        break;
    }
    ACOG_UNREACHABLE("an exchange finished before its reply");
}

static void pause_calls(struct acog_drive *drive, bool paused)
{
    drive->paused = paused;
    for (size_t i = 0; i < ACOG_ATTEMPTS_MAX; i++) {
        if (drive->calls[i].call != NULL) {
            acog_upstream_pause(drive->calls[i].call, paused);
        }
    }
}

/* Performs commands until there are none. The drive may be over after this. */
static void pump(struct acog_drive *drive)
{
    struct acog_command command;
    for (;;) {
        while (acog_exchange_next(drive->exchange, &command)) {
            if (command.type == ACOG_COMMAND_FINISHED) {
                finish(drive);
                return;
            }
            perform(drive, &command);
        }
        if (drive->unsent == 0) {
            break;
        }
        uint32_t attempt = drive->unsent;
        drive->unsent = 0;
        acog_exchange_upstream_failed(drive->exchange, attempt, ACOG_CAUSE_GATEWAY, false,
                                      acog_now_ms());
    }
    if (!drive->paused && drive->state == ACOG_DRIVE_OPEN && acog_http_reply_full(drive->stream)) {
        pause_calls(drive, true);
        acog_exchange_client_full(drive->exchange, true, acog_now_ms());
    }
    arm(drive);
}

/* -- the client's events ------------------------------------------------------------------------------ */

static struct acog_drive *drive_new(struct acog_worker *worker)
{
    struct acog_drive *drive = acog_new(sizeof(*drive));
    if (drive == NULL) {
        return NULL;
    }
    const struct acog_limits *limits = &worker->service->snapshot->limits;
    drive->worker = worker;
    drive->timer_at_ms = INT64_MAX;
    acog_arena_init(&drive->copy, 4 * limits->head_bytes + limits->body_bytes +
                                      (size_t)ACOG_HTTP_FIELDS_MAX * 64);
    drive->exchange = acog_exchange_new();
    if (drive->exchange == NULL ||
        event_assign(&drive->timer, worker->base, -1, 0, on_timer, drive) != 0) {
        drive_free(drive);
        return NULL;
    }
    return drive;
}

static struct acog_drive *take_spare(struct acog_worker *worker)
{
    struct acog_drive *drive = worker->spare;
    if (drive == NULL) {
        return drive_new(worker);
    }
    worker->spare = drive->next;
    worker->spare_count--;
    return drive;
}

/* 503 without an exchange; the worker's buffer has room for it since the start. */
static void answer_overloaded(struct acog_worker *worker, struct acog_http_stream *stream,
                              struct acog_view target)
{
    struct acog_view id = acog_worker_make_id(worker);
    struct acog_header_row headers[4] = {
        {ACOG_VIEW("content-type"), ACOG_VIEW("application/json")},
        {ACOG_VIEW("retry-after"), ACOG_VIEW("1")},
    };
    size_t count = 2 + acog_exchange_id_rows(target, id, &headers[2]);
    acog_count_add(&worker->counts->refused, 1);
    worker->error_body.len = 0;
    unsigned status =
        acog_exchange_error_body(worker->service->snapshot, ACOG_CONDITION_OVERLOADED, target,
                                 (struct acog_view){0}, id, &worker->error_body);
    acog_http_reply_head(stream, status, headers, count, (int64_t)worker->error_body.len);
    acog_http_reply_data(stream, acog_buffer_view(&worker->error_body));
    acog_http_reply_end(&stream);
}

/* Moves what `start` points to into the drive's own memory. */
static enum acog_code copy_request(struct acog_drive *drive, struct acog_exchange_start *start)
{
    struct acog_header_row *rows =
        acog_arena_take(&drive->copy, start->header_count * sizeof(*rows) + 1);
    bool complete = rows != NULL;
    for (size_t i = 0; complete && i < start->header_count; i++) {
        rows[i].name = acog_arena_copy(&drive->copy, start->headers[i].name);
        rows[i].value = acog_arena_copy(&drive->copy, start->headers[i].value);
        complete = rows[i].name.ptr != NULL && rows[i].value.ptr != NULL;
    }
    start->method = acog_arena_copy(&drive->copy, start->method);
    start->target = acog_arena_copy(&drive->copy, start->target);
    start->body = acog_arena_copy(&drive->copy, start->body);
    start->headers = rows;
    complete = complete && start->method.ptr != NULL && start->target.ptr != NULL &&
               start->body.ptr != NULL;
    return complete ? ACOG_OK : ACOG_NO_MEMORY;
}

void acog_drive_begin(struct acog_worker *worker, struct acog_http_stream *stream,
                      const struct acog_http_request *request)
{
    struct acog_service *service = worker->service;
    struct acog_exchange_start start = {
        .snapshot = service->snapshot,
        .shared = service->shared,
        .method = request->head->method,
        .target = request->head->target,
        .headers = request->head->fields,
        .header_count = request->head->field_count,
        .body = request->body,
        .now_ms = acog_now_ms(),
        .unix_ms = acog_unix_ms(),
        .seed = acog_random_next(&worker->random),
        .draining = acog_service_state(service) == ACOG_SERVICE_DRAINING,
        .local = may_see_records(service, request->head),
        .find_record = service->receipts == NULL ? NULL : find_record,
        .find_record_user = service->receipts,
    };
    struct acog_drive *drive = take_spare(worker);
    if (drive == NULL) {
        answer_overloaded(worker, stream, start.target);
        return;
    }
    if (service->snapshot->policy.drain_ms > 0 && copy_request(drive, &start) != ACOG_OK) {
        keep_spare(drive);
        answer_overloaded(worker, stream, request->head->target);
        return;
    }
    drive->state = ACOG_DRIVE_OPEN;
    drive->stream = stream;
    drive->target = start.target;
    drive->unsent = 0;
    drive->paused = false;
    drive->why[0] = '\0';
    link_running(drive);
    acog_http_stream_set_user(stream, drive);
    acog_exchange_start(drive->exchange, &start);
    pump(drive);
}

static void leave(struct acog_drive *drive)
{
    drive->state = ACOG_DRIVE_GONE;
    drive->stream = NULL;
    if (drive->paused) { /* what comes now has no client to wait for */
        pause_calls(drive, false);
    }
    acog_exchange_client_gone(drive->exchange, acog_now_ms());
    pump(drive);
}

void acog_drive_gone(struct acog_http_stream *stream)
{
    struct acog_drive *drive = acog_http_stream_user(stream);
    if (drive != NULL) {
        leave(drive);
    }
}

void acog_drive_drained(struct acog_http_stream *stream)
{
    struct acog_drive *drive = acog_http_stream_user(stream);
    if (drive != NULL && drive->paused) {
        pause_calls(drive, false);
        acog_exchange_client_full(drive->exchange, false, acog_now_ms());
        pump(drive);
    }
}

/* -- shutdown ----------------------------------------------------------------------------------------- */

static void cut_off(struct acog_drive *drive)
{
    struct acog_worker *worker = drive->worker;
    if (drive->stream != NULL) {
        acog_http_stream_set_user(drive->stream, NULL);
        acog_http_reply_abort(&drive->stream);
    }
    size_t before = worker->running_count;
    leave(drive);
    if (worker->running_count == before) { /* the policy would read on */
        for (size_t i = 0; i < ACOG_ATTEMPTS_MAX; i++) {
            cancel_call(&drive->calls[i]);
        }
        unlink_running(drive);
        drive_free(drive);
    }
}

void acog_drive_end_all(struct acog_worker *worker)
{
    while (worker->running != NULL) {
        cut_off(worker->running);
    }
    while (worker->spare != NULL) {
        struct acog_drive *drive = worker->spare;
        worker->spare = drive->next;
        worker->spare_count--;
        drive_free(drive);
    }
}
