/* loopback.h - a server and its clients in one event loop, over real sockets.
 *
 * Nothing sleeps: a test runs the loop until what it waits for has happened; a guard timer fails a test that waits in
 * vain.
 */
#ifndef ACOG_TESTS_UNIT_HTTP_LOOPBACK_H
#define ACOG_TESTS_UNIT_HTTP_LOOPBACK_H

#include "acog/buffer.h"
#include "acog/http.h"
#include "acog/memory.h"
#include "tests/support/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>
#include <openssl/ssl.h>

#define GET(path)        "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST(path, size) "POST " path " HTTP/1.1\r\nHost: a\r\nContent-Length: " size "\r\n\r\n"

#define WORLD_HELD_MAX     8
#define WORLD_GUARD_S      20
#define CLIENT_FIRST_BYTES 131072 /* taken before a test lets allocations fail */
#define CLIENT_BYTES       ((size_t)16 << 20)
#define WORLD_LOG_BYTES    ((size_t)1 << 20)

struct world {
    struct event_base *base;
    struct event *guard;
    struct acog_http_server *server;
    uint16_t port;
    char path[64]; /* of the unix socket; empty: TCP */
    struct acog_http_tls *tls;
    struct acog_buffer log; /* what the handler was told, one line each, NUL-terminated */
    struct acog_http_stream *held[WORLD_HELD_MAX]; /* requests for /hold, in their order */
    size_t held_count;
    unsigned requests;
    unsigned gone;
    unsigned drained;
    unsigned refused;
    unsigned tls_refused;
    const char *tls_why; /* the last one */
};

struct client {
    struct world *world;
    struct event *event;
    struct acog_buffer got; /* NUL-terminated by client_text() */
    int fd;
    SSL *tls;     /* NULL: plain */
    bool goodbye; /* of TLS came */
    bool closed;  /* by the server */
    bool reset;   /* and not in order */
};

static inline void world_log(struct world *world, struct acog_view text)
{
    assert_int_equal(acog_buffer_append(&world->log, text), ACOG_OK);
}

static inline const char *world_told(struct world *world)
{
    if (world->log.len == 0 || world->log.ptr[world->log.len - 1] != '\0') {
        world_log(world, (struct acog_view){.ptr = "", .len = 1});
    }
    return world->log.ptr;
}

/* Answers at once with what was asked, in the way that the path names; keeps the stream for /hold. */
static inline void world_request(void *user, struct acog_http_stream *stream,
                                 const struct acog_http_request *request)
{
    struct world *world = user;
    const struct acog_header_row type = {ACOG_VIEW("content-type"), ACOG_VIEW("text/plain")};
    struct acog_view target = request->head->target;
    world->requests++;
    world_log(world, target);
    world_log(world, ACOG_VIEW("\n"));
    acog_http_stream_set_user(stream, world);
    if (acog_view_starts(target, ACOG_VIEW("/hold"))) {
        assert_true(world->held_count < WORLD_HELD_MAX);
        world->held[world->held_count++] = stream;
        return;
    }
    bool chunked = acog_view_starts(target, ACOG_VIEW("/chunks"));
    unsigned status = acog_view_starts(target, ACOG_VIEW("/204")) ? 204 : 200;
    size_t bytes = target.len + request->body.len;
    acog_http_reply_head(stream, status, &type, 1, chunked ? -1 : (int64_t)bytes);
    acog_http_reply_data(stream, target);
    acog_http_reply_data(stream, request->body);
    acog_http_reply_end(&stream);
    assert_null(stream);
}

static inline void world_gone(void *user, struct acog_http_stream *stream)
{
    struct world *world = user;
    assert_ptr_equal(acog_http_stream_user(stream), world);
    world->gone++;
    for (size_t i = 0; i < world->held_count; i++) {
        if (world->held[i] == stream) {
            world->held[i] = NULL;
        }
    }
}

static inline void world_drained(void *user, struct acog_http_stream *stream)
{
    struct world *world = user;
    assert_false(acog_http_reply_full(stream));
    world->drained++;
}

