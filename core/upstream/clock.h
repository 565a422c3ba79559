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

#endif
