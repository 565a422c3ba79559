/* drive.c - steps the engine and turns its actions into commands. It knows what an action means for bytes, and no
 * rule: when to move, when to commit, what to answer is the engine's. */
#include "acog/contract.h"
#include "acog/memory.h"
#include "state.h"

#include <string.h>

/* -- attempts -------------------------------------------------------------------------------------- */

static struct acog_exchange_attempt *attempt_at(const struct acog_exchange *exchange,
                                                uint32_t number)
{
    return number == 0 || number > ACOG_ATTEMPTS_MAX ? NULL : exchange->attempts[number - 1];
}

struct acog_exchange_attempt *acog_exchange_attempt_find(struct acog_exchange *exchange,
                                                         uint32_t number)
{
    struct acog_exchange_attempt *attempt = attempt_at(exchange, number);
    return attempt == NULL || attempt->state == ACOG_ATTEMPT_OVER ? NULL : attempt;
}

void acog_exchange_attempt_free(struct acog_exchange_attempt **attempt)
{
    struct acog_exchange_attempt *gone = *attempt;
    if (gone != NULL) {
        acog_exchange_free_translation(gone);
        acog_sse_fini(&gone->sse);
        acog_buffer_fini(&gone->held);
        acog_free(gone);
        *attempt = NULL;
    }
}

/* Frees the attempt, or keeps its memory for the next one. */
static void recycle(struct acog_exchange *exchange, struct acog_exchange_attempt **attempt)
{
    if (exchange->spare != NULL) {
        acog_exchange_attempt_free(attempt);
        return;
    }
    struct acog_exchange_attempt *spare = *attempt;
    *attempt = NULL;
    acog_exchange_free_translation(spare);
    acog_sse_fini(&spare->sse);
    acog_buffer_clear(&spare->held, ACOG_EXCHANGE_KEPT_BYTES);
    exchange->spare = spare;
}

void acog_exchange_attempts_reap(struct acog_exchange *exchange)
{
    for (size_t i = 0; i < exchange->request.attempt_count; i++) {
        struct acog_exchange_attempt *attempt = exchange->attempts[i];
        if (attempt == NULL || attempt->number == exchange->kept) {
            continue;
        }
        if (attempt->live) {
            acog_buffer_clear(&attempt->held, 0); /* it went out with the commit */
            if (exchange->conversation != NULL) {
                acog_exchange_forget_conversation(exchange, attempt);
            }
        } else if (attempt->state == ACOG_ATTEMPT_OVER) {
            recycle(exchange, &exchange->attempts[i]);
        }
    }
}

void acog_exchange_attempts_forget(struct acog_exchange *exchange)
{
    for (size_t i = 0; i < ACOG_ATTEMPTS_MAX; i++) {
        if (exchange->attempts[i] != NULL) {
            recycle(exchange, &exchange->attempts[i]);
        }
    }
}

static size_t held_bytes_max(const struct acog_snapshot *snapshot)
{
    size_t bytes_max = snapshot->policy.commit.held_bytes_max;
    if (bytes_max > snapshot->limits.answer_bytes) {
        bytes_max = snapshot->limits.answer_bytes;
    }
    return bytes_max == 0 ? 1 : bytes_max;
}

static struct acog_exchange_attempt *make_attempt(struct acog_exchange *exchange)
{
    struct acog_exchange_attempt *attempt = exchange->spare;
    struct acog_buffer held = {0};
    if (attempt == NULL) {
        attempt = acog_new(sizeof(*attempt));
    } else {
        held = attempt->held;
        exchange->spare = NULL;
    }
    if (attempt != NULL) {
        memset(attempt, 0, sizeof(*attempt));
        attempt->held = held;
        attempt->held.bytes_max = held_bytes_max(exchange->snapshot);
        acog_sse_init(&attempt->sse, exchange->snapshot->limits.event_bytes);
    }
    return attempt;
}

/* The driver stops it, if it still runs it. */
static void leave(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt)
{
    if (attempt->open) {
        attempt->open = false;
        struct acog_command command = {.type = ACOG_COMMAND_CANCEL, .attempt = attempt->number};
        acog_exchange_push(exchange, &command);
    }
    attempt->state = ACOG_ATTEMPT_OVER;
}

bool acog_exchange_attempt_refuses(const struct acog_exchange *exchange,
                                   const struct acog_exchange_attempt *attempt)
{
    unsigned content =
        ACOG_BIT(ACOG_OUTPUT_TEXT) | ACOG_BIT(ACOG_OUTPUT_REASONING) | ACOG_BIT(ACOG_OUTPUT_TOOL);
    return exchange->snapshot->policy.refusal.empty_200 && !attempt->live &&
           attempt->tracker.refused && (attempt->tracker.outputs & content) == 0;
}

static bool is_json_object(struct acog_view body, size_t depth_max)
{
    struct acog_json_value value;
    struct acog_json_error error;
    return acog_json_check(body, depth_max, &value, &error) == ACOG_OK &&
           value.type == ACOG_JSON_OBJECT;
}

