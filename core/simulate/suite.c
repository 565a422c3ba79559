/* suite.c - loads a test file, runs its tests one after the other, prints how they went. */
#include "suite.h"

#include "acog/embedded_lua.h"
#include "describe.h"
#include "files.h"
#include "frozen.h"
#include "lua_gateway.h"
#include "lua_json.h"
#include "results.h"
#include "sandbox.h"

#include <string.h>

#include <lauxlib.h>

#define FILE_BYTES_MAX     ((size_t)4 * 1024 * 1024)
#define FAILURE_BYTES_MAX  ((size_t)1024 * 1024)      /* what comes later is left out */
#define ATTACHED_BYTES_MAX ((size_t)16 * 1024 * 1024) /* to one result */

/* A suite while it runs. */
struct run {
    const struct acog_suite *suite;
    struct acog_suite_result result;
    const char *test;            /* the name of the one that runs */
    bool case_failed;            /* of it: what happened has been told */
    struct acog_buffer attached; /* to the next result */
};

/* In the registry: the run; the list of tests; what runs one; what each is given. */
static const char run_of_suite_key;
static const char tests_key;
static const char run_key;
static const char given_key;

#define GIVEN_NAMES                                                                               \
    "equal, different, is_true, is_false, match, no_match, error, fail, cases, attach, gateway, " \
    "hello, null, list, with"

static struct run *run_of(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_of_suite_key);
    struct run *run = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return run;
}

