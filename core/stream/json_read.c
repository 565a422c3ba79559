/* json_read.c - walking and decoding a text that acog_json_check() accepted.
 *
 * Nothing here checks the grammar again, but nothing reads outside the given span either, whatever the text is.
 */
#include "acog/json.h"
#include "acog/utf8.h"
#include "scan.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES_MAX 128

/* -- walking --------------------------------------------------------------------------------------- */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) {
        at++;
    }
    return at;
}

/* From the opening quote to behind the closing one. */
static const char *skip_string(const char *at, const char *end, bool *escaped)
{
    at++;
    for (;;) {
        at = acog_scan_quote(at, end);
        if (at == end) {
            return end;
        }
        if (*at == '"') {
            return at + 1;
        }
        *escaped = true;
        if (end - at < 2) {
            return end;
        }
        at += 2;
    }
}

/* From the opening bracket to behind the one that closes it. */
static const char *skip_container(const char *at, const char *end)
{
    size_t depth = 0;
    bool escaped = false;
    do {
        if (*at == '"') {
            at = skip_string(at, end, &escaped);
        } else {
            if ((*at | 0x20) == '{') {
                depth++;
            } else {
                depth--;
            }
            at++;
        }
        if (depth > 0) {
            at = acog_scan_structure(at, end);
        }
    } while (depth > 0 && at < end);
    return at;
}

static const char *skip_scalar(const char *at, const char *end)
{
    while (at < end && *at != ',' && *at != ']' && *at != '}' && *at != ' ' && *at != '\n' &&
           *at != '\t' && *at != '\r') {
        at++;
    }
    return at;
}

/* The value at `at`, which is before `end`; returns where it ends. */
static const char *read_value(const char *at, const char *end, struct acog_json_value *value)
{
    const char *start = at;
    value->escaped = false;
    switch (*at) {
    case '"':
        value->type = ACOG_JSON_STRING;
        at = skip_string(at, end, &value->escaped);
        break;
    case '{':
        value->type = ACOG_JSON_OBJECT;
        at = skip_container(at, end);
        break;
    case '[':
        value->type = ACOG_JSON_ARRAY;
        at = skip_container(at, end);
        break;
    case 't':
        value->type = ACOG_JSON_TRUE;
        at = skip_scalar(at, end);
        break;
    case 'f':
        value->type = ACOG_JSON_FALSE;
        at = skip_scalar(at, end);
        break;
    case 'n':
        value->type = ACOG_JSON_NULL;
        at = skip_scalar(at, end);
        break;
    default:
        value->type = ACOG_JSON_NUMBER;
        at = skip_scalar(at, end);
        break;
    }
    value->raw = (struct acog_view){.ptr = start, .len = (size_t)(at - start)};
    return at;
}

struct acog_json_cursor acog_json_enter(struct acog_json_value value)
{
    struct acog_json_cursor cursor = {.object = value.type == ACOG_JSON_OBJECT};
    if ((cursor.object || value.type == ACOG_JSON_ARRAY) && value.raw.len >= 2) {
        cursor.at = value.raw.ptr + 1;
        cursor.end = value.raw.ptr + value.raw.len - 1;
    }
    return cursor;
}

static const char *skip_to(const char *at, const char *end, char mark)
{
    at = skip_space(at, end);
    return at < end && *at == mark ? skip_space(at + 1, end) : at;
}

bool acog_json_next(struct acog_json_cursor *cursor)
{
    const char *at = skip_to(cursor->at, cursor->end, ',');
    if (at == cursor->end) {
        return false;
    }
    if (cursor->object) {
        at = read_value(at, cursor->end, &cursor->key);
        at = skip_to(at, cursor->end, ':');
        if (at == cursor->end) {
            return false;
        }
    }
    cursor->at = read_value(at, cursor->end, &cursor->value);
    return acog_json_present(cursor->value);
}

/* -- decoding -------------------------------------------------------------------------------------- */

/* The inside of a STRING, read as the bytes of its text. */
struct text_reader {
    const char *at;
    const char *end;
    char piece[4]; /* of an escape */
    size_t piece_len;
    size_t piece_at;
};

