/* memo.h - which candidates a model id reaches, remembered for the ids that were asked for.
 *
 * Bounded: four places for each set, ids that reach nothing give way first, so that a client that invents ids does not
 * push out the known ones.
 */
#ifndef ACOG_POLICY_MEMO_H
#define ACOG_POLICY_MEMO_H

#include "acog/engine.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memo_entry {
    uint64_t hash;        /* 0: free */
    uint16_t *candidates; /* owned; the id stands behind them in the same piece */
    const char *id;
    size_t id_len;
    size_t count;
};

struct memo {
    struct memo_entry *entries; /* owned */
    size_t sets;                /* a power of two */
    size_t next;                /* whose turn it is to give way, in any set */
};

/* For about `expected` ids. False: no memory. */
bool memo_init(struct memo *memo, size_t expected);
void memo_fini(struct memo *memo);

/* NULL: not known. Valid until the next memo_put(). */
const struct memo_entry *memo_find(const struct memo *memo, struct acog_view id);

/* Remembers a copy; ids above a length, and any when there is no memory, are not remembered. */
void memo_put(struct memo *memo, struct acog_view id, const uint16_t *candidates, size_t count);

#endif
