/* answer_to_messages.c - answers as a client of Anthropic Messages reads them, as a stream and whole.
 *
 * A block begins when its first piece comes, because only then is it known what it is: reasoning that only its maker can
 * read is a redacted_thinking, any other a thinking; and the signature of a call (Gemini's) stands in a redacted_thinking
 * of its own before the tool_use, with the call's id in its tag. So blocks are numbered here and not by the flow.
 *
 * Reasoning that nobody signed gets an empty signature under its maker's tag: when it comes back, it is known as another
 * maker's and not sent to Anthropic, who would refuse it.
 *
 * A redacted_thinking behind a text waits for a block behind it and goes with the last text: clients take the last block
 * for the answer, and Anthropic's own never ends otherwise.
 *
 * A call whose arguments are no JSON object (cut by max_tokens, or a model's mistake): a stream gives them as they came;
 * a whole answer gives {"partial_json": "…"} as the input, the text and nothing invented.
 */
#include "acog/contract.h"
#include "flow.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define ARGUMENTS_BYTES_MAX ((size_t)8 * 1024 * 1024)
#define LATE_BYTES_MAX      ((size_t)8 * 1024 * 1024)

/* -- what both forms say the same way -------------------------------------------------------------- */

/* B60. The one that no word fits is told as cut, never as a plain end. */
static enum acog_finish_reason told_reason(const struct acog_flow *flow)
{
    bool refused =
        flow->finish.reason == ACOG_FINISH_STOP && flow->kind_counts[ACOG_FLOW_REFUSAL] > 0;
    if (refused) {
        return ACOG_FINISH_REFUSAL;
    }
    return flow->finish.reason == ACOG_FINISH_UNKNOWN ? ACOG_FINISH_LENGTH : flow->finish.reason;
}

static struct acog_view stop_word(enum acog_finish_reason reason)
{
    switch (reason) {
    case ACOG_FINISH_STOP:
        return ACOG_VIEW("end_turn");
    case ACOG_FINISH_STOP_SEQUENCE:
        return ACOG_VIEW("stop_sequence");
    case ACOG_FINISH_LENGTH:
    case ACOG_FINISH_UNKNOWN:
        return ACOG_VIEW("max_tokens");
    case ACOG_FINISH_CONTEXT:
        return ACOG_VIEW("model_context_window_exceeded");
    case ACOG_FINISH_CALLS:
        return ACOG_VIEW("tool_use");
    case ACOG_FINISH_REFUSAL:
        return ACOG_VIEW("refusal");
    case ACOG_FINISH_PAUSE:
        return ACOG_VIEW("pause_turn");
    }
    ACOG_UNREACHABLE("a reason");
}

static void put_name_or_null(struct acog_flow *flow, const struct acog_flow_name *name)
{
    if (name->len == 0) {
        acog_flow_put(flow, ACOG_VIEW("null"));
        return;
    }
    acog_flow_put(flow, ACOG_VIEW("\""));
    acog_flow_put_name(flow, name);
    acog_flow_put(flow, ACOG_VIEW("\""));
}

/* The API's categories are a closed list (RefusalStopDetails of the SDK). */
static bool is_category(struct acog_view word)
{
    static const struct acog_view categories[] = {
        {"cyber", 5},          {"bio", 3}, {"frontier_llm", 12}, {"reasoning_extraction", 20},
        {"general_harms", 13},
    };
    size_t i = 0;
    while (i < COUNT(categories) && !acog_view_equal(word, categories[i])) {
        i++;
    }
    return i < COUNT(categories);
}

/* Another provider's word for a category is an explanation. */
static void put_stop_details(struct acog_flow *flow)
{
    const struct acog_finish *finish = &flow->finish;
    const struct acog_flow_name none = {.len = 0};
    bool known = is_category(acog_flow_name_view(&finish->category));
    bool explained = known || finish->explanation.len > 0;
    acog_flow_put(flow, ACOG_VIEW(",\"stop_details\":{\"type\":\"refusal\",\"category\":"));
    put_name_or_null(flow, known ? &finish->category : &none);
    acog_flow_put(flow, ACOG_VIEW(",\"explanation\":"));
    put_name_or_null(flow, explained ? &finish->explanation : &finish->category);
    acog_flow_put(flow, ACOG_VIEW("}"));
}

