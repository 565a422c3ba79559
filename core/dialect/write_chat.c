/* write_chat.c - a conversation as a request of chat/completions. Its messages are in write_chat_turns.c.
 *
 * Usage is always asked for in a stream: the gateway's books need it, and a client that did not ask does not see it.
 */
#include "write_chat.h"

#include "effort.h"
#include "schema.h"

#define STOPS_MAX 4 /* OpenAI takes no more */

/* -- tools ----------------------------------------------------------------------------------------- */

static void put_tool(struct acog_request_writer *writer, const struct acog_tool *tool)
{
    if (acog_json_present(tool->cache)) {
        acog_put_dropped(writer, ACOG_VIEW("tools.cache_control"));
    }
    acog_put(writer, ACOG_VIEW("{\"type\":\"function\",\"function\":{\"name\":"));
    acog_put_tool_name(writer, acog_text_of(tool->name));
    acog_put_member(writer, ACOG_VIEW("description"), tool->description);
    if (acog_json_present(tool->schema)) {
        acog_put(writer, ACOG_VIEW(",\"parameters\":"));
        acog_schema_put_openai_object(writer, tool->schema);
    }
    acog_put_member(
        writer, ACOG_VIEW("strict"),
        acog_schema_openai_strict(writer, tool->strict, tool->schema, ACOG_VIEW("tools.strict")));
    acog_put(writer, ACOG_VIEW("}}"));
}

static void put_tools(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    if (conversation->tools == NULL) {
        return;
    }
    for (const struct acog_tool *tool = conversation->tools; tool != NULL; tool = tool->next) {
        acog_put(writer, tool == conversation->tools ? ACOG_VIEW(",\"tools\":[") : ACOG_VIEW(","));
        put_tool(writer, tool);
    }
    acog_put(writer, ACOG_VIEW("]"));
    acog_put_openai_tool_choice(writer, ACOG_VIEW("{\"type\":\"function\",\"function\":{\"name\":"),
                                ACOG_VIEW("}}"));
}

/* -- the answer's form ----------------------------------------------------------------------------- */

