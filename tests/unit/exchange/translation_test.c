/* translation_test.c - an upstream of another dialect than the client's: what is sent, what comes back, moves between
 * dialects, and the ends of it.
 */
#include "driver.h"
#include "state.h"
#include "streams.h"

#include <stdio.h>

static void speaks(struct driver *driver, size_t connection, unsigned dialects)
{
    driver->connections[connection].dialects = dialects;
}

static void init(struct driver *driver, unsigned one, unsigned two)
{
    driver_init(driver);
    speaks(driver, 0, one);
    speaks(driver, 1, two);
}

#define CHAT      ACOG_BIT(ACOG_DIALECT_CHAT)
#define MESSAGES  ACOG_BIT(ACOG_DIALECT_MESSAGES)
#define RESPONSES ACOG_BIT(ACOG_DIALECT_RESPONSES)
#define GEMINI    ACOG_BIT(ACOG_DIALECT_GEMINI)

static void assert_sent(const struct driver *driver, size_t send, const char *part)
{
    if (!driver_has(&driver->sends[send].body, part)) {
        print_error("sent:\n%.*s\nwanted: %s\n",
                    ACOG_VIEW_FMT(acog_buffer_view(&driver->sends[send].body)), part);
        fail();
    }
}

static void assert_told(const struct driver *driver, const char *part)
{
    if (!driver_has(&driver->reply, part)) {
        print_error("told:\n%.*s\nwanted: %s\n", ACOG_VIEW_FMT(acog_buffer_view(&driver->reply)),
                    part);
        fail();
    }
}

static size_t told(const struct driver *driver, const char *part)
{
    return driver_count(acog_buffer_view(&driver->reply), part);
}

/* The first attempt answers with a stream that begins so. */
static void ask_and_stream(struct driver *driver, const char *target, const char *asked,
                           const char *stream)
{
    driver_post(driver, target, asked);
    driver_head(driver, 1, 200, SSE);
    driver_text(driver, 1, stream);
}

/* -- one attempt ----------------------------------------------------------------------------------- */

static void a_whole_answer_comes_in_the_clients_dialect(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    driver_post(&driver, "/v1/chat/completions",
                "{\"model\":\"m\",\"seed\":1,\"messages\":[{\"role\":\"system\",\"content\":\"be "
                "brief\"},{\"role\":\"user\",\"content\":\"hi \\u00e9\"}]}");
    assert_int_equal(driver.send_count, 1);
    assert_sent(&driver, 0, "\"model\":\"m-1\"");
    assert_sent(&driver, 0, "hi \\u00e9"); /* as the client wrote it */
    assert_sent(&driver, 0, "\"max_tokens\":");
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, MESSAGES_WHOLE);
    driver_end(&driver, 1);
    assert_int_equal(driver.status, 200);
    assert_int_equal(driver.content_length, driver.reply.len);
    assert_told(&driver, "\"object\":\"chat.completion\"");
    assert_told(&driver, "\"content\":\"Hello\"");
    assert_told(&driver, "\"finish_reason\":\"stop\"");
    driver_header_is(&driver, "x-acog-dropped-params: seed\n");
    assert_true(
        acog_view_equal(acog_exchange_record(driver.exchange)->dropped_params, ACOG_VIEW("seed")));
    const struct acog_exchange_record *record = acog_exchange_record(driver.exchange);
    assert_int_equal(record->usage.input_tokens, 5);
    assert_false(record->usage_estimated);
    driver_fini(&driver);
}

static void a_whole_answer_is_told_when_it_was_read_whatever_the_policy_commits_at(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    driver.snapshot->policy.commit.whole = ACOG_COMMIT_HEADERS;
    driver_post(&driver, "/v1/chat/completions", ASK_CHAT_WHOLE);
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, "{\"id\":");
    assert_int_equal(driver.status, 0);
    driver_failed(&driver, 1, ACOG_CAUSE_CUT); /* nothing was told: another one may be asked */
    assert_int_equal(driver.send_count, 2);
    driver_head(&driver, 2, 200, "application/json");
    driver_text(&driver, 2, MESSAGES_WHOLE);
    driver_end(&driver, 2);
    assert_told(&driver, "\"object\":\"chat.completion\"");
    assert_int_equal(told(&driver, "\"type\":\"message\""), 0);
    driver_fini(&driver);
}

