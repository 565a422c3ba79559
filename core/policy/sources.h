/* sources.h - the files of a configuration, read once. */
#ifndef ACOG_POLICY_SOURCES_H
#define ACOG_POLICY_SOURCES_H

#include "acog/arena.h"
#include "acog/error.h"
#include "acog/policy.h"
#include "loaded.h"

#include <stddef.h>

#define SOURCES_MAX      64
#define SOURCE_BYTES_MAX ((size_t)1024 * 1024)
#define SOURCE_PATH_MAX  512

struct sources {
    struct acog_arena *arena;        /* texts and paths */
    char directory[SOURCE_PATH_MAX]; /* of the configuration, with its last '/'; or empty */
    struct acog_source list[SOURCES_MAX];
    size_t count;
};

/* `path` is the configuration's; files are looked for beside it. */
void sources_init(struct sources *sources, struct acog_arena *arena, const char *path);

/* The configuration itself: options->text, or the file. Kept under the name "". */
enum acog_code sources_main(struct sources *sources, const struct acog_policy_options *options,
                            struct acog_view *text, struct acog_error *error) ACOG_MUST_CHECK;

/* For struct acog_lua_files: `user` is the struct sources. */
enum acog_code sources_read(void *user, struct acog_view name, struct acog_view *path,
                            struct acog_view *text, struct acog_error *error);

/* For struct acog_lua_files too: the file NAME.lua of the folder, when the folder is called policies/NAME. It is none of
 * the sources: it stands for an embedded file, and those are not either. */
enum acog_code sources_read_policy(void *user, struct acog_view name, struct acog_view *path,
                                   struct acog_view *text, struct acog_error *error);

/* Puts the sources and their hash into the snapshot, and adds to its client_headers each header that a source names
 * (`request.header["x-team"]`): what a policy reads is let through without being listed twice. */
enum acog_code sources_keep(const struct sources *sources, struct acog_loaded *loaded,
                            struct acog_error *error) ACOG_MUST_CHECK;

/* Likewise for a table that `path` made, whose text only counts for the headers (it may be unreadable). `required` are the
 * files that the same Lua state has read, or NULL. */
enum acog_code sources_keep_for_table(struct sources *sources, const struct sources *required,
                                      const char *path, struct acog_loaded *loaded,
                                      struct acog_error *error) ACOG_MUST_CHECK;

#endif
