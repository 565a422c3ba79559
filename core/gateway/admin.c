/* admin.c - small pages, made when they are asked for. */
#include "admin.h"

#include "acog/buffer.h"
#include "acog/http.h"
#include "acog/memory.h"
#include "address.h"
#include "metrics.h"
#include "receipts.h"
#include "status.h"

#include <inttypes.h>
#include <unistd.h>

#define PAGE_BYTES_MAX   ((size_t)16 << 20)
#define CONNECTIONS_MAX  64
#define HEAD_BYTES_MAX   ((size_t)16384)
#define HEAD_FIELDS_MAX  64
#define BODY_BYTES_MAX   4096 /* of a GET: read and thrown away */
#define KEEP_ALIVE_MS    75000
#define REQUEST_MS       10000
#define WRITE_HIGH_BYTES ((size_t)1 << 20)
#define TEXT_TYPE        "text/plain; charset=utf-8"
#define METRICS_TYPE     "text/plain; version=0.0.4; charset=utf-8"
#define JSON_TYPE        "application/json"

struct acog_admin {
    const struct acog_service *service; /* lent */
    struct acog_listener listener;
    struct acog_http_server *server;
    struct acog_buffer page;
};

/* -- who may ask -------------------------------------------------------------------------------------- */

bool acog_admin_host_allowed(struct acog_view host, const struct acog_listener *listener)
{
    struct acog_view name = acog_host_without_port(host);
    if (listener->unix_socket.len > 0) {
        return true;
    }
    if (name.len == 0) {
        return false;
    }
    if (acog_host_is_loopback(name) || acog_view_equal_nocase(name, listener->host)) {
        return true;
    }
    return !acog_listener_is_local(listener) && acog_host_is_address(name);
}

/* -- pages -------------------------------------------------------------------------------------------- */

enum page {
    ACOG_PAGE_METRICS = 0,
    ACOG_PAGE_STATUS,
    ACOG_PAGE_HEALTH,
    ACOG_PAGE_READY,
    ACOG_PAGE_UNKNOWN,
};

/* The id whose record is asked for; empty: the target asks for none. */
static struct acog_view record_id(struct acog_view target)
{
    static const char *const starts[] = {"/v1/generation?id=", "/v1/receipts/"};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        struct acog_view start = acog_view_of(starts[i]);
        if (acog_view_starts(target, start)) {
            return acog_view_slice(target, start.len, target.len);
        }
    }
    return (struct acog_view){0};
}

static enum page find_page(struct acog_view target)
{
    static const char *const paths[] = {"/metrics", "/status.json", "/healthz", "/readyz"};
    const struct acog_view path = {.ptr = target.ptr,
                                   .len = acog_view_find(target, ACOG_VIEW("?"))};
    for (int i = 0; i < ACOG_PAGE_UNKNOWN; i++) {
        if (acog_view_equal(path, acog_view_of(paths[i]))) {
            return (enum page)i;
        }
    }
    return ACOG_PAGE_UNKNOWN;
}

static void send_page(struct acog_http_stream *stream, unsigned status, const char *type,
                      struct acog_view body)
{
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("content-type"), acog_view_of(type)},
        {ACOG_VIEW("cache-control"), ACOG_VIEW("no-store")},
        {ACOG_VIEW("x-content-type-options"), ACOG_VIEW("nosniff")},
        {ACOG_VIEW("allow"), ACOG_VIEW("GET")},
    };
    size_t count = sizeof(rows) / sizeof(rows[0]);
    acog_http_reply_head(stream, status, rows, status == 405 ? count : count - 1,
                         (int64_t)body.len);
    acog_http_reply_data(stream, body);
    acog_http_reply_end(&stream);
}

static void send_made(struct acog_admin *admin, struct acog_http_stream *stream,
                      enum acog_code code, const char *type)
{
    if (code == ACOG_OK) {
        send_page(stream, 200, type, acog_buffer_view(&admin->page));
    } else {
        send_page(stream, 500, TEXT_TYPE, ACOG_VIEW("the page could not be made\n"));
    }
    acog_buffer_clear(&admin->page, PAGE_BYTES_MAX / 64);
}

static void send_record(struct acog_admin *admin, struct acog_http_stream *stream,
                        struct acog_view id)
{
    struct acog_receipts *receipts = admin->service->receipts;
    enum acog_code code =
        receipts == NULL ? ACOG_NOT_FOUND : acog_receipts_find(receipts, id, &admin->page);
    if (code == ACOG_NOT_FOUND) {
        send_page(stream, 404, TEXT_TYPE, ACOG_VIEW("no record of that request is kept\n"));
    } else {
        send_made(admin, stream, code, JSON_TYPE);
    }
}

