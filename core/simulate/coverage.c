/* coverage.c - a map of each file's lines, filled by the watch of the Lua states. */
#include "coverage.h"

#include "acog/embedded_lua.h"
#include "acog/memory.h"
#include "files.h"
#include "sandbox.h"

#include <stdlib.h>
#include <string.h>

#define DUMP_BYTES_MAX ((size_t)64 * 1024 * 1024)

enum mark { /* one a line; the greater one wins when two are joined */
    ACOG_MARK_NOTHING = ' ',
    ACOG_MARK_MISSED = '-',
    ACOG_MARK_RAN = '1',
};

struct covered_file {
    struct acog_buffer path;
    struct acog_buffer marks; /* the first is of line 1 */
};

struct acog_coverage {
    struct acog_lua_watch watch;
    struct covered_file *files; /* owned */
    size_t count;
    size_t room;
    struct covered_file *last; /* of the last line: most lines follow one of the same file */
    bool failed;               /* no memory: the figures would lie */
};

/* -- files ------------------------------------------------------------------------------------------ */

/* Test files tell nothing about what they test, and acog's modules are ours to test. */
static bool is_watched(struct acog_view path)
{
    struct acog_view tests = ACOG_VIEW("_test.lua");
    if (acog_view_equal(
            acog_view_slice(path, path.len < tests.len ? 0 : path.len - tests.len, path.len),
            tests)) {
        return false;
    }
    for (size_t i = 0; i < acog_embedded_lua_count; i++) {
        struct acog_view embedded = acog_view_of(acog_embedded_lua[i].path);
        if (acog_view_equal(path, embedded)) {
            return !acog_view_starts(embedded, ACOG_VIEW("lua/"));
        }
    }
    return true;
}

static struct covered_file *find_file(struct acog_coverage *coverage, struct acog_view path)
{
    for (size_t i = 0; i < coverage->count; i++) {
        if (acog_view_equal(acog_buffer_view(&coverage->files[i].path), path)) {
            return &coverage->files[i];
        }
    }
    return NULL;
}

/* NULL: no memory, or too many files. */
static struct covered_file *add_file(struct acog_coverage *coverage, struct acog_view path)
{
    struct covered_file *file = find_file(coverage, path);
    if (file != NULL) {
        return file;
    }
    if (coverage->count == coverage->room) {
        size_t room = coverage->room == 0 ? 16 : coverage->room * 2;
        struct covered_file *grown = room > ACOG_COVERED_FILES_MAX * 2
                                         ? NULL
                                         : acog_grow(coverage->files, room * sizeof(grown[0]));
        if (grown == NULL) {
            coverage->failed = true;
            return NULL;
        }
        coverage->files = grown;
        coverage->room = room;
        coverage->last = NULL;
    }
    file = &coverage->files[coverage->count];
    acog_buffer_init(&file->path, ACOG_PATH_BYTES_MAX);
    acog_buffer_init(&file->marks, ACOG_COVERED_LINES_MAX);
    if (acog_buffer_append(&file->path, path) != ACOG_OK) {
        acog_buffer_fini(&file->path);
        coverage->failed = true;
        return NULL;
    }
    coverage->count++;
    return file;
}

static bool set_mark(struct covered_file *file, size_t line, char mark)
{
    while (file->marks.len < line) {
        if (acog_buffer_append(&file->marks, ACOG_VIEW(" ")) != ACOG_OK) {
            return false;
        }
    }
    if (line > 0 && mark > file->marks.ptr[line - 1]) {
        file->marks.ptr[line - 1] = mark;
    }
    return true;
}

/* -- watching --------------------------------------------------------------------------------------- */

static void add_executable(void *user, size_t line)
{
    (void)!set_mark(user, line, ACOG_MARK_MISSED);
}

static int write_dump(lua_State *L, const void *bytes, size_t count, void *user)
{
    (void)L;
    return acog_buffer_append(user, (struct acog_view){bytes, count}) == ACOG_OK ? 0 : 1;
}

static void on_loaded(void *user, lua_State *L, const char *path)
{
    struct acog_coverage *coverage = user;
    if (!is_watched(acog_view_of(path)) || find_file(coverage, acog_view_of(path)) != NULL) {
        return;
    }
    struct acog_buffer dumped;
    acog_buffer_init(&dumped, DUMP_BYTES_MAX);
    struct covered_file *file = add_file(coverage, acog_view_of(path));
    bool read = file != NULL && lua_dump(L, write_dump, &dumped, 0) == 0 &&
                acog_chunk_lines(acog_buffer_view(&dumped), add_executable, file);
    coverage->failed = coverage->failed || !read;
    acog_buffer_fini(&dumped);
}

