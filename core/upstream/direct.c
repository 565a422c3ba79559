/* direct.c - the channels that speak a provider's own API: direct and custom.
 *
 * The path: base_url's path, then the surface's. A base path that ends in /v1 already says the version, so the
 * surface's own /v1 is left out: "https://api.openai.com/v1" and "https://api.openai.com" both give
 * ".../v1/chat/completions", as both spellings are what people write.
 *
 * Gemini has the model and the method in its path: "/v1beta/models/MODEL:generateContent". The model's id may come from
 * the client as it spelt it, so every character that could mean something in a path is percent-encoded (B108).
 *
 * The headers, by allow-list: what the exchange let through of the client's, less whatever could be a credential or
 * steer the connection; then the key, in the place where the dialect puts it; then what the configuration adds, which
 * replaces rows of the same name.
 */
#include "acog/arena.h"
#include "acog/contract.h"
#include "acog/upstream.h"

#include <string.h>

#define ANTHROPIC_VERSION "2023-06-01"

#define ROWS_MAX \
    (sizeof(((struct acog_upstream_target *)NULL)->headers) / sizeof(struct acog_header_row))

/* They frame the message or belong to one connection: core/upstream alone writes them, whoever asks. Accept-Encoding is
 * among them because an answer that was compressed at our wish would only be decoded here again. */
static const struct acog_view written_here[] = {
    {.ptr = "connection", .len = 10},
    {.ptr = "content-length", .len = 14},
    {.ptr = "transfer-encoding", .len = 17},
    {.ptr = "accept-encoding", .len = 15},
    {.ptr = "keep-alive", .len = 10},
    {.ptr = "proxy-connection", .len = 16},
    {.ptr = "te", .len = 2},
    {.ptr = "trailer", .len = 7},
    {.ptr = "upgrade", .len = 7},
    {.ptr = "expect", .len = 6},
};

/* Never taken from a client, even if somebody allow-listed it (B101). The configuration may set them. */
static const struct acog_view never_from_client[] = {
    {.ptr = "authorization", .len = 13},
    {.ptr = "proxy-authorization", .len = 19},
    {.ptr = "x-api-key", .len = 9},
    {.ptr = "api-key", .len = 7},
    {.ptr = "x-goog-api-key", .len = 14},
    {.ptr = "cookie", .len = 6},
    {.ptr = "host", .len = 4},
    {.ptr = "user-agent", .len = 10},
    {.ptr = "forwarded", .len = 9},
};

static bool is_among(struct acog_view name, const struct acog_view *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (acog_view_equal_nocase(name, names[i])) {
            return true;
        }
    }
    return false;
}

static bool is_written_here(struct acog_view name)
{
    return is_among(name, written_here, sizeof(written_here) / sizeof(written_here[0]));
}

static bool is_from_client(struct acog_view name)
{
    return !is_written_here(name) && !acog_view_starts(name, ACOG_VIEW("x-forwarded-")) &&
           !is_among(name, never_from_client,
                     sizeof(never_from_client) / sizeof(never_from_client[0]));
}

static enum acog_code add(struct acog_upstream_target *target, struct acog_view name,
                          struct acog_view value)
{
    if (target->header_count == ROWS_MAX) {
        return ACOG_TOO_BIG;
    }
    target->headers[target->header_count++] =
        (struct acog_header_row){.name = name, .value = value};
    return ACOG_OK;
}

static void remove_all(struct acog_upstream_target *target, struct acog_view name)
{
    size_t kept = 0;
    for (size_t i = 0; i < target->header_count; i++) {
        if (!acog_view_equal_nocase(target->headers[i].name, name)) {
            target->headers[kept++] = target->headers[i];
        }
    }
    target->header_count = kept;
}

static struct acog_view join(struct acog_arena *arena, const struct acog_view *parts, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        length += parts[i].len;
    }
    char *text = acog_arena_take(arena, length + 1);
    if (text == NULL) {
        return (struct acog_view){0};
    }
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0) {
            memcpy(text + at, parts[i].ptr, parts[i].len);
            at += parts[i].len;
        }
    }
    return (struct acog_view){.ptr = text, .len = length};
}

static struct acog_view base_of(const struct acog_upstream_order *order)
{
    struct acog_view base = order->connection->endpoint.base_path;
    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    return base;
}

static enum acog_code write_path(const struct acog_upstream_order *order, struct acog_arena *arena,
                                 struct acog_upstream_target *target)
{
    const struct acog_view version = ACOG_VIEW("/v1");
    struct acog_view base = base_of(order);
    struct acog_view path = acog_surface_path(order->surface);
    bool base_has_version =
        base.len >= version.len &&
        acog_view_equal(acog_view_slice(base, base.len - version.len, base.len), version);
    if (base_has_version && acog_view_starts(path, version)) {
        path = acog_view_slice(path, version.len, path.len);
    }
    const struct acog_view parts[] = {
        base, path, order->query.len > 0 ? ACOG_VIEW("?") : (struct acog_view){0}, order->query};
    target->target = join(arena, parts, sizeof(parts) / sizeof(parts[0]));
    return target->target.ptr == NULL ? ACOG_NO_MEMORY : ACOG_OK;
}

/* -- Gemini's path --------------------------------------------------------------------------------- */

/* The last segment names a version: "/v1beta", "/v1", "/proxy/v1alpha". */
static bool names_version(struct acog_view base)
{
    size_t at = base.len;
    while (at > 0 && base.ptr[at - 1] != '/') {
        at--;
    }
    return at > 0 && base.len - at >= 2 && base.ptr[at] == 'v' && base.ptr[at + 1] >= '0' &&
           base.ptr[at + 1] <= '9';
}

