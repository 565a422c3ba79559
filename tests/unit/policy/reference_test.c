/* reference_test.c - lua/acog.md names every field and word that a configuration can have, and its examples run. */
#include "acog/policy.h"
#include "acog/shared.h"
#include "compile.h"
#include "lua/sandbox.h"
#include "objects.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#define PAGE_MAX  65536
#define BLOCK_MAX 4096

static char page[PAGE_MAX];

static void read_page(const char *path)
{
    char full[512];
    (void)snprintf(full, sizeof(full), "%s/%s", ACOG_SOURCE_DIR, path);
    FILE *file = fopen(full, "rb");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof(page) - 1, file);
    (void)fclose(file);
    page[size] = '\0';
    assert_true(size < sizeof(page) - 1);
}

/* `name`, or behind a dot: `health.name`. */
static void assert_named(const char *what, struct acog_view name)
{
    char alone[128];
    char behind_dot[128];
    char key[128];
    (void)snprintf(alone, sizeof(alone), "`%.*s`", ACOG_VIEW_FMT(name));
    (void)snprintf(behind_dot, sizeof(behind_dot), ".%.*s`", ACOG_VIEW_FMT(name));
    (void)snprintf(key, sizeof(key), "%.*s =", ACOG_VIEW_FMT(name));
    if (strstr(page, alone) == NULL && strstr(page, behind_dot) == NULL &&
        strstr(page, key) == NULL) {
        fail_msg("lua/acog.md does not name %s of %s", name.ptr, what);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): groups are one deep */
static void assert_record(const struct record *record)
{
    for (size_t i = 0; i < record->count; i++) {
        const struct field *field = &record->fields[i];
        assert_named(record->name, acog_view_of(field->name));
        for (int j = 0; field->words != NULL && j < words_count(field->words); j++) {
            assert_named(field->name, words_text(field->words, j));
        }
        if (field->group != NULL) {
            assert_record(&(struct record){field->name, field->group, field->group_count});
        }
    }
}

static void assert_records(const struct record *records)
{
    for (; records->name != NULL; records++) {
        assert_record(records);
    }
}

static void every_field_and_word_is_in_the_reference(void **state)
{
    (void)state;
    read_page("lua/acog.md");
    assert_records(gateway_records);
    assert_record(&connection_record);
    assert_record(&listener_record);
    assert_record(&dedicated_record);
    assert_record(&access_record);
    assert_record(&dlp_record);
    assert_record(&model_record);
    assert_records(class_records);
    assert_records(answer_records);
    assert_record(&clock_record);
    assert_record(&filter_record);
    assert_record(&policy_record);
    assert_record(&reply_record);
    read_page("lua/model.md");
    assert_record(&model_rules_record);
}

static void every_field_of_request_and_candidate_is_in_the_reference(void **state)
{
    (void)state;
    read_page("lua/acog.md");
    for (size_t i = 0; objects_request_field(i) != NULL; i++) {
        assert_named("request", acog_view_of(objects_request_field(i)));
    }
    for (size_t i = 0; objects_candidate_field(i) != NULL; i++) {
        assert_named("candidate", acog_view_of(objects_candidate_field(i)));
    }
}

/* Runs one example. Fields of a table (`pin = …`) are put into one. */
static void run_block(const char *path, const char *block, size_t len)
{
    char text[BLOCK_MAX];
    struct acog_error error;
    bool fields = strncmp(block, "local", 5) != 0 && strncmp(block, "assert", 6) != 0;
    int written =
        snprintf(text, sizeof(text),
                 "local version = require \"acog.version\"\n"
                 "local channel = require \"acog.channel\"\n"
                 "local base = require \"policies.acog\"\n"
                 "%s%.*s%s",
                 fields ? "local example = { " : "", (int)len, block,
                 fields ? " }\nassert(version and channel and base and next(example))" : "");
    assert_true(written > 0 && (size_t)written < sizeof(text));
    lua_State *L = acog_policy_lua_new("lua/none.lua", &error);
    assert_non_null(L);
    enum acog_code code = acog_lua_load(L, acog_view_of(text), path, &error);
    if (code == ACOG_OK) {
        code = acog_lua_call(L, 0, 0, 10000000, &error);
    }
    if (code != ACOG_OK) {
        fail_msg("an example of %s: %s", path, error.text);
    }
    acog_policy_lua_free(&L);
}

static void every_example_runs(void **state)
{
    (void)state;
    static const char *const pages[] = {"lua/acog.md", "lua/version.md", "lua/model.md",
                                        "lua/channel.md", "policies/acog/README.md"};
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        int count = 0;
        read_page(pages[i]);
        for (char *at = strstr(page, "```lua\n"); at != NULL; at = strstr(at, "```lua\n")) {
            at += strlen("```lua\n");
            char *close = strstr(at, "```");
            assert_non_null(close);
            run_block(pages[i], at, (size_t)(close - at));
            at = close + 3;
            count++;
        }
        assert_true(count > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_and_word_is_in_the_reference),
        cmocka_unit_test(every_field_of_request_and_candidate_is_in_the_reference),
        cmocka_unit_test(every_example_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
