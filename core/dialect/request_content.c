/* request_content.c - the parts of a body that hold its texts: messages, input items, content blocks, tools.
 *
 * Walked so far as to refuse keys that come twice and types that cannot be read, and to see whether there are images.
 * What is nested deeper than a block inside a block is only scanned, which bounds the stack whatever the depth.
 */
#include "content.h"
#include "request.h"

static bool is_image(struct acog_json_value type)
{
    return acog_json_text_is(type, ACOG_VIEW("image_url")) ||
           acog_json_text_is(type, ACOG_VIEW("image")) ||
           acog_json_text_is(type, ACOG_VIEW("input_image"));
}

static void read_block_member(struct acog_request_reader *reader,
                              const struct acog_request_place *member)
{
    struct acog_json_value value = acog_request_pass(reader);
    if (acog_dialect_is_tagged(value)) {
        reader->request->foreign_opaque = true;
    }
    if (!acog_json_text_is(member->key, ACOG_VIEW("type"))) {
        return;
    }
    if (value.type != ACOG_JSON_STRING) {
        acog_request_refuse(reader, member, "must be a string");
    } else if (is_image(value)) {
        reader->request->images = true;
    }
}

static void read_inner_block(struct acog_request_reader *reader,
                             const struct acog_request_place *place)
{
    struct acog_json_keys keys;
    struct acog_request_place member;
    keys.count = 0;
    (void)acog_json_scan_enter(&reader->scanner);
    while (acog_request_member(reader, &keys, place, &member)) {
        read_block_member(reader, &member);
    }
}

/* The blocks inside a tool's result. Other things than objects are left to the provider. */
static void read_inner_blocks(struct acog_request_reader *reader,
                              const struct acog_request_place *place)
{
    struct acog_json_value no_key;
    struct acog_request_place element = {.up = place};
    (void)acog_json_scan_enter(&reader->scanner);
    for (; acog_json_scan_next(&reader->scanner, &no_key); element.index++) {
        if (acog_json_scan_type(&reader->scanner) == ACOG_JSON_OBJECT) {
            read_inner_block(reader, &element);
        } else {
            (void)acog_request_pass(reader);
        }
    }
}

/* One content block. A tool's result holds blocks again, in `content`. */
static void read_block(struct acog_request_reader *reader, const struct acog_request_place *place)
{
    struct acog_json_keys keys;
    struct acog_request_place member;
    keys.count = 0;
    (void)acog_json_scan_enter(&reader->scanner);
    while (acog_request_member(reader, &keys, place, &member)) {
        if (acog_json_text_is(member.key, ACOG_VIEW("content")) &&
            acog_json_scan_type(&reader->scanner) == ACOG_JSON_ARRAY) {
            read_inner_blocks(reader, &member);
        } else {
            read_block_member(reader, &member);
        }
    }
}

/* A list of objects, each read by `read`; returns how many. */
static size_t read_list(struct acog_request_reader *reader, const struct acog_request_place *place,
                        void (*read)(struct acog_request_reader *reader,
                                     const struct acog_request_place *place))
{
    struct acog_json_value no_key;
    struct acog_request_place element = {.up = place};
    (void)acog_json_scan_enter(&reader->scanner);
    for (; acog_json_scan_next(&reader->scanner, &no_key); element.index++) {
        if (acog_json_scan_type(&reader->scanner) != ACOG_JSON_OBJECT) {
            acog_request_refuse(reader, &element, "must be an object");
        } else {
            read(reader, &element);
        }
    }
    return element.index;
}

/* A message's or item's content: a text, a list of blocks, or null (an assistant that only called tools). */
static void read_content(struct acog_request_reader *reader, const struct acog_request_place *place)
{
    enum acog_json_type type = acog_json_scan_type(&reader->scanner);
    if (type == ACOG_JSON_ARRAY) {
        (void)read_list(reader, place, read_block);
    } else if (type == ACOG_JSON_STRING || type == ACOG_JSON_NULL) {
        (void)acog_request_pass(reader);
    } else {
        acog_request_refuse(reader, place, "must be a string or a list");
    }
}

