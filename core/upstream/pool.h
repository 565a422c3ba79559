/* pool.h - idle connections, by endpoint, the one used last first.
 *
 * A group is all links to endpoints with one pool_key; it lives as long as it has links.
 */
#ifndef ACOG_CORE_UPSTREAM_POOL_H
#define ACOG_CORE_UPSTREAM_POOL_H

#include "acog/view.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <event2/event_struct.h>

#define ACOG_POOL_BUCKETS 64

struct acog_link;
struct acog_pool_group;

TAILQ_HEAD(acog_link_list, acog_link);

struct acog_pool {
    struct acog_pool_group *buckets[ACOG_POOL_BUCKETS];
    struct acog_link_list by_age;
    struct event timer; /* pending while a link is idle */
    size_t idle;
    size_t idle_max; /* of one group */
    int64_t idle_ms;
};

void acog_pool_init(struct acog_pool *pool, struct event_base *base, size_t idle_max,
                    int64_t idle_ms);
/* Closes the idle links; no others may be left. */
void acog_pool_fini(struct acog_pool *pool);

/* Counts `link` into the group of that key, which is made if need be. False without memory. */
bool acog_pool_join(struct acog_pool *pool, struct acog_link *link, struct acog_view key);
/* Before a link is freed: out of the idle ones, out of its group. A link that never joined is left alone. */
void acog_pool_leave(struct acog_pool *pool, struct acog_link *link);

/* Takes a BUSY link that is fit for another request. */
void acog_pool_put(struct acog_pool *pool, struct acog_link *link);
/* An idle link that is still good, now BUSY; or NULL. */
struct acog_link *acog_pool_take(struct acog_pool *pool, struct acog_view key);

#endif
