/* note.h - private to note.c and note_text.c: the routing note in words. */
#ifndef ACOG_CORE_EXCHANGE_NOTE_H
#define ACOG_CORE_EXCHANGE_NOTE_H

#include "state.h"

#define ACOG_NOTE_EVENTS 6 /* of acog_note_write_item_events() */

/* Room for whatever is written here at once, until the driver's next call. */
enum acog_code acog_note_buffer(struct acog_exchange *exchange,
                                const struct acog_exchange_attempt *attempt,
                                struct acog_buffer *out) ACOG_MUST_CHECK;

/* The note and an empty line, as the inside of a JSON string; with something around it. */
enum acog_code acog_note_write_text(const struct acog_exchange *exchange,
                                    struct acog_buffer *out) ACOG_MUST_CHECK;
enum acog_code acog_note_write_around(const struct acog_exchange *exchange, struct acog_view before,
                                      struct acog_view after,
                                      struct acog_buffer *out) ACOG_MUST_CHECK;

/* The message item of a responses answer. */
enum acog_code acog_note_write_item(const struct acog_exchange *exchange, bool complete,
                                    struct acog_buffer *out) ACOG_MUST_CHECK;

/* The events of a messages block, a chat chunk, and those of a responses item, numbered from `sequence` on. */
enum acog_code acog_note_write_block(const struct acog_exchange *exchange, int64_t index,
                                     struct acog_buffer *out) ACOG_MUST_CHECK;
enum acog_code acog_note_write_chunk(const struct acog_exchange *exchange,
                                     const struct acog_exchange_attempt *attempt,
                                     struct acog_buffer *out) ACOG_MUST_CHECK;
enum acog_code acog_note_write_item_events(const struct acog_exchange *exchange, int64_t sequence,
                                           int64_t index, struct acog_buffer *out) ACOG_MUST_CHECK;

#endif
