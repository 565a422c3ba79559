/* schema.c - the table of keywords, and how all of schema_*.c look at a schema. */
#include "schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct acog_schema_keyword keywords[] = {
#define ACOG_SCHEMA_KEYWORD(name, holds, strict, native, idle) \
    {{(name), sizeof(name) - 1},                               \
     ACOG_HOLDS_##holds,                                       \
     (strict),                                                 \
     ACOG_KEYWORD_##native,                                    \
     ACOG_IDLE_##idle},
#include "schema_keyword.def"
#undef ACOG_SCHEMA_KEYWORD
};

_Static_assert(COUNT(keywords) <= 64, "a bit each");

struct acog_schema_cursor acog_schema_enter(struct acog_json_value value)
{
    struct acog_schema_cursor cursor = {.object = value.type == ACOG_JSON_OBJECT};
    if (cursor.object || value.type == ACOG_JSON_ARRAY) {
        acog_json_scan(&cursor.scanner, value.raw, ACOG_JSON_DEPTH_MAX);
        cursor.open = acog_json_scan_enter(&cursor.scanner);
    }
    return cursor;
}

bool acog_schema_next(struct acog_schema_cursor *cursor)
{
    cursor->open = cursor->open && acog_json_scan_next(&cursor->scanner, &cursor->key) &&
                   acog_json_scan_value(&cursor->scanner, &cursor->value);
    return cursor->open;
}

size_t acog_schema_count(struct acog_json_value value)
{
    struct acog_schema_cursor cursor = acog_schema_enter(value);
    size_t count = 0;
    while (acog_schema_next(&cursor)) {
        count++;
    }
    return count;
}

const struct acog_schema_keyword *acog_schema_keyword_of(struct acog_json_value key)
{
    struct acog_view name = acog_text_of(key).bytes;
    for (size_t i = 0; i < COUNT(keywords) && !key.escaped; i++) {
        if (acog_view_equal(name, keywords[i].name)) {
            return &keywords[i];
        }
    }
    return NULL;
}

struct acog_schema_patience acog_schema_patience(struct acog_json_value schema)
{
    bool large = schema.raw.len > ACOG_SCHEMA_BYTES_MAX;
    return (struct acog_schema_patience){.bytes =
                                             large ? 0 : schema.raw.len * ACOG_SCHEMA_LOOKS_MAX};
}

/* Where a member is kept; NULL: nobody asks for it. */
static struct acog_json_value *place_of(struct acog_schema_look *look, struct acog_view name)
{
    const struct {
        struct acog_view name;
        struct acog_json_value *place;
    } places[] = {
        {ACOG_VIEW("type"), &look->type},
        {ACOG_VIEW("properties"), &look->properties},
        {ACOG_VIEW("required"), &look->required},
        {ACOG_VIEW("additionalProperties"), &look->additional},
        {ACOG_VIEW("items"), &look->items},
        {ACOG_VIEW("anyOf"), &look->any_of},
        {ACOG_VIEW("oneOf"), &look->one_of},
        {ACOG_VIEW("$ref"), &look->reference},
        {ACOG_VIEW("$defs"), &look->definitions[0]},
        {ACOG_VIEW("definitions"), &look->definitions[1]},
    };

    for (size_t i = 0; i < COUNT(places); i++) {
        if (acog_view_equal(places[i].name, name)) {
            return places[i].place;
        }
    }
    return NULL;
}

static void note(struct acog_schema_look *look, const struct acog_schema_cursor *cursor)
{
    const struct acog_schema_keyword *keyword = acog_schema_keyword_of(cursor->key);
    look->members++;
    look->escaped = look->escaped || cursor->key.escaped;
    if (keyword == NULL) {
        look->open = true;
        return;
    }
    uint64_t bit = (uint64_t)1 << (unsigned)(keyword - keywords);
    struct acog_json_value *place = place_of(look, keyword->name);
    look->twice = look->twice || (look->keywords & bit) != 0;
    look->keywords |= bit;
    if (place != NULL) {
        *place = cursor->value;
    }
}

bool acog_schema_look(struct acog_schema_patience *patience, struct acog_json_value schema,
                      unsigned depth, struct acog_schema_look *look)
{
    *look = (struct acog_schema_look){.members = 0};
    if (schema.type != ACOG_JSON_OBJECT || depth >= ACOG_SCHEMA_DEPTH_MAX ||
        schema.raw.len > patience->bytes) {
        return false;
    }
    patience->bytes -= schema.raw.len;
    struct acog_schema_cursor cursor = acog_schema_enter(schema);
    while (acog_schema_next(&cursor)) {
        note(look, &cursor);
    }
    return true;
}

bool acog_schema_has_keyword(const struct acog_schema_look *look, struct acog_view name)
{
    for (size_t i = 0; i < COUNT(keywords); i++) {
        if (acog_view_equal(keywords[i].name, name)) {
            return (look->keywords & ((uint64_t)1 << (unsigned)i)) != 0;
        }
    }
    return false;
}

bool acog_schema_may_be(struct acog_json_value type, struct acog_view word)
{
    if (type.type != ACOG_JSON_ARRAY) {
        return acog_json_text_is(type, word);
    }
    struct acog_schema_cursor cursor = acog_schema_enter(type);
    bool found = false;
    while (!found && acog_schema_next(&cursor)) {
        found = acog_json_text_is(cursor.value, word);
    }
    return found;
}

bool acog_schema_is_word(struct acog_json_value value, const struct acog_view *words, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        found = acog_json_text_is(value, words[i]);
    }
    return found;
}
