/* fixture.h - an upstream side and a scripted provider on real loopback sockets, in one event loop.
 *
 * The provider answers by its script, one reply a request in the order of their coming; without a script the test sends
 * by hand. A test runs the loop until what it waits for has happened; a guard ends a test that waits in vain.
 */
#ifndef ACOG_TESTS_UNIT_UPSTREAM_FIXTURE_H
#define ACOG_TESTS_UNIT_UPSTREAM_FIXTURE_H

#include "acog/buffer.h"
#include "acog/memory.h"
#include "acog/upstream.h"
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
#include <event2/event_struct.h>
#include <openssl/ssl.h>

#define PEERS_MAX     2000
#define GUARD_SECONDS 20

enum acog_then {
    ACOG_THEN_STAY = 0,
    ACOG_THEN_CLOSE,
    ACOG_THEN_RESET,
};

struct scripted {
    struct acog_view bytes;
    enum acog_then then;
    bool at_head; /* does not wait for the request's body */
};

struct provider;

/* One accepted connection. */
struct peer {
    struct provider *provider;
    int socket; /* -1: closed by us */
    SSL *tls;
    struct event event;
    struct acog_buffer request; /* what came and is not answered yet */
    bool saw_end;               /* the gateway closed it */
};

struct provider {
    struct event_base *base;
    int listener;
    uint16_t port;
    struct event event;
    SSL_CTX *tls; /* NULL: plain */
    const struct scripted *script;
    size_t script_count;
    bool running;    /* its own functions: a test that makes memory fail spares it */
    size_t requests; /* complete ones, or those answered at their head */
    size_t ends;     /* connections that the gateway closed */
    struct peer peers[PEERS_MAX];
    size_t peer_count;
    struct acog_buffer last_request;
};

/* What the call's user was told. */
struct told {
    size_t connected;
    size_t reused;
    size_t heads;
    size_t bodies;
    size_t ends;
    size_t failures;
    size_t finished; /* ends and failures */
    unsigned status;
    bool sent;                  /* when the head came */
    struct acog_buffer headers; /* "name: value\n" each */
    struct acog_buffer body;
    enum acog_cause cause;
    bool reused_no_byte;
    char why[256];
};

struct fixture {
    struct event_base *base;
    struct event guard;
    bool guard_fired;
    struct acog_upstream *upstream;
    struct provider provider;
    struct acog_connection connection;
    struct acog_upstream_order order;
    struct acog_upstream_call *call;
    struct told told;
    size_t pause_at_bodies; /* pauses in that body event; 0: never */
    bool resume_at_once;    /* … and goes on */
    size_t cancel_at_bodies;
    bool cancel_at_head;
    bool cancel_at_connected;
    bool resuming;
    bool inside; /* acog_upstream_send() or _cancel() is running: nothing may be told */
    char key[64];
};

/* -- the provider ---------------------------------------------------------------------------------- */

static inline void peer_close(struct peer *peer, bool reset)
{
    if (peer->socket < 0) {
        return;
    }
    struct linger linger = {.l_onoff = reset ? 1 : 0};
    (void)event_del(&peer->event);
    if (reset) {
        assert_int_equal(setsockopt(peer->socket, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)),
                         0);
    } else if (peer->tls != NULL) {
        (void)SSL_shutdown(peer->tls);
    }
    SSL_free(peer->tls);
    peer->tls = NULL;
    (void)close(peer->socket);
    peer->socket = -1;
}

