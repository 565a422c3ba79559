/* loaded.h - a snapshot with what only core/policy knows of it. */
#ifndef ACOG_POLICY_LOADED_H
#define ACOG_POLICY_LOADED_H

#include "acog/arena.h"
#include "acog/engine.h"
#include "acog/shared.h"
#include "acog/snapshot.h"

#include <stdatomic.h>
#include <stdint.h>

/* A function that stayed one. Its number is its place in `slots`. */
struct loaded_slot {
    enum acog_slot_kind kind;
    struct acog_view name; /* `filter "legal"`, `connection "x": usable`: for errors */
};

struct acog_loaded {
    struct acog_snapshot snapshot; /* the first member: what others see */
    _Atomic uint32_t references;
    struct acog_arena arena;
    struct acog_shared *shared; /* outlives every snapshot */
    const struct loaded_slot *slots;
    size_t slot_count;
    const int64_t *contexts; /* of each candidate: tokens, -1 unknown */
    uint64_t fingerprint; /* equal when the same text evaluated to the same candidates and slots */
};

/* With one reference; NULL: no memory. */
struct acog_loaded *loaded_new(struct acog_shared *shared);

/* Frees one that nobody else has seen yet. NULL is allowed. */
void loaded_free(struct acog_loaded **loaded);

const struct acog_loaded *loaded_of(const struct acog_snapshot *snapshot);

/* FNV-1a over `bytes` and their length, going on from `hash`; begin with LOADED_HASH_START. */
#define LOADED_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t loaded_hash(uint64_t hash, struct acog_view bytes);

#endif
