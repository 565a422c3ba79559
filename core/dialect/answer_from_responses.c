/* answer_from_responses.c - what OpenAI Responses answer, as the flow of an answer.
 *
 * A stream tells everything up to four times: in deltas, when a text is done, when its item is done, in the whole
 * response at the end. Some providers leave the first ones out (B37, B38). What counts is the first telling: a part of
 * which anything was told is not told again (flow->responses.told).
 *
 * Keys: the place of the item and of the part in it, which is what all four have in common. A reasoning item is one
 * part, however many summaries it has, because its encrypted form is of all of it. Items of the provider's own tools
 * are passed over: what they found stands in the text.
 */
#include "content.h"
#include "flow.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PARTS_OF_ITEM_MAX 1024 /* further ones share the last one's key */

static uint32_t key_of(int64_t item, int64_t part)
{
    const int64_t items_max = UINT32_MAX / PARTS_OF_ITEM_MAX;
    item = item < 0 ? 0 : item;
    part = part < 0 ? 0 : part;
    item = item >= items_max ? items_max - 1 : item;
    part = part >= PARTS_OF_ITEM_MAX ? PARTS_OF_ITEM_MAX - 1 : part;
    return (uint32_t)(item * PARTS_OF_ITEM_MAX + part);
}

static bool is_type(struct acog_json_value type, const char *word)
{
    return acog_json_text_is(type, acog_view_of(word));
}

static bool was_told(const struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key)
{
    return key < flow->responses.told[kind];
}

static void is_told(struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key)
{
    if (!was_told(flow, kind, key)) {
        flow->responses.told[kind] = key + 1;
    }
}

static void tell(struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key,
                 struct acog_text text)
{
    if (text.bytes.len > 0) {
        is_told(flow, kind, key);
        acog_flow_text(flow, kind, key, text);
    }
}

static void tell_once(struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key,
                      struct acog_text text)
{
    if (!was_told(flow, kind, key)) {
        tell(flow, kind, key, text);
    }
}

/* -- citations ------------------------------------------------------------------------------------- */

static void tell_citation(struct acog_flow *flow, uint32_t key, struct acog_json_value annotation)
{
    enum {
        ACOG_FOUND_TYPE,
        ACOG_FOUND_URL,
        ACOG_FOUND_TITLE
    };
    static const struct acog_view names[] = {{"type", 4}, {"url", 3}, {"title", 5}};
    struct acog_json_value found[COUNT(names)];
    if (annotation.type != ACOG_JSON_OBJECT) {
        return;
    }
    acog_json_members(annotation, names, found, COUNT(names));
    if (is_type(found[ACOG_FOUND_TYPE], "url_citation")) {
        flow->responses.cited = key + 1;
        acog_flow_citation(flow, key, acog_text_of(found[ACOG_FOUND_URL]),
                           acog_text_of(found[ACOG_FOUND_TITLE]));
    }
}

static void tell_citations(struct acog_flow *flow, uint32_t key, struct acog_json_value list)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    while (list.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        tell_citation(flow, key, cursor.value);
    }
}

/* -- items ----------------------------------------------------------------------------------------- */

enum item_member {
    ACOG_ITEM_TYPE = 0,
    ACOG_ITEM_ID,
    ACOG_ITEM_CONTENT,
    ACOG_ITEM_SUMMARY,
    ACOG_ITEM_ENCRYPTED,
    ACOG_ITEM_CALL_ID,
    ACOG_ITEM_NAME,
    ACOG_ITEM_ARGUMENTS,
    ACOG_ITEM_MEMBER_COUNT
};

static const struct acog_view item_names[ACOG_ITEM_MEMBER_COUNT] = {
    [ACOG_ITEM_TYPE] = {"type", 4},
    [ACOG_ITEM_ID] = {"id", 2},
    [ACOG_ITEM_CONTENT] = {"content", 7},
    [ACOG_ITEM_SUMMARY] = {"summary", 7},
    [ACOG_ITEM_ENCRYPTED] = {"encrypted_content", 17},
    [ACOG_ITEM_CALL_ID] = {"call_id", 7},
    [ACOG_ITEM_NAME] = {"name", 4},
    [ACOG_ITEM_ARGUMENTS] = {"arguments", 9},
};

