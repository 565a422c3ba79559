/* sources.c - reading files, and finding the headers that they name. */
#include "sources.h"

#include "acog/contract.h"
#include "acog/header.h"
#include "lower.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HASH_DIGITS       16
#define HEADERS_FOUND_MAX 64
#define HEADER_BYTES_MAX  100

static enum acog_code no_memory(struct acog_error *error)
{
    return acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
}

void sources_init(struct sources *sources, struct acog_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    sources->arena = arena;
    sources->count = 0;
    if (len >= sizeof(sources->directory)) {
        len = 0; /* reading a file beside it will say that it is not there */
    }
    memcpy(sources->directory, path, len);
    sources->directory[len] = '\0';
}

/* -- reading ---------------------------------------------------------------------------------------- */

/* The whole of an open file into the arena, with a NUL behind it. */
static enum acog_code read_open_file(FILE *file, const char *path, struct acog_arena *arena,
                                     struct acog_view *text, struct acog_error *error)
{
    struct stat status;
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        return acog_error_set(error, ACOG_INVALID, "%s: is a folder; a configuration is a file",
                              path);
    }
    if (fseek(file, 0, SEEK_END) != 0) {
        return acog_error_set(error, ACOG_IO, "%s: cannot be read", path);
    }
    long size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0) {
        return acog_error_set(error, ACOG_IO, "%s: cannot be read", path);
    }
    if ((size_t)size > SOURCE_BYTES_MAX) {
        return acog_error_set(error, ACOG_TOO_BIG, "%s: is larger than %zu bytes", path,
                              SOURCE_BYTES_MAX);
    }
    char *bytes = acog_arena_take(arena, (size_t)size + 1);
    if (bytes == NULL) {
        return no_memory(error);
    }
    if (fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        return acog_error_set(error, ACOG_IO, "%s: cannot be read", path);
    }
    *text = (struct acog_view){.ptr = bytes, .len = (size_t)size};
    return ACOG_OK;
}

static enum acog_code read_file(const char *path, struct acog_arena *arena, struct acog_view *text,
                                struct acog_error *error)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return acog_error_set(error, ACOG_NOT_FOUND, "%s: cannot be opened", path);
    }
    enum acog_code code = read_open_file(file, path, arena, text, error);
    (void)fclose(file);
    return code;
}

/* Adds a row; `path` and `name` are copied. */
static enum acog_code add(struct sources *sources, struct acog_view name, const char *path,
                          struct acog_view text, struct acog_error *error)
{
    if (sources->count == SOURCES_MAX) {
        return acog_error_set(error, ACOG_TOO_BIG,
                              "%s: one file more than the %d of a configuration", path,
                              SOURCES_MAX);
    }
    struct acog_source source = {
        .name = acog_arena_copy(sources->arena, name),
        .path = acog_arena_copy(sources->arena, acog_view_of(path)),
        .text = text,
    };
    if (source.name.ptr == NULL || source.path.ptr == NULL) {
        return no_memory(error);
    }
    sources->list[sources->count] = source;
    sources->count++;
    return ACOG_OK;
}

enum acog_code sources_main(struct sources *sources, const struct acog_policy_options *options,
                            struct acog_view *text, struct acog_error *error)
{
    enum acog_code code = ACOG_OK;
    if (options->text.ptr == NULL) {
        code = read_file(options->path, sources->arena, text, error);
    } else if (options->text.len > SOURCE_BYTES_MAX) {
        code = acog_error_set(error, ACOG_TOO_BIG, "%s: is larger than %zu bytes", options->path,
                              SOURCE_BYTES_MAX);
    } else {
        *text = acog_arena_copy(sources->arena, options->text);
        code = text->ptr == NULL ? no_memory(error) : ACOG_OK;
    }
    return code == ACOG_OK ? add(sources, (struct acog_view){0}, options->path, *text, error)
                           : code;
}

/* "teams.legal" -> DIRECTORY "teams/legal.lua". False: too long. */
static bool path_of(const struct sources *sources, struct acog_view name, char *path, size_t room)
{
    int len = snprintf(path, room, "%s%.*s.lua", sources->directory, ACOG_VIEW_FMT(name));
    if (len < 0 || (size_t)len >= room) {
        return false;
    }
    size_t start = strlen(sources->directory);
    for (size_t i = start; i < start + name.len; i++) {
        if (path[i] == '.') {
            path[i] = '/';
        }
    }
    return true;
}

