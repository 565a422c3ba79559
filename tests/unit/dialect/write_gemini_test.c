/* write_gemini_test.c - what is asked of generateContent: tools, the configuration, thinking. */
#include "gemini_bench.h"

/* -- tools ----------------------------------------------------------------------------------------- */

static void schemas_go_as_they_are(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    struct acog_tool *first =
        tool(&bench, "\"f\"", "{\"type\":\"object\", \"$id\":\"#/x\",\"exclusiveMinimum\":0}");
    first->description = json("\"does \\u0066\"");
    first->strict = json("true");
    tool(&bench, "\"g\"", NULL)->strict = json("false");
    assert_written(&bench,
                   HELLO ",\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\",\"description\":"
                         "\"does \\u0066\",\"parametersJsonSchema\":{\"type\":\"object\", "
                         "\"$id\":\"#/x\",\"exclusiveMinimum\":0}},{\"name\":\"g\"}]}]}",
                   "tools.strict");
}

/* Google: "The schema must describe an object". */
static void a_schema_without_a_type_is_an_objects(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    tool(&bench, "\"f\"", "{}");
    tool(&bench, "\"g\"", "{\"properties\":{}}");
    assert_written(&bench,
                   HELLO ",\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\","
                         "\"parametersJsonSchema\":{\"type\":\"object\"}},{\"name\":\"g\","
                         "\"parametersJsonSchema\":{\"type\":\"object\",\"properties\":{}}}]}]}",
                   "");
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

/* "Penalty is not enabled for this model", from 2.5 on */
static void a_model_without_penalties_gets_none(void **state)
{
    struct bench bench;
    (void)state;
    begin_hello(&bench, ACOG_SURFACE_CHAT);
    bench.rules.penalties = false;
    bench.conversation.fields[ACOG_FIELD_TOP_P] = json("0.5");
    bench.conversation.fields[ACOG_FIELD_FREQUENCY_PENALTY] = json("0.5");
    bench.conversation.fields[ACOG_FIELD_PRESENCE_PENALTY] = json("0.5");
    assert_written(&bench, HELLO ",\"generationConfig\":{\"topP\":0.5}}",
                   "frequency_penalty, presence_penalty");
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
static void a_budget_follows_the_word_and_leaves_room_for_the_answer(void **state)
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
         "\"thinkingBudget\":1499",
         ""},
        {{.given = true, .effort = ACOG_EFFORT_LOW, .budget_tokens = -1},
         1025,
         0,
         "\"thinkingBudget\":1024",
         ""},
        {{.given = true, .effort = NO_EFFORT, .budget_tokens = 5000},
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
         words | ACOG_BIT(ACOG_EFFORT_MAX),
         "\"thinkingLevel\":\"high\"",
         "reasoning_effort"},
        {{.given = true, .effort = ACOG_EFFORT_MAX, .budget_tokens = -1},
         -1,
         words | ACOG_BIT(ACOG_EFFORT_XHIGH),
         "\"thinkingLevel\":\"xhigh\"",
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
        cmocka_unit_test(schemas_go_as_they_are),
        cmocka_unit_test(a_schema_without_a_type_is_an_objects),
        cmocka_unit_test(every_tool_choice_has_a_mode),
        cmocka_unit_test(one_call_at_a_time_cannot_be_asked_for),
        cmocka_unit_test(sampling_keeps_its_numbers_and_what_has_no_place_is_named),
        cmocka_unit_test(a_model_without_penalties_gets_none),
        cmocka_unit_test(a_seed_of_more_than_32_bits_is_named_as_lost),
        cmocka_unit_test(a_model_without_sampling_gets_none_and_a_hot_one_is_cooled),
        cmocka_unit_test(a_limit_above_the_models_is_cut_and_what_was_sent_is_told),
        cmocka_unit_test(five_stop_sequences_go_and_the_rest_is_named),
        cmocka_unit_test(a_schema_is_native_or_one_forced_tool),
        cmocka_unit_test(any_json_is_a_media_type_alone),
        cmocka_unit_test(a_schema_beside_tools_is_refused_where_the_model_cannot),
        cmocka_unit_test(a_budget_follows_the_word_and_leaves_room_for_the_answer),
        cmocka_unit_test(a_level_is_the_nearest_word_that_the_model_takes),
        cmocka_unit_test(a_model_that_cannot_think_is_not_told_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
