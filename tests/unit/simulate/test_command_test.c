/* test_command_test.c - what `acog test` prints and how it ends. */
#include "acog/simulate.h"
#include "tests/unit/simulate/written.h"

static const char head[] = "local acog = require 'acog'\n"
                           "local test = require 'acog.test'\n"
                           "local fields = { policy = require 'policies.acog', connections = {\n"
                           "  acog.connection 'one' { dialects = { 'chat' }, models = { 'm' } },\n"
                           "  acog.connection 'two' { dialects = { 'chat' }, models = { 'm' } },\n"
                           "} }\n";

struct run {
    struct written files;
    struct printed out;
    struct printed errors;
    enum acog_simulate_exit result;
};

/* Runs the tests of one file. */
static void run_file(struct run *run, const char *body, const char *filter)
{
    char text[4096];
    written_init(&run->files);
    printed_begin(&run->out);
    printed_begin(&run->errors);
    (void)snprintf(text, sizeof(text), "%s%s", head, body);
    (void)written_add(&run->files, "some_test.lua", text);
    const char *const paths[] = {run->files.folder};
    struct acog_test_options options = {.filter = filter,
                                        .seed = 1,
                                        .instructions = 1000000,
                                        .out = run->out.file,
                                        .errors = run->errors.file};
    run->result = acog_simulate_test(paths, 1, &options);
    printed_end(&run->out);
    printed_end(&run->errors);
}

static void run_fini(struct run *run)
{
    printed_fini(&run->out);
    printed_fini(&run->errors);
    written_fini(&run->files);
}

static void a_line_for_each_test_and_the_sum(void **state)
{
    (void)state;
    struct run run;
    run_file(
        &run,
        "test('first', function(t)\n"
        "  local gw = t.gateway(fields)\n"
        "  t.equal(gw:post('/v1/chat/completions', { model = 'm', messages = t.hello }).status,"
        " 200)\n"
        "end)\n"
        "test('second', function() end)\n",
        NULL);
    printed_has(&run.out, "some_test.lua\n  ok      first\n  ok      second\n2 passed, 0 failed\n");
    assert_int_equal(run.result, ACOG_EXIT_FINE);
    run_fini(&run);
}

static void a_failure_shows_the_line_both_values_and_the_last_request(void **state)
{
    (void)state;
    struct run run;
    run_file(
        &run,
        "test('first', function(t)\n"
        "  local gw = t.gateway(fields)\n"
        "  for _, id in ipairs { 'one', 'two' } do\n"
        "    gw.upstream[id]:answers { status = 503, delay_ms = 40 }\n"
        "  end\n"
        "  local reply = gw:post('/v1/chat/completions', { model = 'm', messages = t.hello })\n"
        "  t.equal(reply.status, 200)\n"
        "end)\n"
        "test('second', function() end)\n",
        NULL);
    printed_has(&run.out, "  FAILED  first\n");
    printed_has(&run.out, "some_test.lua:13: expected 200, got 503\n");
    printed_has(&run.out, "the last request: POST /v1/chat/completions, model m -> 503 ");
    printed_has(&run.out, "  one  direct   m  tried\n");
    printed_has(&run.out, "attempt 1: ");
    printed_has(&run.out, ", m, from 0 ms to 40 ms: server_error, status 503\n");
    printed_has(&run.out, "what the engine was told, and what it said:\n");
    printed_has(&run.out, "+0 arrived chat whole model=m ");
    printed_has(&run.out, "1 passed, 1 failed\n");
    assert_int_equal(run.result, ACOG_EXIT_FAILED);
    run_fini(&run);
}

static void only_tests_with_the_filters_text_run(void **state)
{
    (void)state;
    struct run run;
    static const char body[] = "test('has an apple', function() end)\n"
                               "test('has a pear', function() error('never') end)\n";
    run_file(&run, body, "apple");
    printed_has(&run.out, "1 passed, 0 failed\n");
    assert_null(strstr(run.out.text, "pear"));
    assert_int_equal(run.result, ACOG_EXIT_FINE);
    run_fini(&run);

    run_file(&run, body, "%a"); /* not a pattern */
    printed_has(&run.errors, "no test ran");
    assert_int_equal(run.result, ACOG_EXIT_ERROR);
    run_fini(&run);
}

static void a_file_that_cannot_be_run_is_an_error_and_the_others_run(void **state)
{
    (void)state;
    struct run run;
    written_init(&run.files);
    printed_begin(&run.out);
    printed_begin(&run.errors);
    (void)written_add(&run.files, "a_test.lua", "this is no Lua");
    (void)written_add(&run.files, "b_test.lua", "error('at load')");
    (void)written_add(&run.files, "c_test.lua", "require 'acog.test'('works', function() end)");
    const char *const paths[] = {run.files.folder};
    struct acog_test_options options = {.seed = 1, .out = run.out.file, .errors = run.errors.file};
    run.result = acog_simulate_test(paths, 1, &options);
    printed_end(&run.out);
    printed_end(&run.errors);
    printed_has(&run.out, "a_test.lua:1: syntax error");
    printed_has(&run.out, "b_test.lua:1: at load");
    printed_has(&run.out, "1 passed, 0 failed, 2 files could not be run\n");
    assert_int_equal(run.result, ACOG_EXIT_ERROR);
    run_fini(&run);
}

