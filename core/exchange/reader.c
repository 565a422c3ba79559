/* reader.c - an attempt's answer: its head, a body that is read whole, what explains a failure, the end.
 *
 * The one complication is a head that is neither an answer nor a status to fail on at once: its body explains it
 * (FAULT). That is a status outside 2xx whose body the policy's rows want (decision 16), and plain JSON on a stream
 * request, which most often is an error with the wrong status (B118). Such a body is read up to a cap and for a
 * while only; then what came of it counts.
 */
#include "acog/contract.h"
#include "state.h"

#define CONTENT_TYPE_MAX ((size_t)128)

/* -- head ------------------------------------------------------------------------------------------ */

static bool is_event_stream(struct acog_view content_type)
{
    size_t end = acog_view_find(content_type, ACOG_VIEW(";"));
    return acog_view_equal_nocase(acog_view_trim(acog_view_slice(content_type, 0, end)),
                                  ACOG_VIEW("text/event-stream"));
}

static void fail_with(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                      enum acog_cause cause)
{
    struct acog_failure failure = {.cause = cause,
                                   .status = (uint16_t)attempt->status,
                                   .retry_after_ms = attempt->retry_after_ms};
    acog_exchange_attempt_failed(exchange, attempt, &failure);
}

static void begin_fault(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                        struct acog_view content_type)
{
    attempt->state = ACOG_ATTEMPT_FAULT;
    attempt->wait_until_ms = exchange->now_ms + ACOG_EXCHANGE_FAULT_WAIT_MS;
    if (content_type.len > 0 && content_type.len <= CONTENT_TYPE_MAX) {
        attempt->content_type = acog_exchange_copy_text(exchange, content_type);
    }
}

static void read_good_head(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                           struct acog_view content_type)
{
    bool stream = attempt->order.stream;
    if (stream && content_type.len > 0 && acog_exchange_is_json(content_type)) {
        begin_fault(exchange, attempt, content_type);
        return;
    }
    if (stream ? content_type.len > 0 && !is_event_stream(content_type)
               : !acog_exchange_is_json(content_type)) {
        fail_with(exchange, attempt, ACOG_CAUSE_BAD_ANSWER);
        return;
    }
    attempt->state = stream ? ACOG_ATTEMPT_STREAM : ACOG_ATTEMPT_WHOLE;
    struct acog_event event = {.type = ACOG_EVENT_HEADERS,
                               .attempt = attempt->number,
                               .now_ms = exchange->now_ms,
                               .headers = {.status = (uint16_t)attempt->status}};
    acog_exchange_tell(exchange, &event);
}

void acog_exchange_read_head(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                             unsigned status, const struct acog_header_row *headers,
                             size_t header_count)
{
    if (attempt->state != ACOG_ATTEMPT_SENT) {
        return;
    }
    struct acog_view content_type =
        acog_header_find(headers, header_count, ACOG_VIEW("content-type"));
    attempt->status = status;
    if (status >= 200 && status < 300) {
        read_good_head(exchange, attempt, content_type);
        return;
    }
    /* Only of a failure: answers with 200 carry one too, and it means nothing there (FACTS). */
    attempt->retry_after_ms = acog_dialect_retry_after_ms(
        acog_header_find(headers, header_count, ACOG_VIEW("retry-after")),
        acog_header_find(headers, header_count, ACOG_VIEW("retry-after-ms")),
        (exchange->start.unix_ms + exchange->now_ms - exchange->start.now_ms) / 1000);
    if (acog_policy_reads_body(&exchange->snapshot->policy, status)) {
        begin_fault(exchange, attempt, content_type);
    } else {
        fail_with(exchange, attempt, ACOG_CAUSE_STATUS);
    }
}

/* -- what explains a failure ----------------------------------------------------------------------- */

/* A 2xx on a stream request that is no stream: an error, or a message that nobody asked for in this form. */
static void explain_good_status(const struct acog_exchange_attempt *attempt, struct acog_view body,
                                struct acog_arena *arena, struct acog_failure *failure)
{
    struct acog_whole_answer answer;
    enum acog_code code = acog_dialect_read_answer(attempt->order.dialect, attempt->order.surface,
                                                   body, arena, &answer, failure);
    if (code != ACOG_OK || !answer.is_error) {
        *failure = (struct acog_failure){.retry_after_ms = -1};
        failure->cause = ACOG_CAUSE_BAD_ANSWER;
        return;
    }
    failure->cause = ACOG_CAUSE_STREAM_ERROR;
}

