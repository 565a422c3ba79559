/* corpus.h - captured data, read in place: the environment variable ACOG_CORPUS names its folder.
 *
 * A test that needs it starts with `if (acog_corpus_missing()) skip();`; a program of such tests alone with
 * `if (acog_corpus_missing()) return ACOG_CORPUS_SKIPPED;`, so that a run without it says so.
 */
#ifndef ACOG_TESTS_SUPPORT_CORPUS_H
#define ACOG_TESTS_SUPPORT_CORPUS_H

#include "acog/buffer.h"

#include <stdbool.h>

#define ACOG_CORPUS_SKIPPED \
    77 /* what a test that is all about captured data exits with: ctest shows it */
#define ACOG_CORPUS_FILE_BYTES_MAX ((size_t)64 << 20U)

/* True, with a word on stdout, when there is no corpus. */
bool acog_corpus_missing(void);

/* Reads the file `name` of the corpus into `bytes`, which this initialises. False: it cannot be read. */
bool acog_corpus_read(const char *name, struct acog_buffer *bytes);

/* Calls `each` with the name (relative to the corpus) of every file in `folder` that ends in `ending`, sorted.
 * Returns how many there were. */
size_t acog_corpus_each(const char *folder, const char *ending,
                        void (*each)(const char *name, void *user), void *user);

#endif
