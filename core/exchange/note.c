/* note.c - the routing note: when the fallback model answers instead of one that refused, the answer says so in a text of
 * its own, behind any thinking and before the answer's text (S4.26, decision 10). Not with structured output, where it
 * would break what was asked for, nor in an answer too large to be held; the header tells it anyway.
 *
 *   messages   a text block; blocks behind it count one up
 *   responses  a message item of its own; items behind it count one up, and so do the events
 *   chat       an answer has one text and no parts: the note begins it
 *
 * Nothing else of the answer is written anew: an event or a body goes out in pieces, what changes between them.
 */
#include "note.h"

#include "acog/contract.h"

#include <string.h>

#define DEPTH_MAX    128 /* the tracker has checked the event with the same */
#define NUMBER_BYTES ((size_t)24)

static const unsigned answer_bits = ACOG_BIT(ACOG_OUTPUT_TEXT) | ACOG_BIT(ACOG_OUTPUT_TOOL) |
                                    ACOG_BIT(ACOG_OUTPUT_REFUSAL) | ACOG_BIT(ACOG_OUTPUT_STOP);

void acog_exchange_note_begin(const struct acog_exchange *exchange,
                              struct acog_exchange_attempt *attempt)
{
    const struct acog_attempt_row *row = &exchange->request.attempts[attempt->number - 1];
    attempt->note.wanted = row->fallback && exchange->snapshot->policy.refusal.note.len > 0 &&
                           !exchange->client.read.structured;
}

/* -- JSON ------------------------------------------------------------------------------------------ */

static struct acog_json_value member(struct acog_json_value object, struct acog_view name)
{
    struct acog_json_value value;
    return acog_json_member(object, name, &value) ? value : (struct acog_json_value){0};
}

/* Thinking, redacted thinking, reasoning: what the note stands behind. */
static bool is_thinking(struct acog_json_value block)
{
    struct acog_json_value type = member(block, ACOG_VIEW("type"));
    return acog_json_text_is(type, ACOG_VIEW("thinking")) ||
           acog_json_text_is(type, ACOG_VIEW("redacted_thinking")) ||
           acog_json_text_is(type, ACOG_VIEW("reasoning"));
}

/* Where a new element of a list goes, and the commas that it needs. */
struct list_place {
    struct acog_view at; /* of no length */
    bool comma_before;
    bool comma_after;
};

/* Before number `index`, or (-1) before the first one that is no thinking; else at the end. */
static struct list_place place_in(struct acog_json_value list, int64_t index)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    struct list_place place = {.at = acog_view_slice(list.raw, list.raw.len - 1, list.raw.len - 1)};
    int64_t passed = 0;
    while (acog_json_next(&cursor)) {
        bool here = index < 0 ? !is_thinking(cursor.value) : passed == index;
        if (here) {
            return (struct list_place){.at = acog_view_slice(cursor.value.raw, 0, 0),
                                       .comma_after = true};
        }
        passed++;
        place.comma_before = true;
    }
    return place;
}

/* -- edits ----------------------------------------------------------------------------------------- */

static void add_edited(struct acog_exchange_pieces *pieces, struct acog_view bytes,
                       const struct acog_splice *edits)
{
    pieces->count += acog_splice_pieces(edits, bytes, pieces->list + pieces->count,
                                        ACOG_EXCHANGE_PIECES_MAX - pieces->count);
}

/* The number `value` becomes `number`. */
static enum acog_code edit_number(struct acog_exchange *exchange, struct acog_json_value value,
                                  int64_t number, struct acog_splice *edits)
{
    char *memory = acog_arena_take(&exchange->scratch, NUMBER_BYTES);
    if (memory == NULL) {
        return ACOG_NO_MEMORY;
    }
    struct acog_buffer digits;
    acog_buffer_init_over(&digits, memory, NUMBER_BYTES);
    enum acog_code code = acog_buffer_format(&digits, "%lld", (long long)number);
    acog_splice_edit(edits, value.raw, acog_buffer_view(&digits));
    return code;
}

/* -- whole answers --------------------------------------------------------------------------------- */

static enum acog_code write_element(const struct acog_exchange *exchange, struct acog_buffer *out)
{
    return exchange->client.dialect == ACOG_DIALECT_RESPONSES
               ? acog_note_write_item(exchange, true, out)
               : acog_note_write_around(exchange, ACOG_VIEW("{\"type\":\"text\",\"text\":\""),
                                        ACOG_VIEW("\"}"), out);
}

static enum acog_code edit_list(struct acog_exchange *exchange,
                                const struct acog_exchange_attempt *attempt,
                                struct acog_json_value list, int64_t index,
                                struct acog_splice *edits)
{
    struct list_place place = place_in(list, index);
    struct acog_buffer out;
    enum acog_code code = acog_note_buffer(exchange, attempt, &out);
    if (code == ACOG_OK && place.comma_before) {
        code = acog_buffer_append(&out, ACOG_VIEW(","));
    }
    if (code == ACOG_OK) {
        code = write_element(exchange, &out);
    }
    if (code == ACOG_OK && place.comma_after) {
        code = acog_buffer_append(&out, ACOG_VIEW(","));
    }
    if (code == ACOG_OK) {
        acog_splice_edit(edits, place.at, acog_buffer_view(&out));
    }
    return code;
}

