/* request_test.c - what is refused with which words, what is read, and where the spans lie. */
#include "acog/buffer.h"
#include "acog/dialect.h"
#include "acog/memory.h"
#include "tests/support/check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 128

struct read {
    struct acog_arena arena;
    struct acog_client_request request;
    struct acog_request_problem problem;
    enum acog_code code;
};

static struct read read_view(enum acog_surface surface, struct acog_view body)
{
    struct read read;
    acog_arena_init(&read.arena, 1U << 20U);
    read.code =
        acog_dialect_read_request(surface, body, DEPTH, &read.arena, &read.request, &read.problem);
    return read;
}

static struct read read_text(enum acog_surface surface, const char *body)
{
    return read_view(surface, acog_view_of(body));
}

static void refused(enum acog_surface surface, const char *body, const char *problem)
{
    struct read read = read_text(surface, body);
    if (read.code != ACOG_INVALID || strcmp(read.problem.text, problem) != 0) {
        fail_msg("%s\n  gave: %s\n  want: %s", body, read.problem.text, problem);
    }
    acog_arena_fini(&read.arena);
}

static void accepted(enum acog_surface surface, const char *body)
{
    struct read read = read_text(surface, body);
    if (read.code != ACOG_OK) {
        fail_msg("%s\n  gave: %s", body, read.problem.text);
    }
    assert_string_equal(read.problem.text, "");
    acog_arena_fini(&read.arena);
}

#define CHAT_WITH(member) \
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]," member "}"
#define CHAT_MESSAGES(list) "{\"model\":\"m\",\"messages\":" list "}"

/* B117, the client's side: 400 that names the field. */
static void wrong_types_name_the_field(void **state)
{
    (void)state;
    refused(ACOG_SURFACE_CHAT, CHAT_MESSAGES("null"), "messages: must be a list");
    refused(ACOG_SURFACE_CHAT, CHAT_MESSAGES("{}"), "messages: must be a list");
    refused(ACOG_SURFACE_CHAT, CHAT_MESSAGES("[]"), "messages: must not be empty");
    refused(ACOG_SURFACE_CHAT, CHAT_MESSAGES("[1]"), "messages[0]: must be an object");
    refused(ACOG_SURFACE_CHAT, CHAT_MESSAGES("[{\"content\":\"a\"},{\"content\":5}]"),
            "messages[1].content: must be a string or a list");
    refused(ACOG_SURFACE_CHAT, CHAT_MESSAGES("[{\"content\":{}}]"),
            "messages[0].content: must be a string or a list");
    refused(ACOG_SURFACE_CHAT, CHAT_MESSAGES("[{\"content\":[null]}]"),
            "messages[0].content[0]: must be an object");
    refused(ACOG_SURFACE_MESSAGES, CHAT_MESSAGES("[{},{},{\"content\":[{\"type\":7}]}]"),
            "messages[2].content[0].type: must be a string");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"tools\":[null]"), "tools[0]: must be an object");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"tools\":{}"), "tools: must be a list");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"stream\":\"true\""), "stream: must be true or false");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"stream\":1"), "stream: must be true or false");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"max_tokens\":\"10\""),
            "max_tokens: must be a whole number");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"max_tokens\":1e30"),
            "max_tokens: must be a whole number");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"max_tokens\":1.5"),
            "max_tokens: must be a whole number");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"max_completion_tokens\":true"),
            "max_completion_tokens: must be a whole number");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"n\":\"2\""), "n: must be a whole number");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"n\":0"), "n: must be at least 1");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"n\":4294967296"), "n: too large");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"stream_options\":true"),
            "stream_options: must be an object");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"stream_options\":{\"include_usage\":\"yes\"}"),
            "stream_options.include_usage: must be true or false");
    refused(ACOG_SURFACE_RESPONSES, "{\"model\":\"m\",\"input\":null}",
            "input: must be a string or a list");
    refused(ACOG_SURFACE_RESPONSES, "{\"model\":\"m\",\"input\":{}}",
            "input: must be a string or a list");
    refused(ACOG_SURFACE_RESPONSES, "{\"model\":\"m\",\"input\":[]}", "input: must not be empty");
    refused(ACOG_SURFACE_RESPONSES, "{\"model\":\"m\",\"input\":[\"hi\"]}",
            "input[0]: must be an object");
    refused(ACOG_SURFACE_RESPONSES, "{\"model\":\"m\",\"input\":[{\"content\":1}]}",
            "input[0].content: must be a string or a list");
    refused(ACOG_SURFACE_RESPONSES, "{\"model\":\"m\",\"input\":\"x\",\"max_output_tokens\":\"9\"}",
            "max_output_tokens: must be a whole number");
    refused(ACOG_SURFACE_MESSAGES, CHAT_WITH("\"system\":5"), "system: must be a string or a list");
    refused(ACOG_SURFACE_EMBEDDINGS, "{\"model\":\"m\",\"input\":3}",
            "input: must be a string or a list");
    refused(ACOG_SURFACE_EMBEDDINGS, "{\"model\":\"m\",\"input\":[]}", "input: must not be empty");
}

