/* lints.c - what can never happen or never work, said before a request finds out. Only warnings, and only what holds for
 * every request: a function of the policy may decide otherwise, so nothing is said of what it is asked. */
#include "compile.h"

#include <string.h>

/* -- clocks ----------------------------------------------------------------------------------------- */

static int64_t largest_ms(const struct acog_formula *formula)
{
    return formula->per_tokens > 0 ? formula->cap_ms : formula->base_ms;
}

/* The longest that the total clock lets a request run that `row` is for, of streams or of whole answers.
 * 0: some of those have no total. The extra try has a total of its own only where a row says so. */
static int64_t total_ms(const struct acog_policy *policy, const struct acog_clock_row *row,
                        bool stream)
{
    int64_t longest_ms = 0;
    bool always = false;
    for (size_t i = 0; i < policy->clock_count; i++) {
        const struct acog_clock_row *total = &policy->clocks[i];
        if (total->clock != ACOG_CLOCK_TOTAL || !(stream ? total->stream : total->whole) ||
            (total->extra_try && !row->extra_try)) {
            continue;
        }
        always = always || (total->surfaces == 0 && !total->reasoning_only && !total->slow_only &&
                            !total->extra_try);
        longest_ms =
            largest_ms(&total->formula) > longest_ms ? largest_ms(&total->formula) : longest_ms;
    }
    if (!always) {
        return 0;
    }
    bool lengthened = policy->last_floor.place != ACOG_FLOOR_OFF;
    return lengthened && policy->last_floor.base_ms > longest_ms ? policy->last_floor.base_ms
                                                                 : longest_ms;
}

static bool is_cut_off(const struct acog_policy *policy, const struct acog_clock_row *row)
{
    int64_t stream_ms = row->stream ? total_ms(policy, row, true) : INT64_MAX;
    int64_t whole_ms = row->whole ? total_ms(policy, row, false) : INT64_MAX;
    bool in_stream = row->stream && (stream_ms == 0 || row->formula.base_ms <= stream_ms);
    bool in_whole = row->whole && (whole_ms == 0 || row->formula.base_ms <= whole_ms);
    return !in_stream && !in_whole;
}

#define LONG_MS ((int64_t)3600 * 1000) /* a longer clock was most likely meant in milliseconds */

static void lint_clocks(struct reader *reader, const struct acog_policy *policy)
{
    for (size_t i = 0; i < policy->clock_count; i++) {
        const struct acog_clock_row *row = &policy->clocks[i];
        if (row->formula.base_ms > LONG_MS) {
            struct acog_view name = acog_name(ACOG_VOCABULARY_CLOCK, (int)row->clock);
            reader_warn(reader, "clocks.%.*s: %g seconds are %.1f hours; clocks are in seconds",
                        ACOG_VIEW_FMT(name), (double)row->formula.base_ms / 1000.0,
                        (double)row->formula.base_ms / (double)LONG_MS);
        }
        if (row->clock != ACOG_CLOCK_TOTAL && is_cut_off(policy, row)) {
            struct acog_view name = acog_name(ACOG_VOCABULARY_CLOCK, (int)row->clock);
            reader_warn(reader,
                        "clocks.%.*s: %lld ms never run out: clocks.total ends the attempt before",
                        ACOG_VIEW_FMT(name), (long long)row->formula.base_ms);
        }
    }
}

/* -- failures that no row classifies ----------------------------------------------------------------- */

/* Whether a row takes each failure of this cause before the first output, whatever its body says. */
static bool is_taken(const struct acog_policy *policy, enum acog_cause cause, int clock,
                     unsigned status)
{
    for (size_t i = 0; i < policy->classify_count; i++) {
        const struct acog_classify_row *row = &policy->classify[i];
        bool by_cause = row->causes == 0 || (row->causes & ACOG_BIT(cause)) != 0;
        bool by_clock = row->clocks == 0 || (clock >= 0 && (row->clocks & ACOG_BIT(clock)) != 0);
        bool by_status =
            row->status_from == 0 || (status >= row->status_from && status <= row->status_to);
        if (by_cause && by_clock && by_status && row->shapes == 0) {
            return true;
        }
    }
    return false;
}

