/* read_responses_input.c - the items of OpenAI Responses as turns.
 *
 * Items stand side by side where other dialects have turns: the builder puts neighbours of one role together (B33).
 * Reasoning is the assistant's; it is kept if there is a text or something opaque in it (B39). Items that only OpenAI
 * can read are kept as FOREIGN, for fits.c to refuse by name.
 */
#include "acog/contract.h"
#include "leaf.h"
#include "media.h"
#include "read_responses.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Where the part at hand goes, and where it stands. */
struct place {
    enum acog_turn_role role;
    struct acog_part *result; /* a tool's, or NULL */
    size_t item;
    size_t part;
};

enum part_member {
    ACOG_CONTENT_TYPE = 0,
    ACOG_CONTENT_TEXT,
    ACOG_CONTENT_REFUSAL,
    ACOG_CONTENT_IMAGE_URL,
    ACOG_CONTENT_FILE_ID,
    ACOG_CONTENT_DETAIL,
    ACOG_CONTENT_FILE_DATA,
    ACOG_CONTENT_FILE_URL,
    ACOG_CONTENT_FILE_NAME,
    ACOG_CONTENT_AUDIO,
    ACOG_CONTENT_CACHE_CONTROL,
    ACOG_CONTENT_MEMBER_COUNT
};

static const struct acog_view part_names[ACOG_CONTENT_MEMBER_COUNT] = {
    [ACOG_CONTENT_TYPE] = {"type", 4},
    [ACOG_CONTENT_TEXT] = {"text", 4},
    [ACOG_CONTENT_REFUSAL] = {"refusal", 7},
    [ACOG_CONTENT_IMAGE_URL] = {"image_url", 9},
    [ACOG_CONTENT_FILE_ID] = {"file_id", 7},
    [ACOG_CONTENT_DETAIL] = {"detail", 6},
    [ACOG_CONTENT_FILE_DATA] = {"file_data", 9},
    [ACOG_CONTENT_FILE_URL] = {"file_url", 8},
    [ACOG_CONTENT_FILE_NAME] = {"filename", 8},
    [ACOG_CONTENT_AUDIO] = {"input_audio", 11},
    [ACOG_CONTENT_CACHE_CONTROL] = {"cache_control", 13},
};

static bool is_string(struct acog_json_value value)
{
    return value.type == ACOG_JSON_STRING;
}

static bool is_type(struct acog_json_value type, const char *word)
{
    return acog_json_text_is(type, acog_view_of(word));
}

static void refuse_part(struct acog_conversation_builder *builder, const struct place *place,
                        const char *what)
{
    acog_builder_refuse(builder, "input[%zu].%s[%zu]: %s", place->item,
                        place->result != NULL ? "output" : "content", place->part, what);
}

/* System texts before all turns are the leading ones. */
static struct acog_part *add_part(struct acog_conversation_builder *builder,
                                  const struct place *place, enum acog_part_kind kind)
{
    if (place->result != NULL) {
        return acog_builder_result_part(builder, place->result, kind);
    }
    if (place->role == ACOG_TURN_SYSTEM && builder->turn == NULL) {
        return acog_builder_system(builder);
    }
    return acog_builder_part(builder, place->role, kind);
}

/* An empty text is one like any other: the builder takes it out and sees to its cache marker (B05). */
static struct acog_part *add_text(struct acog_conversation_builder *builder,
                                  const struct place *place, enum acog_part_kind kind,
                                  struct acog_json_value text)
{
    if (!is_string(text)) {
        refuse_part(builder, place, "must have a text");
        return NULL;
    }
    if (kind == ACOG_PART_REFUSAL && !acog_leaf_has_text(text)) {
        return NULL;
    }
    struct acog_part *part = add_part(builder, place, kind);
    if (part != NULL) {
        part->text = text;
    }
    return part;
}

/* -- media ----------------------------------------------------------------------------------------- */

