/* messages.c - Anthropic's messages: events, whole answers, and the token count beside them. */
#include "acog/contract.h"
#include "play.h"
#include "writer.h"

static struct acog_view stop_reason(const struct acog_provider_play *play)
{
    if (play->reply.finish.len > 0) {
        return play->reply.finish;
    }
    if (play->reply.refusal) {
        return ACOG_VIEW("refusal");
    }
    return play->walk.tool ? ACOG_VIEW("tool_use") : ACOG_VIEW("end_turn");
}

static int64_t text_index(const struct acog_provider_play *play)
{
    return play->walk.reasoning.len > 0 ? 1 : 0;
}

static int64_t tool_index(const struct acog_provider_play *play)
{
    return text_index(play) + (play->walk.text.len > 0 ? 1 : 0);
}

static void write_stop(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "\"stop_reason\":");
    acog_write_string(out, stop_reason(play));
    ACOG_WRITE(out, ",\"stop_sequence\":null,\"stop_details\":");
    if (!play->reply.refusal) {
        ACOG_WRITE(out, "null");
        return;
    }
    ACOG_WRITE(out, "{\"type\":\"refusal\",\"category\":");
    acog_write_string_or_null(out, play->reply.refusal_category);
    ACOG_WRITE(out, ",\"explanation\":\"This request was refused due to policy.\"}");
}

static void write_usage(const struct acog_provider_play *play, int64_t output_tokens,
                        struct acog_buffer *out)
{
    if (play->reply.no_usage) {
        return;
    }
    ACOG_WRITE(out, ",\"usage\":{\"input_tokens\":");
    acog_write_number(out, play->reply.input_tokens);
    ACOG_WRITE(out, ",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,"
                    "\"output_tokens\":");
    acog_write_number(out, output_tokens);
    ACOG_WRITE(out, "}");
}

/* {"id", "type", "role", "model"}: what message_start and a whole answer begin with. */
static void write_envelope(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "{\"id\":\"");
    acog_write_id(out, ACOG_VIEW("msg_01"), play->seed, 1, 22);
    ACOG_WRITE(out, "\",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
    acog_write_string(out, play->reply.model);
}

static void write_tool_head(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "{\"type\":\"tool_use\",\"id\":\"");
    acog_write_id(out, ACOG_VIEW("toolu_01"), play->seed, 2, 22);
    ACOG_WRITE(out, "\",\"name\":");
    acog_write_string(out, play->reply.tool_name);
    ACOG_WRITE(out, ",\"input\":");
}

static void write_signature(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "\"signature\":\"");
    acog_write_id(out, ACOG_VIEW("EqQBCkYI"), play->seed, 3, 64);
    ACOG_WRITE(out, "==\"");
}

/* -- stream ---------------------------------------------------------------------------------------- */

static void begin_event(struct acog_view type, struct acog_buffer *out)
{
    ACOG_WRITE(out, "event: ");
    acog_write_raw(out, type);
    ACOG_WRITE(out, "\ndata: {\"type\":");
    acog_write_string(out, type);
}

static void begin_block_event(struct acog_view type, int64_t index, struct acog_buffer *out)
{
    begin_event(type, out);
    ACOG_WRITE(out, ",\"index\":");
    acog_write_number(out, index);
}

static void end_event(struct acog_buffer *out)
{
    ACOG_WRITE(out, "}\n\n");
}

static void write_message_start(const struct acog_provider_play *play, struct acog_buffer *out)
{
    begin_event(ACOG_VIEW("message_start"), out);
    ACOG_WRITE(out, ",\"message\":");
    write_envelope(play, out);
    ACOG_WRITE(out, ",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,"
                    "\"stop_details\":null");
    write_usage(play, 1, out);
    ACOG_WRITE(out, "}");
    end_event(out);
}

static void write_block_start(int64_t index, struct acog_view block, struct acog_buffer *out)
{
    begin_block_event(ACOG_VIEW("content_block_start"), index, out);
    ACOG_WRITE(out, ",\"content_block\":");
    acog_write_raw(out, block);
    end_event(out);
}

static void write_tool_start(const struct acog_provider_play *play, struct acog_buffer *out)
{
    begin_block_event(ACOG_VIEW("content_block_start"), tool_index(play), out);
    ACOG_WRITE(out, ",\"content_block\":");
    write_tool_head(play, out);
    ACOG_WRITE(out, "{}}");
    end_event(out);
}

static void write_delta(const struct acog_provider_play *play, int64_t index, struct acog_view type,
                        struct acog_view field, struct acog_buffer *out)
{
    begin_block_event(ACOG_VIEW("content_block_delta"), index, out);
    ACOG_WRITE(out, ",\"delta\":{\"type\":");
    acog_write_string(out, type);
    ACOG_WRITE(out, ",");
    acog_write_string(out, field);
    ACOG_WRITE(out, ":");
    acog_write_string(out, play->walk.piece);
    ACOG_WRITE(out, "}");
    end_event(out);
}

