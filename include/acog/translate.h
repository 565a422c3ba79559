/* translate.h - requests and answers from one dialect to another.
 *
 *   client's bytes --reader--> struct acog_conversation --writer--> the upstream's request
 *   the upstream's answer --reader--> events in a legal order (core/dialect/flow.h) --writer--> the client's answer
 *
 * One reader and one writer a dialect, never a converter a pair. Leaves (texts, schemas, arguments, numbers) stay spans
 * of the bytes they came in, and are copied. What cannot be carried is dropped and named, or refused (CONFORMANCE,
 * decision 14); core/dialect/README.md has the table. Pure.
 *
 * Which requests can be translated at all: chat, messages and responses, into any of the four dialects.
 */
#ifndef ACOG_TRANSLATE_H
#define ACOG_TRANSLATE_H

#include "acog/arena.h"
#include "acog/buffer.h"
#include "acog/dialect.h"
#include "acog/model_rules.h"

/* -- requests -------------------------------------------------------------------------------------- */

/* A request as all dialects mean it. Its leaves point into the body it was read from; the rest is in the arena. */
struct acog_conversation;

/* Reads a body that acog_dialect_read_request() took. ACOG_INVALID with `problem`: what no dialect could make sense of
 * (a broken tool history, decision 13). ACOG_NO_MEMORY. */
enum acog_code acog_conversation_read(enum acog_surface surface, struct acog_view body,
                                      struct acog_arena *arena,
                                      const struct acog_conversation **conversation,
                                      struct acog_request_problem *problem) ACOG_MUST_CHECK;

/* Whether the conversation can be told faithfully to a model behind `dialect`. ACOG_OK; ACOG_INVALID with `problem` in
 * words for the client ("n: must be 1 for a model that is reached by translation"). Writes nothing. */
enum acog_code acog_conversation_fits(const struct acog_conversation *conversation,
                                      enum acog_dialect dialect,
                                      const struct acog_model_rules *rules,
                                      struct acog_request_problem *problem) ACOG_MUST_CHECK;

/* What a client calls a tool that upstreams know by another name (core/dialect/identity.h). */
struct acog_tool_identity;

/* What an attempt's answer must be read and written with: filled in by whoever writes the request, completed by
 * acog_conversation_write(), lent to the translator of the answer. */
struct acog_translation {
    enum acog_dialect client;
    enum acog_dialect upstream;
    const struct acog_model_rules *rules;
    struct acog_view model;      /* the id sent */
    struct acog_view request_id; /* ids that no provider gave are made from it */
    struct acog_view note; /* a text to put before the answer's text; empty: none (decision 10) */
    int64_t unix_s;        /* for `created` */
    int64_t input_tokens_estimate; /* told where the provider counts nothing */
    int64_t max_tokens;            /* of the request, as sent: caps an estimate; -1: none */
    bool stream;
    bool usage_asked; /* chat streams: the client wants the usage chunk (B51) */
    /* Out. */
    bool schema_by_tool; /* the answer comes as the arguments of ACOG_SCHEMA_TOOL_NAME */
    const struct acog_tool_identity
        *identities; /* in the arena: a translator copies them; NULL: none */
    struct acog_view
        dropped; /* names of the client's fields that were not sent, "seed, logit_bias"; in the arena */
};

#define ACOG_SCHEMA_TOOL_NAME "structured_answer"

/* Appends the request's body. Call it only for what fits. ACOG_TOO_BIG, ACOG_NO_MEMORY. */
enum acog_code acog_conversation_write(const struct acog_conversation *conversation,
                                       struct acog_translation *translation,
                                       struct acog_arena *arena,
                                       struct acog_buffer *out) ACOG_MUST_CHECK;

/* -- answers --------------------------------------------------------------------------------------- */

struct acog_translator;

/* What fails below appends nothing, and whatever is asked of that translator from then on fails likewise. */

/* For one attempt, once its request is written. `translation` is lent until it is freed, the conversation only for this
 * call. NULL: no memory. */
struct acog_translator *acog_translator_new(const struct acog_translation *translation);
void acog_translator_free(struct acog_translator **translator);

/* A whole answer, of which acog_dialect_read_answer() said that it is one: appends the client's. Call it once.
 * ACOG_INVALID: it makes no sense; ACOG_TOO_BIG, ACOG_NO_MEMORY. */
enum acog_code acog_translator_whole(struct acog_translator *translator, struct acog_view body,
                                     struct acog_arena *scratch,
                                     struct acog_buffer *out) ACOG_MUST_CHECK;

/* One event of a stream, of which the tracker said that it is neither an error nor bad: appends the client's events,
 * none or several. */
enum acog_code acog_translator_event(struct acog_translator *translator, struct acog_view name,
                                     struct acog_view data, struct acog_arena *scratch,
                                     struct acog_buffer *out) ACOG_MUST_CHECK;

/* The stream is complete (acog_stream_tracker_complete()): appends all that is still due, the legal last event
 * included. Call it once. */
enum acog_code acog_translator_end(struct acog_translator *translator,
                                   struct acog_buffer *out) ACOG_MUST_CHECK;

/* For a terminal frame: the number of the next event (responses). */
int64_t acog_translator_next_sequence(const struct acog_translator *translator);

/* The usage as told to the client, estimated where the provider gave none: input_tokens holds the cached and the
 * written ones, whatever the dialect. Complete after whole() or end(). */
struct acog_usage acog_translator_usage(const struct acog_translator *translator, bool *estimated);

#endif
