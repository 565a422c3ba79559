/* id_index.c - open addressing; no id is ever taken out. */
#include "id_index.h"

#include "acog/contract.h"

#include <string.h>

uint64_t acog_id_hash(struct acog_view id)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < id.len; i++) {
        hash = (hash ^ (unsigned char)id.ptr[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

enum acog_code acog_id_index_init(struct acog_id_index *index, size_t count,
                                  struct acog_arena *arena)
{
    size_t room = 2;
    while (room / 2 <= count) {
        room *= 2;
    }
    struct acog_id_slot *slots = acog_arena_take(arena, room * sizeof(*slots));
    if (slots == NULL) {
        return ACOG_NO_MEMORY;
    }
    memset(slots, 0, room * sizeof(*slots));
    *index = (struct acog_id_index){.slots = slots, .room = room, .left = count};
    return ACOG_OK;
}

/* The id's slot, or the free one where it would be. */
static struct acog_id_slot *slot_of(const struct acog_id_index *index, struct acog_view id,
                                    uint64_t hash)
{
    size_t at = (size_t)(hash ^ (hash >> 32U)) & (index->room - 1);
    while (index->slots[at].value != NULL &&
           (index->slots[at].hash != hash || !acog_view_equal(index->slots[at].id, id))) {
        at = (at + 1) & (index->room - 1);
    }
    return &index->slots[at];
}

void acog_id_index_add(struct acog_id_index *index, struct acog_view id, void *value)
{
    ACOG_ASSERT(value != NULL);
    if (index->left == 0) {
        return;
    }
    uint64_t hash = acog_id_hash(id);
    struct acog_id_slot *slot = slot_of(index, id, hash);
    if (slot->value == NULL) {
        *slot = (struct acog_id_slot){.id = id, .hash = hash, .value = value};
        index->left--;
    }
}

void *acog_id_index_find(const struct acog_id_index *index, struct acog_view id)
{
    return index->room == 0 ? NULL : slot_of(index, id, acog_id_hash(id))->value;
}
