/* metrics_text.c - the counters as Prometheus text. Series of a cross product that never counted are left out. */
#include "metrics.h"
#include "process.h"
#include "service.h"

#include <inttypes.h>
#include <string.h>

/* A page being written: the first failure stays. */
struct page {
    const struct acog_service *service;
    struct acog_buffer *out;
    enum acog_code code;
};

static void add(struct page *page, struct acog_view text)
{
    if (page->code == ACOG_OK) {
        page->code = acog_buffer_append(page->out, text);
    }
}

static void add_text(struct page *page, const char *text)
{
    add(page, acog_view_of(text));
}

static void family(struct page *page, const char *name, const char *type, const char *help)
{
    if (page->code == ACOG_OK) {
        page->code =
            acog_buffer_format(page->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
    }
}

/* Names are the operator's, but they may hold a quote. */
static void label(struct page *page, const char *before, const char *name, struct acog_view value)
{
    add_text(page, before);
    add_text(page, name);
    add_text(page, "=\"");
    while (value.len > 0) {
        size_t plain = 0;
        while (plain < value.len && strchr("\"\\\n", value.ptr[plain]) == NULL) {
            plain++;
        }
        add(page, acog_view_slice(value, 0, plain));
        if (plain < value.len) {
            add_text(page, value.ptr[plain] == '\n' ? "\\n" : "\\");
            add(page, value.ptr[plain] == '\n' ? (struct acog_view){0}
                                               : acog_view_slice(value, plain, plain + 1));
            plain++;
        }
        value = acog_view_slice(value, plain, value.len);
    }
    add_text(page, "\"");
}

static void value_u64(struct page *page, uint64_t value)
{
    if (page->code == ACOG_OK) {
        page->code = acog_buffer_format(page->out, " %" PRIu64 "\n", value);
    }
}

static void value_seconds(struct page *page, uint64_t ms)
{
    if (page->code == ACOG_OK) {
        page->code =
            acog_buffer_format(page->out, " %" PRIu64 ".%03" PRIu64 "\n", ms / 1000, ms % 1000);
    }
}

static void single(struct page *page, const char *name, const char *type, const char *help,
                   uint64_t value)
{
    family(page, name, type, help);
    add_text(page, name);
    value_u64(page, value);
}

/* -- sums over the workers ---------------------------------------------------------------------------- */

/* The sum of the counter that lies `offset` bytes into each worker's counts. */
static uint64_t sum_at(const struct acog_metrics *metrics, size_t offset)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < metrics->worker_count; i++) {
        const char *counts = (const char *)metrics->workers[i];
        sum += acog_count_get((const acog_count *)(const void *)(counts + offset));
    }
    return sum;
}

static uint64_t sum_of_connection(const struct acog_metrics *metrics, size_t connection,
                                  size_t offset)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < metrics->worker_count; i++) {
        const char *counts = (const char *)&metrics->workers[i]->connections[connection];
        sum += acog_count_get((const acog_count *)(const void *)(counts + offset));
    }
    return sum;
}

struct sums {
    uint64_t counts[ACOG_BUCKET_COUNT + 1];
    uint64_t all;
    uint64_t ms;
};

static void add_histogram(struct sums *sums, const struct acog_histogram *histogram)
{
    for (size_t i = 0; i <= ACOG_BUCKET_COUNT; i++) {
        uint64_t count = acog_count_get(&histogram->counts[i]);
        sums->counts[i] += count;
        sums->all += count;
    }
    sums->ms += acog_count_get(&histogram->sum_ms);
}

