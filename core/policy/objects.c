/* objects.c - request, request.header and candidate as userdata. */
#include "objects.h"

#include "acog/contract.h"
#include "nearest.h"

#include <stdatomic.h>
#include <string.h>

#include <lauxlib.h>

#define OBJECT_TAG UINT32_C(0xac06ca4d)

struct object {
    uint32_t tag;
    uint16_t candidate;
    struct acog_policy_state *state; /* NULL: its state is gone */
};

static struct object *object_at(lua_State *L, int index)
{
    struct object *object = lua_touserdata(L, index);
    ACOG_ASSERT(object != NULL);
    ACOG_ASSERT(object->tag == OBJECT_TAG);
    if (object->state == NULL || object->state->facts == NULL) {
        luaL_error(L, "a request and its candidates can only be read while the policy is asked");
    }
    return object;
}

static void push_view(lua_State *L, struct acog_view text)
{
    if (text.len == 0) {
        lua_pushnil(L);
    } else {
        lua_pushlstring(L, text.ptr, text.len);
    }
}

/* A number, or nil for a negative one: not known. */
static void push_known(lua_State *L, int64_t number)
{
    if (number < 0) {
        lua_pushnil(L);
    } else {
        lua_pushinteger(L, number);
    }
}

/* -- fields ----------------------------------------------------------------------------------------- */

enum request_field {
#define REQUEST_FIELD(name, text, meaning) REQUEST_##name,
#include "request_field.def"
#undef REQUEST_FIELD
};

enum candidate_field {
#define CANDIDATE_FIELD(name, text, meaning) CANDIDATE_##name,
#include "candidate_field.def"
#undef CANDIDATE_FIELD
};

static const char *const request_names[] = {
#define REQUEST_FIELD(name, text, meaning) text,
#include "request_field.def"
#undef REQUEST_FIELD
    NULL,
};

static const char *const candidate_names[] = {
#define CANDIDATE_FIELD(name, text, meaning) text,
#include "candidate_field.def"
#undef CANDIDATE_FIELD
    NULL,
};

const char *objects_request_field(size_t n)
{
    return n < sizeof(request_names) / sizeof(request_names[0]) ? request_names[n] : NULL;
}

const char *objects_candidate_field(size_t n)
{
    return n < sizeof(candidate_names) / sizeof(candidate_names[0]) ? candidate_names[n] : NULL;
}

static int refuse_write(lua_State *L)
{
    return luaL_error(L, "requests and candidates are read-only");
}

/* "a, b, c", as a text of Lua's. */
static const char *push_list(lua_State *L, const char *const *names)
{
    luaL_Buffer list;
    luaL_buffinit(L, &list);
    for (size_t i = 0; names[i] != NULL; i++) {
        luaL_addstring(&list, i == 0 ? "" : ", ");
        luaL_addstring(&list, names[i]);
    }
    luaL_pushresult(&list);
    return lua_tostring(L, -1);
}

static bool is_named(const char *const *names, struct acog_view key)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        if (acog_view_equal(acog_view_of(names[i]), key)) {
            return true;
        }
    }
    return false;
}

static void refuse_field(lua_State *L, const char *what, const char *const *names)
{
    struct acog_view key = acog_view_of(lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?");
    bool swapped = is_named(names == request_names ? candidate_names : request_names, key);
    if (swapped) { /* as a function that compares two candidates would */
        luaL_error(L, "%s has no field \"%s\", the other argument has: it is (request, candidate)",
                   what, key.ptr);
    }
    struct nearest nearest = {.word = key};
    const char *allowed = push_list(L, names);
    for (size_t i = 0; names[i] != NULL; i++) {
        nearest_offer(&nearest, acog_view_of(names[i]));
    }
    if (nearest.best.ptr != NULL) {
        luaL_error(L, "%s has no field \"%s\"; did you mean \"%s\"? Allowed: %s", what, key.ptr,
                   nearest.best.ptr, allowed);
    }
    luaL_error(L, "%s has no field \"%s\". Allowed: %s", what, key.ptr, allowed);
}

/* The number of the field at stack place 2, by the table of names in upvalue 1. */
static int field_number(lua_State *L, const char *what, const char *const *names)
{
    int known = 0;
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(1));
    lua_Integer number = lua_tointegerx(L, -1, &known);
    if (known == 0) {
        refuse_field(L, what, names);
    }
    lua_pop(L, 1);
    return (int)number;
}

