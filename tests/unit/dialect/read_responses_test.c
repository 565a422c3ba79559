/* read_responses_test.c - what a client's Responses request means, but for its tools. */
#include "responses_body.h"
#include "tests/support/memory_sweep.h"

/* -- messages -------------------------------------------------------------------------------------- */

static void an_input_is_a_text_or_items(void **state)
{
    (void)state;
    is_read_as("{'model':'m','input':'hi \\u00e9'}", "user text 'hi \\u00e9'\n");
    items_are_read_as("{'role':'user','content':'a'},"
                      "{'type':'message','role':'user','content':[{'type':'input_text','text':'b'},"
                      "{'type':'input_text','text':'c'}]}",
                      "user text 'a'\nuser text 'b'\nuser text 'c'\n");
    items_are_read_as("{'role':'user','content':'a'},"
                      "{'role':'assistant','content':'b'},"
                      "{'type':'message','role':'assistant','id':'msg_1','status':'completed',"
                      "'content':[{'type':'output_text','text':'c','annotations':[]},"
                      "{'type':'refusal','refusal':'no'}]},"
                      "{'role':'user','content':'d'}",
                      "user text 'a'\nassistant text 'b'\nassistant text 'c'\n"
                      "assistant refusal 'no'\nuser text 'd'\n");
    is_refused("{'model':'m'}", "input: must be a string or a list");
    is_refused("{'model':'m','input':''}", "no message");
    items_are_refused("5", "input[0]: must be an object");
    items_are_refused("{'role':'user','content':'a'},{'role':'robot','content':'a'}",
                      "input[1].role: must be");
    items_are_refused("{'role':'user'}", "input[0].content: must be a string or a list");
    items_are_refused("{'role':'user','content':[{'type':'input_text','text':'a'},'b']}",
                      "input[0].content[1]: must be an object");
    items_are_refused("{'role':'user','content':[{'type':'input_text'}]}",
                      "input[0].content[0]: must have a text");
}

/* B14 */
static void instructions_lead_and_later_system_messages_stay_in_their_place(void **state)
{
    (void)state;
    is_read_as("{'input':[{'role':'developer','content':'second'},{'role':'system','content':["
               "{'type':'input_text','text':'third'}]},{'role':'user','content':'a'},"
               "{'role':'developer','content':'now German'},{'role':'user','content':'b'}],"
               "'model':'m','instructions':'first'}",
               "system text 'first'\nsystem text 'second'\nsystem text 'third'\n"
               "user text 'a'\nlater system text 'now German'\nuser text 'b'\n");
    is_read_as("{'model':'m','instructions':null,'input':'a'}", "user text 'a'\n");
    is_refused("{'model':'m','instructions':['a'],'input':'a'}", "instructions: must be a string");
    items_are_refused(
        "{'role':'system','content':[{'type':'input_image','image_url':'https://i'}]}",
        "input[0].content[0]: a system message has texts only");
}

/* B16 */
static void media_are_what_their_data_url_says(void **state)
{
    (void)state;
    items_are_read_as(
        "{'role':'user','content':["
        "{'type':'input_image','image_url':'data:image\\/png;base64,iVBO\\/w==','detail':'low'},"
        "{'type':'input_image','image_url':'https://img.example/x.webp?sig=a%2Bb'},"
        "{'type':'input_image','file_id':'file-1'},"
        "{'type':'input_audio','input_audio':{'data':'UklG','format':'wav'}}]}",
        "user image base64 image/png 'iVBO\\/w==' detail 'low'\n"
        "user image url  'https://img.example/x.webp?sig=a%2Bb'\n"
        "user image id  'file-1'\nuser audio base64 audio/wav 'UklG'\n");
    items_are_read_as(
        "{'role':'user','content':["
        "{'type':'input_file','filename':'a.pdf','file_data':'data:application/pdf;base64,JVBE'},"
        "{'type':'input_file','filename':'b.TXT','file_data':'aGk='},"
        "{'type':'input_file','file_url':'https://f.example/c'},"
        "{'type':'input_file','file_url':'data:text/plain;base64,aGk='},"
        "{'type':'input_file','file_id':'file-2'}]}",
        "user document base64 application/pdf 'JVBE' name 'a.pdf'\n"
        "user document base64 text/plain 'aGk=' name 'b.TXT'\n"
        "user document url  'https://f.example/c'\nuser document base64 text/plain 'aGk='\n"
        "user file id  'file-2'\n");
    items_are_refused("{'role':'user','content':[{'type':'input_image'}]}",
                      "input[0].content[0]: an image must have");
    items_are_refused("{'role':'user','content':[{'type':'input_file','filename':'a'}]}",
                      "input[0].content[0]: a file must have");
    items_are_refused("{'role':'user','content':[{'type':'input_audio','input_audio':"
                      "{'data':'a','format':'midi'}}]}",
                      "input[0].content[0]: input_audio must have");
}

