/* write_chat_test.c - conversations as requests of chat/completions. */
#include "acog/json.h"
#include "core/dialect/conversation.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"

#include <stdio.h>
#include <string.h>

#define OUT_BYTES_MAX 65536

struct written {
    char memory[OUT_BYTES_MAX];
    struct acog_buffer out;
    struct acog_arena arena;
    struct acog_translation translation;
    struct acog_model_rules rules;
    const struct acog_conversation *conversation;
    struct acog_request_problem problem;
    enum acog_code code;
};

static void start(struct written *written)
{
    written->rules = acog_model_rules_default(ACOG_DIALECT_CHAT);
    written->translation = (struct acog_translation){
        .upstream = ACOG_DIALECT_CHAT, .model = ACOG_VIEW("gpt"), .max_tokens = -1};
}

/* Reads, asks whether it fits, writes. What was written is JSON. */
static void carry(struct written *written, enum acog_surface surface, const char *body)
{
    struct acog_json_value value;
    struct acog_json_error error;
    acog_arena_init(&written->arena, 1U << 22U);
    acog_buffer_init_over(&written->out, written->memory, sizeof(written->memory) - 1);
    written->translation.client = acog_surface_dialect(surface);
    written->translation.rules = &written->rules;
    written->code = acog_conversation_read(surface, acog_view_of(body), &written->arena,
                                           &written->conversation, &written->problem);
    if (written->code == ACOG_OK) {
        written->code = acog_conversation_fits(written->conversation, ACOG_DIALECT_CHAT,
                                               &written->rules, &written->problem);
    }
    if (written->code == ACOG_OK) {
        written->code = acog_conversation_write(written->conversation, &written->translation,
                                                &written->arena, &written->out);
        assert_int_equal(acog_json_check(acog_buffer_view(&written->out), 128, &value, &error),
                         ACOG_OK);
    }
}

static void is_carried(struct written *written, enum acog_surface surface, const char *body)
{
    carry(written, surface, body);
    if (written->code != ACOG_OK) {
        fail_msg("%s\n  gave: %s", body, written->problem.text);
    }
}

static void has(const struct written *written, const char *piece)
{
    struct acog_view out = acog_buffer_view(&written->out);
    if (acog_view_find(out, acog_view_of(piece)) == out.len) {
        fail_msg("gave: %.*s\n  without: %s", (int)out.len, out.ptr, piece);
    }
}

static void has_not(const struct written *written, const char *piece)
{
    struct acog_view out = acog_buffer_view(&written->out);
    if (acog_view_find(out, acog_view_of(piece)) < out.len) {
        fail_msg("gave: %.*s\n  with: %s", (int)out.len, out.ptr, piece);
    }
}

static void dropped(const struct written *written, const char *names)
{
    struct acog_view given = written->translation.dropped;
    if (!acog_view_equal(given, acog_view_of(names))) {
        fail_msg("dropped: %.*s\n  want: %s", (int)given.len, given.ptr, names);
    }
}

static void forget(struct written *written)
{
    acog_arena_fini(&written->arena);
}

/* The whole body, for a client of messages and the default rules. */
static void messages_as(const char *body, const char *wanted)
{
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES, body);
    if (!acog_view_equal(acog_buffer_view(&written.out), acog_view_of(wanted))) {
        fail_msg("%s\n  gave: %.*s\n  want: %s", body, (int)written.out.len, written.out.ptr,
                 wanted);
    }
    forget(&written);
}

static void refused(enum acog_surface surface, const struct acog_model_rules *rules,
                    const char *body, const char *problem)
{
    struct written written;
    start(&written);
    written.rules = rules == NULL ? written.rules : *rules;
    carry(&written, surface, body);
    if (written.code != ACOG_INVALID || strstr(written.problem.text, problem) == NULL) {
        fail_msg("%s\n  gave: %s\n  want: %s", body,
                 written.code == ACOG_OK ? "(carried)" : written.problem.text, problem);
    }
    forget(&written);
}

