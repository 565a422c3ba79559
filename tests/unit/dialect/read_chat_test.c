/* read_chat_test.c - requests of chat/completions, as conversations. */
#include "core/dialect/conversation.h"
#include "tests/support/check.h"
#include "tests/support/conversation_shown.h"
#include "tests/support/memory_sweep.h"

#include <string.h>

#define SHOWN_BYTES_MAX 65536

struct read {
    struct acog_arena arena;
    const struct acog_conversation *conversation;
    struct acog_request_problem problem;
    enum acog_code code;
};

static struct read read_body(const char *body)
{
    struct read read = {.conversation = NULL};
    acog_arena_init(&read.arena, 1U << 22U);
    read.code = acog_conversation_read(ACOG_SURFACE_CHAT, acog_view_of(body), &read.arena,
                                       &read.conversation, &read.problem);
    return read;
}

static struct read taken(const char *body)
{
    struct read read = read_body(body);
    if (read.code != ACOG_OK) {
        fail_msg("%s\n  gave: %s", body, read.problem.text);
    }
    return read;
}

static void forget(struct read *read)
{
    acog_arena_fini(&read->arena);
}

typedef void show(struct acog_buffer *out, const struct acog_conversation *conversation);

static void shown_as(show *shown, const char *body, const char *wanted)
{
    char memory[SHOWN_BYTES_MAX];
    struct acog_buffer out;
    struct read read = taken(body);
    acog_buffer_init_over(&out, memory, sizeof(memory));
    shown(&out, read.conversation);
    if (!acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted))) {
        fail_msg("%s\n  gave: %.*s\n  want: %s", body, (int)out.len, out.ptr, wanted);
    }
    forget(&read);
}

static void refused(const char *body, const char *problem)
{
    struct read read = read_body(body);
    if (read.code != ACOG_INVALID || strstr(read.problem.text, problem) == NULL) {
        fail_msg("%s\n  gave: %s\n  want: %s", body,
                 read.code == ACOG_OK ? "(taken)" : read.problem.text, problem);
    }
    forget(&read);
}

#define MESSAGES(list) "{\"model\":\"m\",\"messages\":[" list "]}"
#define HI             "{\"role\":\"user\",\"content\":\"hi\"}"
#define WITH(members)  "{\"model\":\"m\",\"messages\":[" HI "]," members "}"
#define CALL(id, name, arguments)                                                   \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name "\"," \
    "\"arguments\":\"" arguments "\"}}"
#define ASSISTANT_CALLS(calls) \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" calls "]}"
#define TOOL(id, content) \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" content "\"}"
#define FUNCTION(name) "{\"type\":\"function\",\"function\":{\"name\":\"" name "\"}}"

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
                      "[{\"type\":\"text\",\"text\":\"p\"}]},{\"type\":\"text\",\"text\":\"A\"}]}"),
             "user text \"hi\"\nassistant reasoning \"p\"\nassistant text \"A\"\n");
}

/* -- tools ----------------------------------------------------------------------------------------- */

/* B18 */
static void tools_keep_schema_strictness_and_cache_marker(void **state)
{
    (void)state;
    shown_as(
        show_tools,
        WITH("\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\","
             "\"parameters\":{\"type\":\"object\"},\"strict\":true},"
             "\"cache_control\":{\"type\":\"ephemeral\"}}," FUNCTION("g") "]"),
        "tool name \"f\" description \"d\" schema {\"type\":\"object\"} strict true "
        "cache {\"type\":\"ephemeral\"}\ntool name \"g\"\n");
    shown_as(show_tools,
             WITH("\"functions\":[{\"name\":\"f\",\"parameters\":{}}],\"function_call\":\"auto\""),
             "tool name \"f\" schema {}\n");
    shown_as(show_tools, WITH("\"tools\":[{\"type\":\"custom\",\"custom\":{\"name\":\"c\"}}]"),
             "foreign custom name \"c\"\n");
}

static void chosen(const char *body, enum acog_tool_choice choice, bool parallel_off)
{
    struct read read = taken(body);
    if (read.conversation->tool_choice != choice ||
        read.conversation->parallel_off != parallel_off) {
        fail_msg("%s: choice %d, parallel off %d", body, read.conversation->tool_choice,
                 read.conversation->parallel_off);
    }
    forget(&read);
}

