/* fields.c - records: a table of fields drives the reading, the check for unknown names, and their reference. */
#include "acog/contract.h"
#include "reader.h"

#include <math.h>
#include <string.h>

#define MS_A_SECOND 1000.0

/* enum targets are read and written as int. */
_Static_assert(sizeof(enum acog_channel) == sizeof(int), "enums are ints");

/* `false` says "none" for an optional text. */
static bool is_false(struct reader *reader, int index)
{
    return lua_type(reader->L, index) == LUA_TBOOLEAN && lua_toboolean(reader->L, index) == 0;
}

static void read_text(struct reader *reader, int index, const struct field *field,
                      struct acog_view *out)
{
    if (is_false(reader, index)) {
        *out = (struct acog_view){0};
    } else if (field->kind == ACOG_FIELD_TOKEN) {
        (void)reader_token(reader, index, out);
    } else {
        (void)reader_text(reader, index, out);
    }
}

static void read_whole_number(struct reader *reader, int index, const struct field *field,
                              void *target)
{
    int64_t value = 0;
    if (!reader_integer(reader, index, field->min, field->max, &value)) {
        return;
    }
    if (field->kind == ACOG_FIELD_COUNT) {
        *(uint32_t *)target = (uint32_t)value;
    } else if (field->kind == ACOG_FIELD_INTEGER) {
        *(int32_t *)target = (int32_t)value;
    } else if (field->kind == ACOG_FIELD_SIZE) {
        *(size_t *)target = (size_t)value;
    } else {
        *(int64_t *)target = value;
    }
}

static void read_seconds(struct reader *reader, int index, const struct field *field,
                         int64_t *target)
{
    double seconds = 0;
    if (reader_number(reader, index, field->min, field->max, &seconds)) {
        *target = (int64_t)llround(seconds * MS_A_SECOND);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables of fields, which are constants */
static void read_field(struct reader *reader, int index, const struct field *field, void *record)
{
    void *target = (char *)record + field->offset;
    switch (field->kind) {
    case ACOG_FIELD_FLAG:
        (void)reader_flag(reader, index, target);
        return;
    case ACOG_FIELD_TEXT:
    case ACOG_FIELD_TOKEN:
        read_text(reader, index, field, target);
        return;
    case ACOG_FIELD_COUNT:
    case ACOG_FIELD_INTEGER:
    case ACOG_FIELD_SIZE:
    case ACOG_FIELD_INTEGER64:
    case ACOG_FIELD_MILLISECONDS:
        read_whole_number(reader, index, field, target);
        return;
    case ACOG_FIELD_DOUBLE:
        (void)reader_number(reader, index, field->min, field->max, target);
        return;
    case ACOG_FIELD_SECONDS:
        read_seconds(reader, index, field, target);
        return;
    case ACOG_FIELD_WORD:
        (void)reader_word(reader, index, field->words, target);
        return;
    case ACOG_FIELD_WORDS:
        (void)reader_word_set(reader, index, field->words, target);
        return;
    case ACOG_FIELD_GROUP:
        reader_fields(reader, index, field->group, field->group_count, record);
        return;
    case ACOG_FIELD_CUSTOM:
        field->read(reader, index, record);
        return;
    case ACOG_FIELD_ELSEWHERE:
        return;
    }
    ACOG_UNREACHABLE("unknown kind of field");
}

static bool is_field(struct acog_view name, const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (acog_view_equal(acog_view_of(fields[i].name), name)) {
            return true;
        }
    }
    return false;
}

static struct words names_of(struct reader *reader, const struct field *fields, size_t count)
{
    const char **names = reader_take(reader, count * sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        names[i] = fields[i].name;
    }
    return (struct words){.what = "a field here", .list = names, .count = (int)count};
}

static void find_unknown(struct reader *reader, int index, const struct field *fields, size_t count)
{
    const struct acog_view *keys = NULL;
    size_t key_count = reader_keys(reader, index, &keys);
    struct words names = {0};
    for (size_t i = 0; i < key_count; i++) {
        if (is_field(keys[i], fields, count)) {
            continue;
        }
        if (names.list == NULL) {
            names = names_of(reader, fields, count);
        }
        reader_unknown_word(reader, keys[i], &names);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): see read_field() */
void reader_fields(struct reader *reader, int index, const struct field *fields, size_t count,
                   void *target)
{
    lua_State *L = reader->L;
    if (lua_type(L, index) != LUA_TTABLE) {
        struct words names = names_of(reader, fields, count);
        reader_not_a_record(reader, index, &names);
        return;
    }
    index = lua_absindex(L, index);
    for (size_t i = 0; i < count; i++) {
        if (lua_getfield(L, index, fields[i].name) != LUA_TNIL) {
            size_t mark = reader_enter(reader, "%s", fields[i].name);
            read_field(reader, lua_gettop(L), &fields[i], target);
            reader_leave(reader, mark);
        }
        lua_pop(L, 1);
    }
    find_unknown(reader, index, fields, count);
}
