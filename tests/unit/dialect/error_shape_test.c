/* error_shape_test.c - what an error says by its words: each shape, its false friends, and the categories of a refusal. */
#include "acog/buffer.h"
#include "tests/support/check.h"
#include "tests/support/error_read.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *body;
    unsigned shapes;
} shape_cases[] = {
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
    {"{\"error\":{\"status\":\"UNAVAILABLE\",\"message\":\"The model is overloaded.\"}}", OVERLOAD},
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
    {"{\"error\":{\"type\":\"insufficient_quota\",\"code\":null,\"message\":\"x\"}}", NO_CREDIT},
    /* RATE_LIMIT */
    {"{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"x\"}}", RATE_LIMIT},
    {"{\"error\":{\"code\":429,\"message\":\"Provider returned error\",\"metadata\":{\"raw\":\"m is "
     "temporarily rate-limited upstream\"}}}",
     RATE_LIMIT},
    {"{\"__type\":\"ThrottlingException\",\"Message\":\"x\"}", RATE_LIMIT},
    {"{\"__type\":\"com.amazon.coral.service#ThrottlingException\",\"message\":\"Rate exceeded\"}",
     RATE_LIMIT},
    {"{\"code\":\"Throttling.RateQuota\",\"message\":\"x\"}", RATE_LIMIT},
    /* the providers that are left, one error each */
    {"{\"error\":{\"code\":\"tokens_limit_reached\",\"message\":\"Max size: 8000 tokens.\"}}",
     CONTEXT_OVERFLOW}, /* GitHub */
    {"{\"message\":\"too many tokens: size limit exceeded by 9 tokens.\"}",
     CONTEXT_OVERFLOW}, /* Cohere */
    {"{\"object\":\"error\",\"message\":\"Prompt contains 9 tokens, too large for model with 8 maximum "
     "context length\",\"type\":\"invalid_request_error\"}",
     CONTEXT_OVERFLOW}, /* Mistral */
    {"{\"object\":\"error\",\"message\":\"The input (9 tokens) is longer than the model's context "
     "length (8 tokens).\",\"type\":\"BadRequestError\"}",
     CONTEXT_OVERFLOW},                                                                /* SGLang */
    {"{\"error\":\"the input length exceeds the context length\"}", CONTEXT_OVERFLOW}, /* Ollama */
    {"{\"error\":{\"code\":400,\"message\":\"request (9 tokens) exceeds the available context size (8 "
     "tokens)\",\"type\":\"exceed_context_size_error\"}}",
     CONTEXT_OVERFLOW}, /* llama.cpp */
    {"{\"code\":\"c\",\"error\":\"This model's maximum prompt length is 8 but the request contains 9 "
     "tokens.\"}",
     CONTEXT_OVERFLOW}, /* xAI */
    {"{\"errors\":[{\"message\":\"AiError: No such model @cf/a\",\"code\":5007}],\"success\":false}",
     MODEL_UNKNOWN}, /* Cloudflare */
    {"{\"error\":{\"message\":\"Model Not Exist\",\"type\":\"invalid_request_error\"}}",
     MODEL_UNKNOWN}, /* DeepSeek */
    {"{\"error\":{\"message\":\"The model `m` has been decommissioned\",\"code\":"
     "\"model_decommissioned\"}}",
     MODEL_UNKNOWN}, /* Groq */
    {"{\"error\":{\"message\":\"Error code: 400 - {'error': {'code': 'ResponsibleAIPolicyViolation'}}\"}}",
     REFUSAL}, /* Azure behind a relay in Python */
    {"{\"code\":\"DataInspectionFailed\",\"message\":\"x\"}", REFUSAL}, /* Alibaba */
    {"{\"error\":{\"message\":\"Insufficient Balance\",\"code\":\"invalid_request_error\"}}",
     NO_CREDIT},                               /* DeepSeek */
    {"{\"error\":\"unauthorized\"}", KEY_BAD}, /* vLLM */
    {"{\"detail\":\"Not authenticated\"}", KEY_BAD},
    {"<html><h1>401 Authorization Required</h1></html>", KEY_BAD},
    {"<html><h1>429 Too Many Requests</h1></html>", RATE_LIMIT},
    {"<html><h1>503 Service Temporarily Unavailable</h1></html>", CANNOT_SERVE},
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

static void shapes_of_each_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shape_cases) / sizeof(shape_cases[0]); i++) {
        struct read read = read_text(shape_cases[i].body);
        if (read.failure.shapes != shape_cases[i].shapes) {
            fail_msg("%s\n  shapes %#x, want %#x", shape_cases[i].body, read.failure.shapes,
                     shape_cases[i].shapes);
        }
        acog_arena_fini(&read.arena);
    }
}

