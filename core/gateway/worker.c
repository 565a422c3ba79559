/* worker.c - the loop of one worker, and what its server asks of it. */
#include "worker.h"

#include "acog/contract.h"
#include "acog/exchange.h"
#include "acog/memory.h"
#include "acog/time.h"
#include "drive.h"
#include "receipts.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <event2/event.h>

#define LOG_LINES_BYTES_MAX \
    ((size_t)1 << 20) /* of one turn of the loop; what does not fit is dropped */
#define ERROR_BODY_BYTES_MAX ((size_t)8192)
#define REST_MS              INT64_C(5000) /* without a request */
#define POOL_IDLE_MS         90000 /* providers close idle connections after 60 s and more */

/* -- the server's handler ----------------------------------------------------------------------------- */

static void on_request(void *user, struct acog_http_stream *stream,
                       const struct acog_http_request *request)
{
    acog_drive_begin(user, stream, request);
}

static void on_gone(void *user, struct acog_http_stream *stream)
{
    (void)user;
    acog_drive_gone(stream);
}

static void on_drained(void *user, struct acog_http_stream *stream)
{
    (void)user;
    acog_drive_drained(stream);
}

static enum acog_condition condition_of(unsigned status)
{
    switch (status) {
    case 408:
        return ACOG_CONDITION_TOO_SLOW;
    case 413:
        return ACOG_CONDITION_TOO_LARGE;
    case 431:
        return ACOG_CONDITION_HEAD_TOO_LARGE;
    case 503:
        return ACOG_CONDITION_OVERLOADED;
    default:
        return ACOG_CONDITION_INVALID_REQUEST;
    }
}

static void on_refuse(void *user, const struct acog_http_problem *problem, struct acog_view target,
                      struct acog_http_refusal *refusal)
{
    struct acog_worker *worker = user;
    struct acog_view id = acog_worker_make_id(worker);
    const struct acog_log_field fields[] = {
        acog_log_text("request_id", id),
        acog_log_number("status", (int64_t)problem->status),
        acog_log_text("why", acog_view_of(problem->what)),
    };
    acog_count_add(&worker->counts->refused, 1);
    acog_log_write(worker->service->log, ACOG_LOG_INFO, "refused", fields,
                   sizeof(fields) / sizeof(fields[0]));
    (void)acog_exchange_error_body(worker->service->snapshot, condition_of(problem->status), target,
                                   acog_view_of(problem->what), id, &refusal->body);
    refusal->rows = worker->refusal_rows;
    refusal->row_count = acog_exchange_id_rows(target, id, worker->refusal_rows);
    if (problem->status == 503) {
        worker->refusal_rows[refusal->row_count] =
            (struct acog_header_row){ACOG_VIEW("retry-after"), ACOG_VIEW("1")};
        refusal->row_count++;
    }
}

struct acog_view acog_worker_make_id(struct acog_worker *worker)
{
    acog_exchange_make_id(&worker->random, worker->refusal_id);
    return (struct acog_view){worker->refusal_id, sizeof(worker->refusal_id)};
}

static void on_tls_refused(void *user, const char *why)
{
    struct acog_worker *worker = user;
    const struct acog_log_field fields[] = {acog_log_text("why", acog_view_of(why))};
    acog_count_add(&worker->counts->tls_refused, 1);
    acog_log_write(worker->service->log, ACOG_LOG_INFO, "tls_refused", fields,
                   sizeof(fields) / sizeof(fields[0]));
}

/* -- orders ------------------------------------------------------------------------------------------- */

static void on_wake(evutil_socket_t fd, short what, void *user)
{
    (void)what;
    struct acog_worker *worker = user;
    uint64_t times;
    (void)!read((int)fd, &times, sizeof(times));
    enum acog_worker_order order =
        (enum acog_worker_order)atomic_load_explicit(&worker->order, memory_order_acquire);
    if (order >= ACOG_WORKER_DRAIN && worker->obeyed == ACOG_WORKER_SERVE) {
        acog_http_server_drain(worker->server);
    }
    worker->obeyed = order;
}

void acog_worker_tell(struct acog_worker *worker, enum acog_worker_order order)
{
    const uint64_t once = 1;
    atomic_store_explicit(&worker->order, (int)order, memory_order_release);
    (void)!write(worker->wake_fd, &once, sizeof(once));
}

/* -- rest --------------------------------------------------------------------------------------------- */

