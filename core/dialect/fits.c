/* fits.c - what cannot be told to an upstream of another dialect without changing what it means (decision 14). */
#include "acog/contract.h"
#include "conversation.h"

static enum acog_code refuse(struct acog_request_problem *problem, const char *fmt, ...)
    ACOG_PRINTF(2, 3);

static enum acog_code refuse(struct acog_request_problem *problem, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    acog_problem_set_list(problem, fmt, args);
    va_end(args);
    return ACOG_INVALID;
}

static bool is_refused_when_lost(enum acog_field field)
{
    static const enum acog_field_lost lost[ACOG_FIELD_COUNT] = {

#define ACOG_FIELD(name, chat, messages, responses, gemini, what) \
    [ACOG_FIELD_##name] = ACOG_LOST_##what,
#include "field.def"
#undef ACOG_FIELD
    };
    return lost[field] == ACOG_LOST_REFUSED;
}

static enum acog_code check_fields(const struct acog_conversation *conversation,
                                   enum acog_dialect dialect, struct acog_request_problem *problem)
{
    for (int i = 0; i < ACOG_FIELD_COUNT; i++) {
        enum acog_field field = (enum acog_field)i;
        if (acog_json_present(conversation->fields[i]) && is_refused_when_lost(field) &&
            acog_field_name(field, dialect).len == 0) {
            struct acog_view name =
                acog_field_name(field, acog_surface_dialect(conversation->surface));
            return refuse(problem,
                          "%.*s: what it asks for does not exist at the connection that serves "
                          "this model",
                          ACOG_VIEW_FMT(name));
        }
    }
    return ACOG_OK;
}

static enum acog_code check_tools(const struct acog_conversation *conversation,
                                  const struct acog_model_rules *rules,
                                  struct acog_request_problem *problem)
{
    const struct acog_tool *tool = conversation->foreign_tools;
    if (tool == NULL || (rules->drop_server_tools && !conversation->forces_foreign_tool)) {
        return ACOG_OK;
    }
    struct acog_view type = acog_view_slice(tool->foreign, 0, 64);
    return refuse(problem,
                  "tools: a tool of type \"%.*s\" is known to its own provider only, and another "
                  "one serves this model",
                  ACOG_VIEW_FMT(type));
}

/* A call that comes back is to have the client's name again. */
static enum acog_code check_tool_names(const struct acog_conversation *conversation,
                                       enum acog_dialect dialect,
                                       struct acog_request_problem *problem)
{
    size_t unfit = 0;
    for (const struct acog_tool *tool = conversation->tools; tool != NULL; tool = tool->next) {
        struct acog_view name = acog_text_of(tool->name).bytes;
        if (name.len > ACOG_IDENTITY_NAME_MAX) {
            return refuse(problem, "tools: a name is longer than 256 bytes");
        }
        unfit += tool->identity != NULL || acog_tool_name_fits(dialect, name) ? 0 : 1;
    }
    return unfit <= ACOG_IDENTITIES_MAX
               ? ACOG_OK
               : refuse(problem, "tools: more than 512 have names that the model does not take");
}

static enum acog_code check_parts(const struct acog_conversation *conversation,
                                  struct acog_request_problem *problem)
{
    for (const struct acog_turn *turn = conversation->turns; turn != NULL; turn = turn->next) {
        for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
            if (part->kind == ACOG_PART_FOREIGN &&
                acog_view_equal(part->type, ACOG_VIEW("item_reference"))) {
                return refuse(problem, "input: an item_reference names an item that is kept, and "
                                       "where a request is translated nothing is: send the items "
                                       "themselves (with \"store\": false clients do)");
            }
            if (part->kind == ACOG_PART_FOREIGN) {
                struct acog_view type = acog_view_slice(part->type, 0, 64);
                return refuse(problem,
                              "the conversation holds a \"%.*s\", which only another provider than "
                              "the one that serves this model can read",
                              ACOG_VIEW_FMT(type));
            }
        }
    }
    return ACOG_OK;
}

