/* conversation_test.c - what holds for every conversation, whoever read it. */
#include "tests/support/conversation_shown.h"
#include "tests/unit/dialect/conversation_built.h"

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

static void system_words_between_a_call_and_its_result_stand_behind_it(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)say(&scene, ACOG_TURN_USER, "\"go\"");
    (void)call(&scene, "\"c\"", "{}");
    (void)say(&scene, ACOG_TURN_SYSTEM, "\"be brief\"");
    (void)result(&scene, "\"c\"");
    (void)say(&scene, ACOG_TURN_SYSTEM, "\"and kind\"");
    (void)say(&scene, ACOG_TURN_USER, "\"well?\"");
    finishes_as(&scene, "user text \"go\"\nassistant call \"c\" \"f\" {}\nuser result \"c\"\n"
                        "later system text \"be brief\"\nlater system text \"and kind\"\n"
                        "user text \"well?\"\n");
}

static void system_words_among_results_stand_behind_all_of_them(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    (void)call(&scene, "\"c\"", "{}");
    (void)call(&scene, "\"d\"", "{}");
    (void)result(&scene, "\"c\"");
    (void)say(&scene, ACOG_TURN_SYSTEM, "\"be brief\"");
    (void)say(&scene, ACOG_TURN_USER, "\"well?\"");
    (void)say(&scene, ACOG_TURN_SYSTEM, "\"and kind\"");
    (void)result(&scene, "\"d\"");
    finishes_as(&scene, "assistant call \"c\" \"f\" {}\nassistant call \"d\" \"f\" {}\n"
                        "user result \"c\"\nuser result \"d\"\nlater system text \"be brief\"\n"
                        "user text \"well?\"\nlater system text \"and kind\"\n");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_of_one_role_are_one_turn_with_results_first_and_calls_last),
        cmocka_unit_test(a_blank_text_goes_and_its_marker_moves_to_what_stands_before_it),
        cmocka_unit_test(turns_that_meet_over_a_blank_one_are_one),
        cmocka_unit_test(system_words_behind_a_blank_turn_are_leading),
        cmocka_unit_test(system_words_between_a_call_and_its_result_stand_behind_it),
        cmocka_unit_test(system_words_among_results_stand_behind_all_of_them),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