/* Whatever made the worker take memory. */
static uint64_t served(const struct acog_worker *worker)
{
    const struct acog_worker_counts *counts = worker->counts;
    return acog_count_get(&counts->requests) + acog_count_get(&counts->refused) +
           acog_count_get(&counts->tls_refused);
}

void acog_worker_rest(struct acog_worker *worker)
{
    worker->rested = served(worker);
    acog_drive_free_spares(worker);
    acog_http_server_rest(worker->server);
    acog_memory_give_back();
}

static void on_rest(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    struct acog_worker *worker = user;
    if (worker->running_count == 0 && served(worker) == worker->rest_wanted) {
        acog_worker_rest(worker);
    }
}

/* The first quiet turn after a request sets the timer; one that fires too early is set again in its own turn. */
static void plan_rest(struct acog_worker *worker)
{
    const struct timeval after = acog_time_wait(REST_MS);
    uint64_t now = served(worker);
    if (worker->running_count == 0 && now != worker->rested &&
        evtimer_pending(&worker->rest, NULL) == 0 && evtimer_add(&worker->rest, &after) == 0) {
        worker->rest_wanted = now;
    }
}

/* -- the loop ----------------------------------------------------------------------------------------- */

static void publish(struct acog_worker *worker)
{
    struct acog_worker_counts *counts = worker->counts;
    struct acog_upstream_counts upstream = acog_upstream_counts(worker->upstream);
    acog_count_set(&counts->in_flight, worker->running_count);
    acog_count_set(&counts->client_connections, acog_http_server_connections(worker->server));
    acog_count_set(&counts->upstream_connects, upstream.connects);
    acog_count_set(&counts->upstream_reuses, upstream.reuses);
    acog_count_set(&counts->upstream_connect_failures, upstream.connect_failures);
    acog_count_set(&counts->upstream_open, upstream.open);
    acog_count_set(&counts->upstream_idle, upstream.idle);
}

static void hand_over(struct acog_worker *worker)
{
    if (worker->log_line_count > 0) {
        acog_log_hand_over(worker->service->log, &worker->log_lines, worker->log_line_count);
        worker->log_line_count = 0;
    }
}

static bool is_over(const struct acog_worker *worker)
{
    switch (worker->obeyed) {
    case ACOG_WORKER_SERVE:
        return false;
    case ACOG_WORKER_DRAIN:
        return worker->running_count == 0 && acog_http_server_connections(worker->server) == 0;
    case ACOG_WORKER_STOP:
        return true;
    }
    ACOG_UNREACHABLE("unknown acog_worker_order");
}

static void *run(void *user)
{
    struct acog_worker *worker = user;
    const uint64_t once = 1;
    while (!is_over(worker) && event_base_loop(worker->base, EVLOOP_ONCE) == 0) {
        publish(worker);
        hand_over(worker);
        plan_rest(worker);
    }
    (void)!write(worker->service->ended_fd, &once, sizeof(once));
    return NULL;
}

/* Signals are the main thread's. */
enum acog_code acog_worker_start(struct acog_worker *worker, struct acog_error *error)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&worker->thread, NULL, run, worker);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result == 0 ? ACOG_OK
                       : acog_error_set(error, ACOG_IO, "no thread for worker %u: error %d",
                                        worker->number, result);
}

void acog_worker_join(struct acog_worker *worker)
{
    (void)pthread_join(worker->thread, NULL);
}

/* -- birth and death ---------------------------------------------------------------------------------- */

