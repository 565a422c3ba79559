/* translate_memory_test.c - each allocation of a translation may fail: NO_MEMORY then, and nothing is told of what failed.
 * Every client dialect, to and from every upstream dialect.
 */
#include "acog/translate.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"

#define ARENA_MAX    ((size_t)1 << 20U)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- requests -------------------------------------------------------------------------------------- */

#define SCHEMA "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}"
#define MARKER "\"cache_control\":{\"type\":\"ephemeral\"}"

static const struct request {
    enum acog_surface surface;
    const char *body;
} requests[] = {
    {ACOG_SURFACE_CHAT,
     "{\"model\":\"m\",\"seed\":1,\"x_field\":1,\"stop\":[\"\",\"E\"],\"temperature\":0.5,"
     "\"reasoning_effort\":\"low\",\"max_completion_tokens\":3000,\"messages\":[{\"role\":"
     "\"system\",\"content\":[{\"type\":\"text\",\"text\":\"s\\u0079s\"," MARKER "}]},{\"role\":"
     "\"user\",\"content\":[{\"type\":\"text\",\"text\":\"h\\ni\"},{\"type\":\"image_url\","
     "\"image_url\":{\"url\":\"data:image\\/png;base64,AA==\"}}]},{\"role\":\"assistant\","
     "\"content\":\"a\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"t\","
     "\"index\":0},{\"type\":\"reasoning.text\",\"text\":\"u\",\"index\":0},{\"type\":"
     "\"reasoning.encrypted\",\"data\":\"acog.gemini..x\",\"id\":\"c.1\"}],\"tool_calls\":[{\"id\":"
     "\"c.1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]},"
     "{\"role\":\"tool\",\"tool_call_id\":\"c\\u002e1\",\"content\":\"1\"},{\"role\":\"system\","
     "\"content\":\"later\"},{\"role\":\"user\",\"content\":\"more\"}],\"tools\":[{\"type\":"
     "\"function\",\"function\":{\"name\":\"f\",\"parameters\":" SCHEMA "}}]}"},
    {ACOG_SURFACE_MESSAGES,
     "{\"model\":\"m\",\"max_tokens\":3000,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},"
     "\"x_field\":1,\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
     "\"text\":\"h\\ni\"},{\"type\":\"document\",\"title\":\"t\",\"source\":{\"type\":\"text\","
     "\"media_type\":\"text/plain\",\"data\":\"d\"}}]},{\"role\":\"assistant\",\"content\":[{\"type\":"
     "\"thinking\",\"thinking\":\"p\",\"signature\":\"s\"},{\"type\":\"redacted_thinking\",\"data\":"
     "\"acog.gemini.c1.x\"},{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"f\",\"input\":{\"a\":1}}]},{"
     "\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c\\u0031\","
     "\"is_error\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\"}]}]}],\"tools\":[{\"name\":"
     "\"f\",\"input_schema\":" SCHEMA "}]}"},
    {ACOG_SURFACE_RESPONSES,
     "{\"model\":\"m\",\"instructions\":\"s\",\"x_field\":1,\"text\":{\"format\":{\"type\":"
     "\"json_schema\",\"name\":\"n\",\"schema\":" SCHEMA
     "}},\"input\":[{\"role\":\"user\",\"content\":"
     "\"h\\ni\"},{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[{\"type\":\"summary_text\",\"text\":"
     "\"a\"},{\"type\":\"summary_text\",\"text\":\"b\"}],\"encrypted_content\":\"e\"},{\"type\":"
     "\"function_call\",\"call_id\":\"c.1\",\"name\":\"f\",\"arguments\":\"{}\"},{\"type\":"
     "\"function_call_output\",\"call_id\":\"c\\u002e1\",\"output\":\"1\"}]}"},
};

struct telling {
    const struct request *request;
    enum acog_dialect upstream;
    struct acog_model_rules rules;
};

static void tell_request(void *user)
{
    const struct telling *telling = user;
    const struct acog_conversation *conversation = NULL;
    struct acog_request_problem problem = {{0}};
    struct acog_arena arena;
    struct acog_buffer out;
    acog_arena_init(&arena, ARENA_MAX);
    acog_buffer_init(&out, ARENA_MAX);
    enum acog_code code =
        acog_conversation_read(telling->request->surface, acog_view_of(telling->request->body),
                               &arena, &conversation, &problem);
    assert_true(code == ACOG_OK || (code == ACOG_NO_MEMORY && memory_sweep_failed()));
    assert_true((code == ACOG_OK) == (conversation != NULL));
    if (code == ACOG_OK) {
        struct acog_translation translation = {.client =
                                                   acog_surface_dialect(telling->request->surface),
                                               .upstream = telling->upstream,
                                               .rules = &telling->rules,
                                               .model = ACOG_VIEW("m-1")};
        assert_int_equal(
            acog_conversation_fits(conversation, telling->upstream, &telling->rules, &problem),
            ACOG_OK);
        code = acog_conversation_write(conversation, &translation, &arena, &out);
        assert_true(code == ACOG_OK || (code == ACOG_NO_MEMORY && memory_sweep_failed()));
        assert_true(code != ACOG_OK || translation.dropped.len > 0); /* x_field */
    }
    acog_buffer_fini(&out);
    acog_arena_fini(&arena);
}

