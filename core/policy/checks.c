/* checks.c - what only shows when connections and policy are there (CONFORMANCE, D18), and what follows from them. */
#include "compile.h"

#define STATUS_MIN 100
#define STATUS_END 600

/* -- classes ---------------------------------------------------------------------------------------- */

/* Classes that the engine itself gives, without a row. */
static bool is_given_by_engine(int class)
{
    return class == ACOG_CLASS_CLIENT_CANCEL || class == ACOG_CLASS_DIED_AFTER_COMMIT ||
           class == ACOG_CLASS_GATEWAY || class == ACOG_CLASS_NOT_USABLE;
}

static bool is_classified(const struct acog_policy *policy, int class)
{
    for (size_t i = 0; i < policy->classify_count; i++) {
        if ((int)policy->classify[i].class == class) {
            return true;
        }
    }
    return false;
}

/* One warning for all of them. */
static void warn_of_classes(struct reader *reader, const struct acog_policy *policy)
{
    struct acog_view list = acog_view_of("");
    size_t count = 0;
    for (int class = 0; class < ACOG_CLASS_COUNT; class ++) {
        if (policy->classes[class].declared && !is_classified(policy, class) &&
            !is_given_by_engine(class)) {
            list =
                reader_format(reader, "%.*s%s\"%.*s\"", ACOG_VIEW_FMT(list), count == 0 ? "" : ", ",
                              ACOG_VIEW_FMT(acog_name(ACOG_VOCABULARY_CLASS, class)));
            count++;
        }
    }
    if (count > 0) {
        reader_warn(reader, "classes: %.*s %s no effect: no classify row gives %s",
                    ACOG_VIEW_FMT(list), count == 1 ? "has" : "have", count == 1 ? "it" : "them");
    }
}

/* `whole`: nothing of the configuration was refused so far, so what is not there was not said. */
static void check_classes(struct reader *reader, const struct acog_policy *policy, bool whole)
{
    for (int class = 0; class < ACOG_CLASS_COUNT; class ++) {
        struct acog_view name = acog_name(ACOG_VOCABULARY_CLASS, class);
        bool classified = is_classified(policy, class);
        if (classified && !policy->classes[class].declared) {
            reader_error(reader, "classes: \"%.*s\" is missing, and a classify row gives it",
                         ACOG_VIEW_FMT(name));
        }
    }
    if (whole) {
        warn_of_classes(reader, policy);
    }
}

/* -- restricted targets (D18, decision 6) ----------------------------------------------------------- */

static bool is_takeover(const struct acog_policy *policy, struct acog_view name)
{
    for (int class = 0; class < ACOG_CLASS_COUNT; class ++) {
        if (policy->classes[class].takeover.len > 0 &&
            acog_view_equal(policy->classes[class].takeover, name)) {
            return true;
        }
    }
    return false;
}

static void check_takes_over(struct compile *compile)
{
    struct reader *reader = &compile->reader;
    const struct acog_policy *policy = &compile->snapshot->policy;
    const char *list[ACOG_CLASS_COUNT];
    struct words words = {.what = "a failure that a target may take over here", .list = list};
    for (int class = 0; class < ACOG_CLASS_COUNT; class ++) {
        if (policy->classes[class].takeover.len > 0) {
            list[words.count] = policy->classes[class].takeover.ptr;
            words.count++;
        }
    }
    for (size_t i = 0; i < compile->connection_count; i++) {
        const struct acog_connection *connection = &compile->connections[i];
        reader_root(reader, compile->places[i], "connection \"%.*s\"",
                    ACOG_VIEW_FMT(connection->id));
        for (size_t j = 0; j < connection->takes_over_count; j++) {
            struct acog_view name = connection->takes_over[j].name;
            size_t mark = reader_enter(reader, "takes_over[%zu]", j + 1);
            if (words.count == 0) {
                reader_error(reader, "policy \"%.*s\" has no class with a takeover name",
                             ACOG_VIEW_FMT(policy->name));
            } else if (!is_takeover(policy, name)) {
                reader_unknown_word(reader, name, &words);
            }
            reader_leave(reader, mark);
        }
    }
}

static bool has_filter(const struct acog_policy *policy, enum acog_filter_kind kind)
{
    for (size_t i = 0; i < policy->filter_count; i++) {
        if (policy->filters[i].kind == kind) {
            return true;
        }
    }
    return false;
}

