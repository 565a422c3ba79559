/* order.c - in which order the kept candidates are tried (D4), the spread, and who gets the last-route floor (D7).
 *
 * The order is refined key by key: rows that no key told apart yet share a rank, a key splits each rank. So a key that
 * is a function can be asked in the middle, and a spread knows which candidates stand first before it picks. Demotion
 * comes last, over the finished order, whose places are kept as the usual ones.
 */
#include "acog/contract.h"
#include "acog/random.h"
#include "step.h"

#include <float.h>
#include <stdatomic.h>

_Static_assert(ACOG_PLAN_MAX == 64, "a set of rows is one 64-bit mask");

#define ROW(index) (UINT64_C(1) << (index))

double acog_order_price(const struct acog_candidate *candidate)
{
    return candidate->priced ? candidate->input_price + candidate->output_price : DBL_MAX;
}

/* -- refining -------------------------------------------------------------------------------------- */

static bool before(const struct acog_plan_row *a, double value_a, const struct acog_plan_row *b,
                   double value_b)
{
    return a->rank != b->rank ? a->rank < b->rank : value_a < value_b;
}

/* Sorts the kept rows by (rank, value), stable, and numbers the ranks anew. By insertion: a plan has few rows. */
static void refine(struct acog_request *request, double *values)
{
    struct acog_plan_row *plan = request->plan;
    for (size_t i = 1; i < request->kept_count; i++) {
        struct acog_plan_row row = plan[i];
        double value = values[i];
        size_t at = i;
        while (at > 0 && before(&row, value, &plan[at - 1], values[at - 1])) {
            plan[at] = plan[at - 1];
            values[at] = values[at - 1];
            at--;
        }
        plan[at] = row;
        values[at] = value;
    }
    uint8_t rank = 0;
    uint8_t old_rank = plan[0].rank;
    for (size_t i = 0; i < request->kept_count; i++) {
        if (i > 0 && (plan[i].rank != old_rank || values[i - 1] < values[i])) {
            rank++;
        }
        old_rank = plan[i].rank;
        plan[i].rank = rank;
    }
}

/* -- spread ---------------------------------------------------------------------------------------- */

static uint32_t weight_of(const struct acog_step *step, size_t row)
{
    uint32_t weight = acog_step_connection(step, step->request->plan[row].candidate)->weight;
    return weight == 0 ? 1 : weight;
}

static uint64_t total_weight(const struct acog_step *step, uint64_t set)
{
    uint64_t total = 0;
    for (size_t i = 0; i < step->request->kept_count; i++) {
        total += (set & ROW(i)) != 0 ? weight_of(step, i) : 0;
    }
    ACOG_ASSERT(total > 0); /* the set is not empty, and no weight is 0 */
    return total;
}

/* The row at which the weights, counted up in the order of the rows, go over `turn`. */
static size_t row_at_turn(const struct acog_step *step, uint64_t set, uint64_t turn)
{
    size_t last = 0;
    for (size_t i = 0; i < step->request->kept_count; i++) {
        if ((set & ROW(i)) != 0) {
            last = i;
            if (turn < weight_of(step, i)) {
                return i;
            }
            turn -= weight_of(step, i);
        }
    }
    return last;
}

/* Taken by a request that will be dispatched, only read for a plan. */
static uint32_t next_ticket(const struct acog_step *step, uint64_t set)
{
    uint32_t hash = 2166136261U; /* FNV-1a over the candidates */
    for (size_t i = 0; i < step->request->kept_count; i++) {
        if ((set & ROW(i)) != 0) {
            hash = (hash ^ step->request->plan[i].candidate) * 16777619U;
        }
    }
    _Atomic uint32_t *ticket = &step->shared->spread_tickets[hash % ACOG_SHARED_TICKETS];
    return step->plan_only ? atomic_load_explicit(ticket, memory_order_relaxed)
                           : atomic_fetch_add_explicit(ticket, 1, memory_order_relaxed);
}

/* What a spread by measure compares: the smaller is served first. */
static double measure_of(const struct acog_step *step, enum acog_spread_kind kind, size_t row)
{
    uint16_t candidate = step->request->plan[row].candidate;
    switch (kind) {
    case ACOG_SPREAD_LEAST_IN_FLIGHT:
    case ACOG_SPREAD_POWER_OF_TWO:
        return (double)acog_health_in_flight(step, candidate) / weight_of(step, row);
    case ACOG_SPREAD_FIRST_OUTPUT:
        return acog_health_first_output_ms(step, candidate);
    case ACOG_SPREAD_CHEAPEST:
        return acog_order_price(acog_step_candidate(step, candidate));
    case ACOG_SPREAD_NONE:
    case ACOG_SPREAD_ROUND_ROBIN:
    case ACOG_SPREAD_WEIGHTED:
        return 0;
    }
    ACOG_UNREACHABLE("a spread");
}

