/* answer_from_gemini_test.c - answers of generateContent as the flow tells them on (flow_parts.h). */
#include "core/dialect/flow.h"
#include "tests/support/check.h"
#include "tests/support/flow_parts.h"
#include "tests/support/memory_sweep.h"

#include <stdlib.h>
#include <string.h>

#define OUT_BYTES_MAX ((size_t)1 << 16U)

/* -- a run ----------------------------------------------------------------------------------------- */

static const struct acog_translation translation = {.client = ACOG_DIALECT_CHAT,
                                                    .upstream = ACOG_DIALECT_GEMINI,
                                                    .model = {"gemini-sent", 11},
                                                    .request_id = {"r1", 2},
                                                    .input_tokens_estimate = 9,
                                                    .max_tokens = -1};

static const struct acog_translation by_tool = {.client = ACOG_DIALECT_CHAT,
                                                .upstream = ACOG_DIALECT_GEMINI,
                                                .model = {"gemini-sent", 11},
                                                .request_id = {"r1", 2},
                                                .max_tokens = -1,
                                                .schema_by_tool = true};

/* The events are one answer when there is one, else a stream's: both are read by the same reader. */
static void assert_told_with(const struct acog_translation *with, const char *const *events,
                             size_t count, const char *expected)
{
    struct acog_flow flow;
    struct acog_buffer out;
    struct acog_arena scratch;
    acog_buffer_init(&out, OUT_BYTES_MAX);
    acog_arena_init(&scratch, OUT_BYTES_MAX);
    assert_int_equal(acog_flow_init(&flow, with, &flow_parts_form), ACOG_OK);
    flow.out = &out;
    for (size_t i = 0; i < count; i++) {
        char *event = strdup(events[i]); /* nothing may be kept of an event that is over */
        acog_gemini_read_event(&flow, ACOG_VIEW(""), acog_view_of(event), &scratch);
        free(event);
        acog_arena_reset(&scratch);
    }
    acog_flow_end(&flow);
    assert_int_equal(flow.code, ACOG_OK);
    assert_int_equal(acog_buffer_append(&out, (struct acog_view){.ptr = "", .len = 1}), ACOG_OK);
    assert_string_equal(out.ptr, expected);
    acog_flow_fini(&flow);
    acog_arena_fini(&scratch);
    acog_buffer_fini(&out);
}

#define ASSERT_TOLD(events, expected) \
    assert_told_with(&translation, (events), sizeof(events) / sizeof((events)[0]), (expected))

#define PARTS(parts) "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts "]}}]}"
#define END(reason)  "{\"candidates\":[{\"finishReason\":\"" reason "\"}]}"
#define UNTOLD       "usage estimated\n"

/* -- the parts ------------------------------------------------------------------------------------- */

static void a_stream_is_one_text_with_the_last_usage(void **state)
{
    const char *const events[] = {
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"He\"}],\"role\":\"model\"},"
        "\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":15,\"totalTokenCount\":15},"
        "\"modelVersion\":\"gemini-x\",\"responseId\":\"id1\"}",
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"y \\u00e9\"}],\"role\":\"model\"},"
        "\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":15,"
        "\"candidatesTokenCount\":2,\"thoughtsTokenCount\":30,\"cachedContentTokenCount\":10,"
        "\"totalTokenCount\":47},\"modelVersion\":\"gemini-x\",\"responseId\":\"id1\"}",
    };
    (void)state;
    ASSERT_TOLD(events, "begin id1 gemini-x input 15\n"
                        "text: [He] [y \\u00e9]\n"
                        "stop STOP\n"
                        "usage 15/10/-1/32/30\n");
}

static void thoughts_are_reasoning_and_come_before_the_text(void **state)
{
    const char *const events[] = {
        PARTS("{\"text\":\"**Hm**\\n\",\"thought\":true}"),
        PARTS("{\"text\":\"more\",\"thought\":true},{\"text\":\"So\"}"),
        END("STOP"),
    };
    (void)state;
    ASSERT_TOLD(events, "begin  gemini-sent\n"
                        "reasoning: [**Hm**\\n] [more]\n"
                        "text: [So]\n"
                        "stop STOP\n" UNTOLD);
}

