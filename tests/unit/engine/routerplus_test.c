/* routerplus_test.c - S0 as rows: priority order, circuits at two failures, refusals never move. */
#include "tests/support/check.h"
#include "tests/support/engine_world.h"

#include <stdatomic.h>
#include <string.h>

static struct world *two_deployments(void)
{
    struct world *world = world_new(ENGINE_POLICY_ROUTERPLUS);
    engine_rows_add(world->rows, "openrouter", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "anthropic", ACOG_CHANNEL_DIRECT, "m");
    engine_rows_find(world->rows, "openrouter")->priority = 2;
    engine_rows_find(world->rows, "anthropic")->priority = 1;
    return world;
}

static void fails_over_in_priority_order_without_a_wait(void **state)
{
    (void)state;
    struct world *world = two_deployments();
    struct acog_request_facts facts = world_facts("m");
    world_status(world, "anthropic", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "anthropic,openrouter"); /* S0.10 */
    assert_int_equal(world->waits, 0);                         /* S0.12 */
    assert_true(world->answered);                              /* S0.11 */
    world_free(&world);
}

static void an_unknown_model_is_never_replaced(void **state)
{
    (void)state;
    struct world *world = two_deployments();
    struct acog_request_facts facts = world_facts("zzz");
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_UNKNOWN_MODEL); /* S0.30, S0.31 */
    assert_string_equal(world->tried, "");
    world_free(&world);
}

static void sends_the_clients_id_unless_the_deployment_has_its_own(void **state)
{
    (void)state;
    struct world *world = two_deployments();
    struct acog_request_facts facts = world_facts("m");
    world->rows->candidates[1].send_id = ACOG_VIEW("anthropic/m");
    world_run(world, &facts);
    assert_true(
        acog_view_equal(world->request.attempts[0].model, ACOG_VIEW("anthropic/m"))); /* G0.9 */
    world_free(&world);
}

static void statuses_move_as_the_class_table_says(void **state)
{
    (void)state;

    static const struct {
        enum acog_failure_class class;
        uint16_t status;
        bool moves;
    } rows[] = {
        {ACOG_CLASS_THROTTLED, 429, true}, /* S0.39 */
        {ACOG_CLASS_AUTH, 401, true},      /* S0.40 */
        {ACOG_CLASS_AUTH, 402, true},
        {ACOG_CLASS_AUTH, 403, true},
        {ACOG_CLASS_NOT_FOUND, 404, true},    /* S0.43 */
        {ACOG_CLASS_SERVER_ERROR, 500, true}, /* S0.44 */
        {ACOG_CLASS_SERVER_ERROR, 529, true},
        {ACOG_CLASS_INVALID_REQUEST, 408, false}, /* S0.45 */
        {ACOG_CLASS_INVALID_REQUEST, 413, false},
        {ACOG_CLASS_INVALID_REQUEST, 400, false}, /* S0.38 */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *world = two_deployments();
        struct acog_request_facts facts = world_facts("m");
        world_status(world, "anthropic", rows[i].status, 1);
        world_run(world, &facts);
        assert_string_equal(world->tried, rows[i].moves ? "anthropic,openrouter" : "anthropic");
        assert_int_equal(world->request.attempts[0].class, rows[i].class);
        assert_int_equal(world->has_error, !rows[i].moves);
        world_free(&world);
    }
}

static void a_refusal_beats_every_status_and_never_moves(void **state)
{
    (void)state;
    static const uint16_t statuses[] = {400, 403, 429, 500, 503};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct world *world = two_deployments();
        struct acog_request_facts facts = world_facts("m");
        world_shape(world, "anthropic", statuses[i], ACOG_SHAPE_REFUSAL,
                    "content_policy_violation");
        world_run(world, &facts);
        assert_string_equal(world->tried, "anthropic"); /* S0.3, S0.34, S0.35 */
        assert_int_equal(world->error.class, ACOG_CLASS_REFUSAL);
        assert_int_equal(world->error.relay, ACOG_RELAY_OWN); /* S0.36, S0.77 */
        world_free(&world);
    }
}

