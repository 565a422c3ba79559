/* sse_test.c - events in any line ends and any pieces, and raw bytes that add up to the input. */
#include "acog/sse.h"

#include "acog/memory.h"
#include "acog/random.h"
#include "tests/support/check.h"
#include "tests/support/corpus.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#define EVENT_BYTES_MAX ((size_t)1 << 20U)

/* What came out: one line per event with data, and all raw bytes. */
struct seen {
    struct acog_buffer events;
    struct acog_buffer raw;
    size_t blocks;
    bool copied;
};

static void note(struct seen *seen, const struct acog_sse_event *event)
{
    seen->blocks++;
    seen->copied = seen->copied || event->gathered;
    assert_int_equal(acog_buffer_append(&seen->raw, event->raw), ACOG_OK);
    if (event->has_data) {
        assert_int_equal(acog_buffer_append(&seen->events, event->name), ACOG_OK);
        assert_int_equal(acog_buffer_append(&seen->events, ACOG_VIEW("|")), ACOG_OK);
        assert_int_equal(acog_buffer_append(&seen->events, event->data), ACOG_OK);
        assert_int_equal(acog_buffer_append(&seen->events, ACOG_VIEW("\x1e")), ACOG_OK);
    } else {
        assert_int_equal(event->data.len, 0);
    }
}

static void feed(struct acog_sse_reader *reader, struct acog_view bytes, struct seen *seen)
{
    enum acog_code code = ACOG_OK;
    while (code == ACOG_OK) {
        struct acog_sse_event event;
        size_t used = 0;
        code = acog_sse_next(reader, bytes, &used, &event);
        assert_true(used <= bytes.len);
        bytes = acog_view_slice(bytes, used, bytes.len);
        if (code == ACOG_OK) {
            assert_true(used > 0);
            note(seen, &event);
        }
    }
    assert_int_equal(code, ACOG_AGAIN);
    assert_int_equal(bytes.len, 0);
}

/* Feeds `text` in pieces that `cut` chooses (NULL: whole), with or without what acog_sse_end() gives. */
static struct seen read_all(struct acog_view text, size_t (*cut)(size_t left, void *user),
                            void *user, bool with_end)
{
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    struct seen seen = {0};
    acog_buffer_init(&seen.events, ACOG_CORPUS_FILE_BYTES_MAX);
    acog_buffer_init(&seen.raw, ACOG_CORPUS_FILE_BYTES_MAX);
    acog_sse_init(&reader, EVENT_BYTES_MAX);
    while (text.len > 0) {
        size_t bytes = cut == NULL ? text.len : cut(text.len, user);
        feed(&reader, acog_view_slice(text, 0, bytes), &seen);
        text = acog_view_slice(text, bytes, text.len);
    }
    if (with_end && acog_sse_end(&reader, &event) == ACOG_OK) {
        note(&seen, &event);
        assert_int_equal(acog_sse_end(&reader, &event), ACOG_AGAIN);
    }
    acog_sse_fini(&reader);
    return seen;
}

static void forget(struct seen *seen)
{
    acog_buffer_fini(&seen->events);
    acog_buffer_fini(&seen->raw);
}

static size_t one_byte(size_t left, void *user)
{
    (void)left;
    (void)user;
    return 1;
}

static size_t random_piece(size_t left, void *user)
{
    int64_t most = left > 700 ? 700 : (int64_t)left;
    return (size_t)acog_random_between(user, 1, most);
}

/* Cuts between each CR and its LF, and nowhere else. */
struct cr_cutter {
    const char *at;
};

static size_t behind_cr(size_t left, void *user)
{
    struct cr_cutter *cutter = user;
    const char *cr = memchr(cutter->at, '\r', left);
    size_t bytes = cr == NULL ? left : (size_t)(cr - cutter->at) + 1;
    cutter->at += bytes;
    return bytes;
}

