/* runner.h - many test files: some at a time, told in their order.
 */
#ifndef ACOG_SIMULATE_RUNNER_H
#define ACOG_SIMULATE_RUNNER_H

#include "acog/simulate.h"
#include "coverage.h"
#include "files.h"
#include "suite.h"

#include <sys/types.h>

#define ACOG_TEST_JOBS_MAX 64

/* One file, from its start until it has been told of. Each of the streams is a file without a name, or NULL. */
struct acog_unit {
    pid_t process; /* 0: runs in this one */
    FILE *out;     /* NULL: straight to the options' */
    FILE *json;
    FILE *junit;
    FILE *coverage; /* of the other process */
    FILE *counts;   /* likewise */
    struct acog_suite_result result;
};

/* Starts a file: runs it, or lets another process run it. False: it cannot be started; nothing is held then. */
bool acog_unit_start(struct acog_unit *unit, const char *path,
                     const struct acog_test_options *options, const struct acog_coverage *coverage);

/* Waits for it. Afterwards its result and all its streams are complete, to be read from their start; what it covered has
 * been added to `coverage` (NULL: none is wanted). A process that died is a broken file, and the streams say so. */
void acog_unit_wait(struct acog_unit *unit, const char *path, struct acog_coverage *coverage);

/* Closes the streams. */
void acog_unit_fini(struct acog_unit *unit);

/* Copies a stream from its start to its end. */
void acog_unit_copy(FILE *from, FILE *to);

#endif
