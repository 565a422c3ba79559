/* read_messages_content.c - the messages of a client's Anthropic Messages request and their blocks, as turns and parts.
 *
 * One row a type of block says where it may stand and what it becomes. A type that is not known, and one that only
 * Anthropic's own tools make, is a foreign part; a member that is not known is named as dropped. Blocks inside a tool's
 * result and inside a document are read by the same rows, one level deep, so that the stack is bounded whatever a client
 * sends.
 *
 * A signature that belongs to a call and not to reasoning (Gemini's thought signature) comes back in a
 * redacted_thinking block of its own, with the call's id in its tag (opaque.h): it is linked to the call when the message
 * was read.
 */
#include "id_index.h"
#include "media.h"
#include "read_messages.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Where a block may stand. */
#define IN_USER      1U
#define IN_ASSISTANT 2U
#define IN_SYSTEM    4U
#define IN_RESULT    8U  /* a tool's */
#define IN_DOCUMENT  16U /* one made of blocks, a search result */
#define IN_ANY       (IN_USER | IN_ASSISTANT | IN_SYSTEM | IN_RESULT | IN_DOCUMENT)

struct call_signature {
    struct acog_opaque opaque;
    const struct acog_part *behind; /* the part before it in the turn; NULL: none */
    struct call_signature *next;
};

#define SIGNATURES_MAX 1024 /* of calls of one message; of more the last ones are lost */

struct content_reader {
    struct acog_conversation_builder *builder;
    enum acog_turn_role role;
    size_t message; /* index, for words to the client */
    size_t block;
    struct acog_part *result;          /* whose content is being read; NULL: the turn's */
    const struct acog_part *before;    /* the turn's part before the message's first; NULL: none */
    struct call_signature *signatures; /* of calls of this message, in their order */
    struct call_signature *last_signature;
    size_t signature_count;
};

static void refuse(struct content_reader *reader, const char *what)
{
    acog_builder_refuse(reader->builder, "messages[%zu].content[%zu]%s", reader->message,
                        reader->block, what);
}

/* The members of a message or a block; others are named as dropped. "type" is one of the names. */
static void read_members(struct content_reader *reader, struct acog_json_value object,
                         const struct acog_view *names, struct acog_json_value *found, size_t count)
{
    acog_json_members(object, names, found, count);
    acog_builder_unknown_members(reader->builder, ACOG_VIEW("messages"), object, names, count);
}

static struct acog_part *add_part(struct content_reader *reader, enum acog_part_kind kind)
{
    if (reader->result != NULL) {
        return acog_builder_result_part(reader->builder, reader->result, kind);
    }
    return acog_builder_part(reader->builder, reader->role, kind);
}

static void add_text(struct content_reader *reader, struct acog_json_value text,
                     struct acog_json_value cache)
{
    struct acog_part *part = add_part(reader, ACOG_PART_TEXT);
    if (part != NULL) {
        part->text = text;
        part->cache = cache;
    }
}

static void add_text_if_any(struct content_reader *reader, struct acog_json_value text)
{
    if (text.type == ACOG_JSON_STRING) {
        add_text(reader, text, (struct acog_json_value){.raw = {0}});
    }
}

/* What only Anthropic can read. It stands in the turn, also where it is inside a result: there it is found by whoever
 * asks whether the conversation fits. */
static void add_foreign(struct content_reader *reader, struct acog_json_value type)
{
    struct acog_part *part = acog_builder_part(reader->builder, reader->role, ACOG_PART_FOREIGN);
    if (part != NULL) {
        part->type = acog_text_of(type).bytes;
    }
}

static struct acog_json_value marker(struct acog_json_value cache)
{
    return cache.type == ACOG_JSON_OBJECT ? cache : (struct acog_json_value){.raw = {0}};
}

static bool is_on(struct acog_json_value citations)
{
    struct acog_json_cursor cursor = acog_json_enter(citations);
    struct acog_json_value enabled;
    if (citations.type == ACOG_JSON_OBJECT) {
        return acog_json_member(citations, ACOG_VIEW("enabled"), &enabled) &&
               enabled.type == ACOG_JSON_TRUE;
    }
    return citations.type == ACOG_JSON_ARRAY && acog_json_next(&cursor);
}

