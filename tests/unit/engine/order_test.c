/* order_test.c - order keys, spreads, functions that order. */
#include "tests/support/check.h"
#include "tests/support/engine_world.h"

#include <stdatomic.h>
#include <string.h>

/* a, b, c without anything that orders. */
static struct world *three(enum acog_spread_kind spread, enum acog_order_kind key)
{
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_policy *policy = &world->rows->snapshot.policy;
    policy->spread = spread;
    policy->order[0] = (struct acog_order_key){.kind = key};
    policy->order_count = 1;
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_VERTEX, "m");
    engine_rows_add(world->rows, "b", ACOG_CHANNEL_DIRECT, "m");
    engine_rows_add(world->rows, "c", ACOG_CHANNEL_BEDROCK, "m");
    return world;
}

/* The order of the next plan as letters; `takes` advances a round robin. */
static void planned(struct world *world, char order[4], bool takes)
{
    struct acog_request_facts facts = world_facts("m");
    if (takes) {
        world_run(world, &facts);
    } else {
        world->request = (struct acog_request){.plan = world->plan};
        const struct acog_event event = {.type = ACOG_EVENT_ARRIVED,
                                         .arrived = {.facts = &facts, .seed = ++world->seed}};
        acog_engine_plan_only(&world->rows->snapshot, &world->rows->shared, &world->request, &event,
                              &world->actions);
    }
    size_t i = 0;
    for (; i < world->request.kept_count && i < 3; i++) {
        uint16_t connection = world->rows->candidates[world->request.plan[i].candidate].connection;
        order[i] = world->rows->connections[connection].id.ptr[0];
    }
    order[i] = '\0';
}

static void assert_planned(struct world *world, const char *wanted)
{
    char order[4];
    planned(world, order, false);
    assert_string_equal(order, wanted);
}

static void keys_order_as_they_say(void **state)
{
    (void)state;
    struct world *world = three(ACOG_SPREAD_NONE, ACOG_ORDER_CATALOGUE);
    struct acog_policy *policy = &world->rows->snapshot.policy;
    assert_planned(world, "abc");
    policy->order[0].kind = ACOG_ORDER_CHANNEL_RANK;
    assert_planned(world, "bca");
    policy->order[0].kind = ACOG_ORDER_PRIORITY;
    world->rows->connections[0].priority = 5;
    world->rows->connections[1].priority = 5;
    world->rows->connections[2].priority = -1;
    assert_planned(world, "cab"); /* ties keep catalogue order: S0.10 */
    policy->order[1].kind = ACOG_ORDER_CHANNEL_RANK;
    policy->order_count = 2;
    assert_planned(world, "cba"); /* the second key only among equals */
    policy->order[0].kind = ACOG_ORDER_RESERVED;
    policy->order_count = 1;
    assert_planned(world, "abc");
    policy->order[0].kind = ACOG_ORDER_FIRST_OUTPUT;
    atomic_store(&engine_rows_spread(world->rows, "a")->first_output_ms, 300);
    atomic_store(&engine_rows_spread(world->rows, "b")->first_output_ms, 200);
    assert_planned(world, "cba"); /* unknown first: S3.10 */
    world_free(&world);
}

static void price_counts_only_while_arbitrage_moved_the_request(void **state)
{
    (void)state;
    struct world *world = three(ACOG_SPREAD_NONE, ACOG_ORDER_PRICE);
    for (size_t i = 0; i < 2; i++) {
        world->rows->candidates[i].priced = true;
        world->rows->candidates[i].output_price = 5 - (double)i;
    }
    assert_planned(world, "abc");
    world->rows->snapshot.policy.arbitrage = true;
    assert_planned(world, "bac"); /* without a price: last */
    world_free(&world);
}

static void a_round_robin_gives_each_its_weight(void **state)
{
    (void)state;
    struct world *world = three(ACOG_SPREAD_ROUND_ROBIN, ACOG_ORDER_SPREAD_FIRST);
    int served[3] = {0};
    char order[4];
    world->rows->connections[1].weight = 3;
    for (int i = 0; i < 50; i++) {
        planned(world, order, true);
        served[order[0] - 'a']++;
    }
    assert_int_equal(served[0], 10);
    assert_int_equal(served[1], 30);
    assert_int_equal(served[2], 10);
    world_free(&world);
}

