/* client.h - one client and the reply to its request (world.h is how others see it). */
#ifndef ACOG_SIMULATE_CLIENT_H
#define ACOG_SIMULATE_CLIENT_H

#include "acog/arena.h"
#include "acog/sse.h"
#include "world.h"

#define ACOG_WORLD_BIRTH_MS \
    INT64_C(86400000) /* the monotonic clock at the start: nothing is older */

/* A provider that is answering an attempt. */
struct acog_sim_call {
    struct acog_sim_call *next; /* the younger one */
    uint32_t attempt;
    bool over;      /* cancelled or at its end: freed by the sweep */
    bool head_seen; /* decides what a closed connection is called */
    int64_t started_ms;
    struct acog_arena arena;
    struct acog_provider_play *play;
    struct acog_provider_step step; /* the one that is due next */
};

struct acog_sim_client {
    struct acog_sim_client *next; /* the younger one */
    struct acog_exchange *exchange;
    bool released;          /* nobody looks at it: freed once it is over */
    bool over;              /* FINISHED came */
    bool gone;              /* hung up */
    bool paused;            /* it reads nothing */
    int64_t stalled_ms;     /* since when the gateway cannot send it more; -1: it can */
    int64_t clocks_from_ms; /* after a pause: no deadline before */
    int64_t started_ms;
    int64_t ended_ms;
    struct acog_arena arena; /* the request, and the reply's head and events */
    struct acog_sim_request request;
    struct acog_buffer transcript; /* of the engine */
    struct acog_sim_call *calls;   /* owned, the oldest first */
    uint32_t unplayed; /* an attempt that could not be played, still to be told; 0: none */
    /* the reply */
    unsigned status;
    struct acog_header_row *headers;
    size_t header_count;
    bool is_stream;
    bool complete;
    bool aborted;
    bool failed; /* the simulator had no room for it */
    struct acog_buffer body;
    struct acog_sse_reader sse;
    struct acog_sim_event *events; /* owned */
    size_t event_count;
    size_t event_room;
};

/* With a copy of the request. NULL: no memory. */
struct acog_sim_client *acog_sim_client_new(const struct acog_sim_request *request, int64_t now_ms);
void acog_sim_client_free(struct acog_sim_client **client);

void acog_sim_client_take_head(struct acog_sim_client *client, const struct acog_reply_head *head);
void acog_sim_client_take_data(struct acog_sim_client *client, struct acog_view data,
                               int64_t now_ms);
void acog_sim_client_take_end(struct acog_sim_client *client, bool complete, int64_t now_ms);

/* Starts a provider's answer. False: no memory. */
bool acog_sim_client_add_call(struct acog_sim_client *client, uint32_t attempt,
                              struct acog_sim_upstream *upstream,
                              const struct acog_received *received, int64_t now_ms,
                              int64_t unix_ms);

/* Frees the calls that are over. */
void acog_sim_client_sweep(struct acog_sim_client *client);

#endif