/* Neither asked for nor told by any other provider. */
static void note_citations(struct content_reader *reader, struct acog_json_value citations)
{
    if (is_on(citations)) {
        const struct acog_json_value name = {.raw = ACOG_VIEW("\"messages.citations\""),
                                             .type = ACOG_JSON_STRING};
        acog_builder_unknown(reader->builder, name);
    }
}

/* The last part of the turn that the message goes on with; NULL: it begins one. */
static struct acog_part *last_part(const struct content_reader *reader)
{
    const struct acog_turn *turn = reader->builder->turn;
    return turn != NULL && turn->role == reader->role ? turn->parts.last : NULL;
}

static void read_blocks(struct content_reader *reader, struct acog_json_value content,
                        unsigned place);

/* Blocks of which one is made that the client marked: the mark goes to the last of them. */
static void read_inner_blocks(struct content_reader *reader, struct acog_json_value content,
                              struct acog_json_value cache)
{
    read_blocks(reader, content, IN_DOCUMENT);
    struct acog_part *last =
        reader->result != NULL ? reader->result->content.last : last_part(reader);
    if (last != NULL && !acog_json_present(last->cache)) {
        last->cache = marker(cache);
    }
}

/* -- texts, media ---------------------------------------------------------------------------------- */

static void read_text(struct content_reader *reader, struct acog_json_value block)
{
    static const struct acog_view names[] = {
        {"text", 4}, {"cache_control", 13}, {"citations", 9}, {"type", 4}};
    struct acog_json_value found[COUNT(names)];
    read_members(reader, block, names, found, COUNT(names));
    if (found[0].type != ACOG_JSON_STRING) {
        refuse(reader, ".text: must be a string");
        return;
    }
    note_citations(reader, found[2]);
    add_text(reader, found[0], marker(found[1]));
}

enum source_member {
    ACOG_SOURCE_TYPE = 0,
    ACOG_SOURCE_MEDIA_TYPE,
    ACOG_SOURCE_DATA,
    ACOG_SOURCE_URL,
    ACOG_SOURCE_FILE_ID,
    ACOG_SOURCE_CONTENT,
    ACOG_SOURCE_COUNT
};

static void keep_code(struct content_reader *reader, enum acog_code code)
{
    if (reader->builder->code == ACOG_OK) {
        reader->builder->code = code;
    }
}

/* False: it is needed and not there, or none. */
static bool read_media_type(struct content_reader *reader, struct acog_json_value type,
                            struct acog_media *media)
{
    if (type.type != ACOG_JSON_STRING) {
        return media->source != ACOG_MEDIA_BASE64;
    }
    enum acog_code code = acog_json_text(type, reader->builder->arena, &media->media_type);
    keep_code(reader, code);
    media->media_type = acog_media_registered_type(media->media_type);
    acog_media_settle_kind(media);
    return code != ACOG_OK || acog_media_is_type(media->media_type);
}

/* What a source says, but for one made of blocks. False: nothing that is known, or that a provider could read. */
static bool read_source(struct content_reader *reader, const struct acog_json_value *source,
                        struct acog_media *media)
{
    static const struct {
        struct acog_view type;
        enum acog_media_source source;
        enum source_member leaf;
    } forms[] = {
        {{"base64", 6}, ACOG_MEDIA_BASE64, ACOG_SOURCE_DATA},
        {{"url", 3}, ACOG_MEDIA_URL, ACOG_SOURCE_URL},
        {{"text", 4}, ACOG_MEDIA_TEXT, ACOG_SOURCE_DATA},
        {{"file", 4}, ACOG_MEDIA_FILE_ID, ACOG_SOURCE_FILE_ID},
    };

    size_t i = 0;
    while (i < COUNT(forms) && !acog_json_text_is(source[ACOG_SOURCE_TYPE], forms[i].type)) {
        i++;
    }
    if (i == COUNT(forms) || source[forms[i].leaf].type != ACOG_JSON_STRING) {
        return false;
    }
    media->source = forms[i].source;
    media->data = acog_text_of(source[forms[i].leaf]);
    if (media->source == ACOG_MEDIA_URL) {
        keep_code(reader, acog_media_read_url(media->data, reader->builder->arena, media));
    }
    return acog_media_is_readable(media) &&
           (media->media_type.len > 0 ||
            read_media_type(reader, source[ACOG_SOURCE_MEDIA_TYPE], media));
}

