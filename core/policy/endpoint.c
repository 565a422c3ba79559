/* endpoint.c - addresses: of upstreams (base_url) and of our own listeners. */
#include "acog/contract.h"
#include "compile.h"

#include <stdio.h>
#include <unistd.h>

#define HOST_BYTES_MAX 255
#define PATH_BYTES_MAX 1024
#define UNIX_BYTES_MAX 107 /* sun_path, without its NUL */

static bool is_host_byte(char c, bool bracketed)
{
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '-' || c == '.';
    return plain || (bracketed ? c == ':' : c == '_');
}

/* Splits "host:port", "host", "[v6]:port" into host (without brackets) and port text (ptr NULL: none). */
static bool split_host(struct acog_view text, struct acog_view *host, struct acog_view *port)
{
    *port = (struct acog_view){0};
    bool bracketed = text.len > 0 && text.ptr[0] == '[';
    size_t end = acog_view_find(text, bracketed ? ACOG_VIEW("]") : ACOG_VIEW(":"));
    *host = acog_view_slice(text, bracketed ? 1 : 0, end);
    struct acog_view rest = acog_view_slice(text, bracketed ? end + 1 : end, text.len);
    if (bracketed && end == text.len) {
        return false;
    }
    if (rest.len > 0) {
        if (rest.ptr[0] != ':') {
            return false;
        }
        *port = acog_view_slice(rest, 1, rest.len);
    }
    for (size_t i = 0; i < host->len; i++) {
        if (!is_host_byte(host->ptr[i], bracketed)) {
            return false;
        }
    }
    return host->len > 0 && host->len <= HOST_BYTES_MAX;
}

static bool read_port(struct acog_view text, unsigned long long min, uint16_t *port)
{
    unsigned long long value = 0;
    if (!acog_view_to_u64(text, &value) || value < min || value > UINT16_MAX) {
        return false;
    }
    *port = (uint16_t)value;
    return true;
}

/* "unix:/path". False with a finding when the path cannot be one. */
static bool read_unix(struct reader *reader, struct acog_view text, struct acog_view *path)
{
    struct acog_view rest = acog_view_slice(text, sizeof("unix:") - 1, text.len);
    ACOG_ASSERT(rest.ptr != NULL);
    if (rest.len < 2 || rest.ptr[0] != '/' || rest.len > UNIX_BYTES_MAX) {
        reader_error(reader, "after \"unix:\" an absolute path of at most %d bytes must stand",
                     UNIX_BYTES_MAX);
        return false;
    }
    *path = reader_copy(reader, rest);
    return true;
}

/* What stands behind the host of a base_url: nothing, "/", or a path without query. */
static bool path_is_sane(struct acog_view path)
{
    for (size_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.ptr[i];
        if (c <= ' ' || c >= 0x7f || c == '?' || c == '#') {
            return false;
        }
    }
    return true;
}

/* As it is printed in a provider's examples. */
static void warn_of_api_path(struct reader *reader, struct acog_view path)
{
    static const char *const ends[] = {"/chat/completions", "/responses", "/messages",
                                       "/embeddings"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct acog_view end = acog_view_of(ends[i]);
        if (path.len >= end.len &&
            acog_view_equal(acog_view_slice(path, path.len - end.len, path.len), end)) {
            reader_warn(reader,
                        "ends with the path of an API, which is put behind it once more; "
                        "\"%.*s\" is meant to be left out",
                        ACOG_VIEW_FMT(end));
        }
    }
}

