/* engine_test.c - one request's life: the commit ladder, clocks, hang-ups, late events, resends. */
#include "acog/engine.h"

#include "tests/support/check.h"
#include "tests/support/engine_world.h"

#include <stdatomic.h>
#include <string.h>

static struct world *two(enum engine_policy policy)
{
    struct world *world = world_new(policy);
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
    engine_rows_add(world->rows, "b", ACOG_CHANNEL_BEDROCK, "m");
    world->rows->snapshot.policy.backoff.kind = ACOG_BACKOFF_NONE;
    return world;
}

static struct acog_request_facts stream(void)
{
    struct acog_request_facts facts = world_facts("m");
    facts.stream = true;
    return facts;
}

static void outputs(struct world *world, uint32_t attempt, enum acog_output output)
{
    const struct acog_event event = {.type = ACOG_EVENT_OUTPUT,
                                     .attempt = attempt,
                                     .now_ms = world->now_ms,
                                     .outputs = ACOG_BIT(output)};
    world_step(world, &event);
}

static void fails_with(struct world *world, uint32_t attempt, struct acog_failure failure)
{
    const struct acog_event event = {.type = ACOG_EVENT_FAILED,
                                     .attempt = attempt,
                                     .now_ms = world->now_ms,
                                     .failure = &failure};
    world_step(world, &event);
}

static void fails(struct world *world, uint32_t attempt, enum acog_cause cause)
{
    fails_with(world, attempt, (struct acog_failure){.cause = cause, .retry_after_ms = -1});
}

static void ticks_at_the_deadline(struct world *world)
{
    world->now_ms = acog_engine_deadline_ms(&world->request);
    world_event(world, ACOG_EVENT_TICK, 0);
}

/* -- commit ---------------------------------------------------------------------------------------- */

static void each_level_commits_at_its_event(void **state)
{
    (void)state;

    static const enum acog_event_type steps[] = {ACOG_EVENT_CONNECTED, ACOG_EVENT_HEADERS,
                                                 ACOG_EVENT_FIRST_EVENT, ACOG_EVENT_OUTPUT,
                                                 ACOG_EVENT_DONE};

    static const struct {
        enum acog_commit_level level;
        size_t at;
    } rows[] = {
        {ACOG_COMMIT_HEADERS, 1},
        {ACOG_COMMIT_FIRST_EVENT, 2},
        {ACOG_COMMIT_FIRST_OUTPUT, 3},
        {ACOG_COMMIT_ANSWER, 4},
    };

    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct world *world = two(ENGINE_POLICY_ACOG);
        struct acog_request_facts facts = stream();
        world->rows->snapshot.policy.commit.stream = rows[row].level;
        world_arrive(world, &facts);
        for (size_t i = 0; i < 5; i++) {
            world_event(world, steps[i], 1);
            assert_int_equal(world_said(world, ACOG_ACTION_COMMIT), i == rows[row].at);
        }
        assert_true(world->answered); /* D9 */
        world_free(&world);
    }
}

static void only_what_the_policy_calls_output_commits(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ROUTERPLUS);
    struct acog_request_facts facts = stream();
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_HEADERS, 1);
    outputs(world, 1, ACOG_OUTPUT_USAGE); /* G0.8: held back */
    assert_false(world->request.committed);
    fails(world, 1, ACOG_CAUSE_CUT);
    assert_string_equal(world->tried, "a,b"); /* S0.27: it had reported usage */
    assert_int_equal(world->request.attempts[0].outcome, ACOG_OUTCOME_INCOMPLETE); /* G0.6 */
    outputs(world, 2, ACOG_OUTPUT_REASONING);
    assert_true(world_said(world, ACOG_ACTION_COMMIT)); /* B74: reasoning is output */
    world_free(&world);
}