static inline void peer_send(struct peer *peer, struct acog_view bytes)
{
    while (bytes.len > 0) {
        ssize_t sent = peer->tls != NULL ? SSL_write(peer->tls, bytes.ptr, (int)bytes.len)
                                         : send(peer->socket, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        assert_true(sent > 0);
        bytes = acog_view_slice(bytes, (size_t)sent, bytes.len);
    }
}

/* The bytes of the first whole request in `bytes`, or 0; with `at_head`, of all that came once its head is whole. */
static inline size_t request_length(struct acog_view bytes, bool at_head)
{
    size_t head = acog_view_find(bytes, ACOG_VIEW("\r\n\r\n"));
    if (head == bytes.len) {
        return 0;
    }
    if (at_head) {
        return bytes.len;
    }
    unsigned long long body = 0;
    size_t at = acog_view_find(bytes, ACOG_VIEW("content-length: ")) + 16;
    if (at > head) {
        return head + 4;
    }
    struct acog_view rest = acog_view_slice(bytes, at, head);
    assert_true(
        acog_view_to_u64(acog_view_slice(rest, 0, acog_view_find(rest, ACOG_VIEW("\r\n"))), &body));
    size_t length = head + 4 + (size_t)body;
    return bytes.len >= length ? length : 0;
}

static inline void peer_serve(struct peer *peer)
{
    struct provider *provider = peer->provider;
    for (;;) {
        const struct scripted *reply =
            provider->script_count == 0
                ? NULL
                : &provider->script[provider->requests < provider->script_count
                                        ? provider->requests
                                        : provider->script_count - 1];
        size_t length =
            request_length(acog_buffer_view(&peer->request), reply != NULL && reply->at_head);
        if (length == 0) {
            return;
        }
        acog_buffer_clear(&provider->last_request, SIZE_MAX);
        assert_int_equal(
            acog_buffer_append(&provider->last_request,
                               acog_view_slice(acog_buffer_view(&peer->request), 0, length)),
            ACOG_OK);
        acog_buffer_consume(&peer->request, length);
        provider->requests++;
        if (reply == NULL) {
            continue;
        }
        peer_send(peer, reply->bytes);
        if (reply->then != ACOG_THEN_STAY) {
            peer_close(peer, reply->then == ACOG_THEN_RESET);
            return;
        }
    }
}

/* Reads what is there. */
static inline void peer_read(struct peer *peer)
{
    char bytes[65536];
    while (peer->socket >= 0) {
        ssize_t got = peer->tls != NULL ? SSL_read(peer->tls, bytes, sizeof(bytes))
                                        : recv(peer->socket, bytes, sizeof(bytes), 0);
        if (peer->tls != NULL && got <= 0 &&
            SSL_get_error(peer->tls, (int)got) == SSL_ERROR_WANT_READ) {
            return;
        }
        if (got < 0 && peer->tls == NULL && errno == EAGAIN) {
            return;
        }
        if (got <= 0) {
            peer->saw_end = true;
            peer->provider->ends++;
            peer_close(peer, false);
            return;
        }
        assert_int_equal(acog_buffer_append(&peer->request,
                                            (struct acog_view){.ptr = bytes, .len = (size_t)got}),
                         ACOG_OK);
        peer_serve(peer);
    }
}

static inline void on_peer(evutil_socket_t socket, short what, void *user)
{
    struct peer *peer = user;
    (void)socket;
    (void)what;
    peer->provider->running = true;
    peer_read(peer);
    peer->provider->running = false;
}

static inline void on_accept(evutil_socket_t listener, short what, void *user)
{
    struct provider *provider = user;
    (void)what;
    int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) {
        return;
    }
    assert_true(provider->peer_count < PEERS_MAX);
    struct peer *peer = &provider->peers[provider->peer_count++];
    peer->provider = provider;
    peer->socket = socket;
    acog_buffer_init(&peer->request, 64U << 20U);
    if (provider->tls != NULL) {
        peer->tls = SSL_new(provider->tls);
        assert_int_equal(SSL_set_fd(peer->tls, socket), 1);
        SSL_set_accept_state(peer->tls);
    }
    (void)event_assign(&peer->event, provider->base, socket, EV_READ | EV_PERSIST, on_peer, peer);
    (void)event_add(&peer->event, NULL);
}

static inline void provider_listen(struct provider *provider, struct event_base *base, int listener)
{
    provider->base = base;
    provider->listener = listener;
    acog_buffer_init(&provider->last_request, 64U << 20U);
    assert_int_equal(listen(listener, 512), 0);
    (void)event_assign(&provider->event, base, listener, EV_READ | EV_PERSIST, on_accept, provider);
    (void)event_add(&provider->event, NULL);
}

static inline void provider_start(struct provider *provider, struct event_base *base)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    provider->port = ntohs(address.sin_port);
    provider_listen(provider, base, listener);
}

