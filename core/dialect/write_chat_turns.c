/* write_chat_turns.c - the turns of a conversation as messages of a chat request.
 *
 * A turn may be several messages: the results of tools come first, one message each, right behind the assistant's that
 * called them. They can hold texts only, so that an image inside a result goes into the user's message behind them.
 *
 * Reasoning of another maker is left out, never told as text (B28). What a chat provider said itself goes back in the
 * place where it stood (answer_from_chat.c): signed entries always, plain reasoning only as long as the tool loop runs,
 * which is where the providers that have it want it.
 */
#include "media.h"
#include "write_chat.h"

#define CALL_ID_BYTES_MAX 40 /* OpenAI refuses longer ones */
#define OPAQUE_DEPTH_MAX  32

static void put_comma(struct acog_request_writer *writer, bool *first)
{
    if (!*first) {
        acog_put(writer, ACOG_VIEW(","));
    }
    *first = false;
}

/* -- media ----------------------------------------------------------------------------------------- */

const char *acog_chat_part_objection(const struct acog_part *part)
{
    if (part->kind != ACOG_PART_MEDIA) {
        return NULL;
    }
    const struct acog_media *media = &part->media;
    if (media->source == ACOG_MEDIA_FILE_ID) {
        return "a file that was uploaded to another provider cannot be read by the one that serves "
               "this model: send its content";
    }
    switch (media->kind) {
    case ACOG_MEDIA_IMAGE:
        return NULL;
    case ACOG_MEDIA_DOCUMENT:
    case ACOG_MEDIA_FILE:
        return media->source == ACOG_MEDIA_URL
                   ? "a document by its address cannot be sent to this model: send its content"
                   : NULL;
    case ACOG_MEDIA_AUDIO:
        return media->source == ACOG_MEDIA_BASE64 &&
                       acog_media_audio_format(media->media_type).len > 0
                   ? NULL
                   : "audio can be sent to this model only as base64, in a format that it knows";
    case ACOG_MEDIA_VIDEO:
        break;
    }
    return "a video cannot be sent to this model";
}

static void put_image(struct acog_request_writer *writer, const struct acog_media *media)
{
    acog_put(writer, ACOG_VIEW("{\"type\":\"image_url\",\"image_url\":{\"url\":"));
    acog_put_openai_url(writer, media);
    if (acog_json_present(media->detail)) {
        acog_put(writer, ACOG_VIEW(",\"detail\":"));
        acog_put(writer, media->detail.raw);
    }
    acog_put(writer, ACOG_VIEW("}}"));
}

static void put_audio(struct acog_request_writer *writer, const struct acog_media *media)
{
    acog_put(writer, ACOG_VIEW("{\"type\":\"input_audio\",\"input_audio\":{\"data\":"));
    acog_put_string(writer, media->data);
    acog_put(writer, ACOG_VIEW(",\"format\":\""));
    acog_put(writer, acog_media_audio_format(media->media_type));
    acog_put(writer, ACOG_VIEW("\"}}"));
}

static void put_file(struct acog_request_writer *writer, const struct acog_media *media)
{
    acog_put(writer, ACOG_VIEW("{\"type\":\"file\",\"file\":{\"filename\":"));
    acog_put_openai_file_name(writer, media);
    acog_put(writer, ACOG_VIEW(",\"file_data\":"));
    acog_put_openai_url(writer, media);
    acog_put(writer, ACOG_VIEW("}}"));
}

static void put_media(struct acog_request_writer *writer, const struct acog_media *media)
{
    if (media->source == ACOG_MEDIA_TEXT) {
        if (acog_json_present(media->name)) {
            acog_put_dropped(writer, ACOG_VIEW("messages.title"));
        }
        acog_put(writer, ACOG_VIEW("{\"type\":\"text\",\"text\":"));
        acog_put_string(writer, media->data);
        acog_put(writer, ACOG_VIEW("}"));
    } else if (media->kind == ACOG_MEDIA_IMAGE) {
        put_image(writer, media);
    } else if (media->kind == ACOG_MEDIA_AUDIO) {
        put_audio(writer, media);
    } else {
        put_file(writer, media);
    }
}

/* -- lists of parts -------------------------------------------------------------------------------- */

