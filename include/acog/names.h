/* names.h - the closed vocabularies, made from their .def tables: channel, dialect, surface, clock, condition,
 * failure class, cause, shape, output, outcome. The same word in C, Lua, headers, logs and metrics.
 */
#ifndef ACOG_NAMES_H
#define ACOG_NAMES_H

#include "acog/view.h"

#include <stdbool.h>

enum acog_channel {
#define ACOG_CHANNEL(name, text) ACOG_CHANNEL_##name,
#include "acog/channel.def"
#undef ACOG_CHANNEL
    ACOG_CHANNEL_COUNT
};

enum acog_dialect {
#define ACOG_DIALECT(name, text) ACOG_DIALECT_##name,
#include "acog/dialect.def"
#undef ACOG_DIALECT
    ACOG_DIALECT_COUNT
};

enum acog_surface {
#define ACOG_SURFACE(name, text, dialect, path) ACOG_SURFACE_##name,
#include "acog/surface.def"
#undef ACOG_SURFACE
    ACOG_SURFACE_COUNT
};

enum acog_clock {
#define ACOG_CLOCK(name, text) ACOG_CLOCK_##name,
#include "acog/clock.def"
#undef ACOG_CLOCK
    ACOG_CLOCK_COUNT
};

enum acog_condition {
#define ACOG_CONDITION(name, text, status, code, message) ACOG_CONDITION_##name,
#include "acog/condition.def"
#undef ACOG_CONDITION
    ACOG_CONDITION_COUNT
};

enum acog_failure_class {
#define ACOG_FAILURE_CLASS(name, text) ACOG_CLASS_##name,
#include "acog/failure.def"
#undef ACOG_FAILURE_CLASS
    ACOG_CLASS_COUNT
};

enum acog_cause {
#define ACOG_CAUSE(name, text) ACOG_CAUSE_##name,
#include "acog/cause.def"
#undef ACOG_CAUSE
    ACOG_CAUSE_COUNT
};

enum acog_shape {
#define ACOG_SHAPE(name, text) ACOG_SHAPE_##name,
#include "acog/shape.def"
#undef ACOG_SHAPE
    ACOG_SHAPE_COUNT
};

enum acog_output {
#define ACOG_OUTPUT(name, text) ACOG_OUTPUT_##name,
#include "acog/output.def"
#undef ACOG_OUTPUT
    ACOG_OUTPUT_COUNT
};

enum acog_outcome {
#define ACOG_OUTCOME(name, text) ACOG_OUTCOME_##name,
#include "acog/outcome.def"
#undef ACOG_OUTCOME
};

/* How hard a model is to think, from least to most. */
enum acog_effort {
#define ACOG_EFFORT(name, text) ACOG_EFFORT_##name,
#include "acog/effort.def"
#undef ACOG_EFFORT
    ACOG_EFFORT_COUNT
};

/* A set of any of the above: bit N stands for value N. */
#define ACOG_BIT(value) (1U << (unsigned)(value))

enum acog_vocabulary {
    ACOG_VOCABULARY_CHANNEL = 0,
    ACOG_VOCABULARY_DIALECT,
    ACOG_VOCABULARY_SURFACE,
    ACOG_VOCABULARY_CLOCK,
    ACOG_VOCABULARY_CONDITION,
    ACOG_VOCABULARY_CLASS,
    ACOG_VOCABULARY_CAUSE,
    ACOG_VOCABULARY_SHAPE,
    ACOG_VOCABULARY_OUTPUT,
    ACOG_VOCABULARY_OUTCOME,
    ACOG_VOCABULARY_EFFORT,
};

/* The word for `value`, which must be in the vocabulary. */
struct acog_view acog_name(enum acog_vocabulary vocabulary, int value);

/* The value for `word`, or -1. */
int acog_name_find(enum acog_vocabulary vocabulary, struct acog_view word);

/* How many words there are. */
int acog_name_count(enum acog_vocabulary vocabulary);

enum acog_dialect acog_surface_dialect(enum acog_surface surface);
struct acog_view acog_surface_path(enum acog_surface surface);

/* The surface on which a model answers in that dialect. GEMINI has none of its own: chat. */
enum acog_surface acog_dialect_surface(enum acog_dialect dialect);

/* In which dialect a request to `surface` is told to a connection that speaks `spoken` (a set): its own, else the one
 * into which most can be carried (core/dialect/README.md); ACOG_DIALECT_COUNT when there is none. What has no prompt
 * (embeddings) and what only one provider counts (count_tokens) is never translated. */
enum acog_dialect acog_dialect_for(enum acog_surface surface, unsigned spoken);

#endif
