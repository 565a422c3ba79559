/* write_responses_input.c - turns as the items of OpenAI Responses.
 *
 * A turn is as many items as it has kinds: messages, calls, results, reasoning. A text of the assistant is a message of
 * its own, whose content is a string: the list form is for what the API itself gave out, with ids that it knows.
 * Reasoning goes back only to its maker, under its id (B28, B39).
 */
#include "acog/contract.h"
#include "write_responses.h"

#define CALL_ID_BYTES_MAX 64 /* the API refuses longer ones */

struct items {
    struct acog_request_writer *request;
    bool any;
    unsigned refusals; /* how many there were */
    bool in_message;   /* a user's message is open, in its content */
};

/* -- small things ---------------------------------------------------------------------------------- */

static void close_message(struct items *items)
{
    if (items->in_message) {
        acog_put(items->request, ACOG_VIEW("]}"));
        items->in_message = false;
    }
}

/* Opens an object, which the caller closes. */
static void begin_item(struct items *items, const char *type)
{
    close_message(items);
    acog_put_format(items->request, "%s{\"type\":\"%s\"", items->any ? "," : "", type);
    items->any = true;
}

static void put_string_member(struct acog_request_writer *writer, const char *name,
                              struct acog_text text)
{
    acog_put_format(writer, ",\"%s\":", name);
    acog_put_string(writer, text);
}

static void put_call_id(struct acog_request_writer *writer, struct acog_text id)
{
    acog_put(writer, ACOG_VIEW(",\"call_id\":"));
    acog_put_openai_call_id(writer, id, CALL_ID_BYTES_MAX);
}

/* -- parts of messages and results ----------------------------------------------------------------- */

static void put_text_part(struct acog_request_writer *writer, struct acog_text text)
{
    acog_put(writer, ACOG_VIEW("{\"type\":\"input_text\""));
    put_string_member(writer, "text", text);
    acog_put(writer, ACOG_VIEW("}"));
}

static void put_image(struct acog_request_writer *writer, const struct acog_media *media)
{
    acog_put(writer, ACOG_VIEW("{\"type\":\"input_image\",\"image_url\":"));
    acog_put_openai_url(writer, media);
    acog_put(writer, ACOG_VIEW(",\"detail\":"));
    acog_put(writer, acog_json_present(media->detail) ? media->detail.raw : ACOG_VIEW("\"auto\""));
    acog_put(writer, ACOG_VIEW("}"));
}

/* Content without a name is refused by the API. */
static void put_file(struct acog_request_writer *writer, const struct acog_media *media)
{
    bool at_address = media->source == ACOG_MEDIA_URL;
    acog_put(writer, ACOG_VIEW("{\"type\":\"input_file\""));
    acog_put(writer, at_address ? ACOG_VIEW(",\"file_url\":") : ACOG_VIEW(",\"file_data\":"));
    acog_put_openai_url(writer, media);
    if (!at_address) {
        acog_put(writer, ACOG_VIEW(",\"filename\":"));
        acog_put_openai_file_name(writer, media);
    }
    acog_put(writer, ACOG_VIEW("}"));
}

static void put_media(struct acog_request_writer *writer, const struct acog_media *media)
{
    if (media->source == ACOG_MEDIA_TEXT) {
        put_text_part(writer, media->data);
        if (acog_json_present(media->name)) {
            acog_put_lost(writer, ACOG_VIEW("messages.filename"), ACOG_VIEW("messages.title"),
                          ACOG_VIEW("input.filename"));
        }
        return;
    }
    switch (media->kind) {
    case ACOG_MEDIA_IMAGE:
        put_image(writer, media);
        break;
    case ACOG_MEDIA_DOCUMENT:
    case ACOG_MEDIA_FILE:
        put_file(writer, media);
        break;
    case ACOG_MEDIA_AUDIO:
    case ACOG_MEDIA_VIDEO:
        ACOG_UNREACHABLE("the objection names it");
    }
}

static void put_part(struct acog_request_writer *writer, const struct acog_part *part)
{
    acog_put_cache_lost(writer, part, false);
    if (part->kind == ACOG_PART_MEDIA) {
        put_media(writer, &part->media);
    } else {
        put_text_part(writer, acog_text_of(part->text));
    }
}

/* -- results --------------------------------------------------------------------------------------- */

#define ERROR_PREFIX "Error: " /* the dialect has no flag for it (B25) */

static void put_result_text(struct acog_request_writer *writer, const struct acog_part *result)
{
    const struct acog_part *content = result->content.first;
    acog_put(writer, ACOG_VIEW("\""));
    acog_put(writer, result->is_error ? ACOG_VIEW(ERROR_PREFIX) : (struct acog_view){0});
    if (content != NULL) {
        acog_put_cache_lost(writer, content, false);
        acog_put_inside(writer, acog_text_of(content->text));
    }
    acog_put(writer, ACOG_VIEW("\""));
}

static void put_result_parts(struct acog_request_writer *writer, const struct acog_part *result)
{
    const struct acog_part *part = result->content.first;
    acog_put(writer, ACOG_VIEW("["));
    if (result->is_error) {
        put_text_part(writer, acog_text_plain(ACOG_VIEW(ERROR_PREFIX)));
        acog_put(writer, ACOG_VIEW(","));
    }
    for (bool any = false; part != NULL; part = part->next, any = true) {
        acog_put(writer, any ? ACOG_VIEW(",") : (struct acog_view){0});
        put_part(writer, part);
    }
    acog_put(writer, ACOG_VIEW("]"));
}

