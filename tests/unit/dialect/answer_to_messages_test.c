/* answer_to_messages_test.c - what a client of Anthropic Messages reads of a stream. (answer_to_messages_whole_test.c has
 * whole answers, and why an answer ended.) Expected texts have ' for ", shown as one line an event: its name, then its
 * data without the type. */
#include "tests/support/memory_sweep.h"
#include "tests/unit/dialect/messages_told.h"

#include <string.h>

/* An event as one line; fails where it has not the form that the SDK reads. */
static void show_event(struct acog_buffer *shown, struct acog_view event)
{
    struct acog_json_value object = {.type = ACOG_JSON_NULL};
    struct acog_json_value type = {.type = ACOG_JSON_NULL};
    struct acog_json_error error;
    size_t end = acog_view_find(event, ACOG_VIEW("\n"));
    struct acog_view name = acog_view_slice(event, 0, end);
    struct acog_view data = acog_view_slice(event, end + 1, event.len);
    assert_true(acog_view_starts(name, ACOG_VIEW("event: ")));
    assert_true(acog_view_starts(data, ACOG_VIEW("data: ")));
    name = acog_view_slice(name, 7, name.len);
    data = acog_view_slice(data, 6, data.len);
    assert_int_equal(acog_json_check(data, 64, &object, &error), ACOG_OK);
    assert_true(acog_json_member(object, ACOG_VIEW("type"), &type));
    assert_true(acog_json_text_is(type, name));
    assert_int_equal(acog_buffer_append(shown, name), ACOG_OK);
    struct acog_json_cursor cursor = acog_json_enter(object);
    while (acog_json_next(&cursor)) {
        if (!acog_json_key_is(&cursor, ACOG_VIEW("type"))) {
            assert_int_equal(acog_buffer_append(shown, ACOG_VIEW(" ")), ACOG_OK);
            assert_int_equal(acog_buffer_append(shown, cursor.value.raw), ACOG_OK);
        }
    }
    assert_int_equal(acog_buffer_append(shown, ACOG_VIEW("\n")), ACOG_OK);
}

static void ends_as(struct run *run, const char *expected)
{
    struct acog_buffer shown;
    acog_flow_end(&run->flow);
    assert_int_equal(run->flow.code, ACOG_OK);
    acog_buffer_init(&shown, OUT_BYTES_MAX);
    struct acog_view rest = acog_buffer_view(&run->out);
    while (rest.len > 0) {
        size_t length = acog_view_find(rest, ACOG_VIEW("\n\n"));
        assert_true(length < rest.len);
        show_event(&shown, acog_view_slice(rest, 0, length));
        rest = acog_view_slice(rest, length + 2, rest.len);
    }
    assert_quoted(acog_buffer_view(&shown), expected);
    acog_buffer_fini(&shown);
    end(run);
}

#define HEAD(id, model, usage)                                                         \
    "message_start {'id':'" id "','type':'message','role':'assistant','model':'" model \
    "','content':[],'stop_reason':null,'stop_sequence':null,'usage':{" usage "}}\n"
#define NO_USAGE                                                                     \
    "'input_tokens':11,'cache_creation_input_tokens':0,'cache_read_input_tokens':0," \
    "'output_tokens':0"
#define TEXT_START(index) "content_block_start " index " {'type':'text','text':''}\n"
#define TEXT_DELTA(index, characters) \
    "content_block_delta " index " {'type':'text_delta','text':'" characters "'}\n"
#define CALL_START(index, id, name) \
    "content_block_start " index " {'type':'tool_use','id':'" id "','name':'" name "','input':{}}\n"
#define JSON_DELTA(index, characters) \
    "content_block_delta " index " {'type':'input_json_delta','partial_json':'" characters "'}\n"
#define THINKING_START(index) \
    "content_block_start " index " {'type':'thinking','thinking':'','signature':''}\n"
#define THINKING_DELTA(index, characters) \
    "content_block_delta " index " {'type':'thinking_delta','thinking':'" characters "'}\n"
#define SIGNATURE_DELTA(index, characters) \
    "content_block_delta " index " {'type':'signature_delta','signature':'" characters "'}\n"
#define REDACTED_START(index, data) \
    "content_block_start " index " {'type':'redacted_thinking','data':'" data "'}\n"
#define BLOCK_STOP(index) "content_block_stop " index "\n"
#define FINISH(reason, usage) \
    "message_delta {'stop_reason':'" reason "','stop_sequence':null} " usage "\nmessage_stop\n"

