/* link.c - the life of one connection, and the seam where bytes go in and out of it. */
#include "link.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "call.h"
#include "connect.h"
#include "pool.h"
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

/* What the system said, for link->why. */
static void keep_why(struct acog_link *link, int number)
{
    char text[sizeof(link->why)];
    const char *said = strerror_r(number, text, sizeof(text));
    size_t length = strnlen(said, sizeof(link->why) - 1);
    memcpy(link->why, said, length);
    link->why[length] = '\0';
}

/* -- events ---------------------------------------------------------------------------------------- */

static void on_readable(evutil_socket_t socket, short what, void *user)
{
    struct acog_link *link = user;
    ACOG_ASSERT(link->tag == ACOG_LINK_TAG);
    (void)socket;
    (void)what;
    switch (link->state) {
    case ACOG_LINK_CONNECTING:
        ACOG_UNREACHABLE("a link in the making has no events of its own");
    case ACOG_LINK_BUSY:
        acog_call_readable(link->call);
        return;
    case ACOG_LINK_IDLE:
        /* Closed by the peer, or bytes that answer nothing. Under TLS it may only be a session ticket. */
        if (!acog_link_is_quiet(link)) {
            acog_link_close(&link);
        }
        return;
    }
}

static void on_writable(evutil_socket_t socket, short what, void *user)
{
    struct acog_link *link = user;
    ACOG_ASSERT(link->tag == ACOG_LINK_TAG);
    (void)socket;
    (void)what;
    if (link->state == ACOG_LINK_BUSY) {
        acog_call_writable(link->call);
    }
}

void acog_link_watch(struct acog_link *link, bool reading)
{
    ACOG_ASSERT(link->state != ACOG_LINK_CONNECTING);
    (void)(reading ? event_add(&link->readable, NULL) : event_del(&link->readable));
}

void acog_link_watch_write(struct acog_link *link)
{
    ACOG_ASSERT(link->state == ACOG_LINK_BUSY);
    (void)event_add(&link->writable, NULL);
}

void acog_link_wake(struct acog_link *link)
{
    ACOG_ASSERT(link->state != ACOG_LINK_CONNECTING);
    event_active(&link->readable, EV_READ, 0);
}

/* -- life ------------------------------------------------------------------------------------------ */

static bool goes_through_tls(const struct acog_endpoint *endpoint)
{
    return endpoint->tls ||
           acog_view_equal_nocase(acog_view_slice(endpoint->proxy, 0, 6), ACOG_VIEW("https:"));
}

struct acog_link *acog_link_connect(struct acog_upstream *upstream,
                                    const struct acog_endpoint *endpoint,
                                    struct acog_upstream_call *call, struct acog_error *error)
{
    struct acog_link *link = acog_new(sizeof(*link));
    if (link == NULL) {
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for a connection");
        return NULL;
    }
    link->tag = ACOG_LINK_TAG;
    link->upstream = upstream;
    link->call = call;
    link->tls = goes_through_tls(endpoint);
    link->socket = -1;
    if (!acog_pool_join(&upstream->pool, link, endpoint->pool_key)) {
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for a connection");
        acog_link_close(&link);
        return NULL;
    }
    if (link->tls) {
        link->store = acog_trust_store(endpoint->ca_file, error);
    }
    if ((link->tls && link->store == NULL) ||
        acog_connector_begin(link, endpoint, error) != ACOG_OK) {
        acog_link_close(&link);
        return NULL;
    }
    return link;
}

/* Takes the socket over from libcurl. A plain one gets a number of its own, so that libcurl can close and forget. */
static bool adopt(struct acog_link *link)
{
    int socket = acog_connector_take(link);
    if (!link->tls) {
        socket = fcntl(socket, F_DUPFD_CLOEXEC, 0);
        if (socket < 0) {
            keep_why(link, errno);
            return false;
        }
        acog_connector_release(link);
    }
    X509_STORE_free(link->store);
    link->store = NULL;
    link->socket = socket;
    link->why[0] = '\0';
    (void)event_assign(&link->readable, link->upstream->base, socket, EV_READ | EV_PERSIST,
                       on_readable, link);
    (void)event_assign(&link->writable, link->upstream->base, socket, EV_WRITE, on_writable, link);
    return true;
}

void acog_link_settle(struct acog_link *link, const char *failure)
{
    ACOG_ASSERT(link->tag == ACOG_LINK_TAG);
    ACOG_ASSERT(link->state == ACOG_LINK_CONNECTING);
    if (failure == NULL && !adopt(link)) {
        failure = link->why;
    }
    if (failure != NULL) {
        acog_call_unconnected(link->call, failure);
        return;
    }
    link->state = ACOG_LINK_BUSY;
    link->upstream->counts.open++;
    acog_link_watch(link, true);
    acog_call_connected(link->call);
}

void acog_link_close(struct acog_link **link)
{
    struct acog_link *closed = *link;
    ACOG_ASSERT(closed->tag == ACOG_LINK_TAG);
    *link = NULL;
    if (closed->state != ACOG_LINK_CONNECTING) {
        (void)event_del(&closed->readable);
        (void)event_del(&closed->writable);
        closed->upstream->counts.open--;
    }
    if (closed->socket >= 0 && !closed->tls) {
        (void)close(closed->socket);
    }
    acog_connector_release(closed);
    X509_STORE_free(closed->store);
    acog_pool_leave(&closed->upstream->pool, closed);
    closed->tag = 0;
    acog_free(closed);
}

/* -- bytes ----------------------------------------------------------------------------------------- */

static bool is_not_now(int number)
{
    return number == EAGAIN || number == EINTR;
}

