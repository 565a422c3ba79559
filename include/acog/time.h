/* time.h - moments as people write them, and waits as timers take them. No clock is read here. */
#ifndef ACOG_TIME_H
#define ACOG_TIME_H

#include "acog/buffer.h"
#include "acog/error.h"

#include <stdint.h>
#include <sys/time.h>

/* Appends "2026-01-31T12:00:00.000Z" (RFC 3339, UTC, milliseconds); what was before 1970 is 1970. */
enum acog_code acog_time_append(struct acog_buffer *out, int64_t unix_ms) ACOG_MUST_CHECK;

/* For a timer of the event loop; what is over already is no wait. */
static inline struct timeval acog_time_wait(int64_t wait_ms)
{
    wait_ms = wait_ms < 0 ? 0 : wait_ms;
    return (struct timeval){.tv_sec = (time_t)(wait_ms / 1000),
                            .tv_usec = (suseconds_t)(wait_ms % 1000 * 1000)};
}

#endif
