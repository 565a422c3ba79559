/* utf8_test.c - the table of RFC 3629, from both sides. */
#include "acog/utf8.h"

#include "tests/support/check.h"

static size_t length_of(const char *bytes, size_t count)
{
    return acog_utf8_length((struct acog_view){.ptr = bytes, .len = count});
}

static void every_scalar_value_comes_back_whole(void **state)
{
    (void)state;
    for (uint32_t code_point = 0; code_point <= 0x10ffff; code_point++) {
        if (code_point >= 0xd800 && code_point <= 0xdfff) {
            continue;
        }
        char out[4];
        size_t bytes = acog_utf8_encode(code_point, out);
        if (length_of(out, bytes) != bytes) {
            fail_msg("U+%04X", code_point);
        }
    }
}

static void the_length_of_each_width_is_right(void **state)
{
    (void)state;
    assert_int_equal(length_of("a", 1), 1);
    assert_int_equal(length_of("\xc3\xa9", 2), 2);
    assert_int_equal(length_of("\xe2\x82\xac", 3), 3);
    assert_int_equal(length_of("\xf0\x9f\x98\x80", 4), 4);
    assert_int_equal(length_of("", 0), 0);
}

static void overlong_forms_are_refused(void **state)
{
    (void)state;
    assert_int_equal(length_of("\xc0\xaf", 2), 0);
    assert_int_equal(length_of("\xc1\xbf", 2), 0);
    assert_int_equal(length_of("\xe0\x9f\xbf", 3), 0);
    assert_int_equal(length_of("\xf0\x8f\xbf\xbf", 4), 0);
}

static void surrogates_and_what_lies_above_unicode_are_refused(void **state)
{
    (void)state;
    assert_int_equal(length_of("\xed\xa0\x80", 3), 0);
    assert_int_equal(length_of("\xed\xbf\xbf", 3), 0);
    assert_int_equal(length_of("\xf4\x90\x80\x80", 4), 0);
    assert_int_equal(length_of("\xf5\x80\x80\x80", 4), 0);
    assert_int_equal(length_of("\xff", 1), 0);
}

static void cut_and_stray_bytes_are_refused(void **state)
{
    (void)state;
    assert_int_equal(length_of("\x80", 1), 0);
    assert_int_equal(length_of("\xe2\x82", 2), 0);
    assert_int_equal(length_of("\xe2\x28\xa1", 3), 0);
    assert_int_equal(length_of("\xf0\x9f\x98\x28", 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scalar_value_comes_back_whole),
        cmocka_unit_test(the_length_of_each_width_is_right),
        cmocka_unit_test(overlong_forms_are_refused),
        cmocka_unit_test(surrogates_and_what_lies_above_unicode_are_refused),
        cmocka_unit_test(cut_and_stray_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