static enum acog_code keep_readable(struct acog_conversation_builder *builder,
                                    const struct place *place, const struct acog_media *media,
                                    enum acog_code code)
{
    if (code == ACOG_OK && !acog_media_is_readable(media)) {
        refuse_part(builder, place, ACOG_MEDIA_URL_RULE);
    }
    return code;
}

static enum acog_code read_url(struct acog_conversation_builder *builder, const struct place *place,
                               struct acog_json_value url, struct acog_media *media)
{
    return keep_readable(builder, place, media,
                         acog_media_read_url(acog_text_of(url), builder->arena, media));
}

static enum acog_code read_image(struct acog_conversation_builder *builder,
                                 const struct place *place, const struct acog_json_value *found,
                                 struct acog_media *media)
{
    media->kind = ACOG_MEDIA_IMAGE;
    if (found[ACOG_CONTENT_DETAIL].type == ACOG_JSON_STRING) {
        media->detail = found[ACOG_CONTENT_DETAIL];
    }
    if (acog_leaf_has_text(found[ACOG_CONTENT_IMAGE_URL])) {
        return read_url(builder, place, found[ACOG_CONTENT_IMAGE_URL], media);
    }
    if (acog_leaf_has_text(found[ACOG_CONTENT_FILE_ID])) {
        media->source = ACOG_MEDIA_FILE_ID;
        media->data = acog_text_of(found[ACOG_CONTENT_FILE_ID]);
    } else {
        refuse_part(builder, place, "an image must have image_url or file_id");
    }
    return ACOG_OK;
}

static enum acog_code read_file(struct acog_conversation_builder *builder,
                                const struct place *place, const struct acog_json_value *found,
                                struct acog_media *media)
{
    struct acog_json_value name = {0};
    if (found[ACOG_CONTENT_FILE_NAME].type == ACOG_JSON_STRING) {
        name = found[ACOG_CONTENT_FILE_NAME];
    }
    media->name = name;
    if (acog_leaf_has_text(found[ACOG_CONTENT_FILE_DATA])) {
        return keep_readable(builder, place, media,
                             acog_media_read_file(acog_text_of(found[ACOG_CONTENT_FILE_DATA]), name,
                                                  builder->arena, media));
    }
    if (acog_leaf_has_text(found[ACOG_CONTENT_FILE_URL])) {
        media->kind = ACOG_MEDIA_DOCUMENT;
        return read_url(builder, place, found[ACOG_CONTENT_FILE_URL], media);
    }
    if (acog_leaf_has_text(found[ACOG_CONTENT_FILE_ID])) {
        media->kind = ACOG_MEDIA_FILE;
        media->source = ACOG_MEDIA_FILE_ID;
        media->data = acog_text_of(found[ACOG_CONTENT_FILE_ID]);
    } else {
        refuse_part(builder, place, "a file must have file_data, file_url or file_id");
    }
    return ACOG_OK;
}

static enum acog_code read_audio(struct acog_conversation_builder *builder,
                                 const struct place *place, const struct acog_json_value *found,
                                 struct acog_media *media)
{
    static const struct acog_view names[] = {{"data", 4}, {"format", 6}};
    struct acog_json_value audio[COUNT(names)] = {{.escaped = false}};
    if (found[ACOG_CONTENT_AUDIO].type == ACOG_JSON_OBJECT) {
        acog_json_members(found[ACOG_CONTENT_AUDIO], names, audio, COUNT(names));
    }
    media->kind = ACOG_MEDIA_AUDIO;
    media->source = ACOG_MEDIA_BASE64;
    media->data = acog_text_of(audio[0]);
    media->media_type = acog_media_audio_type(audio[1]);
    if (!acog_leaf_has_text(audio[0]) || media->media_type.len == 0) {
        refuse_part(builder, place, "input_audio must have data, and a format that is known");
    }
    return ACOG_OK;
}

typedef enum acog_code read_media_fn(struct acog_conversation_builder *builder,
                                     const struct place *place, const struct acog_json_value *found,
                                     struct acog_media *media);

