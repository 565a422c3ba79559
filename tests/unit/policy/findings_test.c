/* findings_test.c - what is said of bad configurations: file, line, field, what is allowed and what is nearest. */
#include "loading.h"

#include <stdio.h>

/* The default policy with these fields, over one good connection. */
#define POLICY(fields)                                                        \
    "local acog = require \"acog\"\nlocal base = require \"policies.acog\"\n" \
    "return acog.gateway { policy = base:with { " fields                      \
    " }, connections = {\n" SIMULATED("a", "\"m\"") "} }"

static void a_wrong_word_names_the_nearest_and_the_allowed(void **state)
{
    (void)state;
    assert_refused(
        "local acog = require \"acog\"\nreturn acog.gateway {\n  connections = {\n"
        "    acog.connection \"x\" { channel = \"bedrok\", simulate = true, models = { \"m\" } },\n"
        "  },\n}\n",
        "gateway.lua:4: connection \"x\": channel: \"bedrok\" is not a channel; did you mean "
        "\"bedrock\"? Allowed: direct, bedrock, vertex, azure, custom");
    assert_refused(
        WITH("lisen = \"127.0.0.1:1\","),
        "gateway.lua:2: gateway: \"lisen\" is not a field here; did you mean \"listen\"?");
}

static void everything_that_is_wrong_is_told_at_once(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene,
         GATEWAY("workers = -1, limits = { body_bytes = \"big\" },\n"
                 "connections = { acog.connection \"a\" { weight = 0, dialects = { \"chatt\" },\n"
                 "simulate = { stauts = 1 }, models = { [\"m\"] = { input = 1 } } },\n"
                 "acog.connection \"a\" { simulate = true, models = {} } }"));
    assert_int_equal(scene.code, ACOG_INVALID);
    assert_true(says(&scene.report, "gateway: workers: -1 is out of range: 0 to 256"));
    assert_true(says(&scene.report, "gateway: limits.body_bytes: must be a number, not a string"));
    assert_true(says(&scene.report, "connection \"a\": weight: 0 is out of range"));
    assert_true(says(&scene.report,
                     "connection \"a\": dialects[1]: \"chatt\" is not a dialect; did you "
                     "mean \"chat\"?"));
    assert_true(says(&scene.report,
                     "connection \"a\": simulate: \"stauts\" is not a field here; did you "
                     "mean \"status\"?"));
    assert_true(says(&scene.report, "connection \"a\": models[\"m\"]: a price has both"));
    assert_true(says(&scene.report,
                     "gateway.lua:6: connection \"a\": is declared twice; the first is at "
                     "gateway.lua:4"));
    assert_true(says(&scene.report, "declares no model"));
    end(&scene);
}

/* What follows from a finding is none of its own. */
static void one_mistake_is_one_finding(void **state)
{
    (void)state;
    static const char *const texts[] = {
        POLICY("classify = { { status = 429, class = \"slow\" } }"),
        POLICY("classify = { { status = \"500-599\", class = \"server_error\" } }"),
        POLICY("spread = \"random\""),
        POLICY("order = \"price\""),
        POLICY("dlp = { { name = \"a\", words = { \"x\" }, regions = 3 } }"),
        ON("a", "dialects = \"openai\", models = { \"m\" }"),
        ON("a", "simulate = true, models = 3"),
        ON("a", "models = { \"m\" }"),
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct scene scene;
        load(&scene, texts[i]);
        print_message("%s\n", texts[i]);
        (void)says(&scene.report, "\n");
        assert_int_equal(scene.report.errors, 1);
        assert_int_equal(scene.report.count, 1);
        end(&scene);
    }
}

static void broken_lua_names_its_line(void **state)
{
    (void)state;
    /* B82: a syntax error, one that is raised, no gateway, half a file. */
    assert_refused("return {\n  a = \n}", "gateway.lua:3:");
    assert_refused("local x = 1\nerror(\"stop here\")", "gateway.lua:2: stop here");
    assert_refused("return 7", "must return acog.gateway { … }, not a number");
    assert_refused("local acog = require \"acog\"\nreturn acog.gateway {\n connections = {",
                   "gateway.lua:3:");
    assert_refused(GATEWAY("connections = {}"), "needs at least one acog.connection");
    assert_refused("\x1bLua", "attempt to load a binary chunk");
    assert_refused("", "must return acog.gateway { … }, and returns nothing");
    assert_refused("return require \"policies.acog\"", "{ … }, not a acog.policy");
}

