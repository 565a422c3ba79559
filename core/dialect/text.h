/* text.h - private to core/dialect: a text in one of the two forms in which it comes out of JSON, so that it need not be
 * decoded on its way: what stands between the quotes of a JSON string is copied between other quotes as it is.
 */
#ifndef ACOG_CORE_DIALECT_TEXT_H
#define ACOG_CORE_DIALECT_TEXT_H

#include "acog/arena.h"
#include "acog/buffer.h"
#include "acog/json.h"

struct acog_text {
    struct acog_view bytes;
    bool
        escaped; /* as between the quotes of a checked JSON string; else the characters themselves */
};

/* Of a STRING as written; empty for anything else. */
static inline struct acog_text acog_text_of(struct acog_json_value value)
{
    struct acog_text none = {.escaped = false};
    if (value.type != ACOG_JSON_STRING || value.raw.len < 2) {
        return none;
    }
    return (struct acog_text){.bytes = acog_view_slice(value.raw, 1, value.raw.len - 1),
                              .escaped = value.escaped};
}

static inline struct acog_text acog_text_plain(struct acog_view characters)
{
    return (struct acog_text){.bytes = characters};
}

/* Appends it as what stands between the quotes of a JSON string. */
enum acog_code acog_text_append_inside(struct acog_buffer *out,
                                       struct acog_text text) ACOG_MUST_CHECK;

/* Appends its characters. */
enum acog_code acog_text_append_plain(struct acog_buffer *out,
                                      struct acog_text text) ACOG_MUST_CHECK;

/* Its characters: a view of them, or decoded into the arena. ACOG_NO_MEMORY only. */
enum acog_code acog_text_characters(struct acog_text text, struct acog_arena *arena,
                                    struct acog_view *characters) ACOG_MUST_CHECK;

/* Only white space, as the providers see it (B05): also "\n" and the like as escapes. */
bool acog_text_is_blank(struct acog_text text);

#endif