static bool runs(const struct acog_policy *policy, int clock)
{
    for (size_t i = 0; i < policy->clock_count; i++) {
        if ((int)policy->clocks[i].clock == clock) {
            return true;
        }
    }
    return false;
}

static bool can_happen(const struct acog_policy *policy, enum acog_cause cause)
{
    switch (cause) {
    case ACOG_CAUSE_CONNECT:
    case ACOG_CAUSE_CLOSED:
    case ACOG_CAUSE_BAD_ANSWER:
    case ACOG_CAUSE_STREAM_ERROR:
    case ACOG_CAUSE_CUT:
        return true;
    case ACOG_CAUSE_REFUSAL:
        return policy->refusal.empty_200;
    case ACOG_CAUSE_HELD_FULL:
        return policy->commit.fail_when_full;
    case ACOG_CAUSE_CLOCK: /* asked for each clock */
    case ACOG_CAUSE_STATUS:
    case ACOG_CAUSE_NOT_USABLE: /* not classified: what they mean is said elsewhere */
    case ACOG_CAUSE_GATEWAY:
    case ACOG_CAUSE_COUNT:
        return false;
    }
    return false;
}

/* `gaps` and, behind ", ", "5xx" when none of the hundred is taken, else the first that is not. */
static struct acog_view add_status_gaps(struct reader *reader, const struct acog_policy *policy,
                                        struct acog_view gaps)
{
    for (unsigned hundred = 300; hundred < 600; hundred += 100) {
        unsigned missing = 0;
        unsigned first = 0;
        for (unsigned status = hundred; status < hundred + 100; status++) {
            if (!is_taken(policy, ACOG_CAUSE_STATUS, -1, status)) {
                first = missing == 0 ? status : first;
                missing++;
            }
        }
        if (missing == 100) {
            gaps =
                reader_format(reader, "%.*s, status \"%uxx\"", ACOG_VIEW_FMT(gaps), hundred / 100);
        } else if (missing > 0) {
            gaps = reader_format(reader, "%.*s, status %u%s", ACOG_VIEW_FMT(gaps), first,
                                 missing > 1 ? " and others" : "");
        }
    }
    return gaps;
}

static void lint_classify(struct reader *reader, const struct acog_policy *policy)
{
    struct acog_view gaps = ACOG_VIEW("");
    for (int cause = 0; cause < ACOG_CAUSE_COUNT; cause++) {
        if (can_happen(policy, (enum acog_cause)cause) &&
            !is_taken(policy, (enum acog_cause)cause, -1, 0)) {
            gaps = reader_format(reader, "%.*s, \"%.*s\"", ACOG_VIEW_FMT(gaps),
                                 ACOG_VIEW_FMT(acog_name(ACOG_VOCABULARY_CAUSE, cause)));
        }
    }
    for (int clock = 0; clock < ACOG_CLOCK_COUNT; clock++) {
        if (runs(policy, clock) && !is_taken(policy, ACOG_CAUSE_CLOCK, clock, 0)) {
            gaps = reader_format(reader, "%.*s, clock \"%.*s\"", ACOG_VIEW_FMT(gaps),
                                 ACOG_VIEW_FMT(acog_name(ACOG_VOCABULARY_CLOCK, clock)));
        }
    }
    gaps = add_status_gaps(reader, policy, gaps);
    if (gaps.len > 0) {
        reader_warn(
            reader,
            "classify: no row takes %.*s: such a failure is of class \"gateway\" and is the "
            "answer, whatever else could serve",
            ACOG_VIEW_FMT(acog_view_slice(gaps, sizeof(", ") - 1, gaps.len)));
    }
}

