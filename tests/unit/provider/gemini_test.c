/* gemini_test.c - what a translation, or Google's SDK, reads of generateContent. */
#include "tests/unit/provider/played.h"

static struct acog_provider_request gemini_request(bool stream)
{
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, stream);
    request.dialect = ACOG_DIALECT_GEMINI;
    request.model = ACOG_VIEW("gemini-2.5-flash");
    return request;
}

static void every_event_is_an_answer_and_the_last_has_the_reason(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = gemini_request(true);
    reply.reasoning = ACOG_VIEW("Hm");
    reply.text = ACOG_VIEW("Hi there");
    reply.input_tokens = 7;
    reply.output_tokens = 9;
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);

    assert_int_equal(json_array_size(events), 4);
    assert_string_equal(text_at(events, "0.candidates.0.content.parts.0.text"), "Hm");
    assert_true(json_is_true(at(events, "0.candidates.0.content.parts.0.thought")));
    assert_string_equal(text_at(events, "1.candidates.0.content.parts.0.text"), "Hi");
    assert_string_equal(text_at(events, "1.candidates.0.content.role"), "model");
    assert_null(at(events, "1.candidates.0.content.parts.0.thought"));
    assert_null(at(events, "1.candidates.0.finishReason"));
    assert_int_equal(json_integer_value(at(events, "1.usageMetadata.promptTokenCount")), 7);
    assert_null(at(events, "1.usageMetadata.candidatesTokenCount"));
    assert_string_equal(text_at(events, "2.candidates.0.content.parts.0.text"), " there");
    assert_string_equal(text_at(events, "3.candidates.0.finishReason"), "STOP");
    assert_int_equal(json_integer_value(at(events, "3.usageMetadata.candidatesTokenCount")), 9);
    assert_int_equal(json_integer_value(at(events, "3.usageMetadata.totalTokenCount")), 16);
    assert_string_equal(text_at(events, "3.modelVersion"), "gemini-2.5-flash");
    assert_string_equal(text_at(events, "0.responseId"), text_at(events, "3.responseId"));
    assert_true(played_body_has(&played, "}\r\n\r\n")); /* FACTS, 8 */
    assert_false(played_body_has(&played, "[DONE]"));
    assert_true(played_head_has(&played, "content-type: text/event-stream"));
    json_decref(events);
    played_fini(&played);
}

static void a_whole_answer_has_its_parts_in_order(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = gemini_request(false);
    reply.reasoning = ACOG_VIEW("Hm");
    reply.text = ACOG_VIEW("Hi");
    reply.tool_name = ACOG_VIEW("get_weather");
    reply.tool_arguments = ACOG_VIEW("{\"city\":\"Paris\"}");
    played_run(&played, &reply, &request);
    json_t *json = played_json(&played);
    assert_int_equal(json_array_size(at(json, "candidates.0.content.parts")), 3);
    assert_true(json_is_true(at(json, "candidates.0.content.parts.0.thought")));
    assert_string_equal(text_at(json, "candidates.0.content.parts.1.text"), "Hi");
    assert_string_equal(text_at(json, "candidates.0.content.parts.2.functionCall.name"),
                        "get_weather");
    assert_string_equal(text_at(json, "candidates.0.content.parts.2.functionCall.args.city"),
                        "Paris");
    assert_int_equal(strlen(text_at(json, "candidates.0.content.parts.2.functionCall.id")), 8);
    assert_int_equal(strlen(text_at(json, "candidates.0.content.parts.2.thoughtSignature")), 64);
    assert_string_equal(text_at(json, "candidates.0.finishReason"), "STOP");
    assert_true(played_head_has(&played, "content-type: application/json"));
    json_decref(json);
    played_fini(&played);
}

static void a_call_comes_whole_in_one_event(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = gemini_request(true);
    reply.tool_name = ACOG_VIEW("now");
    reply.no_usage = true;
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_int_equal(json_array_size(events), 2);
    assert_string_equal(text_at(events, "0.candidates.0.content.parts.0.functionCall.name"), "now");
    assert_true(
        json_is_object(at(events, "0.candidates.0.content.parts.0.functionCall.args"))); /* B48 */
    assert_string_equal(text_at(events, "1.candidates.0.finishReason"), "STOP");
    assert_false(played_body_has(&played, "usageMetadata"));
    json_decref(events);
    played_fini(&played);
}

static void a_refusal_has_no_text_and_names_the_category(void **state)
{
    (void)state;
    struct acog_provider_reply reply = good_reply();
    reply.refusal = true;
    reply.refusal_category = ACOG_VIEW("HARM_CATEGORY_HATE_SPEECH");
    for (int stream = 0; stream < 2; stream++) {
        struct played played;
        struct acog_provider_request request = gemini_request(stream == 1);
        played_run(&played, &reply, &request);
        json_t *json = stream == 1 ? played_events(&played) : played_json(&played);
        json_t *answer = stream == 1 ? json_array_get(json, 0) : json;
        assert_string_equal(text_at(answer, "candidates.0.finishReason"), "SAFETY");
        assert_string_equal(text_at(answer, "candidates.0.safetyRatings.0.category"),
                            "HARM_CATEGORY_HATE_SPEECH");
        assert_true(json_is_true(at(answer, "candidates.0.safetyRatings.0.blocked")));
        json_decref(json);
        played_fini(&played);
    }
}

static void errors_are_googles(void **state)
{
    (void)state;

    static const struct {
        unsigned status;
        const char *word;
    } rows[] = {{400, "INVALID_ARGUMENT"},   {401, "UNAUTHENTICATED"}, {404, "NOT_FOUND"},
                {429, "RESOURCE_EXHAUSTED"}, {500, "INTERNAL"},        {503, "UNAVAILABLE"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct played played;
        struct acog_provider_reply reply = good_reply();
        struct acog_provider_request request = gemini_request(i % 2 == 0);
        reply.status = rows[i].status;
        reply.error_code = ACOG_VIEW("A_REASON");
        played_run(&played, &reply, &request);
        json_t *json = played_json(&played);
        assert_int_equal(json_integer_value(at(json, "error.code")), rows[i].status);
        assert_string_equal(text_at(json, "error.status"), rows[i].word);
        assert_string_equal(text_at(json, "error.details.0.reason"), "A_REASON");
        json_decref(json);
        played_fini(&played);
    }
}

static void a_stream_can_break_into_an_error_or_into_what_is_no_json(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = gemini_request(true);
    reply.text = ACOG_VIEW("one two three");
    reply.error_event = true;
    reply.error_event_after = 1;
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_int_equal(json_array_size(events), 2);
    assert_int_equal(json_integer_value(at(events, "1.error.code")), 503);
    assert_string_equal(text_at(events, "1.error.status"), "UNAVAILABLE");
    json_decref(events);
    played_fini(&played);

    reply.error_event = false;
    reply.malformed_event = true;
    reply.malformed_event_after = 1;
    reply.comments = true;
    played_run(&played, &reply, &request);
    assert_true(played_body_has(&played, "data: {\"candidates\": \r\n\r\n"));
    assert_true(played_body_has(&played, ": keep-alive\n\n"));
    assert_true(played_body_has(&played, "\"finishReason\":\"STOP\""));
    played_fini(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_is_an_answer_and_the_last_has_the_reason),
        cmocka_unit_test(a_whole_answer_has_its_parts_in_order),
        cmocka_unit_test(a_call_comes_whole_in_one_event),
        cmocka_unit_test(a_refusal_has_no_text_and_names_the_category),
        cmocka_unit_test(errors_are_googles),
        cmocka_unit_test(a_stream_can_break_into_an_error_or_into_what_is_no_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
