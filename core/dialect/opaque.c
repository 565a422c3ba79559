/* opaque.c - opaque bytes under a tag, in a client's field. */
#include "opaque.h"

#define TAG      ACOG_VIEW("acog.")
#define REDACTED ACOG_VIEW("redacted-")

/* The piece up to the next dot, which is skipped. False: there is no dot. */
static bool take(struct acog_view *rest, struct acog_view *piece)
{
    size_t dot = acog_view_find(*rest, ACOG_VIEW("."));
    *piece = acog_view_slice(*rest, 0, dot);
    if (dot >= rest->len) {
        return false;
    }
    *rest = acog_view_slice(*rest, dot + 1, rest->len);
    return true;
}

struct acog_opaque acog_opaque_read(struct acog_text text, enum acog_dialect client)
{
    if (text.bytes.len == 0) {
        return acog_opaque_none();
    }
    struct acog_opaque opaque = {.maker = client, .bytes = text};
    struct acog_view rest = text.bytes;
    struct acog_view word;
    struct acog_view id;
    if (!acog_view_starts(rest, TAG)) {
        return opaque;
    }
    rest = acog_view_slice(rest, TAG.len, rest.len);
    if (!take(&rest, &word) || !take(&rest, &id)) {
        return opaque;
    }
    bool redacted = acog_view_starts(word, REDACTED);
    int maker = acog_name_find(ACOG_VOCABULARY_DIALECT,
                               acog_view_slice(word, redacted ? REDACTED.len : 0, word.len));
    if (maker < 0) {
        return opaque;
    }
    return (struct acog_opaque){.maker = (enum acog_dialect)maker,
                                .bytes = {.bytes = rest, .escaped = text.escaped},
                                .id = {.bytes = id, .escaped = text.escaped},
                                .redacted = redacted};
}

enum acog_code acog_opaque_append(struct acog_buffer *out, const struct acog_opaque *opaque,
                                  enum acog_dialect client)
{
    enum acog_code code = ACOG_OK;
    if (opaque->maker != client) {
        const struct acog_view parts[] = {
            TAG,
            opaque->redacted ? REDACTED : (struct acog_view){0},
            acog_name(ACOG_VOCABULARY_DIALECT, (int)opaque->maker),
            ACOG_VIEW("."),
        };
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && code == ACOG_OK; i++) {
            code = acog_buffer_append(out, parts[i]);
        }
        if (code == ACOG_OK) {
            code = acog_text_append_inside(out, opaque->id);
        }
        if (code == ACOG_OK) {
            code = acog_buffer_append(out, ACOG_VIEW("."));
        }
    }
    return code == ACOG_OK ? acog_text_append_inside(out, opaque->bytes) : code;
}
