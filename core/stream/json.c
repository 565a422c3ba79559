/* json.c - the strict scanner: one pass, no recursion.
 *
 * The nesting lives in a bit for each level (object or array), so a deep text costs no stack. The walk over members,
 * the look-ups and the decoding are in json_read.c: they trust a text that passed here.
 */
#include "acog/json.h"

#include "acog/contract.h"
#include "acog/utf8.h"
#include "scan.h"

#include <string.h>

static bool fail(struct acog_json_scanner *scanner, const char *at, const char *what)
{
    scanner->at = at;
    scanner->what = what;
    return false;
}

static inline void skip_space(struct acog_json_scanner *scanner)
{
    const char *at = scanner->at;
    while (at < scanner->end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) {
        at++;
    }
    scanner->at = at;
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

/* `scanner->at` is on the backslash; moves behind the escape. */
static bool read_escape(struct acog_json_scanner *scanner)
{
    const char *start = scanner->at;
    if (scanner->end - start < 2) {
        return fail(scanner, start, "an unfinished string");
    }
    if (start[1] != 'u') {
        if (start[1] == '\0' || strchr("\"\\/bfnrt", start[1]) == NULL) {
            return fail(scanner, start, "a bad escape");
        }
        scanner->at = start + 2;
        return true;
    }
    int unit = hex4(start + 2, scanner->end);
    if (unit < 0) {
        return fail(scanner, start, "a bad escape");
    }
    scanner->at = start + 6;
    if (unit < 0xd800 || unit > 0xdfff) {
        return true;
    }
    bool paired = unit < 0xdc00 && scanner->end - scanner->at >= 6 && scanner->at[0] == '\\' &&
                  scanner->at[1] == 'u';
    int low = paired ? hex4(scanner->at + 2, scanner->end) : -1;
    if (low < 0xdc00 || low > 0xdfff) {
        return fail(scanner, start, "half of a surrogate pair");
    }
    scanner->at += 6;
    return true;
}

/* `scanner->at` is on a byte that is no ASCII; moves behind all such bytes that follow. */
static bool read_utf8(struct acog_json_scanner *scanner)
{
    const char *at = scanner->at;
    while (at < scanner->end && (signed char)*at < 0) {
        size_t bytes =
            acog_utf8_length((struct acog_view){.ptr = at, .len = (size_t)(scanner->end - at)});
        if (bytes == 0) {
            return fail(scanner, at, "not UTF-8");
        }
        at += bytes;
    }
    scanner->at = at;
    return true;
}

/* `scanner->at` is on the opening quote; moves behind the closing one. */
static bool read_string(struct acog_json_scanner *scanner, bool *escaped)
{
    scanner->at++;
    for (;;) {
        scanner->at = acog_scan_special(scanner->at, scanner->end);
        if (scanner->at == scanner->end) {
            return fail(scanner, scanner->end, "an unfinished string");
        }
        char byte = *scanner->at;
        if (byte == '"') {
            scanner->at++;
            return true;
        }
        if (byte == '\\') {
            *escaped = true;
            if (!read_escape(scanner)) {
                return false;
            }
        } else if ((signed char)byte < 0) {
            if (!read_utf8(scanner)) {
                return false;
            }
        } else {
            return fail(scanner, scanner->at, "a control character in a string");
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

static bool read_number(struct acog_json_scanner *scanner)
{
    const char *at = scanner->at;
    const char *end = scanner->end;
    const char *digits = *at == '-' ? at + 1 : at;
    at = skip_digits(digits, end);
    if (at == digits || (*digits == '0' && at > digits + 1)) {
        return fail(scanner, scanner->at, "a bad number");
    }
    if (at < end && *at == '.') {
        digits = at + 1;
        at = skip_digits(digits, end);
        if (at == digits) {
            return fail(scanner, scanner->at, "a bad number");
        }
    }
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        digits = at < end && (*at == '+' || *at == '-') ? at + 1 : at;
        at = skip_digits(digits, end);
        if (at == digits) {
            return fail(scanner, scanner->at, "a bad number");
        }
    }
    scanner->at = at;
    return true;
}

static bool read_word(struct acog_json_scanner *scanner, const char *word, size_t length)
{
    if ((size_t)(scanner->end - scanner->at) < length || memcmp(scanner->at, word, length) != 0) {
        return fail(scanner, scanner->at, "a value was expected");
    }
    scanner->at += length;
    return true;
}

static bool inside_object(const struct acog_json_scanner *scanner)
{
    size_t level = scanner->depth - 1;
    return (scanner->objects[level / 64] >> (level % 64) & 1U) != 0;
}

static bool enter(struct acog_json_scanner *scanner, bool object)
{
    if (scanner->depth == scanner->depth_max) {
        return fail(scanner, scanner->at, "nested too deep");
    }
    uint64_t bit = UINT64_C(1) << (scanner->depth % 64);
    uint64_t *word = &scanner->objects[scanner->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    scanner->depth++;
    scanner->at++;
    skip_space(scanner);
    return true;
}

/* A key and its colon; stops at the value. `key` may be NULL. */
static bool read_key(struct acog_json_scanner *scanner, struct acog_json_value *key)
{
    bool escaped = false;
    const char *start = scanner->at;
    if (start == scanner->end || *start != '"') {
        return fail(scanner, start, "a key was expected");
    }
    if (!read_string(scanner, &escaped)) {
        return false;
    }
    if (key != NULL) {
        key->type = ACOG_JSON_STRING;
        key->raw = (struct acog_view){.ptr = start, .len = (size_t)(scanner->at - start)};
        key->escaped = escaped;
    }
    skip_space(scanner);
    if (scanner->at == scanner->end || *scanner->at != ':') {
        return fail(scanner, scanner->at, "':' was expected");
    }
    scanner->at++;
    skip_space(scanner);
    return true;
}

/* Opens arrays and objects until a value is whole: a scalar, or an empty array or object. */
static bool read_first(struct acog_json_scanner *scanner, bool *escaped)
{
    for (;;) {
        if (scanner->at == scanner->end) {
            return fail(scanner, scanner->at, "a value was expected");
        }
        switch (*scanner->at) {
        case '"':
            return read_string(scanner, escaped);
        case '{':
            if (!enter(scanner, true)) {
                return false;
            }
            if (scanner->at < scanner->end && *scanner->at == '}') {
                scanner->at++;
                scanner->depth--;
                return true;
            }
            if (!read_key(scanner, NULL)) {
                return false;
            }
            break;
        case '[':
            if (!enter(scanner, false)) {
                return false;
            }
            if (scanner->at < scanner->end && *scanner->at == ']') {
                scanner->at++;
                scanner->depth--;
                return true;
            }
            break;
        case 't':
            return read_word(scanner, "true", 4);
        case 'f':
            return read_word(scanner, "false", 5);
        case 'n':
            return read_word(scanner, "null", 4);
        default:
            if (*scanner->at == '-' || is_digit(*scanner->at)) {
                return read_number(scanner);
            }
            return fail(scanner, scanner->at, "a value was expected");
        }
    }
}

/* Behind a value inside an array or object: its comma (true; stops at the next key or value) or its closing bracket
 * (*closed). */
static bool read_separator(struct acog_json_scanner *scanner, bool *closed)
{
    bool object = inside_object(scanner);
    skip_space(scanner);
    char byte = '\0';
    if (scanner->at < scanner->end) {
        byte = *scanner->at;
    }
    *closed = byte == (object ? '}' : ']');
    if (*closed) {
        scanner->at++;
        scanner->depth--;
        return true;
    }
    if (byte == ',') {
        scanner->at++;
        skip_space(scanner);
        return true;
    }
    return fail(scanner, scanner->at,
                object ? "',' or '}' was expected" : "',' or ']' was expected");
}

/* Behind a value: closes what is closed here above level `floor`, and stops at the next value (*more) or behind
 * the bracket that leads back to `floor`. */
static bool read_on(struct acog_json_scanner *scanner, size_t floor, bool *more)
{
    *more = false;
    while (scanner->depth > floor) {
        bool closed = false;
        if (!read_separator(scanner, &closed)) {
            return false;
        }
        if (!closed) {
            *more = true;
            return !inside_object(scanner) || read_key(scanner, NULL);
        }
    }
    return true;
}

void acog_json_scan(struct acog_json_scanner *scanner, struct acog_view text, size_t depth_max)
{
    const char *start = text.len == 0 ? "" : text.ptr;
    *scanner = (struct acog_json_scanner){
        .at = start,
        .end = start + text.len,
        .start = start,
        .depth_max = depth_max < ACOG_JSON_DEPTH_MAX ? depth_max : ACOG_JSON_DEPTH_MAX};
    if (acog_view_starts(text, ACOG_VIEW("\xef\xbb\xbf"))) {
        (void)fail(scanner, scanner->at, "a byte order mark");
        return;
    }
    skip_space(scanner);
}

enum acog_json_type acog_json_scan_type(const struct acog_json_scanner *scanner)
{
    switch (scanner->at < scanner->end ? *scanner->at : '\0') {
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

bool acog_json_scan_value(struct acog_json_scanner *scanner, struct acog_json_value *value)
{
    bool escaped = false;
    bool more = true;
    const char *start = scanner->at;
    size_t floor = scanner->depth;
    *value = (struct acog_json_value){0};
    if (scanner->what != NULL) {
        return false;
    }
    enum acog_json_type type = acog_json_scan_type(scanner);
    while (more) {
        if (!read_first(scanner, &escaped) || !read_on(scanner, floor, &more)) {
            return false;
        }
    }
    value->type = type;
    value->raw = (struct acog_view){.ptr = start, .len = (size_t)(scanner->at - start)};
    value->escaped = type == ACOG_JSON_STRING && escaped;
    return true;
}

bool acog_json_scan_enter(struct acog_json_scanner *scanner)
{
    enum acog_json_type type = acog_json_scan_type(scanner);
    if (scanner->what != NULL) {
        return false;
    }
    if (type != ACOG_JSON_OBJECT && type != ACOG_JSON_ARRAY) {
        return fail(scanner, scanner->at, "an array or object was expected");
    }
    scanner->entered = true;
    return enter(scanner, type == ACOG_JSON_OBJECT);
}

bool acog_json_scan_next(struct acog_json_scanner *scanner, struct acog_json_value *key)
{
    bool closed = false;
    *key = (struct acog_json_value){0};
    if (scanner->what != NULL) {
        return false;
    }
    ACOG_ASSERT(scanner->depth > 0);
    bool object = inside_object(scanner);
    if (scanner->entered) {
        scanner->entered = false;
        closed = scanner->at < scanner->end && *scanner->at == (object ? '}' : ']');
        if (closed) {
            scanner->at++;
            scanner->depth--;
        }
    } else if (!read_separator(scanner, &closed)) {
        return false;
    }
    return !closed && (!object || read_key(scanner, key));
}

bool acog_json_scan_end(struct acog_json_scanner *scanner)
{
    if (scanner->what != NULL) {
        return false;
    }
    skip_space(scanner);
    return scanner->at == scanner->end || fail(scanner, scanner->at, "text behind the value");
}

enum acog_code acog_json_check(struct acog_view text, size_t depth_max,
                               struct acog_json_value *value, struct acog_json_error *error)
{
    struct acog_json_scanner scanner;
    acog_json_scan(&scanner, text, depth_max);
    if (acog_json_scan_value(&scanner, value) && acog_json_scan_end(&scanner)) {
        return ACOG_OK;
    }
    *value = (struct acog_json_value){0};
    *error = acog_json_scan_error(&scanner);
    return ACOG_INVALID;
}
