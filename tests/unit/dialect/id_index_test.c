/* id_index_test.c - ids and what belongs to them. */
#include "core/dialect/id_index.h"

#include "tests/support/check.h"

#include <stdio.h>

#define MANY 1000

static void an_empty_index_finds_nothing(void **state)
{
    (void)state;
    struct acog_id_index index = {.room = 0};
    assert_null(acog_id_index_find(&index, ACOG_VIEW("a")));
    acog_id_index_add(&index, ACOG_VIEW("a"), &index); /* it has no room */
    assert_null(acog_id_index_find(&index, ACOG_VIEW("a")));
}

static void each_of_many_ids_is_found_and_no_other(void **state)
{
    (void)state;
    static char ids[MANY][16];
    struct acog_arena arena;
    struct acog_id_index index;
    acog_arena_init(&arena, 1U << 20U);
    assert_int_equal(acog_id_index_init(&index, MANY, &arena), ACOG_OK);
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "call_%zu", i);
        acog_id_index_add(&index, acog_view_of(ids[i]), ids[i]);
    }
    for (size_t i = 0; i < MANY; i++) {
        assert_ptr_equal(acog_id_index_find(&index, acog_view_of(ids[i])), ids[i]);
    }
    assert_null(acog_id_index_find(&index, ACOG_VIEW("call_")));
    assert_null(acog_id_index_find(&index, ACOG_VIEW("")));
    acog_arena_fini(&arena);
}

static void the_first_of_an_id_stays_and_so_do_the_first_ids(void **state)
{
    (void)state;
    char first = 0;
    char second = 0;
    struct acog_arena arena;
    struct acog_id_index index;
    acog_arena_init(&arena, 1U << 20U);
    assert_int_equal(acog_id_index_init(&index, 2, &arena), ACOG_OK);
    acog_id_index_add(&index, ACOG_VIEW("a"), &first);
    acog_id_index_add(&index, ACOG_VIEW("a"), &second);
    acog_id_index_add(&index, ACOG_VIEW(""), &second);
    acog_id_index_add(&index, ACOG_VIEW("c"), &second);
    assert_ptr_equal(acog_id_index_find(&index, ACOG_VIEW("a")), &first);
    assert_ptr_equal(acog_id_index_find(&index, ACOG_VIEW("")), &second);
    assert_null(acog_id_index_find(&index, ACOG_VIEW("c")));
    acog_arena_fini(&arena);
}

static void without_memory_there_is_no_index(void **state)
{
    (void)state;
    struct acog_arena arena;
    struct acog_id_index index;
    acog_arena_init(&arena, 64);
    assert_int_equal(acog_id_index_init(&index, MANY, &arena), ACOG_NO_MEMORY);
    acog_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_index_finds_nothing),
        cmocka_unit_test(each_of_many_ids_is_found_and_no_other),
        cmocka_unit_test(the_first_of_an_id_stays_and_so_do_the_first_ids),
        cmocka_unit_test(without_memory_there_is_no_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
