/* world.h - driver 2: one gateway on a virtual clock, with scripted clients before it and scripted providers behind.
 *
 * It does for core/exchange what core/gateway does with sockets: performs its commands and tells it what happens. The
 * clock stands still while anything is done and jumps to whatever is due next: the next step of a provider, or the
 * deadline of an exchange. At the same moment providers come before deadlines, older requests before younger ones;
 * so the same start gives the same end, to the byte.
 */
#ifndef ACOG_SIMULATE_WORLD_H
#define ACOG_SIMULATE_WORLD_H

#include "acog/buffer.h"
#include "acog/exchange.h"
#include "acog/policy.h"
#include "acog/shared.h"
#include "acog/snapshot.h"
#include "upstream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_WORLD_START_UNIX_MS   INT64_C(1767225600000)      /* 2026-01-01 00:00:00 UTC */
#define ACOG_WORLD_CLIENTS_MAX     ((size_t)100000)            /* unreleased at a time */
#define ACOG_WORLD_REPLY_BYTES_MAX ((size_t)128 * 1024 * 1024) /* of one reply's body */
#define ACOG_WORLD_SCRATCH_MAX     ((size_t)64 * 1024 * 1024)
#define ACOG_WORLD_STEPS_MAX       UINT64_C(10000000) /* of one wait: more is a loop */

struct acog_world;
struct acog_sim_client; /* a client with its one request */

/* Takes its own reference to the snapshot; takes over `state` and `shared` (both then NULL), also when it fails. */
struct acog_world *acog_world_new(struct acog_snapshot *snapshot, struct acog_policy_state **state,
                                  struct acog_shared **shared, uint64_t seed);
void acog_world_free(struct acog_world **world);

/* Since the world began. */
int64_t acog_world_now_ms(const struct acog_world *world);

size_t acog_world_upstream_count(const struct acog_world *world); /* one for each connection */
struct acog_sim_upstream *acog_world_upstream(struct acog_world *world, size_t connection);

/* What the policy's functions have said last when they failed; empty: nothing. */
const char *acog_world_policy_error(const struct acog_world *world);

/* An empty buffer for a body or a record in the making; lent until the next call. */
struct acog_buffer *acog_world_scratch(struct acog_world *world);

struct acog_sim_request {
    struct acog_view method;
    struct acog_view target;
    const struct acog_header_row *headers; /* names in lower case */
    size_t header_count;
    struct acog_view body;
};

/* A new client sends a request; everything is copied. What needs no time is done at once, the rest when the clock
 * moves. NULL: no memory, or too many clients. */
struct acog_sim_client *acog_world_send(struct acog_world *world,
                                        const struct acog_sim_request *request);

enum acog_wait {
    ACOG_WAIT_OVER = 0, /* the gateway has done with the request */
    ACOG_WAIT_FOR_EVER, /* nothing is due any more, and the request is not over */
    ACOG_WAIT_LOOP,     /* ACOG_WORLD_STEPS_MAX steps, and no end */
};

/* Moves the clock until the request is over. */
enum acog_wait acog_world_wait(struct acog_world *world, struct acog_sim_client *client);

/* Moves the clock by that much; what is due in between happens in its time. */
enum acog_wait acog_world_advance(struct acog_world *world, int64_t by_ms);

/* The client closes its connection. */
void acog_world_hang_up(struct acog_world *world, struct acog_sim_client *client);

/* The client stops reading, and goes on. What the gateway sends meanwhile has no room anywhere: with the first bytes it
 * stops reading the provider, and no clock runs, but for the one after which it leaves such a client
 * (`limits.body_ms`). */
void acog_world_pause(struct acog_world *world, struct acog_sim_client *client);
void acog_world_resume(struct acog_world *world, struct acog_sim_client *client);

/* The client is no longer of interest; a request that is not over goes on without a witness. */
void acog_world_release(struct acog_world *world, struct acog_sim_client **client);

/* -- what the client has seen ------------------------------------------------------------------------- */

struct acog_sim_event { /* of a stream */
    struct acog_view name;
    struct acog_view data;
    int64_t at_ms; /* since the request */
};

struct acog_sim_reply {
    unsigned status; /* 0: no head so far */
    const struct acog_header_row *headers;
    size_t header_count;
    struct acog_view body;
    const struct acog_sim_event *events;
    size_t event_count;
    bool complete;       /* the body came to its legal end */
    bool aborted;        /* the gateway broke it off */
    bool over;           /* nothing more will come */
    int64_t started_ms;  /* since the world began */
    int64_t duration_ms; /* until the reply's end */
};

/* As of now; lent until the clock moves. */
struct acog_sim_reply acog_sim_client_reply(const struct acog_sim_client *client);

/* The exchange's account of it, complete when the request is over; NULL before. */
const struct acog_exchange_record *acog_sim_client_record(const struct acog_sim_client *client);

/* The world's youngest client that was not released or was the last to be; NULL: none. For failure messages. */
const struct acog_sim_client *acog_world_last_client(const struct acog_world *world);

/* What the engine was told and what it said, a line each. Without texts of the request. */
struct acog_view acog_sim_client_transcript(const struct acog_sim_client *client);

/* "POST /v1/messages" */
struct acog_view acog_sim_client_method(const struct acog_sim_client *client);
struct acog_view acog_sim_client_target(const struct acog_sim_client *client);

#endif
