/* record.c - the decision record as JSON: one renderer for explain, tests, /v1/route and the receipts (D16). It tells of
 * each candidate what became of it and why, of each attempt how it went, and nothing of what was asked or answered.
 *
 * {"request_id","model","surface","stream","policy","arrived_at","status","error_code",
 *  "admission_events":[{"status","code"}],                       refused before any attempt (S0.82)
 *  "candidates":[{"connection","channel","model","verdict":"dropped","filter","place","reason"}, …],
 *  "attempts":[{"attempt","connection","channel","model","outcome","usage_provenance","tokens","error_code","class",
 *               "cause","clock","status","dispatched_at", times…}, …],
 *  "committed","committed_ms","answered_by","dropped_params","first_output_ms","ended_ms","outcome","policy_fallback","fallback_reason"}
 *
 * Candidates and attempts that are told in another dialect than the client's have "dialect".
 *
 * Moments that end in _ms are since the arrival. What is not known or did not happen is left out, but for
 * `fallback_reason`, which is "" when nothing moved (S1.22).
 */
#include "acog/time.h"
#include "state.h"

struct record {
    const struct acog_exchange_record *said;
    const struct acog_snapshot *snapshot;
    const struct acog_request *request; /* NULL: it never reached the engine */
    struct acog_buffer *out;
    enum acog_code code; /* the first thing that went wrong; nothing is written after it */
};

/* -- writing --------------------------------------------------------------------------------------- */

static void put(struct record *record, struct acog_view text)
{
    if (record->code == ACOG_OK) {
        record->code = acog_buffer_append(record->out, text);
    }
}

/* Starts a member; `name` comes with its quotes and colon, and the comma before it where one belongs. */
static void put_text(struct record *record, struct acog_view name, struct acog_view text)
{
    put(record, name);
    put(record, ACOG_VIEW("\""));
    if (record->code == ACOG_OK) {
        record->code = acog_buffer_append_json(record->out, text);
    }
    put(record, ACOG_VIEW("\""));
}

static void put_text_if(struct record *record, struct acog_view name, struct acog_view text)
{
    if (text.len > 0) {
        put_text(record, name, text);
    }
}

static void put_number(struct record *record, struct acog_view name, int64_t number)
{
    char digits[ACOG_DIGITS_MAX];
    put(record, name);
    put(record, number < 0 ? ACOG_VIEW("-") : ACOG_VIEW(""));
    put(record, acog_view_from_u64(number < 0 ? 0 - (uint64_t)number : (uint64_t)number, digits));
}

static void put_flag(struct record *record, struct acog_view name, bool flag)
{
    put(record, name);
    put(record, flag ? ACOG_VIEW("true") : ACOG_VIEW("false"));
}

static void put_flag_if(struct record *record, struct acog_view name, bool flag)
{
    if (flag) {
        put_flag(record, name, true);
    }
}

/* Since the request arrived; left out when it never happened. */
static void put_time(struct record *record, struct acog_view name, int64_t at_ms)
{
    if (at_ms >= 0) {
        put_number(record, name, at_ms - record->said->started_ms);
    }
}

/* The same on the wall clock. */
static void put_moment(struct record *record, struct acog_view name, int64_t at_ms)
{
    if (at_ms >= 0) {
        put(record, name);
        put(record, ACOG_VIEW("\""));
        if (record->code == ACOG_OK) {
            record->code = acog_time_append(record->out, record->said->started_unix_ms + at_ms -
                                                             record->said->started_ms);
        }
        put(record, ACOG_VIEW("\""));
    }
}

/* -- parts ----------------------------------------------------------------------------------------- */

static void put_target(struct record *record, uint16_t candidate, struct acog_view model)
{
    const struct acog_candidate *row = &record->snapshot->candidates[candidate];
    const struct acog_connection *connection = &record->snapshot->connections[row->connection];
    put_text(record, ACOG_VIEW("\"connection\":"), connection->id);
    put_text(record, ACOG_VIEW(",\"channel\":"),
             acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel));
    put_text(record, ACOG_VIEW(",\"model\":"), model.len > 0 ? model : row->declared);
    enum acog_dialect dialect = acog_dialect_for(record->said->surface, connection->dialects);
    if (dialect != ACOG_DIALECT_COUNT && dialect != acog_surface_dialect(record->said->surface)) {
        put_text(record, ACOG_VIEW(",\"dialect\":"),
                 acog_name(ACOG_VOCABULARY_DIALECT, (int)dialect));
    }
}

static struct acog_view verdict_word(enum acog_plan_verdict verdict)
{
    switch (verdict) {
    case ACOG_PLAN_KEPT:
        return ACOG_VIEW("not_reached");
    case ACOG_PLAN_DROPPED:
        return ACOG_VIEW("dropped");
    case ACOG_PLAN_TRIED:
        return ACOG_VIEW("tried");
    }
    return (struct acog_view){0};
}

