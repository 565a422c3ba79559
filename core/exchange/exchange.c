/* exchange.c - the calls of a driver, and the queue of commands they lead to.
 *
 * An input call tells what happened; what comes of it is queued. The bytes of a stream are the one exception: they
 * are only noted, and acog_exchange_next() reads on in them whenever the queue is empty. So a run of events goes
 * out as one view of the driver's own bytes, and an event that had to be gathered may be sent from the reader's
 * buffer before that is used again: nothing is copied on this path.
 */
#include "acog/contract.h"
#include "acog/memory.h"
#include "acog/random.h"
#include "state.h"

#include <string.h>

/* -- life ------------------------------------------------------------------------------------------ */

struct acog_exchange *acog_exchange_new(void)
{
    struct acog_exchange *exchange = acog_new(sizeof(*exchange));
    if (exchange != NULL) {
        acog_arena_init(&exchange->arena, ACOG_EXCHANGE_ARENA_MAX);
        acog_arena_init(&exchange->scratch, ACOG_EXCHANGE_ARENA_MAX);
        acog_arena_init(&exchange->conversation_arena, ACOG_EXCHANGE_CONVERSATION_MAX);
        acog_buffer_init(&exchange->text, ACOG_EXCHANGE_TEXT_MAX);
        acog_buffer_init(&exchange->last_words.body, ACOG_EXCHANGE_FAULT_MAX);
    }
    return exchange;
}

static void forget_conversation(struct acog_exchange *exchange)
{
    acog_arena_fini(&exchange->conversation_arena);
    exchange->conversation = NULL;
}

static void release_request(struct acog_exchange *exchange)
{
    acog_exchange_attempts_forget(exchange);
    forget_conversation(exchange);
    acog_buffer_fini(&exchange->stripped);
    if (exchange->snapshot != NULL) {
        acog_snapshot_unref(&exchange->snapshot);
    }
}

void acog_exchange_free(struct acog_exchange **exchange)
{
    struct acog_exchange *gone = *exchange;
    if (gone != NULL) {
        release_request(gone);
        acog_exchange_attempt_free(&gone->spare);
        acog_buffer_fini(&gone->last_words.body);
        acog_buffer_fini(&gone->text);
        acog_arena_fini(&gone->scratch);
        acog_arena_fini(&gone->arena);
        acog_free(gone->plan);
        acog_free(gone);
        *exchange = NULL;
    }
}

void acog_exchange_reset(struct acog_exchange *exchange)
{
    ACOG_ASSERT(exchange->phase != ACOG_EXCHANGE_ROUTED);
    release_request(exchange);
    acog_arena_reset(&exchange->arena);
    acog_arena_reset(&exchange->scratch);
    acog_buffer_clear(&exchange->text, ACOG_EXCHANGE_KEPT_BYTES);
    acog_buffer_clear(&exchange->last_words.body, ACOG_EXCHANGE_KEPT_BYTES);
    struct acog_arena arena = exchange->arena;
    struct acog_arena scratch = exchange->scratch;
    struct acog_arena conversation_arena = exchange->conversation_arena;
    struct acog_buffer text = exchange->text;
    struct acog_buffer body = exchange->last_words.body;
    struct acog_exchange_attempt *spare = exchange->spare;
    struct acog_plan_row *plan = exchange->plan;
    size_t plan_room = exchange->plan_room;
    memset(exchange, 0, sizeof(*exchange));
    exchange->arena = arena;
    exchange->scratch = scratch;
    exchange->conversation_arena = conversation_arena;
    exchange->text = text;
    exchange->last_words.body = body;
    exchange->spare = spare;
    exchange->plan = plan;
    exchange->plan_room = plan_room;
}

/* -- memory ---------------------------------------------------------------------------------------- */

char *acog_exchange_take_text(struct acog_exchange *exchange, size_t bytes)
{
    if (bytes > sizeof(exchange->texts) - exchange->texts_used) {
        return acog_arena_take(&exchange->arena, bytes);
    }
    char *taken = exchange->texts + exchange->texts_used;
    exchange->texts_used += bytes;
    return taken;
}

