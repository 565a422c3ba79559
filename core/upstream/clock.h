/* clock.h - a time that only goes forward, for the few timers of core/upstream. */
#ifndef ACOG_CORE_UPSTREAM_CLOCK_H
#define ACOG_CORE_UPSTREAM_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t acog_clock_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline struct timeval acog_clock_wait(int64_t wait_ms)
{
    wait_ms = wait_ms < 0 ? 0 : wait_ms;
    return (struct timeval){.tv_sec = (time_t)(wait_ms / 1000),
                            .tv_usec = (suseconds_t)(wait_ms % 1000 * 1000)};
}

#endif
