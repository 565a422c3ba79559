/* load_test.c - whole configurations: what they become, and what is said of bad ones. */
#include "acog/policy.h"
#include "acog/shared.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define GATEWAY(body) "local acog = require \"acog\"\nreturn acog.gateway {\n" body "}\n"
#define SIMULATED(id, models) \
    "acog.connection \"" id "\" { simulate = true, models = { " models " } },\n"

struct scene {
    struct acog_shared *shared;
    struct acog_snapshot *snapshot;
    struct acog_report report;
    enum acog_code code;
};

static const char *env(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "KEY") == 0 ? "sk-secret-value" : NULL;
}

static void load_with(struct scene *scene, const char *text, bool offline)
{
    struct acog_policy_options options = {
        .path = "gateway.lua",
        .text = acog_view_of(text),
        .env = env,
        .offline = offline,
    };
    scene->shared = acog_shared_new();
    assert_non_null(scene->shared);
    acog_report_init(&scene->report);
    scene->code = acog_policy_load(&options, scene->shared, &scene->snapshot, &scene->report);
}

static void load(struct scene *scene, const char *text)
{
    load_with(scene, text, false);
}

static void end(struct scene *scene)
{
    acog_snapshot_unref(&scene->snapshot);
    acog_report_fini(&scene->report);
    acog_shared_free(&scene->shared);
}

static bool says(const struct acog_report *report, const char *text)
{
    for (size_t i = 0; i < report->count; i++) {
        if (strstr(report->findings[i].text.ptr, text) != NULL) {
            return true;
        }
    }
    for (size_t i = 0; i < report->count; i++) {
        print_message("finding: %s\n", report->findings[i].text.ptr);
    }
    return false;
}

static void assert_good(const struct scene *scene)
{
    if (scene->code != ACOG_OK) {
        (void)says(&scene->report, "\n");
    }
    assert_int_equal(scene->code, ACOG_OK);
}

/* A text that must be refused, with this finding. */
static void assert_refused(const char *text, const char *finding)
{
    struct scene scene;
    load(&scene, text);
    assert_int_equal(scene.code, ACOG_INVALID);
    assert_null(scene.snapshot);
    assert_true(scene.report.errors > 0);
    assert_true(says(&scene.report, finding));
    end(&scene);
}

static void assert_warned(const char *text, const char *finding)
{
    struct scene scene;
    load(&scene, text);
    assert_good(&scene);
    assert_true(says(&scene.report, finding));
    end(&scene);
}

static void assert_view(struct acog_view view, const char *text)
{
    if (!acog_view_equal(view, acog_view_of(text))) {
        print_message("got \"%.*s\", expected \"%s\"\n", ACOG_VIEW_FMT(view), text);
        fail();
    }
}

/* -- good ones -------------------------------------------------------------------------------------- */

static void the_example_of_the_design_becomes_rows(void **state)
{
    (void)state;
    struct scene scene;
    load_with(
        &scene,
        "local acog = require \"acog\"\n"
        "return acog.gateway {\n"
        "  listen = \"127.0.0.1:4000\",\n"
        "  admin  = \"127.0.0.1:4001\",\n"
        "  policy = require \"policies.acog\",\n"
        "  connections = {\n"
        "    acog.connection \"anthropic\" {\n"
        "      channel = \"direct\", dialects = { \"messages\" }, default = true,\n"
        "      key     = acog.env \"KEY\",\n"
        "      models  = { \"claude-haiku-4-5\", \"claude-sonnet-4-5\" },\n"
        "    },\n"
        "    acog.connection \"vertex-eu\" {\n"
        "      channel = \"vertex\", dialects = { \"messages\" }, project = \"acme\",\n"
        "      region = \"europe-west1\",\n"
        "      models  = { [\"claude-haiku-4-5@20251001\"] = { input = 1.00, output = 5.00 } },\n"
        "    },\n"
        "  },\n"
        "}\n",
        true);
    assert_good(&scene);
    const struct acog_snapshot *snapshot = scene.snapshot;
    assert_int_equal(snapshot->listen.port, 4000);
    assert_true(snapshot->has_admin);
    assert_int_equal(snapshot->hash.len, 16);
    assert_int_equal(snapshot->connection_count, 2);
    assert_view(snapshot->connections[0].key, "sk-secret-value");
    assert_true(snapshot->connections[0].is_default);
    assert_view(snapshot->connections[0].maker, "");
    assert_int_equal(snapshot->connections[1].channel, ACOG_CHANNEL_VERTEX);
    assert_view(snapshot->connections[1].region, "europe-west1");
    assert_int_equal(snapshot->candidate_count, 3);
    assert_view(snapshot->candidates[2].declared, "claude-haiku-4-5@20251001");
    assert_view(snapshot->candidates[2].family, "claude-haiku-4-5");
    assert_view(snapshot->candidates[2].maker, "anthropic");
    assert_true(snapshot->candidates[2].priced);
    assert_true(snapshot->candidates[2].output_price > 4.99);
    assert_false(snapshot->candidates[0].priced);
    assert_int_equal(snapshot->model_count, 3);
    assert_view(snapshot->models[0].owned_by, "anthropic");
    assert_true(snapshot->candidates[0].circuit_cell != snapshot->candidates[2].circuit_cell);
    assert_view(acog_view_of(scene.shared->circuits[snapshot->candidates[0].circuit_cell].name),
                "direct/anthropic");
    end(&scene);
}

