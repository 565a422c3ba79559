/* match.c - the one call of a matcher. */
#include "match.h"

#include "compile.h"
#include "sandbox.h"

#include <lauxlib.h>

void match_push_positions(lua_State *L, int declared)
{
    declared = lua_absindex(L, declared);
    lua_Integer count = (lua_Integer)lua_rawlen(L, declared);
    lua_createtable(L, 0, (int)count);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, declared, i);
        lua_pushinteger(L, i - 1);
        lua_rawset(L, -3);
    }
}

static bool is_in(const uint16_t *list, size_t count, uint16_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == value) {
            return true;
        }
    }
    return false;
}

/* The list on top of the stack into `reached`. */
static enum acog_code take_list(lua_State *L, struct match_places places, uint16_t *reached,
                                size_t *count, struct acog_error *error)
{
    int list = lua_gettop(L);
    if (lua_type(L, list) != LUA_TTABLE) {
        return acog_error_set(error, ACOG_POLICY,
                              "match answered a %s, not a list of declared entries",
                              luaL_typename(L, list));
    }
    lua_Integer length = luaL_len(L, list);
    if (length > ACOG_PLAN_MAX) {
        return acog_error_set(error, ACOG_POLICY,
                              "match answered %d candidates, more than the %d of a "
                              "plan",
                              (int)length, ACOG_PLAN_MAX);
    }
    for (lua_Integer i = 1; i <= length; i++) {
        int is_position = 0;
        lua_geti(L, list, i);
        lua_rawget(L, places.positions);
        lua_Integer position = lua_tointegerx(L, -1, &is_position);
        lua_pop(L, 1);
        if (is_position == 0 || is_in(reached, *count, (uint16_t)position)) {
            return acog_error_set(error, ACOG_POLICY,
                                  "match answered a list whose item %d is %s declared entry",
                                  (int)i, is_position == 0 ? "no" : "a repeated");
        }
        reached[*count] = (uint16_t)position;
        (*count)++;
    }
    return ACOG_OK;
}

enum acog_code match_find(lua_State *L, struct match_places places, struct acog_view model,
                          uint16_t *reached, size_t *count, struct acog_error *error)
{
    int top = lua_gettop(L);
    *count = 0;
    lua_pushvalue(L, places.find);
    lua_pushlstring(L, model.len == 0 ? "" : model.ptr, model.len);
    lua_pushvalue(L, places.declared);
    enum acog_code code = acog_lua_call(L, 2, 1, CALL_INSTRUCTIONS, error);
    if (code == ACOG_OK) {
        code = take_list(L, places, reached, count, error);
    }
    lua_settop(L, top);
    return code;
}
