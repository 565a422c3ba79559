/* rolter_test.c - S1 as rows: restricted targets answer only the failures that they take over. */
#include "tests/support/check.h"
#include "tests/support/engine_world.h"

#include <string.h>

static struct world *cheap_and_premium(const char *takes_over)
{
    struct world *world = world_new(ENGINE_POLICY_ROLTER);
    engine_rows_add(world->rows, "premium", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "cheap", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_takes_over(world->rows, "premium", takes_over);
    return world;
}

static void refuses(struct world *world, const char *id, const char *code, const char *category)
{
    world_reply(world, id,
                (struct world_reply){.kind = ACOG_WORLD_FAILS,
                                     .failure = {.cause = ACOG_CAUSE_STATUS,
                                                 .status = 400,
                                                 .shapes = ACOG_BIT(ACOG_SHAPE_REFUSAL),
                                                 .code = acog_view_of(code),
                                                 .categories = {acog_view_of(category)},
                                                 .category_count = category == NULL ? 0 : 1,
                                                 .retry_after_ms = -1}});
}

static bool reason_is(const struct world *world, const char *reason)
{
    return acog_view_equal(world->request.fallback_reason, acog_view_of(reason));
}

static void a_restricted_target_is_never_dialled_first(void **state)
{
    (void)state;
    struct world *world = cheap_and_premium("refusal");
    struct acog_request_facts facts = world_facts("m");
    engine_rows_find(world->rows, "premium")->weight = 1000;
    for (int i = 0; i < 8; i++) {
        world->rows->snapshot.policy.spread =
            i < 4 ? ACOG_SPREAD_ROUND_ROBIN : ACOG_SPREAD_WEIGHTED;
        world_run(world, &facts);
        assert_string_equal(world->tried, "cheap"); /* S1.3, S1.4 */
        assert_true(reason_is(world, ""));          /* S1.22 */
    }
    world_free(&world);
}

static void it_follows_a_failure_that_it_takes_over(void **state)
{
    (void)state;
    struct world *world = cheap_and_premium("refusal");
    struct acog_request_facts facts = world_facts("m");
    refuses(world, "cheap", "content_policy_violation", NULL);
    world_run(world, &facts);
    assert_string_equal(world->tried, "cheap,premium"); /* S1.5, S1.10i */
    assert_true(reason_is(world, "refusal:content_policy_violation"));
    world_status(world, "cheap", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "cheap"); /* S1.10iii */
    assert_true(world->error.by_class);
    world_status(world, "cheap", 451, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "cheap,premium"); /* S1.13, G1.6 */
    assert_true(reason_is(world, "refusal"));
    world_status(world, "cheap", 400, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "cheap"); /* S1.14 */
    assert_int_equal(world->error.relay, ACOG_RELAY_VERBATIM);
    world_free(&world);
}

static void a_refusal_never_goes_to_an_ordinary_target(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROLTER);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "cheap", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "other", ACOG_CHANNEL_CUSTOM, "m");
    refuses(world, "cheap", "content_filter", NULL);
    world_run(world, &facts);
    assert_string_equal(world->tried, "cheap"); /* S1.11, S1.12 */
    assert_int_equal(world->error.relay, ACOG_RELAY_VERBATIM);
    assert_int_equal(world->error.attempt, 1);
    world_free(&world);
}

static void a_category_takes_over_only_itself(void **state)
{
    (void)state;

    static const struct {
        const char *takes_over;
        const char *category;
        bool moves;
    } rows[] = {
        {"refusal:hate", "violence", false}, /* S1.16 */
        {"refusal:hate", "hate", true},
        {"refusal:self_harm", "self-harm", true}, /* G1.4 */
        {"refusal:self_harm", "Self Harm", true},
        {"refusal", "violence", true},
        {"refusal:content_filter", "violence", true}, /* the code is a category: S1.15 */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *world = cheap_and_premium(rows[i].takes_over);
        struct acog_request_facts facts = world_facts("m");
        refuses(world, "cheap", "content_filter", rows[i].category);
        world_run(world, &facts);
        assert_string_equal(world->tried, rows[i].moves ? "cheap,premium" : "cheap");
        world_free(&world);
    }
}

