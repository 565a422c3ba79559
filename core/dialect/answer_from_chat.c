/* answer_from_chat.c - answers of chat/completions, as OpenAI and everyone who copies it give them.
 *
 * The one complication: chat has no event for where a part begins or ends, and its copies disagree about the rest.
 * Calls come with an index, with index 0 for all of them, or without one; a name after the id; arguments as an object;
 * reasoning under three names; content as a list of parts; usage and finish reasons in several chunks (FACTS, 8).
 *
 * Where reasoning stood is kept as an opaque of its own dialect, so that a provider that wants its reasoning back in a
 * tool loop gets it under the name that it used (write_chat.c): the field's name, or the entry of reasoning_details.
 */
#include "content.h"
#include "flow.h"

#define TEXT_KEY       UINT32_C(0x80000000)
#define REASONING_KEY  UINT32_C(0x80000001)
#define REFUSAL_KEY    UINT32_C(0x80000002)
#define FUNCTION_KEY   UINT32_C(0x80000003) /* the only call of the old form */
#define CALL_INDEX_MAX INT64_C(0xffff)      /* a higher one counts as none */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- why it ended ---------------------------------------------------------------------------------- */

static enum acog_finish_reason finish_of(struct acog_json_value word)
{
    static const struct {
        struct acog_view word;
        enum acog_finish_reason reason;
    } rows[] = {
        {{"stop", 4}, ACOG_FINISH_STOP},
        {{"length", 6}, ACOG_FINISH_LENGTH},
        {{"tool_calls", 10}, ACOG_FINISH_CALLS},
        {{"function_call", 13}, ACOG_FINISH_CALLS},
        {{"content_filter", 14}, ACOG_FINISH_REFUSAL},
        {{"refusal", 7}, ACOG_FINISH_REFUSAL},
        {{"model_length", 12}, ACOG_FINISH_CONTEXT}, /* Mistral */
        {{"eos", 3}, ACOG_FINISH_STOP},              /* Together */
        {{"eos_token", 9}, ACOG_FINISH_STOP},        /* Hugging Face */
        {{"stop_sequence", 13}, ACOG_FINISH_STOP_SEQUENCE},
        {{"end_turn", 8}, ACOG_FINISH_STOP}, /* xAI, and gateways that leave Anthropic's words */
        {{"max_tokens", 10}, ACOG_FINISH_LENGTH},
        {{"tool_use", 8}, ACOG_FINISH_CALLS},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        if (acog_json_text_is(word, rows[i].word)) {
            return rows[i].reason;
        }
    }
    return ACOG_FINISH_UNKNOWN;
}

/* A model that refuses in so many words ends with `stop`: the refusal is the reason. */
static void read_finish(struct acog_flow *flow, struct acog_json_value word)
{
    if (!acog_dialect_nonempty(word)) {
        return;
    }
    enum acog_finish_reason reason = finish_of(word);
    if (reason == ACOG_FINISH_STOP && flow->kind_counts[ACOG_FLOW_REFUSAL] > 0) {
        reason = ACOG_FINISH_REFUSAL;
    }
    acog_flow_finish(flow, reason, acog_text_of(word));
}

/* -- reasoning ------------------------------------------------------------------------------------- */

/* Before anything else than reasoning: says where the reasoning stood that ends here. */
static void end_reasoning(struct acog_flow *flow)
{
    bool open = flow->open && flow->part.kind == ACOG_FLOW_REASONING && !flow->finish_known;
    if (open && flow->chat.reasoning_field.len > 0) {
        struct acog_opaque opaque = {.maker = ACOG_DIALECT_CHAT,
                                     .bytes = acog_text_plain(flow->chat.reasoning_field)};
        acog_flow_opaque(flow, ACOG_FLOW_REASONING, REASONING_KEY, &opaque);
    }
    flow->chat.reasoning_field = (struct acog_view){0};
}

