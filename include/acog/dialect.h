/* dialect.h - what is said in the dialects, as facts: requests in those of clients, answers and streams in all four,
 * errors of every provider.
 *
 * Pure: bytes in, facts out. Nothing here judges: classes are the policy's rows (engine.h). Where the upstream speaks
 * the client's dialect the bytes are kept, and this is all that is read of them; translate.h comes on top of it.
 */
#ifndef ACOG_DIALECT_H
#define ACOG_DIALECT_H

#include "acog/arena.h"
#include "acog/buffer.h"
#include "acog/error.h"
#include "acog/failure.h"
#include "acog/json.h"
#include "acog/names.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_ERROR_MESSAGE_MAX  ((size_t)2048)
#define ACOG_RETRY_AFTER_MS_MAX (INT64_C(30) * 24 * 3600 * 1000)

/* -- requests -------------------------------------------------------------------------------------- */

/* A place in the client's body that the same-dialect writer may have to change. Empty raw: absent. */
struct acog_request_spans {
    struct acog_view model;          /* the JSON string, quotes included */
    struct acog_view stream_options; /* the object, or null as written */
    struct acog_view include_usage;  /* its value inside stream_options */
    struct acog_view pin; /* the member `"name": value` with the comma that belongs to it (S3.14) */
    struct acog_view object; /* the whole body's object, from { to } */
};

struct acog_client_request {
    struct acog_view model; /* decoded; in the arena when it had escapes */
    bool stream;
    bool usage_asked;   /* chat: stream_options.include_usage is true */
    int64_t max_tokens; /* -1: none given */
    uint32_t choices;
    bool tools;
    bool images;
    bool structured; /* a response format or schema was asked for */
    bool threaded;   /* messages: its provider is to hold the conversation */
    bool
        foreign_opaque; /* it holds another provider's signatures, tagged: see acog_dialect_strip_foreign() */
    struct acog_request_spans spans;
};

/* Where a body is wrong, for the client: "messages[2].content: must be a string or a list" */
struct acog_request_problem {
    char text[ACOG_ERROR_TEXT_MAX];
};

/* Reads a client's body for a surface: strict JSON (grammar, UTF-8, depth), no duplicate keys at the top level
 * and in messages, content blocks and tools, and the types B117 asks of the fields that the gateway reads itself
 * (model, stream, stream_options, messages or input and their content, tools, the token limits). Every other
 * field is left alone. ACOG_INVALID with `problem` filled in; ACOG_NO_MEMORY. */
enum acog_code acog_dialect_read_request(enum acog_surface surface, struct acog_view body,
                                         size_t depth_max, struct acog_arena *arena,
                                         struct acog_client_request *request,
                                         struct acog_request_problem *problem) ACOG_MUST_CHECK;

/* Appends the object of a body that was read, without what only another provider can read (a conversation that went
 * through a translation before): for an upstream of the client's own dialect, which refuses such. `thinking_lost`: that
 * field was left out with it, because the tool loop that is running cannot go on with it. */
enum acog_code acog_dialect_strip_foreign(struct acog_view object, struct acog_buffer *out,
                                          bool *thinking_lost) ACOG_MUST_CHECK;

/* The values at a body path such as "provider.only" (a string or a list of strings), for a pin. Returns how many
 * (at most `max`); `span` is the top-level member to strip, with the comma that belongs to it (empty: no such
 * member). `object` is spans.object of a request that was read. */
size_t acog_dialect_read_pin(struct acog_view object, struct acog_view path,
                             struct acog_arena *arena, struct acog_view *values, size_t max,
                             struct acog_view *span);

/* -- streams --------------------------------------------------------------------------------------- */

/* What one event of a stream is. */
enum acog_stream_event {
    /* Start, block start, in progress, unknown: passed on, no output. */
    ACOG_STREAM_EVENT_OTHER = 0,
    ACOG_STREAM_EVENT_COMMENT, /* no data */
    ACOG_STREAM_EVENT_PING,
    ACOG_STREAM_EVENT_OUTPUT,     /* `outputs` says what */
    ACOG_STREAM_EVENT_USAGE_ONLY, /* chat: the usage chunk, choices empty */
    ACOG_STREAM_EVENT_ERROR,      /* `failure` is filled in */
    /* The legal last one: [DONE], message_stop, response.completed, response.incomplete. */
    ACOG_STREAM_EVENT_DONE,
    ACOG_STREAM_EVENT_BAD, /* data that is no JSON object */
};

/* As the provider reported: in messages the cached and the written ones come on top of `input_tokens`, elsewhere it
 * holds them. -1: not reported. */