/* request[field]   [-0, +1], may raise: unknown field, used too late. Upvalues: names, the header object. */
static int request_index(lua_State *L)
{
    const struct acog_request_facts *facts = object_at(L, 1)->state->facts;
    switch ((enum request_field)field_number(L, "request", request_names)) {
    case REQUEST_MODEL:
        lua_pushlstring(L, facts->model.len == 0 ? "" : facts->model.ptr, facts->model.len);
        return 1;
    case REQUEST_SURFACE:
        push_view(L, acog_name(ACOG_VOCABULARY_SURFACE, (int)facts->surface));
        return 1;
    case REQUEST_STREAM:
        lua_pushboolean(L, facts->stream);
        return 1;
    case REQUEST_MAX_TOKENS:
        push_known(L, facts->max_tokens);
        return 1;
    case REQUEST_INPUT_TOKENS:
        push_known(L, facts->input_tokens_estimate);
        return 1;
    case REQUEST_CHOICES:
        lua_pushinteger(L, facts->choices);
        return 1;
    case REQUEST_TOOLS:
        lua_pushboolean(L, facts->tools);
        return 1;
    case REQUEST_IMAGES:
        lua_pushboolean(L, facts->images);
        return 1;
    case REQUEST_BODY_BYTES:
        lua_pushinteger(L, (lua_Integer)facts->body_bytes);
        return 1;
    case REQUEST_KEY_NAME:
        push_view(L, facts->key_name);
        return 1;
    case REQUEST_HEADER:
        lua_pushvalue(L, lua_upvalueindex(2));
        return 1;
    }
    ACOG_UNREACHABLE("unknown field of a request");
}

static bool is_let_through(const struct acog_snapshot *snapshot, struct acog_view name)
{
    for (size_t i = 0; i < snapshot->client_header_count; i++) {
        if (acog_view_equal_nocase(snapshot->client_headers[i], name)) {
            return true;
        }
    }
    return false;
}

/* request.header[name]   [-0, +1], may raise: a header that is not let through. Case does not matter. */
static int header_index(lua_State *L)
{
    const struct acog_policy_state *state = object_at(L, 1)->state;
    struct acog_view name;
    name.ptr = luaL_checklstring(L, 2, &name.len);
    for (size_t i = 0; i < state->facts->header_count; i++) {
        if (acog_view_equal_nocase(state->facts->headers[i].name, name)) {
            struct acog_view value = state->facts->headers[i].value;
            lua_pushlstring(L, value.len == 0 ? "" : value.ptr, value.len);
            return 1;
        }
    }
    if (!is_let_through(state->snapshot, name)) {
        return luaL_error(L,
                          "the header \"%s\" is not let through to policies: name it in "
                          "client_headers of acog.gateway",
                          name.ptr);
    }
    lua_pushnil(L);
    return 1;
}

static void push_labels(lua_State *L, const struct acog_policy_state *state, uint16_t connection)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, state);
    lua_getfield(L, -1, "objects");
    lua_rawgeti(L, -1, connection + 1);
    if (lua_getfield(L, -1, "labels") == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
    }
}

static void push_price(lua_State *L, const struct acog_candidate *candidate)
{
    if (!candidate->priced) {
        lua_pushnil(L);
        return;
    }
    lua_createtable(L, 0, 2);
    lua_pushnumber(L, candidate->input_price);
    lua_setfield(L, -2, "input");
    lua_pushnumber(L, candidate->output_price);
    lua_setfield(L, -2, "output");
}

