/* lua_gateway.c - gateways, their upstreams and the requests under way, as a test sees them.
 *
 * A gateway is a userdata that owns a world. The end of its test closes it, whatever the test still holds: an upstream
 * or a handle of a closed gateway is an error to use, not a danger.
 */
#include "frozen.h"
#include "lua_json.h"
#include "sandbox.h"
#include "suite.h"

#include <ctype.h>
#include <string.h>

#include <lauxlib.h>

#define GATEWAY_TYPE      "acog.test.gateway"
#define UPSTREAM_TYPE     "acog.test.upstream"
#define HANDLE_TYPE       "acog.test.handle"
#define SCRIPTS_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define REPLIES_MAX       10000 /* in one script */
#define HEADERS_MAX       200   /* of a request */
#define SECONDS_MAX       1e9

struct gateway {
    struct acog_world *world;        /* NULL: closed, or not opened */
    struct acog_arena scripts;       /* replies, for as long as the gateway is open */
    struct acog_report report;       /* of the load */
    struct acog_policy_state *state; /* these three on their way into the world */
    struct acog_shared *shared;
    struct acog_snapshot *snapshot;
};

struct upstream { /* user value 1: the gateway */
    struct gateway *gateway;
    size_t connection;
};

struct handle { /* user value 1: the gateway */
    struct gateway *gateway;
    struct acog_sim_client *client; /* NULL: released */
};

static const char open_gateways_key; /* in the registry: the list of them */

/* -- life ------------------------------------------------------------------------------------------- */

static void close_gateway(struct gateway *gateway)
{
    acog_world_free(&gateway->world);
    acog_policy_state_free(&gateway->state);
    if (gateway->snapshot != NULL) {
        acog_snapshot_unref(&gateway->snapshot);
    }
    acog_shared_free(&gateway->shared);
    acog_report_fini(&gateway->report);
    acog_arena_fini(&gateway->scripts);
}

static int collect_gateway(lua_State *L)
{
    close_gateway(luaL_checkudata(L, 1, GATEWAY_TYPE));
    return 0;
}

void acog_lua_close_gateways(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &open_gateways_key) == LUA_TTABLE) {
        for (lua_Unsigned i = lua_rawlen(L, -1); i > 0; i--) {
            lua_rawgeti(L, -1, (lua_Integer)i);
            close_gateway(lua_touserdata(L, -1));
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &open_gateways_key);
}

const struct acog_world *acog_lua_last_world(lua_State *L)
{
    const struct acog_world *last = NULL;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &open_gateways_key) == LUA_TTABLE) {
        for (lua_Unsigned i = 1; i <= lua_rawlen(L, -1); i++) {
            lua_rawgeti(L, -1, (lua_Integer)i);
            const struct gateway *gateway = lua_touserdata(L, -1);
            if (gateway->world != NULL && acog_world_last_client(gateway->world) != NULL) {
                last = gateway->world;
            }
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    return last;
}

/* The gateway is on top and stays there. */
static void remember_gateway(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &open_gateways_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &open_gateways_key);
    }
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
}

static struct acog_world *world_of(lua_State *L, const struct gateway *gateway)
{
    if (gateway->world == NULL) {
        luaL_error(L, "the test of this gateway is over");
    }
    return gateway->world;
}

/* -- loading ---------------------------------------------------------------------------------------- */

/* Raises what the load found. */
static int raise_findings(lua_State *L, const struct acog_report *report)
{
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    luaL_addstring(&text, "the configuration cannot be loaded");
    for (size_t i = 0; i < report->count; i++) {
        if (report->findings[i].level == ACOG_FINDING_ERROR) {
            luaL_addstring(&text, "\n");
            luaL_addlstring(&text, report->findings[i].text.ptr, report->findings[i].text.len);
        }
    }
    luaL_pushresult(&text);
    return lua_error(L);
}

/* A test says nothing secret and must not depend on who runs it. */
static const char *no_environment(void *user, const char *name)
{
    (void)user;
    (void)name;
    return NULL;
}

/* Pushes the path of a file beside the test file. */
static const char *push_path_beside(lua_State *L, const char *name)
{
    const char *path = acog_suite_of(L)->path;
    const char *slash = strrchr(path, '/');
    if (name[0] == '/' || slash == NULL) {
        return lua_pushstring(L, name);
    }
    lua_pushlstring(L, path, (size_t)(slash - path) + 1);
    lua_pushstring(L, name);
    lua_concat(L, 2);
    return lua_tostring(L, -1);
}