/* Only lines that are executable count: the return that Lua adds is not. */
static void on_line(void *user, const char *path, int line)
{
    struct acog_coverage *coverage = user;
    struct acog_view name = acog_view_of(path);
    struct covered_file *file = coverage->last;
    if (file == NULL || !acog_view_equal(acog_buffer_view(&file->path), name)) {
        file = find_file(coverage, name);
        coverage->last = file;
    }
    if (file != NULL && line > 0 && (size_t)line <= file->marks.len &&
        file->marks.ptr[line - 1] == ACOG_MARK_MISSED) {
        file->marks.ptr[line - 1] = ACOG_MARK_RAN;
    }
}

struct acog_coverage *acog_coverage_new(void)
{
    struct acog_coverage *coverage = acog_new(sizeof(*coverage));
    if (coverage != NULL) {
        coverage->watch =
            (struct acog_lua_watch){.loaded = on_loaded, .line = on_line, .user = coverage};
        acog_lua_watch(&coverage->watch);
    }
    return coverage;
}

void acog_coverage_free(struct acog_coverage **coverage)
{
    struct acog_coverage *gone = *coverage;
    if (gone == NULL) {
        return;
    }
    acog_lua_watch(NULL);
    for (size_t i = 0; i < gone->count; i++) {
        acog_buffer_fini(&gone->files[i].path);
        acog_buffer_fini(&gone->files[i].marks);
    }
    acog_free(gone->files);
    acog_free(gone);
    *coverage = NULL;
}

/* -- from one process into another -------------------------------------------------------------------- */

void acog_coverage_write(const struct acog_coverage *coverage, FILE *out)
{
    (void)fprintf(out, "%d %zu\n", coverage->failed ? 1 : 0, coverage->count);
    for (size_t i = 0; i < coverage->count; i++) {
        const struct covered_file *file = &coverage->files[i];
        (void)fprintf(out, "%zu %zu\n", file->path.len, file->marks.len);
        (void)fwrite(file->path.ptr, 1, file->path.len, out);
        (void)fwrite(file->marks.ptr, 1, file->marks.len, out);
    }
}

static bool read_bytes(FILE *in, size_t bytes, struct acog_buffer *out)
{
    if (acog_buffer_reserve(out, bytes) != ACOG_OK || fread(out->ptr, 1, bytes, in) != bytes) {
        return false;
    }
    out->len = bytes;
    return true;
}

/* Two numbers and the end of their line. */
static bool read_numbers(FILE *in, size_t *one, size_t *two)
{
    char line[64];
    char *end = NULL;
    if (fgets(line, (int)sizeof(line), in) == NULL) {
        return false;
    }
    *one = strtoul(line, &end, 10);
    *two = strtoul(end, &end, 10);
    return *end == '\n';
}

static bool read_file(struct acog_coverage *coverage, FILE *in)
{
    struct acog_buffer path;
    struct acog_buffer marks;
    size_t path_bytes = 0;
    size_t line_count = 0;
    acog_buffer_init(&path, ACOG_PATH_BYTES_MAX);
    acog_buffer_init(&marks, ACOG_COVERED_LINES_MAX);
    bool read = read_numbers(in, &path_bytes, &line_count) && read_bytes(in, path_bytes, &path) &&
                read_bytes(in, line_count, &marks);
    struct covered_file *file = read ? add_file(coverage, acog_buffer_view(&path)) : NULL;
    read = file != NULL;
    for (size_t i = 0; read && i < marks.len; i++) {
        read = set_mark(file, i + 1, marks.ptr[i]);
    }
    acog_buffer_fini(&path);
    acog_buffer_fini(&marks);
    return read;
}

bool acog_coverage_read(struct acog_coverage *coverage, FILE *in)
{
    size_t failed = 1;
    size_t count = 0;
    bool read = read_numbers(in, &failed, &count) && failed == 0;
    for (size_t i = 0; read && i < count; i++) {
        read = read_file(coverage, in);
    }
    coverage->failed = coverage->failed || !read;
    return read;
}

/* -- telling ---------------------------------------------------------------------------------------- */

static struct acog_coverage_sum sum_of(const struct covered_file *file)
{
    struct acog_coverage_sum sum = {0};
    for (size_t i = 0; i < file->marks.len; i++) {
        sum.executable += file->marks.ptr[i] != ACOG_MARK_NOTHING ? 1 : 0;
        sum.executed += file->marks.ptr[i] == ACOG_MARK_RAN ? 1 : 0;
    }
    return sum;
}

