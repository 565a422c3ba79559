/* written.h - files and outputs of the simulator's tests. */
#ifndef ACOG_TESTS_WRITTEN_H
#define ACOG_TESTS_WRITTEN_H

#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A folder of its own, with a few files in it. */
struct written {
    char folder[64];
    char paths[4][128];
    size_t count;
};

static inline void written_init(struct written *written)
{
    *written = (struct written){0};
    (void)snprintf(written->folder, sizeof(written->folder), "/tmp/acog-simulate-XXXXXX");
    assert_non_null(mkdtemp(written->folder));
}

/* The path of the new file, which lives as long as `written`. */
static inline const char *written_add(struct written *written, const char *name, const char *text)
{
    assert_true(written->count < 4);
    char *path = written->paths[written->count];
    (void)snprintf(path, sizeof(written->paths[0]), "%s/%s", written->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    written->count++;
    return path;
}

static inline void written_fini(const struct written *written)
{
    for (size_t i = 0; i < written->count; i++) {
        assert_int_equal(unlink(written->paths[i]), 0);
    }
    assert_int_equal(rmdir(written->folder), 0);
}

/* What is printed, as text. */
struct printed {
    FILE *file;
    char *text; /* complete after printed_end() */
    size_t bytes;
};

static inline void printed_begin(struct printed *printed)
{
    *printed = (struct printed){0};
    printed->file = open_memstream(&printed->text, &printed->bytes);
    assert_non_null(printed->file);
}

static inline void printed_end(struct printed *printed)
{
    assert_int_equal(fclose(printed->file), 0);
}

static inline void printed_fini(struct printed *printed)
{
    free(printed->text);
}

static inline void printed_has(const struct printed *printed, const char *part)
{
    if (strstr(printed->text, part) == NULL) {
        fail_msg("expected \"%s\" in:\n%s", part, printed->text);
    }
}

#endif
