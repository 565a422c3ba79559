/* media_test.c - what a medium is, out of an address, a name, a word. */
#include "core/dialect/media.h"

#include "tests/support/check.h"

struct read {
    struct acog_arena arena;
    struct acog_media media;
};

static struct read read_url(const char *inside, bool escaped)
{
    struct read read = {.media = {.kind = ACOG_MEDIA_IMAGE}};
    acog_arena_init(&read.arena, 4096);
    struct acog_text url = {.bytes = acog_view_of(inside), .escaped = escaped};
    assert_int_equal(acog_media_read_url(url, &read.arena, &read.media), ACOG_OK);
    return read;
}

static void base64(const char *inside, bool escaped, const char *type, const char *data)
{
    struct read read = read_url(inside, escaped);
    assert_int_equal(read.media.source, ACOG_MEDIA_BASE64);
    assert_true(acog_view_equal(read.media.media_type, acog_view_of(type)));
    assert_true(acog_view_equal(read.media.data.bytes, acog_view_of(data)));
    assert_int_equal(read.media.data.escaped, escaped);
    acog_arena_fini(&read.arena);
}

static void address(const char *inside)
{
    struct read read = read_url(inside, false);
    assert_int_equal(read.media.source, ACOG_MEDIA_URL);
    assert_int_equal(read.media.media_type.len, 0);
    assert_int_equal(read.media.kind, ACOG_MEDIA_IMAGE);
    assert_true(acog_view_equal(read.media.data.bytes, acog_view_of(inside)));
    acog_arena_fini(&read.arena);
}

/* B16 */
static void a_data_url_is_a_type_and_bytes(void **state)
{
    (void)state;
    base64("data:image/png;base64,iVBO=", false, "image/png", "iVBO=");
    base64("data:image\\/png;base64,\\/9j", true, "image/png", "\\/9j");
    base64("data:text/plain;charset=utf-8;base64,QQ==", false, "text/plain", "QQ==");
    base64("data:image/svg+xml;base64,", false, "image/svg+xml", "");
    base64("data:image/jpg;base64,/9j", false, "image/jpeg", "/9j"); /* misspelt */
    base64("data:image/PNG;base64,/9j", false, "image/png", "/9j");
}

/* What is no type would come between quotes. */
static void anything_else_stays_an_address(void **state)
{
    (void)state;
    address("https://img.example/x.webp?sig=a%2Bb");
    address("data:text/plain,hello");
    address("data:;base64,QQ==");
    address("data:image;base64,QQ==");
    address("data:image/p\"ng;base64,QQ==");
    address("data:image/png");
    address("");
}

/* Clients put PDFs where images go. */
static void a_data_url_says_its_kind(void **state)
{
    (void)state;

    static const struct {
        const char *url;
        enum acog_media_kind kind;
    } rows[] = {
        {"data:application/pdf;base64,QQ==", ACOG_MEDIA_DOCUMENT},
        {"data:audio/wav;base64,QQ==", ACOG_MEDIA_AUDIO},
        {"data:image/png;base64,QQ==", ACOG_MEDIA_IMAGE},
        {"data:application/octet-stream;base64,QQ==", ACOG_MEDIA_IMAGE}, /* says nothing */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct read read = read_url(rows[i].url, false);
        assert_int_equal(read.media.kind, rows[i].kind);
        acog_arena_fini(&read.arena);
    }
}

