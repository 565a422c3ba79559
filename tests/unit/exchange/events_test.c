/* events_test.c - streams: what is passed on, held, dropped; how they may end; cut at every byte. */
#include "driver.h"
#include "state.h"
#include "streams.h"

struct stream_case {
    const char *target;
    const char *asked;
    const char *stream;
    const char *begin;  /* up to and with the first output */
    const char *hidden; /* of the stream, not for the client; NULL: nothing */
    const char *frame;  /* how a terminal frame begins */
};

static const struct stream_case cases[] = {
    {"/v1/chat/completions", ASK_CHAT, CHAT_STREAM, CHAT_BEGIN, CHAT_USAGE,
     "data: {\"error\":{\"type\":\"server_error\","},
    {"/v1/chat/completions", ASK_CHAT_USAGE, CHAT_STREAM, CHAT_BEGIN, NULL,
     "data: {\"error\":{\"type\":\"server_error\","},
    {"/v1/messages", ASK_MESSAGES, MESSAGES_STREAM, MESSAGES_BEGIN, NULL,
     "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\","},
    {"/v1/responses", ASK_RESPONSES, RESPONSES_STREAM, RESPONSES_BEGIN, NULL,
     "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":"},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static void ask(struct driver *driver, const struct stream_case *c)
{
    driver_post(driver, c->target, c->asked);
    driver_connected(driver, 1);
    driver_head(driver, 1, 200, SSE);
}

/* `stream` without the event `hidden`; each LF becomes `line_end`. */
static void write_stream(struct acog_buffer *out, const char *stream, const char *hidden,
                         const char *line_end)
{
    struct acog_view text = acog_view_of(stream);
    struct acog_view cut = acog_view_of(hidden);
    size_t at = hidden == NULL ? text.len : acog_view_find(text, cut);
    out->len = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (i == at && hidden != NULL) {
            i += cut.len - 1;
        } else if (text.ptr[i] == '\n') {
            driver_append(out, acog_view_of(line_end));
        } else {
            driver_append(out, acog_view_slice(text, i, i + 1));
        }
    }
}

static void feed_pieces(struct driver *driver, struct acog_view bytes, size_t piece)
{
    for (size_t at = 0; at < bytes.len; at += piece) {
        driver_body(driver, 1, acog_view_slice(bytes, at, at + piece));
    }
}

static void completed(const struct driver *driver, const struct acog_buffer *wanted)
{
    assert_int_equal(driver->status, 200);
    driver_reply_is(driver, acog_buffer_view(wanted));
    assert_true(driver->ended && driver->finished);
    assert_false(driver->sends[0].cancelled);
    assert_int_equal(acog_exchange_record(driver->exchange)->request->outcome,
                     ACOG_OUTCOME_COMPLETED);
}

static void a_stream_is_the_same_in_any_pieces_and_line_ends(void **state) /* B53, B55 */
{
    static const char *const line_ends[] = {"\n", "\r\n", "\r"};
    static const size_t pieces[] = {(size_t)1 << 20U, 1, 2, 7, 100};
    struct driver driver;
    struct acog_buffer fed;
    struct acog_buffer wanted;
    (void)state;
    driver_init(&driver);
    acog_buffer_init(&fed, (size_t)1 << 20U);
    acog_buffer_init(&wanted, (size_t)1 << 20U);
    for (size_t i = 0; i < CASES; i++) {
        for (size_t k = 0; k < 15; k++) {
            write_stream(&fed, cases[i].stream, NULL, line_ends[k / 5]);
            write_stream(&wanted, cases[i].stream, cases[i].hidden, line_ends[k / 5]);
            ask(&driver, &cases[i]);
            feed_pieces(&driver, acog_buffer_view(&fed), pieces[k % 5]);
            assert_false(driver.ended);
            driver_end(&driver, 1);
            completed(&driver, &wanted);
            driver_again(&driver);
        }
    }
    acog_buffer_fini(&fed);
    acog_buffer_fini(&wanted);
    driver_fini(&driver);
}

static void whole_events_in_one_read_go_out_as_one_piece(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, CHAT_BEGIN);
    assert_int_equal(driver.data_commands, 2); /* what was held; the event that committed */
    driver_text(&driver, 1, CHAT_TEXT("a") CHAT_TEXT("b") ": comment\n\n" CHAT_TEXT("c"));
    assert_int_equal(driver.data_commands, 3);
    driver_gone(&driver);
    driver_fini(&driver);
}

