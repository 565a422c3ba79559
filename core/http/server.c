/* server.c - listeners, the connections of one worker, and what they share: the turn's list of those to settle, the
 * deadlines, spare streams, the date.
 *
 * Deadlines: one list for each class in the order of expiry, and one timer that ticks while any runs. Starting one costs
 * a clock reading and a few pointers, not a system call; it fires at most a tick late (a quarter of the shortest time,
 * at most a second).
 */
#include "acog/contract.h"
#include "acog/memory.h"
#include "acog/time.h"
#include "connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ACCEPTS_MAX     64  /* in one turn */
#define ACCEPT_PAUSE_MS 100 /* when there are no descriptors */
#define SWEEP_MS_MIN    5
#define SWEEP_MS_MAX    1000

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct acog_http_server *server_of(void *arg)
{
    struct acog_http_server *server = arg;
    ACOG_ASSERT(server->tag == ACOG_SERVER_TAG);
    return server;
}

/* -- deadlines ------------------------------------------------------------------------------------------- */

static int64_t deadline_ms(const struct acog_http_server *server, enum acog_deadline deadline)
{
    switch (deadline) {
    case ACOG_DEADLINE_HEAD:
        return server->options.head_ms;
    case ACOG_DEADLINE_BODY:
        return server->options.body_ms;
    case ACOG_DEADLINE_IDLE:
        return server->options.keep_alive_ms;
    case ACOG_DEADLINE_WRITE:
        return server->options.write_ms;
    case ACOG_DEADLINE_LINGER:
        return ACOG_HTTP_LINGER_MS;
    case ACOG_DEADLINE_PAUSE:
        return ACOG_HTTP_PAUSE_MS;
    case ACOG_DEADLINE_NONE:
    case ACOG_DEADLINE_COUNT:
        break;
    }
    ACOG_UNREACHABLE("no such deadline");
}

/* A tick that is not added ends the sweep; the next deadline tries again. */
static void tick(struct acog_http_server *server)
{
    struct timeval after = acog_time_wait(server->sweep_ms);
    server->sweeping = event_add(&server->sweep_event, &after) == 0;
}

void acog_server_time(struct acog_http_connection *connection, enum acog_deadline deadline)
{
    struct acog_http_server *server = connection->server;
    if (connection->deadline != ACOG_DEADLINE_NONE) {
        TAILQ_REMOVE(&server->timed[connection->deadline], connection, timed);
    }
    connection->deadline = deadline;
    if (deadline == ACOG_DEADLINE_NONE) {
        return;
    }
    connection->since_ms = now_ms();
    TAILQ_INSERT_TAIL(&server->timed[deadline], connection, timed);
    if (!server->sweeping) {
        tick(server);
    }
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct acog_http_server *server = server_of(arg);
    int64_t now = now_ms();
    bool running = false;
    server->sweeping = true; /* until all are looked at: an expiry may start a deadline */
    for (int i = ACOG_DEADLINE_NONE + 1; i < ACOG_DEADLINE_COUNT; i++) {
        enum acog_deadline deadline = (enum acog_deadline)i;
        struct acog_http_connection *first = TAILQ_FIRST(&server->timed[i]);
        while (first != NULL && now - first->since_ms >= deadline_ms(server, deadline)) {
            acog_server_time(first, ACOG_DEADLINE_NONE);
            acog_connection_expire(first);
            first = TAILQ_FIRST(&server->timed[i]);
        }
    }
    for (int i = ACOG_DEADLINE_NONE + 1; i < ACOG_DEADLINE_COUNT; i++) {
        running = running || !TAILQ_EMPTY(&server->timed[i]);
    }
    server->sweeping = false;
    if (running) {
        tick(server);
    }
}

/* -- the end of a turn ----------------------------------------------------------------------------------- */

