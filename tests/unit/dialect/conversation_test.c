/* conversation_test.c - what holds for every conversation, whoever read it; and what cannot be told to others (fits.c,
 * put.c).
 */
#include "core/dialect/conversation.h"

#include "tests/support/check.h"
#include "tests/support/conversation_shown.h"

#include <string.h>

struct scene {
    struct acog_arena arena;
    struct acog_request_problem problem;
    struct acog_conversation conversation;
    struct acog_conversation_builder builder;
};

static void begin(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    acog_arena_init(&scene->arena, (size_t)1 << 20U);
    scene->conversation = (struct acog_conversation){
        .max_tokens = -1, .reasoning = {.effort = ACOG_EFFORT_COUNT, .budget_tokens = -1}};
    scene->builder = (struct acog_conversation_builder){
        .arena = &scene->arena, .conversation = &scene->conversation, .problem = &scene->problem};
}

static struct acog_json_value json(const char *text)
{
    struct acog_json_value value;
    struct acog_json_error error;
    assert_int_equal(acog_json_check(acog_view_of(text), 16, &value, &error), ACOG_OK);
    return value;
}

static struct acog_part *say(struct scene *scene, enum acog_turn_role role, const char *text)
{
    struct acog_part *part = acog_builder_part(&scene->builder, role, ACOG_PART_TEXT);
    part->text = json(text);
    return part;
}

static struct acog_part *call(struct scene *scene, const char *id, const char *arguments)
{
    struct acog_part *part =
        acog_builder_part(&scene->builder, ACOG_TURN_ASSISTANT, ACOG_PART_TOOL_CALL);
    part->id = acog_text_of(json(id));
    part->name = acog_text_plain(ACOG_VIEW("f"));
    part->arguments = acog_text_plain(acog_view_of(arguments));
    return part;
}

static struct acog_part *result(struct scene *scene, const char *id)
{
    struct acog_part *part =
        acog_builder_part(&scene->builder, ACOG_TURN_USER, ACOG_PART_TOOL_RESULT);
    part->id = acog_text_of(json(id));
    return part;
}

static void finishes_as(struct scene *scene, const char *wanted)
{
    struct acog_buffer out;
    acog_buffer_init(&out, (size_t)1 << 16U);
    acog_builder_finish(&scene->builder);
    assert_int_equal(scene->builder.code, ACOG_OK);
    show_conversation(&out, &scene->conversation);
    for (const struct acog_turn *turn = scene->conversation.turns; turn != NULL;
         turn = turn->next) {
        assert_true(turn->next == NULL || turn->next->role != turn->role);
    }
    if (!acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted))) {
        fail_msg("gave:\n%.*s\nwanted:\n%s", ACOG_VIEW_FMT(acog_buffer_view(&out)), wanted);
    }
    acog_buffer_fini(&out);
    acog_arena_fini(&scene->arena);
}

static void is_refused(struct scene *scene, const char *why)
{
    acog_builder_finish(&scene->builder);
    assert_int_equal(scene->builder.code, ACOG_INVALID);
    if (strstr(scene->problem.text, why) == NULL) {
        fail_msg("said: %s\nwanted: %s", scene->problem.text, why);
    }
    acog_arena_fini(&scene->arena);
}

/* -- turns ----------------------------------------------------------------------------------------- */

static void neighbours_of_one_role_are_one_turn_with_results_first_and_calls_last(void **state)
{
    (void)state; /* B01, B02, B32 */
    struct scene scene;
    begin(&scene);
    (void)say(&scene, ACOG_TURN_USER, "\"sum\"");
    (void)call(&scene, "\"a\"", "{}");
    (void)call(&scene, "\"b\"", "{}");
    (void)say(&scene, ACOG_TURN_ASSISTANT, "\"checking\"");
    (void)say(&scene, ACOG_TURN_USER, "\"and?\"");
    (void)result(&scene, "\"b\"");
    (void)result(&scene, "\"a\"");
    finishes_as(&scene, "user text \"sum\"\n"
                        "assistant text \"checking\"\nassistant call \"a\" \"f\" {}\n"
                        "assistant call \"b\" \"f\" {}\n"
                        "user result \"b\"\nuser result \"a\"\nuser text \"and?\"\n");
}

