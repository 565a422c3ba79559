/* log.h - one JSON object a line, written by a thread of its own.
 *
 * Nobody waits for a disk or a pipe: lines go into a queue with a cap, and a line that does not fit is dropped and
 * counted. The writer lingers a moment after the first line, so that a busy gateway makes few large writes; lines
 * are therefore up to `linger_ms` late, and those are lost if the process is killed.
 *
 * Event and field names are constants. Bodies, prompts, and headers with secrets are never given to it.
 */
#ifndef ACOG_LOG_H
#define ACOG_LOG_H

#include "acog/buffer.h"
#include "acog/error.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum acog_log_level {
    ACOG_LOG_DEBUG = 0,
    ACOG_LOG_INFO,
    ACOG_LOG_WARNING,
    ACOG_LOG_ERROR,
};

/* "debug", "info", "warning", "error". False, and *level untouched, for any other word. */
bool acog_log_level_find(struct acog_view word, enum acog_log_level *level);

/* -- a line ------------------------------------------------------------------------------------------ */

enum acog_log_type {
    ACOG_LOG_TEXT = 0,
    ACOG_LOG_NUMBER,
    ACOG_LOG_FLAG,
};

struct acog_log_field {
    const char *name; /* constant, in need of no escape */
    enum acog_log_type type;

    union {
        struct acog_view text;
        int64_t number;
        bool flag;
    };
};

static inline struct acog_log_field acog_log_text(const char *name, struct acog_view text)
{
    return (struct acog_log_field){.name = name, .type = ACOG_LOG_TEXT, .text = text};
}

static inline struct acog_log_field acog_log_number(const char *name, int64_t number)
{
    return (struct acog_log_field){.name = name, .type = ACOG_LOG_NUMBER, .number = number};
}

static inline struct acog_log_field acog_log_flag(const char *name, bool flag)
{
    return (struct acog_log_field){.name = name, .type = ACOG_LOG_FLAG, .flag = flag};
}

/* Appends {"time":"2026-01-31T12:00:00.000Z","level":"info","event":"…",…} and a line feed. Texts are escaped, broken
 * UTF-8 is replaced. On failure `out` is as it was. */
enum acog_code acog_log_line(struct acog_buffer *out, int64_t unix_ms, enum acog_log_level level,
                             const char *event, const struct acog_log_field *fields,
                             size_t count) ACOG_MUST_CHECK;

/* -- the writer -------------------------------------------------------------------------------------- */

struct acog_log;

struct acog_log_options {
    int fd; /* lent; blocking or not */
    enum acog_log_level level;
    size_t queue_bytes_max;
    int64_t linger_ms;
    int64_t close_ms; /* how long acog_log_free() waits for a reader that does not read */
};

/* Starts the thread. NULL with `error` filled in. */
struct acog_log *acog_log_new(const struct acog_log_options *options, struct acog_error *error);

/* Writes what is queued, then ends the thread. When that takes longer than close_ms the rest is given up, with the
 * thread's memory: the process is about to end. */
void acog_log_free(struct acog_log **log);

/* Whether lines of that level are wanted. NULL wants none. */
bool acog_log_wants(const struct acog_log *log, enum acog_log_level level);

/* Queues one line with the time of now. Safe from any thread. NULL does nothing. */
void acog_log_write(struct acog_log *log, enum acog_log_level level, const char *event,
                    const struct acog_log_field *fields, size_t count);

/* Queues `count` whole lines that the caller made with acog_log_line() and empties the buffer: one lock for many
 * requests. Safe from any thread. NULL only empties. */
void acog_log_hand_over(struct acog_log *log, struct acog_buffer *lines, size_t count);

/* Lines that were dropped since the start: the queue was full, or they could not be written. */
uint64_t acog_log_dropped(const struct acog_log *log);

#endif