/* One part of a message. */
static void read_message_part(struct acog_flow *flow, uint32_t key, struct acog_json_value part)
{
    enum {
        ACOG_FOUND_TYPE,
        ACOG_FOUND_TEXT,
        ACOG_FOUND_REFUSAL,
        ACOG_FOUND_ANNOTATIONS
    };
    static const struct acog_view names[] = {
        {"type", 4}, {"text", 4}, {"refusal", 7}, {"annotations", 11}};
    struct acog_json_value found[COUNT(names)];
    if (part.type != ACOG_JSON_OBJECT) {
        return;
    }
    acog_json_members(part, names, found, COUNT(names));
    if (is_type(found[ACOG_FOUND_TYPE], "refusal")) {
        tell_once(flow, ACOG_FLOW_REFUSAL, key, acog_text_of(found[ACOG_FOUND_REFUSAL]));
    } else {
        tell_once(flow, ACOG_FLOW_TEXT, key, acog_text_of(found[ACOG_FOUND_TEXT]));
        if (key >= flow->responses.cited) {
            tell_citations(flow, key, found[ACOG_FOUND_ANNOTATIONS]);
        }
    }
    acog_flow_part_end(flow, key);
}

static void read_message(struct acog_flow *flow, int64_t index, struct acog_json_value content)
{
    struct acog_json_cursor cursor = acog_json_enter(content);
    for (int64_t i = 0; content.type == ACOG_JSON_ARRAY && acog_json_next(&cursor); i++) {
        read_message_part(flow, key_of(index, i), cursor.value);
    }
}

static const struct acog_text blank_line = {.bytes = {"\\n\\n", 4}, .escaped = true};

/* The texts of a list; a blank line before each but the first of the part. */
static void tell_reasoning(struct acog_flow *flow, uint32_t key, struct acog_json_value list,
                           bool *any)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    while (list.type == ACOG_JSON_ARRAY && acog_json_next(&cursor)) {
        struct acog_json_value text = {.escaped = false};
        if (cursor.value.type != ACOG_JSON_OBJECT ||
            !acog_json_member(cursor.value, ACOG_VIEW("text"), &text) ||
            !acog_dialect_nonempty(text)) {
            continue;
        }
        if (*any) {
            tell(flow, ACOG_FLOW_REASONING, key, blank_line);
        }
        *any = true;
        tell(flow, ACOG_FLOW_REASONING, key, acog_text_of(text));
    }
}

static void read_reasoning(struct acog_flow *flow, int64_t index,
                           const struct acog_json_value *found)
{
    uint32_t key = key_of(index, 0);
    bool any = was_told(flow, ACOG_FLOW_REASONING, key);
    if (!any) {
        tell_reasoning(flow, key, found[ACOG_ITEM_SUMMARY], &any);
        tell_reasoning(flow, key, found[ACOG_ITEM_CONTENT], &any);
    }
    if (acog_dialect_nonempty(found[ACOG_ITEM_ENCRYPTED])) {
        struct acog_opaque opaque = {.maker = ACOG_DIALECT_RESPONSES,
                                     .bytes = acog_text_of(found[ACOG_ITEM_ENCRYPTED]),
                                     .id = acog_text_of(found[ACOG_ITEM_ID]),
                                     .redacted = !any};
        is_told(flow, ACOG_FLOW_REASONING, key);
        acog_flow_opaque(flow, ACOG_FLOW_REASONING, key, &opaque);
    }
    acog_flow_part_end(flow, key);
}

static void begin_call(struct acog_flow *flow, uint32_t key, const struct acog_json_value *found)
{
    is_told(flow, ACOG_FLOW_CALL, key);
    acog_flow_call(flow, key, acog_text_of(found[ACOG_ITEM_CALL_ID]),
                   acog_text_of(found[ACOG_ITEM_NAME]));
}