static void nothing_goes_out_before_the_first_output(void **state) /* S4.24, G4.8, B73 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[2]);
    driver_text(&driver, 1, MESSAGES_START MESSAGES_BLOCK MESSAGES_PING ": keep-alive\n\n");
    assert_int_equal(driver.status, 0);
    driver_text(&driver, 1, MESSAGES_TEXT("He"));
    assert_int_equal(driver.status, 200);
    driver_reply_is(&driver, ACOG_VIEW(MESSAGES_START MESSAGES_BLOCK MESSAGES_PING
                                       ": keep-alive\n\n" MESSAGES_TEXT("He")));
    driver_header_is(&driver, "content-type: text/event-stream\n");
    driver_header_is(&driver, "cache-control: no-cache\n");
    driver_header_is(&driver, "x-accel-buffering: no\n");
    assert_int_equal(driver.content_length, -1);
    driver_gone(&driver);
    driver_fini(&driver);
}

/* -- cuts ------------------------------------------------------------------------------------------ */

/* Where the last complete event of the first `cut` bytes ends. */
static size_t complete_bytes(const char *stream, size_t cut)
{
    size_t end = 0;
    for (size_t i = 2; i <= cut; i++) {
        end = stream[i - 1] == '\n' && stream[i - 2] == '\n' ? i : end;
    }
    return end;
}

static void cut_here(struct driver *driver, const struct stream_case *c, size_t cut, bool torn)
{
    struct acog_view bytes = acog_view_slice(acog_view_of(c->stream), 0, cut);
    struct acog_buffer whole;
    acog_buffer_init(&whole, 1 << 16);
    ask(driver, c);
    if (cut > 0) {
        driver_body(driver, 1, bytes);
    }
    if (torn) {
        driver_failed(driver, 1, ACOG_CAUSE_CUT);
    } else {
        driver_end(driver, 1);
    }
    if (cut < strlen(c->begin)) {
        /* The other connection is asked, and the client has heard nothing. */
        assert_int_equal(driver->status, 0);
        assert_int_equal(driver->send_count, 2);
        driver_gone(driver);
        acog_buffer_fini(&whole);
        return;
    }
    char prefix[4096] = {0};
    size_t kept = complete_bytes(c->stream, cut);
    assert_true(kept < sizeof(prefix));
    for (size_t i = 0; i < kept; i++) {
        prefix[i] = c->stream[i];
    }
    bool hides = c->hidden != NULL && driver_count(acog_view_of(prefix), c->hidden) > 0;
    write_stream(&whole, prefix, hides ? c->hidden : NULL, "\n");
    assert_int_equal(driver->send_count, 1);
    assert_true(driver->ended && driver->finished);
    struct acog_view reply = acog_buffer_view(&driver->reply);
    assert_true(acog_view_starts(reply, acog_buffer_view(&whole)));
    bool complete =
        acog_exchange_record(driver->exchange)->request->outcome == ACOG_OUTCOME_COMPLETED;
    if (complete &&
        reply.len > whole.len) { /* an event that only lacks its blank line may end it */
        driver_append(&whole, acog_view_slice(bytes, kept, cut));
        driver_reply_is(driver, acog_buffer_view(&whole));
    }
    if (complete) {
        assert_true(driver_has(&driver->reply, "stop") || driver_has(&driver->reply, "end_turn") ||
                    driver_has(&driver->reply, "response.completed"));
    } else {
        driver_append(&whole, acog_view_of(c->frame));
        assert_true(acog_view_starts(reply, acog_buffer_view(&whole)));
        assert_int_equal(driver_count(reply, "\"error\":{"), 1);
        assert_int_equal(driver_count(reply, "[DONE]"), 0);
        assert_memory_equal(reply.ptr + reply.len - 2, "\n\n", 2);
    }
    acog_buffer_fini(&whole);
}

