/* read_chat_test.c - the parameters of a chat request: tools, limits, what has no place. */
#include "chat_body.h"
#include "tests/support/memory_sweep.h"

/* -- tools ----------------------------------------------------------------------------------------- */

/* B18 */
static void tools_keep_schema_strictness_and_cache_marker(void **state)
{
    (void)state;
    shown_as(
        show_tools,
        WITH("\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\","
             "\"parameters\":{\"type\":\"object\"},\"strict\":true},"
             "\"cache_control\":{\"type\":\"ephemeral\"}}," FUNCTION("g") "]"),
        "tool name \"f\" description \"d\" schema {\"type\":\"object\"} strict true "
        "cache {\"type\":\"ephemeral\"}\ntool name \"g\"\n");
    shown_as(show_tools,
             WITH("\"functions\":[{\"name\":\"f\",\"parameters\":{}}],\"function_call\":\"auto\""),
             "tool name \"f\" schema {}\n");
    shown_as(show_tools, WITH("\"tools\":[{\"type\":\"custom\",\"custom\":{\"name\":\"c\"}}]"),
             "foreign custom name \"c\"\n");
}

static void chosen(const char *body, enum acog_tool_choice choice, bool parallel_off)
{
    struct read read = taken(body);
    if (read.conversation->tool_choice != choice ||
        read.conversation->parallel_off != parallel_off) {
        fail_msg("%s: choice %d, parallel off %d", body, read.conversation->tool_choice,
                 read.conversation->parallel_off);
    }
    forget(&read);
}

/* B08, B09 */
static void a_tool_choice_means_what_it_says(void **state)
{
    (void)state;
#define F "\"tools\":[" FUNCTION("f") "],"
    chosen(WITH(F "\"tool_choice\":\"auto\""), ACOG_TOOL_CHOICE_AUTO, false);
    chosen(WITH(F "\"tool_choice\":\"required\""), ACOG_TOOL_CHOICE_REQUIRED, false);
    chosen(WITH(F "\"tool_choice\":\"none\""), ACOG_TOOL_CHOICE_NONE, false);
    chosen(WITH(F "\"tool_choice\":" FUNCTION("f")), ACOG_TOOL_CHOICE_NAMED, false);
    chosen(WITH(F "\"function_call\":{\"name\":\"f\"}"), ACOG_TOOL_CHOICE_NAMED, false);
    chosen(WITH(F "\"parallel_tool_calls\":false"), ACOG_TOOL_CHOICE_UNSET, true);
    chosen(WITH(F "\"parallel_tool_calls\":true"), ACOG_TOOL_CHOICE_UNSET, false);
    chosen(WITH(F "\"parallel_tool_calls\":false,\"tool_choice\":\"required\""),
           ACOG_TOOL_CHOICE_REQUIRED, true);
    chosen(WITH("\"tools\":[],\"tool_choice\":\"auto\",\"parallel_tool_calls\":false"),
           ACOG_TOOL_CHOICE_UNSET, false);
    refused(WITH(F "\"tool_choice\":" FUNCTION("missing")), "no tool is named \"missing\"");
    refused(WITH(F "\"tool_choice\":\"sometimes\""), "tool_choice: must be none, auto or required");
    refused(WITH(F "\"tool_choice\":{}"), "tool_choice: must name a tool");
}

static void only_the_allowed_tools_are_offered(void **state)
{
    (void)state;
    const char *body =
        WITH("\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"required\","
             "\"tools\":[" FUNCTION("g") "]}},\"tools\":[" FUNCTION("f") "," FUNCTION("g") "]");
    shown_as(show_tools, body, "tool name \"g\"\n");
    chosen(body, ACOG_TOOL_CHOICE_REQUIRED, false);
    refused(WITH("\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\","
                 "\"tools\":[" FUNCTION("h") "]}},\"tools\":[" FUNCTION("f") "]"),
            "no declared tool is among the allowed");
}

static void a_list_of_allowed_tools_has_a_cap(void **state)
{
    (void)state;
    char body[32768];
    struct acog_buffer text;
    acog_buffer_init_over(&text, body, sizeof(body) - 1);
    assert_int_equal(
        acog_buffer_append(&text, ACOG_VIEW("{\"model\":\"m\",\"messages\":[" HI "],"
                                            "\"tools\":[" FUNCTION(
                                                "f") "],"
                                                     "\"tool_choice\":{\"type\":\"allowed_tools\","
                                                     "\"mode\":\"auto\",\"tools\":[")),
        ACOG_OK);
    for (int i = 0; i < 257; i++) {
        assert_int_equal(acog_buffer_format(&text, "%s{\"type\":\"function\",\"name\":\"f\"}",
                                            i == 0 ? "" : ","),
                         ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("]}}")), ACOG_OK);
    body[text.len] = '\0';
    refused(body, "tool_choice: too many allowed tools");
}

