/* effort.h - private to core/dialect: how hard a model is to think, in words and in tokens.
 *
 * Clients say it by a word or by a budget, models take the one or the other, and not every word. One table for all
 * pairs, so that a request asks for as much on every way.
 */
#ifndef ACOG_CORE_DIALECT_EFFORT_H
#define ACOG_CORE_DIALECT_EFFORT_H

#include "acog/json.h"
#include "acog/model_rules.h"
#include "acog/view.h"

#define ACOG_BUDGET_TOKENS_MIN INT64_C(1024) /* Anthropic takes no smaller one */

/* The word of the APIs, "high". */
struct acog_view acog_effort_word(enum acog_effort effort);

/* What a STRING says; ACOG_EFFORT_COUNT: nothing that is known. */
enum acog_effort acog_effort_of(struct acog_json_value word);

/* The nearest in `efforts` (ACOG_BIT(acog_effort)) that asks for no more than `wanted`, but not for nothing; else the
 * least that asks for more. ACOG_EFFORT_COUNT when there is none. */
enum acog_effort acog_effort_nearest(enum acog_effort wanted, unsigned efforts);

/* The tokens that a word stands for; 0 for NONE. */
int64_t acog_effort_budget_tokens(enum acog_effort effort);

/* Tokens below `limit` that thinking may take. What the client named itself (`named`) may be all but one; else the answer
 * keeps a quarter of the limit, or `answer_tokens`, the length of a usual one (INT64_MAX: whatever it is), if that is
 * less. A tight limit has room for the least budget as long as a token is left. */
int64_t acog_effort_room_tokens(int64_t limit, bool named, int64_t answer_tokens);

/* The word that stands for a budget: the greatest that does not ask for more, at least MINIMAL. */
enum acog_effort acog_effort_of_budget(int64_t budget_tokens);

#endif
