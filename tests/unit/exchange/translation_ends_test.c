/* translation_ends_test.c - a translated stream of each pair of dialects that is cut behind each of its bytes, or whose
 * client leaves there; and what the exchange does where a request does not fit and nobody asked.
 */
#include "acog/json.h"
#include "driver.h"
#include "state.h"
#include "streams.h"

#define BIT(dialect) ACOG_BIT(ACOG_DIALECT_##dialect)

#define GEMINI_PIECE(parts, more)                                               \
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts \
    "]},\"index\":0" more "}],\"modelVersion\":\"m-1-served\",\"responseId\":\"g1\"}\r\n\r\n"
#define GEMINI_CALL                                                                             \
    GEMINI_PIECE(                                                                               \
        "{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1}},\"thoughtSignature\":\"c2ln\"}", \
        "")
#define GEMINI_STREAM \
    GEMINI_PIECE("{\"text\":\"He\"}", "") GEMINI_CALL GEMINI_PIECE("", ",\"finishReason\":\"STOP\"")

#define CHAT_CALLS                                                                            \
    CHAT_CHUNK("{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":" \
               "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\"}}]}," \
               "\"finish_reason\":null}",                                                     \
               "")                                                                            \
    CHAT_CHUNK("{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"          \
               "\"arguments\":\"1}\"}}]},\"finish_reason\":null}",                            \
               "")
#define CHAT_WITH_CALLS CHAT_BEGIN CHAT_CALLS CHAT_FINISH("tool_calls") CHAT_USAGE CHAT_DONE

static const struct pair {
    const char *target;
    const char *asked;
    unsigned upstream;
    const char *stream;
} pairs[] = {
    {"/v1/chat/completions", ASK_CHAT, BIT(MESSAGES), MESSAGES_STREAM},
    {"/v1/chat/completions", ASK_CHAT_USAGE, BIT(RESPONSES), RESPONSES_STREAM},
    {"/v1/chat/completions", ASK_CHAT, BIT(GEMINI), GEMINI_STREAM},
    {"/v1/messages", ASK_MESSAGES, BIT(CHAT), CHAT_WITH_CALLS},
    {"/v1/messages", ASK_MESSAGES, BIT(RESPONSES), RESPONSES_STREAM},
    {"/v1/messages", ASK_MESSAGES, BIT(GEMINI), GEMINI_STREAM},
    {"/v1/responses", ASK_RESPONSES, BIT(CHAT), CHAT_WITH_CALLS},
    {"/v1/responses", ASK_RESPONSES, BIT(MESSAGES), MESSAGES_STREAM},
    {"/v1/responses", ASK_RESPONSES, BIT(GEMINI), GEMINI_STREAM},
};

#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

static void begin(struct driver *driver, const struct pair *pair)
{
    driver_post(driver, pair->target, pair->asked);
    assert_int_equal(driver->send_count, 1);
    driver_head(driver, 1, 200, SSE);
}

static void init(struct driver *driver, const struct pair *pair)
{
    driver_init(driver);
    driver->connections[0].dialects = pair->upstream;
    driver->connections[1].dialects = pair->upstream;
}

/* -- what a client may be told --------------------------------------------------------------------- */

static size_t count(const struct driver *driver, const char *part)
{
    return driver_count(acog_buffer_view(&driver->reply), part);
}

static void assert_whole_events(const struct driver *driver)
{
    struct acog_view rest = acog_buffer_view(&driver->reply);
    while (rest.len > 0) {
        struct acog_json_value value;
        struct acog_json_error error;
        size_t end = acog_view_find(rest, ACOG_VIEW("\n\n"));
        assert_true(end < rest.len);
        struct acog_view event = acog_view_slice(rest, 0, end);
        size_t at = acog_view_find(event, ACOG_VIEW("data: "));
        assert_true(at < event.len);
        struct acog_view data = acog_view_slice(event, at + 6, event.len);
        assert_true(acog_view_equal(data, ACOG_VIEW("[DONE]")) ||
                    acog_json_check(data, 64, &value, &error) == ACOG_OK);
        rest = acog_view_slice(rest, end + 2, rest.len);
    }
}

static size_t good_ends(const struct driver *driver)
{
    return count(driver, "[DONE]") + count(driver, "event: message_stop") +
           count(driver, "event: response.completed");
}

static size_t bad_ends(const struct driver *driver)
{
    return count(driver, "data: {\"error\":{") + count(driver, "event: error") +
           count(driver, "event: response.failed");
}

/* Numbers of events begin at 0 and have no gaps, whatever happened (B35, B41). */
static void assert_numbered(const struct driver *driver)
{
    struct acog_view rest = acog_buffer_view(&driver->reply);
    const struct acog_view name = ACOG_VIEW("\"sequence_number\":");
    char wanted[ACOG_DIGITS_MAX];
    for (uint64_t i = 0;; i++) {
        size_t at = acog_view_find(rest, name);
        if (at >= rest.len) {
            return;
        }
        rest = acog_view_slice(rest, at + name.len, rest.len);
        assert_true(acog_view_starts(rest, acog_view_from_u64(i, wanted)));
    }
}