/* Whether anything is left for a provider that did not make the reasoning. */
static bool says_anything(const struct acog_conversation *conversation)
{
    for (const struct acog_turn *turn = conversation->turns; turn != NULL; turn = turn->next) {
        for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
            if (part->kind != ACOG_PART_REASONING) {
                return true;
            }
        }
    }
    return false;
}

/* The last turn is the assistant's, and calls nothing: the client began the answer itself. */
static bool is_begun(const struct acog_conversation *conversation)
{
    const struct acog_turn *last = conversation->turns;
    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    return last != NULL && last->role == ACOG_TURN_ASSISTANT &&
           !acog_turn_has(last, ACOG_PART_TOOL_CALL) &&
           (acog_turn_has(last, ACOG_PART_TEXT) || acog_turn_has(last, ACOG_PART_REFUSAL));
}

/* Anthropic's and Google's models continue what is begun, or refuse it. OpenAI's answer anew, which is what their
 * clients expect, and no others. */
static const char *objection_to_the_end(const struct acog_conversation *conversation,
                                        enum acog_dialect dialect,
                                        const struct acog_model_rules *rules)
{
    bool refuses = dialect == ACOG_DIALECT_MESSAGES || dialect == ACOG_DIALECT_GEMINI;
    bool expected = refuses || conversation->surface == ACOG_SURFACE_MESSAGES;
    return rules->prefill || !expected || !is_begun(conversation)
               ? NULL
               : "messages: the model that serves does not continue a last turn of the assistant: "
                 "end with a turn of the user";
}

static const char *objection_to(const struct acog_conversation *conversation,
                                enum acog_dialect dialect, const struct acog_model_rules *rules)
{
    switch (dialect) {
    case ACOG_DIALECT_CHAT:
        return acog_chat_objection(conversation, rules);
    case ACOG_DIALECT_MESSAGES:
        return acog_messages_objection(conversation, rules);
    case ACOG_DIALECT_RESPONSES:
        return acog_responses_objection(conversation, rules);
    case ACOG_DIALECT_GEMINI:
        return acog_gemini_objection(conversation, rules);
    case ACOG_DIALECT_COUNT:
        break;
    }
    ACOG_UNREACHABLE("a dialect");
}

struct acog_conversation acog_conversation_told(const struct acog_conversation *conversation,
                                                enum acog_dialect dialect,
                                                const struct acog_model_rules *rules)
{
    struct acog_conversation told = *conversation;
    bool forced = conversation->tools != NULL && acog_tool_choice_forces(conversation->tool_choice);
    if (forced && conversation->format != ACOG_FORMAT_TEXT &&
        objection_to(conversation, dialect, rules) != NULL) {
        told.format = ACOG_FORMAT_TEXT;
    }
    return told;
}

enum acog_code acog_conversation_fits(const struct acog_conversation *conversation,
                                      enum acog_dialect dialect,
                                      const struct acog_model_rules *rules,
                                      struct acog_request_problem *problem)
{
    if (conversation->unfaithful_choices) {
        return refuse(problem, "n: must be 1 for a model that is reached by translation");
    }
    enum acog_code code = check_fields(conversation, dialect, problem);
    if (code == ACOG_OK) {
        code = check_tools(conversation, rules, problem);
    }
    if (code == ACOG_OK) {
        code = check_tool_names(conversation, dialect, problem);
    }
    if (code == ACOG_OK) {
        code = check_parts(conversation, problem);
    }
    if (code == ACOG_OK && !says_anything(conversation)) {
        code = refuse(problem, "the conversation holds nothing but a provider's reasoning");
    }
    if (code != ACOG_OK) {
        return code;
    }
    struct acog_conversation told = acog_conversation_told(conversation, dialect, rules);
    const char *objection = objection_to_the_end(&told, dialect, rules);
    objection = objection == NULL ? objection_to(&told, dialect, rules) : objection;
    return objection == NULL ? ACOG_OK : refuse(problem, "%s", objection);
}
