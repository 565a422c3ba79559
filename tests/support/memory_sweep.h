/* memory_sweep.h - lets each allocation of a story fail in turn.
 *
 * A story is told again and again: its first allocation fails, then its second, and so on until a telling needs no
 * failure; each time once with that allocation alone failing, and once with all after it failing too. What a test
 * allocates for itself inside a story is spared between memory_sweep_spare() and memory_sweep_fail_again(), which nest.
 * Leaks are LeakSanitizer's to find.
 */
#ifndef ACOG_TESTS_SUPPORT_MEMORY_SWEEP_H
#define ACOG_TESTS_SUPPORT_MEMORY_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#define MEMORY_SWEEP_MAX 20000 /* allocations of one story; more is a story that does not end */

/* Must leave everything as it found it, whether it failed or not. */
typedef void memory_story(void *user);

/* Returns how many allocations the story makes when all goes well. `step` above 1 leaves allocations out: each one
 * below 64 fails, then only each step-th. */
size_t memory_sweep(memory_story *story, void *user, size_t step);

/* Whether an allocation of the telling that runs has failed. */
bool memory_sweep_failed(void);

void memory_sweep_spare(void);
void memory_sweep_fail_again(void);

#endif
