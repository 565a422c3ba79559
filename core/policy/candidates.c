/* candidates.c - the policy's `match` over what is declared; circuits by the policy's key; the list of models. */
#include "compile.h"
#include "frozen.h"
#include "match.h"
#include "sandbox.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#define CELL_NAME_MAX ACOG_SHARED_CELL_NAME_MAX

/* -- match ------------------------------------------------------------------------------------------ */

static void push_text(lua_State *L, struct acog_view text)
{
    lua_pushlstring(L, text.ptr == NULL ? "" : text.ptr, text.len);
}

/* Pushes the list of declared entries: { id =, connection =, channel =, maker = }. */
static void push_declared(struct compile *compile)
{
    lua_State *L = compile->reader.L;
    lua_createtable(L, (int)compile->candidate_count, 0);
    for (size_t i = 0; i < compile->candidate_count; i++) {
        const struct acog_candidate *candidate = &compile->candidates[i];
        const struct acog_connection *connection = &compile->connections[candidate->connection];
        lua_createtable(L, 0, 5);
        push_text(L, candidate->declared);
        lua_setfield(L, -2, "id");
        push_text(L, connection->id);
        lua_setfield(L, -2, "connection");
        push_text(L, acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel));
        lua_setfield(L, -2, "channel");
        if (connection->maker.len > 0) {
            push_text(L, connection->maker);
            lua_setfield(L, -2, "maker");
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* Without `match` in the policy an id reaches its equals. */
static void push_default_match(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_getfield(L, -1, "require");
    lua_pushliteral(L, "acog.version");
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
        lua_error(L);
    }
    lua_getfield(L, -1, "exact");
    lua_replace(L, -3);
    lua_pop(L, 1);
}

/* What the matcher read from each id comes back in the entries. */
static void take_readings(struct compile *compile, int declared)
{
    struct reader *reader = &compile->reader;
    lua_State *L = reader->L;
    int top = lua_gettop(L);
    for (size_t i = 0; i < compile->candidate_count; i++) {
        struct acog_candidate *candidate = &compile->candidates[i];
        candidate->family = candidate->declared;
        candidate->maker = compile->connections[candidate->connection].maker;
        lua_rawgeti(L, declared, (lua_Integer)i + 1);
        if (lua_getfield(L, -1, "family") == LUA_TSTRING) {
            (void)reader_text(reader, -1, &candidate->family);
        }
        lua_pop(L, 1);
        if (candidate->maker.len == 0 && lua_getfield(L, -1, "maker") == LUA_TSTRING) {
            (void)reader_text(reader, -1, &candidate->maker);
        }
        lua_settop(L, top);
    }
}

/* Pushes the function that finds, made of the list at `declared`. False with a finding and nothing pushed. */
static bool push_find(struct compile *compile, int declared)
{
    struct reader *reader = &compile->reader;
    lua_State *L = reader->L;
    struct acog_error error;
    if (lua_isfunction(L, compile->match) && lua_isnil(L, compile->match_options)) {
        lua_pushvalue(L, compile->match);
        return true;
    }
    if (lua_isnil(L, compile->match)) {
        push_default_match(L);
        lua_newtable(L);
        lua_replace(L, compile->match_options);
    } else {
        lua_pushvalue(L, compile->match);
    }
    lua_pushvalue(L, declared);
    lua_pushvalue(L, compile->match_options);
    if (acog_lua_call(L, 2, 1, MATCH_INSTRUCTIONS, &error) != ACOG_OK) {
        reader_error(reader, "match: %s", error.text);
        return false;
    }
    if (!lua_isfunction(L, -1)) {
        reader_error(reader, "match: `by` must return a function, not a %s", luaL_typename(L, -1));
        lua_pop(L, 1);
        return false;
    }
    return true;
}

/* Each declared id must reach itself, and no more than a plan can hold. */
static void check_reach(struct compile *compile, struct match_places places)
{
    struct reader *reader = &compile->reader;
    uint16_t reached[ACOG_PLAN_MAX];
    for (size_t i = 0; i < compile->candidate_count; i++) {
        const struct acog_candidate *candidate = &compile->candidates[i];
        struct acog_error error;
        size_t count = 0;
        bool itself = false;
        size_t defaults = 0;
        if (match_find(reader->L, places, candidate->declared, reached, &count, &error) !=
            ACOG_OK) {
            reader_error(reader, "match: model \"%.*s\": %s", ACOG_VIEW_FMT(candidate->declared),
                         error.text);
            return;
        }
        for (size_t j = 0; j < count; j++) {
            const struct acog_candidate *other = &compile->candidates[reached[j]];
            itself = itself || reached[j] == i;
            defaults += compile->connections[other->connection].is_default ? 1 : 0;
        }
        if (!itself) {
            reader_error(reader,
                         "match: the id \"%.*s\" does not reach connection \"%.*s\", which "
                         "declares it",
                         ACOG_VIEW_FMT(candidate->declared),
                         ACOG_VIEW_FMT(compile->connections[candidate->connection].id));
            return;
        }
        if (defaults > 1 && compile->snapshot->policy.exclusive_default) {
            reader_error(reader, "two default connections declare the model \"%.*s\"",
                         ACOG_VIEW_FMT(candidate->declared));
            return;
        }
    }
}

/* The matcher and its data stay beside the functions, for acog_policy_state. */
static void keep_matcher(struct compile *compile, struct match_places places)
{
    lua_State *L = compile->reader.L;
    compile->snapshot->policy.match_slot =
        compile_slot(compile, places.find, ACOG_SLOT_MATCH, "match");
    lua_pushvalue(L, places.declared);
    lua_setfield(L, compile->functions, "declared");
    lua_pushvalue(L, places.positions);
    lua_setfield(L, compile->functions, "positions");
}

static void compile_match(struct compile *compile)
{
    lua_State *L = compile->reader.L;
    int top = lua_gettop(L);
    push_declared(compile);
    struct match_places places = {.declared = lua_gettop(L)};
    match_push_positions(L, places.declared);
    places.positions = lua_gettop(L);
    if (push_find(compile, places.declared)) {
        places.find = lua_gettop(L);
        take_readings(compile, places.declared);
        keep_matcher(compile, places);
        check_reach(compile, places);
    }
    lua_settop(L, top);
}

/* -- circuits --------------------------------------------------------------------------------------- */

/* The name of the circuit that a candidate stands in. A channel that says nothing of whose machines it reaches
 * (custom, or a maker that nobody named) has one for each host; a simulated connection is its own host. */
static int name_circuit(const struct compile *compile, const struct acog_candidate *candidate,
                        char *name, size_t room)
{
    const struct acog_connection *connection = &compile->connections[candidate->connection];
    struct acog_view channel = acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel);
    struct acog_view host = connection->endpoint.unix_socket.len > 0
                                ? connection->endpoint.unix_socket
                                : connection->endpoint.host;
    switch (compile->snapshot->policy.health.key) {
    case ACOG_HEALTH_KEY_CONNECTION:
        return snprintf(name, room, "conn:%.*s", ACOG_VIEW_FMT(connection->id));
    case ACOG_HEALTH_KEY_CHANNEL:
        return snprintf(name, room, "%.*s", ACOG_VIEW_FMT(channel));
    case ACOG_HEALTH_KEY_CHANNEL_MAKER:
        break;
    case ACOG_HEALTH_KEY_MODEL_CONNECTION:
        return snprintf(name, room, "conn:%.*s/%.*s", ACOG_VIEW_FMT(connection->id),
                        ACOG_VIEW_FMT(candidate->declared));
    }
    if (connection->channel != ACOG_CHANNEL_CUSTOM && candidate->maker.len > 0) {
        return snprintf(name, room, "%.*s/%.*s", ACOG_VIEW_FMT(channel),
                        ACOG_VIEW_FMT(candidate->maker));
    }
    if (host.len == 0) {
        return snprintf(name, room, "%.*s/%.*s@%.*s", ACOG_VIEW_FMT(channel),
                        ACOG_VIEW_FMT(candidate->maker), ACOG_VIEW_FMT(connection->id));
    }
    return snprintf(name, room, "%.*s/%.*s@%.*s:%u", ACOG_VIEW_FMT(channel),
                    ACOG_VIEW_FMT(candidate->maker), ACOG_VIEW_FMT(host),
                    (unsigned)connection->endpoint.port);
}

