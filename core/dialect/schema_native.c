/* schema_native.c - a schema as Anthropic's native formats take it. One walk, once to look and once to write: what is
 * written is what was looked at.
 *
 *   what it does not take     becomes
 *   a bound, a length, …      a note behind the description, "{minimum: 0, maximum: 150}"
 *   oneOf                     anyOf: what fits one fits any
 *   an object left open       closed: what it then holds, the client's schema takes too
 *   beside a $ref             nothing
 *   a map, any value, …       an objection: no rewriting would ask for the same, a forced tool can
 *
 * A reference must not lead back to itself: definitions and the references in them are a graph without a circle.
 */
#include "acog/contract.h"
#include "schema.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Of all strict schemas of a request. */
#define TOOLS_MAX     20
#define OPTIONALS_MAX 24
#define UNIONS_MAX    16

#define DEFINITIONS_MAX 128 /* ours: more are not looked into */

#define OBJECTION(words) \
    "the schema of the answer: " words ", which the model that serves cannot be held to"

struct definition {
    struct acog_view name;
    bool older; /* under `definitions` */
};

struct walk {
    struct acog_request_writer *writer; /* NULL: only looks */
    struct acog_schema_patience patience;
    struct acog_schema_fit fit;
    bool in_all_of;
    size_t definition_count;
    size_t within; /* which definition; definition_count: none */
    struct definition definitions[DEFINITIONS_MAX];
    uint64_t leads_to[DEFINITIONS_MAX][DEFINITIONS_MAX / 64];
};

static void put(struct walk *walk, struct acog_view bytes)
{
    if (walk->writer != NULL) {
        acog_put(walk->writer, bytes);
    }
}

static bool object_to(struct walk *walk, const char *words)
{
    walk->fit.objection = walk->fit.objection == NULL ? words : walk->fit.objection;
    return false;
}

/* -- references ------------------------------------------------------------------------------------ */

static bool name_definitions(struct walk *walk, struct acog_json_value map, bool older)
{
    struct acog_schema_cursor cursor = acog_schema_enter(map);
    while (map.type == ACOG_JSON_OBJECT && acog_schema_next(&cursor)) {
        if (walk->definition_count == DEFINITIONS_MAX) {
            return object_to(walk, OBJECTION("more definitions than are looked into"));
        }
        walk->definitions[walk->definition_count++] =
            (struct definition){.name = acog_text_of(cursor.key).bytes, .older = older};
    }
    return true;
}

static bool name_all_definitions(struct walk *walk, const struct acog_schema_look *root)
{
    bool good = name_definitions(walk, root->definitions[0], false) &&
                name_definitions(walk, root->definitions[1], true);
    walk->within = walk->definition_count;
    return good;
}

/* Spelled as the definition is: escapes of JSON or of a pointer are not undone. */
static bool follow(struct walk *walk, struct acog_json_value reference)
{
    const struct acog_view newer = ACOG_VIEW("#/$defs/");
    const struct acog_view old = ACOG_VIEW("#/definitions/");
    struct acog_view target = acog_text_of(reference).bytes;
    bool older = acog_view_starts(target, old);
    if (acog_view_equal(target, ACOG_VIEW("#"))) {
        return object_to(walk, OBJECTION("a $ref that leads back to itself"));
    }
    if (!older && !acog_view_starts(target, newer)) {
        return object_to(walk, OBJECTION("a $ref that leads elsewhere than to $defs"));
    }
    if (walk->in_all_of) {
        return object_to(walk, OBJECTION("a $ref inside allOf"));
    }
    target = acog_view_slice(target, older ? old.len : newer.len, target.len);
    for (size_t i = 0; i < walk->definition_count; i++) {
        if (walk->definitions[i].older == older &&
            acog_view_equal(walk->definitions[i].name, target)) {
            if (walk->within < walk->definition_count) {
                walk->leads_to[walk->within][i / 64] |= (uint64_t)1 << (i % 64);
            }
            return true;
        }
    }
    return object_to(walk, OBJECTION("a $ref that leads nowhere"));
}

