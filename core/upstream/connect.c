/* connect.c - CURLOPT_CONNECT_ONLY in multi handles that libevent drives.
 *
 * Each multi handle (a shard) has at most 64 transfers: libcurl looks for the connection of each curl_easy_send() and
 * curl_easy_recv() by walking through all of its multi handle.
 *
 * Traps of libcurl 7.88 (each read in its source):
 * - Happy eyeballs closes the socket of a failed address without CURL_POLL_REMOVE. When the next address fails at once, the
 *   socket after it can have the number of the first one: libcurl sees no change and tells nothing, while the kernel has
 *   dropped the number from the poll set. So open_socket() makes the sockets, and adds the event of a number again that
 *   is still being watched.
 * - A lookup cannot be stopped, and removing its handle waits for it in the loop, unless CURLOPT_QUICK_EXIT is set.
 * - A multi handle keeps the trust store of its first TLS connection for a day and puts it in the place of the one that the
 *   SSL_CTX function brought, since by its own options all of them look alike: one ca_file would be believed for another
 *   connection. CURLOPT_CA_CACHE_TIMEOUT of 0 keeps it from that.
 * - Each new connection looks once a second at the others of its multi handle and closes those that are old (118 s) or
 *   readable, unless a transfer is attached: the first send or receive attaches, and CURLOPT_MAXAGE_CONN is out of reach.
 */
#include "connect.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "acog/time.h"
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
#define WATCHES_MAX       8     /* two addresses at a time and a resolver's pipe are three */

struct acog_shard {
    uint32_t tag;
    struct acog_upstream *upstream;
    CURLM *multi;
    size_t handles;
    bool dead; /* watch_socket() refused, and libcurl fails all new transfers from then on */
    struct event timer;
    SLIST_ENTRY(acog_shard) next;
};

/* One of the sockets of a connection in the making. */
struct watch {
    uint32_t tag;
    int socket; /* -1: free */
    struct acog_shard *shard;
    struct event event;
};

/* What a link needs only until it stands. All of it is taken at once, so nothing can be short of memory later. */
struct acog_making {
    struct watch watches[WATCHES_MAX];
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
    struct watch *watch = user;
    ACOG_ASSERT(watch->tag == WATCH_TAG);
    struct acog_shard *shard = watch->shard; /* the watch may be free after the next call */
    int flags = ((what & EV_READ) != 0 ? CURL_CSELECT_IN : 0) |
                ((what & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0);
    int running = 0;
    (void)curl_multi_socket_action(shard->multi, socket, flags, &running);
    collect(shard);
}

/* A rush leaves shards without handles, each with descriptors of its own: one that works is enough. */
static bool is_spare(const struct acog_shard *shard)
{
    const struct acog_shard *first = SLIST_FIRST(&shard->upstream->connector.shards);
    return shard->handles == 0 &&
           (shard->dead || shard != first || SLIST_NEXT(first, next) != NULL);
}

static void drop_shard(struct acog_shard *shard)
{
    SLIST_REMOVE(&shard->upstream->connector.shards, shard, acog_shard, next);
    shard_free(shard);
}

static void on_shard_timer(evutil_socket_t socket, short what, void *user)
{
    struct acog_shard *shard = user;
    ACOG_ASSERT(shard->tag == SHARD_TAG);
    (void)socket;
    (void)what;
    if (is_spare(shard)) {
        drop_shard(shard);
        return;
    }
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
    struct timeval wait = acog_time_wait(wait_ms);
    return event_add(&shard->timer, &wait);
}

static struct watch *take_watch(struct acog_shard *shard, CURL *easy, int socket)
{
    char *private = NULL;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
    struct acog_link *link = (void *)private;
    if (link->making == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < WATCHES_MAX; i++) {
        struct watch *watch = &link->making->watches[i];
        if (watch->socket < 0) {
            *watch = (struct watch){.tag = WATCH_TAG, .socket = socket, .shard = shard};
            (void)curl_multi_assign(shard->multi, socket, watch);
            return watch;
        }
    }
    return NULL;
}

static void drop_watch(struct watch *watch)
{
    ACOG_ASSERT(watch->tag == WATCH_TAG);
    (void)event_del(&watch->event);
    watch->socket = -1;
    watch->tag = 0;
}

static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *user, void *socket_user)
{
    struct acog_shard *shard = user;
    struct watch *watch = socket_user;
    ACOG_ASSERT(shard->tag == SHARD_TAG);
    if (what == CURL_POLL_REMOVE) {
        if (watch != NULL) {
            drop_watch(watch);
        }
        return 0;
    }
    if (watch == NULL) {
        watch = take_watch(shard, easy, socket);
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
    for (size_t i = 0; opened >= 0 && i < WATCHES_MAX; i++) {
        struct watch *watch = &link->making->watches[i];
        if (watch->socket == opened) {
            (void)event_del(&watch->event);
            (void)event_add(&watch->event, NULL);
        }
    }
    return opened;
}

/* Keeps the alert with which the peer ends TLS. */
static void on_tls_news(const SSL *tls, int where, int what)
{
    struct acog_link *link = SSL_CTX_get_app_data(SSL_get_SSL_CTX(tls));
    ACOG_ASSERT(link->tag == ACOG_LINK_TAG);
    if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT && what >> 8 == SSL3_AL_FATAL) {
        link->alert = what & 0xff;
    }
}

