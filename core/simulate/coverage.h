/* coverage.h - which lines of the policies and configurations under test ran.
 *
 * Every chunk counts that a test loaded, but for the test files and acog's own modules. A line counts as executable when
 * an instruction of the compiled chunk stands on it, the return that Lua adds to the end of a function aside. So the
 * lines of a table of data have run once it is loaded, the lines of a function once it was called.
 */
#ifndef ACOG_SIMULATE_COVERAGE_H
#define ACOG_SIMULATE_COVERAGE_H

#include "acog/buffer.h"
#include "acog/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define ACOG_COVERED_FILES_MAX ((size_t)1000)
#define ACOG_COVERED_LINES_MAX ((size_t)1000000) /* of one file */

struct acog_coverage;

/* From now on lines are noted, in every Lua state that is made. NULL: no memory. */
struct acog_coverage *acog_coverage_new(void);
void acog_coverage_free(struct acog_coverage **coverage);

/* From one process into another: all that was noted, and its addition to what is noted here. False: no memory, or it is
 * none of that. */
void acog_coverage_write(const struct acog_coverage *coverage, FILE *out);
bool acog_coverage_read(struct acog_coverage *coverage, FILE *in);

struct acog_coverage_sum {
    size_t executable;
    size_t executed;
};

/* Of all files. */
struct acog_coverage_sum acog_coverage_sum(const struct acog_coverage *coverage);

/* A line for each file, sorted by path, with the lines that did not run. */
void acog_coverage_print(const struct acog_coverage *coverage, FILE *out);

/* The same as a JSON array: [{"file","executable","executed","missed":[LINE, …]}, …] */
void acog_coverage_print_json(const struct acog_coverage *coverage, FILE *out);

/* -- chunk_lines.c ------------------------------------------------------------------------------------ */

/* Calls `add` for each executable line of a chunk as lua_dump() writes it, Lua 5.4. False: the bytes are not understood.
 */
bool acog_chunk_lines(struct acog_view dumped, void (*add)(void *user, size_t line), void *user);

#endif
