/* write_chat_turns_test.c - the turns of conversations as messages of chat/completions. */
#include "tests/unit/dialect/chat_written.h"

/* B25 */
static void results_stand_before_what_the_user_adds(void **state)
{
    (void)state;
    messages_as(
        AN(TURNS(USER("\"go\"") "," ASSISTANT("[" TEXT(
            "checking") ",{\"type\":\"tool_use\",\"id\":\"u1\",\"name\":\"f\",\"input\":{"
                        "\"k\":1}}]") "," USER("[{\"type\":\"tool_result\",\"tool_use_id\":"
                                               "\"u1\",\"is_error\":true,\"content\":[" TEXT("disk full") "," TEXT(
                                                   "try /tmp") "]}"
                                                               "," TEXT("use another path") "]"))),
        OUT("{\"role\":\"user\",\"content\":\"go\"},"
            "{\"role\":\"assistant\",\"content\":\"checking\",\"tool_calls\":[{\"id\":\"u1\",\"type\":"
            "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"k\\\":1}\"}}]},"
            "{\"role\":\"tool\",\"tool_call_id\":\"u1\",\"content\":[" TEXT(
                "Error: disk full") ","
                                    "" TEXT(
                                        "try /tmp") "]},"
                                                    "{\"role\":\"user\",\"content\":\"use another path\"}"));
}

#define RESULT_TURNS(members)                                                                  \
    TURNS(USER("\"go\"") "," ASSISTANT(                                                        \
        "[{\"type\":\"tool_use\",\"id\":\"u1\",\"name\":\"f\","                                \
        "\"input\":{}}]") "," USER("[{\"type\":\"tool_result\",\"tool_use_id\":\"u1\"" members \
                                   "}]"))
#define RESULT_OUT(content, more)                                                                  \
    OUT("{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":null,"         \
        "\"tool_calls\":[{\"id\":\"u1\",\"type\":\"function\",\"function\":{\"name\":\"f\","       \
        "\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"u1\",\"content\":" content \
        "}" more)

static void a_result_is_its_text_or_says_that_it_failed(void **state)
{
    (void)state;
    messages_as(AN(RESULT_TURNS("")), RESULT_OUT("\"\"", ""));
    messages_as(AN(RESULT_TURNS(",\"content\":\"9 mm\"")), RESULT_OUT("\"9 mm\"", ""));
    messages_as(AN(RESULT_TURNS(",\"is_error\":true")), RESULT_OUT("\"Error: \"", ""));
    messages_as(AN(RESULT_TURNS(",\"is_error\":true,\"content\":\"no disk\"")),
                RESULT_OUT("\"Error: no disk\"", ""));
}

/* Chat's tool messages hold texts only. */
static void images_inside_results_follow_in_a_users_message(void **state)
{
    (void)state;
    messages_as(AN(RESULT_TURNS(",\"content\":[" TEXT("here") "," IMAGE "]")),
                RESULT_OUT("\"here\"", ",{\"role\":\"user\",\"content\":[" IMAGE_OUT "]}"));
    messages_as(AN(RESULT_TURNS(",\"content\":[" IMAGE "]}," TEXT("well?") ",{\"type\":\"text\","
                                                                           "\"text\":\"so?\"")),
                RESULT_OUT("\"\"", ",{\"role\":\"user\",\"content\":[" IMAGE_OUT
                                   "," TEXT("well?") "," TEXT("so?") "]}"));
}

static void a_text_document_inside_a_result_stays_there(void **state)
{
    (void)state;
    messages_as(
        AN(RESULT_TURNS(",\"content\":[{\"type\":\"document\",\"title\":\"T\",\"source\":{"
                        "\"type\":\"text\",\"media_type\":\"text/plain\",\"data\":\"a\"}}]")),
        RESULT_OUT("[" TEXT("T") "," TEXT("a") "]", ""));
}

static void media_have_their_forms(void **state)
{
    (void)state;
    messages_as(
        AN(TURNS(USER("[" IMAGE ",{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":"
                      "\"https://img.example/x.webp?sig=a%2Bb\"}},"
                      "{\"type\":\"document\",\"title\":\"T\",\"source\":{\"type\":\"base64\","
                      "\"media_type\":\"application/pdf\",\"data\":\"JVBERi0=\"}},"
                      "{\"type\":\"document\",\"source\":{\"type\":\"text\",\"media_type\":"
                      "\"text/plain\",\"data\":\"pl\\u0061in\"}}]"))),
        OUT("{\"role\":\"user\",\"content\":[" IMAGE_OUT ",{\"type\":\"image_url\",\"image_url\":{"
            "\"url\":\"https://img.example/x.webp?sig=a%2Bb\"}},"
            "{\"type\":\"file\",\"file\":{\"filename\":\"T\",\"file_data\":"
            "\"data:application/pdf;base64,JVBERi0=\"}}," TEXT("pl\\u0061in") "]}"));
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_CHAT,
               AN(TURNS(USER("[{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"UklG\","
                             "\"format\":\"wav\"}},{\"type\":\"image_url\",\"image_url\":{\"url\":"
                             "\"https://img.example/a.png\",\"detail\":\"low\"}}]"))));
    has(&written,
        "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"UklG\",\"format\":\"wav\"}}");
    has(&written, "{\"url\":\"https://img.example/a.png\",\"detail\":\"low\"}");
    forget(&written);
}