struct acog_view acog_exchange_copy_text(struct acog_exchange *exchange, struct acog_view text)
{
    char *copy = text.len == 0 ? NULL : acog_exchange_take_text(exchange, text.len);
    if (copy == NULL) {
        return (struct acog_view){0};
    }
    memcpy(copy, text.ptr, text.len);
    return (struct acog_view){.ptr = copy, .len = text.len};
}

/* -- the queue ------------------------------------------------------------------------------------- */

void acog_exchange_push(struct acog_exchange *exchange, const struct acog_command *command)
{
    /* One answer, one end and one CANCEL or SEND an attempt: more cannot come of one call. */
    ACOG_ASSERT(exchange->command_count < ACOG_EXCHANGE_COMMANDS_MAX);
    size_t at = (exchange->command_first + exchange->command_count) % ACOG_EXCHANGE_COMMANDS_MAX;
    exchange->commands[at] = *command;
    exchange->command_count++;
}

void acog_exchange_push_head(struct acog_exchange *exchange, unsigned status,
                             int64_t content_length)
{
    if (exchange->reply == ACOG_REPLY_NO_CLIENT) {
        return;
    }
    ACOG_ASSERT(exchange->reply == ACOG_REPLY_NOT_BEGUN);
    exchange->reply = ACOG_REPLY_BEGUN;
    exchange->record.status = status;
    struct acog_command command = {.type = ACOG_COMMAND_REPLY_HEAD,
                                   .head = {.status = status,
                                            .headers = exchange->reply_rows,
                                            .header_count = exchange->reply_row_count,
                                            .content_length = content_length}};
    acog_exchange_push(exchange, &command);
}

void acog_exchange_push_data(struct acog_exchange *exchange, struct acog_view data)
{
    if (exchange->reply != ACOG_REPLY_BEGUN || data.len == 0) {
        return;
    }
    exchange->record.reply_bytes += data.len;
    struct acog_command command = {.type = ACOG_COMMAND_REPLY_DATA, .data = data};
    acog_exchange_push(exchange, &command);
}

static void push_last(struct acog_exchange *exchange, enum acog_command_type type)
{
    if (exchange->reply == ACOG_REPLY_BEGUN) {
        exchange->reply = ACOG_REPLY_ENDED;
        struct acog_command command = {.type = type};
        acog_exchange_push(exchange, &command);
    }
}

void acog_exchange_push_end(struct acog_exchange *exchange)
{
    push_last(exchange, ACOG_COMMAND_REPLY_END);
}

void acog_exchange_push_abort(struct acog_exchange *exchange)
{
    push_last(exchange, ACOG_COMMAND_REPLY_ABORT);
}

void acog_exchange_finish(struct acog_exchange *exchange)
{
    ACOG_ASSERT(exchange->phase != ACOG_EXCHANGE_FINISHED);
    ACOG_ASSERT(exchange->reply >= ACOG_REPLY_ENDED);
    exchange->phase = ACOG_EXCHANGE_FINISHED;
    exchange->record.ended_ms = exchange->now_ms;
    struct acog_command command = {.type = ACOG_COMMAND_FINISHED};
    acog_exchange_push(exchange, &command);
}

bool acog_exchange_next(struct acog_exchange *exchange, struct acog_command *command)
{
    if (exchange->command_count == 0) {
        acog_exchange_read_events(exchange);
    }
    if (exchange->command_count == 0) {
        return false;
    }
    *command = exchange->commands[exchange->command_first];
    exchange->command_first = (exchange->command_first + 1) % ACOG_EXCHANGE_COMMANDS_MAX;
    exchange->command_count--;
    return true;
}

/* -- start ----------------------------------------------------------------------------------------- */

