/* write_messages.h - private to core/dialect: the two halves of writing a request to Anthropic Messages. */
#ifndef ACOG_CORE_DIALECT_WRITE_MESSAGES_H
#define ACOG_CORE_DIALECT_WRITE_MESSAGES_H

#include "put.h"

/* `,"system":[…]` if there is any, and `,"messages":[…]`. */
void acog_messages_put_turns(struct acog_request_writer *request);

/* `,"cache_control":…` if the client marked the place. */
void acog_messages_put_cache(struct acog_request_writer *writer, struct acog_json_value cache);

/* Reasoning that Anthropic made and signed: nothing else of its kind is sent. */
bool acog_messages_is_own_reasoning(const struct acog_part *part);

/* Why what is in the turns cannot be told; NULL: it can. */
const char *acog_messages_turns_objection(const struct acog_conversation *conversation);

#endif