static CURLcode prepare_tls(CURL *easy, void *context, void *user)
{
    struct acog_link *link = user;
    (void)easy;
    (void)SSL_CTX_set_app_data(context, link);
    SSL_CTX_set_info_callback(context, on_tls_news);
    SSL_CTX_set1_cert_store(context, link->store);
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

static long oldest_version(enum acog_tls_version version)
{
    switch (version) {
    case ACOG_TLS_1_2:
        return (long)CURL_SSLVERSION_TLSv1_2;
    case ACOG_TLS_1_3:
        return (long)CURL_SSLVERSION_TLSv1_3;
    }
    ACOG_UNREACHABLE("unknown acog_tls_version");
}

static void set_tls(struct options *options, struct acog_link *link,
                    const struct acog_endpoint *endpoint)
{
    struct acog_arena *scratch = &link->upstream->scratch;
    set_long(options, CURLOPT_SSL_VERIFYPEER, 1L);
    set_long(options, CURLOPT_SSL_VERIFYHOST, 2L);
    set_long(options, CURLOPT_SSLVERSION, oldest_version(endpoint->tls_minimum));
    set_long(options, CURLOPT_PROXY_SSL_VERIFYPEER, 1L);
    set_long(options, CURLOPT_PROXY_SSL_VERIFYHOST, 2L);
    set_long(options, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    /* No bundle of libcurl's own: prepare_tls() brings the shared store, to an https proxy too. */
    set_pointer(options, CURLOPT_CAINFO, NULL);
    set_pointer(options, CURLOPT_CAPATH, NULL);
    set_pointer(options, CURLOPT_PROXY_CAINFO, NULL);
    set_pointer(options, CURLOPT_PROXY_CAPATH, NULL);
#if LIBCURL_VERSION_NUM >= 0x075700 /* older ones keep no store */
    set_long(options, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
    set_long(options, CURLOPT_SSL_SESSIONID_CACHE, 0L); /* it would be of this one handle alone */
    if (options->code == CURLE_OK) {
        options->code = curl_easy_setopt(options->easy, CURLOPT_SSL_CTX_FUNCTION, prepare_tls);
    }
    set_pointer(options, CURLOPT_SSL_CTX_DATA, link);
    set_text(options, CURLOPT_SSLCERT, scratch, endpoint->client_certificate_file);
    set_text(options, CURLOPT_SSLKEY, scratch, endpoint->client_key_file);
    /* A key with a password is an error; without this OpenSSL would ask for it at the terminal. */
    if (options->code == CURLE_OK) {
        options->code = curl_easy_setopt(options->easy, CURLOPT_KEYPASSWD, "");
    }
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
    set_long(&options, CURLOPT_QUICK_EXIT, 1L);
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

static struct acog_making *making_new(void)
{
    struct acog_making *making = acog_new(sizeof(*making));
    for (size_t i = 0; making != NULL && i < WATCHES_MAX; i++) {
        making->watches[i].socket = -1;
    }
    return making;
}

static void making_free(struct acog_making **making)
{
    for (size_t i = 0; *making != NULL && i < WATCHES_MAX; i++) {
        ACOG_ASSERT((*making)->watches[i].socket < 0); /* each was told CURL_POLL_REMOVE */
    }
    acog_free(*making);
    *making = NULL;
}

enum acog_code acog_connector_begin(struct acog_link *link, const struct acog_endpoint *endpoint,
                                    struct acog_error *error)
{
    ACOG_ASSERT(link->easy == NULL);
    struct acog_shard *shard = shard_with_room(link->upstream);
    CURLcode code = CURLE_OUT_OF_MEMORY;
    link->making = making_new();
    link->easy = curl_easy_init();
    if (shard != NULL && link->making != NULL && link->easy != NULL) {
        code = set_options(link, endpoint);
    }
    if (code == CURLE_OK && curl_multi_add_handle(shard->multi, link->easy) == CURLM_OK) {
        link->shard = shard;
        shard->handles++;
        /* Now, not after a turn of the loop with a timer of 0 ms. */
        event_active(&shard->timer, EV_TIMEOUT, 0);
        return ACOG_OK;
    }
    acog_connector_release(link);
    return acog_error_set(error, code == CURLE_OUT_OF_MEMORY ? ACOG_NO_MEMORY : ACOG_INVALID,
                          "the connection cannot be set up: %s", curl_easy_strerror(code));
}

int acog_connector_take(struct acog_link *link)
{
    curl_socket_t socket = CURL_SOCKET_BAD;
    (void)curl_easy_getinfo(link->easy, CURLINFO_ACTIVESOCKET, &socket);
    making_free(&link->making);
    return socket;
}

void acog_connector_release(struct acog_link *link)
{
    if (link->shard != NULL) {
        CURLMcode removed = curl_multi_remove_handle(link->shard->multi, link->easy);
        ACOG_ASSERT(removed == CURLM_OK); /* never from inside one of libcurl's functions */
        link->shard->handles--;
        if (is_spare(link->shard)) {
            event_active(&link->shard->timer, EV_TIMEOUT, 0); /* frees it, when nobody uses it */
        }
        link->shard = NULL;
    }
    curl_easy_cleanup(link->easy);
    link->easy = NULL;
    making_free(&link->making);
}
