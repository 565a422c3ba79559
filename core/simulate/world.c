/* world.c - the clock, and the commands of the exchanges performed on it. */
#include "world.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "acog/random.h"
#include "client.h"

#define ACOG_WORLD_BIRTH_MS \
    INT64_C(86400000) /* the monotonic clock at the start: nothing is older than that */

#define SCRATCH_KEPT_BYTES ((size_t)64 * 1024)
#define GRACE_MS           1000 /* as core/gateway gives it after a pause */

struct acog_world {
    struct acog_snapshot *snapshot;
    struct acog_policy_state *state;
    struct acog_shared *shared;
    uint64_t random;
    int64_t now_ms;                  /* as the exchanges see it */
    struct acog_sim_client *clients; /* the oldest first */
    struct acog_sim_client *last;    /* the youngest, still in the list */
    struct acog_sim_client
        *shown; /* released, but kept for failure messages; owned, not in the list */
    size_t client_count;
    struct acog_sim_upstream *upstreams;
    size_t upstream_count;
    struct acog_error policy_error;
    struct acog_buffer scratch;
};

/* -- life ------------------------------------------------------------------------------------------- */

struct acog_world *acog_world_new(struct acog_snapshot *snapshot, struct acog_policy_state **state,
                                  struct acog_shared **shared, uint64_t seed)
{
    struct acog_world *world = acog_new(sizeof(*world));
    struct acog_sim_upstream *upstreams =
        acog_new((snapshot->connection_count + 1) * sizeof(upstreams[0]));
    if (world == NULL || upstreams == NULL) {
        acog_free(world);
        acog_free(upstreams);
        acog_policy_state_free(state);
        acog_shared_free(shared);
        return NULL;
    }
    world->snapshot = acog_snapshot_ref(snapshot);
    world->state = *state;
    world->shared = *shared;
    *state = NULL;
    *shared = NULL;
    world->random = seed;
    world->now_ms = ACOG_WORLD_BIRTH_MS;
    acog_buffer_init(&world->scratch, ACOG_WORLD_SCRATCH_MAX);
    world->upstreams = upstreams;
    world->upstream_count = snapshot->connection_count;
    for (size_t i = 0; i < world->upstream_count; i++) {
        acog_sim_upstream_init(&upstreams[i], &snapshot->connections[i]);
    }
    return world;
}

void acog_world_free(struct acog_world **world)
{
    struct acog_world *gone = *world;
    if (gone == NULL) {
        return;
    }
    while (gone->clients != NULL) {
        struct acog_sim_client *client = gone->clients;
        gone->clients = client->next;
        acog_sim_client_free(&client);
    }
    acog_sim_client_free(&gone->shown);
    for (size_t i = 0; i < gone->upstream_count; i++) {
        acog_sim_upstream_fini(&gone->upstreams[i]);
    }
    acog_free(gone->upstreams);
    acog_buffer_fini(&gone->scratch);
    acog_policy_state_free(&gone->state);
    acog_snapshot_unref(&gone->snapshot);
    acog_shared_free(&gone->shared);
    acog_free(gone);
    *world = NULL;
}

int64_t acog_world_now_ms(const struct acog_world *world)
{
    return world->now_ms - ACOG_WORLD_BIRTH_MS;
}

static int64_t unix_ms(const struct acog_world *world)
{
    return ACOG_WORLD_START_UNIX_MS + acog_world_now_ms(world);
}

size_t acog_world_upstream_count(const struct acog_world *world)
{
    return world->upstream_count;
}

struct acog_sim_upstream *acog_world_upstream(struct acog_world *world, size_t connection)
{
    ACOG_ASSERT(connection < world->upstream_count);
    return &world->upstreams[connection];
}

const char *acog_world_policy_error(const struct acog_world *world)
{
    return world->policy_error.text;
}

struct acog_buffer *acog_world_scratch(struct acog_world *world)
{
    acog_buffer_clear(&world->scratch, SCRATCH_KEPT_BYTES);
    return &world->scratch;
}

