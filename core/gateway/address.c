/* address.c - addresses as text, and the sockets behind them. */
#include "address.h"

#include "acog/gateway.h"
#include "acog/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST_TEXT_MAX 256
#define PORT_MAX      65535

/* -- text -------------------------------------------------------------------------------------------- */

static bool read_port(struct acog_view text, uint16_t *port)
{
    unsigned long long number = 0;
    if (text.len > 5 || !acog_view_to_u64(text, &number) || number > PORT_MAX) {
        return false;
    }
    *port = (uint16_t)number;
    return true;
}

/* Where the last colon is, or the length. */
static size_t last_colon(struct acog_view text)
{
    const char *colon = text.len == 0 ? NULL : memrchr(text.ptr, ':', text.len);
    return colon == NULL ? text.len : (size_t)(colon - text.ptr);
}

static struct acog_view without_brackets(struct acog_view host)
{
    bool bracketed = host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
    return bracketed ? acog_view_slice(host, 1, host.len - 1) : host;
}

enum acog_code acog_listener_read(struct acog_view text, struct acog_listener *listener,
                                  struct acog_error *error)
{
    struct acog_listener read = {.port = 0};
    if (acog_view_starts(text, ACOG_VIEW("unix:"))) {
        read.unix_socket = acog_view_slice(text, 5, text.len);
        if (read.unix_socket.len == 0) {
            return acog_error_set(error, ACOG_INVALID, "\"unix:\" wants a path behind it");
        }
        *listener = read;
        return ACOG_OK;
    }
    size_t colon = last_colon(text);
    struct acog_view host = acog_view_slice(text, 0, colon);
    read.host = without_brackets(host);
    bool ambiguous = read.host.len == host.len && last_colon(host) < host.len;
    if (read.host.len == 0 || ambiguous ||
        !read_port(acog_view_slice(text, colon + 1, text.len), &read.port)) {
        return acog_error_set(error, ACOG_INVALID,
                              "\"%.*s\" is no address; allowed: HOST:PORT, [IPV6]:PORT, unix:PATH",
                              ACOG_VIEW_FMT(text));
    }
    *listener = read;
    return ACOG_OK;
}

void acog_listener_text(const struct acog_listener *listener, uint16_t port, char *out,
                        size_t out_bytes)
{
    struct acog_view host = without_brackets(listener->host);
    if (listener->unix_socket.len > 0) {
        (void)snprintf(out, out_bytes, "unix:%.*s", ACOG_VIEW_FMT(listener->unix_socket));
    } else if (acog_view_find(host, ACOG_VIEW(":")) < host.len) {
        (void)snprintf(out, out_bytes, "[%.*s]:%u", ACOG_VIEW_FMT(host), (unsigned)port);
    } else {
        (void)snprintf(out, out_bytes, "%.*s:%u", ACOG_VIEW_FMT(host), (unsigned)port);
    }
}

/* -- hosts ------------------------------------------------------------------------------------------- */

/* The host as C text for inet_pton(); false when it is too long to be an address. */
static bool host_text(struct acog_view host, char text[HOST_TEXT_MAX])
{
    struct acog_view bare = without_brackets(host);
    if (bare.len >= HOST_TEXT_MAX || memchr(bare.ptr, '\0', bare.len) != NULL) {
        return false;
    }
    memcpy(text, bare.ptr, bare.len);
    text[bare.len] = '\0';
    return true;
}

bool acog_host_is_address(struct acog_view host)
{
    char text[HOST_TEXT_MAX];
    struct in_addr four;
    struct in6_addr six;
    return host.len > 0 && host_text(host, text) &&
           (inet_pton(AF_INET, text, &four) == 1 || inet_pton(AF_INET6, text, &six) == 1);
}

