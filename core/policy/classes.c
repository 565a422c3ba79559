/* classes.c - which failure is of which class (classify), and what follows from a class (classes). */
#include "compile.h"
#include "frozen.h"

#include <stddef.h>
#include <string.h>

#define ROWS_MAX       256
#define STATUSES_MAX   32 /* in one row */
#define SECONDS_MAX    86400.0
#define SAME_MAX       16
#define RETRY_UPSTREAM ((int64_t)-2)

static const struct words classes = WORDS_OF("a class of failures", CLASS);
static const struct words causes = WORDS_OF("a cause", CAUSE);
static const struct words clocks = WORDS_OF("a clock", CLOCK);
static const struct words shapes = WORDS_OF("a shape", SHAPE);

static const char *const move_list[] = {"no", "next", "restricted", "fallback_model"};
static const char *const same_list[] = {"never", "if_sole", "first"};
static const char *const pause_list[] = {"always", "same", "never"};
static const char *const charge_list[] = {"none", "one", "trip", "success", "ignore"};
static const char *const uptime_list[] = {"count", "skip"};
static const char *const relay_list[] = {"own", "message", "verbatim"};

static const struct words moves = WORDS_IN("a move", move_list);
static const struct words sames = WORDS_IN("a rule for the same candidate", same_list);
static const struct words pauses = WORDS_IN("a rule for the backoff", pause_list);
static const struct words charges = WORDS_IN("a charge", charge_list);
static const struct words uptimes = WORDS_IN("a rule for uptime", uptime_list);
static const struct words relays = WORDS_IN("a way to relay", relay_list);

/* -- classify --------------------------------------------------------------------------------------- */

struct status_range {
    uint16_t from;
    uint16_t to;
};

struct classify_words {
    struct acog_classify_row row;
    struct status_range statuses[STATUSES_MAX];
    int status_count;
    int class; /* -1: none */
};

/* 429, or "5xx". */
static bool read_status(struct reader *reader, int index, struct status_range *range)
{
    int64_t status = 0;
    if (lua_type(reader->L, index) == LUA_TSTRING) {
        struct acog_view text;
        (void)reader_peek(reader, index, &text);
        if (text.len == 3 && text.ptr[0] >= '1' && text.ptr[0] <= '5' && text.ptr[1] == 'x' &&
            text.ptr[2] == 'x') {
            range->from = (uint16_t)((text.ptr[0] - '0') * 100);
            range->to = (uint16_t)(range->from + 99);
            return true;
        }
        reader_error(reader, "must be a status such as 429, or \"4xx\", \"5xx\"");
        return false;
    }
    if (!reader_integer(reader, index, 100, 599, &status)) {
        return false;
    }
    *range = (struct status_range){.from = (uint16_t)status, .to = (uint16_t)status};
    return true;
}

