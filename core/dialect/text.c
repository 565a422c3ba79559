/* text.c - texts in either form. */
#include "text.h"

#include <string.h>

enum acog_code acog_text_append_inside(struct acog_buffer *out, struct acog_text text)
{
    return text.escaped ? acog_buffer_append(out, text.bytes)
                        : acog_buffer_append_json(out, text.bytes);
}

enum acog_code acog_text_append_plain(struct acog_buffer *out, struct acog_text text)
{
    if (!text.escaped || text.bytes.len == 0) {
        return acog_buffer_append(out, text.bytes);
    }
    enum acog_code code = acog_buffer_reserve(out, text.bytes.len);
    if (code == ACOG_OK) {
        out->len += acog_json_unescape(text.bytes, out->ptr + out->len);
    }
    return code;
}

enum acog_code acog_text_characters(struct acog_text text, struct acog_arena *arena,
                                    struct acog_view *characters)
{
    *characters = text.bytes;
    if (!text.escaped || text.bytes.len == 0) {
        return ACOG_OK;
    }
    char *decoded = acog_arena_take(arena, text.bytes.len);
    if (decoded == NULL) {
        return ACOG_NO_MEMORY;
    }
    *characters =
        (struct acog_view){.ptr = decoded, .len = acog_json_unescape(text.bytes, decoded)};
    return ACOG_OK;
}

bool acog_text_is_blank(struct acog_text text)
{
    for (size_t i = 0; i < text.bytes.len; i++) {
        char byte = text.bytes.ptr[i];
        if (text.escaped && byte == '\\' && i + 1 < text.bytes.len &&
            strchr("nrt", text.bytes.ptr[i + 1]) != NULL) {
            i++;
        } else if (strchr(" \t\r\n", byte) == NULL || byte == '\0') {
            return false;
        }
    }
    return true;
}