void acog_exchange_read_fault(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt)
{
    struct acog_view body = acog_buffer_view(&attempt->held);
    struct acog_failure failure = {.retry_after_ms = -1};
    if (attempt->status >= 200 && attempt->status < 300) {
        explain_good_status(attempt, body, &exchange->scratch, &failure);
    } else {
        acog_dialect_read_error(body, attempt->status, &exchange->scratch, &failure);
        failure.cause = ACOG_CAUSE_STATUS;
    }
    failure.status = (uint16_t)attempt->status;
    if (attempt->retry_after_ms >= 0) {
        failure.retry_after_ms = attempt->retry_after_ms;
    }
    acog_exchange_attempt_failed(exchange, attempt, &failure);
}

static void gather_fault(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                         struct acog_view bytes)
{
    attempt->held.bytes_max = ACOG_EXCHANGE_FAULT_MAX;
    struct acog_view fitting =
        acog_view_slice(bytes, 0, ACOG_EXCHANGE_FAULT_MAX - attempt->held.len);
    attempt->fault_cut =
        fitting.len < bytes.len || acog_buffer_append(&attempt->held, fitting) != ACOG_OK;
    if (attempt->fault_cut) {
        acog_exchange_read_fault(exchange, attempt);
    }
}

/* -- whole answers --------------------------------------------------------------------------------- */

static void tell_simple(struct acog_exchange *exchange, const struct acog_exchange_attempt *attempt,
                        enum acog_event_type type)
{
    struct acog_event event = {
        .type = type, .attempt = attempt->number, .now_ms = exchange->now_ms};
    acog_exchange_tell(exchange, &event);
}

static void pass(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                 struct acog_view bytes)
{
    attempt->passed_bytes += bytes.len;
    if (attempt->passed_bytes > exchange->snapshot->limits.answer_bytes) {
        fail_with(exchange, attempt, ACOG_CAUSE_BAD_ANSWER);
    } else {
        acog_exchange_push_data(exchange, bytes);
    }
}

static void gather_whole(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                         struct acog_view bytes)
{
    if (bytes.len <= attempt->held.bytes_max - attempt->held.len) {
        if (acog_buffer_append(&attempt->held, bytes) != ACOG_OK) {
            fail_with(exchange, attempt, ACOG_CAUSE_GATEWAY);
        }
        return;
    }
    if (acog_exchange_is_translated(attempt)) { /* what was not read to its end cannot be told */
        fail_with(exchange, attempt, ACOG_CAUSE_BAD_ANSWER);
        return;
    }
    tell_simple(exchange, attempt, ACOG_EVENT_HELD_FULL);
    if (attempt->state == ACOG_ATTEMPT_PASSING) {
        pass(exchange, attempt, bytes);
    } else if (attempt->state == ACOG_ATTEMPT_WHOLE) {
        fail_with(exchange, attempt, ACOG_CAUSE_HELD_FULL);
    }
}

static void tell_outputs(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt)
{
    if (attempt->tracker.outputs != 0 && !acog_exchange_attempt_refuses(exchange, attempt)) {
        struct acog_event event = {.type = ACOG_EVENT_OUTPUT,
                                   .attempt = attempt->number,
                                   .now_ms = exchange->now_ms,
                                   .outputs = attempt->tracker.outputs};
        acog_exchange_tell(exchange, &event);
    }
}