static void after_commit_nothing_is_dialled_again(void **state)
{
    (void)state;

    static const struct {
        enum acog_cause cause;
        bool lost;
    } rows[] = {
        {ACOG_CAUSE_STREAM_ERROR, false}, {ACOG_CAUSE_CUT, true},     {ACOG_CAUSE_CLOSED, true},
        {ACOG_CAUSE_BAD_ANSWER, true},    {ACOG_CAUSE_GATEWAY, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *world = two(ENGINE_POLICY_ACOG);
        struct acog_request_facts facts = stream();
        world_arrive(world, &facts);
        outputs(world, 1, ACOG_OUTPUT_TEXT);
        fails(world, 1, rows[i].cause);
        assert_string_equal(world->tried, "a"); /* S0.25, S0.26, FIELD-CASES B66 */
        assert_int_equal(world->actions.count, 2);
        assert_int_equal(world->actions.list[0].type, ACOG_ACTION_FAIL_STREAM);
        assert_int_equal(world->actions.list[0].lost, rows[i].lost);
        assert_int_equal(world->actions.list[1].type, ACOG_ACTION_FINISH);
        assert_int_equal(world->request.outcome, ACOG_OUTCOME_INCOMPLETE); /* S0.81 */
        struct acog_circuit_limits limits =
            acog_health_limits(&world->rows->snapshot.policy.health);
        assert_int_equal(
            acog_circuit_look(&engine_rows_circuit(world->rows, "a")->circuit, &limits, 0).failures,
            1);
        world_free(&world);
    }
}

static void a_full_hold_buffer_commits_or_fails_as_the_policy_says(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_HEADERS, 1);
    world_event(world, ACOG_EVENT_HELD_FULL, 1);
    assert_true(world_said(world, ACOG_ACTION_COMMIT));
    world_event(world, ACOG_EVENT_HELD_FULL, 1);
    assert_int_equal(world->actions.count, 0);
    world->rows->snapshot.policy.commit.fail_when_full = true;
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_HELD_FULL, 1);
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_CANCEL);
    assert_true(world->has_error);
    assert_int_equal(world->request.attempts[0].cause, ACOG_CAUSE_HELD_FULL);
    world_free(&world);
}

static void a_stream_that_ends_before_output_is_a_complete_answer(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_HEADERS, 1);
    world_event(world, ACOG_EVENT_DONE, 1);
    assert_int_equal(world->actions.count, 3);
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_COMMIT);
    assert_int_equal(world->actions.list[1].type, ACOG_ACTION_END_REPLY);
    assert_int_equal(world->actions.list[2].outcome, ACOG_OUTCOME_COMPLETED);
    world_free(&world);
}

/* -- clocks ---------------------------------------------------------------------------------------- */

static void each_clock_stops_at_its_event(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    world->now_ms = 1000;
    world_arrive(world, &facts);
    assert_int_equal(acog_engine_deadline_ms(&world->request), 11000); /* connect 10 s */
    world->now_ms = 2000;
    world_event(world, ACOG_EVENT_CONNECTED, 1);
    assert_int_equal(acog_engine_deadline_ms(&world->request), 61000); /* headers 60 s */
    world->now_ms = 3000;
    world_event(world, ACOG_EVENT_HEADERS, 1);
    assert_int_equal(acog_engine_deadline_ms(&world->request), 63000); /* idle 60 s */
    world->now_ms = 50000;
    world_event(world, ACOG_EVENT_ACTIVITY, 1);
    assert_int_equal(acog_engine_deadline_ms(&world->request), 110000);
    world->now_ms = 100000;
    world_event(world, ACOG_EVENT_ACTIVITY, 1); /* B73c: pings do not move this one */
    assert_int_equal(acog_engine_deadline_ms(&world->request), 121000); /* first output 120 s */
    outputs(world, 1, ACOG_OUTPUT_TEXT);
    assert_int_equal(acog_engine_deadline_ms(&world->request), 160000);
    world_free(&world);
}

static void a_stream_lives_as_long_as_it_moves(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_HEADERS, 1);
    for (int i = 0; i < 90; i++) { /* FIELD-CASES B74 */
        outputs(world, 1, ACOG_OUTPUT_REASONING);
        world->now_ms += 59000;
        world_event(world, ACOG_EVENT_TICK, 0);
        assert_int_equal(world->request.state, ACOG_REQUEST_COMMITTED);
    }
    world->now_ms += 1000;
    world_event(world, ACOG_EVENT_TICK, 0); /* B73d */
    assert_int_equal(world->actions.count, 3);
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_FAIL_STREAM);
    assert_true(world->actions.list[0].lost);
    assert_int_equal(world->actions.list[1].type, ACOG_ACTION_CANCEL);
    assert_int_equal(world->request.attempts[0].clock, ACOG_CLOCK_IDLE);
    world_free(&world);
}

