/* dedicated.c - dedicated endpoints: whose capacity a candidate is, and the turns of a paced one (S0.16-S0.18, S0.70).
 *
 * Turns are one shared time: the next free one. Whoever comes takes it and moves it on by the pace, so turns are in the
 * order of asking over all workers, and nobody keeps a queue. A client that leaves while it waits has spent its turn.
 */
#include "step.h"

#include <stdatomic.h>

bool acog_dedicated_owns(const struct acog_step *step, uint16_t candidate)
{
    const struct acog_dedicated *endpoint = step->request->facts->dedicated;
    return endpoint != NULL &&
           acog_view_equal(acog_step_connection(step, candidate)->reserved_for, endpoint->name);
}

static bool allows_region(const struct acog_dedicated *endpoint, struct acog_view region)
{
    for (size_t i = 0; i < endpoint->region_count; i++) {
        if (acog_view_equal(endpoint->regions[i], region)) {
            return true;
        }
    }
    return endpoint->region_count == 0;
}

struct acog_view acog_dedicated_objection(const struct acog_step *step, uint16_t candidate)
{
    const struct acog_dedicated *endpoint = step->request->facts->dedicated;
    const struct acog_connection *connection = acog_step_connection(step, candidate);
    if (acog_dedicated_owns(step, candidate)) {
        return (struct acog_view){0};
    }
    if (connection->reserved_for.len > 0) {
        return ACOG_VIEW("reserved for an endpoint");
    }
    if (endpoint == NULL) {
        return (struct acog_view){0};
    }
    if (endpoint->own_only) {
        return ACOG_VIEW("the endpoint has its own capacity only");
    }
    bool allowed =
        (endpoint->channels == 0 || (endpoint->channels & ACOG_BIT(connection->channel)) != 0) &&
        allows_region(endpoint, connection->region);
    return allowed ? (struct acog_view){0} : ACOG_VIEW("not what the endpoint allows");
}

bool acog_dedicated_take_turn(struct acog_step *step, int64_t *wait_ms)
{
    struct acog_request *request = step->request;
    const struct acog_dedicated *endpoint = request->facts->dedicated;
    *wait_ms = 0;
    if (endpoint == NULL || endpoint->pace_ms == 0 || endpoint->pace_cell == ACOG_NO_CELL) {
        return true;
    }
    _Atomic int64_t *next = &step->shared->paces[endpoint->pace_cell].next_ms;
    int64_t free_ms = atomic_load_explicit(next, memory_order_relaxed);
    int64_t turn_ms;
    do {
        turn_ms = free_ms > request->now_ms ? free_ms : request->now_ms;
        if (turn_ms - request->now_ms > endpoint->wait_ms_max) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(next, &free_ms, turn_ms + endpoint->pace_ms,
                                                    memory_order_relaxed, memory_order_relaxed));
    request->queue_ms = turn_ms - request->now_ms;
    *wait_ms = request->queue_ms;
    return true;
}
