/* view.c - the parts of view.h that are not one line. */
#include "acog/view.h"

#include <limits.h>

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c + ('a' - 'A'));
    }
    return c;
}

bool acog_view_equal_nocase(struct acog_view a, struct acog_view b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i])) {
            return false;
        }
    }
    return true;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

struct acog_view acog_view_trim(struct acog_view view)
{
    while (view.len > 0 && blank(view.ptr[0])) {
        view.ptr++;
        view.len--;
    }
    while (view.len > 0 && blank(view.ptr[view.len - 1])) {
        view.len--;
    }
    return view;
}

size_t acog_view_find(struct acog_view view, struct acog_view needle)
{
    if (needle.len == 0) {
        return 0;
    }
    for (size_t at = 0; at + needle.len <= view.len;) {
        const char *first = memchr(view.ptr + at, needle.ptr[0], view.len - needle.len - at + 1);
        if (first == NULL) {
            break;
        }
        at = (size_t)(first - view.ptr);
        if (memcmp(first, needle.ptr, needle.len) == 0) {
            return at;
        }
        at++;
    }
    return view.len;
}

bool acog_view_to_u64(struct acog_view view, unsigned long long *out)
{
    unsigned long long value = 0;
    if (view.len == 0) {
        return false;
    }
    for (size_t i = 0; i < view.len; i++) {
        if (view.ptr[i] < '0' || view.ptr[i] > '9') {
            return false;
        }
        unsigned digit = (unsigned)(view.ptr[i] - '0');
        if (value > (ULLONG_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

struct acog_view acog_view_from_u64(unsigned long long number, char digits[ACOG_DIGITS_MAX])
{
    size_t at = ACOG_DIGITS_MAX;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return (struct acog_view){.ptr = digits + at, .len = ACOG_DIGITS_MAX - at};
}
