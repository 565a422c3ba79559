/* exchange.h - one request's traffic: bytes in, facts to the engine; the engine's actions, bytes out. No I/O.
 *
 * A driver (core/gateway with sockets, core/simulate with scripts) starts an exchange with a client's whole
 * request and then tells it what its upstream attempts and the client do. After each call it takes the commands,
 * in order, until there are none:
 *
 *     acog_exchange_start(exchange, &start);
 *     while (acog_exchange_next(exchange, &command)) {
 *         perform(&command);
 *     }
 *
 * Performing a command never calls back into the exchange at once, with one exception: ASK is answered with
 * acog_exchange_policy_answered() before the next acog_exchange_next().
 *
 * The exchange owns: the reading of the client's body, the engine's request, each attempt's request writer, answer
 * reader and hold buffer, reply heads, error bodies, terminal frames, the decision record's rendering. It also
 * answers what needs no upstream: /v1/models, /healthz, /readyz, unknown paths, wrong methods; and what asks for a
 * decision record: POST /v1/route (the plan of the body, nothing is dispatched), GET /v1/generation?id= and
 * GET /v1/receipts/{id} (of a request that is over).
 */
#ifndef ACOG_EXCHANGE_H
#define ACOG_EXCHANGE_H

#include "acog/buffer.h"
#include "acog/dialect.h"
#include "acog/engine.h"
#include "acog/header.h"
#include "acog/order.h"
#include "acog/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct acog_exchange;

/* Everything lent until acog_exchange_reset(), but for the snapshot, of which the exchange takes a reference. */
struct acog_exchange_start {
    struct acog_snapshot *snapshot;
    struct acog_shared *shared;
    struct acog_view method;
    struct acog_view target;               /* origin form, with the query */
    const struct acog_header_row *headers; /* names in lower case */
    size_t header_count;
    struct acog_view body;
    int64_t now_ms;  /* monotonic */
    int64_t unix_ms; /* wall clock, for dates in bodies and Retry-After */
    uint64_t seed;
    bool draining; /* /readyz says so */
    /* A browser sent it for a page from elsewhere, to a listener that serves this machine: it is refused. */
    bool foreign_page;
    bool local; /* the client may see decision records; else their paths do not exist */
    /* Appends the record of that request, ACOG_NOT_FOUND when it is not kept; NULL: none is ever kept. */
    enum acog_code (*find_record)(void *user, struct acog_view request_id, struct acog_buffer *out);
    void *find_record_user;
    /* Gets a line for each event and action of the engine (acog_transcript_step()) until it is full; NULL: none. */
    struct acog_buffer *transcript;
};

struct acog_exchange *acog_exchange_new(void); /* NULL: no memory */
void acog_exchange_free(struct acog_exchange **exchange);

/* Ready for the next request; keeps a little memory. Legal after FINISHED only. */
void acog_exchange_reset(struct acog_exchange *exchange);

void acog_exchange_start(struct acog_exchange *exchange, const struct acog_exchange_start *start);

/* The answer's views must live until the request ends (reasons) or the call ends (the rest). */
void acog_exchange_policy_answered(struct acog_exchange *exchange, const struct acog_answer *answer,
                                   int64_t now_ms);

/* What an attempt does. Calls for an attempt that was cancelled are ignored. Bodies come decoded
 * (no Content-Encoding, no chunks). Views are lent for the call and the commands that follow from it. */
void acog_exchange_connected(struct acog_exchange *exchange, uint32_t attempt, bool reused,
                             int64_t now_ms);
/* The request is out, and the body of its order is not read any more: what was made for it goes. */
void acog_exchange_upstream_sent(struct acog_exchange *exchange, uint32_t attempt);
/* The client's body is not looked at any more: the reply has begun, and no other request will be written. */
bool acog_exchange_body_done(const struct acog_exchange *exchange);
void acog_exchange_upstream_head(struct acog_exchange *exchange, uint32_t attempt, unsigned status,
                                 const struct acog_header_row *headers, size_t header_count,
                                 int64_t now_ms);
void acog_exchange_upstream_body(struct acog_exchange *exchange, uint32_t attempt,
                                 struct acog_view bytes, int64_t now_ms);
void acog_exchange_upstream_end(struct acog_exchange *exchange, uint32_t attempt, int64_t now_ms);
/* `cause`: CONNECT, CLOSED, CUT, BAD_ANSWER or GATEWAY. */
void acog_exchange_upstream_failed(struct acog_exchange *exchange, uint32_t attempt,
                                   enum acog_cause cause, bool reused_no_byte, int64_t now_ms);

void acog_exchange_client_gone(struct acog_exchange *exchange, int64_t now_ms);

