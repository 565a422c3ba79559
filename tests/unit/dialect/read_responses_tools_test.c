/* read_responses_tools_test.c - what the tools of a client's Responses request are told as, and which may be called. */
#include "responses_body.h"
#include "tests/support/memory_sweep.h"

/* The tools as a text, and behind it each one that the client calls otherwise. */
static void are_told_as(const char *more, const char *expected)
{
    struct bench bench;
    struct acog_buffer shown;
    acog_buffer_init(&shown, BYTES_MAX);
    const struct acog_conversation *conversation = with(&bench, more);
    show_tools(&shown, conversation);
    for (const struct acog_tool_identity *identity = conversation->identities; identity != NULL;
         identity = identity->next) {
        show_view(&shown, identity->told);
        show_view(&shown, identity->custom ? ACOG_VIEW(" is custom ") : ACOG_VIEW(" is "));
        show_text(&shown, acog_text_plain(identity->name_space));
        show_text(&shown, acog_text_plain(identity->name));
        show_view(&shown, ACOG_VIEW("\n"));
    }
    assert_quoted(acog_buffer_view(&shown), expected);
    acog_buffer_fini(&shown);
    end(&bench);
}

static void tools_are_refused(const char *tools, const char *problem)
{
    char body[4096];
    int length = snprintf(body, sizeof(body), "{'model':'m','input':'x','tools':[%s]}", tools);
    assert_true(length > 0 && (size_t)length < sizeof(body));
    is_refused(body, problem);
}

#define SPACE(name, tools) "{'type':'namespace','name':'" name "','tools':[" tools "]}"
#define FUNCTION(name)     "{'type':'function','name':'" name "'}"
#define CUSTOM(name)       "{'type':'custom','name':'" name "'}"
#define TEXT_SCHEMA                                                                           \
    " schema {'type':'object','properties':{'input':{'type':'string'}},'required':['input']," \
    "'additionalProperties':false}"
#define TEN   "abcdefghij"
#define SIXTY TEN TEN TEN TEN TEN TEN

/* -- tools ----------------------------------------------------------------------------------------- */

/* Codex gives all its tools so to the newest models. */
static void an_item_of_the_input_may_declare_tools(void **state)
{
    (void)state;
    struct bench bench;
    assert_int_equal(
        read_body(
            &bench,
            "{'model':'m','tools':[" FUNCTION(
                "f") "],'input':[{'type':"
                     "'additional_tools','role':'developer','tools':[" SPACE(
                         "n", FUNCTION("g")) "," CUSTOM("c") "]},{'role':'user','content':'x'}"
                                                             "]}"),
        ACOG_OK);
    const struct acog_tool *tool = bench.conversation->tools;
    assert_true(is(tool->name, "'f'") && is(tool->next->name, "'n__g'"));
    assert_true(is(tool->next->next->name, "'c'"));
    assert_null(tool->next->next->next);
    assert_null(bench.conversation->unknown);
    assert_int_equal(bench.conversation->turns->role, ACOG_TURN_USER);
    end(&bench);
    is_refused("{'model':'m','input':[{'role':'user','content':'x'},{'type':'additional_tools',"
               "'tools':[{'type':'function'}]}]}",
               "input[1].tools[0].name: must be a string");
}

#define ITEM(tools) "{'type':'additional_tools','tools':[" tools "]}"

/* Codex sends the items of earlier turns again. */
static void a_tool_that_an_item_declares_again_is_told_once(void **state)
{
    (void)state;
    struct bench bench;
    assert_int_equal(
        read_body(
            &bench,
            "{'model':'m','tools':[" FUNCTION("f") "],'input':[" ITEM(FUNCTION("g") "," CUSTOM("c") "," SPACE("n", FUNCTION("f") "," CUSTOM("f"))) ",{'role':'user','content':'x'}," ITEM(
                SPACE("n", FUNCTION("f")) "," CUSTOM("c") "," FUNCTION(
                    "f") ",{'type':'function','name':'\\u0067','description':'new'}") "," ITEM(FUNCTION("h")) "]}"),
        ACOG_OK);
    const char *const names[] = {"'f'", "'\\u0067'", "'c'", "'n__f'"};
    const struct acog_tool *tool = bench.conversation->tools;
    for (size_t i = 0; i < 4; i++, tool = tool->next) {
        assert_true(is(tool->name, names[i]));
    }
    assert_true(is(bench.conversation->tools->next->description, "'new'"));
    assert_true(tool->identity->custom && is(tool->next->name, "'h'"));
    assert_null(tool->next->next);
    const struct acog_tool_identity *identity = bench.conversation->identities;
    assert_null(identity->next->next->next);
    end(&bench);
}

