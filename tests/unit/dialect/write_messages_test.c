/* write_messages_test.c - what is sent to Anthropic for requests of the other dialects. Bodies have ' for ". */
#include "acog/translate.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_BYTES_MAX ((size_t)1 << 16U)

struct run {
    struct acog_arena arena;
    struct acog_buffer out;
    struct acog_model_rules rules;
    struct acog_translation translation;
    struct acog_request_problem problem;
    struct acog_json_value sent;
    enum acog_code code;
    char *body;
};

static char *with_quotes(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *at = copy; *at != '\0'; at++) {
        if (*at == '\'') {
            *at = '"';
        }
    }
    return copy;
}

/* Haiku, as the cases have it: classic sampling, thinking by a budget. */
static struct acog_model_rules haiku(void)
{
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    rules.thinking = ACOG_THINKING_BUDGET;
    rules.schema = ACOG_SCHEMA_NATIVE;
    rules.largest_output_tokens = 64000;
    return rules;
}

/* The newest: its own temperature only, adaptive thinking, system turns anywhere. */
static struct acog_model_rules opus(void)
{
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    rules.temperature = false;
    rules.top_k = false;
    rules.thinking = ACOG_THINKING_ADAPTIVE;
    rules.efforts = ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_MEDIUM) |
                    ACOG_BIT(ACOG_EFFORT_HIGH) | ACOG_BIT(ACOG_EFFORT_MAX);
    rules.schema = ACOG_SCHEMA_NATIVE;
    rules.system_anywhere = true;
    return rules;
}

static struct run translate(enum acog_surface surface, struct acog_model_rules rules,
                            const char *body)
{
    struct run run = {.rules = rules, .body = with_quotes(body)};
    const struct acog_conversation *conversation = NULL;
    struct acog_json_error error;
    run.translation = (struct acog_translation){.client = acog_surface_dialect(surface),
                                                .upstream = ACOG_DIALECT_MESSAGES,
                                                .rules = &run.rules,
                                                .model = {"claude-x", 8},
                                                .request_id = {"r1", 2},
                                                .max_tokens = -1};
    acog_arena_init(&run.arena, (size_t)1 << 20U);
    acog_buffer_init(&run.out, BODY_BYTES_MAX);
    run.code = acog_conversation_read(surface, acog_view_of(run.body), &run.arena, &conversation,
                                      &run.problem);
    if (run.code == ACOG_OK) {
        run.code =
            acog_conversation_fits(conversation, ACOG_DIALECT_MESSAGES, &run.rules, &run.problem);
    }
    if (run.code == ACOG_OK) {
        run.code = acog_conversation_write(conversation, &run.translation, &run.arena, &run.out);
        assert_int_equal(run.code, ACOG_OK);
        if (acog_json_check(acog_buffer_view(&run.out), 128, &run.sent, &error) != ACOG_OK) {
            fail_msg("%.*s\n%s at %zu", ACOG_VIEW_FMT(acog_buffer_view(&run.out)), error.what,
                     error.offset);
        }
    }
    return run;
}

static void end(struct run *run)
{
    acog_arena_fini(&run->arena);
    acog_buffer_fini(&run->out);
    free(run->body);
}

/* The member at a path is that text; NULL: it is not there. */
static void holds(const struct run *run, const char *path, const char *expected)
{
    struct acog_json_value value = {.type = ACOG_JSON_NULL};
    if (run->code != ACOG_OK) {
        fail_msg("%s\nis refused: %s", run->body, run->problem.text);
    }
    bool there = acog_json_path(run->sent, acog_view_of(path), &value);
    char *wanted = expected == NULL ? NULL : with_quotes(expected);
    if (there != (wanted != NULL) || (there && !acog_view_equal(value.raw, acog_view_of(wanted)))) {
        struct acog_view seen = there ? value.raw : ACOG_VIEW("absent");
        fail_msg("%s\n%s is %.*s\nnot %s", run->body, path, ACOG_VIEW_FMT(seen),
                 wanted == NULL ? "absent" : wanted);
    }
    free(wanted);
}

static void drops(const struct run *run, const char *names)
{
    if (!acog_view_equal(run->translation.dropped, acog_view_of(names))) {
        fail_msg("%s\ndrops %.*s\nnot %s", run->body, ACOG_VIEW_FMT(run->translation.dropped),
                 names);
    }
}

static void chat_is_refused(struct acog_model_rules rules, const char *body, const char *problem)
{
    struct run run = translate(ACOG_SURFACE_CHAT, rules, body);
    if (run.code != ACOG_INVALID || strstr(run.problem.text, problem) == NULL) {
        fail_msg("%s\ncode %d, problem %s", body, (int)run.code, run.problem.text);
    }
    end(&run);
}

/* The messages that are sent for those of a chat request. */
static void chat_says(struct acog_model_rules rules, const char *messages, const char *expected)
{
    char body[4096];
    (void)snprintf(body, sizeof(body), "{'model':'m','messages':[%s]}", messages);
    struct run run = translate(ACOG_SURFACE_CHAT, rules, body);
    holds(&run, "messages", expected);
    end(&run);
}

/* What is sent for a chat request of one message and `more`. */
static struct run chat_with(struct acog_model_rules rules, const char *more)
{
    char body[4096];
    (void)snprintf(body, sizeof(body), "{'model':'m','messages':[{'role':'user','content':'x'}]%s}",
                   more);
    return translate(ACOG_SURFACE_CHAT, rules, body);
}

static size_t occurrences(struct acog_view text, struct acog_view word)
{
    size_t count = 0;
    size_t at = acog_view_find(text, word);
    while (at < text.len) {
        count++;
        text = acog_view_slice(text, at + word.len, text.len);
        at = acog_view_find(text, word);
    }
    return count;
}

#define CALL(id, name, arguments) \
    "{'id':'" id "','type':'function','function':{'name':'" name "','arguments':'" arguments "'}}"
#define TOOL(name) \
    "{'type':'function','function':{'name':'" name "','parameters':{'type':'object'}}}"

/* -- turns ----------------------------------------------------------------------------------------- */

