/* reply.c - the words of a scripted provider (provider.h): `simulate = { … }` and acog.test's upstreams. */

#include "acog/arena.h"
#include "compile.h"
#include "frozen.h"
#include "sandbox.h"

#include <stddef.h>

#include <lauxlib.h>

#define REPLIES_MAX       256
#define HEADERS_MAX       32
#define DELAY_MS_MAX      86400000.0
#define EVENTS_MAX        1000000.0
#define TOKENS_MAX        1000000000.0
#define READ_INSTRUCTIONS ((int64_t)10 * 1000 * 1000)

static const char *const stage_list[] = {"connect", "head", "body"};
static const struct words stages =
    WORDS_IN("a moment of a reply, nor a number of events", stage_list);

/* "connect", "head", "body", or after how many events. */
static void read_stage(struct reader *reader, int index, struct acog_provider_reply *reply,
                       enum acog_provider_stage *stage)
{
    int64_t events = 0;
    int word = 0;
    if (lua_type(reader->L, index) == LUA_TNUMBER) {
        if (reader_integer(reader, index, 0, EVENTS_MAX, &events)) {
            *stage = ACOG_STAGE_EVENTS;
            reply->after_events = (uint32_t)events;
        }
    } else if (reader_word(reader, index, &stages, &word)) {
        *stage = (enum acog_provider_stage)((int)ACOG_STAGE_CONNECT + word);
    }
}

static void read_hang(struct reader *reader, int index, void *target)
{
    struct acog_provider_reply *reply = target;
    read_stage(reader, index, reply, &reply->hang);
}

static void read_reset(struct reader *reader, int index, void *target)
{
    struct acog_provider_reply *reply = target;
    read_stage(reader, index, reply, &reply->reset);
}

static void read_close(struct reader *reader, int index, void *target)
{
    struct acog_provider_reply *reply = target;
    read_stage(reader, index, reply, &reply->close);
}

static const struct field tool_fields[] = {
    {.name = "name",
     .kind = ACOG_FIELD_TEXT,
     .offset = offsetof(struct acog_provider_reply, tool_name)},
    {.name = "arguments",
     .kind = ACOG_FIELD_TEXT,
     .offset = offsetof(struct acog_provider_reply, tool_arguments)},
};

static void read_tool(struct reader *reader, int index, void *target)
{
    struct acog_provider_reply *reply = target;
    reader_fields(reader, index, tool_fields, FIELD_COUNT_OF(tool_fields), reply);
    if (reply->tool_name.len == 0) {
        reader_error(reader, "needs a name");
    }
    if (reply->tool_arguments.len == 0) {
        reply->tool_arguments = acog_view_of("{}");
    }
}

static const struct field usage_fields[] = {
    {.name = "input",
     .kind = ACOG_FIELD_INTEGER64,
     .offset = offsetof(struct acog_provider_reply, input_tokens),
     .max = TOKENS_MAX},
    {.name = "output",
     .kind = ACOG_FIELD_INTEGER64,
     .offset = offsetof(struct acog_provider_reply, output_tokens),
     .max = TOKENS_MAX},
};

static void read_usage(struct reader *reader, int index, void *target)
{
    struct acog_provider_reply *reply = target;
    if (lua_type(reader->L, index) == LUA_TBOOLEAN && lua_toboolean(reader->L, index) == 0) {
        reply->no_usage = true;
    } else {
        reader_fields(reader, index, usage_fields, FIELD_COUNT_OF(usage_fields), reply);
    }
}

static void read_done(struct reader *reader, int index, void *target)
{
    bool done = true;
    if (reader_flag(reader, index, &done)) {
        ((struct acog_provider_reply *)target)->no_done = !done;
    }
}

static const struct field error_fields[] = {
    {.name = "message",
     .kind = ACOG_FIELD_TEXT,
     .offset = offsetof(struct acog_provider_reply, error_message)},
    {.name = "type",
     .kind = ACOG_FIELD_TEXT,
     .offset = offsetof(struct acog_provider_reply, error_type)},
    {.name = "code",
     .kind = ACOG_FIELD_TEXT,
     .offset = offsetof(struct acog_provider_reply, error_code)},
};

static void read_error(struct reader *reader, int index, void *target)
{
    reader_fields(reader, index, error_fields, FIELD_COUNT_OF(error_fields), target);
}

static void read_event_number(struct reader *reader, int index, bool *is_on, uint32_t *after)
{
    int64_t events = 0;
    if (reader_integer(reader, index, 0, EVENTS_MAX, &events)) {
        *is_on = true;
        *after = (uint32_t)events;
    }
}

static void read_error_event(struct reader *reader, int index, void *target)
{
    struct acog_provider_reply *reply = target;
    read_event_number(reader, index, &reply->error_event, &reply->error_event_after);
}