static void a_test_without_end_is_stopped(void **state)
{
    (void)state;
    struct run run;
    run_file(&run,
             "test('loops', function() while true do pcall(error) end end)\n"
             "test('goes on', function() end)\n",
             NULL);
    printed_has(&run.out, "the budget of instructions is spent");
    printed_has(&run.out, "1 passed, 1 failed\n");
    assert_int_equal(run.result, ACOG_EXIT_FAILED);
    run_fini(&run);
}

static void a_request_without_end_is_an_error_of_the_test(void **state)
{
    (void)state;
    struct run run;
    run_file(&run,
             "test('hangs', function(t)\n"
             "  local gw = t.gateway { policy = fields.policy:with { clocks = {\n"
             "    connect = false, headers = false, first_output = false, idle = false,\n"
             "    total = false } },\n"
             "    connections = { fields.connections[1] } }\n"
             "  gw.upstream['one']:answers { hang = 'head' }\n"
             "  gw:post('/v1/chat/completions', { model = 'm', messages = t.hello })\n"
             "end)\n",
             NULL);
    printed_has(&run.out, "the request never ends: a provider is silent");
    printed_has(&run.out, "the last request: POST /v1/chat/completions, not over\n");
    assert_int_equal(run.result, ACOG_EXIT_FAILED);
    run_fini(&run);
}

static void the_seed_changes_what_is_random_and_nothing_else_does(void **state) /* S4.14 */
{
    (void)state;
    static const char body[] = "test('waits', function(t)\n"
                               "  local gw = t.gateway(fields)\n"
                               "  for _, id in ipairs { 'one', 'two' } do\n"
                               "    gw.upstream[id]:answers { { status = 503 }, {} }\n"
                               "  end\n"
                               "  t.fail(tostring(gw:post('/v1/chat/completions',\n"
                               "    { model = 'm', messages = t.hello }).duration_ms))\n"
                               "end)\n";
    struct run first;
    struct run again;
    run_file(&first, body, NULL);
    run_file(&again, body, NULL);
    const char *text = strstr(first.out.text, ": ");
    const char *same = strstr(again.out.text, ": ");
    assert_non_null(text);
    assert_non_null(same);
    assert_string_equal(text, same);
    const char *const paths[] = {first.files.folder};
    int differing = 0;
    for (uint64_t seed = 2; seed < 6; seed++) {
        struct printed out;
        printed_begin(&out);
        struct acog_test_options options = {.seed = seed, .out = out.file, .errors = out.file};
        assert_int_equal(acog_simulate_test(paths, 1, &options), ACOG_EXIT_FAILED);
        printed_end(&out);
        differing += strcmp(out.text, first.out.text) != 0 ? 1 : 0;
        printed_fini(&out);
    }
    assert_true(differing > 0);
    run_fini(&first);
    run_fini(&again);
}

static enum acog_simulate_exit command(struct printed *errors, const char *const *arguments)
{
    char copies[8][64];
    char *argv[8];
    int argc = 0;
    for (; arguments[argc] != NULL; argc++) {
        (void)snprintf(copies[argc], sizeof(copies[argc]), "%s", arguments[argc]);
        argv[argc] = copies[argc];
    }
    printed_begin(errors);
    enum acog_simulate_exit result =
        acog_simulate_test_command(argc, argv, errors->file, errors->file);
    printed_end(errors);
    return result;
}

static void wrong_arguments_are_an_error_with_the_usage(void **state)
{
    (void)state;
    static const char *const wrong[][5] = {
        {"test", NULL},
        {"test", "--filter", NULL},
        {"test", "--seed", "many", "tests", NULL},
        {"test", "--sideways", "tests", NULL},
        {"test", "--jobs", "0", "tests", NULL},
        {"test", "--coverage-min", "101", "tests", NULL},
        {"test", "tests", "--sideways", NULL},
        {"test", "tests", "--jobs", NULL},
        {"test", "--list", "tests", "--coverage", NULL}, /* nothing runs: nothing to report */
    };
    struct printed errors;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(command(&errors, wrong[i]), ACOG_EXIT_ERROR);
        printed_has(&errors, "usage: acog test");
        printed_fini(&errors);
    }
    static const char *const nowhere[] = {"test", "--seed", "7", "/nowhere/at_all", NULL};
    assert_int_equal(command(&errors, nowhere), ACOG_EXIT_ERROR);
    printed_has(&errors, "/nowhere/at_all: there is no such file or folder");
    printed_fini(&errors);
}

static void options_stand_before_and_after_the_paths(void **state)
{
    (void)state;
    static const char *const after[] = {"test", "/nowhere/at_all", "--seed", "7", NULL};
    struct printed errors;
    assert_int_equal(command(&errors, after), ACOG_EXIT_ERROR);
    printed_has(&errors, "acog test: /nowhere/at_all: there is no such file or folder");
    printed_fini(&errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_for_each_test_and_the_sum),
        cmocka_unit_test(a_failure_shows_the_line_both_values_and_the_last_request),
        cmocka_unit_test(only_tests_with_the_filters_text_run),
        cmocka_unit_test(a_file_that_cannot_be_run_is_an_error_and_the_others_run),
        cmocka_unit_test(a_test_without_end_is_stopped),
        cmocka_unit_test(a_request_without_end_is_an_error_of_the_test),
        cmocka_unit_test(the_seed_changes_what_is_random_and_nothing_else_does),
        cmocka_unit_test(wrong_arguments_are_an_error_with_the_usage),
        cmocka_unit_test(options_stand_before_and_after_the_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
