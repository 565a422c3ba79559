/* provider.c - one reply played: its times, its faults, its bytes.
 *
 *   NEW --> CONNECTED --> BODY --+--> STREAM <--> EVENT_READY --> BODY_SENT --> OVER
 *    |          |          |     |      |                             ^
 *    |          |          |     |      +-- a fault after n events ---|--> OVER
 *    |          |          |     +--> (one body) ---------------------+--> CUT --> OVER
 *    +----------+----------+--- a fault of that stage -----------------------> OVER
 *
 * Each call of acog_provider_next() gives one step, so a long stream is made event by event, in one buffer.
 */
#include "acog/provider.h"

#include "acog/contract.h"
#include "play.h"
#include "writer.h"

#define HEADERS_OWN    3              /* content-type, request id, cache-control */
#define BYTES_OF_FRAME ((size_t)4096) /* the largest event or body without the script's texts */
#define TOKEN_BYTES    4              /* of English text, about */

void acog_provider_reply_init(struct acog_provider_reply *reply)
{
    *reply = (struct acog_provider_reply){.status = 200, .input_tokens = 12, .output_tokens = -1};
}

const struct acog_provider_reply *acog_provider_pick(const struct acog_provider_script *script,
                                                     uint64_t served)
{
    ACOG_ASSERT(script->reply_count > 0);
    if (script->cycle) {
        return &script->replies[served % script->reply_count];
    }
    uint64_t last = script->reply_count - 1;
    return &script->replies[served < last ? served : last];
}

/* -- the start ------------------------------------------------------------------------------------- */

static bool is_good(unsigned status)
{
    return status >= 200 && status < 300;
}

static uint64_t mix(uint64_t seed, struct acog_view text)
{
    for (size_t i = 0; i < text.len; i++) { /* FNV-1a */
        seed = (seed ^ (unsigned char)text.ptr[i]) * UINT64_C(0x100000001b3);
    }
    return seed;
}

static int64_t tokens_of(size_t bytes)
{
    return (int64_t)((bytes + TOKEN_BYTES - 1) / TOKEN_BYTES);
}

static bool resolve_text(struct acog_provider_reply *reply, struct acog_view connection,
                         struct acog_arena *arena)
{
    if (reply->text.ptr != NULL || reply->tool_name.len > 0 || reply->refusal) {
        return true;
    }
    static const char hello[] = "Hello from ";
    size_t hello_bytes = sizeof(hello) - 1;
    char *text = acog_arena_take(arena, hello_bytes + connection.len + 1);
    if (text == NULL) {
        return false;
    }
    memcpy(text, hello, hello_bytes);
    if (connection.len > 0) {
        memcpy(text + hello_bytes, connection.ptr, connection.len);
    }
    text[hello_bytes + connection.len] = '.';
    reply->text = (struct acog_view){.ptr = text, .len = hello_bytes + connection.len + 1};
    return true;
}

/* Puts a value where the script leaves it to us. False: no room. */
static bool resolve_reply(struct acog_provider_play *play, struct acog_arena *arena)
{
    struct acog_provider_reply *reply = &play->reply;
    if (!resolve_text(reply, play->request.connection, arena)) {
        return false;
    }
    if (reply->status == 0) {
        reply->status = 200;
    }
    if (reply->model.len == 0) {
        reply->model = play->request.model;
    }
    if (reply->tool_name.len > 0 && reply->tool_arguments.len == 0) {
        reply->tool_arguments = ACOG_VIEW("{}"); /* B48 */
    }
    if (reply->output_tokens < 0) {
        reply->output_tokens =
            tokens_of(reply->text.len + reply->reasoning.len + reply->tool_arguments.len);
    }
    play->walk = (struct acog_walk){.reasoning = reply->reasoning,
                                    .text = reply->text,
                                    .tool = reply->tool_name.len > 0,
                                    .tool_arguments = reply->tool_arguments,
                                    .chunks = reply->chunks};
    acog_walk_init(&play->walk);
    return true;
}