static void read_http(struct reader *reader, struct acog_view url, struct acog_endpoint *endpoint)
{
    endpoint->tls = acog_view_starts(url, ACOG_VIEW("https://"));
    size_t scheme = endpoint->tls ? sizeof("https://") - 1 : sizeof("http://") - 1;
    struct acog_view rest = acog_view_slice(url, scheme, url.len);
    size_t slash = acog_view_find(rest, ACOG_VIEW("/"));
    struct acog_view path = acog_view_slice(rest, slash, rest.len);
    struct acog_view host;
    struct acog_view port;
    endpoint->port = endpoint->tls ? 443 : 80;
    if (!split_host(acog_view_slice(rest, 0, slash), &host, &port) ||
        (port.ptr != NULL && !read_port(port, 1, &endpoint->port))) {
        reader_error(reader,
                     "must be http://HOST[:PORT][/PATH] or https://…, without a user's name");
        return;
    }
    ACOG_ASSERT(path.ptr != NULL);
    while (path.len > 0 && path.ptr[path.len - 1] == '/') {
        path.len--;
    }
    if (!path_is_sane(path)) {
        reader_error(reader, "the path must have no query, no fragment and no spaces");
        return;
    }
    warn_of_api_path(reader, path);
    endpoint->host = reader_copy_lower(reader, host);
    endpoint->base_path = reader_copy(reader, path);
}

void compile_base_url(struct reader *reader, int index, void *target)
{
    struct acog_endpoint *endpoint = &((struct acog_connection *)target)->endpoint;
    struct acog_view url;
    if (!reader_peek(reader, index, &url)) {
        return;
    }
    if (acog_view_starts(url, ACOG_VIEW("unix:"))) {
        if (read_unix(reader, url, &endpoint->unix_socket)) {
            endpoint->host = acog_view_of("localhost");
            endpoint->base_path = acog_view_of("");
        }
    } else if (acog_view_starts(url, ACOG_VIEW("http://")) ||
               acog_view_starts(url, ACOG_VIEW("https://"))) {
        read_http(reader, url, endpoint);
    } else {
        reader_error(reader, "must begin with https://, http:// or unix:/");
    }
}

void compile_check_files(struct compile *compile, const struct acog_endpoint *endpoint)
{
    const struct {
        const char *field;
        struct acog_view path;
    } files[] = {
        {"ca_file", endpoint->ca_file},
        {"client_certificate_file", endpoint->client_certificate_file},
        {"client_key_file", endpoint->client_key_file},
    };
    struct reader *reader = &compile->reader;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[PATH_BYTES_MAX + 1];
        int len = snprintf(path, sizeof(path), "%.*s", ACOG_VIEW_FMT(files[i].path));
        if (len <= 0 || (len < (int)sizeof(path) && access(path, R_OK) == 0)) {
            continue;
        }
        if (compile->options->missing_env_is_warning) {
            reader_warn(reader, "%s: %s cannot be read", files[i].field, path);
        } else {
            reader_error(reader, "%s: %s cannot be read", files[i].field, path);
        }
    }
}

void compile_pool_key(struct compile *compile, struct acog_endpoint *endpoint)
{
    endpoint->pool_key = reader_format(
        &compile->reader, "%s://%.*s:%u%.*s|%.*s|%.*s|%.*s|%.*s|%d",
        endpoint->tls ? "https" : "http", ACOG_VIEW_FMT(endpoint->host), (unsigned)endpoint->port,
        ACOG_VIEW_FMT(endpoint->unix_socket), ACOG_VIEW_FMT(endpoint->proxy),
        ACOG_VIEW_FMT(endpoint->ca_file), ACOG_VIEW_FMT(endpoint->client_certificate_file),
        ACOG_VIEW_FMT(endpoint->client_key_file), (int)endpoint->tls_minimum);
}

bool compile_address(struct reader *reader, int index, struct acog_listener *listener)
{
    struct acog_view text;
    struct acog_view host;
    struct acog_view port;
    if (lua_type(reader->L, index) == LUA_TSTRING) {
        text.ptr = lua_tolstring(reader->L, index, &text.len);
    } else {
        text = ACOG_VIEW(""); /* which is no address either */
    }
    if (acog_view_starts(text, ACOG_VIEW("unix:"))) {
        return read_unix(reader, text, &listener->unix_socket);
    }
    if (!split_host(text, &host, &port) || port.ptr == NULL ||
        !read_port(port, 0, &listener->port)) {
        reader_error(reader, "must be \"HOST:PORT\", \"[V6]:PORT\" or \"unix:/path\"");
        return false;
    }
    listener->host = reader_copy_lower(reader, host);
    return true;
}
