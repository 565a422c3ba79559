/* engine.c - one step: the event's time is taken in, the event goes to its one function, the actions come out. */
#include "acog/contract.h"
#include "step.h"

struct acog_action *acog_step_emit(struct acog_step *step, enum acog_action_type type,
                                   uint32_t attempt)
{
    struct acog_actions *actions = step->actions;
    ACOG_ASSERT(step->request->state != ACOG_REQUEST_ENDED);
    ACOG_ASSERT(actions->count < ACOG_ACTIONS_MAX);
    struct acog_action *action = &actions->list[actions->count++];
    *action = (struct acog_action){.type = type, .attempt = attempt};
    return action;
}

void acog_step_finish(struct acog_step *step, enum acog_outcome outcome)
{
    struct acog_request *request = step->request;
    ACOG_ASSERT(request->current == 0);
    acog_step_emit(step, ACOG_ACTION_FINISH, 0)->outcome = outcome;
    request->outcome = outcome;
    request->state = ACOG_REQUEST_ENDED;
}

void acog_step_ask(struct acog_step *step, enum acog_slot_kind kind, uint16_t slot,
                   struct acog_view model)
{
    struct acog_request *request = step->request;
    ACOG_ASSERT(request->current == 0);
    struct acog_ask *ask = &acog_step_emit(step, ACOG_ACTION_ASK_POLICY, 0)->ask;
    *ask = (struct acog_ask){.kind = kind, .slot = slot, .facts = request->facts, .model = model};
    if (kind != ACOG_SLOT_MATCH) {
        ask->candidates = request->asked_candidates;
        ask->count = request->asked_count;
    }
    request->asked = kind;
    request->state = ACOG_REQUEST_ASKING;
}

/* -- the answer's way ------------------------------------------------------------------------------ */

void acog_step_commit(struct acog_step *step, struct acog_attempt_row *attempt)
{
    struct acog_request *request = step->request;
    ACOG_ASSERT(!request->committed && attempt->live);
    if (attempt->fallback) {
        request->fallback = ACOG_FALLBACK_APPLIED;
        acog_step_emit(step, ACOG_ACTION_DROP_KEPT, request->kept_attempt);
    }
    acog_step_emit(step, ACOG_ACTION_COMMIT, request->current);
    request->committed = true;
    request->state = ACOG_REQUEST_COMMITTED;
}

void acog_step_complete(struct acog_step *step, struct acog_attempt_row *attempt)
{
    uint32_t number = step->request->current;
    if (!step->request->committed) {
        acog_step_commit(step, attempt);
    }
    acog_attempt_end(step, attempt, ACOG_OUTCOME_COMPLETED, ACOG_CIRCUIT_ANSWERED);
    acog_step_emit(step, ACOG_ACTION_END_REPLY, number);
    acog_step_finish(step, ACOG_OUTCOME_COMPLETED);
}

/* A whole answer in another dialect than the client's is told when all of it was read: until then there is nothing
 * that could be given, whatever level the policy commits at. */
static bool is_told_at_its_end(const struct acog_step *step, const struct acog_attempt_row *attempt)
{
    const struct acog_request_facts *facts = step->request->facts;
    unsigned dialects = acog_step_connection(step, attempt->candidate)->dialects;
    return !facts->stream &&
           acog_dialect_for(facts->surface, dialects) != acog_surface_dialect(facts->surface);
}

/* The answer has come as far as `level`: every level below is reached too. */
static void reached(struct acog_step *step, struct acog_attempt_row *attempt,
                    enum acog_commit_level level)
{
    const struct acog_commit *commit = &step->policy->commit;
    enum acog_commit_level wanted = step->request->facts->stream ? commit->stream : commit->whole;
    if (step->request->state == ACOG_REQUEST_TRYING && level >= wanted &&
        !is_told_at_its_end(step, attempt)) {
        acog_step_commit(step, attempt);
    }
}