/* Rows for the plan of this snapshot's candidates. False without memory. */
static bool lend_plan(struct acog_exchange *exchange)
{
    size_t room = acog_plan_room(exchange->snapshot);
    if (room > exchange->plan_room) {
        struct acog_plan_row *grown = acog_grow(exchange->plan, room * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        exchange->plan = grown;
        exchange->plan_room = room;
    }
    exchange->request.plan = exchange->plan;
    return true;
}

static void tell(struct acog_exchange *exchange, const struct acog_event *event)
{
    if (exchange->plan_only) {
        acog_exchange_tell_plan(exchange, event);
    } else {
        acog_exchange_tell(exchange, event);
    }
}

static void route(struct acog_exchange *exchange)
{
    struct acog_exchange_client *client = &exchange->client;
    struct acog_exchange_refusal refusal = {.condition = ACOG_CONDITION_INVALID_REQUEST};
    bool taken = acog_exchange_read_client(exchange, &refusal);
    if (taken && !lend_plan(exchange)) {
        refusal.condition = ACOG_CONDITION_OVERLOADED;
        taken = false;
    }
    exchange->record.routed = !exchange->plan_only;
    exchange->record.surface = client->surface;
    exchange->record.model = acog_exchange_cut(client->read.model, ACOG_EXCHANGE_MODEL_MAX);
    exchange->record.stream = client->facts.stream;
    if (!taken) {
        struct acog_exchange_error error;
        acog_exchange_error_of_condition(exchange->snapshot, refusal.condition, &error);
        error.words.model = client->read.model;
        error.words.detail = refusal.detail;
        acog_exchange_reply_error(exchange, &error);
        acog_exchange_finish(exchange);
        return;
    }
    exchange->phase = ACOG_EXCHANGE_ROUTED;
    exchange->record.request = &exchange->request;
    struct acog_event event = {
        .type = ACOG_EVENT_ARRIVED,
        .now_ms = exchange->now_ms,
        .arrived = {.facts = &client->facts, .seed = acog_random_next(&exchange->random)}};
    tell(exchange, &event);
}

void acog_exchange_start(struct acog_exchange *exchange, const struct acog_exchange_start *start)
{
    ACOG_ASSERT(exchange->phase == ACOG_EXCHANGE_IDLE);
    exchange->start = *start;
    exchange->snapshot = acog_snapshot_ref(start->snapshot);
    exchange->now_ms = start->now_ms;
    exchange->random = start->seed;
    struct acog_exchange_client *client = &exchange->client;
    size_t mark = acog_view_find(start->target, ACOG_VIEW("?"));
    client->path = acog_view_slice(start->target, 0, mark);
    client->query = acog_view_slice(start->target, mark + 1, start->target.len);
    client->dialect = acog_exchange_path_dialect(client->path);
    exchange->record =
        (struct acog_exchange_record){.request_id = acog_exchange_request_id(exchange),
                                      .snapshot = exchange->snapshot,
                                      .request_bytes = start->body.len,
                                      .usage = {-1, -1, -1, -1, -1},
                                      .started_ms = start->now_ms,
                                      .started_unix_ms = start->unix_ms,
                                      .committed_ms = -1,
                                      .ended_ms = -1};
    struct acog_exchange_target target;
    acog_exchange_place(start->method, client->path, start->local, &target);
    exchange->plan_only =
        target.place == ACOG_PLACE_ROUTE && acog_exchange_route_surface(exchange, &target.surface);
    exchange->record.plan_only = exchange->plan_only;
    if (target.place == ACOG_PLACE_SURFACE || exchange->plan_only) {
        client->surface = target.surface;
        client->dialect = acog_surface_dialect(target.surface);
        route(exchange);
        return;
    }
    /* Only Anthropic's clients send it, and they read their own shape on every path. */
    if (acog_header_find(start->headers, start->header_count, ACOG_VIEW("anthropic-version")).ptr !=
        NULL) {
        client->dialect = ACOG_DIALECT_MESSAGES;
    }
    acog_exchange_answer_here(exchange, &target);
    acog_exchange_finish(exchange);
}

/* -- what happens ---------------------------------------------------------------------------------- */

/* Nothing is sent any more: an open stream need not keep what it would be made of. */
static void forget_body(struct acog_exchange *exchange)
{
    const struct acog_exchange_attempt *live = exchange->attempts[exchange->live - 1];
    if (exchange->conversation != NULL) {
        forget_conversation(exchange);
    }
    if (live != NULL && live->sent) {
        exchange->start.body = (struct acog_view){0};
        exchange->client.body = (struct acog_view){0};
        exchange->client.read.spans = (struct acog_request_spans){.pin = {0}};
        acog_buffer_fini(&exchange->stripped);
        exchange->body_done = true;
    }
}

/* Every call but an answer to ASK begins so: the commands of the last one are out, nobody looks at its views. */
static void begin_call(struct acog_exchange *exchange, int64_t now_ms)
{
    ACOG_ASSERT(exchange->command_count == 0);
    exchange->input = (struct acog_exchange_input){0};
    exchange->last_words.event = (struct acog_view){0};
    acog_arena_reset(&exchange->scratch);
    acog_exchange_attempts_reap(exchange);
    if (exchange->live != 0 && !exchange->body_done) {
        forget_body(exchange);
    }
    exchange->now_ms = now_ms > exchange->now_ms ? now_ms : exchange->now_ms;
}

void acog_exchange_policy_answered(struct acog_exchange *exchange, const struct acog_answer *answer,
                                   int64_t now_ms)
{
    exchange->now_ms = now_ms > exchange->now_ms ? now_ms : exchange->now_ms;
    if (exchange->phase == ACOG_EXCHANGE_ROUTED) {
        struct acog_event event = {
            .type = ACOG_EVENT_POLICY_ANSWERED, .now_ms = exchange->now_ms, .answer = *answer};
        tell(exchange, &event);
    }
}

void acog_exchange_connected(struct acog_exchange *exchange, uint32_t attempt, bool reused,
                             int64_t now_ms)
{
    begin_call(exchange, now_ms);
    if (acog_exchange_attempt_find(exchange, attempt) != NULL) {
        struct acog_event event = {.type = ACOG_EVENT_CONNECTED,
                                   .attempt = attempt,
                                   .now_ms = exchange->now_ms,
                                   .reused = reused};
        acog_exchange_tell(exchange, &event);
    }
}

void acog_exchange_upstream_sent(struct acog_exchange *exchange, uint32_t attempt)
{
    struct acog_exchange_attempt *found = acog_exchange_attempt_find(exchange, attempt);
    if (found != NULL) {
        found->sent = true;
        found->order.piece_count = 0;
        acog_exchange_forget_request(found);
    }
}

bool acog_exchange_body_done(const struct acog_exchange *exchange)
{
    return exchange->body_done;
}

void acog_exchange_upstream_head(struct acog_exchange *exchange, uint32_t attempt, unsigned status,
                                 const struct acog_header_row *headers, size_t header_count,
                                 int64_t now_ms)
{
    begin_call(exchange, now_ms);
    struct acog_exchange_attempt *found = acog_exchange_attempt_find(exchange, attempt);
    if (found != NULL) {
        acog_exchange_read_head(exchange, found, status, headers, header_count);
    }
}

void acog_exchange_upstream_body(struct acog_exchange *exchange, uint32_t attempt,
                                 struct acog_view bytes, int64_t now_ms)
{
    begin_call(exchange, now_ms);
    struct acog_exchange_attempt *found = acog_exchange_attempt_find(exchange, attempt);
    if (found != NULL && bytes.len > 0) {
        acog_exchange_read_body(exchange, found, bytes);
    }
}

void acog_exchange_upstream_end(struct acog_exchange *exchange, uint32_t attempt, int64_t now_ms)
{
    begin_call(exchange, now_ms);
    struct acog_exchange_attempt *found = acog_exchange_attempt_find(exchange, attempt);
    if (found != NULL) {
        found->open = false;
        acog_exchange_read_end(exchange, found);
    }
}

void acog_exchange_upstream_failed(struct acog_exchange *exchange, uint32_t attempt,
                                   enum acog_cause cause, bool reused_no_byte, int64_t now_ms)
{
    begin_call(exchange, now_ms);
    struct acog_exchange_attempt *found = acog_exchange_attempt_find(exchange, attempt);
    if (found != NULL) {
        struct acog_failure failure = {.cause = cause,
                                       .status = (uint16_t)found->status,
                                       .reused_no_byte = reused_no_byte,
                                       .retry_after_ms = -1};
        found->open = false;
        acog_exchange_read_failure(exchange, found, &failure);
    }
}

static bool is_being_passed(const struct acog_exchange_attempt *attempt)
{
    return attempt != NULL && attempt->live &&
           (attempt->state == ACOG_ATTEMPT_STREAM || attempt->state == ACOG_ATTEMPT_PASSING);
}

/* The silence is the client's, not the upstream's: the idle clock starts again. The others run on. */
static void excuse_silence(struct acog_exchange *exchange)
{
    if (is_being_passed(acog_exchange_attempt_find(exchange, exchange->live))) {
        struct acog_event event = {
            .type = ACOG_EVENT_ACTIVITY, .attempt = exchange->live, .now_ms = exchange->now_ms};
        acog_exchange_tell(exchange, &event);
    }
}

void acog_exchange_client_gone(struct acog_exchange *exchange, int64_t now_ms)
{
    begin_call(exchange, now_ms);
    if (exchange->client_full) { /* what is read from now on waits for nobody */
        excuse_silence(exchange);
        exchange->client_full = false;
    }
    if (exchange->reply != ACOG_REPLY_ENDED) {
        exchange->reply = ACOG_REPLY_NO_CLIENT;
    }
    struct acog_exchange_attempt *live = acog_exchange_attempt_find(exchange, exchange->live);
    if (live != NULL && live->state == ACOG_ATTEMPT_TAIL) {
        acog_exchange_attempt_complete(exchange, live); /* it has all there is to have */
    }
    if (exchange->phase == ACOG_EXCHANGE_ROUTED) {
        struct acog_event event = {.type = ACOG_EVENT_CLIENT_GONE, .now_ms = exchange->now_ms};
        acog_exchange_tell(exchange, &event);
    }
}

void acog_exchange_client_full(struct acog_exchange *exchange, bool full, int64_t now_ms)
{
    begin_call(exchange, now_ms);
    if (exchange->client_full && !full) {
        excuse_silence(exchange);
    }
    exchange->client_full = full;
}

/* -- time ------------------------------------------------------------------------------------------ */

static bool waits(const struct acog_exchange_attempt *attempt)
{
    return attempt != NULL &&
           (attempt->state == ACOG_ATTEMPT_TAIL || attempt->state == ACOG_ATTEMPT_FAULT);
}

int64_t acog_exchange_deadline_ms(const struct acog_exchange *exchange)
{
    if (exchange->phase != ACOG_EXCHANGE_ROUTED) {
        return INT64_MAX;
    }
    int64_t deadline_ms = acog_engine_deadline_ms(&exchange->request);
    for (size_t i = 0; i < exchange->request.attempt_count; i++) {
        const struct acog_exchange_attempt *attempt = exchange->attempts[i];
        if (waits(attempt) && attempt->wait_until_ms < deadline_ms) {
            deadline_ms = attempt->wait_until_ms;
        }
    }
    return deadline_ms;
}

void acog_exchange_tick(struct acog_exchange *exchange, int64_t now_ms)
{
    begin_call(exchange, now_ms);
    if (exchange->phase != ACOG_EXCHANGE_ROUTED) {
        return;
    }
    if (exchange->client_full) {
        excuse_silence(exchange);
    }
    /* What an attempt has already said counts before a clock does: an answer that is complete is not cut by one,
     * and a status is told as the status it is. */
    bool due = exchange->now_ms >= acog_engine_deadline_ms(&exchange->request);
    for (size_t i = 0; i < ACOG_ATTEMPTS_MAX; i++) {
        struct acog_exchange_attempt *attempt = exchange->attempts[i];
        if (!waits(attempt) || (!due && exchange->now_ms < attempt->wait_until_ms)) {
            continue;
        }
        if (attempt->state == ACOG_ATTEMPT_TAIL) {
            acog_exchange_attempt_complete(exchange, attempt);
        } else {
            acog_exchange_read_fault(exchange, attempt);
        }
    }
    if (exchange->phase == ACOG_EXCHANGE_ROUTED &&
        exchange->now_ms >= acog_engine_deadline_ms(&exchange->request)) {
        struct acog_event event = {.type = ACOG_EVENT_TICK, .now_ms = exchange->now_ms};
        acog_exchange_tell(exchange, &event);
    }
}

/* -- after the fact -------------------------------------------------------------------------------- */

const struct acog_exchange_record *acog_exchange_record(const struct acog_exchange *exchange)
{
    return &exchange->record;
}
