/* drive.c - the loop between an exchange and the sockets: what happens upstream is told, what is commanded is done. */
#include "drive.h"

#include "acog/contract.h"
#include "acog/time.h"
#include "drive_parts.h"
#include "receipts.h"
#include "record.h"

#include <string.h>

#include <event2/event.h>

/* -- the upstream's events ---------------------------------------------------------------------------- */

static void on_connected(void *user, bool reused)
{
    struct acog_call_slot *slot = user;
    acog_exchange_connected(slot->drive->exchange, slot->attempt, reused, acog_now_ms());
    acog_drive_pump(slot->drive);
}

static void on_head(void *user, unsigned status, const struct acog_header_row *headers,
                    size_t count)
{
    struct acog_call_slot *slot = user;
    if (acog_upstream_sent(slot->call)) {
        acog_exchange_upstream_sent(slot->drive->exchange, slot->attempt);
    }
    acog_exchange_upstream_head(slot->drive->exchange, slot->attempt, status, headers, count,
                                acog_now_ms());
    acog_drive_pump(slot->drive);
}

static void on_body(void *user, struct acog_view bytes)
{
    struct acog_call_slot *slot = user;
    acog_exchange_upstream_body(slot->drive->exchange, slot->attempt, bytes, acog_now_ms());
    acog_drive_pump(slot->drive);
}

static void on_end(void *user)
{
    struct acog_call_slot *slot = user;
    slot->call = NULL;
    acog_exchange_upstream_end(slot->drive->exchange, slot->attempt, acog_now_ms());
    acog_drive_pump(slot->drive);
}

static struct acog_view connection_of(const struct acog_call_slot *slot)
{
    const struct acog_exchange_record *record = acog_exchange_record(slot->drive->exchange);
    if (record->request == NULL || slot->attempt > record->request->attempt_count) {
        return (struct acog_view){0};
    }
    uint16_t candidate = record->request->attempts[slot->attempt - 1].candidate;
    return record->snapshot->connections[record->snapshot->candidates[candidate].connection].id;
}

static void log_failure(const struct acog_call_slot *slot, enum acog_cause cause, const char *why)
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
    struct acog_call_slot *slot = user;
    struct acog_view text = acog_view_slice(acog_view_of(why), 0, ACOG_DRIVE_WHY_BYTES_MAX - 1);
    slot->call = NULL;
    if (text.len > 0) {
        memcpy(slot->drive->why, text.ptr, text.len);
    }
    slot->drive->why[text.len] = '\0';
    log_failure(slot, cause, why);
    acog_exchange_upstream_failed(slot->drive->exchange, slot->attempt, cause, reused_no_byte,
                                  acog_now_ms());
    acog_drive_pump(slot->drive);
}

static const struct acog_upstream_events upstream_events = {
    .connected = on_connected,
    .head = on_head,
    .body = on_body,
    .end = on_end,
    .failed = on_failed,
};

/* -- the exchange's commands -------------------------------------------------------------------------- */

static struct acog_call_slot *slot_of(struct acog_drive *drive, uint32_t attempt)
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
    struct acog_call_slot *slot = slot_of(drive, command->attempt);
    ACOG_ASSERT(slot->call == NULL);
    slot->drive = drive;
    slot->attempt = command->attempt;
    slot->call =
        acog_upstream_send(drive->worker->upstream, command->order, &upstream_events, slot);
    if (slot->call == NULL) {
        drive->unsent = command->attempt;
    }
}

static void cancel_call(struct acog_call_slot *slot)
{
    if (slot->call != NULL) {
        acog_upstream_cancel(&slot->call);
        slot->call = NULL;
    }
}

void acog_drive_cancel_calls(struct acog_drive *drive)
{
    for (size_t i = 0; i < ACOG_ATTEMPTS_MAX; i++) {
        cancel_call(&drive->calls[i]);
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
    case ACOG_COMMAND_FINISHED: /* acog_drive_acog_drive_pump() ends with it */
        break;
    }
    ACOG_UNREACHABLE("unknown acog_command_type");
}

