/* reader.c - single values; records are in fields.c. */
#include "reader.h"

#include "acog/contract.h"
#include "frozen.h"
#include "lower.h"
#include "nearest.h"
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>

#define MESSAGE_MAX 1024
#define SHOWN_MAX   60 /* bytes of a wrong value that a message repeats */

/* -- words ------------------------------------------------------------------------------------------ */

int words_count(const struct words *words)
{
    return words->is_vocabulary ? acog_name_count(words->vocabulary) : words->count;
}

struct acog_view words_text(const struct words *words, int value)
{
    return words->is_vocabulary ? acog_name(words->vocabulary, value)
                                : acog_view_of(words->list[value]);
}

int words_find(const struct words *words, struct acog_view word)
{
    for (int i = 0; i < words_count(words); i++) {
        if (acog_view_equal(words_text(words, i), word)) {
            return i;
        }
    }
    return -1;
}

/* -- where it stands ---------------------------------------------------------------------------------- */

static void ACOG_PRINTF(2, 0) add_to_path(struct reader *reader, const char *fmt, va_list args)
{
    size_t room = sizeof(reader->path) - reader->path_len;
    int written = vsnprintf(reader->path + reader->path_len, room, fmt, args);
    if (written > 0) {
        reader->path_len += (size_t)written < room ? (size_t)written : room - 1;
    }
}

void reader_root(struct reader *reader, const char *place, const char *fmt, ...)
{
    va_list args;
    if (place != NULL) {
        (void)snprintf(reader->place, sizeof(reader->place), "%s", place);
    }
    reader->path_len = 0;
    va_start(args, fmt);
    add_to_path(reader, fmt, args);
    va_end(args);
    reader->root_len = reader->path_len;
}

static void add_separator(struct reader *reader, const char *separator)
{
    size_t len = strlen(separator);
    if (reader->path_len + len < sizeof(reader->path)) {
        memcpy(reader->path + reader->path_len, separator, len + 1);
        reader->path_len += len;
    }
}

size_t reader_enter(struct reader *reader, const char *fmt, ...)
{
    size_t mark = reader->path_len;
    va_list args;
    if (reader->path_len == reader->root_len) {
        add_separator(reader, ": ");
    } else if (fmt[0] != '[') {
        add_separator(reader, ".");
    }
    va_start(args, fmt);
    add_to_path(reader, fmt, args);
    va_end(args);
    return mark;
}

void reader_leave(struct reader *reader, size_t mark)
{
    ACOG_ASSERT(mark <= reader->path_len);
    reader->path_len = mark;
    reader->path[mark] = '\0';
}

static void ACOG_PRINTF(3, 0)
    add_finding(struct reader *reader, enum acog_finding_level level, const char *fmt, va_list args)
{
    char what[MESSAGE_MAX];
    char text[MESSAGE_MAX + READER_PATH_MAX + sizeof(reader->place) + sizeof(": : ")];
    (void)vsnprintf(what, sizeof(what), fmt, args);
    (void)snprintf(text, sizeof(text), "%s: %s: %s", reader->place, reader->path, what);
    report_add(reader->report, level, text);
}

void reader_error(struct reader *reader, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_finding(reader, ACOG_FINDING_ERROR, fmt, args);
    va_end(args);
}

void reader_warn(struct reader *reader, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_finding(reader, ACOG_FINDING_WARNING, fmt, args);
    va_end(args);
}

#define ALLOWED_MAX (MESSAGE_MAX / 2)

/* "direct, bedrock, …", cut where the room ends. */
static void list_words(const struct words *words, char allowed[ALLOWED_MAX])
{
    size_t len = 0;
    allowed[0] = '\0';
    for (int i = 0; i < words_count(words); i++) {
        int written = snprintf(allowed + len, ALLOWED_MAX - len, "%s%.*s", i == 0 ? "" : ", ",
                               ACOG_VIEW_FMT(words_text(words, i)));
        if (written < 0 || (size_t)written >= ALLOWED_MAX - len) {
            return;
        }
        len += (size_t)written;
    }
}

void reader_unknown_word(struct reader *reader, struct acog_view word, const struct words *words)
{
    char allowed[ALLOWED_MAX];
    struct nearest nearest = {.word = word};
    list_words(words, allowed);
    for (int i = 0; i < words_count(words); i++) {
        nearest_offer(&nearest, words_text(words, i));
    }
    word = acog_view_slice(word, 0, SHOWN_MAX);
    if (nearest.best.ptr != NULL) {
        reader_error(reader, "\"%.*s\" is not %s; did you mean \"%.*s\"? Allowed: %s",
                     ACOG_VIEW_FMT(word), words->what, ACOG_VIEW_FMT(nearest.best), allowed);
    } else {
        reader_error(reader, "\"%.*s\" is not %s. Allowed: %s", ACOG_VIEW_FMT(word), words->what,
                     allowed);
    }
}

