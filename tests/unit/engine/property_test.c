/* property_test.c - what must hold whatever the policy, the providers, the clients and the time do.
 *
 * Random policies in rows, two of them alive at a time as around a reload, several requests at once over the same
 * circuits, each under the snapshot that it arrived with; random events in any order that a driver could produce, late
 * and repeated ones included. An observer that knows only events and actions keeps its own books
 * and compares after every step. The seed is printed; ACOG_PROPERTY_SEED repeats a run.
 */
#include "acog/engine.h"
#include "acog/random.h"
#include "circuit_word.h"
#include "tests/support/check.h"
#include "tests/support/engine_rows.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS           1000000
#define STEPS_OF_POLICY 250 /* then a new policy is drawn */
#define REQUESTS        4   /* at once */
#define ENDING_STEPS \
    400 /* in which every request must have ended, once nothing holds it any more */

#define SNAPSHOTS 2 /* alive at once */

/* A snapshot, and the rows of its policy. */
struct drawn {
    struct engine_rows *rows;
    struct acog_classify_row classify[8];
    struct acog_clock_row clocks[10];
    struct acog_pin_value pin_values[ACOG_CHANNEL_COUNT];
};

/* What the observer knows of one request. */
struct observed {
    const struct drawn *drawn; /* what it arrived with */
    struct acog_request request;
    struct acog_plan_row plan[ACOG_PLAN_MAX]; /* lent to `request` */
    struct acog_request_facts facts;
    bool arrived;
    bool asking;
    struct acog_ask ask;
    bool client_gone;
    bool finished;
    uint32_t dispatched;
    uint32_t ordinary_dispatches;
    uint32_t resends;
    uint32_t extra_tries;
    uint32_t fallbacks;
    uint32_t live;                        /* 0: none */
    bool released[ACOG_ATTEMPTS_MAX + 1]; /* CANCEL was said */
    uint32_t kept;
    bool kept_dropped;
    uint32_t committed;
    bool ended_reply;
    bool failed_stream;
    bool answered_error;
    bool replayed;
    bool a_failure_was_seen;
    bool can_be_told
        [ACOG_PLAN_MAX]; /* by candidate: in the words of another dialect, the last answer said */
};

struct chaos {
    uint64_t random;
    struct drawn drawn[SNAPSHOTS];
    struct drawn *drawing;      /* the one that is being drawn */
    struct engine_rows *shared; /* whose circuits and counters all use */
    struct observed observed[REQUESTS];
    int64_t now_ms;
    /* what the policy answers with */
    uint16_t candidates[ACOG_PLAN_MAX + 2];
    struct acog_verdict verdicts[ACOG_PLAN_MAX + 2];
    double numbers[ACOG_PLAN_MAX + 2];
    size_t ends_seen[4]; /* by outcome: the test itself must not be blind */
    size_t commits;
    size_t replays;
    size_t probes;
    size_t extra_tries;
};

static int64_t between(struct chaos *chaos, int64_t from, int64_t to)
{
    return acog_random_between(&chaos->random, from, to);
}

static bool one_in(struct chaos *chaos, int64_t n)
{
    return between(chaos, 1, n) == 1;
}

/* -- random policies ------------------------------------------------------------------------------- */

static struct acog_class_row random_class(struct chaos *chaos)
{
    static const char *const takeovers[] = {"", "refusal", "throttled", "timeout"};
    return (struct acog_class_row){
        .declared = !one_in(chaos, 8),
        .move = (enum acog_move)between(chaos, 0, ACOG_MOVE_FALLBACK_MODEL),
        .same = (enum acog_same)between(chaos, 0, ACOG_SAME_FIRST),
        .same_max = (uint32_t)between(chaos, 0, 2),
        .charge = (enum acog_charge)between(chaos, 0, ACOG_CHARGE_IGNORE),
        .by_time = one_in(chaos, 2),
        .relay = (enum acog_relay)between(chaos, 0, ACOG_RELAY_VERBATIM),
        .retry_after_ms = between(chaos, -2, 3),
        .retry_after_ms_max = 60000,
        .takeover = acog_view_of(takeovers[between(chaos, 0, 3)]),
        .pool_ms_max = one_in(chaos, 6) ? 5000 : 0,
    };
}