static void a_direct_connection_knows_its_makers_address(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene,
         GATEWAY("connections = {\n"
                 "acog.connection \"a\" { maker = \"anthropic\", key = acog.env \"KEY\", "
                 "models = { \"claude-haiku-4-5\" } },\n"
                 "acog.connection \"o\" { dialects = { \"chat\", \"responses\" }, key = "
                 "acog.env \"KEY\", models = { \"gpt-5\" } },\n"
                 "acog.connection \"c\" { channel = \"custom\", dialects = \"chat\", base_url = "
                 "\"http://[::1]:8000/v1/\", models = { \"local\" } },\n"
                 "acog.connection \"u\" { channel = \"custom\", dialects = \"chat\", base_url = "
                 "\"unix:/run/m.sock\", models = { \"u\" } },\n"
                 "acog.connection \"g\" { dialects = \"gemini\", key = acog.env \"KEY\", "
                 "models = { \"gemini-2.5-flash\" } },\n"
                 "acog.connection \"h\" { maker = \"google\", key = acog.env \"KEY\", "
                 "models = { \"gemini-2.5-pro\" } },\n"
                 "}\n"));
    assert_good(&scene);
    const struct acog_connection *rows = scene.snapshot->connections;
    for (size_t i = 4; i < 6; i++) {
        assert_view(rows[i].maker, "google");
        assert_view(rows[i].endpoint.host, "generativelanguage.googleapis.com");
        assert_view(rows[i].endpoint.base_path, "/v1beta");
        assert_int_equal(rows[i].dialects, ACOG_BIT(ACOG_DIALECT_GEMINI));
    }
    assert_view(rows[0].endpoint.host, "api.anthropic.com");
    assert_true(rows[0].endpoint.tls);
    assert_int_equal(rows[0].endpoint.port, 443);
    assert_int_equal(rows[0].dialects, ACOG_BIT(ACOG_DIALECT_MESSAGES));
    assert_view(rows[1].maker, "openai");
    assert_view(rows[1].endpoint.base_path, "/v1");
    assert_view(rows[2].endpoint.host, "::1");
    assert_int_equal(rows[2].endpoint.port, 8000);
    assert_view(rows[2].endpoint.base_path, "/v1");
    assert_false(rows[2].endpoint.tls);
    assert_view(rows[3].endpoint.unix_socket, "/run/m.sock");
    assert_false(acog_view_equal(rows[2].endpoint.pool_key, rows[3].endpoint.pool_key));
    assert_view(
        acog_view_of(scene.shared->circuits[scene.snapshot->candidates[2].circuit_cell].name),
        "custom/@::1:8000");
    end(&scene);
}