static void tools_that_are_declared_again_do_not_count_again(void **state)
{
    (void)state;
    struct bench bench;
    struct acog_buffer body;
    acog_buffer_init(&body, (size_t)1 << 20U);
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("{'model':'m','input':[")), ACOG_OK);
    for (unsigned i = 0; i <= ACOG_IDENTITIES_MAX; i++) {
        assert_int_equal(
            acog_buffer_format(&body, ITEM(CUSTOM("c%u")) ",", i % ACOG_IDENTITIES_MAX), ACOG_OK);
    }
    size_t items = body.len;
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("{'role':'user','content':'x'}]}\0")),
                     ACOG_OK);
    assert_int_equal(read_body(&bench, body.ptr), ACOG_OK);
    end(&bench);
    body.len = items;
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW(ITEM(CUSTOM("d")) "]}\0")), ACOG_OK);
    is_refused(body.ptr, "tools: more than 512 are custom or in namespaces");
    acog_buffer_fini(&body);
}

static void a_function_is_flat_and_any_other_tool_is_refused_by_its_type(void **state)
{
    (void)state;
    struct bench bench;
    const struct acog_tool *tool =
        with(&bench, ",'tools':[{'type':'function','name':'f','description':'d','parameters':"
                     "{'type':'object','x':1.50},'strict':true,'defer_loading':true},"
                     "{'type':'function','name':'g','parameters':null,'strict':null}]")
            ->tools;
    assert_true(is(tool->name, "'f'") && is(tool->description, "'d'"));
    assert_true(is(tool->schema, "{'type':'object','x':1.50}") && is(tool->strict, "true"));
    assert_true(is(tool->next->name, "'g'"));
    assert_false(acog_json_present(tool->next->schema) || acog_json_present(tool->next->strict));
    assert_null(tool->next->next);
    assert_true(names(bench.conversation, "tools.defer_loading"));
    end(&bench);
    does_not_fit(",'tools':[{'type':'web_search_preview'}]", "web_search_preview");
    is_refused("{'model':'m','input':'x','tools':[{'type':'function','name':'f','parameters':"
               "'x'}]}",
               "tools[0].parameters: must be an object");
    is_refused("{'model':'m','input':'x','tools':[{'type':'function'}]}",
               "tools[0].name: must be a string");
    is_refused("{'model':'m','input':'x','tools':[{'name':'f'}]}", "tools[0].type: must be");
}

#define TWO_TOOLS ",'tools':[{'type':'function','name':'f'},{'type':'function','name':'g'}]"

/* B08, B09 */
static void a_tool_choice_has_many_forms(void **state)
{
    (void)state;

    static const struct {
        const char *value;
        enum acog_tool_choice choice;
    } rows[] = {
        {"'auto'", ACOG_TOOL_CHOICE_AUTO},
        {"'none'", ACOG_TOOL_CHOICE_NONE},
        {"'required'", ACOG_TOOL_CHOICE_REQUIRED},
        {"null", ACOG_TOOL_CHOICE_UNSET},
        {"{'type':'function','name':'g'}", ACOG_TOOL_CHOICE_NAMED},
    };
    struct bench bench;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char more[256];
        (void)snprintf(more, sizeof(more), TWO_TOOLS ",'tool_choice':%s", rows[i].value);
        assert_int_equal(with(&bench, more)->tool_choice, rows[i].choice);
        end(&bench);
    }
    assert_true(with(&bench, TWO_TOOLS ",'parallel_tool_calls':false")->parallel_off);
    end(&bench);
    assert_false(with(&bench, TWO_TOOLS ",'parallel_tool_calls':true")->parallel_off);
    end(&bench);
    is_refused("{'model':'m','input':'x'" TWO_TOOLS ",'tool_choice':'any'}",
               "tool_choice: must be auto, none or required");
    is_refused("{'model':'m','input':'x'" TWO_TOOLS ",'tool_choice':{'type':'function','name':"
               "'missing'}}",
               "no tool is named 'missing'");
    is_refused("{'model':'m','input':'x'" TWO_TOOLS ",'tool_choice':{'type':'mcp'}}",
               "tool_choice: a tool of type 'mcp'");
}