static void take_circuits(struct compile *compile)
{
    for (size_t i = 0; i < compile->candidate_count; i++) {
        struct acog_candidate *candidate = &compile->candidates[i];
        char name[CELL_NAME_MAX * 2];
        int len = name_circuit(compile, candidate, name, sizeof(name));
        struct acog_view view = {.ptr = name, .len = len < 0 ? 0 : (size_t)len};
        if (view.len >= CELL_NAME_MAX ||
            acog_shared_circuit(compile->shared, view, &candidate->circuit_cell) != ACOG_OK) {
            reader_error(&compile->reader,
                         "no room for circuit \"%.*s\": more than %d since the start, "
                         "or its name is too long",
                         ACOG_VIEW_FMT(acog_view_slice(view, 0, 100)), ACOG_SHARED_CELLS_MAX);
            return;
        }
    }
}

/* -- the list of models ----------------------------------------------------------------------------- */

static bool is_listed(const struct acog_listed_model *rows, size_t count, struct acog_view id)
{
    for (size_t i = 0; i < count; i++) {
        if (acog_view_equal(rows[i].id, id)) {
            return true;
        }
    }
    return false;
}

static void list_models(struct compile *compile)
{
    struct acog_listed_model *rows =
        reader_take(&compile->reader, (compile->candidate_count + 1) * sizeof(*rows));
    size_t count = 0;
    for (size_t i = 0; i < compile->candidate_count; i++) {
        const struct acog_candidate *candidate = &compile->candidates[i];
        if (!is_listed(rows, count, candidate->declared)) {
            rows[count].id = candidate->declared;
            rows[count].owned_by =
                candidate->maker.len > 0 ? candidate->maker : acog_view_of("acog");
            count++;
        }
    }
    compile->snapshot->models = rows;
    compile->snapshot->model_count = count;
}

void compile_candidates(struct compile *compile)
{
    if (compile->candidate_count == 0) {
        return;
    }
    compile_match(compile);
    if (compile->shared != NULL) {
        take_circuits(compile);
    }
    list_models(compile);
}
