/* write_gemini_contents.c - what was said, as contents of generateContent.
 *
 * - Two roles that alternate: neighbours are one content, and a turn of which nothing is sent leaves no hole. A system
 *   message between the turns stays in place as a user's text between <system> tags, named to the client.
 * - A tool's result is an object: { "output": text } or { "error": text }, the two names that the model is taught. The
 *   text is never parsed, so what the client's tool said arrives as it said it; several texts are a list of them.
 * - A thought signature belongs to the part it came with. From the third generation on a call without one is refused,
 *   unless it says that it was made elsewhere: the mark is Google's.
 * - fileData takes the address of a public file, and Google fetches it; the media type is told where the address ends
 *   in a known one.
 */
#include "media.h"
#include "write_gemini.h"

#define MADE_ELSEWHERE "skip_thought_signature_validator"

/* -- small things ---------------------------------------------------------------------------------- */

static bool is_own(const struct acog_opaque *opaque)
{
    return opaque->maker == ACOG_DIALECT_GEMINI && opaque->bytes.bytes.len > 0;
}

static bool is_text(const struct acog_part *part)
{
    return part->kind == ACOG_PART_TEXT ||
           (part->kind == ACOG_PART_MEDIA && part->media.source == ACOG_MEDIA_TEXT);
}

static struct acog_text text_of(const struct acog_part *part)
{
    return part->kind == ACOG_PART_MEDIA ? part->media.data : acog_text_of(part->text);
}

bool acog_gemini_is_sent(const struct acog_part *part)
{
    switch (part->kind) {
    case ACOG_PART_REASONING:
        return is_own(&part->opaque);
    case ACOG_PART_FOREIGN: /* refused before (fits.c) */
        return false;
    case ACOG_PART_TEXT:
    case ACOG_PART_MEDIA:
    case ACOG_PART_REFUSAL:
    case ACOG_PART_TOOL_CALL:
    case ACOG_PART_TOOL_RESULT:
        break;
    }
    return true;
}

/* -- media ----------------------------------------------------------------------------------------- */

static void name_lost_of_media(struct acog_request_writer *writer, const struct acog_media *media)
{
    if (acog_json_present(media->name)) {
        acog_put_lost(writer, ACOG_VIEW("messages.filename"), ACOG_VIEW("messages.title"),
                      ACOG_VIEW("input.filename"));
    }
    if (acog_json_present(media->detail) && !acog_json_text_is(media->detail, ACOG_VIEW("auto"))) {
        acog_put_lost(writer, ACOG_VIEW("messages.detail"), ACOG_VIEW("messages.detail"),
                      ACOG_VIEW("input.detail"));
    }
}

/* A whole part. */
static void put_media(struct acog_request_writer *writer, const struct acog_media *media)
{
    struct acog_view type = media->media_type;
    name_lost_of_media(writer, media);
    switch (media->source) {
    case ACOG_MEDIA_BASE64:
        acog_put(writer, ACOG_VIEW("{\"inlineData\":{\"mimeType\":\""));
        acog_put(writer, type);
        acog_put(writer, ACOG_VIEW("\",\"data\":"));
        break;
    case ACOG_MEDIA_URL:
        acog_put(writer, ACOG_VIEW("{\"fileData\":{"));
        type = type.len > 0 ? type : acog_media_address_type(media->data.bytes);
        if (type.len > 0) {
            acog_put(writer, ACOG_VIEW("\"mimeType\":\""));
            acog_put(writer, type);
            acog_put(writer, ACOG_VIEW("\","));
        }
        acog_put(writer, ACOG_VIEW("\"fileUri\":"));
        break;
    case ACOG_MEDIA_TEXT:
    case ACOG_MEDIA_FILE_ID: /* refused before */
        acog_put(writer, ACOG_VIEW("{\"text\":"));
        acog_put_string(writer, media->data);
        acog_put(writer, ACOG_VIEW("}"));
        return;
    }
    acog_put_string(writer, media->data);
    acog_put(writer, ACOG_VIEW("}}"));
}

/* -- contents -------------------------------------------------------------------------------------- */

struct contents {
    struct acog_request_writer *writer;
    bool open;  /* a content is being written */
    bool model; /* of which role */
};

