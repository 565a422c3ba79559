/* translator_fuzz.c - any bytes as a provider's answer that is told to a client of another dialect. The first byte
 * chooses the two dialects, whether it is a stream, whether it is told in the other form, whether the text comes as a
 * tool's arguments (B20), and whether there is a routing note; both of a Responses client: two tools are not what the
 * provider calls them, but in a namespace, or custom.
 *
 * Told once, the client's own reader finds a complete answer. And read from the client's dialect it is the same answer
 * as read from the provider's: the same texts, calls, reason and usage (tests/support/answer_recorder.h). A stream is
 * one that the tracker calls complete; what it calls an error or bad is never shown to a translator. In pieces of a
 * byte, and of a few with CRLF for LF, it is told in the same bytes.
 */
#include "acog/contract.h"
#include "acog/sse.h"
#include "tests/support/answer_recorder.h"
#ifdef ACOG_FUZZING
#include "json_mutator.h"
#endif

#include <stdio.h>
#include <string.h>

#define ARENA_MAX ((size_t)1 << 24U)
#define TOLD_MAX  ((size_t)1 << 22U)
#define CHOICES   1
#define PIECE     7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef ACOG_FUZZING
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
    return mutator_run(data, size, size_max, seed, CHOICES);
}
#endif

/* What of a translation is the request's. */
struct wish {
    bool stream;
    bool schema_by_tool;
    bool note;
    bool identities;
};

struct play {
    struct acog_model_rules rules;
    struct acog_translation translation;
    struct acog_flow flow;
    struct acog_buffer told;
    struct acog_arena arena;
};

static struct acog_tool_identity custom = {.name = {"write", 5}, .told = {"w", 1}, .custom = true};
static struct acog_tool_identity spaced = {
    .name_space = {"n\"s", 3}, .name = {"run", 3}, .told = {"f", 1}, .next = &custom};

static void play_init(struct play *play, enum acog_dialect client, enum acog_dialect upstream,
                      struct wish wish)
{
    play->rules = acog_model_rules_default(upstream);
    play->translation = (struct acog_translation){
        .client = client,
        .upstream = upstream,
        .rules = &play->rules,
        .model = ACOG_VIEW("m"),
        .request_id = ACOG_VIEW("r1"),
        .input_tokens_estimate = 7,
        .max_tokens = -1,
        .stream = wish.stream,
        .usage_asked = true,
        .schema_by_tool = wish.schema_by_tool,
        .note = wish.note ? ACOG_VIEW("by \"m\"\n") : ACOG_VIEW(""),
        .identities = wish.identities ? &spaced : NULL,
    };
    acog_buffer_init(&play->told, TOLD_MAX);
    acog_arena_init(&play->arena, ARENA_MAX);
}

static void play_fini(struct play *play)
{
    acog_buffer_fini(&play->told);
    acog_arena_fini(&play->arena);
}

/* What an event or a body is read with: a real writer, or the recorder. */
typedef void event_reader(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                          struct acog_arena *scratch);
typedef void whole_reader(struct acog_flow *flow, struct acog_json_value body,
                          struct acog_arena *scratch);

static event_reader *const event_readers[] = {acog_chat_read_event, acog_messages_read_event,
                                              acog_responses_read_event, acog_gemini_read_event};
static whole_reader *const whole_readers[] = {acog_chat_read_whole, acog_messages_read_whole,
                                              acog_responses_read_whole, acog_gemini_read_whole};

/* -- streams --------------------------------------------------------------------------------------- */

/* What a provider says, and how it comes. */
struct provided {
    enum acog_dialect dialect;
    struct acog_view bytes;
    bool stream;
    size_t piece;
};

struct stream {
    struct play *play;
    struct acog_stream_tracker tracker;
    struct acog_sse_reader reader;
    bool good; /* no error came, and no line that is too long */
};

static void take_event(struct stream *stream, const struct acog_sse_event *event)
{
    struct play *play = stream->play;
    struct acog_failure failure = {.retry_after_ms = -1};
    unsigned outputs = 0;
    enum acog_stream_event kind = acog_stream_tracker_read(
        &stream->tracker, event->name, event->data, &play->arena, &outputs, &failure);
    stream->good = kind != ACOG_STREAM_EVENT_ERROR;
    if (stream->good && kind != ACOG_STREAM_EVENT_BAD && kind != ACOG_STREAM_EVENT_COMMENT &&
        kind != ACOG_STREAM_EVENT_PING) {
        event_readers[stream->tracker.dialect](&play->flow, event->name, event->data, &play->arena);
    }
}

