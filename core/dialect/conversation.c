/* conversation.c - building a conversation, part by part and field by field. */
#include "conversation.h"

#include "acog/contract.h"

#include <stdarg.h>
#include <string.h>

void acog_problem_set_list(struct acog_request_problem *problem, const char *fmt, va_list args)
{
    struct acog_buffer text;
    acog_buffer_init_over(&text, problem->text, sizeof(problem->text) - 1);
    if (acog_buffer_format_list(&text, fmt, args) != ACOG_OK) {
        (void)!acog_buffer_append(&text, ACOG_VIEW("the request cannot be translated"));
    }
    problem->text[text.len] = '\0';
}

void acog_builder_refuse(struct acog_conversation_builder *builder, const char *fmt, ...)
{
    if (builder->code != ACOG_OK) {
        return;
    }
    builder->code = ACOG_INVALID;
    va_list args;
    va_start(args, fmt);
    acog_problem_set_list(builder->problem, fmt, args);
    va_end(args);
}

void *acog_builder_take(struct acog_conversation_builder *builder, size_t bytes)
{
    void *memory = builder->code == ACOG_OK ? acog_arena_take(builder->arena, bytes) : NULL;
    if (memory == NULL && builder->code == ACOG_OK) {
        builder->code = ACOG_NO_MEMORY;
    }
    return memory;
}

/* -- parts ----------------------------------------------------------------------------------------- */

static struct acog_part *new_part(struct acog_conversation_builder *builder,
                                  enum acog_part_kind kind)
{
    struct acog_part *part = acog_builder_take(builder, sizeof(*part));
    if (part != NULL) {
        part->kind = kind;
        part->opaque = acog_opaque_none();
    }
    return part;
}

struct acog_part *acog_part_append(struct acog_part_list *list, struct acog_part *part)
{
    if (part == NULL) {
        return NULL;
    }
    if (list->first == NULL) {
        list->first = part;
    } else {
        list->last->next = part;
    }
    list->last = part;
    return part;
}

struct acog_part *acog_builder_part(struct acog_conversation_builder *builder,
                                    enum acog_turn_role role, enum acog_part_kind kind)
{
    struct acog_turn *turn = builder->turn;
    if (turn == NULL || turn->role != role) {
        struct acog_turn *added = acog_builder_take(builder, sizeof(*added));
        if (added == NULL) {
            return NULL;
        }
        added->role = role;
        if (turn == NULL) {
            builder->conversation->turns = added;
        } else {
            turn->next = added;
        }
        builder->turn = added;
        turn = added;
    }
    return acog_part_append(&turn->parts, new_part(builder, kind));
}

struct acog_part *acog_builder_system(struct acog_conversation_builder *builder)
{
    return acog_part_append(&builder->conversation->system, new_part(builder, ACOG_PART_TEXT));
}

struct acog_part *acog_builder_result_part(struct acog_conversation_builder *builder,
                                           struct acog_part *result, enum acog_part_kind kind)
{
    ACOG_ASSERT(result->kind == ACOG_PART_TOOL_RESULT);
    return acog_part_append(&result->content, new_part(builder, kind));
}

struct acog_tool *acog_builder_tool(struct acog_conversation_builder *builder)
{
    struct acog_tool *tool = acog_builder_take(builder, sizeof(*tool));
    if (tool != NULL) {
        struct acog_tool **end = builder->tool_end;
        if (end == NULL) {
            end = &builder->conversation->tools;
        }
        *end = tool;
        builder->tool_end = &tool->next;
    }
    return tool;
}

bool acog_turn_has(const struct acog_turn *turn, enum acog_part_kind kind)
{
    const struct acog_part *part = turn->parts.first;
    while (part != NULL && part->kind != kind) {
        part = part->next;
    }
    return part != NULL;
}

struct acog_view acog_builder_characters(struct acog_conversation_builder *builder,
                                         struct acog_text text)
{
    struct acog_view characters = {0};
    if (builder->code == ACOG_OK) {
        builder->code = acog_text_characters(text, builder->arena, &characters);
    }
    return characters;
}

