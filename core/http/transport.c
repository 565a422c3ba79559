/* transport.c - where a connection's bytes are received and sent, and nowhere else; under TLS in transport_tls.c. */
#include "connection.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

static enum acog_transport failure(void)
{
    return errno == EAGAIN || errno == EINTR ? ACOG_TRANSPORT_AGAIN : ACOG_TRANSPORT_CLOSED;
}

enum acog_transport acog_transport_receive(struct acog_http_connection *connection, char *to,
                                           size_t bytes, size_t *received)
{
    if (connection->tls != NULL) {
        return acog_tls_receive(connection, to, bytes, received);
    }
    ssize_t got = recv(connection->socket, to, bytes, 0);
    *received = got > 0 ? (size_t)got : 0;
    if (got < 0) {
        return failure();
    }
    return got == 0 ? ACOG_TRANSPORT_CLOSED : ACOG_TRANSPORT_OK;
}

enum acog_transport acog_transport_send(struct acog_http_connection *connection,
                                        struct iovec *pieces, size_t count, size_t *sent)
{
    if (connection->tls != NULL) {
        return acog_tls_send(connection, pieces, count, sent);
    }
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};
    ssize_t took = sendmsg(connection->socket, &message, MSG_NOSIGNAL);
    *sent = took > 0 ? (size_t)took : 0;
    return took < 0 ? failure() : ACOG_TRANSPORT_OK;
}

enum acog_transport acog_transport_finish(struct acog_http_connection *connection)
{
    enum acog_transport goodbye =
        connection->tls == NULL ? ACOG_TRANSPORT_OK : acog_tls_finish(connection);
    if (goodbye != ACOG_TRANSPORT_OK) {
        return goodbye;
    }
    acog_tls_free(connection);
    return shutdown(connection->socket, SHUT_WR) == 0 ? ACOG_TRANSPORT_OK : ACOG_TRANSPORT_CLOSED;
}
