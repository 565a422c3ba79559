/* onerouter_test.c - S3 as rows: hosts of one model, time to first token as health, hard pins. */
#include "tests/support/check.h"
#include "tests/support/engine_world.h"

#include <string.h>

static struct world *hosts(void)
{
    struct world *world = world_new(ENGINE_POLICY_ONEROUTER);
    engine_rows_add(world->rows, "together", ACOG_CHANNEL_CUSTOM, "m");
    engine_rows_add(world->rows, "groq", ACOG_CHANNEL_CUSTOM, "m");
    return world;
}

static struct acog_request_facts pinned(const char *host)
{
    struct acog_request_facts facts = world_facts("m");
    facts.stream = true;
    facts.pins[0] = acog_view_of(host);
    facts.pin_count = host == NULL ? 0 : 1;
    return facts;
}

static void moves_to_the_next_healthy_host(void **state)
{
    (void)state;
    struct world *world = hosts();
    struct acog_request_facts facts = pinned(NULL);
    world_status(world, "together", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "together,groq"); /* S3.2 */
    assert_true(world->answered);
    world_free(&world);
}

static void a_pin_is_never_quietly_moved(void **state)
{
    (void)state;
    struct world *world = hosts();
    struct acog_request_facts facts = pinned("together");
    world_status(world, "together", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "together");                      /* S3.14 */
    assert_int_equal(world->error.condition, ACOG_CONDITION_PIN_UNMET); /* S3.15 */
    facts = pinned("nobody");
    world_run(world, &facts);
    assert_string_equal(world->tried, "");
    assert_int_equal(world->error.condition, ACOG_CONDITION_PIN_UNMET);
    world_free(&world);
}

static void a_pin_of_several_hosts_fails_over_within_them(void **state)
{
    (void)state;
    struct world *world = hosts();
    engine_rows_add(world->rows, "third", ACOG_CHANNEL_CUSTOM, "m");
    struct acog_request_facts facts = pinned("third");
    facts.pins[1] = ACOG_VIEW("groq");
    facts.pin_count = 2;
    world_status(world, "groq", 500, 1);
    world_run(world, &facts);
    assert_string_equal(world->tried, "groq,third"); /* G3.4 */
    world_free(&world);
}

static void only_time_is_a_timeout(void **state)
{
    (void)state;
    struct world *world = hosts();
    struct acog_request_facts facts = pinned(NULL);
    world_late(world, "together", 99000);
    world_late(world, "groq", 99000);
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_EXHAUSTED_BY_TIME); /* S3.19 */
    assert_int_equal(world_limit(world, 1, ACOG_CLOCK_FIRST_OUTPUT), 30000);
    world_forget_scripts(world);
    world_late(world, "together", 99000);
    world_status(world, "groq", 500, 1);
    world_run(world, &facts);
    assert_int_equal(world->error.condition, ACOG_CONDITION_EXHAUSTED); /* S3.21, G3.2 */
    world_free(&world);
}

static void a_resend_does_not_make_time_out_of_time(void **state)
{
    (void)state;
    struct world *world = hosts();
    struct acog_request_facts facts = pinned(NULL);
    world_reply(
        world, "together",
        (struct world_reply){
            .kind = ACOG_WORLD_FAILS,
            .failure = {.cause = ACOG_CAUSE_CLOSED, .reused_no_byte = true, .retry_after_ms = -1}});
    world_late(world, "together", 99000);
    world_late(world, "groq", 99000);
    world_run(world, &facts);
    assert_string_equal(world->tried, "together,together,groq");
    assert_int_equal(world->error.condition, ACOG_CONDITION_EXHAUSTED_BY_TIME); /* S3.19 */
    world_free(&world);
}

static void the_faster_host_comes_first(void **state)
{
    (void)state;
    struct world *world = hosts();
    struct acog_request_facts facts = pinned(NULL);
    world_late(world, "together", 900);
    world_run(world, &facts);
    assert_string_equal(world->tried, "together");
    world_late(world, "groq", 200);
    world_run(world, &facts);
    assert_string_equal(world->tried, "groq"); /* not known yet: it gets its chance */
    world_run(world, &facts);
    assert_string_equal(world->tried, "groq"); /* S3.10 */
    world_free(&world);
}

static void a_death_after_the_first_token_is_terminal(void **state)
{
    (void)state;
    struct world *world = hosts();
    struct acog_request_facts facts = pinned(NULL);
    world_reply(world, "together",
                (struct world_reply){.kind = ACOG_WORLD_DIES_AFTER_OUTPUT,
                                     .failure = {.cause = ACOG_CAUSE_CUT, .retry_after_ms = -1}});
    world_run(world, &facts);
    assert_string_equal(world->tried, "together"); /* S3.5, S3.9, FIELD-CASES B66 */
    assert_true(world->failed_stream);
    assert_true(world->lost);
    assert_int_equal(world->request.last_class, ACOG_CLASS_DIED_AFTER_COMMIT); /* S3.20 */
    assert_int_equal(world->request.outcome, ACOG_OUTCOME_INCOMPLETE);
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_to_the_next_healthy_host),
        cmocka_unit_test(a_pin_is_never_quietly_moved),
        cmocka_unit_test(a_pin_of_several_hosts_fails_over_within_them),
        cmocka_unit_test(only_time_is_a_timeout),
        cmocka_unit_test(a_resend_does_not_make_time_out_of_time),
        cmocka_unit_test(the_faster_host_comes_first),
        cmocka_unit_test(a_death_after_the_first_token_is_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
