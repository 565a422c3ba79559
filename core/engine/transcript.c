/* transcript.c - a step as text: what happened, and what the engine made of it, in virtual time.
 *
 *   +TIME EVENT [ATTEMPT] facts
 *       ACTION [ATTEMPT] what
 *
 * The event lines hold every fact that the engine reads, so a transcript is also a story that can be played again
 * (tests/golden). They hold no text of the request or of an answer: model ids, pins, codes and categories are words,
 * and are cut and cleaned, because clients and providers write them.
 */
#include "acog/contract.h"
#include "step.h"

#define WORD_MAX 64 /* bytes shown of a word that comes from outside */

struct writer {
    struct acog_buffer *out;
    const struct acog_snapshot *snapshot;
    enum acog_code code; /* the first failure; nothing is written after it */
};

/* A macro only because a format must reach the compiler as a literal. */
#define WRITE(writer, ...)                                                   \
    do {                                                                     \
        if ((writer)->code == ACOG_OK) {                                     \
            (writer)->code = acog_buffer_format((writer)->out, __VA_ARGS__); \
        }                                                                    \
    } while (0)

/* Never empty, without spaces and commas: a word stays one word. */
static void write_word(struct writer *writer, struct acog_view text)
{
    char word[WORD_MAX];
    size_t len = 0;
    for (; len < text.len && len < sizeof word; len++) {
        unsigned char byte = (unsigned char)text.ptr[len];
        word[len] = byte > ' ' && byte < 0x7f && byte != ',' ? (char)byte : '?';
    }
    if (len == 0) {
        word[len++] = '-';
    }
    WRITE(writer, "%.*s", (int)len, word);
}

static void write_name(struct writer *writer, enum acog_vocabulary vocabulary, int value)
{
    write_word(writer, acog_name(vocabulary, value));
}

static void write_candidate(struct writer *writer, uint16_t index)
{
    const struct acog_candidate *candidate = &writer->snapshot->candidates[index];
    WRITE(writer, " ");
    write_word(writer, writer->snapshot->connections[candidate->connection].id);
    WRITE(writer, "/");
    write_word(writer, candidate->declared);
}

/* " key=a,b" of the values in the set; nothing for an empty one. */
static void write_set(struct writer *writer, const char *key, enum acog_vocabulary vocabulary,
                      unsigned set)
{
    const char *before = key;
    for (int i = 0; i < acog_name_count(vocabulary); i++) {
        if ((set & ACOG_BIT(i)) != 0) {
            WRITE(writer, "%s", before);
            write_name(writer, vocabulary, i);
            before = ",";
        }
    }
}

static const char *slot_word(enum acog_slot_kind kind)
{
    switch (kind) {
    case ACOG_SLOT_MATCH:
        return "match";
    case ACOG_SLOT_FILTER:
        return "filter";
    case ACOG_SLOT_ORDER:
        return "order";
    case ACOG_SLOT_USABLE:
        return "usable";
    }
    ACOG_UNREACHABLE("a kind of slot");
}

static const char *outcome_word(enum acog_outcome outcome)
{
    switch (outcome) {
    case ACOG_OUTCOME_COMPLETED:
        return "completed";
    case ACOG_OUTCOME_FAILED:
        return "failed";
    case ACOG_OUTCOME_CANCELLED:
        return "cancelled";
    case ACOG_OUTCOME_INCOMPLETE:
        return "incomplete";
    }
    ACOG_UNREACHABLE("an outcome");
}

/* -- events ---------------------------------------------------------------------------------------- */

static void write_arrived(struct writer *writer, const struct acog_event *event)
{
    const struct acog_request_facts *facts = event->arrived.facts;
    WRITE(writer, "arrived ");
    write_name(writer, ACOG_VOCABULARY_SURFACE, (int)facts->surface);
    WRITE(writer, facts->stream ? " stream model=" : " whole model=");
    write_word(writer, facts->model);
    if (facts->max_tokens >= 0) {
        WRITE(writer, " max_tokens=%lld", (long long)facts->max_tokens);
    }
    if (facts->choices > 1) {
        WRITE(writer, " choices=%u", facts->choices);
    }
    for (size_t i = 0; i < facts->pin_count; i++) {
        WRITE(writer, " pin=");
        write_word(writer, facts->pins[i]);
    }
    WRITE(writer, "%s seed=%llu", facts->fallback_opt_out ? " opt_out" : "",
          (unsigned long long)event->arrived.seed);
}

