/* translate.c - which reader, which writer. */
#include "acog/translate.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "flow.h"
#include "put.h"

/* -- requests -------------------------------------------------------------------------------------- */

enum acog_code acog_conversation_read(enum acog_surface surface, struct acog_view body,
                                      struct acog_arena *arena,
                                      const struct acog_conversation **conversation,
                                      struct acog_request_problem *problem)
{
    struct acog_conversation *read = acog_arena_take(arena, sizeof(*read));
    if (read == NULL) {
        return ACOG_NO_MEMORY;
    }
    *read = (struct acog_conversation){
        .surface = surface,
        .max_tokens = -1,
        .reasoning = {.effort = ACOG_EFFORT_COUNT, .budget_tokens = -1},
    };
    struct acog_conversation_builder builder = {
        .arena = arena, .conversation = read, .problem = problem};
    struct acog_json_value object;
    struct acog_json_error error;
    if (acog_json_check(body, ACOG_JSON_DEPTH_MAX, &object, &error) != ACOG_OK ||
        object.type != ACOG_JSON_OBJECT) {
        acog_builder_refuse(&builder, "the body: must be a JSON object");
        return builder.code;
    }
    switch (surface) {
    case ACOG_SURFACE_CHAT:
        acog_chat_read_conversation(&builder, object);
        break;
    case ACOG_SURFACE_MESSAGES:
        acog_messages_read_conversation(&builder, object);
        break;
    case ACOG_SURFACE_RESPONSES:
        acog_responses_read_conversation(&builder, object);
        break;
    case ACOG_SURFACE_COUNT_TOKENS:
    case ACOG_SURFACE_EMBEDDINGS:
    case ACOG_SURFACE_COUNT:
        ACOG_UNREACHABLE("a surface without translation");
    }
    acog_builder_finish(&builder);
    *conversation = builder.code == ACOG_OK ? read : NULL;
    return builder.code;
}

enum acog_code acog_conversation_write(const struct acog_conversation *conversation,
                                       struct acog_translation *translation,
                                       struct acog_arena *arena, struct acog_buffer *out)
{
    char *memory = acog_arena_take(arena, ACOG_DROPPED_BYTES_MAX);
    if (memory == NULL) {
        return ACOG_NO_MEMORY;
    }
    struct acog_conversation told =
        acog_conversation_told(conversation, translation->upstream, translation->rules);
    struct acog_request_writer writer = {
        .conversation = &told, .translation = translation, .arena = arena, .out = out};
    acog_buffer_init_over(&writer.dropped, memory, ACOG_DROPPED_BYTES_MAX);
    if (conversation->foreign_tools != NULL) {
        acog_put_dropped(&writer, ACOG_VIEW("tools"));
    }
    acog_put_prepare_tool_names(&writer);
    switch (translation->upstream) {
    case ACOG_DIALECT_CHAT:
        acog_chat_write_conversation(&writer);
        break;
    case ACOG_DIALECT_MESSAGES:
        acog_messages_write_conversation(&writer);
        break;
    case ACOG_DIALECT_RESPONSES:
        acog_responses_write_conversation(&writer);
        break;
    case ACOG_DIALECT_GEMINI:
        acog_gemini_write_conversation(&writer);
        break;
    case ACOG_DIALECT_COUNT:
        ACOG_UNREACHABLE("a dialect");
    }
    translation->dropped = acog_buffer_view(&writer.dropped);
    translation->identities = writer.identities;
    return writer.code;
}

/* -- answers --------------------------------------------------------------------------------------- */

struct acog_translator {
    struct acog_flow flow;
};

static const struct acog_answer_writer_form *form_of(enum acog_dialect client, bool stream)
{
    switch (client) {
    case ACOG_DIALECT_CHAT:
        return stream ? &acog_chat_stream_form : &acog_chat_whole_form;
    case ACOG_DIALECT_MESSAGES:
        return stream ? &acog_messages_stream_form : &acog_messages_whole_form;
    case ACOG_DIALECT_RESPONSES:
        return stream ? &acog_responses_stream_form : &acog_responses_whole_form;
    case ACOG_DIALECT_GEMINI:
    case ACOG_DIALECT_COUNT:
        break;
    }
    ACOG_UNREACHABLE("a dialect of clients");
}