static bool stands_for_itself(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

/* As one segment of a path, or a piece of one (RFC 3986: all but the unreserved ones). ptr NULL: no memory. */
static struct acog_view encode(struct acog_arena *arena, struct acog_view text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *encoded = acog_arena_take(arena, text.len * 3 + 1);
    size_t length = 0;
    for (size_t i = 0; encoded != NULL && i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (stands_for_itself(text.ptr[i])) {
            encoded[length++] = text.ptr[i];
        } else {
            encoded[length++] = '%';
            encoded[length++] = digits[byte >> 4U];
            encoded[length++] = digits[byte & 0xfU];
        }
    }
    return (struct acog_view){.ptr = encoded, .len = length};
}

/* An id may say its collection, as Google's own lists do: "models/gemini-2.5-flash", "tunedModels/mine". */
static enum acog_code write_gemini_path(const struct acog_upstream_order *order,
                                        struct acog_arena *arena,
                                        struct acog_upstream_target *target)
{
    static const struct acog_view collections[] = {{"models/", 7}, {"tunedModels/", 12}};
    struct acog_view base = base_of(order);
    struct acog_view collection = collections[0];
    struct acog_view model = order->model;
    for (size_t i = 0; i < sizeof(collections) / sizeof(collections[0]); i++) {
        if (acog_view_starts(model, collections[i])) {
            collection = collections[i];
            model = acog_view_slice(model, collection.len, model.len);
            break;
        }
    }
    struct acog_view id = encode(arena, model);
    if (id.ptr == NULL) {
        return ACOG_NO_MEMORY;
    }
    const struct acog_view parts[] = {
        base,
        names_version(base) ? (struct acog_view){0} : ACOG_VIEW("/v1beta"),
        ACOG_VIEW("/"),
        collection,
        id,
        order->stream ? ACOG_VIEW(":streamGenerateContent?alt=sse") : ACOG_VIEW(":generateContent"),
    };
    target->target = join(arena, parts, sizeof(parts) / sizeof(parts[0]));
    return target->target.ptr == NULL ? ACOG_NO_MEMORY : ACOG_OK;
}

/* -- headers --------------------------------------------------------------------------------------- */

static enum acog_code add_key(const struct acog_upstream_order *order, struct acog_arena *arena,
                              struct acog_upstream_target *target)
{
    struct acog_view key = order->connection->key;
    switch (order->dialect) {
    case ACOG_DIALECT_MESSAGES: {
        enum acog_code code = ACOG_OK;
        if (key.len > 0) {
            code = add(target, ACOG_VIEW("x-api-key"), key);
        }
        if (code == ACOG_OK &&
            acog_header_find(target->headers, target->header_count, ACOG_VIEW("anthropic-version"))
                    .ptr == NULL) {
            code = add(target, ACOG_VIEW("anthropic-version"), ACOG_VIEW(ANTHROPIC_VERSION));
        }
        return code;
    }
    case ACOG_DIALECT_GEMINI:
        return key.len > 0 ? add(target, ACOG_VIEW("x-goog-api-key"), key) : ACOG_OK;
    case ACOG_DIALECT_CHAT:
    case ACOG_DIALECT_RESPONSES: {
        if (key.len == 0) {
            return ACOG_OK;
        }
        const struct acog_view parts[] = {ACOG_VIEW("Bearer "), key};
        struct acog_view value = join(arena, parts, sizeof(parts) / sizeof(parts[0]));
        return value.ptr == NULL ? ACOG_NO_MEMORY : add(target, ACOG_VIEW("authorization"), value);
    }
    case ACOG_DIALECT_COUNT:
        break;
    }
    ACOG_UNREACHABLE("an order in no dialect");
}

static enum acog_code add_headers(const struct acog_upstream_order *order, struct acog_arena *arena,
                                  struct acog_upstream_target *target)
{
    const struct acog_connection *connection = order->connection;
    enum acog_code code = ACOG_OK;
    for (size_t i = 0; i < order->header_count && code == ACOG_OK; i++) {
        if (is_from_client(order->headers[i].name)) {
            code = add(target, order->headers[i].name, order->headers[i].value);
        }
    }
    if (code == ACOG_OK) {
        code = add_key(order, arena, target);
    }
    /* All old rows of a name go before the first new one comes, so the configuration may say a name twice. */
    for (size_t i = 0; i < connection->header_count; i++) {
        remove_all(target, connection->headers[i].name);
    }
    for (size_t i = 0; i < connection->header_count && code == ACOG_OK; i++) {
        if (!is_written_here(connection->headers[i].name)) {
            code = add(target, connection->headers[i].name, connection->headers[i].value);
        }
    }
    return code;
}

static enum acog_code direct_target(const struct acog_upstream_order *order,
                                    struct acog_arena *arena, struct acog_upstream_target *target)
{
    enum acog_code code = order->dialect == ACOG_DIALECT_GEMINI
                              ? write_gemini_path(order, arena, target)
                              : write_path(order, arena, target);
    return code == ACOG_OK ? add_headers(order, arena, target) : code;
}

enum acog_code acog_channel_target(const struct acog_upstream_order *order,
                                   struct acog_arena *arena, struct acog_upstream_target *target)
{
    target->header_count = 0;
    target->target = (struct acog_view){0};
    switch (order->connection->channel) {
    case ACOG_CHANNEL_DIRECT:
    case ACOG_CHANNEL_CUSTOM:
        return direct_target(order, arena, target);
    case ACOG_CHANNEL_BEDROCK:
    case ACOG_CHANNEL_VERTEX:
    case ACOG_CHANNEL_AZURE:
        return ACOG_INVALID;
    case ACOG_CHANNEL_COUNT:
        break;
    }
    ACOG_UNREACHABLE("a connection of no channel");
}
