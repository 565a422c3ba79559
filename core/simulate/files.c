/* files.c - a walk through folders that gives the same list on every machine. */
#include "files.h"

#include "acog/memory.h"

#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 32 /* of folders in folders */

static const char suffix[] = "_test.lua";

void acog_files_fini(struct acog_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        acog_free(files->paths[i]);
    }
    acog_free(files->paths);
    *files = (struct acog_files){0};
}

static enum acog_code make_room(struct acog_files *files, struct acog_error *error)
{
    if (files->count < files->room) {
        return ACOG_OK;
    }
    if (files->count == ACOG_TEST_FILES_MAX) {
        return acog_error_set(error, ACOG_TOO_BIG, "more than %zu test files", files->count);
    }
    size_t room = files->room == 0 ? 16 : files->room * 2;
    char **grown = acog_grow(files->paths, room * sizeof(grown[0]));
    if (grown == NULL) {
        return acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
    }
    files->paths = grown;
    files->room = room;
    return ACOG_OK;
}

static enum acog_code add(struct acog_files *files, const char *path, struct acog_error *error)
{
    enum acog_code code = make_room(files, error);
    if (code != ACOG_OK) {
        return code;
    }
    size_t bytes = strlen(path) + 1;
    char *copy = acog_new(bytes);
    if (copy == NULL) {
        return acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
    }
    memcpy(copy, path, bytes);
    files->paths[files->count] = copy;
    files->count++;
    return ACOG_OK;
}

static bool is_test(const char *name)
{
    size_t bytes = strlen(name);
    size_t suffix_bytes = sizeof(suffix) - 1;
    return bytes > suffix_bytes && strcmp(name + bytes - suffix_bytes, suffix) == 0;
}

/* Whether the walk is to go on from here; tests are added on the way. */
static enum acog_code visit(struct acog_files *files, FTS *walk, FTSENT *entry,
                            struct acog_error *error)
{
    bool hidden = entry->fts_level > 0 && entry->fts_name[0] == '.';
    switch (entry->fts_info) {
    case FTS_D:
        if (entry->fts_level > DEPTH_MAX) {
            return acog_error_set(error, ACOG_TOO_BIG, "%s: folders are nested deeper than %d",
                                  entry->fts_path, DEPTH_MAX);
        }
        if (hidden) {
            (void)fts_set(walk, entry, FTS_SKIP);
        }
        return ACOG_OK;
    case FTS_DNR:
    case FTS_ERR:
        return acog_error_set(error, ACOG_IO, "%s: the folder cannot be read", entry->fts_path);
    case FTS_F:
        return !hidden && is_test(entry->fts_name) ? add(files, entry->fts_path, error) : ACOG_OK;
    default: /* the way back, links, sockets, what is gone meanwhile */
        return ACOG_OK;
    }
}

static enum acog_code walk_folder(struct acog_files *files, char *folder, struct acog_error *error)
{
    char *const folders[] = {folder, NULL};
    FTS *walk = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL) {
        return acog_error_set(error, ACOG_IO, "%s: the folder cannot be read", folder);
    }
    enum acog_code code = ACOG_OK;
    FTSENT *entry = fts_read(walk);
    while (code == ACOG_OK && entry != NULL) {
        code = visit(files, walk, entry, error);
        entry = fts_read(walk);
    }
    (void)fts_close(walk);
    return code;
}

static int compare_paths(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

enum acog_code acog_files_find(struct acog_files *files, const char *path, struct acog_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return acog_error_set(error, ACOG_NOT_FOUND, "%s: there is no such file or folder", path);
    }
    if (!S_ISDIR(status.st_mode)) {
        return add(files, path, error);
    }
    char folder[ACOG_PATH_BYTES_MAX]; /* without a slash at its end; fts wants it writable */
    size_t bytes = strlen(path);
    while (bytes > 1 && path[bytes - 1] == '/') {
        bytes--;
    }
    if (bytes >= sizeof(folder)) {
        return acog_error_set(error, ACOG_TOO_BIG, "%s: the path is too long", path);
    }
    memcpy(folder, path, bytes);
    folder[bytes] = '\0';
    size_t first = files->count;
    enum acog_code code = walk_folder(files, folder, error);
    if (code == ACOG_OK && files->count > first) {
        qsort(&files->paths[first], files->count - first, sizeof(files->paths[0]), compare_paths);
    }
    return code;
}

enum acog_code acog_files_read(const char *path, struct acog_buffer *out, struct acog_error *error)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return acog_error_set(error, errno == ENOENT ? ACOG_NOT_FOUND : ACOG_IO,
                              "%s: the file cannot be opened", path);
    }
    enum acog_code code = ACOG_OK;
    char bytes[8192];
    size_t got = fread(bytes, 1, sizeof(bytes), file);
    while (code == ACOG_OK && got > 0) {
        code = acog_buffer_append(out, (struct acog_view){.ptr = bytes, .len = got});
        got = fread(bytes, 1, sizeof(bytes), file);
    }
    if (code != ACOG_OK) {
        acog_error_set(error, code, "%s: %s", path, acog_code_text(code));
    } else if (ferror(file) != 0) {
        code = acog_error_set(error, ACOG_IO, "%s: the file cannot be read", path);
    }
    (void)fclose(file);
    return code;
}