static void read_statuses(struct reader *reader, int index, void *target)
{
    struct classify_words *words = target;
    if (lua_type(reader->L, index) != LUA_TTABLE) {
        words->status_count = read_status(reader, index, &words->statuses[0]) ? 1 : 0;
        return;
    }
    int count = reader_list(reader, index, STATUSES_MAX);
    for (int i = 1; i <= count; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(reader->L, index, i);
        if (read_status(reader, lua_gettop(reader->L), &words->statuses[words->status_count])) {
            words->status_count++;
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
}

#define ROW(member) offsetof(struct classify_words, member)

static const struct field classify_fields[] = {
    {.name = "cause", .kind = ACOG_FIELD_WORDS, .offset = ROW(row.causes), .words = &causes},
    {.name = "clock", .kind = ACOG_FIELD_WORDS, .offset = ROW(row.clocks), .words = &clocks},
    {.name = "status", .kind = ACOG_FIELD_CUSTOM, .read = read_statuses},
    {.name = "shape", .kind = ACOG_FIELD_WORDS, .offset = ROW(row.shapes), .words = &shapes},
    {.name = "before_output", .kind = ACOG_FIELD_FLAG, .offset = ROW(row.before_output_only)},
    {.name = "class", .kind = ACOG_FIELD_WORD, .offset = ROW(class), .words = &classes},
};

/* Whether everything that fits `later` fits `earlier` too. */
static bool covers(const struct acog_classify_row *earlier, const struct acog_classify_row *later)
{
    bool cause =
        earlier->causes == 0 || (later->causes != 0 && (later->causes & ~earlier->causes) == 0);
    bool clock =
        earlier->clocks == 0 || (later->clocks != 0 && (later->clocks & ~earlier->clocks) == 0);
    bool shape =
        earlier->shapes == 0 || (later->shapes != 0 && (later->shapes & ~earlier->shapes) == 0);
    bool status = earlier->status_from == 0 || (later->status_from >= earlier->status_from &&
                                                later->status_to <= earlier->status_to);
    return cause && clock && shape && status &&
           (!earlier->before_output_only || later->before_output_only);
}

static void warn_of_shadow(struct reader *reader, const struct acog_classify_row *rows,
                           size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        if (covers(&rows[i], &rows[count - 1])) {
            reader_warn(reader, "has no effect: a row before it takes all that it could fit");
            return;
        }
    }
}

static void read_classify_row(struct reader *reader, int index, struct acog_classify_row *rows,
                              size_t *count)
{
    struct classify_words words = {.class = -1};
    size_t errors = reader->report->errors;
    reader_fields(reader, index, classify_fields, FIELD_COUNT_OF(classify_fields), &words);
    if (words.class < 0) {
        if (reader->report->errors == errors) {
            reader_error(reader, "needs class");
        }
        return;
    }
    if (words.row.clocks != 0 && words.row.causes == 0) {
        words.row.causes = ACOG_BIT(ACOG_CAUSE_CLOCK);
    }
    if (words.status_count > 0 && words.row.causes == 0) {
        words.row.causes = ACOG_BIT(ACOG_CAUSE_STATUS);
    }
    words.row.class = (enum acog_failure_class)words.class;
    for (int i = 0; i == 0 || i < words.status_count; i++) {
        if (*count == ROWS_MAX) {
            reader_error(reader, "is one row more than the %d that are allowed", ROWS_MAX);
            return;
        }
        words.row.status_from = words.statuses[i].from;
        words.row.status_to = words.statuses[i].to;
        rows[*count] = words.row;
        (*count)++;
        warn_of_shadow(reader, rows, *count);
    }
}

void compile_classify(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    int items = reader_list(reader, index, ROWS_MAX);
    struct acog_classify_row *rows = reader_take(reader, ROWS_MAX * sizeof(*rows));
    size_t count = 0;
    for (int i = 1; i <= items; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(reader->L, index, i);
        read_classify_row(reader, lua_gettop(reader->L), rows, &count);
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    policy->classify = rows;
    policy->classify_count = count;
}

/* -- classes ---------------------------------------------------------------------------------------- */

/* 0, 1 or a word. */
static void read_charge(struct reader *reader, int index, void *target)
{
    struct acog_class_row *row = target;
    int word = 0;
    int64_t number = 0;
    if (lua_type(reader->L, index) == LUA_TNUMBER) {
        if (reader_integer(reader, index, 0, 1, &number)) {
            row->charge = number == 0 ? ACOG_CHARGE_NONE : ACOG_CHARGE_ONE;
        }
    } else if (reader_word(reader, index, &charges, &word)) {
        row->charge = (enum acog_charge)word;
    }
}

static void read_uptime(struct reader *reader, int index, void *target)
{
    int word = 0;
    if (reader_word(reader, index, &uptimes, &word)) {
        ((struct acog_class_row *)target)->uptime_skip = word == 1;
    }
}

/* Whether the value is the word "upstream": told as it came. */
static bool is_upstream(struct reader *reader, int index)
{
    struct acog_view text = {0};
    if (lua_type(reader->L, index) == LUA_TSTRING) {
        (void)reader_peek(reader, index, &text);
    }
    return acog_view_equal(text, ACOG_VIEW("upstream"));
}

static void read_client_status(struct reader *reader, int index, void *target)
{
    struct acog_class_row *row = target;
    int64_t status = 0;
    if (is_upstream(reader, index)) {
        row->status = 0;
    } else if (reader_integer(reader, index, 400, 599, &status)) {
        row->status = (uint16_t)status;
    }
}

static void read_retry_after(struct reader *reader, int index, void *target)
{
    struct acog_class_row *row = target;
    double seconds = 0;
    if (is_upstream(reader, index)) {
        row->retry_after_ms = RETRY_UPSTREAM;
    } else if (lua_type(reader->L, index) == LUA_TBOOLEAN && lua_toboolean(reader->L, index) == 0) {
        row->retry_after_ms = -1;
    } else if (reader_number(reader, index, 0, SECONDS_MAX, &seconds)) {
        row->retry_after_ms = (int64_t)(seconds * 1000.0 + 0.5);
    }
}

#define CLASS(member) offsetof(struct acog_class_row, member)

static const struct field pool_fields[] = {
    {.name = "min", .kind = ACOG_FIELD_SECONDS, .offset = CLASS(pool_ms_min), .max = SECONDS_MAX},
    {.name = "max", .kind = ACOG_FIELD_SECONDS, .offset = CLASS(pool_ms_max), .max = SECONDS_MAX},
};

static void read_pool(struct reader *reader, int index, void *target)
{
    struct acog_class_row *row = target;
    reader_fields(reader, index, pool_fields, FIELD_COUNT_OF(pool_fields), target);
    if (row->pool_ms_max < row->pool_ms_min || row->pool_ms_max == 0) {
        reader_error(reader, "needs max, which is not below min");
    }
}

static const struct field class_fields[] = {
    {.name = "move", .kind = ACOG_FIELD_WORD, .offset = CLASS(move), .words = &moves},
    {.name = "same", .kind = ACOG_FIELD_WORD, .offset = CLASS(same), .words = &sames},
    {.name = "same_max",
     .kind = ACOG_FIELD_COUNT,
     .offset = CLASS(same_max),
     .min = 1,
     .max = SAME_MAX},
    {.name = "backoff", .kind = ACOG_FIELD_WORD, .offset = CLASS(pause), .words = &pauses},
    {.name = "charge", .kind = ACOG_FIELD_CUSTOM, .read = read_charge},
    {.name = "uptime", .kind = ACOG_FIELD_CUSTOM, .read = read_uptime},
    {.name = "retryable", .kind = ACOG_FIELD_FLAG, .offset = CLASS(retryable)},
    {.name = "by_time", .kind = ACOG_FIELD_FLAG, .offset = CLASS(by_time)},
    {.name = "relay", .kind = ACOG_FIELD_WORD, .offset = CLASS(relay), .words = &relays},
    {.name = "export", .kind = ACOG_FIELD_TEXT, .offset = CLASS(export_name)},
    {.name = "type", .kind = ACOG_FIELD_TEXT, .offset = CLASS(type)},
    {.name = "message", .kind = ACOG_FIELD_TEXT, .offset = CLASS(message)},
    {.name = "status", .kind = ACOG_FIELD_CUSTOM, .read = read_client_status},
    {.name = "retry_after", .kind = ACOG_FIELD_CUSTOM, .read = read_retry_after},
    {.name = "retry_after_max",
     .kind = ACOG_FIELD_SECONDS,
     .offset = CLASS(retry_after_ms_max),
     .max = SECONDS_MAX},
    {.name = "takeover", .kind = ACOG_FIELD_TEXT, .offset = CLASS(takeover)},
    {.name = "pool", .kind = ACOG_FIELD_CUSTOM, .read = read_pool},
};

const struct record class_records[] = {
    {"classify", classify_fields, FIELD_COUNT_OF(classify_fields)},
    {"class", class_fields, FIELD_COUNT_OF(class_fields)},
    {NULL, NULL, 0},
};

static void read_class(struct reader *reader, int index, int class, struct acog_class_row *row)
{
    *row = (struct acog_class_row){
        .declared = true,
        .export_name = acog_name(ACOG_VOCABULARY_CLASS, class),
        .retry_after_ms = -1,
        .retry_after_ms_max = 60000,
    };
    reader_fields(reader, index, class_fields, FIELD_COUNT_OF(class_fields), row);
    if (row->same != ACOG_SAME_NEVER && row->move != ACOG_MOVE_NEXT) {
        reader_warn(reader, "same has no effect without move = \"next\"");
    }
    if ((row->same == ACOG_SAME_FIRST) != (row->same_max > 0)) {
        reader_error(reader, "same = \"first\" and same_max belong together");
    }
}

void compile_classes(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    const struct acog_view *keys = NULL;
    lua_State *L = reader->L;
    if (!reader_table(reader, index)) {
        return;
    }
    size_t count = reader_keys(reader, index, &keys);
    for (size_t i = 0; i < count; i++) {
        int class = words_find(&classes, keys[i]);
        if (class < 0) {
            reader_unknown_word(reader, keys[i], &classes);
            continue;
        }
        size_t mark = reader_enter(reader, "%.*s", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(L, keys[i].ptr, keys[i].len);
        lua_gettable(L, index);
        bool off = lua_type(L, -1) == LUA_TBOOLEAN && lua_toboolean(L, -1) == 0;
        if (!off) {
            read_class(reader, lua_gettop(L), class, &policy->classes[class]);
        }
        lua_pop(L, 1);
        reader_leave(reader, mark);
    }
}
