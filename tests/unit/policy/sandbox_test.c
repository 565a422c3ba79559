/* sandbox_test.c - the sandbox from outside: its names, its budgets, what comes out of a failed call. */
#include "lua/sandbox.h"

#include "acog/buffer.h"
#include "acog/error.h"
#include "acog/memory.h"
#include "tests/support/check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#define MEMORY_MAX   ((size_t)8 * 1024 * 1024)
#define INSTRUCTIONS ((int64_t)1000 * 1000)

static lua_State *new_state(void)
{
    struct acog_lua_files files = {.read = NULL};
    struct acog_error error;
    lua_State *L = acog_lua_new(MEMORY_MAX, &files, &error);
    assert_non_null(L);
    return L;
}

static enum acog_code run(lua_State *L, const char *text, struct acog_error *error)
{
    enum acog_code code = acog_lua_load(L, acog_view_of(text), "chunk.lua", error);
    return code == ACOG_OK ? acog_lua_call(L, 0, 1, INSTRUCTIONS, error) : code;
}

static void a_call_leaves_its_results_or_nothing(void **state)
{
    (void)state;
    lua_State *L = new_state();
    struct acog_error error;
    enum acog_code code = run(L, "return 6 * 7", &error);
    assert_int_equal(code, ACOG_OK);
    assert_int_equal(lua_gettop(L), 1);
    assert_int_equal(lua_tointeger(L, -1), 42);
    lua_pop(L, 1);
    code = run(L, "local x = nil\nreturn x.y", &error);
    assert_int_equal(code, ACOG_POLICY);
    assert_int_equal(lua_gettop(L), 0);
    assert_string_equal(error.text, "chunk.lua:2: attempt to index a nil value (local 'x')");
    code = run(L, "error({})", &error);
    assert_int_equal(code, ACOG_POLICY);
    assert_string_equal(error.text, "raised a table, not a text");
    acog_lua_close(&L);
}

static void bytecode_is_refused(void **state)
{
    (void)state;
    lua_State *L = new_state();
    struct acog_error error;
    enum acog_code code = acog_lua_load(L, ACOG_VIEW("\x1bLuaT"), "x.luac", &error);
    assert_int_equal(code, ACOG_INVALID);
    assert_non_null(strstr(error.text, "binary"));
    acog_lua_close(&L);
}

static void a_loop_is_stopped_and_pcall_cannot_go_on(void **state)
{
    (void)state;
    lua_State *L = new_state();
    struct acog_error error;
    static const char *const loops[] = {
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local function f() return f() end f()",
        "for i = 1, 1e9 do local s = (\"x\"):rep(100000) .. i end",
        "local t = {} for i = 1, 20000 do t[i] = i end while true do table.concat(t) end",
    };
    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
        enum acog_code code = run(L, loops[i], &error);
        assert_int_equal(code, ACOG_TOO_BIG);
        assert_non_null(strstr(error.text, "chunk.lua:1: the budget of instructions is spent"));
        code = run(L, "return 1", &error); /* the next call has its own */
        assert_int_equal(code, ACOG_OK);
        lua_pop(L, 1);
    }
    acog_lua_close(&L);
}

static int call_inner(lua_State *L)
{
    struct acog_error error;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushinteger(L, (lua_Integer)acog_lua_call(L, 0, 0, 10000, &error));
    return 1;
}

static void an_inner_budget_does_not_spend_the_outer_one(void **state)
{
    (void)state;
    lua_State *L = new_state();
    struct acog_error error;
    enum acog_code code = acog_lua_load(L, ACOG_VIEW("while true do end"), "inner.lua", &error);
    assert_int_equal(code, ACOG_OK);
    lua_pushcclosure(L, call_inner, 1);
    code = acog_lua_load(L,
                         ACOG_VIEW("local f = ...\nlocal n = 0\n"
                                   "for i = 1, 1000 do n = n + f() end\nreturn n"),
                         "outer.lua", &error);
    assert_int_equal(code, ACOG_OK);
    lua_insert(L, 1);
    code = acog_lua_call(L, 1, 1, INSTRUCTIONS, &error);
    assert_int_equal(code, ACOG_OK);
    assert_int_equal(lua_tointeger(L, -1), 1000 * (int)ACOG_TOO_BIG);
    acog_lua_close(&L);
}