static void random_classes(struct chaos *chaos, struct acog_policy *policy)
{
    for (size_t i = 0; i < ACOG_CLASS_COUNT; i++) {
        policy->classes[i] = random_class(chaos);
        if (one_in(chaos, 2)) { /* else too much would end at once */
            policy->classes[i].move = ACOG_MOVE_NEXT;
        }
    }
    for (size_t i = 0; i < 8; i++) {
        chaos->drawing->classify[i] = (struct acog_classify_row){
            .causes = one_in(chaos, 2) ? (unsigned)between(chaos, 0, 0x7ff) : 0,
            .status_from = one_in(chaos, 3) ? 500 : 0,
            .status_to = 599,
            .shapes = one_in(chaos, 4) ? (unsigned)between(chaos, 0, 0xff) : 0,
            .before_output_only = one_in(chaos, 4),
            .class = (enum acog_failure_class)between(chaos, 0, ACOG_CLASS_COUNT - 1),
        };
    }
    policy->classify = chaos->drawing->classify;
    policy->classify_count = (size_t)between(chaos, 1, 8);
}

static void random_clocks(struct chaos *chaos, struct acog_policy *policy)
{
    for (size_t i = 0; i < 10; i++) {
        chaos->drawing->clocks[i] = (struct acog_clock_row){
            .clock = (enum acog_clock)between(chaos, 0, ACOG_CLOCK_COUNT - 1),
            .stream = one_in(chaos, 2),
            .whole = one_in(chaos, 2),
            .reasoning_only = one_in(chaos, 6),
            .slow_only = one_in(chaos, 6),
            .extra_try = one_in(chaos, 5),
            .formula = {.base_ms = between(chaos, 1, 2000),
                        .per_tokens = between(chaos, 0, 20),
                        .add_ms = between(chaos, 0, 1000),
                        .cap_ms = between(chaos, 0, 5000)},
        };
    }
    policy->clocks = chaos->drawing->clocks;
    policy->clock_count = (size_t)between(chaos, 0, 10);
    policy->last_floor = (struct acog_last_floor){
        .place = (enum acog_floor_place)between(chaos, 0, ACOG_FLOOR_LAST), .base_ms = 3000};
}

static void random_pipeline(struct chaos *chaos, struct acog_policy *policy)
{
    policy->filter_count = 0;
    for (int kind = ACOG_FILTER_DECLARED; kind <= ACOG_FILTER_FUNCTION; kind++) {
        if (kind == ACOG_FILTER_DECLARED || kind == ACOG_FILTER_DIALECT || !one_in(chaos, 4)) {
            policy->filters[policy->filter_count++] = (struct acog_filter){
                .kind = (enum acog_filter_kind)kind,
                .name = ACOG_VIEW("filter"),
                .when_empty = (enum acog_condition)between(chaos, 0, ACOG_CONDITION_COUNT - 1)};
        }
    }
    policy->order_count = (size_t)between(chaos, 0, 4);
    for (size_t i = 0; i < policy->order_count; i++) {
        policy->order[i].kind = (enum acog_order_kind)between(chaos, 0, ACOG_ORDER_FUNCTION);
    }
    policy->spread = (enum acog_spread_kind)between(chaos, 0, ACOG_SPREAD_CHEAPEST);
    policy->match_slot = one_in(chaos, 2) ? 0 : ACOG_NO_SLOT;
    policy->same_model_only = one_in(chaos, 2);
    policy->exclusive_default = one_in(chaos, 3);
    policy->arbitrage = one_in(chaos, 3);
    policy->send_id = (enum acog_send_id)between(chaos, 0, ACOG_SEND_DECLARED_OR_CLIENT);
}

