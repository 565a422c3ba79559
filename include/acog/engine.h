/* engine.h - decides what happens to a request; performs nothing.
 *
 * The engine is a pure state machine over one request. The exchange tells it what happened (struct acog_event),
 * and it answers with what to do next (struct acog_actions), in the order in which to do it. It reads no clock,
 * opens no socket, runs no Lua, allocates nothing: the time arrives with each event, a policy's function is an
 * ASK_POLICY action whose answer is an event, randomness comes from the seed of the first event.
 *
 *   NEW --arrived--> ASKING --answered--> (plan complete)
 *                      ^  |                 |
 *                      +--+ next function   v
 *      +--------------------------------- TRYING <--------------+
 *      |                                    | |                 | backoff over
 *      | commit level reached               | | attempt failed, | a candidate is left
 *      v                                    | +-> WAITING ------+
 *   COMMITTED                               |
 *      |  done, or failed: terminal frame   | none left, or the class answers
 *      v                                    v
 *    ENDED <--------------------------------+
 *      ^
 *      +-- DRAINING (the client left, the policy reads on for a while)
 *
 * ASKING also comes between TRYING and the next dispatch (`usable`, the fallback model). Every state but NEW may
 * end by a hang-up. Nothing moves back over COMMITTED: after the first byte went to the client, no second upstream
 * is dialled.
 *
 * Selection has no side effect: probe and in-flight count are taken at DISPATCH and given back on every exit. The
 * ticket of a round robin is taken when a request that will be dispatched is put in order: two requests that plan
 * at the same time must not read the same one. acog_engine_plan_only() makes the plan of a request without
 * dispatching it and only reads the ticket: the very same code serves `acog explain`.
 *
 * What a driver of the engine may rely on:
 * - One attempt is live at a time. An attempt that ended by its own (FAILED) keeps its head and body until its CANCEL,
 *   which comes before the next DISPATCH, or until FINISH. At most one CANCEL for an attempt.
 * - FINISH is the last action, and frees whatever an attempt still holds.
 * - After COMMIT exactly one of END_REPLY and FAIL_STREAM follows, unless the client left first. Without a COMMIT
 *   exactly one of ANSWER_ERROR and REPLAY_KEPT, unless the client left first.
 *
 * Rules: CONFORMANCE part D; defaults: DESIGN, "The default policy's answers".
 */
#ifndef ACOG_ENGINE_H
#define ACOG_ENGINE_H

#include "acog/buffer.h"
#include "acog/circuit.h"
#include "acog/failure.h"
#include "acog/names.h"
#include "acog/shared.h"
#include "acog/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_ATTEMPTS_MAX \
    16 /* of one request, resends and extra tries included; then it is exhausted */
#define ACOG_ACTIONS_MAX 16
#define ACOG_PINS_MAX    8
#define ACOG_NO_PLAN_ROW 0xffU /* the attempt's candidate is none of the plan: the fallback model */

/* -- what the engine is told ----------------------------------------------------------------------- */

/* A request as the rules see it. Lent until the request has ended. */
struct acog_request_facts {
    enum acog_surface surface;
    bool stream;
    struct acog_view model;
    int64_t max_tokens; /* -1: not given */
    uint32_t choices;   /* n; 1 when not given */
    bool tools;
    bool images;
    uint64_t body_bytes;
    int64_t input_tokens_estimate;
    struct acog_view pins[ACOG_PINS_MAX]; /* as the policy's pin row asked for */
    size_t pin_count;
    bool fallback_opt_out;
    const struct acog_header_row *headers; /* the allow-listed ones (snapshot.client_headers) */
    size_t header_count;
    struct acog_view key_name; /* of the gateway key, or empty */
    uint64_t access_rules; /* a bit for each of policy.access_rules that is about this request */
    uint64_t dlp_rules;    /* a bit for each of policy.dlp_rules that the texts touch */
    const struct acog_dedicated *dedicated; /* the client asked for this endpoint; NULL: a model */
};

enum acog_slot_kind {
    ACOG_SLOT_MATCH = 0, /* model -> candidates */
    ACOG_SLOT_FILTER,    /* request, candidate -> keep?, reason */
    ACOG_SLOT_ORDER,     /* request, candidate -> number */
    ACOG_SLOT_USABLE, /* request, candidate -> usable?, reason (asked at dispatch, one candidate) */
    ACOG_SLOT_TRANSLATION, /* no function of a policy: can the request be told in the candidate's dialect, and if not,
                              why? core/exchange answers */
};

