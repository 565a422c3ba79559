/* names_test.c - the closed vocabularies. */
#include "acog/names.h"

#include "tests/support/check.h"

static const struct {
    enum acog_vocabulary vocabulary;
    int count;
} vocabularies[] = {
    {ACOG_VOCABULARY_CHANNEL, ACOG_CHANNEL_COUNT},
    {ACOG_VOCABULARY_DIALECT, ACOG_DIALECT_COUNT},
    {ACOG_VOCABULARY_SURFACE, ACOG_SURFACE_COUNT},
    {ACOG_VOCABULARY_CLOCK, ACOG_CLOCK_COUNT},
    {ACOG_VOCABULARY_CONDITION, ACOG_CONDITION_COUNT},
    {ACOG_VOCABULARY_CLASS, ACOG_CLASS_COUNT},
    {ACOG_VOCABULARY_CAUSE, ACOG_CAUSE_COUNT},
    {ACOG_VOCABULARY_SHAPE, ACOG_SHAPE_COUNT},
    {ACOG_VOCABULARY_OUTPUT, ACOG_OUTPUT_COUNT},
    {ACOG_VOCABULARY_OUTCOME, ACOG_OUTCOME_INCOMPLETE + 1},
};

static void every_value_has_a_word_that_finds_it_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(vocabularies) / sizeof(vocabularies[0]); i++) {
        assert_int_equal(acog_name_count(vocabularies[i].vocabulary), vocabularies[i].count);
        for (int value = 0; value < vocabularies[i].count; value++) {
            struct acog_view word = acog_name(vocabularies[i].vocabulary, value);
            assert_int_equal(acog_name_find(vocabularies[i].vocabulary, word), value);
        }
    }
}

static void words_are_fit_for_metrics_and_lua(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(vocabularies) / sizeof(vocabularies[0]); i++) {
        for (int value = 0; value < vocabularies[i].count; value++) {
            struct acog_view word = acog_name(vocabularies[i].vocabulary, value);
            assert_true(word.len > 0);
            for (size_t at = 0; at < word.len; at++) {
                char c = word.ptr[at];
                assert_true((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
            }
        }
    }
}

static void an_unknown_word_is_not_found(void **state)
{
    (void)state;
    assert_int_equal(acog_name_find(ACOG_VOCABULARY_CHANNEL, ACOG_VIEW("Direct")), -1);
    assert_int_equal(acog_name_find(ACOG_VOCABULARY_CHANNEL, ACOG_VIEW("")), -1);
    assert_int_equal(acog_name_find(ACOG_VOCABULARY_CLASS, ACOG_VIEW("direct")), -1);
}

static void the_channels_stand_in_the_order_of_their_rank(void **state) /* S4.7 */
{
    (void)state;
    static const char *const order[] = {"direct", "bedrock", "vertex", "azure", "custom"};
    for (int value = 0; value < ACOG_CHANNEL_COUNT; value++) {
        assert_true(
            acog_view_equal(acog_name(ACOG_VOCABULARY_CHANNEL, value), acog_view_of(order[value])));
    }
}

static void a_surface_knows_its_dialect_and_its_path(void **state)
{
    (void)state;
    assert_int_equal(acog_surface_dialect(ACOG_SURFACE_COUNT_TOKENS), ACOG_DIALECT_MESSAGES);
    assert_true(
        acog_view_equal(acog_surface_path(ACOG_SURFACE_CHAT), ACOG_VIEW("/v1/chat/completions")));
}

static void the_surface_of_a_dialect_of_clients_speaks_it(void **state)
{
    (void)state;
    for (int value = 0; value < ACOG_DIALECT_COUNT; value++) {
        enum acog_dialect dialect = (enum acog_dialect)value;
        enum acog_dialect spoken = acog_surface_dialect(acog_dialect_surface(dialect));
        assert_int_equal(spoken, dialect == ACOG_DIALECT_GEMINI ? ACOG_DIALECT_CHAT : dialect);
    }
}

/* What a connection speaks of itself comes first, then the dialect that carries most. */
static void a_request_is_told_in_its_own_dialect_or_in_the_richest(void **state)
{
    (void)state;
    const unsigned all = (1U << ACOG_DIALECT_COUNT) - 1;
    assert_int_equal(acog_dialect_for(ACOG_SURFACE_CHAT, all), ACOG_DIALECT_CHAT);
    assert_int_equal(acog_dialect_for(ACOG_SURFACE_CHAT, all & ~ACOG_BIT(ACOG_DIALECT_CHAT)),
                     ACOG_DIALECT_RESPONSES);
    assert_int_equal(acog_dialect_for(ACOG_SURFACE_RESPONSES, ACOG_BIT(ACOG_DIALECT_GEMINI)),
                     ACOG_DIALECT_GEMINI);
    assert_int_equal(acog_dialect_for(ACOG_SURFACE_CHAT, 0), ACOG_DIALECT_COUNT);
}

static void what_has_no_conversation_is_never_translated(void **state)
{
    (void)state;
    assert_int_equal(acog_dialect_for(ACOG_SURFACE_EMBEDDINGS, ACOG_BIT(ACOG_DIALECT_MESSAGES)),
                     ACOG_DIALECT_COUNT);
    assert_int_equal(acog_dialect_for(ACOG_SURFACE_COUNT_TOKENS, ACOG_BIT(ACOG_DIALECT_CHAT)),
                     ACOG_DIALECT_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_has_a_word_that_finds_it_again),
        cmocka_unit_test(words_are_fit_for_metrics_and_lua),
        cmocka_unit_test(an_unknown_word_is_not_found),
        cmocka_unit_test(the_channels_stand_in_the_order_of_their_rank),
        cmocka_unit_test(a_surface_knows_its_dialect_and_its_path),
        cmocka_unit_test(the_surface_of_a_dialect_of_clients_speaks_it),
        cmocka_unit_test(a_request_is_told_in_its_own_dialect_or_in_the_richest),
        cmocka_unit_test(what_has_no_conversation_is_never_translated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
