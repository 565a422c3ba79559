/* clocks.c - clocks = { connect = 10, headers = { { stream = true, base = 60 }, … } }.
 *
 * Under the name of each clock stands a number of seconds, one row, or a list of rows; `false` turns it off.
 */
#include "compile.h"
#include "frozen.h"

#include <stddef.h>
#include <string.h>

#define ROWS_MAX    64
#define SECONDS_MAX 86400.0
#define TOKENS_MAX  1000000000.0
#define MOMENT      0.001

static const struct words surfaces = WORDS_OF("a surface", SURFACE);
static const struct words clocks = WORDS_OF("a clock", CLOCK);

struct clock_list {
    struct acog_clock_row *rows;
    size_t count;
};

static void read_stream(struct reader *reader, int index, void *target)
{
    struct acog_clock_row *row = target;
    bool stream = false;
    if (reader_flag(reader, index, &stream)) {
        row->stream = stream;
        row->whole = !stream;
    }
}

#define ROW(member) offsetof(struct acog_clock_row, member)

static const struct field row_fields[] = {
    {.name = "stream", .kind = ACOG_FIELD_CUSTOM, .read = read_stream},
    {.name = "surfaces", .kind = ACOG_FIELD_WORDS, .offset = ROW(surfaces), .words = &surfaces},
    {.name = "reasoning", .kind = ACOG_FIELD_FLAG, .offset = ROW(reasoning_only)},
    {.name = "slow", .kind = ACOG_FIELD_FLAG, .offset = ROW(slow_only)},
    {.name = "extra_try", .kind = ACOG_FIELD_FLAG, .offset = ROW(extra_try)},
    {.name = "base",
     .kind = ACOG_FIELD_SECONDS,
     .offset = ROW(formula.base_ms),
     .min = MOMENT,
     .max = SECONDS_MAX},
    {.name = "per",
     .kind = ACOG_FIELD_INTEGER64,
     .offset = ROW(formula.per_tokens),
     .min = 1,
     .max = TOKENS_MAX},
    {.name = "add",
     .kind = ACOG_FIELD_SECONDS,
     .offset = ROW(formula.add_ms),
     .min = MOMENT,
     .max = SECONDS_MAX},
    {.name = "cap",
     .kind = ACOG_FIELD_SECONDS,
     .offset = ROW(formula.cap_ms),
     .min = MOMENT,
     .max = SECONDS_MAX},
};

const struct record clock_record = {"clock", row_fields, FIELD_COUNT_OF(row_fields)};

static void check_formula(struct reader *reader, const struct acog_formula *formula)
{
    if (formula->base_ms == 0) {
        reader_error(reader, "needs base: its seconds");
    }
    if ((formula->per_tokens > 0) != (formula->add_ms > 0)) {
        reader_error(reader, "per (tokens) and add (seconds) belong together");
    }
    if (formula->cap_ms > 0 && formula->cap_ms < formula->base_ms) {
        reader_error(reader, "cap is below base");
    }
    if (formula->per_tokens > 0 && formula->cap_ms == 0) {
        reader_error(reader, "needs cap: what holds when no number of tokens is known");
    }
}

static void read_row(struct reader *reader, int index, enum acog_clock clock,
                     struct clock_list *list)
{
    if (list->count == ROWS_MAX) {
        reader_error(reader, "is one row more than the %d that are allowed", ROWS_MAX);
        return;
    }
    struct acog_clock_row *row = &list->rows[list->count];
    *row = (struct acog_clock_row){.clock = clock, .stream = true, .whole = true};
    if (lua_type(reader->L, index) == LUA_TNUMBER) {
        double seconds = 0;
        if (reader_number(reader, index, MOMENT, SECONDS_MAX, &seconds)) {
            row->formula.base_ms = (int64_t)(seconds * 1000.0 + 0.5);
            list->count++;
        }
        return;
    }
    if (lua_type(reader->L, index) != LUA_TTABLE) {
        reader_error(reader, "must be a number of seconds, a row such as { base = 10 }, a list of "
                             "rows, or false");
        return;
    }
    size_t before = reader->report->errors;
    reader_fields(reader, index, row_fields, FIELD_COUNT_OF(row_fields), row);
    if (reader->report->errors == before) {
        check_formula(reader, &row->formula);
    }
    list->count++;
}

static void read_clock(struct reader *reader, int index, enum acog_clock clock,
                       struct clock_list *list)
{
    lua_State *L = reader->L;
    if (lua_type(L, index) == LUA_TBOOLEAN && lua_toboolean(L, index) == 0) {
        return;
    }
    if (lua_type(L, index) != LUA_TTABLE) {
        read_row(reader, index, clock, list);
        return;
    }
    bool is_list = lua_geti(L, index, 1) != LUA_TNIL;
    lua_pop(L, 1);
    if (!is_list) {
        read_row(reader, index, clock, list);
        return;
    }
    int count = reader_list(reader, index, ROWS_MAX);
    for (int i = 1; i <= count; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(L, index, i);
        read_row(reader, lua_gettop(L), clock, list);
        lua_pop(L, 1);
        reader_leave(reader, mark);
    }
}

void compile_clocks(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    const struct acog_view *keys = NULL;
    if (!reader_table(reader, index)) {
        return;
    }
    struct clock_list list = {.rows = reader_take(reader, ROWS_MAX * sizeof(*list.rows))};
    size_t count = reader_keys(reader, index, &keys);
    for (size_t i = 0; i < count; i++) {
        int clock = words_find(&clocks, keys[i]);
        if (clock < 0) {
            reader_unknown_word(reader, keys[i], &clocks);
            continue;
        }
        size_t mark = reader_enter(reader, "%.*s", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(reader->L, keys[i].ptr, keys[i].len);
        lua_gettable(reader->L, index);
        read_clock(reader, lua_gettop(reader->L), (enum acog_clock)clock, &list);
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    policy->clocks = list.rows;
    policy->clock_count = list.count;
}
