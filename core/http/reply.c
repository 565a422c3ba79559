/* reply.c - what a handler says, as bytes in the queue.
 *
 * The framing is the server's alone: headers that would touch it are left out, data beyond the promised length is cut,
 * and a reply that ends short of it ends the connection. An error of the connection is only noted (LOST); the handler
 * hears of it from the event loop.
 */
#include "acog/contract.h"
#include "connection.h"

#include <string.h>

#define HEAD_OVERHEAD_BYTES 256 /* status line, Date, Connection and the framing */
#define CHUNK_HEAD_BYTES    18  /* sixteen digits and CRLF */

static struct acog_http_connection *connection_of(const struct acog_http_stream *stream)
{
    ACOG_ASSERT(stream->tag == ACOG_STREAM_TAG);
    ACOG_ASSERT(stream->connection->tag == ACOG_CONNECTION_TAG);
    return stream->connection;
}

static void mark(struct acog_http_connection *connection)
{
    acog_server_mark(connection->server, connection);
}

static void lose(struct acog_http_connection *connection)
{
    connection->state = ACOG_CONNECTION_LOST;
    mark(connection);
}

static struct acog_view chunk_head(char text[CHUNK_HEAD_BYTES], size_t bytes)
{
    static const char hex[] = "0123456789abcdef";
    size_t at = CHUNK_HEAD_BYTES;
    text[--at] = '\n';
    text[--at] = '\r';
    do {
        text[--at] = hex[bytes % 16];
        bytes /= 16;
    } while (bytes > 0);
    return (struct acog_view){.ptr = text + at, .len = CHUNK_HEAD_BYTES - at};
}

static bool is_ours(struct acog_view name)
{
    switch (name.len) {
    case sizeof("date") - 1:
        return acog_view_equal_nocase(name, ACOG_VIEW("date"));
    case sizeof("connection") - 1:
        return acog_view_equal_nocase(name, ACOG_VIEW("connection")) ||
               acog_view_equal_nocase(name, ACOG_VIEW("keep-alive"));
    case sizeof("content-length") - 1:
        return acog_view_equal_nocase(name, ACOG_VIEW("content-length"));
    case sizeof("transfer-encoding") - 1:
        return acog_view_equal_nocase(name, ACOG_VIEW("transfer-encoding"));
    default:
        return false;
    }
}

static bool is_head_request(const struct acog_http_stream *stream)
{
    return acog_view_equal(stream->reader.head.method, ACOG_VIEW("HEAD"));
}

static bool has_no_body(unsigned status)
{
    return status == 204 || status == 304;
}

/* How the body would end if there is one. */
static enum acog_http_framing choose_framing(const struct acog_http_stream *stream,
                                             int64_t content_length)
{
    if (content_length >= 0) {
        return ACOG_HTTP_LENGTH;
    }
    return stream->reader.head.minor == 0 ? ACOG_HTTP_UNTIL_CLOSE : ACOG_HTTP_CHUNKED;
}

static bool queue_header(struct acog_http_stream *stream, struct acog_view name,
                         struct acog_view value)
{
    enum acog_code code = acog_http_write_header(&stream->out, name, value);
    return code == ACOG_OK || code == ACOG_INVALID; /* what is no header is left out */
}

static bool queue_framing(struct acog_http_stream *stream, enum acog_http_framing framing,
                          int64_t content_length)
{
    char digits[ACOG_DIGITS_MAX];
    switch (framing) {
    case ACOG_HTTP_LENGTH:
        return queue_header(stream, ACOG_VIEW("content-length"),
                            acog_view_from_u64((uint64_t)content_length, digits));
    case ACOG_HTTP_CHUNKED:
        return queue_header(stream, ACOG_VIEW("transfer-encoding"), ACOG_VIEW("chunked"));
    case ACOG_HTTP_NO_BODY:
    case ACOG_HTTP_UNTIL_CLOSE:
        return true;
    }
    ACOG_UNREACHABLE("no such framing");
}

static bool queue_connection(struct acog_http_stream *stream)
{
    if (stream->connection->ending != ACOG_ENDING_KEEP) {
        return queue_header(stream, ACOG_VIEW("connection"), ACOG_VIEW("close"));
    }
    return stream->reader.head.minor == 1 ||
           queue_header(stream, ACOG_VIEW("connection"), ACOG_VIEW("keep-alive"));
}