static void histogram(struct page *page, const char *name, const char *label_name,
                      struct acog_view label_value, const struct sums *sums)
{
    uint64_t below = 0;
    for (size_t i = 0; i <= ACOG_BUCKET_COUNT; i++) {
        below += sums->counts[i];
        add_text(page, name);
        label(page, "_bucket{", label_name, label_value);
        if (page->code == ACOG_OK && i < ACOG_BUCKET_COUNT) {
            int64_t bound = acog_metrics_bucket_ms(i);
            page->code = acog_buffer_format(page->out, ",le=\"%" PRId64 ".%03" PRId64 "\"}",
                                            bound / 1000, bound % 1000);
        } else {
            add_text(page, ",le=\"+Inf\"}");
        }
        value_u64(page, below);
    }
    add_text(page, name);
    label(page, "_sum{", label_name, label_value);
    add_text(page, "}");
    value_seconds(page, sums->ms);
    add_text(page, name);
    label(page, "_count{", label_name, label_value);
    add_text(page, "}");
    value_u64(page, sums->all);
}

/* -- the families ------------------------------------------------------------------------------------- */

static struct acog_view connection_name(const struct acog_service *service, size_t connection)
{
    return connection < service->metrics->connection_count
               ? service->snapshot->connections[connection].id
               : ACOG_VIEW("none");
}

static struct acog_view surface_name(size_t surface)
{
    return surface < ACOG_SURFACE_COUNT ? acog_name(ACOG_VOCABULARY_SURFACE, (int)surface)
                                        : ACOG_VIEW("other");
}

static void requests_of(struct page *page, size_t connection, size_t surface)
{
    static const char *const groups[ACOG_STATUS_GROUP_COUNT] = {"none", "1xx", "2xx",
                                                                "3xx",  "4xx", "5xx"};
    for (size_t group = 0; group < ACOG_STATUS_GROUP_COUNT; group++) {
        size_t offset = offsetof(struct acog_connection_counts, requests) +
                        (surface * ACOG_STATUS_GROUP_COUNT + group) * sizeof(acog_count);
        uint64_t sum = sum_of_connection(page->service->metrics, connection, offset);
        if (sum > 0) {
            label(page, "acog_requests_total{", "surface", surface_name(surface));
            label(page, ",", "status", acog_view_of(groups[group]));
            label(page, ",", "connection", connection_name(page->service, connection));
            add_text(page, "}");
            value_u64(page, sum);
        }
    }
}

static void requests(struct page *page)
{
    family(page, "acog_requests_total", "counter",
           "Requests by surface, status told to the client (none: it left before) and the "
           "connection that answered or failed last.");
    for (size_t i = 0; i <= page->service->metrics->connection_count; i++) {
        for (size_t surface = 0; surface <= ACOG_SURFACE_COUNT; surface++) {
            requests_of(page, i, surface);
        }
    }
}

static void attempts(struct page *page)
{
    const struct acog_metrics *metrics = page->service->metrics;
    family(page, "acog_attempts_total", "counter",
           "Attempts by connection and failure class (none: it did not fail).");
    for (size_t i = 0; i < metrics->connection_count; i++) {
        for (size_t class = 0; class <= ACOG_CLASS_NONE; class ++) {
            uint64_t sum = sum_of_connection(metrics, i,
                                             offsetof(struct acog_connection_counts, attempts) +
                                                 class * sizeof(acog_count));
            if (sum > 0) {
                label(page, "acog_attempts_total{", "connection",
                      connection_name(page->service, i));
                label(page, ",", "class",
                      class < ACOG_CLASS_COUNT ? acog_name(ACOG_VOCABULARY_CLASS, (int)class)
                                               : ACOG_VIEW("none"));
                add_text(page, "}");
                value_u64(page, sum);
            }
        }
    }
}

static void tokens(struct page *page)
{
    static const struct {
        const char *kind;
        size_t offset;
    } kinds[] = {
        {"input", offsetof(struct acog_connection_counts, input_tokens)},
        {"cached", offsetof(struct acog_connection_counts, cached_tokens)},
        {"output", offsetof(struct acog_connection_counts, output_tokens)},
    };

    family(page, "acog_tokens_total", "counter",
           "Tokens as the providers reported them (whether cached ones are inside input is the "
           "provider's custom).");
    for (size_t i = 0; i < page->service->metrics->connection_count; i++) {
        for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
            label(page, "acog_tokens_total{", "connection", connection_name(page->service, i));
            label(page, ",", "kind", acog_view_of(kinds[kind].kind));
            add_text(page, "}");
            value_u64(page, sum_of_connection(page->service->metrics, i, kinds[kind].offset));
        }
    }
}

