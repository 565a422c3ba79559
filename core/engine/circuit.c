/* circuit.c - a circuit's transitions, and their application to the shared word by compare-and-swap.
 *
 * The one complication is time: workers call with clocks that differ by a little, so a new end of a cooldown is
 * never earlier than the one in the word.
 */
#include "acog/circuit.h"

#include "acog/contract.h"
#include "circuit_word.h"

#include <stdatomic.h>

#define FAILURES_SHIFT   38U
#define LEVEL_SHIFT      46U
#define GENERATION_SHIFT 50U
#define STATE_SHIFT      62U

uint64_t acog_circuit_pack(struct acog_circuit_fields fields)
{
    int64_t until = fields.until_ms < 0 ? 0 : fields.until_ms;
    until = until > ACOG_CIRCUIT_UNTIL_MAX ? ACOG_CIRCUIT_UNTIL_MAX : until;
    ACOG_ASSERT(fields.failures <= ACOG_CIRCUIT_FAILURES_MAX);
    ACOG_ASSERT(fields.level <= ACOG_CIRCUIT_LEVEL_MAX);
    ACOG_ASSERT(fields.generation < ACOG_CIRCUIT_GENERATIONS);
    return (uint64_t)until | (uint64_t)fields.failures << FAILURES_SHIFT |
           (uint64_t)fields.level << LEVEL_SHIFT | (uint64_t)fields.generation << GENERATION_SHIFT |
           (uint64_t)fields.state << STATE_SHIFT;
}

struct acog_circuit_fields acog_circuit_unpack(uint64_t word)
{
    return (struct acog_circuit_fields){
        .state = (enum acog_circuit_state)(word >> STATE_SHIFT),
        .failures = (uint32_t)(word >> FAILURES_SHIFT) & ACOG_CIRCUIT_FAILURES_MAX,
        .level = (uint32_t)(word >> LEVEL_SHIFT) & ACOG_CIRCUIT_LEVEL_MAX,
        .generation = (uint32_t)(word >> GENERATION_SHIFT) & (ACOG_CIRCUIT_GENERATIONS - 1),
        .until_ms = (int64_t)(word & (uint64_t)ACOG_CIRCUIT_UNTIL_MAX),
    };
}

int64_t acog_circuit_cooldown_ms(const struct acog_circuit_limits *limits, uint32_t level)
{
    int64_t cooldown = limits->cooldown_ms;
    for (uint32_t i = 0; i < level && limits->factor > 1; i++) {
        if (cooldown > limits->cooldown_ms_max / (int64_t)limits->factor) {
            return limits->cooldown_ms_max;
        }
        cooldown *= (int64_t)limits->factor;
    }
    return cooldown < limits->cooldown_ms_max ? cooldown : limits->cooldown_ms_max;
}

struct acog_circuit_view
acog_circuit_word_look(uint64_t word, const struct acog_circuit_limits *limits, int64_t now_ms)
{
    struct acog_circuit_fields fields = acog_circuit_unpack(word);
    struct acog_circuit_view view = {.state = fields.state, .failures = fields.failures};
    switch (fields.state) {
    case ACOG_CIRCUIT_CLOSED:
        view.admits = true;
        return view;
    case ACOG_CIRCUIT_OPEN:
        view.would_probe = now_ms >= fields.until_ms;
        view.admits = view.would_probe;
        break;
    case ACOG_CIRCUIT_PROBING:
        break;
    }
    view.until_ms = fields.until_ms;
    view.opened_at_ms = fields.until_ms - acog_circuit_cooldown_ms(limits, fields.level);
    return view;
}

uint64_t acog_circuit_word_take(uint64_t word, int64_t now_ms, bool forced, bool *taken,
                                struct acog_circuit_ticket *ticket)
{
    struct acog_circuit_fields fields = acog_circuit_unpack(word);
    *ticket = (struct acog_circuit_ticket){.probe = false, .generation = fields.generation};
    switch (fields.state) {
    case ACOG_CIRCUIT_CLOSED:
        *taken = true;
        return word;
    case ACOG_CIRCUIT_OPEN:
        if (now_ms >= fields.until_ms) {
            *taken = true;
            ticket->probe = true;
            fields.state = ACOG_CIRCUIT_PROBING;
            return acog_circuit_pack(fields);
        }
        *taken = forced;
        return word;
    case ACOG_CIRCUIT_PROBING:
        *taken = forced;
        return word;
    }
    ACOG_UNREACHABLE("two bits, three states");
}

/* -- settling -------------------------------------------------------------------------------------- */

static uint32_t one_failure_more(uint32_t failures)
{
    return failures < ACOG_CIRCUIT_FAILURES_MAX ? failures + 1 : failures;
}

static uint64_t closed(struct acog_circuit_fields fields)
{
    fields.state = ACOG_CIRCUIT_CLOSED;
    fields.failures = 0;
    fields.level = 0;
    fields.until_ms = 0;
    return acog_circuit_pack(fields);
}

