/* json_test.c - what the strict check lets through, and that the oracle (jansson) agrees. */
#include "acog/json.h"

#include "acog/memory.h"
#include "acog/random.h"
#include "core/stream/scan.h"
#include "tests/support/check.h"
#include "tests/support/json_oracle.h"

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
        cmocka_unit_test(the_pull_scanner_enters_or_passes_over),
        cmocka_unit_test(the_pull_scanner_keeps_its_failure),
        cmocka_unit_test(vector_and_scalar_scans_agree),
        cmocka_unit_test(random_texts_are_judged_as_jansson_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