static void models_that_alternate_do_not_beat_in_time(void **state)
{
    (void)state;
    struct world *world = three(ACOG_SPREAD_ROUND_ROBIN, ACOG_ORDER_SPREAD_FIRST);
    engine_rows_candidate(world->rows, &world->rows->connections[0], "n");
    engine_rows_candidate(world->rows, &world->rows->connections[1], "n");
    int served[2] = {0};
    for (int i = 0; i < 20; i++) {
        struct acog_request_facts m = world_facts("m");
        struct acog_request_facts n = world_facts("n");
        world_run(world, &m);
        world_run(world, &n);
        served[world->tried[0] - 'a']++;
    }
    assert_int_equal(served[0], 10);
    assert_int_equal(served[1], 10);
    world_free(&world);
}

static void a_round_robin_over_all_turns_like_a_wheel(void **state)
{
    (void)state;
    struct world *world = three(ACOG_SPREAD_ROUND_ROBIN, ACOG_ORDER_SPREAD);
    char order[4];
    static const char *const wanted[] = {"abc", "bca", "cab", "abc"};
    for (size_t i = 0; i < 4; i++) {
        planned(world, order, true);
        assert_string_equal(order, wanted[i]);
    }
    world_free(&world);
}

static void chance_follows_the_weights(void **state)
{
    (void)state;
    struct world *world = three(ACOG_SPREAD_WEIGHTED, ACOG_ORDER_SPREAD_FIRST);
    int served[3] = {0};
    char order[4];
    world->rows->connections[2].weight = 8;
    for (int i = 0; i < 2000; i++) {
        planned(world, order, false);
        served[order[0] - 'a']++;
    }
    assert_true(served[0] > 140 && served[0] < 260); /* 200 expected */
    assert_true(served[2] > 1500 && served[2] < 1700);
    world_free(&world);
}

static void the_least_busy_is_first_and_idle_ones_share(void **state)
{
    (void)state;
    struct world *world = three(ACOG_SPREAD_LEAST_IN_FLIGHT, ACOG_ORDER_SPREAD_FIRST);
    int served[3] = {0};
    char order[4];
    for (int i = 0; i < 900; i++) {
        planned(world, order, false);
        served[order[0] - 'a']++;
    }
    assert_true(served[0] > 200 && served[1] > 200 && served[2] > 200);
    atomic_store(&engine_rows_spread(world->rows, "a")->in_flight, 4);
    atomic_store(&engine_rows_spread(world->rows, "b")->in_flight, 5);
    atomic_store(&engine_rows_spread(world->rows, "c")->in_flight, 6);
    assert_planned(world, "abc");
    world->rows->connections[2].weight = 2; /* six of two are less than four of one */
    assert_planned(world, "cab");
    world_free(&world);
}

static void two_by_chance_never_pick_the_busiest_of_all(void **state)
{
    (void)state;
    struct world *world = three(ACOG_SPREAD_POWER_OF_TWO, ACOG_ORDER_SPREAD_FIRST);
    int served[3] = {0};
    char order[4];
    atomic_store(&engine_rows_spread(world->rows, "a")->in_flight, 9);
    atomic_store(&engine_rows_spread(world->rows, "b")->in_flight, 1);
    for (int i = 0; i < 600; i++) {
        planned(world, order, false);
        served[order[0] - 'a']++;
    }
    assert_int_equal(served[0], 0);
    assert_true(served[1] > 120 && served[2] > 320); /* a third and two thirds */
    world_free(&world);
}

static void the_fastest_and_the_cheapest(void **state)
{
    (void)state;
    struct world *world = three(ACOG_SPREAD_FIRST_OUTPUT, ACOG_ORDER_SPREAD);
    atomic_store(&engine_rows_spread(world->rows, "a")->first_output_ms, 30);
    atomic_store(&engine_rows_spread(world->rows, "b")->first_output_ms, 10);
    atomic_store(&engine_rows_spread(world->rows, "c")->first_output_ms, 20);
    assert_planned(world, "bca");
    world->rows->snapshot.policy.spread = ACOG_SPREAD_CHEAPEST;
    world->rows->candidates[2].priced = true;
    world->rows->candidates[2].input_price = 1;
    world->rows->candidates[0].priced = true;
    world->rows->candidates[0].input_price = 2;
    assert_planned(world, "cab");
    world_free(&world);
}

/* -- functions ------------------------------------------------------------------------------------- */

