/* reply.c - the head of the reply: whose answer it is, in the policy's header names (D13), and what every reply says.
 *
 * Nothing of an upstream's head goes down. A value that could break a header line is written with '?' for what
 * is not visible ASCII: model ids and connection names may hold anything.
 */
#include "acog/contract.h"
#include "state.h"

#define VALUE_MAX ((size_t)256)

/* -- values ---------------------------------------------------------------------------------------- */

static bool is_plain(char c)
{
    return c > 0x20 && c < 0x7f;
}

/* Empty when there is no memory for it. */
static struct acog_view sane(struct acog_exchange *exchange, struct acog_view value)
{
    size_t at = 0;
    value = acog_view_trim(acog_view_slice(value, 0, VALUE_MAX));
    while (at < value.len && (is_plain(value.ptr[at]) || value.ptr[at] == ' ')) {
        at++;
    }
    if (at == value.len) {
        return value;
    }
    char *copy = acog_exchange_take_text(exchange, value.len);
    for (size_t i = 0; i < value.len && copy != NULL; i++) {
        bool keep = is_plain(value.ptr[i]) || value.ptr[i] == ' ';
        copy[i] = '?';
        if (keep) {
            copy[i] = value.ptr[i];
        }
    }
    return copy == NULL ? (struct acog_view){0} : (struct acog_view){.ptr = copy, .len = value.len};
}

static struct acog_view digits(struct acog_exchange *exchange, uint64_t number)
{
    char *text = acog_exchange_take_text(exchange, ACOG_DIGITS_MAX);
    return text == NULL ? (struct acog_view){0} : acog_view_from_u64(number, text);
}

/* -- rows ------------------------------------------------------------------------------------------ */

/* The first row of a name counts; an empty value is no row. */
static void add(struct acog_exchange *exchange, struct acog_view name, struct acog_view value)
{
    if (value.len == 0 || exchange->reply_row_count == ACOG_EXCHANGE_HEADERS_MAX ||
        acog_header_find(exchange->reply_rows, exchange->reply_row_count, name).ptr != NULL) {
        return;
    }
    exchange->reply_rows[exchange->reply_row_count] =
        (struct acog_header_row){.name = name, .value = value};
    exchange->reply_row_count++;
}

/* What a reply can say of itself. */
struct said {
    const struct acog_attempt_row *row; /* the attempt that answered or failed last; NULL: none */
    const struct acog_exchange_attempt *attempt; /* NULL: gone, or none */
    const struct acog_exchange_error *error;     /* NULL: it is an answer */
};

static struct acog_view error_origin(const struct acog_exchange_error *error)
{
    if (error->by_class) {
        return error->class == ACOG_CLASS_THROTTLED ? ACOG_VIEW("upstream_quota")
                                                    : ACOG_VIEW("upstream");
    }
    switch (error->condition) {
    case ACOG_CONDITION_EXHAUSTED:
    case ACOG_CONDITION_EXHAUSTED_BY_TIME:
        return ACOG_VIEW("upstream");
    case ACOG_CONDITION_ACCESS:
    case ACOG_CONDITION_DLP:
    case ACOG_CONDITION_ORIGIN:
        return ACOG_VIEW("authorization");
    case ACOG_CONDITION_POLICY_ERROR:
    case ACOG_CONDITION_INTERNAL:
        return ACOG_VIEW("gateway_infrastructure");
    case ACOG_CONDITION_UNKNOWN_MODEL:
    case ACOG_CONDITION_PIN_UNKNOWN:
    case ACOG_CONDITION_PIN_UNMET:
    case ACOG_CONDITION_DIALECT:
    case ACOG_CONDITION_NOT_USABLE:
    case ACOG_CONDITION_FILTERED:
    case ACOG_CONDITION_ALL_OPEN:
    case ACOG_CONDITION_OVERLOADED:
    case ACOG_CONDITION_CHOICES:
    case ACOG_CONDITION_INVALID_REQUEST:
    case ACOG_CONDITION_TOO_LARGE:
    case ACOG_CONDITION_HEAD_TOO_LARGE:
    case ACOG_CONDITION_TOO_SLOW:
    case ACOG_CONDITION_UNKNOWN_PATH:
    case ACOG_CONDITION_METHOD:
    case ACOG_CONDITION_MEDIA_TYPE:
    case ACOG_CONDITION_COUNT:
        break;
    }
    return ACOG_VIEW("gateway_admission");
}

struct acog_view acog_exchange_fallback_word(enum acog_fallback fallback)
{
    switch (fallback) {
    case ACOG_FALLBACK_NONE:
        break;
    case ACOG_FALLBACK_APPLIED:
        return ACOG_VIEW("applied");
    case ACOG_FALLBACK_SKIPPED:
        return ACOG_VIEW("skipped");
    case ACOG_FALLBACK_UNAVAILABLE:
        return ACOG_VIEW("unavailable");
    }
    return (struct acog_view){0};
}

