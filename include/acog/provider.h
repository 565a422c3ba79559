/* provider.h - a provider played from a script: scenario and time in, bytes out. Pure.
 *
 * The same words serve `simulate = { … }` in a connection (played on real timers by core/upstream/simulated), the
 * scripted upstreams of `acog test` (virtual time, core/simulate), the quick start and the wire tests.
 * It answers in the dialect in which it was asked, streamed or whole, with ids and texts that are the same
 * each time (a seed changes them).
 */
#ifndef ACOG_PROVIDER_H
#define ACOG_PROVIDER_H

#include "acog/arena.h"
#include "acog/error.h"
#include "acog/header.h"
#include "acog/names.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a reply stops being good. */
enum acog_provider_stage {
    ACOG_STAGE_NEVER = 0,
    ACOG_STAGE_CONNECT, /* before the connection stands */
    ACOG_STAGE_HEAD,    /* connected, no head */
    ACOG_STAGE_BODY,    /* after the head, before any body byte */
    ACOG_STAGE_EVENTS,  /* after `after_events` events (whole answers: half of the body) */
};

/* One reply in the script's words; the Lua names are in brackets where they differ. Defaults make a good answer. */
struct acog_provider_reply {
    unsigned status; /* 200 */
    uint32_t chunks; /* pieces of the text in a stream; 0: one a word */
    /* The answer's text. NULL ptr: "Hello from <connection>.", or none beside a tool call or a refusal; empty: none. */
    struct acog_view text;
    struct acog_view reasoning;      /* reasoning or thinking before the text; empty: none */
    struct acog_view tool_name;      /* [tool.name] a tool call after the text; empty: none */
    struct acog_view tool_arguments; /* [tool.arguments] JSON text of an object, sent as it is */
    /* Empty answer, stop_reason refusal (chat: content_filter). With an error status: the shape of a refusal. */
    bool refusal;
    bool no_usage; /* [usage = false] */
    bool no_done;  /* [done = false] a chat stream without [DONE] */
    struct acog_view refusal_category;
    struct acog_view finish; /* native reason; empty: the natural one */
    int64_t input_tokens;    /* [usage.input] */
    int64_t output_tokens;   /* [usage.output]; -1: counted from the text */
    struct acog_view model;  /* the model that answers; empty: the one asked for */

    int64_t delay_ms;              /* before the head */
    int64_t first_output_delay_ms; /* from head to first output */
    int64_t pace_ms;               /* between events */
    int64_t hang_ms; /* the silence of `hang` ends in a clean close after it; 0: never */

    struct acog_view error_message; /* [error.message] with a bad status, or in an error event */
    struct acog_view error_type;    /* [error.type] */
    struct acog_view error_code;    /* [error.code] */
    struct acog_view body;          /* raw, instead of all that; NULL ptr: none */
    struct acog_view content_type;  /* of `body` */
    const struct acog_header_row *headers; /* more of them, e.g. retry-after */
    size_t header_count;

    enum acog_provider_stage hang;  /* "connect" | "head" | "body" | n events: silence for ever */
    enum acog_provider_stage reset; /* likewise; the connection is torn */
    enum acog_provider_stage close; /* likewise; a clean end of the connection, too early */
    /* For the stage EVENTS of the above: events of the stream, [DONE] included, comments and pings not. A stream with
     * fewer ends well. */
    uint32_t after_events;
    uint32_t error_event_after;
    uint32_t malformed_event_after;
    /* [error_event = n] An error event after n events, then the end. A whole answer is an error body then, with its
     * good status. */
    bool error_event;
    bool malformed_event; /* [malformed_event = n] one that is no JSON after n events */
    bool comments;        /* keep-alive comments (messages: pings) before each event */
};

/* A good answer: status 200, the natural finish, output tokens counted from the text. What a reader of scripts
 * starts from. */
void acog_provider_reply_init(struct acog_provider_reply *reply);

struct acog_provider_script {
    const struct acog_provider_reply *replies;
    size_t reply_count; /* at least 1 */
    bool cycle;         /* start again after the last one; else the last one repeats */
};

/* The reply to the `served`-th request (0-based) of a connection. */
const struct acog_provider_reply *acog_provider_pick(const struct acog_provider_script *script,
                                                     uint64_t served);

struct acog_provider_request {
    enum acog_surface surface;
    enum acog_dialect dialect;   /* of the answer */
    struct acog_view connection; /* id, for the default text */
    struct acog_view model;
    bool stream;
    bool usage_asked; /* chat */
    uint64_t served;  /* makes ids different */
    int64_t unix_ms;
    struct acog_view
        body; /* what was sent, joined; may be empty. Read for embeddings alone: how many
                            * inputs, and whether the vectors are asked for in base64 (the SDKs do). */
};

enum acog_provider_step_kind {
    ACOG_STEP_REFUSED = 0, /* no connection */
    ACOG_STEP_CONNECTED,
    ACOG_STEP_HEAD,
    ACOG_STEP_BODY,
    ACOG_STEP_END,    /* the answer is complete */
    ACOG_STEP_CLOSED, /* a clean close before the end */
    ACOG_STEP_RESET,
    ACOG_STEP_SILENCE, /* nothing more will come, and nothing ends */
};

struct acog_provider_step {
    enum acog_provider_step_kind kind;
    int64_t at_ms; /* since the request was sent; never goes back */
    unsigned status;
    const struct acog_header_row *headers; /* HEAD */
    size_t header_count;
    struct acog_view bytes; /* BODY */
};

struct acog_provider_play;

/* Starts a play; everything is made in `arena`, once: a stream's events share one buffer as large as the largest of
 * them. The reply and the request's views are lent until the end. NULL: no room. */
struct acog_provider_play *acog_provider_play(const struct acog_provider_reply *reply,
                                              const struct acog_provider_request *request,
                                              struct acog_arena *arena);

/* The next step; what it points to is lent until the next call. After REFUSED, END, CLOSED, RESET or SILENCE:
 * false. */
bool acog_provider_next(struct acog_provider_play *play, struct acog_provider_step *step);

#endif