/* Equal ones by chance, so that idle connections share. */
static size_t smallest(const struct acog_step *step, enum acog_spread_kind kind, uint64_t set)
{
    size_t best = 0;
    double best_measure = 0;
    int64_t equals = 0;
    for (size_t i = 0; i < step->request->kept_count; i++) {
        if ((set & ROW(i)) == 0) {
            continue;
        }
        double measure = measure_of(step, kind, i);
        if (equals == 0 || measure < best_measure) {
            equals = 1;
            best = i;
            best_measure = measure;
        } else if (!(measure > best_measure)) {
            equals++;
            if (acog_random_between(&step->request->random, 1, equals) == 1) {
                best = i;
            }
        }
    }
    return best;
}

static size_t random_row(const struct acog_step *step, uint64_t set)
{
    int64_t count = 0;
    size_t chosen = 0;
    for (size_t i = 0; i < step->request->kept_count; i++) {
        if ((set & ROW(i)) != 0 && acog_random_between(&step->request->random, 0, count++) == 0) {
            chosen = i;
        }
    }
    return chosen;
}

static size_t pick(const struct acog_step *step, uint64_t set)
{
    enum acog_spread_kind kind = step->policy->spread;
    if ((set & (set - 1)) == 0) {
        return row_at_turn(step, set, 0);
    }
    switch (kind) {
    case ACOG_SPREAD_NONE:
        return row_at_turn(step, set, 0);
    case ACOG_SPREAD_ROUND_ROBIN:
        return row_at_turn(step, set, next_ticket(step, set) % total_weight(step, set));
    case ACOG_SPREAD_WEIGHTED:
        return row_at_turn(step, set,
                           acog_random_next(&step->request->random) % total_weight(step, set));
    case ACOG_SPREAD_POWER_OF_TWO: {
        size_t one = random_row(step, set);
        size_t other = random_row(step, set & ~ROW(one));
        return smallest(step, kind, ROW(one) | ROW(other));
    }
    case ACOG_SPREAD_LEAST_IN_FLIGHT:
    case ACOG_SPREAD_FIRST_OUTPUT:
    case ACOG_SPREAD_CHEAPEST:
        return smallest(step, kind, set);
    }
    ACOG_UNREACHABLE("a spread");
}

/* The rows of a rank that a spread may put first: ordinary, and not demoted unless all are. */
static uint64_t spread_set(const struct acog_request *request, uint8_t rank)
{
    uint64_t ordinary = 0;
    uint64_t healthy = 0;
    for (size_t i = 0; i < request->kept_count; i++) {
        const struct acog_plan_row *row = &request->plan[i];
        if (row->rank == rank && !row->restricted) {
            ordinary |= ROW(i);
            healthy |= row->demoted ? 0 : ROW(i);
        }
    }
    return healthy != 0 ? healthy : ordinary;
}

static void value_spread_first(struct acog_step *step, double *values)
{
    const struct acog_request *request = step->request;
    uint64_t set = spread_set(request, 0);
    for (size_t i = 0; i < request->kept_count; i++) {
        values[i] = 1;
    }
    if (set != 0) {
        values[pick(step, set)] = 0;
    }
}

/* In a round robin the others follow the picked one in their turn; else each place is picked anew. */
static void value_spread(struct acog_step *step, double *values)
{
    const struct acog_request *request = step->request;
    size_t count = request->kept_count;
    for (size_t i = 0; i < count; i++) {
        values[i] = (double)(2 * count);
    }
    for (size_t rank = 0; rank < count; rank++) {
        uint64_t set = spread_set(request, (uint8_t)rank);
        size_t first = set == 0 ? 0 : pick(step, set);
        size_t place = 0;
        if (step->policy->spread == ACOG_SPREAD_ROUND_ROBIN && set != 0) {
            for (size_t i = 0; i < count; i++) {
                size_t row = (first + i) % count;
                values[row] = (set & ROW(row)) != 0 ? (double)i : values[row];
            }
            continue;
        }
        while (set != 0) {
            values[first] = (double)place++;
            set &= ~ROW(first);
            first = set == 0 ? 0 : pick(step, set);
        }
    }
}

/* -- keys ------------------------------------------------------------------------------------------ */

static double value_of(const struct acog_step *step, enum acog_order_kind kind,
                       const struct acog_plan_row *row)
{
    const struct acog_connection *connection = acog_step_connection(step, row->candidate);
    switch (kind) {
    case ACOG_ORDER_CATALOGUE:
        return row->usual; /* until the order stands: the place that `match` gave */
    case ACOG_ORDER_PRIORITY:
        return connection->priority;
    case ACOG_ORDER_CHANNEL_RANK:
        return step->policy->channel_rank[connection->channel];
    case ACOG_ORDER_PRICE:
        return step->request->moved_by_price
                   ? acog_order_price(acog_step_candidate(step, row->candidate))
                   : 0;
    case ACOG_ORDER_FIRST_OUTPUT:
        return acog_health_first_output_ms(step, row->candidate);
    case ACOG_ORDER_FUNCTION:
        return row->number;
    case ACOG_ORDER_RESERVED:
        return acog_dedicated_owns(step, row->candidate) ? 0 : 1;
    case ACOG_ORDER_DEMOTED_LAST:
    case ACOG_ORDER_SPREAD_FIRST:
    case ACOG_ORDER_SPREAD:
        return 0;
    }
    ACOG_UNREACHABLE("an order key");
}

