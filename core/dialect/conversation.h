/* conversation.h - private to core/dialect: the message model, a request as all dialects mean it.
 *
 * Readers fill it in from a client's body, writers tell it to an upstream. Leaves are JSON values as the client wrote
 * them: a STRING keeps its quotes and escapes, a schema is an object; writers copy `raw`. A leaf that is not there is
 * absent (acog_json_present()).
 *
 * The files of this folder; D is chat, messages, responses or gemini, and long ones have others behind them
 * (read_D_….c, write_D_….c, answer_to_D_….c). README.md says what they make of each feature.
 *
 *   acog/translate.h  translate.c   which reader, which writer
 *     requests        read_D.c      a client's body as a conversation, with the builder of conversation.c;
 *                                   what holds for all: conversation_finish.c
 *                     fits.c        what an upstream cannot be told: refused
 *                     write_D.c     a conversation as an upstream's body, with put.h: put.c, tool_names.c
 *                     text.h opaque.h media.h effort.h user.h   leaves, as more than one dialect has them
 *                     leaf.h id_index.h                         to read them, and to find a call or a tool again
 *                     schema.h      a schema, for those that take less than JSON Schema: schema.c, schema_*.c
 *     answers         answer_from_D.c  an upstream's answer or event, into the flow (flow.h: flow.c, flow_balance.c)
 *                     answer_to_D.c    the flow as a client's answer or events, with flow_put.c
 *     both ways       identity.h    tools that upstreams know by another name than the client
 *   acog/dialect.h    facts, where the bytes are kept or judged:
 *                     request.c request_content.c pin.c strip.c  a client's body for an upstream of its own dialect
 *                     answer.c stream.c stream_D.c content.h     what an answer is, and whether it may end
 *                     error.c error_shape.c retry_after.c moment.h  what an error means
 *   both              gemini.h      what stands where in Google's answers
 *
 * Everything is in the request's arena; lists are linked in the order of the request.
 */
#ifndef ACOG_CORE_DIALECT_CONVERSATION_H
#define ACOG_CORE_DIALECT_CONVERSATION_H

#include "acog/translate.h"
#include "identity.h"
#include "opaque.h"
#include "text.h"

#include <stdarg.h>

/* -- parts of a turn ------------------------------------------------------------------------------- */

enum acog_part_kind {
    ACOG_PART_TEXT = 0,
    ACOG_PART_MEDIA,       /* an image, a document, audio, video */
    ACOG_PART_REASONING,   /* `text`, or none; with a signature if it is anybody's to check */
    ACOG_PART_REFUSAL,     /* what an assistant said instead of an answer */
    ACOG_PART_TOOL_CALL,   /* of an assistant */
    ACOG_PART_TOOL_RESULT, /* of a user */
    ACOG_PART_FOREIGN, /* a part that only its own dialect has: server tools and what they found. `type` */
};

enum acog_media_kind {
    ACOG_MEDIA_IMAGE = 0,
    ACOG_MEDIA_DOCUMENT, /* PDF, or a text */
    ACOG_MEDIA_AUDIO,
    ACOG_MEDIA_VIDEO,
    ACOG_MEDIA_FILE, /* any of them: only its media type, or the provider, knows */
};

enum acog_media_source {
    ACOG_MEDIA_BASE64 = 0, /* `data` has no prefix, `media_type` is known */
    ACOG_MEDIA_URL,        /* never fetched by the gateway (B16) */
    ACOG_MEDIA_TEXT,       /* a plain text document */
    ACOG_MEDIA_FILE_ID,    /* at the provider: foreign to every other */
};

struct acog_media {
    enum acog_media_kind kind;
    enum acog_media_source source;
    struct acog_view media_type;   /* "image/png", needs no escapes; empty: not known */
    struct acog_text data;         /* base64, URL, text or id */
    struct acog_json_value name;   /* STRING: file name or title */
    struct acog_json_value detail; /* STRING: how closely an image is looked at */
};

struct acog_part;

struct acog_part_list {
    struct acog_part *first; /* NULL: none */
    struct acog_part *last;
};

struct acog_part {
    enum acog_part_kind kind;
    struct acog_part *next;
    struct acog_json_value
        text; /* TEXT, REASONING, REFUSAL: a STRING, not empty in TEXT and REFUSAL */
    struct acog_media media;
    struct acog_opaque opaque;     /* REASONING; TOOL_CALL: Gemini's thought signature */
    struct acog_text id;           /* TOOL_CALL, TOOL_RESULT: which call */
    struct acog_text name;         /* TOOL_CALL; TOOL_RESULT: of the call it answers */
    struct acog_text arguments;    /* TOOL_CALL: JSON text of one object; never empty ("{}", B06) */
    struct acog_part_list content; /* TOOL_RESULT: TEXT and MEDIA parts; none: nothing (B04) */
    bool answered;                 /* TOOL_CALL: its result is in the next turn */
    bool is_error;                 /* TOOL_RESULT */
    struct acog_json_value cache;  /* OBJECT: the client's cache_control marker (B18) */
    struct acog_view type;         /* FOREIGN: for messages to the client */
};

