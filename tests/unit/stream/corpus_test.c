/* corpus_test.c - the scanner and the event reader on published vectors and captured streams. */
#include "tests/support/corpus.h"

#include "tests/support/check.h"
#include "tests/support/json_oracle.h"
#include "tests/support/sse_seen.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

/* -- JSON ------------------------------------------------------------------------------------------ */

static bool accepts(struct acog_view text)
{
    struct acog_json_value value;
    struct acog_json_error error;
    return acog_json_check(text, DEPTH, &value, &error) == ACOG_OK;
}

static void judge_suite_file(const char *name, void *user)
{
    struct acog_buffer bytes;
    size_t *counts = user;
    assert_true(acog_corpus_read(name, &bytes));
    const char *base = strrchr(name, '/') + 1;
    bool good = accepts(acog_buffer_view(&bytes));
    if (base[0] == 'y' && base[1] == '_' && !good) {
        fail_msg("%s must be accepted", base);
    }
    if (base[0] == 'n' && base[1] == '_' && good) {
        fail_msg("%s must be refused", base);
    }
    /* The free ones: numbers of any size are kept; whatever is no clean UTF-8 or UTF-16 is refused. */
    if (base[0] == 'i' && base[1] == '_') {
        bool number = strncmp(base, "i_number", 8) == 0;
        if (good != number && strcmp(base, "i_structure_500_nested_arrays.json") != 0) {
            fail_msg("%s is judged otherwise than decided", base);
        }
    }
    if (good) {
        assert_true(agrees(acog_buffer_view(&bytes)) ||
                    only_jansson_refuses(acog_buffer_view(&bytes)));
    }
    counts[good ? 0 : 1]++;
    acog_buffer_fini(&bytes);
}

static void json_test_suite(void **state)
{
    size_t counts[2] = {0, 0};
    (void)state;
    size_t files = acog_corpus_each("3-protocol/json/JSONTestSuite/test_parsing", ".json",
                                    judge_suite_file, counts);
    files += acog_corpus_each("3-protocol/json/JSONTestSuite/test_transform", ".json",
                              judge_suite_file, counts);
    (void)printf("JSONTestSuite: %zu files, %zu accepted, %zu refused\n", files, counts[0],
                 counts[1]);
    assert_true(files > 100);
}

/* 3-protocol/utf8/utf8tests.bin: lines of "number:valid:bytes" and "number:invalid:bytes". */
static void utf8_stress(void **state)
{
    struct acog_buffer bytes;
    size_t lines = 0;
    (void)state;
    assert_true(acog_corpus_read("3-protocol/utf8/utf8tests.bin", &bytes));
    struct acog_view rest = acog_buffer_view(&bytes);
    while (rest.len > 0) {
        char text[300];
        size_t end = acog_view_find(rest, ACOG_VIEW("\n"));
        struct acog_view line = acog_view_slice(rest, 0, end);
        size_t valid = acog_view_find(line, ACOG_VIEW(":valid:"));
        size_t invalid = acog_view_find(line, ACOG_VIEW(":invalid:"));
        bool good = valid < line.len;
        struct acog_view sample = acog_view_slice(line, good ? valid + 7 : invalid + 9, line.len);
        assert_true(good || invalid < line.len);
        int length = snprintf(text, sizeof(text), "\"%.*s\"", ACOG_VIEW_FMT(sample));
        bool control = false;
        for (size_t i = 0; i < sample.len; i++) {
            control = control || (unsigned char)sample.ptr[i] < 0x20 || sample.ptr[i] == '\\' ||
                      sample.ptr[i] == '"';
        }
        if (!control && (size_t)length == sample.len + 2) {
            assert_int_equal(accepts((struct acog_view){text, (size_t)length}), good);
            lines++;
        }
        rest = acog_view_slice(rest, end + 1, rest.len);
    }
    (void)printf("UTF-8 stress: %zu samples\n", lines);
    assert_true(lines > 50);
    acog_buffer_fini(&bytes);
}

/* -- event streams --------------------------------------------------------------------------------- */

