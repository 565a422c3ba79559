/* write_gemini_test.c - conversations as requests of generateContent. */
#include "core/dialect/write_gemini.h"

#include "core/dialect/conversation.h"
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

static struct acog_json_value json(const char *raw)
{
    struct acog_json_value value = {.type = ACOG_JSON_NULL};
    struct acog_json_error error;
    assert_int_equal(acog_json_check(acog_view_of(raw), 128, &value, &error), ACOG_OK);
    return value;
}

static struct acog_text text(const char *characters)
{
    return acog_text_plain(acog_view_of(characters));
}

static void begin(struct bench *bench, enum acog_surface surface)
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
        .stop = true,
        .default_output_tokens = 4096,
        .largest_output_tokens = -1,
    };
    bench->translation = (struct acog_translation){
        .upstream = ACOG_DIALECT_GEMINI, .rules = &bench->rules, .max_tokens = -1};
}

static void third_generation(struct bench *bench)
{
    bench->rules.thinking = ACOG_THINKING_EFFORT;
    bench->rules.efforts =
        ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_MEDIUM) | ACOG_BIT(ACOG_EFFORT_HIGH);
}

static struct acog_part *say(struct bench *bench, enum acog_turn_role role, const char *string)
{
    struct acog_part *part = acog_builder_part(&bench->builder, role, ACOG_PART_TEXT);
    assert_non_null(part);
    part->text = json(string);
    return part;
}

