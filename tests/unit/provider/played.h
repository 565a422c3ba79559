/* played.h - a reply played to its end, for tests: the steps, the head, the joined body and the events in it. */
#ifndef ACOG_TESTS_PLAYED_H
#define ACOG_TESTS_PLAYED_H

#include "acog/arena.h"
#include "acog/buffer.h"
#include "acog/provider.h"
#include "tests/support/check.h"

#include <string.h>

#include <jansson.h>

#define PLAYED_STEPS_MAX 256

struct played {
    struct acog_arena arena;
    struct acog_provider_step steps[PLAYED_STEPS_MAX]; /* `bytes` and `headers` are not kept */
    size_t bytes[PLAYED_STEPS_MAX];                    /* of each step */
    size_t step_count;
    struct acog_buffer body;
    struct acog_buffer head; /* "name: value\n" … */
    unsigned status;
};

static inline void played_fini(struct played *played)
{
    acog_buffer_fini(&played->body);
    acog_buffer_fini(&played->head);
    acog_arena_fini(&played->arena);
}

static inline void played_add_head(struct played *played, const struct acog_provider_step *step)
{
    played->status = step->status;
    for (size_t i = 0; i < step->header_count; i++) {
        assert_int_equal(acog_buffer_format(&played->head, "%.*s: %.*s\n",
                                            ACOG_VIEW_FMT(step->headers[i].name),
                                            ACOG_VIEW_FMT(step->headers[i].value)),
                         ACOG_OK);
    }
}

/* Plays to the end; times never go back. */
static inline void played_run(struct played *played, const struct acog_provider_reply *reply,
                              const struct acog_provider_request *request)
{
    struct acog_provider_step step;
    *played = (struct played){0};
    acog_arena_init(&played->arena, (size_t)4 << 20);
    acog_buffer_init(&played->body, (size_t)4 << 20);
    acog_buffer_init(&played->head, 8192);
    struct acog_provider_play *play = acog_provider_play(reply, request, &played->arena);
    assert_non_null(play);
    int64_t last_ms = 0;
    while (acog_provider_next(play, &step)) {
        assert_true(played->step_count < PLAYED_STEPS_MAX);
        assert_true(step.at_ms >= last_ms);
        last_ms = step.at_ms;
        if (step.kind == ACOG_STEP_HEAD) {
            played_add_head(played, &step);
        }
        if (step.kind == ACOG_STEP_BODY) {
            assert_true(step.bytes.len > 0);
            assert_int_equal(acog_buffer_append(&played->body, step.bytes), ACOG_OK);
        }
        played->bytes[played->step_count] = step.bytes.len;
        played->steps[played->step_count] = step;
        played->step_count++;
    }
    assert_false(acog_provider_next(play, &step));
}

static inline enum acog_provider_step_kind played_end(const struct played *played)
{
    assert_true(played->step_count > 0);
    return played->steps[played->step_count - 1].kind;
}

static inline int64_t played_end_ms(const struct played *played)
{
    return played->steps[played->step_count - 1].at_ms;
}

static inline struct acog_view played_body(const struct played *played)
{
    return acog_buffer_view(&played->body);
}

static inline bool played_body_has(const struct played *played, const char *text)
{
    struct acog_view body = played_body(played);
    return acog_view_find(body, acog_view_of(text)) < body.len;
}

static inline bool played_head_has(const struct played *played, const char *line)
{
    struct acog_view head = acog_buffer_view(&played->head);
    return acog_view_find(head, acog_view_of(line)) < head.len;
}

/* The body as JSON; the caller gives it back. */
static inline json_t *played_json(const struct played *played)
{
    json_t *json = json_loadb(played->body.ptr, played->body.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    return json;
}

/* The `data` of all events, an array; [DONE] as the string "[DONE]". Each event's name must be its type. */
static inline json_t *played_events(const struct played *played)
{
    json_t *events = json_array();
    struct acog_view rest = played_body(played);
    while (rest.len > 0) {
        size_t end = acog_view_find(rest, ACOG_VIEW("\n\n"));
        size_t end_of_two = acog_view_find(rest, ACOG_VIEW("\r\n\r\n"));
        size_t gap = end_of_two < end ? 4 : 2;
        end = end_of_two < end ? end_of_two : end;
        assert_true(end < rest.len);
        struct acog_view event = acog_view_slice(rest, 0, end);
        rest = acog_view_slice(rest, end + gap, rest.len);
        struct acog_view name = {0};
        if (acog_view_starts(event, ACOG_VIEW("event: "))) {
            size_t line = acog_view_find(event, ACOG_VIEW("\n"));
            name = acog_view_slice(event, 7, line);
            event = acog_view_slice(event, line + 1, event.len);
        }
        assert_true(acog_view_starts(event, ACOG_VIEW("data: ")));
        struct acog_view data = acog_view_slice(event, 6, event.len);
        json_t *json = acog_view_equal(data, ACOG_VIEW("[DONE]"))
                           ? json_string("[DONE]")
                           : json_loadb(data.ptr, data.len, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(json);
        if (name.ptr != NULL) {
            assert_true(acog_view_equal(
                name, acog_view_of(json_string_value(json_object_get(json, "type")))));
        }
        assert_int_equal(json_array_append_new(events, json), 0);
    }
    return events;
}

/* The value at "a.b.0.c", borrowed; NULL when it is not there. */
static inline json_t *at(json_t *json, const char *path)
{
    while (json != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");
        char name[64];
        assert_true(length < sizeof(name));
        memcpy(name, path, length);
        name[length] = '\0';
        if (json_is_array(json)) {
            assert_true(name[0] >= '0' && name[0] <= '9');
            json = json_array_get(json, (size_t)(strtoul(name, NULL, 10)));
        } else {
            json = json_object_get(json, name);
        }
        path += length + (path[length] == '.' ? 1 : 0);
    }
    return json;
}

static inline const char *text_at(json_t *json, const char *path)
{
    const char *text = json_string_value(at(json, path));
    return text == NULL ? "(no string)" : text;
}

static inline struct acog_provider_request request_for(enum acog_surface surface, bool stream)
{
    return (struct acog_provider_request){.surface = surface,
                                          .dialect = acog_surface_dialect(surface),
                                          .connection = ACOG_VIEW("anthropic"),
                                          .model = ACOG_VIEW("claude-haiku-4-5"),
                                          .stream = stream,
                                          .unix_ms = INT64_C(1700000000123)};
}

static inline struct acog_provider_reply good_reply(void)
{
    struct acog_provider_reply reply;
    acog_provider_reply_init(&reply);
    return reply;
}

#endif