static bool leads_only_to(const uint64_t *leads_to, const uint64_t *done)
{
    bool only = true;
    for (size_t i = 0; i < DEFINITIONS_MAX / 64; i++) {
        only = only && (leads_to[i] & ~done[i]) == 0;
    }
    return only;
}

/* Takes away what leads only to what was taken away, until nothing is left, or only circles. */
static bool has_circle(const struct walk *walk)
{
    uint64_t done[DEFINITIONS_MAX / 64] = {0};
    size_t left = walk->definition_count;
    size_t before = left + 1;
    while (left < before) {
        before = left;
        for (size_t i = 0; i < walk->definition_count; i++) {
            uint64_t bit = (uint64_t)1 << (i % 64);
            if ((done[i / 64] & bit) == 0 && leads_only_to(walk->leads_to[i], done)) {
                done[i / 64] |= bit;
                left--;
            }
        }
    }
    return left > 0;
}

/* -- what becomes of a keyword --------------------------------------------------------------------- */

static const struct acog_view formats[] = {
    {"date-time", 9}, {"time", 4}, {"date", 4}, {"duration", 8}, {"email", 5},
    {"hostname", 8},  {"uri", 3},  {"ipv4", 4}, {"ipv6", 4},     {"uuid", 4},
};

static bool is_idle(const struct acog_schema_keyword *keyword, struct acog_json_value value)
{
    const double exact = 9007199254740991.0;
    double number = 0;
    if (value.type == ACOG_JSON_FALSE || value.type == ACOG_JSON_NULL) {
        return true;
    }
    if (keyword->idle == ACOG_IDLE_NONE || !acog_json_double(value, &number)) {
        return false;
    }
    switch (keyword->idle) {
    case ACOG_IDLE_NONE:
        return false;
    case ACOG_IDLE_ZERO:
        return number <= 0;
    case ACOG_IDLE_LOWEST:
        return number <= -exact;
    case ACOG_IDLE_HIGHEST:
        return number >= exact;
    }
    return false;
}

static bool is_literal(struct acog_json_value value)
{
    return value.type != ACOG_JSON_OBJECT && value.type != ACOG_JSON_ARRAY;
}

static bool are_literals(const struct acog_schema_keyword *keyword, struct acog_json_value value)
{
    if (acog_view_equal(keyword->name, ACOG_VIEW("const"))) {
        return is_literal(value);
    }
    struct acog_schema_cursor cursor = acog_schema_enter(value);
    bool literals = value.type == ACOG_JSON_ARRAY;
    while (literals && acog_schema_next(&cursor)) {
        literals = is_literal(cursor.value);
    }
    return literals;
}

/* `{2}`, `{1,}`, `{0,10}`: how far it goes, 0 where it is another. */
static size_t simple_quantifier(struct acog_view text)
{
    size_t digits = 0;
    for (size_t i = 1; i < text.len; i++) {
        char byte = text.ptr[i];
        if (byte == '}') {
            return i;
        }
        digits = byte == ',' ? 0 : digits + 1;
        if ((byte != ',' && (byte < '0' || byte > '9')) || digits > 2) {
            return 0;
        }
    }
    return 0;
}

static char byte_at(struct acog_view text, size_t i)
{
    if (i < text.len) {
        return text.ptr[i];
    }
    return '\0';
}

/* What is documented as taken: no look-around, no back reference, no word boundary, no lazy or large quantifier. As it
 * is spelled in JSON: `\\d`; with any other escape of JSON it is not looked at. */
static bool is_simple_pattern(struct acog_json_value value)
{
    struct acog_view text = acog_text_of(value).bytes;
    char before = '\0';
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        char next = byte_at(text, i + 1);
        bool quantified = before == '*' || before == '+' || before == '?' || before == '}';
        if (byte == '\\') {
            char escaped = byte_at(text, i + 2);
            if (next != '\\' || escaped == '\0' || strchr("dws.-/+*?()[]{}|^$@", escaped) == NULL) {
                return false;
            }
            i += 2;
            byte = '\0';
        } else if ((byte == '(' && next == '?') || (byte == '?' && quantified)) {
            return false;
        } else if (byte == '{') {
            size_t length = simple_quantifier(acog_view_slice(text, i, text.len));
            if (length == 0) {
                return false;
            }
            i += length;
            byte = '}';
        }
        before = byte;
    }
    return value.type == ACOG_JSON_STRING;
}

