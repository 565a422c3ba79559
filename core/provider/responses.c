/* responses.c - OpenAI's responses: the whole sequence of events, numbered from 0, and whole answers. */
#include "acog/contract.h"
#include "play.h"
#include "writer.h"

enum item_salt { /* each item has an id of its own */
    ACOG_ITEM_RESPONSE = 1,
    ACOG_ITEM_REASONING,
    ACOG_ITEM_TEXT,
    ACOG_ITEM_TOOL,
    ACOG_ITEM_CALL,
};

static int64_t text_index(const struct acog_provider_play *play)
{
    return play->walk.reasoning.len > 0 ? 1 : 0;
}

static int64_t tool_index(const struct acog_provider_play *play)
{
    return text_index(play) + (play->walk.text.len > 0 ? 1 : 0);
}

/* Why the answer is incomplete; empty: it is complete. */
static struct acog_view incomplete_reason(const struct acog_provider_play *play)
{
    if (acog_view_equal(play->reply.finish, ACOG_VIEW("completed"))) {
        return (struct acog_view){0};
    }
    if (play->reply.finish.len > 0) {
        return play->reply.finish;
    }
    return play->reply.refusal ? ACOG_VIEW("content_filter") : (struct acog_view){0};
}

static void write_item_id(const struct acog_provider_play *play, struct acog_view name,
                          enum item_salt item, struct acog_buffer *out)
{
    static const struct {
        const char *prefix;
        unsigned length;
    } forms[] = {
        [ACOG_ITEM_RESPONSE] = {"resp_0", 49}, [ACOG_ITEM_REASONING] = {"rs_0", 49},
        [ACOG_ITEM_TEXT] = {"msg_0", 49},      [ACOG_ITEM_TOOL] = {"fc_0", 49},
        [ACOG_ITEM_CALL] = {"call_", 24},
    };

    acog_write_string(out, name);
    ACOG_WRITE(out, ":\"");
    acog_write_id(out, acog_view_of(forms[item].prefix), play->seed, (uint64_t)item,
                  forms[item].length);
    ACOG_WRITE(out, "\"");
}

/* -- the parts of an answer, as they stand in events and in the whole ------------------------------- */

static void write_reasoning_part(struct acog_view text, struct acog_buffer *out)
{
    ACOG_WRITE(out, "{\"type\":\"summary_text\",\"text\":");
    acog_write_string(out, text);
    ACOG_WRITE(out, "}");
}

