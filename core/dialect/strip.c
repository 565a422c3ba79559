/* strip.c - a client's body without what another provider's opaque bytes left in it (opaque.h), for an upstream of the
 * client's own dialect: there the client's bytes are kept, and a signature that is not the provider's own is a 400.
 *
 *   messages   thinking and redacted_thinking blocks with a tag; a message of which nothing is left
 *   responses  reasoning items with a tag
 *   chat       reasoning_details with a tag, and the reasoning_content that came with them
 *
 * Anthropic lets a model think by a budget in a tool loop only when each turn of the loop begins with what it thought.
 * Where another provider served one of them there is nothing left that it could begin with: then `thinking` is left out,
 * as where the request is translated (write_messages.c).
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

/* -- thinking in a loop ---------------------------------------------------------------------------- */

static bool has_type(struct acog_json_value block, struct acog_view type)
{
    struct acog_json_value found;
    return acog_json_member(block, ACOG_VIEW("type"), &found) && acog_json_text_is(found, type);
}

/* What is left of a message. */
struct kept {
    bool begun;
    bool begins_with_thinking;
    bool calls;
    bool results;
};

static struct kept look(struct acog_json_value content)
{
    struct kept kept = {.begun = false};
    struct acog_json_cursor cursor = acog_json_enter(content);
    while (!cursor.object && acog_json_next(&cursor)) {
        if (is_foreign_block(cursor.value)) {
            continue;
        }
        if (!kept.begun) {
            kept.begins_with_thinking = has_type(cursor.value, ACOG_VIEW("thinking")) ||
                                        has_type(cursor.value, ACOG_VIEW("redacted_thinking"));
        }
        kept.begun = true;
        kept.calls = kept.calls || has_type(cursor.value, ACOG_VIEW("tool_use"));
        kept.results = kept.results || has_type(cursor.value, ACOG_VIEW("tool_result"));
    }
    return kept;
}

/* Whether a turn since the user spoke last calls a tool and does not begin with thinking. */
static bool loop_lost_its_thoughts(struct acog_json_value messages)
{
    static const struct acog_view names[] = {{"role", 4}, {"content", 7}};
    bool lost = false;
    struct acog_json_cursor cursor = acog_json_enter(messages);
    while (!cursor.object && acog_json_next(&cursor)) {
        struct acog_json_value found[2];
        acog_json_members(cursor.value, names, found, 2);
        struct kept kept = look(found[1]);
        if (acog_json_text_is(found[0], ACOG_VIEW("assistant"))) {
            lost = lost || (kept.calls && !kept.begins_with_thinking);
        } else if (!kept.results) {
            lost = false;
        }
    }
    return lost;
}

static bool must_not_think(struct acog_json_value body)
{
    static const struct acog_view names[] = {{"thinking", 8}, {"messages", 8}};
    struct acog_json_value found[2];
    acog_json_members(body, names, found, 2);
    return has_type(found[0], ACOG_VIEW("enabled")) && loop_lost_its_thoughts(found[1]);
}

/* -- the body -------------------------------------------------------------------------------------- */

enum acog_code acog_dialect_strip_foreign(struct acog_view object, struct acog_buffer *out,
                                          bool *thinking_lost)
{
    struct strip strip = {.out = out};
    struct acog_json_value body = {.raw = object, .type = ACOG_JSON_OBJECT};
    struct acog_json_cursor cursor = acog_json_enter(body);
    bool first = true;
    *thinking_lost = must_not_think(body);
    put(&strip, ACOG_VIEW("{"));
    while (acog_json_next(&cursor)) {
        if (*thinking_lost && acog_json_key_is(&cursor, ACOG_VIEW("thinking"))) {
            continue;
        }
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
