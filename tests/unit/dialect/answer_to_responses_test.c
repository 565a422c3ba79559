/* answer_to_responses_test.c - what a client of OpenAI Responses reads of a stream. (answer_to_responses_whole_test.c has
 * whole answers, and how an answer ended.) Expected texts have ' for ", shown as one line an event: its name without
 * "response.", then what its data holds beside type and sequence_number, which are checked; of the events that hold a
 * response, what changes in it.
 */
#include "tests/support/memory_sweep.h"
#include "tests/unit/dialect/responses_told.h"

#include <stdlib.h>

/* An event as one line; fails where it has not the form that the SDK reads. */
static void show_event(struct acog_buffer *shown, struct acog_view event, int64_t sequence)
{
    struct acog_json_value object = {.type = ACOG_JSON_NULL};
    struct acog_json_value found[2];
    static const struct acog_view names[] = {{"type", 4}, {"sequence_number", 15}};
    struct acog_json_error error;
    int64_t number = -1;
    size_t line_end = acog_view_find(event, ACOG_VIEW("\n"));
    struct acog_view name = acog_view_slice(event, 0, line_end);
    struct acog_view data = acog_view_slice(event, line_end + 1, event.len);
    assert_true(acog_view_starts(name, ACOG_VIEW("event: response.")));
    assert_true(acog_view_starts(data, ACOG_VIEW("data: {")));
    name = acog_view_slice(name, 7, name.len);
    assert_int_equal(acog_json_check(acog_view_slice(data, 6, data.len), 64, &object, &error),
                     ACOG_OK);
    acog_json_members(object, names, found, 2);
    assert_true(acog_json_text_is(found[0], name));
    assert_true(acog_json_int(found[1], &number));
    assert_int_equal(number, sequence);
    show(shown, acog_view_slice(name, 9, name.len));
    struct acog_json_cursor cursor = acog_json_enter(object);
    while (acog_json_next(&cursor)) {
        if (acog_json_key_is(&cursor, ACOG_VIEW("response"))) {
            show_response(shown, cursor.value);
        } else if (!acog_json_key_is(&cursor, names[0]) && !acog_json_key_is(&cursor, names[1])) {
            show(shown, ACOG_VIEW(" "));
            show(shown, cursor.value.raw);
        }
    }
    show(shown, ACOG_VIEW("\n"));
}

/* B35: numbers from 0, rising by one, over all events. */
static void show_events(struct acog_buffer *shown, struct acog_view stream)
{
    for (int64_t sequence = 0; stream.len > 0; sequence++) {
        size_t event_end = acog_view_find(stream, ACOG_VIEW("\n\n"));
        assert_true(event_end < stream.len);
        show_event(shown, acog_view_slice(stream, 0, event_end), sequence);
        stream = acog_view_slice(stream, event_end + 2, stream.len);
    }
}

/* Ends the answer and compares all of its events from the third on; the first two are always the same. */
static void streams(struct run *run, const char *expected)
{
    struct acog_buffer shown;
    acog_flow_end(&run->flow);
    assert_int_equal(run->flow.code, ACOG_OK);
    acog_buffer_init(&shown, OUT_BYTES_MAX);
    show_events(&shown, acog_buffer_view(&run->out));
    size_t skipped = 0;
    for (int i = 0; i < 2; i++) {
        struct acog_view rest = acog_view_slice(acog_buffer_view(&shown), skipped, shown.len);
        skipped += acog_view_find(rest, ACOG_VIEW("\n")) + 1;
    }
    acog_buffer_consume(&shown, skipped);
    is_shown(&shown, expected);
    end(run);
}

/* B35 */
static void a_text_is_a_message_told_step_by_step(void **state)
{
    (void)state;
    struct run run;
    struct acog_buffer shown;
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("He"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("y"));
    acog_flow_finish(&run.flow, ACOG_FINISH_STOP, text("stop"));
    usage(&run, 5, 2);
    acog_flow_end(&run.flow);
    acog_buffer_init(&shown, OUT_BYTES_MAX);
    show_events(&shown, acog_buffer_view(&run.out));
    is_shown(
        &shown,
        "created 'resp_c' 'm' 'in_progress' null []\n"
        "in_progress 'resp_c' 'm' 'in_progress' null []\n"
        "output_item.added 0 {'id':'msg_c_0','type':'message','status':'in_progress','role':"
        "'assistant','content':[]}\n"
        "content_part.added 'msg_c_0' 0 0 {'type':'output_text','annotations':[],'logprobs':[],"
        "'text':''}\n"
        "output_text.delta 'msg_c_0' 0 0 'He' []\n"
        "output_text.delta 'msg_c_0' 0 0 'y' []\n"
        "output_text.done 'msg_c_0' 0 0 [] 'Hey'\n"
        "content_part.done 'msg_c_0' 0 0 " HEY_PART "\n"
        "output_item.done 0 " HEY_MESSAGE "\n"
        "completed 'resp_c' 'm' 'completed' null [" HEY_MESSAGE "]" USAGE("5", "2", "7") "\n");
    end(&run);
}

