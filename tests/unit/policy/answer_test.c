/* answer_test.c - the engine's questions, answered by memo and by functions; a worker's state from a snapshot. */
#include "acog/policy.h"
#include "acog/shared.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ROUNDS    100000
#define QUESTIONS 2000

static const char config[] =
    "local acog = require \"acog\"\n"
    "local base = require \"policies.acog\"\n"
    "local calls = 0\n"
    "return acog.gateway {\n"
    "  policy = base:with {\n"
    "    filters = base.filters:before(\"circuit\", function(request, candidate)\n"
    "      if request.header[\"x-team\"] == \"legal\" and candidate.region ~= \"eu\" then\n"
    "        return false, \"legal stays in the EU\"\n"
    "      end\n"
    "      return true\n"
    "    end),\n"
    "    order = { function(request, candidate) return -candidate.weight end }, spread = \"none\",\n"
    "  },\n"
    "  connections = {\n"
    "    acog.connection \"us\" { simulate = true, models = { \"claude-haiku-4-5\", \"gpt-5\" },\n"
    "      usable = function(request, candidate) calls = calls + 1 return calls > 1, \"not yet\" end },\n"
    "    acog.connection \"eu\" { simulate = true, region = \"eu\", weight = 7,\n"
    "      models = { \"claude-haiku-4-5@20251001\" } },\n"
    "  },\n"
    "}\n";

struct scene {
    struct acog_shared *shared;
    struct acog_snapshot *snapshot;
    struct acog_report report;
    struct acog_policy_state *policy;
    struct acog_request_facts facts;
};

static void begin(struct scene *scene, const char *text)
{
    struct acog_policy_options options = {.path = "gateway.lua", .text = acog_view_of(text)};
    struct acog_error error;
    memset(scene, 0, sizeof(*scene));
    scene->shared = acog_shared_new();
    acog_report_init(&scene->report);
    enum acog_code code =
        acog_policy_load(&options, scene->shared, &scene->snapshot, &scene->report);
    assert_int_equal(code, ACOG_OK);
    scene->policy = acog_policy_state_new(scene->snapshot, &error);
    assert_non_null(scene->policy);
    scene->facts = (struct acog_request_facts){
        .surface = ACOG_SURFACE_MESSAGES,
        .model = ACOG_VIEW("claude-haiku-4-5"),
        .max_tokens = -1,
        .choices = 1,
    };
}

static void end(struct scene *scene)
{
    acog_policy_state_free(&scene->policy);
    acog_snapshot_unref(&scene->snapshot);
    acog_report_fini(&scene->report);
    acog_shared_free(&scene->shared);
}

static struct acog_answer match(struct scene *scene, const char *model)
{
    struct acog_ask ask = {.kind = ACOG_SLOT_MATCH,
                           .slot = scene->snapshot->policy.match_slot,
                           .facts = &scene->facts,
                           .model = acog_view_of(model)};
    struct acog_answer answer;
    struct acog_error error;
    acog_policy_answer(scene->policy, &ask, &answer, &error);
    return answer;
}

static void a_model_reaches_its_candidates_in_catalogue_order(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, config);
    for (int again = 0; again < 2; again++) { /* from Lua, then from the memo */
        struct acog_answer answer = match(&scene, "claude-haiku-4-5");
        assert_false(answer.failed);
        assert_int_equal(answer.count, 2);
        assert_int_equal(answer.candidates[0], 0);
        assert_int_equal(answer.candidates[1], 2);
        answer = match(&scene, "gpt-5-2025-08-07");
        assert_int_equal(answer.count, 1);
        assert_int_equal(answer.candidates[0], 1);
        answer = match(&scene, "unknown");
        assert_false(answer.failed);
        assert_int_equal(answer.count, 0);
        answer = match(&scene, "");
        assert_int_equal(answer.count, 0);
    }
    end(&scene);
}