enum media_member {
    ACOG_MEDIA_SOURCE = 0,
    ACOG_MEDIA_TITLE,
    ACOG_MEDIA_CONTEXT,
    ACOG_MEDIA_CITATIONS,
    ACOG_MEDIA_CACHE,
    ACOG_MEDIA_TYPE,
    ACOG_MEDIA_COUNT
};

static void read_media(struct content_reader *reader, struct acog_json_value block,
                       enum acog_media_kind kind)
{
    static const struct acog_view names[] = {
        [ACOG_MEDIA_SOURCE] = {"source", 6},        [ACOG_MEDIA_TITLE] = {"title", 5},
        [ACOG_MEDIA_CONTEXT] = {"context", 7},      [ACOG_MEDIA_CITATIONS] = {"citations", 9},
        [ACOG_MEDIA_CACHE] = {"cache_control", 13}, [ACOG_MEDIA_TYPE] = {"type", 4}};
    static const struct acog_view source_names[] = {
        [ACOG_SOURCE_TYPE] = {"type", 4},       [ACOG_SOURCE_MEDIA_TYPE] = {"media_type", 10},
        [ACOG_SOURCE_DATA] = {"data", 4},       [ACOG_SOURCE_URL] = {"url", 3},
        [ACOG_SOURCE_FILE_ID] = {"file_id", 7}, [ACOG_SOURCE_CONTENT] = {"content", 7}};
    struct acog_json_value found[ACOG_MEDIA_COUNT];
    struct acog_json_value source[ACOG_SOURCE_COUNT];
    struct acog_media media = {.kind = kind};
    read_members(reader, block, names, found, ACOG_MEDIA_COUNT);
    acog_json_members(found[ACOG_MEDIA_SOURCE], source_names, source, ACOG_SOURCE_COUNT);
    note_citations(reader, found[ACOG_MEDIA_CITATIONS]);
    add_text_if_any(reader, found[ACOG_MEDIA_CONTEXT]);
    if (kind == ACOG_MEDIA_DOCUMENT &&
        acog_json_text_is(source[ACOG_SOURCE_TYPE], ACOG_VIEW("content"))) {
        add_text_if_any(reader, found[ACOG_MEDIA_TITLE]);
        read_inner_blocks(reader, source[ACOG_SOURCE_CONTENT], found[ACOG_MEDIA_CACHE]);
        return;
    }
    if (!read_source(reader, source, &media)) {
        refuse(reader, ".source: is none that can be read");
        return;
    }
    if (reader->result != NULL && media.source == ACOG_MEDIA_TEXT) {
        /* A text inside a result stays there, also where results are made of texts alone. */
        add_text_if_any(reader, found[ACOG_MEDIA_TITLE]);
        add_text(reader, source[ACOG_SOURCE_DATA], marker(found[ACOG_MEDIA_CACHE]));
        return;
    }
    struct acog_part *part = add_part(reader, ACOG_PART_MEDIA);
    if (part != NULL) {
        part->media = media;
        part->cache = marker(found[ACOG_MEDIA_CACHE]);
        if (found[ACOG_MEDIA_TITLE].type == ACOG_JSON_STRING) {
            part->media.name = found[ACOG_MEDIA_TITLE];
        }
    }
}

static void read_image(struct content_reader *reader, struct acog_json_value block)
{
    read_media(reader, block, ACOG_MEDIA_IMAGE);
}

static void read_document(struct content_reader *reader, struct acog_json_value block)
{
    read_media(reader, block, ACOG_MEDIA_DOCUMENT);
}

/* What the client found itself: its title, where it was found, and its texts, as texts. */
static void read_search_result(struct content_reader *reader, struct acog_json_value block)
{
    static const struct acog_view names[] = {{"title", 5},          {"source", 6},
                                             {"content", 7},        {"citations", 9},
                                             {"cache_control", 13}, {"type", 4}};
    struct acog_json_value found[COUNT(names)];
    read_members(reader, block, names, found, COUNT(names));
    note_citations(reader, found[3]);
    add_text_if_any(reader, found[0]);
    add_text_if_any(reader, found[1]);
    read_inner_blocks(reader, found[2], found[4]);
}

/* -- reasoning ------------------------------------------------------------------------------------- */

