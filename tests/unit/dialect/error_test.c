/* error_test.c - the facts of error bodies, on samples of our own; corpus_test.c has the recorded ones. */
#include "acog/buffer.h"
#include "acog/dialect.h"
#include "acog/memory.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#define REFUSAL          ACOG_BIT(ACOG_SHAPE_REFUSAL)
#define CONTEXT_OVERFLOW ACOG_BIT(ACOG_SHAPE_CONTEXT_OVERFLOW)
#define OVERLOAD         ACOG_BIT(ACOG_SHAPE_OVERLOAD)
#define CANNOT_SERVE     ACOG_BIT(ACOG_SHAPE_CANNOT_SERVE)
#define MODEL_UNKNOWN    ACOG_BIT(ACOG_SHAPE_MODEL_UNKNOWN)
#define KEY_BAD          ACOG_BIT(ACOG_SHAPE_KEY_BAD)
#define NO_CREDIT        ACOG_BIT(ACOG_SHAPE_NO_CREDIT)
#define RATE_LIMIT       ACOG_BIT(ACOG_SHAPE_RATE_LIMIT)

struct read {
    struct acog_arena arena;
    struct acog_failure failure;
};

static struct read read_view(struct acog_view body, unsigned status)
{
    struct read read = {.failure = {.retry_after_ms = -1}};
    acog_arena_init(&read.arena, 1U << 20U);
    acog_dialect_read_error(body, status, &read.arena, &read.failure);
    return read;
}

static struct read read_text(const char *body)
{
    return read_view(acog_view_of(body), 400);
}

