/* messages_test.c - what an Anthropic SDK reads of a message. */
#include "tests/unit/provider/played.h"

static void expect_types(json_t *events, const char *const *types, size_t count)
{
    assert_int_equal(json_array_size(events), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(text_at(json_array_get(events, i), "type"), types[i]);
    }
}

static void a_stream_is_one_message_with_its_block_and_usage(void **state)
{
    (void)state;
    static const char *const types[] = {
        "message_start",      "content_block_start", "content_block_delta", "content_block_delta",
        "content_block_stop", "message_delta",       "message_stop",
    };
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, true);
    reply.text = ACOG_VIEW("Hi there");
    reply.output_tokens = 3;
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    expect_types(events, types, sizeof(types) / sizeof(types[0]));
    assert_string_equal(text_at(events, "0.message.role"), "assistant");
    assert_string_equal(text_at(events, "0.message.model"), "claude-haiku-4-5");
    assert_int_equal(json_array_size(at(events, "0.message.content")), 0);
    assert_int_equal(json_integer_value(at(events, "0.message.usage.input_tokens")), 12);
    assert_string_equal(text_at(events, "1.content_block.type"), "text");
    assert_string_equal(text_at(events, "3.delta.text"), " there");
    assert_string_equal(text_at(events, "5.delta.stop_reason"), "end_turn");
    assert_int_equal(json_integer_value(at(events, "5.usage.output_tokens")), 3);
    assert_true(played_head_has(&played, "request-id: req_011C"));
    json_decref(events);
    played_fini(&played);
}

static void thinking_text_and_tool_are_three_blocks_in_order(void **state) /* B43, B46 */
{
    (void)state;
    static const char *const types[] = {
        "message_start",       "content_block_start", "content_block_delta", "content_block_delta",
        "content_block_stop",  "content_block_start", "content_block_delta", "content_block_stop",
        "content_block_start", "content_block_delta", "content_block_stop",  "message_delta",
        "message_stop",
    };
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, true);
    reply.reasoning = ACOG_VIEW("hm");
    reply.text = ACOG_VIEW("ok");
    reply.tool_name = ACOG_VIEW("now");
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    expect_types(events, types, sizeof(types) / sizeof(types[0]));
    assert_string_equal(text_at(events, "2.delta.thinking"), "hm");
    assert_string_equal(text_at(events, "3.delta.type"), "signature_delta");
    assert_int_equal(json_integer_value(at(events, "5.index")), 1);
    assert_int_equal(json_integer_value(at(events, "8.index")), 2);
    assert_string_equal(text_at(events, "8.content_block.name"), "now");
    assert_int_equal(json_object_size(at(events, "8.content_block.input")), 0);
    assert_string_equal(text_at(events, "9.delta.partial_json"), "{}");
    assert_int_equal(json_integer_value(at(events, "10.index")), 2);
    assert_string_equal(text_at(events, "11.delta.stop_reason"), "tool_use");
    json_decref(events);
    played_fini(&played);
}

static void a_refusal_has_no_block_and_names_the_category(void **state) /* S4.24 */
{
    (void)state;
    static const char *const types[] = {"message_start", "message_delta", "message_stop"};
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, true);
    reply.refusal = true;
    reply.refusal_category = ACOG_VIEW("cyber");
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    expect_types(events, types, 3);
    assert_string_equal(text_at(events, "1.delta.stop_reason"), "refusal");
    assert_string_equal(text_at(events, "1.delta.stop_details.category"), "cyber");
    json_decref(events);
    played_fini(&played);

    request.stream = false;
    played_run(&played, &reply, &request);
    json_t *answer = played_json(&played);
    assert_int_equal(json_array_size(at(answer, "content")), 0);
    assert_string_equal(text_at(answer, "stop_reason"), "refusal");
    assert_string_equal(text_at(answer, "stop_details.type"), "refusal");
    json_decref(answer);
    played_fini(&played);
}

static void a_whole_answer_has_the_same_blocks(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, false);
    reply.reasoning = ACOG_VIEW("hm");
    reply.text = ACOG_VIEW("say \"ok\"\n");
    reply.tool_name = ACOG_VIEW("get_weather");
    reply.tool_arguments = ACOG_VIEW("{\"city\":\"Paris\"}");
    reply.model = ACOG_VIEW("claude-haiku-4-5-20251001");
    played_run(&played, &reply, &request);
    json_t *answer = played_json(&played);
    assert_string_equal(text_at(answer, "type"), "message");
    assert_string_equal(text_at(answer, "model"), "claude-haiku-4-5-20251001");
    assert_string_equal(text_at(answer, "content.0.thinking"), "hm");
    assert_string_equal(text_at(answer, "content.1.text"), "say \"ok\"\n");
    assert_string_equal(text_at(answer, "content.2.input.city"), "Paris");
    assert_string_equal(text_at(answer, "stop_reason"), "tool_use");
    assert_true(json_is_null(at(answer, "stop_details")));
    json_decref(answer);
    played_fini(&played);
}

static void an_empty_text_gives_an_empty_answer(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, false);
    reply.text = ACOG_VIEW("");
    played_run(&played, &reply, &request);
    json_t *answer = played_json(&played);
    assert_int_equal(json_array_size(at(answer, "content")), 0);
    assert_string_equal(text_at(answer, "stop_reason"), "end_turn");
    json_decref(answer);
    played_fini(&played);
}

static void a_ping_comes_before_each_event_but_the_first(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, true);
    reply.text = ACOG_VIEW("Hi");
    reply.comments = true;
    reply.pace_ms = 100;
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_string_equal(text_at(events, "0.type"), "message_start");
    assert_string_equal(text_at(events, "1.type"), "ping");
    assert_string_equal(text_at(events, "2.type"), "content_block_start");
    assert_string_equal(text_at(events, "3.type"), "ping");
    assert_int_equal(played.steps[3].at_ms, 50); /* half way to the event at 100 */
    assert_int_equal(played.steps[4].at_ms, 100);
    json_decref(events);
    played_fini(&played);
}

static void count_tokens_is_never_streamed(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_COUNT_TOKENS, true);
    reply.input_tokens = 41;
    played_run(&played, &reply, &request);
    assert_true(acog_view_equal(played_body(&played), ACOG_VIEW("{\"input_tokens\":41}")));
    assert_true(played_head_has(&played, "content-type: application/json\n"));
    played_fini(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_one_message_with_its_block_and_usage),
        cmocka_unit_test(thinking_text_and_tool_are_three_blocks_in_order),
        cmocka_unit_test(a_refusal_has_no_block_and_names_the_category),
        cmocka_unit_test(a_whole_answer_has_the_same_blocks),
        cmocka_unit_test(an_empty_text_gives_an_empty_answer),
        cmocka_unit_test(a_ping_comes_before_each_event_but_the_first),
        cmocka_unit_test(count_tokens_is_never_streamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
