/* transport_tls.c - bytes of a connection through TLS.
 *
 * The one complication: bytes can wait inside TLS while the socket is silent. Whoever leaves some there makes the read
 * event active, so the rest of the server sees what it sees of a plain socket.
 *
 * The BIO is our own: it sends with MSG_NOSIGNAL, and it takes no more from the socket in one turn than `tls_room`, since
 * a client could keep one SSL_read() busy with records that hold no data.
 */
#include "acog/contract.h"
#include "connection.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#define TURN_BYTES_MAX (1U << 20U)

/* -- the socket as a BIO ----------------------------------------------------------------------------------- */

static bool is_not_now(int number)
{
    return number == EAGAIN || number == EINTR;
}

static int socket_read(BIO *bio, char *to, size_t room, size_t *got)
{
    struct acog_http_connection *connection = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t wanted = room < connection->tls_room ? room : connection->tls_room;
    *got = 0;
    if (wanted == 0) {
        BIO_set_retry_read(bio); /* the event of the socket comes again */
        return 0;
    }
    ssize_t received = recv(connection->socket, to, wanted, 0);
    if (received > 0) {
        *got = (size_t)received;
        connection->tls_room -= *got;
        return 1;
    }
    if (received < 0 && is_not_now(errno)) {
        BIO_set_retry_read(bio);
    } else if (received == 0) {
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    }
    return 0;
}

static int socket_write(BIO *bio, const char *bytes, size_t count, size_t *written)
{
    const struct acog_http_connection *connection = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t sent = send(connection->socket, bytes, count, MSG_NOSIGNAL);
    *written = sent > 0 ? (size_t)sent : 0;
    if (sent < 0 && is_not_now(errno)) {
        BIO_set_retry_write(bio);
    }
    return sent > 0 ? 1 : 0;
}

static long socket_control(BIO *bio, int what, long number, void *pointer)
{
    (void)number;
    (void)pointer;
    switch (what) {
    case BIO_CTRL_FLUSH:
        return 1;
    case BIO_CTRL_EOF:
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    default:
        return 0;
    }
}

/* One for the process, as OpenSSL's own methods are; it is never freed. */
static struct {
    pthread_once_t once;
    BIO_METHOD *method;
} sockets = {.once = PTHREAD_ONCE_INIT};

static void make_method(void)
{
    BIO_METHOD *method =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "acog connection");
    if (method == NULL || BIO_meth_set_read_ex(method, socket_read) != 1 ||
        BIO_meth_set_write_ex(method, socket_write) != 1 ||
        BIO_meth_set_ctrl(method, socket_control) != 1) {
        BIO_meth_free(method);
        return;
    }
    sockets.method = method;
}

/* -- life -------------------------------------------------------------------------------------------------- */

bool acog_tls_open(struct acog_http_connection *connection, struct acog_http_tls *tls)
{
    (void)pthread_once(&sockets.once, make_method);
    BIO *bio = sockets.method == NULL ? NULL : BIO_new(sockets.method);
    connection->tls = bio == NULL ? NULL : acog_http_tls_session(tls);
    if (connection->tls == NULL) {
        BIO_free(bio);
        return false;
    }
    BIO_set_data(bio, connection);
    BIO_set_init(bio, 1);
    SSL_set_bio(connection->tls, bio, bio);
    return true;
}

void acog_tls_free(struct acog_http_connection *connection)
{
    SSL_free(connection->tls);
    connection->tls = NULL;
}

/* -- the handshake ----------------------------------------------------------------------------------------- */

static const char *reason_of(const SSL *ssl)
{
    unsigned long error = ERR_peek_error();
    bool is_ssl = ERR_GET_LIB(error) == ERR_LIB_SSL;
    if (is_ssl && ERR_GET_REASON(error) == SSL_R_HTTP_REQUEST) {
        return "plain HTTP was spoken to a listener with TLS";
    }
    if (is_ssl && ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        return X509_verify_cert_error_string(SSL_get_verify_result(ssl));
    }
    const char *reason = ERR_reason_error_string(error);
    return reason != NULL ? reason : "the handshake failed";
}

static bool is_end(void)
{
    unsigned long error = ERR_peek_error();
    return error == 0 || (ERR_GET_LIB(error) == ERR_LIB_SSL &&
                          ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING);
}

enum acog_handshake acog_tls_shake(struct acog_http_connection *connection, const char **why)
{
    SSL *ssl = connection->tls;
    connection->tls_room = TURN_BYTES_MAX;
    ERR_clear_error();
    int result = SSL_do_handshake(ssl);
    if (result == 1) {
        return ACOG_HANDSHAKE_DONE;
    }
    switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return ACOG_HANDSHAKE_WANTS_READ;
    case SSL_ERROR_WANT_WRITE:
        return ACOG_HANDSHAKE_WANTS_WRITE;
    default:
        if (is_end()) {
            return ACOG_HANDSHAKE_LEFT;
        }
        *why = reason_of(ssl);
        return ACOG_HANDSHAKE_REFUSED;
    }
}

/* -- bytes ------------------------------------------------------------------------------------------------- */

