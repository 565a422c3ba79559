/* sandbox.c - what exists in a state, what it may cost, and how it is entered.
 *
 * The globals table is a frozen view of a table made here, name by name. Lua has no way to open a library in part, so
 * each library is opened, the allowed functions are copied, and the rest is dropped.
 */
#include "sandbox.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "frozen.h"
#include "pattern.h"
#include "require.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#define TICK           1000               /* instructions between two looks at the budget */
#define REP_BYTES_MAX  ((size_t)1 << 20U) /* of string.rep */
#define BYTES_A_STEP   64                 /* allocated bytes that cost as much as an instruction */
#define CHUNK_PATH_MAX 256

/* Where the state keeps its own: lua_getextraspace(). */
struct home {
    size_t bytes_used;
    size_t bytes_max;
    int64_t left; /* of the running call's budget */
    bool spent;
    bool refused; /* an allocation of this call, by bytes_max */
    int depth;    /* of acog_lua_call() */
    struct acog_lua_files files;
};

static struct home *home_of(lua_State *L)
{
    struct home **place = lua_getextraspace(L);
    ACOG_ASSERT(*place != NULL);
    return *place;
}

const struct acog_lua_files *acog_lua_files_of(lua_State *L)
{
    return &home_of(L)->files;
}

/* -- budgets ---------------------------------------------------------------------------------------- */

static void *allocate(void *user, void *ptr, size_t old_bytes, size_t new_bytes)
{
    struct home *home = user;
    size_t had = ptr == NULL ? 0 : old_bytes; /* else old_bytes is a type */
    if (new_bytes == 0) {
        acog_free(ptr);
        home->bytes_used -= had;
        return NULL;
    }
    if (new_bytes > had && new_bytes - had > home->bytes_max - home->bytes_used) {
        home->refused = true; /* until the call ends: Lua allocates again before it gives up */
        return NULL;
    }
    void *grown = acog_grow(ptr, new_bytes);
    if (grown != NULL) {
        home->bytes_used = home->bytes_used - had + new_bytes;
        home->left -= (int64_t)(new_bytes / BYTES_A_STEP); /* the next tick sees it */
    }
    return grown;
}

static const struct acog_lua_watch *watcher; /* set before the states are made, by one thread */

void acog_lua_watch(const struct acog_lua_watch *watch)
{
    watcher = watch;
}

static void tick(lua_State *L, lua_Debug *at)
{
    struct home *home = home_of(L);
    if (at->event == LUA_HOOKLINE && watcher != NULL && !home->spent) {
        (void)lua_getinfo(L, "S", at);
        watcher->line(watcher->user, at->source + 1, at->currentline);
        return;
    }
    if (!home->spent) {
        home->left -= TICK;
    }
    if (home->left > 0) {
        return;
    }
    home->spent = true;
    lua_sethook(L, tick, LUA_MASKLINE | LUA_MASKCOUNT, 1); /* so that pcall cannot go on */
    lua_getinfo(L, "Sl", at);
    luaL_error(L, "%s:%d: the budget of instructions is spent", at->short_src, at->currentline);
}

void acog_lua_charge(lua_State *L, size_t steps)
{
    struct home *home = home_of(L);
    home->left -= (int64_t)steps;
    if (home->left <= 0) {
        home->spent = true;
        lua_sethook(L, tick, LUA_MASKLINE | LUA_MASKCOUNT, 1);
        luaL_error(L, "the budget of instructions is spent");
    }
}

static void hook_ordinary(lua_State *L)
{
    lua_sethook(L, tick, LUA_MASKCOUNT | (watcher != NULL ? LUA_MASKLINE : 0), TICK);
}

/* -- the one way in ----------------------------------------------------------------------------------- */

/* Makes a text of whatever was raised. */
static int describe_error(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TSTRING) {
        lua_pushfstring(L, "raised a %s, not a text", luaL_typename(L, 1));
    }
    return 1;
}

