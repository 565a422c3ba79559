/* engine_policies.c - the five policies of CONFORMANCE part D as rows. What a policy file compiles to, by hand. */
#include "acog/contract.h"
#include "tests/support/engine_rows.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void filter(struct acog_policy *policy, enum acog_filter_kind kind, const char *name,
                   enum acog_condition when_empty)
{
    policy->filters[policy->filter_count++] = (struct acog_filter){
        .kind = kind, .name = acog_view_of(name), .slot = ACOG_NO_SLOT, .when_empty = when_empty};
}

static void order(struct acog_policy *policy, enum acog_order_kind kind)
{
    policy->order[policy->order_count++] =
        (struct acog_order_key){.kind = kind, .slot = ACOG_NO_SLOT};
}

/* A class that the policy names; the rest of its row is as `row` says. */
static void class(struct acog_policy *policy, enum acog_failure_class which,
                  struct acog_class_row row)
{
    row.declared = true;
    row.retry_after_ms = row.retry_after_ms == 0 ? -1 : row.retry_after_ms;
    policy->classes[which] = row;
}

static void timeouts(struct acog_policy *policy, struct acog_class_row row)
{
    row.by_time = true;
    class(policy, ACOG_CLASS_TIMEOUT_CONNECT, row);
    class(policy, ACOG_CLASS_TIMEOUT_HEADERS, row);
    class(policy, ACOG_CLASS_TIMEOUT_FIRST_EVENT, row);
    class(policy, ACOG_CLASS_TIMEOUT_FIRST_OUTPUT, row);
    class(policy, ACOG_CLASS_TIMEOUT_FULL, row);
}

static void condition(struct acog_policy *policy, enum acog_condition which, uint16_t status,
                      const char *code, int64_t retry_after_ms)
{
    policy->errors[which].status = status;
    policy->errors[which].code = acog_view_of(code);
    policy->errors[which].retry_after_ms = retry_after_ms;
}

/* What every policy has in common. */
static void common(struct acog_policy *policy)
{
    for (size_t i = 0; i < ACOG_CONDITION_COUNT; i++) {
        policy->errors[i] = (struct acog_error_row){.status = 500, .retry_after_ms = -1};
    }
    for (size_t i = 0; i < ACOG_CHANNEL_COUNT; i++) {
        policy->channel_rank[i] = (uint8_t)i;
    }
    policy->match_slot = ACOG_NO_SLOT;
    policy->same_model_only = true;
    policy->attempts.resend_max = 1;
    policy->commit.held_bytes_max = (size_t)256 * 1024;
    policy->commit.whole = ACOG_COMMIT_ANSWER;
    filter(policy, ACOG_FILTER_DECLARED, "declared", ACOG_CONDITION_UNKNOWN_MODEL);
    filter(policy, ACOG_FILTER_DIALECT, "dialect", ACOG_CONDITION_DIALECT);
    class(policy, ACOG_CLASS_CLIENT_CANCEL, (struct acog_class_row){.charge = ACOG_CHARGE_IGNORE});
    class(policy, ACOG_CLASS_DIED_AFTER_COMMIT, (struct acog_class_row){.charge = ACOG_CHARGE_ONE});
    class(policy, ACOG_CLASS_GATEWAY, (struct acog_class_row){.charge = ACOG_CHARGE_IGNORE});
}

