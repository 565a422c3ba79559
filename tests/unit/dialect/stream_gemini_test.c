/* stream_gemini_test.c - what each event of streamGenerateContent is, and when such a stream may end. */
#include "acog/dialect.h"
#include "tests/support/check.h"

#include <string.h>

#define TEXT      ACOG_BIT(ACOG_OUTPUT_TEXT)
#define REASONING ACOG_BIT(ACOG_OUTPUT_REASONING)
#define TOOL      ACOG_BIT(ACOG_OUTPUT_TOOL)
#define USAGE     ACOG_BIT(ACOG_OUTPUT_USAGE)
#define STOP      ACOG_BIT(ACOG_OUTPUT_STOP)

#define PARTS(parts) "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts "]}}]}"
#define END(reason)  "{\"candidates\":[{\"finishReason\":\"" reason "\"}]}"

struct follow {
    struct acog_stream_tracker tracker;
    struct acog_arena arena;
    struct acog_failure failure;
    unsigned outputs;
};

static void begin(struct follow *follow)
{
    memset(follow, 0, sizeof(*follow));
    follow->failure.retry_after_ms = -1;
    acog_arena_init(&follow->arena, 1U << 20U);
    acog_stream_tracker_init(&follow->tracker, ACOG_DIALECT_GEMINI);
}

static enum acog_stream_event feed(struct follow *follow, const char *data)
{
    return acog_stream_tracker_read(&follow->tracker, (struct acog_view){0}, acog_view_of(data),
                                    &follow->arena, &follow->outputs, &follow->failure);
}

static void end(struct follow *follow)
{
    acog_arena_fini(&follow->arena);
}

