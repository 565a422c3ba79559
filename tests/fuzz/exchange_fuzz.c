/* exchange_fuzz.c - whole exchanges: the bytes say what the client asks for, what the upstreams do and when.
 *
 * The first bytes choose a policy and its switches; then each byte is a happening (enum happening), with what it needs
 * behind it. When they are used up the clocks run out and the client leaves, and every exchange must have finished.
 * What must hold (perform() and check_end()): one head, then data, then one end; nothing behind FINISHED, nothing for a
 * client that is gone; one attempt at a time, none left running; the length that was promised; values of headers that
 * can be written; bodies of errors and decision records that are JSON; no secret in an error; every reference given back.
 * A connection may speak another dialect than the client: what is sent is JSON then, and an answer that was completed is
 * a complete one of the client's dialect.
 * Allocations fail when the bytes say so. What is lent to the exchange lies in memory of just its size, which is gone as
 * soon as a driver may free it: the client's request when the exchange is reset, an upstream's words after the call
 * that told them, and at once when their attempt is cancelled. A view that is kept too long is found.
 */
#include "acog/contract.h"
#include "acog/exchange.h"
#include "acog/memory.h"
#include "tests/fuzz/exchange_answer.h"
#include "tests/fuzz/exchange_choices.h"
#include "tests/fuzz/exchange_words.h"
#include "tests/support/engine_rows.h"

#include <string.h>

#define REQUESTS_MAX 3
#define REPLY_MAX    ((size_t)4 << 20U)
#define ARENA_MAX    ((size_t)64 << 20U)
#define WAIT_MS      INT64_C(10000000) /* longer than all clocks */

enum happening {
    ACOG_HAPPENS_CONNECTED = 0,
    ACOG_HAPPENS_HEAD,
    ACOG_HAPPENS_FRAGMENT, /* of an answer, from exchange_words.h */
    ACOG_HAPPENS_BYTES,
    ACOG_HAPPENS_END,
    ACOG_HAPPENS_FAILED,
    ACOG_HAPPENS_OLD_ATTEMPT, /* bytes of one that may be over */
    ACOG_HAPPENS_CLIENT_GONE,
    ACOG_HAPPENS_CLIENT_FULL,
    ACOG_HAPPENS_TIME,
    ACOG_HAPPENS_NO_MEMORY,
    ACOG_HAPPENS_NEXT_REQUEST,
    ACOG_HAPPENS_COUNT,
};

static const char *const types[] = {"text/event-stream", "application/json", "text/html", NULL};
static const unsigned statuses[] = {200, 200, 200, 204, 302, 400, 401, 404, 429, 500, 503, 529};

static const enum acog_cause causes[] = {ACOG_CAUSE_CONNECT, ACOG_CAUSE_CLOSED, ACOG_CAUSE_CUT,
                                         ACOG_CAUSE_BAD_ANSWER, ACOG_CAUSE_GATEWAY};

/* A client's request, with its bytes behind it. */
struct asked {
    struct acog_header_row headers[2];
    char text[];
};

/* What an attempt has said, while it is being taken. */
struct told {
    void *memory; /* NULL: nothing */
    uint32_t attempt;
};

struct play {
    bool input_has_secret;
    struct choices choices;
    struct engine_rows *rows;
    struct acog_exchange *exchange;
    int64_t now_ms;
    unsigned allocations_left; /* until one fails; 0: none does */
    /* of the request */
    struct asked *asked;
    bool head;        /* asked for: the length of a body that does not come */
    uint32_t sent;    /* attempts */
    uint32_t running; /* 0: none */
    struct told told;
    bool client_gone;
    unsigned status;
    int64_t content_length;
    struct acog_buffer reply;
    bool reply_cut; /* more came than is kept */
    bool ended;
    bool aborted;
    bool finished;
    uint16_t candidates[2];
};

/* -- the snapshot's reference, which core/policy defines for the product ----------------------------- */

static size_t references;

struct acog_snapshot *acog_snapshot_ref(struct acog_snapshot *snapshot)
{
    references++;
    return snapshot;
}

void acog_snapshot_unref(struct acog_snapshot **snapshot)
{
    ACOG_ASSERT(references > 0);
    references--;
    *snapshot = NULL;
}

/* -- memory ------------------------------------------------------------------------------------------ */