static void what_newcomers_write_is_told_in_plain_words(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {WITH("listen = 4000,"), "listen: must be \"HOST:PORT\", \"[V6]:PORT\" or \"unix:/path\""},
        {WITH("listen = \"127.0.0.1:4000\", admin = \"127.0.0.1:4000\","),
         "gateway: admin: is the same address as listen"},
        {WITH("limits = { body_bytes = 0 },"),
         "limits.body_bytes: 0 is out of range: 1 to 1099511627776"},
        {GATEWAY("connections = { acog.connection { models = { \"m\" } } }"),
         "acog.connection: the id is missing: acog.connection \"id\" { … }"},
        {WITH("policy = (require \"policies.acog\").with { name = \"x\" },"),
         "policy:with { … } is written with a colon"},
        {GATEWAY("connections = {" SIMULATED("a", "\"m\\xff\"") "}"),
         "an id of a model has 1 to 256 bytes of UTF-8 and no spaces"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_refused(cases[i][0], cases[i][1]);
    }
}

static void a_value_of_the_wrong_kind_hears_what_is_allowed(void **state)
{
    (void)state;
    assert_refused(POLICY("attempts = 2"),
                   "attempts: must be a table of named fields, not a number. Fields: max, ");
    assert_refused(POLICY("classes = { throttled = { move = true } }"),
                   "move: must be a text, not a boolean. Allowed: no, next, restricted");
    assert_refused(POLICY("order = \"price\""), "order: must be a list, { … }, not a string");
    assert_refused(POLICY("clocks = { idle = \"10s\" }"),
                   "clocks.idle: must be a number of seconds, a row");
    assert_refused(POLICY("match = \"loose\""), "match: must be { by = … }");
    assert_refused(POLICY("retries = 3"), "did you mean \"attempts\"?");
    assert_refused(ON("a", "simulate = true, models = \"m\""), "models: must be a list of ids");
    assert_refused(ON("a", "simulate = \"hello\", models = { \"m\" }"),
                   "simulate: must be a reply");
}

static void files_that_cannot_be_read_are_told_before_the_first_request(void **state)
{
    (void)state;
    static const char text[] =
        GATEWAY("connections = { acog.connection \"a\" { base_url = \"https://h/v1\", dialects = "
                "\"chat\",\nca_file = \"/there/is/none.pem\", models = { \"m\" } } }");
    struct scene scene;
    assert_refused(text, "connection \"a\": ca_file: /there/is/none.pem cannot be read");
    load_with(&scene, text, true); /* `acog test` runs anywhere */
    assert_good(&scene);
    end(&scene);
}

static void platforms_that_cannot_be_dialled_say_so(void **state)
{
    (void)state;
    assert_refused(ON("b", "channel = \"bedrock\", models = { \"m\" }"),
                   "channel \"bedrock\" comes in a later version; use simulate");
    assert_refused(ON("b", "channel = \"custom\", dialects = \"chat\", models = { \"m\" }"),
                   "needs base_url");
    assert_refused(ON("b", "base_url = \"http://h/v1\", models = { \"m\" }"), "needs dialects");
}

static void addresses_are_checked(void **state)
{
    (void)state;
    assert_refused(
        ON("g",
           "maker = \"google\", dialects = { \"gemini\", \"chat\" }, models = { \"gemini-2.5-flash\" }"),
        "needs base_url: at its own address google speaks only gemini");
    static const char *const bad[] = {"ftp://h",        "http://user@h/",  "http://h:0/",
                                      "http://h:99999", "https://h/a?b=c", "http://",
                                      "http://[::1",    "unix:relative"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[400];
        (void)snprintf(
            text, sizeof(text),
            "local acog = require \"acog\"\nreturn acog.gateway { connections = {\n"
            "acog.connection \"b\" { dialects = \"chat\", base_url = \"%s\", models = { \"m\" } } "
            "} }",
            bad[i]);
        assert_refused(text, "connection \"b\": base_url: ");
    }
    assert_refused(WITH("listen = \"0.0.0.0:80\","),
                   "listen: without gateway keys everybody may use it");
    assert_refused(WITH("admin = \"10.0.0.1:80\","), "admin: has no keys");
    assert_refused(WITH("listen = \"localhost\","), "listen: must be \"HOST:PORT\"");
}