static void write_answered(struct writer *writer, const struct acog_answer *answer,
                           enum acog_slot_kind kind)
{
    WRITE(writer, "answered %s", slot_word(kind));
    if (answer->failed) {
        WRITE(writer, " failed");
        return;
    }
    for (size_t i = 0; i < answer->count; i++) {
        switch (kind) {
        case ACOG_SLOT_MATCH:
            if (answer->candidates[i] < writer->snapshot->candidate_count) {
                write_candidate(writer, answer->candidates[i]);
            }
            break;
        case ACOG_SLOT_ORDER:
            WRITE(writer, " %g", answer->numbers[i]);
            break;
        case ACOG_SLOT_FILTER:
        case ACOG_SLOT_USABLE:
            WRITE(writer, answer->verdicts[i].keep ? " keep" : " drop");
            break;
        }
    }
}

static void write_failed(struct writer *writer, const struct acog_event *event)
{
    const struct acog_failure *failure = event->failure;
    WRITE(writer, "failed %u ", event->attempt);
    write_name(writer, ACOG_VOCABULARY_CAUSE, (int)failure->cause);
    if (failure->status != 0) {
        WRITE(writer, " status=%u", (unsigned)failure->status);
    }
    write_set(writer, " shapes=", ACOG_VOCABULARY_SHAPE, failure->shapes);
    if (failure->retry_after_ms >= 0) {
        WRITE(writer, " retry_after=%lld", (long long)failure->retry_after_ms);
    }
    if (failure->code.len > 0) {
        WRITE(writer, " code=");
        write_word(writer, failure->code);
    }
    for (size_t i = 0; i < failure->category_count; i++) {
        WRITE(writer, " category=");
        write_word(writer, failure->categories[i]);
    }
    WRITE(writer, "%s", failure->reused_no_byte ? " reused_no_byte" : "");
}

static void write_event(struct writer *writer, const struct acog_request *request,
                        const struct acog_event *event)
{
    switch (event->type) {
    case ACOG_EVENT_ARRIVED:
        write_arrived(writer, event);
        return;
    case ACOG_EVENT_POLICY_ANSWERED:
        write_answered(writer, &event->answer, request->answered);
        return;
    case ACOG_EVENT_CONNECTED:
        WRITE(writer, "connected %u%s", event->attempt, event->reused ? " reused" : "");
        return;
    case ACOG_EVENT_HEADERS:
        WRITE(writer, "headers %u status=%u", event->attempt, (unsigned)event->headers.status);
        return;
    case ACOG_EVENT_FIRST_EVENT:
        WRITE(writer, "first_event %u", event->attempt);
        return;
    case ACOG_EVENT_OUTPUT:
        WRITE(writer, "output %u", event->attempt);
        write_set(writer, " ", ACOG_VOCABULARY_OUTPUT, event->outputs);
        return;
    case ACOG_EVENT_ACTIVITY:
        WRITE(writer, "activity %u", event->attempt);
        return;
    case ACOG_EVENT_HELD_FULL:
        WRITE(writer, "held_full %u", event->attempt);
        return;
    case ACOG_EVENT_FAILED:
        write_failed(writer, event);
        return;
    case ACOG_EVENT_DONE:
        WRITE(writer, "done %u", event->attempt);
        return;
    case ACOG_EVENT_CLIENT_GONE:
        WRITE(writer, "client_gone");
        return;
    case ACOG_EVENT_TICK:
        WRITE(writer, "tick");
        return;
    }
    ACOG_UNREACHABLE("an event");
}

/* -- actions --------------------------------------------------------------------------------------- */

static void write_ask(struct writer *writer, const struct acog_ask *ask)
{
    WRITE(writer, "ask %s slot=%u", slot_word(ask->kind), (unsigned)ask->slot);
    if (ask->kind == ACOG_SLOT_MATCH) {
        WRITE(writer, " model=");
        write_word(writer, ask->model);
    }
    for (size_t i = 0; i < ask->count; i++) {
        write_candidate(writer, ask->candidates[i]);
    }
}

