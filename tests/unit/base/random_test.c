/* random_test.c - repeatable numbers. */
#include "acog/random.h"

#include "tests/support/check.h"

static void the_sequence_is_the_published_one(void **state) /* splitmix64 from seed 1234567 */
{
    (void)state;
    uint64_t generator = 1234567;
    assert_true(acog_random_next(&generator) == UINT64_C(6457827717110365317));
    assert_true(acog_random_next(&generator) == UINT64_C(3203168211198807973));
    assert_true(acog_random_next(&generator) == UINT64_C(9817491932198370423));
}

static void one_seed_gives_one_sequence(void **state)
{
    (void)state;
    uint64_t one = 42;
    uint64_t two = 42;
    for (int i = 0; i < 100; i++) {
        assert_true(acog_random_next(&one) == acog_random_next(&two));
    }
}

static void a_range_is_used_up_to_both_ends_and_never_left(void **state)
{
    (void)state;
    uint64_t generator = 7;
    unsigned seen = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t value = acog_random_between(&generator, -2, 2);
        assert_in_range(value + 2, 0, 4);
        seen |= 1U << (unsigned)(value + 2);
    }
    assert_int_equal(seen, 0x1f);
}

static void an_empty_range_gives_its_start(void **state)
{
    (void)state;
    uint64_t generator = 7;
    assert_int_equal(acog_random_between(&generator, 5, 5), 5);
    assert_int_equal(acog_random_between(&generator, 5, 1), 5);
}

static void the_widest_range_is_no_division_by_zero(void **state)
{
    (void)state;
    uint64_t generator = 7;
    int64_t one = acog_random_between(&generator, INT64_MIN, INT64_MAX);
    int64_t two = acog_random_between(&generator, INT64_MIN, INT64_MAX);
    assert_true(one != two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequence_is_the_published_one),
        cmocka_unit_test(one_seed_gives_one_sequence),
        cmocka_unit_test(a_range_is_used_up_to_both_ends_and_never_left),
        cmocka_unit_test(an_empty_range_gives_its_start),
        cmocka_unit_test(the_widest_range_is_no_division_by_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
