/* acog_test.c - S4 as rows: default connection, spread and failover, pin, arbitrage, usable. refusal_test.c has the
 * policy-block fallback. */
#include "tests/support/check.h"
#include "tests/support/engine_world.h"

#include <stdatomic.h>
#include <string.h>

#define MODEL "claude-haiku-4-5"

static void priced(struct acog_candidate *candidate, double price)
{
    candidate->priced = true;
    candidate->input_price = price;
}

/* d is the default, v is cheaper, b dearer. */
static struct world *default_and_others(void)
{
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    priced(engine_rows_add(world->rows, "d", ACOG_CHANNEL_DIRECT, MODEL), 10);
    priced(engine_rows_add(world->rows, "v", ACOG_CHANNEL_VERTEX, MODEL), 8);
    priced(engine_rows_add(world->rows, "b", ACOG_CHANNEL_BEDROCK, MODEL), 12);
    engine_rows_find(world->rows, "d")->is_default = true;
    return world;
}

static struct world *two_others(void)
{
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    engine_rows_add(world->rows, "v", ACOG_CHANNEL_VERTEX, MODEL);
    engine_rows_add(world->rows, "b", ACOG_CHANNEL_BEDROCK, MODEL);
    return world;
}

static struct acog_request_facts pinned(const char *channel)
{
    struct acog_request_facts facts = world_facts(MODEL);
    facts.pins[0] = acog_view_of(channel);
    facts.pin_count = 1;
    return facts;
}

static void the_default_connection_serves_alone(void **state)
{
    (void)state;
    static const uint16_t statuses[] = {429, 500, 503, 401, 408};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct world *world = default_and_others();
        struct acog_request_facts facts = world_facts(MODEL);
        world_status(world, "d", statuses[i], 1);
        world_run(world, &facts);
        assert_string_equal(world->tried, "d"); /* S4.3 */
        assert_true(world->error.by_class);
        assert_int_equal(world->error.upstream_status, statuses[i]); /* S4.4 */
        assert_true(world->request.exclusive);
        world_free(&world);
    }
}

static void its_open_circuit_is_a_503_with_retry_after(void **state)
{
    (void)state;
    struct world *world = default_and_others();
    struct acog_request_facts facts = world_facts(MODEL);
    world_status(world, "d", 500, 5);
    for (int i = 0; i < 5; i++) {
        world_run(world, &facts);
    }
    world_run(world, &facts);
    assert_string_equal(world->tried, "");                             /* S4.5, S4.16 */
    assert_int_equal(world->error.condition, ACOG_CONDITION_ALL_OPEN); /* S4.17, B75 */
    assert_int_equal(world->error.retry_after_ms, 5000);
    world->now_ms = 30000;
    world_run(world, &facts);
    assert_true(world->answered);
    struct acog_request_facts unknown = world_facts("nobody-has-it");
    world_run(world, &unknown);
    assert_int_equal(world->error.condition, ACOG_CONDITION_UNKNOWN_MODEL); /* S4.2 */
    world_free(&world);
}

static void others_take_turns_and_fail_over(void **state)
{
    (void)state;
    struct world *world = two_others();
    struct acog_request_facts facts = world_facts(MODEL);
    world_run(world, &facts);
    assert_string_equal(world->tried, "v"); /* S4.6 */
    world_run(world, &facts);
    assert_string_equal(world->tried, "b");
    world_status(world, "v", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "v,b"); /* S4.11 */
    assert_true(world->answered);
    assert_int_equal(world->waits, 1);
    assert_true(world->now_ms >= 50 && world->now_ms <= 250); /* S4.14 */
    world_free(&world);
}

static void those_behind_the_first_stand_by_channel(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts(MODEL);
    engine_rows_add(world->rows, "custom", ACOG_CHANNEL_CUSTOM, MODEL);
    engine_rows_add(world->rows, "azure", ACOG_CHANNEL_AZURE, MODEL);
    engine_rows_add(world->rows, "direct", ACOG_CHANNEL_DIRECT, MODEL);
    world_status(world, "custom", 500, 1);
    world_status(world, "direct", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "custom,direct,azure"); /* S4.7 */
    world_free(&world);
}

static void three_attempts_in_all_the_last_one_on_the_sole_left(void **state)
{
    (void)state;
    struct world *world = two_others();
    struct acog_request_facts facts = world_facts(MODEL);
    world_status(world, "v", 500, 3);
    world_status(world, "b", 502, 3);
    world_run(world, &facts);
    assert_string_equal(world->tried, "v,b,b"); /* S4.14, G4.12 */
    assert_int_equal(world->waits, 2);
    assert_int_equal(world->error.class, ACOG_CLASS_SERVER_ERROR);
    assert_int_equal(world->error.upstream_status, 502);
    assert_int_equal(world->error.relay, ACOG_RELAY_MESSAGE);
    world_free(&world);
}