/* B48 for the second one; ids are made where there are none, and are never the same. */
static void calls_come_whole_one_after_the_other(void **state)
{
    const char *const events[] = {
        PARTS("{\"functionCall\":{\"name\":\"rain\",\"id\":\"abc\",\"args\":{\"city\": \"Oslo\"}}},"
              "{\"functionCall\":{\"name\":\"now\"}}"),
        PARTS("{\"functionCall\":{\"name\":\"now\",\"args\":{}}}"),
        END("STOP"),
    };
    (void)state;
    ASSERT_TOLD(events, "begin  gemini-sent\n"
                        "call abc rain: [{\\\"city\\\": \\\"Oslo\\\"}]\n"
                        "call call_c32e1fe33159c449_1 now: nothing\n"
                        "call call_c32e1fe33159c449_2 now: [{}]\n"
                        "calls STOP\n" UNTOLD);
}

static void a_calls_signature_is_the_calls(void **state)
{
    const char *const events[] = {
        PARTS("{\"functionCall\":{\"name\":\"f\",\"id\":\"a\",\"args\":{}},"
              "\"thoughtSignature\":\"U0lH\"},{\"functionCall\":{\"name\":\"g\",\"id\":\"b\"}}"),
        END("STOP"),
    };
    (void)state;
    ASSERT_TOLD(events, "begin  gemini-sent\n"
                        "call a f: sealed(U0lH) [{}]\n"
                        "call b g: nothing\n"
                        "calls STOP\n" UNTOLD);
}

static void a_texts_signature_follows_the_text(void **state)
{
    const char *const whole[] = {PARTS("{\"text\":\"So\",\"thoughtSignature\":\"U0lH\"}")};
    const char *const streamed[] = {PARTS("{\"text\":\"So\"}"),
                                    PARTS("{\"text\":\"\",\"thoughtSignature\":\"U0lH\"}")};
    const char *const thought[] = {
        PARTS("{\"text\":\"hm\",\"thought\":true,\"thoughtSignature\":\"U0lH\"},{\"text\":\"So\"}"),
    };
    (void)state;
    ASSERT_TOLD(whole, "begin  gemini-sent\n"
                       "text: [So]\n"
                       "reasoning: redacted(U0lH) nothing\n"
                       "stop \n" UNTOLD);
    ASSERT_TOLD(streamed, "begin  gemini-sent\n"
                          "text: [So]\n"
                          "reasoning: redacted(U0lH) nothing\n"
                          "stop \n" UNTOLD);
    ASSERT_TOLD(thought, "begin  gemini-sent\n"
                         "reasoning: [hm] sealed(U0lH)\n"
                         "text: [So]\n"
                         "stop \n" UNTOLD);
}

static void what_google_ran_and_painted_is_skipped(void **state)
{
    const char *const events[] = {
        PARTS("{\"executableCode\":{\"language\":\"PYTHON\",\"code\":\"1\"}},"
              "{\"codeExecutionResult\":{\"outcome\":\"OUTCOME_OK\",\"output\":\"1\"}},"
              "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"iVBO\"}},{\"text\":\"ok\"}"),
        "{\"candidates\":[{\"index\":0}],\"usageMetadata\":{\"trafficType\":\"ON_DEMAND\"}}",
        "{\"candidates\":[]}",
        "{}",
    };
    (void)state;
    ASSERT_TOLD(events, "begin  gemini-sent\n"
                        "text: [ok]\n"
                        "stop \n" UNTOLD);
}