/* The names of the indexes, which the lines above do not show. */
static void every_event_names_its_item_and_its_place(void **state)
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_stream_form);
    acog_flow_text(&run.flow, ACOG_FLOW_REASONING, 0, text("r"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 1, text("t"));
    acog_flow_end(&run.flow);
    struct acog_view out = acog_buffer_view(&run.out);
    static const char *const wanted[] = {
        "'response.output_text.delta','sequence_number':10,'item_id':'msg_r1_1','output_index':1,"
        "'content_index':0,'delta':'t','logprobs':[]}",
        "'response.reasoning_summary_text.delta','sequence_number':4,'item_id':'rs_r1_0',"
        "'output_index':0,'summary_index':0,'delta':'r'}",
        "'sequence_number':7,'output_index':0,'item':{'id':'rs_r1_0'",
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        char *piece = with_quotes(wanted[i]);
        if (acog_view_find(out, acog_view_of(piece)) == out.len) {
            fail_msg("%.*s\nhas no %s", ACOG_VIEW_FMT(out), piece);
        }
        free(piece);
    }
    end(&run);
}

/* B43, B45 */
static void a_call_is_an_item_with_its_arguments(void **state)
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_call(&run.flow, 0, text("call_1"), text("f"));
    acog_flow_arguments(&run.flow, 0, text("{\"x\":"));
    acog_flow_arguments(&run.flow, 0, text("2}"));
    acog_flow_finish(&run.flow, ACOG_FINISH_CALLS, text("tool_calls"));
    usage(&run, 1, 2);
    streams(&run,
            "output_item.added 0 {'id':'fc_c_0','type':'function_call','status':'in_progress',"
            "'arguments':'','call_id':'call_1','name':'f'}\n"
            "function_call_arguments.delta 'fc_c_0' 0 '{\\'x\\':'\n"
            "function_call_arguments.delta 'fc_c_0' 0 '2}'\n"
            "function_call_arguments.done 'fc_c_0' 0 'f' '{\\'x\\':2}'\n"
            "output_item.done 0 {'id':'fc_c_0','type':'function_call','status':'completed',"
            "'arguments':'{\\'x\\':2}','call_id':'call_1','name':'f'}\n"
            "completed 'resp_c' 'm' 'completed' null [{'id':'fc_c_0','type':'function_call',"
            "'status':'completed','arguments':'{\\'x\\':2}','call_id':'call_1','name':'f'}]" USAGE(
                "1", "2", "3") "\n");
}