static void write_text_part(struct acog_view text, struct acog_buffer *out)
{
    ACOG_WRITE(out, "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":");
    acog_write_string(out, text);
    ACOG_WRITE(out, "}");
}

static void write_reasoning_item(const struct acog_provider_play *play, bool done,
                                 struct acog_buffer *out)
{
    ACOG_WRITE(out, "{");
    write_item_id(play, ACOG_VIEW("id"), ACOG_ITEM_REASONING, out);
    ACOG_WRITE(out, ",\"type\":\"reasoning\",\"summary\":[");
    if (done) {
        write_reasoning_part(play->walk.reasoning, out);
    }
    ACOG_WRITE(out, "]}");
}

static void write_text_item(const struct acog_provider_play *play, bool done,
                            struct acog_buffer *out)
{
    ACOG_WRITE(out, "{");
    write_item_id(play, ACOG_VIEW("id"), ACOG_ITEM_TEXT, out);
    ACOG_WRITE(out, ",\"type\":\"message\",\"status\":");
    acog_write_string(out, done ? ACOG_VIEW("completed") : ACOG_VIEW("in_progress"));
    ACOG_WRITE(out, ",\"content\":[");
    if (done) {
        write_text_part(play->walk.text, out);
    }
    ACOG_WRITE(out, "],\"role\":\"assistant\"}");
}

static void write_tool_item(const struct acog_provider_play *play, bool done,
                            struct acog_buffer *out)
{
    ACOG_WRITE(out, "{");
    write_item_id(play, ACOG_VIEW("id"), ACOG_ITEM_TOOL, out);
    ACOG_WRITE(out, ",\"type\":\"function_call\",\"status\":");
    acog_write_string(out, done ? ACOG_VIEW("completed") : ACOG_VIEW("in_progress"));
    ACOG_WRITE(out, ",\"arguments\":");
    acog_write_string(out, done ? play->walk.tool_arguments : ACOG_VIEW(""));
    ACOG_WRITE(out, ",");
    write_item_id(play, ACOG_VIEW("call_id"), ACOG_ITEM_CALL, out);
    ACOG_WRITE(out, ",\"name\":");
    acog_write_string(out, play->reply.tool_name);
    ACOG_WRITE(out, "}");
}

static void write_output(const struct acog_provider_play *play, struct acog_buffer *out)
{
    if (play->walk.reasoning.len > 0) {
        write_reasoning_item(play, true, out);
    }
    if (play->walk.text.len > 0) {
        acog_write_raw(out, text_index(play) > 0 ? ACOG_VIEW(",") : ACOG_VIEW(""));
        write_text_item(play, true, out);
    }
    if (play->walk.tool) {
        acog_write_raw(out, tool_index(play) > 0 ? ACOG_VIEW(",") : ACOG_VIEW(""));
        write_tool_item(play, true, out);
    }
}

static void write_usage(const struct acog_provider_play *play, struct acog_buffer *out)
{
    if (play->reply.no_usage) {
        ACOG_WRITE(out, "null");
        return;
    }
    ACOG_WRITE(out, "{\"input_tokens\":");
    acog_write_number(out, play->reply.input_tokens);
    ACOG_WRITE(out, ",\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":");
    acog_write_number(out, play->reply.output_tokens);
    ACOG_WRITE(out, ",\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":");
    acog_write_number(out, play->reply.input_tokens + play->reply.output_tokens);
    ACOG_WRITE(out, "}");
}

static void write_incomplete_details(struct acog_view reason, struct acog_buffer *out)
{
    if (reason.len == 0) {
        ACOG_WRITE(out, "null");
        return;
    }
    ACOG_WRITE(out, "{\"reason\":");
    acog_write_string(out, reason);
    ACOG_WRITE(out, "}");
}

enum response_state {
    ACOG_RESPONSE_IN_PROGRESS = 0,
    ACOG_RESPONSE_ENDED,
    ACOG_RESPONSE_FAILED,
};

static void write_error(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, "{\"code\":");
    acog_write_string(out, play->reply.error_code.len > 0 ? play->reply.error_code
                                                          : ACOG_VIEW("server_error"));
    ACOG_WRITE(out, ",\"message\":");
    acog_write_string(out, play->reply.error_message);
    ACOG_WRITE(out, "}");
}

static void write_response(const struct acog_provider_play *play, enum response_state state,
                           struct acog_buffer *out)
{
    bool ended = state == ACOG_RESPONSE_ENDED;
    struct acog_view reason = ended ? incomplete_reason(play) : (struct acog_view){0};
    struct acog_view status = reason.len > 0 ? ACOG_VIEW("incomplete") : ACOG_VIEW("completed");
    if (!ended) {
        status = state == ACOG_RESPONSE_FAILED ? ACOG_VIEW("failed") : ACOG_VIEW("in_progress");
    }
    ACOG_WRITE(out, "{");
    write_item_id(play, ACOG_VIEW("id"), ACOG_ITEM_RESPONSE, out);
    ACOG_WRITE(out, ",\"object\":\"response\",\"created_at\":");
    acog_write_number(out, play->request.unix_ms / 1000);
    ACOG_WRITE(out, ",\"status\":");
    acog_write_string(out, status);
    ACOG_WRITE(out, ",\"background\":false,\"error\":");
    if (state == ACOG_RESPONSE_FAILED) {
        write_error(play, out);
    } else {
        ACOG_WRITE(out, "null");
    }
    ACOG_WRITE(out, ",\"incomplete_details\":");
    write_incomplete_details(reason, out);
    ACOG_WRITE(out, ",\"instructions\":null,\"max_output_tokens\":null,\"max_tool_calls\":null,"
                    "\"model\":");
    acog_write_string(out, play->reply.model);
    ACOG_WRITE(out, ",\"output\":[");
    if (ended) {
        write_output(play, out);
    }
    ACOG_WRITE(out, "],\"parallel_tool_calls\":true,\"previous_response_id\":null,"
                    "\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\","
                    "\"store\":false,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},"
                    "\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,"
                    "\"truncation\":\"disabled\",\"usage\":");
    if (ended) {
        write_usage(play, out);
    } else {
        ACOG_WRITE(out, "null");
    }
    ACOG_WRITE(out, ",\"user\":null,\"metadata\":{}}");
}

/* -- stream ---------------------------------------------------------------------------------------- */

static void begin_event(struct acog_provider_play *play, struct acog_view type,
                        struct acog_buffer *out)
{
    ACOG_WRITE(out, "event: ");
    acog_write_raw(out, type);
    ACOG_WRITE(out, "\ndata: {\"type\":");
    acog_write_string(out, type);
    ACOG_WRITE(out, ",\"sequence_number\":");
    acog_write_number(out, play->sequence);
    play->sequence++;
}

static void end_event(struct acog_buffer *out)
{
    ACOG_WRITE(out, "}\n\n");
}

static void write_response_event(struct acog_provider_play *play, struct acog_view type,
                                 enum response_state state, struct acog_buffer *out)
{
    begin_event(play, type, out);
    ACOG_WRITE(out, ",\"response\":");
    write_response(play, state, out);
    end_event(out);
}

static void write_item_event(struct acog_provider_play *play, enum item_salt item, bool done,
                             struct acog_buffer *out)
{
    begin_event(play,
                done ? ACOG_VIEW("response.output_item.done")
                     : ACOG_VIEW("response.output_item.added"),
                out);
    ACOG_WRITE(out, ",\"output_index\":");
    if (item == ACOG_ITEM_REASONING) {
        ACOG_WRITE(out, "0,\"item\":");
        write_reasoning_item(play, done, out);
    } else if (item == ACOG_ITEM_TEXT) {
        acog_write_number(out, text_index(play));
        ACOG_WRITE(out, ",\"item\":");
        write_text_item(play, done, out);
    } else {
        acog_write_number(out, tool_index(play));
        ACOG_WRITE(out, ",\"item\":");
        write_tool_item(play, done, out);
    }
    end_event(out);
}

/* An event about the inside of an item, up to its own fields. */
static void begin_part_event(struct acog_provider_play *play, struct acog_view type,
                             enum item_salt item, struct acog_buffer *out)
{
    begin_event(play, type, out);
    ACOG_WRITE(out, ",");
    write_item_id(play, ACOG_VIEW("item_id"), item, out);
    ACOG_WRITE(out, ",\"output_index\":");
    if (item == ACOG_ITEM_REASONING) {
        ACOG_WRITE(out, "0,\"summary_index\":0");
    } else if (item == ACOG_ITEM_TEXT) {
        acog_write_number(out, text_index(play));
        ACOG_WRITE(out, ",\"content_index\":0");
    } else {
        acog_write_number(out, tool_index(play));
    }
}

static void write_part_event(struct acog_provider_play *play, struct acog_view type,
                             enum item_salt item, struct acog_view text, struct acog_buffer *out)
{
    begin_part_event(play, type, item, out);
    ACOG_WRITE(out, ",\"part\":");
    if (item == ACOG_ITEM_REASONING) {
        write_reasoning_part(text, out);
    } else {
        write_text_part(text, out);
    }
    end_event(out);
}

/* A delta, or the whole once it is done. */
static void write_piece_event(struct acog_provider_play *play, struct acog_view type,
                              enum item_salt item, struct acog_view field, struct acog_view text,
                              struct acog_buffer *out)
{
    begin_part_event(play, type, item, out);
    ACOG_WRITE(out, ",");
    acog_write_string(out, field);
    ACOG_WRITE(out, ":");
    acog_write_string(out, text);
    if (item == ACOG_ITEM_TEXT) {
        ACOG_WRITE(out, ",\"logprobs\":[]");
    }
    end_event(out);
}

static void write_reasoning_beat(struct acog_provider_play *play, struct acog_buffer *out)
{
    const struct acog_walk *walk = &play->walk;
    if (walk->beat == ACOG_BEAT_REASONING_PART) {
        write_part_event(play, ACOG_VIEW("response.reasoning_summary_part.added"),
                         ACOG_ITEM_REASONING, ACOG_VIEW(""), out);
    } else if (walk->beat == ACOG_BEAT_REASONING_PIECE) {
        write_piece_event(play, ACOG_VIEW("response.reasoning_summary_text.delta"),
                          ACOG_ITEM_REASONING, ACOG_VIEW("delta"), walk->piece, out);
    } else if (walk->beat == ACOG_BEAT_REASONING_DONE) {
        write_piece_event(play, ACOG_VIEW("response.reasoning_summary_text.done"),
                          ACOG_ITEM_REASONING, ACOG_VIEW("text"), walk->reasoning, out);
    } else if (walk->beat == ACOG_BEAT_REASONING_PART_DONE) {
        write_part_event(play, ACOG_VIEW("response.reasoning_summary_part.done"),
                         ACOG_ITEM_REASONING, walk->reasoning, out);
    } else {
        write_item_event(play, ACOG_ITEM_REASONING, walk->beat == ACOG_BEAT_REASONING_CLOSE, out);
    }
}

static void write_text_beat(struct acog_provider_play *play, struct acog_buffer *out)
{
    const struct acog_walk *walk = &play->walk;
    if (walk->beat == ACOG_BEAT_TEXT_PART) {
        write_part_event(play, ACOG_VIEW("response.content_part.added"), ACOG_ITEM_TEXT,
                         ACOG_VIEW(""), out);
    } else if (walk->beat == ACOG_BEAT_TEXT_PIECE) {
        write_piece_event(play, ACOG_VIEW("response.output_text.delta"), ACOG_ITEM_TEXT,
                          ACOG_VIEW("delta"), walk->piece, out);
    } else if (walk->beat == ACOG_BEAT_TEXT_DONE) {
        write_piece_event(play, ACOG_VIEW("response.output_text.done"), ACOG_ITEM_TEXT,
                          ACOG_VIEW("text"), walk->text, out);
    } else if (walk->beat == ACOG_BEAT_TEXT_PART_DONE) {
        write_part_event(play, ACOG_VIEW("response.content_part.done"), ACOG_ITEM_TEXT, walk->text,
                         out);
    } else {
        write_item_event(play, ACOG_ITEM_TEXT, walk->beat == ACOG_BEAT_TEXT_CLOSE, out);
    }
}

static void write_tool_beat(struct acog_provider_play *play, struct acog_buffer *out)
{
    const struct acog_walk *walk = &play->walk;
    if (walk->beat == ACOG_BEAT_TOOL_PIECE) {
        write_piece_event(play, ACOG_VIEW("response.function_call_arguments.delta"), ACOG_ITEM_TOOL,
                          ACOG_VIEW("delta"), walk->piece, out);
    } else if (walk->beat == ACOG_BEAT_TOOL_DONE) {
        write_piece_event(play, ACOG_VIEW("response.function_call_arguments.done"), ACOG_ITEM_TOOL,
                          ACOG_VIEW("arguments"), walk->tool_arguments, out);
    } else {
        write_item_event(play, ACOG_ITEM_TOOL, walk->beat == ACOG_BEAT_TOOL_CLOSE, out);
    }
}

void acog_responses_write_beat(struct acog_provider_play *play, struct acog_buffer *out)
{
    switch (play->walk.beat) {
    case ACOG_BEAT_START:
        write_response_event(play, ACOG_VIEW("response.created"), ACOG_RESPONSE_IN_PROGRESS, out);
        return;
    case ACOG_BEAT_STARTED:
        write_response_event(play, ACOG_VIEW("response.in_progress"), ACOG_RESPONSE_IN_PROGRESS,
                             out);
        return;
    case ACOG_BEAT_REASONING_OPEN:
    case ACOG_BEAT_REASONING_PART:
    case ACOG_BEAT_REASONING_PIECE:
    case ACOG_BEAT_REASONING_DONE:
    case ACOG_BEAT_REASONING_PART_DONE:
    case ACOG_BEAT_REASONING_CLOSE:
        write_reasoning_beat(play, out);
        return;
    case ACOG_BEAT_TEXT_OPEN:
    case ACOG_BEAT_TEXT_PART:
    case ACOG_BEAT_TEXT_PIECE:
    case ACOG_BEAT_TEXT_DONE:
    case ACOG_BEAT_TEXT_PART_DONE:
    case ACOG_BEAT_TEXT_CLOSE:
        write_text_beat(play, out);
        return;
    case ACOG_BEAT_TOOL_OPEN:
    case ACOG_BEAT_TOOL_PIECE:
    case ACOG_BEAT_TOOL_DONE:
    case ACOG_BEAT_TOOL_CLOSE:
        write_tool_beat(play, out);
        return;
    case ACOG_BEAT_FINISH:
        write_response_event(play,
                             incomplete_reason(play).len > 0 ? ACOG_VIEW("response.incomplete")
                                                             : ACOG_VIEW("response.completed"),
                             ACOG_RESPONSE_ENDED, out);
        return;
    case ACOG_BEAT_USAGE:
    case ACOG_BEAT_LAST:
    case ACOG_BEAT_OVER:
        return;
    }
    ACOG_UNREACHABLE("unknown beat");
}

void acog_responses_write_failed(struct acog_provider_play *play, struct acog_buffer *out)
{
    begin_event(play, ACOG_VIEW("error"), out);
    ACOG_WRITE(out, ",\"code\":");
    acog_write_string(out, play->reply.error_code.len > 0 ? play->reply.error_code
                                                          : ACOG_VIEW("server_error"));
    ACOG_WRITE(out, ",\"message\":");
    acog_write_string(out, play->reply.error_message);
    ACOG_WRITE(out, ",\"param\":null");
    end_event(out);
    write_response_event(play, ACOG_VIEW("response.failed"), ACOG_RESPONSE_FAILED, out);
}

void acog_responses_write_whole(const struct acog_provider_play *play, struct acog_buffer *out)
{
    write_response(play, ACOG_RESPONSE_ENDED, out);
}
