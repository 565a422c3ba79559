/* schema.h - private to core/dialect: JSON schemas that clients wrote, for APIs that take less than JSON Schema.
 *
 *   OpenAI, strict     a subset: a schema is of it or is not, nothing is rewritten (schema_strict.c)
 *   Anthropic, native  a subset, into which most schemas can be rewritten: output_config.format, strict tools
 *                      (schema_native.c)
 *   Gemini             any schema, but for what stands beside a $ref (these: schema_put.c)
 *   OpenAI, tools      any schema, but for an object that names no properties, and an array that does not say of what
 *   Anthropic, tools   any schema with a type
 *
 * FACTS, as their documentation has them in November 2026:
 *   developers.openai.com/api/docs/guides/structured-outputs#supported-schemas: objects are closed and all their
 *     properties required, the root is an object and no anyOf; keywords, formats and limits as in the table and below.
 *     From its answers: a $ref stands alone ("$ref cannot have keywords {'description'}"), each schema has a type.
 *   platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations: the keywords, formats,
 *     patterns and limits; what is not taken is answered with a 400. The SDKs (anthropic 2.14, @anthropic-ai/sdk 1.14:
 *     transform_schema) tell in the description what they leave out, "{minimum: 0, maximum: 150}"; so does this.
 *   ai.google.dev/api/generate-content, responseJsonSchema: "the full JSON Schema may be sent", and "if `$ref` is set on
 *     a sub-schema, no other properties, except for than those starting as a `$`, may be set": a 400 for tools likewise.
 *
 * Schemas are a client's, and may be made to hurt: one that is large, nests deeply or would have to be looked at too
 * often is given up, so that each byte is looked at a bounded number of times. Of a keyword that comes twice nobody knows
 * which counts, and no keyword needs escapes: such schemas are of no subset.
 */
#ifndef ACOG_CORE_DIALECT_SCHEMA_H
#define ACOG_CORE_DIALECT_SCHEMA_H

#include "put.h"

#define ACOG_SCHEMA_BYTES_MAX ((size_t)256 * 1024) /* a larger one is not looked into */
#define ACOG_SCHEMA_DEPTH_MAX 32                   /* of schemas in schemas */
#define ACOG_SCHEMA_LOOKS_MAX 12                   /* at a byte, by the mean of all */

/* Whether OpenAI's strict mode takes the schema. */
bool acog_schema_is_openai_strict(struct acog_json_value schema);

/* Whether a schema is `strict` where OpenAI serves: as the client wished, but for one of messages, whose provider takes
 * more than OpenAI. Where that is not in the subset: FALSE, and named as `lost`. */
struct acog_json_value acog_schema_openai_strict(struct acog_request_writer *writer,
                                                 struct acog_json_value wish,
                                                 struct acog_json_value schema,
                                                 struct acog_view lost);

/* The same of the answer's format: a messages client has no word for strictness, there a schema is always kept. */
struct acog_json_value acog_schema_openai_strict_format(struct acog_request_writer *writer);

/* What Anthropic's native formats make of a schema. */
struct acog_schema_fit {
    const char *objection; /* what they cannot hold, in words for the client; NULL: it fits */
    bool lost;             /* a constraint would be told in words only */
    bool object;           /* it is an object's: a tool's must be */
    unsigned optionals;    /* properties that are not required */
    unsigned unions;       /* schemas with anyOf or several types */
};

struct acog_schema_fit acog_schema_fit_messages(struct acog_json_value schema);

/* The native limits hold for all strict schemas of a request together: takes one more of them, or not. Start with all
 * zero. */
struct acog_schema_totals {
    unsigned tools;
    unsigned optionals;
    unsigned unions;
};

bool acog_schema_admit(struct acog_schema_totals *totals, const struct acog_schema_fit *fit);

/* Appends the native form of a schema that fits. Of one that has it already: its bytes. */
void acog_schema_put_messages(struct acog_request_writer *writer, struct acog_json_value schema);

/* Appends the schema without what stands beside a $ref; `lost` if that was more than an annotation. Absent: nothing. */
void acog_schema_put_gemini(struct acog_request_writer *writer, struct acog_json_value schema,
                            bool *lost);

