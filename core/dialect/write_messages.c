/* write_messages.c - a conversation, as a request to Anthropic Messages: its parameters. Its turns are written in
 * write_messages_turns.c.
 *
 * Some wishes exclude each other at Anthropic. What gives way is settled first, in a copy of the conversation, and named
 * to the client; the rest only spells. Thinking excludes a temperature and top_k, which give way to it, and a forced
 * call, to which it gives way itself (B22): programs are built on the call, an effort is a wish. A budget needs room
 * below max_tokens; in a tool loop it needs the turn's own thinking, which a client of another dialect may not have kept.
 */
#include "write_messages.h"

#include "acog/contract.h"
#include "effort.h"
#include "schema.h"

enum thinking {
    ACOG_PLAN_THINKING_UNSAID = 0,
    ACOG_PLAN_THINKING_DISABLED,
    ACOG_PLAN_THINKING_BUDGET,
    ACOG_PLAN_THINKING_ADAPTIVE,
};

/* What is sent in place of what was asked for. */
struct plan {
    struct acog_conversation asked; /* without what gave way */
    int64_t max_tokens;
    enum thinking thinking;
    int64_t budget_tokens;
    enum acog_effort effort; /* ACOG_EFFORT_COUNT: none */
    bool schema_tool;
    struct acog_schema_totals strict; /* of the schemas that the model is held to */
};

/* -- what gives way -------------------------------------------------------------------------------- */

static void drop_field(struct acog_request_writer *writer, struct plan *plan, enum acog_field field)
{
    if (acog_json_present(plan->asked.fields[field])) {
        acog_put_field_lost(writer, field);
        plan->asked.fields[field] = (struct acog_json_value){.raw = {0}};
    }
}

/* -- the plan -------------------------------------------------------------------------------------- */

/* Also where the native field cannot hold it: a tool takes any schema. */
static bool schema_by_tool(const struct acog_conversation *conversation,
                           const struct acog_model_rules *rules, struct acog_schema_fit *fit)
{
    *fit = (struct acog_schema_fit){.objection = NULL};
    if (conversation->format != ACOG_FORMAT_SCHEMA) {
        return conversation->format == ACOG_FORMAT_JSON;
    }
    if (rules->schema == ACOG_SCHEMA_NATIVE) {
        *fit = acog_schema_fit_messages(conversation->schema);
    }
    return rules->schema != ACOG_SCHEMA_NATIVE || fit->objection != NULL;
}

static void plan_schema(struct acog_request_writer *writer, struct plan *plan)
{
    struct acog_schema_fit fit;
    plan->schema_tool = schema_by_tool(&plan->asked, writer->translation->rules, &fit);
    if (plan->schema_tool || plan->asked.format != ACOG_FORMAT_SCHEMA) {
        return;
    }
    plan->strict.optionals = fit.optionals;
    plan->strict.unions = fit.unions;
    if (fit.lost) {
        acog_put_lost(writer, ACOG_VIEW("response_format"), ACOG_VIEW("output_config.format"),
                      ACOG_VIEW("text.format"));
    }
}

static int64_t capped(int64_t tokens, const struct acog_model_rules *rules)
{
    bool over = rules->largest_output_tokens > 0 && tokens > rules->largest_output_tokens;
    return over ? rules->largest_output_tokens : tokens;
}

/* Anthropic demands a limit (B10). */
static void plan_limit(struct acog_request_writer *writer, struct plan *plan)
{
    const struct acog_model_rules *rules = writer->translation->rules;
    if (plan->asked.max_tokens < 1) {
        plan->max_tokens = capped(rules->default_output_tokens, rules);
        return;
    }
    plan->max_tokens = capped(plan->asked.max_tokens, rules);
    if (plan->max_tokens < plan->asked.max_tokens) {
        acog_put_lost(writer, ACOG_VIEW("max_tokens"), ACOG_VIEW("max_tokens"),
                      ACOG_VIEW("max_output_tokens"));
    }
}

