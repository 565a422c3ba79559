/* events.c - an attempt's stream, event by event: the hot path.
 *
 * Each event is read by the dialect's tracker and then goes one of three ways: it is dropped (a usage chunk that the
 * client did not ask for, data that is no JSON), it is held until the engine commits, or it is passed on. Events
 * that lie side by side in the fed bytes are passed on as one piece of them.
 *
 * An event is told to the engine before it is held or passed on: the COMMIT that it leads to sends what was held
 * before it, and then it goes itself. The engine hears of an event only when it is news: the first one, and the
 * first of each kind of output.
 */
#include "acog/contract.h"
#include "state.h"

/* -- runs ------------------------------------------------------------------------------------------ */

/* Bytes to pass on that lie side by side; of a translated stream, what was told lies in the attempt. */
struct run {
    struct acog_view bytes;
    struct acog_exchange_attempt *translated; /* NULL: none */
};

static void run_end(struct acog_exchange *exchange, struct run *run)
{
    acog_exchange_push_data(exchange, run->bytes);
    run->bytes = (struct acog_view){0};
    if (run->translated != NULL && run->translated->live) {
        acog_exchange_push_told(exchange, run->translated);
    }
}

static struct run run_begin(struct acog_exchange_attempt *attempt)
{
    struct run run = {.translated = acog_exchange_is_translated(attempt) ? attempt : NULL};
    if (run.translated != NULL) {
        acog_exchange_told_reset(attempt);
    }
    return run;
}

static void run_add(struct acog_exchange *exchange, struct run *run, struct acog_view raw)
{
    if (run->bytes.len > 0 && run->bytes.ptr + run->bytes.len == raw.ptr) {
        run->bytes.len += raw.len;
        return;
    }
    run_end(exchange, run);
    run->bytes = raw;
}

/* -- telling --------------------------------------------------------------------------------------- */

static void fail(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                 struct run *run, enum acog_cause cause)
{
    struct acog_failure failure = {
        .cause = cause, .status = (uint16_t)attempt->status, .retry_after_ms = -1};
    run_end(exchange, run);
    acog_exchange_attempt_failed(exchange, attempt, &failure);
}

static void tell(struct acog_exchange *exchange, const struct acog_exchange_attempt *attempt,
                 enum acog_event_type type, unsigned outputs)
{
    struct acog_event event = {
        .type = type, .attempt = attempt->number, .now_ms = exchange->now_ms, .outputs = outputs};
    acog_exchange_tell(exchange, &event);
}

/* What of an event is news. False when the attempt did not outlive it. */
static bool tell_news(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                      struct run *run)
{
    if (!attempt->first_event_told) {
        attempt->first_event_told = true;
        run_end(exchange, run); /* whatever comes of it comes after it */
        tell(exchange, attempt, ACOG_EVENT_FIRST_EVENT, 0);
    }
    unsigned news = attempt->tracker.outputs & ~attempt->outputs_told;
    if (news != 0 && attempt->state == ACOG_ATTEMPT_STREAM &&
        !acog_exchange_attempt_refuses(exchange, attempt)) {
        attempt->outputs_told |= news;
        run_end(exchange, run);
        tell(exchange, attempt, ACOG_EVENT_OUTPUT, news);
    }
    return attempt->state == ACOG_ATTEMPT_STREAM;
}

/* -- one event ------------------------------------------------------------------------------------- */

/* Holds bytes back, or passes them on. */
static void keep(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                 struct acog_view raw, struct run *run)
{
    if (raw.len == 0 || exchange->reply == ACOG_REPLY_NO_CLIENT) {
        return; /* without a client it is only read on for what it tells (S2.45) */
    }
    if (!attempt->live) {
        if (raw.len <= attempt->held.bytes_max - attempt->held.len) {
            if (acog_buffer_append(&attempt->held, raw) != ACOG_OK) {
                fail(exchange, attempt, run, ACOG_CAUSE_GATEWAY);
            }
            return;
        }
        tell(exchange, attempt, ACOG_EVENT_HELD_FULL, 0);
    }
    if (attempt->live) {
        run_add(exchange, run, raw);
    } else if (attempt->state == ACOG_ATTEMPT_STREAM) {
        fail(exchange, attempt, run, ACOG_CAUSE_HELD_FULL);
    }
}

/* The LF of a CRLF that the reads cut in two comes as the first byte of the next event. It goes where the event went
 * that it ends: how many bytes of `raw` it takes, 0 or 1. */