static void put_candidate(struct record *record, const struct acog_plan_row *row)
{
    const struct acog_policy *policy = &record->snapshot->policy;
    put(record, ACOG_VIEW("{"));
    put_target(record, row->candidate, (struct acog_view){0});
    put_text(record, ACOG_VIEW(",\"verdict\":"), verdict_word(row->verdict));
    if (row->verdict == ACOG_PLAN_DROPPED) {
        bool by_filter = row->filter < policy->filter_count;
        put_text(record, ACOG_VIEW(",\"filter\":"),
                 by_filter ? policy->filters[row->filter].name : ACOG_VIEW("dispatch"));
        put_text_if(record, ACOG_VIEW(",\"place\":"),
                    by_filter ? policy->filters[row->filter].place : (struct acog_view){0});
    }
    put_text_if(record, ACOG_VIEW(",\"reason\":"), row->reason);
    put_flag_if(record, ACOG_VIEW(",\"restricted\":"), row->restricted);
    put_flag_if(record, ACOG_VIEW(",\"demoted\":"), row->demoted);
    put_flag_if(record, ACOG_VIEW(",\"would_probe\":"), row->would_probe);
    put_flag_if(record, ACOG_VIEW(",\"floor\":"), row->floor);
    put_flag_if(record, ACOG_VIEW(",\"forced\":"), row->forced);
    put(record, ACOG_VIEW("}"));
}

static void put_token(struct record *record, struct acog_view name, int64_t number, bool *first)
{
    if (number >= 0) {
        put(record, *first ? ACOG_VIEW("") : ACOG_VIEW(","));
        put_number(record, name, number);
        *first = false;
    }
}

/* Only the answer that was given was read for its usage. */
static void put_usage(struct record *record, bool answered)
{
    const struct acog_usage *usage = &record->said->usage;
    bool observed = answered && (usage->input_tokens >= 0 || usage->output_tokens >= 0);
    bool first = true;
    put_text(record, ACOG_VIEW(",\"usage_provenance\":"),
             !observed                       ? ACOG_VIEW("unknown")
             : record->said->usage_estimated ? ACOG_VIEW("estimated")
                                             : ACOG_VIEW("observed"));
    put(record, ACOG_VIEW(",\"tokens\":{"));
    if (observed) {
        put_token(record, ACOG_VIEW("\"input\":"), usage->input_tokens, &first);
        put_token(record, ACOG_VIEW("\"cached\":"), usage->cached_tokens, &first);
        put_token(record, ACOG_VIEW("\"cache_write\":"), usage->cache_write_tokens, &first);
        put_token(record, ACOG_VIEW("\"output\":"), usage->output_tokens, &first);
        put_token(record, ACOG_VIEW("\"reasoning\":"), usage->reasoning_tokens, &first);
    }
    put(record, ACOG_VIEW("}"));
}

/* The number of the attempt whose answer the client got; 0: none. Nothing is sent after the commit, so the committed one
 * is the last; without one, a kept refusal may have been replayed. */
static size_t answering_attempt(const struct acog_request *request)
{
    return request->committed ? request->attempt_count : request->kept_attempt;
}

static void put_failure(struct record *record, const struct acog_attempt_row *row)
{
    put_text(record, ACOG_VIEW(",\"error_code\":"),
             row->failed ? acog_name(ACOG_VOCABULARY_CLASS, (int)row->class) : ACOG_VIEW(""));
    if (row->failed) {
        put_text(record, ACOG_VIEW(",\"class\":"),
                 acog_name(ACOG_VOCABULARY_CLASS, (int)row->class));
        put_text(record, ACOG_VIEW(",\"cause\":"),
                 acog_name(ACOG_VOCABULARY_CAUSE, (int)row->cause));
        if (row->cause == ACOG_CAUSE_CLOCK) {
            put_text(record, ACOG_VIEW(",\"clock\":"),
                     acog_name(ACOG_VOCABULARY_CLOCK, (int)row->clock));
        }
    }
}

static void put_attempt(struct record *record, size_t number)
{
    const struct acog_attempt_row *row = &record->request->attempts[number - 1];
    put_number(record, ACOG_VIEW("{\"attempt\":"), (int64_t)number);
    put(record, ACOG_VIEW(","));
    put_target(record, row->candidate, row->model);
    if (row->ended_at_ms >= 0) {
        put_text(record, ACOG_VIEW(",\"outcome\":"),
                 acog_name(ACOG_VOCABULARY_OUTCOME, (int)row->outcome));
    }
    put_usage(record, number == answering_attempt(record->request));
    put_failure(record, row);
    if (row->status != 0) {
        put_number(record, ACOG_VIEW(",\"status\":"), row->status);
    }
    put_flag_if(record, ACOG_VIEW(",\"resend\":"), row->resend);
    put_flag_if(record, ACOG_VIEW(",\"extra_try\":"), row->extra_try);
    put_flag_if(record, ACOG_VIEW(",\"fallback\":"), row->fallback);
    put_flag_if(record, ACOG_VIEW(",\"probe\":"), row->ticket.probe);
    put_moment(record, ACOG_VIEW(",\"dispatched_at\":"), row->dispatched_at_ms);
    put_time(record, ACOG_VIEW(",\"dispatched_ms\":"), row->dispatched_at_ms);
    put_time(record, ACOG_VIEW(",\"connected_ms\":"), row->connected_at_ms);
    put_time(record, ACOG_VIEW(",\"headers_ms\":"), row->headers_at_ms);
    put_time(record, ACOG_VIEW(",\"first_event_ms\":"), row->first_event_at_ms);
    put_time(record, ACOG_VIEW(",\"first_output_ms\":"), row->first_output_at_ms);
    put_time(record, ACOG_VIEW(",\"ended_ms\":"), row->ended_at_ms);
    put(record, ACOG_VIEW("}"));
}