static void allowed_tools_are_the_only_ones_that_are_told(void **state)
{
    (void)state;
    struct bench bench;
    const struct acog_conversation *conversation =
        with(&bench, ",'tools':[{'type':'function','name':'f'},{'type':'web_search'},"
                     "{'type':'function','name':'g'},{'type':'function','name':'h'}],"
                     "'tool_choice':{'type':'allowed_tools','mode':'required','tools':["
                     "{'type':'function','name':'h'},{'type':'function','name':'\\u0066'}]}");
    assert_int_equal(conversation->tool_choice, ACOG_TOOL_CHOICE_REQUIRED);
    assert_true(is(conversation->tools->name, "'f'"));
    assert_true(is(conversation->tools->next->name, "'h'"));
    assert_null(conversation->tools->next->next);
    end(&bench);
    is_refused("{'model':'m','input':'x'" TWO_TOOLS ",'tool_choice':{'type':'allowed_tools',"
               "'mode':'auto','tools':[{'type':'function','name':'z'}]}}",
               "tool_choice.tools: names no tool that is declared");
    is_refused("{'model':'m','input':'x'" TWO_TOOLS ",'tool_choice':{'type':'allowed_tools',"
               "'mode':'auto'}}",
               "tool_choice.tools: must be a list");
    char many[8192] = "{'model':'m','input':'x'" TWO_TOOLS
                      ",'tool_choice':{'type':'allowed_tools','mode':'auto','tools':[{}";
    size_t length = strlen(many);
    for (int i = 0; i < 256; i++) {
        length += (size_t)snprintf(many + length, sizeof(many) - length, ",{'name':'z'}");
    }
    (void)snprintf(many + length, sizeof(many) - length, "]}}");
    is_refused(many, "tool_choice.tools: more than 256");
}

/* -- namespaces ------------------------------------------------------------------------------------ */

static void the_functions_of_a_namespace_are_told_flat(void **state)
{
    (void)state;
    are_told_as(",'tools':[{'type':'namespace','name':'crm','description':'All \\u00e4','tools':["
                "{'type':'function','name':'get','description':'One','parameters':{'type':"
                "'object'},'strict':true},{'type':'function','name':'list'}]}," FUNCTION("get") "]",
                "tool name 'crm__get' description 'All \\u00e4\\n\\nOne' schema {'type':'object'}"
                " strict true\n"
                "tool name 'crm__list' description 'All \\u00e4'\n"
                "tool name 'get'\n"
                "crm__get is  'crm' 'get'\ncrm__list is  'crm' 'list'\n");
    are_told_as(",'tools':[{'type':'namespace','name':'crm','description':'','tools':["
                "{'type':'function','name':'get','description':'One'}]}]",
                "tool name 'crm__get' description 'One'\ncrm__get is  'crm' 'get'\n");
    are_told_as(",'tools':[" SPACE("crm", "") "]", "");
}

