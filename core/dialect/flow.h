/* flow.h - private to core/dialect: an answer on its way from one dialect's reader to another's writer.
 *
 *   reader (stream or whole answer) --acog_flow_…()--> struct acog_flow --acog_answer_writer_form--> writer
 *
 * Providers send what they like: calls whose arguments come interleaved, text between them, a finish reason three times,
 * usage before or after it. The flow makes one legal sequence of it, whatever comes:
 *
 *   begin  ( part_begin  (part_text | part_citation)*  part_end )*  finish
 *
 * with at most one part_opaque in a part: behind the texts of reasoning, before the arguments of a call. One part is open
 * at a time and parts are numbered without gaps, so that a writer only spells. A part that begins while a call is open
 * whose arguments are not complete waits until they are; everything else goes through at once.
 *
 * It also counts what it sees (for an estimate where the provider gives no usage), puts the routing note before the
 * first part that is no reasoning, gives the arguments of ACOG_SCHEMA_TOOL_NAME out as text (B20), and tells calls under
 * the client's names of its tools (identity.h) and under ids of which no two are the same.
 */
#ifndef ACOG_CORE_DIALECT_FLOW_H
#define ACOG_CORE_DIALECT_FLOW_H

#include "acog/translate.h"
#include "identity.h"
#include "opaque.h"
#include "text.h"

#define ACOG_FLOW_WAITING_PARTS_MAX \
    128 /* parts that wait behind an open call; more: the answer is not sane */
#define ACOG_FLOW_WAITING_BYTES_MAX ((size_t)8 * 1024 * 1024) /* of each, and of early sources */
#define ACOG_FLOW_CALL_IDS_MAX      1024 /* of so many calls no two have one id */
#define ACOG_FLOW_NAME_MAX          256  /* of ids, names, reasons: longer ones are cut */

enum acog_flow_kind {
    ACOG_FLOW_TEXT = 0,
    ACOG_FLOW_REASONING,
    ACOG_FLOW_REFUSAL,
    ACOG_FLOW_CALL,
};

/* A short text that outlives the event it came in: plain characters. */
struct acog_flow_name {
    char bytes[ACOG_FLOW_NAME_MAX];
    size_t len;
};

/* The open part, as the writer sees it. */
struct acog_flow_part {
    enum acog_flow_kind kind;
    uint32_t index;                            /* among all parts, from 0 */
    uint32_t kind_index;                       /* among those of its kind, from 0 */
    bool begun;                                /* some text or arguments came */
    struct acog_flow_name call_id;             /* CALL: never empty */
    struct acog_flow_name call_name;           /* as the client calls it */
    const struct acog_tool_identity *identity; /* CALL: NULL: a function of that name */
};

enum acog_finish_reason {
    ACOG_FINISH_STOP = 0,
    ACOG_FINISH_STOP_SEQUENCE,
    ACOG_FINISH_LENGTH,
    ACOG_FINISH_CONTEXT, /* the model's context is full */
    ACOG_FINISH_CALLS,
    ACOG_FINISH_REFUSAL, /* the model's, or a content filter's */
    ACOG_FINISH_PAUSE,   /* a long turn that the client may continue */
    ACOG_FINISH_UNKNOWN, /* `native` is all that is known: never told as a plain stop (B60) */
};

struct acog_finish {
    enum acog_finish_reason reason;
    struct acog_flow_name native;        /* the provider's word */
    struct acog_flow_name stop_sequence; /* STOP_SEQUENCE: which one, or empty */
    struct acog_flow_name category;      /* REFUSAL, or empty */
    struct acog_flow_name explanation;   /* REFUSAL, or empty */
};

struct acog_flow;

/* How a dialect spells an answer, as a stream or whole. `writer` is the dialect's own state; it appends to flow->out
 * with acog_flow_put…(). Nothing is called before begin() or behind finish(). */
struct acog_answer_writer_form {
    size_t state_bytes; /* of `writer`, zeroed */
    void (*begin)(struct acog_flow *flow, void *writer);
    void (*part_begin)(struct acog_flow *flow, void *writer, const struct acog_flow_part *part);
    /* A piece of a text, or of a call's arguments (JSON text). Never empty. */
    void (*part_text)(struct acog_flow *flow, void *writer, const struct acog_flow_part *part,
                      struct acog_text text);
    /* Of a REASONING part, behind its text; of a CALL (a thought signature), before its arguments. Once. */
    void (*part_opaque)(struct acog_flow *flow, void *writer, const struct acog_flow_part *part,
                        const struct acog_opaque *opaque);
    /* A source of a TEXT part: where it was found, and its title, which may be empty. */
    void (*part_citation)(struct acog_flow *flow, void *writer, const struct acog_flow_part *part,
                          struct acog_text url, struct acog_text title);
    /* A call that never had arguments has `begun` false: its arguments are {} (B48). */
    void (*part_end)(struct acog_flow *flow, void *writer, const struct acog_flow_part *part);
    /* The last call: all that is still due. flow->finish, flow->usage, flow->usage_estimated. */
    void (*finish)(struct acog_flow *flow, void *writer);
    void (*free)(void *writer); /* gives back what the state owns; NULL: nothing */
};

