/* utf8.c - the table of RFC 3629, section 4, as code. */
#include "acog/utf8.h"

static bool continues(unsigned char byte)
{
    return (byte & 0xc0U) == 0x80U;
}

/* The second byte carries the rules against overlong forms, surrogates and values above U+10FFFF. */
static bool second_fits(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return continues(second);
    }
}

size_t acog_utf8_length(struct acog_view text)
{
    if (text.len == 0) {
        return 0;
    }
    const unsigned char *byte = (const unsigned char *)text.ptr;
    size_t length = 0;
    if (byte[0] < 0x80) {
        return 1;
    }
    if (byte[0] >= 0xc2 && byte[0] <= 0xdf) {
        length = 2;
    } else if (byte[0] >= 0xe0 && byte[0] <= 0xef) {
        length = 3;
    } else if (byte[0] >= 0xf0 && byte[0] <= 0xf4) {
        length = 4;
    }
    if (length == 0 || text.len < length || !second_fits(byte[0], byte[1])) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if (!continues(byte[i])) {
            return 0;
        }
    }
    return length;
}

size_t acog_utf8_encode(uint32_t code_point, char out[4])
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xc0U | (code_point >> 6U));
        out[1] = (char)(0x80U | (code_point & 0x3fU));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xe0U | (code_point >> 12U));
        out[1] = (char)(0x80U | ((code_point >> 6U) & 0x3fU));
        out[2] = (char)(0x80U | (code_point & 0x3fU));
        return 3;
    }
    out[0] = (char)(0xf0U | (code_point >> 18U));
    out[1] = (char)(0x80U | ((code_point >> 12U) & 0x3fU));
    out[2] = (char)(0x80U | ((code_point >> 6U) & 0x3fU));
    out[3] = (char)(0x80U | (code_point & 0x3fU));
    return 4;
}
