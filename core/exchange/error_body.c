/* error_body.c - the one place for what the gateway says when it does not answer: which status, code, type and words,
 * from the policy's rows, in the client's dialect.
 *
 * OpenAI     {"error":{"message","type","param","code"},"request_id"}
 * Anthropic  {"type":"error","error":{"type","message","code"},"request_id"}
 * or the policy's `error_body` for the dialect.
 *
 * The types are the providers' own, by status, because SDKs choose exception and retry by status and type; the
 * gateway's own word is `code`. A provider's text is relayed only where the policy says so, never when it tells
 * a secret of the connection (B109).
 */
#include "acog/contract.h"
#include "acog/utf8.h"
#include "state.h"

#define SECRET_RUN_BYTES ((size_t)8) /* so many bytes of a secret in a row are a leak */
#define DETAIL_MAX       ((size_t)512)
#define TYPE_MAX         ((size_t)64)

/* Behind the code: what Anthropic's SDKs read when a thread is refused, to send all messages instead. */
#define THREAD_REFUSED ACOG_VIEW("\",\"details\":{\"error_code\":\"thread_unsupported_request\"}}")

/* -- texts by class -------------------------------------------------------------------------------- */

/* What a class says when the policy gives it no words. */
static const char *const class_texts[ACOG_CLASS_COUNT] = {
    [ACOG_CLASS_NETWORK] = "The provider could not be reached.",
    [ACOG_CLASS_TIMEOUT_CONNECT] = "The provider could not be reached in time.",
    [ACOG_CLASS_TIMEOUT_HEADERS] = "The provider did not answer in time.",
    [ACOG_CLASS_TIMEOUT_FIRST_EVENT] = "The provider did not begin its answer in time.",
    [ACOG_CLASS_TIMEOUT_FIRST_OUTPUT] = "The provider did not begin its answer in time.",
    [ACOG_CLASS_TIMEOUT_FULL] = "The provider did not finish its answer in time.",
    [ACOG_CLASS_STATUS_408] = "The provider timed out.",
    [ACOG_CLASS_THROTTLED] = "The provider is limiting requests. Retry in a moment.",
    [ACOG_CLASS_OVERLOADED] = "The provider is overloaded. Retry in a moment.",
    [ACOG_CLASS_AUTH] = "The provider did not accept the gateway's credentials.",
    [ACOG_CLASS_NOT_FOUND] = "The provider does not know what was asked for.",
    [ACOG_CLASS_CANNOT_SERVE] = "The provider cannot serve this model at this time.",
    [ACOG_CLASS_CONFLICT] = "The provider reports a conflict.",
    [ACOG_CLASS_SERVER_ERROR] = "The provider failed.",
    [ACOG_CLASS_BAD_ANSWER] = "The provider's answer could not be read.",
    [ACOG_CLASS_STREAM_ERROR_FIRST] = "The provider answered with an error.",
    [ACOG_CLASS_CONTEXT_OVERFLOW] = "The request is longer than the model's context.",
    [ACOG_CLASS_REFUSAL] = "The provider's safety system refused the request.",
    [ACOG_CLASS_REFUSAL_200] = "The model refused the request.",
    [ACOG_CLASS_INVALID_REQUEST] = "The provider did not accept the request.",
    [ACOG_CLASS_NOT_USABLE] = "The connection may not be used at this time.",
    [ACOG_CLASS_CLIENT_CANCEL] = "The request was cancelled.",
    [ACOG_CLASS_DIED_AFTER_COMMIT] = "The answer was cut off.",
    [ACOG_CLASS_GATEWAY] = "The gateway could not read the provider's answer.",
};

/* -- secrets --------------------------------------------------------------------------------------- */

bool acog_exchange_tells_secret(const struct acog_connection *connection, struct acog_view text)
{
    struct acog_view key = connection->key;
    if (key.len < SECRET_RUN_BYTES) {
        return key.len > 0 && acog_view_find(text, key) < text.len;
    }
    for (size_t i = 0; i + SECRET_RUN_BYTES <= key.len; i++) {
        struct acog_view part = acog_view_slice(key, i, i + SECRET_RUN_BYTES);
        if (acog_view_find(text, part) < text.len) {
            return true;
        }
    }
    for (size_t i = 0; i < connection->header_count; i++) {
        /* A header of the connection may be its credential; a short value says nothing. */
        struct acog_view value = connection->headers[i].value;
        if (value.len >= 2 * SECRET_RUN_BYTES && acog_view_find(text, value) < text.len) {
            return true;
        }
    }
    return false;
}