const struct acog_suite *acog_suite_of(lua_State *L)
{
    return run_of(L)->suite;
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

static void tell(lua_State *L, struct run *run, const char *name, struct acog_view why,
                 bool passed);

/* case(name, passed, why): a part of the running test went so.   [-0, +0], may raise: argument */
static int add_case(lua_State *L)
{
    struct run *run = run_of(L);
    struct acog_view why = {0};
    const char *name = luaL_checkstring(L, 1);
    bool passed = lua_toboolean(L, 2) != 0;
    if (!passed) {
        why.ptr = luaL_checklstring(L, 3, &why.len);
    }
    if (run->test == NULL) {
        return luaL_error(L, "a case is a part of a test");
    }
    lua_pushfstring(L, "%s: %s", run->test, name);
    tell(L, run, lua_tostring(L, -1), why, passed);
    run->case_failed = run->case_failed || !passed;
    return 0;
}

/* attach(name, value): a part of the next result in the JSON report.   [-0, +0], may raise: argument, too much */
static int attach(lua_State *L)
{
    struct run *run = run_of(L);
    struct acog_buffer *out = &run->attached;
    struct acog_error error = {.text = "too much is attached"};
    struct acog_view name = {0};
    name.ptr = luaL_checklstring(L, 1, &name.len);
    lua_settop(L, 2);
    size_t before = out->len;
    enum acog_code code = acog_buffer_append(out, before > 0 ? ACOG_VIEW(",\"") : ACOG_VIEW("\""));
    if (code == ACOG_OK) {
        code = acog_buffer_append_json(out, name);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(out, ACOG_VIEW("\":"));
    }
    if (code == ACOG_OK) {
        code = acog_lua_write_json(L, 2, out, &error);
    }
    if (code != ACOG_OK) {
        out->len = before;
        return luaL_error(L, "attach: %s", error.text);
    }
    return 0;
}

static const luaL_Reg functions[] = {
    {"add", add_test},       {"case", add_case}, {"attach", attach}, {"gateway", acog_lua_gateway},
    {"list", acog_lua_list}, {NULL, NULL},
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

/* open(run): makes `require "acog.test"` known.   [-0, +0], may raise */
static int open_module(lua_State *L)
{
    const struct acog_suite *suite = ((const struct run *)lua_touserdata(L, 1))->suite;
    lua_rawsetp(L, LUA_REGISTRYINDEX, &run_of_suite_key);
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
    luaL_getmetafield(L, -1, "__index"); /* what a frozen table shows */
    acog_lua_make_strict(L, "t", GIVEN_NAMES);
    lua_pop(L, 1);
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

static enum acog_code load_suite(lua_State *L, struct run *run, struct acog_error *error)
{
    lua_pushcfunction(L, open_module);
    lua_pushlightuserdata(L, run);
    enum acog_code code = acog_lua_call(L, 1, 0, run->suite->instructions, error);
    return code == ACOG_OK ? load_file(L, run->suite, error) : code;
}

/* -- telling ---------------------------------------------------------------------------------------- */

/* Each line of the text behind an indent. */
static void put_indented(struct acog_buffer *out, const char *indent, struct acog_view text)
{
    while (text.len > 0) {
        size_t length = acog_view_find(text, ACOG_VIEW("\n"));
        (void)!acog_buffer_format(out, "%s", indent);
        (void)!acog_buffer_append(out, acog_view_slice(text, 0, length));
        (void)!acog_buffer_append(out, ACOG_VIEW("\n"));
        text = acog_view_slice(text, length + 1, text.len);
    }
}

/* What became of the last request of the test that failed. */
static void put_last_request(struct acog_buffer *out, const struct acog_world *world)
{
    const struct acog_sim_client *client = acog_world_last_client(world);
    struct acog_sim_reply reply = acog_sim_client_reply(client);
    const struct acog_exchange_record *record = acog_sim_client_record(client);
    (void)!acog_buffer_format(out, "the last request: %.*s %.*s",
                              ACOG_VIEW_FMT(acog_sim_client_method(client)),
                              ACOG_VIEW_FMT(acog_sim_client_target(client)));
    if (record == NULL) {
        (void)!acog_buffer_format(out, ", not over\n");
    } else {
        if (record->model.len > 0) {
            (void)!acog_buffer_format(out, ", model %.*s", ACOG_VIEW_FMT(record->model));
        }
        (void)!acog_buffer_format(out, " -> %u", reply.status);
        if (record->error_code.len > 0) {
            (void)!acog_buffer_format(out, " %.*s", ACOG_VIEW_FMT(record->error_code));
        }
        (void)!acog_buffer_format(out, " after %lld ms%s\n", (long long)reply.duration_ms,
                                  reply.aborted ? ", broken off" : "");
        if (record->request != NULL) {
            acog_describe_plan(out, "  ", record->snapshot, record->request);
            acog_describe_attempts(out, "  ", record->snapshot, record->request);
        }
    }
    if (acog_world_policy_error(world)[0] != '\0') {
        (void)!acog_buffer_format(out, "  the policy failed: %s\n", acog_world_policy_error(world));
    }
    struct acog_view transcript = acog_sim_client_transcript(client);
    if (transcript.len > 0) {
        (void)!acog_buffer_format(out, "  what the engine was told, and what it said:\n");
        put_indented(out, "    ", transcript);
    }
}

static void report(const struct acog_suite *suite, const struct acog_test_result *result)
{
    if (suite->json != NULL) {
        acog_results_json(suite->json, result);
    }
    if (suite->junit != NULL) {
        acog_results_junit(suite->junit, result);
    }
}

/* A test, or a case of one, went so. `why` is the text of the check that did not hold. */
static void tell(lua_State *L, struct run *run, const char *name, struct acog_view why, bool passed)
{
    bool told = run->case_failed && name == run->test;
    struct acog_buffer text;
    struct acog_buffer shown;
    const struct acog_suite *suite = run->suite;
    acog_buffer_init(&text, FAILURE_BYTES_MAX);
    acog_buffer_init(&shown, FAILURE_BYTES_MAX * 2);
    if (!passed) {
        const struct acog_world *world = acog_lua_last_world(L);
        put_indented(&text, "", why);
        if (world != NULL && !told) {
            put_last_request(&text, world);
        }
        put_indented(&shown, "        ", acog_buffer_view(&text));
    }
    (void)fprintf(suite->out, "  %s  %s\n%.*s", passed ? "ok    " : "FAILED", name,
                  ACOG_VIEW_FMT(acog_buffer_view(&shown)));
    const struct acog_test_result result = {.file = suite->path,
                                            .name = name,
                                            .outcome = passed ? ACOG_TEST_PASSED : ACOG_TEST_FAILED,
                                            .why = acog_buffer_view(&text),
                                            .attached = acog_buffer_view(&run->attached)};
    report(suite, &result);
    acog_buffer_clear(&run->attached, 0);
    acog_buffer_fini(&shown);
    acog_buffer_fini(&text);
    run->result.passed += passed ? 1 : 0;
    run->result.failed += passed ? 0 : 1;
}

static void tell_broken(struct run *run, const struct acog_error *error)
{
    const struct acog_test_result result = {
        .file = run->suite->path, .outcome = ACOG_TEST_BROKEN, .why = acog_view_of(error->text)};
    (void)fprintf(run->suite->out, "  ERROR   the file cannot be run\n        %s\n", error->text);
    report(run->suite, &result);
    run->result.broken = true;
}

/* -- running ---------------------------------------------------------------------------------------- */

/* The test's function is on top. [-1, +0] */
static void run_test(lua_State *L, struct run *run)
{
    struct acog_error error = {0};
    struct acog_view why = {0};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key);
    lua_insert(L, -2);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &given_key);
    enum acog_code code = acog_lua_call(L, 2, 2, run->suite->instructions, &error);
    bool passed = code == ACOG_OK && lua_toboolean(L, -2) != 0;
    if (code == ACOG_OK) {
        why.ptr = lua_tolstring(L, -1, &why.len);
    } else {
        why = acog_view_of(error.text);
    }
    tell(L, run, run->test, why, passed);
    if (code == ACOG_OK) {
        lua_pop(L, 2);
    }
    acog_lua_close_gateways(L);
}

static void run_tests(lua_State *L, struct run *run)
{
    const struct acog_suite *suite = run->suite;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tests_key);
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        lua_rawgeti(L, -1, 1);
        run->test = lua_tostring(L, -1); /* lives in the list */
        run->case_failed = false;
        lua_pop(L, 1);
        if (suite->filter == NULL || strstr(run->test, suite->filter) != NULL) {
            if (suite->list) {
                (void)fprintf(suite->out, "  %s\n", run->test);
                run->result.passed++;
            } else {
                lua_rawgeti(L, -1, 2);
                run_test(L, run);
            }
        }
        lua_pop(L, 1);
    }
    run->test = NULL;
    lua_pop(L, 1);
}

struct acog_suite_result acog_suite_run(const struct acog_suite *suite)
{
    struct run run = {.suite = suite};
    struct acog_error error = {0};
    acog_buffer_init(&run.attached, ATTACHED_BYTES_MAX);
    (void)fprintf(suite->out, "%s\n", suite->path);
    lua_State *L = acog_policy_lua_new(suite->path, &error);
    if (L == NULL || load_suite(L, &run, &error) != ACOG_OK) {
        tell_broken(&run, &error);
    } else {
        run_tests(L, &run);
    }
    if (L != NULL) {
        acog_lua_close_gateways(L);
        acog_policy_lua_free(&L);
    }
    acog_buffer_fini(&run.attached);
    return run.result;
}
