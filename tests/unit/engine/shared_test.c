/* shared_test.c - cells by name: found again after a reload, full at their number. */
#include "acog/shared.h"

#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"

#include <string.h>

static void a_name_keeps_its_cell(void **state)
{
    (void)state;
    struct acog_shared *shared = acog_shared_new();
    uint16_t first = 9;
    uint16_t second = 9;
    uint16_t again = 9;
    assert_int_equal(acog_shared_circuit(shared, ACOG_VIEW("direct/anthropic"), &first), ACOG_OK);
    assert_int_equal(acog_shared_circuit(shared, ACOG_VIEW("direct/anthropi"), &second), ACOG_OK);
    assert_int_equal(acog_shared_circuit(shared, ACOG_VIEW("direct/anthropic"), &again), ACOG_OK);
    assert_int_equal(first, 0);
    assert_int_equal(second, 1);
    assert_int_equal(again, 0);
    assert_string_equal(shared->circuits[0].name, "direct/anthropic");
    assert_int_equal(acog_shared_spread(shared, ACOG_VIEW("a"), &first), ACOG_OK);
    assert_int_equal(first, 0);
    acog_shared_free(&shared);
    assert_null(shared);
    acog_shared_free(&shared);
}

static void a_name_has_a_length(void **state)
{
    (void)state;
    struct acog_shared *shared = acog_shared_new();
    char longest[ACOG_SHARED_CELL_NAME_MAX];
    memset(longest, 'x', sizeof longest);
    struct acog_view too_long = {longest, sizeof longest};
    struct acog_view fits = {longest, sizeof longest - 1};
    uint16_t index = 0;
    assert_int_equal(acog_shared_circuit(shared, too_long, &index), ACOG_TOO_BIG);
    assert_int_equal(acog_shared_circuit(shared, fits, &index), ACOG_OK);
    assert_int_equal(acog_shared_spread(shared, too_long, &index), ACOG_TOO_BIG);
    assert_int_equal(acog_shared_spread(shared, (struct acog_view){0}, &index), ACOG_TOO_BIG);
    acog_shared_free(&shared);
}

static void all_cells_used_is_an_ordinary_error(void **state)
{
    (void)state;
    struct acog_shared *shared = acog_shared_new();
    uint16_t index = 0;
    for (int i = 0; i < ACOG_SHARED_CELLS_MAX; i++) {
        char name[4] = {(char)('a' + i % 16), (char)('a' + i / 16 % 16), (char)('a' + i / 256), 0};
        assert_int_equal(acog_shared_spread(shared, acog_view_of(name), &index), ACOG_OK);
        assert_int_equal(index, i);
    }
    assert_int_equal(acog_shared_spread(shared, ACOG_VIEW("one more"), &index), ACOG_TOO_BIG);
    assert_int_equal(acog_shared_spread(shared, ACOG_VIEW("aaa"), &index), ACOG_OK);
    assert_int_equal(index, 0);
    acog_shared_free(&shared);
}

static void make_once(void *user)
{
    (void)user;
    struct acog_shared *shared = acog_shared_new();
    assert_true((shared == NULL) == memory_sweep_failed());
    acog_shared_free(&shared);
}

static void no_memory_gives_nothing_and_leaks_nothing(void **state)
{
    (void)state;
    assert_int_equal(memory_sweep(make_once, NULL, 1), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_keeps_its_cell),
        cmocka_unit_test(a_name_has_a_length),
        cmocka_unit_test(all_cells_used_is_an_ordinary_error),
        cmocka_unit_test(no_memory_gives_nothing_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