struct acog_view acog_exchange_cut(struct acog_view text, size_t bytes_max)
{
    size_t end = text.len;
    if (end > bytes_max) {
        end = bytes_max;
        while (end > 0 && ((unsigned char)text.ptr[end] & 0xc0U) == 0x80U) {
            end--;
        }
    }
    return acog_view_slice(text, 0, end);
}

/* -- from the policy's rows ------------------------------------------------------------------------ */

void acog_exchange_error_of_condition(const struct acog_snapshot *snapshot,
                                      enum acog_condition condition,
                                      struct acog_exchange_error *error)
{
    const struct acog_error_row *row = &snapshot->policy.errors[condition];
    *error = (struct acog_exchange_error){.status = row->status,
                                          .code = row->code,
                                          .type = row->type,
                                          .message = row->message,
                                          .overloaded = condition == ACOG_CONDITION_OVERLOADED,
                                          .retry_after_ms = row->retry_after_ms,
                                          .condition = condition,
                                          .headers = row->headers,
                                          .header_count = row->header_count,
                                          .bodies = snapshot->policy.error_bodies};
}

/* Whether a provider's status may be told to clients: 999 is none of HTTP. */
static bool is_error_status(unsigned status)
{
    return status >= 400 && status <= 599;
}

static void error_of_class(const struct acog_snapshot *snapshot,
                           const struct acog_error_answer *answer,
                           struct acog_exchange_error *error)
{
    const struct acog_class_row *row = &snapshot->policy.classes[answer->class];
    unsigned upstream = is_error_status(answer->upstream_status) ? answer->upstream_status : 502;
    *error = (struct acog_exchange_error){
        .status = row->status == 0 ? upstream : row->status,
        .code = row->export_name.len > 0 ? row->export_name
                                         : acog_name(ACOG_VOCABULARY_CLASS, (int)answer->class),
        .type = row->type,
        .message = row->message.len > 0 ? row->message : acog_view_of(class_texts[answer->class]),
        .overloaded = answer->class == ACOG_CLASS_OVERLOADED,
        .by_class = true,
        .class = answer->class,
        .bodies = snapshot->policy.error_bodies,
    };
}

/* The provider's own words, where the policy lets them through and they are fit to be told. */
static void relay(const struct acog_exchange *exchange, const struct acog_error_answer *answer,
                  struct acog_exchange_error *error)
{
    const struct acog_exchange_last_words *words = &exchange->last_words;
    if (answer->relay == ACOG_RELAY_OWN || answer->attempt == 0 ||
        words->attempt != answer->attempt) {
        return;
    }
    const struct acog_connection *connection = acog_exchange_connection(exchange, words->candidate);
    struct acog_view body = acog_buffer_view(&words->body);
    if (answer->relay == ACOG_RELAY_VERBATIM && body.len > 0 &&
        is_error_status(answer->upstream_status)) {
        if (!acog_exchange_tells_secret(connection, body)) {
            error->status = answer->upstream_status;
            error->body = body;
            error->content_type = words->content_type;
        }
        return;
    }
    if (words->message.len > 0 && !acog_exchange_tells_secret(connection, words->message)) {
        error->message = words->message;
        error->relayed = true;
    }
}

static struct acog_view channel_of(const struct acog_exchange *exchange, uint32_t attempt)
{
    if (attempt > 0 && attempt <= exchange->request.attempt_count) {
        uint16_t candidate = exchange->request.attempts[attempt - 1].candidate;
        return acog_name(ACOG_VOCABULARY_CHANNEL,
                         (int)acog_exchange_connection(exchange, candidate)->channel);
    }
    return exchange->client.facts.pin_count > 0 ? exchange->client.facts.pins[0]
                                                : (struct acog_view){0};
}