static void answer(struct acog_admin *admin, struct acog_http_stream *stream,
                   struct acog_view target)
{
    bool draining = acog_service_state(admin->service) == ACOG_SERVICE_DRAINING;
    struct acog_view id = record_id(target);
    if (id.len > 0) {
        send_record(admin, stream, id);
        return;
    }
    switch (find_page(target)) {
    case ACOG_PAGE_METRICS:
        send_made(admin, stream, acog_metrics_render(admin->service, acog_now_ms(), &admin->page),
                  METRICS_TYPE);
        return;
    case ACOG_PAGE_STATUS:
        send_made(admin, stream, acog_status_render(admin->service, acog_now_ms(), &admin->page),
                  JSON_TYPE);
        return;
    case ACOG_PAGE_HEALTH:
        send_page(stream, 200, TEXT_TYPE, ACOG_VIEW("ok\n"));
        return;
    case ACOG_PAGE_READY:
        send_page(stream, draining ? 503 : 200, TEXT_TYPE,
                  draining ? ACOG_VIEW("draining\n") : ACOG_VIEW("ready\n"));
        return;
    case ACOG_PAGE_UNKNOWN:
        break;
    }
    send_page(stream, 404, TEXT_TYPE,
              ACOG_VIEW("there are /metrics, /status.json, /healthz, /readyz, /v1/generation?id= "
                        "and /v1/receipts/ID\n"));
}

/* -- the server's handler ----------------------------------------------------------------------------- */

static void on_request(void *user, struct acog_http_stream *stream,
                       const struct acog_http_request *request)
{
    struct acog_admin *admin = user;
    const struct acog_http_head *head = request->head;
    struct acog_view host = acog_header_find(head->fields, head->field_count, ACOG_VIEW("host"));
    if (!acog_admin_host_allowed(host, &admin->listener)) {
        send_page(stream, 403, TEXT_TYPE, ACOG_VIEW("not a host of this listener\n"));
    } else if (!acog_view_equal(head->method, ACOG_VIEW("GET"))) {
        send_page(stream, 405, TEXT_TYPE, ACOG_VIEW("GET only\n"));
    } else {
        answer(admin, stream, head->target);
    }
}

static void ignore(void *user, struct acog_http_stream *stream)
{
    (void)user; /* replies are complete when they are made: nothing waits */
    (void)stream;
}

static void on_refuse(void *user, const struct acog_http_problem *problem, struct acog_view target,
                      struct acog_http_refusal *refusal)
{
    (void)user;
    (void)target;
    (void)!acog_buffer_format(&refusal->body, "{\"error\":\"%s\"}\n", problem->what);
}

/* -- birth and death ---------------------------------------------------------------------------------- */

struct acog_admin *acog_admin_new(struct event_base *base, const struct acog_service *service,
                                  const struct acog_listener *listener, int socket,
                                  struct acog_error *error)
{
    struct acog_admin *admin = acog_new(sizeof(*admin));
    if (admin == NULL) {
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for the admin listener");
        (void)close(socket);
        return NULL;
    }
    const struct acog_http_server_options options = {
        .reader = {.head_bytes_max = HEAD_BYTES_MAX,
                   .fields_max = HEAD_FIELDS_MAX,
                   .body_bytes_max = BODY_BYTES_MAX},
        .connections_max = CONNECTIONS_MAX,
        .keep_alive_ms = KEEP_ALIVE_MS,
        .head_ms = REQUEST_MS,
        .body_ms = REQUEST_MS,
        .write_ms = REQUEST_MS,
        .write_high_bytes = WRITE_HIGH_BYTES,
        .handler = {.user = admin,
                    .request = on_request,
                    .gone = ignore,
                    .drained = ignore,
                    .refuse = on_refuse},
    };
    admin->service = service;
    admin->listener = *listener;
    acog_buffer_init(&admin->page, PAGE_BYTES_MAX);
    admin->server = acog_http_server_new(base, &options, error);
    if (admin->server == NULL) {
        (void)close(socket);
        acog_admin_free(&admin);
    } else if (acog_http_server_add_tls(admin->server, socket, service->admin_tls, error) !=
               ACOG_OK) {
        acog_admin_free(&admin);
    }
    return admin;
}

void acog_admin_free(struct acog_admin **admin)
{
    if (*admin == NULL) {
        return;
    }
    if ((*admin)->server != NULL) {
        acog_http_server_free(&(*admin)->server);
    }
    acog_buffer_fini(&(*admin)->page);
    acog_free(*admin);
    *admin = NULL;
}