/* `"stop_reason":…,"stop_sequence":…` and what else is known of the end. */
static void put_stop(struct acog_flow *flow)
{
    const struct acog_finish *finish = &flow->finish;
    enum acog_finish_reason reason = told_reason(flow);
    struct acog_view word = stop_word(reason);
    struct acog_view usual = acog_flow_usual_word(flow, reason);
    struct acog_view native = acog_flow_name_view(&finish->native);
    acog_flow_put(flow, ACOG_VIEW("\"stop_reason\":\""));
    acog_flow_put(flow, word);
    acog_flow_put(flow, ACOG_VIEW("\",\"stop_sequence\":"));
    if (finish->reason == ACOG_FINISH_STOP_SEQUENCE) {
        put_name_or_null(flow, &finish->stop_sequence);
    } else {
        acog_flow_put(flow, ACOG_VIEW("null"));
    }
    if (finish->category.len > 0 || finish->explanation.len > 0) {
        put_stop_details(flow);
    }
    if (native.len > 0 && !acog_view_equal(native, usual.len > 0 ? usual : word)) {
        acog_flow_put(flow, ACOG_VIEW(",\"native_stop_reason\":\""));
        acog_flow_put_name(flow, &finish->native);
        acog_flow_put(flow, ACOG_VIEW("\""));
    }
}

/* The input without the cached and the written tokens, which stand beside it (B49, B95). Before the end, what is known
 * of the input, or its estimate. */
static void put_usage(struct acog_flow *flow)
{
    const struct acog_usage *usage = &flow->usage;
    int64_t cached = acog_flow_figure(usage->cached_tokens);
    int64_t written = acog_flow_figure(usage->cache_write_tokens);
    int64_t input = acog_flow_figure(
        usage->input_tokens < 0 ? flow->translation->input_tokens_estimate : usage->input_tokens);
    input = input > cached ? input - cached : 0;
    input = input > written ? input - written : 0;
    acog_flow_put_format(flow,
                         "\"usage\":{\"input_tokens\":%lld,\"cache_creation_input_tokens\":%lld,"
                         "\"cache_read_input_tokens\":%lld,\"output_tokens\":%lld",
                         (long long)input, (long long)written, (long long)cached,
                         (long long)acog_flow_figure(usage->output_tokens));
    if (usage->reasoning_tokens >= 0) {
        acog_flow_put_format(flow, ",\"output_tokens_details\":{\"thinking_tokens\":%lld}",
                             (long long)usage->reasoning_tokens);
    }
    acog_flow_put(flow, flow->usage_estimated ? ACOG_VIEW(",\"estimated\":true}") : ACOG_VIEW("}"));
}

/* `{"id":…` to the list of blocks, opened. */
static void put_head(struct acog_flow *flow)
{
    acog_flow_put(flow, ACOG_VIEW("{\"id\":\""));
    acog_flow_put_id(flow, "msg_");
    acog_flow_put(flow, ACOG_VIEW("\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\""));
    acog_flow_put_name(flow, &flow->model);
    acog_flow_put(flow, ACOG_VIEW("\",\"content\":["));
}

/* `{"type":"tool_use",…,"input":` */
static void put_call_head(struct acog_flow *flow, const struct acog_flow_part *part)
{
    acog_flow_put(flow, ACOG_VIEW("{\"type\":\"tool_use\",\"id\":\""));
    acog_flow_put_name(flow, &part->call_id);
    acog_flow_put(flow, ACOG_VIEW("\",\"name\":\""));
    acog_flow_put_name(flow, &part->call_name);
    acog_flow_put(flow, ACOG_VIEW("\",\"input\":"));
}

/* Blocks of redacted_thinking behind a text, until another block comes. */
struct late_blocks {
    struct acog_buffer bytes;
    bool behind_text; /* the latest block that was told is a text */
};

static void late_begin(struct late_blocks *late)
{
    acog_buffer_init(&late->bytes, LATE_BYTES_MAX);
}

/* Another block comes. */
static void put_late(struct acog_flow *flow, struct late_blocks *late)
{
    acog_flow_put(flow, acog_buffer_view(&late->bytes));
    late->bytes.len = 0;
    late->behind_text = false;
}

static void late_part_end(struct late_blocks *late, const struct acog_flow_part *part)
{
    late->behind_text =
        late->behind_text || part->kind == ACOG_FLOW_TEXT || part->kind == ACOG_FLOW_REFUSAL;
}

static void put_redacted(struct acog_flow *flow, const struct acog_opaque *opaque)
{
    acog_flow_put(flow, ACOG_VIEW("{\"type\":\"redacted_thinking\",\"data\":\""));
    acog_flow_put_opaque(flow, opaque);
    acog_flow_put(flow, ACOG_VIEW("\"}"));
}