static void expect_events(struct acog_view text, const char *events)
{
    uint64_t seed = text.len;
    struct cr_cutter cutter = {text.ptr};
    struct seen runs[] = {
        read_all(text, NULL, NULL, true),
        read_all(text, one_byte, NULL, true),
        read_all(text, behind_cr, &cutter, true),
        read_all(text, random_piece, &seed, true),
    };
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        assert_true(acog_view_equal(acog_buffer_view(&runs[i].events), acog_view_of(events)));
        assert_true(acog_view_equal(acog_buffer_view(&runs[i].raw), text));
        forget(&runs[i]);
    }
}

/* `text` with every LF written as `line_end`. */
static void with_line_ends(struct acog_view text, struct acog_view line_end, const char *events)
{
    struct acog_buffer rewritten;
    acog_buffer_init(&rewritten, ACOG_CORPUS_FILE_BYTES_MAX);
    for (size_t i = 0; i < text.len; i++) {
        struct acog_view byte = acog_view_slice(text, i, i + 1);
        assert_int_equal(acog_buffer_append(&rewritten, byte.ptr[0] == '\n' ? line_end : byte),
                         ACOG_OK);
    }
    expect_events(acog_buffer_view(&rewritten), events);
    acog_buffer_fini(&rewritten);
}

static void expect(const char *text, const char *events)
{
    with_line_ends(acog_view_of(text), ACOG_VIEW("\n"), events);
    with_line_ends(acog_view_of(text), ACOG_VIEW("\r\n"), events);
    with_line_ends(acog_view_of(text), ACOG_VIEW("\r"), events);
}

/* B55: line ends, optional space, other fields, field order. */
static void fields_come_in_any_spelling(void **state)
{
    (void)state;
    expect("event: a\ndata: 1\n\n", "a|1\x1e");
    expect("data:1\nevent:a\n\n", "a|1\x1e");
    expect("data:  two\n\n", "| two\x1e");
    expect("id: 1\nretry: 10\ndata: 1\n\n", "|1\x1e");
    expect("data\n\n", "|\x1e");
    expect("data:\n\n", "|\x1e");
    expect("event: a\nevent: b\ndata: 1\n\n", "b|1\x1e");
    expect("event: a\n\ndata: 1\n\n", "|1\x1e");
    expect("datax: 1\ndat: 2\n data: 3\n\n", "");
    expect("\n\n\ndata: 1\n\n\n\n", "|1\x1e");
    expect("data: a:b: c\n\n", "|a:b: c\x1e");
}

static void lines_of_data_are_joined(void **state)
{
    (void)state;
    expect("data: 1\ndata: 2\ndata\ndata: 3\n\n", "|1\n2\n\n3\x1e");
    expect("data\ndata\n\n", "|\n\x1e");
}

static void comments_are_blocks_without_data(void **state)
{
    struct seen seen =
        read_all(ACOG_VIEW(": OPENROUTER PROCESSING\n\n: x\ndata: 1\n\n"), NULL, NULL, true);
    (void)state;
    assert_int_equal(seen.blocks, 2);
    forget(&seen);
    expect(": OPENROUTER PROCESSING\n\n:\n\n: x\ndata: 1\n: y\n\n", "|1\x1e");
}

static void a_bom_is_skipped_at_the_start_only(void **state)
{
    (void)state;
    expect("\xef\xbb\xbf"
           "data: 1\n\n\xef\xbb\xbf"
           "data: 2\n\ndata: 3\n\n",
           "|1\x1e|3\x1e");
    expect("\xef\xbb\xbf\n\ndata: 1\n\n", "|1\x1e");
    expect("\xef\xbb\xbf", "");
}

/* 27 of 1,151 recorded chat streams do not end in a blank line. */
static void the_end_gives_out_what_no_blank_line_ended(void **state)
{
    (void)state;
    expect("data: 1\n\ndata: [DONE]", "|1\x1e|[DONE]\x1e");
    expect("data: 1\n\ndata: [DONE]\n", "|1\x1e|[DONE]\x1e");
    expect("data: 1\n\n: bye", "|1\x1e");
}

/* B53: a character of several bytes cut by reads. */
static void characters_are_cut_anywhere(void **state)
{
    (void)state;
    expect("data: {\"content\":\"\xe5\xa4\xa9\xe6\xb0\x97 \xf0\x9f\x99\x82 \xc3\xa9\"}\n\n",
           "|{\"content\":\"\xe5\xa4\xa9\xe6\xb0\x97 \xf0\x9f\x99\x82 \xc3\xa9\"}\x1e");
}

