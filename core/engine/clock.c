/* clock.c - the limits of an attempt's clocks, from the policy's rows, and which of them runs out next (D7). */
#include "acog/contract.h"
#include "step.h"

#define NO_CAP_MS (INT64_MAX / 4) /* far beyond any clock, and safe to add to a time */

/* No product leaves its type, whatever number of tokens a client writes. */
static int64_t formula_ms(const struct acog_formula *formula, int64_t tokens)
{
    int64_t cap = formula->cap_ms > 0 ? formula->cap_ms : NO_CAP_MS;
    if (formula->base_ms >= cap) {
        return cap;
    }
    if (formula->per_tokens <= 0 || formula->add_ms <= 0) {
        return formula->base_ms;
    }
    if (tokens < 0) { /* (G2.2) */
        return formula->cap_ms > 0 ? formula->cap_ms : formula->base_ms;
    }
    int64_t whole = tokens / formula->per_tokens;
    if (whole > (cap - formula->base_ms) / formula->add_ms) {
        return cap;
    }
    uint64_t rest = (uint64_t)(tokens % formula->per_tokens) * (uint64_t)formula->add_ms /
                    (uint64_t)formula->per_tokens;
    int64_t sum = formula->base_ms + whole * formula->add_ms + (int64_t)rest;
    return sum < cap ? sum : cap;
}

static int64_t tokens_of(const struct acog_step *step, const struct acog_candidate *candidate)
{
    int64_t asked = step->request->facts->max_tokens;
    return asked >= 0 ? asked : candidate->max_output_tokens;
}

static bool row_fits(const struct acog_step *step, const struct acog_clock_row *row,
                     uint16_t candidate)
{
    const struct acog_request_facts *facts = step->request->facts;
    return (facts->stream ? row->stream : row->whole) &&
           (row->surfaces == 0 || (row->surfaces & ACOG_BIT(facts->surface)) != 0) &&
           (!row->reasoning_only || acog_step_candidate(step, candidate)->reasoning) &&
           (!row->slow_only || acog_step_connection(step, candidate)->slow);
}

/* The largest of the rows that fit; -1 when none does. */
static int64_t largest_ms(const struct acog_step *step, enum acog_clock clock, uint16_t candidate,
                          bool extra_try)
{
    int64_t limit = -1;
    int64_t tokens = tokens_of(step, acog_step_candidate(step, candidate));
    for (size_t i = 0; i < step->policy->clock_count; i++) {
        const struct acog_clock_row *row = &step->policy->clocks[i];
        if (row->clock == clock && row->extra_try == extra_try && row_fits(step, row, candidate)) {
            int64_t value = formula_ms(&row->formula, tokens);
            limit = value > limit ? value : limit;
        }
    }
    return limit;
}

static bool floor_lifts(enum acog_clock clock)
{
    return clock != ACOG_CLOCK_CONNECT && clock != ACOG_CLOCK_IDLE;
}

void acog_clock_set_limits(const struct acog_step *step, struct acog_attempt_row *attempt,
                           bool floor)
{
    for (int i = 0; i < ACOG_CLOCK_COUNT; i++) {
        enum acog_clock clock = (enum acog_clock)i;
        int64_t limit = -1;
        if (attempt->extra_try) {
            limit = largest_ms(step, clock, attempt->candidate, true);
        }
        if (limit < 0) {
            limit = largest_ms(step, clock, attempt->candidate, false);
        }
        int64_t base = step->policy->last_floor.base_ms;
        if (floor && limit >= 0 && floor_lifts(clock) && limit < base) {
            limit = base;
        }
        attempt->limits_ms[clock] = limit;
    }
}

/* When the clock started; -1: it does not run. Commit stops all that wait for something to begin. */
static int64_t started_ms(const struct acog_attempt_row *attempt, enum acog_clock clock,
                          bool committed)
{
    int64_t stopped_at_ms = -1;
    switch (clock) {
    case ACOG_CLOCK_IDLE:
        return attempt->active_at_ms; /* -1 before the head */
    case ACOG_CLOCK_TOTAL:
        return attempt->dispatched_at_ms;
    case ACOG_CLOCK_CONNECT:
        stopped_at_ms = attempt->connected_at_ms;
        break;
    case ACOG_CLOCK_HEADERS:
        stopped_at_ms = attempt->headers_at_ms;
        break;
    case ACOG_CLOCK_FIRST_EVENT:
        stopped_at_ms = attempt->first_event_at_ms;
        break;
    case ACOG_CLOCK_FIRST_OUTPUT:
        stopped_at_ms = attempt->first_output_at_ms;
        break;
    case ACOG_CLOCK_COUNT:
        break;
    }
    return committed || stopped_at_ms >= 0 ? -1 : attempt->dispatched_at_ms;
}

int64_t acog_clock_next(const struct acog_attempt_row *attempt, bool committed,
                        enum acog_clock *clock)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < ACOG_CLOCK_COUNT; i++) {
        int64_t limit = attempt->limits_ms[i];
        int64_t started = limit < 0 ? -1 : started_ms(attempt, (enum acog_clock)i, committed);
        if (started >= 0 && started + limit < next) {
            next = started + limit;
            *clock = (enum acog_clock)i;
        }
    }
    return next;
}