/* A question for the policy. Everything is lent until the answer. */
struct acog_ask {
    enum acog_slot_kind kind;
    uint16_t slot;
    const struct acog_request_facts *facts;
    struct acog_view
        model; /* MATCH, TRANSLATION: which model (the client's, or the fallback model) */
    const uint16_t *candidates; /* the others: indices into snapshot.candidates */
    size_t count;
};

struct acog_verdict {
    bool keep;
    struct acog_view reason; /* when dropped; must live as long as the request */
};

/* The answer, in the order of ask.candidates. */
struct acog_answer {
    bool failed; /* the function raised, overran its budget or answered outside its closed set */
    size_t count;

    union {
        const uint16_t
            *candidates; /* MATCH: catalogue order, exact before loose as the policy decided */
        const struct acog_verdict *verdicts; /* FILTER, USABLE, TRANSLATION */
        const double *numbers;               /* ORDER */
    };
};

enum acog_event_type {
    ACOG_EVENT_ARRIVED = 0,
    ACOG_EVENT_POLICY_ANSWERED,
    ACOG_EVENT_CONNECTED,   /* the attempt has a connection */
    ACOG_EVENT_HEADERS,     /* a 2xx head */
    ACOG_EVENT_FIRST_EVENT, /* a stream's first event that is no error */
    ACOG_EVENT_OUTPUT, /* `outputs` has what came; sent at least for the first of each kind until commit */
    ACOG_EVENT_ACTIVITY, /* bytes of the answer came: restarts the idle clock */
    ACOG_EVENT_HELD_FULL, /* the hold buffer reached its bound; the answer to it is COMMIT or CANCEL */
    ACOG_EVENT_FAILED,
    ACOG_EVENT_DONE, /* the answer is complete and was read as such */
    ACOG_EVENT_CLIENT_GONE,
    ACOG_EVENT_TICK, /* the deadline of acog_engine_deadline_ms() has come */
};

struct acog_event {
    enum acog_event_type type;
    uint32_t
        attempt; /* 1-based, as in DISPATCH; 0 for events without one. Of an ended attempt: ignored. */
    int64_t now_ms; /* monotonic */

    union {
        struct {
            const struct acog_request_facts *facts;
            uint64_t seed;
        } arrived;
        struct acog_answer answer;
        bool reused; /* CONNECTED */

        struct {
            uint16_t status;
        } headers;

        unsigned outputs;                   /* OUTPUT: ACOG_BIT(output) */
        const struct acog_failure *failure; /* FAILED: lent; the engine copies what it keeps */
    };
};

/* -- what the engine says -------------------------------------------------------------------------- */

enum acog_action_type {
    ACOG_ACTION_ASK_POLICY =
        0, /* .ask: answer with POLICY_ANSWERED before any other event but hang-up and tick */
    ACOG_ACTION_DISPATCH, /* .attempt .candidate .model: make a fresh attempt from the client's original */
    ACOG_ACTION_CANCEL,      /* .attempt: stop it, free its reader, writer and hold buffer */
    ACOG_ACTION_COMMIT,      /* .attempt: its writer is live; what is held goes out */
    ACOG_ACTION_KEEP_REPLY,  /* .attempt: its complete answer becomes the kept reply */
    ACOG_ACTION_REPLAY_KEPT, /* the kept reply is the answer */
    ACOG_ACTION_DROP_KEPT,
    ACOG_ACTION_ANSWER_ERROR, /* .error: the client gets an error answer */
    ACOG_ACTION_FAIL_STREAM, /* .attempt .lost: end the committed answer with the dialect's terminal frame */
    ACOG_ACTION_END_REPLY, /* .attempt: the committed answer is complete */
    ACOG_ACTION_FINISH,    /* the last action of a request; .outcome */
};

/* Which row makes the error, and from what. */
struct acog_error_answer {
    bool by_class; /* policy.classes[class], else policy.errors[condition] */
    enum acog_condition condition;
    enum acog_failure_class class
        ;             /* by_class; for EXHAUSTED also the last attempt's class, for the text */
    uint32_t attempt; /* whose head and body RELAY_MESSAGE and RELAY_VERBATIM use; 0: none */
    uint16_t upstream_status; /* 0: none */
    enum acog_relay relay;
    int64_t retry_after_ms;  /* -1: none; capped already */
    struct acog_view detail; /* for "%{detail}" */
};

