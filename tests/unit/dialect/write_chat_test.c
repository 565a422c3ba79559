/* write_chat_test.c - conversations as requests of chat/completions; their turns are in write_chat_turns_test.c. */
#include "tests/support/memory_sweep.h"
#include "tests/unit/dialect/chat_written.h"

#include <stdio.h>

/* OpenAI refuses an object whose properties are not named, which Anthropic takes. */
static void an_object_without_properties_gets_empty_ones(void **state)
{
    (void)state;

    static const struct {
        const char *schema;
        const char *written;
    } rows[] = {
        {"{}", "\"parameters\":{\"type\":\"object\",\"properties\":{}}}"},
        {"{ \"type\":\"object\"}", "\"parameters\":{\"properties\":{}, \"type\":\"object\"}}"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{}}}",
         "\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{}}}}"},
        {"{\"$ref\":\"#/$defs/a\"}", "\"parameters\":{\"$ref\":\"#/$defs/a\"}}"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct written written;
        char body[512];
        (void)snprintf(body, sizeof(body),
                       AN("\"tools\":[{\"name\":\"f\",\"input_schema\":%s}]," HI), rows[i].schema);
        start(&written);
        is_carried(&written, ACOG_SURFACE_MESSAGES, body);
        has(&written, rows[i].written);
        forget(&written);
    }
}

static void tools_and_choices_have_their_forms(void **state)
{
    (void)state;

    static const struct {
        const char *body;
        const char *piece;
    } rows[] = {
        {AN(F "," HI), "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
                       "\"parameters\":{\"properties\":{},\"type\":\"object\"}}}],"
                       "\"max_tokens\""},
        {AN(F "," HI ",\"tool_choice\":{\"type\":\"auto\"}"), "\"tool_choice\":\"auto\""},
        {AN(F "," HI ",\"tool_choice\":{\"type\":\"any\"}"), "\"tool_choice\":\"required\""},
        {AN(F "," HI ",\"tool_choice\":{\"type\":\"none\"}"), "\"tool_choice\":\"none\""},
        {AN(F "," HI ",\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\"}"),
         "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"},
        {AN(F "," HI ",\"tool_choice\":{\"type\":\"auto\",\"disable_parallel_tool_use\":true}"),
         "\"tool_choice\":\"auto\",\"parallel_tool_calls\":false"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct written written;
        start(&written);
        is_carried(&written, ACOG_SURFACE_MESSAGES, rows[i].body);
        has(&written, rows[i].piece);
        dropped(&written, "");
        forget(&written);
    }
}

/* B30 */
static void server_tools_are_refused_by_name(void **state)
{
    (void)state;
    refused(
        ACOG_SURFACE_MESSAGES, NULL,
        AN("\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\",\"max_uses\":2},"
           "{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}}]," HI),
        "web_search_20250305");
}

static void cache_markers_are_named_as_lost(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES,
               AN("\"tools\":[{\"name\":\"f\",\"input_schema\":{},\"cache_control\":{\"type\":"
                  "\"ephemeral\"}}]," TURNS(USER("[{\"type\":\"text\",\"text\":\"hi\","
                                                 "\"cache_control\":{\"type\":\"ephemeral\"}}]"))));
    has_not(&written, "cache_control");
    dropped(&written, "messages.cache_control, tools.cache_control");
    forget(&written);
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES,
               AN("\"system\":[{\"type\":\"text\",\"text\":\"be\",\"cache_control\":{\"type\":"
                  "\"ephemeral\"}}]," HI));
    dropped(&written, "system.cache_control");
    forget(&written);
    start(&written);
    is_carried(
        &written, ACOG_SURFACE_RESPONSES,
        "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
        "\"text\":\"hi\",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}");
    dropped(&written, "input.cache_control");
    forget(&written);
}

#define SCHEMA                                                                              \
    "{\"type\":\"object\",\"properties\":{\"age\":{\"type\":\"number\",\"maximum\":1.50}}," \
    "\"required\":[\"age\"],\"additionalProperties\":false}"
#define AN_SCHEMA "\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":" SCHEMA "}}"

static void a_schema_is_native_or_a_forced_tool_or_refused(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(AN_SCHEMA "," HI));
    has(&written, "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":"
                  "\"structured_answer\",\"schema\":" SCHEMA ",\"strict\":true}}");
    assert_false(written.translation.schema_by_tool);
    forget(&written);
    start(&written);
    written.rules.schema = ACOG_SCHEMA_TOOL;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(AN_SCHEMA "," HI));
    has(&written,
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"structured_answer\","
        "\"parameters\":" SCHEMA "}}],\"tool_choice\":{\"type\":\"function\",\"function\":{"
        "\"name\":\"structured_answer\"}}");
    has_not(&written, "response_format");
    assert_true(written.translation.schema_by_tool);
    struct acog_model_rules rules = written.rules;
    forget(&written);
    refused(ACOG_SURFACE_MESSAGES, &rules, AN(AN_SCHEMA "," F "," HI), "while it is offered tools");
    rules.schema = ACOG_SCHEMA_NONE;
    refused(ACOG_SURFACE_MESSAGES, &rules, AN(AN_SCHEMA "," HI), "cannot be held to a JSON schema");
}

