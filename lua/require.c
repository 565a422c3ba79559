/* require.c - one module, found and run. */
#include "require.h"

#include "acog.h"
#include "acog/embedded_lua.h"
#include "acog/error.h"
#include "acog/view.h"
#include "channel.h"
#include "frozen.h"
#include "sandbox.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>

#define NAME_MAX_BYTES 100

struct module {
    const char *name;
    const char *path;
    lua_CFunction open; /* pushes what the file receives as `...` */
};

static int open_nothing(lua_State *L)
{
    lua_pushnil(L);
    return 1;
}

static const struct module modules[] = {
#define ACOG_LUA_MODULE(name, path, open) {name, path, open},
#include "modules.def"
#undef ACOG_LUA_MODULE
};

static const struct acog_embedded_lua *embedded_file(const char *path)
{
    for (size_t i = 0; i < acog_embedded_lua_count; i++) {
        if (strcmp(acog_embedded_lua[i].path, path) == 0) {
            return &acog_embedded_lua[i];
        }
    }
    return NULL;
}

/* Words of letters, digits, '_' and '-', with single dots between. */
static bool name_is_sane(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > NAME_MAX_BYTES) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        bool word = isalnum((unsigned char)name[i]) != 0 || name[i] == '_' || name[i] == '-';
        bool inner_dot = name[i] == '.' && i > 0 && i + 1 < len && name[i - 1] != '.';
        if (!word && !inner_dot) {
            return false;
        }
    }
    return true;
}

/* Compiles a text and pushes the chunk; raises what is wrong with it. [-0, +1] */
static void push_chunk(lua_State *L, struct acog_view text, const char *path)
{
    struct acog_error error;
    if (acog_lua_load(L, text, path, &error) != ACOG_OK) {
        luaL_error(L, "%s", error.text);
    }
}

static void push_embedded_chunk(lua_State *L, const struct acog_embedded_lua *file)
{
    push_chunk(L, (struct acog_view){.ptr = (const char *)file->bytes, .len = file->size},
               file->path);
}

/* Pushes the chunk of an embedded module and what it receives. False: there is none of that name. [-0, +2 or +0] */
static bool push_module(lua_State *L, const char *name)
{
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        const struct acog_embedded_lua *file =
            strcmp(modules[i].name, name) == 0 ? embedded_file(modules[i].path) : NULL;
        if (file != NULL) {
            push_embedded_chunk(L, file);
            return modules[i].open(L) == 1;
        }
    }
    return false;
}

/* Likewise for an embedded policy, from its file where the owner of the state has that. */
static bool push_policy(lua_State *L, const char *name)
{
    static const char policies[] = "policies.";
    const struct acog_lua_files *files = acog_lua_files_of(L);
    if (strncmp(name, policies, sizeof(policies) - 1) != 0) {
        return false;
    }
    const char *policy = name + sizeof(policies) - 1;
    const struct acog_embedded_lua *embedded =
        embedded_file(lua_pushfstring(L, "policies/%s/%s.lua", policy, policy));
    lua_pop(L, 1);
    if (embedded == NULL) {
        return false;
    }
    struct acog_view path = {.len = 0};
    struct acog_view text = {.len = 0};
    struct acog_error error;
    enum acog_code code =
        files->read_policy == NULL
            ? ACOG_NOT_FOUND
            : files->read_policy(files->user, acog_view_of(policy), &path, &text, &error);
    if (code == ACOG_OK) {
        push_chunk(L, text, path.ptr);
    } else if (code == ACOG_NOT_FOUND) {
        push_embedded_chunk(L, embedded);
    } else {
        luaL_error(L, "%s", error.text);
    }
    return open_nothing(L) == 1;
}

/* Likewise for a file beside the configuration; it receives its own name. */
static bool push_beside(lua_State *L, const char *name)
{
    const struct acog_lua_files *files = acog_lua_files_of(L);
    struct acog_view path;
    struct acog_view text;
    struct acog_error error;
    if (files->read == NULL) {
        return false;
    }
    enum acog_code code = files->read(files->user, acog_view_of(name), &path, &text, &error);
    if (code == ACOG_NOT_FOUND) {
        return false;
    }
    if (code != ACOG_OK) {
        luaL_error(L, "%s", error.text);
    }
    push_chunk(L, text, path.ptr);
    lua_pushstring(L, name);
    return true;
}

static int refuse_unknown(lua_State *L, const char *name)
{
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        luaL_addstring(&out, modules[i].name);
        luaL_addstring(&out, ", ");
    }
    luaL_addstring(&out, "policies.acog, .routerplus, .rolter, .kontinent, .onerouter");
    luaL_pushresult(&out);
    const char *path = luaL_gsub(L, name, ".", "/");
    return luaL_error(
        L, "no module \"%s\": there is no %s.lua beside the configuration, and the binary has %s",
        name, path, lua_tostring(L, -2));
}

int acog_lua_require(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, 2, name) == LUA_TLIGHTUSERDATA) {
        return luaL_error(L, "module \"%s\" requires itself, directly or over others", name);
    }
    if (!lua_isnil(L, -1)) {
        return 1;
    }
    lua_pop(L, 1);
    if (!name_is_sane(name)) {
        return luaL_error(
            L, "\"%s\" is no module name: words with dots between, such as teams.legal", name);
    }
    bool embedded = push_module(L, name) || push_policy(L, name);
    if (!embedded && !push_beside(L, name)) {
        return refuse_unknown(L, name);
    }
    lua_pushlightuserdata(L, L); /* being loaded */
    lua_setfield(L, 2, name);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
        lua_pushnil(L);
        lua_setfield(L, 2, name);
        return lua_error(L);
    }
    if (embedded && lua_type(L, -1) == LUA_TTABLE) {
        acog_lua_freeze(L, -1);
    } else if (lua_isnil(L, -1)) {
        lua_pushboolean(L, 1);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
    return 1;
}
