/* answer_from_responses_test.c - answers of OpenAI Responses as the flow tells them on (flow_parts.h). Events and bodies
 * have ' for ". */
#include "core/dialect/flow.h"
#include "tests/support/check.h"
#include "tests/support/flow_parts.h"
#include "tests/support/flow_seen.h"
#include "tests/support/quotes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_BYTES_MAX ((size_t)1 << 16U)

/* -- a run ----------------------------------------------------------------------------------------- */

struct run {
    struct acog_flow flow;
    struct acog_arena scratch;
    struct acog_buffer out;
    struct acog_translation translation;
};

static void begin(struct run *run)
{
    run->translation = (struct acog_translation){.client = ACOG_DIALECT_CHAT,
                                                 .upstream = ACOG_DIALECT_RESPONSES,
                                                 .model = {"sent", 4},
                                                 .request_id = {"r1", 2},
                                                 .max_tokens = -1};
    acog_arena_init(&run->scratch, OUT_BYTES_MAX);
    acog_buffer_init(&run->out, OUT_BYTES_MAX);
    assert_int_equal(acog_flow_init(&run->flow, &run->translation, &flow_parts_form), ACOG_OK);
    run->flow.out = &run->out;
}

static void finish(struct run *run, const char *expected)
{
    acog_flow_end(&run->flow);
    assert_int_equal(run->flow.code, ACOG_OK);
    assert_quoted(acog_buffer_view(&run->out), expected);
    acog_flow_fini(&run->flow);
    acog_buffer_fini(&run->out);
    acog_arena_fini(&run->scratch);
}

/* Lines of data, the type in the data or, before a tab, as the event's name. */
static void tell(struct run *run, const char *lines)
{
    char *copy = with_quotes(lines);
    struct acog_view rest = acog_view_of(copy);
    while (rest.len > 0) {
        size_t line_end = acog_view_find(rest, ACOG_VIEW("\n"));
        struct acog_view line = acog_view_slice(rest, 0, line_end);
        size_t tab = acog_view_find(line, ACOG_VIEW("\t"));
        bool named = tab < line.len;
        acog_responses_read_event(
            &run->flow, named ? acog_view_slice(line, 0, tab) : (struct acog_view){0},
            named ? acog_view_slice(line, tab + 1, line.len) : line, &run->scratch);
        rest = acog_view_slice(rest, line_end + 1, rest.len);
    }
    free(copy);
}

static void stream_tells(const char *lines, const char *expected)
{
    struct run run;
    begin(&run);
    tell(&run, lines);
    finish(&run, expected);
}

static void whole_tells(const char *body, const char *expected)
{
    struct run run;
    char *copy = with_quotes(body);
    struct acog_json_value object = {.type = ACOG_JSON_NULL};
    struct acog_json_error error;
    begin(&run);
    assert_int_equal(acog_json_check(acog_view_of(copy), 64, &object, &error), ACOG_OK);
    acog_responses_read_whole(&run.flow, object, &run.scratch);
    finish(&run, expected);
    free(copy);
}

#define CREATED     "{'type':'response.created','response':{'id':'resp_1','model':'gpt','output':[]}}\n"
#define IN_PROGRESS "{'type':'response.in_progress','response':{'id':'resp_1','model':'gpt'}}\n"
#define MESSAGE_ADDED                                                                      \
    "{'type':'response.output_item.added','output_index':0,'item':{'type':'message','id':" \
    "'msg_1','role':'assistant','content':[]}}\n"                                          \
    "{'type':'response.content_part.added','output_index':0,'content_index':0,'part':{"    \
    "'type':'output_text','text':''}}\n"
#define TEXT_DELTA(piece)                                                                          \
    "{'type':'response.output_text.delta','output_index':0,'content_index':0,'delta':'" piece "'," \
    "'logprobs':[],'obfuscation':'xY'}\n"
#define TEXT_DONE(all)                                                                           \
    "{'type':'response.output_text.done','output_index':0,'content_index':0,'text':'" all "'}\n" \
    "{'type':'response.content_part.done','output_index':0,'content_index':0,'part':{'type':"    \
    "'output_text','text':'" all "'}}\n"
#define MESSAGE_DONE(all)                                                                 \
    "{'type':'response.output_item.done','output_index':0,'item':{'type':'message','id':" \
    "'msg_1','content':[{'type':'output_text','text':'" all "'}]}}\n"
