/* http_story.h - feeds bytes to the HTTP reader and tells what it said, as text: for unit tests and fuzzers.
 *
 *   head POST /v1/messages 1.1 length=3 keep [host=a][content-length=3]
 *   body "abc"
 *   end
 *
 * The pieces of one body are told as one line, so the story of a message does not depend on how its bytes were cut.
 */
#ifndef ACOG_TESTS_SUPPORT_HTTP_STORY_H
#define ACOG_TESTS_SUPPORT_HTTP_STORY_H

#include "acog/buffer.h"
#include "acog/contract.h"
#include "acog/http.h"
#include "acog/memory.h"

#include <string.h>

struct http_story {
    enum acog_http_role role;
    struct acog_http_reader_limits limits;
    bool head_request; /* for every response */
    bool close;        /* the peer closes after the last byte */
    size_t piece;      /* bytes a feed; 0: all at once */
    unsigned seed;     /* not 0: feeds of 1 to 16 bytes instead, pseudo-random */

    struct acog_buffer text; /* the story */
    bool in_body;
    bool over; /* no more bytes are taken */
    bool broken;
    size_t taken; /* bytes */
    size_t body_bytes;
    unsigned messages; /* how many came to their end */
    unsigned interims; /* 1xx */
};

static inline void http_story_say(struct http_story *story, struct acog_view text)
{
    ACOG_ASSERT(acog_buffer_append(&story->text, text) == ACOG_OK);
}

static inline void http_story_end_body(struct http_story *story)
{
    if (story->in_body) {
        http_story_say(story, ACOG_VIEW("\"\n"));
        story->in_body = false;
    }
}

static inline void http_story_head(struct http_story *story, const struct acog_http_head *head)
{
    static const char *const framings[] = {"no-body", "length", "chunked", "until-close"};
    if (story->role == ACOG_HTTP_REQUEST) {
        http_story_say(story, ACOG_VIEW("head "));
        http_story_say(story, head->method);
        http_story_say(story, ACOG_VIEW(" "));
        http_story_say(story, head->target);
    } else {
        ACOG_ASSERT(acog_buffer_format(&story->text, "head %u", head->status) == ACOG_OK);
    }
    ACOG_ASSERT(acog_buffer_format(&story->text, " 1.%d %s", head->minor,
                                   framings[head->framing]) == ACOG_OK);
    if (head->framing == ACOG_HTTP_LENGTH) {
        ACOG_ASSERT(acog_buffer_format(&story->text, "=%llu",
                                       (unsigned long long)head->content_length) == ACOG_OK);
    }
    http_story_say(story, head->keep_alive ? ACOG_VIEW(" keep") : ACOG_VIEW(" close"));
    if (head->expect_continue) {
        http_story_say(story, ACOG_VIEW(" expect"));
    }
    http_story_say(story, ACOG_VIEW(" "));
    for (size_t i = 0; i < head->field_count; i++) {
        http_story_say(story, ACOG_VIEW("["));
        http_story_say(story, head->fields[i].name);
        http_story_say(story, ACOG_VIEW("="));
        http_story_say(story, head->fields[i].value);
        http_story_say(story, ACOG_VIEW("]"));
    }
    http_story_say(story, ACOG_VIEW("\n"));
}

static inline void http_story_broken(struct http_story *story,
                                     const struct acog_http_problem *problem)
{
    ACOG_ASSERT(acog_buffer_format(&story->text, "broken %u %s\n", problem->status,
                                   problem->what) == ACOG_OK);
    story->over = true;
    story->broken = true;
}