/* Transport, clocks and streams come first in every policy; statuses follow. */
#define TRANSPORT_ROWS                                                                           \
    {.causes = ACOG_BIT(ACOG_CAUSE_CONNECT) | ACOG_BIT(ACOG_CAUSE_CLOSED),                       \
     .class = ACOG_CLASS_NETWORK},                                                               \
        {.clocks = ACOG_BIT(ACOG_CLOCK_CONNECT), .class = ACOG_CLASS_TIMEOUT_CONNECT},           \
        {.clocks = ACOG_BIT(ACOG_CLOCK_HEADERS), .class = ACOG_CLASS_TIMEOUT_HEADERS},           \
        {.clocks = ACOG_BIT(ACOG_CLOCK_FIRST_EVENT), .class = ACOG_CLASS_TIMEOUT_FIRST_EVENT},   \
        {.clocks = ACOG_BIT(ACOG_CLOCK_FIRST_OUTPUT), .class = ACOG_CLASS_TIMEOUT_FIRST_OUTPUT}, \
        {.causes = ACOG_BIT(ACOG_CAUSE_CLOCK), .class = ACOG_CLASS_TIMEOUT_FULL},                \
        {.causes = ACOG_BIT(ACOG_CAUSE_STREAM_ERROR) | ACOG_BIT(ACOG_CAUSE_CUT),                 \
         .before_output_only = true,                                                             \
         .class = ACOG_CLASS_STREAM_ERROR_FIRST},                                                \
        {.causes = ACOG_BIT(ACOG_CAUSE_BAD_ANSWER), .class = ACOG_CLASS_BAD_ANSWER},             \
    {                                                                                            \
        .causes = ACOG_BIT(ACOG_CAUSE_REFUSAL), .class = ACOG_CLASS_REFUSAL_200                  \
    }

#define STATUS_ROW(from, to, name)                                                       \
    {                                                                                    \
        .causes = ACOG_BIT(ACOG_CAUSE_STATUS), .status_from = (from), .status_to = (to), \
        .class = ACOG_CLASS_##name                                                       \
    }