enum outcome {
    ACOG_OUTCOME_COPIED = 0,
    ACOG_OUTCOME_TOLD,
    ACOG_OUTCOME_LEFT_OUT,
};

static enum outcome told_unless(bool taken)
{
    return taken ? ACOG_OUTCOME_COPIED : ACOG_OUTCOME_TOLD;
}

/* Of a keyword whose schemas, if any, are taken. */
static enum outcome outcome_of(const struct acog_schema_keyword *keyword,
                               struct acog_json_value value)
{
    if (keyword == NULL) {
        return ACOG_OUTCOME_TOLD;
    }
    switch (keyword->native) {
    case ACOG_KEYWORD_TELL:
        return is_idle(keyword, value) ? ACOG_OUTCOME_LEFT_OUT : ACOG_OUTCOME_TOLD;
    case ACOG_KEYWORD_OMIT:
    case ACOG_KEYWORD_CLOSED: /* the object says it itself */
        return ACOG_OUTCOME_LEFT_OUT;
    case ACOG_KEYWORD_FORMAT:
        return told_unless(acog_schema_is_word(value, formats, COUNT(formats)));
    case ACOG_KEYWORD_PATTERN:
        return told_unless(is_simple_pattern(value));
    case ACOG_KEYWORD_LEAST:
        return told_unless(acog_view_equal(value.raw, ACOG_VIEW("0")) ||
                           acog_view_equal(value.raw, ACOG_VIEW("1")));
    case ACOG_KEYWORD_COPY:
    case ACOG_KEYWORD_NEVER:
    case ACOG_KEYWORD_DESCRIPTION:
    case ACOG_KEYWORD_LITERALS:
    case ACOG_KEYWORD_ANY_OF:
    case ACOG_KEYWORD_ALL_OF:
    case ACOG_KEYWORD_REFERENCE:
        return ACOG_OUTCOME_COPIED;
    }
    return ACOG_OUTCOME_COPIED;
}

/* -- the walk -------------------------------------------------------------------------------------- */

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static bool walk_schema(struct walk *walk, struct acog_json_value schema, unsigned depth);

