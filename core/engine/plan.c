/* plan.c - which candidates may serve the request: the policy's filters, in its order, each drop with its reason (D3).
 *
 * The rows that are kept stand in front in catalogue order, the dropped ones behind them in the order of their
 * dropping. A filter that leaves nothing ends the request with its condition, but for one case: a function of the
 * operator that forbids the default connection is a restriction (S4.18c), so what the default kept away comes back.
 */
#include "acog/contract.h"
#include "step.h"

#include <string.h>

static const struct acog_filter *current_filter(const struct acog_step *step)
{
    return &step->policy->filters[step->request->next_filter];
}

uint8_t acog_plan_filter_index(const struct acog_step *step, enum acog_filter_kind kind)
{
    uint8_t i = 0;
    while (i < step->policy->filter_count && step->policy->filters[i].kind != kind) {
        i++;
    }
    return i;
}

static void drop_row(struct acog_step *step, size_t index, struct acog_view reason)
{
    struct acog_request *request = step->request;
    struct acog_plan_row row = request->plan[index];
    row.verdict = ACOG_PLAN_DROPPED;
    row.filter = request->next_filter;
    row.reason = reason;
    memmove(&request->plan[index], &request->plan[index + 1],
            (request->plan_count - index - 1) * sizeof row);
    request->plan[request->plan_count - 1] = row;
    request->kept_count--;
}

/* -- declared -------------------------------------------------------------------------------------- */

void acog_plan_match_exactly(struct acog_step *step, struct acog_view model)
{
    struct acog_request *request = step->request;
    const struct acog_snapshot *snapshot = step->snapshot;
    request->asked_count = 0;
    for (size_t i = 0; i < snapshot->candidate_count && request->asked_count < ACOG_PLAN_MAX; i++) {
        if (acog_view_equal(snapshot->candidates[i].declared, model)) {
            request->asked_candidates[request->asked_count++] = (uint16_t)i;
        }
    }
}

bool acog_plan_match_is_sane(const struct acog_step *step, const struct acog_answer *answer)
{
    if (answer->failed || answer->count > ACOG_PLAN_MAX) {
        return false;
    }
    for (size_t i = 0; i < answer->count; i++) {
        if (answer->candidates[i] >= step->snapshot->candidate_count) {
            return false;
        }
        for (size_t earlier = 0; earlier < i; earlier++) {
            if (answer->candidates[earlier] == answer->candidates[i]) {
                return false;
            }
        }
    }
    return true;
}

/* Of one model only, and one candidate for a connection, so that another candidate is another place (S4.12). */
static void keep_one_model(struct acog_step *step)
{
    struct acog_request *request = step->request;
    size_t i = 1;
    while (i < request->kept_count) {
        const struct acog_candidate *first = acog_step_candidate(step, request->plan[0].candidate);
        const struct acog_candidate *it = acog_step_candidate(step, request->plan[i].candidate);
        bool repeated = false;
        for (size_t earlier = 0; earlier < i; earlier++) {
            repeated = repeated ||
                       acog_step_candidate(step, request->plan[earlier].candidate)->connection ==
                           it->connection;
        }
        if (!acog_view_equal(first->family, it->family)) {
            drop_row(step, i, ACOG_VIEW("another model"));
        } else if (repeated) {
            drop_row(step, i, ACOG_VIEW("its connection declares a closer id"));
        } else {
            i++;
        }
    }
}

static void fill_rows(struct acog_step *step, const uint16_t *candidates, size_t count)
{
    struct acog_request *request = step->request;
    for (size_t i = 0; i < count; i++) {
        request->plan[i] = (struct acog_plan_row){
            .candidate = candidates[i],
            .usual = (uint8_t)i,
            .restricted = acog_step_connection(step, candidates[i])->takes_over_count > 0,
        };
    }
    request->plan_count = count;
    request->kept_count = count;
    if (step->policy->same_model_only) {
        keep_one_model(step);
    }
}

/* -- the built-in filters -------------------------------------------------------------------------- */

enum acog_dialect acog_plan_dialect_for(const struct acog_step *step, uint16_t candidate)
{
    return acog_dialect_for(step->request->facts->surface,
                            acog_step_connection(step, candidate)->dialects);
}

