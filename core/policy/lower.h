/* lower.h - ASCII letters in lower case: names of headers, hosts, categories. */
#ifndef ACOG_POLICY_LOWER_H
#define ACOG_POLICY_LOWER_H

#include "acog/arena.h"
#include "acog/view.h"

/* A copy in the arena, with a NUL behind it; ptr NULL: no room. */
struct acog_view lower_copy(struct acog_arena *arena, struct acog_view text);

#endif
