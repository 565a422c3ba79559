/* policy_rows.h - a policy, compiled into rows: the engine reads them, for each request, in place of any code of a
 * product.
 *
 * Each mechanism of CONFORMANCE part D is a group of rows below, named after its table. A behaviour of a product
 * is a value in these rows; there is no other place for it. They belong to a snapshot (snapshot.h), and live as long.
 * Times are milliseconds, sizes bytes, unless the name says otherwise.
 */
#ifndef ACOG_POLICY_ROWS_H
#define ACOG_POLICY_ROWS_H

#include "acog/header.h"
#include "acog/names.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_FILTERS_MAX    24  /* in one policy */
#define ACOG_ORDER_KEYS_MAX 8   /* in one policy */
#define ACOG_DEDICATED_MAX  256 /* endpoints of one policy */
#define ACOG_DLP_ITEMS_MAX  64  /* of one pattern of a data rule: a bit each */
#define ACOG_NO_SLOT        0xffffU

/* -- D3, D4: filters and order --------------------------------------------------------------------- */

enum acog_filter_kind {
    ACOG_FILTER_DECLARED = 0, /* the model's candidates; always first */
    ACOG_FILTER_DIALECT,
    ACOG_FILTER_RESERVED, /* capacity of others, and what a dedicated endpoint does not allow (S0.16) */
    ACOG_FILTER_ACCESS,
    ACOG_FILTER_DLP,
    ACOG_FILTER_PIN,
    ACOG_FILTER_DEFAULT_EXCLUSIVE,
    ACOG_FILTER_ARBITRAGE,
    ACOG_FILTER_UNRESTRICTED,
    ACOG_FILTER_USABLE,
    ACOG_FILTER_CIRCUIT,
    ACOG_FILTER_FUNCTION,
};

struct acog_filter {
    enum acog_filter_kind kind;
    struct acog_view name;          /* as explained: "pin", or the function's name or place */
    struct acog_view place;         /* "gateway.lua:14", or empty for a built-in one */
    uint16_t slot;                  /* FUNCTION */
    enum acog_condition when_empty; /* the answer when it leaves nothing */
};

/* The first key counts most, each further one only among those that are still equal; catalogue order breaks the last
 * ties. DEMOTED_LAST is the exception: wherever it stands in the list, it has the last word. */
enum acog_order_kind {
    ACOG_ORDER_CATALOGUE = 0,
    ACOG_ORDER_PRIORITY, /* ascending (S0.10) */
    ACOG_ORDER_RESERVED, /* the capacity that is reserved for the request's endpoint first (S0.16) */
    ACOG_ORDER_CHANNEL_RANK, /* policy.channel_rank (S4.7) */
    ACOG_ORDER_PRICE, /* ascending, unpriced last; counts only while arbitrage moved the request */
    ACOG_ORDER_SPREAD_FIRST, /* the policy's spread picks one to stand first; the others keep their order */
    ACOG_ORDER_SPREAD, /* the policy's spread orders all; both leave restricted targets out (S1.4) */
    ACOG_ORDER_FIRST_OUTPUT, /* ascending mean time to first output (S3.10); unknown first */
    ACOG_ORDER_DEMOTED_LAST, /* by time of demotion, oldest first (S2.25, G2.9) */
    ACOG_ORDER_FUNCTION,     /* ascending number */
};

struct acog_order_key {
    enum acog_order_kind kind;
    uint16_t slot; /* FUNCTION */
};

enum acog_spread_kind {
    ACOG_SPREAD_NONE = 0,
    ACOG_SPREAD_ROUND_ROBIN, /* by weight */
    ACOG_SPREAD_WEIGHTED,    /* by chance, by weight */
    ACOG_SPREAD_LEAST_IN_FLIGHT,
    ACOG_SPREAD_POWER_OF_TWO, /* the less busy of two by chance */
    ACOG_SPREAD_FIRST_OUTPUT, /* fastest */
    ACOG_SPREAD_CHEAPEST,
};

/* -- D5: classification and classes ---------------------------------------------------------------- */

/* First row that fits wins. A set of 0 means "any". */
struct acog_classify_row {
    unsigned causes;      /* ACOG_BIT(cause) */
    unsigned clocks;      /* ACOG_BIT(clock): only for cause CLOCK */
    uint16_t status_from; /* 0: any status, none included */
    uint16_t status_to;
    unsigned shapes;         /* ACOG_BIT(shape): one of these was found */
    bool before_output_only; /* the cause came before any output (STREAM_ERROR, CUT) */
    enum acog_failure_class class;
};