static void times(struct page *page)
{
    const struct acog_metrics *metrics = page->service->metrics;
    family(page, "acog_request_duration_seconds", "histogram",
           "From a whole request to the end of its reply.");
    for (size_t surface = 0; surface <= ACOG_SURFACE_COUNT; surface++) {
        struct sums sums = {.all = 0};
        for (size_t i = 0; i < metrics->worker_count; i++) {
            add_histogram(&sums, &metrics->workers[i]->durations[surface]);
        }
        if (sums.all > 0) {
            histogram(page, "acog_request_duration_seconds", "surface", surface_name(surface),
                      &sums);
        }
    }
    family(page, "acog_first_output_seconds", "histogram",
           "From a whole request to the first output of the attempt that answered.");
    for (size_t i = 0; i < metrics->connection_count; i++) {
        struct sums sums = {.all = 0};
        for (size_t worker = 0; worker < metrics->worker_count; worker++) {
            add_histogram(&sums, &metrics->workers[worker]->connections[i].first_output);
        }
        if (sums.all > 0) {
            histogram(page, "acog_first_output_seconds", "connection",
                      connection_name(page->service, i), &sums);
        }
    }
}

static void in_flight(struct page *page)
{
    const struct acog_service *service = page->service;
    family(page, "acog_in_flight", "gauge", "Attempts under way by connection.");
    for (size_t i = 0; i < service->snapshot->connection_count; i++) {
        uint16_t cell = service->snapshot->connections[i].spread_cell;
        if (cell != ACOG_NO_CELL) {
            label(page, "acog_in_flight{", "connection", connection_name(service, i));
            add_text(page, "}");
            value_u64(page, atomic_load_explicit(&service->shared->spreads[cell].in_flight,
                                                 memory_order_relaxed));
        }
    }
}

static void circuits(struct page *page, int64_t now_ms)
{
    const struct acog_shared *shared = page->service->shared;
    const struct acog_circuit_limits limits =
        acog_health_limits(&page->service->snapshot->policy.health);
    uint32_t count = atomic_load_explicit(&shared->circuit_count, memory_order_acquire);
    family(page, "acog_circuit_state", "gauge", "0 closed, 1 open, 2 probing.");
    for (uint32_t i = 0; i < count; i++) {
        struct acog_circuit_view view =
            acog_circuit_look(&shared->circuits[i].circuit, &limits, now_ms);
        label(page, "acog_circuit_state{", "circuit", acog_view_of(shared->circuits[i].name));
        add_text(page, "}");
        value_u64(page, (uint64_t)view.state);
    }
    family(page, "acog_circuit_openings_total", "counter", "Times that a circuit opened.");
    for (uint32_t i = 0; i < count; i++) {
        label(page, "acog_circuit_openings_total{", "circuit",
              acog_view_of(shared->circuits[i].name));
        add_text(page, "}");
        value_u64(page, atomic_load_explicit(&shared->circuits[i].openings, memory_order_relaxed));
    }
}

