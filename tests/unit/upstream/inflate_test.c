/* inflate_test.c - compressed bytes in clear, however they are cut. */
#include "inflate.h"

#include "acog/buffer.h"
#include "tests/support/check.h"

#include <string.h>
#include <zlib.h>

#define WINDOW_GZIP (15 + 16)
#define WINDOW_ZLIB 15
#define WINDOW_RAW  (-15)

/* Compresses `text` in one piece. */
/* NOLINTNEXTLINE(readability-non-const-parameter): zlib writes to it */
static struct acog_view compress_text(struct acog_view text, int window, char *out, size_t room)
{
    unsigned char copy[8192];
    z_stream zlib = {.next_out = (Bytef *)out, .avail_out = (uInt)room};
    assert_true(text.len <= sizeof(copy));
    memcpy(copy, text.ptr, text.len);
    zlib.next_in = copy;
    zlib.avail_in = (uInt)text.len;
    assert_int_equal(deflateInit2(&zlib, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    size_t length = room - zlib.avail_out;
    (void)deflateEnd(&zlib);
    return (struct acog_view){.ptr = out, .len = length};
}

/* Feeds `coded` in pieces of `step` bytes; what comes out is appended to `clear`. */
static enum acog_code feed(struct acog_inflate *decoder, struct acog_view coded, size_t step,
                           struct acog_buffer *clear)
{
    char out[64];
    for (size_t at = 0; at < coded.len; at += step) {
        struct acog_view piece = acog_view_slice(coded, at, at + step);
        size_t made = sizeof(out);
        while (made == sizeof(out)) {
            enum acog_code code = acog_inflate_feed(decoder, &piece, out, sizeof(out), &made);
            if (code != ACOG_OK) {
                return code;
            }
            assert_int_equal(acog_buffer_append(clear, (struct acog_view){.ptr = out, .len = made}),
                             ACOG_OK);
        }
        assert_int_equal(piece.len, 0);
    }
    return ACOG_OK;
}

static void expect_text(enum acog_coding coding, struct acog_view coded, struct acog_view text)
{
    for (size_t step = 1; step <= coded.len; step = step < 4 ? step + 1 : step * 3) {
        struct acog_inflate *decoder = acog_inflate_new(coding, 10000);
        struct acog_buffer clear;
        acog_buffer_init(&clear, 20000);
        assert_int_equal(feed(decoder, coded, step, &clear), ACOG_OK);
        assert_true(acog_inflate_complete(decoder));
        assert_true(acog_view_equal(acog_buffer_view(&clear), text));
        acog_buffer_fini(&clear);
        acog_inflate_free(&decoder);
        assert_null(decoder);
    }
}

static enum acog_code code_of(enum acog_coding coding, struct acog_view coded,
                              uint64_t decoded_bytes_max, bool *complete)
{
    struct acog_inflate *decoder = acog_inflate_new(coding, decoded_bytes_max);
    struct acog_buffer clear;
    acog_buffer_init(&clear, 20000);
    enum acog_code code = feed(decoder, coded, coded.len, &clear);
    *complete = acog_inflate_complete(decoder);
    acog_buffer_fini(&clear);
    acog_inflate_free(&decoder);
    return code;
}

static void the_three_forms_come_out_in_clear(void **state)
{
    char coded[9000];
    char text[5000];
    (void)state;
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = (char)('a' + i * i % 19);
    }
    struct acog_view all = {.ptr = text, .len = sizeof(text)};
    expect_text(ACOG_CODING_GZIP, compress_text(all, WINDOW_GZIP, coded, sizeof(coded)), all);
    expect_text(ACOG_CODING_DEFLATE, compress_text(all, WINDOW_ZLIB, coded, sizeof(coded)), all);
    expect_text(ACOG_CODING_DEFLATE, compress_text(all, WINDOW_RAW, coded, sizeof(coded)), all);
}

static void gzip_members_follow_each_other(void **state)
{
    char coded[200];
    (void)state;
    struct acog_view one = compress_text(ACOG_VIEW("hello "), WINDOW_GZIP, coded, sizeof(coded));
    struct acog_view two =
        compress_text(ACOG_VIEW("world"), WINDOW_GZIP, coded + one.len, sizeof(coded) - one.len);
    expect_text(ACOG_CODING_GZIP, (struct acog_view){.ptr = coded, .len = one.len + two.len},
                ACOG_VIEW("hello world"));
}

static void what_follows_the_data_is_broken(void **state)
{
    char coded[200];
    bool complete = false;
    (void)state;
    struct acog_view one = compress_text(ACOG_VIEW("hello"), WINDOW_GZIP, coded, sizeof(coded));
    coded[one.len] = 'x';
    one.len++;
    assert_int_equal(code_of(ACOG_CODING_GZIP, one, 100, &complete), ACOG_OK);
    assert_false(complete); /* the beginning of a member */
    coded[one.len] = 'y';
    coded[one.len + 1] = 'z';
    one.len += 2;
    assert_int_equal(code_of(ACOG_CODING_GZIP, one, 100, &complete), ACOG_INVALID);
    struct acog_view zlib = compress_text(ACOG_VIEW("hello"), WINDOW_ZLIB, coded, sizeof(coded));
    coded[zlib.len] = 'x';
    zlib.len++;
    assert_int_equal(code_of(ACOG_CODING_DEFLATE, zlib, 100, &complete), ACOG_INVALID);
}

static void the_limit_is_exact(void **state)
{
    char coded[200];
    char zeros[1000] = {0};
    bool complete = false;
    (void)state;
    struct acog_view bomb = compress_text((struct acog_view){.ptr = zeros, .len = sizeof(zeros)},
                                          WINDOW_GZIP, coded, sizeof(coded));
    assert_int_equal(code_of(ACOG_CODING_GZIP, bomb, 1000, &complete), ACOG_OK);
    assert_int_equal(code_of(ACOG_CODING_GZIP, bomb, 999, &complete), ACOG_TOO_BIG);
}

static void damage_is_found(void **state)
{
    char coded[200];
    bool complete = false;
    (void)state;
    struct acog_view whole = compress_text(ACOG_VIEW("hello"), WINDOW_GZIP, coded, sizeof(coded));
    for (size_t length = 1; length < whole.len; length++) {
        assert_int_equal(
            code_of(ACOG_CODING_GZIP, acog_view_slice(whole, 0, length), 100, &complete), ACOG_OK);
        assert_false(complete);
    }
    coded[whole.len - 8] = (char)(coded[whole.len - 8] ^ 1); /* the checksum */
    assert_int_equal(code_of(ACOG_CODING_GZIP, whole, 100, &complete), ACOG_INVALID);
    assert_int_equal(code_of(ACOG_CODING_GZIP, ACOG_VIEW("hello"), 100, &complete), ACOG_INVALID);
}

static void nothing_at_all_is_complete(void **state)
{
    (void)state;
    struct acog_inflate *decoder = acog_inflate_new(ACOG_CODING_GZIP, 100);
    char out[64];
    size_t made = 1;
    struct acog_view none = {0};
    assert_true(acog_inflate_complete(decoder));
    assert_int_equal(acog_inflate_feed(decoder, &none, out, sizeof(out), &made), ACOG_OK);
    assert_int_equal(made, 0);
    acog_inflate_free(&decoder);
    acog_inflate_free(&decoder);
}

static void codings_are_read_as_they_are_written(void **state)
{
    (void)state;
    assert_int_equal(acog_coding_of(ACOG_VIEW("")), ACOG_CODING_IDENTITY);
    assert_int_equal(acog_coding_of(ACOG_VIEW(" Identity ")), ACOG_CODING_IDENTITY);
    assert_int_equal(acog_coding_of(ACOG_VIEW("GZIP")), ACOG_CODING_GZIP);
    assert_int_equal(acog_coding_of(ACOG_VIEW("x-gzip")), ACOG_CODING_GZIP);
    assert_int_equal(acog_coding_of(ACOG_VIEW("deflate")), ACOG_CODING_DEFLATE);
    assert_int_equal(acog_coding_of(ACOG_VIEW("br")), ACOG_CODING_OTHER);
    assert_int_equal(acog_coding_of(ACOG_VIEW("gzip, gzip")), ACOG_CODING_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_forms_come_out_in_clear),
        cmocka_unit_test(gzip_members_follow_each_other),
        cmocka_unit_test(what_follows_the_data_is_broken),
        cmocka_unit_test(the_limit_is_exact),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(nothing_at_all_is_complete),
        cmocka_unit_test(codings_are_read_as_they_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
