/* sandbox.h - a Lua state for configurations and policies, and the one way into it.
 *
 * Only the names of `names[]` in sandbox.c exist, all of them frozen; code is loaded as text, never as bytecode;
 * `require` (require.h) finds the embedded modules and what the owner of the state hands out. Two budgets hold
 * everywhere: the memory of the state, and the instructions of each call from outside, in which pattern steps and
 * allocated bytes count too. Once it is spent every further line raises again, so that pcall cannot swallow it.
 */
#ifndef ACOG_LUA_SANDBOX_H
#define ACOG_LUA_SANDBOX_H

#include "acog/error.h"
#include "acog/view.h"

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

/* Where `require` finds a file beside the configuration: `name` is "teams.legal", `path` is for messages
 * ("conf/teams/legal.lua"). Both results are lent until the state is closed. ACOG_NOT_FOUND: there is none;
 * any other code: `error` says why. */
struct acog_lua_files {
    enum acog_code (*read)(void *user, struct acog_view name, struct acog_view *path,
                           struct acog_view *text, struct acog_error *error);
    /* Likewise for an embedded policy, whose `name` is "acog": a file to be taken instead. */
    enum acog_code (*read_policy)(void *user, struct acog_view name, struct acog_view *path,
                                  struct acog_view *text, struct acog_error *error);
    void *user;
};

/* `files` is copied; its functions may be NULL. NULL: `error` says why. */
lua_State *acog_lua_new(size_t bytes_max, const struct acog_lua_files *files,
                        struct acog_error *error);

/* NULL is allowed. */
void acog_lua_close(lua_State **L);

const struct acog_lua_files *acog_lua_files_of(lua_State *L);

/* Calls the function below its `args` arguments, as lua_pcall does, with `instructions` to spend. On success the
 * `results` are on the stack; else nothing is, and `error` (NULL is allowed) says "FILE:LINE: what". Calls may nest:
 * the outer budget goes on afterwards. ACOG_POLICY: it raised; ACOG_TOO_BIG: the budget is spent; ACOG_NO_MEMORY. */
enum acog_code acog_lua_call(lua_State *L, int args, int results, int64_t instructions,
                             struct acog_error *error) ACOG_MUST_CHECK;

/* Takes `steps` from the budget of the running call; raises when it is spent.   [-0, +0] */
void acog_lua_charge(lua_State *L, size_t steps);

/* Compiles text as the chunk `path` (as messages show it) and pushes the function: [-0, +1] on ACOG_OK,
 * [-0, +0] with `error` else. Needs no protection. */
enum acog_code acog_lua_load(lua_State *L, struct acog_view text, const char *path,
                             struct acog_error *error) ACOG_MUST_CHECK;

/* Who wants to know what runs, for coverage: `loaded` gets each chunk that was compiled (on top of the stack, to be left
 * there), `line` each line before it runs. */
struct acog_lua_watch {
    void (*loaded)(void *user, lua_State *L, const char *path);
    void (*line)(void *user, const char *path, int line);
    void *user;
};

/* From now on, in every state of the process; NULL: nobody. Not for a process that serves: lines get slow. */
void acog_lua_watch(const struct acog_lua_watch *watch);

/* The n-th global that a chunk can see; NULL behind the last one. For the gate. */
const char *acog_lua_sandbox_name(size_t n);

#endif
