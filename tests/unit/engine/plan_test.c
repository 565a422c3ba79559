/* plan_test.c - filters in order, each drop with its reason; functions asked once for all; the plan without dispatch. */
#include "tests/support/check.h"
#include "tests/support/engine_world.h"

#include <stdatomic.h>
#include <string.h>

#define MODEL "claude-haiku-4-5"

/* A policy's functions, played by the test. */
struct functions {
    struct acog_answer match;
    unsigned drops; /* ACOG_BIT(candidate): what the filter function refuses */
    struct acog_verdict verdicts[ACOG_PLAN_MAX];
    double numbers[ACOG_PLAN_MAX];
    bool fails;
    size_t asked[5];    /* times, by kind */
    size_t asked_about; /* candidates, in the last question */
};

static void answer(void *user, const struct acog_ask *ask, struct acog_answer *answer)
{
    struct functions *functions = user;
    functions->asked[ask->kind]++;
    functions->asked_about = ask->count;
    *answer = (struct acog_answer){.failed = functions->fails, .count = ask->count};
    switch (ask->kind) {
    case ACOG_SLOT_MATCH:
        *answer = functions->match;
        return;
    case ACOG_SLOT_FILTER:
    case ACOG_SLOT_TRANSLATION:
        for (size_t i = 0; i < ask->count; i++) {
            functions->verdicts[i] = (struct acog_verdict){
                .keep = (functions->drops & ACOG_BIT(ask->candidates[i])) == 0,
                .reason = ACOG_VIEW("legal stays in the EU")};
        }
        answer->verdicts = functions->verdicts;
        return;
    case ACOG_SLOT_ORDER:
        answer->numbers = functions->numbers;
        return;
    case ACOG_SLOT_USABLE:
        break;
    }
    fail();
}

static struct world *with_functions(size_t connections, struct functions *functions)
{
    static const char *const ids[] = {"a", "b", "c", "d"};
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    for (size_t i = 0; i < connections; i++) {
        engine_rows_add(world->rows, ids[i], (enum acog_channel)i, MODEL);
    }
    world->answers = answer;
    world->user = functions;
    return world;
}

/* Puts a function filter before the policy's filter at `index`. */
static void insert_function(struct world *world, size_t index)
{
    struct acog_policy *policy = &world->rows->snapshot.policy;
    memmove(&policy->filters[index + 1], &policy->filters[index],
            (policy->filter_count - index) * sizeof policy->filters[0]);
    policy->filters[index] = (struct acog_filter){.kind = ACOG_FILTER_FUNCTION,
                                                  .name = ACOG_VIEW("legal"),
                                                  .slot = 7,
                                                  .when_empty = ACOG_CONDITION_FILTERED};
    policy->filter_count++;
}

static void a_function_is_asked_once_for_all_that_remain(void **state)
{
    (void)state;
    struct functions functions = {.drops = ACOG_BIT(1)};
    struct world *world = with_functions(3, &functions);
    struct acog_request_facts facts = world_facts(MODEL);
    insert_function(world, 2);
    world_run(world, &facts);
    assert_int_equal(functions.asked[ACOG_SLOT_FILTER], 1);
    assert_int_equal(functions.asked_about, 3);
    const struct acog_request *request = &world->request;
    assert_int_equal(request->kept_count, 2);
    assert_int_equal(request->plan_count, 3);
    assert_int_equal(request->plan[2].candidate, 1);
    assert_int_equal(request->plan[2].filter, 2);
    assert_true(acog_view_equal(request->plan[2].reason, ACOG_VIEW("legal stays in the EU")));
    world_free(&world);
}

static void a_function_that_leaves_nothing_says_why(void **state)
{
    (void)state;
    struct functions functions = {.drops = ACOG_BIT(0)};
    struct world *world = with_functions(1, &functions);
    struct acog_request_facts facts = world_facts(MODEL);
    insert_function(world, 2);
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_FILTERED);
    assert_true(acog_view_equal(world->error.detail, ACOG_VIEW("legal stays in the EU")));
    assert_int_equal(world->request.emptied_by, 2);
    world_free(&world);
}

