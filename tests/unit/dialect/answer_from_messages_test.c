/* answer_from_messages_test.c - Anthropic's answers as the flow tells them on (flow_parts.h). Events and bodies have '
 * for ". */
#include "core/dialect/flow.h"
#include "tests/support/check.h"
#include "tests/support/flow_parts.h"
#include "tests/support/quotes.h"

#include <stdlib.h>
#include <string.h>

#define OUT_BYTES_MAX ((size_t)1 << 16U)

/* -- a run ----------------------------------------------------------------------------------------- */

static const struct acog_translation plain = {.client = ACOG_DIALECT_CHAT,
                                              .upstream = ACOG_DIALECT_MESSAGES,
                                              .model = {"claude-sent", 11},
                                              .request_id = {"r1", 2},
                                              .input_tokens_estimate = 9,
                                              .max_tokens = -1};

static const struct acog_translation by_tool = {.client = ACOG_DIALECT_CHAT,
                                                .upstream = ACOG_DIALECT_MESSAGES,
                                                .model = {"claude-sent", 11},
                                                .request_id = {"r1", 2},
                                                .max_tokens = -1,
                                                .schema_by_tool = true};

struct run {
    struct acog_flow flow;
    struct acog_buffer out;
};

static void begin(struct run *run, const struct acog_translation *translation)
{
    acog_buffer_init(&run->out, OUT_BYTES_MAX);
    assert_int_equal(acog_flow_init(&run->flow, translation, &flow_parts_form), ACOG_OK);
    run->flow.out = &run->out;
}

static void end_as(struct run *run, const char *expected)
{
    acog_flow_end(&run->flow);
    assert_int_equal(run->flow.code, ACOG_OK);
    struct acog_view seen = acog_buffer_view(&run->out);
    if (!acog_view_equal(seen, acog_view_of(expected))) {
        fail_msg("seen\n%.*snot\n%s", ACOG_VIEW_FMT(seen), expected);
    }
    acog_flow_fini(&run->flow);
    acog_buffer_fini(&run->out);
}

static void event(struct run *run, const char *data)
{
    char *quoted = with_quotes(data);
    acog_messages_read_event(&run->flow, ACOG_VIEW(""), acog_view_of(quoted), NULL);
    free(quoted);
}

static void events(const struct acog_translation *translation, const char *const *data,
                   const char *expected)
{
    struct run run;
    begin(&run, translation);
    for (; *data != NULL; data++) {
        event(&run, *data);
    }
    end_as(&run, expected);
}

static void whole(const struct acog_translation *translation, const char *body,
                  const char *expected)
{
    struct run run;
    struct acog_json_value object = {.type = ACOG_JSON_NULL};
    struct acog_json_error error;
    char *quoted = with_quotes(body);
    begin(&run, translation);
    assert_int_equal(acog_json_check(acog_view_of(quoted), 128, &object, &error), ACOG_OK);
    acog_messages_read_whole(&run.flow, object, NULL);
    end_as(&run, expected);
    free(quoted);
}

static const char message_start[] =
    "{'type':'message_start','message':{'id':'msg_1','type':'message','role':'assistant',"
    "'model':'m','content':[],'stop_reason':null,'stop_sequence':null,'usage':{'input_tokens':9,"
    "'output_tokens':1}}}";
#define STOP "{'type':'message_stop'}"

/* -- streams --------------------------------------------------------------------------------------- */

/* B43 */
static void a_text_and_a_call_with_arguments_in_pieces(void **state)
{
    static const char *const data[] = {
        message_start,
        "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':''}}",
        "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':'ok'}}",
        "{'type':'content_block_stop','index':0}",
        "{'type':'content_block_start','index':1,'content_block':{'type':'tool_use','id':'tu_1',"
        "'name':'f','input':{}}}",
        "{'type':'ping'}",
        "{'type':'content_block_delta','index':1,'delta':{'type':'input_json_delta',"
        "'partial_json':'{\\'a\\':'}}",
        "  {'type':'content_block_delta','index':1,'delta':{'type':'input_json_delta',"
        "'partial_json':'1}'}         }  \n",
        "{'type':'content_block_stop','index':1 }",
        "{'type':'message_delta','delta':{'stop_reason':'tool_use','stop_sequence':null},'usage':{"
        "'output_tokens':12}}",
        STOP,
        NULL};
    (void)state;
    events(&plain, data,
           "begin msg_1 m input 9\ntext: [ok]\ncall tu_1 f: [{\\\"a\\\":] [1}]\ncalls tool_use\n"
           "usage 9/-1/-1/12/-1\n");
}