static struct acog_part *add_media(struct acog_conversation_builder *builder,
                                   const struct place *place, const struct acog_json_value *found,
                                   read_media_fn *read)
{
    if (place->role == ACOG_TURN_SYSTEM) {
        refuse_part(builder, place, "a system message has texts only");
        return NULL;
    }
    struct acog_part *part = add_part(builder, place, ACOG_PART_MEDIA);
    if (part != NULL) {
        enum acog_code code = read(builder, place, found, &part->media);
        builder->code = builder->code == ACOG_OK ? code : builder->code;
    }
    return part;
}

/* -- parts ----------------------------------------------------------------------------------------- */

static struct acog_part *add_foreign(struct acog_conversation_builder *builder,
                                     const struct place *place, struct acog_json_value type)
{
    if (place->role == ACOG_TURN_SYSTEM || place->result != NULL) {
        refuse_part(builder, place, "is of a type that cannot be translated");
        return NULL;
    }
    struct acog_part *part = add_part(builder, place, ACOG_PART_FOREIGN);
    if (part != NULL) {
        part->type = acog_text_of(type).bytes;
    }
    return part;
}

static struct acog_part *add_by_type(struct acog_conversation_builder *builder,
                                     const struct place *place, const struct acog_json_value *found)
{
    struct acog_json_value type = found[ACOG_CONTENT_TYPE];
    if (is_type(type, "input_text") || is_type(type, "output_text") || is_type(type, "text")) {
        return add_text(builder, place, ACOG_PART_TEXT, found[ACOG_CONTENT_TEXT]);
    }
    if (is_type(type, "refusal") && place->role == ACOG_TURN_ASSISTANT) {
        return add_text(builder, place, ACOG_PART_REFUSAL, found[ACOG_CONTENT_REFUSAL]);
    }
    if (is_type(type, "input_image")) {
        return add_media(builder, place, found, read_image);
    }
    if (is_type(type, "input_file")) {
        return add_media(builder, place, found, read_file);
    }
    if (is_type(type, "input_audio")) {
        return add_media(builder, place, found, read_audio);
    }
    return add_foreign(builder, place, type);
}

static void read_part(struct acog_conversation_builder *builder, const struct place *place,
                      struct acog_json_value value)
{
    struct acog_json_value found[ACOG_CONTENT_MEMBER_COUNT];
    if (value.type != ACOG_JSON_OBJECT) {
        refuse_part(builder, place, "must be an object");
        return;
    }
    acog_json_members(value, part_names, found, ACOG_CONTENT_MEMBER_COUNT);
    struct acog_part *part = add_by_type(builder, place, found);
    if (part != NULL && found[ACOG_CONTENT_CACHE_CONTROL].type == ACOG_JSON_OBJECT) {
        part->cache = found[ACOG_CONTENT_CACHE_CONTROL];
    }
    acog_builder_unknown_members(builder, ACOG_VIEW("input"), value, part_names,
                                 ACOG_CONTENT_MEMBER_COUNT);
}

static void read_content(struct acog_conversation_builder *builder, struct place *place,
                         struct acog_json_value content)
{
    if (is_string(content)) {
        (void)add_text(builder, place, ACOG_PART_TEXT, content);
        return;
    }
    if (content.type != ACOG_JSON_ARRAY) {
        acog_builder_refuse(builder, "input[%zu].%s: must be a string or a list", place->item,
                            place->result != NULL ? "output" : "content");
        return;
    }
    struct acog_json_cursor cursor = acog_json_enter(content);
    for (place->part = 0; acog_json_next(&cursor); place->part++) {
        read_part(builder, place, cursor.value);
    }
}

/* -- items ----------------------------------------------------------------------------------------- */

enum item_member {
    ACOG_ITEM_TYPE = 0,
    ACOG_ITEM_ROLE,
    ACOG_ITEM_CONTENT,
    ACOG_ITEM_ID,
    ACOG_ITEM_STATUS,
    ACOG_ITEM_CALL_ID,
    ACOG_ITEM_NAME,
    ACOG_ITEM_NAMESPACE,
    ACOG_ITEM_ARGUMENTS,
    ACOG_ITEM_INPUT,
    ACOG_ITEM_OUTPUT,
    ACOG_ITEM_SUMMARY,
    ACOG_ITEM_ENCRYPTED,
    ACOG_ITEM_MEMBER_COUNT
};

