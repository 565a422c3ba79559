/* pattern.h - Lua's string patterns with a budget.
 *
 * The library's own matcher backtracks without limit and no hook runs inside it: one string.find with optional items
 * holds a thread for a second. This one follows the manual (section 6.4.1) and takes each step from the budget
 * of the running call (acog_lua_charge).
 */
#ifndef ACOG_LUA_PATTERN_H
#define ACOG_LUA_PATTERN_H

#include <lua.h>

int acog_lua_pattern_find(lua_State *L);
int acog_lua_pattern_match(lua_State *L);
int acog_lua_pattern_gmatch(lua_State *L);
int acog_lua_pattern_gsub(lua_State *L);

#endif
