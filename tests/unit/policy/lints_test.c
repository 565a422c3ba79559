/* lints_test.c - what can never happen or never work is a warning that names the place; what can, is none. */
#include "acog/policy.h"
#include "acog/shared.h"
#include "tests/support/check.h"

#include <stdbool.h>
#include <string.h>

#define OPUS           "\"claude-opus-4-8\""
#define ON(id, fields) "acog.connection \"" id "\" { simulate = true, " fields " },\n"
#define GATEWAY(policy, connections)                                          \
    "local acog = require \"acog\"\nlocal base = require \"policies.acog\"\n" \
    "return acog.gateway { policy = base" policy ", connections = {\n" connections "} }"
#define ALONE(fields) GATEWAY(":with { " fields " }", ON("a", "models = { \"m\" }"))

/* Whether a load of `text`, which must succeed, warns of `finding`. NULL: of anything. */
static bool warns(const char *text, const char *finding)
{
    struct acog_policy_options options = {.path = "gateway.lua", .text = acog_view_of(text)};
    struct acog_snapshot *snapshot = NULL;
    struct acog_report report;
    struct acog_shared *shared = acog_shared_new();
    assert_non_null(shared);
    acog_report_init(&report);
    enum acog_code code = acog_policy_load(&options, shared, &snapshot, &report);
    bool found = false;
    for (size_t i = 0; i < report.count; i++) {
        const char *said = report.findings[i].text.ptr;
        print_message("finding: %s\n", said);
        found = found || finding == NULL || strstr(said, finding) != NULL;
    }
    assert_int_equal(code, ACOG_OK);
    acog_snapshot_unref(&snapshot);
    acog_report_fini(&report);
    acog_shared_free(&shared);
    return found;
}

#define FALLBACK    "refusal = { fallback_model = " OPUS " }"
#define NO_FALLBACK "refusal = { fallback_model = false }"

/* Lists: named fields would be merged with those of the base policy. */
#define CLOCKS(fields) ALONE("clocks = { first_output = false, " fields " }")

static void a_clock_longer_than_the_total_never_runs_out(void **state)
{
    (void)state;
    const char *headers = "clocks.headers: 61000 ms never run out";
    assert_true(warns(CLOCKS("headers = 61, total = 60"), headers));
    assert_true(warns(CLOCKS("idle = { { base = 5 }, { stream = false, base = 70 } }, "
                             "total = { { base = 10, per = 1, add = 1, cap = 60 } }"),
                      "clocks.idle: 70000 ms never run out"));
    assert_true(
        warns(CLOCKS("headers = { { base = 61, extra_try = true } }, total = 60"), headers));
    assert_true(warns(CLOCKS("headers = 61, total = { { base = 60 }, "
                             "{ extra_try = true, base = 90 } }"),
                      headers)); /* that total is not of an ordinary attempt */
}

static void an_access_rule_for_a_model_that_nobody_declares_allows_nothing(void **state)
{
    (void)state;
    assert_true(warns(ALONE("access = { { models = { \"m\", \"M\" } } }"),
                      "access[1]: \"M\" allows nothing"));
    assert_false(warns(ALONE("access = { { models = \"m\" } }"), "allows nothing"));
}

static void a_clock_that_can_run_out_is_no_finding(void **state)
{
    (void)state;
    const char *never = "never run out";
    assert_false(warns(CLOCKS("headers = 60, idle = 60, total = 60"), never));
    assert_false(warns(CLOCKS("headers = 61, total = { { stream = true, base = 60 } }"),
                       never)); /* whole answers have no total */
    assert_false(warns(CLOCKS("headers = 61, total = { { slow = true, base = 60 } }"), never));
    assert_false(
        warns(CLOCKS("headers = 61, total = { { surfaces = \"chat\", base = 60 } }"), never));
    assert_false(warns(CLOCKS("headers = 61, total = { { base = 60 }, "
                              "{ reasoning = true, base = 90 } }"),
                       never));
    assert_false(warns(CLOCKS("headers = { { base = 61, extra_try = true } }, "
                              "total = { { base = 60 }, { extra_try = true, base = 61 } }"),
                       never));
    assert_false(warns(CLOCKS("idle = 61, total = 60 }, last_floor = { to = \"last\", base = 61"),
                       never)); /* the last route has a minute and a second */
}