static void a_burst_target_is_reached_by_throttling_and_timeouts_only(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROLTER);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "main", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "burst", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_takes_over(world->rows, "burst", "throttled");
    engine_rows_takes_over(world->rows, "burst", "timeout");
    world_status(world, "main", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "main"); /* S1.10ii */
    world_status(world, "main", 429, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "main,burst"); /* S1.18 */
    assert_true(reason_is(world, "throttled"));
    world_late(world, "main", 61000);
    world_run(world, &facts);
    assert_string_equal(world->tried, "main,burst");
    assert_true(reason_is(world, "timeout"));
    world_free(&world);
}

static void taking_over_spends_a_retry(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROLTER);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "main", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "n2", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "n3", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "burst", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_takes_over(world->rows, "burst", "throttled");
    world_status(world, "main", 429, 1);
    world_status(world, "n2", 503, 1);
    world_status(world, "n3", 503, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "main,n2,n3"); /* S1.6, S1.7, decision 7 */
    world_free(&world);
}

static void the_place_of_restricted_successors_is_policy(void **state)
{
    (void)state;

    static const struct {
        enum acog_restricted_place place;
        const char *tried;
    } rows[] = {
        {ACOG_RESTRICTED_DECLARED_ORDER, "main,burst"},
        {ACOG_RESTRICTED_FIRST, "main,burst"},
        {ACOG_RESTRICTED_LAST, "main,other"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *world = world_new(ENGINE_POLICY_ROLTER);
        struct acog_request_facts facts = world_facts("m");
        engine_rows_add(world->rows, "main", ACOG_CHANNEL_CUSTOM, "m");
        engine_rows_add(world->rows, "burst", ACOG_CHANNEL_CUSTOM, "m");
        engine_rows_add(world->rows, "other", ACOG_CHANNEL_CUSTOM, "m");
        engine_rows_takes_over(world->rows, "burst", "throttled");
        world->rows->snapshot.policy.attempts.restricted = rows[i].place;
        world_status(world, "main", 429, 1);
        world_run(world, &facts);
        assert_string_equal(world->tried, rows[i].tried); /* G1.2 */
        world_free(&world);
    }
}

static void a_refusal_in_a_200_is_an_answer(void **state)
{
    (void)state;
    struct world *world = cheap_and_premium("refusal");
    struct acog_request_facts facts = world_facts("m");
    world_cause(world, "cheap", ACOG_CAUSE_REFUSAL, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "cheap"); /* S1.26 */
    assert_true(world->answered);
    assert_int_equal(world->request.fallback, ACOG_FALLBACK_NONE);
    world_free(&world);
}

static void when_all_circuits_are_open_it_fails_open(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROLTER);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_CUSTOM, "m");
    world_status(world, "a", 500, 5);
    for (int i = 0; i < 5; i++) {
        world_run(world, &facts);
    }
    world_run(world, &facts);
    assert_string_equal(world->tried, "a"); /* C-10 */
    assert_true(world->request.fail_open);
    assert_true(world->request.plan[0].forced);
    assert_true(world->answered);
    world_run(world, &facts); /* that answer closed it: nobody waits for a probe */
    assert_false(world->request.fail_open);
    world_free(&world);
}

static void only_restricted_targets_left_serve_nothing(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROLTER);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "premium", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_takes_over(world->rows, "premium", "refusal");
    world_run(world, &facts);
    assert_string_equal(world->tried, "");
    assert_true(world->has_error);
    assert_int_equal(world->request.plan[0].filter, 2);
    world_free(&world);
}

static void backs_off_by_the_429s_retry_after_or_by_chance(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ROLTER);
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "b", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "c", ACOG_CHANNEL_CUSTOM, "m");
    struct acog_failure throttled = {
        .cause = ACOG_CAUSE_STATUS, .status = 429, .retry_after_ms = 99000};
    struct acog_event failed = {.type = ACOG_EVENT_FAILED, .attempt = 1, .failure = &throttled};
    world_arrive(world, &facts);
    world_step(world, &failed);
    assert_int_equal(world->request.state, ACOG_REQUEST_WAITING);
    assert_int_equal(acog_engine_deadline_ms(&world->request), 30000); /* C-9: capped */
    world->now_ms = 30000;
    world_event(world, ACOG_EVENT_TICK, 0);
    throttled.retry_after_ms = -1;
    failed.attempt = 2;
    failed.now_ms = world->now_ms;
    world_step(world, &failed);
    int64_t wait_ms = acog_engine_deadline_ms(&world->request) - world->now_ms;
    assert_true(wait_ms >= 0 && wait_ms <= 200); /* 100 doubled once, full jitter */
    world_free(&world);
}

