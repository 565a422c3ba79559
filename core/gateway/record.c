/* record.c - one line a request: names, numbers and codes; never what was said. */
#include "record.h"

#include "acog/contract.h"

#define FIELDS_MAX     32
#define PATH_BYTES_MAX 128

const struct acog_attempt_row *acog_record_attempt(const struct acog_exchange_record *record)
{
    const struct acog_request *request = record->request;
    if (request == NULL || request->attempt_count == 0) {
        return NULL;
    }
    /* A committed attempt is the last one; without one, a kept refusal may have been replayed (S4.29). */
    bool replayed = !request->committed && request->kept_attempt > 0;
    return &request->attempts[(replayed ? request->kept_attempt : request->attempt_count) - 1];
}

int64_t acog_record_first_output_ms(const struct acog_exchange_record *record)
{
    const struct acog_attempt_row *attempt = acog_record_attempt(record);
    if (attempt == NULL || attempt->first_output_at_ms < 0) {
        return -1;
    }
    return attempt->first_output_at_ms - record->started_ms;
}

enum acog_log_level acog_record_level(const struct acog_exchange_record *record)
{
    if (record->status >= 500) {
        return ACOG_LOG_WARNING;
    }
    if (record->request != NULL) {
        enum acog_outcome outcome = record->request->outcome;
        bool bad = outcome == ACOG_OUTCOME_FAILED || outcome == ACOG_OUTCOME_INCOMPLETE;
        return bad ? ACOG_LOG_WARNING : ACOG_LOG_INFO;
    }
    return record->routed || record->status >= 400 ? ACOG_LOG_INFO : ACOG_LOG_DEBUG;
}

struct line {
    struct acog_log_field fields[FIELDS_MAX];
    size_t count;
};

static void add_text(struct line *line, const char *name, struct acog_view text)
{
    ACOG_ASSERT(line->count < FIELDS_MAX);
    if (text.len > 0) {
        line->fields[line->count++] = acog_log_text(name, text);
    }
}

static void add_number(struct line *line, const char *name, int64_t number)
{
    ACOG_ASSERT(line->count < FIELDS_MAX);
    if (number >= 0) { /* -1: not known */
        line->fields[line->count++] = acog_log_number(name, number);
    }
}

/* Without the query, which may hold anything. */
static struct acog_view path_of(struct acog_view target)
{
    struct acog_view path = acog_view_slice(target, 0, acog_view_find(target, ACOG_VIEW("?")));
    return acog_view_slice(path, 0, PATH_BYTES_MAX);
}

static void add_route(struct line *line, const struct acog_exchange_record *record)
{
    const struct acog_attempt_row *attempt = acog_record_attempt(record);
    const struct acog_request *request = record->request;
    if (attempt != NULL) {
        const struct acog_candidate *candidate = &record->snapshot->candidates[attempt->candidate];
        const struct acog_connection *connection =
            &record->snapshot->connections[candidate->connection];
        add_text(line, "connection", connection->id);
        add_text(line, "channel", acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel));
        add_text(line, "sent_model", attempt->model);
        enum acog_dialect dialect = acog_dialect_for(record->surface, connection->dialects);
        if (dialect != ACOG_DIALECT_COUNT && dialect != acog_surface_dialect(record->surface)) {
            add_text(line, "dialect", acog_name(ACOG_VOCABULARY_DIALECT, (int)dialect));
        }
    }
    if (request != NULL) {
        add_number(line, "attempts", (int64_t)request->attempt_count);
        add_text(line, "outcome", acog_name(ACOG_VOCABULARY_OUTCOME, (int)request->outcome));
        if (request->has_failure) {
            add_text(line, "class", acog_name(ACOG_VOCABULARY_CLASS, (int)request->last_class));
        }
    }
}

static void add_sizes(struct line *line, const struct acog_exchange_record *record)
{
    add_number(line, "duration_ms", record->ended_ms - record->started_ms);
    add_number(line, "first_output_ms", acog_record_first_output_ms(record));
    add_number(line, "request_bytes", (int64_t)record->request_bytes);
    add_number(line, "reply_bytes", (int64_t)record->reply_bytes);
    if (record->routed) {
        add_number(line, "input_tokens", record->usage.input_tokens);
        add_number(line, "cached_tokens", record->usage.cached_tokens);
        add_number(line, "output_tokens", record->usage.output_tokens);
        if (record->usage_estimated) {
            line->fields[line->count++] = acog_log_flag("usage_estimated", true);
        }
    }
}

enum acog_code acog_record_line(const struct acog_exchange_record *record,
                                const struct acog_record_context *context, struct acog_buffer *out)
{
    struct line line = {.count = 0};
    add_text(&line, "request_id", record->request_id);
    if (record->routed) {
        add_text(&line, "surface", acog_name(ACOG_VOCABULARY_SURFACE, (int)record->surface));
        line.fields[line.count++] = acog_log_flag("stream", record->stream);
    } else {
        add_text(&line, "path", path_of(context->target));
    }
    add_number(&line, "status", (int64_t)record->status);
    add_text(&line, "model", record->model);
    add_route(&line, record);
    add_text(&line, "why", context->why);
    add_text(&line, "error_code", record->error_code);
    add_sizes(&line, record);
    if (record->snapshot != NULL && record->routed) {
        add_text(&line, "policy", record->snapshot->policy.name);
    }
    return acog_log_line(out, context->unix_ms, acog_record_level(record), "request", line.fields,
                         line.count);
}
