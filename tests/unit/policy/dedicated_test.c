/* dedicated_test.c - what is said of bad endpoints, and what good ones become (S0.16-S0.18, S0.70). */
#include "tests/support/policy_loaded.h"

#include <stdio.h>

#define TEXT_MAX 2048

/* A gateway of one connection with `fields` under RouterPlus with `changes`; `finding` NULL: it is good. */
static struct acog_snapshot *load(const char *fields, const char *changes, const char *finding)
{
    char text[TEXT_MAX];
    (void)snprintf(text, sizeof(text),
                   "local acog = require \"acog\"\nlocal base = require \"policies.routerplus\"\n"
                   "return acog.gateway { connections = { acog.connection \"a\" { models = { \"m\" "
                   "}, %s } }, policy = base:with { %s } }",
                   fields, changes);
    struct acog_policy_options options = {
        .path = "gateway.lua", .text = acog_view_of(text), .offline = true};
    return policy_loaded(&options, finding);
}

static void an_endpoint_becomes_a_row(void **state) /* S0.16, S0.18, S0.70 */
{
    (void)state;
    struct acog_snapshot *snapshot = load(
        "reserved_for = \"acme/fast\"",
        "endpoints = { [\"acme/fast\"] = { model = \"m\", closed = true, channels = \"direct\", "
        "regions = { \"eu\" }, pace = { per_minute = 120, wait = 1.5 } }, [\"b/c\"] = false }",
        NULL);
    const struct acog_policy *policy = &snapshot->policy;
    assert_int_equal(policy->dedicated_count, 1);
    const struct acog_dedicated *row = acog_policy_dedicated(policy, ACOG_VIEW("acme/fast"));
    assert_non_null(row);
    assert_null(acog_policy_dedicated(policy, ACOG_VIEW("b/c")));
    assert_true(row->closed);
    assert_false(row->own_only);
    assert_int_equal(row->channels, ACOG_BIT(ACOG_CHANNEL_DIRECT));
    assert_int_equal(row->region_count, 1);
    assert_int_equal(row->pace_ms, 500);
    assert_int_equal(row->wait_ms_max, 1500);
    assert_int_not_equal(row->pace_cell, ACOG_NO_CELL);
    acog_snapshot_unref(&snapshot);
}

static void bad_endpoints_are_refused(void **state)
{
    (void)state;

    static const struct {
        const char *fields;
        const char *changes;
        const char *finding;
    } cases[] = {
        {"", "endpoints = { fast = { model = \"m\" } }", "owner/name"},
        {"", "endpoints = { [\"a/b\"] = {} }", "needs model"},
        {"", "endpoints = { [\"a/b\"] = { model = \"m\", pace = {} } }", "needs per_minute"},
        {"", "endpoints = { [\"a/b\"] = { model = \"m\", pace = { per_minute = 0 } } }",
         "per_minute"},
        {"", "endpoints = { [\"a/b\"] = { model = \"m\", chanels = \"direct\" } }", "channels"},
        {"", "endpoints = { [\"a/b\"] = { model = \"m\" } }, aliases = { [\"a/b\"] = \"m\" }",
         "is an alias as well"},
        {"",
         "endpoints = { [\"a/b\"] = { model = \"m\" } }, filters = base.filters:without"
         "(\"reserved\")",
         "need the filter"},
        {"reserved_for = \"a/c\"", "endpoints = { [\"a/b\"] = { model = \"m\" } }",
         "has no endpoint \"a/c\""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_null(load(cases[i].fields, cases[i].changes, cases[i].finding));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_endpoint_becomes_a_row),
        cmocka_unit_test(bad_endpoints_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
