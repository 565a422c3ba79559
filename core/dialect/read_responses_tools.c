/* read_responses_tools.c - the tools of a request of OpenAI Responses.
 *
 * A namespace groups functions of the client's, and a custom tool takes a text: both are told as functions, and come back
 * as what they are (identity.h). A grammar that the text must follow no other provider holds its model to: it is
 * described to the model, and named as dropped.
 */
#include "acog/contract.h"
#include "id_index.h"
#include "leaf.h"
#include "read_responses.h"

#include <string.h>

#define NAMESPACE_DESCRIPTION_MAX \
    1024 /* in bytes: it is told with each function of the namespace */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- tools ----------------------------------------------------------------------------------------- */

struct tools_reader {
    struct acog_conversation_builder *builder;
    struct acog_tool_identity **identity_end; /* where the next one is linked */
    size_t identity_count;
    size_t index; /* of the tool that is read */
    bool in_item; /* in an item of the input, of type additional_tools */
    size_t item;
    /* of the namespace that it is in: */
    bool inside;
    size_t inner;                 /* the tool's place there */
    struct acog_view name_space;  /* characters */
    struct acog_json_value about; /* STRING or absent: its description */
};

static void refuse_tool(struct tools_reader *reader, const char *what)
{
    struct acog_buffer place;
    char memory[64] = {0};
    enum acog_code code = ACOG_OK;
    acog_buffer_init_over(&place, memory, sizeof(memory) - 1);
    if (reader->in_item) {
        code = acog_buffer_format(&place, "input[%zu].", reader->item);
    }
    if (code == ACOG_OK && reader->inside) {
        code = acog_buffer_format(&place, "tools[%zu].", reader->index);
    }
    ACOG_ASSERT(code == ACOG_OK);
    acog_builder_refuse(reader->builder, "%stools[%zu]%s", memory,
                        reader->inside ? reader->inner : reader->index, what);
}

static void identify(struct tools_reader *reader, struct acog_tool *tool, bool custom)
{
    struct acog_conversation_builder *builder = reader->builder;
    struct acog_view name = acog_builder_characters(builder, acog_text_of(tool->name));
    if (name.len > ACOG_IDENTITY_NAME_MAX || reader->name_space.len > ACOG_IDENTITY_NAME_MAX) {
        refuse_tool(reader, ": a name is longer than 256 bytes");
    } else if (reader->identity_count == ACOG_IDENTITIES_MAX && !reader->in_item) {
        refuse_tool(reader, ": more than 512 tools are custom or in namespaces");
    }
    struct acog_tool_identity *identity =
        builder->code == ACOG_OK ? acog_arena_take(builder->arena, sizeof(*identity)) : NULL;
    if (identity == NULL) {
        builder->code = builder->code == ACOG_OK ? ACOG_NO_MEMORY : builder->code;
        return;
    }
    *identity = acog_identity_make(reader->name_space, name);
    identity->custom = custom;
    tool->identity = identity;
    *reader->identity_end = identity;
    reader->identity_end = &identity->next;
    reader->identity_count++;
}

/* Those of the texts that say something as one, blank lines between them. */
static struct acog_json_value join(struct acog_conversation_builder *builder,
                                   const struct acog_text *texts, size_t count)
{
    const struct acog_view gap = ACOG_VIEW("\\n\\n");
    struct acog_json_value none = {.escaped = false};
    struct acog_buffer joined;
    size_t bytes = 2;
    for (size_t i = 0; i < count; i++) {
        bytes += texts[i].bytes.len + gap.len;
    }
    char *memory = acog_arena_take(builder->arena, bytes);
    if (memory == NULL) {
        builder->code = ACOG_NO_MEMORY;
        return none;
    }
    acog_buffer_init_over(&joined, memory, bytes);
    enum acog_code code = acog_buffer_append(&joined, ACOG_VIEW("\""));
    for (size_t i = 0; i < count; i++) {
        bool says = texts[i].bytes.len > 0;
        if (code == ACOG_OK && says && joined.len > 1) {
            code = acog_buffer_append(&joined, gap);
        }
        if (code == ACOG_OK && says) {
            code = acog_text_append_inside(&joined, texts[i]);
        }
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(&joined, ACOG_VIEW("\""));
    }
    ACOG_ASSERT(code == ACOG_OK);
    struct acog_json_value value = {
        .raw = acog_buffer_view(&joined), .type = ACOG_JSON_STRING, .escaped = true};
    return joined.len > 2 ? value : none;
}

