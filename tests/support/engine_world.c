/* engine_world.c - see engine_world.h. */
#include "tests/support/engine_world.h"

#include "acog/contract.h"
#include "acog/memory.h"

#include <stdatomic.h>
#include <string.h>

struct world *world_new(enum engine_policy policy)
{
    struct world *world = acog_new(sizeof *world);
    ACOG_ASSERT(world != NULL);
    world->rows = engine_rows_new(policy);
    world->request.plan = world->plan;
    return world;
}

void world_free(struct world **world)
{
    engine_rows_free(&(*world)->rows);
    acog_free(*world);
    *world = NULL;
}

struct acog_request_facts world_facts(const char *model)
{
    return (struct acog_request_facts){.surface = ACOG_SURFACE_MESSAGES,
                                       .model = acog_view_of(model),
                                       .max_tokens = -1,
                                       .choices = 1};
}

/* -- scripts --------------------------------------------------------------------------------------- */

static struct world_script *script_of(struct world *world, const char *id)
{
    return &world->scripts[engine_rows_find(world->rows, id) - world->rows->connections];
}

void world_reply(struct world *world, const char *id, struct world_reply reply)
{
    struct world_script *script = script_of(world, id);
    ACOG_ASSERT(script->count < WORLD_REPLIES_MAX);
    script->replies[script->count++] = reply;
}

void world_status(struct world *world, const char *id, uint16_t status, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        world_reply(
            world, id,
            (struct world_reply){
                .kind = ACOG_WORLD_FAILS,
                .failure = {.cause = ACOG_CAUSE_STATUS, .status = status, .retry_after_ms = -1}});
    }
}

void world_cause(struct world *world, const char *id, enum acog_cause cause, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        world_reply(world, id,
                    (struct world_reply){.kind = ACOG_WORLD_FAILS,
                                         .failure = {.cause = cause, .retry_after_ms = -1}});
    }
}

void world_shape(struct world *world, const char *id, uint16_t status, enum acog_shape shape,
                 const char *code)
{
    world_reply(world, id,
                (struct world_reply){.kind = ACOG_WORLD_FAILS,
                                     .failure = {.cause = ACOG_CAUSE_STATUS,
                                                 .status = status,
                                                 .shapes = ACOG_BIT(shape),
                                                 .code = acog_view_of(code),
                                                 .retry_after_ms = -1}});
}

void world_late(struct world *world, const char *id, int64_t after_ms)
{
    world_reply(world, id, (struct world_reply){.kind = ACOG_WORLD_ANSWERS, .after_ms = after_ms});
}

void world_forget_scripts(struct world *world)
{
    memset(world->scripts, 0, sizeof world->scripts);
}

/* -- steps ----------------------------------------------------------------------------------------- */

static void note_dispatch(struct world *world, const struct acog_action *action)
{
    const struct acog_candidate *candidate = &world->rows->candidates[action->dispatch.candidate];
    struct acog_view id = world->rows->connections[candidate->connection].id;
    size_t len = strlen(world->tried);
    ACOG_ASSERT(len + id.len + 2 < sizeof world->tried);
    if (len > 0) {
        world->tried[len++] = ',';
    }
    memcpy(world->tried + len, id.ptr, id.len);
    world->tried[len + id.len] = '\0';
}

static void note(struct world *world, const struct acog_action *action)
{
    switch (action->type) {
    case ACOG_ACTION_DISPATCH:
        note_dispatch(world, action);
        return;
    case ACOG_ACTION_CANCEL:
        world->cancels++;
        return;
    case ACOG_ACTION_COMMIT:
        world->committed_attempt = action->attempt;
        return;
    case ACOG_ACTION_REPLAY_KEPT:
        world->replayed = true;
        return;
    case ACOG_ACTION_ANSWER_ERROR:
        world->has_error = true;
        world->error = action->error;
        return;
    case ACOG_ACTION_FAIL_STREAM:
        world->failed_stream = true;
        world->lost = action->lost;
        return;
    case ACOG_ACTION_END_REPLY:
        world->answered = true;
        return;
    case ACOG_ACTION_ASK_POLICY:
    case ACOG_ACTION_KEEP_REPLY:
    case ACOG_ACTION_DROP_KEPT:
    case ACOG_ACTION_FINISH:
        return;
    }
    ACOG_UNREACHABLE("an action");
}

static void take_step(struct world *world, const struct acog_event *event)
{
    acog_engine_step(&world->rows->snapshot, &world->rows->shared, &world->request, event,
                     &world->actions);
    for (size_t i = 0; i < world->actions.count; i++) {
        note(world, &world->actions.list[i]);
    }
    world->waits += world->request.state == ACOG_REQUEST_WAITING ? 1 : 0;
}

