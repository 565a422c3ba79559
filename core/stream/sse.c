/* sse.c - first finds where an event ends, then reads its lines.
 *
 *              any other byte
 *   LINE START ----------------> IN LINE          A LF behind a CR changes nothing: it belongs to the CR, wherever
 *    |      ^                      |              the reads are cut.
 *    |      |        CR or LF      |
 *    |      +----------------------+
 *    +--> CR or LF: the event ends here
 *
 * Finding looks at the fed bytes only, each once, whatever was gathered before; so a long event that comes byte by
 * byte costs no more than one that comes whole. Reading needs the event in one piece: in the fed bytes if it lies
 * there, else in `pending`.
 */
#include "acog/sse.h"

#include "scan.h"

#define KEPT_BYTES ((size_t)4096) /* of a buffer, between events */

void acog_sse_init(struct acog_sse_reader *reader, size_t event_bytes_max)
{
    *reader = (struct acog_sse_reader){0};
    acog_buffer_init(&reader->pending, event_bytes_max);
    acog_buffer_init(&reader->joined, event_bytes_max);
}

void acog_sse_fini(struct acog_sse_reader *reader)
{
    acog_buffer_fini(&reader->pending);
    acog_buffer_fini(&reader->joined);
}

/* Moves over `bytes` up to and with the end of an event; true if there is one. *used says how far it came. */
static bool find_end(struct acog_sse_reader *reader, struct acog_view bytes, size_t *used)
{
    const char *at = bytes.ptr;
    const char *end = at + bytes.len;
    if (reader->after_cr && *at == '\n') {
        at++;
    }
    reader->after_cr = false;
    while (at < end) {
        const char *mark = acog_scan_line_end(at, end);
        bool blank = mark == at && !reader->in_line;
        reader->in_line = mark == end;
        if (mark == end) {
            break;
        }
        at = mark + 1;
        if (*mark == '\r') {
            if (at == end) {
                reader->after_cr = true;
            } else if (*at == '\n') {
                at++;
            }
        }
        if (blank) {
            *used = (size_t)(at - bytes.ptr);
            return true;
        }
    }
    *used = bytes.len;
    return false;
}

static enum acog_code add_data(struct acog_sse_reader *reader, struct acog_view line,
                               struct acog_sse_event *event)
{
    if (!event->has_data) {
        event->has_data = true;
        event->data = line;
        return ACOG_OK;
    }
    enum acog_code code = ACOG_OK;
    if (reader->joined.len == 0) {
        code = acog_buffer_append(&reader->joined, event->data);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(&reader->joined, ACOG_VIEW("\n"));
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(&reader->joined, line);
    }
    event->data = acog_buffer_view(&reader->joined);
    return code;
}

static enum acog_code read_line(struct acog_sse_reader *reader, struct acog_view line,
                                struct acog_sse_event *event)
{
    const char *colon = line.len == 0 ? NULL : memchr(line.ptr, ':', line.len);
    size_t name_len = colon == NULL ? line.len : (size_t)(colon - line.ptr);
    struct acog_view name = acog_view_slice(line, 0, name_len);
    struct acog_view value = acog_view_slice(line, name_len + 1, line.len);
    if (value.len > 0 && value.ptr[0] == ' ') {
        value = acog_view_slice(value, 1, value.len);
    }
    if (acog_view_equal(name, ACOG_VIEW("data"))) {
        return add_data(reader, value, event);
    }
    if (acog_view_equal(name, ACOG_VIEW("event"))) {
        event->name = value;
    }
    return ACOG_OK;
}

/* Reads the lines of a whole event. A LF at its start is the rest of the line end before. */
static enum acog_code read_event(struct acog_sse_reader *reader, struct acog_view raw,
                                 struct acog_sse_event *event)
{
    const char *at = raw.ptr;
    const char *end = at + raw.len;
    enum acog_code code = ACOG_OK;
    *event = (struct acog_sse_event){.raw = raw};
    acog_buffer_clear(&reader->joined, KEPT_BYTES);
    if (!reader->started && acog_view_starts(raw, ACOG_VIEW("\xef\xbb\xbf"))) {
        at += 3;
    }
    reader->started = true;
    while (at < end && code == ACOG_OK) {
        const char *mark = acog_scan_line_end(at, end);
        code = read_line(reader, (struct acog_view){at, (size_t)(mark - at)}, event);
        at = mark == end ? end : mark + 1;
    }
    return code;
}

static void forget_given(struct acog_sse_reader *reader)
{
    if (reader->given) {
        acog_buffer_clear(&reader->pending, KEPT_BYTES);
        reader->given = false;
    }
}

static enum acog_code give_pending(struct acog_sse_reader *reader, struct acog_sse_event *event)
{
    enum acog_code code = read_event(reader, acog_buffer_view(&reader->pending), event);
    event->gathered = true;
    reader->given = true;
    return code;
}

enum acog_code acog_sse_next(struct acog_sse_reader *reader, struct acog_view bytes, size_t *used,
                             struct acog_sse_event *event)
{
    forget_given(reader);
    *used = 0;
    if (bytes.len == 0) {
        return ACOG_AGAIN;
    }
    bool whole = find_end(reader, bytes, used);
    struct acog_view taken = acog_view_slice(bytes, 0, *used);
    if (whole && reader->pending.len == 0) {
        if (taken.len > reader->pending.bytes_max) {
            return ACOG_TOO_BIG;
        }
        enum acog_code code = read_event(reader, taken, event);
        event->gathered = reader->joined.len > 0;
        return code;
    }
    enum acog_code code = acog_buffer_append(&reader->pending, taken);
    if (code != ACOG_OK) {
        return code;
    }
    return whole ? give_pending(reader, event) : ACOG_AGAIN;
}

enum acog_code acog_sse_end(struct acog_sse_reader *reader, struct acog_sse_event *event)
{
    forget_given(reader);
    return reader->pending.len == 0 ? ACOG_AGAIN : give_pending(reader, event);
}
