/* model_rules.c - what a translation asks of each candidate's model: what acog.model knows of its id, and over it the
 * `rules` that the configuration gives.
 */
#include "compile.h"
#include "frozen.h"
#include "sandbox.h"

#include <stddef.h>

#include <lauxlib.h>

#define OUTPUT_TOKENS_MAX 1000000000.0
#define TEMPERATURE_MAX   10.0

static const struct words efforts = WORDS_OF("an effort", EFFORT);

static const char *const schema_list[] = {
    [ACOG_SCHEMA_NATIVE] = "native",
    [ACOG_SCHEMA_TOOL] = "tool",
    [ACOG_SCHEMA_NONE] = "none",
};
static const struct words schemas = WORDS_IN("a way to hold a model to a schema", schema_list);

static const char *const thinking_list[] = {
    [ACOG_THINKING_NONE] = "none",
    [ACOG_THINKING_BUDGET] = "budget",
    [ACOG_THINKING_ADAPTIVE] = "adaptive",
    [ACOG_THINKING_EFFORT] = "effort",
};
static const struct words thinkings = WORDS_IN("a way to make a model think", thinking_list);

#define RULE(member) offsetof(struct acog_model_rules, member)

static const struct field rule_fields[] = {
    {.name = "temperature", .kind = ACOG_FIELD_FLAG, .offset = RULE(temperature)},
    {.name = "temperature_max",
     .kind = ACOG_FIELD_DOUBLE,
     .offset = RULE(temperature_max),
     .max = TEMPERATURE_MAX},
    {.name = "top_k", .kind = ACOG_FIELD_FLAG, .offset = RULE(top_k)},
    {.name = "penalties", .kind = ACOG_FIELD_FLAG, .offset = RULE(penalties)},
    {.name = "stop", .kind = ACOG_FIELD_FLAG, .offset = RULE(stop)},
    {.name = "max_completion_tokens",
     .kind = ACOG_FIELD_FLAG,
     .offset = RULE(max_completion_tokens)},
    {.name = "system_anywhere", .kind = ACOG_FIELD_FLAG, .offset = RULE(system_anywhere)},
    {.name = "forced_tool", .kind = ACOG_FIELD_FLAG, .offset = RULE(forced_tool)},
    {.name = "prefill", .kind = ACOG_FIELD_FLAG, .offset = RULE(prefill)},
    {.name = "drop_server_tools", .kind = ACOG_FIELD_FLAG, .offset = RULE(drop_server_tools)},
    {.name = "schema", .kind = ACOG_FIELD_WORD, .offset = RULE(schema), .words = &schemas},
    {.name = "thinking", .kind = ACOG_FIELD_WORD, .offset = RULE(thinking), .words = &thinkings},
    {.name = "efforts", .kind = ACOG_FIELD_WORDS, .offset = RULE(efforts), .words = &efforts},
    {.name = "default_output_tokens",
     .kind = ACOG_FIELD_INTEGER64,
     .offset = RULE(default_output_tokens),
     .min = 1,
     .max = OUTPUT_TOKENS_MAX},
    {.name = "largest_output_tokens",
     .kind = ACOG_FIELD_INTEGER64,
     .offset = RULE(largest_output_tokens),
     .min = 1,
     .max = OUTPUT_TOKENS_MAX},
};

/* Pushes what acog.model says of the id; false with a finding and nothing pushed. */
static bool push_known(struct reader *reader, struct acog_view id)
{
    lua_State *L = reader->L;
    struct acog_error error;
    int top = lua_gettop(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_getfield(L, -1, "require");
    lua_pushliteral(L, "acog.model");
    if (acog_lua_call(L, 1, 1, CALL_INSTRUCTIONS, &error) == ACOG_OK) {
        lua_getfield(L, -1, "rules");
        lua_pushlstring(L, id.ptr, id.len);
        if (acog_lua_call(L, 1, 1, CALL_INSTRUCTIONS, &error) == ACOG_OK) {
            lua_replace(L, top + 1);
            lua_settop(L, top + 1);
            return true;
        }
    }
    reader_error(reader, "acog.model: %s", error.text);
    lua_settop(L, top);
    return false;
}

/* By the dialect that a request of another one is translated to. */
static struct acog_model_rules defaults(unsigned dialects)
{
    static const enum acog_surface surfaces[] = {ACOG_SURFACE_CHAT, ACOG_SURFACE_MESSAGES,
                                                 ACOG_SURFACE_RESPONSES};

    for (size_t i = 0; i < FIELD_COUNT_OF(surfaces); i++) {
        enum acog_dialect dialect = acog_dialect_for(surfaces[i], dialects);
        if (dialect != ACOG_DIALECT_COUNT && dialect != acog_surface_dialect(surfaces[i])) {
            return acog_model_rules_default(dialect);
        }
    }
    return acog_model_rules_default(ACOG_DIALECT_CHAT); /* nobody asks */
}

void compile_keep_rules(struct reader *reader, int index, void *target)
{
    struct compile *compile = compile_of(reader);
    (void)target;
    if (reader_table(reader, index)) {
        lua_pushvalue(reader->L, index);
        lua_rawseti(reader->L, compile->rules, (lua_Integer)compile->candidate_count + 1);
    }
}

void compile_model_rules(struct compile *compile, size_t first)
{
    struct reader *reader = &compile->reader;
    lua_State *L = reader->L;
    unsigned dialects = compile->connections[compile->connection].dialects;
    for (size_t i = first; i < compile->candidate_count; i++) {
        struct acog_candidate *candidate = &compile->candidates[i];
        size_t mark =
            reader_enter(reader, "models[\"%.*s\"].rules", ACOG_VIEW_FMT(candidate->declared));
        candidate->rules = defaults(dialects);
        if (push_known(reader, candidate->declared)) {
            reader_fields(reader, lua_gettop(L), rule_fields, FIELD_COUNT_OF(rule_fields),
                          &candidate->rules);
            lua_pop(L, 1);
        }
        if (candidate->max_output_tokens > 0) {
            candidate->rules.largest_output_tokens = candidate->max_output_tokens;
        }
        if (lua_rawgeti(L, compile->rules, (lua_Integer)i + 1) == LUA_TTABLE) {
            reader_fields(reader, lua_gettop(L), rule_fields, FIELD_COUNT_OF(rule_fields),
                          &candidate->rules);
        }
        lua_pop(L, 1);
        reader_leave(reader, mark);
    }
}

const struct record model_rules_record = {"rules", rule_fields, FIELD_COUNT_OF(rule_fields)};
