/* lua_gateway.c - gateways as a test sees them: loading, time, and the way to requests and upstreams.
 *
 * A gateway is a userdata that owns a world. The end of its test closes it, whatever the test still holds: an upstream
 * or a handle of a closed gateway is an error to use, not a danger.
 */
#include "lua_gateway.h"

#include "frozen.h"

#include <string.h>

#define SCRIPTS_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define SECONDS_MAX       1e9

static const char open_gateways_key; /* in the registry: the list of them */

/* -- life ------------------------------------------------------------------------------------------- */

static void close_gateway(struct acog_lua_gateway *gateway)
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
    close_gateway(luaL_checkudata(L, 1, ACOG_LUA_GATEWAY_TYPE));
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
            const struct acog_lua_gateway *gateway = lua_touserdata(L, -1);
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

struct acog_world *acog_lua_world_of(lua_State *L, const struct acog_lua_gateway *gateway)
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

static void load_file(lua_State *L, struct acog_lua_gateway *gateway, const char *path)
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
static void load_table(lua_State *L, struct acog_lua_gateway *gateway, int table)
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

/* gateway:post(path, body, headers) -> reply   [-0, +1], may raise: argument, a request without end */
static int gateway_post(lua_State *L)
{
    return acog_lua_request_and_wait(L, "POST", 2);
}

/* gateway:get(path, headers) -> reply   [-0, +1], may raise: as post */
static int gateway_get(lua_State *L)
{
    lua_settop(L, 3);
    lua_pushnil(L);
    lua_insert(L, 3); /* no body */
    return acog_lua_request_and_wait(L, "GET", 2);
}

/* gateway:request(method, path, body, headers) -> reply   [-0, +1], may raise: as post */
static int gateway_request(lua_State *L)
{
    return acog_lua_request_and_wait(L, luaL_checkstring(L, 2), 3);
}

/* gateway:start(path, body, headers) -> handle   [-0, +1], may raise: argument */
static int gateway_start(lua_State *L)
{
    acog_lua_push_request(L, "POST", 2);
    return 1;
}

/* gateway:advance(seconds)   [-0, +0], may raise: argument */
static int gateway_advance(lua_State *L)
{
    const struct acog_lua_gateway *gateway = luaL_checkudata(L, 1, ACOG_LUA_GATEWAY_TYPE);
    double seconds = luaL_checknumber(L, 2);
    luaL_argcheck(L, seconds >= 0 && seconds <= SECONDS_MAX, 2, "seconds to come");
    if (acog_world_advance(acog_lua_world_of(L, gateway), (int64_t)(seconds * 1000 + 0.5)) !=
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
    const struct acog_lua_gateway *gateway = luaL_checkudata(L, 1, ACOG_LUA_GATEWAY_TYPE);
    const char *name = luaL_checkstring(L, 2);
    const struct acog_world *world = acog_lua_world_of(L, gateway);
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

/* -- opening ---------------------------------------------------------------------------------------- */

void acog_lua_make_type(lua_State *L, const char *type, lua_CFunction index, lua_CFunction collect,
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

/* Upvalues: what it is, its names between ", ". */
static int strict_index(lua_State *L)
{
    const char *names = lua_tostring(L, lua_upvalueindex(2));
    size_t len = 0;
    if (lua_type(L, 2) != LUA_TSTRING) {
        return 0;
    }
    const char *name = lua_tolstring(L, 2, &len);
    for (const char *at = strstr(names, name); at != NULL; at = strstr(at + 1, name)) {
        bool begins = at == names || at[-1] == ' ';
        if (begins && (at[len] == ',' || at[len] == '\0')) {
            return 0; /* it is not there this time */
        }
    }
    return luaL_error(L, "%s has %s; not \"%s\"", lua_tostring(L, lua_upvalueindex(1)), names,
                      name);
}

void acog_lua_make_strict(lua_State *L, const char *what, const char *names)
{
    if (luaL_newmetatable(L, what) != 0) {
        lua_pushstring(L, what);
        lua_pushstring(L, names);
        lua_pushcclosure(L, strict_index, 2);
        lua_setfield(L, -2, "__index");
    }
    lua_setmetatable(L, -2);
}

static void make_types(lua_State *L)
{
    acog_lua_make_type(L, ACOG_LUA_GATEWAY_TYPE, gateway_index, collect_gateway, gateway_methods);
    acog_lua_make_upstream_type(L);
    acog_lua_make_handle_type(L);
}

int acog_lua_gateway(lua_State *L)
{
    lua_settop(L, 1);
    make_types(L);
    struct acog_lua_gateway *gateway = lua_newuserdatauv(L, sizeof(*gateway), 1);
    *gateway = (struct acog_lua_gateway){0};
    acog_arena_init(&gateway->scripts, SCRIPTS_BYTES_MAX);
    acog_report_init(&gateway->report);
    luaL_setmetatable(L, ACOG_LUA_GATEWAY_TYPE);
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
    acog_lua_push_upstreams(L);
    lua_setiuservalue(L, 2, 1);
    remember_gateway(L);
    return 1;
}
