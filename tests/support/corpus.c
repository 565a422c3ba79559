/* corpus.c - files of the corpus. */
#include "tests/support/corpus.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 1024

bool acog_corpus_missing(void)
{
    if (getenv("ACOG_CORPUS") != NULL) {
        return false;
    }
    (void)printf("skipped: needs the captured data (ACOG_CORPUS)\n");
    return true;
}

static bool full_path(const char *name, char path[PATH_BYTES])
{
    const char *root = getenv("ACOG_CORPUS");
    return root != NULL && snprintf(path, PATH_BYTES, "%s/%s", root, name) < PATH_BYTES;
}

bool acog_corpus_read(const char *name, struct acog_buffer *bytes)
{
    char path[PATH_BYTES];
    char piece[4096];
    acog_buffer_init(bytes, ACOG_CORPUS_FILE_BYTES_MAX);
    FILE *file = full_path(name, path) ? fopen(path, "rb") : NULL;
    if (file == NULL) {
        return false;
    }
    bool good = true;
    for (size_t got = sizeof(piece); good && got == sizeof(piece);) {
        got = fread(piece, 1, sizeof(piece), file);
        good = acog_buffer_append(bytes, (struct acog_view){piece, got}) == ACOG_OK;
    }
    good = good && ferror(file) == 0;
    (void)fclose(file);
    if (!good) {
        acog_buffer_fini(bytes);
    }
    return good;
}

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name);
    size_t tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

size_t acog_corpus_each(const char *folder, const char *ending,
                        void (*each)(const char *name, void *user), void *user)
{
    char path[PATH_BYTES];
    struct dirent **entries = NULL;
    size_t found = 0;
    int count = full_path(folder, path) ? scandir(path, &entries, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        char name[PATH_BYTES];
        if (ends_in(entries[i]->d_name, ending) && entries[i]->d_name[0] != '.' &&
            snprintf(name, sizeof(name), "%s/%s", folder, entries[i]->d_name) < PATH_BYTES) {
            each(name, user);
            found++;
        }
        free(entries[i]);
    }
    free(entries);
    return found;
}