const struct acog_sim_client *acog_world_last_client(const struct acog_world *world)
{
    return world->last != NULL ? world->last : world->shown;
}

/* -- commands --------------------------------------------------------------------------------------- */

static void ask(struct acog_world *world, struct acog_sim_client *client,
                const struct acog_ask *question)
{
    struct acog_answer answer = {0};
    struct acog_error error = {0};
    acog_policy_answer(world->state, question, &answer, &error);
    if (answer.failed) {
        world->policy_error = error;
    }
    acog_exchange_policy_answered(client->exchange, &answer, world->now_ms);
}

static struct acog_sim_call *find_call(struct acog_sim_client *client, uint32_t attempt)
{
    struct acog_sim_call *call = client->calls;
    while (call != NULL && (call->attempt != attempt || call->over)) {
        call = call->next;
    }
    return call;
}

/* A request that cannot be played for want of memory is told as the gateway's own failure as soon as the exchange may
 * be called again. */
static void send_upstream(struct acog_world *world, struct acog_sim_client *client,
                          uint32_t attempt, const struct acog_upstream_order *order)
{
    size_t connection = (size_t)(order->connection - world->snapshot->connections);
    struct acog_sim_upstream *upstream = acog_world_upstream(world, connection);
    const struct acog_received *received =
        acog_sim_upstream_receive(upstream, order, acog_world_now_ms(world));
    if (received == NULL || !acog_sim_client_add_call(client, attempt, upstream, received,
                                                      world->now_ms, unix_ms(world))) {
        client->unplayed = attempt;
    }
}

static void perform(struct acog_world *world, struct acog_sim_client *client,
                    const struct acog_command *command)
{
    struct acog_sim_call *call = NULL;
    switch (command->type) {
    case ACOG_COMMAND_ASK:
        ask(world, client, command->ask);
        return;
    case ACOG_COMMAND_SEND:
        send_upstream(world, client, command->attempt, command->order);
        return;
    case ACOG_COMMAND_CANCEL:
        call = find_call(client, command->attempt);
        if (call != NULL) {
            call->over = true;
        }
        return;
    case ACOG_COMMAND_REPLY_HEAD:
        acog_sim_client_take_head(client, &command->head);
        return;
    case ACOG_COMMAND_REPLY_DATA:
        acog_sim_client_take_data(client, command->data, world->now_ms);
        return;
    case ACOG_COMMAND_REPLY_END:
        acog_sim_client_take_end(client, true, world->now_ms);
        return;
    case ACOG_COMMAND_REPLY_ABORT:
        acog_sim_client_take_end(client, false, world->now_ms);
        return;
    case ACOG_COMMAND_FINISHED:
        client->over = true;
        return;
    }
    ACOG_UNREACHABLE("unknown command");
}

/* After every call of the exchange. Calls that were cancelled are still there: the bytes of one may be in use. */
static void obey(struct acog_world *world, struct acog_sim_client *client)
{
    struct acog_command command;
    while (acog_exchange_next(client->exchange, &command)) {
        perform(world, client, &command);
    }
}

/* -- clients ---------------------------------------------------------------------------------------- */

struct acog_sim_client *acog_world_send(struct acog_world *world,
                                        const struct acog_sim_request *request)
{
    if (world->client_count >= ACOG_WORLD_CLIENTS_MAX) {
        return NULL;
    }
    struct acog_sim_client *client = acog_sim_client_new(request, world->now_ms);
    if (client == NULL) {
        return NULL;
    }
    if (world->last == NULL) {
        world->clients = client;
    } else {
        world->last->next = client;
    }
    world->last = client;
    world->client_count++;
    struct acog_exchange_start start = {.snapshot = world->snapshot,
                                        .shared = world->shared,
                                        .method = client->request.method,
                                        .target = client->request.target,
                                        .headers = client->request.headers,
                                        .header_count = client->request.header_count,
                                        .body = client->request.body,
                                        .now_ms = world->now_ms,
                                        .unix_ms = unix_ms(world),
                                        .seed = acog_random_next(&world->random),
                                        .local = true,
                                        .transcript = &client->transcript};
    acog_exchange_start(client->exchange, &start);
    obey(world, client);
    acog_sim_client_sweep(client);
    return client;
}