enum acog_move {
    ACOG_MOVE_NO = 0,
    ACOG_MOVE_NEXT,
    ACOG_MOVE_RESTRICTED,     /* only onto a target whose takes_over covers it (S1.11) */
    ACOG_MOVE_FALLBACK_MODEL, /* (S4.25) */
};

enum acog_same {
    ACOG_SAME_NEVER = 0,
    ACOG_SAME_IF_SOLE, /* when no other candidate is left (G4.12) */
    ACOG_SAME_FIRST,   /* up to same_max times before moving */
};

enum acog_pause {
    ACOG_PAUSE_ALWAYS = 0,
    ACOG_PAUSE_SAME, /* only before the same candidate is asked again */
    ACOG_PAUSE_NEVER,
};

enum acog_charge {
    ACOG_CHARGE_NONE =
        0, /* the upstream answered: frees a probe, closes a half-open circuit (decision 12) */
    ACOG_CHARGE_ONE,
    ACOG_CHARGE_TRIP,    /* opens at once (S2.27) */
    ACOG_CHARGE_SUCCESS, /* (S0.55) */
    ACOG_CHARGE_IGNORE,  /* frees a probe and changes nothing */
};

enum acog_relay {
    ACOG_RELAY_OWN = 0,  /* the gateway's own body and message */
    ACOG_RELAY_MESSAGE,  /* own body with the provider's message */
    ACOG_RELAY_VERBATIM, /* the provider's body as it came (same dialect only, else MESSAGE) */
};

struct acog_class_row {
    bool
        declared; /* the policy names this class; an undeclared one is never the result of classification */
    enum acog_move move;
    enum acog_same same;
    uint32_t same_max;
    enum acog_pause pause; /* when the policy's backoff is waited for after this failure */
    enum acog_charge charge;
    bool uptime_skip;
    bool retryable;
    bool
        by_time; /* failed only because of a time limit: may get the extra try (S2.18); counts for all_timeout */
    enum acog_relay relay;
    struct acog_view export_name; /* the code told to the client */
    struct acog_view type;        /* error type told to the client; empty: by dialect and status */
    struct acog_view message;     /* template; empty: a text by class */
    uint16_t status;            /* told to the client; 0: the upstream's, 502 when there was none */
    int64_t retry_after_ms;     /* told to the client; -1: none, -2: the upstream's, capped */
    int64_t retry_after_ms_max; /* the cap */
    struct acog_view takeover;  /* the name a restricted target knows it by (G1.1); empty: none */
    int64_t pool_ms_min; /* cools the connection for Retry-After, clamped (S0.54); both 0: no */
    int64_t pool_ms_max;
};

/* -- D6, D7: attempts, backoff, clocks ------------------------------------------------------------- */

enum acog_restricted_place {
    ACOG_RESTRICTED_DECLARED_ORDER = 0, /* (decision 7) */
    ACOG_RESTRICTED_FIRST,
    ACOG_RESTRICTED_LAST,
};

enum acog_backoff_kind {
    ACOG_BACKOFF_NONE = 0,
    ACOG_BACKOFF_RANDOM,      /* between ms_min and ms_max (S4.14) */
    ACOG_BACKOFF_EXPONENTIAL, /* full jitter: 0 … min(ms_max, ms_min * 2^n) */
};

struct acog_backoff {
    enum acog_backoff_kind kind;
    int64_t ms_min;
    int64_t ms_max;
    int64_t retry_after_ms_max; /* a 429's Retry-After replaces the draw, up to this; 0: never */
};

struct acog_attempts {
    uint32_t max;        /* 0: all candidates */
    bool extra_slow_try; /* (S2.18) */
    enum acog_restricted_place restricted;
    bool not_usable_counts; /* a refusal before sending spends an attempt (G4.13) */
    uint32_t
        resend_max; /* sends again on a reused connection that died before any byte; not counted */
};

/* base + tokens / per_tokens * add, at most cap; tokens = the request's limit, else the model's, else: the cap. */
struct acog_formula {
    int64_t base_ms;
    int64_t per_tokens; /* 0: base alone */
    int64_t add_ms;
    int64_t cap_ms; /* 0: none */
};