static unsigned status_of(const struct acog_exchange_record *said)
{
    return said->plan_only ? said->planned_status : said->status;
}

static void put_asked(struct record *record)
{
    const struct acog_exchange_record *said = record->said;
    put_text(record, ACOG_VIEW("\"request_id\":"), said->request_id);
    if (said->routed || said->plan_only) {
        put_text(record, ACOG_VIEW(",\"model\":"), said->model);
        put_text(record, ACOG_VIEW(",\"surface\":"),
                 acog_name(ACOG_VOCABULARY_SURFACE, (int)said->surface));
        put_flag(record, ACOG_VIEW(",\"stream\":"), said->stream);
    }
    put_text(record, ACOG_VIEW(",\"policy\":"), record->snapshot->policy.name);
    put_moment(record, ACOG_VIEW(",\"arrived_at\":"), said->started_ms);
    unsigned status = status_of(said);
    if (status != 0) {
        put_number(record, ACOG_VIEW(",\"status\":"), (int64_t)status);
    }
    put_text_if(record, ACOG_VIEW(",\"error_code\":"), said->error_code);
}

/* S0.82 */
static void put_admission(struct record *record)
{
    const struct acog_exchange_record *said = record->said;
    bool sent = record->request != NULL && record->request->attempt_count > 0;
    put(record, ACOG_VIEW(",\"admission_events\":["));
    if (!sent && said->error_code.len > 0) {
        put_number(record, ACOG_VIEW("{\"status\":"), (int64_t)status_of(said));
        put_text(record, ACOG_VIEW(",\"code\":"), said->error_code);
        put(record, ACOG_VIEW("}"));
    }
    put(record, ACOG_VIEW("]"));
}

static void put_route(struct record *record)
{
    const struct acog_request *request = record->request;
    put(record, ACOG_VIEW(",\"candidates\":["));
    for (size_t i = 0; request != NULL && i < request->plan_count; i++) {
        put(record, i == 0 ? ACOG_VIEW("") : ACOG_VIEW(","));
        put_candidate(record, &request->plan[i]);
    }
    put(record, ACOG_VIEW("],\"attempts\":["));
    for (size_t i = 0; request != NULL && i < request->attempt_count; i++) {
        put(record, i == 0 ? ACOG_VIEW("") : ACOG_VIEW(","));
        put_attempt(record, i + 1);
    }
    put(record, ACOG_VIEW("]"));
}

static void put_end(struct record *record)
{
    const struct acog_request *request = record->request;
    size_t answered_by = request == NULL ? 0 : answering_attempt(request);
    put_flag(record, ACOG_VIEW(",\"committed\":"), request != NULL && request->committed);
    put_time(record, ACOG_VIEW(",\"committed_ms\":"), record->said->committed_ms);
    if (answered_by > 0) {
        put_number(record, ACOG_VIEW(",\"answered_by\":"), (int64_t)answered_by);
        put_text_if(record, ACOG_VIEW(",\"dropped_params\":"), record->said->dropped_params);
        put_time(record, ACOG_VIEW(",\"first_output_ms\":"),
                 request->attempts[answered_by - 1].first_output_at_ms);
    }
    put_time(record, ACOG_VIEW(",\"ended_ms\":"), record->said->ended_ms);
    if (request != NULL && request->state == ACOG_REQUEST_ENDED) {
        put_text(record, ACOG_VIEW(",\"outcome\":"),
                 acog_name(ACOG_VOCABULARY_OUTCOME, (int)request->outcome));
    }
    if (request != NULL) {
        put_text_if(record, ACOG_VIEW(",\"policy_fallback\":"),
                    acog_exchange_fallback_word(request->fallback));
    }
    put_text(record, ACOG_VIEW(",\"fallback_reason\":"),
             request == NULL ? (struct acog_view){0} : request->fallback_reason);
}

enum acog_code acog_exchange_render_record(const struct acog_exchange_record *said,
                                           struct acog_buffer *out)
{
    struct record record = {.said = said,
                            .snapshot = said->snapshot,
                            .request = said->request,
                            .out = out,
                            .code = ACOG_OK};
    put(&record, ACOG_VIEW("{"));
    put_asked(&record);
    put_admission(&record);
    put_route(&record);
    put_end(&record);
    put(&record, ACOG_VIEW("}"));
    return record.code;
}