static struct acog_part *call(struct bench *bench, const char *id, const char *name,
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

static struct acog_part *result(struct bench *bench, const char *id, const char *string)
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

static struct acog_part *medium(struct bench *bench, enum acog_media_source source,
                                const char *type, const char *data)
{
    struct acog_part *part = acog_builder_part(&bench->builder, ACOG_TURN_USER, ACOG_PART_MEDIA);
    assert_non_null(part);
    part->media.source = source;
    part->media.media_type = acog_view_of(type);
    part->media.data = text(data);
    return part;
}

static struct acog_part *reasoning(struct bench *bench, enum acog_dialect maker, const char *string,
                                   const char *bytes)
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

static struct acog_tool *tool(struct bench *bench, const char *name, const char *schema)
{
    struct acog_tool *declared = acog_builder_tool(&bench->builder);
    assert_non_null(declared);
    declared->name = json(name);
    if (schema != NULL) {
        declared->schema = json(schema);
    }
    return declared;
}

static void write(struct bench *bench)
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

static void end(struct bench *bench)
{
    acog_buffer_fini(&bench->out);
    acog_arena_fini(&bench->arena);
}

static void assert_text(struct acog_view found, const char *expected)
{
    char copy[4096];
    assert_true(found.len < sizeof(copy));
    memcpy(copy, found.len > 0 ? found.ptr : "", found.len);
    copy[found.len] = '\0';
    assert_string_equal(copy, expected);
}

/* The whole body, and the names of what is not in it; then the bench is done. */
static void assert_written(struct bench *bench, const char *body, const char *dropped)
{
    write(bench);
    assert_text(acog_buffer_view(&bench->out), body);
    assert_text(bench->dropped_names, dropped);
    end(bench);
}

#define HELLO "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hello\"}]}]"

static void begin_hello(struct bench *bench, enum acog_surface surface)
{
    begin(bench, surface);
    say(bench, ACOG_TURN_USER, "\"hello\"");
}

/* -- contents -------------------------------------------------------------------------------------- */

static void texts_keep_their_escapes_and_roles_are_user_and_model(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    say(&bench, ACOG_TURN_USER, "\"\\u00e9 \\\"quoted\\\"\"");
    say(&bench, ACOG_TURN_ASSISTANT, "\"yes\"");
    say(&bench, ACOG_TURN_USER, "\"go on\"");
    assert_written(&bench,
                   "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"\\u00e9 "
                   "\\\"quoted\\\"\"}]},{\"role\":\"model\",\"parts\":[{\"text\":\"yes\"}]},{"
                   "\"role\":\"user\",\"parts\":[{\"text\":\"go on\"}]}]}",
                   "");
}

/* B14 */
static void leading_system_texts_stand_apart_and_a_later_one_stays_in_place(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    acog_builder_system(&bench.builder)->text = json("\"Answer in French\"");
    acog_builder_system(&bench.builder)->text = json("\"Be brief\"");
    say(&bench, ACOG_TURN_USER, "\"hello\"");
    say(&bench, ACOG_TURN_ASSISTANT, "\"bonjour\"");
    say(&bench, ACOG_TURN_SYSTEM, "\"Now German\"");
    say(&bench, ACOG_TURN_USER, "\"and now?\"");
    assert_written(&bench,
                   "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hello\"}]},{\"role\":"
                   "\"model\",\"parts\":[{\"text\":\"bonjour\"}]},{\"role\":\"user\",\"parts\":[{"
                   "\"text\":\"<system>Now German</system>\"},{\"text\":\"and now?\"}]}],"
                   "\"systemInstruction\":{\"parts\":[{\"text\":\"Answer in French\"},{\"text\":"
                   "\"Be brief\"}]}}",
                   "messages.role");
}

/* B28, B39 */
static void another_providers_reasoning_is_left_out_and_leaves_no_empty_turn(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    say(&bench, ACOG_TURN_USER, "\"a\"");
    reasoning(&bench, ACOG_DIALECT_MESSAGES, "\"secret thought\"", "EqQB");
    say(&bench, ACOG_TURN_USER, "\"b\"");
    assert_written(
        &bench,
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"a\"},{\"text\":\"b\"}]}]}", "");
}

static void its_own_thoughts_and_signatures_go_back_as_they_came(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    say(&bench, ACOG_TURN_USER, "\"a\"");
    reasoning(&bench, ACOG_DIALECT_GEMINI, "\"hm\"", "U0lHMQ==");
    say(&bench, ACOG_TURN_ASSISTANT, "\"b\"");
    reasoning(&bench, ACOG_DIALECT_GEMINI, NULL, "U0lHMg==")->opaque.redacted = true;
    say(&bench, ACOG_TURN_USER, "\"c\"");
    assert_written(&bench,
                   "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"a\"}]},{\"role\":"
                   "\"model\",\"parts\":[{\"text\":\"hm\",\"thought\":true,\"thoughtSignature\":"
                   "\"U0lHMQ==\"},{\"text\":\"b\"},{\"text\":\"\",\"thoughtSignature\":\"U0lHMg=="
                   "\"}]},{\"role\":\"user\",\"parts\":[{\"text\":\"c\"}]}]}",
                   "");
}

static void reasoning_alone_is_no_request(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    reasoning(&bench, ACOG_DIALECT_MESSAGES, "\"thought\"", "EqQB");
    acog_builder_finish(&bench.builder);
    assert_non_null(acog_gemini_objection(&bench.conversation, &bench.rules));
    end(&bench);
}

/* -- calls and results ----------------------------------------------------------------------------- */

#define ASKED                                                                          \
    "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"rain?\"}]},{\"role\":\"" \
    "model\",\"parts\":["

/* B01: one turn holds all results; names come from the calls, ids tell equal names apart. */
static void parallel_results_stand_in_one_turn_with_names_and_ids(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "call_a", "rain", "{\"city\": \"Oslo\"}");
    call(&bench, "call_b", "rain", "{\"n\":1e400}");
    result(&bench, "call_b", "\"9 mm\"");
    result(&bench, "call_a", "\"2 mm\"");
    assert_written(
        &bench,
        ASKED "{\"functionCall\":{\"id\":\"call_a\",\"name\":\"rain\",\"args\":{\"city\": "
              "\"Oslo\"}}},{\"functionCall\":{\"id\":\"call_b\",\"name\":\"rain\",\"args\":{\"n\":"
              "1e400}}}]},{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"call_b\","
              "\"name\":\"rain\",\"response\":{\"output\":\"9 mm\"}}},{\"functionResponse\":{"
              "\"id\":\"call_a\",\"name\":\"rain\",\"response\":{\"output\":\"2 mm\"}}}]}]}",
        "");
}

