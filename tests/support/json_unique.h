/* json_unique.h - whether an object's keys, decoded, all differ. */
#ifndef ACOG_TESTS_SUPPORT_JSON_UNIQUE_H
#define ACOG_TESTS_SUPPORT_JSON_UNIQUE_H

#include "acog/json.h"

/* ACOG_INVALID for a key twice and for more than ACOG_JSON_KEYS_MAX keys; `offset` is from object.raw.ptr. */
static inline enum acog_code json_unique(struct acog_json_value object,
                                         struct acog_json_error *error)
{
    struct acog_json_keys keys;
    keys.count = 0;
    struct acog_json_cursor cursor = acog_json_enter(object);
    while (cursor.object && acog_json_next(&cursor)) {
        error->what = acog_json_keys_add(&keys, cursor.key);
        if (error->what != NULL) {
            error->offset = (size_t)(cursor.key.raw.ptr - object.raw.ptr);
            return ACOG_INVALID;
        }
    }
    return ACOG_OK;
}

#endif