/* A text, or the object itself, as some give it. */
static struct acog_text arguments_of(struct acog_json_value arguments)
{
    return arguments.type == ACOG_JSON_OBJECT ? acog_text_plain(arguments.raw)
                                              : acog_text_of(arguments);
}

/* A whole item: what of it was not told yet. */
static void read_item(struct acog_flow *flow, int64_t index, struct acog_json_value item)
{
    struct acog_json_value found[ACOG_ITEM_MEMBER_COUNT];
    uint32_t key = key_of(index, 0);
    if (item.type != ACOG_JSON_OBJECT) {
        return;
    }
    acog_json_members(item, item_names, found, ACOG_ITEM_MEMBER_COUNT);
    if (is_type(found[ACOG_ITEM_TYPE], "message")) {
        read_message(flow, index, found[ACOG_ITEM_CONTENT]);
    } else if (is_type(found[ACOG_ITEM_TYPE], "reasoning")) {
        read_reasoning(flow, index, found);
    } else if (is_type(found[ACOG_ITEM_TYPE], "function_call")) {
        if (!was_told(flow, ACOG_FLOW_CALL, key)) {
            begin_call(flow, key, found);
        }
        acog_flow_arguments_done(flow, key, arguments_of(found[ACOG_ITEM_ARGUMENTS]));
        acog_flow_part_end(flow, key);
    }
}

/* -- the response ---------------------------------------------------------------------------------- */

enum response_member {
    ACOG_RESPONSE_ID = 0,
    ACOG_RESPONSE_MODEL,
    ACOG_RESPONSE_STATUS,
    ACOG_RESPONSE_INCOMPLETE,
    ACOG_RESPONSE_OUTPUT,
    ACOG_RESPONSE_USAGE,
    ACOG_RESPONSE_MEMBER_COUNT
};

static const struct acog_view response_names[ACOG_RESPONSE_MEMBER_COUNT] = {
    [ACOG_RESPONSE_ID] = {"id", 2},         [ACOG_RESPONSE_MODEL] = {"model", 5},
    [ACOG_RESPONSE_STATUS] = {"status", 6}, [ACOG_RESPONSE_INCOMPLETE] = {"incomplete_details", 18},
    [ACOG_RESPONSE_OUTPUT] = {"output", 6}, [ACOG_RESPONSE_USAGE] = {"usage", 5},
};

/* The reason, and what a refusal says beside it. */
static void read_incomplete(struct acog_flow *flow, struct acog_json_value details)
{
    enum {
        ACOG_FOUND_REASON,
        ACOG_FOUND_CATEGORY,
        ACOG_FOUND_EXPLANATION
    };
    static const struct acog_view names[] = {{"reason", 6}, {"category", 8}, {"explanation", 11}};
    struct acog_json_value found[COUNT(names)] = {{.escaped = false}};
    if (details.type == ACOG_JSON_OBJECT) {
        acog_json_members(details, names, found, COUNT(names));
    }
    struct acog_text reason = acog_text_of(found[ACOG_FOUND_REASON]);
    if (is_type(found[ACOG_FOUND_REASON], "max_output_tokens")) {
        acog_flow_finish(flow, ACOG_FINISH_LENGTH, reason);
    } else if (is_type(found[ACOG_FOUND_REASON], "content_filter")) {
        acog_flow_finish(flow, ACOG_FINISH_REFUSAL, reason);
        acog_flow_refusal(flow, acog_text_of(found[ACOG_FOUND_CATEGORY]),
                          acog_text_of(found[ACOG_FOUND_EXPLANATION]));
    } else {
        acog_flow_finish(flow, ACOG_FINISH_UNKNOWN,
                         reason.bytes.len > 0 ? reason : acog_text_plain(ACOG_VIEW("incomplete")));
    }
}