static void read_thinking(struct content_reader *reader, struct acog_json_value block)
{
    static const struct acog_view names[] = {{"thinking", 8}, {"signature", 9}, {"type", 4}};
    struct acog_json_value found[COUNT(names)];
    read_members(reader, block, names, found, COUNT(names));
    struct acog_opaque opaque = acog_opaque_read(acog_text_of(found[1]), ACOG_DIALECT_MESSAGES);
    bool any = acog_text_of(found[0]).bytes.len > 0;
    struct acog_part *part =
        any || opaque.maker != ACOG_DIALECT_COUNT ? add_part(reader, ACOG_PART_REASONING) : NULL;
    if (part != NULL) {
        part->opaque = opaque;
        if (any) {
            part->text = found[0];
        }
    }
}

static void keep_signature(struct content_reader *reader, const struct acog_opaque *opaque)
{
    if (reader->signature_count == SIGNATURES_MAX) {
        return;
    }
    struct call_signature *signature = acog_arena_take(reader->builder->arena, sizeof(*signature));
    if (signature == NULL) {
        reader->builder->code = ACOG_NO_MEMORY;
        return;
    }
    *signature = (struct call_signature){.opaque = *opaque, .behind = last_part(reader)};
    if (reader->last_signature == NULL) {
        reader->signatures = signature;
    } else {
        reader->last_signature->next = signature;
    }
    reader->last_signature = signature;
    reader->signature_count++;
}

static void read_redacted_thinking(struct content_reader *reader, struct acog_json_value block)
{
    static const struct acog_view names[] = {{"data", 4}, {"type", 4}};
    struct acog_json_value found[COUNT(names)];
    read_members(reader, block, names, found, COUNT(names));
    struct acog_opaque opaque = acog_opaque_read(acog_text_of(found[0]), ACOG_DIALECT_MESSAGES);
    if (opaque.maker == ACOG_DIALECT_COUNT) {
        return;
    }
    if (opaque.maker != ACOG_DIALECT_MESSAGES && !opaque.redacted) {
        keep_signature(reader, &opaque);
        return;
    }
    struct acog_part *part = add_part(reader, ACOG_PART_REASONING);
    if (part != NULL) {
        part->opaque = opaque;
        part->opaque.redacted = true;
    }
}

/* The latest of those that stand between `behind` and the part after it and name no call; NULL: none. `signature` goes on
 * to the ones behind that part. */
static const struct call_signature *next_unnamed(const struct call_signature **signature,
                                                 const struct acog_part *behind)
{
    const struct call_signature *latest = NULL;
    while (*signature != NULL && (*signature)->behind == behind) {
        latest = (*signature)->opaque.id.bytes.len == 0 ? *signature : latest;
        *signature = (*signature)->next;
    }
    return latest;
}

/* To the call of that id, or to the next one where the tag has none. A signature whose call is not there is of use to
 * nobody. */
static void link_signatures(const struct content_reader *reader)
{
    struct acog_conversation_builder *builder = reader->builder;
    struct acog_id_index named;
    if (reader->signatures == NULL || last_part(reader) == NULL || builder->code != ACOG_OK) {
        return;
    }
    builder->code = acog_id_index_init(&named, reader->signature_count, builder->arena);
    struct call_signature *each = builder->code == ACOG_OK ? reader->signatures : NULL;
    for (; each != NULL; each = each->next) {
        if (each->opaque.id.bytes.len > 0) {
            acog_id_index_add(&named, each->opaque.id.bytes, &each->opaque);
        }
    }
    const struct acog_part *behind = reader->before;
    const struct call_signature *signature = reader->signatures;
    const struct call_signature *unnamed = NULL;
    struct acog_part *part = behind == NULL ? builder->turn->parts.first : behind->next;
    for (; builder->code == ACOG_OK && part != NULL; part = part->next) {
        const struct call_signature *next = next_unnamed(&signature, behind);
        unnamed = next != NULL ? next : unnamed;
        behind = part;
        if (part->kind != ACOG_PART_TOOL_CALL) {
            continue;
        }
        const struct acog_opaque *own = acog_id_index_find(&named, part->id.bytes);
        if (own != NULL || unnamed != NULL) {
            part->opaque = own != NULL ? *own : unnamed->opaque;
        }
        unnamed = NULL;
    }
}

/* -- tools ----------------------------------------------------------------------------------------- */

