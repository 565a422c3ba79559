/* log.c - two buffers that change places: callers fill one under a lock, the writer empties the other without.
 *
 *   WAITING --first line--> LINGERING --time over, or half full--> WRITING --queue empty--> WAITING
 *                               ^                                     |
 *                               +----------- more lines --------------+
 *
 * Only the first line after a pause wakes the writer; all others cost a lock and a copy.
 */
#include "acog/log.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "acog/time.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES_MAX ((size_t)16384) /* of acog_log_write() */
#define KEPT_BYTES     ((size_t)65536) /* of an emptied buffer */
#define MS_PER_SECOND  INT64_C(1000)
#define NANOS_PER_MS   INT64_C(1000000)

/* -- a line ------------------------------------------------------------------------------------------ */

static struct acog_view level_name(enum acog_log_level level)
{
    switch (level) {
    case ACOG_LOG_DEBUG:
        return ACOG_VIEW("debug");
    case ACOG_LOG_INFO:
        return ACOG_VIEW("info");
    case ACOG_LOG_WARNING:
        return ACOG_VIEW("warning");
    case ACOG_LOG_ERROR:
        return ACOG_VIEW("error");
    }
    ACOG_UNREACHABLE("unknown acog_log_level");
}

bool acog_log_level_find(struct acog_view word, enum acog_log_level *level)
{
    static const enum acog_log_level all[] = {ACOG_LOG_DEBUG, ACOG_LOG_INFO, ACOG_LOG_WARNING,
                                              ACOG_LOG_ERROR};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (acog_view_equal(word, level_name(all[i]))) {
            *level = all[i];
            return true;
        }
    }
    return false;
}

static enum acog_code append_number(struct acog_buffer *out, int64_t number)
{
    char digits[ACOG_DIGITS_MAX];
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    enum acog_code code = number < 0 ? acog_buffer_append(out, ACOG_VIEW("-")) : ACOG_OK;
    return code == ACOG_OK ? acog_buffer_append(out, acog_view_from_u64(size, digits)) : code;
}

/* ,"name": */
static enum acog_code append_name(struct acog_buffer *out, struct acog_view name)
{
    enum acog_code code = acog_buffer_reserve(out, name.len + sizeof(",\"\":") - 1);
    if (code == ACOG_OK) {
        char *at = out->ptr + out->len;
        *at++ = ',';
        *at++ = '"';
        memcpy(at, name.ptr, name.len);
        at += name.len;
        *at++ = '"';
        *at++ = ':';
        out->len = (size_t)(at - out->ptr);
    }
    return code;
}

static enum acog_code append_text(struct acog_buffer *out, struct acog_view text)
{
    enum acog_code code = acog_buffer_append(out, ACOG_VIEW("\""));
    if (code == ACOG_OK) {
        code = acog_buffer_append_json(out, text);
    }
    return code == ACOG_OK ? acog_buffer_append(out, ACOG_VIEW("\"")) : code;
}

static enum acog_code append_value(struct acog_buffer *out, const struct acog_log_field *field)
{
    switch (field->type) {
    case ACOG_LOG_TEXT:
        return append_text(out, field->text);
    case ACOG_LOG_NUMBER:
        return append_number(out, field->number);
    case ACOG_LOG_FLAG:
        return acog_buffer_append(out, field->flag ? ACOG_VIEW("true") : ACOG_VIEW("false"));
    }
    ACOG_UNREACHABLE("unknown acog_log_type");
}

static enum acog_code append_fields(struct acog_buffer *out, const struct acog_log_field *fields,
                                    size_t count)
{
    enum acog_code code = ACOG_OK;
    for (size_t i = 0; i < count && code == ACOG_OK; i++) {
        code = append_name(out, acog_view_of(fields[i].name));
        if (code == ACOG_OK) {
            code = append_value(out, &fields[i]);
        }
    }
    return code;
}

