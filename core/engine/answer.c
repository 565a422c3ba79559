/* answer.c - which error the client gets: a condition of the gateway's own, or the class of the last failure (D14). */
#include "acog/contract.h"
#include "step.h"

static struct acog_error_answer *emit_error(struct acog_step *step)
{
    struct acog_request *request = step->request;
    struct acog_action *action = acog_step_emit(step, ACOG_ACTION_ANSWER_ERROR, 0);
    action->error = (struct acog_error_answer){.retry_after_ms = -1};
    if (request->has_failure) {
        action->error.class = request->last_class;
        action->error.upstream_status = request->last_failure.status;
    }
    return &action->error;
}

void acog_answer_condition(struct acog_step *step, enum acog_condition condition,
                           struct acog_view detail)
{
    struct acog_error_answer *error = emit_error(step);
    error->condition = condition;
    error->retry_after_ms = step->policy->errors[condition].retry_after_ms;
    error->detail = detail;
    acog_step_finish(step, ACOG_OUTCOME_FAILED);
}

static int64_t retry_after_ms(const struct acog_class_row *row, const struct acog_failure *failure)
{
    if (row->retry_after_ms != -2) {
        return row->retry_after_ms;
    }
    bool cut = row->retry_after_ms_max > 0 && failure->retry_after_ms > row->retry_after_ms_max;
    return cut ? row->retry_after_ms_max : failure->retry_after_ms;
}

/* What there is of a body to relay: an error status has one; an error in a 200 has a message, but its head is no
 * error's and must not be told as it came. */
static enum acog_relay relay_of(const struct acog_class_row *row,
                                const struct acog_failure *failure)
{
    if (failure->cause == ACOG_CAUSE_STATUS) {
        return row->relay;
    }
    bool says_why = failure->cause == ACOG_CAUSE_STREAM_ERROR && row->relay != ACOG_RELAY_OWN;
    return says_why ? ACOG_RELAY_MESSAGE : ACOG_RELAY_OWN;
}

void acog_answer_class(struct acog_step *step)
{
    struct acog_request *request = step->request;
    ACOG_ASSERT(request->has_failure);
    const struct acog_class_row *row = acog_class_row_of(step->policy, request->last_class);
    struct acog_error_answer *error = emit_error(step);
    error->by_class = true;
    error->relay = relay_of(row, &request->last_failure);
    error->attempt = error->relay == ACOG_RELAY_OWN ? 0 : (uint32_t)request->attempt_count;
    error->retry_after_ms = retry_after_ms(row, &request->last_failure);
    acog_step_finish(step, ACOG_OUTCOME_FAILED);
}

static bool all_failed_by_time(const struct acog_step *step)
{
    const struct acog_request *request = step->request;
    for (size_t i = 0; i < request->attempt_count; i++) {
        const struct acog_attempt_row *attempt = &request->attempts[i];
        /* A dead connection that was sent to again is no failure of the candidate. */
        bool resent = i + 1 < request->attempt_count && request->attempts[i + 1].resend;
        if (!resent && !acog_class_row_of(step->policy, attempt->class)->by_time) {
            return false;
        }
    }
    return true;
}

void acog_answer_exhausted(struct acog_step *step)
{
    const struct acog_request *request = step->request;
    struct acog_view none = {0};
    if (!request->has_failure) {
        acog_answer_condition(step,
                              request->refused_before_send > 0 ? ACOG_CONDITION_NOT_USABLE
                                                               : ACOG_CONDITION_ALL_OPEN,
                              none);
    } else if (request->pinned &&
               (!step->policy->pin.failover_inside || step->policy->pin.unmet_when_failed)) {
        acog_answer_condition(step, ACOG_CONDITION_PIN_UNMET, request->facts->pins[0]);
    } else if (step->policy->errors[ACOG_CONDITION_EXHAUSTED].use_last) {
        acog_answer_class(step);
    } else {
        acog_answer_condition(step,
                              all_failed_by_time(step) ? ACOG_CONDITION_EXHAUSTED_BY_TIME
                                                       : ACOG_CONDITION_EXHAUSTED,
                              none);
    }
}