/* B16: found by the fuzzer */
static void a_data_url_that_no_provider_could_read_is_refused_with_its_place(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "{'type':'input_image','image_url':'data:image/png;base32,iVBO'}",
        "{'type':'input_image','image_url':'data:image/png;base64,'}",
        "{'type':'input_file','file_url':'data:text/plain,hello'}",
        "{'type':'input_file','file_data':'data:application/pdf;base64,'}",
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char item[256];
        (void)snprintf(item, sizeof(item), "{'role':'user','content':[%s]}", parts[i]);
        items_are_refused(item, "input[0].content[0]: must be an address, or a data URL");
    }
}

/* B05 */
static void an_empty_text_is_gone_and_its_marker_moves(void **state)
{
    (void)state;
    items_are_read_as("{'role':'user','content':[{'type':'input_text','text':'a'},"
                      "{'type':'input_text','text':' ','cache_control':{'type':'ephemeral'}}]},"
                      "{'role':'assistant','content':''},{'role':'user','content':'b'}",
                      "user text 'a' cache {'type':'ephemeral'}\nuser text 'b'\n");
}

/* -- tools in the history -------------------------------------------------------------------------- */

/* B33 */
static void consecutive_calls_are_one_turn_and_so_are_their_results(void **state)
{
    (void)state;
    items_are_read_as(
        "{'role':'user','content':[{'type':'input_text','text':'two cities'}]},"
        "{'type':'message','role':'assistant','content':[{'type':'output_text','text':'looking',"
        "'annotations':[]}]},"
        "{'type':'function_call','id':'fc_1','call_id':'f1','name':'w','arguments':'{\\'c\\':1}'},"
        "{'type':'function_call','id':'fc_2','call_id':'f2','name':'w','arguments':''},"
        "{'type':'function_call_output','call_id':'f1','output':'sun'},"
        "{'type':'function_call_output','call_id':'f2','output':'rain'}",
        "user text 'two cities'\nassistant text 'looking'\nassistant call 'f1' 'w' {'c':1}\n"
        "assistant call 'f2' 'w' {}\nuser result 'f1'\n. text 'sun'\nuser result 'f2'\n"
        ". text 'rain'\n");
}

static void arguments_as_an_object_are_taken_as_they_are(void **state)
{
    (void)state;
    items_are_read_as("{'role':'user','content':'x'},{'type':'function_call','call_id':'c',"
                      "'name':'f','arguments':{'a':[1.50]}},"
                      "{'type':'function_call_output','call_id':'c','output':'o'}",
                      "user text 'x'\nassistant call 'c' 'f' {'a':[1.50]}\nuser result 'c'\n"
                      ". text 'o'\n");
}

static void a_result_is_a_text_or_parts(void **state)
{
    (void)state;
    items_are_read_as("{'role':'user','content':'x'},"
                      "{'type':'function_call','call_id':'f1','name':'w','arguments':'[]'},"
                      "{'role':'assistant','content':'said late'},"
                      "{'role':'user','content':'asked early'},"
                      "{'type':'function_call_output','call_id':'f1','output':["
                      "{'type':'input_text','text':'see'},"
                      "{'type':'input_image','image_url':'data:image/gif;base64,R0lG'}]}",
                      "user text 'x'\nassistant text 'said late'\nassistant call 'f1' 'w' {}\n"
                      "user result 'f1'\n. text 'see'\n. image base64 image/gif 'R0lG'\n"
                      "user text 'asked early'\n");
    items_are_read_as("{'role':'user','content':'x'},"
                      "{'type':'function_call','call_id':'f1','name':'w','arguments':'{}'},"
                      "{'type':'function_call_output','call_id':'f1','output':''}",
                      "user text 'x'\nassistant call 'f1' 'w' {}\nuser result 'f1'\n");
}