static void the_default_policy_is_s4_and_the_table_of_the_design(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene, GATEWAY("connections = {" SIMULATED("a", "\"m\"") "}"));
    assert_good(&scene);
    assert_int_equal(scene.report.errors, 0);
    const struct acog_policy *policy = &scene.snapshot->policy;
    assert_view(policy->name, "acog");
    assert_int_equal(policy->attempts.max, 3); /* S4.14 */
    assert_int_equal(policy->backoff.kind, ACOG_BACKOFF_RANDOM);
    assert_int_equal(policy->health.threshold, 5); /* S4.16 */
    assert_int_equal(policy->health.cooldown_ms, 30000);
    assert_int_equal(policy->health.key, ACOG_HEALTH_KEY_CHANNEL_MAKER);
    assert_int_equal(policy->errors[ACOG_CONDITION_ALL_OPEN].status, 503); /* S4.17 */
    assert_int_equal(policy->errors[ACOG_CONDITION_ALL_OPEN].retry_after_ms, 5000);
    assert_view(policy->errors[ACOG_CONDITION_UNKNOWN_MODEL].code, "model_not_configured");
    assert_int_equal(policy->errors[ACOG_CONDITION_UNKNOWN_MODEL].status, 409); /* S4.2 */
    assert_true(policy->exclusive_default);                                     /* S4.3 */
    assert_false(policy->arbitrage);
    assert_int_equal(policy->classes[ACOG_CLASS_THROTTLED].same, ACOG_SAME_NEVER); /* S4.12 */
    assert_int_equal(policy->classes[ACOG_CLASS_THROTTLED].charge, ACOG_CHARGE_NONE);
    assert_int_equal(policy->classes[ACOG_CLASS_SERVER_ERROR].same, ACOG_SAME_IF_SOLE); /* G4.12 */
    assert_int_equal(policy->classes[ACOG_CLASS_INVALID_REQUEST].move, ACOG_MOVE_NO);   /* S4.15 */
    assert_int_equal(policy->classes[ACOG_CLASS_REFUSAL_200].move, ACOG_MOVE_FALLBACK_MODEL);
    assert_view(policy->pin.header, "x-acog-channel"); /* S4.19 */
    assert_int_equal(policy->pin.value_count, 5);
    assert_true(policy->pin.failover_inside);
    assert_true(policy->channel_rank[ACOG_CHANNEL_DIRECT] <
                policy->channel_rank[ACOG_CHANNEL_BEDROCK]);
    assert_true(policy->channel_rank[ACOG_CHANNEL_AZURE] <
                policy->channel_rank[ACOG_CHANNEL_CUSTOM]);
    assert_int_equal(policy->commit.stream, ACOG_COMMIT_FIRST_OUTPUT);
    assert_true((policy->commit.outputs & ACOG_BIT(ACOG_OUTPUT_STOP)) != 0); /* G4.8 */
    assert_true(policy->bad_event_drops);
    end(&scene);
}

static void only_bodies_that_are_told_are_read(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene, GATEWAY("connections = {" SIMULATED("a", "\"m\"") "}"));
    assert_good(&scene);
    const struct acog_policy *policy = &scene.snapshot->policy;
    assert_true(acog_policy_reads_body(policy, 429)); /* own body with the provider's message */
    assert_true(acog_policy_reads_body(policy, 503));
    assert_true(acog_policy_reads_body(policy, 400));  /* verbatim: it must be there to be told */
    assert_false(acog_policy_reads_body(policy, 401)); /* own body, and no rule looks into it */
    assert_false(acog_policy_reads_body(policy, 301));
    end(&scene);
}

static void simulate_is_a_script(void **state)
{
    (void)state;
    struct scene scene;
    load(
        &scene,
        GATEWAY(
            "connections = { acog.connection \"a\" { models = { \"m\" }, simulate = { cycle = true,\n"
            "replies = { { status = 503, headers = { [\"Retry-After\"] = 7 }, error = { message = "
            "\"busy\" } },\n"
            "{ text = \"hi\", tool = { name = \"f\" }, usage = { input = 5 }, hang = 3, pace_ms = 10, "
            "hang_ms = 500, done = false },\n"
            "{ close = \"body\", usage = false, error_event = 2 } } } } }"));
    assert_good(&scene);
    const struct acog_provider_script *script = scene.snapshot->connections[0].simulate;
    assert_non_null(script);
    assert_true(script->cycle);
    assert_int_equal(script->reply_count, 3);
    assert_int_equal(script->replies[0].status, 503);
    assert_view(script->replies[0].headers[0].name, "retry-after");
    assert_view(script->replies[0].headers[0].value, "7");
    assert_view(script->replies[0].error_message, "busy");
    assert_int_equal(script->replies[1].hang, ACOG_STAGE_EVENTS);
    assert_int_equal(script->replies[1].after_events, 3);
    assert_int_equal(script->replies[1].hang_ms, 500);
    assert_view(script->replies[1].tool_arguments, "{}");
    assert_int_equal(script->replies[1].output_tokens, -1);
    assert_true(script->replies[1].no_done);
    assert_int_equal(script->replies[2].close, ACOG_STAGE_BODY);
    assert_true(script->replies[2].no_usage);
    assert_true(script->replies[2].error_event);
    end(&scene);
}