/* What looks like one thing and is another (FACTS 3-6). */
static void false_friends(void **state)
{
    static const struct {
        const char *body;
        unsigned status;
        unsigned shapes;
    } cases[] = {
        /* rates in the words of an overflow */
        {"{\"message\":\"Too many tokens, please wait before trying again.\"}", 429, RATE_LIMIT},
        {"{\"error\":{\"message\":\"Request too large for model m on tokens per minute (TPM): Limit 1, "
         "Requested 2\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}",
         413, RATE_LIMIT},
        {"{\"message\":\"Tokens per minute limit exceeded - too many tokens processed.\",\"type\":"
         "\"too_many_tokens_error\",\"code\":\"token_quota_exceeded\"}",
         429, RATE_LIMIT},
        {"{\"error\":{\"message\":\"This would exceed the rate limit of 5 input tokens per minute. "
         "Reduce the prompt length.\",\"type\":\"invalid_request_error\"}}",
         429, RATE_LIMIT},
        {"{\"error\":{\"code\":\"request_too_large\",\"message\":\"Limit 1 on tokens per minute, "
         "requested 2\"}}",
         413, RATE_LIMIT},
        {"{\"code\":\"too_many_tokens\",\"message\":\"Too many tokens, please wait before trying "
         "again.\"}",
         429, RATE_LIMIT},
        /* money in the words of an overflow, a rate in the words of money */
        {"{\"error\":{\"code\":402,\"message\":\"This request requires more credits, or fewer "
         "max_tokens. You can only afford 9.\"}}",
         402, NO_CREDIT},
        {"{\"error\":{\"type\":\"insufficient_quota\",\"message\":\"You exceeded your current quota, "
         "please check your plan and billing details.\"}}",
         429, NO_CREDIT},
        {"{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"You exceeded your "
         "current quota, please check your plan and billing details. Head to: "
         "https://ai.google.dev/gemini-api/docs/rate-limits.\"}}",
         429, RATE_LIMIT},
        {"{\"error\":{\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"You exceeded your current quota, "
         "please check your plan and billing details. * Quota exceeded for metric: requests, limit: "
         "0\"}}",
         429, RATE_LIMIT},
        /* "too many" and "too long" of other things */
        {"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Too many "
         "strict tools (21).\"}}",
         400, 0},
        {"{\"error\":{\"code\":\"string_above_max_length\",\"message\":\"Invalid 'user': string too "
         "long. Expected a string with maximum length 64.\"}}",
         400, 0},
        {"{\"error\":{\"code\":\"string_above_max_length\",\"message\":\"Invalid "
         "'messages[1].tool_calls[0].id': string too long.\"}}",
         400, 0},
        {"{\"error\":{\"code\":\"string_above_max_length\",\"message\":\"Invalid "
         "'messages[1].content': string too long.\"}}",
         400, CONTEXT_OVERFLOW},
        {"{\"message\":\"Too many inputs in request, split into more batches.\"}", 400, 0},
        /* blocking and safety that refuse nothing */
        {"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"The "
         "following domains are not accessible to our user agent: ['a.example']. Read more on how to "
         "block the crawler.\"}}",
         400, 0},
        {"{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\",\"message\":\"Invalid value at "
         "'safety_settings[0].category', HARM_CATEGORY_HATE_SPEECH, HARM_CATEGORY_HARASSMENT\"}}",
         400, 0},
        {"{\"error\":{\"code\":\"content_filter_error\",\"message\":\"not filtered\"}}", 500, 0},
        {"{\"error\":{\"message\":\"m\",\"content_filter_result\":{\"error\":{\"code\":"
         "\"content_filter_error\"}}}}",
         400, 0},
        {"{\"error\":{\"code\":400,\"message\":\"empty content\",\"metadata\":{\"error_type\":"
         "\"invalid_prompt\"}}}",
         400, 0},
        /* a 404 that is not the model, a 403 that is not the key */
        {"{\"error\":{\"message\":\"Response with id 'resp_1' not found.\"}}", 404, 0},
        {"{\"error\":{\"message\":\"No such File object: f\"}}", 404, 0},
        {"{\"error\":{\"message\":\"This is not a chat model and thus not supported in this "
         "endpoint.\",\"param\":\"model\"}}",
         404, 0},
        {"{\"error\":{\"message\":\"The model answered. The file f does not exist\"}}", 404, 0},
        {"{\"error\":{\"code\":403,\"status\":\"PERMISSION_DENIED\",\"message\":\"CachedContent not "
         "found (or permission denied)\"}}",
         403, 0},
        {"{\"message\":\"You don't have access to the model with the specified model ID.\"}", 403,
         MODEL_UNKNOWN},
        {"{\"error\":{\"code\":\"forbidden\",\"message\":\"Forbidden\"}}", 403, 0},
        {"{\"error\":{\"message\":\"Read how to become unauthorized\"}}", 401, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read read = read_view(acog_view_of(cases[i].body), cases[i].status);
        if (read.failure.shapes != cases[i].shapes) {
            fail_msg("%s\n  shapes %#x, want %#x", cases[i].body, read.failure.shapes,
                     cases[i].shapes);
        }
        acog_arena_fini(&read.arena);
    }
}

/* A text as JSON has it, with a word for the '*' of a pattern. */
static void append_phrase(struct acog_buffer *body, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        struct acog_view byte = {at, 1};
        struct acog_view put = *at == '*' ? ACOG_VIEW("a b") : byte;
        put = *at == '"' ? ACOG_VIEW("\\\"") : put;
        assert_int_equal(acog_buffer_append(body, put), ACOG_OK);
    }
}

