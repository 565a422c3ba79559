/* sse_test.c - events in any line ends and any pieces, and raw bytes that add up to the input. */
#include "acog/sse.h"

#include "acog/memory.h"
#include "tests/support/check.h"
#include "tests/support/sse_seen.h"

#include <stdio.h>
#include <string.h>

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
    acog_buffer_init(&rewritten, SEEN_BYTES_MAX);
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

/* The standard drops an id with a NUL; names and data keep theirs, and whatever else is no text: JSON judges it. */
static void nul_and_broken_characters_are_bytes_of_the_data(void **state)
{
    const struct acog_view text =
        ACOG_VIEW("id: a\0b\nevent: e\0\ndata: 1\0\xff\xc3\n\ndata: 2\n\0: x\n\n");
    const struct acog_view wanted = ACOG_VIEW("e\0|1\0\xff\xc3\x1e|2\x1e");
    struct seen runs[] = {read_all(text, NULL, NULL, true), read_all(text, one_byte, NULL, true)};
    (void)state;
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        assert_true(acog_view_equal(acog_buffer_view(&runs[i].events), wanted));
        assert_true(acog_view_equal(acog_buffer_view(&runs[i].raw), text));
        forget(&runs[i]);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_in_any_spelling),
        cmocka_unit_test(lines_of_data_are_joined),
        cmocka_unit_test(comments_are_blocks_without_data),
        cmocka_unit_test(a_bom_is_skipped_at_the_start_only),
        cmocka_unit_test(the_end_gives_out_what_no_blank_line_ended),
        cmocka_unit_test(characters_are_cut_anywhere),
        cmocka_unit_test(nul_and_broken_characters_are_bytes_of_the_data),
        cmocka_unit_test(line_ends_may_be_mixed),
        cmocka_unit_test(an_event_never_waits_for_a_line_feed),
        cmocka_unit_test(a_late_line_feed_at_the_end_is_a_block_of_its_own),
        cmocka_unit_test(a_whole_event_is_not_copied),
        cmocka_unit_test(a_whole_event_after_a_cut_one_is_not_copied),
        cmocka_unit_test(an_event_above_the_cap_breaks_the_stream),
        cmocka_unit_test(no_memory_is_an_ordinary_error),
    };
    return cmocka_run_group_tests_name("sse", tests, NULL, NULL);
}