enum acog_fallback {        /* x-acog-policy-fallback (S4.27-S4.30) */
    ACOG_FALLBACK_NONE = 0, /* no refusal was seen */
    ACOG_FALLBACK_APPLIED,
    ACOG_FALLBACK_SKIPPED,
    ACOG_FALLBACK_UNAVAILABLE,
};

struct acog_action {
    enum acog_action_type type;
    uint32_t attempt;

    union {
        struct acog_ask ask;

        struct {
            uint16_t candidate;     /* index into snapshot.candidates */
            struct acog_view model; /* the id to send */
            bool resend;
        } dispatch;
        struct acog_error_answer error;
        bool lost; /* FAIL_STREAM: the connection or a clock, else an error event of the model */
        enum acog_outcome outcome;
    };
};

/* Valid until the next step of the same request. */
struct acog_actions {
    struct acog_action list[ACOG_ACTIONS_MAX];
    size_t count;
};

/* -- the request ----------------------------------------------------------------------------------- */

enum acog_request_state {
    ACOG_REQUEST_NEW = 0,
    ACOG_REQUEST_ASKING,
    ACOG_REQUEST_TRYING,
    ACOG_REQUEST_WAITING,
    ACOG_REQUEST_COMMITTED,
    ACOG_REQUEST_DRAINING,
    ACOG_REQUEST_ENDED,
};

enum acog_plan_verdict {
    ACOG_PLAN_KEPT = 0, /* in the order, not reached */
    ACOG_PLAN_DROPPED, /* by `filter`, for `reason`; at dispatch too, and then it keeps its place */
    ACOG_PLAN_TRIED,   /* see the attempts */
};

/* One candidate's line in the decision record. */
struct acog_plan_row {
    uint16_t candidate;
    enum acog_plan_verdict verdict;
    uint8_t
        filter; /* DROPPED: index into policy.filters; filter_count: by none of them, at dispatch */
    bool restricted; /* has takes_over: never dialled first (S1.3) */
    bool demoted;
    bool moved_last; /* its probe was taken between plan and dispatch: tried after the others */
    bool would_probe;
    bool floor;           /* gets the last-route floor (D7) */
    bool forced;          /* dispatched although its circuit is open (fail open, demoted) */
    uint8_t tried;        /* times */
    uint8_t usual;        /* its place before demotion (S2.20) */
    uint8_t rank;         /* while ordering: equal for those that no key told apart yet */
    int64_t opened_at_ms; /* demoted: since when (S2.32) */
    double number;        /* of the function that orders */
    struct acog_view reason;
};

/* A dispatch that is decided but not sent: the backoff runs, or `usable` is being asked. */
struct acog_next_attempt {
    uint16_t candidate;
    uint8_t plan_row;
    bool extra_try;
    bool fallback;
};

/* One attempt's line (S0.80). Times are -1 until they come. */
struct acog_attempt_row {
    uint16_t candidate;
    uint8_t plan_row;
    bool resend;
    bool extra_try;
    bool fallback;
    bool live;
    bool cancelled; /* CANCEL was said: the driver keeps nothing of it */
    bool has_ticket;
    struct acog_circuit_ticket ticket;
    struct acog_view model;
    int64_t dispatched_at_ms;
    int64_t connected_at_ms;
    int64_t headers_at_ms;
    int64_t first_event_at_ms;
    int64_t first_output_at_ms;
    int64_t active_at_ms; /* the last byte */
    int64_t ended_at_ms;
    int64_t limits_ms[ACOG_CLOCK_COUNT]; /* -1: off */
    uint16_t status;
    unsigned outputs;
    bool failed;
    enum acog_failure_class class; /* when failed */
    enum acog_clock clock;         /* when a clock ended it */
    enum acog_cause cause;
    enum acog_outcome outcome; /* when ended */
};

/* The whole state of one request: the exchange owns it, zeroed before ARRIVED but for `plan`. Others read what the
 * decision record shows (plan, attempts, fallback, …) and change nothing. */
