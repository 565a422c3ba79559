/* memory_test.c - each allocation of a request fails in turn: the client gets an answer, an error or a broken end, the
 * rules of the commands hold (driver.h asserts them), and the same driver serves the next request.
 */
#include "acog/memory.h"

#include "driver.h"
#include "state.h"
#include "streams.h"

/* What happens, and what comes of it when no allocation fails. */
struct story {
    const char *name;
    void (*tell)(struct driver *driver);
    unsigned status;
    const char *reply; /* a part of it; NULL: the client has left */
    unsigned
        one; /* dialects of the first connection, and of the other; 0: all that clients speak */
    unsigned two;
};

struct telling {
    struct driver *driver;
    const struct story *story;
};

/* -- an upstream that says nothing more to whom it was told to leave ---------------------------------- */

static bool runs(const struct driver *driver, uint32_t attempt)
{
    return driver->send_count >= attempt && driver->sends[attempt - 1].running;
}

static void say_head(struct driver *driver, uint32_t attempt, unsigned status, const char *type)
{
    if (runs(driver, attempt)) {
        driver_connected(driver, attempt);
    }
    if (runs(driver, attempt)) {
        driver_head(driver, attempt, status, type);
    }
}

/* In pieces of 100 bytes, so that events are cut. */
static void say_text(struct driver *driver, uint32_t attempt, const char *text)
{
    struct acog_view rest = acog_view_of(text);
    while (rest.len > 0 && runs(driver, attempt)) {
        driver_body(driver, attempt, acog_view_slice(rest, 0, 100));
        rest = acog_view_slice(rest, 100, rest.len);
    }
}

static void say_end(struct driver *driver, uint32_t attempt)
{
    if (runs(driver, attempt)) {
        driver_end(driver, attempt);
    }
}

static void say_cut(struct driver *driver, uint32_t attempt)
{
    if (runs(driver, attempt)) {
        driver_failed(driver, attempt, ACOG_CAUSE_CUT);
    }
}

/* -- stories ----------------------------------------------------------------------------------------- */

/* A model with an escape, so that reading it needs memory; a field that is spliced; a header that the policy reads. */
#define ASK_WITH_ESCAPES                                                                       \
    "{\"\\u006dodel\":\"\\u006d\",\"stream\":true,\"stream_options\":{\"include_usage\":false" \
    "},\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"

static void whole(struct driver *driver)
{
    driver_post(driver, "/v1/messages?beta=true", ASK_MESSAGES_WHOLE);
    say_head(driver, 1, 200, "application/json");
    say_text(driver, 1, MESSAGES_WHOLE);
    say_end(driver, 1);
}

static void stream(struct driver *driver)
{
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("content-type"), ACOG_VIEW("application/json")},
        {ACOG_VIEW("x-team"), ACOG_VIEW("legal")},
        {ACOG_VIEW("x-request-id"), ACOG_VIEW("an-id-of-the-client")}};
    driver_start(driver, "POST", "/v1/chat/completions", rows, 3, ACOG_VIEW(ASK_WITH_ESCAPES));
    say_head(driver, 1, 200, SSE);
    say_text(driver, 1, CHAT_STREAM);
    say_end(driver, 1);
}

static void failover(struct driver *driver)
{
    driver_post(driver, "/v1/responses", ASK_RESPONSES);
    say_head(driver, 1, 503, "application/json");
    say_text(driver, 1,
             "{\"error\":{\"message\":\"Over\\u006coaded\",\"type\":\"overloaded_error\"}}");
    say_end(driver, 1);
    say_head(driver, 2, 200, SSE);
    say_text(driver, 2, RESPONSES_STREAM);
    say_end(driver, 2);
}

static void exhausted(struct driver *driver)
{
    driver_post(driver, "/v1/messages", ASK_MESSAGES);
    for (uint32_t attempt = 1; attempt <= 2; attempt++) {
        say_head(driver, attempt, 500, "application/json");
        say_text(driver, attempt, "{\"error\":{\"message\":\"no \\\"luck\\\"\",\"type\":\"x\"}}");
        say_end(driver, attempt);
    }
}