/* -- memory ----------------------------------------------------------------------------------------- */

_Noreturn void reader_raise_no_memory(struct reader *reader)
{
    reader->no_memory = true;
    luaL_error(reader->L, "%s", acog_code_text(ACOG_NO_MEMORY));
    ACOG_UNREACHABLE("luaL_error returned");
}

void *reader_take(struct reader *reader, size_t bytes)
{
    void *taken = acog_arena_take(reader->arena, bytes);
    if (taken == NULL) {
        reader_raise_no_memory(reader);
    }
    return taken;
}

struct acog_view reader_copy(struct reader *reader, struct acog_view text)
{
    struct acog_view copy = acog_arena_copy(reader->arena, text);
    if (copy.ptr == NULL) {
        reader_raise_no_memory(reader);
    }
    return copy;
}

struct acog_view reader_copy_lower(struct reader *reader, struct acog_view text)
{
    struct acog_view copy = lower_copy(reader->arena, text);
    if (copy.ptr == NULL) {
        reader_raise_no_memory(reader);
    }
    return copy;
}

struct acog_view reader_format(struct reader *reader, const char *fmt, ...)
{
    char text[MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return reader_copy(reader, acog_view_of(text));
}

/* -- values ----------------------------------------------------------------------------------------- */

/* "a table", "an acog.env", … for messages. */
static const char *type_name(lua_State *L, int index)
{
    const char *kind = acog_lua_kind(L, index);
    return kind != NULL ? kind : luaL_typename(L, index);
}

bool reader_flag(struct reader *reader, int index, bool *out)
{
    if (lua_type(reader->L, index) != LUA_TBOOLEAN) {
        reader_error(reader, "must be true or false, not a %s", type_name(reader->L, index));
        return false;
    }
    *out = lua_toboolean(reader->L, index) != 0;
    return true;
}

bool reader_peek(struct reader *reader, int index, struct acog_view *out)
{
    if (lua_type(reader->L, index) != LUA_TSTRING) {
        reader_error(reader, "must be a text, not a %s", type_name(reader->L, index));
        return false;
    }
    out->ptr = lua_tolstring(reader->L, index, &out->len);
    return true;
}

bool reader_text(struct reader *reader, int index, struct acog_view *out)
{
    struct acog_view text;
    if (!reader_peek(reader, index, &text)) {
        return false;
    }
    *out = reader_copy(reader, text);
    return true;
}

static bool is_token_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

bool reader_token(struct reader *reader, int index, struct acog_view *out)
{
    struct acog_view text;
    if (!reader_peek(reader, index, &text)) {
        return false;
    }
    bool sane = text.len > 0 && text.len <= 100;
    for (size_t i = 0; sane && i < text.len; i++) {
        sane = is_token_byte(text.ptr[i]);
    }
    if (!sane) {
        text = acog_view_slice(text, 0, SHOWN_MAX);
        reader_error(reader, "\"%.*s\" is not a name of a header: letters, digits and '-'",
                     ACOG_VIEW_FMT(text));
        return false;
    }
    *out = reader_copy_lower(reader, text);
    return true;
}

bool reader_number(struct reader *reader, int index, double min, double max, double *out)
{
    if (lua_type(reader->L, index) != LUA_TNUMBER) {
        reader_error(reader, "must be a number, not a %s", type_name(reader->L, index));
        return false;
    }
    double value = lua_tonumber(reader->L, index);
    if (!(value >= min && value <= max)) { /* not-a-number too */
        reader_error(reader, "%.15g is out of range: %.15g to %.15g", value, min, max);
        return false;
    }
    *out = value;
    return true;
}

bool reader_integer(struct reader *reader, int index, double min, double max, int64_t *out)
{
    double value = 0;
    if (!reader_number(reader, index, min, max, &value)) {
        return false;
    }
    int exact = 0;
    lua_Integer integer = lua_tointegerx(reader->L, index, &exact);
    if (exact == 0) {
        reader_error(reader, "must be a whole number, not %g", value);
        return false;
    }
    *out = integer;
    return true;
}

bool reader_word(struct reader *reader, int index, const struct words *words, int *out)
{
    char allowed[ALLOWED_MAX];
    struct acog_view text;
    if (lua_type(reader->L, index) != LUA_TSTRING) {
        list_words(words, allowed);
        reader_error(reader, "must be a text, not a %s. Allowed: %s", type_name(reader->L, index),
                     allowed);
        return false;
    }
    text.ptr = lua_tolstring(reader->L, index, &text.len);
    int value = words_find(words, text);
    if (value < 0) {
        reader_unknown_word(reader, text, words);
        return false;
    }
    *out = value;
    return true;
}

bool reader_word_set(struct reader *reader, int index, const struct words *words, unsigned *out)
{
    lua_State *L = reader->L;
    int value = 0;
    index = lua_absindex(L, index);
    if (lua_type(L, index) == LUA_TSTRING) {
        bool known = reader_word(reader, index, words, &value);
        *out = known ? ACOG_BIT(value) : *out;
        return known;
    }
    int count = reader_list(reader, index, words_count(words));
    unsigned set = 0;
    bool good = count >= 0;
    for (int i = 1; i <= count; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(L, index, i);
        if (reader_word(reader, -1, words, &value)) {
            set |= ACOG_BIT(value);
        } else {
            good = false;
        }
        lua_pop(L, 1);
        reader_leave(reader, mark);
    }
    *out = good ? set : *out;
    return good;
}

void reader_not_a_record(struct reader *reader, int index, const struct words *names)
{
    char fields[ALLOWED_MAX];
    list_words(names, fields);
    reader_error(reader, "must be a table of named fields, not a %s. Fields: %s",
                 type_name(reader->L, index), fields);
}

bool reader_table(struct reader *reader, int index)
{
    if (lua_type(reader->L, index) != LUA_TTABLE) {
        reader_error(reader, "must be a table, not a %s", type_name(reader->L, index));
        return false;
    }
    return true;
}

int reader_list(struct reader *reader, int index, int max)
{
    lua_State *L = reader->L;
    if (lua_type(L, index) != LUA_TTABLE) {
        reader_error(reader, "must be a list, { … }, not a %s", type_name(L, index));
        return -1;
    }
    acog_lua_thaw(L, index);
    int table = lua_gettop(L);
    lua_Unsigned count = lua_rawlen(L, table);
    lua_Unsigned keys = 0;
    lua_pushnil(L);
    while (lua_next(L, table) != 0) {
        keys++;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    if (keys != count) {
        reader_error(reader, "must be a list without holes and without named fields");
        return -1;
    }
    if (count > (lua_Unsigned)max) {
        reader_error(reader, "has %u items, more than the %d that are allowed", (unsigned)count,
                     max);
        return -1;
    }
    return (int)count;
}

struct acog_view *reader_texts(struct reader *reader, int index, int max, size_t *count)
{
    lua_State *L = reader->L;
    bool alone = lua_type(L, index) == LUA_TSTRING;
    int items = alone ? 1 : reader_list(reader, index, max);
    if (items < 0) {
        return NULL;
    }
    struct acog_view *texts = reader_take(reader, ((size_t)items + 1) * sizeof(*texts));
    for (int i = 1; i <= items; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        if (alone) {
            lua_pushvalue(L, index);
        } else {
            lua_geti(L, index, i);
        }
        if (reader_text(reader, -1, &texts[i - 1]) && texts[i - 1].len == 0) {
            reader_error(reader, "is empty");
        }
        lua_pop(L, 1);
        reader_leave(reader, mark);
    }
    *count = (size_t)items;
    return texts;
}

static int compare_views(const void *left, const void *right)
{
    const struct acog_view *a = left;
    const struct acog_view *b = right;
    size_t common = a->len < b->len ? a->len : b->len;
    int order = common == 0 ? 0 : memcmp(a->ptr, b->ptr, common);
    if (order == 0 && a->len != b->len) {
        order = a->len < b->len ? -1 : 1;
    }
    return order;
}

size_t reader_keys(struct reader *reader, int index, const struct acog_view **keys)
{
    lua_State *L = reader->L;
    acog_lua_thaw(L, index);
    int table = lua_gettop(L);
    size_t count = 0;
    lua_pushnil(L);
    while (lua_next(L, table) != 0) {
        count++;
        lua_pop(L, 1);
    }
    struct acog_view *list = reader_take(reader, (count + 1) * sizeof(*list));
    size_t used = 0;
    lua_pushnil(L);
    while (lua_next(L, table) != 0) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            struct acog_view key;
            key.ptr = lua_tolstring(L, -2, &key.len);
            list[used] = reader_copy(reader, key);
            used++;
        } else if (lua_isinteger(L, -2) != 0) {
            reader_error(reader, "has an item without a name where only named fields belong");
        } else {
            reader_error(reader, "has a %s as a name", luaL_typename(L, -2));
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    if (used > 1) {
        qsort(list, used, sizeof(*list), compare_views);
    }
    *keys = list;
    return used;
}