static void a_name_is_legal_everywhere_and_no_two_tools_have_one(void **state)
{
    (void)state;
    are_told_as(",'tools':[" SPACE("1 ä.b", FUNCTION("g-\\u0041/")) "]",
                "tool name '_____b__g-A_'\n_____b__g-A_ is  '1 ä.b' 'g-A/'\n");
    are_told_as(",'tools':[" SPACE("a", FUNCTION("b")) "," FUNCTION("a__b") "]",
                "tool name 'a__b_c03d9699'\ntool name 'a__b'\na__b_c03d9699 is  'a' 'b'\n");
    are_told_as(",'tools':[" SPACE("a", FUNCTION("b__c")) "," SPACE("a__b", FUNCTION("c")) "]",
                "tool name 'a__b__c'\ntool name 'a__b__c_8b3e06b2'\n"
                "a__b__c is  'a' 'b__c'\na__b__c_8b3e06b2 is  'a__b' 'c'\n");
    are_told_as(",'tools':[" SPACE(SIXTY, FUNCTION("zz") "," FUNCTION("yyy")) "]",
                "tool name '" SIXTY "__zz'\n"
                "tool name '" TEN TEN TEN TEN TEN "abcde_da3c0e01'\n" SIXTY "__zz is  '" SIXTY
                "' 'zz'\n" TEN TEN TEN TEN TEN "abcde_da3c0e01 is  '" SIXTY "' 'yyy'\n");
    tools_are_refused(SPACE("a", FUNCTION("b") "," FUNCTION("b") "," FUNCTION("b")),
                      "tools: two would be told as 'a__b_");
}

static void a_namespace_that_makes_no_sense_is_refused_with_its_place(void **state)
{
    (void)state;
    tools_are_refused(FUNCTION("f") ",{'type':'namespace','tools':[]}",
                      "tools[1].name: must be a string");
    tools_are_refused("{'type':'namespace','name':'n'}", "tools[0].tools: must be a list");
    tools_are_refused(SPACE("n", "{'type':'function','name':''}"),
                      "tools[0].tools[0].name: must be a string");
    tools_are_refused(SPACE("n", FUNCTION("f") ",{'name':'g'}"),
                      "tools[0].tools[1].type: must be function or custom");
    tools_are_refused(SPACE("n", SPACE("m", "")),
                      "tools[0].tools[0].type: must be function or custom");
    tools_are_refused(SPACE("n", "{'type':'web_search'}"),
                      "tools[0].tools[0].type: must be function or custom");
    tools_are_refused(SPACE("n", FUNCTION(SIXTY SIXTY SIXTY SIXTY SIXTY)),
                      "tools[0].tools[0]: a name is longer than 256 bytes");
    tools_are_refused(SPACE(SIXTY SIXTY SIXTY SIXTY SIXTY, FUNCTION("f")), "longer than 256");
}

static void members_of_a_namespace_that_nothing_has_a_place_for_are_named(void **state)
{
    (void)state;
    struct bench bench;
    char more[2048];
    char much[1100];
    const struct acog_conversation *conversation =
        with(&bench, ",'tools':[{'type':'namespace','name':'n','color':1,'tools':[{'type':"
                     "'function','name':'f','defer_loading':true}]}]");
    assert_true(names(conversation, "tools.color"));
    assert_true(names(conversation, "tools.defer_loading"));
    end(&bench);
    memset(much, 'd', sizeof(much) - 1);
    much[sizeof(much) - 1] = '\0';
    (void)snprintf(more, sizeof(more),
                   ",'tools':[{'type':'namespace','name':'n','description':'%s','tools':["
                   "{'type':'function','name':'f','description':'d'}]}]",
                   much);
    conversation = with(&bench, more);
    assert_true(is(conversation->tools->description, "'d'"));
    assert_true(names(conversation, "tools.description"));
    end(&bench);
}