static void a_fallback_model_is_declared_where_it_is_asked(void **state)
{
    (void)state;
#define APART  ON("a", "models = { \"m\" }") ON("b", "models = { " OPUS " }")
#define BESIDE ON("a", "models = { \"m\", " OPUS " }")
    const char *undeclared = "no connection declares the fallback model \"claude-opus-4-8\"";
    const char *unreached = "the fallback model \"claude-opus-4-8\" is never reached";
    assert_true(warns(ALONE(FALLBACK), undeclared));
    assert_true(warns(GATEWAY(":with { " FALLBACK " }", APART), unreached));
    assert_false(warns(GATEWAY(":with { " FALLBACK " }", BESIDE), NULL));
    assert_false(
        warns(GATEWAY(":with { refusal = { fallback_model = " OPUS ", same_connection = false } }",
                      APART),
              NULL));
    assert_false(warns(GATEWAY("", APART), NULL)); /* the policy in the binary serves any models */
    assert_false(warns(ALONE(NO_FALLBACK), NULL));
    assert_true(warns(ALONE("classes = { refusal_200 = { move = \"no\" } }"),
                      "fallback_model has no effect"));
#undef APART
#undef BESIDE
}

#define RULE(fields) "dlp = { { name = \"x\", words = { \"secret\" }, " fields " } }"

static void a_data_rule_leaves_something(void **state)
{
    (void)state;
#define WITH(fields) GATEWAY(":with { " NO_FALLBACK ", " fields " }", PLACES)
#define PLACES                                     \
    ON("a", "models = { \"m\" }, region = \"eu\"") \
    ON("b", "models = { \"m\" }, channel = \"custom\"")
    const char *nothing = "dlp: \"x\" leaves nothing";
    const char *pinned = "dlp: \"x\" and pin leave nothing";
    assert_true(warns(WITH(RULE("channels = \"azure\"")), nothing));
    assert_true(warns(WITH(RULE("channels = \"custom\", regions = { \"eu\" }")), nothing));
    assert_false(warns(WITH(RULE("channels = \"custom\"")), NULL));
    assert_false(warns(WITH(RULE("regions = { \"eu\" }")), NULL));
    assert_true(
        warns(WITH(RULE("channels = \"custom\"") ", pin = { values = { \"direct\" } }"), pinned));
    assert_false(warns(
        WITH(RULE(
            "channels = \"custom\"") ", pin = { values = { \"direct\" }, overrides_dlp = true }"),
        NULL));
    assert_true(warns(WITH("pin = { values = { \"azure\" } }"), "pin: leaves nothing"));
    assert_false(warns(WITH("pin = { values = { \"azure\", \"direct\" } }"), NULL));
#undef WITH
#undef PLACES
}

static void arbitrage_needs_prices_where_channels_compete(void **state)
{
    (void)state;
#define WITH(models, other)                                                   \
    GATEWAY(":with { " NO_FALLBACK ", arbitrage = { enabled = true } }",      \
            ON("a", "models = { m = { input = 1, output = 1 }, alone = {} }") \
                ON("b", "models = { " models " }, channel = " other))
#define CUSTOM "\"custom\""
    assert_true(warns(WITH("m = {}", CUSTOM), "connection \"b\": models: \"m\" has no price"));
    assert_false(warns(WITH("m = { input = 2, output = 1 }", CUSTOM), NULL));
    assert_false(warns(WITH("m = {}", "\"direct\""), NULL)); /* one channel: nothing to compare */
#undef WITH
#undef CUSTOM
}

static void a_model_that_nothing_usable_declares_is_named_once(void **state)
{
    (void)state;
#define WITH(usable)                                                                   \
    GATEWAY(":with { " NO_FALLBACK " }", ON("a", "models = { \"m\" }, usable = false") \
                                             ON("b", "models = { \"m\" }, usable = " usable))
    assert_true(warns(WITH("false"), "connection \"a\": usable: nothing is left for \"m\""));
    assert_false(warns(WITH("false"), "connection \"b\": usable"));
    assert_false(warns(WITH("true"), NULL));
    assert_false(warns(WITH("function() return false end"), NULL));
#undef WITH
}

/* -- failures that no row classifies, and other things that never happen ------------------------------ */

#define ALL                                                                                             \
    "{ cause = { \"connect\", \"closed\", \"bad_answer\", \"stream_error\", \"cut\" }, class = "        \
    "\"network\" }, { clock = \"idle\", class = \"network\" }, { status = { \"3xx\", \"4xx\", \"5xx\" " \
    "}, class = \"network\" }"

#define IDLE    "clocks = { idle = 60 }"
#define REFUSAL ", { cause = \"refusal\", class = \"refusal\" }"

/* A policy from nothing. */
#define OWN(classify, classes, fields)                                                              \
    "local acog = require \"acog\"\nreturn acog.gateway { policy = acog.policy { name = \"own\",\n" \
    "classify = { " classify " }, classes = { network = { move = \"next\" }, " classes              \
    " },\n" fields " }, connections = {" ON("a", "models = { \"m\" }") "} }"

