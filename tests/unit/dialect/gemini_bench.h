/* gemini_bench.h - for the tests of what is sent to generateContent: a conversation built part by part, and what it is
 * written as.
 */
#ifndef ACOG_TESTS_UNIT_DIALECT_GEMINI_BENCH_H
#define ACOG_TESTS_UNIT_DIALECT_GEMINI_BENCH_H

#include "core/dialect/conversation.h"
#include "core/dialect/write_gemini.h"
#include "tests/support/check.h"

#include <string.h>

#define OUT_BYTES_MAX ((size_t)1 << 20U)

/* A conversation under construction, and what became of it. */
struct bench {
    struct acog_arena arena;
    struct acog_conversation conversation;
    struct acog_request_problem problem;
    struct acog_conversation_builder builder;
    struct acog_model_rules rules;
    struct acog_translation translation;
    struct acog_buffer out;
    char dropped[ACOG_DROPPED_BYTES_MAX];
    struct acog_view dropped_names;
};

static inline struct acog_json_value json(const char *raw)
{
    struct acog_json_value value = {.type = ACOG_JSON_NULL};
    struct acog_json_error error;
    assert_int_equal(acog_json_check(acog_view_of(raw), 128, &value, &error), ACOG_OK);
    return value;
}

static inline struct acog_text text(const char *characters)
{
    return acog_text_plain(acog_view_of(characters));
}

static inline void begin(struct bench *bench, enum acog_surface surface)
{
    memset(bench, 0, sizeof(*bench));
    acog_arena_init(&bench->arena, OUT_BYTES_MAX);
    acog_buffer_init(&bench->out, OUT_BYTES_MAX);
    bench->conversation = (struct acog_conversation){
        .surface = surface,
        .max_tokens = -1,
        .reasoning = {.effort = ACOG_EFFORT_COUNT, .budget_tokens = -1},
    };
    bench->builder = (struct acog_conversation_builder){
        .arena = &bench->arena, .conversation = &bench->conversation, .problem = &bench->problem};
    bench->rules = (struct acog_model_rules){
        .temperature = true,
        .temperature_max = 2.0,
        .top_k = true,
        .penalties = true,
        .stop = true,
        .default_output_tokens = 4096,
        .largest_output_tokens = -1,
    };
    bench->translation = (struct acog_translation){
        .upstream = ACOG_DIALECT_GEMINI, .rules = &bench->rules, .max_tokens = -1};
}

static inline void third_generation(struct bench *bench)
{
    bench->rules.thinking = ACOG_THINKING_EFFORT;
    bench->rules.efforts =
        ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_MEDIUM) | ACOG_BIT(ACOG_EFFORT_HIGH);
}

static inline struct acog_part *say(struct bench *bench, enum acog_turn_role role,
                                    const char *string)
{
    struct acog_part *part = acog_builder_part(&bench->builder, role, ACOG_PART_TEXT);
    assert_non_null(part);
    part->text = json(string);
    return part;
}

static inline struct acog_part *call(struct bench *bench, const char *id, const char *name,
                                     const char *arguments)
{
    struct acog_part *part =
        acog_builder_part(&bench->builder, ACOG_TURN_ASSISTANT, ACOG_PART_TOOL_CALL);
    assert_non_null(part);
    part->id = text(id);
    part->name = text(name);
    part->arguments = text(arguments);
    return part;
}

static inline struct acog_part *result(struct bench *bench, const char *id, const char *string)
{
    struct acog_part *part =
        acog_builder_part(&bench->builder, ACOG_TURN_USER, ACOG_PART_TOOL_RESULT);
    assert_non_null(part);
    part->id = text(id);
    if (string != NULL) {
        struct acog_part *inner = acog_builder_result_part(&bench->builder, part, ACOG_PART_TEXT);
        assert_non_null(inner);
        inner->text = json(string);
    }
    return part;
}

static inline struct acog_part *medium(struct bench *bench, enum acog_media_source source,
                                       const char *type, const char *data)
{
    struct acog_part *part = acog_builder_part(&bench->builder, ACOG_TURN_USER, ACOG_PART_MEDIA);
    assert_non_null(part);
    part->media.source = source;
    part->media.media_type = acog_view_of(type);
    part->media.data = text(data);
    return part;
}

static inline struct acog_part *reasoning(struct bench *bench, enum acog_dialect maker,
                                          const char *string, const char *bytes)
{
    struct acog_part *part =
        acog_builder_part(&bench->builder, ACOG_TURN_ASSISTANT, ACOG_PART_REASONING);
    assert_non_null(part);
    if (string != NULL) {
        part->text = json(string);
    }
    part->opaque = (struct acog_opaque){.maker = maker, .bytes = text(bytes)};
    return part;
}

static inline struct acog_tool *tool(struct bench *bench, const char *name, const char *schema)
{
    struct acog_tool *declared = acog_builder_tool(&bench->builder);
    assert_non_null(declared);
    declared->name = json(name);
    if (schema != NULL) {
        declared->schema = json(schema);
    }
    return declared;
}

static inline void write(struct bench *bench)
{
    struct acog_json_value value;
    struct acog_json_error error;
    acog_builder_finish(&bench->builder);
    assert_string_equal(bench->problem.text, "");
    assert_int_equal(bench->builder.code, ACOG_OK);
    assert_null(acog_gemini_objection(&bench->conversation, &bench->rules));
    struct acog_request_writer writer = {.conversation = &bench->conversation,
                                         .translation = &bench->translation,
                                         .arena = &bench->arena,
                                         .out = &bench->out};
    acog_buffer_init_over(&writer.dropped, bench->dropped, sizeof(bench->dropped));
    acog_gemini_write_conversation(&writer);
    assert_int_equal(writer.code, ACOG_OK);
    assert_int_equal(acog_json_check(acog_buffer_view(&bench->out), 128, &value, &error), ACOG_OK);
    bench->dropped_names = acog_buffer_view(&writer.dropped);
}

static inline void end(struct bench *bench)
{
    acog_buffer_fini(&bench->out);
    acog_arena_fini(&bench->arena);
}

static inline void assert_text(struct acog_view found, const char *expected)
{
    char copy[4096];
    assert_true(found.len < sizeof(copy));
    memcpy(copy, found.len > 0 ? found.ptr : "", found.len);
    copy[found.len] = '\0';
    assert_string_equal(copy, expected);
}

/* The whole body, and the names of what is not in it; then the bench is done. */
static inline void assert_written(struct bench *bench, const char *body, const char *dropped)
{
    write(bench);
    assert_text(acog_buffer_view(&bench->out), body);
    assert_text(bench->dropped_names, dropped);
    end(bench);
}

#define HELLO "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hello\"}]}]"

static inline void begin_hello(struct bench *bench, enum acog_surface surface)
{
    begin(bench, surface);
    say(bench, ACOG_TURN_USER, "\"hello\"");
}

#endif