/* B08, B09 */
static void a_tool_choice_means_what_it_says(void **state)
{
    (void)state;
#define F "\"tools\":[" FUNCTION("f") "],"
    chosen(WITH(F "\"tool_choice\":\"auto\""), ACOG_TOOL_CHOICE_AUTO, false);
    chosen(WITH(F "\"tool_choice\":\"required\""), ACOG_TOOL_CHOICE_REQUIRED, false);
    chosen(WITH(F "\"tool_choice\":\"none\""), ACOG_TOOL_CHOICE_NONE, false);
    chosen(WITH(F "\"tool_choice\":" FUNCTION("f")), ACOG_TOOL_CHOICE_NAMED, false);
    chosen(WITH(F "\"function_call\":{\"name\":\"f\"}"), ACOG_TOOL_CHOICE_NAMED, false);
    chosen(WITH(F "\"parallel_tool_calls\":false"), ACOG_TOOL_CHOICE_UNSET, true);
    chosen(WITH(F "\"parallel_tool_calls\":true"), ACOG_TOOL_CHOICE_UNSET, false);
    chosen(WITH(F "\"parallel_tool_calls\":false,\"tool_choice\":\"required\""),
           ACOG_TOOL_CHOICE_REQUIRED, true);
    chosen(WITH("\"tools\":[],\"tool_choice\":\"auto\",\"parallel_tool_calls\":false"),
           ACOG_TOOL_CHOICE_UNSET, false);
    refused(WITH(F "\"tool_choice\":" FUNCTION("missing")), "no tool is named \"missing\"");
    refused(WITH(F "\"tool_choice\":\"sometimes\""), "tool_choice: must be none, auto or required");
    refused(WITH(F "\"tool_choice\":{}"), "tool_choice: must name a tool");
}

static void only_the_allowed_tools_are_offered(void **state)
{
    (void)state;
    const char *body =
        WITH("\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"required\","
             "\"tools\":[" FUNCTION("g") "]}},\"tools\":[" FUNCTION("f") "," FUNCTION("g") "]");
    shown_as(show_tools, body, "tool name \"g\"\n");
    chosen(body, ACOG_TOOL_CHOICE_REQUIRED, false);
    refused(WITH("\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\","
                 "\"tools\":[" FUNCTION("h") "]}},\"tools\":[" FUNCTION("f") "]"),
            "no declared tool is among the allowed");
}

static void a_list_of_allowed_tools_has_a_cap(void **state)
{
    (void)state;
    char body[32768];
    struct acog_buffer text;
    acog_buffer_init_over(&text, body, sizeof(body) - 1);
    assert_int_equal(
        acog_buffer_append(&text, ACOG_VIEW("{\"model\":\"m\",\"messages\":[" HI "],"
                                            "\"tools\":[" FUNCTION(
                                                "f") "],"
                                                     "\"tool_choice\":{\"type\":\"allowed_tools\","
                                                     "\"mode\":\"auto\",\"tools\":[")),
        ACOG_OK);
    for (int i = 0; i < 257; i++) {
        assert_int_equal(acog_buffer_format(&text, "%s{\"type\":\"function\",\"name\":\"f\"}",
                                            i == 0 ? "" : ","),
                         ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("]}}")), ACOG_OK);
    body[text.len] = '\0';
    refused(body, "tool_choice: too many allowed tools");
}

/* A name is kept once, and not more of them than a header has room for. */
static void names_of_unknown_fields_have_a_cap(void **state)
{
    (void)state;
    char body[32768];
    struct acog_buffer text;
    acog_buffer_init_over(&text, body, sizeof(body) - 1);
    assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("{\"model\":\"m\",\"messages\":[")),
                     ACOG_OK);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(acog_buffer_format(&text,
                                            "%s{\"role\":\"user\",\"content\":\"x\","
                                            "\"name\":\"n\",\"k%d\":1}",
                                            i == 0 ? "" : ",", i),
                         ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("]}")), ACOG_OK);
    body[text.len] = '\0';
    struct read read = taken(body);
    size_t count = 0;
    size_t names = 0;
    for (const struct acog_unknown_field *unknown = read.conversation->unknown; unknown != NULL;
         unknown = unknown->next) {
        count++;
        names += acog_json_text_is(unknown->name, ACOG_VIEW("messages.name")) ? 1 : 0;
    }
    assert_int_equal(count, ACOG_UNKNOWN_FIELDS_MAX);
    assert_int_equal(names, 1);
    forget(&read);
}