/* Ids that a client invents do not push out the known ones, and the memo does not grow. */
static void the_memo_is_bounded(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, config);
    (void)match(&scene, "claude-haiku-4-5");
    for (int i = 0; i < 5000; i++) {
        char model[32];
        (void)snprintf(model, sizeof(model), "made-up-%d", i);
        assert_int_equal(match(&scene, model).count, 0);
    }
    char long_id[600];
    memset(long_id, 'x', sizeof(long_id) - 1);
    long_id[sizeof(long_id) - 1] = '\0';
    assert_int_equal(match(&scene, long_id).count, 0);
    assert_int_equal(match(&scene, "claude-haiku-4-5").count, 2);
    end(&scene);
}

static void a_filter_keeps_or_drops_with_its_reason(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, config);
    const struct acog_policy *policy = &scene.snapshot->policy;
    const uint16_t candidates[] = {0, 2};
    struct acog_header_row header = {.name = ACOG_VIEW("x-team"), .value = ACOG_VIEW("legal")};
    struct acog_ask ask = {.kind = ACOG_SLOT_FILTER,
                           .slot = policy->filters[policy->filter_count - 2].slot,
                           .facts = &scene.facts,
                           .candidates = candidates,
                           .count = 2};
    struct acog_answer answer;
    struct acog_error error;
    acog_policy_answer(scene.policy, &ask, &answer, &error);
    assert_false(answer.failed);
    assert_int_equal(answer.count, 2);
    assert_true(answer.verdicts[0].keep);
    scene.facts.headers = &header;
    scene.facts.header_count = 1;
    acog_policy_answer(scene.policy, &ask, &answer, &error);
    assert_false(answer.verdicts[0].keep);
    assert_true(answer.verdicts[1].keep);
    struct acog_view reason = answer.verdicts[0].reason;
    assert_true(acog_view_equal(reason, ACOG_VIEW("legal stays in the EU")));
    acog_policy_answer(scene.policy, &ask, &answer, &error);
    assert_ptr_equal(answer.verdicts[0].reason.ptr,
                     reason.ptr); /* kept once, for the state's life */
    end(&scene);
}

static void order_and_usable_are_asked_likewise(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, config);
    const uint16_t candidates[] = {0, 2};
    struct acog_ask ask = {.kind = ACOG_SLOT_ORDER,
                           .slot = scene.snapshot->policy.order[0].slot,
                           .facts = &scene.facts,
                           .candidates = candidates,
                           .count = 2};
    struct acog_answer answer;
    acog_policy_answer(scene.policy, &ask, &answer, NULL);
    assert_false(answer.failed);
    assert_true(answer.numbers[0] > answer.numbers[1]);
    ask.kind = ACOG_SLOT_USABLE;
    ask.slot = scene.snapshot->connections[0].usable_slot;
    ask.count = 1;
    acog_policy_answer(scene.policy, &ask, &answer, NULL);
    assert_false(answer.verdicts[0].keep);
    acog_policy_answer(scene.policy, &ask, &answer, NULL);
    assert_true(answer.verdicts[0].keep);
    end(&scene);
}

static void a_failing_function_names_its_line(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene,
          "local acog = require \"acog\"\nlocal base = require \"policies.acog\"\n"
          "return acog.gateway { policy = base:with { filters = base.filters:before(\"circuit\",\n"
          "  { name = \"bad\", keep = function(request)\n"
          "    return request.stream.x\n  end }) },\n"
          "connections = { acog.connection \"a\" { simulate = true, models = { \"m\" } } } }\n");
    const struct acog_policy *policy = &scene.snapshot->policy;
    const uint16_t candidates[] = {0};
    struct acog_ask ask = {.kind = ACOG_SLOT_FILTER,
                           .slot = policy->filters[policy->filter_count - 2].slot,
                           .facts = &scene.facts,
                           .candidates = candidates,
                           .count = 1};
    struct acog_answer answer;
    struct acog_error error;
    acog_policy_answer(scene.policy, &ask, &answer, &error);
    assert_true(answer.failed);
    assert_int_equal(error.code, ACOG_POLICY);
    assert_string_equal(error.text,
                        "gateway.lua:5: attempt to index a boolean value (field 'stream') "
                        "(filter \"bad\")");
    end(&scene);
}

