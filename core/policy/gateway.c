/* gateway.c - the top level of a configuration. */
#include "acog/contract.h"
#include "compile.h"
#include "frozen.h"
#include "sandbox.h"

#include <stddef.h>
#include <string.h>

#include <lauxlib.h>

#define WORKERS_MAX        256
#define CLIENT_HEADERS_MAX 64
#define BYTES_MAX          1099511627776.0 /* 1 TB: a limit must be a limit */
#define MS_MAX             86400000.0

#define LIMIT(member) offsetof(struct acog_limits, member)

static const struct field limit_fields[] = {
    {.name = "head_bytes",
     .kind = ACOG_FIELD_SIZE,
     .offset = LIMIT(head_bytes),
     .min = 1024,
     .max = 16777216},
    {.name = "headers", .kind = ACOG_FIELD_SIZE, .offset = LIMIT(headers), .min = 1, .max = 10000},
    {.name = "body_bytes",
     .kind = ACOG_FIELD_SIZE,
     .offset = LIMIT(body_bytes),
     .min = 1,
     .max = BYTES_MAX},
    {.name = "json_depth",
     .kind = ACOG_FIELD_SIZE,
     .offset = LIMIT(json_depth),
     .min = 1,
     .max = 1000},
    {.name = "event_bytes",
     .kind = ACOG_FIELD_SIZE,
     .offset = LIMIT(event_bytes),
     .min = 1024,
     .max = BYTES_MAX},
    {.name = "answer_bytes",
     .kind = ACOG_FIELD_SIZE,
     .offset = LIMIT(answer_bytes),
     .min = 1024,
     .max = BYTES_MAX},
    {.name = "connections",
     .kind = ACOG_FIELD_SIZE,
     .offset = LIMIT(connections),
     .min = 1,
     .max = 10000000},
    {.name = "pool_idle", .kind = ACOG_FIELD_SIZE, .offset = LIMIT(pool_idle), .max = 100000},
    {.name = "records", .kind = ACOG_FIELD_SIZE, .offset = LIMIT(records), .max = 1000000},
    {.name = "keep_alive_ms",
     .kind = ACOG_FIELD_MILLISECONDS,
     .offset = LIMIT(keep_alive_ms),
     .min = 1,
     .max = MS_MAX},
    {.name = "head_ms",
     .kind = ACOG_FIELD_MILLISECONDS,
     .offset = LIMIT(head_ms),
     .min = 1,
     .max = MS_MAX},
    {.name = "body_ms",
     .kind = ACOG_FIELD_MILLISECONDS,
     .offset = LIMIT(body_ms),
     .min = 1,
     .max = MS_MAX},
    {.name = "drain_ms", .kind = ACOG_FIELD_MILLISECONDS, .offset = LIMIT(drain_ms), .max = MS_MAX},
    {.name = "write_high_bytes",
     .kind = ACOG_FIELD_SIZE,
     .offset = LIMIT(write_high_bytes),
     .min = 4096,
     .max = BYTES_MAX},
};

/* DESIGN, "Defaults of caps". */
static const struct acog_limits default_limits = {
    .head_bytes = (size_t)64 * 1024,
    .headers = 100,
    .body_bytes = (size_t)32 * 1024 * 1024,
    .json_depth = 128,
    .event_bytes = (size_t)8 * 1024 * 1024,
    .answer_bytes = (size_t)64 * 1024 * 1024,
    .connections = 10000,
    .pool_idle = 64,
    .records = 1000,
    .keep_alive_ms = 75000,
    .head_ms = 10000,
    .body_ms = 60000,
    .drain_ms = 30000,
    .write_high_bytes = (size_t)256 * 1024,
};

static void read_listen(struct reader *reader, int index, void *target)
{
    struct acog_listener *listener = &((struct acog_snapshot *)target)->listen;
    if (compile_listener(reader, index, listener) && !listener_is_private(listener)) {
        reader_error(reader, "without gateway keys everybody may use it, so only loopback "
                             "(127.0.0.1, [::1]) or a unix socket may be listened on, or any "
                             "address with client_certificates = \"required\"");
    }
}