static bool queue_head(struct acog_http_stream *stream, unsigned status,
                       const struct acog_header_row *rows, size_t count, int64_t content_length)
{
    size_t bytes = HEAD_OVERHEAD_BYTES;
    for (size_t i = 0; i < count; i++) {
        bytes += rows[i].name.len + rows[i].value.len + 4;
    }
    if (acog_output_reserve(stream, bytes) == NULL ||
        acog_http_write_status(&stream->out, status) != ACOG_OK) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(rows[i].name) && !queue_header(stream, rows[i].name, rows[i].value)) {
            return false;
        }
    }
    return queue_header(stream, ACOG_VIEW("date"), acog_server_date(stream->connection->server)) &&
           queue_connection(stream) &&
           (has_no_body(status) || queue_framing(stream, stream->framing, content_length)) &&
           acog_buffer_append(&stream->out, ACOG_VIEW("\r\n")) == ACOG_OK;
}

/* The head of a reply, its framing and what follows it. */
static bool open_reply(struct acog_http_stream *stream, unsigned status,
                       const struct acog_header_row *rows, size_t count, int64_t content_length)
{
    stream->phase = ACOG_REPLY_OPEN;
    stream->framing = choose_framing(stream, content_length);
    stream->reply_left = content_length > 0 ? (uint64_t)content_length : 0;
    bool bodiless = has_no_body(status) || is_head_request(stream);
    if (stream->framing == ACOG_HTTP_UNTIL_CLOSE && !bodiless) {
        stream->connection->ending = ACOG_ENDING_CLOSE;
    }
    bool queued = queue_head(stream, status, rows, count, content_length);
    if (bodiless) {
        stream->framing = ACOG_HTTP_NO_BODY;
    }
    return queued;
}

void acog_http_reply_head(struct acog_http_stream *stream, unsigned status,
                          const struct acog_header_row *rows, size_t count, int64_t content_length)
{
    struct acog_http_connection *connection = connection_of(stream);
    ACOG_ASSERT(stream->phase == ACOG_REPLY_WAITING);
    ACOG_ASSERT(status >= 200);
    ACOG_ASSERT(status <= 999);
    bool keep = stream->reader.head.keep_alive && connection->server->state == ACOG_SERVER_OPEN &&
                connection->reading != ACOG_READING_WASTED;
    connection->ending = keep ? ACOG_ENDING_KEEP : ACOG_ENDING_CLOSE;
    if (!open_reply(stream, status, rows, count, content_length)) {
        lose(connection);
        return;
    }
    mark(connection);
}

/* Queues or sends up to three pieces that belong together. */
static bool put_pieces(struct acog_http_stream *stream, const struct acog_view *pieces,
                       size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += pieces[i].len;
    }
    if (bytes >= ACOG_HTTP_DIRECT_BYTES) {
        return acog_output_send(stream, pieces, count) != ACOG_OUTPUT_FAILED;
    }
    char *to = acog_output_reserve(stream, bytes);
    if (to == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].ptr != NULL) {
            memcpy(to, pieces[i].ptr, pieces[i].len);
            to += pieces[i].len;
        }
    }
    stream->out.len += bytes;
    return true;
}

static bool put_data(struct acog_http_stream *stream, struct acog_view data)
{
    char text[CHUNK_HEAD_BYTES];
    switch (stream->framing) {
    case ACOG_HTTP_NO_BODY:
        return true;
    case ACOG_HTTP_LENGTH:
        if (data.len > stream->reply_left) {
            data = acog_view_slice(data, 0, (size_t)stream->reply_left);
            stream->connection->ending = ACOG_ENDING_CLOSE;
        }
        stream->reply_left -= data.len;
        return data.len == 0 || put_pieces(stream, &data, 1);
    case ACOG_HTTP_CHUNKED:
        return put_pieces(
            stream, (const struct acog_view[]){chunk_head(text, data.len), data, ACOG_VIEW("\r\n")},
            3);
    case ACOG_HTTP_UNTIL_CLOSE:
        return put_pieces(stream, &data, 1);
    }
    ACOG_UNREACHABLE("no such framing");
}

void acog_http_reply_data(struct acog_http_stream *stream, struct acog_view data)
{
    struct acog_http_connection *connection = connection_of(stream);
    ACOG_ASSERT(stream->phase == ACOG_REPLY_OPEN);
    if (data.len == 0 || connection->state == ACOG_CONNECTION_LOST) {
        return;
    }
    ACOG_ASSERT(data.ptr != NULL);
    if (!put_data(stream, data)) {
        lose(connection);
        return;
    }
    if (acog_http_reply_full(stream)) {
        stream->flow = ACOG_FLOW_FULL;
    }
    mark(connection);
}