static void take_piece(struct stream *stream, struct acog_view bytes)
{
    struct acog_sse_event event;
    while (stream->good && bytes.len > 0 && !stream->tracker.done_seen) {
        size_t used = 0;
        enum acog_code code = acog_sse_next(&stream->reader, bytes, &used, &event);
        if (code == ACOG_OK) {
            take_event(stream, &event);
        }
        bytes = acog_view_slice(bytes, code == ACOG_OK ? used : bytes.len, bytes.len);
        stream->good = stream->good && (code == ACOG_OK || code == ACOG_AGAIN);
    }
}

/* Reads a stream into the flow. False: it is not a complete answer, and nothing is to be said of it. */
static bool read_stream(struct play *play, const struct provided *provided)
{
    struct stream stream = {.play = play, .good = true};
    acog_stream_tracker_init(&stream.tracker, provided->dialect);
    acog_sse_init(&stream.reader, TOLD_MAX);
    for (size_t at = 0; at < provided->bytes.len; at += provided->piece) {
        take_piece(&stream, acog_view_slice(provided->bytes, at, at + provided->piece));
    }
    acog_sse_fini(&stream.reader);
    return stream.good && acog_stream_tracker_complete(&stream.tracker);
}

/* -- both ------------------------------------------------------------------------------------------ */

static bool read_whole(struct play *play, const struct provided *provided)
{
    static const enum acog_surface surfaces[] = {ACOG_SURFACE_CHAT, ACOG_SURFACE_MESSAGES,
                                                 ACOG_SURFACE_RESPONSES, ACOG_SURFACE_CHAT};
    struct acog_whole_answer answer = {0};
    struct acog_failure failure = {.retry_after_ms = -1};
    struct acog_json_value object;
    struct acog_json_error error;
    if (acog_dialect_read_answer(provided->dialect, surfaces[provided->dialect], provided->bytes,
                                 &play->arena, &answer, &failure) != ACOG_OK ||
        answer.is_error ||
        acog_json_check(provided->bytes, ACOG_JSON_DEPTH_MAX, &object, &error) != ACOG_OK) {
        return false;
    }
    whole_readers[provided->dialect](&play->flow, object, &play->arena);
    return true;
}

/* Reads an answer with that form. False: it is none. */
static bool read(struct play *play, const struct provided *provided,
                 const struct acog_answer_writer_form *form)
{
    ACOG_ASSERT(acog_flow_init(&play->flow, &play->translation, form) == ACOG_OK);
    play->flow.out = &play->told;
    bool good = provided->stream ? read_stream(play, provided) : read_whole(play, provided);
    if (good) {
        acog_flow_end(&play->flow);
        good = play->flow.code == ACOG_OK;
    }
    acog_flow_fini(&play->flow);
    return good;
}

static bool record(struct recorded_answer *answer, enum acog_dialect client,
                   const struct provided *provided, struct wish wish)
{
    struct play play;
    play_init(&play, client, provided->dialect, wish);
    recorded_init(answer);
    recording = answer;
    bool good = read(&play, provided, &recorder_form);
    play_fini(&play);
    return good;
}

static bool is_same_bytes(const struct acog_buffer *a, const struct acog_buffer *b)
{
    bool same = acog_view_equal(acog_buffer_view(a), acog_buffer_view(b));
    if (!same) {
        (void)fprintf(stderr, "direct:\n%.*s\ntranslated:\n%.*s\n",
                      ACOG_VIEW_FMT(acog_buffer_view(a)), ACOG_VIEW_FMT(acog_buffer_view(b)));
    }
    return same;
}

/* What is not counted is told as nothing. */
static bool is_same_count(int64_t a, int64_t b)
{
    return (a < 0 ? 0 : a) == (b < 0 ? 0 : b);
}

static void is_same_usage(const struct acog_usage *a, const struct acog_usage *b)
{
    ACOG_ASSERT(a->input_tokens < 0 || a->input_tokens == b->input_tokens);
    ACOG_ASSERT(a->output_tokens == b->output_tokens);
    ACOG_ASSERT(is_same_count(a->cached_tokens, b->cached_tokens));
    ACOG_ASSERT(is_same_count(a->cache_write_tokens, b->cache_write_tokens));
    ACOG_ASSERT(is_same_count(a->reasoning_tokens, b->reasoning_tokens));
}

