/* upstream.h - the providers of a simulated gateway: one for each connection, with its script and what it received.
 */
#ifndef ACOG_SIMULATE_UPSTREAM_H
#define ACOG_SIMULATE_UPSTREAM_H

#include "acog/arena.h"
#include "acog/error.h"
#include "acog/order.h"
#include "acog/provider.h"
#include "acog/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_RECEIVED_MAX       ((size_t)1024) /* requests kept for each upstream: the newest */
#define ACOG_RECEIVED_BYTES_MAX ((size_t)64 * 1024 * 1024) /* of one of them */

/* A request as it reached the provider. */
struct acog_received {
    struct acog_arena arena;
    enum acog_surface surface;
    enum acog_dialect dialect;
    struct acog_view query;
    struct acog_view model;
    bool stream;
    const struct acog_header_row *headers;
    size_t header_count;
    struct acog_view body;
    int64_t at_ms;
};

struct acog_sim_upstream {
    const struct acog_connection *connection;
    struct acog_provider_script script; /* lent by whoever set it */
    struct acog_provider_reply good;    /* what is played when nothing was scripted */
    uint64_t script_served;             /* requests since then */
    uint64_t served;
    struct acog_received **received; /* owned; a ring once it is full */
    size_t received_count;
    size_t received_room;
};

/* Plays what the connection itself says (`simulate`), else good answers. It must not be moved afterwards. */
void acog_sim_upstream_init(struct acog_sim_upstream *upstream,
                            const struct acog_connection *connection);
void acog_sim_upstream_fini(struct acog_sim_upstream *upstream);

/* From now on the replies are these. The script and all in it are lent until the next one or the end. */
void acog_sim_upstream_answers(struct acog_sim_upstream *upstream,
                               const struct acog_provider_script *script);

/* Keeps a copy of the order and returns it; the oldest goes when there are too many. NULL: no memory. */
const struct acog_received *acog_sim_upstream_receive(struct acog_sim_upstream *upstream,
                                                      const struct acog_upstream_order *order,
                                                      int64_t now_ms);

/* The n-th kept one, the oldest first. */
const struct acog_received *acog_sim_upstream_received(const struct acog_sim_upstream *upstream,
                                                       size_t n);

/* Starts the play that answers the newest request. Its views live in `arena`. NULL: no memory. */
struct acog_provider_play *acog_sim_upstream_play(struct acog_sim_upstream *upstream,
                                                  const struct acog_received *received,
                                                  int64_t unix_ms, struct acog_arena *arena);

#endif
