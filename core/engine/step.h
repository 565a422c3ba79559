/* step.h - one step of the engine: its context, and the calls between the engine's files.
 *
 *   engine.c   the events             plan.c     filters          order.c    order keys, spread, floor
 *   attempt.c  choosing, sending,     refusal.c  fallback model   answer.c   error answers
 *              failing                clock.c    limits           health.c   circuits and pools of a candidate
 *   classify.c classes, kept failure  dedicated.c  endpoints of their own  dlp.c  data rules
 *   access.c  who may use which models
 *
 * Beside it: circuit.c and shared.c, the cells that all workers share; transcript.c, a step as text for records,
 * explanations and tests.
 */
#ifndef ACOG_ENGINE_STEP_H
#define ACOG_ENGINE_STEP_H

#include "acog/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct acog_step {
    const struct acog_snapshot *snapshot;
    const struct acog_policy *policy;
    struct acog_shared *shared;
    struct acog_request *request;
    struct acog_actions *actions;
    bool plan_only;
};

/* -- engine.c -------------------------------------------------------------------------------------- */

struct acog_action *acog_step_emit(struct acog_step *step, enum acog_action_type type,
                                   uint32_t attempt);
/* FINISH: nothing may be emitted after it. */
void acog_step_finish(struct acog_step *step, enum acog_outcome outcome);
void acog_step_ask(struct acog_step *step, enum acog_slot_kind kind, uint16_t slot,
                   struct acog_view model);
/* The answer starts: at the commit level of the policy, or when the hold buffer is full. */
void acog_step_commit(struct acog_step *step, struct acog_attempt_row *attempt);
/* The attempt's answer is complete: commits it if need be. */
void acog_step_complete(struct acog_step *step, struct acog_attempt_row *attempt);

static inline const struct acog_candidate *acog_step_candidate(const struct acog_step *step,
                                                               uint16_t candidate)
{
    return &step->snapshot->candidates[candidate];
}

static inline const struct acog_connection *acog_step_connection(const struct acog_step *step,
                                                                 uint16_t candidate)
{
    return &step->snapshot->connections[acog_step_candidate(step, candidate)->connection];
}

static inline struct acog_attempt_row *acog_step_attempt(const struct acog_step *step,
                                                         uint32_t number)
{
    return &step->request->attempts[number - 1];
}

/* -- plan.c ---------------------------------------------------------------------------------------- */

void acog_plan_start(struct acog_step *step);
/* MATCH for the client's model, FILTER, ORDER. */
void acog_plan_answered(struct acog_step *step, const struct acog_answer *answer);
/* The candidates that declare `model` exactly, into asked_candidates: what a policy without a `match` means. */
void acog_plan_match_exactly(struct acog_step *step, struct acog_view model);
/* True when the answer to MATCH is one: known candidates, each once, no more than a plan takes. */
bool acog_plan_match_is_sane(const struct acog_step *step, const struct acog_answer *answer);
/* What a candidate is spoken to in; ACOG_DIALECT_COUNT: it does not speak the surface of the request. */
enum acog_dialect acog_plan_dialect_for(const struct acog_step *step, uint16_t candidate);
/* The index of the policy's first filter of that kind; filter_count when it has none. */
uint8_t acog_plan_filter_index(const struct acog_step *step, enum acog_filter_kind kind);

/* -- dedicated.c ----------------------------------------------------------------------------------- */

/* The candidate is capacity that is reserved for the request's endpoint. */
bool acog_dedicated_owns(const struct acog_step *step, uint16_t candidate);
/* Why this request may not use the candidate; empty: it may. */
struct acog_view acog_dedicated_objection(const struct acog_step *step, uint16_t candidate);
/* Takes the request's turn; *wait_ms tells how long until it comes. False: longer than the endpoint allows. */
bool acog_dedicated_take_turn(struct acog_step *step, int64_t *wait_ms);

/* -- access.c -------------------------------------------------------------------------------------- */

/* Why the request may not use a candidate's model; empty: it may. */
struct acog_view acog_access_objection(const struct acog_step *step, uint16_t candidate);

/* -- dlp.c ----------------------------------------------------------------------------------------- */

/* Why the data rules that the request touches keep it away from the candidate; empty: they do not. */
struct acog_view acog_dlp_objection(const struct acog_step *step, uint16_t candidate);

/* -- order.c --------------------------------------------------------------------------------------- */

/* What one price is compared by: input and output together, USD a million tokens. DBL_MAX: no price. */
double acog_order_price(const struct acog_candidate *candidate);
void acog_order_start(struct acog_step *step);
/* Goes on with the next order key. True when the order stands, false while a function is asked. */
bool acog_order_run(struct acog_step *step);
/* False when the answer is none. */
bool acog_order_answered(struct acog_step *step, const struct acog_answer *answer);
/* Gives the last-route floor to the row that it belongs to now. */
void acog_order_place_floor(struct acog_step *step);

