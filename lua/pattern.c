/* pattern.c - a backtracking matcher for Lua patterns.
 *
 * match_here() tries the pattern from one place of the subject: it returns where the match ends, or NULL. It calls
 * itself only where an alternative must be kept open; plain steps loop.
 */
#include "pattern.h"

#include "acog/contract.h"
#include "sandbox.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <lauxlib.h>

#define CAPTURES_MAX  32
#define DEPTH_MAX     190 /* of match_here() */
#define STEPS_AT_ONCE 256
#define OPEN          ((ptrdiff_t)-1)
#define POSITION      ((ptrdiff_t)-2)

struct capture {
    const char *start;
    ptrdiff_t len; /* or OPEN, POSITION */
};

struct matcher {
    lua_State *L;
    const char *subject;
    const char *subject_end;
    const char *pattern_end;
    int depth;
    int captures;
    size_t steps;
    struct capture capture[CAPTURES_MAX];
};

static const char *match_here(struct matcher *m, const char *s, const char *p);

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

/* NOLINTNEXTLINE(misc-no-recursion): see match_here() */
static const char *match_most(struct matcher *m, const char *s, const char *p, const char *end)
{
    ptrdiff_t count = 0;
    while (fits(m, s + count, p, end)) {
        count++;
    }
    for (; count >= 0; count--) {
        const char *found = match_here(m, s + count, end + 1);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): see match_here() */
static const char *match_least(struct matcher *m, const char *s, const char *p, const char *end)
{
    for (;;) {
        const char *found = match_here(m, s, end + 1);
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

/* NOLINTNEXTLINE(misc-no-recursion): see match_here() */
static const char *open_capture(struct matcher *m, const char *s, const char *p, ptrdiff_t len)
{
    if (m->captures >= CAPTURES_MAX) {
        luaL_error(m->L, "too many captures");
    }
    m->capture[m->captures] = (struct capture){.start = s, .len = len};
    m->captures++;
    const char *found = match_here(m, s, p);
    if (found == NULL) {
        m->captures--;
    }
    return found;
}

/* NOLINTNEXTLINE(misc-no-recursion): see match_here() */
static const char *close_capture(struct matcher *m, const char *s, const char *p)
{
    int open = m->captures - 1;
    while (open >= 0 && m->capture[open].len != OPEN) {
        open--;
    }
    if (open < 0) {
        luaL_error(m->L, "invalid pattern capture");
    }
    m->capture[open].len = s - m->capture[open].start;
    const char *found = match_here(m, s, p);
    if (found == NULL) {
        m->capture[open].len = OPEN;
    }
    return found;
}

static const char *match_back_reference(struct matcher *m, const char *s, char digit)
{
    int index = digit - '1';
    if (index < 0 || index >= m->captures || m->capture[index].len == OPEN) {
        luaL_error(m->L, "invalid capture index %%%d in the pattern", index + 1);
    }
    if (m->capture[index].len == POSITION) {
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
 * NOLINTNEXTLINE(misc-no-recursion): see match_here() */
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
        const char *found = fits(m, s, p, end) ? match_here(m, s + 1, end + 1) : NULL;
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

/* NOLINTNEXTLINE(misc-no-recursion): see match_here() */
static const char *match_from(struct matcher *m, const char *s, const char *p)
{
    while (s != NULL && p < m->pattern_end) {
        step(m);
        if (*p == '(') {
            bool position = p + 1 < m->pattern_end && p[1] == ')';
            return position ? open_capture(m, s, p + 2, POSITION) : open_capture(m, s, p + 1, OPEN);
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
static const char *match_here(struct matcher *m, const char *s, const char *p)
{
    if (++m->depth > DEPTH_MAX) {
        luaL_error(m->L, "pattern too complex");
    }
    const char *found = match_from(m, s, p);
    m->depth--;
    return found;
}

/* -- what Lua sees -------------------------------------------------------------------------------------- */

struct search {
    struct matcher matcher;
    const char *pattern; /* behind '^' */
    bool anchored;
};

static void begin(lua_State *L, struct search *search)
{
    size_t subject_len = 0;
    size_t pattern_len = 0;
    const char *subject = luaL_checklstring(L, 1, &subject_len);
    const char *pattern = luaL_checklstring(L, 2, &pattern_len);
    search->matcher = (struct matcher){
        .L = L,
        .subject = subject,
        .subject_end = subject + subject_len,
        .pattern_end = pattern + pattern_len,
    };
    search->anchored = pattern_len > 0 && pattern[0] == '^';
    search->pattern = search->anchored ? pattern + 1 : pattern;
}

/* The first match that starts at s or behind it; its start is put into *start. */
static const char *seek(struct search *search, const char *s, const char **start)
{
    for (; s <= search->matcher.subject_end; s++) {
        search->matcher.captures = 0;
        search->matcher.depth = 0;
        const char *end = match_here(&search->matcher, s, search->pattern);
        if (end != NULL) {
            *start = s;
            return end;
        }
        if (search->anchored) {
            break;
        }
    }
    return NULL;
}

static void push_capture(struct matcher *m, int index, const char *start, const char *end)
{
    if (index >= m->captures) {
        if (index != 0) {
            luaL_error(m->L, "invalid capture index %%%d", index + 1);
        }
        lua_pushlstring(m->L, start, (size_t)(end - start));
        return;
    }
    struct capture capture = m->capture[index];
    if (capture.len == OPEN) {
        luaL_error(m->L, "unfinished capture");
    }
    if (capture.len == POSITION) {
        lua_pushinteger(m->L, capture.start - m->subject + 1);
    } else {
        lua_pushlstring(m->L, capture.start, (size_t)capture.len);
    }
}

/* All captures, or the whole match when there are none and `whole` is set. Returns how many. */
static int push_captures(struct matcher *m, const char *start, const char *end, bool whole)
{
    int count = m->captures == 0 && whole ? 1 : m->captures;
    luaL_checkstack(m->L, count, "too many captures");
    for (int i = 0; i < count; i++) {
        push_capture(m, i, start, end);
    }
    return count;
}

/* The place that argument 3 names, or NULL when it is behind the subject. */
static const char *first_place(lua_State *L, const struct matcher *m)
{
    lua_Integer len = m->subject_end - m->subject;
    lua_Integer from = luaL_optinteger(L, 3, 1);
    if (from < 0) {
        from = from < -len ? 1 : len + from + 1;
    } else if (from == 0) {
        from = 1;
    }
    return from > len + 1 ? NULL : m->subject + (from - 1);
}

static const char *find_plain(const struct matcher *m, const char *s, const char *pattern,
                              const char **start)
{
    struct acog_view rest = {.ptr = s, .len = (size_t)(m->subject_end - s)};
    struct acog_view needle = {.ptr = pattern, .len = (size_t)(m->pattern_end - pattern)};
    acog_lua_charge(m->L, rest.len / STEPS_AT_ONCE + 1);
    size_t at = acog_view_find(rest, needle);
    if (needle.len > rest.len - at) {
        return NULL;
    }
    *start = s + at;
    return *start + needle.len;
}

/* Whether the pattern is a plain text: nothing in it means anything else. (')' alone does not.) */
static bool is_plain(const char *pattern, const char *end)
{
    for (const char *p = pattern; p < end; p++) {
        if (*p != '\0' && strchr("^$*+?.([%-", *p) != NULL) {
            return false;
        }
    }
    return true;
}

static int find_or_match(lua_State *L, bool find)
{
    struct search search;
    begin(L, &search);
    const char *s = first_place(L, &search.matcher);
    const char *start = NULL;
    const char *end = NULL;
    const char *pattern = search.anchored ? search.pattern - 1 : search.pattern;
    bool plain =
        find && (lua_toboolean(L, 4) != 0 || is_plain(pattern, search.matcher.pattern_end));
    if (s != NULL && plain) {
        end = find_plain(&search.matcher, s, pattern, &start);
    } else if (s != NULL) {
        end = seek(&search, s, &start);
    }
    if (end == NULL) {
        lua_pushnil(L);
        return 1;
    }
    if (!find) {
        return push_captures(&search.matcher, start, end, true);
    }
    lua_pushinteger(L, start - search.matcher.subject + 1);
    lua_pushinteger(L, end - search.matcher.subject);
    return 2 + push_captures(&search.matcher, start, end, false);
}

/* string.find(text, pattern [, from [, plain]])   [-0, +n], may raise: pattern, budget */
int acog_lua_pattern_find(lua_State *L)
{
    return find_or_match(L, true);
}

/* string.match(text, pattern [, from])   [-0, +n], may raise: pattern, budget */
int acog_lua_pattern_match(lua_State *L)
{
    return find_or_match(L, false);
}

/* Upvalues: subject, pattern, where to go on, where the last match ended (an empty match there is skipped). */
static int gmatch_next(lua_State *L)
{
    lua_settop(L, 0);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, lua_upvalueindex(2));
    struct search search;
    begin(L, &search);
    search.anchored = false; /* '^' has no meaning here (manual) */
    search.pattern = lua_tostring(L, 2);
    const char *subject = search.matcher.subject;
    const char *s = subject + lua_tointeger(L, lua_upvalueindex(3));
    lua_Integer last_end = lua_tointeger(L, lua_upvalueindex(4));
    while (s <= search.matcher.subject_end) {
        const char *start = NULL;
        const char *end = seek(&search, s, &start);
        if (end == NULL) {
            return 0;
        }
        if (end - subject != last_end) {
            lua_pushinteger(L, end - subject);
            lua_pushvalue(L, -1);
            lua_replace(L, lua_upvalueindex(3));
            lua_replace(L, lua_upvalueindex(4));
            return push_captures(&search.matcher, start, end, true);
        }
        s = start + 1;
    }
    return 0;
}

/* string.gmatch(text, pattern)   [-0, +1], may raise: type */
int acog_lua_pattern_gmatch(lua_State *L)
{
    luaL_checkstring(L, 1);
    luaL_checkstring(L, 2);
    lua_settop(L, 2);
    lua_pushinteger(L, 0);
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, gmatch_next, 4);
    return 1;
}

static void add_template(struct matcher *m, luaL_Buffer *out, const char *start, const char *end)
{
    size_t len = 0;
    const char *text = lua_tolstring(m->L, 3, &len);
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '%') {
            luaL_addchar(out, text[i]);
            continue;
        }
        i++;
        if (i < len && text[i] == '%') {
            luaL_addchar(out, '%');
        } else if (i < len && text[i] == '0') {
            luaL_addlstring(out, start, (size_t)(end - start));
        } else if (i < len && isdigit((unsigned char)text[i]) != 0) {
            push_capture(m, text[i] - '1', start, end);
            luaL_tolstring(m->L, -1, NULL); /* a position becomes a text */
            lua_remove(m->L, -2);
            luaL_addvalue(out);
        } else {
            luaL_error(m->L, "invalid use of '%%' in replacement string");
        }
    }
}

/* Adds what stands for the match from start to end. */
static void add_replacement(struct matcher *m, luaL_Buffer *out, const char *start, const char *end)
{
    lua_State *L = m->L;
    switch (lua_type(L, 3)) {
    case LUA_TFUNCTION:
        lua_pushvalue(L, 3);
        if (lua_pcall(L, push_captures(m, start, end, true), 1, 0) != LUA_OK) {
            lua_error(L);
        }
        break;
    case LUA_TTABLE:
        push_capture(m, 0, start, end);
        lua_gettable(L, 3);
        break;
    default:
        add_template(m, out, start, end);
        return;
    }
    if (lua_toboolean(L, -1) == 0) {
        lua_pop(L, 1);
        luaL_addlstring(out, start, (size_t)(end - start));
    } else if (lua_isstring(L, -1) == 0) {
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    } else {
        luaL_addvalue(out);
    }
}

/* string.gsub(text, pattern, replacement [, times])   [-0, +2], may raise: pattern, replacement, budget */
int acog_lua_pattern_gsub(lua_State *L)
{
    struct search search;
    begin(L, &search);
    struct matcher *m = &search.matcher;
    int type = lua_type(L, 3);
    luaL_argexpected(L,
                     type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
                         type == LUA_TTABLE,
                     3, "string/function/table");
    lua_Integer times_max = luaL_optinteger(L, 4, (lua_Integer)(m->subject_end - m->subject) + 1);
    lua_Integer times = 0;
    const char *s = m->subject;
    const char *last_end = NULL;
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    while (times < times_max) {
        m->captures = 0;
        m->depth = 0;
        const char *end = match_here(m, s, search.pattern);
        if (end != NULL && end != last_end) {
            times++;
            add_replacement(m, &out, s, end);
            s = end;
            last_end = end;
        } else if (s < m->subject_end) {
            luaL_addchar(&out, *s);
            s++;
        } else {
            break;
        }
        if (search.anchored) {
            break;
        }
    }
    luaL_addlstring(&out, s, (size_t)(m->subject_end - s));
    luaL_pushresult(&out);
    lua_pushinteger(L, times);
    return 2;
}