void acog_server_mark(struct acog_http_server *server, struct acog_http_connection *connection)
{
    if (connection->marked) {
        return;
    }
    if (TAILQ_EMPTY(&server->marked)) {
        /* Behind every event that is active now: what they add to a reply leaves with it. */
        event_active(&server->settle_event, EV_TIMEOUT, 0);
    }
    connection->marked = true;
    TAILQ_INSERT_TAIL(&server->marked, connection, mark);
}

static void on_settle(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct acog_http_server *server = server_of(arg);
    struct acog_http_connection *connection = TAILQ_FIRST(&server->marked);
    while (connection != NULL) {
        TAILQ_REMOVE(&server->marked, connection, mark);
        connection->marked = false;
        acog_connection_settle(connection);
        connection = TAILQ_FIRST(&server->marked);
    }
}

/* -- streams --------------------------------------------------------------------------------------------- */

static void free_stream(struct acog_http_stream *stream)
{
    acog_http_reader_fini(&stream->reader);
    acog_buffer_fini(&stream->body);
    acog_buffer_fini(&stream->out);
    acog_free(stream);
}

static struct acog_http_stream *new_stream(const struct acog_http_server *server)
{
    const struct acog_http_server_options *options = &server->options;
    struct acog_http_stream *stream = acog_new(sizeof(*stream));
    if (stream != NULL) {
        acog_http_reader_init(&stream->reader, ACOG_HTTP_REQUEST, &options->reader);
        acog_buffer_init(&stream->body, (size_t)options->reader.body_bytes_max);
        acog_buffer_init(&stream->out, options->write_high_bytes + ACOG_HTTP_QUEUE_BYTES_MAX);
    }
    return stream;
}

struct acog_http_stream *acog_server_take_stream(struct acog_http_connection *connection)
{
    struct acog_http_server *server = connection->server;
    struct acog_http_stream *stream = server->spares;
    if (stream != NULL) {
        server->spares = stream->next;
        server->spare_count--;
    } else {
        stream = new_stream(server);
    }
    if (stream != NULL) {
        stream->tag = ACOG_STREAM_TAG;
        stream->connection = connection;
        stream->next = NULL;
        stream->user = NULL;
        stream->phase = ACOG_REPLY_WAITING;
        stream->flow = ACOG_FLOW_OPEN;
        connection->stream = stream;
    }
    return stream;
}

void acog_server_give_stream(struct acog_http_connection *connection)
{
    struct acog_http_server *server = connection->server;
    struct acog_http_stream *stream = connection->stream;
    connection->stream = NULL;
    if (stream == NULL) {
        return;
    }
    stream->tag = 0;
    stream->connection = NULL;
    if (server->spare_count == ACOG_HTTP_SPARE_STREAMS_MAX) {
        free_stream(stream);
        return;
    }
    acog_http_reader_reset(&stream->reader);
    acog_buffer_clear(&stream->body, ACOG_HTTP_SPARE_KEEP_BYTES);
    acog_buffer_clear(&stream->out, ACOG_HTTP_SPARE_KEEP_BYTES);
    stream->out_sent = 0;
    stream->next = server->spares;
    server->spares = stream;
    server->spare_count++;
}

/* -- accepting ------------------------------------------------------------------------------------------- */

static bool is_local(const struct sockaddr_storage *address)
{
    static const unsigned char mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
    if (address->ss_family == AF_UNIX) {
        return true;
    }
    if (address->ss_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof(v4));
        return ntohl(v4.sin_addr.s_addr) >> 24U == 127;
    }
    if (address->ss_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof(v6));
        return memcmp(&v6.sin6_addr, &in6addr_loopback, sizeof(v6.sin6_addr)) == 0 ||
               memcmp(&v6.sin6_addr, mapped, sizeof(mapped)) == 0;
    }
    return false;
}

/* Without descriptors or memory, clients wait in the backlog until there are some. */
static void pause_accepting(struct acog_http_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        (void)event_del(&server->listeners[i].event);
    }
    struct timeval after = acog_time_wait(ACCEPT_PAUSE_MS);
    (void)event_add(&server->accept_again, &after);
}

