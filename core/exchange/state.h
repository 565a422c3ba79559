/* state.h - one request's traffic in memory: what the files of this folder share.
 *
 *   exchange.c    the calls of a driver, in and out
 *   drive.c       steps the engine, turns its actions into commands
 *   surface.c     method and path: which surface, or a local answer (models.c)
 *   client.c      the client's request into facts
 *   writer.c      the client's request into an attempt's request
 *   translation.c an attempt whose upstream speaks another dialect
 *   splice.c      bytes of which a few places are written anew, for writer.c and note.c
 *   reader.c      an attempt's answer: head, whole body, error body, end
 *   events.c      an attempt's answer: events of a stream
 *   reply.c       the head of the reply
 *   error_body.c  the one place for error answers
 *   served_by.c   which provider an aggregator names
 *   dlp.c         which data protection rules the request's texts touch
 *   alternatives.c  which other models are served now, for an error that names them
 *   note.c        the routing note in an answer of the fallback model, in the words of note_text.c
 *   terminal.c    how a committed answer ends that cannot be completed
 *   record.c      the decision record as JSON
 *
 * Memory: what dies with the request is in `arena`; an attempt has buffers of its own, given back as soon as it is
 * over and nobody will want its bytes. Views that commands carry stay valid until the driver's next call: an
 * attempt that ended during a call is freed by the next one.
 */
#ifndef ACOG_EXCHANGE_STATE_H
#define ACOG_EXCHANGE_STATE_H

#include "acog/arena.h"
#include "acog/exchange.h"
#include "acog/sse.h"
#include "acog/translate.h"
#include "splice.h"

#define ACOG_EXCHANGE_ARENA_MAX ((size_t)4 * 1024 * 1024)
#define ACOG_EXCHANGE_CONVERSATION_MAX \
    ((size_t)64 * 1024 * 1024) /* parts of a request that is translated */
#define ACOG_EXCHANGE_TRANSLATED_REQUEST_MAX \
    ((size_t)256 * 1024 * 1024)      /* escapes may make it longer */
#define ACOG_EXCHANGE_TOLD         2 /* buffers of translated events, see translation.c */
#define ACOG_EXCHANGE_TEXT_MAX     ((size_t)4 * 1024 * 1024) /* a list of models is the longest */
#define ACOG_EXCHANGE_COMMANDS_MAX 24                        /* of one call; a handful is usual */
#define ACOG_EXCHANGE_HEADERS_MAX  32                        /* of a reply; more are left out */
#define ACOG_EXCHANGE_TEXTS_BYTES  384 /* short texts of a request, before its arena takes a block */
#define ACOG_EXCHANGE_UPWARD_MAX   8   /* headers sent upstream, the channel's not counted */
#define ACOG_EXCHANGE_FAULT_MAX \
    ((size_t)64 * 1024) /* read of a provider's error; the rest is left */
#define ACOG_EXCHANGE_FAULT_WAIT_MS \
    5000 /* for an error's body to end; then its status alone counts */
#define ACOG_EXCHANGE_TAIL_WAIT_MS 200                 /* see ACOG_ATTEMPT_TAIL */
#define ACOG_EXCHANGE_MODEL_MAX    ((size_t)256)       /* of a model's name in texts and headers */
#define ACOG_EXCHANGE_KEPT_BYTES   ((size_t)16 * 1024) /* of a buffer, from one request to the next */
#define ACOG_EXCHANGE_PIECES_MAX   (1 + ACOG_SPLICE_PIECES_MAX) /* the note, an event */

/*   SENT --2xx head--> STREAM --terminal event--> TAIL --+
 *    |  \                 |                               +--> OVER
 *    |   +------------> WHOLE ------> ANSWERED ----------+
 *    |                    | commit before the end         |
 *    |                    +---------> PASSING -----------+
 *    +--other head, or a 2xx that cannot be right--> FAULT (its body is read) --> OVER
 */
