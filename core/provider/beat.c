/* beat.c - from beat to beat, and a text cut into pieces. */
#include "beat.h"

#define TOOL_PIECE_BYTES 8 /* about what providers send of tool arguments */

void acog_walk_init(struct acog_walk *walk)
{
    walk->beat = ACOG_BEAT_START;
    walk->piece = (struct acog_view){0};
    walk->at = 0;
    walk->pieces = 0;
}

/* The first place at or after `at` that does not cut a character. */
static size_t whole_character(struct acog_view text, size_t at)
{
    while (at < text.len && ((unsigned char)text.ptr[at] & 0xc0) == 0x80) {
        at++;
    }
    return at;
}

/* The end of the word that starts at `from`, the spaces before it included. */
static size_t word_end(struct acog_view text, size_t from)
{
    size_t at = from;
    while (at < text.len && text.ptr[at] == ' ') {
        at++;
    }
    while (at < text.len && text.ptr[at] != ' ') {
        at++;
    }
    return at;
}

static size_t chunk_end(struct acog_view text, size_t from, uint32_t chunk, uint32_t chunks)
{
    if (chunk + 1 >= chunks) {
        return text.len;
    }
    size_t share = text.len / chunks + (text.len % chunks > chunk ? 1 : 0);
    return whole_character(text, from + (share == 0 ? 1 : share));
}

/* True when there was one more piece of `text`. */
static bool next_piece(struct acog_walk *walk, struct acog_view text)
{
    if (walk->at >= text.len) {
        return false;
    }
    size_t from = walk->at;
    if (walk->chunks > 0) {
        walk->at = chunk_end(text, from, walk->pieces, walk->chunks);
    } else if (walk->beat == ACOG_BEAT_TOOL_PIECE) {
        walk->at = whole_character(
            text, text.len - from > TOOL_PIECE_BYTES ? from + TOOL_PIECE_BYTES : text.len);
    } else {
        walk->at = word_end(text, from);
    }
    walk->piece = acog_view_slice(text, from, walk->at);
    walk->pieces++;
    return true;
}

static struct acog_view piece_text(const struct acog_walk *walk)
{
    if (walk->beat == ACOG_BEAT_REASONING_PIECE) {
        return walk->reasoning;
    }
    return walk->beat == ACOG_BEAT_TEXT_PIECE ? walk->text : walk->tool_arguments;
}

static bool is_piece(enum acog_beat beat)
{
    return beat == ACOG_BEAT_REASONING_PIECE || beat == ACOG_BEAT_TEXT_PIECE ||
           beat == ACOG_BEAT_TOOL_PIECE;
}

/* Past the parts that this answer does not have. */
static void skip_absent_parts(struct acog_walk *walk)
{
    if (walk->beat == ACOG_BEAT_REASONING_OPEN && walk->reasoning.len == 0) {
        walk->beat = ACOG_BEAT_TEXT_OPEN;
    }
    if (walk->beat == ACOG_BEAT_TEXT_OPEN && walk->text.len == 0) {
        walk->beat = ACOG_BEAT_TOOL_OPEN;
    }
    if (walk->beat == ACOG_BEAT_TOOL_OPEN && !walk->tool) {
        walk->beat = ACOG_BEAT_FINISH;
    }
}

void acog_walk_next(struct acog_walk *walk)
{
    if (walk->beat == ACOG_BEAT_OVER) {
        return;
    }
    if (is_piece(walk->beat) && next_piece(walk, piece_text(walk))) {
        return;
    }
    walk->beat = (enum acog_beat)(walk->beat + 1);
    skip_absent_parts(walk);
    if (is_piece(walk->beat)) {
        walk->at = 0;
        walk->pieces = 0;
        (void)next_piece(walk, piece_text(walk)); /* a part that is there is not empty */
    }
}

bool acog_beat_is_output(enum acog_beat beat)
{
    return is_piece(beat) || beat == ACOG_BEAT_TOOL_OPEN || beat == ACOG_BEAT_FINISH;
}