static inline void world_refuse(void *user, const struct acog_http_problem *problem,
                                struct acog_view target, struct acog_http_refusal *refusal)
{
    static const struct acog_header_row row = {{"x-refused", 9}, {"yes", 3}};
    struct world *world = user;
    world->refused++;
    refusal->rows = &row;
    refusal->row_count = 1;
    enum acog_code code =
        acog_buffer_format(&refusal->body, "{\"refused\":\"%s\",\"target\":\"%.*s\"}",
                           problem->what, ACOG_VIEW_FMT(target));
    assert_true(code == ACOG_OK || code == ACOG_NO_MEMORY);
}

static inline void world_tls_refused(void *user, const char *why)
{
    struct world *world = user;
    world->tls_refused++;
    world->tls_why = why;
}

static inline struct acog_http_server_options world_options(struct world *world)
{
    return (struct acog_http_server_options){
        .reader = {.head_bytes_max = 8192, .fields_max = 50, .body_bytes_max = (size_t)4 << 20U},
        .connections_max = 100,
        .keep_alive_ms = 60000,
        .head_ms = 60000,
        .body_ms = 60000,
        .write_ms = 60000,
        .write_high_bytes = 65536,
        .handler = {.user = world,
                    .request = world_request,
                    .gone = world_gone,
                    .drained = world_drained,
                    .refuse = world_refuse,
                    .tls_refused = world_tls_refused},
    };
}

static inline void world_guard(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    fail_msg("waited in vain");
}

static inline void world_open(struct world *world, const struct acog_http_server_options *options)
{
    struct acog_error error = {0};
    world->base = event_base_new();
    assert_non_null(world->base);
    world->guard = event_new(world->base, -1, 0, world_guard, world);
    struct timeval after = {.tv_sec = WORLD_GUARD_S};
    assert_int_equal(event_add(world->guard, &after), 0);
    acog_buffer_init(&world->log, WORLD_LOG_BYTES);
    assert_int_equal(acog_buffer_reserve(&world->log, 4096), ACOG_OK);
    world->server = acog_http_server_new(world->base, options, &error);
    assert_non_null(world->server);
    int listener = world->path[0] != '\0' ? acog_http_listen_unix(acog_view_of(world->path), &error)
                                          : acog_http_listen(ACOG_VIEW("127.0.0.1"), 0, &error);
    assert_true(listener >= 0);
    world->port = acog_http_listen_port(listener);
    assert_int_equal(acog_http_server_add_tls(world->server, listener, world->tls, &error),
                     ACOG_OK);
}

static inline void world_close(struct world *world)
{
    acog_http_server_free(&world->server);
    acog_buffer_fini(&world->log);
    event_free(world->guard);
    event_base_free(world->base);
    if (world->path[0] != '\0') {
        (void)unlink(world->path);
    }
}

/* Runs the loop until `met`. */
#define WORLD_UNTIL(world, met)                                           \
    while (!(met)) {                                                      \
        assert_int_equal(event_base_loop((world)->base, EVLOOP_ONCE), 0); \
    }

/* Runs what is ready now, several turns of it: what has not happened then does not happen on its own. */
static inline void world_rest(struct world *world)
{
    for (int i = 0; i < 20; i++) {
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
}

/* As recv(): -1 with errno when there is nothing. */
static inline ssize_t client_receive_tls(struct client *client, char *bytes, size_t room)
{
    int got = SSL_read(client->tls, bytes, (int)room);
    if (got > 0) {
        return got;
    }
    switch (SSL_get_error(client->tls, got)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN:
        client->goodbye = true;
        return 0;
    case SSL_ERROR_SYSCALL:
        return errno == 0 ? 0 : -1;
    default:
        return 0;
    }
}

static inline void client_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)what;
    struct client *client = arg;
    char bytes[65536];
    ssize_t got = client->tls != NULL ? client_receive_tls(client, bytes, sizeof(bytes))
                                      : recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got > 0) {
        assert_int_equal(
            acog_buffer_append(&client->got, (struct acog_view){.ptr = bytes, .len = (size_t)got}),
            ACOG_OK);
        return;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        client->closed = true;
        client->reset = got < 0;
        (void)event_del(client->event);
    }
}

