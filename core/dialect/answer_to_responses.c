/* answer_to_responses.c - an answer as OpenAI Responses, whole or as the stream of events that builds it (B35).
 *
 *   created  in_progress  ( item.added  …  item.done )*  completed | incomplete
 *
 *   message    ( content_part.added  delta*  annotation*  done  content_part.done )+   texts and refusals in a row
 *   reasoning  ( summary_part.added  delta*  done  summary_part.done )?
 *   call       delta*  done                            of a custom tool, at its end: its input is an argument's text
 *
 * The last event holds all items once more, so that they are gathered on the way, capped; the whole form is that alone.
 * What is opaque stands in a reasoning item: of reasoning in its own, of a call in one behind the call, under a tag with
 * the call's id (read_responses_input.c gives it back).
 */
#include "answer_to_responses.h"

#include "acog/contract.h"

#include <string.h>

#define OUTPUT_BYTES_MAX ((size_t)32 * 1024 * 1024) /* of all items, and of each text on the way */
#define ID_BYTES_MAX     40 /* of the answer's id in an item's: the API takes 64 in all */

struct responses_writer {
    bool stream;
    bool in_message;
    uint32_t output_index;  /* of the open item, or the next */
    uint32_t content_index; /* of the open part of a message, or the next */
    uint32_t annotations;   /* of the open part */
    size_t counted_bytes;   /* of its text, which are so many characters */
    size_t characters;
    char item_id[ID_BYTES_MAX + 24];
    struct acog_buffer text;       /* of the open part, as between quotes */
    struct acog_buffer annotation; /* objects, commas between */
    struct acog_buffer opaque;     /* of the open part, as between quotes */
    struct acog_buffer content;    /* the open message's parts that are done */
    struct acog_buffer output;     /* the items that are done */
    struct acog_buffer item;       /* one that is put together */
};

/* -- state ----------------------------------------------------------------------------------------- */

static void init_buffers(struct responses_writer *writer)
{
    acog_buffer_init(&writer->text, OUTPUT_BYTES_MAX);
    acog_buffer_init(&writer->annotation, OUTPUT_BYTES_MAX);
    acog_buffer_init(&writer->opaque, OUTPUT_BYTES_MAX);
    acog_buffer_init(&writer->content, OUTPUT_BYTES_MAX);
    acog_buffer_init(&writer->output, OUTPUT_BYTES_MAX);
    acog_buffer_init(&writer->item, OUTPUT_BYTES_MAX);
}

static void free_writer(void *state)
{
    struct responses_writer *writer = state;
    acog_buffer_fini(&writer->text);
    acog_buffer_fini(&writer->annotation);
    acog_buffer_fini(&writer->opaque);
    acog_buffer_fini(&writer->content);
    acog_buffer_fini(&writer->output);
    acog_buffer_fini(&writer->item);
}

/* The item's id: its kind, the end of the answer's id, its place. Ids of providers may hold anything, these do not. */
static void name_item(const struct acog_flow *flow, struct responses_writer *writer,
                      const char *prefix)
{
    struct acog_view id = acog_flow_name_view(&flow->id);
    struct acog_buffer out;
    if (id.len == 0) {
        id = flow->translation->request_id;
    }
    if (acog_view_starts(id, ACOG_VIEW("resp_"))) {
        id = acog_view_slice(id, sizeof("resp_") - 1, id.len);
    }
    id = acog_view_slice(id, id.len > ID_BYTES_MAX ? id.len - ID_BYTES_MAX : 0, id.len);
    acog_buffer_init_over(&out, writer->item_id, sizeof(writer->item_id) - 1);
    enum acog_code code =
        acog_buffer_format(&out, "%s%.*s_%u", prefix, ACOG_VIEW_FMT(id), writer->output_index);
    ACOG_ASSERT(code == ACOG_OK);
    for (size_t i = 0; i < out.len; i++) {
        char byte = out.ptr[i];
        bool plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                     (byte >= 'A' && byte <= 'Z') || byte == '-';
        if (!plain) {
            out.ptr[i] = '_';
        }
    }
    out.ptr[out.len] = '\0';
}

/* -- pieces of JSON -------------------------------------------------------------------------------- */

