/* answer_to_messages_whole_test.c - what a client of Anthropic Messages reads of a whole answer, and why it ended. Expected
 * texts have ' for ". */
#include "tests/unit/dialect/messages_told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ends_whole_as(struct run *run, const char *expected)
{
    struct acog_json_value object = {.type = ACOG_JSON_NULL};
    struct acog_json_error error;
    acog_flow_end(&run->flow);
    assert_int_equal(run->flow.code, ACOG_OK);
    assert_int_equal(acog_json_check(acog_buffer_view(&run->out), 128, &object, &error), ACOG_OK);
    assert_quoted(acog_buffer_view(&run->out), expected);
    end(run);
}

/* B34 */
static void a_text_and_a_call_are_one_message(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_RESPONSES, &acog_messages_whole_form);
    acog_flow_begin(&run.flow, text("resp_1"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 1, text("one moment"));
    acog_flow_part_end(&run.flow, 1);
    acog_flow_call(&run.flow, 2, text("c9"), text("w"));
    acog_flow_arguments(&run.flow, 2, text("{}"));
    acog_flow_part_end(&run.flow, 2);
    acog_flow_finish(&run.flow, ACOG_FINISH_STOP, text("completed"));
    struct acog_usage figures = {5, 0, -1, 6, 2};
    acog_flow_usage(&run.flow, &figures);
    ends_whole_as(&run,
                  "{'id':'msg_resp_1','type':'message','role':'assistant','model':'m','content':["
                  "{'type':'text','text':'one moment'},{'type':'tool_use','id':'c9','name':'w',"
                  "'input':{}}],'stop_reason':'tool_use','stop_sequence':null,'usage':{"
                  "'input_tokens':5,'cache_creation_input_tokens':0,'cache_read_input_tokens':0,"
                  "'output_tokens':6,'output_tokens_details':{'thinking_tokens':2}}}");
}

