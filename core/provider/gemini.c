/* gemini.c - Google's generateContent: events and whole answers, which have one form.
 *
 * An event is an answer with a piece of the content, and repeats the usage so far. Its lines end in CR LF, as Google's
 * do. A call comes whole, with an id and a thought signature, as of the third generation.
 */
#include "acog/contract.h"
#include "play.h"
#include "writer.h"

static struct acog_view finish_reason(const struct acog_provider_play *play)
{
    if (play->reply.finish.len > 0) {
        return play->reply.finish;
    }
    return play->reply.refusal ? ACOG_VIEW("SAFETY") : ACOG_VIEW("STOP");
}

static void write_text_part(struct acog_view text, bool thought, struct acog_buffer *out)
{
    ACOG_WRITE(out, "{\"text\":");
    acog_write_string(out, text);
    acog_write_raw(out, thought ? ACOG_VIEW(",\"thought\":true}") : ACOG_VIEW("}"));
}

static void write_call_part(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "{\"functionCall\":{\"name\":");
    acog_write_string(out, play->reply.tool_name);
    ACOG_WRITE(out, ",\"args\":");
    acog_write_raw(out, play->walk.tool_arguments);
    ACOG_WRITE(out, ",\"id\":\"");
    acog_write_id(out, (struct acog_view){0}, play->seed, 2, 8);
    ACOG_WRITE(out, "\"},\"thoughtSignature\":\"");
    acog_write_id(out, ACOG_VIEW("Cq"), play->seed, 3, 62);
    ACOG_WRITE(out, "\"}");
}

/* Everything behind the parts of an event, and of a whole answer. `finish`: this is the last one. */
static void end_answer(const struct acog_provider_play *play, bool finish, struct acog_buffer *out)
{
    const struct acog_provider_reply *reply = &play->reply;
    if (finish) {
        ACOG_WRITE(out, ",\"finishReason\":");
        acog_write_string(out, finish_reason(play));
    }
    if (finish && reply->refusal && reply->refusal_category.len > 0) {
        ACOG_WRITE(out, ",\"safetyRatings\":[{\"category\":");
        acog_write_string(out, reply->refusal_category);
        ACOG_WRITE(out, ",\"probability\":\"HIGH\",\"blocked\":true}]");
    }
    ACOG_WRITE(out, ",\"index\":0}],");
    if (!reply->no_usage) {
        int64_t output = finish ? reply->output_tokens : 0;
        ACOG_WRITE(out, "\"usageMetadata\":{\"promptTokenCount\":");
        acog_write_number(out, reply->input_tokens);
        if (finish) {
            ACOG_WRITE(out, ",\"candidatesTokenCount\":");
            acog_write_number(out, output);
        }
        ACOG_WRITE(out, ",\"totalTokenCount\":");
        acog_write_number(out, reply->input_tokens + output);
        ACOG_WRITE(out, "},");
    }
    ACOG_WRITE(out, "\"modelVersion\":");
    acog_write_string(out, reply->model);
    ACOG_WRITE(out, ",\"responseId\":\"");
    acog_write_id(out, (struct acog_view){0}, play->seed, 1, 22);
    ACOG_WRITE(out, "\"}");
}

static void begin_event(struct acog_buffer *out)
{
    ACOG_WRITE(out, "data: {\"candidates\":[{\"content\":{\"parts\":[");
}

static void end_event(const struct acog_provider_play *play, bool finish, struct acog_buffer *out)
{
    ACOG_WRITE(out, "],\"role\":\"model\"}");
    end_answer(play, finish, out);
    ACOG_WRITE(out, "\r\n\r\n");
}

static void write_text_event(const struct acog_provider_play *play, bool thought,
                             struct acog_buffer *out)
{
    begin_event(out);
    write_text_part(play->walk.piece, thought, out);
    end_event(play, false, out);
}

void acog_gemini_write_beat(struct acog_provider_play *play, struct acog_buffer *out)
{
    switch (play->walk.beat) {
    case ACOG_BEAT_REASONING_PIECE:
        write_text_event(play, true, out);
        return;
    case ACOG_BEAT_TEXT_PIECE:
        write_text_event(play, false, out);
        return;
    case ACOG_BEAT_TOOL_OPEN:
        begin_event(out);
        write_call_part(play, out);
        end_event(play, false, out);
        return;
    case ACOG_BEAT_FINISH:
        begin_event(out);
        write_text_part((struct acog_view){0}, false, out);
        end_event(play, true, out);
        return;
    case ACOG_BEAT_START:
    case ACOG_BEAT_STARTED:
    case ACOG_BEAT_REASONING_OPEN:
    case ACOG_BEAT_REASONING_PART:
    case ACOG_BEAT_REASONING_DONE:
    case ACOG_BEAT_REASONING_PART_DONE:
    case ACOG_BEAT_REASONING_CLOSE:
    case ACOG_BEAT_TEXT_OPEN:
    case ACOG_BEAT_TEXT_PART:
    case ACOG_BEAT_TEXT_DONE:
    case ACOG_BEAT_TEXT_PART_DONE:
    case ACOG_BEAT_TEXT_CLOSE:
    case ACOG_BEAT_TOOL_PIECE:
    case ACOG_BEAT_TOOL_DONE:
    case ACOG_BEAT_TOOL_CLOSE:
    case ACOG_BEAT_USAGE:
    case ACOG_BEAT_LAST:
    case ACOG_BEAT_OVER:
        return;
    }
    ACOG_UNREACHABLE("unknown beat");
}

/* A refused answer has a content without parts. */
void acog_gemini_write_whole(const struct acog_provider_play *play, struct acog_buffer *out)
{
    const struct acog_walk *walk = &play->walk;
    bool text = walk->text.len > 0 || (!walk->tool && !play->reply.refusal);
    const char *comma = "";
    ACOG_WRITE(out, "{\"candidates\":[{\"content\":{\"parts\":[");
    if (walk->reasoning.len > 0) {
        write_text_part(walk->reasoning, true, out);
        comma = ",";
    }
    if (text) {
        acog_write_raw(out, acog_view_of(comma));
        write_text_part(walk->text, false, out);
        comma = ",";
    }
    if (walk->tool) {
        acog_write_raw(out, acog_view_of(comma));
        write_call_part(play, out);
    }
    ACOG_WRITE(out, "],\"role\":\"model\"}");
    end_answer(play, true, out);
}