static size_t lead_bytes(const struct acog_exchange_attempt *attempt, struct acog_view raw)
{
    return attempt->after_cr && raw.len > 0 && raw.ptr[0] == '\n' ? 1 : 0;
}

static void keep_event(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                       struct acog_view raw, struct run *run)
{
    if (run->translated != NULL) {
        return; /* a comment, a ping: of the upstream's dialect */
    }
    size_t lead = attempt->dropped_last ? lead_bytes(attempt, raw) : 0;
    attempt->after_cr = raw.len > 0 && raw.ptr[raw.len - 1] == '\r';
    attempt->dropped_last = false;
    keep(exchange, attempt, acog_view_slice(raw, lead, raw.len), run);
}

/* What was told since `before` goes out with the run once the attempt is committed; until then it is held back. */
static void keep_told(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                      size_t before, struct run *run)
{
    struct acog_buffer *told = &attempt->told[attempt->told_now];
    size_t bytes = told->len - before;
    if (attempt->live || bytes == 0) {
        return;
    }
    if (exchange->reply == ACOG_REPLY_NO_CLIENT) {
        told->len = before;
    } else if (bytes <= attempt->held.bytes_max - attempt->held.len) {
        enum acog_code code = acog_buffer_append(
            &attempt->held, acog_view_slice(acog_buffer_view(told), before, told->len));
        told->len = before;
        if (code != ACOG_OK) {
            fail(exchange, attempt, run, ACOG_CAUSE_GATEWAY);
        }
    } else {
        tell(exchange, attempt, ACOG_EVENT_HELD_FULL, 0);
        if (!attempt->live && attempt->state == ACOG_ATTEMPT_STREAM) {
            fail(exchange, attempt, run, ACOG_CAUSE_HELD_FULL);
        }
    }
}

/* What came of a translation since `before`. */
static void take_told(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                      enum acog_code code, size_t before, struct run *run)
{
    if (code == ACOG_OK) {
        keep_told(exchange, attempt, before, run);
    } else {
        fail(exchange, attempt, run,
             code == ACOG_NO_MEMORY ? ACOG_CAUSE_GATEWAY : ACOG_CAUSE_BAD_ANSWER);
    }
}

static void tell_event(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                       const struct acog_sse_event *event, struct run *run)
{
    size_t before = attempt->told[attempt->told_now].len;
    take_told(exchange, attempt, acog_exchange_translate_event(exchange, attempt, event), before,
              run);
}

/* The end of a complete stream. */
static void tell_end(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                     struct run *run)
{
    size_t before = attempt->told[attempt->told_now].len;
    take_told(exchange, attempt, acog_exchange_translate_end(attempt), before, run);
}

/* Like keep_event, for an event that was read: its bytes may have to carry the routing note, or make room for it. */
static void pass_event(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                       const struct acog_sse_event *event, unsigned outputs, struct run *run)
{
    if (run->translated != NULL) {
        tell_event(exchange, attempt, event, run);
        return;
    }
    if (!attempt->note.wanted) {
        keep_event(exchange, attempt, event->raw, run);
        return;
    }
    size_t lead = attempt->dropped_last ? lead_bytes(attempt, event->raw) : 0;
    struct acog_view raw = acog_view_slice(event->raw, lead, event->raw.len);
    struct acog_exchange_pieces pieces = {.count = 0};
    enum acog_exchange_attempt_state state = attempt->state;
    attempt->after_cr = raw.len > 0 && raw.ptr[raw.len - 1] == '\r';
    attempt->dropped_last = false;
    if (acog_exchange_note_event(exchange, attempt, event, raw, outputs, &pieces) != ACOG_OK) {
        fail(exchange, attempt, run, ACOG_CAUSE_GATEWAY);
        return;
    }
    for (size_t i = 0; i < pieces.count && attempt->state == state; i++) {
        keep(exchange, attempt, pieces.list[i], run);
    }
}

static void drop_event(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                       struct acog_view raw, struct run *run)
{
    if (run->translated != NULL) {
        return;
    }
    size_t lead = attempt->dropped_last ? 0 : lead_bytes(attempt, raw);
    attempt->after_cr = raw.len > 0 && raw.ptr[raw.len - 1] == '\r';
    attempt->dropped_last = true;
    keep(exchange, attempt, acog_view_slice(raw, 0, lead), run);
}