static void read_tool_use(struct content_reader *reader, struct acog_json_value block)
{
    static const struct acog_view names[] = {
        {"id", 2}, {"name", 4}, {"input", 5}, {"cache_control", 13}, {"caller", 6}, {"type", 4}};
    struct acog_json_value found[COUNT(names)];
    read_members(reader, block, names, found, COUNT(names));
    if (acog_text_of(found[0]).bytes.len == 0 || acog_text_of(found[1]).bytes.len == 0) {
        refuse(reader, ": a tool_use needs an id and a name");
        return;
    }
    if (found[2].type != ACOG_JSON_OBJECT && found[2].type != ACOG_JSON_NULL) {
        refuse(reader, ".input: must be an object");
        return;
    }
    struct acog_part *part = add_part(reader, ACOG_PART_TOOL_CALL);
    if (part != NULL) {
        bool any = found[2].type == ACOG_JSON_OBJECT;
        part->id = acog_text_of(found[0]);
        part->name = acog_text_of(found[1]);
        part->arguments = acog_text_plain(any ? found[2].raw : ACOG_VIEW("{}"));
        part->cache = marker(found[3]);
    }
}

static void read_tool_result(struct content_reader *reader, struct acog_json_value block)
{
    static const struct acog_view names[] = {
        {"tool_use_id", 11}, {"content", 7}, {"is_error", 8}, {"cache_control", 13}, {"type", 4}};
    struct acog_json_value found[COUNT(names)];
    read_members(reader, block, names, found, COUNT(names));
    if (found[0].type != ACOG_JSON_STRING) {
        refuse(reader, ".tool_use_id: must be a string");
        return;
    }
    struct acog_part *part = add_part(reader, ACOG_PART_TOOL_RESULT);
    if (part == NULL) {
        return;
    }
    part->id = acog_text_of(found[0]);
    part->is_error = found[2].type == ACOG_JSON_TRUE;
    part->cache = marker(found[3]);
    reader->result = part;
    read_blocks(reader, found[1], IN_RESULT);
    reader->result = NULL;
}

/* A tool that the client's search found: every tool is told from the beginning, so its name is all that is left to tell. */
static void read_tool_reference(struct content_reader *reader, struct acog_json_value block)
{
    static const struct acog_view names[] = {{"tool_name", 9}, {"cache_control", 13}, {"type", 4}};
    struct acog_json_value found[COUNT(names)];
    read_members(reader, block, names, found, COUNT(names));
    if (found[0].type != ACOG_JSON_STRING) {
        refuse(reader, ".tool_name: must be a string");
        return;
    }
    add_text(reader, found[0], marker(found[1]));
}

/* What stands for the messages before it, which Anthropic itself passes over. Null: it failed, and they count. */
static void read_compaction(struct content_reader *reader, struct acog_json_value block)
{
    static const struct acog_view names[] = {{"content", 7},
                                             {"cache_control", 13},
                                             {"encrypted_content", 17},
                                             {"signature", 9},
                                             {"type", 4}};
    struct acog_json_value found[COUNT(names)];
    read_members(reader, block, names, found, COUNT(names));
    if (found[0].type == ACOG_JSON_STRING) {
        add_text(reader, found[0], marker(found[1]));
    }
}

/* Where another model took over: of no use to one that answers now. */
static void read_nothing(struct content_reader *reader, struct acog_json_value block)
{
    (void)reader;
    (void)block;
}

/* -- blocks, messages ------------------------------------------------------------------------------ */

static const struct {
    struct acog_view type;
    unsigned places;
    void (*read)(struct content_reader *reader, struct acog_json_value block);
} block_forms[] = {
    {{"text", 4}, IN_ANY, read_text},
    {{"image", 5}, IN_USER | IN_RESULT | IN_DOCUMENT, read_image},
    {{"document", 8}, IN_USER | IN_RESULT, read_document},
    {{"search_result", 13}, IN_USER | IN_RESULT, read_search_result},
    {{"thinking", 8}, IN_ASSISTANT, read_thinking},
    {{"redacted_thinking", 17}, IN_ASSISTANT, read_redacted_thinking},
    {{"tool_use", 8}, IN_ASSISTANT, read_tool_use},
    {{"tool_result", 11}, IN_USER, read_tool_result},
    {{"tool_reference", 14}, IN_RESULT, read_tool_reference},
    {{"compaction", 10}, IN_USER | IN_ASSISTANT, read_compaction},
    {{"fallback", 8}, IN_ASSISTANT, read_nothing},
};

