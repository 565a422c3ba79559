/* policy.c - the policy's plain fields, and what holds when it does not say. */
#include "compile.h"
#include "frozen.h"

#include <stddef.h>
#include <string.h>

#include <lauxlib.h>

#define SECONDS_MAX    86400.0
#define COOLDOWN_MIN   0.001
#define HELD_BYTES_MAX (64.0 * 1024 * 1024)
#define PIN_VALUES_MAX ACOG_CHANNEL_COUNT
#define NOTE_BYTES_MAX 4096

#define POLICY(member) offsetof(struct acog_policy, member)

static const char *const send_id_list[] = {"declared", "client", "declared_or_client"};
static const char *const spread_list[] = {
    "none",         "round_robin",  "weighted", "least_in_flight",
    "power_of_two", "first_output", "cheapest"};
static const char *const restricted_list[] = {"declared_order", "first", "last"};
static const char *const backoff_list[] = {"none", "random", "exponential"};
static const char *const floor_list[] = {"off", "last_not_demoted", "before_demoted", "last"};
static const char *const health_list[] = {"off", "exclude", "demote"};
static const char *const health_key_list[] = {"connection", "channel", "channel_maker",
                                              "model_connection"};
static const char *const all_open_list[] = {"refuse", "fail_open", "earliest_first"};
static const char *const commit_list[] = {"headers", "first_event", "first_output"};
static const char *const whole_list[] = {"headers", "answer"};
static const char *const full_list[] = {"commit", "fail"};
static const char *const scope_list[] = {"none", "channel", "connection"};
static const char *const bad_event_list[] = {"error", "drop"};

static const struct words send_ids = WORDS_IN("an id to send", send_id_list);
static const struct words spreads = WORDS_IN("a way to spread", spread_list);
static const struct words restricteds = WORDS_IN("a place for restricted targets", restricted_list);
static const struct words backoffs = WORDS_IN("a kind of backoff", backoff_list);
static const struct words floors = WORDS_IN("a place for the floor", floor_list);
static const struct words healths = WORDS_IN("a mode of health", health_list);
static const struct words health_keys = WORDS_IN("a key of circuits", health_key_list);
static const struct words all_opens = WORDS_IN("a way when all circuits are open", all_open_list);
static const struct words commits = WORDS_IN("a level to hold until", commit_list);
static const struct words wholes = WORDS_IN("a level for whole answers", whole_list);
static const struct words fulls = WORDS_IN("a way when the held bytes are full", full_list);
static const struct words scopes = WORDS_IN("a scope of pins", scope_list);
static const struct words bad_events = WORDS_IN("a way with broken events", bad_event_list);
static const struct words outputs = WORDS_OF("an output", OUTPUT);
static const struct words channels = WORDS_OF("a channel", CHANNEL);

/* -- groups ----------------------------------------------------------------------------------------- */

static const struct field attempt_fields[] = {
    {.name = "max",
     .kind = ACOG_FIELD_COUNT,
     .offset = POLICY(attempts.max),
     .max = ACOG_ATTEMPTS_MAX},
    {.name = "extra_slow_try", .kind = ACOG_FIELD_FLAG, .offset = POLICY(attempts.extra_slow_try)},
    {.name = "restricted",
     .kind = ACOG_FIELD_WORD,
     .offset = POLICY(attempts.restricted),
     .words = &restricteds},
    {.name = "not_usable_counts",
     .kind = ACOG_FIELD_FLAG,
     .offset = POLICY(attempts.not_usable_counts)},
    {.name = "resend_max",
     .kind = ACOG_FIELD_COUNT,
     .offset = POLICY(attempts.resend_max),
     .max = ACOG_ATTEMPTS_MAX},
};

static const struct field backoff_fields[] = {
    {.name = "kind", .kind = ACOG_FIELD_WORD, .offset = POLICY(backoff.kind), .words = &backoffs},
    {.name = "min_ms",
     .kind = ACOG_FIELD_MILLISECONDS,
     .offset = POLICY(backoff.ms_min),
     .max = SECONDS_MAX},
    {.name = "max_ms",
     .kind = ACOG_FIELD_MILLISECONDS,
     .offset = POLICY(backoff.ms_max),
     .max = SECONDS_MAX},
    {.name = "retry_after_max",
     .kind = ACOG_FIELD_SECONDS,
     .offset = POLICY(backoff.retry_after_ms_max),
     .max = SECONDS_MAX},
};