/* Back-pressure: the driver stops reading upstream because the client does not take what is queued for it, and later
 * goes on. A silence that the client made is not held against the upstream: the idle clock does not run, the others do.
 * A client that is gone is not full. */
void acog_exchange_client_full(struct acog_exchange *exchange, bool full, int64_t now_ms);

void acog_exchange_tick(struct acog_exchange *exchange, int64_t now_ms);

/* When to call acog_exchange_tick(); INT64_MAX: never. */
int64_t acog_exchange_deadline_ms(const struct acog_exchange *exchange);

/* -- commands -------------------------------------------------------------------------------------- */

enum acog_command_type {
    ACOG_COMMAND_ASK = 0,    /* .ask */
    ACOG_COMMAND_SEND,       /* .attempt .order */
    ACOG_COMMAND_CANCEL,     /* .attempt: nothing more of it will be taken */
    ACOG_COMMAND_REPLY_HEAD, /* .head */
    ACOG_COMMAND_REPLY_DATA, /* .data: send or copy it before the next call */
    ACOG_COMMAND_REPLY_END,
    ACOG_COMMAND_REPLY_ABORT, /* close the client's connection without a legal end of the body */
    ACOG_COMMAND_FINISHED,    /* the last one: acog_exchange_record() is complete */
};

struct acog_reply_head {
    unsigned status;
    const struct acog_header_row *headers; /* ready to write; no Content-Length, Connection, Date */
    size_t header_count;
    int64_t content_length; /* -1: not known */
};

struct acog_command {
    enum acog_command_type type;
    uint32_t attempt;

    union {
        const struct acog_ask *ask;
        const struct acog_upstream_order *order;
        struct acog_reply_head head;
        struct acog_view data;
    };
};

/* False when there is nothing to do until the next call. */
bool acog_exchange_next(struct acog_exchange *exchange, struct acog_command *command);

/* -- after the fact -------------------------------------------------------------------------------- */

/* What the log line, the metrics and the decision record are made from. Never prompt or answer text. */
struct acog_exchange_record {
    struct acog_view request_id;
    const struct acog_request
        *request; /* plan, attempts, outcome; NULL when it never reached the engine */
    const struct acog_snapshot *snapshot;
    bool routed; /* one of acog_surface; else a local answer (models, health, unknown path) */
    enum acog_surface surface;
    bool stream;
    struct acog_view model; /* asked for, cut to 256 bytes */
    bool plan_only; /* POST /v1/route: `request` is the plan of the body, and not `routed` */
    unsigned planned_status;     /* with which that request would be refused; 0: it would be sent */
    unsigned status;             /* told to the client; 0: it left before */
    struct acog_view error_code; /* told to the client, or empty */
    struct acog_view
        dropped_params; /* names of fields that the answering connection was not sent */
    uint64_t request_bytes;
    uint64_t reply_bytes;    /* body */
    struct acog_usage usage; /* of the answer that was given */
    bool usage_estimated;    /* by the gateway, because the provider gave none */
    int64_t started_ms;
    int64_t started_unix_ms;
    int64_t committed_ms; /* -1 */
    int64_t ended_ms;     /* -1 */
};

/* Valid until acog_exchange_reset(). */
const struct acog_exchange_record *acog_exchange_record(const struct acog_exchange *exchange);

/* The decision record as JSON, the one renderer of all views (explain, test, route, receipts): candidates in order
 * with kept / dropped by filter X (reason, place) / tried -> class / not reached, and the attempts (S0.80). */
enum acog_code acog_exchange_render_record(const struct acog_exchange_record *said,
                                           struct acog_buffer *out) ACOG_MUST_CHECK;

/* -- errors that a server must answer before there is a request -------------------------------------- */

#define ACOG_MADE_ID_BYTES ((size_t)28)

/* An id for a request that brought none: ACOG_MADE_ID_BYTES letters and digits. Moves *random on. */
void acog_exchange_make_id(uint64_t *random, char *out);

/* The headers that every answer has: `x-request-id`, and on Anthropic's paths `request-id`. Returns their number. */
size_t acog_exchange_id_rows(struct acog_view target, struct acog_view request_id,
                             struct acog_header_row rows[2]);

/* An error answer in the client's dialect (by the path; unknown: chat's shape): what core/http needs when it
 * refuses bytes. `out` gets the body; returns the status. Its content type is application/json. */
unsigned acog_exchange_error_body(const struct acog_snapshot *snapshot,
                                  enum acog_condition condition, struct acog_view target,
                                  struct acog_view detail, struct acog_view request_id,
                                  struct acog_buffer *out);

#endif
