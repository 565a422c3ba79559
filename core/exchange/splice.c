/* splice.c - edits kept in the order of their places, and the pieces that they leave. */
#include "splice.h"

#include "acog/contract.h"

void acog_splice_edit(struct acog_splice *splice, struct acog_view place, struct acog_view text)
{
    ACOG_ASSERT(splice->count < ACOG_SPLICE_EDITS_MAX);
    struct acog_splice_edit *edits = splice->edits;
    size_t at = splice->count;
    while (at > 0 && edits[at - 1].place.ptr > place.ptr) {
        edits[at] = edits[at - 1];
        at--;
    }
    edits[at] = (struct acog_splice_edit){.place = place, .text = text};
    splice->count++;
}

struct pieces {
    struct acog_view *list;
    size_t count;
    size_t room;
};

static void add(struct pieces *pieces, struct acog_view piece)
{
    if (piece.len > 0) {
        ACOG_ASSERT(pieces->count < pieces->room);
        pieces->list[pieces->count] = piece;
        pieces->count++;
    }
}

size_t acog_splice_pieces(const struct acog_splice *splice, struct acog_view bytes,
                          struct acog_view *pieces, size_t room)
{
    struct pieces out = {.list = pieces, .room = room};
    size_t done = 0;
    for (size_t i = 0; i < splice->count; i++) {
        const struct acog_splice_edit *edit = &splice->edits[i];
        size_t from = (size_t)(edit->place.ptr - bytes.ptr);
        add(&out, acog_view_slice(bytes, done, from));
        add(&out, edit->text);
        done = from + edit->place.len;
    }
    add(&out, acog_view_slice(bytes, done, bytes.len));
    return out.count;
}