#define AN(members)        "{\"model\":\"m\",\"max_tokens\":50," members "}"
#define TURNS(turns)       "\"messages\":[" turns "]"
#define USER(content)      "{\"role\":\"user\",\"content\":" content "}"
#define ASSISTANT(content) "{\"role\":\"assistant\",\"content\":" content "}"
#define TEXT(text)         "{\"type\":\"text\",\"text\":\"" text "\"}"
#define HI                 TURNS(USER("\"hi\""))
#define F                  "\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}}]"
#define OUT(messages)      "{\"model\":\"gpt\",\"messages\":[" messages "],\"max_tokens\":50}"

/* -- messages -------------------------------------------------------------------------------------- */

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
#define IMAGE \
    "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBO\"}}"
#define IMAGE_OUT "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBO\"}}"

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

#define THOUGHT(signature) \
    "{\"type\":\"thinking\",\"thinking\":\"plan\",\"signature\":\"acog.chat.." signature "\"}"
#define THINKS_AND_CALLS(signature)                                           \
    ASSISTANT("[" THOUGHT(signature) ",{\"type\":\"tool_use\",\"id\":\"u1\"," \
                                     "\"name\":\"f\",\"input\":{}}]")         \
    "," USER("[{\"type\":\"tool_result\","                                    \
             "\"tool_use_id\":\"u1\",\"content\":\"r\"}]")

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

/* -- tools ----------------------------------------------------------------------------------------- */

/* OpenAI refuses an object whose properties are not named, which Anthropic takes. */
static void an_object_without_properties_gets_empty_ones(void **state)
{
    (void)state;

    static const struct {
        const char *schema;
        const char *written;
    } rows[] = {
        {"{}", "\"parameters\":{\"type\":\"object\",\"properties\":{}}}"},
        {"{ \"type\":\"object\"}", "\"parameters\":{\"properties\":{}, \"type\":\"object\"}}"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{}}}",
         "\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{}}}}"},
        {"{\"$ref\":\"#/$defs/a\"}", "\"parameters\":{\"$ref\":\"#/$defs/a\"}}"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct written written;
        char body[512];
        (void)snprintf(body, sizeof(body),
                       AN("\"tools\":[{\"name\":\"f\",\"input_schema\":%s}]," HI), rows[i].schema);
        start(&written);
        is_carried(&written, ACOG_SURFACE_MESSAGES, body);
        has(&written, rows[i].written);
        forget(&written);
    }
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

