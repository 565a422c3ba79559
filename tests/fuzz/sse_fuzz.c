/* sse_fuzz.c - any bytes as an event stream, cut anywhere.
 *
 * The raw bytes of all events are the input, and the events are the same however the input is cut.
 */
#include "acog/contract.h"
#include "acog/sse.h"

#include <stdint.h>

#define EVENT_BYTES_MAX ((size_t)1 << 16U)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct acog_buffer raw;
    struct acog_buffer events; /* name NUL data NUL of each event with data */
};

static void add(struct acog_buffer *buffer, struct acog_view bytes)
{
    ACOG_ASSERT(acog_buffer_append(buffer, bytes) == ACOG_OK);
}

static void note(struct seen *seen, const struct acog_sse_event *event)
{
    ACOG_ASSERT(event->raw.len > 0);
    add(&seen->raw, event->raw);
    if (event->has_data) {
        add(&seen->events, event->name);
        add(&seen->events, (struct acog_view){"", 1});
        add(&seen->events, event->data);
        add(&seen->events, (struct acog_view){"", 1});
    }
}

/* `step` 0: whole; else pieces of that many bytes. */
static void read_all(struct acog_view text, size_t step, struct seen *seen)
{
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    acog_buffer_init(&seen->raw, EVENT_BYTES_MAX * 2);
    acog_buffer_init(&seen->events, EVENT_BYTES_MAX * 8);
    acog_sse_init(&reader, EVENT_BYTES_MAX);
    while (text.len > 0) {
        struct acog_view piece = acog_view_slice(text, 0, step == 0 ? text.len : step);
        text = acog_view_slice(text, piece.len, text.len);
        size_t used = 0;
        enum acog_code code = acog_sse_next(&reader, piece, &used, &event);
        while (code == ACOG_OK) {
            note(seen, &event);
            ACOG_ASSERT(used > 0);
            piece = acog_view_slice(piece, used, piece.len);
            code = acog_sse_next(&reader, piece, &used, &event);
        }
        ACOG_ASSERT(code == ACOG_AGAIN);
        ACOG_ASSERT(used == piece.len);
    }
    if (acog_sse_end(&reader, &event) == ACOG_OK) {
        note(seen, &event);
    }
    acog_sse_fini(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acog_view text = {.ptr = (const char *)data, .len = size};
    struct seen whole;
    size_t steps[] = {1, 2, size > 0 ? (size_t)data[0] % 23 + 1 : 1};
    if (size > EVENT_BYTES_MAX) {
        return 0;
    }
    read_all(text, 0, &whole);
    ACOG_ASSERT(acog_view_equal(acog_buffer_view(&whole.raw), text));
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct seen cut;
        read_all(text, steps[i], &cut);
        ACOG_ASSERT(acog_view_equal(acog_buffer_view(&cut.raw), text));
        ACOG_ASSERT(
            acog_view_equal(acog_buffer_view(&cut.events), acog_buffer_view(&whole.events)));
        acog_buffer_fini(&cut.raw);
        acog_buffer_fini(&cut.events);
    }
    acog_buffer_fini(&whole.raw);
    acog_buffer_fini(&whole.events);
    return 0;
}
