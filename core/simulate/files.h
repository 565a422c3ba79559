/* files.h - test files found on disk, and files read whole.
 */
#ifndef ACOG_SIMULATE_FILES_H
#define ACOG_SIMULATE_FILES_H

#include "acog/buffer.h"
#include "acog/error.h"

#include <stddef.h>

#define ACOG_TEST_FILES_MAX ((size_t)10000)
#define ACOG_PATH_BYTES_MAX ((size_t)4096)

struct acog_files {
    char **paths; /* owned, and each of them */
    size_t count;
    size_t room;
};

void acog_files_fini(struct acog_files *files);

/* Adds `path` itself when it is a file, else every *_test.lua below it, sorted by path. Hidden folders and symbolic
 * links are left out. ACOG_NOT_FOUND: there is no such path. */
enum acog_code acog_files_find(struct acog_files *files, const char *path,
                               struct acog_error *error) ACOG_MUST_CHECK;

/* Appends a file's content. */
enum acog_code acog_files_read(const char *path, struct acog_buffer *out,
                               struct acog_error *error) ACOG_MUST_CHECK;

#endif
