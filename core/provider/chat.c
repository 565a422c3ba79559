/* chat.c - OpenAI's chat completions: chunks and whole answers. */
#include "acog/contract.h"
#include "play.h"
#include "writer.h"

static struct acog_view finish_reason(const struct acog_provider_play *play)
{
    if (play->reply.finish.len > 0) {
        return play->reply.finish;
    }
    if (play->reply.refusal) {
        return ACOG_VIEW("content_filter");
    }
    return play->walk.tool ? ACOG_VIEW("tool_calls") : ACOG_VIEW("stop");
}

static void write_id(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "\"id\":\"");
    acog_write_id(out, ACOG_VIEW("chatcmpl-"), play->seed, 1, 29);
    ACOG_WRITE(out, "\"");
}

static void write_call_id(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "\"id\":\"");
    acog_write_id(out, ACOG_VIEW("call_"), play->seed, 2, 24);
    ACOG_WRITE(out, "\"");
}

/* Everything of a chunk or an answer before its choices. */
static void write_envelope(const struct acog_provider_play *play, struct acog_view object,
                           struct acog_buffer *out)
{
    ACOG_WRITE(out, "{");
    write_id(play, out);
    ACOG_WRITE(out, ",\"object\":");
    acog_write_string(out, object);
    ACOG_WRITE(out, ",\"created\":");
    acog_write_number(out, play->request.unix_ms / 1000);
    ACOG_WRITE(out, ",\"model\":");
    acog_write_string(out, play->reply.model);
    ACOG_WRITE(out, ",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_simulated\"");
}

static void write_usage(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "\"usage\":{\"prompt_tokens\":");
    acog_write_number(out, play->reply.input_tokens);
    ACOG_WRITE(out, ",\"completion_tokens\":");
    acog_write_number(out, play->reply.output_tokens);
    ACOG_WRITE(out, ",\"total_tokens\":");
    acog_write_number(out, play->reply.input_tokens + play->reply.output_tokens);
    ACOG_WRITE(out, ",\"prompt_tokens_details\":{\"cached_tokens\":0,\"audio_tokens\":0},"
                    "\"completion_tokens_details\":{\"reasoning_tokens\":0,\"audio_tokens\":0,"
                    "\"accepted_prediction_tokens\":0,\"rejected_prediction_tokens\":0}}");
}

/* Azure's way to say what was refused: the choice names the categories. */
static void write_filter_results(const struct acog_provider_play *play, struct acog_buffer *out)
{
    if (play->reply.refusal && play->reply.refusal_category.len > 0) {
        ACOG_WRITE(out, ",\"content_filter_results\":{");
        acog_write_string(out, play->reply.refusal_category);
        ACOG_WRITE(out, ":{\"filtered\":true,\"severity\":\"high\"}}");
    }
}

/* -- stream ---------------------------------------------------------------------------------------- */

static void begin_chunk(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "data: ");
    write_envelope(play, ACOG_VIEW("chat.completion.chunk"), out);
    ACOG_WRITE(out, ",\"choices\":[{\"index\":0,\"delta\":{");
}

static void end_chunk(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "},\"logprobs\":null,\"finish_reason\":null}]");
    if (play->request.usage_asked && !play->reply.no_usage) {
        ACOG_WRITE(out, ",\"usage\":null");
    }
    ACOG_WRITE(out, "}\n\n");
}

static void write_delta(const struct acog_provider_play *play, struct acog_view field,
                        struct acog_buffer *out)
{
    begin_chunk(play, out);
    acog_write_string(out, field);
    ACOG_WRITE(out, ":");
    acog_write_string(out, play->walk.piece);
    end_chunk(play, out);
}

static void write_tool_open(const struct acog_provider_play *play, struct acog_buffer *out)
{
    begin_chunk(play, out);
    ACOG_WRITE(out, "\"tool_calls\":[{\"index\":0,");
    write_call_id(play, out);
    ACOG_WRITE(out, ",\"type\":\"function\",\"function\":{\"name\":");
    acog_write_string(out, play->reply.tool_name);
    ACOG_WRITE(out, ",\"arguments\":\"\"}}]");
    end_chunk(play, out);
}