/* DESIGN, "Configuration and policy": the example with the default connection outside the EU. */
static void a_function_that_forbids_the_default_connection_lifts_it(void **state)
{
    (void)state;
    struct functions functions = {.drops = ACOG_BIT(0)};
    struct world *world = with_functions(3, &functions);
    struct acog_request_facts facts = world_facts(MODEL);
    world->rows->connections[0].is_default = true;
    insert_function(world, world->rows->snapshot.policy.filter_count - 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b");
    assert_false(world->request.exclusive);
    assert_int_equal(world->request.kept_count, 2);
    assert_true(acog_view_equal(world->request.plan[2].reason, ACOG_VIEW("legal stays in the EU")));
    functions.drops = ACOG_BIT(1); /* another one forbidden: the default serves alone as ever */
    world_run(world, &facts);
    assert_string_equal(world->tried, "a");
    assert_true(world->request.exclusive);
    world_free(&world);
}

static void without_others_a_forbidden_default_leaves_nothing(void **state)
{
    (void)state;
    struct functions functions = {.drops = ACOG_BIT(0)};
    struct world *world = with_functions(1, &functions);
    struct acog_request_facts facts = world_facts(MODEL);
    world->rows->connections[0].is_default = true;
    insert_function(world, world->rows->snapshot.policy.filter_count - 1);
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_FILTERED);
    assert_int_equal(functions.asked[ACOG_SLOT_FILTER], 1);
    world_free(&world);
}

static void match_says_which_candidates_a_model_reaches(void **state)
{
    (void)state;
    static const uint16_t matched[] = {2, 0};
    struct functions functions = {.match = {.count = 2, .candidates = matched}, .drops = 0};
    struct world *world = with_functions(3, &functions);
    struct acog_request_facts facts = world_facts("claude-haiku-4-5@20251001");
    world->rows->snapshot.policy.match_slot = 0;
    world->rows->snapshot.policy.order_count = 0;
    world_status(world, "c", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "c,a");
    assert_true(acog_view_equal(world->request.attempts[0].model, ACOG_VIEW(MODEL))); /* S4.9 */
    functions.match.count = 0;
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_UNKNOWN_MODEL);
    world_free(&world);
}

static void an_answer_outside_its_set_is_a_policy_error(void **state)
{
    (void)state;
    static const uint16_t unknown[] = {0, 99};
    static const uint16_t twice[] = {0, 0};
    static uint16_t too_many[ACOG_PLAN_MAX + 1];
    const struct acog_answer answers[] = {
        {.failed = true},
        {.count = 2, .candidates = unknown},
        {.count = 2, .candidates = twice},
        {.count = ACOG_PLAN_MAX + 1, .candidates = too_many},
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        struct functions functions = {.match = answers[i]};
        struct world *world = with_functions(2, &functions);
        struct acog_request_facts facts = world_facts(MODEL);
        world->rows->snapshot.policy.match_slot = 0;
        world_run(world, &facts);
        assert_int_equal(world->error.condition, ACOG_CONDITION_POLICY_ERROR);
        assert_int_equal(world->request.outcome, ACOG_OUTCOME_FAILED);
        world_free(&world);
    }
}

static void a_filter_that_fails_closes_the_way(void **state)
{
    (void)state;
    struct functions functions = {.fails = true};
    struct world *world = with_functions(2, &functions);
    struct acog_request_facts facts = world_facts(MODEL);
    insert_function(world, 2);
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_POLICY_ERROR);
    assert_string_equal(world->tried, "");
    world_free(&world);
}

static struct world *with_dialects(struct functions *functions, unsigned a, unsigned b)
{
    struct world *world = with_functions(2, functions);
    world->rows->connections[0].dialects = a;
    world->rows->connections[1].dialects = b;
    return world;
}

static void only_what_speaks_another_dialect_is_asked_about(void **state)
{
    (void)state;
    struct functions functions = {.drops = 0};
    struct world *world =
        with_dialects(&functions, ACOG_BIT(ACOG_DIALECT_CHAT), ACOG_BIT(ACOG_DIALECT_MESSAGES));
    struct acog_request_facts facts = world_facts(MODEL);
    world_run(world, &facts);
    assert_int_equal(functions.asked[ACOG_SLOT_TRANSLATION], 1);
    assert_int_equal(functions.asked_about, 1);
    assert_string_equal(world->tried, "a");
    world_free(&world);
}