enum acog_exchange_attempt_state {
    ACOG_ATTEMPT_SENT = 0, /* no head yet */
    ACOG_ATTEMPT_STREAM,
    /* The legal last event was read and passed on. The engine is told DONE, and the reply ends, with the upstream's
     * end, which most often lies in the same packet: so the connection can be used again. An upstream that does not
     * end is waited for ACOG_EXCHANGE_TAIL_WAIT_MS, and what it says meanwhile is thrown away (B59). A client that
     * leaves meanwhile has its answer: the request is completed, not cancelled. */
    ACOG_ATTEMPT_TAIL,
    ACOG_ATTEMPT_WHOLE,    /* being gathered in `held` */
    ACOG_ATTEMPT_ANSWERED, /* `held` is the whole answer, read and understood */
    ACOG_ATTEMPT_PASSING, /* a whole answer that was committed before its end: bytes go through unread */
    ACOG_ATTEMPT_FAULT, /* `held` gathers what explains a failure */
    ACOG_ATTEMPT_OVER,  /* the engine knows how it ended, or cancelled it */
};

/* The routing note in this attempt's answer. */
struct acog_exchange_note {
    bool wanted;
    bool given; /* streams */
    int64_t
        index; /* streams: of the block or item that it is; before it is given: of the next one */
    int64_t events; /* streams: how many it added to those that are numbered */
};

/* Bytes that go out one behind the other. */
struct acog_exchange_pieces {
    struct acog_view list[ACOG_EXCHANGE_PIECES_MAX];
    size_t count;
};

struct acog_exchange_attempt {
    uint32_t number; /* as the engine counts */
    enum acog_exchange_attempt_state state;
    bool
        open; /* the driver's side lives: SEND was given out, no end was told, no CANCEL given out */
    bool live; /* committed: its bytes are the reply */
    bool sent; /* the driver does not read the order's body any more */
    uint16_t candidate;
    struct acog_view model; /* the id sent */
    unsigned status;        /* of the head; 0: none */
    bool hide_usage;        /* the client did not ask for the usage chunk (B51) */
    bool first_event_told;
    bool after_cr;     /* the last event ended with a CR: a LF that comes now belongs to it */
    bool marker_seen;  /* TAIL: "[DONE]" was among the events */
    bool dropped_last; /* the last event was not for the client */
    bool fault_cut;    /* FAULT: more than ACOG_EXCHANGE_FAULT_MAX came */
    unsigned outputs_told;
    int64_t wait_until_ms; /* TAIL, FAULT */
    int64_t retry_after_ms;
    uint64_t passed_bytes; /* PASSING */
    struct acog_exchange_note note;
    struct acog_stream_tracker tracker;
    struct acog_sse_reader sse;
    struct acog_buffer held;       /* events before commit, a whole answer, or a fault's body */
    struct acog_view content_type; /* FAULT: of the body; sane, in the arena, or empty */
    struct acog_view served_by;    /* the provider that an aggregator names; empty: none yet */
    struct acog_view dropped;      /* names of what was not sent, for the header */
    struct acog_translation translation;
    struct acog_translator *translator; /* owned; NULL: the upstream speaks the client's dialect */
    struct acog_buffer translated_request;
    struct acog_buffer told[ACOG_EXCHANGE_TOLD]; /* translated events */
    size_t told_now;                             /* the one that is being filled */
    struct acog_upstream_order order;
    struct acog_header_row upward[ACOG_EXCHANGE_UPWARD_MAX];
};

/* What the client asked for. */
struct acog_exchange_client {
    struct acog_view path; /* without the query */
    struct acog_view query;
    enum acog_surface surface;
    enum acog_dialect dialect; /* in which it is told of errors */
    struct acog_view body;     /* for upstreams of its own dialect */
    bool thinking_lost;        /* the client's `thinking` is not in it */
    struct acog_client_request read;
    struct acog_view pin_span; /* of the body, to be stripped; empty: none */
    struct acog_request_facts facts;
};