static void push_health(lua_State *L, const struct acog_policy_state *state,
                        const struct acog_candidate *candidate)
{
    const struct acog_shared *shared = state->loaded->shared;
    const struct acog_health *health = &state->snapshot->policy.health;
    const struct acog_circuit_limits limits = {
        .threshold = health->threshold,
        .cooldown_ms = health->cooldown_ms,
        .factor = health->factor,
        .cooldown_ms_max = health->cooldown_ms_max,
    };
    if (candidate->circuit_cell == ACOG_NO_CELL) {
        lua_pushliteral(L, "closed");
        return;
    }
    switch (
        acog_circuit_look(&shared->circuits[candidate->circuit_cell].circuit, &limits, 0).state) {
    case ACOG_CIRCUIT_CLOSED:
        lua_pushliteral(L, "closed");
        return;
    case ACOG_CIRCUIT_OPEN:
        lua_pushliteral(L, "open");
        return;
    case ACOG_CIRCUIT_PROBING:
        lua_pushliteral(L, "probing");
        return;
    }
    ACOG_UNREACHABLE("unknown state of a circuit");
}

static int64_t first_output_of(const struct acog_policy_state *state,
                               const struct acog_connection *connection)
{
    const struct acog_spread_cell *cell = &state->loaded->shared->spreads[connection->spread_cell];
    uint32_t mean = atomic_load_explicit(&cell->first_output_ms, memory_order_relaxed);
    return mean == 0 ? -1 : (int64_t)mean;
}

static int64_t in_flight_of(const struct acog_policy_state *state,
                            const struct acog_connection *connection)
{
    const struct acog_spread_cell *cell = &state->loaded->shared->spreads[connection->spread_cell];
    return (int64_t)atomic_load_explicit(&cell->in_flight, memory_order_relaxed);
}

static void push_dialect(lua_State *L, const struct acog_policy_state *state,
                         const struct acog_connection *connection)
{
    enum acog_dialect dialect = acog_surface_dialect(state->facts->surface);
    bool spoken = (connection->dialects & ACOG_BIT(dialect)) != 0;
    push_view(L, spoken ? acog_name(ACOG_VOCABULARY_DIALECT, (int)dialect) : (struct acog_view){0});
}

/* candidate[field]   [-0, +1], may raise: unknown field, used too late. Upvalue: names. */
static int candidate_index(lua_State *L)
{
    const struct object *object = object_at(L, 1);
    const struct acog_policy_state *state = object->state;
    const struct acog_candidate *candidate = &state->snapshot->candidates[object->candidate];
    const struct acog_connection *connection = &state->snapshot->connections[candidate->connection];
    switch ((enum candidate_field)field_number(L, "candidate", candidate_names)) {
    case CANDIDATE_CONNECTION:
        push_view(L, connection->id);
        return 1;
    case CANDIDATE_CHANNEL:
        push_view(L, acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel));
        return 1;
    case CANDIDATE_MAKER:
        push_view(L, candidate->maker);
        return 1;
    case CANDIDATE_MODEL:
        push_view(L, candidate->declared);
        return 1;
    case CANDIDATE_FAMILY:
        push_view(L, candidate->family);
        return 1;
    case CANDIDATE_DIALECT:
        push_dialect(L, state, connection);
        return 1;
    case CANDIDATE_REGION:
        push_view(L, connection->region);
        return 1;
    case CANDIDATE_LABELS:
        push_labels(L, state, candidate->connection);
        return 1;
    case CANDIDATE_PRICE:
        push_price(L, candidate);
        return 1;
    case CANDIDATE_CONTEXT:
        push_known(L, state->loaded->contexts[object->candidate]);
        return 1;
    case CANDIDATE_MAX_OUTPUT_TOKENS:
        push_known(L, candidate->max_output_tokens);
        return 1;
    case CANDIDATE_REASONING:
        lua_pushboolean(L, candidate->reasoning);
        return 1;
    case CANDIDATE_DEFAULT:
        lua_pushboolean(L, connection->is_default);
        return 1;
    case CANDIDATE_SLOW:
        lua_pushboolean(L, connection->slow);
        return 1;
    case CANDIDATE_PRIORITY:
        lua_pushinteger(L, connection->priority);
        return 1;
    case CANDIDATE_WEIGHT:
        lua_pushinteger(L, connection->weight);
        return 1;
    case CANDIDATE_HEALTH:
        push_health(L, state, candidate);
        return 1;
    case CANDIDATE_IN_FLIGHT:
        lua_pushinteger(L, in_flight_of(state, connection));
        return 1;
    case CANDIDATE_FIRST_OUTPUT_MS:
        push_known(L, first_output_of(state, connection));
        return 1;
    }
    ACOG_UNREACHABLE("unknown field of a candidate");
}