/* No event and no body is larger: each text stands in one at most once, the model and the tool's name twice. */
static size_t out_bytes_max(const struct acog_provider_play *play)
{
    const struct acog_provider_reply *reply = &play->reply;
    size_t bytes = BYTES_OF_FRAME;
    bytes += acog_written_bytes_max(reply->text) + acog_written_bytes_max(reply->reasoning);
    bytes += acog_written_bytes_max(reply->tool_arguments) + reply->tool_arguments.len;
    bytes +=
        2 * acog_written_bytes_max(reply->tool_name) + 2 * acog_written_bytes_max(reply->model);
    bytes +=
        acog_written_bytes_max(reply->finish) + acog_written_bytes_max(reply->refusal_category);
    bytes += 2 * acog_written_bytes_max(reply->error_message); /* `error` and response.failed */
    bytes += 2 * acog_written_bytes_max(reply->error_type);
    bytes += 2 * acog_written_bytes_max(reply->error_code);
    return bytes;
}

static bool can_stream(enum acog_surface surface)
{
    return surface != ACOG_SURFACE_COUNT_TOKENS && surface != ACOG_SURFACE_EMBEDDINGS;
}

static struct acog_view content_type(const struct acog_provider_play *play)
{
    if (play->reply.content_type.len > 0) {
        return play->reply.content_type;
    }
    bool events =
        play->streamed || (play->raw && play->request.stream && is_good(play->reply.status));
    return events ? ACOG_VIEW("text/event-stream; charset=utf-8") : ACOG_VIEW("application/json");
}

static bool says_header(const struct acog_provider_reply *reply, struct acog_view name)
{
    return acog_header_find(reply->headers, reply->header_count, name).ptr != NULL;
}

static void add_header(struct acog_provider_play *play, struct acog_view name,
                       struct acog_view value)
{
    if (!says_header(&play->reply, name)) {
        play->headers[play->header_count] = (struct acog_header_row){.name = name, .value = value};
        play->header_count++;
    }
}

/* A provider's usual headers, then the script's, which replace ours of the same name. */
static bool make_headers(struct acog_provider_play *play, struct acog_arena *arena)
{
    char id[64];
    struct acog_buffer buffer;
    acog_buffer_init_over(&buffer, id, sizeof(id));
    acog_write_id(&buffer, ACOG_VIEW("req_011C"), play->seed, 9, 20);
    struct acog_view request_id = acog_arena_copy(arena, acog_buffer_view(&buffer));
    play->headers =
        acog_arena_take(arena, (HEADERS_OWN + play->reply.header_count) * sizeof(play->headers[0]));
    if (request_id.ptr == NULL || play->headers == NULL) {
        return false;
    }
    add_header(play, ACOG_VIEW("content-type"), content_type(play));
    bool messages = play->request.dialect == ACOG_DIALECT_MESSAGES;
    add_header(play, messages ? ACOG_VIEW("request-id") : ACOG_VIEW("x-request-id"), request_id);
    if (play->streamed) {
        add_header(play, ACOG_VIEW("cache-control"), ACOG_VIEW("no-cache"));
    }
    for (size_t i = 0; i < play->reply.header_count; i++) {
        play->headers[play->header_count] = play->reply.headers[i];
        play->header_count++;
    }
    return true;
}