/* The last thing an upstream said when it failed, for an answer that relays it. */
struct acog_exchange_last_words {
    uint32_t attempt; /* 0: none */
    uint16_t candidate;
    struct acog_view message; /* decoded, capped; empty: none */
    struct acog_view type;
    struct acog_view content_type;
    struct acog_buffer body; /* whole and a JSON object, or empty */
    struct acog_view event; /* the raw error event of a stream; until the driver's next call only */
};

enum acog_exchange_phase {
    ACOG_EXCHANGE_IDLE = 0, /* before start */
    ACOG_EXCHANGE_ROUTED,   /* the engine has it */
    ACOG_EXCHANGE_FINISHED,
};

enum acog_exchange_reply {
    ACOG_REPLY_NOT_BEGUN = 0,
    ACOG_REPLY_BEGUN,
    ACOG_REPLY_ENDED,
    ACOG_REPLY_NO_CLIENT, /* it left: nothing more is said */
};

/* Where a driver's bytes are being read. */
struct acog_exchange_input {
    struct acog_exchange_attempt *attempt; /* NULL: none */
    struct acog_view bytes;                /* not yet read */
};

struct acog_exchange {
    enum acog_exchange_phase phase;
    enum acog_exchange_reply reply;
    struct acog_exchange_start start; /* views lent by the driver */
    struct acog_snapshot *snapshot;   /* our reference */
    int64_t now_ms;
    bool client_full; /* the driver reads no more upstream bytes until the client took some */
    bool plan_only;   /* POST /v1/route: the engine makes the plan, and that is the answer */
    uint64_t random;
    char texts[ACOG_EXCHANGE_TEXTS_BYTES];
    size_t texts_used;
    struct acog_arena arena;
    struct acog_arena scratch;   /* of one call */
    struct acog_buffer stripped; /* client.body, when it is not the one that came */
    bool body_done;              /* start.body, client.body and all spans of them are dead */
    struct acog_arena conversation_arena;
    const struct acog_conversation
        *conversation;                     /* NULL: nobody needed it yet, or it cannot be read: */
    struct acog_view conversation_refusal; /* why not */
    struct acog_exchange_client client;
    struct acog_request request;
    struct acog_plan_row *plan; /* lent to `request`; kept for the next one */
    size_t plan_room;
    struct acog_ask ask; /* the outstanding one */
    struct acog_exchange_attempt *attempts[ACOG_ATTEMPTS_MAX];
    struct acog_exchange_attempt *spare; /* memory for the next attempt */
    uint32_t live;                       /* number of the committed attempt, 0: none */
    uint32_t kept;          /* number of the attempt whose answer is the kept reply, 0: none */
    bool translation_asked; /* `ask` is for acog_exchange_answer_translation() */
    uint32_t stillborn;     /* an attempt that could not be made, to be told; 0: none */
    struct acog_exchange_last_words last_words;
    struct acog_exchange_input input;
    struct acog_buffer text; /* an error body, a list of models, a terminal frame */
    struct acog_header_row reply_rows[ACOG_EXCHANGE_HEADERS_MAX];
    size_t reply_row_count;
    struct acog_command commands[ACOG_EXCHANGE_COMMANDS_MAX];
    size_t command_first;
    size_t command_count;
    struct acog_exchange_record record;
};

/* -- exchange.c: memory and the queue -------------------------------------------------------------- */

/* Room for a text that lives as long as the request. Most requests need a few short ones and no arena: a block of it
 * would be a fifth of what an open stream costs. NULL: no memory. */
char *acog_exchange_take_text(struct acog_exchange *exchange, size_t bytes);

/* A copy; empty when there is no memory. */
struct acog_view acog_exchange_copy_text(struct acog_exchange *exchange, struct acog_view text);

void acog_exchange_push(struct acog_exchange *exchange, const struct acog_command *command);

/* Reply commands: nothing once the client is gone. Data of no bytes is left out. */
void acog_exchange_push_head(struct acog_exchange *exchange, unsigned status,
                             int64_t content_length);
void acog_exchange_push_data(struct acog_exchange *exchange, struct acog_view data);
void acog_exchange_push_end(struct acog_exchange *exchange);
void acog_exchange_push_abort(struct acog_exchange *exchange);