/* -- health.c -------------------------------------------------------------------------------------- */

struct acog_health_look {
    bool admits;
    bool would_probe;
    bool cooling; /* its pool, after a Retry-After (S0.54) */
    uint32_t failures;
    int64_t opened_at_ms;
};

struct acog_health_look acog_health_look(const struct acog_step *step, uint16_t candidate);
/* Takes the ticket and the in-flight count for `attempt`. False: its circuit is open, or its probe is out. */
bool acog_health_take(struct acog_step *step, struct acog_attempt_row *attempt, bool forced);
void acog_health_give_back(struct acog_step *step, struct acog_attempt_row *attempt,
                           enum acog_circuit_result result);
/* `to` goes on with what `from` took. */
void acog_health_hand_over(struct acog_attempt_row *from, struct acog_attempt_row *to);
enum acog_circuit_result acog_health_result(enum acog_charge charge);
void acog_health_cool(struct acog_step *step, uint16_t candidate, const struct acog_class_row *row,
                      int64_t retry_after_ms);
void acog_health_first_output(struct acog_step *step, uint16_t candidate, int64_t after_ms);
uint32_t acog_health_in_flight(const struct acog_step *step, uint16_t candidate);
/* The moving mean; 0: unknown. */
uint32_t acog_health_first_output_ms(const struct acog_step *step, uint16_t candidate);

/* -- clock.c --------------------------------------------------------------------------------------- */

void acog_clock_set_limits(const struct acog_step *step, struct acog_attempt_row *attempt,
                           bool floor);
/* The next of the attempt's clocks to run out and when; INT64_MAX: none runs. */
int64_t acog_clock_next(const struct acog_attempt_row *attempt, bool committed,
                        enum acog_clock *clock);

/* -- classify.c ------------------------------------------------------------------------------------ */

/* The row of a class; one that moves nothing and charges nothing when the policy does not declare it. */
const struct acog_class_row *acog_class_row_of(const struct acog_policy *policy,
                                               enum acog_failure_class class);
/* Copies the failure into the request: its views are only lent. */
void acog_failure_keep(struct acog_request *request, const struct acog_failure *failure);
/* True when a target that takes over `row`'s failures covers this one (S1.5, S1.16). */
bool acog_failure_covered(const struct acog_connection *target, const struct acog_class_row *row,
                          const struct acog_failure *failure);
/* Why the request moves on, in words of the policy (S1.22): into the request. */
void acog_failure_name_reason(struct acog_step *step);

/* -- attempt.c ------------------------------------------------------------------------------------- */

/* Goes to the next candidate, or answers when none is left. `waited`: no backoff any more. */
void acog_attempt_next(struct acog_step *step, bool waited);
/* Sends, or asks first whether it may. False: the circuit lets nothing through now. */
bool acog_attempt_send(struct acog_step *step, struct acog_next_attempt next);
void acog_attempt_backoff_over(struct acog_step *step);
void acog_attempt_usable_answered(struct acog_step *step, const struct acog_answer *answer);
/* The live attempt failed before commit. `stop`: it runs on and must be stopped. */
void acog_attempt_failed(struct acog_step *step, const struct acog_failure *failure, bool stop);
/* The live attempt failed after commit. */
void acog_attempt_died(struct acog_step *step, const struct acog_failure *failure, bool stop);
/* Books the end of the live attempt: every exit comes through here. */
void acog_attempt_end(struct acog_step *step, struct acog_attempt_row *attempt,
                      enum acog_outcome outcome, enum acog_circuit_result result);
void acog_attempt_cancel(struct acog_step *step, struct acog_attempt_row *attempt);

/* -- refusal.c ------------------------------------------------------------------------------------- */

/* `attempt` answered with a refusal and has ended: keeps it and tries the fallback model (S4.24-S4.31). */
void acog_refusal_seen(struct acog_step *step, const struct acog_attempt_row *attempt);
/* MATCH for the fallback model, TRANSLATION. */
void acog_refusal_answered(struct acog_step *step, const struct acog_answer *answer);
/* No fallback answer: the client gets the original refusal. */
void acog_refusal_replay(struct acog_step *step, enum acog_fallback fallback);

/* -- answer.c -------------------------------------------------------------------------------------- */

void acog_answer_condition(struct acog_step *step, enum acog_condition condition,
                           struct acog_view detail);
/* The class of the last failure answers. */
void acog_answer_class(struct acog_step *step);
/* No candidate is left. */
void acog_answer_exhausted(struct acog_step *step);

#endif