static void a_blank_text_goes_and_its_marker_moves_to_what_stands_before_it(void **state) /* B05 */
{
    (void)state;
    struct scene scene;
    begin(&scene);
    say(&scene, ACOG_TURN_USER, "\"\"")->cache = json("{\"a\":1}");
    (void)say(&scene, ACOG_TURN_USER, "\"real\"");
    say(&scene, ACOG_TURN_USER, "\" \\n\"")->cache = json("{\"b\":2}");
    finishes_as(&scene, "user text \"real\" cache {\"b\":2}\n");
}

static void turns_that_meet_over_a_blank_one_are_one(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)say(&scene, ACOG_TURN_USER, "\"a\"");
    (void)say(&scene, ACOG_TURN_ASSISTANT, "\" \"");
    (void)say(&scene, ACOG_TURN_USER, "\"b\"");
    finishes_as(&scene, "user text \"a\"\nuser text \"b\"\n");
}

static void system_words_behind_a_blank_turn_are_leading(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)say(&scene, ACOG_TURN_USER, "\" \"");
    (void)say(&scene, ACOG_TURN_SYSTEM, "\"be brief\"");
    (void)say(&scene, ACOG_TURN_USER, "\"go\"");
    finishes_as(&scene, "system text \"be brief\"\nuser text \"go\"\n");
}

static void a_conversation_says_something(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)say(&scene, ACOG_TURN_USER, "\" \"");
    is_refused(&scene, "no message");
}

/* OpenAI answers a request of system words alone; Anthropic's API has none. */
static void system_words_alone_are_a_turn_of_a_client_of_openai(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    acog_builder_system(&scene.builder)->text = json("\"be brief\"");
    (void)say(&scene, ACOG_TURN_USER, "\" \"");
    acog_builder_finish(&scene.builder);
    assert_int_equal(scene.builder.code, ACOG_OK);
    assert_null(scene.conversation.system.first);
    assert_int_equal(scene.conversation.turns->role, ACOG_TURN_SYSTEM);
    assert_null(scene.conversation.turns->next);
    acog_arena_fini(&scene.arena);
    begin(&scene);
    scene.conversation.surface = ACOG_SURFACE_MESSAGES;
    acog_builder_system(&scene.builder)->text = json("\"be brief\"");
    is_refused(&scene, "no message");
}

/* Found by the fuzzer: messages tells the one as a text, chat and responses the other. */
static void a_blank_refusal_or_document_goes_like_a_blank_text(void **state) /* B05 */
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)say(&scene, ACOG_TURN_USER, "\"a\"");
    acog_builder_part(&scene.builder, ACOG_TURN_USER, ACOG_PART_MEDIA)->media =
        (struct acog_media){.kind = ACOG_MEDIA_DOCUMENT,
                            .source = ACOG_MEDIA_TEXT,
                            .data = acog_text_plain(ACOG_VIEW(" "))};
    acog_builder_part(&scene.builder, ACOG_TURN_ASSISTANT, ACOG_PART_REFUSAL)->text =
        json("\"\\n\"");
    finishes_as(&scene, "user text \"a\"\n");
}

/* -- tools (decision 13) --------------------------------------------------------------------------- */

static void a_call_without_arguments_has_an_empty_object(void **state) /* B06 */
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)call(&scene, "\"a\"", "");
    (void)result(&scene, "\"a\"");
    finishes_as(&scene, "assistant call \"a\" \"f\" {}\nuser result \"a\"\n");
}

static void arguments_that_are_no_object_are_refused_by_the_calls_id(void **state)
{
    (void)state;
    static const char *const broken[] = {"[1]", "{\"a\":", "\"x\"", "{} {}"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        struct scene scene;
        begin(&scene);
        (void)call(&scene, "\"a\"", broken[i]);
        is_refused(&scene, "\"a\"");
    }
}

static void a_result_answers_a_call_of_the_turn_before_it(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)call(&scene, "\"a\"", "{}");
    (void)result(&scene, "\"a\"");
    (void)say(&scene, ACOG_TURN_ASSISTANT, "\"x\"");
    (void)result(&scene, "\"a\"");
    is_refused(&scene, "\"a\"");
}

static void a_call_is_answered_once(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)call(&scene, "\"a\"", "{}");
    (void)result(&scene, "\"a\"");
    (void)result(&scene, "\"a\"");
    is_refused(&scene, "two tool results");
}

static void a_call_in_the_middle_has_a_result(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)call(&scene, "\"a\"", "{}");
    (void)say(&scene, ACOG_TURN_USER, "\"never mind\"");
    is_refused(&scene, "no tool result");
}

