/* error_read.h - reads an error body in one call, for the tests of core/dialect. */
#ifndef ACOG_TESTS_SUPPORT_ERROR_READ_H
#define ACOG_TESTS_SUPPORT_ERROR_READ_H

#include "acog/dialect.h"

#define REFUSAL          ACOG_BIT(ACOG_SHAPE_REFUSAL)
#define CONTEXT_OVERFLOW ACOG_BIT(ACOG_SHAPE_CONTEXT_OVERFLOW)
#define OVERLOAD         ACOG_BIT(ACOG_SHAPE_OVERLOAD)
#define CANNOT_SERVE     ACOG_BIT(ACOG_SHAPE_CANNOT_SERVE)
#define MODEL_UNKNOWN    ACOG_BIT(ACOG_SHAPE_MODEL_UNKNOWN)
#define KEY_BAD          ACOG_BIT(ACOG_SHAPE_KEY_BAD)
#define NO_CREDIT        ACOG_BIT(ACOG_SHAPE_NO_CREDIT)
#define RATE_LIMIT       ACOG_BIT(ACOG_SHAPE_RATE_LIMIT)

/* To be freed with acog_arena_fini(). */
struct read {
    struct acog_arena arena;
    struct acog_failure failure;
};

static inline struct read read_view(struct acog_view body, unsigned status)
{
    struct read read = {.failure = {.retry_after_ms = -1}};
    acog_arena_init(&read.arena, 1U << 20U);
    acog_dialect_read_error(body, status, &read.arena, &read.failure);
    return read;
}

static inline struct read read_text(const char *body)
{
    return read_view(acog_view_of(body), 400);
}

#endif
