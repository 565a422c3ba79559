/* answer_to_chat.c - answers as a client of chat/completions reads them, as a stream and whole.
 *
 * All texts of an answer are one `content`, in their order; reasoning is `reasoning_content`. What only its provider can
 * read (opaque.h) comes as entries of `reasoning_details`. In a stream all of them, and all annotations, come in one chunk
 * at the end: so SDKs that merge lists by index, that append and that overwrite all end with the same. An entry of a
 * call's carries the call's id.
 *
 * A reason that the five words of chat lose stands beside them: `native_finish_reason`, and `stop_details` of a refusal.
 */
#include "acog/contract.h"
#include "flow.h"

#define REASONING_BYTES_MAX ((size_t)8 * 1024 * 1024)
#define ANSWER_BYTES_MAX    ((size_t)64 * 1024 * 1024) /* of each list and text of a whole answer */
#define PREFIX_BYTES_MAX    ((size_t)4 * 1024)

/* -- what both forms say the same way -------------------------------------------------------------- */

static struct acog_view finish_word(enum acog_finish_reason reason)
{
    switch (reason) {
    case ACOG_FINISH_STOP:
    case ACOG_FINISH_STOP_SEQUENCE:
        return ACOG_VIEW("stop");
    case ACOG_FINISH_CALLS:
        return ACOG_VIEW("tool_calls");
    case ACOG_FINISH_REFUSAL:
        return ACOG_VIEW("content_filter");
    case ACOG_FINISH_LENGTH:
    case ACOG_FINISH_CONTEXT:
    case ACOG_FINISH_PAUSE:
    case ACOG_FINISH_UNKNOWN: /* B60: never told as a plain end */
        return ACOG_VIEW("length");
    }
    ACOG_UNREACHABLE("a reason");
}

/* The end of a choice: `"logprobs":null,"finish_reason":"stop"` and what else is known of it. */
static void put_finish(struct acog_flow *flow)
{
    const struct acog_finish *finish = &flow->finish;
    acog_flow_put(flow, ACOG_VIEW("\"logprobs\":null,\"finish_reason\":\""));
    acog_flow_put(flow, finish_word(finish->reason));
    acog_flow_put(flow, ACOG_VIEW("\""));
    if (acog_flow_native_is_lost(flow)) {
        acog_flow_put(flow, ACOG_VIEW(",\"native_finish_reason\":\""));
        acog_flow_put_name(flow, &finish->native);
        acog_flow_put(flow, ACOG_VIEW("\""));
    }
    if (finish->reason == ACOG_FINISH_REFUSAL && finish->category.len > 0) {
        acog_flow_put(flow, ACOG_VIEW(",\"stop_details\":{\"type\":\"refusal\",\"category\":\""));
        acog_flow_put_name(flow, &finish->category);
        acog_flow_put(flow, ACOG_VIEW("\",\"explanation\":\""));
        acog_flow_put_name(flow, &finish->explanation);
        acog_flow_put(flow, ACOG_VIEW("\"}"));
    }
}

static void put_input_details(struct acog_flow *flow, const struct acog_usage *usage)
{
    if (usage->cached_tokens < 0 && usage->cache_write_tokens < 0) {
        return;
    }
    acog_flow_put_format(flow, ",\"prompt_tokens_details\":{\"cached_tokens\":%lld",
                         (long long)acog_flow_figure(usage->cached_tokens));
    if (usage->cache_write_tokens >= 0) {
        acog_flow_put_format(flow, ",\"cache_write_tokens\":%lld",
                             (long long)usage->cache_write_tokens);
    }
    acog_flow_put(flow, ACOG_VIEW("}"));
}

static void put_usage(struct acog_flow *flow)
{
    const struct acog_usage *usage = &flow->usage;
    int64_t input = acog_flow_figure(usage->input_tokens);
    int64_t output = acog_flow_figure(usage->output_tokens);
    acog_flow_put_format(flow,
                         "{\"prompt_tokens\":%lld,\"completion_tokens\":%lld,\"total_tokens\":%lld",
                         (long long)input, (long long)output,
                         (long long)(input > INT64_MAX - output ? INT64_MAX : input + output));
    put_input_details(flow, usage);
    if (usage->reasoning_tokens >= 0) {
        acog_flow_put_format(flow, ",\"completion_tokens_details\":{\"reasoning_tokens\":%lld}",
                             (long long)usage->reasoning_tokens);
    }
    if (flow->usage_estimated) {
        acog_flow_put(flow, ACOG_VIEW(",\"estimated\":true"));
    }
    acog_flow_put(flow, ACOG_VIEW("}"));
}