static void random_policy(struct chaos *chaos, struct acog_policy *policy)
{
    random_pipeline(chaos, policy);
    random_classes(chaos, policy);
    random_clocks(chaos, policy);
    policy->attempts = (struct acog_attempts){
        .max = (uint32_t)between(chaos, 0, 4),
        .extra_slow_try = one_in(chaos, 2),
        .restricted = (enum acog_restricted_place)between(chaos, 0, ACOG_RESTRICTED_LAST),
        .not_usable_counts = one_in(chaos, 2),
        .resend_max = (uint32_t)between(chaos, 0, 2)};
    policy->backoff = (struct acog_backoff){
        .kind = (enum acog_backoff_kind)between(chaos, 0, ACOG_BACKOFF_EXPONENTIAL),
        .ms_min = between(chaos, 0, 50),
        .ms_max = between(chaos, 50, 300),
        .retry_after_ms_max = between(chaos, 0, 1000)};
    policy->health = (struct acog_health){
        .mode = (enum acog_health_mode)between(chaos, 0, ACOG_HEALTH_DEMOTE),
        .key = (enum acog_health_key)between(chaos, 0, ACOG_HEALTH_KEY_MODEL_CONNECTION),
        .threshold = (uint32_t)between(chaos, 1, 3),
        .cooldown_ms = between(chaos, 100, 2000),
        .factor = (uint32_t)between(chaos, 1, 3),
        .cooldown_ms_max = 8000,
        .all_open = (enum acog_all_open)between(chaos, 0, ACOG_ALL_OPEN_EARLIEST_FIRST)};
    policy->commit = (struct acog_commit){
        .stream = (enum acog_commit_level)between(chaos, 0, ACOG_COMMIT_ANSWER),
        .whole = (enum acog_commit_level)between(chaos, 0, ACOG_COMMIT_ANSWER),
        .outputs = (unsigned)between(chaos, 0, 0x3f),
        .started_on = (unsigned)between(chaos, 0, 0x3f),
        .fail_when_full = one_in(chaos, 2)};
    policy->pin = (struct acog_pin){.scope = (enum acog_pin_scope)between(chaos, 0, 2),
                                    .values = chaos->drawing->pin_values,
                                    .value_count = ACOG_CHANNEL_COUNT,
                                    .failover_inside = one_in(chaos, 2)};
    policy->refusal = (struct acog_refusal){
        .fallback_model = one_in(chaos, 5) ? (struct acog_view){0} : ACOG_VIEW("fallback"),
        .same_connection = one_in(chaos, 2),
        .counts_as_attempt = one_in(chaos, 2)};
    policy->drain_ms = one_in(chaos, 2) ? between(chaos, 1, 500) : 0;
    policy->errors[ACOG_CONDITION_EXHAUSTED].use_last = one_in(chaos, 2);
}

static void random_connections(struct chaos *chaos)
{
    static const char *const ids[] = {"a", "b", "c", "d", "e", "f"};
    size_t count = (size_t)between(chaos, 1, 6);
    for (size_t i = 0; i < count; i++) {
        struct acog_connection *connection =
            engine_rows_connection(chaos->drawing->rows, ids[i],
                                   (enum acog_channel)between(chaos, 0, ACOG_CHANNEL_COUNT - 1));
        connection->is_default = i == 0 && one_in(chaos, 3);
        connection->slow = one_in(chaos, 4);
        connection->weight = (uint32_t)between(chaos, 1, 3);
        connection->priority = (int32_t)between(chaos, 0, 2);
        connection->usable = (enum acog_usable)(one_in(chaos, 4) ? between(chaos, 1, 2) : 0);
        if (one_in(chaos, 8)) {
            connection->dialects = ACOG_BIT(ACOG_DIALECT_GEMINI);
        }
        struct acog_candidate *candidate =
            engine_rows_candidate(chaos->drawing->rows, connection, "m");
        candidate->reasoning = one_in(chaos, 3);
        candidate->priced = one_in(chaos, 2);
        candidate->input_price = (double)between(chaos, 1, 3);
        if (one_in(chaos, 2)) {
            engine_rows_candidate(chaos->drawing->rows, connection, "fallback");
        }
        if (one_in(chaos, 4)) {
            engine_rows_takes_over(chaos->drawing->rows, ids[i],
                                   one_in(chaos, 2) ? "refusal:hate" : "throttled");
        }
    }
}

static void draw_policy(struct chaos *chaos)
{
    static const char *const channels[] = {"direct", "bedrock", "vertex", "azure", "custom"};
    if (chaos->drawing->rows != NULL) {
        engine_rows_free(&chaos->drawing->rows);
    }
    chaos->drawing->rows = engine_rows_new(ENGINE_POLICY_ACOG);
    for (size_t i = 0; i < ACOG_CHANNEL_COUNT; i++) {
        chaos->drawing->pin_values[i] =
            (struct acog_pin_value){acog_view_of(channels[i]), (enum acog_channel)i};
    }
    random_policy(chaos, &chaos->drawing->rows->snapshot.policy);
    random_connections(chaos);
}

static void new_policies(struct chaos *chaos)
{
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        chaos->drawing = &chaos->drawn[i];
        draw_policy(chaos);
    }
    chaos->shared = chaos->drawn[0].rows;
}