static inline void client_open(struct client *client, struct world *world)
{
    *client = (struct client){.world = world};
    acog_buffer_init(&client->got, CLIENT_BYTES);
    assert_int_equal(acog_buffer_reserve(&client->got, CLIENT_FIRST_BYTES), ACOG_OK);
    if (world->path[0] != '\0') {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        memcpy(to.sun_path, world->path, strlen(world->path) + 1);
        client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(client->fd, (struct sockaddr *)&to, sizeof(to)), 0);
    } else {
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(world->port)};
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(client->fd, (struct sockaddr *)&to, sizeof(to)), 0);
    }
    client->event =
        event_new(world->base, client->fd, EV_READ | EV_PERSIST, client_readable, client);
    assert_int_equal(event_add(client->event, NULL), 0);
}

/* Begins a handshake, which the loop goes on with. */
static inline void client_open_tls(struct client *client, struct world *world, SSL_CTX *context)
{
    client_open(client, world);
    assert_int_equal(fcntl(client->fd, F_SETFL, O_NONBLOCK), 0);
    client->tls = SSL_new(context);
    assert_int_equal(SSL_set_fd(client->tls, client->fd), 1);
    SSL_set_connect_state(client->tls);
    assert_int_equal(SSL_do_handshake(client->tls), -1);
}

/* How many of the bytes went out without blocking. */
static inline size_t client_try_send(struct client *client, struct acog_view bytes)
{
    if (client->tls != NULL) {
        int written = SSL_write(client->tls, bytes.ptr, (int)bytes.len);
        return written < 0 ? 0 : (size_t)written;
    }
    ssize_t sent = send(client->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 ? 0 : (size_t)sent;
}

static inline void client_send(struct client *client, const char *text)
{
    assert_int_equal(client_try_send(client, acog_view_of(text)), strlen(text));
}

static inline const char *client_text(struct client *client)
{
    assert_int_equal(acog_buffer_append(&client->got, (struct acog_view){.ptr = "", .len = 1}),
                     ACOG_OK);
    client->got.len--;
    return client->got.ptr;
}

static inline bool client_has(struct client *client, const char *text)
{
    return strstr(client_text(client), text) != NULL;
}

static inline bool client_has_end(const struct client *client, const char *text)
{
    size_t bytes = strlen(text);
    return client->got.len >= bytes &&
           memcmp(client->got.ptr + client->got.len - bytes, text, bytes) == 0;
}

static inline void client_forget(struct client *client)
{
    client->got.len = 0;
}

/* Stops reading, so that the server's queue grows. */
static inline void client_stop_reading(struct client *client)
{
    (void)event_del(client->event);
}

static inline void client_read_on(struct client *client)
{
    assert_int_equal(event_add(client->event, NULL), 0);
}

static inline void client_close(struct client *client)
{
    event_free(client->event);
    client->event = NULL;
    SSL_free(client->tls);
    (void)close(client->fd);
    acog_buffer_fini(&client->got);
}

/* Closes with RST. */
static inline void client_reset(struct client *client)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    client_close(client);
}

static inline void world_start(struct world *world)
{
    struct acog_http_server_options options = world_options(world);
    world_open(world, &options);
}

/* What most tests begin with: a client of a server with the usual options. It may be closed by the test. */
static inline int talk_begin(void **state)
{
    struct world *world = acog_new(sizeof(*world));
    struct client *client = acog_new(sizeof(*client));
    world_start(world);
    client_open(client, world);
    *state = client;
    return 0;
}

static inline int talk_end(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    if (client->event != NULL) {
        client_close(client);
    }
    world_close(world);
    acog_free(client);
    acog_free(world);
    return 0;
}

#define TALK(test) cmocka_unit_test_setup_teardown(test, talk_begin, talk_end)

/* Sends a request for /hold and waits until the handler has it. */
static inline struct acog_http_stream *client_hold(struct world *world, struct client *client)
{
    size_t before = world->held_count;
    client_send(client, GET("/hold"));
    WORLD_UNTIL(world, world->held_count > before);
    return world->held[before];
}

/* Fills the client's and the server's socket buffers until the reply is full (or the client given up), with pieces of
 * `size` bytes. */
static inline size_t world_fill(struct world *world, struct acog_http_stream *stream, size_t size)
{
    static const char piece[20000];
    size_t bytes = 0;
    while (world->gone == 0 && !acog_http_reply_full(stream)) {
        acog_http_reply_data(stream, (struct acog_view){.ptr = piece, .len = size});
        bytes += size;
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    return bytes;
}

#endif