enum acog_code acog_log_line(struct acog_buffer *out, int64_t unix_ms, enum acog_log_level level,
                             const char *event, const struct acog_log_field *fields, size_t count)
{
    size_t before = out->len;
    const struct acog_log_field first[] = {
        acog_log_text("level", level_name(level)),
        acog_log_text("event", acog_view_of(event)),
    };
    enum acog_code code = acog_buffer_append(out, ACOG_VIEW("{\"time\":\""));
    if (code == ACOG_OK) {
        code = acog_time_append(out, unix_ms);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(out, ACOG_VIEW("\""));
    }
    if (code == ACOG_OK) {
        code = append_fields(out, first, sizeof(first) / sizeof(first[0]));
    }
    if (code == ACOG_OK) {
        code = append_fields(out, fields, count);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(out, ACOG_VIEW("}\n"));
    }
    if (code != ACOG_OK) {
        out->len = before;
    }
    return code;
}

/* -- the writer -------------------------------------------------------------------------------------- */

enum writer_state {
    ACOG_WRITER_WAITING = 0,
    ACOG_WRITER_LINGERING,
    ACOG_WRITER_WRITING,
    ACOG_WRITER_ENDED,
};

struct acog_log {
    int fd;
    enum acog_log_level level;
    int64_t linger_ms;
    int64_t close_ms;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows, up to `writing` */
    pthread_cond_t changed;
    enum writer_state state;
    bool closing;
    struct acog_buffer queued;
    size_t queued_lines;
    struct acog_buffer writing; /* the writer's alone */
    _Atomic uint64_t dropped;
};

static void lock(struct acog_log *log)
{
    int result = pthread_mutex_lock(&log->mutex);
    ACOG_ASSERT(result == 0);
}

static void unlock(struct acog_log *log)
{
    int result = pthread_mutex_unlock(&log->mutex);
    ACOG_ASSERT(result == 0);
}

static struct timespec from_now(int64_t ms)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t nanos = time.tv_nsec + ms % MS_PER_SECOND * NANOS_PER_MS;
    time.tv_sec += (time_t)(ms / MS_PER_SECOND + nanos / (MS_PER_SECOND * NANOS_PER_MS));
    time.tv_nsec = (long)(nanos % (MS_PER_SECOND * NANOS_PER_MS));
    return time;
}