/* -- the observer ---------------------------------------------------------------------------------- */

static const struct acog_connection *connection_of(const struct observed *seen, uint16_t candidate)
{
    const struct engine_rows *rows = seen->drawn->rows;
    return &rows->connections[rows->candidates[candidate].connection];
}

static bool is_pinned_away(const struct observed *seen, const struct acog_connection *connection)
{
    enum acog_pin_scope scope = seen->drawn->rows->snapshot.policy.pin.scope;
    struct acog_view has = scope == ACOG_PIN_CONNECTION
                               ? connection->id
                               : seen->drawn->pin_values[connection->channel].text;
    return seen->request.pinned && !acog_view_equal(has, seen->facts.pins[0]);
}

static void see_dispatch(struct chaos *chaos, struct observed *seen,
                         const struct acog_action *action)
{
    const struct acog_policy *policy = &seen->drawn->rows->snapshot.policy;
    const struct acog_connection *connection = connection_of(seen, action->dispatch.candidate);
    assert_false(seen->client_gone);
    assert_int_equal(seen->committed, 0); /* never a second upstream after the first output */
    assert_int_equal(seen->live, 0);      /* never two at once */
    assert_int_equal(action->attempt, seen->dispatched + 1);
    for (uint32_t i = 1; i <= seen->dispatched; i++) {
        assert_true(seen->released[i] || i == seen->kept);
    }
    const struct acog_attempt_row *attempt = &seen->request.attempts[action->attempt - 1];
    seen->dispatched++;
    seen->live = action->attempt;
    seen->resends += action->dispatch.resend ? 1 : 0;
    seen->extra_tries += attempt->extra_try && !action->dispatch.resend ? 1 : 0;
    seen->fallbacks += attempt->fallback && !action->dispatch.resend ? 1 : 0;
    seen->ordinary_dispatches +=
        !action->dispatch.resend && !attempt->extra_try && !attempt->fallback ? 1 : 0;
    assert_true(seen->dispatched <= ACOG_ATTEMPTS_MAX);
    assert_true(policy->attempts.max == 0 || seen->ordinary_dispatches <= policy->attempts.max);
    assert_true(seen->resends <= policy->attempts.resend_max);
    assert_true(seen->extra_tries <= (policy->attempts.extra_slow_try ? 1U : 0U));
    assert_true(seen->fallbacks <= 1);
    assert_true(
        (connection->dialects & ACOG_BIT(acog_surface_dialect(seen->request.facts->surface))) !=
            0 || /* nothing to tell otherwise */
        seen->can_be_told[action->dispatch.candidate]);
    assert_int_not_equal(connection->usable, ACOG_USABLE_NO);
    assert_int_equal(attempt->fallback, seen->kept != 0);
    if (!attempt->fallback) {
        assert_false(is_pinned_away(seen, connection));
        assert_true(connection->takes_over_count == 0 || seen->a_failure_was_seen);
        assert_true(!seen->request.exclusive || connection->is_default);
    }
    chaos->probes += attempt->has_ticket && attempt->ticket.probe ? 1 : 0;
    chaos->extra_tries += attempt->extra_try ? 1 : 0;
}

static void see_terminal(const struct observed *seen, uint32_t committed)
{
    assert_false(seen->client_gone);
    assert_false(seen->ended_reply || seen->failed_stream || seen->answered_error ||
                 seen->replayed);
    assert_int_equal(seen->committed != 0, committed != 0);
}

static void see_finish(struct chaos *chaos, struct observed *seen, enum acog_outcome outcome)
{
    bool heard = seen->ended_reply || seen->failed_stream || seen->answered_error || seen->replayed;
    assert_false(seen->finished);
    assert_int_equal(heard, !seen->client_gone);
    assert_int_equal(seen->live, 0);
    assert_int_equal(outcome == ACOG_OUTCOME_CANCELLED, seen->client_gone);
    assert_int_equal(outcome == ACOG_OUTCOME_COMPLETED, seen->ended_reply || seen->replayed);
    assert_true(outcome != ACOG_OUTCOME_INCOMPLETE || seen->failed_stream);
    assert_int_equal(seen->request.state, ACOG_REQUEST_ENDED);
    seen->finished = true;
    chaos->ends_seen[outcome]++;
}