static uint64_t open_again(struct acog_circuit_fields fields,
                           const struct acog_circuit_limits *limits, int64_t now_ms)
{
    int64_t until = now_ms + acog_circuit_cooldown_ms(limits, fields.level);
    fields.state = ACOG_CIRCUIT_OPEN;
    fields.until_ms = until > fields.until_ms ? until : fields.until_ms;
    fields.generation = (fields.generation + 1) % ACOG_CIRCUIT_GENERATIONS;
    return acog_circuit_pack(fields);
}

/* The probe's own result. Nobody else changes a word in PROBING but to count. */
static uint64_t settle_probe(struct acog_circuit_fields fields, enum acog_circuit_result result,
                             const struct acog_circuit_limits *limits, int64_t now_ms,
                             bool *was_opened)
{
    switch (result) {
    case ACOG_CIRCUIT_ANSWERED:
    case ACOG_CIRCUIT_NOT_CHARGED:
        return closed(fields);
    case ACOG_CIRCUIT_GIVEN_BACK:
        fields.state = ACOG_CIRCUIT_OPEN;
        return acog_circuit_pack(fields);
    case ACOG_CIRCUIT_CHARGED:
    case ACOG_CIRCUIT_TRIPPED:
        fields.failures = one_failure_more(fields.failures);
        if (fields.level < ACOG_CIRCUIT_LEVEL_MAX &&
            acog_circuit_cooldown_ms(limits, fields.level) < limits->cooldown_ms_max) {
            fields.level++;
        }
        *was_opened = true;
        return open_again(fields, limits, now_ms);
    }
    ACOG_UNREACHABLE("a result");
}

static uint64_t settle_failure(struct acog_circuit_fields fields, bool trips,
                               const struct acog_circuit_limits *limits, int64_t now_ms,
                               bool *was_opened)
{
    fields.failures = one_failure_more(fields.failures);
    if (fields.state == ACOG_CIRCUIT_CLOSED && (trips || fields.failures >= limits->threshold)) {
        fields.level = 0;
        *was_opened = true;
        return open_again(fields, limits, now_ms);
    }
    return acog_circuit_pack(fields);
}

static uint64_t settle_answer(struct acog_circuit_fields fields,
                              const struct acog_circuit_limits *limits)
{
    bool closes = fields.state == ACOG_CIRCUIT_CLOSED ||
                  (fields.state == ACOG_CIRCUIT_OPEN && !limits->only_probe_closes);
    if (closes) {
        return closed(fields);
    }
    fields.failures = 0;
    return acog_circuit_pack(fields);
}

uint64_t acog_circuit_word_settle(uint64_t word, struct acog_circuit_ticket ticket,
                                  enum acog_circuit_result result,
                                  const struct acog_circuit_limits *limits, int64_t now_ms,
                                  bool *was_opened)
{
    struct acog_circuit_fields fields = acog_circuit_unpack(word);
    *was_opened = false;
    if (ticket.generation != fields.generation) {
        return word;
    }
    if (ticket.probe) {
        ACOG_ASSERT(fields.state == ACOG_CIRCUIT_PROBING);
        return settle_probe(fields, result, limits, now_ms, was_opened);
    }
    switch (result) {
    case ACOG_CIRCUIT_ANSWERED:
        return settle_answer(fields, limits);
    case ACOG_CIRCUIT_CHARGED:
        return settle_failure(fields, false, limits, now_ms, was_opened);
    case ACOG_CIRCUIT_TRIPPED:
        return settle_failure(fields, true, limits, now_ms, was_opened);
    case ACOG_CIRCUIT_NOT_CHARGED:
    case ACOG_CIRCUIT_GIVEN_BACK:
        return word;
    }
    ACOG_UNREACHABLE("a result");
}

/* -- on the shared word ---------------------------------------------------------------------------- */

struct acog_circuit_view acog_circuit_look(const acog_circuit *circuit,
                                           const struct acog_circuit_limits *limits, int64_t now_ms)
{
    return acog_circuit_word_look(atomic_load_explicit(circuit, memory_order_acquire), limits,
                                  now_ms);
}

bool acog_circuit_take(acog_circuit *circuit, int64_t now_ms, bool forced,
                       struct acog_circuit_ticket *ticket)
{
    uint64_t word = atomic_load_explicit(circuit, memory_order_acquire);
    for (;;) {
        bool taken = false;
        uint64_t next = acog_circuit_word_take(word, now_ms, forced, &taken, ticket);
        if (next == word || atomic_compare_exchange_weak_explicit(
                                circuit, &word, next, memory_order_acq_rel, memory_order_acquire)) {
            return taken;
        }
    }
}

bool acog_circuit_settle(acog_circuit *circuit, struct acog_circuit_ticket ticket,
                         enum acog_circuit_result result, const struct acog_circuit_limits *limits,
                         int64_t now_ms)
{
    uint64_t word = atomic_load_explicit(circuit, memory_order_acquire);
    for (;;) {
        bool was_opened = false;
        uint64_t next = acog_circuit_word_settle(word, ticket, result, limits, now_ms, &was_opened);
        if (next == word || atomic_compare_exchange_weak_explicit(
                                circuit, &word, next, memory_order_acq_rel, memory_order_acquire)) {
            return was_opened;
        }
    }
}
