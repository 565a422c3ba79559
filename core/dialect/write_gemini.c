/* write_gemini.c - a conversation as a request of Google's generateContent (v1beta).
 *
 *   { contents, systemInstruction, tools: [{ functionDeclarations }], toolConfig, generationConfig }
 *
 * The model and whether it streams stand in the path. Schemas go as they are, as parametersJsonSchema and
 * responseJsonSchema: the older fields take a subset in a spelling of Google's own. Words that Google does not know are
 * passed over there.
 */
#include "write_gemini.h"

#include "effort.h"
#include "schema.h"

#define STOPS_MAX         5
#define BUDGET_TOKENS_MAX 24576 /* the most that every model takes that takes a budget */

/* -- tools ----------------------------------------------------------------------------------------- */

static void put_declaration(struct acog_request_writer *writer, struct acog_text name,
                            struct acog_json_value description, struct acog_json_value schema)
{
    bool lost = false;
    acog_put(writer, ACOG_VIEW("{\"name\":"));
    acog_put_tool_name(writer, name);
    if (acog_json_present(description)) {
        acog_put(writer, ACOG_VIEW(",\"description\":"));
        acog_put(writer, description.raw);
    }
    if (acog_json_present(schema)) {
        acog_put(writer, ACOG_VIEW(",\"parametersJsonSchema\":"));
        acog_schema_put_gemini_object(writer, schema, &lost);
    }
    acog_put(writer, ACOG_VIEW("}"));
    if (lost) {
        acog_put_lost(writer, ACOG_VIEW("tools.parameters"), ACOG_VIEW("tools.input_schema"),
                      ACOG_VIEW("tools.parameters"));
    }
}

static void put_mode(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    const char *mode = NULL;
    switch (conversation->tool_choice) {
    case ACOG_TOOL_CHOICE_UNSET:
        return;
    case ACOG_TOOL_CHOICE_AUTO:
        mode = "AUTO";
        break;
    case ACOG_TOOL_CHOICE_NONE:
        mode = "NONE";
        break;
    case ACOG_TOOL_CHOICE_REQUIRED:
    case ACOG_TOOL_CHOICE_NAMED:
        mode = "ANY";
        break;
    }
    acog_put_format(writer, ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"%s\"", mode);
    if (conversation->tool_choice == ACOG_TOOL_CHOICE_NAMED) {
        acog_put(writer, ACOG_VIEW(",\"allowedFunctionNames\":["));
        acog_put_tool_name(writer, acog_text_of(conversation->tool_choice_name));
        acog_put(writer, ACOG_VIEW("]"));
    }
    acog_put(writer, ACOG_VIEW("}}"));
}

static void put_tools(struct acog_request_writer *writer)
{
    const struct acog_tool *tool = writer->conversation->tools;
    if (tool == NULL) {
        return;
    }
    acog_put(writer, ACOG_VIEW(",\"tools\":[{\"functionDeclarations\":["));
    for (bool any = false; tool != NULL; tool = tool->next, any = true) {
        acog_put(writer, any ? ACOG_VIEW(",") : (struct acog_view){0});
        put_declaration(writer, acog_text_of(tool->name), tool->description, tool->schema);
        if (tool->strict.type == ACOG_JSON_TRUE) {
            acog_put_dropped(writer, ACOG_VIEW("tools.strict"));
        }
        if (acog_json_present(tool->cache)) {
            acog_put_dropped(writer, ACOG_VIEW("tools.cache_control"));
        }
    }
    acog_put(writer, ACOG_VIEW("]}]"));
    put_mode(writer);
    if (writer->conversation->parallel_off) {
        acog_put_lost(writer, ACOG_VIEW("parallel_tool_calls"),
                      ACOG_VIEW("tool_choice.disable_parallel_tool_use"),
                      ACOG_VIEW("parallel_tool_calls"));
    }
}

/* The one tool whose arguments are the answer (B20). There is no other (acog_gemini_objection). */
static void put_schema_tool(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    struct acog_json_value schema = {.raw = ACOG_VIEW("{}"), .type = ACOG_JSON_OBJECT};
    if (acog_json_present(conversation->schema)) {
        schema = conversation->schema;
    }
    acog_put(writer, ACOG_VIEW(",\"tools\":[{\"functionDeclarations\":["));
    put_declaration(writer, acog_text_plain(ACOG_VIEW(ACOG_SCHEMA_TOOL_NAME)),
                    conversation->schema_description, schema);
    acog_put(writer, ACOG_VIEW("]}],\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\","
                               "\"allowedFunctionNames\":[\"" ACOG_SCHEMA_TOOL_NAME "\"]}}"));
    writer->translation->schema_by_tool = true;
}

