/* translator_fuzz.c - any bytes as a provider's answer that is told to a client of another dialect. The first byte
 * chooses the two dialects and whether it is a stream.
 *
 * Told once, the client's own reader finds a complete answer. And read from the client's dialect it is the same answer
 * as read from the provider's: the same texts, calls, reason and usage (tests/support/answer_recorder.h). A stream is
 * one that the tracker calls complete; what it calls an error or bad is never shown to a translator.
 */
#include "acog/contract.h"
#include "acog/sse.h"
#include "tests/support/answer_recorder.h"
#ifdef ACOG_FUZZING
#include "json_mutator.h"
#endif

#include <string.h>

#define ARENA_MAX ((size_t)1 << 24U)
#define TOLD_MAX  ((size_t)1 << 22U)
#define CHOICES   1

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef ACOG_FUZZING
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
    return mutator_run(data, size, size_max, seed, CHOICES);
}
#endif

struct play {
    struct acog_model_rules rules;
    struct acog_translation translation;
    struct acog_flow flow;
    struct acog_buffer told;
    struct acog_arena arena;
};

static void play_init(struct play *play, enum acog_dialect client, enum acog_dialect upstream,
                      bool stream)
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
        .stream = stream,
        .usage_asked = true,
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

/* Reads a stream into the flow. False: it is not a complete answer, and nothing is to be said of it. */
static bool read_stream(struct play *play, enum acog_dialect dialect, struct acog_view bytes)
{
    struct acog_stream_tracker tracker;
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    bool good = true;
    acog_stream_tracker_init(&tracker, dialect);
    acog_sse_init(&reader, TOLD_MAX);
    while (good && bytes.len > 0 && !tracker.done_seen) {
        size_t used = 0;
        struct acog_failure failure = {.retry_after_ms = -1};
        unsigned outputs = 0;
        if (acog_sse_next(&reader, bytes, &used, &event) != ACOG_OK) {
            break;
        }
        bytes = acog_view_slice(bytes, used, bytes.len);
        enum acog_stream_event kind = acog_stream_tracker_read(&tracker, event.name, event.data,
                                                               &play->arena, &outputs, &failure);
        good = kind != ACOG_STREAM_EVENT_ERROR;
        if (good && kind != ACOG_STREAM_EVENT_BAD && kind != ACOG_STREAM_EVENT_COMMENT &&
            kind != ACOG_STREAM_EVENT_PING) {
            event_readers[dialect](&play->flow, event.name, event.data, &play->arena);
        }
    }
    acog_sse_fini(&reader);
    return good && acog_stream_tracker_complete(&tracker);
}

/* -- both ------------------------------------------------------------------------------------------ */

static bool read_whole(struct play *play, enum acog_dialect dialect, struct acog_view body)
{
    static const enum acog_surface surfaces[] = {ACOG_SURFACE_CHAT, ACOG_SURFACE_MESSAGES,
                                                 ACOG_SURFACE_RESPONSES, ACOG_SURFACE_CHAT};
    struct acog_whole_answer answer = {0};
    struct acog_failure failure = {.retry_after_ms = -1};
    struct acog_json_value object;
    struct acog_json_error error;
    if (acog_dialect_read_answer(dialect, surfaces[dialect], body, &play->arena, &answer,
                                 &failure) != ACOG_OK ||
        answer.is_error || acog_json_check(body, ACOG_JSON_DEPTH_MAX, &object, &error) != ACOG_OK) {
        return false;
    }
    whole_readers[dialect](&play->flow, object, &play->arena);
    return true;
}

/* Reads an answer of `dialect` with that form. False: it is none. */
static bool read(struct play *play, enum acog_dialect dialect, struct acog_view bytes,
                 const struct acog_answer_writer_form *form)
{
    ACOG_ASSERT(acog_flow_init(&play->flow, &play->translation, form) == ACOG_OK);
    play->flow.out = &play->told;
    bool good = play->translation.stream ? read_stream(play, dialect, bytes)
                                         : read_whole(play, dialect, bytes);
    if (good) {
        acog_flow_end(&play->flow);
        good = play->flow.code == ACOG_OK;
    }
    acog_flow_fini(&play->flow);
    return good;
}

static bool record(struct recorded_answer *answer, enum acog_dialect client,
                   enum acog_dialect upstream, bool stream, struct acog_view bytes)
{
    struct play play;
    play_init(&play, client, upstream, stream);
    recorded_init(answer);
    recording = answer;
    bool good = read(&play, upstream, bytes, &recorder_form);
    play_fini(&play);
    return good;
}

static void is_same(const struct recorded_answer *a, const struct recorded_answer *b)
{
    ACOG_ASSERT(acog_view_equal(acog_buffer_view(&a->text), acog_buffer_view(&b->text)));
    ACOG_ASSERT(acog_view_equal(acog_buffer_view(&a->reasoning), acog_buffer_view(&b->reasoning)));
    /* A whole message has no place for arguments that are no object (core/dialect/README.md). */
    ACOG_ASSERT(a->broken_calls ||
                acog_view_equal(acog_buffer_view(&a->calls), acog_buffer_view(&b->calls)));
    ACOG_ASSERT(a->reason == b->reason);
    ACOG_ASSERT(a->usage_estimated ||
                (a->usage.output_tokens == b->usage.output_tokens &&
                 (a->usage.input_tokens < 0 || a->usage.input_tokens == b->usage.input_tokens)));
}

static void compare(enum acog_dialect client, enum acog_dialect upstream, bool stream,
                    struct acog_view bytes)
{
    static const struct acog_answer_writer_form *const forms[][2] = {
        {&acog_chat_whole_form, &acog_chat_stream_form},
        {&acog_messages_whole_form, &acog_messages_stream_form},
        {&acog_responses_whole_form, &acog_responses_stream_form},
    };
    struct play play;
    struct recorded_answer direct;
    struct recorded_answer translated;
    play_init(&play, client, upstream, stream);
    if (read(&play, upstream, bytes, forms[client][stream ? 1 : 0])) {
        ACOG_ASSERT(record(&direct, client, upstream, stream, bytes));
        ACOG_ASSERT(record(&translated, client, client, stream, acog_buffer_view(&play.told)));
        is_same(&direct, &translated);
        recorded_fini(&direct);
        recorded_fini(&translated);
    }
    play_fini(&play);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < CHOICES) {
        return 0;
    }
    enum acog_dialect client = (enum acog_dialect)(data[0] % 3);
    enum acog_dialect upstream = (enum acog_dialect)((data[0] >> 2U) % ACOG_DIALECT_COUNT);
    bool stream = (data[0] & 0x80U) != 0;
    struct acog_view bytes = {.ptr = (const char *)data + CHOICES, .len = size - CHOICES};
    compare(client, upstream, stream, bytes);
    return 0;
}
