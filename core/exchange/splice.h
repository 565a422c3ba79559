/* splice.h - bytes of which a few places are written anew. They go out in pieces, what changes between them; nothing is
 * copied, so the bytes and the texts are lent for as long as the pieces are used.
 */
#ifndef ACOG_CORE_EXCHANGE_SPLICE_H
#define ACOG_CORE_EXCHANGE_SPLICE_H

#include "acog/view.h"

#include <stddef.h>

#define ACOG_SPLICE_EDITS_MAX  3
#define ACOG_SPLICE_PIECES_MAX (2 * ACOG_SPLICE_EDITS_MAX + 1)

struct acog_splice_edit {
    struct acog_view place;
    struct acog_view text;
};

/* Begins with `count` 0. */
struct acog_splice {
    struct acog_splice_edit edits[ACOG_SPLICE_EDITS_MAX]; /* in the order of their places */
    size_t count;
};

/* `place` of the bytes (maybe of no length, never over another one) becomes `text`. */
void acog_splice_edit(struct acog_splice *splice, struct acog_view place, struct acog_view text);

/* Writes the pieces, none of them empty, and returns how many: at most ACOG_SPLICE_PIECES_MAX, and `room`. */
size_t acog_splice_pieces(const struct acog_splice *splice, struct acog_view bytes,
                          struct acog_view *pieces, size_t room);

#endif
