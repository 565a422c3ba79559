/* responses_test.c - the full sequence of a response's events, numbered from 0. */
#include "tests/unit/provider/played.h"

static void expect_sequence(json_t *events, const char *const *types, size_t count)
{
    assert_int_equal(json_array_size(events), count);
    for (size_t i = 0; i < count; i++) {
        json_t *event = json_array_get(events, i);
        assert_string_equal(text_at(event, "type"), types[i]);
        assert_int_equal(json_integer_value(at(event, "sequence_number")), i);
    }
}

static void a_text_comes_in_the_full_sequence(void **state)
{
    (void)state;
    static const char *const types[] = {
        "response.created",           "response.in_progress",
        "response.output_item.added", "response.content_part.added",
        "response.output_text.delta", "response.output_text.delta",
        "response.output_text.done",  "response.content_part.done",
        "response.output_item.done",  "response.completed",
    };
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_RESPONSES, true);
    reply.text = ACOG_VIEW("Hi there");
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    expect_sequence(events, types, sizeof(types) / sizeof(types[0]));
    assert_string_equal(text_at(events, "0.response.status"), "in_progress");
    assert_string_equal(text_at(events, "4.delta"), "Hi");
    assert_string_equal(text_at(events, "4.item_id"), text_at(events, "2.item.id"));
    assert_string_equal(text_at(events, "6.text"), "Hi there");
    assert_string_equal(text_at(events, "7.part.text"), "Hi there");
    assert_string_equal(text_at(events, "8.item.content.0.text"), "Hi there");
    assert_string_equal(text_at(events, "9.response.status"), "completed");
    assert_string_equal(text_at(events, "9.response.id"), text_at(events, "0.response.id"));
    assert_true(json_equal(at(events, "8.item"), at(events, "9.response.output.0")));
    assert_int_equal(json_integer_value(at(events, "9.response.usage.total_tokens")), 14);
    json_decref(events);
    played_fini(&played);
}

static void reasoning_and_a_tool_call_are_items_of_their_own(void **state)
{
    (void)state;
    static const char *const types[] = {
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    };
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_RESPONSES, true);
    reply.reasoning = ACOG_VIEW("hm");
    reply.tool_name = ACOG_VIEW("now");
    reply.tool_arguments = ACOG_VIEW("{\"a\":1}");
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    expect_sequence(events, types, sizeof(types) / sizeof(types[0]));
    assert_int_equal(json_integer_value(at(events, "8.output_index")), 1);
    assert_string_equal(text_at(events, "10.arguments"), "{\"a\":1}");
    assert_string_equal(text_at(events, "11.item.name"), "now");
    assert_string_equal(text_at(events, "12.response.output.0.summary.0.text"), "hm");
    assert_string_equal(text_at(events, "12.response.output.1.call_id"),
                        text_at(events, "8.item.call_id"));
    json_decref(events);
    played_fini(&played);
}

static void a_refusal_is_incomplete_by_the_filter(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_RESPONSES, true);
    reply.refusal = true;
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_string_equal(text_at(events, "2.type"), "response.incomplete");
    assert_string_equal(text_at(events, "2.response.incomplete_details.reason"), "content_filter");
    assert_int_equal(json_array_size(at(events, "2.response.output")), 0);
    json_decref(events);
    played_fini(&played);
}

static void a_native_finish_is_kept(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_RESPONSES, false);
    reply.finish = ACOG_VIEW("max_output_tokens");
    played_run(&played, &reply, &request);
    json_t *answer = played_json(&played);
    assert_string_equal(text_at(answer, "status"), "incomplete");
    assert_string_equal(text_at(answer, "incomplete_details.reason"), "max_output_tokens");
    json_decref(answer);
    played_fini(&played);

    reply.finish = ACOG_VIEW("completed");
    reply.no_usage = true;
    played_run(&played, &reply, &request);
    answer = played_json(&played);
    assert_string_equal(text_at(answer, "status"), "completed");
    assert_string_equal(text_at(answer, "output.0.content.0.text"), "Hello from anthropic.");
    assert_true(json_is_null(at(answer, "usage")));
    json_decref(answer);
    played_fini(&played);
}

static void a_failed_stream_says_error_and_response_failed(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_RESPONSES, true);
    reply.error_event = true;
    reply.error_event_after = 2;
    reply.error_message = ACOG_VIEW("it broke");
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_int_equal(json_array_size(events), 4);
    assert_string_equal(text_at(events, "2.type"), "error");
    assert_string_equal(text_at(events, "2.message"), "it broke");
    assert_string_equal(text_at(events, "3.type"), "response.failed");
    assert_string_equal(text_at(events, "3.response.status"), "failed");
    assert_string_equal(text_at(events, "3.response.error.code"), "server_error");
    assert_int_equal(json_integer_value(at(events, "3.sequence_number")), 3);
    assert_int_equal(played_end(&played), ACOG_STEP_END);
    json_decref(events);
    played_fini(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_comes_in_the_full_sequence),
        cmocka_unit_test(reasoning_and_a_tool_call_are_items_of_their_own),
        cmocka_unit_test(a_refusal_is_incomplete_by_the_filter),
        cmocka_unit_test(a_native_finish_is_kept),
        cmocka_unit_test(a_failed_stream_says_error_and_response_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
