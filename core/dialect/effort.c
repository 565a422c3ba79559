/* effort.c - words and budgets of thinking. */
#include "effort.h"

static const struct acog_view words[ACOG_EFFORT_COUNT] = {
#define ACOG_EFFORT(name, text) [ACOG_EFFORT_##name] = {(text), sizeof(text) - 1},
#include "acog/effort.def"
#undef ACOG_EFFORT
};

static const int64_t budgets_tokens[ACOG_EFFORT_COUNT] = {
    [ACOG_EFFORT_NONE] = 0,      [ACOG_EFFORT_MINIMAL] = 1024, [ACOG_EFFORT_LOW] = 4096,
    [ACOG_EFFORT_MEDIUM] = 8192, [ACOG_EFFORT_HIGH] = 16384,   [ACOG_EFFORT_XHIGH] = 24576,
    [ACOG_EFFORT_MAX] = 32768,
};

enum acog_effort acog_effort_of(struct acog_json_value word)
{
    for (int i = 0; i < ACOG_EFFORT_COUNT; i++) {
        if (acog_json_text_is(word, words[i])) {
            return (enum acog_effort)i;
        }
    }
    return ACOG_EFFORT_COUNT;
}

struct acog_view acog_effort_word(enum acog_effort effort)
{
    return words[effort];
}

int64_t acog_effort_budget_tokens(enum acog_effort effort)
{
    return budgets_tokens[effort];
}

enum acog_effort acog_effort_of_budget(int64_t tokens)
{
    enum acog_effort effort = ACOG_EFFORT_MINIMAL;
    for (int i = ACOG_EFFORT_LOW; i < ACOG_EFFORT_COUNT; i++) {
        if (tokens >= budgets_tokens[i]) {
            effort = (enum acog_effort)i;
        }
    }
    return effort;
}

enum acog_effort acog_effort_wished(const struct acog_reasoning_wish *wish)
{
    if (wish->off) {
        return ACOG_EFFORT_NONE;
    }
    if (wish->effort != ACOG_EFFORT_COUNT || wish->budget_tokens < 0) {
        return wish->effort;
    }
    return acog_effort_of_budget(wish->budget_tokens);
}

enum acog_effort acog_effort_nearest(enum acog_effort wanted, unsigned efforts)
{
    bool thinks = wanted != ACOG_EFFORT_NONE && (efforts & ~ACOG_BIT(ACOG_EFFORT_NONE)) != 0;
    int least = thinks ? ACOG_EFFORT_MINIMAL : ACOG_EFFORT_NONE;
    for (int i = (int)wanted; i >= least; i--) {
        if ((efforts & ACOG_BIT(i)) != 0) {
            return (enum acog_effort)i;
        }
    }
    for (int i = least; i < ACOG_EFFORT_COUNT; i++) {
        if ((efforts & ACOG_BIT(i)) != 0) {
            return (enum acog_effort)i;
        }
    }
    return ACOG_EFFORT_COUNT;
}
