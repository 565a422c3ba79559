/* load.h - evaluating a configuration and compiling what it returned, for load.c and state.c. */
#ifndef ACOG_POLICY_LOAD_H
#define ACOG_POLICY_LOAD_H

#include "acog/error.h"
#include "compile.h"

#include <lua.h>

#define STATE_BYTES_MAX   ((size_t)64 * 1024 * 1024)
#define LOAD_INSTRUCTIONS ((int64_t)500 * 1000 * 1000)

/* What a compilation goes by, and where it goes to. */
struct load {
    const char *path; /* of the configuration, for messages */
    struct compile_options options;
    struct acog_shared *shared; /* NULL: no cells are taken */
    struct acog_loaded *loaded;
    struct acog_report *report;
};

/* Compiles the gateway table at `index` of L. On ACOG_OK the registry of L holds, under the address of load->loaded, the
 * list of slot functions, with `declared`, `positions` and `objects` as named fields. Findings are in the report, whose
 * errors the caller counts. Leaves the stack as it was. */
enum acog_code load_compile(const struct load *load, lua_State *L, int index,
                            struct acog_error *error) ACOG_MUST_CHECK;

/* Runs the configuration's text. On ACOG_OK what it returned is on the stack: [-0, +1]. */
enum acog_code load_run(lua_State *L, struct acog_view text, const char *path,
                        struct acog_error *error) ACOG_MUST_CHECK;

#endif
