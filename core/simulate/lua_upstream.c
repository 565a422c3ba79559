/* lua_upstream.c - the providers behind a gateway: what they answer, what they received.
 */
#include "lua_gateway.h"
#include "lua_json.h"

#include <string.h>

#define UPSTREAM_TYPE "acog.test.upstream"
#define REPLIES_MAX   10000 /* in one script */

struct upstream { /* user value 1: the gateway */
    struct acog_lua_gateway *gateway;
    size_t connection;
};

static struct acog_sim_upstream *check_upstream(lua_State *L)
{
    const struct upstream *upstream = luaL_checkudata(L, 1, UPSTREAM_TYPE);
    return acog_world_upstream(acog_lua_world_of(L, upstream->gateway), upstream->connection);
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
    lua_createtable(L, 0, 9);
    acog_lua_push_view(L, acog_name(ACOG_VOCABULARY_SURFACE, (int)received->surface));
    lua_setfield(L, -2, "surface");
    acog_lua_push_view(L, acog_name(ACOG_VOCABULARY_DIALECT, (int)received->dialect));
    lua_setfield(L, -2, "dialect");
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
    const struct acog_lua_gateway *gateway = lua_touserdata(L, lua_upvalueindex(1));
    struct acog_world *world = acog_lua_world_of(L, gateway);
    luaL_Buffer text;
    const char *name = luaL_tolstring(L, 2, NULL);
    luaL_buffinit(L, &text);
    luaL_where(L, 1);
    luaL_addvalue(&text);
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

void acog_lua_push_upstreams(lua_State *L)
{
    int owner = lua_gettop(L);
    struct acog_lua_gateway *gateway = lua_touserdata(L, owner);
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

void acog_lua_make_upstream_type(lua_State *L)
{
    acog_lua_make_type(L, UPSTREAM_TYPE, upstream_index, NULL, NULL);
}