static void see_action(struct chaos *chaos, struct observed *seen,
                       const struct acog_actions *actions, size_t index)
{
    const struct acog_action *action = &actions->list[index];
    assert_false(seen->finished); /* FINISH is the last one */
    switch (action->type) {
    case ACOG_ACTION_ASK_POLICY:
        assert_int_equal(index, actions->count - 1);
        assert_int_equal(seen->live, 0);
        seen->asking = true;
        seen->ask = action->ask;
        return;
    case ACOG_ACTION_DISPATCH:
        see_dispatch(chaos, seen, action);
        return;
    case ACOG_ACTION_CANCEL:
        assert_true(action->attempt >= 1 && action->attempt <= seen->dispatched);
        assert_false(seen->released[action->attempt]);
        assert_int_not_equal(action->attempt, seen->kept);
        seen->released[action->attempt] = true;
        seen->live = seen->live == action->attempt ? 0 : seen->live;
        return;
    case ACOG_ACTION_COMMIT:
        see_terminal(seen, 0);
        assert_int_equal(action->attempt, seen->live);
        assert_int_equal(seen->kept != 0, seen->kept_dropped);
        seen->committed = action->attempt;
        chaos->commits++;
        return;
    case ACOG_ACTION_KEEP_REPLY:
        assert_int_equal(seen->kept, 0);
        assert_int_equal(action->attempt, seen->dispatched);
        assert_false(seen->released[action->attempt]);
        seen->live = 0;
        seen->kept = action->attempt;
        return;
    case ACOG_ACTION_DROP_KEPT:
        assert_int_equal(action->attempt, seen->kept);
        assert_true(index + 1 < actions->count &&
                    actions->list[index + 1].type == ACOG_ACTION_COMMIT);
        seen->kept_dropped = true;
        return;
    case ACOG_ACTION_REPLAY_KEPT:
        see_terminal(seen, 0);
        assert_true(seen->kept != 0 && !seen->kept_dropped);
        assert_int_equal(action->attempt, seen->kept);
        seen->replayed = true;
        chaos->replays++;
        return;
    case ACOG_ACTION_ANSWER_ERROR:
        see_terminal(seen, 0);
        assert_int_equal(seen->kept, 0);
        assert_true(action->error.attempt == 0 || !seen->released[action->error.attempt]);
        seen->answered_error = true;
        return;
    case ACOG_ACTION_FAIL_STREAM:
        see_terminal(seen, 1);
        assert_int_equal(action->attempt, seen->committed);
        seen->failed_stream = true;
        return;
    case ACOG_ACTION_END_REPLY:
        see_terminal(seen, 1);
        assert_int_equal(action->attempt, seen->committed);
        seen->ended_reply = true;
        return;
    case ACOG_ACTION_FINISH:
        assert_int_equal(index, actions->count - 1);
        see_finish(chaos, seen, action->outcome);
        return;
    }
    fail();
}

/* The shared books: what is taken is what live attempts hold. */
static void compare_books(const struct chaos *chaos)
{
    uint32_t in_flight[ENGINE_CONNECTIONS_MAX] = {0};
    uint32_t probes[ENGINE_CELLS_MAX] = {0};
    for (size_t i = 0; i < REQUESTS; i++) {
        const struct observed *seen = &chaos->observed[i];
        for (size_t a = 0; a < seen->request.attempt_count; a++) {
            const struct acog_attempt_row *attempt = &seen->request.attempts[a];
            assert_int_equal(attempt->live, seen->live == a + 1);
            const struct acog_candidate *candidate =
                &seen->drawn->rows->candidates[attempt->candidate];
            in_flight[candidate->connection] += attempt->live ? 1 : 0;
            if (attempt->has_ticket && attempt->ticket.probe) {
                assert_true(attempt->live);
                probes[candidate->circuit_cell]++;
            }
        }
    }
    for (size_t i = 0; i < ENGINE_CONNECTIONS_MAX; i++) {
        assert_int_equal(atomic_load(&chaos->shared->spreads[i].in_flight), in_flight[i]);
    }
    for (size_t i = 0; i < ENGINE_CELLS_MAX; i++) {
        uint64_t word = atomic_load(&chaos->shared->circuits[i].circuit);
        bool probing = acog_circuit_unpack(word).state == ACOG_CIRCUIT_PROBING;
        assert_int_equal(probes[i], probing ? 1 : 0); /* one at most, and none is lost */
    }
}

