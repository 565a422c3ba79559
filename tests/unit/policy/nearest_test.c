/* nearest_test.c - distances between words, which mean the same, and when a word is near enough to ask. */
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
    struct nearest other = {.word = ACOG_VIEW("abc")};
    nearest_offer(&other, ACOG_VIEW("vertex"));
    assert_null(other.best.ptr);
}

/* The best of two words for a third. */
static struct acog_view best_of(const char *word, const char *first, const char *second)
{
    struct nearest nearest = {.word = acog_view_of(word)};
    nearest_offer(&nearest, acog_view_of(first));
    nearest_offer(&nearest, acog_view_of(second));
    return nearest.best;
}

static void a_word_of_other_gateways_is_understood(void **state)
{
    (void)state;
    assert_true(acog_view_equal(best_of("gcp", "direct", "vertex"), ACOG_VIEW("vertex")));
    /* by what is allowed there, and before a typo: "retry" is near "relay" */
    assert_true(acog_view_equal(best_of("retry", "relay", "same"), ACOG_VIEW("same")));
    assert_true(acog_view_equal(best_of("retry", "filters", "attempts"), ACOG_VIEW("attempts")));
}

static void a_piece_of_a_word_is_near_it(void **state)
{
    (void)state;
    assert_true(acog_view_equal(best_of("delay", "status", "delay_ms"), ACOG_VIEW("delay_ms")));
    assert_true(acog_view_equal(best_of("api_key", "maker", "key"), ACOG_VIEW("key")));
    assert_true(acog_view_equal(best_of("first_output_timeout", "total", "first_output"),
                                ACOG_VIEW("first_output")));
    assert_null(best_of("tyres", "xyres_on_ice", "ms").ptr);
    assert_null(best_of("on", "xyres_on_ice", "later_on").ptr); /* too short to say anything */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_edits_count_one),
        cmocka_unit_test(only_a_typo_is_asked_about),
        cmocka_unit_test(a_word_of_other_gateways_is_understood),
        cmocka_unit_test(a_piece_of_a_word_is_near_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
