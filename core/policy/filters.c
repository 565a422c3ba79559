/* filters.c - which candidates are left, and in which order. */
#include "compile.h"
#include "frozen.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES_MAX 64

static const char *const filter_list[] = {
    "declared",          "dialect",   "reserved",     "access", "dlp",    "pin",
    "default_exclusive", "arbitrage", "unrestricted", "usable", "circuit"};
static const char *const order_list[] = {"catalogue",    "priority",     "reserved",
                                         "channel_rank", "price",        "spread_first",
                                         "spread",       "first_output", "demoted_last"};

static const struct words filters = WORDS_IN("a filter, nor a function", filter_list);
static const struct words orders = WORDS_IN("an order key, nor a function", order_list);
static const struct words conditions = WORDS_OF("a condition", CONDITION);

_Static_assert(sizeof(filter_list) / sizeof(filter_list[0]) == ACOG_FILTER_FUNCTION,
               "a word for each built-in filter");
_Static_assert(sizeof(order_list) / sizeof(order_list[0]) == ACOG_ORDER_FUNCTION,
               "a word for each built-in key");

/* What a client is told when a filter leaves nothing. */
static enum acog_condition condition_of(enum acog_filter_kind kind)
{
    switch (kind) {
    case ACOG_FILTER_DECLARED:
    case ACOG_FILTER_RESERVED: /* that there is capacity of others is no stranger's business */
        return ACOG_CONDITION_UNKNOWN_MODEL;
    case ACOG_FILTER_DIALECT:
        return ACOG_CONDITION_DIALECT;
    case ACOG_FILTER_ACCESS:
        return ACOG_CONDITION_ACCESS;
    case ACOG_FILTER_DLP:
        return ACOG_CONDITION_DLP;
    case ACOG_FILTER_PIN:
        return ACOG_CONDITION_PIN_UNMET;
    case ACOG_FILTER_USABLE:
        return ACOG_CONDITION_NOT_USABLE;
    case ACOG_FILTER_CIRCUIT:
        return ACOG_CONDITION_ALL_OPEN;
    case ACOG_FILTER_DEFAULT_EXCLUSIVE: /* these two leave something of what they are given */
    case ACOG_FILTER_ARBITRAGE:
    case ACOG_FILTER_UNRESTRICTED:
    case ACOG_FILTER_FUNCTION:
        break;
    }
    return ACOG_CONDITION_FILTERED;
}

struct filter_words {
    struct acog_view name;
    int when_empty;
};

static const struct field filter_fields[] = {
    {.name = "name", .kind = ACOG_FIELD_TEXT, .offset = offsetof(struct filter_words, name)},
    {.name = "keep", .kind = ACOG_FIELD_ELSEWHERE},
    {.name = "when_empty",
     .kind = ACOG_FIELD_WORD,
     .offset = offsetof(struct filter_words, when_empty),
     .words = &conditions},
};

const struct record filter_record = {"filter", filter_fields, FIELD_COUNT_OF(filter_fields)};

/* The function at `index` becomes a filter; `words` may name it. */
static void add_function(struct reader *reader, int index, const struct filter_words *words,
                         struct acog_filter *filter)
{
    char text[NAME_BYTES_MAX + 160];
    acog_lua_push_definition(reader->L, index);
    filter->place = reader_copy(reader, acog_view_of(lua_tostring(reader->L, -1)));
    lua_pop(reader->L, 1);
    filter->kind = ACOG_FILTER_FUNCTION;
    filter->name = words->name.len > 0 ? words->name : filter->place;
    filter->when_empty = (enum acog_condition)words->when_empty;
    (void)snprintf(text, sizeof(text), "filter \"%.*s\"", ACOG_VIEW_FMT(filter->name));
    filter->slot = compile_slot(compile_of(reader), index, ACOG_SLOT_FILTER, text);
}

static bool read_named_function(struct reader *reader, int index, struct filter_words *words,
                                struct acog_filter *filter)
{
    reader_fields(reader, index, filter_fields, FIELD_COUNT_OF(filter_fields), words);
    if (words->name.len == 0 || words->name.len > NAME_BYTES_MAX) {
        reader_error(reader, "needs a name of at most %d bytes", NAME_BYTES_MAX);
    }
    bool is_function = lua_getfield(reader->L, index, "keep") == LUA_TFUNCTION;
    if (is_function) {
        add_function(reader, lua_gettop(reader->L), words, filter);
    } else {
        reader_error(reader, "needs keep = function(request, candidate) … end");
    }
    lua_pop(reader->L, 1);
    return is_function;
}

static bool read_filter(struct reader *reader, int index, struct acog_filter *filter)
{
    struct filter_words words = {.when_empty = ACOG_CONDITION_FILTERED};
    int kind = 0;
    *filter = (struct acog_filter){.slot = ACOG_NO_SLOT};
    if (lua_type(reader->L, index) == LUA_TFUNCTION) {
        add_function(reader, index, &words, filter);
        return true;
    }
    if (lua_type(reader->L, index) == LUA_TTABLE) {
        return read_named_function(reader, index, &words, filter);
    }
    if (!reader_word(reader, index, &filters, &kind)) {
        return false;
    }
    filter->kind = (enum acog_filter_kind)kind;
    filter->name = acog_view_of(filter_list[kind]);
    filter->when_empty = condition_of(filter->kind);
    return true;
}

static void check_filter(struct reader *reader, const struct acog_policy *policy)
{
    const struct acog_filter *added = &policy->filters[policy->filter_count - 1];
    if ((policy->filter_count == 1) != (added->kind == ACOG_FILTER_DECLARED)) {
        reader_error(reader, "\"declared\" is the first filter, once");
    }
    for (size_t i = 0; i + 1 < policy->filter_count; i++) {
        if (acog_view_equal(policy->filters[i].name, added->name)) {
            reader_error(reader, "\"%.*s\" stands twice in the list", ACOG_VIEW_FMT(added->name));
            return;
        }
    }
}

void compile_filters(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    int count = reader_list(reader, index, ACOG_FILTERS_MAX);
    if (count < 0) {
        return;
    }
    policy->filter_count = 0;
    for (int i = 1; i <= count; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(reader->L, index, i);
        if (read_filter(reader, lua_gettop(reader->L), &policy->filters[policy->filter_count])) {
            policy->filter_count++;
            check_filter(reader, policy);
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    if (count == 0) {
        reader_error(reader, "must begin with \"declared\"");
    }
}

void compile_order(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    int count = reader_list(reader, index, ACOG_ORDER_KEYS_MAX);
    if (count < 0) {
        return;
    }
    policy->order_count = 0;
    for (int i = 1; i <= count; i++) {
        struct acog_order_key *key = &policy->order[policy->order_count];
        int kind = (int)ACOG_ORDER_FUNCTION;
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(reader->L, index, i);
        *key = (struct acog_order_key){.slot = ACOG_NO_SLOT};
        bool known = lua_type(reader->L, -1) == LUA_TFUNCTION;
        if (known) {
            key->slot = compile_slot(compile_of(reader), lua_gettop(reader->L), ACOG_SLOT_ORDER,
                                     reader->path);
        } else {
            known = reader_word(reader, -1, &orders, &kind);
        }
        key->kind = (enum acog_order_kind)kind;
        policy->order_count += known ? 1 : 0;
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
}
