/* identity.c - names that every upstream takes, and the way back from them. */
#include "identity.h"

#include "acog/memory.h"
#include "id_index.h"

#include <string.h>

#define HASH_DIGITS 8U

struct acog_tool_identity acog_identity_make(struct acog_view name_space, struct acog_view name)
{
    return (struct acog_tool_identity){.name_space = name_space,
                                       .name = name,
                                       .hash = acog_id_hash(name_space) * 31 + acog_id_hash(name)};
}

/* Google wants a letter or "_" first. */
static bool is_legal(char byte, bool first)
{
    bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
    return letter || (!first && ((byte >= '0' && byte <= '9') || byte == '-'));
}

struct acog_view acog_identity_told_name(const struct acog_tool_identity *identity, bool cut,
                                         char memory[ACOG_IDENTITY_TOLD_MAX])
{
    const struct acog_view pieces[] = {
        identity->name_space,
        identity->name_space.len > 0 ? ACOG_VIEW("__") : (struct acog_view){0}, identity->name};
    size_t bytes = pieces[0].len + pieces[1].len + pieces[2].len;
    size_t len = 0;
    cut = cut || bytes > ACOG_IDENTITY_TOLD_MAX;
    size_t most = cut ? ACOG_IDENTITY_TOLD_MAX - 1 - HASH_DIGITS : bytes;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        for (size_t at = 0; at < pieces[i].len && len < most; at++) {
            memory[len] = pieces[i].ptr[at];
            if (!is_legal(memory[len], len == 0)) {
                memory[len] = '_';
            }
            len++;
        }
    }
    if (cut) {
        memory[len++] = '_';
        for (unsigned int shift = HASH_DIGITS * 4; shift > 0; shift -= 4) {
            memory[len++] = "0123456789abcdef"[(identity->hash >> (shift - 4)) & 0xfU];
        }
    }
    return (struct acog_view){.ptr = memory, .len = len};
}

const struct acog_tool_identity *acog_identity_find(const struct acog_tool_identity *list,
                                                    const struct acog_tool_identity *same)
{
    while (list != NULL && (list->hash != same->hash || !acog_view_equal(list->name, same->name) ||
                            !acog_view_equal(list->name_space, same->name_space))) {
        list = list->next;
    }
    return list;
}

const struct acog_tool_identity *acog_identity_find_told(const struct acog_tool_identity *list,
                                                         struct acog_view told)
{
    while (list != NULL && !acog_view_equal(list->told, told)) {
        list = list->next;
    }
    return list;
}

static struct acog_view copy_view(char **end, struct acog_view view)
{
    struct acog_view copy = {.ptr = *end, .len = view.len};
    if (view.len > 0) {
        memcpy(*end, view.ptr, view.len);
        *end += view.len;
    }
    return copy;
}

enum acog_code acog_identities_copy(const struct acog_tool_identity *list,
                                    struct acog_tool_identity **copy)
{
    size_t count = 0;
    size_t bytes = 0;
    for (const struct acog_tool_identity *from = list; from != NULL; from = from->next) {
        count++;
        bytes += from->name_space.len + from->name.len + from->told.len;
    }
    *copy = count == 0 ? NULL : acog_new(count * sizeof(**copy) + bytes);
    if (*copy == NULL) {
        return count == 0 ? ACOG_OK : ACOG_NO_MEMORY;
    }
    struct acog_tool_identity *to = *copy;
    char *end = (char *)(to + count);
    for (; list != NULL; list = list->next, to++) {
        *to = *list;
        to->name_space = copy_view(&end, list->name_space);
        to->name = copy_view(&end, list->name);
        to->told = copy_view(&end, list->told);
        to->next = list->next == NULL ? NULL : to + 1;
    }
    return ACOG_OK;
}
