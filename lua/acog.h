/* acog.h - the C half of the module "acog": objects with the place of their constructor's call. */
#ifndef ACOG_LUA_ACOG_H
#define ACOG_LUA_ACOG_H

#include <lua.h>

int acog_lua_open_acog(lua_State *L);

#endif
