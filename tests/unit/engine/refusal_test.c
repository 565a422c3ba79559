/* refusal_test.c - the policy-block fallback: kept reply, one fallback attempt, replay (S4.24-S4.31, B76). */
#include "tests/support/check.h"
#include "tests/support/engine_world.h"

#include <stdatomic.h>
#include <string.h>

#define MODEL    "claude-haiku-4-5"
#define FALLBACK "claude-opus-4-8"

static struct world *with_fallback_model(void)
{
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_connection *d = engine_rows_connection(world->rows, "d", ACOG_CHANNEL_DIRECT);
    engine_rows_candidate(world->rows, d, MODEL);
    engine_rows_candidate(world->rows, d, FALLBACK);
    engine_rows_add(world->rows, "v", ACOG_CHANNEL_VERTEX, MODEL);
    d->is_default = true;
    return world;
}

static void the_fallback_model_answers(void **state)
{
    (void)state;
    for (int stream = 0; stream <= 1; stream++) {
        struct world *world = with_fallback_model();
        struct acog_request_facts facts = world_facts(MODEL);
        facts.stream = stream == 1;
        world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
        world_run(world, &facts);
        assert_string_equal(world->tried, "d,d"); /* S4.25: same connection */
        assert_int_equal(world->request.fallback, ACOG_FALLBACK_APPLIED); /* S4.27 */
        assert_true(world->answered);
        assert_false(world->replayed);
        assert_int_equal(world->committed_attempt, 2);
        assert_true(acog_view_equal(world->request.attempts[1].model, ACOG_VIEW(FALLBACK)));
        assert_int_equal(world->request.attempts[1].plan_row, ACOG_NO_PLAN_ROW);
        assert_int_equal(atomic_load(&engine_rows_circuit(world->rows, "d")->circuit), 0);
        world_free(&world);
    }
}

static void the_kept_reply_is_dropped_with_the_first_output(void **state)
{
    (void)state;
    struct world *world = with_fallback_model();
    struct acog_request_facts facts = world_facts(MODEL);
    facts.stream = true;
    world_arrive(world, &facts);
    struct acog_failure refusal = {.cause = ACOG_CAUSE_REFUSAL, .retry_after_ms = -1};
    struct acog_event event = {.type = ACOG_EVENT_FAILED, .attempt = 1, .failure = &refusal};
    world_step(world, &event);
    assert_int_equal(world->actions.count, 2);
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_KEEP_REPLY);
    assert_int_equal(world->actions.list[1].type, ACOG_ACTION_DISPATCH);
    world_event(world, ACOG_EVENT_HEADERS, 2);
    assert_int_equal(world->actions.count, 0);
    world_event(world, ACOG_EVENT_FIRST_EVENT, 2);
    assert_int_equal(world->actions.count, 0);
    world_event(world, ACOG_EVENT_OUTPUT, 2);
    assert_int_equal(world->actions.count, 2);
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_DROP_KEPT);
    assert_int_equal(world->actions.list[1].type, ACOG_ACTION_COMMIT);
    world_free(&world);
}

static void every_failure_before_that_replays_the_refusal(void **state)
{
    (void)state;

    static const enum acog_cause causes[] = {ACOG_CAUSE_REFUSAL, ACOG_CAUSE_CONNECT,
                                             ACOG_CAUSE_BAD_ANSWER, ACOG_CAUSE_CUT,
                                             ACOG_CAUSE_GATEWAY};

    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        struct world *world = with_fallback_model();
        struct acog_request_facts facts = world_facts(MODEL);
        world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
        world_cause(world, "d", causes[i], 1);
        world_run(world, &facts);
        assert_string_equal(world->tried, "d,d"); /* once */
        assert_true(world->replayed);             /* S4.29 */
        assert_false(world->has_error);
        assert_int_equal(world->request.fallback, ACOG_FALLBACK_UNAVAILABLE);
        assert_int_equal(world->request.outcome, ACOG_OUTCOME_COMPLETED);
        world_free(&world);
    }
}

static void a_fallback_that_hangs_is_stopped_and_the_refusal_replayed(void **state)
{
    (void)state;
    struct world *world = with_fallback_model();
    struct acog_request_facts facts = world_facts(MODEL);
    facts.stream = true;
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
    world_late(world, "d", 999000);
    world_run(world, &facts);
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_CANCEL);
    assert_int_equal(world->actions.list[1].type, ACOG_ACTION_REPLAY_KEPT);
    assert_int_equal(world->actions.list[1].attempt, 1);
    world_free(&world);
}

static void a_request_for_the_fallback_model_is_skipped_before_its_opt_out(void **state)
{
    (void)state;
    struct world *world = with_fallback_model();
    struct acog_request_facts facts = world_facts(FALLBACK);
    facts.fallback_opt_out = true; /* G4.5 */
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
    world_run(world, &facts);
    assert_int_equal(world->request.fallback, ACOG_FALLBACK_SKIPPED); /* S4.28 */
    assert_true(world->replayed);
    assert_string_equal(world->tried, "d");
    world_free(&world);
}