/* Keeps what an answer may have to relay; what an earlier attempt said is no longer wanted. */
static void remember(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                     const struct acog_failure *failure)
{
    struct acog_exchange_last_words *words = &exchange->last_words;
    words->attempt = attempt->number;
    words->candidate = attempt->candidate;
    words->message = acog_exchange_copy_text(
        exchange, acog_exchange_cut(failure->message, ACOG_ERROR_MESSAGE_MAX));
    words->type = acog_exchange_copy_text(
        exchange, acog_exchange_cut(failure->type, ACOG_EXCHANGE_MODEL_MAX));
    words->content_type = attempt->content_type;
    words->body.len = 0;
    if (attempt->state == ACOG_ATTEMPT_FAULT && !attempt->fault_cut &&
        !acog_exchange_is_translated(attempt) &&
        is_json_object(acog_buffer_view(&attempt->held), exchange->snapshot->limits.json_depth)) {
        struct acog_buffer body = words->body;
        words->body = attempt->held;
        attempt->held = body;
    }
}

void acog_exchange_attempt_failed(struct acog_exchange *exchange,
                                  struct acog_exchange_attempt *attempt,
                                  const struct acog_failure *failure)
{
    remember(exchange, attempt, failure);
    leave(exchange, attempt);
    struct acog_event event = {.type = ACOG_EVENT_FAILED,
                               .attempt = attempt->number,
                               .now_ms = exchange->now_ms,
                               .failure = failure};
    acog_exchange_tell(exchange, &event);
}

void acog_exchange_attempt_complete(struct acog_exchange *exchange,
                                    struct acog_exchange_attempt *attempt)
{
    if (acog_exchange_attempt_refuses(exchange, attempt)) {
        struct acog_failure failure = {
            .cause = ACOG_CAUSE_REFUSAL, .status = (uint16_t)attempt->status, .retry_after_ms = -1};
        acog_exchange_attempt_failed(exchange, attempt, &failure);
        return;
    }
    leave(exchange, attempt);
    struct acog_event event = {
        .type = ACOG_EVENT_DONE, .attempt = attempt->number, .now_ms = exchange->now_ms};
    acog_exchange_tell(exchange, &event);
}

/* -- actions --------------------------------------------------------------------------------------- */

static void dispatch(struct acog_exchange *exchange, const struct acog_action *action)
{
    ACOG_ASSERT(action->attempt >= 1);
    ACOG_ASSERT(action->attempt <= ACOG_ATTEMPTS_MAX);
    struct acog_exchange_attempt **place = &exchange->attempts[action->attempt - 1];
    ACOG_ASSERT(*place == NULL);
    *place = make_attempt(exchange);
    struct acog_exchange_attempt *attempt = *place;
    if (attempt == NULL) {
        exchange->stillborn = action->attempt;
        return;
    }
    attempt->number = action->attempt;
    attempt->candidate = action->dispatch.candidate;
    attempt->model = action->dispatch.model;
    attempt->retry_after_ms = -1;
    acog_exchange_note_begin(exchange, attempt);
    acog_exchange_begin_translation(exchange, attempt);
    acog_stream_tracker_init(&attempt->tracker, attempt->translation.upstream);
    if (acog_exchange_write_order(exchange, attempt) != ACOG_OK) {
        attempt->state = ACOG_ATTEMPT_OVER;
        exchange->stillborn = action->attempt;
        return;
    }
    attempt->open = true;
    struct acog_command command = {
        .type = ACOG_COMMAND_SEND, .attempt = attempt->number, .order = &attempt->order};
    acog_exchange_push(exchange, &command);
}

/* A whole answer that was read to its end has a length. */
static void give_whole(struct acog_exchange *exchange, const struct acog_exchange_attempt *attempt)
{
    struct acog_exchange_pieces pieces = {.count = 0};
    size_t length = 0;
    if (!attempt->note.wanted || acog_exchange_note_whole(exchange, attempt, &pieces) != ACOG_OK) {
        /* Without memory for the note the answer is the same, and the header tells. */
        pieces =
            (struct acog_exchange_pieces){.list = {acog_buffer_view(&attempt->held)}, .count = 1};
    }
    for (size_t i = 0; i < pieces.count; i++) {
        length += pieces.list[i].len;
    }
    acog_exchange_reply_attempt(exchange, attempt, (int64_t)length);
    for (size_t i = 0; i < pieces.count; i++) {
        acog_exchange_push_data(exchange, pieces.list[i]);
    }
}

/* The reply's head, and all that was held back. */
static void give(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt)
{
    bool whole = !attempt->order.stream && attempt->state != ACOG_ATTEMPT_WHOLE;
    attempt->live = true;
    exchange->live = attempt->number;
    exchange->record.dropped_params = acog_exchange_copy_text(exchange, attempt->dropped);
    exchange->record.committed_ms = exchange->now_ms;
    if (whole) {
        acog_exchange_note_provider(exchange, attempt, acog_buffer_view(&attempt->held));
        give_whole(exchange, attempt);
        return;
    }
    acog_exchange_reply_attempt(exchange, attempt, -1);
    acog_exchange_push_data(exchange, acog_buffer_view(&attempt->held));
    if (attempt->state == ACOG_ATTEMPT_WHOLE) {
        attempt->passed_bytes = attempt->held.len;
        attempt->state = ACOG_ATTEMPT_PASSING;
    }
}

