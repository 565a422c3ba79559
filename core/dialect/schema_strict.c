/* schema_strict.c - OpenAI's strict subset: whether a schema is of it, and what becomes of the wish to be strict. */
#include "schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define STRICT_PROPERTIES_MAX  5000   /* of the whole schema */
#define STRICT_LEVELS_MAX      10     /* of objects in objects */
#define STRICT_NAME_BYTES_MAX  120000 /* of property and definition names, enum and const values */
#define STRICT_ENUM_VALUES_MAX 1000
#define STRICT_ENUM_FEW        250   /* one enum of more values than these */
#define STRICT_ENUM_BYTES_MAX  15000 /* has no more bytes in them */
#define STRICT_OF_AN_OBJECT_MAX \
    512 /* ours: what is compared with what is required; OpenAI has no such limit */

static const struct acog_view strict_formats[] = {
    {"date-time", 9}, {"time", 4}, {"date", 4}, {"duration", 8}, {"email", 5},
    {"hostname", 8},  {"ipv4", 4}, {"ipv6", 4}, {"uuid", 4},
};

struct strict {
    struct acog_schema_patience patience;
    size_t properties;
    size_t name_bytes;
    size_t enum_values;
};

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static bool is_strict(struct strict *strict, struct acog_json_value schema, unsigned depth,
                      unsigned levels);

/* Each one is spelled in `required` as it is in `properties`; usually they come in one order. */
static bool all_required(struct acog_json_value properties, struct acog_json_value required)
{
    struct acog_schema_cursor property = acog_schema_enter(properties);
    struct acog_schema_cursor name = acog_schema_enter(required);
    bool good = true;
    while (good && acog_schema_next(&property)) {
        good = acog_schema_next(&name) && acog_view_equal(name.value.raw, property.key.raw);
        if (!good) {
            name = acog_schema_enter(required);
        }
        while (!good && acog_schema_next(&name)) {
            good = acog_view_equal(name.value.raw, property.key.raw);
        }
    }
    return good;
}

static bool is_strict_object(const struct acog_schema_look *look)
{
    return look->properties.type == ACOG_JSON_OBJECT && look->additional.type == ACOG_JSON_FALSE &&
           (look->required.type == ACOG_JSON_ARRAY || !acog_json_present(look->required)) &&
           acog_schema_count(look->required) <= STRICT_OF_AN_OBJECT_MAX &&
           all_required(look->properties, look->required);
}

/* Other references lead nowhere there. */
static bool is_strict_reference(struct acog_json_value reference)
{
    struct acog_view target = acog_text_of(reference).bytes;
    return !reference.escaped && (acog_view_equal(target, ACOG_VIEW("#")) ||
                                  acog_view_starts(target, ACOG_VIEW("#/$defs/")) ||
                                  acog_view_starts(target, ACOG_VIEW("#/definitions/")));
}

