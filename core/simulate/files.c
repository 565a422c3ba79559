/* files.c - a walk through folders that gives the same list on every machine. */
#include "files.h"

#include "acog/memory.h"

#include <dirent.h>
#include <errno.h>
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

static enum acog_code walk(struct acog_files *files, const char *folder, int depth,
                           struct acog_error *error);

static enum acog_code visit(struct acog_files *files, const char *folder, const char *name,
                            int depth, struct acog_error *error)
{
    char path[ACOG_PATH_BYTES_MAX];
    struct stat status;
    size_t folder_bytes = strlen(folder);
    bool slash = folder_bytes > 0 && folder[folder_bytes - 1] == '/';
    int length = snprintf(path, sizeof(path), "%s%s%s", folder, slash ? "" : "/", name);
    if (length < 0 || (size_t)length >= sizeof(path)) {
        return acog_error_set(error, ACOG_TOO_BIG, "%s: the path is too long", folder);
    }
    if (lstat(path, &status) != 0) {
        return ACOG_OK; /* gone meanwhile */
    }
    if (S_ISDIR(status.st_mode)) {
        return walk(files, path, depth + 1, error);
    }
    return S_ISREG(status.st_mode) && is_test(name) ? add(files, path, error) : ACOG_OK;
}

static enum acog_code walk(struct acog_files *files, const char *folder, int depth,
                           struct acog_error *error)
{
    if (depth > DEPTH_MAX) {
        return acog_error_set(error, ACOG_TOO_BIG, "%s: folders are nested deeper than %d", folder,
                              DEPTH_MAX);
    }
    DIR *open = opendir(folder);
    if (open == NULL) {
        return acog_error_set(error, ACOG_IO, "%s: the folder cannot be read", folder);
    }
    enum acog_code code = ACOG_OK;
    const struct dirent *entry = readdir(open);
    while (code == ACOG_OK && entry != NULL) {
        if (entry->d_name[0] != '.') {
            code = visit(files, folder, entry->d_name, depth, error);
        }
        entry = readdir(open);
    }
    (void)closedir(open);
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
    size_t first = files->count;
    enum acog_code code = walk(files, path, 0, error);
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