static bool fails_now(void *user)
{
    struct play *play = user;
    if (play->allocations_left == 0) {
        return false;
    }
    play->allocations_left--;
    return play->allocations_left == 0;
}

/* What the test allocates for itself never fails. */
static void spare(struct play *play, bool spared)
{
    acog_memory_fail_when(spared ? NULL : fails_now, play);
}

/* Memory for what an attempt says. */
static void *told_new(struct play *play, uint32_t attempt, size_t bytes)
{
    ACOG_ASSERT(play->told.memory == NULL);
    spare(play, true);
    play->told = (struct told){.memory = acog_grow(NULL, bytes), .attempt = attempt};
    ACOG_ASSERT(play->told.memory != NULL);
    spare(play, false);
    return play->told.memory;
}

static void forget_told(struct play *play)
{
    acog_free(play->told.memory);
    play->told = (struct told){.memory = NULL};
}

/* -- commands ---------------------------------------------------------------------------------------- */

static void answer(struct play *play, const struct acog_ask *ask)
{
    static const struct acog_verdict verdicts[2] = {{.keep = true}, {.keep = false}};
    static const double numbers[2] = {1, 2};
    unsigned how = take(&play->choices);
    struct acog_answer answer = {.failed = how % 8 == 0, .count = ask->count};
    switch (ask->kind) {
    case ACOG_SLOT_MATCH:
        play->candidates[0] = how & 1;
        play->candidates[1] = (how & 1) ^ 1;
        answer.candidates = play->candidates;
        answer.count = how % 3;
        break;
    case ACOG_SLOT_FILTER:
    case ACOG_SLOT_USABLE:
        answer.verdicts = verdicts;
        break;
    case ACOG_SLOT_ORDER:
        answer.numbers = numbers;
        break;
    case ACOG_SLOT_TRANSLATION:
        ACOG_UNREACHABLE("the exchange answers it itself");
    }
    acog_exchange_policy_answered(play->exchange, &answer, play->now_ms);
}

static bool is_json(struct acog_view text)
{
    struct acog_json_value value;
    struct acog_json_error error;
    return acog_json_check(text, ACOG_JSON_DEPTH_MAX, &value, &error) == ACOG_OK;
}

/* A translated request is one piece. */
static void check_order(const struct acog_upstream_order *order)
{
    uint64_t bytes = 0;
    ACOG_ASSERT(order->piece_count != 1 || is_json(order->pieces[0]));
    ACOG_ASSERT(order->connection != NULL);
    for (size_t i = 0; i < order->piece_count; i++) {
        bytes += order->pieces[i].len;
    }
    ACOG_ASSERT(bytes == order->body_bytes);
}

static void check_head(const struct acog_reply_head *head)
{
    ACOG_ASSERT(head->status >= 200 && head->status < 600);
    for (size_t i = 0; i < head->header_count; i++) {
        struct acog_view value = head->headers[i].value;
        ACOG_ASSERT(head->headers[i].name.len > 0);
        for (size_t k = 0; k < value.len; k++) {
            unsigned char byte = (unsigned char)value.ptr[k];
            ACOG_ASSERT((byte >= 0x20 || byte == '\t') && byte != 0x7f);
        }
    }
}

static void keep_data(struct play *play, struct acog_view data)
{
    ACOG_ASSERT(data.len > 0);
    if (acog_buffer_append(&play->reply, data) != ACOG_OK) {
        play->reply_cut = true;
    }
}

static void perform(struct play *play, const struct acog_command *command)
{
    bool open = play->status != 0 && !play->ended && !play->aborted;
    ACOG_ASSERT(!play->finished);
    switch (command->type) {
    case ACOG_COMMAND_ASK:
        answer(play, command->ask);
        return;
    case ACOG_COMMAND_SEND:
        ACOG_ASSERT(command->attempt > play->sent); /* one that found no memory is not sent */
        ACOG_ASSERT(play->running == 0);
        play->sent = play->running = command->attempt;
        check_order(command->order);
        return;
    case ACOG_COMMAND_CANCEL:
        ACOG_ASSERT(command->attempt == play->running);
        play->running = 0;
        if (play->told.attempt == command->attempt) {
            forget_told(play);
        }
        return;
    case ACOG_COMMAND_REPLY_HEAD:
        ACOG_ASSERT(play->status == 0 && !play->client_gone);
        play->status = command->head.status;
        play->content_length = command->head.content_length;
        check_head(&command->head);
        return;
    case ACOG_COMMAND_REPLY_DATA:
        ACOG_ASSERT(open && !play->client_gone);
        keep_data(play, command->data);
        return;
    case ACOG_COMMAND_REPLY_END:
        ACOG_ASSERT(open && !play->client_gone);
        play->ended = true;
        return;
    case ACOG_COMMAND_REPLY_ABORT:
        ACOG_ASSERT(open && !play->client_gone);
        play->aborted = true;
        return;
    case ACOG_COMMAND_FINISHED:
        ACOG_ASSERT(play->running == 0);
        ACOG_ASSERT(play->ended || play->aborted || play->client_gone);
        play->finished = true;
        return;
    }
}