/* The next part is of that role. */
static void begin_part(struct contents *contents, bool model)
{
    struct acog_request_writer *writer = contents->writer;
    if (contents->open && contents->model == model) {
        acog_put(writer, ACOG_VIEW(","));
        return;
    }
    acog_put(writer, contents->open ? ACOG_VIEW("]},") : (struct acog_view){0});
    acog_put(writer, model ? ACOG_VIEW("{\"role\":\"model\",\"parts\":[")
                           : ACOG_VIEW("{\"role\":\"user\",\"parts\":["));
    contents->open = true;
    contents->model = model;
}

static void put_signature(struct acog_request_writer *writer, struct acog_text bytes)
{
    acog_put(writer, ACOG_VIEW(",\"thoughtSignature\":"));
    acog_put_string(writer, bytes);
}

/* A signature that came alone, or with an answer's text, goes back with an empty one. */
static void put_reasoning(struct acog_request_writer *writer, const struct acog_part *part)
{
    struct acog_text text = acog_text_of(part->text);
    acog_put(writer, ACOG_VIEW("{\"text\":"));
    acog_put_string(writer, text);
    if (text.bytes.len > 0) {
        acog_put(writer, ACOG_VIEW(",\"thought\":true"));
    }
    put_signature(writer, part->opaque.bytes);
    acog_put(writer, ACOG_VIEW("}"));
}

/* Of calls that stand together the first one has the signature. */
static void put_call(struct acog_request_writer *writer, const struct acog_part *part, bool first)
{
    acog_put(writer, ACOG_VIEW("{\"functionCall\":{\"id\":"));
    acog_put_string(writer, part->id);
    acog_put(writer, ACOG_VIEW(",\"name\":"));
    acog_put_tool_name(writer, part->name);
    acog_put(writer, ACOG_VIEW(",\"args\":"));
    acog_put_decoded(writer, part->arguments);
    acog_put(writer, ACOG_VIEW("}"));
    if (is_own(&part->opaque)) {
        put_signature(writer, part->opaque.bytes);
    } else if (first && acog_gemini_is_third_generation(writer->translation->rules)) {
        put_signature(writer, acog_text_plain(ACOG_VIEW(MADE_ELSEWHERE)));
    }
    acog_put(writer, ACOG_VIEW("}"));
}

/* One text, a list of several, or an empty one. */
static void put_result_texts(struct acog_request_writer *writer, const struct acog_part *result)
{
    size_t count = 0;
    size_t written = 0;
    for (const struct acog_part *part = result->content.first; part != NULL; part = part->next) {
        count += is_text(part) ? 1 : 0;
    }
    if (count == 0) {
        acog_put(writer, ACOG_VIEW("\"\""));
        return;
    }
    acog_put(writer, count > 1 ? ACOG_VIEW("[") : (struct acog_view){0});
    for (const struct acog_part *part = result->content.first; part != NULL; part = part->next) {
        if (is_text(part)) {
            acog_put(writer, written++ > 0 ? ACOG_VIEW(",") : (struct acog_view){0});
            acog_put_string(writer, text_of(part));
        }
    }
    acog_put(writer, count > 1 ? ACOG_VIEW("]") : (struct acog_view){0});
}

static void put_result(struct acog_request_writer *writer, const struct acog_part *result)
{
    acog_put(writer, ACOG_VIEW("{\"functionResponse\":{\"id\":"));
    acog_put_string(writer, result->id);
    acog_put(writer, ACOG_VIEW(",\"name\":"));
    acog_put_tool_name(writer, result->name);
    acog_put(writer, result->is_error ? ACOG_VIEW(",\"response\":{\"error\":")
                                      : ACOG_VIEW(",\"response\":{\"output\":"));
    put_result_texts(writer, result);
    acog_put(writer, ACOG_VIEW("}"));
    bool any = false;
    const struct acog_part *part =
        acog_gemini_is_third_generation(writer->translation->rules) ? result->content.first : NULL;
    for (; part != NULL; part = part->next) {
        if (!is_text(part)) {
            acog_put(writer, any ? ACOG_VIEW(",") : ACOG_VIEW(",\"parts\":["));
            any = true;
            put_media(writer, &part->media);
        }
    }
    acog_put(writer, any ? ACOG_VIEW("]}}") : ACOG_VIEW("}}"));
}

