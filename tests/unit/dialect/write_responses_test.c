/* write_responses_test.c - what a Responses upstream is sent. Clients speak Messages or Chat; bodies have ' for ". */
#include "acog/translate.h"
#include "core/dialect/conversation.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"
#include "tests/support/quotes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 18U)

struct bench {
    enum acog_surface surface;
    struct acog_arena arena;
    struct acog_buffer out;
    struct acog_request_problem problem;
    struct acog_model_rules rules;
    struct acog_translation translation;
    char *body;
};

static void begin(struct bench *bench, enum acog_surface surface)
{
    memset(bench, 0, sizeof(*bench));
    acog_arena_init(&bench->arena, BYTES_MAX);
    acog_buffer_init(&bench->out, BYTES_MAX);
    bench->surface = surface;
    bench->rules = acog_model_rules_default(ACOG_DIALECT_RESPONSES);
    bench->translation = (struct acog_translation){.client = acog_surface_dialect(surface),
                                                   .upstream = ACOG_DIALECT_RESPONSES,
                                                   .rules = &bench->rules,
                                                   .model = {"m", 1},
                                                   .max_tokens = -1};
}

static void reasons(struct bench *bench, unsigned efforts)
{
    bench->rules.thinking = ACOG_THINKING_EFFORT;
    bench->rules.efforts = efforts;
    bench->rules.temperature = false;
}

static void end(struct bench *bench)
{
    acog_buffer_fini(&bench->out);
    acog_arena_fini(&bench->arena);
    free(bench->body);
}

static enum acog_code write_body(struct bench *bench, const char *body)
{
    const struct acog_conversation *conversation = NULL;
    bench->body = with_quotes(body);
    enum acog_code code = acog_conversation_read(bench->surface, acog_view_of(bench->body),
                                                 &bench->arena, &conversation, &bench->problem);
    if (code == ACOG_OK) {
        code = acog_conversation_fits(conversation, ACOG_DIALECT_RESPONSES, &bench->rules,
                                      &bench->problem);
    }
    if (code == ACOG_OK) {
        code =
            acog_conversation_write(conversation, &bench->translation, &bench->arena, &bench->out);
    }
    return code;
}

/* The whole request, and the names of what was not sent. */
static void is_written(struct bench *bench, const char *body, const char *expected,
                       const char *dropped)
{
    char *wanted = with_quotes(expected);
    struct acog_json_value value;
    struct acog_json_error error;
    enum acog_code code = write_body(bench, body);
    struct acog_view written = acog_buffer_view(&bench->out);
    if (code != ACOG_OK || !acog_view_equal(written, acog_view_of(wanted))) {
        fail_msg("%s\nis written (code %d, %s) as\n%.*s\nnot as\n%s", body, (int)code,
                 bench->problem.text, ACOG_VIEW_FMT(written), wanted);
    }
    assert_int_equal(acog_json_check(written, 64, &value, &error), ACOG_OK);
    if (!acog_view_equal(bench->translation.dropped, acog_view_of(dropped))) {
        fail_msg("%s\ndrops %.*s\nnot %s", body, ACOG_VIEW_FMT(bench->translation.dropped),
                 dropped);
    }
    free(wanted);
    end(bench);
}

static void messages_are_written(const char *body, const char *expected, const char *dropped)
{
    struct bench bench;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    is_written(&bench, body, expected, dropped);
}

static void chat_is_written(const char *body, const char *expected, const char *dropped)
{
    struct bench bench;
    begin(&bench, ACOG_SURFACE_CHAT);
    is_written(&bench, body, expected, dropped);
}

static void is_refused(struct bench *bench, const char *body, const char *problem)
{
    enum acog_code code = write_body(bench, body);
    if (code != ACOG_INVALID || strstr(bench->problem.text, problem) == NULL) {
        fail_msg("%s\ncode %d, problem %s", body, (int)code, bench->problem.text);
    }
    end(bench);
}

