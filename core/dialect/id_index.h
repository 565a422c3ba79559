/* id_index.h - private to core/dialect: finds what belongs to an id. Results, signatures and details stand apart from
 * the call whose id they name, and a body may hold very many of both: looking for each among all would take for ever.
 */
#ifndef ACOG_CORE_DIALECT_ID_INDEX_H
#define ACOG_CORE_DIALECT_ID_INDEX_H

#include "acog/arena.h"
#include "acog/error.h"
#include "acog/view.h"

#include <stddef.h>
#include <stdint.h>

/* FNV-1a. */
uint64_t acog_id_hash(struct acog_view id);

struct acog_id_slot {
    struct acog_view id;
    uint64_t hash;
    void *value; /* NULL: the slot is free */
};

/* Zeroed, it holds nothing. */
struct acog_id_index {
    struct acog_id_slot *slots;
    size_t room; /* a power of two, more than twice the ids */
    size_t left; /* how many more it takes */
};

/* For up to `count` ids. ACOG_NO_MEMORY. */
enum acog_code acog_id_index_init(struct acog_id_index *index, size_t count,
                                  struct acog_arena *arena) ACOG_MUST_CHECK;

/* `value` is not NULL. Of one id the first value stays, and so do the first `count` ids. The id is lent. */
void acog_id_index_add(struct acog_id_index *index, struct acog_view id, void *value);

/* NULL: none. */
void *acog_id_index_find(const struct acog_id_index *index, struct acog_view id);

#endif