static void headers_that_a_policy_names_are_let_through(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene,
         "local acog = require \"acog\"\n"
         "local base = require \"policies.acog\"\n"
         "return acog.gateway { client_headers = { \"X-Org\" },\n"
         "policy = base:with { filters = base.filters:before(\"circuit\", function(request)\n"
         "return request.header[\"x-team\"] ~= \"legal\", \"no\" end) },\n"
         "connections = { acog.connection \"a\" { simulate = true, models = { \"m\" } } } }\n");
    assert_good(&scene);
    assert_int_equal(scene.snapshot->client_header_count, 2);
    assert_view(scene.snapshot->client_headers[0], "x-org");
    assert_view(scene.snapshot->client_headers[1], "x-team");
    end(&scene);
}

static void a_function_filter_stands_where_it_was_put(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene,
         "local acog = require \"acog\"\n"
         "local base = require \"policies.acog\"\n"
         "return acog.gateway {\n"
         "policy = base:with { name = \"acme\", attempts = { max = 2 },\n"
         "  filters = base.filters:before(\"circuit\", function() return true end)\n"
         "    :after(\"dlp\", { name = \"eu\", keep = function() return true end, when_empty = "
         "\"dlp\" })\n"
         "    :without(\"access\") },\n"
         "connections = { acog.connection \"a\" { simulate = true, models = { \"m\" } } } }\n");
    assert_good(&scene);
    const struct acog_policy *policy = &scene.snapshot->policy;
    assert_view(policy->name, "acme");
    assert_int_equal(policy->attempts.max, 2);
    assert_true(policy->attempts.not_usable_counts); /* merged, not replaced */
    assert_view(policy->filters[3].name, "eu");
    assert_int_equal(policy->filters[3].when_empty, ACOG_CONDITION_DLP);
    const struct acog_filter *before = &policy->filters[policy->filter_count - 2];
    assert_int_equal(before->kind, ACOG_FILTER_FUNCTION);
    assert_view(before->place, "gateway.lua:5");
    assert_view(before->name, "gateway.lua:5");
    assert_view(policy->filters[policy->filter_count - 1].name, "circuit");
    end(&scene);
}

static void the_same_text_has_the_same_hash(void **state)
{
    (void)state;
    struct scene first;
    struct scene second;
    struct scene other;
    load(&first, GATEWAY("connections = {" SIMULATED("a", "\"m\"") "}"));
    load(&second, GATEWAY("connections = {" SIMULATED("a", "\"m\"") "}"));
    load(&other, GATEWAY("connections = {" SIMULATED("a", "\"m2\"") "}"));
    assert_true(acog_view_equal(first.snapshot->hash, second.snapshot->hash));
    assert_false(acog_view_equal(first.snapshot->hash, other.snapshot->hash));
    end(&first);
    end(&second);
    end(&other);
}

/* -- bad ones: file, line, field, allowed, nearest ---------------------------------------------------- */

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
        GATEWAY("lisen = \"127.0.0.1:1\", connections = {" SIMULATED("a", "\"m\"") "}"),
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
        {GATEWAY("listen = 4000, connections = {" SIMULATED("a", "\"m\"") "}"),
         "listen: must be \"HOST:PORT\", \"[V6]:PORT\" or \"unix:/path\""},
        {GATEWAY("listen = \"127.0.0.1:4000\", admin = \"127.0.0.1:4000\", connections = "
                 "{" SIMULATED("a", "\"m\"") "}"),
         "gateway: admin: is the same address as listen"},
        {GATEWAY("limits = { body_bytes = 0 }, connections = {" SIMULATED("a", "\"m\"") "}"),
         "limits.body_bytes: 0 is out of range: 1 to 1099511627776"},
        {GATEWAY("connections = { acog.connection { models = { \"m\" } } }"),
         "acog.connection: the id is missing: acog.connection \"id\" { … }"},
        {GATEWAY("policy = (require \"policies.acog\").with { name = \"x\" },\n"
                 "connections = {" SIMULATED("a", "\"m\"") "}"),
         "policy:with { … } is written with a colon"},
        {GATEWAY("connections = {" SIMULATED("a", "\"m\\xff\"") "}"),
         "an id of a model has 1 to 256 bytes of UTF-8 and no spaces"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_refused(cases[i][0], cases[i][1]);
    }
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

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene, "\xef\xbb\xbf" GATEWAY("connections = {" SIMULATED("a", "\"m\"") "}"));
    assert_good(&scene);
    end(&scene);
}

