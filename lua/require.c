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

/* Pushes the chunk of an embedded module and what it receives. False: there is none of that name. [-0, +2 or +0] */
static bool push_embedded(lua_State *L, const char *name)
{
    static const char policies[] = "policies.";
    const struct acog_embedded_lua *file = NULL;
    lua_CFunction open = open_nothing;
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        if (strcmp(modules[i].name, name) == 0) {
            file = embedded_file(modules[i].path);
            open = modules[i].open;
        }
    }
    if (file == NULL && strncmp(name, policies, sizeof(policies) - 1) == 0) {
        const char *policy = name + sizeof(policies) - 1;
        file = embedded_file(lua_pushfstring(L, "policies/%s/%s.lua", policy, policy));
        lua_pop(L, 1);
    }
    if (file == NULL) {
        return false;
    }
    struct acog_error error;
    struct acog_view text = {.ptr = (const char *)file->bytes, .len = file->size};
    if (acog_lua_load(L, text, file->path, &error) != ACOG_OK) {
        luaL_error(L, "%s", error.text);
    }
    (void)open(L);
    return true;
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
    if (code == ACOG_OK) {
        code = acog_lua_load(L, text, path.ptr, &error);
    }
    if (code != ACOG_OK) {
        luaL_error(L, "%s", error.text);
    }
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
    luaL_addstring(&out, "policies.acog");
    luaL_pushresult(&out);
    return luaL_error(
        L, "no module \"%s\": not embedded (%s), and no such file beside the configuration", name,
        lua_tostring(L, -1));
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
    bool embedded = push_embedded(L, name);
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
