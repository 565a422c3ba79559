/* read_chat_messages.c - the messages of a chat request, as turns.
 *
 * The system and developer messages before anything else are the conversation's system texts; later ones keep their
 * place (B14). Empty texts are taken as they come: acog_builder_finish() sees to them (B04, B05).
 */
#include "leaf.h"
#include "media.h"
#include "read_chat.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define CUSTOM_CALLS_MAX 64 /* parts of a turn among which a result's custom call is looked for */

struct messages_reader {
    struct acog_conversation_builder *builder;
    size_t index;                  /* of the message */
    struct acog_text function_id;  /* made for the latest function_call, which has none */
    const struct acog_turn *calls; /* the latest assistant's turn with custom calls; NULL: none */
};

/* Where parts go that are read now. */
struct sink {
    bool leading; /* the conversation's system texts */
    enum acog_turn_role role;
    struct acog_part *result; /* a tool's result; NULL: a turn */
};

static struct acog_part *new_part(struct messages_reader *reader, const struct sink *sink,
                                  enum acog_part_kind kind)
{
    if (sink->result != NULL) {
        return acog_builder_result_part(reader->builder, sink->result, kind);
    }
    return sink->leading ? acog_builder_system(reader->builder)
                         : acog_builder_part(reader->builder, sink->role, kind);
}

/* -- parts ----------------------------------------------------------------------------------------- */

enum part_member {
    ACOG_INPUT_TYPE = 0,
    ACOG_INPUT_TEXT,
    ACOG_INPUT_REFUSAL,
    ACOG_INPUT_IMAGE_URL,
    ACOG_INPUT_INPUT_AUDIO,
    ACOG_INPUT_FILE,
    ACOG_INPUT_THINKING,
    ACOG_INPUT_VIDEO_URL,
    ACOG_INPUT_DOCUMENT_URL,
    ACOG_INPUT_CACHE,
    ACOG_INPUT_COUNT
};

static const struct acog_view part_names[ACOG_INPUT_COUNT] = {
    {"type", 4}, {"text", 4},     {"refusal", 7},   {"image_url", 9},     {"input_audio", 11},
    {"file", 4}, {"thinking", 8}, {"video_url", 9}, {"document_url", 12}, {"cache_control", 13},
};

struct part_reader {
    struct messages_reader *reader;
    const struct sink *sink;
    size_t index; /* in the content */
    struct acog_json_value found[ACOG_INPUT_COUNT];
};

static void refuse_part(const struct part_reader *part, const char *what)
{
    acog_builder_refuse(part->reader->builder, "messages[%zu].content[%zu]%s", part->reader->index,
                        part->index, what);
}

static struct acog_part *read_text_part(const struct part_reader *in, enum acog_part_kind kind,
                                        struct acog_json_value text)
{
    if (text.type != ACOG_JSON_STRING) {
        refuse_part(in, kind == ACOG_PART_REFUSAL ? ".refusal: must be a string"
                                                  : ".text: must be a string");
        return NULL;
    }
    if (kind == ACOG_PART_REFUSAL && !acog_leaf_has_text(text)) {
        return NULL;
    }
    struct acog_part *part = new_part(in->reader, in->sink, kind);
    if (part != NULL) {
        part->text = text;
    }
    return part;
}

static struct acog_part *new_media(const struct part_reader *in)
{
    return new_part(in->reader, in->sink, ACOG_PART_MEDIA);
}

/* Keeps the medium if it could be read. */
static struct acog_part *keep_media(const struct part_reader *in, const struct acog_media *media,
                                    enum acog_code code, const char *name)
{
    if (code != ACOG_OK) {
        in->reader->builder->code = code;
        return NULL;
    }
    if (!acog_media_is_readable(media)) {
        acog_builder_refuse(in->reader->builder,
                            "messages[%zu].content[%zu].%s: " ACOG_MEDIA_URL_RULE,
                            in->reader->index, in->index, name);
        return NULL;
    }
    struct acog_part *part = new_media(in);
    if (part != NULL) {
        part->media = *media;
    }
    return part;
}