struct acog_usage {
    int64_t input_tokens;
    int64_t cached_tokens;
    int64_t cache_write_tokens;
    int64_t output_tokens;
    int64_t reasoning_tokens;
};

/* Follows one stream of one dialect and knows whether it may end here. */
struct acog_stream_tracker {
    enum acog_dialect dialect;
    unsigned outputs; /* ACOG_BIT(acog_output): all seen so far */
    bool finish_seen; /* a finish or stop reason, or a terminal event */
    bool done_seen;   /* the legal last event */
    bool refused;     /* a refusal is the reason of the end: stop_reason refusal, finish_reason
                         content_filter, incomplete by content_filter; `outputs` says if it is empty */
    bool tool_open;   /* tool arguments have begun and no finish reason has come */
    bool error_seen;
    uint32_t choices_begun; /* chat: bit N for the choice of index N (31: and above) */
    uint32_t choices_finished;
    int64_t sequence;        /* responses: the last sequence_number, -1 */
    struct acog_usage usage; /* overwritten, never added */
    char id_text[128];    /* the answer's id, NUL-terminated, cut if longer; for a terminal frame */
    char model_text[128]; /* the model that answered, likewise */
};

void acog_stream_tracker_init(struct acog_stream_tracker *tracker, enum acog_dialect dialect);

/* Reads one event (name and data of an SSE event). `outputs` is what this event brought, whatever its kind (a terminal
 * event may bring a stop reason, usage, a text that no delta brought). ERROR fills `failure` in (all but its status);
 * its views point into data or `arena`. What comes after the legal last event is no part of the answer: it is OTHER and
 * changes nothing. Fast for plain text deltas. */
enum acog_stream_event acog_stream_tracker_read(struct acog_stream_tracker *tracker,
                                                struct acog_view name, struct acog_view data,
                                                struct acog_arena *arena, unsigned *outputs,
                                                struct acog_failure *failure);

/* Whether the stream may end now: complete per decision 15 and case B59. */
bool acog_stream_tracker_complete(const struct acog_stream_tracker *tracker);

/* -- whole answers --------------------------------------------------------------------------------- */

struct acog_whole_answer {
    bool is_error; /* an error body with status 2xx: `failure` is filled in (all but its status) */
    bool refused;  /* empty, with a refusal (S4.24; chat: empty and content_filter) */
    unsigned outputs;
    struct acog_usage usage;
    struct acog_view model; /* as answered */
};

/* Reads a 2xx body. `dialect` is the upstream's; `surface` is what was asked for, and matters only where that is no
 * answer of a model (count_tokens, embeddings). ACOG_INVALID when it is no JSON object or not such an answer; ACOG_NO_MEMORY. */
enum acog_code acog_dialect_read_answer(enum acog_dialect dialect, enum acog_surface surface,
                                        struct acog_view body, struct acog_arena *arena,
                                        struct acog_whole_answer *answer,
                                        struct acog_failure *failure) ACOG_MUST_CHECK;

/* -- errors ---------------------------------------------------------------------------------------- */

/* Reads an error body of any provider, in any of the shapes that are known (FACTS, "What providers send"):
 * never fails, finds what it can, also in an error that a relay put into its own, as an object or as JSON in a text.
 * Sets shapes, message (cut at ACOG_ERROR_MESSAGE_MAX bytes), code, type, categories; and retry_after_ms where the body
 * tells it and nothing else has. Cause, clock and status are left alone. `status`: 0 for an event inside a stream. Texts
 * point into body or arena. */
void acog_dialect_read_error(struct acog_view body, unsigned status, struct acog_arena *arena,
                             struct acog_failure *failure);

/* Retry-After and retry-after-ms: milliseconds from now, 0 for a moment that is past, at most
 * ACOG_RETRY_AFTER_MS_MAX; -1 when absent or unreadable (B69). A positive retry-after-ms wins, as it is the finer one.
 * Retry-After may be seconds, an HTTP date, or one of the spellings of acog_dialect_reset_ms(). */
int64_t acog_dialect_retry_after_ms(struct acog_view retry_after, struct acog_view retry_after_ms,
                                    int64_t unix_now_s);

/* The five spellings of a reset value (FACTS, 2): `6ms`, `1.2s`, `6m0.5s`, `1h2m3.4s`, bare seconds, a RFC 3339 time;
 * and a Unix time in seconds or milliseconds, which is told from seconds by its size. As above. */
int64_t acog_dialect_reset_ms(struct acog_view value, int64_t unix_now_s);

#endif