/* A text that looks like JSON, or like the answer's own members, stays what the tool said. */
static void a_results_text_is_never_parsed(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "c", "f", "{}");
    result(&bench, "c", "\"{\\\"error\\\":1}\"");
    assert_written(&bench,
                   ASKED "{\"functionCall\":{\"id\":\"c\",\"name\":\"f\",\"args\":{}}}]},{\"role\":"
                         "\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"c\",\"name\":\"f\","
                         "\"response\":{\"output\":\"{\\\"error\\\":1}\"}}}]}]}",
                   "");
}

/* B25, B04 */
static void errors_several_texts_and_none_are_told_apart(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "u1", "f", "{}");
    call(&bench, "u2", "f", "{}");
    struct acog_part *failed = result(&bench, "u1", "\"disk full\"");
    failed->is_error = true;
    acog_builder_result_part(&bench.builder, failed, ACOG_PART_TEXT)->text = json("\"try /tmp\"");
    result(&bench, "u2", NULL);
    say(&bench, ACOG_TURN_USER, "\"use another path\"");
    assert_written(
        &bench,
        ASKED "{\"functionCall\":{\"id\":\"u1\",\"name\":\"f\",\"args\":{}}},{\"functionCall\":{"
              "\"id\":\"u2\",\"name\":\"f\",\"args\":{}}}]},{\"role\":\"user\",\"parts\":[{"
              "\"functionResponse\":{\"id\":\"u1\",\"name\":\"f\",\"response\":{\"error\":["
              "\"disk full\",\"try /tmp\"]}}},{\"functionResponse\":{\"id\":\"u2\",\"name\":\"f\","
              "\"response\":{\"output\":\"\"}}},{\"text\":\"use another path\"}]}]}",
        "");
}

static void a_calls_own_signature_goes_back_with_it(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    third_generation(&bench);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "c", "f", "{}")->opaque =
        (struct acog_opaque){.maker = ACOG_DIALECT_GEMINI, .bytes = text("U0lH")};
    call(&bench, "d", "f", "{}");
    result(&bench, "c", "\"1\"");
    result(&bench, "d", "\"2\"");
    write(&bench);
    struct acog_view body = acog_buffer_view(&bench.out);
    assert_true(acog_view_find(body, ACOG_VIEW("\"args\":{}},\"thoughtSignature\":\"U0lH\"},{"
                                               "\"functionCall\":{\"id\":\"d\",\"name\":\"f\","
                                               "\"args\":{}}}]")) < body.len);
    end(&bench);
}

/* A conversation that began at another provider: the third generation refuses a call without a signature. */
static void a_call_made_elsewhere_says_so_where_the_model_asks(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    third_generation(&bench);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "c", "f", "{}")->opaque =
        (struct acog_opaque){.maker = ACOG_DIALECT_MESSAGES, .bytes = text("EqQB")};
    call(&bench, "d", "f", "{}");
    result(&bench, "c", "\"1\"");
    result(&bench, "d", "\"2\"");
    write(&bench);
    struct acog_view body = acog_buffer_view(&bench.out);
    assert_true(acog_view_find(body, ACOG_VIEW("\"thoughtSignature\":\"skip_thought_signature_"
                                               "validator\"},{\"functionCall\":{\"id\":\"d\","
                                               "\"name\":\"f\",\"args\":{}}}]")) < body.len);
    end(&bench);
}

static void add_picture(struct bench *bench, struct acog_part *of)
{
    struct acog_part *part = acog_builder_result_part(&bench->builder, of, ACOG_PART_MEDIA);
    assert_non_null(part);
    part->media = (struct acog_media){.media_type = ACOG_VIEW("image/png"), .data = text("iVBO")};
}

static void a_picture_in_a_result_lies_inside_it_where_the_model_takes_that(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    third_generation(&bench);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "c", "f", "{}");
    add_picture(&bench, result(&bench, "c", "\"see\""));
    write(&bench);
    struct acog_view body = acog_buffer_view(&bench.out);
    assert_true(acog_view_find(body, ACOG_VIEW("\"response\":{\"output\":\"see\"},\"parts\":[{"
                                               "\"inlineData\":{\"mimeType\":\"image/png\","
                                               "\"data\":\"iVBO\"}}]}}]}]}")) < body.len);
    end(&bench);
}

