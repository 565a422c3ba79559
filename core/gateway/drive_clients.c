/* drive_clients.c - requests that come and clients that leave: a drive is taken for each, and kept for the next. */
#include "acog/contract.h"
#include "acog/memory.h"
#include "acog/random.h"
#include "acog/time.h"
#include "address.h"
#include "admin.h"
#include "drive_parts.h"
#include "receipts.h"

#include <event2/event.h>

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

void acog_drive_retire(struct acog_drive *drive)
{
    unlink_running(drive);
    keep_spare(drive);
}

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
        event_assign(&drive->timer, worker->base, -1, 0, acog_drive_on_timer, drive) != 0) {
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

/* -- requests ----------------------------------------------------------------------------------------- */

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

/* Records are for the operator and for whoever made the request: as long as there are no gateway keys to tell one caller
 * from another, for callers on this machine, and not for a page that a browser was made to open (DNS rebinding). */
static bool may_see_records(const struct acog_service *service, const struct acog_http_head *head)
{
    return service->listener != NULL && acog_listener_is_local(service->listener) &&
           acog_admin_host_allowed(
               acog_header_find(head->fields, head->field_count, ACOG_VIEW("host")),
               service->listener);
}

/* A name that was made to resolve to this machine lets a page of any site ask a loopback listener, as if it were of the
 * same origin (DNS rebinding). The browser still says whose page it is. A unix socket no browser reaches. */
static bool is_foreign_page(const struct acog_service *service, const struct acog_http_head *head)
{
    if (service->listener == NULL || service->listener->unix_socket.len > 0 ||
        !acog_listener_is_local(service->listener)) {
        return false;
    }
    struct acog_view origin =
        acog_header_find(head->fields, head->field_count, ACOG_VIEW("origin"));
    return origin.ptr != NULL && !acog_origin_is_local(origin);
}

static enum acog_code find_record(void *user, struct acog_view request_id, struct acog_buffer *out)
{
    return acog_receipts_find(user, request_id, out);
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
        .foreign_page = is_foreign_page(service, request->head),
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
    acog_drive_pump(drive);
}

static void leave(struct acog_drive *drive)
{
    drive->state = ACOG_DRIVE_GONE;
    drive->stream = NULL;
    if (drive->paused) { /* what comes now has no client to wait for */
        acog_drive_pause(drive, false);
    }
    acog_exchange_client_gone(drive->exchange, acog_now_ms());
    acog_drive_pump(drive);
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
        acog_drive_pause(drive, false);
        acog_exchange_client_full(drive->exchange, false, acog_now_ms());
        acog_drive_pump(drive);
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
        acog_drive_cancel_calls(drive);
        unlink_running(drive);
        drive_free(drive);
    }
}

void acog_drive_free_spares(struct acog_worker *worker)
{
    while (worker->spare != NULL) {
        struct acog_drive *drive = worker->spare;
        worker->spare = drive->next;
        worker->spare_count--;
        drive_free(drive);
    }
}

void acog_drive_end_all(struct acog_worker *worker)
{
    while (worker->running != NULL) {
        cut_off(worker->running);
    }
    acog_drive_free_spares(worker);
}
