/* output.c - the queue of bytes for a client. Small pieces are copied and leave together at the end of the turn of the
 * event loop; a large one is sent at once behind what is queued, and only what the socket does not take is copied. */
#include "acog/contract.h"
#include "connection.h"

#include <string.h>
#include <sys/uio.h>

#define PIECES_MAX 4 /* of one send: the queue, a chunk's size, its data, its end */

char *acog_output_reserve(struct acog_http_stream *stream, size_t bytes)
{
    struct acog_buffer *out = &stream->out;
    if (stream->out_sent > 0 && bytes > out->room - out->len) {
        acog_buffer_consume(out, stream->out_sent);
        stream->out_sent = 0;
    }
    return acog_buffer_reserve(out, bytes) == ACOG_OK ? out->ptr + out->len : NULL;
}

static void forget_queue(struct acog_http_stream *stream)
{
    stream->out.len = 0;
    stream->out_sent = 0;
    if (stream->connection->deadline == ACOG_DEADLINE_WRITE) {
        acog_server_time(stream->connection, acog_connection_rest(stream->connection));
    }
}

bool acog_output_wait(struct acog_http_connection *connection)
{
    if (event_add(&connection->write_event, NULL) != 0) {
        return false;
    }
    connection->blocked = true;
    if (connection->state == ACOG_CONNECTION_HANDLING ||
        connection->state == ACOG_CONNECTION_FINISHING) {
        acog_server_time(connection, ACOG_DEADLINE_WRITE);
    }
    return true;
}

static enum acog_output wait_for_room(const struct acog_http_stream *stream)
{
    return acog_output_wait(stream->connection) ? ACOG_OUTPUT_BLOCKED : ACOG_OUTPUT_FAILED;
}

enum acog_output acog_output_flush(struct acog_http_stream *stream)
{
    size_t queued = acog_output_queued(stream);
    if (queued == 0) {
        return ACOG_OUTPUT_SENT;
    }
    if (stream->connection->blocked) {
        return ACOG_OUTPUT_BLOCKED;
    }
    struct iovec piece = {.iov_base = stream->out.ptr + stream->out_sent, .iov_len = queued};
    size_t sent = 0;
    if (acog_transport_send(stream->connection, &piece, 1, &sent) == ACOG_TRANSPORT_CLOSED) {
        return ACOG_OUTPUT_FAILED;
    }
    stream->out_sent += sent;
    if (sent < queued) {
        return wait_for_room(stream);
    }
    forget_queue(stream);
    return ACOG_OUTPUT_SENT;
}

/* Queues the pieces without their first `sent` bytes. */
static bool queue_rest(struct acog_http_stream *stream, const struct acog_view *pieces,
                       size_t count, size_t sent)
{
    for (size_t i = 0; i < count; i++) {
        struct acog_view rest = acog_view_slice(pieces[i], sent, pieces[i].len);
        sent -= pieces[i].len - rest.len;
        if (rest.ptr == NULL || rest.len == 0) {
            continue;
        }
        char *to = acog_output_reserve(stream, rest.len);
        if (to == NULL) {
            return false;
        }
        memcpy(to, rest.ptr, rest.len);
        stream->out.len += rest.len;
    }
    return true;
}

enum acog_output acog_output_send(struct acog_http_stream *stream, const struct acog_view *pieces,
                                  size_t count)
{
    ACOG_ASSERT(count < PIECES_MAX);
    if (stream->connection->blocked) {
        return queue_rest(stream, pieces, count, 0) ? ACOG_OUTPUT_BLOCKED : ACOG_OUTPUT_FAILED;
    }
    struct iovec vector[PIECES_MAX];
    size_t used = 0;
    size_t queued = acog_output_queued(stream);
    size_t total = queued;
    if (queued > 0) {
        vector[used++] =
            (struct iovec){.iov_base = stream->out.ptr + stream->out_sent, .iov_len = queued};
    }
    for (size_t i = 0; i < count; i++) {
        /* sendmsg() does not write to what it sends; its type predates const. */
        union {
            const char *given;
            void *taken;
        } base = {.given = pieces[i].ptr};

        vector[used++] = (struct iovec){.iov_base = base.taken, .iov_len = pieces[i].len};
        total += pieces[i].len;
    }
    size_t sent = 0;
    if (acog_transport_send(stream->connection, vector, used, &sent) == ACOG_TRANSPORT_CLOSED) {
        return ACOG_OUTPUT_FAILED;
    }
    if (sent == total) {
        forget_queue(stream);
        return ACOG_OUTPUT_SENT;
    }
    size_t of_queue = sent < queued ? sent : queued;
    stream->out_sent += of_queue;
    if (!queue_rest(stream, pieces, count, sent - of_queue)) {
        return ACOG_OUTPUT_FAILED;
    }
    return wait_for_room(stream);
}
