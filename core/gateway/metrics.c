/* metrics.c - where the counters live and what a finished request adds to them. */
#include "metrics.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "record.h"

static const int64_t bucket_bounds_ms[ACOG_BUCKET_COUNT] = {
    5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 120000, 300000};

int64_t acog_metrics_bucket_ms(size_t bucket)
{
    ACOG_ASSERT(bucket < ACOG_BUCKET_COUNT);
    return bucket_bounds_ms[bucket];
}

static void worker_free(struct acog_worker_counts *counts)
{
    if (counts != NULL) {
        acog_free(counts->connections);
        acog_free(counts);
    }
}

static struct acog_worker_counts *worker_new(size_t connection_count)
{
    struct acog_worker_counts *counts = acog_new(sizeof(*counts));
    if (counts == NULL) {
        return NULL;
    }
    counts->connections = acog_new((connection_count + 1) * sizeof(*counts->connections));
    if (counts->connections == NULL) {
        worker_free(counts);
        return NULL;
    }
    return counts;
}

struct acog_metrics *acog_metrics_new(size_t worker_count, size_t connection_count)
{
    struct acog_metrics *metrics = acog_new(sizeof(*metrics));
    if (metrics == NULL) {
        return NULL;
    }
    metrics->connection_count = connection_count;
    metrics->workers = acog_new(worker_count * sizeof(struct acog_worker_counts *));
    if (metrics->workers == NULL) {
        acog_metrics_free(&metrics);
        return NULL;
    }
    metrics->worker_count = worker_count;
    for (size_t i = 0; i < worker_count; i++) {
        metrics->workers[i] = worker_new(connection_count);
        if (metrics->workers[i] == NULL) {
            acog_metrics_free(&metrics);
            return NULL;
        }
    }
    return metrics;
}

void acog_metrics_free(struct acog_metrics **metrics)
{
    if (*metrics == NULL) {
        return;
    }
    for (size_t i = 0; (*metrics)->workers != NULL && i < (*metrics)->worker_count; i++) {
        worker_free((*metrics)->workers[i]);
    }
    acog_free((void *)(*metrics)->workers);
    acog_free(*metrics);
    *metrics = NULL;
}

void acog_histogram_note(struct acog_histogram *histogram, int64_t ms)
{
    size_t bucket = 0;
    while (bucket < ACOG_BUCKET_COUNT && ms > bucket_bounds_ms[bucket]) {
        bucket++;
    }
    acog_count_add(&histogram->counts[bucket], 1);
    acog_count_add(&histogram->sum_ms, ms > 0 ? (uint64_t)ms : 0);
}

static bool is_charged(enum acog_charge charge)
{
    switch (charge) {
    case ACOG_CHARGE_ONE:
    case ACOG_CHARGE_TRIP:
        return true;
    case ACOG_CHARGE_NONE:
    case ACOG_CHARGE_SUCCESS:
    case ACOG_CHARGE_IGNORE:
        return false;
    }
    ACOG_UNREACHABLE("unknown acog_charge");
}

static void note_attempt(struct acog_worker_counts *counts, const struct acog_snapshot *snapshot,
                         const struct acog_attempt_row *attempt)
{
    struct acog_connection_counts *of =
        &counts->connections[snapshot->candidates[attempt->candidate].connection];
    acog_count_add(&of->attempts[attempt->failed ? attempt->class : ACOG_CLASS_NONE], 1);
    if (attempt->failed && is_charged(snapshot->policy.classes[attempt->class].charge)) {
        acog_count_add(&counts->charged_failures, 1);
    }
}

static void note_tokens(acog_count *count, int64_t tokens)
{
    if (tokens > 0) {
        acog_count_add(count, (uint64_t)tokens);
    }
}

void acog_metrics_note(struct acog_worker_counts *counts, size_t connection_count,
                       const struct acog_exchange_record *record)
{
    size_t surface = record->routed ? (size_t)record->surface : ACOG_SURFACE_OTHER;
    size_t group = record->status / 100 < ACOG_STATUS_GROUP_COUNT ? record->status / 100 : 0;
    const struct acog_attempt_row *answering = acog_record_attempt(record);
    size_t connection = answering == NULL
                            ? connection_count
                            : record->snapshot->candidates[answering->candidate].connection;
    struct acog_connection_counts *of = &counts->connections[connection];
    acog_count_add(&counts->requests, 1);
    acog_count_add(&counts->request_bytes, record->request_bytes);
    acog_count_add(&counts->reply_bytes, record->reply_bytes);
    acog_count_add(&of->requests[surface][group], 1);
    acog_histogram_note(&counts->durations[surface], record->ended_ms - record->started_ms);
    for (size_t i = 0; record->request != NULL && i < record->request->attempt_count; i++) {
        note_attempt(counts, record->snapshot, &record->request->attempts[i]);
    }
    if (answering != NULL) {
        note_tokens(&of->input_tokens, record->usage.input_tokens);
        note_tokens(&of->cached_tokens, record->usage.cached_tokens);
        note_tokens(&of->output_tokens, record->usage.output_tokens);
    }
    int64_t first_output_ms = acog_record_first_output_ms(record);
    if (first_output_ms >= 0) {
        acog_histogram_note(&of->first_output, first_output_ms);
    }
}