/* B16 */
static void an_address_or_bytes_are_readable_and_nothing_else(void **state)
{
    (void)state;

    static const struct {
        const char *url;
        bool readable;
    } rows[] = {
        {"https://img.example/x.webp", true},
        {"data:image/png;base64,QQ==", true},
        {"data:image/png;base64,", false},
        {"data:image/png;base32,QQ==", false},
        {"data:text/plain,hello", false},
        {"data:image/p\"ng;base64,QQ==", false},
        {"", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct read read = read_url(rows[i].url, false);
        assert_int_equal(acog_media_is_readable(&read.media), rows[i].readable);
        acog_arena_fini(&read.arena);
    }
}

static void is_file(const char *data, const char *name, enum acog_media_kind kind,
                    enum acog_media_source source, const char *type)
{
    struct acog_arena arena;
    struct acog_media media = {.kind = ACOG_MEDIA_FILE};
    struct acog_json_value file_name = {.raw = acog_view_of(name), .type = ACOG_JSON_STRING};
    acog_arena_init(&arena, 4096);
    assert_int_equal(
        acog_media_read_file(acog_text_plain(acog_view_of(data)), file_name, &arena, &media),
        ACOG_OK);
    assert_int_equal(media.kind, kind);
    assert_int_equal(media.source, source);
    assert_true(acog_view_equal(media.media_type, acog_view_of(type)));
    acog_arena_fini(&arena);
}

static void a_file_is_what_its_url_or_its_name_says(void **state)
{
    (void)state;
    is_file("data:application/pdf;base64,JVBE", "\"x\"", ACOG_MEDIA_DOCUMENT, ACOG_MEDIA_BASE64,
            "application/pdf");
    is_file("JVBE", "\"A.PDF\"", ACOG_MEDIA_DOCUMENT, ACOG_MEDIA_BASE64, "application/pdf");
    is_file("JVBE", "", ACOG_MEDIA_DOCUMENT, ACOG_MEDIA_BASE64, "application/pdf");
    is_file("JVBE", "\"a.xyz\"", ACOG_MEDIA_FILE, ACOG_MEDIA_BASE64, "application/octet-stream");
    is_file("https://a.example/b", "\"b.mp3\"", ACOG_MEDIA_AUDIO, ACOG_MEDIA_URL, "audio/mpeg");
    is_file("gs://bucket/b", "\"b.mp4\"", ACOG_MEDIA_VIDEO, ACOG_MEDIA_URL, "video/mp4");
}

/* A name and an address end in the same words. */
static void an_ending_says_the_same_of_a_name_and_of_an_address(void **state)
{
    (void)state;

    static const struct {
        const char *address;
        const char *name;
        enum acog_media_kind kind;
        const char *type;
    } rows[] = {
        {"https://x.example/a.mp3?s=1", "\"a.mp3\"", ACOG_MEDIA_AUDIO, "audio/mpeg"},
        {"https://x.example/a.flac", "\"a.flac\"", ACOG_MEDIA_AUDIO, "audio/flac"},
        {"https://x.example/A.HEIC#top", "\"A.HEIC\"", ACOG_MEDIA_IMAGE, "image/heic"},
        {"https://x.example/a.md", "\"a.md\"", ACOG_MEDIA_DOCUMENT, "text/markdown"},
        {"https://x.example/a.mov", "\"a.mov\"", ACOG_MEDIA_VIDEO, "video/quicktime"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        is_file("QQ==", rows[i].name, rows[i].kind, ACOG_MEDIA_BASE64, rows[i].type);
        assert_true(acog_view_equal(acog_media_address_type(acog_view_of(rows[i].address)),
                                    acog_view_of(rows[i].type)));
    }
    assert_int_equal(acog_media_address_type(ACOG_VIEW("https://x.example/a")).len, 0);
}

static void formats_of_audio_go_there_and_back(void **state)
{
    (void)state;
    static const char *const formats[] = {"\"mp3\"", "\"wav\"", "\"flac\"", "\"ogg\""};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct acog_json_value format = {.raw = acog_view_of(formats[i]), .type = ACOG_JSON_STRING};
        struct acog_view back = acog_media_audio_format(acog_media_audio_type(format));
        assert_true(acog_json_text_is(format, back));
    }
    struct acog_json_value none = {.raw = ACOG_VIEW("\"?\""), .type = ACOG_JSON_STRING};
    assert_int_equal(acog_media_audio_type(none).len, 0);
    assert_int_equal(acog_media_audio_format(ACOG_VIEW("audio/?")).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_data_url_is_a_type_and_bytes),
        cmocka_unit_test(anything_else_stays_an_address),
        cmocka_unit_test(a_data_url_says_its_kind),
        cmocka_unit_test(an_address_or_bytes_are_readable_and_nothing_else),
        cmocka_unit_test(a_file_is_what_its_url_or_its_name_says),
        cmocka_unit_test(an_ending_says_the_same_of_a_name_and_of_an_address),
        cmocka_unit_test(formats_of_audio_go_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