static void keep(struct acog_flow *flow, struct acog_buffer *buffer, const char *text)
{
    acog_flow_keep(flow, buffer, acog_view_of(text));
}

static void keep_buffer(struct acog_flow *flow, struct acog_buffer *buffer,
                        const struct acog_buffer *bytes)
{
    acog_flow_keep(flow, buffer, acog_buffer_view(bytes));
}

static void put(struct acog_flow *flow, const char *text)
{
    acog_flow_put(flow, acog_view_of(text));
}

static void put_buffer(struct acog_flow *flow, const struct acog_buffer *bytes)
{
    acog_flow_put(flow, acog_buffer_view(bytes));
}

static void begin_event(struct acog_flow *flow, const char *type)
{
    acog_flow_put_format(flow, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%lld", type,
                         type, (long long)flow->sequence);
    flow->sequence++;
}

static void end_event(struct acog_flow *flow)
{
    put(flow, "}\n\n");
}

/* An event about the open item; `index_name` tells its part, or is NULL. */
static void begin_item_event(struct acog_flow *flow, const struct responses_writer *writer,
                             const char *type, const char *index_name)
{
    begin_event(flow, type);
    acog_flow_put_format(flow, ",\"item_id\":\"%s\",\"output_index\":%u", writer->item_id,
                         writer->output_index);
    if (index_name != NULL) {
        acog_flow_put_format(flow, ",\"%s\":%u", index_name, writer->content_index);
    }
}

/* `…"NAME":"TEXT"}`, of all the open part's text. */
static void end_with_text(struct acog_flow *flow, const struct responses_writer *writer,
                          const char *name)
{
    acog_flow_put_format(flow, ",\"%s\":\"", name);
    put_buffer(flow, &writer->text);
    put(flow, "\"");
    end_event(flow);
}

/* -- items ----------------------------------------------------------------------------------------- */

/* `added` or `done`, with what `item` holds. */
static void put_item_event(struct acog_flow *flow, const struct responses_writer *writer,
                           const char *type)
{
    begin_event(flow, type);
    acog_flow_put_format(flow, ",\"output_index\":%u,\"item\":", writer->output_index);
    put_buffer(flow, &writer->item);
    end_event(flow);
}

static void begin_item(struct acog_flow *flow, struct responses_writer *writer, const char *type)
{
    acog_buffer_clear(&writer->item, SIZE_MAX);
    keep(flow, &writer->item, "{\"id\":\"");
    keep(flow, &writer->item, writer->item_id);
    keep(flow, &writer->item, "\",\"type\":\"");
    keep(flow, &writer->item, type);
    keep(flow, &writer->item, "\"");
}

static void announce(struct acog_flow *flow, const struct responses_writer *writer)
{
    if (writer->stream) {
        put_item_event(flow, writer, "response.output_item.added");
    }
}

/* The item is complete: told, and kept for the end. */
static void complete_item(struct acog_flow *flow, struct responses_writer *writer)
{
    if (writer->stream) {
        put_item_event(flow, writer, "response.output_item.done");
    }
    keep(flow, &writer->output, writer->output.len > 0 ? "," : "");
    keep_buffer(flow, &writer->output, &writer->item);
    writer->output_index++;
}

/* -- messages -------------------------------------------------------------------------------------- */

static void make_message(struct acog_flow *flow, struct responses_writer *writer,
                         const char *status)
{
    begin_item(flow, writer, "message");
    keep(flow, &writer->item, ",\"status\":\"");
    keep(flow, &writer->item, status);
    keep(flow, &writer->item, "\",\"role\":\"assistant\",\"content\":[");
    keep_buffer(flow, &writer->item, &writer->content);
    keep(flow, &writer->item, "]}");
}

static void open_message(struct acog_flow *flow, struct responses_writer *writer)
{
    writer->in_message = true;
    writer->content_index = 0;
    acog_buffer_clear(&writer->content, SIZE_MAX);
    name_item(flow, writer, "msg_");
    make_message(flow, writer, "in_progress");
    announce(flow, writer);
}

static void close_message(struct acog_flow *flow, struct responses_writer *writer,
                          const char *status)
{
    if (writer->in_message) {
        writer->in_message = false;
        make_message(flow, writer, status);
        complete_item(flow, writer);
    }
}