static void only_a_429_sets_the_backoff(void **state)
{
    (void)state;
    int64_t longest_ms = 0;
    for (int i = 0; i < 200; i++) {
        struct world *world = world_new(ENGINE_POLICY_ROLTER);
        struct acog_request_facts facts = world_facts("m");
        world->seed = (uint64_t)i;
        engine_rows_add(world->rows, "a", ACOG_CHANNEL_CUSTOM, "m");
        engine_rows_add(world->rows, "b", ACOG_CHANNEL_CUSTOM, "m");
        engine_rows_add(world->rows, "c", ACOG_CHANNEL_CUSTOM, "m");
        struct acog_failure busy = {
            .cause = ACOG_CAUSE_STATUS, .status = 503, .retry_after_ms = 9000};
        world_reply(world, "a", (struct world_reply){.kind = ACOG_WORLD_FAILS, .failure = busy});
        world_reply(world, "b", (struct world_reply){.kind = ACOG_WORLD_FAILS, .failure = busy});
        world_run(world, &facts);
        int64_t first_ms = world->request.attempts[1].dispatched_at_ms;
        int64_t second_ms = world->request.attempts[2].dispatched_at_ms - first_ms;
        assert_true(first_ms <= 100); /* C-9: 100 ms, then doubled */
        assert_true(second_ms <= 200);
        longest_ms = second_ms > longest_ms ? second_ms : longest_ms;
        world_free(&world);
    }
    assert_true(longest_ms > 150);
}

static void open_ordinary_targets_leave_the_restricted_one_alone(void **state)
{
    (void)state;

    static const enum acog_all_open modes[] = {ACOG_ALL_OPEN_REFUSE, ACOG_ALL_OPEN_FAIL_OPEN};

    for (size_t i = 0; i < 2; i++) {
        struct world *world = cheap_and_premium("refusal");
        struct acog_request_facts facts = world_facts("m");
        world->rows->snapshot.policy.health.all_open = modes[i];
        world->rows->snapshot.policy.health.threshold = 1;
        world_status(world, "cheap", 500, 1);
        world_run(world, &facts);
        world_run(world, &facts);
        assert_string_equal(world->tried, i == 0 ? "" : "cheap"); /* S1.3, C-10 */
        assert_int_equal(world->request.kept_count, i == 0 ? 0 : 2);
        world_free(&world);
    }
}

static void a_restricted_target_takes_no_share_of_the_spread(void **state)
{
    (void)state;
    struct world *world = cheap_and_premium("refusal");
    struct acog_request_facts facts = world_facts("m");
    engine_rows_add(world->rows, "other", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_find(world->rows, "premium")->weight = 5;
    world->rows->snapshot.policy.spread = ACOG_SPREAD_ROUND_ROBIN;
    size_t cheap = 0;
    for (int i = 0; i < 20; i++) {
        world_run(world, &facts);
        cheap += strcmp(world->tried, "cheap") == 0 ? 1U : 0U;
    }
    assert_int_equal(cheap, 10); /* S1.4, S1.8 */
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_restricted_target_is_never_dialled_first),
        cmocka_unit_test(it_follows_a_failure_that_it_takes_over),
        cmocka_unit_test(a_refusal_never_goes_to_an_ordinary_target),
        cmocka_unit_test(a_category_takes_over_only_itself),
        cmocka_unit_test(a_burst_target_is_reached_by_throttling_and_timeouts_only),
        cmocka_unit_test(taking_over_spends_a_retry),
        cmocka_unit_test(the_place_of_restricted_successors_is_policy),
        cmocka_unit_test(a_refusal_in_a_200_is_an_answer),
        cmocka_unit_test(when_all_circuits_are_open_it_fails_open),
        cmocka_unit_test(only_restricted_targets_left_serve_nothing),
        cmocka_unit_test(backs_off_by_the_429s_retry_after_or_by_chance),
        cmocka_unit_test(only_a_429_sets_the_backoff),
        cmocka_unit_test(open_ordinary_targets_leave_the_restricted_one_alone),
        cmocka_unit_test(a_restricted_target_takes_no_share_of_the_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