/* An item's encrypted_content, a message's reasoning_details. */
static void read_other_member(struct acog_request_reader *reader,
                              const struct acog_request_place *member)
{
    struct acog_json_value value = acog_request_pass(reader);
    if (acog_dialect_is_tagged(value) ||
        (acog_json_text_is(member->key, ACOG_VIEW("reasoning_details")) &&
         acog_dialect_holds_tag(value))) {
        reader->request->foreign_opaque = true;
    }
}

static void read_message(struct acog_request_reader *reader, const struct acog_request_place *place)
{
    struct acog_json_keys keys;
    struct acog_request_place member;
    bool items = reader->surface == ACOG_SURFACE_RESPONSES;
    keys.count = 0;
    (void)acog_json_scan_enter(&reader->scanner);
    while (acog_request_member(reader, &keys, place, &member)) {
        if (acog_json_text_is(member.key, ACOG_VIEW("content"))) {
            read_content(reader, &member);
        } else if (items && acog_json_text_is(member.key, ACOG_VIEW("output")) &&
                   acog_json_scan_type(&reader->scanner) == ACOG_JSON_ARRAY) {
            read_inner_blocks(reader, &member);
        } else {
            read_other_member(reader, &member);
        }
    }
}

static void read_message_list(struct acog_request_reader *reader,
                              const struct acog_request_place *place)
{
    reader->content_given = true;
    if (read_list(reader, place, read_message) == 0) {
        acog_request_refuse(reader, place, "must not be empty");
    }
}

void acog_request_read_messages(struct acog_request_reader *reader,
                                const struct acog_request_place *place)
{
    if (acog_json_scan_type(&reader->scanner) != ACOG_JSON_ARRAY) {
        acog_request_refuse(reader, place, "must be a list");
        return;
    }
    read_message_list(reader, place);
}

void acog_request_read_input(struct acog_request_reader *reader,
                             const struct acog_request_place *place)
{
    enum acog_json_type type = acog_json_scan_type(&reader->scanner);
    if (type == ACOG_JSON_ARRAY) {
        read_message_list(reader, place);
    } else if (type == ACOG_JSON_STRING) {
        reader->content_given = true;
        (void)acog_request_pass(reader);
    } else {
        acog_request_refuse(reader, place, "must be a string or a list");
    }
}

void acog_request_read_system(struct acog_request_reader *reader,
                              const struct acog_request_place *place)
{
    read_content(reader, place);
}

/* What chat wraps a tool in: its keys are a tool's too. */
static void read_function(struct acog_request_reader *reader,
                          const struct acog_request_place *place)
{
    struct acog_json_keys keys;
    struct acog_request_place member;
    keys.count = 0;
    (void)acog_json_scan_enter(&reader->scanner);
    while (acog_request_member(reader, &keys, place, &member)) {
        (void)acog_request_pass(reader);
    }
}

static void read_tool(struct acog_request_reader *reader, const struct acog_request_place *place)
{
    struct acog_json_keys keys;
    struct acog_request_place member;
    keys.count = 0;
    (void)acog_json_scan_enter(&reader->scanner);
    while (acog_request_member(reader, &keys, place, &member)) {
        if (acog_json_text_is(member.key, ACOG_VIEW("function")) &&
            acog_json_scan_type(&reader->scanner) == ACOG_JSON_OBJECT) {
            read_function(reader, &member);
        } else {
            (void)acog_request_pass(reader);
        }
    }
}

void acog_request_read_tools(struct acog_request_reader *reader,
                             const struct acog_request_place *place)
{
    enum acog_json_type type = acog_json_scan_type(&reader->scanner);
    if (type == ACOG_JSON_NULL) {
        (void)acog_request_pass(reader);
    } else if (type != ACOG_JSON_ARRAY) {
        acog_request_refuse(reader, place, "must be a list");
    } else if (read_list(reader, place, read_tool) > 0) {
        reader->request->tools = true;
    }
}
