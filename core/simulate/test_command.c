/* test_command.c - the command line of `acog test`. */
#include "acog/memory.h"
#include "acog/simulate.h"
#include "runner.h"

#include <string.h>

#define SEED_DEFAULT 1

static const char usage[] =
    "usage: acog test [OPTIONS] PATH...\n"
    "\n"
    "Runs the tests of every *_test.lua in PATH (a file, or a folder that is searched through),\n"
    "offline and on a virtual clock. The same files and seed give the same output, to the byte.\n"
    "  --filter TEXT     only tests whose name contains TEXT\n"
    "  --list            print the names of the tests, run none\n"
    "  --seed N          the seed of every gateway (1)\n"
    "  --jobs N          files at a time, each in a process of its own (1)\n"
    "  --json FILE       the results as JSON\n"
    "  --junit FILE      the results as JUnit's XML\n"
    "  --coverage        which lines of the policies and configurations ran\n"
    "  --coverage-min N  likewise, and less than N percent in all is a failure\n"
    "Exit: 0 all passed, 1 one failed, 2 a file could not be run, or no test ran.\n";

static enum acog_simulate_exit refuse(FILE *errors, const char *what, const char *argument)
{
    (void)fprintf(errors, "acog test: %s%s\n%s", what, argument, usage);
    return ACOG_EXIT_ERROR;
}

static bool take_flag(struct acog_test_options *options, const char *name)
{
    if (strcmp(name, "--list") == 0) {
        options->list = true;
        return true;
    }
    if (strcmp(name, "--coverage") == 0) {
        options->coverage = true;
        return true;
    }
    return false;
}

static bool is_option_with_value(const char *name)
{
    static const char *const names[] = {"--filter", "--seed",  "--jobs",
                                        "--json",   "--junit", "--coverage-min"};
    bool found = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        found = found || strcmp(name, names[i]) == 0;
    }
    return found;
}

/* False: the value is no number, or not one of the allowed. */
static bool take_number(struct acog_test_options *options, const char *name, const char *value)
{
    unsigned long long number = 0;
    if (!acog_view_to_u64(acog_view_of(value), &number)) {
        return false;
    }
    if (strcmp(name, "--seed") == 0) {
        options->seed = number;
        return true;
    }
    if (strcmp(name, "--jobs") == 0) {
        options->jobs = (unsigned)number;
        return number >= 1 && number <= ACOG_TEST_JOBS_MAX;
    }
    options->coverage = true;
    options->coverage_min = (unsigned)number;
    return number <= 100;
}

static bool take_value(struct acog_test_options *options, const char *name, const char *value)
{
    if (strcmp(name, "--filter") == 0) {
        options->filter = value;
    } else if (strcmp(name, "--json") == 0) {
        options->json_path = value;
    } else if (strcmp(name, "--junit") == 0) {
        options->junit_path = value;
    } else {
        return take_number(options, name, value);
    }
    return true;
}

/* Takes the option that `argv` begins with. How many arguments it is; 0: `errors` has been told what is wrong. */
static int take_option(struct acog_test_options *options, int argc, char *const *argv)
{
    const char *name = argv[0];
    if (take_flag(options, name)) {
        return 1;
    }
    if (!is_option_with_value(name)) {
        (void)refuse(options->errors, "there is no option ", name);
        return 0;
    }
    if (argc < 2) {
        (void)refuse(options->errors, "a value is missing after ", name);
        return 0;
    }
    if (!take_value(options, name, argv[1])) {
        char what[64];
        (void)snprintf(what, sizeof(what), "%s is a number, and cannot be ", name);
        (void)refuse(options->errors, what, argv[1]);
        return 0;
    }
    return 2;
}

/* `paths` has room for all arguments: options stand before, between or after them. */
static enum acog_simulate_exit run_command(int argc, char *const *argv,
                                           struct acog_test_options *options, const char **paths)
{
    size_t path_count = 0;
    for (int at = 1; at < argc;) {
        if (strncmp(argv[at], "--", 2) != 0) {
            paths[path_count++] = argv[at++];
            continue;
        }
        if (strcmp(argv[at], "--help") == 0) {
            (void)fprintf(options->out, "%s", usage);
            return ACOG_EXIT_FINE;
        }
        int taken = take_option(options, argc - at, argv + at);
        if (taken == 0) {
            return ACOG_EXIT_ERROR;
        }
        at += taken;
    }
    if (path_count == 0) {
        return refuse(options->errors, "which file or folder?", "");
    }
    if (options->list &&
        (options->json_path != NULL || options->junit_path != NULL || options->coverage)) {
        return refuse(options->errors, "--list runs nothing, so there is nothing to report", "");
    }
    return acog_simulate_test(paths, path_count, options);
}

enum acog_simulate_exit acog_simulate_test_command(int argc, char *const *argv, FILE *out,
                                                   FILE *errors)
{
    struct acog_test_options options = {.seed = SEED_DEFAULT, .out = out, .errors = errors};
    const char **paths = acog_new((size_t)argc * sizeof(*paths));
    if (paths == NULL) {
        (void)fprintf(errors, "acog test: no memory\n");
        return ACOG_EXIT_ERROR;
    }
    enum acog_simulate_exit result = run_command(argc, argv, &options, paths);
    acog_free(paths);
    return result;
}
