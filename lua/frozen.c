/* frozen.c - read-only tables. The metatable of one holds: __index (the real table), __kind, __place, __name_of. */
#include "frozen.h"

#include <string.h>

#include <lauxlib.h>

#define DEPTH_MAX 16 /* tables in tables; more is a loop or a mistake */

/* What makes an object of a frozen table; NULL and 0: none of it. */
struct traits {
    const char *kind;
    const char *place;
    const char *name;
    int methods; /* stack place */
};

static int refuse_write(lua_State *L)
{
    const char *kind = acog_lua_kind(L, 1);
    return luaL_error(L, "%s is read-only", kind == NULL ? "this table" : kind);
}

static int frozen_length(lua_State *L)
{
    acog_lua_thaw(L, 1);
    lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1));
    return 1;
}

/* As `next`, but over the real table, which the caller never sees. */
static int frozen_next(lua_State *L)
{
    acog_lua_thaw(L, 1);
    lua_pushvalue(L, 2);
    return lua_next(L, -2) != 0 ? 2 : 0;
}

static int frozen_pairs(lua_State *L)
{
    lua_pushcfunction(L, frozen_next);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

static int frozen_text(lua_State *L)
{
    const char *kind = acog_lua_kind(L, 1);
    const char *name = acog_lua_name(L, 1);
    if (kind != NULL && strcmp(kind, "env") == 0) {
        lua_pushfstring(L, "acog.env(%s)", name); /* never the value: it is not even here */
    } else if (kind != NULL) {
        lua_pushfstring(L, "acog.%s(%s)", kind, name == NULL ? "" : name);
    } else {
        lua_pushliteral(L, "table: frozen");
    }
    return 1;
}

static void push_frozen(lua_State *L, int index, int depth);

/* Pushes a new table with the content of the one at `index`; tables in it frozen.
 * NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX */
static void push_copy(lua_State *L, int index, int depth)
{
    luaL_checkstack(L, 8, "frozen");
    acog_lua_thaw(L, index);
    int from = lua_gettop(L);
    lua_newtable(L);
    int copy = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, from) != 0) {
        lua_pushvalue(L, -2);
        if (lua_type(L, -2) == LUA_TTABLE) {
            push_frozen(L, lua_absindex(L, -2), depth + 1);
        } else {
            lua_pushvalue(L, -2);
        }
        lua_rawset(L, copy); /* leaves key and value */
        lua_pop(L, 1);
    }
    lua_remove(L, from);
}

static void set_text(lua_State *L, const char *field, const char *text)
{
    if (text != NULL) {
        lua_pushstring(L, text);
        lua_setfield(L, -2, field);
    }
}

static bool is_frozen(lua_State *L, int index)
{
    bool frozen = luaL_getmetafield(L, index, "__frozen") != LUA_TNIL;
    if (frozen) {
        lua_pop(L, 1);
    }
    return frozen;
}

static const luaL_Reg frozen_events[] = {
    {"__newindex", refuse_write},
    {"__len", frozen_length},
    {"__pairs", frozen_pairs},
    {"__tostring", frozen_text},
    {NULL, NULL},
};

static void set_traits(lua_State *L, const struct traits *traits)
{
    set_text(L, "__kind", traits->kind);
    set_text(L, "__place", traits->place);
    set_text(L, "__name_of", traits->name);
}

/* Gives the table on top the methods at stack place `methods`. */
static void set_methods(lua_State *L, int methods)
{
    lua_newtable(L);
    lua_pushvalue(L, methods);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* Pushes a frozen view of a copy of the table at `index`. NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX */
static void push_view(lua_State *L, int index, const struct traits *traits, int depth)
{
    lua_newtable(L); /* what is seen */
    lua_newtable(L); /* its metatable */
    luaL_setfuncs(L, frozen_events, 0);
    set_traits(L, traits);
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, "__frozen");
    push_copy(L, index, depth);
    if (traits->methods != 0) {
        set_methods(L, traits->methods);
    }
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX */
static void push_frozen(lua_State *L, int index, int depth)
{
    static const struct traits none = {0};
    if (depth > DEPTH_MAX) {
        luaL_error(L, "tables are nested deeper than %d", DEPTH_MAX);
    }
    if (is_frozen(L, index)) {
        lua_pushvalue(L, index);
    } else {
        push_view(L, index, &none, depth);
    }
}

void acog_lua_freeze(lua_State *L, int index)
{
    push_frozen(L, lua_absindex(L, index), 0);
}

void acog_lua_object(lua_State *L, int index, const char *kind, const char *place, const char *name,
                     int methods)
{
    const struct traits traits = {
        .kind = kind,
        .place = place,
        .name = name,
        .methods = methods == 0 ? 0 : lua_absindex(L, methods),
    };
    push_view(L, lua_absindex(L, index), &traits, 0);
}

static const char *meta_text(lua_State *L, int index, const char *field)
{
    if (lua_type(L, index) != LUA_TTABLE || luaL_getmetafield(L, index, field) == LUA_TNIL) {
        return NULL;
    }
    const char *text = lua_tostring(L, -1); /* lives in the metatable */
    lua_pop(L, 1);
    return text;
}

const char *acog_lua_kind(lua_State *L, int index)
{
    return meta_text(L, index, "__kind");
}

const char *acog_lua_place(lua_State *L, int index)
{
    return meta_text(L, index, "__place");
}

const char *acog_lua_name(lua_State *L, int index)
{
    return meta_text(L, index, "__name_of");
}

bool acog_lua_is_kind(lua_State *L, int index, const char *kind)
{
    const char *own = acog_lua_kind(L, index);
    return own != NULL && strcmp(own, kind) == 0;
}

void acog_lua_thaw(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    if (lua_type(L, index) == LUA_TTABLE && is_frozen(L, index)) {
        luaL_getmetafield(L, index, "__index");
    } else {
        lua_pushvalue(L, index);
    }
}

static void push_file_line(lua_State *L, const char *source, int line)
{
    if (source[0] == '@' && line >= 0) {
        lua_pushfstring(L, "%s:%d", source + 1, line);
    } else {
        lua_pushliteral(L, "?");
    }
}

void acog_lua_push_place(lua_State *L, int skip)
{
    lua_Debug info;
    for (int level = 0; lua_getstack(L, level, &info) != 0; level++) {
        lua_getinfo(L, "Sl", &info);
        if (info.currentline >= 0 && skip-- == 0) {
            push_file_line(L, info.source, info.currentline);
            return;
        }
    }
    lua_pushliteral(L, "?");
}

void acog_lua_push_definition(lua_State *L, int index)
{
    lua_Debug info;
    lua_pushvalue(L, index);
    lua_getinfo(L, ">S", &info);
    push_file_line(L, info.source, info.linedefined);
}
