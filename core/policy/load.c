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
    lua_pushnil(L);
    compile->match = lua_gettop(L);
    lua_pushnil(L);
    compile->match_options = lua_gettop(L);
    compile_gateway(compile, 2);
    lua_pushvalue(L, compile->functions);
    lua_rawsetp(L, LUA_REGISTRYINDEX, compile->loaded);
    return 0;
}

enum acog_code load_compile(lua_State *L, int index, const char *path,
                            const struct compile_options *options, struct acog_shared *shared,
                            struct acog_loaded *loaded, struct acog_report *report,
                            struct acog_error *error)
{
    struct compile compile = {
        .reader = {.L = L, .arena = &loaded->arena, .report = report},
        .loaded = loaded,
        .snapshot = &loaded->snapshot,
        .shared = shared,
        .options = options,
    };
    index = lua_absindex(L, index);
    reader_root(&compile.reader, path, "configuration");
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
    bool placed = strstr(error->text, ".lua:") != NULL;
    (void)snprintf(text, sizeof(text), "%s%s%s", placed ? "" : path, placed ? "" : ": ",
                   error->text);
    report_add(report, ACOG_FINDING_ERROR, text);
}

static enum acog_code load_from_file(const struct acog_policy_options *options,
                                     struct sources *sources, lua_State *L,
                                     struct acog_shared *shared, struct acog_loaded *loaded,
                                     struct acog_report *report, struct acog_error *error)
{
    const struct compile_options how = {
        .env = options->env != NULL ? options->env : env_of_process,
        .env_user = options->env_user,
        .missing_env_is_warning = options->missing_env_is_warning,
        .offline = options->offline,
    };
    struct acog_view text;
    enum acog_code code = sources_main(sources, options, &text, error);
    if (code == ACOG_OK) {
        code = load_run(L, text, options->path, error);
    }
    if (code == ACOG_OK) {
        code = load_compile(L, -1, options->path, &how, shared, loaded, report, error);
    }
    return code == ACOG_OK ? sources_keep(sources, loaded, error) : code;
}

static enum acog_code finish(enum acog_code code, const char *path, struct acog_loaded **loaded,
                             struct acog_snapshot **snapshot, struct acog_report *report,
                             const struct acog_error *error)
{
    if (code == ACOG_NO_MEMORY) {
        loaded_free(loaded);
        return code;
    }
    if (code != ACOG_OK) {
        add_error(report, path, error);
    }
    if (report->errors > 0) {
        loaded_free(loaded);
        return ACOG_INVALID;
    }
    *snapshot = &(*loaded)->snapshot;
    return ACOG_OK;
}

enum acog_code acog_policy_load(const struct acog_policy_options *options,
                                struct acog_shared *shared, struct acog_snapshot **snapshot,
                                struct acog_report *report)
{
    struct acog_error error;
    struct sources sources;
    struct acog_loaded *loaded = loaded_new(shared);
    *snapshot = NULL;
    if (loaded == NULL) {
        return ACOG_NO_MEMORY;
    }
    sources_init(&sources, &loaded->arena, options->path);
    struct acog_lua_files files = {.read = sources_read, .user = &sources};
    lua_State *L = acog_lua_new(STATE_BYTES_MAX, &files, &error);
    enum acog_code code = ACOG_NO_MEMORY;
    if (L != NULL) {
        code = load_from_file(options, &sources, L, shared, loaded, report, &error);
        acog_lua_close(&L);
    }
    return finish(code, options->path, &loaded, snapshot, report, &error);
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
    static const struct compile_options how = {
        .env = no_env, .missing_env_is_warning = true, .offline = true};
    struct acog_error error;
    struct sources sources;
    struct acog_loaded *loaded = loaded_new(shared);
    *snapshot = NULL;
    if (loaded == NULL) {
        return ACOG_NO_MEMORY;
    }
    sources_init(&sources, &loaded->arena, path);
    enum acog_code code = load_compile(L, index, path, &how, shared, loaded, report, &error);
    if (code == ACOG_OK) {
        const struct acog_lua_files *beside = acog_lua_files_of(L);
        const struct sources *required = beside->read == sources_read ? beside->user : NULL;
        code = sources_keep_for_table(&sources, required, path, loaded, &error);
    }
    return finish(code, path, &loaded, snapshot, report, &error);
}
