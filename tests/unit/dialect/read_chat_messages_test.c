/* read_chat_messages_test.c - the messages of a chat request as turns, and what an assistant thought. */
#include "chat_body.h"

/* -- messages -------------------------------------------------------------------------------------- */

/* B01 */
static void results_of_parallel_calls_are_one_user_turn(void **state)
{
    (void)state;
    shown_as(
        show_conversation,
        MESSAGES(
            HI "," ASSISTANT_CALLS(CALL("call_a", "rain", "{\\\"city\\\":\\\"Oslo\\\"}") "," CALL(
                "call_b", "rain", "{}")) "," TOOL("call_b", "9 mm") "," TOOL("call_a", "2 mm")),
        "user text \"hi\"\n"
        "assistant call \"call_a\" \"rain\" {\"city\":\"Oslo\"}\n"
        "assistant call \"call_b\" \"rain\" {}\n"
        "user result \"call_b\"\n. text \"9 mm\"\n"
        "user result \"call_a\"\n. text \"2 mm\"\n");
}

/* B02 */
static void what_the_user_adds_stands_behind_the_results(void **state)
{
    (void)state;
    shown_as(
        show_conversation,
        MESSAGES(HI "," ASSISTANT_CALLS(CALL("c1", "sum", "{}")) "," TOOL(
            "c1",
            "1") ","
                 "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"and this?\"},"
                 "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://img.example/c.png\"}}]}"),
        "user text \"hi\"\n"
        "assistant call \"c1\" \"sum\" {}\n"
        "user result \"c1\"\n. text \"1\"\n"
        "user text \"and this?\"\n"
        "user image url  \"https://img.example/c.png\"\n");
}

/* B04 */
static void empty_texts_beside_calls_are_no_texts(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI ",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" CALL(
                 "t1", "now", "{}") "]}," TOOL("t1", "")),
             "user text \"hi\"\nassistant call \"t1\" \"now\" {}\nuser result \"t1\"\n");
    shown_as(
        show_conversation,
        MESSAGES(
            HI
            ",{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"\"}],"
            "\"tool_calls\":[" CALL(
                "t1", "now",
                "{}") "]},"
                      "{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"content\":[{\"type\":\"text\","
                      "\"text\":\"\"}]}"),
        "user text \"hi\"\nassistant call \"t1\" \"now\" {}\nuser result \"t1\"\n");
}

/* B05 */
static void a_turn_of_white_space_goes_and_its_neighbours_meet(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\","
                      "\"cache_control\":{\"type\":\"ephemeral\"}},"
                      "{\"type\":\"text\",\"text\":\"real\"}]},"
                      "{\"role\":\"assistant\",\"content\":\" \\n\"},"
                      "{\"role\":\"user\",\"content\":\"go on\"}"),
             "user text \"real\"\nuser text \"go on\"\n");
}

/* B06 */
static void a_call_without_arguments_has_an_empty_object(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI "," ASSISTANT_CALLS(CALL("n1", "now", "")) "," TOOL("n1", "12:00")),
             "user text \"hi\"\nassistant call \"n1\" \"now\" {}\n"
             "user result \"n1\"\n. text \"12:00\"\n");
    shown_as(show_conversation,
             MESSAGES(HI "," ASSISTANT_CALLS("{\"id\":\"n1\",\"type\":\"function\",\"function\":{"
                                             "\"name\":\"now\"}}")),
             "user text \"hi\"\nassistant call \"n1\" \"now\" {}\n");
}

static void null_for_arguments_is_no_arguments(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI "," ASSISTANT_CALLS(CALL("n1", "now", "null")) "," TOOL("n1", "12:00")),
             "user text \"hi\"\nassistant call \"n1\" \"now\" {}\n"
             "user result \"n1\"\n. text \"12:00\"\n");
}

static void arguments_as_an_object_are_taken_as_they_are(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI "," ASSISTANT_CALLS("{\"id\":\"n1\",\"type\":\"function\",\"function\":{"
                                             "\"name\":\"f\",\"arguments\":{\"a\": 0.10}}}")),
             "user text \"hi\"\nassistant call \"n1\" \"f\" {\"a\": 0.10}\n");
}

/* B14, B18 */
static void
leading_system_and_developer_texts_keep_their_order_and_later_ones_their_place(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES("{\"role\":\"developer\",\"content\":\"Answer in French\"},"
                      "{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"Be brief\","
                      "\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}]}," HI ","
                      "{\"role\":\"assistant\",\"content\":\"bonjour\"},"
                      "{\"role\":\"system\",\"content\":\"From now on German\"},"
                      "{\"role\":\"user\",\"content\":\"and now?\"}"),
             "system text \"Answer in French\"\n"
             "system text \"Be brief\" cache {\"type\":\"ephemeral\",\"ttl\":\"1h\"}\n"
             "user text \"hi\"\n"
             "assistant text \"bonjour\"\n"
             "later system text \"From now on German\"\n"
             "user text \"and now?\"\n");
}

