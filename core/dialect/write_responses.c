/* write_responses.c - a conversation as a request of OpenAI Responses: everything but the input
 * (write_responses_input.c).
 *
 * Nothing is stored: the client has no way to ask for it again. So that a model's reasoning is not lost between turns,
 * it is asked for in its encrypted form, which comes back in the client's own dialect (opaque.h).
 */
#include "write_responses.h"

#include "effort.h"
#include "schema.h"

#define OUTPUT_TOKENS_MIN 16 /* the API refuses less */

/* -- instructions ---------------------------------------------------------------------------------- */

/* All leading system texts as one, a blank line between them. */
static void put_instructions(struct acog_request_writer *writer)
{
    const struct acog_part *first = writer->conversation->system.first;
    if (first == NULL) {
        return;
    }
    acog_put(writer, ACOG_VIEW("\"instructions\":\""));
    for (const struct acog_part *part = first; part != NULL; part = part->next) {
        acog_put(writer, part == first ? (struct acog_view){0} : ACOG_VIEW("\\n\\n"));
        acog_put_inside(writer, acog_text_of(part->text));
        acog_put_cache_lost(writer, part, true);
    }
    acog_put(writer, ACOG_VIEW("\","));
}

/* -- tools ----------------------------------------------------------------------------------------- */

static void put_tool(struct acog_request_writer *writer, const struct acog_tool *tool)
{
    acog_put(writer, ACOG_VIEW("{\"type\":\"function\""));
    acog_put(writer, ACOG_VIEW(",\"name\":"));
    acog_put_tool_name(writer, acog_text_of(tool->name));
    acog_put_member(writer, ACOG_VIEW("description"), tool->description);
    acog_put(writer, ACOG_VIEW(",\"parameters\":"));
    acog_schema_put_openai_object(writer, tool->schema);
    /* Without it the API would be strict where it can, which is not what other dialects mean. */
    struct acog_json_value strict =
        acog_schema_openai_strict(writer, tool->strict, tool->schema, ACOG_VIEW("tools.strict"));
    acog_put(writer, strict.type == ACOG_JSON_TRUE ? ACOG_VIEW(",\"strict\":true}")
                                                   : ACOG_VIEW(",\"strict\":false}"));
    if (acog_json_present(tool->cache)) {
        acog_put_dropped(writer, ACOG_VIEW("tools.cache_control"));
    }
}

/* The one tool whose arguments are the answer (B20). */
static void put_schema_tool(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    acog_put(
        writer,
        ACOG_VIEW(",\"tools\":[{\"type\":\"function\",\"name\":\"" ACOG_SCHEMA_TOOL_NAME "\""));
    acog_put_member(writer, ACOG_VIEW("description"), conversation->schema_description);
    acog_put(writer, ACOG_VIEW(",\"parameters\":"));
    acog_schema_put_openai_object(writer, conversation->schema);
    acog_put(writer, conversation->schema_strict.type == ACOG_JSON_TRUE
                         ? ACOG_VIEW(",\"strict\":true}]")
                         : ACOG_VIEW(",\"strict\":false}]"));
    acog_put(writer, ACOG_VIEW(",\"tool_choice\":{\"type\":\"function\",\"name\":"
                               "\"" ACOG_SCHEMA_TOOL_NAME "\"}"));
    writer->translation->schema_by_tool = true;
}

static bool is_by_tool(const struct acog_conversation *conversation,
                       const struct acog_model_rules *rules)
{
    return conversation->format != ACOG_FORMAT_TEXT && rules->schema == ACOG_SCHEMA_TOOL;
}

static void put_tools(struct acog_request_writer *writer)
{
    const struct acog_tool *first = writer->conversation->tools;
    if (is_by_tool(writer->conversation, writer->translation->rules)) {
        put_schema_tool(writer);
        return;
    }
    if (first == NULL) {
        return;
    }
    acog_put(writer, ACOG_VIEW(",\"tools\":["));
    for (const struct acog_tool *tool = first; tool != NULL; tool = tool->next) {
        acog_put(writer, tool == first ? (struct acog_view){0} : ACOG_VIEW(","));
        put_tool(writer, tool);
    }
    acog_put(writer, ACOG_VIEW("]"));
    acog_put_openai_tool_choice(writer, ACOG_VIEW("{\"type\":\"function\",\"name\":"),
                                ACOG_VIEW("}"));
}

/* -- limits ---------------------------------------------------------------------------------------- */

static void put_limit(struct acog_request_writer *writer)
{
    int64_t asked = writer->conversation->max_tokens;
    int64_t largest = writer->translation->rules->largest_output_tokens;
    int64_t limit = asked;
    writer->translation->max_tokens = -1;
    if (asked < 0) {
        return;
    }
    limit = largest >= 0 && limit > largest ? largest : limit;
    limit = limit < OUTPUT_TOKENS_MIN ? OUTPUT_TOKENS_MIN : limit;
    if (limit != asked) {
        acog_put_lost(writer, ACOG_VIEW("max_tokens"), ACOG_VIEW("max_tokens"),
                      ACOG_VIEW("max_output_tokens"));
    }
    acog_put_format(writer, ",\"max_output_tokens\":%lld", (long long)limit);
    writer->translation->max_tokens = limit;
}

/* -- text ------------------------------------------------------------------------------------------ */

static void put_schema_format(struct acog_request_writer *writer)
{
    acog_put(writer, ACOG_VIEW("\"format\":{\"type\":\"json_schema\","));
    acog_put_openai_schema(writer);
    acog_put(writer, ACOG_VIEW("}"));
}