static void ids_are_the_same_however_they_are_spelt(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)call(&scene, "\"c\\u0061ll\"", "{}");
    struct acog_part *answer = result(&scene, "\"call\"");
    acog_builder_finish(&scene.builder);
    assert_int_equal(scene.builder.code, ACOG_OK);
    assert_true(acog_view_equal(answer->name.bytes, ACOG_VIEW("f"))); /* of the call */
    acog_arena_fini(&scene.arena);
}

static void a_chosen_tool_is_a_declared_one_and_nothing_is_chosen_from_none(void **state) /* B09 */
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)say(&scene, ACOG_TURN_USER, "\"a\"");
    scene.conversation.tool_choice = ACOG_TOOL_CHOICE_AUTO;
    scene.conversation.parallel_off = true;
    acog_builder_finish(&scene.builder);
    assert_int_equal(scene.conversation.tool_choice, ACOG_TOOL_CHOICE_UNSET);
    assert_false(scene.conversation.parallel_off);
    acog_arena_fini(&scene.arena);
    begin(&scene);
    (void)say(&scene, ACOG_TURN_USER, "\"a\"");
    acog_builder_tool(&scene.builder)->name = json("\"f\"");
    scene.conversation.tool_choice = ACOG_TOOL_CHOICE_NAMED;
    scene.conversation.tool_choice_name = json("\"missing\"");
    is_refused(&scene, "missing");
}

/* -- fields ---------------------------------------------------------------------------------------- */

static void a_field_is_known_by_its_dialects_name_and_null_is_absent(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    acog_builder_field(&scene.builder, ACOG_DIALECT_CHAT, json("\"t\\u006fp_p\""), json("0.5"));
    acog_builder_field(&scene.builder, ACOG_DIALECT_CHAT, json("\"seed\""), json("null"));
    acog_builder_field(&scene.builder, ACOG_DIALECT_MESSAGES, json("\"seed\""), json("1"));
    assert_true(acog_json_present(scene.conversation.fields[ACOG_FIELD_TOP_P]));
    assert_false(acog_json_present(scene.conversation.fields[ACOG_FIELD_SEED]));
    assert_non_null(scene.conversation.unknown);
    assert_true(acog_view_equal(scene.conversation.unknown->name.raw, ACOG_VIEW("\"seed\"")));
    acog_arena_fini(&scene.arena);
}

/* Found by the fuzzer: where a dialect has no name for a field, the empty key was it. */
static void the_empty_name_is_no_field(void **state)
{
    (void)state;
    for (int dialect = 0; dialect < ACOG_DIALECT_COUNT; dialect++) {
        struct scene scene;
        begin(&scene);
        acog_builder_field(&scene.builder, (enum acog_dialect)dialect, json("\"\""), json("5"));
        for (int field = 0; field < ACOG_FIELD_COUNT; field++) {
            assert_false(acog_json_present(scene.conversation.fields[field]));
        }
        assert_non_null(scene.conversation.unknown);
        acog_arena_fini(&scene.arena);
    }
}

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

/* -- what writers share ---------------------------------------------------------------------------- */

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
        cmocka_unit_test(neighbours_of_one_role_are_one_turn_with_results_first_and_calls_last),
        cmocka_unit_test(a_blank_text_goes_and_its_marker_moves_to_what_stands_before_it),
        cmocka_unit_test(turns_that_meet_over_a_blank_one_are_one),
        cmocka_unit_test(system_words_behind_a_blank_turn_are_leading),
        cmocka_unit_test(a_conversation_says_something),
        cmocka_unit_test(system_words_alone_are_a_turn_of_a_client_of_openai),
        cmocka_unit_test(a_blank_refusal_or_document_goes_like_a_blank_text),
        cmocka_unit_test(a_call_without_arguments_has_an_empty_object),
        cmocka_unit_test(arguments_that_are_no_object_are_refused_by_the_calls_id),
        cmocka_unit_test(a_result_answers_a_call_of_the_turn_before_it),
        cmocka_unit_test(a_call_is_answered_once),
        cmocka_unit_test(a_call_in_the_middle_has_a_result),
        cmocka_unit_test(ids_are_the_same_however_they_are_spelt),
        cmocka_unit_test(a_chosen_tool_is_a_declared_one_and_nothing_is_chosen_from_none),
        cmocka_unit_test(a_field_is_known_by_its_dialects_name_and_null_is_absent),
        cmocka_unit_test(the_empty_name_is_no_field),
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
