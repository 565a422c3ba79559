/* memory.h - the one way to the heap, so that a test can fail each allocation in turn.
 *
 * Long-lived things use these; what dies with a request lives in its arena (arena.h).
 */
#ifndef ACOG_MEMORY_H
#define ACOG_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory, or NULL. */
void *acog_new(size_t bytes);

/* As realloc: grown or moved; NULL leaves `ptr` as it was. New bytes are not zeroed. */
void *acog_grow(void *ptr, size_t bytes);

/* NULL is allowed. */
void acog_free(void *ptr);

/* Gives the system back what is free of every thread's memory, where the C library can: a look at all of it, so for
 * quiet times. */
void acog_memory_give_back(void);

/* For tests: `fails` is asked before each allocation of this thread; true makes it return NULL.
 * NULL takes the hook away. */
void acog_memory_fail_when(bool (*fails)(void *user), void *user);

#endif
