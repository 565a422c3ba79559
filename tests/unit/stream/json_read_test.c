/* json_read_test.c - walking a text that passed the check, finding in it, and decoding it. */
#include "acog/buffer.h"
#include "acog/json.h"
#include "acog/memory.h"
#include "tests/support/check.h"
#include "tests/support/json_oracle.h"
#include "tests/support/json_unique.h"

#include <string.h>

static void walks_members_and_elements(void **state)
{
    struct acog_json_value object =
        parse(" { \"a\" : 1 , \"b\":[ {\"]\":\"}\"} ,\"\\\"\", -2e3],\"c\":{},\"d\":null } ");
    struct acog_json_cursor cursor = acog_json_enter(object);
    (void)state;
    assert_true(acog_json_next(&cursor));
    assert_true(acog_json_key_is(&cursor, ACOG_VIEW("a")));
    assert_true(acog_view_equal(cursor.value.raw, ACOG_VIEW("1")));
    assert_true(acog_json_next(&cursor));
    assert_int_equal(cursor.value.type, ACOG_JSON_ARRAY);
    struct acog_json_cursor inner = acog_json_enter(cursor.value);
    assert_true(acog_json_next(&inner));
    assert_true(acog_view_equal(inner.value.raw, ACOG_VIEW("{\"]\":\"}\"}")));
    assert_true(acog_json_next(&inner));
    assert_true(acog_json_text_is(inner.value, ACOG_VIEW("\"")));
    assert_true(acog_json_next(&inner));
    assert_true(acog_view_equal(inner.value.raw, ACOG_VIEW("-2e3")));
    assert_false(acog_json_next(&inner));
    assert_true(acog_json_next(&cursor));
    assert_true(acog_view_equal(cursor.value.raw, ACOG_VIEW("{}")));
    struct acog_json_cursor empty = acog_json_enter(cursor.value);
    assert_false(acog_json_next(&empty));
    assert_true(acog_json_next(&cursor));
    assert_int_equal(cursor.value.type, ACOG_JSON_NULL);
    assert_false(acog_json_next(&cursor));
    assert_false(acog_json_next(&cursor));
    struct acog_json_cursor scalar = acog_json_enter(parse("12"));
    assert_false(acog_json_next(&scalar));
}

static void finds_members_by_decoded_name(void **state)
{
    struct acog_json_value object =
        parse("{\"mod\\u0065l\":\"m\",\"a\":{\"b\":{\"c\":7}},\"a\":2,\"n\":null}");
    struct acog_json_value value;
    const struct acog_view names[] = {ACOG_VIEW("n"), ACOG_VIEW("x"), ACOG_VIEW("model")};
    struct acog_json_value values[3];
    (void)state;
    assert_true(acog_json_member(object, ACOG_VIEW("model"), &value));
    assert_true(acog_json_text_is(value, ACOG_VIEW("m")));
    assert_true(acog_json_member(object, ACOG_VIEW("a"), &value));
    assert_int_equal(value.type, ACOG_JSON_OBJECT);
    assert_false(acog_json_member(object, ACOG_VIEW("mode"), &value));
    assert_false(acog_json_present(value));
    assert_true(acog_json_path(object, ACOG_VIEW("a.b.c"), &value));
    assert_true(acog_view_equal(value.raw, ACOG_VIEW("7")));
    assert_false(acog_json_path(object, ACOG_VIEW("a.b.c.d"), &value));
    assert_false(acog_json_path(object, ACOG_VIEW("a.x.c"), &value));
    acog_json_members(object, names, values, 3);
    assert_int_equal(values[0].type, ACOG_JSON_NULL);
    assert_true(acog_json_present(values[0]));
    assert_false(acog_json_present(values[1]));
    assert_true(acog_json_text_is(values[2], ACOG_VIEW("m")));
}

static void duplicate_keys_are_seen_through_escapes(void **state)
{
    struct acog_json_error error = {0};
    (void)state;
    assert_int_equal(json_unique(parse("{\"a\":1,\"b\":2,\"A\":3}"), &error), ACOG_OK);
    assert_int_equal(json_unique(parse("{\"a\":{\"x\":1},\"b\":{\"x\":1}}"), &error), ACOG_OK);
    assert_int_equal(json_unique(parse("[1,1]"), &error), ACOG_OK);
    assert_int_equal(json_unique(parse("{\"model\":1,\"b\":2,\"mod\\u0065l\":3}"), &error),
                     ACOG_INVALID);
    assert_string_equal(error.what, "a key twice");
    assert_int_equal(error.offset, 17);
    assert_int_equal(json_unique(parse("{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":3}"), &error),
                     ACOG_INVALID);
}

static void an_object_has_only_so_many_keys_to_compare(void **state)
{
    struct acog_buffer text;
    struct acog_json_error error = {0};
    struct acog_json_value value;
    (void)state;
    acog_buffer_init(&text, 1U << 16U);
    for (int keys = 0; keys <= ACOG_JSON_KEYS_MAX; keys++) {
        assert_int_equal(acog_buffer_format(&text, "%c\"k%d\":0", keys == 0 ? '{' : ',', keys),
                         ACOG_OK);
        struct acog_buffer closed = text;
        assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("}")), ACOG_OK);
        assert_int_equal(acog_json_check(acog_buffer_view(&text), DEPTH, &value, &error), ACOG_OK);
        assert_int_equal(json_unique(value, &error),
                         keys < ACOG_JSON_KEYS_MAX ? ACOG_OK : ACOG_INVALID);
        text.len = closed.len;
    }
    assert_string_equal(error.what, "too many keys");
    acog_buffer_fini(&text);
}

