/* read_messages.c - a client's Anthropic Messages request, as a conversation: its parameters. Its messages and their
 * blocks are read in read_messages_content.c.
 *
 * What only Anthropic has and nobody needs for a faithful answer is named as dropped; what only Anthropic can do (its
 * own tools, connectors, containers) is kept as foreign, and refused where another provider is to serve (fits.c).
 */
#include "read_messages.h"

#include "effort.h"
#include "user.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- tools ----------------------------------------------------------------------------------------- */

static bool is_custom(struct acog_json_value type)
{
    return type.type == ACOG_JSON_NULL || acog_json_text_is(type, ACOG_VIEW("custom"));
}

/* A tool that the client runs. */
static void read_custom_tool(struct acog_conversation_builder *builder, struct acog_tool *tool,
                             struct acog_json_value object)
{
    struct acog_json_cursor cursor = acog_json_enter(object);
    while (acog_json_next(&cursor)) {
        struct acog_json_value value = cursor.value;
        if (value.type == ACOG_JSON_NULL || acog_json_key_is(&cursor, ACOG_VIEW("type")) ||
            acog_json_key_is(&cursor, ACOG_VIEW("name"))) {
            continue;
        }
        if (acog_json_key_is(&cursor, ACOG_VIEW("description"))) {
            tool->description = value;
        } else if (acog_json_key_is(&cursor, ACOG_VIEW("input_schema"))) {
            tool->schema = value;
        } else if (acog_json_key_is(&cursor, ACOG_VIEW("strict"))) {
            tool->strict = value;
        } else if (acog_json_key_is(&cursor, ACOG_VIEW("cache_control"))) {
            tool->cache = value;
        } else {
            acog_builder_unknown_member(builder, ACOG_VIEW("tools"), cursor.key);
        }
    }
    if (acog_json_present(tool->schema) && tool->schema.type != ACOG_JSON_OBJECT) {
        acog_builder_refuse(builder, "tools: an input_schema must be an object");
    }
}

static void read_tools(struct acog_conversation_builder *builder, struct acog_json_value tools)
{
    static const struct acog_view names[] = {{"type", 4}, {"name", 4}};
    struct acog_json_cursor cursor = acog_json_enter(tools);
    for (size_t i = 0; acog_json_next(&cursor) && builder->code == ACOG_OK; i++) {
        struct acog_json_value found[COUNT(names)];
        acog_json_members(cursor.value, names, found, COUNT(names));
        bool named = acog_text_of(found[1]).bytes.len > 0; /* a set of tools has no name */
        if (cursor.value.type != ACOG_JSON_OBJECT || (is_custom(found[0]) && !named)) {
            acog_builder_refuse(builder, "tools[%zu].name: must be a string that says something",
                                i);
            return;
        }
        if (!is_custom(found[0]) && acog_text_of(found[0]).bytes.len == 0) {
            acog_builder_refuse(builder, "tools[%zu].type: must be a string that says something",
                                i);
            return;
        }
        struct acog_tool *tool = acog_builder_tool(builder);
        if (tool == NULL) {
            return;
        }
        tool->name = found[1];
        if (is_custom(found[0])) {
            read_custom_tool(builder, tool, cursor.value);
        } else {
            tool->foreign = acog_text_of(found[0]).bytes;
        }
    }
}

static void read_tool_choice(struct acog_conversation_builder *builder,
                             struct acog_json_value choice)
{
    static const struct acog_view names[] = {
        {"type", 4}, {"name", 4}, {"disable_parallel_tool_use", 25}};
    struct acog_conversation *conversation = builder->conversation;
    struct acog_json_value found[COUNT(names)];
    acog_json_members(choice, names, found, COUNT(names));
    conversation->parallel_off = found[2].type == ACOG_JSON_TRUE;
    if (acog_json_text_is(found[0], ACOG_VIEW("auto"))) {
        conversation->tool_choice = ACOG_TOOL_CHOICE_AUTO;
    } else if (acog_json_text_is(found[0], ACOG_VIEW("any"))) {
        conversation->tool_choice = ACOG_TOOL_CHOICE_REQUIRED;
    } else if (acog_json_text_is(found[0], ACOG_VIEW("none"))) {
        conversation->tool_choice = ACOG_TOOL_CHOICE_NONE;
    } else if (acog_json_text_is(found[0], ACOG_VIEW("tool")) &&
               found[1].type == ACOG_JSON_STRING) {
        conversation->tool_choice = ACOG_TOOL_CHOICE_NAMED;
        conversation->tool_choice_name = found[1];
    } else {
        acog_builder_refuse(builder,
                            "tool_choice: its type must be auto, any, none, or tool with a name");
    }
}