/* Decision 13 */
static void a_broken_tool_history_is_refused_with_its_place(void **state)
{
    (void)state;
    items_are_refused("{'type':'function_call','name':'w','arguments':'{}'}",
                      "input[0]: a function_call must have call_id and name");
    items_are_refused("{'type':'function_call_output','output':'a'}",
                      "input[0]: a function_call_output must have call_id");
    items_are_refused("{'type':'function_call_output','call_id':'f1','output':7}",
                      "input[0].output: must be a string or a list");
    items_are_refused("{'role':'user','content':'x'},"
                      "{'type':'function_call_output','call_id':'f1','output':'a'}",
                      "the tool result for 'f1' answers no call");
    items_are_refused("{'role':'user','content':'x'},"
                      "{'type':'function_call','call_id':'f1','name':'w','arguments':'{'},"
                      "{'type':'function_call_output','call_id':'f1','output':'a'}",
                      "the arguments of the call 'f1' are not a JSON object");
}

static void calls_of_the_history_go_up_under_the_names_that_are_told(void **state)
{
    (void)state;
    is_read_as(
        "{'model':'m','tools':[{'type':'namespace','name':'a','tools':[{'type':'function','name':"
        "'b'}]},{'type':'function','name':'a__b'}],'input':["
        "{'type':'function_call','call_id':'1','name':'b','namespace':'\\u0061','arguments':'{}'},"
        "{'type':'function_call','call_id':'2','name':'a__b','arguments':'{}'},"
        "{'type':'function_call','call_id':'3','name':'c.d','namespace':'gone','arguments':'{}'},"
        "{'type':'function_call_output','call_id':'2','output':'y'},"
        "{'type':'function_call_output','call_id':'1','output':'x'},"
        "{'type':'function_call_output','call_id':'3','output':'z'}]}",
        "assistant call '1' 'a__b_c03d9699' {}\nassistant call '2' 'a__b' {}\n"
        "assistant call '3' 'gone__c_d' {}\n"
        "user result '2'\n. text 'y'\nuser result '1'\n. text 'x'\nuser result '3'\n. text 'z'\n");
}

static void a_call_of_a_custom_tool_has_its_text_as_the_one_argument(void **state)
{
    (void)state;
    items_are_read_as("{'type':'custom_tool_call','id':'ctc_1','status':'completed','call_id':'1',"
                      "'name':'patch','input':'a\\n\\'b\\''},"
                      "{'type':'custom_tool_call','call_id':'2','name':'run','namespace':'n'},"
                      "{'type':'custom_tool_call_output','call_id':'1','output':'done'},"
                      "{'type':'custom_tool_call_output','call_id':'2','output':[{'type':"
                      "'input_text','text':'r'}]}",
                      "assistant call '1' 'patch' {'input':'a\\n\\'b\\''}\n"
                      "assistant call '2' 'n__run' {'input':''}\n"
                      "user result '1'\n. text 'done'\nuser result '2'\n. text 'r'\n");
    items_are_refused("{'type':'custom_tool_call','call_id':'1','input':''}",
                      "input[0]: a custom_tool_call must have call_id and name");
    items_are_refused("{'type':'custom_tool_call_output','output':''}",
                      "input[0]: a custom_tool_call_output must have call_id");
}

/* -- reasoning ------------------------------------------------------------------------------------- */

static void the_maker_is_given_the_items_id_back(void **state)
{
    (void)state;
    struct bench bench;
    assert_int_equal(read_body(&bench, "{'model':'m','input':[{'type':'reasoning','id':'rs_3',"
                                       "'summary':[],'encrypted_content':'c2Vj'}]}"),
                     ACOG_OK);
    assert_true(acog_view_equal(bench.conversation->turns->parts.first->opaque.id.bytes,
                                ACOG_VIEW("rs_3")));
    end(&bench);
}

/* B39 */
static void reasoning_is_kept_if_there_is_anything_in_it(void **state)
{
    (void)state;
    items_are_read_as(
        "{'role':'user','content':'a'},"
        "{'type':'reasoning','id':'rs_1','summary':[],'encrypted_content':'b3Bh'},"
        "{'type':'reasoning','id':'rs_2','summary':[{'type':'summary_text','text':'one'},"
        "{'type':'summary_text','text':'two'}],'content':[{'type':'reasoning_text','text':'3'}],"
        "'encrypted_content':null},"
        "{'type':'reasoning','id':'rs_3','summary':[{'type':'summary_text','text':'as \\u00e9'}],"
        "'encrypted_content':'c2Vj'},"
        "{'type':'reasoning','id':'rs_4','summary':[]},"
        "{'role':'assistant','content':'b'}",
        "user text 'a'\nassistant reasoning '' redacted responses 'b3Bh'\n"
        "assistant reasoning 'one\\n\\ntwo\\n\\n3'\n"
        "assistant reasoning 'as \\u00e9' opaque responses 'c2Vj'\nassistant text 'b'\n");
}

