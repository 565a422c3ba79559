/* write_responses.h - private to core/dialect: the two halves of the writer of OpenAI Responses requests. */
#ifndef ACOG_CORE_DIALECT_WRITE_RESPONSES_H
#define ACOG_CORE_DIALECT_WRITE_RESPONSES_H

#include "put.h"

/* `"input":[…]`, the turns as items. */
void acog_responses_put_input(struct acog_request_writer *writer);

#endif
