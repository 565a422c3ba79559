/* answer_to_responses_test.c - what a client of OpenAI Responses reads: streams and whole answers of a flow. Expected
 * texts have ' for ", a stream's are shown as one line an event: its name without "response.", then what its data holds
 * beside type and sequence_number, which are checked; of the events that hold a response, what changes in it.
 */
#include "core/dialect/answer_to_responses.h"

#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"
#include "tests/support/quotes.h"

#include <stdlib.h>
#include <string.h>

#define OUT_BYTES_MAX ((size_t)1 << 18U)

static struct acog_text text(const char *characters)
{
    return acog_text_plain(acog_view_of(characters));
}

/* -- a run ----------------------------------------------------------------------------------------- */

struct run {
    struct acog_flow flow;
    struct acog_buffer out;
    struct acog_translation translation;
};

static void begin(struct run *run, enum acog_dialect upstream,
                  const struct acog_answer_writer_form *form)
{
    run->translation = (struct acog_translation){.client = ACOG_DIALECT_RESPONSES,
                                                 .upstream = upstream,
                                                 .model = {"sent", 4},
                                                 .request_id = {"r1", 2},
                                                 .unix_s = 1700000000,
                                                 .input_tokens_estimate = 11,
                                                 .max_tokens = -1};
    acog_buffer_init(&run->out, OUT_BYTES_MAX);
    assert_int_equal(acog_flow_init(&run->flow, &run->translation, form), ACOG_OK);
    run->flow.out = &run->out;
}

static void end(struct run *run)
{
    acog_flow_fini(&run->flow);
    acog_buffer_fini(&run->out);
}

static void usage(struct run *run, int64_t input, int64_t output)
{
    struct acog_usage usage = {input, -1, -1, output, -1};
    acog_flow_usage(&run->flow, &usage);
}

static void show(struct acog_buffer *shown, struct acog_view bytes)
{
    assert_int_equal(acog_buffer_append(shown, bytes), ACOG_OK);
}

static void show_member(struct acog_buffer *shown, struct acog_json_value object,
                        struct acog_view name)
{
    struct acog_json_value value = {.type = ACOG_JSON_NULL};
    if (acog_json_member(object, name, &value)) {
        show(shown, ACOG_VIEW(" "));
        show(shown, value.raw);
    }
}

/* Of a response: what is not the same in all of them. */
static void show_response(struct acog_buffer *shown, struct acog_json_value response)
{
    static const char *const names[] = {
        "id", "model", "status", "incomplete_details", "output", "usage", "native_finish_reason"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        show_member(shown, response, acog_view_of(names[i]));
    }
}

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

static void is_shown(struct acog_buffer *shown, const char *expected)
{
    assert_quoted(acog_buffer_view(shown), expected);
    acog_buffer_fini(shown);
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

#define USAGE(input, output, total)                                                              \
    " {'input_tokens':" input ",'input_tokens_details':{'cached_tokens':0,'cache_write_tokens':" \
    "0},'output_tokens':" output ",'output_tokens_details':{'reasoning_tokens':0},"              \
    "'total_tokens':" total "}"

#define HEY_PART "{'type':'output_text','annotations':[],'logprobs':[],'text':'Hey'}"
#define HEY_MESSAGE                                                                                 \
    "{'id':'msg_c_0','type':'message','status':'completed','role':'assistant','content':[" HEY_PART \
    "]}"

/* -- streams --------------------------------------------------------------------------------------- */

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

/* -- tools that the client calls otherwise --------------------------------------------------------- */

/* A function in a namespace, and two custom tools. */
static void begin_with_identities(struct run *run, const struct acog_answer_writer_form *form)
{
    struct acog_tool_identity patch = {.name = {"patch", 5}, .told = {"patch", 5}, .custom = true};
    struct acog_tool_identity script = {.name_space = {"n", 1},
                                        .name = {"run", 3},
                                        .told = {"n__run", 6},
                                        .custom = true,
                                        .next = &patch};
    struct acog_tool_identity close = {.name_space = {"ag\"ents", 7},
                                       .name = {"close", 5},
                                       .told = {"ag_ents__close", 14},
                                       .next = &script};
    begin(run, ACOG_DIALECT_CHAT, form);
    acog_flow_fini(&run->flow);
    run->translation.identities = &close;
    assert_int_equal(acog_flow_init(&run->flow, &run->translation, form), ACOG_OK);
    run->translation.identities = NULL;
    run->flow.out = &run->out;
    acog_flow_begin(&run->flow, text("c"), text("m"));
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

/* -- whole ----------------------------------------------------------------------------------------- */

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

/* -- memory and caps ------------------------------------------------------------------------------- */

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
        cmocka_unit_test(a_text_is_a_message_told_step_by_step),
        cmocka_unit_test(every_event_names_its_item_and_its_place),
        cmocka_unit_test(a_call_is_an_item_with_its_arguments),
        cmocka_unit_test(
            items_are_numbered_without_gaps_and_a_call_without_arguments_has_empty_ones),
        cmocka_unit_test(a_call_comes_back_under_its_namespace),
        cmocka_unit_test(a_call_of_a_custom_tool_is_told_with_its_text_at_its_end),
        cmocka_unit_test(
            an_input_that_is_not_there_is_empty_and_one_of_another_form_is_what_was_said),
        cmocka_unit_test(reasoning_is_a_summary_and_what_is_sealed_of_it),
        cmocka_unit_test(a_refusal_shares_the_message_of_the_text_before_it),
        cmocka_unit_test(a_source_is_told_with_the_text_so_far),
        cmocka_unit_test(what_is_sealed_of_a_call_stands_behind_it_under_its_id),
        cmocka_unit_test(a_whole_answer_has_all_items_and_the_usage_in_detail),
        cmocka_unit_test(usage_that_is_estimated_says_so),
        cmocka_unit_test(how_it_ended_is_told_and_the_native_word_where_that_is_lost),
        cmocka_unit_test(a_refusal_says_why),
        cmocka_unit_test(a_refusal_in_the_models_words_is_a_whole_answer),
        cmocka_unit_test(a_text_that_is_cut_is_an_incomplete_message),
        cmocka_unit_test(reasoning_that_nobody_signed_says_whose_it_was),
        cmocka_unit_test(the_note_is_a_part_of_its_own_after_reasoning),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(an_answer_that_is_too_big_is_an_ordinary_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
