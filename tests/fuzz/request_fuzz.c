/* request_fuzz.c - any bytes as a client's body; the first byte chooses the surface.
 *
 * What is accepted is strict JSON, its spans lie inside it, and cutting the pin out leaves strict JSON. What is refused
 * says why.
 */
#include "acog/buffer.h"
#include "acog/contract.h"
#include "acog/dialect.h"

#include <string.h>

#define DEPTH_MAX 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void is_inside(struct acog_view span, struct acog_view body)
{
    if (span.len > 0) {
        ACOG_ASSERT(span.ptr >= body.ptr);
        ACOG_ASSERT(span.ptr + span.len <= body.ptr + body.len);
    }
}

static void is_json(struct acog_view text)
{
    struct acog_json_value value;
    struct acog_json_error error;
    ACOG_ASSERT(acog_json_check(text, DEPTH_MAX, &value, &error) == ACOG_OK);
}

static void cut_out_pin(struct acog_view object, struct acog_arena *arena)
{
    struct acog_view values[2];
    struct acog_view span;
    struct acog_buffer rest;
    size_t count =
        acog_dialect_read_pin(object, ACOG_VIEW("provider.only"), arena, values, 2, &span);
    ACOG_ASSERT(count <= 2);
    is_inside(span, object);
    if (span.len == 0) {
        return;
    }
    size_t from = (size_t)(span.ptr - object.ptr);
    acog_buffer_init(&rest, object.len + 1);
    ACOG_ASSERT(acog_buffer_append(&rest, acog_view_slice(object, 0, from)) == ACOG_OK);
    ACOG_ASSERT(acog_buffer_append(&rest, acog_view_slice(object, from + span.len, object.len)) ==
                ACOG_OK);
    is_json(acog_buffer_view(&rest));
    acog_buffer_fini(&rest);
}

static void check_accepted(const struct acog_client_request *request, struct acog_view body,
                           struct acog_arena *arena)
{
    const struct acog_request_spans *spans = &request->spans;
    is_json(body);
    is_json(spans->object);
    is_json(spans->model);
    is_inside(spans->object, body);
    is_inside(spans->model, spans->object);
    is_inside(spans->stream_options, spans->object);
    is_inside(spans->include_usage, spans->stream_options);
    ACOG_ASSERT(request->model.len > 0);
    ACOG_ASSERT(request->max_tokens >= -1);
    ACOG_ASSERT(request->choices >= 1);
    if (spans->stream_options.len > 0) {
        is_json(spans->stream_options);
    }
    cut_out_pin(spans->object, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acog_arena arena;
    struct acog_client_request request;
    struct acog_request_problem problem;
    if (size == 0) {
        return 0;
    }
    struct acog_view body = {.ptr = (const char *)data + 1, .len = size - 1};
    enum acog_surface surface = (enum acog_surface)(data[0] % ACOG_SURFACE_COUNT);
    acog_arena_init(&arena, (size_t)1 << 20U);
    enum acog_code code =
        acog_dialect_read_request(surface, body, DEPTH_MAX, &arena, &request, &problem);
    ACOG_ASSERT((code == ACOG_OK) == (problem.text[0] == '\0'));
    ACOG_ASSERT(strlen(problem.text) < sizeof(problem.text));
    if (code == ACOG_OK) {
        check_accepted(&request, body, &arena);
    } else {
        ACOG_ASSERT(code == ACOG_INVALID);
    }
    acog_arena_fini(&arena);
    return 0;
}
