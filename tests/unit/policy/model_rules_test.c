/* model_rules_test.c - what a translation must know of a model: acog.model by its id, and the configuration's last word. */
#include "tests/support/policy_loaded.h"

#include <stdio.h>

#define GATEWAY(connection) \
    "local acog = require \"acog\"\nreturn acog.gateway { connections = {\n" connection "\n} }"
#define ON(fields) GATEWAY("acog.connection \"a\" { simulate = true, " fields " },")

static struct acog_snapshot *load(const char *text, const char *finding)
{
    const struct acog_policy_options options = {.path = "gateway.lua", .text = acog_view_of(text)};
    return policy_loaded(&options, finding);
}

/* The rules of the only model of a configuration. */
static struct acog_model_rules rules_of(const char *text)
{
    struct acog_snapshot *snapshot = load(text, NULL);
    assert_int_equal(snapshot->candidate_count, 1);
    struct acog_model_rules rules = snapshot->candidates[0].rules;
    acog_snapshot_unref(&snapshot);
    return rules;
}

static void assert_refused(const char *text, const char *finding)
{
    assert_null(load(text, finding));
}

static void a_known_model_has_its_rules_in_any_spelling(void **state)
{
    (void)state;
    struct acog_model_rules old =
        rules_of(ON("models = { \"us.anthropic.claude-haiku-4-5-20251001-v1:0\" }"));
    assert_int_equal(old.thinking, ACOG_THINKING_BUDGET);
    assert_int_equal(old.largest_output_tokens, 64000);
    assert_true(old.temperature);
    struct acog_model_rules new = rules_of(ON("models = { \"anthropic/claude-opus-4.8\" }"));
    assert_int_equal(new.thinking, ACOG_THINKING_ADAPTIVE);
    assert_false(new.temperature); /* B12 */
    assert_true(new.system_anywhere);
    assert_int_equal(new.schema, ACOG_SCHEMA_NATIVE);
    assert_true((new.efforts &ACOG_BIT(ACOG_EFFORT_MAX)) != 0);
}

static void what_a_longer_name_does_not_say_a_shorter_one_does(void **state)
{
    (void)state;
    struct acog_model_rules rules = rules_of(ON("models = { \"gpt-5.4-mini-2026-03-17\" }"));
    assert_true(rules.max_completion_tokens);
    assert_int_equal(rules.thinking, ACOG_THINKING_EFFORT);
    assert_true((rules.efforts & ACOG_BIT(ACOG_EFFORT_XHIGH)) != 0);
    assert_true((rules.efforts & ACOG_BIT(ACOG_EFFORT_MINIMAL)) == 0);
    struct acog_model_rules chat = rules_of(ON("models = { \"gpt-5-chat-latest\" }"));
    assert_true(chat.temperature);
    assert_int_equal(chat.thinking, ACOG_THINKING_NONE);
}

static struct acog_model_rules rules_of_model(const char *id)
{
    char text[256];
    (void)snprintf(text, sizeof(text), ON("models = { \"%s\" }"), id);
    return rules_of(text);
}