static inline void provider_stop(struct provider *provider)
{
    for (size_t i = 0; i < provider->peer_count; i++) {
        peer_close(&provider->peers[i], false);
        acog_buffer_fini(&provider->peers[i].request);
    }
    if (provider->listener >= 0) {
        (void)event_del(&provider->event);
        (void)close(provider->listener);
        provider->listener = -1;
    }
    acog_buffer_fini(&provider->last_request);
    SSL_CTX_free(provider->tls);
}

/* -- the user -------------------------------------------------------------------------------------- */

static inline void told_connected(void *user, bool reused)
{
    struct fixture *f = user;
    assert_false(f->inside);
    assert_int_equal(f->told.connected, 0);
    f->told.connected++;
    f->told.reused += reused ? 1 : 0;
    if (f->cancel_at_connected) {
        acog_upstream_cancel(&f->call);
    }
}

static inline void told_head(void *user, unsigned status, const struct acog_header_row *headers,
                             size_t count)
{
    struct fixture *f = user;
    assert_false(f->inside);
    assert_int_equal(f->told.connected, 1);
    assert_int_equal(f->told.heads, 0);
    f->told.heads++;
    f->told.status = status;
    f->told.sent = acog_upstream_sent(f->call);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(acog_buffer_format(&f->told.headers, "%.*s: %.*s\n",
                                            ACOG_VIEW_FMT(headers[i].name),
                                            ACOG_VIEW_FMT(headers[i].value)),
                         ACOG_OK);
    }
    if (f->cancel_at_head) {
        acog_upstream_cancel(&f->call);
    }
}

static inline void told_body(void *user, struct acog_view bytes)
{
    struct fixture *f = user;
    assert_false(f->inside);
    assert_int_equal(f->told.heads, 1);
    assert_true(bytes.len > 0);
    f->told.bodies++;
    assert_int_equal(acog_buffer_append(&f->told.body, bytes), ACOG_OK);
    if (f->told.bodies == f->pause_at_bodies) {
        acog_upstream_pause(f->call, true);
        f->resuming = f->resume_at_once;
    }
    if (f->told.bodies == f->cancel_at_bodies) {
        acog_upstream_cancel(&f->call);
    }
}

static inline void told_end(void *user)
{
    struct fixture *f = user;
    assert_false(f->inside);
    assert_int_equal(f->told.heads, 1);
    assert_int_equal(f->told.finished, 0);
    f->told.ends++;
    f->told.finished++;
    f->call = NULL;
}

static inline void told_failed(void *user, enum acog_cause cause, bool reused_no_byte,
                               const char *why)
{
    struct fixture *f = user;
    assert_false(f->inside);
    assert_int_equal(f->told.finished, 0);
    f->told.failures++;
    f->told.finished++;
    f->told.cause = cause;
    f->told.reused_no_byte = reused_no_byte;
    (void)snprintf(f->told.why, sizeof(f->told.why), "%s", why);
    f->call = NULL;
}

static const struct acog_upstream_events told_events = {.connected = told_connected,
                                                        .head = told_head,
                                                        .body = told_body,
                                                        .end = told_end,
                                                        .failed = told_failed};

static inline void forget_told(struct fixture *f)
{
    acog_buffer_fini(&f->told.headers);
    acog_buffer_fini(&f->told.body);
    f->told = (struct told){0};
    acog_buffer_init(&f->told.headers, 1U << 20U);
    acog_buffer_init(&f->told.body, 64U << 20U);
}

/* Forgets what was told before. */
static inline void send_order(struct fixture *f)
{
    forget_told(f);
    f->inside = true;
    f->call = acog_upstream_send(f->upstream, &f->order, &told_events, f);
    f->inside = false;
    assert_non_null(f->call);
}

static inline void cancel(struct fixture *f)
{
    f->inside = true;
    acog_upstream_cancel(&f->call);
    f->inside = false;
    assert_null(f->call);
}

/* -- the loop -------------------------------------------------------------------------------------- */

static inline void on_guard(evutil_socket_t socket, short what, void *user)
{
    struct fixture *f = user;
    (void)socket;
    (void)what;
    f->guard_fired = true;
}

