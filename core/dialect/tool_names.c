/* tool_names.c - names of functions, as the upstream takes them.
 *
 * FACTS: chat "a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64" (openai.openapi.json,
 * FunctionObject), responses 128 of them (FunctionToolParam), messages '^[a-zA-Z0-9_-]{1,128}$' (its 400), Gemini "Must
 * start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots (.), colons (:), or
 * dashes (-), with a maximum length of 64." (its 400).
 *
 * A name that is not taken is told as its beginning and a hash of it (identity.h), the same in the list of tools, the
 * choice and the history, and a call comes back under the client's own. No two tools are told as one: where that name is
 * another's, the hash is counted up.
 */
#include "id_index.h"
#include "put.h"

#include <string.h>

bool acog_tool_name_fits(enum acog_dialect dialect, struct acog_view name)
{
    static const size_t bytes_max[] = {
        [ACOG_DIALECT_CHAT] = 64,
        [ACOG_DIALECT_MESSAGES] = 128,
        [ACOG_DIALECT_RESPONSES] = 128,
        [ACOG_DIALECT_GEMINI] = 64,
    };
    bool gemini = dialect == ACOG_DIALECT_GEMINI;
    bool fits = name.len > 0 && name.len <= bytes_max[dialect];
    for (size_t i = 0; i < name.len && fits; i++) {
        char byte = name.ptr[i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
        bool first = gemini && i == 0;
        fits = letter || (!first && ((byte >= '0' && byte <= '9') || byte == '-')) ||
               (!first && gemini && (byte == '.' || byte == ':'));
    }
    return fits;
}

/* The client's name, where the upstream does not take it and no reader has found another; else empty. */
static struct acog_view unfit_name(struct acog_request_writer *writer, const struct acog_tool *tool)
{
    const struct acog_view none = {0};
    if (tool->identity != NULL) {
        return none;
    }
    struct acog_view name = acog_writer_characters(writer, acog_text_of(tool->name));
    return acog_tool_name_fits(writer->translation->upstream, name) ? none : name;
}

/* A tool whose input is a text may have the name of a function, and is told under another. */
static const struct acog_tool_identity *find_function(const struct acog_tool_identity *list,
                                                      const struct acog_tool_identity *same)
{
    const struct acog_tool_identity *found = acog_identity_find(list, same);
    while (found != NULL && found->custom) {
        found = acog_identity_find(found->next, same);
    }
    return found;
}

static void identify(struct acog_request_writer *writer, struct acog_view name,
                     struct acog_id_index *taken)
{
    const struct acog_tool_identity made = acog_identity_make((struct acog_view){0}, name);
    if (find_function(writer->identities, &made) != NULL) {
        return; /* the client has two tools of that name: what it means its upstream says */
    }
    struct acog_tool_identity *identity = acog_arena_take(writer->arena, sizeof(*identity));
    char *memory = acog_arena_take(writer->arena, ACOG_IDENTITY_TOLD_MAX);
    if (identity == NULL || memory == NULL) {
        writer->code = ACOG_NO_MEMORY;
        return;
    }
    *identity = made;
    struct acog_tool_identity counted = *identity;
    identity->told = acog_identity_told_name(&counted, true, memory);
    while (acog_id_index_find(taken, identity->told) != NULL) {
        counted.hash++;
        identity->told = acog_identity_told_name(&counted, true, memory);
    }
    acog_id_index_add(taken, identity->told, identity);
    identity->next = writer->identities;
    writer->identities = identity;
}

void acog_put_prepare_tool_names(struct acog_request_writer *writer)
{
    const struct acog_tool *tools = writer->conversation->tools;
    struct acog_id_index taken = {.slots = NULL};
    size_t count = 0;
    size_t unfit = 0;
    writer->identities = writer->conversation->identities;
    for (const struct acog_tool *tool = tools; tool != NULL; tool = tool->next) {
        unfit += unfit_name(writer, tool).len > 0 ? 1 : 0;
        count++;
    }
    if (unfit == 0 || writer->code != ACOG_OK) {
        return;
    }
    writer->code = acog_id_index_init(&taken, count + unfit, writer->arena);
    for (const struct acog_tool *tool = tools; tool != NULL && writer->code == ACOG_OK;
         tool = tool->next) {
        acog_id_index_add(&taken, acog_writer_characters(writer, acog_text_of(tool->name)), writer);
    }
    for (const struct acog_tool *tool = tools; tool != NULL && writer->code == ACOG_OK;
         tool = tool->next) {
        struct acog_view name = unfit_name(writer, tool);
        if (name.len > 0) {
            identify(writer, name, &taken);
        }
    }
}

void acog_put_tool_name(struct acog_request_writer *writer, struct acog_text name)
{
    char memory[ACOG_IDENTITY_TOLD_MAX];
    struct acog_view characters = acog_writer_characters(writer, name);
    if (acog_tool_name_fits(writer->translation->upstream, characters)) {
        acog_put_string(writer, name);
        return;
    }
    const struct acog_tool_identity called = acog_identity_make((struct acog_view){0}, characters);
    const struct acog_tool_identity *known = find_function(writer->identities, &called);
    acog_put_string(writer, acog_text_plain(known != NULL
                                                ? known->told
                                                : acog_identity_told_name(&called, true, memory)));
}
