/* effort.h - private to core/dialect: how hard to think, between the words and the budgets of the dialects. */
#ifndef ACOG_CORE_DIALECT_EFFORT_H
#define ACOG_CORE_DIALECT_EFFORT_H

#include "conversation.h"

/* ACOG_EFFORT_COUNT: no word of the table. */
enum acog_effort acog_effort_of(struct acog_json_value word);
struct acog_view acog_effort_word(enum acog_effort effort);

/* Tokens that stand for a word, where a model is told a budget; 0 for NONE. And the hardest word that a budget pays
 * for: MINIMAL when it is less than any. */
int64_t acog_effort_budget_tokens(enum acog_effort effort);
enum acog_effort acog_effort_of_budget(int64_t tokens);

/* What a wish comes to as a word: NONE when it is off, COUNT when it names neither a word nor a budget. */
enum acog_effort acog_effort_wished(const struct acog_reasoning_wish *wish);

/* The one of `efforts` (bits) that is nearest to `wanted`: the hardest that is not above it, else the least of all.
 * A model that is to think does not get NONE as long as it takes another. COUNT: `efforts` is empty. */
enum acog_effort acog_effort_nearest(enum acog_effort wanted, unsigned efforts);

#endif
