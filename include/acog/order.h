/* order.h - what the exchange orders from an upstream: the seam between core/exchange and core/upstream.
 */
#ifndef ACOG_ORDER_H
#define ACOG_ORDER_H

#include "acog/header.h"
#include "acog/names.h"
#include "acog/snapshot.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_BODY_PIECES_MAX 16

/* A request for an upstream, before its channel gave it an address, a key and a path. Lent until the attempt
 * was cancelled or its end was told. */
struct acog_upstream_order {
    const struct acog_connection *connection;
    enum acog_dialect dialect; /* the upstream's */
    enum acog_surface
        surface; /* what is asked for, in the upstream's dialect; GEMINI has none of its own: chat */
    struct acog_view query; /* of the client's target, allow-listed ("beta=true"), without '?' */
    struct acog_view model; /* the id sent */
    bool stream;
    bool fresh; /* a resend: on a new connection, since a pooled one may be as dead as the last */
    const struct acog_header_row
        *headers; /* allow-listed from the client's (B101-B103), and content-type */
    size_t header_count;
    struct acog_view pieces[ACOG_BODY_PIECES_MAX]; /* the body */
    size_t piece_count;
    uint64_t body_bytes;
};

#endif