static void read_block(struct content_reader *reader, struct acog_json_value block, unsigned place)
{
    struct acog_json_value type = {.raw = {0}};
    (void)acog_json_member(block, ACOG_VIEW("type"), &type);
    if (block.type != ACOG_JSON_OBJECT || type.type != ACOG_JSON_STRING) {
        refuse(reader, ": must be an object with a type");
        return;
    }
    size_t i = 0;
    while (i < COUNT(block_forms) && !acog_json_text_is(type, block_forms[i].type)) {
        i++;
    }
    if (i == COUNT(block_forms)) {
        add_foreign(reader, type);
    } else if ((block_forms[i].places & place) == 0) {
        refuse(reader, ": a block of this type must not stand here");
    } else {
        block_forms[i].read(reader, block);
    }
}

/* A string is one text; absent and null are nothing. */
static void read_blocks(struct content_reader *reader, struct acog_json_value content,
                        unsigned place)
{
    bool outer = place != IN_RESULT && place != IN_DOCUMENT;
    struct acog_json_cursor cursor = acog_json_enter(content);
    if (content.type == ACOG_JSON_STRING) {
        add_text_if_any(reader, content);
        return;
    }
    if (content.type != ACOG_JSON_ARRAY && content.type != ACOG_JSON_NULL) {
        refuse(reader, ": must be a string or a list");
        return;
    }
    for (size_t i = 0; reader->builder->code == ACOG_OK && acog_json_next(&cursor); i++) {
        if (outer) {
            reader->block = i;
        }
        read_block(reader, cursor.value, place);
    }
}

void acog_messages_read_system(struct acog_conversation_builder *builder,
                               struct acog_json_value system)
{
    static const struct acog_view names[] = {{"text", 4}, {"cache_control", 13}};
    struct acog_json_cursor cursor = acog_json_enter(system);
    if (system.type == ACOG_JSON_STRING) {
        struct acog_part *part = acog_builder_system(builder);
        if (part != NULL) {
            part->text = system;
        }
        return;
    }
    for (size_t i = 0; builder->code == ACOG_OK && acog_json_next(&cursor); i++) {
        struct acog_json_value found[COUNT(names)];
        acog_json_members(cursor.value, names, found, COUNT(names));
        if (found[0].type != ACOG_JSON_STRING) {
            acog_builder_refuse(builder, "system[%zu].text: must be a string", i);
            return;
        }
        struct acog_part *part = acog_builder_system(builder);
        if (part != NULL) {
            part->text = found[0];
            part->cache = marker(found[1]);
        }
    }
}

static const struct {
    struct acog_view role;
    enum acog_turn_role turn;
    unsigned place;
} roles[] = {
    {{"user", 4}, ACOG_TURN_USER, IN_USER},
    {{"assistant", 9}, ACOG_TURN_ASSISTANT, IN_ASSISTANT},
    {{"system", 6}, ACOG_TURN_SYSTEM, IN_SYSTEM},
};

void acog_messages_read_turns(struct acog_conversation_builder *builder,
                              struct acog_json_value messages)
{
    static const struct acog_view names[] = {{"role", 4}, {"content", 7}, {"type", 4}};
    struct acog_json_cursor cursor = acog_json_enter(messages);
    for (size_t i = 0; builder->code == ACOG_OK && acog_json_next(&cursor); i++) {
        struct content_reader reader = {.builder = builder, .message = i};
        struct acog_json_value found[COUNT(names)];
        size_t role = 0;
        read_members(&reader, cursor.value, names, found, COUNT(names));
        while (role < COUNT(roles) && !acog_json_text_is(found[0], roles[role].role)) {
            role++;
        }
        if (role == COUNT(roles)) {
            acog_builder_refuse(builder, "messages[%zu].role: must be user, assistant or system",
                                i);
            return;
        }
        reader.role = roles[role].turn;
        reader.before = last_part(&reader);
        if (reader.role == ACOG_TURN_SYSTEM && builder->turn == NULL) {
            acog_messages_read_system(builder, found[1]);
            continue;
        }
        read_blocks(&reader, found[1], roles[role].place);
        link_signatures(&reader);
    }
}