/* -- the end ------------------------------------------------------------------------------------------ */

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
    enum acog_drive_state state = drive->state;
    struct acog_http_stream *stream = drive->stream;
    acog_drive_cancel_calls(drive);
    note(drive);
    acog_exchange_reset(drive->exchange);
    acog_drive_retire(drive);
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

void acog_drive_pause(struct acog_drive *drive, bool paused)
{
    drive->paused = paused;
    for (size_t i = 0; i < ACOG_ATTEMPTS_MAX; i++) {
        if (drive->calls[i].call != NULL) {
            acog_upstream_pause(drive->calls[i].call, paused);
        }
    }
}

/* -- the pump ----------------------------------------------------------------------------------------- */

/* Performs commands until there are none. True: the drive is over. */
static bool perform_all(struct acog_drive *drive)
{
    struct acog_command command;
    for (;;) {
        while (acog_exchange_next(drive->exchange, &command)) {
            if (command.type == ACOG_COMMAND_FINISHED) {
                finish(drive);
                return true;
            }
            perform(drive, &command);
        }
        if (drive->unsent == 0) {
            return false;
        }
        uint32_t attempt = drive->unsent;
        drive->unsent = 0;
        acog_exchange_upstream_failed(drive->exchange, attempt, ACOG_CAUSE_GATEWAY, false,
                                      acog_now_ms());
    }
}

/* False without memory: no time will come at which the request ends. */
static bool arm(struct acog_drive *drive)
{
    int64_t deadline = acog_exchange_deadline_ms(drive->exchange);
    if (deadline >= drive->timer_at_ms) {
        return true;
    }
    int64_t wait = deadline - acog_now_ms();
    wait = wait < 1 ? 1 : wait;
    const struct timeval time = acog_time_wait(wait);
    if (evtimer_add(&drive->timer, &time) != 0) {
        return false;
    }
    drive->timer_at_ms = deadline;
    return true;
}

/* Ends a request that has no clock: its client is cut off, and what the policy would read on without it fails. */
static void give_up(struct acog_drive *drive)
{
    if (drive->state == ACOG_DRIVE_OPEN) {
        acog_http_stream_set_user(drive->stream, NULL);
        acog_http_reply_abort(&drive->stream);
        drive->state = ACOG_DRIVE_GONE;
        acog_exchange_client_gone(drive->exchange, acog_now_ms());
        if (perform_all(drive)) {
            return;
        }
    }
    for (size_t i = 0; i < ACOG_ATTEMPTS_MAX; i++) {
        struct acog_call_slot *slot = &drive->calls[i];
        if (slot->call != NULL) {
            cancel_call(slot);
            acog_exchange_upstream_failed(drive->exchange, slot->attempt, ACOG_CAUSE_GATEWAY, false,
                                          acog_now_ms());
        }
    }
    (void)perform_all(drive);
}

void acog_drive_pump(struct acog_drive *drive)
{
    if (perform_all(drive)) {
        return;
    }
    if (drive->state == ACOG_DRIVE_OPEN && acog_exchange_body_done(drive->exchange)) {
        acog_http_request_forget_body(drive->stream);
    }
    if (!drive->paused && drive->state == ACOG_DRIVE_OPEN && acog_http_reply_full(drive->stream)) {
        acog_drive_pause(drive, true);
        acog_exchange_client_full(drive->exchange, true, acog_now_ms());
    }
    if (!arm(drive)) {
        give_up(drive);
    }
}

void acog_drive_on_timer(evutil_socket_t fd, short what, void *user)
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
        if (!arm(drive)) {
            give_up(drive);
        }
        return;
    }
    acog_exchange_tick(drive->exchange, now);
    acog_drive_pump(drive);
}
