/* upstream.c - scripts in, plays out; and a copy of every request for the test to look at. */
#include "upstream.h"

#include "acog/contract.h"
#include "acog/json.h"
#include "acog/memory.h"

#include <string.h>

void acog_sim_upstream_init(struct acog_sim_upstream *upstream,
                            const struct acog_connection *connection)
{
    *upstream = (struct acog_sim_upstream){.connection = connection};
    if (connection->simulate != NULL) {
        upstream->script = *connection->simulate;
    } else {
        acog_provider_reply_init(&upstream->good);
        upstream->script =
            (struct acog_provider_script){.replies = &upstream->good, .reply_count = 1};
    }
}

static void forget(struct acog_received **received)
{
    if (*received != NULL) {
        acog_arena_fini(&(*received)->arena);
        acog_free(*received);
        *received = NULL;
    }
}

void acog_sim_upstream_fini(struct acog_sim_upstream *upstream)
{
    for (size_t i = 0; i < upstream->received_room; i++) {
        forget(&upstream->received[i]);
    }
    acog_free(upstream->received);
    *upstream = (struct acog_sim_upstream){0};
}

void acog_sim_upstream_answers(struct acog_sim_upstream *upstream,
                               const struct acog_provider_script *script)
{
    upstream->script = *script;
    upstream->script_served = 0;
}

/* -- what was received ------------------------------------------------------------------------------ */

static struct acog_view join_pieces(struct acog_arena *arena,
                                    const struct acog_upstream_order *order)
{
    size_t bytes = 0;
    for (size_t i = 0; i < order->piece_count; i++) {
        bytes += order->pieces[i].len;
    }
    char *joined = acog_arena_take(arena, bytes + 1);
    size_t at = 0;
    for (size_t i = 0; joined != NULL && i < order->piece_count; i++) {
        if (order->pieces[i].len > 0) {
            memcpy(joined + at, order->pieces[i].ptr, order->pieces[i].len);
            at += order->pieces[i].len;
        }
    }
    return (struct acog_view){.ptr = joined, .len = joined == NULL ? 0 : at};
}

static bool copy_headers(struct acog_received *received, const struct acog_upstream_order *order)
{
    struct acog_header_row *rows =
        acog_arena_take(&received->arena, (order->header_count + 1) * sizeof(rows[0]));
    if (rows == NULL) {
        return false;
    }
    for (size_t i = 0; i < order->header_count; i++) {
        rows[i].name = acog_arena_copy(&received->arena, order->headers[i].name);
        rows[i].value = acog_arena_copy(&received->arena, order->headers[i].value);
        if (rows[i].name.ptr == NULL || rows[i].value.ptr == NULL) {
            return false;
        }
    }
    received->headers = rows;
    received->header_count = order->header_count;
    return true;
}

static struct acog_received *copy_order(const struct acog_upstream_order *order, int64_t now_ms)
{
    struct acog_received *received = acog_new(sizeof(*received));
    if (received == NULL) {
        return NULL;
    }
    acog_arena_init(&received->arena, ACOG_RECEIVED_BYTES_MAX);
    received->surface = order->surface;
    received->dialect = order->dialect;
    received->stream = order->stream;
    received->at_ms = now_ms;
    received->query = acog_arena_copy(&received->arena, order->query);
    received->model = acog_arena_copy(&received->arena, order->model);
    received->body = join_pieces(&received->arena, order);
    if (received->query.ptr == NULL || received->model.ptr == NULL || received->body.ptr == NULL ||
        !copy_headers(received, order)) {
        forget(&received);
    }
    return received;
}

/* Room for one more, as long as there are fewer than are kept. */
static bool make_room(struct acog_sim_upstream *upstream)
{
    if (upstream->received_count < upstream->received_room ||
        upstream->received_room == ACOG_RECEIVED_MAX) {
        return true;
    }
    size_t room = upstream->received_room == 0 ? 4 : upstream->received_room * 2;
    struct acog_received **grown =
        acog_grow(upstream->received, room * sizeof(struct acog_received *));
    if (grown == NULL) {
        return false;
    }
    for (size_t i = upstream->received_room; i < room; i++) {
        grown[i] = NULL;
    }
    upstream->received = grown;
    upstream->received_room = room;
    return true;
}

const struct acog_received *acog_sim_upstream_receive(struct acog_sim_upstream *upstream,
                                                      const struct acog_upstream_order *order,
                                                      int64_t now_ms)
{
    struct acog_received *received = copy_order(order, now_ms);
    if (received == NULL || !make_room(upstream)) {
        forget(&received);
        return NULL;
    }
    struct acog_received **place = &upstream->received[upstream->served % ACOG_RECEIVED_MAX];
    if (upstream->received_count < ACOG_RECEIVED_MAX) {
        upstream->received_count++;
    }
    forget(place);
    *place = received;
    upstream->served++;
    upstream->script_served++;
    return received;
}

const struct acog_received *acog_sim_upstream_received(const struct acog_sim_upstream *upstream,
                                                       size_t n)
{
    ACOG_ASSERT(n < upstream->received_count);
    size_t oldest = (size_t)((upstream->served - upstream->received_count) % ACOG_RECEIVED_MAX);
    return upstream->received[(oldest + n) % ACOG_RECEIVED_MAX];
}

/* -- what is answered ------------------------------------------------------------------------------- */

/* As a provider does: the usage chunk of a chat stream comes only when the body asks for it (B51). */
static bool asks_usage(struct acog_view body)
{
    struct acog_json_value object;
    struct acog_json_value asked;
    struct acog_json_error error;
    return acog_json_check(body, ACOG_JSON_DEPTH_MAX, &object, &error) == ACOG_OK &&
           object.type == ACOG_JSON_OBJECT &&
           acog_json_path(object, ACOG_VIEW("stream_options.include_usage"), &asked) &&
           asked.type == ACOG_JSON_TRUE;
}

struct acog_provider_play *acog_sim_upstream_play(struct acog_sim_upstream *upstream,
                                                  const struct acog_received *received,
                                                  int64_t unix_ms, struct acog_arena *arena)
{
    ACOG_ASSERT(upstream->script_served > 0);
    struct acog_provider_request request = {
        .surface = received->surface,
        .dialect = received->dialect,
        .connection = upstream->connection->id,
        .model = acog_arena_copy(arena, received->model),
        .stream = received->stream,
        .usage_asked = asks_usage(received->body),
        .served = upstream->served - 1,
        .unix_ms = unix_ms,
    };
    if (received->surface == ACOG_SURFACE_EMBEDDINGS) { /* the only one that reads it */
        request.body = acog_arena_copy(arena, received->body);
    }
    if (request.model.ptr == NULL) {
        return NULL;
    }
    return acog_provider_play(acog_provider_pick(&upstream->script, upstream->script_served - 1),
                              &request, arena);
}
