/* effort_test.c - how hard to think, in words and in tokens. */
#include "core/dialect/effort.h"

#include "tests/support/check.h"

static struct acog_json_value string(const char *raw)
{
    return (struct acog_json_value){.raw = acog_view_of(raw), .type = ACOG_JSON_STRING};
}

static void words_are_those_of_the_apis(void **state)
{
    (void)state;
    assert_int_equal(acog_effort_of(string("\"none\"")), ACOG_EFFORT_NONE);
    assert_int_equal(acog_effort_of(string("\"xhigh\"")), ACOG_EFFORT_XHIGH);
    assert_int_equal(acog_effort_of(string("\"High\"")), ACOG_EFFORT_COUNT);
    assert_int_equal(acog_effort_of((struct acog_json_value){0}), ACOG_EFFORT_COUNT);
    assert_true(acog_view_equal(acog_effort_word(ACOG_EFFORT_MAX), ACOG_VIEW("max")));
}

static void the_nearest_word_never_asks_for_more_if_that_can_be(void **state)
{
    (void)state;
    unsigned classic =
        ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_MEDIUM) | ACOG_BIT(ACOG_EFFORT_HIGH);
    assert_int_equal(acog_effort_nearest(ACOG_EFFORT_MEDIUM, classic), ACOG_EFFORT_MEDIUM);
    assert_int_equal(acog_effort_nearest(ACOG_EFFORT_MAX, classic), ACOG_EFFORT_HIGH);
    assert_int_equal(acog_effort_nearest(ACOG_EFFORT_MINIMAL, classic), ACOG_EFFORT_LOW);
    assert_int_equal(acog_effort_nearest(ACOG_EFFORT_NONE, classic), ACOG_EFFORT_LOW);
    assert_int_equal(acog_effort_nearest(ACOG_EFFORT_LOW, 0), ACOG_EFFORT_COUNT);
}

static void a_wish_to_think_is_never_turned_into_none(void **state)
{
    (void)state;
    unsigned efforts = ACOG_BIT(ACOG_EFFORT_NONE) | ACOG_BIT(ACOG_EFFORT_HIGH);
    assert_int_equal(acog_effort_nearest(ACOG_EFFORT_LOW, efforts), ACOG_EFFORT_HIGH);
    assert_int_equal(acog_effort_nearest(ACOG_EFFORT_NONE, efforts), ACOG_EFFORT_NONE);
    assert_int_equal(acog_effort_nearest(ACOG_EFFORT_LOW, ACOG_BIT(ACOG_EFFORT_NONE)),
                     ACOG_EFFORT_COUNT);
}

static void words_and_budgets_go_both_ways(void **state)
{
    (void)state;
    for (int effort = ACOG_EFFORT_MINIMAL; effort < ACOG_EFFORT_COUNT; effort++) {
        int64_t tokens = acog_effort_budget_tokens((enum acog_effort)effort);
        assert_true(tokens >= ACOG_BUDGET_TOKENS_MIN);
        assert_int_equal(acog_effort_of_budget(tokens), effort);
        assert_int_equal(acog_effort_of_budget(tokens + 1), effort);
    }
    assert_int_equal(acog_effort_of_budget(1), ACOG_EFFORT_MINIMAL);
    assert_int_equal(acog_effort_of_budget(10000), ACOG_EFFORT_MEDIUM);
    assert_int_equal(acog_effort_of_budget(INT64_MAX), ACOG_EFFORT_MAX);
}

static void thinking_leaves_a_quarter_of_the_limit_to_the_answer(void **state)
{
    (void)state;
    assert_int_equal(acog_effort_room_tokens(2000, false, INT64_MAX), 1499);
    assert_int_equal(acog_effort_room_tokens(20480, false, 4096),
                     16384); /* a usual answer is less */
    assert_int_equal(acog_effort_room_tokens(2000, true, INT64_MAX),
                     1999); /* as the client named it */
    assert_int_equal(acog_effort_room_tokens(1025, false, INT64_MAX), ACOG_BUDGET_TOKENS_MIN);
    assert_true(acog_effort_room_tokens(1024, false, INT64_MAX) < ACOG_BUDGET_TOKENS_MIN);
    assert_true(acog_effort_room_tokens(INT64_MAX, false, INT64_MAX) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_the_apis),
        cmocka_unit_test(the_nearest_word_never_asks_for_more_if_that_can_be),
        cmocka_unit_test(a_wish_to_think_is_never_turned_into_none),
        cmocka_unit_test(words_and_budgets_go_both_ways),
        cmocka_unit_test(thinking_leaves_a_quarter_of_the_limit_to_the_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
