/* read_chat_reasoning.c - what an assistant thought, as a chat client sends it back.
 *
 * Chat itself has no member for it. Its copies have four, and clients send back what they got: whole entries, or the
 * pieces of a stream, which belong together when their index is the same.
 */
#include "leaf.h"
#include "opaque.h"
#include "read_chat.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum detail_member {
    ACOG_DETAIL_TEXT = 0,
    ACOG_DETAIL_SUMMARY,
    ACOG_DETAIL_SIGNATURE,
    ACOG_DETAIL_DATA,
    ACOG_DETAIL_INDEX,
    ACOG_DETAIL_ID,
    ACOG_DETAIL_COUNT
};

static void read_members(struct acog_json_value entry,
                         struct acog_json_value found[ACOG_DETAIL_COUNT])
{
    static const struct acog_view names[ACOG_DETAIL_COUNT] = {
        {"text", 4}, {"summary", 7}, {"signature", 9}, {"data", 4}, {"index", 5}, {"id", 2}};
    acog_json_members(entry, names, found, ACOG_DETAIL_COUNT);
}

/* Entries that are one part: the pieces of a stream. */
struct run {
    struct acog_part *part;
    struct acog_json_value index;
    struct acog_buffer
        text; /* in the arena, once there is more than one piece: a STRING with its quotes */
};

/* The piece goes on with the part of the entry before it. */
static bool continues(const struct run *run, struct acog_json_value index)
{
    return run->part != NULL && index.type == ACOG_JSON_NUMBER && acog_json_present(index) &&
           acog_view_equal(index.raw, run->index.raw) &&
           run->part->opaque.maker == ACOG_DIALECT_COUNT;
}

/* How much text the entries of that index have that come now, so that room for it is taken once. */
static size_t text_bytes(struct acog_json_cursor cursor, struct acog_json_value text,
                         struct acog_json_value index)
{
    size_t bytes = text.raw.len;
    while (acog_json_next(&cursor)) {
        struct acog_json_value found[ACOG_DETAIL_COUNT];
        read_members(cursor.value, found);
        if (!acog_view_equal(found[ACOG_DETAIL_INDEX].raw, index.raw)) {
            break;
        }
        bytes += acog_leaf_has_text(found[ACOG_DETAIL_TEXT]) ? found[ACOG_DETAIL_TEXT].raw.len
                                                             : found[ACOG_DETAIL_SUMMARY].raw.len;
    }
    return bytes;
}

/* `cursor` stands at the piece's entry. */
static void add_text(struct acog_conversation_builder *builder, struct run *run,
                     struct acog_json_cursor cursor, struct acog_json_value text)
{
    struct acog_part *part = run->part;
    if (!acog_json_present(part->text)) {
        part->text = text;
        return;
    }
    if (run->text.ptr == NULL) {
        size_t bytes = part->text.raw.len + text_bytes(cursor, text, run->index);
        void *memory = acog_arena_take(builder->arena, bytes);
        if (memory == NULL) {
            builder->code = ACOG_NO_MEMORY;
            return;
        }
        acog_buffer_init_over(&run->text, memory, bytes);
        (void)!acog_buffer_append(&run->text, part->text.raw); /* it has the room */
    }
    run->text.len--; /* the quote */
    (void)!acog_buffer_append(&run->text, acog_text_of(text).bytes);
    (void)!acog_buffer_append(&run->text, ACOG_VIEW("\""));
    part->text.raw = acog_buffer_view(&run->text);
    part->text.escaped = part->text.escaped || text.escaped;
}

/* An entry of a call: the first one with data counts. */
static bool give_to_call(const struct acog_id_index *calls, const struct acog_json_value *found)
{
    struct acog_json_value id = found[ACOG_DETAIL_ID];
    struct acog_opaque *opaque = acog_leaf_has_text(id) ? acog_id_index_find(calls, id.raw) : NULL;
    if (opaque != NULL && opaque->maker == ACOG_DIALECT_COUNT &&
        acog_leaf_has_text(found[ACOG_DETAIL_DATA])) {
        *opaque = acog_opaque_read(acog_text_of(found[ACOG_DETAIL_DATA]), ACOG_DIALECT_CHAT);
    }
    return opaque != NULL;
}