static bool begins_with_thinking(const struct acog_turn *turn)
{
    const struct acog_part *part = turn->parts.first;
    while (part != NULL && part->kind == ACOG_PART_REASONING &&
           !acog_messages_is_own_reasoning(part)) {
        part = part->next;
    }
    return part != NULL && acog_messages_is_own_reasoning(part);
}

static bool has_kind(const struct acog_turn *turn, enum acog_part_kind kind)
{
    const struct acog_part *part = turn->parts.first;
    while (part != NULL && part->kind != kind) {
        part = part->next;
    }
    return part != NULL;
}

/* Whether the turns allow thinking by a budget: since the user spoke last, each turn that called a tool begins with its
 * own thinking; and the answer is not begun by the client. */
static bool turns_allow_thinking(const struct acog_conversation *conversation)
{
    bool allowed = true;
    for (const struct acog_turn *turn = conversation->turns; turn != NULL; turn = turn->next) {
        if (turn->role == ACOG_TURN_USER && !has_kind(turn, ACOG_PART_TOOL_RESULT)) {
            allowed = true;
        } else if (turn->role == ACOG_TURN_ASSISTANT) {
            bool last = turn->next == NULL;
            allowed = allowed && !last &&
                      (!has_kind(turn, ACOG_PART_TOOL_CALL) || begins_with_thinking(turn));
        }
    }
    return allowed;
}

/* Beside a call that must be made nobody thinks. */
static bool must_call(const struct plan *plan)
{
    return plan->schema_tool || acog_tool_choice_forces(plan->asked.tool_choice);
}

static int64_t wished_budget(const struct acog_reasoning_wish *wish)
{
    if (wish->budget_tokens > 0) {
        return wish->budget_tokens;
    }
    if (wish->effort != ACOG_EFFORT_COUNT) {
        return acog_effort_budget_tokens(wish->effort);
    }
    return acog_effort_budget_tokens(wish->adaptive ? ACOG_EFFORT_HIGH : ACOG_EFFORT_MEDIUM);
}

/* A limit that holds a usual answer and the thinking before it, where the client gave none. */
static void plan_limit_above(struct plan *plan, int64_t budget,
                             const struct acog_model_rules *rules)
{
    if (plan->asked.max_tokens < 1 && budget < INT64_MAX - rules->default_output_tokens) {
        plan->max_tokens = capped(rules->default_output_tokens + budget, rules);
    }
}

/* A budget below the limit. False: none fits. */
static bool plan_budget(const struct acog_request_writer *writer, struct plan *plan)
{
    const struct acog_model_rules *rules = writer->translation->rules;
    int64_t budget = wished_budget(&plan->asked.reasoning);
    budget = budget < ACOG_BUDGET_TOKENS_MIN ? ACOG_BUDGET_TOKENS_MIN : budget;
    plan_limit_above(plan, budget, rules);
    int64_t usual = plan->asked.max_tokens < 1 ? rules->default_output_tokens : INT64_MAX;
    int64_t room =
        acog_effort_room_tokens(plan->max_tokens, plan->asked.reasoning.budget_tokens > 0, usual);
    plan->budget_tokens = budget < room ? budget : room;
    return plan->budget_tokens >= ACOG_BUDGET_TOKENS_MIN;
}

static void plan_thinking_by_budget(struct acog_request_writer *writer, struct plan *plan)
{
    if (must_call(plan) || !turns_allow_thinking(&plan->asked) || !plan_budget(writer, plan)) {
        acog_put_reasoning_lost(writer);
        return;
    }
    plan->thinking = ACOG_PLAN_THINKING_BUDGET;
}

/* The words that the dialect has; a model's rules may name others, for another dialect. */
#define EFFORTS                                                                              \
    (ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_MEDIUM) | ACOG_BIT(ACOG_EFFORT_HIGH) | \
     ACOG_BIT(ACOG_EFFORT_XHIGH) | ACOG_BIT(ACOG_EFFORT_MAX))

