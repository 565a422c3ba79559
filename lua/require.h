/* require.h - the sandbox's `require`: embedded modules first, then files beside the configuration.
 *
 * A name is words with dots between ("acog.version", "teams.legal"): no slash, no "..", so nothing above or outside the
 * configuration's folder can be named. A module runs once in a state; what it returned is frozen when it is embedded.
 */
#ifndef ACOG_LUA_REQUIRE_H
#define ACOG_LUA_REQUIRE_H

#include <lua.h>

/* require(name) -> the module   [-0, +1], may raise. Looks into the registry's LUA_LOADED_TABLE first, where the owner
 * of a state may put modules of its own. */
int acog_lua_require(lua_State *L);

#endif