/* -- the fallback model ------------------------------------------------------------------------------ */

/* The policies in the binary serve any set of models; only a policy of one's own is held to its fallback model. */
static bool is_embedded(const char *place)
{
    static const char folder[] = "policies/";
    return strncmp(place, folder, sizeof(folder) - 1) == 0;
}

static bool is_model(const struct acog_candidate *candidate, struct acog_view model)
{
    return acog_view_equal(candidate->family, model) || acog_view_equal(candidate->declared, model);
}

/* A connection that declares the model, and another one that it could be the fallback of. */
static bool declares_another(const struct compile *compile, uint16_t connection,
                             struct acog_view model)
{
    for (size_t i = 0; i < compile->candidate_count; i++) {
        const struct acog_candidate *candidate = &compile->candidates[i];
        if (candidate->connection == connection && !is_model(candidate, model)) {
            return true;
        }
    }
    return false;
}

static void lint_fallback_place(struct compile *compile, struct acog_view fallback)
{
    struct reader *reader = &compile->reader;
    bool declared = false;
    bool reached = !compile->snapshot->policy.refusal.same_connection;
    for (size_t i = 0; i < compile->candidate_count; i++) {
        const struct acog_candidate *candidate = &compile->candidates[i];
        if (is_model(candidate, fallback)) {
            declared = true;
            reached = reached || declares_another(compile, candidate->connection, fallback);
        }
    }
    if (!declared) {
        reader_warn(reader,
                    "refusal: no connection declares the fallback model \"%.*s\"; "
                    "refusal = { fallback_model = false } switches it off",
                    ACOG_VIEW_FMT(fallback));
    } else if (!reached) {
        reader_warn(
            reader,
            "refusal: the fallback model \"%.*s\" is never reached: no connection declares "
            "it beside another model; refusal = { same_connection = false } asks the others",
            ACOG_VIEW_FMT(fallback));
    }
}

/* Whether a failure that can happen is of a class that asks the fallback model. */
static bool asks_fallback(const struct acog_policy *policy)
{
    for (size_t i = 0; i < policy->classify_count; i++) {
        const struct acog_classify_row *row = &policy->classify[i];
        bool never = row->causes == ACOG_BIT(ACOG_CAUSE_REFUSAL) && !policy->refusal.empty_200;
        if (!never && policy->classes[row->class].move == ACOG_MOVE_FALLBACK_MODEL) {
            return true;
        }
    }
    return false;
}

static void lint_refusal(struct compile *compile)
{
    const struct acog_policy *policy = &compile->snapshot->policy;
    struct acog_view fallback = policy->refusal.fallback_model;
    bool moves = false;
    for (int class = 0; class < ACOG_CLASS_COUNT; class ++) {
        moves = moves || policy->classes[class].move == ACOG_MOVE_FALLBACK_MODEL;
    }
    if (fallback.len == 0) {
        return; /* switched off: the refusal is the answer */
    }
    if (!moves) {
        reader_warn(&compile->reader,
                    "refusal: fallback_model has no effect: no class moves to it");
    } else if (!asks_fallback(policy)) {
        reader_warn(&compile->reader,
                    "refusal: fallback_model is never asked: no answer is looked at for a refusal; "
                    "refusal = { empty_200 = true } does");
    } else if (!is_embedded(compile->policy_place)) {
        lint_fallback_place(compile, fallback);
    }
}

/* -- pins and data rules ----------------------------------------------------------------------------- */

static bool rule_allows(const struct acog_dlp_rule *rule, const struct acog_connection *connection)
{
    bool region = rule->region_count == 0;
    for (size_t i = 0; i < rule->region_count && !region; i++) {
        region = acog_view_equal(rule->regions[i], connection->region);
    }
    return region && (rule->channels == 0 || (rule->channels & ACOG_BIT(connection->channel)) != 0);
}