static void silence_before_output_tries_the_next(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_CONNECTED, 1);
    ticks_at_the_deadline(world); /* B73a */
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_CANCEL);
    assert_int_equal(world->actions.list[1].type, ACOG_ACTION_DISPATCH);
    assert_int_equal(world->now_ms, 60000);
    world_event(world, ACOG_EVENT_HEADERS, 2);
    ticks_at_the_deadline(world);            /* B73b */
    assert_int_equal(world->now_ms, 120000); /* a time of its own */
    assert_string_equal(world->tried, "a,b,b");
    world_free(&world);
}

static void an_early_tick_does_nothing(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    world_arrive(world, &facts);
    world->now_ms = acog_engine_deadline_ms(&world->request) - 1;
    world_event(world, ACOG_EVENT_TICK, 0);
    assert_int_equal(world->actions.count, 0);
    world_free(&world);
}

static void whole_answers_have_their_own_limits(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts("m");
    facts.max_tokens = 1000;
    world_arrive(world, &facts);
    assert_int_equal(world_limit(world, 1, ACOG_CLOCK_TOTAL), 110000); /* 60 s + 1000/20 s */
    assert_int_equal(world_limit(world, 1, ACOG_CLOCK_HEADERS), -1);
    assert_int_equal(world_limit(world, 1, ACOG_CLOCK_IDLE), 60000);
    world_free(&world);
}

static void time_never_runs_backwards(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    world->now_ms = 5000;
    world_arrive(world, &facts);
    world->now_ms = 4000;
    world_event(world, ACOG_EVENT_HEADERS, 1);
    assert_int_equal(world->request.attempts[0].headers_at_ms, 5000);
    world_free(&world);
}

/* -- hang-ups -------------------------------------------------------------------------------------- */

static void a_client_that_leaves_stops_everything(void **state)
{
    (void)state;
    for (int committed = 0; committed <= 1; committed++) {
        struct world *world = two(ENGINE_POLICY_ACOG);
        struct acog_request_facts facts = stream();
        world_arrive(world, &facts);
        if (committed == 1) {
            outputs(world, 1, ACOG_OUTPUT_TEXT);
        }
        world_event(world, ACOG_EVENT_CLIENT_GONE, 0);
        assert_int_equal(world->actions.count, 2); /* FIELD-CASES B62 */
        assert_int_equal(world->actions.list[0].type, ACOG_ACTION_CANCEL);
        assert_int_equal(world->actions.list[1].outcome, ACOG_OUTCOME_CANCELLED);
        assert_int_equal(world->request.attempts[0].outcome, ACOG_OUTCOME_CANCELLED);
        assert_int_equal(atomic_load(&engine_rows_circuit(world->rows, "a")->circuit), 0);
        assert_int_equal(world_in_flight(world), 0);
        world_free(&world);
    }
}

static void a_client_that_leaves_during_a_backoff_ends_it(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    world->rows->snapshot.policy.backoff.kind = ACOG_BACKOFF_RANDOM;
    world_arrive(world, &facts);
    fails(world, 1, ACOG_CAUSE_CONNECT);
    assert_int_equal(world->request.state, ACOG_REQUEST_WAITING);
    world_event(world, ACOG_EVENT_CLIENT_GONE, 0);
    assert_int_equal(world->actions.count, 1);
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_FINISH);
    assert_int_equal(acog_engine_deadline_ms(&world->request), INT64_MAX);
    world_free(&world);
}