enum acog_code sources_read(void *user, struct acog_view name, struct acog_view *path,
                            struct acog_view *text, struct acog_error *error)
{
    struct sources *sources = user;
    char file[SOURCE_PATH_MAX];
    if (!path_of(sources, name, file, sizeof(file))) {
        return acog_error_set(error, ACOG_NOT_FOUND, "the path is too long");
    }
    enum acog_code code = read_file(file, sources->arena, text, error);
    if (code == ACOG_OK) {
        code = add(sources, name, file, *text, error);
    }
    if (code == ACOG_OK) {
        *path = sources->list[sources->count - 1].path;
    }
    return code;
}

/* Whether the folder is called policies/NAME, wherever the process stands. */
static bool is_policy_folder(const struct sources *sources, struct acog_view name)
{
    char resolved[PATH_MAX];
    char wanted[SOURCE_PATH_MAX];
    int len = snprintf(wanted, sizeof(wanted), "/policies/%.*s", ACOG_VIEW_FMT(name));
    const char *folder = sources->directory[0] == '\0' ? "." : sources->directory;
    if (len < 0 || (size_t)len >= sizeof(wanted) || realpath(folder, resolved) == NULL) {
        return false;
    }
    size_t resolved_len = strlen(resolved);
    return resolved_len >= (size_t)len &&
           strcmp(resolved + resolved_len - (size_t)len, wanted) == 0;
}

enum acog_code sources_read_policy(void *user, struct acog_view name, struct acog_view *path,
                                   struct acog_view *text, struct acog_error *error)
{
    struct sources *sources = user;
    char file[SOURCE_PATH_MAX];
    if (!is_policy_folder(sources, name) || !path_of(sources, name, file, sizeof(file))) {
        return acog_error_set(error, ACOG_NOT_FOUND, "the folder is not the policy's");
    }
    enum acog_code code = read_file(file, sources->arena, text, error);
    if (code == ACOG_OK) {
        *path = acog_arena_copy(sources->arena, acog_view_of(file));
        code = path->ptr == NULL ? no_memory(error) : ACOG_OK;
    }
    return code;
}

/* -- headers that a text names ------------------------------------------------------------------------ */

struct found {
    struct acog_view names[HEADERS_FOUND_MAX];
    size_t count;
};

static bool is_name_byte(char c, bool quoted)
{
    bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return word || (quoted && c == '-');
}

static size_t skip_blanks(struct acog_view text, size_t at)
{
    ACOG_ASSERT(text.ptr != NULL || text.len == 0);
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t')) {
        at++;
    }
    return at;
}

/* The name in `["x-team"]` or `.team` at `at`, or an empty view. */
static struct acog_view name_at(struct acog_view text, size_t at)
{
    bool quoted = at < text.len && text.ptr[at] == '[';
    char quote = '"';
    if (!quoted && (at >= text.len || text.ptr[at] != '.')) {
        return (struct acog_view){0};
    }
    at++;
    if (quoted) {
        at = skip_blanks(text, at);
        if (at >= text.len || (text.ptr[at] != '"' && text.ptr[at] != '\'')) {
            return (struct acog_view){0};
        }
        quote = text.ptr[at];
        at++;
    }
    size_t end = at;
    while (end < text.len && is_name_byte(text.ptr[end], quoted)) {
        end++;
    }
    if (quoted && (end >= text.len || text.ptr[end] != quote)) {
        return (struct acog_view){0};
    }
    return acog_view_slice(text, at, end);
}

static bool is_secret(struct acog_view name)
{
    return acog_view_equal(name, ACOG_VIEW("authorization")) ||
           acog_view_equal(name, ACOG_VIEW("cookie")) ||
           acog_view_equal(name, ACOG_VIEW("proxy-authorization")) ||
           acog_view_equal(name, ACOG_VIEW("x-api-key"));
}

/* Adds `name` in lower case unless it is there, is a secret's, or there is no room. */
static bool add_name(struct found *found, struct acog_arena *arena, struct acog_view name)
{
    if (name.len == 0 || name.len > HEADER_BYTES_MAX || found->count == HEADERS_FOUND_MAX) {
        return true;
    }
    struct acog_view copy = lower_copy(arena, name);
    if (copy.ptr == NULL) {
        return false;
    }
    bool known = is_secret(copy);
    for (size_t i = 0; i < found->count && !known; i++) {
        known = acog_view_equal(found->names[i], copy);
    }
    if (!known) {
        found->names[found->count] = copy;
        found->count++;
    }
    return true;
}

