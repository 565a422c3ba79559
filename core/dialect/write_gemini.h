/* write_gemini.h - private to core/dialect: a request of generateContent is written in two files, what was said
 * (write_gemini_contents.c) and what is asked for (write_gemini.c).
 */
#ifndef ACOG_CORE_DIALECT_WRITE_GEMINI_H
#define ACOG_CORE_DIALECT_WRITE_GEMINI_H

#include "put.h"

/* `"contents":[…]` and, if there is any, `,"systemInstruction":{…}`. */
void acog_gemini_put_contents(struct acog_request_writer *writer);

/* Everything but what another provider thought. */
bool acog_gemini_is_sent(const struct acog_part *part);

/* The models that are told by a word how hard to think: they want signatures, take media inside a tool's result, and
 * hold an answer to a schema beside tools. */
static inline bool acog_gemini_is_third_generation(const struct acog_model_rules *rules)
{
    return rules->thinking == ACOG_THINKING_EFFORT || rules->thinking == ACOG_THINKING_ADAPTIVE;
}

#endif
