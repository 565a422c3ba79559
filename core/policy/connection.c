/* connection.c - connections and the models they declare. */
#include "compile.h"
#include "frozen.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#define ID_BYTES_MAX     64
#define HEADERS_MAX      32
#define BETAS_MAX        64
#define TAKES_OVER_MAX   32
#define SECRET_BYTES_MAX 8192
#define WEIGHT_MAX       1000000.0

static const struct words channels = WORDS_OF("a channel", CHANNEL);
static const struct words dialects = WORDS_OF("a dialect", DIALECT);

/* -- secrets ---------------------------------------------------------------------------------------- */

/* What may go into a header's value; the value itself is never part of a finding. */
static bool is_header_value(struct acog_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return text.len <= SECRET_BYTES_MAX;
}

static bool read_env(struct reader *reader, int index, struct acog_view *out)
{
    const struct compile_options *options = compile_of(reader)->options;
    const char *name = acog_lua_name(reader->L, index);
    if (options->env == NULL) {
        return false;
    }
    const char *value = options->env(options->env_user, name);
    if (value == NULL || value[0] == '\0') {
        if (options->missing_env_is_warning) {
            reader_warn(reader, "the environment variable %s is not set", name);
        } else {
            reader_error(reader, "the environment variable %s is not set", name);
        }
        return false;
    }
    struct acog_view text = acog_view_of(value);
    if (!is_header_value(text)) {
        reader_error(reader, "the value of %s has control characters or is too long", name);
        return false;
    }
    *out = reader_copy(reader, text);
    return true;
}

/* A text or acog.env. Nothing of a text is repeated in a finding. */
static bool read_secret(struct reader *reader, int index, struct acog_view *out)
{
    struct acog_view text;
    if (acog_lua_is_kind(reader->L, index, "env")) {
        return read_env(reader, index, out);
    }
    if (lua_type(reader->L, index) != LUA_TSTRING) {
        reader_error(reader, "must be acog.env \"NAME\" or a text");
        return false;
    }
    text.ptr = lua_tolstring(reader->L, index, &text.len);
    if (!is_header_value(text)) {
        reader_error(reader, "has control characters or is too long");
        return false;
    }
    *out = reader_copy(reader, text);
    return true;
}

static void read_key(struct reader *reader, int index, void *target)
{
    struct acog_connection *connection = target;
    if (read_secret(reader, index, &connection->key) && lua_type(reader->L, index) == LUA_TSTRING) {
        reader_warn(reader, "stands in the file; acog.env \"NAME\" keeps it out");
    }
}

/* -- lists ------------------------------------------------------------------------------------------ */

static const char *const own_headers[] = {
    "accept-encoding", "anthropic-beta", "authorization", "connection",        "content-length",
    "content-type",    "cookie",         "host",          "transfer-encoding", "x-api-key",
};

static bool is_own_header(struct acog_view name)
{
    for (size_t i = 0; i < sizeof(own_headers) / sizeof(own_headers[0]); i++) {
        if (acog_view_equal(name, acog_view_of(own_headers[i]))) {
            return true;
        }
    }
    return false;
}

