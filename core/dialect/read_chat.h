/* read_chat.h - private to core/dialect: the pieces of the reader of chat requests. read_chat.c reads the parameters,
 * read_chat_messages.c the messages, read_chat_reasoning.c what an assistant thought.
 */
#ifndef ACOG_CORE_DIALECT_READ_CHAT_H
#define ACOG_CORE_DIALECT_READ_CHAT_H

#include "conversation.h"
#include "id_index.h"

/* `list` is the value of "messages". */
void acog_chat_read_messages(struct acog_conversation_builder *builder,
                             struct acog_json_value list);

/* The members of an assistant's message in which reasoning stands. */
struct acog_chat_reasoning {
    struct acog_json_value details; /* reasoning_details, OpenRouter's and ours */
    struct acog_json_value blocks;  /* thinking_blocks, LiteLLM's */
    struct acog_json_value content; /* reasoning_content */
    struct acog_json_value plain;   /* reasoning */
    const struct acog_id_index
        *calls; /* the id of each of the message's tool_calls, as written, to its acog_opaque */
};

/* Appends REASONING parts to the assistant's turn; an entry of `details` with a call's id is the call's, and its opaque
 * is kept there. Call it before the message's other parts. */
void acog_chat_read_reasoning(struct acog_conversation_builder *builder,
                              const struct acog_chat_reasoning *reasoning);

#endif
