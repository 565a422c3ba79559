/* error_test.c - codes and their texts. */
#include "acog/error.h"

#include "tests/support/check.h"

#include <string.h>

static void an_error_carries_its_code_and_a_text(void **state)
{
    (void)state;
    struct acog_error error = {0};
    assert_int_equal(acog_error_set(&error, ACOG_INVALID, "line %d", 7), ACOG_INVALID);
    assert_int_equal(error.code, ACOG_INVALID);
    assert_string_equal(error.text, "line 7");
}

static void nobody_has_to_listen(void **state)
{
    (void)state;
    assert_int_equal(acog_error_set(NULL, ACOG_IO, "unread"), ACOG_IO);
}

static void a_long_text_is_cut_and_ended(void **state)
{
    (void)state;
    struct acog_error error = {0};
    (void)acog_error_set(&error, ACOG_IO, "%1000s", "end");
    assert_int_equal(strlen(error.text), ACOG_ERROR_TEXT_MAX - 1);
}

static void each_code_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(acog_code_text(ACOG_OK), "ok");
    assert_string_equal(acog_code_text(ACOG_TOO_BIG), "over the configured limit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_carries_its_code_and_a_text),
        cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(a_long_text_is_cut_and_ended),
        cmocka_unit_test(each_code_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
