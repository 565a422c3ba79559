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

static void put_view(struct writer *writer, struct acog_view text)
{
    if (writer->code == ACOG_OK) {
        writer->code = acog_buffer_append(writer->out, text);
    }
}

static void put(struct writer *writer, const char *text)
{
    put_view(writer, acog_view_of(text));
}

static void put_number(struct writer *writer, const char *before, int64_t number)
{
    put(writer, before);
    if (writer->code == ACOG_OK) {
        writer->code = acog_buffer_format(writer->out, "%lld", (long long)number);
    }
}

/* Never empty, without spaces and commas: a word stays one word. */
static void write_word(struct writer *writer, struct acog_view text)
{
    char word[WORD_MAX];
    size_t len = 0;
    for (; len < text.len && len < sizeof word; len++) {
        char byte = text.ptr[len];
        word[len] = byte;
        if (byte <= ' ' || byte > '~' || byte == ',') {
            word[len] = '?';
        }
    }
    if (len == 0) {
        word[len++] = '-';
    }
    put_view(writer, (struct acog_view){.ptr = word, .len = len});
}

static void write_name(struct writer *writer, enum acog_vocabulary vocabulary, int value)
{
    write_word(writer, acog_name(vocabulary, value));
}

static void write_candidate(struct writer *writer, uint16_t index)
{
    const struct acog_candidate *candidate = &writer->snapshot->candidates[index];
    put(writer, " ");
    write_word(writer, writer->snapshot->connections[candidate->connection].id);
    put(writer, "/");
    write_word(writer, candidate->declared);
}

/* " key=a,b" of the values in the set; nothing for an empty one. */
static void write_set(struct writer *writer, const char *key, enum acog_vocabulary vocabulary,
                      unsigned set)
{
    const char *before = key;
    for (int i = 0; i < acog_name_count(vocabulary); i++) {
        if ((set & ACOG_BIT(i)) != 0) {
            put(writer, before);
            write_name(writer, vocabulary, i);
            before = ",";
        }
    }
}

static void put_real(struct writer *writer, double number)
{
    if (writer->code == ACOG_OK) {
        writer->code = acog_buffer_format(writer->out, " %g", number);
    }
}

static void put_seed(struct writer *writer, uint64_t seed)
{
    if (writer->code == ACOG_OK) {
        writer->code = acog_buffer_format(writer->out, " seed=%llu", (unsigned long long)seed);
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
    case ACOG_SLOT_TRANSLATION:
        return "translation";
    }
    ACOG_UNREACHABLE("a kind of slot");
}

/* -- events ---------------------------------------------------------------------------------------- */

static void write_arrived(struct writer *writer, const struct acog_event *event)
{
    const struct acog_request_facts *facts = event->arrived.facts;
    put(writer, "arrived ");
    write_name(writer, ACOG_VOCABULARY_SURFACE, (int)facts->surface);
    put(writer, facts->stream ? " stream model=" : " whole model=");
    write_word(writer, facts->model);
    if (facts->max_tokens >= 0) {
        put_number(writer, " max_tokens=", facts->max_tokens);
    }
    if (facts->choices > 1) {
        put_number(writer, " choices=", facts->choices);
    }
    for (size_t i = 0; i < facts->pin_count; i++) {
        put(writer, " pin=");
        write_word(writer, facts->pins[i]);
    }
    put(writer, facts->fallback_opt_out ? " opt_out" : "");
    put_seed(writer, event->arrived.seed);
}

static void write_answered(struct writer *writer, const struct acog_answer *answer,
                           enum acog_slot_kind kind)
{
    put(writer, "answered ");
    put(writer, slot_word(kind));
    if (answer->failed) {
        put(writer, " failed");
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
            put_real(writer, answer->numbers[i]);
            break;
        case ACOG_SLOT_FILTER:
        case ACOG_SLOT_USABLE:
        case ACOG_SLOT_TRANSLATION:
            put(writer, answer->verdicts[i].keep ? " keep" : " drop");
            break;
        }
    }
}

static void write_failed(struct writer *writer, const struct acog_event *event)
{
    const struct acog_failure *failure = event->failure;
    put_number(writer, "failed ", event->attempt);
    put(writer, " ");
    write_name(writer, ACOG_VOCABULARY_CAUSE, (int)failure->cause);
    if (failure->status != 0) {
        put_number(writer, " status=", failure->status);
    }
    write_set(writer, " shapes=", ACOG_VOCABULARY_SHAPE, failure->shapes);
    if (failure->retry_after_ms >= 0) {
        put_number(writer, " retry_after=", failure->retry_after_ms);
    }
    if (failure->code.len > 0) {
        put(writer, " code=");
        write_word(writer, failure->code);
    }
    for (size_t i = 0; i < failure->category_count; i++) {
        put(writer, " category=");
        write_word(writer, failure->categories[i]);
    }
    put(writer, failure->reused_no_byte ? " reused_no_byte" : "");
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
        put_number(writer, "connected ", event->attempt);
        put(writer, event->reused ? " reused" : "");
        return;
    case ACOG_EVENT_HEADERS:
        put_number(writer, "headers ", event->attempt);
        put_number(writer, " status=", event->headers.status);
        return;
    case ACOG_EVENT_FIRST_EVENT:
        put_number(writer, "first_event ", event->attempt);
        return;
    case ACOG_EVENT_OUTPUT:
        put_number(writer, "output ", event->attempt);
        write_set(writer, " ", ACOG_VOCABULARY_OUTPUT, event->outputs);
        return;
    case ACOG_EVENT_ACTIVITY:
        put_number(writer, "activity ", event->attempt);
        return;
    case ACOG_EVENT_HELD_FULL:
        put_number(writer, "held_full ", event->attempt);
        return;
    case ACOG_EVENT_FAILED:
        write_failed(writer, event);
        return;
    case ACOG_EVENT_DONE:
        put_number(writer, "done ", event->attempt);
        return;
    case ACOG_EVENT_CLIENT_GONE:
        put(writer, "client_gone");
        return;
    case ACOG_EVENT_TICK:
        put(writer, "tick");
        return;
    }
    ACOG_UNREACHABLE("an event");
}

