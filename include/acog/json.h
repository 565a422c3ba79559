/* json.h - a strict pull scanner over JSON text that yields spans. No tree, no copy.
 *
 * Grammar of RFC 8259: UTF-8 is checked, lone surrogate escapes are refused, depth is capped, a leading BOM is
 * refused. An escaped NUL (\u0000) is a character like any other: texts are counted views, never C strings.
 * Numbers, key order and escapes stay as written, because callers keep spans of the text.
 * Fast: 16 bytes at a time where SSE2 is there, one by one elsewhere (PERF.md section 2.2).
 */
#ifndef ACOG_JSON_H
#define ACOG_JSON_H

#include "acog/arena.h"
#include "acog/error.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_JSON_DEPTH_MAX \
    512 /* the compiled bound; callers give a lower one, and a higher counts as this */
#define ACOG_JSON_KEYS_MAX 128 /* of one object whose keys are compared for duplicates */

enum acog_json_type {
    ACOG_JSON_NULL = 0,
    ACOG_JSON_FALSE,
    ACOG_JSON_TRUE,
    ACOG_JSON_NUMBER,
    ACOG_JSON_STRING,
    ACOG_JSON_ARRAY,
    ACOG_JSON_OBJECT,
};

/* A value in the text. All zero (an empty `raw`): no value, what an absent member looks like. */
struct acog_json_value {
    struct acog_view raw; /* all of it, quotes and brackets included */
    enum acog_json_type type;
    bool escaped; /* STRING: has a backslash */
};

struct acog_json_error {
    size_t offset;    /* bytes from the start of the text */
    const char *what; /* constant text: "a key twice", "nested too deep", "not UTF-8", … */
};

/* Checks a whole text strictly: one value, nothing but white space around it. */
enum acog_code acog_json_check(struct acog_view text, size_t depth_max,
                               struct acog_json_value *value,
                               struct acog_json_error *error) ACOG_MUST_CHECK;

/* The same check for a reader that wants the inside of some values: one pass, every byte looked at once, in the order
 * of the text. It stands at a value; the reader passes over it whole or enters it:
 *
 *   acog_json_scan(&scanner, text, depth_max);
 *   if (acog_json_scan_enter(&scanner)) {                  an array or object; else it fails
 *       while (acog_json_scan_next(&scanner, &key)) {      stands at the next member's value (no key in an array)
 *           (void)acog_json_scan_value(&scanner, &value);  or enters that one in turn
 *       }                                                  closed: stands behind the bracket
 *   }
 *   if (!acog_json_scan_end(&scanner)) { acog_json_scan_error(&scanner) … }
 *
 * A failure is kept: every later call is false, so that the reader may look once, at the end. Between two calls of
 * next, exactly one value must be passed over. */
struct acog_json_scanner {
    const char *at;
    const char *end;
    const char *start;
    const char *what; /* the failure, at `at`; NULL: none */
    size_t depth;
    size_t depth_max;
    bool entered;                               /* no element of the innermost one was looked at */
    uint64_t objects[ACOG_JSON_DEPTH_MAX / 64]; /* bit d: level d is an object */
};

void acog_json_scan(struct acog_json_scanner *scanner, struct acog_view text, size_t depth_max);

/* By its first byte only; NUMBER for what is no value at all. */
enum acog_json_type acog_json_scan_type(const struct acog_json_scanner *scanner);
bool acog_json_scan_value(struct acog_json_scanner *scanner, struct acog_json_value *value);
bool acog_json_scan_enter(struct acog_json_scanner *scanner);
bool acog_json_scan_next(struct acog_json_scanner *scanner, struct acog_json_value *key);
bool acog_json_scan_end(struct acog_json_scanner *scanner);

static inline struct acog_json_error acog_json_scan_error(const struct acog_json_scanner *scanner)
{
    return (struct acog_json_error){.offset = (size_t)(scanner->at - scanner->start),
                                    .what = scanner->what};
}

static inline bool acog_json_present(struct acog_json_value value)
{
    return value.raw.len > 0;
}

/* Walks the members of an object or the elements of an array whose text was checked before
 * (acog_json_check): it skips nested values without checking them again.
 *
 *   struct acog_json_cursor cursor = acog_json_enter(value);
 *   while (acog_json_next(&cursor)) { cursor.key, cursor.value … }
 */
struct acog_json_cursor {
    struct acog_json_value key; /* STRING; of an object only */
    struct acog_json_value value;
    const char *at;
    const char *end;
    bool object;
};

struct acog_json_cursor acog_json_enter(struct acog_json_value value);
bool acog_json_next(struct acog_json_cursor *cursor);

/* The key's text equals `name` once escapes are decoded ("mod\u0065l" is "model"). */
bool acog_json_key_is(const struct acog_json_cursor *cursor, struct acog_view name);

/* The member of that name (the first one), or false. `object` was checked before. */
bool acog_json_member(struct acog_json_value object, struct acog_view name,
                      struct acog_json_value *value);

/* Several members in one walk: values[i] is the (first) member names[i], or absent. */
void acog_json_members(struct acog_json_value object, const struct acog_view *names,
                       struct acog_json_value *values, size_t count);

/* The same along a path of names: "choices" etc. do not index arrays. Path parts separated by '.'. */
bool acog_json_path(struct acog_json_value object, struct acog_view path,
                    struct acog_json_value *value);

/* The keys of one object, to find one that comes twice. Start with `count` 0. */
struct acog_json_keys {
    size_t count;
    uint32_t hashes[ACOG_JSON_KEYS_MAX];
    struct acog_json_value keys[ACOG_JSON_KEYS_MAX];
};

/* NULL when the key, decoded, is new and there was room; else what is wrong. */
const char *acog_json_keys_add(struct acog_json_keys *keys, struct acog_json_value key);

/* The text of a STRING: a view of the raw text when it has no escapes, else decoded into `arena`.
 * ACOG_NO_MEMORY only. */
enum acog_code acog_json_text(struct acog_json_value value, struct acog_arena *arena,
                              struct acog_view *text) ACOG_MUST_CHECK;

/* What stands between the quotes of a checked STRING, decoded into `out`, which has room for as many bytes as it has
 * itself: an escape is never shorter than what it stands for. Returns how many were written. */
size_t acog_json_unescape(struct acog_view escaped, char *out);

/* A STRING's text equals `text` (escapes decoded). */
bool acog_json_text_is(struct acog_json_value value, struct acog_view text);

/* An integer without fraction or exponent that fits; else false. */
bool acog_json_int(struct acog_json_value value, int64_t *number);

/* Any NUMBER of at most 128 bytes that a double can hold, as near as it can; else false. */
bool acog_json_double(struct acog_json_value value, double *number);

#endif
