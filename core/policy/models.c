/* models.c - the models that a connection declares: each becomes a candidate. */
#include "acog/utf8.h"
#include "compile.h"
#include "frozen.h"

#include <stddef.h>
#include <string.h>

#include <lauxlib.h>

#define PRICE_MAX   1000000.0
#define TOKENS_MAX  1000000000.0
#define ALIASES_MAX 64

bool compile_id_is_sane(struct acog_view id, size_t bytes_max)
{
    size_t at = 0;
    while (at < id.len) {
        unsigned char c = (unsigned char)id.ptr[at];
        size_t length = acog_utf8_length(acog_view_slice(id, at, id.len));
        if (c <= ' ' || c == 0x7f || length == 0) {
            return false;
        }
        at += length;
    }
    return id.len > 0 && id.len <= bytes_max;
}

struct model_words {
    struct acog_view send_id;
    double input;
    double output;
    bool reasoning;
    int64_t max_output_tokens;
    int64_t context;
};

#define MODEL(member) offsetof(struct model_words, member)

static const struct field model_fields[] = {
    {.name = "send_id", .kind = ACOG_FIELD_TEXT, .offset = MODEL(send_id)},
    {.name = "input", .kind = ACOG_FIELD_DOUBLE, .offset = MODEL(input), .max = PRICE_MAX},
    {.name = "output", .kind = ACOG_FIELD_DOUBLE, .offset = MODEL(output), .max = PRICE_MAX},
    {.name = "reasoning", .kind = ACOG_FIELD_FLAG, .offset = MODEL(reasoning)},
    {.name = "max_output_tokens",
     .kind = ACOG_FIELD_INTEGER64,
     .offset = MODEL(max_output_tokens),
     .min = 1,
     .max = TOKENS_MAX},
    {.name = "rules", .kind = ACOG_FIELD_CUSTOM, .read = compile_keep_rules},
    {.name = "context",
     .kind = ACOG_FIELD_INTEGER64,
     .offset = MODEL(context),
     .min = 1,
     .max = TOKENS_MAX},
};

static bool is_declared(const struct compile *compile, struct acog_view id)
{
    for (size_t i = compile->candidate_count; i > 0; i--) {
        const struct acog_candidate *candidate = &compile->candidates[i - 1];
        if (candidate->connection != compile->connection) {
            return false; /* those of one connection stand together */
        }
        if (acog_view_equal(candidate->declared, id)) {
            return true;
        }
    }
    return false;
}

static void grow_candidates(struct compile *compile)
{
    struct reader *reader = &compile->reader;
    size_t room = compile->candidate_room == 0 ? 32 : compile->candidate_room * 2;
    struct acog_candidate *candidates = reader_take(reader, room * sizeof(*candidates));
    int64_t *contexts = reader_take(reader, room * sizeof(*contexts));
    if (compile->candidate_count > 0) {
        memcpy(candidates, compile->candidates, compile->candidate_count * sizeof(*candidates));
        memcpy(contexts, compile->contexts, compile->candidate_count * sizeof(*contexts));
    }
    compile->candidates = candidates;
    compile->contexts = contexts;
    compile->candidate_room = room;
}

/* Adds a candidate; the model's words (a table or nil) are at `index`. */
static void add_model(struct reader *reader, struct acog_view id, int index)
{
    struct compile *compile = compile_of(reader);
    struct model_words words = {.input = -1, .output = -1, .max_output_tokens = -1, .context = -1};
    if (!compile_id_is_sane(id, MODEL_ID_BYTES_MAX)) {
        reader_error(reader, "an id of a model has 1 to %d bytes of UTF-8 and no spaces",
                     MODEL_ID_BYTES_MAX);
        return;
    }
    if (is_declared(compile, id)) {
        reader_error(reader, "is declared twice on this connection");
        return;
    }
    if (compile->candidate_count == CANDIDATES_MAX) {
        reader_error(reader, "is one model more than the %d of a configuration", CANDIDATES_MAX);
        return;
    }
    if (!lua_isnil(reader->L, index)) {
        reader_fields(reader, index, model_fields, FIELD_COUNT_OF(model_fields), &words);
    }
    if ((words.input < 0) != (words.output < 0)) {
        reader_error(reader, "a price has both `input` and `output`");
    }
    if (compile->candidate_count == compile->candidate_room) {
        grow_candidates(compile);
    }
    bool priced = words.input >= 0 && words.output >= 0;
    compile->contexts[compile->candidate_count] = words.context;
    compile->candidates[compile->candidate_count] = (struct acog_candidate){
        .connection = compile->connection,
        .declared = id,
        .send_id = words.send_id.len > 0 ? words.send_id : id,
        .reasoning = words.reasoning,
        .priced = priced,
        .input_price = priced ? words.input : 0,
        .output_price = priced ? words.output : 0,
        .max_output_tokens = words.max_output_tokens,
        .circuit_cell = ACOG_NO_CELL,
    };
    compile->candidate_count++;
}

