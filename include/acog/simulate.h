/* simulate.h - driver 2: `acog test` and `acog explain`, offline and on a virtual clock.
 *
 * `acog test` runs Lua test files (lua/test.md) against the production engine, exchange, dialects and policy, with
 * scripted providers behind it. `acog explain` makes the plan of one request and says why it is so; nothing is sent.
 * Both need no network and no key, and the same input gives the same output, to the byte.
 *
 * Results are exit codes: 0 fine, 1 a test failed or no candidate is left, 2 something could not be done at all.
 */
#ifndef ACOG_SIMULATE_H
#define ACOG_SIMULATE_H

#include "acog/header.h"
#include "acog/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum acog_simulate_exit {
    ACOG_EXIT_FINE = 0,
    ACOG_EXIT_FAILED = 1,
    ACOG_EXIT_ERROR = 2,
};

struct acog_test_options {
    const char *filter;   /* only tests whose name contains this text; NULL: all */
    uint64_t seed;        /* of every gateway that a test makes */
    int64_t instructions; /* that one test may take; 0: 50 million */
    unsigned
        jobs;  /* files at a time, each in a process of its own; 0 and 1: one, in this process */
    bool list; /* print the names, run nothing */
    bool coverage;          /* of the lines of the policies under test */
    unsigned coverage_min;  /* percent in all; below: FAILED. With `coverage` only */
    const char *json_path;  /* the results, as JSON; NULL: no such file */
    const char *junit_path; /* the same, as JUnit's XML */
    FILE *out;              /* a line for each test, and the sum */
    FILE *errors;           /* what could not be done */
};

/* Runs every *_test.lua in `paths`: files, or folders that are searched through. ERROR when a file cannot be loaded
 * or no test ran. The same files and seed give the same bytes, whatever `jobs` is. */
enum acog_simulate_exit acog_simulate_test(const char *const *paths, size_t count,
                                           const struct acog_test_options *options);

struct acog_explain_options {
    const char *path; /* of the configuration */
    bool
        any_surface; /* the first of chat, messages and responses that has a candidate; else `surface` */
    enum acog_surface surface;
    struct acog_view model;
    bool stream;
    const struct acog_header_row *headers; /* of the client; names in lower case */
    size_t header_count;
    struct acog_view body; /* instead of a small one for `model` and `stream`; NULL ptr: none */
    bool json;             /* the decision record, instead of lines to read */
    FILE *out;
    FILE *errors;
};

/* The plan of one request that arrives now, with every circuit closed. FAILED when it leaves no candidate. */
enum acog_simulate_exit acog_simulate_explain(const struct acog_explain_options *options);

/* The same from a command line, whose argv[0] is the command's name ("test", "explain"). Usage goes to `errors`. */
enum acog_simulate_exit acog_simulate_test_command(int argc, char *const *argv, FILE *out,
                                                   FILE *errors);
enum acog_simulate_exit acog_simulate_explain_command(int argc, char *const *argv, FILE *out,
                                                      FILE *errors);

#endif
