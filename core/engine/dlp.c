/* dlp.c - where the data protection rules that a request touches let it go (S4.18c). */
#include "step.h"

static bool allows(const struct acog_dlp_rule *rule, const struct acog_connection *connection)
{
    bool region = rule->region_count == 0;
    for (size_t i = 0; i < rule->region_count && !region; i++) {
        region = acog_view_equal(rule->regions[i], connection->region);
    }
    return region && (rule->channels == 0 || (rule->channels & ACOG_BIT(connection->channel)) != 0);
}

struct acog_view acog_dlp_objection(const struct acog_step *step, uint16_t candidate)
{
    const struct acog_request_facts *facts = step->request->facts;
    const struct acog_connection *connection = acog_step_connection(step, candidate);
    if (step->policy->pin.overrides_dlp && facts->pin_count > 0) {
        return (struct acog_view){0}; /* (decision 1, the other reading) */
    }
    for (size_t i = 0; i < step->policy->dlp_rule_count; i++) {
        const struct acog_dlp_rule *rule = &step->policy->dlp_rules[i];
        bool touched = (facts->dlp_rules >> i & 1U) != 0;
        if (touched && !allows(rule, connection)) {
            return rule->reason;
        }
    }
    return (struct acog_view){0};
}