/* `more` beside a chat message "x": what stands in the request beside it. */
static void settings_are_written(struct bench *bench, const char *more, const char *expected,
                                 const char *dropped)
{
    char body[2048];
    char wanted[2048];
    int length = snprintf(body, sizeof(body),
                          "{'model':'c','messages':[{'role':'user','content':'x'}]%s}", more);
    assert_true(length > 0 && (size_t)length < sizeof(body));
    length = snprintf(wanted, sizeof(wanted),
                      "{'model':'m','input':[{'type':'message','role':'user','content':["
                      "{'type':'input_text','text':'x'}]}]%s,'store':false}",
                      expected);
    assert_true(length > 0 && (size_t)length < sizeof(wanted));
    is_written(bench, body, wanted, dropped);
}

static void chat_settings_are_written(const char *more, const char *expected, const char *dropped)
{
    struct bench bench;
    begin(&bench, ACOG_SURFACE_CHAT);
    settings_are_written(&bench, more, expected, dropped);
}

/* -- input ----------------------------------------------------------------------------------------- */

static void a_text_is_a_message_and_system_texts_are_instructions(void **state)
{
    (void)state;
    messages_are_written(
        "{'model':'c','max_tokens':20,'system':[{'type':'text','text':'one'},{'type':'text',"
        "'text':'tw\\u006f','cache_control':{'type':'ephemeral'}}],'messages':[{'role':'user',"
        "'content':'a\\\\b'},{'role':'assistant','content':[{'type':'text','text':'c'},{'type':"
        "'text','text':'d'}]},{'role':'user','content':[{'type':'text','text':'e'},{'type':'text',"
        "'text':'f'}]}]}",
        "{'model':'m','instructions':'one\\n\\ntw\\u006f','input':[{'type':'message','role':'user',"
        "'content':[{'type':'input_text','text':'a\\\\b'}]},{'type':'message','role':'assistant',"
        "'content':'c'},{'type':'message','role':'assistant','content':'d'},{'type':'message',"
        "'role':'user','content':[{'type':'input_text','text':'e'},{'type':'input_text','text':"
        "'f'}]}],'max_output_tokens':20,'store':false}",
        "system.cache_control");
}

/* B14 */
static void a_later_system_message_stays_in_its_place(void **state)
{
    (void)state;
    chat_is_written(
        "{'model':'c','messages':[{'role':'developer','content':'French'},{'role':'user',"
        "'content':'a'},{'role':'system','content':'now German'},{'role':'user','content':'b'}]}",
        "{'model':'m','instructions':'French','input':[{'type':'message','role':'user','content':"
        "[{'type':'input_text','text':'a'}]},{'type':'message','role':'system','content':[{'type':"
        "'input_text','text':'now German'}]},{'type':'message','role':'user','content':[{'type':"
        "'input_text','text':'b'}]}],'store':false}",
        "");
}

/* B01, B02, B06, B25 */
static void calls_and_results_are_items_of_their_own(void **state)
{
    (void)state;
    messages_are_written(
        "{'model':'c','max_tokens':20,'messages':[{'role':'user','content':'x'},{'role':'assistant',"
        "'content':[{'type':'text','text':'checking'},{'type':'tool_use','id':'u1','name':'f',"
        "'input':{'k':1.50}},{'type':'tool_use','id':'u2','name':'g','input':{}},{'type':'tool_use',"
        "'id':'u3','name':'g','input':{}}]},{'role':'user','content':[{'type':'tool_result',"
        "'tool_use_id':'u1','is_error':true,'content':[{'type':'text','text':'disk full'},{'type':"
        "'text','text':'try'}]},{'type':'tool_result','tool_use_id':'u2'},{'type':'tool_result',"
        "'tool_use_id':'u3','is_error':true,'content':'no'},{'type':'text','text':'go'}]}],"
        "'tools':[{'name':'f','description':'d','input_schema':{'type':'object'}},{'name':'g',"
        "'input_schema':{'type':'object'},'strict':true,'cache_control':{'type':'ephemeral'}}]}",
        "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':'input_text',"
        "'text':'x'}]},{'type':'message','role':'assistant','content':'checking'},{'type':"
        "'function_call','call_id':'u1','name':'f','arguments':'{\\'k\\':1.50}'},{'type':"
        "'function_call','call_id':'u2','name':'g','arguments':'{}'},{'type':'function_call',"
        "'call_id':'u3','name':'g','arguments':'{}'},{'type':'function_call_output','call_id':'u1',"
        "'output':[{'type':'input_text','text':'Error: '},{'type':'input_text','text':'disk full'},"
        "{'type':'input_text','text':'try'}]},{'type':'function_call_output','call_id':'u2',"
        "'output':''},{'type':'function_call_output','call_id':'u3','output':'Error: no'},{'type':"
        "'message','role':'user','content':[{'type':'input_text','text':'go'}]}],'tools':[{'type':"
        "'function','name':'f','description':'d','parameters':{'properties':{},'type':'object'},"
        "'strict':false},{'type':'function','name':'g','parameters':{'properties':{},'type':"
        "'object'},'strict':false}],"
        "'max_output_tokens':20,'store':false}",
        "tools.strict, tools.cache_control");
}

