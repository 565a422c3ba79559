/* json_fuzz.c - any bytes as JSON.
 *
 * The check and the pull scanner (entering everywhere) find the same, at the same place. What passes can be walked,
 * and every value in it passes alone. What does not pass can be walked too without leaving the bytes.
 */
#include "acog/contract.h"
#include "acog/json.h"
#include "tests/support/json_unique.h"

#include <string.h>

#define DEPTH_MAX 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void scan_inside(struct acog_json_scanner *scanner)
{
    struct acog_json_value key;
    struct acog_json_value value;
    enum acog_json_type type = acog_json_scan_type(scanner);
    if (type != ACOG_JSON_ARRAY && type != ACOG_JSON_OBJECT) {
        (void)acog_json_scan_value(scanner, &value);
    } else if (acog_json_scan_enter(scanner)) {
        while (acog_json_scan_next(scanner, &key)) {
            scan_inside(scanner);
        }
    }
}

static void pull_finds_the_same(struct acog_view text, bool good, struct acog_json_error error)
{
    struct acog_json_scanner scanner;
    acog_json_scan(&scanner, text, DEPTH_MAX);
    scan_inside(&scanner);
    ACOG_ASSERT(acog_json_scan_end(&scanner) == good);
    if (!good) {
        struct acog_json_error pulled = acog_json_scan_error(&scanner);
        ACOG_ASSERT(pulled.offset == error.offset);
        ACOG_ASSERT(strcmp(pulled.what, error.what) == 0);
    }
}

static void check_value(struct acog_json_value value, struct acog_arena *arena, bool checked)
{
    struct acog_json_value again;
    struct acog_json_error error = {0};
    struct acog_view text;
    int64_t number = 0;
    double real = 0;
    if (checked) {
        ACOG_ASSERT(acog_json_check(value.raw, DEPTH_MAX, &again, &error) == ACOG_OK);
        ACOG_ASSERT(again.type == value.type);
        ACOG_ASSERT(again.escaped == value.escaped);
    }
    if (acog_json_text(value, arena, &text) == ACOG_OK && value.type == ACOG_JSON_STRING) {
        ACOG_ASSERT(acog_json_text_is(value, text));
        ACOG_ASSERT(text.len <= value.raw.len);
    }
    if (acog_json_int(value, &number) && checked) {
        ACOG_ASSERT(acog_json_double(value, &real));
    }
    enum acog_code unique = json_unique(value, &error);
    ACOG_ASSERT(unique == ACOG_OK || error.offset < value.raw.len);
}

static void walk(struct acog_json_value value, struct acog_arena *arena, bool checked, int depth)
{
    struct acog_json_cursor cursor = acog_json_enter(value);
    check_value(value, arena, checked);
    while (depth > 0 && acog_json_next(&cursor)) {
        ACOG_ASSERT(cursor.value.raw.ptr >= value.raw.ptr);
        ACOG_ASSERT(cursor.value.raw.ptr + cursor.value.raw.len <= value.raw.ptr + value.raw.len);
        if (cursor.object) {
            check_value(cursor.key, arena, checked);
        }
        walk(cursor.value, arena, checked, depth - 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acog_view text = {.ptr = (const char *)data, .len = size};
    struct acog_json_value value;
    struct acog_json_error error = {0};
    struct acog_arena arena;
    acog_arena_init(&arena, (size_t)1 << 22U);
    bool good = acog_json_check(text, DEPTH_MAX, &value, &error) == ACOG_OK;
    ACOG_ASSERT(good || error.offset <= size);
    pull_finds_the_same(text, good, error);
    if (good) {
        walk(value, &arena, true, DEPTH_MAX);
    }
    if (size >= 2) {
        struct acog_json_value object = {.type = ACOG_JSON_OBJECT, .raw = text};
        struct acog_json_value list = {.type = ACOG_JSON_ARRAY, .raw = text};
        walk(object, &arena, false, 3);
        walk(list, &arena, false, 3);
        (void)acog_json_path(object, ACOG_VIEW("a.b"), &value);
    }
    acog_arena_fini(&arena);
    return 0;
}