/* One entry of reasoning_details (OpenRouter): a piece of text, a signature, encrypted reasoning. True: it told text. */
static bool read_detail(struct acog_flow *flow, struct acog_json_value entry)
{
    static const struct acog_view names[] = {
        {"text", 4}, {"summary", 7}, {"signature", 9}, {"data", 4}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(entry, names, found, COUNT(names));
    struct acog_json_value text = acog_dialect_nonempty(found[0]) ? found[0] : found[1];
    /* Where the texts stand beside them, piece by piece, an entry repeats what was told, with its signature. */
    bool tells = acog_dialect_nonempty(text) && !flow->chat.reasoning_beside;
    if (tells) {
        acog_flow_text(flow, ACOG_FLOW_REASONING, REASONING_KEY, acog_text_of(text));
    }
    if (acog_dialect_nonempty(found[2]) || acog_dialect_nonempty(found[3])) {
        struct acog_opaque opaque = {.maker = ACOG_DIALECT_CHAT,
                                     .bytes = acog_text_plain(entry.raw),
                                     .redacted = acog_dialect_nonempty(found[3])};
        acog_flow_opaque(flow, ACOG_FLOW_REASONING, REASONING_KEY, &opaque);
        acog_flow_part_end(flow, REASONING_KEY);
    }
    return tells;
}

/* The same text stands in reasoning_details and beside them: it counts once. */
static void read_reasoning(struct acog_flow *flow, struct acog_json_value details,
                           struct acog_json_value content, struct acog_json_value reasoning)
{
    bool text = false;
    struct acog_json_cursor cursor = acog_json_enter(details);
    while (!cursor.object && acog_json_next(&cursor)) {
        text = read_detail(flow, cursor.value) || text;
    }
    if (text) {
        flow->chat.reasoning_field = (struct acog_view){0};
    } else if (acog_dialect_nonempty(content)) {
        acog_flow_text(flow, ACOG_FLOW_REASONING, REASONING_KEY, acog_text_of(content));
        flow->chat.reasoning_field = ACOG_VIEW("reasoning_content");
        flow->chat.reasoning_beside = true;
    } else if (acog_dialect_nonempty(reasoning)) {
        acog_flow_text(flow, ACOG_FLOW_REASONING, REASONING_KEY, acog_text_of(reasoning));
        flow->chat.reasoning_field = ACOG_VIEW("reasoning");
        flow->chat.reasoning_beside = true;
    }
}

/* -- content --------------------------------------------------------------------------------------- */

static void read_text(struct acog_flow *flow, struct acog_json_value text)
{
    if (acog_dialect_nonempty(text)) {
        end_reasoning(flow);
        acog_flow_text(flow, ACOG_FLOW_TEXT, TEXT_KEY, acog_text_of(text));
    }
}

static void read_refusal(struct acog_flow *flow, struct acog_json_value text)
{
    if (acog_dialect_nonempty(text)) {
        end_reasoning(flow);
        acog_flow_text(flow, ACOG_FLOW_REFUSAL, REFUSAL_KEY, acog_text_of(text));
    }
}

/* Mistral: {"type":"thinking","thinking":[{"type":"text","text":…}]}; Databricks: {"type":"reasoning","summary":[…]}. */
static void read_thinking(struct acog_flow *flow, struct acog_json_value thinking)
{
    struct acog_json_cursor cursor = acog_json_enter(thinking);
    acog_flow_text(flow, ACOG_FLOW_REASONING, REASONING_KEY, acog_text_of(thinking));
    while (!cursor.object && acog_json_next(&cursor)) {
        struct acog_json_value text;
        if (acog_json_member(cursor.value, ACOG_VIEW("text"), &text)) {
            acog_flow_text(flow, ACOG_FLOW_REASONING, REASONING_KEY, acog_text_of(text));
        }
    }
}

static void read_content(struct acog_flow *flow, struct acog_json_value content)
{
    static const struct acog_view names[] = {
        {"text", 4}, {"thinking", 8}, {"refusal", 7}, {"summary", 7}};
    struct acog_json_cursor cursor = acog_json_enter(content);
    read_text(flow, content);
    while (!cursor.object && acog_json_next(&cursor)) {
        struct acog_json_value found[COUNT(names)];
        acog_json_members(cursor.value, names, found, COUNT(names));
        read_thinking(flow, found[1]);
        read_thinking(flow, found[3]);
        read_text(flow, found[0]);
        read_refusal(flow, found[2]);
    }
}

static void read_annotations(struct acog_flow *flow, struct acog_json_value annotations)
{
    struct acog_json_cursor cursor = acog_json_enter(annotations);
    while (!cursor.object && acog_json_next(&cursor)) {
        static const struct acog_view names[] = {{"url", 3}, {"title", 5}};
        struct acog_json_value citation;
        struct acog_json_value found[COUNT(names)];
        if (acog_json_member(cursor.value, ACOG_VIEW("url_citation"), &citation)) {
            acog_json_members(citation, names, found, COUNT(names));
            acog_flow_citation(flow, TEXT_KEY, acog_text_of(found[0]), acog_text_of(found[1]));
        }
    }
}

/* -- calls ----------------------------------------------------------------------------------------- */

struct call_entry {
    struct acog_json_value index;
    struct acog_json_value id;
    struct acog_json_value name;
    struct acog_json_value arguments;
    struct acog_json_value extra; /* Gemini's thought signature, as its chat endpoint has it */
};

static struct call_entry call_entry_of(struct acog_json_value entry)
{
    static const struct acog_view names[] = {
        {"index", 5}, {"id", 2}, {"function", 8}, {"extra_content", 13}};
    static const struct acog_view inner[] = {{"name", 4}, {"arguments", 9}};
    struct acog_json_value found[COUNT(names)];
    struct acog_json_value function[COUNT(inner)];
    acog_json_members(entry, names, found, COUNT(names));
    acog_json_members(found[2], inner, function, COUNT(inner));
    return (struct call_entry){.index = found[0],
                               .id = found[1],
                               .name = function[0],
                               .arguments = function[1],
                               .extra = found[3]};
}

static bool is_latest_id(const struct acog_flow *flow, struct acog_json_value id)
{
    return acog_json_text_is(id, acog_flow_name_view(&flow->chat.call_id));
}

/* Without an index, an id that was not seen, or a name without an id, is the next call; else it is still the latest. */
static uint32_t key_of(const struct acog_flow *flow, const struct call_entry *entry)
{
    int64_t index = 0;
    if (acog_json_int(entry->index, &index) && index >= 0 && index <= CALL_INDEX_MAX) {
        return (uint32_t)index;
    }
    bool identified = acog_dialect_nonempty(entry->id);
    bool fresh = identified ? !is_latest_id(flow, entry->id) : acog_dialect_nonempty(entry->name);
    bool named_late = !identified && flow->chat.name_awaited;
    return fresh && !named_late ? flow->chat.calls : flow->chat.call_key;
}

static bool is_complete(const struct acog_flow *flow, uint32_t key)
{
    const struct acog_flow_balance *balance = &flow->balance;
    return flow->open && flow->part.kind == ACOG_FLOW_CALL && flow->open_key == key &&
           balance->seen && balance->depth == 0 && !balance->in_string;
}

static void remember_call(struct acog_flow *flow, uint32_t key, struct acog_json_value id)
{
    struct acog_chat_memory *memory = &flow->chat;
    memory->call_key = key;
    memory->calls = key < CALL_INDEX_MAX && key >= memory->calls ? key + 1 : memory->calls;
    acog_flow_keep_name(&memory->call_id, acog_text_of(id));
}

/* A name begins a call; an id alone waits for it, since no client takes a call without a name. */
static void begin_call(struct acog_flow *flow, uint32_t key, const struct call_entry *entry)
{
    struct acog_chat_memory *memory = &flow->chat;
    bool identified = acog_dialect_nonempty(entry->id);
    bool named = acog_dialect_nonempty(entry->name);
    struct acog_text id = acog_text_of(entry->id);
    bool latest = identified && is_latest_id(flow, entry->id);
    struct acog_flow_name waited = memory->call_id;
    if (!identified && memory->name_awaited && memory->call_key == key) {
        id = acog_text_plain(acog_flow_name_view(&waited));
    } else if (identified && !latest) {
        remember_call(flow, key, entry->id);
        memory->name_awaited = !named && entry->arguments.raw.len <= 2;
    }
    if (!named && (memory->name_awaited || !identified || latest)) {
        return;
    }
    if (named && id.bytes.len == 0 && is_complete(flow, key)) {
        acog_flow_part_end(flow, key); /* another call under the same index, and no ids */
    }
    if (named && id.bytes.len == 0) {
        remember_call(flow, key, entry->id);
    }
    memory->name_awaited = false;
    acog_flow_call(flow, key, id, acog_text_of(entry->name));
}

/* "null" for no arguments at all (Groq); inside arguments it is a piece like any other. */
static bool is_no_arguments(struct acog_flow *flow, uint32_t key, struct acog_json_value arguments)
{
    return !acog_flow_call_has_arguments(flow, key) &&
           acog_json_text_is(arguments, ACOG_VIEW("null"));
}

static void read_arguments(struct acog_flow *flow, uint32_t key, struct acog_json_value arguments)
{
    if (is_no_arguments(flow, key, arguments)) {
        return;
    }
    struct acog_text piece = arguments.type == ACOG_JSON_OBJECT ? acog_text_plain(arguments.raw)
                                                                : acog_text_of(arguments);
    acog_flow_arguments(flow, key, piece);
}

static void read_call(struct acog_flow *flow, uint32_t key, const struct call_entry *entry)
{
    end_reasoning(flow);
    begin_call(flow, key, entry);
    read_arguments(flow, key, entry->arguments);
    if (entry->extra.type == ACOG_JSON_OBJECT) {
        struct acog_opaque opaque = {.maker = ACOG_DIALECT_CHAT,
                                     .bytes = acog_text_plain(entry->extra.raw)};
        acog_flow_opaque(flow, ACOG_FLOW_CALL, key, &opaque);
    }
}

/* `whole`: each entry is a whole call. */
static void read_calls(struct acog_flow *flow, struct acog_json_value calls, bool whole)
{
    struct acog_json_cursor cursor = acog_json_enter(calls);
    for (uint32_t i = 0; !cursor.object && acog_json_next(&cursor); i++) {
        struct call_entry entry = call_entry_of(cursor.value);
        uint32_t key = whole ? i : key_of(flow, &entry);
        read_call(flow, key, &entry);
        if (whole) {
            acog_flow_part_end(flow, key);
        }
    }
}

/* The form before tool_calls: one call, without an id. */
static void read_function_call(struct acog_flow *flow, struct acog_json_value call)
{
    static const struct acog_view names[] = {{"name", 4}, {"arguments", 9}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(call, names, found, COUNT(names));
    if (call.type != ACOG_JSON_OBJECT) {
        return;
    }
    end_reasoning(flow);
    if (acog_dialect_nonempty(found[0])) {
        struct acog_text no_id = {.escaped = false};
        acog_flow_call(flow, FUNCTION_KEY, no_id, acog_text_of(found[0]));
    }
    read_arguments(flow, FUNCTION_KEY, found[1]);
}

/* -- events and whole answers ---------------------------------------------------------------------- */

/* A delta or a message. */
static void read_message(struct acog_flow *flow, struct acog_json_value message, bool whole)
{
    enum {
        ACOG_MESSAGE_CONTENT = 0,
        ACOG_MESSAGE_REASONING_CONTENT,
        ACOG_MESSAGE_REASONING,
        ACOG_MESSAGE_DETAILS,
        ACOG_MESSAGE_REFUSAL,
        ACOG_MESSAGE_CALLS,
        ACOG_MESSAGE_FUNCTION,
        ACOG_MESSAGE_NOTES,
        ACOG_MESSAGE_COUNT
    };
    static const struct acog_view names[] = {
        {"content", 7}, {"reasoning_content", 17}, {"reasoning", 9},      {"reasoning_details", 17},
        {"refusal", 7}, {"tool_calls", 10},        {"function_call", 13}, {"annotations", 11}};
    struct acog_json_value found[ACOG_MESSAGE_COUNT];
    acog_json_members(message, names, found, ACOG_MESSAGE_COUNT);
    read_reasoning(flow, found[ACOG_MESSAGE_DETAILS], found[ACOG_MESSAGE_REASONING_CONTENT],
                   found[ACOG_MESSAGE_REASONING]);
    read_content(flow, found[ACOG_MESSAGE_CONTENT]);
    read_annotations(flow, found[ACOG_MESSAGE_NOTES]);
    read_refusal(flow, found[ACOG_MESSAGE_REFUSAL]);
    read_calls(flow, found[ACOG_MESSAGE_CALLS], whole);
    read_function_call(flow, found[ACOG_MESSAGE_FUNCTION]);
}

/* Only the first choice: a request that wants more is not translated. */
static void read_choices(struct acog_flow *flow, struct acog_json_value choices, bool whole)
{
    const struct acog_view names[] = {
        {"index", 5}, whole ? ACOG_VIEW("message") : ACOG_VIEW("delta"), {"finish_reason", 13}};
    struct acog_json_cursor cursor = acog_json_enter(choices);
    while (!cursor.object && acog_json_next(&cursor)) {
        struct acog_json_value found[COUNT(names)];
        int64_t index = 0;
        acog_json_members(cursor.value, names, found, COUNT(names));
        if (acog_json_int(found[0], &index) && index != 0) {
            continue;
        }
        read_message(flow, found[1], whole);
        if (acog_dialect_nonempty(found[2])) {
            end_reasoning(flow);
            read_finish(flow, found[2]);
        }
    }
}

static void read_answer(struct acog_flow *flow, struct acog_json_value body, bool whole)
{
    enum {
        ACOG_BODY_ID = 0,
        ACOG_BODY_MODEL,
        ACOG_BODY_CHOICES,
        ACOG_BODY_USAGE,
        ACOG_BODY_GROQ,
        ACOG_BODY_COUNT
    };
    static const struct acog_view names[] = {
        {"id", 2}, {"model", 5}, {"choices", 7}, {"usage", 5}, {"x_groq", 6}};
    struct acog_json_value found[ACOG_BODY_COUNT];
    struct acog_usage usage = acog_dialect_no_usage();
    acog_json_members(body, names, found, ACOG_BODY_COUNT);
    acog_flow_begin(flow, acog_text_of(found[ACOG_BODY_ID]), acog_text_of(found[ACOG_BODY_MODEL]));
    read_choices(flow, found[ACOG_BODY_CHOICES], whole);
    if (!acog_json_present(found[ACOG_BODY_USAGE])) {
        (void)acog_json_member(found[ACOG_BODY_GROQ], ACOG_VIEW("usage"), &found[ACOG_BODY_USAGE]);
    }
    if (acog_dialect_chat_usage(found[ACOG_BODY_USAGE], &usage)) {
        acog_flow_usage(flow, &usage);
    }
}

/* [DONE] brings nothing. */
void acog_chat_read_event(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                          struct acog_arena *scratch)
{
    struct acog_json_value event = acog_dialect_event_object(data);
    (void)name;
    (void)scratch;
    if (acog_json_present(event)) {
        read_answer(flow, event, false);
    }
}

void acog_chat_read_whole(struct acog_flow *flow, struct acog_json_value body,
                          struct acog_arena *scratch)
{
    (void)scratch;
    read_answer(flow, body, true);
}
