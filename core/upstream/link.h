/* link.h - one transport connection to an endpoint.
 *
 *   acog_link_connect()            call done, clean               acog_pool_take()
 *   ─> CONNECTING ──(stands)──> BUSY ──────────────────> IDLE ──────────────────> BUSY
 *          └─(failed: told, closed)   └─(else: closed)     └─(readable, too old, too many: closed)
 *
 * libcurl connects: names, proxies, TLS and its verification. A plain socket is then ours alone and libcurl forgets it;
 * under TLS the libcurl handle stays, because only curl_easy_send() and curl_easy_recv() can speak through its TLS.
 * acog_link_send() and acog_link_receive() are the one seam between the two.
 */
#ifndef ACOG_CORE_UPSTREAM_LINK_H
#define ACOG_CORE_UPSTREAM_LINK_H

#include "acog/error.h"
#include "acog/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include <curl/curl.h>
#include <event2/event_struct.h>
#include <openssl/types.h>

struct acog_upstream;
struct acog_upstream_call;
struct acog_shard;
struct acog_pool_group;
struct acog_making;

enum acog_link_state {
    ACOG_LINK_CONNECTING = 0, /* for `call` */
    ACOG_LINK_BUSY,           /* with `call` */
    ACOG_LINK_IDLE,           /* in the pool */
};

enum acog_link_io {
    ACOG_IO_MOVED = 0, /* at least one byte */
    ACOG_IO_AGAIN,     /* not now */
    ACOG_IO_CLOSED,    /* the peer ended it cleanly */
    ACOG_IO_BROKEN,    /* reset, or a TLS failure: link->why */
};

#define ACOG_LINK_TAG 0x4c494e4bU

struct acog_link {
    uint32_t tag;
    enum acog_link_state state;
    struct acog_upstream *upstream;
    struct acog_pool_group *group;
    struct acog_upstream_call *call; /* CONNECTING, BUSY */
    bool tls;                        /* to the endpoint or to a proxy: bytes go through libcurl */
    CURL *easy;                      /* CONNECTING; later only with `tls` */
    struct acog_shard *shard;        /* where `easy` is */
    struct acog_making *making;      /* CONNECTING: connect.c's */
    X509_STORE *store;               /* CONNECTING: whom to believe */
    int alert;                       /* of TLS, fatal, from the peer; 0: none */
    int socket;                      /* from BUSY on; owned unless `tls` */
    struct event readable;
    struct event writable;
    TAILQ_ENTRY(acog_link) in_group; /* IDLE: newest first */
    TAILQ_ENTRY(acog_link) by_age;   /* IDLE: oldest first */
    int64_t idle_until_ms;
    char why[CURL_ERROR_SIZE]; /* what libcurl or the system said last; no secrets */
};

/* Begins to connect for `call`, which is told from the loop: acog_call_connected() or acog_call_unconnected().
 * NULL with `error` filled in when it cannot even begin. */
struct acog_link *acog_link_connect(struct acog_upstream *upstream,
                                    const struct acog_endpoint *endpoint,
                                    struct acog_upstream_call *call, struct acog_error *error);

/* For connect.c: libcurl is done. `failure` is NULL or says what it was. */
void acog_link_settle(struct acog_link *link, const char *failure);

/* At once, in any state. */
void acog_link_close(struct acog_link **link);

/* As much of the pieces as goes now. Under TLS a call that came back with AGAIN must be repeated with the same bytes. */
enum acog_link_io acog_link_send(struct acog_link *link, struct iovec *pieces, int count,
                                 size_t *sent) ACOG_MUST_CHECK;

/* What is there, up to `room`. Where more is left that no event of the socket would tell, the link wakes itself. */
enum acog_link_io acog_link_receive(struct acog_link *link, char *bytes, size_t room,
                                    size_t *got) ACOG_MUST_CHECK;

/* The peer ended TLS over our certificate, or for want of one. With TLS 1.3 it says so when the connection already stands
 * for us, in the place of an answer. */
bool acog_link_is_refused(const struct acog_link *link);

/* Open, and nothing came that nobody asked for: good for the next request. */
bool acog_link_is_quiet(struct acog_link *link);

/* Read interest on and off; it is on when a link stands. */
void acog_link_watch(struct acog_link *link, bool reading);
/* Once: acog_call_writable(). */
void acog_link_watch_write(struct acog_link *link);
/* Reading is tried in this turn of the loop, whatever the socket says. */
void acog_link_wake(struct acog_link *link);

#endif
