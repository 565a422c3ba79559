/* connection_read.c - the bytes of a connection become requests, and the handler gets them one at a time.
 *
 * The read event stays on in every state, so a client that hangs up is seen at once (decision 17: FIN is a hang-up).
 * Bytes of later requests are kept while one is served; above ACOG_HTTP_PIPELINE_BYTES_MAX reading pauses and only the
 * hang-up is watched: by an edge-triggered event on a second descriptor, since libevent 2.1 neither mixes edge and
 * level on one descriptor nor reports a reset to an event that waits for EV_CLOSED alone. But the end of a connection
 * comes behind its bytes, and TCP sends none while they find no room: a client that leaves is not seen behind them. So
 * a pause has a length. Then all that is pipelined is thrown away up to that end, and the connection closes after the
 * reply: requests that were sent before the answer to another may find no server, and their clients know it.
 *
 * All that an event of reading calls is in this file, so that the compiler sees it whole.
 */
#include "acog/contract.h"
#include "connection.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define RECEIVE_BYTES_MAX (512U << 10U) /* of a body, in one turn: others want theirs too */

enum feed_result {
    ACOG_FEED_MORE = 0,
    ACOG_FEED_REQUEST,
    ACOG_FEED_REFUSED,
};

/* -- pause ------------------------------------------------------------------------------------------- */

/* Something happened on a connection that is not read: is it the end? */
static void on_watch(evutil_socket_t fd, short what, void *arg)
{
    (void)what;
    struct acog_http_connection *connection = acog_connection_of(arg);
    struct pollfd now = {.fd = fd, .events = POLLRDHUP};
    if (poll(&now, 1, 0) > 0) {
        acog_connection_close(connection);
    }
}

bool acog_connection_resume(struct acog_http_connection *connection)
{
    if (connection->reading != ACOG_READING_PAUSED) {
        return true;
    }
    (void)event_del(&connection->read_event);
    (void)close(connection->watch);
    connection->watch = -1;
    connection->reading = ACOG_READING_ON;
    (void)event_assign(&connection->read_event, connection->server->base, connection->socket,
                       EV_READ | EV_PERSIST, acog_connection_readable, connection);
    if (event_add(&connection->read_event, NULL) != 0) {
        return false;
    }
    if (connection->tls != NULL) {
        acog_tls_wake(connection);
    }
    return true;
}

static bool pause_reading(struct acog_http_connection *connection)
{
    int watch = fcntl(connection->socket, F_DUPFD_CLOEXEC, 0);
    if (watch < 0) {
        return false;
    }
    (void)event_del(&connection->read_event);
    connection->watch = watch;
    connection->reading = ACOG_READING_PAUSED;
    (void)event_assign(&connection->read_event, connection->server->base, watch,
                       EV_READ | EV_ET | EV_PERSIST, on_watch, connection);
    if (connection->state == ACOG_CONNECTION_HANDLING && !connection->blocked) {
        acog_server_time(connection, acog_connection_rest(connection));
    }
    return event_add(&connection->read_event, NULL) == 0;
}

void acog_connection_waste_pending(struct acog_http_connection *connection)
{
    if (!acog_connection_resume(connection)) {
        acog_connection_close(connection);
        return;
    }
    connection->reading = ACOG_READING_WASTED;
    acog_buffer_fini(&connection->pending);
    if (connection->ending == ACOG_ENDING_KEEP) {
        connection->ending = ACOG_ENDING_CLOSE;
    }
}

/* -- requests ------------------------------------------------------------------------------------------ */

/* The first byte of a request is here. False, and the connection is gone, without memory. */
static bool begin_request(struct acog_http_connection *connection)
{
    if (acog_server_take_stream(connection) == NULL) {
        acog_connection_close(connection);
        return false;
    }
    connection->state = ACOG_CONNECTION_HEAD;
    acog_server_time(connection, ACOG_DEADLINE_HEAD);
    return true;
}

static bool refuse_memory(struct acog_http_connection *connection)
{
    acog_connection_refuse(connection,
                           &(struct acog_http_problem){.status = 503, .what = "out of memory"});
    return false;
}

/* The head is whole. Small bodies get their room at once; a large one grows as it comes, since a head alone must not
 * make us take 32 MB. `more` says that bytes of the body are here already, so a client does not wait for a word. */