static void a_turn_has_a_cap_of_calls(void **state)
{
    (void)state;
    static char body[262144];
    struct acog_buffer text;
    acog_buffer_init_over(&text, body, sizeof(body) - 1);
    assert_int_equal(
        acog_buffer_append(&text, ACOG_VIEW("{\"model\":\"m\",\"messages\":[" HI ","
                                            "{\"role\":\"assistant\",\"tool_calls\":[")),
        ACOG_OK);
    for (int i = 0; i <= ACOG_CALLS_OF_TURN_MAX; i++) {
        assert_int_equal(acog_buffer_format(&text,
                                            "%s{\"id\":\"c%d\",\"function\":{\"name\":\"f\"}}",
                                            i == 0 ? "" : ",", i),
                         ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("]}]}")), ACOG_OK);
    body[text.len] = '\0';
    refused(body, "more than 1024 calls");
}

/* A custom tool's calls and results are nobody else's (decision 14), and no broken history. */
static void calls_of_custom_tools_are_foreign(void **state)
{
    (void)state;
    shown_as(show_conversation,
             MESSAGES(HI ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"k\","
                         "\"type\":\"custom\",\"custom\":{\"name\":\"c\",\"input\":\"x\"}}]},"
                         "" TOOL("k", "done")),
             "user text \"hi\"\nassistant foreign custom\nuser foreign custom\n");
}

/* -- parameters ------------------------------------------------------------------------------------ */

static void limited(const char *body, int64_t max_tokens)
{
    struct read read = taken(body);
    assert_int_equal(read.conversation->max_tokens, max_tokens);
    forget(&read);
}

/* B10 */
static void the_newer_name_of_the_limit_counts(void **state)
{
    (void)state;
    limited(WITH("\"max_completion_tokens\":50"), 50);
    limited(WITH("\"max_tokens\":60"), 60);
    limited(WITH("\"max_tokens\":60,\"max_completion_tokens\":50"), 50);
    limited(WITH("\"max_completion_tokens\":null,\"max_tokens\":6e1"), 60);
    limited(WITH("\"n\":1"), -1);
}

static void stops_at(const char *body, const char *wanted, const char *unknown)
{
    char memory[256];
    struct acog_buffer out;
    struct read read = taken(body);
    acog_buffer_init_over(&out, memory, sizeof(memory));
    for (size_t i = 0; i < read.conversation->stop_count; i++) {
        show_view(&out, read.conversation->stops[i].raw);
    }
    assert_true(acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted)));
    out.len = 0;
    show_unknown(&out, read.conversation);
    assert_true(acog_view_equal(acog_buffer_view(&out), acog_view_of(unknown)));
    forget(&read);
}

/* B11: white space is kept, as it depends on the upstream whether it is taken. */
static void stop_is_a_string_or_a_list(void **state)
{
    (void)state;
    stops_at(WITH("\"stop\":\"END\""), "\"END\"", "");
    stops_at(WITH("\"stop\":[\"A\",\"B\"]"), "\"A\"\"B\"", "");
    stops_at(WITH("\"stop\":null"), "", "");
    stops_at(WITH("\"stop\":[\"\",\"\\n\",\"END\"]"), "\"\\n\"\"END\"", "stop ");
    stops_at(WITH("\"stop\":\"\""), "", "stop ");
    refused(WITH("\"stop\":7"), "stop: must be a string or a list of strings");
    refused(WITH("\"stop\":[7]"), "stop: must be a string or a list of strings");
}

