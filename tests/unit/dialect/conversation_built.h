/* conversation_built.h - a conversation as a reader builds it, turn by turn, for tests. */
#ifndef ACOG_TESTS_UNIT_DIALECT_CONVERSATION_BUILT_H
#define ACOG_TESTS_UNIT_DIALECT_CONVERSATION_BUILT_H

#include "core/dialect/conversation.h"
#include "tests/support/check.h"

#include <string.h>

struct scene {
    struct acog_arena arena;
    struct acog_request_problem problem;
    struct acog_conversation conversation;
    struct acog_conversation_builder builder;
};

static inline void begin(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    acog_arena_init(&scene->arena, (size_t)1 << 20U);
    scene->conversation = (struct acog_conversation){
        .max_tokens = -1, .reasoning = {.effort = ACOG_EFFORT_COUNT, .budget_tokens = -1}};
    scene->builder = (struct acog_conversation_builder){
        .arena = &scene->arena, .conversation = &scene->conversation, .problem = &scene->problem};
}

static inline struct acog_json_value json(const char *text)
{
    struct acog_json_value value;
    struct acog_json_error error;
    assert_int_equal(acog_json_check(acog_view_of(text), 16, &value, &error), ACOG_OK);
    return value;
}

static inline struct acog_part *say(struct scene *scene, enum acog_turn_role role, const char *text)
{
    struct acog_part *part = acog_builder_part(&scene->builder, role, ACOG_PART_TEXT);
    part->text = json(text);
    return part;
}

static inline struct acog_part *call(struct scene *scene, const char *id, const char *arguments)
{
    struct acog_part *part =
        acog_builder_part(&scene->builder, ACOG_TURN_ASSISTANT, ACOG_PART_TOOL_CALL);
    part->id = acog_text_of(json(id));
    part->name = acog_text_plain(ACOG_VIEW("f"));
    part->arguments = acog_text_plain(acog_view_of(arguments));
    return part;
}

#endif