static void append_base64(struct acog_buffer *out, const char *text)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    int have = 0;
    for (; *text != '\0' && *text != '='; text++) {
        bits = bits << 6U | (uint32_t)(strchr(alphabet, *text) - alphabet);
        have += 6;
        if (have >= 8) {
            have -= 8;
            char byte = (char)(bits >> (unsigned)have);
            assert_int_equal(acog_buffer_append(out, (struct acog_view){&byte, 1}), ACOG_OK);
        }
    }
}

static void published_vectors(void **state)
{
    struct acog_buffer file;
    size_t index = 0;
    json_t *vector = NULL;
    (void)state;
    assert_true(acog_corpus_read("3-protocol/sse/sse-vectors.open.json", &file));
    json_t *vectors = json_loadb(file.ptr, file.len, 0, NULL);
    assert_non_null(vectors);
    json_array_foreach (vectors, index, vector) {
        struct acog_buffer text;
        struct acog_buffer want;
        size_t i = 0;
        json_t *item = NULL;
        acog_buffer_init(&text, SEEN_BYTES_MAX);
        acog_buffer_init(&want, SEEN_BYTES_MAX);
        json_array_foreach (json_object_get(vector, "chunks_b64"), i, item) {
            append_base64(&text, json_string_value(item));
        }
        json_array_foreach (json_object_get(vector, "events"), i, item) {
            const char *name = json_string_value(json_object_get(item, "event"));
            assert_int_equal(acog_buffer_append(&want, acog_view_of(name)), ACOG_OK);
            assert_int_equal(acog_buffer_append(&want, ACOG_VIEW("|")), ACOG_OK);
            append_base64(&want, json_string_value(json_object_get(item, "data_b64")));
            assert_int_equal(acog_buffer_append(&want, ACOG_VIEW("\x1e")), ACOG_OK);
        }
        /* The standard drops what no blank line ended: so without acog_sse_end(). */
        struct seen whole = read_all(acog_buffer_view(&text), NULL, NULL, false);
        struct seen bytes = read_all(acog_buffer_view(&text), one_byte, NULL, false);
        if (!acog_view_equal(acog_buffer_view(&whole.events), acog_buffer_view(&want)) ||
            !acog_view_equal(acog_buffer_view(&bytes.events), acog_buffer_view(&want))) {
            fail_msg("%s", json_string_value(json_object_get(vector, "name")));
        }
        forget(&whole);
        forget(&bytes);
        acog_buffer_fini(&text);
        acog_buffer_fini(&want);
    }
    (void)printf("SSE vectors: %zu\n", json_array_size(vectors));
    json_decref(vectors);
    acog_buffer_fini(&file);
}

static void check_stream(const char *name, void *user)
{
    struct acog_buffer file;
    uint64_t seed = 7;
    size_t *blocks = user;
    assert_true(acog_corpus_read(name, &file));
    struct seen whole = read_all(acog_buffer_view(&file), NULL, NULL, true);
    for (int round = 0; round < 12; round++) {
        struct seen cut = round == 0 ? read_all(acog_buffer_view(&file), one_byte, NULL, true)
                                     : read_all(acog_buffer_view(&file), random_piece, &seed, true);
        if (!acog_view_equal(acog_buffer_view(&cut.raw), acog_buffer_view(&file)) ||
            !acog_view_equal(acog_buffer_view(&cut.events), acog_buffer_view(&whole.events))) {
            fail_msg("%s, round %d", name, round);
        }
        forget(&cut);
    }
    *blocks += whole.blocks;
    forget(&whole);
    acog_buffer_fini(&file);
}

static void raw_bytes_of_captured_streams_add_up_for_any_split(void **state)
{
    size_t blocks = 0;
    (void)state;
    size_t files = acog_corpus_each("1-llm/streams", ".sse", check_stream, &blocks);
    (void)printf("captured streams: %zu, %zu events\n", files, blocks);
    assert_true(files > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_test_suite),
        cmocka_unit_test(utf8_stress),
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(raw_bytes_of_captured_streams_add_up_for_any_split),
    };
    if (acog_corpus_missing()) {
        return ACOG_CORPUS_SKIPPED;
    }
    return cmocka_run_group_tests_name("corpus", tests, NULL, NULL);
}
