/* lua_reply.c - what a client got, and what the exchange says of it, as one Lua table (lua/test.md lists the fields).
 */
#include "lua_gateway.h"
#include "lua_json.h"
#include "suite.h"

#include <string.h>

#include <lauxlib.h>

void acog_lua_push_view(lua_State *L, struct acog_view text)
{
    lua_pushlstring(L, text.len == 0 ? "" : text.ptr, text.len);
}

static void set_view(lua_State *L, const char *field, struct acog_view text)
{
    acog_lua_push_view(L, text);
    lua_setfield(L, -2, field);
}

static void set_number(lua_State *L, const char *field, int64_t number)
{
    lua_pushinteger(L, number);
    lua_setfield(L, -2, field);
}

static void set_boolean(lua_State *L, const char *field, bool value)
{
    lua_pushboolean(L, value ? 1 : 0);
    lua_setfield(L, -2, field);
}

void acog_lua_push_headers(lua_State *L, const struct acog_header_row *rows, size_t count)
{
    lua_createtable(L, 0, (int)count);
    for (size_t i = 0; i < count; i++) {
        acog_lua_push_view(L, rows[i].name);
        lua_pushvalue(L, -1);
        bool again = lua_rawget(L, -3) != LUA_TNIL;
        if (again) {
            lua_pushliteral(L, ", ");
            acog_lua_push_view(L, rows[i].value);
            lua_concat(L, 3);
        } else {
            lua_pop(L, 1);
            acog_lua_push_view(L, rows[i].value);
        }
        lua_rawset(L, -3);
    }
}

/* -- the text of an answer -------------------------------------------------------------------------- */

/* Pushes the value at "choices.1.delta.content" in the value at `index`, or nil. [-0, +1] */
static void push_at(lua_State *L, int index, const char *path)
{
    lua_pushvalue(L, index);
    while (*path != '\0' && lua_type(L, -1) == LUA_TTABLE) {
        size_t length = strcspn(path, ".");
        lua_pushlstring(L, path, length);
        int is_number = 0;
        lua_Integer position = lua_tointegerx(L, -1, &is_number);
        if (is_number != 0) {
            lua_pop(L, 1);
            lua_rawgeti(L, -1, position);
        } else {
            lua_rawget(L, -2);
        }
        lua_remove(L, -2);
        path += length + (path[length] == '.' ? 1 : 0);
    }
    if (*path != '\0') {
        lua_pop(L, 1);
        lua_pushnil(L);
    }
}

/* Adds the text at `path`, if there is one. False: there is none. */
static bool add_text_at(lua_State *L, int index, const char *path, luaL_Buffer *text)
{
    push_at(L, index, path);
    bool found = lua_type(L, -1) == LUA_TSTRING;
    if (found) {
        luaL_addvalue(text);
    } else {
        lua_pop(L, 1);
    }
    return found;
}

/* The output text that one event's data carries, in whichever dialect. */
static void add_event_text(lua_State *L, int data, luaL_Buffer *text)
{
    if (lua_type(L, data) != LUA_TTABLE || add_text_at(L, data, "choices.1.delta.content", text) ||
        add_text_at(L, data, "delta.text", text)) {
        return;
    }
    push_at(L, data, "type");
    bool is_text = lua_type(L, -1) == LUA_TSTRING &&
                   strcmp(lua_tostring(L, -1), "response.output_text.delta") == 0;
    lua_pop(L, 1);
    if (is_text) {
        (void)add_text_at(L, data, "delta", text);
    }
}

/* Adds the `text` of each element of the list at `path`. */
static void add_part_texts(lua_State *L, int index, const char *path, luaL_Buffer *text)
{
    push_at(L, index, path);
    lua_Unsigned count = lua_type(L, -1) == LUA_TTABLE ? lua_rawlen(L, -1) : 0;
    lua_pop(L, 1);
    for (lua_Unsigned i = 1; i <= count; i++) {
        char part[64];
        (void)snprintf(part, sizeof(part), "%s.%llu.text", path, (unsigned long long)i);
        (void)add_text_at(L, index, part, text);
    }
}

static void add_whole_text(lua_State *L, int json, luaL_Buffer *text)
{
    if (lua_type(L, json) != LUA_TTABLE ||
        add_text_at(L, json, "choices.1.message.content", text)) {
        return;
    }
    add_part_texts(L, json, "content", text);
    push_at(L, json, "output");
    lua_Unsigned items = lua_type(L, -1) == LUA_TTABLE ? lua_rawlen(L, -1) : 0;
    lua_pop(L, 1);
    for (lua_Unsigned i = 1; i <= items; i++) {
        char path[64];
        (void)snprintf(path, sizeof(path), "output.%llu.content", (unsigned long long)i);
        add_part_texts(L, json, path, text);
    }
}

/* -- body ------------------------------------------------------------------------------------------- */