/* B01 */
static void results_of_parallel_calls_are_one_turn(void **state)
{
    (void)state;
    chat_says(
        haiku(),
        "{'role':'user','content':'rain?'},{'role':'assistant','content':null,'tool_calls':[" CALL(
            "call_a", "rain",
            "{\\'city\\':\\'Oslo\\'}") "," CALL("call_b", "rain",
                                                "{\\'city\\':\\'Bergen\\'}") "]},"
                                                                             "{'role':'tool','tool_call_id':'call_b','content':'9 mm'},"
                                                                             "{'role':'tool','tool_call_id':'call_a','content':'2 mm'}",
        "[{'role':'user','content':[{'type':'text','text':'rain?'}]},{'role':'assistant',"
        "'content':[{'type':'tool_use','id':'call_a','name':'rain','input':{'city':'Oslo'}},"
        "{'type':'tool_use','id':'call_b','name':'rain','input':{'city':'Bergen'}}]},"
        "{'role':'user','content':[{'type':'tool_result','tool_use_id':'call_b','content':["
        "{'type':'text','text':'9 mm'}]},{'type':'tool_result','tool_use_id':'call_a',"
        "'content':[{'type':'text','text':'2 mm'}]}]}]");
}

/* B02 */
static void what_follows_the_results_stands_behind_them(void **state)
{
    (void)state;
    chat_says(
        haiku(),
        "{'role':'user','content':'sum'},{'role':'assistant','content':null,'tool_calls':[" CALL(
            "c1", "sum",
            "{\\'a\\':1}") "," CALL("c2", "sum",
                                    "{\\'a\\':2}") "]},"
                                                   "{'role':'tool','tool_call_id':'c1','content':'1'},"
                                                   "{'role':'tool','tool_call_id':'c2','content':'2'},{'role':'user','content':[{'type':"
                                                   "'text','text':'and this chart?'},{'type':'image_url','image_url':{'url':"
                                                   "'https://img.example/c.png'}}]}",
        "[{'role':'user','content':[{'type':'text','text':'sum'}]},{'role':'assistant',"
        "'content':[{'type':'tool_use','id':'c1','name':'sum','input':{'a':1}},"
        "{'type':'tool_use','id':'c2','name':'sum','input':{'a':2}}]},{'role':'user',"
        "'content':[{'type':'tool_result','tool_use_id':'c1','content':[{'type':'text','text':"
        "'1'}]},{'type':'tool_result','tool_use_id':'c2','content':[{'type':'text','text':'2'}"
        "]},{'type':'text','text':'and this chart?'},{'type':'image','source':{'type':'url',"
        "'url':'https://img.example/c.png'}}]}]");
}

/* B04, B06 */
static void empty_texts_and_arguments_are_nothing(void **state)
{
    (void)state;
    chat_says(haiku(),
              "{'role':'user','content':'hi'},{'role':'assistant','content':'','tool_calls':[" CALL(
                  "t1", "now", "") "]},{'role':'tool','tool_call_id':'t1','content':''}",
              "[{'role':'user','content':[{'type':'text','text':'hi'}]},{'role':'assistant',"
              "'content':[{'type':'tool_use','id':'t1','name':'now','input':{}}]},{'role':'user',"
              "'content':[{'type':'tool_result','tool_use_id':'t1'}]}]");
    chat_says(haiku(),
              "{'role':'user','content':'hi'},{'role':'assistant','content':[{'type':'text','text':"
              "''}],'tool_calls':[" CALL(
                  "t1", "now",
                  "{}") "]},"
                        "{'role':'tool','tool_call_id':'t1','content':[{'type':'text','text':''}]}",
              "[{'role':'user','content':[{'type':'text','text':'hi'}]},{'role':'assistant',"
              "'content':[{'type':'tool_use','id':'t1','name':'now','input':{}}]},{'role':'user',"
              "'content':[{'type':'tool_result','tool_use_id':'t1'}]}]");
}

/* B05 */
static void a_blank_turn_goes_and_its_neighbours_are_one(void **state)
{
    (void)state;
    chat_says(
        haiku(),
        "{'role':'user','content':[{'type':'text','text':'','cache_control':{'type':"
        "'ephemeral'}},{'type':'text','text':'real question'}]},{'role':'assistant','content':"
        "' \\n'},{'role':'user','content':'go on'}",
        "[{'role':'user','content':[{'type':'text','text':'real question'},{'type':'text',"
        "'text':'go on'}]}]");
}

/* B14 */
#define SYSTEMS                                                                                  \
    "{'role':'developer','content':'Answer in French'},{'role':'system','content':[{'type':"     \
    "'text','text':'Be brief','cache_control':{'type':'ephemeral'}}]},{'role':'user','content':" \
    "'hello'},{'role':'assistant','content':'bonjour'},{'role':'system','content':"              \
    "'From now on use German'},{'role':'user','content':'and now?'}"

static void system_turns_stay_in_their_place(void **state)
{
    (void)state;
    chat_says(opus(), SYSTEMS,
              "[{'role':'user','content':[{'type':'text','text':'hello'}]},{'role':'assistant',"
              "'content':[{'type':'text','text':'bonjour'}]},{'role':'system','content':[{'type':"
              "'text','text':'From now on use German'}]},{'role':'user','content':[{'type':'text',"
              "'text':'and now?'}]}]");
    struct run run = translate(ACOG_SURFACE_CHAT, haiku(), "{'messages':[" SYSTEMS "]}");
    holds(&run, "system",
          "[{'type':'text','text':'Answer in French'},{'type':'text','text':'Be brief',"
          "'cache_control':{'type':'ephemeral'}}]");
    holds(&run, "messages",
          "[{'role':'user','content':[{'type':'text','text':'hello'}]},{'role':'assistant',"
          "'content':[{'type':'text','text':'bonjour'}]},{'role':'user','content':[{'type':'text',"
          "'text':'<system>From now on use German</system>'},{'type':'text','text':'and now?'}]}]");
    drops(&run, "messages.role");
    end(&run);
}