static struct text_reader read_inside(struct acog_json_value value)
{
    struct text_reader reader = {0};
    if (value.type == ACOG_JSON_STRING && value.raw.len >= 2) {
        reader.at = value.raw.ptr + 1;
        reader.end = value.raw.ptr + value.raw.len - 1;
    }
    return reader;
}

static struct acog_view inside(struct acog_json_value value)
{
    struct text_reader reader = read_inside(value);
    return (struct acog_view){.ptr = reader.at, .len = (size_t)(reader.end - reader.at)};
}

/* The check let only hex digits through; a text that was never checked gives some number, no more. */
static uint32_t unit_at(const char *at, const char *end)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4 && at < end; i++, at++) {
        uint32_t digit = (uint32_t)(*at & 0x0f);
        unit = unit << 4U | (*at > '9' ? (digit + 9) & 0x0fU : digit);
    }
    return unit;
}

static uint32_t read_code_point(struct text_reader *reader)
{
    uint32_t unit = unit_at(reader->at, reader->end);
    reader->at += reader->end - reader->at < 4 ? reader->end - reader->at : 4;
    if (unit < 0xd800 || unit > 0xdfff) {
        return unit;
    }
    if (reader->end - reader->at < 6) {
        return 0xfffd;
    }
    uint32_t low = unit_at(reader->at + 2, reader->end);
    if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff) {
        return 0xfffd;
    }
    reader->at += 6;
    return 0x10000 + ((unit - 0xd800) << 10U) + (low - 0xdc00);
}

static char plain_escape(char letter)
{
    switch (letter) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return letter;
    }
}

/* The next byte of the decoded text, or -1. */
static int next_byte(struct text_reader *reader)
{
    if (reader->piece_at < reader->piece_len) {
        return (unsigned char)reader->piece[reader->piece_at++];
    }
    if (reader->at == reader->end) {
        return -1;
    }
    char byte = *reader->at++;
    if (byte != '\\' || reader->at == reader->end) {
        return (unsigned char)byte;
    }
    char letter = *reader->at++;
    if (letter != 'u') {
        return (unsigned char)plain_escape(letter);
    }
    reader->piece_len = acog_utf8_encode(read_code_point(reader), reader->piece);
    reader->piece_at = 1;
    return (unsigned char)reader->piece[0];
}

bool acog_json_text_is(struct acog_json_value value, struct acog_view text)
{
    if (value.type != ACOG_JSON_STRING) {
        return false;
    }
    if (!value.escaped) {
        return acog_view_equal(inside(value), text);
    }
    struct text_reader reader = read_inside(value);
    for (size_t i = 0; i < text.len; i++) {
        if (next_byte(&reader) != (unsigned char)text.ptr[i]) {
            return false;
        }
    }
    return next_byte(&reader) == -1;
}

/* The plain case first: keys hardly ever have escapes, and most are told apart by their length. */
static inline bool is_named(const struct acog_json_value *key, struct acog_view name)
{
    if (!key->escaped) {
        return key->raw.len == name.len + 2 && memcmp(key->raw.ptr + 1, name.ptr, name.len) == 0;
    }
    return acog_json_text_is(*key, name);
}

bool acog_json_key_is(const struct acog_json_cursor *cursor, struct acog_view name)
{
    return is_named(&cursor->key, name);
}

size_t acog_json_unescape(struct acog_view escaped, char *out)
{
    struct text_reader reader = {.at = escaped.ptr, .end = escaped.ptr + escaped.len};
    size_t length = 0;
    for (int byte = next_byte(&reader); byte >= 0; byte = next_byte(&reader)) {
        out[length++] = (char)byte;
    }
    return length;
}

enum acog_code acog_json_text(struct acog_json_value value, struct acog_arena *arena,
                              struct acog_view *text)
{
    *text = inside(value);
    if (!value.escaped) {
        return ACOG_OK;
    }
    /* An escape is never shorter than the bytes that it stands for. */
    char *decoded = acog_arena_take(arena, text->len);
    if (decoded == NULL) {
        return ACOG_NO_MEMORY;
    }
    *text = (struct acog_view){.ptr = decoded, .len = acog_json_unescape(*text, decoded)};
    return ACOG_OK;
}

/* -- look-ups -------------------------------------------------------------------------------------- */