static bool is_by_tool(const struct acog_conversation *conversation,
                       const struct acog_model_rules *rules)
{
    return conversation->format != ACOG_FORMAT_TEXT && rules->schema == ACOG_SCHEMA_TOOL;
}

/* -- generationConfig ------------------------------------------------------------------------------ */

struct config {
    struct acog_request_writer *writer;
    bool open;
};

static void begin_member(struct config *config, const char *name)
{
    acog_put(config->writer, config->open ? ACOG_VIEW(",") : ACOG_VIEW(",\"generationConfig\":{"));
    acog_put_format(config->writer, "\"%s\":", name);
    config->open = true;
}

/* A seed has 32 bits here. */
static bool has_room(const struct acog_request_writer *writer, enum acog_field field)
{
    int64_t seed = 0;
    return field != ACOG_FIELD_SEED || (acog_json_int(writer->conversation->fields[field], &seed) &&
                                        seed >= INT32_MIN && seed <= INT32_MAX);
}

static void put_sampling(struct config *config)
{
    static const struct {
        enum acog_field field;
        const char *name;
    } rows[] = {
        {ACOG_FIELD_TEMPERATURE, "temperature"},
        {ACOG_FIELD_TOP_P, "topP"},
        {ACOG_FIELD_TOP_K, "topK"},
        {ACOG_FIELD_FREQUENCY_PENALTY, "frequencyPenalty"},
        {ACOG_FIELD_PRESENCE_PENALTY, "presencePenalty"},
        {ACOG_FIELD_SEED, "seed"},
    };
    struct acog_request_writer *writer = config->writer;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!acog_json_present(writer->conversation->fields[rows[i].field])) {
            continue;
        }
        if (!acog_put_takes(writer, rows[i].field) || !has_room(writer, rows[i].field)) {
            acog_put_field_lost(writer, rows[i].field);
            continue;
        }
        begin_member(config, rows[i].name);
        acog_put_field_value(writer, rows[i].field);
    }
}

static void put_limit(struct config *config)
{
    struct acog_request_writer *writer = config->writer;
    int64_t limit = writer->conversation->max_tokens;
    int64_t largest = writer->translation->rules->largest_output_tokens;
    if (limit >= 0 && largest >= 0 && limit > largest) {
        limit = largest;
        acog_put_lost(writer, ACOG_VIEW("max_tokens"), ACOG_VIEW("max_tokens"),
                      ACOG_VIEW("max_output_tokens"));
    }
    writer->translation->max_tokens = limit;
    if (limit >= 0) {
        begin_member(config, "maxOutputTokens");
        acog_put_format(writer, "%lld", (long long)limit);
    }
}

static void put_stops(struct config *config)
{
    struct acog_request_writer *writer = config->writer;
    const struct acog_conversation *conversation = writer->conversation;
    size_t sent = 0;
    for (size_t i = 0; i < conversation->stop_count; i++) {
        struct acog_json_value stop = conversation->stops[i];
        if (!writer->translation->rules->stop || sent == STOPS_MAX || stop.raw.len <= 2) {
            acog_put_lost(writer, ACOG_VIEW("stop"), ACOG_VIEW("stop_sequences"),
                          ACOG_VIEW("stop"));
            continue;
        }
        if (sent == 0) {
            begin_member(config, "stopSequences");
        }
        acog_put(writer, sent == 0 ? ACOG_VIEW("[") : ACOG_VIEW(","));
        acog_put(writer, stop.raw);
        sent++;
    }
    acog_put(writer, sent > 0 ? ACOG_VIEW("]") : (struct acog_view){0});
}

static void put_format_wish(struct config *config)
{
    struct acog_request_writer *writer = config->writer;
    const struct acog_conversation *conversation = writer->conversation;
    if (conversation->format == ACOG_FORMAT_TEXT ||
        is_by_tool(conversation, writer->translation->rules)) {
        return;
    }
    bool lost = false;
    begin_member(config, "responseMimeType");
    acog_put(writer, ACOG_VIEW("\"application/json\""));
    if (conversation->format == ACOG_FORMAT_SCHEMA) {
        begin_member(config, "responseJsonSchema");
        acog_schema_put_gemini(writer, conversation->schema, &lost);
    }
    if (lost) {
        acog_put_lost(writer, ACOG_VIEW("response_format"), ACOG_VIEW("output_config.format"),
                      ACOG_VIEW("text.format"));
    }
    if (acog_json_present(conversation->schema_description)) {
        acog_put_lost(writer, ACOG_VIEW("response_format.description"),
                      ACOG_VIEW("output_config.format.description"),
                      ACOG_VIEW("text.format.description"));
    }
}

