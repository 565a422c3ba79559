/* fits_test.c - what of a conversation cannot be told to others, and what is named as left out (put.c). */
#include "core/dialect/put.h"
#include "tests/unit/dialect/conversation_built.h"

static void assert_unfit(struct scene *scene, const char *why)
{
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    assert_int_equal(acog_conversation_fits(&scene->conversation, ACOG_DIALECT_MESSAGES, &rules,
                                            &scene->problem),
                     ACOG_INVALID);
    if (strstr(scene->problem.text, why) == NULL) {
        fail_msg("said: %s\nwanted: %s", scene->problem.text, why);
    }
    acog_arena_fini(&scene->arena);
}

static void offer_web_search(struct scene *scene, bool beside_a_function) /* B30 */
{
    (void)say(scene, ACOG_TURN_USER, "\"news?\"");
    struct acog_tool *tool = acog_builder_tool(&scene->builder);
    tool->foreign = ACOG_VIEW("web_search_20250305");
    tool->name = json("\"web_search\"");
    if (beside_a_function) {
        acog_builder_tool(&scene->builder)->name = json("\"f\"");
    }
    acog_builder_finish(&scene->builder);
    assert_int_equal(scene->builder.code, ACOG_OK);
}

/* Codex offers one with every request. */
static void the_rules_may_leave_out_what_another_provider_would_run(void **state)
{
    (void)state;

    static const struct {
        enum acog_tool_choice choice;
        const char *name;
        bool beside_a_function;
        bool fits;
    } rows[] = {
        {ACOG_TOOL_CHOICE_AUTO, NULL, true, true},
        {ACOG_TOOL_CHOICE_AUTO, NULL, false, true},
        {ACOG_TOOL_CHOICE_REQUIRED, NULL, true, true},
        {ACOG_TOOL_CHOICE_REQUIRED, NULL, false, false},
        {ACOG_TOOL_CHOICE_NAMED, "\"f\"", true, true},
        {ACOG_TOOL_CHOICE_NAMED, "\"web_search\"", true, false},
    };
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    struct acog_translation translation = {
        .upstream = ACOG_DIALECT_MESSAGES, .rules = &rules, .model = ACOG_VIEW("m")};
    rules.drop_server_tools = true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scene scene;
        struct acog_buffer out;
        acog_buffer_init(&out, (size_t)1 << 16U);
        begin(&scene);
        scene.conversation.tool_choice = rows[i].choice;
        scene.conversation.tool_choice_name = json(rows[i].name == NULL ? "null" : rows[i].name);
        offer_web_search(&scene, rows[i].beside_a_function);
        assert_int_equal(acog_conversation_fits(&scene.conversation, ACOG_DIALECT_MESSAGES, &rules,
                                                &scene.problem),
                         rows[i].fits ? ACOG_OK : ACOG_INVALID);
        if (rows[i].fits) {
            assert_int_equal(
                acog_conversation_write(&scene.conversation, &translation, &scene.arena, &out),
                ACOG_OK);
            assert_true(acog_view_equal(translation.dropped, ACOG_VIEW("tools")));
            assert_int_equal(acog_view_find(acog_buffer_view(&out), ACOG_VIEW("web_search")),
                             out.len);
        }
        acog_buffer_fini(&out);
        acog_arena_fini(&scene.arena);
    }
}

