/* json_test.c - what the strict check lets through, and that the oracle (jansson) agrees. */
#include "acog/json.h"

#include "acog/buffer.h"
#include "acog/memory.h"
#include "acog/random.h"
#include "core/stream/scan.h"
#include "tests/support/check.h"
#include "tests/support/json_oracle.h"
#include "tests/support/json_unique.h"

#include <stdio.h>
#include <string.h>

static bool accepts(struct acog_view text)
{
    struct acog_json_value value;
    struct acog_json_error error = {0};
    bool good = acog_json_check(text, DEPTH, &value, &error) == ACOG_OK;
    if (!good) {
        assert_non_null(error.what);
        assert_true(error.offset <= text.len);
    }
    return good;
}

static struct acog_json_value parse(const char *text)
{
    struct acog_json_value value;
    struct acog_json_error error;
    if (acog_json_check(acog_view_of(text), DEPTH, &value, &error) != ACOG_OK) {
        fail_msg("%s at %zu in %s", error.what, error.offset, text);
    }
    return value;
}

static void refuses_with_place_and_reason(void **state)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *what;
    } cases[] = {
        {"", 0, "a value was expected"},
        {"  ", 2, "a value was expected"},
        {"{\"a\":1,}", 7, "a key was expected"},
        {"{\"a\" 1}", 5, "':' was expected"},
        {"{\"a\":1 \"b\":2}", 7, "',' or '}' was expected"},
        {"[1 2]", 3, "',' or ']' was expected"},
        {"[1,]", 3, "a value was expected"},
        {"[1", 2, "',' or ']' was expected"},
        {"\"abc", 4, "an unfinished string"},
        {"\"abc\\", 4, "an unfinished string"},
        {"\"a\nb\"", 2, "a control character in a string"},
        {"\"\\x\"", 1, "a bad escape"},
        {"\"\\u12g4\"", 1, "a bad escape"},
        {"\"\\ud83d\"", 1, "half of a surrogate pair"},
        {"\"\\ud83d\\u0041\"", 1, "half of a surrogate pair"},
        {"\"\\ude00\"", 1, "half of a surrogate pair"},
        {"\"ab\xff\"", 3, "not UTF-8"},
        {"\"ab\xe5\xa4\"", 3, "not UTF-8"},
        {"\xef\xbb\xbf{}", 0, "a byte order mark"},
        {"01", 0, "a bad number"},
        {"-", 0, "a bad number"},
        {"1.", 0, "a bad number"},
        {"1e+", 0, "a bad number"},
        {"+1", 0, "a value was expected"},
        {"nul", 0, "a value was expected"},
        {"{} {}", 3, "text behind the value"},
        {"NaN", 0, "a value was expected"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct acog_json_value value;
        struct acog_json_error error;
        assert_int_equal(acog_json_check(acog_view_of(cases[i].text), DEPTH, &value, &error),
                         ACOG_INVALID);
        assert_false(acog_json_present(value));
        assert_string_equal(error.what, cases[i].what);
        assert_int_equal(error.offset, cases[i].offset);
    }
}

static void nul_is_refused_wherever_it_stands(void **state)
{
    const struct acog_view cases[] = {
        ACOG_VIEW("\0"),          ACOG_VIEW("\0{}"),           ACOG_VIEW("{}\0"),
        ACOG_VIEW("{\0}"),        ACOG_VIEW("\"a\0b\""),       ACOG_VIEW("\"\\\0\""),
        ACOG_VIEW("1\0"),         ACOG_VIEW("[1,\0]"),         ACOG_VIEW("tru\0"),
        ACOG_VIEW("{\"a\0\":1}"), ACOG_VIEW("\"\\u00\0041\""), ACOG_VIEW("{\"a\":1}\0\0"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_false(accepts(cases[i])); /* jansson takes some of them for the end of the text */
    }
    assert_true(accepts(ACOG_VIEW("\"\\u0000\""))); /* written as an escape it is a character */
}

static void surrogates_come_in_pairs(void **state)
{
    static const char *const good[] = {"\"\\ud800\\udc00\"", "\"\\uDBFF\\uDFFF\"",
                                       "\"\\uD83d\\udE00x\"", "\"\\ud7ff\\ue000\""};
    static const char *const bad[] = {"\"\\ud800\"",         "\"\\udc00\"",
                                      "\"\\udc00\\ud800\"",  "\"\\ud800\\ud800\"",
                                      "\"\\ud800x\\udc00\"", "\"\\ud800\\n\"",
                                      "\"\\ud800\\udbff\"",  "\"\\ud800\\ue000\"",
                                      "\"\\ud800\\udc0\"",   "\"\\ud83d\\ude00\\ud83d\""};
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(accepts(acog_view_of(good[i])));
        assert_true(agrees(acog_view_of(good[i])));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char key[64];
        assert_false(accepts(acog_view_of(bad[i])));
        assert_true(agrees(acog_view_of(bad[i])));
        (void)snprintf(key, sizeof(key), "{%s:1}", bad[i]);
        assert_false(accepts(acog_view_of(key)));
    }
}

