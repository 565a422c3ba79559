/* bodies_test.c - error bodies and aliases of a policy: what they become, and what is said of bad ones. */
#include "tests/support/policy_loaded.h"

#include <stdio.h>

#define TEXT_MAX 1024

/* Loads the default policy with `changes`; a finding that is expected, or NULL for none. */
static struct acog_snapshot *load(const char *changes, const char *finding)
{
    char text[TEXT_MAX];
    (void)snprintf(
        text, sizeof(text),
        "local acog = require \"acog\"\nreturn acog.gateway { connections = { acog.connection "
        "\"a\" { simulate = true, models = { \"m\" } } }, policy = require \"policies.acog\":with "
        "{ %s } }",
        changes);
    struct acog_policy_options options = {
        .path = "gateway.lua", .text = acog_view_of(text), .offline = true};
    return policy_loaded(&options, finding);
}

static void a_body_is_kept_for_its_dialect_alone(void **state) /* S0.76 */
{
    (void)state;
    const char *body = "{\"error\":{\"message\":\"%{message}\",\"x\":[\"%{code} of %{type}\"]}}";
    char changes[TEXT_MAX];
    (void)snprintf(changes, sizeof(changes), "error_body = { chat = '%s' }", body);
    struct acog_snapshot *snapshot = load(changes, NULL);
    assert_true(
        acog_view_equal(snapshot->policy.error_bodies[ACOG_DIALECT_CHAT], acog_view_of(body)));
    assert_int_equal(snapshot->policy.error_bodies[ACOG_DIALECT_MESSAGES].len, 0);
    acog_snapshot_unref(&snapshot);
}

static void a_body_that_could_be_no_json_is_refused(void **state)
{
    (void)state;

    static const struct {
        const char *changes;
        const char *finding;
    } cases[] = {
        {"error_body = { chat = 'no' }", "is no JSON"},
        {"error_body = { chat = '{\"a\":%{code}}' }", "is no JSON"},
        {"error_body = { chat = '{\"a\":\"%{cod}\"}' }", "did you mean \"code\"?"},
        {"error_body = { chat = '{\"a\":\"%{code\"' }", "is not a word of an error body"},
        {"error_body = { chat = '[\"%{code}\"]' }", "must be a JSON object"},
        {"error_body = { chat = ('x'):rep(2049) }", "more than 2048 bytes"},
        {"error_body = { chta = '{}' }", "did you mean \"chat\"?"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_null(load(cases[i].changes, cases[i].finding));
    }
}

static void an_alias_stands_for_a_model_and_nothing_else_does(void **state) /* S3.4 */
{
    (void)state;
    struct acog_snapshot *snapshot =
        load("aliases = { auto = \"m\", [\"x/fast\"] = \"n\", gone = false }", NULL);
    const struct acog_policy *policy = &snapshot->policy;
    assert_int_equal(policy->alias_count, 2);
    assert_true(acog_view_equal(acog_policy_resolve(policy, ACOG_VIEW("x/fast")), ACOG_VIEW("n")));
    assert_true(acog_view_equal(acog_policy_resolve(policy, ACOG_VIEW("auto")), ACOG_VIEW("m")));
    assert_true(acog_view_equal(acog_policy_resolve(policy, ACOG_VIEW("gone")), ACOG_VIEW("gone")));
    assert_true(acog_view_equal(acog_policy_resolve(policy, ACOG_VIEW("m")), ACOG_VIEW("m")));
    acog_snapshot_unref(&snapshot);
    assert_null(load("aliases = { auto = \"two words\" }", "no spaces"));
    assert_null(load("aliases = { auto = 1 }", "aliases[\"auto\"]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_is_kept_for_its_dialect_alone),
        cmocka_unit_test(a_body_that_could_be_no_json_is_refused),
        cmocka_unit_test(an_alias_stands_for_a_model_and_nothing_else_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