static void step(struct chaos *chaos, struct observed *seen, struct acog_event *event)
{
    struct acog_actions actions;
    event->now_ms = chaos->now_ms;
    /* The observer learns of an attempt's own end before the engine answers to it. */
    bool of_live = event->attempt != 0 && event->attempt == seen->live;
    bool own_end = of_live && (event->type == ACOG_EVENT_FAILED || event->type == ACOG_EVENT_DONE);
    seen->a_failure_was_seen = seen->a_failure_was_seen || event->type == ACOG_EVENT_TICK ||
                               event->type == ACOG_EVENT_HELD_FULL ||
                               event->type == ACOG_EVENT_FAILED;
    if (event->type == ACOG_EVENT_POLICY_ANSWERED) {
        seen->asking = false;
    }
    if (event->type == ACOG_EVENT_CLIENT_GONE) {
        seen->client_gone = !seen->finished || seen->client_gone;
    }
    bool was_finished = seen->finished;
    acog_engine_step(&seen->drawn->rows->snapshot, &chaos->shared->shared, &seen->request, event,
                     &actions);
    assert_true(!was_finished || actions.count == 0);
    /* COMMIT and KEEP_REPLY may still name an attempt that ended with this very event. */
    for (size_t i = 0; i < actions.count; i++) {
        bool over = own_end && actions.list[i].type != ACOG_ACTION_COMMIT &&
                    actions.list[i].type != ACOG_ACTION_DROP_KEPT;
        bool stopped = actions.list[i].type == ACOG_ACTION_FAIL_STREAM; /* by a clock */
        seen->live = over || stopped ? (seen->live == event->attempt || stopped ? 0 : seen->live)
                                     : seen->live;
        see_action(chaos, seen, &actions, i);
    }
    seen->live = own_end && seen->live == event->attempt ? 0 : seen->live;
    compare_books(chaos);
    if (event->type == ACOG_EVENT_TICK && !seen->finished) { /* no timer may fire for ever */
        assert_true(acog_engine_deadline_ms(&seen->request) > seen->request.now_ms);
    }
}

/* -- random events --------------------------------------------------------------------------------- */

static void arrive(struct chaos *chaos, struct observed *seen)
{
    static const char *const pins[] = {"direct", "bedrock", "a", "b", "moon"};
    *seen = (struct observed){
        .drawn = &chaos->drawn[between(chaos, 0, SNAPSHOTS - 1)],
        .request.plan = seen->plan,
        .facts = {.surface = ACOG_SURFACE_CHAT,
                  .stream = one_in(chaos, 2),
                  .model = one_in(chaos, 10) ? ACOG_VIEW("fallback") : ACOG_VIEW("m"),
                  .max_tokens = between(chaos, -1, 3000),
                  .choices = 1,
                  .pin_count = one_in(chaos, 4) ? 1 : 0,
                  .fallback_opt_out = one_in(chaos, 6)}};
    seen->facts.pins[0] = acog_view_of(pins[between(chaos, 0, 4)]);
    seen->arrived = true;
    struct acog_event event = {
        .type = ACOG_EVENT_ARRIVED,
        .arrived = {.facts = &seen->facts, .seed = (uint64_t)between(chaos, 0, INT64_MAX)}};
    step(chaos, seen, &event);
}

static size_t match_for(struct chaos *chaos, const struct observed *seen, struct acog_view model)
{
    const struct engine_rows *rows = seen->drawn->rows;
    size_t count = 0;
    for (size_t i = 0; i < rows->snapshot.candidate_count; i++) {
        if (acog_view_equal(rows->candidates[i].declared, model)) {
            chaos->candidates[count++] = (uint16_t)i;
        }
    }
    if (one_in(chaos, 60)) { /* not sane: twice, or none of ours */
        chaos->candidates[count++] = one_in(chaos, 2) ? 999 : chaos->candidates[0];
    }
    return count;
}