enum acog_turn_role {
    ACOG_TURN_USER = 0,
    ACOG_TURN_ASSISTANT,
    ACOG_TURN_SYSTEM, /* between the turns (B14), or the only one; the leading ones are `system` */
};

/* Neighbours of one role are one turn: all results of an assistant's calls stand in the next user turn, before its
 * other parts (B01, B02); an assistant's calls stand behind its other parts (B32, B33). */
struct acog_turn {
    enum acog_turn_role role;
    struct acog_part_list parts; /* at least one */
    struct acog_turn *next;
};

/* A part of that kind is among the turn's. */
bool acog_turn_has(const struct acog_turn *turn, enum acog_part_kind kind);

/* -- tools ----------------------------------------------------------------------------------------- */

struct acog_tool {
    struct acog_json_value name;        /* STRING: of the function that is told */
    struct acog_json_value description; /* STRING */
    struct acog_json_value schema;      /* OBJECT; absent: no arguments */
    struct acog_json_value strict;      /* TRUE, FALSE or absent */
    struct acog_json_value cache;
    struct acog_view
        foreign; /* a server tool, or one of a kind that only its dialect has: its type; else empty */
    struct acog_tool_identity
        *identity; /* what the client calls it; NULL: a function of that name */
    struct acog_tool *next;
};

enum acog_tool_choice {
    ACOG_TOOL_CHOICE_UNSET = 0,
    ACOG_TOOL_CHOICE_AUTO,
    ACOG_TOOL_CHOICE_NONE,
    ACOG_TOOL_CHOICE_REQUIRED,
    ACOG_TOOL_CHOICE_NAMED, /* conversation.tool_choice_name, a declared tool (B09) */
};

/* The model must call a tool. */
static inline bool acog_tool_choice_forces(enum acog_tool_choice choice)
{
    return choice == ACOG_TOOL_CHOICE_REQUIRED || choice == ACOG_TOOL_CHOICE_NAMED;
}

/* -- the rest -------------------------------------------------------------------------------------- */

enum acog_answer_format {
    ACOG_FORMAT_TEXT = 0,
    ACOG_FORMAT_JSON,   /* any JSON object */
    ACOG_FORMAT_SCHEMA, /* conversation.schema */
};

/* How hard to think. */
struct acog_reasoning_wish {
    bool given;
    bool off;                /* thinking disabled, effort none, budget 0 */
    enum acog_effort effort; /* ACOG_EFFORT_COUNT: none named */
    int64_t budget_tokens;   /* -1: none named */
    bool adaptive;           /* the model decides */
    bool summary;            /* the client wants to read it */
};

/* What was asked for as a word: its own, else the one that stands for its budget; NONE: no thinking. COUNT: nothing was
 * asked for, or the model is to decide. */
enum acog_effort acog_reasoning_effort(const struct acog_reasoning_wish *wish);

/* Fields that need no understanding: one name a dialect, the value copied (field.def). */
enum acog_field {
#define ACOG_FIELD(name, chat, messages, responses, gemini, lost) ACOG_FIELD_##name,
#include "field.def"
#undef ACOG_FIELD
    ACOG_FIELD_COUNT
};

/* A field's name in a dialect; empty: it has none. */
struct acog_view acog_field_name(enum acog_field field, enum acog_dialect dialect);

/* What becomes of a field that the upstream's dialect has no name for (decision 14). */
enum acog_field_lost {
    ACOG_LOST_DROPPED = 0, /* named to the client */
    ACOG_LOST_REFUSED,
};

/* A client's field that none of this has a place for: dropped and named, once. */
struct acog_unknown_field {
    struct acog_json_value name; /* STRING */
    struct acog_unknown_field *next;
};

struct acog_conversation {
    enum acog_surface surface;
    bool stream;
    bool forces_foreign_tool;     /* tool_choice leaves the model no tool of its client's */
    bool parallel_off;            /* at most one call at a time */
    bool unfaithful_choices;      /* n above 1 */
    struct acog_part_list system; /* TEXT parts, leading */
    struct acog_turn *turns;
    struct acog_tool *tools;               /* once all was read, those that the client runs */
    struct acog_tool *foreign_tools;       /* and the others: none before */
    struct acog_tool_identity *identities; /* of all tools that have one, the offered ones or not */
    enum acog_tool_choice tool_choice;
    enum acog_answer_format format;
    struct acog_json_value tool_choice_name; /* STRING */
    int64_t max_tokens;                      /* -1: not given */
    struct acog_json_value *stops;           /* STRINGs */
    size_t stop_count;
    struct acog_json_value schema;             /* OBJECT */
    struct acog_json_value schema_name;        /* STRING or absent */
    struct acog_json_value schema_description; /* STRING or absent */
    struct acog_json_value schema_strict;      /* TRUE, FALSE or absent */
    struct acog_reasoning_wish reasoning;
    struct acog_json_value user; /* STRING, opaque: no address, no telephone number (B23) */
    struct acog_json_value fields[ACOG_FIELD_COUNT]; /* null counts as absent */
    struct acog_unknown_field *unknown;
};

/* -- the builder, for readers ----------------------------------------------------------------------- */