/* Port 0 is never the same: the system picks two. */
static bool is_same_place(const struct acog_listener *one, const struct acog_listener *other)
{
    return acog_view_equal(one->unix_socket, other->unix_socket) &&
           acog_view_equal(one->host, other->host) && one->port == other->port &&
           (one->port != 0 || one->unix_socket.len > 0);
}

static void read_admin(struct reader *reader, int index, void *target)
{
    struct acog_snapshot *snapshot = target;
    if (lua_type(reader->L, index) == LUA_TBOOLEAN && lua_toboolean(reader->L, index) == 0) {
        return;
    }
    snapshot->has_admin = compile_listener(reader, index, &snapshot->admin);
    if (snapshot->has_admin && !listener_is_private(&snapshot->admin)) {
        reader_error(reader,
                     "has no keys, so only loopback or a unix socket may be listened on, or "
                     "any address with client_certificates = \"required\"");
    }
}

static void read_limits(struct reader *reader, int index, void *target)
{
    reader_fields(reader, index, limit_fields, FIELD_COUNT_OF(limit_fields),
                  &((struct acog_snapshot *)target)->limits);
}

bool compile_header_tells_no_secret(struct reader *reader, struct acog_view name)
{
    static const char *const secret[] = {"authorization", "cookie", "proxy-authorization",
                                         "x-api-key"};
    for (size_t i = 0; i < FIELD_COUNT_OF(secret); i++) {
        if (acog_view_equal(name, acog_view_of(secret[i]))) {
            reader_error(reader, "\"%s\" may hold a secret; a policy never sees it", secret[i]);
            return false;
        }
    }
    return true;
}

