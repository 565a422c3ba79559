/* exchange_choices.h - the fuzzer's bytes as choices, and what the first of them choose: a policy, its switches, and who
 * speaks which dialect. */
#ifndef ACOG_TESTS_FUZZ_EXCHANGE_CHOICES_H
#define ACOG_TESTS_FUZZ_EXCHANGE_CHOICES_H

#include "tests/fuzz/exchange_words.h"
#include "tests/support/engine_rows.h"

#include <string.h>

struct choices {
    const uint8_t *at;
    const uint8_t *end;
};

static inline unsigned take(struct choices *choices)
{
    return choices->at == choices->end ? 0 : *choices->at++;
}

static inline size_t choose(struct choices *choices, size_t below)
{
    return take(choices) % below;
}

static inline struct acog_view take_bytes(struct choices *choices)
{
    size_t wanted = take(choices);
    size_t left = (size_t)(choices->end - choices->at);
    struct acog_view bytes = {.ptr = (const char *)choices->at,
                              .len = wanted < left ? wanted : left};
    choices->at += bytes.len;
    return bytes;
}

static inline void fill_policy(struct choices *choices, struct acog_policy *policy)
{
    unsigned how = take(choices);
    policy->commit.stream = (enum acog_commit_level)(how % 3);
    policy->commit.whole = how / 4 % 2 == 0 ? ACOG_COMMIT_HEADERS : ACOG_COMMIT_ANSWER;
    policy->commit.held_bytes_max = how / 8 % 4 == 0 ? 300 : 64000;
    policy->commit.fail_when_full = how / 32 % 2 == 0;
    policy->bad_event_drops = how / 64 % 2 == 0;
    policy->drain_ms = how / 128 % 2 == 0 ? 0 : 5000;
    how = take(choices);
    for (int i = 0; i < ACOG_DIALECT_COUNT; i++) {
        policy->stream_errors[i].on_event = (enum acog_stream_end)(how % 5);
        policy->stream_errors[i].on_lost = (enum acog_stream_end)(how / 5 % 5);
    }
    policy->match_slot = how / 25 % 3 == 0 ? 0 : ACOG_NO_SLOT;
    if (how / 75 % 2 == 0) {
        policy->refusal = (struct acog_refusal){
            .empty_200 = true, .fallback_model = ACOG_VIEW("m2"), .same_connection = true};
    }
#define ACOG_CONDITION(name_, text_, status_, code_, message_)      \
    policy->errors[ACOG_CONDITION_##name_].status = (status_);      \
    policy->errors[ACOG_CONDITION_##name_].code = ACOG_VIEW(code_); \
    policy->errors[ACOG_CONDITION_##name_].message = ACOG_VIEW(message_);
#include "acog/condition.def"
#undef ACOG_CONDITION
    memset(policy->reads_body, 0xff, sizeof(policy->reads_body));
}

/* In which dialects the two connections speak: the client's and others, or others only. */
static inline void fill_dialects(struct engine_rows *rows, unsigned how)
{
    static const unsigned spoken[] = {
        ACOG_BIT(ACOG_DIALECT_CHAT) | ACOG_BIT(ACOG_DIALECT_MESSAGES) |
            ACOG_BIT(ACOG_DIALECT_RESPONSES),
        ACOG_BIT(ACOG_DIALECT_CHAT),
        ACOG_BIT(ACOG_DIALECT_MESSAGES),
        ACOG_BIT(ACOG_DIALECT_RESPONSES),
        ACOG_BIT(ACOG_DIALECT_GEMINI),
    };
    for (size_t i = 0; i < rows->snapshot.connection_count; i++) {
        rows->connections[i].dialects = spoken[how % 5];
        how /= 5;
    }
}

static inline struct engine_rows *choose_rows(struct choices *choices)
{
    struct engine_rows *rows = engine_rows_new((enum engine_policy)choose(choices, 5));
    rows->snapshot.limits =
        (struct acog_limits){.json_depth = 64, .event_bytes = 4096, .answer_bytes = 16384};
    fill_policy(choices, &rows->snapshot.policy);
    (void)engine_rows_add(rows, "one", ACOG_CHANNEL_DIRECT, "m");
    (void)engine_rows_add(rows, "two", ACOG_CHANNEL_VERTEX, "m");
    (void)engine_rows_candidate(rows, &rows->connections[0], "m2");
    rows->connections[0].key = rows->connections[1].key = ACOG_VIEW(SECRET);
    unsigned how = take(choices);
    rows->connections[0].is_default = how % 2 == 0;
    fill_dialects(rows, how / 2);
    return rows;
}

#endif
