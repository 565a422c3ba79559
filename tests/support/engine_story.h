/* engine_story.h - a story for the engine as text: who there is, then what happened and what came of it.
 *
 *     # what this shows
 *     policy acog
 *     connection a direct default usable=ask slow weight=2 takes_over=refusal:hate
 *     model a claude-haiku-4-5@20251001 family=claude-haiku-4-5 sends=id price=1 reasoning
 *     ask match filter order
 *
 *     +0 arrived messages stream model=claude-haiku-4-5 seed=1
 *         dispatch 1 a/claude-haiku-4-5@20251001 ...
 *
 * The lines with a time are the events, in the form of acog_transcript_step(): they are played. The indented lines are
 * what the engine is expected to say. A `model` line follows the `connection` lines that it names. `later 30000` moves
 * the clock on, for the next request of the same story.
 */
#ifndef ACOG_TESTS_SUPPORT_ENGINE_STORY_H
#define ACOG_TESTS_SUPPORT_ENGINE_STORY_H

#include "acog/buffer.h"
#include "acog/view.h"

#include <stdbool.h>

/* Plays `story` and appends it to `out` with what the engine really said. False: `wrong` is the line that is no
 * part of a story. */
bool engine_story_play(struct acog_view story, struct acog_buffer *out, struct acog_view *wrong);

#endif