/* No lock (one thread), no precise timer (it would cost a system call a turn; deadlines are checked when they come). */
static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    if (config == NULL) {
        return NULL;
    }
    (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    struct event_base *base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static struct acog_http_server *make_server(struct acog_worker *worker, size_t worker_count,
                                            struct acog_error *error)
{
    const struct acog_limits *limits = &worker->service->snapshot->limits;
    const struct acog_http_server_options options = {
        .reader = {.head_bytes_max = limits->head_bytes,
                   .fields_max = limits->headers,
                   .body_bytes_max = limits->body_bytes},
        /* `limits.connections` is for all workers: each gets its share. */
        .connections_max = (limits->connections + worker_count - 1) / worker_count,
        .keep_alive_ms = limits->keep_alive_ms,
        .head_ms = limits->head_ms,
        .body_ms = limits->body_ms,
        .write_ms = limits->body_ms,
        .write_high_bytes = limits->write_high_bytes,
        .handler = {.user = worker,
                    .request = on_request,
                    .gone = on_gone,
                    .drained = on_drained,
                    .refuse = on_refuse,
                    .tls_refused = on_tls_refused},
    };
    return acog_http_server_new(worker->base, &options, error);
}

static struct acog_upstream *make_upstream(struct acog_worker *worker, struct acog_error *error)
{
    const struct acog_limits *limits = &worker->service->snapshot->limits;
    const struct acog_upstream_options options = {
        .pool_idle_max = limits->pool_idle,
        .pool_idle_ms = POOL_IDLE_MS,
        .head_bytes_max = limits->head_bytes,
        .fields_max = limits->headers,
        .decoded_bytes_max = limits->answer_bytes,
    };
    return acog_upstream_new(worker->base, &options, error);
}

static enum acog_code make_wake(struct acog_worker *worker, struct acog_error *error)
{
    worker->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (worker->wake_fd < 0 ||
        event_assign(&worker->wake, worker->base, worker->wake_fd, EV_READ | EV_PERSIST, on_wake,
                     worker) != 0 ||
        event_add(&worker->wake, NULL) != 0) {
        return acog_error_set(error, ACOG_IO, "no eventfd for worker %u", worker->number);
    }
    return ACOG_OK;
}

static enum acog_code make_parts(struct acog_worker *worker, size_t worker_count,
                                 struct acog_error *error)
{
    (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for worker %u", worker->number);
    if (getrandom(&worker->random, sizeof(worker->random), 0) != sizeof(worker->random)) {
        return acog_error_set(error, ACOG_IO, "the system gives no random numbers");
    }
    enum acog_code code = acog_buffer_reserve(&worker->error_body, ERROR_BODY_BYTES_MAX);
    worker->base = make_base();
    if (code != ACOG_OK || worker->base == NULL) {
        return ACOG_NO_MEMORY;
    }
    code = make_wake(worker, error);
    if (code != ACOG_OK) {
        return code;
    }
    (void)evtimer_assign(&worker->rest, worker->base, on_rest, worker);
    worker->upstream = make_upstream(worker, error);
    worker->policy =
        worker->upstream == NULL ? NULL : acog_policy_state_new(worker->service->snapshot, error);
    worker->server = worker->policy == NULL ? NULL : make_server(worker, worker_count, error);
    return worker->server == NULL ? ACOG_NO_MEMORY : ACOG_OK;
}

struct acog_worker *acog_worker_new(struct acog_service *service, unsigned number, int socket,
                                    size_t worker_count, struct acog_error *error)
{
    struct acog_worker *worker = acog_new(sizeof(*worker));
    if (worker == NULL) {
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for worker %u", number);
        (void)close(socket);
        return NULL;
    }
    worker->service = service;
    worker->number = number;
    worker->wake_fd = -1;
    worker->counts = service->metrics->workers[number];
    acog_buffer_init(&worker->log_lines, LOG_LINES_BYTES_MAX);
    acog_buffer_init(&worker->error_body, ERROR_BODY_BYTES_MAX);
    acog_buffer_init(&worker->receipt, ACOG_RECEIPT_BYTES_MAX);
    enum acog_code code = make_parts(worker, worker_count, error);
    if (code != ACOG_OK) {
        (void)close(socket);
    } else {
        code = acog_http_server_add_tls(worker->server, socket, service->listen_tls,
                                        error); /* takes it in any case */
    }
    if (code != ACOG_OK) {
        acog_worker_free(&worker);
    }
    return worker;
}

void acog_worker_free(struct acog_worker **worker)
{
    struct acog_worker *gone = *worker;
    acog_drive_end_all(gone);
    hand_over(gone);
    if (gone->server != NULL) {
        acog_http_server_free(&gone->server);
    }
    if (gone->upstream != NULL) {
        acog_upstream_free(&gone->upstream);
    }
    if (gone->policy != NULL) {
        acog_policy_state_free(&gone->policy);
    }
    if (event_initialized(&gone->rest) != 0) {
        (void)event_del(&gone->rest);
    }
    if (gone->wake_fd >= 0) {
        (void)event_del(&gone->wake);
        (void)close(gone->wake_fd);
    }
    if (gone->base != NULL) {
        event_base_free(gone->base);
    }
    acog_buffer_fini(&gone->log_lines);
    acog_buffer_fini(&gone->error_body);
    acog_buffer_fini(&gone->receipt);
    acog_free(gone);
    *worker = NULL;
}