/* The limit of a clock is the largest of the rows that fit; no row: the clock is off. */
struct acog_clock_row {
    enum acog_clock clock;
    bool stream;       /* fits streams */
    bool whole;        /* fits whole answers */
    unsigned surfaces; /* ACOG_BIT(surface); 0: all */
    bool reasoning_only;
    bool slow_only;
    bool
        extra_try; /* the row is for the extra try alone, where it replaces all others of its clock */
    struct acog_formula formula;
};

enum acog_floor_place {
    ACOG_FLOOR_OFF = 0,
    ACOG_FLOOR_LAST_NOT_DEMOTED, /* (decision 8) */
    ACOG_FLOOR_BEFORE_DEMOTED,
    ACOG_FLOOR_LAST,
};

struct acog_last_floor {
    enum acog_floor_place place;
    int64_t
        base_ms; /* applies to each clock but connect and idle that the candidate has: max(own, base) */
};

/* -- D8: health ------------------------------------------------------------------------------------ */

enum acog_health_mode {
    ACOG_HEALTH_OFF = 0,
    ACOG_HEALTH_EXCLUDE,
    ACOG_HEALTH_DEMOTE,
};

enum acog_health_key {
    ACOG_HEALTH_KEY_CONNECTION = 0,
    ACOG_HEALTH_KEY_CHANNEL,
    ACOG_HEALTH_KEY_CHANNEL_MAKER, /* custom: and host (DESIGN, "default answers") */
    ACOG_HEALTH_KEY_MODEL_CONNECTION,
};

enum acog_all_open {
    ACOG_ALL_OPEN_REFUSE = 0,
    ACOG_ALL_OPEN_FAIL_OPEN, /* in the usual order */
    ACOG_ALL_OPEN_EARLIEST_FIRST,
};

struct acog_health {
    enum acog_health_mode mode;
    enum acog_health_key key;
    uint32_t threshold; /* consecutive charged failures; 1 to 255 */
    int64_t cooldown_ms;
    uint32_t factor; /* of each further cooldown; at least 1 */
    int64_t cooldown_ms_max;
    enum acog_all_open all_open;
};

/* -- D9: commit ------------------------------------------------------------------------------------ */

enum acog_commit_level {
    ACOG_COMMIT_HEADERS = 0,
    ACOG_COMMIT_FIRST_EVENT,
    ACOG_COMMIT_FIRST_OUTPUT,
    ACOG_COMMIT_ANSWER, /* whole answers: when all of it was read and understood */
};

struct acog_commit {
    enum acog_commit_level stream;
    enum acog_commit_level whole; /* HEADERS or ANSWER */
    unsigned outputs;             /* ACOG_BIT(output): what counts as first output */
    unsigned started_on;          /* ACOG_BIT(output): "answer started" (G0.6) */
    size_t held_bytes_max;
    bool fail_when_full; /* else: commit (DESIGN, "Defaults of caps") */
};

/* -- D10, D11: pins and refusals ------------------------------------------------------------------- */

enum acog_pin_scope {
    ACOG_PIN_NONE = 0,
    ACOG_PIN_CHANNEL,
    ACOG_PIN_CONNECTION,
};

struct acog_pin_value {
    struct acog_view text; /* as the client writes it */
    enum acog_channel channel;
};

struct acog_pin {
    enum acog_pin_scope scope;
    struct acog_view header;             /* lower case; empty: none */
    struct acog_view body_path;          /* "provider.only"; empty: none */
    const struct acog_pin_value *values; /* CHANNEL: the words allowed */
    size_t value_count;
    bool failover_inside;
    bool unmet_when_failed; /* all that it names failed: answered as when there is none (S3.15) */
    bool overrides_dlp;     /* (decision 1) */
    bool strip;             /* a body pin is not sent upstream */
};

struct acog_refusal {
    bool empty_200;                  /* look for an empty answer with a refusal (S4.24) */
    struct acog_view fallback_model; /* empty: none */
    bool same_connection;            /* only there (decision 9) */
    bool counts_as_attempt;
    struct acog_view note;           /* text put into the answer; empty: none */
    struct acog_view opt_out_header; /* lower case; empty: none */
    struct acog_view opt_out_value;
};

/* -- D13: response headers ------------------------------------------------------------------------- */