/* What says whose reasoning it was that has no signature. */
static struct acog_opaque unsigned_reasoning(const struct acog_flow *flow)
{
    return (struct acog_opaque){.maker = flow->translation->upstream};
}

/* The signature of a call, for the client to give back with that call. A dot would end the id in the tag. */
static struct acog_opaque signature_of_call(const struct acog_flow_part *part,
                                            const struct acog_opaque *opaque)
{
    struct acog_opaque signature = *opaque;
    struct acog_view id = acog_flow_name_view(&part->call_id);
    bool dotted = acog_view_find(id, ACOG_VIEW(".")) < id.len;
    signature.id = acog_text_plain(dotted ? (struct acog_view){0} : id);
    signature.redacted = false;
    return signature;
}

/* -- streams --------------------------------------------------------------------------------------- */

struct stream_writer {
    struct late_blocks late;
    uint32_t index;  /* of the open block, or of the next one */
    bool block_open; /* its start was told */
    bool is_signed;  /* the open part of reasoning has its signature */
};

static void put_block_start(struct acog_flow *flow, const struct stream_writer *stream)
{
    acog_flow_put_format(flow,
                         "event: content_block_start\ndata: {\"type\":\"content_block_start\","
                         "\"index\":%u,\"content_block\":",
                         stream->index);
}

static void put_block_stop(struct acog_flow *flow, struct stream_writer *stream)
{
    acog_flow_put_format(flow,
                         "event: content_block_stop\ndata: {\"type\":\"content_block_stop\","
                         "\"index\":%u}\n\n",
                         stream->index);
    stream->index++;
    stream->block_open = false;
}

static void open_block(struct acog_flow *flow, struct stream_writer *stream,
                       const struct acog_flow_part *part)
{
    if (stream->block_open) {
        return;
    }
    stream->block_open = true;
    put_late(flow, &stream->late);
    put_block_start(flow, stream);
    switch (part->kind) {
    case ACOG_FLOW_TEXT:
    case ACOG_FLOW_REFUSAL:
        acog_flow_put(flow, ACOG_VIEW("{\"type\":\"text\",\"text\":\"\"}"));
        break;
    case ACOG_FLOW_REASONING:
        acog_flow_put(flow,
                      ACOG_VIEW("{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}"));
        break;
    case ACOG_FLOW_CALL:
        put_call_head(flow, part);
        acog_flow_put(flow, ACOG_VIEW("{}}"));
        break;
    }
    acog_flow_put(flow, ACOG_VIEW("}\n\n"));
}

static void put_redacted_block(struct acog_flow *flow, struct stream_writer *stream,
                               const struct acog_opaque *opaque)
{
    put_block_start(flow, stream);
    put_redacted(flow, opaque);
    acog_flow_put(flow, ACOG_VIEW("}\n\n"));
    put_block_stop(flow, stream);
}

/* `…"delta":{"type":"text_delta","text":"` */
static void put_delta_head(struct acog_flow *flow, const struct stream_writer *stream,
                           const char *type, const char *member)
{
    acog_flow_put_format(flow,
                         "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
                         "\"index\":%u,\"delta\":{\"type\":\"%s\",\"%s\":\"",
                         stream->index, type, member);
}

static void stream_begin(struct acog_flow *flow, void *state)
{
    struct stream_writer *stream = state;
    late_begin(&stream->late);
    acog_flow_put(flow, ACOG_VIEW("event: message_start\ndata: "
                                  "{\"type\":\"message_start\",\"message\":"));
    put_head(flow);
    acog_flow_put(flow, ACOG_VIEW("],\"stop_reason\":null,\"stop_sequence\":null,"));
    put_usage(flow);
    acog_flow_put(flow, ACOG_VIEW("}}\n\n"));
}

static void stream_part_begin(struct acog_flow *flow, void *state,
                              const struct acog_flow_part *part)
{
    struct stream_writer *stream = state;
    (void)flow;
    (void)part;
    stream->is_signed = false;
}

static void stream_part_text(struct acog_flow *flow, void *state, const struct acog_flow_part *part,
                             struct acog_text text)
{
    struct stream_writer *stream = state;
    open_block(flow, stream, part);
    switch (part->kind) {
    case ACOG_FLOW_TEXT:
    case ACOG_FLOW_REFUSAL:
        put_delta_head(flow, stream, "text_delta", "text");
        break;
    case ACOG_FLOW_REASONING:
        put_delta_head(flow, stream, "thinking_delta", "thinking");
        break;
    case ACOG_FLOW_CALL:
        put_delta_head(flow, stream, "input_json_delta", "partial_json");
        break;
    }
    acog_flow_put_inside(flow, text);
    acog_flow_put(flow, ACOG_VIEW("\"}}\n\n"));
}