void acog_world_hang_up(struct acog_world *world, struct acog_sim_client *client)
{
    if (client->over || client->gone) {
        return;
    }
    client->gone = true;
    client->stalled_ms = -1;
    client->paused = false;
    client->ended_ms = world->now_ms;
    acog_exchange_client_gone(client->exchange, world->now_ms);
    obey(world, client);
    acog_sim_client_sweep(client);
}

/* -- slow readers ----------------------------------------------------------------------------------- */

/* A client that reads nothing has been sent something: the gateway waits for it. */
static void stall(struct acog_world *world, struct acog_sim_client *client)
{
    if (client->paused && client->stalled_ms < 0 && client->body.len > 0 && !client->over) {
        client->stalled_ms = world->now_ms;
        acog_exchange_client_full(client->exchange, true, world->now_ms);
        obey(world, client);
    }
}

void acog_world_pause(struct acog_world *world, struct acog_sim_client *client)
{
    client->paused = true;
    stall(world, client);
}

void acog_world_resume(struct acog_world *world, struct acog_sim_client *client)
{
    client->paused = false;
    if (client->stalled_ms >= 0) {
        client->stalled_ms = -1;
        client->clocks_from_ms = world->now_ms + GRACE_MS;
        if (!client->over) {
            acog_exchange_client_full(client->exchange, false, world->now_ms);
            obey(world, client);
        }
    }
}

/* Out of the list; the last one of all is kept to be shown. */
static void drop(struct acog_world *world, struct acog_sim_client *client)
{
    struct acog_sim_client **place = &world->clients;
    struct acog_sim_client *before = NULL;
    while (*place != client) {
        before = *place;
        place = &before->next;
    }
    *place = client->next;
    world->client_count--;
    if (world->last == client) {
        world->last = before;
    }
    acog_sim_client_free(&world->shown);
    world->shown = client;
    client->next = NULL;
}

void acog_world_release(struct acog_world *world, struct acog_sim_client **client)
{
    struct acog_sim_client *released = *client;
    *client = NULL;
    if (released->over) {
        drop(world, released);
    } else {
        released->released = true;
    }
}

/* -- the clock -------------------------------------------------------------------------------------- */

/* What happens next, and when. */
struct due {
    int64_t at_ms; /* INT64_MAX: nothing, ever */
    struct acog_sim_client *client;
    struct acog_sim_call
        *call; /* NULL: the exchange's deadline, or an attempt that could not be played */
};

/* When the exchange of a client wants to be called, or the gateway would leave the client. */
static int64_t deadline_of(const struct acog_world *world, const struct acog_sim_client *client)
{
    if (client->over) {
        return INT64_MAX;
    }
    if (client->unplayed != 0) {
        return world->now_ms;
    }
    if (client->stalled_ms >= 0) {
        return client->stalled_ms + world->snapshot->limits.body_ms;
    }
    int64_t deadline_ms = acog_exchange_deadline_ms(client->exchange);
    return deadline_ms < client->clocks_from_ms ? client->clocks_from_ms : deadline_ms;
}

static struct due find_due(struct acog_world *world)
{
    struct due due = {.at_ms = INT64_MAX};
    for (struct acog_sim_client *client = world->clients; client != NULL; client = client->next) {
        for (struct acog_sim_call *call = client->calls; call != NULL; call = call->next) {
            int64_t at_ms = call->started_ms + call->step.at_ms;
            bool first = at_ms < due.at_ms || (at_ms == due.at_ms && due.call == NULL);
            if (call->step.kind != ACOG_STEP_SILENCE && client->stalled_ms < 0 && first) {
                due = (struct due){.at_ms = at_ms, .client = client, .call = call};
            }
        }
        int64_t deadline_ms = deadline_of(world, client);
        if (deadline_ms < due.at_ms) {
            due = (struct due){.at_ms = deadline_ms, .client = client};
        }
    }
    return due;
}

