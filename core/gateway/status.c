/* status.c - built with jansson: it is asked for by people, not by requests. */
#include "status.h"

#include "acog/contract.h"
#include "acog/engine.h"
#include "metrics.h"

#include <stdbool.h>

#include <jansson.h>

static json_t *text_of(struct acog_view text)
{
    return json_stringn(text.ptr == NULL ? "" : text.ptr, text.len);
}

/* Takes `value`; a missing one (no memory) breaks the object, which the caller sees by json_object_size(). */
static void put(json_t *object, const char *name, json_t *value)
{
    (void)json_object_set_new(object, name, value);
}

static void put_count(json_t *object, const char *name, uint64_t count)
{
    put(object, name, json_integer((json_int_t)count));
}

/* -- workers ------------------------------------------------------------------------------------------ */

static json_t *worker_status(const struct acog_worker_counts *counts, size_t number)
{
    json_t *object = json_object();
    put_count(object, "worker", number);
    put_count(object, "requests", acog_count_get(&counts->requests));
    put_count(object, "in_flight", acog_count_get(&counts->in_flight));
    put_count(object, "charged_failures", acog_count_get(&counts->charged_failures));
    put_count(object, "refused", acog_count_get(&counts->refused));
    put_count(object, "tls_refused", acog_count_get(&counts->tls_refused));
    put_count(object, "policy_failures", acog_count_get(&counts->policy_failures));
    put_count(object, "client_connections", acog_count_get(&counts->client_connections));
    put_count(object, "upstream_open", acog_count_get(&counts->upstream_open));
    put_count(object, "upstream_idle", acog_count_get(&counts->upstream_idle));
    return object;
}

static uint64_t in_flight(const struct acog_metrics *metrics)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < metrics->worker_count; i++) {
        sum += acog_count_get(&metrics->workers[i]->in_flight);
    }
    return sum;
}

static json_t *all_workers(const struct acog_metrics *metrics)
{
    json_t *list = json_array();
    for (size_t i = 0; i < metrics->worker_count; i++) {
        (void)json_array_append_new(list, worker_status(metrics->workers[i], i));
    }
    return list;
}

/* -- circuits ----------------------------------------------------------------------------------------- */

static const char *state_name(enum acog_circuit_state state)
{
    switch (state) {
    case ACOG_CIRCUIT_CLOSED:
        return "closed";
    case ACOG_CIRCUIT_OPEN:
        return "open";
    case ACOG_CIRCUIT_PROBING:
        return "probing";
    }
    ACOG_UNREACHABLE("unknown acog_circuit_state");
}

static json_t *circuit_status(const struct acog_circuit_cell *cell,
                              const struct acog_circuit_limits *limits, int64_t now_ms)
{
    struct acog_circuit_view view = acog_circuit_look(&cell->circuit, limits, now_ms);
    json_t *object = json_object();
    put(object, "name", json_string(cell->name));
    put(object, "state", json_string(state_name(view.state)));
    put_count(object, "failures", view.failures);
    put_count(object, "openings", atomic_load_explicit(&cell->openings, memory_order_relaxed));
    if (view.state !=
        ACOG_CIRCUIT_CLOSED) { /* both from now: the clock behind them means nothing outside */
        put_count(object, "open_for_ms", (uint64_t)(now_ms - view.opened_at_ms));
        put_count(object, "until_ms",
                  view.until_ms > now_ms ? (uint64_t)(view.until_ms - now_ms) : 0);
    }
    return object;
}

static json_t *all_circuits(const struct acog_service *service, int64_t now_ms)
{
    const struct acog_shared *shared = service->shared;
    const struct acog_circuit_limits limits = acog_health_limits(&service->snapshot->policy.health);
    json_t *list = json_array();
    uint32_t count = atomic_load_explicit(&shared->circuit_count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++) {
        (void)json_array_append_new(list, circuit_status(&shared->circuits[i], &limits, now_ms));
    }
    return list;
}

/* -- connections -------------------------------------------------------------------------------------- */

static bool names_cell(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(json_string_value(json_array_get(list, i)), name) == 0) {
            return true;
        }
    }
    return false;
}

