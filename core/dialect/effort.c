/* effort.c - words and budgets. */
#include "effort.h"

#include "acog/contract.h"
#include "conversation.h"

static const struct acog_view words[ACOG_EFFORT_COUNT] = {
#define ACOG_EFFORT(name, text) [ACOG_EFFORT_##name] = {text, sizeof(text) - 1},
#include "acog/effort.def"
#undef ACOG_EFFORT
};

static const int64_t tokens[ACOG_EFFORT_COUNT] = {
    [ACOG_EFFORT_NONE] = 0,      [ACOG_EFFORT_MINIMAL] = 1024, [ACOG_EFFORT_LOW] = 4096,
    [ACOG_EFFORT_MEDIUM] = 8192, [ACOG_EFFORT_HIGH] = 16384,   [ACOG_EFFORT_XHIGH] = 24576,
    [ACOG_EFFORT_MAX] = 32768,
};

struct acog_view acog_effort_word(enum acog_effort effort)
{
    ACOG_ASSERT(effort < ACOG_EFFORT_COUNT);
    return words[effort];
}

enum acog_effort acog_effort_of(struct acog_json_value word)
{
    int effort = 0;
    while (effort < ACOG_EFFORT_COUNT && !acog_json_text_is(word, words[effort])) {
        effort++;
    }
    return (enum acog_effort)effort;
}

enum acog_effort acog_effort_nearest(enum acog_effort wanted, unsigned efforts)
{
    ACOG_ASSERT(wanted < ACOG_EFFORT_COUNT);
    if ((efforts & ACOG_BIT(wanted)) != 0) {
        return wanted;
    }
    for (int effort = (int)wanted - 1; effort > ACOG_EFFORT_NONE; effort--) {
        if ((efforts & ACOG_BIT(effort)) != 0) {
            return (enum acog_effort)effort;
        }
    }
    for (int effort = (int)wanted + 1; effort < ACOG_EFFORT_COUNT; effort++) {
        if ((efforts & ACOG_BIT(effort)) != 0) {
            return (enum acog_effort)effort;
        }
    }
    return ACOG_EFFORT_COUNT;
}

int64_t acog_effort_budget_tokens(enum acog_effort effort)
{
    ACOG_ASSERT(effort < ACOG_EFFORT_COUNT);
    return tokens[effort];
}

int64_t acog_effort_room_tokens(int64_t limit, bool named, int64_t answer_tokens)
{
    int64_t quarter = limit / 4 + 1;
    if (named) {
        return limit - 1;
    }
    int64_t room = limit - (answer_tokens < quarter ? answer_tokens : quarter);
    bool tight = room < ACOG_BUDGET_TOKENS_MIN && limit > ACOG_BUDGET_TOKENS_MIN;
    return tight ? ACOG_BUDGET_TOKENS_MIN : room;
}

enum acog_effort acog_effort_of_budget(int64_t budget_tokens)
{
    int effort = ACOG_EFFORT_COUNT - 1;
    while (effort > ACOG_EFFORT_MINIMAL && tokens[effort] > budget_tokens) {
        effort--;
    }
    return (enum acog_effort)effort;
}

enum acog_effort acog_reasoning_effort(const struct acog_reasoning_wish *wish)
{
    if (wish->off) {
        return ACOG_EFFORT_NONE;
    }
    if (wish->effort == ACOG_EFFORT_COUNT && wish->budget_tokens > 0) {
        return acog_effort_of_budget(wish->budget_tokens);
    }
    return wish->effort;
}
