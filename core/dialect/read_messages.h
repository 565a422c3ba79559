/* read_messages.h - private to core/dialect: the two halves of reading a client's Anthropic Messages request. */
#ifndef ACOG_CORE_DIALECT_READ_MESSAGES_H
#define ACOG_CORE_DIALECT_READ_MESSAGES_H

#include "conversation.h"

/* `system`: a string or text blocks, or null. */
void acog_messages_read_system(struct acog_conversation_builder *builder,
                               struct acog_json_value system);

/* `messages`: a list. */
void acog_messages_read_turns(struct acog_conversation_builder *builder,
                              struct acog_json_value messages);

#endif