/* An array of schemas, or an object whose members are. The root's definitions count themselves.
 * NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static bool walk_schemas(struct walk *walk, struct acog_json_value list, unsigned depth,
                         size_t *definition)
{
    struct acog_schema_cursor cursor = acog_schema_enter(list);
    bool good = true;
    put(walk, list.type == ACOG_JSON_ARRAY ? ACOG_VIEW("[") : ACOG_VIEW("{"));
    for (bool any = false; good && acog_schema_next(&cursor); any = true) {
        put(walk, any ? ACOG_VIEW(",") : ACOG_VIEW(""));
        if (cursor.object) {
            put(walk, cursor.key.raw);
            put(walk, ACOG_VIEW(":"));
        }
        walk->within = definition == NULL ? walk->within : (*definition)++;
        good = walk_schema(walk, cursor.value, depth);
    }
    put(walk, list.type == ACOG_JSON_ARRAY ? ACOG_VIEW("]") : ACOG_VIEW("}"));
    return good;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static bool walk_value(struct walk *walk, const struct acog_schema_keyword *keyword,
                       struct acog_json_value value, unsigned depth)
{
    bool in_all_of = walk->in_all_of;
    bool older = acog_view_equal(keyword->name, ACOG_VIEW("definitions"));
    bool definitions = older || acog_view_equal(keyword->name, ACOG_VIEW("$defs"));
    size_t first = 0;
    bool good = true;
    switch (keyword->holds) {
    case ACOG_HOLDS_VALUE:
        put(walk, value.raw);
        return true;
    case ACOG_HOLDS_SCHEMA:
        return walk_schema(walk, value, depth);
    case ACOG_HOLDS_LIST:
    case ACOG_HOLDS_MAP:
        if (value.type !=
            (keyword->holds == ACOG_HOLDS_LIST ? ACOG_JSON_ARRAY : ACOG_JSON_OBJECT)) {
            return object_to(walk, OBJECTION("a keyword whose value is of another type"));
        }
        while (older && first < walk->definition_count && !walk->definitions[first].older) {
            first++;
        }
        walk->in_all_of = in_all_of || keyword->native == ACOG_KEYWORD_ALL_OF;
        good = walk_schemas(walk, value, depth, definitions && depth == 1 ? &first : NULL);
        walk->in_all_of = in_all_of;
        walk->within = depth == 1 ? walk->definition_count : walk->within;
        return good;
    }
    return true;
}

/* `old`: the description that is there. Behind it what is told. */
static void put_description(struct walk *walk, struct acog_json_value schema,
                            struct acog_json_value old)
{
    struct acog_request_writer *writer = walk->writer;
    struct acog_schema_cursor cursor = acog_schema_enter(schema);
    struct acog_view text = acog_text_of(old).bytes;
    bool any = false;
    if (writer == NULL) {
        return;
    }
    acog_put(writer, ACOG_VIEW("\"description\":\""));
    acog_put(writer, text);
    acog_put(writer, text.len > 0 ? ACOG_VIEW("\\n\\n{") : ACOG_VIEW("{"));
    while (acog_schema_next(&cursor)) {
        if (outcome_of(acog_schema_keyword_of(cursor.key), cursor.value) != ACOG_OUTCOME_TOLD) {
            continue;
        }
        acog_put(writer, any ? ACOG_VIEW(", ") : ACOG_VIEW(""));
        acog_put_inside(writer, acog_text_of(cursor.key));
        acog_put(writer, ACOG_VIEW(": "));
        acog_put_inside(writer, acog_text_plain(cursor.value.raw));
        any = true;
    }
    acog_put(writer, ACOG_VIEW("}\""));
}

/* Whether a member is told; a constraint among them is lost. */
static bool has_told(struct walk *walk, struct acog_json_value schema)
{
    struct acog_schema_cursor cursor = acog_schema_enter(schema);
    bool told = false;
    while (acog_schema_next(&cursor)) {
        const struct acog_schema_keyword *keyword = acog_schema_keyword_of(cursor.key);
        if (outcome_of(keyword, cursor.value) == ACOG_OUTCOME_TOLD) {
            told = true;
            walk->fit.lost = walk->fit.lost || keyword != NULL;
        }
    }
    return told;
}

static bool is_object(const struct acog_schema_look *look)
{
    return acog_schema_may_be(look->type, ACOG_VIEW("object")) ||
           (!acog_json_present(look->type) && look->properties.type == ACOG_JSON_OBJECT);
}

/* Objections to a schema as a whole, its schemas aside. */
static bool is_taken(struct walk *walk, const struct acog_schema_look *look)
{
    static const struct acog_view says[] = {
        {"type", 4},  {"properties", 10}, {"anyOf", 5}, {"oneOf", 5},
        {"allOf", 5}, {"enum", 4},        {"const", 5},
    };
    bool object = is_object(look);
    bool said = false;
    for (size_t i = 0; i < COUNT(says); i++) {
        said = said || acog_schema_has_keyword(look, says[i]);
    }
    if (look->twice) {
        return object_to(walk, OBJECTION("a keyword that comes twice"));
    }
    if (!said) {
        return object_to(walk, OBJECTION("a value of any type"));
    }
    if (object && (walk->in_all_of || acog_schema_has_keyword(look, ACOG_VIEW("allOf")))) {
        return object_to(walk, OBJECTION("an object of several schemas (allOf)"));
    }
    if (object && look->properties.type != ACOG_JSON_OBJECT) {
        return object_to(walk, OBJECTION("an object that names no properties"));
    }
    if (acog_json_present(look->additional) && look->additional.type != ACOG_JSON_FALSE) {
        return object_to(walk, OBJECTION("an object with additionalProperties"));
    }
    if (acog_schema_may_be(look->type, ACOG_VIEW("array")) && !acog_json_present(look->items)) {
        return object_to(walk, OBJECTION("an array of any values"));
    }
    if (acog_json_present(look->any_of) && acog_json_present(look->one_of)) {
        return object_to(walk, OBJECTION("anyOf beside oneOf"));
    }
    return true;
}