extern const struct acog_answer_writer_form acog_chat_stream_form;
extern const struct acog_answer_writer_form acog_chat_whole_form;
extern const struct acog_answer_writer_form acog_messages_stream_form;
extern const struct acog_answer_writer_form acog_messages_whole_form;
extern const struct acog_answer_writer_form acog_responses_stream_form;
extern const struct acog_answer_writer_form acog_responses_whole_form;

/* A part that waits for the open call to be complete. */
struct acog_flow_waiting;

/* Follows JSON text that comes in pieces, to know where it is complete. */
struct acog_flow_balance {
    uint32_t depth;
    bool in_string;
    bool after_backslash;
    bool seen; /* an opening bracket came */
};

/* The pieces are whole JSON strings: no escape is ever cut between two of them. */
void acog_flow_balance_add(struct acog_flow_balance *balance, struct acog_text text);

/* All brackets that were opened are closed, and one was. */
bool acog_flow_balanced(const struct acog_flow_balance *balance);

/* What the reader of a chat stream remembers between events: chat has no events for where a part begins or ends. */
struct acog_chat_memory {
    uint32_t calls;    /* how many have begun */
    uint32_t call_key; /* of the latest */
    bool name_awaited; /* its id came, its name has not */
    struct acog_flow_name call_id;
    bool reasoning_beside; /* reasoning texts stand beside reasoning_details */
    struct acog_view
        reasoning_field; /* constant: where the latest reasoning text stood; empty: in reasoning_details */
};

/* What the reader of a responses stream remembers: it is told everything up to four times. */
struct acog_responses_memory {
    uint32_t told[4]; /* by kind: one above the key of the last part that brought something */
    uint32_t cited;   /* likewise of the last one that brought a citation */
};

struct acog_flow {
    const struct acog_translation *translation;
    const struct acog_answer_writer_form *form;
    void *writer; /* owned */
    struct acog_tool_identity
        *identities;         /* owned; NULL: the client's tools are functions by their names */
    struct acog_buffer *out; /* of the call that is under way */
    enum acog_code code;     /* the first failure; nothing is written after it */
    bool begun;
    bool finished;
    struct acog_flow_name id;     /* the provider's, or empty */
    struct acog_flow_name model;  /* that answers; the one sent when the provider names none */
    int64_t sequence;             /* of the next event, for dialects that number them */
    struct acog_chat_memory chat; /* of that dialect's reader */
    struct acog_responses_memory responses;
    /* the open part */
    bool open;
    bool open_ended;  /* its reader said so, but it is not closed yet */
    bool open_sealed; /* its opaque bytes were told */
    uint32_t open_key;
    struct acog_flow_part part;
    struct acog_flow_balance balance;
    uint32_t part_count;
    uint32_t kind_counts[4];
    struct acog_buffer
        call_ids; /* owned: a hash of each that was told, up to ACOG_FLOW_CALL_IDS_MAX */
    bool note_given;
    bool schema_call_seen; /* its arguments are the text */
    bool schema_told;      /* some of them came */
    uint32_t schema_key;
    uint32_t text_key;                 /* of the last TEXT part that began, where there is one */
    uint32_t early_key;                /* of a TEXT part that did not begin yet */
    struct acog_buffer early;          /* its sources: address and title, a line each */
    struct acog_flow_waiting *waiting; /* owned; in order */
    size_t waiting_count;
    /* what the end tells */
    bool finish_known;
    struct acog_finish finish;
    bool usage_known;
    bool usage_estimated;
    struct acog_usage usage; /* input_tokens holds the cached and the written ones */
    uint64_t text_bytes;     /* of all parts, for an estimate */
};

/* -- for readers ----------------------------------------------------------------------------------- */
/* `key` tells the parts of an answer apart; any number will do as long as a part keeps its own. An event of a part that
 * is neither open nor waiting begins a new one, also when a part of that key was closed before. */

/* The answer's id and the model that gave it; the first ones that are not empty stay. Call it with the first event that
 * has them; parts that come before it begin the answer without them. */
void acog_flow_begin(struct acog_flow *flow, struct acog_text id, struct acog_text model);

/* Keeps a text, cut where a character ends. */
void acog_flow_keep_name(struct acog_flow_name *name, struct acog_text text);

/* A piece of a TEXT, REASONING or REFUSAL part. An empty one is nothing: no part begins (B45, B52). */
void acog_flow_text(struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key,
                    struct acog_text text);

/* Opaque bytes of a REASONING part or a CALL; a redacted one makes a REASONING part without text. */
void acog_flow_opaque(struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key,
                      const struct acog_opaque *opaque);

/* A source of a TEXT part. Anthropic tells some before the text: they wait for it. Nothing once that part was closed. */
void acog_flow_citation(struct acog_flow *flow, uint32_t key, struct acog_text url,
                        struct acog_text title);