#define NOT_SPOKEN ACOG_VIEW("does not speak this API")

/* Asks whether the request can be translated for those that do not speak the client's dialect but another one. */
static void filter_dialect(struct acog_step *step)
{
    struct acog_request *request = step->request;
    enum acog_dialect client = acog_surface_dialect(request->facts->surface);
    size_t i = 0;
    request->asked_count = 0;
    while (i < request->kept_count) {
        uint16_t candidate = request->plan[i].candidate;
        enum acog_dialect dialect = acog_plan_dialect_for(step, candidate);
        if (dialect == ACOG_DIALECT_COUNT) {
            drop_row(step, i, NOT_SPOKEN);
            continue;
        }
        if (dialect != client) {
            request->asked_candidates[request->asked_count++] = candidate;
        }
        i++;
    }
    if (request->asked_count > 0) {
        acog_step_ask(step, ACOG_SLOT_TRANSLATION, ACOG_NO_SLOT, request->facts->model);
    }
}

/* Drops what `objection` has something against. */
static void drop_objected(struct acog_step *step,
                          struct acog_view (*objection)(const struct acog_step *step,
                                                        uint16_t candidate))
{
    size_t i = 0;
    while (i < step->request->kept_count) {
        struct acog_view reason = objection(step, step->request->plan[i].candidate);
        if (reason.len == 0) {
            i++;
        } else {
            drop_row(step, i, reason);
        }
    }
}

/* -- pins ------------------------------------------------------------------------------------------ */

static bool pin_allows(const struct acog_step *step, const struct acog_connection *connection,
                       unsigned channels)
{
    const struct acog_request_facts *facts = step->request->facts;
    if (step->policy->pin.scope == ACOG_PIN_CHANNEL) {
        return (channels & ACOG_BIT(connection->channel)) != 0;
    }
    for (size_t i = 0; i < facts->pin_count; i++) {
        if (acog_view_equal(facts->pins[i], connection->id)) {
            return true;
        }
    }
    return false;
}

/* The channels that the client's words name. False: one of them is no channel, and the request is answered (S4.21). */
static bool pinned_channels(struct acog_step *step, unsigned *channels)
{
    const struct acog_request_facts *facts = step->request->facts;
    const struct acog_pin *pin = &step->policy->pin;
    *channels = 0;
    for (size_t i = 0; i < facts->pin_count && pin->scope == ACOG_PIN_CHANNEL; i++) {
        bool known = false;
        for (size_t v = 0; v < pin->value_count && !known; v++) {
            if (acog_view_equal(pin->values[v].text, facts->pins[i])) {
                *channels |= ACOG_BIT(pin->values[v].channel);
                known = true;
            }
        }
        if (!known) {
            acog_answer_condition(step, ACOG_CONDITION_PIN_UNKNOWN, facts->pins[i]);
            return false;
        }
    }
    return true;
}

static void filter_pin(struct acog_step *step)
{
    struct acog_request *request = step->request;
    unsigned channels = 0;
    if (step->policy->pin.scope == ACOG_PIN_NONE || request->facts->pin_count == 0 ||
        !pinned_channels(step, &channels)) {
        return;
    }
    request->pinned = true;
    size_t i = 0;
    while (i < request->kept_count) {
        if (pin_allows(step, acog_step_connection(step, request->plan[i].candidate), channels)) {
            i++;
        } else {
            drop_row(step, i, ACOG_VIEW("not what the client pinned"));
        }
    }
}

/* What the client pinned is there, and data protection keeps the request away from it (decision 1). */
static bool pinned_where_dlp_forbids(struct acog_step *step)
{
    const struct acog_request *request = step->request;
    uint8_t dlp = acog_plan_filter_index(step, ACOG_FILTER_DLP);
    unsigned channels = 0;
    if (!pinned_channels(step, &channels)) {
        return false;
    }
    for (size_t i = request->kept_count; i < request->plan_count; i++) {
        const struct acog_plan_row *row = &request->plan[i];
        if (row->filter == dlp &&
            pin_allows(step, acog_step_connection(step, row->candidate), channels)) {
            return true;
        }
    }
    return false;
}