void world_step(struct world *world, const struct acog_event *event)
{
    take_step(world, event);
    while (world->request.state == ACOG_REQUEST_ASKING && world->answers != NULL) {
        struct acog_event answer = {.type = ACOG_EVENT_POLICY_ANSWERED, .now_ms = world->now_ms};
        world->answers(world->user, &world->actions.list[world->actions.count - 1].ask,
                       &answer.answer);
        take_step(world, &answer);
    }
}

void world_event(struct world *world, enum acog_event_type type, uint32_t attempt)
{
    struct acog_event event = {.type = type, .attempt = attempt, .now_ms = world->now_ms};
    if (type == ACOG_EVENT_HEADERS) {
        event.headers.status = 200;
    } else if (type == ACOG_EVENT_OUTPUT) {
        event.outputs = ACOG_BIT(ACOG_OUTPUT_TEXT);
    }
    world_step(world, &event);
}

void world_arrive(struct world *world, const struct acog_request_facts *facts)
{
    world->request = (struct acog_request){.plan = world->plan};
    world->tried[0] = '\0';
    world->waits = 0;
    world->answered = false;
    world->replayed = false;
    world->has_error = false;
    world->error = (struct acog_error_answer){0};
    world->failed_stream = false;
    world->lost = false;
    world->committed_attempt = 0;
    world->cancels = 0;
    struct acog_event event = {.type = ACOG_EVENT_ARRIVED,
                               .now_ms = world->now_ms,
                               .arrived = {.facts = facts, .seed = ++world->seed}};
    world_step(world, &event);
}

bool world_said(const struct world *world, enum acog_action_type type)
{
    for (size_t i = 0; i < world->actions.count; i++) {
        if (world->actions.list[i].type == type) {
            return true;
        }
    }
    return false;
}

/* -- the run --------------------------------------------------------------------------------------- */

static struct world_reply next_reply(struct world *world)
{
    uint16_t candidate = world->request.attempts[world->request.current - 1].candidate;
    struct world_script *script = &world->scripts[world->rows->candidates[candidate].connection];
    return script->played < script->count ? script->replies[script->played++]
                                          : (struct world_reply){.kind = ACOG_WORLD_ANSWERS};
}

static void play(struct world *world, uint32_t attempt, const struct world_reply *reply)
{
    if (reply->kind != ACOG_WORLD_FAILS) {
        world_event(world, ACOG_EVENT_CONNECTED, attempt);
        world_event(world, ACOG_EVENT_HEADERS, attempt);
        if (world->request.facts->stream) {
            world_event(world, ACOG_EVENT_FIRST_EVENT, attempt);
            world_event(world, ACOG_EVENT_OUTPUT, attempt);
        }
    }
    if (reply->kind == ACOG_WORLD_ANSWERS) {
        world_event(world, ACOG_EVENT_DONE, attempt);
        return;
    }
    struct acog_event event = {.type = ACOG_EVENT_FAILED,
                               .attempt = attempt,
                               .now_ms = world->now_ms,
                               .failure = &reply->failure};
    world_step(world, &event);
}

void world_run(struct world *world, const struct acog_request_facts *facts)
{
    int64_t leaves_ms =
        world->client_leaves_ms > 0 ? world->now_ms + world->client_leaves_ms : INT64_MAX;
    world_arrive(world, facts);
    uint32_t attempt = 0;
    struct world_reply reply = {0};
    int64_t reply_ms = INT64_MAX;
    while (world->request.state != ACOG_REQUEST_ENDED) {
        if (world->request.current != attempt) {
            attempt = world->request.current;
            reply = attempt == 0 ? reply : next_reply(world);
            reply_ms = attempt == 0 ? INT64_MAX : world->now_ms + reply.after_ms;
        }
        int64_t deadline_ms = acog_engine_deadline_ms(&world->request);
        int64_t next_ms = deadline_ms < reply_ms ? deadline_ms : reply_ms;
        ACOG_ASSERT(next_ms != INT64_MAX || leaves_ms != INT64_MAX);
        if (leaves_ms < next_ms) {
            world->now_ms = leaves_ms;
            leaves_ms = INT64_MAX;
            world_event(world, ACOG_EVENT_CLIENT_GONE, 0);
        } else if (deadline_ms < reply_ms) {
            world->now_ms = deadline_ms;
            world_event(world, ACOG_EVENT_TICK, 0);
        } else {
            world->now_ms = reply_ms;
            play(world, attempt, &reply);
        }
    }
}

int64_t world_limit(const struct world *world, uint32_t attempt, enum acog_clock clock)
{
    ACOG_ASSERT(attempt >= 1 && attempt <= world->request.attempt_count);
    return world->request.attempts[attempt - 1].limits_ms[clock];
}

uint32_t world_in_flight(const struct world *world)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < ENGINE_CELLS_MAX; i++) {
        sum += atomic_load(&world->rows->shared.spreads[i].in_flight);
    }
    return sum;
}