/* Such a model answers a forced call with no text: nothing is left to be held. */
static void a_format_beside_a_forced_call_is_left_out_where_it_could_not_be_kept(void **state)
{
    static const struct {
        enum acog_dialect dialect;
        enum acog_schema_support support;
        bool kept; /* beside tools */
    } models[] = {
        {ACOG_DIALECT_CHAT, ACOG_SCHEMA_NATIVE, true},
        {ACOG_DIALECT_CHAT, ACOG_SCHEMA_TOOL, false},
        {ACOG_DIALECT_CHAT, ACOG_SCHEMA_NONE, false},
        {ACOG_DIALECT_MESSAGES, ACOG_SCHEMA_NATIVE, true},
        {ACOG_DIALECT_MESSAGES, ACOG_SCHEMA_TOOL, false},
        {ACOG_DIALECT_RESPONSES, ACOG_SCHEMA_NATIVE, true},
        {ACOG_DIALECT_RESPONSES, ACOG_SCHEMA_TOOL, false},
        {ACOG_DIALECT_RESPONSES, ACOG_SCHEMA_NONE, false},
        {ACOG_DIALECT_GEMINI, ACOG_SCHEMA_NATIVE, false},
        {ACOG_DIALECT_GEMINI, ACOG_SCHEMA_TOOL, false},
        {ACOG_DIALECT_GEMINI, ACOG_SCHEMA_NONE, false},
    };

    static const enum acog_tool_choice choices[] = {
        ACOG_TOOL_CHOICE_AUTO, ACOG_TOOL_CHOICE_REQUIRED, ACOG_TOOL_CHOICE_NAMED};

    (void)state;
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]) * 3; i++) {
        enum acog_dialect dialect = models[i / 3].dialect;
        struct scene scene;
        begin(&scene);
        (void)say(&scene, ACOG_TURN_USER, "\"hi\"");
        struct acog_tool *tool = acog_builder_tool(&scene.builder);
        tool->name = json("\"f\"");
        tool->schema = json("{\"type\":\"object\",\"properties\":{}}");
        scene.conversation.tool_choice = choices[i % 3];
        scene.conversation.tool_choice_name = json("\"f\"");
        scene.conversation.format = ACOG_FORMAT_SCHEMA;
        scene.conversation.schema = json("{\"type\":\"object\",\"properties\":{\"HELD\":{\"type\":"
                                         "\"null\"}},\"required\":[\"HELD\"],"
                                         "\"additionalProperties\":false}");
        acog_builder_finish(&scene.builder);
        struct acog_model_rules rules = acog_model_rules_default(dialect);
        struct acog_translation translation = {
            .upstream = dialect, .rules = &rules, .model = ACOG_VIEW("m")};
        struct acog_buffer out;
        acog_buffer_init(&out, (size_t)1 << 16U);
        rules.schema = models[i / 3].support;
        enum acog_code fits =
            acog_conversation_fits(&scene.conversation, dialect, &rules, &scene.problem);
        if (choices[i % 3] == ACOG_TOOL_CHOICE_AUTO && !models[i / 3].kept) {
            assert_int_equal(fits, ACOG_INVALID);
        } else {
            assert_int_equal(fits, ACOG_OK);
            assert_int_equal(
                acog_conversation_write(&scene.conversation, &translation, &scene.arena, &out),
                ACOG_OK);
            bool held = acog_view_find(acog_buffer_view(&out), ACOG_VIEW("HELD")) < out.len;
            assert_true(held == models[i / 3].kept);
            assert_false(translation.schema_by_tool);
            assert_int_equal(translation.dropped.len, 0);
        }
        acog_buffer_fini(&out);
        acog_arena_fini(&scene.arena);
    }
}

/* What OpenAI's models answer anew, for their clients. */
static void an_answer_that_the_client_began_goes_where_it_is_continued(void **state)
{
    static const struct {
        enum acog_surface surface;
        enum acog_dialect dialect;
        bool prefill;
        bool fits;
    } rows[] = {
        {ACOG_SURFACE_CHAT, ACOG_DIALECT_MESSAGES, true, true},
        {ACOG_SURFACE_CHAT, ACOG_DIALECT_MESSAGES, false, false},
        {ACOG_SURFACE_CHAT, ACOG_DIALECT_GEMINI, true, true},
        {ACOG_SURFACE_CHAT, ACOG_DIALECT_GEMINI, false, false},
        {ACOG_SURFACE_CHAT, ACOG_DIALECT_RESPONSES, false, true},
        {ACOG_SURFACE_RESPONSES, ACOG_DIALECT_CHAT, false, true},
        {ACOG_SURFACE_MESSAGES, ACOG_DIALECT_CHAT, false, false},
        {ACOG_SURFACE_MESSAGES, ACOG_DIALECT_CHAT, true, true},
        {ACOG_SURFACE_MESSAGES, ACOG_DIALECT_RESPONSES, false, false},
        {ACOG_SURFACE_MESSAGES, ACOG_DIALECT_GEMINI, true, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acog_model_rules rules = acog_model_rules_default(rows[i].dialect);
        struct scene scene;
        begin(&scene);
        scene.conversation.surface = rows[i].surface;
        (void)say(&scene, ACOG_TURN_USER, "\"hi\"");
        (void)say(&scene, ACOG_TURN_ASSISTANT, "\"{\"");
        acog_builder_finish(&scene.builder);
        rules.prefill = rows[i].prefill;
        enum acog_code code =
            acog_conversation_fits(&scene.conversation, rows[i].dialect, &rules, &scene.problem);
        assert_int_equal(code, rows[i].fits ? ACOG_OK : ACOG_INVALID);
        if (code != ACOG_OK) {
            assert_non_null(strstr(scene.problem.text, "does not continue"));
        }
        acog_arena_fini(&scene.arena);
    }
}

/* A call is another matter, and so is what nobody is told. */
static void a_last_turn_that_calls_or_only_thought_begins_no_answer(void **state)
{
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_CHAT);
    struct scene scene;
    (void)state;
    begin(&scene);
    scene.conversation.surface = ACOG_SURFACE_MESSAGES;
    (void)say(&scene, ACOG_TURN_USER, "\"hi\"");
    (void)say(&scene, ACOG_TURN_ASSISTANT, "\"I look\"");
    (void)call(&scene, "\"c1\"", "{}");
    acog_builder_finish(&scene.builder);
    assert_int_equal(
        acog_conversation_fits(&scene.conversation, ACOG_DIALECT_CHAT, &rules, &scene.problem),
        ACOG_OK);
    acog_arena_fini(&scene.arena);
    begin(&scene);
    scene.conversation.surface = ACOG_SURFACE_MESSAGES;
    (void)say(&scene, ACOG_TURN_USER, "\"hi\"");
    acog_builder_part(&scene.builder, ACOG_TURN_ASSISTANT, ACOG_PART_REASONING)->text =
        json("\"hm\"");
    acog_builder_finish(&scene.builder);
    assert_int_equal(
        acog_conversation_fits(&scene.conversation, ACOG_DIALECT_CHAT, &rules, &scene.problem),
        ACOG_OK);
    acog_arena_fini(&scene.arena);
}

