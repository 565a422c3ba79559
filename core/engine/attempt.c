/* attempt.c - choosing the next candidate, sending to it, and what its failure leads to (D5, D6).
 *
 * Everything that a dispatch takes (ticket, in-flight count) comes back in acog_attempt_end(), on every exit. The one
 * complication: between the plan and a dispatch the world may change, so a candidate can still be lost there. It is
 * then dropped, or moved to the end where circuits only demote, and the next one is chosen.
 */
#include "acog/contract.h"
#include "acog/random.h"
#include "step.h"

/* -- who is next ----------------------------------------------------------------------------------- */

static bool budget_left(const struct acog_step *step)
{
    const struct acog_request *request = step->request;
    uint32_t max = step->policy->attempts.max;
    return request->attempt_count < ACOG_ATTEMPTS_MAX &&
           (max == 0 || request->counted_attempts < max);
}

static bool same_pin(const struct acog_step *step, const struct acog_plan_row *a,
                     const struct acog_plan_row *b)
{
    const struct acog_connection *first = acog_step_connection(step, a->candidate);
    const struct acog_connection *second = acog_step_connection(step, b->candidate);
    return step->policy->pin.scope == ACOG_PIN_CHANNEL ? first->channel == second->channel
                                                       : first == second;
}

/* Of each pinned place one is tried, where the policy says so (S3.14, G3.4). */
static bool pin_is_spent(const struct acog_step *step, const struct acog_plan_row *row)
{
    const struct acog_request *request = step->request;
    if (!request->pinned || step->policy->pin.failover_inside) {
        return false;
    }
    for (size_t i = 0; i < request->kept_count; i++) {
        if (request->plan[i].tried > 0 && same_pin(step, &request->plan[i], row)) {
            return true;
        }
    }
    return false;
}

static bool may_go_to(const struct acog_step *step, const struct acog_plan_row *row)
{
    const struct acog_request *request = step->request;
    if (row->verdict == ACOG_PLAN_DROPPED || row->tried > 0 || pin_is_spent(step, row)) {
        return false;
    }
    if (!request->has_failure) {
        return !row->restricted; /* (S1.3) */
    }
    const struct acog_class_row *class = acog_class_row_of(step->policy, request->last_class);
    if (row->restricted) { /* (S1.5, S1.11) */
        return acog_failure_covered(acog_step_connection(step, row->candidate), class,
                                    &request->last_failure);
    }
    return class->move == ACOG_MOVE_NEXT;
}

/* The smaller goes first; equal ones in the order of the plan (decision 7). */
static unsigned turn_of(const struct acog_step *step, const struct acog_plan_row *row)
{
    unsigned turn = row->moved_last ? 2 : 0;
    switch (step->policy->attempts.restricted) {
    case ACOG_RESTRICTED_DECLARED_ORDER:
        return turn;
    case ACOG_RESTRICTED_FIRST:
        return turn + (row->restricted ? 0 : 1);
    case ACOG_RESTRICTED_LAST:
        return turn + (row->restricted ? 1 : 0);
    }
    ACOG_UNREACHABLE("a place");
}

static struct acog_plan_row *untried_row(const struct acog_step *step)
{
    struct acog_request *request = step->request;
    struct acog_plan_row *best = NULL;
    for (size_t i = 0; i < request->kept_count; i++) {
        struct acog_plan_row *row = &request->plan[i];
        if (may_go_to(step, row) && (best == NULL || turn_of(step, row) < turn_of(step, best))) {
            best = row;
        }
    }
    return best;
}

static bool is_forced(const struct acog_step *step, const struct acog_plan_row *row)
{
    return step->request->fail_open ||
           (step->policy->health.mode == ACOG_HEALTH_DEMOTE && (row->demoted || row->tried > 0));
}

/* The candidate that failed last, when its class lets it be used again (G4.12). */
static struct acog_plan_row *same_row(const struct acog_step *step, bool sole)
{
    struct acog_request *request = step->request;
    if (!request->has_failure || request->attempt_count == 0) {
        return NULL;
    }
    const struct acog_class_row *class = acog_class_row_of(step->policy, request->last_class);
    uint8_t index = request->attempts[request->attempt_count - 1].plan_row;
    if (class->move != ACOG_MOVE_NEXT || index == ACOG_NO_PLAN_ROW) {
        return NULL;
    }
    struct acog_plan_row *row = &request->plan[index];
    bool allowed = false;
    switch (class->same) {
    case ACOG_SAME_NEVER:
        return NULL;
    case ACOG_SAME_IF_SOLE:
        allowed = sole && (class->same_max == 0 || row->tried <= class->same_max);
        break;
    case ACOG_SAME_FIRST:
        allowed = row->tried <= class->same_max;
        break;
    }
    if (!allowed || row->verdict == ACOG_PLAN_DROPPED) {
        return NULL;
    }
    return is_forced(step, row) || acog_health_look(step, row->candidate).admits ? row : NULL;
}