/* A response without a status is one that is complete: not every provider tells it. */
static void read_status(struct acog_flow *flow, const struct acog_json_value *found)
{
    struct acog_json_value status = found[ACOG_RESPONSE_STATUS];
    if (is_type(status, "incomplete")) {
        read_incomplete(flow, found[ACOG_RESPONSE_INCOMPLETE]);
    } else if (status.type != ACOG_JSON_STRING || is_type(status, "completed") ||
               is_type(status, "complete")) {
        acog_flow_finish(flow, ACOG_FINISH_STOP, acog_text_plain(ACOG_VIEW("completed")));
    } else {
        acog_flow_finish(flow, ACOG_FINISH_UNKNOWN, acog_text_of(status));
    }
}

static void read_usage(struct acog_flow *flow, struct acog_json_value object)
{
    struct acog_usage usage = acog_dialect_no_usage();
    if (acog_dialect_responses_usage(object, &usage)) {
        acog_flow_usage(flow, &usage);
    }
}

static void begin(struct acog_flow *flow, const struct acog_json_value *found)
{
    acog_flow_begin(flow, acog_text_of(found[ACOG_RESPONSE_ID]),
                    acog_text_of(found[ACOG_RESPONSE_MODEL]));
}

/* Reasoning stands before what came of it, or nowhere. */
static bool comes_too_late(const struct acog_responses_memory *memory, struct acog_json_value item)
{
    const uint32_t *told = memory->told;
    struct acog_json_value type = {.escaped = false};
    bool said = told[ACOG_FLOW_TEXT] > 0 || told[ACOG_FLOW_REFUSAL] > 0;
    bool called = told[ACOG_FLOW_CALL] > 0;
    if (item.type == ACOG_JSON_OBJECT) {
        (void)acog_json_member(item, ACOG_VIEW("type"), &type);
    }
    return (said && is_type(type, "message")) || (called && is_type(type, "function_call")) ||
           ((said || called || told[ACOG_FLOW_REASONING] > 0) && is_type(type, "reasoning"));
}

/* Items of a kind of which none was told before: their places need not be those that a stream told (B38). */
static void read_output(struct acog_flow *flow, struct acog_json_value output)
{
    const struct acog_responses_memory before = flow->responses;
    struct acog_json_cursor cursor = acog_json_enter(output);
    for (int64_t i = 0; output.type == ACOG_JSON_ARRAY && acog_json_next(&cursor); i++) {
        if (!comes_too_late(&before, cursor.value)) {
            read_item(flow, i, cursor.value);
        }
    }
}

void acog_responses_read_whole(struct acog_flow *flow, struct acog_json_value body,
                               struct acog_arena *scratch)
{
    struct acog_json_value found[ACOG_RESPONSE_MEMBER_COUNT] = {{.escaped = false}};
    (void)scratch;
    if (body.type != ACOG_JSON_OBJECT) {
        acog_flow_fail(flow, ACOG_INVALID);
        return;
    }
    acog_json_members(body, response_names, found, ACOG_RESPONSE_MEMBER_COUNT);
    begin(flow, found);
    read_output(flow, found[ACOG_RESPONSE_OUTPUT]);
    read_status(flow, found);
    read_usage(flow, found[ACOG_RESPONSE_USAGE]);
}

/* -- events ---------------------------------------------------------------------------------------- */

enum event_member {
    ACOG_EVENT_TYPE = 0,
    ACOG_EVENT_OUTPUT_INDEX,
    ACOG_EVENT_CONTENT_INDEX,
    ACOG_EVENT_SUMMARY_INDEX,
    ACOG_EVENT_DELTA,
    ACOG_EVENT_TEXT,
    ACOG_EVENT_REFUSAL,
    ACOG_EVENT_ARGUMENTS,
    ACOG_EVENT_ANNOTATION,
    ACOG_EVENT_ITEM,
    ACOG_EVENT_RESPONSE,
    ACOG_EVENT_MEMBER_COUNT
};

