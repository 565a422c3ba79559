/* connect.c - CURLOPT_CONNECT_ONLY in multi handles that libevent drives.
 *
 * Each multi handle (a shard) has at most 64 transfers: libcurl looks for the connection of each curl_easy_send() and
 * curl_easy_recv() by walking through all of its multi handle.
 *
 * Traps of libcurl 7.88, each tried:
 * - Happy eyeballs closes a failed attempt's socket without telling (no CURL_POLL_REMOVE) and opens the next one, which
 *   gets the same number: the kernel has dropped it from the poll set, libevent does not know. So the sockets are made
 *   by open_socket(), which adds the event of a number again that was in use.
 * - A lookup cannot be stopped, and removing its handle waits for it in the loop, unless CURLOPT_QUICK_EXIT is set.
 * - Each new connection looks once a second at the others of its multi handle and closes those that are old (118 s) or
 *   readable, unless a transfer is attached: the first send or receive attaches, and CURLOPT_MAXAGE_CONN is out of reach.
 */
#include "connect.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "call.h"
#include "link.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <curl/curl.h>
#include <event2/event.h>
#include <openssl/ssl.h>

#define SHARD_HANDLES_MAX 64
#define SHARD_TAG         0x53484152U
#define WATCH_TAG         0x57415443U
#define KEEPALIVE_IDLE_S  60L
#define KEEPALIVE_EACH_S  30L
#define CURL_BUFFER_BYTES 1024L /* the least; libcurl transfers nothing here */

struct acog_shard {
    uint32_t tag;
    struct acog_upstream *upstream;
    CURLM *multi;
    size_t handles;
    bool dead; /* a callback had no memory, and libcurl fails all of its transfers from then on */
    struct event timer;
    SLIST_ENTRY(acog_shard) next;
};

/* One of the sockets of a connection in the making. */
struct acog_watch {
    uint32_t tag;
    int socket;
    struct acog_shard *shard;
    struct acog_link *link;
    struct event event;
    SLIST_ENTRY(acog_watch) next;
};

void acog_connector_init(struct acog_connector *connector)
{
    SLIST_INIT(&connector->shards);
}

static void shard_free(struct acog_shard *shard)
{
    ACOG_ASSERT(shard->handles == 0);
    (void)event_del(&shard->timer);
    if (shard->multi != NULL) {
        (void)curl_multi_cleanup(shard->multi);
    }
    shard->tag = 0;
    acog_free(shard);
}

void acog_connector_fini(struct acog_connector *connector)
{
    while (!SLIST_EMPTY(&connector->shards)) {
        struct acog_shard *shard = SLIST_FIRST(&connector->shards);
        SLIST_REMOVE_HEAD(&connector->shards, next);
        shard_free(shard);
    }
}

/* -- what libcurl tells ---------------------------------------------------------------------------- */