static void tools_and_choices_have_their_forms(void **state)
{
    (void)state;

    static const struct {
        const char *body;
        const char *piece;
    } rows[] = {
        {AN(F "," HI), "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
                       "\"parameters\":{\"properties\":{},\"type\":\"object\"}}}],"
                       "\"max_tokens\""},
        {AN(F "," HI ",\"tool_choice\":{\"type\":\"auto\"}"), "\"tool_choice\":\"auto\""},
        {AN(F "," HI ",\"tool_choice\":{\"type\":\"any\"}"), "\"tool_choice\":\"required\""},
        {AN(F "," HI ",\"tool_choice\":{\"type\":\"none\"}"), "\"tool_choice\":\"none\""},
        {AN(F "," HI ",\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\"}"),
         "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"},
        {AN(F "," HI ",\"tool_choice\":{\"type\":\"auto\",\"disable_parallel_tool_use\":true}"),
         "\"tool_choice\":\"auto\",\"parallel_tool_calls\":false"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct written written;
        start(&written);
        is_carried(&written, ACOG_SURFACE_MESSAGES, rows[i].body);
        has(&written, rows[i].piece);
        dropped(&written, "");
        forget(&written);
    }
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

/* B30 */
static void server_tools_are_refused_by_name(void **state)
{
    (void)state;
    refused(
        ACOG_SURFACE_MESSAGES, NULL,
        AN("\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\",\"max_uses\":2},"
           "{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}}]," HI),
        "web_search_20250305");
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

static void cache_markers_are_named_as_lost(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES,
               AN("\"tools\":[{\"name\":\"f\",\"input_schema\":{},\"cache_control\":{\"type\":"
                  "\"ephemeral\"}}]," TURNS(USER("[{\"type\":\"text\",\"text\":\"hi\","
                                                 "\"cache_control\":{\"type\":\"ephemeral\"}}]"))));
    has_not(&written, "cache_control");
    dropped(&written, "messages.cache_control, tools.cache_control");
    forget(&written);
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES,
               AN("\"system\":[{\"type\":\"text\",\"text\":\"be\",\"cache_control\":{\"type\":"
                  "\"ephemeral\"}}]," HI));
    dropped(&written, "system.cache_control");
    forget(&written);
    start(&written);
    is_carried(
        &written, ACOG_SURFACE_RESPONSES,
        "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
        "\"text\":\"hi\",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}");
    dropped(&written, "input.cache_control");
    forget(&written);
}

/* -- the answer's form ----------------------------------------------------------------------------- */

#define SCHEMA                                                                              \
    "{\"type\":\"object\",\"properties\":{\"age\":{\"type\":\"number\",\"maximum\":1.50}}," \
    "\"required\":[\"age\"],\"additionalProperties\":false}"
#define AN_SCHEMA "\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":" SCHEMA "}}"

static void a_schema_is_native_or_a_forced_tool_or_refused(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(AN_SCHEMA "," HI));
    has(&written, "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":"
                  "\"structured_answer\",\"schema\":" SCHEMA ",\"strict\":true}}");
    assert_false(written.translation.schema_by_tool);
    forget(&written);
    start(&written);
    written.rules.schema = ACOG_SCHEMA_TOOL;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(AN_SCHEMA "," HI));
    has(&written,
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"structured_answer\","
        "\"parameters\":" SCHEMA "}}],\"tool_choice\":{\"type\":\"function\",\"function\":{"
        "\"name\":\"structured_answer\"}}");
    has_not(&written, "response_format");
    assert_true(written.translation.schema_by_tool);
    struct acog_model_rules rules = written.rules;
    forget(&written);
    refused(ACOG_SURFACE_MESSAGES, &rules, AN(AN_SCHEMA "," F "," HI), "while it is offered tools");
    rules.schema = ACOG_SCHEMA_NONE;
    refused(ACOG_SURFACE_MESSAGES, &rules, AN(AN_SCHEMA "," HI), "cannot be held to a JSON schema");
}

static void json_mode_and_what_a_chat_client_says_of_its_schema_are_kept(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_CHAT,
               AN(HI ",\"response_format\":{\"type\":\"json_object\"}"));
    has(&written, "\"response_format\":{\"type\":\"json_object\"}");
    forget(&written);
    is_carried(&written, ACOG_SURFACE_CHAT,
               AN(HI
                  ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"p\","
                  "\"description\":\"d\",\"schema\":" SCHEMA "}}"));
    has(&written, "\"json_schema\":{\"name\":\"p\",\"description\":\"d\",\"schema\":" SCHEMA "}}");
    forget(&written);
}

/* -- parameters ------------------------------------------------------------------------------------ */

/* B27 */
static void the_limit_has_the_name_that_the_model_knows(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    written.rules.max_completion_tokens = true;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI));
    has(&written, "\"max_completion_tokens\":50");
    has_not(&written, "\"max_tokens\"");
    assert_int_equal(written.translation.max_tokens, 50);
    forget(&written);
    written.rules.largest_output_tokens = 40;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI));
    has(&written, "\"max_completion_tokens\":40");
    dropped(&written, "max_tokens");
    assert_int_equal(written.translation.max_tokens, 40);
    forget(&written);
    start(&written);
    is_carried(&written, ACOG_SURFACE_CHAT, "{\"model\":\"m\"," HI "}");
    has_not(&written, "max_");
    assert_int_equal(written.translation.max_tokens, -1);
    forget(&written);
}

/* B51: the upstream is always asked. */
static void a_stream_asks_for_usage(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    written.translation.stream = true;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI ",\"stream\":true"));
    has(&written, "\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    forget(&written);
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI));
    has_not(&written, "stream");
    forget(&written);
}