/* -- default connection and arbitrage -------------------------------------------------------------- */

/* Another channel serves it for less than `row` does (S4.18a). Without a price there is nothing to compare. */
static bool cheaper_elsewhere(const struct acog_step *step, const struct acog_plan_row *row)
{
    const struct acog_request *request = step->request;
    double price = acog_order_price(acog_step_candidate(step, row->candidate));
    enum acog_channel channel = acog_step_connection(step, row->candidate)->channel;
    if (!acog_step_candidate(step, row->candidate)->priced) {
        return false;
    }
    for (size_t i = 0; i < request->kept_count; i++) {
        uint16_t other = request->plan[i].candidate;
        if (acog_step_connection(step, other)->channel != channel &&
            acog_order_price(acog_step_candidate(step, other)) < price) {
            return true;
        }
    }
    return false;
}

static void filter_default_exclusive(struct acog_step *step)
{
    struct acog_request *request = step->request;
    if (!step->policy->exclusive_default || request->pinned) {
        return;
    }
    size_t at = 0;
    while (at < request->kept_count &&
           !acog_step_connection(step, request->plan[at].candidate)->is_default) {
        at++;
    }
    if (at == request->kept_count ||
        (step->policy->arbitrage && cheaper_elsewhere(step, &request->plan[at]))) {
        return;
    }
    uint16_t kept = request->plan[at].candidate;
    size_t i = 0;
    while (i < request->kept_count) {
        if (request->plan[i].candidate == kept) {
            i++;
        } else {
            drop_row(step, i, ACOG_VIEW("the default connection serves alone"));
        }
    }
    request->exclusive = true;
}

/* Drops nothing: from here on the price decides the order, and what costs more is still there to fail over to. */
static void filter_arbitrage(struct acog_step *step)
{
    struct acog_request *request = step->request;
    if (!step->policy->arbitrage || request->pinned || request->exclusive) {
        return;
    }
    for (size_t i = 0; i < request->kept_count && !request->moved_by_price; i++) {
        request->moved_by_price = cheaper_elsewhere(step, &request->plan[i]);
    }
}

/* -- restricted, usable, circuit ------------------------------------------------------------------- */

static void filter_unrestricted(struct acog_step *step)
{
    struct acog_request *request = step->request;
    for (size_t i = 0; i < request->kept_count; i++) {
        if (!request->plan[i].restricted) {
            return; /* the restricted ones stay: for the failures that they take over (S1.5) */
        }
    }
    while (request->kept_count > 0) {
        drop_row(step, 0, ACOG_VIEW("only for failures that it takes over"));
    }
}

/* What is refused whatever the request. A function is asked at dispatch. */
static void filter_usable(struct acog_step *step)
{
    struct acog_request *request = step->request;
    size_t i = 0;
    while (i < request->kept_count) {
        const struct acog_connection *connection =
            acog_step_connection(step, request->plan[i].candidate);
        if (connection->usable != ACOG_USABLE_NO) {
            i++;
        } else {
            drop_row(step, i,
                     connection->usable_reason.len > 0 ? connection->usable_reason
                                                       : ACOG_VIEW("not usable"));
        }
    }
}

static struct acog_view circuit_reason(const struct acog_health_look *look)
{
    return look->cooling ? ACOG_VIEW("it asked to be left alone for a while")
                         : ACOG_VIEW("its circuit is open");
}

static void filter_circuit(struct acog_step *step)
{
    struct acog_request *request = step->request;
    const struct acog_health *health = &step->policy->health;
    if (health->mode == ACOG_HEALTH_DEMOTE) {
        return; /* never drops (S2.33); order.c moves to the end */
    }
    bool any = false;
    for (size_t i = 0; i < request->kept_count; i++) {
        struct acog_health_look look = acog_health_look(step, request->plan[i].candidate);
        any = any || (look.admits && !request->plan[i].restricted);
    }
    if (!any && health->all_open != ACOG_ALL_OPEN_REFUSE) {
        request->fail_open = true;
        return;
    }
    size_t i = 0;
    while (i < request->kept_count) {
        struct acog_health_look look = acog_health_look(step, request->plan[i].candidate);
        if (look.admits && any) {
            i++;
        } else if (look.admits) { /* a restricted one, behind ordinary ones that all are open */
            drop_row(step, i, ACOG_VIEW("only for failures that it takes over"));
        } else {
            drop_row(step, i, circuit_reason(&look));
        }
    }
}