static void drain(struct play *play)
{
    struct acog_command command;
    while (acog_exchange_next(play->exchange, &command)) {
        spare(play, true);
        perform(play, &command);
        spare(play, false);
    }
}

/* -- happenings -------------------------------------------------------------------------------------- */

static void lend_request(struct play *play, struct acog_view body, struct acog_view request_id)
{
    spare(play, true);
    struct asked *asked = acog_grow(NULL, sizeof(*asked) + body.len + request_id.len);
    ACOG_ASSERT(asked != NULL && play->asked == NULL);
    spare(play, false);
    char *id = asked->text + body.len;
    memcpy(asked->text, body.len == 0 ? "" : body.ptr, body.len);
    memcpy(id, request_id.len == 0 ? "" : request_id.ptr, request_id.len);
    request_id.ptr = id;
    asked->headers[0] =
        (struct acog_header_row){ACOG_VIEW("content-type"), ACOG_VIEW("application/json")};
    asked->headers[1] = (struct acog_header_row){ACOG_VIEW("x-request-id"), request_id};
    play->asked = asked;
}

static void begin(struct play *play)
{
    static const char *const methods[] = {"POST", "POST", "POST", "GET", "HEAD", "DELETE"};
    struct acog_view body =
        acog_view_of(bodies[choose(&play->choices, sizeof(bodies) / sizeof(bodies[0]))]);
    const char *target = targets[choose(&play->choices, sizeof(targets) / sizeof(targets[0]))];
    unsigned how = take(&play->choices);
    if (how % 4 == 0) { /* a body of the fuzzer's own, or one with a hole in it */
        struct acog_view bytes = take_bytes(&play->choices);
        body = how % 8 == 0 ? bytes : acog_view_slice(body, 0, bytes.len);
    }
    lend_request(play, body, take_bytes(&play->choices));
    play->head = how % 6 == 4;
    play->sent = play->running = 0;
    play->client_gone = play->ended = play->aborted = play->finished = play->reply_cut = false;
    play->status = 0;
    play->reply.len = 0;
    const struct acog_exchange_start start = {.snapshot = &play->rows->snapshot,
                                              .shared = &play->rows->shared,
                                              .method = acog_view_of(methods[how % 6]),
                                              .target = acog_view_of(target),
                                              .headers = play->asked->headers,
                                              .header_count = how % 16 == 1 ? 0 : 2,
                                              .body = {play->asked->text, body.len},
                                              .now_ms = play->now_ms,
                                              .unix_ms = INT64_C(1764500000000),
                                              .seed = how,
                                              .draining = how % 32 == 2,
                                              .local = how % 2 == 0};
    acog_exchange_start(play->exchange, &start);
    drain(play);
}

static void tell_head(struct play *play)
{
    static const char *const waits[] = {"1", "-5", "99999999999999999999",
                                        "Mon, 01 Dec 2025 00:00:00 GMT"};
    unsigned status = statuses[choose(&play->choices, sizeof(statuses) / sizeof(statuses[0]))];
    unsigned how = take(&play->choices);
    const char *type = types[how % 4];
    struct acog_header_row *rows = told_new(play, play->running, 3 * sizeof(*rows));
    rows[0] = (struct acog_header_row){ACOG_VIEW("retry-after"), acog_view_of(waits[how / 16 % 4])};
    rows[1] = (struct acog_header_row){ACOG_VIEW("x-request-id"), ACOG_VIEW("upstream-1")};
    size_t count = how / 4 % 3;
    if (type != NULL) {
        rows[count++] = (struct acog_header_row){ACOG_VIEW("content-type"), acog_view_of(type)};
    }
    acog_exchange_upstream_head(play->exchange, play->running, status, rows, count, play->now_ms);
    drain(play);
    forget_told(play);
}