/* The last command; the record is complete with it. */
void acog_exchange_finish(struct acog_exchange *exchange);

/* -- drive.c --------------------------------------------------------------------------------------- */

/* For drivers that want to show what happened; what does not fit is left out. */
static inline void acog_exchange_write_transcript(struct acog_exchange *exchange,
                                                  const struct acog_event *event,
                                                  const struct acog_actions *actions)
{
    if (exchange->start.transcript != NULL) {
        (void)!acog_transcript_step(exchange->start.transcript, exchange->snapshot,
                                    &exchange->request, event, actions);
    }
}

void acog_exchange_ask(struct acog_exchange *exchange, const struct acog_ask *question);

/* The answer to a question that the exchange itself answers, if the engine has just asked one. */
bool acog_exchange_next_answer(struct acog_exchange *exchange, struct acog_event *event);

/* Tells the engine and performs what it says. */
void acog_exchange_tell(struct acog_exchange *exchange, const struct acog_event *event);

/* The attempt failed: its upstream is left, its last words are kept, the engine is told. Copies what it keeps. */
void acog_exchange_attempt_failed(struct acog_exchange *exchange,
                                  struct acog_exchange_attempt *attempt,
                                  const struct acog_failure *failure);

/* The attempt's answer is complete: told as DONE, or as the failure REFUSAL. */
void acog_exchange_attempt_complete(struct acog_exchange *exchange,
                                    struct acog_exchange_attempt *attempt);

/* The answer so far says that the model refused, and the policy wants to know (S4.24). */
bool acog_exchange_attempt_refuses(const struct acog_exchange *exchange,
                                   const struct acog_exchange_attempt *attempt);

/* NULL when there is none of that number, or it is over. */
struct acog_exchange_attempt *acog_exchange_attempt_find(struct acog_exchange *exchange,
                                                         uint32_t number);

/* Gives back what attempts that are over still hold, but for the live and the kept one. */
void acog_exchange_attempts_reap(struct acog_exchange *exchange);
void acog_exchange_attempts_forget(struct acog_exchange *exchange);
void acog_exchange_attempt_free(struct acog_exchange_attempt **attempt);

/* -- surface.c, models.c --------------------------------------------------------------------------- */

/* What a method and a path lead to. */
enum acog_exchange_place {
    ACOG_PLACE_SURFACE = 0, /* client.surface */
    ACOG_PLACE_MODELS,
    ACOG_PLACE_MODEL, /* one of them; `rest` is its id as written in the path */
    ACOG_PLACE_HEALTH,
    ACOG_PLACE_READY,
    ACOG_PLACE_ROUTE,      /* client.surface, as a header or the query names it */
    ACOG_PLACE_GENERATION, /* the query has the id */
    ACOG_PLACE_RECEIPT,    /* `rest` is the id */
    ACOG_PLACE_NOWHERE,
    ACOG_PLACE_WRONG_METHOD, /* `allowed` */
};

struct acog_exchange_target {
    enum acog_exchange_place place;
    enum acog_surface surface;
    struct acog_view rest;
    struct acog_view allowed;
};

void acog_exchange_place(struct acog_view method, struct acog_view path, bool local,
                         struct acog_exchange_target *target);

/* The dialect in which a path's errors are told. */
enum acog_dialect acog_exchange_path_dialect(struct acog_view path);

/* Answers what needs no upstream. `target` is none of the surfaces. */
void acog_exchange_answer_here(struct acog_exchange *exchange,
                               const struct acog_exchange_target *target);

/* Answers with an error of the gateway's own; `extra` is one more header, or NULL. */
void acog_exchange_answer_condition(struct acog_exchange *exchange, enum acog_condition condition,
                                    struct acog_view detail, const struct acog_header_row *extra);

/* Bodies of GET /v1/models and /v1/models/{id}; the latter ACOG_NOT_FOUND when nobody serves it. */
enum acog_code acog_exchange_write_models(struct acog_exchange *exchange,
                                          struct acog_buffer *out) ACOG_MUST_CHECK;