/* After a failure nothing more may be said, not even goodbye. */
static enum acog_transport failure(SSL *ssl, int result, int wanted)
{
    int error = SSL_get_error(ssl, result);
    if (error == wanted) {
        return ACOG_TRANSPORT_AGAIN;
    }
    if (error != SSL_ERROR_ZERO_RETURN) {
        SSL_set_quiet_shutdown(ssl, 1);
    }
    return ACOG_TRANSPORT_CLOSED;
}

void acog_tls_wake(struct acog_http_connection *connection)
{
    if (SSL_has_pending(connection->tls) == 1) {
        event_active(&connection->read_event, EV_READ, 0);
    }
}

enum acog_transport acog_tls_receive(struct acog_http_connection *connection, char *to,
                                     size_t bytes, size_t *received)
{
    SSL *ssl = connection->tls;
    enum acog_transport transport = ACOG_TRANSPORT_OK;
    connection->tls_room = TURN_BYTES_MAX;
    *received = 0;
    ERR_clear_error();
    /* The socket tells of what is in it; what is inside TLS is taken now. */
    do {
        size_t got = 0;
        int result = SSL_read_ex(ssl, to + *received, bytes - *received, &got);
        transport = result == 1 ? ACOG_TRANSPORT_OK : failure(ssl, result, SSL_ERROR_WANT_READ);
        *received += got;
    } while (transport == ACOG_TRANSPORT_OK && *received < bytes && SSL_has_pending(ssl) == 1);
    if (*received == 0) {
        return transport;
    }
    switch (transport) {
    case ACOG_TRANSPORT_OK:
        acog_tls_wake(connection);
        break;
    case ACOG_TRANSPORT_AGAIN:
        break;
    case ACOG_TRANSPORT_CLOSED: /* told by the next receive, which this makes happen */
        event_active(&connection->read_event, EV_READ, 0);
        break;
    }
    return ACOG_TRANSPORT_OK;
}

/* Where the next byte to send is. */
struct cursor {
    const struct iovec *pieces;
    size_t count;
    size_t piece;
    size_t offset;
};

static size_t move(struct cursor *cursor, size_t bytes)
{
    size_t left = bytes;
    while (left > 0 && cursor->piece < cursor->count) {
        size_t rest = cursor->pieces[cursor->piece].iov_len - cursor->offset;
        size_t step = left < rest ? left : rest;
        cursor->offset += step;
        left -= step;
        if (cursor->offset == cursor->pieces[cursor->piece].iov_len) {
            cursor->piece++;
            cursor->offset = 0;
        }
    }
    return bytes - left;
}

/* The bytes of the next record: of one piece where it fills the record or is the last, else joined in `room`. */
static struct acog_view next_record(struct cursor cursor, char *room)
{
    const struct iovec *first = &cursor.pieces[cursor.piece];
    size_t of_first = first->iov_len - cursor.offset;
    if (of_first >= ACOG_HTTP_RECORD_BYTES || cursor.piece + 1 == cursor.count) {
        size_t length = of_first < ACOG_HTTP_RECORD_BYTES ? of_first : ACOG_HTTP_RECORD_BYTES;
        return (struct acog_view){.ptr = (const char *)first->iov_base + cursor.offset,
                                  .len = length};
    }
    size_t length = 0;
    while (length < ACOG_HTTP_RECORD_BYTES && cursor.piece < cursor.count) {
        const struct iovec *piece = &cursor.pieces[cursor.piece];
        size_t space = ACOG_HTTP_RECORD_BYTES - length;
        size_t rest = piece->iov_len - cursor.offset;
        size_t step = rest < space ? rest : space;
        memcpy(room + length, (const char *)piece->iov_base + cursor.offset, step);
        length += step;
        (void)move(&cursor, step);
        if (step == 0) {
            cursor.piece++; /* an empty piece */
        }
    }
    return (struct acog_view){.ptr = room, .len = length};
}

enum acog_transport acog_tls_send(struct acog_http_connection *connection,
                                  const struct iovec *pieces, size_t count, size_t *sent)
{
    SSL *ssl = connection->tls;
    struct cursor cursor = {.pieces = pieces, .count = count};
    *sent = 0;
    ERR_clear_error();
    while (cursor.piece < count) {
        struct acog_view record = next_record(cursor, connection->server->record);
        size_t took = 0;
        if (record.len == 0) {
            break; /* nothing but empty pieces is left */
        }
        int result = SSL_write_ex(ssl, record.ptr, record.len, &took);
        if (result != 1) {
            enum acog_transport transport = failure(ssl, result, SSL_ERROR_WANT_WRITE);
            bool some = transport == ACOG_TRANSPORT_AGAIN && *sent > 0;
            return some ? ACOG_TRANSPORT_OK : transport;
        }
        *sent += move(&cursor, took);
    }
    return ACOG_TRANSPORT_OK;
}

enum acog_transport acog_tls_finish(struct acog_http_connection *connection)
{
    ERR_clear_error();
    int result = SSL_shutdown(connection->tls);
    return result >= 0 ? ACOG_TRANSPORT_OK : failure(connection->tls, result, SSL_ERROR_WANT_WRITE);
}
