/* scene.h - a small configuration and the record of a request under it, for the tests of this folder.
 */
#ifndef ACOG_TESTS_GATEWAY_SCENE_H
#define ACOG_TESTS_GATEWAY_SCENE_H

#include "acog/exchange.h"

/* Two connections with a model each: "first" (direct) and "second" (vertex). */
struct scene {
    struct acog_connection connections[2];
    struct acog_candidate candidates[2];
    struct acog_snapshot snapshot;
    struct acog_request request;
    struct acog_exchange_record record;
};

static inline struct acog_attempt_row *scene_attempt(struct scene *scene, uint16_t candidate)
{
    struct acog_attempt_row *row = &scene->request.attempts[scene->request.attempt_count++];
    *row = (struct acog_attempt_row){
        .candidate = candidate, .model = ACOG_VIEW("sent-model"), .first_output_at_ms = -1};
    return row;
}

/* A streamed chat request that came at 1,000 and ended at 1,250 with status 200; no attempt yet. */
static inline void scene_init(struct scene *scene)
{
    *scene = (struct scene){0};
    scene->connections[0] = (struct acog_connection){
        .id = ACOG_VIEW("first"), .channel = ACOG_CHANNEL_DIRECT, .spread_cell = ACOG_NO_CELL};
    scene->connections[1] = (struct acog_connection){
        .id = ACOG_VIEW("second"), .channel = ACOG_CHANNEL_VERTEX, .spread_cell = ACOG_NO_CELL};
    scene->candidates[0] = (struct acog_candidate){.connection = 0, .circuit_cell = ACOG_NO_CELL};
    scene->candidates[1] = (struct acog_candidate){.connection = 1, .circuit_cell = ACOG_NO_CELL};
    scene->snapshot.connections = scene->connections;
    scene->snapshot.connection_count = 2;
    scene->snapshot.candidates = scene->candidates;
    scene->snapshot.candidate_count = 2;
    scene->snapshot.hash = ACOG_VIEW("0123456789abcdef");
    scene->snapshot.policy.name = ACOG_VIEW("acog");
    scene->snapshot.policy.health = (struct acog_health){
        .threshold = 5, .cooldown_ms = 30000, .factor = 1, .cooldown_ms_max = 30000};
    scene->record = (struct acog_exchange_record){.request_id = ACOG_VIEW("req-1"),
                                                  .request = &scene->request,
                                                  .snapshot = &scene->snapshot,
                                                  .routed = true,
                                                  .surface = ACOG_SURFACE_CHAT,
                                                  .stream = true,
                                                  .model = ACOG_VIEW("asked-model"),
                                                  .status = 200,
                                                  .request_bytes = 100,
                                                  .reply_bytes = 2000,
                                                  .usage = {12, 4, -1, 34, -1},
                                                  .started_ms = 1000,
                                                  .committed_ms = 1100,
                                                  .ended_ms = 1250};
}

#endif
