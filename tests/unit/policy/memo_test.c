/* memo_test.c - the bounded memory of ids. */
#include "memo.h"

#include "acog/memory.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

static void what_was_put_is_found(void **state)
{
    (void)state;
    struct memo memo;
    const uint16_t list[] = {3, 1, 4};
    assert_true(memo_init(&memo, 1));
    assert_null(memo_find(&memo, ACOG_VIEW("a")));
    memo_put(&memo, ACOG_VIEW("a"), list, 3);
    memo_put(&memo, ACOG_VIEW(""), NULL, 0);
    const struct memo_entry *entry = memo_find(&memo, ACOG_VIEW("a"));
    assert_non_null(entry);
    assert_int_equal(entry->count, 3);
    assert_memory_equal(entry->candidates, list, sizeof(list));
    assert_int_equal(memo_find(&memo, ACOG_VIEW(""))->count, 0);
    memo_fini(&memo);
}

static void ids_that_reach_nothing_give_way_first(void **state)
{
    (void)state;
    struct memo memo;
    const uint16_t one = 7;
    char id[32];
    assert_true(memo_init(&memo, 1));
    for (int i = 0; i < 100; i++) {
        (void)snprintf(id, sizeof(id), "known-%d", i);
        memo_put(&memo, acog_view_of(id), &one, 1);
    }
    for (int i = 0; i < 20000; i++) {
        (void)snprintf(id, sizeof(id), "invented-%d", i);
        memo_put(&memo, acog_view_of(id), NULL, 0);
    }
    int left = 0;
    for (int i = 0; i < 100; i++) {
        (void)snprintf(id, sizeof(id), "known-%d", i);
        left += memo_find(&memo, acog_view_of(id)) != NULL ? 1 : 0;
    }
    assert_true(left >= 98); /* but for sets that were full of known ones */
    memo_fini(&memo);
}

static void long_ids_are_not_kept(void **state)
{
    (void)state;
    struct memo memo;
    char id[300];
    memset(id, 'x', sizeof(id));
    struct acog_view view = {.ptr = id, .len = sizeof(id)};
    assert_true(memo_init(&memo, 1));
    memo_put(&memo, view, NULL, 0);
    assert_null(memo_find(&memo, view));
    memo_fini(&memo);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void without_memory_it_forgets(void **state)
{
    (void)state;
    struct memo memo;
    assert_true(memo_init(&memo, 1));
    acog_memory_fail_when(always, NULL);
    memo_put(&memo, ACOG_VIEW("a"), NULL, 0);
    struct memo other;
    bool made = memo_init(&other, 1);
    acog_memory_fail_when(NULL, NULL);
    assert_false(made);
    assert_null(memo_find(&memo, ACOG_VIEW("a")));
    memo_fini(&memo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found),
        cmocka_unit_test(ids_that_reach_nothing_give_way_first),
        cmocka_unit_test(long_ids_are_not_kept),
        cmocka_unit_test(without_memory_it_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
