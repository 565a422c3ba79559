/* note_text.c - what the routing note looks like: as a part of a whole answer, and as events of a stream. Where it goes is
 * note.c's.
 */
#include "note.h"

#define JSON_BYTE_MAX ((size_t)6) /* of one byte, escaped */
#define NOTE_COPIES   ((size_t)4) /* of the text, in the events of one item */
#define ID_COPIES     ((size_t)7)
#define FRAMES_BYTES  ((size_t)2048) /* of all that is the same in every note's events */

/* -- parts ----------------------------------------------------------------------------------------- */

static struct acog_view note_text(const struct acog_exchange *exchange)
{
    return exchange->snapshot->policy.refusal.note;
}

enum acog_code acog_note_buffer(struct acog_exchange *exchange,
                                const struct acog_exchange_attempt *attempt,
                                struct acog_buffer *out)
{
    size_t id_bytes = exchange->record.request_id.len + sizeof(attempt->tracker.id_text) +
                      sizeof(attempt->tracker.model_text) + attempt->model.len;
    size_t room = FRAMES_BYTES +
                  JSON_BYTE_MAX * (NOTE_COPIES * note_text(exchange).len + ID_COPIES * id_bytes);
    char *memory = acog_arena_take(&exchange->scratch, room);
    if (memory == NULL) {
        return ACOG_NO_MEMORY;
    }
    acog_buffer_init_over(out, memory, room);
    return ACOG_OK;
}

enum acog_code acog_note_write_text(const struct acog_exchange *exchange, struct acog_buffer *out)
{
    struct acog_view parts[] = {ACOG_VIEW(""), note_text(exchange), ACOG_VIEW("\\n\\n")};
    return acog_exchange_write_parts(out, parts, 3);
}

enum acog_code acog_note_write_around(const struct acog_exchange *exchange, struct acog_view before,
                                      struct acog_view after, struct acog_buffer *out)
{
    enum acog_code code = acog_buffer_append(out, before);
    if (code == ACOG_OK) {
        code = acog_note_write_text(exchange, out);
    }
    return code == ACOG_OK ? acog_buffer_append(out, after) : code;
}

static enum acog_code write_output_text(const struct acog_exchange *exchange,
                                        struct acog_buffer *out)
{
    return acog_note_write_around(
        exchange,
        ACOG_VIEW("{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\""),
        ACOG_VIEW("\"}"), out);
}

enum acog_code acog_note_write_item(const struct acog_exchange *exchange, bool complete,
                                    struct acog_buffer *out)
{
    struct acog_view head[] = {ACOG_VIEW("{\"id\":\"msg_"), exchange->record.request_id,
                               complete ? ACOG_VIEW("\",\"type\":\"message\",\"status\":"
                                                    "\"completed\",\"content\":[")
                                        : ACOG_VIEW("\",\"type\":\"message\",\"status\":"
                                                    "\"in_progress\",\"content\":[")};
    enum acog_code code = acog_exchange_write_parts(out, head, 3);
    if (code == ACOG_OK && complete) {
        code = write_output_text(exchange, out);
    }
    return code == ACOG_OK ? acog_buffer_append(out, ACOG_VIEW("],\"role\":\"assistant\"}")) : code;
}

/* -- the events of a note -------------------------------------------------------------------------- */

enum acog_code acog_note_write_block(const struct acog_exchange *exchange, int64_t index,
                                     struct acog_buffer *out)
{
    enum acog_code code = acog_buffer_format(
        out,
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%lld,"
        "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%lld,"
        "\"delta\":{\"type\":\"text_delta\",\"text\":\"",
        (long long)index, (long long)index);
    if (code == ACOG_OK) {
        code = acog_note_write_text(exchange, out);
    }
    return code == ACOG_OK
               ? acog_buffer_format(out,
                                    "\"}}\n\nevent: content_block_stop\ndata: "
                                    "{\"type\":\"content_block_stop\",\"index\":%lld}\n\n",
                                    (long long)index)
               : code;
}