static bool write_all(int fd, struct acog_view bytes)
{
    while (bytes.len > 0) {
        ssize_t written = write(fd, bytes.ptr, bytes.len);
        if (written >= 0) {
            bytes = acog_view_slice(bytes, (size_t)written, bytes.len);
        } else if (errno == EAGAIN) { /* somebody made our stderr non-blocking */
            struct pollfd writable = {.fd = fd, .events = POLLOUT};
            (void)poll(&writable, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool half_full(const struct acog_log *log)
{
    return log->queued.len > log->queued.bytes_max / 2;
}

/* Waits for lines, lets some more gather. False when there will be none. The lock is held. */
static bool gather(struct acog_log *log)
{
    log->state = ACOG_WRITER_WAITING;
    while (log->queued.len == 0 && !log->closing) {
        (void)pthread_cond_wait(&log->changed, &log->mutex);
    }
    log->state = ACOG_WRITER_LINGERING;
    struct timespec until = from_now(log->linger_ms);
    int result = 0;
    while (!log->closing && !half_full(log) && result != ETIMEDOUT) {
        result = pthread_cond_timedwait(&log->changed, &log->mutex, &until);
    }
    log->state = ACOG_WRITER_WRITING;
    return log->queued.len > 0;
}

static void *run_writer(void *user)
{
    struct acog_log *log = user;
    lock(log);
    while (gather(log)) {
        struct acog_buffer full = log->queued;
        size_t lines = log->queued_lines;
        log->queued = log->writing;
        log->queued_lines = 0;
        log->writing = full;
        unlock(log);
        if (!write_all(log->fd, acog_buffer_view(&log->writing))) {
            atomic_fetch_add_explicit(&log->dropped, lines, memory_order_relaxed);
        }
        acog_buffer_clear(&log->writing, KEPT_BYTES);
        lock(log);
    }
    log->state = ACOG_WRITER_ENDED;
    (void)pthread_cond_broadcast(&log->changed);
    unlock(log);
    return NULL;
}

/* The thread takes no signals: they are for the one that runs the gateway. */
static int start_thread(struct acog_log *log)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&log->thread, NULL, run_writer, log);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static void init_locks(struct acog_log *log)
{
    pthread_condattr_t monotonic;
    int result = pthread_mutex_init(&log->mutex, NULL);
    ACOG_ASSERT(result == 0);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    result = pthread_cond_init(&log->changed, &monotonic);
    ACOG_ASSERT(result == 0);
    (void)pthread_condattr_destroy(&monotonic);
}

static void release(struct acog_log **log)
{
    (void)pthread_cond_destroy(&(*log)->changed);
    (void)pthread_mutex_destroy(&(*log)->mutex);
    acog_buffer_fini(&(*log)->queued);
    acog_buffer_fini(&(*log)->writing);
    acog_free(*log);
    *log = NULL;
}

struct acog_log *acog_log_new(const struct acog_log_options *options, struct acog_error *error)
{
    struct acog_log *log = acog_new(sizeof(*log));
    if (log == NULL) {
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for the log");
        return NULL;
    }
    log->fd = options->fd;
    log->level = options->level;
    log->linger_ms = options->linger_ms;
    log->close_ms = options->close_ms;
    acog_buffer_init(&log->queued, options->queue_bytes_max);
    acog_buffer_init(&log->writing, options->queue_bytes_max);
    init_locks(log);
    int result = start_thread(log);
    if (result != 0) {
        (void)acog_error_set(error, ACOG_IO, "no thread for the log: error %d", result);
        release(&log);
    }
    return log;
}

void acog_log_free(struct acog_log **log)
{
    if (*log == NULL) {
        return;
    }
    struct timespec until = from_now((*log)->close_ms);
    int result = 0;
    lock(*log);
    (*log)->closing = true;
    (void)pthread_cond_broadcast(&(*log)->changed);
    while ((*log)->state != ACOG_WRITER_ENDED && result != ETIMEDOUT) {
        result = pthread_cond_timedwait(&(*log)->changed, &(*log)->mutex, &until);
    }
    bool ended = (*log)->state == ACOG_WRITER_ENDED;
    unlock(*log);
    if (ended) {
        (void)pthread_join((*log)->thread, NULL);
        release(log);
    } else { /* it sits in write(); what it holds must stay */
        (void)pthread_detach((*log)->thread);
        *log = NULL;
    }
}

bool acog_log_wants(const struct acog_log *log, enum acog_log_level level)
{
    return log != NULL && level >= log->level;
}

void acog_log_write(struct acog_log *log, enum acog_log_level level, const char *event,
                    const struct acog_log_field *fields, size_t count)
{
    if (!acog_log_wants(log, level)) {
        return;
    }
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    int64_t unix_ms = (int64_t)time.tv_sec * MS_PER_SECOND + time.tv_nsec / NANOS_PER_MS;
    struct acog_buffer line;
    acog_buffer_init(&line, LINE_BYTES_MAX);
    if (acog_log_line(&line, unix_ms, level, event, fields, count) == ACOG_OK) {
        acog_log_hand_over(log, &line, 1);
    } else {
        atomic_fetch_add_explicit(&log->dropped, 1, memory_order_relaxed);
    }
    acog_buffer_fini(&line);
}

void acog_log_hand_over(struct acog_log *log, struct acog_buffer *lines, size_t count)
{
    if (log != NULL && lines->len > 0) {
        lock(log);
        bool was_half_full = half_full(log);
        if (acog_buffer_append(&log->queued, acog_buffer_view(lines)) == ACOG_OK) {
            log->queued_lines += count;
        } else {
            atomic_fetch_add_explicit(&log->dropped, count, memory_order_relaxed);
        }
        if (log->state == ACOG_WRITER_WAITING ||
            (log->state == ACOG_WRITER_LINGERING && half_full(log) && !was_half_full)) {
            (void)pthread_cond_signal(&log->changed);
        }
        unlock(log);
    }
    acog_buffer_clear(lines, KEPT_BYTES);
}

uint64_t acog_log_dropped(const struct acog_log *log)
{
    return log == NULL ? 0 : atomic_load_explicit(&log->dropped, memory_order_relaxed);
}