static void check_phrase(enum acog_shape shape, const char *place, const char *text)
{
    struct acog_buffer body;
    bool code = strncmp(place, "CODE", 4) == 0;
    acog_buffer_init(&body, 1024);
    assert_int_equal(acog_buffer_append(&body, code ? ACOG_VIEW("{\"error\":{\"code\":\"")
                                                    : ACOG_VIEW("{\"error\":{\"message\":\"")),
                     ACOG_OK);
    append_phrase(&body, text);
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("\"}}")), ACOG_OK);
    struct read read = read_view(acog_buffer_view(&body), 400);
    if ((read.failure.shapes & ACOG_BIT(shape)) == 0) {
        fail_msg("%s \"%s\": shapes %#x", place, text, read.failure.shapes);
    }
    acog_arena_fini(&read.arena);
    acog_buffer_fini(&body);
}

/* No row is written in a way that nothing fits. */
static void every_phrase_is_found(void **state)
{
    (void)state;
#define ACOG_PHRASE(shape, place, text)       check_phrase(ACOG_SHAPE_##shape, #place, text);
#define ACOG_FALSE_FRIEND(shape, place, text) /* tests of their own */
#include "core/dialect/error_phrase.def"
#undef ACOG_PHRASE
#undef ACOG_FALSE_FRIEND
}

