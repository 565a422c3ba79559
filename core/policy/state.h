/* state.h - the functions of a snapshot in one Lua state. */
#ifndef ACOG_POLICY_STATE_H
#define ACOG_POLICY_STATE_H

#include "acog/policy.h"
#include "loaded.h"
#include "memo.h"
#include "reasons.h"

#include <stdbool.h>

#include <lua.h>

/* In the registry of L, under the address of the state: the list of slot functions with the named fields `declared`,
 * `positions`, `objects` (load.h), `request`, `header` and `candidates` (objects.h). */
struct acog_policy_state {
    lua_State *L;
    bool owns_lua;
    struct acog_snapshot *snapshot; /* a reference */
    const struct acog_loaded *loaded;
    const struct acog_request_facts *facts; /* of the question being answered, else NULL */
    struct memo memo;
    struct reasons reasons;
    /* the last answer */
    uint16_t candidates[ACOG_PLAN_MAX];
    struct acog_verdict verdicts[ACOG_PLAN_MAX];
    double numbers[ACOG_PLAN_MAX];
};

#endif