/* Hands over every connection that is made or failed. The functions of users run in here. */
static void collect(struct acog_shard *shard)
{
    const CURLMsg *message = NULL;
    int left = 0;
    while ((message = curl_multi_info_read(shard->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) {
            continue;
        }
        char *private = NULL;
        CURLcode result = message->data.result;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        struct acog_link *link = (void *)private;
        const char *failure = NULL;
        if (result != CURLE_OK) {
            failure = link->why[0] != '\0' ? link->why : curl_easy_strerror(result);
        }
        acog_link_settle(link, failure);
    }
}

static void on_socket(evutil_socket_t socket, short what, void *user)
{
    struct acog_watch *watch = user;
    ACOG_ASSERT(watch->tag == WATCH_TAG);
    struct acog_shard *shard = watch->shard; /* the watch may be gone after the next call */
    int flags = ((what & EV_READ) != 0 ? CURL_CSELECT_IN : 0) |
                ((what & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0);
    int running = 0;
    (void)curl_multi_socket_action(shard->multi, socket, flags, &running);
    collect(shard);
}

static void on_shard_timer(evutil_socket_t socket, short what, void *user)
{
    struct acog_shard *shard = user;
    ACOG_ASSERT(shard->tag == SHARD_TAG);
    (void)socket;
    (void)what;
    int running = 0;
    (void)curl_multi_socket_action(shard->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    collect(shard);
}

static int set_timer(CURLM *multi, long wait_ms, void *user)
{
    struct acog_shard *shard = user;
    ACOG_ASSERT(shard->tag == SHARD_TAG);
    (void)multi;
    if (wait_ms < 0) {
        return event_del(&shard->timer);
    }
    struct timeval wait = {.tv_sec = wait_ms / 1000, .tv_usec = (wait_ms % 1000) * 1000};
    return event_add(&shard->timer, &wait);
}

static void watch_free(struct acog_watch *watch)
{
    (void)event_del(&watch->event);
    SLIST_REMOVE(&watch->link->watches, watch, acog_watch, next);
    watch->tag = 0;
    acog_free(watch);
}

static struct acog_watch *watch_new(struct acog_shard *shard, CURL *easy, int socket)
{
    char *private = NULL;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
    struct acog_watch *watch = acog_new(sizeof(*watch));
    if (watch != NULL) {
        *watch = (struct acog_watch){
            .tag = WATCH_TAG, .socket = socket, .shard = shard, .link = (void *)private};
        SLIST_INSERT_HEAD(&watch->link->watches, watch, next);
        (void)curl_multi_assign(shard->multi, socket, watch);
    }
    return watch;
}

static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *user, void *socket_user)
{
    struct acog_shard *shard = user;
    struct acog_watch *watch = socket_user;
    ACOG_ASSERT(shard->tag == SHARD_TAG);
    if (what == CURL_POLL_REMOVE) {
        if (watch != NULL) {
            watch_free(watch);
        }
        return 0;
    }
    if (watch == NULL) {
        watch = watch_new(shard, easy, socket);
        if (watch == NULL) {
            shard->dead = true;
            return -1;
        }
    } else {
        ACOG_ASSERT(watch->tag == WATCH_TAG);
        (void)event_del(&watch->event);
    }
    short interest = EV_PERSIST;
    interest |= (what & CURL_POLL_IN) != 0 ? EV_READ : 0;
    interest |= (what & CURL_POLL_OUT) != 0 ? EV_WRITE : 0;
    (void)event_assign(&watch->event, shard->upstream->base, socket, interest, on_socket, watch);
    return event_add(&watch->event, NULL);
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct acog_link *link = user;
    (void)purpose;
    int opened = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    struct acog_watch *watch = NULL;
    SLIST_FOREACH(watch, &link->watches, next)
    {
        if (watch->socket == opened) {
            (void)event_del(&watch->event);
            (void)event_add(&watch->event, NULL);
        }
    }
    return opened;
}

static CURLcode prepare_tls(CURL *easy, void *context, void *user)
{
    struct acog_link *link = user;
    (void)easy;
    if (link->store != NULL) {
        SSL_CTX_set1_cert_store(context, link->store);
    }
    /* A send that has to wait is repeated from another place in memory (acog_link_send). */
    (void)SSL_CTX_set_mode(context,
                           SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return CURLE_OK;
}

/* -- shards ---------------------------------------------------------------------------------------- */

static struct acog_shard *shard_new(struct acog_upstream *upstream)
{
    struct acog_shard *shard = acog_new(sizeof(*shard));
    if (shard == NULL) {
        return NULL;
    }
    shard->tag = SHARD_TAG;
    shard->upstream = upstream;
    (void)event_assign(&shard->timer, upstream->base, -1, 0, on_shard_timer, shard);
    shard->multi = curl_multi_init();
    if (shard->multi == NULL ||
        curl_multi_setopt(shard->multi, CURLMOPT_SOCKETFUNCTION, watch_socket) != CURLM_OK ||
        curl_multi_setopt(shard->multi, CURLMOPT_SOCKETDATA, shard) != CURLM_OK ||
        curl_multi_setopt(shard->multi, CURLMOPT_TIMERFUNCTION, set_timer) != CURLM_OK ||
        curl_multi_setopt(shard->multi, CURLMOPT_TIMERDATA, shard) != CURLM_OK ||
        curl_multi_setopt(shard->multi, CURLMOPT_MAXCONNECTS, 2L * SHARD_HANDLES_MAX) != CURLM_OK) {
        shard_free(shard);
        return NULL;
    }
    SLIST_INSERT_HEAD(&upstream->connector.shards, shard, next);
    return shard;
}

static struct acog_shard *shard_with_room(struct acog_upstream *upstream)
{
    struct acog_shard *shard = NULL;
    SLIST_FOREACH(shard, &upstream->connector.shards, next)
    {
        if (!shard->dead && shard->handles < SHARD_HANDLES_MAX) {
            return shard;
        }
    }
    return shard_new(upstream);
}

/* -- options --------------------------------------------------------------------------------------- */

/* Options are set until one fails. */
struct options {
    CURL *easy;
    CURLcode code;
};

static void set_long(struct options *options, CURLoption name, long value)
{
    if (options->code == CURLE_OK) {
        options->code = curl_easy_setopt(options->easy, name, value);
    }
}

static void set_pointer(struct options *options, CURLoption name, void *value)
{
    if (options->code == CURLE_OK) {
        options->code = curl_easy_setopt(options->easy, name, value);
    }
}

/* libcurl copies the text; an empty one leaves the option as it is. */
static void set_text(struct options *options, CURLoption name, struct acog_arena *scratch,
                     struct acog_view text)
{
    if (options->code != CURLE_OK || text.len == 0) {
        return;
    }
    struct acog_view copy = acog_arena_copy(scratch, text);
    options->code =
        copy.ptr == NULL ? CURLE_OUT_OF_MEMORY : curl_easy_setopt(options->easy, name, copy.ptr);
}

/* Made from parts, so that no host of a configuration can be read as more than a host. */
static void set_url(struct options *options, const struct acog_endpoint *endpoint)
{
    char host[300];
    char port[8];
    bool v6 = endpoint->host.len > 0 && memchr(endpoint->host.ptr, ':', endpoint->host.len) != NULL;
    int length =
        snprintf(host, sizeof(host), v6 ? "[%.*s]" : "%.*s", ACOG_VIEW_FMT(endpoint->host));
    (void)snprintf(port, sizeof(port), "%u", (unsigned)endpoint->port);
    CURLU *url = curl_url();
    char *text = NULL;
    if (length < 0 || (size_t)length >= sizeof(host) || url == NULL ||
        curl_url_set(url, CURLUPART_SCHEME, endpoint->tls ? "https" : "http", 0) != CURLUE_OK ||
        curl_url_set(url, CURLUPART_HOST, host, 0) != CURLUE_OK ||
        curl_url_set(url, CURLUPART_PORT, port, 0) != CURLUE_OK ||
        curl_url_set(url, CURLUPART_PATH, "/", 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK) {
        options->code = CURLE_URL_MALFORMAT;
    } else if (options->code == CURLE_OK) {
        options->code = curl_easy_setopt(options->easy, CURLOPT_URL, text);
    }
    curl_free(text);
    curl_url_cleanup(url);
}

static void set_tls(struct options *options, struct acog_link *link,
                    const struct acog_endpoint *endpoint)
{
    struct acog_arena *scratch = &link->upstream->scratch;
    set_long(options, CURLOPT_SSL_VERIFYPEER, 1L);
    set_long(options, CURLOPT_SSL_VERIFYHOST, 2L);
    set_long(options, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    /* No bundle of libcurl's own: prepare_tls() brings the shared store. */
    set_pointer(options, CURLOPT_CAINFO, NULL);
    set_pointer(options, CURLOPT_CAPATH, NULL);
    set_long(options, CURLOPT_SSL_SESSIONID_CACHE, 0L); /* it would be of this one handle alone */
    if (options->code == CURLE_OK) {
        options->code = curl_easy_setopt(options->easy, CURLOPT_SSL_CTX_FUNCTION, prepare_tls);
    }
    set_pointer(options, CURLOPT_SSL_CTX_DATA, link);
    set_text(options, CURLOPT_SSLCERT, scratch, endpoint->client_certificate_file);
    set_text(options, CURLOPT_SSLKEY, scratch, endpoint->client_key_file);
}

static CURLcode set_options(struct acog_link *link, const struct acog_endpoint *endpoint)
{
    struct options options = {.easy = link->easy};
    struct acog_arena *scratch = &link->upstream->scratch;
    set_pointer(&options, CURLOPT_PRIVATE, link);
    set_pointer(&options, CURLOPT_ERRORBUFFER, link->why);
    set_long(&options, CURLOPT_NOSIGNAL, 1L);
    set_url(&options, endpoint);
    if (options.code == CURLE_OK) {
        options.code = curl_easy_setopt(link->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    }
    set_long(&options, CURLOPT_CONNECT_ONLY, 1L);
    set_long(&options, CURLOPT_FRESH_CONNECT, 1L);
    set_long(&options, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    set_long(&options, CURLOPT_BUFFERSIZE, CURL_BUFFER_BYTES);
    set_long(&options, CURLOPT_MAXAGE_CONN, LONG_MAX / 1000);
    set_long(&options, CURLOPT_TCP_NODELAY, 1L);
    set_long(&options, CURLOPT_TCP_KEEPALIVE, 1L);
    set_long(&options, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    set_long(&options, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_EACH_S);
#if LIBCURL_VERSION_NUM >= 0x075700
    set_long(&options, CURLOPT_QUICK_EXIT, 1L);
#endif
    if (options.code == CURLE_OK) {
        options.code = curl_easy_setopt(link->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    }
    set_pointer(&options, CURLOPT_OPENSOCKETDATA, link);
    set_text(&options, CURLOPT_UNIX_SOCKET_PATH, scratch, endpoint->unix_socket);
    /* An empty text says "none, whatever the environment says"; NULL would ask it. */
    if (options.code == CURLE_OK) {
        options.code = curl_easy_setopt(link->easy, CURLOPT_PROXY, "");
    }
    if (options.code == CURLE_OK) {
        options.code = curl_easy_setopt(link->easy, CURLOPT_NOPROXY, "");
    }
    set_text(&options, CURLOPT_PROXY, scratch, endpoint->proxy);
    set_long(&options, CURLOPT_HTTPPROXYTUNNEL, 1L);
    set_tls(&options, link, endpoint);
    acog_arena_reset(scratch);
    return options.code;
}

/* -- links ----------------------------------------------------------------------------------------- */

enum acog_code acog_connector_begin(struct acog_link *link, const struct acog_endpoint *endpoint,
                                    struct acog_error *error)
{
    ACOG_ASSERT(link->easy == NULL);
    struct acog_shard *shard = shard_with_room(link->upstream);
    link->easy = curl_easy_init();
    if (shard == NULL || link->easy == NULL) {
        curl_easy_cleanup(link->easy);
        link->easy = NULL;
        return acog_error_set(error, ACOG_NO_MEMORY, "no memory for a connection");
    }
    CURLcode code = set_options(link, endpoint);
    if (code == CURLE_OK && curl_multi_add_handle(shard->multi, link->easy) == CURLM_OK) {
        link->shard = shard;
        shard->handles++;
        /* Now, not after a turn of the loop with a timer of 0 ms. */
        event_active(&shard->timer, EV_TIMEOUT, 0);
        return ACOG_OK;
    }
    curl_easy_cleanup(link->easy);
    link->easy = NULL;
    return acog_error_set(error, code == CURLE_OUT_OF_MEMORY ? ACOG_NO_MEMORY : ACOG_INVALID,
                          "the connection cannot be set up: %s", curl_easy_strerror(code));
}

int acog_connector_socket(const struct acog_link *link)
{
    curl_socket_t socket = CURL_SOCKET_BAD;
    (void)curl_easy_getinfo(link->easy, CURLINFO_ACTIVESOCKET, &socket);
    return socket;
}

void acog_connector_release(struct acog_link *link)
{
    if (link->easy == NULL) {
        return;
    }
    struct acog_shard *shard = link->shard;
    CURLMcode removed = curl_multi_remove_handle(shard->multi, link->easy);
    ACOG_ASSERT(removed == CURLM_OK); /* never from inside one of libcurl's functions */
    shard->handles--;
    curl_easy_cleanup(link->easy);
    link->easy = NULL;
    link->shard = NULL;
    ACOG_ASSERT(SLIST_EMPTY(&link->watches)); /* each was told CURL_POLL_REMOVE */
}