static void plan_effort(struct acog_request_writer *writer, struct plan *plan)
{
    enum acog_effort wanted = acog_reasoning_effort(&plan->asked.reasoning);
    if (wanted == ACOG_EFFORT_COUNT) {
        return;
    }
    plan->effort = acog_effort_nearest(wanted, writer->translation->rules->efforts & EFFORTS);
    if (plan->effort != wanted) {
        acog_put_reasoning_lost(writer);
    }
}

/* The newer models think unless they are told not to, and some cannot be told: those think as little as they can. */
static void plan_no_thinking(struct acog_request_writer *writer, struct plan *plan)
{
    const struct acog_model_rules *rules = writer->translation->rules;
    switch (rules->thinking) {
    case ACOG_THINKING_NONE:
    case ACOG_THINKING_BUDGET:
        return;
    case ACOG_THINKING_ADAPTIVE:
    case ACOG_THINKING_EFFORT:
        if ((rules->efforts & ACOG_BIT(ACOG_EFFORT_NONE)) != 0) {
            plan->thinking = ACOG_PLAN_THINKING_DISABLED;
        } else {
            plan_effort(writer, plan);
        }
        return;
    }
    ACOG_UNREACHABLE("a way of thinking");
}

static void plan_reasoning(struct acog_request_writer *writer, struct plan *plan)
{
    const struct acog_reasoning_wish *wish = &plan->asked.reasoning;
    if (!wish->given) {
        return;
    }
    if (acog_reasoning_effort(wish) == ACOG_EFFORT_NONE) {
        plan_no_thinking(writer, plan);
        return;
    }
    switch (writer->translation->rules->thinking) {
    case ACOG_THINKING_NONE:
        acog_put_reasoning_lost(writer);
        return;
    case ACOG_THINKING_BUDGET:
        plan_thinking_by_budget(writer, plan);
        return;
    case ACOG_THINKING_ADAPTIVE:
        if (must_call(plan)) {
            acog_put_reasoning_lost(writer);
        } else {
            plan->thinking = ACOG_PLAN_THINKING_ADAPTIVE;
            plan_limit_above(plan, wished_budget(wish), writer->translation->rules);
        }
        plan_effort(writer, plan); /* it holds without thinking */
        return;
    case ACOG_THINKING_EFFORT:
        plan_effort(writer, plan);
        return;
    }
    ACOG_UNREACHABLE("a way of thinking");
}

/* top_p is taken from 0.95 on beside thinking. */
static bool is_high_top_p(struct acog_json_value top_p)
{
    double number = 0;
    return acog_json_double(top_p, &number) && number >= 0.95;
}

/* Whoever thinks takes no temperature but its own, and no top_k. */
static void plan_sampling_of_thinking(struct acog_request_writer *writer, struct plan *plan)
{
    drop_field(writer, plan, ACOG_FIELD_TEMPERATURE);
    drop_field(writer, plan, ACOG_FIELD_TOP_K);
    if (!is_high_top_p(plan->asked.fields[ACOG_FIELD_TOP_P])) {
        drop_field(writer, plan, ACOG_FIELD_TOP_P);
    }
}

/* Models refuse the two together. A neutral one goes unseen, else the temperature counts. */
static void plan_sampling(struct acog_request_writer *writer, struct plan *plan)
{
    struct acog_json_value *temperature = &plan->asked.fields[ACOG_FIELD_TEMPERATURE];
    struct acog_json_value *top_p = &plan->asked.fields[ACOG_FIELD_TOP_P];
    double number = 0;
    if (plan->thinking == ACOG_PLAN_THINKING_BUDGET ||
        plan->thinking == ACOG_PLAN_THINKING_ADAPTIVE) {
        plan_sampling_of_thinking(writer, plan);
    }
    if (!acog_json_present(*temperature) || !acog_json_present(*top_p) ||
        !writer->translation->rules->temperature) {
        return;
    }
    if (acog_json_double(*top_p, &number) && number > 0.9999 && number < 1.0001) {
        *top_p = (struct acog_json_value){.raw = {0}};
    } else if (acog_json_double(*temperature, &number) && number > 0.9999) {
        drop_field(writer, plan, ACOG_FIELD_TEMPERATURE);
    } else {
        drop_field(writer, plan, ACOG_FIELD_TOP_P);
    }
}