struct acog_provider_play *acog_provider_play(const struct acog_provider_reply *reply,
                                              const struct acog_provider_request *request,
                                              struct acog_arena *arena)
{
    struct acog_provider_play *play = acog_arena_take(arena, sizeof(*play));
    if (play == NULL) {
        return NULL;
    }
    play->reply = *reply;
    play->request = *request;
    play->seed = mix(mix(UINT64_C(0xcbf29ce484222325) + request->served, request->connection),
                     request->model);
    play->raw = reply->body.ptr != NULL;
    if (!resolve_reply(play, arena)) {
        return NULL;
    }
    play->streamed = request->stream && can_stream(request->surface) && !play->raw &&
                     is_good(play->reply.status);
    size_t bytes = out_bytes_max(play);
    if (request->surface == ACOG_SURFACE_EMBEDDINGS) {
        bytes += acog_embeddings_bytes_max(play);
    }
    char *memory = acog_arena_take(arena, bytes);
    if (memory == NULL || !make_headers(play, arena)) {
        return NULL;
    }
    acog_buffer_init_over(&play->out, memory, bytes);
    return play;
}

/* -- steps ----------------------------------------------------------------------------------------- */

static bool give(const struct acog_provider_play *play, struct acog_provider_step *step,
                 enum acog_provider_step_kind kind)
{
    *step = (struct acog_provider_step){.kind = kind, .at_ms = play->now_ms};
    return true;
}

static bool give_body(const struct acog_provider_play *play, struct acog_provider_step *step,
                      struct acog_view bytes)
{
    give(play, step, ACOG_STEP_BODY);
    step->bytes = bytes;
    return true;
}

static bool give_last(struct acog_provider_play *play, struct acog_provider_step *step,
                      enum acog_provider_step_kind kind)
{
    play->state = ACOG_PLAY_OVER;
    return give(play, step, kind);
}

/* True, with the play over, when the script wants trouble at this stage. */
static bool give_fault(struct acog_provider_play *play, enum acog_provider_stage stage,
                       struct acog_provider_step *step)
{
    bool connecting = stage == ACOG_STAGE_CONNECT;
    if (play->reply.reset == stage) {
        return give_last(play, step, connecting ? ACOG_STEP_REFUSED : ACOG_STEP_RESET);
    }
    if (play->reply.close == stage) {
        return give_last(play, step, connecting ? ACOG_STEP_REFUSED : ACOG_STEP_CLOSED);
    }
    if (play->reply.hang == stage && play->reply.hang_ms > 0) {
        play->now_ms += play->reply.hang_ms;
        return give_last(play, step, connecting ? ACOG_STEP_REFUSED : ACOG_STEP_CLOSED);
    }
    if (play->reply.hang == stage) {
        return give_last(play, step, ACOG_STEP_SILENCE);
    }
    return false;
}

static bool breaks_at(const struct acog_provider_reply *reply, enum acog_provider_stage stage)
{
    return reply->reset == stage || reply->close == stage || reply->hang == stage;
}

static bool start_connecting(struct acog_provider_play *play, struct acog_provider_step *step)
{
    if (breaks_at(&play->reply, ACOG_STAGE_CONNECT)) {
        play->now_ms = play->reply.delay_ms;
        return give_fault(play, ACOG_STAGE_CONNECT, step);
    }
    play->state = ACOG_PLAY_CONNECTED;
    return give(play, step, ACOG_STEP_CONNECTED);
}

static bool give_head(struct acog_provider_play *play, struct acog_provider_step *step)
{
    play->now_ms = play->reply.delay_ms;
    if (give_fault(play, ACOG_STAGE_HEAD, step)) {
        return true;
    }
    play->head_ms = play->now_ms;
    play->state = ACOG_PLAY_BODY;
    give(play, step, ACOG_STEP_HEAD);
    step->status = play->reply.status;
    step->headers = play->headers;
    step->header_count = play->header_count;
    return true;
}

/* -- one body -------------------------------------------------------------------------------------- */

static void write_answer(const struct acog_provider_play *play, struct acog_buffer *out)
{
    switch (play->request.dialect) {
    case ACOG_DIALECT_CHAT:
        acog_chat_write_whole(play, out);
        return;
    case ACOG_DIALECT_MESSAGES:
        acog_messages_write_whole(play, out);
        return;
    case ACOG_DIALECT_RESPONSES:
        acog_responses_write_whole(play, out);
        return;
    case ACOG_DIALECT_GEMINI:
        acog_gemini_write_whole(play, out);
        return;
    case ACOG_DIALECT_COUNT:
        break;
    }
    ACOG_UNREACHABLE("unknown dialect");
}