/* A name is kept once, and not more of them than a header has room for. */
static void names_of_unknown_fields_have_a_cap(void **state)
{
    (void)state;
    char body[32768];
    struct acog_buffer text;
    acog_buffer_init_over(&text, body, sizeof(body) - 1);
    assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("{\"model\":\"m\",\"messages\":[")),
                     ACOG_OK);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(acog_buffer_format(&text,
                                            "%s{\"role\":\"user\",\"content\":\"x\","
                                            "\"name\":\"n\",\"k%d\":1}",
                                            i == 0 ? "" : ",", i),
                         ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("]}")), ACOG_OK);
    body[text.len] = '\0';
    struct read read = taken(body);
    size_t count = 0;
    size_t names = 0;
    for (const struct acog_unknown_field *unknown = read.conversation->unknown; unknown != NULL;
         unknown = unknown->next) {
        count++;
        names += acog_json_text_is(unknown->name, ACOG_VIEW("messages.name")) ? 1 : 0;
    }
    assert_int_equal(count, ACOG_UNKNOWN_FIELDS_MAX);
    assert_int_equal(names, 1);
    forget(&read);
}

static void a_turn_has_a_cap_of_calls(void **state)
{
    (void)state;
    static char body[262144];
    struct acog_buffer text;
    acog_buffer_init_over(&text, body, sizeof(body) - 1);
    assert_int_equal(
        acog_buffer_append(&text, ACOG_VIEW("{\"model\":\"m\",\"messages\":[" HI ","
                                            "{\"role\":\"assistant\",\"tool_calls\":[")),
        ACOG_OK);
    for (int i = 0; i <= ACOG_CALLS_OF_TURN_MAX; i++) {
        assert_int_equal(acog_buffer_format(&text,
                                            "%s{\"id\":\"c%d\",\"function\":{\"name\":\"f\"}}",
                                            i == 0 ? "" : ",", i),
                         ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("]}]}")), ACOG_OK);
    body[text.len] = '\0';
    refused(body, "more than 1024 calls");
}

/* A custom tool's calls and results are nobody else's (decision 14), and no broken history. */
static void calls_of_custom_tools_are_foreign(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"k\","
                         "\"type\":\"custom\",\"custom\":{\"name\":\"c\",\"input\":\"x\"}}]},"
                         "" TOOL("k", "done")),
             "user text \"hi\"\nassistant foreign custom\nuser foreign custom\n");
}

/* -- parameters ------------------------------------------------------------------------------------ */

static void limited(const char *body, int64_t max_tokens)
{
    struct read read = taken(body);
    assert_int_equal(read.conversation->max_tokens, max_tokens);
    forget(&read);
}

/* B10 */
static void the_newer_name_of_the_limit_counts(void **state)
{
    (void)state;
    limited(WITH("\"max_completion_tokens\":50"), 50);
    limited(WITH("\"max_tokens\":60"), 60);
    limited(WITH("\"max_tokens\":60,\"max_completion_tokens\":50"), 50);
    limited(WITH("\"max_completion_tokens\":null,\"max_tokens\":6e1"), 60);
    limited(WITH("\"n\":1"), -1);
}

static void stops_at(const char *body, const char *wanted, const char *unknown)
{
    char memory[256];
    struct acog_buffer out;
    struct read read = taken(body);
    acog_buffer_init_over(&out, memory, sizeof(memory));
    for (size_t i = 0; i < read.conversation->stop_count; i++) {
        show_view(&out, read.conversation->stops[i].raw);
    }
    assert_true(acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted)));
    out.len = 0;
    show_unknown(&out, read.conversation);
    assert_true(acog_view_equal(acog_buffer_view(&out), acog_view_of(unknown)));
    forget(&read);
}

/* B11: white space is kept, as it depends on the upstream whether it is taken. */
static void stop_is_a_string_or_a_list(void **state)
{
    (void)state;
    stops_at(WITH("\"stop\":\"END\""), "\"END\"", "");
    stops_at(WITH("\"stop\":[\"A\",\"B\"]"), "\"A\"\"B\"", "");
    stops_at(WITH("\"stop\":null"), "", "");
    stops_at(WITH("\"stop\":[\"\",\"\\n\",\"END\"]"), "\"\\n\"\"END\"", "stop ");
    stops_at(WITH("\"stop\":\"\""), "", "stop ");
    refused(WITH("\"stop\":7"), "stop: must be a string or a list of strings");
    refused(WITH("\"stop\":[7]"), "stop: must be a string or a list of strings");
}