static void totals(struct page *page)
{
    static const struct {
        const char *name;
        const char *type;
        const char *help;
        size_t offset;
    } rows[] = {
        {"acog_request_bytes_total", "counter", "Bytes of request bodies.",
         offsetof(struct acog_worker_counts, request_bytes)},
        {"acog_reply_bytes_total", "counter", "Bytes of reply bodies.",
         offsetof(struct acog_worker_counts, reply_bytes)},
        {"acog_tls_refused_total", "counter", "Handshakes of TLS that failed.",
         offsetof(struct acog_worker_counts, tls_refused)},
        {"acog_refused_total", "counter", "Bytes that were no request, and requests without room.",
         offsetof(struct acog_worker_counts, refused)},
        {"acog_charged_failures_total", "counter",
         "Attempts whose failure is charged to a circuit.",
         offsetof(struct acog_worker_counts, charged_failures)},
        {"acog_policy_failures_total", "counter", "Functions of the policy that failed.",
         offsetof(struct acog_worker_counts, policy_failures)},
        {"acog_requests_in_flight", "gauge", "Requests under way.",
         offsetof(struct acog_worker_counts, in_flight)},
        {"acog_client_connections", "gauge", "Open connections of clients.",
         offsetof(struct acog_worker_counts, client_connections)},
        {"acog_upstream_connects_total", "counter", "Connections made to providers.",
         offsetof(struct acog_worker_counts, upstream_connects)},
        {"acog_upstream_reuses_total", "counter", "Attempts on a connection from the pool.",
         offsetof(struct acog_worker_counts, upstream_reuses)},
        {"acog_upstream_connect_failures_total", "counter", "Connections that could not be made.",
         offsetof(struct acog_worker_counts, upstream_connect_failures)},
        {"acog_upstream_open", "gauge", "Open connections to providers.",
         offsetof(struct acog_worker_counts, upstream_open)},
        {"acog_upstream_idle", "gauge", "Those of them that wait in the pool.",
         offsetof(struct acog_worker_counts, upstream_idle)},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        single(page, rows[i].name, rows[i].type, rows[i].help,
               sum_at(page->service->metrics, rows[i].offset));
    }
}

static void workers(struct page *page)
{
    const struct acog_metrics *metrics = page->service->metrics;
    family(page, "acog_worker_requests_total", "counter", "Requests by worker.");
    for (size_t i = 0; i < metrics->worker_count; i++) {
        if (page->code == ACOG_OK) {
            page->code =
                acog_buffer_format(page->out, "acog_worker_requests_total{worker=\"%zu\"}", i);
        }
        value_u64(page, acog_count_get(&metrics->workers[i]->requests));
    }
}

static void process(struct page *page, int64_t now_ms)
{
    struct acog_process_facts facts = acog_process_look();
    single(page, "acog_log_dropped_total", "counter", "Log lines that found no room.",
           acog_log_dropped(page->service->log));
    family(page, "acog_uptime_seconds", "gauge", "Since the gateway started.");
    add_text(page, "acog_uptime_seconds");
    value_seconds(page, (uint64_t)(now_ms - page->service->started_ms));
    family(page, "process_start_time_seconds", "gauge", "Unix time of the start.");
    add_text(page, "process_start_time_seconds");
    value_seconds(page, (uint64_t)page->service->started_unix_ms);
    if (facts.cpu_ms >= 0) {
        family(page, "process_cpu_seconds_total", "counter", "User and system time.");
        add_text(page, "process_cpu_seconds_total");
        value_seconds(page, (uint64_t)facts.cpu_ms);
    }
    if (facts.resident_bytes >= 0) {
        single(page, "process_resident_memory_bytes", "gauge", "Resident memory.",
               (uint64_t)facts.resident_bytes);
    }
    if (facts.open_fds >= 0) {
        single(page, "process_open_fds", "gauge", "Open files.", (uint64_t)facts.open_fds);
    }
    if (facts.max_fds >= 0) {
        single(page, "process_max_fds", "gauge", "Files that may be open.",
               (uint64_t)facts.max_fds);
    }
}

enum acog_code acog_metrics_render(const struct acog_service *service, int64_t now_ms,
                                   struct acog_buffer *out)
{
    struct page page = {.service = service, .out = out, .code = ACOG_OK};
    family(&page, "acog_build_info", "gauge", "1, with the version as a label.");
    label(&page, "acog_build_info{", "version", ACOG_VIEW(ACOG_VERSION));
    label(&page, ",", "configuration", service->snapshot->hash);
    add_text(&page, "} 1\n");
    requests(&page);
    attempts(&page);
    tokens(&page);
    times(&page);
    in_flight(&page);
    circuits(&page, now_ms);
    totals(&page);
    workers(&page);
    process(&page, now_ms);
    return page.code;
}