static void a_cut_at_any_byte_fails_over_or_ends_in_one_error(void **state) /* B59, B66, S0.26 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < CASES; i++) {
        size_t finished = 0;
        for (size_t cut = 0; cut <= strlen(cases[i].stream); cut++) {
            for (int torn = 0; torn < 2; torn++) {
                cut_here(&driver, &cases[i], cut, torn == 1);
                finished += acog_exchange_record(driver.exchange)->request->outcome ==
                                    ACOG_OUTCOME_COMPLETED
                                ? 1
                                : 0;
                driver_again(&driver);
            }
        }
        assert_in_range(finished, 2, 2 * 600);
    }
    driver_fini(&driver);
}

/* An agent's request may be a hundred times larger than all else that its open stream holds. */
static void the_clients_body_is_not_held_while_the_answer_comes(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        struct driver driver;
        driver_init(&driver);
        ask(&driver, &cases[i]);
        assert_non_null(driver.body); /* another attempt could need it */
        driver_text(&driver, 1, cases[i].begin);
        driver_text(&driver, 1, ": a comment\n\n");
        assert_null(driver.body);
        driver_failed(&driver, 1, ACOG_CAUSE_CUT);
        assert_true(driver_has(&driver.reply, cases[i].frame));
        assert_true(acog_view_equal(acog_exchange_record(driver.exchange)->model, ACOG_VIEW("m")));
        driver_fini(&driver);
    }
}

static void an_unfinished_number_of_a_sequence_goes_on(void **state) /* B41 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[3]);
    driver_text(&driver, 1, RESPONSES_BEGIN RESPONSES_TEXT("llo", 2));
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    assert_true(driver_has(&driver.reply, "\"sequence_number\":3,\"response\":{\"id\":\"resp_1\""));
    assert_true(
        driver_has(&driver.reply, "\"status\":\"failed\",\"error\":{\"code\":\"server_error\""));
    assert_true(driver_has(&driver.reply, "\"model\":\"m-1-served\"}}\n\n"));
    driver_fini(&driver);
}

/* -- ends ------------------------------------------------------------------------------------------ */

static void the_reply_ends_with_the_upstreams_end(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, CHAT_STREAM);
    driver_reply_is(&driver, ACOG_VIEW(CHAT_STREAM)); /* all of it is out */
    assert_false(driver.ended);
    assert_int_equal(acog_exchange_deadline_ms(driver.exchange),
                     driver.now_ms + ACOG_EXCHANGE_TAIL_WAIT_MS);
    driver_end(&driver, 1);
    assert_true(driver.ended && driver.finished);
    assert_int_equal(acog_exchange_deadline_ms(driver.exchange), INT64_MAX);
    driver_fini(&driver);
}

static void an_upstream_that_does_not_end_is_left_after_a_while(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, CHAT_STREAM);
    driver_tick(&driver, ACOG_EXCHANGE_TAIL_WAIT_MS - 1);
    assert_false(driver.ended);
    driver_tick(&driver, 1);
    assert_true(driver.ended && driver.finished && driver.sends[0].cancelled);
    assert_int_equal(acog_exchange_record(driver.exchange)->request->outcome,
                     ACOG_OUTCOME_COMPLETED);
    driver_fini(&driver);
}