static void put_text_part(struct acog_request_writer *writer, const struct acog_part *part)
{
    acog_put(writer, ACOG_VIEW("{\"type\":\"text\",\"text\":"));
    acog_put(writer, part->text.raw);
    acog_put(writer, ACOG_VIEW("}"));
}

static size_t count_kind(const struct acog_part_list *list, enum acog_part_kind kind)
{
    size_t count = 0;
    for (const struct acog_part *part = list->first; part != NULL; part = part->next) {
        count += part->kind == kind ? 1 : 0;
    }
    return count;
}

/* The texts of a list: a string when there is one, else a list. `none`: what stands for none at all. */
static void put_texts(struct acog_request_writer *writer, const struct acog_part_list *list,
                      struct acog_view none)
{
    size_t count = count_kind(list, ACOG_PART_TEXT);
    bool first = true;
    if (count == 0) {
        acog_put(writer, none);
        return;
    }
    acog_put(writer, count > 1 ? ACOG_VIEW("[") : ACOG_VIEW(""));
    for (const struct acog_part *part = list->first; part != NULL; part = part->next) {
        if (part->kind != ACOG_PART_TEXT) {
            continue;
        }
        acog_put_cache_lost(writer, part, list == &writer->conversation->system);
        if (count == 1) {
            acog_put(writer, part->text.raw);
        } else {
            put_comma(writer, &first);
            put_text_part(writer, part);
        }
    }
    acog_put(writer, count > 1 ? ACOG_VIEW("]") : ACOG_VIEW(""));
}

static void put_system(struct acog_request_writer *writer, const struct acog_part_list *list,
                       bool *first)
{
    if (list->first == NULL) {
        return;
    }
    put_comma(writer, first);
    acog_put(writer, ACOG_VIEW("{\"role\":\"system\",\"content\":"));
    put_texts(writer, list, ACOG_VIEW("\"\""));
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- the user -------------------------------------------------------------------------------------- */

/* A result's texts; the flag that chat does not have stands before them (B25). */
static void put_result_texts(struct acog_request_writer *writer, const struct acog_part *result)
{
    if (!result->is_error) {
        put_texts(writer, &result->content, ACOG_VIEW("\"\""));
        return;
    }
    size_t count = count_kind(&result->content, ACOG_PART_TEXT);
    bool first = true;
    acog_put(writer, count > 1 ? ACOG_VIEW("[{\"type\":\"text\",\"text\":\"Error: ")
                               : ACOG_VIEW("\"Error: "));
    for (const struct acog_part *part = result->content.first; part != NULL; part = part->next) {
        if (part->kind != ACOG_PART_TEXT) {
            continue;
        }
        acog_put_cache_lost(writer, part, false);
        if (first) {
            acog_put_inside(writer, acog_text_of(part->text));
            acog_put(writer, count > 1 ? ACOG_VIEW("\"}") : ACOG_VIEW("\""));
        } else {
            acog_put(writer, ACOG_VIEW(","));
            put_text_part(writer, part);
        }
        first = false;
    }
    acog_put(writer, count == 0 ? ACOG_VIEW("\"") : count > 1 ? ACOG_VIEW("]") : ACOG_VIEW(""));
}

static void put_result(struct acog_request_writer *writer, const struct acog_part *result,
                       bool *first)
{
    put_comma(writer, first);
    acog_put_cache_lost(writer, result, false);
    acog_put(writer, ACOG_VIEW("{\"role\":\"tool\",\"tool_call_id\":"));
    acog_put_openai_call_id(writer, result->id, CALL_ID_BYTES_MAX);
    acog_put(writer, ACOG_VIEW(",\"content\":"));
    put_result_texts(writer, result);
    acog_put(writer, ACOG_VIEW("}"));
}

/* Of a result only the media, as its texts went with it. */
static void put_result_media(struct acog_request_writer *writer, const struct acog_part *result,
                             bool *first)
{
    for (const struct acog_part *part = result->content.first; part != NULL; part = part->next) {
        if (part->kind == ACOG_PART_MEDIA) {
            put_comma(writer, first);
            put_media(writer, &part->media);
            acog_put_cache_lost(writer, part, false);
        }
    }
}

static void put_user_parts(struct acog_request_writer *writer, const struct acog_turn *turn)
{
    bool first = true;
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind == ACOG_PART_TOOL_RESULT) {
            put_result_media(writer, part, &first);
        } else if (part->kind == ACOG_PART_MEDIA) {
            put_comma(writer, &first);
            put_media(writer, &part->media);
            acog_put_cache_lost(writer, part, false);
        } else if (part->kind == ACOG_PART_TEXT) {
            put_comma(writer, &first);
            put_text_part(writer, part);
            acog_put_cache_lost(writer, part, false);
        }
    }
}