static void the_model_must_be_readable(void **state)
{
    char body[700];
    (void)state;
    refused(ACOG_SURFACE_CHAT, "{\"model\":7,\"messages\":[{}]}", "model: must be a string");
    refused(ACOG_SURFACE_CHAT, "{\"model\":null,\"messages\":[{}]}", "model: must be a string");
    refused(ACOG_SURFACE_CHAT, "{\"model\":\"\",\"messages\":[{}]}", "model: must not be empty");
    refused(ACOG_SURFACE_CHAT, "{\"model\":\"a\\r\\nx: y\",\"messages\":[{}]}",
            "model: must not hold control characters");
    refused(ACOG_SURFACE_CHAT, "{\"model\":\"a\\u0000\",\"messages\":[{}]}",
            "model: must not hold control characters");
    (void)snprintf(body, sizeof(body), "{\"model\":\"%0513d\",\"messages\":[{}]}", 0);
    refused(ACOG_SURFACE_CHAT, body, "model: too long");
    (void)snprintf(body, sizeof(body), "{\"model\":\"%0512d\",\"messages\":[{}]}", 0);
    accepted(ACOG_SURFACE_CHAT, body);
}

static void required_fields_are_named(void **state)
{
    (void)state;
    refused(ACOG_SURFACE_CHAT, "{}", "model: required");
    refused(ACOG_SURFACE_CHAT, "{\"model\":\"m\"}", "messages: required");
    refused(ACOG_SURFACE_MESSAGES, "{\"model\":\"m\"}", "messages: required");
    refused(ACOG_SURFACE_COUNT_TOKENS, "{\"model\":\"m\"}", "messages: required");
    refused(ACOG_SURFACE_EMBEDDINGS, "{\"model\":\"m\"}", "input: required");
    refused(ACOG_SURFACE_RESPONSES, "{\"input\":\"x\"}", "model: required");
    accepted(ACOG_SURFACE_RESPONSES, "{\"model\":\"m\",\"prompt\":{\"id\":\"p\"}}");
}

/* B117 and B115: what is no JSON object at all. */
static void broken_bodies_are_told_with_the_byte(void **state)
{
    (void)state;
    refused(ACOG_SURFACE_CHAT, "", "the body: not valid JSON at byte 0: a value was expected");
    refused(ACOG_SURFACE_CHAT, "null", "the body: must be a JSON object");
    refused(ACOG_SURFACE_CHAT, "[{\"model\":\"m\"}]", "the body: must be a JSON object");
    refused(ACOG_SURFACE_CHAT, "[{\"model\":\"m\"}",
            "the body: not valid JSON at byte 14: ',' or ']' was expected");
    refused(ACOG_SURFACE_CHAT, "hello", "the body: not valid JSON at byte 0: a value was expected");
    refused(ACOG_SURFACE_CHAT, "{\"model\":\"m\",\"messages\":[{}]} x",
            "the body: not valid JSON at byte 30: text behind the value");
    refused(ACOG_SURFACE_CHAT, "\xef\xbb\xbf{\"model\":\"m\",\"messages\":[{}]}",
            "the body: not valid JSON at byte 0: a byte order mark");
    refused(ACOG_SURFACE_CHAT, "{\"model\":\"m\",\"messages\":[{\"content\":\"\\ud800\"}]}",
            "the body: not valid JSON at byte 37: half of a surrogate pair");
    refused(ACOG_SURFACE_CHAT, "{\"model\":\"m\",\"messages\":[{\"content\":\"\xff\"}]}",
            "the body: not valid JSON at byte 37: not UTF-8");
}

