/* flow_test.c - one legal sequence out of whatever a provider sends. */
#include "core/dialect/flow.h"

#include "tests/support/check.h"
#include "tests/support/flow_seen.h"

struct scene {
    struct acog_translation translation;
    struct acog_flow flow;
    struct acog_buffer out;
};

static void begin(struct scene *scene)
{
    scene->translation = (struct acog_translation){
        .client = ACOG_DIALECT_MESSAGES,
        .upstream = ACOG_DIALECT_CHAT,
        .model = ACOG_VIEW("asked"),
        .request_id = ACOG_VIEW("r1"),
        .note = scene->translation.note,
        .schema_by_tool = scene->translation.schema_by_tool,
        .input_tokens_estimate = 7,
        .max_tokens = scene->translation.max_tokens,
    };
    acog_buffer_init(&scene->out, FLOW_SEEN_BYTES_MAX);
    assert_int_equal(acog_flow_init(&scene->flow, &scene->translation, &flow_seen_form), ACOG_OK);
    scene->flow.out = &scene->out;
}

static struct acog_text plain(const char *text)
{
    return acog_text_plain(acog_view_of(text));
}

/* As between the quotes of a JSON string. */
static struct acog_text escaped(const char *text)
{
    return (struct acog_text){.bytes = acog_view_of(text), .escaped = true};
}

static void text(struct scene *scene, uint32_t key, const char *piece)
{
    acog_flow_text(&scene->flow, ACOG_FLOW_TEXT, key, plain(piece));
}

static void call(struct scene *scene, uint32_t key, const char *id, const char *name)
{
    acog_flow_call(&scene->flow, key, plain(id), plain(name));
}

static void arguments(struct scene *scene, uint32_t key, const char *piece)
{
    acog_flow_arguments(&scene->flow, key, escaped(piece));
}

static void finish(struct scene *scene, const char *wanted)
{
    acog_flow_end(&scene->flow);
    assert_int_equal(scene->flow.code, ACOG_OK);
    acog_flow_fini(&scene->flow);
    struct acog_view seen = acog_buffer_view(&scene->out);
    if (!acog_view_equal(seen, acog_view_of(wanted))) {
        fail_msg("seen:\n%.*s\nwanted:\n%s", ACOG_VIEW_FMT(seen), wanted);
    }
    acog_buffer_fini(&scene->out);
}

#define BEGIN          "begin \"\" \"asked\"\n"
#define ESTIMATED(out) "finish stop \"\", 7 in, " out " out, estimated\n"
#define CALLED(out)    "finish calls \"\", 7 in, " out " out, estimated\n"

/* -- parts ----------------------------------------------------------------------------------------- */

static void a_part_that_begins_ends_the_one_before_it(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    acog_flow_text(&scene.flow, ACOG_FLOW_REASONING, 0, plain("hm"));
    text(&scene, 1, "He");
    text(&scene, 1, "y");
    finish(&scene,
           BEGIN "reasoning 0 \"hm\"\nend 0\ntext 1 \"He\"\ntext 1 \"y\"\nend 1\n" ESTIMATED("2"));
}

static void an_empty_text_begins_nothing(void **state) /* B45, B52 */
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    text(&scene, 0, "");
    acog_flow_arguments(&scene.flow, 5, plain("{}")); /* of no call */
    finish(&scene, BEGIN ESTIMATED("0"));
}

static void source(struct scene *scene, uint32_t key, const char *url)
{
    acog_flow_citation(&scene->flow, key, plain(url), plain("T \"1\"\n"));
}

#define SOURCE(part, url) "citation " part " \"" url "\" \"T \\\"1\\\"\\n\"\n"

static void sources_that_come_before_their_text_wait_for_it(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    source(&scene, 1, "u0"); /* no text ever came */
    source(&scene, 2, "u1");
    source(&scene, 2, "u2");
    text(&scene, 2, "He");
    source(&scene, 2, "u3");
    text(&scene, 3, "y");
    source(&scene, 2, "u4"); /* of a text that is over */
    source(&scene, 3, "u5");
    finish(&scene,
           BEGIN "text 0 \"He\"\n" SOURCE("0", "u3") SOURCE("0", "u1")
               SOURCE("0", "u2") "end "
                                 "0\ntext 1 \"y\"\n" SOURCE("1", "u5") "end 1\n" ESTIMATED("1"));
}

