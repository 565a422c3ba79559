/* told.h - what the tests of the reader's files share: a story is the same however its bytes are cut. */
#ifndef ACOG_TESTS_UNIT_HTTP_TOLD_H
#define ACOG_TESTS_UNIT_HTTP_TOLD_H

#include "tests/support/check.h"
#include "tests/support/http_story.h"

#include <stdio.h>

static const struct acog_http_reader_limits usual = {
    .head_bytes_max = 2048, .fields_max = 20, .body_bytes_max = 1000};

/* Tells the story of `bytes` whole, after checking that cuts do not change it. */
static inline void check_story(struct http_story how, struct acog_view bytes, const char *expected)
{
    how.limits = how.limits.fields_max == 0 ? usual : how.limits;
    assert_true(http_story_same_when_cut(&how, bytes, 1, 0));
    assert_true(http_story_same_when_cut(&how, bytes, 0, 7));
    assert_true(http_story_same_when_cut(&how, bytes, 0, 99));
    http_story_tell(&how, bytes);
    assert_int_equal(acog_buffer_append(&how.text, (struct acog_view){.ptr = "", .len = 1}),
                     ACOG_OK);
    assert_string_equal(how.text.ptr, expected);
    http_story_fini(&how);
}

static inline void check_request(const char *bytes, const char *expected)
{
    check_story((struct http_story){.role = ACOG_HTTP_REQUEST}, acog_view_of(bytes), expected);
}

static inline void check_response(const char *bytes, const char *expected)
{
    check_story((struct http_story){.role = ACOG_HTTP_RESPONSE, .close = true}, acog_view_of(bytes),
                expected);
}

/* A request with one more header, so that a test can name just that. */
static inline void check_header(const char *lines, const char *expected)
{
    char bytes[4096];
    (void)snprintf(bytes, sizeof(bytes), "POST / HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n", lines);
    check_request(bytes, expected);
}

#endif
