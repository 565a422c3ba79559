/* reasons.c - interning with a cap. */
#include "reasons.h"

#include "acog/contract.h"
#include "loaded.h"

#define TEXT_BYTES_MAX ((size_t)REASONS_MAX * (REASON_BYTES_MAX + 32))
#define PLACES         (sizeof(((struct reasons *)0)->list) / sizeof(struct acog_view))

void reasons_init(struct reasons *reasons)
{
    *reasons = (struct reasons){.count = 0};
    acog_arena_init(&reasons->texts, TEXT_BYTES_MAX);
}

void reasons_fini(struct reasons *reasons)
{
    acog_arena_fini(&reasons->texts);
}

struct acog_view reasons_keep(struct reasons *reasons, struct acog_view text)
{
    text = acog_view_slice(text, 0, REASON_BYTES_MAX);
    ACOG_ASSERT(text.ptr != NULL);
    size_t place = (size_t)loaded_hash(LOADED_HASH_START, text) % PLACES;
    while (reasons->list[place].ptr != NULL) {
        if (acog_view_equal(reasons->list[place], text)) {
            return reasons->list[place];
        }
        place = (place + 1) % PLACES;
    }
    struct acog_view copy = {0};
    if (reasons->count < REASONS_MAX) {
        copy = acog_arena_copy(&reasons->texts, text);
    }
    if (copy.ptr == NULL) {
        return acog_view_of("a reason that is not kept: the policy gives too many different ones");
    }
    reasons->list[place] = copy;
    reasons->count++;
    return copy;
}
