/* read_chat.c - a request of chat/completions, as a conversation: its parameters. Its messages are read in
 * read_chat_messages.c.
 */
#include "read_chat.h"

#include "effort.h"
#include "leaf.h"
#include "user.h"

#define STOPS_MAX 256 /* more are no request */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct chat_reader {
    struct acog_conversation_builder *builder;
    struct acog_conversation *conversation;
    struct acog_json_value key;         /* of the member that is read */
    struct acog_json_value tool_choice; /* looked at when the tools are known */
    int64_t max_tokens;
    int64_t max_completion_tokens;
};

static bool is_true(struct acog_json_value value)
{
    return value.type == ACOG_JSON_TRUE;
}

static bool is_false(struct acog_json_value value)
{
    return value.type == ACOG_JSON_FALSE;
}

static struct acog_json_value string_or_none(struct acog_json_value value)
{
    return acog_leaf_of_type(value, ACOG_JSON_STRING);
}

/* -1: none. acog_dialect_read_request() refused what is no number. */
static int64_t number_of(struct acog_json_value value)
{
    int64_t number = -1;
    return acog_leaf_whole_number(value, &number) ? number : -1;
}

/* -- tools ----------------------------------------------------------------------------------------- */

static void refuse_tool(struct chat_reader *reader, size_t index, const char *what)
{
    acog_builder_refuse(reader->builder, "tools[%zu]%s", index, what);
}

