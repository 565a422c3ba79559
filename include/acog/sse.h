/* sse.h - a reader of server-sent events (WHATWG event-stream), fed in any pieces.
 *
 * It accepts LF, CR and CRLF and any mix of them, a BOM at the start, comments, fields in any order, with and
 * without the space behind the colon. An event is given out with its raw bytes, so that it can be passed on as
 * it came. Zero copy: when a whole event lies in the fed bytes, its views point there; only an event cut by a
 * read is gathered in the reader's own buffer (capped).
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
        raw; /* every byte of it: comments and fields before it, and the blank line that ends it */
    struct acog_view name; /* of the last "event:" field, or empty */
    struct acog_view
        data;      /* one data line: a view; more: joined with LF; empty for a block without data */
    bool has_data; /* false: comments, `retry`, `id` or blank lines only */
    bool gathered; /* the views point into the reader's buffer, else into the fed bytes */
};

struct acog_sse_reader {
    struct acog_buffer pending; /* the cut event */
    struct acog_buffer joined;  /* data of several lines */
    size_t scanned;             /* of pending: already looked at */
    bool started;               /* the BOM can no longer come */
    bool after_cr;              /* the last fed byte was a CR: a LF now belongs to it */
};

/* `event_bytes_max` caps one event, raw. */
void acog_sse_init(struct acog_sse_reader *reader, size_t event_bytes_max);
void acog_sse_fini(struct acog_sse_reader *reader);

/* Takes from `bytes`; on ACOG_OK an event is there and *used bytes of the input belong to it or came before it:
 * feed the rest again. ACOG_AGAIN: all was taken, no event yet. ACOG_TOO_BIG, ACOG_NO_MEMORY: the stream is broken.
 * The event's views are valid until the next call, and while the fed bytes are. */
enum acog_code acog_sse_next(struct acog_sse_reader *reader, struct acog_view bytes, size_t *used,
                             struct acog_sse_event *event) ACOG_MUST_CHECK;

/* At the end of the stream: the event that no blank line ended, if there is one (ACOG_OK), else ACOG_AGAIN. */
enum acog_code acog_sse_end(struct acog_sse_reader *reader,
                            struct acog_sse_event *event) ACOG_MUST_CHECK;

#endif
