/* dedicated.c - dedicated endpoints: names that clients ask for instead of a model (S0.16-S0.18, S0.69, S0.70). */
#include "acog/shared.h"
#include "compile.h"

#include <stddef.h>

#define REGIONS_MAX    32
#define PER_MINUTE_MAX 60000.0 /* a turn a millisecond */
#define WAIT_MAX       3600.0
#define MINUTE_MS      60000

static const struct words channels = WORDS_OF("a channel", CHANNEL);

struct dedicated_words {
    struct acog_dedicated row;
    uint32_t per_minute;
    bool public;
};

#define ENDPOINT(member) offsetof(struct dedicated_words, member)

static void read_regions(struct reader *reader, int index, void *target)
{
    struct acog_dedicated *row = &((struct dedicated_words *)target)->row;
    row->regions = reader_texts(reader, index, REGIONS_MAX, &row->region_count);
}

static const struct field pace_fields[] = {
    {.name = "per_minute",
     .kind = ACOG_FIELD_COUNT,
     .offset = ENDPOINT(per_minute),
     .min = 1,
     .max = PER_MINUTE_MAX},
    {.name = "wait",
     .kind = ACOG_FIELD_SECONDS,
     .offset = ENDPOINT(row.wait_ms_max),
     .max = WAIT_MAX},
};

static void read_pace(struct reader *reader, int index, void *target)
{
    struct dedicated_words *words = target;
    reader_fields(reader, index, pace_fields, FIELD_COUNT_OF(pace_fields), target);
    if (words->per_minute == 0) {
        reader_error(reader, "needs per_minute: how many turns there are");
    }
}

static const struct field dedicated_fields[] = {
    {.name = "model", .kind = ACOG_FIELD_TEXT, .offset = ENDPOINT(row.model)},
    {.name = "closed", .kind = ACOG_FIELD_FLAG, .offset = ENDPOINT(row.closed)},
    {.name = "public", .kind = ACOG_FIELD_FLAG, .offset = ENDPOINT(public)},
    {.name = "channels",
     .kind = ACOG_FIELD_WORDS,
     .offset = ENDPOINT(row.channels),
     .words = &channels},
    {.name = "regions", .kind = ACOG_FIELD_CUSTOM, .read = read_regions},
    {.name = "pace", .kind = ACOG_FIELD_CUSTOM, .read = read_pace},
};

const struct record dedicated_record = {"endpoint", dedicated_fields,
                                        FIELD_COUNT_OF(dedicated_fields)};

static void take_pace_cell(struct reader *reader, struct acog_dedicated *row)
{
    struct acog_shared *shared = compile_of(reader)->shared;
    row->pace_cell = ACOG_NO_CELL;
    if (row->pace_ms > 0 && shared != NULL &&
        acog_shared_pace(shared, row->name, &row->pace_cell) != ACOG_OK) {
        reader_error(reader, "no room for its pace: more than %d paced endpoints since the start",
                     ACOG_SHARED_PACES_MAX);
    }
}

static void read_endpoint(struct reader *reader, int index, struct acog_view name,
                          struct acog_dedicated *row)
{
    struct dedicated_words words = {.row = {.name = name, .wait_ms_max = 30000}, .public = true};
    reader_fields(reader, index, dedicated_fields, FIELD_COUNT_OF(dedicated_fields), &words);
    if (!compile_id_is_sane(name, MODEL_ID_BYTES_MAX) ||
        acog_view_find(name, ACOG_VIEW("/")) == name.len) {
        reader_error(reader, "an endpoint is called \"owner/name\"");
    }
    if (words.row.model.len == 0) {
        reader_error(reader, "needs model: the one that it serves");
    }
    if (!words.public && (words.row.channels != 0 || words.row.region_count > 0)) {
        reader_warn(reader, "channels and regions have no effect with public = false");
    }
    words.row.own_only = !words.public;
    words.row.pace_ms = words.per_minute == 0 ? 0 : MINUTE_MS / (int64_t)words.per_minute;
    take_pace_cell(reader, &words.row);
    *row = words.row;
}

void compile_dedicated(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    const struct acog_view *keys = NULL;
    if (!reader_table(reader, index)) {
        return;
    }
    size_t count = reader_keys(reader, index, &keys);
    if (count > ACOG_DEDICATED_MAX) {
        reader_error(reader, "has more than the %d endpoints that are allowed", ACOG_DEDICATED_MAX);
        return;
    }
    struct acog_dedicated *rows = reader_take(reader, (count + 1) * sizeof(*rows));
    policy->dedicated_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t mark = reader_enter(reader, "[\"%.*s\"]", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(reader->L, keys[i].ptr, keys[i].len);
        lua_gettable(reader->L, index);
        bool off = lua_type(reader->L, -1) == LUA_TBOOLEAN && lua_toboolean(reader->L, -1) == 0;
        if (!off && reader_table(reader, lua_gettop(reader->L))) {
            read_endpoint(reader, lua_gettop(reader->L), keys[i], &rows[policy->dedicated_count]);
            policy->dedicated_count++;
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    policy->dedicated = rows;
}

/* -- what only shows when all is there --------------------------------------------------------------- */

static bool filters_reserved(const struct acog_policy *policy)
{
    for (size_t i = 0; i < policy->filter_count; i++) {
        if (policy->filters[i].kind == ACOG_FILTER_RESERVED) {
            return true;
        }
    }
    return false;
}

void compile_check_dedicated(struct compile *compile)
{
    struct reader *reader = &compile->reader;
    const struct acog_policy *policy = &compile->snapshot->policy;
    reader_root(reader, compile->policy_place, "policy \"%.*s\"", ACOG_VIEW_FMT(policy->name));
    if (policy->dedicated_count > 0 && !filters_reserved(policy)) {
        reader_error(reader, "endpoints: need the filter \"reserved\"");
    }
    for (size_t i = 0; i < policy->dedicated_count; i++) {
        struct acog_view name = policy->dedicated[i].name;
        if (!acog_view_equal(acog_policy_resolve(policy, name), name)) {
            reader_error(reader, "endpoints: \"%.*s\" is an alias as well", ACOG_VIEW_FMT(name));
        }
    }
    for (size_t i = 0; i < compile->connection_count; i++) {
        const struct acog_connection *connection = &compile->connections[i];
        if (connection->reserved_for.len > 0 &&
            acog_policy_dedicated(policy, connection->reserved_for) == NULL) {
            reader_root(reader, compile->places[i], "connection \"%.*s\"",
                        ACOG_VIEW_FMT(connection->id));
            reader_error(reader, "reserved_for: the policy has no endpoint \"%.*s\"",
                         ACOG_VIEW_FMT(connection->reserved_for));
        }
    }
}
