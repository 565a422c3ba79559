/* describe.c - the decision record without its braces. */
#include "describe.h"

#include "acog/contract.h"

static const struct acog_connection *connection_of(const struct acog_snapshot *snapshot,
                                                   uint16_t candidate)
{
    return &snapshot->connections[snapshot->candidates[candidate].connection];
}

static int widest_id(const struct acog_snapshot *snapshot, const struct acog_request *request)
{
    size_t widest = 0;
    for (size_t i = 0; i < request->plan_count; i++) {
        size_t bytes = connection_of(snapshot, request->plan[i].candidate)->id.len;
        widest = bytes > widest ? bytes : widest;
    }
    return (int)widest;
}

static void print_dropped(struct acog_buffer *out, const struct acog_snapshot *snapshot,
                          const struct acog_plan_row *row)
{
    struct acog_filter filter = {.name = ACOG_VIEW("dispatch")}; /* at its turn, not by the plan */
    if (row->filter < snapshot->policy.filter_count) {
        filter = snapshot->policy.filters[row->filter];
    }
    (void)!acog_buffer_format(out, "dropped by %.*s", ACOG_VIEW_FMT(filter.name));
    if (row->reason.len > 0) {
        (void)!acog_buffer_format(out, ": %.*s", ACOG_VIEW_FMT(row->reason));
    }
    if (filter.place.len > 0 && !acog_view_equal(filter.place, filter.name)) {
        (void)!acog_buffer_format(out, " (%.*s)", ACOG_VIEW_FMT(filter.place));
    }
}

/* The dialect that a row's upstream is told the request in, when it is not the client's; else ACOG_DIALECT_COUNT. */
static enum acog_dialect translated_to(const struct acog_snapshot *snapshot,
                                       const struct acog_request *request,
                                       const struct acog_plan_row *row)
{
    enum acog_dialect dialect = acog_dialect_for(request->facts->surface,
                                                 connection_of(snapshot, row->candidate)->dialects);
    return dialect == acog_surface_dialect(request->facts->surface) ? ACOG_DIALECT_COUNT : dialect;
}

static void print_verdict(struct acog_buffer *out, const struct acog_snapshot *snapshot,
                          const struct acog_plan_row *row, enum acog_dialect dialect)
{
    switch (row->verdict) {
    case ACOG_PLAN_KEPT:
        (void)!acog_buffer_format(out, "kept");
        break;
    case ACOG_PLAN_TRIED:
        (void)!acog_buffer_format(out, "tried");
        break;
    case ACOG_PLAN_DROPPED:
        print_dropped(out, snapshot, row);
        return;
    }
    if (dialect != ACOG_DIALECT_COUNT) {
        (void)!acog_buffer_format(out, ", translated to %.*s",
                                  ACOG_VIEW_FMT(acog_name(ACOG_VOCABULARY_DIALECT, (int)dialect)));
    }
    (void)!acog_buffer_format(out, "%s%s%s%s", row->demoted ? ", demoted" : "",
                              row->would_probe ? ", would be the probe of its circuit" : "",
                              row->floor ? ", with the last route's time" : "",
                              row->forced ? ", although its circuit is open" : "");
}

void acog_describe_plan(struct acog_buffer *out, const char *indent,
                        const struct acog_snapshot *snapshot, const struct acog_request *request)
{
    int width = widest_id(snapshot, request);
    for (size_t i = 0; i < request->plan_count; i++) {
        const struct acog_plan_row *row = &request->plan[i];
        const struct acog_candidate *candidate = &snapshot->candidates[row->candidate];
        const struct acog_connection *connection = connection_of(snapshot, row->candidate);
        struct acog_view channel = acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel);
        if (row->verdict == ACOG_PLAN_DROPPED) {
            (void)!acog_buffer_format(out, "%s -  ", indent);
        } else {
            (void)!acog_buffer_format(out, "%s%2zu  ", indent, i + 1);
        }
        (void)!acog_buffer_format(out, "%-*.*s  %-7.*s  %.*s  ", width,
                                  ACOG_VIEW_FMT(connection->id), ACOG_VIEW_FMT(channel),
                                  ACOG_VIEW_FMT(candidate->declared));
        print_verdict(out, snapshot, row, translated_to(snapshot, request, row));
        (void)!acog_buffer_format(out, "\n");
    }
}

static void print_outcome(struct acog_buffer *out, const struct acog_attempt_row *row)
{
    struct acog_view word = acog_name(ACOG_VOCABULARY_OUTCOME, (int)row->outcome);
    if (row->failed) {
        word = acog_name(ACOG_VOCABULARY_CLASS, (int)row->class);
    } else if (row->outcome == ACOG_OUTCOME_COMPLETED && row->ended_at_ms < 0) {
        word = ACOG_VIEW("under way");
    }
    (void)!acog_buffer_format(out, "%.*s", ACOG_VIEW_FMT(word));
    if (row->status != 0) {
        (void)!acog_buffer_format(out, ", status %u", (unsigned)row->status);
    }
}

void acog_describe_attempts(struct acog_buffer *out, const char *indent,
                            const struct acog_snapshot *snapshot,
                            const struct acog_request *request)
{
    for (size_t i = 0; i < request->attempt_count; i++) {
        const struct acog_attempt_row *row = &request->attempts[i];
        (void)!acog_buffer_format(out, "%sattempt %zu: %.*s, %.*s, from %lld ms", indent, i + 1,
                                  ACOG_VIEW_FMT(connection_of(snapshot, row->candidate)->id),
                                  ACOG_VIEW_FMT(row->model),
                                  (long long)(row->dispatched_at_ms - request->arrived_at_ms));
        if (row->ended_at_ms >= 0) {
            (void)!acog_buffer_format(out, " to %lld ms",
                                      (long long)(row->ended_at_ms - request->arrived_at_ms));
        }
        (void)!acog_buffer_format(out, ": ");
        print_outcome(out, row);
        (void)!acog_buffer_format(out, "\n");
    }
}
