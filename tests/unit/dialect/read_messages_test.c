/* read_messages_test.c - what a client's Messages request asks for beside its messages (read_messages_content_test.c has
 * those). Bodies have ' for ". */
#include "tests/unit/dialect/messages_body.h"

static void tools_are_the_clients_or_foreign(void **state)
{
    struct bench bench;
    (void)state;
    const struct acog_conversation *conversation = with(
        &bench,
        ",'tools':[{'type':'web_search_20250305','name':'web_search','max_uses':2},{'type':"
        "'mcp_toolset','mcp_server_name':'x'},{'name':'f','description':'d','input_schema':{'type':'object'},'strict':true,'cache_control':{'type':"
        "'ephemeral'},'defer_loading':true},{'type':'custom','name':'g','description':null,"
        "'input_schema':{}}]");
    const struct acog_tool *tool = conversation->foreign_tools;
    assert_true(acog_view_equal(tool->foreign, ACOG_VIEW("web_search_20250305")));
    assert_true(acog_view_equal(tool->next->foreign, ACOG_VIEW("mcp_toolset")));
    assert_null(tool->next->next);
    tool = conversation->tools;
    assert_int_equal(tool->foreign.len, 0);
    assert_true(is(tool->name, "'f'") && is(tool->description, "'d'"));
    assert_true(is(tool->schema, "{'type':'object'}") && tool->strict.type == ACOG_JSON_TRUE);
    assert_true(is(tool->cache, "{'type':'ephemeral'}"));
    tool = tool->next;
    assert_true(is(tool->name, "'g'") && !acog_json_present(tool->description));
    assert_null(tool->next);
    assert_true(names(conversation, "tools.defer_loading"));
    assert_false(names(conversation, "tools.type"));
    end(&bench);
}

