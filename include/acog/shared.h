/* shared.h - what all workers share while they route: circuits, counters of use, times to first output.
 *
 * Cells have names ("direct/anthropic", "conn:openai"), so they survive a reload: core/policy asks for a
 * cell by name when it compiles a snapshot (one thread at a time), workers use the index. Cells are never
 * taken away; when all are used a load fails with a clear message. Memory order is relaxed everywhere but
 * in the circuit words: the figures steer, they do not count money.
 */
#ifndef ACOG_SHARED_H
#define ACOG_SHARED_H

#include "acog/circuit.h"
#include "acog/error.h"
#include "acog/view.h"

#include <stdatomic.h>
#include <stdint.h>

#define ACOG_SHARED_CELLS_MAX     4096
#define ACOG_SHARED_CELL_NAME_MAX 256
#define ACOG_SHARED_TICKETS       1024 /* a power of two */
#define ACOG_SHARED_PACES_MAX     1024

struct acog_circuit_cell {
    acog_circuit circuit;
    _Atomic int64_t pool_until_ms; /* cooled by a Retry-After (S0.54) */
    _Atomic uint64_t openings;     /* since the start, for metrics */
    char name[ACOG_SHARED_CELL_NAME_MAX];
};

struct acog_spread_cell {
    _Atomic uint32_t in_flight;
    _Atomic uint32_t first_output_ms; /* moving mean, 0: unknown */
    char name[ACOG_SHARED_CELL_NAME_MAX];
};

/* A paced endpoint: when the next turn is free. */
struct acog_pace_cell {
    _Atomic int64_t next_ms;
    char name[ACOG_SHARED_CELL_NAME_MAX];
};

struct acog_shared {
    struct acog_circuit_cell *circuits; /* owned, ACOG_SHARED_CELLS_MAX of them */
    struct acog_spread_cell *spreads;   /* owned, likewise */
    struct acog_pace_cell *paces;       /* owned, ACOG_SHARED_PACES_MAX of them */
    _Atomic uint32_t circuit_count;
    _Atomic uint32_t spread_count;
    _Atomic uint32_t pace_count;
    /* Round robin: a ticket counter for each set of candidates that is spread over, found by a hash of the set.
     * One counter for all would beat in time with alternating models and send each of them to one place only.
     * Sets that share a counter by chance only lose the strict turn. */
    _Atomic uint32_t spread_tickets[ACOG_SHARED_TICKETS];
};

/* Defined in core/engine/shared.c. NULL when there is no memory. */
struct acog_shared *acog_shared_new(void);
void acog_shared_free(struct acog_shared **shared);

/* The index of the cell of that name, made if need be. ACOG_TOO_BIG when all are used or the name is too long.
 * One thread at a time. */
enum acog_code acog_shared_circuit(struct acog_shared *shared, struct acog_view name,
                                   uint16_t *index) ACOG_MUST_CHECK;
enum acog_code acog_shared_spread(struct acog_shared *shared, struct acog_view name,
                                  uint16_t *index) ACOG_MUST_CHECK;
enum acog_code acog_shared_pace(struct acog_shared *shared, struct acog_view name,
                                uint16_t *index) ACOG_MUST_CHECK;

#endif