static void on_accept_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct acog_http_server *server = server_of(arg);
    for (size_t i = 0; i < server->listener_count; i++) {
        (void)event_add(&server->listeners[i].event, NULL);
    }
}

/* False when there is no more to accept, or accepting pauses. */
static bool accept_one(const struct acog_http_listener *listener)
{
    struct acog_http_server *server = listener->server;
    struct sockaddr_storage address = {0};
    socklen_t bytes = sizeof(address);
    int fd = accept4(listener->socket, (struct sockaddr *)&address, &bytes,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        size_t limit = server->options.connections_max;
        if (server->connection_count >= limit + ACOG_HTTP_REFUSALS_MAX) {
            (void)close(fd);
        } else {
            acog_connection_open(server, fd, listener->tls, is_local(&address),
                                 server->connection_count >= limit);
        }
        return true;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        pause_accepting(server);
        return false;
    }
    return errno != EAGAIN; /* a client that left before it was accepted is no reason to stop */
}

static void on_acceptable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct acog_http_listener *listener = arg;
    ACOG_ASSERT(listener->tag == ACOG_LISTENER_TAG);
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        if (!accept_one(listener)) {
            return;
        }
    }
}

enum acog_code acog_http_server_add_tls(struct acog_http_server *server, int socket,
                                        struct acog_http_tls *tls, struct acog_error *error)
{
    if (server->state == ACOG_SERVER_DRAINING) {
        (void)close(socket);
        return acog_error_set(error, ACOG_INVALID, "a server that drains takes no more sockets");
    }
    if (server->listener_count == ACOG_HTTP_LISTENERS_MAX) {
        (void)close(socket);
        return acog_error_set(error, ACOG_TOO_BIG, "a server listens on at most %d sockets",
                              ACOG_HTTP_LISTENERS_MAX);
    }
    struct acog_http_listener *listener = &server->listeners[server->listener_count];
    *listener = (struct acog_http_listener){
        .tag = ACOG_LISTENER_TAG, .socket = socket, .server = server, .tls = tls};
    (void)event_assign(&listener->event, server->base, socket, EV_READ | EV_PERSIST, on_acceptable,
                       listener);
    if (event_add(&listener->event, NULL) != 0) {
        (void)close(socket);
        return acog_error_set(error, ACOG_IO, "cannot watch a listening socket");
    }
    server->listener_count++;
    return ACOG_OK;
}

enum acog_code acog_http_server_add(struct acog_http_server *server, int socket,
                                    struct acog_error *error)
{
    return acog_http_server_add_tls(server, socket, NULL, error);
}

static void close_listeners(struct acog_http_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        (void)event_del(&server->listeners[i].event);
        (void)close(server->listeners[i].socket);
    }
    server->listener_count = 0;
    (void)event_del(&server->accept_again);
}

/* -- the server ------------------------------------------------------------------------------------------ */

static enum acog_code check_options(struct event_base *base,
                                    const struct acog_http_server_options *options,
                                    struct acog_error *error)
{
    const struct acog_http_reader_limits *reader = &options->reader;
    if (reader->head_bytes_max == 0 || reader->body_bytes_max == 0 || reader->fields_max == 0 ||
        reader->fields_max > ACOG_HTTP_FIELDS_MAX || options->connections_max == 0 ||
        options->write_high_bytes == 0) {
        return acog_error_set(error, ACOG_INVALID,
                              "a limit of the server is 0, or there are more "
                              "than %d headers",
                              ACOG_HTTP_FIELDS_MAX);
    }
    if (options->keep_alive_ms <= 0 || options->head_ms <= 0 || options->body_ms <= 0 ||
        options->write_ms <= 0) {
        return acog_error_set(error, ACOG_INVALID, "a time of the server is not positive");
    }
    if ((event_base_get_features(base) & EV_FEATURE_ET) == 0) {
        return acog_error_set(error, ACOG_INVALID, "the event loop has no edge-triggered events");
    }
    return ACOG_OK;
}