static void what_has_no_form_is_refused(void **state)
{
    (void)state;
    refused(ACOG_SURFACE_MESSAGES, NULL,
            AN(TURNS(USER("[{\"type\":\"document\",\"source\":{\"type\":\"url\",\"url\":"
                          "\"https://a.example/b.pdf\"}}]"))),
            "a document by its address");
    refused(ACOG_SURFACE_MESSAGES, NULL,
            AN(RESULT_TURNS(",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"file\","
                            "\"file_id\":\"file_1\"}}]")),
            "uploaded to another provider");
    refused(ACOG_SURFACE_CHAT, NULL,
            AN(TURNS(USER("[{\"type\":\"video_url\",\"video_url\":{\"url\":"
                          "\"https://a.example/b.mp4\"}}]"))),
            "a video cannot be sent");
    refused(ACOG_SURFACE_CHAT, NULL,
            AN(TURNS(USER("[{\"type\":\"file\",\"file\":{\"filename\":\"a.mp3\",\"file_data\":"
                          "\"https://a.example/a.mp3\"}}]"))),
            "audio can be sent to this model only");
}

/* B28: neither the plan nor the opaque data, anywhere. */
static void reasoning_of_another_maker_is_left_out(void **state)
{
    (void)state;
    messages_as(
        AN(TURNS(USER("\"q\"") "," ASSISTANT(
            "[{\"type\":\"thinking\",\"thinking\":\"secret plan\",\"signature\":\"c2ln\"},"
            "{\"type\":\"redacted_thinking\",\"data\":\"ZGF0YQ==\"}," TEXT(
                "Answer") "]") "," USER("\"next\""))),
        OUT("{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"Answer\"},"
            "{\"role\":\"user\",\"content\":\"next\"}"));
}

/* Plain reasoning goes back while the tool loop runs, under the name that it came by, and not after it. */
static void plain_reasoning_goes_back_while_the_loop_runs(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES,
               AN(TURNS(USER("\"q\"") "," THINKS_AND_CALLS("reasoning_content"))));
    has(&written,
        "\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"plan\",\"tool_calls\"");
    forget(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES,
               AN(TURNS(USER("\"q\"") "," THINKS_AND_CALLS("reasoning_content") "," ASSISTANT(
                   "\"a\"") "," USER("\"next\""))));
    has_not(&written, "plan");
    forget(&written);
}

/* What a provider of chat signed goes back as it came; only a JSON object gets into the body. */
static void signed_entries_go_back_to_chat(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(
        &written, ACOG_SURFACE_MESSAGES,
        AN(TURNS(USER("\"q\"") "," THINKS_AND_CALLS(
            "{\\\"type\\\":\\\"reasoning.text\\\",\\\"signature\\\":\\\"s\\\",\\\"index\\\":0}"))));
    has(&written, "\"reasoning_details\":[{\"text\":\"plan\",\"type\":\"reasoning.text\","
                  "\"signature\":\"s\",\"index\":0}]");
    forget(&written);
    is_carried(
        &written, ACOG_SURFACE_MESSAGES,
        AN(TURNS(USER("\"q\"") "," THINKS_AND_CALLS("{\\\"a\\\":1}],\\\"model\\\":\\\"x\\\"}"))));
    has_not(&written, "reasoning_details");
    has_not(&written, "plan");
    forget(&written);
}

static void system_texts_come_first_and_later_ones_in_place(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(
        &written, ACOG_SURFACE_CHAT,
        AN(TURNS("{\"role\":\"developer\",\"content\":\"a\"},"
                 "{\"role\":\"system\",\"content\":\"b\"}," USER("\"hi\"") "," ASSISTANT(
                     "\"yes\"") ",{\"role\":\"system\",\"content\":\"c\"}," USER("\"go\""))));
    has(&written,
        "\"messages\":[{\"role\":\"system\",\"content\":[" TEXT("a") "," TEXT(
            "b") "]},"
                 "{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"yes\"},"
                 "{\"role\":\"system\",\"content\":\"c\"},{\"role\":\"user\",\"content\":\"go\"}]");
    forget(&written);
    messages_as(
        AN("\"system\":\"Be brief\"," HI),
        OUT("{\"role\":\"system\",\"content\":\"Be brief\"},{\"role\":\"user\",\"content\":\"hi\"}"));
}