struct acog_request {
    enum acog_request_state state;
    const struct acog_request_facts *facts;
    uint64_t random;
    int64_t arrived_at_ms;
    int64_t now_ms;
    /* planning */
    struct acog_plan_row
        *plan; /* lent, with room for acog_plan_room(): kept ones in order, then dropped ones */
    size_t plan_count;   /* all rows */
    size_t kept_count;   /* rows in the order */
    uint8_t next_filter; /* the one to run, or being asked */
    uint8_t next_order_key;
    enum acog_slot_kind asked;
    enum acog_slot_kind answered; /* the kind of the last answer: for the transcript */
    bool pinned;
    bool exclusive; /* served by the default connection alone */
    bool moved_by_price;
    bool fail_open;
    uint8_t emptied_by; /* index of the filter that left nothing; meaningful when kept_count is 0 */
    uint16_t asked_candidates[ACOG_PLAN_MAX];
    size_t asked_count;
    /* trying */
    struct acog_attempt_row attempts[ACOG_ATTEMPTS_MAX];
    size_t attempt_count;
    uint32_t counted_attempts; /* against policy.attempts.max (S4.14) */
    uint32_t resends;
    uint32_t current;              /* the live attempt, 0: none */
    struct acog_next_attempt next; /* WAITING, and ASKING `usable` */
    int64_t wait_until_ms;         /* WAITING, DRAINING */
    uint32_t refused_before_send;  /* `usable` said no (S4.13) */
    uint32_t backoffs;
    int64_t queue_ms; /* the wait for its turn at a paced endpoint (S0.70) */
    bool extra_try_used;
    bool client_gone;
    bool committed;
    /* the last failure of an attempt that was sent */
    bool has_failure;
    enum acog_failure_class last_class;
    struct acog_failure last_failure; /* its views point into `texts`, cut to fit */
    char texts[640];
    size_t texts_used;
    struct acog_view fallback_reason; /* why the last move happened (S1.22); empty: none */
    char fallback_reason_text[96];
    /* refusal */
    enum acog_fallback fallback;
    uint32_t kept_attempt; /* whose answer is kept, 0: none */
    enum acog_outcome outcome;
};

/* How many rows a plan can have under a snapshot, at least one: a candidate has one row, and most gateways have few
 * candidates. */
static inline size_t acog_plan_room(const struct acog_snapshot *snapshot)
{
    size_t candidates = snapshot->candidate_count == 0 ? 1 : snapshot->candidate_count;
    return candidates < ACOG_PLAN_MAX ? candidates : ACOG_PLAN_MAX;
}

/* Takes one event in and writes what to do into `actions`, whose former content is lost. Events of ended
 * attempts and of an ended request give no action. */
void acog_engine_step(const struct acog_snapshot *snapshot, struct acog_shared *shared,
                      struct acog_request *request, const struct acog_event *event,
                      struct acog_actions *actions);

/* When to send TICK; INT64_MAX: never. */
int64_t acog_engine_deadline_ms(const struct acog_request *request);

/* As ARRIVED and POLICY_ANSWERED, but stops with the plan complete: no dispatch. The request's state is then
 * ACOG_REQUEST_TRYING with kept rows, or ACOG_REQUEST_ENDED when nothing is left, and `actions` holds the
 * ANSWER_ERROR that a request would get. */
void acog_engine_plan_only(const struct acog_snapshot *snapshot, struct acog_shared *shared,
                           struct acog_request *request, const struct acog_event *event,
                           struct acog_actions *actions);

/* The class that the policy's rows give to a failure (first row that fits and whose class is declared; GATEWAY when
 * none does). Three classes are the engine's own to give: NOT_USABLE, CLIENT_CANCEL, DIED_AFTER_COMMIT. */
enum acog_failure_class acog_classify(const struct acog_policy *policy,
                                      const struct acog_failure *failure, bool output_seen);

/* The limits of a circuit as a policy's health row writes them; for acog_circuit_look() outside the engine. */
struct acog_circuit_limits acog_health_limits(const struct acog_health *health);

/* Whether a candidate's circuit and pool would let a request through now; no side effect. */
bool acog_engine_admits(const struct acog_snapshot *snapshot, struct acog_shared *shared,
                        uint16_t candidate, int64_t now_ms);

/* Appends one line for the event and an indented one for each action, with the time since arrival: the form of
 * tests/golden, of a failing policy test and of the debug log. Without texts of the request. */
enum acog_code acog_transcript_step(struct acog_buffer *out, const struct acog_snapshot *snapshot,
                                    const struct acog_request *request,
                                    const struct acog_event *event,
                                    const struct acog_actions *actions) ACOG_MUST_CHECK;

#endif