/* B08, B09 */
static void a_choice_of_tools_and_one_at_a_time(void **state)
{
    static const struct {
        const char *given;
        enum acog_tool_choice choice;
        bool parallel_off;
    } rows[] = {
        {"null", ACOG_TOOL_CHOICE_UNSET, false},
        {"{'type':'auto'}", ACOG_TOOL_CHOICE_AUTO, false},
        {"{'type':'auto','disable_parallel_tool_use':true}", ACOG_TOOL_CHOICE_AUTO, true},
        {"{'type':'any','disable_parallel_tool_use':false}", ACOG_TOOL_CHOICE_REQUIRED, false},
        {"{'type':'none'}", ACOG_TOOL_CHOICE_NONE, false},
        {"{'type':'tool','name':'f'}", ACOG_TOOL_CHOICE_NAMED, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench bench;
        char more[256];
        struct acog_buffer text;
        acog_buffer_init_over(&text, more, sizeof(more) - 1);
        assert_int_equal(acog_buffer_format(&text,
                                            ",'tools':[{'name':'f','input_schema':{}}],"
                                            "'tool_choice':%s",
                                            rows[i].given),
                         ACOG_OK);
        more[text.len] = '\0';
        const struct acog_conversation *conversation = with(&bench, more);
        assert_int_equal(conversation->tool_choice, rows[i].choice);
        assert_int_equal(conversation->parallel_off, rows[i].parallel_off);
        end(&bench);
    }
    is_refused("{'messages':[{'role':'user','content':'x'}],'tools':[{'name':'f'}],"
               "'tool_choice':{'type':'tool','name':'missing'}}",
               "no tool is named 'missing'");
    is_refused("{'messages':[{'role':'user','content':'x'}],'tool_choice':{'type':'maybe'}}",
               "tool_choice: its type must be");
    is_refused("{'messages':[{'role':'user','content':'x'}],'thread':{'type':'create'}}",
               "thread: the conversation cannot be held");
}

static void limits_stops_and_sampling(void **state)
{
    struct bench bench;
    (void)state;
    const struct acog_conversation *conversation =
        with(&bench, ",'max_tokens':300,'stream':true,'stop_sequences':['END','\\n'],"
                     "'temperature':0.20,'top_k':5,'service_tier':'standard_only','top_p':null");
    assert_int_equal(conversation->max_tokens, 300);
    assert_true(conversation->stream);
    assert_int_equal(conversation->stop_count, 2);
    assert_true(is(conversation->stops[1], "'\\n'"));
    assert_true(is(conversation->fields[ACOG_FIELD_TEMPERATURE], "0.20"));
    assert_true(is(conversation->fields[ACOG_FIELD_TOP_K], "5"));
    assert_true(is(conversation->fields[ACOG_FIELD_SERVICE_TIER], "'standard_only'"));
    assert_false(acog_json_present(conversation->fields[ACOG_FIELD_TOP_P]));
    assert_null(conversation->unknown);
    end(&bench);
    /* B10: zero is a cache warm-up, which nobody else has */
    is_refused("{'max_tokens':0,'messages':[{'role':'user','content':'x'}]}",
               "max_tokens: must be");
    is_refused("{'stop_sequences':['a',1],'messages':[{'role':'user','content':'x'}]}",
               "stop_sequences[1]");
    is_refused("{'stop_sequences':'a','messages':[{'role':'user','content':'x'}]}",
               "stop_sequences: must be a list");
}

/* B22, the reader's half */
static void thinking_in_all_its_forms(void **state)
{
    static const struct {
        const char *more;
        struct acog_reasoning_wish wish;
    } rows[] = {
        {"", {.effort = ACOG_EFFORT_COUNT, .budget_tokens = -1}},
        {",'thinking':{'type':'enabled','budget_tokens':3000}",
         {.given = true, .effort = ACOG_EFFORT_COUNT, .budget_tokens = 3000, .summary = true}},
        {",'thinking':{'type':'adaptive'},'output_config':{'effort':'xhigh'}",
         {.given = true,
          .effort = ACOG_EFFORT_XHIGH,
          .budget_tokens = -1,
          .adaptive = true,
          .summary = true}},
        {",'thinking':{'type':'adaptive','display':'omitted'}",
         {.given = true, .effort = ACOG_EFFORT_COUNT, .budget_tokens = -1, .adaptive = true}},
        {",'thinking':{'type':'disabled'}",
         {.given = true, .off = true, .effort = ACOG_EFFORT_COUNT, .budget_tokens = -1}},
        {",'thinking':{'type':'between_tools'}",
         {.given = true, .off = true, .effort = ACOG_EFFORT_COUNT, .budget_tokens = -1}},
        {",'output_config':{'effort':'low'}",
         {.given = true, .effort = ACOG_EFFORT_LOW, .budget_tokens = -1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench bench;
        const struct acog_reasoning_wish *wish = &with(&bench, rows[i].more)->reasoning;
        assert_int_equal(wish->given, rows[i].wish.given);
        assert_int_equal(wish->off, rows[i].wish.off);
        assert_int_equal(wish->effort, rows[i].wish.effort);
        assert_int_equal(wish->budget_tokens, rows[i].wish.budget_tokens);
        assert_int_equal(wish->adaptive, rows[i].wish.adaptive);
        assert_int_equal(wish->summary, rows[i].wish.summary);
        end(&bench);
    }
    is_refused("{'thinking':{'type':'enabled','budget_tokens':0},'messages':[{'role':'user',"
               "'content':'x'}]}",
               "thinking: must be");
    is_refused("{'thinking':{'type':'enabled'},'messages':[{'role':'user','content':'x'}]}",
               "thinking: must be");
    is_refused("{'output_config':['low'],'messages':[{'role':'user','content':'x'}]}",
               "output_config: must be an object");
}

static void a_format_by_its_new_and_its_old_name(void **state)
{
    static const char *const bodies[] = {
        ",'output_config':{'format':{'type':'json_schema','schema':{'type':'object'}}}",
        ",'output_format':{'type':'json_schema','schema':{'type':'object'}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct bench bench;
        const struct acog_conversation *conversation = with(&bench, bodies[i]);
        assert_int_equal(conversation->format, ACOG_FORMAT_SCHEMA);
        assert_true(is(conversation->schema, "{'type':'object'}"));
        end(&bench);
    }
    is_refused("{'output_format':{'type':'xml'},'messages':[{'role':'user','content':'x'}]}",
               "output_config.format");
}

static void what_nobody_has_a_place_for_is_named(void **state)
{
    struct bench bench;
    (void)state;
    const struct acog_conversation *conversation = with(
        &bench,
        ",'metadata':{'user_id':'u-17','team':1},'speed':'fast','output_config':{'task_budget':"
        "{'type':'tokens'},'effort':'enormous'},'context_management':{'edits':[]},"
        "'mcp_servers':[],'container':null,'anthropic_version':'bedrock-2023-05-31'");
    assert_true(is(conversation->user, "'u-17'"));
    assert_true(names(conversation, "metadata.team"));
    assert_true(names(conversation, "speed"));
    assert_true(names(conversation, "output_config.task_budget"));
    assert_true(names(conversation, "output_config.effort"));
    assert_false(names(conversation, "anthropic_version"));
    assert_true(acog_json_present(conversation->fields[ACOG_FIELD_CONTEXT_MANAGEMENT]));
    assert_false(acog_json_present(conversation->fields[ACOG_FIELD_MCP_SERVERS]));
    assert_false(acog_json_present(conversation->fields[ACOG_FIELD_CONTAINER]));
    end(&bench);
}

/* B23 */
static void a_person_is_not_told_on(void **state)
{
    struct bench bench;
    (void)state;
    const struct acog_conversation *conversation =
        with(&bench, ",'metadata':{'user_id':'pat@mail.example'}");
    assert_false(acog_json_present(conversation->user));
    assert_true(names(conversation, "metadata.user_id"));
    end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_are_the_clients_or_foreign),
        cmocka_unit_test(a_choice_of_tools_and_one_at_a_time),
        cmocka_unit_test(limits_stops_and_sampling),
        cmocka_unit_test(thinking_in_all_its_forms),
        cmocka_unit_test(a_format_by_its_new_and_its_old_name),
        cmocka_unit_test(what_nobody_has_a_place_for_is_named),
        cmocka_unit_test(a_person_is_not_told_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