/* -- fields ---------------------------------------------------------------------------------------- */

struct acog_view acog_field_name(enum acog_field field, enum acog_dialect dialect)
{
    static const char *const names[ACOG_FIELD_COUNT][ACOG_DIALECT_COUNT] = {
#define ACOG_FIELD(name, chat, messages, responses, gemini, lost) \
    [ACOG_FIELD_##name] = {chat, messages, responses, gemini},
#include "field.def"
#undef ACOG_FIELD
    };
    return acog_view_of(names[field][dialect]);
}

/* Each name once; a body may hold millions of them, and the header that names them has room for few. */
static bool is_worth_naming(const struct acog_conversation *conversation,
                            struct acog_json_value name)
{
    const struct acog_unknown_field *unknown = conversation->unknown;
    size_t count = 0;
    while (unknown != NULL && !acog_view_equal(unknown->name.raw, name.raw)) {
        unknown = unknown->next;
        count++;
    }
    return unknown == NULL && count < ACOG_UNKNOWN_FIELDS_MAX;
}

void acog_builder_unknown(struct acog_conversation_builder *builder, struct acog_json_value name)
{
    if (!is_worth_naming(builder->conversation, name)) {
        return;
    }
    struct acog_unknown_field *unknown = acog_builder_take(builder, sizeof(*unknown));
    if (unknown != NULL) {
        unknown->name = name;
        unknown->next = builder->conversation->unknown;
        builder->conversation->unknown = unknown;
    }
}

void acog_builder_unknown_member(struct acog_conversation_builder *builder, struct acog_view object,
                                 struct acog_json_value key)
{
    size_t bytes = object.len + 1 + key.raw.len;
    char *name = NULL;
    if (key.type == ACOG_JSON_STRING) { /* an element of a list has none */
        name = acog_builder_take(builder, bytes);
    }
    if (name != NULL) {
        name[0] = '"';
        memcpy(name + 1, object.ptr, object.len);
        name[1 + object.len] = '.';
        memcpy(name + object.len + 2, key.raw.ptr + 1, key.raw.len - 1);
        acog_builder_unknown(builder, (struct acog_json_value){.raw = {.ptr = name, .len = bytes},
                                                               .type = ACOG_JSON_STRING,
                                                               .escaped = key.escaped});
    }
}

static bool says_nothing(struct acog_json_value value)
{
    struct acog_json_cursor cursor = acog_json_enter(value);
    return value.type == ACOG_JSON_NULL || value.type == ACOG_JSON_FALSE ||
           (value.type == ACOG_JSON_ARRAY && !acog_json_next(&cursor));
}

void acog_builder_unknown_members(struct acog_conversation_builder *builder,
                                  struct acog_view object_name, struct acog_json_value object,
                                  const struct acog_view *known, size_t count)
{
    struct acog_json_cursor cursor = acog_json_enter(object);
    while (cursor.object && acog_json_next(&cursor)) {
        bool found = says_nothing(cursor.value);
        for (size_t i = 0; i < count && !found; i++) {
            found = acog_json_key_is(&cursor, known[i]);
        }
        if (!found) {
            acog_builder_unknown_member(builder, object_name, cursor.key);
        }
    }
}

void acog_builder_field(struct acog_conversation_builder *builder, enum acog_dialect dialect,
                        struct acog_json_value name, struct acog_json_value value)
{
    if (builder->code != ACOG_OK || value.type == ACOG_JSON_NULL) {
        return;
    }
    for (int field = 0; field < ACOG_FIELD_COUNT; field++) {
        struct acog_view known = acog_field_name((enum acog_field)field, dialect);
        if (known.len > 0 && acog_json_text_is(name, known)) {
            builder->conversation->fields[field] = value;
            return;
        }
    }
    acog_builder_unknown(builder, name);
}