static void text_between_two_calls_has_its_own_place(void **state) /* B46 */
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "f");
    arguments(&scene, 0, "{}");
    text(&scene, 9, "\n");
    call(&scene, 1, "b", "g");
    finish(&scene, BEGIN "call 0 \"a\" \"f\"\narguments 0 \"{}\"\nend 0\ntext 1 \"\\n\"\nend 1\n"
                         "call 2 \"b\" \"g\"\nend 2\n" CALLED("1"));
}

static void what_begins_inside_a_call_waits_until_its_arguments_are_complete(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "f");
    arguments(&scene, 0, "{\\\"x\\\":\\\"}\\\"");
    call(&scene, 1, "b", "g");
    arguments(&scene, 1, "{\\\"y\\\":2}");
    text(&scene, 9, "late");
    arguments(&scene, 0, ",\\\"z\\\":[1]}");
    finish(&scene,
           BEGIN "call 0 \"a\" \"f\"\narguments 0 \"{\\\"x\\\":\\\"}\\\"\"\narguments 0 "
                 "\",\\\"z\\\":[1]}\"\nend 0\ncall 1 \"b\" \"g\"\narguments 1 \"{\\\"y\\\":2}\"\n"
                 "end 1\ntext 2 \"late\"\nend 2\n" CALLED("9"));
}

static void a_bracket_in_a_text_of_the_arguments_closes_nothing(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "f");
    acog_flow_arguments(&scene.flow, 0, plain("{\"x\":\"\\\"}{\""));
    text(&scene, 9, "waits");
    assert_int_equal(scene.flow.waiting_count, 1);
    acog_flow_arguments(&scene.flow, 0, escaped("\\u007d"));
    assert_int_equal(scene.flow.waiting_count, 0);
    finish(&scene, BEGIN "call 0 \"a\" \"f\"\narguments 0 \"{\\\"x\\\":\\\"\\\\\\\"}{\\\"\"\n"
                         "arguments 0 \"\\u007d\"\nend 0\ntext 1 \"waits\"\nend 1\n" CALLED("6"));
}

static void a_call_that_its_reader_ends_keeps_nobody_waiting(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "f");
    acog_flow_part_end(&scene.flow, 0);
    text(&scene, 1, "x");
    finish(&scene, BEGIN "call 0 \"a\" \"f\"\nend 0\ntext 1 \"x\"\nend 1\n" CALLED("1"));
}

static void what_still_waits_at_the_end_is_told(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "f");
    arguments(&scene, 0, "{");
    call(&scene, 1, "b", "g");
    acog_flow_text(&scene.flow, ACOG_FLOW_REASONING, 2, plain("hm"));
    struct acog_opaque seal = {.maker = ACOG_DIALECT_CHAT, .bytes = plain("s")};
    acog_flow_opaque(&scene.flow, ACOG_FLOW_REASONING, 2, &seal);
    finish(&scene, BEGIN "call 0 \"a\" \"f\"\narguments 0 \"{\"\nend 0\ncall 1 \"b\" \"g\"\nend 1\n"
                         "reasoning 2 \"hm\"\nopaque 2 \"s\"\nend 2\n" CALLED("1"));
}

static void another_id_under_the_same_key_is_another_call(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "f");
    call(&scene, 0, "a", ""); /* told again */
    arguments(&scene, 0, "{}");
    call(&scene, 0, "b", "f");
    arguments(&scene, 0, "{}");
    finish(&scene, BEGIN "call 0 \"a\" \"f\"\narguments 0 \"{}\"\nend 0\ncall 1 \"b\" \"f\"\n"
                         "arguments 1 \"{}\"\nend 1\n" CALLED("1"));
}

/* Whatever the request's id is: of few letters, and not long. */
static void a_call_without_an_id_gets_one(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "", "f");
    arguments(&scene, 0, "{}");
    call(&scene, 1, "", "f");
    finish(&scene, BEGIN "call 0 \"call_c32e1fe33159c449_0\" \"f\"\narguments 0 \"{}\"\nend 0\n"
                         "call 1 \"call_c32e1fe33159c449_1\" \"f\"\nend 1\n" CALLED("1"));
}

static void a_call_without_a_name_makes_no_sense(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "");
    assert_int_equal(scene.flow.code, ACOG_INVALID);
    acog_flow_fini(&scene.flow);
    acog_buffer_fini(&scene.out);
}

