/* connect.h - libcurl's part: connections in the making, and the TLS connections that it must keep. */
#ifndef ACOG_CORE_UPSTREAM_CONNECT_H
#define ACOG_CORE_UPSTREAM_CONNECT_H

#include "acog/error.h"
#include "acog/snapshot.h"

#include <sys/queue.h>

struct acog_link;
struct acog_shard;

/* One per worker. */
struct acog_connector {
    SLIST_HEAD(, acog_shard) shards;
};

void acog_connector_init(struct acog_connector *connector);
/* All links must be closed. */
void acog_connector_fini(struct acog_connector *connector);

/* Begins to connect `link`: acog_link_settle() from the loop. An error leaves nothing behind. */
enum acog_code acog_connector_begin(struct acog_link *link, const struct acog_endpoint *endpoint,
                                    struct acog_error *error) ACOG_MUST_CHECK;

/* The link stands: its socket, still libcurl's, whose events are the caller's from now on. */
int acog_connector_take(struct acog_link *link);

/* Takes the link away from libcurl, which closes its connection. A link that libcurl does not have is left alone. */
void acog_connector_release(struct acog_link *link);

#endif