/* `{"id":…,"object":…,"created":…,"model":…,` */
static void put_head(struct acog_flow *flow, struct acog_view object)
{
    acog_flow_put(flow, ACOG_VIEW("{\"id\":\""));
    acog_flow_put_id(flow, "chatcmpl-");
    acog_flow_put(flow, ACOG_VIEW("\",\"object\":\""));
    acog_flow_put(flow, object);
    acog_flow_put_format(flow, "\",\"created\":%lld,\"model\":\"",
                         (long long)flow->translation->unix_s);
    acog_flow_put_name(flow, &flow->model);
    acog_flow_put(flow, ACOG_VIEW("\","));
}

/* A refusal that came without words, but with an explanation. */
static bool has_only_explanation(const struct acog_flow *flow)
{
    return flow->finish.reason == ACOG_FINISH_REFUSAL && flow->finish.explanation.len > 0 &&
           flow->kind_counts[ACOG_FLOW_REFUSAL] == 0;
}

/* Characters, as an annotation counts them. */
static uint64_t characters_of(struct acog_text text)
{
    uint64_t count = 0;
    for (size_t i = 0; i < text.bytes.len; i++) {
        unsigned char byte = (unsigned char)text.bytes.ptr[i];
        if (text.escaped && byte == '\\' && i + 1 < text.bytes.len) {
            bool unit = text.bytes.ptr[i + 1] == 'u' && i + 5 < text.bytes.len;
            /* \ud83d\ude00 is one: the second half, \udc00 to \udfff, is not counted. */
            bool second = unit && (text.bytes.ptr[i + 2] | 0x20) == 'd' &&
                          strchr("cdefCDEF", text.bytes.ptr[i + 3]) != NULL;
            count += second ? 0 : 1;
            i += unit ? 5 : 1;
        } else if ((byte & 0xc0U) != 0x80U) {
            count++;
        }
    }
    return count;
}

/* What a writer of either form keeps of what it has told. The first member of both: the functions that both forms have
 * take a pointer to it. */
struct told {
    uint64_t content_characters;
    uint64_t part_start;          /* in content_characters */
    struct acog_buffer reasoning; /* of the open REASONING part; as between quotes */
    bool reasoning_kept;          /* it is in `details` */
    uint32_t detail_count;
    struct acog_buffer details;     /* entries of reasoning_details */
    bool sealed;                    /* one of them is opaque: else nobody needs them */
    struct acog_buffer annotations; /* entries */
};

static void tell_begin(struct told *told)
{
    acog_buffer_init(&told->reasoning, REASONING_BYTES_MAX);
    acog_buffer_init(&told->details, ANSWER_BYTES_MAX);
    acog_buffer_init(&told->annotations, ANSWER_BYTES_MAX);
}

static void tell_free(struct told *told)
{
    acog_buffer_fini(&told->reasoning);
    acog_buffer_fini(&told->details);
    acog_buffer_fini(&told->annotations);
}

static void tell_part_begin(struct told *told, const struct acog_flow_part *part)
{
    told->part_start = told->content_characters;
    if (part->kind == ACOG_FLOW_REASONING) {
        told->reasoning.len = 0;
        told->reasoning_kept = false;
    }
}

static void tell_text(struct acog_flow *flow, struct told *told, const struct acog_flow_part *part,
                      struct acog_text text)
{
    if (part->kind == ACOG_FLOW_TEXT) {
        told->content_characters += characters_of(text);
    } else if (part->kind == ACOG_FLOW_REASONING) {
        acog_flow_keep_inside(flow, &told->reasoning, text);
    }
}

/* Lets the put functions append to one of the writer's lists, behind a comma where one is due. Returns what they
 * appended to before. */
static struct acog_buffer *redirect(struct acog_flow *flow, struct acog_buffer *list)
{
    struct acog_buffer *out = flow->out;
    flow->out = list;
    if (list->len > 0) {
        acog_flow_put(flow, ACOG_VIEW(","));
    }
    return out;
}

static void put_reasoning_text(struct acog_flow *flow, struct told *told)
{
    acog_flow_put(flow, ACOG_VIEW("{\"type\":\"reasoning.text\",\"text\":\""));
    acog_flow_put(flow, acog_buffer_view(&told->reasoning));
    told->reasoning_kept = true;
}