static const struct acog_view item_names[ACOG_ITEM_MEMBER_COUNT] = {
    [ACOG_ITEM_TYPE] = {"type", 4},
    [ACOG_ITEM_ROLE] = {"role", 4},
    [ACOG_ITEM_CONTENT] = {"content", 7},
    [ACOG_ITEM_ID] = {"id", 2},
    [ACOG_ITEM_STATUS] = {"status", 6},
    [ACOG_ITEM_CALL_ID] = {"call_id", 7},
    [ACOG_ITEM_NAME] = {"name", 4},
    [ACOG_ITEM_NAMESPACE] = {"namespace", 9},
    [ACOG_ITEM_ARGUMENTS] = {"arguments", 9},
    [ACOG_ITEM_INPUT] = {"input", 5},
    [ACOG_ITEM_OUTPUT] = {"output", 6},
    [ACOG_ITEM_SUMMARY] = {"summary", 7},
    [ACOG_ITEM_ENCRYPTED] = {"encrypted_content", 17},
};

static void read_message(struct acog_conversation_builder *builder, struct place *place,
                         const struct acog_json_value *found)
{
    struct acog_json_value role = found[ACOG_ITEM_ROLE];
    if (is_type(role, "user")) {
        place->role = ACOG_TURN_USER;
    } else if (is_type(role, "assistant")) {
        place->role = ACOG_TURN_ASSISTANT;
    } else if (is_type(role, "system") || is_type(role, "developer")) {
        place->role = ACOG_TURN_SYSTEM;
    } else {
        acog_builder_refuse(
            builder, "input[%zu].role: must be user, assistant, system or developer", place->item);
        return;
    }
    read_content(builder, place, found[ACOG_ITEM_CONTENT]);
}

/* The type of an item, for messages to the client. */
static struct acog_view type_of(const struct acog_json_value *found)
{
    return acog_view_slice(acog_text_of(found[ACOG_ITEM_TYPE]).bytes, 0, 64);
}

/* A text as the arguments of the function that a custom tool is told as (identity.h). */
static struct acog_text text_arguments(struct acog_conversation_builder *builder,
                                       struct acog_json_value input)
{
    const struct acog_view before = ACOG_VIEW("{\"" ACOG_IDENTITY_ARGUMENT "\":");
    struct acog_view text = is_string(input) ? input.raw : ACOG_VIEW("\"\"");
    size_t bytes = before.len + text.len + 1;
    char *arguments = acog_arena_take(builder->arena, bytes);
    if (arguments == NULL) {
        builder->code = ACOG_NO_MEMORY;
        return (struct acog_text){.escaped = false};
    }
    memcpy(arguments, before.ptr, before.len);
    memcpy(arguments + before.len, text.ptr, text.len);
    arguments[bytes - 1] = '}';
    return acog_text_plain((struct acog_view){.ptr = arguments, .len = bytes});
}

static void read_call(struct acog_conversation_builder *builder, const struct place *place,
                      const struct acog_json_value *found)
{
    bool custom = is_type(found[ACOG_ITEM_TYPE], "custom_tool_call");
    if (!acog_leaf_has_text(found[ACOG_ITEM_CALL_ID]) ||
        !acog_leaf_has_text(found[ACOG_ITEM_NAME])) {
        struct acog_view type = type_of(found);
        acog_builder_refuse(builder, "input[%zu]: a %.*s must have call_id and name", place->item,
                            ACOG_VIEW_FMT(type));
        return;
    }
    struct acog_part *part = acog_builder_part(builder, ACOG_TURN_ASSISTANT, ACOG_PART_TOOL_CALL);
    if (part == NULL) {
        return;
    }
    part->id = acog_text_of(found[ACOG_ITEM_CALL_ID]);
    part->name = acog_text_of(found[ACOG_ITEM_NAME]);
    if (custom || acog_leaf_has_text(found[ACOG_ITEM_NAMESPACE])) {
        part->name =
            acog_responses_told_name(builder, found[ACOG_ITEM_NAMESPACE], found[ACOG_ITEM_NAME]);
    }
    if (custom) {
        part->arguments = text_arguments(builder, found[ACOG_ITEM_INPUT]);
    } else {
        part->arguments = found[ACOG_ITEM_ARGUMENTS].type == ACOG_JSON_OBJECT
                              ? acog_text_plain(found[ACOG_ITEM_ARGUMENTS].raw)
                              : acog_text_of(found[ACOG_ITEM_ARGUMENTS]);
    }
}