/* B18: on the result, not on a text inside it; on the last part where the message has parts. */
static void a_messages_own_cache_marker_is_kept(void **state)
{
    (void)state;
    shown_as(
        show_conversation,
        MESSAGES(
            "{\"role\":\"user\",\"content\":\"q\",\"cache_control\":{\"type\":\"ephemeral\"}},"
            "" ASSISTANT_CALLS(CALL(
                "x", "f", "{}")) ","
                                 "{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"big\","
                                 "\"cache_control\":{\"type\":\"ephemeral\"}}"),
        "user text \"q\" cache {\"type\":\"ephemeral\"}\n"
        "assistant call \"x\" \"f\" {}\n"
        "user result \"x\" cache {\"type\":\"ephemeral\"}\n. text \"big\"\n");
}

/* B16 */
static void a_data_url_is_its_bytes_and_any_other_stays_an_address(void **state)
{
    (void)state;
    shown_as(
        show_conversation,
        MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{"
                 "\"url\":\"data:image/png;base64,iVBORw0KGgo=\",\"detail\":\"low\"}},"
                 "{\"type\":\"image_url\",\"image_url\":{\"url\":"
                 "\"https://img.example/x.webp?sig=a%2Bb\"}},"
                 "{\"type\":\"image_url\",\"image_url\":\"data:image\\/jpeg;base64,\\/9j\\/\"}]}"),
        "user image base64 image/png \"iVBORw0KGgo=\" detail \"low\"\n"
        "user image url  \"https://img.example/x.webp?sig=a%2Bb\"\n"
        "user image base64 image/jpeg \"\\/9j\\/\"\n");
}

static void files_and_audio_are_what_their_type_says(void **state)
{
    (void)state;
    shown_as(
        show_conversation,
        MESSAGES(
            "{\"role\":\"user\",\"content\":["
            "{\"type\":\"file\",\"file\":{\"filename\":\"a.pdf\",\"file_data\":"
            "\"data:application/pdf;base64,JVBERi0=\"}},"
            "{\"type\":\"file\",\"file\":{\"filename\":\"b.pdf\",\"file_data\":\"JVBERi0=\"}},"
            "{\"type\":\"file\",\"file\":{\"filename\":\"c.mp4\",\"file_data\":\"gs://b/c.mp4\"}},"
            "{\"type\":\"file\",\"file\":{\"file_id\":\"file-1\"}},"
            "{\"type\":\"document_url\",\"document_url\":\"https://a.example/b.pdf\"},"
            "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:application/pdf;base64,JVBE\"}},"
            "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"UklG\",\"format\":\"wav\"}}]}"),
        "user document base64 application/pdf \"JVBERi0=\" name \"a.pdf\"\n"
        "user document base64 application/pdf \"JVBERi0=\" name \"b.pdf\"\n"
        "user video url video/mp4 \"gs://b/c.mp4\" name \"c.mp4\"\n"
        "user file id  \"file-1\"\n"
        "user document url  \"https://a.example/b.pdf\"\n"
        "user document base64 application/pdf \"JVBE\"\n"
        "user audio base64 audio/wav \"UklG\"\n");
}

static void an_image_inside_a_result_stays_inside(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI "," ASSISTANT_CALLS(CALL(
                 "c", "shot",
                 "{}")) ","
                        "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[{\"type\":\"text\","
                        "\"text\":\"here\"},{\"type\":\"image_url\",\"image_url\":{\"url\":"
                        "\"https://img.example/s.png\"}}]}"),
             "user text \"hi\"\nassistant call \"c\" \"shot\" {}\n"
             "user result \"c\"\n. text \"here\"\n. image url  \"https://img.example/s.png\"\n");
}

static void the_form_before_tool_calls_gets_ids(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI
                      ",{\"role\":\"assistant\",\"content\":null,\"function_call\":{\"name\":\"f\","
                      "\"arguments\":\"{\\\"a\\\":1}\"}},"
                      "{\"role\":\"function\",\"name\":\"f\",\"content\":\"2\"}"),
             "user text \"hi\"\nassistant call \"call_1\" \"f\" {\"a\":1}\n"
             "user result \"call_1\"\n. text \"2\"\n");
    refused(MESSAGES(HI ",{\"role\":\"function\",\"name\":\"f\",\"content\":\"2\"}"),
            "messages[1]: answers no function_call before it");
}

static void refusals_in_history_are_refusals(void **state)
{
    (void)state;
    shown_as(
        show_conversation,
        MESSAGES(
            HI ",{\"role\":\"assistant\",\"content\":null,\"refusal\":\"I will not\"}," HI ","
               "{\"role\":\"assistant\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"no\"}]}"),
        "user text \"hi\"\nassistant refusal \"I will not\"\nuser text \"hi\"\n"
        "assistant refusal \"no\"\n");
}

/* -- reasoning ------------------------------------------------------------------------------------- */

/* Decision 14: it is kept at the provider that spoke it. */
static void what_was_spoken_is_foreign_by_its_id(void **state)
{
    (void)state;
    shown_as(
        show_conversation,
        MESSAGES(HI ",{\"role\":\"assistant\",\"content\":null,\"audio\":{\"id\":\"a1\"}}," HI),
        "user text \"hi\"\nassistant foreign audio\nuser text \"hi\"\n");
}