static void an_address_with_the_path_of_an_api_is_a_warning(void **state)
{
    (void)state;
#define AT(url) \
    ON("a",     \
       "base_url = \"" url "\", dialects = \"chat\", key = acog.env \"KEY\", models = { \"m\" }")
    const char *finding = "\"/chat/completions\" is meant to be left out";
    assert_warned(AT("https://x.example/v1/chat/completions"), finding);
    assert_warned(AT("https://x.example/v1/chat/completions/"), finding);
    struct scene scene;
    load(&scene, AT("https://x.example/v1"));
    assert_good(&scene);
    assert_int_equal(scene.report.count, 0);
    end(&scene);
#undef AT
}

static void secrets_never_show(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene,
         GATEWAY(
             "connections = { acog.connection \"a\" { simulate = true, models = { \"m\" },\n"
             "key = \"sk-plain-text\", headers = { authorization = \"sk-other\", [\"x y\"] = 1 } "
             "} }"));
    assert_int_equal(scene.code, ACOG_INVALID);
    assert_true(says(&scene.report, "key: stands in the file; acog.env \"NAME\" keeps it out"));
    assert_true(says(&scene.report, "headers[\"authorization\"]: is the gateway's own to set"));
    for (size_t i = 0; i < scene.report.count; i++) {
        assert_null(strstr(scene.report.findings[i].text.ptr, "sk-plain"));
        assert_null(strstr(scene.report.findings[i].text.ptr, "sk-other"));
    }
    end(&scene);
    assert_refused(ON("a", "simulate = true, models = { \"m\" }, key = acog.env \"MISSING\""),
                   "connection \"a\": key: the environment variable MISSING is not set");
    assert_refused("local acog = require \"acog\"\nerror(tostring(acog.env \"KEY\"))",
                   "acog.env(KEY)");
}

static void policies_are_checked_as_a_whole(void **state)
{
    (void)state;
    assert_refused(POLICY("spread = \"none\""), "order: spreads, but spread is \"none\"");
    assert_refused(POLICY("order = { \"prise\" }"), "order[1]: \"prise\" is not an order key");
    assert_refused(POLICY("filters = { \"dialect\" }"), "\"declared\" is the first filter");
    assert_refused(POLICY("filters = base.filters:without(\"pin\")"), "filters lack \"pin\"");
    assert_refused(POLICY("filters = base.filters:without(\"dialect\")"),
                   "filters: lack \"dialect\"");
    assert_refused(POLICY("filters = base.filters:without(\"circuit\")"),
                   "health: mode \"exclude\" needs the filter \"circuit\"");
    assert_refused(POLICY("clocks = { connect = 0 }"), "clocks.connect: 0 is out of range");
    assert_refused(POLICY("clocks = { headers = { per = 20 } }"), "clocks.headers: needs base");
    assert_refused(POLICY("clocks = { conect = 1 }"),
                   "\"conect\" is not a clock; did you mean \"connect\"?");
    assert_refused(POLICY("classes = { network = { move = \"nxt\" } }"),
                   "classes.network.move: \"nxt\"");
    assert_refused(POLICY("classes = { throttled = false }"), "classes: \"throttled\" is missing");
    assert_refused(POLICY("errors = { unknown_modl = {} }"), "did you mean \"unknown_model\"?");
    assert_refused(POLICY("response_headers = { [\"bad header\"] = \"channel\" }"),
                   "is not a name of a header");
    assert_refused(POLICY("match = { by = function() error(\"oops\") end }"),
                   "match: gateway.lua:3: oops");
    assert_refused(POLICY("match = function() return {} end"), "does not reach connection \"a\"");
    assert_refused(POLICY("match = { loose = true }"),
                   "match.loose: version.loose knows no such option");
    assert_refused(POLICY("backoff = { min_ms = 300 }"), "backoff: max_ms is below min_ms");
    assert_warned(POLICY("refusal = { fallback_model = \"claude-opus-4-8\" }"),
                  "no connection declares the fallback model \"claude-opus-4-8\"");
    assert_warned(POLICY("classes = { overloaded = { move = \"next\" } }"),
                  "classes: \"overloaded\" has no effect");
    assert_refused(
        "local acog = require \"acog\"\nreturn acog.gateway { policy = {}, connections = {\n" SIMULATED(
            "a", "\"m\"") "} }",
        "gateway: policy: must be acog.policy");
    assert_refused("local b = require \"policies.acog\"\nb.filters:before(\"crcuit\", print)",
                   "\"print\" is not a name of the sandbox");
    assert_refused("local b = require \"policies.acog\"\nb.filters:before(\"crcuit\", nil)",
                   "gateway.lua:2: filters: there is no \"crcuit\" to go by");
    assert_refused(POLICY("name = \"x\" }, policy = acog.policy { name = \"bare\""),
                   "policy \"bare\": needs classify");
}

