/* put.h - private to core/dialect: a request being written, and what its writers share.
 *
 * Appends fail softly: the first failure is kept in the writer, and nothing is appended after it.
 */
#ifndef ACOG_CORE_DIALECT_PUT_H
#define ACOG_CORE_DIALECT_PUT_H

#include "conversation.h"

#define ACOG_DROPPED_NAME_MAX  64  /* of one field's name in the header */
#define ACOG_DROPPED_BYTES_MAX 250 /* of all of them: what the header shows */

struct acog_request_writer {
    const struct acog_conversation *conversation;
    struct acog_translation *translation;
    struct acog_arena *arena;
    struct acog_buffer *out;
    struct acog_buffer dropped; /* names, ", " between them */
    struct acog_tool_identity
        *identities; /* the conversation's, and of each tool whose name is not taken */
    enum acog_code code;
};

void acog_put(struct acog_request_writer *writer, struct acog_view bytes);
void acog_put_format(struct acog_request_writer *writer, const char *fmt, ...) ACOG_PRINTF(2, 3);

/* The text as what stands between the quotes of a JSON string. */
void acog_put_inside(struct acog_request_writer *writer, struct acog_text text);

/* The text as a JSON STRING with its quotes, whatever form it has. */
void acog_put_string(struct acog_request_writer *writer, struct acog_text text);

/* The text's characters; empty also once the writer failed. */
struct acog_view acog_writer_characters(struct acog_request_writer *writer, struct acog_text text);

/* The text as it is: a JSON value out of a string that holds it. */
void acog_put_decoded(struct acog_request_writer *writer, struct acog_text text);

/* `,"name":value`, or nothing where the value is absent. */
void acog_put_member(struct acog_request_writer *writer, struct acog_view name,
                     struct acog_json_value value);

/* -- names of tools (tool_names.c) ----------------------------------------------------------------- */

/* Finds a name for each tool whose own the upstream does not take (writer->identities). */
void acog_put_prepare_tool_names(struct acog_request_writer *writer);

/* The name of a function as a STRING, as the upstream takes it. */
void acog_put_tool_name(struct acog_request_writer *writer, struct acog_text name);

/* -- as both dialects of OpenAI have it ------------------------------------------------------------ */

/* `,"tool_choice":…` and `,"parallel_tool_calls":false`; what stands around the name of a chosen tool differs. */
void acog_put_openai_tool_choice(struct acog_request_writer *writer, struct acog_view before_name,
                                 struct acog_view after_name);

/* A call's id as a STRING: one that is too long for the API is cut to its beginning and a hash of all, the same for the
 * call and its result. */
void acog_put_openai_call_id(struct acog_request_writer *writer, struct acog_text id,
                             size_t bytes_max);

/* Of a schema that an answer is held to: `"name":…,"schema":…` and what else is known. */
void acog_put_openai_schema(struct acog_request_writer *writer);

/* A medium's address, or its bytes as a data URL: a STRING. The name that OpenAI wants beside a file's bytes: likewise. */
void acog_put_openai_url(struct acog_request_writer *writer, const struct acog_media *media);
void acog_put_openai_file_name(struct acog_request_writer *writer, const struct acog_media *media);

/* -- what is not sent ------------------------------------------------------------------------------ */

/* Names a client's field (in the client's dialect's spelling) that is not sent; once each. */
void acog_put_dropped(struct acog_request_writer *writer, struct acog_view name);

/* The same for a field that each dialect of clients has a name of its own for. */
void acog_put_lost(struct acog_request_writer *writer, struct acog_view chat,
                   struct acog_view messages, struct acog_view responses);

/* A part's cache marker, where it has one: no other dialect has a place for it. `leading`: it is of `system`. */
void acog_put_cache_lost(struct acog_request_writer *writer, const struct acog_part *part,
                         bool leading);

/* How hard to think is not sent, or not as it was asked: names the field in which the client said it. */
void acog_put_reasoning_lost(struct acog_request_writer *writer);

/* -- fields ---------------------------------------------------------------------------------------- */

/* The user between `before` and `after`, or named as lost where the provider takes no name of that length. */
void acog_put_user(struct acog_request_writer *writer, struct acog_view before,
                   struct acog_view after, size_t bytes_max);

#define ACOG_OPENAI_USER_BYTES_MAX ((size_t)64) /* "string_above_max_length" beyond */

/* Whether the model's rules take a field; that it is lost, named; its value, within the rules. For writers that place a
 * field themselves. */
bool acog_put_takes(const struct acog_request_writer *writer, enum acog_field field);
void acog_put_field_lost(struct acog_request_writer *writer, enum acog_field field);
void acog_put_field_value(struct acog_request_writer *writer, enum acog_field field);

/* Each field of field.def that is present: `,"name":value` where the dialect has a name without a dot and the model's
 * rules take it, else it is named as dropped. Gemini writes its own. Also names the unknown ones. */
void acog_put_fields(struct acog_request_writer *writer, enum acog_dialect dialect);

/* -- writers --------------------------------------------------------------------------------------- */

void acog_chat_write_conversation(struct acog_request_writer *writer);
void acog_messages_write_conversation(struct acog_request_writer *writer);
void acog_responses_write_conversation(struct acog_request_writer *writer);
void acog_gemini_write_conversation(struct acog_request_writer *writer);

#endif
