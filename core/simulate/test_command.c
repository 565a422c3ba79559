/* test_command.c - `acog test`: finds the files, runs them, adds up. */
#include "acog/simulate.h"
#include "files.h"
#include "suite.h"

#include <string.h>

#define SEED_DEFAULT         1
#define INSTRUCTIONS_DEFAULT INT64_C(50000000) /* under a second */

static const char usage[] =
    "usage: acog test [--filter TEXT] [--seed N] PATH...\n"
    "\n"
    "Runs the tests of every *_test.lua in PATH (a file, or a folder that is searched through),\n"
    "offline and on a virtual clock.\n"
    "  --filter TEXT   only tests whose name contains TEXT\n"
    "  --seed N        the seed of every gateway (1)\n"
    "Exit: 0 all passed, 1 one failed, 2 a file could not be run, or no test ran.\n";

static enum acog_simulate_exit run_files(const struct acog_files *files,
                                         const struct acog_test_options *options)
{
    size_t passed = 0;
    size_t failed = 0;
    size_t broken = 0;
    for (size_t i = 0; i < files->count; i++) {
        struct acog_suite suite = {.path = files->paths[i],
                                   .seed = options->seed,
                                   .instructions = options->instructions == 0
                                                       ? INSTRUCTIONS_DEFAULT
                                                       : options->instructions,
                                   .filter = options->filter,
                                   .out = options->out};
        struct acog_suite_result result = acog_suite_run(&suite);
        passed += result.passed;
        failed += result.failed;
        broken += result.broken ? 1 : 0;
    }
    (void)fprintf(options->out, "%zu passed, %zu failed", passed, failed);
    if (broken > 0) {
        (void)fprintf(options->out, ", %zu %s could not be run", broken,
                      broken == 1 ? "file" : "files");
    }
    (void)fprintf(options->out, "\n");
    if (broken > 0) {
        return ACOG_EXIT_ERROR;
    }
    if (passed + failed == 0) {
        (void)fprintf(options->errors, "acog test: no test ran\n");
        return ACOG_EXIT_ERROR;
    }
    return failed > 0 ? ACOG_EXIT_FAILED : ACOG_EXIT_FINE;
}

enum acog_simulate_exit acog_simulate_test(const char *const *paths, size_t count,
                                           const struct acog_test_options *options)
{
    struct acog_files files = {0};
    struct acog_error error = {0};
    enum acog_code code = ACOG_OK;
    for (size_t i = 0; code == ACOG_OK && i < count; i++) {
        code = acog_files_find(&files, paths[i], &error);
    }
    enum acog_simulate_exit result = ACOG_EXIT_ERROR;
    if (code == ACOG_OK) {
        result = run_files(&files, options);
    } else {
        (void)fprintf(options->errors, "acog test: %s\n", error.text);
    }
    acog_files_fini(&files);
    return result;
}

static enum acog_simulate_exit refuse(FILE *errors, const char *what, const char *argument)
{
    (void)fprintf(errors, "acog test: %s%s\n%s", what, argument, usage);
    return ACOG_EXIT_ERROR;
}

enum acog_simulate_exit acog_simulate_test_command(int argc, char *const *argv, FILE *out,
                                                   FILE *errors)
{
    struct acog_test_options options = {.seed = SEED_DEFAULT, .out = out, .errors = errors};
    int at = 1;
    while (at < argc && strncmp(argv[at], "--", 2) == 0) {
        const char *name = argv[at];
        const char *value = at + 1 < argc ? argv[at + 1] : NULL;
        unsigned long long seed = 0;
        if (strcmp(name, "--help") == 0) {
            (void)fprintf(out, "%s", usage);
            return ACOG_EXIT_FINE;
        }
        if (strcmp(name, "--filter") != 0 && strcmp(name, "--seed") != 0) {
            return refuse(errors, "there is no option ", name);
        }
        if (value == NULL) {
            return refuse(errors, "a value is missing after ", name);
        }
        if (strcmp(name, "--filter") == 0) {
            options.filter = value;
        } else if (acog_view_to_u64(acog_view_of(value), &seed)) {
            options.seed = seed;
        } else {
            return refuse(errors, "--seed is a number, not ", value);
        }
        at += 2;
    }
    if (at >= argc) {
        return refuse(errors, "which file or folder?", "");
    }
    return acog_simulate_test((const char *const *)&argv[at], (size_t)(argc - at), &options);
}
