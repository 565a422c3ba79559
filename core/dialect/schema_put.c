/* schema_put.c - schemas copied with a few changes, for APIs that take nearly any. */
#include "schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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
