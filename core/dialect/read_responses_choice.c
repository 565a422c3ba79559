/* read_responses_choice.c - which of its tools a request of OpenAI Responses lets the model call. */
#include "leaf.h"
#include "read_responses.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct choice {
    struct acog_json_value type;
    struct acog_json_value name;
    struct acog_json_value name_space;
    struct acog_json_value mode;
    struct acog_json_value tools;
};

static struct choice choice_of(struct acog_json_value object)
{
    static const struct acog_view names[] = {
        {"type", 4}, {"name", 4}, {"namespace", 9}, {"mode", 4}, {"tools", 5}};
    struct acog_json_value found[COUNT(names)] = {{.escaped = false}};
    if (object.type == ACOG_JSON_OBJECT) {
        acog_json_members(object, names, found, COUNT(names));
    }
    return (struct choice){found[0], found[1], found[2], found[3], found[4]};
}

/* A function by its name, `told`, and a foreign tool by its type. A tool in a namespace need not be named with it, but
 * may be, and so may the namespace alone. */
static bool means(const struct choice *entry, const struct acog_tool *tool, struct acog_view told)
{
    const struct acog_tool_identity *identity = tool->identity;
    if (identity == NULL) {
        bool foreign = tool->foreign.len > 0;
        return (foreign || !acog_leaf_is_given(entry->name_space)) &&
               acog_json_text_is(foreign ? entry->type : entry->name, told);
    }
    if (acog_json_text_is(entry->type, ACOG_VIEW("namespace"))) {
        return acog_json_text_is(entry->name, identity->name_space);
    }
    return acog_json_text_is(entry->name, identity->name) &&
           (!acog_leaf_is_given(entry->name_space) ||
            acog_json_text_is(entry->name_space, identity->name_space));
}

/* The tools that a choice lets the model use. */
struct allowed {
    struct choice entries[ACOG_ALLOWED_TOOLS_MAX];
    size_t count;
};

/* Each is read once, for each tool is looked for among them. */
static bool read_allowed(struct acog_conversation_builder *builder, struct acog_json_value list,
                         struct allowed *allowed)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    allowed->count = 0;
    if (list.type != ACOG_JSON_ARRAY) {
        acog_builder_refuse(builder, "tool_choice.tools: must be a list");
        return false;
    }
    while (acog_json_next(&cursor)) {
        if (allowed->count == ACOG_ALLOWED_TOOLS_MAX) {
            acog_builder_refuse(builder, "tool_choice.tools: more than %d", ACOG_ALLOWED_TOOLS_MAX);
            return false;
        }
        allowed->entries[allowed->count++] = choice_of(cursor.value);
    }
    return true;
}

static bool is_allowed(struct acog_conversation_builder *builder, const struct acog_tool *tool,
                       const struct allowed *allowed)
{
    struct acog_view told = tool->foreign.len > 0
                                ? tool->foreign
                                : acog_builder_characters(builder, acog_text_of(tool->name));
    size_t i = 0;
    while (i < allowed->count && !means(&allowed->entries[i], tool, told)) {
        i++;
    }
    return i < allowed->count;
}

/* The model may use some of the declared tools: the others are not told at all. */
static void keep_allowed(struct acog_conversation_builder *builder, struct acog_json_value list)
{
    struct acog_tool **end = &builder->conversation->tools;
    struct allowed allowed;
    if (!read_allowed(builder, list, &allowed)) {
        return;
    }
    for (struct acog_tool *tool = *end; tool != NULL; tool = tool->next) {
        if (is_allowed(builder, tool, &allowed)) {
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

/* The name under which the chosen tool is told. A function that is in no namespace has its name for itself. */
static struct acog_json_value chosen_name(struct acog_conversation_builder *builder,
                                          const struct choice *choice)
{
    const struct acog_tool *tool = builder->conversation->tools;
    const struct acog_tool *chosen = NULL;
    for (; tool != NULL && builder->code == ACOG_OK; tool = tool->next) {
        if (tool->foreign.len > 0 ||
            !means(choice, tool, acog_builder_characters(builder, acog_text_of(tool->name)))) {
            continue;
        }
        if (tool->identity == NULL) {
            return tool->name;
        }
        if (chosen != NULL) {
            acog_builder_refuse(builder, "tool_choice: more than one tool has that name");
        }
        chosen = tool;
    }
    if (chosen == NULL && acog_leaf_is_given(choice->name_space)) {
        acog_builder_refuse(builder, "tool_choice: no tool of that namespace has that name");
    }
    return chosen != NULL ? chosen->name : acog_leaf_of_type(choice->name, ACOG_JSON_STRING);
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
    } else if (acog_json_text_is(choice.type, ACOG_VIEW("function")) ||
               acog_json_text_is(choice.type, ACOG_VIEW("custom"))) {
        builder->conversation->tool_choice = ACOG_TOOL_CHOICE_NAMED;
        builder->conversation->tool_choice_name = chosen_name(builder, &choice);
    } else {
        struct acog_view type = acog_view_slice(acog_text_of(choice.type).bytes, 0, 64);
        acog_builder_refuse(builder,
                            "tool_choice: a tool of type \"%.*s\" cannot be chosen where the "
                            "request is translated",
                            ACOG_VIEW_FMT(type));
    }
}
