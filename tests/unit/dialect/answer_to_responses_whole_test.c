/* answer_to_responses_whole_test.c - what a client of OpenAI Responses reads of a whole answer, and how it ended. Expected
 * texts have ' for " and show what is not the same in all of them.
 */
#include "tests/unit/dialect/responses_told.h"

#include <stdlib.h>
#include <string.h>

/* Ends the whole answer and compares what is not the same in all of them. */
static void is_whole(struct run *run, const char *expected)
{
    struct acog_buffer shown;
    struct acog_json_value object = {.type = ACOG_JSON_NULL};
    struct acog_json_error error;
    acog_flow_end(&run->flow);
    assert_int_equal(run->flow.code, ACOG_OK);
    acog_buffer_init(&shown, OUT_BYTES_MAX);
    assert_int_equal(acog_json_check(acog_buffer_view(&run->out), 64, &object, &error), ACOG_OK);
    show_response(&shown, object);
    is_shown(&shown, expected);
    end(run);
}

/* Whatever the model said arrives: the client's tool judges it. */
static void
an_input_that_is_not_there_is_empty_and_one_of_another_form_is_what_was_said(void **state)
{
    (void)state;
    struct run run;
    begin_with_identities(&run, &acog_responses_whole_form);
    acog_flow_call(&run.flow, 0, text("c0"), text("n__run"));
    acog_flow_part_end(&run.flow, 0);
    acog_flow_call(&run.flow, 1, text("c1"), text("patch"));
    acog_flow_arguments(&run.flow, 1, text("{\"patch\":\"x\"}"));
    acog_flow_call(&run.flow, 2, text("c2"), text("patch"));
    acog_flow_arguments(&run.flow, 2, text("{\"input\":\"cut"));
    acog_flow_finish(&run.flow, ACOG_FINISH_LENGTH, text("length"));
    usage(&run, 1, 2);
    is_whole(&run,
             " 'resp_c' 'm' 'incomplete' {'reason':'max_output_tokens'} ["
             "{'id':'ctc_c_0','type':'custom_tool_call','status':'completed','input':'','call_id':"
             "'c0','name':'run','namespace':'n'},"
             "{'id':'ctc_c_1','type':'custom_tool_call','status':'completed','input':"
             "'{\\'patch\\':\\'x\\'}','call_id':'c1','name':'patch'},"
             "{'id':'ctc_c_2','type':'custom_tool_call','status':'completed','input':"
             "'{\\'input\\':\\'cut','call_id':'c2','name':'patch'}]" USAGE("1", "2", "3"));
}

/* A thought signature of Gemini comes back with its call (read_responses_test.c). */
static void what_is_sealed_of_a_call_stands_behind_it_under_its_id(void **state)
{
    (void)state;
    struct run run;
    struct acog_opaque signature = {.maker = ACOG_DIALECT_GEMINI, .bytes = text("Q2E=")};
    begin(&run, ACOG_DIALECT_GEMINI, &acog_responses_whole_form);
    acog_flow_begin(&run.flow, text("g"), text("m"));
    acog_flow_call(&run.flow, 0, text("c1"), text("f"));
    acog_flow_opaque(&run.flow, ACOG_FLOW_CALL, 0, &signature);
    acog_flow_arguments(&run.flow, 0, text("{}"));
    acog_flow_call(&run.flow, 1, text("c.2"), text("f"));
    acog_flow_opaque(&run.flow, ACOG_FLOW_CALL, 1, &signature);
    usage(&run, 1, 1);
    is_whole(&run,
             " 'resp_g' 'm' 'completed' null [{'id':'fc_g_0','type':'function_call','status':"
             "'completed','arguments':'{}','call_id':'c1','name':'f'},{'id':'rs_g_1','type':"
             "'reasoning','summary':[],'encrypted_content':'acog.gemini.c1.Q2E='},{'id':'fc_g_2',"
             "'type':'function_call','status':'completed','arguments':'{}','call_id':'c.2','name':"
             "'f'}]" USAGE("1", "1", "2"));
}

