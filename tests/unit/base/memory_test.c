/* memory_test.c - the one door to the heap, and the hook that shuts it. */
#include "acog/memory.h"

#include "tests/support/check.h"

#include <string.h>

static bool third_fails(void *user)
{
    int *asked = user;
    return ++*asked == 3;
}

static void new_memory_is_zeroed(void **state)
{
    (void)state;
    char *taken = acog_new(1000);
    assert_non_null(taken);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(taken[i], 0);
    }
    acog_free(taken);
}

static void growing_keeps_the_content(void **state)
{
    (void)state;
    char *taken = acog_grow(NULL, 5);
    assert_non_null(taken);
    memcpy(taken, "kept", 5);
    char *grown = acog_grow(taken, 100000);
    assert_non_null(grown);
    assert_string_equal(grown, "kept");
    acog_free(grown);
}

static void what_is_in_use_is_not_given_back(void **state)
{
    (void)state;
    char *kept = acog_new(1000);
    char *gone = acog_new(100000);
    assert_non_null(kept);
    assert_non_null(gone);
    memcpy(kept, "kept", 5);
    acog_free(gone);
    acog_memory_give_back();
    assert_string_equal(kept, "kept");
    acog_free(kept);
}

static void freeing_nothing_is_allowed(void **state)
{
    (void)state;
    acog_free(NULL);
}

static void the_hook_fails_the_allocation_it_chooses(void **state)
{
    (void)state;
    int asked = 0;
    acog_memory_fail_when(third_fails, &asked);
    void *one = acog_new(1);
    void *two = acog_grow(NULL, 1);
    void *three = acog_grow(two, 100);
    void *four = acog_new(1);
    acog_memory_fail_when(NULL, NULL);
    assert_non_null(one);
    assert_non_null(two);
    assert_null(three);
    assert_non_null(four);
    assert_int_equal(asked, 4);
    acog_free(one);
    acog_free(two);
    acog_free(four);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_memory_is_zeroed),
        cmocka_unit_test(growing_keeps_the_content),
        cmocka_unit_test(what_is_in_use_is_not_given_back),
        cmocka_unit_test(freeing_nothing_is_allowed),
        cmocka_unit_test(the_hook_fails_the_allocation_it_chooses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