static void read_whole(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt)
{
    struct acog_whole_answer answer = {0};
    struct acog_failure failure = {.retry_after_ms = -1};
    enum acog_code code = acog_dialect_read_answer(attempt->order.dialect, attempt->order.surface,
                                                   acog_buffer_view(&attempt->held),
                                                   &exchange->scratch, &answer, &failure);
    if (code != ACOG_OK) {
        fail_with(exchange, attempt,
                  code == ACOG_INVALID ? ACOG_CAUSE_BAD_ANSWER : ACOG_CAUSE_GATEWAY);
        return;
    }
    if (answer.is_error) {
        failure.cause = ACOG_CAUSE_STREAM_ERROR;
        failure.status = (uint16_t)attempt->status;
        acog_exchange_attempt_failed(exchange, attempt, &failure);
        return;
    }
    if (acog_exchange_is_translated(attempt)) {
        acog_exchange_note_provider(exchange, attempt, acog_buffer_view(&attempt->held));
        code = acog_exchange_translate_whole(exchange, attempt);
        if (code != ACOG_OK) {
            fail_with(exchange, attempt,
                      code == ACOG_NO_MEMORY ? ACOG_CAUSE_GATEWAY : ACOG_CAUSE_BAD_ANSWER);
            return;
        }
    }
    attempt->state = ACOG_ATTEMPT_ANSWERED;
    attempt->tracker.outputs = answer.outputs;
    attempt->tracker.refused = answer.refused;
    attempt->tracker.usage = answer.usage;
    tell_outputs(exchange, attempt);
    if (attempt->state == ACOG_ATTEMPT_ANSWERED) {
        acog_exchange_attempt_complete(exchange, attempt);
    }
}

/* -- bytes and ends -------------------------------------------------------------------------------- */

void acog_exchange_read_body(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                             struct acog_view bytes)
{
    switch (attempt->state) {
    case ACOG_ATTEMPT_STREAM:
    case ACOG_ATTEMPT_TAIL:
        tell_simple(exchange, attempt, ACOG_EVENT_ACTIVITY);
        exchange->input = (struct acog_exchange_input){.attempt = attempt, .bytes = bytes};
        break;
    case ACOG_ATTEMPT_WHOLE:
        tell_simple(exchange, attempt, ACOG_EVENT_ACTIVITY);
        if (attempt->state == ACOG_ATTEMPT_WHOLE) {
            gather_whole(exchange, attempt, bytes);
        }
        break;
    case ACOG_ATTEMPT_PASSING:
        tell_simple(exchange, attempt, ACOG_EVENT_ACTIVITY);
        if (attempt->state == ACOG_ATTEMPT_PASSING) {
            pass(exchange, attempt, bytes);
        }
        break;
    case ACOG_ATTEMPT_FAULT:
        gather_fault(exchange, attempt, bytes);
        break;
    case ACOG_ATTEMPT_SENT:
    case ACOG_ATTEMPT_ANSWERED:
    case ACOG_ATTEMPT_OVER:
        break;
    }
}

void acog_exchange_read_end(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt)
{
    switch (attempt->state) {
    case ACOG_ATTEMPT_SENT:
        fail_with(exchange, attempt, ACOG_CAUSE_BAD_ANSWER);
        break;
    case ACOG_ATTEMPT_STREAM:
    case ACOG_ATTEMPT_TAIL:
        acog_exchange_read_events_end(exchange, attempt, NULL);
        break;
    case ACOG_ATTEMPT_WHOLE:
        read_whole(exchange, attempt);
        break;
    case ACOG_ATTEMPT_PASSING:
        acog_exchange_attempt_complete(exchange, attempt);
        break;
    case ACOG_ATTEMPT_FAULT:
        acog_exchange_read_fault(exchange, attempt);
        break;
    case ACOG_ATTEMPT_ANSWERED:
    case ACOG_ATTEMPT_OVER:
        break;
    }
}

void acog_exchange_read_failure(struct acog_exchange *exchange,
                                struct acog_exchange_attempt *attempt,
                                const struct acog_failure *failure)
{
    switch (attempt->state) {
    case ACOG_ATTEMPT_STREAM:
    case ACOG_ATTEMPT_TAIL:
        acog_exchange_read_events_end(exchange, attempt, failure);
        break;
    case ACOG_ATTEMPT_FAULT:
        acog_exchange_read_fault(exchange, attempt);
        break;
    case ACOG_ATTEMPT_SENT:
    case ACOG_ATTEMPT_WHOLE:
    case ACOG_ATTEMPT_PASSING:
        acog_exchange_attempt_failed(exchange, attempt, failure);
        break;
    case ACOG_ATTEMPT_ANSWERED:
    case ACOG_ATTEMPT_OVER:
        break;
    }
}