/* B49: one message_delta, at the end, with usage that came after the reason. */
static void usage_that_comes_last_is_told_without_the_cached_tokens(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("hi"));
    acog_flow_finish(&run.flow, ACOG_FINISH_STOP, text("stop"));
    usage(&run, 100, 80, -1, 2);
    ends_as(&run, HEAD("msg_c", "m", NO_USAGE) TEXT_START("0") TEXT_DELTA("0", "hi") BLOCK_STOP("0")
                      FINISH("end_turn", "{'input_tokens':20,"
                                         "'cache_creation_input_tokens':0,"
                                         "'cache_read_input_tokens':80,"
                                         "'output_tokens':2}"));
}

/* B45 */
static void an_answer_that_begins_with_a_call_has_no_empty_text(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text(""));
    acog_flow_call(&run.flow, 0, text("call_1"), text("f"));
    acog_flow_arguments(&run.flow, 0, text(""));
    acog_flow_arguments(&run.flow, 0, text("{\"x\":2}"));
    acog_flow_finish(&run.flow, ACOG_FINISH_CALLS, text("tool_calls"));
    usage(&run, 5, -1, -1, 3);
    ends_as(&run, HEAD("msg_c", "m", NO_USAGE) CALL_START("0", "call_1", "f") JSON_DELTA(
                      "0", "{\\'x\\':2}") BLOCK_STOP("0") FINISH("tool_use", USAGE("5", "3")));
}

/* B46 */
static void a_text_between_two_calls_has_a_block_of_its_own(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_call(&run.flow, 0, text("a"), text("f"));
    acog_flow_arguments(&run.flow, 0, text("{}"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 9, text("\n"));
    acog_flow_call(&run.flow, 1, text("b"), text("g"));
    usage(&run, 5, -1, -1, 3);
    ends_as(&run,
            HEAD("msg_c", "m", NO_USAGE) CALL_START("0", "a", "f") JSON_DELTA("0", "{}")
                BLOCK_STOP("0") TEXT_START("1") TEXT_DELTA("1", "\\n") BLOCK_STOP("1")
                    CALL_START("2", "b", "g") BLOCK_STOP("2") FINISH("tool_use", USAGE("5", "3")));
}

/* B48, the other way */
static void a_call_without_arguments_needs_no_delta(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_stream_form);
    acog_flow_begin(&run.flow, text("msg_c"), text("m"));
    acog_flow_call(&run.flow, 0, text("n1"), text("now"));
    acog_flow_arguments(&run.flow, 0, text(""));
    usage(&run, 5, -1, -1, 3);
    ends_as(&run, HEAD("msg_c", "m", NO_USAGE) CALL_START("0", "n1", "now") BLOCK_STOP("0")
                      FINISH("tool_use", USAGE("5", "3")));
}

/* B52 */
static void a_beginning_without_id_waits_for_one(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_stream_form);
    acog_flow_begin(&run.flow, text(""), text(""));
    assert_int_equal(run.out.len, 0);
    acog_flow_begin(&run.flow, text("x"), text("gpt"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("A"));
    usage(&run, 5, -1, -1, 3);
    ends_as(&run, HEAD("msg_x", "gpt", NO_USAGE) TEXT_START("0") TEXT_DELTA("0", "A")
                      BLOCK_STOP("0") FINISH("end_turn", USAGE("5", "3")));
}

/* B28: it comes back with the tag, and is known as another maker's. */
static void reasoning_that_nobody_signed_is_tagged(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_REASONING, 0, text("hm"));
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("so"));
    usage(&run, 5, -1, -1, 3);
    ends_as(&run,
            HEAD("msg_c", "m", NO_USAGE) THINKING_START("0") THINKING_DELTA("0", "hm")
                SIGNATURE_DELTA("0", "acog.chat..") BLOCK_STOP("0") TEXT_START("1")
                    TEXT_DELTA("1", "so") BLOCK_STOP("1") FINISH("end_turn", USAGE("5", "3")));
}

static void reasoning_with_and_without_a_text(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_RESPONSES, &acog_messages_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_REASONING, 0, text("summary"));
    struct acog_opaque item = {
        .maker = ACOG_DIALECT_RESPONSES, .bytes = text("ZW5j"), .id = text("rs_1")};
    acog_flow_opaque(&run.flow, ACOG_FLOW_REASONING, 0, &item);
    acog_flow_part_end(&run.flow, 0);
    item.redacted = true;
    item.id = text("rs_2");
    acog_flow_opaque(&run.flow, ACOG_FLOW_REASONING, 1, &item);
    acog_flow_part_end(&run.flow, 1);
    opaque(&run, ACOG_FLOW_REASONING, 2, ACOG_DIALECT_MESSAGES, "b21p", false);
    usage(&run, 5, -1, -1, 3);
    ends_as(&run, HEAD("msg_c", "m", NO_USAGE) THINKING_START("0") THINKING_DELTA("0", "summary")
                      SIGNATURE_DELTA("0", "acog.responses.rs_1.ZW5j") BLOCK_STOP("0")
                          REDACTED_START("1", "acog.redacted-responses.rs_2.ZW5j") BLOCK_STOP("1")
                              THINKING_START("2") SIGNATURE_DELTA("2", "b21p") BLOCK_STOP("2")
                                  FINISH("end_turn", USAGE("5", "3")));
}

