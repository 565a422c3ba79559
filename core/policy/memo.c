/* memo.c - a set-associative table. */
#include "memo.h"

#include "acog/memory.h"
#include "loaded.h"

#include <string.h>

#define WAYS         4
#define SETS_MIN     128
#define SETS_MAX     65536
#define ID_BYTES_MAX 256

bool memo_init(struct memo *memo, size_t expected)
{
    size_t sets = SETS_MIN;
    while (sets < SETS_MAX && sets * WAYS < expected * 2) {
        sets *= 2;
    }
    memo->sets = sets;
    memo->next = 0;
    memo->entries = acog_new(sets * WAYS * sizeof(*memo->entries));
    return memo->entries != NULL;
}

static void clear(struct memo_entry *entry)
{
    acog_free(entry->candidates);
    *entry = (struct memo_entry){0};
}

void memo_fini(struct memo *memo)
{
    for (size_t i = 0; memo->entries != NULL && i < memo->sets * WAYS; i++) {
        clear(&memo->entries[i]);
    }
    acog_free(memo->entries);
    memo->entries = NULL;
}

static uint64_t hash_of(struct acog_view id)
{
    uint64_t hash = loaded_hash(LOADED_HASH_START, id);
    hash ^= hash >> 29U;
    return hash == 0 ? 1 : hash;
}

static struct memo_entry *set_of(const struct memo *memo, uint64_t hash)
{
    return &memo->entries[(size_t)(hash & (memo->sets - 1)) * WAYS];
}

const struct memo_entry *memo_find(const struct memo *memo, struct acog_view id)
{
    uint64_t hash = hash_of(id);
    const struct memo_entry *set = set_of(memo, hash);
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].hash == hash &&
            acog_view_equal((struct acog_view){.ptr = set[i].id, .len = set[i].id_len}, id)) {
            return &set[i];
        }
    }
    return NULL;
}

/* A free place, else one that reaches nothing, else the one whose turn it is. */
static struct memo_entry *choose(struct memo *memo, struct memo_entry *set)
{
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].hash == 0) {
            return &set[i];
        }
    }
    memo->next++;
    for (size_t i = 0; i < WAYS; i++) {
        if (set[(memo->next + i) % WAYS].count == 0) {
            return &set[(memo->next + i) % WAYS];
        }
    }
    return &set[memo->next % WAYS];
}

void memo_put(struct memo *memo, struct acog_view id, const uint16_t *candidates, size_t count)
{
    if (id.len > ID_BYTES_MAX) {
        return;
    }
    size_t list_bytes = count * sizeof(*candidates);
    uint16_t *piece = acog_new(list_bytes + id.len + 1);
    if (piece == NULL) {
        return;
    }
    char *copy = (char *)(piece + count);
    if (count > 0) {
        memcpy(piece, candidates, list_bytes);
    }
    if (id.len > 0) {
        memcpy(copy, id.ptr, id.len);
    }
    uint64_t hash = hash_of(id);
    struct memo_entry *entry = choose(memo, set_of(memo, hash));
    clear(entry);
    *entry = (struct memo_entry){
        .hash = hash, .id = copy, .id_len = id.len, .candidates = piece, .count = count};
}
