/* match.h - asking a policy's matcher which candidates a model id reaches. */
#ifndef ACOG_POLICY_MATCH_H
#define ACOG_POLICY_MATCH_H

#include "acog/error.h"
#include "acog/snapshot.h"
#include "acog/view.h"

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

/* Where on the stack the matcher and its data are. */
struct match_places {
    int find;      /* function (model, declared) -> list of entries */
    int declared;  /* the list of entries */
    int positions; /* entry -> its place in `declared` */
};

/* Pushes the positions of the entries in the list at `declared`. [-0, +1], may raise: memory */
void match_push_positions(lua_State *L, int declared);

/* Calls the matcher in its budget. On ACOG_OK `reached` (room for ACOG_PLAN_MAX) holds the candidates of the entries
 * that it returned, in its order. ACOG_POLICY when it raised, or answered something else than a list of declared
 * entries, each once. Leaves the stack as it was. May raise: memory */
enum acog_code match_find(lua_State *L, struct match_places places, struct acog_view model,
                          uint16_t *reached, size_t *count,
                          struct acog_error *error) ACOG_MUST_CHECK;

#endif
