/* snapshot.c - the life of a snapshot: counted references, one arena, secrets wiped at the end. */
#include "acog/contract.h"
#include "acog/memory.h"
#include "loaded.h"

#define ARENA_BYTES_MAX ((size_t)64 * 1024 * 1024)

struct acog_loaded *loaded_new(struct acog_shared *shared)
{
    struct acog_loaded *loaded = acog_new(sizeof(*loaded));
    if (loaded != NULL) {
        atomic_init(&loaded->references, 1);
        acog_arena_init(&loaded->arena, ARENA_BYTES_MAX);
        loaded->shared = shared;
    }
    return loaded;
}

/* The bytes are the arena's own; the views are const for everybody else. A plain memset before a free is dropped. */
static void wipe(struct acog_view secret)
{
    union {
        const char *lent;
        volatile char *own;
    } bytes = {.lent = secret.ptr};

    for (size_t i = 0; i < secret.len; i++) {
        bytes.own[i] = '\0';
    }
}

void loaded_free(struct acog_loaded **loaded)
{
    if (*loaded == NULL) {
        return;
    }
    struct acog_snapshot *snapshot = &(*loaded)->snapshot;
    for (size_t i = 0; i < snapshot->connection_count; i++) {
        const struct acog_connection *connection = &snapshot->connections[i];
        wipe(connection->key);
        for (size_t j = 0; j < connection->header_count; j++) {
            wipe(connection->headers[j].value);
        }
    }
    for (size_t i = 0; i < snapshot->source_count; i++) { /* a key may stand in the text itself */
        wipe(snapshot->sources[i].text);
    }
    acog_arena_fini(&(*loaded)->arena);
    acog_free(*loaded);
    *loaded = NULL;
}

const struct acog_loaded *loaded_of(const struct acog_snapshot *snapshot)
{
    return (const struct acog_loaded *)snapshot;
}

uint64_t loaded_hash(uint64_t hash, struct acog_view bytes)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    for (size_t i = 0; i < bytes.len; i++) {
        hash = (hash ^ (unsigned char)bytes.ptr[i]) * prime;
    }
    return (hash ^ bytes.len) * prime;
}

struct acog_snapshot *acog_snapshot_ref(struct acog_snapshot *snapshot)
{
    struct acog_loaded *loaded = (struct acog_loaded *)snapshot;
    uint32_t before = atomic_fetch_add_explicit(&loaded->references, 1, memory_order_relaxed);
    ACOG_ASSERT(before > 0);
    return snapshot;
}

void acog_snapshot_unref(struct acog_snapshot **snapshot)
{
    if (*snapshot == NULL) {
        return;
    }
    struct acog_loaded *loaded = (struct acog_loaded *)*snapshot;
    *snapshot = NULL;
    uint32_t before = atomic_fetch_sub_explicit(&loaded->references, 1, memory_order_acq_rel);
    ACOG_ASSERT(before > 0);
    if (before == 1) {
        loaded_free(&loaded);
    }
}