static void keep_opaque(struct acog_flow *flow, void *state, const struct acog_flow_part *part,
                        const struct acog_opaque *opaque)
{
    struct told *told = state;
    struct acog_buffer *out = redirect(flow, &told->details);
    told->sealed = true;
    if (part->kind == ACOG_FLOW_REASONING && part->begun) {
        put_reasoning_text(flow, told);
        acog_flow_put(flow, ACOG_VIEW("\",\"signature\":\""));
    } else {
        acog_flow_put(flow, ACOG_VIEW("{\"type\":\"reasoning.encrypted\",\"data\":\""));
    }
    acog_flow_put_opaque(flow, opaque);
    if (part->kind == ACOG_FLOW_CALL) {
        acog_flow_put(flow, ACOG_VIEW("\",\"id\":\""));
        acog_flow_put_name(flow, &part->call_id);
    }
    acog_flow_put_format(flow, "\",\"index\":%u}", told->detail_count++);
    flow->out = out;
}

/* The entries hold all that was thought: who reads them reads nothing beside them. */
static void keep_unsealed(struct acog_flow *flow, struct told *told,
                          const struct acog_flow_part *part)
{
    if (part->kind == ACOG_FLOW_REASONING && part->begun && !told->reasoning_kept) {
        struct acog_buffer *out = redirect(flow, &told->details);
        put_reasoning_text(flow, told);
        acog_flow_put_format(flow, "\",\"index\":%u}", told->detail_count++);
        flow->out = out;
    }
}

/* What is told at the end; empty: nothing. */
static struct acog_view details_of(const struct told *told)
{
    return told->sealed ? acog_buffer_view(&told->details) : (struct acog_view){0};
}

static void keep_citation(struct acog_flow *flow, void *state, const struct acog_flow_part *part,
                          struct acog_text url, struct acog_text title)
{
    struct told *told = state;
    struct acog_buffer *out = redirect(flow, &told->annotations);
    (void)part;
    acog_flow_put_format(flow,
                         "{\"type\":\"url_citation\",\"url_citation\":{\"start_index\":%llu,"
                         "\"end_index\":%llu,\"url\":\"",
                         (unsigned long long)told->part_start,
                         (unsigned long long)told->content_characters);
    acog_flow_put_inside(flow, url);
    acog_flow_put(flow, ACOG_VIEW("\",\"title\":\""));
    acog_flow_put_inside(flow, title);
    acog_flow_put(flow, ACOG_VIEW("\"}}"));
    flow->out = out;
}

/* -- the stream form ------------------------------------------------------------------------------- */

struct stream_writer {
    struct told told;
    struct acog_buffer prefix; /* of every chunk with a delta, up to the delta's inside */
};

static void begin_delta(struct acog_flow *flow, const struct stream_writer *writer)
{
    acog_flow_put(flow, acog_buffer_view(&writer->prefix));
}

static void end_delta(struct acog_flow *flow)
{
    acog_flow_put(flow, ACOG_VIEW("},\"logprobs\":null,\"finish_reason\":null}]"));
    if (flow->translation->usage_asked) {
        acog_flow_put(flow, ACOG_VIEW(",\"usage\":null"));
    }
    acog_flow_put(flow, ACOG_VIEW("}\n\n"));
}

static void stream_begin(struct acog_flow *flow, void *state)
{
    struct stream_writer *writer = state;
    size_t start = flow->out->len;
    tell_begin(&writer->told);
    acog_buffer_init(&writer->prefix, PREFIX_BYTES_MAX);
    acog_flow_put(flow, ACOG_VIEW("data: "));
    put_head(flow, ACOG_VIEW("chat.completion.chunk"));
    acog_flow_put(flow, ACOG_VIEW("\"choices\":[{\"index\":0,\"delta\":{"));
    acog_flow_keep(flow, &writer->prefix,
                   acog_view_slice(acog_buffer_view(flow->out), start, flow->out->len));
    acog_flow_put(flow, ACOG_VIEW("\"role\":\"assistant\""));
    end_delta(flow);
}

static void stream_part_begin(struct acog_flow *flow, void *state,
                              const struct acog_flow_part *part)
{
    struct stream_writer *writer = state;
    tell_part_begin(&writer->told, part);
    if (part->kind != ACOG_FLOW_CALL) {
        return;
    }
    begin_delta(flow, writer);
    acog_flow_put_format(flow, "\"tool_calls\":[{\"index\":%u,\"id\":\"", part->kind_index);
    acog_flow_put_name(flow, &part->call_id);
    acog_flow_put(flow, ACOG_VIEW("\",\"type\":\"function\",\"function\":{\"name\":\""));
    acog_flow_put_name(flow, &part->call_name);
    acog_flow_put(flow, ACOG_VIEW("\",\"arguments\":\"\"}}]"));
    end_delta(flow);
}