/* Whose failure an answer tells; 0: it is the gateway's own. */
static uint32_t failed_attempt(const struct acog_exchange *exchange,
                               const struct acog_error_answer *answer)
{
    bool failed = answer->by_class || answer->condition == ACOG_CONDITION_EXHAUSTED ||
                  answer->condition == ACOG_CONDITION_EXHAUSTED_BY_TIME;
    return failed ? (uint32_t)exchange->request.attempt_count : 0;
}

void acog_exchange_error_of_answer(const struct acog_exchange *exchange,
                                   const struct acog_error_answer *answer,
                                   struct acog_exchange_error *error)
{
    if (answer->by_class) {
        error_of_class(exchange->snapshot, answer, error);
    } else {
        acog_exchange_error_of_condition(exchange->snapshot, answer->condition, error);
    }
    error->retry_after_ms = answer->retry_after_ms;
    error->attempt = failed_attempt(exchange, answer);
    error->upstream_status = answer->upstream_status;
    error->thread_refused = !answer->by_class && exchange->client.read.threaded &&
                            answer->condition == ACOG_CONDITION_INVALID_REQUEST;
    error->words = (struct acog_exchange_words){.model = exchange->client.read.model,
                                                .channel = channel_of(exchange, error->attempt),
                                                .detail = answer->detail};
    relay(exchange, answer, error);
}

void acog_exchange_error_of_stream(const struct acog_exchange *exchange, bool lost,
                                   struct acog_exchange_error *error)
{
    const struct acog_exchange_last_words *words = &exchange->last_words;
    enum acog_failure_class class = exchange->request.last_class;
    const struct acog_class_row *row = &exchange->snapshot->policy.classes[class];
    struct acog_view text =
        lost ? ACOG_VIEW("The answer was cut off: the connection to the provider was lost or "
                         "fell silent.")
             : ACOG_VIEW("The answer was cut off: the provider reported an error.");
    *error = (struct acog_exchange_error){
        .status = lost ? 502 : 500,
        .code = row->export_name.len > 0 ? row->export_name : ACOG_VIEW("upstream_error"),
        .type = row->type,
        .message = row->message.len > 0 ? row->message : text,
        .by_class = true,
        .class = class,
        .retry_after_ms = -1,
        .bodies = exchange->snapshot->policy.error_bodies,
        .words = {.model = exchange->client.read.model},
    };
    if (lost || words->attempt != exchange->live) {
        return;
    }
    if (error->type.len == 0 && acog_exchange_sane_token(words->type, TYPE_MAX)) {
        error->type = words->type; /* of the same dialect: the SDK knows it (B57) */
    }
    if (row->relay != ACOG_RELAY_OWN && words->message.len > 0 &&
        !acog_exchange_tells_secret(acog_exchange_connection(exchange, words->candidate),
                                    words->message)) {
        error->message = words->message;
        error->relayed = true;
    }
}

/* -- native types ---------------------------------------------------------------------------------- */

static struct acog_view anthropic_type(unsigned status, bool overloaded)
{
    if (overloaded) {
        return ACOG_VIEW("overloaded_error");
    }
    switch (status) {
    case 401:
        return ACOG_VIEW("authentication_error");
    case 402:
        return ACOG_VIEW("billing_error");
    case 403:
        return ACOG_VIEW("permission_error");
    case 404:
        return ACOG_VIEW("not_found_error");
    case 413:
        return ACOG_VIEW("request_too_large");
    case 429:
        return ACOG_VIEW("rate_limit_error");
    case 408:
    case 504:
        return ACOG_VIEW("timeout_error");
    case 529:
        return ACOG_VIEW("overloaded_error");
    default:
        return status < 500 ? ACOG_VIEW("invalid_request_error") : ACOG_VIEW("api_error");
    }
}

static struct acog_view openai_type(unsigned status)
{
    switch (status) {
    case 401:
        return ACOG_VIEW("authentication_error");
    case 403:
        return ACOG_VIEW("permission_error");
    case 429:
        return ACOG_VIEW("rate_limit_error");
    default:
        return status < 500 ? ACOG_VIEW("invalid_request_error") : ACOG_VIEW("server_error");
    }
}

struct acog_view acog_exchange_error_type(enum acog_dialect dialect,
                                          const struct acog_exchange_error *error)
{
    if (error->type.len > 0) {
        return error->type;
    }
    return dialect == ACOG_DIALECT_MESSAGES ? anthropic_type(error->status, error->overloaded)
                                            : openai_type(error->status);
}