/* The circuits of the connection's candidates; *admits says whether any lets a request through. */
static json_t *circuits_of(const struct acog_service *service, size_t connection, int64_t now_ms,
                           bool *admits)
{
    const struct acog_circuit_limits limits = acog_health_limits(&service->snapshot->policy.health);
    json_t *list = json_array();
    *admits = false;
    for (size_t i = 0; i < service->snapshot->candidate_count; i++) {
        const struct acog_candidate *candidate = &service->snapshot->candidates[i];
        if (candidate->connection != connection) {
            continue;
        }
        if (candidate->circuit_cell == ACOG_NO_CELL) {
            *admits = true;
            continue;
        }
        const struct acog_circuit_cell *cell = &service->shared->circuits[candidate->circuit_cell];
        *admits = *admits || acog_circuit_look(&cell->circuit, &limits, now_ms).admits;
        if (!names_cell(list, cell->name)) {
            (void)json_array_append_new(list, json_string(cell->name));
        }
    }
    return list;
}

static const char *connection_state(const struct acog_connection *connection, bool admits)
{
    if (connection->usable == ACOG_USABLE_NO) {
        return "not_usable";
    }
    return admits ? "serving" : "circuit_open";
}

static json_t *connection_status(const struct acog_service *service, size_t index, int64_t now_ms)
{
    const struct acog_connection *connection = &service->snapshot->connections[index];
    json_t *object = json_object();
    bool admits = false;
    json_t *circuits = circuits_of(service, index, now_ms, &admits);
    put(object, "id", text_of(connection->id));
    put(object, "channel", text_of(acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel)));
    put(object, "default", json_boolean(connection->is_default));
    put(object, "simulated", json_boolean(connection->simulate != NULL));
    put(object, "state", json_string(connection_state(connection, admits)));
    put(object, "circuits", circuits);
    if (connection->spread_cell != ACOG_NO_CELL) {
        const struct acog_spread_cell *cell = &service->shared->spreads[connection->spread_cell];
        put_count(object, "in_flight",
                  atomic_load_explicit(&cell->in_flight, memory_order_relaxed));
        put_count(object, "first_output_ms",
                  atomic_load_explicit(&cell->first_output_ms, memory_order_relaxed));
    }
    return object;
}

static json_t *all_connections(const struct acog_service *service, int64_t now_ms)
{
    json_t *list = json_array();
    for (size_t i = 0; i < service->snapshot->connection_count; i++) {
        (void)json_array_append_new(list, connection_status(service, i, now_ms));
    }
    return list;
}

/* -- the page ----------------------------------------------------------------------------------------- */

static int append(const char *bytes, size_t count, void *user)
{
    return acog_buffer_append(user, (struct acog_view){.ptr = bytes, .len = count}) == ACOG_OK ? 0
                                                                                               : -1;
}

enum acog_code acog_status_render(const struct acog_service *service, int64_t now_ms,
                                  struct acog_buffer *out)
{
    bool draining = acog_service_state(service) == ACOG_SERVICE_DRAINING;
    json_t *root = json_object();
    json_t *configuration = json_object();
    put(configuration, "path", json_string(service->path));
    put(configuration, "hash", text_of(service->snapshot->hash));
    put(root, "version", json_string(ACOG_VERSION));
    put(root, "state", json_string(draining ? "draining" : "serving"));
    put(root, "policy", text_of(service->snapshot->policy.name));
    put(root, "configuration", configuration);
    put(root, "listen", json_string(service->listen_text));
    put_count(root, "uptime_ms", (uint64_t)(now_ms - service->started_ms));
    put_count(root, "requests_in_flight", in_flight(service->metrics));
    put(root, "workers", all_workers(service->metrics));
    put(root, "connections", all_connections(service, now_ms));
    put(root, "circuits", all_circuits(service, now_ms));
    put_count(root, "log_dropped", acog_log_dropped(service->log));
    int result = json_dump_callback(root, append, out, JSON_INDENT(2));
    json_decref(root);
    if (result != 0) {
        return ACOG_NO_MEMORY;
    }
    return acog_buffer_append(out, ACOG_VIEW("\n"));
}