struct acog_coverage_sum acog_coverage_sum(const struct acog_coverage *coverage)
{
    struct acog_coverage_sum sum = {0};
    for (size_t i = 0; i < coverage->count; i++) {
        struct acog_coverage_sum file = sum_of(&coverage->files[i]);
        sum.executable += file.executable;
        sum.executed += file.executed;
    }
    return sum;
}

/* By bytes: negative, 0, positive. */
static int compare(struct acog_view one, struct acog_view other)
{
    size_t shared = one.len < other.len ? one.len : other.len;
    int order = shared == 0 ? 0 : memcmp(one.ptr, other.ptr, shared);
    return order != 0 ? order : (one.len > other.len) - (one.len < other.len);
}

/* The file whose path follows `after`; NULL: there is none. */
static const struct covered_file *next_file(const struct acog_coverage *coverage,
                                            const struct covered_file *after)
{
    const struct covered_file *next = NULL;
    for (size_t i = 0; i < coverage->count; i++) {
        const struct covered_file *file = &coverage->files[i];
        struct acog_view path = acog_buffer_view(&file->path);
        if (after != NULL && compare(path, acog_buffer_view(&after->path)) <= 0) {
            continue;
        }
        if (next == NULL || compare(path, acog_buffer_view(&next->path)) < 0) {
            next = file;
        }
    }
    return next;
}

static double percent(struct acog_coverage_sum sum)
{
    return sum.executable == 0 ? 100.0 : 100.0 * (double)sum.executed / (double)sum.executable;
}

/* "; not run: 12, 14-16": lines that hold nothing do not part a run. */
static void print_missed(const struct covered_file *file, FILE *out)
{
    const char *separator = "; not run: ";
    size_t at = 0;
    while (at < file->marks.len) {
        if (file->marks.ptr[at] != ACOG_MARK_MISSED) {
            at++;
            continue;
        }
        size_t first = at;
        size_t last = at;
        for (; at < file->marks.len && file->marks.ptr[at] != ACOG_MARK_RAN; at++) {
            last = file->marks.ptr[at] == ACOG_MARK_MISSED ? at : last;
        }
        if (first == last) {
            (void)fprintf(out, "%s%zu", separator, first + 1);
        } else {
            (void)fprintf(out, "%s%zu-%zu", separator, first + 1, last + 1);
        }
        separator = ", ";
    }
}

void acog_coverage_print(const struct acog_coverage *coverage, FILE *out)
{
    const struct covered_file *file = next_file(coverage, NULL);
    for (; file != NULL; file = next_file(coverage, file)) {
        struct acog_coverage_sum sum = sum_of(file);
        (void)fprintf(out, "coverage  %5.1f %% of %4zu lines  %.*s", percent(sum), sum.executable,
                      ACOG_VIEW_FMT(acog_buffer_view(&file->path)));
        print_missed(file, out);
        (void)fprintf(out, "\n");
    }
    struct acog_coverage_sum all = acog_coverage_sum(coverage);
    (void)fprintf(out, "coverage  %5.1f %% of %4zu lines  in all\n", percent(all), all.executable);
}

static void print_json_file(const struct covered_file *file, FILE *out)
{
    struct acog_buffer path;
    struct acog_coverage_sum sum = sum_of(file);
    const char *separator = "";
    acog_buffer_init(&path, ACOG_PATH_BYTES_MAX * 6);
    (void)!acog_buffer_append_json(&path, acog_buffer_view(&file->path));
    (void)fprintf(out, "{\"file\":\"%.*s\",\"executable\":%zu,\"executed\":%zu,\"missed\":[",
                  ACOG_VIEW_FMT(acog_buffer_view(&path)), sum.executable, sum.executed);
    for (size_t i = 0; i < file->marks.len; i++) {
        if (file->marks.ptr[i] == ACOG_MARK_MISSED) {
            (void)fprintf(out, "%s%zu", separator, i + 1);
            separator = ",";
        }
    }
    (void)fprintf(out, "]}");
    acog_buffer_fini(&path);
}

void acog_coverage_print_json(const struct acog_coverage *coverage, FILE *out)
{
    const struct covered_file *file = next_file(coverage, NULL);
    (void)fprintf(out, "[");
    for (const char *separator = "\n"; file != NULL; separator = ",\n") {
        (void)fprintf(out, "%s", separator);
        print_json_file(file, out);
        file = next_file(coverage, file);
    }
    (void)fprintf(out, "]");
}