static void what_follows_the_end_is_ignored(void **state) /* B59 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, CHAT_STREAM CHAT_DONE CHAT_TEXT("more"));
    driver_text(&driver, 1, CHAT_DONE "data: {\"error\":{\"message\":\"late\"}}\n\n");
    driver_failed(&driver, 1, ACOG_CAUSE_CUT);
    driver_reply_is(&driver, ACOG_VIEW(CHAT_STREAM));
    assert_true(driver.ended);
    driver_fini(&driver);
}

static void a_done_marker_behind_the_last_event_passes_once(void **state)
{
    static const char *const tails[] = {CHAT_DONE, CHAT_DONE CHAT_DONE, "data: [DONE]"};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        size_t passed = i == 1 ? strlen(CHAT_DONE) : strlen(tails[i]);
        ask(&driver, &cases[3]);
        driver_text(&driver, 1, RESPONSES_STREAM);
        driver_text(&driver, 1, tails[i]);
        driver_end(&driver, 1);
        struct acog_view reply = acog_buffer_view(&driver.reply);
        assert_true(acog_view_starts(reply, ACOG_VIEW(RESPONSES_STREAM)));
        assert_int_equal(reply.len, sizeof(RESPONSES_STREAM) - 1 + passed);
        assert_true(driver.ended);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void an_endless_event_behind_the_end_is_not_gathered(void **state)
{
    static char much[2048];
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->limits.event_bytes = 1024;
    memset(much, 'x', sizeof(much) - 1);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, CHAT_STREAM);
    driver_text(&driver, 1, "data: ");
    driver_text(&driver, 1, much);
    assert_true(driver.ended && driver.sends[0].cancelled);
    driver_reply_is(&driver, ACOG_VIEW(CHAT_STREAM));
    driver_fini(&driver);
}

static void a_client_that_leaves_after_the_end_has_its_answer(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, CHAT_STREAM);
    driver_gone(&driver);
    assert_true(driver.finished && driver.sends[0].cancelled);
    assert_int_equal(acog_exchange_record(driver.exchange)->request->outcome,
                     ACOG_OUTCOME_COMPLETED);
    assert_int_equal(acog_exchange_record(driver.exchange)->usage.output_tokens, 2);
    driver_fini(&driver);
}

static void a_finish_reason_without_done_is_complete(void **state) /* B59, decision 15 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, CHAT_BEGIN CHAT_FINISH("stop"));
    driver_end(&driver, 1);
    driver_reply_is(&driver, ACOG_VIEW(CHAT_BEGIN CHAT_FINISH("stop"))); /* no [DONE] is added */
    assert_true(driver.ended);
    driver_fini(&driver);
}

static void done_amid_tool_arguments_is_an_error(void **state) /* B59, decision 15 */
{
    static const char tool[] =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","
        "\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\"}}]},"
        "\"finish_reason\":null}]}\n\n";
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, tool);
    driver_text(&driver, 1, CHAT_DONE);
    assert_true(driver.ended);
    assert_true(driver_has(&driver.reply, cases[1].frame));
    assert_int_equal(driver_count(acog_buffer_view(&driver.reply), "[DONE]"), 0);
    driver_fini(&driver);
}

static void a_stream_without_any_event_is_no_answer(void **state) /* B59 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[2]);
    driver_end(&driver, 1);
    assert_int_equal(driver.send_count, 2);
    assert_int_equal(driver.status, 0);
    driver_head(&driver, 2, 200, SSE);
    acog_exchange_upstream_body(driver.exchange, 2, ACOG_VIEW(MESSAGES_STREAM), driver.now_ms);
    driver_drain(&driver);
    driver_end(&driver, 2);
    driver_reply_is(&driver, ACOG_VIEW(MESSAGES_STREAM));
    driver_header_is(&driver, "x-acog-connection: two\n");
    driver_header_is(&driver, "x-acog-attempts: 2\n");
    driver_fini(&driver);
}

/* -- events that are not passed on ----------------------------------------------------------------- */

static void an_event_that_is_no_json_is_dropped(void **state) /* DESIGN, bad_event */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, "data: {\"choices\":[\n\n" CHAT_BEGIN "data: {oops\n\n" CHAT_TEXT("x"));
    driver_text(&driver, 1, "data: \xff\n\n" CHAT_FINISH("stop") CHAT_DONE);
    driver_end(&driver, 1);
    driver_reply_is(&driver, ACOG_VIEW(CHAT_BEGIN CHAT_TEXT("x") CHAT_FINISH("stop") CHAT_DONE));
    driver_fini(&driver);
}

