/* pool.c - a hash of groups, and one list of all idle links by age.
 *
 * Every link stays idle for the same time, so the list by age is also the order in which they expire, and one timer
 * serves them all: it is set for the oldest, and may find that link taken in the meantime.
 */
#include "pool.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "acog/time.h"
#include "clock.h"
#include "link.h"

#include <string.h>

#include <event2/event.h>

struct acog_pool_group {
    struct acog_pool_group *next; /* in its bucket */
    size_t links;                 /* idle or not */
    size_t idle;
    struct acog_link_list newest;
    size_t key_bytes;
    char key[];
};

/* FNV-1a. */
static size_t bucket_of(struct acog_view key)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < key.len; i++) {
        hash = (hash ^ (unsigned char)key.ptr[i]) * 16777619U;
    }
    return hash % ACOG_POOL_BUCKETS;
}

static struct acog_pool_group *find_group(const struct acog_pool *pool, struct acog_view key)
{
    struct acog_pool_group *group = pool->buckets[bucket_of(key)];
    while (group != NULL &&
           !acog_view_equal((struct acog_view){group->key, group->key_bytes}, key)) {
        group = group->next;
    }
    return group;
}

static void group_free(struct acog_pool *pool, struct acog_pool_group *group)
{
    struct acog_pool_group **at =
        &pool->buckets[bucket_of((struct acog_view){group->key, group->key_bytes})];
    while (*at != group) {
        at = &(*at)->next;
    }
    *at = group->next;
    acog_free(group);
}

static void take_out(struct acog_pool *pool, struct acog_link *link)
{
    ACOG_ASSERT(link->state == ACOG_LINK_IDLE);
    TAILQ_REMOVE(&link->group->newest, link, in_group);
    TAILQ_REMOVE(&pool->by_age, link, by_age);
    link->group->idle--;
    pool->idle--;
}

static void set_timer(struct acog_pool *pool, int64_t wait_ms)
{
    struct timeval wait = acog_time_wait(wait_ms);
    (void)event_add(&pool->timer, &wait);
}

static void on_timer(evutil_socket_t socket, short what, void *user)
{
    struct acog_pool *pool = user;
    (void)socket;
    (void)what;
    int64_t now = acog_clock_now_ms();
    struct acog_link *oldest = TAILQ_FIRST(&pool->by_age);
    while (oldest != NULL && oldest->idle_until_ms <= now) {
        acog_link_close(&oldest);
        oldest = TAILQ_FIRST(&pool->by_age);
    }
    if (oldest != NULL) {
        set_timer(pool, oldest->idle_until_ms - now);
    }
}

void acog_pool_init(struct acog_pool *pool, struct event_base *base, size_t idle_max,
                    int64_t idle_ms)
{
    *pool = (struct acog_pool){.idle_max = idle_max, .idle_ms = idle_ms};
    TAILQ_INIT(&pool->by_age);
    (void)event_assign(&pool->timer, base, -1, 0, on_timer, pool);
}

void acog_pool_fini(struct acog_pool *pool)
{
    (void)event_del(&pool->timer);
    while (!TAILQ_EMPTY(&pool->by_age)) {
        struct acog_link *link = TAILQ_FIRST(&pool->by_age);
        acog_link_close(&link);
    }
    for (size_t i = 0; i < ACOG_POOL_BUCKETS; i++) {
        ACOG_ASSERT(pool->buckets[i] == NULL);
    }
}

bool acog_pool_join(struct acog_pool *pool, struct acog_link *link, struct acog_view key)
{
    struct acog_pool_group *group = find_group(pool, key);
    if (group == NULL) {
        group = acog_new(sizeof(*group) + key.len);
        if (group == NULL) {
            return false;
        }
        TAILQ_INIT(&group->newest);
        group->key_bytes = key.len;
        if (key.len > 0) {
            memcpy(group->key, key.ptr, key.len);
        }
        struct acog_pool_group **bucket = &pool->buckets[bucket_of(key)];
        group->next = *bucket;
        *bucket = group;
    }
    group->links++;
    link->group = group;
    return true;
}

void acog_pool_leave(struct acog_pool *pool, struct acog_link *link)
{
    struct acog_pool_group *group = link->group;
    if (group == NULL) {
        return;
    }
    if (link->state == ACOG_LINK_IDLE) {
        take_out(pool, link);
    }
    link->group = NULL;
    group->links--;
    if (group->links == 0) {
        group_free(pool, group);
    }
}

void acog_pool_put(struct acog_pool *pool, struct acog_link *link)
{
    ACOG_ASSERT(link->state == ACOG_LINK_BUSY);
    if (pool->idle_max == 0) {
        acog_link_close(&link);
        return;
    }
    struct acog_pool_group *group = link->group;
    if (group->idle == pool->idle_max) {
        struct acog_link *oldest = TAILQ_LAST(&group->newest, acog_link_list);
        acog_link_close(&oldest);
    }
    link->state = ACOG_LINK_IDLE;
    link->call = NULL;
    link->idle_until_ms = acog_clock_now_ms() + pool->idle_ms;
    TAILQ_INSERT_HEAD(&group->newest, link, in_group);
    TAILQ_INSERT_TAIL(&pool->by_age, link, by_age);
    group->idle++;
    pool->idle++;
    if (event_pending(&pool->timer, EV_TIMEOUT, NULL) == 0) {
        set_timer(pool, pool->idle_ms);
    }
}

struct acog_link *acog_pool_take(struct acog_pool *pool, struct acog_view key)
{
    struct acog_pool_group *group = find_group(pool, key);
    while (group != NULL && !TAILQ_EMPTY(&group->newest)) {
        struct acog_link *link = TAILQ_FIRST(&group->newest);
        if (acog_link_is_quiet(link)) {
            take_out(pool, link);
            link->state = ACOG_LINK_BUSY;
            return link;
        }
        bool was_last = group->links == 1; /* the group dies with it */
        acog_link_close(&link);
        group = was_last ? NULL : group;
    }
    return NULL;
}