/* A model whose every target is restricted is never dialled first (S1.20). */
static void check_all_restricted(struct compile *compile)
{
    struct reader *reader = &compile->reader;
    size_t restricted = 0;
    for (size_t i = 0; i < compile->candidate_count; i++) {
        const struct acog_candidate *candidate = &compile->candidates[i];
        bool ordinary = false;
        if (compile->connections[candidate->connection].takes_over_count == 0) {
            continue;
        }
        restricted++;
        for (size_t j = 0; j < compile->candidate_count && !ordinary; j++) {
            const struct acog_candidate *other = &compile->candidates[j];
            ordinary = acog_view_equal(other->family, candidate->family) &&
                       compile->connections[other->connection].takes_over_count == 0;
        }
        if (!ordinary) {
            reader_error(reader,
                         "all_targets_restricted: every connection that declares \"%.*s\" has "
                         "takes_over",
                         ACOG_VIEW_FMT(candidate->declared));
        }
    }
    if (restricted > 0 && !has_filter(&compile->snapshot->policy, ACOG_FILTER_UNRESTRICTED)) {
        reader_error(reader, "filters: takes_over needs the filter \"unrestricted\"");
    }
}

/* -- values without effect -------------------------------------------------------------------------- */

static bool has_key(const struct acog_policy *policy, enum acog_order_kind kind)
{
    for (size_t i = 0; i < policy->order_count; i++) {
        if (policy->order[i].kind == kind) {
            return true;
        }
    }
    return false;
}

/* Keys of order and ways to spread that need each other, or something else. */
static void check_order(struct reader *reader, const struct acog_policy *policy)
{
    bool spreads = has_key(policy, ACOG_ORDER_SPREAD) || has_key(policy, ACOG_ORDER_SPREAD_FIRST);
    if (spreads && policy->spread == ACOG_SPREAD_NONE) {
        reader_error(reader, "order: spreads, but spread is \"none\"");
    }
    if (!spreads && policy->spread != ACOG_SPREAD_NONE) {
        reader_warn(reader,
                    "spread: has no effect without \"spread_first\" or \"spread\" in order");
    }
    if (has_key(policy, ACOG_ORDER_DEMOTED_LAST) && policy->health.mode != ACOG_HEALTH_DEMOTE) {
        reader_warn(reader,
                    "order: \"demoted_last\" has no effect unless health.mode is \"demote\"");
    }
    if (has_key(policy, ACOG_ORDER_PRICE) && !policy->arbitrage &&
        !(spreads &&
          has_filter(policy, ACOG_FILTER_ARBITRAGE))) { /* there it waits for arbitrage */
        reader_warn(reader, "order: \"price\" has no effect without arbitrage, which alone it is "
                            "for; spread = \"cheapest\" with \"spread\" in order is for all");
    }
}

/* Nothing else asks whether a request can be told to a connection of another dialect. */
static void check_dialect(struct reader *reader, const struct acog_policy *policy)
{
    if (!has_filter(policy, ACOG_FILTER_DIALECT)) {
        reader_error(reader, "filters: lack \"dialect\", so a request could go where it cannot be "
                             "told");
    }
}

static void check_data_and_arbitrage(struct reader *reader, const struct acog_policy *policy)
{
    if (policy->access_rule_count > 0 && !has_filter(policy, ACOG_FILTER_ACCESS)) {
        reader_error(reader, "access: has rules, and filters lack \"access\"");
    }
    if (policy->dlp_rule_count > 0 && !has_filter(policy, ACOG_FILTER_DLP)) {
        reader_error(reader, "dlp: has rules, and filters lack \"dlp\"");
    }
    if (policy->arbitrage && !has_filter(policy, ACOG_FILTER_ARBITRAGE)) {
        reader_error(reader, "arbitrage: is on, and filters lack \"arbitrage\"");
    }
}

static void check_pin(struct reader *reader, const struct acog_policy *policy)
{
    const struct acog_pin *pin = &policy->pin;
    bool source = pin->header.len > 0 || pin->body_path.len > 0;
    if (pin->scope == ACOG_PIN_NONE) {
        if (source) {
            reader_error(reader, "pin: needs scope: \"channel\" or \"connection\"");
        }
        return;
    }
    if (!source) {
        reader_error(reader, "pin: needs header or body: where the client names it");
    }
    if (pin->header.len > 0 && pin->body_path.len > 0) {
        reader_error(reader, "pin: header and body exclude each other");
    }
    if (!has_filter(policy, ACOG_FILTER_PIN)) {
        reader_error(reader, "pin: has no effect: filters lack \"pin\"");
    }
    if (pin->scope == ACOG_PIN_CHANNEL && pin->value_count == 0) {
        reader_error(reader, "pin: scope \"channel\" needs values: the channels that may be named");
    }
    if (pin->strip && pin->body_path.len == 0) {
        reader_warn(reader, "pin: strip has an effect on a pin in the body only");
    }
}

