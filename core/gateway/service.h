/* service.h - what the threads of a gateway share: all of it is constant, atomic, or safe by itself.
 */
#ifndef ACOG_GATEWAY_SERVICE_H
#define ACOG_GATEWAY_SERVICE_H

#include "acog/log.h"
#include "acog/shared.h"
#include "acog/snapshot.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define ACOG_ADDRESS_TEXT_MAX 320

struct acog_http_tls;
struct acog_receipts;
struct acog_metrics;

enum acog_service_state {
    ACOG_SERVICE_SERVING = 0,
    ACOG_SERVICE_DRAINING,
};

struct acog_service {
    const char *path; /* of the configuration */
    struct acog_snapshot *snapshot;
    struct acog_shared *shared;
    struct acog_log *log;
    struct acog_metrics *metrics;
    struct acog_receipts *receipts;       /* NULL: none are kept */
    const struct acog_listener *listener; /* of the clients; lent */
    struct acog_http_tls *listen_tls;     /* lent; NULL: plain */
    struct acog_http_tls *admin_tls;
    int64_t started_ms;
    int64_t started_unix_ms;
    char listen_text[ACOG_ADDRESS_TEXT_MAX];
    char admin_text[ACOG_ADDRESS_TEXT_MAX]; /* empty: no admin listener */
    int ended_fd;                           /* an eventfd: each worker that ends adds one */
    _Atomic int state;                      /* enum acog_service_state */
};

static inline int64_t acog_clock_ms(clockid_t clock)
{
    struct timespec time;
    (void)clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static inline int64_t acog_now_ms(void)
{
    return acog_clock_ms(CLOCK_MONOTONIC);
}

static inline int64_t acog_unix_ms(void)
{
    return acog_clock_ms(CLOCK_REALTIME);
}

static inline enum acog_service_state acog_service_state(const struct acog_service *service)
{
    return (enum acog_service_state)atomic_load_explicit(&service->state, memory_order_relaxed);
}

#endif