static void take_error(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                       struct acog_view raw, struct acog_failure *failure, struct run *run)
{
    run_end(exchange, run);
    failure->cause = ACOG_CAUSE_STREAM_ERROR;
    failure->status = (uint16_t)attempt->status;
    exchange->last_words.event = raw;
    acog_exchange_attempt_failed(exchange, attempt, failure);
}

static bool is_marker(const struct acog_sse_event *event)
{
    return acog_view_equal(acog_view_trim(event->data), ACOG_VIEW("[DONE]"));
}

/* A marker of the end is believed only when the answer can be complete (B59, decision 15). */
static void take_done(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                      const struct acog_sse_event *event, unsigned outputs, struct run *run)
{
    if (!acog_stream_tracker_complete(&attempt->tracker)) {
        fail(exchange, attempt, run, ACOG_CAUSE_CUT);
        return;
    }
    if (!tell_news(exchange, attempt, run)) {
        return;
    }
    pass_event(exchange, attempt, event, outputs, run);
    if (attempt->state == ACOG_ATTEMPT_STREAM && run->translated != NULL) {
        tell_end(exchange, attempt, run);
    }
    if (attempt->state == ACOG_ATTEMPT_STREAM) {
        attempt->state = ACOG_ATTEMPT_TAIL;
        attempt->marker_seen = is_marker(event);
        attempt->wait_until_ms = exchange->now_ms + ACOG_EXCHANGE_TAIL_WAIT_MS;
    }
}

static void take_event(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                       const struct acog_sse_event *event, struct run *run)
{
    unsigned outputs = 0;
    struct acog_failure failure = {.retry_after_ms = -1};
    enum acog_stream_event kind = acog_stream_tracker_read(
        &attempt->tracker, event->name, event->data, &exchange->scratch, &outputs, &failure);
    bool told = kind == ACOG_STREAM_EVENT_OTHER || kind == ACOG_STREAM_EVENT_OUTPUT;
    if (told && !attempt->live) { /* the head goes out with the commit */
        acog_exchange_note_provider(exchange, attempt, event->data);
    }
    switch (kind) {
    case ACOG_STREAM_EVENT_COMMENT:
    case ACOG_STREAM_EVENT_PING: /* no event that a clock would count (B73) */
        keep_event(exchange, attempt, event->raw, run);
        break;
    case ACOG_STREAM_EVENT_OTHER:
    case ACOG_STREAM_EVENT_OUTPUT:
        if (tell_news(exchange, attempt, run)) {
            pass_event(exchange, attempt, event, outputs, run);
        }
        break;
    case ACOG_STREAM_EVENT_USAGE_ONLY:
        if (!tell_news(exchange, attempt, run)) {
            break;
        }
        if (attempt->hide_usage) {
            drop_event(exchange, attempt, event->raw, run);
        } else {
            pass_event(exchange, attempt, event, outputs, run);
        }
        break;
    case ACOG_STREAM_EVENT_DONE:
        take_done(exchange, attempt, event, outputs, run);
        break;
    case ACOG_STREAM_EVENT_BAD:
        if (exchange->snapshot->policy.bad_event_drops) {
            drop_event(exchange, attempt, event->raw, run);
        } else {
            fail(exchange, attempt, run, ACOG_CAUSE_BAD_ANSWER);
        }
        break;
    case ACOG_STREAM_EVENT_ERROR:
        take_error(exchange, attempt, event->raw, &failure, run);
        break;
    }
}

/* Behind the legal last event nothing counts any more; only a "[DONE]" that has not been there yet belongs to the
 * stream (providers send one behind `response.completed` too), and the rest of a line end. */
static void take_tail(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                      const struct acog_sse_event *event, struct run *run)
{
    if (!attempt->marker_seen && is_marker(event)) {
        attempt->marker_seen = true;
        keep_event(exchange, attempt, event->raw, run);
    } else {
        drop_event(exchange, attempt, event->raw, run);
    }
}

/* -- the stream ------------------------------------------------------------------------------------ */

static bool is_read(const struct acog_exchange_attempt *attempt)
{
    return attempt->state == ACOG_ATTEMPT_STREAM || attempt->state == ACOG_ATTEMPT_TAIL;
}

static void take(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                 const struct acog_sse_event *event, struct run *run)
{
    if (attempt->state == ACOG_ATTEMPT_TAIL) {
        take_tail(exchange, attempt, event, run);
    } else {
        take_event(exchange, attempt, event, run);
    }
}