static void on_headers(struct acog_step *step, struct acog_attempt_row *attempt, uint16_t status)
{
    int64_t now_ms = step->request->now_ms;
    if (attempt->headers_at_ms >= 0) {
        return;
    }
    attempt->connected_at_ms = attempt->connected_at_ms < 0 ? now_ms : attempt->connected_at_ms;
    attempt->headers_at_ms = now_ms;
    attempt->active_at_ms = now_ms;
    attempt->status = status;
    reached(step, attempt, ACOG_COMMIT_HEADERS);
}

static void on_first_event(struct acog_step *step, struct acog_attempt_row *attempt)
{
    if (attempt->first_event_at_ms < 0) {
        attempt->first_event_at_ms = step->request->now_ms;
        attempt->active_at_ms = step->request->now_ms;
        reached(step, attempt, ACOG_COMMIT_FIRST_EVENT);
    }
}

static void on_output(struct acog_step *step, struct acog_attempt_row *attempt, unsigned outputs)
{
    int64_t now_ms = step->request->now_ms;
    attempt->outputs |= outputs;
    attempt->active_at_ms = now_ms;
    on_first_event(step, attempt);
    if (attempt->first_output_at_ms >= 0 || (outputs & step->policy->commit.outputs) == 0) {
        return;
    }
    attempt->first_output_at_ms = now_ms;
    if (step->request->facts->stream) { /* the time of a whole answer is another measure */
        acog_health_first_output(step, attempt->candidate, now_ms - attempt->dispatched_at_ms);
    }
    reached(step, attempt, ACOG_COMMIT_FIRST_OUTPUT);
}

static void on_failed(struct acog_step *step, struct acog_attempt_row *attempt,
                      const struct acog_failure *failure, bool stop);

static void on_held_full(struct acog_step *step, struct acog_attempt_row *attempt)
{
    if (step->request->state != ACOG_REQUEST_TRYING) {
        return;
    }
    if (step->policy->commit.fail_when_full) {
        struct acog_failure failure = {.cause = ACOG_CAUSE_HELD_FULL, .retry_after_ms = -1};
        on_failed(step, attempt, &failure, true);
    } else {
        acog_step_commit(step, attempt);
    }
}

/* -- ends ------------------------------------------------------------------------------------------ */

/* The client has left: nobody hears an answer any more, only the books are kept. */
static void finish_unheard(struct acog_step *step, struct acog_attempt_row *attempt,
                           enum acog_outcome outcome, enum acog_circuit_result result)
{
    acog_attempt_end(step, attempt, outcome, result);
    acog_step_finish(step, ACOG_OUTCOME_CANCELLED);
}

static void stop_unheard(struct acog_step *step)
{
    struct acog_attempt_row *attempt = acog_step_attempt(step, step->request->current);
    const struct acog_class_row *row = acog_class_row_of(step->policy, ACOG_CLASS_CLIENT_CANCEL);
    acog_attempt_cancel(step, attempt);
    finish_unheard(step, attempt, ACOG_OUTCOME_CANCELLED, acog_health_result(row->charge));
}

static void on_failed(struct acog_step *step, struct acog_attempt_row *attempt,
                      const struct acog_failure *failure, bool stop)
{
    struct acog_request *request = step->request;
    if (request->state == ACOG_REQUEST_TRYING) {
        acog_attempt_failed(step, failure, stop);
    } else if (request->state == ACOG_REQUEST_DRAINING) {
        const struct acog_class_row *row =
            acog_class_row_of(step->policy, ACOG_CLASS_CLIENT_CANCEL);
        finish_unheard(step, attempt, ACOG_OUTCOME_CANCELLED, acog_health_result(row->charge));
    } else if (failure->cause == ACOG_CAUSE_REFUSAL) {
        acog_step_complete(step, attempt); /* all of it has reached the client */
    } else {
        acog_attempt_died(step, failure, stop);
    }
}

