/* charset.c - byte classes by table, and runs of allowed bytes sixteen at a time where the machine can. */
#include "charset.h"

#include <stddef.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* clang-format off */
const char acog_http_token_lower[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, '!', 0, '#', '$', '%', '&', '\'', 0, 0, '*', '+', 0, '-', '.', 0,
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 0, 0, 0, 0, 0, 0,
    0, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
    'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', 0, 0, 0, '^', '_',
    '`', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
    'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', 0, '|', 0, '~', 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

/* clang-format on */

bool acog_http_is_token(struct acog_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (acog_http_token_byte(text.ptr[i]) == 0) {
            return false;
        }
    }
    return text.len > 0;
}

static bool in_value(unsigned char byte)
{
    return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}

static bool in_target(unsigned char byte)
{
    return byte > 0x20 && byte < 0x7f && byte != '#';
}

#ifdef __SSE2__
/* Steps over whole blocks of allowed bytes; the block with the first other byte is left to the caller's loop. */
static const char *skip_value_blocks(const char *at, const char *end)
{
    const __m128i controls_max = _mm_set1_epi8(0x1f);
    const __m128i tab = _mm_set1_epi8('\t');
    const __m128i delete = _mm_set1_epi8(0x7f);
    while (end - at >= 16) {
        __m128i block;
        memcpy(&block, at, sizeof(block));
        __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(block, controls_max), block);
        __m128i bad = _mm_or_si128(_mm_andnot_si128(_mm_cmpeq_epi8(block, tab), control),
                                   _mm_cmpeq_epi8(block, delete));
        int mask = _mm_movemask_epi8(bad);
        if (mask != 0) {
            return at + __builtin_ctz((unsigned)mask);
        }
        at += 16;
    }
    return at;
}

static const char *skip_target_blocks(const char *at, const char *end)
{
    const __m128i space = _mm_set1_epi8(0x20);
    const __m128i delete = _mm_set1_epi8(0x7f);
    const __m128i hash = _mm_set1_epi8('#');
    while (end - at >= 16) {
        __m128i block;
        memcpy(&block, at, sizeof(block));
        /* The comparison is signed: bytes from 0x80 on are negative, so they are not above the space. */
        __m128i good = _mm_cmpgt_epi8(block, space);
        __m128i bad = _mm_or_si128(_mm_cmpeq_epi8(block, delete), _mm_cmpeq_epi8(block, hash));
        int mask = _mm_movemask_epi8(_mm_andnot_si128(bad, good));
        if (mask != 0xffff) {
            return at + __builtin_ctz(~(unsigned)mask);
        }
        at += 16;
    }
    return at;
}
#else
static const char *skip_value_blocks(const char *at, const char *end)
{
    (void)end;
    return at;
}

static const char *skip_target_blocks(const char *at, const char *end)
{
    (void)end;
    return at;
}
#endif

const char *acog_http_value_end(const char *at, const char *end)
{
    at = skip_value_blocks(at, end);
    while (at < end && in_value((unsigned char)*at)) {
        at++;
    }
    return at;
}

const char *acog_http_target_end(const char *at, const char *end)
{
    at = skip_target_blocks(at, end);
    while (at < end && in_target((unsigned char)*at)) {
        at++;
    }
    return at;
}

int acog_http_hex(char byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    if (byte >= 'a' && byte <= 'f') {
        return byte - 'a' + 10;
    }
    if (byte >= 'A' && byte <= 'F') {
        return byte - 'A' + 10;
    }
    return -1;
}

/* RFC 3986: unreserved, sub-delims, and %XX. */
static size_t name_length(struct acog_view text)
{
    size_t at = 0;
    while (at < text.len) {
        char byte = text.ptr[at];
        bool alnum = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                     (byte >= 'A' && byte <= 'Z');
        if (alnum || (byte != '\0' && strchr("-._~!$&'()*+,;=", byte) != NULL)) {
            at++;
        } else if (byte == '%' && text.len - at > 2 && acog_http_hex(text.ptr[at + 1]) >= 0 &&
                   acog_http_hex(text.ptr[at + 2]) >= 0) {
            at += 3;
        } else {
            break;
        }
    }
    return at;
}

/* "[" hexadecimal digits, colons and dots "]": its length, or 0. */
static size_t bracket_length(struct acog_view text)
{
    size_t at = 1;
    while (at < text.len &&
           (acog_http_hex(text.ptr[at]) >= 0 || text.ptr[at] == ':' || text.ptr[at] == '.')) {
        at++;
    }
    return at > 2 && at < text.len && text.ptr[at] == ']' ? at + 1 : 0;
}

bool acog_http_is_host(struct acog_view text)
{
    size_t host = text.len > 0 && text.ptr[0] == '[' ? bracket_length(text) : name_length(text);
    if (host == 0) {
        return false;
    }
    if (host == text.len) {
        return true;
    }
    struct acog_view port = acog_view_slice(text, host + 1, text.len);
    unsigned long long number = 0;
    return text.ptr[host] == ':' &&
           (port.len == 0 || (acog_view_to_u64(port, &number) && number <= 65535));
}
