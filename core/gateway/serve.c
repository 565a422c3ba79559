/* serve.c - the life of a gateway, from its configuration to its end (drawn in gateway.h). */
#include "acog/contract.h"
#include "acog/gateway.h"
#include "acog/memory.h"
#include "acog/policy.h"
#include "acog/time.h"
#include "acog/upstream.h"
#include "address.h"
#include "admin.h"
#include "certificates.h"
#include "findings.h"
#include "metrics.h"
#include "process.h"
#include "receipts.h"
#include "service.h"
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#define LOG_QUEUE_BYTES_MAX ((size_t)4 << 20)
#define LOG_LINGER_MS       50
#define LOG_CLOSE_MS        2000

enum life {
    ACOG_LIFE_STARTING = 0,
    ACOG_LIFE_SERVING,
    ACOG_LIFE_DRAINING,
    ACOG_LIFE_CUTTING_OFF, /* what is still under way */
};

struct gateway {
    struct acog_service service;
    struct acog_listener listen;
    struct acog_listener admin_listen;
    bool has_admin;
    int log_fd;
    size_t worker_count;
    size_t started;
    size_t ended;
    struct acog_worker *workers[ACOG_WORKERS_MAX];
    struct acog_admin *admin;
    struct acog_certificates certificates;
    struct event_base *base;
    struct event terminate;
    struct event interrupt;
    struct event worker_ended;
    struct event drain_over;
    enum life life;
    bool hurried; /* by a second signal */
    bool upstream_ready;
};

/* -- the end ------------------------------------------------------------------------------------------ */

static void log_life(const struct gateway *gateway, const char *event, const char *why)
{
    const struct acog_log_field fields[] = {
        acog_log_text("why", acog_view_of(why)),
        acog_log_number("workers", (int64_t)gateway->worker_count),
    };
    acog_log_write(gateway->service.log, ACOG_LOG_INFO, event, fields,
                   sizeof(fields) / sizeof(fields[0]));
}

static void tell_all(struct gateway *gateway, enum acog_worker_order order)
{
    for (size_t i = 0; i < gateway->started; i++) {
        acog_worker_tell(gateway->workers[i], order);
    }
}

static void begin_drain(struct gateway *gateway)
{
    int64_t drain_ms = gateway->service.snapshot->limits.drain_ms;
    const struct timeval time = acog_time_wait(drain_ms);
    gateway->life = ACOG_LIFE_DRAINING;
    atomic_store_explicit(&gateway->service.state, ACOG_SERVICE_DRAINING, memory_order_relaxed);
    log_life(gateway, "draining", "a signal");
    tell_all(gateway, ACOG_WORKER_DRAIN);
    (void)evtimer_add(&gateway->drain_over, &time);
}

static void end_now(struct gateway *gateway, const char *why)
{
    gateway->life = ACOG_LIFE_CUTTING_OFF;
    log_life(gateway, "cutting_off", why);
    tell_all(gateway, ACOG_WORKER_STOP);
}

static void on_signal(evutil_socket_t number, short what, void *user)
{
    (void)what;
    struct gateway *gateway = user;
    switch (gateway->life) {
    case ACOG_LIFE_SERVING:
        begin_drain(gateway);
        return;
    case ACOG_LIFE_DRAINING:
    case ACOG_LIFE_CUTTING_OFF:
        gateway->hurried = true;
        end_now(gateway, "a second signal");
        (void)event_del(&gateway->terminate); /* the next one has its usual effect */
        (void)event_del(&gateway->interrupt);
        return;
    case ACOG_LIFE_STARTING: /* the loop does not run yet */
        break;
    }
    (void)number;
    ACOG_UNREACHABLE("unknown life");
}

static void on_drain_over(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    struct gateway *gateway = user;
    if (gateway->life == ACOG_LIFE_DRAINING) {
        end_now(gateway, "limits.drain_ms is over");
    }
}

static void on_worker_ended(evutil_socket_t fd, short what, void *user)
{
    (void)what;
    struct gateway *gateway = user;
    uint64_t count = 0;
    if (read((int)fd, &count, sizeof(count)) == (ssize_t)sizeof(count)) {
        gateway->ended += count;
    }
    if (gateway->ended >= gateway->started) {
        (void)event_base_loopbreak(gateway->base);
    }
}

/* -- the beginning ------------------------------------------------------------------------------------ */