enum acog_header_fact {
    ACOG_FACT_REQUEST_ID = 0,
    ACOG_FACT_CONNECTION,
    ACOG_FACT_CHANNEL,
    ACOG_FACT_SERVED_BY,
    ACOG_FACT_UPSTREAM_MODEL, /* the id sent */
    ACOG_FACT_RESOLVED_MODEL, /* the same: always said (S4.32) */
    ACOG_FACT_ATTEMPTS,
    ACOG_FACT_UPSTREAM_STATUS,
    ACOG_FACT_DROPPED_PARAMS,
    ACOG_FACT_PLAN_ID,
    ACOG_FACT_ERROR_CLASS,
    ACOG_FACT_ERROR_ORIGIN,
    ACOG_FACT_LIMIT_KIND,
    ACOG_FACT_POLICY_FALLBACK,
    ACOG_FACT_FALLBACK_REASON,
    ACOG_FACT_FIRST_OUTPUT_MS,
    ACOG_FACT_RETRYABLE, /* on errors by class: the class row's */
    ACOG_FACT_DEDICATED_ENDPOINT,
    ACOG_FACT_ROUTE_ROLE, /* "primary": the endpoint's own capacity, "fallback": public (S0.69) */
    ACOG_FACT_QUEUE_MS,   /* of an endpoint with a pace (S0.70) */
};

struct acog_response_header {
    enum acog_header_fact fact;
    struct acog_view name;  /* lower case */
    bool only_when_differs; /* UPSTREAM_MODEL: from the client's (S0.64) */
    bool only_on_error;
};

/* -- D14, D15: errors and terminal frames ---------------------------------------------------------- */

struct acog_error_row {
    uint16_t status;
    struct acog_view code;
    struct acog_view type;    /* empty: by dialect and status */
    struct acog_view message; /* template */
    int64_t retry_after_ms;   /* -1: none */
    bool use_last;            /* EXHAUSTED: the class of the last attempt answers (G0.1) */
    const struct acog_header_row *headers;
    size_t header_count;
};

enum acog_stream_end {
    ACOG_STREAM_END_EVENT = 0,      /* one error event of the dialect (S0.26) */
    ACOG_STREAM_END_EVENT_AND_DONE, /* chat: and [DONE] */
    ACOG_STREAM_END_FINISH_ERROR,   /* chat: a last frame with finish_reason "error" (S2.41) */
    ACOG_STREAM_END_VERBATIM,       /* the upstream's own error event (S2.43) */
    ACOG_STREAM_END_CLOSE,          /* nothing: the body is cut without its last chunk */
};

struct acog_stream_error {
    enum acog_stream_end on_event; /* the model sent an error event */
    enum acog_stream_end on_lost;  /* the connection was lost, or a clock ran out */
};

/* -- names of models and endpoints ------------------------------------------------------------------ */

enum acog_send_id {
    ACOG_SEND_DECLARED = 0,
    ACOG_SEND_CLIENT,
    ACOG_SEND_DECLARED_OR_CLIENT, /* the declared one only if the connection gave an id of its own (G0.9) */
};

/* Another name for a model, put in its place before anything else is asked (S3.4). */
struct acog_alias {
    struct acog_view name;
    struct acog_view model;
};

/* A dedicated endpoint: a name that clients ask for instead of a model (S0.16-S0.18). */
struct acog_dedicated {
    struct acog_view name;  /* "acme/fast" */
    struct acog_view model; /* the one model it serves */
    bool closed; /* the answer does not tell which route it was; the policy's name stands for all */
    bool own_only;                   /* its reserved capacity alone */
    unsigned channels;               /* ACOG_BIT(channel): of public connections; 0: any */
    const struct acog_view *regions; /* likewise; none: any */
    size_t region_count;
    int64_t pace_ms;     /* from one turn to the next; 0: no pace */
    int64_t wait_ms_max; /* for a turn; a longer queue is refused */
    uint16_t pace_cell;  /* acog_shared */
};

/* -- who may use which models, and data protection (S4.18c) ----------------------------------------- */

/* Requests that have a header (of that value) may use these models, and what other rules that fit allow. */
struct acog_access_rule {
    struct acog_view header; /* lower case; empty: every request */
    struct acog_view value;  /* empty: any */
    const struct acog_view *models;
    size_t model_count;
    struct acog_view reason;
};

