/* lua_gateway.h - a gateway of a test, for the files that make up its Lua side.
 */
#ifndef ACOG_SIMULATE_LUA_GATEWAY_H
#define ACOG_SIMULATE_LUA_GATEWAY_H

#include "suite.h"

#include <lauxlib.h>

#define ACOG_LUA_GATEWAY_TYPE "acog.test.gateway"

struct acog_lua_gateway {            /* in a userdata; user value 1: the table of its upstreams */
    struct acog_world *world;        /* NULL: closed, or not opened */
    struct acog_arena scripts;       /* replies, for as long as the gateway is open */
    struct acog_report report;       /* of the load */
    struct acog_policy_state *state; /* these three on their way into the world */
    struct acog_shared *shared;
    struct acog_snapshot *snapshot;
};

/* The open world of a gateway. May raise: the test is over. */
struct acog_world *acog_lua_world_of(lua_State *L, const struct acog_lua_gateway *gateway);

/* The metatable of a userdata: `index` for its fields, which gets a table of `methods` (NULL: none) as its upvalue 1, and
 * `collect` (NULL: none). [-0, +0], may raise: memory */
void acog_lua_make_type(lua_State *L, const char *type, lua_CFunction index, lua_CFunction collect,
                        const luaL_Reg *methods);

/* Makes a name that the table on top does not have an error that says `what` it is and which `names` there are, both of
 * which live for ever. Other keys than texts stay nil. */
void acog_lua_make_strict(lua_State *L, const char *what, const char *names);

/* -- lua_upstream.c ----------------------------------------------------------------------------------- */

void acog_lua_make_upstream_type(lua_State *L);

/* Pushes the table of the upstreams of the gateway on top. [-0, +1], may raise: memory */
void acog_lua_push_upstreams(lua_State *L);

/* -- lua_request.c ------------------------------------------------------------------------------------ */

void acog_lua_make_handle_type(lua_State *L);

/* Sends what the arguments say: the gateway at 1; path, body and headers from index `path` on. Pushes the handle of
 * the request under way. [-0, +1], may raise: argument */
void acog_lua_push_request(lua_State *L, const char *method, int path);

/* The same, and waits for it: pushes the reply. [-0, +1], may raise: argument, a request without end */
int acog_lua_request_and_wait(lua_State *L, const char *method, int path);

#endif