/* Reads on until there is something to send, or nothing more to read. An event that was gathered goes out alone: its
 * bytes live only until the next look. */
static void read_run(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt)
{
    struct run run = run_begin(attempt);
    bool sent_alone = false;
    while (is_read(attempt) && exchange->command_count == 0 && !sent_alone) {
        struct acog_sse_event event;
        size_t used = 0;
        struct acog_view bytes = exchange->input.bytes;
        enum acog_code code = acog_sse_next(&attempt->sse, bytes, &used, &event);
        exchange->input.bytes = acog_view_slice(bytes, used, bytes.len);
        if (code == ACOG_OK) {
            take(exchange, attempt, &event, &run);
            sent_alone = event.gathered && run.bytes.len > 0;
            continue;
        }
        exchange->input.attempt = NULL;
        if (code != ACOG_AGAIN && attempt->state == ACOG_ATTEMPT_STREAM) {
            fail(exchange, attempt, &run,
                 code == ACOG_TOO_BIG ? ACOG_CAUSE_BAD_ANSWER : ACOG_CAUSE_GATEWAY);
        } else if (code != ACOG_AGAIN) {
            run_end(exchange, &run);
            acog_exchange_attempt_complete(exchange, attempt); /* it was, before this came */
        }
        break;
    }
    run_end(exchange, &run);
}

void acog_exchange_read_events(struct acog_exchange *exchange)
{
    while (exchange->input.attempt != NULL && exchange->command_count == 0) {
        struct acog_exchange_attempt *attempt = exchange->input.attempt;
        if (!is_read(attempt)) {
            exchange->input.attempt = NULL; /* what follows its end is not looked at */
            break;
        }
        read_run(exchange, attempt);
    }
}

/* An event that nothing ended is passed on only when the answer is complete with it: else it may be cut itself, and
 * what the client gets is the complete events and one that tells the error. Where the connection was torn it is cut,
 * however whole it looks. */
static void take_last_event(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                            bool torn, struct run *run)
{
    struct acog_sse_event event;
    if (acog_sse_end(&attempt->sse, &event) != ACOG_OK) {
        return;
    }
    if (torn) {
        drop_event(exchange, attempt, event.raw, run);
        return;
    }
    if (attempt->state == ACOG_ATTEMPT_TAIL) {
        take_tail(exchange, attempt, &event, run);
        return;
    }
    struct acog_stream_tracker before = attempt->tracker;
    unsigned outputs = 0;
    struct acog_failure failure = {.retry_after_ms = -1};
    enum acog_stream_event kind = acog_stream_tracker_read(
        &attempt->tracker, event.name, event.data, &exchange->scratch, &outputs, &failure);
    if (kind == ACOG_STREAM_EVENT_ERROR) {
        take_error(exchange, attempt, event.raw, &failure, run);
    } else if (kind == ACOG_STREAM_EVENT_BAD || !acog_stream_tracker_complete(&attempt->tracker)) {
        attempt->tracker = before;
        drop_event(exchange, attempt, event.raw, run);
    } else if (tell_news(exchange, attempt, run)) {
        bool hidden = kind == ACOG_STREAM_EVENT_USAGE_ONLY && attempt->hide_usage;
        if (hidden) {
            drop_event(exchange, attempt, event.raw, run);
        } else {
            pass_event(exchange, attempt, &event, outputs, run);
        }
    }
}

void acog_exchange_read_events_end(struct acog_exchange *exchange,
                                   struct acog_exchange_attempt *attempt,
                                   const struct acog_failure *failure)
{
    struct run run = run_begin(attempt);
    take_last_event(exchange, attempt, failure != NULL, &run);
    bool complete = acog_stream_tracker_complete(&attempt->tracker);
    if (complete && attempt->state == ACOG_ATTEMPT_STREAM && run.translated != NULL) {
        tell_end(exchange, attempt, &run);
    }
    run_end(exchange, &run);
    if (!is_read(attempt)) {
        return;
    }
    if (complete) {
        acog_exchange_attempt_complete(exchange, attempt);
    } else if (failure != NULL) {
        acog_exchange_attempt_failed(exchange, attempt, failure);
    } else {
        fail(exchange, attempt, &run,
             attempt->first_event_told ? ACOG_CAUSE_CUT : ACOG_CAUSE_BAD_ANSWER);
    }
}