static void a_request_has_few_tools_with_an_identity(void **state)
{
    (void)state;
    struct acog_buffer body;
    acog_buffer_init(&body, BYTES_MAX);
    for (size_t count = ACOG_IDENTITIES_MAX; count <= ACOG_IDENTITIES_MAX + 1; count++) {
        struct bench bench;
        acog_buffer_clear(&body, SIZE_MAX);
        show_view(&body, ACOG_VIEW("{'model':'m','input':'x','tools':["));
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(
                acog_buffer_format(&body, "%s{'type':'custom','name':'t%zu'}", i > 0 ? "," : "", i),
                ACOG_OK);
        }
        assert_int_equal(acog_buffer_append(&body, (struct acog_view){"]}", 3}), ACOG_OK);
        enum acog_code code = read_body(&bench, body.ptr);
        assert_int_equal(code, count > ACOG_IDENTITIES_MAX ? ACOG_INVALID : ACOG_OK);
        end(&bench);
    }
    acog_buffer_fini(&body);
}

/* -- custom tools ---------------------------------------------------------------------------------- */

static void a_custom_tool_is_told_as_a_function_of_one_text(void **state)
{
    (void)state;
    are_told_as(",'tools':[{'type':'custom','name':'c','description':'Write.','format':{'type':"
                "'text'}}," SPACE("n", CUSTOM("c")) "]",
                "tool name 'c' description 'Write.'" TEXT_SCHEMA "\n"
                "tool name 'n__c'" TEXT_SCHEMA "\n"
                "c is custom  '' 'c'\nn__c is custom  'n' 'c'\n");
    tools_are_refused("{'type':'custom'}", "tools[0].name: must be a string");
}

/* Lingua's transform_errors.json. */
static void a_grammar_is_described_to_the_model_and_named_as_dropped(void **state)
{
    (void)state;
    struct bench bench;
    are_told_as(",'tools':[{'type':'custom','name':'c','description':'Patch.','format':{'type':"
                "'grammar','syntax':'lark','definition':'start: \\'x\\'\\n'}}]",
                "tool name 'c' description 'Patch.\\n\\nThe input must match this grammar:\\n\\n"
                "start: \\'x\\'\\n'" TEXT_SCHEMA "\nc is custom  '' 'c'\n");
    are_told_as(
        ",'tools':[{'type':'custom','name':'c','format':{'type':'grammar','syntax':'regex',"
        "'definition':'a+'}}]",
        "tool name 'c' description 'The input must match this regular expression:\\n\\na+'" TEXT_SCHEMA
        "\nc is custom  '' 'c'\n");
    assert_true(names(with(&bench, ",'tools':[{'type':'custom','name':'c','format':{'type':"
                                   "'grammar','syntax':'regex','definition':'a+'}}]"),
                      "tools.format"));
    end(&bench);
    assert_false(names(with(&bench, ",'tools':[{'type':'custom','name':'c','format':{'type':"
                                    "'text'}},{'type':'custom','name':'d','format':null}]"),
                       "tools.format"));
    end(&bench);
}

/* -- which may be called --------------------------------------------------------------------------- */

#define MANY_TOOLS                                                                      \
    ",'tools':[" SPACE("a", FUNCTION("f") "," CUSTOM("c")) "," FUNCTION("f") "," SPACE( \
        "b", FUNCTION("g") "," CUSTOM("c")) "," CUSTOM("d") "]"

static void is_chosen(const char *choice, const char *name)
{
    struct bench bench;
    char more[1024];
    (void)snprintf(more, sizeof(more), MANY_TOOLS ",'tool_choice':%s", choice);
    const struct acog_conversation *conversation = with(&bench, more);
    assert_int_equal(conversation->tool_choice, ACOG_TOOL_CHOICE_NAMED);
    if (!is(conversation->tool_choice_name, name)) {
        fail_msg("%s\nchose %.*s", choice, ACOG_VIEW_FMT(conversation->tool_choice_name.raw));
    }
    end(&bench);
}

static void a_tool_is_chosen_by_the_name_that_the_client_has_for_it(void **state)
{
    (void)state;
    is_chosen("{'type':'function','name':'f'}", "'f'");
    is_chosen("{'type':'function','name':'f','namespace':'a'}", "'a__f'");
    is_chosen("{'type':'function','name':'g'}", "'b__g'");
    is_chosen("{'type':'custom','name':'c','namespace':'b'}", "'b__c'");
    is_chosen("{'type':'custom','name':'d'}", "'d'");
    is_refused("{'model':'m','input':'x'" MANY_TOOLS ",'tool_choice':{'type':'custom','name':'c'}}",
               "tool_choice: more than one tool has that name");
    is_refused("{'model':'m','input':'x'" MANY_TOOLS
               ",'tool_choice':{'type':'function','name':'f','namespace':'b'}}",
               "tool_choice: no tool of that namespace has that name");
}