static void read_listed_models(struct reader *reader, int table)
{
    lua_State *L = reader->L;
    lua_Integer count = (lua_Integer)lua_rawlen(L, table);
    for (lua_Integer i = 1; i <= count; i++) {
        struct acog_view id;
        size_t mark = reader_enter(reader, "[%d]", (int)i);
        lua_geti(L, table, i);
        if (reader_text(reader, -1, &id)) {
            reader_leave(reader, mark);
            mark = reader_enter(reader, "[\"%.*s\"]", ACOG_VIEW_FMT(id));
            lua_pushnil(L);
            add_model(reader, id, lua_gettop(L));
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
        reader_leave(reader, mark);
    }
}

/* Pushes a table with the named part of the one at `table`: what a list item is not. */
static void push_named_part(lua_State *L, int table)
{
    lua_newtable(L);
    int named = lua_gettop(L);
    lua_Unsigned count = lua_rawlen(L, table);
    lua_pushnil(L);
    while (lua_next(L, table) != 0) {
        bool item = lua_isinteger(L, -2) != 0 && lua_tointeger(L, -2) >= 1 &&
                    (lua_Unsigned)lua_tointeger(L, -2) <= count;
        if (!item) {
            lua_pushvalue(L, -2);
            lua_pushvalue(L, -2);
            lua_rawset(L, named);
        }
        lua_pop(L, 1);
    }
}

void compile_models(struct reader *reader, int index, void *connection)
{
    lua_State *L = reader->L;
    (void)connection;
    if (lua_type(L, index) != LUA_TTABLE) {
        reader_error(reader, "must be a list of ids such as { \"gpt-5-mini\" }, or a table "
                             "[id] = { … }");
        return;
    }
    acog_lua_thaw(L, index);
    int table = lua_gettop(L);
    read_listed_models(reader, table);
    push_named_part(L, table);
    int named = lua_gettop(L);
    const struct acog_view *keys = NULL;
    size_t count = reader_keys(reader, named, &keys);
    for (size_t i = 0; i < count; i++) {
        size_t mark = reader_enter(reader, "[\"%.*s\"]", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(L, keys[i].ptr, keys[i].len);
        lua_gettable(L, named);
        add_model(reader, keys[i], lua_gettop(L));
        lua_pop(L, 1);
        reader_leave(reader, mark);
    }
    lua_settop(L, table - 1);
}

/* Name -> model: other names that clients may ask by (S3.4). */
void compile_aliases(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    const struct acog_view *keys = NULL;
    if (!reader_table(reader, index)) {
        return;
    }
    size_t count = reader_keys(reader, index, &keys);
    if (count > ALIASES_MAX) {
        reader_error(reader, "has more than the %d names that are allowed", ALIASES_MAX);
        return;
    }
    struct acog_alias *aliases = reader_take(reader, (count + 1) * sizeof(*aliases));
    policy->alias_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct acog_alias *alias = &aliases[policy->alias_count];
        size_t mark = reader_enter(reader, "[\"%.*s\"]", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(reader->L, keys[i].ptr, keys[i].len);
        lua_gettable(reader->L, index);
        alias->name = keys[i];
        if (lua_type(reader->L, -1) == LUA_TBOOLEAN && lua_toboolean(reader->L, -1) == 0) {
            alias->model = (struct acog_view){0}; /* one of the base policy's, taken out */
        } else if (reader_text(reader, -1, &alias->model)) {
            if (compile_id_is_sane(alias->name, MODEL_ID_BYTES_MAX) &&
                compile_id_is_sane(alias->model, MODEL_ID_BYTES_MAX)) {
                policy->alias_count++;
            } else {
                reader_error(reader, "both are ids of models: 1 to %d bytes of UTF-8, no spaces",
                             MODEL_ID_BYTES_MAX);
            }
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    policy->aliases = aliases;
}

const struct record model_record = {"model", model_fields, FIELD_COUNT_OF(model_fields)};
