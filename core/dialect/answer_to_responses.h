/* answer_to_responses.h - private to core/dialect: the two halves of the writer of OpenAI Responses answers. */
#ifndef ACOG_CORE_DIALECT_ANSWER_TO_RESPONSES_H
#define ACOG_CORE_DIALECT_ANSWER_TO_RESPONSES_H

#include "flow.h"

/* The whole response. `output`: its items, commas between them; NULL: it has only begun. */
void acog_responses_put_object(struct acog_flow *flow, const struct acog_buffer *output);

/* Whether it is told as complete (B60). */
bool acog_responses_is_complete(const struct acog_flow *flow);

#endif