static void write_dispatch(struct writer *writer, const struct acog_request *request,
                           const struct acog_action *action)
{
    const struct acog_attempt_row *attempt = &request->attempts[action->attempt - 1];
    WRITE(writer, "dispatch %u", action->attempt);
    write_candidate(writer, action->dispatch.candidate);
    WRITE(writer, " model=");
    write_word(writer, action->dispatch.model);
    WRITE(writer, "%s%s%s%s", action->dispatch.resend ? " resend" : "",
          attempt->extra_try ? " extra_try" : "", attempt->fallback ? " fallback" : "",
          attempt->has_ticket && attempt->ticket.probe ? " probe" : "");
    for (int i = 0; i < ACOG_CLOCK_COUNT; i++) {
        if (attempt->limits_ms[i] >= 0) {
            WRITE(writer, " ");
            write_name(writer, ACOG_VOCABULARY_CLOCK, i);
            WRITE(writer, "=%lld", (long long)attempt->limits_ms[i]);
        }
    }
}

static const char *relay_word(enum acog_relay relay)
{
    switch (relay) {
    case ACOG_RELAY_OWN:
        return "own";
    case ACOG_RELAY_MESSAGE:
        return "message";
    case ACOG_RELAY_VERBATIM:
        return "verbatim";
    }
    ACOG_UNREACHABLE("a relay");
}

static void write_error(struct writer *writer, const struct acog_error_answer *error)
{
    WRITE(writer, "answer_error ");
    if (error->by_class) {
        WRITE(writer, "class=");
        write_name(writer, ACOG_VOCABULARY_CLASS, (int)error->class);
        WRITE(writer, " relay=%s", relay_word(error->relay));
    } else {
        write_name(writer, ACOG_VOCABULARY_CONDITION, (int)error->condition);
    }
    if (error->attempt != 0) {
        WRITE(writer, " from=%u", error->attempt);
    }
    if (error->upstream_status != 0) {
        WRITE(writer, " upstream=%u", (unsigned)error->upstream_status);
    }
    if (error->retry_after_ms >= 0) {
        WRITE(writer, " retry_after=%lld", (long long)error->retry_after_ms);
    }
}

static void write_action(struct writer *writer, const struct acog_request *request,
                         const struct acog_action *action)
{
    switch (action->type) {
    case ACOG_ACTION_ASK_POLICY:
        write_ask(writer, &action->ask);
        return;
    case ACOG_ACTION_DISPATCH:
        write_dispatch(writer, request, action);
        return;
    case ACOG_ACTION_CANCEL:
        WRITE(writer, "cancel %u", action->attempt);
        return;
    case ACOG_ACTION_COMMIT:
        WRITE(writer, "commit %u", action->attempt);
        return;
    case ACOG_ACTION_KEEP_REPLY:
        WRITE(writer, "keep_reply %u", action->attempt);
        return;
    case ACOG_ACTION_REPLAY_KEPT:
        WRITE(writer, "replay_kept %u", action->attempt);
        return;
    case ACOG_ACTION_DROP_KEPT:
        WRITE(writer, "drop_kept %u", action->attempt);
        return;
    case ACOG_ACTION_ANSWER_ERROR:
        write_error(writer, &action->error);
        return;
    case ACOG_ACTION_FAIL_STREAM:
        WRITE(writer, "fail_stream %u %s", action->attempt, action->lost ? "lost" : "error_event");
        return;
    case ACOG_ACTION_END_REPLY:
        WRITE(writer, "end_reply %u", action->attempt);
        return;
    case ACOG_ACTION_FINISH:
        WRITE(writer, "finish %s", outcome_word(action->outcome));
        return;
    }
    ACOG_UNREACHABLE("an action");
}

/* Not actions, but what a reader of the story must know: until when nothing is going to happen. */
static void write_wait(struct writer *writer, const struct acog_request *request)
{
    if (request->state == ACOG_REQUEST_WAITING || request->state == ACOG_REQUEST_DRAINING) {
        WRITE(writer, "    %s until +%lld\n",
              request->state == ACOG_REQUEST_WAITING ? "wait" : "drain",
              (long long)(request->wait_until_ms - request->arrived_at_ms));
    }
}

enum acog_code acog_transcript_step(struct acog_buffer *out, const struct acog_snapshot *snapshot,
                                    const struct acog_request *request,
                                    const struct acog_event *event,
                                    const struct acog_actions *actions)
{
    struct writer writer = {.out = out, .snapshot = snapshot, .code = ACOG_OK};
    WRITE(&writer, "+%lld ", (long long)(event->now_ms - request->arrived_at_ms));
    write_event(&writer, request, event);
    WRITE(&writer, "\n");
    for (size_t i = 0; i < actions->count; i++) {
        WRITE(&writer, "    ");
        write_action(&writer, request, &actions->list[i]);
        WRITE(&writer, "\n");
    }
    write_wait(&writer, request);
    return writer.code;
}