static const struct acog_view event_names[ACOG_EVENT_MEMBER_COUNT] = {
    [ACOG_EVENT_TYPE] = {"type", 4},
    [ACOG_EVENT_OUTPUT_INDEX] = {"output_index", 12},
    [ACOG_EVENT_CONTENT_INDEX] = {"content_index", 13},
    [ACOG_EVENT_SUMMARY_INDEX] = {"summary_index", 13},
    [ACOG_EVENT_DELTA] = {"delta", 5},
    [ACOG_EVENT_TEXT] = {"text", 4},
    [ACOG_EVENT_REFUSAL] = {"refusal", 7},
    [ACOG_EVENT_ARGUMENTS] = {"arguments", 9},
    [ACOG_EVENT_ANNOTATION] = {"annotation", 10},
    [ACOG_EVENT_ITEM] = {"item", 4},
    [ACOG_EVENT_RESPONSE] = {"response", 8},
};

struct event {
    struct acog_json_value found[ACOG_EVENT_MEMBER_COUNT];
    int64_t output_index;
    uint32_t key;      /* of the part of a message */
    uint32_t item_key; /* of a call, of reasoning */
    int64_t summary_index;
};

static int64_t index_at(struct acog_json_value value)
{
    int64_t index = 0;
    return acog_json_int(value, &index) ? index : 0;
}

static void on_text_delta(struct acog_flow *flow, const struct event *event)
{
    tell(flow, ACOG_FLOW_TEXT, event->key, acog_text_of(event->found[ACOG_EVENT_DELTA]));
}

static void on_text_done(struct acog_flow *flow, const struct event *event)
{
    tell_once(flow, ACOG_FLOW_TEXT, event->key, acog_text_of(event->found[ACOG_EVENT_TEXT]));
}

static void on_refusal_delta(struct acog_flow *flow, const struct event *event)
{
    tell(flow, ACOG_FLOW_REFUSAL, event->key, acog_text_of(event->found[ACOG_EVENT_DELTA]));
}

static void on_refusal_done(struct acog_flow *flow, const struct event *event)
{
    tell_once(flow, ACOG_FLOW_REFUSAL, event->key, acog_text_of(event->found[ACOG_EVENT_REFUSAL]));
}

static void on_annotation(struct acog_flow *flow, const struct event *event)
{
    tell_citation(flow, event->key, event->found[ACOG_EVENT_ANNOTATION]);
}

static void on_reasoning_delta(struct acog_flow *flow, const struct event *event)
{
    tell(flow, ACOG_FLOW_REASONING, event->item_key, acog_text_of(event->found[ACOG_EVENT_DELTA]));
}

/* The next of several summaries of one item. */
static void on_summary_part(struct acog_flow *flow, const struct event *event)
{
    if (event->summary_index > 0 && was_told(flow, ACOG_FLOW_REASONING, event->item_key)) {
        tell(flow, ACOG_FLOW_REASONING, event->item_key, blank_line);
    }
}

static void on_arguments_delta(struct acog_flow *flow, const struct event *event)
{
    acog_flow_arguments(flow, event->item_key, acog_text_of(event->found[ACOG_EVENT_DELTA]));
}

static void on_arguments_done(struct acog_flow *flow, const struct event *event)
{
    acog_flow_arguments_done(flow, event->item_key,
                             acog_text_of(event->found[ACOG_EVENT_ARGUMENTS]));
}

static void on_item_added(struct acog_flow *flow, const struct event *event)
{
    struct acog_json_value found[ACOG_ITEM_MEMBER_COUNT];
    struct acog_json_value item = event->found[ACOG_EVENT_ITEM];
    if (item.type != ACOG_JSON_OBJECT) {
        return;
    }
    acog_json_members(item, item_names, found, ACOG_ITEM_MEMBER_COUNT);
    if (is_type(found[ACOG_ITEM_TYPE], "function_call")) {
        begin_call(flow, event->item_key, found);
    }
}

static void on_item_done(struct acog_flow *flow, const struct event *event)
{
    read_item(flow, event->output_index, event->found[ACOG_EVENT_ITEM]);
}