enum acog_code acog_note_write_chunk(const struct acog_exchange *exchange,
                                     const struct acog_exchange_attempt *attempt,
                                     struct acog_buffer *out)
{
    enum acog_code code = acog_exchange_write_chunk_head(exchange, attempt, out);
    return code == ACOG_OK
               ? acog_note_write_around(exchange,
                                        ACOG_VIEW("[{\"index\":0,\"delta\":{\"content\":\""),
                                        ACOG_VIEW("\"},\"finish_reason\":null}]}\n\n"), out)
               : code;
}

/* "event: TYPE\ndata: {"type":TYPE,"sequence_number":N,"output_index":I" */
static enum acog_code begin_event(const char *type, int64_t sequence, int64_t index,
                                  struct acog_buffer *out)
{
    return acog_buffer_format(
        out, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%lld,\"output_index\":%lld",
        type, type, (long long)sequence, (long long)index);
}

/* ,"item_id":"msg_…","content_index":0 and what follows it. */
static enum acog_code write_place(const struct acog_exchange *exchange, struct acog_view rest,
                                  struct acog_buffer *out)
{
    struct acog_view parts[] = {ACOG_VIEW(",\"item_id\":\"msg_"), exchange->record.request_id,
                                ACOG_VIEW("\",\"content_index\":0"), ACOG_VIEW(""), rest};
    return acog_exchange_write_parts(out, parts, 5);
}

static enum acog_code write_item_event(const struct acog_exchange *exchange, bool complete,
                                       int64_t sequence, int64_t index, struct acog_buffer *out)
{
    enum acog_code code =
        begin_event(complete ? "response.output_item.done" : "response.output_item.added", sequence,
                    index, out);
    if (code == ACOG_OK) {
        code = acog_buffer_append(out, ACOG_VIEW(",\"item\":"));
    }
    if (code == ACOG_OK) {
        code = acog_note_write_item(exchange, complete, out);
    }
    return code == ACOG_OK ? acog_buffer_append(out, ACOG_VIEW("}\n\n")) : code;
}

static enum acog_code write_text_events(const struct acog_exchange *exchange, int64_t sequence,
                                        int64_t index, struct acog_buffer *out)
{
    static const struct {
        const char *type;
        const char *before;
        const char *after;
    } events[] = {
        {"response.output_text.delta", ",\"logprobs\":[],\"delta\":\"", "\"}\n\n"},
        {"response.output_text.done", ",\"logprobs\":[],\"text\":\"", "\"}\n\n"},
        {"response.content_part.done",
         ",\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"",
         "\"}}\n\n"},
    };
    enum acog_code code = ACOG_OK;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && code == ACOG_OK; i++) {
        code = begin_event(events[i].type, sequence + (int64_t)i, index, out);
        if (code == ACOG_OK) {
            code = write_place(exchange, ACOG_VIEW(""), out);
        }
        if (code == ACOG_OK) {
            code = acog_note_write_around(exchange, acog_view_of(events[i].before),
                                          acog_view_of(events[i].after), out);
        }
    }
    return code;
}

enum acog_code acog_note_write_item_events(const struct acog_exchange *exchange, int64_t sequence,
                                           int64_t index, struct acog_buffer *out)
{
    enum acog_code code = write_item_event(exchange, false, sequence, index, out);
    if (code == ACOG_OK) {
        code = begin_event("response.content_part.added", sequence + 1, index, out);
    }
    if (code == ACOG_OK) {
        code = write_place(exchange,
                           ACOG_VIEW(",\"part\":{\"type\":\"output_text\",\"annotations\":[],"
                                     "\"logprobs\":[],\"text\":\"\"}}\n\n"),
                           out);
    }
    if (code == ACOG_OK) {
        code = write_text_events(exchange, sequence + 2, index, out);
    }
    return code == ACOG_OK ? write_item_event(exchange, true, sequence + 5, index, out) : code;
}
