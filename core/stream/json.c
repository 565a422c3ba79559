/* json.c - the strict check, in one pass and without recursion.
 *
 * The nesting lives in a bit for each level (object or array), so a deep text costs no stack. The walk over members,
 * the look-ups and the decoding are in json_read.c: they trust a text that passed here.
 */
#include "acog/json.h"

#include "acog/contract.h"
#include "acog/utf8.h"
#include "scan.h"

#include <string.h>

struct check {
    const char *at;
    const char *end;
    const char *what; /* set when a step failed; `at` is then the place */
    size_t depth;
    size_t depth_max;
    uint64_t objects[ACOG_JSON_DEPTH_MAX / 64]; /* bit d: level d is an object */
};

static bool fail(struct check *check, const char *at, const char *what)
{
    check->at = at;
    check->what = what;
    return false;
}

static inline void skip_space(struct check *check)
{
    const char *at = check->at;
    while (at < check->end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) {
        at++;
    }
    check->at = at;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The value of four hex digits, or -1. */
static int hex4(const char *at, const char *end)
{
    int value = 0;
    if (end - at < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        int digit = 0;
        if (is_digit(at[i])) {
            digit = at[i] - '0';
        } else if ((at[i] | 0x20) >= 'a' && (at[i] | 0x20) <= 'f') {
            digit = (at[i] | 0x20) - 'a' + 10;
        } else {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

/* `check->at` is on the backslash; moves behind the escape. */
static bool read_escape(struct check *check)
{
    const char *start = check->at;
    if (check->end - start < 2) {
        return fail(check, start, "an unfinished string");
    }
    if (start[1] != 'u') {
        if (start[1] == '\0' || strchr("\"\\/bfnrt", start[1]) == NULL) {
            return fail(check, start, "a bad escape");
        }
        check->at = start + 2;
        return true;
    }
    int unit = hex4(start + 2, check->end);
    if (unit < 0) {
        return fail(check, start, "a bad escape");
    }
    check->at = start + 6;
    if (unit < 0xd800 || unit > 0xdfff) {
        return true;
    }
    bool paired =
        unit < 0xdc00 && check->end - check->at >= 6 && check->at[0] == '\\' && check->at[1] == 'u';
    int low = paired ? hex4(check->at + 2, check->end) : -1;
    if (low < 0xdc00 || low > 0xdfff) {
        return fail(check, start, "half of a surrogate pair");
    }
    check->at += 6;
    return true;
}

/* `check->at` is on a byte that is no ASCII; moves behind all such bytes that follow. */
static bool read_utf8(struct check *check)
{
    const char *at = check->at;
    while (at < check->end && (signed char)*at < 0) {
        size_t bytes =
            acog_utf8_length((struct acog_view){.ptr = at, .len = (size_t)(check->end - at)});
        if (bytes == 0) {
            return fail(check, at, "not UTF-8");
        }
        at += bytes;
    }
    check->at = at;
    return true;
}

/* `check->at` is on the opening quote; moves behind the closing one. */
static bool read_string(struct check *check, bool *escaped)
{
    check->at++;
    for (;;) {
        check->at = acog_scan_special(check->at, check->end);
        if (check->at == check->end) {
            return fail(check, check->end, "an unfinished string");
        }
        char byte = *check->at;
        if (byte == '"') {
            check->at++;
            return true;
        }
        if (byte == '\\') {
            *escaped = true;
            if (!read_escape(check)) {
                return false;
            }
        } else if ((signed char)byte < 0) {
            if (!read_utf8(check)) {
                return false;
            }
        } else {
            return fail(check, check->at, "a control character in a string");
        }
    }
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at)) {
        at++;
    }
    return at;
}

static bool read_number(struct check *check)
{
    const char *at = check->at;
    const char *end = check->end;
    const char *digits = *at == '-' ? at + 1 : at;
    at = skip_digits(digits, end);
    if (at == digits || (*digits == '0' && at > digits + 1)) {
        return fail(check, check->at, "a bad number");
    }
    if (at < end && *at == '.') {
        digits = at + 1;
        at = skip_digits(digits, end);
        if (at == digits) {
            return fail(check, check->at, "a bad number");
        }
    }
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        digits = at < end && (*at == '+' || *at == '-') ? at + 1 : at;
        at = skip_digits(digits, end);
        if (at == digits) {
            return fail(check, check->at, "a bad number");
        }
    }
    check->at = at;
    return true;
}

static bool read_word(struct check *check, const char *word, size_t length)
{
    if ((size_t)(check->end - check->at) < length || memcmp(check->at, word, length) != 0) {
        return fail(check, check->at, "a value was expected");
    }
    check->at += length;
    return true;
}

static bool inside_object(const struct check *check)
{
    size_t level = check->depth - 1;
    return (check->objects[level / 64] >> (level % 64) & 1U) != 0;
}

static bool enter(struct check *check, bool object)
{
    if (check->depth == check->depth_max) {
        return fail(check, check->at, "nested too deep");
    }
    uint64_t bit = UINT64_C(1) << (check->depth % 64);
    uint64_t *word = &check->objects[check->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    check->depth++;
    check->at++;
    skip_space(check);
    return true;
}

/* A key and its colon; stops at the value. */
static bool read_key(struct check *check)
{
    bool escaped = false;
    if (check->at == check->end || *check->at != '"') {
        return fail(check, check->at, "a key was expected");
    }
    if (!read_string(check, &escaped)) {
        return false;
    }
    skip_space(check);
    if (check->at == check->end || *check->at != ':') {
        return fail(check, check->at, "':' was expected");
    }
    check->at++;
    skip_space(check);
    return true;
}

/* Opens arrays and objects until a value is whole: a scalar, or an empty array or object. */
static bool read_first(struct check *check, bool *escaped)
{
    for (;;) {
        if (check->at == check->end) {
            return fail(check, check->at, "a value was expected");
        }
        switch (*check->at) {
        case '"':
            return read_string(check, escaped);
        case '{':
            if (!enter(check, true)) {
                return false;
            }
            if (check->at < check->end && *check->at == '}') {
                check->at++;
                check->depth--;
                return true;
            }
            if (!read_key(check)) {
                return false;
            }
            break;
        case '[':
            if (!enter(check, false)) {
                return false;
            }
            if (check->at < check->end && *check->at == ']') {
                check->at++;
                check->depth--;
                return true;
            }
            break;
        case 't':
            return read_word(check, "true", 4);
        case 'f':
            return read_word(check, "false", 5);
        case 'n':
            return read_word(check, "null", 4);
        default:
            if (*check->at == '-' || is_digit(*check->at)) {
                return read_number(check);
            }
            return fail(check, check->at, "a value was expected");
        }
    }
}

/* Behind a value inside an array or object: closes what is closed here, and stops at the next value
 * (*more) or behind the outermost bracket. */
static bool read_on(struct check *check, bool *more)
{
    *more = false;
    while (check->depth > 0) {
        bool object = inside_object(check);
        skip_space(check);
        char byte = check->at < check->end ? *check->at : '\0';
        if (byte == ',') {
            check->at++;
            skip_space(check);
            *more = true;
            return !object || read_key(check);
        }
        if (byte != (object ? '}' : ']')) {
            return fail(check, check->at,
                        object ? "',' or '}' was expected" : "',' or ']' was expected");
        }
        check->at++;
        check->depth--;
    }
    return true;
}

static enum acog_json_type type_of(char first)
{
    switch (first) {
    case '{':
        return ACOG_JSON_OBJECT;
    case '[':
        return ACOG_JSON_ARRAY;
    case '"':
        return ACOG_JSON_STRING;
    case 't':
        return ACOG_JSON_TRUE;
    case 'f':
        return ACOG_JSON_FALSE;
    case 'n':
        return ACOG_JSON_NULL;
    default:
        return ACOG_JSON_NUMBER;
    }
}

static bool read_text(struct check *check, struct acog_json_value *value)
{
    bool escaped = false;
    bool more = true;
    if (acog_view_starts((struct acog_view){check->at, (size_t)(check->end - check->at)},
                         ACOG_VIEW("\xef\xbb\xbf"))) {
        return fail(check, check->at, "a byte order mark");
    }
    skip_space(check);
    const char *start = check->at;
    while (more) {
        if (!read_first(check, &escaped) || !read_on(check, &more)) {
            return false;
        }
    }
    *value = (struct acog_json_value){.type = type_of(*start),
                                      .raw = {start, (size_t)(check->at - start)}};
    value->escaped = value->type == ACOG_JSON_STRING && escaped;
    skip_space(check);
    return check->at == check->end || fail(check, check->at, "text behind the value");
}

enum acog_code acog_json_check(struct acog_view text, size_t depth_max,
                               struct acog_json_value *value, struct acog_json_error *error)
{
    ACOG_ASSERT(depth_max <= ACOG_JSON_DEPTH_MAX);
    const char *start = text.len == 0 ? "" : text.ptr;
    struct check check;
    check.at = start;
    check.end = start + text.len;
    check.what = NULL;
    check.depth = 0;
    check.depth_max = depth_max;
    *value = (struct acog_json_value){0};
    if (read_text(&check, value)) {
        return ACOG_OK;
    }
    *value = (struct acog_json_value){0};
    *error = (struct acog_json_error){.offset = (size_t)(check.at - start), .what = check.what};
    return ACOG_INVALID;
}
