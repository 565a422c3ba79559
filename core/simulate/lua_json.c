/* lua_json.c - jansson's trees on one side, Lua's tables on the other.
 *
 * A tree that is being turned into Lua values is owned by a userdata, because each push may raise for want of memory.
 */
#include "lua_json.h"

#include "frozen.h"

#include <math.h>
#include <stdio.h>

#include <jansson.h>
#include <lauxlib.h>

#define DEPTH_MAX   64 /* of what a test writes */
#define STACK_SLOTS 8  /* for one level of nesting */
#define LIST_TYPE   "acog.test.list"
#define TREE_TYPE   "acog.test.tree"

void acog_lua_push_null(lua_State *L)
{
    lua_pushlightuserdata(L, NULL);
}

/* -- lists ------------------------------------------------------------------------------------------ */

static void mark_list(lua_State *L)
{
    luaL_newmetatable(L, LIST_TYPE);
    lua_setmetatable(L, -2);
}

static bool is_list(lua_State *L, int index)
{
    if (lua_getmetatable(L, index) == 0) {
        return false;
    }
    luaL_getmetatable(L, LIST_TYPE);
    bool equal = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    return equal;
}

int acog_lua_list(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (lua_getmetatable(L, 1) != 0) {
        return luaL_argerror(L, 1, "already a list or read-only");
    }
    mark_list(L);
    return 1;
}

/* NOLINTBEGIN(misc-no-recursion): JSON is nested; the depth is jansson's (2048) when it is read, DEPTH_MAX when it is
 * written. */

/* -- from JSON -------------------------------------------------------------------------------------- */

static void push_value(lua_State *L, json_t *value);