enum acog_code acog_exchange_write_model(struct acog_exchange *exchange, struct acog_view id,
                                         struct acog_buffer *out) ACOG_MUST_CHECK;

/* -- route.c --------------------------------------------------------------------------------------- */

/* The surface whose body a POST /v1/route has: header x-acog-surface, or `surface` in the query; else chat. False:
 * there is none of that name. */
bool acog_exchange_route_surface(const struct acog_exchange *exchange, enum acog_surface *surface);

/* Tells the engine of a request that is only planned. Once the plan is complete, its record is the answer. */
void acog_exchange_tell_plan(struct acog_exchange *exchange, const struct acog_event *event);

/* Answers with the record of a request that is over, or that there is none. */
void acog_exchange_answer_record(struct acog_exchange *exchange, struct acog_view request_id);

/* The value of a field of the query, as written; NULL ptr: there is none. */
struct acog_view acog_exchange_query_value(struct acog_view query, struct acog_view name);

/* -- client.c -------------------------------------------------------------------------------------- */

/* Why a client's request is not taken. */
struct acog_exchange_refusal {
    enum acog_condition condition;
    struct acog_view detail; /* in the arena or constant */
};

/* Reads the client's request into exchange->client. False: `refusal` says why. */
bool acog_exchange_read_client(struct acog_exchange *exchange,
                               struct acog_exchange_refusal *refusal);

/* The client's own id when it is a sane token, else one made from the seed; never empty. */
struct acog_view acog_exchange_request_id(struct acog_exchange *exchange);

/* A token that is safe wherever it is written: letters, digits, '.', '_', '-', at most `bytes_max`, not empty. */
bool acog_exchange_sane_token(struct acog_view text, size_t bytes_max);

/* -- writer.c -------------------------------------------------------------------------------------- */

/* Fills attempt->order in, from the client's original. */
enum acog_code acog_exchange_write_order(struct acog_exchange *exchange,
                                         struct acog_exchange_attempt *attempt) ACOG_MUST_CHECK;

/* -- translation.c --------------------------------------------------------------------------------- */

static inline bool acog_exchange_is_translated(const struct acog_exchange_attempt *attempt)
{
    return attempt->translation.client != attempt->translation.upstream;
}

/* Answers the engine's question; good until the request's end. */
void acog_exchange_answer_translation(struct acog_exchange *exchange, const struct acog_ask *ask,
                                      struct acog_answer *answer);

/* Which dialects an attempt is between. */
void acog_exchange_begin_translation(const struct acog_exchange *exchange,
                                     struct acog_exchange_attempt *attempt);

/* The rest is for translated attempts only. Fills the order's body in, and what the answer is read with. The engine has
 * asked whether the request fits: a policy without the filter "dialect" is none. */
enum acog_code
acog_exchange_write_translated(struct acog_exchange *exchange,
                               struct acog_exchange_attempt *attempt) ACOG_MUST_CHECK;
/* The translated request has been sent; another attempt writes its own. Nothing for one that was not translated. */
void acog_exchange_forget_request(struct acog_exchange_attempt *attempt);
void acog_exchange_free_translation(struct acog_exchange_attempt *attempt);

/* Once an attempt is live and its head is out no other request will be written: streams last, and hold little. */
void acog_exchange_forget_conversation(struct acog_exchange *exchange,
                                       struct acog_exchange_attempt *live);

/* The whole answer in `held` becomes the client's. */
enum acog_code acog_exchange_translate_whole(struct acog_exchange *exchange,
                                             struct acog_exchange_attempt *attempt) ACOG_MUST_CHECK;

/* Appends to what is to be told. */
enum acog_code acog_exchange_translate_event(struct acog_exchange *exchange,
                                             struct acog_exchange_attempt *attempt,
                                             const struct acog_sse_event *event) ACOG_MUST_CHECK;
enum acog_code acog_exchange_translate_end(struct acog_exchange_attempt *attempt) ACOG_MUST_CHECK;

/* Gives it out. At most twice before the driver's commands are drained and acog_exchange_told_reset() is called. */
void acog_exchange_push_told(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt);
void acog_exchange_told_reset(struct acog_exchange_attempt *attempt);