/* -- functions ------------------------------------------------------------------------------------- */

static void ask_about_rows(struct acog_step *step, enum acog_slot_kind kind, uint16_t slot)
{
    struct acog_request *request = step->request;
    for (size_t i = 0; i < request->kept_count; i++) {
        request->asked_candidates[i] = request->plan[i].candidate;
    }
    request->asked_count = request->kept_count;
    acog_step_ask(step, kind, slot, request->facts->model);
}

/* Verdicts are of candidates in the order of the plan, but not of all of them. */
static void apply_verdicts(struct acog_step *step, const struct acog_answer *answer)
{
    struct acog_request *request = step->request;
    size_t row = 0;
    for (size_t i = 0; i < answer->count; i++) {
        while (request->plan[row].candidate != request->asked_candidates[i]) {
            row++;
        }
        if (answer->verdicts[i].keep) {
            row++;
        } else {
            drop_row(step, row, answer->verdicts[i].reason);
        }
    }
}

/* Brings back what the default connection kept away; those rows run the filters behind it. False: there is none. */
static bool lift_exclusive(struct acog_step *step)
{
    struct acog_request *request = step->request;
    uint8_t filter = acog_plan_filter_index(step, ACOG_FILTER_DEFAULT_EXCLUSIVE);
    for (size_t i = request->kept_count; i < request->plan_count; i++) {
        struct acog_plan_row row = request->plan[i];
        if (row.filter == filter) {
            row.verdict = ACOG_PLAN_KEPT;
            row.reason = (struct acog_view){0};
            memmove(&request->plan[request->kept_count + 1], &request->plan[request->kept_count],
                    (i - request->kept_count) * sizeof row);
            request->plan[request->kept_count++] = row;
        }
    }
    if (request->kept_count == 0) {
        return false;
    }
    request->exclusive = false;
    request->next_filter = filter;
    return true;
}

/* -- the pipeline ---------------------------------------------------------------------------------- */

/* What the current filter said of the first row that it dropped, other than `than`; empty: nothing. */
static struct acog_view first_reason(const struct acog_step *step, struct acog_view than)
{
    const struct acog_request *request = step->request;
    for (size_t i = request->kept_count; i < request->plan_count; i++) {
        const struct acog_plan_row *row = &request->plan[i];
        if (row->filter == request->next_filter && row->reason.len > 0 &&
            !acog_view_equal(row->reason, than)) {
            return row->reason;
        }
    }
    return (struct acog_view){0};
}

static void emptied(struct acog_step *step)
{
    struct acog_request *request = step->request;
    const struct acog_filter *filter = current_filter(step);
    struct acog_view detail = {0};
    enum acog_condition condition = filter->when_empty;
    request->emptied_by = request->next_filter;
    if (filter->kind == ACOG_FILTER_DIALECT) {
        detail = first_reason(step, NOT_SPOKEN);
        condition = detail.len > 0 ? ACOG_CONDITION_INVALID_REQUEST : condition;
    } else if (filter->kind == ACOG_FILTER_PIN) {
        detail = request->facts->pins[0];
        condition = pinned_where_dlp_forbids(step) ? ACOG_CONDITION_DLP : condition;
    } else if (filter->kind == ACOG_FILTER_FUNCTION) {
        /* A function without a name is called by its place, which is no client's business. */
        detail = acog_view_equal(filter->name, filter->place) ? ACOG_VIEW("a rule gave no reason")
                                                              : filter->name;
        struct acog_view reason = first_reason(step, (struct acog_view){0});
        detail = reason.len > 0 ? reason : detail;
    }
    acog_answer_condition(step, condition, detail);
}

