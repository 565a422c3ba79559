/* refusal.c - the policy-block fallback: the provider refused with an empty answer, another model is asked once
 * (S4.24-S4.31, D11).
 *
 * The refusal is kept whole. Every way that does not end in an answer of the fallback model gives it to the client.
 * Its order of questions: already the fallback model (skipped), opted out, none to send to (decision 9).
 */
#include "acog/contract.h"
#include "step.h"

void acog_refusal_replay(struct acog_step *step, enum acog_fallback fallback)
{
    step->request->fallback = fallback;
    acog_step_emit(step, ACOG_ACTION_REPLAY_KEPT, step->request->kept_attempt);
    acog_step_finish(step, ACOG_OUTCOME_COMPLETED);
}

/* A connection that this request may use: kept by the filters, or kept away only by the default connection, which
 * this fallback moves a request off (S4.18d). One that no filter has seen is none. */
static bool passed_filters(const struct acog_step *step, uint16_t connection)
{
    const struct acog_request *request = step->request;
    uint8_t exclusive = acog_plan_filter_index(step, ACOG_FILTER_DEFAULT_EXCLUSIVE);
    for (size_t i = 0; i < request->plan_count; i++) {
        const struct acog_plan_row *row = &request->plan[i];
        if (acog_step_candidate(step, row->candidate)->connection == connection) {
            return row->verdict != ACOG_PLAN_DROPPED || row->filter == exclusive;
        }
    }
    return false;
}

/* The same connection if it declares the fallback model; another one only where the policy allows. The filters that
 * it passed go for this model too, for they judge connections; access judges models (S4.29). */
static bool choose(const struct acog_step *step, const uint16_t *candidates, size_t count,
                   struct acog_next_attempt *next)
{
    const struct acog_attempt_row *refused = acog_step_attempt(step, step->request->kept_attempt);
    uint16_t home = acog_step_candidate(step, refused->candidate)->connection;
    size_t chosen = count;
    for (size_t i = 0; i < count; i++) {
        uint16_t connection = acog_step_candidate(step, candidates[i])->connection;
        if (acog_access_objection(step, candidates[i]).len > 0) {
            continue;
        }
        if (connection == home) {
            chosen = i;
            break;
        }
        if (chosen == count && !step->policy->refusal.same_connection &&
            passed_filters(step, connection)) {
            chosen = i;
        }
    }
    if (chosen == count) {
        return false;
    }
    *next = (struct acog_next_attempt){
        .candidate = candidates[chosen], .plan_row = ACOG_NO_PLAN_ROW, .fallback = true};
    return true;
}

static bool budget_left(const struct acog_step *step)
{
    const struct acog_request *request = step->request;
    uint32_t max = step->policy->attempts.max;
    bool counts = step->policy->refusal.counts_as_attempt && max != 0;
    return request->attempt_count < ACOG_ATTEMPTS_MAX &&
           !(counts && request->counted_attempts >= max);
}

static void matched(struct acog_step *step, const uint16_t *candidates, size_t count)
{
    const struct acog_attempt_row *refused = acog_step_attempt(step, step->request->kept_attempt);
    struct acog_next_attempt next;
    for (size_t i = 0; i < count; i++) {
        if (candidates[i] == refused->candidate) {
            acog_refusal_replay(step, ACOG_FALLBACK_SKIPPED);
            return;
        }
    }
    if (step->request->facts->fallback_opt_out || !budget_left(step) ||
        !choose(step, candidates, count, &next) || !acog_attempt_send(step, next)) {
        acog_refusal_replay(step, ACOG_FALLBACK_UNAVAILABLE);
    }
}

void acog_refusal_seen(struct acog_step *step, const struct acog_attempt_row *attempt)
{
    struct acog_request *request = step->request;
    struct acog_view model = step->policy->refusal.fallback_model;
    request->kept_attempt = (uint32_t)(attempt - request->attempts) + 1;
    acog_step_emit(step, ACOG_ACTION_KEEP_REPLY, request->kept_attempt);
    if (model.len == 0) {
        acog_refusal_replay(step, ACOG_FALLBACK_UNAVAILABLE);
    } else if (step->policy->match_slot != ACOG_NO_SLOT) {
        acog_step_ask(step, ACOG_SLOT_MATCH, step->policy->match_slot, model);
    } else {
        acog_plan_match_exactly(step, model);
        matched(step, request->asked_candidates, request->asked_count);
    }
}

void acog_refusal_matched(struct acog_step *step, const struct acog_answer *answer)
{
    step->request->state = ACOG_REQUEST_TRYING;
    bool sane = acog_plan_match_is_sane(step, answer);
    matched(step, sane ? answer->candidates : NULL, sane ? answer->count : 0);
}
