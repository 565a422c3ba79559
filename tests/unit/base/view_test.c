/* view_test.c - borrowed bytes: compared, cut, searched. */
#include "acog/view.h"

#include "tests/support/check.h"

#include <limits.h>

static void empty_views_are_equal_whatever_they_point_to(void **state)
{
    (void)state;
    assert_true(acog_view_equal((struct acog_view){0}, ACOG_VIEW("")));
    assert_true(acog_view_equal_nocase((struct acog_view){0}, ACOG_VIEW("")));
    assert_false(acog_view_equal((struct acog_view){0}, ACOG_VIEW("x")));
}

static void a_view_of_no_text_is_empty(void **state)
{
    (void)state;
    assert_int_equal(acog_view_of(NULL).len, 0);
    assert_int_equal(acog_view_of("four").len, 4);
}

static void equality_without_case_is_for_ascii_letters_only(void **state)
{
    (void)state;
    assert_true(acog_view_equal_nocase(ACOG_VIEW("X-Request-ID"), ACOG_VIEW("x-request-id")));
    assert_false(acog_view_equal_nocase(ACOG_VIEW("a[b"), ACOG_VIEW("a{b")));
    assert_false(acog_view_equal_nocase(ACOG_VIEW("\xc3\x89"), ACOG_VIEW("\xc3\xa9")));
    assert_false(acog_view_equal_nocase(ACOG_VIEW("host"), ACOG_VIEW("hos")));
}

static void a_prefix_may_be_empty_and_never_longer(void **state)
{
    (void)state;
    assert_true(acog_view_starts(ACOG_VIEW("/v1/models"), ACOG_VIEW("/v1/")));
    assert_true(acog_view_starts(ACOG_VIEW("a"), (struct acog_view){0}));
    assert_false(acog_view_starts(ACOG_VIEW("/v1"), ACOG_VIEW("/v1/")));
}

static void a_slice_is_cut_to_what_is_there(void **state)
{
    (void)state;
    struct acog_view text = ACOG_VIEW("hello");
    assert_true(acog_view_equal(acog_view_slice(text, 1, 3), ACOG_VIEW("el")));
    assert_true(acog_view_equal(acog_view_slice(text, 3, 99), ACOG_VIEW("lo")));
    assert_int_equal(acog_view_slice(text, 9, 99).len, 0);
    assert_int_equal(acog_view_slice(text, 3, 1).len, 0);
    assert_null(acog_view_slice((struct acog_view){0}, 0, 5).ptr);
}

static void trimming_takes_spaces_and_tabs_at_both_ends(void **state)
{
    (void)state;
    assert_true(acog_view_equal(acog_view_trim(ACOG_VIEW(" \t a b\t ")), ACOG_VIEW("a b")));
    assert_int_equal(acog_view_trim(ACOG_VIEW(" \t ")).len, 0);
    assert_true(acog_view_equal(acog_view_trim(ACOG_VIEW("\n")), ACOG_VIEW("\n")));
}

static void finding_gives_the_first_place_or_the_length(void **state)
{
    (void)state;
    assert_int_equal(acog_view_find(ACOG_VIEW("aaab"), ACOG_VIEW("ab")), 2);
    assert_int_equal(acog_view_find(ACOG_VIEW("abab"), ACOG_VIEW("ab")), 0);
    assert_int_equal(acog_view_find(ACOG_VIEW("abc"), ACOG_VIEW("abd")), 3);
    assert_int_equal(acog_view_find(ACOG_VIEW("ab"), ACOG_VIEW("abc")), 2);
    assert_int_equal(acog_view_find(ACOG_VIEW("ab"), (struct acog_view){0}), 0);
    assert_int_equal(acog_view_find((struct acog_view){0}, ACOG_VIEW("a")), 0);
}

static void numbers_are_digits_that_fit(void **state)
{
    (void)state;
    unsigned long long value = 7;
    assert_true(acog_view_to_u64(ACOG_VIEW("0"), &value));
    assert_int_equal(value, 0);
    assert_true(acog_view_to_u64(ACOG_VIEW("18446744073709551615"), &value));
    assert_true(value == ULLONG_MAX);
    value = 7;
    const struct acog_view refused[] = {ACOG_VIEW(""),
                                        ACOG_VIEW("+1"),
                                        ACOG_VIEW("-1"),
                                        ACOG_VIEW("1 "),
                                        ACOG_VIEW("0x1"),
                                        ACOG_VIEW("1e3"),
                                        ACOG_VIEW("18446744073709551616")};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_false(acog_view_to_u64(refused[i], &value));
    }
    assert_int_equal(value, 7);
}

static void a_number_is_written_in_as_many_digits_as_it_has(void **state)
{
    (void)state;
    char digits[ACOG_DIGITS_MAX];
    assert_true(acog_view_equal(acog_view_from_u64(0, digits), ACOG_VIEW("0")));
    assert_true(acog_view_equal(acog_view_from_u64(1090, digits), ACOG_VIEW("1090")));
    assert_true(
        acog_view_equal(acog_view_from_u64(ULLONG_MAX, digits), ACOG_VIEW("18446744073709551615")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_views_are_equal_whatever_they_point_to),
        cmocka_unit_test(a_view_of_no_text_is_empty),
        cmocka_unit_test(equality_without_case_is_for_ascii_letters_only),
        cmocka_unit_test(a_prefix_may_be_empty_and_never_longer),
        cmocka_unit_test(a_slice_is_cut_to_what_is_there),
        cmocka_unit_test(trimming_takes_spaces_and_tabs_at_both_ends),
        cmocka_unit_test(finding_gives_the_first_place_or_the_length),
        cmocka_unit_test(numbers_are_digits_that_fit),
        cmocka_unit_test(a_number_is_written_in_as_many_digits_as_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