static void read_headers(struct reader *reader, int index, void *target)
{
    struct acog_connection *connection = target;
    const struct acog_view *keys = NULL;
    if (!reader_table(reader, index)) {
        return;
    }
    size_t count = reader_keys(reader, index, &keys);
    if (count > HEADERS_MAX) {
        reader_error(reader, "has more than the %d headers that are allowed", HEADERS_MAX);
        return;
    }
    struct acog_header_row *rows = reader_take(reader, (count + 1) * sizeof(*rows));
    connection->headers = rows;
    connection->header_count = count;
    for (size_t i = 0; i < count; i++) {
        size_t mark = reader_enter(reader, "[\"%.*s\"]", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(reader->L, keys[i].ptr, keys[i].len);
        if (reader_token(reader, -1, &rows[i].name) && is_own_header(rows[i].name)) {
            reader_error(reader, "is the gateway's own to set; for a key there is `key`");
        }
        lua_gettable(reader->L, index);
        (void)read_secret(reader, lua_gettop(reader->L), &rows[i].value);
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
}

/* Reads a list of texts; NULL with a finding when it is not one. */
static struct acog_view *read_texts(struct reader *reader, int index, int max, size_t *count)
{
    int items = reader_list(reader, index, max);
    if (items < 0) {
        return NULL;
    }
    struct acog_view *list = reader_take(reader, ((size_t)items + 1) * sizeof(*list));
    for (int i = 1; i <= items; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(reader->L, index, i);
        (void)reader_text(reader, -1, &list[i - 1]);
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    *count = (size_t)items;
    return list;
}

static void read_betas(struct reader *reader, int index, void *target)
{
    struct acog_connection *connection = target;
    connection->betas = read_texts(reader, index, BETAS_MAX, &connection->beta_count);
}

/* "refusal:Self-Harm" names the category "self_harm" (G1.4). */
static struct acog_view category_of(struct reader *reader, struct acog_view text)
{
    char *category = reader_take(reader, text.len + 1);
    struct acog_view lower = reader_copy_lower(reader, text);
    for (size_t i = 0; i < lower.len; i++) {
        category[i] = lower.ptr[i];
        if (category[i] == '-' || category[i] == ' ') {
            category[i] = '_';
        }
    }
    return (struct acog_view){.ptr = category, .len = lower.len};
}

static void read_takes_over(struct reader *reader, int index, void *target)
{
    struct acog_connection *connection = target;
    size_t count = 0;
    const struct acog_view *texts = read_texts(reader, index, TAKES_OVER_MAX, &count);
    if (texts == NULL) {
        return;
    }
    struct acog_takes_over *rows = reader_take(reader, (count + 1) * sizeof(*rows));
    for (size_t i = 0; i < count; i++) {
        size_t colon = acog_view_find(texts[i], ACOG_VIEW(":"));
        rows[i].name = acog_view_slice(texts[i], 0, colon);
        rows[i].category = category_of(reader, acog_view_slice(texts[i], colon + 1, texts[i].len));
    }
    connection->takes_over = rows;
    connection->takes_over_count = count;
}

/* true, false, { false, "reason" }, or a function that is asked for each request. */
static void read_usable(struct reader *reader, int index, void *target)
{
    struct acog_connection *connection = target;
    lua_State *L = reader->L;
    if (lua_type(L, index) == LUA_TFUNCTION) {
        char name[ID_BYTES_MAX + 32];
        (void)snprintf(name, sizeof(name), "connection \"%.*s\": usable",
                       ACOG_VIEW_FMT(connection->id));
        connection->usable = ACOG_USABLE_FUNCTION;
        connection->usable_slot = compile_slot(compile_of(reader), index, ACOG_SLOT_USABLE, name);
        return;
    }
    bool usable = true;
    if (lua_type(L, index) == LUA_TTABLE) {
        if (reader_list(reader, index, 2) < 0) {
            return;
        }
        lua_geti(L, index, 2);
        if (!lua_isnil(L, -1)) {
            (void)reader_text(reader, -1, &connection->usable_reason);
        }
        lua_geti(L, index, 1);
        (void)reader_flag(reader, -1, &usable);
        lua_pop(L, 2);
    } else if (!reader_flag(reader, index, &usable)) {
        return;
    }
    connection->usable = usable ? ACOG_USABLE_YES : ACOG_USABLE_NO;
    if (!usable && connection->usable_reason.len == 0) {
        connection->usable_reason = acog_view_of("usable = false");
    }
}

/* Labels stay in Lua, for the policy's functions; here they are only checked. */
static void check_labels(struct reader *reader, int index, void *target)
{
    const struct acog_view *keys = NULL;
    (void)target;
    if (!reader_table(reader, index)) {
        return;
    }
    size_t count = reader_keys(reader, index, &keys);
    for (size_t i = 0; i < count; i++) {
        lua_pushlstring(reader->L, keys[i].ptr, keys[i].len);
        int type = lua_gettable(reader->L, index);
        if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN) {
            reader_error(reader, "%.*s: must be a text, a number, true or false",
                         ACOG_VIEW_FMT(keys[i]));
        }
        lua_pop(reader->L, 1);
    }
}

static void read_proxy(struct reader *reader, int index, void *target)
{
    struct acog_view *proxy = &((struct acog_connection *)target)->endpoint.proxy;
    if (reader_text(reader, index, proxy) && !acog_view_starts(*proxy, ACOG_VIEW("http://")) &&
        !acog_view_starts(*proxy, ACOG_VIEW("https://"))) {
        reader_error(reader, "must be http://HOST:PORT or https://HOST:PORT");
    }
}

/* -- a connection ----------------------------------------------------------------------------------- */

#define CONNECTION(member) offsetof(struct acog_connection, member)

static const struct field tls_fields[] = {
    {.name = "minimum",
     .kind = ACOG_FIELD_WORD,
     .offset = CONNECTION(endpoint.tls_minimum),
     .words = &tls_minimums},
};

static const struct field connection_fields[] = {
    {.name = "channel", .kind = ACOG_FIELD_WORD, .offset = CONNECTION(channel), .words = &channels},
    {.name = "dialects",
     .kind = ACOG_FIELD_WORDS,
     .offset = CONNECTION(dialects),
     .words = &dialects},
    {.name = "maker", .kind = ACOG_FIELD_TEXT, .offset = CONNECTION(maker)},
    {.name = "region", .kind = ACOG_FIELD_TEXT, .offset = CONNECTION(region)},
    {.name = "project", .kind = ACOG_FIELD_ELSEWHERE},
    {.name = "default", .kind = ACOG_FIELD_FLAG, .offset = CONNECTION(is_default)},
    {.name = "slow", .kind = ACOG_FIELD_FLAG, .offset = CONNECTION(slow)},
    {.name = "aggregator", .kind = ACOG_FIELD_FLAG, .offset = CONNECTION(aggregator)},
    {.name = "weight",
     .kind = ACOG_FIELD_COUNT,
     .offset = CONNECTION(weight),
     .min = 1,
     .max = WEIGHT_MAX},
    {.name = "priority",
     .kind = ACOG_FIELD_INTEGER,
     .offset = CONNECTION(priority),
     .min = -1000000,
     .max = 1000000},
    {.name = "usable", .kind = ACOG_FIELD_CUSTOM, .read = read_usable},
    {.name = "reserved_for", .kind = ACOG_FIELD_TEXT, .offset = CONNECTION(reserved_for)},
    {.name = "takes_over", .kind = ACOG_FIELD_CUSTOM, .read = read_takes_over},
    {.name = "base_url", .kind = ACOG_FIELD_CUSTOM, .read = compile_base_url},
    {.name = "key", .kind = ACOG_FIELD_CUSTOM, .read = read_key},
    {.name = "headers", .kind = ACOG_FIELD_CUSTOM, .read = read_headers},
    {.name = "betas", .kind = ACOG_FIELD_CUSTOM, .read = read_betas},
    {.name = "proxy", .kind = ACOG_FIELD_CUSTOM, .read = read_proxy},
    {.name = "ca_file", .kind = ACOG_FIELD_TEXT, .offset = CONNECTION(endpoint.ca_file)},
    {.name = "client_certificate_file",
     .kind = ACOG_FIELD_TEXT,
     .offset = CONNECTION(endpoint.client_certificate_file)},
    {.name = "client_key_file",
     .kind = ACOG_FIELD_TEXT,
     .offset = CONNECTION(endpoint.client_key_file)},
    {.name = "tls",
     .kind = ACOG_FIELD_GROUP,
     .group = tls_fields,
     .group_count = FIELD_COUNT_OF(tls_fields)},
    {.name = "labels", .kind = ACOG_FIELD_CUSTOM, .read = check_labels},
    {.name = "models", .kind = ACOG_FIELD_CUSTOM, .read = compile_models},
    {.name = "simulate", .kind = ACOG_FIELD_CUSTOM, .read = compile_simulate},
};

/* -- what a connection does not say ------------------------------------------------------------------ */

/* The makers whose own API `direct` reaches without an address. */
static const struct direct_maker {
    const char *maker;
    const char *host;
    const char *base_path;
    unsigned dialects;
    bool only; /* it speaks others too, but not at that path */
} direct_makers[] = {
    {"anthropic", "api.anthropic.com", "", ACOG_BIT(ACOG_DIALECT_MESSAGES), false},
    {"openai", "api.openai.com", "/v1",
     ACOG_BIT(ACOG_DIALECT_CHAT) | ACOG_BIT(ACOG_DIALECT_RESPONSES), false},
    {"google", "generativelanguage.googleapis.com", "/v1beta", ACOG_BIT(ACOG_DIALECT_GEMINI), true},
};

/* The row that maker, address or (for a real connection without an address) dialects point at, or NULL. */
static const struct direct_maker *find_direct_maker(const struct acog_connection *connection,
                                                    bool by_dialects)
{
    bool bare = by_dialects && connection->maker.len == 0 && connection->endpoint.host.len == 0 &&
                connection->dialects != 0;
    for (size_t i = 0; i < sizeof(direct_makers) / sizeof(direct_makers[0]); i++) {
        const struct direct_maker *row = &direct_makers[i];
        if (acog_view_equal(connection->maker, acog_view_of(row->maker)) ||
            acog_view_equal(connection->endpoint.host, acog_view_of(row->host)) ||
            (bare && (connection->dialects & ~row->dialects) == 0)) {
            return row;
        }
    }
    return NULL;
}

static bool is_platform(enum acog_channel channel)
{
    return channel == ACOG_CHANNEL_BEDROCK || channel == ACOG_CHANNEL_VERTEX ||
           channel == ACOG_CHANNEL_AZURE;
}

static bool has_field(struct reader *reader, int index, const char *name)
{
    bool has = lua_getfield(reader->L, index, name) != LUA_TNIL;
    lua_pop(reader->L, 1);
    return has;
}

static void complete_address(struct reader *reader, int index, struct acog_connection *connection,
                             const struct direct_maker *row)
{
    if (connection->endpoint.host.len > 0 || has_field(reader, index, "base_url")) {
        return;
    }
    if (connection->channel != ACOG_CHANNEL_DIRECT || row == NULL) {
        if (connection->dialects == 0 && has_field(reader, index, "dialects")) {
            return; /* they could not be read, and they might have told the address */
        }
        reader_error(
            reader,
            "needs base_url, such as \"https://models.example/v1\"; maker = \"anthropic\", "
            "\"openai\" or \"google\" alone is their own API, and simulate = true plays one");
        return;
    }
    if (row->only && (connection->dialects & ~row->dialects) != 0) {
        reader_error(reader, "needs base_url: at its own address %s speaks only gemini",
                     row->maker);
        return;
    }
    connection->endpoint.tls = true;
    connection->endpoint.port = 443;
    connection->endpoint.host = acog_view_of(row->host);
    connection->endpoint.base_path = acog_view_of(row->base_path);
    if (!has_field(reader, index, "key")) {
        reader_warn(reader, "has no key, and %s wants one", row->host);
    }
}

/* Fills in maker, dialects and address where the connection says nothing. */
static void complete(struct reader *reader, int index, struct acog_connection *connection)
{
    struct compile *compile = compile_of(reader);
    bool dialled = connection->simulate == NULL && !compile->options->offline;
    if (dialled && is_platform(connection->channel)) {
        reader_error(reader, "channel \"%.*s\" comes in a later version; use simulate",
                     ACOG_VIEW_FMT(acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel)));
        return;
    }
    const struct direct_maker *row =
        find_direct_maker(connection, dialled && connection->channel == ACOG_CHANNEL_DIRECT);
    if (row != NULL && connection->maker.len == 0) {
        connection->maker = acog_view_of(row->maker);
    }
    if (connection->dialects == 0 && row != NULL && connection->channel == ACOG_CHANNEL_DIRECT) {
        connection->dialects = row->dialects;
    }
    if (dialled) {
        size_t errors = reader->report->errors;
        complete_address(reader, index, connection, row);
        if (connection->dialects == 0 && reader->report->errors == errors &&
            !has_field(reader, index, "dialects")) {
            reader_error(reader, "needs dialects: which APIs it speaks, such as { \"chat\" }");
        }
    } else if (connection->dialects == 0) {
        connection->dialects = ACOG_BIT(ACOG_DIALECT_CHAT) | ACOG_BIT(ACOG_DIALECT_MESSAGES) |
                               ACOG_BIT(ACOG_DIALECT_RESPONSES);
    }
    if (dialled) {
        compile_check_files(compile, &connection->endpoint);
    }
    compile_pool_key(compile, &connection->endpoint);
}

/* What is set but can do nothing. */
static void warn_of_no_effect(struct reader *reader, int index,
                              const struct acog_connection *connection)
{
    static const char *const for_dialling[] = {
        "base_url", "proxy", "ca_file", "client_key_file", "client_certificate_file", "tls"};
    for (size_t i = 0; connection->simulate != NULL && i < FIELD_COUNT_OF(for_dialling); i++) {
        if (has_field(reader, index, for_dialling[i])) {
            reader_warn(reader, "%s has no effect beside simulate", for_dialling[i]);
        }
    }
    if (has_field(reader, index, "project") && connection->channel != ACOG_CHANNEL_VERTEX) {
        reader_warn(reader, "project has an effect on channel vertex only");
    }
    bool certificate = connection->endpoint.client_certificate_file.len > 0;
    bool key = connection->endpoint.client_key_file.len > 0;
    if (certificate != key) {
        reader_error(reader, "client_certificate_file and client_key_file belong together");
    }
    if (!connection->endpoint.tls && certificate) {
        reader_warn(reader, "a client certificate has an effect on https only");
    }
    if (!connection->endpoint.tls && connection->endpoint.tls_minimum != ACOG_TLS_1_2) {
        reader_warn(reader, "tls.minimum has an effect on https only");
    }
}

/* -- all connections -------------------------------------------------------------------------------- */

static void check_id(struct compile *compile, struct acog_view id)
{
    struct reader *reader = &compile->reader;
    if (!compile_id_is_sane(id, ID_BYTES_MAX)) {
        reader_error(reader, "an id has 1 to %d bytes of UTF-8 and no spaces", ID_BYTES_MAX);
    }
    for (size_t i = 0; i < compile->connection; i++) {
        if (acog_view_equal(compile->connections[i].id, id)) {
            reader_error(reader, "is declared twice; the first is at %s", compile->places[i]);
            return;
        }
    }
}

static void take_spread_cell(struct compile *compile, struct acog_connection *connection)
{
    connection->spread_cell = ACOG_NO_CELL;
    if (compile->shared != NULL &&
        acog_shared_spread(compile->shared, connection->id, &connection->spread_cell) != ACOG_OK) {
        reader_error(&compile->reader,
                     "no room for its counters: more than %d connections since the "
                     "start",
                     ACOG_SHARED_CELLS_MAX);
    }
}

static void compile_connection(struct compile *compile, int index)
{
    struct reader *reader = &compile->reader;
    struct acog_connection *connection = &compile->connections[compile->connection];
    const char *id = acog_lua_name(reader->L, index);
    const char *place = acog_lua_place(reader->L, index);
    *connection = (struct acog_connection){.weight = 1, .usable_slot = ACOG_NO_SLOT};
    connection->id = reader_copy(reader, acog_view_of(id));
    compile->places[compile->connection] = reader_copy(reader, acog_view_of(place)).ptr;
    reader_root(reader, place, "connection \"%s\"", id);
    check_id(compile, connection->id);
    size_t before = compile->candidate_count;
    size_t errors = reader->report->errors;
    reader_fields(reader, index, connection_fields, FIELD_COUNT_OF(connection_fields), connection);
    complete(reader, index, connection);
    compile_model_rules(compile, before);
    warn_of_no_effect(reader, index, connection);
    if (compile->candidate_count == before && reader->report->errors == errors) {
        reader_error(reader, "declares no model: models = { \"…\" }");
    }
    take_spread_cell(compile, connection);
    lua_pushvalue(reader->L, index);
    lua_rawseti(reader->L, compile->objects, compile->connection + 1);
}

void compile_connections(struct compile *compile, int index)
{
    struct reader *reader = &compile->reader;
    lua_State *L = reader->L;
    int count = reader_list(reader, index, CONNECTIONS_MAX);
    if (count == 0) {
        reader_error(reader, "needs at least one acog.connection");
    }
    if (count <= 0) {
        return;
    }
    compile->connections = reader_take(reader, (size_t)count * sizeof(*compile->connections));
    compile->places = reader_take(reader, (size_t)count * sizeof(*compile->places));
    compile->snapshot->connections = compile->connections;
    char gateway_place[sizeof(reader->place)];
    memcpy(gateway_place, reader->place, sizeof(gateway_place));
    for (int i = 1; i <= count; i++) {
        lua_geti(L, index, i);
        if (acog_lua_is_kind(L, -1, "connection")) {
            compile_connection(compile, lua_gettop(L));
            compile->connection++;
            compile->connection_count++;
            compile->snapshot->connection_count = compile->connection_count;
        } else {
            reader_root(reader, gateway_place, "gateway");
            size_t mark = reader_enter(reader, "connections[%d]", i);
            reader_error(reader, "must be acog.connection \"id\" { … }");
            reader_leave(reader, mark);
        }
        lua_pop(L, 1);
    }
    reader_root(reader, gateway_place, "gateway");
}

const struct record connection_record = {"connection", connection_fields,
                                         FIELD_COUNT_OF(connection_fields)};