static void line_ends_may_be_mixed(void **state)
{
    (void)state;
    expect_events(ACOG_VIEW("data: 1\r\n\ndata: 2\n\r\ndata: 3\r\rdata: 4\n\n"),
                  "|1\x1e|2\x1e|3\x1e|4\x1e");
    expect_events(ACOG_VIEW("data: 1\r\n\r\r\n\ndata: 2\r\n\r"), "|1\x1e|2\x1e");
}

/* B55: an event that a CR ends is given out at once; a LF that follows opens the next raw block. */
static void an_event_never_waits_for_a_line_feed(void **state)
{
    static const char *const ends[] = {"\r\r", "\n\r", "\r\n\r"};
    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char text[32];
        struct acog_sse_reader reader;
        struct acog_sse_event event;
        size_t used = 0;
        size_t length = (size_t)snprintf(text, sizeof(text), "data: 1%s", ends[i]);
        acog_sse_init(&reader, EVENT_BYTES_MAX);
        assert_int_equal(acog_sse_next(&reader, (struct acog_view){text, length}, &used, &event),
                         ACOG_OK);
        assert_int_equal(used, length);
        assert_true(acog_view_equal(event.data, ACOG_VIEW("1")));
        assert_int_equal(acog_sse_next(&reader, ACOG_VIEW("\ndata: 2\n\n"), &used, &event),
                         ACOG_OK);
        assert_true(acog_view_equal(event.raw, ACOG_VIEW("\ndata: 2\n\n")));
        assert_true(acog_view_equal(event.data, ACOG_VIEW("2")));
        assert_int_equal(acog_sse_end(&reader, &event), ACOG_AGAIN);
        acog_sse_fini(&reader);
    }
}

static void a_late_line_feed_at_the_end_is_a_block_of_its_own(void **state)
{
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    size_t used = 0;
    (void)state;
    acog_sse_init(&reader, EVENT_BYTES_MAX);
    assert_int_equal(acog_sse_next(&reader, ACOG_VIEW("data: 1\r\n\r"), &used, &event), ACOG_OK);
    assert_int_equal(acog_sse_next(&reader, ACOG_VIEW("\n"), &used, &event), ACOG_AGAIN);
    assert_int_equal(acog_sse_end(&reader, &event), ACOG_OK);
    assert_true(acog_view_equal(event.raw, ACOG_VIEW("\n")));
    assert_false(event.has_data);
    acog_sse_fini(&reader);
}

static void a_whole_event_is_not_copied(void **state)
{
    struct acog_view text = ACOG_VIEW("event: a\ndata: 1\n\ndata: 2\n\n");
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    size_t used = 0;
    (void)state;
    acog_sse_init(&reader, EVENT_BYTES_MAX);
    assert_int_equal(acog_sse_next(&reader, text, &used, &event), ACOG_OK);
    assert_ptr_equal(event.raw.ptr, text.ptr);
    assert_ptr_equal(event.data.ptr, text.ptr + 15);
    assert_false(event.gathered);
    assert_null(reader.pending.ptr);
    acog_sse_fini(&reader);
}

static void a_whole_event_after_a_cut_one_is_not_copied(void **state)
{
    struct acog_view text = ACOG_VIEW("1\n\ndata: 2\n\n");
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    size_t used = 0;
    (void)state;
    acog_sse_init(&reader, EVENT_BYTES_MAX);
    assert_int_equal(acog_sse_next(&reader, ACOG_VIEW("data: "), &used, &event), ACOG_AGAIN);
    assert_int_equal(acog_sse_next(&reader, text, &used, &event), ACOG_OK);
    assert_true(event.gathered);
    assert_true(acog_view_equal(event.raw, ACOG_VIEW("data: 1\n\n")));
    text = acog_view_slice(text, used, text.len);
    assert_int_equal(acog_sse_next(&reader, text, &used, &event), ACOG_OK);
    assert_false(event.gathered);
    assert_true(acog_view_equal(event.data, ACOG_VIEW("2")));
    acog_sse_fini(&reader);
}

