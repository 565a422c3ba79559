/* terminal.c - how a committed reply ends that cannot be completed: one terminal action, in the form of the policy's
 * row for the dialect (D15). It stands behind complete events only; whatever a cut event began is not passed on.
 */
#include "acog/contract.h"
#include "state.h"

static enum acog_code write_chat(const struct acog_exchange *exchange,
                                 const struct acog_exchange_error *error, struct acog_buffer *out)
{
    enum acog_code code = acog_buffer_append(out, ACOG_VIEW("data: "));
    if (code == ACOG_OK) {
        code =
            acog_exchange_write_error(ACOG_DIALECT_CHAT, error, exchange->record.request_id, out);
    }
    return code == ACOG_OK ? acog_buffer_append(out, ACOG_VIEW("\n\n")) : code;
}

static enum acog_code write_messages(const struct acog_exchange *exchange,
                                     const struct acog_exchange_error *error,
                                     struct acog_buffer *out)
{
    enum acog_code code = acog_buffer_append(out, ACOG_VIEW("event: error\ndata: "));
    if (code == ACOG_OK) {
        code = acog_exchange_write_error(ACOG_DIALECT_MESSAGES, error, exchange->record.request_id,
                                         out);
    }
    return code == ACOG_OK ? acog_buffer_append(out, ACOG_VIEW("\n\n")) : code;
}

/* The id of the answer as it was announced, else one made from the request's. */
static enum acog_code write_id(const struct acog_exchange *exchange,
                               const struct acog_exchange_attempt *attempt, const char *prefix,
                               struct acog_buffer *out)
{
    struct acog_view announced = acog_view_of(attempt->tracker.id_text);
    struct acog_view id = announced.len > 0 ? announced : exchange->record.request_id;
    bool made = announced.len == 0 || acog_exchange_is_translated(attempt);
    enum acog_code code = made && !acog_view_starts(id, acog_view_of(prefix))
                              ? acog_buffer_append(out, acog_view_of(prefix))
                              : ACOG_OK;
    return code == ACOG_OK ? acog_buffer_append_json(out, id) : code;
}

static struct acog_view answering_model(const struct acog_exchange_attempt *attempt)
{
    struct acog_view announced = acog_view_of(attempt->tracker.model_text);
    return announced.len > 0 ? announced : attempt->model;
}

static int64_t next_sequence(const struct acog_exchange_attempt *attempt)
{
    if (attempt->translator != NULL) {
        return acog_translator_next_sequence(attempt->translator);
    }
    return attempt->tracker.sequence < 0 ? 0 : attempt->tracker.sequence + 1 + attempt->note.events;
}

/* `response.failed`, with the next number of the sequence (B41). The codes are those of the API. */
static enum acog_code write_responses(const struct acog_exchange *exchange,
                                      const struct acog_exchange_attempt *attempt,
                                      const struct acog_exchange_error *error,
                                      struct acog_buffer *out)
{
    bool limited = error->class == ACOG_CLASS_THROTTLED;
    enum acog_code code = acog_buffer_format(
        out,
        "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":%lld,"
        "\"response\":{\"id\":\"",
        (long long)next_sequence(attempt));
    if (code == ACOG_OK) {
        code = write_id(exchange, attempt, "resp_", out);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_format(
            out,
            "\",\"object\":\"response\",\"created_at\":%lld,\"status\":\"failed\",\"error\":{"
            "\"code\":\"%s\",\"message\":\"",
            (long long)(exchange->start.unix_ms / 1000),
            limited ? "rate_limit_exceeded" : "server_error");
    }
    if (code == ACOG_OK) {
        code = acog_exchange_write_message(error, out);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(
            out, ACOG_VIEW("\"},\"incomplete_details\":null,\"instructions\":null,\"metadata\":{},"
                           "\"output\":[],\"parallel_tool_calls\":true,\"temperature\":null,"
                           "\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":null,\"model\":\""));
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append_json(out, answering_model(attempt));
    }
    return code == ACOG_OK ? acog_buffer_append(out, ACOG_VIEW("\"}}\n\n")) : code;
}

