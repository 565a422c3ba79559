/* sources_test.c - configurations of several files. */
#include "sources.h"

#include "acog/memory.h"
#include "acog/policy.h"
#include "acog/shared.h"
#include "lua/sandbox.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAIN                                                                                           \
    "local acog = require \"acog\"\nlocal keep = require \"teams.legal\"\n"                            \
    "local base = require \"policies.acog\"\n"                                                         \
    "return acog.gateway { policy = base:with { filters = base.filters:before(\"circuit\", keep) },\n" \
    "connections = { acog.connection \"a\" { simulate = true, models = { \"m\" } } } }\n"
#define LEGAL                                                                                   \
    "return function(request, candidate)\n"                                                     \
    "  return request.header [ 'X-Team' ] ~= \"legal\" and request.header.via == nil, \"no\"\n" \
    "end\n"

struct scene {
    char folder[64];
    struct acog_shared *shared;
    struct acog_snapshot *snapshot;
    struct acog_report report;
    enum acog_code code;
};

static void path_in(const struct scene *scene, const char *name, char *path, size_t room)
{
    int len = snprintf(path, room, "%s/%s", scene->folder, name);
    assert_true(len > 0 && (size_t)len < room);
}

static void write_file(const struct scene *scene, const char *name, const char *text)
{
    char path[256];
    path_in(scene, name, path, sizeof(path));
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void begin(struct scene *scene)
{
    char path[256];
    memset(scene, 0, sizeof(*scene));
    (void)snprintf(scene->folder, sizeof(scene->folder), "/tmp/acog_sources_XXXXXX");
    assert_non_null(mkdtemp(scene->folder));
    path_in(scene, "teams", path, sizeof(path));
    assert_int_equal(mkdir(path, 0700), 0);
    scene->shared = acog_shared_new();
    acog_report_init(&scene->report);
}

static void load_named(struct scene *scene, const char *name)
{
    char path[256];
    path_in(scene, name, path, sizeof(path));
    struct acog_policy_options options = {.path = path};
    acog_report_fini(&scene->report);
    acog_report_init(&scene->report);
    acog_snapshot_unref(&scene->snapshot);
    scene->code = acog_policy_load(&options, scene->shared, &scene->snapshot, &scene->report);
}

static void load(struct scene *scene)
{
    load_named(scene, "gateway.lua");
}

static void end(struct scene *scene)
{
    static const char *const names[] = {
        "gateway.lua",   "teams/legal.lua", "a.lua", "b.lua", "policies/acog/acog.lua",
        "policies/acog", "policies",        "teams", ""};
    acog_snapshot_unref(&scene->snapshot);
    acog_report_fini(&scene->report);
    acog_shared_free(&scene->shared);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[256];
        path_in(scene, names[i], path, sizeof(path));
        (void)remove(path);
    }
}

static void assert_says(const struct scene *scene, const char *text)
{
    assert_int_equal(scene->code, ACOG_INVALID);
    assert_true(scene->report.count > 0);
    if (strstr(scene->report.findings[0].text.ptr, text) == NULL) {
        fail_msg("got: %s", scene->report.findings[0].text.ptr);
    }
}

static void files_beside_the_configuration_are_kept_with_it(void **state)
{
    (void)state;
    struct scene scene;
    struct acog_error error;
    begin(&scene);
    write_file(&scene, "gateway.lua", MAIN);
    write_file(&scene, "teams/legal.lua", LEGAL);
    load(&scene);
    assert_int_equal(scene.code, ACOG_OK);
    assert_int_equal(scene.snapshot->source_count, 2);
    assert_true(acog_view_equal(scene.snapshot->sources[1].name, ACOG_VIEW("teams.legal")));
    assert_true(acog_view_equal(scene.snapshot->sources[1].text, acog_view_of(LEGAL)));
    assert_int_equal(scene.snapshot->client_header_count, 2);
    assert_true(acog_view_equal(scene.snapshot->client_headers[0], ACOG_VIEW("x-team")));
    assert_true(acog_view_equal(scene.snapshot->client_headers[1], ACOG_VIEW("via")));
    const struct acog_policy *policy = &scene.snapshot->policy;
    assert_non_null(
        strstr(policy->filters[policy->filter_count - 2].place.ptr, "/teams/legal.lua:1"));
    write_file(&scene, "teams/legal.lua",
               "broken("); /* a worker's state runs the bytes that were read */
    struct acog_policy_state *worker = acog_policy_state_new(scene.snapshot, &error);
    assert_non_null(worker);
    acog_policy_state_free(&worker);
    end(&scene);
}