/* B20 */
static void a_schema_is_kept_as_it_was_written(void **state)
{
    (void)state;
    struct read read =
        taken(WITH("\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"p\","
                   "\"strict\":true,\"schema\":{\"type\":\"object\" , \"maximum\": 1.0}}}"));
    assert_int_equal(read.conversation->format, ACOG_FORMAT_SCHEMA);
    assert_true(acog_view_equal(read.conversation->schema.raw,
                                ACOG_VIEW("{\"type\":\"object\" , \"maximum\": 1.0}")));
    assert_true(acog_json_text_is(read.conversation->schema_name, ACOG_VIEW("p")));
    assert_int_equal(read.conversation->schema_strict.type, ACOG_JSON_TRUE);
    forget(&read);
    read = taken(WITH("\"response_format\":{\"type\":\"json_object\"}"));
    assert_int_equal(read.conversation->format, ACOG_FORMAT_JSON);
    forget(&read);
    read = taken(WITH("\"response_format\":{\"type\":\"json_object\",\"schema\":null}"));
    assert_int_equal(read.conversation->format, ACOG_FORMAT_JSON);
    forget(&read);
    read = taken(WITH("\"response_format\":{\"type\":\"json_object\",\"schema\":{\"a\":1}}"));
    assert_int_equal(read.conversation->format, ACOG_FORMAT_SCHEMA);
    assert_true(acog_view_equal(read.conversation->schema.raw, ACOG_VIEW("{\"a\":1}")));
    forget(&read);
    refused(WITH("\"response_format\":{\"type\":\"json_object\",\"schema\":1}"),
            "response_format.schema: must be an object");
    read = taken(WITH("\"response_format\":{\"type\":\"text\"}"));
    assert_int_equal(read.conversation->format, ACOG_FORMAT_TEXT);
    forget(&read);
    refused(WITH("\"response_format\":{\"type\":\"grammar\"}"), "response_format.type");
    refused(WITH("\"response_format\":{\"type\":\"json_schema\"}"), "json_schema.schema");
}

static struct acog_reasoning_wish wished(const char *body)
{
    struct read read = taken(body);
    struct acog_reasoning_wish wish = read.conversation->reasoning;
    forget(&read);
    return wish;
}

/* B22 */
static void how_hard_to_think_is_read_in_all_forms(void **state)
{
    (void)state;
    struct acog_reasoning_wish wish = wished(WITH("\"reasoning_effort\":\"high\""));
    assert_true(wish.given && !wish.off);
    assert_int_equal(wish.effort, ACOG_EFFORT_HIGH);
    wish = wished(WITH("\"reasoning_effort\":\"none\""));
    assert_true(wish.given && wish.off);
    wish = wished(WITH("\"reasoning\":{\"effort\":\"low\",\"exclude\":true}"));
    assert_int_equal(wish.effort, ACOG_EFFORT_LOW);
    assert_false(wish.summary);
    wish = wished(WITH("\"reasoning\":{\"max_tokens\":2000}"));
    assert_int_equal(wish.budget_tokens, 2000);
    assert_true(wish.summary);
    wish = wished(WITH("\"reasoning\":{\"enabled\":true}"));
    assert_int_equal(wish.effort, ACOG_EFFORT_MEDIUM);
    wish = wished(WITH("\"reasoning\":{\"enabled\":false}"));
    assert_true(wish.off);
    wish = wished(WITH("\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1500}"));
    assert_int_equal(wish.budget_tokens, 1500);
    wish = wished(WITH("\"thinking\":{\"type\":\"enabled\"}"));
    assert_true(wish.given && wish.adaptive);
    wish = wished(WITH("\"thinking\":{\"type\":\"disabled\"}"));
    assert_true(wish.off);
    wish = wished(WITH("\"reasoning_effort\":null"));
    assert_false(wish.given);
    shown_as(show_unknown, WITH("\"reasoning_effort\":\"ultra\""), "reasoning_effort ");
}