/* A pattern as a machine of bits: item i is bit i. Compiled by core/policy/dlp.c, run by core/exchange/dlp.c. */
struct acog_dlp_pattern {
    uint64_t first;                      /* items that can begin */
    uint64_t last;                       /* items that can end */
    uint64_t follow[ACOG_DLP_ITEMS_MAX]; /* items that can come behind item i */
    uint64_t bytes[256];                 /* items that a byte fits */
};

struct acog_dlp_rule {
    struct acog_view name;
    struct acog_view reason; /* of a drop */
    const struct acog_view *
        words; /* lower case, by first byte: those of byte b are word_from[b] to word_from[b + 1] */
    uint16_t word_from[257];
    const struct acog_dlp_pattern *patterns;
    size_t pattern_count;
    unsigned channels;               /* ACOG_BIT(channel): where such a request may go; 0: any */
    const struct acog_view *regions; /* likewise; none: any */
    size_t region_count;
};

/* -- the policy ------------------------------------------------------------------------------------- */

struct acog_policy {
    struct acog_view name;
    const struct acog_access_rule *access_rules;
    size_t access_rule_count; /* at most 64 */
    const struct acog_dlp_rule *dlp_rules;
    size_t dlp_rule_count; /* at most 64 */
    const struct acog_dedicated *dedicated;
    size_t dedicated_count;
    const struct acog_alias *aliases;
    size_t alias_count;
    uint16_t
        match_slot; /* the function that says which candidates a model id reaches; NO_SLOT: exactly those declared so */
    enum acog_send_id send_id;
    bool same_model_only;   /* of several candidates: one family, and one of a connection */
    bool exclusive_default; /* a default connection that declares the model serves alone (S4.3) */
    bool arbitrage; /* cheaper channels may take a request from the default connection (S4.18a) */
    bool one_choice_only; /* n > 1 is a 400 (S0.32) */
    struct acog_filter filters[ACOG_FILTERS_MAX];
    size_t filter_count;
    struct acog_order_key order[ACOG_ORDER_KEYS_MAX];
    size_t order_count;
    enum acog_spread_kind spread;
    uint8_t channel_rank[ACOG_CHANNEL_COUNT];
    const struct acog_classify_row *classify;
    size_t classify_count;
    uint8_t
        reads_body[600 /
                   8]; /* bit per status: a row or a relay needs the error body (S1.12); derived */
    struct acog_class_row classes[ACOG_CLASS_COUNT];
    struct acog_attempts attempts;
    struct acog_backoff backoff;
    const struct acog_clock_row *clocks;
    size_t clock_count;
    struct acog_last_floor last_floor;
    struct acog_health health;
    struct acog_commit commit;
    struct acog_pin pin;
    struct acog_refusal refusal;
    int64_t drain_ms; /* how long to go on reading after the client left (S2.45); 0: stop at once */
    bool bad_event_drops; /* a stream event that is not JSON: dropped, else an error (DESIGN) */
    const struct acog_response_header *response_headers;
    size_t response_header_count;
    struct acog_error_row errors[ACOG_CONDITION_COUNT];
    /* JSON with %{message}, %{type}, %{code}, %{request_id} inside its texts; empty: the dialect's own form */
    struct acog_view error_bodies[ACOG_DIALECT_COUNT];
    struct acog_stream_error stream_errors[ACOG_DIALECT_COUNT];
};

/* The endpoint of that name, or NULL. */
static inline const struct acog_dedicated *acog_policy_dedicated(const struct acog_policy *policy,
                                                                 struct acog_view name)
{
    for (size_t i = 0; i < policy->dedicated_count; i++) {
        if (acog_view_equal(policy->dedicated[i].name, name)) {
            return &policy->dedicated[i];
        }
    }
    return NULL;
}

/* The model that a client's word stands for: an alias's, else the word itself. */
static inline struct acog_view acog_policy_resolve(const struct acog_policy *policy,
                                                   struct acog_view model)
{
    for (size_t i = 0; i < policy->alias_count; i++) {
        if (acog_view_equal(policy->aliases[i].name, model)) {
            return policy->aliases[i].model;
        }
    }
    return model;
}

static inline bool acog_policy_reads_body(const struct acog_policy *policy, unsigned status)
{
    return status < 600 && (policy->reads_body[status / 8] & (1U << (status % 8))) != 0;
}

#endif