static void a_call_id_that_is_too_long_is_cut_alike_in_call_and_result(void **state)
{
    (void)state;
    struct bench bench;
    char id[80];
    char body[1024];
    memset(id, 'a', sizeof(id));
    id[sizeof(id) - 1] = '\0';
    (void)snprintf(body, sizeof(body),
                   "{'model':'c','messages':[{'role':'user','content':'x'},{'role':'assistant',"
                   "'content':null,'tool_calls':[{'id':'%s','type':'function','function':{'name':"
                   "'f','arguments':'{}'}},{'id':'%sb','type':'function','function':{'name':'f',"
                   "'arguments':'{}'}}]},{'role':'tool','tool_call_id':'%s','content':'1'},"
                   "{'role':'tool','tool_call_id':'%sb','content':'2'}]}",
                   id, id, id, id);
    begin(&bench, ACOG_SURFACE_CHAT);
    assert_int_equal(write_body(&bench, body), ACOG_OK);
    struct acog_view ids[4];
    struct acog_view rest = acog_buffer_view(&bench.out);
    const struct acog_view before = ACOG_VIEW("\"call_id\":\"");
    for (size_t i = 0; i < 4; i++) {
        rest = acog_view_slice(rest, acog_view_find(rest, before) + before.len, rest.len);
        ids[i] = acog_view_slice(rest, 0, acog_view_find(rest, ACOG_VIEW("\"")));
        assert_int_equal(ids[i].len, 64);
    }
    assert_true(acog_view_equal(ids[0], ids[2]) && acog_view_equal(ids[1], ids[3]));
    assert_false(acog_view_equal(ids[0], ids[1]));
    end(&bench);
}

/* B16 */
static void media_are_told_byte_for_byte(void **state)
{
    (void)state;
    messages_are_written(
        "{'model':'c','max_tokens':20,'messages':[{'role':'user','content':["
        "{'type':'image','source':{'type':'base64','media_type':'image/png','data':'iVBO'}},"
        "{'type':'image','source':{'type':'url','url':'https://img.example/x.webp?sig=a%2Bb'}},"
        "{'type':'document','title':'a.pdf','source':{'type':'base64','media_type':"
        "'application/pdf','data':'JVBE'}},"
        "{'type':'document','source':{'type':'base64','media_type':'application/pdf','data':"
        "'JVBE'}},"
        "{'type':'document','source':{'type':'url','url':'https://f.example/d.pdf'}},"
        "{'type':'document','title':'t','source':{'type':'text','media_type':'text/plain','data':"
        "'plain'}}]}]}",
        "{'model':'m','input':[{'type':'message','role':'user','content':["
        "{'type':'input_image','image_url':'data:image/png;base64,iVBO','detail':'auto'},"
        "{'type':'input_image','image_url':'https://img.example/x.webp?sig=a%2Bb','detail':'auto'},"
        "{'type':'input_file','file_data':'data:application/pdf;base64,JVBE','filename':'a.pdf'},"
        "{'type':'input_file','file_data':'data:application/pdf;base64,JVBE','filename':"
        "'document.pdf'},"
        "{'type':'input_file','file_url':'https://f.example/d.pdf'},"
        "{'type':'input_text','text':'plain'}]}],'max_output_tokens':20,'store':false}",
        "messages.title");
    chat_is_written(
        "{'model':'c','messages':[{'role':'user','content':[{'type':'image_url','image_url':{'url':"
        "'data:image/jpeg;base64,AA','detail':'high'}}]}]}",
        "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':'input_image',"
        "'image_url':'data:image/jpeg;base64,AA','detail':'high'}]}],'store':false}",
        "");
}