#define USAGE                                                                                  \
    "'usage':{'input_tokens':5,'input_tokens_details':{'cached_tokens':3,'cache_write_tokens'" \
    ":1},'output_tokens':6,'output_tokens_details':{'reasoning_tokens':2}}"
#define COMPLETED(output)                                                            \
    "{'type':'response.completed','response':{'id':'resp_1','model':'gpt','status':" \
    "'completed','output':[" output "]," USAGE "}}\n"
#define MESSAGE_ITEM(all) "{'type':'message','content':[{'type':'output_text','text':'" all "'}]}"

#define BEGIN "begin resp_1 gpt\n"
#define STOP  "stop completed\nusage 5/3/1/6/2\n"

/* -- streams --------------------------------------------------------------------------------------- */

static void what_is_told_four_times_counts_once(void **state)
{
    (void)state;
    stream_tells(CREATED IN_PROGRESS MESSAGE_ADDED TEXT_DELTA("H\\u00e9") TEXT_DELTA("y")
                     TEXT_DONE("H\\u00e9y") MESSAGE_DONE("H\\u00e9y")
                         COMPLETED(MESSAGE_ITEM("H\\u00e9y")) "[DONE]\n",
                 BEGIN "text: [H\\u00e9] [y]\n" STOP);
}

static void the_name_of_an_event_is_enough(void **state)
{
    (void)state;
    stream_tells("response.created\t{'response':{'id':'resp_1','model':'gpt'}}\n"
                 "response.output_text.delta\t {'output_index':0,'content_index':0,'delta':'a'}\r\n"
                 "response.completed\t{'response':{'id':'resp_1'," USAGE "}}\n",
                 BEGIN "text: [a]\n" STOP);
}

/* B38 */
static void a_text_that_comes_late_counts_where_it_comes_first(void **state)
{
    (void)state;
    stream_tells(CREATED TEXT_DELTA("a") COMPLETED(""), BEGIN "text: [a]\n" STOP);
    stream_tells(CREATED COMPLETED(MESSAGE_ITEM("a") "," MESSAGE_ITEM("b")),
                 BEGIN "text: [a]\ntext: [b]\n" STOP);
    stream_tells(CREATED MESSAGE_ADDED TEXT_DONE("a") MESSAGE_DONE("a")
                     COMPLETED(MESSAGE_ITEM("a")),
                 BEGIN "text: [a]\n" STOP);
    stream_tells(CREATED MESSAGE_DONE("a") COMPLETED(MESSAGE_ITEM("a")), BEGIN "text: [a]\n" STOP);
    /* The last list counts its items in its own way. */
    stream_tells(CREATED TEXT_DELTA("a")
                     COMPLETED("{'type':'reasoning','id':'rs','summary':[]}," MESSAGE_ITEM("a")),
                 BEGIN "text: [a]\n" STOP);
}

static void what_only_the_last_event_tells_is_not_lost(void **state)
{
    (void)state;
    stream_tells(CREATED TEXT_DELTA("a")
                     COMPLETED(MESSAGE_ITEM("a") ",{'type':'function_call','call_id':'c1','name':"
                                                 "'add','arguments':'{}'}"),
                 BEGIN "text: [a]\ncall c1 add: [{}]\ncalls completed\nusage 5/3/1/6/2\n");
    stream_tells(CREATED
                 "{'type':'response.output_item.done','output_index':1,'item':{'type':"
                 "'function_call','call_id':'c1','name':'add','arguments':'{}'}}\n" COMPLETED(
                     MESSAGE_ITEM("a") ",{'type':'function_call','call_id':'c1','name':"
                                       "'add','arguments':'{}'}"),
                 BEGIN "call c1 add: [{}]\ntext: [a]\ncalls completed\nusage 5/3/1/6/2\n");
    stream_tells(
        CREATED TEXT_DELTA("a") COMPLETED(
            "{'type':'reasoning','id':'rs','summary':[],'encrypted_content':'b3Bh'}," MESSAGE_ITEM(
                "a")),
        BEGIN "text: [a]\n" STOP);
}

