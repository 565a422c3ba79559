/* reports_test.c - cases, reports for programs, files in processes of their own, coverage: `acog test` as a whole. */
#include "acog/buffer.h"
#include "acog/simulate.h"
#include "coverage.h"
#include "files.h"
#include "tests/unit/simulate/written.h"

#include <jansson.h>

static const char head[] = "local acog = require 'acog'\n"
                           "local test = require 'acog.test'\n";

static const char cases[] =
    "test('even', function(t)\n"
    "  t.cases({ { name = 'two', n = 2 }, { name = 'three', n = 3 }, { n = 4 } },\n"
    "    function(row) t.equal(row.n % 2, 0, '<&\"') end)\n"
    "end)\n"
    "test('last', function() end)\n";

struct run {
    struct written files;
    struct printed out;
    struct printed errors;
    char json[96];
    char junit[96];
};

static void run_init(struct run *run)
{
    written_init(&run->files);
    (void)snprintf(run->json, sizeof(run->json), "%s/r.json", run->files.folder);
    (void)snprintf(run->junit, sizeof(run->junit), "%s/r.xml", run->files.folder);
}

static void run_add(struct run *run, const char *name, const char *body)
{
    char text[4096];
    (void)snprintf(text, sizeof(text), "%s%s", head, body);
    (void)written_add(&run->files, name, text);
}

static enum acog_simulate_exit run_all(struct run *run, struct acog_test_options *options)
{
    const char *const paths[] = {run->files.folder};
    printed_begin(&run->out);
    printed_begin(&run->errors);
    options->seed = 1;
    options->out = run->out.file;
    options->errors = run->errors.file;
    options->instructions = 10000000;
    enum acog_simulate_exit result = acog_simulate_test(paths, 1, options);
    printed_end(&run->out);
    printed_end(&run->errors);
    return result;
}

static void run_printed(struct run *run)
{
    printed_fini(&run->out);
    printed_fini(&run->errors);
}

static void run_fini(struct run *run)
{
    (void)unlink(run->json);
    (void)unlink(run->junit);
    written_fini(&run->files);
}

static void read_whole(const char *path, struct acog_buffer *out)
{
    struct acog_error error;
    acog_buffer_init(out, 1 << 20);
    assert_int_equal(acog_files_read(path, out, &error), ACOG_OK);
    assert_int_equal(acog_buffer_append(out, (struct acog_view){"", 1}), ACOG_OK);
}

static void a_case_is_told_by_its_name_and_stops_no_other(void **state)
{
    struct run run;
    struct acog_test_options options = {0};
    (void)state;
    run_init(&run);
    run_add(&run, "a_test.lua", cases);
    assert_int_equal(run_all(&run, &options), ACOG_EXIT_FAILED);
    printed_has(&run.out, "  ok      even: two\n  FAILED  even: three\n");
    printed_has(&run.out, "a_test.lua:5: <&\": expected 0, got 1\n  ok      even: 3\n");
    printed_has(&run.out, "  FAILED  even\n");
    printed_has(&run.out, "1 of 3 cases failed\n  ok      last\n3 passed, 2 failed\n");
    run_printed(&run);
    run_fini(&run);
}

