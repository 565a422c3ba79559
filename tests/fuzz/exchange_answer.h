/* exchange_answer.h - whether a reply is a complete answer of a dialect, as its own readers see it. */
#ifndef ACOG_TESTS_FUZZ_EXCHANGE_ANSWER_H
#define ACOG_TESTS_FUZZ_EXCHANGE_ANSWER_H

#include "acog/dialect.h"
#include "acog/sse.h"

static inline bool is_complete_stream(enum acog_dialect dialect, struct acog_view bytes,
                                      struct acog_arena *arena)
{
    struct acog_stream_tracker tracker;
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    bool good = true;
    acog_stream_tracker_init(&tracker, dialect);
    acog_sse_init(&reader, bytes.len + 1);
    while (good && bytes.len > 0) {
        struct acog_failure failure = {.retry_after_ms = -1};
        unsigned outputs = 0;
        size_t used = 0;
        if (acog_sse_next(&reader, bytes, &used, &event) == ACOG_OK) {
            enum acog_stream_event kind = acog_stream_tracker_read(&tracker, event.name, event.data,
                                                                   arena, &outputs, &failure);
            good = kind != ACOG_STREAM_EVENT_ERROR && kind != ACOG_STREAM_EVENT_BAD;
        }
        bytes = acog_view_slice(bytes, used, bytes.len);
    }
    acog_sse_fini(&reader);
    return good && acog_stream_tracker_complete(&tracker);
}

static inline bool is_whole_answer(enum acog_dialect dialect, enum acog_surface surface,
                                   struct acog_view bytes, struct acog_arena *arena)
{
    struct acog_whole_answer answer = {0};
    struct acog_failure failure = {.retry_after_ms = -1};
    return acog_dialect_read_answer(dialect, surface, bytes, arena, &answer, &failure) == ACOG_OK &&
           !answer.is_error;
}

#endif
