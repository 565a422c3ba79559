/* read_responses_tools.c - the tools of a request of OpenAI Responses, and which of them may be called. */
#include "leaf.h"
#include "read_responses.h"

#define ALLOWED_TOOLS_MAX 256 /* in a tool_choice; OpenAI takes half as many tools */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- tools ----------------------------------------------------------------------------------------- */

static void read_tool(struct acog_conversation_builder *builder, size_t index,
                      struct acog_json_value value)
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
    struct acog_json_value found[COUNT(names)] = {{.escaped = false}};
    if (value.type == ACOG_JSON_OBJECT) {
        acog_json_members(value, names, found, COUNT(names));
    }
    if (!acog_leaf_has_text(found[ACOG_FOUND_TYPE])) {
        acog_builder_refuse(builder, "tools[%zu].type: must be a string", index);
        return;
    }
    bool function = acog_json_text_is(found[ACOG_FOUND_TYPE], ACOG_VIEW("function"));
    if (function && !acog_leaf_has_text(found[ACOG_FOUND_TOOL_NAME])) {
        acog_builder_refuse(builder, "tools[%zu].name: must be a string", index);
        return;
    }
    struct acog_json_value schema = found[ACOG_FOUND_PARAMETERS];
    if (function && acog_leaf_is_given(schema) && schema.type != ACOG_JSON_OBJECT) {
        acog_builder_refuse(builder, "tools[%zu].parameters: must be an object", index);
        return;
    }
    struct acog_tool *tool = acog_builder_tool(builder);
    if (tool == NULL) {
        return;
    }
    tool->name = acog_leaf_of_type(found[ACOG_FOUND_TOOL_NAME], ACOG_JSON_STRING);
    if (!function) {
        tool->foreign = acog_text_of(found[ACOG_FOUND_TYPE]).bytes;
        return;
    }
    tool->description = acog_leaf_of_type(found[ACOG_FOUND_DESCRIPTION], ACOG_JSON_STRING);
    tool->schema = acog_leaf_of_type(schema, ACOG_JSON_OBJECT);
    tool->strict = acog_leaf_bool(found[ACOG_FOUND_STRICT]);
    tool->cache = acog_leaf_of_type(found[ACOG_FOUND_CACHE], ACOG_JSON_OBJECT);
    acog_builder_unknown_members(builder, ACOG_VIEW("tools"), value, names, COUNT(names));
}

void acog_responses_read_tools(struct acog_conversation_builder *builder,
                               struct acog_json_value tools)
{
    struct acog_json_cursor cursor = acog_json_enter(tools);
    size_t index = 0;
    while (tools.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        read_tool(builder, index++, cursor.value);
    }
}

/* -- tool choice ----------------------------------------------------------------------------------- */

struct choice {
    struct acog_json_value type;
    struct acog_json_value name;
    struct acog_json_value mode;
    struct acog_json_value tools;
};

static struct choice choice_of(struct acog_json_value object)
{
    static const struct acog_view names[] = {{"type", 4}, {"name", 4}, {"mode", 4}, {"tools", 5}};
    struct acog_json_value found[COUNT(names)] = {{.escaped = false}};
    if (object.type == ACOG_JSON_OBJECT) {
        acog_json_members(object, names, found, COUNT(names));
    }
    return (struct choice){found[0], found[1], found[2], found[3]};
}

/* A function by its name, anything else by its type. */
static bool is_allowed(struct acog_conversation_builder *builder, const struct acog_tool *tool,
                       struct acog_json_value allowed)
{
    struct acog_view wanted = tool->foreign;
    struct acog_json_cursor cursor = acog_json_enter(allowed);
    if (wanted.len == 0 &&
        acog_text_characters(acog_text_of(tool->name), builder->arena, &wanted) != ACOG_OK) {
        builder->code = ACOG_NO_MEMORY;
        return false;
    }
    while (acog_json_next(&cursor)) {
        struct choice entry = choice_of(cursor.value);
        if (acog_json_text_is(tool->foreign.len == 0 ? entry.name : entry.type, wanted)) {
            return true;
        }
    }
    return false;
}

/* What a choice may name: each tool is looked for among them. */
static bool is_allowed_list(struct acog_conversation_builder *builder,
                            struct acog_json_value allowed)
{
    struct acog_json_cursor cursor = acog_json_enter(allowed);
    size_t count = 0;
    if (allowed.type != ACOG_JSON_ARRAY) {
        acog_builder_refuse(builder, "tool_choice.tools: must be a list");
        return false;
    }
    while (count <= ALLOWED_TOOLS_MAX && acog_json_next(&cursor)) {
        count++;
    }
    if (count > ALLOWED_TOOLS_MAX) {
        acog_builder_refuse(builder, "tool_choice.tools: more than %d", ALLOWED_TOOLS_MAX);
    }
    return count <= ALLOWED_TOOLS_MAX;
}

/* The model may use some of the declared tools: the others are not told at all. */
static void keep_allowed(struct acog_conversation_builder *builder, struct acog_json_value allowed)
{
    struct acog_tool **end = &builder->conversation->tools;
    if (!is_allowed_list(builder, allowed)) {
        return;
    }
    for (struct acog_tool *tool = *end; tool != NULL; tool = tool->next) {
        if (is_allowed(builder, tool, allowed)) {
            *end = tool;
            end = &tool->next;
        }
    }
    *end = NULL;
    builder->tool_end = end;
    if (builder->conversation->tools == NULL) {
        acog_builder_refuse(builder, "tool_choice.tools: names no tool that is declared");
    }
}

static void read_choice_word(struct acog_conversation_builder *builder, struct acog_json_value word,
                             const char *place)
{
    enum acog_tool_choice *choice = &builder->conversation->tool_choice;
    if (acog_json_text_is(word, ACOG_VIEW("auto"))) {
        *choice = ACOG_TOOL_CHOICE_AUTO;
    } else if (acog_json_text_is(word, ACOG_VIEW("none"))) {
        *choice = ACOG_TOOL_CHOICE_NONE;
    } else if (acog_json_text_is(word, ACOG_VIEW("required"))) {
        *choice = ACOG_TOOL_CHOICE_REQUIRED;
    } else {
        acog_builder_refuse(builder, "%s: must be auto, none or required", place);
    }
}

void acog_responses_read_tool_choice(struct acog_conversation_builder *builder,
                                     struct acog_json_value value)
{
    if (!acog_leaf_is_given(value)) {
        return;
    }
    if (value.type != ACOG_JSON_OBJECT) {
        read_choice_word(builder, value, "tool_choice");
        return;
    }
    struct choice choice = choice_of(value);
    if (acog_json_text_is(choice.type, ACOG_VIEW("allowed_tools"))) {
        keep_allowed(builder, choice.tools);
        read_choice_word(builder, choice.mode, "tool_choice.mode");
    } else if (acog_json_text_is(choice.type, ACOG_VIEW("function"))) {
        builder->conversation->tool_choice = ACOG_TOOL_CHOICE_NAMED;
        builder->conversation->tool_choice_name = acog_leaf_of_type(choice.name, ACOG_JSON_STRING);
    } else {
        struct acog_view type = acog_view_slice(acog_text_of(choice.type).bytes, 0, 64);
        acog_builder_refuse(builder,
                            "tool_choice: a tool of type \"%.*s\" cannot be chosen where the "
                            "request is translated",
                            ACOG_VIEW_FMT(type));
    }
}