static bool begin_body(struct acog_http_connection *connection, bool more)
{
    struct acog_http_stream *stream = connection->stream;
    const struct acog_http_head *head = &stream->reader.head;
    connection->state = ACOG_CONNECTION_BODY;
    connection->body_progress = 0;
    acog_server_time(connection, ACOG_DEADLINE_BODY);
    if (head->framing == ACOG_HTTP_LENGTH && head->content_length <= ACOG_HTTP_SCRATCH_BYTES &&
        acog_buffer_reserve(&stream->body, (size_t)head->content_length) != ACOG_OK) {
        return refuse_memory(connection);
    }
    bool empty = head->framing == ACOG_HTTP_NO_BODY ||
                 (head->framing == ACOG_HTTP_LENGTH && head->content_length == 0);
    if (head->expect_continue && !empty && !more) {
        const struct acog_view word = ACOG_VIEW("HTTP/1.1 100 Continue\r\n\r\n");
        if (acog_output_reserve(stream, word.len) == NULL ||
            acog_buffer_append(&stream->out, word) != ACOG_OK) {
            return refuse_memory(connection);
        }
        acog_server_mark(connection->server, connection);
    }
    return true;
}

/* A piece that was received into the body's own memory is there already. */
static bool keep_body(struct acog_http_stream *stream, struct acog_view piece)
{
    if (stream->body.ptr != NULL && piece.ptr == stream->body.ptr + stream->body.len) {
        stream->body.len += piece.len;
        return true;
    }
    return acog_buffer_append(&stream->body, piece) == ACOG_OK;
}

static enum feed_result feed(struct acog_http_connection *connection, struct acog_view bytes,
                             size_t *used)
{
    struct acog_http_stream *stream = connection->stream;
    for (;;) {
        struct acog_view rest = acog_view_slice(bytes, *used, bytes.len);
        struct acog_view piece = {0};
        size_t taken = 0;
        enum acog_http_step step = acog_http_reader_feed(&stream->reader, rest, &taken, &piece);
        *used += taken;
        switch (step) {
        case ACOG_HTTP_STEP_MORE:
            return ACOG_FEED_MORE;
        case ACOG_HTTP_STEP_HEAD:
            if (!begin_body(connection, *used < bytes.len)) {
                return ACOG_FEED_REFUSED;
            }
            break;
        case ACOG_HTTP_STEP_BODY:
            if (!keep_body(stream, piece)) {
                (void)refuse_memory(connection);
                return ACOG_FEED_REFUSED;
            }
            break;
        case ACOG_HTTP_STEP_END:
            return ACOG_FEED_REQUEST;
        case ACOG_HTTP_STEP_BROKEN:
            acog_connection_refuse(connection, &stream->reader.problem);
            return ACOG_FEED_REFUSED;
        case ACOG_HTTP_STEP_INTERIM:
            ACOG_UNREACHABLE("requests are never interim");
        }
    }
}

static void dispatch(struct acog_http_connection *connection)
{
    struct acog_http_stream *stream = connection->stream;
    const struct acog_http_handler *handler = &connection->server->options.handler;
    connection->state = ACOG_CONNECTION_HANDLING;
    acog_server_time(connection, acog_connection_rest(connection));
    stream->request = (struct acog_http_request){.head = &stream->reader.head,
                                                 .body = acog_buffer_view(&stream->body),
                                                 .local = connection->local};
    handler->request(handler->user, stream, &stream->request);
}

/* Bytes that came while a request is served, or behind one in the same receive. False, and the connection is gone,
 * without memory or descriptors. */
static bool keep_pending(struct acog_http_connection *connection, struct acog_view bytes)
{
    bool kept = acog_buffer_append(&connection->pending, bytes) == ACOG_OK;
    if (kept && connection->pending.len == ACOG_HTTP_PIPELINE_BYTES_MAX) {
        kept = pause_reading(connection);
    }
    if (!kept) {
        acog_connection_close(connection);
    }
    return kept;
}

/* -- reading ------------------------------------------------------------------------------------------- */

/* Where the next bytes go. */
struct place {
    char *ptr;
    size_t len;
};

/* A body with a length takes its bytes without a detour. */
static struct place place_to_receive(struct acog_http_connection *connection)
{
    struct acog_http_server *server = connection->server;
    struct acog_http_stream *stream = connection->stream;
    struct place scratch = {.ptr = server->scratch, .len = sizeof(server->scratch)};
    if (connection->state != ACOG_CONNECTION_BODY ||
        stream->reader.head.framing != ACOG_HTTP_LENGTH) {
        return scratch;
    }
    struct acog_buffer *body = &stream->body;
    uint64_t left = stream->reader.head.content_length - body->len;
    size_t step = body->len > ACOG_HTTP_SCRATCH_BYTES ? body->len : ACOG_HTTP_SCRATCH_BYTES;
    step = step < RECEIVE_BYTES_MAX ? step : RECEIVE_BYTES_MAX;
    if (acog_buffer_reserve(body, left < step ? (size_t)left : step) != ACOG_OK) {
        return scratch; /* then the copy fails too, and that is answered */
    }
    size_t room = body->room - body->len;
    room = room < RECEIVE_BYTES_MAX ? room : RECEIVE_BYTES_MAX;
    return (struct place){.ptr = body->ptr + body->len, .len = left < room ? (size_t)left : room};
}

