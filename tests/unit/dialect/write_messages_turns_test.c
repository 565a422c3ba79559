/* write_messages_turns_test.c - the turns that are sent to Anthropic for requests of the other dialects. */
#include "messages_request.h"
#include "tests/support/check.h"

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

/* Also where the model takes system turns: not this one, which a turn of the user follows. */
static void system_turns_stay_in_their_place(void **state)
{
    const struct acog_model_rules rules[] = {haiku(), opus()};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct run run = translate(ACOG_SURFACE_CHAT, rules[i], "{'messages':[" SYSTEMS "]}");
        holds(&run, "system",
              "[{'type':'text','text':'Answer in French'},{'type':'text','text':'Be brief',"
              "'cache_control':{'type':'ephemeral'}}]");
        holds(&run, "messages",
              "[{'role':'user','content':[{'type':'text','text':'hello'}]},{'role':'assistant',"
              "'content':[{'type':'text','text':'bonjour'}]},{'role':'user','content':[{'type':"
              "'text','text':'<system>From now on use German</system>'},{'type':'text','text':"
              "'and now?'}]}]");
        drops(&run, "messages.role");
        end(&run);
    }
}

#define SYSTEM_S "{'role':'system','content':'S'}"
#define SENT_S   "{'role':'system','content':[{'type':'text','text':'S'}]}"

/* Anthropic: behind a turn of the user, and before one of the assistant or at the end; anything else is a 400. */
static void a_system_turn_is_one_where_anthropic_takes_it(void **state)
{
    (void)state;
    chat_says(opus(), "{'role':'user','content':'a'}," SYSTEM_S "," SYSTEM_S,
              "[{'role':'user','content':[{'type':'text','text':'a'}]},{'role':'system','content':["
              "{'type':'text','text':'S'},{'type':'text','text':'S'}]}]");
    chat_says(opus(),
              "{'role':'user','content':'a'}," SYSTEM_S ",{'role':'assistant','content':'b'},"
              "{'role':'user','content':'c'}",
              "[{'role':'user','content':[{'type':'text','text':'a'}]}," SENT_S
              ",{'role':'assistant','content':[{'type':'text','text':'b'}]},{'role':'user',"
              "'content':[{'type':'text','text':'c'}]}]");
    chat_says(opus(), "{'role':'user','content':'a'},{'role':'assistant','content':'b'}," SYSTEM_S,
              "[{'role':'user','content':[{'type':'text','text':'a'}]},{'role':'assistant',"
              "'content':[{'type':'text','text':'b'}]},{'role':'user','content':[{'type':'text',"
              "'text':'<system>S</system>'}]}]");
    chat_says(opus(), "{'role':'user','content':'a'}," SYSTEM_S ",{'role':'user','content':'b'}",
              "[{'role':'user','content':[{'type':'text','text':'a'},{'type':'text','text':"
              "'<system>S</system>'},{'type':'text','text':'b'}]}]");
}

/* Of the turn between them nothing is sent. */
static void a_system_turn_before_foreign_reasoning_is_before_the_user(void **state)
{
    struct run run =
        translate(ACOG_SURFACE_RESPONSES, opus(),
                  "{'input':[{'role':'user','content':'a'}," SYSTEM_S
                  ",{'type':'reasoning','id':'rs_1','summary':[],'encrypted_content':'b3'},"
                  "{'role':'user','content':'b'}]}");
    (void)state;
    holds(&run, "messages",
          "[{'role':'user','content':[{'type':'text','text':'a'},{'type':'text','text':"
          "'<system>S</system>'},{'type':'text','text':'b'}]}]");
    end(&run);
}

/* A conversation that a system turn begins is a 400 at Anthropic, also where the model takes one later. */
static void system_words_alone_are_the_users(void **state)
{
    (void)state;
    const struct acog_model_rules rules[] = {haiku(), opus()};
    for (size_t i = 0; i < 2; i++) {
        chat_says(rules[i], "{'role':'system','content':'sum up'},{'role':'system','content':'b'}",
                  "[{'role':'user','content':[{'type':'text','text':'<system>sum up</system>'},"
                  "{'type':'text','text':'<system>b</system>'}]}]");
    }
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
                    "must be a PNG, JPEG, GIF or WebP image, a PDF");
    chat_is_refused(haiku(),
                    "{'messages':[{'role':'user','content':[{'type':'image_url','image_url':{'url':"
                    "'data:image/bmp;base64,Qk0='}}]}]}",
                    "must be a PNG, JPEG, GIF or WebP image");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_of_parallel_calls_are_one_turn),
        cmocka_unit_test(what_follows_the_results_stands_behind_them),
        cmocka_unit_test(empty_texts_and_arguments_are_nothing),
        cmocka_unit_test(a_blank_turn_goes_and_its_neighbours_are_one),
        cmocka_unit_test(system_turns_stay_in_their_place),
        cmocka_unit_test(a_system_turn_is_one_where_anthropic_takes_it),
        cmocka_unit_test(a_system_turn_before_foreign_reasoning_is_before_the_user),
        cmocka_unit_test(system_words_alone_are_the_users),
        cmocka_unit_test(images_are_sent_byte_for_byte),
        cmocka_unit_test(files_are_documents),
        cmocka_unit_test(cache_markers_arrive_at_their_places),
        cmocka_unit_test(cache_markers_are_the_clients_own),
        cmocka_unit_test(consecutive_items_are_one_turn_and_foreign_reasoning_goes),
        cmocka_unit_test(thinking_that_anthropic_signed_is_sent_unchanged),
        cmocka_unit_test(a_turn_of_foreign_reasoning_alone_leaves_nothing),
        cmocka_unit_test(a_conversation_begins_with_the_user),
        cmocka_unit_test(ids_that_anthropic_refuses_are_mapped),
        cmocka_unit_test(an_error_stays_an_error_and_an_empty_signature_is_none),
        cmocka_unit_test(a_stream_is_asked_for_where_one_is_wanted),
        cmocka_unit_test(how_closely_an_image_is_looked_at_is_named),
        cmocka_unit_test(a_file_of_another_provider_is_refused_in_a_result_too),
        cmocka_unit_test(long_ids_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