static void each_allocation_of_a_request_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(requests); i++) {
        for (int upstream = 0; upstream < ACOG_DIALECT_COUNT; upstream++) {
            struct telling telling = {.request = &requests[i],
                                      .upstream = (enum acog_dialect)upstream,
                                      .rules =
                                          acog_model_rules_default((enum acog_dialect)upstream)};
            assert_true(memory_sweep(tell_request, &telling, 1) > 2);
        }
    }
}

/* -- answers --------------------------------------------------------------------------------------- */

#define CHAT_EVENT(delta) \
    "{\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":" delta "}]}"
#define CHAT_CALL(index, rest) "{\"tool_calls\":[{\"index\":" index "," rest "}]}"

/* Reasoning, a text, and two calls whose arguments come interleaved. */
static const char *const streams[ACOG_DIALECT_COUNT][10] = {
    [ACOG_DIALECT_CHAT] =
        {CHAT_EVENT("{\"reasoning_content\":\"p\"}"), CHAT_EVENT("{\"content\":\"h\\u0069\"}"),
         CHAT_EVENT(
             CHAT_CALL("0", "\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}")),
         CHAT_EVENT(
             CHAT_CALL("1", "\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}")),
         CHAT_EVENT(CHAT_CALL("0", "\"function\":{\"arguments\":\"}\"}")),
         "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}"},
    [ACOG_DIALECT_MESSAGES] =
        {"{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"m\"}}",
         "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\"}}",
         "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\","
         "\"thinking\":\"p\"}}",
         "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\","
         "\"signature\":\"s\"}}",
         "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":"
         "\"a\",\"name\":\"f\",\"input\":{}}}",
         "{\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":"
         "\"w\"}}",
         "{\"type\":\"content_block_stop\",\"index\":1}",
         "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}"},
    [ACOG_DIALECT_RESPONSES] =
        {"{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":"
         "\"function_call\",\"call_id\":\"a\",\"name\":\"f\"}}",
         "{\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":\"hi\"}",
         "{\"type\":\"response.function_call_arguments.done\",\"output_index\":0,\"arguments\":\"{}\"}",
         "{\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\","
         "\"output\":[]}}"},
    [ACOG_DIALECT_GEMINI] =
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"p\",\"thought\":true},{\"text\":\"hi\"}"
         "]}}]}",
         "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1}}"
         ",\"thoughtSignature\":\"s\"}]},\"finishReason\":\"SAFETY\"}]}"},
};

struct answering {
    enum acog_dialect client;
    enum acog_dialect upstream;
};

/* What a failed call appended is nothing. */
static enum acog_code checked(enum acog_code code, const struct acog_buffer *out, size_t before)
{
    assert_true(code == ACOG_OK || (code == ACOG_NO_MEMORY && memory_sweep_failed()));
    assert_true(code == ACOG_OK || out->len == before);
    return code;
}

static void tell_stream(void *user)
{
    const struct answering *answering = user;
    const struct acog_model_rules rules = acog_model_rules_default(answering->upstream);
    const struct acog_translation translation = {.client = answering->client,
                                                 .upstream = answering->upstream,
                                                 .rules = &rules,
                                                 .model = ACOG_VIEW("m"),
                                                 .request_id = ACOG_VIEW("req_1"),
                                                 .note = ACOG_VIEW("A note."),
                                                 .max_tokens = -1,
                                                 .stream = true};
    struct acog_translator *translator = acog_translator_new(&translation);
    struct acog_arena scratch;
    struct acog_buffer out;
    enum acog_code code = translator == NULL ? ACOG_NO_MEMORY : ACOG_OK;
    acog_arena_init(&scratch, ARENA_MAX);
    acog_buffer_init(&out, ARENA_MAX);
    const char *const *event = streams[answering->upstream];
    for (; code == ACOG_OK && *event != NULL; event++) {
        size_t before = out.len;
        code = checked(
            acog_translator_event(translator, ACOG_VIEW(""), acog_view_of(*event), &scratch, &out),
            &out, before);
    }
    if (code == ACOG_OK) {
        size_t before = out.len;
        code = checked(acog_translator_end(translator, &out), &out, before);
    }
    assert_true(code == ACOG_OK || memory_sweep_failed());
    acog_translator_free(&translator);
    acog_buffer_fini(&out);
    acog_arena_fini(&scratch);
}

static void each_allocation_of_a_stream_may_fail(void **state)
{
    (void)state;
    for (int client = 0; client < ACOG_DIALECT_COUNT; client++) {
        for (int upstream = 0; upstream < ACOG_DIALECT_COUNT; upstream++) {
            struct answering answering = {(enum acog_dialect)client, (enum acog_dialect)upstream};
            if (client != ACOG_DIALECT_GEMINI) {
                assert_true(memory_sweep(tell_stream, &answering, 1) > 2);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_a_request_may_fail),
        cmocka_unit_test(each_allocation_of_a_stream_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