/* The body's deadline starts anew with each kilobyte, not with each byte: else a client that drips holds us for ever. */
static void note_progress(struct acog_http_connection *connection, size_t received)
{
    if (connection->state != ACOG_CONNECTION_BODY) {
        return;
    }
    connection->body_progress += received;
    if (connection->body_progress >= ACOG_HTTP_BODY_PROGRESS_BYTES) {
        connection->body_progress = 0;
        acog_server_time(connection, ACOG_DEADLINE_BODY);
    }
}

/* Receives for the request that is being read, or begins one. */
static void receive_request(struct acog_http_connection *connection)
{
    struct place place = place_to_receive(connection);
    size_t received = 0;
    switch (acog_transport_receive(connection, place.ptr, place.len, &received)) {
    case ACOG_TRANSPORT_OK:
        break;
    case ACOG_TRANSPORT_AGAIN:
        return;
    case ACOG_TRANSPORT_CLOSED:
        acog_connection_close(connection);
        return;
    }
    if (connection->stream == NULL && !begin_request(connection)) {
        return;
    }
    note_progress(connection, received);
    struct acog_view bytes = {.ptr = place.ptr, .len = received};
    size_t used = 0;
    if (feed(connection, bytes, &used) != ACOG_FEED_REQUEST) {
        return;
    }
    if (used < received && !keep_pending(connection, acog_view_slice(bytes, used, received))) {
        return;
    }
    dispatch(connection);
}

/* Receives while a request is served: nothing is read from it yet, but its end is seen. */
static void receive_pending(struct acog_http_connection *connection)
{
    char *scratch = connection->server->scratch;
    size_t room = ACOG_HTTP_PIPELINE_BYTES_MAX - connection->pending.len;
    size_t received = 0;
    switch (acog_transport_receive(connection, scratch, room, &received)) {
    case ACOG_TRANSPORT_OK:
        (void)keep_pending(connection, (struct acog_view){.ptr = scratch, .len = received});
        return;
    case ACOG_TRANSPORT_AGAIN:
        return;
    case ACOG_TRANSPORT_CLOSED:
        acog_connection_close(connection);
        return;
    }
}

static void receive_and_forget(struct acog_http_connection *connection)
{
    struct acog_http_server *server = connection->server;
    size_t received = 0;
    switch (
        acog_transport_receive(connection, server->scratch, sizeof(server->scratch), &received)) {
    case ACOG_TRANSPORT_OK:
        connection->lingered_bytes += received;
        if (connection->lingered_bytes > ACOG_HTTP_LINGER_BYTES_MAX) {
            acog_connection_close(connection);
        }
        return;
    case ACOG_TRANSPORT_AGAIN:
        return;
    case ACOG_TRANSPORT_CLOSED:
        acog_connection_close(connection);
        return;
    }
}

void acog_connection_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct acog_http_connection *connection = acog_connection_of(arg);
    switch (connection->state) {
    case ACOG_CONNECTION_HANDSHAKE:
        acog_connection_shake(connection);
        return;
    case ACOG_CONNECTION_NEW:
    case ACOG_CONNECTION_IDLE:
    case ACOG_CONNECTION_HEAD:
    case ACOG_CONNECTION_BODY:
        receive_request(connection);
        return;
    case ACOG_CONNECTION_HANDLING:
    case ACOG_CONNECTION_FINISHING:
        if (connection->reading == ACOG_READING_WASTED) {
            receive_and_forget(connection);
        } else {
            receive_pending(connection);
        }
        return;
    case ACOG_CONNECTION_LOST:
        return; /* it is marked, and settled in this turn */
    case ACOG_CONNECTION_LINGERING:
        receive_and_forget(connection);
        return;
    }
}

void acog_connection_read_pending(struct acog_http_connection *connection)
{
    if (!begin_request(connection)) {
        return;
    }
    size_t used = 0;
    enum feed_result result = feed(connection, acog_buffer_view(&connection->pending), &used);
    acog_buffer_consume(&connection->pending, used);
    if (!acog_connection_resume(connection)) {
        acog_connection_close(connection);
        return;
    }
    if (result == ACOG_FEED_REQUEST) {
        dispatch(connection);
    }
}
