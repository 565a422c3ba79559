/* engine_rows.c - see engine_rows.h. */
#include "tests/support/engine_rows.h"

#include "acog/contract.h"
#include "acog/memory.h"

#include <string.h>

struct engine_rows *engine_rows_new(enum engine_policy policy)
{
    struct engine_rows *rows = acog_new(sizeof *rows);
    ACOG_ASSERT(rows != NULL);
    rows->snapshot.connections = rows->connections;
    rows->snapshot.candidates = rows->candidates;
    rows->shared.circuits = rows->circuits;
    rows->shared.spreads = rows->spreads;
    engine_policy_fill(&rows->snapshot.policy, policy);
    return rows;
}

void engine_rows_free(struct engine_rows **rows)
{
    acog_free(*rows);
    *rows = NULL;
}

struct acog_connection *engine_rows_connection(struct engine_rows *rows, const char *id,
                                               enum acog_channel channel)
{
    ACOG_ASSERT(rows->snapshot.connection_count < ENGINE_CONNECTIONS_MAX);
    size_t index = rows->snapshot.connection_count++;
    rows->connections[index] = (struct acog_connection){
        .id = acog_view_of(id),
        .channel = channel,
        .dialects = ACOG_BIT(ACOG_DIALECT_CHAT) | ACOG_BIT(ACOG_DIALECT_MESSAGES) |
                    ACOG_BIT(ACOG_DIALECT_RESPONSES),
        .maker = ACOG_VIEW("maker"),
        .weight = 1,
        .takes_over = rows->takes_over[index],
        .spread_cell = (uint16_t)index,
    };
    return &rows->connections[index];
}

static bool same_circuit(const struct engine_rows *rows, const struct acog_candidate *a,
                         const struct acog_candidate *b)
{
    const struct acog_connection *first = &rows->connections[a->connection];
    const struct acog_connection *second = &rows->connections[b->connection];
    switch (rows->snapshot.policy.health.key) {
    case ACOG_HEALTH_KEY_CONNECTION:
        return first == second;
    case ACOG_HEALTH_KEY_CHANNEL:
        return first->channel == second->channel;
    case ACOG_HEALTH_KEY_CHANNEL_MAKER:
        return first->channel == second->channel && acog_view_equal(a->maker, b->maker);
    case ACOG_HEALTH_KEY_MODEL_CONNECTION:
        return first == second && acog_view_equal(a->declared, b->declared);
    }
    ACOG_UNREACHABLE("a key");
}

struct acog_candidate *engine_rows_candidate(struct engine_rows *rows,
                                             const struct acog_connection *connection,
                                             const char *model)
{
    ACOG_ASSERT(rows->snapshot.candidate_count < ENGINE_CANDIDATES_MAX);
    size_t index = rows->snapshot.candidate_count++;
    struct acog_candidate *candidate = &rows->candidates[index];
    *candidate = (struct acog_candidate){
        .connection = (uint16_t)(connection - rows->connections),
        .declared = acog_view_of(model),
        .send_id = acog_view_of(model),
        .family = acog_view_of(model),
        .maker = connection->maker,
        .max_output_tokens = -1,
        .circuit_cell = (uint16_t)index,
        .rules = acog_model_rules_default(ACOG_DIALECT_CHAT),
    };
    for (size_t i = 0; i < index; i++) {
        if (same_circuit(rows, &rows->candidates[i], candidate)) {
            candidate->circuit_cell = rows->candidates[i].circuit_cell;
            break;
        }
    }
    return candidate;
}

struct acog_candidate *engine_rows_add(struct engine_rows *rows, const char *id,
                                       enum acog_channel channel, const char *model)
{
    return engine_rows_candidate(rows, engine_rows_connection(rows, id, channel), model);
}

struct acog_connection *engine_rows_find(struct engine_rows *rows, const char *id)
{
    for (size_t i = 0; i < rows->snapshot.connection_count; i++) {
        if (acog_view_equal(rows->connections[i].id, acog_view_of(id))) {
            return &rows->connections[i];
        }
    }
    ACOG_UNREACHABLE("no connection of that name");
}

void engine_rows_takes_over(struct engine_rows *rows, const char *id, const char *failure)
{
    struct acog_connection *connection = engine_rows_find(rows, id);
    ACOG_ASSERT(connection->takes_over_count < ENGINE_TAKES_OVER_MAX);
    struct acog_takes_over *takes =
        &rows->takes_over[connection - rows->connections][connection->takes_over_count++];
    struct acog_view text = acog_view_of(failure);
    size_t colon = acog_view_find(text, ACOG_VIEW(":"));
    takes->name = acog_view_slice(text, 0, colon);
    takes->category = acog_view_slice(text, colon + 1, text.len);
}

struct acog_circuit_cell *engine_rows_circuit(struct engine_rows *rows, const char *id)
{
    const struct acog_connection *connection = engine_rows_find(rows, id);
    for (size_t i = 0; i < rows->snapshot.candidate_count; i++) {
        if (&rows->connections[rows->candidates[i].connection] == connection) {
            return &rows->circuits[rows->candidates[i].circuit_cell];
        }
    }
    ACOG_UNREACHABLE("a connection without candidates");
}

struct acog_spread_cell *engine_rows_spread(struct engine_rows *rows, const char *id)
{
    return &rows->spreads[engine_rows_find(rows, id)->spread_cell];
}
