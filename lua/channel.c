/* channel.c - channel.def as a Lua list. */
#include "channel.h"

#include "acog/names.h"

#include <lauxlib.h>

/* Pushes the list of channel names in the order of channel.def. [-0, +1] */
int acog_lua_open_channel(lua_State *L)
{
    lua_createtable(L, ACOG_CHANNEL_COUNT, 0);
    for (int i = 0; i < ACOG_CHANNEL_COUNT; i++) {
        struct acog_view name = acog_name(ACOG_VOCABULARY_CHANNEL, i);
        lua_pushlstring(L, name.ptr, name.len);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}
