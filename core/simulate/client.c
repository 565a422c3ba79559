/* client.c - sends one request, keeps what comes back. */
#include "client.h"

#include "acog/memory.h"

#include <string.h>

#define EVENT_BYTES_MAX      ((size_t)64 * 1024 * 1024)
#define TRANSCRIPT_BYTES_MAX ((size_t)256 * 1024)        /* what comes later is left out */
#define CALL_BYTES_MAX       ((size_t)256 * 1024 * 1024) /* of one play */

/* -- the request ------------------------------------------------------------------------------------ */

/* False: no room. */
static bool copy_view(struct acog_arena *arena, struct acog_view *view)
{
    *view = acog_arena_copy(arena, *view);
    return view->ptr != NULL;
}

/* NULL: no room. One row more than there are, so that none is not NULL. */
static struct acog_header_row *copy_headers(struct acog_arena *arena,
                                            const struct acog_header_row *rows, size_t count)
{
    struct acog_header_row *copy = acog_arena_take(arena, (count + 1) * sizeof(copy[0]));
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = rows[i];
        if (!copy_view(arena, &copy[i].name) || !copy_view(arena, &copy[i].value)) {
            return NULL;
        }
    }
    return copy;
}

struct acog_sim_client *acog_sim_client_new(const struct acog_sim_request *request, int64_t now_ms)
{
    struct acog_sim_client *client = acog_new(sizeof(*client));
    if (client == NULL) {
        return NULL;
    }
    acog_arena_init(&client->arena, ACOG_WORLD_REPLY_BYTES_MAX * 2);
    acog_buffer_init(&client->body, ACOG_WORLD_REPLY_BYTES_MAX);
    acog_buffer_init(&client->transcript, TRANSCRIPT_BYTES_MAX);
    acog_sse_init(&client->sse, EVENT_BYTES_MAX);
    client->started_ms = client->ended_ms = now_ms;
    client->stalled_ms = -1;
    client->request = *request;
    client->request.headers = copy_headers(&client->arena, request->headers, request->header_count);
    client->exchange = acog_exchange_new();
    if (client->exchange == NULL || client->request.headers == NULL ||
        !copy_view(&client->arena, &client->request.method) ||
        !copy_view(&client->arena, &client->request.target) ||
        !copy_view(&client->arena, &client->request.body)) {
        acog_sim_client_free(&client);
    }
    return client;
}

static void free_call(struct acog_sim_call *call)
{
    acog_arena_fini(&call->arena);
    acog_free(call);
}

void acog_sim_client_free(struct acog_sim_client **client)
{
    struct acog_sim_client *gone = *client;
    if (gone == NULL) {
        return;
    }
    while (gone->calls != NULL) {
        struct acog_sim_call *next = gone->calls->next;
        free_call(gone->calls);
        gone->calls = next;
    }
    acog_exchange_free(&gone->exchange);
    acog_free(gone->events);
    acog_sse_fini(&gone->sse);
    acog_buffer_fini(&gone->transcript);
    acog_buffer_fini(&gone->body);
    acog_arena_fini(&gone->arena);
    acog_free(gone);
    *client = NULL;
}

/* -- the reply -------------------------------------------------------------------------------------- */

void acog_sim_client_take_head(struct acog_sim_client *client, const struct acog_reply_head *head)
{
    client->status = head->status;
    client->headers = copy_headers(&client->arena, head->headers, head->header_count);
    client->header_count = client->headers == NULL ? 0 : head->header_count;
    client->failed = client->failed || client->headers == NULL;
    struct acog_view type =
        acog_header_find(client->headers, client->header_count, ACOG_VIEW("content-type"));
    client->is_stream = acog_view_starts(type, ACOG_VIEW("text/event-stream"));
}