static void memory_has_a_cap(void **state)
{
    (void)state;
    lua_State *L = new_state();
    struct acog_error error;
    enum acog_code code =
        run(L, "local t = {} for i = 1, 100 do t[i] = (\"x\"):rep(1000000) .. i end", &error);
    assert_int_equal(code, ACOG_TOO_BIG);
    assert_string_equal(error.text, "needs more than the 8 MB of memory it may use");
    code = run(L, "return 1", &error);
    assert_int_equal(code, ACOG_OK);
    acog_lua_close(&L);
}

struct countdown {
    unsigned left;
    bool hit;
};

static bool fails_at(void *user)
{
    struct countdown *countdown = user;
    countdown->hit = countdown->hit || countdown->left == 0;
    countdown->left -= countdown->hit ? 0 : 1;
    return countdown->hit;
}

static void a_state_that_cannot_be_made_says_so(void **state)
{
    (void)state;
    struct acog_lua_files files = {.read = NULL};
    for (unsigned at = 0;; at++) {
        struct countdown countdown = {.left = at};
        struct acog_error error = {.code = ACOG_OK};
        acog_memory_fail_when(fails_at, &countdown);
        lua_State *L = acog_lua_new(MEMORY_MAX, &files, &error);
        acog_memory_fail_when(NULL, NULL);
        if (!countdown.hit) {
            assert_non_null(L);
            acog_lua_close(&L);
            break;
        }
        assert_null(L);
        assert_int_equal(error.code, ACOG_NO_MEMORY);
    }
}

/* -- the list ------------------------------------------------------------------------------------------ */

static bool is_quoted_in(const char *text, const char *name)
{
    char quoted[64];
    (void)snprintf(quoted, sizeof(quoted), "\"%s\"", name);
    return strstr(text, quoted) != NULL;
}

/* What .luacheckrc lets a policy use is what there is: every name of its list can be read here, and every global
 * of the sandbox stands in its list. */
static void the_list_equals_luachecks(void **state)
{
    (void)state;
    char text[8192];
    FILE *file = fopen(ACOG_SOURCE_DIR "/.luacheckrc", "rb");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[size] = '\0';
    char *list = strstr(text, "read_globals");
    assert_non_null(list);
    char *close = strstr(list + strlen("read_globals"), "},");
    assert_non_null(close);
    *close = '\0';
    for (size_t i = 0; acog_lua_sandbox_name(i) != NULL; i++) {
        if (!is_quoted_in(list, acog_lua_sandbox_name(i))) {
            fail_msg("%s is in the sandbox and not in .luacheckrc", acog_lua_sandbox_name(i));
        }
    }
    lua_State *L = new_state();
    for (char *name = strchr(list, '"'); name != NULL; name = strchr(name, '"')) {
        char *end = strchr(name + 1, '"');
        assert_non_null(end);
        char chunk[128];
        struct acog_error error;
        (void)snprintf(chunk, sizeof(chunk), "return %.*s", (int)(end - name - 1), name + 1);
        enum acog_code code = run(L, chunk, &error);
        if (code != ACOG_OK) {
            fail_msg("in .luacheckrc and not in the sandbox: %s", error.text);
        }
        lua_pop(L, 1);
        name = end + 1;
    }
    acog_lua_close(&L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_leaves_its_results_or_nothing),
        cmocka_unit_test(bytecode_is_refused),
        cmocka_unit_test(a_loop_is_stopped_and_pcall_cannot_go_on),
        cmocka_unit_test(an_inner_budget_does_not_spend_the_outer_one),
        cmocka_unit_test(memory_has_a_cap),
        cmocka_unit_test(a_state_that_cannot_be_made_says_so),
        cmocka_unit_test(the_list_equals_luachecks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