static void relayed(struct driver *driver)
{
    driver_post(driver, "/v1/chat/completions", ASK_CHAT);
    say_head(driver, 1, 400, "application/json");
    say_text(driver, 1, "{\"error\":{\"message\":\"bad\\ttool\",\"code\":\"bad_tool\"}}");
    say_end(driver, 1);
}

static void refused_and_taken_over(struct driver *driver)
{
    driver_post(driver, "/v1/messages", ASK_MESSAGES_WHOLE);
    say_head(driver, 1, 200, "application/json");
    say_text(driver, 1, MESSAGES_REFUSED);
    say_end(driver, 1);
    say_head(driver, 2, 200, "application/json");
    say_text(driver, 2, MESSAGES_WHOLE);
    say_end(driver, 2);
}

static void refused_and_noted(struct driver *driver)
{
    driver_post(driver, "/v1/messages", ASK_MESSAGES);
    say_head(driver, 1, 200, SSE);
    say_text(driver, 1, MESSAGES_START MESSAGES_FINISH("refusal") MESSAGES_STOP);
    say_end(driver, 1);
    say_head(driver, 2, 200, SSE);
    say_text(driver, 2, MESSAGES_STREAM);
    say_end(driver, 2);
}

static void refused_and_replayed(struct driver *driver)
{
    driver_post(driver, "/v1/messages", ASK_MESSAGES);
    say_head(driver, 1, 200, SSE);
    say_text(driver, 1, MESSAGES_START MESSAGES_FINISH("refusal") MESSAGES_STOP);
    say_end(driver, 1);
    say_head(driver, 2, 200, SSE);
    say_text(driver, 2, MESSAGES_START);
    say_cut(driver, 2);
}

static void cut_after_commit(struct driver *driver)
{
    driver_post(driver, "/v1/responses", ASK_RESPONSES);
    say_head(driver, 1, 200, SSE);
    say_text(driver, 1, RESPONSES_BEGIN);
    say_cut(driver, 1);
}

static void client_leaves(struct driver *driver)
{
    driver_post(driver, "/v1/chat/completions", ASK_CHAT);
    say_head(driver, 1, 200, SSE);
    say_text(driver, 1, CHAT_BEGIN);
    if (!driver->finished) {
        driver_gone(driver);
    }
    say_text(driver, 1, CHAT_FINISH("stop") CHAT_USAGE CHAT_DONE);
    say_end(driver, 1);
}

/* -- upstreams of other dialects --------------------------------------------------------------------- */

#define CHAT      ACOG_BIT(ACOG_DIALECT_CHAT)
#define MESSAGES  ACOG_BIT(ACOG_DIALECT_MESSAGES)
#define RESPONSES ACOG_BIT(ACOG_DIALECT_RESPONSES)
#define GEMINI    ACOG_BIT(ACOG_DIALECT_GEMINI)

/* With ids that are not to be told as they are, details, and a tool's result. */
#define ASK_TOOLS                                                                                  \
    "{\"model\":\"m\",\"seed\":1,\"messages\":[{\"role\":\"user\",\"content\":\"h\\u0069\"},{"     \
    "\"role\":\"assistant\",\"content\":null,\"reasoning_details\":[{\"type\":\"reasoning.text\"," \
    "\"text\":\"a\",\"index\":0},{\"type\":\"reasoning.text\",\"text\":\"b\",\"index\":0}],"       \
    "\"tool_calls\":[{\"id\":\"c\\u0031!\",\"type\":\"function\",\"function\":{\"name\":\"f\","    \
    "\"arguments\":\"{\\\"a\\\":1}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c1!\",\"content\":" \
    "\"ok\"}]}"

static void translated_whole(struct driver *driver)
{
    driver_post(driver, "/v1/chat/completions", ASK_TOOLS);
    say_head(driver, 1, 200, "application/json");
    say_text(driver, 1, MESSAGES_WHOLE);
    say_end(driver, 1);
}

static void translated_stream(struct driver *driver)
{
    driver_post(driver, "/v1/responses", ASK_RESPONSES);
    say_head(driver, 1, 200, SSE);
    say_text(driver, 1, CHAT_STREAM);
    say_end(driver, 1);
}