static void tell_bytes(struct play *play, uint32_t attempt, struct acog_view bytes)
{
    if (bytes.len == 0) {
        return;
    }
    char *copy = told_new(play, attempt, bytes.len);
    memcpy(copy, bytes.ptr, bytes.len);
    acog_exchange_upstream_body(play->exchange, attempt,
                                (struct acog_view){.ptr = copy, .len = bytes.len}, play->now_ms);
    drain(play);
    forget_told(play);
}

static void leave(struct play *play)
{
    if (!play->client_gone && !play->finished) {
        play->client_gone = true;
        acog_exchange_client_gone(play->exchange, play->now_ms);
        drain(play);
    }
}

static void wait(struct play *play, int64_t ms)
{
    play->now_ms += ms;
    acog_exchange_tick(play->exchange, play->now_ms);
    drain(play);
}

static void tell_fragment(struct play *play)
{
    struct acog_view all =
        acog_view_of(fragments[choose(&play->choices, sizeof(fragments) / sizeof(fragments[0]))]);
    size_t cut = take(&play->choices); /* where it is cut in two; far ones: not at all */
    tell_bytes(play, play->running, acog_view_slice(all, 0, cut));
    if (play->running != 0) {
        tell_bytes(play, play->running, acog_view_slice(all, cut, all.len));
    }
}

/* What an attempt does. */
static void happen_upstream(struct play *play, enum happening what)
{
    uint32_t attempt = play->running;
    unsigned how = 0;
    if (attempt == 0) {
        return;
    }
    switch (what) {
    case ACOG_HAPPENS_CONNECTED:
        acog_exchange_connected(play->exchange, attempt, take(&play->choices) % 2 == 0,
                                play->now_ms);
        break;
    case ACOG_HAPPENS_HEAD:
        tell_head(play);
        break;
    case ACOG_HAPPENS_FRAGMENT:
        tell_fragment(play);
        break;
    case ACOG_HAPPENS_BYTES:
        tell_bytes(play, attempt, take_bytes(&play->choices));
        break;
    case ACOG_HAPPENS_END:
        play->running = 0;
        acog_exchange_upstream_end(play->exchange, attempt, play->now_ms);
        break;
    case ACOG_HAPPENS_FAILED:
        how = take(&play->choices);
        play->running = 0;
        acog_exchange_upstream_failed(play->exchange, attempt, causes[how % 5], how / 8 % 2 == 0,
                                      play->now_ms);
        break;
    case ACOG_HAPPENS_OLD_ATTEMPT:
    case ACOG_HAPPENS_CLIENT_GONE:
    case ACOG_HAPPENS_CLIENT_FULL:
    case ACOG_HAPPENS_TIME:
    case ACOG_HAPPENS_NO_MEMORY:
    case ACOG_HAPPENS_NEXT_REQUEST:
    case ACOG_HAPPENS_COUNT:
        ACOG_UNREACHABLE("not of an attempt");
    }
    drain(play);
}

static void happen(struct play *play, enum happening what)
{
    switch (what) {
    case ACOG_HAPPENS_CONNECTED:
    case ACOG_HAPPENS_HEAD:
    case ACOG_HAPPENS_FRAGMENT:
    case ACOG_HAPPENS_BYTES:
    case ACOG_HAPPENS_END:
    case ACOG_HAPPENS_FAILED:
        happen_upstream(play, what);
        return;
    case ACOG_HAPPENS_OLD_ATTEMPT:
        if (play->sent > 0 && play->running != 1) {
            tell_bytes(play, 1, take_bytes(&play->choices));
        }
        return;
    case ACOG_HAPPENS_CLIENT_GONE:
        leave(play);
        return;
    case ACOG_HAPPENS_CLIENT_FULL:
        if (!play->client_gone && !play->finished) {
            acog_exchange_client_full(play->exchange, take(&play->choices) % 2 == 0, play->now_ms);
            drain(play);
        }
        return;
    case ACOG_HAPPENS_TIME:
        wait(play, (int64_t)take(&play->choices) * (int64_t)take(&play->choices));
        return;
    case ACOG_HAPPENS_NO_MEMORY:
        play->allocations_left = take(&play->choices);
        return;
    case ACOG_HAPPENS_NEXT_REQUEST:
    case ACOG_HAPPENS_COUNT:
        return;
    }
}