static bool choose(const struct acog_step *step, struct acog_next_attempt *next)
{
    struct acog_plan_row *row = NULL;
    if (budget_left(step)) {
        row = same_row(step, false);
        row = row != NULL ? row : untried_row(step);
        row = row != NULL ? row : same_row(step, true);
    }
    if (row == NULL) {
        return false;
    }
    *next = (struct acog_next_attempt){.candidate = row->candidate,
                                       .plan_row = (uint8_t)(row - step->request->plan)};
    return true;
}

/* -- sending --------------------------------------------------------------------------------------- */

static struct acog_view model_to_send(const struct acog_step *step,
                                      const struct acog_next_attempt *next)
{
    const struct acog_candidate *candidate = acog_step_candidate(step, next->candidate);
    struct acog_view asked =
        next->fallback ? step->policy->refusal.fallback_model : step->request->facts->model;
    switch (step->policy->send_id) {
    case ACOG_SEND_DECLARED:
        return candidate->send_id;
    case ACOG_SEND_CLIENT:
        return asked;
    case ACOG_SEND_DECLARED_OR_CLIENT:
        return acog_view_equal(candidate->send_id, candidate->declared) ? asked
                                                                        : candidate->send_id;
    }
    ACOG_UNREACHABLE("a way to name the model");
}

void acog_attempt_cancel(struct acog_step *step, struct acog_attempt_row *attempt)
{
    ACOG_ASSERT(!attempt->cancelled);
    attempt->cancelled = true;
    acog_step_emit(step, ACOG_ACTION_CANCEL, (uint32_t)(attempt - step->request->attempts) + 1);
}

/* The attempt before this one failed by its own and was kept for its body; nobody will ask for that any more. */
static void release_previous(struct acog_step *step)
{
    struct acog_request *request = step->request;
    uint32_t previous = (uint32_t)request->attempt_count;
    if (previous > 0 && previous != request->kept_attempt &&
        !request->attempts[previous - 1].cancelled) {
        acog_attempt_cancel(step, acog_step_attempt(step, previous));
    }
}

static struct acog_attempt_row fresh_attempt(const struct acog_step *step,
                                             const struct acog_next_attempt *next)
{
    return (struct acog_attempt_row){
        .candidate = next->candidate,
        .plan_row = next->plan_row,
        .extra_try = next->extra_try,
        .fallback = next->fallback,
        .model = model_to_send(step, next),
        .dispatched_at_ms = step->request->now_ms,
        .connected_at_ms = -1,
        .headers_at_ms = -1,
        .first_event_at_ms = -1,
        .first_output_at_ms = -1,
        .active_at_ms = -1,
        .ended_at_ms = -1,
    };
}

static void emit_dispatch(struct acog_step *step, const struct acog_attempt_row *attempt)
{
    struct acog_request *request = step->request;
    request->current = (uint32_t)request->attempt_count;
    request->state = ACOG_REQUEST_TRYING;
    struct acog_action *action = acog_step_emit(step, ACOG_ACTION_DISPATCH, request->current);
    action->dispatch.candidate = attempt->candidate;
    action->dispatch.model = attempt->model;
    action->dispatch.resend = attempt->resend;
}

static void mark_row(struct acog_step *step, const struct acog_next_attempt *next, bool forced)
{
    struct acog_plan_row *row = &step->request->plan[next->plan_row];
    row->verdict = ACOG_PLAN_TRIED;
    row->tried++;
    row->forced = row->forced || forced;
}

/* The circuit let nothing through although the plan thought so: it opened, or its probe was taken. */
static void lose_row(struct acog_step *step, struct acog_plan_row *row)
{
    struct acog_health_look look = acog_health_look(step, row->candidate);
    if (step->policy->health.mode == ACOG_HEALTH_DEMOTE) {
        row->demoted = true;
        row->moved_last = true;
        row->opened_at_ms = look.opened_at_ms;
    } else if (row->tried == 0) {
        row->verdict = ACOG_PLAN_DROPPED;
        row->filter = acog_plan_filter_index(step, ACOG_FILTER_CIRCUIT);
        row->reason = look.cooling ? ACOG_VIEW("it asked to be left alone meanwhile")
                                   : ACOG_VIEW("its circuit opened meanwhile");
    }
    acog_order_place_floor(step);
}

