/* read_responses.h - private to core/dialect: the parts of the reader of OpenAI Responses requests. */
#ifndef ACOG_CORE_DIALECT_READ_RESPONSES_H
#define ACOG_CORE_DIALECT_READ_RESPONSES_H

#include "conversation.h"

/* A text, or a list of items. Behind the tools. */
void acog_responses_read_input(struct acog_conversation_builder *builder,
                               struct acog_json_value input);

/* `input`: items of type additional_tools declare tools too. */
void acog_responses_read_tools(struct acog_conversation_builder *builder,
                               struct acog_json_value tools, struct acog_json_value input);

/* Behind the tools. */
void acog_responses_read_tool_choice(struct acog_conversation_builder *builder,
                                     struct acog_json_value value);

/* The name that upstreams know for a tool of the history that is custom or in a namespace. Behind the tools. */
struct acog_text acog_responses_told_name(struct acog_conversation_builder *builder,
                                          struct acog_json_value name_space,
                                          struct acog_json_value name);

#endif
