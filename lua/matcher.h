/* matcher.h - a backtracking matcher for Lua patterns (manual, section 6.4.1). */
#ifndef ACOG_LUA_MATCHER_H
#define ACOG_LUA_MATCHER_H

#include <stddef.h>

#include <lua.h>

#define MATCHER_CAPTURES_MAX 32
#define MATCHER_OPEN         ((ptrdiff_t)-1) /* not closed yet */
#define MATCHER_POSITION     ((ptrdiff_t)-2) /* "()": a place, no text */

struct matcher_capture {
    const char *start;
    ptrdiff_t len; /* or one of the two above */
};

/* Zeroed but for the first four. `depth` and `captures` are zeroed again for each try. */
struct matcher {
    lua_State *L;
    const char *subject;
    const char *subject_end;
    const char *pattern_end;
    int depth;
    int captures;
    size_t steps; /* not charged yet */
    struct matcher_capture capture[MATCHER_CAPTURES_MAX];
};

/* Tries the pattern from `p` on at the place `s` of the subject: where the match ends, or NULL. Raises for a malformed
 * pattern and for a spent budget. */
const char *matcher_match(struct matcher *m, const char *s, const char *p);

#endif