static bool dispatch(struct acog_step *step, struct acog_next_attempt next)
{
    struct acog_request *request = step->request;
    struct acog_plan_row *row =
        next.plan_row == ACOG_NO_PLAN_ROW ? NULL : &request->plan[next.plan_row];
    bool forced = next.extra_try || (row != NULL && is_forced(step, row));
    bool open = !acog_health_look(step, next.candidate).admits;
    ACOG_ASSERT(request->attempt_count < ACOG_ATTEMPTS_MAX);
    struct acog_attempt_row *attempt = &request->attempts[request->attempt_count];
    *attempt = fresh_attempt(step, &next);
    if (!acog_health_take(step, attempt, forced)) {
        if (row != NULL) {
            lose_row(step, row);
        }
        return false;
    }
    release_previous(step);
    request->attempt_count++;
    if (!next.extra_try && (!next.fallback || step->policy->refusal.counts_as_attempt)) {
        request->counted_attempts++;
    }
    if (request->has_failure) {
        acog_failure_name_reason(step);
    }
    if (row != NULL) {
        mark_row(step, &next, forced && open);
    }
    acog_clock_set_limits(step, attempt, row != NULL && row->floor);
    emit_dispatch(step, attempt);
    return true;
}

/* On a connection that turned out dead before any byte: the same once more, with what the first one took. */
static void resend(struct acog_step *step, struct acog_attempt_row *dead)
{
    struct acog_request *request = step->request;
    struct acog_next_attempt next = {.candidate = dead->candidate,
                                     .plan_row = dead->plan_row,
                                     .extra_try = dead->extra_try,
                                     .fallback = dead->fallback};
    struct acog_attempt_row *attempt = &request->attempts[request->attempt_count];
    *attempt = fresh_attempt(step, &next);
    attempt->resend = true;
    for (int i = 0; i < ACOG_CLOCK_COUNT; i++) {
        attempt->limits_ms[i] = dead->limits_ms[i];
    }
    acog_health_hand_over(dead, attempt);
    dead->ended_at_ms = request->now_ms;
    dead->outcome = ACOG_OUTCOME_FAILED;
    release_previous(step);
    request->attempt_count++;
    request->resends++;
    emit_dispatch(step, attempt);
}

/* -- usable ---------------------------------------------------------------------------------------- */

/* Refused before sending (S4.13): it may spend an attempt (G4.13), but nothing was sent and nobody is charged. */
static void refuse(struct acog_step *step, struct acog_next_attempt next, struct acog_view reason)
{
    struct acog_request *request = step->request;
    request->refused_before_send++;
    if (step->policy->attempts.not_usable_counts && !next.fallback && !next.extra_try) {
        request->counted_attempts++;
    }
    if (next.plan_row != ACOG_NO_PLAN_ROW) {
        struct acog_plan_row *row = &request->plan[next.plan_row];
        row->verdict = ACOG_PLAN_DROPPED;
        row->filter = acog_plan_filter_index(step, ACOG_FILTER_USABLE);
        row->reason = reason;
        acog_order_place_floor(step);
    }
}

bool acog_attempt_send(struct acog_step *step, struct acog_next_attempt next)
{
    struct acog_request *request = step->request;
    const struct acog_connection *connection = acog_step_connection(step, next.candidate);
    switch (connection->usable) {
    case ACOG_USABLE_YES:
        return dispatch(step, next);
    case ACOG_USABLE_NO:
        refuse(step, next, connection->usable_reason);
        return false;
    case ACOG_USABLE_FUNCTION:
        request->next = next;
        request->asked_candidates[0] = next.candidate;
        request->asked_count = 1;
        acog_step_ask(step, ACOG_SLOT_USABLE, connection->usable_slot,
                      next.fallback ? step->policy->refusal.fallback_model : request->facts->model);
        return true;
    }
    ACOG_UNREACHABLE("usable or not");
}

void acog_attempt_usable_answered(struct acog_step *step, const struct acog_answer *answer)
{
    struct acog_request *request = step->request;
    struct acog_next_attempt next = request->next;
    request->state = ACOG_REQUEST_TRYING;
    bool failed = answer->failed || answer->count != 1;
    bool usable = !failed && answer->verdicts[0].keep;
    if (usable && dispatch(step, next)) {
        return;
    }
    if (next.fallback) {
        acog_refusal_replay(step, ACOG_FALLBACK_UNAVAILABLE);
        return;
    }
    if (failed) {
        acog_answer_condition(step, ACOG_CONDITION_POLICY_ERROR, (struct acog_view){0});
        return;
    }
    if (!usable) {
        refuse(step, next, answer->verdicts[0].reason);
    }
    acog_attempt_next(step, true); /* nothing was sent: nothing to wait for */
}