/* A call begins. Without an id one is made; without a name the answer makes no sense (ACOG_INVALID). A second one of the
 * same key that is still open or waiting only fills in what was empty. */
void acog_flow_call(struct acog_flow *flow, uint32_t key, struct acog_text id,
                    struct acog_text name);

/* Whether arguments of that call came already; also while it waits. */
bool acog_flow_call_has_arguments(struct acog_flow *flow, uint32_t key);

/* A piece of a call's arguments. Without a call of that key: nothing. */
void acog_flow_arguments(struct acog_flow *flow, uint32_t key, struct acog_text piece);

/* All of a call's arguments, told again when it is complete: they count only if no piece came (B37). */
void acog_flow_arguments_done(struct acog_flow *flow, uint32_t key, struct acog_text all);

/* Nothing more comes of that part. */
void acog_flow_part_end(struct acog_flow *flow, uint32_t key);

/* Overwrites, field by field, what is reported (-1: not). `input_tokens` with the cached and the written ones. */
void acog_flow_usage(struct acog_flow *flow, const struct acog_usage *usage);

/* Why it ended. The last one counts, but an UNKNOWN or STOP never replaces a reason that says more. Empty native words
 * are legal. */
void acog_flow_finish(struct acog_flow *flow, enum acog_finish_reason reason,
                      struct acog_text native);
void acog_flow_stop_sequence(struct acog_flow *flow, struct acog_text sequence);
void acog_flow_refusal(struct acog_flow *flow, struct acog_text category,
                       struct acog_text explanation);

/* Nothing is told any more; the first code counts. */
void acog_flow_fail(struct acog_flow *flow, enum acog_code code);

/* A dialect's readers of answers. Events and bodies were checked by the tracker and by acog_dialect_read_answer(). */
void acog_chat_read_event(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                          struct acog_arena *scratch);
void acog_messages_read_event(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                              struct acog_arena *scratch);
void acog_responses_read_event(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                               struct acog_arena *scratch);
void acog_gemini_read_event(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                            struct acog_arena *scratch);
void acog_chat_read_whole(struct acog_flow *flow, struct acog_json_value body,
                          struct acog_arena *scratch);
void acog_messages_read_whole(struct acog_flow *flow, struct acog_json_value body,
                              struct acog_arena *scratch);
void acog_responses_read_whole(struct acog_flow *flow, struct acog_json_value body,
                               struct acog_arena *scratch);
void acog_gemini_read_whole(struct acog_flow *flow, struct acog_json_value body,
                            struct acog_arena *scratch);

/* -- for writers ----------------------------------------------------------------------------------- */

void acog_flow_put(struct acog_flow *flow, struct acog_view bytes);
void acog_flow_put_format(struct acog_flow *flow, const char *fmt, ...) ACOG_PRINTF(2, 3);

/* Between the quotes of a JSON string. */
void acog_flow_put_inside(struct acog_flow *flow, struct acog_text text);
void acog_flow_put_name(struct acog_flow *flow, const struct acog_flow_name *name);
void acog_flow_put_opaque(struct acog_flow *flow, const struct acog_opaque *opaque);

/* The answer's id in the client's dialect, between quotes' insides: `prefix` before the provider's unless it has it
 * already, else made from the request's id. */
void acog_flow_put_id(struct acog_flow *flow, const char *prefix);

/* The same append functions for a buffer of the writer's own: they fail the flow. */
void acog_flow_keep(struct acog_flow *flow, struct acog_buffer *buffer, struct acog_view bytes);
void acog_flow_keep_inside(struct acog_flow *flow, struct acog_buffer *buffer,
                           struct acog_text text);
void acog_flow_keep_plain(struct acog_flow *flow, struct acog_buffer *buffer,
                          struct acog_text text);

/* The one word that the upstream's dialect has for a reason; empty: it has several, or none. */
struct acog_view acog_flow_usual_word(const struct acog_flow *flow, enum acog_finish_reason reason);

/* The provider's own word says more than the reason that was made of it (B60). */
bool acog_flow_native_is_lost(const struct acog_flow *flow);

static inline struct acog_view acog_flow_name_view(const struct acog_flow_name *name)
{
    return (struct acog_view){.ptr = name->bytes, .len = name->len};
}

/* A figure of a usage as it is told: 0 where the provider reported none. */
static inline int64_t acog_flow_figure(int64_t reported)
{
    return reported < 0 ? 0 : reported;
}

/* -- for the translator ---------------------------------------------------------------------------- */

/* ACOG_NO_MEMORY. */
enum acog_code acog_flow_init(struct acog_flow *flow, const struct acog_translation *translation,
                              const struct acog_answer_writer_form *form) ACOG_MUST_CHECK;
void acog_flow_fini(struct acog_flow *flow);

/* Closes what is open, lets what waits go, and tells the finish. */
void acog_flow_end(struct acog_flow *flow);

#endif
