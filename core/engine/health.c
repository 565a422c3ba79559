/* health.c - a candidate's circuit, pool and counters: what the plan may see, what a dispatch takes and gives back.
 *
 * A candidate without a cell, and a policy without health, is always well.
 */
#include "acog/contract.h"
#include "step.h"

#include <stdatomic.h>

/* The mean follows the last eight or so: a slow provider is noticed within seconds of traffic, one slow answer
 * does not turn the order. */
#define FIRST_OUTPUT_WEIGHT 8

struct acog_circuit_limits acog_health_limits(const struct acog_health *health)
{
    return (struct acog_circuit_limits){
        .threshold = health->threshold,
        .cooldown_ms = health->cooldown_ms,
        .factor = health->factor,
        .cooldown_ms_max = health->cooldown_ms_max,
        .only_probe_closes = health->mode == ACOG_HEALTH_DEMOTE,
    };
}

static struct acog_circuit_cell *circuit_cell(const struct acog_step *step, uint16_t candidate)
{
    uint16_t cell = acog_step_candidate(step, candidate)->circuit_cell;
    return cell == ACOG_NO_CELL ? NULL : &step->shared->circuits[cell];
}

static struct acog_spread_cell *spread_cell(const struct acog_step *step, uint16_t candidate)
{
    uint16_t cell = acog_step_connection(step, candidate)->spread_cell;
    return cell == ACOG_NO_CELL ? NULL : &step->shared->spreads[cell];
}

static bool uses_circuits(const struct acog_step *step)
{
    return step->policy->health.mode != ACOG_HEALTH_OFF;
}

static int64_t pool_until_ms(const struct acog_circuit_cell *cell)
{
    return atomic_load_explicit(&cell->pool_until_ms, memory_order_relaxed);
}

struct acog_health_look acog_health_look(const struct acog_step *step, uint16_t candidate)
{
    struct acog_health_look look = {.admits = true};
    const struct acog_circuit_cell *cell = circuit_cell(step, candidate);
    if (cell == NULL) {
        return look;
    }
    if (uses_circuits(step)) {
        struct acog_circuit_limits limits = acog_health_limits(&step->policy->health);
        struct acog_circuit_view view =
            acog_circuit_look(&cell->circuit, &limits, step->request->now_ms);
        look = (struct acog_health_look){.admits = view.admits,
                                         .would_probe = view.would_probe,
                                         .failures = view.failures,
                                         .opened_at_ms = view.opened_at_ms};
    }
    if (pool_until_ms(cell) > step->request->now_ms) {
        look.cooling = true;
        if (look.admits) { /* not open as well: only since the pool was cooled, at the latest now */
            look.opened_at_ms = step->request->now_ms;
        }
        look.admits = false;
    }
    return look;
}

bool acog_engine_admits(const struct acog_snapshot *snapshot, struct acog_shared *shared,
                        uint16_t candidate, int64_t now_ms)
{
    uint16_t index = snapshot->candidates[candidate].circuit_cell;
    if (index == ACOG_NO_CELL) {
        return true;
    }
    const struct acog_circuit_cell *cell = &shared->circuits[index];
    const struct acog_health *health = &snapshot->policy.health;
    struct acog_circuit_limits limits = acog_health_limits(health);
    bool admits = health->mode == ACOG_HEALTH_OFF ||
                  acog_circuit_look(&cell->circuit, &limits, now_ms).admits;
    return admits && pool_until_ms(cell) <= now_ms; /* a pool cools without circuits too */
}

bool acog_health_take(struct acog_step *step, struct acog_attempt_row *attempt, bool forced)
{
    ACOG_ASSERT(!attempt->live);
    struct acog_circuit_cell *cell = circuit_cell(step, attempt->candidate);
    if (cell != NULL && !forced && pool_until_ms(cell) > step->request->now_ms) {
        return false;
    }
    if (cell != NULL && uses_circuits(step)) {
        if (!acog_circuit_take(&cell->circuit, step->request->now_ms, forced, &attempt->ticket)) {
            return false;
        }
        attempt->has_ticket = true;
    }
    struct acog_spread_cell *spread = spread_cell(step, attempt->candidate);
    if (spread != NULL) {
        atomic_fetch_add_explicit(&spread->in_flight, 1, memory_order_relaxed);
    }
    attempt->live = true;
    return true;
}

