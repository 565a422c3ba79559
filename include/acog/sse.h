/* sse.h - a reader of server-sent events (WHATWG event-stream), fed in any pieces.
 *
 * It accepts LF, CR and CRLF and any mix of them, a BOM at the start, comments, fields in any order, with and
 * without the space behind the colon. An event is given out with its raw bytes, so that it can be passed on as
 * it came. Zero copy: when a whole event lies in the fed bytes, its views point there; only an event cut by a
 * read is gathered in the reader's own buffer (capped).
 *
 * Put one behind the other, the raw bytes of all events, the one of acog_sse_end() included, are the bytes that
 * were fed. An event is never held back for a LF that may follow its last CR: when that LF comes later, it is the
 * first raw byte of the next event, where it ends no line. So at the end of a stream there may be an event of that
 * one byte, without data.
 */
#ifndef ACOG_SSE_H
#define ACOG_SSE_H

#include "acog/buffer.h"
#include "acog/error.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>

struct acog_sse_event {
    struct acog_view
        raw; /* all of it: comments and fields before it, the blank line that ends it */
    struct acog_view name; /* of the last "event:" field, or empty */
    struct acog_view data; /* one data line: a view; more: joined with LF; none: empty */
    bool has_data;         /* false: comments, `retry`, `id` or blank lines only */
    bool gathered;         /* the views point into the reader's buffers, else into the fed bytes */
};

struct acog_sse_reader {
    struct acog_buffer
        pending;               /* the cut event; after it was given out, kept until the next call */
    struct acog_buffer joined; /* data of several lines */
    bool given;                /* `pending` was given out: forget it */
    bool started;              /* the BOM can no longer come */
    bool in_line;              /* the line being read is not blank */
    bool after_cr;             /* the last byte was a CR: a LF now belongs to it */
};

/* `event_bytes_max` caps one event, raw. */
void acog_sse_init(struct acog_sse_reader *reader, size_t event_bytes_max);
void acog_sse_fini(struct acog_sse_reader *reader);

/* Takes from `bytes`; on ACOG_OK an event is there and *used bytes of the input belong to it: feed the rest again.
 * ACOG_AGAIN: all was taken, no event yet. ACOG_TOO_BIG, ACOG_NO_MEMORY: the stream is broken; call no more.
 * The event's views are valid until the next call, and while the fed bytes are. */
enum acog_code acog_sse_next(struct acog_sse_reader *reader, struct acog_view bytes, size_t *used,
                             struct acog_sse_event *event) ACOG_MUST_CHECK;

/* At the end of the stream: the event that no blank line ended, if there is one (ACOG_OK), else ACOG_AGAIN. */
enum acog_code acog_sse_end(struct acog_sse_reader *reader,
                            struct acog_sse_event *event) ACOG_MUST_CHECK;

#endif
