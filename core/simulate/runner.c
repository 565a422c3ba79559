/* runner.c - finds the files, runs them, adds up, writes the reports. */
#include "runner.h"

#include "results.h"

#include <errno.h>
#include <string.h>

struct runner {
    const struct acog_test_options *options;
    struct acog_files files;
    struct acog_coverage *coverage; /* NULL: not wanted */
    FILE *json;
    FILE *junit;
    size_t passed;
    size_t failed;
    size_t broken;
    size_t told; /* tests in the JSON report */
};

/* -- reports ---------------------------------------------------------------------------------------- */

/* False: `errors` has been told why. */
static bool open_report(const struct acog_test_options *options, const char *path, FILE **report)
{
    if (path == NULL) {
        return true;
    }
    *report = fopen(path, "w");
    if (*report == NULL) {
        (void)fprintf(options->errors, "acog test: %s cannot be written: error %d\n", path, errno);
    }
    return *report != NULL;
}

static bool close_report(const struct acog_test_options *options, const char *path, FILE *report)
{
    bool good = report == NULL || ferror(report) == 0;
    if (report != NULL && fclose(report) != 0) {
        good = false;
    }
    if (!good) {
        (void)fprintf(options->errors, "acog test: %s could not be written whole\n", path);
    }
    return good;
}

static void begin_reports(struct runner *runner)
{
    if (runner->json != NULL) {
        (void)fprintf(runner->json, "{\"seed\":%llu,\"tests\":[",
                      (unsigned long long)runner->options->seed);
    }
    if (runner->junit != NULL) {
        (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"acog test\">\n",
                    runner->junit);
    }
}

/* The lines of a unit become the elements of one list. */
static void add_json(struct runner *runner, FILE *lines)
{
    int byte = 0;
    bool at_start = true;
    rewind(lines);
    while ((byte = fgetc(lines)) != EOF) {
        if (at_start) {
            (void)fputs(runner->told == 0 ? "\n" : ",\n", runner->json);
            runner->told++;
        }
        at_start = byte == '\n';
        if (!at_start) {
            (void)fputc(byte, runner->json);
        }
    }
}

static void add_junit(struct runner *runner, const char *path, const struct acog_unit *unit)
{
    const struct acog_suite_result *result = &unit->result;
    (void)fputs("  <testsuite name=\"", runner->junit);
    acog_results_xml_text(runner->junit, acog_view_of(path));
    (void)fprintf(runner->junit, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%d\">\n",
                  result->passed + result->failed + (result->broken ? 1 : 0), result->failed,
                  result->broken ? 1 : 0);
    acog_unit_copy(unit->junit, runner->junit);
    (void)fputs("  </testsuite>\n", runner->junit);
}

static void end_reports(struct runner *runner)
{
    if (runner->json != NULL) {
        (void)fprintf(runner->json, "],\n\"passed\":%zu,\"failed\":%zu,\"errors\":%zu",
                      runner->passed, runner->failed, runner->broken);
        if (runner->coverage != NULL) {
            (void)fputs(",\n\"coverage\":", runner->json);
            acog_coverage_print_json(runner->coverage, runner->json);
        }
        (void)fputs("}\n", runner->json);
    }
    if (runner->junit != NULL) {
        (void)fputs("</testsuites>\n", runner->junit);
    }
}

/* -- running ---------------------------------------------------------------------------------------- */

/* Tells of a unit that is over. */
static void tell_unit(struct runner *runner, const char *path, const struct acog_unit *unit)
{
    if (unit->out != NULL) {
        acog_unit_copy(unit->out, runner->options->out);
    }
    if (runner->json != NULL) {
        add_json(runner, unit->json);
    }
    if (runner->junit != NULL) {
        add_junit(runner, path, unit);
    }
    runner->passed += unit->result.passed;
    runner->failed += unit->result.failed;
    runner->broken += unit->result.broken ? 1 : 0;
}

/* As many at a time as there are jobs; each is waited for in its turn, so the order of the output is that of the files.
 * False: one could not be started. */