static void push_event(lua_State *L, const struct acog_sim_event *event)
{
    lua_createtable(L, 0, 4);
    if (event->name.len > 0) {
        set_view(L, "name", event->name);
    }
    set_view(L, "text", event->data);
    set_number(L, "at_ms", event->at_ms);
    if (!acog_lua_push_json(L, event->data)) {
        acog_lua_push_view(L, event->data); /* [DONE] */
    }
    lua_setfield(L, -2, "data");
}

/* Sets `events`, or `json`, and `text`, of the reply on top. */
static void set_content(lua_State *L, const struct acog_sim_reply *reply)
{
    luaL_Buffer text;
    int table = lua_gettop(L);
    lua_createtable(L, (int)reply->event_count, 0);
    int events = lua_gettop(L);
    for (size_t i = 0; i < reply->event_count; i++) {
        push_event(L, &reply->events[i]);
        lua_rawseti(L, events, (lua_Integer)i + 1);
    }
    if (reply->event_count > 0 || !acog_lua_push_json(L, reply->body)) {
        lua_pushnil(L);
    }
    int json = lua_gettop(L);
    lua_pushnil(L); /* the data of an event, where the buffer does not disturb it */
    int data = lua_gettop(L);
    luaL_buffinit(L, &text);
    for (size_t i = 0; i < reply->event_count; i++) {
        lua_rawgeti(L, events, (lua_Integer)i + 1);
        lua_getfield(L, -1, "data");
        lua_replace(L, data);
        lua_pop(L, 1);
        add_event_text(L, data, &text);
    }
    add_whole_text(L, json, &text);
    luaL_pushresult(&text);
    lua_setfield(L, table, "text");
    lua_settop(L, json);
    lua_setfield(L, table, "json");
    lua_setfield(L, table, "events");
}

/* -- the record ------------------------------------------------------------------------------------- */

static const struct acog_connection *connection_of(const struct acog_snapshot *snapshot,
                                                   uint16_t candidate)
{
    return &snapshot->connections[snapshot->candidates[candidate].connection];
}

static struct acog_view class_name(enum acog_failure_class class)
{
    return acog_name(ACOG_VOCABULARY_CLASS, (int)class);
}

#define REPLY_NAMES                                                                                \
    "status, header, body, json, events, text, complete, over, duration_ms, connection, channel, " \
    "model, attempts, tried, why, error_code, fallback_reason, usage, request_id, record, "        \
    "policy_error"
#define ATTEMPT_NAMES                                                                        \
    "connection, channel, model, class, status, outcome, at_ms, first_output_ms, ended_ms, " \
    "fallback"

static void push_attempt(lua_State *L, const struct acog_snapshot *snapshot,
                         const struct acog_request *request, const struct acog_attempt_row *row)
{
    const struct acog_connection *connection = connection_of(snapshot, row->candidate);
    lua_createtable(L, 0, 10);
    set_view(L, "connection", connection->id);
    set_view(L, "channel", acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel));
    set_view(L, "model", row->model);
    set_view(L, "outcome", acog_name(ACOG_VOCABULARY_OUTCOME, (int)row->outcome));
    if (row->failed) {
        set_view(L, "class", class_name(row->class));
    }
    if (row->status != 0) {
        set_number(L, "status", row->status);
    }
    set_number(L, "at_ms", row->dispatched_at_ms - request->arrived_at_ms);
    if (row->ended_at_ms >= 0) {
        set_number(L, "ended_ms", row->ended_at_ms - request->arrived_at_ms);
    }
    if (row->first_output_at_ms >= 0) {
        set_number(L, "first_output_ms", row->first_output_at_ms - request->arrived_at_ms);
    }
    set_boolean(L, "fallback", row->fallback);
    acog_lua_make_strict(L, "an attempt", ATTEMPT_NAMES);
}