/* B23 */
static void a_user_that_is_a_person_is_not_carried(void **state)
{
    (void)state;
    shown_as(show_unknown, WITH("\"user\":\"pat@mail.example\""), "user ");
    shown_as(show_unknown, WITH("\"user\":\"pat\\u0040mail.example\""), "user ");
    shown_as(show_unknown, WITH("\"user\":\"+47 22 33 44 55\""), "user ");
    shown_as(show_unknown, WITH("\"user\":\"Pat Example\""), "user ");
    shown_as(show_unknown, WITH("\"user\":\"u-81f3\""), "");
    shown_as(show_unknown, WITH("\"user\":\"2233445566\""), "");
    struct read read = taken(WITH("\"user\":\"u-81f3\""));
    assert_true(acog_json_text_is(read.conversation->user, ACOG_VIEW("u-81f3")));
    forget(&read);
}

/* B23 */
static void several_choices_cannot_be_had(void **state)
{
    (void)state;
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    struct read read = taken(WITH("\"n\":2"));
    assert_int_equal(
        acog_conversation_fits(read.conversation, ACOG_DIALECT_MESSAGES, &rules, &read.problem),
        ACOG_INVALID);
    assert_non_null(strstr(read.problem.text, "n: must be 1"));
    forget(&read);
    read = taken(WITH("\"n\":1"));
    assert_false(read.conversation->unfaithful_choices);
    forget(&read);
}

/* An answer in sound is not the one in words that another dialect gives. */
static void other_modalities_than_text_are_refused(void **state)
{
    (void)state;
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    struct read read = taken(WITH("\"modalities\":[\"text\",\"audio\"]"));
    assert_int_equal(
        acog_conversation_fits(read.conversation, ACOG_DIALECT_MESSAGES, &rules, &read.problem),
        ACOG_INVALID);
    assert_non_null(strstr(read.problem.text, "modalities"));
    forget(&read);
}

/* B23: named, unless it says what holds anyway. */
static void what_has_no_place_is_named(void **state)
{
    (void)state;
    shown_as(
        show_unknown,
        MESSAGES("{\"role\":\"user\",\"name\":\"pat\",\"content\":[{\"type\":\"text\",\"text\":"
                 "\"hi\",\"prompt_cache_breakpoint\":{}}]},"
                 "{\"role\":\"assistant\",\"content\":\"a\",\"annotations\":[],\"audio\":null}"),
        "messages.prompt_cache_breakpoint messages.name ");
    shown_as(show_unknown,
             WITH("\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"later\":1},"
                  "\"defer\":true}],\"reasoning\":{\"effort\":\"low\",\"depth\":2},"
                  "\"stream_options\":{\"include_usage\":true,\"include_obfuscation\":true,"
                  "\"include_more\":true}"),
             "stream_options.include_more reasoning.depth tools.defer tools.later ");
    shown_as(show_unknown, WITH("\"plugins\":[{}],\"nothing\":null"), "plugins ");
    struct read read = taken(WITH("\"logprobs\":false,\"modalities\":[\"text\"],\"seed\":7"));
    assert_false(acog_json_present(read.conversation->fields[ACOG_FIELD_LOGPROBS]));
    assert_false(acog_json_present(read.conversation->fields[ACOG_FIELD_MODALITIES]));
    assert_true(acog_json_present(read.conversation->fields[ACOG_FIELD_SEED]));
    forget(&read);
}

/* Decision 13: the place is named. */
static void what_makes_no_sense_is_refused_with_its_place(void **state)
{
    (void)state;
    refused(MESSAGES("{\"role\":\"robot\",\"content\":\"x\"}"), "messages[0].role: must be");
    refused(WITH("\"tools\":[{\"type\":\"function\",\"name\":\"f\"}]"),
            "tools[0].function: must be an object");
    refused(MESSAGES(HI ",{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":7}]}"),
            "messages[1].content[0].text: must be a string");
    refused(MESSAGES("{\"role\":\"user\",\"content\":[{\"text\":\"x\"}]}"),
            "messages[0].content[0].type: must be a string");
    refused(
        MESSAGES("{\"role\":\"system\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}}]}"),
        "a system message holds texts only");
    refused(MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}}]}"),
            "messages[0].content[0].image_url: must be an address");
    refused(
        MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
                 "\"data:text/plain,hello\"}}]}"),
        "messages[0].content[0].image_url: must be an address");
    refused(
        MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
                 "\"data:image/\\\"x;base64,AA\"}}]}"),
        "messages[0].content[0].image_url: must be an address");
    refused(MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\"input_audio\":{"
                     "\"data\":\"AA\",\"format\":\"?\"}}]}"),
            "messages[0].content[0].input_audio: must have data");
    refused(MESSAGES(HI ",{\"role\":\"tool\",\"content\":\"x\"}"), "messages[1].tool_call_id");
    refused(
        MESSAGES(HI "," ASSISTANT_CALLS("{\"type\":\"function\",\"function\":{\"name\":\"f\"}}")),
        "messages[1].tool_calls[0].id: must be a text");
    refused(MESSAGES(HI "," ASSISTANT_CALLS("{\"id\":\"a\",\"function\":{}}")),
            "messages[1]: a call has no name");
    refused(MESSAGES(HI "," ASSISTANT_CALLS(CALL("a", "f", "{\\\"cut")) "," TOOL("a", "")),
            "the arguments of the call \"a\" are not a JSON object");
    refused(MESSAGES(HI "," TOOL("zz", "x")), "answers no call");
    refused(MESSAGES(HI "," ASSISTANT_CALLS(CALL("a", "f", "{}")) "," HI), "has no tool result");
    refused(WITH("\"tools\":[{\"type\":\"function\",\"function\":{}}]"),
            "tools[0]: must have a name");
    refused(
        WITH("\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":7}}]"),
        "tools[0]: its parameters must be an object");
    refused(WITH("\"tools\":[{}]"), "tools[0].type: must be a string");
}