/* For the models that take no media inside a result: behind all results of the turn, in order. */
static void put_media_of_results(struct contents *contents, const struct acog_turn *turn)
{
    if (acog_gemini_is_third_generation(contents->writer->translation->rules)) {
        return;
    }
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        const struct acog_part *inner =
            part->kind == ACOG_PART_TOOL_RESULT ? part->content.first : NULL;
        for (; inner != NULL; inner = inner->next) {
            if (!is_text(inner)) {
                begin_part(contents, false);
                put_media(contents->writer, &inner->media);
            }
        }
    }
}

static void put_text(struct acog_request_writer *writer, struct acog_text text, bool system)
{
    acog_put(writer, system ? ACOG_VIEW("{\"text\":\"<system>") : ACOG_VIEW("{\"text\":\""));
    acog_put_inside(writer, text);
    acog_put(writer, system ? ACOG_VIEW("</system>\"}") : ACOG_VIEW("\"}"));
}

static void put_part(struct acog_request_writer *writer, const struct acog_turn *turn,
                     const struct acog_part *part, bool first_call)
{
    switch (part->kind) {
    case ACOG_PART_TEXT:
        if (turn->role == ACOG_TURN_SYSTEM) {
            acog_put_lost(writer, ACOG_VIEW("messages.role"), ACOG_VIEW("messages.role"),
                          ACOG_VIEW("input.role"));
        }
        put_text(writer, acog_text_of(part->text), turn->role == ACOG_TURN_SYSTEM);
        return;
    case ACOG_PART_REFUSAL:
        put_text(writer, acog_text_of(part->text), false);
        return;
    case ACOG_PART_MEDIA:
        put_media(writer, &part->media);
        return;
    case ACOG_PART_REASONING:
        put_reasoning(writer, part);
        return;
    case ACOG_PART_TOOL_CALL:
        put_call(writer, part, first_call);
        return;
    case ACOG_PART_TOOL_RESULT:
        put_result(writer, part);
        return;
    case ACOG_PART_FOREIGN: /* not sent */
        return;
    }
}

/* The marks of the client's prompt cache, at the part and inside it. */
static void put_marks_lost(struct acog_request_writer *writer, const struct acog_part *part)
{
    acog_put_cache_lost(writer, part, false);
    for (const struct acog_part *inner = part->content.first; inner != NULL; inner = inner->next) {
        acog_put_cache_lost(writer, inner, false);
    }
}

/* The results are the first parts of their turn. */
static void put_turn(struct contents *contents, const struct acog_turn *turn)
{
    struct acog_request_writer *writer = contents->writer;
    bool results = false;
    bool calls = false;
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (results && part->kind != ACOG_PART_TOOL_RESULT) {
            put_media_of_results(contents, turn);
        }
        put_marks_lost(writer, part);
        if (acog_gemini_is_sent(part)) {
            begin_part(contents, turn->role == ACOG_TURN_ASSISTANT);
            put_part(writer, turn, part, !calls);
        }
        results = part->kind == ACOG_PART_TOOL_RESULT;
        calls = calls || part->kind == ACOG_PART_TOOL_CALL;
    }
    if (results) {
        put_media_of_results(contents, turn);
    }
}

static void put_system(struct acog_request_writer *writer)
{
    const struct acog_part *part = writer->conversation->system.first;
    if (part == NULL) {
        return;
    }
    acog_put(writer, ACOG_VIEW(",\"systemInstruction\":{\"parts\":["));
    for (bool any = false; part != NULL; part = part->next, any = true) {
        acog_put(writer, any ? ACOG_VIEW(",") : (struct acog_view){0});
        put_text(writer, acog_text_of(part->text), false);
        acog_put_cache_lost(writer, part, true);
    }
    acog_put(writer, ACOG_VIEW("]}"));
}

void acog_gemini_put_contents(struct acog_request_writer *writer)
{
    struct contents contents = {.writer = writer};
    acog_put(writer, ACOG_VIEW("\"contents\":["));
    for (const struct acog_turn *turn = writer->conversation->turns; turn != NULL;
         turn = turn->next) {
        put_turn(&contents, turn);
    }
    acog_put(writer, contents.open ? ACOG_VIEW("]}]") : ACOG_VIEW("]"));
    put_system(writer);
}