/* B60 */
static void what_is_called_completed_may_be_incomplete(void **state)
{
    (void)state;
    stream_tells(CREATED TEXT_DELTA("a") "{'type':'response.completed','response':{'id':'resp_1',"
                                         "'status':'incomplete','incomplete_details':{'reason':"
                                         "'max_output_tokens'},'output':[]," USAGE "}}\n",
                 BEGIN "text: [a]\nlength max_output_tokens\nusage 5/3/1/6/2\n");
}

static void parts_of_a_message_are_parts(void **state)
{
    (void)state;
    stream_tells(
        CREATED TEXT_DELTA(
            "a") "{'type':'response.output_text.delta','output_index':0,'content_index':1,'delta':'b'}\n"
                 "{'type':'response.output_item.done','output_index':0,'item':{'type':'message','content':["
                 "{'type':'output_text','text':'a'},{'type':'output_text','text':'b'}]}}\n"
                 "{'type':'response.output_item.done','output_index':1,'item':{'type':'message','content':["
                 "{'type':'output_text','text':'c'},{'type':'refusal','refusal':'no'}]}}\n" COMPLETED(
                     ""),
        BEGIN "text: [a]\ntext: [b]\ntext: [c]\nrefusal: [no]\n" STOP);
}

#define CALL_ADDED(index, id)                                                                   \
    "{'type':'response.output_item.added','output_index':" index ",'item':{'type':"             \
    "'function_call','id':'fc_" id "','call_id':'" id "','name':'add','arguments':'','status':" \
    "'in_progress'}}\n"
#define ARGUMENTS_DELTA(index, piece)                                                    \
    "{'type':'response.function_call_arguments.delta','output_index':" index ",'delta':" \
    "'" piece "'}\n"
#define ARGUMENTS_DONE(index, all)                                                          \
    "{'type':'response.function_call_arguments.done','output_index':" index ",'arguments':" \
    "'" all "'}\n"
#define CALL_ITEM(id, all) \
    "{'type':'function_call','call_id':'" id "','name':'add','arguments':'" all "'}"
#define CALL_DONE(index, id, all) \
    "{'type':'response.output_item.done','output_index':" index ",'item':" CALL_ITEM(id, all) "}\n"

#define FIVE "{\\'a\\':5}"
#define SIX  "{\\'a\\':6}"

/* B37 */
static void arguments_that_come_only_when_done_count_once(void **state)
{
    (void)state;
    const char *expected = BEGIN "call c1 add: [" FIVE "]\ncalls completed\nusage 5/3/1/6/2\n";
    stream_tells(CREATED CALL_ADDED("0", "c1") ARGUMENTS_DONE("0", FIVE) CALL_DONE("0", "c1", FIVE)
                     COMPLETED(CALL_ITEM("c1", FIVE)),
                 expected);
    stream_tells(CREATED CALL_ADDED("0", "c1") ARGUMENTS_DELTA("0", FIVE) ARGUMENTS_DONE("0", FIVE)
                     CALL_DONE("0", "c1", FIVE) COMPLETED(CALL_ITEM("c1", FIVE)),
                 expected);
    stream_tells(CREATED CALL_ADDED("0", "c1") CALL_DONE("0", "c1", FIVE) COMPLETED(""), expected);
    stream_tells(CREATED CALL_DONE("0", "c1", FIVE) COMPLETED(""), expected);
    stream_tells(CREATED COMPLETED(CALL_ITEM("c1", FIVE)), expected);
}

/* B20 */
static void a_schema_that_is_held_by_a_tool_is_told_as_a_text(void **state)
{
    (void)state;
    static const char *const streams[] = {
        CREATED "{'type':'response.output_item.added','output_index':0,'item':{'type':"
                "'function_call','call_id':'c1','name':'structured_answer','arguments':''}}\n" //
        ARGUMENTS_DELTA("0", FIVE) ARGUMENTS_DONE("0", FIVE) CALL_DONE("0", "c1", FIVE)
            COMPLETED(CALL_ITEM("c1", FIVE)),
        CREATED "{'type':'response.output_item.done','output_index':0,'item':{'type':"
                "'function_call','call_id':'c1','name':'structured_answer','arguments':'" FIVE
                "'}}\n" COMPLETED(""),
    };
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        struct run run;
        begin(&run);
        run.translation.schema_by_tool = true;
        tell(&run, streams[i]);
        finish(&run, BEGIN "text: [" FIVE "]\n" STOP);
    }
}

