/* upstream.c - the public face: calls from send to end, and the order in which users are told.
 *
 * Users are told from the loop only, and may do anything but free the upstream in their functions: send, cancel this
 * call or another one, pause. So `telling` marks the call whose user is running; a cancel then leaves the memory until
 * the user's function is back, and a call that ends is taken apart before its user hears of it.
 */
#include "acog/contract.h"
#include "acog/memory.h"
#include "acog/time.h"
#include "call.h"
#include "clock.h"
#include "simulated.h"
#include "trust.h"

#include <signal.h>
#include <string.h>

#include <curl/curl.h>
#include <event2/event.h>

#define UPSTREAM_TAG    0x55505354U
#define CALL_TAG        0x43414c4cU
#define CALL_SPARE_TAG  0x53504152U
#define SPARE_CALLS_MAX 16
#define HEAD_BYTES_MAX \
    (256U << 10U) /* of a request: the client's, the key's and the configuration's headers */
#define SCRATCH_BYTES_MAX (1U << 20U)
#define SPARE_BYTES_MAX   4096 /* of the head's memory, kept with a spare call */
#define DRAIN_BYTES_MAX   16384
#define DRAIN_MS_MAX      500 /* small rests that do not come are not waited for */

/* -- what all workers share ------------------------------------------------------------------------ */

