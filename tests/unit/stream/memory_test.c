/* memory_test.c - each allocation of the readers fails in turn. */
#include "acog/json.h"
#include "acog/sse.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"

static void read_events(void *user)
{
    static const char text[] =
        "\xef\xbb\xbf: c\n\nevent: a\ndata: one\ndata: two\n\ndata: three\r\n\r\n"
        "data: a long line, so that memory grows: 0123456789 0123456789 0123456789 0123456789 "
        "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
        "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n"
        "data: b\n\ndata: the last";
    const size_t *piece = user;
    struct acog_view rest = acog_view_of(text);
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    enum acog_code code = ACOG_AGAIN;
    size_t events = 0;
    acog_sse_init(&reader, 4096);
    while (rest.len > 0 && (code == ACOG_OK || code == ACOG_AGAIN)) {
        size_t used = 0;
        code = acog_sse_next(&reader, acog_view_slice(rest, 0, *piece), &used, &event);
        rest = acog_view_slice(rest, used, rest.len);
        events += code == ACOG_OK && event.has_data ? 1 : 0;
    }
    if (code == ACOG_AGAIN) {
        code = acog_sse_end(&reader, &event);
        events += code == ACOG_OK && event.has_data ? 1 : 0;
    }
    acog_sse_fini(&reader);
    assert_int_equal(code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    assert_true(memory_sweep_failed() ? events < 4 : events == 4);
}

static void each_allocation_of_a_stream_may_fail(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 200; piece += 13) {
        assert_true(memory_sweep(read_events, &piece, 1) > 0);
    }
}

static void read_text(void *user)
{
    (void)user;
    struct acog_json_value value;
    struct acog_json_error error;
    struct acog_arena arena;
    struct acog_view text = {0};
    acog_arena_init(&arena, 1U << 20U);
    assert_int_equal(acog_json_check(ACOG_VIEW("[{\"a\": [1, \"x\\ny\"]}]"), 8, &value, &error),
                     ACOG_OK);
    struct acog_json_cursor list = acog_json_enter(value);
    assert_true(acog_json_next(&list));
    assert_true(acog_json_member(list.value, ACOG_VIEW("a"), &value));
    list = acog_json_enter(value);
    assert_true(acog_json_next(&list));
    assert_true(acog_json_next(&list));
    enum acog_code code = acog_json_text(list.value, &arena, &text);
    assert_int_equal(code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    assert_true(memory_sweep_failed() || acog_view_equal(text, ACOG_VIEW("x\ny")));
    acog_arena_fini(&arena);
}

/* The scanner takes none; a text with escapes does. */
static void the_one_allocation_of_json_may_fail(void **state)
{
    (void)state;
    assert_int_equal(memory_sweep(read_text, NULL, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_a_stream_may_fail),
        cmocka_unit_test(the_one_allocation_of_json_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