static void an_event_that_is_no_json_is_an_error_where_the_policy_says_so(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.bad_event_drops = false;
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, CHAT_BEGIN "data: {oops\n\n" CHAT_TEXT("x"));
    assert_true(driver.ended && driver.sends[0].cancelled);
    assert_true(acog_view_starts(acog_buffer_view(&driver.reply),
                                 ACOG_VIEW(CHAT_BEGIN "data: {\"error\":")));
    assert_false(driver_has(&driver.reply, "oops"));
    driver_fini(&driver);
}

static void a_usage_chunk_that_nobody_asked_for_is_kept_for_the_books(void **state) /* B51 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[0]);
    driver_text(&driver, 1, CHAT_STREAM);
    driver_end(&driver, 1);
    assert_false(driver_has(&driver.reply, "usage"));
    assert_int_equal(acog_exchange_record(driver.exchange)->usage.input_tokens, 5);
    assert_int_equal(acog_exchange_record(driver.exchange)->usage.output_tokens, 2);
    driver_fini(&driver);
}

/* -- errors ---------------------------------------------------------------------------------------- */

#define OVERLOADED                                                                      \
    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"," \
    "\"message\":\"Overloaded\"}}\n\n"

static void an_error_as_the_first_event_fails_over(void **state) /* B64 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[2]);
    driver_text(&driver, 1, MESSAGES_START OVERLOADED);
    assert_int_equal(driver.status, 0);
    assert_true(driver.sends[0].cancelled);
    assert_int_equal(driver.send_count, 2);
    driver_gone(&driver);
    driver_fini(&driver);
}

static void an_error_after_output_ends_the_stream_once(void **state) /* B57, B66 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    ask(&driver, &cases[2]);
    driver_text(&driver, 1, MESSAGES_BEGIN OVERLOADED MESSAGES_TEXT("late"));
    assert_int_equal(driver.send_count, 1);
    assert_true(driver.ended && driver.finished);
    assert_true(
        acog_view_starts(acog_buffer_view(&driver.reply),
                         ACOG_VIEW(MESSAGES_BEGIN "event: error\ndata: {\"type\":\"error\","
                                                  "\"error\":{\"type\":\"overloaded_error\"")));
    assert_int_equal(driver_count(acog_buffer_view(&driver.reply), "event: error"), 1);
    assert_false(driver_has(&driver.reply, "late"));
    assert_int_equal(acog_exchange_record(driver.exchange)->request->outcome,
                     ACOG_OUTCOME_INCOMPLETE);
    driver_fini(&driver);
}

static void an_event_over_the_cap_is_a_bad_answer(void **state)
{
    struct driver driver;
    static char much[2048];
    (void)state;
    driver_init(&driver);
    driver.snapshot->limits.event_bytes = 1024;
    memset(much, 'x', sizeof(much) - 1);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1, "data: ");
    driver_text(&driver, 1, much);
    assert_true(driver.sends[0].cancelled);
    assert_int_equal(driver.send_count, 2);
    driver_gone(&driver);
    driver_fini(&driver);
}

/* -- the hold -------------------------------------------------------------------------------------- */

static void a_full_hold_commits(void **state) /* DESIGN, caps */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.commit.held_bytes_max = sizeof(MESSAGES_START) - 1;
    ask(&driver, &cases[2]);
    driver_text(&driver, 1, MESSAGES_START);
    assert_int_equal(driver.status, 0);
    driver_text(&driver, 1, MESSAGES_PING MESSAGES_PING);
    assert_int_equal(driver.status, 200);
    driver_reply_is(&driver, ACOG_VIEW(MESSAGES_START MESSAGES_PING MESSAGES_PING));
    driver_gone(&driver);
    driver_fini(&driver);
}