/* B28 */
static void what_another_provider_sealed_is_known_by_its_tag(void **state)
{
    (void)state;
    items_are_read_as(
        "{'role':'user','content':'a'},"
        "{'type':'reasoning','id':'rs_x_0','summary':[{'type':'summary_text','text':'plan'}],"
        "'encrypted_content':'acog.messages..c2ln'},"
        "{'type':'reasoning','id':'rs_x_1','summary':[],"
        "'encrypted_content':'acog.redacted-messages..ZGF0'},"
        "{'type':'function_call','call_id':'f1','name':'w','arguments':'{}'},"
        "{'type':'reasoning','id':'rs_x_3','summary':[],'encrypted_content':'acog.gemini.f1.Q2E='},"
        "{'type':'reasoning','id':'rs_x_4','summary':[],'encrypted_content':'acog.gemini.f9.Q2E='},"
        "{'type':'function_call_output','call_id':'f1','output':'ok'}",
        "user text 'a'\nassistant reasoning 'plan' opaque messages 'c2ln'\n"
        "assistant reasoning '' redacted messages 'ZGF0'\n"
        "assistant call 'f1' 'w' {} opaque gemini 'Q2E='\nuser result 'f1'\n. text 'ok'\n");
}

/* -- what only OpenAI can read --------------------------------------------------------------------- */

/* Decision 14 */
static void items_of_hosted_tools_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const types[] = {"web_search_call",       "file_search_call",
                                        "code_interpreter_call", "computer_call",
                                        "computer_call_output",  "mcp_call",
                                        "mcp_list_tools",        "mcp_approval_request",
                                        "image_generation_call", "local_shell_call",
                                        "item_reference",        "compaction",
                                        "tool_search_call",      "a_new_one"};
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct bench bench;
        char body[256];
        (void)snprintf(body, sizeof(body),
                       "{'model':'m','input':[{'role':'user','content':'x'},"
                       "{'type':'%s','id':'i','call_id':'c'},{'role':'user','content':'y'}]}",
                       types[i]);
        assert_int_equal(read_body(&bench, body), ACOG_OK);
        assert_int_equal(acog_conversation_fits(bench.conversation, ACOG_DIALECT_MESSAGES, &rules,
                                                &bench.problem),
                         ACOG_INVALID);
        assert_non_null(strstr(bench.problem.text, types[i]));
        end(&bench);
    }
    items_are_read_as("{'role':'user','content':'x'},{'id':'msg_1'}",
                      "user text 'x'\nassistant foreign item_reference\n");
    items_are_read_as("{'role':'user','content':[{'type':'input_hologram','data':'x'}]}",
                      "user foreign input_hologram\n");
}

/* B40 */
static void kept_state_is_refused_and_false_asks_for_none(void **state)
{
    (void)state;
    struct bench bench;
    is_refused("{'model':'m','previous_response_id':'resp_abc','input':'go on'}",
               "previous_response_id: no state is kept");
    is_refused("{'model':'m','conversation':{'id':'conv_1'},'input':'go on'}",
               "conversation: no state is kept");
    is_refused("{'model':'m','previous_response_id':'resp_abc','input':[{'type':"
               "'function_call_output','call_id':'f1','output':'a'}]}",
               "previous_response_id: no state is kept");
    does_not_fit(",'background':true", "background");
    does_not_fit(",'prompt':{'id':'pmpt_1'}", "prompt");
    assert_string_equal(objection(&bench, ",'background':false,'previous_response_id':null,"
                                          "'conversation':null,'prompt':null,'store':false"),
                        "");
    assert_null(bench.conversation->unknown);
    assert_false(has(bench.conversation, ACOG_FIELD_STORE));
    end(&bench);
    assert_true(has(with(&bench, ",'store':true"), ACOG_FIELD_STORE));
    end(&bench);
}

/* -- settings -------------------------------------------------------------------------------------- */