static void depth_is_refused(void **state)
{
    static char body[100032] = "{\"model\":\"m\",\"messages\":";
    size_t used = strlen(body);
    (void)state;
    memset(body + used, '[', sizeof(body) - used - 1);
    refused(ACOG_SURFACE_CHAT, body, "messages[0]: must be an object");
    memcpy(body, "{\"model\":\"m\",\"metadata\":", used);
    refused(ACOG_SURFACE_CHAT, body, "the body: not valid JSON at byte 151: nested too deep");
}

static void *read_nested_bodies(void *user)
{
    static const char *const opens[] = {"{\"messages\":[{\"content\":[{\"content\":[{\"content\":[",
                                        "{\"tools\":[{\"function\":{\"function\":", "{\"a\":["};
    struct acog_buffer body;
    size_t *refusals = user;
    for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
        acog_buffer_init(&body, 1U << 16U);
        for (int level = 0; level < 200; level++) {
            if (acog_buffer_append(&body, acog_view_of(level == 0 ? opens[i] : opens[2])) !=
                ACOG_OK) {
                return NULL;
            }
        }
        struct read read = read_view(ACOG_SURFACE_MESSAGES, acog_buffer_view(&body));
        *refusals += read.code == ACOG_INVALID ? 1 : 0;
        acog_arena_fini(&read.arena);
        acog_buffer_fini(&body);
    }
    return NULL;
}

/* B115: on a thread with a stack of 256 KB, under the sanitizers too. */
static void deep_bodies_need_little_stack(void **state)
{
    pthread_attr_t attributes;
    pthread_t thread;
    size_t refusals = 0;
    (void)state;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, (size_t)256 * 1024), 0);
    assert_int_equal(pthread_create(&thread, &attributes, read_nested_bodies, &refusals), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_attr_destroy(&attributes), 0);
    assert_int_equal(refusals, 3);
}

/* CONFORMANCE, decision 13; escapes do not hide a key. */
static void a_key_twice_is_refused_where_the_gateway_reads(void **state)
{
    (void)state;
    refused(ACOG_SURFACE_CHAT, "{\"model\":\"a\",\"messages\":[{}],\"model\":\"b\"}",
            "model: a key twice");
    refused(ACOG_SURFACE_CHAT, "{\"model\":\"a\",\"messages\":[{}],\"mod\\u0065l\":\"b\"}",
            "mod\\u0065l: a key twice");
    refused(ACOG_SURFACE_CHAT, CHAT_MESSAGES("[{\"role\":\"user\",\"role\":\"system\"}]"),
            "messages[0].role: a key twice");
    refused(ACOG_SURFACE_MESSAGES,
            CHAT_MESSAGES("[{\"content\":[{\"type\":\"text\",\"text\":\"a\",\"text\":\"b\"}]}]"),
            "messages[0].content[0].text: a key twice");
    refused(ACOG_SURFACE_MESSAGES,
            CHAT_MESSAGES("[{\"content\":[{\"type\":\"tool_result\",\"content\":[{\"text\":\"a\","
                          "\"te\\u0078t\":\"b\"}]}]}]"),
            "messages[0].content[0].content[0].te\\u0078t: a key twice");
    refused(ACOG_SURFACE_MESSAGES, CHAT_WITH("\"system\":[{\"text\":1,\"text\":2}]"),
            "system[0].text: a key twice");
    refused(ACOG_SURFACE_MESSAGES, CHAT_WITH("\"tools\":[{\"name\":\"a\",\"name\":\"b\"}]"),
            "tools[0].name: a key twice");
    refused(ACOG_SURFACE_CHAT,
            CHAT_WITH("\"tools\":[{},{\"function\":{\"name\":\"a\",\"name\":\"b\"}}]"),
            "tools[1].function.name: a key twice");
    refused(ACOG_SURFACE_CHAT,
            CHAT_WITH("\"stream_options\":{\"include_usage\":true,\"include_usage\":false}"),
            "stream_options.include_usage: a key twice");
    /* Elsewhere they travel on: what they mean is the provider's to say. */
    accepted(ACOG_SURFACE_CHAT, CHAT_WITH("\"metadata\":{\"a\":1,\"a\":2}"));
}

static void too_many_keys_are_refused(void **state)
{
    struct acog_buffer body;
    (void)state;
    acog_buffer_init(&body, 1U << 16U);
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("{\"model\":\"m\"")), ACOG_OK);
    for (int i = 1; i <= ACOG_JSON_KEYS_MAX; i++) {
        assert_int_equal(acog_buffer_format(&body, ",\"k%d\":0", i), ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&body, ACOG_VIEW("}\0")), ACOG_OK);
    refused(ACOG_SURFACE_CHAT, body.ptr, "k128: too many keys");
    acog_buffer_fini(&body);
}

