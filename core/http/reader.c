/* reader.c - cuts the bytes of a connection into heads and bodies.
 *
 * A head is copied, because its views must outlive the receive buffer; its end is searched line by line with memchr,
 * and it is parsed once, when it is whole (head.c). What can be told from a line's end is told at once: a bare LF, a
 * first byte that begins no message (so a TLS hello on a plain port gets its answer without a timeout), a head that is
 * too long. Body bytes are never copied.
 */
#include "acog/contract.h"
#include "acog/memory.h"
#include "charset.h"
#include "reader_parts.h"

#include <string.h>

#define HEAD_KEEP_BYTES  8192 /* of the head's memory, kept for the next message */
#define FIELDS_KEEP_ROOM 32   /* and of its rows */

bool acog_reader_refuse(struct acog_http_reader *reader, unsigned status, const char *what)
{
    reader->problem.status = reader->role == ACOG_HTTP_RESPONSE ? 502 : status;
    reader->problem.what = what;
    return false;
}

static enum acog_http_step broken(struct acog_http_reader *reader)
{
    reader->state = ACOG_READER_BROKEN;
    return ACOG_HTTP_STEP_BROKEN;
}

static enum acog_http_step refuse(struct acog_http_reader *reader, unsigned status,
                                  const char *what)
{
    (void)acog_reader_refuse(reader, status, what);
    return broken(reader);
}

/* A head that does not come to its end: its first line, when that is whole, tells whom the refusal is for. */
static enum acog_http_step refuse_head(struct acog_http_reader *reader, unsigned status,
                                       const char *what)
{
    acog_reader_note_target(reader);
    return refuse(reader, status, what);
}

static void forget_message(struct acog_http_reader *reader)
{
    reader->state = ACOG_READER_START;
    reader->problem = (struct acog_http_problem){0};
    reader->line_bytes = 0;
    reader->body_left = 0;
    reader->body_taken = 0;
    reader->chunk_state = ACOG_CHUNK_SIZE_FIRST;
    reader->chunk_digits = 0;
    reader->extension_bytes = 0;
    reader->trailer_bytes = 0;
    reader->empty_lines = 0;
    reader->interim_count = 0;
    reader->head.method = (struct acog_view){0};
    reader->head.target = (struct acog_view){0};
    reader->head.status = 0;
    reader->head.minor = 1;
    reader->head.framing = ACOG_HTTP_NO_BODY;
    reader->head.content_length = 0;
    reader->head.keep_alive = false;
    reader->head.expect_continue = false;
    reader->head.field_count = 0;
}

void acog_http_reader_init(struct acog_http_reader *reader, enum acog_http_role role,
                           const struct acog_http_reader_limits *limits)
{
    ACOG_ASSERT(limits->fields_max > 0);
    ACOG_ASSERT(limits->fields_max <= ACOG_HTTP_FIELDS_MAX);
    reader->role = role;
    reader->limits = *limits;
    reader->head_request = false;
    reader->head.fields = NULL;
    reader->fields_room = 0;
    acog_buffer_init(&reader->head_bytes, limits->head_bytes_max);
    forget_message(reader);
}

static void forget_fields(struct acog_http_reader *reader)
{
    acog_free(reader->head.fields);
    reader->head.fields = NULL;
    reader->fields_room = 0;
}

void acog_http_reader_fini(struct acog_http_reader *reader)
{
    acog_buffer_fini(&reader->head_bytes);
    forget_fields(reader);
}

void acog_http_reader_reset(struct acog_http_reader *reader)
{
    acog_buffer_clear(&reader->head_bytes, HEAD_KEEP_BYTES);
    if (reader->fields_room > FIELDS_KEEP_ROOM) {
        forget_fields(reader);
    }
    reader->head_request = false;
    forget_message(reader);
}

/* One byte before a message: part of an empty line, or the first of a head. False when it is neither. */
static bool begin(struct acog_http_reader *reader, char byte, size_t *used)
{
    if (reader->state == ACOG_READER_START_LF) {
        reader->state = ACOG_READER_START;
        *used += 1;
        return byte == '\n' || acog_reader_refuse(reader, 400, "CR without LF before a request");
    }
    if (byte == '\r' && reader->role == ACOG_HTTP_REQUEST) {
        reader->state = ACOG_READER_START_LF;
        reader->empty_lines++;
        *used += 1;
        return reader->empty_lines <= ACOG_READER_EMPTY_LINES_MAX ||
               acog_reader_refuse(reader, 400, "too many empty lines before a request");
    }
    if (reader->role == ACOG_HTTP_RESPONSE ? byte != 'H' : acog_http_token_byte(byte) == 0) {
        return acog_reader_refuse(reader, 400, "these bytes are not HTTP/1.1");
    }
    acog_buffer_clear(&reader->head_bytes, HEAD_KEEP_BYTES);
    reader->state = ACOG_READER_HEAD;
    reader->line_bytes = 0;
    reader->line_count = 0;
    return true;
}

