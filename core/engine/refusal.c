/* refusal.c - the policy-block fallback: the provider refused with an empty answer, another model is asked once
 * (S4.24-S4.31, D11).
 *
 * The refusal is kept whole. Every way that does not end in an answer of the fallback model gives it to the client.
 * Its order of questions: already the fallback model (skipped), opted out, none to send to (decision 9).
 */
#include "acog/contract.h"
#include "step.h"

#include <string.h>

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

/* Who may answer instead, the best first, into asked_candidates: the connection that refused if it declares the model;
 * others only where the policy allows. The filters that they passed go for this model too, for those judge connections;
 * access judges models (S4.29). `candidates` may be asked_candidates. */
static void choose(const struct acog_step *step, const uint16_t *candidates, size_t count)
{
    struct acog_request *request = step->request;
    const struct acog_attempt_row *refused = acog_step_attempt(step, request->kept_attempt);
    uint16_t home = acog_step_candidate(step, refused->candidate)->connection;
    uint16_t chosen[ACOG_PLAN_MAX];
    size_t chosen_count = 0;
    for (int elsewhere = 0; elsewhere <= (step->policy->refusal.same_connection ? 0 : 1);
         elsewhere++) {
        for (size_t i = 0; i < count; i++) {
            uint16_t connection = acog_step_candidate(step, candidates[i])->connection;
            if ((connection != home) == (elsewhere == 1) &&
                (connection == home || passed_filters(step, connection)) &&
                acog_plan_dialect_for(step, candidates[i]) != ACOG_DIALECT_COUNT &&
                acog_access_objection(step, candidates[i]).len == 0) {
                chosen[chosen_count++] = candidates[i];
            }
        }
    }
    memcpy(request->asked_candidates, chosen, chosen_count * sizeof chosen[0]);
    request->asked_count = chosen_count;
}

static void send(struct acog_step *step, uint16_t candidate)
{
    struct acog_next_attempt next = {
        .candidate = candidate, .plan_row = ACOG_NO_PLAN_ROW, .fallback = true};
    if (!acog_attempt_send(step, next)) {
        acog_refusal_replay(step, ACOG_FALLBACK_UNAVAILABLE);
    }
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
    struct acog_request *request = step->request;
    const struct acog_attempt_row *refused = acog_step_attempt(step, request->kept_attempt);
    for (size_t i = 0; i < count; i++) {
        if (candidates[i] == refused->candidate) {
            acog_refusal_replay(step, ACOG_FALLBACK_SKIPPED);
            return;
        }
    }
    choose(step, candidates, count);
    if (request->facts->fallback_opt_out || !budget_left(step) || request->asked_count == 0) {
        acog_refusal_replay(step, ACOG_FALLBACK_UNAVAILABLE);
    } else if (acog_plan_dialect_for(step, request->asked_candidates[0]) ==
               acog_surface_dialect(request->facts->surface)) {
        send(step, request->asked_candidates[0]);
    } else {
        acog_step_ask(step, ACOG_SLOT_TRANSLATION, ACOG_NO_SLOT,
                      step->policy->refusal.fallback_model);
    }
}

/* The best of those who can be told the request. */
static void translation_answered(struct acog_step *step, const struct acog_answer *answer)
{
    const struct acog_request *request = step->request;
    size_t count = answer->failed || answer->count != request->asked_count ? 0 : answer->count;
    for (size_t i = 0; i < count; i++) {
        if (answer->verdicts[i].keep) {
            send(step, request->asked_candidates[i]);
            return;
        }
    }
    acog_refusal_replay(step, ACOG_FALLBACK_UNAVAILABLE);
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

void acog_refusal_answered(struct acog_step *step, const struct acog_answer *answer)
{
    step->request->state = ACOG_REQUEST_TRYING;
    if (step->request->asked == ACOG_SLOT_TRANSLATION) {
        translation_answered(step, answer);
        return;
    }
    bool sane = acog_plan_match_is_sane(step, answer);
    matched(step, sane ? answer->candidates : NULL, sane ? answer->count : 0);
}
