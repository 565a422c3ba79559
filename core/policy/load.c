/* load.c - a load: read, run, compile. */
#include "load.h"

#include "acog/contract.h"
#include "frozen.h"
#include "report.h"
#include "sandbox.h"
#include "sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#define STACK_SLOTS 120 /* the deepest record and its neighbours */

/* -- compiling, protected --------------------------------------------------------------------------- */

static int compile_protected(lua_State *L)
{
    struct compile *compile = lua_touserdata(L, 1);
    luaL_checkstack(L, STACK_SLOTS, "configuration");
    lua_newtable(L);
    compile->functions = lua_gettop(L);
    lua_newtable(L);
    compile->objects = lua_gettop(L);
    lua_pushvalue(L, compile->objects);
    lua_setfield(L, compile->functions, "objects");
    lua_newtable(L);
    compile->rules = lua_gettop(L);
    lua_pushnil(L);
    compile->match = lua_gettop(L);
    lua_pushnil(L);
    compile->match_options = lua_gettop(L);
    compile_gateway(compile, 2);
    lua_pushvalue(L, compile->functions);
    lua_rawsetp(L, LUA_REGISTRYINDEX, compile->loaded);
    return 0;
}

enum acog_code load_compile(const struct load *load, lua_State *L, int index,
                            struct acog_error *error)
{
    struct compile compile = {
        .reader = {.L = L, .arena = &load->loaded->arena, .report = load->report},
        .loaded = load->loaded,
        .snapshot = &load->loaded->snapshot,
        .shared = load->shared,
        .options = &load->options,
    };
    index = lua_absindex(L, index);
    reader_root(&compile.reader, load->path, "configuration");
    if (lua_checkstack(L, 4) == 0) {
        return acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
    }
    lua_pushcfunction(L, compile_protected);
    lua_pushlightuserdata(L, &compile);
    lua_pushvalue(L, index);
    enum acog_code code = acog_lua_call(L, 2, 0, LOAD_INSTRUCTIONS, error);
    if (code != ACOG_OK && compile.reader.no_memory) {
        code = ACOG_NO_MEMORY;
    }
    return code;
}

enum acog_code load_run(lua_State *L, struct acog_view text, const char *path,
                        struct acog_error *error)
{
    if (lua_checkstack(L, 4) == 0) {
        return acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
    }
    enum acog_code code = acog_lua_load(L, text, path, error);
    return code == ACOG_OK ? acog_lua_call(L, 0, 1, LOAD_INSTRUCTIONS, error) : code;
}

/* -- from a file ------------------------------------------------------------------------------------ */

static const char *env_of_process(void *user, const char *name)
{
    (void)user;
    return getenv(name); /* NOLINT(concurrency-mt-unsafe): nothing here changes the environment */
}

/* One finding for what stopped the load. */
static void add_error(struct acog_report *report, const char *path, const struct acog_error *error)
{
    char text[ACOG_ERROR_TEXT_MAX + 160];
    bool placed =
        strstr(error->text, ".lua:") != NULL || strncmp(error->text, path, strlen(path)) == 0;
    (void)snprintf(text, sizeof(text), "%s%s%s", placed ? "" : path, placed ? "" : ": ",
                   error->text);
    report_add(report, ACOG_FINDING_ERROR, text);
}

static enum acog_code load_from_file(const struct load *load,
                                     const struct acog_policy_options *options,
                                     struct sources *sources, struct acog_error *error)
{
    struct acog_lua_files files = {.read = sources_read, .user = sources};
    struct acog_view text;
    lua_State *L = acog_lua_new(STATE_BYTES_MAX, &files, error);
    if (L == NULL) {
        return ACOG_NO_MEMORY;
    }
    enum acog_code code = sources_main(sources, options, &text, error);
    if (code == ACOG_OK) {
        code = load_run(L, text, load->path, error);
    }
    if (code == ACOG_OK) {
        code = load_compile(load, L, -1, error);
    }
    if (code == ACOG_OK) {
        code = sources_keep(sources, load->loaded, error);
    }
    acog_lua_close(&L);
    return code;
}

/* The end of each load: the snapshot, or findings and nothing. */
static enum acog_code finish(struct load *load, enum acog_code code,
                             struct acog_snapshot **snapshot, const struct acog_error *error)
{
    if (code != ACOG_OK && code != ACOG_NO_MEMORY) {
        add_error(load->report, load->path, error);
    }
    if (code == ACOG_OK && load->report->errors == 0) {
        *snapshot = &load->loaded->snapshot;
        return ACOG_OK;
    }
    loaded_free(&load->loaded);
    return code == ACOG_NO_MEMORY ? code : ACOG_INVALID;
}

enum acog_code acog_policy_load(const struct acog_policy_options *options,
                                struct acog_shared *shared, struct acog_snapshot **snapshot,
                                struct acog_report *report)
{
    struct acog_error error;
    struct sources sources;
    struct load load = {
        .path = options->path,
        .options = {.env = options->env != NULL ? options->env : env_of_process,
                    .env_user = options->env_user,
                    .missing_env_is_warning = options->missing_env_is_warning,
                    .offline = options->offline},
        .shared = shared,
        .loaded = loaded_new(shared),
        .report = report,
    };
    *snapshot = NULL;
    if (load.loaded == NULL) {
        return ACOG_NO_MEMORY;
    }
    sources_init(&sources, &load.loaded->arena, options->path);
    enum acog_code code = load_from_file(&load, options, &sources, &error);
    return finish(&load, code, snapshot, &error);
}

/* -- from a table ----------------------------------------------------------------------------------- */

static const char *no_env(void *user, const char *name)
{
    (void)user;
    (void)name;
    return NULL;
}

enum acog_code acog_policy_load_table(struct lua_State *L, int index, const char *path,
                                      struct acog_shared *shared, struct acog_snapshot **snapshot,
                                      struct acog_report *report)
{
    struct acog_error error;
    struct sources sources;
    struct load load = {
        .path = path,
        .options = {.env = no_env, .missing_env_is_warning = true, .offline = true},
        .shared = shared,
        .loaded = loaded_new(shared),
        .report = report,
    };
    *snapshot = NULL;
    if (load.loaded == NULL) {
        return ACOG_NO_MEMORY;
    }
    sources_init(&sources, &load.loaded->arena, path);
    enum acog_code code = load_compile(&load, L, index, &error);
    if (code == ACOG_OK) {
        const struct acog_lua_files *beside = acog_lua_files_of(L);
        const struct sources *required = beside->read == sources_read ? beside->user : NULL;
        code = sources_keep_for_table(&sources, required, path, load.loaded, &error);
    }
    return finish(&load, code, snapshot, &error);
}