static void thinks(const struct acog_model_rules *rules, const char *members, const char *piece,
                   const char *lost)
{
    struct written written;
    char body[1024];
    struct acog_buffer text;
    acog_buffer_init_over(&text, body, sizeof(body) - 1);
    assert_int_equal(
        acog_buffer_format(&text, "{\"model\":\"m\",\"max_tokens\":50000,%s,%s}", HI, members),
        ACOG_OK);
    body[text.len] = '\0';
    start(&written);
    written.rules = *rules;
    is_carried(&written, ACOG_SURFACE_MESSAGES, body);
    if (piece[0] != '\0') {
        has(&written, piece);
    } else {
        has_not(&written, "reasoning_effort");
    }
    dropped(&written, lost);
    forget(&written);
}

#define BUDGET(tokens) "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":" tokens "}"

/* B22, the other way round */
static void a_budget_becomes_the_nearest_word(void **state)
{
    (void)state;
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_CHAT);
    thinks(&rules, BUDGET("2048"), "", "thinking");
    thinks(&rules, "\"output_config\":{\"effort\":\"low\"}", "", "output_config.effort");
    thinks(&rules, "\"thinking\":{\"type\":\"disabled\"}", "", "");
    rules.thinking = ACOG_THINKING_EFFORT;
    rules.efforts =
        ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_MEDIUM) | ACOG_BIT(ACOG_EFFORT_HIGH);
    thinks(&rules, BUDGET("4096"), "\"reasoning_effort\":\"low\"", "");
    thinks(&rules, BUDGET("8192"), "\"reasoning_effort\":\"medium\"", "");
    thinks(&rules, BUDGET("16384"), "\"reasoning_effort\":\"high\"", "");
    thinks(&rules, BUDGET("32768"), "\"reasoning_effort\":\"high\"", "thinking");
    thinks(&rules, "\"thinking\":{\"type\":\"disabled\"}", "\"reasoning_effort\":\"low\"",
           "thinking");
    thinks(&rules, "\"thinking\":{\"type\":\"adaptive\"}", "", "");
    rules.efforts |= ACOG_BIT(ACOG_EFFORT_NONE);
    thinks(&rules, "\"thinking\":{\"type\":\"disabled\"}", "\"reasoning_effort\":\"none\"", "");
}

static void only_four_stops_are_sent(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES,
               AN(HI ",\"stop_sequences\":[\"a\",\"b\",\"c\",\"d\",\"e\"]"));
    has(&written, "\"stop\":[\"a\",\"b\",\"c\",\"d\"]");
    dropped(&written, "stop_sequences");
    forget(&written);
    start(&written);
    written.rules.stop = false;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI ",\"stop_sequences\":[\"a\"]"));
    has_not(&written, "stop");
    dropped(&written, "stop_sequences");
    forget(&written);
}

/* B23 from the other side, and B12 for models that take no temperature. */
static void fields_are_copied_or_named(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES,
               AN(HI ",\"temperature\":0.70,\"top_k\":5,\"metadata\":{\"user_id\":\"u-81f3\"}"));
    has(&written, "\"temperature\":0.70");
    has(&written, "\"user\":\"u-81f3\"");
    has_not(&written, "top_k");
    dropped(&written, "top_k");
    forget(&written);
    written.rules.temperature = false;
    is_carried(&written, ACOG_SURFACE_MESSAGES, AN(HI ",\"temperature\":0.7,\"top_p\":0.5"));
    has_not(&written, "temperature");
    dropped(&written, "temperature, top_p");
    forget(&written);
}

/* -- there and back -------------------------------------------------------------------------------- */