static enum acog_link_io send_plain(struct acog_link *link, struct iovec *pieces, int count,
                                    size_t *sent)
{
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = (size_t)count};
    ssize_t moved = sendmsg(link->socket, &message, MSG_NOSIGNAL);
    if (moved >= 0) {
        *sent = (size_t)moved;
        return ACOG_IO_MOVED;
    }
    if (is_not_now(errno)) {
        return ACOG_IO_AGAIN;
    }
    keep_why(link, errno);
    return ACOG_IO_BROKEN;
}

/* The bytes for one TLS record: a piece that fills it as it is, smaller ones joined. The same pieces give the same
 * bytes, which a repeated send needs. */
static struct acog_view next_record(struct acog_link *link, struct iovec *pieces, int count)
{
    if (count == 1 || pieces[0].iov_len >= ACOG_RECORD_BYTES) {
        return (struct acog_view){.ptr = pieces[0].iov_base, .len = pieces[0].iov_len};
    }
    char *record = link->upstream->record_bytes;
    size_t length = 0;
    for (int i = 0; i < count && length < ACOG_RECORD_BYTES; i++) {
        size_t room = ACOG_RECORD_BYTES - length;
        size_t bytes = pieces[i].iov_len < room ? pieces[i].iov_len : room;
        memcpy(record + length, pieces[i].iov_base, bytes);
        length += bytes;
    }
    return (struct acog_view){.ptr = record, .len = length};
}

static enum acog_link_io send_tls(struct acog_link *link, struct iovec *pieces, int count,
                                  size_t *sent)
{
    struct acog_view record = next_record(link, pieces, count);
    CURLcode code = curl_easy_send(link->easy, record.ptr, record.len, sent);
    if (code == CURLE_OK && *sent > 0) {
        return ACOG_IO_MOVED;
    }
    return code == CURLE_OK || code == CURLE_AGAIN ? ACOG_IO_AGAIN : ACOG_IO_BROKEN;
}

enum acog_link_io acog_link_send(struct acog_link *link, struct iovec *pieces, int count,
                                 size_t *sent)
{
    ACOG_ASSERT(link->state == ACOG_LINK_BUSY);
    ACOG_ASSERT(count > 0);
    *sent = 0;
    return link->tls ? send_tls(link, pieces, count, sent) : send_plain(link, pieces, count, sent);
}

static enum acog_link_io receive_plain(struct acog_link *link, char *bytes, size_t room,
                                       size_t *got)
{
    ssize_t moved = recv(link->socket, bytes, room, 0);
    if (moved > 0) {
        *got = (size_t)moved;
        return ACOG_IO_MOVED;
    }
    if (moved == 0) {
        return ACOG_IO_CLOSED;
    }
    if (is_not_now(errno)) {
        return ACOG_IO_AGAIN;
    }
    keep_why(link, errno);
    return ACOG_IO_BROKEN;
}

/* An end of bytes is only the peer's will when TLS says so; else anyone on the way can cut an answer short (RFC 9112
 * 9.8). libcurl tells both alike. */
static enum acog_link_io end_of_tls(struct acog_link *link)
{
    struct curl_tlssessioninfo *session = NULL;
    (void)curl_easy_getinfo(link->easy, CURLINFO_TLS_SSL_PTR, &session);
    if (session != NULL && session->internals != NULL &&
        (SSL_get_shutdown(session->internals) & SSL_RECEIVED_SHUTDOWN) != 0) {
        return ACOG_IO_CLOSED;
    }
    static const char why[] = "the connection was closed without a close_notify of TLS";
    memcpy(link->why, why, sizeof(why));
    return ACOG_IO_BROKEN;
}

static enum acog_link_io receive_tls(struct acog_link *link, char *bytes, size_t room, size_t *got)
{
    enum acog_link_io io = ACOG_IO_MOVED;
    while (io == ACOG_IO_MOVED && *got < room) {
        size_t moved = 0;
        CURLcode code = curl_easy_recv(link->easy, bytes + *got, room - *got, &moved);
        if (code == CURLE_OK) {
            io = moved > 0 ? ACOG_IO_MOVED : end_of_tls(link);
        } else {
            io = code == CURLE_AGAIN ? ACOG_IO_AGAIN : ACOG_IO_BROKEN;
        }
        *got += moved;
    }
    if (*got == 0) {
        return io;
    }
    if (io != ACOG_IO_AGAIN) {
        acog_link_wake(link); /* the rest, or the end, is inside TLS: the socket may stay silent */
    }
    return ACOG_IO_MOVED;
}

enum acog_link_io acog_link_receive(struct acog_link *link, char *bytes, size_t room, size_t *got)
{
    ACOG_ASSERT(link->state != ACOG_LINK_CONNECTING);
    *got = 0;
    return link->tls ? receive_tls(link, bytes, room, got) : receive_plain(link, bytes, room, got);
}

bool acog_link_is_refused(const struct acog_link *link)
{
    switch (link->alert) {
    case SSL3_AD_BAD_CERTIFICATE:
    case SSL3_AD_UNSUPPORTED_CERTIFICATE:
    case SSL3_AD_CERTIFICATE_REVOKED:
    case SSL3_AD_CERTIFICATE_EXPIRED:
    case SSL3_AD_CERTIFICATE_UNKNOWN:
    case TLS1_AD_UNKNOWN_CA:
    case TLS1_AD_ACCESS_DENIED:
    case TLS13_AD_CERTIFICATE_REQUIRED:
        return true;
    default:
        return false;
    }
}

bool acog_link_is_quiet(struct acog_link *link)
{
    char byte = 0;
    if (link->tls) {
        size_t got = 0;
        return curl_easy_recv(link->easy, &byte, 1, &got) == CURLE_AGAIN;
    }
    return recv(link->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && is_not_now(errno);
}