static void shapes_of_each_kind(void **state)
{
    static const struct {
        const char *body;
        unsigned shapes;
    } cases[] = {
        /* REFUSAL: S1.13, FACTS 6 */
        {"{\"error\":{\"code\":\"content_policy_violation\",\"message\":\"no\"}}", REFUSAL},
        {"{\"error\":{\"code\":\"content_filter\",\"message\":\"no\"}}", REFUSAL},
        {"{\"error\":{\"code\":\"Content-Filter\",\"message\":\"no\"}}", REFUSAL},
        {"{\"error\":{\"type\":\"safety_error\",\"message\":\"no\"}}", REFUSAL},
        {"{\"error\":{\"code\":\"moderation_blocked\",\"message\":\"no\"}}", REFUSAL},
        {"{\"error\":{\"code\":\"invalid_prompt\",\"message\":\"no\"}}", REFUSAL},
        {"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Output "
         "blocked by Content Filtering Policy\"}}",
         REFUSAL},
        {"{\"error\":{\"code\":400,\"innererror\":{\"content_filter_result\":{\"hate\":{\"filtered\":"
         "true}}}}}",
         REFUSAL},
        {"{\"error\":{\"code\":null,\"inner_error\":{\"content_filter_results\":{}}}}", REFUSAL},
        {"{\"error\":{\"code\":400,\"message\":\"x\",\"details\":[{\"reason\":\"PUBLIC_ERROR_UNSAFE_"
         "GENERATION\"}]}}",
         REFUSAL},
        /* its false friends: a list of harm categories in a malformed request; filter results beside an error */
        {"{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\",\"message\":\"Invalid value at "
         "'safety_settings[0].category': HARM_CATEGORY_X\"}}",
         0},
        {"{\"error\":{\"message\":\"boom\"},\"choices\":[{\"content_filter_results\":{\"hate\":{"
         "\"filtered\":false}}}]}",
         0},
        /* CONTEXT_OVERFLOW: FACTS 5 */
        {"{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"x\"}}", CONTEXT_OVERFLOW},
        {"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is "
         "too long: 9 tokens > 8 maximum\"}}",
         CONTEXT_OVERFLOW},
        {"{\"message\":\"Input Tokens Exceeded: Number of input tokens exceeds maximum length.\"}",
         CONTEXT_OVERFLOW},
        {"[{\"error\":{\"message\":\"The input token count (9) exceeds the maximum number of tokens "
         "allowed (8).\",\"status\":\"INVALID_ARGUMENT\"}}]",
         CONTEXT_OVERFLOW},
        {"{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8\"}",
         CONTEXT_OVERFLOW},
        {"<html><h1>413 Request Entity Too Large</h1></html>", CONTEXT_OVERFLOW},
        /* and its false friends */
        {"{\"message\":\"Too many tokens, please wait before trying again.\"}", RATE_LIMIT},
        {"{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Request too large for m on tokens "
         "per min (TPM): Limit 1, Requested 2.\"}}",
         RATE_LIMIT},
        {"{\"error\":{\"code\":402,\"message\":\"This request requires more credits, or fewer "
         "max_tokens.\"}}",
         NO_CREDIT},
        {"{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Too many strict tools (21).\"}}",
         0},
        /* OVERLOAD */
        {"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
         OVERLOAD},
        {"{\"error\":{\"status\":\"UNAVAILABLE\",\"message\":\"The model is overloaded.\"}}",
         OVERLOAD},
        {"{\"error\":{\"code\":\"slow_down\",\"message\":\"x\"}}", OVERLOAD},
        /* CANNOT_SERVE: S2.5 */
        {"{\"error\":{\"message\":\"No endpoints found for x\",\"code\":404}}", CANNOT_SERVE},
        {"{\"error\":\"Model x is currently loading\",\"estimated_time\":20.0}", CANNOT_SERVE},
        {"no healthy upstream", CANNOT_SERVE},
        /* MODEL_UNKNOWN: FACTS 3 */
        {"{\"error\":{\"code\":\"model_not_found\",\"message\":\"x\"}}", MODEL_UNKNOWN},
        {"{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"model: x\"}}",
         MODEL_UNKNOWN},
        {"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"model: too "
         "short\"}}",
         0},
        {"{\"message\":\"The provided model identifier is invalid.\"}", MODEL_UNKNOWN},
        {"{\"code\":\"invalid-argument\",\"error\":\"Model not found: x\"}", MODEL_UNKNOWN},
        {"{\"detail\":\"Model x is not supported. Supported models are ['y']\"}", MODEL_UNKNOWN},
        {"{\"error\":{\"message\":\"Response with id 'r' not found.\"}}", 0},
        /* KEY_BAD and NO_CREDIT: FACTS 4 */
        {"{\"error\":{\"code\":400,\"message\":\"API key not valid.\",\"details\":[{\"reason\":\"API_KEY_"
         "INVALID\"}],\"status\":\"INVALID_ARGUMENT\"}}",
         KEY_BAD},
        {"{\"code\":\"x\",\"error\":\"Incorrect API key provided: a***b.\"}", KEY_BAD},
        {"{\"message\":\"The security token included in the request is expired\"}", KEY_BAD},
        {"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your credit "
         "balance is too low to access the API.\"}}",
         NO_CREDIT},
        {"{\"error\":{\"type\":\"insufficient_quota\",\"code\":null,\"message\":\"x\"}}",
         NO_CREDIT},
        /* RATE_LIMIT */
        {"{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"x\"}}",
         RATE_LIMIT},
        {"{\"error\":{\"code\":429,\"message\":\"Provider returned error\",\"metadata\":{\"raw\":\"m is "
         "temporarily rate-limited upstream\"}}}",
         RATE_LIMIT},
        {"{\"__type\":\"ThrottlingException\",\"Message\":\"x\"}", RATE_LIMIT},
        /* nothing to tell */
        {"", 0},
        {"null", 0},
        {"[]", 0},
        {"{}", 0},
        {"{\"error\":null}", 0},
        {"{\"error\":{\"message\":{\"a\":1},\"code\":[],\"type\":5}}", 0},
        {"{\"error\":{\"message\":\"Overloa", 0},
        {"<html><title>502 Bad Gateway</title></html>", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read read = read_text(cases[i].body);
        if (read.failure.shapes != cases[i].shapes) {
            fail_msg("%s\n  shapes %#x, want %#x", cases[i].body, read.failure.shapes,
                     cases[i].shapes);
        }
        acog_arena_fini(&read.arena);
    }
}

static void texts_and_codes_come_from_wherever_they_are(void **state)
{
    static const struct {
        const char *body;
        const char *message;
        const char *code;
        const char *type;
    } cases[] = {
        {"{\"error\":{\"message\":\"a\\nb\",\"code\":\"c\",\"type\":\"t\"}}", "a\nb", "c", "t"},
        {"{\"type\":\"error\",\"error\":{\"type\":\"t\",\"message\":\"m\"}}", "m", "t", "t"},
        {"{\"error\":{\"code\":429,\"message\":\"m\",\"status\":\"S\"}}", "m", "429", "S"},
        {"{\"object\":\"error\",\"message\":\"m\",\"type\":\"T\",\"code\":400}", "m", "400", "T"},
        {"{\"code\":\"c\",\"error\":\"m\"}", "m", "c", ""},
        {"{\"detail\":\"m\"}", "m", "", ""},
        {"{\"detail\":[{\"msg\":\"m\",\"loc\":[]}]}", "m", "", ""},
        {"{\"errors\":[{\"code\":7003,\"message\":\"m\"}]}", "m", "7003", ""},
        {"[{\"error\":{\"message\":\"m\",\"status\":\"S\"}}]", "m", "S", "S"},
        {"{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"c\",\"message\":\"m\"}}}",
         "m", "c", ""},
        {"{\"type\":\"error\",\"code\":\"c\",\"message\":\"m\",\"param\":null}", "m", "c", ""},
        {"{\"Message\":\"m\"}", "m", "", ""},
        {"\"m\"", "m", "", ""},
        {" plain words ", "plain words", "", ""},
        {"<html>x</html>", "", "", ""},
        {"{\"error\":{\"message\":\"cut", "", "", ""},
        {"", "", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read read = read_text(cases[i].body);
        if (!acog_view_equal(read.failure.message, acog_view_of(cases[i].message)) ||
            !acog_view_equal(read.failure.code, acog_view_of(cases[i].code)) ||
            !acog_view_equal(read.failure.type, acog_view_of(cases[i].type))) {
            fail_msg("%s\n  gave %.*s | %.*s | %.*s", cases[i].body,
                     ACOG_VIEW_FMT(read.failure.message), ACOG_VIEW_FMT(read.failure.code),
                     ACOG_VIEW_FMT(read.failure.type));
        }
        acog_arena_fini(&read.arena);
    }
}

/* S1.15, G1.4 */
static void categories_of_a_refusal(void **state)
{
    struct read read = read_text(
        "{\"error\":{\"code\":\"content_filter\",\"innererror\":{\"code\":\"ResponsibleAIPolicyViolation\","
        "\"content_filter_result\":{\"hate\":{\"filtered\":false},\"Self-Harm\":{\"filtered\":true},"
        "\"jailbreak\":{\"filtered\":true,\"detected\":true}}}}}");
    (void)state;
    assert_int_equal(read.failure.category_count, 4);
    assert_true(acog_view_equal(read.failure.categories[0], ACOG_VIEW("self_harm")));
    assert_true(acog_view_equal(read.failure.categories[1], ACOG_VIEW("jailbreak")));
    assert_true(acog_view_equal(read.failure.categories[2], ACOG_VIEW("content_filter")));
    acog_arena_fini(&read.arena);
    read =
        read_text("{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Output blocked by "
                  "content filtering policy\"}}");
    assert_int_equal(read.failure.category_count, 0);
    acog_arena_fini(&read.arena);
}

static void categories_are_capped(void **state)
{
    struct acog_buffer body;
    (void)state;
    acog_buffer_init(&body, 4096);
    assert_int_equal(
        acog_buffer_append(&body,
                           ACOG_VIEW("{\"error\":{\"innererror\":{\"content_filter_result\":{")),
        ACOG_OK);
    for (int i = 0; i < ACOG_CATEGORIES_MAX + 3; i++) {
        assert_int_equal(
            acog_buffer_format(&body, "%s\"c%d\":{\"filtered\":true}", i == 0 ? "" : ",", i),
            ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("}}}}")), ACOG_OK);
    struct read read = read_view(acog_buffer_view(&body), 400);
    assert_int_equal(read.failure.category_count, ACOG_CATEGORIES_MAX);
    acog_arena_fini(&read.arena);
    acog_buffer_fini(&body);
}

/* S1.13: 451 is a refusal whatever the body says. */
static void status_451_is_a_refusal(void **state)
{
    struct read read = read_view(ACOG_VIEW("not here"), 451);
    (void)state;
    assert_int_equal(read.failure.shapes, REFUSAL);
    acog_arena_fini(&read.arena);
}

/* FACTS 2 */
static void google_tells_the_delay_in_the_body(void **state)
{
    struct acog_view body = ACOG_VIEW(
        "{\"error\":{\"code\":429,\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\","
        "\"retryDelay\":\"34.4s\"}]}}");
    struct read read = read_view(body, 429);
    (void)state;
    assert_true(read.failure.retry_after_ms == 34400);
    read.failure.retry_after_ms = 1000; /* the header said so: it stays */
    acog_dialect_read_error(body, 429, &read.arena, &read.failure);
    assert_true(read.failure.retry_after_ms == 1000);
    acog_arena_fini(&read.arena);
}

static void a_long_message_is_cut_between_characters(void **state)
{
    struct acog_buffer body;
    (void)state;
    acog_buffer_init(&body, 1U << 16U);
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("{\"error\":\"x")), ACOG_OK);
    for (size_t i = 0; i < ACOG_ERROR_MESSAGE_MAX; i++) {
        assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("\xc3\xa9")), ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("\"}")), ACOG_OK);
    struct read read = read_view(acog_buffer_view(&body), 400);
    assert_int_equal(read.failure.message.len, ACOG_ERROR_MESSAGE_MAX - 1);
    acog_arena_fini(&read.arena);
    acog_buffer_fini(&body);
}