/* B48 */
static void a_call_without_arguments_has_none(void **state)
{
    static const char *const data[] = {
        message_start,
        "{'type':'content_block_start','index':0,'content_block':{'type':'tool_use','id':'t',"
        "'name':'now','input':{}}}",
        "{'type':'content_block_delta','index':0,'delta':{'type':'input_json_delta',"
        "'partial_json':''}}",
        "{'type':'content_block_stop','index':0}",
        "{'type':'message_delta','delta':{'stop_reason':'tool_use'},'usage':{'output_tokens':2}}",
        STOP,
        NULL};
    (void)state;
    events(&plain, data,
           "begin msg_1 m input 9\ncall t now: nothing\ncalls tool_use\nusage 9/-1/-1/2/-1\n");
}

static void a_call_whose_input_comes_whole_at_its_start(void **state)
{
    static const char *const data[] = {
        message_start,
        ("{'type':'content_block_start','index':0,'content_block':{'type':'tool_use','id':'t',"
         "'name':'f','input':{'x':1.0}}}"),
        "{'type':'content_block_stop','index':0}", STOP, NULL};
    (void)state;
    events(&plain, data,
           "begin msg_1 m input 9\ncall t f: [{\\\"x\\\":1.0}]\ncalls \nusage 9/-1/-1/1/-1\n");
}

static void reasoning_with_its_signature_and_without_text(void **state)
{
    static const char *const data[] = {
        message_start,
        "{'type':'content_block_start','index':0,'content_block':{'type':'thinking','thinking':'',"
        "'signature':''}}",
        "{'type':'content_block_delta','index':0,'delta':{'type':'thinking_delta','thinking':'hm'}}",
        "{'type':'content_block_delta','index':0,'delta':{'type':'thinking_delta','thinking':'m'}}",
        "{'type':'content_block_delta','index':0,'delta':{'type':'signature_delta','signature':"
        "'c2ln'}}",
        "{'type':'content_block_stop','index':0}",
        "{'type':'content_block_start','index':1,'content_block':{'type':'redacted_thinking','data':"
        "'ZGF0'}}",
        "{'type':'content_block_stop','index':1}",
        "{'type':'content_block_start','index':2,'content_block':{'type':'thinking','thinking':''}}",
        "{'type':'content_block_delta','index':2,'delta':{'type':'signature_delta','signature':"
        "'b21p'}}",
        "{'type':'content_block_stop','index':2}",
        "{'type':'content_block_start','index':3,'content_block':{'type':'text','text':'so'}}",
        "{'type':'content_block_stop','index':3}",
        "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{'output_tokens':7}}",
        STOP,
        NULL};
    (void)state;
    events(&plain, data,
           "begin msg_1 m input 9\nreasoning: [hm] [m] sealed(c2ln)\n"
           "reasoning: redacted(ZGF0) nothing\nreasoning: sealed(b21p) nothing\ntext: [so]\n"
           "stop end_turn\nusage 9/-1/-1/7/-1\n");
}

