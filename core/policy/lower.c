/* lower.c - one loop. */
#include "lower.h"

struct acog_view lower_copy(struct acog_arena *arena, struct acog_view text)
{
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
    char *copy = acog_arena_take(arena, text.len + 1);
    if (copy == NULL) {
        return (struct acog_view){0};
    }
    for (size_t i = 0; i < text.len; i++) {
        const char *letter = text.ptr[i] == '\0' ? NULL : strchr(upper, text.ptr[i]);
        if (letter == NULL) {
            copy[i] = text.ptr[i];
        } else {
            copy[i] = lower[letter - upper];
        }
    }
    return (struct acog_view){.ptr = copy, .len = text.len};
}