/* B16 */
static void images_are_sent_byte_for_byte(void **state)
{
    (void)state;
    chat_says(haiku(),
              "{'role':'user','content':[{'type':'image_url','image_url':{'url':"
              "'data:image/png;base64,iVBORw0KGgo='}},{'type':'image_url','image_url':{'url':"
              "'https://img.example/x.webp?sig=a%2Bb'}}]}",
              "[{'role':'user','content':[{'type':'image','source':{'type':'base64','media_type':"
              "'image/png','data':'iVBORw0KGgo='}},{'type':'image','source':{'type':'url','url':"
              "'https://img.example/x.webp?sig=a%2Bb'}}]}]");
}

static void files_are_documents(void **state)
{
    (void)state;
    chat_says(
        haiku(),
        "{'role':'user','content':[{'type':'file','file':{'filename':'a.pdf','file_data':"
        "'data:application/pdf;base64,JVBE'}},{'type':'text','text':'read'}]}",
        "[{'role':'user','content':[{'type':'document','source':{'type':'base64',"
        "'media_type':'application/pdf','data':'JVBE'},'title':'a.pdf'},{'type':'text','text':"
        "'read'}]}]");
    chat_is_refused(haiku(),
                    "{'messages':[{'role':'user','content':[{'type':'file','file':{'file_id':"
                    "'file-1'}}]}]}",
                    "a file that was given to another provider");
    chat_is_refused(haiku(),
                    "{'messages':[{'role':'user','content':[{'type':'file','file':{'filename':"
                    "'a.zip','file_data':'data:application/zip;base64,UEsD'}}]}]}",
                    "must be an image, a PDF");
    chat_is_refused(haiku(),
                    "{'messages':[{'role':'user','content':[{'type':'input_audio','input_audio':{"
                    "'data':'AAAA','format':'wav'}}]}]}",
                    "takes no audio");
}

/* B18 */
static void cache_markers_arrive_at_their_places(void **state)
{
    struct run run = translate(
        ACOG_SURFACE_CHAT, haiku(),
        "{'messages':[{'role':'system','content':[{'type':'text','text':'long rules',"
        "'cache_control':{'type':'ephemeral','ttl':'1h'}}]},{'role':'user','content':'q'},"
        "{'role':'assistant','content':null,'tool_calls':[" CALL(
            "x", "f",
            "{}") "]},"
                  "{'role':'tool','tool_call_id':'x','content':'big','cache_control':{'type':'ephemeral'}}],"
                  "'tools':[{'type':'function','function':{'name':'f','parameters':{'type':'object'}},"
                  "'cache_control':{'type':'ephemeral'}}]}");
    (void)state;
    holds(&run, "system",
          "[{'type':'text','text':'long rules','cache_control':{'type':'ephemeral','ttl':'1h'}}]");
    holds(&run, "tools",
          "[{'name':'f','input_schema':{'type':'object'},'cache_control':{'type':'ephemeral'}}]");
    holds(&run, "messages",
          "[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':["
          "{'type':'tool_use','id':'x','name':'f','input':{}}]},{'role':'user','content':[{'type':"
          "'tool_result','tool_use_id':'x','content':[{'type':'text','text':'big'}],"
          "'cache_control':{'type':'ephemeral'}}]}]");
    end(&run);
}

/* B19: the client's own and no other */
static void cache_markers_are_the_clients_own(void **state)
{
#define MARKED(text) "{'type':'text','text':'" text "','cache_control':{'type':'ephemeral'}}"
    struct run run = translate(
        ACOG_SURFACE_CHAT, haiku(),
        "{'messages':[{'role':'system','content':[" MARKED("a") "," MARKED(
            "b") "]},"
                 "{'role':'user','content':[" MARKED("c") "," MARKED("d") "," MARKED("e") "]}]}");
    (void)state;
    assert_int_equal(run.code, ACOG_OK);
    assert_int_equal(occurrences(acog_buffer_view(&run.out), ACOG_VIEW("cache_control")), 5);
    end(&run);
    run = chat_with(haiku(), "");
    assert_int_equal(occurrences(acog_buffer_view(&run.out), ACOG_VIEW("cache_control")), 0);
    end(&run);
}

/* B33, B39 */
static void consecutive_items_are_one_turn_and_foreign_reasoning_goes(void **state)
{
    struct run run = translate(
        ACOG_SURFACE_RESPONSES, haiku(),
        "{'model':'m','input':[{'role':'user','content':[{'type':'input_text','text':'two cities'}]}"
        ",{'type':'reasoning','id':'rs_1','summary':[],'encrypted_content':'b3BhcXVl'},"
        "{'type':'message','role':'assistant','content':[{'type':'output_text','text':'looking',"
        "'annotations':[]}]},{'type':'function_call','id':'fc_1','call_id':'f1','name':'w',"
        "'arguments':'{\\'c\\':1}'},{'type':'function_call','id':'fc_2','call_id':'f2','name':'w',"
        "'arguments':'{\\'c\\':2}'},{'type':'function_call_output','call_id':'f1','output':'sun'},"
        "{'type':'function_call_output','call_id':'f2','output':'rain'}],'tools':[{'type':"
        "'function','name':'w','parameters':{'type':'object'}}]}");
    (void)state;
    holds(&run, "messages",
          "[{'role':'user','content':[{'type':'text','text':'two cities'}]},{'role':'assistant',"
          "'content':[{'type':'text','text':'looking'},{'type':'tool_use','id':'f1','name':'w',"
          "'input':{'c':1}},{'type':'tool_use','id':'f2','name':'w','input':{'c':2}}]},{'role':"
          "'user','content':[{'type':'tool_result','tool_use_id':'f1','content':[{'type':'text',"
          "'text':'sun'}]},{'type':'tool_result','tool_use_id':'f2','content':[{'type':'text',"
          "'text':'rain'}]}]}]");
    assert_int_equal(occurrences(acog_buffer_view(&run.out), ACOG_VIEW("b3BhcXVl")), 0);
    end(&run);
}