static void put_signature(struct acog_flow *flow, struct stream_writer *stream,
                          const struct acog_opaque *opaque)
{
    put_delta_head(flow, stream, "signature_delta", "signature");
    acog_flow_put_opaque(flow, opaque);
    acog_flow_put(flow, ACOG_VIEW("\"}}\n\n"));
    stream->is_signed = true;
}

static void stream_part_opaque(struct acog_flow *flow, void *state,
                               const struct acog_flow_part *part, const struct acog_opaque *opaque)
{
    struct stream_writer *stream = state;
    if (part->kind == ACOG_FLOW_CALL) {
        if (!stream->block_open) { /* behind the arguments there is no place for it any more */
            struct acog_opaque signature = signature_of_call(part, opaque);
            put_late(flow, &stream->late);
            put_redacted_block(flow, stream, &signature);
        }
    } else if (opaque->redacted && !stream->block_open) {
        struct acog_buffer *out = flow->out;
        flow->out = stream->late.behind_text ? &stream->late.bytes : out;
        put_redacted_block(flow, stream, opaque);
        flow->out = out;
        stream->is_signed = true;
    } else if (!stream->is_signed) {
        open_block(flow, stream, part);
        put_signature(flow, stream, opaque);
    }
}

static void no_citation(struct acog_flow *flow, void *state, const struct acog_flow_part *part,
                        struct acog_text url, struct acog_text title)
{
    (void)flow; /* Anthropic's point at a place in what its own tools found */
    (void)state;
    (void)part;
    (void)url;
    (void)title;
}

static void stream_part_end(struct acog_flow *flow, void *state, const struct acog_flow_part *part)
{
    struct stream_writer *stream = state;
    if (part->kind == ACOG_FLOW_REASONING && !stream->is_signed) {
        struct acog_opaque tag = unsigned_reasoning(flow);
        put_signature(flow, stream, &tag);
    }
    if (part->kind == ACOG_FLOW_CALL) {
        open_block(flow, stream, part);
    }
    if (stream->block_open) {
        put_block_stop(flow, stream);
    }
    late_part_end(&stream->late, part);
}

static void stream_finish(struct acog_flow *flow, void *state)
{
    (void)state;
    acog_flow_put(flow,
                  ACOG_VIEW("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"));
    put_stop(flow);
    acog_flow_put(flow, ACOG_VIEW("},"));
    put_usage(flow);
    acog_flow_put(flow, ACOG_VIEW("}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}"
                                  "\n\n"));
}

static void stream_free(void *state)
{
    struct stream_writer *stream = state;
    acog_buffer_fini(&stream->late.bytes);
}

const struct acog_answer_writer_form acog_messages_stream_form = {
    .state_bytes = sizeof(struct stream_writer),
    .begin = stream_begin,
    .part_begin = stream_part_begin,
    .part_text = stream_part_text,
    .part_opaque = stream_part_opaque,
    .part_citation = no_citation,
    .part_end = stream_part_end,
    .finish = stream_finish,
    .free = stream_free,
};

/* -- whole answers --------------------------------------------------------------------------------- */

struct whole_writer {
    struct late_blocks late;
    bool any_block;
    bool block_open;
    bool is_signed;
    struct acog_buffer arguments; /* of the open call, their characters; bytes_max 0: never used */
};

static void begin_whole_block(struct acog_flow *flow, struct whole_writer *whole)
{
    put_late(flow, &whole->late);
    acog_flow_put(flow, whole->any_block ? ACOG_VIEW(",") : ACOG_VIEW(""));
    whole->any_block = true;
}

static void whole_begin(struct acog_flow *flow, void *state)
{
    struct whole_writer *whole = state;
    acog_buffer_init(&whole->arguments, ARGUMENTS_BYTES_MAX);
    late_begin(&whole->late);
    put_head(flow);
}

static void whole_part_begin(struct acog_flow *flow, void *state, const struct acog_flow_part *part)
{
    struct whole_writer *whole = state;
    (void)flow;
    (void)part;
    whole->block_open = false;
    whole->is_signed = false;
    acog_buffer_clear(&whole->arguments, ARGUMENTS_BYTES_MAX);
}