enum acog_code acog_lua_call(lua_State *L, int args, int results, int64_t instructions,
                             struct acog_error *error)
{
    struct home *home = home_of(L);
    int64_t outer_left = home->left;
    bool outer_spent = home->spent;
    int function = lua_gettop(L) - args;
    ACOG_ASSERT(function > 0);
    home->left = instructions;
    home->spent = false;
    home->refused = false;
    home->depth++;
    hook_ordinary(L);
    lua_pushcfunction(L, describe_error);
    lua_insert(L, function);
    int status = lua_pcall(L, args, results, function);
    bool spent = home->spent;
    home->depth--;
    home->left = outer_left;
    home->spent = outer_spent;
    if (home->depth == 0) {
        lua_sethook(L, NULL, 0, 0);
    } else if (outer_spent) {
        lua_sethook(L, tick, LUA_MASKLINE | LUA_MASKCOUNT, 1);
    } else {
        hook_ordinary(L);
    }
    if (status == LUA_OK) {
        lua_remove(L, function);
        return ACOG_OK;
    }
    enum acog_code code = ACOG_POLICY;
    if (status == LUA_ERRMEM && home->refused) {
        code =
            acog_error_set(error, ACOG_TOO_BIG, "needs more than the %zu MB of memory it may use",
                           home->bytes_max / 1048576U);
    } else if (status == LUA_ERRMEM) {
        code = acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
    } else {
        code = acog_error_set(error, spent ? ACOG_TOO_BIG : ACOG_POLICY, "%s",
                              lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "failed");
    }
    lua_settop(L, function - 1);
    return code;
}

enum acog_code acog_lua_load(lua_State *L, struct acog_view text, const char *path,
                             struct acog_error *error)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf"; /* some editors write it */
    char name[CHUNK_PATH_MAX];
    (void)snprintf(name, sizeof(name), "@%s", path);
    if (acog_view_starts(text, acog_view_of(byte_order_mark))) {
        text = acog_view_slice(text, sizeof(byte_order_mark) - 1, text.len);
    }
    int status = luaL_loadbufferx(L, text.len == 0 ? "" : text.ptr, text.len, name, "t");
    if (status == LUA_OK) {
        if (watcher != NULL) {
            watcher->loaded(watcher->user, L, path);
        }
        return ACOG_OK;
    }
    enum acog_code code = status == LUA_ERRMEM ? ACOG_NO_MEMORY : ACOG_INVALID;
    acog_error_set(error, code, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
    return code;
}

/* -- functions that need a limit ------------------------------------------------------------------------ */

/* string.rep(text, times [, separator])   [-0, +1], may raise: arguments, size */
static int bounded_rep(lua_State *L)
{
    size_t len = 0;
    size_t separator_len = 0;
    const char *text = luaL_checklstring(L, 1, &len);
    lua_Integer times = luaL_checkinteger(L, 2);
    const char *separator = luaL_optlstring(L, 3, "", &separator_len);
    size_t unit = len + separator_len;
    if (times <= 0 || unit == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if (unit > REP_BYTES_MAX || (size_t)times > REP_BYTES_MAX / unit) {
        return luaL_error(L, "string.rep makes at most %d bytes", (int)REP_BYTES_MAX);
    }
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    for (lua_Integer i = 0; i < times; i++) {
        if (i > 0) {
            luaL_addlstring(&out, separator, separator_len);
        }
        luaL_addlstring(&out, text, len);
    }
    luaL_pushresult(&out);
    return 1;
}

/* The library's own function (upvalue 1), charged by the length of the list that it walks. */
static int charged(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TTABLE) {
        acog_lua_charge(L, (size_t)luaL_len(L, 1));
    }
    lua_CFunction original = lua_tocfunction(L, lua_upvalueindex(1));
    return original(L);
}

/* -- the names ---------------------------------------------------------------------------------------- */

struct allowed {
    const char *origin; /* LUA_GNAME or a library's name */
    const char *name;
    lua_CFunction instead; /* of the library's own; `charged` wraps it */
};

/* Keep equal to `policy_std` in .luacheckrc. What is not here on purpose: print, load, loadfile, dofile, collectgarbage,
 * rawget and its kin, getmetatable, setmetatable, string.dump, string.pack, math.random, table.move, coroutine, io, os,
 * debug, package. */