/* Runs the loop until *counter has reached `value`. */
static inline void run_until(struct fixture *f, const size_t *counter, size_t value)
{
    struct timeval wait = {.tv_sec = GUARD_SECONDS};
    (void)event_add(&f->guard, &wait);
    while (*counter < value && !f->guard_fired) {
        (void)event_base_loop(f->base, EVLOOP_ONCE);
        if (f->resuming && f->call != NULL) {
            f->resuming = false;
            acog_upstream_pause(f->call, false);
        }
    }
    (void)event_del(&f->guard);
    assert_false(f->guard_fired);
    assert_true(*counter >= value);
}

/* Some turns of the loop that wait for nothing: whatever can happen now has happened after them. */
static inline void settle(struct fixture *f)
{
    for (int i = 0; i < 10; i++) {
        (void)event_base_loop(f->base, EVLOOP_NONBLOCK);
    }
}

static inline void send_and_finish(struct fixture *f)
{
    send_order(f);
    run_until(f, &f->told.finished, 1);
}

static inline void script(struct fixture *f, const struct scripted *replies, size_t count)
{
    f->provider.script = replies;
    f->provider.script_count = count;
    f->provider.requests = 0;
}

static inline void expect_body(const struct fixture *f, struct acog_view expected)
{
    assert_int_equal(f->told.body.len, expected.len);
    assert_memory_equal(f->told.body.ptr, expected.ptr, expected.len);
}

static inline bool holds(const struct acog_buffer *buffer, const char *text)
{
    struct acog_view all = acog_buffer_view(buffer);
    return acog_view_find(all, acog_view_of(text)) < all.len;
}

/* -- setting up ------------------------------------------------------------------------------------ */

static inline void point_to(struct fixture *f, struct acog_view host, uint16_t port)
{
    f->connection.endpoint.host = host;
    f->connection.endpoint.port = port;
    int length = snprintf(f->key, sizeof(f->key), "%.*s:%u", ACOG_VIEW_FMT(host), (unsigned)port);
    f->connection.endpoint.pool_key = (struct acog_view){.ptr = f->key, .len = (size_t)length};
}

static inline void make_upstream(struct fixture *f, size_t pool_idle_max, int64_t pool_idle_ms,
                                 uint64_t decoded_bytes_max)
{
    const struct acog_upstream_options options = {.pool_idle_max = pool_idle_max,
                                                  .pool_idle_ms = pool_idle_ms,
                                                  .head_bytes_max = 65536,
                                                  .fields_max = 100,
                                                  .decoded_bytes_max = decoded_bytes_max};
    struct acog_error error = {0};
    acog_upstream_free(&f->upstream);
    f->upstream = acog_upstream_new(f->base, &options, &error);
    assert_non_null(f->upstream);
}

static inline int set_up(void **state)
{
    struct fixture *f = acog_new(sizeof(*f));
    assert_non_null(f);
    f->base = event_base_new();
    (void)event_assign(&f->guard, f->base, -1, 0, on_guard, f);
    forget_told(f);
    provider_start(&f->provider, f->base);
    f->connection.id = ACOG_VIEW("openai");
    f->connection.channel = ACOG_CHANNEL_DIRECT;
    f->connection.key = ACOG_VIEW("sk-test");
    point_to(f, ACOG_VIEW("127.0.0.1"), f->provider.port);
    f->order.connection = &f->connection;
    f->order.surface = ACOG_SURFACE_CHAT;
    f->order.model = ACOG_VIEW("gpt-5");
    f->order.pieces[0] = ACOG_VIEW("{\"model\":");
    f->order.pieces[1] = ACOG_VIEW("\"gpt-5\"}");
    f->order.piece_count = 2;
    f->order.body_bytes = 17;
    make_upstream(f, 64, 75000, 1U << 20U);
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    acog_upstream_free(&f->upstream);
    provider_stop(&f->provider);
    acog_buffer_fini(&f->told.headers);
    acog_buffer_fini(&f->told.body);
    event_base_free(f->base);
    acog_free(f);
    return 0;
}

static inline int set_up_all(void **state)
{
    struct acog_error error = {0};
    (void)state;
    assert_int_equal(acog_upstream_global_init(&error), ACOG_OK);
    return 0;
}

static inline int tear_down_all(void **state)
{
    (void)state;
    acog_upstream_global_fini();
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