/* One forced tool whose arguments are the answer (B20). */
static void put_schema_tool(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    const struct acog_view name = ACOG_VIEW("\"" ACOG_SCHEMA_TOOL_NAME "\"");
    acog_put(writer, ACOG_VIEW(",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"));
    acog_put(writer, name);
    acog_put_member(writer, ACOG_VIEW("description"), conversation->schema_description);
    acog_put(writer, ACOG_VIEW(",\"parameters\":"));
    acog_schema_put_openai_object(writer, conversation->schema);
    acog_put(writer,
             ACOG_VIEW("}}],\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":"));
    acog_put(writer, name);
    acog_put(writer, ACOG_VIEW("}}"));
    writer->translation->schema_by_tool = true;
}

static void put_schema(struct acog_request_writer *writer)
{
    acog_put(writer, ACOG_VIEW(",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{"));
    acog_put_openai_schema(writer);
    acog_put(writer, ACOG_VIEW("}}"));
}

static void put_format(struct acog_request_writer *writer)
{
    switch (writer->conversation->format) {
    case ACOG_FORMAT_TEXT:
        break;
    case ACOG_FORMAT_JSON:
        acog_put(writer, ACOG_VIEW(",\"response_format\":{\"type\":\"json_object\"}"));
        break;
    case ACOG_FORMAT_SCHEMA:
        if (writer->translation->rules->schema == ACOG_SCHEMA_TOOL) {
            put_schema_tool(writer);
        } else {
            put_schema(writer);
        }
        break;
    }
}

/* -- limits and reasoning -------------------------------------------------------------------------- */

static void put_limit(struct acog_request_writer *writer)
{
    const struct acog_model_rules *rules = writer->translation->rules;
    int64_t limit = writer->conversation->max_tokens;
    if (rules->largest_output_tokens >= 0 && limit > rules->largest_output_tokens) {
        limit = rules->largest_output_tokens;
        acog_put_lost(writer, ACOG_VIEW("max_completion_tokens"), ACOG_VIEW("max_tokens"),
                      ACOG_VIEW("max_output_tokens"));
    }
    writer->translation->max_tokens = limit;
    if (limit >= 0) {
        acog_put_format(writer, ",\"%s\":%lld",
                        rules->max_completion_tokens ? "max_completion_tokens" : "max_tokens",
                        (long long)limit);
    }
}

static void put_stops(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    size_t count = conversation->stop_count;
    if (count > 0 && !writer->translation->rules->stop) {
        count = 0;
    }
    if (count > STOPS_MAX) {
        count = STOPS_MAX;
    }
    if (count < conversation->stop_count) {
        acog_put_lost(writer, ACOG_VIEW("stop"), ACOG_VIEW("stop_sequences"), ACOG_VIEW("stop"));
    }
    for (size_t i = 0; i < count; i++) {
        acog_put(writer, i == 0 ? ACOG_VIEW(",\"stop\":[") : ACOG_VIEW(","));
        acog_put(writer, conversation->stops[i].raw);
    }
    acog_put(writer, count > 0 ? ACOG_VIEW("]") : ACOG_VIEW(""));
}

static void put_effort(struct acog_request_writer *writer)
{
    const struct acog_model_rules *rules = writer->translation->rules;
    enum acog_effort wanted = acog_reasoning_effort(&writer->conversation->reasoning);
    if (wanted == ACOG_EFFORT_COUNT) {
        return;
    }
    enum acog_effort effort = rules->thinking == ACOG_THINKING_NONE
                                  ? ACOG_EFFORT_COUNT
                                  : acog_effort_nearest(wanted, rules->efforts);
    if (effort != ACOG_EFFORT_COUNT) {
        acog_put(writer, ACOG_VIEW(",\"reasoning_effort\":\""));
        acog_put(writer, acog_effort_word(effort));
        acog_put(writer, ACOG_VIEW("\""));
    }
    bool lost = effort != wanted && !(wanted == ACOG_EFFORT_NONE && effort == ACOG_EFFORT_COUNT &&
                                      rules->thinking == ACOG_THINKING_NONE);
    if (lost) {
        acog_put_reasoning_lost(writer);
    }
}

/* -- the request ----------------------------------------------------------------------------------- */

void acog_chat_write_conversation(struct acog_request_writer *writer)
{
    acog_put(writer, ACOG_VIEW("{\"model\":"));
    acog_put_string(writer, acog_text_plain(writer->translation->model));
    acog_put(writer, ACOG_VIEW(",\"messages\":"));
    acog_chat_write_messages(writer);
    if (writer->translation->stream) {
        acog_put(writer, ACOG_VIEW(",\"stream\":true,\"stream_options\":{\"include_usage\":true}"));
    }
    put_tools(writer);
    put_format(writer);
    put_limit(writer);
    put_stops(writer);
    put_effort(writer);
    acog_put_user(writer, ACOG_VIEW(",\"user\":"), ACOG_VIEW(""), ACOG_OPENAI_USER_BYTES_MAX);
    acog_put_fields(writer, ACOG_DIALECT_CHAT);
    acog_put(writer, ACOG_VIEW("}"));
}

static const char *part_objection(const struct acog_part_list *list)
{
    const char *objection = NULL;
    for (const struct acog_part *part = list->first; part != NULL && objection == NULL;
         part = part->next) {
        objection = acog_chat_part_objection(part);
        for (const struct acog_part *inner = part->content.first;
             inner != NULL && objection == NULL; inner = inner->next) {
            objection = acog_chat_part_objection(inner);
        }
    }
    return objection;
}

const char *acog_chat_objection(const struct acog_conversation *conversation,
                                const struct acog_model_rules *rules)
{
    if (conversation->format == ACOG_FORMAT_SCHEMA) {
        if (rules->schema == ACOG_SCHEMA_NONE) {
            return "this model cannot be held to a JSON schema";
        }
        if (rules->schema == ACOG_SCHEMA_TOOL && conversation->tools != NULL) {
            return "this model cannot be held to a JSON schema while it is offered tools";
        }
    }
    for (const struct acog_turn *turn = conversation->turns; turn != NULL; turn = turn->next) {
        const char *objection = part_objection(&turn->parts);
        if (objection != NULL) {
            return objection;
        }
        for (const struct acog_part *part = turn->parts.first;
             part != NULL && turn->role == ACOG_TURN_ASSISTANT; part = part->next) {
            if (part->kind == ACOG_PART_MEDIA) {
                return "an assistant's turn that holds an image or a file cannot be told to this "
                       "model";
            }
        }
    }
    return NULL;
}
