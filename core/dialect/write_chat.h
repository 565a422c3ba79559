/* write_chat.h - private to core/dialect: the messages of a chat request; write_chat_turns.c writes them. */
#ifndef ACOG_CORE_DIALECT_WRITE_CHAT_H
#define ACOG_CORE_DIALECT_WRITE_CHAT_H

#include "put.h"

/* Appends `[…]`: the system texts and all turns. */
void acog_chat_write_messages(struct acog_request_writer *writer);

/* Why a part of a turn or of a tool's result has no form in chat; NULL: it has one. */
const char *acog_chat_part_objection(const struct acog_part *part);

#endif