/* -- how to answer --------------------------------------------------------------------------------- */

/* Zero has a meaning of its own at Anthropic, which nobody else has (B10). */
static void read_max_tokens(struct acog_conversation_builder *builder, struct acog_json_value value)
{
    int64_t number = 0;
    if (!acog_json_int(value, &number) || number < 1) {
        acog_builder_refuse(builder,
                            "max_tokens: must be at least 1 for a model that is reached by "
                            "translation");
    }
    builder->conversation->max_tokens = number;
}

static void read_stops(struct acog_conversation_builder *builder, struct acog_json_value list)
{
    struct acog_conversation *conversation = builder->conversation;
    size_t count = 0;
    struct acog_json_cursor cursor = acog_json_enter(list);
    while (acog_json_next(&cursor)) {
        if (cursor.value.type != ACOG_JSON_STRING) {
            acog_builder_refuse(builder, "stop_sequences[%zu]: must be a string", count);
            return;
        }
        count++;
    }
    if (list.type != ACOG_JSON_ARRAY) {
        acog_builder_refuse(builder, "stop_sequences: must be a list of strings");
    }
    if (count == 0 || builder->code != ACOG_OK) {
        return;
    }
    conversation->stops = acog_arena_take(builder->arena, count * sizeof(*conversation->stops));
    if (conversation->stops == NULL) {
        builder->code = ACOG_NO_MEMORY;
        return;
    }
    cursor = acog_json_enter(list);
    while (acog_json_next(&cursor)) {
        conversation->stops[conversation->stop_count++] = cursor.value;
    }
}

/* Anthropic shows what was thought unless told not to. Thinking between tools only is how it is switched off where it
 * cannot be disabled. */
static void read_thinking(struct acog_conversation_builder *builder, struct acog_json_value object)
{
    static const struct acog_view names[] = {{"type", 4}, {"budget_tokens", 13}, {"display", 7}};
    struct acog_reasoning_wish *wish = &builder->conversation->reasoning;
    struct acog_json_value found[COUNT(names)];
    acog_json_members(object, names, found, COUNT(names));
    if (acog_json_text_is(found[0], ACOG_VIEW("disabled")) ||
        acog_json_text_is(found[0], ACOG_VIEW("between_tools"))) {
        wish->off = true;
    } else if (acog_json_text_is(found[0], ACOG_VIEW("adaptive"))) {
        wish->adaptive = true;
    } else if (!acog_json_text_is(found[0], ACOG_VIEW("enabled")) ||
               !acog_json_int(found[1], &wish->budget_tokens) || wish->budget_tokens < 1) {
        acog_builder_refuse(
            builder, "thinking: must be adaptive, disabled, between_tools, or enabled with its "
                     "budget_tokens");
    }
    wish->given = true;
    wish->summary = !wish->off && !acog_json_text_is(found[2], ACOG_VIEW("omitted"));
}

