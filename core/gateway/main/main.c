/* main.c - the commands of `acog`. */
#include "acog/gateway.h"
#include "acog/simulate.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum exit_code {
    ACOG_MAIN_GOOD = 0,
    ACOG_MAIN_FAILED = 1,
    ACOG_MAIN_USAGE = 2,
};

static const char usage[] =
    "acog " ACOG_VERSION ": a gateway between applications and model providers\n"
    "\n"
    "  acog serve FILE [--listen ADDRESS] [--admin ADDRESS] [--workers N]\n"
    "                  [--log FILE] [--log-level debug|info|warning|error]\n"
    "      serves, and prints a READY line when it does. ADDRESS is HOST:PORT or unix:PATH.\n"
    "      SIGTERM drains; a second one ends at once.\n"
    "  acog check FILE\n"
    "      loads a configuration and says what is wrong with it, or what can never work.\n"
    "  acog test PATH ...\n"
    "      runs the tests of policies and configurations; no network, no key.\n"
    "  acog explain FILE --model MODEL ...\n"
    "      says which connections would serve a request, and why the others would not.\n"
    "  acog version\n"
    "  acog help\n"
    "\n"
    "acog test --help and acog explain --help say more.\n"
    "Exit: 0 good, 1 failed, 2 the command was not understood or could not be done.\n";

static int help(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)fputs(usage, stdout);
    return ACOG_MAIN_GOOD;
}

/* `acog serve --help`; test and explain have a help of their own. */
static bool asks_for_help(int argc, char **argv)
{
    return argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

static int serve(int argc, char **argv)
{
    if (asks_for_help(argc, argv)) {
        return help(argc, argv);
    }
    struct acog_serve_options options;
    struct acog_error error;
    if (acog_serve_options_read(argc - 1, argv + 1, &options, &error) != ACOG_OK) {
        (void)fprintf(stderr, "acog serve: %s\n", error.text);
        return ACOG_MAIN_USAGE;
    }
    return acog_serve(&options) ? ACOG_MAIN_GOOD : ACOG_MAIN_FAILED;
}

static int check(int argc, char **argv)
{
    if (asks_for_help(argc, argv)) {
        return help(argc, argv);
    }
    if (argc > 1 && argv[1][0] == '-') {
        (void)fprintf(stderr, "acog check: there is no option %s; acog check FILE\n", argv[1]);
        return ACOG_MAIN_USAGE;
    }
    if (argc != 2) {
        (void)fprintf(stderr, "acog check: %s acog check FILE\n",
                      argc < 2 ? "which configuration?" : "one configuration only:");
        return ACOG_MAIN_USAGE;
    }
    return acog_check(argv[1]) ? ACOG_MAIN_GOOD : ACOG_MAIN_FAILED;
}

static int test(int argc, char **argv)
{
    return (int)acog_simulate_test_command(argc, argv, stdout, stderr);
}

static int explain(int argc, char **argv)
{
    return (int)acog_simulate_explain_command(argc, argv, stdout, stderr);
}

static int version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)printf("acog %s\n", ACOG_VERSION);
    return ACOG_MAIN_GOOD;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
} commands[] = {
    {"serve", serve},     {"check", check}, {"test", test},   {"explain", explain},
    {"version", version}, {"help", help},   {"--help", help}, {"--version", version},
};

int main(int argc, char **argv)
{
    if (argc < 2) {
        (void)fputs(usage, stderr);
        return ACOG_MAIN_USAGE;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    (void)fprintf(stderr, "acog: there is no command %s; try: acog help\n", argv[1]);
    return ACOG_MAIN_USAGE;
}