static void load_file(lua_State *L, struct gateway *gateway, const char *path)
{
    struct acog_error error = {0};
    struct acog_policy_options options = {
        .path = path, .env = no_environment, .missing_env_is_warning = true, .offline = true};
    if (acog_policy_load(&options, gateway->shared, &gateway->snapshot, &gateway->report) !=
        ACOG_OK) {
        raise_findings(L, &gateway->report);
    }
    gateway->state = acog_policy_state_new(gateway->snapshot, &error);
    if (gateway->state == NULL) {
        luaL_error(L, "%s", error.text);
    }
}

/* From what acog.gateway returned, or from a plain table of its fields. */
static void load_table(lua_State *L, struct gateway *gateway, int table)
{
    struct acog_error error = {0};
    if (!acog_lua_is_kind(L, table, "gateway")) {
        acog_lua_push_place(L, 0);
        acog_lua_object(L, table, "gateway", lua_tostring(L, -1), NULL, 0);
        lua_replace(L, table);
        lua_pop(L, 1);
    }
    if (acog_policy_load_table(L, table, acog_suite_of(L)->path, gateway->shared,
                               &gateway->snapshot, &gateway->report) != ACOG_OK) {
        raise_findings(L, &gateway->report);
    }
    gateway->state = acog_policy_state_in(L, gateway->snapshot, &error);
    if (gateway->state == NULL) {
        luaL_error(L, "%s", error.text);
    }
}

/* -- upstreams -------------------------------------------------------------------------------------- */

static struct acog_sim_upstream *check_upstream(lua_State *L)
{
    const struct upstream *upstream = luaL_checkudata(L, 1, UPSTREAM_TYPE);
    return acog_world_upstream(world_of(L, upstream->gateway), upstream->connection);
}

static void read_reply(lua_State *L, int index, struct acog_arena *arena,
                       struct acog_provider_reply *reply)
{
    struct acog_error error = {0};
    if (lua_type(L, index) != LUA_TTABLE) {
        luaL_error(L, "answers: a reply is a table of words, not a %s", luaL_typename(L, index));
    }
    if (acog_policy_read_reply(L, index, arena, reply, &error) != ACOG_OK) {
        luaL_error(L, "answers: %s", error.text);
    }
}

static bool field_is_true(lua_State *L, int table, const char *field)
{
    lua_getfield(L, table, field);
    bool value = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
    return value;
}

/* upstream:answers(reply) or (list of replies) or { replies = list, cycle = true } -> upstream
 * [-0, +1], may raise: argument */
static int upstream_answers(lua_State *L)
{
    struct acog_sim_upstream *upstream = check_upstream(L);
    struct acog_arena *arena = &((struct upstream *)lua_touserdata(L, 1))->gateway->scripts;
    luaL_checktype(L, 2, LUA_TTABLE);
    bool cycle = false;
    if (lua_getfield(L, 2, "replies") == LUA_TTABLE) {
        cycle = field_is_true(L, 2, "cycle");
        lua_replace(L, 2);
    }
    lua_settop(L, 2);
    lua_Integer listed = luaL_len(L, 2);
    luaL_argcheck(L, listed <= REPLIES_MAX, 2, "too many replies");
    size_t count = listed == 0 ? 1 : (size_t)listed;
    struct acog_provider_reply *replies = acog_arena_take(arena, count * sizeof(replies[0]));
    if (replies == NULL) {
        return luaL_error(L, "answers: too many replies for one gateway");
    }
    if (listed == 0) {
        read_reply(L, 2, arena, &replies[0]);
    }
    for (lua_Integer i = 1; i <= listed; i++) {
        lua_geti(L, 2, i);
        read_reply(L, lua_gettop(L), arena, &replies[i - 1]);
        lua_pop(L, 1);
    }
    struct acog_provider_script script = {.replies = replies, .reply_count = count, .cycle = cycle};
    acog_sim_upstream_answers(upstream, &script);
    lua_settop(L, 1);
    return 1;
}

