/* memory_test.c - each allocation of the dialects' readers fails in turn: NO_MEMORY where one can say so, else fewer facts. */
#include "acog/dialect.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"

#define REQUEST                                                                                 \
    "{\"\\u006dodel\":\"m\\u0031\",\"stream\":true,\"\\u0073tream_options\":{\"include_usage\"" \
    ":true},\"provider\":{\"only\":[\"dir\\u0065ct\",\"vertex\"]},\"messages\":[{\"role\":"     \
    "\"us\\u0065r\",\"content\":[{\"typ\\u0065\":\"text\",\"text\":\"hi\"}]}],\"input\":\"x\"," \
    "\"max_tokens\":1}"

static void read_request(void *user)
{
    const enum acog_surface *surface = user;
    struct acog_arena arena;
    struct acog_client_request request = {.stream = false};
    struct acog_request_problem problem = {{0}};
    acog_arena_init(&arena, 1U << 20U);
    enum acog_code code =
        acog_dialect_read_request(*surface, ACOG_VIEW(REQUEST), 64, &arena, &request, &problem);
    assert_int_equal(code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    if (code == ACOG_OK) {
        struct acog_view values[4];
        struct acog_view span;
        assert_true(acog_view_equal(request.model, ACOG_VIEW("m1")));
        size_t count = acog_dialect_read_pin(request.spans.object, ACOG_VIEW("provider.only"),
                                             &arena, values, 4, &span);
        assert_true(count <= 2);
        for (size_t i = 0; i < count; i++) { /* never half a value */
            assert_true(acog_view_equal(values[i], ACOG_VIEW("direct")) ||
                        acog_view_equal(values[i], ACOG_VIEW("vertex")) || values[i].len == 0);
        }
    }
    acog_arena_fini(&arena);
}

static void each_allocation_of_a_request_may_fail(void **state)
{
    (void)state;
    for (int i = 0; i < ACOG_SURFACE_COUNT; i++) {
        enum acog_surface surface = (enum acog_surface)i;
        assert_true(memory_sweep(read_request, &surface, 1) > 0);
    }
}

#define ERROR                                                                                      \
    "{\"\\u0065rror\":{\"message\":\"O\\u0076erloaded: try \\\"later\\\"\",\"code\":\"a\\u0062\"," \
    "\"type\":\"overl\\u006faded_error\",\"innererror\":{\"code\":\"R\\u0065sponsibleAI\","        \
    "\"content_filter_result\":{\"h\\u0061te\":{\"filtered\":true}}}}}"

static void read_error(void *user)
{
    (void)user;
    struct acog_arena arena;
    struct acog_failure failure = {.retry_after_ms = -1};
    acog_arena_init(&arena, 1U << 20U);
    acog_dialect_read_error(ACOG_VIEW(ERROR), 529, &arena, &failure);
    if (!memory_sweep_failed()) {
        assert_true(acog_view_equal(failure.message, ACOG_VIEW("Overloaded: try \"later\"")));
        assert_true(acog_view_equal(failure.code, ACOG_VIEW("ab")));
    }
    acog_arena_fini(&arena);
}

static void each_allocation_of_an_error_may_fail(void **state)
{
    (void)state;
    assert_true(memory_sweep(read_error, NULL, 1) > 0);
}

static void read_answer(void *user)
{
    (void)user;
    struct acog_arena arena;
    struct acog_whole_answer answer = {.is_error = false};
    struct acog_failure failure = {.retry_after_ms = -1};
    acog_arena_init(&arena, 1U << 20U);
    enum acog_code code = acog_dialect_read_answer(
        ACOG_DIALECT_CHAT, ACOG_SURFACE_CHAT,
        ACOG_VIEW("{\"id\":\"c\",\"object\":\"chat.completion\",\"mod\\u0065l\":\"m\\u0031\","
                  "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
                  "\"h\\u0069\"},\"finish_reason\":\"st\\u006fp\"}]}"),
        &arena, &answer, &failure);
    assert_true(code == ACOG_OK || (code == ACOG_NO_MEMORY && memory_sweep_failed()));
    if (!memory_sweep_failed()) {
        assert_true(acog_view_equal(answer.model, ACOG_VIEW("m1")));
    }
    acog_arena_fini(&arena);
}

static void each_allocation_of_an_answer_may_fail(void **state)
{
    (void)state;
    assert_true(memory_sweep(read_answer, NULL, 1) > 0);
}

static void follow_stream(void *user)
{
    static const char *const events[] = {
        "{\"id\":\"c\\u0031\",\"mod\\u0065l\":\"m\\n\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\\n\"}}]}",
        "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"st\\u006fp\"}]}",
        "{\"error\":{\"message\":\"n\\no\",\"code\":\"a\\u0062\"}}",
        "[DONE]",
    };
    (void)user;
    struct acog_arena arena;
    struct acog_stream_tracker tracker;
    acog_arena_init(&arena, 1U << 20U);
    acog_stream_tracker_init(&tracker, ACOG_DIALECT_CHAT);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct acog_failure failure = {.retry_after_ms = -1};
        unsigned outputs = 0;
        enum acog_stream_event event = acog_stream_tracker_read(
            &tracker, (struct acog_view){0}, acog_view_of(events[i]), &arena, &outputs, &failure);
        assert_true(i != 2 || event == ACOG_STREAM_EVENT_ERROR); /* without its text, at worst */
    }
    assert_true(tracker.done_seen && tracker.error_seen);
    acog_arena_fini(&arena);
}

static void each_allocation_of_a_stream_may_fail(void **state)
{
    (void)state;
    assert_true(memory_sweep(follow_stream, NULL, 1) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_a_request_may_fail),
        cmocka_unit_test(each_allocation_of_an_error_may_fail),
        cmocka_unit_test(each_allocation_of_an_answer_may_fail),
        cmocka_unit_test(each_allocation_of_a_stream_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