/* -- thinking -------------------------------------------------------------------------------------- */

static void begin_thinking(struct config *config)
{
    begin_member(config, "thinkingConfig");
    acog_put(config->writer, ACOG_VIEW("{"));
}

static void end_thinking(const struct config *config, bool any)
{
    bool shown = config->writer->conversation->reasoning.summary;
    acog_put(config->writer, shown && any ? ACOG_VIEW(",") : (struct acog_view){0});
    acog_put(config->writer, shown ? ACOG_VIEW("\"includeThoughts\":true}") : ACOG_VIEW("}"));
}

static void put_budget(struct config *config, int64_t budget)
{
    begin_thinking(config);
    acog_put_format(config->writer, "\"thinkingBudget\":%lld", (long long)budget);
    end_thinking(config, true);
}

/* Thinking in tokens: as many as asked, within what all models take and leaving room for the answer, whose limit holds
 * both. -1 leaves it to the model. */
static void put_thinking_budget(struct config *config)
{
    struct acog_request_writer *writer = config->writer;
    const struct acog_reasoning_wish *wish = &writer->conversation->reasoning;
    unsigned efforts = writer->translation->rules->efforts;
    int64_t limit = writer->translation->max_tokens;
    int64_t budget = wish->budget_tokens;
    if (wish->off && (efforts == 0 || (efforts & ACOG_BIT(ACOG_EFFORT_NONE)) != 0)) {
        put_budget(config, 0);
        return;
    }
    if (wish->off) { /* it always thinks: as little as it can */
        acog_put_reasoning_lost(writer);
        budget = ACOG_BUDGET_TOKENS_MIN;
    } else if (budget < 0 && wish->effort != ACOG_EFFORT_COUNT) {
        budget = acog_effort_budget_tokens(wish->effort);
    } else if (budget < 0) {
        put_budget(config, -1);
        return;
    }
    budget = budget > BUDGET_TOKENS_MAX ? BUDGET_TOKENS_MAX : budget;
    budget = budget < ACOG_BUDGET_TOKENS_MIN ? ACOG_BUDGET_TOKENS_MIN : budget;
    if (limit >= 0) {
        int64_t room = acog_effort_room_tokens(limit, wish->budget_tokens > 0, INT64_MAX);
        budget = budget < room ? budget : room;
    }
    if (budget < ACOG_BUDGET_TOKENS_MIN) { /* B22 */
        acog_put_reasoning_lost(writer);
        return;
    }
    put_budget(config, budget);
}

/* The words that the dialect has; a model's rules may name others, for another dialect. */
#define LEVELS                                                                                  \
    (ACOG_BIT(ACOG_EFFORT_MINIMAL) | ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_MEDIUM) | \
     ACOG_BIT(ACOG_EFFORT_HIGH) | ACOG_BIT(ACOG_EFFORT_XHIGH))

/* Thinking by a word. There is none for not at all: then the lowest. */
static void put_thinking_level(struct config *config)
{
    struct acog_request_writer *writer = config->writer;
    const struct acog_reasoning_wish *wish = &writer->conversation->reasoning;
    unsigned efforts = writer->translation->rules->efforts & LEVELS;
    enum acog_effort wanted = wish->off ? ACOG_EFFORT_MINIMAL : acog_reasoning_effort(wish);
    if (wish->off) {
        acog_put_reasoning_lost(writer);
    }
    enum acog_effort level = ACOG_EFFORT_COUNT;
    if (wanted != ACOG_EFFORT_COUNT) {
        level = acog_effort_nearest(wanted, efforts);
    }
    if (level != wanted) {
        acog_put_reasoning_lost(writer);
    }
    if (level == ACOG_EFFORT_COUNT && !wish->summary) {
        return; /* as hard as the model itself would */
    }
    begin_thinking(config);
    if (level != ACOG_EFFORT_COUNT) {
        acog_put_format(writer, "\"thinkingLevel\":\"%.*s\"",
                        ACOG_VIEW_FMT(acog_effort_word(level)));
    }
    end_thinking(config, level != ACOG_EFFORT_COUNT);
}