/* B20 */
static void a_schema_is_kept_as_it_was_written(void **state)
{
    (void)state;
    struct read read =
        taken(WITH("\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"p\","
                   "\"strict\":true,\"schema\":{\"type\":\"object\" , \"maximum\": 1.0}}}"));
    assert_int_equal(read.conversation->format, ACOG_FORMAT_SCHEMA);
    assert_true(acog_view_equal(read.conversation->schema.raw,
                                ACOG_VIEW("{\"type\":\"object\" , \"maximum\": 1.0}")));
    assert_true(acog_json_text_is(read.conversation->schema_name, ACOG_VIEW("p")));
    assert_int_equal(read.conversation->schema_strict.type, ACOG_JSON_TRUE);
    forget(&read);
    read = taken(WITH("\"response_format\":{\"type\":\"json_object\"}"));
    assert_int_equal(read.conversation->format, ACOG_FORMAT_JSON);
    forget(&read);
    read = taken(WITH("\"response_format\":{\"type\":\"text\"}"));
    assert_int_equal(read.conversation->format, ACOG_FORMAT_TEXT);
    forget(&read);
    refused(WITH("\"response_format\":{\"type\":\"grammar\"}"), "response_format.type");
    refused(WITH("\"response_format\":{\"type\":\"json_schema\"}"), "json_schema.schema");
}

static struct acog_reasoning_wish wished(const char *body)
{
    struct read read = taken(body);
    struct acog_reasoning_wish wish = read.conversation->reasoning;
    forget(&read);
    return wish;
}

/* B22 */
static void how_hard_to_think_is_read_in_all_forms(void **state)
{
    (void)state;
    struct acog_reasoning_wish wish = wished(WITH("\"reasoning_effort\":\"high\""));
    assert_true(wish.given && !wish.off);
    assert_int_equal(wish.effort, ACOG_EFFORT_HIGH);
    wish = wished(WITH("\"reasoning_effort\":\"none\""));
    assert_true(wish.given && wish.off);
    wish = wished(WITH("\"reasoning\":{\"effort\":\"low\",\"exclude\":true}"));
    assert_int_equal(wish.effort, ACOG_EFFORT_LOW);
    assert_false(wish.summary);
    wish = wished(WITH("\"reasoning\":{\"max_tokens\":2000}"));
    assert_int_equal(wish.budget_tokens, 2000);
    assert_true(wish.summary);
    wish = wished(WITH("\"reasoning\":{\"enabled\":true}"));
    assert_int_equal(wish.effort, ACOG_EFFORT_MEDIUM);
    wish = wished(WITH("\"reasoning\":{\"enabled\":false}"));
    assert_true(wish.off);
    wish = wished(WITH("\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1500}"));
    assert_int_equal(wish.budget_tokens, 1500);
    wish = wished(WITH("\"thinking\":{\"type\":\"enabled\"}"));
    assert_true(wish.given && wish.adaptive);
    wish = wished(WITH("\"thinking\":{\"type\":\"disabled\"}"));
    assert_true(wish.off);
    wish = wished(WITH("\"reasoning_effort\":null"));
    assert_false(wish.given);
    shown_as(show_unknown, WITH("\"reasoning_effort\":\"ultra\""), "reasoning_effort ");
}

/* B23 */
static void a_user_that_is_a_person_is_not_carried(void **state)
{
    (void)state;
    shown_as(show_unknown, WITH("\"user\":\"pat@mail.example\""), "user ");
    shown_as(show_unknown, WITH("\"user\":\"pat\\u0040mail.example\""), "user ");
    shown_as(show_unknown, WITH("\"user\":\"+47 22 33 44 55\""), "user ");
    shown_as(show_unknown, WITH("\"user\":\"Pat Example\""), "user ");
    shown_as(show_unknown, WITH("\"user\":\"u-81f3\""), "");
    shown_as(show_unknown, WITH("\"user\":\"2233445566\""), "");
    struct read read = taken(WITH("\"user\":\"u-81f3\""));
    assert_true(acog_json_text_is(read.conversation->user, ACOG_VIEW("u-81f3")));
    forget(&read);
}