enum acog_code acog_exchange_write_chunk_head(const struct acog_exchange *exchange,
                                              const struct acog_exchange_attempt *attempt,
                                              struct acog_buffer *out)
{
    enum acog_code code = acog_buffer_append(out, ACOG_VIEW("data: {\"id\":\""));
    if (code == ACOG_OK) {
        code = write_id(exchange, attempt, "chatcmpl-", out);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_format(
            out, "\",\"object\":\"chat.completion.chunk\",\"created\":%lld,\"model\":\"",
            (long long)(exchange->start.unix_ms / 1000));
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append_json(out, answering_model(attempt));
    }
    return code == ACOG_OK ? acog_buffer_append(out, ACOG_VIEW("\",\"choices\":")) : code;
}

/* A last chat frame that finishes with "error" (S2.41). */
static enum acog_code write_finish_error(const struct acog_exchange *exchange,
                                         const struct acog_exchange_attempt *attempt,
                                         struct acog_buffer *out)
{
    enum acog_code code = acog_exchange_write_chunk_head(exchange, attempt, out);
    return code == ACOG_OK
               ? acog_buffer_append(out, ACOG_VIEW("[{\"index\":0,\"delta\":{},"
                                                   "\"finish_reason\":\"error\"}]}\n\n"))
               : code;
}

static enum acog_code write_frame(const struct acog_exchange *exchange,
                                  const struct acog_exchange_attempt *attempt,
                                  enum acog_stream_end end, const struct acog_exchange_error *error,
                                  struct acog_buffer *out)
{
    switch (exchange->client.dialect) {
    case ACOG_DIALECT_MESSAGES:
        return write_messages(exchange, error, out);
    case ACOG_DIALECT_RESPONSES:
        return write_responses(exchange, attempt, error, out);
    case ACOG_DIALECT_CHAT:
    case ACOG_DIALECT_GEMINI:
    case ACOG_DIALECT_COUNT:
        break;
    }
    if (end == ACOG_STREAM_END_FINISH_ERROR) {
        return write_finish_error(exchange, attempt, out);
    }
    enum acog_code code = write_chat(exchange, error, out);
    return code == ACOG_OK && end == ACOG_STREAM_END_EVENT_AND_DONE
               ? acog_buffer_append(out, ACOG_VIEW("data: [DONE]\n\n"))
               : code;
}

/* The upstream's own error event, where there is one in the client's dialect that tells no secret. */
static struct acog_view own_event(const struct acog_exchange *exchange,
                                  const struct acog_exchange_attempt *attempt)
{
    struct acog_view event = exchange->last_words.event;
    bool foreign = acog_exchange_is_translated(attempt);
    return foreign || acog_exchange_tells_secret(
                          acog_exchange_connection(exchange, attempt->candidate), event)
               ? (struct acog_view){0}
               : event;
}

void acog_exchange_end_broken(struct acog_exchange *exchange,
                              const struct acog_exchange_attempt *attempt, bool lost)
{
    const struct acog_stream_error *row =
        &exchange->snapshot->policy.stream_errors[exchange->client.dialect];
    enum acog_stream_end end = lost ? row->on_lost : row->on_event;
    struct acog_exchange_error error;
    acog_exchange_error_of_stream(exchange, lost, &error);
    exchange->record.error_code = error.code;
    struct acog_view event = own_event(exchange, attempt);
    if (end == ACOG_STREAM_END_CLOSE || !attempt->order.stream) {
        acog_exchange_push_abort(exchange); /* half of a JSON text has no legal end either */
        return;
    }
    acog_buffer_clear(&exchange->text, ACOG_EXCHANGE_KEPT_BYTES);
    /* The CANCEL that is queued before these bytes gives up the upstream's memory, in which the event lies. */
    bool verbatim = end == ACOG_STREAM_END_VERBATIM && event.len > 0;
    enum acog_code code = verbatim ? acog_buffer_append(&exchange->text, event)
                                   : write_frame(exchange, attempt, end, &error, &exchange->text);
    if (code != ACOG_OK) {
        acog_exchange_push_abort(exchange);
        return;
    }
    acog_exchange_push_data(exchange, acog_buffer_view(&exchange->text));
    acog_exchange_push_end(exchange);
}
