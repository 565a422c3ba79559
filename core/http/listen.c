/* listen.c - sockets that listen: what is set here is inherited by the connections they accept. */
#include "acog/http.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG        4096
#define HOST_BYTES_MAX 256
#define KEEPALIVE_IDLE_S \
    60 /* a client whose machine vanished is noticed after two minutes, not after hours */
#define KEEPALIVE_STEP_S 15
#define KEEPALIVE_COUNT  4

static int fail(int fd, struct acog_error *error, const char *what, struct acog_view where)
{
    char reason[128];
    (void)acog_error_set(error, ACOG_IO, "cannot %s %.*s: %s", what, ACOG_VIEW_FMT(where),
                         strerror_r(errno, reason, sizeof(reason)));
    if (fd >= 0) {
        (void)close(fd);
    }
    return -1;
}

static bool set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

static bool set_tcp_options(int fd)
{
    return set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) &&
           set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1) &&
           set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1) &&
           set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1) &&
           set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S) &&
           set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_STEP_S) &&
           set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
}

int acog_http_listen(struct acog_view host, uint16_t port, struct acog_error *error)
{
    char name[HOST_BYTES_MAX];
    char service[8];
    struct acog_view bare = host;
    if (bare.len > 2 && bare.ptr[0] == '[' && bare.ptr[bare.len - 1] == ']') {
        bare = acog_view_slice(bare, 1, bare.len - 1);
    }
    if (bare.len == 0 || bare.len >= sizeof(name)) {
        (void)acog_error_set(error, ACOG_INVALID, "cannot listen on %.*s: not a host",
                             ACOG_VIEW_FMT(host));
        return -1;
    }
    (void)snprintf(name, sizeof(name), "%.*s", ACOG_VIEW_FMT(bare));
    (void)snprintf(service, sizeof(service), "%u", (unsigned)port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int status = getaddrinfo(name, service, &hints, &found);
    if (status != 0) {
        (void)acog_error_set(error, ACOG_INVALID, "cannot listen on %.*s: %s", ACOG_VIEW_FMT(host),
                             gai_strerror(status));
        return -1;
    }
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && set_tcp_options(fd) &&
                bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0;
    freeaddrinfo(found);
    return good ? fd : fail(fd, error, "listen on", host);
}

/* True when the file may be replaced: it is a socket, and nobody answers. */
static bool is_stale(const struct sockaddr_un *address)
{
    struct stat info;
    if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode)) {
        return false;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    bool refused = connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
                   errno == ECONNREFUSED;
    (void)close(fd);
    return refused;
}

int acog_http_listen_unix(struct acog_view path, struct acog_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path.len == 0 || path.len >= sizeof(address.sun_path)) {
        (void)acog_error_set(error, ACOG_TOO_BIG, "a unix socket's path has 1 to %zu bytes: %.*s",
                             sizeof(address.sun_path) - 1, ACOG_VIEW_FMT(path));
        return -1;
    }
    memcpy(address.sun_path, path.ptr, path.len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return fail(fd, error, "open a socket for", path);
    }
    const struct sockaddr *to = (const struct sockaddr *)&address;
    bool bound = bind(fd, to, sizeof(address)) == 0;
    if (!bound && errno == EADDRINUSE) {
        bool removed = is_stale(&address) && unlink(address.sun_path) == 0;
        errno = EADDRINUSE;
        bound = removed && bind(fd, to, sizeof(address)) == 0;
    }
    return bound && listen(fd, BACKLOG) == 0 ? fd : fail(fd, error, "listen on", path);
}

uint16_t acog_http_listen_port(int socket)
{
    struct sockaddr_storage address = {0};
    socklen_t bytes = sizeof(address);
    if (getsockname(socket, (struct sockaddr *)&address, &bytes) != 0) {
        return 0;
    }
    if (address.ss_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, &address, sizeof(v6));
        return ntohs(v6.sin6_port);
    }
    if (address.ss_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, &address, sizeof(v4));
        return ntohs(v4.sin_port);
    }
    return 0;
}
