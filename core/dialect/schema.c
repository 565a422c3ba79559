/* schema.c - the table of keywords, OpenAI's strict subset, and what Gemini and OpenAI do not take as it is. */
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

/* -- looking at a schema --------------------------------------------------------------------------- */

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

/* -- OpenAI's strict subset ------------------------------------------------------------------------ */

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

/* -- copies with a few changes --------------------------------------------------------------------- */

struct copy {
    struct acog_request_writer *writer;
    struct acog_schema_patience patience;
    const char *from;     /* what is not written yet */
    bool reference_alone; /* Gemini: nothing beside a $ref */
    bool items_wanted;    /* OpenAI: an array says what is in it */
    bool lost;
};

static void put_up_to(struct copy *copy, const char *end)
{
    struct acog_view bytes = {.ptr = copy->from, .len = (size_t)(end - copy->from)};
    acog_put(copy->writer, bytes);
    copy->from = end;
}

static bool is_dollar(struct acog_json_value key)
{
    return acog_view_starts(acog_text_of(key).bytes, ACOG_VIEW("$"));
}

/* A title, a description or a default is no constraint. */
static bool constrains(struct acog_json_value key)
{
    static const struct acog_view notes[] = {{"title", 5}, {"description", 11}, {"default", 7}};
    return acog_schema_keyword_of(key) != NULL && !acog_schema_is_word(key, notes, COUNT(notes));
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static void put_schema(struct copy *copy, struct acog_json_value schema, unsigned depth);

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static void put_schemas(struct copy *copy, struct acog_json_value list, unsigned depth)
{
    struct acog_schema_cursor cursor = acog_schema_enter(list);
    while (acog_schema_next(&cursor)) {
        put_schema(copy, cursor.value, depth);
    }
}

/* Looks into the schemas of a member.
 * NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static void put_member(struct copy *copy, const struct acog_schema_cursor *cursor, unsigned depth)
{
    const struct acog_schema_keyword *keyword = acog_schema_keyword_of(cursor->key);
    switch (keyword == NULL ? ACOG_HOLDS_VALUE : keyword->holds) {
    case ACOG_HOLDS_VALUE:
        return;
    case ACOG_HOLDS_SCHEMA:
        put_schema(copy, cursor->value, depth);
        return;
    case ACOG_HOLDS_LIST:
        if (cursor->value.type == ACOG_JSON_ARRAY) {
            put_schemas(copy, cursor->value, depth);
        }
        return;
    case ACOG_HOLDS_MAP:
        if (cursor->value.type == ACOG_JSON_OBJECT) {
            put_schemas(copy, cursor->value, depth);
        }
        return;
    }
}

/* The members of a schema with a $ref that may stay.
 * NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static void put_reference(struct copy *copy, struct acog_json_value schema, unsigned depth)
{
    struct acog_schema_cursor cursor = acog_schema_enter(schema);
    bool any = false;
    put_up_to(copy, schema.raw.ptr);
    while (acog_schema_next(&cursor)) {
        if (!is_dollar(cursor.key)) {
            copy->lost = copy->lost || constrains(cursor.key);
            continue;
        }
        acog_put(copy->writer, any ? ACOG_VIEW(",") : ACOG_VIEW("{"));
        copy->from = cursor.key.raw.ptr;
        put_member(copy, &cursor, depth);
        put_up_to(copy, cursor.value.raw.ptr + cursor.value.raw.len);
        any = true;
    }
    acog_put(copy->writer, ACOG_VIEW("}"));
    copy->from = schema.raw.ptr + schema.raw.len;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static void put_schema(struct copy *copy, struct acog_json_value schema, unsigned depth)
{
    struct acog_schema_look look;
    if (!acog_schema_look(&copy->patience, schema, depth, &look)) {
        return;
    }
    if (copy->items_wanted && acog_schema_may_be(look.type, ACOG_VIEW("array")) &&
        !acog_json_present(look.items) && !look.escaped) {
        put_up_to(copy, schema.raw.ptr + 1);
        acog_put(copy->writer, ACOG_VIEW("\"items\":{},"));
    }
    struct acog_schema_cursor cursor = acog_schema_enter(schema);
    bool alone = true;
    while (alone && copy->reference_alone && look.reference.type == ACOG_JSON_STRING &&
           acog_schema_next(&cursor)) {
        alone = is_dollar(cursor.key);
    }
    if (!alone) {
        put_reference(copy, schema, depth + 1);
        return;
    }
    cursor = acog_schema_enter(schema);
    while (acog_schema_next(&cursor)) {
        put_member(copy, &cursor, depth + 1);
    }
}

static bool is_empty(struct acog_json_value schema)
{
    struct acog_schema_cursor cursor = acog_schema_enter(schema);
    return !acog_schema_next(&cursor);
}

/* A member in front of all others of an object. */
static void put_first(struct copy *copy, struct acog_json_value schema, struct acog_view member)
{
    acog_put(copy->writer, ACOG_VIEW("{"));
    acog_put(copy->writer, member);
    acog_put(copy->writer, is_empty(schema) ? ACOG_VIEW("") : ACOG_VIEW(","));
    copy->from = schema.raw.ptr + 1;
}

static bool has_member(struct acog_json_value schema, struct acog_view name)
{
    struct acog_json_value value;
    return acog_json_member(schema, name, &value);
}

#define OBJECT_TYPE ACOG_VIEW("\"type\":\"object\"")

void acog_schema_put_messages_object(struct acog_request_writer *writer,
                                     struct acog_json_value schema)
{
    struct copy copy = {.writer = writer, .from = schema.raw.ptr};
    if (is_empty(schema)) {
        acog_put(writer, ACOG_VIEW("{\"type\":\"object\"}"));
        return;
    }
    if (!has_member(schema, ACOG_VIEW("type"))) {
        put_first(&copy, schema, OBJECT_TYPE);
    }
    put_up_to(&copy, schema.raw.ptr + schema.raw.len);
}

void acog_schema_put_openai_object(struct acog_request_writer *writer,
                                   struct acog_json_value schema)
{
    struct acog_json_value type = {.escaped = false};
    struct copy copy = {.writer = writer,
                        .patience = acog_schema_patience(schema),
                        .from = schema.raw.ptr,
                        .items_wanted = true};
    if (is_empty(schema)) {
        acog_put(writer, ACOG_VIEW("{\"type\":\"object\",\"properties\":{}}"));
        return;
    }
    (void)acog_json_member(schema, ACOG_VIEW("type"), &type);
    if (acog_json_text_is(type, ACOG_VIEW("object")) &&
        !has_member(schema, ACOG_VIEW("properties"))) {
        put_first(&copy, schema, ACOG_VIEW("\"properties\":{}"));
    }
    put_schema(&copy, schema, 0);
    put_up_to(&copy, schema.raw.ptr + schema.raw.len);
}

static void put_gemini(struct acog_request_writer *writer, struct acog_json_value schema,
                       bool object, bool *lost)
{
    struct copy copy = {.writer = writer,
                        .patience = acog_schema_patience(schema),
                        .from = schema.raw.ptr,
                        .reference_alone = true};
    if (schema.raw.len == 0) {
        return;
    }
    if (object && schema.type == ACOG_JSON_OBJECT && !has_member(schema, ACOG_VIEW("type")) &&
        !has_member(schema, ACOG_VIEW("$ref"))) {
        put_first(&copy, schema, OBJECT_TYPE);
    }
    put_schema(&copy, schema, 0);
    put_up_to(&copy, schema.raw.ptr + schema.raw.len);
    *lost = *lost || copy.lost;
}

void acog_schema_put_gemini_object(struct acog_request_writer *writer,
                                   struct acog_json_value schema, bool *lost)
{
    put_gemini(writer, schema, true, lost);
}

void acog_schema_put_gemini(struct acog_request_writer *writer, struct acog_json_value schema,
                            bool *lost)
{
    put_gemini(writer, schema, false, lost);
}