static void are_allowed(const char *entries, const char *expected)
{
    struct bench bench;
    struct acog_buffer shown;
    char more[1024];
    acog_buffer_init(&shown, BYTES_MAX);
    (void)snprintf(more, sizeof(more),
                   MANY_TOOLS ",'tool_choice':{'type':'allowed_tools','mode':'auto','tools':[%s]}",
                   entries);
    for (const struct acog_tool *tool = with(&bench, more)->tools; tool != NULL;
         tool = tool->next) {
        show_view(&shown, acog_text_of(tool->name).bytes);
        show_view(&shown, ACOG_VIEW(" "));
    }
    assert_quoted(acog_buffer_view(&shown), expected);
    acog_buffer_fini(&shown);
    end(&bench);
}

static void allowed_tools_may_be_named_with_their_namespace_or_by_it(void **state)
{
    (void)state;
    are_allowed("{'type':'function','name':'f'}", "a__f f ");
    are_allowed("{'type':'function','name':'f','namespace':'a'}", "a__f ");
    are_allowed("{'type':'namespace','name':'b'}", "b__g b__c ");
    are_allowed("{'type':'custom','name':'c'},{'type':'custom','name':'d'}", "a__c b__c d ");
}

/* -- memory ---------------------------------------------------------------------------------------- */

static void read_many(void *user)
{
    struct acog_arena arena;
    struct acog_request_problem problem = {{0}};
    const struct acog_conversation *conversation = NULL;
    acog_arena_init(&arena, BYTES_MAX);
    enum acog_code code = acog_conversation_read(ACOG_SURFACE_RESPONSES, acog_view_of(user), &arena,
                                                 &conversation, &problem);
    assert_int_equal(code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    acog_arena_fini(&arena);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    char *body = with_quotes("{'model':'m','input':[{'role':'user','content':'x'},{'type':"
                             "'custom_tool_call','call_id':'1','name':'\\u0063','namespace':'a',"
                             "'input':'i'},{'type':'custom_tool_call_output','call_id':'1',"
                             "'output':'o'}," ITEM(FUNCTION("i")) "," ITEM(
                                 FUNCTION("i")) "]" MANY_TOOLS
                                                ",'tool_choice':{'type':'function','name':'g'}}");
    assert_true(memory_sweep(read_many, body, 1) > 0);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_of_the_input_may_declare_tools),
        cmocka_unit_test(a_tool_that_an_item_declares_again_is_told_once),
        cmocka_unit_test(tools_that_are_declared_again_do_not_count_again),
        cmocka_unit_test(a_function_is_flat_and_any_other_tool_is_refused_by_its_type),
        cmocka_unit_test(a_tool_choice_has_many_forms),
        cmocka_unit_test(allowed_tools_are_the_only_ones_that_are_told),
        cmocka_unit_test(the_functions_of_a_namespace_are_told_flat),
        cmocka_unit_test(a_name_is_legal_everywhere_and_no_two_tools_have_one),
        cmocka_unit_test(a_namespace_that_makes_no_sense_is_refused_with_its_place),
        cmocka_unit_test(members_of_a_namespace_that_nothing_has_a_place_for_are_named),
        cmocka_unit_test(a_request_has_few_tools_with_an_identity),
        cmocka_unit_test(a_custom_tool_is_told_as_a_function_of_one_text),
        cmocka_unit_test(a_grammar_is_described_to_the_model_and_named_as_dropped),
        cmocka_unit_test(a_tool_is_chosen_by_the_name_that_the_client_has_for_it),
        cmocka_unit_test(allowed_tools_may_be_named_with_their_namespace_or_by_it),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
