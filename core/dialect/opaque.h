/* opaque.h - private to core/dialect: what only the provider that made it can read (a signature of reasoning, encrypted
 * reasoning, a thought signature), on its way through a client of another dialect and back.
 *
 * The client keeps it for us, in the field that its own dialect has for such things, with a tag in front that says
 * whose it is: "acog.messages..EqQB…". What has no tag is the client's own dialect's. When the conversation comes back,
 * a provider of the same dialect gets what is its own, every other gets nothing of it (B28, B39).
 *
 *   acog.DIALECT.ID.BYTES      ID may be empty; "redacted-" before DIALECT: it stands for the reasoning itself
 */
#ifndef ACOG_CORE_DIALECT_OPAQUE_H
#define ACOG_CORE_DIALECT_OPAQUE_H

#include "acog/names.h"
#include "text.h"

/* maker ACOG_DIALECT_COUNT: there is none. */
struct acog_opaque {
    enum acog_dialect maker;
    struct acog_text bytes;
    struct acog_text id; /* responses: the item's */
    bool redacted;       /* it stands for the reasoning itself: there is no text */
};

static inline struct acog_opaque acog_opaque_none(void)
{
    return (struct acog_opaque){.maker = ACOG_DIALECT_COUNT};
}

/* Reads what a client of dialect `client` sent in its own field. Empty text: none. */
struct acog_opaque acog_opaque_read(struct acog_text text, enum acog_dialect client);

/* Appends it as what stands between the quotes of a client's field: as it is when it is of the client's own dialect,
 * else with the tag. */
enum acog_code acog_opaque_append(struct acog_buffer *out, const struct acog_opaque *opaque,
                                  enum acog_dialect client) ACOG_MUST_CHECK;

#endif