/* What Anthropic's own tools did is no part of the answer; what they found may be a source of it. */
static void server_tools_are_skipped_and_sources_told(void **state)
{
    static const char *const data[] = {
        message_start,
        "{'type':'content_block_start','index':0,'content_block':{'type':'server_tool_use','id':"
        "'s','name':'web_search','input':{}}}",
        "{'type':'content_block_delta','index':0,'delta':{'type':'input_json_delta',"
        "'partial_json':'{\\'q\\':1}'}}",
        "{'type':'content_block_stop','index':0}",
        "{'type':'content_block_start','index':1,'content_block':{'type':'web_search_tool_result',"
        "'tool_use_id':'s','content':[{'type':'web_search_result','title':'no','url':'no'}]}}",
        "{'type':'content_block_stop','index':1}",
        "{'type':'content_block_start','index':2,'content_block':{'type':'fallback','from':{'model':"
        "'a'},'to':{'model':'b'}}}",
        "{'type':'content_block_stop','index':2}",
        "{'type':'content_block_start','index':3,'content_block':{'citations':[],'type':'text',"
        "'text':''}}",
        "{'type':'content_block_delta','index':3,'delta':{'type':'text_delta','text':'it is'}}",
        "{'type':'content_block_delta','index':3,'delta':{'type':'citations_delta','citation':{"
        "'type':'web_search_result_location','cited_text':'x','url':'https://u.example','title':"
        "'T','encrypted_index':'E'}}}",
        "{'type':'content_block_delta','index':3,'delta':{'type':'citations_delta','citation':{"
        "'type':'char_location','document_index':0}}}",
        "{'type':'content_block_stop','index':3}",
        "{'type':'content_block_start','index':4,'content_block':{'type':'text','text':''}}",
        "{'type':'content_block_delta','index':4,'delta':{'type':'citations_delta','citation':{"
        "'type':'web_search_result_location','url':'https://v.example','title':'V'}}}",
        "{'type':'content_block_delta','index':4,'delta':{'type':'text_delta','text':' so'}}",
        "{'type':'content_block_stop','index':4}",
        "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{'output_tokens':7}}",
        STOP,
        NULL};
    (void)state;
    events(&plain, data,
           "begin msg_1 m input 9\ntext: [it is] source(https://u.example|T)\ntext: [ so] "
           "source(https://v.example|V)\nstop end_turn\n"
           "usage 9/-1/-1/7/-1\n");
}

/* B95; FACTS 8: overwritten, never added; Anthropic tells the three kinds of input side by side. */
static void usage_is_overwritten_and_the_input_is_the_sum_of_three(void **state)
{
    static const char *const data[] = {
        "{'type':'message_start','message':{'id':'m1','model':'m','usage':{'input_tokens':40,"
        "'cache_creation_input_tokens':1000,'cache_read_input_tokens':9000,'output_tokens':3}}}",
        "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':'x'}}",
        "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{'input_tokens':40,"
        "'cache_creation_input_tokens':1000,'cache_read_input_tokens':9000,'output_tokens':50}}",
        STOP, NULL};
    static const char *const in_pieces[] = {
        "{'type':'message_start','message':{'id':'m1','model':'m','usage':{'input_tokens':40,"
        "'output_tokens':3}}}",
        "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':'x'}}",
        "{'type':'message_delta','delta':{},'usage':{'cache_read_input_tokens':9000}}",
        "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{'input_tokens':41,"
        "'output_tokens':50}}",
        STOP,
        NULL};
    (void)state;
    events(&plain, data,
           "begin m1 m input 10040\ntext: [x]\nstop end_turn\nusage 10040/9000/1000/50/-1\n");
    events(&plain, in_pieces,
           "begin m1 m input 40\ntext: [x]\nstop end_turn\nusage 9041/9000/-1/50/-1\n");
}

static void huge_figures_do_not_overflow(void **state)
{
    (void)state;
    whole(&plain,
          "{'id':'m1','model':'m','content':[],'stop_reason':'end_turn','usage':{'input_tokens':"
          "9223372036854775807,'cache_read_input_tokens':9223372036854775807,"
          "'cache_creation_input_tokens':9223372036854775807,'output_tokens':1}}",
          "begin m1 m input 9223372036854775807\nstop end_turn\n"
          "usage 9223372036854775807/9223372036854775807/9223372036854775807/1/-1\n");
}

static void usage_that_tells_no_input_leaves_it_unknown(void **state)
{
    (void)state;
    whole(
        &plain,
        "{'id':'i','model':'m','content':[],'stop_reason':'end_turn','usage':{'output_tokens':1}}",
        "begin i m\nstop end_turn\nusage -1/-1/-1/1/-1\n");
}

/* B57, B59: what came before an error, or before the bytes end, is given on as it came; the end is not the reader's. */
static void a_stream_that_only_began_says_no_more_than_it_knows(void **state)
{
    struct run run;
    (void)state;
    begin(&run, &plain);
    event(&run, message_start);
    event(&run,
          "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':''}}");
    event(&run, "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':"
                "'half'}}");
    assert_false(run.flow.finish_known);
    assert_false(run.flow.finished);
    assert_true(acog_view_equal(acog_buffer_view(&run.out),
                                ACOG_VIEW("begin msg_1 m input 9\ntext: [half]")));
    acog_flow_fini(&run.flow);
    acog_buffer_fini(&run.out);
}