static void elsewhere_it_stands_behind_all_results(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "c", "f", "{}");
    call(&bench, "d", "f", "{}");
    add_picture(&bench, result(&bench, "c", "\"see\""));
    result(&bench, "d", "\"2\"");
    say(&bench, ACOG_TURN_USER, "\"well?\"");
    write(&bench);
    struct acog_view body = acog_buffer_view(&bench.out);
    assert_true(acog_view_find(body, ACOG_VIEW("{\"output\":\"2\"}}},{\"inlineData\":{\"mimeType\":"
                                               "\"image/png\",\"data\":\"iVBO\"}},{\"text\":"
                                               "\"well?\"}]}]}")) < body.len);
    end(&bench);
}

/* -- media ----------------------------------------------------------------------------------------- */

/* B16 */
static void bytes_are_inline_and_addresses_go_as_they_are(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    medium(&bench, ACOG_MEDIA_BASE64, "image/png", "iVBORw0KGgo=");
    medium(&bench, ACOG_MEDIA_URL, "", "https://img.example/x.webp?sig=a%2Bb");
    medium(&bench, ACOG_MEDIA_URL, "", "https://www.youtube.com/watch?v=1");
    medium(&bench, ACOG_MEDIA_URL, "video/mp4", "gs://bucket/clip");
    medium(&bench, ACOG_MEDIA_TEXT, "text/plain", "a plain text");
    assert_written(
        &bench,
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"inlineData\":{\"mimeType\":\"image/png\","
        "\"data\":\"iVBORw0KGgo=\"}},{\"fileData\":{\"mimeType\":\"image/webp\",\"fileUri\":"
        "\"https://img.example/x.webp?sig=a%2Bb\"}},{\"fileData\":{\"fileUri\":"
        "\"https://www.youtube.com/watch?v=1\"}},{\"fileData\":{\"mimeType\":\"video/mp4\","
        "\"fileUri\":\"gs://bucket/clip\"}},{\"text\":\"a plain text\"}]}]}",
        "");
}

static void a_name_and_a_detail_of_a_medium_are_named_as_lost(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    struct acog_part *part = medium(&bench, ACOG_MEDIA_BASE64, "application/pdf", "JVBERi0=");
    part->media.name = json("\"report.pdf\"");
    part->media.detail = json("\"high\"");
    medium(&bench, ACOG_MEDIA_BASE64, "image/png", "iVBO")->media.detail = json("\"auto\"");
    write(&bench);
    assert_text(bench.dropped_names, "messages.filename, messages.detail");
    end(&bench);
}

static void a_file_at_another_provider_is_refused_wherever_it_stands(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    medium(&bench, ACOG_MEDIA_FILE_ID, "", "file_1");
    assert_non_null(acog_gemini_objection(&bench.conversation, &bench.rules));
    end(&bench);
    begin_hello(&bench, ACOG_SURFACE_MESSAGES);
    call(&bench, "c", "f", "{}");
    struct acog_part *answered = result(&bench, "c", NULL);
    acog_builder_result_part(&bench.builder, answered, ACOG_PART_MEDIA)->media.source =
        ACOG_MEDIA_FILE_ID;
    assert_non_null(acog_gemini_objection(&bench.conversation, &bench.rules));
    end(&bench);
}

/* B18: the markers cannot go along, and the client is told. */
static void cache_markers_are_named_as_lost(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    struct acog_json_value marker = json("{\"type\":\"ephemeral\"}");
    struct acog_part *system = acog_builder_system(&bench.builder);
    system->text = json("\"long rules\"");
    system->cache = marker;
    say(&bench, ACOG_TURN_USER, "\"q\"")->cache = marker;
    tool(&bench, "\"f\"", NULL)->cache = marker;
    write(&bench);
    assert_text(bench.dropped_names,
                "messages.cache_control, system.cache_control, tools.cache_control");
    end(&bench);
}

/* -- tools ----------------------------------------------------------------------------------------- */

static void schemas_go_as_they_are(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    struct acog_tool *first =
        tool(&bench, "\"f\"", "{\"type\":\"object\", \"$ref\":\"#/x\",\"exclusiveMinimum\":0}");
    first->description = json("\"does \\u0066\"");
    first->strict = json("true");
    tool(&bench, "\"g\"", NULL)->strict = json("false");
    assert_written(&bench,
                   HELLO ",\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\",\"description\":"
                         "\"does \\u0066\",\"parametersJsonSchema\":{\"type\":\"object\", "
                         "\"$ref\":\"#/x\",\"exclusiveMinimum\":0}},{\"name\":\"g\"}]}]}",
                   "tools.strict");
}