static void an_event_above_the_cap_breaks_the_stream(void **state)
{
    struct acog_view text = ACOG_VIEW("data: 123456\n\n");
    struct acog_sse_event event;
    size_t used = 0;
    (void)state;
    for (size_t max = text.len - 1; max <= text.len; max++) {
        struct acog_sse_reader reader;
        enum acog_code want = max < text.len ? ACOG_TOO_BIG : ACOG_OK;
        acog_sse_init(&reader, max);
        assert_int_equal(acog_sse_next(&reader, text, &used, &event), want);
        acog_sse_fini(&reader);
        acog_sse_init(&reader, max);
        assert_int_equal(acog_sse_next(&reader, ACOG_VIEW("data: 12"), &used, &event), ACOG_AGAIN);
        assert_int_equal(acog_sse_next(&reader, ACOG_VIEW("3456\n\n"), &used, &event), want);
        acog_sse_fini(&reader);
    }
}

static bool always_fails(void *user)
{
    (void)user;
    return true;
}

static void no_memory_is_an_ordinary_error(void **state)
{
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    size_t used = 0;
    (void)state;
    acog_sse_init(&reader, EVENT_BYTES_MAX);
    acog_memory_fail_when(always_fails, NULL);
    enum acog_code whole = acog_sse_next(&reader, ACOG_VIEW("data: 1\n\n"), &used, &event);
    enum acog_code joined =
        acog_sse_next(&reader, ACOG_VIEW("data: 1\ndata: 2\n\n"), &used, &event);
    enum acog_code cut = acog_sse_next(&reader, ACOG_VIEW("data: 1"), &used, &event);
    acog_memory_fail_when(NULL, NULL);
    assert_int_equal(whole, ACOG_OK);
    assert_int_equal(joined, ACOG_NO_MEMORY);
    assert_int_equal(cut, ACOG_NO_MEMORY);
    acog_sse_fini(&reader);
}

/* -- captured data --------------------------------------------------------------------------------- */

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
    if (acog_corpus_missing()) {
        skip();
    }
    assert_true(acog_corpus_read("3-protocol/sse/sse-vectors.open.json", &file));
    json_t *vectors = json_loadb(file.ptr, file.len, 0, NULL);
    assert_non_null(vectors);
    json_array_foreach (vectors, index, vector) {
        struct acog_buffer text;
        struct acog_buffer want;
        size_t i = 0;
        json_t *item = NULL;
        acog_buffer_init(&text, ACOG_CORPUS_FILE_BYTES_MAX);
        acog_buffer_init(&want, ACOG_CORPUS_FILE_BYTES_MAX);
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
    if (acog_corpus_missing()) {
        skip();
    }
    size_t files = acog_corpus_each("1-llm/streams", ".sse", check_stream, &blocks);
    (void)printf("captured streams: %zu, %zu events\n", files, blocks);
    assert_true(files > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_in_any_spelling),
        cmocka_unit_test(lines_of_data_are_joined),
        cmocka_unit_test(comments_are_blocks_without_data),
        cmocka_unit_test(a_bom_is_skipped_at_the_start_only),
        cmocka_unit_test(the_end_gives_out_what_no_blank_line_ended),
        cmocka_unit_test(characters_are_cut_anywhere),
        cmocka_unit_test(line_ends_may_be_mixed),
        cmocka_unit_test(an_event_never_waits_for_a_line_feed),
        cmocka_unit_test(a_late_line_feed_at_the_end_is_a_block_of_its_own),
        cmocka_unit_test(a_whole_event_is_not_copied),
        cmocka_unit_test(a_whole_event_after_a_cut_one_is_not_copied),
        cmocka_unit_test(an_event_above_the_cap_breaks_the_stream),
        cmocka_unit_test(no_memory_is_an_ordinary_error),
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(raw_bytes_of_captured_streams_add_up_for_any_split),
    };
    return cmocka_run_group_tests_name("sse", tests, NULL, NULL);
}