/* What is in `function`, or in an entry of the older `functions`. */
static void read_function(struct chat_reader *reader, struct acog_json_value function, size_t index,
                          struct acog_tool *tool)
{
    static const struct acog_view names[] = {
        {"name", 4}, {"description", 11}, {"parameters", 10}, {"strict", 6}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(function, names, found, COUNT(names));
    if (!acog_leaf_has_text(found[0])) {
        refuse_tool(reader, index, ": must have a name");
    } else if (acog_leaf_is_given(found[2]) && found[2].type != ACOG_JSON_OBJECT) {
        refuse_tool(reader, index, ": its parameters must be an object");
    }
    tool->name = found[0];
    tool->description = string_or_none(found[1]);
    tool->schema = acog_leaf_of_type(found[2], ACOG_JSON_OBJECT);
    tool->strict = acog_leaf_bool(found[3]);
    acog_builder_unknown_members(reader->builder, ACOG_VIEW("tools"), function, names,
                                 COUNT(names));
}

static void read_foreign_tool(struct chat_reader *reader, struct acog_json_value type,
                              struct acog_json_value custom, size_t index, struct acog_tool *tool)
{
    struct acog_json_value name = {.raw = {0}};
    if (!acog_leaf_has_text(type)) {
        refuse_tool(reader, index, ".type: must be a string");
        return;
    }
    if (acog_json_text_is(type, ACOG_VIEW("function"))) {
        refuse_tool(reader, index, ".function: must be an object");
        return;
    }
    if (acog_json_text(type, reader->builder->arena, &tool->foreign) != ACOG_OK) {
        reader->builder->code = ACOG_NO_MEMORY;
    }
    (void)acog_json_member(custom, ACOG_VIEW("name"), &name);
    tool->name = string_or_none(name);
}

static void read_tools(struct chat_reader *reader, struct acog_json_value tools)
{
    static const struct acog_view names[] = {
        {"type", 4}, {"function", 8}, {"custom", 6}, {"cache_control", 13}};
    struct acog_json_cursor cursor = acog_json_enter(tools);
    for (size_t i = 0; reader->builder->code == ACOG_OK && !cursor.object; i++) {
        struct acog_json_value found[COUNT(names)];
        if (!acog_json_next(&cursor)) {
            return;
        }
        acog_json_members(cursor.value, names, found, COUNT(names));
        struct acog_tool *tool = acog_builder_tool(reader->builder);
        if (tool == NULL) {
            return;
        }
        tool->cache = acog_leaf_of_type(found[3], ACOG_JSON_OBJECT);
        if (found[1].type == ACOG_JSON_OBJECT) {
            read_function(reader, found[1], i, tool);
        } else {
            read_foreign_tool(reader, found[0], found[2], i, tool);
        }
        acog_builder_unknown_members(reader->builder, ACOG_VIEW("tools"), cursor.value, names,
                                     COUNT(names));
    }
}

static void read_functions(struct chat_reader *reader, struct acog_json_value functions)
{
    struct acog_json_cursor cursor = acog_json_enter(functions);
    for (size_t i = 0; reader->builder->code == ACOG_OK && !cursor.object; i++) {
        if (!acog_json_next(&cursor)) {
            return;
        }
        struct acog_tool *tool = acog_builder_tool(reader->builder);
        if (tool != NULL) {
            read_function(reader, cursor.value, i, tool);
        }
    }
}

/* -- the choice of a tool -------------------------------------------------------------------------- */

static void keep_tool_choice(struct chat_reader *reader, struct acog_json_value choice)
{
    reader->tool_choice = choice;
}

static enum acog_tool_choice choice_word(struct acog_json_value word)
{
    if (acog_json_text_is(word, ACOG_VIEW("auto"))) {
        return ACOG_TOOL_CHOICE_AUTO;
    }
    if (acog_json_text_is(word, ACOG_VIEW("none"))) {
        return ACOG_TOOL_CHOICE_NONE;
    }
    if (acog_json_text_is(word, ACOG_VIEW("required")) ||
        acog_json_text_is(word, ACOG_VIEW("any"))) { /* Mistral's word */
        return ACOG_TOOL_CHOICE_REQUIRED;
    }
    return ACOG_TOOL_CHOICE_UNSET;
}

static struct acog_json_value name_in(struct acog_json_value object)
{
    static const struct acog_view names[] = {{"function", 8}, {"custom", 6}, {"name", 4}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(object, names, found, COUNT(names));
    struct acog_json_value inner = found[0].type == ACOG_JSON_OBJECT ? found[0] : found[1];
    struct acog_json_value name = found[2];
    if (acog_json_present(inner)) {
        (void)acog_json_member(inner, ACOG_VIEW("name"), &name);
    }
    return string_or_none(name);
}

/* The names in a list of allowed tools, as written. */
struct allowed_names {
    struct acog_view names[ACOG_ALLOWED_TOOLS_MAX];
    size_t count;
};

/* False: more than there is room for. */
static bool read_allowed_names(struct acog_json_value list, struct allowed_names *allowed)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    allowed->count = 0;
    while (!cursor.object && acog_json_next(&cursor)) {
        if (allowed->count == ACOG_ALLOWED_TOOLS_MAX) {
            return false;
        }
        allowed->names[allowed->count++] = name_in(cursor.value).raw;
    }
    return true;
}

static bool is_allowed(const struct allowed_names *allowed, struct acog_json_value name)
{
    size_t i = 0;
    while (i < allowed->count && !acog_view_equal(allowed->names[i], name.raw)) {
        i++;
    }
    return i < allowed->count && name.raw.len > 0;
}

/* No other dialect has a list of allowed tools: only those are offered, which no model can step over. */
static void read_allowed_tools(struct chat_reader *reader, struct acog_json_value choice)
{
    static const struct acog_view names[] = {{"mode", 4}, {"tools", 5}};
    struct acog_json_value found[COUNT(names)];
    struct acog_json_value inner;
    struct allowed_names allowed;
    acog_json_members(acog_json_member(choice, ACOG_VIEW("allowed_tools"), &inner) ? inner : choice,
                      names, found, COUNT(names));
    if (!read_allowed_names(found[1], &allowed)) {
        acog_builder_refuse(reader->builder, "tool_choice: too many allowed tools");
        return;
    }
    struct acog_tool **link = &reader->conversation->tools;
    while (*link != NULL) {
        if (is_allowed(&allowed, (*link)->name)) {
            link = &(*link)->next;
        } else {
            *link = (*link)->next;
        }
    }
    reader->conversation->tool_choice = choice_word(found[0]);
    if (reader->conversation->tools == NULL) {
        acog_builder_refuse(reader->builder, "tool_choice: no declared tool is among the allowed");
    }
}

static void read_tool_choice(struct chat_reader *reader)
{
    struct acog_json_value choice = reader->tool_choice;
    struct acog_json_value type = {.raw = {0}};
    struct acog_conversation *conversation = reader->conversation;
    if (!acog_leaf_is_given(choice)) {
        return;
    }
    if (choice.type == ACOG_JSON_STRING) {
        conversation->tool_choice = choice_word(choice);
        if (conversation->tool_choice == ACOG_TOOL_CHOICE_UNSET) {
            acog_builder_refuse(reader->builder, "tool_choice: must be none, auto or required, or "
                                                 "name a tool");
        }
        return;
    }
    (void)acog_json_member(choice, ACOG_VIEW("type"), &type);
    if (acog_json_text_is(type, ACOG_VIEW("allowed_tools"))) {
        read_allowed_tools(reader, choice);
        return;
    }
    struct acog_json_value name = name_in(choice);
    if (acog_json_present(name)) {
        conversation->tool_choice = ACOG_TOOL_CHOICE_NAMED;
        conversation->tool_choice_name = name;
    } else {
        acog_builder_refuse(reader->builder, "tool_choice: must name a tool");
    }
}

static void read_parallel(struct chat_reader *reader, struct acog_json_value parallel)
{
    reader->conversation->parallel_off = is_false(parallel);
}

/* -- the answer's form and limits ------------------------------------------------------------------ */

static void read_schema(struct chat_reader *reader, struct acog_json_value object,
                        const char *place)
{
    static const struct acog_view names[] = {
        {"schema", 6}, {"name", 4}, {"description", 11}, {"strict", 6}};
    struct acog_json_value found[COUNT(names)];
    struct acog_conversation *conversation = reader->conversation;
    acog_json_members(object, names, found, COUNT(names));
    if (found[0].type != ACOG_JSON_OBJECT) {
        acog_builder_refuse(reader->builder, "response_format.%s: must be an object", place);
        return;
    }
    conversation->format = ACOG_FORMAT_SCHEMA;
    conversation->schema = found[0];
    conversation->schema_name = string_or_none(found[1]);
    conversation->schema_description = string_or_none(found[2]);
    conversation->schema_strict = acog_leaf_bool(found[3]);
}

static void read_format(struct chat_reader *reader, struct acog_json_value format)
{
    static const struct acog_view names[] = {{"type", 4}, {"json_schema", 11}, {"schema", 6}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(format, names, found, COUNT(names));
    if (!acog_leaf_is_given(format) || acog_json_text_is(found[0], ACOG_VIEW("text"))) {
        return;
    }
    bool object = acog_json_text_is(found[0], ACOG_VIEW("json_object"));
    if (object && acog_leaf_is_given(found[2])) { /* llama.cpp, Together, Fireworks */
        read_schema(reader, format, "schema");
    } else if (object) {
        reader->conversation->format = ACOG_FORMAT_JSON;
    } else if (acog_json_text_is(found[0], ACOG_VIEW("json_schema"))) {
        read_schema(reader, found[1], "json_schema.schema");
    } else {
        acog_builder_refuse(reader->builder,
                            "response_format.type: must be text, json_object or json_schema for a "
                            "model that is reached by translation");
    }
}

static void read_max_tokens(struct chat_reader *reader, struct acog_json_value limit)
{
    reader->max_tokens = number_of(limit);
}

static void read_max_completion_tokens(struct chat_reader *reader, struct acog_json_value limit)
{
    reader->max_completion_tokens = number_of(limit);
}

static void add_stop(struct chat_reader *reader, struct acog_json_value stop)
{
    struct acog_conversation *conversation = reader->conversation;
    if (stop.type != ACOG_JSON_STRING) {
        acog_builder_refuse(reader->builder, "stop: must be a string or a list of strings");
    } else if (stop.raw.len <= 2 || conversation->stop_count == STOPS_MAX) {
        acog_builder_unknown(reader->builder, reader->key);
    } else {
        conversation->stops[conversation->stop_count++] = stop;
    }
}

static size_t count_of(struct acog_json_value list)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    size_t count = 0;
    while (count < STOPS_MAX && acog_json_next(&cursor)) {
        count++;
    }
    return count;
}

/* Sequences of white space only are kept: it depends on the upstream whether they are taken (B11). */
static void read_stop(struct chat_reader *reader, struct acog_json_value stop)
{
    struct acog_json_cursor cursor = acog_json_enter(stop);
    struct acog_conversation *conversation = reader->conversation;
    size_t count = stop.type == ACOG_JSON_ARRAY ? count_of(stop) : 1;
    if (!acog_leaf_is_given(stop) || count == 0) {
        return;
    }
    conversation->stops =
        acog_arena_take(reader->builder->arena, count * sizeof(conversation->stops[0]));
    if (conversation->stops == NULL) {
        reader->builder->code = ACOG_NO_MEMORY;
        return;
    }
    if (stop.type != ACOG_JSON_ARRAY) {
        add_stop(reader, stop);
        return;
    }
    while (reader->builder->code == ACOG_OK && acog_json_next(&cursor)) {
        add_stop(reader, cursor.value);
    }
}

static void read_n(struct chat_reader *reader, struct acog_json_value n)
{
    reader->conversation->unfaithful_choices = number_of(n) > 1;
}

/* -- reasoning ------------------------------------------------------------------------------------- */

static void read_effort(struct chat_reader *reader, struct acog_json_value word)
{
    struct acog_reasoning_wish *wish = &reader->conversation->reasoning;
    enum acog_effort effort = acog_effort_of(word);
    if (!acog_leaf_is_given(word)) {
        return;
    }
    if (effort == ACOG_EFFORT_COUNT) {
        acog_builder_unknown(reader->builder, reader->key);
        return;
    }
    wish->given = true;
    wish->off = effort == ACOG_EFFORT_NONE;
    wish->effort = effort;
}

/* OpenRouter's {"effort":…,"max_tokens":…,"enabled":…,"exclude":…}. */
static void read_reasoning(struct chat_reader *reader, struct acog_json_value reasoning)
{
    static const struct acog_view names[] = {
        {"effort", 6}, {"max_tokens", 10}, {"enabled", 7}, {"exclude", 7}};
    struct acog_json_value found[COUNT(names)];
    struct acog_reasoning_wish *wish = &reader->conversation->reasoning;
    if (!acog_leaf_is_given(reasoning)) {
        return;
    }
    acog_json_members(reasoning, names, found, COUNT(names));
    read_effort(reader, found[0]);
    int64_t budget = number_of(found[1]);
    if (budget >= 0) {
        wish->given = true;
        wish->budget_tokens = budget;
        wish->off = budget == 0;
    }
    if (is_false(found[2])) {
        wish->given = true;
        wish->off = true;
    } else if (is_true(found[2]) && !wish->given) {
        wish->given = true;
        wish->effort = ACOG_EFFORT_MEDIUM; /* what that switch stands for */
    }
    wish->summary = wish->given && !wish->off && !is_true(found[3]);
    acog_builder_unknown_members(reader->builder, ACOG_VIEW("reasoning"), reasoning, names,
                                 COUNT(names));
}

/* LiteLLM's, as Anthropic has it; DeepSeek and GLM know it without a budget. */
static void read_thinking(struct chat_reader *reader, struct acog_json_value thinking)
{
    static const struct acog_view names[] = {{"type", 4}, {"budget_tokens", 13}};
    struct acog_json_value found[COUNT(names)];
    struct acog_reasoning_wish *wish = &reader->conversation->reasoning;
    acog_json_members(thinking, names, found, COUNT(names));
    int64_t budget = number_of(found[1]);
    bool off = acog_json_text_is(found[0], ACOG_VIEW("disabled"));
    bool on = acog_json_text_is(found[0], ACOG_VIEW("enabled"));
    bool adaptive = acog_json_text_is(found[0], ACOG_VIEW("adaptive"));
    if (!off && !on && !adaptive) {
        acog_builder_field(reader->builder, ACOG_DIALECT_CHAT, reader->key, thinking);
        return;
    }
    wish->given = true;
    wish->off = off;
    wish->adaptive = !off && (adaptive || budget < 0);
    wish->budget_tokens = on && budget > 0 ? budget : wish->budget_tokens;
    wish->summary = !off;
}

/* -- single fields --------------------------------------------------------------------------------- */

static void read_user(struct chat_reader *reader, struct acog_json_value user)
{
    acog_builder_user(reader->builder, reader->key, user);
}

static void read_stream(struct chat_reader *reader, struct acog_json_value stream)
{
    reader->conversation->stream = is_true(stream);
}

/* include_usage is the gateway's business (B51), and no client reads an obfuscation. */
static void read_stream_options(struct chat_reader *reader, struct acog_json_value options)
{
    static const struct acog_view names[] = {{"include_usage", 13}, {"include_obfuscation", 19}};
    acog_builder_unknown_members(reader->builder, ACOG_VIEW("stream_options"), options, names,
                                 COUNT(names));
}

/* `false` is what there is without it. */
static void read_logprobs(struct chat_reader *reader, struct acog_json_value logprobs)
{
    if (!is_false(logprobs)) {
        acog_builder_field(reader->builder, ACOG_DIALECT_CHAT, reader->key, logprobs);
    }
}

/* Text alone is what there is without it. */
static void read_modalities(struct chat_reader *reader, struct acog_json_value modalities)
{
    struct acog_json_cursor cursor = acog_json_enter(modalities);
    bool text_only = modalities.type == ACOG_JSON_ARRAY;
    while (text_only && acog_json_next(&cursor)) {
        text_only = acog_json_text_is(cursor.value, ACOG_VIEW("text"));
    }
    if (!text_only) {
        acog_builder_field(reader->builder, ACOG_DIALECT_CHAT, reader->key, modalities);
    }
}

static void read_messages(struct chat_reader *reader, struct acog_json_value messages)
{
    acog_chat_read_messages(reader->builder, messages);
}

/* The candidate's model is sent. */
static void read_model(struct chat_reader *reader, struct acog_json_value model)
{
    (void)reader;
    (void)model;
}

/* -- the request ----------------------------------------------------------------------------------- */

struct field {
    struct acog_view name;
    void (*read)(struct chat_reader *reader, struct acog_json_value value);
};

#define FIELD(text, function)                  \
    {                                          \
        {(text), sizeof(text) - 1}, (function) \
    }

static const struct field fields[] = {
    FIELD("model", read_model),
    FIELD("messages", read_messages),
    FIELD("stream", read_stream),
    FIELD("stream_options", read_stream_options),
    FIELD("tools", read_tools),
    FIELD("functions", read_functions),
    FIELD("tool_choice", keep_tool_choice),
    FIELD("function_call", keep_tool_choice),
    FIELD("parallel_tool_calls", read_parallel),
    FIELD("response_format", read_format),
    FIELD("max_tokens", read_max_tokens),
    FIELD("max_completion_tokens", read_max_completion_tokens),
    FIELD("stop", read_stop),
    FIELD("n", read_n),
    FIELD("reasoning_effort", read_effort),
    FIELD("reasoning", read_reasoning),
    FIELD("thinking", read_thinking),
    FIELD("user", read_user),
    FIELD("logprobs", read_logprobs),
    FIELD("modalities", read_modalities),
};

static void read_member(struct chat_reader *reader, const struct acog_json_cursor *cursor)
{
    reader->key = cursor->key;
    for (size_t i = 0; i < COUNT(fields); i++) {
        if (acog_json_key_is(cursor, fields[i].name)) {
            fields[i].read(reader, cursor->value);
            return;
        }
    }
    acog_builder_field(reader->builder, ACOG_DIALECT_CHAT, cursor->key, cursor->value);
}

void acog_chat_read_conversation(struct acog_conversation_builder *builder,
                                 struct acog_json_value body)
{
    struct chat_reader reader = {.builder = builder,
                                 .conversation = builder->conversation,
                                 .max_tokens = -1,
                                 .max_completion_tokens = -1};
    struct acog_json_cursor cursor = acog_json_enter(body);
    while (builder->code == ACOG_OK && acog_json_next(&cursor)) {
        read_member(&reader, &cursor);
    }
    read_tool_choice(&reader);
    /* The newer name counts (B10). */
    builder->conversation->max_tokens =
        reader.max_completion_tokens >= 0 ? reader.max_completion_tokens : reader.max_tokens;
}
