/* call.h - the inside of core/upstream: a worker's upstream side, and one request on it.
 *
 * A call sends and receives at the same time, so it has a state for each:
 *
 *   sending:  WAITING ──connected──> RUNNING ──all──> DONE
 *                                       └──error──> BROKEN     (an early answer may still be there to read)
 *   answer:   NOTHING ──a byte──> BEGUN ──head──> BODY ──> (end or failed: the call is gone)
 *
 * and one for its user:
 *
 *   LIVE ──cancel──> gone                      the link is closed
 *     ├───cancel──> DRAINING ──rest──> gone    the rest is small: the link goes to the pool
 *     └───cancel inside one of its own events──> CANCELLED ──return──> gone
 *
 * Files: upstream.c the life of calls and what users are told; request.c the head and sending; answer.c reading.
 */
#ifndef ACOG_CORE_UPSTREAM_CALL_H
#define ACOG_CORE_UPSTREAM_CALL_H

#include "acog/arena.h"
#include "acog/buffer.h"
#include "acog/http.h"
#include "acog/upstream.h"
#include "connect.h"
#include "inflate.h"
#include "link.h"
#include "pool.h"

#define ACOG_READ_BYTES    65536 /* the worker's buffer: what one turn reads of one link */
#define ACOG_WHY_BYTES_MAX 256

struct acog_simulation;

enum acog_call_state {
    ACOG_CALL_LIVE = 0,
    ACOG_CALL_CANCELLED,
    ACOG_CALL_DRAINING,
};

enum acog_sending {
    ACOG_SENDING_WAITING = 0,
    ACOG_SENDING_RUNNING,
    ACOG_SENDING_DONE,
    ACOG_SENDING_BROKEN,
};

enum acog_answer {
    ACOG_ANSWER_NOTHING = 0,
    ACOG_ANSWER_BEGUN,
    ACOG_ANSWER_BODY,
};

/* What the user must still be told, from the loop. */
enum acog_news {
    ACOG_NEWS_NONE = 0,
    ACOG_NEWS_CONNECTED,
    ACOG_NEWS_FAILED, /* call->cause, call->why */
};

struct acog_upstream_call {
    uint32_t tag;
    enum acog_call_state state;
    enum acog_sending sending;
    enum acog_answer answer;
    enum acog_news news;
    enum acog_cause cause;
    bool telling; /* one of the user's functions is running */
    bool paused;
    bool halted; /* a pause stopped the reading of bytes that had arrived: they wait in `rest` */
    bool reused; /* the link served other requests before */
    struct acog_upstream *upstream;
    const struct acog_upstream_order *order; /* lent; NULL when DRAINING */
    struct acog_upstream_events events;
    void *user;
    struct acog_link *link;             /* NULL for a simulated call */
    struct acog_simulation *simulation; /* or NULL */
    struct acog_buffer head;            /* of the request */
    size_t sent;                        /* of head and pieces together */
    uint64_t body_taken;                /* bytes of the answer's body as they came */
    struct acog_inflate *inflate;
    struct acog_buffer rest;
    size_t rest_coded;  /* its first bytes are of a body piece that waits for `inflate` */
    struct event timer; /* DRAINING: its end */
    TAILQ_ENTRY(acog_upstream_call) in_all;
    TAILQ_ENTRY(acog_upstream_call) in_news; /* unless ACOG_NEWS_NONE */
    char why[ACOG_WHY_BYTES_MAX];
    struct acog_http_reader reader;
};

TAILQ_HEAD(acog_call_list, acog_upstream_call);

struct acog_upstream {
    uint32_t tag;
    struct event_base *base;
    struct acog_upstream_options options;
    struct acog_upstream_counts counts;
    struct acog_connector connector;
    struct acog_pool pool;
    struct acog_call_list calls;
    struct acog_call_list news;
    struct event news_event;
    struct acog_call_list spare; /* calls kept for the next requests */
    size_t spare_count;
    struct acog_arena scratch;                         /* reset after each use */
    struct acog_header_row rows[ACOG_HTTP_FIELDS_MAX]; /* of the answer head being told */
    char *read_bytes;
    char *decoded_bytes; /* each ACOG_READ_BYTES, owned */
    char *record_bytes;  /* ACOG_RECORD_BYTES: small pieces joined for TLS */
};

#define ACOG_RECORD_BYTES 16384

/* -- upstream.c ------------------------------------------------------------------------------------ */

/* Tells `news` from the loop. */
void acog_call_defer(struct acog_upstream_call *call, enum acog_news news);

/* Each tells the user now; only from the loop. False: the call is gone (cancelled inside). */
bool acog_call_tell_connected(struct acog_upstream_call *call);
bool acog_call_tell_head(struct acog_upstream_call *call, unsigned status,
                         const struct acog_header_row *rows, size_t count);
bool acog_call_tell_body(struct acog_upstream_call *call, struct acog_view bytes);

/* Each ends the call: it is gone when the user is told. */
void acog_call_end(struct acog_upstream_call *call, bool link_reusable);
void acog_call_fail(struct acog_upstream_call *call, enum acog_cause cause, const char *why);

/* For link.c: what became of a connection. `why` as in link->why. */
void acog_call_connected(struct acog_upstream_call *call);
void acog_call_unconnected(struct acog_upstream_call *call, const char *why);

/* -- request.c ------------------------------------------------------------------------------------- */

/* Writes the head of the request into call->head; *why is a constant text. */
enum acog_code acog_call_write_head(struct acog_upstream_call *call,
                                    const char **why) ACOG_MUST_CHECK;

/* Sends what goes; the rest when the link can take it. */
void acog_call_send(struct acog_upstream_call *call);

static inline void acog_call_writable(struct acog_upstream_call *call)
{
    acog_call_send(call);
}

/* -- answer.c -------------------------------------------------------------------------------------- */

/* The link may have bytes, or ended. */
void acog_call_readable(struct acog_upstream_call *call);

#endif
