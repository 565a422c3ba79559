/* names.c - the words of names.h. */
#include "acog/names.h"

#include "acog/contract.h"

struct words {
    const struct acog_view *list;
    int count;
};

#define WORDS(table)                                                        \
    {                                                                       \
        .list = (table), .count = (int)(sizeof(table) / sizeof((table)[0])) \
    }
#define WORD(text)                             \
    {                                          \
        .ptr = (text), .len = sizeof(text) - 1 \
    }

static const struct acog_view channels[] = {
#define ACOG_CHANNEL(name, text) WORD(text),
#include "acog/channel.def"
#undef ACOG_CHANNEL
};
static const struct acog_view dialects[] = {
#define ACOG_DIALECT(name, text) WORD(text),
#include "acog/dialect.def"
#undef ACOG_DIALECT
};
static const struct acog_view surfaces[] = {
#define ACOG_SURFACE(name, text, dialect, path) WORD(text),
#include "acog/surface.def"
#undef ACOG_SURFACE
};
static const struct acog_view clocks[] = {
#define ACOG_CLOCK(name, text) WORD(text),
#include "acog/clock.def"
#undef ACOG_CLOCK
};
static const struct acog_view conditions[] = {
#define ACOG_CONDITION(name, text, status, code, message) WORD(text),
#include "acog/condition.def"
#undef ACOG_CONDITION
};
static const struct acog_view classes[] = {
#define ACOG_FAILURE_CLASS(name, text) WORD(text),
#include "acog/failure.def"
#undef ACOG_FAILURE_CLASS
};
static const struct acog_view causes[] = {
#define ACOG_CAUSE(name, text) WORD(text),
#include "acog/cause.def"
#undef ACOG_CAUSE
};
static const struct acog_view shapes[] = {
#define ACOG_SHAPE(name, text) WORD(text),
#include "acog/shape.def"
#undef ACOG_SHAPE
};
static const struct acog_view outputs[] = {
#define ACOG_OUTPUT(name, text) WORD(text),
#include "acog/output.def"
#undef ACOG_OUTPUT
};
static const struct acog_view outcomes[] = {
#define ACOG_OUTCOME(name, text) WORD(text),
#include "acog/outcome.def"
#undef ACOG_OUTCOME
};

static const struct acog_view efforts[] = {
#define ACOG_EFFORT(name, text) WORD(text),
#include "acog/effort.def"
#undef ACOG_EFFORT
};

static const struct words vocabularies[] = {
    [ACOG_VOCABULARY_CHANNEL] = WORDS(channels),     [ACOG_VOCABULARY_DIALECT] = WORDS(dialects),
    [ACOG_VOCABULARY_SURFACE] = WORDS(surfaces),     [ACOG_VOCABULARY_CLOCK] = WORDS(clocks),
    [ACOG_VOCABULARY_CONDITION] = WORDS(conditions), [ACOG_VOCABULARY_CLASS] = WORDS(classes),
    [ACOG_VOCABULARY_CAUSE] = WORDS(causes),         [ACOG_VOCABULARY_SHAPE] = WORDS(shapes),
    [ACOG_VOCABULARY_OUTPUT] = WORDS(outputs),       [ACOG_VOCABULARY_OUTCOME] = WORDS(outcomes),
    [ACOG_VOCABULARY_EFFORT] = WORDS(efforts),
};

struct acog_view acog_name(enum acog_vocabulary vocabulary, int value)
{
    ACOG_ASSERT(value >= 0);
    ACOG_ASSERT(value < vocabularies[vocabulary].count);
    return vocabularies[vocabulary].list[value];
}

int acog_name_find(enum acog_vocabulary vocabulary, struct acog_view word)
{
    for (int i = 0; i < vocabularies[vocabulary].count; i++) {
        if (acog_view_equal(vocabularies[vocabulary].list[i], word)) {
            return i;
        }
    }
    return -1;
}

int acog_name_count(enum acog_vocabulary vocabulary)
{
    return vocabularies[vocabulary].count;
}

enum acog_dialect acog_surface_dialect(enum acog_surface surface)
{
    static const enum acog_dialect of_surface[] = {

#define ACOG_SURFACE(name, text, dialect, path) ACOG_DIALECT_##dialect,
#include "acog/surface.def"
#undef ACOG_SURFACE
    };
    ACOG_ASSERT(surface < ACOG_SURFACE_COUNT);
    return of_surface[surface];
}

struct acog_view acog_surface_path(enum acog_surface surface)
{
    static const struct acog_view of_surface[] = {
#define ACOG_SURFACE(name, text, dialect, path) WORD(path),
#include "acog/surface.def"
#undef ACOG_SURFACE
    };
    ACOG_ASSERT(surface < ACOG_SURFACE_COUNT);
    return of_surface[surface];
}

enum acog_surface acog_dialect_surface(enum acog_dialect dialect)
{
    switch (dialect) {
    case ACOG_DIALECT_MESSAGES:
        return ACOG_SURFACE_MESSAGES;
    case ACOG_DIALECT_RESPONSES:
        return ACOG_SURFACE_RESPONSES;
    case ACOG_DIALECT_CHAT:
    case ACOG_DIALECT_GEMINI:
    case ACOG_DIALECT_COUNT:
        break;
    }
    return ACOG_SURFACE_CHAT;
}

enum acog_dialect acog_dialect_for(enum acog_surface surface, unsigned spoken)
{
    static const enum acog_dialect richest_first[] = {ACOG_DIALECT_RESPONSES, ACOG_DIALECT_MESSAGES,
                                                      ACOG_DIALECT_GEMINI, ACOG_DIALECT_CHAT};
    enum acog_dialect own = acog_surface_dialect(surface);
    if ((spoken & ACOG_BIT(own)) != 0) {
        return own;
    }
    if (surface == ACOG_SURFACE_COUNT_TOKENS || surface == ACOG_SURFACE_EMBEDDINGS) {
        return ACOG_DIALECT_COUNT;
    }
    for (size_t i = 0; i < sizeof(richest_first) / sizeof(richest_first[0]); i++) {
        if ((spoken & ACOG_BIT(richest_first[i])) != 0) {
            return richest_first[i];
        }
    }
    return ACOG_DIALECT_COUNT;
}