static bool find_headers(struct found *found, struct acog_arena *arena, struct acog_view text)
{
    static const char word[] = "header";
    const size_t word_len = sizeof(word) - 1;
    size_t at = acog_view_find(text, ACOG_VIEW("header"));
    while (at < text.len) {
        struct acog_view rest = acog_view_slice(text, at + word_len, text.len);
        if (!add_name(found, arena, name_at(rest, skip_blanks(rest, 0)))) {
            return false;
        }
        at += word_len + acog_view_find(rest, ACOG_VIEW("header"));
    }
    return true;
}

/* -- into the snapshot ------------------------------------------------------------------------------ */

static bool find_in_list(struct found *found, struct acog_arena *arena,
                         const struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (!find_headers(found, arena, sources->list[i].text)) {
            return false;
        }
    }
    return true;
}

static enum acog_code keep_headers(struct found *found, struct acog_loaded *loaded,
                                   struct acog_error *error)
{
    struct acog_snapshot *snapshot = &loaded->snapshot;
    struct acog_view *names = acog_arena_take(&loaded->arena, (found->count + 1) * sizeof(*names));
    if (names == NULL) {
        return no_memory(error);
    }
    memcpy(names, found->names, found->count * sizeof(*names));
    snapshot->client_headers = names;
    snapshot->client_header_count = found->count;
    return ACOG_OK;
}

/* The declared headers first, so that the cap cuts the found ones. */
static bool add_declared(struct found *found, struct acog_loaded *loaded)
{
    for (size_t i = 0; i < loaded->snapshot.client_header_count; i++) {
        if (!add_name(found, &loaded->arena, loaded->snapshot.client_headers[i])) {
            return false;
        }
    }
    return true;
}

static enum acog_code keep_hash(const struct sources *sources, struct acog_loaded *loaded,
                                struct acog_error *error)
{
    uint64_t hash = LOADED_HASH_START;
    for (size_t i = 0; i < sources->count; i++) {
        hash = loaded_hash(hash, sources->list[i].name);
        hash = loaded_hash(hash, sources->list[i].text);
    }
    char *digits = acog_arena_take(&loaded->arena, HASH_DIGITS + 1);
    if (digits == NULL) {
        return no_memory(error);
    }
    (void)snprintf(digits, HASH_DIGITS + 1, "%016" PRIx64, hash);
    loaded->snapshot.hash = (struct acog_view){.ptr = digits, .len = HASH_DIGITS};
    return ACOG_OK;
}

enum acog_code sources_keep(const struct sources *sources, struct acog_loaded *loaded,
                            struct acog_error *error)
{
    struct found found = {.count = 0};
    struct acog_source *rows =
        acog_arena_take(&loaded->arena, (sources->count + 1) * sizeof(*rows));
    if (rows == NULL || !add_declared(&found, loaded) ||
        !find_in_list(&found, &loaded->arena, sources)) {
        return no_memory(error);
    }
    memcpy(rows, sources->list, sources->count * sizeof(*rows));
    loaded->snapshot.sources = rows;
    loaded->snapshot.source_count = sources->count;
    enum acog_code code = keep_headers(&found, loaded, error);
    return code == ACOG_OK ? keep_hash(sources, loaded, error) : code;
}

enum acog_code sources_keep_for_table(struct sources *sources, const struct sources *required,
                                      const char *path, struct acog_loaded *loaded,
                                      struct acog_error *error)
{
    struct found found = {.count = 0};
    struct acog_view text = {0};
    struct acog_error unreadable; /* then nothing is found in it */
    if (read_file(path, sources->arena, &text, &unreadable) == ACOG_NO_MEMORY ||
        !add_declared(&found, loaded) || !find_headers(&found, &loaded->arena, text) ||
        (required != NULL && !find_in_list(&found, &loaded->arena, required))) {
        return no_memory(error);
    }
    enum acog_code code = add(sources, (struct acog_view){0}, path, text, error);
    if (code == ACOG_OK) {
        code = keep_headers(&found, loaded, error);
    }
    return code == ACOG_OK ? keep_hash(sources, loaded, error) : code;
}
