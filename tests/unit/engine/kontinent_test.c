/* kontinent_test.c - S2 as rows: fixed order with demotion, first-byte limits, one more try for a slow route. */
#include "circuit_word.h"
#include "tests/support/check.h"
#include "tests/support/engine_world.h"

#include <stdatomic.h>
#include <string.h>

static struct world *routes(size_t count)
{
    static const char *const ids[] = {"a", "b", "c"};
    struct world *world = world_new(ENGINE_POLICY_KONTINENT);
    for (size_t i = 0; i < count; i++) {
        engine_rows_add(world->rows, ids[i], ACOG_CHANNEL_CUSTOM, "m");
    }
    return world;
}

static struct acog_request_facts stream(void)
{
    struct acog_request_facts facts = world_facts("m");
    facts.surface = ACOG_SURFACE_CHAT;
    facts.stream = true;
    return facts;
}

static void lost_connections(struct world *world)
{
    world_forget_scripts(world);
    for (size_t i = 0; i < world->rows->snapshot.connection_count; i++) {
        world_cause(world, world->rows->connections[i].id.ptr, ACOG_CAUSE_CLOSED, 1);
    }
}

static void limits_are(const struct world *world, enum acog_clock clock, size_t count,
                       const int64_t *wanted_ms)
{
    assert_int_equal(world->request.attempt_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(world_limit(world, (uint32_t)i + 1, clock), wanted_ms[i]);
    }
}

static int64_t cooldown_ms(struct world *world, const char *id)
{
    struct acog_circuit_limits limits = acog_health_limits(&world->rows->snapshot.policy.health);
    struct acog_circuit_view view =
        acog_circuit_look(&engine_rows_circuit(world->rows, id)->circuit, &limits, world->now_ms);
    return view.until_ms - view.opened_at_ms;
}

static int64_t until_ms(struct world *world, const char *id)
{
    return acog_circuit_unpack(atomic_load(&engine_rows_circuit(world->rows, id)->circuit))
        .until_ms;
}

static void the_listed_statuses_move_on(void **state)
{
    (void)state;
    static const uint16_t statuses[] = {401, 402, 403, 404, 408, 409, 425, 429, 500, 503};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct world *world = routes(2);
        struct acog_request_facts facts = stream();
        world_status(world, "a", statuses[i], 1);
        world_run(world, &facts);
        assert_string_equal(world->tried, "a,b"); /* S2.4 */
        world_free(&world);
    }
}

static void a_fault_of_the_request_is_told_with_the_models_message(void **state)
{
    (void)state;
    static const uint16_t statuses[] = {400, 405, 413, 415, 422, 451};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct world *world = routes(2);
        struct acog_request_facts facts = world_facts("m");
        world_status(world, "a", statuses[i], 1);
        world_run(world, &facts);
        assert_string_equal(world->tried, "a"); /* S2.8, G2.6 */
        assert_int_equal(world->error.class, ACOG_CLASS_INVALID_REQUEST);
        assert_int_equal(world->error.relay, ACOG_RELAY_MESSAGE);
        assert_int_equal(world->error.attempt, 1);
        world_free(&world);
    }
}