static void on_done(struct acog_step *step, struct acog_attempt_row *attempt)
{
    if (step->request->state == ACOG_REQUEST_DRAINING) {
        finish_unheard(step, attempt, ACOG_OUTCOME_COMPLETED, ACOG_CIRCUIT_ANSWERED);
    } else {
        acog_step_complete(step, attempt);
    }
}

static void on_client_gone(struct acog_step *step)
{
    struct acog_request *request = step->request;
    switch (request->state) {
    case ACOG_REQUEST_ASKING:
    case ACOG_REQUEST_WAITING:
        request->client_gone = true;
        acog_step_finish(step, ACOG_OUTCOME_CANCELLED);
        return;
    case ACOG_REQUEST_TRYING:
    case ACOG_REQUEST_COMMITTED:
        request->client_gone = true;
        if (request->facts->stream && step->policy->drain_ms > 0) { /* (S2.45) */
            request->wait_until_ms = request->now_ms + step->policy->drain_ms;
            request->state = ACOG_REQUEST_DRAINING;
        } else {
            stop_unheard(step);
        }
        return;
    case ACOG_REQUEST_NEW:
    case ACOG_REQUEST_DRAINING:
    case ACOG_REQUEST_ENDED:
        return;
    }
    ACOG_UNREACHABLE("a state");
}

/* -- time ------------------------------------------------------------------------------------------ */

int64_t acog_engine_deadline_ms(const struct acog_request *request)
{
    enum acog_clock clock = ACOG_CLOCK_CONNECT;
    switch (request->state) {
    case ACOG_REQUEST_TRYING:
    case ACOG_REQUEST_COMMITTED:
        return request->current == 0 ? INT64_MAX
                                     : acog_clock_next(&request->attempts[request->current - 1],
                                                       request->committed, &clock);
    case ACOG_REQUEST_WAITING:
    case ACOG_REQUEST_DRAINING:
        return request->wait_until_ms;
    case ACOG_REQUEST_NEW:
    case ACOG_REQUEST_ASKING:
    case ACOG_REQUEST_ENDED:
        return INT64_MAX;
    }
    ACOG_UNREACHABLE("a state");
}

static void on_clock(struct acog_step *step)
{
    struct acog_request *request = step->request;
    struct acog_attempt_row *attempt = acog_step_attempt(step, request->current);
    struct acog_failure failure = {
        .cause = ACOG_CAUSE_CLOCK, .status = attempt->status, .retry_after_ms = -1};
    (void)acog_clock_next(attempt, request->committed, &failure.clock);
    on_failed(step, attempt, &failure, true);
}

static void on_tick(struct acog_step *step)
{
    struct acog_request *request = step->request;
    if (request->now_ms < acog_engine_deadline_ms(request)) {
        return; /* a timer may be early */
    }
    if (request->state == ACOG_REQUEST_WAITING) {
        acog_attempt_backoff_over(step);
    } else if (request->state == ACOG_REQUEST_DRAINING) {
        stop_unheard(step);
    } else {
        on_clock(step);
    }
}

/* -- events ---------------------------------------------------------------------------------------- */

static void on_arrived(struct acog_step *step, const struct acog_event *event)
{
    struct acog_request *request = step->request;
    ACOG_ASSERT(request->state == ACOG_REQUEST_NEW);
    request->facts = event->arrived.facts;
    request->random = event->arrived.seed;
    request->arrived_at_ms = event->now_ms;
    request->state = ACOG_REQUEST_TRYING;
    acog_plan_start(step);
}

static void on_policy_answered(struct acog_step *step, const struct acog_answer *answer)
{
    struct acog_request *request = step->request;
    if (request->state != ACOG_REQUEST_ASKING) {
        return; /* the client left meanwhile */
    }
    request->answered = request->asked;
    if (request->asked == ACOG_SLOT_USABLE) {
        acog_attempt_usable_answered(step, answer);
    } else if (request->kept_attempt != 0) {
        acog_refusal_answered(step, answer);
    } else {
        acog_plan_answered(step, answer);
    }
}