/* B48 */
static void a_call_may_have_no_arguments(void **state)
{
    (void)state;
    stream_tells(
        CREATED CALL_ADDED("0", "c1") "{'type':'response.output_item.done','output_index':"
                                      "0,'item':{'type':'function_call','call_id':'c1',"
                                      "'name':'add','arguments':{'a':1.50}}}\n" COMPLETED(""),
        BEGIN "call c1 add: [{\\'a\\':1.50}]\ncalls completed\nusage 5/3/1/6/2\n");
    stream_tells(CREATED CALL_ADDED("0", "c1") ARGUMENTS_DONE("0", "") CALL_DONE("0", "c1", "")
                     COMPLETED(""),
                 BEGIN "call c1 add: nothing\ncalls completed\nusage 5/3/1/6/2\n");
}

static void calls_side_by_side_are_told_one_after_the_other(void **state)
{
    (void)state;
    const char *expected = BEGIN "call c1 add: [{\\'a\\':] [5}]\ncall c2 add: [" SIX
                                 "]\ncalls completed\nusage 5/3/1/6/2\n";
    stream_tells(CREATED CALL_ADDED("0", "c1") CALL_ADDED("1", "c2")
                     ARGUMENTS_DELTA("0", "{\\'a\\':") ARGUMENTS_DELTA("1", SIX)
                         ARGUMENTS_DELTA("0", "5}") CALL_DONE("1", "c2", SIX)
                             CALL_DONE("0", "c1", FIVE) COMPLETED(""),
                 expected);
    stream_tells(CREATED CALL_ADDED("0", "c1") ARGUMENTS_DELTA("0", "{\\'a\\':")
                     ARGUMENTS_DELTA("0", "5}") CALL_ADDED("1", "c2") ARGUMENTS_DELTA("1", SIX)
                         CALL_DONE("0", "c1", FIVE) CALL_DONE("1", "c2", SIX) COMPLETED(""),
                 expected);
}

#define SUMMARY_DELTA(index, piece)                                                               \
    "{'type':'response.reasoning_summary_text.delta','output_index':0,'summary_index':" index "," \
    "'delta':'" piece "'}\n"
#define SUMMARY_ADDED(index)                                                                  \
    "{'type':'response.reasoning_summary_part.added','output_index':0,'summary_index':" index \
    ",'part':{'type':'summary_text','text':''}}\n"
#define REASONING_DONE(summary, sealed)                                                          \
    "{'type':'response.output_item.done','output_index':0,'item':{'type':'reasoning','id':'rs'," \
    "'summary':[" summary "]" sealed "}}\n"

/* Many summaries are of one item, and what is sealed is all of it. */
static void a_reasoning_item_is_one_part(void **state)
{
    (void)state;
    stream_tells(CREATED SUMMARY_ADDED("0") SUMMARY_DELTA("0", "a") SUMMARY_DELTA("0", "b")
                     SUMMARY_ADDED("1") SUMMARY_DELTA("1", "c")
                         REASONING_DONE("{'text':'ab'},{'text':'c'}", ",'encrypted_content':'b3Bh'")
                             COMPLETED("{'type':'reasoning','id':'rs','summary':[{'text':'ab'}],"
                                       "'encrypted_content':'b3Bi'}," CALL_ITEM("c1", "{}")),
                 BEGIN "reasoning: [a] [b] [\\n\\n] [c] sealed(rs b3Bh)\ncall c1 add: [{}]\n"
                       "calls completed\nusage 5/3/1/6/2\n");
    stream_tells(CREATED REASONING_DONE("{'text':'ab'},{'text':'c'}", "") COMPLETED(""),
                 BEGIN "reasoning: [ab] [\\n\\n] [c]\n" STOP);
    stream_tells(CREATED REASONING_DONE("", ",'encrypted_content':'b3Bh'") COMPLETED(""),
                 BEGIN "reasoning: redacted(rs b3Bh) nothing\n" STOP);
    stream_tells(CREATED REASONING_DONE("", ",'encrypted_content':null") COMPLETED(""), BEGIN STOP);
    stream_tells(CREATED "{'type':'response.reasoning_text.delta','output_index':0,'content_index':"
                         "0,'delta':'open'}\n"
                         "{'type':'response.reasoning_text.done','output_index':0,'content_index':"
                         "0,'text':'open'}\n"
                         "{'type':'response.output_item.done','output_index':0,'item':{'type':"
                         "'reasoning','id':'rs','summary':[],'content':[{'type':'reasoning_text',"
                         "'text':'open'}]}}\n" COMPLETED(""),
                 BEGIN "reasoning: [open]\n" STOP);
}

