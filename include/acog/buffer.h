/* buffer.h - bytes that grow up to a cap given at birth.
 *
 * A full buffer is an ordinary error (ACOG_TOO_BIG) and leaves the content as it was.
 */
#ifndef ACOG_BUFFER_H
#define ACOG_BUFFER_H

#include "acog/error.h"
#include "acog/view.h"

#include <stdarg.h>
#include <stddef.h>

struct acog_buffer {
    char *ptr; /* owned; NULL until the first append */
    size_t len;
    size_t room;      /* bytes behind ptr */
    size_t bytes_max; /* the cap */
};

/* Takes no memory yet. */
void acog_buffer_init(struct acog_buffer *buffer, size_t bytes_max);

/* A buffer over `bytes` of memory that someone else owns (an arena, a stack): full when that is full.
 * It is never given to acog_buffer_fini(), and cleared by setting `len` to 0. */
void acog_buffer_init_over(struct acog_buffer *buffer, void *memory, size_t bytes);

/* Gives the memory back; the buffer may be used again, with the same cap. */
void acog_buffer_fini(struct acog_buffer *buffer);

/* Makes room for `bytes` more. ACOG_TOO_BIG or ACOG_NO_MEMORY. */
enum acog_code acog_buffer_reserve(struct acog_buffer *buffer, size_t bytes) ACOG_MUST_CHECK;

enum acog_code acog_buffer_append(struct acog_buffer *buffer,
                                  struct acog_view bytes) ACOG_MUST_CHECK;

enum acog_code acog_buffer_format(struct acog_buffer *buffer, const char *fmt, ...)
    ACOG_PRINTF(2, 3) ACOG_MUST_CHECK;
enum acog_code acog_buffer_format_list(struct acog_buffer *buffer, const char *fmt, va_list args)
    ACOG_PRINTF(2, 0) ACOG_MUST_CHECK;

/* Appends `text` as the inside of a JSON string: quotes, backslashes and control characters escaped;
 * the rest, UTF-8 included, as it is. Bytes that are no UTF-8 become U+FFFD. */
enum acog_code acog_buffer_append_json(struct acog_buffer *buffer,
                                       struct acog_view text) ACOG_MUST_CHECK;

/* Drops the first `bytes` (at most all). Moves the rest to the front. */
void acog_buffer_consume(struct acog_buffer *buffer, size_t bytes);

/* Empties it. Memory above `keep_bytes` is given back. */
void acog_buffer_clear(struct acog_buffer *buffer, size_t keep_bytes);

static inline struct acog_view acog_buffer_view(const struct acog_buffer *buffer)
{
    return (struct acog_view){.ptr = buffer->ptr, .len = buffer->len};
}

#endif