/* B46, B48 */
static void
items_are_numbered_without_gaps_and_a_call_without_arguments_has_empty_ones(void **state)
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_stream_form);
    acog_flow_begin(&run.flow, text("resp_9"), text("m"));
    acog_flow_call(&run.flow, 0, text("c0"), text("f"));
    acog_flow_part_end(&run.flow, 0);
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 1, text("\n"));
    acog_flow_call(&run.flow, 2, text("c1"), text("f"));
    acog_flow_arguments(&run.flow, 2, text("{}"));
    usage(&run, 1, 1);
    streams(
        &run,
        "output_item.added 0 {'id':'fc_9_0','type':'function_call','status':'in_progress',"
        "'arguments':'','call_id':'c0','name':'f'}\n"
        "function_call_arguments.delta 'fc_9_0' 0 '{}'\n"
        "function_call_arguments.done 'fc_9_0' 0 'f' '{}'\n"
        "output_item.done 0 {'id':'fc_9_0','type':'function_call','status':'completed','arguments':"
        "'{}','call_id':'c0','name':'f'}\n"
        "output_item.added 1 {'id':'msg_9_1','type':'message','status':'in_progress','role':"
        "'assistant','content':[]}\n"
        "content_part.added 'msg_9_1' 1 0 {'type':'output_text','annotations':[],'logprobs':[],"
        "'text':''}\n"
        "output_text.delta 'msg_9_1' 1 0 '\\n' []\n"
        "output_text.done 'msg_9_1' 1 0 [] '\\n'\n"
        "content_part.done 'msg_9_1' 1 0 {'type':'output_text','annotations':[],'logprobs':[],"
        "'text':'\\n'}\n"
        "output_item.done 1 {'id':'msg_9_1','type':'message','status':'completed','role':"
        "'assistant','content':[{'type':'output_text','annotations':[],'logprobs':[],'text':'\\n'}]"
        "}\n"
        "output_item.added 2 {'id':'fc_9_2','type':'function_call','status':'in_progress',"
        "'arguments':'','call_id':'c1','name':'f'}\n"
        "function_call_arguments.delta 'fc_9_2' 2 '{}'\n"
        "function_call_arguments.done 'fc_9_2' 2 'f' '{}'\n"
        "output_item.done 2 {'id':'fc_9_2','type':'function_call','status':'completed','arguments':"
        "'{}','call_id':'c1','name':'f'}\n"
        "completed 'resp_9' 'm' 'completed' null [{'id':'fc_9_0','type':'function_call','status':"
        "'completed','arguments':'{}','call_id':'c0','name':'f'},{'id':'msg_9_1','type':'message',"
        "'status':'completed','role':'assistant','content':[{'type':'output_text','annotations':[],"
        "'logprobs':[],'text':'\\n'}]},{'id':'fc_9_2','type':'function_call','status':'completed',"
        "'arguments':'{}','call_id':'c1','name':'f'}]" USAGE("1", "1", "2") "\n");
}

static void a_call_comes_back_under_its_namespace(void **state)
{
    (void)state;
    struct run run;
    begin_with_identities(&run, &acog_responses_stream_form);
    acog_flow_call(&run.flow, 0, text("call_1"), text("ag_ents__close"));
    acog_flow_arguments(&run.flow, 0, text("{\"x\":2}"));
    usage(&run, 1, 2);
    streams(&run,
            "output_item.added 0 {'id':'fc_c_0','type':'function_call','status':'in_progress',"
            "'arguments':'','call_id':'call_1','name':'close','namespace':'ag\\'ents'}\n"
            "function_call_arguments.delta 'fc_c_0' 0 '{\\'x\\':2}'\n"
            "function_call_arguments.done 'fc_c_0' 0 'close' '{\\'x\\':2}'\n"
            "output_item.done 0 {'id':'fc_c_0','type':'function_call','status':'completed',"
            "'arguments':'{\\'x\\':2}','call_id':'call_1','name':'close','namespace':"
            "'ag\\'ents'}\n"
            "completed 'resp_c' 'm' 'completed' null [{'id':'fc_c_0','type':'function_call',"
            "'status':'completed','arguments':'{\\'x\\':2}','call_id':'call_1','name':'close',"
            "'namespace':'ag\\'ents'}]" USAGE("1", "2", "3") "\n");
}

static void a_call_of_a_custom_tool_is_told_with_its_text_at_its_end(void **state)
{
    (void)state;
    struct run run;
    begin_with_identities(&run, &acog_responses_stream_form);
    acog_flow_call(&run.flow, 0, text("call_1"), text("patch"));
    acog_flow_arguments(&run.flow, 0, text("{\"input\": \"a\\"));
    acog_flow_arguments(&run.flow, 0, text("n\\\"b\\\"\"}"));
    usage(&run, 1, 2);
    streams(&run,
            "output_item.added 0 {'id':'ctc_c_0','type':'custom_tool_call','status':'in_progress',"
            "'input':'','call_id':'call_1','name':'patch'}\n"
            "custom_tool_call_input.delta 'ctc_c_0' 0 'a\\n\\'b\\''\n"
            "custom_tool_call_input.done 'ctc_c_0' 0 'a\\n\\'b\\''\n"
            "output_item.done 0 {'id':'ctc_c_0','type':'custom_tool_call','status':'completed',"
            "'input':'a\\n\\'b\\'','call_id':'call_1','name':'patch'}\n"
            "completed 'resp_c' 'm' 'completed' null [{'id':'ctc_c_0','type':'custom_tool_call',"
            "'status':'completed','input':'a\\n\\'b\\'','call_id':'call_1','name':'patch'}]" USAGE(
                "1", "2", "3") "\n");
}