static bool run_files(struct runner *runner)
{
    struct acog_unit units[ACOG_TEST_JOBS_MAX];
    size_t jobs = runner->options->jobs == 0 ? 1 : runner->options->jobs;
    size_t started = 0;
    bool good = true;
    for (size_t next = 0; next < runner->files.count && (good || next < started); next++) {
        while (good && started < runner->files.count && started - next < jobs) {
            good = acog_unit_start(&units[started % jobs], runner->files.paths[started],
                                   runner->options, runner->coverage);
            started += good ? 1 : 0;
        }
        if (next < started) {
            struct acog_unit *unit = &units[next % jobs];
            acog_unit_wait(unit, runner->files.paths[next], runner->coverage);
            tell_unit(runner, runner->files.paths[next], unit);
            acog_unit_fini(unit);
        }
    }
    if (!good) {
        (void)fprintf(runner->options->errors, "acog test: no file or process for %s: error %d\n",
                      runner->files.paths[started], errno);
    }
    return good;
}

/* -- the sum ---------------------------------------------------------------------------------------- */

static void print_sum(const struct runner *runner)
{
    FILE *out = runner->options->out;
    if (runner->options->list) {
        (void)fprintf(out, "%zu tests", runner->passed);
    } else {
        (void)fprintf(out, "%zu passed, %zu failed", runner->passed, runner->failed);
    }
    if (runner->broken > 0) {
        (void)fprintf(out, ", %zu %s could not be run", runner->broken,
                      runner->broken == 1 ? "file" : "files");
    }
    (void)fprintf(out, "\n");
}

/* True: as many lines ran as were asked for. */
static bool covered_enough(const struct runner *runner)
{
    const struct acog_test_options *options = runner->options;
    if (runner->coverage == NULL) {
        return true;
    }
    struct acog_coverage_sum sum = acog_coverage_sum(runner->coverage);
    acog_coverage_print(runner->coverage, options->out);
    if (sum.executed * 100 >= sum.executable * options->coverage_min) {
        return true;
    }
    (void)fprintf(options->errors, "acog test: less than %u %% of the lines ran\n",
                  options->coverage_min);
    return false;
}

static enum acog_simulate_exit judge(const struct runner *runner)
{
    bool covered = covered_enough(runner);
    if (runner->broken > 0) {
        return ACOG_EXIT_ERROR;
    }
    if (runner->passed + runner->failed == 0) {
        (void)fprintf(runner->options->errors, "acog test: no test ran\n");
        return ACOG_EXIT_ERROR;
    }
    return runner->failed > 0 || !covered ? ACOG_EXIT_FAILED : ACOG_EXIT_FINE;
}

static enum acog_simulate_exit run_and_report(struct runner *runner)
{
    const struct acog_test_options *options = runner->options;
    enum acog_simulate_exit result = ACOG_EXIT_ERROR;
    if (open_report(options, options->json_path, &runner->json) &&
        open_report(options, options->junit_path, &runner->junit)) {
        begin_reports(runner);
        (void)fflush(options->out); /* a process that starts must not have it to write as well */
        if (run_files(runner)) {
            print_sum(runner);
            result = judge(runner);
        }
        end_reports(runner);
    }
    bool written = close_report(options, options->json_path, runner->json);
    written = close_report(options, options->junit_path, runner->junit) && written;
    return written ? result : ACOG_EXIT_ERROR;
}

enum acog_simulate_exit acog_simulate_test(const char *const *paths, size_t count,
                                           const struct acog_test_options *options)
{
    struct runner runner = {.options = options};
    struct acog_error error = {.text = "no memory"};
    enum acog_code code = ACOG_OK;
    for (size_t i = 0; code == ACOG_OK && i < count; i++) {
        code = acog_files_find(&runner.files, paths[i], &error);
    }
    if (code == ACOG_OK && options->coverage) {
        runner.coverage = acog_coverage_new();
        code = runner.coverage == NULL ? ACOG_NO_MEMORY : ACOG_OK;
    }
    enum acog_simulate_exit result = ACOG_EXIT_ERROR;
    if (code == ACOG_OK) {
        result = run_and_report(&runner);
    } else {
        (void)fprintf(options->errors, "acog test: %s\n", error.text);
    }
    acog_coverage_free(&runner.coverage);
    acog_files_fini(&runner.files);
    return result;
}
