/* lua_json_test.c - JSON to Lua and back gives the same bytes. */
#include "lua_json.h"

#include "tests/support/check.h"

#include <string.h>

#include <lauxlib.h>

static lua_State *L;

static int open_state(void **state)
{
    (void)state;
    L = luaL_newstate();
    return L == NULL ? -1 : 0;
}

static int close_state(void **state)
{
    (void)state;
    lua_close(L);
    return 0;
}

static void expect_round_trip(const char *text, const char *expected)
{
    struct acog_buffer out;
    struct acog_error error;
    acog_buffer_init(&out, 4096);
    assert_true(acog_lua_push_json(L, acog_view_of(text)));
    assert_int_equal(acog_lua_write_json(L, -1, &out, &error), ACOG_OK);
    assert_true(acog_view_equal(acog_buffer_view(&out), acog_view_of(expected)));
    lua_pop(L, 1);
    assert_int_equal(lua_gettop(L), 0);
    acog_buffer_fini(&out);
}

static void what_is_read_is_written_again(void **state)
{
    (void)state;
    expect_round_trip("{\"b\":1,\"a\":[true,false,null],\"c\":{}}",
                      "{\"a\":[true,false,null],\"b\":1,\"c\":{}}");
    expect_round_trip("[]", "[]"); /* a list remembers that it is one */
    expect_round_trip("[[],{}]", "[[],{}]");
    expect_round_trip("\"h\\u00e9\\n\\u0000\"", "\"h\xc3\xa9\\n\\u0000\"");
    expect_round_trip("9007199254740993", "9007199254740993");
    expect_round_trip("1.5", "1.5");
    expect_round_trip("null", "null");
}

static void what_is_no_json_pushes_nothing(void **state)
{
    (void)state;
    assert_false(acog_lua_push_json(L, ACOG_VIEW("")));
    assert_false(acog_lua_push_json(L, ACOG_VIEW("[DONE]")));
    assert_false(acog_lua_push_json(L, ACOG_VIEW("{\"a\":1} x")));
    assert_int_equal(lua_gettop(L), 0);
}

static void expect_written(const char *chunk, const char *expected)
{
    struct acog_buffer out;
    struct acog_error error;
    acog_buffer_init(&out, 4096);
    assert_int_equal(luaL_loadstring(L, chunk), LUA_OK);
    assert_int_equal(lua_pcall(L, 0, 1, 0), LUA_OK);
    assert_int_equal(acog_lua_write_json(L, -1, &out, &error), ACOG_OK);
    assert_true(acog_view_equal(acog_buffer_view(&out), acog_view_of(expected)));
    lua_pop(L, 1);
    acog_buffer_fini(&out);
}

static void tables_are_arrays_by_their_first_element_else_objects(void **state)
{
    (void)state;
    expect_written("return { 'x', 'y' }", "[\"x\",\"y\"]");
    expect_written("return {}", "{}");
    expect_written("return { a = { [7] = 1 } }", "{\"a\":{\"7\":1}}");
}

static void expect_refused(const char *chunk, enum acog_code code, const char *part)
{
    struct acog_buffer out;
    struct acog_error error;
    acog_buffer_init(&out, 64);
    assert_int_equal(luaL_loadstring(L, chunk), LUA_OK);
    assert_int_equal(lua_pcall(L, 0, 1, 0), LUA_OK);
    assert_int_equal(acog_lua_write_json(L, -1, &out, &error), code);
    assert_non_null(strstr(error.text, part));
    assert_int_equal(out.len, 0);
    lua_pop(L, 1);
    assert_int_equal(lua_gettop(L), 0);
    acog_buffer_fini(&out);
}

static void what_json_cannot_say_is_refused(void **state)
{
    (void)state;
    expect_refused("local t = {} t.t = t return t", ACOG_TOO_BIG, "nested deeper");
    expect_refused("return { a = function() end }", ACOG_INVALID, "a function has no form");
    expect_refused("return { [true] = 1 }", ACOG_INVALID, "a key of a JSON object is a boolean");
    expect_refused("return { 1, [3] = 3 }", ACOG_INVALID, "a list has a hole");
    expect_refused("return { 1, n = 3 }", ACOG_INVALID, "keys that are no positions");
    expect_refused("return { 1 / 0 }", ACOG_INVALID, "no infinity");
    expect_refused("return { '\\xff' }", ACOG_INVALID, "not UTF-8");
    expect_refused("local t = {} for i = 1, 99 do t[i] = i end return t", ACOG_TOO_BIG, "64 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_read_is_written_again, open_state, close_state),
        cmocka_unit_test_setup_teardown(what_is_no_json_pushes_nothing, open_state, close_state),
        cmocka_unit_test_setup_teardown(tables_are_arrays_by_their_first_element_else_objects,
                                        open_state, close_state),
        cmocka_unit_test_setup_teardown(what_json_cannot_say_is_refused, open_state, close_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
