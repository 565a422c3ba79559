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

/* A place that owns a tree, so that whatever raises leaves none behind. [-0, +1] */
static json_t **push_tree(lua_State *L)
{
    json_t **tree = lua_newuserdatauv(L, sizeof(json_t *), 0);
    *tree = NULL;
    if (luaL_newmetatable(L, TREE_TYPE) != 0) {
        lua_pushcfunction(L, forget_tree);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return tree;
}

bool acog_lua_push_json(lua_State *L, struct acog_view text)
{
    json_t **tree = push_tree(L);
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

/* Where a value goes: into an array, under a key of an object, or to the root of the tree. */
struct place {
    json_t *array;
    json_t *object;
    const char *key;
    json_t **root;
};

/* Takes `value` over. False: it is NULL, or there is no memory; `error` says so. */
static bool put(const struct place *place, json_t *value, struct acog_error *error)
{
    if (value == NULL) {
        acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
        return false;
    }
    int failed = 0;
    if (place->root != NULL) {
        *place->root = value;
    } else if (place->array != NULL) {
        failed = json_array_append_new(place->array, value);
    } else {
        failed = json_object_set_new(place->object, place->key, value);
    }
    if (failed != 0) {
        acog_error_set(error, ACOG_INVALID, "a key is not UTF-8, or there is no memory");
    }
    return failed == 0;
}

static bool write_value(lua_State *L, int index, int depth, const struct place *place,
                        struct acog_error *error);

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

static bool fill_array(lua_State *L, int table, int depth, json_t *array, struct acog_error *error)
{
    struct place place = {.array = array};
    lua_Unsigned count = lua_rawlen(L, table);
    if (count_keys(L, table) != count) {
        acog_error_set(error, ACOG_INVALID,
                       "a list has a hole, or keys that are no positions (t.null fills holes)");
        return false;
    }
    bool written = true;
    for (lua_Unsigned i = 1; written && i <= count; i++) {
        lua_rawgeti(L, table, (lua_Integer)i);
        written = write_value(L, lua_gettop(L), depth + 1, &place, error);
        lua_pop(L, 1);
    }
    return written;
}

/* The key at `index` as a text; integers are written into `digits`. */
static const char *key_text(lua_State *L, int index, char *digits, size_t digits_bytes)
{
    if (lua_type(L, index) == LUA_TSTRING) {
        return lua_tostring(L, index);
    }
    if (lua_isinteger(L, index) != 0) {
        (void)snprintf(digits, digits_bytes, "%lld", (long long)lua_tointeger(L, index));
        return digits;
    }
    return NULL;
}

static bool fill_object(lua_State *L, int table, int depth, json_t *object,
                        struct acog_error *error)
{
    bool written = true;
    lua_pushnil(L);
    while (written && lua_next(L, table) != 0) {
        char digits[24];
        struct place place = {.object = object, .key = key_text(L, -2, digits, sizeof(digits))};
        if (place.key == NULL) {
            acog_error_set(error, ACOG_INVALID, "a key of a JSON object is a %s",
                           luaL_typename(L, -2));
            written = false;
        } else {
            written = write_value(L, lua_gettop(L), depth + 1, &place, error);
        }
        lua_pop(L, written ? 1 : 2); /* the key stays for the walk */
    }
    return written;
}

/* The container is in its place before it is filled, so that the root owns all there is. */
static bool write_table(lua_State *L, int index, int depth, const struct place *place,
                        struct acog_error *error)
{
    if (depth >= DEPTH_MAX || lua_checkstack(L, STACK_SLOTS) == 0) {
        acog_error_set(error, ACOG_TOO_BIG, "tables are nested deeper than %d, or in themselves",
                       DEPTH_MAX);
        return false;
    }
    bool array = is_list(L, index);
    acog_lua_thaw(L, index);
    int table = lua_gettop(L);
    if (!array) {
        array = lua_rawgeti(L, table, 1) != LUA_TNIL;
        lua_pop(L, 1);
    }
    json_t *value = array ? json_array() : json_object();
    bool written = put(place, value, error) && (array ? fill_array(L, table, depth, value, error)
                                                      : fill_object(L, table, depth, value, error));
    lua_pop(L, 1);
    return written;
}

static bool write_number(lua_State *L, int index, const struct place *place,
                         struct acog_error *error)
{
    if (lua_isinteger(L, index) != 0) {
        return put(place, json_integer(lua_tointeger(L, index)), error);
    }
    double number = lua_tonumber(L, index);
    if (isnan(number) || isinf(number)) {
        acog_error_set(error, ACOG_INVALID, "JSON has no infinity and no NaN");
        return false;
    }
    return put(place, json_real(number), error);
}

static bool write_string(lua_State *L, int index, const struct place *place,
                         struct acog_error *error)
{
    size_t bytes = 0;
    const char *text = lua_tolstring(L, index, &bytes);
    json_t *value = json_stringn(text, bytes);
    if (value == NULL) {
        acog_error_set(error, ACOG_INVALID, "a text is not UTF-8");
        return false;
    }
    return put(place, value, error);
}

/* False: `error` says what JSON cannot say. */
static bool write_value(lua_State *L, int index, int depth, const struct place *place,
                        struct acog_error *error)
{
    switch (lua_type(L, index)) {
    case LUA_TNIL:
        return put(place, json_null(), error);
    case LUA_TBOOLEAN:
        return put(place, json_boolean(lua_toboolean(L, index)), error);
    case LUA_TNUMBER:
        return write_number(L, index, place, error);
    case LUA_TSTRING:
        return write_string(L, index, place, error);
    case LUA_TTABLE:
        return write_table(L, index, depth, place, error);
    case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(L, index) == NULL) {
            return put(place, json_null(), error);
        }
        break;
    default:
        break;
    }
    acog_error_set(error, ACOG_INVALID, "a %s has no form in JSON", luaL_typename(L, index));
    return false;
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
    index = lua_absindex(L, index);
    json_t **tree = push_tree(L);
    struct place place = {.root = tree};
    *error = (struct acog_error){.code = ACOG_OK};
    if (write_value(L, index, 0, &place, error) &&
        json_dump_callback(*tree, append_dumped, out,
                           JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) != 0) {
        out->len = before;
        acog_error_set(error, ACOG_TOO_BIG, "more than %zu bytes of JSON", out->bytes_max);
    }
    json_decref(*tree);
    *tree = NULL;
    lua_pop(L, 1);
    return error->code;
}