static void a_refusal_is_a_part(void **state)
{
    (void)state;
    stream_tells(
        CREATED "{'type':'response.refusal.delta','output_index':0,'content_index':0,'delta':'n'}\n"
                "{'type':'response.refusal.delta','output_index':0,'content_index':0,'delta':'o'}\n"
                "{'type':'response.refusal.done','output_index':0,'content_index':0,'refusal':"
                "'no'}\n" COMPLETED("{'type':'message','content':[{'type':'refusal','refusal':"
                                    "'no'}]}"),
        BEGIN "refusal: [n] [o]\n" STOP);
    stream_tells(CREATED "{'type':'response.refusal.done','output_index':0,'content_index':0,"
                         "'refusal':'no'}\n" COMPLETED(""),
                 BEGIN "refusal: [no]\n" STOP);
}

static void sources_belong_to_the_text(void **state)
{
    (void)state;
    stream_tells(
        CREATED TEXT_DELTA(
            "a") "{'type':'response.output_text.annotation.added','output_index':0,'content_index':0,"
                 "'annotation':{'type':'url_citation','url':'https://a','title':'A','start_index':0}}\n"
                 "{'type':'response.output_text.annotation.added','output_index':0,'content_index':0,"
                 "'annotation':{'type':'file_citation','file_id':'f'}}\n" TEXT_DONE(
                     "a") "{'type':'response.output_item.done','output_index':0,'item':{'type':'message',"
                          "'content':[{'type':'output_text','text':'a','annotations':[{'type':'url_citation',"
                          "'url':'https://a','title':'A'}]}]}}\n" COMPLETED(""),
        BEGIN "text: [a] source(https://a|A)\n" STOP);
    stream_tells(CREATED TEXT_DELTA("a") TEXT_DONE(
                     "a") "{'type':'response.output_item.done','output_index':0,'item':{'type':"
                          "'message','content':[{'type':'output_text','text':'a','annotations':[{"
                          "'type':'url_citation','url':'https://a','title':'A'},{'type':"
                          "'url_citation','url':'https://b','title':'B'}]}]}}\n" COMPLETED(""),
                 BEGIN "text: [a] source(https://a|A) source(https://b|B)\n" STOP);
}

static void tools_of_the_provider_are_passed_over(void **state)
{
    (void)state;
    stream_tells(
        CREATED
        "{'type':'response.output_item.added','output_index':0,'item':{'type':'web_search_call'}}\n"
        "{'type':'response.web_search_call.searching','output_index':0,'item_id':'ws'}\n"
        "{'type':'response.mcp_call_arguments.delta','output_index':0,'delta':'{}'}\n"
        "{'type':'response.custom_tool_call_input.delta','output_index':0,'delta':'x'}\n"
        "{'type':'response.output_item.done','output_index':0,'item':{'type':'mcp_call','name':"
        "'n','arguments':'{}'}}\n"
        "{'type':'response.something_new','output_index':0,'delta':'x'}\n" COMPLETED(
            "{'type':'web_search_call'}"),
        BEGIN STOP);
}

/* -- on the wire ------------------------------------------------------------------------------------- */

/* B37 as it was reported, with the end that it must have had. */
static const char wire[] =
    "event: response.created\n"
    "data: {'type':'response.created','sequence_number':0,'response':{'id':'resp_1','model':'gpt'}}"
    "\n\n"
    ": comment\n\n"
    "event: response.output_item.added\n"
    "data: {'type':'response.output_item.added','sequence_number':2,'output_index':0,'item':"
    "{'type':'function_call','id':'fc_1','call_id':'c1','name':'add','arguments':'','status':"
    "'in_progress'}}\n\n"
    "event: response.function_call_arguments.done\n"
    "data: {'type':'response.function_call_arguments.done','sequence_number':3,'output_index':0,"
    "'item_id':'fc_1','name':'add','arguments':'{\\'a\\':5}'}\n\n"
    "event: response.completed\n"
    "data: {'type':'response.completed','sequence_number':4,'response':{'id':'resp_1','status':"
    "'completed','output':[],'usage':{'input_tokens':1,'output_tokens':2}}}\n\n"
    "data: [DONE]\n\n";

