/* matcher.c - the machine: alternatives are kept open by recursion, plain steps loop. */
#include "matcher.h"

#include "acog/contract.h"
#include "sandbox.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <lauxlib.h>

#define DEPTH_MAX     190 /* of matcher_match() */
#define STEPS_AT_ONCE 256

static void step(struct matcher *m)
{
    if (++m->steps >= STEPS_AT_ONCE) {
        m->steps = 0;
        acog_lua_charge(m->L, STEPS_AT_ONCE);
    }
}

/* -- single characters ------------------------------------------------------------------------------ */

/* Behind the single-character item at p: a character, %x, or a [set]. */
static const char *item_end(struct matcher *m, const char *p)
{
    if (*p == '%') {
        if (p + 1 == m->pattern_end) {
            luaL_error(m->L, "malformed pattern (ends with '%%')");
        }
        return p + 2;
    }
    if (*p != '[') {
        return p + 1;
    }
    p++;
    if (p < m->pattern_end && *p == '^') {
        p++;
    }
    do { /* a ']' that stands first is itself */
        if (p >= m->pattern_end) {
            luaL_error(m->L, "malformed pattern (missing ']')");
        }
        p += *p == '%' && p + 1 < m->pattern_end ? 2 : 1;
    } while (p >= m->pattern_end || *p != ']');
    return p + 1;
}

static bool class_fits(unsigned char c, unsigned char class)
{
    bool fits = false;
    switch (tolower(class)) {
    case 'a':
        fits = isalpha(c) != 0;
        break;
    case 'c':
        fits = iscntrl(c) != 0;
        break;
    case 'd':
        fits = isdigit(c) != 0;
        break;
    case 'g':
        fits = isgraph(c) != 0;
        break;
    case 'l':
        fits = islower(c) != 0;
        break;
    case 'p':
        fits = ispunct(c) != 0;
        break;
    case 's':
        fits = isspace(c) != 0;
        break;
    case 'u':
        fits = isupper(c) != 0;
        break;
    case 'w':
        fits = isalnum(c) != 0;
        break;
    case 'x':
        fits = isxdigit(c) != 0;
        break;
    default:
        return class == c;
    }
    return isupper(class) != 0 ? !fits : fits;
}

/* p is at '[', end at the closing ']'. */
static bool set_fits(unsigned char c, const char *p, const char *end)
{
    bool wanted = true;
    p++;
    if (*p == '^') {
        wanted = false;
        p++;
    }
    for (; p < end; p++) {
        if (*p == '%') {
            p++;
            if (class_fits(c, (unsigned char)*p)) {
                return wanted;
            }
        } else if (p + 2 < end && p[1] == '-') {
            if ((unsigned char)p[0] <= c && c <= (unsigned char)p[2]) {
                return wanted;
            }
            p += 2;
        } else if ((unsigned char)*p == c) {
            return wanted;
        }
    }
    return !wanted;
}

/* Whether the character at s fits the item from p to end. */
static bool fits(struct matcher *m, const char *s, const char *p, const char *end)
{
    step(m);
    if (s >= m->subject_end) {
        return false;
    }
    unsigned char c = (unsigned char)*s;
    switch (*p) {
    case '.':
        return true;
    case '%':
        return class_fits(c, (unsigned char)p[1]);
    case '[':
        return set_fits(c, p, end - 1);
    default:
        return (unsigned char)*p == c;
    }
}

/* -- items that may repeat --------------------------------------------------------------------------- */