static void texts_are_decoded(void **state)
{
    static const struct {
        const char *json;
        struct acog_view text;
    } cases[] = {
        {"\"\"", {"", 0}},
        {"\"plain\"", {"plain", 5}},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", {"\"\\/\b\f\n\r\t", 8}},
        {"\"\\u0041\\u00e9\\u4e2d\"", {"A\xc3\xa9\xe4\xb8\xad", 6}},
        {"\"x\\ud83d\\ude42y\"", {"x\xf0\x9f\x99\x82y", 6}},
        {"\"a\\u0000b\"", {"a\0b", 3}},
        {"\"\\uDBFF\\uDFFF\"", {"\xf4\x8f\xbf\xbf", 4}},
    };
    struct acog_arena arena;
    (void)state;
    acog_arena_init(&arena, 1U << 16U);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct acog_view text;
        struct acog_json_value value = parse(cases[i].json);
        assert_int_equal(acog_json_text(value, &arena, &text), ACOG_OK);
        assert_true(acog_view_equal(text, cases[i].text));
        assert_true(acog_json_text_is(value, cases[i].text));
        assert_false(acog_json_text_is(value, ACOG_VIEW("x")));
        if (cases[i].text.len > 0) {
            struct acog_view shorter = acog_view_slice(text, 0, text.len - 1);
            assert_false(acog_json_text_is(value, shorter));
        }
    }
    assert_false(acog_json_text_is(parse("1"), ACOG_VIEW("1")));
    acog_arena_fini(&arena);
}

static bool always_fails(void *user)
{
    (void)user;
    return true;
}

static void a_text_without_escapes_needs_no_memory(void **state)
{
    struct acog_arena arena;
    struct acog_view text;
    (void)state;
    acog_arena_init(&arena, 1U << 16U);
    acog_memory_fail_when(always_fails, NULL);
    enum acog_code plain = acog_json_text(parse("\"abc\""), &arena, &text);
    enum acog_code escaped = acog_json_text(parse("\"a\\nc\""), &arena, &text);
    acog_memory_fail_when(NULL, NULL);
    assert_int_equal(plain, ACOG_OK);
    assert_int_equal(escaped, ACOG_NO_MEMORY);
    acog_arena_fini(&arena);
}

static void integers_fit_or_are_refused(void **state)
{
    static const struct {
        const char *text;
        bool good;
        int64_t number;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"42", true, 42},
        {"-17", true, -17},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"\"1\"", false, 0},
        {"true", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t number = 0;
        assert_int_equal(acog_json_int(parse(cases[i].text), &number), cases[i].good);
        assert_true(number == cases[i].number);
    }
}

static void doubles_are_read_when_they_fit(void **state)
{
    char digits[200];
    double number = 0;
    (void)state;
    assert_true(acog_json_double(parse("-2.5e2"), &number));
    assert_true(number > -250.5 && number < -249.5);
    assert_true(acog_json_double(parse("1e-400"), &number));
    assert_true(number < 1e-300);
    assert_false(acog_json_double(parse("1e400"), &number));
    assert_false(acog_json_double(parse("-1e400"), &number));
    assert_false(acog_json_double(parse("\"1\""), &number));
    memset(digits, '1', sizeof(digits));
    digits[128] = '\0';
    assert_true(acog_json_double(parse(digits), &number));
    digits[128] = '1';
    digits[129] = '\0';
    assert_false(acog_json_double(parse(digits), &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_members_and_elements),
        cmocka_unit_test(finds_members_by_decoded_name),
        cmocka_unit_test(duplicate_keys_are_seen_through_escapes),
        cmocka_unit_test(an_object_has_only_so_many_keys_to_compare),
        cmocka_unit_test(texts_are_decoded),
        cmocka_unit_test(a_text_without_escapes_needs_no_memory),
        cmocka_unit_test(integers_fit_or_are_refused),
        cmocka_unit_test(doubles_are_read_when_they_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
