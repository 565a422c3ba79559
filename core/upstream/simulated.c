/* simulated.c - plays the steps of core/provider when their time comes.
 *
 * One timer a call, set for the next step; what is due at the same time is told in one go, but never inside
 * acog_upstream_send().
 *
 * A script answers the first request, the second, … of its connection, whichever worker they come to. So the count is
 * the process's, kept in a small table by connection and script: after a reload a script begins again.
 */
#include "simulated.h"

#include "acog/arena.h"
#include "acog/contract.h"
#include "acog/memory.h"
#include "acog/provider.h"
#include "acog/time.h"
#include "call.h"
#include "clock.h"

#include <pthread.h>
#include <string.h>

#include <event2/event.h>

#define SIMULATION_TAG       0x53494d55U
#define SIMULATION_BYTES_MAX (16U << 20U) /* of one answer with all of its steps */
#define SIMULATION_BODY_MAX \
    (1U << 20U)             /* of an embeddings request; a larger one counts as one input */
#define SERVED_ROWS_MAX 256 /* simulated connections; more than that share counts */
#define SERVED_NAME_MAX 128

struct acog_simulation {
    uint32_t tag;
    struct acog_upstream_call *call;
    struct acog_arena arena;
    struct acog_provider_play *play;
    struct acog_provider_step step; /* the next one */
    bool over;                      /* there is none */
    bool connected;
    bool head_told;
    int64_t sent_ms;
    struct event timer;
};

struct served_row {
    char name[SERVED_NAME_MAX];
    size_t name_bytes;
    const void *script; /* only compared */
    uint64_t count;
};

static struct {
    pthread_mutex_t mutex;
    struct served_row rows[SERVED_ROWS_MAX];
    size_t count; /* all that were ever made; the oldest row goes when there is no room */
} served = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void acog_simulation_forget(void)
{
    (void)pthread_mutex_lock(&served.mutex);
    memset(served.rows, 0, sizeof(served.rows));
    served.count = 0;
    (void)pthread_mutex_unlock(&served.mutex);
}

static struct served_row *served_row_of(const struct acog_connection *connection)
{
    struct acog_view name = acog_view_slice(connection->id, 0, SERVED_NAME_MAX);
    ACOG_ASSERT(name.ptr != NULL); /* a connection without an id is a load error */
    size_t used = served.count < SERVED_ROWS_MAX ? served.count : SERVED_ROWS_MAX;
    for (size_t i = 0; i < used; i++) {
        struct served_row *row = &served.rows[i];
        if (row->script == connection->simulate &&
            acog_view_equal((struct acog_view){row->name, row->name_bytes}, name)) {
            return row;
        }
    }
    struct served_row *row = &served.rows[served.count++ % SERVED_ROWS_MAX];
    *row = (struct served_row){.script = connection->simulate, .name_bytes = name.len};
    memcpy(row->name, name.ptr, name.len);
    return row;
}

/* Which request of the connection this is, from 0. */
static uint64_t next_served(const struct acog_connection *connection)
{
    (void)pthread_mutex_lock(&served.mutex);
    uint64_t number = served_row_of(connection)->count++;
    (void)pthread_mutex_unlock(&served.mutex);
    return number;
}