enum head_scan {
    ACOG_SCAN_MORE = 0,
    ACOG_SCAN_COMPLETE,
    ACOG_SCAN_BARE_LF,
};

/* The byte before `at`: in these bytes, or the last of those that came earlier. */
static char byte_before(const struct acog_http_reader *reader, struct acog_view bytes, size_t at)
{
    if (at > 0) {
        return bytes.ptr[at - 1];
    }
    const struct acog_buffer *head = &reader->head_bytes;
    if (head->len > 0) {
        return head->ptr[head->len - 1];
    }
    return '\0';
}

/* How many of `bytes` belong to the head, and whether it ends with them. */
static enum head_scan scan_head(struct acog_http_reader *reader, struct acog_view bytes,
                                size_t *taken)
{
    size_t at = 0;
    while (bytes.ptr != NULL && at < bytes.len) {
        const char *lf = memchr(bytes.ptr + at, '\n', bytes.len - at);
        if (lf == NULL) {
            reader->line_bytes += bytes.len - at;
            at = bytes.len;
            break;
        }
        size_t end = (size_t)(lf - bytes.ptr);
        reader->line_bytes += end + 1 - at;
        reader->line_count++;
        at = end + 1;
        if (byte_before(reader, bytes, end) != '\r') {
            *taken = at;
            return ACOG_SCAN_BARE_LF;
        }
        if (reader->line_bytes == 2) {
            *taken = at;
            return ACOG_SCAN_COMPLETE;
        }
        reader->line_bytes = 0;
    }
    *taken = at;
    return ACOG_SCAN_MORE;
}