/* One text, or none, is a string; several, or media, are a list. */
static void put_result(struct items *items, const struct acog_part *result)
{
    struct acog_request_writer *writer = items->request;
    const struct acog_part *content = result->content.first;
    begin_item(items, "function_call_output");
    put_call_id(writer, result->id);
    acog_put(writer, ACOG_VIEW(",\"output\":"));
    if (content == NULL || (content->next == NULL && content->kind == ACOG_PART_TEXT)) {
        put_result_text(writer, result);
    } else {
        put_result_parts(writer, result);
    }
    acog_put_cache_lost(writer, result, false);
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- the assistant's ------------------------------------------------------------------------------- */

static void put_call(struct items *items, const struct acog_part *call)
{
    struct acog_request_writer *writer = items->request;
    begin_item(items, "function_call");
    put_call_id(writer, call->id);
    acog_put(writer, ACOG_VIEW(",\"name\":"));
    acog_put_tool_name(writer, call->name);
    put_string_member(writer, "arguments", call->arguments);
    acog_put(writer, ACOG_VIEW("}"));
    acog_put_cache_lost(writer, call, false);
}

static void put_assistant_text(struct items *items, const struct acog_part *part)
{
    begin_item(items, "message");
    acog_put(items->request, ACOG_VIEW(",\"role\":\"assistant\""));
    put_string_member(items->request, "content", acog_text_of(part->text));
    acog_put(items->request, ACOG_VIEW("}"));
    acog_put_cache_lost(items->request, part, false);
}

/* A part that only the answer's own form of a message has. Its id must begin as the API's do, and no two may be the
 * same. */
static void put_refusal(struct items *items, const struct acog_part *part)
{
    begin_item(items, "message");
    acog_put_format(items->request,
                    ",\"id\":\"msg_refusal_%u\",\"role\":\"assistant\",\"status\":\"completed\","
                    "\"content\":[{\"type\":\"refusal\"",
                    items->refusals++);
    put_string_member(items->request, "refusal", acog_text_of(part->text));
    acog_put(items->request, ACOG_VIEW("}]}"));
}

static void put_reasoning(struct items *items, const struct acog_part *part)
{
    struct acog_request_writer *writer = items->request;
    if (part->opaque.maker != ACOG_DIALECT_RESPONSES || part->opaque.id.bytes.len == 0) {
        return;
    }
    begin_item(items, "reasoning");
    put_string_member(writer, "id", part->opaque.id);
    acog_put(writer, ACOG_VIEW(",\"summary\":["));
    if (acog_json_present(part->text)) {
        acog_put(writer, ACOG_VIEW("{\"type\":\"summary_text\""));
        put_string_member(writer, "text", acog_text_of(part->text));
        acog_put(writer, ACOG_VIEW("}"));
    }
    acog_put(writer, ACOG_VIEW("]"));
    put_string_member(writer, "encrypted_content", part->opaque.bytes);
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- turns ----------------------------------------------------------------------------------------- */

/* Parts of a message that follow each other share it. */
static void put_message_part(struct items *items, const char *role, const struct acog_part *part)
{
    if (items->in_message) {
        acog_put(items->request, ACOG_VIEW(","));
    } else {
        begin_item(items, "message");
        acog_put_format(items->request, ",\"role\":\"%s\",\"content\":[", role);
        items->in_message = true;
    }
    put_part(items->request, part);
}

static void put_assistant_part(struct items *items, const struct acog_part *part)
{
    switch (part->kind) {
    case ACOG_PART_TEXT:
        put_assistant_text(items, part);
        break;
    case ACOG_PART_REFUSAL:
        put_refusal(items, part);
        break;
    case ACOG_PART_REASONING:
        put_reasoning(items, part);
        break;
    case ACOG_PART_TOOL_CALL:
        put_call(items, part);
        break;
    case ACOG_PART_MEDIA:
    case ACOG_PART_TOOL_RESULT:
    case ACOG_PART_FOREIGN:
        break; /* the objection, and fits.c */
    }
}

static void put_turn_part(struct items *items, enum acog_turn_role role,
                          const struct acog_part *part)
{
    if (role == ACOG_TURN_ASSISTANT) {
        put_assistant_part(items, part);
    } else if (part->kind == ACOG_PART_TOOL_RESULT) {
        put_result(items, part);
    } else {
        put_message_part(items, role == ACOG_TURN_USER ? "user" : "system", part);
    }
}

/* Behind it is only reasoning that nothing came of, which the API refuses: an answer that was cut while it was thought
 * about. */
static const struct acog_part *end_of(const struct acog_turn *turn)
{
    const struct acog_part *end = turn->parts.first;
    for (const struct acog_part *part = end; part != NULL; part = part->next) {
        end = part->kind == ACOG_PART_REASONING ? end : part->next;
    }
    return end;
}

void acog_responses_put_input(struct acog_request_writer *writer)
{
    struct items items = {.request = writer};
    acog_put(writer, ACOG_VIEW("\"input\":["));
    for (const struct acog_turn *turn = writer->conversation->turns; turn != NULL;
         turn = turn->next) {
        const struct acog_part *end = end_of(turn);
        for (const struct acog_part *part = turn->parts.first; part != end; part = part->next) {
            put_turn_part(&items, turn->role, part);
        }
        close_message(&items);
    }
    acog_put(writer, ACOG_VIEW("]"));
}