static void a_configuration_that_changes_with_each_run_is_refused(void **state)
{
    (void)state;
    struct scene scene = {.snapshot = NULL};
    struct acog_policy_options options = {
        .path = "gateway.lua",
        .text = ACOG_VIEW(
            "local acog = require \"acog\"\n"
            "local list = {}\n"
            "for id in pairs { a1 = 1, b2 = 1, c3 = 1, d4 = 1, e5 = 1, f6 = 1, g7 = 1, h8 = 1, "
            "i9 = 1 } do\n"
            "  list[#list + 1] = acog.connection(id) { simulate = true, models = { id } }\n"
            "end\n"
            "return acog.gateway { connections = list }\n"),
    };
    struct acog_error error;
    scene.shared = acog_shared_new();
    acog_report_init(&scene.report);
    enum acog_code code = acog_policy_load(&options, scene.shared, &scene.snapshot, &scene.report);
    assert_int_equal(code, ACOG_OK);
    bool refused = false; /* the order of pairs() is each state's own: one of these differs */
    for (int i = 0; i < 50 && !refused; i++) {
        struct acog_policy_state *policy = acog_policy_state_new(scene.snapshot, &error);
        refused = policy == NULL;
        acog_policy_state_free(&policy);
    }
    assert_true(refused);
    assert_non_null(strstr(error.text, "do not build lists in the order of pairs()"));
    end(&scene);
}

static void a_snapshot_lives_as_long_as_somebody_holds_it(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, config);
    struct acog_snapshot *held = acog_snapshot_ref(scene.snapshot);
    acog_snapshot_unref(&scene.snapshot);
    acog_policy_state_free(&scene.policy);
    assert_null(scene.snapshot);
    assert_int_equal(held->connection_count, 2);
    acog_snapshot_unref(&held);
    end(&scene);
}

static void answer_once(void *user)
{
    struct scene *scene = user;
    struct acog_error error = {.code = ACOG_OK};
    scene->policy = acog_policy_state_new(scene->snapshot, &error);
    if (scene->policy != NULL) {
        (void)match(scene, "claude-haiku-4-5");
    } else {
        assert_true(memory_sweep_failed());
        assert_int_not_equal(error.code, ACOG_OK);
    }
    acog_policy_state_free(&scene->policy);
}

static void a_state_and_its_answers_survive_each_failed_allocation(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, config);
    acog_policy_state_free(&scene.policy);
    assert_true(memory_sweep(answer_once, &scene, 29) > 100);
    end(&scene);
}

/* The hot path is a look-up: told, not asserted (a machine's speed is no property of the code). */
static void what_an_answer_costs_is_told(void **state)
{
    (void)state;

    struct scene scene;
    begin(&scene, config);
    struct timespec from;
    struct timespec to;
    (void)match(&scene, "claude-haiku-4-5");
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(match(&scene, "claude-haiku-4-5").count, 2);
    }
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    print_message("a known id: %.0f ns\n", ns / ROUNDS);
    const struct acog_policy *policy = &scene.snapshot->policy;
    const uint16_t candidates[] = {0, 2};
    struct acog_ask ask = {.kind = ACOG_SLOT_FILTER,
                           .slot = policy->filters[policy->filter_count - 2].slot,
                           .facts = &scene.facts,
                           .candidates = candidates,
                           .count = 2};
    struct acog_answer answer;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < QUESTIONS; i++) {
        acog_policy_answer(scene.policy, &ask, &answer, NULL);
    }
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    print_message("a filter function over two candidates: %.0f ns\n", ns / QUESTIONS);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_reaches_its_candidates_in_catalogue_order),
        cmocka_unit_test(the_memo_is_bounded),
        cmocka_unit_test(a_filter_keeps_or_drops_with_its_reason),
        cmocka_unit_test(order_and_usable_are_asked_likewise),
        cmocka_unit_test(a_failing_function_names_its_line),
        cmocka_unit_test(a_configuration_that_changes_with_each_run_is_refused),
        cmocka_unit_test(a_snapshot_lives_as_long_as_somebody_holds_it),
        cmocka_unit_test(a_state_and_its_answers_survive_each_failed_allocation),
        cmocka_unit_test(what_an_answer_costs_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
