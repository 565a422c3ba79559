/* pattern_test.c - the bounded patterns against those of the Lua library, and their budget. */
#include "lua/pattern.h"

#include "acog/error.h"
#include "acog/random.h"
#include "lua/sandbox.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#define ROUNDS       20000
#define INSTRUCTIONS ((int64_t)1000 * 1000)

/* Both are called with the same arguments; the answers must be equal, errors too (but for their texts). */
static const char comparison[] =
    "local own, lib, subject, pattern, what = ...\n"
    "local function all(f, ...)\n"
    "  local r = table.pack(pcall(f, ...))\n"
    "  if not r[1] then return 'error' end\n"
    "  local t = {}\n"
    "  for i = 1, r.n do t[i] = tostring(r[i]) end\n"
    "  return table.concat(t, '|')\n"
    "end\n"
    "local function words(gmatch)\n"
    "  return function(s, p)\n"
    "    local t = {}\n"
    "    for a, b in gmatch(s, p) do t[#t + 1] = tostring(a) .. ',' .. tostring(b) end\n"
    "    return table.concat(t, ';')\n"
    "  end\n"
    "end\n"
    "if what == 'gmatch' then return all(words(own), subject, pattern), all(words(lib), subject, pattern) end\n"
    "if what == 'gsub' then\n"
    "  return all(own, subject, pattern, '<%0>'), all(lib, subject, pattern, '<%0>')\n"
    "end\n"
    "return all(own, subject, pattern), all(lib, subject, pattern)\n";

struct world {
    lua_State *sandbox;
};

static int set_up(void **state)
{
    static struct world world;
    struct acog_lua_files files = {.read = NULL};
    struct acog_error error;
    world.sandbox = acog_lua_new((size_t)64 * 1024 * 1024, &files, &error);
    assert_non_null(world.sandbox);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    acog_lua_close(&world->sandbox);
    return 0;
}

static const char *const functions[] = {"find", "match", "gmatch", "gsub"};
static lua_CFunction const own[] = {acog_lua_pattern_find, acog_lua_pattern_match,
                                    acog_lua_pattern_gmatch, acog_lua_pattern_gsub};

static int compare_protected(lua_State *L)
{
    const char *subject = luaL_checkstring(L, 1);
    const char *pattern = luaL_checkstring(L, 2);
    luaL_requiref(L, "string", luaopen_string, 0);
    for (int i = 0; i < 4; i++) {
        int loaded = luaL_loadbufferx(L, comparison, sizeof(comparison) - 1, "=comparison", "t");
        assert_int_equal(loaded, LUA_OK);
        lua_pushcfunction(L, own[i]);
        lua_getfield(L, 3, functions[i]);
        lua_pushstring(L, subject);
        lua_pushstring(L, pattern);
        lua_pushstring(L, functions[i]);
        int called = lua_pcall(L, 5, 2, 0);
        assert_int_equal(called, LUA_OK);
        if (lua_compare(L, -1, -2, LUA_OPEQ) == 0) {
            return luaL_error(L, "%s(\"%s\", \"%s\"): ours %s, the library's %s", functions[i],
                              subject, pattern, lua_tostring(L, -2), lua_tostring(L, -1));
        }
        lua_pop(L, 2);
    }
    return 0;
}

static void compare(struct world *world, const char *subject, const char *pattern)
{
    struct acog_error error;
    lua_pushcfunction(world->sandbox, compare_protected);
    lua_pushstring(world->sandbox, subject);
    lua_pushstring(world->sandbox, pattern);
    if (acog_lua_call(world->sandbox, 2, 0, INSTRUCTIONS * 100, &error) != ACOG_OK) {
        fail_msg("%s", error.text);
    }
}

static void the_manuals_examples_give_the_librarys_answers(void **state)
{
    static const char *const pairs[][2] = {
        {"hello world from Lua", "%a+"},
        {"from=world, to=Lua", "(%w+)=(%w+)"},
        {"x^(y(z))", "%b()"},
        {"THE (quick) fox", "%f[%a]%a+"},
        {"  trim me  ", "^%s*(.-)%s*$"},
        {"\"quoted\" 'text'", "([\"'])(.-)%1"},
        {"abc", ""},
        {"", ""},
        {"a.b-c", "[%w.-]+"},
        {"]x^", "[]x^]+"},
        {"aXb", "[^%l]"},
        {"key", "()ke()y()"},
        {"2026-11-30", "(%d+)-(%d+)-(%d+)"},
        {"a", "^a$"},
        {"a$", "a%$"},
        {"abc", "b*"},
        {"aaa", "a-"},
        {"aaab", "a-b"},
        {"abc", "[a-"},
        {"abc", "(a"},
        {"abc", "a)"},
        {"abc", "%"},
        {"abc", "%b"},
        {"abc", "%f"},
        {"abc", "%1"},
        {"abc", "(a)%2"},
        {"a-z", "[a%-z]+"},
        {"x", "[%]]"},
        {"\x80\xff", "[\x80-\xff]+"},
        {"aaa", "^a"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        compare(*state, pairs[i][0], pairs[i][1]);
    }
}

static void random_patterns_give_the_librarys_answers(void **state)
{
    static const char *const pieces[] = {
        "a", "b", ".", "%a", "%d", "%s", "[ab]", "[^a]",  "(",     ")", "*", "+",  "-",
        "?", "^", "$", "%",  "%1", "()", "%b",   "%f[a]", "[a-c]", "]", "[", "%w", "%."};
    static const char letters[] = "aab1 .(b)";
    uint64_t seed = 20261130;
    for (int round = 0; round < ROUNDS; round++) {
        char pattern[64] = "";
        char subject[16] = "";
        int64_t count = acog_random_between(&seed, 0, 6);
        for (int64_t i = 0; i < count; i++) {
            size_t piece = (size_t)acog_random_between(
                &seed, 0, (int64_t)(sizeof(pieces) / sizeof(pieces[0])) - 1);
            size_t used = strlen(pattern);
            (void)snprintf(pattern + used, sizeof(pattern) - used, "%s", pieces[piece]);
        }
        int64_t length = acog_random_between(&seed, 0, 8);
        for (int64_t i = 0; i < length; i++) {
            subject[i] = letters[acog_random_between(&seed, 0, (int64_t)sizeof(letters) - 2)];
        }
        compare(*state, subject, pattern);
    }
}

/* FACTS: one string.find with optional items held a thread for 1.2 s. */
static void a_pattern_that_backtracks_for_ever_is_stopped(void **state)
{
    struct world *world = *state;
    static const char text[] = "local s = (\"a\"):rep(40)\n"
                               "pcall(string.find, s, (\"a?\"):rep(40) .. (\"a\"):rep(41))\n"
                               "return 1";
    struct acog_error error;
    enum acog_code code = acog_lua_load(world->sandbox, acog_view_of(text), "p.lua", &error);
    assert_int_equal(code, ACOG_OK);
    code = acog_lua_call(world->sandbox, 0, 1, INSTRUCTIONS, &error);
    assert_int_equal(code, ACOG_TOO_BIG); /* and pcall could not swallow it */
    assert_non_null(strstr(error.text, "p.lua:"));
    assert_non_null(strstr(error.text, "the budget of instructions is spent"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manuals_examples_give_the_librarys_answers),
        cmocka_unit_test(random_patterns_give_the_librarys_answers),
        cmocka_unit_test(a_pattern_that_backtracks_for_ever_is_stopped),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