static void a_sole_connection_is_used_again_but_not_after_a_429(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts(MODEL);
    engine_rows_add(world->rows, "b", ACOG_CHANNEL_BEDROCK, MODEL);
    world_status(world, "b", 429, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b"); /* S4.12 */
    assert_int_equal(world->error.class, ACOG_CLASS_THROTTLED);
    world_status(world, "b", 500, 2);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b,b,b"); /* S4.11 */
    world->rows->snapshot.policy.classes[ACOG_CLASS_SERVER_ERROR].same = ACOG_SAME_NEVER;
    world_status(world, "b", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b"); /* G4.12, the other value */
    world_free(&world);
}

static void which_failures_move(void **state)
{
    (void)state;

    static const struct {
        enum acog_cause cause;
        uint16_t status;
        bool moves;
    } rows[] = {
        /* FIELD-CASES B67 */
        {ACOG_CAUSE_STATUS, 429, true},  {ACOG_CAUSE_STATUS, 500, true},
        {ACOG_CAUSE_STATUS, 502, true},  {ACOG_CAUSE_STATUS, 503, true},
        {ACOG_CAUSE_STATUS, 529, true},  {ACOG_CAUSE_CONNECT, 0, true},
        {ACOG_CAUSE_CLOSED, 0, true},    {ACOG_CAUSE_STATUS, 400, false},
        {ACOG_CAUSE_STATUS, 401, false}, {ACOG_CAUSE_STATUS, 403, false},
        {ACOG_CAUSE_STATUS, 404, false}, {ACOG_CAUSE_STATUS, 413, false},
        {ACOG_CAUSE_STATUS, 422, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *world = two_others();
        struct acog_request_facts facts = world_facts(MODEL);
        world_reply(world, "v",
                    (struct world_reply){.kind = ACOG_WORLD_FAILS,
                                         .failure = {.cause = rows[i].cause,
                                                     .status = rows[i].status,
                                                     .retry_after_ms = -1}});
        world_run(world, &facts);
        assert_string_equal(world->tried, rows[i].moves ? "v,b" : "v"); /* S4.15 */
        if (!rows[i].moves) {
            assert_int_equal(world->error.upstream_status, rows[i].status);
            assert_int_equal(world->error.attempt, rows[i].status == 401 || rows[i].status == 403
                                                       ? 0
                                                       : 1); /* auth: own body */
        }
        world_free(&world);
    }
}

static void five_failures_open_the_channels_circuit_for_all_its_connections(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts(MODEL);
    engine_rows_add(world->rows, "b1", ACOG_CHANNEL_BEDROCK, MODEL);
    engine_rows_add(world->rows, "b2", ACOG_CHANNEL_BEDROCK, MODEL);
    world_status(world, "b1", 500, 5);
    world_status(world, "b2", 500, 5);
    world_run(world, &facts);
    world_run(world, &facts); /* three and then two: the fifth opens it */
    assert_string_equal(world->tried, "b2,b1");
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_ALL_OPEN); /* S4.16, G4.2 */
    assert_int_equal(atomic_load(&engine_rows_circuit(world->rows, "b1")->openings), 1);
    world_free(&world);
}

static void a_pin_beats_the_default_connection_and_arbitrage(void **state)
{
    (void)state;
    struct world *world = default_and_others();
    struct acog_request_facts facts = pinned("bedrock");
    world->rows->snapshot.policy.arbitrage = true;
    world_run(world, &facts);
    assert_string_equal(world->tried, "b"); /* S4.18b, S4.19, S4.20 */
    facts = pinned("moon");
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_PIN_UNKNOWN); /* S4.21 */
    assert_true(acog_view_equal(world->error.detail, ACOG_VIEW("moon")));
    facts = pinned("azure");
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_PIN_UNMET); /* S4.22 */
    assert_true(acog_view_equal(world->error.detail, ACOG_VIEW("azure")));
    world_free(&world);
}

static void arbitrage_moves_to_the_cheaper_channel(void **state)
{
    (void)state;
    struct world *world = default_and_others();
    struct acog_request_facts facts = world_facts(MODEL);
    world->rows->snapshot.policy.arbitrage = true;
    world_status(world, "v", 500, 1);
    world_status(world, "d", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "v,d,b"); /* S4.18a: by price */
    assert_true(world->request.moved_by_price);
    world_free(&world);
}

static void arbitrage_leaves_the_default_alone_when_it_is_the_cheapest(void **state)
{
    (void)state;
    struct world *world = default_and_others();
    struct acog_request_facts facts = world_facts(MODEL);
    world->rows->snapshot.policy.arbitrage = true;
    world->rows->candidates[0].input_price = 1;
    world_run(world, &facts);
    assert_string_equal(world->tried, "d");
    assert_true(world->request.exclusive);
    world->rows->candidates[0].priced = false; /* nothing to compare with */
    world_run(world, &facts);
    assert_true(world->request.exclusive);
    world->rows->candidates[0].priced = true;
    world->rows->candidates[0].input_price = 9; /* v is cheaper, but of no other channel now */
    world->rows->connections[1].channel = ACOG_CHANNEL_DIRECT;
    world_run(world, &facts);
    assert_true(world->request.exclusive);
    world_free(&world);
}

