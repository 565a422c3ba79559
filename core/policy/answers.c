/* answers.c - what a client is told: error answers, the end of a broken stream, response headers. */
#include "compile.h"
#include "frozen.h"

#include <stddef.h>
#include <string.h>

#define SECONDS_MAX 86400.0
#define HEADERS_MAX 32
#define FACTS_MAX   32

static const struct words conditions = WORDS_OF("a condition", CONDITION);
static const struct words dialects = WORDS_OF("a dialect", DIALECT);

static const char *const end_list[] = {"event", "event_and_done", "finish_error", "verbatim",
                                       "close"};
static const struct words ends = WORDS_IN("an end of a stream", end_list);

/* In the order of enum acog_header_fact. */
static const char *const fact_list[] = {
    "request_id",      "connection",      "channel",
    "served_by",       "upstream_model",  "resolved_model",
    "attempts",        "upstream_status", "dropped_params",
    "plan_id",         "error_class",     "error_origin",
    "limit_kind",      "policy_fallback", "fallback_reason",
    "first_output_ms", "retryable",       "dedicated_endpoint",
    "route_role",      "queue_ms",
};
static const struct words facts = WORDS_IN("a fact for a response header", fact_list);

_Static_assert(sizeof(fact_list) / sizeof(fact_list[0]) == ACOG_FACT_QUEUE_MS + 1,
               "a word for each fact");

static const char *const only_list[] = {"always", "differs", "error"};
static const struct words onlys = WORDS_IN("a condition of a header", only_list);

void compile_default_answers(struct acog_policy *policy)
{
#define ACOG_CONDITION(name, text, status_, code_, message_)         \
    policy->errors[ACOG_CONDITION_##name] = (struct acog_error_row){ \
        .status = (status_),                                         \
        .code = ACOG_VIEW(code_),                                    \
        .message = ACOG_VIEW(message_),                              \
        .retry_after_ms = -1,                                        \
    };
#include "acog/condition.def"
#undef ACOG_CONDITION
    for (int i = 0; i < ACOG_DIALECT_COUNT; i++) {
        policy->stream_errors[i] = (struct acog_stream_error){
            .on_event = ACOG_STREAM_END_EVENT,
            .on_lost = ACOG_STREAM_END_EVENT,
        };
    }
}

/* -- errors ----------------------------------------------------------------------------------------- */

static void read_retry_after(struct reader *reader, int index, void *target)
{
    struct acog_error_row *row = target;
    double seconds = 0;
    if (lua_type(reader->L, index) == LUA_TBOOLEAN && lua_toboolean(reader->L, index) == 0) {
        row->retry_after_ms = -1;
    } else if (reader_number(reader, index, 0, SECONDS_MAX, &seconds)) {
        row->retry_after_ms = (int64_t)(seconds * 1000.0 + 0.5);
    }
}

static void read_status(struct reader *reader, int index, void *target)
{
    int64_t status = 0;
    if (reader_integer(reader, index, 400, 599, &status)) {
        ((struct acog_error_row *)target)->status = (uint16_t)status;
    }
}