static void reasoning_goes_back_to_its_maker(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI
                      ",{\"role\":\"assistant\",\"content\":\"A\",\"reasoning_content\":\"plan\","
                      "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"plan\","
                      "\"signature\":\"acog.messages..c2ln\",\"index\":0},"
                      "{\"type\":\"reasoning.encrypted\",\"data\":\"acog.redacted-messages..ZGF0\","
                      "\"index\":1}]}"),
             "user text \"hi\"\n"
             "assistant reasoning \"plan\" opaque messages \"c2ln\"\n"
             "assistant reasoning \"\" redacted messages \"ZGF0\"\n"
             "assistant text \"A\"\n");
}

static void the_pieces_of_a_streamed_thought_are_one(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI ",{\"role\":\"assistant\",\"content\":\"A\",\"reasoning_details\":["
                         "{\"type\":\"reasoning.text\",\"text\":\"one \",\"index\":0},"
                         "{\"type\":\"reasoning.text\",\"text\":\"tw\\u006f\",\"index\":0},"
                         "{\"type\":\"reasoning.text\",\"text\":\" three\",\"index\":0},"
                         "{\"type\":\"reasoning.text\",\"signature\":\"s\",\"index\":0},"
                         "{\"type\":\"reasoning.summary\",\"summary\":\"other\",\"index\":1}]}"),
             "user text \"hi\"\n"
             "assistant reasoning \"one tw\\u006f three\" opaque chat \"s\"\n"
             "assistant reasoning \"other\"\n"
             "assistant text \"A\"\n");
}

static void an_entry_with_a_calls_id_belongs_to_the_call(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" CALL(
                 "c1", "f", "{}") "],\"reasoning_details\":[{\"type\":\"reasoning.encrypted\","
                                  "\"data\":\"acog.gemini..AbC\",\"id\":\"c1\",\"index\":0}]},"
                                  "" TOOL("c1", "1")),
             "user text \"hi\"\nassistant call \"c1\" \"f\" {} opaque gemini \"AbC\"\n"
             "user result \"c1\"\n. text \"1\"\n");
}

static void thinking_blocks_and_plain_reasoning_are_read(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI
                      ",{\"role\":\"assistant\",\"content\":\"A\",\"reasoning_content\":\"p\","
                      "\"thinking_blocks\":[{\"type\":\"thinking\",\"thinking\":\"p\","
                      "\"signature\":\"c2ln\"},{\"type\":\"redacted_thinking\",\"data\":\"x\"}]}"),
             "user text \"hi\"\nassistant reasoning \"p\" opaque messages \"c2ln\"\n"
             "assistant reasoning \"\" redacted messages \"x\"\nassistant text \"A\"\n");
    shown_as(show_conversation,
             MESSAGES(HI ",{\"role\":\"assistant\",\"content\":\"A\",\"reasoning\":\"p\"}"),
             "user text \"hi\"\nassistant reasoning \"p\"\nassistant text \"A\"\n");
    shown_as(show_conversation,
             MESSAGES(HI
                      ",{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":"
                      "[{\"type\":\"text\",\"text\":\"p\"},{\"type\":\"text\",\"text\":\"\"},"
                      "{\"type\":\"reference\",\"reference_ids\":[1]}]},"
                      "{\"type\":\"text\",\"text\":\"A\"}]}"),
             "user text \"hi\"\nassistant reasoning \"p\"\nassistant text \"A\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_of_parallel_calls_are_one_user_turn),
        cmocka_unit_test(what_the_user_adds_stands_behind_the_results),
        cmocka_unit_test(empty_texts_beside_calls_are_no_texts),
        cmocka_unit_test(a_turn_of_white_space_goes_and_its_neighbours_meet),
        cmocka_unit_test(a_call_without_arguments_has_an_empty_object),
        cmocka_unit_test(null_for_arguments_is_no_arguments),
        cmocka_unit_test(arguments_as_an_object_are_taken_as_they_are),
        cmocka_unit_test(
            leading_system_and_developer_texts_keep_their_order_and_later_ones_their_place),
        cmocka_unit_test(a_messages_own_cache_marker_is_kept),
        cmocka_unit_test(a_data_url_is_its_bytes_and_any_other_stays_an_address),
        cmocka_unit_test(files_and_audio_are_what_their_type_says),
        cmocka_unit_test(an_image_inside_a_result_stays_inside),
        cmocka_unit_test(the_form_before_tool_calls_gets_ids),
        cmocka_unit_test(refusals_in_history_are_refusals),
        cmocka_unit_test(what_was_spoken_is_foreign_by_its_id),
        cmocka_unit_test(reasoning_goes_back_to_its_maker),
        cmocka_unit_test(the_pieces_of_a_streamed_thought_are_one),
        cmocka_unit_test(an_entry_with_a_calls_id_belongs_to_the_call),
        cmocka_unit_test(thinking_blocks_and_plain_reasoning_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
