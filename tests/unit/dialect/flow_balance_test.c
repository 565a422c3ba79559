/* flow_balance_test.c - arguments in pieces are complete with the last bracket, and not before. */
#include "core/dialect/flow.h"
#include "tests/support/check.h"

static bool complete(const char *const *pieces, bool escaped)
{
    struct acog_flow_balance balance = {0};
    for (; *pieces != NULL; pieces++) {
        assert_false(acog_flow_balanced(&balance)); /* not before the last piece */
        acog_flow_balance_add(
            &balance, (struct acog_text){.bytes = acog_view_of(*pieces), .escaped = escaped});
    }
    return acog_flow_balanced(&balance);
}

#define COMPLETE(escaped, ...) complete((const char *const[]){__VA_ARGS__, NULL}, escaped)

static void the_last_bracket_completes_them(void **state)
{
    (void)state;
    assert_true(COMPLETE(false, "{}"));
    assert_true(COMPLETE(false, "{\"a\":", "[1,{", "}]", "}"));
    assert_false(COMPLETE(false, "{\"a\":[1]"));
}

static void nothing_is_not_complete(void **state)
{
    (void)state;
    assert_false(COMPLETE(false, ""));
    assert_false(COMPLETE(false, "  "));
}

static void brackets_inside_a_string_do_not_count(void **state)
{
    (void)state;
    assert_true(COMPLETE(false, "{\"a\":\"", "}", "{", "\"", "}"));
    assert_true(COMPLETE(false, "{\"a\":\"\\", "\"}", "\"}"));
    assert_false(COMPLETE(false, "{\"a\":\"}"));
}

/* As between the quotes of a JSON string: the escapes are those of the string around the arguments. */
static void escapes_around_them_are_undone_first(void **state)
{
    (void)state;
    assert_true(COMPLETE(true, "{\\\"a\\\":\\\"}", "\\u0022", "\\u007d"));
    assert_true(COMPLETE(true, "{\\\"a\\\":\\\"\\\\\\\"}", "\\\"}"));
    assert_false(COMPLETE(true, "{\\\"a\\\":\\\"}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_bracket_completes_them),
        cmocka_unit_test(nothing_is_not_complete),
        cmocka_unit_test(brackets_inside_a_string_do_not_count),
        cmocka_unit_test(escapes_around_them_are_undone_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