static void reasoning_is_a_summary_and_what_is_sealed_of_it(void **state)
{
    (void)state;
    struct run run;
    struct acog_opaque signature = {.maker = ACOG_DIALECT_MESSAGES, .bytes = text("c2ln")};
    struct acog_opaque redacted = {
        .maker = ACOG_DIALECT_MESSAGES, .bytes = text("ZGF0"), .redacted = true};
    begin(&run, ACOG_DIALECT_MESSAGES, &acog_responses_stream_form);
    acog_flow_begin(&run.flow, text("msg_1"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_REASONING, 0, text("hm"));
    acog_flow_opaque(&run.flow, ACOG_FLOW_REASONING, 0, &signature);
    acog_flow_part_end(&run.flow, 0);
    acog_flow_opaque(&run.flow, ACOG_FLOW_REASONING, 1, &redacted);
    acog_flow_finish(&run.flow, ACOG_FINISH_LENGTH, text("max_tokens"));
    usage(&run, 1, 1);
    streams(&run,
            "output_item.added 0 {'id':'rs_msg_1_0','type':'reasoning','summary':[]}\n"
            "reasoning_summary_part.added 'rs_msg_1_0' 0 0 {'type':'summary_text','text':''}\n"
            "reasoning_summary_text.delta 'rs_msg_1_0' 0 0 'hm'\n"
            "reasoning_summary_text.done 'rs_msg_1_0' 0 0 'hm'\n"
            "reasoning_summary_part.done 'rs_msg_1_0' 0 0 {'type':'summary_text','text':'hm'}\n"
            "output_item.done 0 {'id':'rs_msg_1_0','type':'reasoning','summary':[{'type':"
            "'summary_text','text':'hm'}],'encrypted_content':'acog.messages..c2ln'}\n"
            "output_item.added 1 {'id':'rs_msg_1_1','type':'reasoning','summary':[]}\n"
            "output_item.done 1 {'id':'rs_msg_1_1','type':'reasoning','summary':[],"
            "'encrypted_content':'acog.redacted-messages..ZGF0'}\n"
            "incomplete 'resp_msg_1' 'm' 'incomplete' {'reason':'max_output_tokens'} [{'id':"
            "'rs_msg_1_0','type':'reasoning','summary':[{'type':'summary_text','text':'hm'}],"
            "'encrypted_content':'acog.messages..c2ln'},{'id':'rs_msg_1_1','type':'reasoning',"
            "'summary':[],'encrypted_content':'acog.redacted-messages..ZGF0'}]" USAGE("1", "1",
                                                                                      "2") "\n");
}

static void a_refusal_shares_the_message_of_the_text_before_it(void **state)
{
    (void)state;
    struct run run;
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("Hey"));
    acog_flow_text(&run.flow, ACOG_FLOW_REFUSAL, 1, text("no"));
    usage(&run, 1, 1);
    streams(&run,
            "output_item.added 0 {'id':'msg_c_0','type':'message','status':'in_progress','role':"
            "'assistant','content':[]}\n"
            "content_part.added 'msg_c_0' 0 0 {'type':'output_text','annotations':[],'logprobs':[],"
            "'text':''}\n"
            "output_text.delta 'msg_c_0' 0 0 'Hey' []\n"
            "output_text.done 'msg_c_0' 0 0 [] 'Hey'\n"
            "content_part.done 'msg_c_0' 0 0 " HEY_PART "\n"
            "content_part.added 'msg_c_0' 0 1 {'type':'refusal','refusal':''}\n"
            "refusal.delta 'msg_c_0' 0 1 'no'\n"
            "refusal.done 'msg_c_0' 0 1 'no'\n"
            "content_part.done 'msg_c_0' 0 1 {'type':'refusal','refusal':'no'}\n"
            "output_item.done 0 {'id':'msg_c_0','type':'message','status':'completed','role':"
            "'assistant','content':[" HEY_PART ",{'type':'refusal','refusal':'no'}]}\n"
            "completed 'resp_c' 'm' 'completed' null [{'id':'msg_c_0','type':'message','status':"
            "'completed','role':'assistant','content':[" HEY_PART
            ",{'type':'refusal','refusal':'no'}]}]" USAGE("1", "1", "2") "\n");
}