static void write_tool_piece(const struct acog_provider_play *play, struct acog_buffer *out)
{
    begin_chunk(play, out);
    ACOG_WRITE(out, "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":");
    acog_write_string(out, play->walk.piece);
    ACOG_WRITE(out, "}}]");
    end_chunk(play, out);
}

static void write_finish(const struct acog_provider_play *play, struct acog_buffer *out)
{
    begin_chunk(play, out);
    ACOG_WRITE(out, "},\"logprobs\":null");
    write_filter_results(play, out);
    ACOG_WRITE(out, ",\"finish_reason\":");
    acog_write_string(out, finish_reason(play));
    ACOG_WRITE(out, "}]");
    if (play->request.usage_asked && !play->reply.no_usage) {
        ACOG_WRITE(out, ",\"usage\":null");
    }
    ACOG_WRITE(out, "}\n\n");
}

static void write_usage_chunk(const struct acog_provider_play *play, struct acog_buffer *out)
{
    if (play->request.usage_asked && !play->reply.no_usage) {
        ACOG_WRITE(out, "data: ");
        write_envelope(play, ACOG_VIEW("chat.completion.chunk"), out);
        ACOG_WRITE(out, ",\"choices\":[],");
        write_usage(play, out);
        ACOG_WRITE(out, "}\n\n");
    }
}

void acog_chat_write_beat(struct acog_provider_play *play, struct acog_buffer *out)
{
    switch (play->walk.beat) {
    case ACOG_BEAT_START:
        begin_chunk(play, out);
        ACOG_WRITE(out, "\"role\":\"assistant\",\"content\":\"\",\"refusal\":null");
        end_chunk(play, out);
        return;
    case ACOG_BEAT_REASONING_PIECE:
        write_delta(play, ACOG_VIEW("reasoning_content"), out);
        return;
    case ACOG_BEAT_TEXT_PIECE:
        write_delta(play, ACOG_VIEW("content"), out);
        return;
    case ACOG_BEAT_TOOL_OPEN:
        write_tool_open(play, out);
        return;
    case ACOG_BEAT_TOOL_PIECE:
        write_tool_piece(play, out);
        return;
    case ACOG_BEAT_FINISH:
        write_finish(play, out);
        return;
    case ACOG_BEAT_USAGE:
        write_usage_chunk(play, out);
        return;
    case ACOG_BEAT_LAST:
        if (!play->reply.no_done) {
            ACOG_WRITE(out, "data: [DONE]\n\n");
        }
        return;
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
    case ACOG_BEAT_TOOL_DONE:
    case ACOG_BEAT_TOOL_CLOSE:
    case ACOG_BEAT_OVER:
        return;
    }
    ACOG_UNREACHABLE("unknown beat");
}

/* -- whole ----------------------------------------------------------------------------------------- */

static void write_message(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "{\"role\":\"assistant\",\"content\":");
    acog_write_string_or_null(out, play->walk.text);
    if (play->walk.reasoning.len > 0) {
        ACOG_WRITE(out, ",\"reasoning_content\":");
        acog_write_string(out, play->walk.reasoning);
    }
    if (play->walk.tool) {
        ACOG_WRITE(out, ",\"tool_calls\":[{");
        write_call_id(play, out);
        ACOG_WRITE(out, ",\"type\":\"function\",\"function\":{\"name\":");
        acog_write_string(out, play->reply.tool_name);
        ACOG_WRITE(out, ",\"arguments\":");
        acog_write_string(out, play->walk.tool_arguments);
        ACOG_WRITE(out, "}}]");
    }
    ACOG_WRITE(out, ",\"refusal\":null,\"annotations\":[]}");
}

void acog_chat_write_whole(const struct acog_provider_play *play, struct acog_buffer *out)
{
    write_envelope(play, ACOG_VIEW("chat.completion"), out);
    ACOG_WRITE(out, ",\"choices\":[{\"index\":0,\"message\":");
    write_message(play, out);
    ACOG_WRITE(out, ",\"logprobs\":null");
    write_filter_results(play, out);
    ACOG_WRITE(out, ",\"finish_reason\":");
    acog_write_string(out, finish_reason(play));
    ACOG_WRITE(out, "}]");
    if (!play->reply.no_usage) {
        ACOG_WRITE(out, ",");
        write_usage(play, out);
    }
    ACOG_WRITE(out, "}");
}