/* A text's or reasoning's block; a call's is written when it is complete. */
static void open_whole_block(struct acog_flow *flow, struct whole_writer *whole,
                             const struct acog_flow_part *part)
{
    if (whole->block_open) {
        return;
    }
    whole->block_open = true;
    begin_whole_block(flow, whole);
    acog_flow_put(flow, part->kind == ACOG_FLOW_REASONING
                            ? ACOG_VIEW("{\"type\":\"thinking\",\"thinking\":\"")
                            : ACOG_VIEW("{\"type\":\"text\",\"text\":\""));
}

static void whole_part_text(struct acog_flow *flow, void *state, const struct acog_flow_part *part,
                            struct acog_text text)
{
    struct whole_writer *whole = state;
    if (part->kind == ACOG_FLOW_CALL) {
        acog_flow_keep_plain(flow, &whole->arguments, text);
        return;
    }
    open_whole_block(flow, whole, part);
    acog_flow_put_inside(flow, text);
}

static void put_whole_redacted(struct acog_flow *flow, struct whole_writer *whole,
                               const struct acog_opaque *opaque)
{
    if (!whole->late.behind_text) {
        begin_whole_block(flow, whole);
        put_redacted(flow, opaque);
        return;
    }
    struct acog_buffer *out = flow->out;
    flow->out = &whole->late.bytes;
    acog_flow_put(flow, ACOG_VIEW(","));
    put_redacted(flow, opaque);
    flow->out = out;
}

static void whole_part_opaque(struct acog_flow *flow, void *state,
                              const struct acog_flow_part *part, const struct acog_opaque *opaque)
{
    struct whole_writer *whole = state;
    if (part->kind == ACOG_FLOW_CALL) {
        struct acog_opaque signature = signature_of_call(part, opaque);
        begin_whole_block(flow, whole);
        put_redacted(flow, &signature);
    } else if (opaque->redacted && !whole->block_open) {
        put_whole_redacted(flow, whole, opaque);
        whole->is_signed = true;
    } else if (!whole->is_signed) {
        open_whole_block(flow, whole, part);
        acog_flow_put(flow, ACOG_VIEW("\",\"signature\":\""));
        acog_flow_put_opaque(flow, opaque);
        whole->is_signed = true;
    }
}

static void put_whole_call(struct acog_flow *flow, struct whole_writer *whole,
                           const struct acog_flow_part *part)
{
    struct acog_json_value input;
    struct acog_json_error error;
    struct acog_view text = acog_buffer_view(&whole->arguments);
    begin_whole_block(flow, whole);
    put_call_head(flow, part);
    if (!part->begun) {
        acog_flow_put(flow, ACOG_VIEW("{}"));
    } else if (acog_json_check(text, ACOG_JSON_DEPTH_MAX, &input, &error) == ACOG_OK &&
               input.type == ACOG_JSON_OBJECT) {
        acog_flow_put(flow, input.raw);
    } else {
        acog_flow_put(flow, ACOG_VIEW("{\"partial_json\":\""));
        acog_flow_put_inside(flow, acog_text_plain(text));
        acog_flow_put(flow, ACOG_VIEW("\"}"));
    }
    acog_flow_put(flow, ACOG_VIEW("}"));
}

static void whole_part_end(struct acog_flow *flow, void *state, const struct acog_flow_part *part)
{
    struct whole_writer *whole = state;
    if (part->kind == ACOG_FLOW_CALL) {
        put_whole_call(flow, whole, part);
        return;
    }
    if (part->kind == ACOG_FLOW_REASONING && !whole->is_signed) {
        struct acog_opaque tag = unsigned_reasoning(flow);
        whole_part_opaque(flow, state, part, &tag);
    }
    acog_flow_put(flow, whole->block_open ? ACOG_VIEW("\"}") : ACOG_VIEW(""));
    late_part_end(&whole->late, part);
}

static void whole_finish(struct acog_flow *flow, void *state)
{
    (void)state;
    acog_flow_put(flow, ACOG_VIEW("],"));
    put_stop(flow);
    acog_flow_put(flow, ACOG_VIEW(","));
    put_usage(flow);
    acog_flow_put(flow, ACOG_VIEW("}"));
}

static void whole_free(void *state)
{
    struct whole_writer *whole = state;
    acog_buffer_fini(&whole->arguments);
    acog_buffer_fini(&whole->late.bytes);
}

const struct acog_answer_writer_form acog_messages_whole_form = {
    .state_bytes = sizeof(struct whole_writer),
    .begin = whole_begin,
    .part_begin = whole_part_begin,
    .part_text = whole_part_text,
    .part_opaque = whole_part_opaque,
    .part_citation = no_citation,
    .part_end = whole_part_end,
    .finish = whole_finish,
    .free = whole_free,
};