static void an_image_in_a_result_stays_there(void **state)
{
    (void)state;
    messages_are_written(
        "{'model':'c','max_tokens':20,'messages':[{'role':'user','content':'x'},{'role':'assistant',"
        "'content':[{'type':'tool_use','id':'u1','name':'f','input':{}}]},{'role':'user','content':"
        "[{'type':'tool_result','tool_use_id':'u1','content':[{'type':'image','source':{'type':"
        "'base64','media_type':'image/gif','data':'R0lG'}}]}]}]}",
        "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':'input_text',"
        "'text':'x'}]},{'type':'function_call','call_id':'u1','name':'f','arguments':'{}'},{'type':"
        "'function_call_output','call_id':'u1','output':[{'type':'input_image','image_url':"
        "'data:image/gif;base64,R0lG','detail':'auto'}]}],'max_output_tokens':20,'store':false}",
        "");
}

static void what_it_cannot_hear_or_see_is_refused(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, ACOG_SURFACE_CHAT);
    is_refused(&bench,
               "{'model':'c','messages':[{'role':'user','content':[{'type':'input_audio',"
               "'input_audio':{'data':'UklG','format':'wav'}}]}]}",
               "audio cannot be sent");
    begin(&bench, ACOG_SURFACE_MESSAGES);
    is_refused(&bench,
               "{'model':'c','max_tokens':20,'messages':[{'role':'user','content':[{'type':'image',"
               "'source':{'type':'file','file_id':'file_1'}}]}]}",
               "a file that is kept at another provider");
}

/* -- reasoning in the history ---------------------------------------------------------------------- */

/* B28 */
static void reasoning_of_another_maker_is_left_out_entirely(void **state)
{
    (void)state;
    messages_are_written(
        "{'model':'c','max_tokens':20,'messages':[{'role':'user','content':'x'},{'role':'assistant',"
        "'content':[{'type':'thinking','thinking':'secret plan','signature':'c2ln'},{'type':"
        "'redacted_thinking','data':'ZGF0YQ=='},{'type':'text','text':'Answer'}]},{'role':'user',"
        "'content':'next'}]}",
        "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':'input_text',"
        "'text':'x'}]},{'type':'message','role':'assistant','content':'Answer'},{'type':'message',"
        "'role':'user','content':[{'type':'input_text','text':'next'}]}],'max_output_tokens':20,"
        "'store':false}",
        "");
}

/* B39 */
static void its_own_reasoning_comes_back_with_its_id(void **state)
{
    (void)state;
    messages_are_written(
        "{'model':'c','max_tokens':20,'messages':[{'role':'user','content':'x'},{'role':'assistant',"
        "'content':[{'type':'thinking','thinking':'plan','signature':'acog.responses.rs_1.b3Bh'},"
        "{'type':'redacted_thinking','data':'acog.redacted-responses.rs_2.c2Vj'},{'type':'tool_use',"
        "'id':'u1','name':'f','input':{}}]},{'role':'user','content':[{'type':'tool_result',"
        "'tool_use_id':'u1','content':'ok'}]}]}",
        "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':'input_text',"
        "'text':'x'}]},{'type':'reasoning','id':'rs_1','summary':[{'type':'summary_text','text':"
        "'plan'}],'encrypted_content':'b3Bh'},{'type':'reasoning','id':'rs_2','summary':[],"
        "'encrypted_content':'c2Vj'},{'type':'function_call','call_id':'u1','name':'f','arguments':"
        "'{}'},{'type':'function_call_output','call_id':'u1','output':'ok'}],'max_output_tokens':20,"
        "'store':false}",
        "");
}

/* The API refuses a reasoning item that nothing follows: what was cut while it was thought about. */
static void reasoning_that_nothing_came_of_is_left_out(void **state)
{
    (void)state;
    messages_are_written(
        "{'model':'c','max_tokens':20,'messages':[{'role':'user','content':'x'},{'role':'assistant',"
        "'content':[{'type':'thinking','thinking':'plan','signature':'acog.responses.rs_1.b3Bh'},"
        "{'type':'text','text':'a'},{'type':'redacted_thinking','data':"
        "'acog.redacted-responses.rs_2.c2Vj'}]},{'role':'user','content':'go on'}]}",
        "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':'input_text',"
        "'text':'x'}]},{'type':'reasoning','id':'rs_1','summary':[{'type':'summary_text','text':"
        "'plan'}],'encrypted_content':'b3Bh'},{'type':'message','role':'assistant','content':'a'},"
        "{'type':'message','role':'user','content':[{'type':'input_text','text':'go on'}]}],"
        "'max_output_tokens':20,'store':false}",
        "");
}