/* -- going on -------------------------------------------------------------------------------------- */

/* Whether the class of the last failure wants a pause before `next`. */
static bool is_pause_due(struct acog_step *step, const struct acog_next_attempt *next)
{
    const struct acog_request *request = step->request;
    switch (acog_class_row_of(step->policy, request->last_class)->pause) {
    case ACOG_PAUSE_ALWAYS:
        return true;
    case ACOG_PAUSE_SAME:
        return request->attempt_count > 0 &&
               request->attempts[request->attempt_count - 1].candidate == next->candidate;
    case ACOG_PAUSE_NEVER:
        return false;
    }
    ACOG_UNREACHABLE("always, for the same or never");
}

static int64_t backoff_ms(struct acog_step *step, const struct acog_next_attempt *next)
{
    struct acog_request *request = step->request;
    const struct acog_backoff *backoff = &step->policy->backoff;
    const struct acog_failure *failure = &request->last_failure;
    int64_t top = backoff->ms_min;
    if (backoff->kind == ACOG_BACKOFF_NONE || !request->has_failure || !is_pause_due(step, next)) {
        return 0;
    }
    if (failure->status == 429 && failure->retry_after_ms >= 0 && backoff->retry_after_ms_max > 0) {
        return failure->retry_after_ms < backoff->retry_after_ms_max ? failure->retry_after_ms
                                                                     : backoff->retry_after_ms_max;
    }
    if (backoff->kind == ACOG_BACKOFF_RANDOM) {
        return acog_random_between(&request->random, backoff->ms_min, backoff->ms_max);
    }
    for (uint32_t i = 0; i < request->backoffs && top < backoff->ms_max; i++) {
        top *= 2;
    }
    top = top < backoff->ms_max ? top : backoff->ms_max;
    return acog_random_between(&request->random, 0, top);
}

/* One of those that failed only because of time, once more: fewest failures in sequence, then the usual order (S2.20). */
static bool try_slow_one_again(struct acog_step *step)
{
    struct acog_request *request = step->request;
    const struct acog_plan_row *best = NULL;
    uint32_t best_failures = 0;
    if (!step->policy->attempts.extra_slow_try || request->extra_try_used ||
        request->attempt_count == ACOG_ATTEMPTS_MAX) {
        return false;
    }
    for (size_t i = 0; i < request->attempt_count; i++) {
        const struct acog_attempt_row *attempt = &request->attempts[i];
        if (!attempt->failed || !acog_class_row_of(step->policy, attempt->class)->by_time) {
            continue;
        }
        const struct acog_plan_row *row = &request->plan[attempt->plan_row];
        uint32_t failures = acog_health_look(step, row->candidate).failures;
        if (best == NULL || failures < best_failures ||
            (failures == best_failures && row->usual < best->usual)) {
            best = row;
            best_failures = failures;
        }
    }
    if (best == NULL) {
        return false;
    }
    request->extra_try_used = true;
    return acog_attempt_send(step,
                             (struct acog_next_attempt){.candidate = best->candidate,
                                                        .plan_row = (uint8_t)(best - request->plan),
                                                        .extra_try = true});
}

static void none_left(struct acog_step *step)
{
    struct acog_request *request = step->request;
    bool restricted =
        request->has_failure &&
        acog_class_row_of(step->policy, request->last_class)->move == ACOG_MOVE_RESTRICTED;
    if (restricted) {
        acog_answer_class(step); /* nobody takes it over: it is the answer (S1.12) */
    } else if (!try_slow_one_again(step)) {
        acog_answer_exhausted(step);
    }
}

void acog_attempt_next(struct acog_step *step, bool waited)
{
    struct acog_request *request = step->request;
    struct acog_next_attempt next;
    while (choose(step, &next)) {
        int64_t wait = waited ? 0 : backoff_ms(step, &next);
        if (!waited && !request->has_failure && !acog_dedicated_take_turn(step, &wait)) {
            acog_answer_condition(step, ACOG_CONDITION_OVERLOADED, (struct acog_view){0});
            return;
        }
        if (wait > 0) {
            request->backoffs += request->has_failure ? 1 : 0;
            request->next = next;
            request->wait_until_ms = request->now_ms + wait;
            request->state = ACOG_REQUEST_WAITING;
            return;
        }
        if (acog_attempt_send(step, next)) {
            return;
        }
        waited = true;
    }
    none_left(step);
}

void acog_attempt_backoff_over(struct acog_step *step)
{
    step->request->state = ACOG_REQUEST_TRYING;
    if (!acog_attempt_send(step, step->request->next)) {
        acog_attempt_next(step, true);
    }
}