static void count(struct walk *walk, const struct acog_schema_look *look)
{
    size_t properties = is_object(look) ? acog_schema_count(look->properties) : 0;
    size_t required = acog_schema_count(look->required);
    walk->fit.optionals += properties > required ? (unsigned)(properties - required) : 0;
    bool is_union = look->type.type == ACOG_JSON_ARRAY || acog_json_present(look->any_of) ||
                    acog_json_present(look->one_of);
    walk->fit.unions += is_union ? 1 : 0;
    walk->fit.lost = walk->fit.lost || acog_json_present(look->one_of);
}

/* Beside a reference only definitions stay.
 * NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static bool walk_reference(struct walk *walk, struct acog_json_value schema,
                           const struct acog_schema_look *look, unsigned depth)
{
    struct acog_schema_cursor cursor = acog_schema_enter(schema);
    bool good = !look->twice ? follow(walk, look->reference)
                             : object_to(walk, OBJECTION("a keyword that comes twice"));
    put(walk, ACOG_VIEW("{"));
    for (bool any = false; good && acog_schema_next(&cursor);) {
        const struct acog_schema_keyword *keyword = acog_schema_keyword_of(cursor.key);
        bool kept = keyword != NULL &&
                    (keyword->native == ACOG_KEYWORD_REFERENCE ||
                     (keyword->holds == ACOG_HOLDS_MAP && keyword->native == ACOG_KEYWORD_COPY &&
                      !acog_view_equal(keyword->name, ACOG_VIEW("properties"))));
        if (!kept) {
            bool note = keyword == NULL || keyword->native == ACOG_KEYWORD_DESCRIPTION ||
                        keyword->native == ACOG_KEYWORD_OMIT ||
                        acog_view_equal(keyword->name, ACOG_VIEW("title")) ||
                        acog_view_equal(keyword->name, ACOG_VIEW("default"));
            walk->fit.lost = walk->fit.lost || !note;
            continue;
        }
        put(walk, any ? ACOG_VIEW(",") : ACOG_VIEW(""));
        put(walk, cursor.key.raw);
        put(walk, ACOG_VIEW(":"));
        good = walk_value(walk, keyword, cursor.value, depth + 1);
        any = true;
    }
    put(walk, ACOG_VIEW("}"));
    return good;
}

struct members {
    struct walk *walk;
    bool any;
};

static void begin_member(struct members *members)
{
    put(members->walk, members->any ? ACOG_VIEW(",") : ACOG_VIEW(""));
    members->any = true;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static bool walk_member(struct members *members, const struct acog_schema_cursor *cursor,
                        bool object, unsigned depth)
{
    struct walk *walk = members->walk;
    const struct acog_schema_keyword *keyword = acog_schema_keyword_of(cursor->key);
    if (keyword == NULL) {
        return true; /* told */
    }
    if (keyword->native == ACOG_KEYWORD_NEVER) {
        return object_to(walk, OBJECTION("a keyword of JSON Schema that is not taken"));
    }
    if (keyword->native == ACOG_KEYWORD_LITERALS && !are_literals(keyword, cursor->value)) {
        return object_to(walk, OBJECTION("an enum or const of objects or arrays"));
    }
    bool closing = keyword->native == ACOG_KEYWORD_CLOSED && object;
    if (!closing && outcome_of(keyword, cursor->value) != ACOG_OUTCOME_COPIED) {
        return true;
    }
    begin_member(members);
    put(walk, keyword->native == ACOG_KEYWORD_ANY_OF ? ACOG_VIEW("\"anyOf\"") : cursor->key.raw);
    put(walk, ACOG_VIEW(":"));
    if (closing) {
        put(walk, ACOG_VIEW("false"));
        return true;
    }
    return walk_value(walk, keyword, cursor->value, depth);
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than ACOG_SCHEMA_DEPTH_MAX */
static bool walk_schema(struct walk *walk, struct acog_json_value schema, unsigned depth)
{
    struct acog_schema_look look;
    if (schema.type != ACOG_JSON_OBJECT) {
        return object_to(walk, OBJECTION("a value of any type"));
    }
    if (!acog_schema_look(&walk->patience, schema, depth, &look)) {
        return object_to(walk, OBJECTION("a size or a depth that is not looked into"));
    }
    if (look.escaped) {
        return object_to(walk, OBJECTION("a key that is spelled with escapes"));
    }
    if (depth == 0 && !name_all_definitions(walk, &look)) {
        return false;
    }
    if (acog_json_present(look.reference)) {
        return walk_reference(walk, schema, &look, depth);
    }
    if (!is_taken(walk, &look)) {
        return false;
    }
    count(walk, &look);
    if (depth == 0) {
        walk->fit.object = is_object(&look) && look.type.type != ACOG_JSON_ARRAY;
    }
    struct members members = {.walk = walk};
    struct acog_schema_cursor cursor = acog_schema_enter(schema);
    bool object = is_object(&look);
    bool told = has_told(walk, schema);
    bool good = true;
    put(walk, ACOG_VIEW("{"));
    if (object && !acog_json_present(look.type)) {
        begin_member(&members);
        put(walk, ACOG_VIEW("\"type\":\"object\""));
    }
    while (good && acog_schema_next(&cursor)) {
        const struct acog_schema_keyword *keyword = acog_schema_keyword_of(cursor.key);
        if (told && keyword != NULL && keyword->native == ACOG_KEYWORD_DESCRIPTION) {
            begin_member(&members);
            put_description(walk, schema, cursor.value);
            told = false;
        } else {
            good = walk_member(&members, &cursor, object, depth + 1);
        }
    }
    if (told) {
        begin_member(&members);
        put_description(walk, schema, (struct acog_json_value){.raw = {0}});
    }
    if (object && !acog_json_present(look.additional)) {
        begin_member(&members);
        put(walk, ACOG_VIEW("\"additionalProperties\":false"));
    }
    put(walk, ACOG_VIEW("}"));
    return good;
}