static void plan_tier(struct acog_request_writer *writer, struct plan *plan)
{
    struct acog_json_value tier = plan->asked.fields[ACOG_FIELD_SERVICE_TIER];
    if (!acog_json_text_is(tier, ACOG_VIEW("auto")) &&
        !acog_json_text_is(tier, ACOG_VIEW("standard_only"))) {
        drop_field(writer, plan, ACOG_FIELD_SERVICE_TIER);
    }
}

static void settle(struct acog_request_writer *writer, struct plan *plan)
{
    plan->asked = *writer->conversation;
    plan->effort = ACOG_EFFORT_COUNT;
    plan_schema(writer, plan);
    plan_limit(writer, plan);
    plan_reasoning(writer, plan);
    plan_sampling(writer, plan);
    plan_tier(writer, plan);
}

/* -- tools ----------------------------------------------------------------------------------------- */

/* Its schema, and whether the model is held to it. */
static void put_tool_schema(struct acog_request_writer *writer, struct plan *plan,
                            const struct acog_tool *tool)
{
    struct acog_schema_fit fit = {.lost = true};
    bool strict = tool->strict.type == ACOG_JSON_TRUE &&
                  writer->translation->rules->schema == ACOG_SCHEMA_NATIVE;
    if (strict) {
        fit = acog_schema_fit_messages(tool->schema);
        strict = fit.object && acog_schema_admit(&plan->strict, &fit);
    }
    if (strict) {
        acog_schema_put_messages(writer, tool->schema);
        acog_put(writer, ACOG_VIEW(",\"strict\":true"));
    } else {
        acog_schema_put_messages_object(writer, tool->schema);
    }
    if (tool->strict.type == ACOG_JSON_TRUE && (!strict || fit.lost)) {
        acog_put_dropped(writer, ACOG_VIEW("tools.strict"));
    }
}

static void put_tool(struct acog_request_writer *writer, struct plan *plan,
                     const struct acog_tool *tool)
{
    acog_put(writer, ACOG_VIEW("{\"name\":"));
    acog_put_tool_name(writer, acog_text_of(tool->name));
    if (tool->description.type == ACOG_JSON_STRING) {
        acog_put(writer, ACOG_VIEW(",\"description\":"));
        acog_put(writer, tool->description.raw);
    }
    acog_put(writer, ACOG_VIEW(",\"input_schema\":"));
    put_tool_schema(writer, plan, tool);
    acog_messages_put_cache(writer, tool->cache);
    acog_put(writer, ACOG_VIEW("}"));
}

static void put_tool_choice(struct acog_request_writer *writer, const struct plan *plan)
{
    static const char *const types[] = {
        [ACOG_TOOL_CHOICE_UNSET] = "auto", [ACOG_TOOL_CHOICE_AUTO] = "auto",
        [ACOG_TOOL_CHOICE_NONE] = "none",  [ACOG_TOOL_CHOICE_REQUIRED] = "any",
        [ACOG_TOOL_CHOICE_NAMED] = "tool",
    };
    enum acog_tool_choice choice = plan->asked.tool_choice;
    bool single = plan->asked.parallel_off && choice != ACOG_TOOL_CHOICE_NONE;
    if (choice == ACOG_TOOL_CHOICE_UNSET && !single) {
        return; /* also where there are no tools (B09) */
    }
    acog_put_format(writer, ",\"tool_choice\":{\"type\":\"%s\"", types[choice]);
    if (choice == ACOG_TOOL_CHOICE_NAMED) {
        acog_put(writer, ACOG_VIEW(",\"name\":"));
        acog_put_tool_name(writer, acog_text_of(plan->asked.tool_choice_name));
    }
    acog_put(writer, single ? ACOG_VIEW(",\"disable_parallel_tool_use\":true}") : ACOG_VIEW("}"));
}