static void a_full_hold_fails_where_the_policy_says_so(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.commit.held_bytes_max = 10;
    driver.snapshot->policy.commit.fail_when_full = true;
    ask(&driver, &cases[2]);
    driver_text(&driver, 1, MESSAGES_START);
    assert_true(driver.sends[0].cancelled);
    assert_int_equal(driver.status >= 500 || driver.send_count == 2, true);
    if (!driver.finished) {
        driver_gone(&driver);
    }
    driver_fini(&driver);
}

static void commit_at_the_first_event_lets_it_out_at_once(void **state) /* D9, S2 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.commit.stream = ACOG_COMMIT_FIRST_EVENT;
    ask(&driver, &cases[2]);
    driver_text(&driver, 1, ": comment\n\n" MESSAGES_PING);
    assert_int_equal(driver.status, 0);
    driver_text(&driver, 1, MESSAGES_START);
    driver_reply_is(&driver, ACOG_VIEW(": comment\n\n" MESSAGES_PING MESSAGES_START));
    driver_gone(&driver);
    driver_fini(&driver);
}

static void commit_at_the_head_passes_all(void **state) /* D9, S1 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.commit.stream = ACOG_COMMIT_HEADERS;
    ask(&driver, &cases[2]);
    assert_int_equal(driver.status, 200);
    driver_text(&driver, 1, ": comment\n\n");
    driver_reply_is(&driver, ACOG_VIEW(": comment\n\n"));
    driver_gone(&driver);
    driver_fini(&driver);
}

static void an_unread_line_end_is_not_lost_with_held_events(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.commit.outputs = ACOG_BIT(ACOG_OUTPUT_TOOL);
    ask(&driver, &cases[1]);
    driver_text(&driver, 1,
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},"
                "\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r");
    driver_text(&driver, 1, "\n");
    driver_end(&driver, 1);
    assert_int_equal(driver.status, 200);
    assert_true(driver_has(&driver.reply, "data: [DONE]\r\n\r\n"));
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_the_same_in_any_pieces_and_line_ends),
        cmocka_unit_test(whole_events_in_one_read_go_out_as_one_piece),
        cmocka_unit_test(nothing_goes_out_before_the_first_output),
        cmocka_unit_test(a_cut_at_any_byte_fails_over_or_ends_in_one_error),
        cmocka_unit_test(the_clients_body_is_not_held_while_the_answer_comes),
        cmocka_unit_test(an_unfinished_number_of_a_sequence_goes_on),
        cmocka_unit_test(the_reply_ends_with_the_upstreams_end),
        cmocka_unit_test(an_upstream_that_does_not_end_is_left_after_a_while),
        cmocka_unit_test(what_follows_the_end_is_ignored),
        cmocka_unit_test(a_done_marker_behind_the_last_event_passes_once),
        cmocka_unit_test(an_endless_event_behind_the_end_is_not_gathered),
        cmocka_unit_test(a_client_that_leaves_after_the_end_has_its_answer),
        cmocka_unit_test(a_finish_reason_without_done_is_complete),
        cmocka_unit_test(done_amid_tool_arguments_is_an_error),
        cmocka_unit_test(a_stream_without_any_event_is_no_answer),
        cmocka_unit_test(an_event_that_is_no_json_is_dropped),
        cmocka_unit_test(an_event_that_is_no_json_is_an_error_where_the_policy_says_so),
        cmocka_unit_test(a_usage_chunk_that_nobody_asked_for_is_kept_for_the_books),
        cmocka_unit_test(an_error_as_the_first_event_fails_over),
        cmocka_unit_test(an_error_after_output_ends_the_stream_once),
        cmocka_unit_test(an_event_over_the_cap_is_a_bad_answer),
        cmocka_unit_test(a_full_hold_commits),
        cmocka_unit_test(a_full_hold_fails_where_the_policy_says_so),
        cmocka_unit_test(commit_at_the_first_event_lets_it_out_at_once),
        cmocka_unit_test(commit_at_the_head_passes_all),
        cmocka_unit_test(an_unread_line_end_is_not_lost_with_held_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
