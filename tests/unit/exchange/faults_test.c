/* faults_test.c - whatever order things come in, the rules hold: one head, one end, nothing behind the end, at most one
 * attempt running, none left running, FINISHED last. Chance comes from a seed, so a failure repeats.
 */
#include "acog/random.h"
#include "driver.h"
#include "state.h"
#include "streams.h"

#define REQUESTS 4000
#define NEWS_MAX 60

static const char *const targets[] = {"/v1/chat/completions", "/v1/messages", "/v1/responses"};
static const char *const asked[][2] = {{ASK_CHAT, ASK_CHAT_WHOLE},
                                       {ASK_MESSAGES, ASK_MESSAGES_WHOLE},
                                       {ASK_RESPONSES, "{\"model\":\"m\",\"input\":\"hi\"}"}};
static const char *const streams[] = {CHAT_STREAM, MESSAGES_STREAM, RESPONSES_STREAM};
static const char *const types[] = {SSE, "application/json", "text/html", NULL};
static const char *const odd_bytes[] = {
    "data: {oops\n\n",
    "\r\n\r\n",
    ": comment\n\n",
    "data: {\"error\":{\"message\":\"x\"}}\n\n",
    "{\"error\":{\"message\":\"x\"}}",
    CHAT_DONE,
    "event: error\n\n",
    "\xff\xfe",
    "data:",
};

struct story {
    uint64_t chance;
    size_t surface;
    size_t told[DRIVER_SENDS]; /* bytes of the good stream that an attempt was told */
    bool headed[DRIVER_SENDS];
};

struct seen {
    size_t completed;
    size_t incomplete;
    size_t failed;
    size_t cancelled;
    size_t aborted;
};

static size_t draw(struct story *story, size_t below)
{
    return (size_t)(acog_random_next(&story->chance) % below);
}

static void vary_policy(struct driver *driver, struct story *story)
{
    struct acog_policy *policy = &driver->snapshot->policy;
    policy->commit.stream = (enum acog_commit_level)draw(story, 3);
    policy->commit.whole = draw(story, 2) == 0 ? ACOG_COMMIT_HEADERS : ACOG_COMMIT_ANSWER;
    policy->commit.held_bytes_max = draw(story, 3) == 0 ? draw(story, 400) : 64000;
    policy->commit.fail_when_full = draw(story, 2) == 0;
    policy->bad_event_drops = draw(story, 2) == 0;
    policy->refusal.empty_200 = draw(story, 2) == 0;
    policy->drain_ms = draw(story, 3) == 0 ? 5000 : 0;
    for (int i = 0; i < ACOG_DIALECT_COUNT; i++) {
        policy->stream_errors[i].on_event = (enum acog_stream_end)draw(story, 5);
        policy->stream_errors[i].on_lost = (enum acog_stream_end)draw(story, 5);
    }
}

static void tell_body(struct driver *driver, struct story *story, uint32_t attempt)
{
    struct acog_view stream = acog_view_of(streams[story->surface]);
    size_t *told = &story->told[attempt - 1];
    if (draw(story, 8) == 0) {
        driver_text(driver, attempt,
                    odd_bytes[draw(story, sizeof(odd_bytes) / sizeof(odd_bytes[0]))]);
        return;
    }
    struct acog_view piece = acog_view_slice(stream, *told, *told + 1 + draw(story, 400));
    *told += piece.len;
    if (piece.len > 0) {
        driver_body(driver, attempt, piece);
    }
}

/* One thing that may happen to a running attempt, as an upstream would tell it. */
static void tell_news(struct driver *driver, struct story *story, uint32_t attempt)
{
    if (!story->headed[attempt - 1]) {
        static const unsigned statuses[] = {200, 200, 200, 200, 204, 302, 400, 429, 503};
        story->headed[attempt - 1] = true;
        driver_head(driver, attempt, statuses[draw(story, 9)],
                    types[draw(story, 6) < 3 ? 0 : draw(story, 4)]);
        return;
    }
    switch (draw(story, 12)) {
    case 0:
        driver_end(driver, attempt);
        break;
    case 1:
        driver_failed(driver, attempt, ACOG_CAUSE_CUT);
        break;
    default:
        tell_body(driver, story, attempt);
        break;
    }
}

static uint32_t running(const struct driver *driver)
{
    uint32_t found = 0;
    for (size_t i = 0; i < driver->send_count; i++) {
        if (driver->sends[i].running) {
            assert_int_equal(found, 0); /* never two at a time */
            found = (uint32_t)i + 1;
        }
    }
    return found;
}

static void tell_anything(struct driver *driver, struct story *story)
{
    uint32_t attempt = running(driver);
    size_t which = draw(story, 40);
    if (which == 0) {
        driver_gone(driver);
    } else if (which == 1 && driver->send_count > 0) { /* of one that is over */
        driver_text(driver, (uint32_t)(1 + draw(story, driver->send_count)), "late");
    } else if (which < 4 || attempt == 0) {
        int64_t deadline_ms = acog_exchange_deadline_ms(driver->exchange);
        driver_tick(driver, which % 2 == 0 && deadline_ms != INT64_MAX
                                ? deadline_ms - driver->now_ms
                                : (int64_t)draw(story, 300));
    } else if (which == 4) {
        acog_exchange_client_full(driver->exchange, draw(story, 2) == 0, driver->now_ms);
        driver_drain(driver);
    } else {
        tell_news(driver, story, attempt);
    }
}

static void live_one_request(struct driver *driver, uint64_t seed, struct seen *seen)
{
    struct story story = {.chance = seed};
    story.surface = draw(&story, 3);
    vary_policy(driver, &story);
    driver_post(driver, targets[story.surface], asked[story.surface][draw(&story, 4) == 0 ? 1 : 0]);
    for (int i = 0; i < NEWS_MAX && !driver->finished; i++) {
        tell_anything(driver, &story);
    }
    if (!driver->finished) {
        driver_gone(driver);
        driver_tick(driver, 600000); /* a drain has an end too */
    }
    assert_true(driver->finished);
    const struct acog_exchange_record *record = acog_exchange_record(driver->exchange);
    assert_true(driver->status == record->status || driver->status == 0);
    assert_int_equal(record->reply_bytes, driver->reply.len);
    seen->completed += record->request->outcome == ACOG_OUTCOME_COMPLETED ? 1 : 0;
    seen->incomplete += record->request->outcome == ACOG_OUTCOME_INCOMPLETE ? 1 : 0;
    seen->failed += record->request->outcome == ACOG_OUTCOME_FAILED ? 1 : 0;
    seen->cancelled += record->request->outcome == ACOG_OUTCOME_CANCELLED ? 1 : 0;
    seen->aborted += driver->aborted ? 1 : 0;
}

static void no_order_of_news_breaks_the_rules(void **state)
{
    struct driver driver;
    struct seen seen = {0};
    (void)state;
    driver_init(&driver);
    for (uint64_t seed = 1; seed <= REQUESTS; seed++) {
        live_one_request(&driver, seed * UINT64_C(7919), &seen);
        driver_again(&driver);
    }
    /* Each kind of story was told often enough to mean something. */
    assert_true(seen.completed > 100 && seen.incomplete > 100 && seen.failed > 100);
    assert_true(seen.cancelled > 100 && seen.aborted > 100);
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_order_of_news_breaks_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