#define SHAPE_ROW(shape, name)                                                     \
    {                                                                              \
        .causes = ACOG_BIT(ACOG_CAUSE_STATUS) | ACOG_BIT(ACOG_CAUSE_STREAM_ERROR), \
        .shapes = ACOG_BIT(ACOG_SHAPE_##shape), .class = ACOG_CLASS_##name         \
    }

#define OTHER_ROW                                                                  \
    {                                                                              \
        .causes = ACOG_BIT(ACOG_CAUSE_STATUS), .class = ACOG_CLASS_INVALID_REQUEST \
    }

/* -- S0 -------------------------------------------------------------------------------------------- */

static const struct acog_classify_row routerplus_classify[] = {
    SHAPE_ROW(REFUSAL, REFUSAL), /* before every status (S0.34) */
    TRANSPORT_ROWS,
    STATUS_ROW(429, 429, THROTTLED),
    STATUS_ROW(401, 403, AUTH),
    SHAPE_ROW(CONTEXT_OVERFLOW, CONTEXT_OVERFLOW),
    STATUS_ROW(404, 404, NOT_FOUND),
    SHAPE_ROW(MODEL_UNKNOWN, NOT_FOUND),
    STATUS_ROW(500, 599, SERVER_ERROR),
    SHAPE_ROW(OVERLOAD, OVERLOADED),
    OTHER_ROW,
};

static const struct acog_clock_row routerplus_clocks[] = {
    {.clock = ACOG_CLOCK_CONNECT, .stream = true, .whole = true, .formula = {.base_ms = 10000}},
    {.clock = ACOG_CLOCK_HEADERS, .stream = true, .whole = true, .formula = {.base_ms = 20000}},
};

static void routerplus(struct acog_policy *policy)
{
    struct acog_class_row moves = {
        .move = ACOG_MOVE_NEXT, .charge = ACOG_CHARGE_ONE, .retryable = true};
    filter(policy, ACOG_FILTER_CIRCUIT, "circuit", ACOG_CONDITION_ALL_OPEN);
    order(policy, ACOG_ORDER_RESERVED);
    order(policy, ACOG_ORDER_PRIORITY);
    policy->send_id = ACOG_SEND_DECLARED_OR_CLIENT;
    policy->one_choice_only = true;
    policy->classify = routerplus_classify;
    policy->classify_count = COUNT_OF(routerplus_classify);
    policy->clocks = routerplus_clocks;
    policy->clock_count = COUNT_OF(routerplus_clocks);
    class(policy, ACOG_CLASS_NETWORK, moves);
    timeouts(policy, moves);
    class(policy, ACOG_CLASS_SERVER_ERROR, moves);
    class(policy, ACOG_CLASS_OVERLOADED, moves);
    class(policy, ACOG_CLASS_STREAM_ERROR_FIRST, moves);
    class(policy, ACOG_CLASS_BAD_ANSWER, moves);
    class(policy, ACOG_CLASS_NOT_FOUND, moves);
    class(policy, ACOG_CLASS_AUTH, moves);
    struct acog_class_row throttled = moves;
    throttled.uptime_skip = true;
    throttled.retry_after_ms = -2;
    throttled.retry_after_ms_max = 60000;
    throttled.pool_ms_min = 1000;
    throttled.pool_ms_max = 60000;
    class(policy, ACOG_CLASS_THROTTLED, throttled);
    class(policy, ACOG_CLASS_REFUSAL, (struct acog_class_row){.status = 400});
    class(policy, ACOG_CLASS_CONTEXT_OVERFLOW, (struct acog_class_row){.status = 400});
    class(policy, ACOG_CLASS_INVALID_REQUEST, (struct acog_class_row){.uptime_skip = true});
    class(policy, ACOG_CLASS_CLIENT_CANCEL, (struct acog_class_row){.charge = ACOG_CHARGE_SUCCESS});
    policy->health = (struct acog_health){.mode = ACOG_HEALTH_EXCLUDE,
                                          .key = ACOG_HEALTH_KEY_CONNECTION,
                                          .threshold = 2,
                                          .cooldown_ms = 30000,
                                          .factor = 1,
                                          .cooldown_ms_max = 30000};
    policy->commit.stream = ACOG_COMMIT_FIRST_OUTPUT;
    policy->commit.outputs = ACOG_BIT(ACOG_OUTPUT_TEXT) | ACOG_BIT(ACOG_OUTPUT_REASONING) |
                             ACOG_BIT(ACOG_OUTPUT_TOOL) | ACOG_BIT(ACOG_OUTPUT_REFUSAL);
    policy->commit.started_on = policy->commit.outputs | ACOG_BIT(ACOG_OUTPUT_USAGE);
    condition(policy, ACOG_CONDITION_UNKNOWN_MODEL, 404, "model_unavailable", -1);
    condition(policy, ACOG_CONDITION_ALL_OPEN, 503, "gateway_error", 5000);
    policy->errors[ACOG_CONDITION_EXHAUSTED].use_last = true;
}

/* -- S1 -------------------------------------------------------------------------------------------- */

static const struct acog_classify_row rolter_classify[] = {
    TRANSPORT_ROWS,
    STATUS_ROW(429, 429, THROTTLED),
    STATUS_ROW(408, 408, STATUS_408),
    STATUS_ROW(500, 599, SERVER_ERROR),
    STATUS_ROW(451, 451, REFUSAL), /* any body (S1.13) */
    {.causes = ACOG_BIT(ACOG_CAUSE_STATUS),
     .status_from = 400,
     .status_to = 400,
     .shapes = ACOG_BIT(ACOG_SHAPE_REFUSAL),
     .class = ACOG_CLASS_REFUSAL},
    {.causes = ACOG_BIT(ACOG_CAUSE_STATUS),
     .status_from = 403,
     .status_to = 403,
     .shapes = ACOG_BIT(ACOG_SHAPE_REFUSAL),
     .class = ACOG_CLASS_REFUSAL},
    {.causes = ACOG_BIT(ACOG_CAUSE_STATUS),
     .status_from = 422,
     .status_to = 422,
     .shapes = ACOG_BIT(ACOG_SHAPE_REFUSAL),
     .class = ACOG_CLASS_REFUSAL},
    STATUS_ROW(401, 403, AUTH),
    STATUS_ROW(404, 404, NOT_FOUND),
    OTHER_ROW,
};

static const struct acog_clock_row rolter_clocks[] = {
    {.clock = ACOG_CLOCK_CONNECT, .stream = true, .whole = true, .formula = {.base_ms = 10000}},
    {.clock = ACOG_CLOCK_HEADERS, .stream = true, .whole = true, .formula = {.base_ms = 60000}},
};

static struct acog_class_row taken_over(struct acog_class_row row, const char *name)
{
    row.takeover = acog_view_of(name);
    return row;
}

static void rolter(struct acog_policy *policy)
{
    struct acog_class_row moves = {.move = ACOG_MOVE_NEXT, .charge = ACOG_CHARGE_ONE};
    struct acog_class_row final = {.relay = ACOG_RELAY_VERBATIM};
    filter(policy, ACOG_FILTER_UNRESTRICTED, "unrestricted", ACOG_CONDITION_ALL_OPEN);
    filter(policy, ACOG_FILTER_CIRCUIT, "circuit", ACOG_CONDITION_ALL_OPEN);
    order(policy, ACOG_ORDER_SPREAD_FIRST);
    order(policy, ACOG_ORDER_CATALOGUE);
    policy->same_model_only = false;
    policy->classify = rolter_classify;
    policy->classify_count = COUNT_OF(rolter_classify);
    policy->clocks = rolter_clocks;
    policy->clock_count = COUNT_OF(rolter_clocks);
    class(policy, ACOG_CLASS_NETWORK, taken_over(moves, "connection"));
    timeouts(policy, taken_over(moves, "timeout"));
    class(policy, ACOG_CLASS_STATUS_408, taken_over(moves, "timeout"));
    class(policy, ACOG_CLASS_THROTTLED, taken_over(moves, "throttled"));
    class(policy, ACOG_CLASS_SERVER_ERROR, taken_over(moves, "server_error"));
    struct acog_class_row refusal = final;
    refusal.move = ACOG_MOVE_RESTRICTED;
    class(policy, ACOG_CLASS_REFUSAL, taken_over(refusal, "refusal"));
    class(policy, ACOG_CLASS_AUTH, final);
    class(policy, ACOG_CLASS_NOT_FOUND, final);
    class(policy, ACOG_CLASS_INVALID_REQUEST, final);
    policy->attempts.max = 3;
    policy->backoff = (struct acog_backoff){.kind = ACOG_BACKOFF_EXPONENTIAL,
                                            .ms_min = 100,
                                            .ms_max = 2000,
                                            .retry_after_ms_max = 30000};
    policy->health = (struct acog_health){.mode = ACOG_HEALTH_EXCLUDE,
                                          .key = ACOG_HEALTH_KEY_MODEL_CONNECTION,
                                          .threshold = 5,
                                          .cooldown_ms = 30000,
                                          .factor = 1,
                                          .cooldown_ms_max = 30000,
                                          .all_open = ACOG_ALL_OPEN_FAIL_OPEN};
    policy->commit.stream = ACOG_COMMIT_HEADERS;
    policy->commit.whole = ACOG_COMMIT_HEADERS;
    policy->commit.started_on = ACOG_BIT(ACOG_OUTPUT_TEXT);
    condition(policy, ACOG_CONDITION_UNKNOWN_MODEL, 404, "model_not_found", -1);
    policy->errors[ACOG_CONDITION_EXHAUSTED].use_last = true;
}

/* -- S2 -------------------------------------------------------------------------------------------- */

static const struct acog_classify_row kontinent_classify[] = {
    TRANSPORT_ROWS,
    {.causes = ACOG_BIT(ACOG_CAUSE_STATUS),
     .status_from = 429,
     .status_to = 429,
     .shapes = ACOG_BIT(ACOG_SHAPE_OVERLOAD),
     .class = ACOG_CLASS_OVERLOADED},
    {.causes = ACOG_BIT(ACOG_CAUSE_STATUS),
     .status_from = 503,
     .status_to = 503,
     .shapes = ACOG_BIT(ACOG_SHAPE_OVERLOAD),
     .class = ACOG_CLASS_OVERLOADED},
    STATUS_ROW(401, 403, AUTH),
    STATUS_ROW(404, 404, NOT_FOUND),
    STATUS_ROW(408, 408, STATUS_408),
    STATUS_ROW(409, 409, CONFLICT),
    STATUS_ROW(425, 425, CONFLICT),
    STATUS_ROW(429, 429, THROTTLED),
    STATUS_ROW(500, 599, SERVER_ERROR),
    SHAPE_ROW(CANNOT_SERVE, CANNOT_SERVE),
    OTHER_ROW,
};

static const struct acog_clock_row kontinent_clocks[] = {
    {.clock = ACOG_CLOCK_FIRST_EVENT, .stream = true, .formula = {.base_ms = 15000}},
    {.clock = ACOG_CLOCK_FIRST_EVENT,
     .stream = true,
     .surfaces = ACOG_BIT(ACOG_SURFACE_CHAT),
     .reasoning_only = true,
     .formula = {.base_ms = 45000}},
    {.clock = ACOG_CLOCK_FIRST_EVENT,
     .stream = true,
     .slow_only = true,
     .formula = {.base_ms = 30000}},
    {.clock = ACOG_CLOCK_TOTAL,
     .whole = true,
     .formula = {.base_ms = 15000, .per_tokens = 20, .add_ms = 1000, .cap_ms = 300000}},
    {.clock = ACOG_CLOCK_FIRST_EVENT,
     .stream = true,
     .extra_try = true,
     .formula = {.base_ms = 60000}},
    {.clock = ACOG_CLOCK_TOTAL,
     .whole = true,
     .extra_try = true,
     .formula = {.base_ms = 60000, .per_tokens = 20, .add_ms = 1000, .cap_ms = 300000}},
};

static void kontinent(struct acog_policy *policy)
{
    struct acog_class_row moves = {.move = ACOG_MOVE_NEXT, .charge = ACOG_CHARGE_ONE};
    order(policy, ACOG_ORDER_CATALOGUE);
    order(policy, ACOG_ORDER_DEMOTED_LAST);
    policy->classify = kontinent_classify;
    policy->classify_count = COUNT_OF(kontinent_classify);
    policy->clocks = kontinent_clocks;
    policy->clock_count = COUNT_OF(kontinent_clocks);
    class(policy, ACOG_CLASS_NETWORK, moves);
    timeouts(policy, moves);
    class(policy, ACOG_CLASS_AUTH, moves);
    class(policy, ACOG_CLASS_NOT_FOUND, moves);
    class(policy, ACOG_CLASS_STATUS_408, moves);
    class(policy, ACOG_CLASS_CONFLICT, moves);
    class(policy, ACOG_CLASS_THROTTLED, moves);
    class(policy, ACOG_CLASS_SERVER_ERROR, moves);
    class(policy, ACOG_CLASS_CANNOT_SERVE, moves);
    class(policy, ACOG_CLASS_STREAM_ERROR_FIRST, moves);
    class(policy, ACOG_CLASS_BAD_ANSWER, moves);
    class(policy, ACOG_CLASS_OVERLOADED,
          (struct acog_class_row){.move = ACOG_MOVE_NEXT, .charge = ACOG_CHARGE_TRIP});
    class(policy, ACOG_CLASS_INVALID_REQUEST,
          (struct acog_class_row){.status = 400,
                                  .relay = ACOG_RELAY_MESSAGE,
                                  .export_name = ACOG_VIEW("upstream_invalid_request")});
    policy->attempts.extra_slow_try = true;
    policy->last_floor =
        (struct acog_last_floor){.place = ACOG_FLOOR_LAST_NOT_DEMOTED, .base_ms = 60000};
    policy->health = (struct acog_health){.mode = ACOG_HEALTH_DEMOTE,
                                          .key = ACOG_HEALTH_KEY_MODEL_CONNECTION,
                                          .threshold = 3,
                                          .cooldown_ms = 300000,
                                          .factor = 2,
                                          .cooldown_ms_max = 1800000,
                                          .all_open = ACOG_ALL_OPEN_EARLIEST_FIRST};
    policy->commit.stream = ACOG_COMMIT_FIRST_EVENT;
    policy->commit.outputs = ACOG_BIT(ACOG_OUTPUT_TEXT);
    policy->commit.started_on = ACOG_BIT(ACOG_OUTPUT_TEXT);
    policy->drain_ms = 15000;
    condition(policy, ACOG_CONDITION_UNKNOWN_MODEL, 503, "SUPPLY_NOT_CONFIGURED", -1);
    condition(policy, ACOG_CONDITION_EXHAUSTED, 502, "PROVIDER_ERROR", -1);
    condition(policy, ACOG_CONDITION_EXHAUSTED_BY_TIME, 502, "PROVIDER_ERROR", -1);
}

/* -- S3 -------------------------------------------------------------------------------------------- */

static const struct acog_classify_row onerouter_classify[] = {
    TRANSPORT_ROWS,
    STATUS_ROW(500, 599, SERVER_ERROR),
    STATUS_ROW(429, 429, THROTTLED),
    STATUS_ROW(401, 403, AUTH),
    STATUS_ROW(404, 404, NOT_FOUND),
    OTHER_ROW,
};

static const struct acog_clock_row onerouter_clocks[] = {
    {.clock = ACOG_CLOCK_FIRST_OUTPUT, .stream = true, .formula = {.base_ms = 30000}},
    {.clock = ACOG_CLOCK_TOTAL, .whole = true, .formula = {.base_ms = 30000}},
};

static void onerouter(struct acog_policy *policy)
{
    struct acog_class_row moves = {.move = ACOG_MOVE_NEXT, .charge = ACOG_CHARGE_ONE};
    filter(policy, ACOG_FILTER_PIN, "pin", ACOG_CONDITION_PIN_UNMET);
    filter(policy, ACOG_FILTER_CIRCUIT, "circuit", ACOG_CONDITION_ALL_OPEN);
    order(policy, ACOG_ORDER_FIRST_OUTPUT);
    order(policy, ACOG_ORDER_CATALOGUE);
    policy->pin =
        (struct acog_pin){.scope = ACOG_PIN_CONNECTION, .body_path = ACOG_VIEW("provider.only")};
    policy->classify = onerouter_classify;
    policy->classify_count = COUNT_OF(onerouter_classify);
    policy->clocks = onerouter_clocks;
    policy->clock_count = COUNT_OF(onerouter_clocks);
    class(policy, ACOG_CLASS_NETWORK, moves);
    timeouts(policy, moves);
    class(policy, ACOG_CLASS_SERVER_ERROR, moves);
    class(policy, ACOG_CLASS_THROTTLED, moves);
    class(policy, ACOG_CLASS_AUTH, moves);
    class(policy, ACOG_CLASS_NOT_FOUND, moves);
    class(policy, ACOG_CLASS_STREAM_ERROR_FIRST, moves);
    class(policy, ACOG_CLASS_BAD_ANSWER, moves);
    class(policy, ACOG_CLASS_INVALID_REQUEST, (struct acog_class_row){.status = 400});
    policy->health = (struct acog_health){.mode = ACOG_HEALTH_EXCLUDE,
                                          .key = ACOG_HEALTH_KEY_MODEL_CONNECTION,
                                          .threshold = 3,
                                          .cooldown_ms = 30000,
                                          .factor = 1,
                                          .cooldown_ms_max = 30000};
    policy->commit.stream = ACOG_COMMIT_FIRST_OUTPUT;
    policy->commit.outputs =
        ACOG_BIT(ACOG_OUTPUT_TEXT) | ACOG_BIT(ACOG_OUTPUT_REASONING) | ACOG_BIT(ACOG_OUTPUT_TOOL);
    policy->commit.started_on = policy->commit.outputs;
    condition(policy, ACOG_CONDITION_UNKNOWN_MODEL, 404, "unknown_model", -1);
    condition(policy, ACOG_CONDITION_PIN_UNMET, 503, "model_unavailable", -1);
    condition(policy, ACOG_CONDITION_ALL_OPEN, 503, "model_unavailable", -1);
    condition(policy, ACOG_CONDITION_EXHAUSTED, 503, "model_unavailable", -1);
    condition(policy, ACOG_CONDITION_EXHAUSTED_BY_TIME, 504, "request_timeout", -1);
}

/* -- S4 -------------------------------------------------------------------------------------------- */

static const struct acog_classify_row acog_classify_rows[] = {
    TRANSPORT_ROWS,
    STATUS_ROW(429, 429, THROTTLED),
    STATUS_ROW(408, 408, STATUS_408),
    STATUS_ROW(401, 403, AUTH),
    STATUS_ROW(404, 404, NOT_FOUND),
    STATUS_ROW(409, 409, CONFLICT),
    STATUS_ROW(425, 425, CONFLICT),
    STATUS_ROW(500, 599, SERVER_ERROR),
    OTHER_ROW,
};

static const struct acog_clock_row acog_clock_rows[] = {
    {.clock = ACOG_CLOCK_CONNECT, .stream = true, .whole = true, .formula = {.base_ms = 10000}},
    {.clock = ACOG_CLOCK_HEADERS, .stream = true, .formula = {.base_ms = 60000}},
    {.clock = ACOG_CLOCK_FIRST_OUTPUT, .stream = true, .formula = {.base_ms = 120000}},
    {.clock = ACOG_CLOCK_IDLE, .stream = true, .whole = true, .formula = {.base_ms = 60000}},
    {.clock = ACOG_CLOCK_TOTAL,
     .whole = true,
     .formula = {.base_ms = 60000, .per_tokens = 20, .add_ms = 1000, .cap_ms = 600000}},
};

static const struct acog_pin_value acog_pin_values[] = {
    {{"direct", 6}, ACOG_CHANNEL_DIRECT}, {{"bedrock", 7}, ACOG_CHANNEL_BEDROCK},
    {{"vertex", 6}, ACOG_CHANNEL_VERTEX}, {{"azure", 5}, ACOG_CHANNEL_AZURE},
    {{"custom", 6}, ACOG_CHANNEL_CUSTOM},
};

static void acog_classes(struct acog_policy *policy)
{
    struct acog_class_row network = {.move = ACOG_MOVE_NEXT,
                                     .same = ACOG_SAME_IF_SOLE,
                                     .charge = ACOG_CHARGE_ONE,
                                     .status = 502};
    struct acog_class_row request_fault = {.relay = ACOG_RELAY_VERBATIM};
    class(policy, ACOG_CLASS_NETWORK, network);
    class(policy, ACOG_CLASS_BAD_ANSWER, network);
    class(policy, ACOG_CLASS_STREAM_ERROR_FIRST, network);
    network.status = 504;
    timeouts(policy, network);
    class(policy, ACOG_CLASS_STATUS_408, network);
    class(policy, ACOG_CLASS_SERVER_ERROR,
          (struct acog_class_row){.move = ACOG_MOVE_NEXT,
                                  .same = ACOG_SAME_IF_SOLE,
                                  .charge = ACOG_CHARGE_ONE,
                                  .relay = ACOG_RELAY_MESSAGE});
    class(policy, ACOG_CLASS_THROTTLED,
          (struct acog_class_row){.move = ACOG_MOVE_NEXT,
                                  .relay = ACOG_RELAY_MESSAGE,
                                  .retry_after_ms = -2,
                                  .retry_after_ms_max = 60000});
    class(policy, ACOG_CLASS_NOT_USABLE, (struct acog_class_row){.move = ACOG_MOVE_NEXT});
    class(policy, ACOG_CLASS_AUTH, (struct acog_class_row){.relay = ACOG_RELAY_OWN});
    class(policy, ACOG_CLASS_NOT_FOUND, request_fault);
    class(policy, ACOG_CLASS_CONFLICT, request_fault);
    class(policy, ACOG_CLASS_INVALID_REQUEST, request_fault);
    class(policy, ACOG_CLASS_REFUSAL_200,
          (struct acog_class_row){.move = ACOG_MOVE_FALLBACK_MODEL});
}

static void acog(struct acog_policy *policy)
{
    filter(policy, ACOG_FILTER_ACCESS, "access", ACOG_CONDITION_ACCESS);
    filter(policy, ACOG_FILTER_DLP, "dlp", ACOG_CONDITION_DLP);
    filter(policy, ACOG_FILTER_PIN, "pin", ACOG_CONDITION_PIN_UNMET);
    filter(policy, ACOG_FILTER_DEFAULT_EXCLUSIVE, "default_exclusive", ACOG_CONDITION_FILTERED);
    filter(policy, ACOG_FILTER_ARBITRAGE, "arbitrage", ACOG_CONDITION_FILTERED);
    filter(policy, ACOG_FILTER_USABLE, "usable", ACOG_CONDITION_NOT_USABLE);
    filter(policy, ACOG_FILTER_CIRCUIT, "circuit", ACOG_CONDITION_ALL_OPEN);
    order(policy, ACOG_ORDER_PRICE);
    order(policy, ACOG_ORDER_SPREAD_FIRST);
    order(policy, ACOG_ORDER_CHANNEL_RANK);
    order(policy, ACOG_ORDER_CATALOGUE);
    policy->spread = ACOG_SPREAD_ROUND_ROBIN;
    policy->exclusive_default = true;
    policy->classify = acog_classify_rows;
    policy->classify_count = COUNT_OF(acog_classify_rows);
    policy->clocks = acog_clock_rows;
    policy->clock_count = COUNT_OF(acog_clock_rows);
    acog_classes(policy);
    policy->attempts.max = 3;
    policy->attempts.not_usable_counts = true;
    policy->backoff =
        (struct acog_backoff){.kind = ACOG_BACKOFF_RANDOM, .ms_min = 50, .ms_max = 250};
    policy->health = (struct acog_health){.mode = ACOG_HEALTH_EXCLUDE,
                                          .key = ACOG_HEALTH_KEY_CHANNEL_MAKER,
                                          .threshold = 5,
                                          .cooldown_ms = 30000,
                                          .factor = 1,
                                          .cooldown_ms_max = 30000};
    policy->commit.stream = ACOG_COMMIT_FIRST_OUTPUT;
    policy->commit.outputs = ACOG_BIT(ACOG_OUTPUT_TEXT) | ACOG_BIT(ACOG_OUTPUT_REASONING) |
                             ACOG_BIT(ACOG_OUTPUT_TOOL) | ACOG_BIT(ACOG_OUTPUT_STOP);
    policy->commit.started_on =
        ACOG_BIT(ACOG_OUTPUT_TEXT) | ACOG_BIT(ACOG_OUTPUT_REASONING) | ACOG_BIT(ACOG_OUTPUT_TOOL);
    policy->pin = (struct acog_pin){.scope = ACOG_PIN_CHANNEL,
                                    .header = ACOG_VIEW("x-acog-channel"),
                                    .values = acog_pin_values,
                                    .value_count = COUNT_OF(acog_pin_values),
                                    .failover_inside = true};
    policy->refusal = (struct acog_refusal){
        .empty_200 = true, .fallback_model = ACOG_VIEW("claude-opus-4-8"), .same_connection = true};
    condition(policy, ACOG_CONDITION_UNKNOWN_MODEL, 409, "model_not_configured", -1);
    condition(policy, ACOG_CONDITION_PIN_UNKNOWN, 409, "model_not_configured", -1);
    condition(policy, ACOG_CONDITION_PIN_UNMET, 409, "model_not_configured", -1);
    condition(policy, ACOG_CONDITION_NOT_USABLE, 503, "connection_not_usable", -1);
    condition(policy, ACOG_CONDITION_ALL_OPEN, 503, "upstream_unavailable", 5000);
    policy->errors[ACOG_CONDITION_EXHAUSTED].use_last = true;
}

void engine_policy_fill(struct acog_policy *policy, enum engine_policy which)
{
    *policy = (struct acog_policy){0};
    common(policy);
    switch (which) {
    case ENGINE_POLICY_ACOG:
        acog(policy);
        return;
    case ENGINE_POLICY_ROUTERPLUS:
        routerplus(policy);
        return;
    case ENGINE_POLICY_ROLTER:
        rolter(policy);
        return;
    case ENGINE_POLICY_KONTINENT:
        kontinent(policy);
        return;
    case ENGINE_POLICY_ONEROUTER:
        onerouter(policy);
        return;
    }
    ACOG_UNREACHABLE("a policy");
}
