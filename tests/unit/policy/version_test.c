/* version_test.c - lua/version.lua against recorded ids (ACOG_CORPUS): false matches and missed ones are told.
 *
 * A row of model_families groups ids by hand. Where the rule knowingly differs (decision 2, lua/version.md) the pair is
 * reviewed: "-preview" is no spelling of the released model, and "claude-opus-4-0", "claude-4-opus" are spellings of
 * claude-opus-4. Everything else must agree.
 */
#include "acog/policy.h"
#include "acog/shared.h"
#include "lua/sandbox.h"
#include "tests/support/check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#define FIELD_MAX    200
#define ROWS_MAX     600
#define INSTRUCTIONS ((int64_t)10 * 1000 * 1000)

struct row {
    char family[FIELD_MAX];
    char id[FIELD_MAX];
};

static struct row rows[ROWS_MAX];

/* Reads columns `first` and `second` of a tab-separated file; 0 when there is no corpus. */
static size_t read_columns(const char *name, int first, int second)
{
    char path[512];
    char line[2048];
    const char *corpus = getenv("ACOG_CORPUS"); /* NOLINT(concurrency-mt-unsafe): one thread */
    if (corpus == NULL) {
        print_message("skipped: ACOG_CORPUS is not set\n");
        skip();
    }
    (void)snprintf(path, sizeof(path), "%s/4-models/derived/%s", corpus, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = 0;
    while (count < ROWS_MAX && fgets(line, sizeof(line), file) != NULL) {
        char *field = line;
        for (int column = 0; field != NULL; column++) {
            char *tab = strchr(field, '\t');
            int len = tab == NULL ? (int)strcspn(field, "\n") : (int)(tab - field);
            if (column == first) {
                (void)snprintf(rows[count].family, FIELD_MAX, "%.*s", len, field);
            } else if (column == second) {
                (void)snprintf(rows[count].id, FIELD_MAX, "%.*s", len, field);
            }
            field = tab == NULL ? NULL : tab + 1;
        }
        count++;
    }
    (void)fclose(file);
    return count;
}

/* Leaves at stack place 1 the function that finds (version.loose over the ids of all rows, each on a connection of its
 * own), at 2 version.read, at 3 version.same. */
static lua_State *open_version(size_t count)
{
    struct acog_error error;
    lua_State *L = acog_policy_lua_new("tests/none.lua", &error);
    assert_non_null(L);
    enum acog_code code = acog_lua_load(L,
                                        ACOG_VIEW("local v, ids = require \"acog.version\", ...\n"
                                                  "local declared = {}\n"
                                                  "for i, id in ipairs(ids) do\n"
                                                  "  declared[i] = { id = id, connection = i }\n"
                                                  "end\n"
                                                  "return v.loose(declared, {}), v.read, v.same"),
                                        "v.lua", &error);
    assert_int_equal(code, ACOG_OK);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 1; i < count; i++) { /* row 0 is the head of the file */
        lua_pushstring(L, rows[i].id);
        lua_rawseti(L, -2, (lua_Integer)i);
    }
    code = acog_lua_call(L, 1, 3, INSTRUCTIONS, &error);
    assert_int_equal(code, ACOG_OK);
    return L;
}