bool acog_host_is_loopback(struct acog_view host)
{
    char text[HOST_TEXT_MAX];
    struct in_addr four;
    struct in6_addr six;
    if (acog_view_equal_nocase(host, ACOG_VIEW("localhost"))) {
        return true;
    }
    if (host.len == 0 || !host_text(host, text)) {
        return false;
    }
    if (inet_pton(AF_INET, text, &four) == 1) {
        return ntohl(four.s_addr) >> 24U == 127;
    }
    return inet_pton(AF_INET6, text, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

struct acog_view acog_host_without_port(struct acog_view field)
{
    size_t end = acog_view_find(field, ACOG_VIEW(":"));
    if (acog_view_starts(field, ACOG_VIEW("["))) {
        size_t bracket = acog_view_find(field, ACOG_VIEW("]"));
        if (bracket == field.len) {
            return (struct acog_view){0};
        }
        end = bracket + 1;
    }
    struct acog_view rest = acog_view_slice(field, end, field.len);
    unsigned long long port = 0;
    bool fits = rest.len == 0 ||
                (rest.ptr[0] == ':' && acog_view_to_u64(acog_view_slice(rest, 1, rest.len), &port));
    return fits ? acog_view_slice(field, 0, end) : (struct acog_view){0};
}

bool acog_origin_is_local(struct acog_view origin)
{
    size_t mark = acog_view_find(origin, ACOG_VIEW("://"));
    struct acog_view host = acog_view_slice(origin, mark + 3, origin.len);
    return mark < origin.len && acog_host_is_loopback(acog_host_without_port(host));
}

bool acog_listener_is_local(const struct acog_listener *listener)
{
    return listener->unix_socket.len > 0 || acog_host_is_loopback(listener->host);
}

/* -- sockets ----------------------------------------------------------------------------------------- */

/* Binds once without SO_REUSEPORT, which fails while anybody listens there. */
static bool port_is_taken(const struct acog_listener *listener)
{
    char host[HOST_TEXT_MAX];
    char service[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (listener->port == 0 || !host_text(listener->host, host)) {
        return false;
    }
    (void)snprintf(service, sizeof(service), "%u", (unsigned)listener->port);
    if (getaddrinfo(host, service, &hints, &found) != 0) {
        return false; /* acog_http_listen() says what is wrong */
    }
    int probe = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int reuse = 1;
    (void)setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)); /* past TIME_WAIT */
    bool taken = bind(probe, found->ai_addr, found->ai_addrlen) != 0 && errno == EADDRINUSE;
    (void)close(probe);
    freeaddrinfo(found);
    return taken;
}

static int open_first(const struct acog_listener *listener, struct acog_error *error)
{
    if (listener->unix_socket.len > 0) {
        return acog_http_listen_unix(listener->unix_socket, error);
    }
    if (port_is_taken(listener)) {
        (void)acog_error_set(error, ACOG_IO, "cannot listen on %.*s:%u: another process does",
                             ACOG_VIEW_FMT(listener->host), (unsigned)listener->port);
        return -1;
    }
    return acog_http_listen(listener->host, listener->port, error);
}

static int open_next(const struct acog_listener *listener, int first, uint16_t port,
                     struct acog_error *error)
{
    if (listener->unix_socket.len == 0) {
        return acog_http_listen(listener->host, port, error);
    }
    int shared = fcntl(first, F_DUPFD_CLOEXEC, 0);
    if (shared < 0) {
        (void)acog_error_set(error, ACOG_IO, "no more files for a listening socket");
    }
    return shared;
}

enum acog_code acog_listener_open(const struct acog_listener *listener, int *sockets, size_t count,
                                  uint16_t *port, struct acog_error *error)
{
    for (size_t i = 0; i < count; i++) {
        sockets[i] =
            i == 0 ? open_first(listener, error) : open_next(listener, sockets[0], *port, error);
        if (sockets[i] < 0) {
            while (i > 0) {
                (void)close(sockets[--i]);
            }
            return ACOG_IO;
        }
        if (i == 0) {
            *port = acog_http_listen_port(sockets[0]);
        }
    }
    return ACOG_OK;
}

void acog_listener_remove(const struct acog_listener *listener)
{
    char path[HOST_TEXT_MAX];
    if (listener->unix_socket.len > 0 && listener->unix_socket.len < sizeof(path)) {
        (void)snprintf(path, sizeof(path), "%.*s", ACOG_VIEW_FMT(listener->unix_socket));
        (void)unlink(path);
    }
}