static void text_says_the_format_and_how_much(void **state)
{
    (void)state;
    struct bench bench;
    const struct acog_conversation *read =
        with(&bench, ",'text':{'format':{'type':'json_schema','name':'p','description':'d',"
                     "'strict':true,'schema':{'type':'object'}},'verbosity':'low'}");
    assert_int_equal(read->format, ACOG_FORMAT_SCHEMA);
    assert_true(is(read->schema, "{'type':'object'}") && is(read->schema_name, "'p'"));
    assert_true(is(read->schema_description, "'d'") && is(read->schema_strict, "true"));
    assert_true(is(read->fields[ACOG_FIELD_VERBOSITY], "'low'"));
    end(&bench);
    read = with(&bench, ",'text':{'format':{'type':'json_object'}}");
    assert_int_equal(read->format, ACOG_FORMAT_JSON);
    end(&bench);
    read = with(&bench, ",'text':{'format':{'type':'text'}}");
    assert_int_equal(read->format, ACOG_FORMAT_TEXT);
    assert_null(read->unknown);
    end(&bench);
    is_refused("{'model':'m','input':'x','text':{'format':{'type':'json_schema','name':'p'}}}",
               "text.format.schema: must be an object");
    is_refused("{'model':'m','input':'x','text':{'format':{'type':'xml'}}}", "text.format.type");
}

/* B22 */
static void reasoning_is_an_effort_and_a_wish_to_read_it(void **state)
{
    (void)state;
    struct bench bench;
    const struct acog_conversation *read =
        with(&bench, ",'reasoning':{'effort':'xhigh','summary':'auto','context':'all_turns'}");
    assert_true(read->reasoning.given && read->reasoning.summary && !read->reasoning.off);
    assert_int_equal(read->reasoning.effort, ACOG_EFFORT_XHIGH);
    assert_int_equal(read->reasoning.budget_tokens, -1);
    assert_true(names(read, "reasoning.context"));
    end(&bench);
    read = with(&bench, ",'reasoning':{'effort':'none'}");
    assert_true(read->reasoning.given && read->reasoning.off);
    end(&bench);
    read = with(&bench, ",'reasoning':{'effort':null,'summary':null}");
    assert_false(read->reasoning.given);
    end(&bench);
    read = with(&bench, ",'reasoning':{'effort':'heroic'}");
    assert_true(!read->reasoning.given && names(read, "reasoning.effort"));
    end(&bench);
}

/* What an answer brought and comes back with it says nothing. */
static void members_that_nothing_has_a_place_for_are_named(void **state)
{
    (void)state;
    struct bench bench;
    const char *body =
        "{'model':'m','input':[{'role':'user','content':[{'type':'input_text','text':'x',"
        "'prompt_cache_breakpoint':{'mode':'explicit'}}]},"
        "{'type':'message','id':'msg_1','status':'completed','role':'assistant',"
        "'phase':'commentary','content':[{'type':'output_text','text':'a','annotations':[],"
        "'logprobs':[]}]},"
        "{'type':'function_call','id':'fc_1','status':'completed','call_id':'c','name':'f',"
        "'arguments':'{}','created_by':'n','caller':null},"
        "{'type':'function_call_output','call_id':'c','name':'f','output':'o'}],"
        "'tools':[{'type':'function','name':'f','later':1}],"
        "'text':{'format':{'type':'text'},'tone':'dry'}}";
    assert_int_equal(read_body(&bench, body), ACOG_OK);
    assert_true(names(bench.conversation, "input.prompt_cache_breakpoint"));
    assert_true(names(bench.conversation, "input.phase"));
    assert_true(names(bench.conversation, "input.created_by"));
    assert_true(names(bench.conversation, "tools.later"));
    assert_true(names(bench.conversation, "text.tone"));
    assert_false(names(bench.conversation, "input.id") || names(bench.conversation, "input.name"));
    assert_false(names(bench.conversation, "input.status"));
    assert_false(names(bench.conversation, "input.annotations"));
    end(&bench);
}

/* B10 */
static void a_whole_number_may_be_spelled_with_a_fraction(void **state)
{
    (void)state;
    struct bench bench;
    assert_int_equal(with(&bench, ",'max_output_tokens':400.0")->max_tokens, 400);
    end(&bench);
    assert_int_equal(with(&bench, ",'max_output_tokens':4e2")->max_tokens, 400);
    end(&bench);
}