static void what_cannot_be_translated_is_dropped_with_the_reason(void **state)
{
    (void)state;
    struct functions functions = {.drops = ACOG_BIT(0)};
    struct world *world =
        with_dialects(&functions, ACOG_BIT(ACOG_DIALECT_CHAT), ACOG_BIT(ACOG_DIALECT_MESSAGES));
    struct acog_request_facts facts = world_facts(MODEL);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b");
    assert_int_equal(world->request.plan[1].filter, 1);
    assert_true(acog_view_equal(world->request.plan[1].reason, ACOG_VIEW("legal stays in the EU")));
    world_free(&world);
}

/* Decision 14: a request that would not mean the same is a 400 that says why. */
static void a_request_that_nobody_can_be_told_is_invalid_for_that_reason(void **state)
{
    (void)state;
    struct functions functions = {.drops = ACOG_BIT(0) | ACOG_BIT(1)};
    struct world *world =
        with_dialects(&functions, ACOG_BIT(ACOG_DIALECT_CHAT), ACOG_BIT(ACOG_DIALECT_GEMINI));
    struct acog_request_facts facts = world_facts(MODEL);
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_INVALID_REQUEST);
    assert_true(acog_view_equal(world->error.detail, ACOG_VIEW("legal stays in the EU")));
    world_free(&world);
}

static void tokens_are_counted_by_those_who_speak_the_dialect_only(void **state)
{
    (void)state;
    struct functions functions = {.drops = 0};
    struct world *world =
        with_dialects(&functions, ACOG_BIT(ACOG_DIALECT_CHAT), ACOG_BIT(ACOG_DIALECT_RESPONSES));
    struct acog_request_facts facts = world_facts(MODEL);
    facts.surface = ACOG_SURFACE_COUNT_TOKENS;
    world_run(world, &facts);
    assert_int_equal(functions.asked[ACOG_SLOT_TRANSLATION], 0);
    assert_int_equal(world->error.condition, ACOG_CONDITION_DIALECT);
    world_free(&world);
}

static void one_model_and_one_candidate_for_a_connection(void **state)
{
    (void)state;
    static const uint16_t matched[] = {0, 1, 2, 3};
    struct functions functions = {.match = {.count = 4, .candidates = matched}};
    struct world *world = with_functions(0, &functions);
    struct acog_connection *a = engine_rows_connection(world->rows, "a", ACOG_CHANNEL_DIRECT);
    engine_rows_candidate(world->rows, a, "m");
    engine_rows_candidate(world->rows, a, "m@1")->family = ACOG_VIEW("m");
    engine_rows_add(world->rows, "b", ACOG_CHANNEL_AZURE, "m@2")->family = ACOG_VIEW("m");
    engine_rows_add(world->rows, "c", ACOG_CHANNEL_AZURE, "other");
    struct acog_request_facts facts = world_facts("m");
    world->rows->snapshot.policy.match_slot = 0;
    world_status(world, "a", 429, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,b"); /* S4.12, C-2 */
    assert_int_equal(world->request.kept_count, 2);
    world->rows->snapshot.policy.same_model_only = false;
    world_run(world, &facts);
    assert_int_equal(world->request.kept_count, 4);
    world_free(&world);
}

static void a_plan_alone_dispatches_nothing_and_takes_nothing(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts(MODEL);
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_VERTEX, MODEL);
    engine_rows_add(world->rows, "b", ACOG_CHANNEL_BEDROCK, MODEL);
    for (int i = 0; i < 3; i++) {
        struct acog_request request = {.plan = world->plan};
        struct acog_actions actions;
        const struct acog_event event = {.type = ACOG_EVENT_ARRIVED, .arrived = {.facts = &facts}};
        acog_engine_plan_only(&world->rows->snapshot, &world->rows->shared, &request, &event,
                              &actions);
        assert_int_equal(request.state, ACOG_REQUEST_TRYING);
        assert_int_equal(actions.count, 0);
        assert_int_equal(request.kept_count, 2);
        assert_int_equal(request.plan[0].candidate, 0); /* the turn is only read */
        assert_int_equal(acog_engine_deadline_ms(&request), INT64_MAX);
    }
    assert_int_equal(world_in_flight(world), 0);
    world_run(world, &facts);
    assert_string_equal(world->tried, "a"); /* as the plan said */
    struct acog_request request = {.plan = world->plan};
    struct acog_actions actions;
    struct acog_request_facts unknown = world_facts("nobody-has-it");
    const struct acog_event event = {.type = ACOG_EVENT_ARRIVED, .arrived = {.facts = &unknown}};
    acog_engine_plan_only(&world->rows->snapshot, &world->rows->shared, &request, &event, &actions);
    assert_int_equal(request.state, ACOG_REQUEST_ENDED);
    assert_int_equal(actions.list[0].error.condition, ACOG_CONDITION_UNKNOWN_MODEL);
    world_free(&world);
}

