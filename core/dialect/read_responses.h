/* read_responses.h - private to core/dialect: the two halves of the reader of OpenAI Responses requests. */
#ifndef ACOG_CORE_DIALECT_READ_RESPONSES_H
#define ACOG_CORE_DIALECT_READ_RESPONSES_H

#include "conversation.h"

/* A text, or a list of items. */
void acog_responses_read_input(struct acog_conversation_builder *builder,
                               struct acog_json_value input);

#endif