/* -- failing --------------------------------------------------------------------------------------- */

static enum acog_outcome outcome_of_failure(const struct acog_step *step,
                                            const struct acog_attempt_row *attempt)
{
    return (attempt->outputs & step->policy->commit.started_on) != 0 ? ACOG_OUTCOME_INCOMPLETE
                                                                     : ACOG_OUTCOME_FAILED;
}

void acog_attempt_end(struct acog_step *step, struct acog_attempt_row *attempt,
                      enum acog_outcome outcome, enum acog_circuit_result result)
{
    acog_health_give_back(step, attempt, result);
    attempt->ended_at_ms = step->request->now_ms;
    attempt->outcome = outcome;
    step->request->current = 0;
}

static void book_failure(struct acog_step *step, struct acog_attempt_row *attempt,
                         const struct acog_failure *failure, enum acog_failure_class class)
{
    struct acog_request *request = step->request;
    const struct acog_class_row *row = acog_class_row_of(step->policy, class);
    acog_failure_keep(request, failure);
    request->last_class = class;
    attempt->failed = true;
    attempt->class = class;
    attempt->cause = failure->cause;
    attempt->clock = failure->clock;
    attempt->status = failure->status != 0 ? failure->status : attempt->status;
    acog_health_cool(step, attempt->candidate, row, failure->retry_after_ms);
    /* The one more try adds no second failure (S2.26). */
    acog_attempt_end(step, attempt, outcome_of_failure(step, attempt),
                     attempt->extra_try ? ACOG_CIRCUIT_GIVEN_BACK
                                        : acog_health_result(row->charge));
}

/* A refusal in a 200 is an answer like any other, unless the policy has a fallback model for it. */
static void give_refusal(struct acog_step *step, struct acog_attempt_row *attempt,
                         const struct acog_failure *failure, enum acog_failure_class class)
{
    const struct acog_class_row *row = acog_class_row_of(step->policy, class);
    if (row->move != ACOG_MOVE_FALLBACK_MODEL) {
        acog_step_complete(step, attempt);
        return;
    }
    book_failure(step, attempt, failure, class);
    attempt->outcome = ACOG_OUTCOME_COMPLETED; /* it answered; what follows decides who is heard */
    acog_refusal_seen(step, attempt);
}

static bool may_resend(const struct acog_step *step, const struct acog_failure *failure)
{
    const struct acog_request *request = step->request;
    return failure->reused_no_byte && request->resends < step->policy->attempts.resend_max &&
           request->attempt_count < ACOG_ATTEMPTS_MAX;
}

void acog_attempt_failed(struct acog_step *step, const struct acog_failure *failure, bool stop)
{
    struct acog_request *request = step->request;
    struct acog_attempt_row *attempt = acog_step_attempt(step, request->current);
    enum acog_failure_class class =
        acog_classify(step->policy, failure, attempt->first_output_at_ms >= 0);
    if (may_resend(step, failure)) {
        attempt->failed = true;
        attempt->class = class;
        attempt->cause = failure->cause;
        resend(step, attempt);
        return;
    }
    if (failure->cause == ACOG_CAUSE_REFUSAL && !attempt->fallback) {
        give_refusal(step, attempt, failure, class);
        return;
    }
    book_failure(step, attempt, failure, class);
    if (stop) {
        acog_attempt_cancel(step, attempt);
    }
    const struct acog_class_row *row = acog_class_row_of(step->policy, class);
    if (attempt->fallback) {
        acog_refusal_replay(step, ACOG_FALLBACK_UNAVAILABLE);
    } else if (attempt->extra_try) {
        acog_answer_exhausted(step); /* (S2.23) */
    } else if (request->exclusive || row->move == ACOG_MOVE_NO ||
               row->move == ACOG_MOVE_FALLBACK_MODEL) {
        acog_answer_class(step); /* (S4.4) */
    } else {
        acog_attempt_next(step, false);
    }
}

void acog_attempt_died(struct acog_step *step, const struct acog_failure *failure, bool stop)
{
    uint32_t number = step->request->current;
    struct acog_attempt_row *attempt = acog_step_attempt(step, number);
    book_failure(step, attempt, failure, ACOG_CLASS_DIED_AFTER_COMMIT);
    acog_step_emit(step, ACOG_ACTION_FAIL_STREAM, number)->lost =
        failure->cause != ACOG_CAUSE_STREAM_ERROR;
    if (stop) {
        acog_attempt_cancel(step, attempt);
    }
    acog_step_finish(step, attempt->outcome);
}
