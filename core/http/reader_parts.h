/* reader_parts.h - what the files of the reader share: reader.c (cuts the bytes into head and body), head.c (reads a
 * whole head), chunk.c (reads chunk lines and trailers, byte by byte).
 *
 *   START ─CR─> START_LF ─LF─> START                     (empty lines before a request, at most two)
 *   START ─byte─> HEAD ─empty line─> OVER                (no body)
 *                                 ├─> BODY ─last byte─> OVER
 *                                 └─> CHUNKS ─last line─> OVER
 *   OVER ─(END)─> DONE          any ─> BROKEN
 */
#ifndef ACOG_HTTP_READER_PARTS_H
#define ACOG_HTTP_READER_PARTS_H

#include "acog/http.h"

#include <stdbool.h>
#include <stddef.h>

#define ACOG_READER_EMPTY_LINES_MAX     2  /* before a request: some clients end a body with CRLF */
#define ACOG_READER_INTERIM_MAX         16 /* 1xx heads before the final one */
#define ACOG_READER_CHUNK_DIGITS_MAX    16 /* of a chunk's size, leading zeros counted */
#define ACOG_READER_EXTENSION_BYTES_MAX 256  /* of one chunk's line */
#define ACOG_READER_TRAILER_BYTES_MAX   8192 /* of all trailers of a message */

enum acog_reader_state {
    ACOG_READER_START = 0,
    ACOG_READER_START_LF,
    ACOG_READER_HEAD,
    ACOG_READER_BODY, /* by length, or until close */
    ACOG_READER_CHUNKS,
    ACOG_READER_OVER, /* all bytes were taken; END was not told yet */
    ACOG_READER_DONE,
    ACOG_READER_BROKEN,
};

/* Within CHUNKS. */
enum acog_chunk_state {
    ACOG_CHUNK_SIZE_FIRST = 0,
    ACOG_CHUNK_SIZE,
    ACOG_CHUNK_EXTENSION_NAME_FIRST,
    ACOG_CHUNK_EXTENSION_NAME,
    ACOG_CHUNK_EXTENSION_VALUE_FIRST,
    ACOG_CHUNK_EXTENSION_VALUE,
    ACOG_CHUNK_EXTENSION_QUOTED,
    ACOG_CHUNK_EXTENSION_QUOTED_PAIR,
    ACOG_CHUNK_EXTENSION_QUOTED_END,
    ACOG_CHUNK_SIZE_LF,
    ACOG_CHUNK_DATA,
    ACOG_CHUNK_DATA_CR,
    ACOG_CHUNK_DATA_LF,
    ACOG_CHUNK_TRAILER_LINE,
    ACOG_CHUNK_TRAILER_NAME,
    ACOG_CHUNK_TRAILER_VALUE,
    ACOG_CHUNK_TRAILER_LF,
    ACOG_CHUNK_LAST_LF,
};

/* Notes the problem (502 for a response, whatever `status` says) and returns false. */
bool acog_reader_refuse(struct acog_http_reader *reader, unsigned status, const char *what);

/* Reads the whole head in reader->head_bytes, which ends with the empty line, into reader->head; names are lowered in
 * place. False when it is refused. */
bool acog_reader_parse_head(struct acog_http_reader *reader);

/* Of a head that will not be whole: reader->head gets its method and target, as they are written, when they can be told
 * from the first line. It may leave a problem. */
void acog_reader_note_target(struct acog_http_reader *reader);

/* Takes framing bytes of a chunked body until there is data (ACOG_CHUNK_DATA), the message is OVER, or they are used
 * up. False when they are refused. */
bool acog_reader_read_chunk_lines(struct acog_http_reader *reader, struct acog_view bytes,
                                  size_t *used);

#endif
