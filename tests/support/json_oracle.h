/* json_oracle.h - our scanner and jansson on the same text: the same verdict, the same content. */
#ifndef ACOG_TESTS_SUPPORT_JSON_ORACLE_H
#define ACOG_TESTS_SUPPORT_JSON_ORACLE_H

#include "acog/json.h"
#include "tests/support/check.h"
#include "tests/support/json_unique.h"

#include <string.h>

#include <jansson.h>

#define DEPTH              128
#define ORACLE_ARENA_BYTES ((size_t)64 << 20U)

/* A text that must be good. */
static inline struct acog_json_value parse(const char *text)
{
    struct acog_json_value value;
    struct acog_json_error error;
    if (acog_json_check(acog_view_of(text), DEPTH, &value, &error) != ACOG_OK) {
        fail_msg("%s at %zu in %s", error.what, error.offset, text);
    }
    return value;
}

/* Enters every array and object, so each value is checked by its own call. */
static inline void scan_inside(struct acog_json_scanner *scanner, size_t *values)
{
    struct acog_json_value key;
    struct acog_json_value value;
    enum acog_json_type type = acog_json_scan_type(scanner);
    (*values)++;
    if (type != ACOG_JSON_ARRAY && type != ACOG_JSON_OBJECT) {
        (void)acog_json_scan_value(scanner, &value);
    } else if (acog_json_scan_enter(scanner)) {
        while (acog_json_scan_next(scanner, &key)) {
            assert_int_equal(acog_json_present(key), type == ACOG_JSON_OBJECT);
            scan_inside(scanner, values);
        }
    }
}

static inline size_t scanned_values(struct acog_view text, struct acog_json_error *error)
{
    struct acog_json_scanner scanner;
    size_t values = 0;
    acog_json_scan(&scanner, text, DEPTH);
    scan_inside(&scanner, &values);
    (void)acog_json_scan_end(&scanner);
    *error = acog_json_scan_error(&scanner);
    return values;
}

static inline json_t *oracle(struct acog_view text)
{
    return json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

static inline void compare(struct acog_json_value ours, const json_t *theirs,
                           struct acog_arena *arena);

static inline void compare_object(struct acog_json_value ours, const json_t *theirs,
                                  struct acog_arena *arena)
{
    struct acog_json_error error;
    struct acog_json_cursor cursor = acog_json_enter(ours);
    bool unique = json_unique(ours, &error) == ACOG_OK;
    size_t members = 0;
    while (acog_json_next(&cursor)) {
        struct acog_view key;
        assert_int_equal(acog_json_text(cursor.key, arena, &key), ACOG_OK);
        json_t *member = key.len > 0 && memchr(key.ptr, 0, key.len) != NULL
                             ? NULL
                             : json_object_getn(theirs, key.len == 0 ? "" : key.ptr, key.len);
        members++;
        if (unique && member != NULL) {
            compare(cursor.value, member, arena);
        }
    }
    if (unique) {
        assert_int_equal(members, json_object_size(theirs));
    }
}

static inline void compare(struct acog_json_value ours, const json_t *theirs,
                           struct acog_arena *arena)
{
    struct acog_json_cursor cursor = acog_json_enter(ours);
    struct acog_view text;
    int64_t integer = 0;
    double real = 0;
    size_t elements = 0;
    switch (ours.type) {
    case ACOG_JSON_NULL:
        assert_true(json_is_null(theirs));
        break;
    case ACOG_JSON_FALSE:
        assert_true(json_is_false(theirs));
        break;
    case ACOG_JSON_TRUE:
        assert_true(json_is_true(theirs));
        break;
    case ACOG_JSON_NUMBER:
        if (json_is_integer(theirs)) {
            assert_true(acog_json_int(ours, &integer));
            assert_true(integer == json_integer_value(theirs));
        } else if (acog_json_double(ours, &real)) {
            assert_memory_equal(&real, &(double){json_real_value(theirs)}, sizeof(real));
        }
        break;
    case ACOG_JSON_STRING:
        assert_int_equal(acog_json_text(ours, arena, &text), ACOG_OK);
        assert_true(acog_view_equal(
            text, (struct acog_view){json_string_value(theirs), json_string_length(theirs)}));
        break;
    case ACOG_JSON_ARRAY:
        while (acog_json_next(&cursor)) {
            compare(cursor.value, json_array_get(theirs, elements), arena);
            elements++;
        }
        assert_int_equal(elements, json_array_size(theirs));
        break;
    case ACOG_JSON_OBJECT:
        compare_object(ours, theirs, arena);
        break;
    }
}

/* Both accept: the same content. Returns whether both said the same. The pull scanner, entering everywhere, must
 * find the same error at the same place. */
static inline bool agrees(struct acog_view text)
{
    struct acog_json_value value;
    struct acog_json_error error = {0};
    struct acog_json_error pulled;
    bool good = acog_json_check(text, DEPTH, &value, &error) == ACOG_OK;
    (void)scanned_values(text, &pulled);
    assert_int_equal(pulled.what == NULL, good);
    if (!good) {
        assert_string_equal(pulled.what, error.what);
        assert_int_equal(pulled.offset, error.offset);
    }
    json_t *tree = oracle(text);
    if (good && tree != NULL) {
        struct acog_arena arena;
        acog_arena_init(&arena, ORACLE_ARENA_BYTES);
        compare(value, tree, &arena);
        acog_arena_fini(&arena);
    }
    bool same = good == (tree != NULL);
    json_decref(tree);
    return same;
}

/* Jansson refuses what we keep as written: integers and reals that C cannot hold, and keys with a NUL. */
static inline bool only_jansson_refuses(struct acog_view text)
{
    json_error_t error;
    json_t *tree = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    json_decref(tree);
    return tree == NULL && (json_error_code(&error) == json_error_numeric_overflow ||
                            json_error_code(&error) == json_error_null_byte_in_key);
}

#endif