/* The part that is open, as it stands in a message. */
static void keep_message_part(struct acog_flow *flow, const struct responses_writer *writer,
                              enum acog_flow_kind kind, struct acog_buffer *out)
{
    if (kind == ACOG_FLOW_REFUSAL) {
        keep(flow, out, "{\"type\":\"refusal\",\"refusal\":\"");
    } else {
        keep(flow, out, "{\"type\":\"output_text\",\"annotations\":[");
        keep_buffer(flow, out, &writer->annotation);
        keep(flow, out, "],\"logprobs\":[],\"text\":\"");
    }
    keep_buffer(flow, out, &writer->text);
    keep(flow, out, "\"}");
}

static void put_message_part(struct acog_flow *flow, const struct responses_writer *writer,
                             enum acog_flow_kind kind, const char *type)
{
    begin_item_event(flow, writer, type, "content_index");
    put(flow, ",\"part\":");
    keep_message_part(flow, writer, kind, flow->out);
    end_event(flow);
}

static void end_message_part(struct acog_flow *flow, struct responses_writer *writer,
                             enum acog_flow_kind kind)
{
    if (writer->stream && kind == ACOG_FLOW_REFUSAL) {
        begin_item_event(flow, writer, "response.refusal.done", "content_index");
        end_with_text(flow, writer, "refusal");
    } else if (writer->stream) {
        begin_item_event(flow, writer, "response.output_text.done", "content_index");
        put(flow, ",\"logprobs\":[]");
        end_with_text(flow, writer, "text");
    }
    if (writer->stream) {
        put_message_part(flow, writer, kind, "response.content_part.done");
    }
    keep(flow, &writer->content, writer->content_index > 0 ? "," : "");
    keep_message_part(flow, writer, kind, &writer->content);
    writer->content_index++;
}

/* -- reasoning ------------------------------------------------------------------------------------- */

static void make_reasoning(struct acog_flow *flow, struct responses_writer *writer)
{
    begin_item(flow, writer, "reasoning");
    keep(flow, &writer->item, ",\"summary\":[");
    if (writer->text.len > 0) {
        keep(flow, &writer->item, "{\"type\":\"summary_text\",\"text\":\"");
        keep_buffer(flow, &writer->item, &writer->text);
        keep(flow, &writer->item, "\"}");
    }
    keep(flow, &writer->item, "]");
    if (writer->opaque.len > 0) {
        keep(flow, &writer->item, ",\"encrypted_content\":\"");
        keep_buffer(flow, &writer->item, &writer->opaque);
        keep(flow, &writer->item, "\"");
    }
    keep(flow, &writer->item, "}");
}

static void put_summary_part(struct acog_flow *flow, const struct responses_writer *writer,
                             const char *type)
{
    begin_item_event(flow, writer, type, "summary_index");
    put(flow, ",\"part\":{\"type\":\"summary_text\",\"text\":\"");
    put_buffer(flow, &writer->text);
    put(flow, "\"}");
    end_event(flow);
}

/* Reasoning that nobody signed: what says whose it was, so that OpenAI is not told of an item that it never gave. */
static void mark_unsigned(struct acog_flow *flow, struct responses_writer *writer)
{
    const struct acog_opaque mark = {.maker = flow->translation->upstream};
    if (writer->opaque.len == 0 && flow->code == ACOG_OK) {
        acog_flow_fail(flow, acog_opaque_append(&writer->opaque, &mark, flow->translation->client));
    }
}

static void end_reasoning(struct acog_flow *flow, struct responses_writer *writer)
{
    mark_unsigned(flow, writer);
    if (writer->stream && writer->text.len > 0) {
        begin_item_event(flow, writer, "response.reasoning_summary_text.done", "summary_index");
        end_with_text(flow, writer, "text");
        put_summary_part(flow, writer, "response.reasoning_summary_part.done");
    }
    make_reasoning(flow, writer);
    complete_item(flow, writer);
}

/* -- calls ----------------------------------------------------------------------------------------- */

static bool is_custom(const struct acog_flow_part *part)
{
    return part->identity != NULL && part->identity->custom;
}

