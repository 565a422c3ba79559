/* load.h - evaluating a configuration and compiling what it returned, for load.c and state.c. */
#ifndef ACOG_POLICY_LOAD_H
#define ACOG_POLICY_LOAD_H

#include "acog/error.h"
#include "compile.h"

#include <lua.h>

#define STATE_BYTES_MAX   ((size_t)64 * 1024 * 1024)
#define LOAD_INSTRUCTIONS ((int64_t)500 * 1000 * 1000)

/* Compiles the gateway table at `index` of L into `loaded`. On ACOG_OK the registry of L holds, under the address of
 * `loaded`, the list of slot functions, with `declared`, `positions` and `objects` as named fields. Findings are in the
 * report, whose errors the caller counts. Leaves the stack as it was. */
enum acog_code load_compile(lua_State *L, int index, const char *path,
                            const struct compile_options *options, struct acog_shared *shared,
                            struct acog_loaded *loaded, struct acog_report *report,
                            struct acog_error *error) ACOG_MUST_CHECK;

/* Runs the configuration's text. On ACOG_OK what it returned is on the stack: [-0, +1]. */
enum acog_code load_run(lua_State *L, struct acog_view text, const char *path,
                        struct acog_error *error) ACOG_MUST_CHECK;

#endif