static void what_says_it_cannot_serve_moves_on_whatever_its_status(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    world_shape(world, "a", 400, ACOG_SHAPE_CANNOT_SERVE, "");
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,b"); /* S2.5 */
    world_cause(world, "a", ACOG_CAUSE_STREAM_ERROR, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,b"); /* S2.6, FIELD-CASES B64 */
    world_free(&world);
}

static void first_byte_limits_of_streams(void **state)
{
    (void)state;
    struct world *world = routes(3);
    struct acog_request_facts facts = stream();
    lost_connections(world);
    world_run(world, &facts);
    limits_are(world, ACOG_CLOCK_FIRST_EVENT, 3,
               (int64_t[]){15000, 15000, 60000}); /* S2.9, S2.13 */
    for (size_t i = 0; i < 3; i++) {
        world->rows->candidates[i].reasoning = true;
    }
    world->now_ms += 400000; /* three times, and the routes would be demoted */
    lost_connections(world);
    world_run(world, &facts);
    limits_are(world, ACOG_CLOCK_FIRST_EVENT, 3, (int64_t[]){45000, 45000, 60000}); /* S2.10 */
    facts.surface = ACOG_SURFACE_MESSAGES;
    memset(world->rows->circuits, 0, sizeof world->rows->circuits);
    lost_connections(world);
    world_run(world, &facts);
    limits_are(world, ACOG_CLOCK_FIRST_EVENT, 3, (int64_t[]){15000, 15000, 60000}); /* S2.15 */
    world_free(&world);
}

static void first_byte_limits_of_whole_answers(void **state)
{
    (void)state;

    static const struct {
        int64_t max_tokens;
        int64_t first_ms;
        int64_t last_ms;
    } rows[] = {
        {2000, 115000, 115000},      {100, 20000, 60000}, {90000, 300000, 300000}, /* S2.11 */
        {10, 15500, 60000},                                                        /* G2.3 */
        {-1, 300000, 300000},                                                      /* G2.2 */
        {INT64_MAX, 300000, 300000},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *world = routes(2);
        struct acog_request_facts facts = world_facts("m");
        facts.max_tokens = rows[i].max_tokens;
        lost_connections(world);
        world_run(world, &facts);
        limits_are(world, ACOG_CLOCK_TOTAL, 2, (int64_t[]){rows[i].first_ms, rows[i].last_ms});
        world_free(&world);
    }
}

static void a_slow_route_has_thirty_seconds(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    engine_rows_find(world->rows, "a")->slow = true;
    lost_connections(world);
    world_run(world, &facts);
    limits_are(world, ACOG_CLOCK_FIRST_EVENT, 2, (int64_t[]){30000, 60000}); /* S2.12 */
    assert_int_equal(world->error.condition, ACOG_CONDITION_EXHAUSTED);      /* S2.37 */
    world->rows->candidates[0].reasoning = true;
    lost_connections(world);
    world_run(world, &facts);
    assert_int_equal(world_limit(world, 1, ACOG_CLOCK_FIRST_EVENT), 45000); /* G2.4: max of both */
    world_free(&world);
}

static void one_more_try_for_a_route_that_was_only_slow(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    world_late(world, "a", 20000);
    world_late(world, "a", 59000);
    world_status(world, "b", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,b,a");                             /* S2.18 */
    assert_int_equal(world_limit(world, 3, ACOG_CLOCK_FIRST_EVENT), 60000); /* S2.19 */
    assert_int_equal(world->request.counted_attempts, 2);
    assert_true(world->answered);
    world_free(&world);
}

static void it_is_one_try_and_charges_nothing(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    world_late(world, "a", 20000);
    world_late(world, "a", 61000);
    world_status(world, "b", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,b,a");                         /* S2.21 */
    assert_int_equal(world->error.condition, ACOG_CONDITION_EXHAUSTED); /* S2.23 */
    uint64_t word = atomic_load(&engine_rows_circuit(world->rows, "a")->circuit);
    assert_int_equal(acog_circuit_unpack(word).failures, 1); /* S2.26 */
    world_free(&world);
}

static void no_extra_try_once_the_client_has_left(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    world_late(world, "a", 20000);
    world_late(world, "b", 99000);
    world->client_leaves_ms = 16000;
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,b"); /* S2.22 */
    assert_int_equal(world->request.outcome, ACOG_OUTCOME_CANCELLED);
    assert_int_equal(world->now_ms, 31000); /* it waited its 15 s for the model: S2.45 */
    world_free(&world);
}

static void the_extra_try_goes_to_the_one_that_failed_least(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    world_late(world, "a", 999000);
    world_late(world, "b", 999000);
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,b,a"); /* S2.20: equal, the usual order */
    world_forget_scripts(world);
    memset(world->rows->circuits, 0, sizeof world->rows->circuits);
    world_status(world, "a", 500, 1);
    world_run(world, &facts);
    world_forget_scripts(world);
    world_late(world, "a", 999000);
    world_late(world, "b", 999000);
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,b,b"); /* S2.20 */
    world_free(&world);
}

static void the_extra_try_of_a_whole_answer_has_a_formula(void **state)
{
    (void)state;
    struct world *world = routes(1);
    struct acog_request_facts facts = world_facts("m");
    facts.max_tokens = 2000;
    world_late(world, "a", 400000);
    world_late(world, "a", 150000);
    world_run(world, &facts);
    assert_int_equal(world_limit(world, 2, ACOG_CLOCK_TOTAL), 160000); /* S2.19 */
    assert_true(world->answered);
    world_free(&world);
}

static void three_failures_demote_for_five_minutes(void **state)
{
    (void)state;
    struct world *world = routes(3);
    struct acog_request_facts facts = stream();
    world_status(world, "a", 500, 3);
    for (int i = 0; i < 3; i++) {
        world_run(world, &facts);
        assert_string_equal(world->tried, "a,b");
    }
    world_run(world, &facts);
    assert_string_equal(world->tried, "b"); /* S2.25 */
    lost_connections(world);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b,c,a"); /* S2.31 */
    limits_are(world, ACOG_CLOCK_FIRST_EVENT, 3,
               (int64_t[]){15000, 60000, 15000}); /* S2.14, G2.1 */
    assert_true(world->request.plan[2].demoted);
    assert_true(world->request.plan[2].forced);
    world_free(&world);
}

static void the_floor_in_the_letter_goes_to_the_one_before(void **state)
{
    (void)state;
    struct world *world = routes(3);
    struct acog_request_facts facts = stream();
    world->rows->snapshot.policy.last_floor.place = ACOG_FLOOR_BEFORE_DEMOTED;
    world_status(world, "a", 500, 3);
    world_status(world, "b", 500, 3);
    for (int i = 0; i < 3; i++) {
        world_run(world, &facts);
    }
    lost_connections(world);
    world_run(world, &facts);
    assert_string_equal(world->tried, "c,a,b");
    limits_are(world, ACOG_CLOCK_FIRST_EVENT, 3, (int64_t[]){15000, 60000, 15000}); /* decision 8 */
    world_free(&world);
}

static void the_timed_probe_restores_or_doubles(void **state)
{
    (void)state;
    static const int64_t doubled_ms[] = {600000, 1200000, 1800000, 1800000};
    struct world *world = routes(3);
    struct acog_request_facts facts = stream();
    world_status(world, "a", 500, 3);
    for (int i = 0; i < 3; i++) {
        world_run(world, &facts);
    }
    for (size_t i = 0; i < 4; i++) {
        world->now_ms = until_ms(world, "a");
        world_status(world, "a", 500, 1);
        world_run(world, &facts);
        assert_string_equal(world->tried, "a,b");                 /* S2.28 */
        assert_int_equal(cooldown_ms(world, "a"), doubled_ms[i]); /* S2.30 */
        world_run(world, &facts);
        assert_string_equal(world->tried, "b");
    }
    world->now_ms = until_ms(world, "a");
    world_run(world, &facts);
    assert_string_equal(world->tried, "a"); /* S2.29 */
    world_run(world, &facts);
    assert_string_equal(world->tried, "a");
    world_status(world, "a", 500, 3);
    for (int i = 0; i < 3; i++) {
        world_run(world, &facts);
    }
    assert_int_equal(cooldown_ms(world, "a"), 300000); /* G2.5: the doubling is forgotten */
    world_free(&world);
}

static void an_answer_from_the_end_restores_nothing(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    world_status(world, "a", 500, 3);
    world_status(world, "b", 500, 1);
    for (int i = 0; i < 3; i++) {
        world_run(world, &facts);
    }
    world_status(world, "b", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b,a");
    assert_true(world->answered);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b"); /* G2.5 */
    world_free(&world);
}

static void a_probe_that_is_out_leaves_the_others_at_the_end(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    world_status(world, "a", 500, 3);
    for (int i = 0; i < 3; i++) {
        world_run(world, &facts);
    }
    world->now_ms = until_ms(world, "a");
    world_arrive(world, &facts);
    assert_string_equal(world->tried, "a");
    struct acog_plan_row rows[ACOG_PLAN_MAX]; /* the next request uses the world's */
    memcpy(rows, world->plan, sizeof rows);
    struct acog_request probing = world->request;
    probing.plan = rows;
    world_arrive(world, &facts);
    assert_string_equal(world->tried, "b"); /* S2.28: one request */
    world_event(world, ACOG_EVENT_CLIENT_GONE, 0);
    world->request = probing;
    world_event(world, ACOG_EVENT_CLIENT_GONE, 0);
    world->now_ms += 15000;
    world_event(world, ACOG_EVENT_TICK, 0);
    world_arrive(world, &facts);
    assert_string_equal(world->tried, "a"); /* decision 12: the slot came back */
    world_free(&world);
}

static void an_overload_statement_demotes_at_once(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    world_shape(world, "a", 503, ACOG_SHAPE_OVERLOAD, "overloaded");
    world_run(world, &facts);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b"); /* S2.27 */
    world_free(&world);
}

static void when_all_are_demoted_the_first_to_fail_is_first(void **state)
{
    (void)state;
    struct world *world = routes(3);
    struct acog_request_facts facts = stream();
    static const char *const fail_in_turn[] = {"c", "a", "b"};
    for (size_t i = 0; i < 3; i++) {
        struct acog_circuit_cell *cell = engine_rows_circuit(world->rows, fail_in_turn[i]);
        atomic_store(&cell->circuit, acog_circuit_pack((struct acog_circuit_fields){
                                         .state = ACOG_CIRCUIT_OPEN,
                                         .failures = 3,
                                         .until_ms = 400000 + (int64_t)i,
                                     }));
    }
    world->now_ms = 200000;
    lost_connections(world);
    world_run(world, &facts);
    assert_string_equal(world->tried, "c,a,b");                                     /* S2.32 */
    limits_are(world, ACOG_CLOCK_FIRST_EVENT, 3, (int64_t[]){15000, 15000, 60000}); /* G2.1 */
    world_free(&world);
}

static void faults_of_the_request_do_not_change_the_order(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = world_facts("m");
    world_status(world, "a", 400, 4);
    for (int i = 0; i < 4; i++) {
        world_run(world, &facts);
    }
    assert_int_equal(atomic_load(&engine_rows_circuit(world->rows, "a")->circuit), 0); /* S2.34 */
    struct acog_request_facts unknown = world_facts("q");
    world_run(world, &unknown);
    assert_int_equal(world->error.condition, ACOG_CONDITION_UNKNOWN_MODEL); /* S2.38 */
    world_free(&world);
}

static void a_probe_taken_after_the_plan_moves_the_route_to_the_end(void **state)
{
    (void)state;
    struct world *world = routes(3);
    struct acog_request_facts facts = stream();
    acog_circuit *circuit = &engine_rows_circuit(world->rows, "b")->circuit;
    world->rows->snapshot.policy.last_floor.place = ACOG_FLOOR_LAST;
    atomic_store(circuit, acog_circuit_pack((struct acog_circuit_fields){
                              .state = ACOG_CIRCUIT_OPEN, .failures = 3, .until_ms = 300000}));
    world->now_ms = 300000;
    world_arrive(world, &facts);
    assert_true(world->request.plan[1].would_probe);
    struct acog_circuit_ticket taken;
    assert_true(acog_circuit_take(circuit, world->now_ms, false, &taken));
    struct acog_failure failure = {.cause = ACOG_CAUSE_CLOSED, .retry_after_ms = -1};
    struct acog_event event = {
        .type = ACOG_EVENT_FAILED, .attempt = 1, .now_ms = world->now_ms, .failure = &failure};
    world_step(world, &event);
    event.attempt = 2;
    world_step(world, &event);
    assert_string_equal(world->tried, "a,c,b"); /* D8: at dispatch, to the end; S2.31: not lost */
    assert_true(world->request.plan[1].moved_last);
    /* and the floor went with the last place (D7) */
    limits_are(world, ACOG_CLOCK_FIRST_EVENT, 3, (int64_t[]){15000, 15000, 60000});
    assert_false(world->request.attempts[2].ticket.probe);
    world_free(&world);
}

static void a_circuit_filter_drops_nothing_where_circuits_demote(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    struct acog_policy *policy = &world->rows->snapshot.policy;
    policy->filters[policy->filter_count++] = (struct acog_filter){.kind = ACOG_FILTER_CIRCUIT};
    world_shape(world, "a", 503, ACOG_SHAPE_OVERLOAD, "");
    world_run(world, &facts);
    world_status(world, "b", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "b,a"); /* S2.33 */
    world_free(&world);
}

static void the_floor_of_the_letter_is_the_last_ones_while_none_is_demoted(void **state)
{
    (void)state;
    struct world *world = routes(3);
    struct acog_request_facts facts = stream();
    world->rows->snapshot.policy.last_floor.place = ACOG_FLOOR_BEFORE_DEMOTED;
    lost_connections(world);
    world_run(world, &facts);
    limits_are(world, ACOG_CLOCK_FIRST_EVENT, 3, (int64_t[]){15000, 15000, 60000});
    world_free(&world);
}

static void the_floor_lifts_neither_connecting_nor_the_gap_between_bytes(void **state)
{
    (void)state;
    static const struct acog_clock_row clocks[] = {
        {.clock = ACOG_CLOCK_CONNECT, .stream = true, .formula = {.base_ms = 1000}},
        {.clock = ACOG_CLOCK_IDLE, .stream = true, .formula = {.base_ms = 2000}},
        {.clock = ACOG_CLOCK_HEADERS, .stream = true, .formula = {.base_ms = 3000}},
    };
    struct world *world = routes(1);
    struct acog_request_facts facts = stream();
    world->rows->snapshot.policy.clocks = clocks;
    world->rows->snapshot.policy.clock_count = 3;
    world_run(world, &facts);
    assert_int_equal(world_limit(world, 1, ACOG_CLOCK_CONNECT), 1000);
    assert_int_equal(world_limit(world, 1, ACOG_CLOCK_IDLE), 2000);
    assert_int_equal(world_limit(world, 1, ACOG_CLOCK_HEADERS), 60000);
    assert_int_equal(world_limit(world, 1, ACOG_CLOCK_TOTAL), -1); /* no row: still none */
    world_free(&world);
}

static void answer_no_the_third_time(void *user, const struct acog_ask *ask,
                                     struct acog_answer *answer)
{
    static struct acog_verdict verdict;
    int *asked = user;
    verdict.keep = ++*asked < 3;
    *answer = (struct acog_answer){.count = ask->count, .verdicts = &verdict};
}

static void an_extra_try_that_may_not_be_sent_is_not_asked_for_again(void **state)
{
    (void)state;
    struct world *world = routes(2);
    struct acog_request_facts facts = stream();
    int asked = 0;
    world->answers = answer_no_the_third_time;
    world->user = &asked;
    world->rows->connections[0].usable = ACOG_USABLE_FUNCTION;
    world->rows->connections[1].usable = ACOG_USABLE_FUNCTION;
    world_late(world, "a", 99000);
    world_late(world, "b", 99000);
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,b"); /* S2.21 */
    assert_int_equal(asked, 3);
    assert_true(world->has_error);
    assert_int_equal(world->request.counted_attempts, 2);
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_listed_statuses_move_on),
        cmocka_unit_test(a_fault_of_the_request_is_told_with_the_models_message),
        cmocka_unit_test(what_says_it_cannot_serve_moves_on_whatever_its_status),
        cmocka_unit_test(first_byte_limits_of_streams),
        cmocka_unit_test(first_byte_limits_of_whole_answers),
        cmocka_unit_test(a_slow_route_has_thirty_seconds),
        cmocka_unit_test(one_more_try_for_a_route_that_was_only_slow),
        cmocka_unit_test(it_is_one_try_and_charges_nothing),
        cmocka_unit_test(no_extra_try_once_the_client_has_left),
        cmocka_unit_test(the_extra_try_goes_to_the_one_that_failed_least),
        cmocka_unit_test(the_extra_try_of_a_whole_answer_has_a_formula),
        cmocka_unit_test(three_failures_demote_for_five_minutes),
        cmocka_unit_test(the_floor_in_the_letter_goes_to_the_one_before),
        cmocka_unit_test(the_timed_probe_restores_or_doubles),
        cmocka_unit_test(an_answer_from_the_end_restores_nothing),
        cmocka_unit_test(a_probe_that_is_out_leaves_the_others_at_the_end),
        cmocka_unit_test(an_overload_statement_demotes_at_once),
        cmocka_unit_test(when_all_are_demoted_the_first_to_fail_is_first),
        cmocka_unit_test(faults_of_the_request_do_not_change_the_order),
        cmocka_unit_test(a_probe_taken_after_the_plan_moves_the_route_to_the_end),
        cmocka_unit_test(a_circuit_filter_drops_nothing_where_circuits_demote),
        cmocka_unit_test(the_floor_of_the_letter_is_the_last_ones_while_none_is_demoted),
        cmocka_unit_test(the_floor_lifts_neither_connecting_nor_the_gap_between_bytes),
        cmocka_unit_test(an_extra_try_that_may_not_be_sent_is_not_asked_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