static void read_client_headers(struct reader *reader, int index, void *target)
{
    struct acog_snapshot *snapshot = target;
    int count = reader_list(reader, index, CLIENT_HEADERS_MAX);
    if (count < 0) {
        return;
    }
    struct acog_view *names = reader_take(reader, ((size_t)count + 1) * sizeof(*names));
    for (int i = 1; i <= count; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(reader->L, index, i);
        if (reader_token(reader, -1, &names[i - 1])) {
            (void)compile_header_tells_no_secret(reader, names[i - 1]);
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    snapshot->client_headers = names;
    snapshot->client_header_count = (size_t)count;
}

static void read_connections(struct reader *reader, int index, void *target)
{
    (void)target;
    compile_connections(compile_of(reader), index);
}

#define SNAPSHOT(member) offsetof(struct acog_snapshot, member)

static const struct field gateway_fields[] = {
    {.name = "listen", .kind = ACOG_FIELD_CUSTOM, .read = read_listen},
    {.name = "admin", .kind = ACOG_FIELD_CUSTOM, .read = read_admin},
    {.name = "workers", .kind = ACOG_FIELD_COUNT, .offset = SNAPSHOT(workers), .max = WORKERS_MAX},
    {.name = "limits", .kind = ACOG_FIELD_CUSTOM, .read = read_limits},
    {.name = "client_headers", .kind = ACOG_FIELD_CUSTOM, .read = read_client_headers},
    {.name = "connections", .kind = ACOG_FIELD_CUSTOM, .read = read_connections},
    {.name = "policy", .kind = ACOG_FIELD_ELSEWHERE},
};

const struct record gateway_records[] = {
    {"gateway", gateway_fields, FIELD_COUNT_OF(gateway_fields)},
    {"limits", limit_fields, FIELD_COUNT_OF(limit_fields)},
    {NULL, NULL, 0},
};

uint16_t compile_slot(struct compile *compile, int index, enum acog_slot_kind kind,
                      const char *name)
{
    struct reader *reader = &compile->reader;
    if (compile->slot_count == SLOTS_MAX) {
        reader_error(reader, "is one function more than the %d of a configuration", SLOTS_MAX);
        return ACOG_NO_SLOT;
    }
    lua_pushvalue(reader->L, index);
    compile->slots[compile->slot_count] =
        (struct loaded_slot){.kind = kind, .name = reader_copy(reader, acog_view_of(name))};
    compile->slot_count++;
    lua_rawseti(reader->L, compile->functions, (lua_Integer)compile->slot_count);
    return (uint16_t)(compile->slot_count - 1);
}

/* Pushes the gateway's policy, which is policies.acog when it names none. False with a finding: it is no policy. */
static bool push_policy(struct compile *compile, int gateway)
{
    struct reader *reader = &compile->reader;
    lua_State *L = reader->L;
    if (lua_getfield(L, gateway, "policy") == LUA_TNIL) {
        lua_pop(L, 1);
        lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
        lua_getfield(L, -1, "require");
        lua_remove(L, -2);
        lua_pushliteral(L, "policies.acog");
        if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
            reader_error(reader, "%s", lua_tostring(L, -1));
            return false;
        }
    }
    if (!acog_lua_is_kind(L, -1, "policy")) {
        size_t mark = reader_enter(reader, "policy");
        reader_error(reader, "must be acog.policy { … }, or require \"policies.acog\"");
        reader_leave(reader, mark);
        return false;
    }
    return true;
}

static void set_fingerprint(struct compile *compile)
{
    uint64_t hash = LOADED_HASH_START;
    for (size_t i = 0; i < compile->slot_count; i++) {
        hash = loaded_hash(hash, compile->slots[i].name);
    }
    for (size_t i = 0; i < compile->connection_count; i++) {
        hash = loaded_hash(hash, compile->connections[i].id);
    }
    for (size_t i = 0; i < compile->candidate_count; i++) {
        hash = loaded_hash(hash, compile->candidates[i].declared);
    }
    compile->loaded->fingerprint = hash;
}

void compile_gateway(struct compile *compile, int index)
{
    struct reader *reader = &compile->reader;
    lua_State *L = reader->L;
    struct acog_snapshot *snapshot = compile->snapshot;
    compile->slots = reader_take(reader, SLOTS_MAX * sizeof(*compile->slots));
    snapshot->limits = default_limits;
    snapshot->listen = (struct acog_listener){.host = acog_view_of("127.0.0.1"), .port = 4000};
    if (!acog_lua_is_kind(L, index, "gateway")) {
        const char *kind = acog_lua_kind(L, index);
        if (lua_isnil(L, index)) {
            reader_error(reader, "must return acog.gateway { … }, and returns nothing");
        } else {
            reader_error(reader, "must return acog.gateway { … }, not a %s%s",
                         kind == NULL ? "" : "acog.",
                         kind == NULL ? luaL_typename(L, index) : kind);
        }
        return;
    }
    reader_root(reader, acog_lua_place(L, index), "gateway");
    reader_fields(reader, index, gateway_fields, FIELD_COUNT_OF(gateway_fields), snapshot);
    if (snapshot->has_admin && is_same_place(&snapshot->listen, &snapshot->admin)) {
        reader_error(reader, "admin: is the same address as listen");
    }
    if (compile->connections == NULL && lua_getfield(L, index, "connections") == LUA_TNIL) {
        reader_error(reader, "needs connections = { acog.connection \"…\" { … } }");
    }
    if (push_policy(compile, index)) {
        compile_policy(compile, lua_gettop(L));
        compile_candidates(compile);
        compile_checks(compile);
    }
    compile->loaded->slots = compile->slots;
    compile->loaded->slot_count = compile->slot_count;
    compile->loaded->contexts = compile->contexts;
    snapshot->candidates = compile->candidates;
    snapshot->candidate_count = compile->candidate_count;
    set_fingerprint(compile);
}