/* -- actions --------------------------------------------------------------------------------------- */

static void write_ask(struct writer *writer, const struct acog_ask *ask)
{
    put(writer, "ask ");
    put(writer, slot_word(ask->kind));
    put_number(writer, " slot=", ask->slot);
    if (ask->kind == ACOG_SLOT_MATCH) {
        put(writer, " model=");
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
    put_number(writer, "dispatch ", action->attempt);
    write_candidate(writer, action->dispatch.candidate);
    put(writer, " model=");
    write_word(writer, action->dispatch.model);
    put(writer, action->dispatch.resend ? " resend" : "");
    put(writer, attempt->extra_try ? " extra_try" : "");
    put(writer, attempt->fallback ? " fallback" : "");
    put(writer, attempt->has_ticket && attempt->ticket.probe ? " probe" : "");
    for (int i = 0; i < ACOG_CLOCK_COUNT; i++) {
        if (attempt->limits_ms[i] >= 0) {
            put(writer, " ");
            write_name(writer, ACOG_VOCABULARY_CLOCK, i);
            put_number(writer, "=", attempt->limits_ms[i]);
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
    put(writer, "answer_error ");
    if (error->by_class) {
        put(writer, "class=");
        write_name(writer, ACOG_VOCABULARY_CLASS, (int)error->class);
        put(writer, " relay=");
        put(writer, relay_word(error->relay));
    } else {
        write_name(writer, ACOG_VOCABULARY_CONDITION, (int)error->condition);
    }
    if (error->attempt != 0) {
        put_number(writer, " from=", error->attempt);
    }
    if (error->upstream_status != 0) {
        put_number(writer, " upstream=", error->upstream_status);
    }
    if (error->retry_after_ms >= 0) {
        put_number(writer, " retry_after=", error->retry_after_ms);
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
        put_number(writer, "cancel ", action->attempt);
        return;
    case ACOG_ACTION_COMMIT:
        put_number(writer, "commit ", action->attempt);
        return;
    case ACOG_ACTION_KEEP_REPLY:
        put_number(writer, "keep_reply ", action->attempt);
        return;
    case ACOG_ACTION_REPLAY_KEPT:
        put_number(writer, "replay_kept ", action->attempt);
        return;
    case ACOG_ACTION_DROP_KEPT:
        put_number(writer, "drop_kept ", action->attempt);
        return;
    case ACOG_ACTION_ANSWER_ERROR:
        write_error(writer, &action->error);
        return;
    case ACOG_ACTION_FAIL_STREAM:
        put_number(writer, "fail_stream ", action->attempt);
        put(writer, action->lost ? " lost" : " error_event");
        return;
    case ACOG_ACTION_END_REPLY:
        put_number(writer, "end_reply ", action->attempt);
        return;
    case ACOG_ACTION_FINISH:
        put(writer, "finish ");
        write_name(writer, ACOG_VOCABULARY_OUTCOME, (int)action->outcome);
        return;
    }
    ACOG_UNREACHABLE("an action");
}

/* Not actions, but what a reader of the story must know: until when nothing is going to happen. */
static void write_wait(struct writer *writer, const struct acog_request *request)
{
    if (request->state == ACOG_REQUEST_WAITING || request->state == ACOG_REQUEST_DRAINING) {
        put(writer, request->state == ACOG_REQUEST_WAITING ? "    wait" : "    drain");
        put_number(writer, " until +", request->wait_until_ms - request->arrived_at_ms);
        put(writer, "\n");
    }
}

enum acog_code acog_transcript_step(struct acog_buffer *out, const struct acog_snapshot *snapshot,
                                    const struct acog_request *request,
                                    const struct acog_event *event,
                                    const struct acog_actions *actions)
{
    struct writer writer = {.out = out, .snapshot = snapshot, .code = ACOG_OK};
    put_number(&writer, "+", event->now_ms - request->arrived_at_ms);
    put(&writer, " ");
    write_event(&writer, request, event);
    put(&writer, "\n");
    for (size_t i = 0; i < actions->count; i++) {
        put(&writer, "    ");
        write_action(&writer, request, &actions->list[i]);
        put(&writer, "\n");
    }
    write_wait(&writer, request);
    return writer.code;
}