/* Runs one filter; the request may be asking or have ended afterwards. */
static void run_filter(struct acog_step *step, const struct acog_filter *filter)
{
    switch (filter->kind) {
    case ACOG_FILTER_DECLARED:
        if (step->policy->match_slot != ACOG_NO_SLOT) {
            acog_step_ask(step, ACOG_SLOT_MATCH, step->policy->match_slot,
                          step->request->facts->model);
            return;
        }
        acog_plan_match_exactly(step, step->request->facts->model);
        fill_rows(step, step->request->asked_candidates, step->request->asked_count);
        return;
    case ACOG_FILTER_DIALECT:
        filter_dialect(step);
        return;
    case ACOG_FILTER_RESERVED:
        drop_objected(step, acog_dedicated_objection);
        return;
    case ACOG_FILTER_ACCESS:
        drop_objected(step, acog_access_objection);
        return;
    case ACOG_FILTER_DLP:
        drop_objected(step, acog_dlp_objection);
        return;
    case ACOG_FILTER_PIN:
        filter_pin(step);
        return;
    case ACOG_FILTER_DEFAULT_EXCLUSIVE:
        filter_default_exclusive(step);
        return;
    case ACOG_FILTER_ARBITRAGE:
        filter_arbitrage(step);
        return;
    case ACOG_FILTER_UNRESTRICTED:
        filter_unrestricted(step);
        return;
    case ACOG_FILTER_USABLE:
        filter_usable(step);
        return;
    case ACOG_FILTER_CIRCUIT:
        filter_circuit(step);
        return;
    case ACOG_FILTER_FUNCTION:
        ask_about_rows(step, ACOG_SLOT_FILTER, filter->slot);
        return;
    }
    ACOG_UNREACHABLE("a filter");
}

/* After a filter has run: false when it left nothing and the request is over. */
static bool filter_done(struct acog_step *step)
{
    struct acog_request *request = step->request;
    if (request->kept_count == 0) {
        bool lifted = current_filter(step)->kind == ACOG_FILTER_FUNCTION && lift_exclusive(step);
        if (!lifted) {
            emptied(step);
            return false;
        }
    }
    request->next_filter++;
    return true;
}

static void complete(struct acog_step *step)
{
    step->request->state = ACOG_REQUEST_TRYING;
    if (!step->plan_only) {
        acog_attempt_next(step, false);
    }
}

static void order(struct acog_step *step)
{
    if (acog_order_run(step)) {
        complete(step);
    } else {
        uint8_t key = step->request->next_order_key;
        ask_about_rows(step, ACOG_SLOT_ORDER, step->policy->order[key].slot);
    }
}

static void go_on(struct acog_step *step)
{
    struct acog_request *request = step->request;
    while (request->next_filter < step->policy->filter_count) {
        run_filter(step, current_filter(step));
        if (request->state == ACOG_REQUEST_ASKING || request->state == ACOG_REQUEST_ENDED ||
            !filter_done(step)) {
            return;
        }
    }
    acog_order_start(step);
    order(step);
}

void acog_plan_start(struct acog_step *step)
{
    const struct acog_policy *policy = step->policy;
    ACOG_ASSERT(policy->filter_count > 0 && policy->filters[0].kind == ACOG_FILTER_DECLARED);
    if (policy->one_choice_only && step->request->facts->choices > 1) {
        acog_answer_condition(step, ACOG_CONDITION_CHOICES, (struct acog_view){0});
        return;
    }
    go_on(step);
}

void acog_plan_answered(struct acog_step *step, const struct acog_answer *answer)
{
    struct acog_request *request = step->request;
    request->state = ACOG_REQUEST_TRYING;
    if (request->asked == ACOG_SLOT_ORDER) {
        if (!acog_order_answered(step, answer)) {
            acog_answer_condition(step, ACOG_CONDITION_POLICY_ERROR, (struct acog_view){0});
            return;
        }
        order(step);
        return;
    }
    bool sane = request->asked == ACOG_SLOT_MATCH
                    ? acog_plan_match_is_sane(step, answer)
                    : !answer->failed && answer->count == request->asked_count;
    if (!sane) {
        acog_answer_condition(step, ACOG_CONDITION_POLICY_ERROR, (struct acog_view){0});
        return;
    }
    if (request->asked == ACOG_SLOT_MATCH) {
        fill_rows(step, answer->candidates, answer->count);
    } else {
        apply_verdicts(step, answer);
    }
    if (filter_done(step)) {
        go_on(step);
    }
}