/* What may stand between a member's name and its value. */
static bool is_between(char byte)
{
    return byte == ':' || byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* A chat request whose body asks for usage in the stream. The text is looked for as it stands, as a member it cannot
 * look otherwise: inside a string its quotes would be escaped. */
static bool is_usage_asked(const struct acog_upstream_order *order)
{
    const struct acog_view name = ACOG_VIEW("\"include_usage\"");
    for (size_t i = 0; i < order->piece_count; i++) {
        struct acog_view piece = order->pieces[i];
        if (piece.ptr == NULL) {
            continue;
        }
        size_t at = acog_view_find(piece, name);
        struct acog_view after = acog_view_slice(piece, at + name.len, piece.len);
        while (after.len > 0 && is_between(after.ptr[0])) {
            after = acog_view_slice(after, 1, after.len);
        }
        if (acog_view_starts(after, ACOG_VIEW("true"))) {
            return true;
        }
    }
    return false;
}

/* The body in one piece, for the surface whose answer depends on it; empty when there is no room. */
static struct acog_view joined_body(struct acog_simulation *simulation,
                                    const struct acog_upstream_order *order)
{
    struct acog_view body = {0};
    if (order->surface != ACOG_SURFACE_EMBEDDINGS || order->body_bytes > SIMULATION_BODY_MAX) {
        return body;
    }
    char *text = acog_arena_take(&simulation->arena, (size_t)order->body_bytes + 1);
    for (size_t i = 0; text != NULL && i < order->piece_count; i++) {
        if (order->pieces[i].ptr != NULL) {
            memcpy(text + body.len, order->pieces[i].ptr, order->pieces[i].len);
            body.len += order->pieces[i].len;
        }
    }
    body.ptr = text;
    return body;
}

/* -- playing --------------------------------------------------------------------------------------- */

/* False without memory. */
static bool set_timer(struct acog_simulation *simulation)
{
    int64_t passed = acog_clock_now_ms() - simulation->sent_ms;
    struct timeval wait = acog_time_wait(simulation->step.at_ms - passed);
    return event_add(&simulation->timer, &wait) == 0;
}

/* Tells one step. False: the call is gone, and the simulation with it. */
static bool tell(struct acog_simulation *simulation, const struct acog_provider_step *step)
{
    struct acog_upstream_call *call = simulation->call;
    switch (step->kind) {
    case ACOG_STEP_REFUSED:
        acog_call_fail(call, ACOG_CAUSE_CONNECT, "the simulated connection was refused");
        return false;
    case ACOG_STEP_CONNECTED:
        return acog_call_tell_connected(call);
    case ACOG_STEP_HEAD:
        call->answer = ACOG_ANSWER_BODY;
        return acog_call_tell_head(call, step->status, step->headers, step->header_count);
    case ACOG_STEP_BODY:
        return step->bytes.len == 0 || acog_call_tell_body(call, step->bytes);
    case ACOG_STEP_END:
        acog_call_end(call, false);
        return false;
    case ACOG_STEP_CLOSED:
    case ACOG_STEP_RESET:
        acog_call_fail(call, call->answer == ACOG_ANSWER_BODY ? ACOG_CAUSE_CUT : ACOG_CAUSE_CLOSED,
                       step->kind == ACOG_STEP_RESET ? "the simulated connection was reset"
                                                     : "the simulated connection was closed");
        return false;
    case ACOG_STEP_SILENCE:
        return true;
    }
    ACOG_UNREACHABLE("a step of no kind");
}

static void on_timer(evutil_socket_t socket, short what, void *user)
{
    struct acog_simulation *simulation = user;
    ACOG_ASSERT(simulation->tag == SIMULATION_TAG);
    (void)socket;
    (void)what;
    struct acog_upstream_call *call = simulation->call;
    int64_t passed = acog_clock_now_ms() - simulation->sent_ms;
    while (!simulation->over && simulation->step.at_ms <= passed) {
        if (!tell(simulation, &simulation->step)) {
            return;
        }
        /* Not before: what a step points to is lent until the next one. */
        simulation->over = !acog_provider_next(simulation->play, &simulation->step);
        if (call->paused) {
            return;
        }
    }
    if (!simulation->over && !set_timer(simulation)) {
        acog_call_fail(call, ACOG_CAUSE_GATEWAY, "no memory for the next simulated step");
    }
}

void acog_simulation_pause(struct acog_simulation *simulation, bool paused)
{
    if (paused) {
        (void)event_del(&simulation->timer);
    } else if (!simulation->over && !set_timer(simulation)) {
        event_active(&simulation->timer, EV_TIMEOUT, 0); /* which tries again, and fails the call */
    }
}

static bool start(struct acog_simulation *simulation, const struct acog_upstream_order *order)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const struct acog_connection *connection = order->connection;
    const struct acog_provider_request request = {
        .surface = order->surface,
        .dialect = order->dialect,
        .connection = connection->id,
        .model = order->model,
        .stream = order->stream,
        .usage_asked = is_usage_asked(order),
        .served = next_served(connection),
        .body = joined_body(simulation, order),
        .unix_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000,
    };
    const struct acog_provider_reply *reply =
        acog_provider_pick(connection->simulate, request.served);
    simulation->play = acog_provider_play(reply, &request, &simulation->arena);
    if (simulation->play == NULL) {
        return false;
    }
    simulation->over = !acog_provider_next(simulation->play, &simulation->step);
    simulation->sent_ms = acog_clock_now_ms();
    return true;
}

struct acog_simulation *acog_simulation_new(struct acog_upstream_call *call)
{
    struct acog_simulation *simulation = acog_new(sizeof(*simulation));
    if (simulation == NULL) {
        return NULL;
    }
    simulation->tag = SIMULATION_TAG;
    simulation->call = call;
    acog_arena_init(&simulation->arena, SIMULATION_BYTES_MAX);
    (void)event_assign(&simulation->timer, call->upstream->base, -1, 0, on_timer, simulation);
    if (!start(simulation, call->order) || (!simulation->over && !set_timer(simulation))) {
        acog_simulation_free(&simulation);
    }
    return simulation;
}

void acog_simulation_free(struct acog_simulation **simulation)
{
    struct acog_simulation *freed = *simulation;
    *simulation = NULL;
    if (freed != NULL) {
        ACOG_ASSERT(freed->tag == SIMULATION_TAG);
        (void)event_del(&freed->timer);
        acog_arena_fini(&freed->arena);
        freed->tag = 0;
        acog_free(freed);
    }
}