static void refusals_stand_beside_the_content(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(
        &written, ACOG_SURFACE_CHAT,
        AN(TURNS(
            USER("\"hi\"") ",{\"role\":\"assistant\",\"content\":null,\"refusal\":\"no\"}," USER(
                "\"why\""))));
    has(&written, "{\"role\":\"assistant\",\"content\":null,\"refusal\":\"no\"}");
    forget(&written);
}

/* OpenAI refuses longer ids than of 40 characters. */
static void a_call_id_that_is_too_long_is_cut_alike_in_call_and_result(void **state)
{
    (void)state;
    struct written written;
#define LONG_ID "toolu_0123456789012345678901234567890123456"
    start(&written);
    is_carried(
        &written, ACOG_SURFACE_MESSAGES,
        AN(TURNS(USER("\"go\"") "," ASSISTANT(
            "[{\"type\":\"tool_use\",\"id\":\"" LONG_ID "\",\"name\":\"f\","
            "\"input\":{}}]") "," USER("[{\"type\":\"tool_result\",\"tool_use_id\":\"" LONG_ID
                                       "\",\"content\":\"ok\"}]"))));
    has(&written, "\"tool_calls\":[{\"id\":\"toolu_01234567890123456_");
    has(&written, "\"tool_call_id\":\"toolu_01234567890123456_");
    struct acog_view out = acog_buffer_view(&written.out);
    size_t call = acog_view_find(out, ACOG_VIEW("toolu_"));
    struct acog_view id = acog_view_slice(out, call, call + 40);
    struct acog_view rest = acog_view_slice(out, call + 40, out.len);
    assert_int_equal(rest.ptr[0], '"');
    assert_true(acog_view_find(rest, id) < rest.len);
    forget(&written);
}

/* B33: calls that stand one behind the other are one assistant's message, with its text. */
static void neighbouring_calls_are_one_message(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(
        &written, ACOG_SURFACE_RESPONSES,
        "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"two cities\"},"
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\","
        "\"text\":\"looking\",\"annotations\":[]}]},"
        "{\"type\":\"function_call\",\"call_id\":\"f1\",\"name\":\"w\",\"arguments\":\"{}\"},"
        "{\"type\":\"function_call\",\"call_id\":\"f2\",\"name\":\"w\",\"arguments\":\"{}\"},"
        "{\"type\":\"function_call_output\",\"call_id\":\"f1\",\"output\":\"sun\"},"
        "{\"type\":\"function_call_output\",\"call_id\":\"f2\",\"output\":\"rain\"}]}");
#define W(id) \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"w\",\"arguments\":\"{}\"}}"
    has(&written, "{\"role\":\"assistant\",\"content\":\"looking\",\"tool_calls\":[" W("f1") "," W(
                      "f2") "]},"
                            "{\"role\":\"tool\",\"tool_call_id\":\"f1\",\"content\":\"sun\"},"
                            "{\"role\":\"tool\",\"tool_call_id\":\"f2\",\"content\":\"rain\"}]");
    forget(&written);
}

/* B32: what another provider's tools found is in no other dialect. */
static void what_server_tools_found_is_refused(void **state)
{
    (void)state;
    refused(ACOG_SURFACE_MESSAGES, NULL,
            AN(TURNS(USER("\"q\"") "," ASSISTANT("[" TEXT(
                "a") ",{\"type\":\"server_tool_use\",\"id\":\"s1\",\"name\":\"web_search\","
                     "\"input\":{}},{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"s1\","
                     "\"content\":[]}]") "," USER("\"next\""))),
            "only another provider");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_stand_before_what_the_user_adds),
        cmocka_unit_test(a_result_is_its_text_or_says_that_it_failed),
        cmocka_unit_test(images_inside_results_follow_in_a_users_message),
        cmocka_unit_test(a_text_document_inside_a_result_stays_there),
        cmocka_unit_test(media_have_their_forms),
        cmocka_unit_test(what_has_no_form_is_refused),
        cmocka_unit_test(reasoning_of_another_maker_is_left_out),
        cmocka_unit_test(plain_reasoning_goes_back_while_the_loop_runs),
        cmocka_unit_test(signed_entries_go_back_to_chat),
        cmocka_unit_test(system_texts_come_first_and_later_ones_in_place),
        cmocka_unit_test(refusals_stand_beside_the_content),
        cmocka_unit_test(a_call_id_that_is_too_long_is_cut_alike_in_call_and_result),
        cmocka_unit_test(neighbouring_calls_are_one_message),
        cmocka_unit_test(what_server_tools_found_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