static void a_failure_that_no_row_takes_is_named(void **state)
{
    (void)state;
    assert_false(warns(OWN(ALL, "", IDLE), NULL));
    assert_true(warns(OWN("{ status = { 429, \"5xx\" }, class = \"network\" }", "", IDLE),
                      "classify: no row takes \"connect\", \"closed\", \"bad_answer\", "
                      "\"stream_error\", \"cut\", clock \"idle\", status \"3xx\", status 400 and "
                      "others: such a failure is of class \"gateway\""));
    assert_false(warns(OWN("{ class = \"network\" }", "", IDLE), NULL)); /* takes everything */
    assert_true(warns(OWN("{ shape = \"overload\", class = \"network\" }", "", IDLE),
                      "status \"5xx\"")); /* only some of them */
}

static void what_cannot_happen_needs_no_row(void **state)
{
    (void)state;
    assert_true(
        warns(OWN(ALL, "", IDLE ", refusal = { empty_200 = true }"), "no row takes \"refusal\":"));
    assert_true(
        warns(OWN(ALL, "", IDLE ", commit = { when_full = \"fail\" }"), "takes \"held_full\":"));
    assert_true(
        warns(OWN(ALL, "", "clocks = { idle = 6, total = 9 }"), "no row takes clock \"total\":"));
}

static void a_fallback_model_needs_an_answer_that_is_seen_to_refuse(void **state)
{
    (void)state;
#define REFUSES(refusal)                                              \
    OWN(ALL REFUSAL, "refusal = { move = \"fallback_model\" }",       \
        IDLE ", refusal = { fallback_model = \"m\", same_connection " \
             "= false, " refusal " }")
    const char *never = "refusal: fallback_model is never asked";
    assert_true(warns(REFUSES(""), never));
    assert_false(warns(REFUSES("empty_200 = true"), NULL));
#undef REFUSES
}

static void seconds_that_look_like_milliseconds_are_a_finding(void **state)
{
    (void)state;
    assert_true(warns(ALONE("clocks = { idle = 10000 }, " NO_FALLBACK),
                      "clocks.idle: 10000 seconds are 2.8 hours; clocks are in seconds"));
    assert_false(warns(ALONE("clocks = { idle = 3600 }, " NO_FALLBACK), NULL));
}

static void price_orders_for_arbitrage_only(void **state)
{
    (void)state;
    const char *finding = "order: \"price\" has no effect without arbitrage";
    assert_true(warns(OWN(ALL, "", IDLE ", order = { \"price\" }"), finding));
    assert_true(warns(ALONE(NO_FALLBACK ", order = { \"price\" }"), finding));
    assert_false(warns(ALONE(NO_FALLBACK), NULL)); /* policies.acog waits for it to be turned on */
}

static void what_a_connection_says_and_nobody_asks_is_a_finding(void **state)
{
    (void)state;
#define SAYS(policy, field) GATEWAY(policy, ON("a", "models = { \"m\" }, " field))
#define PLAIN               ":with { " NO_FALLBACK " }"
    const char *priority = "connection \"a\": priority has no effect";
    assert_true(warns(SAYS(PLAIN, "priority = 2"), priority));
    assert_false(
        warns(SAYS(":with { " NO_FALLBACK ", spread = \"none\", order = { \"priority\" } }",
                   "priority = 2"),
              NULL));
    assert_false(warns(SAYS(":with { " NO_FALLBACK ", spread = \"none\", order = { function(_, "
                            "candidate) return candidate.priority end } }",
                            "priority = 2"),
                       NULL)); /* a function may go by it */
    assert_false(warns(SAYS(PLAIN, "weight = 2, default = true"), NULL));
    assert_true(
        warns(SAYS(":with { " NO_FALLBACK ", order = {}, spread = \"none\" }", "weight = 2"),
              "connection \"a\": weight has no effect"));
    assert_true(warns(SAYS(":with { " NO_FALLBACK
                           ", filters = base.filters:without(\"default_exclusive\") }",
                           "default = true"),
                      "connection \"a\": default has no effect"));
#undef PLAIN
#undef SAYS
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_longer_than_the_total_never_runs_out),
        cmocka_unit_test(an_access_rule_for_a_model_that_nobody_declares_allows_nothing),
        cmocka_unit_test(a_clock_that_can_run_out_is_no_finding),
        cmocka_unit_test(a_fallback_model_is_declared_where_it_is_asked),
        cmocka_unit_test(a_data_rule_leaves_something),
        cmocka_unit_test(arbitrage_needs_prices_where_channels_compete),
        cmocka_unit_test(a_model_that_nothing_usable_declares_is_named_once),
        cmocka_unit_test(a_failure_that_no_row_takes_is_named),
        cmocka_unit_test(what_cannot_happen_needs_no_row),
        cmocka_unit_test(a_fallback_model_needs_an_answer_that_is_seen_to_refuse),
        cmocka_unit_test(seconds_that_look_like_milliseconds_are_a_finding),
        cmocka_unit_test(price_orders_for_arbitrage_only),
        cmocka_unit_test(what_a_connection_says_and_nobody_asks_is_a_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