/* -- writing --------------------------------------------------------------------------------------- */

/* The word at the start of `text`; *used says how long its name is. False: it is none. */
static bool word_at(struct acog_view text, const struct acog_exchange_words *words,
                    struct acog_view *word, size_t *used)
{
    const struct {
        struct acog_view name;
        struct acog_view word;
    } known[] = {
        {ACOG_VIEW("%{model}"), acog_exchange_cut(words->model, ACOG_EXCHANGE_MODEL_MAX)},
        {ACOG_VIEW("%{channel}"), acog_exchange_cut(words->channel, ACOG_EXCHANGE_MODEL_MAX)},
        {ACOG_VIEW("%{detail}"), acog_exchange_cut(words->detail, DETAIL_MAX)},
        {ACOG_VIEW("%{alternatives}"),
         words->alternatives.len > 0 ? words->alternatives : ACOG_VIEW("none at this time")},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (acog_view_starts(text, known[i].name)) {
            *word = known[i].word;
            *used = known[i].name.len;
            return true;
        }
    }
    return false;
}

static enum acog_code write_template(struct acog_view text, const struct acog_exchange_words *words,
                                     struct acog_buffer *out)
{
    enum acog_code code = ACOG_OK;
    while (text.len > 0 && code == ACOG_OK) {
        struct acog_view word = {0};
        size_t used = 0;
        if (word_at(text, words, &word, &used)) {
            code = acog_buffer_append_json(out, word);
        } else {
            used = 1 + acog_view_find(acog_view_slice(text, 1, text.len), ACOG_VIEW("%{"));
            code = acog_buffer_append_json(out, acog_view_slice(text, 0, used));
        }
        text = acog_view_slice(text, used, text.len);
    }
    return code;
}

enum acog_code acog_exchange_write_message(const struct acog_exchange_error *error,
                                           struct acog_buffer *out)
{
    return error->relayed ? acog_buffer_append_json(out, error->message)
                          : write_template(error->message, &error->words, out);
}

enum acog_code acog_exchange_write_parts(struct acog_buffer *out, const struct acog_view *parts,
                                         size_t count)
{
    enum acog_code code = ACOG_OK;
    for (size_t i = 0; i < count && code == ACOG_OK; i++) {
        code =
            i % 2 == 0 ? acog_buffer_append(out, parts[i]) : acog_buffer_append_json(out, parts[i]);
    }
    return code;
}

/* The policy's own form: its JSON with the words filled in. */
static enum acog_code write_body(struct acog_view body, struct acog_view type,
                                 const struct acog_exchange_error *error,
                                 struct acog_view request_id, struct acog_buffer *out)
{
    enum acog_code code = ACOG_OK;
    while (body.len > 0 && code == ACOG_OK) {
        size_t at = acog_view_find(body, ACOG_VIEW("%{"));
        code = acog_buffer_append(out, acog_view_slice(body, 0, at));
        body = acog_view_slice(body, at, body.len);
        size_t used = acog_view_find(body, ACOG_VIEW("}")) + 1;
        struct acog_view word = acog_view_slice(body, 0, used);
        body = acog_view_slice(body, used, body.len);
        if (code != ACOG_OK || word.len == 0) {
            return code;
        }
        if (acog_view_equal(word, ACOG_VIEW("%{message}"))) {
            code = acog_exchange_write_message(error, out);
        } else if (acog_view_equal(word, ACOG_VIEW("%{code}"))) {
            code = acog_buffer_append_json(out, error->code);
        } else if (acog_view_equal(word, ACOG_VIEW("%{type}"))) {
            code = acog_buffer_append_json(out, type);
        } else {
            code = acog_buffer_append_json(out, request_id);
        }
    }
    return code;
}

/* Where the request is wrong: a detail about a place of the body begins with it ("messages[2].content: must be …"). */
static struct acog_view place_of(const struct acog_exchange_error *error)
{
    struct acog_view detail = error->words.detail;
    size_t end = acog_view_find(detail, ACOG_VIEW(": "));
    struct acog_view place = acog_view_slice(detail, 0, end);
    bool named = !error->by_class && error->condition == ACOG_CONDITION_INVALID_REQUEST &&
                 end < detail.len && acog_view_find(place, ACOG_VIEW(" ")) == place.len;
    return named ? place : (struct acog_view){0};
}