static void json_mode_and_what_a_chat_client_says_of_its_schema_are_kept(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_CHAT,
               AN(HI ",\"response_format\":{\"type\":\"json_object\"}"));
    has(&written, "\"response_format\":{\"type\":\"json_object\"}");
    forget(&written);
    is_carried(&written, ACOG_SURFACE_CHAT,
               AN(HI
                  ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"p\","
                  "\"description\":\"d\",\"schema\":" SCHEMA "}}"));
    has(&written, "\"json_schema\":{\"name\":\"p\",\"description\":\"d\",\"schema\":" SCHEMA "}}");
    forget(&written);
}

/* B27 */
static void the_limit_has_the_name_that_the_model_knows(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    written.rules.max_completion_tokens = true;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI));
    has(&written, "\"max_completion_tokens\":50");
    has_not(&written, "\"max_tokens\"");
    assert_int_equal(written.translation.max_tokens, 50);
    forget(&written);
    written.rules.largest_output_tokens = 40;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI));
    has(&written, "\"max_completion_tokens\":40");
    dropped(&written, "max_tokens");
    assert_int_equal(written.translation.max_tokens, 40);
    forget(&written);
    start(&written);
    is_carried(&written, ACOG_SURFACE_CHAT, "{\"model\":\"m\"," HI "}");
    has_not(&written, "max_");
    assert_int_equal(written.translation.max_tokens, -1);
    forget(&written);
}

/* B51: the upstream is always asked. */
static void a_stream_asks_for_usage(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    written.translation.stream = true;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI ",\"stream\":true"));
    has(&written, "\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    forget(&written);
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI));
    has_not(&written, "stream");
    forget(&written);
}

static void thinks(const struct acog_model_rules *rules, const char *members, const char *piece,
                   const char *lost)
{
    struct written written;
    char body[1024];
    struct acog_buffer text;
    acog_buffer_init_over(&text, body, sizeof(body) - 1);
    assert_int_equal(
        acog_buffer_format(&text, "{\"model\":\"m\",\"max_tokens\":50000,%s,%s}", HI, members),
        ACOG_OK);
    body[text.len] = '\0';
    start(&written);
    written.rules = *rules;
    is_carried(&written, ACOG_SURFACE_MESSAGES, body);
    if (piece[0] != '\0') {
        has(&written, piece);
    } else {
        has_not(&written, "reasoning_effort");
    }
    dropped(&written, lost);
    forget(&written);
}

#define BUDGET(tokens) "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":" tokens "}"

/* B22, the other way round */
static void a_budget_becomes_the_nearest_word(void **state)
{
    (void)state;
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_CHAT);
    thinks(&rules, BUDGET("2048"), "", "thinking");
    thinks(&rules, "\"output_config\":{\"effort\":\"low\"}", "", "output_config.effort");
    thinks(&rules, "\"thinking\":{\"type\":\"disabled\"}", "", "");
    rules.thinking = ACOG_THINKING_EFFORT;
    rules.efforts =
        ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_MEDIUM) | ACOG_BIT(ACOG_EFFORT_HIGH);
    thinks(&rules, BUDGET("4096"), "\"reasoning_effort\":\"low\"", "");
    thinks(&rules, BUDGET("8192"), "\"reasoning_effort\":\"medium\"", "");
    thinks(&rules, BUDGET("16384"), "\"reasoning_effort\":\"high\"", "");
    thinks(&rules, BUDGET("32768"), "\"reasoning_effort\":\"high\"", "thinking");
    thinks(&rules, "\"thinking\":{\"type\":\"disabled\"}", "\"reasoning_effort\":\"low\"",
           "thinking");
    thinks(&rules, "\"thinking\":{\"type\":\"adaptive\"}", "", "");
    rules.efforts |= ACOG_BIT(ACOG_EFFORT_NONE);
    thinks(&rules, "\"thinking\":{\"type\":\"disabled\"}", "\"reasoning_effort\":\"none\"", "");
}

static void only_four_stops_are_sent(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES,
               AN(HI ",\"stop_sequences\":[\"a\",\"b\",\"c\",\"d\",\"e\"]"));
    has(&written, "\"stop\":[\"a\",\"b\",\"c\",\"d\"]");
    dropped(&written, "stop_sequences");
    forget(&written);
    start(&written);
    written.rules.stop = false;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI ",\"stop_sequences\":[\"a\"]"));
    has_not(&written, "stop");
    dropped(&written, "stop_sequences");
    forget(&written);
}

