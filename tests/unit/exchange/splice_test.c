/* splice_test.c - bytes in pieces, with other ones between them. */
#include "splice.h"

#include "tests/support/check.h"

static const struct acog_view bytes = {.ptr = "abcdef", .len = 6};

static void spliced_is(const struct acog_splice *splice, const char *wanted, size_t wanted_pieces)
{
    struct acog_view pieces[ACOG_SPLICE_PIECES_MAX];
    char text[64];
    size_t length = 0;
    size_t count = acog_splice_pieces(splice, bytes, pieces, ACOG_SPLICE_PIECES_MAX);
    assert_int_equal(count, wanted_pieces);
    for (size_t i = 0; i < count; i++) {
        memcpy(text + length, pieces[i].ptr, pieces[i].len);
        length += pieces[i].len;
    }
    text[length] = '\0';
    assert_string_equal(text, wanted);
}

static void without_an_edit_it_is_the_bytes_themselves(void **state)
{
    (void)state;
    struct acog_splice splice = {.count = 0};
    spliced_is(&splice, "abcdef", 1);
}

static void edits_come_in_any_order_and_stand_in_that_of_their_places(void **state)
{
    (void)state;
    struct acog_splice splice = {.count = 0};
    acog_splice_edit(&splice, acog_view_slice(bytes, 4, 5), ACOG_VIEW("EE"));
    acog_splice_edit(&splice, acog_view_slice(bytes, 1, 1), ACOG_VIEW("+"));
    acog_splice_edit(&splice, acog_view_slice(bytes, 2, 3), (struct acog_view){0});
    spliced_is(&splice, "a+bdEEf", 6);
}

static void no_piece_is_empty(void **state)
{
    (void)state;
    struct acog_splice splice = {.count = 0};
    acog_splice_edit(&splice, acog_view_slice(bytes, 0, 1), ACOG_VIEW("A"));
    acog_splice_edit(&splice, acog_view_slice(bytes, 1, 6), (struct acog_view){0});
    spliced_is(&splice, "A", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_an_edit_it_is_the_bytes_themselves),
        cmocka_unit_test(edits_come_in_any_order_and_stand_in_that_of_their_places),
        cmocka_unit_test(no_piece_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
