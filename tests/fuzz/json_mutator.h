/* json_mutator.h - mutates JSON as JSON, so that what comes out is mostly still a text that a reader gets past: a value
 * is replaced by another one of the same text, or by a small one of another type; a member is said twice. Half of the
 * mutations stay libFuzzer's own, which also know the dictionary.
 *
 * For targets whose input is `skip` bytes of choices and then text that holds JSON values (a body, or events).
 */
#ifndef ACOG_TESTS_FUZZ_JSON_MUTATOR_H
#define ACOG_TESTS_FUZZ_JSON_MUTATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* NOLINTBEGIN(readability-identifier-naming): libFuzzer's names */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);
/* NOLINTEND(readability-identifier-naming) */

#define MUTATOR_VALUES_MAX 512
#define MUTATOR_DEPTH_MAX  64

struct mutator_span {
    size_t from;
    size_t to;
};

struct mutator {
    const uint8_t *text;
    size_t size;
    struct mutator_span values[MUTATOR_VALUES_MAX];
    size_t count;
};

static inline size_t mutator_string_end(const struct mutator *mutator, size_t at)
{
    for (at++; at < mutator->size && mutator->text[at] != '"'; at++) {
        at += mutator->text[at] == '\\' ? 1 : 0;
    }
    return at < mutator->size ? at + 1 : mutator->size;
}

static inline void mutator_add(struct mutator *mutator, size_t from, size_t to)
{
    if (mutator->count < MUTATOR_VALUES_MAX && to > from) {
        mutator->values[mutator->count++] = (struct mutator_span){from, to};
    }
}

static inline bool mutator_is_one_of(const char *bytes, uint8_t byte)
{
    return byte != 0 && strchr(bytes, byte) != NULL;
}

/* Every string, scalar and bracketed value, wherever it stands; loosely: the text may be broken. */
static inline void mutator_scan(struct mutator *mutator)
{
    size_t open[MUTATOR_DEPTH_MAX];
    size_t depth = 0;
    size_t at = 0;
    while (at < mutator->size) {
        uint8_t byte = mutator->text[at];
        size_t next = at + 1;
        if (byte == '"') {
            next = mutator_string_end(mutator, at);
            mutator_add(mutator, at, next);
        } else if (byte == '{' || byte == '[') {
            if (depth < MUTATOR_DEPTH_MAX) {
                open[depth] = at;
            }
            depth++;
        } else if ((byte == '}' || byte == ']') && depth > 0) {
            depth--;
            if (depth < MUTATOR_DEPTH_MAX) {
                mutator_add(mutator, open[depth], next);
            }
        } else if (mutator_is_one_of("-0123456789tfn", byte)) {
            while (next < mutator->size &&
                   mutator_is_one_of("0123456789.eE+-truefalsn", mutator->text[next])) {
                next++;
            }
            mutator_add(mutator, at, next);
        }
        at = next;
    }
}

static inline uint32_t mutator_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8U;
}

/* Puts `piece` in place of the span. Returns the new size, 0: no room. */
static inline size_t mutator_replace(uint8_t *data, size_t size, size_t size_max,
                                     struct mutator_span span, const uint8_t *piece,
                                     size_t piece_size)
{
    size_t rest = size - span.to;
    if (span.from + piece_size + rest > size_max) {
        return 0;
    }
    memmove(data + span.from + piece_size, data + span.to, rest);
    memcpy(data + span.from, piece, piece_size);
    return span.from + piece_size + rest;
}

static inline size_t mutator_run(uint8_t *data, size_t size, size_t size_max, unsigned seed,
                                 size_t skip)
{
    static const char *const small[] = {"null", "true",    "false", "0",           "1",     "-1",
                                        "\"\"", "\" \"",   "\"a\"", "[]",          "{}",    "[{}]",
                                        "1.5",  "\"\\n\"", "9e9",   "\"\\u00e9\"", "[\"\"]"};
    static uint8_t piece[1U << 16U];
    struct mutator mutator = {.text = data, .size = size};
    uint32_t random = seed;
    mutator_scan(&mutator);
    if (mutator.count == 0 || mutator_random(&random) % 2 == 0) {
        return LLVMFuzzerMutate(data, size, size_max);
    }
    struct mutator_span at = mutator.values[mutator_random(&random) % mutator.count];
    struct mutator_span other = mutator.values[mutator_random(&random) % mutator.count];
    if (at.from < skip) {
        return LLVMFuzzerMutate(data, size, size_max);
    }
    size_t piece_size = other.to - other.from;
    if (mutator_random(&random) % 3 == 0 || piece_size > sizeof(piece)) {
        const char *word = small[mutator_random(&random) % (sizeof(small) / sizeof(small[0]))];
        piece_size = strlen(word);
        memcpy(piece, word, piece_size);
    } else {
        memcpy(piece, data + other.from, piece_size);
    }
    size_t mutated = mutator_replace(data, size, size_max, at, piece, piece_size);
    return mutated == 0 ? LLVMFuzzerMutate(data, size, size_max) : mutated;
}

#endif