/* -- reader.c -------------------------------------------------------------------------------------- */

void acog_exchange_read_head(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                             unsigned status, const struct acog_header_row *headers,
                             size_t header_count);
void acog_exchange_read_body(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt,
                             struct acog_view bytes);
void acog_exchange_read_end(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt);
void acog_exchange_read_failure(struct acog_exchange *exchange,
                                struct acog_exchange_attempt *attempt,
                                const struct acog_failure *failure);

/* FAULT: what was read of it is all that will be. */
void acog_exchange_read_fault(struct acog_exchange *exchange,
                              struct acog_exchange_attempt *attempt);

/* A media type without its parameters is JSON ("application/json", "…+json") or absent. */
bool acog_exchange_is_json(struct acog_view content_type);

/* -- events.c -------------------------------------------------------------------------------------- */

/* Reads from exchange->input until commands are there or all was read. */
void acog_exchange_read_events(struct acog_exchange *exchange);

/* The upstream ended, or broke off (`failure`, else NULL): complete, or failed. */
void acog_exchange_read_events_end(struct acog_exchange *exchange,
                                   struct acog_exchange_attempt *attempt,
                                   const struct acog_failure *failure);

/* -- reply.c --------------------------------------------------------------------------------------- */

/* The head of a reply that an attempt gives. */
void acog_exchange_reply_attempt(struct acog_exchange *exchange,
                                 const struct acog_exchange_attempt *attempt,
                                 int64_t content_length);

struct acog_exchange_error;

/* The whole reply that tells an error: head, body, end. */
void acog_exchange_reply_error(struct acog_exchange *exchange,
                               const struct acog_exchange_error *error);

/* The whole reply of a local answer: exchange->text, which is JSON. */
void acog_exchange_reply_here(struct acog_exchange *exchange, unsigned status);

/* As x-acog-policy-fallback says it; empty for none. */
struct acog_view acog_exchange_fallback_word(enum acog_fallback fallback);

/* -- error_body.c ---------------------------------------------------------------------------------- */

/* The words that a template may ask for. */
struct acog_exchange_words {
    struct acog_view model;
    struct acog_view channel;
    struct acog_view detail;
    struct acog_view alternatives; /* models that are served, in a few words; empty: none */
};

/* All that an error answer says. */
struct acog_exchange_error {
    unsigned status;
    struct acog_view code;
    struct acog_view type;    /* empty: by dialect and status */
    struct acog_view message; /* a template, or `relayed` */
    bool relayed;             /* `message` is the provider's, taken as it is */
    bool overloaded;          /* Anthropic has a type of its own for it */
    bool thread_refused;      /* likewise a word, by which its SDKs go on without a thread */
    struct acog_view body;    /* instead of all that: the provider's own, verbatim; empty: none */
    struct acog_view content_type; /* of `body` */
    int64_t retry_after_ms;        /* -1: none */
    bool by_class;
    enum acog_failure_class class;         /* by_class */
    enum acog_condition condition;         /* else */
    uint32_t attempt;                      /* whose failure it is, 0: none */
    unsigned upstream_status;              /* 0: none */
    const struct acog_header_row *headers; /* of the policy's row */
    size_t header_count;
    const struct acog_view *bodies; /* by dialect: the policy's forms */
    struct acog_exchange_words words;
};

/* From the policy's row for a condition. */
void acog_exchange_error_of_condition(const struct acog_snapshot *snapshot,
                                      enum acog_condition condition,
                                      struct acog_exchange_error *error);

/* From what the engine says. */
void acog_exchange_error_of_answer(const struct acog_exchange *exchange,
                                   const struct acog_error_answer *answer,
                                   struct acog_exchange_error *error);

/* What a stream's terminal frame says, from the last failure: code, type and message. */
void acog_exchange_error_of_stream(const struct acog_exchange *exchange, bool lost,
                                   struct acog_exchange_error *error);

