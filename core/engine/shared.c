/* shared.c - the cells that all workers share, found by name at load. */
#include "acog/shared.h"

#include "acog/memory.h"

#include <stdatomic.h>
#include <string.h>

struct acog_shared *acog_shared_new(void)
{
    struct acog_shared *shared = acog_new(sizeof *shared);
    if (shared == NULL) {
        return NULL;
    }
    shared->circuits = acog_new(ACOG_SHARED_CELLS_MAX * sizeof *shared->circuits);
    shared->spreads = acog_new(ACOG_SHARED_CELLS_MAX * sizeof *shared->spreads);
    shared->paces = acog_new(ACOG_SHARED_PACES_MAX * sizeof *shared->paces);
    if (shared->circuits == NULL || shared->spreads == NULL || shared->paces == NULL) {
        acog_shared_free(&shared);
    }
    return shared;
}

void acog_shared_free(struct acog_shared **shared)
{
    if (*shared == NULL) {
        return;
    }
    acog_free((*shared)->circuits);
    acog_free((*shared)->spreads);
    acog_free((*shared)->paces);
    acog_free(*shared);
    *shared = NULL;
}

static bool has_name(const char *name, struct acog_view wanted)
{
    return strlen(name) == wanted.len && memcmp(name, wanted.ptr, wanted.len) == 0;
}

/* The name stands before the count that makes the cell seen: another thread that reads the count reads the name. */
static enum acog_code claim(_Atomic uint32_t *count, char *cell_name, struct acog_view name,
                            uint16_t *index)
{
    uint32_t at = atomic_load_explicit(count, memory_order_relaxed);
    memcpy(cell_name, name.ptr, name.len);
    cell_name[name.len] = '\0';
    atomic_store_explicit(count, at + 1, memory_order_release);
    *index = (uint16_t)at;
    return ACOG_OK;
}

enum acog_code acog_shared_circuit(struct acog_shared *shared, struct acog_view name,
                                   uint16_t *index)
{
    uint32_t count = atomic_load_explicit(&shared->circuit_count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        if (has_name(shared->circuits[i].name, name)) {
            *index = (uint16_t)i;
            return ACOG_OK;
        }
    }
    if (count == ACOG_SHARED_CELLS_MAX || name.len == 0 || name.len >= ACOG_SHARED_CELL_NAME_MAX) {
        return ACOG_TOO_BIG;
    }
    return claim(&shared->circuit_count, shared->circuits[count].name, name, index);
}

enum acog_code acog_shared_spread(struct acog_shared *shared, struct acog_view name,
                                  uint16_t *index)
{
    uint32_t count = atomic_load_explicit(&shared->spread_count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        if (has_name(shared->spreads[i].name, name)) {
            *index = (uint16_t)i;
            return ACOG_OK;
        }
    }
    if (count == ACOG_SHARED_CELLS_MAX || name.len == 0 || name.len >= ACOG_SHARED_CELL_NAME_MAX) {
        return ACOG_TOO_BIG;
    }
    return claim(&shared->spread_count, shared->spreads[count].name, name, index);
}

enum acog_code acog_shared_pace(struct acog_shared *shared, struct acog_view name, uint16_t *index)
{
    uint32_t count = atomic_load_explicit(&shared->pace_count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        if (has_name(shared->paces[i].name, name)) {
            *index = (uint16_t)i;
            return ACOG_OK;
        }
    }
    if (count == ACOG_SHARED_PACES_MAX || name.len == 0 || name.len >= ACOG_SHARED_CELL_NAME_MAX) {
        return ACOG_TOO_BIG;
    }
    return claim(&shared->pace_count, shared->paces[count].name, name, index);
}
