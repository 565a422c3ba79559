/* arena_test.c - memory that dies together. */
#include "acog/arena.h"

#include "acog/memory.h"
#include "tests/support/check.h"

#include <stdbool.h>
#include <string.h>

static bool always(void *user)
{
    (void)user;
    return true;
}

static void what_it_gives_is_zeroed_and_aligned_for_any_type(void **state)
{
    (void)state;
    struct acog_arena arena;
    acog_arena_init(&arena, 100000);
    for (size_t bytes = 1; bytes < 100; bytes++) {
        char *taken = acog_arena_take(&arena, bytes);
        assert_non_null(taken);
        assert_int_equal((uintptr_t)taken % sizeof(max_align_t) % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < bytes; i++) {
            assert_int_equal(taken[i], 0);
        }
        memset(taken, 0xff, bytes); /* a neighbour that shares it would not be zeroed */
    }
    acog_arena_fini(&arena);
}

static void pointers_stay_valid_while_it_grows(void **state)
{
    (void)state;
    struct acog_arena arena;
    acog_arena_init(&arena, 1000000);
    struct acog_view first = acog_arena_copy(&arena, ACOG_VIEW("the first"));
    for (int i = 0; i < 100; i++) {
        assert_non_null(acog_arena_take(&arena, 3000));
    }
    assert_true(acog_view_equal(first, ACOG_VIEW("the first")));
    acog_arena_fini(&arena);
}

static void the_cap_holds_for_all_blocks_together(void **state)
{
    (void)state;
    struct acog_arena arena;
    acog_arena_init(&arena, 10000);
    assert_non_null(acog_arena_take(&arena, 6000));
    assert_null(acog_arena_take(&arena, 6000));
    assert_non_null(acog_arena_take(&arena, 3000));
    assert_null(acog_arena_take(&arena, SIZE_MAX));
    acog_arena_fini(&arena);
}

static void a_cap_below_one_block_is_a_cap_too(void **state)
{
    (void)state;
    struct acog_arena arena;
    acog_arena_init(&arena, 64);
    assert_non_null(acog_arena_take(&arena, 64));
    assert_null(acog_arena_take(&arena, 1));
    acog_arena_fini(&arena);
}

static void a_reset_arena_gives_zeroed_memory_again_without_a_new_block(void **state)
{
    (void)state;
    struct acog_arena arena;
    acog_arena_init(&arena, 100000);
    char *taken = acog_arena_take(&arena, 100);
    assert_non_null(taken);
    memset(taken, 0xff, 100);
    assert_non_null(acog_arena_take(&arena, 50000));
    acog_arena_reset(&arena);
    acog_memory_fail_when(always, NULL);
    char *again = acog_arena_take(&arena, 100);
    acog_memory_fail_when(NULL, NULL);
    assert_non_null(again);
    assert_int_equal(again[0], 0);
    assert_int_equal(again[99], 0);
    acog_arena_fini(&arena);
}

static void without_memory_the_answer_is_null(void **state)
{
    (void)state;
    struct acog_arena arena;
    acog_arena_init(&arena, 100000);
    acog_memory_fail_when(always, NULL);
    void *taken = acog_arena_take(&arena, 1);
    struct acog_view copy = acog_arena_copy(&arena, ACOG_VIEW("x"));
    acog_memory_fail_when(NULL, NULL);
    assert_null(taken);
    assert_null(copy.ptr);
    acog_arena_fini(&arena);
}

static void a_copy_ends_with_a_nul_that_does_not_count(void **state)
{
    (void)state;
    struct acog_arena arena;
    acog_arena_init(&arena, 1000);
    struct acog_view copy = acog_arena_copy(&arena, ACOG_VIEW("text"));
    assert_int_equal(copy.len, 4);
    assert_string_equal(copy.ptr, "text");
    struct acog_view empty = acog_arena_copy(&arena, (struct acog_view){0});
    assert_int_equal(empty.len, 0);
    assert_non_null(empty.ptr);
    assert_string_equal(empty.ptr, "");
    acog_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_gives_is_zeroed_and_aligned_for_any_type),
        cmocka_unit_test(pointers_stay_valid_while_it_grows),
        cmocka_unit_test(the_cap_holds_for_all_blocks_together),
        cmocka_unit_test(a_cap_below_one_block_is_a_cap_too),
        cmocka_unit_test(a_reset_arena_gives_zeroed_memory_again_without_a_new_block),
        cmocka_unit_test(without_memory_the_answer_is_null),
        cmocka_unit_test(a_copy_ends_with_a_nul_that_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