static const struct field floor_fields[] = {
    {.name = "to", .kind = ACOG_FIELD_WORD, .offset = POLICY(last_floor.place), .words = &floors},
    {.name = "base",
     .kind = ACOG_FIELD_SECONDS,
     .offset = POLICY(last_floor.base_ms),
     .max = SECONDS_MAX},
};

static const struct field health_fields[] = {
    {.name = "mode", .kind = ACOG_FIELD_WORD, .offset = POLICY(health.mode), .words = &healths},
    {.name = "key", .kind = ACOG_FIELD_WORD, .offset = POLICY(health.key), .words = &health_keys},
    {.name = "threshold",
     .kind = ACOG_FIELD_COUNT,
     .offset = POLICY(health.threshold),
     .min = 1,
     .max = 255},
    {.name = "cooldown",
     .kind = ACOG_FIELD_SECONDS,
     .offset = POLICY(health.cooldown_ms),
     .min = COOLDOWN_MIN,
     .max = SECONDS_MAX},
    {.name = "factor",
     .kind = ACOG_FIELD_COUNT,
     .offset = POLICY(health.factor),
     .min = 1,
     .max = 1000},
    {.name = "cooldown_max",
     .kind = ACOG_FIELD_SECONDS,
     .offset = POLICY(health.cooldown_ms_max),
     .min = COOLDOWN_MIN,
     .max = SECONDS_MAX},
    {.name = "all_open",
     .kind = ACOG_FIELD_WORD,
     .offset = POLICY(health.all_open),
     .words = &all_opens},
};

static void read_whole(struct reader *reader, int index, void *target)
{
    int word = 0;
    if (reader_word(reader, index, &wholes, &word)) {
        ((struct acog_policy *)target)->commit.whole =
            word == 0 ? ACOG_COMMIT_HEADERS : ACOG_COMMIT_ANSWER;
    }
}

static void read_when_full(struct reader *reader, int index, void *target)
{
    int word = 0;
    if (reader_word(reader, index, &fulls, &word)) {
        ((struct acog_policy *)target)->commit.fail_when_full = word == 1;
    }
}

static const struct field commit_fields[] = {
    {.name = "hold_until",
     .kind = ACOG_FIELD_WORD,
     .offset = POLICY(commit.stream),
     .words = &commits},
    {.name = "whole", .kind = ACOG_FIELD_CUSTOM, .read = read_whole},
    {.name = "outputs",
     .kind = ACOG_FIELD_WORDS,
     .offset = POLICY(commit.outputs),
     .words = &outputs},
    {.name = "started_on",
     .kind = ACOG_FIELD_WORDS,
     .offset = POLICY(commit.started_on),
     .words = &outputs},
    {.name = "held_bytes",
     .kind = ACOG_FIELD_SIZE,
     .offset = POLICY(commit.held_bytes_max),
     .min = 1024,
     .max = HELD_BYTES_MAX},
    {.name = "when_full", .kind = ACOG_FIELD_CUSTOM, .read = read_when_full},
};