static void read_result(struct acog_conversation_builder *builder, struct place *place,
                        const struct acog_json_value *found)
{
    if (!acog_leaf_has_text(found[ACOG_ITEM_CALL_ID])) {
        struct acog_view type = type_of(found);
        acog_builder_refuse(builder, "input[%zu]: a %.*s must have call_id", place->item,
                            ACOG_VIEW_FMT(type));
        return;
    }
    struct acog_part *part = acog_builder_part(builder, ACOG_TURN_USER, ACOG_PART_TOOL_RESULT);
    if (part != NULL) {
        part->id = acog_text_of(found[ACOG_ITEM_CALL_ID]);
        place->role = ACOG_TURN_USER;
        place->result = part;
        read_content(builder, place, found[ACOG_ITEM_OUTPUT]);
    }
}

/* -- reasoning ------------------------------------------------------------------------------------- */

/* The texts of a reasoning item, as one STRING with blank lines between them. The only one stays as it was written: a
 * signature may be about it. */
struct texts {
    struct acog_json_value first;
    size_t count;
    size_t bytes;
    struct acog_buffer *joined; /* NULL: they are only counted */
    enum acog_code code;
};

#define GAP "\\n\\n"

static void append(struct texts *texts, struct acog_view bytes)
{
    if (texts->joined != NULL && texts->code == ACOG_OK) {
        texts->code = acog_buffer_append(texts->joined, bytes);
    }
}

static void gather(struct texts *texts, struct acog_json_value list)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    while (list.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        struct acog_json_value text = {.escaped = false};
        if (cursor.value.type != ACOG_JSON_OBJECT ||
            !acog_json_member(cursor.value, ACOG_VIEW("text"), &text) ||
            !acog_leaf_has_text(text)) {
            continue;
        }
        if (texts->count == 0) {
            texts->first = text;
        } else {
            append(texts, ACOG_VIEW(GAP));
        }
        append(texts, acog_text_of(text).bytes);
        texts->count++;
        texts->bytes += text.raw.len + sizeof(GAP);
    }
}

static void gather_all(struct texts *texts, const struct acog_json_value *found)
{
    texts->count = 0;
    append(texts, ACOG_VIEW("\""));
    gather(texts, found[ACOG_ITEM_SUMMARY]);
    gather(texts, found[ACOG_ITEM_CONTENT]);
    append(texts, ACOG_VIEW("\""));
}

/* Absent: there is no text. */
static struct acog_json_value read_texts(struct acog_conversation_builder *builder,
                                         const struct acog_json_value *found)
{
    struct texts texts = {.code = ACOG_OK};
    struct acog_buffer joined;
    gather_all(&texts, found);
    if (texts.count <= 1) {
        return texts.first;
    }
    char *memory = acog_arena_take(builder->arena, texts.bytes);
    if (memory == NULL) {
        builder->code = ACOG_NO_MEMORY;
        return (struct acog_json_value){.escaped = false};
    }
    acog_buffer_init_over(&joined, memory, texts.bytes);
    texts.joined = &joined;
    gather_all(&texts, found);
    ACOG_ASSERT(texts.code == ACOG_OK);
    return (struct acog_json_value){
        .raw = acog_buffer_view(&joined), .type = ACOG_JSON_STRING, .escaped = true};
}

/* A thought signature of Gemini with a call's id is that call's, which stands before it (answer_to_responses.c). Of a
 * call that the client left out it is nobody's. */
