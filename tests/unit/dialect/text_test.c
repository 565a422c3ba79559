/* text_test.c - a text in either form is the same text. */
#include "core/dialect/text.h"

#include "tests/support/check.h"

static struct acog_text escaped(const char *text)
{
    return (struct acog_text){.bytes = acog_view_of(text), .escaped = true};
}

static struct acog_text plain(const char *text)
{
    return acog_text_plain(acog_view_of(text));
}

static void assert_inside(struct acog_text text, const char *wanted)
{
    struct acog_buffer out;
    acog_buffer_init(&out, 1024);
    assert_int_equal(acog_text_append_inside(&out, text), ACOG_OK);
    assert_true(acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted)));
    acog_buffer_fini(&out);
}

static void assert_plain(struct acog_text text, const char *wanted)
{
    struct acog_buffer out;
    struct acog_arena arena;
    struct acog_view characters;
    acog_arena_init(&arena, 1024);
    acog_buffer_init(&out, 1024);
    assert_int_equal(acog_text_append_plain(&out, text), ACOG_OK);
    assert_true(acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted)));
    assert_int_equal(acog_text_characters(text, &arena, &characters), ACOG_OK);
    assert_true(acog_view_equal(characters, acog_view_of(wanted)));
    acog_buffer_fini(&out);
    acog_arena_fini(&arena);
}

static void an_escaped_text_is_copied_between_quotes_and_decoded_elsewhere(void **state)
{
    (void)state;
    assert_inside(escaped("a\\u00e9\\n\\/"), "a\\u00e9\\n\\/");
    assert_plain(escaped("a\\u00e9\\n\\/"), "a\xc3\xa9\n/");
    assert_plain(escaped("\\ud83d\\ude42"), "\xf0\x9f\x99\x82");
}

static void a_plain_text_is_escaped_between_quotes_and_copied_elsewhere(void **state)
{
    (void)state;
    assert_inside(plain("a\"\n"), "a\\\"\\n");
    assert_plain(plain("a\"\n"), "a\"\n");
    assert_plain(plain(""), "");
}

static void only_a_string_has_a_text(void **state)
{
    (void)state;
    struct acog_json_value value;
    struct acog_json_error error;
    assert_int_equal(acog_json_check(ACOG_VIEW("\"a\\n\""), 2, &value, &error), ACOG_OK);
    assert_true(acog_text_of(value).escaped);
    assert_int_equal(acog_text_of(value).bytes.len, 3);
    assert_int_equal(acog_json_check(ACOG_VIEW("12"), 2, &value, &error), ACOG_OK);
    assert_int_equal(acog_text_of(value).bytes.len, 0);
}

static void white_space_is_blank_in_either_form(void **state) /* B05 */
{
    (void)state;
    assert_true(acog_text_is_blank(escaped(" \\n\\t\\r ")));
    assert_true(acog_text_is_blank(plain(" \n\t")));
    assert_true(acog_text_is_blank(plain("")));
    assert_false(acog_text_is_blank(escaped("\\u0041")));
    assert_false(acog_text_is_blank(escaped("\\\\n")));
    assert_false(acog_text_is_blank(plain(" x ")));
    assert_false(acog_text_is_blank(plain("\\n"))); /* two characters, none of them white */
    assert_false(acog_text_is_blank(acog_text_plain((struct acog_view){.ptr = "\0", .len = 1})));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_escaped_text_is_copied_between_quotes_and_decoded_elsewhere),
        cmocka_unit_test(a_plain_text_is_escaped_between_quotes_and_copied_elsewhere),
        cmocka_unit_test(only_a_string_has_a_text),
        cmocka_unit_test(white_space_is_blank_in_either_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