/* The scan goes in steps of sixteen: what is wrong must be seen at every place of a step, and across two. */
static void utf8_is_checked_at_every_place(void **state)
{
    static const struct {
        const char *bytes;
        bool good;
    } cases[] = {
        {"\xc2\x80", true},
        {"\xdf\xbf", true},
        {"\xe0\xa0\x80", true},
        {"\xed\x9f\xbf", true},
        {"\xee\x80\x80", true},
        {"\xef\xbb\xbf", true},
        {"\xf0\x90\x80\x80", true},
        {"\xf4\x8f\xbf\xbf", true},
        {"\x80", false},
        {"\xbf", false},
        {"\xc0\x80", false},
        {"\xc1\xbf", false},
        {"\xc2", false},
        {"\xe0\x9f\xbf", false},
        {"\xe4\xb8", false},
        {"\xed\xa0\x80", false},
        {"\xed\xbf\xbf", false},
        {"\xf0\x8f\xbf\xbf", false},
        {"\xf0\x9f\x98", false},
        {"\xf4\x90\x80\x80", false},
        {"\xf5\x80\x80\x80", false},
        {"\xfe", false},
        {"\xff", false},
        {"\xc3\xc3\xa9", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int before = 0; before <= 48; before++) {
            for (int behind = 0; behind <= 32; behind += 16) {
                char text[128];
                int length = snprintf(text, sizeof(text), "\"%.*s%s%.*s\"", before,
                                      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                                      cases[i].bytes, behind, "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
                assert_int_equal(accepts((struct acog_view){text, (size_t)length}), cases[i].good);
            }
        }
    }
}

/* Each prefix lies in memory of just its size, so a sanitizer sees a byte that is read behind it. */
static void a_text_that_is_cut_anywhere_is_refused(void **state)
{
    const struct acog_view texts[] = {
        ACOG_VIEW(
            "{\"model\":\"m\\ud83d\\ude00\",\"list\":[1,-2.5e+3,true,false,null,\"\\\\\\\"\"],\"o\":{}}"),
        ACOG_VIEW(
            "[[[\"0123456789abcdef0123456789abcdef\",\"\xe4\xb8\xad\xf0\x9f\x98\x80\"]],{\"a\":{\"b\":0.1}}]"),
        ACOG_VIEW("\"\xc3\xa9\\n\\u00e9 and sixteen bytes or more\""),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_true(accepts(texts[i]));
        for (size_t length = 1; length < texts[i].len; length++) {
            char *prefix = acog_new(length);
            memcpy(prefix, texts[i].ptr, length);
            assert_false(accepts((struct acog_view){prefix, length}));
            assert_true(agrees((struct acog_view){prefix, length}));
            acog_free(prefix);
        }
    }
}

static void numbers_of_any_length_stay_as_they_are_written(void **state)
{
    static char text[100001];
    struct acog_json_value value;
    struct acog_json_error error;
    int64_t integer = 0;
    double real = 0;
    (void)state;
    memset(text, '9', sizeof(text) - 1);
    for (int form = 0; form < 3; form++) {
        static const char marks[] = {'9', '.', 'e'};
        text[5] = marks[form];
        assert_int_equal(acog_json_check(acog_view_of(text), DEPTH, &value, &error), ACOG_OK);
        assert_int_equal(value.raw.len, sizeof(text) - 1);
        assert_false(acog_json_int(value, &integer));
        assert_false(acog_json_double(value, &real));
    }
}

static void gives_the_span_and_type_of_the_value(void **state)
{
    static const struct {
        const char *text;
        enum acog_json_type type;
        const char *raw;
    } cases[] = {
        {" {\"a\":[1]} ", ACOG_JSON_OBJECT, "{\"a\":[1]}"},
        {"\n[]\t", ACOG_JSON_ARRAY, "[]"},
        {" \"x\" ", ACOG_JSON_STRING, "\"x\""},
        {"-1.5E+3\r", ACOG_JSON_NUMBER, "-1.5E+3"},
        {"true", ACOG_JSON_TRUE, "true"},
        {"false", ACOG_JSON_FALSE, "false"},
        {"null", ACOG_JSON_NULL, "null"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct acog_json_value value = parse(cases[i].text);
        assert_int_equal(value.type, cases[i].type);
        assert_true(acog_view_equal(value.raw, acog_view_of(cases[i].raw)));
        assert_false(value.escaped);
    }
    assert_true(parse("\"a\\n\"").escaped);
    assert_false(parse("[\"a\\n\"]").escaped);
}

static void depth_is_capped_exactly(void **state)
{
    char text[64] = "";
    struct acog_json_value value;
    struct acog_json_error error;
    (void)state;
    memset(text, '[', 8);
    memset(text + 8, ']', 8);
    assert_int_equal(acog_json_check((struct acog_view){text, 16}, 8, &value, &error), ACOG_OK);
    assert_int_equal(acog_json_check((struct acog_view){text, 16}, 7, &value, &error),
                     ACOG_INVALID);
    assert_string_equal(error.what, "nested too deep");
    assert_int_equal(error.offset, 7);
}

/* B115: no recursion, so the compiled bound is safe on any stack; above it there is an error, no crash. */
static void a_hundred_thousand_brackets_are_an_error(void **state)
{
    static char text[100000];
    struct acog_json_value value;
    struct acog_json_error error;
    (void)state;
    memset(text, '[', sizeof(text));
    assert_int_equal(
        acog_json_check((struct acog_view){text, sizeof(text)}, SIZE_MAX, &value, &error),
        ACOG_INVALID);
    assert_string_equal(error.what, "nested too deep");
    assert_int_equal(error.offset, ACOG_JSON_DEPTH_MAX);
}

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

static void the_pull_scanner_enters_or_passes_over(void **state)
{
    struct acog_json_scanner scanner;
    struct acog_json_value key;
    struct acog_json_value value;
    struct acog_json_error error;
    (void)state;
    acog_json_scan(&scanner, ACOG_VIEW(" {\"a\":{\"x\":[1]},\"b\":[2,[],3]} "), DEPTH);
    assert_int_equal(acog_json_scan_type(&scanner), ACOG_JSON_OBJECT);
    assert_true(acog_json_scan_enter(&scanner));
    assert_true(acog_json_scan_next(&scanner, &key));
    assert_true(acog_json_text_is(key, ACOG_VIEW("a")));
    assert_true(acog_json_scan_value(&scanner, &value));
    assert_true(acog_view_equal(value.raw, ACOG_VIEW("{\"x\":[1]}")));
    assert_true(acog_json_scan_next(&scanner, &key));
    assert_true(acog_json_scan_enter(&scanner));
    assert_true(acog_json_scan_next(&scanner, &key));
    assert_false(acog_json_present(key));
    assert_true(acog_json_scan_value(&scanner, &value));
    assert_true(acog_json_scan_next(&scanner, &key));
    assert_true(acog_json_scan_enter(&scanner));
    assert_false(acog_json_scan_next(&scanner, &key));
    assert_true(acog_json_scan_next(&scanner, &key));
    assert_true(acog_json_scan_value(&scanner, &value));
    assert_true(acog_view_equal(value.raw, ACOG_VIEW("3")));
    assert_false(acog_json_scan_next(&scanner, &key));
    assert_false(acog_json_scan_next(&scanner, &key));
    assert_true(acog_json_scan_end(&scanner));
    assert_int_equal(scanned_values(ACOG_VIEW("{\"a\":[1,{\"b\":null}],\"c\":{}}"), &error), 6);
    assert_null(error.what);
}

static void the_pull_scanner_keeps_its_failure(void **state)
{
    struct acog_json_scanner scanner;
    struct acog_json_value value;
    struct acog_json_error error;
    (void)state;
    acog_json_scan(&scanner, ACOG_VIEW("[1, }, 2]"), DEPTH);
    assert_true(acog_json_scan_enter(&scanner));
    assert_true(acog_json_scan_next(&scanner, &value));
    assert_true(acog_json_scan_value(&scanner, &value));
    assert_true(acog_json_scan_next(&scanner, &value));
    assert_false(acog_json_scan_value(&scanner, &value));
    assert_false(acog_json_scan_value(&scanner, &value));
    assert_false(acog_json_scan_next(&scanner, &value));
    assert_false(acog_json_scan_enter(&scanner));
    assert_false(acog_json_scan_end(&scanner));
    error = acog_json_scan_error(&scanner);
    assert_int_equal(error.offset, 4);
    assert_string_equal(error.what, "a value was expected");
    acog_json_scan(&scanner, ACOG_VIEW("12"), DEPTH);
    assert_false(acog_json_scan_enter(&scanner));
    assert_string_equal(acog_json_scan_error(&scanner).what, "an array or object was expected");
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

/* The 16-byte steps find the same place as looking byte by byte, at every length and position. */
static void vector_and_scalar_scans_agree(void **state)
{
    static const char marks[] = {'"', '\\', '{', '}', '[', ']', '\n', '\r', 0x1f, (char)0x80};
    char text[80];
    (void)state;
    for (size_t length = 0; length < sizeof(text); length++) {
        for (size_t at = 0; at <= length; at++) {
            for (size_t m = 0; m < sizeof(marks); m++) {
                memset(text, 'a', sizeof(text));
                text[at] = marks[m];
                const char *end = text + length;
                const char *mark = at < length ? text + at : end;
                bool structure = marks[m] == '"' || (m >= 2 && m <= 5);
                assert_ptr_equal(acog_scan_special(text, end), m < 2 || m > 5 ? mark : end);
                assert_ptr_equal(acog_scan_quote(text, end), m < 2 ? mark : end);
                assert_ptr_equal(acog_scan_structure(text, end), structure ? mark : end);
                assert_ptr_equal(acog_scan_line_end(text, end), m == 6 || m == 7 ? mark : end);
            }
        }
    }
}

/* -- against jansson ------------------------------------------------------------------------------- */

static void random_texts_are_judged_as_jansson_does(void **state)
{
    static const char *const seeds[] = {
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"h\\u00e9 \xe4\xb8\xad \\ud83d\\ude00\"}]}",
        "[1,-2.5e+3,0.1,true,false,null,\"\\\"\\\\\\/\\b\",[],{},[[[{}]]]]",
        "{\"a\":{\"b\":[{\"c\":\"d\"},{\"e\":[\"f\",\"0123456789abcdef0123456789\"]}]},\"z\":-0}",
    };
    static const char pool[] = "{}[]\",:\\u0123456789abcdefE+-.tn \n\x01\x7f\xc3\xa9\xed\xa0\xff";
    uint64_t seed = 20261130;
    size_t accepted = 0;
    (void)state;
    for (int round = 0; round < 60000; round++) {
        char text[256];
        size_t length = strlen(seeds[round % 3]);
        memcpy(text, seeds[round % 3], length + 1);
        int64_t edits = acog_random_between(&seed, 0, 3);
        for (int64_t i = 0; i < edits; i++) {
            size_t at = (size_t)acog_random_between(&seed, 0, (int64_t)length - 1);
            text[at] = pool[acog_random_between(&seed, 0, (int64_t)sizeof(pool) - 2)];
        }
        struct acog_view view = {text, length};
        if (!agrees(view) && !only_jansson_refuses(view)) {
            fail_msg("round %d: jansson thinks otherwise of %s", round, text);
        }
        accepted += accepts(view) ? 1 : 0;
    }
    assert_in_range(accepted, 10000, 59000); /* both kinds were tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_with_place_and_reason),
        cmocka_unit_test(nul_is_refused_wherever_it_stands),
        cmocka_unit_test(surrogates_come_in_pairs),
        cmocka_unit_test(utf8_is_checked_at_every_place),
        cmocka_unit_test(a_text_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(numbers_of_any_length_stay_as_they_are_written),
        cmocka_unit_test(gives_the_span_and_type_of_the_value),
        cmocka_unit_test(depth_is_capped_exactly),
        cmocka_unit_test(a_hundred_thousand_brackets_are_an_error),
        cmocka_unit_test(walks_members_and_elements),
        cmocka_unit_test(the_pull_scanner_enters_or_passes_over),
        cmocka_unit_test(the_pull_scanner_keeps_its_failure),
        cmocka_unit_test(finds_members_by_decoded_name),
        cmocka_unit_test(duplicate_keys_are_seen_through_escapes),
        cmocka_unit_test(an_object_has_only_so_many_keys_to_compare),
        cmocka_unit_test(texts_are_decoded),
        cmocka_unit_test(a_text_without_escapes_needs_no_memory),
        cmocka_unit_test(integers_fit_or_are_refused),
        cmocka_unit_test(doubles_are_read_when_they_fit),
        cmocka_unit_test(vector_and_scalar_scans_agree),
        cmocka_unit_test(random_texts_are_judged_as_jansson_does),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
