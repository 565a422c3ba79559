/* unit.c - one test file, here or in a process of its own.
 *
 * The other process shares nothing but files that are already open: it writes what it has to tell there and ends. So a
 * test that takes the process down (an assertion of the engine, say) is a broken file and nothing more.
 */
#include "results.h"
#include "runner.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSTRUCTIONS_DEFAULT INT64_C(50000000) /* under a second */

static bool open_streams(struct acog_unit *unit, const struct acog_test_options *options,
                         bool other_process, bool coverage)
{
    bool opened = true;

    const struct {
        FILE **stream;
        bool wanted;
    } streams[] = {
        {&unit->out, other_process},
        {&unit->json, options->json_path != NULL},
        {&unit->junit, options->junit_path != NULL},
        {&unit->coverage, other_process && coverage},
        {&unit->counts, other_process},
    };

    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        if (streams[i].wanted) {
            *streams[i].stream = tmpfile();
            opened = opened && *streams[i].stream != NULL;
        }
    }
    return opened;
}

void acog_unit_fini(struct acog_unit *unit)
{
    FILE *const streams[] = {unit->out, unit->json, unit->junit, unit->coverage, unit->counts};
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        if (streams[i] != NULL) {
            (void)fclose(streams[i]);
        }
    }
    *unit = (struct acog_unit){0};
}

static void run(struct acog_unit *unit, const char *path, const struct acog_test_options *options)
{
    const struct acog_suite suite = {
        .path = path,
        .seed = options->seed,
        .instructions = options->instructions == 0 ? INSTRUCTIONS_DEFAULT : options->instructions,
        .filter = options->filter,
        .list = options->list,
        .out = unit->out != NULL ? unit->out : options->out,
        .json = unit->json,
        .junit = unit->junit};
    unit->result = acog_suite_run(&suite);
}

/* The other process: nothing of this one's is flushed or freed by it. */
static _Noreturn void run_and_end(struct acog_unit *unit, const char *path,
                                  const struct acog_test_options *options,
                                  const struct acog_coverage *coverage)
{
    run(unit, path, options);
    if (unit->coverage != NULL) {
        acog_coverage_write(coverage, unit->coverage);
    }
    bool told = fwrite(&unit->result, sizeof(unit->result), 1, unit->counts) == 1;
    FILE *const streams[] = {unit->out, unit->json, unit->junit, unit->coverage, unit->counts};
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        told = (streams[i] == NULL || fflush(streams[i]) == 0) && told;
    }
    _exit(told ? 0 : 1);
}

bool acog_unit_start(struct acog_unit *unit, const char *path,
                     const struct acog_test_options *options, const struct acog_coverage *coverage)
{
    bool other_process = options->jobs > 1;
    *unit = (struct acog_unit){0};
    if (!open_streams(unit, options, other_process, coverage != NULL)) {
        acog_unit_fini(unit);
        return false;
    }
    if (!other_process) {
        run(unit, path, options);
        return true;
    }
    unit->process = fork();
    if (unit->process == 0) {
        run_and_end(unit, path, options, coverage);
    }
    if (unit->process < 0) {
        acog_unit_fini(unit);
        return false;
    }
    return true;
}

/* What the process left of its counts, or how it ended instead. */
static bool read_counts(struct acog_unit *unit, int status, struct acog_error *error)
{
    rewind(unit->counts);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
        fread(&unit->result, sizeof(unit->result), 1, unit->counts) == 1) {
        return true;
    }
    acog_error_set(error, ACOG_IO, "its process ended by %s %d",
                   WIFSIGNALED(status) ? "signal" : "exit code",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return false;
}

static void tell_broken(struct acog_unit *unit, const char *path, const struct acog_error *error)
{
    const struct acog_test_result result = {
        .file = path, .outcome = ACOG_TEST_BROKEN, .why = acog_view_of(error->text)};
    unit->result = (struct acog_suite_result){.broken = true};
    (void)fseek(unit->out, 0, SEEK_END);
    (void)fprintf(unit->out, "  ERROR   the file cannot be run\n        %s\n", error->text);
    if (unit->json != NULL) {
        (void)fseek(unit->json, 0, SEEK_END);
        acog_results_json(unit->json, &result);
    }
    if (unit->junit != NULL) {
        (void)fseek(unit->junit, 0, SEEK_END);
        acog_results_junit(unit->junit, &result);
    }
}

void acog_unit_wait(struct acog_unit *unit, const char *path, struct acog_coverage *coverage)
{
    struct acog_error error = {.text = "its process cannot be waited for"};
    int status = 0;
    pid_t ended = 0;
    if (unit->process == 0) {
        return;
    }
    do {
        ended = waitpid(unit->process, &status, 0);
    } while (ended < 0 && errno == EINTR);
    if (ended != unit->process || !read_counts(unit, status, &error)) {
        tell_broken(unit, path, &error);
        return;
    }
    if (unit->coverage != NULL) {
        rewind(unit->coverage);
        (void)!acog_coverage_read(coverage, unit->coverage);
    }
}

void acog_unit_copy(FILE *from, FILE *to)
{
    char bytes[16384];
    size_t count = 0;
    rewind(from);
    while ((count = fread(bytes, 1, sizeof(bytes), from)) > 0) {
        (void)fwrite(bytes, 1, count, to);
    }
}