static void on_response(struct acog_flow *flow, const struct event *event)
{
    struct acog_json_value found[ACOG_RESPONSE_MEMBER_COUNT];
    if (event->found[ACOG_EVENT_RESPONSE].type == ACOG_JSON_OBJECT) {
        acog_json_members(event->found[ACOG_EVENT_RESPONSE], response_names, found,
                          ACOG_RESPONSE_MEMBER_COUNT);
        begin(flow, found);
    }
}

/* Some call it completed whatever the response says (vLLM). */
static void on_end(struct acog_flow *flow, const struct event *event, bool complete)
{
    struct acog_json_value found[ACOG_RESPONSE_MEMBER_COUNT] = {{.escaped = false}};
    if (event->found[ACOG_EVENT_RESPONSE].type == ACOG_JSON_OBJECT) {
        acog_json_members(event->found[ACOG_EVENT_RESPONSE], response_names, found,
                          ACOG_RESPONSE_MEMBER_COUNT);
    }
    begin(flow, found);
    read_output(flow, found[ACOG_RESPONSE_OUTPUT]);
    if (complete && !is_type(found[ACOG_RESPONSE_STATUS], "incomplete")) {
        acog_flow_finish(flow, ACOG_FINISH_STOP, acog_text_plain(ACOG_VIEW("completed")));
    } else {
        read_incomplete(flow, found[ACOG_RESPONSE_INCOMPLETE]);
    }
    read_usage(flow, found[ACOG_RESPONSE_USAGE]);
}

static void on_completed(struct acog_flow *flow, const struct event *event)
{
    on_end(flow, event, true);
}

static void on_incomplete(struct acog_flow *flow, const struct event *event)
{
    on_end(flow, event, false);
}

/* The events that bring something; what is not in it is passed over. Deltas first: they are the many. */
static const struct {
    struct acog_view type;
    void (*read)(struct acog_flow *flow, const struct event *event);
} readers[] = {

#define ROW(type, read)                    \
    {                                      \
        {(type), sizeof(type) - 1}, (read) \
    }
    ROW("response.output_text.delta", on_text_delta),
    ROW("response.function_call_arguments.delta", on_arguments_delta),
    ROW("response.reasoning_summary_text.delta", on_reasoning_delta),
    ROW("response.reasoning_text.delta", on_reasoning_delta),
    ROW("response.refusal.delta", on_refusal_delta),
    ROW("response.output_text.done", on_text_done),
    ROW("response.refusal.done", on_refusal_done),
    ROW("response.function_call_arguments.done", on_arguments_done),
    ROW("response.reasoning_summary_part.added", on_summary_part),
    ROW("response.output_text.annotation.added", on_annotation),
    ROW("response.output_item.added", on_item_added),
    ROW("response.output_item.done", on_item_done),
    ROW("response.created", on_response),
    ROW("response.in_progress", on_response),
    ROW("response.queued", on_response),
    ROW("response.completed", on_completed),
    ROW("response.incomplete", on_incomplete),
#undef ROW
};

void acog_responses_read_event(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                               struct acog_arena *scratch)
{
    struct acog_json_value object = acog_dialect_event_object(data);
    struct event event;
    (void)scratch;
    if (!acog_json_present(object)) {
        return;
    }
    acog_json_members(object, event_names, event.found, ACOG_EVENT_MEMBER_COUNT);
    struct acog_view type = name; /* not every provider says it twice */
    if (acog_dialect_nonempty(event.found[ACOG_EVENT_TYPE])) {
        type = acog_dialect_word(event.found[ACOG_EVENT_TYPE]);
    }
    event.output_index = index_at(event.found[ACOG_EVENT_OUTPUT_INDEX]);
    event.summary_index = index_at(event.found[ACOG_EVENT_SUMMARY_INDEX]);
    event.key = key_of(event.output_index, index_at(event.found[ACOG_EVENT_CONTENT_INDEX]));
    event.item_key = key_of(event.output_index, 0);
    for (size_t i = 0; i < COUNT(readers); i++) {
        if (acog_view_equal(type, readers[i].type)) {
            readers[i].read(flow, &event);
            return;
        }
    }
}
