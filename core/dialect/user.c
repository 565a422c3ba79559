/* user.c - what tells a person from an id. */
#include "user.h"

#include <string.h>

#define TELEPHONE_DIGITS_MIN 7
#define TELEPHONE_DIGITS_MAX 15

/* Digits with the signs that people write between them. Digits alone are an id. */
static bool is_telephone_number(struct acog_view text)
{
    size_t digits = 0;
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        if (byte >= '0' && byte <= '9') {
            digits++;
        } else if (byte == '\0' || strchr("+-./() ", byte) == NULL) {
            return false;
        }
    }
    return digits < text.len && digits >= TELEPHONE_DIGITS_MIN && digits <= TELEPHONE_DIGITS_MAX;
}

static bool is_opaque(struct acog_view text)
{
    return acog_view_find(text, ACOG_VIEW("@")) == text.len &&
           acog_view_find(text, ACOG_VIEW(" ")) == text.len && !is_telephone_number(text);
}

void acog_builder_user(struct acog_conversation_builder *builder, struct acog_json_value name,
                       struct acog_json_value user)
{
    struct acog_view text;
    if (builder->code != ACOG_OK || !acog_json_present(user) || user.type == ACOG_JSON_NULL) {
        return;
    }
    if (acog_text_characters(acog_text_of(user), builder->arena, &text) != ACOG_OK) {
        builder->code = ACOG_NO_MEMORY;
    } else if (user.type == ACOG_JSON_STRING && is_opaque(text)) {
        builder->conversation->user = user;
    } else {
        acog_builder_unknown(builder, name);
    }
}
