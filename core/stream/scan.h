/* scan.h - "how far until a byte of this kind": the inner loops of the JSON scanner and the SSE reader.
 *
 * Each one looks at 16 bytes at a time where SSE2 is there, and finishes (or does it all, elsewhere) one by one.
 * All of them return `end` when no such byte is left, and none reads a byte at or behind `end`.
 */
#ifndef ACOG_CORE_STREAM_SCAN_H
#define ACOG_CORE_STREAM_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__SSE2__)
#define ACOG_SCAN_STEP ((ptrdiff_t)sizeof(__m128i))

static inline __m128i acog_scan_load(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline __m128i acog_scan_equal(__m128i bytes, char byte)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte));
}

/* Where the first byte marked in `found` is, or -1. */
static inline int acog_scan_first(__m128i found)
{
    unsigned mask = (unsigned)_mm_movemask_epi8(found);
    return mask == 0 ? -1 : __builtin_ctz(mask);
}
#endif

/* A quote, a backslash, a control character or a byte that is no ASCII: what ends a plain run in a JSON string. */
static inline bool acog_scan_is_special(char byte)
{
    return byte == '"' || byte == '\\' || (signed char)byte < 0x20;
}

static inline const char *acog_scan_special(const char *at, const char *end)
{
#if defined(__SSE2__)
    for (; end - at >= ACOG_SCAN_STEP; at += ACOG_SCAN_STEP) {
        __m128i bytes = acog_scan_load(at);
        /* The comparison is signed: bytes from 0x80 on are below 0x20 too. */
        __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
        __m128i mark = _mm_or_si128(acog_scan_equal(bytes, '"'), acog_scan_equal(bytes, '\\'));
        int first = acog_scan_first(_mm_or_si128(low, mark));
        if (first >= 0) {
            return at + first;
        }
    }
#endif
    while (at < end && !acog_scan_is_special(*at)) {
        at++;
    }
    return at;
}

/* A quote or a backslash: what ends a run in a JSON string that was checked before. */
static inline const char *acog_scan_quote(const char *at, const char *end)
{
#if defined(__SSE2__)
    for (; end - at >= ACOG_SCAN_STEP; at += ACOG_SCAN_STEP) {
        __m128i bytes = acog_scan_load(at);
        int first = acog_scan_first(
            _mm_or_si128(acog_scan_equal(bytes, '"'), acog_scan_equal(bytes, '\\')));
        if (first >= 0) {
            return at + first;
        }
    }
#endif
    while (at < end && *at != '"' && *at != '\\') {
        at++;
    }
    return at;
}

/* A quote or any bracket: what matters when a checked array or object is skipped. */
static inline bool acog_scan_is_structure(char byte)
{
    return byte == '"' || (byte | 0x20) == '{' || (byte | 0x20) == '}';
}

static inline const char *acog_scan_structure(const char *at, const char *end)
{
#if defined(__SSE2__)
    for (; end - at >= ACOG_SCAN_STEP; at += ACOG_SCAN_STEP) {
        __m128i bytes = acog_scan_load(at);
        __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20)); /* '[' is '{', ']' is '}' */
        __m128i bracket = _mm_or_si128(acog_scan_equal(folded, '{'), acog_scan_equal(folded, '}'));
        int first = acog_scan_first(_mm_or_si128(bracket, acog_scan_equal(bytes, '"')));
        if (first >= 0) {
            return at + first;
        }
    }
#endif
    while (at < end && !acog_scan_is_structure(*at)) {
        at++;
    }
    return at;
}

/* A CR or a LF. */
static inline const char *acog_scan_line_end(const char *at, const char *end)
{
#if defined(__SSE2__)
    for (; end - at >= ACOG_SCAN_STEP; at += ACOG_SCAN_STEP) {
        __m128i bytes = acog_scan_load(at);
        int first = acog_scan_first(
            _mm_or_si128(acog_scan_equal(bytes, '\n'), acog_scan_equal(bytes, '\r')));
        if (first >= 0) {
            return at + first;
        }
    }
#endif
    while (at < end && *at != '\n' && *at != '\r') {
        at++;
    }
    return at;
}

#endif
