/* load_test.c - whole configurations: what they become, and how much they may ask for. What is said of bad ones is in
 * findings_test.c. */
#include "loading.h"
#include "tests/support/memory_sweep.h"

/* -- good ones -------------------------------------------------------------------------------------------- */

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
    load(&scene, WITH(""));
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
    load(&scene, WITH(""));
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

static void a_list_of_replies_may_stand_alone(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene, ON("a", "simulate = { { status = 500 }, {} }, models = { \"m\" }"));
    assert_good(&scene);
    const struct acog_provider_script *script = scene.snapshot->connections[0].simulate;
    assert_int_equal(script->reply_count, 2);
    assert_int_equal(script->replies[0].status, 500);
    assert_false(script->cycle);
    end(&scene);
    load(&scene, ON("a", "simulate = false, models = { \"m\" }, dialects = \"chat\", key = \"k\""));
    assert_good(&scene);
    assert_null(scene.snapshot->connections[0].simulate);
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

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    struct scene scene;
    load(&scene, "\xef\xbb\xbf" WITH(""));
    assert_good(&scene);
    end(&scene);
}

static void the_same_text_has_the_same_hash(void **state)
{
    (void)state;
    struct scene first;
    struct scene second;
    struct scene other;
    load(&first, WITH(""));
    load(&second, WITH(""));
    load(&other, GATEWAY("connections = {" SIMULATED("a", "\"m2\"") "}"));
    assert_true(acog_view_equal(first.snapshot->hash, second.snapshot->hash));
    assert_false(acog_view_equal(first.snapshot->hash, other.snapshot->hash));
    end(&first);
    end(&second);
    end(&other);
}

/* -- caps and budgets ------------------------------------------------------------------------------------- */

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

/* -- memory ----------------------------------------------------------------------------------------------- */

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
        cmocka_unit_test(a_list_of_replies_may_stand_alone),
        cmocka_unit_test(headers_that_a_policy_names_are_let_through),
        cmocka_unit_test(a_function_filter_stands_where_it_was_put),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(the_same_text_has_the_same_hash),
        cmocka_unit_test(a_configuration_that_loops_is_stopped),
        cmocka_unit_test(too_many_models_are_refused),
        cmocka_unit_test(every_list_has_a_cap),
        cmocka_unit_test(require_stays_inside),
        cmocka_unit_test(a_load_survives_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