static void read_headers(struct reader *reader, int index, void *target)
{
    struct acog_error_row *row = target;
    const struct acog_view *keys = NULL;
    if (!reader_table(reader, index)) {
        return;
    }
    size_t count = reader_keys(reader, index, &keys);
    if (count > HEADERS_MAX) {
        reader_error(reader, "has more than the %d headers that are allowed", HEADERS_MAX);
        return;
    }
    struct acog_header_row *rows = reader_take(reader, (count + 1) * sizeof(*rows));
    for (size_t i = 0; i < count; i++) {
        size_t mark = reader_enter(reader, "[\"%.*s\"]", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(reader->L, keys[i].ptr, keys[i].len);
        (void)reader_token(reader, -1, &rows[i].name);
        lua_gettable(reader->L, index);
        (void)reader_text(reader, -1, &rows[i].value);
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    row->headers = rows;
    row->header_count = count;
}

#define ERROR(member) offsetof(struct acog_error_row, member)

static const struct field error_fields[] = {
    {.name = "status", .kind = ACOG_FIELD_CUSTOM, .read = read_status},
    {.name = "code", .kind = ACOG_FIELD_TEXT, .offset = ERROR(code)},
    {.name = "type", .kind = ACOG_FIELD_TEXT, .offset = ERROR(type)},
    {.name = "message", .kind = ACOG_FIELD_TEXT, .offset = ERROR(message)},
    {.name = "retry_after", .kind = ACOG_FIELD_CUSTOM, .read = read_retry_after},
    {.name = "use_last", .kind = ACOG_FIELD_FLAG, .offset = ERROR(use_last)},
    {.name = "headers", .kind = ACOG_FIELD_CUSTOM, .read = read_headers},
};

void compile_errors(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    const struct acog_view *keys = NULL;
    if (!reader_table(reader, index)) {
        return;
    }
    size_t count = reader_keys(reader, index, &keys);
    for (size_t i = 0; i < count; i++) {
        int condition = words_find(&conditions, keys[i]);
        if (condition < 0) {
            reader_unknown_word(reader, keys[i], &conditions);
            continue;
        }
        struct acog_error_row *row = &policy->errors[condition];
        size_t mark = reader_enter(reader, "%.*s", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(reader->L, keys[i].ptr, keys[i].len);
        lua_gettable(reader->L, index);
        reader_fields(reader, lua_gettop(reader->L), error_fields, FIELD_COUNT_OF(error_fields),
                      row);
        if (row->use_last && condition != ACOG_CONDITION_EXHAUSTED) {
            reader_warn(reader, "use_last has an effect on `exhausted` only");
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
}

/* -- the end of a broken stream --------------------------------------------------------------------- */

#define END(member) offsetof(struct acog_stream_error, member)

static const struct field end_fields[] = {
    {.name = "event", .kind = ACOG_FIELD_WORD, .offset = END(on_event), .words = &ends},
    {.name = "lost", .kind = ACOG_FIELD_WORD, .offset = END(on_lost), .words = &ends},
};

void compile_stream_error(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    const struct acog_view *keys = NULL;
    if (!reader_table(reader, index)) {
        return;
    }
    size_t count = reader_keys(reader, index, &keys);
    for (size_t i = 0; i < count; i++) {
        int dialect = words_find(&dialects, keys[i]);
        if (dialect < 0) {
            reader_unknown_word(reader, keys[i], &dialects);
            continue;
        }
        struct acog_stream_error *row = &policy->stream_errors[dialect];
        size_t mark = reader_enter(reader, "%.*s", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(reader->L, keys[i].ptr, keys[i].len);
        lua_gettable(reader->L, index);
        reader_fields(reader, lua_gettop(reader->L), end_fields, FIELD_COUNT_OF(end_fields), row);
        if (row->on_lost == ACOG_STREAM_END_VERBATIM) {
            reader_error(reader,
                         "lost: \"verbatim\" needs an event of the upstream, and there is none");
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
}

/* -- response headers ------------------------------------------------------------------------------- */

struct header_words {
    enum acog_header_fact fact;
    int only;
    bool has_fact;
};

static void read_fact(struct reader *reader, int index, void *target)
{
    struct header_words *words = target;
    int fact = 0;
    if (reader_word(reader, index, &facts, &fact)) {
        words->fact = (enum acog_header_fact)fact;
        words->has_fact = true;
    }
}

static const struct field header_fields[] = {
    {.name = "fact", .kind = ACOG_FIELD_CUSTOM, .read = read_fact},
    {.name = "only",
     .kind = ACOG_FIELD_WORD,
     .offset = offsetof(struct header_words, only),
     .words = &onlys},
};

const struct record answer_records[] = {
    {"error", error_fields, FIELD_COUNT_OF(error_fields)},
    {"stream_error", end_fields, FIELD_COUNT_OF(end_fields)},
    {"response_header", header_fields, FIELD_COUNT_OF(header_fields)},
    {NULL, NULL, 0},
};

/* "request_id", or { fact = "upstream_model", only = "differs" }. */
static bool read_header(struct reader *reader, int index, struct acog_response_header *header)
{
    struct header_words words = {0};
    if (lua_type(reader->L, index) == LUA_TTABLE) {
        reader_fields(reader, index, header_fields, FIELD_COUNT_OF(header_fields), &words);
    } else {
        read_fact(reader, index, &words);
    }
    header->fact = words.fact;
    header->only_when_differs = words.only == 1;
    header->only_on_error = words.only == 2;
    return words.has_fact;
}

void compile_response_headers(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    const struct acog_view *keys = NULL;
    lua_State *L = reader->L;
    if (!reader_table(reader, index)) {
        return;
    }
    size_t count = reader_keys(reader, index, &keys);
    if (count > FACTS_MAX) {
        reader_error(reader, "has more than the %d headers that are allowed", FACTS_MAX);
        return;
    }
    struct acog_response_header *rows = reader_take(reader, (count + 1) * sizeof(*rows));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t mark = reader_enter(reader, "[\"%.*s\"]", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(L, keys[i].ptr, keys[i].len);
        bool named = reader_token(reader, -1, &rows[used].name);
        lua_gettable(L, index);
        bool off = lua_type(L, -1) == LUA_TBOOLEAN && lua_toboolean(L, -1) == 0;
        if (!off && read_header(reader, lua_gettop(L), &rows[used]) && named) {
            used++;
        }
        lua_pop(L, 1);
        reader_leave(reader, mark);
    }
    policy->response_headers = rows;
    policy->response_header_count = used;
}
