/* beat.h - the order in which a streamed answer is told, the same in every dialect.
 *
 *   START STARTED [reasoning: OPEN PART PIECE+ DONE PART_DONE CLOSE] [text: likewise] [tool: OPEN PIECE+ DONE CLOSE]
 *   FINISH USAGE LAST
 *
 * A walk goes from beat to beat; a dialect renders the beats that are events in it and writes nothing for the others.
 */
#ifndef ACOG_PROVIDER_BEAT_H
#define ACOG_PROVIDER_BEAT_H

#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum acog_beat {
    ACOG_BEAT_START = 0,
    ACOG_BEAT_STARTED,
    ACOG_BEAT_REASONING_OPEN,
    ACOG_BEAT_REASONING_PART,
    ACOG_BEAT_REASONING_PIECE,
    ACOG_BEAT_REASONING_DONE,
    ACOG_BEAT_REASONING_PART_DONE,
    ACOG_BEAT_REASONING_CLOSE,
    ACOG_BEAT_TEXT_OPEN,
    ACOG_BEAT_TEXT_PART,
    ACOG_BEAT_TEXT_PIECE,
    ACOG_BEAT_TEXT_DONE,
    ACOG_BEAT_TEXT_PART_DONE,
    ACOG_BEAT_TEXT_CLOSE,
    ACOG_BEAT_TOOL_OPEN,
    ACOG_BEAT_TOOL_PIECE,
    ACOG_BEAT_TOOL_DONE,
    ACOG_BEAT_TOOL_CLOSE,
    ACOG_BEAT_FINISH,
    ACOG_BEAT_USAGE,
    ACOG_BEAT_LAST,
    ACOG_BEAT_OVER,
};

struct acog_walk {
    struct acog_view reasoning; /* empty: no such part */
    struct acog_view text;
    struct acog_view tool_arguments;
    bool tool;
    uint32_t chunks; /* of reasoning and text each; 0: one a word */
    enum acog_beat beat;
    struct acog_view piece; /* at a PIECE beat */
    size_t at;              /* where the piece ends in its text */
    uint32_t pieces;        /* of this part so far */
};

/* Stands at START afterwards. */
void acog_walk_init(struct acog_walk *walk);

/* Goes to the next beat; from OVER nowhere. */
void acog_walk_next(struct acog_walk *walk);

/* The beats at which a model has said something: what `first_output_delay_ms` holds back. */
bool acog_beat_is_output(enum acog_beat beat);

#endif