struct acog_translator *acog_translator_new(const struct acog_translation *translation)
{
    struct acog_translator *translator = acog_new(sizeof(*translator));
    if (translator != NULL &&
        acog_flow_init(&translator->flow, translation,
                       form_of(translation->client, translation->stream)) != ACOG_OK) {
        acog_translator_free(&translator);
    }
    return translator;
}

void acog_translator_free(struct acog_translator **translator)
{
    if (*translator != NULL) {
        acog_flow_fini(&(*translator)->flow);
        acog_free(*translator);
        *translator = NULL;
    }
}

static void read_whole(struct acog_flow *flow, struct acog_json_value body,
                       struct acog_arena *scratch)
{
    switch (flow->translation->upstream) {
    case ACOG_DIALECT_CHAT:
        acog_chat_read_whole(flow, body, scratch);
        break;
    case ACOG_DIALECT_MESSAGES:
        acog_messages_read_whole(flow, body, scratch);
        break;
    case ACOG_DIALECT_RESPONSES:
        acog_responses_read_whole(flow, body, scratch);
        break;
    case ACOG_DIALECT_GEMINI:
        acog_gemini_read_whole(flow, body, scratch);
        break;
    case ACOG_DIALECT_COUNT:
        ACOG_UNREACHABLE("a dialect");
    }
}

static void read_event(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                       struct acog_arena *scratch)
{
    switch (flow->translation->upstream) {
    case ACOG_DIALECT_CHAT:
        acog_chat_read_event(flow, name, data, scratch);
        break;
    case ACOG_DIALECT_MESSAGES:
        acog_messages_read_event(flow, name, data, scratch);
        break;
    case ACOG_DIALECT_RESPONSES:
        acog_responses_read_event(flow, name, data, scratch);
        break;
    case ACOG_DIALECT_GEMINI:
        acog_gemini_read_event(flow, name, data, scratch);
        break;
    case ACOG_DIALECT_COUNT:
        ACOG_UNREACHABLE("a dialect");
    }
}

/* What failed tells nothing: half of an event is no event, and its numbers were not used. */
static enum acog_code outcome(struct acog_flow *flow, size_t before, int64_t sequence)
{
    if (flow->code != ACOG_OK) {
        flow->out->len = before;
        flow->sequence = sequence;
    }
    return flow->code;
}

enum acog_code acog_translator_whole(struct acog_translator *translator, struct acog_view body,
                                     struct acog_arena *scratch, struct acog_buffer *out)
{
    struct acog_flow *flow = &translator->flow;
    struct acog_json_value object;
    struct acog_json_error error;
    if (acog_json_check(body, ACOG_JSON_DEPTH_MAX, &object, &error) != ACOG_OK) {
        return ACOG_INVALID;
    }
    size_t before = out->len;
    int64_t sequence = flow->sequence;
    flow->out = out;
    read_whole(flow, object, scratch);
    acog_flow_end(flow);
    return outcome(flow, before, sequence);
}

enum acog_code acog_translator_event(struct acog_translator *translator, struct acog_view name,
                                     struct acog_view data, struct acog_arena *scratch,
                                     struct acog_buffer *out)
{
    struct acog_flow *flow = &translator->flow;
    size_t before = out->len;
    int64_t sequence = flow->sequence;
    flow->out = out;
    read_event(flow, name, data, scratch);
    return outcome(flow, before, sequence);
}

enum acog_code acog_translator_end(struct acog_translator *translator, struct acog_buffer *out)
{
    struct acog_flow *flow = &translator->flow;
    size_t before = out->len;
    int64_t sequence = flow->sequence;
    flow->out = out;
    acog_flow_end(flow);
    return outcome(flow, before, sequence);
}

/* -- for a terminal frame -------------------------------------------------------------------------- */

int64_t acog_translator_next_sequence(const struct acog_translator *translator)
{
    return translator->flow.sequence;
}

struct acog_usage acog_translator_usage(const struct acog_translator *translator, bool *estimated)
{
    *estimated = translator->flow.usage_estimated;
    return translator->flow.usage;
}