static void platforms_that_cannot_be_dialled_say_so(void **state)
{
    (void)state;
    assert_refused(
        GATEWAY("connections = { acog.connection \"b\" { channel = \"bedrock\", models = { "
                "\"m\" } } }"),
        "channel \"bedrock\" comes in a later version; use simulate");
    assert_refused(
        GATEWAY("connections = { acog.connection \"b\" { channel = \"custom\", dialects = "
                "\"chat\", models = { \"m\" } } }"),
        "needs base_url");
    assert_refused(
        GATEWAY("connections = { acog.connection \"b\" { base_url = \"http://h/v1\", models = "
                "{ \"m\" } } }"),
        "needs dialects");
}

static void addresses_are_checked(void **state)
{
    (void)state;
    assert_refused(
        GATEWAY("connections = { acog.connection \"g\" { maker = \"google\", dialects = { "
                "\"gemini\", \"chat\" }, models = { \"gemini-2.5-flash\" } } }"),
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
    assert_refused(GATEWAY("listen = \"0.0.0.0:80\", connections = {" SIMULATED("a", "\"m\"") "}"),
                   "listen: without gateway keys everybody may use it");
    assert_refused(GATEWAY("admin = \"10.0.0.1:80\", connections = {" SIMULATED("a", "\"m\"") "}"),
                   "admin: has no keys");
    assert_refused(GATEWAY("listen = \"localhost\", connections = {" SIMULATED("a", "\"m\"") "}"),
                   "listen: must be \"HOST:PORT\"");
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
    assert_refused(
        GATEWAY("connections = { acog.connection \"a\" { simulate = true, models = { \"m\" }, key "
                "= acog.env \"MISSING\" } }"),
        "connection \"a\": key: the environment variable MISSING is not set");
    assert_refused("local acog = require \"acog\"\nerror(tostring(acog.env \"KEY\"))",
                   "acog.env(KEY)");
}

static void policies_are_checked_as_a_whole(void **state)
{
    (void)state;
#define POLICY(fields)                                                        \
    "local acog = require \"acog\"\nlocal base = require \"policies.acog\"\n" \
    "return acog.gateway { policy = base:with { " fields                      \
    " }, connections = {\n" SIMULATED("a", "\"m\"") "} }"
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
                   "is not a name of a "
                   "header");
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
#undef POLICY
}

