/* write_messages_turns.c - the turns of a conversation, as `system` and `messages` of Anthropic.
 *
 * A message is opened when its first block comes, so that a turn of which nothing is told (the reasoning of another
 * maker) leaves none behind and its neighbours become one: roles alternate whatever was left out.
 *
 * A system turn between the others stays where it is: with its own role where Anthropic takes that, else as a text of
 * the user between <system> and </system>, named to the client (B14). It takes one from newer models, behind a turn of
 * the user and not before another.
 */
#include "acog/contract.h"
#include "id_index.h"
#include "write_messages.h"

#define CALL_ID_BYTES_MAX 64

struct turns_writer {
    struct acog_request_writer *request;
    bool any;                 /* a message was opened */
    enum acog_turn_role role; /* of that one */
};

static void put(const struct turns_writer *writer, struct acog_view bytes)
{
    acog_put(writer->request, bytes);
}

static struct acog_view role_word(enum acog_turn_role role)
{
    switch (role) {
    case ACOG_TURN_USER:
        return ACOG_VIEW("user");
    case ACOG_TURN_ASSISTANT:
        return ACOG_VIEW("assistant");
    case ACOG_TURN_SYSTEM:
        return ACOG_VIEW("system");
    }
    ACOG_UNREACHABLE("a role");
}

/* What stands before a block of that role. */
static void begin_block(struct turns_writer *writer, enum acog_turn_role role)
{
    if (writer->any && writer->role == role) {
        put(writer, ACOG_VIEW(","));
        return;
    }
    put(writer, writer->any ? ACOG_VIEW("]},") : ACOG_VIEW(""));
    put(writer, ACOG_VIEW("{\"role\":\""));
    put(writer, role_word(role));
    put(writer, ACOG_VIEW("\",\"content\":["));
    writer->any = true;
    writer->role = role;
}

void acog_messages_put_cache(struct acog_request_writer *writer, struct acog_json_value cache)
{
    if (acog_json_present(cache)) {
        acog_put(writer, ACOG_VIEW(",\"cache_control\":"));
        acog_put(writer, cache.raw);
    }
}

