/* acog.c - what lua/acog.lua needs from C. */
#include "acog.h"

#include "frozen.h"

#include <lauxlib.h>

/* object(kind, fields, name or nil, methods or nil, place) -> frozen object   [-0, +1], may raise: argument, nesting */
static int acog_object(lua_State *L)
{
    const char *kind = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    const char *name = luaL_optstring(L, 3, NULL);
    const char *place = luaL_checkstring(L, 5);
    acog_lua_object(L, 2, kind, place, name, lua_istable(L, 4) ? 4 : 0);
    return 1;
}

/* The function that at() makes: its Lua function (upvalue 1), called with the place of this call in front. It is in C
 * because `return acog.gateway { … }` is a tail call, after which Lua no longer knows the line; of a C function it does. */
static int call_with_place(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    acog_lua_push_place(L, 0);
    lua_rotate(L, 1, 2);
    if (lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0) != LUA_OK) {
        return lua_error(L);
    }
    return lua_gettop(L);
}

/* at(function(place, …)) -> function(…)   [-0, +1], may raise: argument */
static int acog_at(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_pushcclosure(L, call_with_place, 1);
    return 1;
}

/* kind(value) -> the kind of an object, or nil   [-0, +1] */
static int acog_kind(lua_State *L)
{
    lua_pushstring(L, acog_lua_kind(L, 1));
    return 1;
}

static const luaL_Reg functions[] = {
    {"object", acog_object},
    {"at", acog_at},
    {"kind", acog_kind},
    {NULL, NULL},
};

int acog_lua_open_acog(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