static void is_same(const struct recorded_answer *a, const struct recorded_answer *b,
                    enum acog_dialect client, bool identities)
{
    /* Behind a refusal stands what explains it, where a dialect has no other place for that. */
    ACOG_ASSERT((a->reason == ACOG_FINISH_REFUSAL &&
                 acog_view_starts(acog_buffer_view(&b->text), acog_buffer_view(&a->text))) ||
                is_same_bytes(&a->text, &b->text));
    ACOG_ASSERT(is_same_bytes(&a->reasoning, &b->reasoning));
    if (identities) { /* no provider has calls of such names, and none is asked for custom ones */
        return;
    }
    /* A whole message has no place for arguments that are no object (core/dialect/README.md). */
    ACOG_ASSERT(a->broken_calls || is_same_bytes(&a->calls, &b->calls));
    /* Nor has a message one for what was cited. */
    ACOG_ASSERT(client == ACOG_DIALECT_MESSAGES || is_same_bytes(&a->citations, &b->citations));
    ACOG_ASSERT(a->reason == b->reason);
    if (!a->usage_estimated) {
        is_same_usage(&a->usage, &b->usage);
    }
}

static const struct acog_answer_writer_form *const forms[][2] = {
    {&acog_chat_whole_form, &acog_chat_stream_form},
    {&acog_messages_whole_form, &acog_messages_stream_form},
    {&acog_responses_whole_form, &acog_responses_stream_form},
};

/* The same stream in other pieces is told in the same bytes, whether or not it is complete. */
static void cut(enum acog_dialect client, const struct provided *provided, struct wish wish,
                bool good, const struct acog_buffer *told)
{
    struct play play;
    play_init(&play, client, provided->dialect, wish);
    ACOG_ASSERT(read(&play, provided, forms[client][1]) == good);
    ACOG_ASSERT(is_same_bytes(told, &play.told));
    play_fini(&play);
}

static void cut_in_pieces(enum acog_dialect client, const struct provided *provided,
                          struct wish wish, bool good, const struct acog_buffer *told)
{
    struct provided cuts = *provided;
    struct acog_buffer crlf;
    cuts.piece = 1;
    cut(client, &cuts, wish, good, told);
    acog_buffer_init(&crlf, TOLD_MAX);
    char before = 0;
    for (size_t i = 0; i < provided->bytes.len; i++) {
        bool bare = provided->bytes.ptr[i] == '\n' && before != '\r';
        before = provided->bytes.ptr[i];
        ACOG_ASSERT(acog_buffer_append(&crlf, bare ? ACOG_VIEW("\r") : ACOG_VIEW("")) == ACOG_OK);
        ACOG_ASSERT(acog_buffer_append(&crlf, acog_view_slice(provided->bytes, i, i + 1)) ==
                    ACOG_OK);
    }
    cuts.piece = PIECE;
    cuts.bytes = acog_buffer_view(&crlf);
    cut(client, &cuts, wish, good, told);
    acog_buffer_fini(&crlf);
}

static void compare(enum acog_dialect client, const struct provided *provided, struct wish wish)
{
    struct play play;
    struct recorded_answer direct;
    struct recorded_answer translated;
    play_init(&play, client, provided->dialect, wish);
    bool good = read(&play, provided, forms[client][wish.stream ? 1 : 0]);
    if (good) {
        const struct provided told = {.dialect = client,
                                      .bytes = acog_buffer_view(&play.told),
                                      .stream = wish.stream,
                                      .piece = TOLD_MAX};
        ACOG_ASSERT(record(&direct, client, provided, wish));
        ACOG_ASSERT(record(&translated, client, &told, (struct wish){.stream = wish.stream}));
        is_same(&direct, &translated, client, wish.identities);
        recorded_fini(&direct);
        recorded_fini(&translated);
    }
    if (wish.stream && provided->stream) {
        cut_in_pieces(client, provided, wish, good, &play.told);
    }
    play_fini(&play);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < CHOICES) {
        return 0;
    }
    bool stream = (data[0] & 0x80U) != 0;
    bool other_form = (data[0] & 0x40U) != 0;
    enum acog_dialect client = (enum acog_dialect)(data[0] % 3);
    bool identities = client == ACOG_DIALECT_RESPONSES && (data[0] & 0x30U) == 0x30U;
    const struct wish wish = {
        .stream = stream != other_form,
        .schema_by_tool = (data[0] & 0x20U) != 0 && !identities,
        .note = (data[0] & 0x10U) != 0,
        .identities = identities,
    };
    const struct provided provided = {
        .dialect = (enum acog_dialect)((data[0] >> 2U) % ACOG_DIALECT_COUNT),
        .bytes = {.ptr = (const char *)data + CHOICES, .len = size - CHOICES},
        .stream = stream,
        .piece = TOLD_MAX,
    };
    compare(client, &provided, wish);
    return 0;
}