/* B10, B23 */
static void fields_are_carried_or_named(void **state)
{
    (void)state;
    struct bench bench;
    const struct acog_conversation *read = with(
        &bench, ",'max_output_tokens':70,'temperature':0.30,'top_p':1,'metadata':{'a':'b'},"
                "'user':'u-1','safety_identifier':'s','prompt_cache_key':'k','truncation':'auto',"
                "'include':['reasoning.encrypted_content','message.output_text.logprobs'],"
                "'top_logprobs':3,'stream':true,'stream_options':{'include_obfuscation':false},"
                "'api_base':'http://evil'");
    assert_int_equal(read->max_tokens, 70);
    assert_true(is(read->fields[ACOG_FIELD_TEMPERATURE], "0.30"));
    assert_true(is(read->fields[ACOG_FIELD_METADATA], "{'a':'b'}"));
    assert_true(is(read->user, "'u-1'") && read->stream);
    assert_true(has(read, ACOG_FIELD_SAFETY_IDENTIFIER) && has(read, ACOG_FIELD_PROMPT_CACHE_KEY));
    assert_true(has(read, ACOG_FIELD_TRUNCATION) && has(read, ACOG_FIELD_INCLUDE));
    assert_true(names(read, "top_logprobs") && names(read, "api_base")); /* B108 */
    assert_false(names(read, "stream_options"));
    end(&bench);
    read = with(&bench, ",'truncation':'disabled','include':['reasoning.encrypted_content'],"
                        "'max_output_tokens':null,'user':'pat@mail.example'");
    assert_false(has(read, ACOG_FIELD_TRUNCATION) || has(read, ACOG_FIELD_INCLUDE));
    assert_int_equal(read->max_tokens, -1);
    assert_true(!acog_json_present(read->user) && names(read, "user"));
    end(&bench);
}

/* -- memory ---------------------------------------------------------------------------------------- */

static void read_much(void *user)
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
    char *body = with_quotes(
        "{'model':'m','instructions':'i','input':[{'role':'user','content':[{'type':'input_image',"
        "'image_url':'data:image\\/png;base64,iVBO'}]},{'type':'reasoning','id':'r','summary':["
        "{'text':'a'},{'text':'b'}]},{'type':'function_call','call_id':'f\\u0031','name':'w',"
        "'arguments':'{\\'a\\':1}'},{'type':'function_call_output','call_id':'f1','output':'o'}],"
        "'tools':[{'type':'function','name':'w'}],'tool_choice':{'type':'allowed_tools','mode':"
        "'auto','tools':[{'type':'function','name':'\\u0077'}]},'user':'\\u0075','zzz':1}");
    assert_true(memory_sweep(read_much, body, 1) > 0);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_is_a_text_or_items),
        cmocka_unit_test(instructions_lead_and_later_system_messages_stay_in_their_place),
        cmocka_unit_test(media_are_what_their_data_url_says),
        cmocka_unit_test(a_data_url_that_no_provider_could_read_is_refused_with_its_place),
        cmocka_unit_test(an_empty_text_is_gone_and_its_marker_moves),
        cmocka_unit_test(consecutive_calls_are_one_turn_and_so_are_their_results),
        cmocka_unit_test(arguments_as_an_object_are_taken_as_they_are),
        cmocka_unit_test(a_result_is_a_text_or_parts),
        cmocka_unit_test(a_broken_tool_history_is_refused_with_its_place),
        cmocka_unit_test(calls_of_the_history_go_up_under_the_names_that_are_told),
        cmocka_unit_test(a_call_of_a_custom_tool_has_its_text_as_the_one_argument),
        cmocka_unit_test(the_maker_is_given_the_items_id_back),
        cmocka_unit_test(reasoning_is_kept_if_there_is_anything_in_it),
        cmocka_unit_test(what_another_provider_sealed_is_known_by_its_tag),
        cmocka_unit_test(items_of_hosted_tools_are_refused_by_name),
        cmocka_unit_test(kept_state_is_refused_and_false_asks_for_none),
        cmocka_unit_test(text_says_the_format_and_how_much),
        cmocka_unit_test(reasoning_is_an_effort_and_a_wish_to_read_it),
        cmocka_unit_test(members_that_nothing_has_a_place_for_are_named),
        cmocka_unit_test(a_whole_number_may_be_spelled_with_a_fraction),
        cmocka_unit_test(fields_are_carried_or_named),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