/* B53, B55 */
static void a_stream_may_be_cut_anywhere_and_have_any_line_ends(void **state)
{
    (void)state;
    const struct acog_translation translation = {
        .client = ACOG_DIALECT_CHAT, .upstream = ACOG_DIALECT_RESPONSES, .model = {"sent", 4}};
    static const char *const line_ends[] = {"\n", "\r\n", "\r"};
    static const size_t pieces_bytes[] = {sizeof(wire) * 2, 7, 1};
    char *lines = with_quotes(wire);
    char *wanted = with_quotes("begin 'resp_1' 'gpt'\ncall 0 'c1' 'add'\n"
                               "arguments 0 '{\\'a\\':5}'\nend 0\n"
                               "finish calls 'completed', 1 in, 2 out\n");
    for (size_t i = 0; i < 9; i++) {
        struct acog_buffer stream;
        struct acog_buffer out;
        acog_buffer_init(&stream, OUT_BYTES_MAX);
        acog_buffer_init(&out, OUT_BYTES_MAX);
        for (const char *at = lines; *at != '\0'; at++) {
            const char *bytes = *at == '\n' ? line_ends[i / 3] : at;
            size_t length = *at == '\n' ? strlen(bytes) : 1;
            assert_int_equal(
                acog_buffer_append(&stream, (struct acog_view){.ptr = bytes, .len = length}),
                ACOG_OK);
        }
        flow_feed(&translation, &flow_seen_form, acog_responses_read_event,
                  acog_buffer_view(&stream), pieces_bytes[i % 3], &out);
        if (!acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted))) {
            fail_msg("variant %zu tells\n%.*s", i, (int)out.len, out.ptr);
        }
        acog_buffer_fini(&stream);
        acog_buffer_fini(&out);
    }
    free(lines);
    free(wanted);
}

/* -- how it ends ----------------------------------------------------------------------------------- */

#define INCOMPLETE(details)                                                          \
    "{'type':'response.incomplete','response':{'id':'resp_1','status':'incomplete'," \
    "'incomplete_details':" details ",'output':[]," USAGE "}}\n"

/* B60 */
static void an_incomplete_answer_says_why(void **state)
{
    (void)state;
    stream_tells(CREATED TEXT_DELTA("a") INCOMPLETE("{'reason':'max_output_tokens'}"),
                 BEGIN "text: [a]\nlength max_output_tokens\nusage 5/3/1/6/2\n");
    stream_tells(CREATED INCOMPLETE("{'reason':'content_filter','category':'cyber','explanation':"
                                    "'not that'}"),
                 BEGIN "refusal content_filter for cyber: not that\nusage 5/3/1/6/2\n");
    stream_tells(CREATED INCOMPLETE("{'reason':'novel'}"),
                 BEGIN "unknown novel\nusage 5/3/1/6/2\n");
    stream_tells(CREATED INCOMPLETE("null"), BEGIN "unknown incomplete\nusage 5/3/1/6/2\n");
}

static void an_answer_without_usage_is_still_one(void **state)
{
    (void)state;
    stream_tells(CREATED TEXT_DELTA("a") "{'type':'response.completed','response':null}\n",
                 BEGIN "text: [a]\nstop completed\nusage estimated\n");
    stream_tells(TEXT_DELTA("a") "[DONE]\n",
                 "begin  sent\ntext: [a]\nstop \nusage estimated\n"); /* B59 */
}

/* Whatever a provider sends: nothing that is not an answer's. */
static void nonsense_is_passed_over(void **state)
{
    (void)state;
    stream_tells(CREATED
                 "{'type':'response.output_text.delta','output_index':-1,'content_index':99999999,"
                 "'delta':7}\n"
                 "{'type':'response.output_text.delta','output_index':1e99,'delta':null}\n"
                 "{'type':'response.output_item.done','output_index':0,'item':5}\n"
                 "{'type':'response.output_item.done','output_index':0,'item':{'type':'message',"
                 "'content':[null,{'type':'output_text','text':5}]}}\n"
                 "{'type':'response.output_item.added','output_index':0}\n"
                 "{'type':'response.output_text.annotation.added','annotation':'x'}\n"
                 "{'type':5}\n{}\n" COMPLETED("5,{'type':'message','content':'x'},{}"),
                 BEGIN STOP);
}

