/* answer_from_messages.c - an Anthropic answer, whole or as events, into the flow.
 *
 * A block is a part, its index the key. What Anthropic's own tools did, where another model took over, and what a
 * compaction left are no part of the answer. Usage comes twice and is overwritten (FACTS, 8); Anthropic counts the cached
 * and the written tokens beside the others, the flow among them (B95).
 */
#include "content.h"
#include "flow.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- usage ----------------------------------------------------------------------------------------- */

/* Figures are a provider's to send: they never overflow. */
static int64_t sum(int64_t a, int64_t b)
{
    a = a < 0 ? 0 : a;
    b = b < 0 ? 0 : b;
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static int64_t first_known(int64_t reported, int64_t known)
{
    return reported >= 0 ? reported : known;
}

/* Each report tells some of the figures; the input is the sum of three, whichever of them came before. */
static void read_usage(struct acog_flow *flow, struct acog_json_value object)
{
    struct acog_usage reported = acog_dialect_no_usage();
    const struct acog_usage *known = &flow->usage;
    if (!acog_dialect_messages_usage(object, &reported)) {
        return;
    }
    int64_t beside = sum(known->cached_tokens, known->cache_write_tokens);
    int64_t plain = known->input_tokens < 0 ? -1 : known->input_tokens - beside;
    plain = first_known(reported.input_tokens, plain);
    reported.cached_tokens = first_known(reported.cached_tokens, known->cached_tokens);
    reported.cache_write_tokens =
        first_known(reported.cache_write_tokens, known->cache_write_tokens);
    beside = sum(reported.cached_tokens, reported.cache_write_tokens);
    reported.input_tokens = plain < 0 && beside == 0 ? -1 : sum(plain, beside);
    acog_flow_usage(flow, &reported);
}

/* -- the end --------------------------------------------------------------------------------------- */

/* B60 */
static enum acog_finish_reason reason_of(struct acog_json_value word)
{
    static const struct {
        struct acog_view word;
        enum acog_finish_reason reason;
    } reasons[] = {
        {{"end_turn", 8}, ACOG_FINISH_STOP},
        {{"stop_sequence", 13}, ACOG_FINISH_STOP_SEQUENCE},
        {{"max_tokens", 10}, ACOG_FINISH_LENGTH},
        {{"model_context_window_exceeded", 29}, ACOG_FINISH_CONTEXT},
        {{"tool_use", 8}, ACOG_FINISH_CALLS},
        {{"refusal", 7}, ACOG_FINISH_REFUSAL},
        {{"pause_turn", 10}, ACOG_FINISH_PAUSE},
    };

    for (size_t i = 0; i < COUNT(reasons); i++) {
        if (acog_json_text_is(word, reasons[i].word)) {
            return reasons[i].reason;
        }
    }
    return ACOG_FINISH_UNKNOWN;
}

/* `object` has the stop reason and what explains it: a message_delta's delta, or a whole answer. */
static void read_stop(struct acog_flow *flow, struct acog_json_value object)
{
    static const struct acog_view names[] = {
        {"stop_reason", 11}, {"stop_sequence", 13}, {"stop_details", 12}};
    static const struct acog_view inner[] = {{"category", 8}, {"explanation", 11}};
    struct acog_json_value found[COUNT(names)];
    struct acog_json_value details[COUNT(inner)];
    acog_json_members(object, names, found, COUNT(names));
    acog_json_members(found[2], inner, details, COUNT(inner));
    if (!acog_dialect_nonempty(found[0])) {
        return;
    }
    acog_flow_finish(flow, reason_of(found[0]), acog_text_of(found[0]));
    if (acog_dialect_nonempty(found[1])) {
        acog_flow_stop_sequence(flow, acog_text_of(found[1]));
    }
    acog_flow_refusal(flow, acog_text_of(details[0]), acog_text_of(details[1]));
}

/* -- blocks ---------------------------------------------------------------------------------------- */

static void read_citation(struct acog_flow *flow, uint32_t key, struct acog_json_value citation)
{
    static const struct acog_view names[] = {{"url", 3}, {"title", 5}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(citation, names, found, COUNT(names));
    acog_flow_citation(flow, key, acog_text_of(found[0]), acog_text_of(found[1]));
}

static void read_signature(struct acog_flow *flow, uint32_t key, struct acog_json_value signature,
                           bool redacted)
{
    struct acog_opaque opaque = {
        .maker = ACOG_DIALECT_MESSAGES, .bytes = acog_text_of(signature), .redacted = redacted};
    if (opaque.bytes.bytes.len > 0) {
        acog_flow_opaque(flow, ACOG_FLOW_REASONING, key, &opaque);
    }
}

enum block_member {
    ACOG_BLOCK_TYPE = 0,
    ACOG_BLOCK_TEXT,
    ACOG_BLOCK_CITATIONS,
    ACOG_BLOCK_THINKING,
    ACOG_BLOCK_SIGNATURE,
    ACOG_BLOCK_DATA,
    ACOG_BLOCK_ID,
    ACOG_BLOCK_NAME,
    ACOG_BLOCK_INPUT,
    ACOG_BLOCK_COUNT
};

/* A stream's tool_use begins with {}, and its input comes in pieces. */
static void read_call(struct acog_flow *flow, uint32_t key, const struct acog_json_value *found)
{
    struct acog_json_cursor cursor = acog_json_enter(found[ACOG_BLOCK_INPUT]);
    acog_flow_call(flow, key, acog_text_of(found[ACOG_BLOCK_ID]),
                   acog_text_of(found[ACOG_BLOCK_NAME]));
    if (found[ACOG_BLOCK_INPUT].type == ACOG_JSON_OBJECT && acog_json_next(&cursor)) {
        acog_flow_arguments(flow, key, acog_text_plain(found[ACOG_BLOCK_INPUT].raw));
    }
}

/* A block at its start, or whole. */
static void read_block(struct acog_flow *flow, uint32_t key, struct acog_json_value block)
{
    static const struct acog_view names[] = {[ACOG_BLOCK_TYPE] = {"type", 4},
                                             [ACOG_BLOCK_TEXT] = {"text", 4},
                                             [ACOG_BLOCK_CITATIONS] = {"citations", 9},
                                             [ACOG_BLOCK_THINKING] = {"thinking", 8},
                                             [ACOG_BLOCK_SIGNATURE] = {"signature", 9},
                                             [ACOG_BLOCK_DATA] = {"data", 4},
                                             [ACOG_BLOCK_ID] = {"id", 2},
                                             [ACOG_BLOCK_NAME] = {"name", 4},
                                             [ACOG_BLOCK_INPUT] = {"input", 5}};
    struct acog_json_value found[ACOG_BLOCK_COUNT];
    acog_json_members(block, names, found, ACOG_BLOCK_COUNT);
    struct acog_json_value type = found[ACOG_BLOCK_TYPE];
    if (acog_json_text_is(type, ACOG_VIEW("text"))) {
        acog_flow_text(flow, ACOG_FLOW_TEXT, key, acog_text_of(found[ACOG_BLOCK_TEXT]));
        struct acog_json_cursor cursor = acog_json_enter(found[ACOG_BLOCK_CITATIONS]);
        while (acog_json_next(&cursor)) {
            read_citation(flow, key, cursor.value);
        }
    } else if (acog_json_text_is(type, ACOG_VIEW("thinking"))) {
        acog_flow_text(flow, ACOG_FLOW_REASONING, key, acog_text_of(found[ACOG_BLOCK_THINKING]));
        read_signature(flow, key, found[ACOG_BLOCK_SIGNATURE], false);
    } else if (acog_json_text_is(type, ACOG_VIEW("redacted_thinking"))) {
        read_signature(flow, key, found[ACOG_BLOCK_DATA], true);
    } else if (acog_json_text_is(type, ACOG_VIEW("tool_use"))) {
        read_call(flow, key, found);
    }
}

/* The type of a delta is told by what it holds; of a block that is no part, nothing is known of its key. */
static void read_delta(struct acog_flow *flow, uint32_t key, struct acog_json_value delta)
{
    static const struct acog_view names[] = {
        {"text", 4}, {"partial_json", 12}, {"thinking", 8}, {"signature", 9}, {"citation", 8}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(delta, names, found, COUNT(names));
    acog_flow_text(flow, ACOG_FLOW_TEXT, key, acog_text_of(found[0]));
    acog_flow_arguments(flow, key, acog_text_of(found[1]));
    acog_flow_text(flow, ACOG_FLOW_REASONING, key, acog_text_of(found[2]));
    read_signature(flow, key, found[3], false);
    if (found[4].type == ACOG_JSON_OBJECT) {
        read_citation(flow, key, found[4]);
    }
}

/* -- events ---------------------------------------------------------------------------------------- */

enum event_member {
    ACOG_EVENT_TYPE = 0,
    ACOG_EVENT_INDEX,
    ACOG_EVENT_DELTA,
    ACOG_EVENT_BLOCK,
    ACOG_EVENT_MESSAGE,
    ACOG_EVENT_USAGE,
    ACOG_EVENT_COUNT
};

static void read_start(struct acog_flow *flow, struct acog_json_value message)
{
    static const struct acog_view names[] = {{"id", 2}, {"model", 5}, {"usage", 5}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(message, names, found, COUNT(names));
    read_usage(flow, found[2]); /* before the beginning, which tells of it */
    acog_flow_begin(flow, acog_text_of(found[0]), acog_text_of(found[1]));
}

static uint32_t key_of(struct acog_json_value index)
{
    int64_t number = 0;
    return acog_json_int(index, &number) ? (uint32_t)((uint64_t)number & UINT32_MAX) : 0;
}

void acog_messages_read_event(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                              struct acog_arena *scratch)
{
    static const struct acog_view names[] = {
        [ACOG_EVENT_TYPE] = {"type", 4},       [ACOG_EVENT_INDEX] = {"index", 5},
        [ACOG_EVENT_DELTA] = {"delta", 5},     [ACOG_EVENT_BLOCK] = {"content_block", 13},
        [ACOG_EVENT_MESSAGE] = {"message", 7}, [ACOG_EVENT_USAGE] = {"usage", 5}};
    struct acog_json_value found[ACOG_EVENT_COUNT];
    struct acog_json_value event = acog_dialect_event_object(data);
    (void)scratch;
    if (!acog_json_present(event)) {
        return;
    }
    acog_json_members(event, names, found, ACOG_EVENT_COUNT);
    struct acog_view type = acog_dialect_nonempty(found[ACOG_EVENT_TYPE])
                                ? acog_dialect_word(found[ACOG_EVENT_TYPE])
                                : name;
    uint32_t key = key_of(found[ACOG_EVENT_INDEX]);
    if (acog_view_equal(type, ACOG_VIEW("content_block_delta"))) {
        read_delta(flow, key, found[ACOG_EVENT_DELTA]);
    } else if (acog_view_equal(type, ACOG_VIEW("content_block_start"))) {
        read_block(flow, key, found[ACOG_EVENT_BLOCK]);
    } else if (acog_view_equal(type, ACOG_VIEW("content_block_stop"))) {
        acog_flow_part_end(flow, key);
    } else if (acog_view_equal(type, ACOG_VIEW("message_start"))) {
        read_start(flow, found[ACOG_EVENT_MESSAGE]);
    } else if (acog_view_equal(type, ACOG_VIEW("message_delta"))) {
        read_stop(flow, found[ACOG_EVENT_DELTA]);
        read_usage(flow, found[ACOG_EVENT_USAGE]);
    }
}

void acog_messages_read_whole(struct acog_flow *flow, struct acog_json_value body,
                              struct acog_arena *scratch)
{
    struct acog_json_value content = {.raw = {0}};
    (void)scratch;
    read_start(flow, body);
    (void)acog_json_member(body, ACOG_VIEW("content"), &content);
    struct acog_json_cursor cursor = acog_json_enter(content);
    for (uint32_t key = 0; acog_json_next(&cursor); key++) {
        read_block(flow, key, cursor.value);
        acog_flow_part_end(flow, key);
    }
    read_stop(flow, body);
}