/* B34 turned round, B49 */
static void a_whole_answer_has_all_items_and_the_usage_in_detail(void **state)
{
    (void)state;
    struct run run;
    struct acog_usage usage = {100, 80, 7, 2, 1};
    begin(&run, ACOG_DIALECT_MESSAGES, &acog_responses_whole_form);
    run.translation.max_tokens = 64;
    acog_flow_begin(&run.flow, text("we\"ird/id"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("one moment"));
    acog_flow_call(&run.flow, 1, text("c9"), text("w"));
    acog_flow_usage(&run.flow, &usage);
    acog_flow_end(&run.flow);
    char *wanted = with_quotes(
        "{'id':'resp_we\\'ird/id','object':'response','created_at':1700000000,'status':'completed',"
        "'background':false,'error':null,'incomplete_details':null,'instructions':null,"
        "'max_output_tokens':64,'model':'m','output':[{'id':'msg_we_ird_id_0','type':'message',"
        "'status':'completed','role':'assistant','content':[{'type':'output_text','annotations':[],"
        "'logprobs':[],'text':'one moment'}]},{'id':'fc_we_ird_id_1','type':'function_call',"
        "'status':'completed','arguments':'{}','call_id':'c9','name':'w'}],'parallel_tool_calls':"
        "true,'previous_response_id':null,'reasoning':{'effort':null,'summary':null},'store':false,"
        "'temperature':null,'text':{'format':{'type':'text'}},'tool_choice':'auto','tools':[],"
        "'top_p':null,'truncation':'disabled','metadata':{},'usage':{'input_tokens':100,"
        "'input_tokens_details':{'cached_tokens':80,'cache_write_tokens':7},'output_tokens':2,"
        "'output_tokens_details':{'reasoning_tokens':1},'total_tokens':102}}");
    if (!acog_view_equal(acog_buffer_view(&run.out), acog_view_of(wanted))) {
        fail_msg("%.*s\nnot\n%s", (int)run.out.len, run.out.ptr, wanted);
    }
    free(wanted);
    end(&run);
}

/* B98 */
static void usage_that_is_estimated_says_so(void **state)
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_whole_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("Hey"));
    is_whole(&run, " 'resp_c' 'm' 'completed' null [" HEY_MESSAGE
                   "] {'input_tokens':11,'input_tokens_details':{'cached_tokens':0,"
                   "'cache_write_tokens':0},'output_tokens':1,'output_tokens_details':{"
                   "'reasoning_tokens':0},'total_tokens':12,'estimated':true}");
}

/* An item that OpenAI never gave would be refused there, when the conversation comes back. */
static void reasoning_that_nobody_signed_says_whose_it_was(void **state) /* B28 */
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_GEMINI, &acog_responses_whole_form);
    acog_flow_begin(&run.flow, text("g"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_REASONING, 0, text("hm"));
    usage(&run, 1, 1);
    is_whole(
        &run,
        " 'resp_g' 'm' 'completed' null [{'id':'rs_g_0','type':'reasoning','summary':[{'type':"
        "'summary_text','text':'hm'}],'encrypted_content':'acog.gemini..'}]" USAGE("1", "1", "2"));
}

/* Decision 10 */
static void the_note_is_a_part_of_its_own_after_reasoning(void **state)
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_whole_form);
    run.translation.note = ACOG_VIEW("[note]");
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_REASONING, 0, text("hm"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 1, text("Hey"));
    usage(&run, 1, 1);
    is_whole(&run,
             " 'resp_c' 'm' 'completed' null [{'id':'rs_c_0','type':'reasoning','summary':[{'type':"
             "'summary_text','text':'hm'}],'encrypted_content':'acog.chat..'},{'id':'msg_c_1',"
             "'type':'message','status':'completed','role':'assistant','content':[{'type':"
             "'output_text','annotations':[],'logprobs':[],'text':'[note]\\n\\n'}," HEY_PART
             "]}]" USAGE("1", "1", "2"));
}

/* -- how it ended ----------------------------------------------------------------------------------------- */