void acog_health_give_back(struct acog_step *step, struct acog_attempt_row *attempt,
                           enum acog_circuit_result result)
{
    ACOG_ASSERT(attempt->live);
    attempt->live = false;
    struct acog_spread_cell *spread = spread_cell(step, attempt->candidate);
    if (spread != NULL) {
        atomic_fetch_sub_explicit(&spread->in_flight, 1, memory_order_relaxed);
    }
    if (attempt->has_ticket) {
        struct acog_circuit_cell *cell = circuit_cell(step, attempt->candidate);
        struct acog_circuit_limits limits = acog_health_limits(&step->policy->health);
        attempt->has_ticket = false;
        if (acog_circuit_settle(&cell->circuit, attempt->ticket, result, &limits,
                                step->request->now_ms)) {
            atomic_fetch_add_explicit(&cell->openings, 1, memory_order_relaxed);
        }
    }
}

void acog_health_hand_over(struct acog_attempt_row *from, struct acog_attempt_row *to)
{
    ACOG_ASSERT(from->live && !to->live);
    to->live = true;
    to->ticket = from->ticket;
    to->has_ticket = from->has_ticket;
    from->live = false;
    from->has_ticket = false;
}

enum acog_circuit_result acog_health_result(enum acog_charge charge)
{
    switch (charge) {
    case ACOG_CHARGE_NONE:
        return ACOG_CIRCUIT_NOT_CHARGED;
    case ACOG_CHARGE_ONE:
        return ACOG_CIRCUIT_CHARGED;
    case ACOG_CHARGE_TRIP:
        return ACOG_CIRCUIT_TRIPPED;
    case ACOG_CHARGE_SUCCESS:
        return ACOG_CIRCUIT_ANSWERED;
    case ACOG_CHARGE_IGNORE:
        return ACOG_CIRCUIT_GIVEN_BACK;
    }
    ACOG_UNREACHABLE("a charge");
}

void acog_health_cool(struct acog_step *step, uint16_t candidate, const struct acog_class_row *row,
                      int64_t retry_after_ms)
{
    struct acog_circuit_cell *cell = circuit_cell(step, candidate);
    if (cell == NULL || row->pool_ms_max <= 0) {
        return;
    }
    int64_t wait = retry_after_ms < row->pool_ms_min ? row->pool_ms_min : retry_after_ms;
    wait = wait > row->pool_ms_max ? row->pool_ms_max : wait;
    int64_t until = step->request->now_ms + wait;
    int64_t known = pool_until_ms(cell);
    while (known < until &&
           !atomic_compare_exchange_weak_explicit(&cell->pool_until_ms, &known, until,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
}

void acog_health_first_output(struct acog_step *step, uint16_t candidate, int64_t after_ms)
{
    struct acog_spread_cell *spread = spread_cell(step, candidate);
    if (spread == NULL) {
        return;
    }
    int64_t sample = after_ms < 1 ? 1 : after_ms; /* 0 would mean "unknown" */
    sample = sample > INT32_MAX ? INT32_MAX : sample;
    int64_t mean = atomic_load_explicit(&spread->first_output_ms, memory_order_relaxed);
    mean = mean == 0 ? sample : mean + (sample - mean) / FIRST_OUTPUT_WEIGHT;
    /* Two workers at once: one sample is lost. The figure steers, it does not count. */
    atomic_store_explicit(&spread->first_output_ms, (uint32_t)mean, memory_order_relaxed);
}

uint32_t acog_health_in_flight(const struct acog_step *step, uint16_t candidate)
{
    const struct acog_spread_cell *spread = spread_cell(step, candidate);
    return spread == NULL ? 0 : atomic_load_explicit(&spread->in_flight, memory_order_relaxed);
}

uint32_t acog_health_first_output_ms(const struct acog_step *step, uint16_t candidate)
{
    const struct acog_spread_cell *spread = spread_cell(step, candidate);
    return spread == NULL ? 0
                          : atomic_load_explicit(&spread->first_output_ms, memory_order_relaxed);
}