static struct acog_view first_output_ms(struct acog_exchange *exchange,
                                        const struct acog_attempt_row *row)
{
    return row == NULL || row->first_output_at_ms < row->dispatched_at_ms
               ? (struct acog_view){0}
               : digits(exchange, (uint64_t)(row->first_output_at_ms - row->dispatched_at_ms));
}

static bool is_closed(const struct acog_exchange *exchange)
{
    const struct acog_dedicated *endpoint = exchange->client.facts.dedicated;
    return endpoint != NULL && endpoint->closed;
}

/* Who served. A closed endpoint names the gateway's policy, whichever route it was (S0.18). */
static struct acog_view connection_word(struct acog_exchange *exchange,
                                        const struct acog_connection *connection)
{
    return sane(exchange, is_closed(exchange) ? exchange->snapshot->policy.name : connection->id);
}

static struct acog_view model_word(struct acog_exchange *exchange,
                                   const struct acog_response_header *header,
                                   const struct acog_attempt_row *row)
{
    bool same = acog_view_equal(row->model, exchange->client.read.model);
    return is_closed(exchange) || (header->only_when_differs && same) ? (struct acog_view){0}
                                                                      : sane(exchange, row->model);
}

/* What belongs to a dedicated endpoint (S0.69, S0.70). */
static struct acog_view dedicated_value(struct acog_exchange *exchange, enum acog_header_fact fact,
                                        const struct acog_connection *connection)
{
    const struct acog_dedicated *endpoint = exchange->client.facts.dedicated;
    if (endpoint == NULL || exchange->phase != ACOG_EXCHANGE_ROUTED) {
        return (struct acog_view){0};
    }
    if (fact == ACOG_FACT_DEDICATED_ENDPOINT) {
        return sane(exchange, endpoint->name);
    }
    if (fact == ACOG_FACT_QUEUE_MS) {
        return endpoint->pace_ms == 0 ? (struct acog_view){0}
                                      : digits(exchange, (uint64_t)exchange->request.queue_ms);
    }
    if (connection == NULL) {
        return (struct acog_view){0};
    }
    return acog_view_equal(connection->reserved_for, endpoint->name) ? ACOG_VIEW("primary")
                                                                     : ACOG_VIEW("fallback");
}

/* What only a failure tells. */
static struct acog_view error_value(struct acog_exchange *exchange, enum acog_header_fact fact,
                                    const struct acog_exchange_error *error)
{
    if (fact == ACOG_FACT_ERROR_CLASS) {
        return sane(exchange, error->code);
    }
    if (fact == ACOG_FACT_ERROR_ORIGIN) {
        return error_origin(error);
    }
    if (fact == ACOG_FACT_LIMIT_KIND) {
        bool open = !error->by_class && error->condition == ACOG_CONDITION_ALL_OPEN;
        return open ? ACOG_VIEW("health") : ACOG_VIEW("");
    }
    if (!error->by_class) {
        return (struct acog_view){0};
    }
    return exchange->snapshot->policy.classes[error->class].retryable ? ACOG_VIEW("true")
                                                                      : ACOG_VIEW("false");
}

/* The value of a fact; empty: there is none to tell. */
static struct acog_view fact_value(struct acog_exchange *exchange,
                                   const struct acog_response_header *header,
                                   const struct said *said)
{
    const struct acog_request *request = &exchange->request;
    const struct acog_attempt_row *row = said->row;
    const struct acog_connection *connection =
        row == NULL ? NULL : acog_exchange_connection(exchange, row->candidate);
    switch (header->fact) {
    case ACOG_FACT_REQUEST_ID:
    case ACOG_FACT_PLAN_ID: /* one plan a request: they share the id */
        return exchange->record.request_id;
    case ACOG_FACT_CONNECTION:
        return connection == NULL ? ACOG_VIEW("") : connection_word(exchange, connection);
    case ACOG_FACT_CHANNEL:
        return connection == NULL || is_closed(exchange)
                   ? ACOG_VIEW("")
                   : acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel);
    case ACOG_FACT_UPSTREAM_MODEL:
    case ACOG_FACT_RESOLVED_MODEL:
        return row == NULL ? ACOG_VIEW("") : model_word(exchange, header, row);
    case ACOG_FACT_ATTEMPTS:
        return exchange->phase == ACOG_EXCHANGE_ROUTED ? digits(exchange, request->attempt_count)
                                                       : ACOG_VIEW("");
    case ACOG_FACT_UPSTREAM_STATUS: {
        unsigned status = said->error != NULL ? said->error->upstream_status
                          : row != NULL       ? row->status
                                              : 0;
        return status == 0 ? ACOG_VIEW("") : digits(exchange, status);
    }
    case ACOG_FACT_DROPPED_PARAMS:
        return said->attempt == NULL ? ACOG_VIEW("") : sane(exchange, said->attempt->dropped);
    case ACOG_FACT_ERROR_CLASS:
    case ACOG_FACT_ERROR_ORIGIN:
    case ACOG_FACT_LIMIT_KIND:
    case ACOG_FACT_RETRYABLE:
        return said->error == NULL ? ACOG_VIEW("")
                                   : error_value(exchange, header->fact, said->error);
    case ACOG_FACT_POLICY_FALLBACK:
        return acog_exchange_fallback_word(request->fallback);
    case ACOG_FACT_FALLBACK_REASON:
        return sane(exchange, request->fallback_reason);
    case ACOG_FACT_FIRST_OUTPUT_MS:
        return first_output_ms(exchange, row);
    case ACOG_FACT_DEDICATED_ENDPOINT:
    case ACOG_FACT_ROUTE_ROLE:
    case ACOG_FACT_QUEUE_MS:
        return dedicated_value(exchange, header->fact, connection);
    case ACOG_FACT_SERVED_BY:
        return said->attempt == NULL || is_closed(exchange)
                   ? ACOG_VIEW("")
                   : sane(exchange, said->attempt->served_by);
    }
    return (struct acog_view){0};
}

