/* error.h - private to core/dialect: what was gathered of an error body, for the shapes to be found in. */
#ifndef ACOG_CORE_DIALECT_ERROR_H
#define ACOG_CORE_DIALECT_ERROR_H

#include "acog/dialect.h"

#define ACOG_ERROR_WORDS_MAX 16 /* codes, and texts, looked at */

struct acog_error_words {
    struct acog_view codes[ACOG_ERROR_WORDS_MAX]; /* lower case, '_' for '-' and ' ' */
    size_t code_count;
    struct acog_view texts[ACOG_ERROR_WORDS_MAX]; /* lower case */
    size_t text_count;
};

/* Tries every row of error_phrase.def on the words and sets the failure's shapes. A code that names a refusal is one
 * of its categories too (S1.15). */
void acog_error_find_shapes(const struct acog_error_words *words, struct acog_failure *failure);

/* Lower case, '_' for '-' and ' '; the text must live as long as the failure. The same one twice counts once. */
void acog_error_add_category(struct acog_failure *failure, struct acog_view category);

/* How long the texts ask to wait ("try again in 1.2s"), in milliseconds; -1: they do not say. */
int64_t acog_error_find_wait(const struct acog_error_words *words);

#endif