/* The first choice's text begins with the note; where there is none (tool calls) it is the text. */
static enum acog_code edit_chat(struct acog_exchange *exchange,
                                const struct acog_exchange_attempt *attempt,
                                struct acog_json_value answer, struct acog_splice *edits)
{
    struct acog_json_cursor choices = acog_json_enter(member(answer, ACOG_VIEW("choices")));
    if (!acog_json_next(&choices)) {
        return ACOG_OK;
    }
    struct acog_json_value message = member(choices.value, ACOG_VIEW("message"));
    struct acog_json_value content = member(message, ACOG_VIEW("content"));
    if (content.type == ACOG_JSON_ARRAY) { /* parts: not OpenAI's form, but some send it */
        return edit_list(exchange, attempt, content, -1, edits);
    }
    bool text = content.type == ACOG_JSON_STRING;
    if (!text && (!acog_json_present(content) || content.type != ACOG_JSON_NULL)) {
        return ACOG_OK;
    }
    struct acog_buffer out;
    enum acog_code code = acog_note_buffer(exchange, attempt, &out);
    if (code == ACOG_OK) {
        code = text ? acog_note_write_text(exchange, &out)
                    : acog_note_write_around(exchange, ACOG_VIEW("\""), ACOG_VIEW("\""), &out);
    }
    if (code == ACOG_OK) {
        acog_splice_edit(edits, text ? acog_view_slice(content.raw, 1, 1) : content.raw,
                         acog_buffer_view(&out));
    }
    return code;
}

enum acog_code acog_exchange_note_whole(struct acog_exchange *exchange,
                                        const struct acog_exchange_attempt *attempt,
                                        struct acog_exchange_pieces *pieces)
{
    struct acog_view body = acog_buffer_view(&attempt->held);
    struct acog_splice edits = {.count = 0};
    struct acog_json_value answer;
    struct acog_json_error error;
    enum acog_code code = acog_json_check(body, DEPTH_MAX, &answer, &error);
    if (code != ACOG_OK) {
        return code;
    }
    if (exchange->client.dialect == ACOG_DIALECT_CHAT) {
        code = edit_chat(exchange, attempt, answer, &edits);
    } else {
        bool messages = exchange->client.dialect == ACOG_DIALECT_MESSAGES;
        struct acog_json_value list =
            member(answer, messages ? ACOG_VIEW("content") : ACOG_VIEW("output"));
        code = edit_list(exchange, attempt, list, -1, &edits);
    }
    add_edited(pieces, body, &edits);
    return code;
}

/* -- events ---------------------------------------------------------------------------------------- */

/* One event that is read for the note. */
struct reading {
    struct acog_exchange *exchange;
    struct acog_exchange_attempt *attempt;
    struct acog_json_value object;
    unsigned outputs;
    struct acog_splice edits;
    struct acog_view frames; /* of the note, before the event */
};

static enum acog_code give_note(struct reading *reading, int64_t index, int64_t sequence)
{
    struct acog_exchange_note *note = &reading->attempt->note;
    struct acog_buffer out;
    enum acog_code code = acog_note_buffer(reading->exchange, reading->attempt, &out);
    if (code != ACOG_OK) {
        return code;
    }
    note->given = true;
    note->index = index;
    switch (reading->exchange->client.dialect) {
    case ACOG_DIALECT_MESSAGES:
        code = acog_note_write_block(reading->exchange, index, &out);
        break;
    case ACOG_DIALECT_RESPONSES:
        note->events = ACOG_NOTE_EVENTS;
        code = acog_note_write_item_events(reading->exchange, sequence, index, &out);
        break;
    case ACOG_DIALECT_CHAT:
    case ACOG_DIALECT_GEMINI:
    case ACOG_DIALECT_COUNT:
        code = acog_note_write_chunk(reading->exchange, reading->attempt, &out);
        break;
    }
    reading->frames = acog_buffer_view(&out);
    return code;
}

/* A block or item that begins: the note's place, or one behind thinking that it has yet to pass. */
static bool begins_answer(struct reading *reading, struct acog_json_value begun, int64_t index)
{
    if (begun.type == ACOG_JSON_OBJECT && is_thinking(begun)) {
        reading->attempt->note.index = index + 1;
        return false;
    }
    return begun.type == ACOG_JSON_OBJECT || (reading->outputs & answer_bits) != 0;
}