/* The channels that a client may name. */
static void read_pin_values(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    int count = reader_list(reader, index, PIN_VALUES_MAX);
    if (count < 0) {
        return;
    }
    struct acog_pin_value *values = reader_take(reader, ((size_t)count + 1) * sizeof(*values));
    for (int i = 1; i <= count; i++) {
        int channel = 0;
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(reader->L, index, i);
        if (reader_word(reader, -1, &channels, &channel)) {
            values[i - 1].channel = (enum acog_channel)channel;
            values[i - 1].text = acog_name(ACOG_VOCABULARY_CHANNEL, channel);
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    policy->pin.values = values;
    policy->pin.value_count = (size_t)count;
}

static const struct field pin_fields[] = {
    {.name = "scope", .kind = ACOG_FIELD_WORD, .offset = POLICY(pin.scope), .words = &scopes},
    {.name = "header", .kind = ACOG_FIELD_TOKEN, .offset = POLICY(pin.header)},
    {.name = "body", .kind = ACOG_FIELD_TEXT, .offset = POLICY(pin.body_path)},
    {.name = "values", .kind = ACOG_FIELD_CUSTOM, .read = read_pin_values},
    {.name = "failover_inside", .kind = ACOG_FIELD_FLAG, .offset = POLICY(pin.failover_inside)},
    {.name = "unmet_when_failed", .kind = ACOG_FIELD_FLAG, .offset = POLICY(pin.unmet_when_failed)},
    {.name = "overrides_dlp", .kind = ACOG_FIELD_FLAG, .offset = POLICY(pin.overrides_dlp)},
    {.name = "strip", .kind = ACOG_FIELD_FLAG, .offset = POLICY(pin.strip)},
};

static const struct field opt_out_fields[] = {
    {.name = "header", .kind = ACOG_FIELD_TOKEN, .offset = POLICY(refusal.opt_out_header)},
    {.name = "value", .kind = ACOG_FIELD_TEXT, .offset = POLICY(refusal.opt_out_value)},
};

static void read_opt_out(struct reader *reader, int index, void *target)
{
    struct acog_refusal *refusal = &((struct acog_policy *)target)->refusal;
    if (lua_type(reader->L, index) == LUA_TBOOLEAN && lua_toboolean(reader->L, index) == 0) {
        refusal->opt_out_header = refusal->opt_out_value = (struct acog_view){0};
        return;
    }
    reader_fields(reader, index, opt_out_fields, FIELD_COUNT_OF(opt_out_fields), target);
    if ((refusal->opt_out_header.len > 0) != (refusal->opt_out_value.len > 0)) {
        reader_error(reader, "needs both `header` and `value`");
    }
}

/* The note is written several times into the events of one answer. */
static void read_note(struct reader *reader, int index, void *target)
{
    struct acog_view *note = &((struct acog_policy *)target)->refusal.note;
    if (lua_type(reader->L, index) == LUA_TBOOLEAN && lua_toboolean(reader->L, index) == 0) {
        *note = (struct acog_view){0};
    } else if (reader_text(reader, index, note) && note->len > NOTE_BYTES_MAX) {
        reader_error(reader, "must have at most %d bytes", NOTE_BYTES_MAX);
    }
}

static const struct field refusal_fields[] = {
    {.name = "empty_200", .kind = ACOG_FIELD_FLAG, .offset = POLICY(refusal.empty_200)},
    {.name = "fallback_model", .kind = ACOG_FIELD_TEXT, .offset = POLICY(refusal.fallback_model)},
    {.name = "same_connection", .kind = ACOG_FIELD_FLAG, .offset = POLICY(refusal.same_connection)},
    {.name = "counts_as_attempt",
     .kind = ACOG_FIELD_FLAG,
     .offset = POLICY(refusal.counts_as_attempt)},
    {.name = "note", .kind = ACOG_FIELD_CUSTOM, .read = read_note},
    {.name = "opt_out", .kind = ACOG_FIELD_CUSTOM, .read = read_opt_out},
};

static const struct field close_fields[] = {
    {.name = "drain", .kind = ACOG_FIELD_SECONDS, .offset = POLICY(drain_ms), .max = SECONDS_MAX},
};

static const struct field arbitrage_fields[] = {
    {.name = "enabled", .kind = ACOG_FIELD_FLAG, .offset = POLICY(arbitrage)},
};

/* -- single fields ------------------------------------------------------------------------------------ */

static void read_bad_event(struct reader *reader, int index, void *target)
{
    int word = 0;
    if (reader_word(reader, index, &bad_events, &word)) {
        ((struct acog_policy *)target)->bad_event_drops = word == 1;
    }
}

static void read_channel_rank(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    int count = reader_list(reader, index, ACOG_CHANNEL_COUNT);
    unsigned seen = 0;
    for (int i = 1; i <= count; i++) {
        int channel = 0;
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(reader->L, index, i);
        if (reader_word(reader, -1, &channels, &channel)) {
            if ((seen & ACOG_BIT(channel)) != 0) {
                reader_error(reader, "stands twice in the list");
            }
            seen |= ACOG_BIT(channel);
            policy->channel_rank[channel] = (uint8_t)i;
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    for (int channel = 0; count >= 0 && channel < ACOG_CHANNEL_COUNT; channel++) {
        if ((seen & ACOG_BIT(channel)) == 0) {
            policy->channel_rank[channel] =
                ACOG_CHANNEL_COUNT + 1; /* behind those that are named */
        }
    }
}

/* A function (model, declared) -> list, or { by = function (declared, options) -> function, options … }. */
static void read_match(struct reader *reader, int index, void *target)
{
    struct compile *compile = compile_of(reader);
    (void)target;
    if (lua_type(reader->L, index) == LUA_TFUNCTION) {
        lua_pushvalue(reader->L, index);
        lua_replace(reader->L, compile->match);
        return;
    }
    if (lua_type(reader->L, index) != LUA_TTABLE) {
        reader_error(reader,
                     "must be { by = … }, such as { by = require(\"acog.version\").loose }, "
                     "or a function");
        return;
    }
    if (lua_getfield(reader->L, index, "by") != LUA_TFUNCTION) {
        reader_error(reader, "needs `by`, such as require(\"acog.version\").loose");
    } else {
        lua_pushvalue(reader->L, -1);
        lua_replace(reader->L, compile->match);
        lua_pushvalue(reader->L, index);
        lua_replace(reader->L, compile->match_options);
    }
    lua_pop(reader->L, 1);
}

static const struct field policy_fields[] = {
    {.name = "name", .kind = ACOG_FIELD_TEXT, .offset = POLICY(name)},
    {.name = "match", .kind = ACOG_FIELD_CUSTOM, .read = read_match},
    {.name = "access", .kind = ACOG_FIELD_CUSTOM, .read = compile_access},
    {.name = "dlp", .kind = ACOG_FIELD_CUSTOM, .read = compile_dlp},
    {.name = "endpoints", .kind = ACOG_FIELD_CUSTOM, .read = compile_dedicated},
    {.name = "aliases", .kind = ACOG_FIELD_CUSTOM, .read = compile_aliases},
    {.name = "send_id", .kind = ACOG_FIELD_WORD, .offset = POLICY(send_id), .words = &send_ids},
    {.name = "same_model_only", .kind = ACOG_FIELD_FLAG, .offset = POLICY(same_model_only)},
    {.name = "one_choice_only", .kind = ACOG_FIELD_FLAG, .offset = POLICY(one_choice_only)},
    {.name = "filters", .kind = ACOG_FIELD_CUSTOM, .read = compile_filters},
    {.name = "arbitrage",
     .kind = ACOG_FIELD_GROUP,
     .group = arbitrage_fields,
     .group_count = FIELD_COUNT_OF(arbitrage_fields)},
    {.name = "order", .kind = ACOG_FIELD_CUSTOM, .read = compile_order},
    {.name = "channel_rank", .kind = ACOG_FIELD_CUSTOM, .read = read_channel_rank},
    {.name = "spread", .kind = ACOG_FIELD_WORD, .offset = POLICY(spread), .words = &spreads},
    {.name = "classify", .kind = ACOG_FIELD_CUSTOM, .read = compile_classify},
    {.name = "classes", .kind = ACOG_FIELD_CUSTOM, .read = compile_classes},
    {.name = "attempts",
     .kind = ACOG_FIELD_GROUP,
     .group = attempt_fields,
     .group_count = FIELD_COUNT_OF(attempt_fields)},
    {.name = "backoff",
     .kind = ACOG_FIELD_GROUP,
     .group = backoff_fields,
     .group_count = FIELD_COUNT_OF(backoff_fields)},
    {.name = "clocks", .kind = ACOG_FIELD_CUSTOM, .read = compile_clocks},
    {.name = "last_floor",
     .kind = ACOG_FIELD_GROUP,
     .group = floor_fields,
     .group_count = FIELD_COUNT_OF(floor_fields)},
    {.name = "health",
     .kind = ACOG_FIELD_GROUP,
     .group = health_fields,
     .group_count = FIELD_COUNT_OF(health_fields)},
    {.name = "commit",
     .kind = ACOG_FIELD_GROUP,
     .group = commit_fields,
     .group_count = FIELD_COUNT_OF(commit_fields)},
    {.name = "pin",
     .kind = ACOG_FIELD_GROUP,
     .group = pin_fields,
     .group_count = FIELD_COUNT_OF(pin_fields)},
    {.name = "refusal",
     .kind = ACOG_FIELD_GROUP,
     .group = refusal_fields,
     .group_count = FIELD_COUNT_OF(refusal_fields)},
    {.name = "on_client_close",
     .kind = ACOG_FIELD_GROUP,
     .group = close_fields,
     .group_count = FIELD_COUNT_OF(close_fields)},
    {.name = "bad_event", .kind = ACOG_FIELD_CUSTOM, .read = read_bad_event},
    {.name = "response_headers", .kind = ACOG_FIELD_CUSTOM, .read = compile_response_headers},
    {.name = "errors", .kind = ACOG_FIELD_CUSTOM, .read = compile_errors},
    {.name = "error_body", .kind = ACOG_FIELD_CUSTOM, .read = compile_error_body},
    {.name = "stream_error", .kind = ACOG_FIELD_CUSTOM, .read = compile_stream_error},
};

const struct record policy_record = {"policy", policy_fields, FIELD_COUNT_OF(policy_fields)};

/* lua/acog.md, "What a policy does not say". */
static void set_defaults(struct acog_policy *policy)
{
    policy->match_slot = ACOG_NO_SLOT;
    policy->same_model_only = true;
    policy->filters[0] = (struct acog_filter){.kind = ACOG_FILTER_DECLARED,
                                              .name = acog_view_of("declared"),
                                              .slot = ACOG_NO_SLOT,
                                              .when_empty = ACOG_CONDITION_UNKNOWN_MODEL};
    policy->filters[1] = (struct acog_filter){.kind = ACOG_FILTER_DIALECT,
                                              .name = acog_view_of("dialect"),
                                              .slot = ACOG_NO_SLOT,
                                              .when_empty = ACOG_CONDITION_DIALECT};
    policy->filter_count = 2;
    for (int i = 0; i < ACOG_CHANNEL_COUNT; i++) {
        policy->channel_rank[i] = (uint8_t)(i + 1);
    }
    policy->attempts.resend_max = 1;
    policy->health.threshold = 5;
    policy->health.cooldown_ms = 30000;
    policy->health.factor = 1;
    policy->commit.stream = ACOG_COMMIT_FIRST_OUTPUT;
    policy->commit.whole = ACOG_COMMIT_ANSWER;
    policy->commit.outputs = ACOG_BIT(ACOG_OUTPUT_TEXT) | ACOG_BIT(ACOG_OUTPUT_REASONING) |
                             ACOG_BIT(ACOG_OUTPUT_TOOL) | ACOG_BIT(ACOG_OUTPUT_REFUSAL) |
                             ACOG_BIT(ACOG_OUTPUT_STOP);
    policy->commit.held_bytes_max = (size_t)256 * 1024;
    policy->refusal.same_connection = true;
    compile_default_answers(policy);
}

/* What follows from other fields of the same policy. */
static void complete(struct acog_policy *policy)
{
    if (policy->commit.started_on == 0) {
        policy->commit.started_on = policy->commit.outputs;
    }
    if (policy->health.cooldown_ms_max < policy->health.cooldown_ms) {
        policy->health.cooldown_ms_max = policy->health.cooldown_ms;
    }
    for (size_t i = 0; i < policy->filter_count; i++) {
        if (policy->filters[i].kind == ACOG_FILTER_DEFAULT_EXCLUSIVE) {
            policy->exclusive_default = true;
        }
    }
}

/* Groups that do nothing while the one field that switches them on is not there. */
static void check_switches(struct reader *reader, int index)
{
    static const struct {
        const char *group;
        const char *field;
    } switches[] = {{"backoff", "kind"}, {"health", "mode"}, {"last_floor", "to"}};

    lua_State *L = reader->L;
    int top = lua_gettop(L);
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        const struct acog_view *keys = NULL;
        if (lua_getfield(L, index, switches[i].group) == LUA_TTABLE &&
            lua_getfield(L, -1, switches[i].field) == LUA_TNIL) {
            lua_pop(L, 1);
            if (reader_keys(reader, lua_gettop(L), &keys) > 0) {
                reader_error(reader, "%s: needs %s: without it nothing else there has an effect",
                             switches[i].group, switches[i].field);
            }
        }
        lua_settop(L, top);
    }
}

void compile_policy(struct compile *compile, int index)
{
    struct reader *reader = &compile->reader;
    lua_State *L = reader->L;
    struct acog_policy *policy = &compile->snapshot->policy;
    struct acog_view name = {0};
    set_defaults(policy);
    compile->policy_place = reader_copy(reader, acog_view_of(acog_lua_place(L, index))).ptr;
    lua_getfield(L, index, "name");
    if (lua_type(L, -1) == LUA_TSTRING) {
        name.ptr = lua_tolstring(L, -1, &name.len);
    }
    reader_root(reader, compile->policy_place, "policy \"%.*s\"", ACOG_VIEW_FMT(name));
    lua_pop(L, 1);
    reader_fields(reader, index, policy_fields, FIELD_COUNT_OF(policy_fields), policy);
    check_switches(reader, index);
    if (policy->name.len == 0) {
        reader_error(reader, "needs a name");
    }
    if (lua_getfield(L, index, "classify") == LUA_TNIL) {
        reader_error(reader, "needs classify: which failure is of which class");
    }
    lua_pop(L, 1);
    complete(policy);
}