static void long_places_and_keys_are_cut(void **state)
{
    char body[1024];
    struct read read;
    (void)state;
    (void)snprintf(body, sizeof(body), "{\"model\":\"m\",\"%0300d\":1,\"%0300d\":2}", 0, 0);
    read = read_text(ACOG_SURFACE_CHAT, body);
    assert_int_equal(read.code, ACOG_INVALID);
    assert_non_null(strstr(read.problem.text, "000: a key twice"));
    assert_true(strlen(read.problem.text) < 80);
    acog_arena_fini(&read.arena);
}

/* The official SDKs send null for what was not given. */
static void null_is_not_given(void **state)
{
    struct read read = read_text(
        ACOG_SURFACE_CHAT,
        CHAT_WITH("\"stream\":null,\"stream_options\":null,\"max_tokens\":null,\"n\":null,"
                  "\"max_completion_tokens\":null,\"tools\":null,\"response_format\":null"));
    (void)state;
    assert_int_equal(read.code, ACOG_OK);
    assert_false(read.request.stream);
    assert_false(read.request.usage_asked);
    assert_false(read.request.tools);
    assert_false(read.request.structured);
    assert_int_equal(read.request.max_tokens, -1);
    assert_int_equal(read.request.choices, 1);
    assert_true(acog_view_equal(read.request.spans.stream_options, ACOG_VIEW("null")));
    assert_int_equal(read.request.spans.include_usage.len, 0);
    acog_arena_fini(&read.arena);
    accepted(ACOG_SURFACE_CHAT,
             CHAT_MESSAGES("[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}]"));
    accepted(ACOG_SURFACE_MESSAGES, CHAT_WITH("\"system\":null"));
    accepted(ACOG_SURFACE_RESPONSES,
             "{\"model\":\"m\",\"input\":[{\"type\":\"reasoning\",\"content\":null}]}");
}

/* B10: which limit counts, and that OpenAI's must be positive. */
static void token_limits(void **state)
{
    static const struct {
        enum acog_surface surface;
        const char *body;
        int64_t limit;
    } cases[] = {
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"max_completion_tokens\":50"), 50},
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"max_tokens\":60"), 60},
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"max_tokens\":60,\"max_completion_tokens\":50"), 50},
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"max_completion_tokens\":50,\"max_tokens\":60"), 50},
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"max_completion_tokens\":null,\"max_tokens\":60"), 60},
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"max_tokens\":100.0"), 100},
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"max_tokens\":1e3"), 1000},
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"x\":0"), -1},
        {ACOG_SURFACE_MESSAGES, CHAT_WITH("\"max_tokens\":0"), 0},
        {ACOG_SURFACE_MESSAGES, CHAT_WITH("\"max_tokens\":7,\"max_completion_tokens\":\"x\""), 7},
        {ACOG_SURFACE_COUNT_TOKENS, CHAT_WITH("\"x\":0"), -1},
        {ACOG_SURFACE_RESPONSES, "{\"model\":\"m\",\"input\":\"x\",\"max_output_tokens\":9}", 9},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read read = read_text(cases[i].surface, cases[i].body);
        assert_int_equal(read.code, ACOG_OK);
        assert_true(read.request.max_tokens == cases[i].limit);
        acog_arena_fini(&read.arena);
    }
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"max_tokens\":0"), "max_tokens: must be at least 1");
    refused(ACOG_SURFACE_CHAT, CHAT_WITH("\"max_completion_tokens\":-1"),
            "max_completion_tokens: must be at least 1");
    refused(ACOG_SURFACE_RESPONSES, "{\"model\":\"m\",\"input\":\"x\",\"max_output_tokens\":0}",
            "max_output_tokens: must be at least 1");
}