/* -- whole ----------------------------------------------------------------------------------------- */

/* B34 */
static void a_whole_answer_is_one_of_all_its_items(void **state)
{
    (void)state;
    whole_tells("{'id':'resp_1','object':'response','model':'gpt','status':'completed','output':["
                "{'type':'reasoning','id':'rs1','summary':[],'encrypted_content':'b3Bh'},"
                "{'type':'message','id':'m1','role':'assistant','status':'completed','content':["
                "{'type':'output_text','text':'one moment','annotations':[{'type':'url_citation',"
                "'url':'https://a','title':'A'}]}]},"
                "{'type':'function_call','id':'fc1','call_id':'c9','name':'w','arguments':'{}',"
                "'status':'completed'},{'type':'code_interpreter_call','code':'1'},"
                "{'type':'message','content':[{'type':'refusal','refusal':'no'}]}]," USAGE "}",
                BEGIN "reasoning: redacted(rs1 b3Bh) nothing\n"
                      "text: [one moment] source(https://a|A)\ncall c9 w: [{}]\nrefusal: [no]\n"
                      "calls completed\nusage 5/3/1/6/2\n");
}

static void a_status_is_how_it_ended(void **state)
{
    (void)state;

    static const struct {
        const char *status;
        const char *end;
    } rows[] = {
        {"'status':'completed'", "stop completed"},
        {"'status':'complete'", "stop completed"},
        {"'status':null", "stop completed"},
        {"'status':'incomplete','incomplete_details':{'reason':'max_output_tokens'}",
         "length max_output_tokens"},
        {"'status':'in_progress'", "unknown in_progress"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char body[512];
        char wanted[256];
        (void)snprintf(body, sizeof(body), "{'id':'resp_1','model':'gpt',%s,'output':[]," USAGE "}",
                       rows[i].status);
        (void)snprintf(wanted, sizeof(wanted), BEGIN "%s\nusage 5/3/1/6/2\n", rows[i].end);
        whole_tells(body, wanted);
    }
}

/* B117 */
static void a_body_of_the_wrong_types_is_an_empty_answer_or_an_error(void **state)
{
    (void)state;
    struct run run;
    whole_tells("{'id':7,'model':null,'output':{'type':'message'},'usage':'x'}",
                "begin  sent\nstop completed\nusage estimated\n");
    begin(&run);
    acog_responses_read_whole(
        &run.flow, (struct acog_json_value){.raw = ACOG_VIEW("[]"), .type = ACOG_JSON_ARRAY},
        &run.scratch);
    assert_int_equal(run.flow.code, ACOG_INVALID);
    acog_flow_fini(&run.flow);
    acog_buffer_fini(&run.out);
    acog_arena_fini(&run.scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_four_times_counts_once),
        cmocka_unit_test(the_name_of_an_event_is_enough),
        cmocka_unit_test(a_text_that_comes_late_counts_where_it_comes_first),
        cmocka_unit_test(what_only_the_last_event_tells_is_not_lost),
        cmocka_unit_test(what_is_called_completed_may_be_incomplete),
        cmocka_unit_test(parts_of_a_message_are_parts),
        cmocka_unit_test(arguments_that_come_only_when_done_count_once),
        cmocka_unit_test(a_schema_that_is_held_by_a_tool_is_told_as_a_text),
        cmocka_unit_test(a_call_may_have_no_arguments),
        cmocka_unit_test(calls_side_by_side_are_told_one_after_the_other),
        cmocka_unit_test(a_reasoning_item_is_one_part),
        cmocka_unit_test(a_refusal_is_a_part),
        cmocka_unit_test(sources_belong_to_the_text),
        cmocka_unit_test(tools_of_the_provider_are_passed_over),
        cmocka_unit_test(a_stream_may_be_cut_anywhere_and_have_any_line_ends),
        cmocka_unit_test(an_incomplete_answer_says_why),
        cmocka_unit_test(an_answer_without_usage_is_still_one),
        cmocka_unit_test(nonsense_is_passed_over),
        cmocka_unit_test(a_whole_answer_is_one_of_all_its_items),
        cmocka_unit_test(a_status_is_how_it_ended),
        cmocka_unit_test(a_body_of_the_wrong_types_is_an_empty_answer_or_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
