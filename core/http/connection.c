/* connection.c - the life of a connection: how it opens, shakes hands, goes on after a reply, and ends well. */
#include "connection.h"

#include "acog/contract.h"
#include "acog/memory.h"

#include <sys/socket.h>
#include <unistd.h>

static void on_writable(evutil_socket_t fd, short what, void *arg);

/* -- life ---------------------------------------------------------------------------------------------- */

void acog_connection_close(struct acog_http_connection *connection)
{
    struct acog_http_server *server = connection->server;
    bool handled =
        connection->state == ACOG_CONNECTION_HANDLING || connection->state == ACOG_CONNECTION_LOST;
    if (handled) {
        server->options.handler.gone(server->options.handler.user, connection->stream);
    }
    (void)event_del(&connection->read_event);
    (void)event_del(&connection->write_event);
    if (connection->tls != NULL) {
        /* A goodbye says that all was sent that was meant to be: only between two replies is that so. */
        if (connection->state == ACOG_CONNECTION_NEW || connection->state == ACOG_CONNECTION_IDLE) {
            (void)acog_tls_finish(connection);
        }
        acog_tls_free(connection);
    }
    (void)close(connection->socket);
    if (connection->watch >= 0) {
        (void)close(connection->watch);
    }
    acog_server_time(connection, ACOG_DEADLINE_NONE);
    if (connection->marked) {
        TAILQ_REMOVE(&server->marked, connection, mark);
    }
    TAILQ_REMOVE(&server->connections, connection, all);
    server->connection_count--;
    acog_server_give_stream(connection);
    acog_buffer_fini(&connection->pending);
    connection->tag = 0;
    acog_free(connection);
}

/* The client must not take the end of the connection for the end of the body. */
static void reset(struct acog_http_connection *connection)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(connection->socket, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    acog_connection_close(connection);
}

void acog_connection_refuse(struct acog_http_connection *connection,
                            const struct acog_http_problem *problem)
{
    acog_server_time(connection, ACOG_DEADLINE_NONE);
    acog_reply_refusal(connection->stream, problem);
}

/* A client over the limit is told so in plain HTTP; a handshake only to tell it would cost more than a request. */
static bool welcome(struct acog_http_connection *connection, struct acog_http_tls *tls, bool full)
{
    if (tls != NULL) {
        connection->state = ACOG_CONNECTION_HANDSHAKE;
        return !full && acog_tls_open(connection, tls);
    }
    if (!full) {
        return true;
    }
    if (acog_server_take_stream(connection) == NULL) {
        return false;
    }
    acog_connection_refuse(
        connection, &(struct acog_http_problem){.status = 503, .what = "too many connections"});
    return true;
}

void acog_connection_open(struct acog_http_server *server, int socket, struct acog_http_tls *tls,
                          bool local, bool full)
{
    struct acog_http_connection *connection = acog_new(sizeof(*connection));
    if (connection == NULL) {
        (void)close(socket);
        return;
    }
    connection->tag = ACOG_CONNECTION_TAG;
    connection->server = server;
    connection->socket = socket;
    connection->watch = -1;
    connection->local = local;
    acog_buffer_init(&connection->pending, ACOG_HTTP_PIPELINE_BYTES_MAX);
    (void)event_assign(&connection->read_event, server->base, socket, EV_READ | EV_PERSIST,
                       acog_connection_readable, connection);
    (void)event_assign(&connection->write_event, server->base, socket, EV_WRITE, on_writable,
                       connection);
    TAILQ_INSERT_TAIL(&server->connections, connection, all);
    server->connection_count++;
    acog_server_time(connection, ACOG_DEADLINE_HEAD);
    if (event_add(&connection->read_event, NULL) != 0 || !welcome(connection, tls, full)) {
        acog_connection_close(connection);
    }
}

/* Closes our side and waits a moment for the client to close its own: closing at once would reset the connection over
 * what the client still sends, and take the reply away from under it. */
static void linger(struct acog_http_connection *connection)
{
    switch (acog_transport_finish(connection)) {
    case ACOG_TRANSPORT_OK:
        break;
    case ACOG_TRANSPORT_AGAIN:
        if (!acog_output_wait(connection)) {
            acog_connection_close(connection);
        }
        return;
    case ACOG_TRANSPORT_CLOSED:
        acog_connection_close(connection);
        return;
    }
    acog_server_give_stream(connection);
    acog_buffer_fini(&connection->pending);
    connection->state = ACOG_CONNECTION_LINGERING;
    if (!acog_connection_resume(connection)) {
        acog_connection_close(connection);
        return;
    }
    acog_server_time(connection, ACOG_DEADLINE_LINGER);
}

/* -- handshakes ---------------------------------------------------------------------------------------- */

static void tell_tls_refused(const struct acog_http_connection *connection, const char *why)
{
    const struct acog_http_handler *handler = &connection->server->options.handler;
    if (handler->tls_refused != NULL) {
        handler->tls_refused(handler->user, why);
    }
}

