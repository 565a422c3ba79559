/* writer.h - JSON text into a buffer whose room was reckoned beforehand.
 *
 * A play knows the size of its largest event before the first one (provider.c), so writing cannot fail: a full buffer
 * is a wrong reckoning, a bug.
 */
#ifndef ACOG_PROVIDER_WRITER_H
#define ACOG_PROVIDER_WRITER_H

#include "acog/buffer.h"
#include "acog/view.h"

#include <stdint.h>

/* As it is. */
void acog_write_raw(struct acog_buffer *out, struct acog_view text);
#define ACOG_WRITE(out, literal) acog_write_raw((out), ACOG_VIEW(literal))

/* A JSON string, quotes included. */
void acog_write_string(struct acog_buffer *out, struct acog_view text);

/* A JSON string, or null for an empty text. */
void acog_write_string_or_null(struct acog_buffer *out, struct acog_view text);

void acog_write_number(struct acog_buffer *out, int64_t number);

/* `prefix` and `length` characters that `seed` and `salt` choose: an id that is the same each time. */
void acog_write_id(struct acog_buffer *out, struct acog_view prefix, uint64_t seed, uint64_t salt,
                   unsigned length);

/* The most bytes that acog_write_string() can make of `text`. */
size_t acog_written_bytes_max(struct acog_view text);

#endif