/* B20 */
static void the_schemas_tool_is_the_text(void **state)
{
    const char *const events[] = {
        PARTS("{\"functionCall\":{\"name\":\"structured_answer\",\"args\":{\"age\": 41}},"
              "\"thoughtSignature\":\"U0lH\"}"),
        END("STOP"),
    };
    (void)state;
    assert_told_with(&by_tool, events, 2,
                     "begin  gemini-sent\n"
                     "text: [{\\\"age\\\": 41}]\n"
                     "stop STOP\n"
                     "usage estimated\n");
}

/* -- sources --------------------------------------------------------------------------------------- */

static void sources_belong_to_the_text_and_come_before_its_signature(void **state)
{
    const char *const events[] = {
        PARTS("{\"text\":\"Sunny\"}"),
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\".\",\"thoughtSignature\":\"U0lH\"}]},"
        "\"finishReason\":\"STOP\",\"groundingMetadata\":{\"groundingChunks\":[{\"web\":{\"title\":"
        "\"w.example\",\"uri\":\"https://w.example/1\"}},{\"retrievedContext\":{\"text\":\"no "
        "address\"}}]},\"citationMetadata\":{\"citationSources\":[{\"startIndex\":0,\"uri\":"
        "\"https://c.example\"}]}}]}",
    };
    (void)state;
    ASSERT_TOLD(events, "begin  gemini-sent\n"
                        "text: [Sunny] [.] source(https://w.example/1|w.example) "
                        "source(https://c.example|)\n"
                        "reasoning: redacted(U0lH) nothing\n"
                        "stop STOP\n" UNTOLD);
}

/* -- why it ended ---------------------------------------------------------------------------------- */

