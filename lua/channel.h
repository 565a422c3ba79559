/* channel.h - the C half of the module "acog.channel": the words of channel.def. */
#ifndef ACOG_LUA_CHANNEL_H
#define ACOG_LUA_CHANNEL_H

#include <lua.h>

int acog_lua_open_channel(lua_State *L);

#endif