/* Of an attempt: those of an ended one come too late and mean nothing. */
static void on_attempt_event(struct acog_step *step, const struct acog_event *event)
{
    if (event->attempt == 0 || event->attempt != step->request->current) {
        return;
    }
    struct acog_attempt_row *attempt = acog_step_attempt(step, event->attempt);
    switch (event->type) {
    case ACOG_EVENT_CONNECTED:
        if (attempt->connected_at_ms < 0) {
            attempt->connected_at_ms = step->request->now_ms;
        }
        return;
    case ACOG_EVENT_HEADERS:
        on_headers(step, attempt, event->headers.status);
        return;
    case ACOG_EVENT_FIRST_EVENT:
        on_first_event(step, attempt);
        return;
    case ACOG_EVENT_OUTPUT:
        on_output(step, attempt, event->outputs);
        return;
    case ACOG_EVENT_ACTIVITY:
        attempt->active_at_ms = step->request->now_ms;
        return;
    case ACOG_EVENT_HELD_FULL:
        on_held_full(step, attempt);
        return;
    case ACOG_EVENT_FAILED:
        on_failed(step, attempt, event->failure, false);
        return;
    case ACOG_EVENT_DONE:
        on_done(step, attempt);
        return;
    case ACOG_EVENT_ARRIVED:
    case ACOG_EVENT_POLICY_ANSWERED:
    case ACOG_EVENT_CLIENT_GONE:
    case ACOG_EVENT_TICK:
        break;
    }
    ACOG_UNREACHABLE("not of an attempt");
}

static void take_event(struct acog_step *step, const struct acog_event *event)
{
    struct acog_request *request = step->request;
    step->actions->count = 0;
    if (request->state == ACOG_REQUEST_ENDED) {
        return;
    }
    if (event->now_ms > request->now_ms || request->state == ACOG_REQUEST_NEW) {
        request->now_ms = event->now_ms;
    }
    switch (event->type) {
    case ACOG_EVENT_ARRIVED:
        ACOG_ASSERT(request->plan != NULL);
        on_arrived(step, event);
        return;
    case ACOG_EVENT_POLICY_ANSWERED:
        on_policy_answered(step, &event->answer);
        return;
    case ACOG_EVENT_CONNECTED:
    case ACOG_EVENT_HEADERS:
    case ACOG_EVENT_FIRST_EVENT:
    case ACOG_EVENT_OUTPUT:
    case ACOG_EVENT_ACTIVITY:
    case ACOG_EVENT_HELD_FULL:
    case ACOG_EVENT_FAILED:
    case ACOG_EVENT_DONE:
        on_attempt_event(step, event);
        return;
    case ACOG_EVENT_CLIENT_GONE:
        on_client_gone(step);
        return;
    case ACOG_EVENT_TICK:
        on_tick(step);
        return;
    }
    ACOG_UNREACHABLE("an event");
}

void acog_engine_step(const struct acog_snapshot *snapshot, struct acog_shared *shared,
                      struct acog_request *request, const struct acog_event *event,
                      struct acog_actions *actions)
{
    struct acog_step step = {.snapshot = snapshot,
                             .policy = &snapshot->policy,
                             .shared = shared,
                             .request = request,
                             .actions = actions};
    take_event(&step, event);
}

void acog_engine_plan_only(const struct acog_snapshot *snapshot, struct acog_shared *shared,
                           struct acog_request *request, const struct acog_event *event,
                           struct acog_actions *actions)
{
    ACOG_ASSERT(event->type == ACOG_EVENT_ARRIVED || event->type == ACOG_EVENT_POLICY_ANSWERED);
    struct acog_step step = {.snapshot = snapshot,
                             .policy = &snapshot->policy,
                             .shared = shared,
                             .request = request,
                             .actions = actions,
                             .plan_only = true};
    take_event(&step, event);
}