static void keep_member(struct acog_flow *flow, struct acog_buffer *out, const char *name,
                        struct acog_view characters)
{
    keep(flow, out, ",\"");
    keep(flow, out, name);
    keep(flow, out, "\":\"");
    acog_flow_keep_inside(flow, out, acog_text_plain(characters));
    keep(flow, out, "\"");
}

static void make_call(struct acog_flow *flow, struct responses_writer *writer,
                      const struct acog_flow_part *part, const char *status)
{
    struct acog_buffer *item = &writer->item;
    begin_item(flow, writer, is_custom(part) ? "custom_tool_call" : "function_call");
    keep_member(flow, item, "status", acog_view_of(status));
    keep(flow, item, is_custom(part) ? ",\"input\":\"" : ",\"arguments\":\"");
    keep_buffer(flow, item, &writer->text);
    keep(flow, item, "\"");
    keep_member(flow, item, "call_id", acog_flow_name_view(&part->call_id));
    keep_member(flow, item, "name", acog_flow_name_view(&part->call_name));
    if (part->identity != NULL && part->identity->name_space.len > 0) {
        keep_member(flow, item, "namespace", part->identity->name_space);
    }
    keep(flow, item, "}");
}

static void begin_call(struct acog_flow *flow, struct responses_writer *writer,
                       const struct acog_flow_part *part)
{
    name_item(flow, writer, is_custom(part) ? "ctc_" : "fc_");
    make_call(flow, writer, part, "in_progress");
    announce(flow, writer);
}

/* A custom tool's are told when they are complete. */
static void put_arguments(struct acog_flow *flow, struct responses_writer *writer,
                          const struct acog_flow_part *part, struct acog_text piece)
{
    acog_flow_keep_inside(flow, &writer->text, piece);
    if (writer->stream && !is_custom(part)) {
        begin_item_event(flow, writer, "response.function_call_arguments.delta", NULL);
        put(flow, ",\"delta\":\"");
        acog_flow_put_inside(flow, piece);
        put(flow, "\"");
        end_event(flow);
    }
}

/* The text out of the arguments of a function that was told for a custom tool. Arguments of any other form, or that are
 * cut, are what the model said: the client's tool will judge them. */
static void take_input(struct acog_flow *flow, struct responses_writer *writer)
{
    struct acog_json_value object;
    struct acog_json_value input = {.escaped = false};
    struct acog_json_error error;
    struct acog_buffer *characters = &writer->item;
    acog_buffer_clear(characters, SIZE_MAX);
    acog_flow_keep_plain(
        flow, characters,
        (struct acog_text){.bytes = acog_buffer_view(&writer->text), .escaped = true});
    bool found = flow->code == ACOG_OK &&
                 acog_json_check(acog_buffer_view(characters), ACOG_JSON_DEPTH_MAX, &object,
                                 &error) == ACOG_OK &&
                 object.type == ACOG_JSON_OBJECT &&
                 acog_json_member(object, ACOG_VIEW(ACOG_IDENTITY_ARGUMENT), &input) &&
                 input.type == ACOG_JSON_STRING;
    if (found) {
        acog_buffer_clear(&writer->text, SIZE_MAX);
        acog_flow_keep(flow, &writer->text, acog_text_of(input).bytes);
    }
}

static void end_arguments(struct acog_flow *flow, struct responses_writer *writer,
                          const struct acog_flow_part *part)
{
    if (!part->begun) {
        put_arguments(flow, writer, part, acog_text_plain(ACOG_VIEW("{}")));
    }
    if (writer->stream) {
        begin_item_event(flow, writer, "response.function_call_arguments.done", NULL);
        put(flow, ",\"name\":\"");
        acog_flow_put_inside(flow, acog_text_plain(acog_flow_name_view(&part->call_name)));
        put(flow, "\"");
        end_with_text(flow, writer, "arguments");
    }
}

static void end_input(struct acog_flow *flow, struct responses_writer *writer)
{
    take_input(flow, writer);
    if (writer->stream && writer->text.len > 0) {
        begin_item_event(flow, writer, "response.custom_tool_call_input.delta", NULL);
        end_with_text(flow, writer, "delta");
    }
    if (writer->stream) {
        begin_item_event(flow, writer, "response.custom_tool_call_input.done", NULL);
        end_with_text(flow, writer, "input");
    }
}