static void a_drain_reads_on_for_a_while(void **state)
{
    (void)state;

    static const struct {
        enum acog_event_type end;
        enum acog_outcome attempt;
    } rows[] = {
        {ACOG_EVENT_DONE, ACOG_OUTCOME_COMPLETED}, /* S2.46 */
        {ACOG_EVENT_TICK, ACOG_OUTCOME_CANCELLED}, /* S2.47 */
        {ACOG_EVENT_FAILED, ACOG_OUTCOME_CANCELLED},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *world = two(ENGINE_POLICY_KONTINENT);
        struct acog_request_facts facts = stream();
        world_arrive(world, &facts);
        outputs(world, 1, ACOG_OUTPUT_TEXT);
        world_event(world, ACOG_EVENT_CLIENT_GONE, 0);
        assert_int_equal(world->actions.count, 0);
        assert_int_equal(world->request.state, ACOG_REQUEST_DRAINING);
        assert_int_equal(acog_engine_deadline_ms(&world->request), 15000); /* S2.45 */
        world_event(world, ACOG_EVENT_ACTIVITY, 1);
        world->now_ms = 15000;
        if (rows[i].end == ACOG_EVENT_FAILED) {
            fails(world, 1, ACOG_CAUSE_CUT);
        } else {
            world_event(world, rows[i].end, 1);
        }
        assert_int_equal(world->request.state, ACOG_REQUEST_ENDED);
        assert_int_equal(world->request.outcome, ACOG_OUTCOME_CANCELLED);
        assert_int_equal(world->request.attempts[0].outcome, rows[i].attempt);
        assert_false(world->answered);
        assert_false(world->failed_stream);
        assert_int_equal(world_in_flight(world), 0);
        world_free(&world);
    }
}

static void a_whole_answer_is_not_drained(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_KONTINENT);
    struct acog_request_facts facts = world_facts("m");
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_CLIENT_GONE, 0);
    assert_true(world_said(world, ACOG_ACTION_CANCEL));
    world_free(&world);
}

/* -- late events and resends ----------------------------------------------------------------------- */

static void events_of_ended_attempts_mean_nothing(void **state)
{
    (void)state;

    static const enum acog_event_type late[] = {
        ACOG_EVENT_CONNECTED, ACOG_EVENT_HEADERS,   ACOG_EVENT_FIRST_EVENT, ACOG_EVENT_OUTPUT,
        ACOG_EVENT_ACTIVITY,  ACOG_EVENT_HELD_FULL, ACOG_EVENT_DONE};
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    world_arrive(world, &facts);
    fails(world, 1, ACOG_CAUSE_CONNECT);
    for (size_t i = 0; i < sizeof late / sizeof late[0]; i++) {
        world_event(world, late[i], 1);
        assert_int_equal(world->actions.count, 0);
    }
    fails(world, 1, ACOG_CAUSE_CUT);
    fails(world, 7, ACOG_CAUSE_CUT);
    fails(world, 0, ACOG_CAUSE_CUT);
    assert_int_equal(world->actions.count, 0);
    assert_int_equal(world->request.current, 2);
    world_event(world, ACOG_EVENT_DONE, 2);
    world_event(world, ACOG_EVENT_DONE, 2);
    world_event(world, ACOG_EVENT_CLIENT_GONE, 0);
    assert_int_equal(world->actions.count, 0);
    world_free(&world);
}

static void a_dead_reused_connection_is_sent_to_again(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    const struct acog_failure dead = {
        .cause = ACOG_CAUSE_CLOSED, .reused_no_byte = true, .retry_after_ms = -1};
    world_arrive(world, &facts);
    world->now_ms = 10;
    fails_with(world, 1, dead);
    assert_int_equal(world->actions.count, 2);
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_CANCEL);
    assert_int_equal(world->actions.list[1].type, ACOG_ACTION_DISPATCH);
    assert_true(world->actions.list[1].dispatch.resend);
    assert_string_equal(world->tried, "a,a");
    assert_int_equal(world->request.counted_attempts, 1);
    assert_int_equal(atomic_load(&engine_rows_circuit(world->rows, "a")->circuit), 0);
    assert_int_equal(world_in_flight(world), 1);
    assert_int_equal(acog_engine_deadline_ms(&world->request), 10010); /* its own clocks */
    fails_with(world, 2, dead); /* once: then it is a failure like any other */
    assert_string_equal(world->tried, "a,a,b");
    assert_int_equal(world->request.counted_attempts, 2);
    world_free(&world);
}