enum acog_code acog_exchange_write_error(enum acog_dialect dialect,
                                         const struct acog_exchange_error *error,
                                         struct acog_view request_id, struct acog_buffer *out)
{
    bool anthropic = dialect == ACOG_DIALECT_MESSAGES;
    struct acog_view type = acog_exchange_error_type(dialect, error);
    if (error->bodies != NULL && error->bodies[dialect].len > 0) {
        return write_body(error->bodies[dialect], type, error, request_id, out);
    }
    const struct acog_view before[] = {anthropic
                                           ? ACOG_VIEW("{\"type\":\"error\",\"error\":{\"type\":\"")
                                           : ACOG_VIEW("{\"error\":{\"type\":\""),
                                       type, ACOG_VIEW("\",\"message\":\"")};
    struct acog_view place = anthropic ? (struct acog_view){0} : place_of(error);
    const struct acog_view after[] = {
        anthropic        ? ACOG_VIEW("\"")
        : place.len == 0 ? ACOG_VIEW("\",\"param\":null")
                         : ACOG_VIEW("\",\"param\":\""),
        place,
        place.len == 0 ? ACOG_VIEW(",\"code\":\"") : ACOG_VIEW("\",\"code\":\""),
        error->code,
        anthropic && error->thread_refused ? THREAD_REFUSED : ACOG_VIEW("\"}"),
        ACOG_VIEW(""),
        ACOG_VIEW(",\"request_id\":\""),
        request_id,
        ACOG_VIEW("\"")};
    enum acog_code code = acog_exchange_write_parts(out, before, 3);
    if (code == ACOG_OK) {
        code = acog_exchange_write_message(error, out);
    }
    if (code == ACOG_OK) {
        code = acog_exchange_write_parts(out, after, request_id.len > 0 ? 9 : 5);
    }
    return code == ACOG_OK ? acog_buffer_append(out, ACOG_VIEW("}")) : code;
}

struct acog_view acog_exchange_error_constant(enum acog_dialect dialect)
{
    return dialect == ACOG_DIALECT_MESSAGES
               ? ACOG_VIEW("{\"type\":\"error\",\"error\":{\"type\":\"api_error\","
                           "\"message\":\"The gateway is out of memory.\"}}")
               : ACOG_VIEW("{\"error\":{\"message\":\"The gateway is out of memory.\","
                           "\"type\":\"server_error\",\"param\":null,\"code\":\"overloaded\"}}");
}

/* -- for the server -------------------------------------------------------------------------------- */

size_t acog_exchange_id_rows(struct acog_view target, struct acog_view request_id,
                             struct acog_header_row rows[2])
{
    struct acog_view path = acog_view_slice(target, 0, acog_view_find(target, ACOG_VIEW("?")));
    rows[0] = (struct acog_header_row){ACOG_VIEW("x-request-id"), request_id};
    rows[1] = (struct acog_header_row){ACOG_VIEW("request-id"), request_id};
    return acog_exchange_path_dialect(path) == ACOG_DIALECT_MESSAGES ? 2 : 1;
}

unsigned acog_exchange_error_body(const struct acog_snapshot *snapshot,
                                  enum acog_condition condition, struct acog_view target,
                                  struct acog_view detail, struct acog_view request_id,
                                  struct acog_buffer *out)
{
    struct acog_view path = acog_view_slice(target, 0, acog_view_find(target, ACOG_VIEW("?")));
    enum acog_dialect dialect = acog_exchange_path_dialect(path);
    struct acog_exchange_error error;
    acog_exchange_error_of_condition(snapshot, condition, &error);
    error.words.detail = detail;
    size_t before = out->len;
    if (acog_exchange_write_error(dialect, &error, request_id, out) != ACOG_OK) {
        out->len = before;
        /* When this fails too the answer has no body, and its status says enough. */
        enum acog_code code = acog_buffer_append(out, acog_exchange_error_constant(dialect));
        out->len = code == ACOG_OK ? out->len : before;
    }
    return error.status;
}