enum acog_code acog_upstream_global_init(struct acog_error *error)
{
    /* OpenSSL writes without MSG_NOSIGNAL: a dead peer must be an error, not the end of the process. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    acog_trust_init();
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return acog_error_set(error, ACOG_NO_MEMORY, "libcurl cannot be started");
    }
    return ACOG_OK;
}

void acog_upstream_global_fini(void)
{
    curl_global_cleanup();
    acog_trust_fini();
    acog_simulation_forget();
}

/* -- the life of a call ---------------------------------------------------------------------------- */

static void call_destroy(struct acog_upstream_call *call)
{
    acog_http_reader_fini(&call->reader);
    acog_buffer_fini(&call->head);
    acog_buffer_fini(&call->rest);
    call->tag = 0;
    acog_free(call);
}

static struct acog_upstream_call *call_make(struct acog_upstream *upstream)
{
    struct acog_upstream_call *call = acog_new(sizeof(*call));
    if (call == NULL) {
        return NULL;
    }
    const struct acog_http_reader_limits limits = {.head_bytes_max =
                                                       upstream->options.head_bytes_max,
                                                   .fields_max = upstream->options.fields_max,
                                                   .body_bytes_max = UINT64_MAX};
    call->upstream = upstream;
    acog_http_reader_init(&call->reader, ACOG_HTTP_RESPONSE, &limits);
    acog_buffer_init(&call->head, HEAD_BYTES_MAX);
    acog_buffer_init(&call->rest, ACOG_READ_BYTES);
    return call;
}

static struct acog_upstream_call *call_new(struct acog_upstream *upstream)
{
    struct acog_upstream_call *call = TAILQ_FIRST(&upstream->spare);
    if (call != NULL) {
        ACOG_ASSERT(call->tag == CALL_SPARE_TAG);
        TAILQ_REMOVE(&upstream->spare, call, in_all);
        upstream->spare_count--;
        acog_http_reader_reset(&call->reader);
    } else {
        call = call_make(upstream);
    }
    if (call != NULL) {
        call->tag = CALL_TAG;
        TAILQ_INSERT_TAIL(&upstream->calls, call, in_all);
    }
    return call;
}

static void take_back_news(struct acog_upstream_call *call)
{
    if (call->news != ACOG_NEWS_NONE) {
        TAILQ_REMOVE(&call->upstream->news, call, in_news);
        call->news = ACOG_NEWS_NONE;
    }
}

/* Everything but the memory that the next call can use. */
static void call_free(struct acog_upstream_call *call)
{
    struct acog_upstream *upstream = call->upstream;
    ACOG_ASSERT(call->tag == CALL_TAG);
    ACOG_ASSERT(!call->telling);
    if (call->link != NULL) {
        acog_link_close(&call->link);
    }
    acog_simulation_free(&call->simulation);
    acog_inflate_free(&call->inflate);
    take_back_news(call);
    if (call->state == ACOG_CALL_DRAINING) {
        (void)event_del(&call->timer);
    }
    TAILQ_REMOVE(&upstream->calls, call, in_all);
    if (upstream->spare_count == SPARE_CALLS_MAX) {
        call_destroy(call);
        return;
    }
    acog_buffer_clear(&call->head, SPARE_BYTES_MAX);
    acog_buffer_clear(&call->rest, 0);
    call->tag = CALL_SPARE_TAG;
    call->state = ACOG_CALL_LIVE;
    call->sending = ACOG_SENDING_WAITING;
    call->answer = ACOG_ANSWER_NOTHING;
    call->paused = false;
    call->halted = false;
    call->reused = false;
    call->order = NULL;
    call->sent = 0;
    call->body_taken = 0;
    call->rest_coded = 0;
    TAILQ_INSERT_HEAD(&upstream->spare, call, in_all);
    upstream->spare_count++;
}

/* -- telling --------------------------------------------------------------------------------------- */

/* False: the user cancelled the call, and it is gone. */
static bool is_back(struct acog_upstream_call *call)
{
    call->telling = false;
    if (call->state == ACOG_CALL_CANCELLED) {
        call_free(call);
        return false;
    }
    return true;
}

bool acog_call_tell_connected(struct acog_upstream_call *call)
{
    take_back_news(call);
    if (call->state == ACOG_CALL_DRAINING) {
        return true;
    }
    call->telling = true;
    call->events.connected(call->user, call->reused);
    return is_back(call);
}

bool acog_call_tell_head(struct acog_upstream_call *call, unsigned status,
                         const struct acog_header_row *rows, size_t count)
{
    ACOG_ASSERT(call->state == ACOG_CALL_LIVE);
    call->telling = true;
    call->events.head(call->user, status, rows, count);
    return is_back(call);
}

bool acog_call_tell_body(struct acog_upstream_call *call, struct acog_view bytes)
{
    ACOG_ASSERT(call->state == ACOG_CALL_LIVE);
    call->telling = true;
    call->events.body(call->user, bytes);
    return is_back(call);
}

void acog_call_end(struct acog_upstream_call *call, bool link_reusable)
{
    bool live = call->state == ACOG_CALL_LIVE;
    struct acog_upstream_events events = call->events;
    void *user = call->user;
    if (link_reusable) {
        struct acog_link *link = call->link;
        call->link = NULL;
        acog_pool_put(&call->upstream->pool, link);
    }
    call_free(call);
    if (live) {
        events.end(user);
    }
}

void acog_call_fail(struct acog_upstream_call *call, enum acog_cause cause, const char *why)
{
    bool live = call->state == ACOG_CALL_LIVE;
    bool reused_no_byte =
        cause == ACOG_CAUSE_CLOSED && call->reused && call->answer == ACOG_ANSWER_NOTHING;
    struct acog_upstream_events events = call->events;
    void *user = call->user;
    char text[ACOG_WHY_BYTES_MAX]; /* `why` may lie in the link or in the call */
    size_t length = strnlen(why, sizeof(text) - 1);
    memcpy(text, why, length);
    text[length] = '\0';
    call_free(call);
    if (live) {
        events.failed(user, cause, reused_no_byte, text);
    }
}

void acog_call_defer(struct acog_upstream_call *call, enum acog_news news)
{
    ACOG_ASSERT(call->news == ACOG_NEWS_NONE);
    call->news = news;
    TAILQ_INSERT_TAIL(&call->upstream->news, call, in_news);
    event_active(&call->upstream->news_event, EV_TIMEOUT, 0);
}

static void defer_failure(struct acog_upstream_call *call, enum acog_cause cause, const char *why)
{
    call->cause = cause;
    size_t length = strnlen(why, sizeof(call->why) - 1);
    memcpy(call->why, why, length);
    call->why[length] = '\0';
    acog_call_defer(call, ACOG_NEWS_FAILED);
}

/* Tells what is there now; what users add in their functions has its turn afterwards. */
static void on_news(evutil_socket_t socket, short what, void *user)
{
    struct acog_upstream *upstream = user;
    ACOG_ASSERT(upstream->tag == UPSTREAM_TAG);
    (void)socket;
    (void)what;
    size_t count = 0;
    struct acog_upstream_call *call = NULL;
    TAILQ_FOREACH (call, &upstream->news, in_news) {
        count++;
    }
    for (; count > 0 && !TAILQ_EMPTY(&upstream->news); count--) {
        call = TAILQ_FIRST(&upstream->news);
        switch (call->news) {
        case ACOG_NEWS_NONE:
            ACOG_UNREACHABLE("a call without news in the list");
        case ACOG_NEWS_CONNECTED:
            (void)acog_call_tell_connected(call);
            break;
        case ACOG_NEWS_FAILED:
            acog_call_fail(call, call->cause, call->why);
            break;
        }
    }
    if (!TAILQ_EMPTY(&upstream->news)) {
        event_active(&upstream->news_event, EV_TIMEOUT, 0);
    }
}

void acog_call_connected(struct acog_upstream_call *call)
{
    call->upstream->counts.connects++;
    call->sending = ACOG_SENDING_RUNNING;
    if (call->paused) {
        acog_link_watch(call->link, false);
    }
    if (acog_call_tell_connected(call)) {
        acog_call_send(call);
    }
}

void acog_call_unconnected(struct acog_upstream_call *call, const char *why)
{
    call->upstream->counts.connect_failures++;
    acog_call_fail(call, ACOG_CAUSE_CONNECT, why);
}

/* -- sending --------------------------------------------------------------------------------------- */

static void start_on_link(struct acog_upstream_call *call)
{
    struct acog_upstream *upstream = call->upstream;
    const struct acog_endpoint *endpoint = &call->order->connection->endpoint;
    const char *why = NULL;
    if (acog_call_write_head(call, &why) != ACOG_OK) {
        defer_failure(call, ACOG_CAUSE_GATEWAY, why);
        return;
    }
    call->link = call->order->fresh ? NULL : acog_pool_take(&upstream->pool, endpoint->pool_key);
    if (call->link != NULL) {
        call->link->call = call;
        call->reused = true;
        call->sending = ACOG_SENDING_RUNNING;
        upstream->counts.reuses++;
        acog_call_defer(call, ACOG_NEWS_CONNECTED);
        acog_call_send(call);
        return;
    }
    struct acog_error error = {0};
    call->link = acog_link_connect(upstream, endpoint, call, &error);
    if (call->link == NULL) {
        upstream->counts.connect_failures++;
        defer_failure(call, error.code == ACOG_NO_MEMORY ? ACOG_CAUSE_GATEWAY : ACOG_CAUSE_CONNECT,
                      error.text);
    }
}

struct acog_upstream_call *acog_upstream_send(struct acog_upstream *upstream,
                                              const struct acog_upstream_order *order,
                                              const struct acog_upstream_events *events, void *user)
{
    ACOG_ASSERT(upstream->tag == UPSTREAM_TAG);
    ACOG_ASSERT(order->piece_count <= ACOG_BODY_PIECES_MAX);
    struct acog_upstream_call *call = call_new(upstream);
    if (call == NULL) {
        return NULL;
    }
    call->order = order;
    call->events = *events;
    call->user = user;
    if (order->connection->simulate == NULL) {
        start_on_link(call);
        return call;
    }
    call->simulation = acog_simulation_new(call);
    if (call->simulation == NULL) {
        defer_failure(call, ACOG_CAUSE_GATEWAY, "no memory for a simulated answer");
    }
    return call;
}

bool acog_upstream_sent(const struct acog_upstream_call *call)
{
    ACOG_ASSERT(call->tag == CALL_TAG);
    return call->simulation != NULL || call->sending == ACOG_SENDING_DONE;
}

void acog_upstream_pause(struct acog_upstream_call *call, bool paused)
{
    ACOG_ASSERT(call->tag == CALL_TAG);
    ACOG_ASSERT(call->state == ACOG_CALL_LIVE);
    if (call->paused == paused) {
        return;
    }
    call->paused = paused;
    if (call->simulation != NULL) {
        acog_simulation_pause(call->simulation, paused);
        return;
    }
    if (call->link == NULL || call->link->state == ACOG_LINK_CONNECTING) {
        return;
    }
    acog_link_watch(call->link, !paused);
    if (!paused && (call->halted || call->link->tls)) {
        acog_link_wake(call->link); /* what waits is in `rest` or inside TLS, not in the socket */
    }
}

/* -- cancelling ------------------------------------------------------------------------------------ */

/* The rest of the answer is known, small, and then the connection is good for another request. */
static bool is_worth_draining(const struct acog_upstream_call *call)
{
    const struct acog_http_head *head = &call->reader.head;
    return call->link != NULL && call->answer == ACOG_ANSWER_BODY &&
           call->sending == ACOG_SENDING_DONE && head->keep_alive &&
           head->framing == ACOG_HTTP_LENGTH &&
           head->content_length - call->body_taken <= DRAIN_BYTES_MAX;
}

static void on_drain_timer(evutil_socket_t socket, short what, void *user)
{
    struct acog_upstream_call *call = user;
    ACOG_ASSERT(call->tag == CALL_TAG);
    (void)socket;
    (void)what;
    call_free(call);
}

static void drain(struct acog_upstream_call *call)
{
    struct timeval wait = acog_time_wait(DRAIN_MS_MAX);
    call->state = ACOG_CALL_DRAINING;
    call->order = NULL;
    call->paused = false;
    (void)event_assign(&call->timer, call->upstream->base, -1, 0, on_drain_timer, call);
    (void)event_add(&call->timer, &wait);
    acog_link_watch(call->link, true);
    acog_link_wake(call->link);
}

/* Frees a call whose user wants no more of it, or leaves that to the end of the user's function. */
static void drop(struct acog_upstream_call *call)
{
    take_back_news(call);
    if (!call->telling) {
        call_free(call);
        return;
    }
    call->state = ACOG_CALL_CANCELLED;
    if (call->link != NULL) {
        acog_link_close(&call->link);
    }
    acog_simulation_free(&call->simulation);
}

void acog_upstream_cancel(struct acog_upstream_call **call)
{
    struct acog_upstream_call *cancelled = *call;
    *call = NULL;
    ACOG_ASSERT(cancelled->tag == CALL_TAG);
    ACOG_ASSERT(cancelled->state == ACOG_CALL_LIVE);
    if (is_worth_draining(cancelled)) {
        drain(cancelled);
    } else {
        drop(cancelled);
    }
}

/* -- a worker's upstream side ---------------------------------------------------------------------- */

struct acog_upstream *acog_upstream_new(struct event_base *base,
                                        const struct acog_upstream_options *options,
                                        struct acog_error *error)
{
    struct acog_upstream *upstream = acog_new(sizeof(*upstream));
    if (upstream == NULL) {
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for the upstream side");
        return NULL;
    }
    upstream->tag = UPSTREAM_TAG;
    upstream->base = base;
    upstream->options = *options;
    TAILQ_INIT(&upstream->calls);
    TAILQ_INIT(&upstream->news);
    TAILQ_INIT(&upstream->spare);
    acog_connector_init(&upstream->connector);
    acog_pool_init(&upstream->pool, base, options->pool_idle_max, options->pool_idle_ms);
    acog_arena_init(&upstream->scratch, SCRATCH_BYTES_MAX);
    (void)event_assign(&upstream->news_event, base, -1, 0, on_news, upstream);
    upstream->read_bytes = acog_new(ACOG_READ_BYTES);
    upstream->decoded_bytes = acog_new(ACOG_READ_BYTES);
    upstream->record_bytes = acog_new(ACOG_RECORD_BYTES);
    if (upstream->read_bytes == NULL || upstream->decoded_bytes == NULL ||
        upstream->record_bytes == NULL) {
        acog_upstream_free(&upstream);
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for the upstream side");
    }
    return upstream;
}

void acog_upstream_free(struct acog_upstream **upstream)
{
    struct acog_upstream *freed = *upstream;
    *upstream = NULL;
    if (freed == NULL) {
        return;
    }
    ACOG_ASSERT(freed->tag == UPSTREAM_TAG);
    while (!TAILQ_EMPTY(&freed->calls)) {
        call_free(TAILQ_FIRST(&freed->calls));
    }
    while (!TAILQ_EMPTY(&freed->spare)) {
        struct acog_upstream_call *call = TAILQ_FIRST(&freed->spare);
        TAILQ_REMOVE(&freed->spare, call, in_all);
        call_destroy(call);
    }
    acog_pool_fini(&freed->pool);
    acog_connector_fini(&freed->connector);
    (void)event_del(&freed->news_event);
    acog_arena_fini(&freed->scratch);
    acog_free(freed->read_bytes);
    acog_free(freed->decoded_bytes);
    acog_free(freed->record_bytes);
    freed->tag = 0;
    acog_free(freed);
}

struct acog_upstream_counts acog_upstream_counts(const struct acog_upstream *upstream)
{
    struct acog_upstream_counts counts = upstream->counts;
    counts.idle = upstream->pool.idle;
    return counts;
}