static void stream_part_text(struct acog_flow *flow, void *state, const struct acog_flow_part *part,
                             struct acog_text text)
{
    struct stream_writer *writer = state;
    struct acog_view tail = ACOG_VIEW("\"");
    tell_text(flow, &writer->told, part, text);
    begin_delta(flow, writer);
    switch (part->kind) {
    case ACOG_FLOW_TEXT:
        acog_flow_put(flow, ACOG_VIEW("\"content\":\""));
        break;
    case ACOG_FLOW_REASONING:
        acog_flow_put(flow, ACOG_VIEW("\"reasoning_content\":\""));
        break;
    case ACOG_FLOW_REFUSAL:
        acog_flow_put(flow, ACOG_VIEW("\"refusal\":\""));
        break;
    case ACOG_FLOW_CALL:
        acog_flow_put_format(flow, "\"tool_calls\":[{\"index\":%u,\"function\":{\"arguments\":\"",
                             part->kind_index);
        tail = ACOG_VIEW("\"}}]");
        break;
    }
    acog_flow_put_inside(flow, text);
    acog_flow_put(flow, tail);
    end_delta(flow);
}

static void stream_part_end(struct acog_flow *flow, void *state, const struct acog_flow_part *part)
{
    struct stream_writer *writer = state;
    keep_unsealed(flow, &writer->told, part);
    if (part->kind == ACOG_FLOW_CALL && !part->begun) {
        stream_part_text(flow, state, part, acog_text_plain(ACOG_VIEW("{}")));
    }
}

static void put_list_delta(struct acog_flow *flow, const struct stream_writer *writer,
                           struct acog_view name, struct acog_view list)
{
    if (list.len > 0) {
        begin_delta(flow, writer);
        acog_flow_put(flow, ACOG_VIEW("\""));
        acog_flow_put(flow, name);
        acog_flow_put(flow, ACOG_VIEW("\":["));
        acog_flow_put(flow, list);
        acog_flow_put(flow, ACOG_VIEW("]"));
        end_delta(flow);
    }
}

static void stream_finish(struct acog_flow *flow, void *state)
{
    const struct stream_writer *writer = state;
    put_list_delta(flow, writer, ACOG_VIEW("reasoning_details"), details_of(&writer->told));
    put_list_delta(flow, writer, ACOG_VIEW("annotations"),
                   acog_buffer_view(&writer->told.annotations));
    if (has_only_explanation(flow)) {
        begin_delta(flow, writer);
        acog_flow_put(flow, ACOG_VIEW("\"refusal\":\""));
        acog_flow_put_name(flow, &flow->finish.explanation);
        acog_flow_put(flow, ACOG_VIEW("\""));
        end_delta(flow);
    }
    begin_delta(flow, writer);
    acog_flow_put(flow, ACOG_VIEW("},"));
    put_finish(flow);
    acog_flow_put(flow, ACOG_VIEW("}]"));
    if (flow->translation->usage_asked) {
        acog_flow_put(flow, ACOG_VIEW(",\"usage\":null}\n\ndata: "));
        put_head(flow, ACOG_VIEW("chat.completion.chunk"));
        acog_flow_put(flow, ACOG_VIEW("\"choices\":[],\"usage\":"));
        put_usage(flow);
    }
    acog_flow_put(flow, ACOG_VIEW("}\n\ndata: [DONE]\n\n"));
}

static void stream_free(void *state)
{
    struct stream_writer *writer = state;
    acog_buffer_fini(&writer->prefix);
    tell_free(&writer->told);
}

const struct acog_answer_writer_form acog_chat_stream_form = {
    .state_bytes = sizeof(struct stream_writer),
    .begin = stream_begin,
    .part_begin = stream_part_begin,
    .part_text = stream_part_text,
    .part_opaque = keep_opaque,
    .part_citation = keep_citation,
    .part_end = stream_part_end,
    .finish = stream_finish,
    .free = stream_free,
};

/* -- the whole form -------------------------------------------------------------------------------- */

/* The members of the message, each filled as its parts come: as between quotes, or as a list's inside. */
struct whole_writer {
    struct told told;
    struct acog_buffer texts[ACOG_FLOW_CALL]; /* by kind: content, reasoning, refusal */
    struct acog_buffer calls;
};

static void whole_begin(struct acog_flow *flow, void *state)
{
    struct whole_writer *writer = state;
    (void)flow;
    tell_begin(&writer->told);
    for (int kind = 0; kind < ACOG_FLOW_CALL; kind++) {
        acog_buffer_init(&writer->texts[kind], ANSWER_BYTES_MAX);
    }
    acog_buffer_init(&writer->calls, ANSWER_BYTES_MAX);
}