/* NOLINTNEXTLINE(misc-no-recursion): see matcher_match() */
static const char *match_most(struct matcher *m, const char *s, const char *p, const char *end)
{
    ptrdiff_t count = 0;
    while (fits(m, s + count, p, end)) {
        count++;
    }
    for (; count >= 0; count--) {
        const char *found = matcher_match(m, s + count, end + 1);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): see matcher_match() */
static const char *match_least(struct matcher *m, const char *s, const char *p, const char *end)
{
    for (;;) {
        const char *found = matcher_match(m, s, end + 1);
        if (found != NULL) {
            return found;
        }
        if (!fits(m, s, p, end)) {
            return NULL;
        }
        s++;
    }
}

/* -- captures, balance, frontier ---------------------------------------------------------------------- */

/* NOLINTNEXTLINE(misc-no-recursion): see matcher_match() */
static const char *open_capture(struct matcher *m, const char *s, const char *p, ptrdiff_t len)
{
    if (m->captures >= MATCHER_CAPTURES_MAX) {
        luaL_error(m->L, "too many captures");
    }
    m->capture[m->captures] = (struct matcher_capture){.start = s, .len = len};
    m->captures++;
    const char *found = matcher_match(m, s, p);
    if (found == NULL) {
        m->captures--;
    }
    return found;
}

/* NOLINTNEXTLINE(misc-no-recursion): see matcher_match() */
static const char *close_capture(struct matcher *m, const char *s, const char *p)
{
    int open = m->captures - 1;
    while (open >= 0 && m->capture[open].len != MATCHER_OPEN) {
        open--;
    }
    if (open < 0) {
        luaL_error(m->L, "invalid pattern capture");
    }
    m->capture[open].len = s - m->capture[open].start;
    const char *found = matcher_match(m, s, p);
    if (found == NULL) {
        m->capture[open].len = MATCHER_OPEN;
    }
    return found;
}

static const char *match_back_reference(struct matcher *m, const char *s, char digit)
{
    int index = digit - '1';
    if (index < 0 || index >= m->captures || m->capture[index].len == MATCHER_OPEN) {
        luaL_error(m->L, "invalid capture index %%%d in the pattern", index + 1);
    }
    if (m->capture[index].len == MATCHER_POSITION) {
        return NULL; /* no text to find again */
    }
    size_t len = (size_t)m->capture[index].len;
    ACOG_ASSERT(m->capture[index].start != NULL);
    acog_lua_charge(m->L, len / STEPS_AT_ONCE + 1);
    bool same = (size_t)(m->subject_end - s) >= len && memcmp(m->capture[index].start, s, len) == 0;
    return same ? s + len : NULL;
}

static const char *match_balance(struct matcher *m, const char *s, const char *p)
{
    if (p + 1 >= m->pattern_end) {
        luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
    }
    if (s >= m->subject_end || *s != p[0]) {
        return NULL;
    }
    size_t open = 1;
    for (s++; s < m->subject_end; s++) {
        step(m);
        if (*s == p[1]) {
            open--;
            if (open == 0) {
                return s + 1;
            }
        } else if (*s == p[0]) {
            open++;
        }
    }
    return NULL;
}

static bool at_frontier(struct matcher *m, const char *s, const char *p, const char *end)
{
    unsigned char before = s == m->subject ? 0 : (unsigned char)s[-1];
    unsigned char after = s == m->subject_end ? 0 : (unsigned char)*s;
    return !set_fits(before, p, end - 1) && set_fits(after, p, end - 1);
}

/* -- the matcher --------------------------------------------------------------------------------------- */

/* One plain item with what follows it. Sets *next when the pattern simply goes on behind it.
 * NOLINTNEXTLINE(misc-no-recursion): see matcher_match() */
static const char *match_item(struct matcher *m, const char *s, const char *p, const char **next)
{
    const char *end = item_end(m, p);
    char suffix = '\0';
    if (end < m->pattern_end) {
        suffix = *end;
    }
    *next = NULL;
    switch (suffix) {
    case '*':
        return match_most(m, s, p, end);
    case '+':
        return fits(m, s, p, end) ? match_most(m, s + 1, p, end) : NULL;
    case '-':
        return match_least(m, s, p, end);
    case '?': {
        const char *found = fits(m, s, p, end) ? matcher_match(m, s + 1, end + 1) : NULL;
        if (found != NULL) {
            return found;
        }
        *next = end + 1;
        return s;
    }
    default:
        if (!fits(m, s, p, end)) {
            return NULL;
        }
        *next = end;
        return s + 1;
    }
}

/* An item that starts with '%' and is no class: %b, %f, a back reference. False when p is no such item. */
static bool match_special(struct matcher *m, const char **s, const char **p)
{
    char kind = (char)(*p + 1 < m->pattern_end ? (*p)[1] : '\0');
    if (kind == 'b') {
        *s = match_balance(m, *s, *p + 2);
        *p += 4;
        return true;
    }
    if (kind == 'f') {
        const char *set = *p + 2;
        if (set >= m->pattern_end || *set != '[') {
            luaL_error(m->L, "missing '[' after '%%f' in the pattern");
        }
        const char *end = item_end(m, set);
        *s = at_frontier(m, *s, set, end) ? *s : NULL;
        *p = end;
        return true;
    }
    if (isdigit((unsigned char)kind) != 0) {
        *s = match_back_reference(m, *s, kind);
        *p += 2;
        return true;
    }
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): see matcher_match() */
static const char *match_from(struct matcher *m, const char *s, const char *p)
{
    while (s != NULL && p < m->pattern_end) {
        step(m);
        if (*p == '(') {
            bool position = p + 1 < m->pattern_end && p[1] == ')';
            return position ? open_capture(m, s, p + 2, MATCHER_POSITION)
                            : open_capture(m, s, p + 1, MATCHER_OPEN);
        }
        if (*p == ')') {
            return close_capture(m, s, p + 1);
        }
        if (*p == '$' && p + 1 == m->pattern_end) {
            return s == m->subject_end ? s : NULL;
        }
        if (*p == '%' && match_special(m, &s, &p)) {
            continue;
        }
        const char *next = NULL;
        s = match_item(m, s, p, &next);
        if (next == NULL) {
            return s;
        }
        p = next;
    }
    return s;
}

/* NOLINTNEXTLINE(misc-no-recursion): it backtracks, DEPTH_MAX deep at most */
const char *matcher_match(struct matcher *m, const char *s, const char *p)
{
    if (++m->depth > DEPTH_MAX) {
        luaL_error(m->L, "pattern too complex");
    }
    const char *found = match_from(m, s, p);
    m->depth--;
    return found;
}