/* Sets matches[j] for each row j that the id reaches. */
static void find(lua_State *L, const char *id, bool *matches)
{
    struct acog_error error;
    memset(matches, 0, ROWS_MAX * sizeof(*matches));
    lua_pushvalue(L, 1);
    lua_pushstring(L, id);
    enum acog_code code = acog_lua_call(L, 1, 1, INSTRUCTIONS, &error);
    assert_int_equal(code, ACOG_OK);
    for (lua_Integer i = 1; i <= luaL_len(L, -1); i++) {
        lua_geti(L, -1, i);
        lua_getfield(L, -1, "connection");
        matches[lua_tointeger(L, -1)] = true;
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
}

static bool same(lua_State *L, const char *a, const char *b)
{
    struct acog_error error;
    lua_pushvalue(L, 3);
    lua_pushstring(L, a);
    lua_pushstring(L, b);
    enum acog_code code = acog_lua_call(L, 2, 1, INSTRUCTIONS, &error);
    assert_int_equal(code, ACOG_OK);
    bool result = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
    return result;
}

/* The stamp of an id, or "". */
static void stamp_of(lua_State *L, const char *id, char *stamp)
{
    struct acog_error error;
    lua_pushvalue(L, 2);
    lua_pushstring(L, id);
    enum acog_code code = acog_lua_call(L, 1, 1, INSTRUCTIONS, &error);
    assert_int_equal(code, ACOG_OK);
    lua_getfield(L, -1, "stamp");
    (void)snprintf(stamp, FIELD_MAX, "%s", lua_isnil(L, -1) ? "" : lua_tostring(L, -1));
    lua_pop(L, 2);
}

static bool stamps_differ(lua_State *L, const char *a, const char *b)
{
    char stamp_a[FIELD_MAX];
    char stamp_b[FIELD_MAX];
    stamp_of(L, a, stamp_a);
    stamp_of(L, b, stamp_b);
    return stamp_a[0] != '\0' && stamp_b[0] != '\0' && strcmp(stamp_a, stamp_b) != 0;
}

static bool is_reviewed(const char *a, const char *b)
{
    bool preview = (strstr(a, "preview") != NULL) != (strstr(b, "preview") != NULL);
    bool spelling = strstr(a, "4-0") != NULL || strstr(b, "4-0") != NULL ||
                    strstr(a, "claude-4-") != NULL || strstr(b, "claude-4-") != NULL;
    return preview || spelling;
}

static void families_are_told_apart(void **state)
{
    (void)state;
    size_t count = read_columns("model_families.open.tsv", 0, 2);
    lua_State *L = open_version(count);
    size_t false_matches = 0;
    size_t missed = 0;
    size_t reviewed = 0;
    bool reached[ROWS_MAX];
    for (size_t i = 1; i < count; i++) {
        find(L, rows[i].id, reached);
        for (size_t j = i + 1; j < count; j++) {
            bool family = strcmp(rows[i].family, rows[j].family) == 0;
            bool matches = reached[j];
            if (family == matches || (family && stamps_differ(L, rows[i].id, rows[j].id))) {
                continue;
            }
            if (is_reviewed(rows[i].id, rows[j].id)) {
                reviewed++;
                continue;
            }
            print_message("%s: %s, %s\n", matches ? "false match" : "missed", rows[i].id,
                          rows[j].id);
            false_matches += matches ? 1 : 0;
            missed += matches ? 0 : 1;
        }
    }
    print_message("%zu ids: %zu false matches, %zu missed, %zu reviewed\n", count - 1,
                  false_matches, missed, reviewed);
    assert_int_equal(false_matches, 0);
    assert_int_equal(missed, 0);
    acog_policy_lua_free(&L);
}

/* What a provider calls the model that it was asked for: most are stamps and spellings; the rest are other models or
 * private names, which must not match. */
static void observed_answers_are_counted(void **state)
{
    (void)state;
    size_t count = read_columns("observed_model_pairs.open.tsv", 2, 3);
    lua_State *L = open_version(count);
    size_t matched = 0;
    size_t different = 0;
    for (size_t i = 1; i < count; i++) {
        if (rows[i].id[0] == '\0' || strcmp(rows[i].family, rows[i].id) == 0) {
            continue;
        }
        bool matches = same(L, rows[i].family, rows[i].id);
        matched += matches ? 1 : 0;
        different += matches ? 0 : 1;
        bool claude_stamp =
            strncmp(rows[i].family, "claude-", 7) == 0 && strncmp(rows[i].id, "claude-", 7) == 0;
        assert_true(matches || !claude_stamp);
    }
    print_message(
        "%zu answers under another id: %zu match, %zu are other models or private names\n",
        matched + different, matched, different);
    acog_policy_lua_free(&L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_told_apart),
        cmocka_unit_test(observed_answers_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
