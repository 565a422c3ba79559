/* drive_parts.h - what drive.c (an exchange and its sockets) and drive_clients.c (how requests come and go) share. */
#ifndef ACOG_GATEWAY_DRIVE_PARTS_H
#define ACOG_GATEWAY_DRIVE_PARTS_H

#include "acog/arena.h"
#include "acog/exchange.h"
#include "drive.h"

#include <event2/event_struct.h>

#define ACOG_DRIVE_WHY_BYTES_MAX 160

enum acog_drive_state {
    ACOG_DRIVE_SPARE = 0,
    ACOG_DRIVE_OPEN,
    ACOG_DRIVE_ENDED,
    ACOG_DRIVE_ABORTED,
    ACOG_DRIVE_GONE,
};

/* What an upstream's events find their attempt by. */
struct acog_call_slot {
    struct acog_drive *drive;
    uint32_t attempt;
    struct acog_upstream_call *call; /* NULL: not under way */
};

struct acog_drive {
    struct acog_worker *worker;
    struct acog_drive *next; /* of the worker's list */
    struct acog_drive *before;
    enum acog_drive_state state;
    struct acog_exchange *exchange;  /* owned for good */
    struct acog_http_stream *stream; /* NULL when SPARE or GONE */
    struct acog_view target;
    struct acog_call_slot calls[ACOG_ATTEMPTS_MAX];
    uint32_t unsent; /* an attempt that found no memory, to be told after the commands; 0: none */
    bool paused;     /* the client is slow: the upstream is not read */
    struct event timer;
    int64_t timer_at_ms;    /* INT64_MAX: not armed */
    struct acog_arena copy; /* of the client's request, where the policy reads on without it */
    char why[ACOG_DRIVE_WHY_BYTES_MAX];
};

/* -- drive.c ----------------------------------------------------------------------------------------- */

/* Performs the exchange's commands until there are none. The drive may be over after this. */
void acog_drive_pump(struct acog_drive *drive);
/* While the client is slow its upstreams are not read. */
void acog_drive_pause(struct acog_drive *drive, bool paused);
void acog_drive_cancel_calls(struct acog_drive *drive);
/* The callback of a drive's timer. */
void acog_drive_on_timer(evutil_socket_t fd, short what, void *user);

/* -- drive_clients.c --------------------------------------------------------------------------------- */

/* Its request is over: it is kept for the next one, or freed. */
void acog_drive_retire(struct acog_drive *drive);

#endif