/* -- cuts ------------------------------------------------------------------------------------------ */

static void check_cut(struct driver *driver)
{
    if (driver->send_count == 2) { /* nothing was told yet: another one is asked */
        assert_int_equal(driver->status, 0);
        driver_failed(driver, 2, ACOG_CAUSE_CLOSED);
        assert_int_not_equal(driver->status, 200);
        assert_true(driver->ended && driver->finished);
        return;
    }
    assert_int_equal(driver->status, 200);
    assert_true(driver->ended && driver->finished);
    assert_whole_events(driver);
    assert_numbered(driver);
    assert_int_equal(good_ends(driver) + bad_ends(driver), 1);
}

/* B57, B59, B66 */
static void a_stream_that_is_cut_anywhere_has_one_legal_end_or_another_attempt(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) {
        struct driver driver;
        struct acog_view stream = acog_view_of(pairs[i].stream);
        size_t moved = 0;
        size_t complete = 0;
        init(&driver, &pairs[i]);
        for (size_t cut = 0; cut <= stream.len; cut++) {
            begin(&driver, &pairs[i]);
            if (cut > 0) {
                driver_body(&driver, 1, acog_view_slice(stream, 0, cut));
            }
            driver_failed(&driver, 1, ACOG_CAUSE_CUT);
            moved += driver.send_count - 1;
            complete += good_ends(&driver);
            check_cut(&driver);
            driver_again(&driver);
        }
        assert_true(moved > 0 && complete > 0 && moved + complete < stream.len);
        driver_fini(&driver);
    }
}

static void a_client_may_leave_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) {
        struct driver driver;
        struct acog_view stream = acog_view_of(pairs[i].stream);
        init(&driver, &pairs[i]);
        for (size_t at = 0; at <= stream.len; at += 3) {
            begin(&driver, &pairs[i]);
            for (size_t from = 0; from < at; from += 100) {
                driver_body(&driver, 1,
                            acog_view_slice(stream, from, from + 100 < at ? from + 100 : at));
            }
            size_t told = driver.reply.len;
            driver_gone(&driver);
            driver_tick(&driver, 600000);
            assert_true(driver.finished);
            assert_int_equal(driver.reply.len, told);
            assert_int_equal(driver.send_count, 1);
            driver_again(&driver);
        }
        driver_fini(&driver);
    }
}

/* A call without a name makes no sense to anybody; the text beside it is not told in half an answer. */
static void an_event_that_cannot_be_translated_is_told_to_no_part(void **state)
{
    (void)state;
    struct driver driver;
    const struct pair pair = {"/v1/responses", ASK_RESPONSES, BIT(CHAT), ""};
    init(&driver, &pair);
    begin(&driver, &pair);
    driver_text(&driver, 1, CHAT_BEGIN);
    driver_text(&driver, 1,
                CHAT_CHUNK("{\"index\":0,\"delta\":{\"content\":\"more\",\"tool_calls\":[{\"index\""
                           ":0,\"id\":\"c1\",\"function\":{\"arguments\":\"{\\\"a\\\":1}\"}}]}}",
                           ""));
    assert_int_equal(count(&driver, "more"), 0);
    check_cut(&driver);
    assert_int_equal(bad_ends(&driver), 1);
    driver_fini(&driver);
}

/* -- the fallback model ---------------------------------------------------------------------------- */

#define ASK_SCHEMA                                                                                \
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"response_format\":" \
    "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"s\",\"schema\":{\"type\":\"object\"}}}}"

/* The request fits the model that it asked for; the fallback model cannot be held to a schema (decision 14). */
static void a_fallback_model_that_cannot_be_told_is_unavailable(void **state)
{
    (void)state;
    struct driver driver;
    const struct pair pair = {.upstream = BIT(MESSAGES)};
    init(&driver, &pair);
    driver.snapshot->policy.refusal =
        (struct acog_refusal){.empty_200 = true, .fallback_model = ACOG_VIEW("m2")};
    engine_rows_candidate(driver.rows, &driver.connections[0], "m2")->rules.schema =
        ACOG_SCHEMA_NONE;
    driver_post(&driver, "/v1/chat/completions", ASK_SCHEMA);
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1,
                "{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\","
                "\"content\":[],\"stop_reason\":\"refusal\",\"usage\":{\"input_tokens\":1,"
                "\"output_tokens\":0}}");
    driver_end(&driver, 1);
    assert_int_equal(driver.send_count, 1);
    assert_int_equal(driver.status, 200);
    driver_header_is(&driver, "x-acog-policy-fallback: unavailable\n");
    assert_int_equal(count(&driver, "content_filter"), 1);
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_that_is_cut_anywhere_has_one_legal_end_or_another_attempt),
        cmocka_unit_test(a_client_may_leave_anywhere),
        cmocka_unit_test(an_event_that_cannot_be_translated_is_told_to_no_part),
        cmocka_unit_test(a_fallback_model_that_cannot_be_told_is_unavailable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