static void whole_part_begin(struct acog_flow *flow, void *state, const struct acog_flow_part *part)
{
    struct whole_writer *writer = state;
    tell_part_begin(&writer->told, part);
    if (part->kind == ACOG_FLOW_CALL) {
        struct acog_buffer *out = redirect(flow, &writer->calls);
        acog_flow_put(flow, ACOG_VIEW("{\"id\":\""));
        acog_flow_put_name(flow, &part->call_id);
        acog_flow_put(flow, ACOG_VIEW("\",\"type\":\"function\",\"function\":{\"name\":\""));
        acog_flow_put_name(flow, &part->call_name);
        acog_flow_put(flow, ACOG_VIEW("\",\"arguments\":\""));
        flow->out = out;
    }
}

static void whole_part_text(struct acog_flow *flow, void *state, const struct acog_flow_part *part,
                            struct acog_text text)
{
    struct whole_writer *writer = state;
    tell_text(flow, &writer->told, part, text);
    acog_flow_keep_inside(
        flow, part->kind == ACOG_FLOW_CALL ? &writer->calls : &writer->texts[part->kind], text);
}

static void whole_part_end(struct acog_flow *flow, void *state, const struct acog_flow_part *part)
{
    struct whole_writer *writer = state;
    keep_unsealed(flow, &writer->told, part);
    if (part->kind == ACOG_FLOW_CALL) {
        acog_flow_keep(flow, &writer->calls, part->begun ? ACOG_VIEW("\"}}") : ACOG_VIEW("{}\"}}"));
    }
}

/* `,"name":"text"`; null where there is none and the schema wants the member. */
static void put_text_member(struct acog_flow *flow, const char *name,
                            const struct acog_buffer *text, bool wanted)
{
    if (text->len > 0) {
        acog_flow_put_format(flow, ",\"%s\":\"", name);
        acog_flow_put(flow, acog_buffer_view(text));
        acog_flow_put(flow, ACOG_VIEW("\""));
    } else if (wanted) {
        acog_flow_put_format(flow, ",\"%s\":null", name);
    }
}

static void put_list_member(struct acog_flow *flow, const char *name, struct acog_view list)
{
    if (list.len > 0) {
        acog_flow_put_format(flow, ",\"%s\":[", name);
        acog_flow_put(flow, list);
        acog_flow_put(flow, ACOG_VIEW("]"));
    }
}

static void whole_finish(struct acog_flow *flow, void *state)
{
    struct whole_writer *writer = state;
    if (has_only_explanation(flow)) {
        acog_flow_keep_inside(flow, &writer->texts[ACOG_FLOW_REFUSAL],
                              acog_text_plain(acog_flow_name_view(&flow->finish.explanation)));
    }
    put_head(flow, ACOG_VIEW("chat.completion"));
    acog_flow_put(flow, ACOG_VIEW("\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\""));
    bool silent = writer->texts[ACOG_FLOW_TEXT].len == 0 &&
                  writer->texts[ACOG_FLOW_REFUSAL].len == 0 && writer->calls.len == 0;
    if (silent) { /* null is for what is said elsewhere */
        acog_flow_put(flow, ACOG_VIEW(",\"content\":\"\""));
    } else {
        put_text_member(flow, "content", &writer->texts[ACOG_FLOW_TEXT], true);
    }
    put_text_member(flow, "refusal", &writer->texts[ACOG_FLOW_REFUSAL], true);
    put_text_member(flow, "reasoning_content", &writer->texts[ACOG_FLOW_REASONING], false);
    put_list_member(flow, "reasoning_details", details_of(&writer->told));
    put_list_member(flow, "annotations", acog_buffer_view(&writer->told.annotations));
    put_list_member(flow, "tool_calls", acog_buffer_view(&writer->calls));
    acog_flow_put(flow, ACOG_VIEW("},"));
    put_finish(flow);
    acog_flow_put(flow, ACOG_VIEW("}],\"usage\":"));
    put_usage(flow);
    acog_flow_put(flow, ACOG_VIEW("}"));
}

static void whole_free(void *state)
{
    struct whole_writer *writer = state;
    for (int kind = 0; kind < ACOG_FLOW_CALL; kind++) {
        acog_buffer_fini(&writer->texts[kind]);
    }
    acog_buffer_fini(&writer->calls);
    tell_free(&writer->told);
}

const struct acog_answer_writer_form acog_chat_whole_form = {
    .state_bytes = sizeof(struct whole_writer),
    .begin = whole_begin,
    .part_begin = whole_part_begin,
    .part_text = whole_part_text,
    .part_opaque = keep_opaque,
    .part_citation = keep_citation,
    .part_end = whole_part_end,
    .finish = whole_finish,
    .free = whole_free,
};
