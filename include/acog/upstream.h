/* upstream.h - the provider side: one per worker. libcurl makes the connection (DNS, proxy, TLS, verification), our
 * HTTP speaks on it, a pool keeps it warm.
 *
 * No clock runs here: the engine's deadlines cancel. Nothing is retried here: a failure is told as it is.
 * The channel of a connection (core/upstream/direct.c and its kin) turns an order into target and headers and
 * adds the key. A connection with `simulate` is played by core/upstream/simulated.c instead.
 */
#ifndef ACOG_UPSTREAM_H
#define ACOG_UPSTREAM_H

#include "acog/error.h"
#include "acog/header.h"
#include "acog/names.h"
#include "acog/order.h"
#include "acog/snapshot.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct acog_upstream;
struct acog_upstream_call;

/* Told from the event loop, never from inside acog_upstream_send(), _cancel() or _pause(). Each function may send, cancel
 * and pause, this call too, but not free the upstream. After `end` or `failed` the call is gone. Views are lent for the
 * call of the function. */
struct acog_upstream_events {
    void (*connected)(void *user, bool reused);
    /* Without what belongs to the connection, the framing or the coding (B102, B104). */
    void (*head)(void *user, unsigned status, const struct acog_header_row *headers, size_t count);
    void (*body)(void *user, struct acog_view bytes); /* decoded: no chunks, no gzip */
    void (*end)(void *user);
    /* cause: CONNECT (after `connected` too, when TLS 1.3 refuses our certificate), CLOSED (before the head), CUT (after it), BAD_ANSWER (before or after it), GATEWAY; `why` is for
     * the log, without secrets. reused_no_byte: the connection had served before and died without a byte of an answer. */
    void (*failed)(void *user, enum acog_cause cause, bool reused_no_byte, const char *why);
};

struct acog_upstream_options {
    size_t pool_idle_max; /* per endpoint */
    int64_t pool_idle_ms; /* an idle connection is closed after that */
    size_t head_bytes_max;
    size_t fields_max;
    uint64_t decoded_bytes_max; /* of a gzip body (a bomb is BAD_ANSWER) */
};

/* What all workers share; made once, before them. From here on SIGPIPE is ignored. The trust stores are loaded with the
 * first TLS connection that needs them. */
enum acog_code acog_upstream_global_init(struct acog_error *error) ACOG_MUST_CHECK;
void acog_upstream_global_fini(void);

struct acog_upstream *acog_upstream_new(struct event_base *base,
                                        const struct acog_upstream_options *options,
                                        struct acog_error *error);
void acog_upstream_free(struct acog_upstream **upstream); /* cancels all calls */

/* Sends the order. It and its views are lent until end, failed or cancel; `events` is copied. NULL only without memory.
 * Two connections whose endpoints have the same pool_key share transport connections, so the key must tell apart whatever
 * the endpoint says: TLS, host, port, unix socket, proxy, CA file and client certificate. */
struct acog_upstream_call *acog_upstream_send(struct acog_upstream *upstream,
                                              const struct acog_upstream_order *order,
                                              const struct acog_upstream_events *events,
                                              void *user);

/* No event comes after this. The connection is closed at once, unless the rest of the answer is known to be small:
 * then it is read and thrown away, and the connection goes back to the pool. */
void acog_upstream_cancel(struct acog_upstream_call **call);

/* The whole request is out: the order's body is not read any more. */
bool acog_upstream_sent(const struct acog_upstream_call *call);

/* Back-pressure: while paused nothing is read, and no body event comes. */
void acog_upstream_pause(struct acog_upstream_call *call, bool paused);

struct acog_upstream_counts {
    uint64_t connects;
    uint64_t reuses;
    uint64_t connect_failures;
    size_t open;
    size_t idle;
};

struct acog_upstream_counts acog_upstream_counts(const struct acog_upstream *upstream);

/* -- channels (core/upstream/direct.c …) ------------------------------------------------------------- */

/* Target, and all headers but those that core/upstream writes itself: Content-Length, Accept-Encoding, and, unless the
 * configuration names them, Host and User-Agent. Texts of its own go to `arena`; the rest are views of the order. */
struct acog_upstream_target {
    struct acog_view target;
    struct acog_header_row headers[64];
    size_t header_count;
};

struct acog_arena;
/* ACOG_INVALID: the channel is not available yet. ACOG_TOO_BIG: more headers than rows. ACOG_NO_MEMORY. */
enum acog_code acog_channel_target(const struct acog_upstream_order *order,
                                   struct acog_arena *arena,
                                   struct acog_upstream_target *target) ACOG_MUST_CHECK;

#endif