static void translated_failover(struct driver *driver)
{
    driver_post(driver, "/v1/messages", ASK_MESSAGES);
    say_head(driver, 1, 503, "application/json");
    say_text(driver, 1, "{\"error\":{\"code\":503,\"message\":\"b\\u0075sy\"}}");
    say_end(driver, 1);
    say_head(driver, 2, 200, SSE);
    say_text(driver, 2, RESPONSES_STREAM);
    say_end(driver, 2);
}

static void translated_cut(struct driver *driver)
{
    driver_post(driver, "/v1/responses", ASK_RESPONSES);
    say_head(driver, 1, 200, SSE);
    say_text(driver, 1, MESSAGES_BEGIN);
    say_cut(driver, 1);
}

static void translated_and_left(struct driver *driver)
{
    driver_post(driver, "/v1/messages", ASK_MESSAGES);
    say_head(driver, 1, 200, SSE);
    say_text(driver, 1, CHAT_BEGIN);
    if (!driver->finished) {
        driver_gone(driver);
    }
}

static void translated_refusal_taken_over(struct driver *driver)
{
    driver_post(driver, "/v1/chat/completions", ASK_CHAT);
    say_head(driver, 1, 200, SSE);
    say_text(driver, 1, MESSAGES_START MESSAGES_FINISH("refusal") MESSAGES_STOP);
    say_end(driver, 1);
    say_head(driver, 2, 200, SSE);
    say_text(driver, 2, MESSAGES_STREAM);
    say_end(driver, 2);
}

static void cannot_be_translated(struct driver *driver)
{
    driver_post(driver, "/v1/chat/completions",
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":"
                "\"tool\",\"tool_call_id\":\"zz\",\"content\":\"1\"}]}");
}

static void models(struct driver *driver)
{
    driver_start(driver, "GET", "/v1/models", NULL, 0, (struct acog_view){0});
}

static void bad_request(struct driver *driver)
{
    driver_post(driver, "/v1/messages",
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":7}]}");
}

