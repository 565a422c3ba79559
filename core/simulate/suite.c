/* suite.c - loads a test file, runs its tests one after the other, prints how they went. */
#include "suite.h"

#include "acog/embedded_lua.h"
#include "describe.h"
#include "files.h"
#include "frozen.h"
#include "lua_json.h"
#include "sandbox.h"

#include <string.h>

#include <lauxlib.h>

#define FILE_BYTES_MAX ((size_t)4 * 1024 * 1024)

/* In the registry: the suite; the list of tests; what runs one; what each is given. */
static const char suite_key;
static const char tests_key;
static const char run_key;
static const char given_key;

const struct acog_suite *acog_suite_of(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &suite_key);
    const struct acog_suite *suite = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return suite;
}

/* -- the module ------------------------------------------------------------------------------------- */

/* add(name, function)   [-0, +0], may raise: argument, too many */
static int add_test(lua_State *L)
{
    luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tests_key);
    lua_Integer count = (lua_Integer)lua_rawlen(L, 3);
    if (count == ACOG_TESTS_MAX) {
        return luaL_error(L, "more than %d tests in one file", ACOG_TESTS_MAX);
    }
    lua_createtable(L, 2, 0);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
    lua_pushvalue(L, 2);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, 3, count + 1);
    return 0;
}

static const luaL_Reg functions[] = {
    {"add", add_test},
    {"gateway", acog_lua_gateway},
    {"list", acog_lua_list},
    {NULL, NULL},
};

static const struct acog_embedded_lua *find_module(void)
{
    for (size_t i = 0; i < acog_embedded_lua_count; i++) {
        if (strcmp(acog_embedded_lua[i].path, "lua/test.lua") == 0) {
            return &acog_embedded_lua[i];
        }
    }
    return NULL;
}

/* open(suite): makes `require "acog.test"` known.   [-0, +0], may raise */
static int open_module(lua_State *L)
{
    const struct acog_suite *suite = lua_touserdata(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &suite_key);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &tests_key);
    const struct acog_embedded_lua *module = find_module();
    if (module == NULL) {
        return luaL_error(L, "lua/test.lua is not in this binary");
    }
    struct acog_error error;
    struct acog_view text = {.ptr = (const char *)module->bytes, .len = module->size};
    if (acog_lua_load(L, text, module->path, &error) != ACOG_OK) {
        return luaL_error(L, "%s", error.text);
    }
    luaL_newlib(L, functions);
    acog_lua_push_null(L);
    lua_setfield(L, -2, "null");
    if (acog_lua_call(L, 1, 3, suite->instructions, &error) != ACOG_OK) {
        return luaL_error(L, "%s", error.text);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &run_key);
    acog_lua_freeze(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &given_key);
    lua_pop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_insert(L, -2);
    lua_setfield(L, -2, "acog.test");
    return 0;
}

/* -- loading ---------------------------------------------------------------------------------------- */

static enum acog_code load_file(lua_State *L, const struct acog_suite *suite,
                                struct acog_error *error)
{
    struct acog_buffer text;
    acog_buffer_init(&text, FILE_BYTES_MAX);
    enum acog_code code = acog_files_read(suite->path, &text, error);
    if (code == ACOG_OK) {
        code = acog_lua_load(L, acog_buffer_view(&text), suite->path, error);
    }
    acog_buffer_fini(&text);
    return code == ACOG_OK ? acog_lua_call(L, 0, 0, suite->instructions, error) : code;
}

static enum acog_code load_suite(lua_State *L, struct acog_suite *suite, struct acog_error *error)
{
    lua_pushcfunction(L, open_module);
    lua_pushlightuserdata(L, suite);
    enum acog_code code = acog_lua_call(L, 1, 0, suite->instructions, error);
    return code == ACOG_OK ? load_file(L, suite, error) : code;
}

/* -- running ---------------------------------------------------------------------------------------- */