static size_t count_media(const struct acog_part_list *list)
{
    size_t count = 0;
    for (const struct acog_part *part = list->first; part != NULL; part = part->next) {
        count += part->kind == ACOG_PART_MEDIA ? 1 : 0;
        count += count_kind(&part->content, ACOG_PART_MEDIA);
    }
    return count;
}

static void put_user(struct acog_request_writer *writer, const struct acog_turn *turn, bool *first)
{
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind == ACOG_PART_TOOL_RESULT) {
            put_result(writer, part, first);
        }
    }
    size_t texts = count_kind(&turn->parts, ACOG_PART_TEXT);
    size_t media = count_media(&turn->parts);
    if (texts + media == 0) {
        return;
    }
    put_comma(writer, first);
    acog_put(writer, ACOG_VIEW("{\"role\":\"user\",\"content\":"));
    if (media == 0) {
        put_texts(writer, &turn->parts, ACOG_VIEW("\"\""));
    } else {
        acog_put(writer, ACOG_VIEW("["));
        put_user_parts(writer, turn);
        acog_put(writer, ACOG_VIEW("]"));
    }
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- the assistant --------------------------------------------------------------------------------- */

/* The JSON object that a chat provider's opaque bytes are. They come back from a client: nothing but a JSON object gets
 * into a body. */
static bool read_opaque_object(struct acog_request_writer *writer, const struct acog_opaque *opaque,
                               struct acog_json_value *object)
{
    struct acog_view text;
    struct acog_json_error error;
    if (opaque->maker != ACOG_DIALECT_CHAT || writer->code != ACOG_OK) {
        return false;
    }
    writer->code = acog_text_characters(opaque->bytes, writer->arena, &text);
    return writer->code == ACOG_OK && text.len > 2 && text.ptr[0] == '{' &&
           acog_json_check(text, OPAQUE_DEPTH_MAX, object, &error) == ACOG_OK;
}

/* An entry as it came; a piece of a stream that had only the signature gets its text back. */
static void put_detail(struct acog_request_writer *writer, const struct acog_part *part,
                       struct acog_json_value entry)
{
    static const struct acog_view names[] = {{"text", 4}, {"summary", 7}, {"data", 4}};
    struct acog_json_value found[3];
    acog_json_members(entry, names, found, 3);
    bool complete = acog_json_present(found[0]) || acog_json_present(found[1]) ||
                    acog_json_present(found[2]) || !acog_json_present(part->text);
    if (complete) {
        acog_put(writer, entry.raw);
        return;
    }
    acog_put(writer, ACOG_VIEW("{\"text\":"));
    acog_put(writer, part->text.raw);
    acog_put(writer, ACOG_VIEW(","));
    acog_put(writer, acog_view_slice(entry.raw, 1, entry.raw.len));
}

static void put_details(struct acog_request_writer *writer, const struct acog_turn *turn)
{
    bool first = true;
    struct acog_json_value entry;
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind != ACOG_PART_REASONING ||
            !read_opaque_object(writer, &part->opaque, &entry)) {
            continue;
        }
        acog_put(writer, first ? ACOG_VIEW(",\"reasoning_details\":[") : ACOG_VIEW(","));
        first = false;
        put_detail(writer, part, entry);
    }
    acog_put(writer, first ? ACOG_VIEW("") : ACOG_VIEW("]"));
}

/* Plain reasoning that stood in the member `name`. */
static void put_reasoning(struct acog_request_writer *writer, const struct acog_turn *turn,
                          struct acog_view name)
{
    bool first = true;
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind != ACOG_PART_REASONING || part->opaque.maker != ACOG_DIALECT_CHAT ||
            !acog_view_equal(part->opaque.bytes.bytes, name)) {
            continue;
        }
        if (first) {
            acog_put(writer, ACOG_VIEW(",\""));
            acog_put(writer, name);
            acog_put(writer, ACOG_VIEW("\":\""));
        }
        first = false;
        acog_put_inside(writer, acog_text_of(part->text));
    }
    acog_put(writer, first ? ACOG_VIEW("") : ACOG_VIEW("\""));
}