static void write_whole(struct acog_provider_play *play, struct acog_buffer *out)
{
    if (!is_good(play->reply.status) || play->reply.error_event) {
        acog_error_write_body(play, is_good(play->reply.status) ? 500 : play->reply.status, out);
        return;
    }
    switch (play->request.surface) {
    case ACOG_SURFACE_CHAT:
    case ACOG_SURFACE_MESSAGES:
    case ACOG_SURFACE_RESPONSES:
        write_answer(play, out);
        return;
    case ACOG_SURFACE_COUNT_TOKENS:
        acog_count_tokens_write(play, out);
        return;
    case ACOG_SURFACE_EMBEDDINGS:
        acog_embeddings_write(play, out);
        return;
    case ACOG_SURFACE_COUNT:
        break;
    }
    ACOG_UNREACHABLE("unknown surface");
}

/* A broken one ends at its half. */
static bool give_whole(struct acog_provider_play *play, struct acog_provider_step *step)
{
    struct acog_view body = play->reply.body;
    if (!play->raw) {
        write_whole(play, &play->out);
        body = acog_buffer_view(&play->out);
    }
    if (is_good(play->reply.status)) {
        play->now_ms += play->reply.first_output_delay_ms;
    }
    bool cut = breaks_at(&play->reply, ACOG_STAGE_EVENTS);
    body = acog_view_slice(body, 0, cut ? body.len / 2 : body.len);
    if (body.len > 0) {
        play->state = cut ? ACOG_PLAY_CUT : ACOG_PLAY_BODY_SENT;
        return give_body(play, step, body);
    }
    return cut ? give_fault(play, ACOG_STAGE_EVENTS, step) : give_last(play, step, ACOG_STEP_END);
}

/* -- a stream -------------------------------------------------------------------------------------- */

static void write_beat(struct acog_provider_play *play)
{
    play->out.len = 0;
    switch (play->request.dialect) {
    case ACOG_DIALECT_CHAT:
        acog_chat_write_beat(play, &play->out);
        return;
    case ACOG_DIALECT_MESSAGES:
        acog_messages_write_beat(play, &play->out);
        return;
    case ACOG_DIALECT_RESPONSES:
        acog_responses_write_beat(play, &play->out);
        return;
    case ACOG_DIALECT_GEMINI:
        acog_gemini_write_beat(play, &play->out);
        return;
    case ACOG_DIALECT_COUNT:
        break;
    }
    ACOG_UNREACHABLE("unknown dialect");
}

/* Writes the next event of the dialect into `out`; false: there is none left. */
static bool write_event(struct acog_provider_play *play, bool *output)
{
    play->out.len = 0;
    while (play->out.len == 0 && play->walk.beat != ACOG_BEAT_OVER) {
        write_beat(play);
        *output = acog_beat_is_output(play->walk.beat);
        acog_walk_next(&play->walk);
    }
    return play->out.len > 0;
}

static int64_t due_ms(const struct acog_provider_play *play, bool output)
{
    int64_t due = play->events == 0 ? play->head_ms : play->now_ms + play->reply.pace_ms;
    int64_t first_output = play->head_ms + play->reply.first_output_delay_ms;
    return output && !play->output_seen && due < first_output ? first_output : due;
}

static bool give_event(struct acog_provider_play *play, struct acog_provider_step *step)
{
    play->events++;
    play->state = ACOG_PLAY_STREAM;
    return give_body(play, step, acog_buffer_view(&play->out));
}

/* The SDKs want message_start before anything else, so a ping never comes first. */
static struct acog_view comment_of(const struct acog_provider_play *play)
{
    if (!play->reply.comments) {
        return (struct acog_view){0};
    }
    if (play->request.dialect == ACOG_DIALECT_MESSAGES) {
        return play->events == 0 ? (struct acog_view){0}
                                 : ACOG_VIEW("event: ping\ndata: {\"type\": \"ping\"}\n\n");
    }
    return ACOG_VIEW(": keep-alive\n\n");
}

