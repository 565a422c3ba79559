/* lua_json.h - JSON text to Lua values and back, for the bodies that a test sends and reads.
 *
 *   Lua                                        JSON
 *   nil (as an argument), acog.test's t.null   null
 *   a table with [1], a t.list                 array
 *   any other table, the empty one too         object; keys are texts or integers, written sorted
 *   an integer, a float, a text, a boolean     as one expects; no NaN, no infinity
 *
 * What was read from an array is a t.list, so that an empty one is written as an array again. The same table always
 * gives the same bytes.
 */
#ifndef ACOG_SIMULATE_LUA_JSON_H
#define ACOG_SIMULATE_LUA_JSON_H

#include "acog/buffer.h"
#include "acog/error.h"
#include "acog/view.h"

#include <stdbool.h>

#include <lua.h>

/* The value that stands for null. [-0, +1] */
void acog_lua_push_null(lua_State *L);

/* t.list(table) -> the same table, marked as an array   [-0, +1], may raise: argument, a frozen table */
int acog_lua_list(lua_State *L);

/* Pushes the value of a JSON text. False, and nothing pushed, when it is none. [-0, +1 or +0], may raise: memory */
bool acog_lua_push_json(lua_State *L, struct acog_view text);

/* Appends the value at `index` as JSON; `error` says what cannot be written. [-0, +0], may raise: memory */
enum acog_code acog_lua_write_json(lua_State *L, int index, struct acog_buffer *out,
                                   struct acog_error *error) ACOG_MUST_CHECK;

#endif