static void facts_and_spans_of_a_chat_request(void **state)
{
    const char *body =
        " {\"mod\\u0065l\":\"gpt\\u002d5\",\"stream\":true,\"n\":2,\n"
        "\"stream_options\" : { \"x\":1, \"include_usage\" : false } ,"
        "\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image_url\"}]}],"
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}],"
        "\"response_format\":{\"type\":\"json_schema\"}} ";
    struct read read = read_text(ACOG_SURFACE_CHAT, body);
    const struct acog_request_spans *spans = &read.request.spans;
    (void)state;
    assert_int_equal(read.code, ACOG_OK);
    assert_true(acog_view_equal(read.request.model, ACOG_VIEW("gpt-5")));
    assert_true(read.request.stream);
    assert_false(read.request.usage_asked);
    assert_int_equal(read.request.choices, 2);
    assert_true(read.request.tools);
    assert_true(read.request.images);
    assert_true(read.request.structured);
    assert_true(acog_view_equal(spans->model, ACOG_VIEW("\"gpt\\u002d5\"")));
    assert_true(spans->model.ptr > body && spans->model.ptr < body + strlen(body));
    assert_true(acog_view_equal(spans->stream_options,
                                ACOG_VIEW("{ \"x\":1, \"include_usage\" : false }")));
    assert_true(acog_view_equal(spans->include_usage, ACOG_VIEW("false")));
    assert_ptr_equal(spans->object.ptr, body + 1);
    assert_int_equal(spans->object.len, strlen(body) - 2);
    acog_arena_fini(&read.arena);
    read = read_text(ACOG_SURFACE_CHAT, CHAT_WITH("\"stream_options\":{\"include_usage\":true},"
                                                  "\"tools\":[]"));
    assert_true(read.request.usage_asked);
    assert_false(read.request.tools);
    assert_false(read.request.images);
    assert_false(read.request.structured);
    acog_arena_fini(&read.arena);
}

static void facts_of_the_other_dialects(void **state)
{
    static const struct {
        enum acog_surface surface;
        const char *body;
        bool tools;
        bool images;
        bool structured;
    } cases[] = {
        {ACOG_SURFACE_MESSAGES, CHAT_WITH("\"tools\":[{\"name\":\"f\"}]"), true, false, false},
        {ACOG_SURFACE_MESSAGES, CHAT_MESSAGES("[{\"content\":[{\"type\":\"image\"}]}]"), false,
         true, false},
        {ACOG_SURFACE_MESSAGES,
         CHAT_MESSAGES("[{\"content\":[{\"type\":\"tool_result\",\"content\":[{\"type\":"
                       "\"image\"}]}]}]"),
         false, true, false},
        {ACOG_SURFACE_MESSAGES,
         CHAT_WITH("\"output_config\":{\"format\":{\"type\":\"json_schema\"}}"), false, false,
         true},
        {ACOG_SURFACE_MESSAGES, CHAT_WITH("\"output_config\":{\"effort\":\"low\"}"), false, false,
         false},
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"functions\":[{\"name\":\"f\"}]"), true, false, false},
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"response_format\":{\"type\":\"text\"}"), false, false,
         false},
        {ACOG_SURFACE_CHAT, CHAT_WITH("\"response_format\":\"json\""), false, false, false},
        {ACOG_SURFACE_RESPONSES,
         "{\"model\":\"m\",\"input\":[{\"content\":[{\"type\":\"input_image\"}]}],"
         "\"text\":{\"format\":{\"type\":\"json_schema\"}},\"tools\":[{\"type\":\"web_search\"}]}",
         true, true, true},
        {ACOG_SURFACE_RESPONSES,
         "{\"model\":\"m\",\"input\":[{\"type\":\"function_call_output\",\"output\":[{\"type\":"
         "\"input_image\"}]}],\"text\":{\"format\":{\"type\":\"text\"}}}",
         false, true, false},
        {ACOG_SURFACE_EMBEDDINGS, "{\"model\":\"m\",\"input\":[[1,2],[3]]}", false, false, false},
        {ACOG_SURFACE_EMBEDDINGS, "{\"model\":\"m\",\"input\":\"x\",\"stream\":5}", false, false,
         false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read read = read_text(cases[i].surface, cases[i].body);
        assert_int_equal(read.code, ACOG_OK);
        assert_int_equal(read.request.tools, cases[i].tools);
        assert_int_equal(read.request.images, cases[i].images);
        assert_int_equal(read.request.structured, cases[i].structured);
        acog_arena_fini(&read.arena);
    }
}

/* B108: what the gateway does not read has no effect and no type. */
static void other_fields_choose_nothing(void **state)
{
    struct read read = read_text(
        ACOG_SURFACE_CHAT,
        CHAT_WITH("\"api_base\":\"http://127.0.0.1:9/\",\"api_key\":1,\"litellm_params\":"
                  "{\"model\":\"other\"},\"metadata\":{\"model\":\"x\",\"stream\":true}"));
    (void)state;
    assert_int_equal(read.code, ACOG_OK);
    assert_true(acog_view_equal(read.request.model, ACOG_VIEW("m")));
    assert_false(read.request.stream);
    acog_arena_fini(&read.arena);
}