static void a_whole_answer_above_the_cap_is_none(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    driver.snapshot->policy.attempts.max = 1;
    driver.snapshot->policy.commit.fail_when_full = false;
    driver.snapshot->limits.answer_bytes = sizeof(MESSAGES_WHOLE) - 2;
    driver_post(&driver, "/v1/chat/completions", ASK_CHAT_WHOLE);
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, MESSAGES_WHOLE);
    assert_int_equal(driver.status, 502);
    assert_int_equal(told(&driver, "Hello"), 0);
    driver_fini(&driver);
}

static void a_stream_comes_event_by_event(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, CHAT, CHAT);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    assert_sent(&driver, 0, "\"include_usage\":true"); /* B49 */
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, CHAT_ROLE);
    assert_int_equal(driver.status, 0); /* no output yet: nothing is committed */
    driver_text(&driver, 1, CHAT_TEXT("He"));
    assert_int_equal(driver.status, 200);
    assert_int_equal(told(&driver, "event: message_start"), 1);
    assert_told(&driver, "\"text\":\"He\"");
    driver_text(&driver, 1, CHAT_TEXT("llo") CHAT_FINISH("stop") CHAT_USAGE CHAT_DONE);
    driver_end(&driver, 1);
    assert_true(driver.ended && driver.finished);
    assert_int_equal(told(&driver, "event: content_block_start"), 1);
    assert_int_equal(told(&driver, "event: message_delta"), 1);
    assert_int_equal(told(&driver, "event: message_stop"), 1);
    assert_told(&driver, "\"output_tokens\":2");
    driver_fini(&driver);
}

/* Also when the request, from which the names are known, was given back at the commit. */
static void a_call_comes_back_under_the_names_that_the_client_declared(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, CHAT, CHAT);
    driver_post(
        &driver, "/v1/responses",
        "{\"model\":\"m\",\"stream\":true,\"input\":\"hi\",\"tools\":[{\"type\":\"namespace\","
        "\"name\":\"crm\",\"tools\":[{\"type\":\"function\",\"name\":\"get\"}]},{\"type\":"
        "\"custom\",\"name\":\"patch\"}]}");
    assert_sent(&driver, 0, "\"name\":\"crm__get\"");
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, CHAT_TEXT("He"));
    assert_int_equal(driver.status, 200);
    driver_text(
        &driver, 1,
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\","
        "\"function\":{\"name\":\"crm__get\",\"arguments\":\"{}\"}},{\"index\":1,\"id\":\"c2\","
        "\"function\":{\"name\":\"patch\",\"arguments\":\"{\\\"input\\\":\\\"a\\\"}\"}}]}}]}"
        "\n\n" CHAT_FINISH("tool_calls") CHAT_DONE);
    driver_end(&driver, 1);
    assert_true(driver.ended && driver.finished);
    assert_int_equal(told(&driver, "\"name\":\"get\",\"namespace\":\"crm\"}"), 3);
    assert_int_equal(told(&driver, "\"type\":\"custom_tool_call\""), 3);
    assert_int_equal(told(&driver, "\"input\":\"a\""), 3);
    assert_int_equal(told(&driver, "crm__get"), 0);
    driver_fini(&driver);
}

struct pair {
    const char *target;
    const char *asked;
    unsigned upstream;
    const char *stream;
};

static const struct pair pairs[] = {
    {"/v1/chat/completions", ASK_CHAT, MESSAGES, MESSAGES_STREAM},
    {"/v1/chat/completions", ASK_CHAT_USAGE, RESPONSES, RESPONSES_STREAM},
    {"/v1/messages", ASK_MESSAGES, CHAT, CHAT_STREAM},
    {"/v1/messages", ASK_MESSAGES, RESPONSES, RESPONSES_STREAM},
    {"/v1/responses", ASK_RESPONSES, CHAT, CHAT_STREAM},
    {"/v1/responses", ASK_RESPONSES, MESSAGES, MESSAGES_STREAM},
};

static void play(struct driver *driver, const struct pair *pair, struct acog_view stream,
                 size_t piece)
{
    init(driver, pair->upstream, pair->upstream);
    driver_post(driver, pair->target, pair->asked);
    driver_head(driver, 1, 200, SSE);
    for (size_t at = 0; at < stream.len; at += piece) {
        driver_body(driver, 1, acog_view_slice(stream, at, at + piece));
    }
    driver_end(driver, 1);
    assert_true(driver->ended);
}

/* B53, B55 */
static void however_a_stream_is_cut_into_reads_it_is_told_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct driver whole;
        struct driver bytes;
        struct acog_view stream = acog_view_of(pairs[i].stream);
        play(&whole, &pairs[i], stream, stream.len);
        play(&bytes, &pairs[i], stream, 1);
        driver_reply_is(&bytes, acog_buffer_view(&whole.reply));
        driver_fini(&whole);
        driver_fini(&bytes);
    }
}

