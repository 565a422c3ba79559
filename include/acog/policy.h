/* policy.h - from a Lua configuration to a snapshot, and the functions that stayed functions.
 *
 * A load runs the configuration in a fresh Lua state, checks every field, compiles constants to rows and notes each
 * function as a slot. The snapshot keeps the text of every file it read, so that each worker builds its own state
 * (acog_policy_state) from the very same bytes: slot numbers agree because the order of evaluation does.
 */
#ifndef ACOG_POLICY_H
#define ACOG_POLICY_H

#include "acog/buffer.h"
#include "acog/engine.h"
#include "acog/error.h"
#include "acog/provider.h"
#include "acog/shared.h"
#include "acog/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

/* What a load has to say: one finding a line, "FILE:LINE: FIELD: what is wrong; what is allowed". */
enum acog_finding_level {
    ACOG_FINDING_ERROR = 0,
    ACOG_FINDING_WARNING,
};

struct acog_finding {
    enum acog_finding_level level;
    struct acog_view text;
};

#define ACOG_FINDINGS_MAX 64

struct acog_report {
    struct acog_finding findings[ACOG_FINDINGS_MAX];
    size_t count;
    size_t errors;
    struct acog_arena texts;
};

void acog_report_init(struct acog_report *report);
void acog_report_fini(struct acog_report *report);

/* How a configuration may be read: a name to a file's text. The default reads the file system beside the
 * configuration; tests give their own. */
struct acog_policy_options {
    const char *path;      /* of the configuration */
    struct acog_view text; /* instead of reading `path`; NULL ptr: read it */
    /* acog.env: the default reads the environment. NULL result: not set. */
    const char *(*env)(void *user, const char *name);
    void *env_user;
    /* `acog check`, `acog test`, `acog explain`: secrets need not be there. */
    bool missing_env_is_warning;
    /* `acog test`, `acog explain`: nothing is dialled, so a connection needs no address and may stand on a channel that
     * cannot be dialled yet. acog_policy_load_table() is always offline. */
    bool offline;
};

/* ACOG_OK, or ACOG_INVALID with findings. Warnings may be there in both cases. */
enum acog_code acog_policy_load(const struct acog_policy_options *options,
                                struct acog_shared *shared, struct acog_snapshot **snapshot,
                                struct acog_report *report) ACOG_MUST_CHECK;

/* The functions of a snapshot, in one worker. Takes a reference to the snapshot. */
struct acog_policy_state;

struct acog_policy_state *acog_policy_state_new(struct acog_snapshot *snapshot,
                                                struct acog_error *error);
void acog_policy_state_free(struct acog_policy_state **state);

/* Answers a question: by the memo (MATCH), or by running the function in its budget. The answer's lists are valid until
 * the next call; reasons are interned in the state and live as long as it. A function that fails gives
 * answer.failed, and `error` says file, line and what. */
void acog_policy_answer(struct acog_policy_state *state, const struct acog_ask *ask,
                        struct acog_answer *answer, struct acog_error *error);

/* -- for core/simulate -------------------------------------------------------------------------------- */

struct lua_State;

/* A Lua state with the sandbox, the embedded modules and the constructors of a configuration, for a test file:
 * `acog test` adds its own module "acog.test" and runs the file in it. NULL: no memory. */
struct lua_State *acog_policy_lua_new(const char *beside_path, struct acog_error *error);
void acog_policy_lua_free(struct lua_State **L);

/* The functions of a snapshot that acog_policy_load_table() made: they live in that same state, which must outlive
 * the result. Freed by acog_policy_state_free(). */
struct acog_policy_state *acog_policy_state_in(struct lua_State *L, struct acog_snapshot *snapshot,
                                               struct acog_error *error);

/* Loads from the table at `index` (what acog.gateway returned) instead of from a file. */
enum acog_code acog_policy_load_table(struct lua_State *L, int index, const char *path,
                                      struct acog_shared *shared, struct acog_snapshot **snapshot,
                                      struct acog_report *report) ACOG_MUST_CHECK;

/* The reply words of provider.h from the table at `index`; texts are copied into `arena`. Errors name the field. */
enum acog_code acog_policy_read_reply(struct lua_State *L, int index, struct acog_arena *arena,
                                      struct acog_provider_reply *reply,
                                      struct acog_error *error) ACOG_MUST_CHECK;

#endif