/* What the provider reported; where it reported nothing, what a translated answer told the client. */
static void note_usage(struct acog_exchange *exchange, const struct acog_exchange_attempt *live)
{
    exchange->record.usage = live->tracker.usage;
    if (live->translator != NULL && live->tracker.usage.output_tokens < 0) {
        exchange->record.usage =
            acog_translator_usage(live->translator, &exchange->record.usage_estimated);
    }
}

static void finish(struct acog_exchange *exchange)
{
    for (size_t i = 0; i < ACOG_ATTEMPTS_MAX; i++) {
        if (exchange->attempts[i] != NULL) {
            leave(exchange, exchange->attempts[i]);
        }
    }
    const struct acog_exchange_attempt *live = attempt_at(exchange, exchange->live);
    if (live != NULL) {
        note_usage(exchange, live);
    }
    acog_exchange_finish(exchange);
}

static void answer_error(struct acog_exchange *exchange, const struct acog_error_answer *answer)
{
    struct acog_exchange_error error;
    acog_exchange_error_of_answer(exchange, answer, &error);
    if (acog_view_find(error.message, ACOG_VIEW("%{alternatives}")) < error.message.len) {
        error.words.alternatives = acog_exchange_alternatives(exchange);
    }
    acog_exchange_reply_error(exchange, &error);
}

void acog_exchange_ask(struct acog_exchange *exchange, const struct acog_ask *question)
{
    exchange->ask = *question;
    if (question->kind == ACOG_SLOT_TRANSLATION) {
        exchange->translation_asked = true; /* answered before anything else is told */
        return;
    }
    struct acog_command command = {.type = ACOG_COMMAND_ASK, .ask = &exchange->ask};
    acog_exchange_push(exchange, &command);
}

static void perform(struct acog_exchange *exchange, const struct acog_action *action)
{
    struct acog_exchange_attempt *attempt = attempt_at(exchange, action->attempt);
    switch (action->type) {
    case ACOG_ACTION_ASK_POLICY:
        acog_exchange_ask(exchange, &action->ask);
        break;
    case ACOG_ACTION_DISPATCH:
        dispatch(exchange, action);
        break;
    case ACOG_ACTION_CANCEL:
        if (attempt != NULL) {
            leave(exchange, attempt);
        }
        break;
    case ACOG_ACTION_COMMIT:
        ACOG_ASSERT(attempt != NULL);
        give(exchange, attempt);
        break;
    case ACOG_ACTION_KEEP_REPLY:
        exchange->kept = action->attempt;
        break;
    case ACOG_ACTION_REPLAY_KEPT:
        attempt = attempt_at(exchange, exchange->kept);
        ACOG_ASSERT(attempt != NULL);
        give(exchange, attempt);
        acog_exchange_push_end(exchange);
        break;
    case ACOG_ACTION_DROP_KEPT:
        exchange->kept = 0;
        break;
    case ACOG_ACTION_ANSWER_ERROR:
        answer_error(exchange, &action->error);
        break;
    case ACOG_ACTION_FAIL_STREAM:
        ACOG_ASSERT(attempt != NULL);
        acog_exchange_end_broken(exchange, attempt, action->lost);
        break;
    case ACOG_ACTION_END_REPLY:
        acog_exchange_push_end(exchange);
        break;
    case ACOG_ACTION_FINISH:
        finish(exchange);
        break;
    }
}

bool acog_exchange_next_answer(struct acog_exchange *exchange, struct acog_event *event)
{
    if (!exchange->translation_asked) {
        return false;
    }
    exchange->translation_asked = false;
    *event = (struct acog_event){.type = ACOG_EVENT_POLICY_ANSWERED, .now_ms = exchange->now_ms};
    acog_exchange_answer_translation(exchange, &exchange->ask, &event->answer);
    return true;
}

void acog_exchange_tell(struct acog_exchange *exchange, const struct acog_event *event)
{
    static const struct acog_failure no_memory = {.cause = ACOG_CAUSE_GATEWAY,
                                                  .retry_after_ms = -1};
    struct acog_event next = *event;
    for (;;) {
        struct acog_actions actions;
        acog_engine_step(exchange->snapshot, exchange->start.shared, &exchange->request, &next,
                         &actions);
        acog_exchange_write_transcript(exchange, &next, &actions);
        for (size_t i = 0; i < actions.count; i++) {
            perform(exchange, &actions.list[i]);
        }
        if (acog_exchange_next_answer(exchange, &next)) {
            continue;
        }
        if (exchange->stillborn == 0) {
            break;
        }
        next = (struct acog_event){.type = ACOG_EVENT_FAILED,
                                   .attempt = exchange->stillborn,
                                   .now_ms = exchange->now_ms,
                                   .failure = &no_memory};
        exchange->stillborn = 0;
    }
}