/* A relay that splices two streams: the numbers begin again. */
static void a_second_beginning_changes_nothing(void **state)
{
    static const char *const data[] = {
        message_start,
        "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':'a'}}",
        "{'type':'content_block_stop','index':0}",
        ("{'type':'message_start','message':{'id':'msg_2','model':'n','usage':{'input_tokens':9,"
         "'output_tokens':1}}}"),
        "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':'b'}}",
        "{'type':'content_block_stop','index':0}",
        "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{'output_tokens':4}}",
        STOP,
        NULL};
    (void)state;
    events(&plain, data,
           "begin msg_1 m input 9\ntext: [a]\ntext: [b]\nstop end_turn\nusage 9/-1/-1/4/-1\n");
}

static void odd_events_bring_nothing(void **state)
{
    static const char *const data[] = {message_start,
                                       "",
                                       "[DONE]",
                                       "{}",
                                       "{'type':'content_block_start','index':'x'}",
                                       "{'type':'content_block_delta','index':7,'delta':null}",
                                       "{'type':'content_block_delta','delta':{'text':7}}",
                                       "{'type':'content_block_stop','index':99999999999}",
                                       "{'type':'content_block_stop','index':-1}",
                                       "{'type':'message_delta'}",
                                       "{'type':'vendor_event','delta':{'text':'no'}}",
                                       STOP,
                                       NULL};
    (void)state;
    events(&plain, data, "begin msg_1 m input 9\nstop \nusage 9/-1/-1/1/-1\n");
}

static void the_events_name_counts_where_the_data_has_no_type(void **state)
{
    struct run run;
    (void)state;
    begin(&run, &plain);
    acog_messages_read_event(
        &run.flow, ACOG_VIEW("content_block_delta"),
        ACOG_VIEW("{\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}"), NULL);
    end_as(&run, "begin  claude-sent\ntext: [x]\nstop \nusage estimated\n");
}

/* -- whole answers --------------------------------------------------------------------------------- */

static void a_whole_answer_is_the_same_as_its_stream(void **state)
{
    (void)state;
    whole(
        &plain,
        "{'id':'msg_9','type':'message','role':'assistant','model':'claude-x','content':["
        "{'type':'thinking','thinking':'hm','signature':'c2ln'},{'type':'redacted_thinking',"
        "'data':'ZGF0'},{'type':'text','text':'a\\nb','citations':[{'type':"
        "'web_search_result_location','url':'https://u.example','title':null}]},"
        "{'type':'server_tool_use','id':'s','name':'web_search','input':{'q':1}},"
        "{'type':'tool_use','id':'t1','name':'f','input':{ 'a' : 1.50 }},"
        "{'type':'tool_use','id':'t2','name':'g','input':{}}],'stop_reason':'tool_use',"
        "'stop_sequence':null,'usage':{'input_tokens':2,'cache_read_input_tokens':3,"
        "'output_tokens':4}}",
        "begin msg_9 claude-x input 5\nreasoning: [hm] sealed(c2ln)\n"
        "reasoning: redacted(ZGF0) nothing\ntext: [a\\nb] source(https://u.example|)\n"
        "call t1 f: [{ \\\"a\\\" : 1.50 }]\ncall t2 g: nothing\ncalls tool_use\nusage 5/3/-1/4/-1\n");
}