static enum acog_code load(struct gateway *gateway, const char *path, struct acog_error *error)
{
    struct acog_report report;
    const struct acog_policy_options options = {.path = path};
    acog_report_init(&report);
    enum acog_code code =
        acog_policy_load(&options, gateway->service.shared, &gateway->service.snapshot, &report);
    acog_findings_print(&report, stderr);
    acog_report_fini(&report);
    return code == ACOG_OK ? ACOG_OK : acog_error_set(error, code, "%s was not loaded", path);
}

static enum acog_code open_log(struct gateway *gateway, const struct acog_serve_options *options,
                               struct acog_error *error)
{
    gateway->log_fd = STDERR_FILENO;
    if (options->log_path != NULL) {
        gateway->log_fd =
            open(options->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (gateway->log_fd < 0) {
            char reason[128];
            return acog_error_set(error, ACOG_IO, "cannot write the log %s: %s", options->log_path,
                                  strerror_r(errno, reason, sizeof(reason)));
        }
    }
    const struct acog_log_options log_options = {.fd = gateway->log_fd,
                                                 .level = options->log_level,
                                                 .queue_bytes_max = LOG_QUEUE_BYTES_MAX,
                                                 .linger_ms = LOG_LINGER_MS,
                                                 .close_ms = LOG_CLOSE_MS};
    gateway->service.log = acog_log_new(&log_options, error);
    return gateway->service.log == NULL ? error->code : ACOG_OK;
}

static size_t count_workers(uint32_t asked, uint32_t configured)
{
    if (asked > 0) {
        return asked;
    }
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = configured > 0 ? configured : (size_t)(processors > 0 ? processors : 1);
    return count > ACOG_WORKERS_MAX ? ACOG_WORKERS_MAX : count;
}

/* An address of the command line takes the place of the configured one, but not of its TLS: nobody who asks for
 * another port asks for plain HTTP. */
static void choose_addresses(struct gateway *gateway, const struct acog_serve_options *options)
{
    const struct acog_snapshot *snapshot = gateway->service.snapshot;
    gateway->listen = options->has_listen ? options->listen : snapshot->listen;
    gateway->listen.tls = snapshot->listen.tls;
    gateway->has_admin = options->has_admin || snapshot->has_admin;
    gateway->admin_listen = options->has_admin ? options->admin : snapshot->admin;
    gateway->admin_listen.tls = snapshot->admin.tls;
}

/* What was asked for on the command line goes before the configuration. */
static enum acog_code choose(struct gateway *gateway, const struct acog_serve_options *options,
                             struct acog_error *error)
{
    const struct acog_snapshot *snapshot = gateway->service.snapshot;
    choose_addresses(gateway, options);
    gateway->worker_count = count_workers(options->workers, snapshot->workers);
    if (!acog_listener_is_local(&gateway->listen) &&
        gateway->listen.tls.client_certificates != ACOG_CLIENT_CERTIFICATES_REQUIRED) {
        return acog_error_set(error, ACOG_INVALID,
                              "cannot listen on %.*s: without keys of its own the gateway serves "
                              "loopback addresses and unix sockets only, or clients that must "
                              "show a certificate",
                              ACOG_VIEW_FMT(gateway->listen.host));
    }
    gateway->service.metrics = acog_metrics_new(gateway->worker_count, snapshot->connection_count);
    gateway->service.listener = &gateway->listen;
    if (snapshot->limits.records > 0) {
        gateway->service.receipts = acog_receipts_new(snapshot->limits.records);
        if (gateway->service.receipts == NULL) {
            return acog_error_set(error, ACOG_NO_MEMORY, "out of memory for limits.records");
        }
    }
    return gateway->service.metrics == NULL ? acog_error_set(error, ACOG_NO_MEMORY, "out of memory")
                                            : ACOG_OK;
}

static enum acog_code add_signal(struct gateway *gateway, struct event *event, int number)
{
    bool added = evsignal_assign(event, gateway->base, number, on_signal, gateway) == 0 &&
                 evsignal_add(event, NULL) == 0;
    return added ? ACOG_OK : ACOG_IO;
}

static enum acog_code make_loop(struct gateway *gateway, struct acog_error *error)
{
    gateway->base = event_base_new();
    gateway->service.ended_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (gateway->base == NULL || gateway->service.ended_fd < 0) {
        return acog_error_set(error, ACOG_IO, "no event loop");
    }
    (void)evtimer_assign(&gateway->drain_over, gateway->base, on_drain_over, gateway);
    (void)event_assign(&gateway->worker_ended, gateway->base, gateway->service.ended_fd,
                       EV_READ | EV_PERSIST, on_worker_ended, gateway);
    if (event_add(&gateway->worker_ended, NULL) != 0 ||
        add_signal(gateway, &gateway->terminate, SIGTERM) != ACOG_OK ||
        add_signal(gateway, &gateway->interrupt, SIGINT) != ACOG_OK) {
        return acog_error_set(error, ACOG_IO, "no signal handlers");
    }
    return ACOG_OK;
}

static enum acog_code load_certificates(struct gateway *gateway, struct acog_error *error)
{
    struct acog_certificates *certificates = &gateway->certificates;
    struct acog_service *service = &gateway->service;
    int64_t now_ms = acog_now_ms();
    acog_certificates_init(certificates, service->log);
    enum acog_code code = acog_certificates_load(certificates, "listen", &gateway->listen.tls,
                                                 now_ms, &service->listen_tls, error);
    if (code == ACOG_OK && gateway->has_admin) {
        code = acog_certificates_load(certificates, "admin", &gateway->admin_listen.tls, now_ms,
                                      &service->admin_tls, error);
    }
    return code == ACOG_OK ? acog_certificates_watch(certificates, gateway->base, error) : code;
}

static enum acog_code make_workers(struct gateway *gateway, struct acog_error *error)
{
    int sockets[ACOG_WORKERS_MAX];
    uint16_t port = 0;
    enum acog_code code =
        acog_listener_open(&gateway->listen, sockets, gateway->worker_count, &port, error);
    if (code != ACOG_OK) {
        return code;
    }
    acog_listener_text(&gateway->listen, port, gateway->service.listen_text,
                       sizeof(gateway->service.listen_text));
    for (size_t i = 0; i < gateway->worker_count; i++) {
        if (code != ACOG_OK) {
            (void)close(sockets[i]);
            continue;
        }
        gateway->workers[i] = acog_worker_new(&gateway->service, (unsigned)i, sockets[i],
                                              gateway->worker_count, error);
        code = gateway->workers[i] == NULL ? error->code : ACOG_OK;
    }
    return code;
}

static enum acog_code make_admin(struct gateway *gateway, struct acog_error *error)
{
    int socket = -1;
    uint16_t port = 0;
    if (!gateway->has_admin) {
        return ACOG_OK;
    }
    enum acog_code code = acog_listener_open(&gateway->admin_listen, &socket, 1, &port, error);
    if (code != ACOG_OK) {
        return code;
    }
    acog_listener_text(&gateway->admin_listen, port, gateway->service.admin_text,
                       sizeof(gateway->service.admin_text));
    gateway->admin =
        acog_admin_new(gateway->base, &gateway->service, &gateway->admin_listen, socket, error);
    return gateway->admin == NULL ? error->code : ACOG_OK;
}

static enum acog_code start_workers(struct gateway *gateway, struct acog_error *error)
{
    for (size_t i = 0; i < gateway->worker_count; i++) {
        enum acog_code code = acog_worker_start(gateway->workers[i], error);
        if (code != ACOG_OK) {
            return code;
        }
        gateway->started++;
    }
    return ACOG_OK;
}

static void say_ready(const struct gateway *gateway)
{
    const struct acog_service *service = &gateway->service;
    const struct acog_log_field fields[] = {
        acog_log_text("version", ACOG_VIEW(ACOG_VERSION)),
        acog_log_text("listen", acog_view_of(service->listen_text)),
        acog_log_flag("tls", service->listen_tls != NULL),
        acog_log_text("admin", acog_view_of(service->admin_text)),
        acog_log_number("workers", (int64_t)gateway->worker_count),
        acog_log_text("configuration", service->snapshot->hash),
        acog_log_text("policy", service->snapshot->policy.name),
    };
    acog_log_write(service->log, ACOG_LOG_INFO, "started", fields,
                   sizeof(fields) / sizeof(fields[0]));
    (void)printf("READY listen=%s%s%s\n", service->listen_text, gateway->has_admin ? " admin=" : "",
                 service->admin_text);
    (void)fflush(stdout);
}

/* All that must stand before the first request, in this order. */
static enum acog_code make(struct gateway *gateway, const struct acog_serve_options *options,
                           struct acog_error *error)
{
    gateway->service.shared = acog_shared_new();
    if (gateway->service.shared == NULL) {
        return acog_error_set(error, ACOG_NO_MEMORY, "out of memory");
    }
    enum acog_code code = load(gateway, options->path, error);
    if (code == ACOG_OK) {
        code = choose(gateway, options, error);
    }
    if (code == ACOG_OK) {
        code = open_log(gateway, options, error);
    }
    if (code == ACOG_OK) {
        code = acog_upstream_global_init(error);
        gateway->upstream_ready = code == ACOG_OK;
    }
    if (code == ACOG_OK) {
        code = make_loop(gateway, error);
    }
    if (code == ACOG_OK) {
        code = load_certificates(gateway, error);
    }
    if (code == ACOG_OK) {
        code = make_workers(gateway, error);
    }
    if (code == ACOG_OK) {
        code = make_admin(gateway, error);
    }
    return code == ACOG_OK ? start_workers(gateway, error) : code;
}

static void free_workers(struct gateway *gateway)
{
    for (size_t i = 0; i < gateway->started; i++) {
        acog_worker_tell(gateway->workers[i], ACOG_WORKER_STOP);
        acog_worker_join(gateway->workers[i]);
    }
    for (size_t i = 0; i < gateway->worker_count; i++) {
        if (gateway->workers[i] != NULL) {
            acog_worker_free(&gateway->workers[i]);
        }
    }
    if (gateway->service.listen_text[0] != '\0') {
        acog_listener_remove(&gateway->listen);
    }
    if (gateway->service.admin_text[0] != '\0') {
        acog_listener_remove(&gateway->admin_listen);
    }
}

static void free_loop(struct gateway *gateway)
{
    if (gateway->base == NULL) {
        return;
    }
    struct event *const events[] = {&gateway->drain_over, &gateway->worker_ended,
                                    &gateway->terminate, &gateway->interrupt};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (event_initialized(events[i]) != 0) {
            (void)event_del(events[i]);
        }
    }
    event_base_free(gateway->base);
    (void)close(gateway->service.ended_fd);
}