static void push_attempts(lua_State *L, const struct acog_snapshot *snapshot,
                          const struct acog_request *request)
{
    lua_createtable(L, (int)request->attempt_count, 0);
    for (size_t i = 0; i < request->attempt_count; i++) {
        push_attempt(L, snapshot, request, &request->attempts[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* The attempts' connections in order, commas between. */
static void push_tried(lua_State *L, const struct acog_snapshot *snapshot,
                       const struct acog_request *request)
{
    luaL_Buffer ids;
    luaL_buffinit(L, &ids);
    for (size_t i = 0; i < request->attempt_count; i++) {
        struct acog_view id = connection_of(snapshot, request->attempts[i].candidate)->id;
        luaL_addlstring(&ids, ",", i == 0 ? 0 : 1);
        luaL_addlstring(&ids, id.ptr, id.len);
    }
    luaL_pushresult(&ids);
}

static struct acog_view filter_name(const struct acog_snapshot *snapshot,
                                    const struct acog_plan_row *row)
{
    return row->filter < snapshot->policy.filter_count
               ? snapshot->policy.filters[row->filter].name
               : ACOG_VIEW("dispatch"); /* at its turn, not by the plan */
}

/* Connection to reason: a filter's, or the class of a failed attempt. */
static void push_why(lua_State *L, const struct acog_snapshot *snapshot,
                     const struct acog_request *request)
{
    lua_newtable(L);
    for (size_t i = 0; i < request->plan_count; i++) {
        const struct acog_plan_row *row = &request->plan[i];
        if (row->verdict == ACOG_PLAN_DROPPED) {
            acog_lua_push_view(L, connection_of(snapshot, row->candidate)->id);
            acog_lua_push_view(L, row->reason.len > 0 ? row->reason : filter_name(snapshot, row));
            lua_rawset(L, -3);
        }
    }
    for (size_t i = 0; i < request->attempt_count; i++) {
        if (request->attempts[i].failed) {
            acog_lua_push_view(L, connection_of(snapshot, request->attempts[i].candidate)->id);
            acog_lua_push_view(L, class_name(request->attempts[i].class));
            lua_rawset(L, -3);
        }
    }
}

/* The attempt whose answer the client got; NULL: the gateway's own answer. Nothing is sent after the commit, so the
 * committed attempt is the last one; without one, a kept refusal may have been replayed. */
static const struct acog_attempt_row *answering_attempt(const struct acog_request *request)
{
    if (request->committed) {
        return &request->attempts[request->attempt_count - 1];
    }
    return request->kept_attempt > 0 ? &request->attempts[request->kept_attempt - 1] : NULL;
}

static void set_usage(lua_State *L, const struct acog_usage *usage)
{
    lua_createtable(L, 0, 2);
    if (usage->input_tokens >= 0) {
        set_number(L, "input", usage->input_tokens);
    }
    if (usage->output_tokens >= 0) {
        set_number(L, "output", usage->output_tokens);
    }
    lua_setfield(L, -2, "usage");
}

/* The decision record as JSON says it, decoded; nothing when there is no room for it. */
static void set_decision_record(lua_State *L, const struct acog_exchange_record *record,
                                struct acog_buffer *scratch)
{
    if (acog_exchange_render_record(record, scratch) == ACOG_OK &&
        acog_lua_push_json(L, acog_buffer_view(scratch))) {
        lua_setfield(L, -2, "record");
    }
}

static void set_record(lua_State *L, const struct acog_exchange_record *record,
                       struct acog_buffer *scratch)
{
    const struct acog_request *request = record->request;
    set_view(L, "request_id", record->request_id);
    if (record->error_code.len > 0) {
        set_view(L, "error_code", record->error_code);
    }
    set_usage(L, &record->usage);
    set_decision_record(L, record, scratch);
    if (request == NULL) {
        lua_newtable(L);
        lua_setfield(L, -2, "attempts");
        lua_pushliteral(L, "");
        lua_setfield(L, -2, "tried");
        lua_newtable(L);
        lua_setfield(L, -2, "why");
        return;
    }
    push_attempts(L, record->snapshot, request);
    lua_setfield(L, -2, "attempts");
    push_tried(L, record->snapshot, request);
    lua_setfield(L, -2, "tried");
    push_why(L, record->snapshot, request);
    lua_setfield(L, -2, "why");
    if (request->fallback_reason.len > 0) {
        set_view(L, "fallback_reason", request->fallback_reason);
    }
    const struct acog_attempt_row *answering = answering_attempt(request);
    if (answering != NULL) {
        const struct acog_connection *connection =
            connection_of(record->snapshot, answering->candidate);
        set_view(L, "connection", connection->id);
        set_view(L, "channel", acog_name(ACOG_VOCABULARY_CHANNEL, (int)connection->channel));
        set_view(L, "model", answering->model);
    }
}

void acog_lua_push_reply(lua_State *L, struct acog_world *world,
                         const struct acog_sim_client *client)
{
    struct acog_sim_reply reply = acog_sim_client_reply(client);
    luaL_checkstack(L, 20, "reply");
    lua_createtable(L, 0, 20);
    if (reply.status != 0) {
        set_number(L, "status", reply.status);
    }
    acog_lua_push_headers(L, reply.headers, reply.header_count);
    lua_setfield(L, -2, "header");
    set_view(L, "body", reply.body);
    set_content(L, &reply);
    set_boolean(L, "complete", reply.complete);
    set_boolean(L, "over", reply.over);
    set_number(L, "duration_ms",
               reply.over ? reply.duration_ms : acog_world_now_ms(world) - reply.started_ms);
    const char *policy_error = acog_world_policy_error(world);
    if (policy_error[0] != '\0') {
        lua_pushstring(L, policy_error);
        lua_setfield(L, -2, "policy_error");
    }
    const struct acog_exchange_record *record = acog_sim_client_record(client);
    if (record != NULL) {
        set_record(L, record, acog_world_scratch(world));
    }
    acog_lua_make_strict(L, "a reply", REPLY_NAMES);
}