/* Reading waits too: else a client that sends and never reads would keep the loop busy. */
static void wait_to_write_handshake(struct acog_http_connection *connection)
{
    (void)event_del(&connection->read_event);
    if (event_add(&connection->write_event, NULL) != 0) {
        acog_connection_close(connection);
    }
}

void acog_connection_shake(struct acog_http_connection *connection)
{
    const char *why = NULL;
    switch (acog_tls_shake(connection, &why)) {
    case ACOG_HANDSHAKE_DONE:
        connection->state = ACOG_CONNECTION_NEW;
        acog_server_time(connection, ACOG_DEADLINE_HEAD);
        /* A request may have come with the handshake's last bytes. */
        acog_connection_readable(connection->socket, EV_READ, connection);
        return;
    case ACOG_HANDSHAKE_WANTS_READ:
        return;
    case ACOG_HANDSHAKE_WANTS_WRITE:
        wait_to_write_handshake(connection);
        return;
    case ACOG_HANDSHAKE_LEFT:
        acog_connection_close(connection);
        return;
    case ACOG_HANDSHAKE_REFUSED:
        tell_tls_refused(connection, why);
        acog_tls_free(connection);
        linger(connection); /* so that the alert arrives */
        return;
    }
}

/* -- after a reply --------------------------------------------------------------------------------------- */

/* The reply is sent: serve what is pending, or wait for more. */
static void go_on(struct acog_http_connection *connection)
{
    acog_server_give_stream(connection);
    connection->state = ACOG_CONNECTION_IDLE;
    if (connection->pending.len == 0) {
        if (connection->server->state == ACOG_SERVER_DRAINING) {
            acog_connection_close(connection);
            return;
        }
        acog_buffer_fini(&connection->pending);
        acog_server_time(connection, ACOG_DEADLINE_IDLE);
        return;
    }
    acog_connection_read_pending(connection);
}

static void end(struct acog_http_connection *connection)
{
    switch (connection->ending) {
    case ACOG_ENDING_KEEP:
        go_on(connection);
        return;
    case ACOG_ENDING_CLOSE:
        linger(connection);
        return;
    case ACOG_ENDING_RESET:
        reset(connection);
        return;
    }
}

/* Below the low mark the source may go on. */
static void tell_drained(struct acog_http_connection *connection)
{
    struct acog_http_stream *stream = connection->stream;
    const struct acog_http_server_options *options = &connection->server->options;
    if (stream->flow == ACOG_FLOW_FULL &&
        acog_output_queued(stream) <= options->write_high_bytes / 2) {
        stream->flow = ACOG_FLOW_OPEN;
        options->handler.drained(options->handler.user, stream);
    }
}

void acog_connection_settle(struct acog_http_connection *connection)
{
    if (connection->state == ACOG_CONNECTION_LOST) {
        acog_connection_close(connection);
        return;
    }
    if (connection->stream == NULL) {
        return;
    }
    enum acog_output output = acog_output_flush(connection->stream);
    if (output == ACOG_OUTPUT_FAILED) {
        acog_connection_close(connection);
    } else if (connection->state == ACOG_CONNECTION_HANDLING) {
        tell_drained(connection);
    } else if (connection->state == ACOG_CONNECTION_FINISHING && output == ACOG_OUTPUT_SENT) {
        end(connection);
    }
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct acog_http_connection *connection = acog_connection_of(arg);
    if (connection->state == ACOG_CONNECTION_HANDSHAKE) {
        if (event_add(&connection->read_event, NULL) == 0) {
            acog_connection_shake(connection);
        } else {
            acog_connection_close(connection);
        }
        return;
    }
    connection->blocked = false;
    acog_connection_settle(connection);
}

/* Whether the request that is being read has begun: an empty line between two requests begins none. */
static bool has_begun(struct acog_http_connection *connection)
{
    return acog_http_reader_close(&connection->stream->reader) != ACOG_HTTP_STEP_MORE;
}

void acog_connection_expire(struct acog_http_connection *connection)
{
    static const struct acog_http_problem late = {.status = 408,
                                                  .what = "the request did not arrive in time"};
    switch (connection->state) {
    case ACOG_CONNECTION_HANDSHAKE:
        tell_tls_refused(connection, "the handshake did not end in time");
        acog_connection_close(connection);
        return;
    case ACOG_CONNECTION_NEW:
    case ACOG_CONNECTION_IDLE:
    case ACOG_CONNECTION_LINGERING:
        acog_connection_close(connection);
        return;
    case ACOG_CONNECTION_HEAD:
    case ACOG_CONNECTION_BODY:
        if (has_begun(connection)) {
            acog_connection_refuse(connection, &late);
        } else {
            acog_connection_close(connection);
        }
        return;
    case ACOG_CONNECTION_HANDLING:
        if (connection->reading == ACOG_READING_PAUSED && !connection->blocked) {
            acog_connection_waste_pending(connection);
            return;
        }
        reset(connection); /* the client takes nothing any more */
        return;
    case ACOG_CONNECTION_LOST:
    case ACOG_CONNECTION_FINISHING:
        reset(connection);
        return;
    }
}