/* One tool that must be called, whose arguments are the answer (B20). */
static void put_schema_tool(struct acog_request_writer *writer, const struct plan *plan)
{
    const struct acog_conversation *asked = &plan->asked;
    acog_put(writer, ACOG_VIEW(",\"tools\":[{\"name\":\"" ACOG_SCHEMA_TOOL_NAME "\""));
    if (asked->schema_description.type == ACOG_JSON_STRING) {
        acog_put(writer, ACOG_VIEW(",\"description\":"));
        acog_put(writer, asked->schema_description.raw);
    }
    acog_put(writer, ACOG_VIEW(",\"input_schema\":"));
    acog_put(writer, asked->format == ACOG_FORMAT_JSON ? ACOG_VIEW("{\"type\":\"object\"}")
                                                       : asked->schema.raw);
    acog_put(writer,
             ACOG_VIEW("}],\"tool_choice\":{\"type\":\"tool\",\"name\":\"" ACOG_SCHEMA_TOOL_NAME
                       "\",\"disable_parallel_tool_use\":true}"));
}

static void put_tools(struct acog_request_writer *writer, struct plan *plan)
{
    const struct acog_tool *tool = plan->asked.tools;
    if (plan->schema_tool) {
        put_schema_tool(writer, plan);
        return;
    }
    acog_put(writer, tool != NULL ? ACOG_VIEW(",\"tools\":[") : ACOG_VIEW(""));
    for (; tool != NULL; tool = tool->next) {
        put_tool(writer, plan, tool);
        acog_put(writer, tool->next != NULL ? ACOG_VIEW(",") : ACOG_VIEW("]"));
    }
    put_tool_choice(writer, plan);
}

/* -- the rest -------------------------------------------------------------------------------------- */

static void put_thinking(struct acog_request_writer *writer, const struct plan *plan)
{
    switch (plan->thinking) {
    case ACOG_PLAN_THINKING_UNSAID:
        return;
    case ACOG_PLAN_THINKING_DISABLED:
        acog_put(writer, ACOG_VIEW(",\"thinking\":{\"type\":\"disabled\"}"));
        return;
    case ACOG_PLAN_THINKING_BUDGET:
        acog_put_format(writer, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":%lld}",
                        (long long)plan->budget_tokens);
        return;
    case ACOG_PLAN_THINKING_ADAPTIVE:
        acog_put(writer, ACOG_VIEW(",\"thinking\":{\"type\":\"adaptive\""));
        acog_put(writer, plan->asked.reasoning.summary ? ACOG_VIEW(",\"display\":\"summarized\"}")
                                                       : ACOG_VIEW("}"));
        return;
    }
    ACOG_UNREACHABLE("a way of thinking");
}

static void put_output_config(struct acog_request_writer *writer, const struct plan *plan)
{
    bool schema = plan->asked.format == ACOG_FORMAT_SCHEMA && !plan->schema_tool;
    bool effort = plan->effort != ACOG_EFFORT_COUNT;
    if (!schema && !effort) {
        return;
    }
    acog_put(writer, ACOG_VIEW(",\"output_config\":{"));
    if (effort) {
        struct acog_view word = acog_effort_word(plan->effort);
        acog_put_format(writer, "\"effort\":\"%.*s\"", ACOG_VIEW_FMT(word));
    }
    if (schema) {
        acog_put(writer, effort ? ACOG_VIEW(",") : ACOG_VIEW(""));
        acog_put(writer, ACOG_VIEW("\"format\":{\"type\":\"json_schema\",\"schema\":"));
        acog_schema_put_messages(writer, plan->asked.schema);
        acog_put(writer, ACOG_VIEW("}"));
        if (acog_json_present(plan->asked.schema_description)) {
            acog_put_lost(writer, ACOG_VIEW("response_format.description"),
                          ACOG_VIEW("output_config.format.description"),
                          ACOG_VIEW("text.format.description"));
        }
    }
    acog_put(writer, ACOG_VIEW("}"));
}

