/* frozen.h - read-only tables, and the objects that constructors make of them.
 *
 * A frozen table is an empty one whose metatable leads to the real one: reading, #, pairs and ipairs work as ever,
 * writing raises. `setmetatable`, `rawset` and `getmetatable` do not exist in the sandbox, so it stays so.
 */
#ifndef ACOG_LUA_FROZEN_H
#define ACOG_LUA_FROZEN_H

#include <stdbool.h>

#include <lua.h>

/* Pushes a frozen copy of the table at `index` and of every table in it; one that is frozen already is shared.
 * [-0, +1], may raise: nesting, memory. */
void acog_lua_freeze(lua_State *L, int index);

/* The same with a kind ("connection"), the place of the constructor's call ("gateway.lua:12"), a name or NULL, and
 * at stack place `methods` (0: none) a table of methods. [-0, +1], may raise. */
void acog_lua_object(lua_State *L, int index, const char *kind, const char *place, const char *name,
                     int methods);

/* What acog_lua_object() was told; NULL for a value without. Lent as long as the object lives. [-0, +0] */
const char *acog_lua_kind(lua_State *L, int index);
const char *acog_lua_place(lua_State *L, int index);
const char *acog_lua_name(lua_State *L, int index);

bool acog_lua_is_kind(lua_State *L, int index, const char *kind);

/* Pushes the table behind a frozen one, or the value itself, for lua_next(). [-0, +1] */
void acog_lua_thaw(lua_State *L, int index);

/* Pushes "FILE:LINE" of the innermost running function that is written in Lua, `skip` of them passed over; "?" when
 * there is none. [-0, +1] */
void acog_lua_push_place(lua_State *L, int skip);

/* Pushes "FILE:LINE" where the function at `index` was defined. [-0, +1] */
void acog_lua_push_definition(lua_State *L, int index);

#endif