static void a_usage_chunk_is_told_only_to_those_who_asked(void **state) /* B51 */
{
    (void)state;
    struct driver silent;
    struct driver asked;
    struct pair pair = pairs[0];
    play(&silent, &pair, acog_view_of(pair.stream), 64);
    pair.asked = ASK_CHAT_USAGE;
    play(&asked, &pair, acog_view_of(pair.stream), 64);
    assert_int_equal(told(&silent, "\"choices\":[]"), 0);
    assert_int_equal(told(&asked, "\"choices\":[]"), 1);
    driver_fini(&silent);
    driver_fini(&asked);
}

static void tokens_that_nobody_counted_are_estimated_and_said_to_be(void **state)
{
    (void)state;
    struct driver driver;
    struct pair pair = {"/v1/messages", ASK_MESSAGES, CHAT,
                        CHAT_BEGIN CHAT_TEXT("llo") CHAT_FINISH("stop") CHAT_DONE};
    play(&driver, &pair, acog_view_of(pair.stream), 64);
    assert_told(&driver, "\"estimated\":true");
    const struct acog_exchange_record *record = acog_exchange_record(driver.exchange);
    assert_true(record->usage_estimated);
    assert_int_equal(record->usage.output_tokens, 2); /* "Hello" */
    driver_fini(&driver);
}

/* -- what cannot be told --------------------------------------------------------------------------- */

static void what_cannot_be_told_is_a_400_that_names_the_place(void **state) /* decision 14, B23 */
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    driver_post(&driver, "/v1/chat/completions",
                "{\"model\":\"m\",\"n\":2,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
    assert_int_equal(driver.status, 400);
    assert_int_equal(driver.send_count, 0);
    assert_told(&driver, "n: must be 1");
    assert_told(&driver, "\"param\":\"n\"");
    driver_fini(&driver);
}

static void a_connection_that_can_be_told_is_taken_instead(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, CHAT);
    driver_post(&driver, "/v1/chat/completions",
                "{\"model\":\"m\",\"n\":2,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
    assert_int_equal(driver.send_count, 1);
    assert_string_equal(driver.sends[0].connection, "two");
    assert_sent(&driver, 0, "\"n\":2");
    driver_failed(&driver, 1, ACOG_CAUSE_CLOSED);
    driver_fini(&driver);
}

static void a_broken_tool_history_is_refused_where_it_is_translated(void **state) /* decision 13 */
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    driver_post(&driver, "/v1/chat/completions",
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":"
                "\"tool\",\"tool_call_id\":\"c9\",\"content\":\"1\"}]}");
    assert_int_equal(driver.status, 400);
    assert_told(&driver, "c9");
    driver_fini(&driver);
}

/* A thread is state at its provider; the SDKs of Anthropic know the word, and send all messages instead. */
static void a_thread_is_refused_in_the_word_that_its_sdk_knows(void **state) /* decision 14 */
{
    static const struct {
        const char *thread;
        bool refused;
    } rows[] = {{"{\"type\":\"create\"}", true},
                {"{\"type\":\"continue\",\"previous_message_id\":\"msg_1\"}", true},
                {"null", false}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct driver driver;
        char body[256];
        snprintf(body, sizeof(body),
                 "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":"
                 "\"hi\"}],\"thread\":%s}",
                 rows[i].thread);
        init(&driver, CHAT, CHAT);
        driver_post(&driver, "/v1/messages", body);
        assert_int_equal(driver.send_count, rows[i].refused ? 0 : 1);
        if (rows[i].refused) {
            assert_int_equal(driver.status, 400);
            assert_told(&driver, "send all of its messages, without thread");
            assert_told(&driver, "\"code\":\"invalid_request\",\"details\":{\"error_code\":"
                                 "\"thread_unsupported_request\"}}");
        } else {
            driver_failed(&driver, 1, ACOG_CAUSE_CLOSED);
        }
        driver_fini(&driver);
    }
}

static void a_thread_at_a_provider_of_messages_goes_as_it_came(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, CHAT);
    driver_post(&driver, "/v1/messages",
                "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":"
                "\"hi\"}],\"thread\":{\"type\":\"create\"}}");
    assert_int_equal(driver.send_count, 1);
    assert_sent(&driver, 0, "\"thread\":{\"type\":\"create\"}");
    driver_failed(&driver, 1, ACOG_CAUSE_CLOSED);
    driver_fini(&driver);
}

