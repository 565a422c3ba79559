/* gemini.h - private to core/dialect: an answer of generateContent, as the tracker, the reader of whole answers and the
 * translation all see it. An event of a stream is an answer like a whole one, with a piece of the content.
 */
#ifndef ACOG_CORE_DIALECT_GEMINI_H
#define ACOG_CORE_DIALECT_GEMINI_H

#include "acog/dialect.h"

/* The members that say anything here. */
struct acog_gemini_answer {
    struct acog_json_value candidate; /* the first one: more are never asked for */
    struct acog_json_value parts;     /* of its content, an ARRAY; or absent */
    struct acog_json_value finish;  /* a STRING with something in it, or absent; also of a number */
    struct acog_json_value blocked; /* likewise: why the prompt was not answered at all */
    struct acog_json_value feedback; /* promptFeedback */
    struct acog_json_value usage;
    struct acog_json_value id;
    struct acog_json_value model;
    struct acog_json_value error;
    bool is_answer; /* it has candidates or a prompt feedback, of the right types */
};

/* `object` was checked. */
struct acog_gemini_answer acog_gemini_read(struct acog_json_value object);

/* The members of a part of a content. */
struct acog_gemini_part {
    struct acog_json_value text; /* STRING */
    bool thought;
    struct acog_json_value call; /* OBJECT: functionCall */
    struct acog_json_value signature;
};

struct acog_gemini_part acog_gemini_read_part(struct acog_json_value part);

/* Sets of ACOG_BIT(acog_output): texts, thoughts and calls with something in them. */
unsigned acog_gemini_outputs(struct acog_json_value parts);

/* A text, be it empty, a thought or a call. */
bool acog_gemini_says_anything(struct acog_json_value parts);

/* A finish reason that says that a filter, not the model, ended the answer. */
bool acog_gemini_is_refusal(struct acog_json_value finish);

/* Overwrites what `usage` (an object) reports; true if it reports anything. What the model thought is part of the
 * output, and what a tool of Google's brought in is part of the input. */
bool acog_gemini_usage(struct acog_json_value object, struct acog_usage *usage);

#endif