static void give_to_call(const struct acog_conversation_builder *builder,
                         const struct acog_opaque *opaque)
{
    struct acog_part *last = builder->turn != NULL ? builder->turn->parts.last : NULL;
    if (last != NULL && last->kind == ACOG_PART_TOOL_CALL &&
        acog_view_equal(last->id.bytes, opaque->id.bytes)) {
        last->opaque = *opaque;
    }
}

static void read_reasoning(struct acog_conversation_builder *builder,
                           const struct acog_json_value *found)
{
    struct acog_json_value text = read_texts(builder, found);
    struct acog_opaque opaque =
        acog_opaque_read(acog_text_of(found[ACOG_ITEM_ENCRYPTED]), ACOG_DIALECT_RESPONSES);
    if (opaque.maker == ACOG_DIALECT_GEMINI && opaque.id.bytes.len > 0) {
        give_to_call(builder, &opaque);
        return;
    }
    if (!acog_json_present(text) && opaque.maker == ACOG_DIALECT_COUNT) {
        return;
    }
    if (opaque.maker == ACOG_DIALECT_RESPONSES && opaque.id.bytes.len == 0) {
        opaque.id = acog_text_of(found[ACOG_ITEM_ID]);
        opaque.redacted = !acog_json_present(text);
    }
    struct acog_part *part = acog_builder_part(builder, ACOG_TURN_ASSISTANT, ACOG_PART_REASONING);
    if (part != NULL) {
        part->text = text;
        part->opaque = opaque;
    }
}

/* -- all ------------------------------------------------------------------------------------------- */

static void read_item(struct acog_conversation_builder *builder, size_t index,
                      struct acog_json_value value)
{
    struct place place = {.role = ACOG_TURN_ASSISTANT, .item = index};
    struct acog_json_value found[ACOG_ITEM_MEMBER_COUNT];
    if (value.type != ACOG_JSON_OBJECT) {
        acog_builder_refuse(builder, "input[%zu]: must be an object", index);
        return;
    }
    acog_json_members(value, item_names, found, ACOG_ITEM_MEMBER_COUNT);
    if (is_type(found[ACOG_ITEM_TYPE], "additional_tools")) {
        return; /* read with the tools */
    }
    acog_builder_unknown_members(builder, ACOG_VIEW("input"), value, item_names,
                                 ACOG_ITEM_MEMBER_COUNT);
    struct acog_json_value type = found[ACOG_ITEM_TYPE];
    bool typed = acog_leaf_has_text(type);
    if (is_type(type, "message") || (!typed && acog_json_present(found[ACOG_ITEM_ROLE]))) {
        read_message(builder, &place, found);
    } else if (is_type(type, "function_call") || is_type(type, "custom_tool_call")) {
        read_call(builder, &place, found);
    } else if (is_type(type, "function_call_output") || is_type(type, "custom_tool_call_output")) {
        read_result(builder, &place, found);
    } else if (is_type(type, "reasoning")) {
        read_reasoning(builder, found);
    } else {
        struct acog_part *part = acog_builder_part(builder, ACOG_TURN_ASSISTANT, ACOG_PART_FOREIGN);
        if (part != NULL) { /* without a type it is a reference to an item that OpenAI keeps */
            part->type = typed ? acog_text_of(type).bytes : ACOG_VIEW("item_reference");
        }
    }
}

void acog_responses_read_input(struct acog_conversation_builder *builder,
                               struct acog_json_value input)
{
    if (is_string(input)) {
        struct place place = {.role = ACOG_TURN_USER};
        (void)add_text(builder, &place, ACOG_PART_TEXT, input);
        return;
    }
    if (input.type != ACOG_JSON_ARRAY) {
        acog_builder_refuse(builder, "input: must be a string or a list");
        return;
    }
    struct acog_json_cursor cursor = acog_json_enter(input);
    for (size_t index = 0; builder->code == ACOG_OK && acog_json_next(&cursor); index++) {
        read_item(builder, index, cursor.value);
    }
}