static void read_details(struct acog_conversation_builder *builder, struct acog_json_value details,
                         const struct acog_id_index *calls)
{
    struct run run = {.part = NULL};
    struct acog_json_cursor cursor = acog_json_enter(details);
    while (builder->code == ACOG_OK && acog_json_next(&cursor)) {
        struct acog_json_value found[ACOG_DETAIL_COUNT];
        read_members(cursor.value, found);
        struct acog_json_value text = acog_leaf_has_text(found[ACOG_DETAIL_TEXT])
                                          ? found[ACOG_DETAIL_TEXT]
                                          : found[ACOG_DETAIL_SUMMARY];
        struct acog_json_value opaque = acog_leaf_has_text(found[ACOG_DETAIL_SIGNATURE])
                                            ? found[ACOG_DETAIL_SIGNATURE]
                                            : found[ACOG_DETAIL_DATA];
        if ((!acog_leaf_has_text(text) && !acog_leaf_has_text(opaque)) ||
            give_to_call(calls, found)) {
            continue;
        }
        if (!continues(&run, found[ACOG_DETAIL_INDEX])) {
            run = (struct run){.index = found[ACOG_DETAIL_INDEX]};
            run.part = acog_builder_part(builder, ACOG_TURN_ASSISTANT, ACOG_PART_REASONING);
        }
        if (run.part == NULL) {
            return;
        }
        if (acog_leaf_has_text(text)) {
            add_text(builder, &run, cursor, text);
        }
        run.part->opaque = acog_opaque_read(acog_text_of(opaque), ACOG_DIALECT_CHAT);
    }
}

/* [{"type":"thinking","thinking":…,"signature":…},{"type":"redacted_thinking","data":…}]: they are Anthropic's. */
static void read_blocks(struct acog_conversation_builder *builder, struct acog_json_value blocks)
{
    static const struct acog_view names[] = {{"thinking", 8}, {"signature", 9}, {"data", 4}};
    struct acog_json_cursor cursor = acog_json_enter(blocks);
    while (builder->code == ACOG_OK && acog_json_next(&cursor)) {
        struct acog_json_value found[COUNT(names)];
        acog_json_members(cursor.value, names, found, COUNT(names));
        struct acog_json_value opaque = acog_leaf_has_text(found[1]) ? found[1] : found[2];
        if (!acog_leaf_has_text(found[0]) && !acog_leaf_has_text(opaque)) {
            continue;
        }
        struct acog_part *part =
            acog_builder_part(builder, ACOG_TURN_ASSISTANT, ACOG_PART_REASONING);
        if (part != NULL) {
            part->text = acog_leaf_has_text(found[0]) ? found[0] : part->text;
            part->opaque = acog_opaque_read(acog_text_of(opaque), ACOG_DIALECT_MESSAGES);
            part->opaque.redacted = part->opaque.redacted || acog_leaf_has_text(found[2]);
        }
    }
}

static bool is_filled(struct acog_json_value list)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    return list.type == ACOG_JSON_ARRAY && acog_json_next(&cursor);
}

/* The same thought may stand in several of them: the one that has most is read. */
void acog_chat_read_reasoning(struct acog_conversation_builder *builder,
                              const struct acog_chat_reasoning *reasoning)
{
    struct acog_json_value text =
        acog_leaf_has_text(reasoning->content) ? reasoning->content : reasoning->plain;
    if (is_filled(reasoning->details)) {
        read_details(builder, reasoning->details, reasoning->calls);
    } else if (is_filled(reasoning->blocks)) {
        read_blocks(builder, reasoning->blocks);
    } else if (acog_leaf_has_text(text)) {
        struct acog_part *part =
            acog_builder_part(builder, ACOG_TURN_ASSISTANT, ACOG_PART_REASONING);
        if (part != NULL) {
            part->text = text;
        }
    }
}