static void begin(struct acog_exchange *exchange, struct acog_view content_type,
                  const struct said *said)
{
    const struct acog_policy *policy = &exchange->snapshot->policy;
    exchange->reply_row_count = 0;
    add(exchange, ACOG_VIEW("content-type"), content_type);
    add(exchange, ACOG_VIEW("x-request-id"), exchange->record.request_id);
    if (exchange->client.dialect == ACOG_DIALECT_MESSAGES) {
        add(exchange, ACOG_VIEW("request-id"), exchange->record.request_id);
    }
    for (size_t i = 0; i < policy->response_header_count && said != NULL; i++) {
        const struct acog_response_header *header = &policy->response_headers[i];
        if (said->error != NULL || !header->only_on_error) {
            add(exchange, header->name, fact_value(exchange, header, said));
        }
    }
}

/* -- replies --------------------------------------------------------------------------------------- */

static const struct acog_attempt_row *attempt_row(const struct acog_exchange *exchange,
                                                  uint32_t number)
{
    return number == 0 || number > exchange->request.attempt_count
               ? NULL
               : &exchange->request.attempts[number - 1];
}

void acog_exchange_reply_attempt(struct acog_exchange *exchange,
                                 const struct acog_exchange_attempt *attempt,
                                 int64_t content_length)
{
    struct said said = {.row = attempt_row(exchange, attempt->number), .attempt = attempt};
    bool stream = attempt->order.stream;
    begin(exchange, stream ? ACOG_VIEW("text/event-stream") : ACOG_VIEW("application/json"), &said);
    if (stream) {
        add(exchange, ACOG_VIEW("cache-control"), ACOG_VIEW("no-cache"));
        add(exchange, ACOG_VIEW("x-accel-buffering"), ACOG_VIEW("no"));
    }
    acog_exchange_push_head(exchange, attempt->status, content_length);
}

/* A body that is all there; a HEAD request gets its length alone. */
static void send_whole(struct acog_exchange *exchange, unsigned status, struct acog_view body)
{
    acog_exchange_push_head(exchange, status, (int64_t)body.len);
    if (!acog_view_equal(exchange->start.method, ACOG_VIEW("HEAD"))) {
        acog_exchange_push_data(exchange, body);
    }
    acog_exchange_push_end(exchange);
}

void acog_exchange_reply_here(struct acog_exchange *exchange, unsigned status)
{
    begin(exchange, ACOG_VIEW("application/json"), NULL);
    send_whole(exchange, status, acog_buffer_view(&exchange->text));
}

static struct acog_view error_body(struct acog_exchange *exchange,
                                   const struct acog_exchange_error *error)
{
    acog_buffer_clear(&exchange->text, ACOG_EXCHANGE_KEPT_BYTES);
    enum acog_code code = acog_exchange_write_error(exchange->client.dialect, error,
                                                    exchange->record.request_id, &exchange->text);
    return code == ACOG_OK ? acog_buffer_view(&exchange->text)
                           : acog_exchange_error_constant(exchange->client.dialect);
}

void acog_exchange_reply_error(struct acog_exchange *exchange,
                               const struct acog_exchange_error *error)
{
    struct said said = {.row = attempt_row(exchange, error->attempt), .error = error};
    bool verbatim = error->body.len > 0;
    struct acog_view body = verbatim ? error->body : error_body(exchange, error);
    struct acog_view content_type = verbatim ? sane(exchange, error->content_type) : ACOG_VIEW("");
    exchange->record.error_code = error->code;
    begin(exchange, content_type.len > 0 ? content_type : ACOG_VIEW("application/json"), &said);
    if (error->retry_after_ms >= 0) {
        /* Digits only (B69), and never a moment too early. */
        add(exchange, ACOG_VIEW("retry-after"),
            digits(exchange, ((uint64_t)error->retry_after_ms + 999) / 1000));
    }
    for (size_t i = 0; i < error->header_count; i++) {
        add(exchange, error->headers[i].name, sane(exchange, error->headers[i].value));
    }
    send_whole(exchange, error->status, body);
}