static void print_indented(FILE *out, const char *text, size_t bytes)
{
    while (bytes > 0) {
        const char *newline = memchr(text, '\n', bytes);
        size_t length = newline == NULL ? bytes : (size_t)(newline - text);
        (void)fprintf(out, "        %.*s\n", (int)length, text);
        length += newline == NULL ? 0 : 1;
        text += length;
        bytes -= length;
    }
}

/* What became of the last request of the test that failed. */
static void print_last_request(FILE *out, const struct acog_world *world)
{
    const struct acog_sim_client *client = acog_world_last_client(world);
    struct acog_sim_reply reply = acog_sim_client_reply(client);
    const struct acog_exchange_record *record = acog_sim_client_record(client);
    (void)fprintf(out, "        the last request: %.*s %.*s",
                  ACOG_VIEW_FMT(acog_sim_client_method(client)),
                  ACOG_VIEW_FMT(acog_sim_client_target(client)));
    if (record == NULL) {
        (void)fprintf(out, ", not over\n");
        return;
    }
    if (record->model.len > 0) {
        (void)fprintf(out, ", model %.*s", ACOG_VIEW_FMT(record->model));
    }
    (void)fprintf(out, " -> %u", reply.status);
    if (record->error_code.len > 0) {
        (void)fprintf(out, " %.*s", ACOG_VIEW_FMT(record->error_code));
    }
    (void)fprintf(out, " after %lld ms%s\n", (long long)reply.duration_ms,
                  reply.aborted ? ", broken off" : "");
    if (record->request != NULL) {
        acog_describe_plan(out, "          ", record->snapshot, record->request);
        acog_describe_attempts(out, "          ", record->snapshot, record->request);
    }
    if (acog_world_policy_error(world)[0] != '\0') {
        (void)fprintf(out, "          the policy failed: %s\n", acog_world_policy_error(world));
    }
}

/* The test's function is on top. True: it passed. [-1, +0] */
static bool run_test(lua_State *L, const struct acog_suite *suite, const char *name)
{
    struct acog_error error = {0};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key);
    lua_insert(L, -2);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &given_key);
    enum acog_code code = acog_lua_call(L, 2, 2, suite->instructions, &error);
    bool passed = code == ACOG_OK && lua_toboolean(L, -2) != 0;
    (void)fprintf(suite->out, "  %s  %s\n", passed ? "ok    " : "FAILED", name);
    if (!passed) {
        size_t bytes = 0;
        const char *text = code == ACOG_OK ? lua_tolstring(L, -1, &bytes) : NULL;
        if (text == NULL) {
            text = error.text;
            bytes = strlen(text);
        }
        print_indented(suite->out, text, bytes);
        const struct acog_world *world = acog_lua_last_world(L);
        if (world != NULL) {
            print_last_request(suite->out, world);
        }
    }
    if (code == ACOG_OK) {
        lua_pop(L, 2);
    }
    acog_lua_close_gateways(L);
    return passed;
}

static void run_tests(lua_State *L, const struct acog_suite *suite,
                      struct acog_suite_result *result)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tests_key);
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        lua_rawgeti(L, -1, 1);
        const char *name = lua_tostring(L, -1); /* lives in the list */
        lua_pop(L, 1);
        if (suite->filter == NULL || strstr(name, suite->filter) != NULL) {
            lua_rawgeti(L, -1, 2);
            if (run_test(L, suite, name)) {
                result->passed++;
            } else {
                result->failed++;
            }
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

struct acog_suite_result acog_suite_run(const struct acog_suite *suite)
{
    struct acog_suite_result result = {0};
    struct acog_error error = {0};
    struct acog_suite lent = *suite; /* to the state, which knows no const */
    (void)fprintf(suite->out, "%s\n", suite->path);
    lua_State *L = acog_policy_lua_new(suite->path, &error);
    if (L == NULL || load_suite(L, &lent, &error) != ACOG_OK) {
        (void)fprintf(suite->out, "  ERROR   the file cannot be run\n        %s\n", error.text);
        result.broken = true;
    } else {
        run_tests(L, suite, &result);
    }
    if (L != NULL) {
        acog_lua_close_gateways(L);
        acog_policy_lua_free(&L);
    }
    return result;
}