/* The API refuses two items of one id. */
static void refusals_stay_refusals_each_under_its_own_id(void **state)
{
    (void)state;
    chat_is_written(
        "{'model':'c','messages':[{'role':'user','content':'x'},{'role':'assistant','content':null,"
        "'refusal':'no'},{'role':'user','content':'y'},{'role':'assistant','content':null,"
        "'refusal':'never'},{'role':'user','content':'z'}]}",
        "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':'input_text',"
        "'text':'x'}]},{'type':'message','id':'msg_refusal_0','role':'assistant','status':"
        "'completed','content':[{'type':'refusal','refusal':'no'}]},{'type':'message','role':'user',"
        "'content':[{'type':'input_text','text':'y'}]},{'type':'message','id':'msg_refusal_1',"
        "'role':'assistant','status':'completed','content':[{'type':'refusal','refusal':'never'}]},"
        "{'type':'message','role':'user','content':[{'type':'input_text','text':'z'}]}],"
        "'store':false}",
        "");
}

/* -- settings -------------------------------------------------------------------------------------- */

#define F_TOOL ",'tools':[{'type':'function','function':{'name':'f'}}]"
#define F_WRITTEN                                                                             \
    ",'tools':[{'type':'function','name':'f','parameters':{'type':'object','properties':{}}," \
    "'strict':false}]"

/* B08, B09 */
static void a_tool_choice_is_told_only_with_tools(void **state)
{
    (void)state;
    chat_settings_are_written(F_TOOL ",'tool_choice':'auto'", F_WRITTEN ",'tool_choice':'auto'",
                              "");
    chat_settings_are_written(F_TOOL ",'tool_choice':'none'", F_WRITTEN ",'tool_choice':'none'",
                              "");
    chat_settings_are_written(F_TOOL ",'tool_choice':'required','parallel_tool_calls':false",
                              F_WRITTEN ",'tool_choice':'required','parallel_tool_calls':false",
                              "");
    chat_settings_are_written(F_TOOL ",'tool_choice':{'type':'function','function':{'name':'f'}}",
                              F_WRITTEN ",'tool_choice':{'type':'function','name':'f'}", "");
    chat_settings_are_written(",'tools':[],'tool_choice':'auto','parallel_tool_calls':false", "",
                              "");
}

/* B10, B27 */
static void the_limit_is_max_output_tokens_within_what_is_taken(void **state)
{
    (void)state;
    struct bench bench;
    chat_settings_are_written(",'max_completion_tokens':50", ",'max_output_tokens':50", "");
    chat_settings_are_written(",'max_tokens':5", ",'max_output_tokens':16", "max_tokens");
    begin(&bench, ACOG_SURFACE_CHAT);
    bench.rules.largest_output_tokens = 100;
    settings_are_written(&bench, ",'max_tokens':101", ",'max_output_tokens':100", "max_tokens");
    assert_int_equal(bench.translation.max_tokens, 100);
}

