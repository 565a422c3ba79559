/* memory.c - calloc, realloc and free behind one door. */
#include "acog/memory.h"

#include <malloc.h>
#include <stdlib.h>

static _Thread_local bool (*fails_hook)(void *user);
static _Thread_local void *fails_user;

static bool must_fail(void)
{
    return fails_hook != NULL && fails_hook(fails_user);
}

void *acog_new(size_t bytes)
{
    return must_fail() ? NULL : calloc(1, bytes);
}

void *acog_grow(void *ptr, size_t bytes)
{
    return must_fail() ? NULL : realloc(ptr, bytes);
}

void acog_free(void *ptr)
{
    free(ptr);
}

void acog_memory_give_back(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

void acog_memory_fail_when(bool (*fails)(void *user), void *user)
{
    fails_hook = fails;
    fails_user = user;
}