static void codes_are_found_in_any_spelling(void **state)
{
    static const char *const codes[] = {"invalid_api_key", "InvalidApiKey", "invalid-api-key",
                                        "Invalid API Key", "invalidapikey"};
    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        char body[128];
        (void)snprintf(body, sizeof(body), "{\"error\":{\"code\":\"%s\"}}", codes[i]);
        struct read read = read_text(body);
        assert_int_equal(read.failure.shapes, KEY_BAD);
        acog_arena_fini(&read.arena);
    }
}

/* Only then: a body that tells what was too large may mean another thing. */
static void status_413_is_an_overflow_when_the_body_is_silent(void **state)
{
    static const struct {
        const char *body;
        unsigned status;
        unsigned shapes;
    } cases[] = {
        {"", 413, CONTEXT_OVERFLOW},
        {"<html><title>413</title></html>", 413, CONTEXT_OVERFLOW},
        {"{\"error\":{\"code\":\"other\",\"message\":\"m\"}}", 413, 0},
        {"", 400, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read read = read_view(acog_view_of(cases[i].body), cases[i].status);
        assert_int_equal(read.failure.shapes, cases[i].shapes);
        acog_arena_fini(&read.arena);
    }
}

static void assert_categories(const char *body, const char *joined)
{
    char got[256] = "";
    size_t used = 0;
    struct read read = read_text(body);
    for (size_t i = 0; i < read.failure.category_count; i++) {
        used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%.*s", i == 0 ? "" : " ",
                                 ACOG_VIEW_FMT(read.failure.categories[i]));
    }
    assert_string_equal(got, joined);
    assert_int_equal(read.failure.shapes, REFUSAL);
    acog_arena_fini(&read.arena);
}

/* S1.15: wherever Azure, a relay before it, and OpenRouter put them. */
static void categories_wherever_they_are(void **state)
{
    (void)state;
    assert_categories("{\"error\":{\"message\":\"m\",\"inner_error\":{\"content_filter_results\":{"
                      "\"hate\":{\"filtered\":true},\"sexual\":{\"filtered\":false}}}}}",
                      "hate");
    assert_categories("{\"error\":{\"message\":\"m\",\"provider_specific_fields\":{\"innererror\":{"
                      "\"content_filter_result\":{\"violence\":{\"filtered\":true}}}}}}",
                      "violence");
    assert_categories("{\"error\":{\"message\":\"m\",\"content_filters\":[{\"blocked\":true,"
                      "\"content_filter_results\":{\"jailbreak\":{\"filtered\":true}}}]}}",
                      "jailbreak");
    assert_categories("{\"error\":{\"message\":\"m\",\"innererror\":{\"content_filter_result\":{"
                      "\"custom_blocklists\":[{\"id\":\"a\",\"filtered\":false},{\"id\":\"b\","
                      "\"filtered\":true}],\"hate\":{\"filtered\":false}}}}}",
                      "custom_blocklists");
    assert_categories("{\"error\":{\"code\":403,\"message\":\"m\",\"metadata\":{\"reasons\":["
                      "\"self-harm\",\"violence\"],\"flagged_input\":\"overloaded\"}}}",
                      "self_harm violence");
    assert_categories("{\"error\":{\"code\":400,\"message\":\"m\",\"details\":[{\"reason\":"
                      "\"PUBLIC_ERROR_UNSAFE_GENERATION\"}]}}",
                      "public_error_unsafe_generation");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_each_kind),
        cmocka_unit_test(false_friends),
        cmocka_unit_test(every_phrase_is_found),
        cmocka_unit_test(codes_are_found_in_any_spelling),
        cmocka_unit_test(status_413_is_an_overflow_when_the_body_is_silent),
        cmocka_unit_test(status_451_is_a_refusal),
        cmocka_unit_test(categories_of_a_refusal),
        cmocka_unit_test(categories_wherever_they_are),
        cmocka_unit_test(categories_are_capped),
    };
    return cmocka_run_group_tests_name("error_shape", tests, NULL, NULL);
}