/* B23 */
static void several_choices_cannot_be_had(void **state)
{
    (void)state;
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    struct read read = taken(WITH("\"n\":2"));
    assert_int_equal(
        acog_conversation_fits(read.conversation, ACOG_DIALECT_MESSAGES, &rules, &read.problem),
        ACOG_INVALID);
    assert_non_null(strstr(read.problem.text, "n: must be 1"));
    forget(&read);
    read = taken(WITH("\"n\":1"));
    assert_false(read.conversation->unfaithful_choices);
    forget(&read);
}

/* An answer in sound is not the one in words that another dialect gives. */
static void other_modalities_than_text_are_refused(void **state)
{
    (void)state;
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    struct read read = taken(WITH("\"modalities\":[\"text\",\"audio\"]"));
    assert_int_equal(
        acog_conversation_fits(read.conversation, ACOG_DIALECT_MESSAGES, &rules, &read.problem),
        ACOG_INVALID);
    assert_non_null(strstr(read.problem.text, "modalities"));
    forget(&read);
}

/* B23: named, unless it says what holds anyway. */
static void what_has_no_place_is_named(void **state)
{
    (void)state;
    shown_as(
        show_unknown,
        MESSAGES("{\"role\":\"user\",\"name\":\"pat\",\"content\":[{\"type\":\"text\",\"text\":"
                 "\"hi\",\"prompt_cache_breakpoint\":{}}]},"
                 "{\"role\":\"assistant\",\"content\":\"a\",\"annotations\":[],\"audio\":null}"),
        "messages.prompt_cache_breakpoint messages.name ");
    shown_as(
        show_unknown,
        WITH("\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"},\"defer\":true}],"
             "\"stream_options\":{\"include_usage\":true,\"include_obfuscation\":false}"),
        "stream_options.include_obfuscation tools.defer ");
    shown_as(show_unknown, WITH("\"plugins\":[{}],\"nothing\":null"), "plugins ");
    struct read read = taken(WITH("\"logprobs\":false,\"modalities\":[\"text\"],\"seed\":7"));
    assert_false(acog_json_present(read.conversation->fields[ACOG_FIELD_LOGPROBS]));
    assert_false(acog_json_present(read.conversation->fields[ACOG_FIELD_MODALITIES]));
    assert_true(acog_json_present(read.conversation->fields[ACOG_FIELD_SEED]));
    forget(&read);
}

/* Decision 13: the place is named. */
static void what_makes_no_sense_is_refused_with_its_place(void **state)
{
    (void)state;
    refused(MESSAGES("{\"role\":\"robot\",\"content\":\"x\"}"), "messages[0].role: must be");
    refused(MESSAGES(HI ",{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":7}]}"),
            "messages[1].content[0].text: must be a string");
    refused(MESSAGES("{\"role\":\"user\",\"content\":[{\"text\":\"x\"}]}"),
            "messages[0].content[0].type: must be a string");
    refused(
        MESSAGES("{\"role\":\"system\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}}]}"),
        "a system message holds texts only");
    refused(MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}}]}"),
            "messages[0].content[0].image_url: must be an address");
    refused(
        MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
                 "\"data:text/plain,hello\"}}]}"),
        "messages[0].content[0].image_url: must be an address");
    refused(
        MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
                 "\"data:image/\\\"x;base64,AA\"}}]}"),
        "messages[0].content[0].image_url: must be an address");
    refused(MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\"input_audio\":{"
                     "\"data\":\"AA\",\"format\":\"?\"}}]}"),
            "messages[0].content[0].input_audio: must have data");
    refused(MESSAGES(HI ",{\"role\":\"tool\",\"content\":\"x\"}"), "messages[1].tool_call_id");
    refused(
        MESSAGES(HI "," ASSISTANT_CALLS("{\"type\":\"function\",\"function\":{\"name\":\"f\"}}")),
        "messages[1].tool_calls[0].id: must be a text");
    refused(MESSAGES(HI "," ASSISTANT_CALLS("{\"id\":\"a\",\"function\":{}}")),
            "messages[1]: a call has no name");
    refused(MESSAGES(HI "," ASSISTANT_CALLS(CALL("a", "f", "{\\\"cut")) "," TOOL("a", "")),
            "the arguments of the call \"a\" are not a JSON object");
    refused(MESSAGES(HI "," TOOL("zz", "x")), "answers no call");
    refused(MESSAGES(HI "," ASSISTANT_CALLS(CALL("a", "f", "{}")) "," HI), "has no tool result");
    refused(WITH("\"tools\":[{\"type\":\"function\",\"function\":{}}]"),
            "tools[0]: must have a name");
    refused(
        WITH("\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":7}}]"),
        "tools[0]: its parameters must be an object");
    refused(WITH("\"tools\":[{}]"), "tools[0].type: must be a string");
}

