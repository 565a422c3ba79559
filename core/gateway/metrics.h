/* metrics.h - counters: each is written by one worker and read by the admin thread, so a relaxed load and store do.
 *
 * Labels come from configured names and closed vocabularies only, never from a client.
 */
#ifndef ACOG_GATEWAY_METRICS_H
#define ACOG_GATEWAY_METRICS_H

#include "acog/buffer.h"
#include "acog/error.h"
#include "acog/exchange.h"
#include "acog/names.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_BUCKET_COUNT       15
#define ACOG_STATUS_GROUP_COUNT 6 /* by the first digit; 0: the client left before */
#define ACOG_SURFACE_OTHER      ACOG_SURFACE_COUNT /* answered by the gateway itself */
#define ACOG_CLASS_NONE         ACOG_CLASS_COUNT   /* an attempt that did not fail */
#define ACOG_CACHE_LINE_BYTES   64

struct acog_service;

typedef _Atomic uint64_t acog_count;

static inline uint64_t acog_count_get(const acog_count *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

static inline void acog_count_set(acog_count *count, uint64_t value)
{
    atomic_store_explicit(count, value, memory_order_relaxed);
}

/* By the one thread that owns the counter: no locked instruction. */
static inline void acog_count_add(acog_count *count, uint64_t more)
{
    acog_count_set(count, acog_count_get(count) + more);
}

struct acog_histogram {
    acog_count counts[ACOG_BUCKET_COUNT + 1]; /* not cumulative; the last: above all bounds */
    acog_count sum_ms;
};

struct acog_connection_counts {
    acog_count requests[ACOG_SURFACE_COUNT + 1][ACOG_STATUS_GROUP_COUNT];
    acog_count attempts[ACOG_CLASS_COUNT + 1];
    acog_count input_tokens;
    acog_count cached_tokens;
    acog_count output_tokens;
    struct acog_histogram first_output;
};

/* One worker's. The edges keep two workers off the same cache line. */
struct acog_worker_counts {
    char edge_before[ACOG_CACHE_LINE_BYTES];
    acog_count requests;
    acog_count charged_failures; /* attempts whose class is charged to a circuit */
    acog_count tls_refused;      /* handshakes that failed */
    acog_count refused;          /* bytes that were no request, and requests that found no memory */
    acog_count policy_failures;  /* functions that failed */
    acog_count request_bytes;
    acog_count reply_bytes;
    acog_count in_flight; /* gauges from here */
    acog_count client_connections;
    acog_count upstream_connects;
    acog_count upstream_reuses;
    acog_count upstream_connect_failures;
    acog_count upstream_open;
    acog_count upstream_idle;
    struct acog_histogram durations[ACOG_SURFACE_COUNT + 1];
    struct acog_connection_counts *connections; /* owned; one more than there are: no connection */
    char edge_after[ACOG_CACHE_LINE_BYTES];
};

struct acog_metrics {
    size_t worker_count;
    size_t connection_count;
    struct acog_worker_counts **workers; /* owned, each alone */
};

/* NULL: no memory. */
struct acog_metrics *acog_metrics_new(size_t worker_count, size_t connection_count);
void acog_metrics_free(struct acog_metrics **metrics);

/* The upper bound of a bucket. */
int64_t acog_metrics_bucket_ms(size_t bucket);
void acog_histogram_note(struct acog_histogram *histogram, int64_t ms);

/* Counts a finished request. `connection_count` is the snapshot's. */
void acog_metrics_note(struct acog_worker_counts *counts, size_t connection_count,
                       const struct acog_exchange_record *record);

/* The Prometheus text (version 0.0.4). */
enum acog_code acog_metrics_render(const struct acog_service *service, int64_t now_ms,
                                   struct acog_buffer *out) ACOG_MUST_CHECK;

#endif