static void an_open_circuit_is_in_the_record(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROUTERPLUS);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
    engine_rows_add(world->rows, "b", ACOG_CHANNEL_CUSTOM, "m");
    world_status(world, "a", 500, 2);
    world_run(world, &facts);
    world_run(world, &facts);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b");
    assert_int_equal(world->request.plan[1].verdict, ACOG_PLAN_DROPPED);
    assert_true(acog_view_equal(world->request.plan[1].reason, ACOG_VIEW("its circuit is open")));
    world->now_ms = 30000;
    world_run(world, &facts);
    assert_true(world->request.plan[0].would_probe);
    world_free(&world);
}

static void a_circuit_that_opens_after_the_plan_is_skipped(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROUTERPLUS);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
    engine_rows_add(world->rows, "b", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "c", ACOG_CHANNEL_CUSTOM, "m");
    world_arrive(world, &facts);
    struct acog_circuit_ticket ticket;
    struct acog_circuit_limits limits = acog_health_limits(&world->rows->snapshot.policy.health);
    acog_circuit *circuit = &engine_rows_circuit(world->rows, "b")->circuit;
    assert_true(acog_circuit_take(circuit, 0, false, &ticket));
    acog_circuit_settle(circuit, ticket, ACOG_CIRCUIT_TRIPPED, &limits, 0);
    struct acog_failure failure = {.cause = ACOG_CAUSE_CONNECT, .retry_after_ms = -1};
    const struct acog_event event = {.type = ACOG_EVENT_FAILED, .attempt = 1, .failure = &failure};
    world_step(world, &event);
    assert_string_equal(world->tried, "a,c");
    assert_int_equal(world->request.plan[1].verdict, ACOG_PLAN_DROPPED);
    assert_true(
        acog_view_equal(world->request.plan[1].reason, ACOG_VIEW("its circuit opened meanwhile")));
    world_free(&world);
}

static void every_refused_candidate_is_the_one_that_was_asked_about(void **state)
{
    (void)state;
    struct functions functions = {.drops = ACOG_BIT(0)};
    struct world *world = with_functions(4, &functions);
    struct acog_request_facts facts = world_facts(MODEL);
    insert_function(world, 2);
    for (unsigned drops = 1; drops < 15; drops++) {
        functions.drops = drops;
        world_run(world, &facts);
        const struct acog_request *request = &world->request;
        for (size_t i = 0; i < request->plan_count; i++) {
            assert_int_equal(i >= request->kept_count,
                             (drops & ACOG_BIT(request->plan[i].candidate)) != 0);
        }
    }
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_asked_once_for_all_that_remain),
        cmocka_unit_test(a_function_that_leaves_nothing_says_why),
        cmocka_unit_test(a_function_that_forbids_the_default_connection_lifts_it),
        cmocka_unit_test(without_others_a_forbidden_default_leaves_nothing),
        cmocka_unit_test(match_says_which_candidates_a_model_reaches),
        cmocka_unit_test(an_answer_outside_its_set_is_a_policy_error),
        cmocka_unit_test(a_filter_that_fails_closes_the_way),
        cmocka_unit_test(only_what_speaks_another_dialect_is_asked_about),
        cmocka_unit_test(what_cannot_be_translated_is_dropped_with_the_reason),
        cmocka_unit_test(a_request_that_nobody_can_be_told_is_invalid_for_that_reason),
        cmocka_unit_test(tokens_are_counted_by_those_who_speak_the_dialect_only),
        cmocka_unit_test(one_model_and_one_candidate_for_a_connection),
        cmocka_unit_test(a_plan_alone_dispatches_nothing_and_takes_nothing),
        cmocka_unit_test(an_open_circuit_is_in_the_record),
        cmocka_unit_test(a_circuit_that_opens_after_the_plan_is_skipped),
        cmocka_unit_test(every_refused_candidate_is_the_one_that_was_asked_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
