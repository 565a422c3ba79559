/* leaf.h - private to core/dialect: a member of an object as its reader takes it, of the wanted type or not at
 * all.
 */
#ifndef ACOG_CORE_DIALECT_LEAF_H
#define ACOG_CORE_DIALECT_LEAF_H

#include "acog/json.h"

/* A name of ours as a STRING, for what is dropped inside an object. */
#define ACOG_LEAF_NAME(text)                                                       \
    ((struct acog_json_value){.raw = {"\"" text "\"", sizeof("\"" text "\"") - 1}, \
                              .type = ACOG_JSON_STRING})

/* There, and not null: the official SDKs send null for what is not given. */
static inline bool acog_leaf_is_given(struct acog_json_value value)
{
    return acog_json_present(value) && value.type != ACOG_JSON_NULL;
}

/* A STRING with something in it. */
static inline bool acog_leaf_has_text(struct acog_json_value value)
{
    return value.type == ACOG_JSON_STRING && value.raw.len > 2;
}

/* Absent: it is of another type. */
static inline struct acog_json_value acog_leaf_of_type(struct acog_json_value value,
                                                       enum acog_json_type type)
{
    return value.type == type ? value : (struct acog_json_value){.escaped = false};
}

static inline struct acog_json_value acog_leaf_bool(struct acog_json_value value)
{
    return value.type == ACOG_JSON_FALSE ? value : acog_leaf_of_type(value, ACOG_JSON_TRUE);
}

/* Whether it is a NUMBER without a fraction, also when it is spelled 1e3 or 100.0. */
static inline bool acog_leaf_whole_number(struct acog_json_value value, int64_t *number)
{
    double real = 0;
    if (acog_json_int(value, number)) {
        return true;
    }
    if (!acog_json_double(value, &real) || real > 9e15 || real < -9e15) {
        return false;
    }
    *number = (int64_t)real;
    return !((double)*number < real) && !((double)*number > real);
}

#endif
