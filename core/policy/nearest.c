/* nearest.c - edit distance (optimal string alignment) over three rows; words that mean the same. */
#include "nearest.h"

#include "acog/contract.h"

#include <stdbool.h>
#include <stddef.h>

#define WORD_MAX  32
#define PIECE_MIN 3 /* bytes of a piece of a word that says something */

static size_t least(size_t a, size_t b, size_t c)
{
    size_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

size_t nearest_distance(struct acog_view a, struct acog_view b)
{
    size_t rows[3][WORD_MAX + 1];
    a = acog_view_slice(a, 0, WORD_MAX);
    b = acog_view_slice(b, 0, WORD_MAX);
    ACOG_ASSERT(a.ptr != NULL || a.len == 0);
    ACOG_ASSERT(b.ptr != NULL || b.len == 0);
    for (size_t j = 0; j <= b.len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t change = a.ptr[i - 1] == b.ptr[j - 1] ? 0 : 1;
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
            bool swapped =
                i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1];
            if (swapped && two_above[j - 2] + 1 < row[j]) {
                row[j] = two_above[j - 2] + 1;
            }
        }
    }
    return rows[a.len % 3][b.len];
}

/* "delay" of "delay_ms", "attempts" of "max_attempts": cut at a '_'. */
static bool is_piece(struct acog_view piece, struct acog_view whole)
{
    if (piece.len < PIECE_MIN || piece.len >= whole.len) {
        return false;
    }
    size_t rest = whole.len - piece.len;
    bool first =
        whole.ptr[piece.len] == '_' && acog_view_equal(acog_view_slice(whole, 0, piece.len), piece);
    bool last = whole.ptr[rest - 1] == '_' &&
                acog_view_equal(acog_view_slice(whole, rest, whole.len), piece);
    return first || last;
}

static bool means(struct acog_view said, struct acog_view meant)
{
    static const struct {
        const char *said;
        const char *meant;
    } rows[] = {

#define OTHER_WORD(said_there, meant_here) {said_there, meant_here},
#include "other_word.def"
#undef OTHER_WORD
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (acog_view_equal(acog_view_of(rows[i].said), said) &&
            acog_view_equal(acog_view_of(rows[i].meant), meant)) {
            return true;
        }
    }
    return false;
}

void nearest_offer(struct nearest *nearest, struct acog_view candidate)
{
    size_t distance = nearest_distance(nearest->word, candidate);
    bool close = distance <= 1 + nearest->word.len / 4; /* a typo, not another word */
    if (means(nearest->word, candidate)) {
        close = true;
        distance = 0;
    } else if (is_piece(nearest->word, candidate) || is_piece(candidate, nearest->word)) {
        close = true;
        distance = 1;
    }
    if (close && (nearest->best.ptr == NULL || distance < nearest->distance)) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}