static void write_signature_delta(const struct acog_provider_play *play, struct acog_buffer *out)
{
    begin_block_event(ACOG_VIEW("content_block_delta"), 0, out);
    ACOG_WRITE(out, ",\"delta\":{\"type\":\"signature_delta\",");
    write_signature(play, out);
    ACOG_WRITE(out, "}");
    end_event(out);
}

static void write_block_stop(int64_t index, struct acog_buffer *out)
{
    begin_block_event(ACOG_VIEW("content_block_stop"), index, out);
    end_event(out);
}

static void write_message_delta(const struct acog_provider_play *play, struct acog_buffer *out)
{
    begin_event(ACOG_VIEW("message_delta"), out);
    ACOG_WRITE(out, ",\"delta\":{");
    write_stop(play, out);
    ACOG_WRITE(out, "}");
    write_usage(play, play->reply.output_tokens, out);
    end_event(out);
}

static void write_message_stop(struct acog_buffer *out)
{
    begin_event(ACOG_VIEW("message_stop"), out);
    end_event(out);
}

void acog_messages_write_beat(struct acog_provider_play *play, struct acog_buffer *out)
{
    switch (play->walk.beat) {
    case ACOG_BEAT_START:
        write_message_start(play, out);
        return;
    case ACOG_BEAT_REASONING_OPEN:
        write_block_start(
            0, ACOG_VIEW("{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}"), out);
        return;
    case ACOG_BEAT_REASONING_PIECE:
        write_delta(play, 0, ACOG_VIEW("thinking_delta"), ACOG_VIEW("thinking"), out);
        return;
    case ACOG_BEAT_REASONING_DONE:
        write_signature_delta(play, out);
        return;
    case ACOG_BEAT_REASONING_CLOSE:
        write_block_stop(0, out);
        return;
    case ACOG_BEAT_TEXT_OPEN:
        write_block_start(text_index(play), ACOG_VIEW("{\"type\":\"text\",\"text\":\"\"}"), out);
        return;
    case ACOG_BEAT_TEXT_PIECE:
        write_delta(play, text_index(play), ACOG_VIEW("text_delta"), ACOG_VIEW("text"), out);
        return;
    case ACOG_BEAT_TEXT_CLOSE:
        write_block_stop(text_index(play), out);
        return;
    case ACOG_BEAT_TOOL_OPEN:
        write_tool_start(play, out);
        return;
    case ACOG_BEAT_TOOL_PIECE:
        write_delta(play, tool_index(play), ACOG_VIEW("input_json_delta"),
                    ACOG_VIEW("partial_json"), out);
        return;
    case ACOG_BEAT_TOOL_CLOSE:
        write_block_stop(tool_index(play), out);
        return;
    case ACOG_BEAT_FINISH:
        write_message_delta(play, out);
        return;
    case ACOG_BEAT_LAST:
        write_message_stop(out);
        return;
    case ACOG_BEAT_STARTED:
    case ACOG_BEAT_REASONING_PART:
    case ACOG_BEAT_REASONING_PART_DONE:
    case ACOG_BEAT_TEXT_PART:
    case ACOG_BEAT_TEXT_DONE:
    case ACOG_BEAT_TEXT_PART_DONE:
    case ACOG_BEAT_TOOL_DONE:
    case ACOG_BEAT_USAGE:
    case ACOG_BEAT_OVER:
        return;
    }
    ACOG_UNREACHABLE("unknown beat");
}

/* -- whole ----------------------------------------------------------------------------------------- */

static void write_content(const struct acog_provider_play *play, struct acog_buffer *out)
{
    if (play->walk.reasoning.len > 0) {
        ACOG_WRITE(out, "{\"type\":\"thinking\",\"thinking\":");
        acog_write_string(out, play->walk.reasoning);
        ACOG_WRITE(out, ",");
        write_signature(play, out);
        ACOG_WRITE(out, "}");
    }
    if (play->walk.text.len > 0) {
        acog_write_raw(out, text_index(play) > 0 ? ACOG_VIEW(",") : ACOG_VIEW(""));
        ACOG_WRITE(out, "{\"type\":\"text\",\"text\":");
        acog_write_string(out, play->walk.text);
        ACOG_WRITE(out, "}");
    }
    if (play->walk.tool) {
        acog_write_raw(out, tool_index(play) > 0 ? ACOG_VIEW(",") : ACOG_VIEW(""));
        write_tool_head(play, out);
        acog_write_raw(out, play->walk.tool_arguments);
        ACOG_WRITE(out, "}");
    }
}

void acog_messages_write_whole(const struct acog_provider_play *play, struct acog_buffer *out)
{
    write_envelope(play, out);
    ACOG_WRITE(out, ",\"content\":[");
    write_content(play, out);
    ACOG_WRITE(out, "],");
    write_stop(play, out);
    write_usage(play, play->reply.output_tokens, out);
    ACOG_WRITE(out, "}");
}

void acog_count_tokens_write(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "{\"input_tokens\":");
    acog_write_number(out, play->reply.input_tokens);
    ACOG_WRITE(out, "}");
}