static void a_whole_answer_holds_all_kinds_of_blocks(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_GEMINI, &acog_messages_whole_form);
    acog_flow_begin(&run.flow, text("msg_7"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_REASONING, 0, text("h"));
    acog_flow_text(&run.flow, ACOG_FLOW_REASONING, 0, text("m\"\n"));
    opaque(&run, ACOG_FLOW_REASONING, 0, ACOG_DIALECT_GEMINI, "U2ln", false);
    opaque(&run, ACOG_FLOW_REASONING, 1, ACOG_DIALECT_GEMINI, "UmVk", true);
    acog_flow_text(&run.flow, ACOG_FLOW_REASONING, 2, text("bare"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("a"));
    acog_flow_citation(&run.flow, 0, text("https://u.example"), text("T"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("b"));
    acog_flow_call(&run.flow, 0, text("c1"), text("f"));
    opaque(&run, ACOG_FLOW_CALL, 0, ACOG_DIALECT_GEMINI, "Q2Fs", false);
    acog_flow_arguments(&run.flow, 0, text(" {\"a\": "));
    acog_flow_arguments(&run.flow, 0, text("1.50}\n"));
    acog_flow_call(&run.flow, 1, text("c2"), text("g"));
    usage(&run, 5, -1, -1, 3);
    ends_whole_as(&run,
                  "{'id':'msg_7','type':'message','role':'assistant','model':'m','content':["
                  "{'type':'thinking','thinking':'hm\\'\\n','signature':'acog.gemini..U2ln'},"
                  "{'type':'redacted_thinking','data':'acog.redacted-gemini..UmVk'},"
                  "{'type':'thinking','thinking':'bare','signature':'acog.gemini..'},"
                  "{'type':'text','text':'ab'},"
                  "{'type':'redacted_thinking','data':'acog.gemini.c1.Q2Fs'},"
                  "{'type':'tool_use','id':'c1','name':'f','input':{'a': 1.50}},"
                  "{'type':'tool_use','id':'c2','name':'g','input':{}}],'stop_reason':'tool_use',"
                  "'stop_sequence':null,'usage':" USAGE("5", "3") "}");
}

static void arguments_that_were_cut_are_given_as_their_text(void **state)
{
    static const char *const broken[] = {"{\"path\":\"/et", "[1]", "not json"};
    static const char *const told[] = {"{\\'path\\':\\'/et", "[1]", "not json"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct run run;
        char expected[512];
        begin(&run, ACOG_DIALECT_CHAT, &acog_messages_whole_form);
        acog_flow_begin(&run.flow, text("c"), text("m"));
        acog_flow_call(&run.flow, 0, text("c1"), text("f"));
        acog_flow_arguments(&run.flow, 0, text(broken[i]));
        acog_flow_finish(&run.flow, ACOG_FINISH_LENGTH, text("length"));
        usage(&run, 5, -1, -1, 3);
        (void)snprintf(
            expected, sizeof(expected),
            "{'id':'msg_c','type':'message','role':'assistant','model':'m','content':["
            "{'type':'tool_use','id':'c1','name':'f','input':{'partial_json':'%s'}}],"
            "'stop_reason':'max_tokens','stop_sequence':null,'usage':" USAGE("5", "3") "}",
            told[i]);
        ends_whole_as(&run, expected);
    }
}

static void an_empty_answer_is_an_empty_list(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_whole_form);
    usage(&run, 5, -1, -1, 0);
    ends_whole_as(&run, "{'id':'msg_r1','type':'message','role':'assistant','model':'sent',"
                        "'content':[],'stop_reason':'end_turn','stop_sequence':null,"
                        "'usage':" USAGE("5", "0") "}");
}

static void each_call_has_its_own_arguments(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_whole_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    for (uint32_t i = 0; i < 2; i++) {
        acog_flow_call(&run.flow, i, text(i == 0 ? "c1" : "c2"), text("f"));
        acog_flow_arguments(&run.flow, i, text(i == 0 ? "{\"a\":1}" : "{\"a\":2}"));
    }
    usage(&run, 5, 9, 9, 3); /* more cached than there was: never below zero */
    ends_whole_as(&run, "{'id':'msg_c','type':'message','role':'assistant','model':'m','content':["
                        "{'type':'tool_use','id':'c1','name':'f','input':{'a':1}},{'type':"
                        "'tool_use','id':'c2','name':'f','input':{'a':2}}],'stop_reason':'tool_use'"
                        ",'stop_sequence':null,'usage':{'input_tokens':0,"
                        "'cache_creation_input_tokens':9,'cache_read_input_tokens':9,"
                        "'output_tokens':3}}");
}

/* -- why it ended ----------------------------------------------------------------------------------------- */

/* B60, both forms */
static void every_reason_has_its_word_and_its_own_where_that_is_lost(void **state)
{
    static const struct {
        enum acog_dialect upstream;
        enum acog_finish_reason reason;
        const char *native;
        const char *told;
    } rows[] = {
        {ACOG_DIALECT_CHAT, ACOG_FINISH_STOP, "stop",
         "'stop_reason':'end_turn','stop_sequence':null"},
        {ACOG_DIALECT_CHAT, ACOG_FINISH_STOP, "", "'stop_reason':'end_turn','stop_sequence':null"},
        {ACOG_DIALECT_CHAT, ACOG_FINISH_LENGTH, "length",
         "'stop_reason':'max_tokens','stop_sequence':null"},
        {ACOG_DIALECT_CHAT, ACOG_FINISH_REFUSAL, "content_filter",
         "'stop_reason':'refusal','stop_sequence':null"},
        {ACOG_DIALECT_RESPONSES, ACOG_FINISH_LENGTH, "max_output_tokens",
         "'stop_reason':'max_tokens','stop_sequence':null"},
        {ACOG_DIALECT_CHAT, ACOG_FINISH_UNKNOWN, "eos",
         "'stop_reason':'max_tokens','stop_sequence':null,'native_stop_reason':'eos'"},
        {ACOG_DIALECT_GEMINI, ACOG_FINISH_REFUSAL, "RECITATION",
         "'stop_reason':'refusal','stop_sequence':null,'native_stop_reason':'RECITATION'"},
        {ACOG_DIALECT_GEMINI, ACOG_FINISH_STOP, "STOP",
         "'stop_reason':'end_turn','stop_sequence':null"},
        {ACOG_DIALECT_MESSAGES, ACOG_FINISH_PAUSE, "pause_turn",
         "'stop_reason':'pause_turn','stop_sequence':null"},
        {ACOG_DIALECT_MESSAGES, ACOG_FINISH_CONTEXT, "model_context_window_exceeded",
         "'stop_reason':'model_context_window_exceeded','stop_sequence':null"},
        {ACOG_DIALECT_MESSAGES, ACOG_FINISH_STOP_SEQUENCE, "stop_sequence",
         "'stop_reason':'stop_sequence','stop_sequence':'END'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run run;
        char expected[512];
        begin(&run, rows[i].upstream, &acog_messages_whole_form);
        acog_flow_begin(&run.flow, text("c"), text("m"));
        acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("x"));
        acog_flow_finish(&run.flow, rows[i].reason, text(rows[i].native));
        acog_flow_stop_sequence(&run.flow, text("END"));
        usage(&run, 5, -1, -1, 3);
        (void)snprintf(expected, sizeof(expected),
                       "{'id':'msg_c','type':'message','role':'assistant','model':'m','content':["
                       "{'type':'text','text':'x'}],%s,'usage':" USAGE("5", "3") "}",
                       rows[i].told);
        ends_whole_as(&run, expected);
    }
}

static void another_providers_category_is_an_explanation(void **state)
{
    static const struct {
        const char *category;
        const char *told;
    } rows[] = {
        {"hate_speech", "\"category\":null,\"explanation\":\"hate_speech\""},
        {"general_harms", "\"category\":\"general_harms\",\"explanation\":null"},
        {"frontier_llm", "\"category\":\"frontier_llm\",\"explanation\":null"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run run;
        begin(&run, ACOG_DIALECT_GEMINI, &acog_messages_whole_form);
        acog_flow_begin(&run.flow, text("c"), text("m"));
        acog_flow_finish(&run.flow, ACOG_FINISH_REFUSAL, text("SAFETY"));
        acog_flow_refusal(&run.flow, text(rows[i].category), text(""));
        usage(&run, 5, -1, -1, 0);
        acog_flow_end(&run.flow);
        assert_true(acog_view_find(acog_buffer_view(&run.out), acog_view_of(rows[i].told)) <
                    run.out.len);
        end(&run);
    }
}

static void a_refusal_that_ends_with_stop_is_a_refusal(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_whole_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_REFUSAL, 0, text("no"));
    acog_flow_finish(&run.flow, ACOG_FINISH_STOP, text("stop"));
    usage(&run, 5, -1, -1, 3);
    ends_whole_as(&run, "{'id':'msg_c','type':'message','role':'assistant','model':'m','content':["
                        "{'type':'text','text':'no'}],'stop_reason':'refusal','stop_sequence':null,"
                        "'native_stop_reason':'stop','usage':" USAGE("5", "3") "}");
}

/* -- caps ------------------------------------------------------------------------------------------------- */

static void arguments_have_a_cap(void **state)
{
    enum {
        ACOG_PIECE_BYTES = 1024 * 1024
    };
    struct run run;
    char *piece = calloc(1, ACOG_PIECE_BYTES + 1);
    (void)state;
    assert_non_null(piece);
    memset(piece, 'x', ACOG_PIECE_BYTES);
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_whole_form);
    acog_flow_call(&run.flow, 0, text("c"), text("f"));
    for (int i = 0; i < 8; i++) {
        acog_flow_arguments(&run.flow, 0, text(piece));
        assert_int_equal(run.flow.code, ACOG_OK);
    }
    acog_flow_arguments(&run.flow, 0, text("x"));
    assert_int_equal(run.flow.code, ACOG_TOO_BIG);
    free(piece);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_and_a_call_are_one_message),
        cmocka_unit_test(a_whole_answer_holds_all_kinds_of_blocks),
        cmocka_unit_test(arguments_that_were_cut_are_given_as_their_text),
        cmocka_unit_test(an_empty_answer_is_an_empty_list),
        cmocka_unit_test(each_call_has_its_own_arguments),
        cmocka_unit_test(every_reason_has_its_word_and_its_own_where_that_is_lost),
        cmocka_unit_test(another_providers_category_is_an_explanation),
        cmocka_unit_test(a_refusal_that_ends_with_stop_is_a_refusal),
        cmocka_unit_test(arguments_have_a_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