/* -- making them ------------------------------------------------------------------------------------ */

static int object_text(lua_State *L)
{
    lua_pushliteral(L, "acog object");
    return 1;
}

static void push_object(lua_State *L, struct acog_policy_state *state, uint16_t candidate)
{
    struct object *object = lua_newuserdatauv(L, sizeof(*object), 0);
    *object = (struct object){.tag = OBJECT_TAG, .candidate = candidate, .state = state};
}

static void push_names(lua_State *L, const char *const *names)
{
    lua_newtable(L);
    for (int i = 0; names[i] != NULL; i++) {
        lua_pushinteger(L, i);
        lua_setfield(L, -2, names[i]);
    }
}

/* Pushes a metatable whose __index is the closure of `index` over the `upvalues` on top. [-upvalues, +1] */
static void push_metatable(lua_State *L, lua_CFunction index, int upvalues)
{
    lua_pushcclosure(L, index, upvalues);
    lua_createtable(L, 0, 3);
    lua_insert(L, -2);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_write);
    lua_setfield(L, -2, "__newindex");
    lua_pushcfunction(L, object_text);
    lua_setfield(L, -2, "__tostring");
}

void objects_open(struct acog_policy_state *state, int home)
{
    lua_State *L = state->L;
    home = lua_absindex(L, home);
    push_object(L, state, 0);
    push_metatable(L, header_index, 0);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_setfield(L, home, "header");
    push_object(L, state, 0);
    lua_insert(L, -2);
    push_names(L, request_names);
    lua_insert(L, -2);
    push_metatable(L, request_index, 2);
    lua_setmetatable(L, -2);
    lua_setfield(L, home, "request");
    push_names(L, candidate_names);
    push_metatable(L, candidate_index, 1);
    lua_setfield(L, home, "candidate_meta");
    lua_newtable(L);
    lua_setfield(L, home, "candidates");
}

static void detach(lua_State *L)
{
    struct object *object = lua_touserdata(L, -1);
    if (object != NULL) {
        object->state = NULL;
    }
    lua_pop(L, 1);
}

void objects_close(lua_State *L, int home)
{
    home = lua_absindex(L, home);
    lua_getfield(L, home, "header");
    detach(L);
    lua_getfield(L, home, "request");
    detach(L);
    if (lua_getfield(L, home, "candidates") == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, -2) != 0) {
            detach(L);
        }
    }
    lua_pop(L, 1);
}

void objects_push_request(lua_State *L, int home)
{
    lua_getfield(L, home, "request");
}

void objects_push_candidate(struct acog_policy_state *state, int home, uint16_t candidate)
{
    lua_State *L = state->L;
    lua_getfield(L, home, "candidates");
    if (lua_rawgeti(L, -1, candidate + 1) == LUA_TNIL) {
        lua_pop(L, 1);
        push_object(L, state, candidate);
        lua_getfield(L, home, "candidate_meta");
        lua_setmetatable(L, -2);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, candidate + 1);
    }
    lua_remove(L, -2);
}