/* A tool's schema, for a model that is not held to it: what the API demands and the client left away is put in front.
 *
 *   messages  the type
 *   gemini    the type, but for a reference; the rest as above
 *   openai    `properties` of an object that names none, and `items` of each array that says none: without them it is a
 *             400 ("object schema missing properties", "array schema missing items")
 *
 * To messages and openai one that says nothing, or is absent, is one of no arguments. */
void acog_schema_put_messages_object(struct acog_request_writer *writer,
                                     struct acog_json_value schema);
void acog_schema_put_gemini_object(struct acog_request_writer *writer,
                                   struct acog_json_value schema, bool *lost);
void acog_schema_put_openai_object(struct acog_request_writer *writer,
                                   struct acog_json_value schema);

/* -- between the files of this module -------------------------------------------------------------- */

enum acog_schema_holds {
    ACOG_HOLDS_VALUE = 0,
    ACOG_HOLDS_SCHEMA,
    ACOG_HOLDS_LIST,
    ACOG_HOLDS_MAP,
};

enum acog_schema_action {
    ACOG_KEYWORD_COPY = 0,
    ACOG_KEYWORD_TELL,
    ACOG_KEYWORD_OMIT,
    ACOG_KEYWORD_NEVER,
    ACOG_KEYWORD_DESCRIPTION,
    ACOG_KEYWORD_CLOSED,
    ACOG_KEYWORD_LITERALS,
    ACOG_KEYWORD_ANY_OF,
    ACOG_KEYWORD_ALL_OF,
    ACOG_KEYWORD_REFERENCE,
    ACOG_KEYWORD_FORMAT,
    ACOG_KEYWORD_PATTERN,
    ACOG_KEYWORD_LEAST,
};

enum acog_schema_idle {
    ACOG_IDLE_NONE = 0,
    ACOG_IDLE_ZERO,
    ACOG_IDLE_LOWEST,
    ACOG_IDLE_HIGHEST,
};

struct acog_schema_keyword {
    struct acog_view name;
    enum acog_schema_holds holds;
    bool strict;
    enum acog_schema_action native;
    enum acog_schema_idle idle;
};

/* Walks members or elements as acog_json_cursor does, but passes over what is in them as fast as it was checked: a
 * schema is gone through at each level of it, and may be made of nothing but brackets. */
struct acog_schema_cursor {
    struct acog_json_value key; /* STRING; of an object only */
    struct acog_json_value value;
    bool object;
    bool open;
    struct acog_json_scanner scanner;
};

struct acog_schema_cursor acog_schema_enter(struct acog_json_value value);
bool acog_schema_next(struct acog_schema_cursor *cursor);

/* How many members or elements; 0 of what is neither object nor array. */
size_t acog_schema_count(struct acog_json_value value);

/* NULL: an annotation, or spelled with escapes. */
const struct acog_schema_keyword *acog_schema_keyword_of(struct acog_json_value key);

/* The members of an object that the checks ask for; absent where there are none. */
struct acog_schema_look {
    struct acog_json_value type;
    struct acog_json_value properties;
    struct acog_json_value required;
    struct acog_json_value additional;
    struct acog_json_value items;
    struct acog_json_value any_of;
    struct acog_json_value one_of;
    struct acog_json_value reference;
    struct acog_json_value definitions[2]; /* $defs, definitions */
    uint64_t keywords;                     /* bit i: row i of the table is there */
    size_t members;
    bool twice;   /* a keyword is */
    bool open;    /* there are annotations */
    bool escaped; /* a key is spelled with escapes: it may be any */
};

/* How much may still be looked at. */
struct acog_schema_patience {
    size_t bytes;
};

struct acog_schema_patience acog_schema_patience(struct acog_json_value schema);

/* False: it is no object, nests too deep, or patience is at its end. */
bool acog_schema_look(struct acog_schema_patience *patience, struct acog_json_value schema,
                      unsigned depth, struct acog_schema_look *look);

bool acog_schema_has_keyword(const struct acog_schema_look *look, struct acog_view name);

/* The type is the word, or a list with it. */
bool acog_schema_may_be(struct acog_json_value type, struct acog_view word);

/* A STRING that is one of the words. */
bool acog_schema_is_word(struct acog_json_value value, const struct acog_view *words, size_t count);

#endif