static const struct allowed names[] = {
    {LUA_GNAME, "assert", NULL},
    {LUA_GNAME, "error", NULL},
    {LUA_GNAME, "ipairs", NULL},
    {LUA_GNAME, "next", NULL},
    {LUA_GNAME, "pairs", NULL},
    {LUA_GNAME, "pcall", NULL},
    {LUA_GNAME, "require", acog_lua_require},
    {LUA_GNAME, "select", NULL},
    {LUA_GNAME, "tonumber", NULL},
    {LUA_GNAME, "tostring", NULL},
    {LUA_GNAME, "type", NULL},
    {LUA_MATHLIBNAME, "abs", NULL},
    {LUA_MATHLIBNAME, "acos", NULL},
    {LUA_MATHLIBNAME, "asin", NULL},
    {LUA_MATHLIBNAME, "atan", NULL},
    {LUA_MATHLIBNAME, "ceil", NULL},
    {LUA_MATHLIBNAME, "cos", NULL},
    {LUA_MATHLIBNAME, "deg", NULL},
    {LUA_MATHLIBNAME, "exp", NULL},
    {LUA_MATHLIBNAME, "floor", NULL},
    {LUA_MATHLIBNAME, "fmod", NULL},
    {LUA_MATHLIBNAME, "huge", NULL},
    {LUA_MATHLIBNAME, "log", NULL},
    {LUA_MATHLIBNAME, "max", NULL},
    {LUA_MATHLIBNAME, "maxinteger", NULL},
    {LUA_MATHLIBNAME, "min", NULL},
    {LUA_MATHLIBNAME, "mininteger", NULL},
    {LUA_MATHLIBNAME, "modf", NULL},
    {LUA_MATHLIBNAME, "pi", NULL},
    {LUA_MATHLIBNAME, "rad", NULL},
    {LUA_MATHLIBNAME, "sin", NULL},
    {LUA_MATHLIBNAME, "sqrt", NULL},
    {LUA_MATHLIBNAME, "tan", NULL},
    {LUA_MATHLIBNAME, "tointeger", NULL},
    {LUA_MATHLIBNAME, "type", NULL},
    {LUA_MATHLIBNAME, "ult", NULL},
    {LUA_STRLIBNAME, "byte", NULL},
    {LUA_STRLIBNAME, "char", NULL},
    {LUA_STRLIBNAME, "find", acog_lua_pattern_find},
    {LUA_STRLIBNAME, "format", NULL},
    {LUA_STRLIBNAME, "gmatch", acog_lua_pattern_gmatch},
    {LUA_STRLIBNAME, "gsub", acog_lua_pattern_gsub},
    {LUA_STRLIBNAME, "len", NULL},
    {LUA_STRLIBNAME, "lower", NULL},
    {LUA_STRLIBNAME, "match", acog_lua_pattern_match},
    {LUA_STRLIBNAME, "rep", bounded_rep},
    {LUA_STRLIBNAME, "reverse", NULL},
    {LUA_STRLIBNAME, "sub", NULL},
    {LUA_STRLIBNAME, "upper", NULL},
    {LUA_TABLIBNAME, "concat", charged},
    {LUA_TABLIBNAME, "insert", charged},
    {LUA_TABLIBNAME, "pack", NULL},
    {LUA_TABLIBNAME, "remove", charged},
    {LUA_TABLIBNAME, "sort", charged},
    {LUA_TABLIBNAME, "unpack", charged},
    {LUA_UTF8LIBNAME, "char", NULL},
    {LUA_UTF8LIBNAME, "charpattern", NULL},
    {LUA_UTF8LIBNAME, "codepoint", NULL},
    {LUA_UTF8LIBNAME, "codes", NULL},
    {LUA_UTF8LIBNAME, "len", NULL},
    {LUA_UTF8LIBNAME, "offset", NULL},
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

/* The base functions come first: they are globals themselves. */
static const luaL_Reg libraries[] = {
    {LUA_GNAME, luaopen_base},        {LUA_MATHLIBNAME, luaopen_math},
    {LUA_STRLIBNAME, luaopen_string}, {LUA_TABLIBNAME, luaopen_table},
    {LUA_UTF8LIBNAME, luaopen_utf8},
};

#define LIBRARY_COUNT (sizeof(libraries) / sizeof(libraries[0]))

/* The globals: the base functions, and the libraries by their names. */
const char *acog_lua_sandbox_name(size_t n)
{
    size_t base_count = 0;
    while (strcmp(names[base_count].origin, LUA_GNAME) == 0) {
        base_count++;
    }
    if (n < base_count) {
        return names[n].name;
    }
    n = n - base_count + 1;
    return n < LIBRARY_COUNT ? libraries[n].name : NULL;
}

/* Pushes what a chunk sees of the library whose own table is on top. [-1, +1] */
static void push_allowed(lua_State *L, const char *library)
{
    int own = lua_gettop(L);
    lua_newtable(L);
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (strcmp(names[i].origin, library) != 0) {
            continue;
        }
        if (names[i].instead == NULL || names[i].instead == charged) {
            lua_getfield(L, own, names[i].name);
        }
        if (names[i].instead != NULL) {
            lua_pushcclosure(L, names[i].instead, names[i].instead == charged ? 1 : 0);
        }
        lua_setfield(L, -2, names[i].name);
    }
    lua_remove(L, own);
}