static void put_refusal(struct acog_request_writer *writer, const struct acog_turn *turn)
{
    if (count_kind(&turn->parts, ACOG_PART_REFUSAL) == 0) {
        return;
    }
    acog_put(writer, ACOG_VIEW(",\"refusal\":\""));
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind == ACOG_PART_REFUSAL) {
            acog_put_inside(writer, acog_text_of(part->text));
        }
    }
    acog_put(writer, ACOG_VIEW("\""));
}

static void put_call(struct acog_request_writer *writer, const struct acog_part *call)
{
    struct acog_json_value extra;
    acog_put_cache_lost(writer, call, false);
    acog_put(writer, ACOG_VIEW("{\"id\":"));
    acog_put_openai_call_id(writer, call->id, CALL_ID_BYTES_MAX);
    acog_put(writer, ACOG_VIEW(",\"type\":\"function\",\"function\":{\"name\":"));
    acog_put_tool_name(writer, call->name);
    acog_put(writer, ACOG_VIEW(",\"arguments\":"));
    acog_put_string(writer, call->arguments);
    acog_put(writer, ACOG_VIEW("}"));
    if (read_opaque_object(writer, &call->opaque, &extra)) {
        acog_put(writer, ACOG_VIEW(",\"extra_content\":"));
        acog_put(writer, extra.raw);
    }
    acog_put(writer, ACOG_VIEW("}"));
}

static void put_calls(struct acog_request_writer *writer, const struct acog_turn *turn)
{
    bool first = true;
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind == ACOG_PART_TOOL_CALL) {
            acog_put(writer, first ? ACOG_VIEW(",\"tool_calls\":[") : ACOG_VIEW(","));
            first = false;
            put_call(writer, part);
        }
    }
    acog_put(writer, first ? ACOG_VIEW("") : ACOG_VIEW("]"));
}

/* `loop`: the turn belongs to the tool loop that is still running. */
static void put_assistant(struct acog_request_writer *writer, const struct acog_turn *turn,
                          bool loop, bool *first)
{
    size_t said = count_kind(&turn->parts, ACOG_PART_TEXT) +
                  count_kind(&turn->parts, ACOG_PART_REFUSAL) +
                  count_kind(&turn->parts, ACOG_PART_TOOL_CALL);
    if (said == 0) {
        return; /* it only thought */
    }
    put_comma(writer, first);
    acog_put(writer, ACOG_VIEW("{\"role\":\"assistant\",\"content\":"));
    put_texts(writer, &turn->parts, ACOG_VIEW("null"));
    if (loop) {
        put_reasoning(writer, turn, ACOG_VIEW("reasoning_content"));
        put_reasoning(writer, turn, ACOG_VIEW("reasoning"));
    }
    put_details(writer, turn);
    put_refusal(writer, turn);
    put_calls(writer, turn);
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- all of them ----------------------------------------------------------------------------------- */

/* The last turn in which a user said something other than a tool's result; the running loop is behind it. */
static const struct acog_turn *last_question(const struct acog_conversation *conversation)
{
    const struct acog_turn *last = NULL;
    for (const struct acog_turn *turn = conversation->turns; turn != NULL; turn = turn->next) {
        if (turn->role == ACOG_TURN_USER && turn->parts.first->kind != ACOG_PART_TOOL_RESULT) {
            last = turn;
        }
    }
    return last;
}

void acog_chat_write_messages(struct acog_request_writer *writer)
{
    const struct acog_conversation *conversation = writer->conversation;
    const struct acog_turn *question = last_question(conversation);
    bool first = true;
    bool loop = question == NULL;
    acog_put(writer, ACOG_VIEW("["));
    put_system(writer, &conversation->system, &first);
    for (const struct acog_turn *turn = conversation->turns; turn != NULL; turn = turn->next) {
        switch (turn->role) {
        case ACOG_TURN_USER:
            put_user(writer, turn, &first);
            loop = loop || turn == question;
            break;
        case ACOG_TURN_ASSISTANT:
            put_assistant(writer, turn, loop, &first);
            break;
        case ACOG_TURN_SYSTEM:
            put_system(writer, &turn->parts, &first);
            break;
        }
    }
    acog_put(writer, ACOG_VIEW("]"));
}
