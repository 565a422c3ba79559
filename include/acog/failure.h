/* failure.h - what went wrong with an attempt, as raw facts: found by core/dialect and the drivers, carried by
 * core/exchange, given a class by the policy's rows in core/engine. No class here, no judgement.
 */
#ifndef ACOG_FAILURE_H
#define ACOG_FAILURE_H

#include "acog/names.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_CATEGORIES_MAX 8 /* of one refusal; more are left out */

struct acog_failure {
    enum acog_cause cause;
    enum acog_clock clock; /* cause CLOCK; set by the engine itself */
    uint16_t status;       /* 0: no head was read */
    unsigned shapes;       /* ACOG_BIT(shape) */
    /* CLOSED on a reused connection before any byte of an answer: a resend is safe. */
    bool reused_no_byte;
    int64_t retry_after_ms; /* -1: none */
    /* The provider's text for a human, decoded; may hold anything: see B109. */
    struct acog_view message;
    /* The error's code, as written; where it has none, or one that only repeats the status (400), its type. */
    struct acog_view code;
    struct acog_view type; /* the error's type, as written */
    /* Of a refusal, lower case with '_' (S1.15, G1.4). */
    struct acog_view categories[ACOG_CATEGORIES_MAX];
    size_t category_count;
};

#endif
