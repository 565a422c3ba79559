/* pin.c - a pin that the client writes into its body (S3.14). */
#include "acog/dialect.h"

/* The bytes to cut out so that the object stays whole: with the comma before it, or, for the first member, behind. */
static struct acog_view member_span(struct acog_json_value object, struct acog_view name,
                                    struct acog_json_value *value)
{
    struct acog_json_cursor cursor = acog_json_enter(object);
    const char *before = NULL; /* the end of the member before */
    while (acog_json_next(&cursor)) {
        const char *end = cursor.at;
        if (acog_json_key_is(&cursor, name)) {
            const char *start = before == NULL ? cursor.key.raw.ptr : before;
            *value = cursor.value;
            if (before == NULL && acog_json_next(&cursor)) {
                end = cursor.key.raw.ptr;
            }
            return (struct acog_view){.ptr = start, .len = (size_t)(end - start)};
        }
        before = end;
    }
    return (struct acog_view){0};
}

static size_t add_text(struct acog_json_value value, struct acog_arena *arena,
                       struct acog_view *values, size_t count, size_t max)
{
    if (value.type == ACOG_JSON_STRING && count < max &&
        acog_json_text(value, arena, &values[count]) == ACOG_OK) {
        count++;
    }
    return count;
}

size_t acog_dialect_read_pin(struct acog_view object, struct acog_view path,
                             struct acog_arena *arena, struct acog_view *values, size_t max,
                             struct acog_view *span)
{
    struct acog_json_value value = {0};
    struct acog_json_value body = {.type = ACOG_JSON_OBJECT, .raw = object};
    size_t dot = acog_view_find(path, ACOG_VIEW("."));
    *span = member_span(body, acog_view_slice(path, 0, dot), &value);
    if (!acog_json_present(value)) {
        return 0;
    }
    if (dot < path.len &&
        !acog_json_path(value, acog_view_slice(path, dot + 1, path.len), &value)) {
        return 0;
    }
    size_t count = add_text(value, arena, values, 0, max);
    struct acog_json_cursor cursor = acog_json_enter(value);
    while (!cursor.object && acog_json_next(&cursor)) {
        count = add_text(cursor.value, arena, values, count, max);
    }
    return count;
}
