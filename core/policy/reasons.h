/* reasons.h - the reasons that functions give, each kept once, as long as the state lives. */
#ifndef ACOG_POLICY_REASONS_H
#define ACOG_POLICY_REASONS_H

#include "acog/arena.h"
#include "acog/view.h"

#include <stddef.h>

#define REASONS_MAX      512
#define REASON_BYTES_MAX 200

struct reasons {
    struct acog_arena texts;
    struct acog_view list[REASONS_MAX * 2]; /* open addressing; ptr NULL: free */
    size_t count;
};

void reasons_init(struct reasons *reasons);
void reasons_fini(struct reasons *reasons);

/* The kept copy of `text`, cut to REASON_BYTES_MAX. When there is no room for a new one: a constant that says so. */
struct acog_view reasons_keep(struct reasons *reasons, struct acog_view text);

#endif