static void what_would_not_mean_the_same_is_refused_by_name(void **state) /* decision 14 */
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene.conversation.surface = ACOG_SURFACE_RESPONSES;
    scene.conversation.fields[ACOG_FIELD_PREVIOUS_RESPONSE_ID] = json("\"resp_1\""); /* B40 */
    assert_unfit(&scene, "previous_response_id");
    begin(&scene);
    scene.conversation.unfaithful_choices = true; /* B23 */
    assert_unfit(&scene, "n: must be 1");
    begin(&scene);
    offer_web_search(&scene, false);
    assert_unfit(&scene, "web_search_20250305");
    begin(&scene);
    acog_builder_part(&scene.builder, ACOG_TURN_ASSISTANT, ACOG_PART_FOREIGN)->type =
        ACOG_VIEW("server_tool_use");
    assert_unfit(&scene, "server_tool_use");
}

/* Found by the fuzzer: another provider than the one that reasoned would get an empty list of messages. */
static void a_conversation_that_only_thought_cannot_be_told(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    acog_builder_part(&scene.builder, ACOG_TURN_ASSISTANT, ACOG_PART_REASONING)->text =
        json("\"hm\"");
    assert_unfit(&scene, "nothing but a provider's reasoning");
}

/* What Claude Code says of its user is a 400 at OpenAI. */
static void a_user_with_a_longer_name_than_the_provider_takes_is_dropped(void **state)
{
    (void)state;
    for (size_t bytes_max = 3; bytes_max <= 4; bytes_max++) {
        struct scene scene;
        struct acog_translation translation = {.max_tokens = -1};
        struct acog_buffer out;
        char memory[64];
        begin(&scene);
        scene.conversation.surface = ACOG_SURFACE_MESSAGES;
        scene.conversation.user = json("\"u\\u002d\\n1\"");
        struct acog_request_writer writer = {.conversation = &scene.conversation,
                                             .translation = &translation,
                                             .arena = &scene.arena,
                                             .out = &out};
        acog_buffer_init(&out, 64);
        acog_buffer_init_over(&writer.dropped, memory, sizeof(memory));
        acog_put_user(&writer, ACOG_VIEW("<"), ACOG_VIEW(">"), bytes_max);
        assert_int_equal(writer.code, ACOG_OK);
        assert_true(
            acog_view_equal(acog_buffer_view(&writer.dropped),
                            bytes_max == 3 ? ACOG_VIEW("metadata.user_id") : ACOG_VIEW("")));
        assert_true(acog_view_equal(acog_buffer_view(&out), bytes_max == 3
                                                                ? ACOG_VIEW("")
                                                                : ACOG_VIEW("<\"u\\u002d\\n1\">")));
        acog_buffer_fini(&out);
        acog_arena_fini(&scene.arena);
    }
}

static void what_is_not_sent_is_named_once_in_letters_that_fit_a_header(void **state)
{
    (void)state;
    struct acog_translation translation = {.max_tokens = -1};
    struct acog_request_writer writer = {.translation = &translation};
    char memory[64];
    acog_buffer_init_over(&writer.dropped, memory, sizeof(memory));
    acog_put_dropped(&writer, ACOG_VIEW("seed"));
    acog_put_dropped(&writer, ACOG_VIEW("logit_bias"));
    acog_put_dropped(&writer, ACOG_VIEW("seed"));
    acog_put_dropped(&writer, ACOG_VIEW("bad\r\nname"));
    acog_put_dropped(&writer, ACOG_VIEW("bad,name"));
    acog_put_dropped(&writer, ACOG_VIEW("a_name_that_finds_no_room_any_more_in_the_list"));
    assert_true(acog_view_equal(acog_buffer_view(&writer.dropped),
                                ACOG_VIEW("seed, logit_bias, (unnamed), ...")));
    assert_int_equal(writer.code, ACOG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_may_leave_out_what_another_provider_would_run),
        cmocka_unit_test(a_format_beside_a_forced_call_is_left_out_where_it_could_not_be_kept),
        cmocka_unit_test(an_answer_that_the_client_began_goes_where_it_is_continued),
        cmocka_unit_test(a_last_turn_that_calls_or_only_thought_begins_no_answer),
        cmocka_unit_test(what_would_not_mean_the_same_is_refused_by_name),
        cmocka_unit_test(a_conversation_that_only_thought_cannot_be_told),
        cmocka_unit_test(a_user_with_a_longer_name_than_the_provider_takes_is_dropped),
        cmocka_unit_test(what_is_not_sent_is_named_once_in_letters_that_fit_a_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