/* What follows from a finding is none of its own. */
static void one_mistake_is_one_finding(void **state)
{
    (void)state;
#define POLICY(fields) "policy = require(\"policies.acog\"):with { " fields " }"
#define WITH(field)    GATEWAY(field ", connections = {" SIMULATED("a", "\"m\"") "}")
#define REAL(fields)   GATEWAY("connections = { acog.connection \"a\" { " fields " } }")
    static const char *const texts[] = {
        WITH(POLICY("classify = { { status = 429, class = \"slow\" } }")),
        WITH(POLICY("classify = { { status = \"500-599\", class = \"server_error\" } }")),
        WITH(POLICY("spread = \"random\"")),
        WITH(POLICY("order = \"price\"")),
        WITH(POLICY("dlp = { { name = \"a\", words = { \"x\" }, regions = 3 } }")),
        REAL("dialects = \"openai\", models = { \"m\" }"),
        REAL("simulate = true, models = 3"),
        REAL("models = { \"m\" }"),
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

static void a_value_of_the_wrong_kind_hears_what_is_allowed(void **state)
{
    (void)state;
    assert_refused(WITH(POLICY("attempts = 2")),
                   "attempts: must be a table of named fields, not a number. Fields: max, ");
    assert_refused(WITH(POLICY("classes = { throttled = { move = true } }")),
                   "move: must be a text, not a boolean. Allowed: no, next, restricted");
    assert_refused(WITH(POLICY("order = \"price\"")), "order: must be a list, { … }, not a string");
    assert_refused(WITH(POLICY("clocks = { idle = \"10s\" }")),
                   "clocks.idle: must be a number of seconds, a row");
    assert_refused(WITH(POLICY("match = \"loose\"")), "match: must be { by = … }");
    assert_refused(WITH(POLICY("retries = 3")), "did you mean \"attempts\"?");
    assert_refused(REAL("simulate = true, models = \"m\""), "models: must be a list of ids");
    assert_refused(REAL("simulate = \"hello\", models = { \"m\" }"), "simulate: must be a reply");
}

static void an_address_with_the_path_of_an_api_is_a_warning(void **state)
{
    (void)state;
#define AT(url) \
    REAL("base_url = \"" url "\", dialects = \"chat\", key = acog.env \"KEY\", models = { \"m\" }")
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

static void a_group_without_its_switch_is_refused(void **state)
{
    (void)state;
#define BARE(fields) WITH("policy = acog.policy { name = \"bare\", " fields " }")
    assert_refused(BARE("backoff = { min_ms = 200, max_ms = 200 }"), "backoff: needs kind");
    assert_refused(BARE("health = { threshold = 3 }"), "health: needs mode");
    assert_refused(BARE("last_floor = { base = 3 }"), "last_floor: needs to");
#undef BARE
}

static void a_list_of_replies_may_stand_alone(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene, REAL("simulate = { { status = 500 }, {} }, models = { \"m\" }"));
    assert_good(&scene);
    const struct acog_provider_script *script = scene.snapshot->connections[0].simulate;
    assert_int_equal(script->reply_count, 2);
    assert_int_equal(script->replies[0].status, 500);
    assert_false(script->cycle);
    end(&scene);
    load(&scene, REAL("simulate = false, models = { \"m\" }, dialects = \"chat\", key = \"k\""));
    assert_good(&scene);
    assert_null(scene.snapshot->connections[0].simulate);
    end(&scene);
#undef REAL
#undef WITH
#undef POLICY
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
                   "takes_over[1]: \"throtled\" is not a failure that a "
                   "target may take over here; did you mean "
                   "\"throttled\"?");
    assert_refused(TARGETS(ROLTER, "\"throttled\""), "all_targets_restricted"); /* S1.20, S1.21 */
    assert_refused(
        TARGETS("classes = { throttled = { takeover = \"throttled\" } }", "\"throttled\""),
        "needs the filter \"unrestricted\"");
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

/* -- caps and budgets --------------------------------------------------------------------------------- */

static void a_configuration_that_loops_is_stopped(void **state)
{
    (void)state;
    assert_refused("while true do end", "the budget of instructions is spent"); /* B85 */
    assert_refused("while true do pcall(function() while true do end end) end",
                   "the budget of instructions is spent");
    assert_refused("local t = {} for i = 1, 1e9 do t[i] = (\"x\"):rep(1000) .. i end", "memory");
    assert_refused("local function f() return 1 + f() end f()",
                   "needs more than the 64 MB of memory it may use");
}

static void too_many_models_are_refused(void **state)
{
    (void)state;
    assert_refused("local acog = require \"acog\"\nlocal c = {}\nfor i = 1, 65 do c[i] = "
                   "acog.connection(\"c\" .. i) { simulate = true, models = { \"m\" } } end\n"
                   "return acog.gateway { connections = c }",
                   "more than the 64 of a plan");
}

static void every_list_has_a_cap(void **state)
{
    (void)state;
#define START \
    "local acog = require \"acog\"\nlocal base = require \"policies.acog\"\nlocal list = {}\n"
    assert_refused(
        START "for i = 1, 9000 do list[i] = \"m\" .. i end\nreturn acog.gateway { connections = "
              "{ acog.connection \"a\" { simulate = true, models = list } } }",
        "one model more than the 8192 of a configuration");
    assert_refused(
        START "for i = 1, 513 do list[i] = acog.connection(\"c\" .. i) { simulate = true, models = "
              "{ \"m\" .. i } } end\nreturn acog.gateway { connections = list }",
        "connections: has 513 items, more than the 512 that are allowed");
    assert_refused(
        START
        "for i = 1, 30 do list[i] = i == 1 and \"declared\" or function() return true end end\n"
        "return acog.gateway { policy = base:with { filters = list }, connections = { "
        "acog.connection \"a\" { simulate = true, models = { \"m\" } } } }",
        "filters: has 30 items, more than the 24 that are allowed");
    assert_refused(
        START "local deep = list\nfor _ = 1, 40 do deep.x = {} deep = deep.x end\n"
              "return acog.gateway { connections = { acog.connection \"a\" { labels = list } } }",
        "tables are nested deeper than 16");
    assert_refused(
        START "return acog.gateway { connections = { acog.connection(\"a\") { simulate = true, "
              "models = { (\"m\"):rep(300) } } } }",
        "an id of a model has 1 to 256 bytes");
#undef START
}

static void require_stays_inside(void **state)
{
    (void)state;
    assert_refused("require \"../secrets\"", "is no module name");
    assert_refused("require \"/etc/passwd\"", "is no module name");
    assert_refused("require \"a..b\"", "is no module name");
    assert_refused("require \"io\"", "no module \"io\"");
    assert_refused("require \"string\"", "no module \"string\"");
}

/* -- memory ----------------------------------------------------------------------------------------- */

static void load_once(void *user)
{
    const char *text = user;
    struct scene scene = {.snapshot = NULL};
    struct acog_policy_options options = {.path = "gateway.lua", .text = acog_view_of(text)};
    memory_sweep_spare();
    scene.shared = acog_shared_new();
    acog_report_init(&scene.report);
    memory_sweep_fail_again();
    scene.code = acog_policy_load(&options, scene.shared, &scene.snapshot, &scene.report);
    if (!memory_sweep_failed()) {
        assert_good(&scene);
    }
    /* Lua collects garbage and tries again: a load may outlive a failure. */
    assert_true((scene.code == ACOG_OK) == (scene.snapshot != NULL));
    end(&scene);
}

/* It ends in an error, without a leak or a crash. */
static void a_load_survives_each_failed_allocation(void **state)
{
    (void)state;
    static char text[] =
        "local acog = require \"acog\"\nlocal base = require \"policies.acog\"\n"
        "return acog.gateway { policy = base:with { filters = base.filters:before(\"circuit\", function() "
        "return true end) },\nconnections = { acog.connection \"a\" { simulate = { text = \"x\" }, "
        "headers = { [\"x-a\"] = \"b\" }, models = { \"claude-haiku-4-5\" } } } }";
    assert_true(memory_sweep(load_once, text, 37) > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_design_becomes_rows),
        cmocka_unit_test(a_direct_connection_knows_its_makers_address),
        cmocka_unit_test(the_default_policy_is_s4_and_the_table_of_the_design),
        cmocka_unit_test(only_bodies_that_are_told_are_read),
        cmocka_unit_test(simulate_is_a_script),
        cmocka_unit_test(headers_that_a_policy_names_are_let_through),
        cmocka_unit_test(a_function_filter_stands_where_it_was_put),
        cmocka_unit_test(the_same_text_has_the_same_hash),
        cmocka_unit_test(a_wrong_word_names_the_nearest_and_the_allowed),
        cmocka_unit_test(everything_that_is_wrong_is_told_at_once),
        cmocka_unit_test(broken_lua_names_its_line),
        cmocka_unit_test(what_newcomers_write_is_told_in_plain_words),
        cmocka_unit_test(files_that_cannot_be_read_are_told_before_the_first_request),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(platforms_that_cannot_be_dialled_say_so),
        cmocka_unit_test(addresses_are_checked),
        cmocka_unit_test(secrets_never_show),
        cmocka_unit_test(policies_are_checked_as_a_whole),
        cmocka_unit_test(one_mistake_is_one_finding),
        cmocka_unit_test(a_value_of_the_wrong_kind_hears_what_is_allowed),
        cmocka_unit_test(an_address_with_the_path_of_an_api_is_a_warning),
        cmocka_unit_test(a_group_without_its_switch_is_refused),
        cmocka_unit_test(a_list_of_replies_may_stand_alone),
        cmocka_unit_test(restricted_targets_are_checked),
        cmocka_unit_test(two_defaults_for_one_model_are_refused),
        cmocka_unit_test(a_configuration_that_loops_is_stopped),
        cmocka_unit_test(too_many_models_are_refused),
        cmocka_unit_test(every_list_has_a_cap),
        cmocka_unit_test(require_stays_inside),
        cmocka_unit_test(a_load_survives_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
