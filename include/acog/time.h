/* time.h - moments as people write them. No clock is read here.
 */
#ifndef ACOG_TIME_H
#define ACOG_TIME_H

#include "acog/buffer.h"
#include "acog/error.h"

#include <stdint.h>

/* Appends "2026-01-31T12:00:00.000Z" (RFC 3339, UTC, milliseconds); what was before 1970 is 1970. */
enum acog_code acog_time_append(struct acog_buffer *out, int64_t unix_ms) ACOG_MUST_CHECK;

#endif