static bool count_enum(struct strict *strict, struct acog_json_value values)
{
    struct acog_schema_cursor cursor = acog_schema_enter(values);
    size_t count = 0;
    size_t bytes = 0;
    while (acog_schema_next(&cursor)) {
        count++;
        bytes += cursor.value.raw.len;
    }
    strict->enum_values += count;
    strict->name_bytes += bytes;
    return count > 0 && (count <= STRICT_ENUM_FEW || bytes <= STRICT_ENUM_BYTES_MAX);
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static bool are_strict(struct strict *strict, struct acog_json_value list, unsigned depth,
                       unsigned levels)
{
    struct acog_schema_cursor cursor = acog_schema_enter(list);
    bool good = true;
    while (good && acog_schema_next(&cursor)) {
        good = is_strict(strict, cursor.value, depth, levels);
        strict->name_bytes += cursor.object ? cursor.key.raw.len : 0;
    }
    return good;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static bool is_strict_member(struct strict *strict, const struct acog_schema_cursor *cursor,
                             unsigned depth, unsigned levels)
{
    const struct acog_schema_keyword *keyword = acog_schema_keyword_of(cursor->key);
    if (keyword == NULL || !keyword->strict) {
        return false;
    }
    if (acog_view_equal(keyword->name, ACOG_VIEW("format"))) {
        return acog_schema_is_word(cursor->value, strict_formats, COUNT(strict_formats));
    }
    if (acog_view_equal(keyword->name, ACOG_VIEW("enum"))) {
        return cursor->value.type == ACOG_JSON_ARRAY && count_enum(strict, cursor->value);
    }
    if (acog_view_equal(keyword->name, ACOG_VIEW("const"))) {
        strict->name_bytes += cursor->value.raw.len;
    }
    switch (keyword->holds) {
    case ACOG_HOLDS_VALUE:
        return true;
    case ACOG_HOLDS_SCHEMA: /* `false` is all that an object may say of the rest */
        return cursor->value.type == ACOG_JSON_FALSE ||
               is_strict(strict, cursor->value, depth, levels);
    case ACOG_HOLDS_LIST:
        return cursor->value.type == ACOG_JSON_ARRAY &&
               are_strict(strict, cursor->value, depth, levels);
    case ACOG_HOLDS_MAP:
        return cursor->value.type == ACOG_JSON_OBJECT &&
               are_strict(strict, cursor->value, depth, levels);
    }
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static bool is_strict(struct strict *strict, struct acog_json_value schema, unsigned depth,
                      unsigned levels)
{
    struct acog_schema_look look;
    if (!acog_schema_look(&strict->patience, schema, depth, &look) || look.twice || look.open) {
        return false;
    }
    if (acog_json_present(look.reference)) {
        return depth > 0 && look.members == 1 && is_strict_reference(look.reference);
    }
    bool object = acog_schema_may_be(look.type, ACOG_VIEW("object"));
    bool array = acog_schema_may_be(look.type, ACOG_VIEW("array"));
    bool typed = acog_json_present(look.type) || acog_json_present(look.any_of);
    bool root =
        acog_json_text_is(look.type, ACOG_VIEW("object")) && !acog_json_present(look.any_of);
    if (!typed || (depth == 0 && !root) || (object && !is_strict_object(&look)) ||
        (array && look.items.type != ACOG_JSON_OBJECT)) {
        return false;
    }
    if (object) {
        levels++;
        strict->properties += acog_schema_count(look.properties);
    }
    struct acog_schema_cursor cursor = acog_schema_enter(schema);
    bool good = levels <= STRICT_LEVELS_MAX;
    while (good && acog_schema_next(&cursor)) {
        good = is_strict_member(strict, &cursor, depth + 1, levels);
    }
    return good;
}

bool acog_schema_is_openai_strict(struct acog_json_value schema)
{
    struct strict strict = {.patience = acog_schema_patience(schema)};
    return is_strict(&strict, schema, 0, 0) && strict.properties <= STRICT_PROPERTIES_MAX &&
           strict.name_bytes <= STRICT_NAME_BYTES_MAX &&
           strict.enum_values <= STRICT_ENUM_VALUES_MAX;
}

struct acog_json_value acog_schema_openai_strict(struct acog_request_writer *writer,
                                                 struct acog_json_value wish,
                                                 struct acog_json_value schema,
                                                 struct acog_view lost)
{
    if (writer->conversation->surface != ACOG_SURFACE_MESSAGES || wish.type != ACOG_JSON_TRUE ||
        acog_schema_is_openai_strict(schema)) {
        return wish;
    }
    acog_put_dropped(writer, lost);
    return (struct acog_json_value){.raw = ACOG_VIEW("false"), .type = ACOG_JSON_FALSE};
}

struct acog_json_value acog_schema_openai_strict_format(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    struct acog_json_value wish = conversation->schema_strict;
    if (conversation->surface == ACOG_SURFACE_MESSAGES && !acog_json_present(wish)) {
        wish = (struct acog_json_value){.raw = ACOG_VIEW("true"), .type = ACOG_JSON_TRUE};
    }
    return acog_schema_openai_strict(writer, wish, conversation->schema,
                                     ACOG_VIEW("output_config.format"));
}