/* One feed, until the reader wants more. */
static inline void http_story_feed(struct http_story *story, struct acog_http_reader *reader,
                                   struct acog_view bytes)
{
    for (;;) {
        if (story->over) {
            return;
        }
        size_t used = 0;
        struct acog_view body = {0};
        enum acog_http_step step = acog_http_reader_feed(reader, bytes, &used, &body);
        ACOG_ASSERT(used <= bytes.len);
        story->taken += used;
        bytes = acog_view_slice(bytes, used, bytes.len);
        if (step != ACOG_HTTP_STEP_BODY && step != ACOG_HTTP_STEP_MORE) {
            http_story_end_body(story);
        }
        switch (step) {
        case ACOG_HTTP_STEP_MORE:
            ACOG_ASSERT(bytes.len == 0);
            return;
        case ACOG_HTTP_STEP_HEAD:
            http_story_head(story, &reader->head);
            break;
        case ACOG_HTTP_STEP_INTERIM:
            ACOG_ASSERT(acog_buffer_format(&story->text, "interim %u\n", reader->head.status) ==
                        ACOG_OK);
            story->interims++;
            break;
        case ACOG_HTTP_STEP_BODY:
            ACOG_ASSERT(body.len > 0);
            if (!story->in_body) {
                http_story_say(story, ACOG_VIEW("body \""));
            }
            story->in_body = true;
            story->body_bytes += body.len;
            http_story_say(story, body);
            break;
        case ACOG_HTTP_STEP_END:
            http_story_say(story, ACOG_VIEW("end\n"));
            story->messages++;
            if (!reader->head.keep_alive) {
                story->over = true;
                break;
            }
            acog_http_reader_reset(reader);
            reader->head_request = story->head_request;
            break;
        case ACOG_HTTP_STEP_BROKEN:
            http_story_broken(story, &reader->problem);
            break;
        }
    }
}

static inline void http_story_close(struct http_story *story, struct acog_http_reader *reader)
{
    if (story->over) {
        return;
    }
    enum acog_http_step step = acog_http_reader_close(reader);
    http_story_end_body(story);
    if (step == ACOG_HTTP_STEP_BROKEN) {
        http_story_broken(story, &reader->problem);
        return;
    }
    ACOG_ASSERT(step == ACOG_HTTP_STEP_END || step == ACOG_HTTP_STEP_MORE);
    if (step == ACOG_HTTP_STEP_END) {
        http_story_say(story, ACOG_VIEW("end\n"));
        story->messages++;
    }
}

/* Each feed gets a copy of its own on the heap, so that a sanitizer sees a read beyond it. */
static inline void http_story_tell(struct http_story *story, struct acog_view bytes)
{
    struct acog_http_reader reader;
    acog_http_reader_init(&reader, story->role, &story->limits);
    reader.head_request = story->head_request;
    acog_buffer_init(&story->text, (size_t)64 << 20);
    unsigned state = story->seed;
    while (bytes.len > 0 && !story->over) {
        size_t piece = story->piece == 0 ? bytes.len : story->piece;
        if (story->seed != 0) {
            state = state * 1664525U + 1013904223U;
            piece = (state >> 24) % 16 + 1;
        }
        struct acog_view next = acog_view_slice(bytes, 0, piece);
        ACOG_ASSERT(next.ptr != NULL);
        char *copy = acog_new(next.len);
        ACOG_ASSERT(copy != NULL);
        memcpy(copy, next.ptr, next.len);
        http_story_feed(story, &reader, (struct acog_view){.ptr = copy, .len = next.len});
        acog_free(copy);
        bytes = acog_view_slice(bytes, next.len, bytes.len);
    }
    http_story_end_body(story);
    if (story->close) {
        http_story_close(story, &reader);
    }
    acog_http_reader_fini(&reader);
}

static inline void http_story_fini(struct http_story *story)
{
    acog_buffer_fini(&story->text);
}

/* Whether the story told of all bytes at once is the one told of pieces of `piece` bytes, or by `seed`. */
static inline bool http_story_same_when_cut(const struct http_story *how, struct acog_view bytes,
                                            size_t piece, unsigned seed)
{
    struct http_story whole = *how;
    struct http_story cut = *how;
    cut.piece = piece;
    cut.seed = seed;
    http_story_tell(&whole, bytes);
    http_story_tell(&cut, bytes);
    bool same = acog_view_equal(acog_buffer_view(&whole.text), acog_buffer_view(&cut.text));
    http_story_fini(&whole);
    http_story_fini(&cut);
    return same;
}

#endif