/* B08 */
static void every_tool_choice_has_a_mode(void **state)
{
    static const struct {
        enum acog_tool_choice choice;
        const char *config;
    } rows[] = {
        {ACOG_TOOL_CHOICE_UNSET, ""},
        {ACOG_TOOL_CHOICE_AUTO, ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"AUTO\"}}"},
        {ACOG_TOOL_CHOICE_NONE, ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"NONE\"}}"},
        {ACOG_TOOL_CHOICE_REQUIRED,
         ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\"}}"},
        {ACOG_TOOL_CHOICE_NAMED, ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\","
                                 "\"allowedFunctionNames\":[\"f\"]}}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench bench;
        char expected[512];
        struct acog_buffer body;
        acog_buffer_init_over(&body, expected, sizeof(expected) - 1);
        begin_hello(&bench, ACOG_SURFACE_CHAT);
        tool(&bench, "\"f\"", NULL);
        bench.conversation.tool_choice = rows[i].choice;
        bench.conversation.tool_choice_name = json("\"f\"");
        assert_int_equal(acog_buffer_format(&body, "%s%s%s}", HELLO,
                                            ",\"tools\":[{\"functionDeclarations\":[{\"name\":"
                                            "\"f\"}]}]",
                                            rows[i].config),
                         ACOG_OK);
        expected[body.len] = '\0';
        assert_written(&bench, expected, "");
    }
}

static void one_call_at_a_time_cannot_be_asked_for(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    tool(&bench, "\"f\"", NULL);
    bench.conversation.parallel_off = true;
    write(&bench);
    assert_text(bench.dropped_names, "parallel_tool_calls");
    end(&bench);
    begin_hello(&bench, ACOG_SURFACE_MESSAGES);
    tool(&bench, "\"f\"", NULL);
    bench.conversation.parallel_off = true;
    write(&bench);
    assert_text(bench.dropped_names, "tool_choice.disable_parallel_tool_use");
    end(&bench);
}

/* -- generationConfig ------------------------------------------------------------------------------ */

static void sampling_keeps_its_numbers_and_what_has_no_place_is_named(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.conversation.fields[ACOG_FIELD_TEMPERATURE] = json("0.70");
    bench.conversation.fields[ACOG_FIELD_TOP_P] = json("9e-1");
    bench.conversation.fields[ACOG_FIELD_TOP_K] = json("40");
    bench.conversation.fields[ACOG_FIELD_FREQUENCY_PENALTY] = json("0.5");
    bench.conversation.fields[ACOG_FIELD_PRESENCE_PENALTY] = json("-0.5");
    bench.conversation.fields[ACOG_FIELD_SEED] = json("7");
    bench.conversation.fields[ACOG_FIELD_LOGIT_BIAS] = json("{}");
    bench.conversation.user = json("\"u-1\"");
    bench.conversation.max_tokens = 300;
    assert_written(&bench,
                   HELLO ",\"generationConfig\":{\"temperature\":0.70,\"topP\":9e-1,\"topK\":40,"
                         "\"frequencyPenalty\":0.5,\"presencePenalty\":-0.5,\"seed\":7,"
                         "\"maxOutputTokens\":300}}",
                   "logit_bias, user");
}

static void a_seed_of_more_than_32_bits_is_named_as_lost(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.conversation.fields[ACOG_FIELD_SEED] = json("2147483648");
    assert_written(&bench, HELLO "}", "seed");
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.conversation.fields[ACOG_FIELD_SEED] = json("-2147483648");
    assert_written(&bench, HELLO ",\"generationConfig\":{\"seed\":-2147483648}}", "");
}

/* B12 */
static void a_model_without_sampling_gets_none_and_a_hot_one_is_cooled(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.rules.temperature = false;
    bench.conversation.fields[ACOG_FIELD_TEMPERATURE] = json("1");
    bench.conversation.fields[ACOG_FIELD_TOP_P] = json("0.5");
    assert_written(&bench, HELLO "}", "top_p");
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.conversation.fields[ACOG_FIELD_TEMPERATURE] = json("2.5");
    assert_written(&bench, HELLO ",\"generationConfig\":{\"temperature\":2}}", "temperature");
}

static void a_limit_above_the_models_is_cut_and_what_was_sent_is_told(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_RESPONSES);
    bench.rules.largest_output_tokens = 8192;
    bench.conversation.max_tokens = 100000;
    write(&bench);
    assert_int_equal(bench.translation.max_tokens, 8192);
    assert_text(bench.dropped_names, "max_output_tokens");
    end(&bench);
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    write(&bench);
    assert_int_equal(bench.translation.max_tokens, -1); /* B10: nothing needs one here */
    end(&bench);
}

