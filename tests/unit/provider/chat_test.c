/* chat_test.c - what an OpenAI SDK reads of a chat completion. */
#include "tests/unit/provider/played.h"

static void a_stream_tells_the_role_first_and_done_last(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.text = ACOG_VIEW("Hi there");
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);

    assert_int_equal(json_array_size(events), 5);
    assert_string_equal(text_at(events, "0.choices.0.delta.role"), "assistant");
    assert_string_equal(text_at(events, "0.object"), "chat.completion.chunk");
    assert_string_equal(text_at(events, "0.model"), "claude-haiku-4-5");
    assert_int_equal(json_integer_value(at(events, "0.created")), 1700000000);
    assert_string_equal(text_at(events, "1.choices.0.delta.content"), "Hi");
    assert_true(json_is_null(at(events, "1.choices.0.finish_reason")));
    assert_string_equal(text_at(events, "2.choices.0.delta.content"), " there");
    assert_string_equal(text_at(events, "3.choices.0.finish_reason"), "stop");
    assert_string_equal(text_at(events, "4"), "[DONE]");
    assert_string_equal(text_at(events, "0.id"), text_at(events, "3.id"));
    assert_null(at(events, "3.usage"));
    assert_true(played_head_has(&played, "content-type: text/event-stream"));
    assert_int_equal(played_end(&played), ACOG_STEP_END);
    json_decref(events);
    played_fini(&played);
}

static void usage_comes_in_a_chunk_without_choices_when_asked_for(void **state) /* B51 */
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    request.usage_asked = true;
    reply.text = ACOG_VIEW("Hi");
    reply.input_tokens = 7;
    reply.output_tokens = 9;
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_int_equal(json_array_size(events), 5);
    assert_true(json_is_null(at(events, "1.usage")));
    assert_int_equal(json_array_size(at(events, "3.choices")), 0);
    assert_int_equal(json_integer_value(at(events, "3.usage.prompt_tokens")), 7);
    assert_int_equal(json_integer_value(at(events, "3.usage.completion_tokens")), 9);
    assert_int_equal(json_integer_value(at(events, "3.usage.total_tokens")), 16);
    json_decref(events);
    played_fini(&played);

    reply.no_usage = true;
    reply.no_done = true;
    played_run(&played, &reply, &request);
    assert_false(played_body_has(&played, "usage"));
    assert_false(played_body_has(&played, "[DONE]"));
    assert_int_equal(played_end(&played), ACOG_STEP_END);
    played_fini(&played);
}

static void tool_arguments_come_in_pieces_that_join_to_the_whole(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.tool_name = ACOG_VIEW("get_weather");
    reply.tool_arguments = ACOG_VIEW("{\"city\":\"Paris\",\"unit\":\"C\"}");
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    char joined[64] = "";
    size_t pieces = 0;
    size_t index;
    json_t *event;
    json_array_foreach (events, index, event) {
        const char *piece =
            json_string_value(at(event, "choices.0.delta.tool_calls.0.function.arguments"));
        if (piece != NULL && *piece != '\0') {
            assert_null(at(event, "choices.0.delta.tool_calls.0.id")); /* only in the first (B43) */
            assert_true(strlen(joined) + strlen(piece) < sizeof(joined));
            memcpy(joined + strlen(joined), piece, strlen(piece) + 1);
            pieces++;
        }
    }
    assert_string_equal(joined, "{\"city\":\"Paris\",\"unit\":\"C\"}");
    assert_true(pieces > 1);
    assert_string_equal(text_at(events, "1.choices.0.delta.tool_calls.0.function.name"),
                        "get_weather");
    assert_string_equal(
        text_at(json_array_get(events, json_array_size(events) - 2), "choices.0.finish_reason"),
        "tool_calls");
    json_decref(events);
    played_fini(&played);
}

static void reasoning_comes_before_the_text(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.reasoning = ACOG_VIEW("hm");
    reply.text = ACOG_VIEW("yes");
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_string_equal(text_at(events, "1.choices.0.delta.reasoning_content"), "hm");
    assert_string_equal(text_at(events, "2.choices.0.delta.content"), "yes");
    json_decref(events);
    played_fini(&played);
}

static void a_refusal_is_empty_and_says_content_filter(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.refusal = true;
    reply.refusal_category = ACOG_VIEW("hate");
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_int_equal(json_array_size(events), 3);
    assert_string_equal(text_at(events, "1.choices.0.finish_reason"), "content_filter");
    assert_true(json_is_true(at(events, "1.choices.0.content_filter_results.hate.filtered")));
    json_decref(events);
    played_fini(&played);
}

static void a_whole_answer_has_text_usage_and_finish(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, false);
    played_run(&played, &reply, &request);
    json_t *answer = played_json(&played);
    assert_string_equal(text_at(answer, "object"), "chat.completion");
    assert_string_equal(text_at(answer, "choices.0.message.content"), "Hello from anthropic.");
    assert_string_equal(text_at(answer, "choices.0.finish_reason"), "stop");
    assert_int_equal(json_integer_value(at(answer, "usage.prompt_tokens")), 12);
    assert_int_equal(json_integer_value(at(answer, "usage.completion_tokens")), 6);
    assert_true(played_head_has(&played, "content-type: application/json\n"));
    assert_true(played_head_has(&played, "x-request-id: req_"));
    json_decref(answer);
    played_fini(&played);
}

static void a_whole_tool_call_has_null_content_and_arguments_as_text(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, false);
    reply.tool_name = ACOG_VIEW("now");
    played_run(&played, &reply, &request);
    json_t *answer = played_json(&played);
    assert_true(json_is_null(at(answer, "choices.0.message.content")));
    assert_string_equal(text_at(answer, "choices.0.message.tool_calls.0.function.arguments"), "{}");
    assert_string_equal(text_at(answer, "choices.0.finish_reason"), "tool_calls");
    json_decref(answer);
    played_fini(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_tells_the_role_first_and_done_last),
        cmocka_unit_test(usage_comes_in_a_chunk_without_choices_when_asked_for),
        cmocka_unit_test(tool_arguments_come_in_pieces_that_join_to_the_whole),
        cmocka_unit_test(reasoning_comes_before_the_text),
        cmocka_unit_test(a_refusal_is_empty_and_says_content_filter),
        cmocka_unit_test(a_whole_answer_has_text_usage_and_finish),
        cmocka_unit_test(a_whole_tool_call_has_null_content_and_arguments_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
