/* lua_request.c - what a test's client sends, and its requests under way.
 */
#include "frozen.h"
#include "lua_gateway.h"
#include "lua_json.h"

#include <ctype.h>
#include <string.h>

#define HANDLE_TYPE "acog.test.handle"
#define HEADERS_MAX 200 /* of a request */

struct handle { /* user value 1: the gateway */
    struct acog_lua_gateway *gateway;
    struct acog_sim_client *client; /* NULL: released */
};

static struct handle *push_handle(lua_State *L, int owner)
{
    struct handle *handle = lua_newuserdatauv(L, sizeof(*handle), 1);
    *handle = (struct handle){.gateway = lua_touserdata(L, owner)};
    luaL_setmetatable(L, HANDLE_TYPE);
    lua_pushvalue(L, owner);
    lua_setiuservalue(L, -2, 1);
    return handle;
}

static void release(struct handle *handle)
{
    if (handle->client != NULL && handle->gateway->world != NULL) {
        acog_world_release(handle->gateway->world, &handle->client);
    }
    handle->client = NULL;
}

static int collect_handle(lua_State *L)
{
    release(luaL_checkudata(L, 1, HANDLE_TYPE));
    return 0;
}

struct header_list { /* in a userdata */
    size_t count;
    struct acog_header_row rows[HEADERS_MAX];
};

/* Adds the name at -2 in lower case and the value at -1; both must stay on some stack or in some table: the texts are
 * anchored in the table at `anchor`. */
static void add_header(lua_State *L, struct header_list *list, int anchor)
{
    if (list->count == HEADERS_MAX) {
        luaL_error(L, "more than %d headers", HEADERS_MAX);
    }
    if (lua_type(L, -2) != LUA_TSTRING || lua_isstring(L, -1) == 0) {
        luaL_error(L, "a header is a text, or a list of texts, by its name");
    }
    luaL_Buffer lower;
    size_t bytes = 0;
    const char *name = lua_tolstring(L, -2, &bytes);
    char *out = luaL_buffinitsize(L, &lower, bytes);
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (char)tolower((unsigned char)name[i]);
    }
    luaL_pushresultsize(&lower, bytes);
    struct acog_header_row *row = &list->rows[list->count];
    row->name.ptr = lua_tolstring(L, -1, &row->name.len);
    lua_rawseti(L, anchor, (lua_Integer)lua_rawlen(L, anchor) + 1);
    lua_pushvalue(L, -1);
    row->value.ptr = lua_tolstring(L, -1, &row->value.len);
    lua_rawseti(L, anchor, (lua_Integer)lua_rawlen(L, anchor) + 1);
    list->count++;
}

/* By name, so that a table's chance order changes nothing; equal names keep their order. */
static void sort_headers(struct header_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        struct acog_header_row row = list->rows[i];
        size_t at = i;
        while (at > 0 && strcmp(list->rows[at - 1].name.ptr, row.name.ptr) > 0) {
            list->rows[at] = list->rows[at - 1];
            at--;
        }
        list->rows[at] = row;
    }
}

