/* access.c - which models a request may use (S4.29: the fallback model included). */
#include "step.h"

/* By the id that a connection declared, or by the model in any spelling. */
static bool lists(const struct acog_access_rule *rule, const struct acog_candidate *candidate)
{
    for (size_t i = 0; i < rule->model_count; i++) {
        if (acog_view_equal(rule->models[i], candidate->declared) ||
            acog_view_equal(rule->models[i], candidate->family)) {
            return true;
        }
    }
    return false;
}

struct acog_view acog_access_objection(const struct acog_step *step, uint16_t candidate)
{
    const struct acog_candidate *it = acog_step_candidate(step, candidate);
    struct acog_view reason = {0};
    for (size_t i = 0; i < step->policy->access_rule_count; i++) {
        const struct acog_access_rule *rule = &step->policy->access_rules[i];
        if ((step->request->facts->access_rules >> i & 1U) == 0) {
            continue; /* it is about somebody else */
        }
        if (lists(rule, it)) {
            return (struct acog_view){0};
        }
        reason = reason.len > 0 ? reason : rule->reason;
    }
    return reason;
}