static void each_event_is_what_its_parts_are(void **state)
{
    static const struct {
        const char *data;
        enum acog_stream_event event;
        unsigned outputs;
    } rows[] = {
        {PARTS("{\"text\":\"hi\"}"), ACOG_STREAM_EVENT_OUTPUT, TEXT},
        {PARTS("{\"text\":\"hm\",\"thought\":true}"), ACOG_STREAM_EVENT_OUTPUT, REASONING},
        {PARTS("{\"functionCall\":{\"name\":\"f\"}},{\"text\":\"x\"}"), ACOG_STREAM_EVENT_OUTPUT,
         TOOL | TEXT},
        {PARTS("{\"text\":\"\",\"thoughtSignature\":\"U0lH\"}"), ACOG_STREAM_EVENT_OTHER, 0},
        {PARTS("{\"executableCode\":{\"code\":\"1\"}}"), ACOG_STREAM_EVENT_OTHER, 0},
        {END("STOP"), ACOG_STREAM_EVENT_OUTPUT, STOP},
        {"{\"usageMetadata\":{\"promptTokenCount\":3}}", ACOG_STREAM_EVENT_OUTPUT, USAGE},
        {"{\"usageMetadata\":{\"trafficType\":\"ON_DEMAND\"}}", ACOG_STREAM_EVENT_OTHER, 0},
        {"{\"candidates\":[]}", ACOG_STREAM_EVENT_OTHER, 0},
        {"{\"candidates\":[null]}", ACOG_STREAM_EVENT_OTHER, 0},
        {"{\"candidates\":{\"content\":1}}", ACOG_STREAM_EVENT_OTHER, 0},
        {"{\"error\":{\"code\":503,\"message\":\"overloaded\",\"status\":\"UNAVAILABLE\"}}",
         ACOG_STREAM_EVENT_ERROR, 0},
        {"[{\"error\":{\"code\":429,\"message\":\"slow\",\"status\":\"RESOURCE_EXHAUSTED\"}}]",
         ACOG_STREAM_EVENT_ERROR, 0},
        {"{\"candidates\":[", ACOG_STREAM_EVENT_BAD, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct follow follow;
        begin(&follow);
        enum acog_stream_event event = feed(&follow, rows[i].data);
        if (event != rows[i].event || follow.outputs != rows[i].outputs) {
            fail_msg("%s\n  event %d, outputs %#x", rows[i].data, (int)event, follow.outputs);
        }
        end(&follow);
    }
}

/* B59: there is no [DONE]; a finish reason and the end of the bytes are the end, the bytes' end alone is a cut. */
static void a_finish_reason_ends_a_stream_and_nothing_else(void **state)
{
    struct follow follow;
    (void)state;
    begin(&follow);
    assert_false(acog_stream_tracker_complete(&follow.tracker));
    (void)feed(&follow, PARTS("{\"text\":\"half\"}"));
    assert_false(acog_stream_tracker_complete(&follow.tracker));
    (void)feed(&follow, PARTS("{\"functionCall\":{\"name\":\"f\",\"args\":{}}}"));
    assert_false(acog_stream_tracker_complete(&follow.tracker));
    (void)feed(&follow, END("STOP"));
    assert_true(acog_stream_tracker_complete(&follow.tracker));
    assert_false(follow.tracker.refused);
    end(&follow);
}

static void usage_behind_the_finish_reason_still_counts(void **state)
{
    struct follow follow;
    (void)state;
    begin(&follow);
    (void)feed(&follow, "{\"candidates\":[{\"finishReason\":\"STOP\"}],\"modelVersion\":\"m-1\","
                        "\"responseId\":\"id1\",\"usageMetadata\":{\"promptTokenCount\":10,"
                        "\"totalTokenCount\":10}}");
    assert_int_equal(follow.tracker.usage.output_tokens, 0);
    (void)feed(&follow, "{\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":4,"
                        "\"thoughtsTokenCount\":6,\"cachedContentTokenCount\":8,"
                        "\"totalTokenCount\":20}}");
    assert_int_equal(follow.tracker.usage.input_tokens, 10);
    assert_int_equal(follow.tracker.usage.cached_tokens, 8);
    assert_int_equal(follow.tracker.usage.output_tokens, 10);
    assert_int_equal(follow.tracker.usage.reasoning_tokens, 6);
    assert_string_equal(follow.tracker.id_text, "id1");
    assert_string_equal(follow.tracker.model_text, "m-1");
    end(&follow);
}

static void a_filter_and_a_blocked_prompt_are_refusals(void **state)
{
    static const char *const events[] = {
        END("SAFETY"),
        END("PROHIBITED_CONTENT"),
        "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}",
        "{\"candidates\":[],\"promptFeedback\":{\"blockReason\":\"SOMETHING_NEW\"}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct follow follow;
        begin(&follow);
        assert_int_equal(feed(&follow, events[i]), ACOG_STREAM_EVENT_OUTPUT);
        assert_true(follow.tracker.refused);
        assert_true(acog_stream_tracker_complete(&follow.tracker));
        end(&follow);
    }
}

static void an_error_event_is_never_a_good_end(void **state)
{
    struct follow follow;
    (void)state;
    begin(&follow);
    (void)feed(&follow, PARTS("{\"text\":\"half\"}"));
    assert_int_equal(feed(&follow, "{\"error\":{\"code\":503,\"message\":\"overloaded\","
                                   "\"status\":\"UNAVAILABLE\"}}"),
                     ACOG_STREAM_EVENT_ERROR);
    assert_int_equal(follow.failure.cause, ACOG_CAUSE_STREAM_ERROR);
    assert_true(acog_view_equal(follow.failure.message, ACOG_VIEW("overloaded")));
    (void)feed(&follow, END("STOP"));
    assert_false(acog_stream_tracker_complete(&follow.tracker));
    end(&follow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_is_what_its_parts_are),
        cmocka_unit_test(a_finish_reason_ends_a_stream_and_nothing_else),
        cmocka_unit_test(usage_behind_the_finish_reason_still_counts),
        cmocka_unit_test(a_filter_and_a_blocked_prompt_are_refusals),
        cmocka_unit_test(an_error_event_is_never_a_good_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