static void a_source_is_told_with_the_text_so_far(void **state)
{
    (void)state;
    struct run run;
    struct acog_text word = {.bytes = {"\\ud83d\\ude42\\n\xc3\xa9x", 17}, .escaped = true};
    begin(&run, ACOG_DIALECT_CHAT, &acog_responses_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, word);
    acog_flow_citation(&run.flow, 0, text("https://a"), text("A \"a\""));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("yz"));
    acog_flow_citation(&run.flow, 0, text("https://b"), text(""));
    acog_flow_end(&run.flow);
    struct acog_buffer shown;
    acog_buffer_init(&shown, OUT_BYTES_MAX);
    show_events(&shown, acog_buffer_view(&run.out));
    static const char *const wanted[] = {
        "output_text.annotation.added 'msg_c_0' 0 0 0 {'type':'url_citation','url':'https://a',"
        "'title':'A \\'a\\'','start_index':0,'end_index':4}\n"
        "output_text.delta 'msg_c_0' 0 0 'yz' []\n"
        "output_text.annotation.added 'msg_c_0' 0 0 1 {'type':'url_citation','url':'https://b',"
        "'title':'','start_index':0,'end_index':6}\n",
        "content_part.done 'msg_c_0' 0 0 {'type':'output_text','annotations':[{'type':"
        "'url_citation','url':'https://a','title':'A \\'a\\'','start_index':0,'end_index':4},"
        "{'type':'url_citation','url':'https://b','title':'','start_index':0,'end_index':6}],"};
    for (size_t i = 0; i < 2; i++) {
        char *piece = with_quotes(wanted[i]);
        if (acog_view_find(acog_buffer_view(&shown), acog_view_of(piece)) == shown.len) {
            fail_msg("%.*s\nhas no %s", (int)shown.len, shown.ptr, piece);
        }
        free(piece);
    }
    acog_buffer_fini(&shown);
    end(&run);
}

/* -- memory ----------------------------------------------------------------------------------------------- */

static void tell_much(void *user)
{
    const struct acog_answer_writer_form *form = user;
    struct acog_translation translation = {.client = ACOG_DIALECT_RESPONSES,
                                           .upstream = ACOG_DIALECT_MESSAGES,
                                           .model = {"m", 1},
                                           .request_id = {"r1", 2},
                                           .max_tokens = -1};
    struct acog_opaque signature = {.maker = ACOG_DIALECT_MESSAGES, .bytes = text("c2ln")};
    struct acog_flow flow;
    struct acog_buffer out;
    acog_buffer_init(&out, OUT_BYTES_MAX);
    if (acog_flow_init(&flow, &translation, form) != ACOG_OK) {
        assert_true(memory_sweep_failed());
        acog_flow_fini(&flow);
        return;
    }
    flow.out = &out;
    acog_flow_begin(&flow, text("c"), text("m"));
    acog_flow_text(&flow, ACOG_FLOW_REASONING, 0, text("hm"));
    acog_flow_opaque(&flow, ACOG_FLOW_REASONING, 0, &signature);
    acog_flow_text(&flow, ACOG_FLOW_TEXT, 1, text("Hey"));
    acog_flow_citation(&flow, 1, text("https://a"), text("A"));
    acog_flow_call(&flow, 2, text("c1"), text("f"));
    acog_flow_arguments(&flow, 2, text("{}"));
    acog_flow_end(&flow);
    assert_int_equal(flow.code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    acog_flow_fini(&flow);
    acog_buffer_fini(&out);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    struct acog_answer_writer_form forms[] = {acog_responses_stream_form,
                                              acog_responses_whole_form};
    for (size_t i = 0; i < 2; i++) {
        assert_true(memory_sweep(tell_much, &forms[i], 1) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_a_message_told_step_by_step),
        cmocka_unit_test(every_event_names_its_item_and_its_place),
        cmocka_unit_test(a_call_is_an_item_with_its_arguments),
        cmocka_unit_test(
            items_are_numbered_without_gaps_and_a_call_without_arguments_has_empty_ones),
        cmocka_unit_test(a_call_comes_back_under_its_namespace),
        cmocka_unit_test(a_call_of_a_custom_tool_is_told_with_its_text_at_its_end),
        cmocka_unit_test(reasoning_is_a_summary_and_what_is_sealed_of_it),
        cmocka_unit_test(a_refusal_shares_the_message_of_the_text_before_it),
        cmocka_unit_test(a_source_is_told_with_the_text_so_far),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