/* As Anthropic's pages say: which can be told not to think, take system turns, and forced tools. */
static void each_of_the_newer_claudes_has_its_own(void **state)
{
    static const struct {
        const char *id;
        bool told_not_to_think;
        bool system_anywhere;
        bool forced_tool;
        bool temperature;
    } rows[] = {
        {"claude-sonnet-4-6", true, false, true, true},
        {"claude-opus-4-7", true, false, true, false},
        {"claude-sonnet-5", true, false, true, false},
        {"claude-opus-5", true, true, true, false},
        {"claude-fable-5", false, true, true, false},
        {"claude-fable-5-1", false, true, false, false},
        {"claude-mythos-5", false, true, true, false},
        {"claude-mythos-preview", false, false, true, false},
        {"claude-opus-5-5", false, true, false, false},
        {"claude-sonnet-5-5", false, true, false, false},
        {"claude-haiku-5-5", true, false, true, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acog_model_rules rules = rules_of_model(rows[i].id);
        bool none = (rules.efforts & ACOG_BIT(ACOG_EFFORT_NONE)) != 0;
        if (rules.thinking != ACOG_THINKING_ADAPTIVE || rules.schema != ACOG_SCHEMA_NATIVE ||
            none != rows[i].told_not_to_think || rules.system_anywhere != rows[i].system_anywhere ||
            rules.forced_tool != rows[i].forced_tool || rules.temperature != rows[i].temperature ||
            rules.largest_output_tokens != 128000) {
            fail_msg("%s", rows[i].id);
        }
    }
}

/* A limit that no client gave: what an agent writes in one call fits, and the model takes it. */
static void a_claude_without_a_limit_may_write_a_long_file(void **state)
{
    static const struct {
        const char *id;
        int64_t largest;
    } rows[] = {
        {"claude-2.1", 4096},
        {"claude-instant-1.2", 4096},
        {"claude-3-haiku-20240307", 4096},
        {"claude-3-sonnet-20240229", 4096},
        {"claude-3-5-sonnet-20241022", 8192},
        {"claude-opus-4-1", 32000},
        {"claude-sonnet-4-5", 64000},
        {"claude-opus-4-8", 128000},
        {"claude-newest", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acog_model_rules rules = rules_of_model(rows[i].id);
        if (rules.default_output_tokens != 32000 ||
            rules.largest_output_tokens != rows[i].largest) {
            fail_msg("%s: %lld, at most %lld", rows[i].id, (long long)rules.default_output_tokens,
                     (long long)rules.largest_output_tokens);
        }
    }
    assert_int_equal(rules_of_model("unheard-of").default_output_tokens, 4096);
}

static void the_newer_models_refuse_to_continue_what_a_client_began(void **state)
{
    static const char *const older[] = {"claude-3-5-sonnet-20241022",
                                        "claude-haiku-4-5",
                                        "claude-opus-4-5",
                                        "gemini-2.5-flash",
                                        "gemini-3-pro-preview",
                                        "gemini-3.1-flash-lite",
                                        "gemini-3.5-flash"};
    static const char *const newer[] = {
        "claude-sonnet-4-6", "claude-opus-4-6",  "claude-opus-4-7",       "claude-mythos-preview",
        "claude-sonnet-5",   "claude-haiku-5-5", "gemini-3.5-flash-lite", "gemini-3.6-flash"};

    (void)state;
    for (size_t i = 0; i < sizeof(older) / sizeof(older[0]); i++) {
        assert_true(rules_of_model(older[i]).prefill);
    }
    for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
        assert_false(rules_of_model(newer[i]).prefill);
    }
    assert_false(rules_of_model("gpt-4o").prefill); /* it answers anew */
}

static void penalties_are_for_few_geminis(void **state)
{
    (void)state;
    assert_true(rules_of_model("gemini-2.0-flash").penalties);
    assert_false(rules_of_model("gemini-2.5-flash").penalties);
    assert_false(rules_of_model("gemini-flash-latest").penalties);
    assert_true(rules_of_model("gpt-4o").penalties);
}

static void the_words_of_effort_are_those_that_a_model_takes(void **state)
{
    static const struct {
        const char *id;
        enum acog_effort least;
        enum acog_effort most;
    } rows[] = {
        {"gpt-5.3-codex", ACOG_EFFORT_NONE, ACOG_EFFORT_XHIGH},
        {"gpt-5.2-pro", ACOG_EFFORT_MEDIUM, ACOG_EFFORT_XHIGH},
        {"gpt-6-astra", ACOG_EFFORT_LOW, ACOG_EFFORT_MAX},
        {"gpt-6-sol", ACOG_EFFORT_NONE, ACOG_EFFORT_MAX},
        {"gemini-3-pro-preview", ACOG_EFFORT_LOW, ACOG_EFFORT_HIGH},
        {"gemini-3.1-pro-preview", ACOG_EFFORT_LOW, ACOG_EFFORT_HIGH},
        {"gemini-3.5-flash", ACOG_EFFORT_MINIMAL, ACOG_EFFORT_HIGH},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned efforts = rules_of_model(rows[i].id).efforts;
        bool lower = (efforts & (ACOG_BIT(rows[i].least) - 1U)) != 0;
        bool higher = efforts >= ACOG_BIT(rows[i].most) * 2U;
        if (lower || higher || (efforts & ACOG_BIT(rows[i].least)) == 0 ||
            (efforts & ACOG_BIT(rows[i].most)) == 0) {
            fail_msg("%s", rows[i].id);
        }
    }
}

static void an_unknown_model_has_what_its_dialect_takes_for_granted(void **state)
{
    (void)state;
    struct acog_model_rules messages =
        rules_of(ON("dialects = { \"messages\" }, models = { \"mine\" }"));
    assert_true(messages.temperature_max < 1.5);
    assert_int_equal(messages.schema, ACOG_SCHEMA_TOOL);
    struct acog_model_rules chat = rules_of(ON("dialects = { \"chat\" }, models = { \"mine\" }"));
    assert_true(chat.temperature_max > 1.5);
    assert_false(chat.top_k);
    assert_int_equal(chat.largest_output_tokens, -1);
    struct acog_model_rules both = /* a responses client's request is told to it as messages */
        rules_of(ON("dialects = { \"chat\", \"messages\" }, models = { \"mine\" }"));
    assert_int_equal(both.schema, ACOG_SCHEMA_TOOL);
}

static void the_configuration_has_the_last_word(void **state)
{
    (void)state;
    struct acog_model_rules rules =
        rules_of(ON("models = { [\"claude-opus-4-8\"] = { max_output_tokens = 1000, rules = { "
                    "temperature = true, efforts = { \"low\" } } } }"));
    assert_true(rules.temperature);
    assert_int_equal(rules.efforts, ACOG_BIT(ACOG_EFFORT_LOW));
    assert_int_equal(rules.largest_output_tokens, 1000);
    assert_int_equal(rules.thinking, ACOG_THINKING_ADAPTIVE); /* what it does not say */
}

static void a_rule_that_is_none_is_refused_by_its_place(void **state)
{
    (void)state;
    assert_refused(ON("models = { [\"m\"] = { rules = { temprature = false } } }"), "temperature");
    assert_refused(ON("models = { [\"m\"] = { rules = { schema = \"nativ\" } } }"), "native");
    assert_refused(ON("models = { [\"m\"] = { rules = { default_output_tokens = 0 } } }"),
                   "models[\"m\"].rules.default_output_tokens");
    assert_refused(ON("models = { [\"m\"] = { rules = 1 } }"), "rules");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_model_has_its_rules_in_any_spelling),
        cmocka_unit_test(what_a_longer_name_does_not_say_a_shorter_one_does),
        cmocka_unit_test(each_of_the_newer_claudes_has_its_own),
        cmocka_unit_test(a_claude_without_a_limit_may_write_a_long_file),
        cmocka_unit_test(the_newer_models_refuse_to_continue_what_a_client_began),
        cmocka_unit_test(penalties_are_for_few_geminis),
        cmocka_unit_test(the_words_of_effort_are_those_that_a_model_takes),
        cmocka_unit_test(an_unknown_model_has_what_its_dialect_takes_for_granted),
        cmocka_unit_test(the_configuration_has_the_last_word),
        cmocka_unit_test(a_rule_that_is_none_is_refused_by_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