/* -- usable ---------------------------------------------------------------------------------------- */

struct verdicts {
    struct acog_verdict verdict;
    bool failed;
    size_t asked;
    uint16_t refused_candidate; /* keeps all others */
};

static void answer_usable(void *user, const struct acog_ask *ask, struct acog_answer *answer)
{
    struct verdicts *verdicts = user;
    assert_int_equal(ask->kind, ACOG_SLOT_USABLE);
    assert_int_equal(ask->count, 1);
    verdicts->asked++;
    verdicts->verdict.keep = ask->candidates[0] != verdicts->refused_candidate;
    *answer = (struct acog_answer){
        .failed = verdicts->failed, .count = 1, .verdicts = &verdicts->verdict};
}

static struct world *with_usable(struct world *world, struct verdicts *verdicts)
{
    for (size_t i = 0; i < world->rows->snapshot.connection_count; i++) {
        world->rows->connections[i].usable = ACOG_USABLE_FUNCTION;
    }
    verdicts->verdict.reason = ACOG_VIEW("no longer allowed");
    world->answers = answer_usable;
    world->user = verdicts;
    return world;
}

static void a_refusal_before_sending_moves_on_and_spends_an_attempt(void **state)
{
    (void)state;
    struct verdicts verdicts = {.refused_candidate = 0};
    struct world *world = with_usable(two_others(), &verdicts);
    struct acog_request_facts facts = world_facts(MODEL);
    world_status(world, "b", 500, 3);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b,b"); /* S4.13, G4.13: one of the three was v's */
    assert_int_equal(verdicts.asked, 3);
    assert_int_equal(world->request.attempt_count, 2); /* nothing was sent to v */
    assert_int_equal(world->request.plan[0].verdict, ACOG_PLAN_DROPPED);
    assert_true(acog_view_equal(world->request.plan[0].reason, ACOG_VIEW("no longer allowed")));
    assert_int_equal(world_in_flight(world), 0);
    world_free(&world);
}

static void refused_by_all_is_its_own_condition(void **state)
{
    (void)state;
    struct verdicts verdicts = {.refused_candidate = 0};
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts(MODEL);
    engine_rows_add(world->rows, "v", ACOG_CHANNEL_VERTEX, MODEL);
    with_usable(world, &verdicts);
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_NOT_USABLE);
    world->rows->connections[0].usable = ACOG_USABLE_NO;
    world->rows->connections[0].usable_reason = ACOG_VIEW("switched off");
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_NOT_USABLE);
    assert_true(acog_view_equal(world->request.plan[0].reason, ACOG_VIEW("switched off")));
    world_free(&world);
}

static void a_function_that_fails_is_a_policy_error(void **state)
{
    (void)state;
    struct verdicts verdicts = {.failed = true};
    struct world *world = with_usable(two_others(), &verdicts);
    struct acog_request_facts facts = world_facts(MODEL);
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_POLICY_ERROR);
    assert_string_equal(world->tried, "");
    world_free(&world);
}

static void a_pinned_channel_fails_over_within_itself(void **state)
{
    (void)state;
    struct world *world = default_and_others();
    engine_rows_add(world->rows, "b2", ACOG_CHANNEL_BEDROCK, MODEL);
    struct acog_request_facts facts = pinned("bedrock");
    world_status(world, "b", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b,b2"); /* D10 */
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_connection_serves_alone),
        cmocka_unit_test(its_open_circuit_is_a_503_with_retry_after),
        cmocka_unit_test(others_take_turns_and_fail_over),
        cmocka_unit_test(those_behind_the_first_stand_by_channel),
        cmocka_unit_test(three_attempts_in_all_the_last_one_on_the_sole_left),
        cmocka_unit_test(a_sole_connection_is_used_again_but_not_after_a_429),
        cmocka_unit_test(which_failures_move),
        cmocka_unit_test(five_failures_open_the_channels_circuit_for_all_its_connections),
        cmocka_unit_test(a_pin_beats_the_default_connection_and_arbitrage),
        cmocka_unit_test(arbitrage_moves_to_the_cheaper_channel),
        cmocka_unit_test(arbitrage_leaves_the_default_alone_when_it_is_the_cheapest),
        cmocka_unit_test(a_refusal_before_sending_moves_on_and_spends_an_attempt),
        cmocka_unit_test(refused_by_all_is_its_own_condition),
        cmocka_unit_test(a_function_that_fails_is_a_policy_error),
        cmocka_unit_test(a_pinned_channel_fails_over_within_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
