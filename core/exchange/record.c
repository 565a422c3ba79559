/* record.c - the decision record as JSON: one renderer for explain, tests, routes and receipts (D16). It tells of each
 * candidate what became of it and why, of each attempt how it went, and nothing of what was asked or answered.
 *
 * {"model","surface","stream","policy",
 *  "candidates":[{"connection","channel","model","verdict":"dropped","filter","place","reason"}, …],
 *  "attempts":[{"connection","channel","model","outcome","class","status", times…}, …],
 *  "committed","outcome","policy_fallback","fallback_reason"}
 */
#include "state.h"

struct record {
    const struct acog_snapshot *snapshot;
    const struct acog_request *request;
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
    put(record, name);
    if (record->code == ACOG_OK) {
        record->code = acog_buffer_format(record->out, "%lld", (long long)number);
    }
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
        put_number(record, name, at_ms - record->request->arrived_at_ms);
    }
}

/* -- parts ----------------------------------------------------------------------------------------- */

static void put_target(struct record *record, uint16_t candidate, struct acog_view model)
{
    const struct acog_candidate *row = &record->snapshot->candidates[candidate];
    const struct acog_connection *connection = &record->snapshot->connections[row->connection];
    put_text(record, ACOG_VIEW("{\"connection\":"), connection->id);
    put_text(record, ACOG_VIEW(",\"channel\":"),
             acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel));
    put_text(record, ACOG_VIEW(",\"model\":"), model.len > 0 ? model : row->declared);
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

static struct acog_view outcome_word(enum acog_outcome outcome)
{
    switch (outcome) {
    case ACOG_OUTCOME_COMPLETED:
        return ACOG_VIEW("completed");
    case ACOG_OUTCOME_FAILED:
        return ACOG_VIEW("failed");
    case ACOG_OUTCOME_CANCELLED:
        return ACOG_VIEW("cancelled");
    case ACOG_OUTCOME_INCOMPLETE:
        return ACOG_VIEW("incomplete");
    }
    return (struct acog_view){0};
}

static void put_attempt(struct record *record, const struct acog_attempt_row *row)
{
    put_target(record, row->candidate, row->model);
    if (row->ended_at_ms >= 0) {
        put_text(record, ACOG_VIEW(",\"outcome\":"), outcome_word(row->outcome));
    }
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
    if (row->status != 0) {
        put_number(record, ACOG_VIEW(",\"status\":"), row->status);
    }
    put_flag_if(record, ACOG_VIEW(",\"resend\":"), row->resend);
    put_flag_if(record, ACOG_VIEW(",\"extra_try\":"), row->extra_try);
    put_flag_if(record, ACOG_VIEW(",\"fallback\":"), row->fallback);
    put_flag_if(record, ACOG_VIEW(",\"probe\":"), row->ticket.probe);
    put_time(record, ACOG_VIEW(",\"dispatched_ms\":"), row->dispatched_at_ms);
    put_time(record, ACOG_VIEW(",\"connected_ms\":"), row->connected_at_ms);
    put_time(record, ACOG_VIEW(",\"headers_ms\":"), row->headers_at_ms);
    put_time(record, ACOG_VIEW(",\"first_event_ms\":"), row->first_event_at_ms);
    put_time(record, ACOG_VIEW(",\"first_output_ms\":"), row->first_output_at_ms);
    put_time(record, ACOG_VIEW(",\"ended_ms\":"), row->ended_at_ms);
    put(record, ACOG_VIEW("}"));
}

static void put_asked(struct record *record)
{
    const struct acog_request_facts *facts = record->request->facts;
    if (facts != NULL) {
        put_text(record, ACOG_VIEW("\"model\":"),
                 acog_exchange_cut(facts->model, ACOG_EXCHANGE_MODEL_MAX));
        put_text(record, ACOG_VIEW(",\"surface\":"),
                 acog_name(ACOG_VOCABULARY_SURFACE, (int)facts->surface));
        put_flag(record, ACOG_VIEW(",\"stream\":"), facts->stream);
        put(record, ACOG_VIEW(","));
    }
    put_text(record, ACOG_VIEW("\"policy\":"), record->snapshot->policy.name);
}

enum acog_code acog_exchange_render_record(const struct acog_snapshot *snapshot,
                                           const struct acog_request *request,
                                           struct acog_buffer *out)
{
    struct record record = {.snapshot = snapshot, .request = request, .out = out, .code = ACOG_OK};
    put(&record, ACOG_VIEW("{"));
    put_asked(&record);
    put(&record, ACOG_VIEW(",\"candidates\":["));
    for (size_t i = 0; i < request->plan_count; i++) {
        put(&record, i == 0 ? ACOG_VIEW("") : ACOG_VIEW(","));
        put_candidate(&record, &request->plan[i]);
    }
    put(&record, ACOG_VIEW("],\"attempts\":["));
    for (size_t i = 0; i < request->attempt_count; i++) {
        put(&record, i == 0 ? ACOG_VIEW("") : ACOG_VIEW(","));
        put_attempt(&record, &request->attempts[i]);
    }
    put_flag(&record, ACOG_VIEW("],\"committed\":"), request->committed);
    if (request->state == ACOG_REQUEST_ENDED) {
        put_text(&record, ACOG_VIEW(",\"outcome\":"), outcome_word(request->outcome));
    }
    put_text_if(&record, ACOG_VIEW(",\"policy_fallback\":"),
                acog_exchange_fallback_word(request->fallback));
    put_text_if(&record, ACOG_VIEW(",\"fallback_reason\":"), request->fallback_reason);
    put(&record, ACOG_VIEW("}"));
    return record.code;
}