static void put_text_block(struct acog_request_writer *writer, struct acog_json_value text,
                           struct acog_json_value cache)
{
    acog_put(writer, ACOG_VIEW("{\"type\":\"text\",\"text\":"));
    acog_put(writer, text.raw);
    acog_messages_put_cache(writer, cache);
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- media ----------------------------------------------------------------------------------------- */

/* Of an address Anthropic itself finds out what is there. */
static bool is_image_type(struct acog_view type)
{
    return acog_view_equal_nocase(type, ACOG_VIEW("image/png")) ||
           acog_view_equal_nocase(type, ACOG_VIEW("image/jpeg")) ||
           acog_view_equal_nocase(type, ACOG_VIEW("image/gif")) ||
           acog_view_equal_nocase(type, ACOG_VIEW("image/webp"));
}

/* As what Anthropic takes it. NULL: as nothing. */
static const char *media_block(const struct acog_media *media)
{
    bool image = media->kind == ACOG_MEDIA_IMAGE;
    bool file = media->kind == ACOG_MEDIA_FILE;
    bool bytes = media->source == ACOG_MEDIA_BASE64;
    bool pdf = acog_view_equal_nocase(media->media_type, ACOG_VIEW("application/pdf"));
    if (image || (file && acog_view_starts(media->media_type, ACOG_VIEW("image/")))) {
        bool taken = bytes ? is_image_type(media->media_type) : media->source != ACOG_MEDIA_TEXT;
        return taken ? "image" : NULL;
    }
    if ((media->kind != ACOG_MEDIA_DOCUMENT && !file) || (bytes && !pdf)) {
        return NULL;
    }
    return "document";
}

static void put_source(struct acog_request_writer *writer, const struct acog_media *media)
{
    switch (media->source) {
    case ACOG_MEDIA_BASE64:
        acog_put(writer, ACOG_VIEW("{\"type\":\"base64\",\"media_type\":"));
        acog_put_string(writer, acog_text_plain(media->media_type));
        acog_put(writer, ACOG_VIEW(",\"data\":"));
        break;
    case ACOG_MEDIA_URL:
        acog_put(writer, ACOG_VIEW("{\"type\":\"url\",\"url\":"));
        break;
    case ACOG_MEDIA_TEXT:
        acog_put(writer, ACOG_VIEW("{\"type\":\"text\",\"media_type\":\"text/plain\",\"data\":"));
        break;
    case ACOG_MEDIA_FILE_ID:
        acog_put(writer, ACOG_VIEW("{\"type\":\"file\",\"file_id\":"));
        break;
    }
    acog_put_string(writer, media->data);
    acog_put(writer, ACOG_VIEW("}"));
}

static void put_media_block(struct acog_request_writer *writer, const struct acog_part *part)
{
    const struct acog_media *media = &part->media;
    const char *block = media_block(media);
    ACOG_ASSERT(block != NULL); /* acog_messages_turns_objection() */
    acog_put_format(writer, "{\"type\":\"%s\",\"source\":", block);
    put_source(writer, media);
    if (media->name.type == ACOG_JSON_STRING && block[0] == 'd') {
        acog_put(writer, ACOG_VIEW(",\"title\":"));
        acog_put(writer, media->name.raw);
    }
    if (media->detail.type == ACOG_JSON_STRING &&
        !acog_json_text_is(media->detail, ACOG_VIEW("auto"))) {
        acog_put_lost(writer, ACOG_VIEW("messages.detail"), ACOG_VIEW("messages.detail"),
                      ACOG_VIEW("input.detail"));
    }
    acog_messages_put_cache(writer, part->cache);
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- calls and results ----------------------------------------------------------------------------- */

static bool is_legal_id(struct acog_view id)
{
    for (size_t i = 0; i < id.len; i++) {
        char byte = id.ptr[i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        if (!letter && (byte < '0' || byte > '9') && byte != '_' && byte != '-') {
            return false;
        }
    }
    return id.len > 0 && id.len <= CALL_ID_BYTES_MAX;
}

/* An id that Anthropic would refuse becomes what is legal in it and a hash of all of it: the same for a call and its
 * result, and another for another id. */
static void put_call_id(struct acog_request_writer *writer, struct acog_text text)
{
    struct acog_view id = acog_writer_characters(writer, text);
    char legal[CALL_ID_BYTES_MAX - 17];
    if (writer->code != ACOG_OK) {
        return;
    }
    if (is_legal_id(id)) {
        acog_put_string(writer, acog_text_plain(id));
        return;
    }
    size_t kept = 0;
    for (; kept < id.len && kept < sizeof(legal); kept++) {
        legal[kept] = '_';
        if (is_legal_id(acog_view_slice(id, kept, kept + 1))) {
            legal[kept] = id.ptr[kept];
        }
    }
    acog_put_format(writer, "\"%.*s_%016llx\"", (int)kept, legal,
                    (unsigned long long)acog_id_hash(id));
}

static void put_call(struct acog_request_writer *writer, const struct acog_part *part)
{
    acog_put(writer, ACOG_VIEW("{\"type\":\"tool_use\",\"id\":"));
    put_call_id(writer, part->id);
    acog_put(writer, ACOG_VIEW(",\"name\":"));
    acog_put_tool_name(writer, part->name);
    acog_put(writer, ACOG_VIEW(",\"input\":"));
    acog_put_decoded(writer, part->arguments);
    acog_messages_put_cache(writer, part->cache);
    acog_put(writer, ACOG_VIEW("}"));
}

/* Without content when there is none: an empty text would be refused (B04). */
static void put_result(struct acog_request_writer *writer, const struct acog_part *part)
{
    const struct acog_part *inner = part->content.first;
    acog_put(writer, ACOG_VIEW("{\"type\":\"tool_result\",\"tool_use_id\":"));
    put_call_id(writer, part->id);
    acog_put(writer, inner != NULL ? ACOG_VIEW(",\"content\":[") : ACOG_VIEW(""));
    for (; inner != NULL; inner = inner->next) {
        if (inner->kind == ACOG_PART_MEDIA) {
            put_media_block(writer, inner);
        } else {
            put_text_block(writer, inner->text, inner->cache);
        }
        acog_put(writer, inner->next != NULL ? ACOG_VIEW(",") : ACOG_VIEW("]"));
    }
    acog_put(writer, part->is_error ? ACOG_VIEW(",\"is_error\":true") : ACOG_VIEW(""));
    acog_messages_put_cache(writer, part->cache);
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- reasoning ------------------------------------------------------------------------------------- */

bool acog_messages_is_own_reasoning(const struct acog_part *part)
{
    return part->kind == ACOG_PART_REASONING && part->opaque.maker == ACOG_DIALECT_MESSAGES &&
           part->opaque.bytes.bytes.len > 0;
}

/* The same bytes in the same order, else Anthropic refuses them (B28). */
static void put_reasoning(struct acog_request_writer *writer, const struct acog_part *part)
{
    if (part->opaque.redacted) {
        acog_put(writer, ACOG_VIEW("{\"type\":\"redacted_thinking\",\"data\":"));
    } else {
        acog_put(writer, ACOG_VIEW("{\"type\":\"thinking\",\"thinking\":"));
        acog_put_string(writer, acog_text_of(part->text));
        acog_put(writer, ACOG_VIEW(",\"signature\":"));
    }
    acog_put_string(writer, part->opaque.bytes);
    acog_put(writer, ACOG_VIEW("}"));
}

/* -- turns ----------------------------------------------------------------------------------------- */

/* A text of the user that says that it is the system's. */
static void put_downgraded(struct turns_writer *writer, const struct acog_part *part)
{
    struct acog_request_writer *request = writer->request;
    acog_put_lost(request, ACOG_VIEW("messages.role"), ACOG_VIEW("messages.role"),
                  ACOG_VIEW("input.role"));
    begin_block(writer, ACOG_TURN_USER);
    put(writer, ACOG_VIEW("{\"type\":\"text\",\"text\":\"<system>"));
    acog_put_inside(request, acog_text_of(part->text));
    put(writer, ACOG_VIEW("</system>\""));
    acog_messages_put_cache(request, part->cache);
    put(writer, ACOG_VIEW("}"));
}

static bool is_sent(const struct acog_part *part)
{
    return part->kind != ACOG_PART_REASONING || acog_messages_is_own_reasoning(part);
}

/* What is sent behind a turn is the assistant's, or nothing. */
static bool is_answered_or_last(const struct acog_turn *turn)
{
    for (turn = turn->next; turn != NULL; turn = turn->next) {
        const struct acog_part *part = turn->parts.first;
        if (turn->role != ACOG_TURN_ASSISTANT) {
            return false;
        }
        while (part != NULL && !is_sent(part)) {
            part = part->next;
        }
        if (part != NULL) {
            return true;
        }
    }
    return true;
}

static bool is_downgraded(const struct turns_writer *writer, const struct acog_turn *turn)
{
    bool legal = writer->request->translation->rules->system_anywhere && writer->any &&
                 writer->role == ACOG_TURN_USER && is_answered_or_last(turn);
    return turn->role == ACOG_TURN_SYSTEM && !legal;
}

static void put_part(struct turns_writer *writer, enum acog_turn_role role,
                     const struct acog_part *part)
{
    if (!is_sent(part)) {
        return;
    }
    begin_block(writer, role);
    switch (part->kind) {
    case ACOG_PART_TEXT:
    case ACOG_PART_REFUSAL:
        put_text_block(writer->request, part->text, part->cache);
        return;
    case ACOG_PART_MEDIA:
        put_media_block(writer->request, part);
        return;
    case ACOG_PART_REASONING:
        put_reasoning(writer->request, part);
        return;
    case ACOG_PART_TOOL_CALL:
        put_call(writer->request, part);
        return;
    case ACOG_PART_TOOL_RESULT:
        put_result(writer->request, part);
        return;
    case ACOG_PART_FOREIGN:
        break;
    }
    ACOG_UNREACHABLE("a part that does not fit");
}

static void put_system(struct acog_request_writer *writer)
{
    const struct acog_part *part = writer->conversation->system.first;
    acog_put(writer, part != NULL ? ACOG_VIEW(",\"system\":[") : ACOG_VIEW(""));
    for (; part != NULL; part = part->next) {
        put_text_block(writer, part->text, part->cache);
        acog_put(writer, part->next != NULL ? ACOG_VIEW(",") : ACOG_VIEW("]"));
    }
}

void acog_messages_put_turns(struct acog_request_writer *request)
{
    struct turns_writer writer = {.request = request};
    put_system(request);
    put(&writer, ACOG_VIEW(",\"messages\":["));
    for (const struct acog_turn *turn = request->conversation->turns; turn != NULL;
         turn = turn->next) {
        bool downgraded = is_downgraded(&writer, turn);
        for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
            if (downgraded) {
                put_downgraded(&writer, part);
            } else {
                put_part(&writer, turn->role, part);
            }
        }
    }
    put(&writer, writer.any ? ACOG_VIEW("]}]") : ACOG_VIEW("]"));
}

/* -- what cannot be told --------------------------------------------------------------------------- */

static const char *media_objection(const struct acog_conversation *conversation,
                                   const struct acog_media *media)
{
    if (media->kind == ACOG_MEDIA_AUDIO) {
        return "messages: the model that serves takes no audio";
    }
    if (media->kind == ACOG_MEDIA_VIDEO) {
        return "messages: the model that serves takes no video";
    }
    if (media->source == ACOG_MEDIA_FILE_ID && conversation->surface != ACOG_SURFACE_MESSAGES) {
        return "messages: a file that was given to another provider cannot be read by the one that "
               "serves; send its content";
    }
    if (media_block(media) == NULL) {
        return "messages: a file must be a PNG, JPEG, GIF or WebP image, a PDF, or a plain text";
    }
    return NULL;
}

static const char *part_objection(const struct acog_conversation *conversation,
                                  const struct acog_part *part, enum acog_turn_role role)
{
    if (part->kind != ACOG_PART_MEDIA) {
        return NULL;
    }
    return role == ACOG_TURN_USER ? media_objection(conversation, &part->media)
                                  : "messages: only a turn of the user may hold an image or a file";
}

/* A part, and what is in it. */
static const char *parts_objection(const struct acog_conversation *conversation,
                                   const struct acog_part *part, enum acog_turn_role role)
{
    const char *objection = part_objection(conversation, part, role);
    const struct acog_part *inner = part->content.first;
    for (; objection == NULL && inner != NULL; inner = inner->next) {
        objection = part_objection(conversation, inner, role);
    }
    return objection;
}

const char *acog_messages_turns_objection(const struct acog_conversation *conversation)
{
    const struct acog_turn *first = conversation->turns;
    if (first == NULL || first->role == ACOG_TURN_ASSISTANT) {
        return "messages: the first turn must be the user's";
    }
    for (const struct acog_turn *turn = first; turn != NULL; turn = turn->next) {
        for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
            const char *objection = parts_objection(conversation, part, turn->role);
            if (objection != NULL) {
                return objection;
            }
        }
    }
    return NULL;
}
