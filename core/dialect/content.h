/* content.h - private to core/dialect: what a piece of an answer brings out, the same in streams and whole answers. */
#ifndef ACOG_CORE_DIALECT_CONTENT_H
#define ACOG_CORE_DIALECT_CONTENT_H

#include "acog/dialect.h"

/* A STRING with something in it. */
static inline bool acog_dialect_nonempty(struct acog_json_value value)
{
    return value.type == ACOG_JSON_STRING && value.raw.len > 2;
}

/* What stands between the quotes of such a one, escapes as written: for words that need none. */
static inline struct acog_view acog_dialect_word(struct acog_json_value value)
{
    return (struct acog_view){.ptr = value.raw.ptr + 1, .len = value.raw.len - 2};
}

/* The object that an event holds, whose text was checked. Absent: it holds none, as [DONE]. */
struct acog_json_value acog_dialect_event_object(struct acog_view data);

/* A STRING with the tag of opaque.h; a value that has such a one somewhere inside. */
bool acog_dialect_is_tagged(struct acog_json_value value);
bool acog_dialect_holds_tag(struct acog_json_value value);

/* What an `error` member must be for the official SDKs to see an error: not null, false, "" or 0. */
bool acog_dialect_is_error(struct acog_json_value value);

/* Sets of ACOG_BIT(acog_output). `chat`: a delta or a message. `messages`: a content block, at its start or whole.
 * `responses`: an output item, at its start or whole. */
unsigned acog_dialect_chat_outputs(struct acog_json_value message);
unsigned acog_dialect_block_outputs(struct acog_json_value block);
unsigned acog_dialect_item_outputs(struct acog_json_value item);

/* The items of a response's `output`. */
unsigned acog_dialect_items_outputs(struct acog_json_value output);

struct acog_usage acog_dialect_no_usage(void);

/* Overwrites what `usage` (an object) reports; true if it reports anything. */
bool acog_dialect_chat_usage(struct acog_json_value object, struct acog_usage *usage);
bool acog_dialect_messages_usage(struct acog_json_value object, struct acog_usage *usage);
bool acog_dialect_responses_usage(struct acog_json_value object, struct acog_usage *usage);

#endif
