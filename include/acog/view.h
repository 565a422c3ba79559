/* view.h - a borrowed, length-counted slice of bytes. */
#ifndef ACOG_VIEW_H
#define ACOG_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Bytes owned by someone else. `ptr` may be NULL only when `len` is 0. */
struct acog_view {
    const char *ptr;
    size_t len;
};

#define ACOG_VIEW(literal) ((struct acog_view){.ptr = (literal), .len = sizeof(literal) - 1})

/* For "%.*s": both arguments. */
#define ACOG_VIEW_FMT(view) (int)(view).len, (view).ptr

static inline struct acog_view acog_view_of(const char *text)
{
    return (struct acog_view){.ptr = text, .len = text == NULL ? 0 : strlen(text)};
}

static inline bool acog_view_equal(struct acog_view a, struct acog_view b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool acog_view_starts(struct acog_view view, struct acog_view prefix)
{
    return view.len >= prefix.len &&
           (prefix.len == 0 || memcmp(view.ptr, prefix.ptr, prefix.len) == 0);
}

/* From byte `from` up to, not including, byte `to`; both are cut to the length. */
static inline struct acog_view acog_view_slice(struct acog_view view, size_t from, size_t to)
{
    to = to > view.len ? view.len : to;
    from = from > to ? to : from;
    if (from > 0) { /* a NULL pointer has no length, and nothing is added to it */
        view.ptr += from;
    }
    view.len = to - from;
    return view;
}

/* Equal but for the case of ASCII letters. */
bool acog_view_equal_nocase(struct acog_view a, struct acog_view b);

/* Without spaces and tabs at both ends. */
struct acog_view acog_view_trim(struct acog_view view);

/* Where `needle` starts in `view`, or view.len when it is not in it. */
size_t acog_view_find(struct acog_view view, struct acog_view needle);

/* Digits only, no sign, no overflow; false (and *out untouched) for anything else. */
bool acog_view_to_u64(struct acog_view view, unsigned long long *out);

#define ACOG_DIGITS_MAX 20 /* of 64 bits */

/* The number in decimal, as a view of `digits`. */
struct acog_view acog_view_from_u64(unsigned long long number, char digits[ACOG_DIGITS_MAX]);

#endif