static void read_malformed_event(struct reader *reader, int index, void *target)
{
    struct acog_provider_reply *reply = target;
    read_event_number(reader, index, &reply->malformed_event, &reply->malformed_event_after);
}

static void read_headers(struct reader *reader, int index, void *target)
{
    struct acog_provider_reply *reply = target;
    if (!reader_table(reader, index)) {
        return;
    }
    const struct acog_view *keys = NULL;
    size_t count = reader_keys(reader, index, &keys);
    if (count > HEADERS_MAX) {
        reader_error(reader, "has %zu headers, more than the %d that are allowed", count,
                     HEADERS_MAX);
        return;
    }
    struct acog_header_row *rows = reader_take(reader, (count + 1) * sizeof(*rows));
    for (size_t i = 0; i < count; i++) {
        size_t mark = reader_enter(reader, "[\"%.*s\"]", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(reader->L, keys[i].ptr, keys[i].len);
        (void)reader_token(reader, -1, &rows[i].name);
        lua_gettable(reader->L, index);
        if (lua_type(reader->L, -1) == LUA_TNUMBER) { /* ["retry-after"] = 7 */
            luaL_tolstring(reader->L, -1, NULL);
            lua_remove(reader->L, -2);
        }
        (void)reader_text(reader, -1, &rows[i].value);
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    reply->headers = rows;
    reply->header_count = count;
}

#define REPLY(member) offsetof(struct acog_provider_reply, member)

static void read_status(struct reader *reader, int index, void *target)
{
    int64_t status = 0;
    if (reader_integer(reader, index, 200, 599, &status)) {
        ((struct acog_provider_reply *)target)->status = (unsigned)status;
    }
}

static const struct field reply_fields[] = {
    {.name = "status", .kind = ACOG_FIELD_CUSTOM, .read = read_status},
    {.name = "text", .kind = ACOG_FIELD_TEXT, .offset = REPLY(text)},
    {.name = "reasoning", .kind = ACOG_FIELD_TEXT, .offset = REPLY(reasoning)},
    {.name = "tool", .kind = ACOG_FIELD_CUSTOM, .read = read_tool},
    {.name = "refusal", .kind = ACOG_FIELD_FLAG, .offset = REPLY(refusal)},
    {.name = "refusal_category", .kind = ACOG_FIELD_TEXT, .offset = REPLY(refusal_category)},
    {.name = "finish", .kind = ACOG_FIELD_TEXT, .offset = REPLY(finish)},
    {.name = "usage", .kind = ACOG_FIELD_CUSTOM, .read = read_usage},
    {.name = "done", .kind = ACOG_FIELD_CUSTOM, .read = read_done},
    {.name = "model", .kind = ACOG_FIELD_TEXT, .offset = REPLY(model)},
    {.name = "delay_ms",
     .kind = ACOG_FIELD_MILLISECONDS,
     .offset = REPLY(delay_ms),
     .max = DELAY_MS_MAX},
    {.name = "first_output_delay_ms",
     .kind = ACOG_FIELD_MILLISECONDS,
     .offset = REPLY(first_output_delay_ms),
     .max = DELAY_MS_MAX},
    {.name = "pace_ms",
     .kind = ACOG_FIELD_MILLISECONDS,
     .offset = REPLY(pace_ms),
     .max = DELAY_MS_MAX},
    {.name = "hang_ms",
     .kind = ACOG_FIELD_MILLISECONDS,
     .offset = REPLY(hang_ms),
     .max = DELAY_MS_MAX},
    {.name = "chunks", .kind = ACOG_FIELD_COUNT, .offset = REPLY(chunks), .max = EVENTS_MAX},
    {.name = "error", .kind = ACOG_FIELD_CUSTOM, .read = read_error},
    {.name = "body", .kind = ACOG_FIELD_TEXT, .offset = REPLY(body)},
    {.name = "content_type", .kind = ACOG_FIELD_TEXT, .offset = REPLY(content_type)},
    {.name = "headers", .kind = ACOG_FIELD_CUSTOM, .read = read_headers},
    {.name = "hang", .kind = ACOG_FIELD_CUSTOM, .read = read_hang},
    {.name = "reset", .kind = ACOG_FIELD_CUSTOM, .read = read_reset},
    {.name = "close", .kind = ACOG_FIELD_CUSTOM, .read = read_close},
    {.name = "error_event", .kind = ACOG_FIELD_CUSTOM, .read = read_error_event},
    {.name = "malformed_event", .kind = ACOG_FIELD_CUSTOM, .read = read_malformed_event},
    {.name = "comments", .kind = ACOG_FIELD_FLAG, .offset = REPLY(comments)},
};

const struct record reply_record = {"reply", reply_fields, FIELD_COUNT_OF(reply_fields)};

static void read_reply(struct reader *reader, int index, struct acog_provider_reply *reply)
{
    acog_provider_reply_init(reply);
    reader_fields(reader, index, reply_fields, FIELD_COUNT_OF(reply_fields), reply);
    int ends = (reply->hang != ACOG_STAGE_NEVER) + (reply->reset != ACOG_STAGE_NEVER) +
               (reply->close != ACOG_STAGE_NEVER);
    if (ends > 1) {
        reader_error(reader, "hang, reset and close exclude each other");
    }
    if (reply->hang_ms > 0 && reply->hang == ACOG_STAGE_NEVER) {
        reader_error(reader, "hang_ms has no effect without hang");
    }
}

/* -- `simulate` --------------------------------------------------------------------------------------- */

struct script_words {
    bool cycle;
};

static const struct field script_fields[] = {
    {.name = "replies", .kind = ACOG_FIELD_ELSEWHERE},
    {.name = "cycle", .kind = ACOG_FIELD_FLAG, .offset = offsetof(struct script_words, cycle)},
};

static void read_replies(struct reader *reader, int index, struct acog_provider_script *script)
{
    lua_State *L = reader->L;
    int count = reader_list(reader, index, REPLIES_MAX);
    if (count == 0) {
        reader_error(reader, "needs at least one reply");
    }
    if (count <= 0) {
        return;
    }
    struct acog_provider_reply *replies = reader_take(reader, (size_t)count * sizeof(*replies));
    for (int i = 1; i <= count; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(L, index, i);
        read_reply(reader, lua_gettop(L), &replies[i - 1]);
        lua_pop(L, 1);
        reader_leave(reader, mark);
    }
    script->replies = replies;
    script->reply_count = (size_t)count;
}

void compile_simulate(struct reader *reader, int index, void *target)
{
    struct acog_connection *connection = target;
    lua_State *L = reader->L;
    struct acog_provider_script *script = reader_take(reader, sizeof(*script));
    struct script_words words = {0};
    if (lua_type(L, index) == LUA_TBOOLEAN && lua_toboolean(L, index) != 0) {
        lua_newtable(L); /* simulate = true: a good answer each time */
        lua_replace(L, index);
    }
    if (lua_type(L, index) == LUA_TBOOLEAN) {
        return; /* simulate = false: it is real */
    }
    if (lua_type(L, index) != LUA_TTABLE) {
        reader_error(reader,
                     "must be a reply such as { status = 500 }, a list of replies, or true");
        return;
    }
    bool bare = lua_geti(L, index, 1) != LUA_TNIL; /* { { … }, … } */
    bool list = lua_getfield(L, index, "replies") != LUA_TNIL;
    int replies = lua_gettop(L);
    if (bare) {
        read_replies(reader, index, script);
    } else if (list) {
        reader_fields(reader, index, script_fields, FIELD_COUNT_OF(script_fields), &words);
        size_t mark = reader_enter(reader, "replies");
        read_replies(reader, replies, script);
        reader_leave(reader, mark);
        script->cycle = words.cycle;
    } else {
        struct acog_provider_reply *reply = reader_take(reader, sizeof(*reply));
        read_reply(reader, index, reply);
        script->replies = reply;
        script->reply_count = 1;
    }
    lua_settop(L, replies - 2);
    connection->simulate = script;
}

/* -- for acog.test ---------------------------------------------------------------------------------- */

struct reply_task {
    struct reader reader;
    struct acog_provider_reply *reply;
};

static int read_protected(lua_State *L)
{
    struct reply_task *task = lua_touserdata(L, 1);
    luaL_checkstack(L, 60, "reply");
    acog_lua_push_place(L, 0);
    reader_root(&task->reader, lua_tostring(L, -1), "reply");
    read_reply(&task->reader, 2, task->reply);
    return 0;
}

enum acog_code acog_policy_read_reply(struct lua_State *L, int index, struct acog_arena *arena,
                                      struct acog_provider_reply *reply, struct acog_error *error)
{
    struct acog_report report;
    acog_report_init(&report);
    struct reply_task task = {
        .reader = {.L = L, .arena = arena, .report = &report},
        .reply = reply,
    };
    index = lua_absindex(L, index);
    lua_pushcfunction(L, read_protected);
    lua_pushlightuserdata(L, &task);
    lua_pushvalue(L, index);
    enum acog_code code = acog_lua_call(L, 2, 0, READ_INSTRUCTIONS, error);
    if (code != ACOG_OK && task.reader.no_memory) {
        code = ACOG_NO_MEMORY;
    }
    if (code == ACOG_OK && report.errors > 0) {
        code = acog_error_set(error, ACOG_INVALID, "%.*s", ACOG_VIEW_FMT(report.findings[0].text));
    }
    acog_report_fini(&report);
    return code;
}