static void unknown_model(struct driver *driver)
{
    driver_post(
        driver, "/v1/messages",
        "{\"model\":\"no\\u006ee\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
}

/* Texts that are decoded, joined, and read once more; with what `guard` looks for in the last. */
static void kept_away(struct driver *driver)
{
    driver_post(
        driver, "/v1/chat/completions",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a"
        "\\nb\"},{\"type\":\"text\",\"text\":\"c\"}]},{\"role\":\"assistant\",\"tool_calls\":[{\"id\":"
        "\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":\\\"his "
        "di\\\\u0061gnosis\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"ok\"}]}");
}

static const struct story stories[] = {
    {"whole", whole, 200, "\"Hello\"", 0, 0},
    {"stream", stream, 200, CHAT_DONE, 0, 0},
    {"failover", failover, 200, RESPONSES_COMPLETED, 0, 0},
    {"exhausted", exhausted, 500, "no \\\"luck\\\"", 0, 0},
    {"relayed", relayed, 400, "bad\\ttool", 0, 0},
    {"refused and taken over", refused_and_taken_over, 200, "\"Hello\"", 0, 0},
    {"refused and noted", refused_and_noted, 200, "Another answers.", 0, 0},
    {"refused and replayed", refused_and_replayed, 200, "\"refusal\"", 0, 0},
    {"cut after commit", cut_after_commit, 200, "response.failed", 0, 0},
    {"the client leaves", client_leaves, 200, NULL, 0, 0},
    {"models", models, 200, "\"a/b@1\"", 0, 0},
    {"bad request", bad_request, 400, "content", 0, 0},
    {"unknown model", unknown_model, 409, "none", 0, 0},
    {"kept away", kept_away, 403, "dlp_route_restricted", 0, 0},
    {"translated", translated_whole, 200, "\"chat.completion\"", MESSAGES, MESSAGES},
    {"a translated stream", translated_stream, 200, "response.completed", CHAT, CHAT},
    {"between dialects", translated_failover, 200, "message_stop", GEMINI, RESPONSES},
    {"a translated stream is cut", translated_cut, 200, "response.failed", MESSAGES, MESSAGES},
    {"a translated stream is left", translated_and_left, 200, NULL, CHAT, CHAT},
    {"a translated refusal", translated_refusal_taken_over, 200, "Another answers.", MESSAGES, 0},
    {"cannot be translated", cannot_be_translated, 400, "zz", GEMINI, MESSAGES},
};

/* -- telling ----------------------------------------------------------------------------------------- */

static void check(const struct driver *driver, const struct story *story)
{
    assert_true(driver->finished);
    for (size_t i = 0; i < driver->send_count; i++) {
        assert_false(driver->sends[i].running);
    }
    if (memory_sweep_failed()) {
        assert_true(driver->ended || driver->aborted || story->reply == NULL);
        return;
    }
    if (driver->status != story->status) {
        fail_msg("%s: %u: %.*s", story->name, driver->status,
                 ACOG_VIEW_FMT(acog_buffer_view(&driver->reply)));
    }
    if (story->reply != NULL && !driver_has(&driver->reply, story->reply)) {
        fail_msg("%s: %.*s", story->name, ACOG_VIEW_FMT(acog_buffer_view(&driver->reply)));
    }
}

static void speak(const struct driver *driver, unsigned one, unsigned two)
{
    const unsigned all = CHAT | MESSAGES | RESPONSES;
    driver->connections[0].dialects = one == 0 ? all : one;
    driver->connections[1].dialects = two == 0 ? all : two;
}

/* The driver's exchange is new each time: one that served before has memory to spare. */
static void tell(void *user)
{
    const struct telling *telling = user;
    struct driver *driver = telling->driver;
    driver->exchange = acog_exchange_new();
    if (driver->exchange == NULL) {
        return;
    }
    speak(driver, telling->story->one, telling->story->two);
    telling->story->tell(driver);
    driver_tick(driver, 600000); /* clocks that still run, as an answer's tail or a drain */
    memory_sweep_spare();
    check(driver, telling->story);
    speak(driver, 0, 0);
    driver_again(driver);
    driver_post(driver, "/v1/messages", ASK_MESSAGES);
    driver_head(driver, 1, 200, SSE);
    driver_text(driver, 1, MESSAGES_STREAM);
    driver_end(driver, 1);
    driver_reply_is(driver, ACOG_VIEW(MESSAGES_STREAM));
    driver_again(driver);
    acog_exchange_free(&driver->exchange);
    memory_sweep_fail_again();
}

/* A data rule that no connection of the driver satisfies. */
static void guard(struct acog_policy *policy)
{
    static const struct acog_view words[] = {{"diagnosis", 9}};
    static struct acog_dlp_rule rule = {.name = {"health", 6},
                                        .reason = {"health", 6},
                                        .words = words,
                                        .channels = ACOG_BIT(ACOG_CHANNEL_AZURE)};
    for (size_t byte = 0; byte <= 256; byte++) {
        rule.word_from[byte] = byte > 'd' ? 1 : 0;
    }
    policy->dlp_rules = &rule;
    policy->dlp_rule_count = 1;
}

static void each_allocation_of_each_story_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
        struct driver driver;
        driver_init(&driver);
        acog_exchange_free(&driver.exchange);
        driver.client_headers[0] = ACOG_VIEW("x-team");
        guard(&driver.snapshot->policy);
        driver.snapshot->client_headers = driver.client_headers;
        driver.snapshot->client_header_count = 1;
        driver.snapshot->policy.refusal =
            (struct acog_refusal){.empty_200 = true,
                                  .fallback_model = ACOG_VIEW("m2"),
                                  .same_connection = true,
                                  .note = ACOG_VIEW("Another answers.")};
        (void)engine_rows_candidate(driver.rows, &driver.connections[0], "m2");
        struct telling telling = {.driver = &driver, .story = &stories[i]};
        size_t allocations = memory_sweep(tell, &telling, 1);
        print_message("%s: %zu allocations\n", stories[i].name, allocations);
        assert_true(allocations >= 2); /* the exchange and something of the request */
        driver_fini(&driver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_each_story_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