/* B11 */
static void five_stop_sequences_go_and_the_rest_is_named(void **state)
{
    struct bench bench;
    (void)state;
    struct acog_json_value stops[] = {json("\"\""),  json("\"A\""), json("\"\\n\""), json("\"C\""),
                                      json("\"D\""), json("\"E\""), json("\"F\"")};
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.conversation.stops = stops;
    bench.conversation.stop_count = 6;
    assert_written(&bench,
                   HELLO ",\"generationConfig\":{\"stopSequences\":[\"A\",\"\\n\",\"C\",\"D\","
                         "\"E\"]}}",
                   "stop");
    begin_hello(&bench, ACOG_SURFACE_MESSAGES);
    bench.conversation.stops = stops + 1;
    bench.conversation.stop_count = 6;
    assert_written(&bench,
                   HELLO ",\"generationConfig\":{\"stopSequences\":[\"A\",\"\\n\",\"C\",\"D\","
                         "\"E\"]}}",
                   "stop_sequences");
}

/* -- structured output ----------------------------------------------------------------------------- */

/* B20 */
static void a_schema_is_native_or_one_forced_tool(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.conversation.format = ACOG_FORMAT_SCHEMA;
    bench.conversation.schema = json("{\"type\":\"object\"}");
    assert_written(&bench,
                   HELLO ",\"generationConfig\":{\"responseMimeType\":\"application/json\","
                         "\"responseJsonSchema\":{\"type\":\"object\"}}}",
                   "");
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.rules.schema = ACOG_SCHEMA_TOOL;
    bench.conversation.format = ACOG_FORMAT_SCHEMA;
    bench.conversation.schema = json("{\"type\":\"object\"}");
    write(&bench);
    assert_true(bench.translation.schema_by_tool);
    assert_text(acog_buffer_view(&bench.out),
                HELLO ",\"tools\":[{\"functionDeclarations\":[{\"name\":\"structured_answer\","
                      "\"parametersJsonSchema\":{\"type\":\"object\"}}]}],\"toolConfig\":{"
                      "\"functionCallingConfig\":{\"mode\":\"ANY\",\"allowedFunctionNames\":["
                      "\"structured_answer\"]}}}");
    end(&bench);
}

static void any_json_is_a_media_type_alone(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.conversation.format = ACOG_FORMAT_JSON;
    assert_written(&bench,
                   HELLO ",\"generationConfig\":{\"responseMimeType\":\"application/json\"}}", "");
}

static void a_schema_beside_tools_is_refused_where_the_model_cannot(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    tool(&bench, "\"f\"", NULL);
    bench.conversation.format = ACOG_FORMAT_SCHEMA;
    bench.conversation.schema = json("{}");
    assert_non_null(acog_gemini_objection(&bench.conversation, &bench.rules));
    third_generation(&bench);
    assert_null(acog_gemini_objection(&bench.conversation, &bench.rules));
    bench.rules.schema = ACOG_SCHEMA_TOOL;
    assert_non_null(acog_gemini_objection(&bench.conversation, &bench.rules));
    bench.conversation.tools = NULL;
    bench.rules.schema = ACOG_SCHEMA_NONE;
    assert_non_null(acog_gemini_objection(&bench.conversation, &bench.rules));
    end(&bench);
}

/* -- thinking -------------------------------------------------------------------------------------- */