static void ends_as(enum acog_finish_reason reason, const char *native, const char *expected)
{
    struct run run;
    begin(&run, ACOG_DIALECT_MESSAGES, &acog_responses_whole_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_finish(&run.flow, reason, text(native));
    usage(&run, 1, 1);
    is_whole(&run, expected);
}

#define ENDS(status, details, native) \
    " 'resp_c' 'm' '" status "' " details " []" USAGE("1", "1", "2") native
#define CUT "{'reason':'max_output_tokens'}"

/* B41, B60 */
static void how_it_ended_is_told_and_the_native_word_where_that_is_lost(void **state)
{
    (void)state;
    ends_as(ACOG_FINISH_STOP, "end_turn", ENDS("completed", "null", ""));
    ends_as(ACOG_FINISH_STOP_SEQUENCE, "stop_sequence",
            ENDS("completed", "null", " 'stop_sequence'"));
    ends_as(ACOG_FINISH_LENGTH, "max_tokens", ENDS("incomplete", CUT, ""));
    ends_as(ACOG_FINISH_CONTEXT, "model_context_window_exceeded",
            ENDS("incomplete", CUT, " 'model_context_window_exceeded'"));
    ends_as(ACOG_FINISH_PAUSE, "pause_turn", ENDS("incomplete", CUT, " 'pause_turn'"));
    ends_as(ACOG_FINISH_UNKNOWN, "novel", ENDS("incomplete", CUT, " 'novel'"));
    ends_as(ACOG_FINISH_UNKNOWN, "stop", ENDS("incomplete", CUT, " 'stop'"));
    ends_as(ACOG_FINISH_REFUSAL, "refusal", ENDS("incomplete", "{'reason':'content_filter'}", ""));
}

static void a_refusal_says_why(void **state)
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_MESSAGES, &acog_responses_whole_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_finish(&run.flow, ACOG_FINISH_REFUSAL, text("refusal"));
    acog_flow_refusal(&run.flow, text("cyber"), text("not \"that\""));
    usage(&run, 1, 1);
    is_whole(&run, ENDS("incomplete",
                        "{'reason':'content_filter','category':'cyber','explanation':"
                        "'not \\'that\\''}",
                        ""));
}

/* As OpenAI's own: what the model said instead of an answer is the answer. */
static void a_refusal_in_the_models_words_is_a_whole_answer(void **state)
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_whole_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_REFUSAL, 0, text("no"));
    acog_flow_finish(&run.flow, ACOG_FINISH_REFUSAL, text("stop"));
    usage(&run, 1, 1);
    is_whole(&run,
             " 'resp_c' 'm' 'completed' null [{'id':'msg_c_0','type':'message','status':"
             "'completed','role':'assistant','content':[{'type':'refusal','refusal':'no'}]}]" USAGE(
                 "1", "1", "2"));
}

/* B59: a marker without a reason counts as complete. */
static void a_text_that_is_cut_is_an_incomplete_message(void **state)
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_whole_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("Hey"));
    acog_flow_finish(&run.flow, ACOG_FINISH_LENGTH, text("length"));
    usage(&run, 1, 1);
    is_whole(&run, " 'resp_c' 'm' 'incomplete' " CUT
                   " [{'id':'msg_c_0','type':'message','status':'incomplete','role':'assistant',"
                   "'content':[" HEY_PART "]}]" USAGE("1", "1", "2"));
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_whole_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("Hey"));
    usage(&run, 1, 1);
    is_whole(&run, " 'resp_c' 'm' 'completed' null [" HEY_MESSAGE "]" USAGE("1", "1", "2"));
}

/* -- caps ------------------------------------------------------------------------------------------------- */

static void an_answer_that_is_too_big_is_an_ordinary_error(void **state)
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_whole_form);
    size_t bytes = (size_t)4 * 1024 * 1024;
    char *much = malloc(bytes);
    assert_non_null(much);
    memset(much, 'a', bytes);
    for (int i = 0; i < 9; i++) {
        acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0,
                       acog_text_plain((struct acog_view){.ptr = much, .len = bytes}));
    }
    acog_flow_end(&run.flow);
    assert_int_equal(run.flow.code, ACOG_TOO_BIG);
    free(much);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            an_input_that_is_not_there_is_empty_and_one_of_another_form_is_what_was_said),
        cmocka_unit_test(what_is_sealed_of_a_call_stands_behind_it_under_its_id),
        cmocka_unit_test(a_whole_answer_has_all_items_and_the_usage_in_detail),
        cmocka_unit_test(usage_that_is_estimated_says_so),
        cmocka_unit_test(reasoning_that_nobody_signed_says_whose_it_was),
        cmocka_unit_test(the_note_is_a_part_of_its_own_after_reasoning),
        cmocka_unit_test(how_it_ended_is_told_and_the_native_word_where_that_is_lost),
        cmocka_unit_test(a_refusal_says_why),
        cmocka_unit_test(a_refusal_in_the_models_words_is_a_whole_answer),
        cmocka_unit_test(a_text_that_is_cut_is_an_incomplete_message),
        cmocka_unit_test(an_answer_that_is_too_big_is_an_ordinary_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