static void a_context_overflow_is_its_own_class(void **state)
{
    (void)state;
    struct world *world = two_deployments();
    struct acog_request_facts facts = world_facts("m");
    world_shape(world, "anthropic", 400, ACOG_SHAPE_CONTEXT_OVERFLOW, "context_length_exceeded");
    world_run(world, &facts);
    assert_int_equal(world->error.class, ACOG_CLASS_CONTEXT_OVERFLOW); /* S0.37, S0.41 */
    assert_string_equal(world->tried, "anthropic");
    world_free(&world);
}

static void skips_a_deployment_that_sends_no_head_in_time(void **state)
{
    (void)state;
    struct world *world = two_deployments();
    struct acog_request_facts facts = world_facts("m");
    /* The connection stands, the head does not come: 20 s count, not the 10 s of connecting. */
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_CONNECTED, 1);
    assert_int_equal(acog_engine_deadline_ms(&world->request), 20000); /* S0.22 */
    world->now_ms = 20000;
    world_event(world, ACOG_EVENT_TICK, 0);
    assert_string_equal(world->tried, "anthropic,openrouter");
    assert_int_equal(world->request.attempts[0].class, ACOG_CLASS_TIMEOUT_HEADERS);
    world_free(&world);
}

static void two_failures_open_for_thirty_seconds_and_one_probe_tests(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROUTERPLUS);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
    world_status(world, "a", 500, 3);
    world_run(world, &facts);
    world_run(world, &facts);
    world_run(world, &facts); /* S0.49, S0.58 */
    assert_string_equal(world->tried, "");
    assert_int_equal(world->error.condition, ACOG_CONDITION_ALL_OPEN);
    assert_int_equal(world->error.retry_after_ms, 5000);
    world->now_ms = 30000;
    world_run(world, &facts); /* the probe fails: S0.50, S0.51 */
    assert_string_equal(world->tried, "a");
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_ALL_OPEN);
    world->now_ms = 60000;
    world_run(world, &facts);
    assert_true(world->answered); /* S0.60: fresh, not longer */
    world_run(world, &facts);
    assert_true(world->answered);
    assert_int_equal(atomic_load(&engine_rows_circuit(world->rows, "a")->openings), 2);
    world_free(&world);
}

static void while_the_probe_is_out_everyone_else_is_refused(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROUTERPLUS);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
    world_status(world, "a", 500, 2);
    world_run(world, &facts);
    world_run(world, &facts);
    world->now_ms = 30000;
    world_arrive(world, &facts);
    assert_string_equal(world->tried, "a");
    assert_true(world->request.attempts[0].ticket.probe);
    struct acog_plan_row rows[ACOG_PLAN_MAX]; /* the next request uses the world's */
    memcpy(rows, world->plan, sizeof rows);
    struct acog_request probing = world->request;
    probing.plan = rows;
    for (int i = 0; i < 19; i++) { /* FIELD-CASES B70 */
        world_arrive(world, &facts);
        assert_int_equal(world->error.condition, ACOG_CONDITION_ALL_OPEN); /* G0.4 */
    }
    world->request = probing;
    world->now_ms = 32000;
    world_event(world, ACOG_EVENT_DONE, 1);
    world_run(world, &facts);
    assert_true(world->answered);
    world_free(&world);
}

static void faults_of_the_request_never_charge(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROUTERPLUS);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
    world_status(world, "a", 400, 5);
    for (int i = 0; i < 5; i++) {
        world_run(world, &facts);
    }
    assert_int_equal(atomic_load(&engine_rows_circuit(world->rows, "a")->circuit), 0); /* S0.52 */
    world_free(&world);
}

