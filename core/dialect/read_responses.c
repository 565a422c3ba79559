/* read_responses.c - a request of OpenAI Responses as a conversation: everything but the input (read_responses_input.c)
 * and the tools (read_responses_tools.c).
 *
 * What asks for kept state (previous_response_id, conversation) is refused here, prompt and background are where the
 * request is translated (B40). What only says how the API would behave anyway is nothing: background false,
 * store false, truncation disabled, include reasoning.encrypted_content, which always comes back (opaque.h).
 */
#include "read_responses.h"

#include "effort.h"
#include "leaf.h"
#include "user.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct acog_json_value string_or_none(struct acog_json_value value)
{
    return acog_leaf_of_type(value, ACOG_JSON_STRING);
}

static struct acog_json_value object_or_none(struct acog_json_value value)
{
    return acog_leaf_of_type(value, ACOG_JSON_OBJECT);
}

/* -- text and reasoning ---------------------------------------------------------------------------- */

static void read_schema(struct acog_conversation *conversation, struct acog_json_value format)
{
    enum {
        ACOG_FOUND_SCHEMA,
        ACOG_FOUND_SCHEMA_NAME,
        ACOG_FOUND_DESCRIPTION,
        ACOG_FOUND_STRICT
    };
    static const struct acog_view names[] = {
        {"schema", 6}, {"name", 4}, {"description", 11}, {"strict", 6}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(format, names, found, COUNT(names));
    conversation->format = ACOG_FORMAT_SCHEMA;
    conversation->schema = object_or_none(found[ACOG_FOUND_SCHEMA]);
    conversation->schema_name = string_or_none(found[ACOG_FOUND_SCHEMA_NAME]);
    conversation->schema_description = string_or_none(found[ACOG_FOUND_DESCRIPTION]);
    conversation->schema_strict = acog_leaf_bool(found[ACOG_FOUND_STRICT]);
}

static void read_format(struct acog_conversation_builder *builder, struct acog_json_value format)
{
    struct acog_json_value type = {0};
    if (!acog_leaf_is_given(format)) {
        return;
    }
    if (format.type == ACOG_JSON_OBJECT) {
        (void)acog_json_member(format, ACOG_VIEW("type"), &type);
    }
    if (acog_json_text_is(type, ACOG_VIEW("json_schema"))) {
        read_schema(builder->conversation, format);
        if (!acog_json_present(builder->conversation->schema)) {
            acog_builder_refuse(builder, "text.format.schema: must be an object");
        }
    } else if (acog_json_text_is(type, ACOG_VIEW("json_object"))) {
        builder->conversation->format = ACOG_FORMAT_JSON;
    } else if (!acog_json_text_is(type, ACOG_VIEW("text"))) {
        acog_builder_refuse(builder, "text.format.type: must be text, json_object or json_schema");
    }
}

static void read_text_settings(struct acog_conversation_builder *builder,
                               struct acog_json_value text)
{
    static const struct acog_view names[] = {{"format", 6}, {"verbosity", 9}};
    struct acog_json_value found[COUNT(names)];
    if (text.type == ACOG_JSON_OBJECT) {
        acog_json_members(text, names, found, COUNT(names));
        read_format(builder, found[0]);
        acog_builder_field(builder, ACOG_DIALECT_RESPONSES, ACOG_LEAF_NAME("text.verbosity"),
                           found[1]);
        acog_builder_unknown_members(builder, ACOG_VIEW("text"), text, names, COUNT(names));
    }
}

static void read_reasoning_member(struct acog_conversation_builder *builder,
                                  const struct acog_json_cursor *cursor)
{
    struct acog_reasoning_wish *wish = &builder->conversation->reasoning;
    if (acog_json_key_is(cursor, ACOG_VIEW("effort"))) {
        wish->effort = acog_effort_of(cursor->value);
        wish->off = wish->effort == ACOG_EFFORT_NONE;
        if (wish->effort == ACOG_EFFORT_COUNT) {
            acog_builder_unknown(builder, ACOG_LEAF_NAME("reasoning.effort"));
        }
    } else if (acog_json_key_is(cursor, ACOG_VIEW("summary")) ||
               acog_json_key_is(cursor, ACOG_VIEW("generate_summary"))) {
        wish->summary = true;
    } else {
        acog_builder_unknown_member(builder, ACOG_VIEW("reasoning"), cursor->key);
    }
}

static void read_reasoning(struct acog_conversation_builder *builder, struct acog_json_value value)
{
    struct acog_reasoning_wish *wish = &builder->conversation->reasoning;
    struct acog_json_cursor cursor = acog_json_enter(value);
    while (value.type == ACOG_JSON_OBJECT && acog_json_next(&cursor)) {
        if (acog_leaf_is_given(cursor.value)) {
            read_reasoning_member(builder, &cursor);
        }
    }
    wish->given = wish->effort != ACOG_EFFORT_COUNT || wish->summary;
}

/* -- what says nothing new ------------------------------------------------------------------------- */

static bool asks_only_for_reasoning(struct acog_json_value include)
{
    struct acog_json_cursor cursor = acog_json_enter(include);
    while (include.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        if (!acog_json_text_is(cursor.value, ACOG_VIEW("reasoning.encrypted_content"))) {
            return false;
        }
    }
    return include.type == ACOG_JSON_ARRAY;
}

/* A field whose value is what happens without it. */
static bool is_nothing(const struct acog_json_cursor *cursor)
{
    if (acog_json_key_is(cursor, ACOG_VIEW("background")) ||
        acog_json_key_is(cursor, ACOG_VIEW("store"))) {
        return cursor->value.type == ACOG_JSON_FALSE;
    }
    if (acog_json_key_is(cursor, ACOG_VIEW("truncation"))) {
        return acog_json_text_is(cursor->value, ACOG_VIEW("disabled"));
    }
    if (acog_json_key_is(cursor, ACOG_VIEW("include"))) {
        return asks_only_for_reasoning(cursor->value);
    }
    return false;
}

/* -- the body -------------------------------------------------------------------------------------- */

enum member {
    ACOG_MEMBER_MODEL = 0,
    ACOG_MEMBER_STREAM,
    ACOG_MEMBER_STREAM_OPTIONS, /* obfuscation: nothing that a client reads */
    ACOG_MEMBER_INSTRUCTIONS,
    ACOG_MEMBER_INPUT,
    ACOG_MEMBER_TOOLS,
    ACOG_MEMBER_TOOL_CHOICE,
    ACOG_MEMBER_PARALLEL,
    ACOG_MEMBER_MAX_TOKENS,
    ACOG_MEMBER_TEXT,
    ACOG_MEMBER_REASONING,
    ACOG_MEMBER_USER,
    ACOG_MEMBER_COUNT
};

static const struct acog_view member_names[ACOG_MEMBER_COUNT] = {
    [ACOG_MEMBER_MODEL] = {"model", 5},
    [ACOG_MEMBER_STREAM] = {"stream", 6},
    [ACOG_MEMBER_STREAM_OPTIONS] = {"stream_options", 14},
    [ACOG_MEMBER_INSTRUCTIONS] = {"instructions", 12},
    [ACOG_MEMBER_INPUT] = {"input", 5},
    [ACOG_MEMBER_TOOLS] = {"tools", 5},
    [ACOG_MEMBER_TOOL_CHOICE] = {"tool_choice", 11},
    [ACOG_MEMBER_PARALLEL] = {"parallel_tool_calls", 19},
    [ACOG_MEMBER_MAX_TOKENS] = {"max_output_tokens", 17},
    [ACOG_MEMBER_TEXT] = {"text", 4},
    [ACOG_MEMBER_REASONING] = {"reasoning", 9},
    [ACOG_MEMBER_USER] = {"user", 4},
};

static bool is_read_by_name(struct acog_json_value key)
{
    for (size_t i = 0; i < ACOG_MEMBER_COUNT; i++) {
        if (acog_json_text_is(key, member_names[i])) {
            return true;
        }
    }
    return false;
}

/* Said before anything else: without what is kept elsewhere the input is half a conversation (B40). */
static void refuse_kept_state(struct acog_conversation_builder *builder,
                              struct acog_json_value body)
{
    static const struct acog_view names[] = {{"previous_response_id", 20}, {"conversation", 12}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(body, names, found, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        if (acog_leaf_is_given(found[i])) {
            acog_builder_refuse(builder,
                                "%.*s: no state is kept for the connection that serves this "
                                "model; send the whole conversation as input",
                                ACOG_VIEW_FMT(names[i]));
        }
    }
}

static void read_instructions(struct acog_conversation_builder *builder,
                              struct acog_json_value instructions)
{
    if (!acog_leaf_is_given(instructions)) {
        return;
    }
    if (instructions.type != ACOG_JSON_STRING) {
        acog_builder_refuse(builder, "instructions: must be a string");
        return;
    }
    struct acog_part *part = acog_builder_system(builder);
    if (part != NULL) {
        part->text = instructions;
    }
}

void acog_responses_read_conversation(struct acog_conversation_builder *builder,
                                      struct acog_json_value body)
{
    struct acog_conversation *conversation = builder->conversation;
    struct acog_json_value found[ACOG_MEMBER_COUNT];
    acog_json_members(body, member_names, found, ACOG_MEMBER_COUNT);
    refuse_kept_state(builder, body);
    conversation->stream = found[ACOG_MEMBER_STREAM].type == ACOG_JSON_TRUE;
    conversation->parallel_off = found[ACOG_MEMBER_PARALLEL].type == ACOG_JSON_FALSE;
    acog_builder_user(builder, ACOG_LEAF_NAME("user"), found[ACOG_MEMBER_USER]);
    if (!acog_leaf_whole_number(found[ACOG_MEMBER_MAX_TOKENS], &conversation->max_tokens)) {
        conversation->max_tokens = -1;
    }
    read_instructions(builder, found[ACOG_MEMBER_INSTRUCTIONS]);
    acog_responses_read_tools(builder, found[ACOG_MEMBER_TOOLS], found[ACOG_MEMBER_INPUT]);
    acog_responses_read_input(builder, found[ACOG_MEMBER_INPUT]);
    acog_responses_read_tool_choice(builder, found[ACOG_MEMBER_TOOL_CHOICE]);
    read_text_settings(builder, found[ACOG_MEMBER_TEXT]);
    read_reasoning(builder, found[ACOG_MEMBER_REASONING]);
    struct acog_json_cursor cursor = acog_json_enter(body);
    while (acog_json_next(&cursor)) {
        if (!is_read_by_name(cursor.key) && !is_nothing(&cursor)) {
            acog_builder_field(builder, ACOG_DIALECT_RESPONSES, cursor.key, cursor.value);
        }
    }
}