/* Appends the body, or the error object of a frame, in a dialect's shape. */
enum acog_code acog_exchange_write_error(enum acog_dialect dialect,
                                         const struct acog_exchange_error *error,
                                         struct acog_view request_id,
                                         struct acog_buffer *out) ACOG_MUST_CHECK;
enum acog_code acog_exchange_write_message(const struct acog_exchange_error *error,
                                           struct acog_buffer *out) ACOG_MUST_CHECK;
struct acog_view acog_exchange_error_type(enum acog_dialect dialect,
                                          const struct acog_exchange_error *error);

/* -- served_by.c: keeps the provider that an aggregator's answer, or an event of it, names. */
void acog_exchange_note_provider(struct acog_exchange *exchange,
                                 struct acog_exchange_attempt *attempt, struct acog_view json);

/* -- dlp.c: the policy's rules that the request's body touches, a bit each. ACOG_NO_MEMORY: not known. */
enum acog_code acog_exchange_scan_dlp(struct acog_exchange *exchange,
                                      uint64_t *found) ACOG_MUST_CHECK;

/* -- alternatives.c: names some models that a connection of the client's dialect could serve now, other than the one
 * that was asked for (S3.21). In the scratch arena; empty when there is none. */
struct acog_view acog_exchange_alternatives(struct acog_exchange *exchange);

/* Appends the parts, in order: even ones as they are, odd ones as the inside of a JSON string. */
enum acog_code acog_exchange_write_parts(struct acog_buffer *out, const struct acog_view *parts,
                                         size_t count) ACOG_MUST_CHECK;

/* A body that can be sent when there is no memory for a better one. */
struct acog_view acog_exchange_error_constant(enum acog_dialect dialect);

/* -- note.c ---------------------------------------------------------------------------------------- */

/* Whether this attempt's answer will carry the note. */
void acog_exchange_note_begin(const struct acog_exchange *exchange,
                              struct acog_exchange_attempt *attempt);

/* The whole answer in attempt->held, with the note. Pieces are good until the driver's next call, here and below; when
 * it fails they are the bytes as they came. */
enum acog_code acog_exchange_note_whole(struct acog_exchange *exchange,
                                        const struct acog_exchange_attempt *attempt,
                                        struct acog_exchange_pieces *pieces) ACOG_MUST_CHECK;

/* An event of the stream, which brought `outputs`: what goes out for its bytes `raw`, the note before them when this is
 * the place. */
enum acog_code acog_exchange_note_event(struct acog_exchange *exchange,
                                        struct acog_exchange_attempt *attempt,
                                        const struct acog_sse_event *event, struct acog_view raw,
                                        unsigned outputs,
                                        struct acog_exchange_pieces *pieces) ACOG_MUST_CHECK;

/* -- terminal.c ------------------------------------------------------------------------------------ */

/* A chat chunk up to its choices. */
enum acog_code acog_exchange_write_chunk_head(const struct acog_exchange *exchange,
                                              const struct acog_exchange_attempt *attempt,
                                              struct acog_buffer *out) ACOG_MUST_CHECK;

/* Ends a committed reply that cannot be completed, as the policy's row says. */
void acog_exchange_end_broken(struct acog_exchange *exchange,
                              const struct acog_exchange_attempt *attempt, bool lost);

/* -- views ----------------------------------------------------------------------------------------- */

/* Empty, or the first `bytes_max` bytes, cut where a character ends. */
struct acog_view acog_exchange_cut(struct acog_view text, size_t bytes_max);

/* `text` contains the secret of the connection, or eight bytes of it in a row (B109). */
bool acog_exchange_tells_secret(const struct acog_connection *connection, struct acog_view text);

static inline const struct acog_candidate *
acog_exchange_candidate(const struct acog_exchange *exchange, uint16_t candidate)
{
    return &exchange->snapshot->candidates[candidate];
}

static inline const struct acog_connection *
acog_exchange_connection(const struct acog_exchange *exchange, uint16_t candidate)
{
    return &exchange->snapshot
                ->connections[acog_exchange_candidate(exchange, candidate)->connection];
}

#endif