bool acog_json_member(struct acog_json_value object, struct acog_view name,
                      struct acog_json_value *value)
{
    acog_json_members(object, &name, value, 1);
    return acog_json_present(*value);
}

void acog_json_members(struct acog_json_value object, const struct acog_view *names,
                       struct acog_json_value *values, size_t count)
{
    size_t missing = count;
    memset(values, 0, count * sizeof(*values));
    if (object.type != ACOG_JSON_OBJECT) {
        return;
    }
    struct acog_json_cursor cursor = acog_json_enter(object);
    while (missing > 0 && acog_json_next(&cursor)) {
        for (size_t i = 0; i < count; i++) {
            if (!acog_json_present(values[i]) && is_named(&cursor.key, names[i])) {
                values[i] = cursor.value;
                missing--;
                break;
            }
        }
    }
}

bool acog_json_path(struct acog_json_value object, struct acog_view path,
                    struct acog_json_value *value)
{
    *value = object;
    for (;;) {
        size_t dot = acog_view_find(path, ACOG_VIEW("."));
        if (!acog_json_member(*value, acog_view_slice(path, 0, dot), value)) {
            return false;
        }
        if (dot == path.len) {
            return true;
        }
        path = acog_view_slice(path, dot + 1, path.len);
    }
}

/* -- duplicate keys -------------------------------------------------------------------------------- */

/* FNV-1a over the decoded text. Equal hashes are compared in full, so a forged one costs time only, and
 * ACOG_JSON_KEYS_MAX bounds that. */
static uint32_t hash_key(struct acog_json_value key)
{
    uint32_t hash = 2166136261U;
    if (!key.escaped) {
        struct acog_view text = inside(key);
        for (size_t i = 0; i < text.len; i++) {
            hash = (hash ^ (unsigned char)text.ptr[i]) * 16777619U;
        }
        return hash;
    }
    struct text_reader reader = read_inside(key);
    for (int byte = next_byte(&reader); byte >= 0; byte = next_byte(&reader)) {
        hash = (hash ^ (uint32_t)byte) * 16777619U;
    }
    return hash;
}

static bool same_text(struct acog_json_value a, struct acog_json_value b)
{
    struct text_reader left = read_inside(a);
    struct text_reader right = read_inside(b);
    int byte = 0;
    do {
        byte = next_byte(&left);
        if (byte != next_byte(&right)) {
            return false;
        }
    } while (byte >= 0);
    return true;
}

const char *acog_json_keys_add(struct acog_json_keys *keys, struct acog_json_value key)
{
    if (keys->count == ACOG_JSON_KEYS_MAX) {
        return "too many keys";
    }
    uint32_t hash = hash_key(key);
    for (size_t i = 0; i < keys->count; i++) {
        if (keys->hashes[i] == hash && same_text(keys->keys[i], key)) {
            return "a key twice";
        }
    }
    keys->hashes[keys->count] = hash;
    keys->keys[keys->count] = key;
    keys->count++;
    return NULL;
}

/* -- numbers --------------------------------------------------------------------------------------- */

bool acog_json_int(struct acog_json_value value, int64_t *number)
{
    if (value.type != ACOG_JSON_NUMBER) {
        return false;
    }
    bool negative = value.raw.ptr[0] == '-';
    unsigned long long digits = 0;
    if (!acog_view_to_u64(acog_view_slice(value.raw, negative ? 1 : 0, value.raw.len), &digits) ||
        digits > (unsigned long long)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    if (negative) {
        *number = digits == 0 ? 0 : -(int64_t)(digits - 1) - 1;
    } else {
        *number = (int64_t)digits;
    }
    return true;
}

bool acog_json_double(struct acog_json_value value, double *number)
{
    char text[NUMBER_BYTES_MAX + 1];
    if (value.type != ACOG_JSON_NUMBER || value.raw.len > NUMBER_BYTES_MAX) {
        return false;
    }
    memcpy(text, value.raw.ptr, value.raw.len);
    text[value.raw.len] = '\0';
    double read = strtod(text, NULL);
    if (read > DBL_MAX || read < -DBL_MAX) {
        return false;
    }
    *number = read;
    return true;
}