/* Room for the rows of the head, whose lines are counted: one for each but the first and the empty one. */
static bool make_fields(struct acog_http_reader *reader)
{
    size_t lines = reader->line_count - 2;
    size_t room = lines < reader->limits.fields_max ? lines : reader->limits.fields_max;
    if (room > reader->fields_room) {
        struct acog_header_row *grown = acog_grow(reader->head.fields, room * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        reader->head.fields = grown;
        reader->fields_room = room;
    }
    return true;
}

/* The head is parsed: where do its body's bytes begin? */
static enum acog_http_step begin_body(struct acog_http_reader *reader)
{
    const struct acog_http_head *head = &reader->head;
    if (reader->role == ACOG_HTTP_RESPONSE && head->status < 200) {
        if (++reader->interim_count > ACOG_READER_INTERIM_MAX) {
            return refuse(reader, 502, "too many interim responses");
        }
        reader->state = ACOG_READER_START;
        return ACOG_HTTP_STEP_INTERIM;
    }
    switch (head->framing) {
    case ACOG_HTTP_NO_BODY:
        reader->state = ACOG_READER_OVER;
        break;
    case ACOG_HTTP_LENGTH:
        reader->body_left = head->content_length;
        reader->state = head->content_length == 0 ? ACOG_READER_OVER : ACOG_READER_BODY;
        break;
    case ACOG_HTTP_CHUNKED:
        reader->state = ACOG_READER_CHUNKS;
        break;
    case ACOG_HTTP_UNTIL_CLOSE:
        reader->state = ACOG_READER_BODY;
        break;
    }
    return ACOG_HTTP_STEP_HEAD;
}

static enum acog_http_step read_head(struct acog_http_reader *reader, struct acog_view bytes,
                                     size_t *used)
{
    while (reader->state != ACOG_READER_HEAD) {
        if (*used == bytes.len) {
            return ACOG_HTTP_STEP_MORE;
        }
        if (!begin(reader, bytes.ptr[*used], used)) {
            return broken(reader);
        }
    }
    /* Only what the cap still allows is looked at, so the answer does not depend on how the bytes were cut. */
    size_t room = reader->limits.head_bytes_max - reader->head_bytes.len;
    struct acog_view rest = acog_view_slice(bytes, *used, bytes.len);
    struct acog_view seen = acog_view_slice(rest, 0, room);
    size_t taken = 0;
    enum head_scan found = scan_head(reader, seen, &taken);
    if (acog_buffer_append(&reader->head_bytes, acog_view_slice(seen, 0, taken)) != ACOG_OK) {
        return refuse(reader, 503, "out of memory");
    }
    if (found == ACOG_SCAN_BARE_LF) {
        return refuse_head(reader, 400, "a line ends with LF alone");
    }
    if (found == ACOG_SCAN_MORE && rest.len > seen.len) {
        return refuse_head(reader, 431, "the head is too large");
    }
    *used += taken;
    if (found == ACOG_SCAN_MORE) {
        return ACOG_HTTP_STEP_MORE;
    }
    if (!make_fields(reader)) {
        return refuse(reader, 503, "out of memory");
    }
    return acog_reader_parse_head(reader) ? begin_body(reader) : broken(reader);
}

/* The next piece of a body or of a chunk's data, up to body_left. */
static enum acog_http_step read_piece(struct acog_http_reader *reader, struct acog_view bytes,
                                      size_t *used, struct acog_view *body)
{
    struct acog_view rest = acog_view_slice(bytes, *used, bytes.len);
    if (rest.len == 0) {
        return ACOG_HTTP_STEP_MORE;
    }
    bool until_close = reader->head.framing == ACOG_HTTP_UNTIL_CLOSE;
    if (!until_close) {
        rest = reader->body_left < rest.len ? acog_view_slice(rest, 0, (size_t)reader->body_left)
                                            : rest;
        reader->body_left -= rest.len;
    }
    reader->body_taken += rest.len;
    *used += rest.len;
    *body = rest;
    if (!until_close && reader->body_left == 0) {
        if (reader->state == ACOG_READER_BODY) {
            reader->state = ACOG_READER_OVER;
        } else {
            reader->chunk_state = ACOG_CHUNK_DATA_CR;
        }
    }
    return ACOG_HTTP_STEP_BODY;
}

static enum acog_http_step read_chunks(struct acog_http_reader *reader, struct acog_view bytes,
                                       size_t *used, struct acog_view *body)
{
    if (!acog_reader_read_chunk_lines(reader, bytes, used)) {
        return broken(reader);
    }
    bool data = reader->state == ACOG_READER_CHUNKS && reader->chunk_state == ACOG_CHUNK_DATA;
    return data ? read_piece(reader, bytes, used, body) : ACOG_HTTP_STEP_MORE;
}

static enum acog_http_step read_step(struct acog_http_reader *reader, struct acog_view bytes,
                                     size_t *used, struct acog_view *body)
{
    switch ((enum acog_reader_state)reader->state) {
    case ACOG_READER_START:
    case ACOG_READER_START_LF:
    case ACOG_READER_HEAD:
        return read_head(reader, bytes, used);
    case ACOG_READER_BODY:
        return read_piece(reader, bytes, used, body);
    case ACOG_READER_CHUNKS:
        return read_chunks(reader, bytes, used, body);
    case ACOG_READER_OVER:
        return ACOG_HTTP_STEP_MORE;
    case ACOG_READER_DONE:
        ACOG_UNREACHABLE("a reader is reset before the next message");
    case ACOG_READER_BROKEN:
        return ACOG_HTTP_STEP_BROKEN;
    }
    ACOG_UNREACHABLE("no such state of a reader");
}

enum acog_http_step acog_http_reader_feed(struct acog_http_reader *reader, struct acog_view bytes,
                                          size_t *used, struct acog_view *body)
{
    *used = 0;
    *body = (struct acog_view){0};
    enum acog_http_step step = read_step(reader, bytes, used, body);
    if (step == ACOG_HTTP_STEP_MORE && reader->state == ACOG_READER_OVER) {
        reader->state = ACOG_READER_DONE;
        return ACOG_HTTP_STEP_END;
    }
    return step;
}

enum acog_http_step acog_http_reader_close(struct acog_http_reader *reader)
{
    bool begun = reader->state != ACOG_READER_START || reader->interim_count > 0;
    if (!begun) {
        return ACOG_HTTP_STEP_MORE;
    }
    bool by_close =
        reader->state == ACOG_READER_BODY && reader->head.framing == ACOG_HTTP_UNTIL_CLOSE;
    if (by_close || reader->state == ACOG_READER_OVER || reader->state == ACOG_READER_DONE) {
        reader->state = ACOG_READER_DONE;
        return ACOG_HTTP_STEP_END;
    }
    if (reader->state == ACOG_READER_BROKEN) {
        return ACOG_HTTP_STEP_BROKEN;
    }
    static const char what[] = "the connection closed inside a message";
    return reader->state == ACOG_READER_HEAD ? refuse_head(reader, 400, what)
                                             : refuse(reader, 400, what);
}
