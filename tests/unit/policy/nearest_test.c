/* nearest_test.c - distances between words, and when a word is near enough to ask. */
#include "nearest.h"

#include "tests/support/check.h"

static size_t between(const char *a, const char *b)
{
    return nearest_distance(acog_view_of(a), acog_view_of(b));
}

static void single_edits_count_one(void **state)
{
    (void)state;
    assert_int_equal(between("", ""), 0);
    assert_int_equal(between("vertex", "vertex"), 0);
    assert_int_equal(between("bedrok", "bedrock"), 1);
    assert_int_equal(between("bedrockk", "bedrock"), 1);
    assert_int_equal(between("bedtock", "bedrock"), 1);
    assert_int_equal(between("bedrcok", "bedrock"), 1); /* neighbours swapped */
    assert_int_equal(between("abc", ""), 3);
    assert_int_equal(between("kitten", "sitting"), 3);
}

static void only_a_typo_is_asked_about(void **state)
{
    (void)state;
    struct nearest nearest = {.word = ACOG_VIEW("azzure")};
    nearest_offer(&nearest, ACOG_VIEW("direct"));
    assert_null(nearest.best.ptr);
    nearest_offer(&nearest, ACOG_VIEW("azure"));
    nearest_offer(&nearest, ACOG_VIEW("azurre"));
    assert_true(acog_view_equal(nearest.best, ACOG_VIEW("azure")));
    struct nearest other = {.word = ACOG_VIEW("gcp")};
    nearest_offer(&other, ACOG_VIEW("vertex"));
    assert_null(other.best.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_edits_count_one),
        cmocka_unit_test(only_a_typo_is_asked_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