static void a_resent_probe_stays_the_probe(void **state)
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
    fails_with(world, 1,
               (struct acog_failure){
                   .cause = ACOG_CAUSE_CLOSED, .reused_no_byte = true, .retry_after_ms = -1});
    assert_true(world->request.attempts[1].ticket.probe);
    world_event(world, ACOG_EVENT_DONE, 2);
    struct acog_circuit_limits limits = acog_health_limits(&world->rows->snapshot.policy.health);
    assert_int_equal(
        acog_circuit_look(&engine_rows_circuit(world->rows, "a")->circuit, &limits, 0).state,
        ACOG_CIRCUIT_CLOSED);
    world_free(&world);
}

static void sixteen_attempts_are_the_end(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts("m");
    world->rows->snapshot.policy.attempts.max = 0;
    world->rows->snapshot.policy.health.mode = ACOG_HEALTH_OFF;
    world_cause(world, "a", ACOG_CAUSE_CONNECT, WORLD_REPLIES_MAX);
    world_cause(world, "b", ACOG_CAUSE_CONNECT, WORLD_REPLIES_MAX);
    world_run(world, &facts);
    assert_int_equal(world->request.attempt_count, ACOG_ATTEMPTS_MAX);
    assert_true(world->has_error);
    world_free(&world);
}

static void the_same_one_first_as_often_as_the_class_says(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts("m");
    struct acog_policy *policy = &world->rows->snapshot.policy;
    policy->attempts.max = 0;
    policy->classes[ACOG_CLASS_NETWORK].same = ACOG_SAME_FIRST;
    policy->classes[ACOG_CLASS_NETWORK].same_max = 2;
    world_cause(world, "a", ACOG_CAUSE_CONNECT, 3);
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,a,a,b");
    world_free(&world);
}

static void a_failed_attempt_is_kept_until_the_next_dispatch(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts("m");
    world->rows->snapshot.policy.backoff.kind = ACOG_BACKOFF_RANDOM;
    world_arrive(world, &facts);
    fails_with(
        world, 1,
        (struct acog_failure){.cause = ACOG_CAUSE_STATUS, .status = 503, .retry_after_ms = -1});
    assert_int_equal(world->actions.count, 0); /* its body may still be the answer */
    ticks_at_the_deadline(world);
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_CANCEL);
    assert_int_equal(world->actions.list[1].type, ACOG_ACTION_DISPATCH);
    fails_with(
        world, 2,
        (struct acog_failure){.cause = ACOG_CAUSE_STATUS, .status = 400, .retry_after_ms = -1});
    assert_int_equal(world->actions.list[0].type, ACOG_ACTION_ANSWER_ERROR);
    assert_int_equal(world->error.attempt, 2);
    assert_int_equal(world->cancels, 1);
    world_free(&world);
}

/* When "a" fails once in place and "b" is next: the pauses before the second and the third attempt. */
static void check_pauses(enum acog_pause pause, int64_t same_ms, int64_t next_ms)
{
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts("m");
    struct acog_policy *policy = &world->rows->snapshot.policy;
    const struct acog_failure busy = {
        .cause = ACOG_CAUSE_STATUS, .status = 500, .retry_after_ms = -1};
    policy->backoff =
        (struct acog_backoff){.kind = ACOG_BACKOFF_RANDOM, .ms_min = 200, .ms_max = 200};
    policy->classes[ACOG_CLASS_SERVER_ERROR].same = ACOG_SAME_FIRST;
    policy->classes[ACOG_CLASS_SERVER_ERROR].same_max = 1;
    policy->classes[ACOG_CLASS_SERVER_ERROR].pause = pause;
    world_reply(world, "a", (struct world_reply){.kind = ACOG_WORLD_FAILS, .failure = busy});
    world_reply(world, "a", (struct world_reply){.kind = ACOG_WORLD_FAILS, .failure = busy});
    world_run(world, &facts);
    const struct acog_attempt_row *attempts = world->request.attempts;
    assert_string_equal(world->tried, "a,a,b");
    assert_int_equal(attempts[1].dispatched_at_ms - attempts[0].dispatched_at_ms, same_ms);
    assert_int_equal(attempts[2].dispatched_at_ms - attempts[1].dispatched_at_ms, next_ms);
    world_free(&world);
}