static void push_received(lua_State *L, const struct acog_received *received)
{
    lua_createtable(L, 0, 8);
    acog_lua_push_view(L, acog_name(ACOG_VOCABULARY_SURFACE, (int)received->surface));
    lua_setfield(L, -2, "surface");
    acog_lua_push_view(L, received->model);
    lua_setfield(L, -2, "model");
    acog_lua_push_view(L, received->query);
    lua_setfield(L, -2, "query");
    lua_pushboolean(L, received->stream ? 1 : 0);
    lua_setfield(L, -2, "stream");
    acog_lua_push_headers(L, received->headers, received->header_count);
    lua_setfield(L, -2, "header");
    acog_lua_push_view(L, received->body);
    lua_setfield(L, -2, "text");
    if (acog_lua_push_json(L, received->body)) {
        lua_setfield(L, -2, "body");
    }
    lua_pushinteger(L, received->at_ms);
    lua_setfield(L, -2, "at_ms");
}

static void push_requests(lua_State *L, const struct acog_sim_upstream *upstream)
{
    lua_createtable(L, (int)upstream->received_count, 0);
    for (size_t i = 0; i < upstream->received_count; i++) {
        push_received(L, acog_sim_upstream_received(upstream, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* upstream.answers, .requests, .count */
static int upstream_index(lua_State *L)
{
    const struct acog_sim_upstream *upstream = check_upstream(L);
    const char *name = luaL_checkstring(L, 2);
    if (strcmp(name, "answers") == 0) {
        lua_pushcfunction(L, upstream_answers);
    } else if (strcmp(name, "requests") == 0) {
        push_requests(L, upstream);
    } else if (strcmp(name, "count") == 0) {
        lua_pushinteger(L, (lua_Integer)upstream->served);
    } else {
        return luaL_error(L, "an upstream has answers, requests, count; not \"%s\"", name);
    }
    return 1;
}

/* gateway.upstream["id"]: a table of all; this (upvalue 1: the gateway) tells of an id that is not in it. */
static int unknown_upstream(lua_State *L)
{
    const struct gateway *gateway = lua_touserdata(L, lua_upvalueindex(1));
    struct acog_world *world = world_of(L, gateway);
    luaL_Buffer text;
    const char *name = luaL_tolstring(L, 2, NULL);
    luaL_buffinit(L, &text);
    luaL_addstring(&text, "no connection \"");
    luaL_addstring(&text, name);
    luaL_addstring(&text, "\"; there are:");
    for (size_t i = 0; i < acog_world_upstream_count(world); i++) {
        struct acog_view id = acog_world_upstream(world, i)->connection->id;
        luaL_addstring(&text, " ");
        luaL_addlstring(&text, id.ptr, id.len);
    }
    luaL_pushresult(&text);
    return lua_error(L);
}

/* Pushes the table of upstreams of the gateway on top. [-0, +1] */
static void push_upstreams(lua_State *L)
{
    int owner = lua_gettop(L);
    struct gateway *gateway = lua_touserdata(L, owner);
    size_t count = acog_world_upstream_count(gateway->world);
    lua_createtable(L, 0, (int)count);
    for (size_t i = 0; i < count; i++) {
        struct upstream *upstream = lua_newuserdatauv(L, sizeof(*upstream), 1);
        *upstream = (struct upstream){.gateway = gateway, .connection = i};
        luaL_setmetatable(L, UPSTREAM_TYPE);
        lua_pushvalue(L, owner);
        lua_setiuservalue(L, -2, 1);
        acog_lua_push_view(L, acog_world_upstream(gateway->world, i)->connection->id);
        lua_insert(L, -2);
        lua_rawset(L, -3);
    }
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, owner);
    lua_pushcclosure(L, unknown_upstream, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* -- requests --------------------------------------------------------------------------------------- */

static struct handle *push_handle(lua_State *L, int owner)
{
    struct handle *handle = lua_newuserdatauv(L, sizeof(*handle), 1);
    *handle = (struct handle){.gateway = lua_touserdata(L, owner)};
    luaL_setmetatable(L, HANDLE_TYPE);
    lua_pushvalue(L, owner);
    lua_setiuservalue(L, -2, 1);
    return handle;
}

static void release(struct handle *handle)
{
    if (handle->client != NULL && handle->gateway->world != NULL) {
        acog_world_release(handle->gateway->world, &handle->client);
    }
    handle->client = NULL;
}

static int collect_handle(lua_State *L)
{
    release(luaL_checkudata(L, 1, HANDLE_TYPE));
    return 0;
}

struct header_list { /* in a userdata */
    size_t count;
    struct acog_header_row rows[HEADERS_MAX];
};

/* Adds the name at -2 in lower case and the value at -1; both must stay on some stack or in some table: the texts are
 * anchored in the table at `anchor`. */
static void add_header(lua_State *L, struct header_list *list, int anchor)
{
    if (list->count == HEADERS_MAX) {
        luaL_error(L, "more than %d headers", HEADERS_MAX);
    }
    if (lua_type(L, -2) != LUA_TSTRING || lua_isstring(L, -1) == 0) {
        luaL_error(L, "a header is a text, or a list of texts, by its name");
    }
    luaL_Buffer lower;
    size_t bytes = 0;
    const char *name = lua_tolstring(L, -2, &bytes);
    char *out = luaL_buffinitsize(L, &lower, bytes);
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (char)tolower((unsigned char)name[i]);
    }
    luaL_pushresultsize(&lower, bytes);
    struct acog_header_row *row = &list->rows[list->count];
    row->name.ptr = lua_tolstring(L, -1, &row->name.len);
    lua_rawseti(L, anchor, (lua_Integer)lua_rawlen(L, anchor) + 1);
    lua_pushvalue(L, -1);
    row->value.ptr = lua_tolstring(L, -1, &row->value.len);
    lua_rawseti(L, anchor, (lua_Integer)lua_rawlen(L, anchor) + 1);
    list->count++;
}

/* By name, so that a table's chance order changes nothing; equal names keep their order. */
static void sort_headers(struct header_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        struct acog_header_row row = list->rows[i];
        size_t at = i;
        while (at > 0 && strcmp(list->rows[at - 1].name.ptr, row.name.ptr) > 0) {
            list->rows[at] = list->rows[at - 1];
            at--;
        }
        list->rows[at] = row;
    }
}

/* Reads the table at `index` (nil: none). Leaves the list and the anchor of its texts on the stack. [-0, +2] */
static struct header_list *push_header_list(lua_State *L, int index, bool has_body)
{
    struct header_list *list = lua_newuserdatauv(L, sizeof(*list), 0);
    list->count = 0;
    lua_newtable(L);
    int anchor = lua_gettop(L);
    if (!lua_isnoneornil(L, index)) {
        luaL_checktype(L, index, LUA_TTABLE);
        acog_lua_thaw(L, index);
        int table = lua_gettop(L);
        lua_pushnil(L);
        while (lua_next(L, table) != 0) {
            if (lua_type(L, -1) != LUA_TTABLE) {
                add_header(L, list, anchor);
            }
            for (lua_Integer i = 1; lua_type(L, -1) == LUA_TTABLE && i <= luaL_len(L, -1); i++) {
                lua_pushvalue(L, -2);
                lua_geti(L, -2, i);
                add_header(L, list, anchor);
                lua_pop(L, 2);
            }
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    sort_headers(list);
    struct acog_view type = ACOG_VIEW("content-type");
    if (has_body && list->count < HEADERS_MAX &&
        acog_header_find(list->rows, list->count, type).ptr == NULL) {
        list->rows[list->count] =
            (struct acog_header_row){.name = type, .value = ACOG_VIEW("application/json")};
        list->count++;
    }
    return list;
}

/* The body at `index`: a text as it is, a table as JSON, nothing. */
static struct acog_view read_body(lua_State *L, int index, struct acog_world *world)
{
    struct acog_view body = {0};
    if (lua_isnoneornil(L, index)) {
        return body;
    }
    if (lua_type(L, index) == LUA_TSTRING) {
        body.ptr = lua_tolstring(L, index, &body.len);
        return body;
    }
    luaL_checktype(L, index, LUA_TTABLE);
    struct acog_error error;
    struct acog_buffer *json = acog_world_scratch(world);
    if (acog_lua_write_json(L, index, json, &error) != ACOG_OK) {
        luaL_error(L, "the body: %s", error.text);
    }
    return acog_buffer_view(json);
}

/* Sends what the arguments say: method, path, body, headers from index 2 on. Pushes the handle. [-0, +1] */
static struct handle *push_request(lua_State *L, const char *method, int path)
{
    struct gateway *gateway = luaL_checkudata(L, 1, GATEWAY_TYPE);
    struct acog_world *world = world_of(L, gateway);
    struct acog_sim_request request = {.method = acog_view_of(method)};
    request.target.ptr = luaL_checklstring(L, path, &request.target.len);
    luaL_argcheck(L, request.target.len > 0 && request.target.ptr[0] == '/', path,
                  "a path starts with /");
    lua_settop(L, path + 2);
    struct header_list *list = push_header_list(L, path + 2, !lua_isnoneornil(L, path + 1));
    struct handle *handle = push_handle(L, 1);
    request.headers = list->rows;
    request.header_count = list->count;
    request.body = read_body(L, path + 1, world);
    handle->client = acog_world_send(world, &request);
    if (handle->client == NULL) {
        luaL_error(L, "too many requests under way, or no memory");
    }
    return handle;
}

static void wait_for(lua_State *L, struct handle *handle)
{
    switch (acog_world_wait(world_of(L, handle->gateway), handle->client)) {
    case ACOG_WAIT_OVER:
        return;
    case ACOG_WAIT_FOR_EVER:
        luaL_error(L, "the request never ends: a provider is silent, and no clock of the policy "
                      "runs");
        return;
    case ACOG_WAIT_LOOP:
        luaL_error(L, "the request does not end in %d steps", (int)ACOG_WORLD_STEPS_MAX);
        return;
    }
}

/* Sends, waits, and pushes the reply. */
static int request_and_wait(lua_State *L, const char *method, int path)
{
    struct handle *handle = push_request(L, method, path);
    wait_for(L, handle);
    acog_lua_push_reply(L, handle->gateway->world, handle->client);
    release(handle);
    return 1;
}

/* gateway:post(path, body, headers) -> reply   [-0, +1], may raise: argument, a request without end */
static int gateway_post(lua_State *L)
{
    return request_and_wait(L, "POST", 2);
}

/* gateway:get(path, headers) -> reply   [-0, +1], may raise: as post */
static int gateway_get(lua_State *L)
{
    lua_settop(L, 3);
    lua_pushnil(L);
    lua_insert(L, 3); /* no body */
    return request_and_wait(L, "GET", 2);
}

/* gateway:request(method, path, body, headers) -> reply   [-0, +1], may raise: as post */
static int gateway_request(lua_State *L)
{
    return request_and_wait(L, luaL_checkstring(L, 2), 3);
}

/* gateway:start(path, body, headers) -> handle   [-0, +1], may raise: argument */
static int gateway_start(lua_State *L)
{
    (void)push_request(L, "POST", 2);
    return 1;
}

/* gateway:advance(seconds)   [-0, +0], may raise: argument */
static int gateway_advance(lua_State *L)
{
    const struct gateway *gateway = luaL_checkudata(L, 1, GATEWAY_TYPE);
    double seconds = luaL_checknumber(L, 2);
    luaL_argcheck(L, seconds >= 0 && seconds <= SECONDS_MAX, 2, "seconds to come");
    if (acog_world_advance(world_of(L, gateway), (int64_t)(seconds * 1000 + 0.5)) !=
        ACOG_WAIT_OVER) {
        luaL_error(L, "time does not pass in %d steps", (int)ACOG_WORLD_STEPS_MAX);
    }
    return 0;
}

static void push_warnings(lua_State *L, const struct acog_report *report)
{
    lua_newtable(L);
    for (size_t i = 0; i < report->count; i++) {
        acog_lua_push_view(L, report->findings[i].text);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static const luaL_Reg gateway_methods[] = {
    {"post", gateway_post},   {"get", gateway_get},         {"request", gateway_request},
    {"start", gateway_start}, {"advance", gateway_advance}, {NULL, NULL},
};

/* gateway.upstream, .now_ms, .warnings, and the methods (upvalue 1) */
static int gateway_index(lua_State *L)
{
    const struct gateway *gateway = luaL_checkudata(L, 1, GATEWAY_TYPE);
    const char *name = luaL_checkstring(L, 2);
    const struct acog_world *world = world_of(L, gateway);
    if (strcmp(name, "upstream") == 0) {
        lua_getiuservalue(L, 1, 1);
    } else if (strcmp(name, "now_ms") == 0) {
        lua_pushinteger(L, acog_world_now_ms(world));
    } else if (strcmp(name, "warnings") == 0) {
        push_warnings(L, &gateway->report);
    } else if (lua_getfield(L, lua_upvalueindex(1), name) == LUA_TNIL) {
        return luaL_error(L,
                          "a gateway has post, get, request, start, advance, upstream, now_ms, "
                          "warnings; not \"%s\"",
                          name);
    }
    return 1;
}

/* -- handles ---------------------------------------------------------------------------------------- */

static struct handle *check_handle(lua_State *L)
{
    struct handle *handle = luaL_checkudata(L, 1, HANDLE_TYPE);
    (void)world_of(L, handle->gateway);
    return handle;
}

/* handle:hang_up()   [-0, +0], may raise: argument */
static int handle_hang_up(lua_State *L)
{
    const struct handle *handle = check_handle(L);
    acog_world_hang_up(handle->gateway->world, handle->client);
    return 0;
}

/* handle:wait() -> reply   [-0, +1], may raise: a request without end */
static int handle_wait(lua_State *L)
{
    struct handle *handle = check_handle(L);
    wait_for(L, handle);
    acog_lua_push_reply(L, handle->gateway->world, handle->client);
    return 1;
}

/* handle.hang_up, .wait, .reply (so far), .over */
static int handle_index(lua_State *L)
{
    const struct handle *handle = check_handle(L);
    const char *name = luaL_checkstring(L, 2);
    if (strcmp(name, "reply") == 0) {
        acog_lua_push_reply(L, handle->gateway->world, handle->client);
    } else if (strcmp(name, "over") == 0) {
        lua_pushboolean(L, acog_sim_client_reply(handle->client).over ? 1 : 0);
    } else if (strcmp(name, "hang_up") == 0) {
        lua_pushcfunction(L, handle_hang_up);
    } else if (strcmp(name, "wait") == 0) {
        lua_pushcfunction(L, handle_wait);
    } else {
        return luaL_error(L, "a request has wait, hang_up, reply, over; not \"%s\"", name);
    }
    return 1;
}

/* -- opening ---------------------------------------------------------------------------------------- */

static void make_type(lua_State *L, const char *type, lua_CFunction index, lua_CFunction collect,
                      const luaL_Reg *methods)
{
    if (luaL_newmetatable(L, type) != 0) {
        if (methods != NULL) {
            lua_newtable(L);
            luaL_setfuncs(L, methods, 0);
        }
        lua_pushcclosure(L, index, methods == NULL ? 0 : 1);
        lua_setfield(L, -2, "__index");
        if (collect != NULL) {
            lua_pushcfunction(L, collect);
            lua_setfield(L, -2, "__gc");
        }
    }
    lua_pop(L, 1);
}

static void make_types(lua_State *L)
{
    make_type(L, GATEWAY_TYPE, gateway_index, collect_gateway, gateway_methods);
    make_type(L, UPSTREAM_TYPE, upstream_index, NULL, NULL);
    make_type(L, HANDLE_TYPE, handle_index, collect_handle, NULL);
}

int acog_lua_gateway(lua_State *L)
{
    lua_settop(L, 1);
    make_types(L);
    struct gateway *gateway = lua_newuserdatauv(L, sizeof(*gateway), 1);
    *gateway = (struct gateway){0};
    acog_arena_init(&gateway->scripts, SCRIPTS_BYTES_MAX);
    acog_report_init(&gateway->report);
    luaL_setmetatable(L, GATEWAY_TYPE);
    gateway->shared = acog_shared_new();
    if (gateway->shared == NULL) {
        return luaL_error(L, "no memory for a gateway");
    }
    if (lua_type(L, 1) == LUA_TTABLE) {
        load_table(L, gateway, 1);
    } else {
        load_file(L, gateway, push_path_beside(L, luaL_checkstring(L, 1)));
    }
    lua_settop(L, 2);
    gateway->world = acog_world_new(gateway->snapshot, &gateway->state, &gateway->shared,
                                    acog_suite_of(L)->seed);
    if (gateway->world == NULL) {
        return luaL_error(L, "no memory for a gateway");
    }
    push_upstreams(L);
    lua_setiuservalue(L, 2, 1);
    remember_gateway(L);
    return 1;
}