static void put_text_settings(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    struct acog_json_value verbosity = conversation->fields[ACOG_FIELD_VERBOSITY];
    bool formatted = conversation->format != ACOG_FORMAT_TEXT &&
                     !is_by_tool(conversation, writer->translation->rules);
    if (!formatted && !acog_json_present(verbosity)) {
        return;
    }
    acog_put(writer, ACOG_VIEW(",\"text\":{"));
    if (formatted && conversation->format == ACOG_FORMAT_SCHEMA) {
        put_schema_format(writer);
    } else if (formatted) {
        acog_put(writer, ACOG_VIEW("\"format\":{\"type\":\"json_object\"}"));
    }
    if (acog_json_present(verbosity)) {
        acog_put(writer, formatted ? ACOG_VIEW(",") : (struct acog_view){0});
        acog_put(writer, ACOG_VIEW("\"verbosity\":"));
        acog_put(writer, verbosity.raw);
    }
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- reasoning ------------------------------------------------------------------------------------- */

/* The word to send; COUNT: none, the model thinks as hard as it would. */
static enum acog_effort effort_to_send(struct acog_request_writer *writer)
{
    const struct acog_reasoning_wish *wish = &writer->conversation->reasoning;
    unsigned efforts = writer->translation->rules->efforts;
    enum acog_effort wanted = acog_reasoning_effort(wish);
    if (wanted == ACOG_EFFORT_COUNT) {
        return wanted;
    }
    enum acog_effort effort = acog_effort_nearest(wanted, efforts);
    if (effort != wanted) {
        acog_put_reasoning_lost(writer);
    }
    return effort;
}

static void put_reasoning(struct acog_request_writer *writer)
{
    const struct acog_reasoning_wish *wish = &writer->conversation->reasoning;
    if (writer->translation->rules->thinking == ACOG_THINKING_NONE) {
        if (wish->given && !wish->off) {
            acog_put_reasoning_lost(writer);
        }
        return;
    }
    acog_put(writer, ACOG_VIEW(",\"include\":[\"reasoning.encrypted_content\"]"));
    if (!wish->given) {
        return;
    }
    enum acog_effort effort = effort_to_send(writer);
    bool named = effort != ACOG_EFFORT_COUNT;
    bool shown = wish->summary && !wish->off;
    if (!named && !shown) {
        return;
    }
    acog_put(writer, ACOG_VIEW(",\"reasoning\":{"));
    if (named) {
        acog_put_format(writer, "\"effort\":\"%.*s\"%s", ACOG_VIEW_FMT(acog_effort_word(effort)),
                        shown ? "," : "");
    }
    acog_put(writer, shown ? ACOG_VIEW("\"summary\":\"auto\"}") : ACOG_VIEW("}"));
}

/* -- the body -------------------------------------------------------------------------------------- */

void acog_responses_write_conversation(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    acog_put(writer, ACOG_VIEW("{\"model\":"));
    acog_put_string(writer, acog_text_plain(writer->translation->model));
    acog_put(writer, ACOG_VIEW(","));
    put_instructions(writer);
    acog_responses_put_input(writer);
    put_tools(writer);
    put_limit(writer);
    put_text_settings(writer);
    put_reasoning(writer);
    acog_put_user(writer, ACOG_VIEW(",\"user\":"), ACOG_VIEW(""), ACOG_OPENAI_USER_BYTES_MAX);
    if (conversation->stop_count > 0) {
        acog_put_lost(writer, ACOG_VIEW("stop"), ACOG_VIEW("stop_sequences"), ACOG_VIEW("stop"));
    }
    acog_put_fields(writer, ACOG_DIALECT_RESPONSES);
    acog_put(writer, writer->translation->stream ? ACOG_VIEW(",\"store\":false,\"stream\":true}")
                                                 : ACOG_VIEW(",\"store\":false}"));
}

/* -- what does not go ------------------------------------------------------------------------------ */

static const char *object_to_part(const struct acog_part *part, enum acog_turn_role role)
{
    if (part->kind != ACOG_PART_MEDIA) {
        return NULL;
    }
    if (role == ACOG_TURN_ASSISTANT) {
        return "an assistant's message with media cannot be sent to the model that serves this "
               "request";
    }
    if (part->media.source == ACOG_MEDIA_FILE_ID) {
        return "a file that is kept at another provider cannot be read by the one that serves "
               "this model: send it in the request";
    }
    switch (part->media.kind) {
    case ACOG_MEDIA_AUDIO:
        return "audio cannot be sent to the model that serves this request";
    case ACOG_MEDIA_VIDEO:
        return "video cannot be sent to the model that serves this request";
    case ACOG_MEDIA_IMAGE:
    case ACOG_MEDIA_DOCUMENT:
    case ACOG_MEDIA_FILE:
        break;
    }
    return NULL;
}

static const char *object_to_turn(const struct acog_turn *turn)
{
    const char *objection = NULL;
    const struct acog_part *part = turn->parts.first;
    for (; part != NULL && objection == NULL; part = part->next) {
        const struct acog_part *inner = part->content.first;
        objection = object_to_part(part, turn->role);
        for (; inner != NULL && objection == NULL; inner = inner->next) {
            objection = object_to_part(inner, turn->role);
        }
    }
    return objection;
}

const char *acog_responses_objection(const struct acog_conversation *conversation,
                                     const struct acog_model_rules *rules)
{
    if (conversation->format == ACOG_FORMAT_SCHEMA && rules->schema == ACOG_SCHEMA_NONE) {
        return "a JSON schema cannot be enforced at the model that serves this request";
    }
    if (is_by_tool(conversation, rules) && conversation->tools != NULL) {
        return "a JSON schema and tools cannot be asked for together of the model that serves "
               "this request";
    }
    const char *objection = NULL;
    const struct acog_turn *turn = conversation->turns;
    for (; turn != NULL && objection == NULL; turn = turn->next) {
        objection = object_to_turn(turn);
    }
    return objection;
}