static void a_class_says_when_the_backoff_is_waited_for(void **state)
{
    (void)state;
    check_pauses(ACOG_PAUSE_ALWAYS, 200, 200);
    check_pauses(ACOG_PAUSE_SAME, 200, 0);
    check_pauses(ACOG_PAUSE_NEVER, 0, 0);
}

static void the_first_output_time_is_a_moving_mean(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
    world_late(world, "a", 800);
    world_run(world, &facts);
    assert_int_equal(atomic_load(&engine_rows_spread(world->rows, "a")->first_output_ms), 800);
    world_late(world, "a", 1600);
    world_run(world, &facts);
    assert_int_equal(atomic_load(&engine_rows_spread(world->rows, "a")->first_output_ms), 900);
    facts.stream = false;
    world_arrive(world, &facts);
    world->now_ms += 9000;
    outputs(world, 1, ACOG_OUTPUT_TEXT); /* of a whole answer: another measure */
    world_event(world, ACOG_EVENT_DONE, 1);
    assert_true(world->answered);
    assert_int_equal(atomic_load(&engine_rows_spread(world->rows, "a")->first_output_ms), 900);
    world_free(&world);
}

static void a_sole_candidate_is_used_again_so_often_and_no_more(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts("m");
    struct acog_policy *policy = &world->rows->snapshot.policy;
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
    policy->attempts.max = 0;
    policy->classes[ACOG_CLASS_NETWORK].same_max = 1;
    world_cause(world, "a", ACOG_CAUSE_CONNECT, 9);
    world_run(world, &facts);
    assert_string_equal(world->tried, "a,a");
    world_free(&world);
}

static void commit_stops_the_clocks_that_wait_for_a_beginning(void **state)
{
    (void)state;
    struct world *world = two(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = stream();
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_HEADERS, 1);
    world_event(world, ACOG_EVENT_HELD_FULL, 1); /* committed without any output */
    world->now_ms = 59000;
    world_event(world, ACOG_EVENT_ACTIVITY, 1);
    world->now_ms = 118000;
    world_event(world, ACOG_EVENT_ACTIVITY, 1);
    assert_int_equal(acog_engine_deadline_ms(&world->request), 178000); /* S3.7: idle alone */
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level_commits_at_its_event),
        cmocka_unit_test(only_what_the_policy_calls_output_commits),
        cmocka_unit_test(after_commit_nothing_is_dialled_again),
        cmocka_unit_test(a_full_hold_buffer_commits_or_fails_as_the_policy_says),
        cmocka_unit_test(a_stream_that_ends_before_output_is_a_complete_answer),
        cmocka_unit_test(each_clock_stops_at_its_event),
        cmocka_unit_test(a_stream_lives_as_long_as_it_moves),
        cmocka_unit_test(silence_before_output_tries_the_next),
        cmocka_unit_test(an_early_tick_does_nothing),
        cmocka_unit_test(whole_answers_have_their_own_limits),
        cmocka_unit_test(time_never_runs_backwards),
        cmocka_unit_test(a_client_that_leaves_stops_everything),
        cmocka_unit_test(a_client_that_leaves_during_a_backoff_ends_it),
        cmocka_unit_test(a_drain_reads_on_for_a_while),
        cmocka_unit_test(a_whole_answer_is_not_drained),
        cmocka_unit_test(events_of_ended_attempts_mean_nothing),
        cmocka_unit_test(a_dead_reused_connection_is_sent_to_again),
        cmocka_unit_test(a_resent_probe_stays_the_probe),
        cmocka_unit_test(sixteen_attempts_are_the_end),
        cmocka_unit_test(the_same_one_first_as_often_as_the_class_says),
        cmocka_unit_test(a_failed_attempt_is_kept_until_the_next_dispatch),
        cmocka_unit_test(a_class_says_when_the_backoff_is_waited_for),
        cmocka_unit_test(the_first_output_time_is_a_moving_mean),
        cmocka_unit_test(a_sole_candidate_is_used_again_so_often_and_no_more),
        cmocka_unit_test(commit_stops_the_clocks_that_wait_for_a_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