static void answer_numbers(void *user, const struct acog_ask *ask, struct acog_answer *answer)
{
    assert_int_equal(ask->kind, ACOG_SLOT_ORDER);
    *answer = (struct acog_answer){.count = ask->count, .numbers = user};
}

static void a_function_orders_by_its_numbers(void **state)
{
    (void)state;
    double numbers[] = {2, -1, 0.5};
    struct world *world = three(ACOG_SPREAD_NONE, ACOG_ORDER_FUNCTION);
    struct acog_request_facts facts = world_facts("m");
    world->answers = answer_numbers;
    world->user = numbers;
    world_status(world, "b", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b,c");
    assert_true(world->request.plan[0].number < 0);
    world_free(&world);
}

static void a_number_that_is_none_is_a_policy_error(void **state)
{
    (void)state;
    double zero = 0;
    double numbers[] = {2, zero / zero, 0.5};
    struct world *world = three(ACOG_SPREAD_NONE, ACOG_ORDER_FUNCTION);
    struct acog_request_facts facts = world_facts("m");
    world->answers = answer_numbers;
    world->user = numbers;
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_POLICY_ERROR);
    world_free(&world);
}

static void a_full_plan_stands_in_order(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts("m");
    struct acog_policy *policy = &world->rows->snapshot.policy;
    policy->same_model_only = false;
    policy->order[0].kind = ACOG_ORDER_PRICE;
    policy->order_count = 1;
    policy->arbitrage = true;
    for (size_t i = 0; i < ACOG_PLAN_MAX + 2; i++) {
        static const char *const ids[] = {"a", "b"};
        struct acog_connection *connection =
            i < 2 ? engine_rows_connection(world->rows, ids[i], (enum acog_channel)i)
                  : &world->rows->connections[i % 2];
        struct acog_candidate *candidate = engine_rows_candidate(world->rows, connection, "m");
        candidate->priced = true;
        candidate->input_price = (double)(i * 37 % 64);
    }
    world_run(world, &facts);
    assert_int_equal(world->request.plan_count, ACOG_PLAN_MAX);
    for (size_t i = 0; i < ACOG_PLAN_MAX; i++) {
        uint16_t candidate = world->request.plan[i].candidate;
        assert_int_equal(candidate * 37 % 64, i);
    }
    world_free(&world);
}

static void a_demoted_one_takes_no_share_of_the_spread(void **state)
{
    (void)state;
    struct world *world = three(ACOG_SPREAD_ROUND_ROBIN, ACOG_ORDER_SPREAD_FIRST);
    struct acog_policy *policy = &world->rows->snapshot.policy;
    policy->health.mode = ACOG_HEALTH_DEMOTE;
    policy->order[1].kind = ACOG_ORDER_DEMOTED_LAST;
    policy->order_count = 2;
    struct acog_circuit_ticket ticket;
    struct acog_circuit_limits limits = acog_health_limits(&policy->health);
    acog_circuit *circuit = &engine_rows_circuit(world->rows, "b")->circuit;
    assert_true(acog_circuit_take(circuit, 0, false, &ticket));
    acog_circuit_settle(circuit, ticket, ACOG_CIRCUIT_TRIPPED, &limits, 0);
    int served[3] = {0};
    char order[4];
    for (int i = 0; i < 20; i++) {
        planned(world, order, true);
        served[order[0] - 'a']++;
    }
    assert_int_equal(served[0], 10);
    assert_int_equal(served[1], 0);
    assert_int_equal(served[2], 10);
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_order_as_they_say),
        cmocka_unit_test(price_counts_only_while_arbitrage_moved_the_request),
        cmocka_unit_test(a_round_robin_gives_each_its_weight),
        cmocka_unit_test(models_that_alternate_do_not_beat_in_time),
        cmocka_unit_test(a_round_robin_over_all_turns_like_a_wheel),
        cmocka_unit_test(chance_follows_the_weights),
        cmocka_unit_test(the_least_busy_is_first_and_idle_ones_share),
        cmocka_unit_test(two_by_chance_never_pick_the_busiest_of_all),
        cmocka_unit_test(the_fastest_and_the_cheapest),
        cmocka_unit_test(a_function_orders_by_its_numbers),
        cmocka_unit_test(a_number_that_is_none_is_a_policy_error),
        cmocka_unit_test(a_full_plan_stands_in_order),
        cmocka_unit_test(a_demoted_one_takes_no_share_of_the_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