static void what_a_loop_lost_on_its_way_back_is_named(void **state) /* B22, B28 */
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, CHAT);
    driver_post(&driver, "/v1/messages",
                "{\"model\":\"m\",\"max_tokens\":9000,\"thinking\":{\"type\":\"enabled\","
                "\"budget_tokens\":1024},\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},"
                "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\","
                "\"signature\":\"acog.chat..\"},{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\","
                "\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                "\"tool_use_id\":\"a\",\"content\":\"1\"}]}]}");
    assert_false(driver_has(&driver.sends[0].body, "thinking"));
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, MESSAGES_WHOLE);
    driver_end(&driver, 1);
    driver_header_is(&driver, "x-acog-dropped-params: thinking\n");
    driver_fini(&driver);
}

/* -- moves ----------------------------------------------------------------------------------------- */

static void the_second_attempt_may_speak_another_dialect(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, CHAT, MESSAGES);
    ask_and_stream(&driver, "/v1/chat/completions", ASK_CHAT, CHAT_ROLE);
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    assert_int_equal(driver.send_count, 2);
    assert_sent(&driver, 1, "\"max_tokens\":");
    driver_head(&driver, 2, 200, SSE);
    driver_text(&driver, 2, MESSAGES_STREAM);
    driver_end(&driver, 2);
    assert_int_equal(driver.status, 200);
    assert_int_equal(told(&driver, "\"role\":\"assistant\""), 1); /* nothing of the first one */
    assert_int_equal(told(&driver, "data: [DONE]\n\n"), 1);
    driver_header_is(&driver, "x-acog-attempts: 2\n");
    driver_fini(&driver);
}

static void and_back_to_the_clients_own(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, GEMINI, RESPONSES);
    driver_post(&driver, "/v1/responses", ASK_RESPONSES);
    driver_head(&driver, 1, 503, NULL);
    driver_end(&driver, 1);
    driver_head(&driver, 2, 200, SSE);
    driver_text(&driver, 2, RESPONSES_STREAM);
    driver_end(&driver, 2);
    driver_reply_is(&driver, ACOG_VIEW(RESPONSES_STREAM)); /* byte for byte */
    driver_fini(&driver);
}

/* A turn was answered by another provider; the next one goes to a connection of the client's own dialect. */
static void another_providers_signature_does_not_reach_the_clients_own_dialect(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    driver_post(
        &driver, "/v1/messages",
        "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"assistant\",\"content\":[{"
        "\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"acog.responses.r.eA==\"},{"
        "\"type\":\"text\",\"text\":\"a\"}]},{\"role\":\"user\",\"content\":\"b\"}]}");
    assert_int_equal(driver.send_count, 1);
    assert_false(driver_has(&driver.sends[0].body, "acog."));
    assert_sent(&driver, 0, "\"model\":\"m-1\"");
    assert_sent(&driver, 0, "[{\"type\":\"text\",\"text\":\"a\"}]");
    driver_failed(&driver, 1, ACOG_CAUSE_CLOSED);
    driver_fini(&driver);
}

static void but_its_own_maker_gets_it_back(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, RESPONSES, RESPONSES);
    driver_post(
        &driver, "/v1/messages",
        "{\"model\":\"m\",\"max_tokens\":99,\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{"
        "\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\","
        "\"signature\":\"acog.responses.rs_7.eA==\"},{\"type\":\"text\",\"text\":\"a\"}]},{"
        "\"role\":\"user\",\"content\":\"b\"}]}");
    assert_int_equal(driver.send_count, 1);
    assert_sent(&driver, 0, "\"encrypted_content\":\"eA==\"");
    assert_sent(&driver, 0, "\"id\":\"rs_7\"");
    driver_failed(&driver, 1, ACOG_CAUSE_CLOSED);
    driver_fini(&driver);
}

/* -- ends ------------------------------------------------------------------------------------------ */

static void a_cut_after_output_ends_with_one_error_of_the_clients_dialect(void **state) /* B57 */
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    ask_and_stream(&driver, "/v1/chat/completions", ASK_CHAT, MESSAGES_BEGIN);
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    assert_int_equal(driver.send_count, 1);
    assert_int_equal(told(&driver, "\"error\":{"), 1);
    assert_int_equal(told(&driver, "[DONE]"), 0);
    assert_int_equal(told(&driver, "\"finish_reason\":\"stop\""), 0);
    driver_fini(&driver);
}