static void answer(struct chaos *chaos, struct observed *seen)
{
    struct acog_event event = {.type = ACOG_EVENT_POLICY_ANSWERED,
                               .answer = {.failed = one_in(chaos, 60), .count = seen->ask.count}};
    for (size_t i = 0; i < seen->ask.count; i++) {
        chaos->verdicts[i] =
            (struct acog_verdict){.keep = !one_in(chaos, 4), .reason = ACOG_VIEW("a reason")};
        chaos->numbers[i] = (double)between(chaos, -2, 2);
    }
    switch (seen->ask.kind) {
    case ACOG_SLOT_MATCH:
        event.answer.count = match_for(chaos, seen, seen->ask.model);
        event.answer.candidates = chaos->candidates;
        break;
    case ACOG_SLOT_TRANSLATION:
        for (size_t i = 0; i < seen->ask.count; i++) {
            seen->can_be_told[seen->ask.candidates[i]] = chaos->verdicts[i].keep;
        }
        event.answer.verdicts = chaos->verdicts;
        break;
    case ACOG_SLOT_FILTER:
    case ACOG_SLOT_USABLE:
        event.answer.verdicts = chaos->verdicts;
        break;
    case ACOG_SLOT_ORDER:
        event.answer.numbers = chaos->numbers;
        break;
    }
    if (seen->ask.kind != ACOG_SLOT_MATCH && one_in(chaos, 80)) {
        event.answer.count--;
    }
    step(chaos, seen, &event);
}

static void fail_attempt(struct chaos *chaos, struct observed *seen, uint32_t attempt)
{
    static const uint16_t statuses[] = {400, 401, 408, 429, 451, 500, 503, 529};

    static const enum acog_cause causes[] = {
        ACOG_CAUSE_CONNECT,    ACOG_CAUSE_CLOSED, ACOG_CAUSE_STATUS,       ACOG_CAUSE_STATUS,
        ACOG_CAUSE_BAD_ANSWER, ACOG_CAUSE_CUT,    ACOG_CAUSE_STREAM_ERROR, ACOG_CAUSE_REFUSAL,
        ACOG_CAUSE_REFUSAL,    ACOG_CAUSE_GATEWAY};
    struct acog_failure failure = {.cause = causes[between(chaos, 0, 9)],
                                   .shapes = (unsigned)between(chaos, 0, 0xff),
                                   .retry_after_ms = between(chaos, -1, 4000),
                                   .categories = {ACOG_VIEW("hate")},
                                   .category_count = one_in(chaos, 2) ? 1 : 0,
                                   .code = ACOG_VIEW("code"),
                                   .message = ACOG_VIEW("message")};
    failure.status = failure.cause == ACOG_CAUSE_STATUS ? statuses[between(chaos, 0, 7)] : 0;
    failure.reused_no_byte = failure.cause == ACOG_CAUSE_CLOSED && one_in(chaos, 2);
    struct acog_event event = {.type = ACOG_EVENT_FAILED, .attempt = attempt, .failure = &failure};
    step(chaos, seen, &event);
}

static void attempt_event(struct chaos *chaos, struct observed *seen)
{
    /* Mostly of the live one; now and then of one that has long ended, or was never there. */
    uint32_t attempt = one_in(chaos, 12) ? (uint32_t)between(chaos, 0, 9) : seen->live;

    static const enum acog_event_type types[] = {
        ACOG_EVENT_CONNECTED, ACOG_EVENT_HEADERS,   ACOG_EVENT_FIRST_EVENT, ACOG_EVENT_OUTPUT,
        ACOG_EVENT_ACTIVITY,  ACOG_EVENT_HELD_FULL, ACOG_EVENT_DONE,        ACOG_EVENT_FAILED,
        ACOG_EVENT_FAILED,    ACOG_EVENT_FAILED};
    struct acog_event event = {.type = types[between(chaos, 0, 9)], .attempt = attempt};
    switch (event.type) {
    case ACOG_EVENT_FAILED:
        fail_attempt(chaos, seen, attempt);
        return;
    case ACOG_EVENT_HEADERS:
        event.headers.status = 200;
        break;
    case ACOG_EVENT_OUTPUT:
        event.outputs = (unsigned)between(chaos, 1, 0x3f);
        break;
    case ACOG_EVENT_ARRIVED:
    case ACOG_EVENT_POLICY_ANSWERED:
    case ACOG_EVENT_CONNECTED:
    case ACOG_EVENT_FIRST_EVENT:
    case ACOG_EVENT_ACTIVITY:
    case ACOG_EVENT_HELD_FULL:
    case ACOG_EVENT_DONE:
    case ACOG_EVENT_CLIENT_GONE:
    case ACOG_EVENT_TICK:
        break;
    }
    step(chaos, seen, &event);
}

static void plain_event(struct chaos *chaos, struct observed *seen, enum acog_event_type type)
{
    struct acog_event event = {.type = type};
    step(chaos, seen, &event);
}