/* A sequence of white space alone is refused (B11). */
static void put_stops(struct acog_request_writer *writer, const struct plan *plan)
{
    bool any = false;
    for (size_t i = 0; i < plan->asked.stop_count; i++) {
        struct acog_json_value stop = plan->asked.stops[i];
        if (!writer->translation->rules->stop || acog_text_is_blank(acog_text_of(stop))) {
            acog_put_lost(writer, ACOG_VIEW("stop"), ACOG_VIEW("stop_sequences"),
                          ACOG_VIEW("stop"));
            continue;
        }
        acog_put(writer, any ? ACOG_VIEW(",") : ACOG_VIEW(",\"stop_sequences\":["));
        acog_put(writer, stop.raw);
        any = true;
    }
    acog_put(writer, any ? ACOG_VIEW("]") : ACOG_VIEW(""));
}

#define USER_BYTES_MAX ((size_t)512)

void acog_messages_write_conversation(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    struct acog_translation *translation = writer->translation;
    struct plan plan = {.thinking = ACOG_PLAN_THINKING_UNSAID};
    settle(writer, &plan);
    translation->schema_by_tool = plan.schema_tool;
    translation->max_tokens = plan.max_tokens;
    acog_put(writer, ACOG_VIEW("{\"model\":"));
    acog_put_string(writer, acog_text_plain(translation->model));
    acog_put_format(writer, ",\"max_tokens\":%lld", (long long)plan.max_tokens);
    acog_put(writer, translation->stream ? ACOG_VIEW(",\"stream\":true") : ACOG_VIEW(""));
    acog_messages_put_turns(writer);
    put_tools(writer, &plan);
    put_stops(writer, &plan);
    put_thinking(writer, &plan);
    put_output_config(writer, &plan);
    acog_put_user(writer, ACOG_VIEW(",\"metadata\":{\"user_id\":"), ACOG_VIEW("}"), USER_BYTES_MAX);
    writer->conversation = &plan.asked;
    acog_put_fields(writer, ACOG_DIALECT_MESSAGES);
    writer->conversation = conversation;
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- what cannot be told --------------------------------------------------------------------------- */

const char *acog_messages_objection(const struct acog_conversation *conversation,
                                    const struct acog_model_rules *rules)
{
    struct acog_json_value type = {.raw = {0}};
    const char *objection = acog_messages_turns_objection(conversation);
    if (objection == NULL && !rules->forced_tool &&
        acog_tool_choice_forces(conversation->tool_choice)) {
        objection = "tool_choice: the model that serves cannot be made to call a tool";
    }
    if (objection != NULL || conversation->format == ACOG_FORMAT_TEXT) {
        return objection;
    }
    struct acog_schema_fit fit;
    bool by_tool = schema_by_tool(conversation, rules, &fit);
    if (fit.objection != NULL && (!rules->forced_tool || conversation->tools != NULL)) {
        return fit.objection; /* and no tool may stand in */
    }
    if (rules->schema == ACOG_SCHEMA_NONE || (by_tool && !rules->forced_tool)) {
        return "the model that serves cannot be held to a format of its answer";
    }
    if (!by_tool) {
        return NULL;
    }
    if (conversation->tools != NULL) {
        return "the model that serves cannot be held to a format of its answer while it has tools";
    }
    if (conversation->format == ACOG_FORMAT_SCHEMA &&
        (!acog_json_member(conversation->schema, ACOG_VIEW("type"), &type) ||
         !acog_json_text_is(type, ACOG_VIEW("object")))) {
        return "the schema of the answer must be of type object for the model that serves";
    }
    return NULL;
}