static void more_parts_may_not_wait_than_a_cap(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "f");
    for (uint32_t i = 1; i <= ACOG_FLOW_WAITING_PARTS_MAX; i++) {
        call(&scene, i, "b", "g");
    }
    assert_int_equal(scene.flow.code, ACOG_OK);
    call(&scene, ACOG_FLOW_WAITING_PARTS_MAX + 1, "c", "g");
    assert_int_equal(scene.flow.code, ACOG_TOO_BIG);
    acog_flow_fini(&scene.flow);
    acog_buffer_fini(&scene.out);
}

/* -- said twice ------------------------------------------------------------------------------------ */

static void arguments_that_are_told_again_whole_count_only_if_nothing_came(void **state) /* B37 */
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 1, "a", "f");
    arguments(&scene, 1, "{}");
    acog_flow_arguments_done(&scene.flow, 1, plain("{}"));
    call(&scene, 2, "b", "f");
    acog_flow_arguments_done(&scene.flow, 2, plain("{ }"));
    finish(&scene, BEGIN "call 0 \"a\" \"f\"\narguments 0 \"{}\"\nend 0\n"
                         "call 1 \"b\" \"f\"\narguments 1 \"{ }\"\nend 1\n" CALLED("2"));
}

static void a_seal_is_told_once_and_what_follows_it_is_another_part(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    struct acog_opaque seal = {.maker = ACOG_DIALECT_CHAT, .bytes = plain("s")};
    begin(&scene);
    acog_flow_text(&scene.flow, ACOG_FLOW_REASONING, 0, plain("a"));
    acog_flow_opaque(&scene.flow, ACOG_FLOW_REASONING, 0, &seal);
    acog_flow_opaque(&scene.flow, ACOG_FLOW_REASONING, 0, &seal);
    acog_flow_text(&scene.flow, ACOG_FLOW_REASONING, 0, plain("b"));
    finish(&scene, BEGIN
           "reasoning 0 \"a\"\nopaque 0 \"s\"\nend 0\nreasoning 1 \"b\"\nend 1\n" ESTIMATED("1"));
}

/* Found by the fuzzer: the dialects that count cached tokens apart would tell another input than those that do not. */
static void cached_and_written_tokens_are_a_part_of_the_input(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    acog_flow_usage(&scene.flow, &(struct acog_usage){50, 80, 5, 1, -1});
    acog_flow_end(&scene.flow);
    assert_int_equal(scene.flow.usage.input_tokens, 85);
    acog_flow_fini(&scene.flow);
    acog_buffer_fini(&scene.out);

    begin(&scene);
    acog_flow_usage(&scene.flow, &(struct acog_usage){50, INT64_MAX, INT64_MAX, 1, -1});
    acog_flow_end(&scene.flow);
    assert_int_equal(scene.flow.usage.input_tokens, INT64_MAX);
    acog_flow_fini(&scene.flow);
    acog_buffer_fini(&scene.out);
}

static void usage_is_overwritten_never_added(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    acog_flow_usage(&scene.flow, &(struct acog_usage){9, 3, -1, 1, -1});
    acog_flow_usage(&scene.flow, &(struct acog_usage){-1, -1, -1, 12, -1});
    finish(&scene, BEGIN "finish stop \"\", 9 in, 3 cached, 12 out\n");
}

static void a_reason_that_says_more_stays(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    acog_flow_finish(&scene.flow, ACOG_FINISH_LENGTH, plain("length"));
    acog_flow_finish(&scene.flow, ACOG_FINISH_STOP, plain("stop"));
    finish(&scene, BEGIN "finish length \"length\", 7 in, 0 out, estimated\n");
}

/* -- what it adds ---------------------------------------------------------------------------------- */

static void an_estimate_is_capped_by_what_was_allowed(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    scene.translation.max_tokens = 2;
    begin(&scene);
    text(&scene, 0, "four bytes a token, about");
    finish(&scene, BEGIN "text 0 \"four bytes a token, about\"\nend 0\n" ESTIMATED("2"));
}

static void a_call_is_told_as_one_whatever_the_reason_was(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "f");
    acog_flow_finish(&scene.flow, ACOG_FINISH_STOP, plain("stop"));
    finish(&scene,
           BEGIN "call 0 \"a\" \"f\"\nend 0\nfinish calls \"stop\", 7 in, 0 out, estimated\n");
}

