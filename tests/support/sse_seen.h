/* sse_seen.h - feeds an event stream in any pieces and notes what comes out. */
#ifndef ACOG_TESTS_SUPPORT_SSE_SEEN_H
#define ACOG_TESTS_SUPPORT_SSE_SEEN_H

#include "acog/random.h"
#include "acog/sse.h"
#include "tests/support/check.h"

#define SEEN_BYTES_MAX  ((size_t)64 << 20U)
#define EVENT_BYTES_MAX ((size_t)1 << 20U)

/* What came out: one line per event with data, and all raw bytes. */
struct seen {
    struct acog_buffer events;
    struct acog_buffer raw;
    size_t blocks;
    bool copied;
};

static inline void note(struct seen *seen, const struct acog_sse_event *event)
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

static inline void feed(struct acog_sse_reader *reader, struct acog_view bytes, struct seen *seen)
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
static inline struct seen read_all(struct acog_view text, size_t (*cut)(size_t left, void *user),
                                   void *user, bool with_end)
{
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    struct seen seen = {0};
    acog_buffer_init(&seen.events, SEEN_BYTES_MAX);
    acog_buffer_init(&seen.raw, SEEN_BYTES_MAX);
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

static inline void forget(struct seen *seen)
{
    acog_buffer_fini(&seen->events);
    acog_buffer_fini(&seen->raw);
}

static inline size_t one_byte(size_t left, void *user)
{
    (void)left;
    (void)user;
    return 1;
}

static inline size_t random_piece(size_t left, void *user)
{
    int64_t most = left > 700 ? 700 : (int64_t)left;
    return (size_t)acog_random_between(user, 1, most);
}

#endif