/* Claude Code takes the last block for the answer: a seal of Gemini's text behind it left it with nothing. */
static void nothing_stands_behind_the_last_text(void **state)
{
    (void)state;
    static const struct acog_answer_writer_form *const forms[] = {&acog_messages_stream_form,
                                                                  &acog_messages_whole_form};
    for (size_t form = 0; form < 2; form++) {
        for (int called = 0; called <= 1; called++) {
            struct run run;
            begin(&run, ACOG_DIALECT_GEMINI, forms[form]);
            acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("a"));
            opaque(&run, ACOG_FLOW_REASONING, 1, ACOG_DIALECT_GEMINI, "U2ln", true);
            acog_flow_part_end(&run.flow, 1);
            opaque(&run, ACOG_FLOW_REASONING, 1, ACOG_DIALECT_GEMINI, "TW9y", true);
            if (called == 1) {
                acog_flow_call(&run.flow, 0, text("c1"), text("f"));
            }
            acog_flow_end(&run.flow);
            assert_int_equal(run.flow.code, ACOG_OK);
            struct acog_view told = acog_buffer_view(&run.out);
            size_t first = acog_view_find(told, ACOG_VIEW("U2ln"));
            size_t second = acog_view_find(told, ACOG_VIEW("TW9y"));
            size_t call = acog_view_find(told, ACOG_VIEW("tool_use"));
            assert_int_equal(first < told.len, called);
            assert_true(called == 0 || (first < second && second < call && call < told.len));
            assert_true(form == 1 || called == 0 ||
                        acog_view_find(told, ACOG_VIEW("\"index\":3")) < told.len);
            end(&run);
        }
    }
}

static void the_signature_of_a_call_stands_before_it(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_GEMINI, &acog_messages_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_call(&run.flow, 0, text("call_1"), text("f"));
    opaque(&run, ACOG_FLOW_CALL, 0, ACOG_DIALECT_GEMINI, "U2ln", false);
    acog_flow_arguments(&run.flow, 0, text("{\"a\":"));
    acog_flow_call(&run.flow, 1, text("call.2"), text("f"));
    opaque(&run, ACOG_FLOW_CALL, 1, ACOG_DIALECT_GEMINI, "VHdv", false);
    acog_flow_arguments(&run.flow, 1, text("{}"));
    acog_flow_arguments(&run.flow, 0, text("1}"));
    usage(&run, 5, -1, -1, 3);
    ends_as(&run,
            HEAD("msg_c", "m", NO_USAGE) REDACTED_START("0", "acog.gemini.call_1.U2ln")
                BLOCK_STOP("0") CALL_START("1", "call_1", "f") JSON_DELTA("1", "{\\'a\\':")
                    JSON_DELTA("1", "1}") BLOCK_STOP("1") REDACTED_START("2", "acog.gemini..VHdv")
                        BLOCK_STOP("2") CALL_START("3", "call.2", "f") JSON_DELTA("3", "{}")
                            BLOCK_STOP("3") FINISH("tool_use", USAGE("5", "3")));
}

static void usage_that_is_known_at_the_beginning_is_told_there(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_GEMINI, &acog_messages_stream_form);
    usage(&run, 50, 10, 15, 1);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    ends_as(&run, HEAD("msg_c", "m",
                       "'input_tokens':25,'cache_creation_input_tokens':15,"
                       "'cache_read_input_tokens':10,'output_tokens':1")
                      FINISH("end_turn", "{'input_tokens':25,'cache_creation_input_tokens':15,"
                                         "'cache_read_input_tokens':10,'output_tokens':1}"));
}

/* B98: never a zero as if known. */
static void an_estimate_says_that_it_is_one(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_stream_form);
    acog_flow_text(&run.flow, ACOG_FLOW_TEXT, 0, text("twelve bytes"));
    ends_as(&run, HEAD("msg_r1", "sent", NO_USAGE) TEXT_START("0") TEXT_DELTA("0", "twelve bytes")
                      BLOCK_STOP("0")
                          FINISH("end_turn", "{'input_tokens':11,'cache_creation_input_tokens':0,"
                                             "'cache_read_input_tokens':0,'output_tokens':3,"
                                             "'estimated':true}"));
}

