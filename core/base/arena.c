/* arena.c - a list of blocks; the newest one serves. */
#include "acog/arena.h"

#include "acog/contract.h"
#include "acog/memory.h"

#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)4096)
#define ALIGNMENT   sizeof(max_align_t)

struct acog_arena_block {
    struct acog_arena_block *next;
    size_t bytes; /* usable ones, behind this header */
    max_align_t data[];
};

void acog_arena_init(struct acog_arena *arena, size_t bytes_max)
{
    ACOG_ASSERT(bytes_max > 0);
    *arena = (struct acog_arena){.bytes_max = bytes_max};
}

static void free_blocks(struct acog_arena_block *block)
{
    while (block != NULL) {
        struct acog_arena_block *next = block->next;
        acog_free(block);
        block = next;
    }
}

void acog_arena_fini(struct acog_arena *arena)
{
    free_blocks(arena->blocks);
    acog_arena_init(arena, arena->bytes_max);
}

void acog_arena_reset(struct acog_arena *arena)
{
    struct acog_arena_block *kept = arena->blocks;
    while (kept != NULL && kept->next != NULL) { /* the oldest has the plain size */
        struct acog_arena_block *next = kept->next;
        acog_free(kept);
        kept = next;
    }
    arena->blocks = kept;
    arena->used_bytes = 0;
    arena->total_bytes = kept == NULL ? 0 : kept->bytes;
}

static bool add_block(struct acog_arena *arena, size_t bytes)
{
    size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    if (size > arena->bytes_max - arena->total_bytes) {
        size = bytes;
    }
    if (size > arena->bytes_max - arena->total_bytes) {
        return false;
    }
    struct acog_arena_block *block = acog_grow(NULL, sizeof(*block) + size);
    if (block == NULL) {
        return false;
    }
    block->next = arena->blocks;
    block->bytes = size;
    arena->blocks = block;
    arena->used_bytes = 0;
    arena->total_bytes += size;
    return true;
}

void *acog_arena_take(struct acog_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGNMENT) {
        return NULL;
    }
    size_t aligned = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (arena->blocks == NULL || aligned > arena->blocks->bytes - arena->used_bytes) {
        if (!add_block(arena, aligned)) {
            return NULL;
        }
    }
    void *taken = (char *)arena->blocks->data + arena->used_bytes;
    arena->used_bytes += aligned;
    return memset(taken, 0, bytes);
}

struct acog_view acog_arena_copy(struct acog_arena *arena, struct acog_view text)
{
    char *copy = text.len == SIZE_MAX ? NULL : acog_arena_take(arena, text.len + 1);
    if (copy == NULL) {
        return (struct acog_view){0};
    }
    if (text.len > 0) {
        memcpy(copy, text.ptr, text.len);
    }
    return (struct acog_view){.ptr = copy, .len = text.len};
}
