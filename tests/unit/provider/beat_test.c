/* beat_test.c - the order of beats, and texts cut into pieces. */
#include "beat.h"

#include "acog/utf8.h"
#include "tests/support/check.h"

#include <string.h>

/* The pieces of the text part, joined by '|'. */
static void join_pieces(const char *text, uint32_t chunks, char *out, size_t out_bytes)
{
    struct acog_walk walk = {.text = acog_view_of(text), .chunks = chunks};
    size_t length = 0;
    for (acog_walk_init(&walk); walk.beat != ACOG_BEAT_OVER; acog_walk_next(&walk)) {
        if (walk.beat == ACOG_BEAT_TEXT_PIECE) {
            assert_true(length + walk.piece.len + 2 < out_bytes);
            memcpy(out + length, walk.piece.ptr, walk.piece.len);
            length += walk.piece.len;
            out[length] = '|';
            length++;
        }
    }
    out[length] = '\0';
}

static void a_text_is_cut_before_each_word(void **state)
{
    (void)state;
    char out[128];
    join_pieces("Hello from  the other side", 0, out, sizeof(out));
    assert_string_equal(out, "Hello| from|  the| other| side|");
    join_pieces(" leading and trailing ", 0, out, sizeof(out));
    assert_string_equal(out, " leading| and| trailing| |");
}

static void a_text_is_cut_into_as_many_chunks_as_asked(void **state)
{
    (void)state;
    char out[128];
    join_pieces("abcdefgh", 3, out, sizeof(out));
    assert_string_equal(out, "abc|def|gh|");
    join_pieces("abc", 1, out, sizeof(out));
    assert_string_equal(out, "abc|");
    join_pieces("ab", 5, out, sizeof(out));
    assert_string_equal(out, "a|b|");
}

static void no_cut_falls_inside_a_character(void **state)
{
    (void)state;
    char out[128];
    join_pieces("天気天気", 4, out, sizeof(out));
    assert_string_equal(out, "天|気|天|気|");
    join_pieces("天気天気", 5, out, sizeof(out));
    assert_string_equal(out, "天|気|天|気|");
}

static void a_walk_goes_through_the_parts_that_are_there(void **state)
{
    (void)state;
    struct acog_walk walk = {.reasoning = ACOG_VIEW("why"),
                             .tool = true,
                             .tool_arguments = ACOG_VIEW("{\"city\":\"Paris\"}")};

    static const enum acog_beat expected[] = {
        ACOG_BEAT_START,
        ACOG_BEAT_STARTED,
        ACOG_BEAT_REASONING_OPEN,
        ACOG_BEAT_REASONING_PART,
        ACOG_BEAT_REASONING_PIECE,
        ACOG_BEAT_REASONING_DONE,
        ACOG_BEAT_REASONING_PART_DONE,
        ACOG_BEAT_REASONING_CLOSE,
        ACOG_BEAT_TOOL_OPEN,
        ACOG_BEAT_TOOL_PIECE,
        ACOG_BEAT_TOOL_PIECE,
        ACOG_BEAT_TOOL_DONE,
        ACOG_BEAT_TOOL_CLOSE,
        ACOG_BEAT_FINISH,
        ACOG_BEAT_USAGE,
        ACOG_BEAT_LAST,
        ACOG_BEAT_OVER,
        ACOG_BEAT_OVER,
    };

    acog_walk_init(&walk);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(walk.beat, expected[i]);
        acog_walk_next(&walk);
    }
}

static void only_what_a_model_says_is_output(void **state)
{
    (void)state;
    assert_false(acog_beat_is_output(ACOG_BEAT_START));
    assert_false(acog_beat_is_output(ACOG_BEAT_TEXT_OPEN));
    assert_true(acog_beat_is_output(ACOG_BEAT_REASONING_PIECE));
    assert_true(acog_beat_is_output(ACOG_BEAT_TEXT_PIECE));
    assert_true(acog_beat_is_output(ACOG_BEAT_TOOL_OPEN));
    assert_true(acog_beat_is_output(ACOG_BEAT_FINISH)); /* a refusal has nothing before it */
    assert_false(acog_beat_is_output(ACOG_BEAT_LAST));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_cut_before_each_word),
        cmocka_unit_test(a_text_is_cut_into_as_many_chunks_as_asked),
        cmocka_unit_test(no_cut_falls_inside_a_character),
        cmocka_unit_test(a_walk_goes_through_the_parts_that_are_there),
        cmocka_unit_test(only_what_a_model_says_is_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
