/* arena.h - memory that lives and dies together: a request's, a snapshot's.
 *
 * Blocks are taken from the heap as needed, up to a cap; nothing is freed alone. Pointers stay valid
 * until acog_arena_reset() or acog_arena_fini().
 */
#ifndef ACOG_ARENA_H
#define ACOG_ARENA_H

#include "acog/view.h"

#include <stddef.h>

struct acog_arena_block;

struct acog_arena {
    struct acog_arena_block *blocks; /* owned; the newest first */
    size_t used_bytes;               /* of the newest block */
    size_t total_bytes;              /* of all blocks */
    size_t bytes_max;
};

/* Takes no memory yet. */
void acog_arena_init(struct acog_arena *arena, size_t bytes_max);
void acog_arena_fini(struct acog_arena *arena);

/* Forgets everything given out; keeps one block for the next use. */
void acog_arena_reset(struct acog_arena *arena);

/* Zeroed, aligned for any type. NULL when the cap or the heap is exhausted. */
void *acog_arena_take(struct acog_arena *arena, size_t bytes);

/* A copy of `text`, followed by a NUL that is not counted. `ptr` is NULL when there is no room
 * (an empty text gives a pointer to the NUL). */
struct acog_view acog_arena_copy(struct acog_arena *arena, struct acog_view text);

#endif