/* B20 */
static void structured_output_is_its_own_format_or_one_tool(void **state)
{
    (void)state;
    struct bench bench;
    chat_settings_are_written(
        ",'response_format':{'type':'json_schema','json_schema':{'name':'p','description':'d',"
        "'strict':true,'schema':{'type':'object','a':1}}},'verbosity':'low'",
        ",'text':{'format':{'type':'json_schema','name':'p','description':'d','schema':{'type':"
        "'object','a':1},'strict':true},'verbosity':'low'}",
        "");
    chat_settings_are_written(",'response_format':{'type':'json_object'}",
                              ",'text':{'format':{'type':'json_object'}}", "");
    chat_settings_are_written(",'verbosity':'high'", ",'text':{'verbosity':'high'}", "");
    begin(&bench, ACOG_SURFACE_CHAT);
    bench.rules.schema = ACOG_SCHEMA_TOOL;
    settings_are_written(
        &bench,
        ",'response_format':{'type':'json_schema','json_schema':{'name':'p','schema':{'a':1}}}",
        ",'tools':[{'type':'function','name':'structured_answer','parameters':{'a':1},'strict':"
        "false}],'tool_choice':{'type':'function','name':'structured_answer'}",
        "");
    assert_true(bench.translation.schema_by_tool);
    begin(&bench, ACOG_SURFACE_CHAT);
    bench.rules.schema = ACOG_SCHEMA_TOOL;
    is_refused(&bench,
               "{'model':'c','messages':[{'role':'user','content':'x'}]" F_TOOL
               ",'response_format':{'type':'json_object'}}",
               "together");
    begin(&bench, ACOG_SURFACE_CHAT);
    bench.rules.schema = ACOG_SCHEMA_NONE;
    is_refused(&bench,
               "{'model':'c','messages':[{'role':'user','content':'x'}],'response_format':{'type':"
               "'json_schema','json_schema':{'name':'p','schema':{}}}}",
               "a JSON schema cannot be enforced");
    /* At messages a schema is always kept, and there is no word for it; here not all are. */
    messages_are_written(
        "{'model':'c','max_tokens':20,'output_config':{'format':{'type':'json_schema','schema':{"
        "'a':1}}},'messages':[{'role':'user','content':'x'}]}",
        "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':'input_text',"
        "'text':'x'}]}],'max_output_tokens':20,'text':{'format':{'type':'json_schema','name':"
        "'structured_answer','schema':{'a':1},'strict':false}},'store':false}",
        "output_config.format");
}

#define ENCRYPTED ",'include':['reasoning.encrypted_content']"
#define CLASSIC \
    (ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_MEDIUM) | ACOG_BIT(ACOG_EFFORT_HIGH))

/* B12, B22 */
static void effort_is_the_nearest_word_that_the_model_takes(void **state)
{
    (void)state;

    static const struct {
        const char *effort;
        const char *written;
        const char *dropped;
    } rows[] = {
        {"low", ",'reasoning':{'effort':'low'}", ""},
        {"minimal", ",'reasoning':{'effort':'low'}", "reasoning_effort"},
        {"max", ",'reasoning':{'effort':'high'}", "reasoning_effort"},
        {"none", ",'reasoning':{'effort':'low'}", "reasoning_effort"},
    };
    struct bench bench;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char more[128];
        char written[256];
        (void)snprintf(more, sizeof(more), ",'reasoning_effort':'%s'", rows[i].effort);
        (void)snprintf(written, sizeof(written), ENCRYPTED "%s", rows[i].written);
        begin(&bench, ACOG_SURFACE_CHAT);
        reasons(&bench, CLASSIC);
        settings_are_written(&bench, more, written, rows[i].dropped);
    }
    begin(&bench, ACOG_SURFACE_CHAT);
    reasons(&bench, CLASSIC | ACOG_BIT(ACOG_EFFORT_NONE));
    settings_are_written(&bench, ",'reasoning_effort':'none'",
                         ENCRYPTED ",'reasoning':{'effort':'none'}", "");
    begin(&bench, ACOG_SURFACE_CHAT);
    reasons(&bench, CLASSIC);
    settings_are_written(&bench, ",'temperature':0.2", ENCRYPTED, "temperature");
    chat_settings_are_written(",'reasoning_effort':'low'", "", "reasoning_effort");
}

static void a_thinking_budget_is_an_effort_and_its_text_a_summary(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    reasons(&bench, CLASSIC);
    is_written(&bench,
               "{'model':'c','max_tokens':20000,'thinking':{'type':'enabled','budget_tokens':9000},"
               "'messages':[{'role':'user','content':'x'}]}",
               "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':"
               "'input_text','text':'x'}]}],'max_output_tokens':20000" ENCRYPTED
               ",'reasoning':{'effort':'medium','summary':'auto'},'store':false}",
               "");
    begin(&bench, ACOG_SURFACE_MESSAGES);
    is_written(&bench,
               "{'model':'c','max_tokens':20000,'thinking':{'type':'enabled','budget_tokens':9000},"
               "'messages':[{'role':'user','content':'x'}]}",
               "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':"
               "'input_text','text':'x'}]}],'max_output_tokens':20000,'store':false}",
               "thinking");
}

