/* utf8.h - UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef ACOG_UTF8_H
#define ACOG_UTF8_H

#include "acog/view.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes (1 to 4) of the character at the start of `text`; 0 when it is broken, cut, or text is empty. */
size_t acog_utf8_length(struct acog_view text);

/* Writes `code_point` (a scalar value) into `out`, returns its bytes. */
size_t acog_utf8_encode(uint32_t code_point, char out[4]);

#endif