static void the_note_stands_behind_reasoning_and_before_all_else(void **state) /* decision 10 */
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    scene.translation.note = ACOG_VIEW("moved");
    begin(&scene);
    acog_flow_text(&scene.flow, ACOG_FLOW_REASONING, 0, plain("hm"));
    text(&scene, 1, "x");
    finish(&scene, BEGIN "reasoning 0 \"hm\"\nend 0\ntext 1 \"moved\"\ntext 1 \"\\n\\n\"\nend 1\n"
                         "text 2 \"x\"\nend 2\n" ESTIMATED("1"));
}

static void the_arguments_of_the_schemas_tool_are_the_text(void **state) /* B20 */
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    scene.translation.schema_by_tool = true;
    begin(&scene);
    text(&scene, 0, "Here it is:");
    call(&scene, 1, "a", ACOG_SCHEMA_TOOL_NAME);
    arguments(&scene, 1, "{\\\"age\\\":");
    arguments(&scene, 1, "41}");
    acog_flow_finish(&scene.flow, ACOG_FINISH_CALLS, plain("tool_use"));
    finish(&scene, BEGIN "text 0 \"{\\\"age\\\":\"\ntext 0 \"41}\"\nend 0\n"
                         "finish stop \"tool_use\", 7 in, 3 out, estimated\n");
}

/* Found by the fuzzer: a client could give one result for both. */
static void no_two_calls_have_one_id(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "f");
    acog_flow_part_end(&scene.flow, 0);
    call(&scene, 1, "a", "f");
    acog_flow_part_end(&scene.flow, 1);
    call(&scene, 2, "b", "f");
    acog_flow_end(&scene.flow);
    struct acog_view seen = acog_buffer_view(&scene.out);
    assert_true(acog_view_find(seen, ACOG_VIEW("call 0 \"a\"")) < seen.len);
    assert_true(acog_view_find(seen, ACOG_VIEW("call 1 \"call_")) < seen.len);
    assert_true(acog_view_find(seen, ACOG_VIEW("call 2 \"b\"")) < seen.len);
    acog_flow_fini(&scene.flow);
    acog_buffer_fini(&scene.out);
}

/* Found by the fuzzer: a whole message told the blank as arguments that were cut. */
static void blank_arguments_are_none(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    call(&scene, 0, "a", "f");
    arguments(&scene, 0, " \\n");
    acog_flow_part_end(&scene.flow, 0);
    call(&scene, 1, "b", "g");
    arguments(&scene, 1, " ");
    arguments(&scene, 1, "{} ");
    acog_flow_finish(&scene.flow, ACOG_FINISH_CALLS, plain("tool_calls"));
    acog_flow_end(&scene.flow);
    struct acog_view seen = acog_buffer_view(&scene.out);
    assert_true(acog_view_find(seen, ACOG_VIEW("call 0")) < seen.len);
    assert_true(acog_view_find(seen, ACOG_VIEW("arguments 0")) == seen.len);
    assert_true(acog_view_find(seen, ACOG_VIEW("arguments 1 \"{} \"")) < seen.len);
    acog_flow_fini(&scene.flow);
    acog_buffer_fini(&scene.out);
}

static void a_schemas_tool_without_arguments_is_an_empty_object(void **state) /* B48 */
{
    (void)state;

    static const struct {
        enum acog_finish_reason reason;
        const char *told;
    } rows[] = {{ACOG_FINISH_CALLS, BEGIN "text 0 \"{}\"\nend 0\nfinish stop"},
                {ACOG_FINISH_LENGTH, BEGIN "finish length"}};

    for (size_t i = 0; i < 2; i++) {
        struct scene scene = {.translation = {.max_tokens = -1}};
        scene.translation.schema_by_tool = true;
        begin(&scene);
        call(&scene, 0, "a", ACOG_SCHEMA_TOOL_NAME);
        acog_flow_part_end(&scene.flow, 0);
        acog_flow_finish(&scene.flow, rows[i].reason, plain("native"));
        acog_flow_end(&scene.flow);
        assert_true(acog_view_starts(acog_buffer_view(&scene.out), acog_view_of(rows[i].told)));
        acog_flow_fini(&scene.flow);
        acog_buffer_fini(&scene.out);
    }
}