static void end_call(struct acog_flow *flow, struct responses_writer *writer,
                     const struct acog_flow_part *part)
{
    if (is_custom(part)) {
        end_input(flow, writer);
    } else {
        end_arguments(flow, writer, part);
    }
    make_call(flow, writer, part, "completed");
    complete_item(flow, writer);
    if (writer->opaque.len > 0) {
        acog_buffer_clear(&writer->text, SIZE_MAX);
        name_item(flow, writer, "rs_");
        make_reasoning(flow, writer);
        announce(flow, writer);
        complete_item(flow, writer);
    }
}

/* -- the response ---------------------------------------------------------------------------------- */

static void put_response_event(struct acog_flow *flow, const struct acog_buffer *output,
                               const char *type)
{
    begin_event(flow, type);
    put(flow, ",\"response\":");
    acog_responses_put_object(flow, output);
    end_event(flow);
}

/* -- the form -------------------------------------------------------------------------------------- */

static void begin_whole(struct acog_flow *flow, void *state)
{
    (void)flow;
    init_buffers(state);
}

static void begin_stream(struct acog_flow *flow, void *state)
{
    struct responses_writer *writer = state;
    init_buffers(writer);
    writer->stream = true;
    put_response_event(flow, NULL, "response.created");
    put_response_event(flow, NULL, "response.in_progress");
}

static void part_begin(struct acog_flow *flow, void *state, const struct acog_flow_part *part)
{
    struct responses_writer *writer = state;
    acog_buffer_clear(&writer->text, SIZE_MAX);
    acog_buffer_clear(&writer->opaque, SIZE_MAX);
    acog_buffer_clear(&writer->annotation, SIZE_MAX);
    writer->annotations = 0;
    writer->counted_bytes = 0;
    writer->characters = 0;
    switch (part->kind) {
    case ACOG_FLOW_TEXT:
    case ACOG_FLOW_REFUSAL:
        if (!writer->in_message) {
            open_message(flow, writer);
        }
        if (writer->stream) {
            put_message_part(flow, writer, part->kind, "response.content_part.added");
        }
        break;
    case ACOG_FLOW_REASONING:
        close_message(flow, writer, "completed");
        writer->content_index = 0;
        name_item(flow, writer, "rs_");
        make_reasoning(flow, writer);
        announce(flow, writer);
        break;
    case ACOG_FLOW_CALL:
        close_message(flow, writer, "completed");
        begin_call(flow, writer, part);
        break;
    }
}

static void put_delta(struct acog_flow *flow, struct responses_writer *writer, const char *type,
                      const char *index_name, struct acog_text text)
{
    if (writer->stream) {
        begin_item_event(flow, writer, type, index_name);
        put(flow, ",\"delta\":\"");
        acog_flow_put_inside(flow, text);
        put(flow, "\"");
    }
    acog_flow_keep_inside(flow, &writer->text, text);
}

static void part_text(struct acog_flow *flow, void *state, const struct acog_flow_part *part,
                      struct acog_text text)
{
    struct responses_writer *writer = state;
    switch (part->kind) {
    case ACOG_FLOW_TEXT:
        put_delta(flow, writer, "response.output_text.delta", "content_index", text);
        if (writer->stream) {
            put(flow, ",\"logprobs\":[]");
        }
        break;
    case ACOG_FLOW_REFUSAL:
        put_delta(flow, writer, "response.refusal.delta", "content_index", text);
        break;
    case ACOG_FLOW_REASONING:
        if (writer->stream && !part->begun) {
            put_summary_part(flow, writer, "response.reasoning_summary_part.added");
        }
        put_delta(flow, writer, "response.reasoning_summary_text.delta", "summary_index", text);
        break;
    case ACOG_FLOW_CALL:
        put_arguments(flow, writer, part, text);
        return;
    }
    if (writer->stream) {
        end_event(flow);
    }
}

