/* suite.h - one test file in its own Lua state, and what its tests reach of it: the C side of "acog.test".
 */
#ifndef ACOG_SIMULATE_SUITE_H
#define ACOG_SIMULATE_SUITE_H

#include "world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <lua.h>

#define ACOG_TESTS_MAX 10000 /* in one file */

struct acog_suite {
    const char *path;     /* of the test file */
    uint64_t seed;        /* of every gateway */
    int64_t instructions; /* of one test, or of loading the file */
    const char *filter;   /* run only names that contain it; NULL: all */
    bool list;            /* print the names, run nothing */
    FILE *out;
    FILE *json;  /* a line for each test; NULL: none */
    FILE *junit; /* a <testcase> for each; NULL: none */
};

struct acog_suite_result {
    size_t passed; /* or listed */
    size_t failed;
    bool broken; /* the file could not be loaded */
};

/* Runs the file's tests in their order and prints a line for each, and for each of their cases. */
struct acog_suite_result acog_suite_run(const struct acog_suite *suite);

/* -- for the bindings --------------------------------------------------------------------------------- */

const struct acog_suite *acog_suite_of(lua_State *L);

/* t.gateway(path or table) -> gateway   [-0, +1], may raise: argument, load errors */
int acog_lua_gateway(lua_State *L);

/* Makes every gateway of the state unusable and gives its memory back. [-0, +0] */
void acog_lua_close_gateways(lua_State *L);

/* The youngest gateway of the running test that has had a request; NULL: none. [-0, +0] */
const struct acog_world *acog_lua_last_world(lua_State *L);

/* Pushes the reply of a client as a table. [-0, +1], may raise: memory */
void acog_lua_push_reply(lua_State *L, struct acog_world *world,
                         const struct acog_sim_client *client);

/* Pushes rows as a table of lower-case names; values of the same name are joined by ", ". [-0, +1] */
void acog_lua_push_headers(lua_State *L, const struct acog_header_row *rows, size_t count);

void acog_lua_push_view(lua_State *L, struct acog_view text);

#endif
