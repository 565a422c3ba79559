/* objects.h - what a policy's function may read: the request and the candidate (DESIGN). Read-only userdata; a field is
 * made when it is asked for; an unknown one is an error. They speak only while their question is answered. */
#ifndef ACOG_POLICY_OBJECTS_H
#define ACOG_POLICY_OBJECTS_H

#include "state.h"

/* Makes the request object and the place for candidates in the table at `home`. [-0, +0], may raise: memory */
void objects_open(struct acog_policy_state *state, int home);

/* Takes the state away from every object of the table at `home`: scripts may still hold them. [-0, +0] */
void objects_close(lua_State *L, int home);

/* [-0, +1], may raise: memory */
void objects_push_request(lua_State *L, int home);
void objects_push_candidate(struct acog_policy_state *state, int home, uint16_t candidate);

/* The names of the fields, for the reference; NULL behind the last. */
const char *objects_request_field(size_t n);
const char *objects_candidate_field(size_t n);

#endif