static void check_health(struct reader *reader, const struct acog_policy *policy)
{
    bool excludes = policy->health.mode == ACOG_HEALTH_EXCLUDE;
    if (excludes != has_filter(policy, ACOG_FILTER_CIRCUIT)) {
        reader_error(reader, excludes ? "health: mode \"exclude\" needs the filter \"circuit\""
                                      : "filters: \"circuit\" needs health.mode \"exclude\"");
    }
}

static bool has_clock(const struct acog_policy *policy, bool floor_applies)
{
    for (size_t i = 0; i < policy->clock_count; i++) {
        enum acog_clock clock = policy->clocks[i].clock;
        if (!floor_applies || (clock != ACOG_CLOCK_CONNECT && clock != ACOG_CLOCK_IDLE)) {
            return true;
        }
    }
    return false;
}

static void check_clocks(struct reader *reader, const struct acog_policy *policy)
{
    if (!has_clock(policy, false)) {
        reader_warn(reader, "clocks: there are none: a silent upstream holds a request for ever");
    }
    if (policy->last_floor.place != ACOG_FLOOR_OFF && !has_clock(policy, true)) {
        reader_warn(reader, "last_floor: has no effect: no clock that it could lengthen");
    }
    if (policy->last_floor.place != ACOG_FLOOR_OFF && policy->last_floor.base_ms == 0) {
        reader_error(reader, "last_floor: needs base: its seconds");
    }
    if (policy->backoff.ms_max < policy->backoff.ms_min) {
        reader_error(reader, "backoff: max_ms is below min_ms");
    }
    if (policy->backoff.kind != ACOG_BACKOFF_NONE && policy->backoff.ms_max == 0) {
        reader_error(reader, "backoff: needs max_ms");
    }
}

/* -- which error bodies must be read (S1.12, S0.34) --------------------------------------------------- */

static bool is_covered(const struct compile *compile, struct acog_view takeover)
{
    for (size_t i = 0; i < compile->connection_count; i++) {
        const struct acog_connection *connection = &compile->connections[i];
        for (size_t j = 0; j < connection->takes_over_count; j++) {
            if (acog_view_equal(connection->takes_over[j].name, takeover)) {
                return true;
            }
        }
    }
    return false;
}

static bool fits_status(const struct acog_classify_row *row, unsigned status)
{
    bool cause = row->causes == 0 || (row->causes & ACOG_BIT(ACOG_CAUSE_STATUS)) != 0;
    bool in_range =
        row->status_from == 0 || (status >= row->status_from && status <= row->status_to);
    return cause && in_range && row->clocks == 0;
}

/* Whether a failure with this status can be judged and told without its body. A shape whose class only moves to
 * targets that take it over is not looked for while no target does (S1.12). */
static bool needs_body(const struct compile *compile, unsigned status)
{
    const struct acog_policy *policy = &compile->snapshot->policy;
    for (size_t i = 0; i < policy->classify_count; i++) {
        const struct acog_classify_row *row = &policy->classify[i];
        const struct acog_class_row *class = &policy->classes[row->class];
        if (!fits_status(row, status)) {
            continue;
        }
        bool restricted = class->move == ACOG_MOVE_RESTRICTED;
        bool covered = restricted && is_covered(compile, class->takeover);
        bool judged = covered || (row->shapes != 0 && !restricted);
        if (judged || class->relay != ACOG_RELAY_OWN) {
            return true;
        }
        if (row->shapes == 0) {
            return false;
        }
    }
    return false;
}

static void derive_reads_body(struct compile *compile)
{
    struct acog_policy *policy = &compile->snapshot->policy;
    for (unsigned status = STATUS_MIN; status < STATUS_END; status++) {
        if (needs_body(compile, status)) {
            policy->reads_body[status / 8] |= (uint8_t)(1U << (status % 8));
        }
    }
}

void compile_checks(struct compile *compile)
{
    struct reader *reader = &compile->reader;
    const struct acog_policy *policy = &compile->snapshot->policy;
    bool whole = reader->report->errors == 0;
    check_classes(reader, policy, whole);
    if (whole) {
        check_order(reader, policy);
    }
    check_dialect(reader, policy);
    check_data_and_arbitrage(reader, policy);
    check_pin(reader, policy);
    check_health(reader, policy);
    check_clocks(reader, policy);
    if (whole) {
        compile_policy_lints(compile);
    }
    check_all_restricted(compile);
    check_takes_over(compile); /* these change the root of the path: the last ones */
    compile_check_dedicated(compile);
    if (whole) {
        compile_model_lints(compile);
    }
    derive_reads_body(compile);
}