static enum acog_code read_messages(struct reading *reading)
{
    struct acog_exchange_note *note = &reading->attempt->note;
    struct acog_json_value number = member(reading->object, ACOG_VIEW("index"));
    int64_t index = note->index;
    bool numbered = acog_json_int(number, &index);
    enum acog_code code = ACOG_OK;
    if (!note->given &&
        begins_answer(reading, member(reading->object, ACOG_VIEW("content_block")), index)) {
        code = give_note(reading, index, 0);
    }
    if (code == ACOG_OK && note->given && numbered && index >= note->index) {
        code = edit_number(reading->exchange, number, index + 1, &reading->edits);
    }
    return code;
}

static enum acog_code read_chat(struct reading *reading)
{
    bool begins = !reading->attempt->note.given && (reading->outputs & answer_bits) != 0;
    return begins ? give_note(reading, 0, 0) : ACOG_OK;
}

static enum acog_code read_responses(struct reading *reading)
{
    struct acog_exchange_note *note = &reading->attempt->note;
    struct acog_json_value counted = member(reading->object, ACOG_VIEW("sequence_number"));
    struct acog_json_value placed = member(reading->object, ACOG_VIEW("output_index"));
    struct acog_json_value output;
    int64_t sequence = reading->attempt->tracker.sequence + 1;
    int64_t index = note->index;
    bool has_sequence = acog_json_int(counted, &sequence);
    bool has_index = acog_json_int(placed, &index);
    enum acog_code code = ACOG_OK;
    if (!note->given && begins_answer(reading, member(reading->object, ACOG_VIEW("item")), index)) {
        code = give_note(reading, index, sequence);
    }
    if (code != ACOG_OK || !note->given) {
        return code;
    }
    if (has_sequence) {
        code = edit_number(reading->exchange, counted, sequence + note->events, &reading->edits);
    }
    if (code == ACOG_OK && has_index && index >= note->index) {
        code = edit_number(reading->exchange, placed, index + 1, &reading->edits);
    }
    if (code == ACOG_OK && acog_json_path(reading->object, ACOG_VIEW("response.output"), &output) &&
        output.type == ACOG_JSON_ARRAY) { /* the terminal event repeats the answer */
        code = edit_list(reading->exchange, reading->attempt, output, note->index, &reading->edits);
    }
    return code;
}

static bool lies_in(struct acog_view part, struct acog_view bytes)
{
    return part.ptr >= bytes.ptr && part.ptr + part.len <= bytes.ptr + bytes.len;
}

/* An event of several data lines, in one: a line end in JSON is a space between its tokens. */
static enum acog_code join_lines(struct acog_exchange *exchange, const struct acog_sse_event *event,
                                 struct acog_view *raw, struct acog_view *data)
{
    size_t room = event->name.len + event->data.len + sizeof("event: \ndata: \n\n");
    char *memory = acog_arena_take(&exchange->scratch, room);
    if (memory == NULL) {
        return ACOG_NO_MEMORY;
    }
    struct acog_buffer out;
    acog_buffer_init_over(&out, memory, room);
    struct acog_view parts[] = {event->name.len > 0 ? ACOG_VIEW("event: ") : ACOG_VIEW(""),
                                event->name,
                                event->name.len > 0 ? ACOG_VIEW("\n") : ACOG_VIEW(""),
                                ACOG_VIEW("data: "),
                                event->data,
                                ACOG_VIEW("\n\n")};
    enum acog_code code = ACOG_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && code == ACOG_OK; i++) {
        code = acog_buffer_append(&out, parts[i]);
    }
    *raw = acog_buffer_view(&out);
    *data = acog_view_slice(*raw, out.len - 2 - event->data.len, out.len - 2);
    for (size_t i = out.len - 2 - event->data.len; i < out.len - 2; i++) {
        if (memory[i] == '\n') {
            memory[i] = ' ';
        }
    }
    return code;
}

enum acog_code acog_exchange_note_event(struct acog_exchange *exchange,
                                        struct acog_exchange_attempt *attempt,
                                        const struct acog_sse_event *event, struct acog_view raw,
                                        unsigned outputs, struct acog_exchange_pieces *pieces)
{
    struct reading reading = {.exchange = exchange, .attempt = attempt, .outputs = outputs};
    struct acog_view data = event->data;
    struct acog_json_error error;
    enum acog_code code = ACOG_OK;
    if (!lies_in(data, raw)) {
        code = join_lines(exchange, event, &raw, &data);
    }
    if (code == ACOG_OK && acog_json_check(data, DEPTH_MAX, &reading.object, &error) == ACOG_OK) {
        switch (exchange->client.dialect) {
        case ACOG_DIALECT_MESSAGES:
            code = read_messages(&reading);
            break;
        case ACOG_DIALECT_RESPONSES:
            code = read_responses(&reading);
            break;
        case ACOG_DIALECT_CHAT:
        case ACOG_DIALECT_GEMINI:
        case ACOG_DIALECT_COUNT:
            code = read_chat(&reading);
            break;
        }
    }
    if (reading.frames.len > 0) {
        pieces->list[pieces->count] = reading.frames;
        pieces->count++;
    }
    add_edited(pieces, raw, &reading.edits);
    return code;
}