static void unmake(struct gateway *gateway)
{
    acog_admin_free(&gateway->admin);
    free_workers(gateway); /* with a line for each request that is cut off */
    if (gateway->life != ACOG_LIFE_STARTING) {
        log_life(gateway, "ended",
                 gateway->life == ACOG_LIFE_CUTTING_OFF ? "requests were cut off" : "drained");
    }
    acog_certificates_fini(&gateway->certificates);
    free_loop(gateway);
    if (gateway->upstream_ready) {
        acog_upstream_global_fini();
    }
    acog_log_free(&gateway->service.log);
    if (gateway->log_fd > STDERR_FILENO) {
        (void)close(gateway->log_fd);
    }
    acog_metrics_free(&gateway->service.metrics);
    acog_receipts_free(&gateway->service.receipts);
    if (gateway->service.snapshot != NULL) {
        acog_snapshot_unref(&gateway->service.snapshot);
    }
    if (gateway->service.shared != NULL) {
        acog_shared_free(&gateway->service.shared);
    }
}

static void prepare_process(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGHUP, &ignore, NULL);
    (void)acog_process_raise_fds();
}

bool acog_serve(const struct acog_serve_options *options)
{
    struct acog_error error = {.code = ACOG_OK};
    struct gateway *gateway = acog_new(sizeof(*gateway));
    if (gateway == NULL) {
        (void)fprintf(stderr, "acog serve: out of memory\n");
        return false;
    }
    prepare_process();
    gateway->log_fd = -1;
    gateway->service.path = options->path;
    gateway->service.started_ms = acog_now_ms();
    gateway->service.started_unix_ms = acog_unix_ms();
    enum acog_code code = make(gateway, options, &error);
    if (code == ACOG_OK) {
        gateway->life = ACOG_LIFE_SERVING;
        say_ready(gateway);
        (void)event_base_dispatch(gateway->base);
    } else {
        (void)fprintf(stderr, "acog serve: %s\n", error.text);
    }
    bool good = code == ACOG_OK && !gateway->hurried;
    unmake(gateway);
    acog_free(gateway);
    return good;
}
