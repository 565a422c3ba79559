/* nearest.h - the word that somebody may have meant. */
#ifndef ACOG_POLICY_NEAREST_H
#define ACOG_POLICY_NEAREST_H

#include "acog/view.h"

#include <stddef.h>

/* Single edits (insert, drop, replace, swap of neighbours) between two words; both are cut to 32 bytes. */
size_t nearest_distance(struct acog_view a, struct acog_view b);

/* Follows the best of the words offered to it: one that means the same (other_word.def), one that the word is a piece of
 * or that is a piece of it, one a typo away. Zeroed to begin with, but for `word`. */
struct nearest {
    struct acog_view word;
    struct acog_view best; /* ptr NULL: none is near enough to be worth a question */
    size_t distance;
};

void nearest_offer(struct nearest *nearest, struct acog_view candidate);

#endif