static bool always_fails(void *user)
{
    (void)user;
    return true;
}

static void no_memory_for_an_escaped_model(void **state)
{
    (void)state;
    acog_memory_fail_when(always_fails, NULL);
    struct read read = read_text(ACOG_SURFACE_CHAT, "{\"model\":\"a\\n\",\"messages\":[{}]}");
    acog_memory_fail_when(NULL, NULL);
    assert_int_equal(read.code, ACOG_NO_MEMORY);
    acog_arena_fini(&read.arena);
}

static void pins_are_read_and_cut_out(void **state)
{
    static const struct {
        const char *body;
        const char *path;
        const char *values; /* joined with '|' */
        const char *without;
    } cases[] = {
        {"{\"model\":\"m\",\"provider\":{\"only\":[\"to\\u0067ether\",\"x\"]},\"a\":1}",
         "provider.only", "together|x|", "{\"model\":\"m\",\"a\":1}"},
        {"{\"provider\":{\"only\":\"one\"}, \"a\":1}", "provider.only", "one|", "{\"a\":1}"},
        {"{\"a\":1 , \"provider\":{\"only\":[1,\"b\",null]}}", "provider.only", "b|", "{\"a\":1}"},
        {"{\"provider\":{\"only\":[]}}", "provider.only", "", "{}"},
        {"{\"provider\":{\"order\":[\"x\"]},\"a\":1}", "provider.only", "", "{\"a\":1}"},
        {"{\"a\":1}", "provider.only", "", "{\"a\":1}"},
        {"{\"pin\":\"x\",\"a\":1}", "pin", "x|", "{\"a\":1}"},
        {"{\"provider\":{\"only\":{\"a\":\"b\"}}}", "provider.only", "", "{}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct acog_arena arena;
        struct acog_view values[4];
        struct acog_view span;
        char joined[64] = "";
        char without[128];
        struct acog_view body = acog_view_of(cases[i].body);
        acog_arena_init(&arena, 4096);
        size_t count =
            acog_dialect_read_pin(body, acog_view_of(cases[i].path), &arena, values, 4, &span);
        for (size_t v = 0; v < count; v++) {
            size_t used = strlen(joined);
            (void)snprintf(joined + used, sizeof(joined) - used, "%.*s|", ACOG_VIEW_FMT(values[v]));
        }
        assert_string_equal(joined, cases[i].values);
        size_t from = span.len == 0 ? body.len : (size_t)(span.ptr - body.ptr);
        (void)snprintf(without, sizeof(without), "%.*s%s", (int)from, body.ptr,
                       body.ptr + from + span.len);
        assert_string_equal(without, cases[i].without);
        acog_arena_fini(&arena);
    }
}

static void a_pin_takes_only_as_many_values_as_there_is_room(void **state)
{
    struct acog_arena arena;
    struct acog_view values[2];
    struct acog_view span;
    (void)state;
    acog_arena_init(&arena, 4096);
    assert_int_equal(acog_dialect_read_pin(ACOG_VIEW("{\"p\":[\"a\",\"b\",\"c\"]}"), ACOG_VIEW("p"),
                                           &arena, values, 2, &span),
                     2);
    acog_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_types_name_the_field),
        cmocka_unit_test(the_model_must_be_readable),
        cmocka_unit_test(required_fields_are_named),
        cmocka_unit_test(broken_bodies_are_told_with_the_byte),
        cmocka_unit_test(depth_is_refused),
        cmocka_unit_test(deep_bodies_need_little_stack),
        cmocka_unit_test(a_key_twice_is_refused_where_the_gateway_reads),
        cmocka_unit_test(too_many_keys_are_refused),
        cmocka_unit_test(long_places_and_keys_are_cut),
        cmocka_unit_test(null_is_not_given),
        cmocka_unit_test(token_limits),
        cmocka_unit_test(facts_and_spans_of_a_chat_request),
        cmocka_unit_test(facts_of_the_other_dialects),
        cmocka_unit_test(other_fields_choose_nothing),
        cmocka_unit_test(no_memory_for_an_escaped_model),
        cmocka_unit_test(pins_are_read_and_cut_out),
        cmocka_unit_test(a_pin_takes_only_as_many_values_as_there_is_room),
    };
    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