/* `output_config.format`, or `output_format` as it was called before. */
static void read_format(struct acog_conversation_builder *builder, struct acog_json_value format)
{
    static const struct acog_view names[] = {{"type", 4}, {"schema", 6}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(format, names, found, COUNT(names));
    if (format.type == ACOG_JSON_NULL) {
        return;
    }
    if (!acog_json_text_is(found[0], ACOG_VIEW("json_schema")) ||
        found[1].type != ACOG_JSON_OBJECT) {
        acog_builder_refuse(builder, "output_config.format: must be a json_schema with its schema");
    }
    builder->conversation->format = ACOG_FORMAT_SCHEMA;
    builder->conversation->schema = found[1];
}

static void read_output_config(struct acog_conversation_builder *builder,
                               struct acog_json_value object)
{
    struct acog_reasoning_wish *wish = &builder->conversation->reasoning;
    struct acog_json_cursor cursor = acog_json_enter(object);
    if (!cursor.object) {
        acog_builder_refuse(builder, "output_config: must be an object");
        return;
    }
    while (acog_json_next(&cursor)) {
        if (cursor.value.type == ACOG_JSON_NULL) {
            continue;
        }
        if (acog_json_key_is(&cursor, ACOG_VIEW("format"))) {
            read_format(builder, cursor.value);
        } else if (acog_json_key_is(&cursor, ACOG_VIEW("effort")) &&
                   acog_effort_of(cursor.value) != ACOG_EFFORT_COUNT) {
            wish->given = true;
            wish->effort = acog_effort_of(cursor.value);
        } else {
            acog_builder_unknown_member(builder, ACOG_VIEW("output_config"), cursor.key);
        }
    }
}

static void read_metadata(struct acog_conversation_builder *builder, struct acog_json_value object)
{
    static const struct acog_json_value user_name = {.raw = {"\"metadata.user_id\"", 18},
                                                     .type = ACOG_JSON_STRING};
    struct acog_json_cursor cursor = acog_json_enter(object);
    while (cursor.object && acog_json_next(&cursor)) {
        if (cursor.value.type == ACOG_JSON_NULL) {
            continue;
        }
        if (acog_json_key_is(&cursor, ACOG_VIEW("user_id")) &&
            cursor.value.type == ACOG_JSON_STRING) {
            acog_builder_user(builder, user_name, cursor.value);
        } else {
            acog_builder_unknown_member(builder, ACOG_VIEW("metadata"), cursor.key);
        }
    }
}

/* State that the provider would keep: another one cannot be asked to go on with it (decision 14). */
static void read_thread(struct acog_conversation_builder *builder, struct acog_json_value value)
{
    (void)value;
    acog_builder_refuse(builder,
                        "thread: the conversation cannot be held by the provider that serves "
                        "this model; send all of its messages, without thread");
}

static void read_stream(struct acog_conversation_builder *builder, struct acog_json_value value)
{
    builder->conversation->stream = value.type == ACOG_JSON_TRUE;
}

/* The model is chosen, the version of the API is that of the connection, and `system` is read before all. */
static void read_nothing(struct acog_conversation_builder *builder, struct acog_json_value value)
{
    (void)builder;
    (void)value;
}

/* -- the body -------------------------------------------------------------------------------------- */

static const struct {
    struct acog_view name;
    void (*read)(struct acog_conversation_builder *builder, struct acog_json_value value);
} members[] = {
    {{"model", 5}, read_nothing},
    {{"anthropic_version", 17}, read_nothing},
    {{"stream", 6}, read_stream},
    {{"max_tokens", 10}, read_max_tokens},
    {{"system", 6}, read_nothing},
    {{"messages", 8}, acog_messages_read_turns},
    {{"tools", 5}, read_tools},
    {{"tool_choice", 11}, read_tool_choice},
    {{"stop_sequences", 14}, read_stops},
    {{"thinking", 8}, read_thinking},
    {{"output_config", 13}, read_output_config},
    {{"output_format", 13}, read_format},
    {{"metadata", 8}, read_metadata},
    {{"thread", 6}, read_thread},
};

/* An empty list asks for nothing, whatever the field would ask for. */
static bool asks_for_nothing(struct acog_json_value value)
{
    struct acog_json_cursor cursor = acog_json_enter(value);
    return value.type == ACOG_JSON_NULL ||
           (value.type == ACOG_JSON_ARRAY && !acog_json_next(&cursor));
}

void acog_messages_read_conversation(struct acog_conversation_builder *builder,
                                     struct acog_json_value body)
{
    struct acog_json_cursor cursor = acog_json_enter(body);
    struct acog_json_value system;
    if (acog_json_member(body, ACOG_VIEW("system"), &system)) {
        acog_messages_read_system(builder, system);
    }
    while (builder->code == ACOG_OK && acog_json_next(&cursor)) {
        size_t i = 0;
        while (i < COUNT(members) && !acog_json_key_is(&cursor, members[i].name)) {
            i++;
        }
        if (asks_for_nothing(cursor.value)) {
            continue;
        }
        if (i < COUNT(members)) {
            members[i].read(builder, cursor.value);
        } else {
            acog_builder_field(builder, ACOG_DIALECT_MESSAGES, cursor.key, cursor.value);
        }
    }
}
