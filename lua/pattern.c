/* pattern.c - find, match, gmatch and gsub over the matcher. */
#include "pattern.h"

#include "acog/view.h"
#include "matcher.h"
#include "sandbox.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <lauxlib.h>

#define BYTES_A_STEP 256 /* of a plain search */

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
        const char *end = matcher_match(&search->matcher, s, search->pattern);
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
    struct matcher_capture capture = m->capture[index];
    if (capture.len == MATCHER_OPEN) {
        luaL_error(m->L, "unfinished capture");
    }
    if (capture.len == MATCHER_POSITION) {
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
    acog_lua_charge(m->L, rest.len / BYTES_A_STEP + 1);
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
        const char *end = matcher_match(m, s, search.pattern);
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