static unsigned pinnable_channels(const struct acog_pin *pin)
{
    unsigned channels = 0;
    for (size_t i = 0; i < pin->value_count; i++) {
        channels |= ACOG_BIT(pin->values[i].channel);
    }
    return channels;
}

/* Rules that leave nothing, alone or together with whatever a client may pin. */
static void lint_data_rules(struct compile *compile, unsigned pinnable)
{
    const struct acog_policy *policy = &compile->snapshot->policy;
    for (size_t i = 0; i < policy->dlp_rule_count; i++) {
        const struct acog_dlp_rule *rule = &policy->dlp_rules[i];
        bool any = false;
        bool any_pinned = policy->pin.scope != ACOG_PIN_CHANNEL || policy->pin.overrides_dlp;
        for (size_t j = 0; j < compile->connection_count; j++) {
            const struct acog_connection *connection = &compile->connections[j];
            bool allowed = rule_allows(rule, connection);
            any = any || allowed;
            any_pinned = any_pinned || (allowed && (pinnable & ACOG_BIT(connection->channel)) != 0);
        }
        if (!any) {
            reader_warn(&compile->reader,
                        "dlp: \"%.*s\" leaves nothing: no connection is where it allows; what it "
                        "finds is always refused",
                        ACOG_VIEW_FMT(rule->name));
        } else if (!any_pinned) {
            reader_warn(&compile->reader,
                        "dlp: \"%.*s\" and pin leave nothing: no channel that it allows can be "
                        "pinned; a pinned request that it finds is always refused",
                        ACOG_VIEW_FMT(rule->name));
        }
    }
}

static void lint_pin(struct compile *compile, unsigned pinnable)
{
    bool any = compile->snapshot->policy.pin.scope != ACOG_PIN_CHANNEL || pinnable == 0;
    for (size_t i = 0; i < compile->connection_count && !any; i++) {
        any = (pinnable & ACOG_BIT(compile->connections[i].channel)) != 0;
    }
    if (!any) {
        reader_warn(&compile->reader,
                    "pin: leaves nothing: no connection is on a channel of values");
    }
}

static bool is_declared(const struct compile *compile, struct acog_view model)
{
    for (size_t i = 0; i < compile->candidate_count; i++) {
        if (is_model(&compile->candidates[i], model)) {
            return true;
        }
    }
    return false;
}

/* A model in a spelling that no candidate has allows nothing. */
static void lint_access(struct compile *compile)
{
    const struct acog_policy *policy = &compile->snapshot->policy;
    for (size_t i = 0; i < policy->access_rule_count; i++) {
        const struct acog_access_rule *rule = &policy->access_rules[i];
        for (size_t k = 0; k < rule->model_count; k++) {
            if (!is_declared(compile, rule->models[k])) {
                reader_warn(&compile->reader,
                            "access[%zu]: \"%.*s\" allows nothing: no connection declares a model "
                            "that is spelt so",
                            i + 1, ACOG_VIEW_FMT(rule->models[k]));
            }
        }
    }
}

void compile_policy_lints(struct compile *compile)
{
    const struct acog_policy *policy = &compile->snapshot->policy;
    unsigned pinnable = pinnable_channels(&policy->pin);
    lint_clocks(&compile->reader, policy);
    lint_classify(&compile->reader, policy);
    lint_refusal(compile);
    lint_pin(compile, pinnable);
    lint_data_rules(compile, pinnable);
    lint_access(compile);
}

/* -- models ----------------------------------------------------------------------------------------- */

static const struct acog_connection *connection_of(const struct compile *compile, size_t candidate)
{
    return &compile->connections[compile->candidates[candidate].connection];
}

/* Prices are compared between channels: where nobody else serves the model, none is needed. */
static bool needs_price(const struct compile *compile, size_t at)
{
    for (size_t i = 0; i < compile->candidate_count; i++) {
        if (acog_view_equal(compile->candidates[i].family, compile->candidates[at].family) &&
            connection_of(compile, i)->channel != connection_of(compile, at)->channel) {
            return true;
        }
    }
    return false;
}