/* -- what others call ------------------------------------------------------------------------------ */

static void run(struct walk *walk, struct acog_json_value schema)
{
    walk->patience = acog_schema_patience(schema);
    if (schema.type != ACOG_JSON_OBJECT || !walk_schema(walk, schema, 0)) {
        (void)object_to(walk, OBJECTION("not an object"));
    } else if (has_circle(walk)) {
        (void)object_to(walk, OBJECTION("a $ref that leads back to itself"));
    } else if (walk->fit.optionals > OPTIONALS_MAX || walk->fit.unions > UNIONS_MAX) {
        (void)object_to(walk,
                        OBJECTION("more choices (optional properties, anyOf) than are taken"));
    }
}

struct acog_schema_fit acog_schema_fit_messages(struct acog_json_value schema)
{
    struct walk walk = {.writer = NULL};
    run(&walk, schema);
    return walk.fit;
}

bool acog_schema_admit(struct acog_schema_totals *totals, const struct acog_schema_fit *fit)
{
    struct acog_schema_totals with = {.tools = totals->tools + 1,
                                      .optionals = totals->optionals + fit->optionals,
                                      .unions = totals->unions + fit->unions};
    bool admitted = fit->objection == NULL && with.tools <= TOOLS_MAX &&
                    with.optionals <= OPTIONALS_MAX && with.unions <= UNIONS_MAX;
    *totals = admitted ? with : *totals;
    return admitted;
}

void acog_schema_put_messages(struct acog_request_writer *writer, struct acog_json_value schema)
{
    struct walk walk = {.writer = writer};
    run(&walk, schema);
    ACOG_ASSERT(walk.fit.objection == NULL);
}