/* B76: stop_details where the category is known; the words of a refusal are a text. */
static void a_refusal_is_told_with_its_words_and_its_category(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_CHAT, &acog_messages_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_REFUSAL, 0, text("I won't"));
    acog_flow_finish(&run.flow, ACOG_FINISH_REFUSAL, text("content_filter"));
    acog_flow_refusal(&run.flow, text("cyber"), text(""));
    usage(&run, 5, -1, -1, 3);
    struct acog_buffer *out = &run.out;
    acog_flow_end(&run.flow);
    struct acog_view seen = acog_buffer_view(out);
    assert_true(acog_view_find(seen, ACOG_VIEW("{\"type\":\"text_delta\",\"text\":\"I won't\"}")) <
                seen.len);
    assert_true(acog_view_find(
                    seen, ACOG_VIEW("\"delta\":{\"stop_reason\":\"refusal\",\"stop_sequence\":null,"
                                    "\"stop_details\":{\"type\":\"refusal\",\"category\":\"cyber\","
                                    "\"explanation\":null}}")) < seen.len);
    end(&run);
}

static void a_signature_is_told_once_and_never_behind_the_arguments(void **state)
{
    struct run run;
    (void)state;
    begin(&run, ACOG_DIALECT_GEMINI, &acog_messages_stream_form);
    acog_flow_begin(&run.flow, text("c"), text("m"));
    acog_flow_text(&run.flow, ACOG_FLOW_REASONING, 0, text("hm"));
    opaque(&run, ACOG_FLOW_REASONING, 0, ACOG_DIALECT_GEMINI, "b25l", false);
    opaque(&run, ACOG_FLOW_REASONING, 0, ACOG_DIALECT_GEMINI, "dHdv", false);
    acog_flow_call(&run.flow, 0, text("c1"), text("f"));
    opaque(&run, ACOG_FLOW_CALL, 0, ACOG_DIALECT_GEMINI, "U2ln", true);
    acog_flow_arguments(&run.flow, 0, text("{}"));
    opaque(&run, ACOG_FLOW_CALL, 0, ACOG_DIALECT_GEMINI, "bGF0ZQ", false);
    usage(&run, 5, -1, -1, 3);
    ends_as(&run, HEAD("msg_c", "m", NO_USAGE) THINKING_START("0") THINKING_DELTA("0", "hm")
                      SIGNATURE_DELTA("0", "acog.gemini..b25l") BLOCK_STOP("0")
                          REDACTED_START("1", "acog.gemini.c1.U2ln") BLOCK_STOP("1")
                              CALL_START("2", "c1", "f") JSON_DELTA("2", "{}") BLOCK_STOP("2")
                                  FINISH("tool_use", USAGE("5", "3")));
}

/* -- memory ----------------------------------------------------------------------------------------------- */

static void tell(void *user)
{
    struct acog_translation translation = {
        .client = ACOG_DIALECT_MESSAGES, .upstream = ACOG_DIALECT_CHAT, .request_id = {"r", 1}};
    struct acog_flow flow;
    struct acog_buffer out;
    acog_buffer_init(&out, OUT_BYTES_MAX);
    enum acog_code code = acog_flow_init(&flow, &translation, user);
    if (code == ACOG_OK) {
        flow.out = &out;
        acog_flow_text(&flow, ACOG_FLOW_REASONING, 0, text("hm"));
        acog_flow_text(&flow, ACOG_FLOW_TEXT, 0, text("a text"));
        acog_flow_call(&flow, 0, text("c"), text("f"));
        acog_flow_arguments(&flow, 0, text("{\"a\":\"some arguments\"}"));
        acog_flow_end(&flow);
        code = flow.code;
        acog_flow_fini(&flow);
    }
    assert_int_equal(code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    acog_buffer_fini(&out);
}

static void each_allocation_may_fail(void **state)
{
    struct acog_answer_writer_form stream = acog_messages_stream_form;
    struct acog_answer_writer_form whole = acog_messages_whole_form;
    (void)state;
    assert_true(memory_sweep(tell, &stream, 1) > 1);
    assert_true(memory_sweep(tell, &whole, 1) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usage_that_comes_last_is_told_without_the_cached_tokens),
        cmocka_unit_test(an_answer_that_begins_with_a_call_has_no_empty_text),
        cmocka_unit_test(a_text_between_two_calls_has_a_block_of_its_own),
        cmocka_unit_test(a_call_without_arguments_needs_no_delta),
        cmocka_unit_test(a_beginning_without_id_waits_for_one),
        cmocka_unit_test(reasoning_that_nobody_signed_is_tagged),
        cmocka_unit_test(reasoning_with_and_without_a_text),
        cmocka_unit_test(nothing_stands_behind_the_last_text),
        cmocka_unit_test(the_signature_of_a_call_stands_before_it),
        cmocka_unit_test(usage_that_is_known_at_the_beginning_is_told_there),
        cmocka_unit_test(an_estimate_says_that_it_is_one),
        cmocka_unit_test(a_refusal_is_told_with_its_words_and_its_category),
        cmocka_unit_test(a_signature_is_told_once_and_never_behind_the_arguments),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