static void add_event(struct acog_sim_client *client, const struct acog_sse_event *event,
                      int64_t now_ms)
{
    if (client->event_count == client->event_room) {
        size_t room = client->event_room == 0 ? 16 : client->event_room * 2;
        struct acog_sim_event *grown = acog_grow(client->events, room * sizeof(grown[0]));
        if (grown == NULL) {
            client->failed = true;
            return;
        }
        client->events = grown;
        client->event_room = room;
    }
    struct acog_sim_event seen = {
        .name = event->name, .data = event->data, .at_ms = now_ms - client->started_ms};
    if (!copy_view(&client->arena, &seen.name) || !copy_view(&client->arena, &seen.data)) {
        client->failed = true;
        return;
    }
    client->events[client->event_count] = seen;
    client->event_count++;
}

static void read_events(struct acog_sim_client *client, struct acog_view data, int64_t now_ms)
{
    enum acog_code code = ACOG_OK;
    while (code == ACOG_OK) {
        size_t used = 0;
        struct acog_sse_event event;
        code = acog_sse_next(&client->sse, data, &used, &event);
        data = acog_view_slice(data, used, data.len);
        if (code == ACOG_OK && event.has_data) {
            add_event(client, &event, now_ms);
        }
    }
    client->failed = client->failed || code != ACOG_AGAIN;
}

void acog_sim_client_take_data(struct acog_sim_client *client, struct acog_view data,
                               int64_t now_ms)
{
    if (acog_buffer_append(&client->body, data) != ACOG_OK) {
        client->failed = true;
    }
    if (client->is_stream && !client->failed) {
        read_events(client, data, now_ms);
    }
}

void acog_sim_client_take_end(struct acog_sim_client *client, bool complete, int64_t now_ms)
{
    struct acog_sse_event event;
    client->complete = complete;
    client->aborted = !complete;
    client->ended_ms = now_ms;
    if (client->is_stream && acog_sse_end(&client->sse, &event) == ACOG_OK && event.has_data) {
        add_event(client, &event, now_ms);
    }
}

struct acog_sim_reply acog_sim_client_reply(const struct acog_sim_client *client)
{
    return (struct acog_sim_reply){.status = client->status,
                                   .headers = client->headers,
                                   .header_count = client->header_count,
                                   .body = acog_buffer_view(&client->body),
                                   .events = client->events,
                                   .event_count = client->event_count,
                                   .complete = client->complete && !client->failed,
                                   .aborted = client->aborted,
                                   .over = client->over,
                                   .started_ms = client->started_ms - ACOG_WORLD_BIRTH_MS,
                                   .duration_ms = client->ended_ms - client->started_ms};
}

const struct acog_exchange_record *acog_sim_client_record(const struct acog_sim_client *client)
{
    return client->over ? acog_exchange_record(client->exchange) : NULL;
}

struct acog_view acog_sim_client_transcript(const struct acog_sim_client *client)
{
    return acog_buffer_view(&client->transcript);
}

struct acog_view acog_sim_client_method(const struct acog_sim_client *client)
{
    return client->request.method;
}

struct acog_view acog_sim_client_target(const struct acog_sim_client *client)
{
    return client->request.target;
}

/* -- providers that answer -------------------------------------------------------------------------- */

bool acog_sim_client_add_call(struct acog_sim_client *client, uint32_t attempt,
                              struct acog_sim_upstream *upstream,
                              const struct acog_received *received, int64_t now_ms, int64_t unix_ms)
{
    struct acog_sim_call *call = acog_new(sizeof(*call));
    if (call == NULL) {
        return false;
    }
    acog_arena_init(&call->arena, CALL_BYTES_MAX);
    call->attempt = attempt;
    call->started_ms = now_ms;
    call->play = acog_sim_upstream_play(upstream, received, unix_ms, &call->arena);
    if (call->play == NULL || !acog_provider_next(call->play, &call->step)) {
        free_call(call);
        return false;
    }
    struct acog_sim_call **end = &client->calls;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = call;
    return true;
}

void acog_sim_client_sweep(struct acog_sim_client *client)
{
    struct acog_sim_call **place = &client->calls;
    while (*place != NULL) {
        struct acog_sim_call *call = *place;
        if (call->over) {
            *place = call->next;
            free_call(call);
        } else {
            place = &call->next;
        }
    }
}