/* Of a turn, and of a tool_choice: more are refused. OpenAI takes half as many tools. */
#define ACOG_CALLS_OF_TURN_MAX 1024
#define ACOG_ALLOWED_TOOLS_MAX 256

#define ACOG_UNKNOWN_FIELDS_MAX 64 /* names that are kept; later ones are dropped unnamed */

struct acog_conversation_builder {
    struct acog_arena *arena;
    struct acog_conversation *conversation;
    struct acog_request_problem *problem;
    struct acog_turn *turn;      /* the last one, NULL: none yet */
    struct acog_tool **tool_end; /* where the next one is linked */
    enum acog_code code;         /* the first thing that went wrong; later calls do nothing */
};

/* Zeroed memory of the request's arena. NULL: none, or something went wrong before. */
void *acog_builder_take(struct acog_conversation_builder *builder, size_t bytes);

/* Puts a part at the end of a list. Returns it; NULL of NULL. */
struct acog_part *acog_part_append(struct acog_part_list *list, struct acog_part *part);

/* A part of the turn that is under way if it has that role, else of a new one: what keeps neighbours together. Of the
 * leading system texts; of a result; a tool. NULL: no memory, or something went wrong before. */
struct acog_part *acog_builder_part(struct acog_conversation_builder *builder,
                                    enum acog_turn_role role, enum acog_part_kind kind);
struct acog_part *acog_builder_system(struct acog_conversation_builder *builder);
struct acog_part *acog_builder_result_part(struct acog_conversation_builder *builder,
                                           struct acog_part *result, enum acog_part_kind kind);
struct acog_tool *acog_builder_tool(struct acog_conversation_builder *builder);

/* The text's characters; empty also once something went wrong. */
struct acog_view acog_builder_characters(struct acog_conversation_builder *builder,
                                         struct acog_text text);

/* Puts the value into fields[] if the dialect has a field of that name, else among the unknown. Null is absent. */
void acog_builder_field(struct acog_conversation_builder *builder, enum acog_dialect dialect,
                        struct acog_json_value name, struct acog_json_value value);

/* A field that nothing has a place for, by its name: dropped and named. */
void acog_builder_unknown(struct acog_conversation_builder *builder, struct acog_json_value name);

/* Likewise a member of an object, or of the objects of a list, as "tools.strict": `object` and `key`. Nothing where the
 * key is no STRING. */
void acog_builder_unknown_member(struct acog_conversation_builder *builder, struct acog_view object,
                                 struct acog_json_value key);

/* Likewise each member that is not among the `count` known ones, of a value that is an object. Null, false and an empty
 * list say nothing that could be lost. */
void acog_builder_unknown_members(struct acog_conversation_builder *builder,
                                  struct acog_view object_name, struct acog_json_value object,
                                  const struct acog_view *known, size_t count);

/* In place of what `problem` said. */
void acog_problem_set_list(struct acog_request_problem *problem, const char *fmt, va_list args)
    ACOG_PRINTF(2, 0);

/* Fails with a problem in words for the client; the first one counts. Say where in the body:
 * "messages[2].content: …". */
void acog_builder_refuse(struct acog_conversation_builder *builder, const char *fmt, ...)
    ACOG_PRINTF(2, 3);

/* What holds for every conversation, once all was read: brings results to their calls, orders the parts of each turn,
 * moves cache markers off empty texts, checks the tool history (each result answers a call before it, each call but the
 * last turn's has a result: decision 13) and fills the results' names in, takes the foreign tools out of the others and
 * checks tool_choice against both (B09). */
void acog_builder_finish(struct acog_conversation_builder *builder);

/* -- readers --------------------------------------------------------------------------------------- */

/* `body` is an object whose text was checked. */
void acog_chat_read_conversation(struct acog_conversation_builder *builder,
                                 struct acog_json_value body);
void acog_messages_read_conversation(struct acog_conversation_builder *builder,
                                     struct acog_json_value body);
void acog_responses_read_conversation(struct acog_conversation_builder *builder,
                                      struct acog_json_value body);

/* -- what an upstream can be told ------------------------------------------------------------------ */

/* Whether the API takes a function of that name. */
bool acog_tool_name_fits(enum acog_dialect dialect, struct acog_view name);

/* What is told of it. A call that must be made leaves no text to be held to a format: one that the model cannot be held to
 * beside tools is left out. */
struct acog_conversation acog_conversation_told(const struct acog_conversation *conversation,
                                                enum acog_dialect dialect,
                                                const struct acog_model_rules *rules);

/* Why a dialect cannot take the conversation beyond what holds for all (fits.c): NULL when it can, else constant words
 * for the client. One a dialect, beside its writer. */
const char *acog_chat_objection(const struct acog_conversation *conversation,
                                const struct acog_model_rules *rules);
const char *acog_messages_objection(const struct acog_conversation *conversation,
                                    const struct acog_model_rules *rules);
const char *acog_responses_objection(const struct acog_conversation *conversation,
                                     const struct acog_model_rules *rules);
const char *acog_gemini_objection(const struct acog_conversation *conversation,
                                  const struct acog_model_rules *rules);

#endif