/* With the name of an ordinary event where the dialect names them: the Anthropic SDK skips what has none. */
static struct acog_view malformed_of(const struct acog_provider_play *play)
{
    switch (play->request.dialect) {
    case ACOG_DIALECT_MESSAGES:
        return ACOG_VIEW("event: content_block_delta\ndata: {\"type\": \n\n");
    case ACOG_DIALECT_RESPONSES:
        return ACOG_VIEW("event: response.output_text.delta\ndata: {\"type\": \n\n");
    case ACOG_DIALECT_GEMINI:
        return ACOG_VIEW("data: {\"candidates\": \r\n\r\n");
    case ACOG_DIALECT_CHAT:
    case ACOG_DIALECT_COUNT:
        break;
    }
    return ACOG_VIEW("data: {\"choices\": \n\n");
}

/* The trouble that is due after this many events. */
static bool give_event_fault(struct acog_provider_play *play, struct acog_provider_step *step)
{
    const struct acog_provider_reply *reply = &play->reply;
    if (breaks_at(reply, ACOG_STAGE_EVENTS) && play->events == reply->after_events) {
        play->now_ms = due_ms(play, false);
        return give_fault(play, ACOG_STAGE_EVENTS, step);
    }
    if (reply->error_event && play->events == reply->error_event_after) {
        play->now_ms = due_ms(play, false);
        play->out.len = 0;
        acog_error_write_events(play, &play->out);
        play->state = ACOG_PLAY_BODY_SENT;
        return give_body(play, step, acog_buffer_view(&play->out));
    }
    if (reply->malformed_event && !play->malformed_sent &&
        play->events == reply->malformed_event_after) {
        play->now_ms = due_ms(play, false);
        play->malformed_sent = true;
        return give_body(play, step, malformed_of(play));
    }
    return false;
}

/* A comment before an event comes half way on the time to it. */
static bool give_stream_step(struct acog_provider_play *play, struct acog_provider_step *step)
{
    if (give_event_fault(play, step)) {
        return true;
    }
    bool output = false;
    if (!write_event(play, &output)) {
        return give_last(play, step, ACOG_STEP_END);
    }
    int64_t before_ms = play->now_ms;
    play->now_ms = due_ms(play, output);
    play->output_seen = play->output_seen || output;
    struct acog_view comment = comment_of(play);
    if (comment.len > 0) {
        play->state = ACOG_PLAY_EVENT_READY;
        give_body(play, step, comment);
        step->at_ms = before_ms + (play->now_ms - before_ms) / 2;
        return true;
    }
    return give_event(play, step);
}

bool acog_provider_next(struct acog_provider_play *play, struct acog_provider_step *step)
{
    switch (play->state) {
    case ACOG_PLAY_NEW:
        return start_connecting(play, step);
    case ACOG_PLAY_CONNECTED:
        return give_head(play, step);
    case ACOG_PLAY_BODY:
        if (give_fault(play, ACOG_STAGE_BODY, step)) {
            return true;
        }
        if (!play->streamed) {
            return give_whole(play, step);
        }
        play->state = ACOG_PLAY_STREAM;
        return give_stream_step(play, step);
    case ACOG_PLAY_STREAM:
        return give_stream_step(play, step);
    case ACOG_PLAY_EVENT_READY:
        return give_event(play, step);
    case ACOG_PLAY_BODY_SENT:
        return give_last(play, step, ACOG_STEP_END);
    case ACOG_PLAY_CUT:
        return give_fault(play, ACOG_STAGE_EVENTS, step);
    case ACOG_PLAY_OVER:
        return false;
    }
    ACOG_UNREACHABLE("unknown state of a play");
}