/* -- memory ---------------------------------------------------------------------------------------- */

static void story(void *user)
{
    struct read read =
        read_body("{\"model\":\"m\",\"stop\":[\"a\"],\"user\":\"u\\u0031\",\"tools\":[" FUNCTION(
            "f") "],"
                 "\"stream_options\":{\"x\":1},\"messages\":[{\"role\":\"system\",\"content\":\"s\"}," HI
                 ","
                 "{\"role\":\"assistant\",\"content\":\"A\",\"reasoning_details\":["
                 "{\"text\":\"one\",\"index\":0},{\"text\":\"two\",\"index\":0}],\"tool_calls\":[" CALL(
                     "c", "f", "{\\\"a\\\":1}") "]}," TOOL("c", "r") "]}");
    (void)user;
    assert_int_equal(read.code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    forget(&read);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(memory_sweep(story, NULL, 1) > 0);
}

/* An arena has a cap too: a place that does not look at it would be found here. */
static void any_size_of_the_arena_is_survived(void **state)
{
    (void)state;
    const struct acog_view body =
        ACOG_VIEW("{\"model\":\"m\",\"stop\":[\"a\"],\"user\":\"u\\u0031\",\"tools\":[" FUNCTION(
            "f") "],"
                 "\"messages\":[" HI
                 ",{\"role\":\"assistant\",\"content\":null,\"function_call\":{\"name\":\"f\","
                 "\"arguments\":\"{}\"}},{\"role\":\"function\",\"name\":\"f\",\"content\":\"2\"}]}");
    bool failed = false;
    bool read = false;
    for (size_t bytes = 64; bytes < 65536 && !read; bytes += 64) {
        const struct acog_conversation *conversation = NULL;
        struct acog_request_problem problem;
        struct acog_arena arena;
        acog_arena_init(&arena, bytes);
        enum acog_code code =
            acog_conversation_read(ACOG_SURFACE_CHAT, body, &arena, &conversation, &problem);
        assert_true(code == ACOG_OK || code == ACOG_NO_MEMORY);
        failed = failed || code == ACOG_NO_MEMORY;
        read = code == ACOG_OK;
        acog_arena_fini(&arena);
    }
    assert_true(failed && read);
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
        cmocka_unit_test(reasoning_goes_back_to_its_maker),
        cmocka_unit_test(the_pieces_of_a_streamed_thought_are_one),
        cmocka_unit_test(an_entry_with_a_calls_id_belongs_to_the_call),
        cmocka_unit_test(thinking_blocks_and_plain_reasoning_are_read),
        cmocka_unit_test(tools_keep_schema_strictness_and_cache_marker),
        cmocka_unit_test(a_tool_choice_means_what_it_says),
        cmocka_unit_test(only_the_allowed_tools_are_offered),
        cmocka_unit_test(a_list_of_allowed_tools_has_a_cap),
        cmocka_unit_test(names_of_unknown_fields_have_a_cap),
        cmocka_unit_test(a_turn_has_a_cap_of_calls),
        cmocka_unit_test(calls_of_custom_tools_are_foreign),
        cmocka_unit_test(the_newer_name_of_the_limit_counts),
        cmocka_unit_test(stop_is_a_string_or_a_list),
        cmocka_unit_test(a_schema_is_kept_as_it_was_written),
        cmocka_unit_test(how_hard_to_think_is_read_in_all_forms),
        cmocka_unit_test(a_user_that_is_a_person_is_not_carried),
        cmocka_unit_test(several_choices_cannot_be_had),
        cmocka_unit_test(other_modalities_than_text_are_refused),
        cmocka_unit_test(what_has_no_place_is_named),
        cmocka_unit_test(what_makes_no_sense_is_refused_with_its_place),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(any_size_of_the_arena_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