/* B60; streams and whole answers read the reason in one place */
static void every_reason_has_a_meaning(void **state)
{
    static const struct {
        const char *stop_reason;
        const char *told;
    } rows[] = {
        {"end_turn", "stop"},      {"stop_sequence", "stop_sequence"},
        {"max_tokens", "length"},  {"model_context_window_exceeded", "context"},
        {"refusal", "refusal"},    {"pause_turn", "pause"},
        {"tool_use", "stop"}, /* without a call there is nothing to do */
        {"compaction", "unknown"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char body[512];
        char expected[256];
        struct acog_buffer text;
        acog_buffer_init_over(&text, body, sizeof(body) - 1);
        assert_int_equal(
            acog_buffer_format(&text,
                               "{'id':'i','model':'m','content':[{'type':'text','text':'x'}],"
                               "'stop_reason':'%s','usage':{'input_tokens':1,'output_tokens':1}}",
                               rows[i].stop_reason),
            ACOG_OK);
        body[text.len] = '\0';
        acog_buffer_init_over(&text, expected, sizeof(expected) - 1);
        assert_int_equal(
            acog_buffer_format(&text, "begin i m input 1\ntext: [x]\n%s %s\nusage 1/-1/-1/1/-1\n",
                               rows[i].told, rows[i].stop_reason),
            ACOG_OK);
        expected[text.len] = '\0';
        whole(&plain, body, expected);
    }
}

static void the_sequence_that_stopped_it_is_told(void **state)
{
    (void)state;
    whole(&plain,
          "{'id':'i','model':'m','content':[{'type':'text','text':'x'}],'stop_reason':"
          "'stop_sequence','stop_sequence':'END','usage':{'input_tokens':1,'output_tokens':1}}",
          "begin i m input 1\ntext: [x]\nstop_sequence stop_sequence at END\nusage 1/-1/-1/1/-1\n");
}

/* B76 */
static void a_refusal_says_why(void **state)
{
    static const char *const data[] = {
        message_start,
        "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':''}}",
        "{'type':'content_block_stop','index':0}",
        ("{'type':'message_delta','delta':{'stop_reason':'refusal','stop_sequence':null,"
         "'stop_details':{'type':'refusal','category':'cyber','explanation':'Refused.'}},'usage':{"
         "'output_tokens':0}}"),
        STOP,
        NULL};
    (void)state;
    events(&plain, data,
           "begin msg_1 m input 9\nrefusal refusal for cyber: Refused.\nusage 9/-1/-1/0/-1\n");
    whole(
        &plain,
        "{'id':'m1','type':'message','role':'assistant','model':'claude-x','content':[],"
        "'stop_reason':'refusal','stop_sequence':null,'stop_details':{'type':'refusal','category':"
        "'cyber','explanation':null},'usage':{'input_tokens':20,'output_tokens':0}}",
        "begin m1 claude-x input 20\nrefusal refusal for cyber\nusage 20/-1/-1/0/-1\n");
}

/* B20 */
static void the_arguments_of_the_schema_tool_are_the_text(void **state)
{
    static const char *const data[] = {
        message_start,
        "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':'Here:'}}",
        "{'type':'content_block_stop','index':0}",
        "{'type':'content_block_start','index':1,'content_block':{'type':'tool_use','id':'t',"
        "'name':'structured_answer','input':{}}}",
        "{'type':'content_block_delta','index':1,'delta':{'type':'input_json_delta',"
        "'partial_json':'{\\'age\\''}}",
        "{'type':'content_block_delta','index':1,'delta':{'type':'input_json_delta',"
        "'partial_json':':41}'}}",
        "{'type':'content_block_stop','index':1}",
        "{'type':'message_delta','delta':{'stop_reason':'tool_use'},'usage':{'output_tokens':5}}",
        STOP,
        NULL};
    (void)state;
    events(
        &by_tool, data,
        "begin msg_1 m input 9\ntext: [{\\\"age\\\"] [:41}]\nstop tool_use\nusage 9/-1/-1/5/-1\n");
    whole(&by_tool,
          "{'id':'i','model':'m','content':[{'type':'tool_use','id':'t','name':'structured_answer',"
          "'input':{'age':41}}],'stop_reason':'tool_use','usage':{'input_tokens':1,"
          "'output_tokens':1}}",
          "begin i m input 1\ntext: [{\\\"age\\\":41}]\nstop tool_use\nusage 1/-1/-1/1/-1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_and_a_call_with_arguments_in_pieces),
        cmocka_unit_test(a_call_without_arguments_has_none),
        cmocka_unit_test(a_call_whose_input_comes_whole_at_its_start),
        cmocka_unit_test(reasoning_with_its_signature_and_without_text),
        cmocka_unit_test(server_tools_are_skipped_and_sources_told),
        cmocka_unit_test(usage_is_overwritten_and_the_input_is_the_sum_of_three),
        cmocka_unit_test(huge_figures_do_not_overflow),
        cmocka_unit_test(usage_that_tells_no_input_leaves_it_unknown),
        cmocka_unit_test(a_stream_that_only_began_says_no_more_than_it_knows),
        cmocka_unit_test(a_second_beginning_changes_nothing),
        cmocka_unit_test(odd_events_bring_nothing),
        cmocka_unit_test(the_events_name_counts_where_the_data_has_no_type),
        cmocka_unit_test(a_whole_answer_is_the_same_as_its_stream),
        cmocka_unit_test(every_reason_has_a_meaning),
        cmocka_unit_test(the_sequence_that_stopped_it_is_told),
        cmocka_unit_test(a_refusal_says_why),
        cmocka_unit_test(the_arguments_of_the_schema_tool_are_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