/* B60: what is not known is never a plain stop. */
static void every_reason_has_its_place(void **state)
{
    static const struct {
        const char *event;
        const char *told;
    } rows[] = {
        {END("STOP"), "stop STOP\n"},
        {END("MAX_TOKENS"), "length MAX_TOKENS\n"},
        {END("CONTINUATION"), "length CONTINUATION\n"},
        {END("SAFETY"), "refusal SAFETY for safety\n"},
        {END("RECITATION"), "refusal RECITATION for recitation\n"},
        {END("BLOCKLIST"), "refusal BLOCKLIST for blocklist\n"},
        {END("PROHIBITED_CONTENT"), "refusal PROHIBITED_CONTENT for prohibited_content\n"},
        {END("SPII"), "refusal SPII for spii\n"},
        {END("IMAGE_SAFETY"), "refusal IMAGE_SAFETY for image_safety\n"},
        {END("MALFORMED_FUNCTION_CALL"), "unknown MALFORMED_FUNCTION_CALL\n"},
        {END("UNEXPECTED_TOOL_CALL"), "unknown UNEXPECTED_TOOL_CALL\n"},
        {END("LANGUAGE"), "unknown LANGUAGE\n"},
        {END("OTHER"), "unknown OTHER\n"},
        {END("A_NEW_ONE"), "unknown A_NEW_ONE\n"},
        {"{\"candidates\":[{\"finishReason\":1}]}", "stop STOP\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char expected[256];
        struct acog_buffer text;
        acog_buffer_init_over(&text, expected, sizeof(expected) - 1);
        assert_int_equal(acog_buffer_format(&text, "begin  gemini-sent\n%s" UNTOLD, rows[i].told),
                         ACOG_OK);
        expected[text.len] = '\0';
        assert_told_with(&translation, &rows[i].event, 1, expected);
    }
}

static void a_blocked_answer_names_the_category_of_the_rating(void **state)
{
    const char *const events[] = {
        "{\"candidates\":[{\"content\":{},\"finishReason\":\"SAFETY\",\"finishMessage\":\"No.\","
        "\"safetyRatings\":[{\"category\":\"HARM_CATEGORY_HARASSMENT\",\"probability\":\"LOW\"},"
        "{\"blocked\":true,\"category\":\"HARM_CATEGORY_HATE_SPEECH\"}]}],\"usageMetadata\":{"
        "\"promptTokenCount\":14,\"totalTokenCount\":14}}",
    };
    (void)state;
    ASSERT_TOLD(events, "begin  gemini-sent input 14\n"
                        "refusal SAFETY for hate_speech: No.\n"
                        "usage 14/-1/-1/0/-1\n");
}

static void a_blocked_prompt_is_a_refusal_without_candidates(void **state)
{
    const char *const events[] = {
        "{\"promptFeedback\":{\"blockReason\":\"MODEL_ARMOR\",\"blockReasonMessage\":\"The prompt "
        "violated a filter.\"},\"modelVersion\":\"gemini-x\",\"responseId\":\"id1\"}",
    };
    (void)state;
    ASSERT_TOLD(events, "begin id1 gemini-x\n"
                        "refusal MODEL_ARMOR for model_armor: The prompt violated "
                        "a filter.\n" UNTOLD);
}

/* -- usage ----------------------------------------------------------------------------------------- */

static void usage_adds_what_was_thought_and_what_a_tool_brought_in(void **state)
{
    const char *const thought_only[] = {
        "{\"candidates\":[{\"finishReason\":\"MAX_TOKENS\"}],\"usageMetadata\":{\"promptTokenCount\""
        ":20,\"thoughtsTokenCount\":96,\"totalTokenCount\":116}}",
    };
    const char *const with_tool[] = {
        "{\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":15,"
        "\"candidatesTokenCount\":37,\"totalTokenCount\":1564,\"toolUsePromptTokenCount\":770,"
        "\"thoughtsTokenCount\":742}}",
    };
    (void)state;
    ASSERT_TOLD(thought_only, "begin  gemini-sent input 20\n"
                              "length MAX_TOKENS\n"
                              "usage 20/-1/-1/96/96\n");
    ASSERT_TOLD(with_tool, "begin  gemini-sent input 785\n"
                           "stop STOP\n"
                           "usage 785/-1/-1/779/742\n");
}

/* -- without memory -------------------------------------------------------------------------------- */

static void read_one(void *user)
{
    static const char event[] =
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"h\\u0069\"},{\"functionCall\":{"
        "\"name\":\"f\",\"args\":{}},\"thoughtSignature\":\"U0lH\"}]},\"finishReason\":"
        "\"SAFETY\"}]}";
    struct acog_flow flow;
    struct acog_buffer out;
    struct acog_arena scratch;
    (void)user;
    acog_buffer_init(&out, OUT_BYTES_MAX);
    acog_arena_init(&scratch, OUT_BYTES_MAX);
    if (acog_flow_init(&flow, &translation, &flow_parts_form) == ACOG_OK) {
        flow.out = &out;
        acog_gemini_read_event(&flow, ACOG_VIEW(""), acog_view_of(event), &scratch);
        acog_flow_end(&flow);
        assert_true(flow.code == ACOG_OK || memory_sweep_failed());
        acog_flow_fini(&flow);
    } else {
        assert_true(memory_sweep_failed());
    }
    acog_arena_fini(&scratch);
    acog_buffer_fini(&out);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(memory_sweep(read_one, NULL, 1) >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_one_text_with_the_last_usage),
        cmocka_unit_test(thoughts_are_reasoning_and_come_before_the_text),
        cmocka_unit_test(calls_come_whole_one_after_the_other),
        cmocka_unit_test(a_calls_signature_is_the_calls),
        cmocka_unit_test(a_texts_signature_follows_the_text),
        cmocka_unit_test(what_google_ran_and_painted_is_skipped),
        cmocka_unit_test(the_schemas_tool_is_the_text),
        cmocka_unit_test(sources_belong_to_the_text_and_come_before_its_signature),
        cmocka_unit_test(every_reason_has_its_place),
        cmocka_unit_test(a_blocked_answer_names_the_category_of_the_rating),
        cmocka_unit_test(a_blocked_prompt_is_a_refusal_without_candidates),
        cmocka_unit_test(usage_adds_what_was_thought_and_what_a_tool_brought_in),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