/* B28: what Anthropic signed comes back to it, from a client of its own dialect or another. */
static void thinking_that_anthropic_signed_is_sent_unchanged(void **state)
{
    struct run run = translate(
        ACOG_SURFACE_MESSAGES, haiku(),
        "{'max_tokens':9,'messages':[{'role':'user','content':'q'},{'role':'assistant','content':["
        "{'type':'thinking','thinking':'secret\\nplan','signature':'c2ln'},{'type':"
        "'redacted_thinking','data':'ZGF0YQ=='},{'type':'thinking','thinking':'','signature':"
        "'b21p'},{'type':'thinking','thinking':'gpt','signature':'acog.chat..'},{'type':'text',"
        "'text':'Answer'}]},{'role':'user','content':'next'}]}");
    (void)state;
    holds(&run, "messages",
          "[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':["
          "{'type':'thinking','thinking':'secret\\nplan','signature':'c2ln'},{'type':"
          "'redacted_thinking','data':'ZGF0YQ=='},{'type':'thinking','thinking':'','signature':"
          "'b21p'},{'type':'text','text':'Answer'}]},{'role':'user','content':[{'type':'text',"
          "'text':'next'}]}]");
    end(&run);
}

static void an_error_stays_an_error_and_an_empty_signature_is_none(void **state)
{
    struct run run = translate(
        ACOG_SURFACE_MESSAGES, haiku(),
        "{'max_tokens':9,'stream':true,'messages':[{'role':'user','content':'q'},{'role':"
        "'assistant','content':[{'type':'redacted_thinking','data':'acog.redacted-messages..'},"
        "{'type':'tool_use','id':'c','name':'f','input':{}}]},{'role':'user','content':[{'type':"
        "'tool_result','tool_use_id':'c','is_error':true,'content':'disk full'}]}]}");
    (void)state;
    holds(&run, "messages",
          "[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':["
          "{'type':'tool_use','id':'c','name':'f','input':{}}]},{'role':'user','content':[{'type':"
          "'tool_result','tool_use_id':'c','content':[{'type':'text','text':'disk full'}],"
          "'is_error':true}]}]");
    end(&run);
}

static void a_stream_is_asked_for_where_one_is_wanted(void **state)
{
    struct acog_model_rules rules = haiku();
    struct acog_translation translation = {
        .upstream = ACOG_DIALECT_MESSAGES, .rules = &rules, .max_tokens = -1, .stream = true};
    const struct acog_conversation *conversation = NULL;
    struct acog_request_problem problem;
    struct acog_arena arena;
    struct acog_buffer out;
    (void)state;
    acog_arena_init(&arena, (size_t)1 << 20U);
    acog_buffer_init(&out, BODY_BYTES_MAX);
    assert_int_equal(acog_conversation_read(ACOG_SURFACE_CHAT,
                                            ACOG_VIEW("{\"messages\":[{\"role\":\"user\","
                                                      "\"content\":\"x\"}]}"),
                                            &arena, &conversation, &problem),
                     ACOG_OK);
    assert_int_equal(acog_conversation_write(conversation, &translation, &arena, &out), ACOG_OK);
    assert_int_equal(occurrences(acog_buffer_view(&out), ACOG_VIEW("\"stream\":true")), 1);
    acog_buffer_fini(&out);
    acog_arena_fini(&arena);
}

static void how_closely_an_image_is_looked_at_is_named(void **state)
{
    struct run run = translate(ACOG_SURFACE_CHAT, haiku(),
                               "{'messages':[{'role':'user','content':[{'type':'image_url',"
                               "'image_url':{'url':'https://i.example/a','detail':'low'}}]}]}");
    (void)state;
    assert_int_equal(run.code, ACOG_OK);
    drops(&run, "messages.detail");
    end(&run);
}

static void a_file_of_another_provider_is_refused_in_a_result_too(void **state)
{
    struct run run = translate(
        ACOG_SURFACE_RESPONSES, haiku(),
        "{'input':[{'role':'user','content':'q'},{'type':'function_call','call_id':'c','name':'f',"
        "'arguments':'{}'},{'type':'function_call_output','call_id':'c','output':[{'type':"
        "'input_file','file_id':'file-1'}]}]}");
    (void)state;
    assert_int_equal(run.code, ACOG_INVALID);
    assert_non_null(strstr(run.problem.text, "given to another provider"));
    end(&run);
}

static void a_turn_of_foreign_reasoning_alone_leaves_nothing(void **state)
{
    struct run run = translate(
        ACOG_SURFACE_MESSAGES, haiku(),
        "{'max_tokens':9,'messages':[{'role':'user','content':'q'},{'role':'assistant','content':["
        "{'type':'thinking','thinking':'gpt','signature':'acog.chat..'}]},{'role':'user','content':"
        "'next'}]}");
    (void)state;
    holds(&run, "messages",
          "[{'role':'user','content':[{'type':'text','text':'q'},{'type':'text','text':'next'}]}]");
    end(&run);
}

static void a_conversation_begins_with_the_user(void **state)
{
    (void)state;
    chat_is_refused(haiku(), "{'messages':[{'role':'assistant','content':'I begin'}]}",
                    "the first turn must be the user's");
    chat_is_refused(haiku(), "{'messages':[{'role':'system','content':'only rules'}]}", "");
}

static void ids_that_anthropic_refuses_are_mapped(void **state)
{
    struct run run = translate(
        ACOG_SURFACE_CHAT, haiku(),
        "{'messages':[{'role':'user','content':'q'},{'role':'assistant','tool_calls':[" CALL(
            "functions.f:0", "f",
            "{}") "," CALL("functions_f.0", "f",
                           "{}") "]},"
                                 "{'role':'tool','tool_call_id':'functions.f:0','content':'1'},"
                                 "{'role':'tool','tool_call_id':'functions_f.0','content':'2'}]}");
    struct acog_view sent = acog_buffer_view(&run.out);
    (void)state;
    assert_int_equal(run.code, ACOG_OK);
    assert_int_equal(occurrences(sent, ACOG_VIEW("functions.f:0")), 0);
    size_t first = acog_view_find(sent, ACOG_VIEW("\"functions_f_0_"));
    assert_true(first < sent.len);
    struct acog_view id = acog_view_slice(sent, first, first + sizeof("\"functions_f_0_") + 16);
    assert_int_equal(occurrences(sent, id), 2);
    assert_int_equal(occurrences(sent, ACOG_VIEW("\"functions_f_0_")), 4);
    end(&run);
}