struct thinking_row {
    struct acog_reasoning_wish wish;
    int64_t max_tokens;
    unsigned efforts;
    const char *config; /* of thinkingConfig; NULL: none */
    const char *dropped;
};

#define NO_EFFORT ACOG_EFFORT_COUNT

static void check_thinking(enum acog_thinking thinking, const struct thinking_row *row)
{
    struct bench bench;
    char expected[512];
    struct acog_buffer member;
    acog_buffer_init_over(&member, expected, sizeof(expected) - 1);
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.rules.thinking = thinking;
    bench.rules.efforts = row->efforts;
    bench.conversation.max_tokens = row->max_tokens;
    bench.conversation.reasoning = row->wish;
    write(&bench);
    assert_text(bench.dropped_names, row->dropped);
    struct acog_view body = acog_buffer_view(&bench.out);
    if (row->config == NULL) {
        assert_true(acog_view_find(body, ACOG_VIEW("thinkingConfig")) == body.len);
    } else {
        assert_int_equal(acog_buffer_format(&member, "\"thinkingConfig\":{%s}}}", row->config),
                         ACOG_OK);
        expected[member.len] = '\0';
        assert_text(
            acog_view_slice(body, acog_view_find(body, ACOG_VIEW("\"thinkingConfig")), body.len),
            expected);
    }
    end(&bench);
}

/* B22 */
static void a_budget_follows_the_word_and_stays_below_the_limit(void **state)
{
    const unsigned always = ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_HIGH);
    const struct thinking_row rows[] = {
        {{.given = true, .effort = ACOG_EFFORT_LOW, .budget_tokens = -1},
         -1,
         0,
         "\"thinkingBudget\":4096",
         ""},
        {{.given = true, .effort = ACOG_EFFORT_MAX, .budget_tokens = -1},
         -1,
         0,
         "\"thinkingBudget\":24576",
         ""},
        {{.given = true, .effort = ACOG_EFFORT_HIGH, .budget_tokens = -1},
         2000,
         0,
         "\"thinkingBudget\":1999",
         ""},
        {{.given = true, .effort = ACOG_EFFORT_HIGH, .budget_tokens = -1},
         800,
         0,
         NULL,
         "reasoning_effort"},
        {{.given = true, .effort = NO_EFFORT, .budget_tokens = 5000, .summary = true},
         -1,
         0,
         "\"thinkingBudget\":5000,\"includeThoughts\":true",
         ""},
        {{.given = true, .effort = NO_EFFORT, .budget_tokens = -1, .adaptive = true},
         -1,
         0,
         "\"thinkingBudget\":-1",
         ""},
        {{.given = true, .off = true, .effort = NO_EFFORT, .budget_tokens = -1},
         -1,
         0,
         "\"thinkingBudget\":0",
         ""},
        {{.given = true, .off = true, .effort = NO_EFFORT, .budget_tokens = -1},
         -1,
         always,
         "\"thinkingBudget\":1024",
         "reasoning_effort"},
        {{.given = false, .effort = NO_EFFORT, .budget_tokens = -1}, -1, 0, NULL, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check_thinking(ACOG_THINKING_BUDGET, &rows[i]);
    }
}