static void apply_key(struct acog_step *step, enum acog_order_kind kind)
{
    struct acog_request *request = step->request;
    double values[ACOG_PLAN_MAX];
    if (kind == ACOG_ORDER_SPREAD_FIRST) {
        value_spread_first(step, values);
    } else if (kind == ACOG_ORDER_SPREAD) {
        value_spread(step, values);
    } else {
        for (size_t i = 0; i < request->kept_count; i++) {
            values[i] = value_of(step, kind, &request->plan[i]);
        }
    }
    refine(request, values);
}

/* -- demotion and floor ---------------------------------------------------------------------------- */

static bool orders_by_demotion(const struct acog_step *step)
{
    for (size_t i = 0; i < step->policy->order_count; i++) {
        if (step->policy->order[i].kind == ACOG_ORDER_DEMOTED_LAST) {
            return true;
        }
    }
    return false;
}

static bool earliest_first(const struct acog_step *step)
{
    return step->request->fail_open &&
           step->policy->health.all_open == ACOG_ALL_OPEN_EARLIEST_FIRST;
}

/* To the end, the one demoted first in front (S2.25, S2.32, G2.9). */
static void move_demoted_last(struct acog_request *request)
{
    double values[ACOG_PLAN_MAX];
    for (size_t i = 0; i < request->kept_count; i++) {
        request->plan[i].rank = request->plan[i].demoted ? 1 : 0;
        values[i] = request->plan[i].demoted ? (double)request->plan[i].opened_at_ms : 0;
    }
    refine(request, values);
}

static bool stands_in_order(const struct acog_plan_row *row, bool late)
{
    return row->verdict != ACOG_PLAN_DROPPED && row->moved_last == late;
}

void acog_order_place_floor(struct acog_step *step)
{
    struct acog_request *request = step->request;
    struct acog_plan_row *last = NULL;
    struct acog_plan_row *one_before = NULL;
    struct acog_plan_row *last_not_demoted = NULL;
    for (int late = 0; late <= 1; late++) {
        for (size_t i = 0; i < request->kept_count; i++) {
            struct acog_plan_row *row = &request->plan[i];
            row->floor = late == 0 ? false : row->floor;
            if (stands_in_order(row, late == 1)) {
                one_before = last;
                last = row;
                last_not_demoted = row->demoted ? last_not_demoted : row;
            }
        }
    }
    struct acog_plan_row *chosen = last;
    switch (step->policy->last_floor.place) {
    case ACOG_FLOOR_OFF:
        return;
    case ACOG_FLOOR_LAST_NOT_DEMOTED:
        chosen = last_not_demoted != NULL ? last_not_demoted : last;
        break;
    case ACOG_FLOOR_BEFORE_DEMOTED:
        chosen = last != NULL && last->demoted && one_before != NULL ? one_before : last;
        break;
    case ACOG_FLOOR_LAST:
        break;
    }
    if (chosen != NULL) {
        chosen->floor = true;
    }
}

/* -- the run --------------------------------------------------------------------------------------- */

void acog_order_start(struct acog_step *step)
{
    struct acog_request *request = step->request;
    for (size_t i = 0; i < request->kept_count; i++) {
        struct acog_plan_row *row = &request->plan[i];
        struct acog_health_look look = acog_health_look(step, row->candidate);
        row->would_probe = look.would_probe;
        row->demoted = !look.admits &&
                       (step->policy->health.mode == ACOG_HEALTH_DEMOTE || earliest_first(step));
        row->opened_at_ms = row->demoted ? look.opened_at_ms : 0;
        row->rank = 0;
    }
    request->next_order_key = 0;
}

bool acog_order_run(struct acog_step *step)
{
    struct acog_request *request = step->request;
    while (request->next_order_key < step->policy->order_count) {
        enum acog_order_kind kind = step->policy->order[request->next_order_key].kind;
        if (kind == ACOG_ORDER_FUNCTION) {
            return false;
        }
        apply_key(step, kind);
        request->next_order_key++;
    }
    for (size_t i = 0; i < request->kept_count; i++) {
        request->plan[i].usual = (uint8_t)i;
    }
    if (orders_by_demotion(step) || earliest_first(step)) {
        move_demoted_last(request);
    }
    acog_order_place_floor(step);
    return true;
}

bool acog_order_answered(struct acog_step *step, const struct acog_answer *answer)
{
    struct acog_request *request = step->request;
    if (answer->failed || answer->count != request->kept_count) {
        return false;
    }
    for (size_t i = 0; i < request->kept_count; i++) {
        double number = answer->numbers[i];
        if (!(number <= 0) && !(number >= 0)) {
            return false; /* not a number: it has no place */
        }
        request->plan[i].number = number;
    }
    apply_key(step, ACOG_ORDER_FUNCTION);
    request->next_order_key++;
    return true;
}