static void opting_out_replays_without_a_second_call(void **state)
{
    (void)state;
    struct world *world = with_fallback_model();
    struct acog_request_facts facts = world_facts(MODEL);
    facts.fallback_opt_out = true;
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
    world_run(world, &facts);
    assert_int_equal(world->request.fallback, ACOG_FALLBACK_UNAVAILABLE); /* S4.31 */
    assert_string_equal(world->tried, "d");
    world_free(&world);
}

static void another_connection_only_where_the_policy_allows(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts(MODEL);
    engine_rows_add(world->rows, "d", ACOG_CHANNEL_DIRECT, MODEL);
    struct acog_connection *v = engine_rows_connection(world->rows, "v", ACOG_CHANNEL_VERTEX);
    engine_rows_candidate(world->rows, v, MODEL);
    engine_rows_candidate(world->rows, v, FALLBACK);
    engine_rows_add(world->rows, "unseen", ACOG_CHANNEL_CUSTOM, FALLBACK);
    engine_rows_find(world->rows, "d")->is_default = true;
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 2);
    world_run(world, &facts);
    assert_int_equal(world->request.fallback, ACOG_FALLBACK_UNAVAILABLE); /* G4.4 */
    assert_string_equal(world->tried, "d");
    world->rows->snapshot.policy.refusal.same_connection = false;
    world_run(world, &facts);
    assert_int_equal(world->request.fallback, ACOG_FALLBACK_APPLIED);
    assert_string_equal(world->tried, "d,v"); /* S4.18d; never one that no filter has seen */
    world_free(&world);
}

static void it_has_its_own_budget_unless_it_counts(void **state)
{
    (void)state;
    struct world *world = with_fallback_model();
    struct acog_request_facts facts = world_facts(MODEL);
    world->rows->snapshot.policy.attempts.max = 1;
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
    world_run(world, &facts);
    assert_int_equal(world->request.fallback, ACOG_FALLBACK_APPLIED); /* G4.6 */
    world->rows->snapshot.policy.refusal.counts_as_attempt = true;
    world_forget_scripts(world);
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
    world_run(world, &facts);
    assert_int_equal(world->request.fallback, ACOG_FALLBACK_UNAVAILABLE);
    world_free(&world);
}

static void an_open_circuit_of_the_fallback_replays(void **state)
{
    (void)state;
    struct world *world = with_fallback_model();
    struct acog_request_facts facts = world_facts(MODEL);
    world->rows->candidates[1].circuit_cell = 100;
    struct acog_circuit_ticket ticket;
    struct acog_circuit_limits limits = acog_health_limits(&world->rows->snapshot.policy.health);
    assert_true(acog_circuit_take(&world->rows->circuits[100].circuit, 0, false, &ticket));
    acog_circuit_settle(&world->rows->circuits[100].circuit, ticket, ACOG_CIRCUIT_TRIPPED, &limits,
                        0);
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
    world_run(world, &facts);
    assert_int_equal(world->request.fallback, ACOG_FALLBACK_UNAVAILABLE);
    assert_true(world->replayed);
    world_free(&world);
}

static void no_refusal_no_word_about_a_fallback(void **state)
{
    (void)state;
    struct world *world = with_fallback_model();
    struct acog_request_facts facts = world_facts(MODEL);
    world_run(world, &facts);
    assert_int_equal(world->request.fallback, ACOG_FALLBACK_NONE); /* S4.30 */
    world_free(&world);
}

static void a_client_that_leaves_while_the_fallback_runs_ends_it(void **state)
{
    (void)state;
    struct world *world = with_fallback_model();
    struct acog_request_facts facts = world_facts(MODEL);
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
    world_late(world, "d", 5000);
    world->client_leaves_ms = 1000;
    world_run(world, &facts);
    assert_int_equal(world->request.outcome, ACOG_OUTCOME_CANCELLED);
    assert_false(world->replayed);
    assert_int_equal(world_in_flight(world), 0);
    world_free(&world);
}

static void a_connection_that_a_filter_dropped_is_no_fallback(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts(MODEL);
    engine_rows_add(world->rows, "d", ACOG_CHANNEL_DIRECT, MODEL);
    struct acog_connection *v = engine_rows_connection(world->rows, "v", ACOG_CHANNEL_VERTEX);
    engine_rows_candidate(world->rows, v, MODEL);
    engine_rows_candidate(world->rows, v, FALLBACK);
    world->rows->snapshot.policy.refusal.same_connection = false;
    facts.pins[0] = ACOG_VIEW("direct");
    facts.pin_count = 1;
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "d"); /* S4.20: the pin stands */
    assert_int_equal(world->request.fallback, ACOG_FALLBACK_UNAVAILABLE);
    world_free(&world);
}