/* Jumps to the deadline of the request, if it has one soon. */
static void tick(struct chaos *chaos, struct observed *seen)
{
    int64_t deadline_ms = acog_engine_deadline_ms(&seen->request);
    if (deadline_ms != INT64_MAX && deadline_ms > chaos->now_ms && one_in(chaos, 2)) {
        chaos->now_ms = deadline_ms;
    }
    plain_event(chaos, seen, ACOG_EVENT_TICK);
}

static void random_event(struct chaos *chaos)
{
    struct observed *seen = &chaos->observed[between(chaos, 0, REQUESTS - 1)];
    chaos->now_ms += one_in(chaos, 3) ? between(chaos, 0, 200) : 0;
    if (!seen->arrived || (seen->finished && !one_in(chaos, 5))) {
        arrive(chaos, seen);
    } else if (one_in(chaos, 40)) {
        plain_event(chaos, seen, ACOG_EVENT_CLIENT_GONE);
    } else if (seen->asking && !seen->finished) {
        if (!one_in(chaos, 4)) {
            answer(chaos, seen);
        } else {
            tick(chaos, seen);
        }
    } else if (one_in(chaos, 5) || seen->request.state == ACOG_REQUEST_WAITING) {
        tick(chaos, seen);
    } else {
        attempt_event(chaos, seen);
    }
}

/* Everything that runs fails at once or runs out of time: the request must come to its end by itself. */
static void end_request(struct chaos *chaos, struct observed *seen)
{
    for (int i = 0; seen->arrived && !seen->finished; i++) {
        assert_true(i < ENDING_STEPS);
        if (seen->asking) {
            answer(chaos, seen);
        } else if (seen->live != 0 && !one_in(chaos, 3)) {
            fail_attempt(chaos, seen, seen->live);
        } else if (acog_engine_deadline_ms(&seen->request) != INT64_MAX) {
            int64_t deadline_ms = acog_engine_deadline_ms(&seen->request);
            chaos->now_ms = deadline_ms > chaos->now_ms ? deadline_ms : chaos->now_ms;
            plain_event(chaos, seen, ACOG_EVENT_TICK);
        } else {
            assert_true(seen->live != 0); /* nothing else may hold a request up */
        }
    }
}

static void end_all(struct chaos *chaos)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        end_request(chaos, &chaos->observed[i]);
    }
    for (size_t i = 0; i < ENGINE_CONNECTIONS_MAX; i++) {
        assert_int_equal(atomic_load(&chaos->shared->spreads[i].in_flight), 0);
    }
    memset(chaos->observed, 0, sizeof chaos->observed);
}

static uint64_t seed_to_use(void)
{
    const char *text = getenv("ACOG_PROPERTY_SEED"); /* NOLINT(concurrency-mt-unsafe): one thread */
    unsigned long long seed = 20261130;
    if (text != NULL) {
        assert_true(acog_view_to_u64(acog_view_of(text), &seed));
    }
    return seed;
}

static void whatever_happens_a_request_is_answered_once(void **state)
{
    (void)state;
    static struct chaos chaos;
    uint64_t seed = seed_to_use();
    printf("[ SEED     ] %llu\n", (unsigned long long)seed);
    chaos.random = seed;
    for (int i = 0; i < STEPS; i++) {
        if (i % STEPS_OF_POLICY == 0) {
            if (i > 0) {
                end_all(&chaos);
            }
            new_policies(&chaos);
        }
        random_event(&chaos);
    }
    end_all(&chaos);
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        engine_rows_free(&chaos.drawn[i].rows);
    }
    printf("[ SEEN     ] completed %zu failed %zu cancelled %zu incomplete %zu, commits %zu, "
           "replays %zu, probes %zu, extra tries %zu\n",
           chaos.ends_seen[ACOG_OUTCOME_COMPLETED], chaos.ends_seen[ACOG_OUTCOME_FAILED],
           chaos.ends_seen[ACOG_OUTCOME_CANCELLED], chaos.ends_seen[ACOG_OUTCOME_INCOMPLETE],
           chaos.commits, chaos.replays, chaos.probes, chaos.extra_tries);
    for (size_t i = 0; i < 4; i++) {
        assert_true(chaos.ends_seen[i] > 100);
    }
    assert_true(chaos.commits > 100 && chaos.replays > 100 && chaos.probes > 100);
    assert_true(chaos.extra_tries > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_happens_a_request_is_answered_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