static void json_has_each_result_and_the_sums(void **state)
{
    struct run run;
    struct acog_test_options options = {.coverage = true};
    (void)state;
    run_init(&run);
    run_add(&run, "a_test.lua", cases);
    run_add(&run, "b_test.lua", "no Lua");
    options.json_path = run.json;
    assert_int_equal(run_all(&run, &options), ACOG_EXIT_ERROR);
    json_t *report = json_load_file(run.json, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(report);
    assert_int_equal(json_integer_value(json_object_get(report, "passed")), 3);
    assert_int_equal(json_integer_value(json_object_get(report, "failed")), 2);
    assert_int_equal(json_integer_value(json_object_get(report, "errors")), 1);
    const json_t *tests = json_object_get(report, "tests");
    assert_int_equal(json_array_size(tests), 6);
    const json_t *three = json_array_get(tests, 1);
    assert_string_equal(json_string_value(json_object_get(three, "name")), "even: three");
    assert_string_equal(json_string_value(json_object_get(three, "outcome")), "failed");
    assert_non_null(strstr(json_string_value(json_object_get(three, "why")), "expected 0, got 1"));
    const json_t *broken = json_array_get(tests, 5);
    assert_string_equal(json_string_value(json_object_get(broken, "outcome")), "error");
    assert_true(json_is_array(json_object_get(report, "coverage")));
    json_decref(report);
    run_printed(&run);
    run_fini(&run);
}

static void junit_escapes_what_a_test_says(void **state)
{
    struct run run;
    struct acog_buffer xml;
    struct acog_test_options options = {0};
    (void)state;
    run_init(&run);
    run_add(&run, "a_test.lua", cases);
    options.junit_path = run.junit;
    assert_int_equal(run_all(&run, &options), ACOG_EXIT_FAILED);
    read_whole(run.junit, &xml);
    assert_non_null(strstr(xml.ptr, "tests=\"5\" failures=\"2\" errors=\"0\">"));
    assert_non_null(strstr(xml.ptr, "name=\"even: three\">\n      <failure message="));
    assert_non_null(strstr(xml.ptr, "&lt;&amp;&quot;: expected 0, got 1"));
    assert_null(strstr(xml.ptr, "<&"));
    acog_buffer_fini(&xml);
    run_printed(&run);
    run_fini(&run);
}

static void the_bytes_are_the_same_however_many_run_at_a_time(void **state)
{
    struct run run;
    struct acog_buffer json[2];
    char *printed[2];
    (void)state;
    run_init(&run);
    run_add(&run, "a_test.lua", cases);
    run_add(&run, "b_test.lua", "test('b', function() end)\nno Lua");
    run_add(&run, "c_test.lua", cases);
    for (unsigned i = 0; i < 2; i++) {
        struct acog_test_options options = {
            .jobs = 1 + 2 * i, .json_path = run.json, .coverage = true};
        assert_int_equal(run_all(&run, &options), ACOG_EXIT_ERROR);
        printed[i] = run.out.text;
        run.out.text = NULL;
        read_whole(run.json, &json[i]);
        run_printed(&run);
    }
    assert_string_equal(printed[0], printed[1]);
    assert_string_equal(json[0].ptr, json[1].ptr);
    for (unsigned i = 0; i < 2; i++) {
        free(printed[i]);
        acog_buffer_fini(&json[i]);
    }
    run_fini(&run);
}

static void a_list_runs_nothing(void **state)
{
    struct run run;
    struct acog_test_options options = {.list = true};
    (void)state;
    run_init(&run);
    run_add(&run, "a_test.lua", "test('one', function() error('ran') end)\n");
    assert_int_equal(run_all(&run, &options), ACOG_EXIT_FINE);
    printed_has(&run.out, "a_test.lua\n  one\n1 tests\n");
    run_printed(&run);
    run_fini(&run);
}

static void a_report_that_cannot_be_written_is_an_error(void **state)
{
    struct run run;
    struct acog_test_options options = {.json_path = "/nowhere/at/all.json"};
    (void)state;
    run_init(&run);
    run_add(&run, "a_test.lua", "test('one', function() end)\n");
    assert_int_equal(run_all(&run, &options), ACOG_EXIT_ERROR);
    printed_has(&run.errors, "/nowhere/at/all.json cannot be written");
    run_printed(&run);
    run_fini(&run);
}

/* -- coverage --------------------------------------------------------------------------------------- */

static const char module[] = "local m = {}\n"          /* 1 */
                             "m.list = {\n"            /* 2 */
                             "  one = 1,\n"            /* 3 */
                             "}\n"                     /* 4: the field is set */
                             "function m.called(x)\n"  /* 5 */
                             "  if x then\n"           /* 6 */
                             "    return m.never(x)\n" /* 7 */
                             "  end\n"                 /* 8 */
                             "  return 1\n"            /* 9 */
                             "end\n"                   /* 10 */
                             "function m.never()\n"    /* 11 */
                             "  local a = 1\n"         /* 12 */
                             "\n"                      /* 13 */
                             "  return a\n"            /* 14 */
                             "end\n"                   /* 15 */
                             "return m\n";             /* 16 */

static void lines_that_did_not_run_are_named(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    (void)written_add(&run.files, "m.lua", module);
    run_add(&run, "a_test.lua", "test('one', function() require('m').called() end)\n");
    for (unsigned jobs = 1; jobs < 3; jobs++) {
        struct acog_test_options options = {.coverage = true, .coverage_min = 70, .jobs = jobs};
        assert_int_equal(run_all(&run, &options), ACOG_EXIT_FINE);
        printed_has(&run.out, "m.lua; not run: 7, 12-14\n");
        run_printed(&run);
        options.coverage_min = 80;
        assert_int_equal(run_all(&run, &options), ACOG_EXIT_FAILED);
        printed_has(&run.errors, "less than 80 % of the lines ran");
        run_printed(&run);
    }
    run_fini(&run);
}

static void count_line(void *user, size_t line)
{
    (void)line;
    (*(size_t *)user)++;
}

static void bytes_that_are_no_chunk_are_refused(void **state)
{
    static const char bytes[] = "\x1bLua\x54\x00 and nothing of what must follow, but long enough";
    size_t lines = 0;
    (void)state;
    for (size_t length = 0; length < sizeof(bytes); length++) {
        assert_false(acog_chunk_lines((struct acog_view){bytes, length}, count_line, &lines));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_case_is_told_by_its_name_and_stops_no_other),
        cmocka_unit_test(json_has_each_result_and_the_sums),
        cmocka_unit_test(junit_escapes_what_a_test_says),
        cmocka_unit_test(the_bytes_are_the_same_however_many_run_at_a_time),
        cmocka_unit_test(a_list_runs_nothing),
        cmocka_unit_test(a_report_that_cannot_be_written_is_an_error),
        cmocka_unit_test(lines_that_did_not_run_are_named),
        cmocka_unit_test(bytes_that_are_no_chunk_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