/* Reads the table at `index` (nil: none). Leaves the list and the anchor of its texts on the stack. [-0, +2] */
static struct header_list *push_header_list(lua_State *L, int index, bool has_body)
{
    struct header_list *list = lua_newuserdatauv(L, sizeof(*list), 0);
    list->count = 0;
    lua_newtable(L);
    int anchor = lua_gettop(L);
    if (!lua_isnoneornil(L, index)) {
        luaL_checktype(L, index, LUA_TTABLE);
        acog_lua_thaw(L, index);
        int table = lua_gettop(L);
        lua_pushnil(L);
        while (lua_next(L, table) != 0) {
            if (lua_type(L, -1) != LUA_TTABLE) {
                add_header(L, list, anchor);
            }
            for (lua_Integer i = 1; lua_type(L, -1) == LUA_TTABLE && i <= luaL_len(L, -1); i++) {
                lua_pushvalue(L, -2);
                lua_geti(L, -2, i);
                add_header(L, list, anchor);
                lua_pop(L, 2);
            }
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    sort_headers(list);
    struct acog_view type = ACOG_VIEW("content-type");
    if (has_body && list->count < HEADERS_MAX &&
        acog_header_find(list->rows, list->count, type).ptr == NULL) {
        list->rows[list->count] =
            (struct acog_header_row){.name = type, .value = ACOG_VIEW("application/json")};
        list->count++;
    }
    return list;
}

/* The body at `index`: a text as it is, a table as JSON, nothing. */
static struct acog_view read_body(lua_State *L, int index, struct acog_world *world)
{
    struct acog_view body = {0};
    if (lua_isnoneornil(L, index)) {
        return body;
    }
    if (lua_type(L, index) == LUA_TSTRING) {
        body.ptr = lua_tolstring(L, index, &body.len);
        return body;
    }
    luaL_checktype(L, index, LUA_TTABLE);
    struct acog_error error;
    struct acog_buffer *json = acog_world_scratch(world);
    if (acog_lua_write_json(L, index, json, &error) != ACOG_OK) {
        luaL_error(L, "the body: %s", error.text);
    }
    return acog_buffer_view(json);
}

/* Sends what the arguments say: method, path, body, headers from index 2 on. Pushes the handle. [-0, +1] */
static struct handle *send_request(lua_State *L, const char *method, int path)
{
    struct acog_lua_gateway *gateway = luaL_checkudata(L, 1, ACOG_LUA_GATEWAY_TYPE);
    struct acog_world *world = acog_lua_world_of(L, gateway);
    struct acog_sim_request request = {.method = acog_view_of(method)};
    request.target.ptr = luaL_checklstring(L, path, &request.target.len);
    luaL_argcheck(L, request.target.len > 0 && request.target.ptr[0] == '/', path,
                  "a path starts with /");
    lua_settop(L, path + 2);
    struct header_list *list = push_header_list(L, path + 2, !lua_isnoneornil(L, path + 1));
    struct handle *handle = push_handle(L, 1);
    request.headers = list->rows;
    request.header_count = list->count;
    request.body = read_body(L, path + 1, world);
    handle->client = acog_world_send(world, &request);
    if (handle->client == NULL) {
        luaL_error(L, "too many requests under way, or no memory");
    }
    return handle;
}

static void wait_for(lua_State *L, struct handle *handle)
{
    switch (acog_world_wait(acog_lua_world_of(L, handle->gateway), handle->client)) {
    case ACOG_WAIT_OVER:
        return;
    case ACOG_WAIT_FOR_EVER:
        luaL_error(L, "the request never ends: a provider is silent, and no clock of the policy "
                      "runs");
        return;
    case ACOG_WAIT_LOOP:
        luaL_error(L, "the request does not end in %d steps", (int)ACOG_WORLD_STEPS_MAX);
        return;
    }
}

int acog_lua_request_and_wait(lua_State *L, const char *method, int path)
{
    struct handle *handle = send_request(L, method, path);
    wait_for(L, handle);
    acog_lua_push_reply(L, handle->gateway->world, handle->client);
    release(handle);
    return 1;
}

/* -- handles ---------------------------------------------------------------------------------------- */

static struct handle *check_handle(lua_State *L)
{
    struct handle *handle = luaL_checkudata(L, 1, HANDLE_TYPE);
    (void)acog_lua_world_of(L, handle->gateway);
    return handle;
}

/* handle:hang_up()   [-0, +0], may raise: argument */
static int handle_hang_up(lua_State *L)
{
    const struct handle *handle = check_handle(L);
    acog_world_hang_up(handle->gateway->world, handle->client);
    return 0;
}

/* handle:pause(), handle:resume()   [-0, +0], may raise: argument */
static int handle_pause(lua_State *L)
{
    const struct handle *handle = check_handle(L);
    acog_world_pause(handle->gateway->world, handle->client);
    return 0;
}

static int handle_resume(lua_State *L)
{
    const struct handle *handle = check_handle(L);
    acog_world_resume(handle->gateway->world, handle->client);
    return 0;
}

/* handle:wait() -> reply   [-0, +1], may raise: a request without end */
static int handle_wait(lua_State *L)
{
    struct handle *handle = check_handle(L);
    wait_for(L, handle);
    acog_lua_push_reply(L, handle->gateway->world, handle->client);
    return 1;
}

/* handle.hang_up, .pause, .resume, .wait, .reply (so far), .over */
static int handle_index(lua_State *L)
{
    const struct handle *handle = check_handle(L);
    const char *name = luaL_checkstring(L, 2);
    if (strcmp(name, "reply") == 0) {
        acog_lua_push_reply(L, handle->gateway->world, handle->client);
    } else if (strcmp(name, "over") == 0) {
        lua_pushboolean(L, acog_sim_client_reply(handle->client).over ? 1 : 0);
    } else if (strcmp(name, "hang_up") == 0) {
        lua_pushcfunction(L, handle_hang_up);
    } else if (strcmp(name, "pause") == 0) {
        lua_pushcfunction(L, handle_pause);
    } else if (strcmp(name, "resume") == 0) {
        lua_pushcfunction(L, handle_resume);
    } else if (strcmp(name, "wait") == 0) {
        lua_pushcfunction(L, handle_wait);
    } else {
        return luaL_error(L, "a request has wait, hang_up, pause, resume, reply, over; not \"%s\"",
                          name);
    }
    return 1;
}

void acog_lua_push_request(lua_State *L, const char *method, int path)
{
    (void)send_request(L, method, path);
}

void acog_lua_make_handle_type(lua_State *L)
{
    acog_lua_make_type(L, HANDLE_TYPE, handle_index, collect_handle, NULL);
}
