/* stream_tracker_fuzz.c - any bytes as a provider's stream; the first byte chooses the dialect.
 *
 * The tracker ends up the same however the stream is cut; an error never ends a stream well; what came out is never
 * taken back.
 */
#include "acog/contract.h"
#include "acog/dialect.h"
#include "acog/sse.h"

#include <string.h>

#define EVENT_BYTES_MAX ((size_t)1 << 16U)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_event(struct acog_stream_tracker *tracker, const struct acog_sse_event *event)
{
    struct acog_arena arena;
    struct acog_failure failure = {.retry_after_ms = -1};
    struct acog_stream_tracker before = *tracker;
    unsigned outputs = 0;
    acog_arena_init(&arena, (size_t)1 << 20U);
    enum acog_stream_event kind =
        acog_stream_tracker_read(tracker, event->name, event->data, &arena, &outputs, &failure);
    ACOG_ASSERT(tracker->outputs == (before.outputs | outputs));
    ACOG_ASSERT(tracker->error_seen == (before.error_seen || kind == ACOG_STREAM_EVENT_ERROR));
    ACOG_ASSERT(kind != ACOG_STREAM_EVENT_OUTPUT || outputs != 0);
    ACOG_ASSERT(kind != ACOG_STREAM_EVENT_DONE || tracker->done_seen);
    ACOG_ASSERT(!before.done_seen || kind == ACOG_STREAM_EVENT_OTHER);
    ACOG_ASSERT(!tracker->error_seen || !acog_stream_tracker_complete(tracker));
    ACOG_ASSERT(strlen(tracker->id_text) < sizeof(tracker->id_text));
    ACOG_ASSERT(strlen(tracker->model_text) < sizeof(tracker->model_text));
    ACOG_ASSERT(failure.message.len <= ACOG_ERROR_MESSAGE_MAX);
    acog_arena_fini(&arena);
}

static struct acog_stream_tracker follow(enum acog_dialect dialect, struct acog_view text,
                                         size_t step)
{
    struct acog_stream_tracker tracker;
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    acog_stream_tracker_init(&tracker, dialect);
    acog_sse_init(&reader, EVENT_BYTES_MAX);
    while (text.len > 0) {
        struct acog_view piece = acog_view_slice(text, 0, step);
        text = acog_view_slice(text, piece.len, text.len);
        size_t used = 0;
        while (acog_sse_next(&reader, piece, &used, &event) == ACOG_OK) {
            read_event(&tracker, &event);
            piece = acog_view_slice(piece, used, piece.len);
        }
    }
    if (acog_sse_end(&reader, &event) == ACOG_OK) {
        read_event(&tracker, &event);
    }
    acog_sse_fini(&reader);
    return tracker;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > EVENT_BYTES_MAX) {
        return 0;
    }
    enum acog_dialect dialect = (enum acog_dialect)(data[0] % ACOG_DIALECT_COUNT);
    struct acog_view text = {.ptr = (const char *)data + 1, .len = size - 1};
    struct acog_stream_tracker whole = follow(dialect, text, size);
    struct acog_stream_tracker cut = follow(dialect, text, 1);
    ACOG_ASSERT(whole.outputs == cut.outputs);
    ACOG_ASSERT(whole.finish_seen == cut.finish_seen);
    ACOG_ASSERT(whole.done_seen == cut.done_seen);
    ACOG_ASSERT(whole.refused == cut.refused);
    ACOG_ASSERT(whole.sequence == cut.sequence);
    ACOG_ASSERT(memcmp(&whole.usage, &cut.usage, sizeof(whole.usage)) == 0);
    ACOG_ASSERT(strcmp(whole.id_text, cut.id_text) == 0);
    ACOG_ASSERT(acog_stream_tracker_complete(&whole) == acog_stream_tracker_complete(&cut));
    return 0;
}