/* -- the whole ----------------------------------------------------------------------------------------- */

/* The attempt whose answer was given whole, if its connection speaks another dialect than the client; else NULL. */
static const struct acog_attempt_row *translated(const struct play *play,
                                                 const struct acog_exchange_record *record)
{
    const struct acog_request *request = record->request;
    if (request == NULL || !record->routed || request->attempt_count == 0 ||
        request->kept_attempt != 0 || request->outcome != ACOG_OUTCOME_COMPLETED) {
        return NULL;
    }
    const struct acog_attempt_row *last = &request->attempts[request->attempt_count - 1];
    const struct acog_candidate *candidate = &play->rows->candidates[last->candidate];
    enum acog_dialect client = acog_surface_dialect(record->surface);
    return last->outcome == ACOG_OUTCOME_COMPLETED &&
                   (play->rows->connections[candidate->connection].dialects & ACOG_BIT(client)) == 0
               ? last
               : NULL;
}

static void check_translated(const struct play *play, const struct acog_exchange_record *record)
{
    enum acog_dialect client = acog_surface_dialect(record->surface);
    struct acog_view reply = acog_buffer_view(&play->reply);
    struct acog_arena arena;
    acog_arena_init(&arena, ARENA_MAX);
    ACOG_ASSERT(record->stream ? is_complete_stream(client, reply, &arena)
                               : is_whole_answer(client, record->surface, reply, &arena));
    acog_arena_fini(&arena);
}

static void check_end(struct play *play)
{
    struct acog_view reply = acog_buffer_view(&play->reply);
    const struct acog_exchange_record *record = acog_exchange_record(play->exchange);
    ACOG_ASSERT(record->snapshot == &play->rows->snapshot);
    if (play->ended && play->content_length >= 0 && !play->reply_cut && !play->head) {
        ACOG_ASSERT(reply.len == (uint64_t)play->content_length);
    }
    if (play->ended && play->status >= 400 && reply.len > 0) {
        ACOG_ASSERT(is_json(reply));
        /* A client that writes the key itself is told its own words. */
        ACOG_ASSERT(play->input_has_secret ||
                    acog_view_find(reply, ACOG_VIEW(SECRET)) == reply.len);
    }
    if (play->ended && play->status == 200 && !play->reply_cut &&
        translated(play, record) != NULL) {
        check_translated(play, record);
    }
    if (record->request != NULL) {
        struct acog_buffer text;
        acog_buffer_init(&text, REPLY_MAX);
        ACOG_ASSERT(acog_exchange_render_record(record, &text) == ACOG_OK);
        ACOG_ASSERT(is_json(acog_buffer_view(&text)));
        acog_buffer_fini(&text);
    }
}

static void live(struct play *play)
{
    begin(play);
    while (!play->finished && play->choices.at < play->choices.end) {
        enum happening what = (enum happening)choose(&play->choices, ACOG_HAPPENS_COUNT);
        if (what == ACOG_HAPPENS_NEXT_REQUEST) {
            break;
        }
        happen(play, what);
    }
    play->allocations_left = 0;
    for (int i = 0; i < 40 && !play->finished; i++) { /* the clocks of every attempt */
        wait(play, WAIT_MS);
    }
    leave(play);
    wait(play, WAIT_MS); /* a drain has its own */
    ACOG_ASSERT(play->finished);
    spare(play, true);
    check_end(play);
    spare(play, false);
    acog_exchange_reset(play->exchange);
    acog_free(play->asked);
    play->asked = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct play play;
    struct acog_view input = {.ptr = (const char *)data, .len = size};
    play = (struct play){.choices = {.at = data, .end = data + size}, .now_ms = 1000};
    play.input_has_secret = acog_view_find(input, ACOG_VIEW(SECRET)) < input.len;
    acog_buffer_init(&play.reply, REPLY_MAX);
    play.rows = choose_rows(&play.choices);
    play.exchange = acog_exchange_new();
    ACOG_ASSERT(play.exchange != NULL);
    spare(&play, false);
    for (int i = 0; i < REQUESTS_MAX && (i == 0 || play.choices.at < play.choices.end); i++) {
        live(&play);
    }
    spare(&play, true);
    acog_exchange_free(&play.exchange);
    ACOG_ASSERT(references == 0);
    engine_rows_free(&play.rows);
    acog_buffer_fini(&play.reply);
    return 0;
}
