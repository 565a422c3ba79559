/* worker.h - one thread that serves: an event loop, a listener, upstreams, a policy state, spare exchanges.
 *
 * Made and freed by the main thread; between start and join everything in it but `order` is the thread's own.
 */
#ifndef ACOG_GATEWAY_WORKER_H
#define ACOG_GATEWAY_WORKER_H

#include "acog/buffer.h"
#include "acog/error.h"
#include "acog/exchange.h"
#include "acog/http.h"
#include "acog/policy.h"
#include "acog/upstream.h"
#include "metrics.h"
#include "service.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <event2/event_struct.h>

#define ACOG_SPARE_DRIVES_MAX 128 /* kept for the next requests; more are freed after a rush */

struct acog_drive;

/* What the main thread asks for; it only ever rises. */
enum acog_worker_order {
    ACOG_WORKER_SERVE = 0,
    ACOG_WORKER_DRAIN, /* end when the last client is gone */
    ACOG_WORKER_STOP,  /* end now */
};

struct acog_worker {
    struct acog_service *service; /* lent */
    unsigned number;
    pthread_t thread;
    struct event_base *base;
    struct acog_http_server *server;
    struct acog_upstream *upstream;
    struct acog_policy_state *policy;
    struct acog_worker_counts *counts; /* lent */
    struct acog_drive *running;        /* list */
    struct acog_drive *spare;          /* list */
    size_t running_count;
    size_t spare_count;
    uint64_t random;              /* seeds of requests */
    struct acog_buffer log_lines; /* of this turn of the loop */
    size_t log_line_count;
    struct acog_buffer receipt;    /* the next one in the making */
    struct acog_buffer error_body; /* has room already: it must serve without memory */
    char refusal_id
        [ACOG_MADE_ID_BYTES]; /* of the last request that was answered without an exchange */
    struct acog_header_row refusal_rows[3];
    struct event rest;    /* fires some seconds after the last request */
    uint64_t rest_wanted; /* how many had been served when it was set */
    uint64_t rested;      /* how many had been served at the last rest */
    int wake_fd;          /* an eventfd */
    struct event wake;
    _Atomic int order; /* enum acog_worker_order */
    enum acog_worker_order obeyed;
};

/* Takes `socket`, which listens. NULL with `error` filled in. */
struct acog_worker *acog_worker_new(struct acog_service *service, unsigned number, int socket,
                                    size_t worker_count, struct acog_error *error);
/* Ends what is still running: those clients are cut off. The thread must have ended, or never have started. */
void acog_worker_free(struct acog_worker **worker);

enum acog_code acog_worker_start(struct acog_worker *worker,
                                 struct acog_error *error) ACOG_MUST_CHECK;
/* From any thread. */
void acog_worker_tell(struct acog_worker *worker, enum acog_worker_order order);
/* Nothing runs: gives back what was kept for the next requests. Its loop does so by itself after some quiet seconds. */
void acog_worker_rest(struct acog_worker *worker);
/* An id for an answer without an exchange; valid until the next call. */
struct acog_view acog_worker_make_id(struct acog_worker *worker);
/* The thread has ended, or ends by an order that was told. */
void acog_worker_join(struct acog_worker *worker);

#endif