/* Lua's own names that are not there, and what stands in for them. */
static const struct {
    const char *name;
    const char *instead;
} elsewhere[] = {
    {"print", "nothing here has an output; in a test t.attach(name, value) puts a value into the "
              "report, and error(text) shows a text"},
    {"os", "there is no clock and no environment; a secret is acog.env \"NAME\""},
    {"io", "there are no files; a list of words can stand in a file of its own, read by `require`"},
    {"load", "code stands in files, read by `require`"},
    {"loadstring", "code stands in files, read by `require`"},
    {"loadfile", "code stands in files, read by `require`"},
    {"dofile", "code stands in files, read by `require`"},
    {"setmetatable", "tables are plain"},
    {"getmetatable", "tables are plain"},
    {"unpack", "it is table.unpack"},
    {"coroutine", "a function runs to its end"},
    {"acog", "it is local acog = require \"acog\""},
    {"test", "it is local test = require \"acog.test\""},
};

static int refuse_unknown_global(lua_State *L)
{
    const char *name = luaL_tolstring(L, 2, NULL);
    const char *instead = "local variables need `local`, modules need `require`";
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
        if (strcmp(elsewhere[i].name, name) == 0) {
            instead = elsewhere[i].instead;
        }
    }
    return luaL_error(L, "\"%s\" is not a name of the sandbox: %s", name, instead);
}

static int refuse_global(lua_State *L)
{
    return luaL_error(L, "no globals: declare \"%s\" as local", luaL_tolstring(L, 2, NULL));
}

/* Makes the view of the table on top the globals of every chunk. [-1, +0] */
static void set_globals(lua_State *L)
{
    int seen = lua_gettop(L);
    lua_newtable(L); /* misses of the table itself */
    lua_pushcfunction(L, refuse_unknown_global);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, seen);
    lua_newtable(L);
    lua_newtable(L);
    lua_pushvalue(L, seen);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_global);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pop(L, 1);
}

/* Lets ("text"):upper() find only what is allowed. The frozen table of strings is on top. [-0, +0] */
static void set_string_methods(lua_State *L)
{
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 2);
}

static int open_sandbox(lua_State *L)
{
    lua_newtable(L);
    int seen = lua_gettop(L);
    for (size_t i = 0; i < LIBRARY_COUNT; i++) {
        const char *library = libraries[i].name;
        luaL_requiref(L, library, libraries[i].func, 0);
        push_allowed(L, library);
        if (strcmp(library, LUA_GNAME) == 0) {
            lua_pushnil(L);
            while (lua_next(L, -2) != 0) {
                lua_pushvalue(L, -2);
                lua_insert(L, -2);
                lua_rawset(L, seen);
            }
        } else {
            acog_lua_freeze(L, -1);
            if (strcmp(library, LUA_STRLIBNAME) == 0) {
                set_string_methods(L);
            }
            lua_setfield(L, seen, library);
        }
        lua_pop(L, 1);
    }
    lua_newtable(L); /* the libraries in full are forgotten */
    lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, seen);
    set_globals(L);
    return 0;
}

/* -- the state ---------------------------------------------------------------------------------------- */

lua_State *acog_lua_new(size_t bytes_max, const struct acog_lua_files *files,
                        struct acog_error *error)
{
    struct home *home = acog_new(sizeof(*home));
    if (home == NULL) {
        acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
        return NULL;
    }
    home->bytes_max = bytes_max;
    home->files = *files;
    lua_State *L = lua_newstate(allocate, home);
    if (L == NULL) {
        acog_free(home);
        acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
        return NULL;
    }
    struct home **place = lua_getextraspace(L);
    *place = home;
    lua_pushcfunction(L, open_sandbox);
    if (acog_lua_call(L, 0, 0, INT64_MAX, error) != ACOG_OK) {
        acog_lua_close(&L);
    }
    return L;
}

void acog_lua_close(lua_State **L)
{
    if (*L != NULL) {
        struct home *home = home_of(*L);
        lua_close(*L);
        acog_free(home);
        *L = NULL;
    }
}