static void push_array(lua_State *L, json_t *array)
{
    size_t count = json_array_size(array);
    lua_createtable(L, (int)count, 0);
    mark_list(L);
    for (size_t i = 0; i < count; i++) {
        push_value(L, json_array_get(array, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void push_object(lua_State *L, json_t *object)
{
    const char *key;
    json_t *member;
    lua_createtable(L, 0, (int)json_object_size(object));
    json_object_foreach (object, key, member) {
        lua_pushstring(L, key);
        push_value(L, member);
        lua_rawset(L, -3);
    }
}

static void push_value(lua_State *L, json_t *value)
{
    luaL_checkstack(L, STACK_SLOTS, "JSON");
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        push_object(L, value);
        return;
    case JSON_ARRAY:
        push_array(L, value);
        return;
    case JSON_STRING:
        lua_pushlstring(L, json_string_value(value), json_string_length(value));
        return;
    case JSON_INTEGER:
        lua_pushinteger(L, json_integer_value(value));
        return;
    case JSON_REAL:
        lua_pushnumber(L, json_real_value(value));
        return;
    case JSON_TRUE:
        lua_pushboolean(L, 1);
        return;
    case JSON_FALSE:
        lua_pushboolean(L, 0);
        return;
    case JSON_NULL:
        acog_lua_push_null(L);
        return;
    }
}

static int forget_tree(lua_State *L)
{
    json_t **tree = luaL_checkudata(L, 1, TREE_TYPE);
    json_decref(*tree);
    *tree = NULL;
    return 0;
}

bool acog_lua_push_json(lua_State *L, struct acog_view text)
{
    json_t **tree = lua_newuserdatauv(L, sizeof(json_t *), 0);
    *tree = NULL;
    if (luaL_newmetatable(L, TREE_TYPE) != 0) {
        lua_pushcfunction(L, forget_tree);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    if (text.len > 0) {
        *tree = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    }
    if (*tree == NULL) {
        lua_pop(L, 1);
        return false;
    }
    push_value(L, *tree);
    json_decref(*tree);
    *tree = NULL;
    lua_remove(L, -2);
    return true;
}

/* -- to JSON ---------------------------------------------------------------------------------------- */

/* NULL, with `error` filled in, for what JSON cannot say. */
static json_t *read_value(lua_State *L, int index, int depth, struct acog_error *error);

static lua_Unsigned count_keys(lua_State *L, int table)
{
    lua_Unsigned count = 0;
    lua_pushnil(L);
    while (lua_next(L, table) != 0) {
        lua_pop(L, 1);
        count++;
    }
    return count;
}

static json_t *read_array(lua_State *L, int table, int depth, struct acog_error *error)
{
    lua_Unsigned count = lua_rawlen(L, table);
    if (count_keys(L, table) != count) {
        acog_error_set(error, ACOG_INVALID,
                       "a list has a hole, or keys that are no positions (t.null fills holes)");
        return NULL;
    }
    json_t *array = json_array();
    for (lua_Unsigned i = 1; array != NULL && i <= count; i++) {
        lua_rawgeti(L, table, (lua_Integer)i);
        json_t *value = read_value(L, lua_gettop(L), depth + 1, error);
        lua_pop(L, 1);
        if (value == NULL || json_array_append_new(array, value) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* The key at the top as a text; integers are written into `digits`. */
static const char *key_text(lua_State *L, char *digits, size_t digits_bytes)
{
    if (lua_type(L, -1) == LUA_TSTRING) {
        return lua_tostring(L, -1);
    }
    if (lua_isinteger(L, -1) != 0) {
        (void)snprintf(digits, digits_bytes, "%lld", (long long)lua_tointeger(L, -1));
        return digits;
    }
    return NULL;
}

static json_t *read_object(lua_State *L, int table, int depth, struct acog_error *error)
{
    json_t *object = json_object();
    lua_pushnil(L);
    while (object != NULL && lua_next(L, table) != 0) {
        char digits[24];
        json_t *value = read_value(L, lua_gettop(L), depth + 1, error);
        lua_pop(L, 1);
        const char *key = key_text(L, digits, sizeof(digits));
        if (key == NULL) {
            acog_error_set(error, ACOG_INVALID, "a key of a JSON object is a %s",
                           lua_typename(L, lua_type(L, -1)));
            json_decref(value);
            value = NULL;
        }
        if (value == NULL || json_object_set_new(object, key, value) != 0) {
            json_decref(object);
            lua_pop(L, 1); /* the key */
            return NULL;
        }
    }
    return object;
}

static json_t *read_table(lua_State *L, int index, int depth, struct acog_error *error)
{
    if (depth >= DEPTH_MAX || lua_checkstack(L, STACK_SLOTS) == 0) {
        acog_error_set(error, ACOG_TOO_BIG, "tables are nested deeper than %d, or in themselves",
                       DEPTH_MAX);
        return NULL;
    }
    bool array = is_list(L, index);
    acog_lua_thaw(L, index);
    int table = lua_gettop(L);
    if (!array) {
        array = lua_rawgeti(L, table, 1) != LUA_TNIL;
        lua_pop(L, 1);
    }
    json_t *value =
        array ? read_array(L, table, depth, error) : read_object(L, table, depth, error);
    lua_pop(L, 1);
    return value;
}

static json_t *read_number(lua_State *L, int index, struct acog_error *error)
{
    if (lua_isinteger(L, index) != 0) {
        return json_integer(lua_tointeger(L, index));
    }
    double number = lua_tonumber(L, index);
    if (isnan(number) || isinf(number)) {
        acog_error_set(error, ACOG_INVALID, "JSON has no infinity and no NaN");
        return NULL;
    }
    return json_real(number);
}

static json_t *read_string(lua_State *L, int index, struct acog_error *error)
{
    size_t bytes = 0;
    const char *text = lua_tolstring(L, index, &bytes);
    json_t *value = json_stringn(text, bytes);
    if (value == NULL) {
        acog_error_set(error, ACOG_INVALID, "a text is not UTF-8");
    }
    return value;
}

static json_t *read_value(lua_State *L, int index, int depth, struct acog_error *error)
{
    switch (lua_type(L, index)) {
    case LUA_TNIL:
        return json_null();
    case LUA_TBOOLEAN:
        return json_boolean(lua_toboolean(L, index));
    case LUA_TNUMBER:
        return read_number(L, index, error);
    case LUA_TSTRING:
        return read_string(L, index, error);
    case LUA_TTABLE:
        return read_table(L, index, depth, error);
    case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(L, index) == NULL) {
            return json_null();
        }
        break;
    default:
        break;
    }
    acog_error_set(error, ACOG_INVALID, "a %s has no form in JSON",
                   lua_typename(L, lua_type(L, index)));
    return NULL;
}

/* NOLINTEND(misc-no-recursion) */

static int append_dumped(const char *text, size_t bytes, void *user)
{
    struct acog_view view = {.ptr = text, .len = bytes};
    return acog_buffer_append(user, view) == ACOG_OK ? 0 : -1;
}

enum acog_code acog_lua_write_json(lua_State *L, int index, struct acog_buffer *out,
                                   struct acog_error *error)
{
    size_t before = out->len;
    *error = (struct acog_error){.code = ACOG_OK};
    json_t *value = read_value(L, lua_absindex(L, index), 0, error);
    if (value == NULL) {
        return error->code != ACOG_OK
                   ? error->code
                   : acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
    }
    int failed = json_dump_callback(value, append_dumped, out,
                                    JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    json_decref(value);
    if (failed != 0) {
        out->len = before;
        return acog_error_set(error, ACOG_TOO_BIG, "more than %zu bytes of JSON", out->bytes_max);
    }
    return ACOG_OK;
}