/* {"url":…,"detail":…}, or the address alone. */
static struct acog_part *read_url_part(const struct part_reader *in, struct acog_json_value object,
                                       enum acog_media_kind kind, const char *name)
{
    static const struct acog_view names[] = {{"url", 3}, {"detail", 6}};
    struct acog_json_value found[COUNT(names)];
    struct acog_media media = {.kind = kind};
    acog_json_members(object, names, found, COUNT(names));
    struct acog_json_value url = object.type == ACOG_JSON_STRING ? object : found[0];
    enum acog_code code =
        acog_media_read_url(acog_text_of(url), in->reader->builder->arena, &media);
    media.detail = acog_leaf_of_type(found[1], ACOG_JSON_STRING);
    return keep_media(in, &media, code, name);
}

static struct acog_part *read_audio_part(const struct part_reader *in, struct acog_json_value audio)
{
    static const struct acog_view names[] = {{"data", 4}, {"format", 6}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(audio, names, found, COUNT(names));
    struct acog_view type = acog_media_audio_type(found[1]);
    if (type.len == 0 || acog_text_of(found[0]).bytes.len == 0) {
        refuse_part(in, ".input_audio: must have data, and a format that is known");
        return NULL;
    }
    struct acog_part *part = new_media(in);
    if (part != NULL) {
        part->media = (struct acog_media){.kind = ACOG_MEDIA_AUDIO,
                                          .source = ACOG_MEDIA_BASE64,
                                          .media_type = type,
                                          .data = acog_text_of(found[0])};
    }
    return part;
}

static struct acog_part *read_file_part(const struct part_reader *in, struct acog_json_value file)
{
    static const struct acog_view names[] = {{"file_data", 9}, {"file_id", 7}, {"filename", 8}};
    struct acog_json_value found[COUNT(names)];
    struct acog_media media = {.kind = ACOG_MEDIA_FILE};
    acog_json_members(file, names, found, COUNT(names));
    struct acog_json_value name = acog_leaf_of_type(found[2], ACOG_JSON_STRING);
    if (acog_leaf_has_text(found[0])) {
        enum acog_code code =
            acog_media_read_file(acog_text_of(found[0]), name, in->reader->builder->arena, &media);
        return keep_media(in, &media, code, "file.file_data");
    }
    media.source = ACOG_MEDIA_FILE_ID;
    media.data = acog_text_of(found[1]);
    media.name = name;
    return keep_media(in, &media, ACOG_OK, "file");
}

static void add_thought(const struct part_reader *in, struct acog_json_value text)
{
    struct acog_part *part =
        acog_leaf_has_text(text) ? new_part(in->reader, in->sink, ACOG_PART_REASONING) : NULL;
    if (part != NULL) {
        part->text = text;
    }
}

/* Mistral's, in an assistant's content: its text, in a list or alone. */
static void read_thinking_part(const struct part_reader *in, struct acog_json_value thinking)
{
    struct acog_json_cursor cursor = acog_json_enter(thinking);
    add_thought(in, thinking);
    while (thinking.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        struct acog_json_value text = {.escaped = false};
        (void)acog_json_member(cursor.value, ACOG_VIEW("text"), &text);
        add_thought(in, text);
    }
}

static struct acog_part *read_foreign_part(const struct part_reader *in)
{
    struct acog_view type;
    if (in->found[ACOG_INPUT_TYPE].type != ACOG_JSON_STRING) {
        refuse_part(in, ".type: must be a string");
        return NULL;
    }
    if (in->sink->result != NULL || in->sink->leading) {
        refuse_part(in, ".type: is not one that is known here");
        return NULL;
    }
    if (acog_json_text(in->found[ACOG_INPUT_TYPE], in->reader->builder->arena, &type) != ACOG_OK) {
        in->reader->builder->code = ACOG_NO_MEMORY;
        return NULL;
    }
    struct acog_part *part = new_part(in->reader, in->sink, ACOG_PART_FOREIGN);
    if (part != NULL) {
        part->type = type;
    }
    return part;
}

static struct acog_part *read_part_of_type(const struct part_reader *in)
{
    const struct acog_json_value type = in->found[ACOG_INPUT_TYPE];
    bool assistant = in->sink->result == NULL && in->sink->role == ACOG_TURN_ASSISTANT;
    if (acog_json_text_is(type, ACOG_VIEW("text"))) {
        return read_text_part(in, ACOG_PART_TEXT, in->found[ACOG_INPUT_TEXT]);
    }
    if (in->sink->leading || (in->sink->result == NULL && in->sink->role == ACOG_TURN_SYSTEM)) {
        refuse_part(in, ".type: a system message holds texts only");
        return NULL;
    }
    if (acog_json_text_is(type, ACOG_VIEW("image_url"))) {
        return read_url_part(in, in->found[ACOG_INPUT_IMAGE_URL], ACOG_MEDIA_IMAGE, "image_url");
    }
    if (acog_json_text_is(type, ACOG_VIEW("video_url"))) {
        return read_url_part(in, in->found[ACOG_INPUT_VIDEO_URL], ACOG_MEDIA_VIDEO, "video_url");
    }
    if (acog_json_text_is(type, ACOG_VIEW("document_url"))) { /* Mistral */
        return read_url_part(in, in->found[ACOG_INPUT_DOCUMENT_URL], ACOG_MEDIA_DOCUMENT,
                             "document_url");
    }
    if (acog_json_text_is(type, ACOG_VIEW("input_audio"))) {
        return read_audio_part(in, in->found[ACOG_INPUT_INPUT_AUDIO]);
    }
    if (acog_json_text_is(type, ACOG_VIEW("file"))) {
        return read_file_part(in, in->found[ACOG_INPUT_FILE]);
    }
    if (assistant && acog_json_text_is(type, ACOG_VIEW("refusal"))) {
        return read_text_part(in, ACOG_PART_REFUSAL, in->found[ACOG_INPUT_REFUSAL]);
    }
    if (assistant && acog_json_text_is(type, ACOG_VIEW("thinking"))) {
        read_thinking_part(in, in->found[ACOG_INPUT_THINKING]);
        return NULL; /* no cache marker goes there */
    }
    return read_foreign_part(in);
}

/* A text, or a list of parts. `cache` is the message's own marker, which the last part takes that has none. */
static void read_content(struct messages_reader *reader, const struct sink *sink,
                         struct acog_json_value content, struct acog_json_value cache)
{
    struct acog_part *last = NULL;
    struct part_reader in = {.reader = reader, .sink = sink};
    struct acog_json_cursor cursor = acog_json_enter(content);
    if (content.type == ACOG_JSON_STRING) {
        last = new_part(reader, sink, ACOG_PART_TEXT);
        if (last != NULL) {
            last->text = content;
        }
    }
    for (; reader->builder->code == ACOG_OK && content.type == ACOG_JSON_ARRAY &&
           acog_json_next(&cursor);
         in.index++) {
        acog_json_members(cursor.value, part_names, in.found, ACOG_INPUT_COUNT);
        struct acog_part *part = read_part_of_type(&in);
        if (part != NULL) {
            last = part;
            part->cache = in.found[ACOG_INPUT_CACHE].type == ACOG_JSON_OBJECT
                              ? in.found[ACOG_INPUT_CACHE]
                              : part->cache;
        }
        acog_builder_unknown_members(reader->builder, ACOG_VIEW("messages"), cursor.value,
                                     part_names, ACOG_INPUT_COUNT);
    }
    if (last != NULL && cache.type == ACOG_JSON_OBJECT && !acog_json_present(last->cache)) {
        last->cache = cache;
    }
}

/* -- calls and results ----------------------------------------------------------------------------- */

static void read_function(struct messages_reader *reader, struct acog_json_value function,
                          struct acog_text id, struct acog_opaque opaque)
{
    static const struct acog_view names[] = {{"name", 4}, {"arguments", 9}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(function, names, found, COUNT(names));
    if (acog_text_of(found[0]).bytes.len == 0) {
        acog_builder_refuse(reader->builder, "messages[%zu]: a call has no name", reader->index);
        return;
    }
    struct acog_part *part =
        acog_builder_part(reader->builder, ACOG_TURN_ASSISTANT, ACOG_PART_TOOL_CALL);
    if (part != NULL) {
        part->id = id;
        part->name = acog_text_of(found[0]);
        part->arguments = found[1].type == ACOG_JSON_OBJECT ? acog_text_plain(found[1].raw)
                                                            : acog_text_of(found[1]);
        part->opaque = opaque;
    }
}

/* A call of a custom tool: a text for arguments, which no other dialect has. */
static void read_custom(struct messages_reader *reader, struct acog_text id)
{
    struct acog_part *part =
        acog_builder_part(reader->builder, ACOG_TURN_ASSISTANT, ACOG_PART_FOREIGN);
    if (part != NULL) {
        part->id = id;
        part->type = ACOG_VIEW("custom");
        reader->calls = reader->builder->turn;
    }
}

/* The ids of the calls, for what reasoning_details says of them; empty when it says nothing. */
static void index_calls(struct messages_reader *reader, struct acog_json_value calls,
                        struct acog_json_value details, struct acog_id_index *index)
{
    static const struct acog_view names[] = {{"id", 2}};
    struct acog_json_cursor cursor = acog_json_enter(calls);
    struct acog_json_cursor entries = acog_json_enter(details);
    size_t count = 0;
    if (cursor.object || entries.object || !acog_json_next(&entries)) {
        return;
    }
    while (count < ACOG_CALLS_OF_TURN_MAX && acog_json_next(&cursor)) {
        count++;
    }
    struct acog_opaque *opaques =
        acog_arena_take(reader->builder->arena, (count + 1) * sizeof(*opaques));
    if (opaques == NULL || acog_id_index_init(index, count, reader->builder->arena) != ACOG_OK) {
        reader->builder->code = ACOG_NO_MEMORY;
        return;
    }
    cursor = acog_json_enter(calls);
    for (size_t i = 0; i < count && acog_json_next(&cursor); i++) {
        struct acog_json_value id;
        acog_json_members(cursor.value, names, &id, 1);
        opaques[i] = acog_opaque_none();
        acog_id_index_add(index, id.raw, &opaques[i]);
    }
}

static void read_calls(struct messages_reader *reader, struct acog_json_value calls,
                       const struct acog_id_index *index)
{
    static const struct acog_view names[] = {{"id", 2}, {"function", 8}, {"custom", 6}};
    struct acog_json_cursor cursor = acog_json_enter(calls);
    for (size_t i = 0; reader->builder->code == ACOG_OK && !cursor.object; i++) {
        struct acog_json_value found[COUNT(names)];
        if (!acog_json_next(&cursor)) {
            return;
        }
        acog_json_members(cursor.value, names, found, COUNT(names));
        struct acog_text id = acog_text_of(found[0]);
        if (id.bytes.len == 0) {
            acog_builder_refuse(reader->builder, "messages[%zu].tool_calls[%zu].id: must be a text",
                                reader->index, i);
        } else if (found[2].type == ACOG_JSON_OBJECT) {
            read_custom(reader, id);
        } else {
            const struct acog_opaque *opaque = acog_id_index_find(index, found[0].raw);
            read_function(reader, found[1], id, opaque == NULL ? acog_opaque_none() : *opaque);
        }
    }
}

/* The form before tool_calls has no ids: the next function message answers it. */
static void read_function_call(struct messages_reader *reader, struct acog_json_value call)
{
    char digits[ACOG_DIGITS_MAX];
    struct acog_buffer text;
    const size_t bytes = sizeof("call_") + ACOG_DIGITS_MAX;
    if (call.type != ACOG_JSON_OBJECT) {
        return;
    }
    void *memory =
        reader->builder->code == ACOG_OK ? acog_arena_take(reader->builder->arena, bytes) : NULL;
    if (memory == NULL) {
        reader->builder->code =
            reader->builder->code == ACOG_OK ? ACOG_NO_MEMORY : reader->builder->code;
        return;
    }
    acog_buffer_init_over(&text, memory, bytes);
    (void)!acog_buffer_append(&text, ACOG_VIEW("call_")); /* it has the room */
    (void)!acog_buffer_append(&text, acog_view_from_u64(reader->index, digits));
    reader->function_id = acog_text_plain(acog_buffer_view(&text));
    read_function(reader, call, reader->function_id, acog_opaque_none());
}

static bool answers_custom(const struct messages_reader *reader, struct acog_text id)
{
    const struct acog_part *part = reader->calls == NULL ? NULL : reader->calls->parts.first;
    size_t looked_at = 0; /* of a turn with more calls, the last ones are not known as custom */
    while (part != NULL && looked_at++ < CUSTOM_CALLS_MAX &&
           (part->kind != ACOG_PART_FOREIGN || !acog_view_equal(part->id.bytes, id.bytes))) {
        part = part->next;
    }
    return part != NULL && looked_at <= CUSTOM_CALLS_MAX;
}

static void read_result(struct messages_reader *reader, struct acog_text id,
                        struct acog_json_value content, struct acog_json_value cache)
{
    bool custom = answers_custom(reader, id);
    struct acog_part *part = acog_builder_part(reader->builder, ACOG_TURN_USER,
                                               custom ? ACOG_PART_FOREIGN : ACOG_PART_TOOL_RESULT);
    if (part == NULL) {
        return;
    }
    part->id = id;
    if (custom) {
        part->type = ACOG_VIEW("custom");
        return;
    }
    if (cache.type == ACOG_JSON_OBJECT) {
        part->cache = cache; /* on the result, not on a text inside it (B18) */
    }
    struct sink sink = {.role = ACOG_TURN_USER, .result = part};
    struct acog_json_value none = {.raw = {0}};
    read_content(reader, &sink, content, none);
}

/* -- messages -------------------------------------------------------------------------------------- */

enum message_member {
    ACOG_MESSAGE_ROLE = 0,
    ACOG_MESSAGE_CONTENT,
    ACOG_MESSAGE_CACHE,
    ACOG_MESSAGE_TOOL_CALLS,
    ACOG_MESSAGE_TOOL_CALL_ID,
    ACOG_MESSAGE_FUNCTION_CALL,
    ACOG_MESSAGE_REFUSAL,
    ACOG_MESSAGE_AUDIO,
    ACOG_MESSAGE_DETAILS,
    ACOG_MESSAGE_BLOCKS,
    ACOG_MESSAGE_REASONING_CONTENT,
    ACOG_MESSAGE_REASONING,
    ACOG_MESSAGE_COUNT
};

static const struct acog_view message_names[ACOG_MESSAGE_COUNT] = {
    {"role", 4},
    {"content", 7},
    {"cache_control", 13},
    {"tool_calls", 10},
    {"tool_call_id", 12},
    {"function_call", 13},
    {"refusal", 7},
    {"audio", 5},
    {"reasoning_details", 17},
    {"thinking_blocks", 15},
    {"reasoning_content", 17},
    {"reasoning", 9},
};

static void read_assistant(struct messages_reader *reader, const struct acog_json_value *found)
{
    const struct sink sink = {.role = ACOG_TURN_ASSISTANT};
    struct acog_id_index calls = {.room = 0};
    if (reader->builder->code == ACOG_OK) {
        index_calls(reader, found[ACOG_MESSAGE_TOOL_CALLS], found[ACOG_MESSAGE_DETAILS], &calls);
    }
    const struct acog_chat_reasoning reasoning = {
        .details = found[ACOG_MESSAGE_DETAILS],
        .blocks = found[ACOG_MESSAGE_BLOCKS],
        .content = found[ACOG_MESSAGE_REASONING_CONTENT],
        .plain = found[ACOG_MESSAGE_REASONING],
        .calls = &calls,
    };
    acog_chat_read_reasoning(reader->builder, &reasoning);
    read_content(reader, &sink, found[ACOG_MESSAGE_CONTENT], found[ACOG_MESSAGE_CACHE]);
    if (acog_text_of(found[ACOG_MESSAGE_REFUSAL]).bytes.len > 0) {
        struct acog_part *part =
            acog_builder_part(reader->builder, ACOG_TURN_ASSISTANT, ACOG_PART_REFUSAL);
        if (part != NULL) {
            part->text = found[ACOG_MESSAGE_REFUSAL];
        }
    }
    if (found[ACOG_MESSAGE_AUDIO].type == ACOG_JSON_OBJECT) { /* the id of what it said */
        struct acog_part *part =
            acog_builder_part(reader->builder, ACOG_TURN_ASSISTANT, ACOG_PART_FOREIGN);
        if (part != NULL) {
            part->type = ACOG_VIEW("audio");
        }
    }
    read_calls(reader, found[ACOG_MESSAGE_TOOL_CALLS], &calls);
    read_function_call(reader, found[ACOG_MESSAGE_FUNCTION_CALL]);
}

static void read_tool(struct messages_reader *reader, const struct acog_json_value *found)
{
    struct acog_text id = acog_text_of(found[ACOG_MESSAGE_TOOL_CALL_ID]);
    if (id.bytes.len == 0) {
        acog_builder_refuse(reader->builder, "messages[%zu].tool_call_id: must be a text",
                            reader->index);
        return;
    }
    read_result(reader, id, found[ACOG_MESSAGE_CONTENT], found[ACOG_MESSAGE_CACHE]);
}

static void read_function_result(struct messages_reader *reader,
                                 const struct acog_json_value *found)
{
    if (reader->function_id.bytes.len == 0) {
        acog_builder_refuse(reader->builder, "messages[%zu]: answers no function_call before it",
                            reader->index);
        return;
    }
    read_result(reader, reader->function_id, found[ACOG_MESSAGE_CONTENT],
                found[ACOG_MESSAGE_CACHE]);
}

static void read_message(struct messages_reader *reader, struct acog_json_value message)
{
    struct acog_json_value found[ACOG_MESSAGE_COUNT];
    acog_json_members(message, message_names, found, ACOG_MESSAGE_COUNT);
    const struct acog_json_value role = found[ACOG_MESSAGE_ROLE];
    struct sink sink = {.role = ACOG_TURN_USER};
    acog_builder_unknown_members(reader->builder, ACOG_VIEW("messages"), message, message_names,
                                 ACOG_MESSAGE_COUNT);
    if (acog_json_text_is(role, ACOG_VIEW("user"))) {
        read_content(reader, &sink, found[ACOG_MESSAGE_CONTENT], found[ACOG_MESSAGE_CACHE]);
    } else if (acog_json_text_is(role, ACOG_VIEW("assistant"))) {
        read_assistant(reader, found);
    } else if (acog_json_text_is(role, ACOG_VIEW("system")) ||
               acog_json_text_is(role, ACOG_VIEW("developer"))) {
        sink.role = ACOG_TURN_SYSTEM;
        sink.leading = reader->builder->turn == NULL;
        read_content(reader, &sink, found[ACOG_MESSAGE_CONTENT], found[ACOG_MESSAGE_CACHE]);
    } else if (acog_json_text_is(role, ACOG_VIEW("tool"))) {
        read_tool(reader, found);
    } else if (acog_json_text_is(role, ACOG_VIEW("function"))) {
        read_function_result(reader, found);
    } else {
        acog_builder_refuse(reader->builder,
                            "messages[%zu].role: must be system, developer, user, assistant, tool "
                            "or function",
                            reader->index);
    }
}

void acog_chat_read_messages(struct acog_conversation_builder *builder, struct acog_json_value list)
{
    struct messages_reader reader = {.builder = builder};
    struct acog_json_cursor cursor = acog_json_enter(list);
    while (builder->code == ACOG_OK && !cursor.object && acog_json_next(&cursor)) {
        read_message(&reader, cursor.value);
        reader.index++;
    }
}
