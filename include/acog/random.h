/* random.h - a small repeatable generator (splitmix64). Not for secrets: ids and keys use the system's. */
#ifndef ACOG_RANDOM_H
#define ACOG_RANDOM_H

#include <stdint.h>

/* The next value; `state` is the whole generator, any seed will do. */
uint64_t acog_random_next(uint64_t *state);

/* Between `from` and `to`, both possible; `to` below `from` gives `from`. */
int64_t acog_random_between(uint64_t *state, int64_t from, int64_t to);

#endif