static void a_change_in_any_file_changes_the_hash(void **state)
{
    (void)state;
    struct scene scene;
    char before[17];
    begin(&scene);
    write_file(&scene, "gateway.lua", MAIN);
    write_file(&scene, "teams/legal.lua", LEGAL);
    load(&scene);
    (void)snprintf(before, sizeof(before), "%.*s", ACOG_VIEW_FMT(scene.snapshot->hash));
    load(&scene);
    assert_true(acog_view_equal(scene.snapshot->hash, acog_view_of(before)));
    write_file(&scene, "teams/legal.lua", LEGAL "-- more\n");
    load(&scene);
    assert_false(acog_view_equal(scene.snapshot->hash, acog_view_of(before)));
    end(&scene);
}

static void what_cannot_be_read_says_so(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    load(&scene);
    assert_says(&scene, "gateway.lua: cannot be opened");
    write_file(&scene, "gateway.lua", MAIN);
    load(&scene);
    assert_says(&scene,
                "gateway.lua:2: no module \"teams.legal\": there is no teams/legal.lua beside the "
                "configuration, and the binary has acog, ");
    write_file(&scene, "teams/legal.lua", "local x = = 1");
    load(&scene);
    assert_says(&scene, "teams/legal.lua:1: unexpected symbol near '='");
    write_file(&scene, "gateway.lua", "require \"a\"");
    write_file(&scene, "a.lua", "require \"b\"");
    write_file(&scene, "b.lua", "require \"a\"");
    load(&scene);
    assert_says(&scene, "module \"a\" requires itself, directly or over others");
    end(&scene);
}

static void a_folder_is_no_configuration(void **state)
{
    (void)state;
    struct scene scene;
    char text[256];
    begin(&scene);
    load_named(&scene, "teams");
    (void)snprintf(text, sizeof(text), "%s/teams: is a folder", scene.folder);
    assert_says(&scene, text);
    /* The path is told once. */
    assert_ptr_equal(strstr(scene.report.findings[0].text.ptr, text),
                     scene.report.findings[0].text.ptr);
    end(&scene);
}

static void a_large_file_is_refused(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    char *text = acog_new(SOURCE_BYTES_MAX + 2);
    assert_non_null(text);
    memset(text, ' ', SOURCE_BYTES_MAX + 1);
    text[SOURCE_BYTES_MAX + 1] = '\0';
    write_file(&scene, "gateway.lua", text);
    acog_free(text);
    load(&scene);
    assert_says(&scene, "is larger than 1048576 bytes");
    end(&scene);
}

/* What the policy is called that a test file finds. */
static void assert_finds(const struct scene *scene, const char *test_file, const char *policy,
                         const char *name)
{
    char path[256];
    char text[64];
    struct acog_error error;
    path_in(scene, test_file, path, sizeof(path));
    (void)snprintf(text, sizeof(text), "return require('policies.%s').name", policy);
    lua_State *L = acog_policy_lua_new(path, &error);
    assert_non_null(L);
    assert_int_equal(acog_lua_load(L, acog_view_of(text), path, &error), ACOG_OK);
    assert_int_equal(acog_lua_call(L, 0, 1, 1000000, &error), ACOG_OK);
    assert_string_equal(lua_tostring(L, -1), name);
    acog_policy_lua_free(&L);
}

static void a_test_beside_a_policy_gets_the_file_that_stands_there(void **state)
{
    (void)state;
    struct scene scene;
    char path[256];
    begin(&scene);
    path_in(&scene, "policies", path, sizeof(path));
    assert_int_equal(mkdir(path, 0700), 0);
    path_in(&scene, "policies/acog", path, sizeof(path));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_finds(&scene, "policies/acog/some_test.lua", "acog", "acog"); /* no file there */
    write_file(&scene, "policies/acog/acog.lua",
               "return require('acog').policy { name = 'edited' }");
    assert_finds(&scene, "policies/acog/some_test.lua", "acog", "edited");
    assert_finds(&scene, "policies/acog/some_test.lua", "rolter", "rolter");
    assert_finds(&scene, "some_test.lua", "acog", "acog");
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_beside_the_configuration_are_kept_with_it),
        cmocka_unit_test(a_change_in_any_file_changes_the_hash),
        cmocka_unit_test(what_cannot_be_read_says_so),
        cmocka_unit_test(a_folder_is_no_configuration),
        cmocka_unit_test(a_large_file_is_refused),
        cmocka_unit_test(a_test_beside_a_policy_gets_the_file_that_stands_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