static void put_thinking(struct config *config)
{
    struct acog_request_writer *writer = config->writer;
    const struct acog_reasoning_wish *wish = &writer->conversation->reasoning;
    if (!wish->given) {
        return;
    }
    switch (writer->translation->rules->thinking) {
    case ACOG_THINKING_NONE:
        if (!wish->off) {
            acog_put_reasoning_lost(writer);
        }
        return;
    case ACOG_THINKING_BUDGET:
        put_thinking_budget(config);
        return;
    case ACOG_THINKING_ADAPTIVE: /* a word of Anthropic's; whoever says it of a Gemini means EFFORT */
    case ACOG_THINKING_EFFORT:
        put_thinking_level(config);
        return;
    }
}

static void put_config(struct acog_request_writer *writer)
{
    struct config config = {.writer = writer};
    put_sampling(&config);
    put_limit(&config);
    put_stops(&config);
    put_format_wish(&config);
    put_thinking(&config);
    acog_put(writer, config.open ? ACOG_VIEW("}") : (struct acog_view){0});
}

/* -- all of it ------------------------------------------------------------------------------------- */

static void name_lost(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    for (int field = 0; field < ACOG_FIELD_COUNT; field++) {
        if (acog_json_present(conversation->fields[field]) &&
            acog_field_name((enum acog_field)field, ACOG_DIALECT_GEMINI).len == 0) {
            acog_put_field_lost(writer, (enum acog_field)field);
        }
    }
    if (acog_json_present(conversation->user)) {
        acog_put_lost(writer, ACOG_VIEW("user"), ACOG_VIEW("metadata.user_id"), ACOG_VIEW("user"));
    }
    const struct acog_unknown_field *unknown = conversation->unknown;
    for (; unknown != NULL; unknown = unknown->next) {
        acog_put_dropped(writer, acog_text_of(unknown->name).bytes);
    }
}

void acog_gemini_write_conversation(struct acog_request_writer *writer)
{
    acog_put(writer, ACOG_VIEW("{"));
    acog_gemini_put_contents(writer);
    if (is_by_tool(writer->conversation, writer->translation->rules)) {
        put_schema_tool(writer);
    } else {
        put_tools(writer);
    }
    put_config(writer);
    acog_put(writer, ACOG_VIEW("}"));
    name_lost(writer);
}

/* -- what it cannot take --------------------------------------------------------------------------- */

static const char *format_objection(const struct acog_conversation *conversation,
                                    const struct acog_model_rules *rules)
{
    if (conversation->format == ACOG_FORMAT_TEXT) {
        return NULL;
    }
    switch (rules->schema) {
    case ACOG_SCHEMA_NONE:
        return "structured output: this model cannot be held to it";
    case ACOG_SCHEMA_TOOL:
        break;
    case ACOG_SCHEMA_NATIVE:
        if (acog_gemini_is_third_generation(rules)) {
            return NULL;
        }
        break;
    }
    return conversation->tools == NULL
               ? NULL
               : "structured output: this model cannot be held to it beside tools";
}

static bool is_at_a_provider(const struct acog_part *part)
{
    return part->kind == ACOG_PART_MEDIA && part->media.source == ACOG_MEDIA_FILE_ID;
}

static bool needs_a_provider(const struct acog_part *part)
{
    for (; part != NULL; part = part->next) {
        const struct acog_part *inner =
            part->kind == ACOG_PART_TOOL_RESULT ? part->content.first : NULL;
        while (inner != NULL && !is_at_a_provider(inner)) {
            inner = inner->next;
        }
        if (inner != NULL || is_at_a_provider(part)) {
            return true;
        }
    }
    return false;
}

const char *acog_gemini_objection(const struct acog_conversation *conversation,
                                  const struct acog_model_rules *rules)
{
    bool anything = false;
    for (const struct acog_turn *turn = conversation->turns; turn != NULL; turn = turn->next) {
        if (needs_a_provider(turn->parts.first)) {
            return "a file by its id: it lies at another provider; send its bytes or its address";
        }
        for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
            anything = anything || acog_gemini_is_sent(part);
        }
    }
    return anything ? format_objection(conversation, rules)
                    : "the messages hold nothing but another provider's reasoning";
}
