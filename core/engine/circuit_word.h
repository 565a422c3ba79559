/* circuit_word.h - the transitions of a circuit as pure functions over its word; circuit.c applies them.
 *
 *   bits   0..37  until        ms, the end of the cooldown (8.7 years of the monotonic clock; later times are cut there,
 *                              and a circuit then simply has no cooldown)
 *         38..45  failures     in sequence, up to 255
 *         46..49  level        how many cooldowns in a row this one is, 0 for the first; stops growing at the longest
 *         50..61  generation   openings modulo 4096: an attempt outlives no 4,000 cooldowns
 *         62..63  state
 */
#ifndef ACOG_ENGINE_CIRCUIT_WORD_H
#define ACOG_ENGINE_CIRCUIT_WORD_H

#include "acog/circuit.h"

#include <stdbool.h>
#include <stdint.h>

#define ACOG_CIRCUIT_UNTIL_MAX    ((INT64_C(1) << 38) - 1)
#define ACOG_CIRCUIT_FAILURES_MAX 255U
#define ACOG_CIRCUIT_LEVEL_MAX    15U
#define ACOG_CIRCUIT_GENERATIONS  4096U

struct acog_circuit_fields {
    enum acog_circuit_state state;
    uint32_t failures;
    uint32_t level;
    uint32_t generation;
    int64_t until_ms;
};

uint64_t acog_circuit_pack(struct acog_circuit_fields fields);
struct acog_circuit_fields acog_circuit_unpack(uint64_t word);

/* How long the cooldown of that level is: cooldown * factor^level, at most the longest. */
int64_t acog_circuit_cooldown_ms(const struct acog_circuit_limits *limits, uint32_t level);

struct acog_circuit_view
acog_circuit_word_look(uint64_t word, const struct acog_circuit_limits *limits, int64_t now_ms);

/* The word after a dispatch; `*taken` says whether it was allowed, and then `*ticket` what it took. */
uint64_t acog_circuit_word_take(uint64_t word, int64_t now_ms, bool forced, bool *taken,
                                struct acog_circuit_ticket *ticket);

/* The word after the ticket came back; `*was_opened` says whether this opened it (anew). */
uint64_t acog_circuit_word_settle(uint64_t word, struct acog_circuit_ticket ticket,
                                  enum acog_circuit_result result,
                                  const struct acog_circuit_limits *limits, int64_t now_ms,
                                  bool *was_opened);

#endif