static void home_comes_before_any_other_connection(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts(MODEL);
    struct acog_connection *v = engine_rows_connection(world->rows, "v", ACOG_CHANNEL_VERTEX);
    engine_rows_candidate(world->rows, v, FALLBACK);
    engine_rows_candidate(world->rows, v, MODEL);
    struct acog_connection *d = engine_rows_connection(world->rows, "d", ACOG_CHANNEL_DIRECT);
    engine_rows_candidate(world->rows, d, MODEL);
    engine_rows_candidate(world->rows, d, FALLBACK);
    d->is_default = true;
    world->rows->snapshot.policy.refusal.same_connection = false;
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "d,d"); /* G4.4 */
    world_free(&world);
}

struct teller {
    uint32_t cannot; /* bits: candidates that the request cannot be told to */
    struct acog_verdict verdicts[ACOG_PLAN_MAX];
    size_t asked_about;
};

static void tell(void *user, const struct acog_ask *ask, struct acog_answer *answer)
{
    struct teller *teller = user;
    assert_int_equal(ask->kind, ACOG_SLOT_TRANSLATION);
    bool fallback = acog_view_equal(ask->model, ACOG_VIEW(FALLBACK));
    for (size_t i = 0; i < ask->count; i++) {
        teller->verdicts[i] = (struct acog_verdict){
            .keep = !fallback || (teller->cannot & ACOG_BIT(ask->candidates[i])) == 0,
            .reason = ACOG_VIEW("tools: it has none")};
    }
    teller->asked_about = fallback ? ask->count : 0;
    *answer = (struct acog_answer){.count = ask->count, .verdicts = teller->verdicts};
}

/* d refuses; the fallback model is at v and w, which speak another dialect, and at o, which speaks none. */
static struct world *with_fallback_in_another_dialect(struct teller *teller)
{
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    static const char *const ids[] = {"v", "o", "w"};
    static const unsigned dialects[] = {ACOG_BIT(ACOG_DIALECT_CHAT), 0,
                                        ACOG_BIT(ACOG_DIALECT_GEMINI)};
    engine_rows_add(world->rows, "d", ACOG_CHANNEL_DIRECT, MODEL);
    for (size_t i = 0; i < 3; i++) {
        struct acog_connection *it =
            engine_rows_connection(world->rows, ids[i], ACOG_CHANNEL_VERTEX);
        engine_rows_candidate(world->rows, it, MODEL);
        engine_rows_candidate(world->rows, it, FALLBACK);
        it->is_default = false;
    }
    world->rows->connections[0].is_default = true;
    world->rows->snapshot.policy.refusal.same_connection = false;
    world->answers = tell;
    world->user = teller;
    world_cause(world, "d", ACOG_CAUSE_REFUSAL, 1);
    for (size_t i = 0; i < 3; i++) {
        world->rows->connections[1 + i].dialects = dialects[i];
    }
    return world;
}

static void a_fallback_in_another_dialect_is_one_that_the_request_can_be_told_to(void **state)
{
    (void)state;

    static const struct {
        uint32_t cannot;
        const char *tried;
    } rows[] = {
        {0, "d,v"},
        {ACOG_BIT(2), "d,w"},
        {ACOG_BIT(2) | ACOG_BIT(6), "d"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct teller teller = {.cannot = rows[i].cannot};
        struct world *world = with_fallback_in_another_dialect(&teller);
        struct acog_request_facts facts = world_facts(MODEL);
        world_run(world, &facts);
        assert_string_equal(world->tried, rows[i].tried);
        assert_int_equal(teller.asked_about, 2);
        assert_int_equal(world->replayed, i == 2);
        assert_int_equal(world->request.fallback,
                         i == 2 ? ACOG_FALLBACK_UNAVAILABLE : ACOG_FALLBACK_APPLIED);
        world_free(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fallback_model_answers),
        cmocka_unit_test(the_kept_reply_is_dropped_with_the_first_output),
        cmocka_unit_test(every_failure_before_that_replays_the_refusal),
        cmocka_unit_test(a_fallback_that_hangs_is_stopped_and_the_refusal_replayed),
        cmocka_unit_test(a_request_for_the_fallback_model_is_skipped_before_its_opt_out),
        cmocka_unit_test(opting_out_replays_without_a_second_call),
        cmocka_unit_test(another_connection_only_where_the_policy_allows),
        cmocka_unit_test(it_has_its_own_budget_unless_it_counts),
        cmocka_unit_test(an_open_circuit_of_the_fallback_replays),
        cmocka_unit_test(no_refusal_no_word_about_a_fallback),
        cmocka_unit_test(a_client_that_leaves_while_the_fallback_runs_ends_it),
        cmocka_unit_test(a_connection_that_a_filter_dropped_is_no_fallback),
        cmocka_unit_test(home_comes_before_any_other_connection),
        cmocka_unit_test(a_fallback_in_another_dialect_is_one_that_the_request_can_be_told_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
