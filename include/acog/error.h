/* error.h - what a fallible function returns and how it explains itself. */
#ifndef ACOG_ERROR_H
#define ACOG_ERROR_H

#define ACOG_MUST_CHECK        __attribute__((warn_unused_result))
#define ACOG_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

enum acog_code {
#define ACOG_CODE(name, text) ACOG_##name,
#include "acog/code.def"
#undef ACOG_CODE
};

#define ACOG_ERROR_TEXT_MAX 240 /* bytes, the final NUL included; longer texts are cut */

struct acog_error {
    enum acog_code code;
    char text[ACOG_ERROR_TEXT_MAX];
};

/* A constant text, never NULL. */
const char *acog_code_text(enum acog_code code);

/* Fills `err` in (NULL is allowed) and returns `code`, which must not be ACOG_OK. */
enum acog_code acog_error_set(struct acog_error *err, enum acog_code code, const char *fmt, ...)
    ACOG_PRINTF(3, 4);

#endif