static void a_group_without_its_switch_is_refused(void **state)
{
    (void)state;
#define BARE(fields) WITH("policy = acog.policy { name = \"bare\", " fields " },")
    assert_refused(BARE("backoff = { min_ms = 200, max_ms = 200 }"), "backoff: needs kind");
    assert_refused(BARE("health = { threshold = 3 }"), "health: needs mode");
    assert_refused(BARE("last_floor = { base = 3 }"), "last_floor: needs to");
#undef BARE
}

static void restricted_targets_are_checked(void **state)
{
    (void)state;
#define TARGETS(policy, takes_over)                                                           \
    "local acog = require \"acog\"\nlocal base = require \"policies.acog\"\n"                 \
    "return acog.gateway { policy = base:with { " policy " }, connections = {\n"              \
    "acog.connection \"a\" { simulate = true, models = { \"m\" }, takes_over = { " takes_over \
    " } } } }"
#define ROLTER                                                                                       \
    "filters = base.filters:after(\"pin\", \"unrestricted\"), classes = { throttled = { takeover = " \
    "\"throttled\" } }"
    assert_refused(TARGETS("", "\"throttled\""), "has no class with a takeover name");
    assert_refused(TARGETS(ROLTER, "\"throtled\""),
                   "takes_over[1]: \"throtled\" is not a failure that a target may take over here; "
                   "did you mean \"throttled\"?");
    assert_refused(TARGETS(ROLTER, "\"throttled\""), "all_targets_restricted"); /* S1.20, S1.21 */
    assert_refused(
        TARGETS("classes = { throttled = { takeover = \"throttled\" } }", "\"throttled\""),
        "needs the filter \"unrestricted\"");
#undef ROLTER
#undef TARGETS
}

static void two_defaults_for_one_model_are_refused(void **state)
{
    (void)state;
    assert_refused(
        GATEWAY(
            "connections = {\nacog.connection \"a\" { default = true, simulate = true, models = "
            "{ \"claude-haiku-4-5\" } },\nacog.connection \"b\" { default = true, simulate = "
            "true, models = { \"claude-haiku-4-5@20251001\" } } }"),
        "two default connections declare the model \"claude-haiku-4-5\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_word_names_the_nearest_and_the_allowed),
        cmocka_unit_test(everything_that_is_wrong_is_told_at_once),
        cmocka_unit_test(one_mistake_is_one_finding),
        cmocka_unit_test(broken_lua_names_its_line),
        cmocka_unit_test(what_newcomers_write_is_told_in_plain_words),
        cmocka_unit_test(a_value_of_the_wrong_kind_hears_what_is_allowed),
        cmocka_unit_test(files_that_cannot_be_read_are_told_before_the_first_request),
        cmocka_unit_test(platforms_that_cannot_be_dialled_say_so),
        cmocka_unit_test(addresses_are_checked),
        cmocka_unit_test(an_address_with_the_path_of_an_api_is_a_warning),
        cmocka_unit_test(secrets_never_show),
        cmocka_unit_test(policies_are_checked_as_a_whole),
        cmocka_unit_test(a_group_without_its_switch_is_refused),
        cmocka_unit_test(restricted_targets_are_checked),
        cmocka_unit_test(two_defaults_for_one_model_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
