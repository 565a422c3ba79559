/* access_test.c - what is said of bad access rules, and what good ones become (S4.29). */
#include "tests/support/policy_loaded.h"

#include <stdio.h>

#define TEXT_MAX 2048

/* A gateway of one connection whose policy has these rules; `finding` NULL: they are good. */
static struct acog_snapshot *load(const char *rules, const char *more, const char *finding)
{
    char text[TEXT_MAX];
    (void)snprintf(text, sizeof(text),
                   "local acog = require \"acog\"\nlocal base = require \"policies.acog\"\n"
                   "return acog.gateway { connections = { acog.connection \"a\" { simulate = true, "
                   "models = { \"m\" } } }, policy = base:with { access = %s, %s } }",
                   rules, more);
    struct acog_policy_options options = {.path = "gateway.lua", .text = acog_view_of(text)};
    return policy_loaded(&options, finding);
}

static void a_rule_becomes_a_row(void **state)
{
    (void)state;
    struct acog_snapshot *snapshot = load(
        "{ { header = \"X-Team\", value = \"interns\", models = { \"m\", \"n\" } }, { models = "
        "\"m\" } }",
        "", NULL);
    const struct acog_policy *policy = &snapshot->policy;
    assert_int_equal(policy->access_rule_count, 2);
    const struct acog_access_rule *rule = &policy->access_rules[0];
    assert_true(acog_view_equal(rule->header, ACOG_VIEW("x-team")));
    assert_true(acog_view_equal(rule->value, ACOG_VIEW("interns")));
    assert_int_equal(rule->model_count, 2);
    assert_int_equal(policy->access_rules[1].header.len, 0);
    acog_snapshot_unref(&snapshot);
}

static void a_rule_that_says_nothing_is_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"{ { header = \"x-team\" } }", "access[1]: needs models"},
        {"{ { value = \"interns\", models = \"m\" } }", "access[1]: needs header"},
        {"{ { headers = \"x-team\", models = \"m\" } }", "header"},
        {"{ { header = \"x team\", models = \"m\" } }", "access[1].header"},
        {"{ { header = \"x-team\", models = { \"\" } } }", "access[1].models"},
        {"{ { header = \"Authorization\", value = \"x\", models = \"m\" } }", "may hold a secret"},
        {"{ 7 }", "access[1]"},
        {"{ models = \"m\" }", "access"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_null(load(rows[i][0], "", rows[i][1]));
    }
}

static void rules_want_the_filter(void **state)
{
    (void)state;
    assert_null(load("{ { models = \"m\" } }", "filters = base.filters:without(\"access\")",
                     "access: has rules, and filters lack \"access\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_becomes_a_row),
        cmocka_unit_test(a_rule_that_says_nothing_is_refused),
        cmocka_unit_test(rules_want_the_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