static void cause_clock_and_status_are_left_alone(void **state)
{
    struct acog_arena arena;
    struct acog_failure failure = {
        .cause = ACOG_CAUSE_STATUS, .clock = ACOG_CLOCK_IDLE, .status = 503, .retry_after_ms = 7};
    (void)state;
    acog_arena_init(&arena, 4096);
    acog_dialect_read_error(ACOG_VIEW("{\"error\":\"x\"}"), 503, &arena, &failure);
    assert_int_equal(failure.cause, ACOG_CAUSE_STATUS);
    assert_int_equal(failure.clock, ACOG_CLOCK_IDLE);
    assert_int_equal(failure.status, 503);
    assert_true(failure.retry_after_ms == 7);
    acog_arena_fini(&arena);
}

static bool always_fails(void *user)
{
    (void)user;
    return true;
}

static void without_memory_the_facts_are_fewer(void **state)
{
    (void)state;
    acog_memory_fail_when(always_fails, NULL);
    struct read read = read_text("{\"error\":{\"message\":\"Overloaded\",\"code\":\"a\\u0062\"}}");
    acog_memory_fail_when(NULL, NULL);
    assert_true(acog_view_equal(read.failure.message, ACOG_VIEW("Overloaded")));
    assert_int_equal(read.failure.shapes, 0);
    acog_arena_fini(&read.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_each_kind),
        cmocka_unit_test(texts_and_codes_come_from_wherever_they_are),
        cmocka_unit_test(categories_of_a_refusal),
        cmocka_unit_test(categories_are_capped),
        cmocka_unit_test(status_451_is_a_refusal),
        cmocka_unit_test(google_tells_the_delay_in_the_body),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
        cmocka_unit_test(cause_clock_and_status_are_left_alone),
        cmocka_unit_test(without_memory_the_facts_are_fewer),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