/* 64 characters pass, one more does not. */
static void long_ids_are_cut(void **state)
{
#define SIXTY_FOUR "0123456789012345678901234567890123456789012345678901234567890123"
    struct run run = translate(
        ACOG_SURFACE_CHAT, haiku(),
        "{'messages':[{'role':'user','content':'q'},{'role':'assistant','tool_calls':[" CALL(
            SIXTY_FOUR, "f", "{}") "," CALL(SIXTY_FOUR "4", "f",
                                            "{}") "]},"
                                                  "{'role':'tool','tool_call_id':'" SIXTY_FOUR
                                                  "','content':'1'},"
                                                  "{'role':'tool','tool_call_id':'" SIXTY_FOUR
                                                  "4','content':'2'}]}");
    struct acog_view sent = acog_buffer_view(&run.out);
    (void)state;
    assert_int_equal(run.code, ACOG_OK);
    assert_int_equal(occurrences(sent, ACOG_VIEW("\"" SIXTY_FOUR "\"")), 2);
    assert_int_equal(
        occurrences(sent, ACOG_VIEW("\"01234567890123456789012345678901234567890123456_")), 2);
    end(&run);
}

/* -- tools ----------------------------------------------------------------------------------------- */

/* B08, B09 */
static void every_choice_of_tools_has_its_form(void **state)
{
    static const struct {
        const char *more;
        const char *sent;
    } rows[] = {
        {",'tool_choice':'auto'", "{'type':'auto'}"},
        {",'tool_choice':'required'", "{'type':'any'}"},
        {",'tool_choice':'none'", "{'type':'none'}"},
        {",'tool_choice':{'type':'function','function':{'name':'f'}}",
         "{'type':'tool','name':'f'}"},
        {",'parallel_tool_calls':false", "{'type':'auto','disable_parallel_tool_use':true}"},
        {",'tool_choice':'required','parallel_tool_calls':false",
         "{'type':'any','disable_parallel_tool_use':true}"},
        {",'parallel_tool_calls':true", NULL},
        {",'tool_choice':'none','parallel_tool_calls':false", "{'type':'none'}"},
        {",'tool_choice':{'type':'function','function':{'name':'f'}},'parallel_tool_calls':false",
         "{'type':'tool','name':'f','disable_parallel_tool_use':true}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char more[512];
        (void)snprintf(more, sizeof(more), ",'tools':[" TOOL("f") "]%s", rows[i].more);
        struct run run = chat_with(haiku(), more);
        holds(&run, "tool_choice", rows[i].sent);
        end(&run);
    }
    struct run run = chat_with(haiku(), ",'tool_choice':'auto','parallel_tool_calls':false,"
                                        "'tools':[]");
    holds(&run, "tool_choice", NULL);
    holds(&run, "tools", NULL);
    end(&run);
    chat_is_refused(haiku(),
                    "{'messages':[{'role':'user','content':'x'}],'tools':[" TOOL(
                        "f") "],'tool_choice':{'type':'function','function':{'name':'missing'}}}",
                    "no tool is named \"missing\"");
}

static void schemas_have_the_type_that_anthropic_demands(void **state)
{
    struct run run = chat_with(
        haiku(), ",'tools':[{'type':'function','function':{'name':'a'}},{'type':'function',"
                 "'function':{'name':'b','description':'does \\'b\\'','parameters':{}}},{'type':"
                 "'function','function':{'name':'c','strict':true,'parameters':{'properties':{'n':"
                 "{'minimum':1.0}}}}}]");
    (void)state;
    holds(&run, "tools",
          "[{'name':'a','input_schema':{'type':'object'}},{'name':'b','description':"
          "'does \\'b\\'','input_schema':{'type':'object'}},{'name':'c','input_schema':{'type':"
          "'object','properties':{'n':{'minimum':1.0}}},'strict':true}]");
    end(&run);
    struct acog_model_rules older = haiku();
    older.schema = ACOG_SCHEMA_TOOL;
    run = chat_with(older, ",'tools':[{'type':'function','function':{'name':'c','strict':true,"
                           "'parameters':{'type':'object'}}}]");
    holds(&run, "tools", "[{'name':'c','input_schema':{'type':'object'}}]");
    drops(&run, "tools.strict");
    end(&run);
}

/* -- limits and sampling --------------------------------------------------------------------------- */

/* B10 */
static void there_is_always_a_limit(void **state)
{
    static const struct {
        const char *more;
        const char *sent;
        const char *dropped;
    } rows[] = {
        {",'max_completion_tokens':50", "50", ""},
        {",'max_tokens':60", "60", ""},
        {",'max_tokens':60,'max_completion_tokens':50", "50", ""},
        {"", "4096", ""},
        {",'max_tokens':100000", "64000", "max_tokens"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run run = chat_with(haiku(), rows[i].more);
        holds(&run, "max_tokens", rows[i].sent);
        drops(&run, rows[i].dropped);
        char told[24];
        (void)snprintf(told, sizeof(told), "%lld", (long long)run.translation.max_tokens);
        assert_string_equal(told, rows[i].sent);
        end(&run);
    }
}

/* B11 */
static void blank_stops_are_named_and_not_sent(void **state)
{
    static const struct {
        const char *stop;
        const char *sent;
        const char *dropped;
    } rows[] = {
        {"'END'", "['END']", ""}, {"['A','B']", "['A','B']", ""},
        {"null", NULL, ""},       {"['','\\n','END']", "['END']", "stop"},
        {"'\\n'", NULL, "stop"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char more[128];
        (void)snprintf(more, sizeof(more), ",'stop':%s", rows[i].stop);
        struct run run = chat_with(haiku(), more);
        holds(&run, "stop_sequences", rows[i].sent);
        drops(&run, rows[i].dropped);
        end(&run);
    }
}

/* B12 */
static void sampling_follows_the_models_rules(void **state)
{
    struct run run = chat_with(haiku(), ",'temperature':1.5");
    (void)state;
    holds(&run, "temperature", "1");
    drops(&run, "temperature");
    end(&run);
    run = chat_with(haiku(), ",'temperature':0.20,'seed':7");
    holds(&run, "temperature", "0.20");
    drops(&run, "seed");
    end(&run);
    run = chat_with(opus(), ",'temperature':0,'top_p':0.5");
    holds(&run, "temperature", NULL);
    holds(&run, "top_p", NULL);
    drops(&run, "temperature, top_p");
    end(&run);
    run = chat_with(opus(), ",'temperature':1");
    holds(&run, "temperature", NULL);
    drops(&run, "");
    end(&run);
}

static void temperature_and_top_p_are_not_sent_together(void **state)
{
    struct run run = chat_with(haiku(), ",'temperature':0.5,'top_p':0.9");
    (void)state;
    holds(&run, "temperature", "0.5");
    holds(&run, "top_p", NULL);
    drops(&run, "top_p");
    end(&run);
    run = chat_with(haiku(), ",'temperature':0.5,'top_p':1");
    holds(&run, "temperature", "0.5");
    holds(&run, "top_p", NULL);
    drops(&run, "");
    end(&run);
    run = chat_with(haiku(), ",'temperature':1,'top_p':0.9");
    holds(&run, "temperature", NULL);
    holds(&run, "top_p", "0.9");
    drops(&run, "");
    end(&run);
}

/* B23 */
static void fields_without_a_counterpart_are_named_or_refused(void **state)
{
    struct run run = chat_with(
        haiku(), ",'logprobs':true,'seed':7,'user':'pat@mail.example','service_tier':'flex'");
    (void)state;
    holds(&run, "metadata", NULL);
    holds(&run, "service_tier", NULL);
    assert_int_equal(occurrences(run.translation.dropped, ACOG_VIEW("logprobs")), 1);
    assert_int_equal(occurrences(run.translation.dropped, ACOG_VIEW("seed")), 1);
    assert_int_equal(occurrences(run.translation.dropped, ACOG_VIEW("user")), 1);
    assert_int_equal(occurrences(run.translation.dropped, ACOG_VIEW("service_tier")), 1);
    end(&run);
    run = chat_with(haiku(), ",'user':'u-17','service_tier':'auto'");
    holds(&run, "metadata", "{'user_id':'u-17'}");
    holds(&run, "service_tier", "'auto'");
    drops(&run, "");
    end(&run);
    chat_is_refused(haiku(), "{'n':2,'messages':[{'role':'user','content':'x'}]}", "n: must be 1");
}

/* B40 */
static void kept_state_is_refused(void **state)
{
    struct run run = translate(ACOG_SURFACE_RESPONSES, haiku(),
                               "{'previous_response_id':'resp_abc','input':'go on'}");
    (void)state;
    assert_int_equal(run.code, ACOG_INVALID);
    assert_non_null(strstr(run.problem.text, "previous_response_id"));
    end(&run);
}

/* -- thinking -------------------------------------------------------------------------------------- */

#define FORCED ",'tool_choice':'required','tools':[" TOOL("f") "]"

/* B22 */
static void a_budget_fits_below_the_limit_and_what_it_excludes_gives_way(void **state)
{
    struct run run =
        chat_with(haiku(), ",'max_completion_tokens':2000,'temperature':0.3,'reasoning_effort':"
                           "'high'" FORCED);
    (void)state;
    holds(&run, "thinking", "{'type':'enabled','budget_tokens':1499}");
    holds(&run, "max_tokens", "2000");
    holds(&run, "temperature", NULL);
    holds(&run, "tool_choice", NULL);
    drops(&run, "tool_choice, temperature");
    end(&run);
    run = chat_with(haiku(), ",'max_completion_tokens':800,'temperature':0.3,'reasoning_effort':"
                             "'high'" FORCED);
    holds(&run, "thinking", NULL);
    holds(&run, "temperature", "0.3");
    holds(&run, "tool_choice", "{'type':'any'}");
    drops(&run, "reasoning_effort");
    end(&run);
}

static void every_effort_has_its_budget(void **state)
{
    static const struct {
        const char *more;
        const char *thinking;
        const char *max_tokens;
    } rows[] = {
        {",'reasoning_effort':'minimal'", "{'type':'enabled','budget_tokens':1024}", "5120"},
        {",'reasoning_effort':'low'", "{'type':'enabled','budget_tokens':4096}", "8192"},
        {",'reasoning_effort':'medium'", "{'type':'enabled','budget_tokens':8192}", "12288"},
        {",'reasoning_effort':'high'", "{'type':'enabled','budget_tokens':16384}", "20480"},
        {",'reasoning_effort':'high','max_tokens':32000",
         "{'type':'enabled','budget_tokens':16384}", "32000"},
        {",'reasoning_effort':'low','max_tokens':1025", "{'type':'enabled','budget_tokens':1024}",
         "1025"},
        {",'reasoning_effort':'low','max_tokens':1024", NULL, "1024"},
        {",'reasoning_effort':'none'", NULL, "4096"},
        {"", NULL, "4096"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run run = chat_with(haiku(), rows[i].more);
        holds(&run, "thinking", rows[i].thinking);
        holds(&run, "max_tokens", rows[i].max_tokens);
        end(&run);
    }
}

static void what_thinking_excludes_gives_way(void **state)
{
    struct run run = chat_with(haiku(), ",'reasoning_effort':'low','top_p':0.5,'top_k':5");
    (void)state;
    holds(&run, "top_p", NULL);
    holds(&run, "top_k", NULL);
    drops(&run, "top_k, top_p");
    end(&run);
    run = chat_with(haiku(), ",'reasoning_effort':'low','top_p':0.97,'temperature':1");
    holds(&run, "top_p", "0.97");
    drops(&run, "");
    end(&run);
    run = chat_with(opus(), ",'reasoning_effort':'low','temperature':0.5");
    holds(&run, "temperature", NULL);
    end(&run);
}

static void a_budget_that_the_client_names_is_kept_or_becomes_a_word(void **state)
{
#define WITH_BUDGET(tokens)                                                                   \
    "{'max_tokens':9000,'thinking':{'type':'enabled','budget_tokens':" tokens "},'messages':" \
    "[{'role':'user','content':'x'}]}"
    struct run run = translate(ACOG_SURFACE_MESSAGES, haiku(), WITH_BUDGET("8999"));
    (void)state;
    holds(&run, "thinking", "{'type':'enabled','budget_tokens':8999}");
    end(&run);
    run = translate(ACOG_SURFACE_MESSAGES, haiku(), WITH_BUDGET("7"));
    holds(&run, "thinking", "{'type':'enabled','budget_tokens':1024}");
    end(&run);
    run = translate(ACOG_SURFACE_MESSAGES, opus(), WITH_BUDGET("8192"));
    holds(&run, "thinking", "{'type':'adaptive','display':'summarized'}");
    holds(&run, "output_config", "{'effort':'medium'}");
    end(&run);
}

static void a_model_whose_largest_answer_is_not_known_gets_what_was_asked(void **state)
{
    struct run run = chat_with(opus(), ",'max_tokens':9223372036854775807");
    (void)state;
    holds(&run, "max_tokens", "9223372036854775807");
    end(&run);
    struct acog_model_rules rules = haiku();
    rules.largest_output_tokens = -1;
    run = chat_with(rules, ",'max_tokens':9223372036854775807,'reasoning_effort':'low'");
    holds(&run, "thinking", "{'type':'enabled','budget_tokens':4096}");
    end(&run);
}

/* Anthropic demands the thinking of a running tool loop; a turn that ended asks for nothing. */
static void a_tool_loop_without_its_thinking_is_continued_without(void **state)
{
    static const char *const loops[] = {
        "{'role':'user','content':'a'},{'role':'assistant','content':null,'tool_calls':[" CALL(
            "c", "f", "{}") "]},{'role':'tool','tool_call_id':'c','content':'1'}",
        "{'role':'user','content':'a'},{'role':'assistant','content':null,'tool_calls':[" CALL(
            "c", "f", "{}") "]},{'role':'tool','tool_call_id':'c','content':'1'},"
                            "{'role':'assistant','content':'done'},{'role':'user','content':'b'}",
        "{'role':'user','content':'a'},{'role':'assistant','content':null,'tool_calls':[" CALL(
            "c", "f",
            "{}") "],'reasoning_details':[{'type':'reasoning.text','text':'hm',"
                  "'signature':'acog.messages..c2ln','index':0}]},{'role':'tool','tool_call_id':'c',"
                  "'content':'1'}",
        "{'role':'user','content':'a'},{'role':'assistant','content':'I begin'}",
    };
    static const bool thinks[] = {false, true, true, false};
    (void)state;
    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
        char body[2048];
        (void)snprintf(body, sizeof(body), "{'reasoning_effort':'low','messages':[%s]}", loops[i]);
        struct run run = translate(ACOG_SURFACE_CHAT, haiku(), body);
        holds(&run, "thinking", thinks[i] ? "{'type':'enabled','budget_tokens':4096}" : NULL);
        drops(&run, thinks[i] ? "" : "reasoning_effort");
        end(&run);
    }
}

static void an_adaptive_model_gets_an_effort(void **state)
{
    struct run run = chat_with(opus(), ",'reasoning_effort':'xhigh'");
    (void)state;
    holds(&run, "thinking", "{'type':'adaptive'}");
    holds(&run, "output_config", "{'effort':'high'}");
    end(&run);
    run = chat_with(opus(), ",'reasoning_effort':'minimal'" FORCED);
    holds(&run, "thinking", NULL);
    holds(&run, "output_config", "{'effort':'low'}");
    holds(&run, "tool_choice", "{'type':'any'}");
    end(&run);
    run = translate(ACOG_SURFACE_RESPONSES, opus(),
                    "{'input':'x','reasoning':{'effort':'medium','summary':'auto'}}");
    holds(&run, "thinking", "{'type':'adaptive','display':'summarized'}");
    holds(&run, "output_config", "{'effort':'medium'}");
    end(&run);
}

static void a_model_that_cannot_think_is_not_asked_to(void **state)
{
    struct acog_model_rules rules = haiku();
    (void)state;
    rules.thinking = ACOG_THINKING_NONE;
    struct run run = chat_with(rules, ",'reasoning_effort':'low'");
    holds(&run, "thinking", NULL);
    drops(&run, "reasoning_effort");
    end(&run);
}

/* -- a format -------------------------------------------------------------------------------------- */

#define SCHEMA "{'type':'object','properties':{'age':{'type':'integer'}}}"
#define FORMAT                                                                                          \
    ",'response_format':{'type':'json_schema','json_schema':{'name':'p','strict':true,'schema':" SCHEMA \
    "}}"

/* B20 */
static void a_schema_is_native_or_one_forced_tool(void **state)
{
    struct run run = chat_with(haiku(), FORMAT);
    (void)state;
    holds(&run, "output_config", "{'format':{'type':'json_schema','schema':" SCHEMA "}}");
    holds(&run, "tools", NULL);
    assert_false(run.translation.schema_by_tool);
    end(&run);
    struct acog_model_rules older = haiku();
    older.schema = ACOG_SCHEMA_TOOL;
    run = chat_with(older, FORMAT);
    holds(&run, "output_config", NULL);
    holds(&run, "tools", "[{'name':'structured_answer','input_schema':" SCHEMA "}]");
    holds(&run, "tool_choice",
          "{'type':'tool','name':'structured_answer','disable_parallel_tool_use':true}");
    assert_true(run.translation.schema_by_tool);
    end(&run);
    run = chat_with(haiku(), ",'response_format':{'type':'json_object'}");
    holds(&run, "tools", "[{'name':'structured_answer','input_schema':{'type':'object'}}]");
    assert_true(run.translation.schema_by_tool);
    end(&run);
    run = chat_with(older, FORMAT ",'reasoning_effort':'low'");
    holds(&run, "thinking", NULL);
    drops(&run, "reasoning_effort");
    end(&run);
}

/* Decision 14: a schema that cannot be enforced */
static void a_format_that_cannot_be_held_is_refused(void **state)
{
    struct acog_model_rules older = haiku();
    struct acog_model_rules none = haiku();
    (void)state;
    older.schema = ACOG_SCHEMA_TOOL;
    none.schema = ACOG_SCHEMA_NONE;
    chat_is_refused(
        older, "{'messages':[{'role':'user','content':'x'}],'tools':[" TOOL("f") "]" FORMAT "}",
        "while it has tools");
    chat_is_refused(none, "{'messages':[{'role':'user','content':'x'}]" FORMAT "}",
                    "cannot be held to a format");
    chat_is_refused(older,
                    "{'messages':[{'role':'user','content':'x'}],'response_format':{'type':"
                    "'json_schema','json_schema':{'name':'p','schema':{'anyOf':[]}}}}",
                    "must be of type object");
}

static void effort_and_format_share_an_object(void **state)
{
    struct run run = chat_with(opus(), ",'reasoning_effort':'low'" FORMAT);
    (void)state;
    holds(&run, "output_config",
          "{'effort':'low','format':{'type':'json_schema','schema':" SCHEMA "}}");
    end(&run);
}

static void a_plain_request_is_a_plain_request(void **state)
{
    struct run run = chat_with(haiku(), "");
    char *wanted = with_quotes("{'model':'claude-x','max_tokens':4096,'messages':[{'role':'user',"
                               "'content':[{'type':'text','text':'x'}]}]}");
    (void)state;
    assert_true(acog_view_equal(acog_buffer_view(&run.out), acog_view_of(wanted)));
    free(wanted);
    end(&run);
}

/* -- memory ---------------------------------------------------------------------------------------- */

static void tell(void *user)
{
    const struct acog_conversation *conversation = NULL;
    struct acog_model_rules rules = haiku();
    struct acog_translation translation = {
        .upstream = ACOG_DIALECT_MESSAGES, .rules = &rules, .model = {"m", 1}, .max_tokens = -1};
    struct acog_request_problem problem;
    struct acog_arena arena;
    struct acog_buffer out;
    acog_arena_init(&arena, (size_t)1 << 20U);
    acog_buffer_init(&out, BODY_BYTES_MAX);
    enum acog_code code = acog_conversation_read(ACOG_SURFACE_MESSAGES, acog_view_of(user), &arena,
                                                 &conversation, &problem);
    if (code == ACOG_OK) {
        code = acog_conversation_write(conversation, &translation, &arena, &out);
    }
    assert_int_equal(code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    acog_buffer_fini(&out);
    acog_arena_fini(&arena);
}

static void each_allocation_may_fail(void **state)
{
    char turns[4096] = "";
    char body[8192];
    (void)state;
    for (int i = 0; i < 12; i++) { /* enough parts that the arena takes several blocks */
        (void)snprintf(turns + strlen(turns), sizeof(turns) - strlen(turns),
                       ",{'role':'assistant','content':[{'type':'redacted_thinking','data':"
                       "'acog.gemini.c.s'},{'type':'tool_use','id':'c.\\u0031','name':'f','input':"
                       "{}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'c.1',"
                       "'content':'r'}]}");
    }
    (void)snprintf(body, sizeof(body),
                   "{'max_tokens':9,'stop_sequences':['a'],'tools':[{'name':'f','x':1}],"
                   "'messages':[{'role':'user','content':'q'}%s]}",
                   turns);
    char *quoted = with_quotes(body);
    assert_true(memory_sweep(tell, quoted, 1) > 2);
    free(quoted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_of_parallel_calls_are_one_turn),
        cmocka_unit_test(what_follows_the_results_stands_behind_them),
        cmocka_unit_test(empty_texts_and_arguments_are_nothing),
        cmocka_unit_test(a_blank_turn_goes_and_its_neighbours_are_one),
        cmocka_unit_test(system_turns_stay_in_their_place),
        cmocka_unit_test(images_are_sent_byte_for_byte),
        cmocka_unit_test(files_are_documents),
        cmocka_unit_test(cache_markers_arrive_at_their_places),
        cmocka_unit_test(cache_markers_are_the_clients_own),
        cmocka_unit_test(consecutive_items_are_one_turn_and_foreign_reasoning_goes),
        cmocka_unit_test(thinking_that_anthropic_signed_is_sent_unchanged),
        cmocka_unit_test(a_turn_of_foreign_reasoning_alone_leaves_nothing),
        cmocka_unit_test(a_conversation_begins_with_the_user),
        cmocka_unit_test(ids_that_anthropic_refuses_are_mapped),
        cmocka_unit_test(every_choice_of_tools_has_its_form),
        cmocka_unit_test(schemas_have_the_type_that_anthropic_demands),
        cmocka_unit_test(there_is_always_a_limit),
        cmocka_unit_test(blank_stops_are_named_and_not_sent),
        cmocka_unit_test(sampling_follows_the_models_rules),
        cmocka_unit_test(temperature_and_top_p_are_not_sent_together),
        cmocka_unit_test(fields_without_a_counterpart_are_named_or_refused),
        cmocka_unit_test(kept_state_is_refused),
        cmocka_unit_test(a_budget_fits_below_the_limit_and_what_it_excludes_gives_way),
        cmocka_unit_test(every_effort_has_its_budget),
        cmocka_unit_test(a_tool_loop_without_its_thinking_is_continued_without),
        cmocka_unit_test(an_adaptive_model_gets_an_effort),
        cmocka_unit_test(a_model_that_cannot_think_is_not_asked_to),
        cmocka_unit_test(a_schema_is_native_or_one_forced_tool),
        cmocka_unit_test(a_format_that_cannot_be_held_is_refused),
        cmocka_unit_test(effort_and_format_share_an_object),
        cmocka_unit_test(an_error_stays_an_error_and_an_empty_signature_is_none),
        cmocka_unit_test(a_stream_is_asked_for_where_one_is_wanted),
        cmocka_unit_test(how_closely_an_image_is_looked_at_is_named),
        cmocka_unit_test(a_file_of_another_provider_is_refused_in_a_result_too),
        cmocka_unit_test(long_ids_are_cut),
        cmocka_unit_test(what_thinking_excludes_gives_way),
        cmocka_unit_test(a_budget_that_the_client_names_is_kept_or_becomes_a_word),
        cmocka_unit_test(a_model_whose_largest_answer_is_not_known_gets_what_was_asked),
        cmocka_unit_test(a_plain_request_is_a_plain_request),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