/* Nobody should call another tool then; what the answer is must not be lost where one does. */
static void the_schemas_text_waits_behind_an_open_call(void **state) /* B20 */
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    scene.translation.schema_by_tool = true;
    begin(&scene);
    call(&scene, 0, "x", "f");
    arguments(&scene, 0, "{");
    call(&scene, 1, "a", ACOG_SCHEMA_TOOL_NAME);
    arguments(&scene, 1, "{}");
    arguments(&scene, 0, "}");
    acog_flow_end(&scene.flow);
    struct acog_view seen = acog_buffer_view(&scene.out);
    assert_true(acog_view_find(seen, ACOG_VIEW("text 1 \"{}\"\n")) < seen.len);
    acog_flow_fini(&scene.flow);
    acog_buffer_fini(&scene.out);
}

static void names_are_cut_where_a_character_ends(void **state)
{
    (void)state;
    char long_name[ACOG_FLOW_NAME_MAX + 4];
    struct acog_flow_name name = {.len = 0};
    memset(long_name, 'a', sizeof(long_name));
    memcpy(long_name + ACOG_FLOW_NAME_MAX - 1, "\xc3\xa9", 2);
    acog_flow_keep_name(
        &name, acog_text_plain((struct acog_view){.ptr = long_name, .len = sizeof(long_name)}));
    assert_int_equal(name.len, ACOG_FLOW_NAME_MAX - 1);
    acog_flow_keep_name(&name, escaped("caf\\u00e9"));
    assert_true(acog_view_equal(acog_flow_name_view(&name), ACOG_VIEW("caf\xc3\xa9")));
}

static void nothing_is_told_behind_the_end(void **state)
{
    (void)state;
    struct scene scene = {.translation = {.max_tokens = -1}};
    begin(&scene);
    text(&scene, 0, "x");
    acog_flow_end(&scene.flow);
    size_t told = scene.out.len;
    text(&scene, 0, "y");
    call(&scene, 1, "a", "f");
    acog_flow_end(&scene.flow);
    assert_int_equal(scene.out.len, told);
    acog_flow_fini(&scene.flow);
    acog_buffer_fini(&scene.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_that_begins_ends_the_one_before_it),
        cmocka_unit_test(an_empty_text_begins_nothing),
        cmocka_unit_test(sources_that_come_before_their_text_wait_for_it),
        cmocka_unit_test(text_between_two_calls_has_its_own_place),
        cmocka_unit_test(what_begins_inside_a_call_waits_until_its_arguments_are_complete),
        cmocka_unit_test(a_bracket_in_a_text_of_the_arguments_closes_nothing),
        cmocka_unit_test(a_call_that_its_reader_ends_keeps_nobody_waiting),
        cmocka_unit_test(what_still_waits_at_the_end_is_told),
        cmocka_unit_test(another_id_under_the_same_key_is_another_call),
        cmocka_unit_test(a_call_without_an_id_gets_one),
        cmocka_unit_test(a_call_without_a_name_makes_no_sense),
        cmocka_unit_test(more_parts_may_not_wait_than_a_cap),
        cmocka_unit_test(arguments_that_are_told_again_whole_count_only_if_nothing_came),
        cmocka_unit_test(a_seal_is_told_once_and_what_follows_it_is_another_part),
        cmocka_unit_test(cached_and_written_tokens_are_a_part_of_the_input),
        cmocka_unit_test(usage_is_overwritten_never_added),
        cmocka_unit_test(a_reason_that_says_more_stays),
        cmocka_unit_test(an_estimate_is_capped_by_what_was_allowed),
        cmocka_unit_test(a_call_is_told_as_one_whatever_the_reason_was),
        cmocka_unit_test(the_note_stands_behind_reasoning_and_before_all_else),
        cmocka_unit_test(the_arguments_of_the_schemas_tool_are_the_text),
        cmocka_unit_test(no_two_calls_have_one_id),
        cmocka_unit_test(blank_arguments_are_none),
        cmocka_unit_test(a_schemas_tool_without_arguments_is_an_empty_object),
        cmocka_unit_test(the_schemas_text_waits_behind_an_open_call),
        cmocka_unit_test(names_are_cut_where_a_character_ends),
        cmocka_unit_test(nothing_is_told_behind_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
