/* strip.c - a client's body without what another provider's opaque bytes left in it (opaque.h), for an upstream of the
 * client's own dialect: there the client's bytes are kept, and a signature that is not the provider's own is a 400.
 *
 *   messages   thinking and redacted_thinking blocks with a tag; a message of which nothing is left
 *   responses  reasoning items with a tag
 *   chat       reasoning_details with a tag, and the reasoning_content that came with them
 */
#include "acog/contract.h"
#include "acog/dialect.h"
#include "content.h"

struct strip {
    struct acog_buffer *out;
    enum acog_code code;
};

static void put(struct strip *strip, struct acog_view bytes)
{
    if (strip->code == ACOG_OK) {
        strip->code = acog_buffer_append(strip->out, bytes);
    }
}

/* The comma between two elements, where one stands before. */
static void put_comma(struct strip *strip, bool *first)
{
    if (!*first) {
        put(strip, ACOG_VIEW(","));
    }
    *first = false;
}

static void put_member(struct strip *strip, const struct acog_json_cursor *cursor, bool *first)
{
    put_comma(strip, first);
    put(strip, cursor->key.raw);
    put(strip, ACOG_VIEW(":"));
}

static bool is_foreign_block(struct acog_json_value block)
{
    static const struct acog_view names[] = {
        {"signature", 9}, {"data", 4}, {"encrypted_content", 17}};
    struct acog_json_value found[3];
    acog_json_members(block, names, found, 3);
    return acog_dialect_is_tagged(found[0]) || acog_dialect_is_tagged(found[1]) ||
           acog_dialect_is_tagged(found[2]);
}

/* Returns how many elements are left. */
static size_t put_blocks(struct strip *strip, struct acog_json_value list)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    bool first = true;
    size_t count = 0;
    put(strip, ACOG_VIEW("["));
    while (acog_json_next(&cursor)) {
        if (!is_foreign_block(cursor.value)) {
            put_comma(strip, &first);
            put(strip, cursor.value.raw);
            count++;
        }
    }
    put(strip, ACOG_VIEW("]"));
    return count;
}

/* False: nothing is left of it. */
static bool put_message(struct strip *strip, struct acog_json_value message)
{
    static const struct acog_view details_name = {"reasoning_details", 17};
    struct acog_json_value details;
    struct acog_json_cursor cursor = acog_json_enter(message);
    bool first = true;
    bool left = true;
    bool foreign =
        acog_json_member(message, details_name, &details) && acog_dialect_holds_tag(details);
    put(strip, ACOG_VIEW("{"));
    while (acog_json_next(&cursor)) {
        if (foreign && (acog_json_key_is(&cursor, details_name) ||
                        acog_json_key_is(&cursor, ACOG_VIEW("reasoning_content")))) {
            continue;
        }
        put_member(strip, &cursor, &first);
        if (acog_json_key_is(&cursor, ACOG_VIEW("content")) &&
            cursor.value.type == ACOG_JSON_ARRAY) {
            left = put_blocks(strip, cursor.value) > 0 && left;
        } else {
            put(strip, cursor.value.raw);
        }
    }
    put(strip, ACOG_VIEW("}"));
    return left;
}

/* The list of messages, or of items. */
static void put_messages(struct strip *strip, struct acog_json_value list)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    bool first = true;
    put(strip, ACOG_VIEW("["));
    while (acog_json_next(&cursor)) {
        size_t before = strip->out->len;
        bool was_first = first;
        if (is_foreign_block(cursor.value)) {
            continue;
        }
        put_comma(strip, &first);
        if (!put_message(strip, cursor.value)) {
            strip->out->len = before;
            first = was_first;
        }
    }
    put(strip, ACOG_VIEW("]"));
}

enum acog_code acog_dialect_strip_foreign(struct acog_view object, struct acog_buffer *out)
{
    struct strip strip = {.out = out};
    struct acog_json_cursor cursor =
        acog_json_enter((struct acog_json_value){.raw = object, .type = ACOG_JSON_OBJECT});
    bool first = true;
    put(&strip, ACOG_VIEW("{"));
    while (acog_json_next(&cursor)) {
        put_member(&strip, &cursor, &first);
        if (cursor.value.type == ACOG_JSON_ARRAY &&
            (acog_json_key_is(&cursor, ACOG_VIEW("messages")) ||
             acog_json_key_is(&cursor, ACOG_VIEW("input")))) {
            put_messages(&strip, cursor.value);
        } else {
            put(&strip, cursor.value.raw);
        }
    }
    put(&strip, ACOG_VIEW("}"));
    return strip.code;
}
