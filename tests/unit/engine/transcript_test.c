/* transcript_test.c - what the stories of tests/golden do not show: every action's words, hostile texts, a full buffer. */
#include "acog/engine.h"
#include "tests/support/check.h"
#include "tests/support/engine_world.h"

#include <string.h>

static bool renders(struct world *world, const struct acog_event *event, const char *wanted)
{
    struct acog_buffer out;
    acog_buffer_init(&out, 4096);
    world_step(world, event);
    bool fine = acog_transcript_step(&out, &world->rows->snapshot, &world->request, event,
                                     &world->actions) == ACOG_OK;
    bool same = fine && acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted));
    if (!same) {
        print_message("%.*s", ACOG_VIEW_FMT(acog_buffer_view(&out)));
    }
    acog_buffer_fini(&out);
    return same;
}

static void words_from_outside_stay_words(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts("a\r\n    commit 1\xff, very");
    facts.pins[0] = ACOG_VIEW("");
    facts.pin_count = 1;
    const struct acog_event arrived = {.type = ACOG_EVENT_ARRIVED,
                                       .arrived = {.facts = &facts, .seed = 7}};
    assert_true(renders(world, &arrived,
                        "+0 arrived messages whole model=a??????commit?1???very pin=- seed=7\n"
                        "    answer_error unknown_model\n"
                        "    finish failed\n"));
    world_free(&world);
}

static void a_long_word_is_cut(void **state)
{
    (void)state;
    char model[500];
    memset(model, 'm', sizeof model - 1);
    model[sizeof model - 1] = '\0';
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts(model);
    const struct acog_event arrived = {.type = ACOG_EVENT_ARRIVED, .arrived = {.facts = &facts}};
    struct acog_buffer out;
    acog_buffer_init(&out, 4096);
    world_step(world, &arrived);
    assert_int_equal(acog_transcript_step(&out, &world->rows->snapshot, &world->request, &arrived,
                                          &world->actions),
                     ACOG_OK);
    assert_true(out.len < 200);
    acog_buffer_fini(&out);
    world_free(&world);
}

static void a_full_buffer_is_an_ordinary_error(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    struct acog_request_facts facts = world_facts("m");
    const struct acog_event arrived = {.type = ACOG_EVENT_ARRIVED, .arrived = {.facts = &facts}};
    world_step(world, &arrived);
    for (size_t bytes = 1; bytes < 60; bytes += 7) {
        struct acog_buffer out;
        acog_buffer_init(&out, bytes);
        assert_int_equal(acog_transcript_step(&out, &world->rows->snapshot, &world->request,
                                              &arrived, &world->actions),
                         ACOG_TOO_BIG);
        acog_buffer_fini(&out);
    }
    world_free(&world);
}

static void an_error_event_after_commit_is_told_from_a_lost_one(void **state)
{
    (void)state;
    struct world *world = world_new(ENGINE_POLICY_ACOG);
    engine_rows_add(world->rows, "a", ACOG_CHANNEL_DIRECT, "m");
    struct acog_request_facts facts = world_facts("m");
    facts.stream = true;
    world_arrive(world, &facts);
    world_event(world, ACOG_EVENT_OUTPUT, 1);
    const struct acog_failure failure = {.cause = ACOG_CAUSE_STREAM_ERROR,
                                         .retry_after_ms = -1,
                                         .message = ACOG_VIEW("a text that stays out")};
    const struct acog_event failed = {.type = ACOG_EVENT_FAILED, .attempt = 1, .failure = &failure};
    assert_true(renders(world, &failed,
                        "+0 failed 1 stream_error\n"
                        "    fail_stream 1 error_event\n"
                        "    finish incomplete\n"));
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_from_outside_stay_words),
        cmocka_unit_test(a_long_word_is_cut),
        cmocka_unit_test(a_full_buffer_is_an_ordinary_error),
        cmocka_unit_test(an_error_event_after_commit_is_told_from_a_lost_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