static void a_429_cools_the_pool_for_its_retry_after(void **state)
{
    (void)state;

    static const struct {
        int64_t retry_after_ms;
        int64_t cools_ms;
        int64_t told_ms;
    } rows[] = {
        {7000, 7000, 7000},
        {999999000, 60000, 60000}, /* S0.39, S0.74 */
        {0, 1000, 0},              /* S0.54 */
        {-1, 1000, -1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *world = world_new(ENGINE_POLICY_ROUTERPLUS);
        struct acog_request_facts facts = world_facts("m");
        engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
        world_reply(world, "a",
                    (struct world_reply){.kind = ACOG_WORLD_FAILS,
                                         .failure = {.cause = ACOG_CAUSE_STATUS,
                                                     .status = 429,
                                                     .retry_after_ms = rows[i].retry_after_ms}});
        world_run(world, &facts);
        assert_int_equal(world->error.class, ACOG_CLASS_THROTTLED);
        assert_int_equal(world->error.retry_after_ms, rows[i].told_ms);
        world->now_ms = rows[i].cools_ms - 1;
        world_run(world, &facts);
        assert_int_equal(world->error.condition, ACOG_CONDITION_ALL_OPEN);
        world->now_ms = rows[i].cools_ms;
        world_run(world, &facts);
        assert_true(world->answered);
        world_free(&world);
    }
}

/* Who asks about a candidate from outside a request sees what its plan would see. */
static void a_pool_that_cools_is_not_admitted_with_circuits_and_without(void **state)
{
    (void)state;

    static const enum acog_health_mode modes[] = {ACOG_HEALTH_EXCLUDE, ACOG_HEALTH_OFF};

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct world *world = world_new(ENGINE_POLICY_ROUTERPLUS);
        struct acog_request_facts facts = world_facts("m");
        const struct acog_snapshot *snapshot = &world->rows->snapshot;
        struct acog_shared *shared = &world->rows->shared;
        engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
        world->rows->snapshot.policy.health.mode = modes[i];
        world_reply(
            world, "a",
            (struct world_reply){
                .kind = ACOG_WORLD_FAILS,
                .failure = {.cause = ACOG_CAUSE_STATUS, .status = 429, .retry_after_ms = 7000}});
        world_run(world, &facts);
        assert_false(acog_engine_admits(snapshot, shared, 0, 6999));
        assert_true(acog_engine_admits(snapshot, shared, 0, 7000));
        world_free(&world);
    }
}

static void a_client_that_leaves_speaks_for_the_provider(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROUTERPLUS);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
    world_status(world, "a", 500, 1);
    world_run(world, &facts);
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_CLIENT_GONE, 0);
    assert_int_equal(world->request.outcome, ACOG_OUTCOME_CANCELLED);
    assert_int_equal(atomic_load(&engine_rows_circuit(world->rows, "a")->circuit), 0); /* S0.55 */
    world_free(&world);
}

static void the_last_class_answers_for_all(void **state)
{
    (void)state;
    struct world *world = two_deployments();
    struct acog_request_facts facts = world_facts("m");
    world_status(world, "anthropic", 500, 1);
    world_status(world, "openrouter", 401, 1);
    world_run(world, &facts);
    assert_true(world->error.by_class);
    assert_int_equal(world->error.class, ACOG_CLASS_AUTH); /* S0.47, G0.1 */
    assert_int_equal(world->error.upstream_status, 401);
    world_free(&world);
}

static void more_than_one_choice_is_refused(void **state)
{
    (void)state;
    struct world *world = two_deployments();
    struct acog_request_facts facts = world_facts("m");
    facts.choices = 2;
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_CHOICES); /* S0.32 */
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fails_over_in_priority_order_without_a_wait),
        cmocka_unit_test(an_unknown_model_is_never_replaced),
        cmocka_unit_test(sends_the_clients_id_unless_the_deployment_has_its_own),
        cmocka_unit_test(statuses_move_as_the_class_table_says),
        cmocka_unit_test(a_refusal_beats_every_status_and_never_moves),
        cmocka_unit_test(a_context_overflow_is_its_own_class),
        cmocka_unit_test(skips_a_deployment_that_sends_no_head_in_time),
        cmocka_unit_test(two_failures_open_for_thirty_seconds_and_one_probe_tests),
        cmocka_unit_test(while_the_probe_is_out_everyone_else_is_refused),
        cmocka_unit_test(faults_of_the_request_never_charge),
        cmocka_unit_test(a_429_cools_the_pool_for_its_retry_after),
        cmocka_unit_test(a_pool_that_cools_is_not_admitted_with_circuits_and_without),
        cmocka_unit_test(a_client_that_leaves_speaks_for_the_provider),
        cmocka_unit_test(the_last_class_answers_for_all),
        cmocka_unit_test(more_than_one_choice_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