static void read_function(struct tools_reader *reader, struct acog_json_value value)
{
    enum {
        ACOG_FOUND_TYPE,
        ACOG_FOUND_TOOL_NAME,
        ACOG_FOUND_DESCRIPTION,
        ACOG_FOUND_PARAMETERS,
        ACOG_FOUND_STRICT,
        ACOG_FOUND_CACHE
    };
    static const struct acog_view names[] = {{"type", 4},         {"name", 4},
                                             {"description", 11}, {"parameters", 10},
                                             {"strict", 6},       {"cache_control", 13}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(value, names, found, COUNT(names));
    struct acog_json_value schema = found[ACOG_FOUND_PARAMETERS];
    if (!acog_leaf_has_text(found[ACOG_FOUND_TOOL_NAME])) {
        refuse_tool(reader, ".name: must be a string");
        return;
    }
    if (acog_leaf_is_given(schema) && schema.type != ACOG_JSON_OBJECT) {
        refuse_tool(reader, ".parameters: must be an object");
        return;
    }
    struct acog_tool *tool = acog_builder_tool(reader->builder);
    if (tool == NULL) {
        return;
    }
    tool->name = found[ACOG_FOUND_TOOL_NAME];
    tool->description = acog_leaf_of_type(found[ACOG_FOUND_DESCRIPTION], ACOG_JSON_STRING);
    tool->schema = acog_leaf_of_type(schema, ACOG_JSON_OBJECT);
    tool->strict = acog_leaf_bool(found[ACOG_FOUND_STRICT]);
    tool->cache = acog_leaf_of_type(found[ACOG_FOUND_CACHE], ACOG_JSON_OBJECT);
    if (reader->inside) {
        const struct acog_text texts[] = {acog_text_of(reader->about),
                                          acog_text_of(tool->description)};
        tool->description = join(reader->builder, texts, COUNT(texts));
        identify(reader, tool, false);
    }
    acog_builder_unknown_members(reader->builder, ACOG_VIEW("tools"), value, names, COUNT(names));
}

/* The grammar's definition, and what it is; both empty: there is none. */
static struct acog_text grammar_of(struct acog_json_value format, struct acog_text *heading)
{
    static const struct acog_view names[] = {{"syntax", 6}, {"definition", 10}};
    struct acog_json_value found[COUNT(names)] = {{.escaped = false}};
    if (format.type == ACOG_JSON_OBJECT) {
        acog_json_members(format, names, found, COUNT(names));
    }
    struct acog_text definition = acog_text_of(found[1]);
    if (definition.bytes.len == 0) {
        *heading = definition;
    } else if (acog_json_text_is(found[0], ACOG_VIEW("regex"))) {
        *heading = acog_text_plain(ACOG_VIEW("The input must match this regular expression:"));
    } else {
        *heading = acog_text_plain(ACOG_VIEW("The input must match this grammar:"));
    }
    return definition;
}

static bool is_plain_text(struct acog_json_value format)
{
    struct acog_json_value type = {.escaped = false};
    return !acog_leaf_is_given(format) ||
           (format.type == ACOG_JSON_OBJECT && acog_json_member(format, ACOG_VIEW("type"), &type) &&
            acog_json_text_is(type, ACOG_VIEW("text")));
}

/* A function with one argument. */
static void read_custom(struct tools_reader *reader, struct acog_json_value value)
{
    enum {
        ACOG_FOUND_TYPE,
        ACOG_FOUND_TOOL_NAME,
        ACOG_FOUND_DESCRIPTION,
        ACOG_FOUND_FORMAT,
        ACOG_FOUND_CACHE
    };
    static const struct acog_view names[] = {
        {"type", 4}, {"name", 4}, {"description", 11}, {"format", 6}, {"cache_control", 13}};
    const struct acog_view schema =
        ACOG_VIEW("{\"type\":\"object\",\"properties\":{\"" ACOG_IDENTITY_ARGUMENT
                  "\":{\"type\":\"string\"}},\"required\":[\"" ACOG_IDENTITY_ARGUMENT
                  "\"],\"additionalProperties\":false}");
    struct acog_json_value found[COUNT(names)];
    acog_json_members(value, names, found, COUNT(names));
    if (!acog_leaf_has_text(found[ACOG_FOUND_TOOL_NAME])) {
        refuse_tool(reader, ".name: must be a string");
        return;
    }
    struct acog_tool *tool = acog_builder_tool(reader->builder);
    if (tool == NULL) {
        return;
    }
    struct acog_text texts[4] = {acog_text_of(reader->about),
                                 acog_text_of(found[ACOG_FOUND_DESCRIPTION])};
    texts[3] = grammar_of(found[ACOG_FOUND_FORMAT], &texts[2]);
    tool->name = found[ACOG_FOUND_TOOL_NAME];
    tool->description = join(reader->builder, texts, COUNT(texts));
    tool->schema = (struct acog_json_value){.raw = schema, .type = ACOG_JSON_OBJECT};
    tool->cache = acog_leaf_of_type(found[ACOG_FOUND_CACHE], ACOG_JSON_OBJECT);
    identify(reader, tool, true);
    if (!is_plain_text(found[ACOG_FOUND_FORMAT])) {
        acog_builder_unknown(reader->builder, ACOG_LEAF_NAME("tools.format"));
    }
    acog_builder_unknown_members(reader->builder, ACOG_VIEW("tools"), value, names, COUNT(names));
}

static struct acog_json_value type_of(struct acog_json_value tool)
{
    struct acog_json_value type = {.escaped = false};
    if (tool.type == ACOG_JSON_OBJECT) {
        (void)acog_json_member(tool, ACOG_VIEW("type"), &type);
    }
    return type;
}

/* A tool that the client runs: false where it is of another type, or of none. */
static bool read_own(struct tools_reader *reader, struct acog_json_value value,
                     struct acog_json_value type)
{
    if (acog_json_text_is(type, ACOG_VIEW("function"))) {
        read_function(reader, value);
        return true;
    }
    if (acog_json_text_is(type, ACOG_VIEW("custom"))) {
        read_custom(reader, value);
        return true;
    }
    return false;
}

static void read_members(struct tools_reader *reader, struct acog_json_value tools)
{
    struct acog_json_cursor cursor = acog_json_enter(tools);
    for (reader->inner = 0; reader->builder->code == ACOG_OK && acog_json_next(&cursor);
         reader->inner++) {
        if (!read_own(reader, cursor.value, type_of(cursor.value))) {
            refuse_tool(reader, ".type: must be function or custom in a namespace");
        }
    }
}

static void read_namespace(struct tools_reader *reader, struct acog_json_value value)
{
    enum {
        ACOG_FOUND_TYPE,
        ACOG_FOUND_NAMESPACE_NAME,
        ACOG_FOUND_DESCRIPTION,
        ACOG_FOUND_TOOLS
    };
    static const struct acog_view names[] = {
        {"type", 4}, {"name", 4}, {"description", 11}, {"tools", 5}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(value, names, found, COUNT(names));
    if (!acog_leaf_has_text(found[ACOG_FOUND_NAMESPACE_NAME])) {
        refuse_tool(reader, ".name: must be a string");
        return;
    }
    if (found[ACOG_FOUND_TOOLS].type != ACOG_JSON_ARRAY) {
        refuse_tool(reader, ".tools: must be a list");
        return;
    }
    reader->about = acog_leaf_of_type(found[ACOG_FOUND_DESCRIPTION], ACOG_JSON_STRING);
    if (reader->about.raw.len > NAMESPACE_DESCRIPTION_MAX) {
        reader->about = (struct acog_json_value){.escaped = false};
        acog_builder_unknown(reader->builder, ACOG_LEAF_NAME("tools.description"));
    }
    reader->name_space =
        acog_builder_characters(reader->builder, acog_text_of(found[ACOG_FOUND_NAMESPACE_NAME]));
    reader->inside = true;
    read_members(reader, found[ACOG_FOUND_TOOLS]);
    reader->inside = false;
    reader->name_space = (struct acog_view){0};
    reader->about = (struct acog_json_value){.escaped = false};
    acog_builder_unknown_members(reader->builder, ACOG_VIEW("tools"), value, names, COUNT(names));
}

static void read_foreign(struct tools_reader *reader, struct acog_json_value value,
                         struct acog_json_value type)
{
    struct acog_json_value name = {.escaped = false};
    struct acog_tool *tool = acog_builder_tool(reader->builder);
    if (tool != NULL) {
        (void)acog_json_member(value, ACOG_VIEW("name"), &name);
        tool->name = acog_leaf_of_type(name, ACOG_JSON_STRING);
        tool->foreign = acog_text_of(type).bytes;
    }
}

static void read_tool(struct tools_reader *reader, struct acog_json_value value)
{
    struct acog_json_value type = type_of(value);
    if (!acog_leaf_has_text(type)) {
        refuse_tool(reader, ".type: must be a string");
    } else if (acog_json_text_is(type, ACOG_VIEW("namespace"))) {
        read_namespace(reader, value);
    } else if (!read_own(reader, value, type)) {
        read_foreign(reader, value, type);
    }
}

/* -- the names that are told ----------------------------------------------------------------------- */

/* As a STRING: its characters need no escapes. */
static struct acog_json_value keep_told(struct acog_conversation_builder *builder,
                                        struct acog_view told)
{
    char *raw = acog_arena_take(builder->arena, told.len + 2);
    if (raw == NULL) {
        builder->code = ACOG_NO_MEMORY;
        return (struct acog_json_value){.escaped = false};
    }
    raw[0] = '"';
    memcpy(raw + 1, told.ptr, told.len);
    raw[told.len + 1] = '"';
    return (struct acog_json_value){.raw = {.ptr = raw, .len = told.len + 2},
                                    .type = ACOG_JSON_STRING};
}

static void tell_name(struct acog_conversation_builder *builder, struct acog_tool *tool,
                      struct acog_tool_identity *identity, struct acog_id_index *taken)
{
    char memory[ACOG_IDENTITY_TOLD_MAX];
    struct acog_view told = acog_identity_told_name(identity, false, memory);
    if (acog_id_index_find(taken, told) != NULL) {
        told = acog_identity_told_name(identity, true, memory);
    }
    if (acog_id_index_find(taken, told) != NULL) {
        acog_builder_refuse(builder, "tools: two would be told as \"%.*s\"", ACOG_VIEW_FMT(told));
        return;
    }
    tool->name = keep_told(builder, told);
    identity->told = acog_text_of(tool->name).bytes;
    acog_id_index_add(taken, identity->told, tool);
}

/* No two tools under one name: functions keep theirs. */
static void tell_names(struct acog_conversation_builder *builder)
{
    struct acog_tool *tools = builder->conversation->tools;
    struct acog_id_index taken = {.room = 0};
    size_t count = 0;
    for (const struct acog_tool *tool = tools; tool != NULL; tool = tool->next) {
        count++;
    }
    if (builder->code == ACOG_OK) {
        builder->code = acog_id_index_init(&taken, count, builder->arena);
    }
    for (struct acog_tool *tool = tools; tool != NULL && builder->code == ACOG_OK;
         tool = tool->next) {
        if (tool->identity == NULL) {
            acog_id_index_add(&taken, acog_builder_characters(builder, acog_text_of(tool->name)),
                              tool);
        }
    }
    for (struct acog_tool *tool = tools; tool != NULL && builder->code == ACOG_OK;
         tool = tool->next) {
        if (tool->identity != NULL) {
            tell_name(builder, tool, tool->identity, &taken);
        }
    }
}

static void read_list(struct tools_reader *reader, struct acog_json_value tools)
{
    struct acog_json_cursor cursor = acog_json_enter(tools);
    for (reader->index = 0; tools.type == ACOG_JSON_ARRAY && acog_json_next(&cursor);
         reader->index++) {
        read_tool(reader, cursor.value);
    }
}

/* What two declarations of one tool have in common. */
static struct acog_view key_of(struct acog_conversation_builder *builder,
                               const struct acog_tool *tool)
{
    const struct acog_tool_identity *identity = tool->identity;
    struct acog_view space = identity == NULL ? (struct acog_view){0} : identity->name_space;
    struct acog_view name = identity == NULL
                                ? acog_builder_characters(builder, acog_text_of(tool->name))
                                : identity->name;
    size_t bytes = 2 + ACOG_DIGITS_MAX + space.len + name.len;
    struct acog_buffer key;
    char *memory = acog_arena_take(builder->arena, bytes);
    if (memory == NULL) {
        builder->code = ACOG_NO_MEMORY;
        return (struct acog_view){0};
    }
    acog_buffer_init_over(&key, memory, bytes);
    enum acog_code code = acog_buffer_format(
        &key, "%c%zu:", identity != NULL && identity->custom ? 'c' : 'f', space.len);
    if (code == ACOG_OK) {
        code = acog_buffer_append(&key, space);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(&key, name);
    }
    ACOG_ASSERT(code == ACOG_OK);
    return acog_buffer_view(&key);
}

/* The later declaration in the place of the earlier one. */
static void redeclare(struct acog_tool *earlier, const struct acog_tool *later)
{
    struct acog_tool *next = earlier->next;
    *earlier = *later;
    earlier->next = next;
}

/* The identities of those tools that are left. */
static void link_identities(struct tools_reader *reader)
{
    struct acog_conversation *conversation = reader->builder->conversation;
    reader->identity_end = &conversation->identities;
    reader->identity_count = 0;
    for (const struct acog_tool *tool = conversation->tools; tool != NULL; tool = tool->next) {
        if (tool->identity != NULL) {
            *reader->identity_end = tool->identity;
            reader->identity_end = &tool->identity->next;
            reader->identity_count++;
        }
    }
    *reader->identity_end = NULL;
    if (reader->identity_count > ACOG_IDENTITIES_MAX) {
        acog_builder_refuse(reader->builder, "tools: more than 512 are custom or in namespaces");
    }
}

/* Clients send the items of a conversation again and again, and each may declare what is declared: a tool is told once.
 * `first` links the first tool of an item. */
static void drop_redeclared(struct tools_reader *reader, struct acog_tool **first)
{
    struct acog_conversation_builder *builder = reader->builder;
    struct acog_id_index known = {.room = 0};
    size_t count = 0;
    for (const struct acog_tool *tool = builder->conversation->tools; tool != NULL;
         tool = tool->next) {
        count++;
    }
    builder->code = acog_id_index_init(&known, count, builder->arena);
    bool in_item = false;
    struct acog_tool **link = &builder->conversation->tools;
    while (builder->code == ACOG_OK && *link != NULL) {
        struct acog_tool *tool = *link;
        in_item = in_item || link == first;
        struct acog_view key = key_of(builder, tool);
        struct acog_tool *earlier = in_item ? acog_id_index_find(&known, key) : NULL;
        if (earlier != NULL && tool->foreign.len == 0) {
            redeclare(earlier, tool);
            *link = tool->next;
            continue;
        }
        if (tool->foreign.len == 0) {
            acog_id_index_add(&known, key, tool);
        }
        link = &tool->next;
    }
    builder->tool_end = link;
    link_identities(reader);
}

/* What a client declares on the way is declared from the beginning: no model minds. */
static void read_items(struct tools_reader *reader, struct acog_json_value input)
{
    static const struct acog_view names[] = {{"type", 4}, {"tools", 5}};
    struct acog_json_cursor cursor = acog_json_enter(input);
    struct acog_tool **end = reader->builder->tool_end;
    struct acog_tool **first = end == NULL ? &reader->builder->conversation->tools : end;
    reader->in_item = true;
    for (reader->item = 0; acog_json_next(&cursor); reader->item++) {
        struct acog_json_value found[COUNT(names)];
        acog_json_members(cursor.value, names, found, COUNT(names));
        if (acog_json_text_is(found[0], ACOG_VIEW("additional_tools"))) {
            read_list(reader, found[1]);
        }
    }
    if (reader->builder->code == ACOG_OK && *first != NULL) {
        drop_redeclared(reader, first);
    }
}

void acog_responses_read_tools(struct acog_conversation_builder *builder,
                               struct acog_json_value tools, struct acog_json_value input)
{
    struct tools_reader reader = {.builder = builder,
                                  .identity_end = &builder->conversation->identities};
    read_list(&reader, tools);
    if (input.type == ACOG_JSON_ARRAY &&
        acog_view_find(input.raw, ACOG_VIEW("\"additional_tools\"")) < input.raw.len) {
        read_items(&reader, input);
    }
    if (reader.identity_count > 0) {
        tell_names(builder);
    }
}

/* A tool that is not declared (any more) goes up under the name that it would have. */
struct acog_text acog_responses_told_name(struct acog_conversation_builder *builder,
                                          struct acog_json_value name_space,
                                          struct acog_json_value name)
{
    char memory[ACOG_IDENTITY_TOLD_MAX];
    struct acog_tool_identity called =
        acog_identity_make(acog_builder_characters(builder, acog_text_of(name_space)),
                           acog_builder_characters(builder, acog_text_of(name)));
    const struct acog_tool_identity *known =
        acog_identity_find(builder->conversation->identities, &called);
    if (known != NULL) {
        return acog_text_plain(known->told);
    }
    return acog_text_of(keep_told(builder, acog_identity_told_name(&called, false, memory)));
}