/* B11, B12, B23 */
static void fields_are_carried_or_named(void **state)
{
    (void)state;
    struct bench bench;
    chat_settings_are_written(
        ",'temperature':0.70,'top_p':1,'metadata':{'a':'b'},'user':'u1','store':true,'seed':7,"
        "'logprobs':true,'stop':['END'],'safety_identifier':'s','prompt_cache_key':'k',"
        "'service_tier':'flex','prompt_cache_options':{'ttl':'30m'}",
        ",'user':'u1','temperature':0.70,'top_p':1,'metadata':{'a':'b'},'service_tier':'flex',"
        "'prompt_cache_key':'k','prompt_cache_options':{'ttl':'30m'},'safety_identifier':'s'",
        "stop, seed, logprobs, store");
    chat_settings_are_written(",'store':false", "", "");
    begin(&bench, ACOG_SURFACE_CHAT);
    is_refused(&bench, "{'model':'c','n':2,'messages':[{'role':'user','content':'x'}]}", "n:");
    begin(&bench, ACOG_SURFACE_CHAT);
    bench.translation.stream = true;
    is_written(&bench, "{'model':'c','stream':true,'messages':[{'role':'user','content':'x'}]}",
               "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':"
               "'input_text','text':'x'}]}],'store':false,'stream':true}",
               "");
    messages_are_written("{'model':'c','max_tokens':20,'service_tier':'standard_only','messages':"
                         "[{'role':'user','content':'x'}]}",
                         "{'model':'m','input':[{'type':'message','role':'user','content':[{'type':"
                         "'input_text','text':'x'}]}],'max_output_tokens':20,'service_tier':"
                         "'default','store':false}",
                         "");
}

/* -- memory ---------------------------------------------------------------------------------------- */

static void write_much(void *user)
{
    struct bench bench;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    enum acog_code code = write_body(&bench, user);
    assert_int_equal(code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    end(&bench);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    static char body[] =
        "{'model':'c','max_tokens':20,'system':'s','messages':[{'role':'user','content':'x'},"
        "{'role':'assistant','content':[{'type':'tool_use','id':'\\u0075123456789012345678901234567"
        "8901234567890123456789012345678901234567890','name':'f','input':{}}]},{'role':'user',"
        "'content':[{'type':'tool_result','tool_use_id':'u1234567890123456789012345678901234567890"
        "123456789012345678901234567890','content':'ok'}]}],'tools':[{'name':'f','input_schema':"
        "{'type':'object'}}],'seven':7}";
    assert_true(memory_sweep(write_much, body, 1) > 0);
}

static void a_request_that_is_too_big_is_an_ordinary_error(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, ACOG_SURFACE_CHAT);
    acog_buffer_init(&bench.out, 40);
    assert_int_equal(write_body(&bench, "{'model':'c','messages':[{'role':'user','content':'x'}]}"),
                     ACOG_TOO_BIG);
    end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_a_message_and_system_texts_are_instructions),
        cmocka_unit_test(a_later_system_message_stays_in_its_place),
        cmocka_unit_test(calls_and_results_are_items_of_their_own),
        cmocka_unit_test(a_call_id_that_is_too_long_is_cut_alike_in_call_and_result),
        cmocka_unit_test(media_are_told_byte_for_byte),
        cmocka_unit_test(an_image_in_a_result_stays_there),
        cmocka_unit_test(what_it_cannot_hear_or_see_is_refused),
        cmocka_unit_test(reasoning_of_another_maker_is_left_out_entirely),
        cmocka_unit_test(its_own_reasoning_comes_back_with_its_id),
        cmocka_unit_test(reasoning_that_nothing_came_of_is_left_out),
        cmocka_unit_test(refusals_stay_refusals_each_under_its_own_id),
        cmocka_unit_test(a_tool_choice_is_told_only_with_tools),
        cmocka_unit_test(the_limit_is_max_output_tokens_within_what_is_taken),
        cmocka_unit_test(structured_output_is_its_own_format_or_one_tool),
        cmocka_unit_test(effort_is_the_nearest_word_that_the_model_takes),
        cmocka_unit_test(a_thinking_budget_is_an_effort_and_its_text_a_summary),
        cmocka_unit_test(fields_are_carried_or_named),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(a_request_that_is_too_big_is_an_ordinary_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