/* A request of chat that is read and written says the same again. */
static void a_request_of_chat_survives_reading_and_writing(void **state)
{
    (void)state;
    struct written written;
    const char *body =
        "{\"model\":\"gpt\",\"messages\":[{\"role\":\"system\",\"content\":\"s\"},"
        "{\"role\":\"user\",\"content\":[" TEXT(
            "a") "," IMAGE_OUT "]},"
                 "{\"role\":\"assistant\",\"content\":\"b\",\"tool_calls\":[{\"id\":\"c1\",\"type\":"
                 "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\": 1.0}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"r\"}],"
                 "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\","
                 "\"parameters\":{\"properties\":{},\"type\":\"object\"},\"strict\":true}}],"
                 "\"tool_choice\":\"auto\","
                 "\"parallel_tool_calls\":false,\"max_tokens\":7,\"stop\":[\"x\"],\"user\":\"u1\","
                 "\"temperature\":0.1,\"top_p\":0.9,\"frequency_penalty\":1,\"seed\":7,"
                 "\"logit_bias\":{\"1\":2},\"metadata\":{\"k\":\"v\"}}";
    start(&written);
    is_carried(&written, ACOG_SURFACE_CHAT, body);
    if (!acog_view_equal(acog_buffer_view(&written.out), acog_view_of(body))) {
        fail_msg("gave: %.*s\n  want: %s", (int)written.out.len, written.out.ptr, body);
    }
    dropped(&written, "");
    forget(&written);
}

/* -- memory and caps ------------------------------------------------------------------------------- */

#define RICH                                                       \
    AN("\"system\":\"s\"," F ",\"stop_sequences\":[\"x\"]," TURNS( \
        USER("\"q\"") "," THINKS_AND_CALLS("{\\\"signature\\\":\\\"s\\\"}")))

static void story(void *user)
{
    struct acog_arena arena;
    struct acog_buffer out;
    const struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_CHAT);
    struct acog_translation translation = {.client = ACOG_DIALECT_MESSAGES,
                                           .upstream = ACOG_DIALECT_CHAT,
                                           .rules = &rules,
                                           .model = ACOG_VIEW("gpt")};
    const struct acog_conversation *conversation = NULL;
    struct acog_request_problem problem;
    (void)user;
    acog_arena_init(&arena, 1U << 20U);
    acog_buffer_init(&out, OUT_BYTES_MAX);
    enum acog_code code = acog_conversation_read(ACOG_SURFACE_MESSAGES, ACOG_VIEW(RICH), &arena,
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
    (void)state;
    assert_true(memory_sweep(story, NULL, 1) > 0);
}

static void a_full_buffer_is_an_error_and_no_crash(void **state)
{
    (void)state;
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES, RICH);
    size_t bytes = written.out.len;
    for (size_t room = 1; room <= bytes; room++) {
        acog_buffer_init_over(&written.out, written.memory, room);
        enum acog_code code = acog_conversation_write(written.conversation, &written.translation,
                                                      &written.arena, &written.out);
        assert_int_equal(code, room < bytes ? ACOG_TOO_BIG : ACOG_OK);
    }
    forget(&written);
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
        cmocka_unit_test(an_object_without_properties_gets_empty_ones),
        cmocka_unit_test(a_call_id_that_is_too_long_is_cut_alike_in_call_and_result),
        cmocka_unit_test(tools_and_choices_have_their_forms),
        cmocka_unit_test(neighbouring_calls_are_one_message),
        cmocka_unit_test(server_tools_are_refused_by_name),
        cmocka_unit_test(what_server_tools_found_is_refused),
        cmocka_unit_test(cache_markers_are_named_as_lost),
        cmocka_unit_test(a_schema_is_native_or_a_forced_tool_or_refused),
        cmocka_unit_test(json_mode_and_what_a_chat_client_says_of_its_schema_are_kept),
        cmocka_unit_test(the_limit_has_the_name_that_the_model_knows),
        cmocka_unit_test(a_stream_asks_for_usage),
        cmocka_unit_test(a_budget_becomes_the_nearest_word),
        cmocka_unit_test(only_four_stops_are_sent),
        cmocka_unit_test(fields_are_copied_or_named),
        cmocka_unit_test(a_request_of_chat_survives_reading_and_writing),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(a_full_buffer_is_an_error_and_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
