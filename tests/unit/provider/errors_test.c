/* errors_test.c - errors in the dialect's own shape, with the type that the SDKs know by the status. */
#include "tests/unit/provider/played.h"

static void expect_anthropic(unsigned status, const char *type)
{
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, true);
    reply.status = status;
    played_run(&played, &reply, &request);
    json_t *body = played_json(&played);
    assert_int_equal(played.status, status);
    assert_string_equal(text_at(body, "type"), "error");
    assert_string_equal(text_at(body, "error.type"), type);
    assert_true(json_string_length(at(body, "error.message")) > 0);
    assert_true(played_head_has(&played, "content-type: application/json\n"));
    json_decref(body);
    played_fini(&played);
}

static void anthropic_names_the_type_by_the_status(void **state)
{
    (void)state;
    expect_anthropic(400, "invalid_request_error");
    expect_anthropic(401, "authentication_error");
    expect_anthropic(403, "permission_error");
    expect_anthropic(404, "not_found_error");
    expect_anthropic(413, "request_too_large");
    expect_anthropic(418, "invalid_request_error");
    expect_anthropic(429, "rate_limit_error");
    expect_anthropic(500, "api_error");
    expect_anthropic(504, "timeout_error");
    expect_anthropic(529, "overloaded_error");
    expect_anthropic(599, "api_error");
}

static void openai_names_type_and_code(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, false);

    static const struct {
        unsigned status;
        const char *type;
        const char *code;
    } rows[] = {
        {401, "invalid_request_error", "invalid_api_key"},
        {404, "invalid_request_error", "model_not_found"},
        {429, "requests", "rate_limit_exceeded"},
        {500, "server_error", NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        reply.status = rows[i].status;
        played_run(&played, &reply, &request);
        json_t *body = played_json(&played);
        assert_string_equal(text_at(body, "error.type"), rows[i].type);
        if (rows[i].code == NULL) {
            assert_true(json_is_null(at(body, "error.code")));
        } else {
            assert_string_equal(text_at(body, "error.code"), rows[i].code);
        }
        json_decref(body);
        played_fini(&played);
    }
}

static void a_script_says_message_type_and_code_itself(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_RESPONSES, false);
    const struct acog_header_row headers[] = {
        {.name = ACOG_VIEW("retry-after"), .value = ACOG_VIEW("7")},
        {.name = ACOG_VIEW("content-type"), .value = ACOG_VIEW("application/problem+json")},
    };
    reply.status = 400;
    reply.error_message = ACOG_VIEW("no \"such\" thing");
    reply.error_type = ACOG_VIEW("odd_error");
    reply.error_code = ACOG_VIEW("odd");
    reply.headers = headers;
    reply.header_count = 2;
    played_run(&played, &reply, &request);
    json_t *body = played_json(&played);
    assert_string_equal(text_at(body, "error.message"), "no \"such\" thing");
    assert_string_equal(text_at(body, "error.type"), "odd_error");
    assert_string_equal(text_at(body, "error.code"), "odd");
    assert_true(played_head_has(&played, "retry-after: 7\n"));
    assert_true(played_head_has(&played, "content-type: application/problem+json\n"));
    assert_false(played_head_has(&played, "content-type: application/json\n"));
    json_decref(body);
    played_fini(&played);
}

static void a_refusal_with_an_error_status_has_azures_filter_shape(void **state) /* S1.13 */
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.status = 400;
    reply.refusal = true;
    reply.refusal_category = ACOG_VIEW("self_harm");
    played_run(&played, &reply, &request);
    json_t *body = played_json(&played);
    assert_string_equal(text_at(body, "error.code"), "content_filter");
    assert_true(
        json_is_true(at(body, "error.innererror.content_filter_result.self_harm.filtered")));
    json_decref(body);
    played_fini(&played);
}

static void an_error_event_ends_a_messages_stream(void **state) /* B57 */
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, true);
    reply.error_event = true;
    reply.error_event_after = 3;
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_int_equal(json_array_size(events), 4);
    assert_string_equal(text_at(events, "2.type"), "content_block_delta");
    assert_string_equal(text_at(events, "3.type"), "error");
    assert_string_equal(text_at(events, "3.error.type"), "overloaded_error");
    assert_int_equal(played_end(&played), ACOG_STEP_END);
    json_decref(events);
    played_fini(&played);
}

static void an_error_event_of_chat_stands_alone_without_done(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_CHAT, true);
    reply.error_event = true;
    played_run(&played, &reply, &request);
    json_t *events = played_events(&played);
    assert_int_equal(json_array_size(events), 1);
    assert_string_equal(text_at(events, "0.error.type"), "server_error");
    json_decref(events);
    played_fini(&played);
}

static void an_error_event_of_a_whole_answer_is_an_error_body_with_status_200(void **state)
{
    (void)state;
    struct played played;
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_MESSAGES, false);
    reply.error_event = true;
    played_run(&played, &reply, &request);
    json_t *body = played_json(&played);
    assert_int_equal(played.status, 200);
    assert_string_equal(text_at(body, "error.type"), "api_error");
    json_decref(body);
    played_fini(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anthropic_names_the_type_by_the_status),
        cmocka_unit_test(openai_names_type_and_code),
        cmocka_unit_test(a_script_says_message_type_and_code_itself),
        cmocka_unit_test(a_refusal_with_an_error_status_has_azures_filter_shape),
        cmocka_unit_test(an_error_event_ends_a_messages_stream),
        cmocka_unit_test(an_error_event_of_chat_stands_alone_without_done),
        cmocka_unit_test(an_error_event_of_a_whole_answer_is_an_error_body_with_status_200),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