/* -- memory ---------------------------------------------------------------------------------------- */

static void story(void *user)
{
    struct read read =
        read_body("{\"model\":\"m\",\"stop\":[\"a\"],\"user\":\"u\\u0031\",\"tools\":[" FUNCTION(
            "f") "],"
                 "\"stream_options\":{\"x\":1},\"messages\":[{\"role\":\"system\",\"content\":\"s\"}," HI
                 ","
                 "{\"role\":\"assistant\",\"content\":\"A\",\"reasoning_details\":["
                 "{\"text\":\"one\",\"index\":0},{\"text\":\"two\",\"index\":0}],\"tool_calls\":[" CALL(
                     "c", "f", "{\\\"a\\\":1}") "]}," TOOL("c", "r") "]}");
    (void)user;
    assert_int_equal(read.code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    forget(&read);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(memory_sweep(story, NULL, 1) > 0);
}

/* An arena has a cap too: a place that does not look at it would be found here. */
static void any_size_of_the_arena_is_survived(void **state)
{
    (void)state;
    const struct acog_view body =
        ACOG_VIEW("{\"model\":\"m\",\"stop\":[\"a\"],\"user\":\"u\\u0031\",\"tools\":[" FUNCTION(
            "f") "],"
                 "\"messages\":[" HI
                 ",{\"role\":\"assistant\",\"content\":null,\"function_call\":{\"name\":\"f\","
                 "\"arguments\":\"{}\"}},{\"role\":\"function\",\"name\":\"f\",\"content\":\"2\"}]}");
    bool failed = false;
    bool read = false;
    for (size_t bytes = 64; bytes < 65536 && !read; bytes += 64) {
        const struct acog_conversation *conversation = NULL;
        struct acog_request_problem problem;
        struct acog_arena arena;
        acog_arena_init(&arena, bytes);
        enum acog_code code =
            acog_conversation_read(ACOG_SURFACE_CHAT, body, &arena, &conversation, &problem);
        assert_true(code == ACOG_OK || code == ACOG_NO_MEMORY);
        failed = failed || code == ACOG_NO_MEMORY;
        read = code == ACOG_OK;
        acog_arena_fini(&arena);
    }
    assert_true(failed && read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_keep_schema_strictness_and_cache_marker),
        cmocka_unit_test(a_tool_choice_means_what_it_says),
        cmocka_unit_test(only_the_allowed_tools_are_offered),
        cmocka_unit_test(a_list_of_allowed_tools_has_a_cap),
        cmocka_unit_test(names_of_unknown_fields_have_a_cap),
        cmocka_unit_test(a_turn_has_a_cap_of_calls),
        cmocka_unit_test(calls_of_custom_tools_are_foreign),
        cmocka_unit_test(the_newer_name_of_the_limit_counts),
        cmocka_unit_test(stop_is_a_string_or_a_list),
        cmocka_unit_test(a_schema_is_kept_as_it_was_written),
        cmocka_unit_test(how_hard_to_think_is_read_in_all_forms),
        cmocka_unit_test(a_user_that_is_a_person_is_not_carried),
        cmocka_unit_test(several_choices_cannot_be_had),
        cmocka_unit_test(other_modalities_than_text_are_refused),
        cmocka_unit_test(what_has_no_place_is_named),
        cmocka_unit_test(what_makes_no_sense_is_refused_with_its_place),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(any_size_of_the_arena_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