static int64_t sweep_interval_ms(const struct acog_http_server_options *options)
{
    const int64_t times[] = {options->keep_alive_ms, options->head_ms, options->body_ms,
                             options->write_ms, ACOG_HTTP_LINGER_MS};
    int64_t least = times[0];
    for (size_t i = 1; i < sizeof(times) / sizeof(times[0]); i++) {
        least = times[i] < least ? times[i] : least;
    }
    int64_t quarter = least / 4;
    if (quarter < SWEEP_MS_MIN) {
        return SWEEP_MS_MIN;
    }
    return quarter > SWEEP_MS_MAX ? SWEEP_MS_MAX : quarter;
}

struct acog_http_server *acog_http_server_new(struct event_base *base,
                                              const struct acog_http_server_options *options,
                                              struct acog_error *error)
{
    ACOG_ASSERT(options->handler.request != NULL);
    ACOG_ASSERT(options->handler.gone != NULL);
    ACOG_ASSERT(options->handler.drained != NULL);
    if (check_options(base, options, error) != ACOG_OK) {
        return NULL;
    }
    struct acog_http_server *server = acog_new(sizeof(*server));
    if (server == NULL) {
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for a server");
        return NULL;
    }
    server->tag = ACOG_SERVER_TAG;
    server->base = base;
    server->options = *options;
    server->sweep_ms = sweep_interval_ms(options);
    server->date_s = -1;
    TAILQ_INIT(&server->connections);
    TAILQ_INIT(&server->marked);
    for (int i = 0; i < ACOG_DEADLINE_COUNT; i++) {
        TAILQ_INIT(&server->timed[i]);
    }
    (void)event_assign(&server->settle_event, base, -1, 0, on_settle, server);
    (void)event_assign(&server->sweep_event, base, -1, 0, on_sweep, server);
    (void)event_assign(&server->accept_again, base, -1, 0, on_accept_again, server);
    return server;
}

void acog_http_server_rest(struct acog_http_server *server)
{
    while (server->spares != NULL) {
        struct acog_http_stream *spare = server->spares;
        server->spares = spare->next;
        free_stream(spare);
    }
    server->spare_count = 0;
}

void acog_http_server_free(struct acog_http_server **server)
{
    struct acog_http_server *gone = *server;
    if (gone == NULL) {
        return;
    }
    *server = NULL;
    close_listeners(gone);
    while (!TAILQ_EMPTY(&gone->connections)) {
        acog_connection_close(TAILQ_FIRST(&gone->connections));
    }
    (void)event_del(&gone->settle_event);
    (void)event_del(&gone->sweep_event);
    acog_http_server_rest(gone);
    gone->tag = 0;
    acog_free(gone);
}

void acog_http_server_drain(struct acog_http_server *server)
{
    server->state = ACOG_SERVER_DRAINING;
    close_listeners(server);
    struct acog_http_connection *connection = TAILQ_FIRST(&server->connections);
    while (connection != NULL) {
        struct acog_http_connection *next = TAILQ_NEXT(connection, all);
        if (connection->state == ACOG_CONNECTION_NEW ||
            connection->state == ACOG_CONNECTION_HANDSHAKE ||
            connection->state == ACOG_CONNECTION_IDLE) {
            acog_connection_close(connection);
        }
        connection = next;
    }
}

size_t acog_http_server_connections(const struct acog_http_server *server)
{
    return server->connection_count;
}

struct acog_view acog_server_date(struct acog_http_server *server)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != server->date_s) {
        struct tm utc;
        (void)gmtime_r(&now.tv_sec, &utc);
        (void)snprintf(server->date, sizeof(server->date), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                       days[utc.tm_wday], utc.tm_mday, months[utc.tm_mon], utc.tm_year + 1900,
                       utc.tm_hour, utc.tm_min, utc.tm_sec);
        server->date_s = now.tv_sec;
    }
    return acog_view_of(server->date);
}