/* B23 from the other side, and B12 for models that take no temperature. */
static void fields_are_copied_or_named(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES,
               AN(HI ",\"temperature\":0.70,\"top_k\":5,\"metadata\":{\"user_id\":\"u-81f3\"}"));
    has(&written, "\"temperature\":0.70");
    has(&written, "\"user\":\"u-81f3\"");
    has_not(&written, "top_k");
    dropped(&written, "top_k");
    forget(&written);
    written.rules.temperature = false;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI ",\"temperature\":0.7,\"top_p\":0.5"));
    has_not(&written, "temperature");
    dropped(&written, "temperature, top_p");
    forget(&written);
}

/* A request of chat that is read and written says the same again. */
static void a_request_of_chat_survives_reading_and_writing(void **state)
{
    (void)state;
    struct written written;
    const char *body =
        "{\"model\":\"gpt\",\"messages\":[{\"role\":\"system\",\"content\":\"s\"},"
        "{\"role\":\"user\",\"content\":[" TEXT(
            "a") "," IMAGE_OUT "]},"
                 "{\"role\":\"assistant\",\"content\":\"b\",\"tool_calls\":[{\"id\":\"c1\",\"type\":"
                 "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\": 1.0}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"r\"}],"
                 "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\","
                 "\"parameters\":{\"properties\":{},\"type\":\"object\"},\"strict\":true}}],"
                 "\"tool_choice\":\"auto\","
                 "\"parallel_tool_calls\":false,\"max_tokens\":7,\"stop\":[\"x\"],\"user\":\"u1\","
                 "\"temperature\":0.1,\"top_p\":0.9,\"frequency_penalty\":1,\"seed\":7,"
                 "\"logit_bias\":{\"1\":2},\"metadata\":{\"k\":\"v\"}}";
    start(&written);
    is_carried(&written, ACOG_SURFACE_CHAT, body);
    if (!acog_view_equal(acog_buffer_view(&written.out), acog_view_of(body))) {
        fail_msg("gave: %.*s\n  want: %s", (int)written.out.len, written.out.ptr, body);
    }
    dropped(&written, "");
    forget(&written);
}

/* -- memory ----------------------------------------------------------------------------------------------- */

#define RICH                                                       \
    AN("\"system\":\"s\"," F ",\"stop_sequences\":[\"x\"]," TURNS( \
        USER("\"q\"") "," THINKS_AND_CALLS("{\\\"signature\\\":\\\"s\\\"}")))

static void story(void *user)
{
    struct acog_arena arena;
    struct acog_buffer out;
    const struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_CHAT);
    struct acog_translation translation = {.client = ACOG_DIALECT_MESSAGES,
                                           .upstream = ACOG_DIALECT_CHAT,
                                           .rules = &rules,
                                           .model = ACOG_VIEW("gpt")};
    const struct acog_conversation *conversation = NULL;
    struct acog_request_problem problem;
    (void)user;
    acog_arena_init(&arena, 1U << 20U);
    acog_buffer_init(&out, OUT_BYTES_MAX);
    enum acog_code code = acog_conversation_read(ACOG_SURFACE_MESSAGES, ACOG_VIEW(RICH), &arena,
                                                 &conversation, &problem);
    if (code == ACOG_OK) {
        code = acog_conversation_write(conversation, &translation, &arena, &out);
    }
    assert_int_equal(code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    acog_buffer_fini(&out);
    acog_arena_fini(&arena);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(memory_sweep(story, NULL, 1) > 0);
}

static void a_full_buffer_is_an_error_and_no_crash(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES, RICH);
    size_t bytes = written.out.len;
    for (size_t room = 1; room <= bytes; room++) {
        acog_buffer_init_over(&written.out, written.memory, room);
        enum acog_code code = acog_conversation_write(written.conversation, &written.translation,
                                                      &written.arena, &written.out);
        assert_int_equal(code, room < bytes ? ACOG_TOO_BIG : ACOG_OK);
    }
    forget(&written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_without_properties_gets_empty_ones),
        cmocka_unit_test(tools_and_choices_have_their_forms),
        cmocka_unit_test(server_tools_are_refused_by_name),
        cmocka_unit_test(cache_markers_are_named_as_lost),
        cmocka_unit_test(a_schema_is_native_or_a_forced_tool_or_refused),
        cmocka_unit_test(json_mode_and_what_a_chat_client_says_of_its_schema_are_kept),
        cmocka_unit_test(the_limit_has_the_name_that_the_model_knows),
        cmocka_unit_test(a_stream_asks_for_usage),
        cmocka_unit_test(a_budget_becomes_the_nearest_word),
        cmocka_unit_test(only_four_stops_are_sent),
        cmocka_unit_test(fields_are_copied_or_named),
        cmocka_unit_test(a_request_of_chat_survives_reading_and_writing),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(a_full_buffer_is_an_error_and_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
