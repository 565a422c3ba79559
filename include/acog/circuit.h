/* circuit.h - one circuit in one 64-bit word, shared by all workers; time is an argument, never read here.
 *
 *            charged failures reach the threshold, or one trips it
 *   CLOSED ------------------------------------------------------> OPEN (until)
 *     ^                                                              |  the cooldown has passed and a probe is taken
 *     |  the probe was answered                                      v
 *     +----------------------------------------------------------- PROBING --- the probe failed ---> OPEN (longer)
 *                                                                    |
 *                                                                    +--- the probe was given back ---> OPEN (as before)
 *
 * Each transition is a pure function (word, facts) -> word; acog_circuit_* below apply it by compare-and-swap.
 * `now_ms` may be a little older than another worker's: a transition never shortens a cooldown for that.
 * The word also counts openings (its generation): the result of an attempt that was sent in an earlier
 * generation neither closes nor prolongs (DESIGN, "The engine").
 *
 * Demotion (S2.25-S2.32) uses the same word: "open" then means "at the end of the order".
 */
#ifndef ACOG_CIRCUIT_H
#define ACOG_CIRCUIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum acog_circuit_state {
    ACOG_CIRCUIT_CLOSED = 0,
    ACOG_CIRCUIT_OPEN,
    ACOG_CIRCUIT_PROBING,
};

struct acog_circuit_limits {
    uint32_t threshold; /* 1 to 255 */
    int64_t cooldown_ms;
    uint32_t factor;
    int64_t cooldown_ms_max;
    bool
        only_probe_closes; /* demotion: an answer given from the end of the order restores nothing (G2.5) */
};

/* How an attempt ended, as the class table charges it. */
enum acog_circuit_result {
    ACOG_CIRCUIT_ANSWERED = 0, /* a success: closes, resets the count */
    ACOG_CIRCUIT_CHARGED,      /* one failure */
    ACOG_CIRCUIT_TRIPPED,      /* opens at once */
    ACOG_CIRCUIT_NOT_CHARGED, /* the upstream answered, the request was at fault: closes a probe, else nothing */
    ACOG_CIRCUIT_GIVEN_BACK, /* cancelled, never sent: frees a probe, else nothing */
};

/* What a dispatch took from a circuit; goes back with its result. */
struct acog_circuit_ticket {
    bool probe;
    uint32_t generation;
};

/* What a plan may know; no side effect. */
struct acog_circuit_view {
    enum acog_circuit_state state;
    bool admits;       /* closed, or its cooldown is over and no probe runs */
    bool would_probe;  /* a dispatch now would be the probe */
    uint32_t failures; /* in sequence */
    int64_t
        opened_at_ms; /* OPEN and PROBING: when the current opening began (order of demotion, S2.32) */
    int64_t until_ms; /* OPEN and PROBING: the end of the cooldown */
};

typedef _Atomic uint64_t acog_circuit; /* 0 is closed, without failures */

/* The word keeps the end of a cooldown, not its begin: with `limits` the begin is reckoned back. */
struct acog_circuit_view acog_circuit_look(const acog_circuit *circuit,
                                           const struct acog_circuit_limits *limits,
                                           int64_t now_ms);

/* Takes a dispatch: false when the circuit is open or its probe is out. With `forced` (fail open, demoted
 * routes) it is always true and takes no probe unless the cooldown is over. */
bool acog_circuit_take(acog_circuit *circuit, int64_t now_ms, bool forced,
                       struct acog_circuit_ticket *ticket);

/* Gives the ticket back. True when this very call opened the circuit, or opened it anew after a failed probe. */
bool acog_circuit_settle(acog_circuit *circuit, struct acog_circuit_ticket ticket,
                         enum acog_circuit_result result, const struct acog_circuit_limits *limits,
                         int64_t now_ms);

#endif