static void response_failed_has_the_next_number(void **state) /* B41 */
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    ask_and_stream(&driver, "/v1/responses", ASK_RESPONSES, MESSAGES_BEGIN);
    size_t before = told(&driver, "\"sequence_number\":");
    char wanted[96];
    (void)snprintf(wanted, sizeof(wanted), "\"type\":\"response.failed\",\"sequence_number\":%zu,",
                   before);
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    assert_told(&driver, wanted);
    driver_fini(&driver);
}

static void an_error_event_of_the_upstream_is_never_passed_on_as_it_is(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    driver.snapshot->policy.stream_errors[ACOG_DIALECT_CHAT] = (struct acog_stream_error){
        .on_event = ACOG_STREAM_END_VERBATIM, .on_lost = ACOG_STREAM_END_EVENT};
    ask_and_stream(&driver, "/v1/chat/completions", ASK_CHAT, MESSAGES_BEGIN);
    driver_text(&driver, 1,
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                "\"message\":\"Overloaded\"}}\n\n");
    assert_int_equal(told(&driver, "event: error"), 0);
    assert_told(&driver, "data: {\"error\":{");
    driver_fini(&driver);
}

static void an_errors_body_is_told_in_the_clients_dialect(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    driver_post(&driver, "/v1/chat/completions", ASK_CHAT);
    driver_head(&driver, 1, 400, "application/json");
    driver_text(&driver, 1,
                "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                "\"too bad\"}}");
    driver_end(&driver, 1);
    assert_int_equal(driver.status, 400);
    assert_int_equal(told(&driver, "\"type\":\"error\""), 0);
    assert_told(&driver, "too bad");
    driver_fini(&driver);
}

static void more_than_may_be_held_commits_what_was_told(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    driver.snapshot->policy.commit.held_bytes_max = 64;
    driver.snapshot->policy.commit.fail_when_full = false;
    ask_and_stream(&driver, "/v1/responses", ASK_RESPONSES, MESSAGES_STREAM);
    driver_end(&driver, 1);
    assert_int_equal(driver.status, 200);
    assert_true(
        acog_view_starts(acog_buffer_view(&driver.reply), ACOG_VIEW("event: response.created")));
    assert_int_equal(told(&driver, "event: response.completed"), 1);
    driver_fini(&driver);
}

static void a_client_that_left_is_told_nothing(void **state)
{
    (void)state;
    struct driver driver;
    init(&driver, MESSAGES, MESSAGES);
    ask_and_stream(&driver, "/v1/chat/completions", ASK_CHAT, MESSAGES_BEGIN);
    size_t bytes = driver.reply.len;
    driver_gone(&driver);
    assert_int_equal(driver.reply.len, bytes);
    assert_true(driver.sends[0].cancelled);
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_answer_comes_in_the_clients_dialect),
        cmocka_unit_test(a_whole_answer_is_told_when_it_was_read_whatever_the_policy_commits_at),
        cmocka_unit_test(a_whole_answer_above_the_cap_is_none),
        cmocka_unit_test(a_stream_comes_event_by_event),
        cmocka_unit_test(a_call_comes_back_under_the_names_that_the_client_declared),
        cmocka_unit_test(however_a_stream_is_cut_into_reads_it_is_told_the_same),
        cmocka_unit_test(a_usage_chunk_is_told_only_to_those_who_asked),
        cmocka_unit_test(tokens_that_nobody_counted_are_estimated_and_said_to_be),
        cmocka_unit_test(what_cannot_be_told_is_a_400_that_names_the_place),
        cmocka_unit_test(a_connection_that_can_be_told_is_taken_instead),
        cmocka_unit_test(a_broken_tool_history_is_refused_where_it_is_translated),
        cmocka_unit_test(what_a_loop_lost_on_its_way_back_is_named),
        cmocka_unit_test(a_thread_is_refused_in_the_word_that_its_sdk_knows),
        cmocka_unit_test(a_thread_at_a_provider_of_messages_goes_as_it_came),
        cmocka_unit_test(the_second_attempt_may_speak_another_dialect),
        cmocka_unit_test(and_back_to_the_clients_own),
        cmocka_unit_test(another_providers_signature_does_not_reach_the_clients_own_dialect),
        cmocka_unit_test(but_its_own_maker_gets_it_back),
        cmocka_unit_test(a_cut_after_output_ends_with_one_error_of_the_clients_dialect),
        cmocka_unit_test(response_failed_has_the_next_number),
        cmocka_unit_test(an_error_event_of_the_upstream_is_never_passed_on_as_it_is),
        cmocka_unit_test(an_errors_body_is_told_in_the_clients_dialect),
        cmocka_unit_test(more_than_may_be_held_commits_what_was_told),
        cmocka_unit_test(a_client_that_left_is_told_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