static void tell_broken(struct acog_world *world, struct acog_sim_client *client,
                        struct acog_sim_call *call, enum acog_cause cause)
{
    call->over = true;
    acog_exchange_upstream_failed(client->exchange, call->attempt, cause, false, world->now_ms);
}

static void tell_step(struct acog_world *world, struct acog_sim_client *client,
                      struct acog_sim_call *call)
{
    struct acog_exchange *exchange = client->exchange;
    const struct acog_provider_step *step = &call->step;
    switch (step->kind) {
    case ACOG_STEP_REFUSED:
        tell_broken(world, client, call, ACOG_CAUSE_CONNECT);
        return;
    case ACOG_STEP_CONNECTED:
        acog_exchange_connected(exchange, call->attempt, false, world->now_ms);
        return;
    case ACOG_STEP_HEAD:
        call->head_seen = true;
        acog_exchange_upstream_head(exchange, call->attempt, step->status, step->headers,
                                    step->header_count, world->now_ms);
        return;
    case ACOG_STEP_BODY:
        acog_exchange_upstream_body(exchange, call->attempt, step->bytes, world->now_ms);
        return;
    case ACOG_STEP_END:
        call->over = true;
        acog_exchange_upstream_end(exchange, call->attempt, world->now_ms);
        return;
    case ACOG_STEP_CLOSED:
    case ACOG_STEP_RESET:
        tell_broken(world, client, call, call->head_seen ? ACOG_CAUSE_CUT : ACOG_CAUSE_CLOSED);
        return;
    case ACOG_STEP_SILENCE:
        break;
    }
    ACOG_UNREACHABLE("silence is never due");
}

/* The step's bytes are lent until the exchange has done with them; only then comes the next step. */
static void happen(struct acog_world *world, const struct due *due)
{
    struct acog_sim_client *client = due->client;
    ACOG_ASSERT(client != NULL);
    world->now_ms = due->at_ms > world->now_ms ? due->at_ms : world->now_ms;
    if (due->call != NULL) {
        tell_step(world, client, due->call);
    } else if (client->unplayed != 0) {
        uint32_t attempt = client->unplayed;
        client->unplayed = 0;
        acog_exchange_upstream_failed(client->exchange, attempt, ACOG_CAUSE_GATEWAY, false,
                                      world->now_ms);
    } else if (client->stalled_ms >= 0) {
        acog_world_hang_up(world, client);
    } else {
        acog_exchange_tick(client->exchange, world->now_ms);
    }
    obey(world, client);
    stall(world, client);
    if (due->call != NULL && !due->call->over) {
        bool more = acog_provider_next(due->call->play, &due->call->step);
        ACOG_ASSERT(more);
    }
    acog_sim_client_sweep(client);
    if (client->over && client->released) {
        drop(world, client);
    }
}

enum acog_wait acog_world_wait(struct acog_world *world, struct acog_sim_client *client)
{
    for (uint64_t steps = 0; !client->over; steps++) {
        struct due due = find_due(world);
        if (due.at_ms == INT64_MAX) {
            return ACOG_WAIT_FOR_EVER;
        }
        if (steps == ACOG_WORLD_STEPS_MAX) {
            return ACOG_WAIT_LOOP;
        }
        happen(world, &due);
    }
    return ACOG_WAIT_OVER;
}

enum acog_wait acog_world_advance(struct acog_world *world, int64_t by_ms)
{
    ACOG_ASSERT(by_ms >= 0);
    int64_t until_ms = world->now_ms + by_ms;
    for (uint64_t steps = 0; steps < ACOG_WORLD_STEPS_MAX; steps++) {
        struct due due = find_due(world);
        if (due.at_ms > until_ms) {
            world->now_ms = until_ms;
            return ACOG_WAIT_OVER;
        }
        happen(world, &due);
    }
    return ACOG_WAIT_LOOP;
}