static void a_level_is_the_nearest_word_that_the_model_takes(void **state)
{
    const unsigned words = ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_HIGH);
    const struct thinking_row rows[] = {
        {{.given = true, .effort = ACOG_EFFORT_HIGH, .budget_tokens = -1},
         -1,
         words,
         "\"thinkingLevel\":\"high\"",
         ""},
        {{.given = true,
          .effort = ACOG_EFFORT_MAX,
          .budget_tokens = -1}, /* no word of the dialect */
         -1,
         words | ACOG_BIT(ACOG_EFFORT_XHIGH) | ACOG_BIT(ACOG_EFFORT_MAX),
         "\"thinkingLevel\":\"high\"",
         "reasoning_effort"},
        {{.given = true, .effort = ACOG_EFFORT_MEDIUM, .budget_tokens = -1},
         -1,
         words,
         "\"thinkingLevel\":\"low\"",
         "reasoning_effort"},
        {{.given = true, .effort = ACOG_EFFORT_MINIMAL, .budget_tokens = -1},
         -1,
         words,
         "\"thinkingLevel\":\"low\"",
         "reasoning_effort"},
        {{.given = true, .effort = NO_EFFORT, .budget_tokens = 20000, .summary = true},
         -1,
         words,
         "\"thinkingLevel\":\"high\",\"includeThoughts\":true",
         ""},
        {{.given = true, .effort = NO_EFFORT, .budget_tokens = -1, .summary = true},
         -1,
         words,
         "\"includeThoughts\":true",
         ""},
        {{.given = true, .effort = NO_EFFORT, .budget_tokens = -1, .adaptive = true},
         -1,
         words,
         NULL,
         ""},
        {{.given = true, .off = true, .effort = NO_EFFORT, .budget_tokens = -1},
         -1,
         words | ACOG_BIT(ACOG_EFFORT_NONE),
         "\"thinkingLevel\":\"low\"",
         "reasoning_effort"},
        {{.given = true, .effort = ACOG_EFFORT_LOW, .budget_tokens = -1},
         -1,
         0,
         NULL,
         "reasoning_effort"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check_thinking(ACOG_THINKING_EFFORT, &rows[i]);
    }
}

static void a_model_that_cannot_think_is_not_told_to(void **state)
{
    const struct thinking_row rows[] = {
        {{.given = true, .effort = ACOG_EFFORT_HIGH, .budget_tokens = -1},
         -1,
         0,
         NULL,
         "reasoning_effort"},
        {{.given = true, .off = true, .effort = NO_EFFORT, .budget_tokens = -1}, -1, 0, NULL, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check_thinking(ACOG_THINKING_NONE, &rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_keep_their_escapes_and_roles_are_user_and_model),
        cmocka_unit_test(leading_system_texts_stand_apart_and_a_later_one_stays_in_place),
        cmocka_unit_test(another_providers_reasoning_is_left_out_and_leaves_no_empty_turn),
        cmocka_unit_test(its_own_thoughts_and_signatures_go_back_as_they_came),
        cmocka_unit_test(reasoning_alone_is_no_request),
        cmocka_unit_test(parallel_results_stand_in_one_turn_with_names_and_ids),
        cmocka_unit_test(a_results_text_is_never_parsed),
        cmocka_unit_test(errors_several_texts_and_none_are_told_apart),
        cmocka_unit_test(a_calls_own_signature_goes_back_with_it),
        cmocka_unit_test(a_call_made_elsewhere_says_so_where_the_model_asks),
        cmocka_unit_test(a_picture_in_a_result_lies_inside_it_where_the_model_takes_that),
        cmocka_unit_test(elsewhere_it_stands_behind_all_results),
        cmocka_unit_test(bytes_are_inline_and_addresses_go_as_they_are),
        cmocka_unit_test(a_name_and_a_detail_of_a_medium_are_named_as_lost),
        cmocka_unit_test(a_file_at_another_provider_is_refused_wherever_it_stands),
        cmocka_unit_test(cache_markers_are_named_as_lost),
        cmocka_unit_test(schemas_go_as_they_are),
        cmocka_unit_test(every_tool_choice_has_a_mode),
        cmocka_unit_test(one_call_at_a_time_cannot_be_asked_for),
        cmocka_unit_test(sampling_keeps_its_numbers_and_what_has_no_place_is_named),
        cmocka_unit_test(a_seed_of_more_than_32_bits_is_named_as_lost),
        cmocka_unit_test(a_model_without_sampling_gets_none_and_a_hot_one_is_cooled),
        cmocka_unit_test(a_limit_above_the_models_is_cut_and_what_was_sent_is_told),
        cmocka_unit_test(five_stop_sequences_go_and_the_rest_is_named),
        cmocka_unit_test(a_schema_is_native_or_one_forced_tool),
        cmocka_unit_test(any_json_is_a_media_type_alone),
        cmocka_unit_test(a_schema_beside_tools_is_refused_where_the_model_cannot),
        cmocka_unit_test(a_budget_follows_the_word_and_stays_below_the_limit),
        cmocka_unit_test(a_level_is_the_nearest_word_that_the_model_takes),
        cmocka_unit_test(a_model_that_cannot_think_is_not_told_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