static void lint_prices(struct compile *compile)
{
    for (size_t i = 0; i < compile->candidate_count && compile->snapshot->policy.arbitrage; i++) {
        const struct acog_candidate *candidate = &compile->candidates[i];
        if (!candidate->priced && needs_price(compile, i)) {
            reader_root(&compile->reader, compile->places[candidate->connection],
                        "connection \"%.*s\"", ACOG_VIEW_FMT(connection_of(compile, i)->id));
            reader_warn(&compile->reader,
                        "models: \"%.*s\" has no price: arbitrage never moves a request from or "
                        "to it",
                        ACOG_VIEW_FMT(candidate->declared));
        }
    }
}

/* It is the first of its model's candidates, and all of them are refused before sending. */
static bool none_is_usable(const struct compile *compile, size_t at)
{
    if (connection_of(compile, at)->usable != ACOG_USABLE_NO) {
        return false;
    }
    for (size_t i = 0; i < compile->candidate_count; i++) {
        bool same = acog_view_equal(compile->candidates[i].family, compile->candidates[at].family);
        if (same && (i < at || connection_of(compile, i)->usable != ACOG_USABLE_NO)) {
            return false;
        }
    }
    return true;
}

static void lint_usable(struct compile *compile)
{
    for (size_t i = 0; i < compile->candidate_count; i++) {
        if (none_is_usable(compile, i)) {
            reader_root(&compile->reader, compile->places[compile->candidates[i].connection],
                        "connection \"%.*s\"", ACOG_VIEW_FMT(connection_of(compile, i)->id));
            reader_warn(&compile->reader,
                        "usable: nothing is left for \"%.*s\": every connection that declares it "
                        "is not usable",
                        ACOG_VIEW_FMT(compile->candidates[i].declared));
        }
    }
}

/* -- what a connection says and no row of the policy asks ------------------------------------------------ */

/* A function may go by any field of a candidate. */
static bool has_function(const struct acog_policy *policy)
{
    bool any = false;
    for (size_t i = 0; i < policy->order_count; i++) {
        any = any || policy->order[i].kind == ACOG_ORDER_FUNCTION;
    }
    for (size_t i = 0; i < policy->filter_count; i++) {
        any = any || policy->filters[i].kind == ACOG_FILTER_FUNCTION;
    }
    return any;
}

static bool orders_by_priority(const struct acog_policy *policy)
{
    bool any = false;
    for (size_t i = 0; i < policy->order_count; i++) {
        any = any || policy->order[i].kind == ACOG_ORDER_PRIORITY;
    }
    return any;
}

static void lint_connections(struct compile *compile)
{
    const struct acog_policy *policy = &compile->snapshot->policy;
    struct reader *reader = &compile->reader;
    bool by_priority = orders_by_priority(policy);
    for (size_t i = 0; i < compile->connection_count && !has_function(policy); i++) {
        const struct acog_connection *connection = &compile->connections[i];
        reader_root(reader, compile->places[i], "connection \"%.*s\"",
                    ACOG_VIEW_FMT(connection->id));
        if (connection->priority != 0 && !by_priority) {
            reader_warn(reader, "priority has no effect: the policy's order lacks \"priority\"");
        }
        if (connection->weight != 1 && policy->spread == ACOG_SPREAD_NONE) {
            reader_warn(reader, "weight has no effect: the policy's spread is \"none\"");
        }
        if (connection->is_default && !policy->exclusive_default) {
            reader_warn(reader,
                        "default has no effect: the policy's filters lack \"default_exclusive\"");
        }
    }
}

void compile_model_lints(struct compile *compile)
{
    lint_connections(compile);
    lint_prices(compile);
    lint_usable(compile);
}