/* A call's is told under the call's id, unless that would not come back out of the tag. */
static void part_opaque(struct acog_flow *flow, void *state, const struct acog_flow_part *part,
                        const struct acog_opaque *opaque)
{
    struct responses_writer *writer = state;
    struct acog_opaque told = *opaque;
    acog_buffer_clear(&writer->opaque, SIZE_MAX);
    if (part->kind == ACOG_FLOW_CALL) {
        struct acog_view id = acog_flow_name_view(&part->call_id);
        if (acog_view_find(id, ACOG_VIEW(".")) < id.len) {
            return;
        }
        told.id = acog_text_plain(id);
    }
    if (flow->code == ACOG_OK) {
        acog_flow_fail(flow, acog_opaque_append(&writer->opaque, &told, flow->translation->client));
    }
}

/* Characters of a text that is written as between quotes; a pair of surrogate escapes is one. */
static size_t characters(struct acog_view text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte == '\\' && i + 1 < text.len && text.ptr[i + 1] == 'u') {
            bool low = i + 3 < text.len && (text.ptr[i + 2] | 0x20) == 'd' &&
                       strchr("cdefCDEF", text.ptr[i + 3]) != NULL;
            count += low ? 0 : 1;
            i += 5;
        } else if (byte == '\\') {
            count++;
            i++;
        } else {
            count += (byte & 0xc0U) == 0x80U ? 0 : 1;
        }
    }
    return count;
}

/* Only what is new: an answer may have many sources. */
static void count_characters(struct responses_writer *writer)
{
    writer->characters += characters(
        acog_view_slice(acog_buffer_view(&writer->text), writer->counted_bytes, SIZE_MAX));
    writer->counted_bytes = writer->text.len;
}

/* Where in the text it belongs no reader tells: to all of it so far. */
static void part_citation(struct acog_flow *flow, void *state, const struct acog_flow_part *part,
                          struct acog_text url, struct acog_text title)
{
    struct responses_writer *writer = state;
    struct acog_buffer *out = &writer->annotation;
    (void)part;
    keep(flow, out, out->len > 0 ? "," : "");
    size_t before = out->len;
    count_characters(writer);
    keep(flow, out, "{\"type\":\"url_citation\",\"url\":\"");
    acog_flow_keep_inside(flow, out, url);
    keep(flow, out, "\",\"title\":\"");
    acog_flow_keep_inside(flow, out, title);
    if (flow->code == ACOG_OK) {
        acog_flow_fail(flow, acog_buffer_format(out, "\",\"start_index\":0,\"end_index\":%zu}",
                                                writer->characters));
    }
    if (writer->stream) {
        begin_item_event(flow, writer, "response.output_text.annotation.added", "content_index");
        acog_flow_put_format(flow, ",\"annotation_index\":%u,\"annotation\":", writer->annotations);
        acog_flow_put(flow, acog_view_slice(acog_buffer_view(out), before, out->len));
        end_event(flow);
    }
    writer->annotations++;
}

static void part_end(struct acog_flow *flow, void *state, const struct acog_flow_part *part)
{
    struct responses_writer *writer = state;
    switch (part->kind) {
    case ACOG_FLOW_TEXT:
    case ACOG_FLOW_REFUSAL:
        end_message_part(flow, writer, part->kind);
        break;
    case ACOG_FLOW_REASONING:
        end_reasoning(flow, writer);
        break;
    case ACOG_FLOW_CALL:
        end_call(flow, writer, part);
        break;
    }
}

static void finish(struct acog_flow *flow, void *state)
{
    struct responses_writer *writer = state;
    bool complete = acog_responses_is_complete(flow);
    close_message(flow, writer, complete ? "completed" : "incomplete");
    if (writer->stream) {
        put_response_event(flow, &writer->output,
                           complete ? "response.completed" : "response.incomplete");
    } else {
        acog_responses_put_object(flow, &writer->output);
    }
}

/* The two differ in how they begin: whether it is told on the way. */
#define FORM(how)                                                                                 \
    {                                                                                             \
        .state_bytes = sizeof(struct responses_writer), .begin = (how), .part_begin = part_begin, \
        .part_text = part_text, .part_opaque = part_opaque, .part_citation = part_citation,       \
        .part_end = part_end, .finish = finish, .free = free_writer,                              \
    }

const struct acog_answer_writer_form acog_responses_stream_form = FORM(begin_stream);
const struct acog_answer_writer_form acog_responses_whole_form = FORM(begin_whole);