/* The handler lets go of the stream. */
static void finish(struct acog_http_connection *connection)
{
    if (connection->state == ACOG_CONNECTION_LOST) {
        connection->ending = ACOG_ENDING_RESET;
    }
    connection->state = ACOG_CONNECTION_FINISHING;
    if (connection->blocked) {
        acog_server_time(connection, ACOG_DEADLINE_WRITE);
    }
    mark(connection);
}

void acog_http_reply_end(struct acog_http_stream **stream)
{
    struct acog_http_connection *connection = connection_of(*stream);
    ACOG_ASSERT((*stream)->phase == ACOG_REPLY_OPEN);
    const struct acog_view last = ACOG_VIEW("0\r\n\r\n");
    bool chunked = (*stream)->framing == ACOG_HTTP_CHUNKED;
    bool is_short = (*stream)->framing == ACOG_HTTP_LENGTH && (*stream)->reply_left > 0;
    if (connection->state == ACOG_CONNECTION_HANDLING) {
        if (is_short) {
            connection->ending = ACOG_ENDING_CLOSE;
        }
        if (chunked && !put_pieces(*stream, &last, 1)) {
            connection->ending = ACOG_ENDING_RESET;
        }
    }
    *stream = NULL;
    finish(connection);
}

void acog_http_reply_abort(struct acog_http_stream **stream)
{
    struct acog_http_connection *connection = connection_of(*stream);
    /* What is queued is sent first: the client learns as much as there is. */
    bool by_close =
        (*stream)->phase == ACOG_REPLY_OPEN && (*stream)->framing == ACOG_HTTP_UNTIL_CLOSE;
    connection->ending = by_close ? ACOG_ENDING_RESET : ACOG_ENDING_CLOSE;
    *stream = NULL;
    finish(connection);
}

void acog_http_request_forget_body(struct acog_http_stream *stream)
{
    (void)connection_of(stream);
    stream->request.body = (struct acog_view){0};
    acog_buffer_clear(&stream->body, ACOG_HTTP_FORGOTTEN_KEEP_BYTES);
}

bool acog_http_reply_full(const struct acog_http_stream *stream)
{
    return acog_output_queued(stream) > connection_of(stream)->server->options.write_high_bytes;
}

void acog_http_stream_set_user(struct acog_http_stream *stream, void *user)
{
    (void)connection_of(stream);
    stream->user = user;
}

void *acog_http_stream_user(const struct acog_http_stream *stream)
{
    (void)connection_of(stream);
    return stream->user;
}

void acog_reply_refusal(struct acog_http_stream *stream, const struct acog_http_problem *problem)
{
    struct acog_http_connection *connection = connection_of(stream);
    const struct acog_http_handler *handler = &connection->server->options.handler;
    struct acog_http_refusal refusal = {.status = problem->status};
    acog_buffer_init(&refusal.body, ACOG_HTTP_REFUSAL_BYTES_MAX);
    if (handler->refuse != NULL) {
        handler->refuse(handler->user, problem, stream->reader.head.target, &refusal);
        ACOG_ASSERT(refusal.status >= 400);
        ACOG_ASSERT(refusal.status <= 599);
        ACOG_ASSERT(refusal.row_count <= ACOG_HTTP_REFUSAL_ROWS_MAX);
    }
    struct acog_header_row rows[ACOG_HTTP_REFUSAL_ROWS_MAX + 1];
    size_t count = refusal.row_count;
    for (size_t i = 0; i < count; i++) {
        rows[i] = refusal.rows[i];
    }
    size_t body_bytes = refusal.body.len;
    if (body_bytes > 0) {
        rows[count] =
            (struct acog_header_row){ACOG_VIEW("content-type"), ACOG_VIEW("application/json")};
        count++;
    }
    connection->ending = ACOG_ENDING_CLOSE;
    bool whole = open_reply(stream, refusal.status, rows, count, (int64_t)body_bytes) &&
                 (body_bytes == 0 || put_data(stream, acog_buffer_view(&refusal.body)));
    acog_buffer_fini(&refusal.body);
    if (!whole) {
        connection->ending = ACOG_ENDING_RESET;
    }
    finish(connection);
}
