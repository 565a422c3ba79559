/* stream_test.c - what each event of a stream is, and when a stream may end. */
#include "acog/dialect.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#define TEXT      ACOG_BIT(ACOG_OUTPUT_TEXT)
#define REASONING ACOG_BIT(ACOG_OUTPUT_REASONING)
#define TOOL      ACOG_BIT(ACOG_OUTPUT_TOOL)
#define REFUSAL   ACOG_BIT(ACOG_OUTPUT_REFUSAL)
#define USAGE     ACOG_BIT(ACOG_OUTPUT_USAGE)
#define STOP      ACOG_BIT(ACOG_OUTPUT_STOP)

/* A tracker and what its last event was. */
struct follow {
    struct acog_stream_tracker tracker;
    struct acog_arena arena;
    struct acog_failure failure;
    unsigned outputs;
};

static void begin(struct follow *follow, enum acog_dialect dialect)
{
    memset(follow, 0, sizeof(*follow));
    follow->failure.retry_after_ms = -1;
    acog_arena_init(&follow->arena, 1U << 20U);
    acog_stream_tracker_init(&follow->tracker, dialect);
}

static enum acog_stream_event feed_named(struct follow *follow, const char *name, const char *data)
{
    return acog_stream_tracker_read(&follow->tracker, acog_view_of(name), acog_view_of(data),
                                    &follow->arena, &follow->outputs, &follow->failure);
}

static enum acog_stream_event feed(struct follow *follow, const char *data)
{
    return feed_named(follow, NULL, data);
}

static void end(struct follow *follow)
{
    acog_arena_fini(&follow->arena);
}

/* One event alone, on a fresh tracker. */
static void is(enum acog_dialect dialect, const char *data, enum acog_stream_event event,
               unsigned outputs)
{
    struct follow follow;
    begin(&follow, dialect);
    enum acog_stream_event got = feed(&follow, data);
    if (got != event || follow.outputs != outputs || follow.tracker.outputs != outputs) {
        fail_msg("%s\n  event %d, outputs %#x; want %d, %#x", data, (int)got, follow.outputs,
                 (int)event, outputs);
    }
    end(&follow);
}

#define DELTA(inside)  "{\"choices\":[{\"index\":0,\"delta\":{" inside "},\"finish_reason\":null}]}"
#define FINISH(reason) "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason "\"}]}"
#define TOOL_DELTA \
    DELTA("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"a\\\"\"}}]")

static void chat_deltas(void **state)
{
    (void)state;
    is(ACOG_DIALECT_CHAT, DELTA("\"content\":\"hi\""), ACOG_STREAM_EVENT_OUTPUT, TEXT);
    is(ACOG_DIALECT_CHAT, DELTA("\"content\":\" \""), ACOG_STREAM_EVENT_OUTPUT, TEXT);
    is(ACOG_DIALECT_CHAT, DELTA("\"role\":\"assistant\",\"content\":\"\",\"refusal\":null"),
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT, DELTA("\"content\":null,\"reasoning_content\":\"hm\""),
       ACOG_STREAM_EVENT_OUTPUT, REASONING);
    is(ACOG_DIALECT_CHAT, DELTA("\"content\":\"\",\"reasoning\":\"hm\""), ACOG_STREAM_EVENT_OUTPUT,
       REASONING);
    is(ACOG_DIALECT_CHAT, DELTA("\"refusal\":\"no\""), ACOG_STREAM_EVENT_OUTPUT, REFUSAL);
    is(ACOG_DIALECT_CHAT, TOOL_DELTA, ACOG_STREAM_EVENT_OUTPUT, TOOL);
    is(ACOG_DIALECT_CHAT, DELTA("\"tool_calls\":[]"), ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT, DELTA("\"tool_calls\":[null]"), ACOG_STREAM_EVENT_OTHER, 0); /* B117 */
    is(ACOG_DIALECT_CHAT, DELTA("\"function_call\":{\"name\":\"f\"}"), ACOG_STREAM_EVENT_OUTPUT,
       TOOL);
    is(ACOG_DIALECT_CHAT,
       DELTA(
           "\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"a\"}]}]"),
       ACOG_STREAM_EVENT_OUTPUT, REASONING);
    is(ACOG_DIALECT_CHAT, DELTA("\"content\":[{\"type\":\"text\",\"text\":\"a\"}]"),
       ACOG_STREAM_EVENT_OUTPUT, TEXT);
    is(ACOG_DIALECT_CHAT, DELTA("\"audio\":{\"transcript\":\"a\"}"), ACOG_STREAM_EVENT_OUTPUT,
       TEXT);
    is(ACOG_DIALECT_CHAT, FINISH("stop"), ACOG_STREAM_EVENT_OUTPUT, STOP);
    is(ACOG_DIALECT_CHAT, FINISH(""), ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT, "[DONE]", ACOG_STREAM_EVENT_DONE, 0);
    is(ACOG_DIALECT_CHAT, " [DONE] ", ACOG_STREAM_EVENT_DONE, 0);
}

/* B52: Azure's filter chunks are no output, and nothing crashes on what is missing. */
static void chunks_without_anything_are_no_output(void **state)
{
    (void)state;
    is(ACOG_DIALECT_CHAT,
       "{\"id\":\"\",\"object\":\"\",\"model\":\"\",\"choices\":[],\"prompt_filter_results\":[{}]}",
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT,
       "{\"choices\":[{\"index\":0,\"finish_reason\":null,\"content_filter_offsets\":{}}]}",
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT, "{\"choices\":null}", ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT, "{\"choices\":[null,5,[],\"x\"]}", ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT, "{\"choices\":{\"delta\":{\"content\":\"x\"}}}", ACOG_STREAM_EVENT_OTHER,
       0);
    is(ACOG_DIALECT_CHAT, "{}", ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT, "", ACOG_STREAM_EVENT_COMMENT, 0);
    is(ACOG_DIALECT_GEMINI, "{\"candidates\":[]}", ACOG_STREAM_EVENT_OTHER, 0);
}

static void data_that_is_no_object_is_bad(void **state)
{
    (void)state;
    is(ACOG_DIALECT_CHAT, "{\"choices\":[", ACOG_STREAM_EVENT_BAD, 0);
    is(ACOG_DIALECT_CHAT, "hello", ACOG_STREAM_EVENT_BAD, 0);
    is(ACOG_DIALECT_MESSAGES, "{} {}", ACOG_STREAM_EVENT_BAD, 0);
    is(ACOG_DIALECT_RESPONSES, "null", ACOG_STREAM_EVENT_BAD, 0);
    is(ACOG_DIALECT_CHAT, "{\"a\":\"\xff\"}", ACOG_STREAM_EVENT_BAD, 0);
}

/* B49, B51 */
static void chat_usage(void **state)
{
    struct follow follow;
    (void)state;
    begin(&follow, ACOG_DIALECT_CHAT);
    assert_int_equal(
        feed(&follow, "{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":null}"),
        ACOG_STREAM_EVENT_OUTPUT);
    assert_true(follow.tracker.usage.input_tokens == -1);
    assert_int_equal(
        feed(&follow, "{\"choices\":[{\"delta\":{}}],\"usage\":{\"prompt_tokens\":1,\"completion_"
                      "tokens\":1}}"),
        ACOG_STREAM_EVENT_OUTPUT);
    assert_int_equal(follow.outputs, USAGE);
    assert_int_equal(
        feed(&follow, "{\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":2,"
                      "\"prompt_tokens_details\":{\"cached_tokens\":80,\"cache_write_tokens\":5},"
                      "\"completion_tokens_details\":{\"reasoning_tokens\":1}}}"),
        ACOG_STREAM_EVENT_USAGE_ONLY);
    assert_int_equal(follow.outputs, USAGE);
    assert_true(follow.tracker.usage.input_tokens == 100);
    assert_true(follow.tracker.usage.output_tokens == 2);
    assert_true(follow.tracker.usage.cached_tokens == 80);
    assert_true(follow.tracker.usage.cache_write_tokens == 5);
    assert_true(follow.tracker.usage.reasoning_tokens == 1);
    end(&follow);
    is(ACOG_DIALECT_CHAT, "{\"choices\":[],\"usage\":\"x\"}", ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT, "{\"choices\":[],\"usage\":{\"prompt_tokens\":-1}}",
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT, "{\"choices\":[],\"x_groq\":{\"usage\":{\"prompt_tokens\":1}}}",
       ACOG_STREAM_EVENT_USAGE_ONLY, USAGE);
}

static void names_are_kept_from_the_first_chunk_that_has_them(void **state)
{
    struct follow follow;
    char data[400];
    (void)state;
    begin(&follow, ACOG_DIALECT_CHAT);
    (void)feed(&follow, "{\"id\":\"\",\"model\":\"\",\"choices\":[]}");
    (void)feed(&follow, "{\"id\":\"a\\u002d1\",\"model\":\"m\",\"choices\":[]}");
    (void)feed(&follow, "{\"id\":\"b\",\"model\":\"n\",\"choices\":[]}");
    assert_string_equal(follow.tracker.id_text, "a-1");
    assert_string_equal(follow.tracker.model_text, "m");
    end(&follow);
    begin(&follow, ACOG_DIALECT_CHAT);
    (void)snprintf(data, sizeof(data), "{\"id\":\"%0300d\"}", 0);
    (void)feed(&follow, data);
    assert_int_equal(strlen(follow.tracker.id_text), sizeof(follow.tracker.id_text) - 1);
    end(&follow);
}

#define BLOCK_DELTA(inside) "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{" inside "}}"
#define BLOCK_START(inside) \
    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{" inside "}}"

static void messages_events(void **state)
{
    (void)state;
    is(ACOG_DIALECT_MESSAGES, "{\"type\": \"ping\"}", ACOG_STREAM_EVENT_PING, 0);
    is(ACOG_DIALECT_MESSAGES, BLOCK_START("\"type\":\"text\",\"text\":\"\""),
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_MESSAGES, BLOCK_START("\"type\":\"text\",\"text\":\"a\""),
       ACOG_STREAM_EVENT_OUTPUT, TEXT);
    is(ACOG_DIALECT_MESSAGES, BLOCK_START("\"type\":\"thinking\",\"thinking\":\"\""),
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_MESSAGES, BLOCK_START("\"type\":\"redacted_thinking\",\"data\":\"x\""),
       ACOG_STREAM_EVENT_OUTPUT, REASONING);
    is(ACOG_DIALECT_MESSAGES, BLOCK_START("\"type\":\"tool_use\",\"id\":\"t\",\"input\":{}"),
       ACOG_STREAM_EVENT_OUTPUT, TOOL);
    is(ACOG_DIALECT_MESSAGES, BLOCK_START("\"type\":\"server_tool_use\""), ACOG_STREAM_EVENT_OUTPUT,
       TOOL);
    is(ACOG_DIALECT_MESSAGES, BLOCK_START("\"type\":\"web_search_tool_result\""),
       ACOG_STREAM_EVENT_OUTPUT, TOOL);
    is(ACOG_DIALECT_MESSAGES, BLOCK_START("\"type\":\"compaction\""), ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_MESSAGES, BLOCK_DELTA("\"type\":\"text_delta\",\"text\":\"a\""),
       ACOG_STREAM_EVENT_OUTPUT, TEXT);
    is(ACOG_DIALECT_MESSAGES, BLOCK_DELTA("\"type\":\"input_json_delta\",\"partial_json\":\"\""),
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_MESSAGES, BLOCK_DELTA("\"type\":\"input_json_delta\",\"partial_json\":\"{\""),
       ACOG_STREAM_EVENT_OUTPUT, TOOL);
    is(ACOG_DIALECT_MESSAGES, BLOCK_DELTA("\"type\":\"thinking_delta\",\"thinking\":\"a\""),
       ACOG_STREAM_EVENT_OUTPUT, REASONING);
    is(ACOG_DIALECT_MESSAGES, BLOCK_DELTA("\"type\":\"signature_delta\",\"signature\":\"a\""),
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_MESSAGES, "{\"type\":\"content_block_stop\",\"index\":0      }",
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_MESSAGES,
       "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":"
       "3}}",
       ACOG_STREAM_EVENT_OUTPUT, STOP | USAGE);
    is(ACOG_DIALECT_MESSAGES, "{\"type\":\"message_stop\"}", ACOG_STREAM_EVENT_DONE, 0);
    is(ACOG_DIALECT_MESSAGES, "{\"type\":\"something_new\"}", ACOG_STREAM_EVENT_OTHER, 0);
}

/* FACTS 8: message_delta repeats the input's tokens. */
static void messages_usage_is_overwritten(void **state)
{
    struct follow follow;
    (void)state;
    begin(&follow, ACOG_DIALECT_MESSAGES);
    assert_int_equal(
        feed(
            &follow,
            "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m-1\",\"usage\":{"
            "\"input_tokens\":9,\"cache_read_input_tokens\":7,\"cache_creation_input_tokens\":5,"
            "\"output_tokens\":1}}}"),
        ACOG_STREAM_EVENT_OTHER);
    assert_int_equal(follow.outputs, 0);
    assert_string_equal(follow.tracker.id_text, "msg_1");
    assert_string_equal(follow.tracker.model_text, "m-1");
    (void)feed(&follow, "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":null},\"usage\":{"
                        "\"input_tokens\":9,\"output_tokens\":12}}");
    assert_int_equal(follow.outputs, USAGE);
    assert_true(follow.tracker.usage.input_tokens == 9);
    assert_true(follow.tracker.usage.output_tokens == 12);
    assert_true(follow.tracker.usage.cached_tokens == 7);
    assert_true(follow.tracker.usage.cache_write_tokens == 5);
    end(&follow);
}

static void the_events_name_counts_where_the_type_is_missing(void **state)
{
    struct follow follow;
    (void)state;
    begin(&follow, ACOG_DIALECT_MESSAGES);
    assert_int_equal(feed_named(&follow, "ping", "{}"), ACOG_STREAM_EVENT_PING);
    assert_int_equal(feed_named(&follow, "message_stop", "{}"), ACOG_STREAM_EVENT_DONE);
    end(&follow);
}

static void responses_events(void **state)
{
    (void)state;
    is(ACOG_DIALECT_RESPONSES, "{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}",
       ACOG_STREAM_EVENT_OUTPUT, TEXT);
    is(ACOG_DIALECT_RESPONSES, "{\"type\":\"response.output_text.delta\",\"delta\":\"\"}",
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_RESPONSES, "{\"type\":\"response.refusal.delta\",\"delta\":\"a\"}",
       ACOG_STREAM_EVENT_OUTPUT, REFUSAL);
    is(ACOG_DIALECT_RESPONSES,
       "{\"type\":\"response.reasoning_summary_text.delta\",\"delta\":\"a\"}",
       ACOG_STREAM_EVENT_OUTPUT, REASONING);
    is(ACOG_DIALECT_RESPONSES, "{\"type\":\"response.reasoning_text.delta\",\"delta\":\"a\"}",
       ACOG_STREAM_EVENT_OUTPUT, REASONING);
    is(ACOG_DIALECT_RESPONSES,
       "{\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\"}",
       ACOG_STREAM_EVENT_OUTPUT, TOOL);
    is(ACOG_DIALECT_RESPONSES,
       "{\"type\":\"response.custom_tool_call_input.delta\",\"delta\":\"x\"}",
       ACOG_STREAM_EVENT_OUTPUT, TOOL);
    is(ACOG_DIALECT_RESPONSES,
       "{\"type\":\"response.function_call_arguments.done\",\"arguments\":\"{}\"}",
       ACOG_STREAM_EVENT_OUTPUT, TOOL); /* B37 */
    is(ACOG_DIALECT_RESPONSES,
       "{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"arguments\":\"\"}}",
       ACOG_STREAM_EVENT_OUTPUT, TOOL);
    is(ACOG_DIALECT_RESPONSES,
       "{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\",\"content\":[]}}",
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_RESPONSES,
       "{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\",\"summary\":[{\"text\":"
       "\"a\"}]}}",
       ACOG_STREAM_EVENT_OUTPUT, REASONING);
    is(ACOG_DIALECT_RESPONSES, "{\"type\":\"response.created\",\"response\":{\"error\":null}}",
       ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_RESPONSES, "{\"type\":\"keepalive\",\"sequence_number\":3}",
       ACOG_STREAM_EVENT_PING, 0);
    is(ACOG_DIALECT_RESPONSES, "{\"type\":\"response.web_search_call.searching\"}",
       ACOG_STREAM_EVENT_OTHER, 0);
    /* B38: the text may come in the terminal event only */
    is(ACOG_DIALECT_RESPONSES,
       "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":"
       "\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"a\"}]}],\"usage\":{\"input_tokens\":"
       "1}}}",
       ACOG_STREAM_EVENT_DONE, STOP | TEXT | USAGE);
}

static void responses_keep_sequence_names_and_usage(void **state)
{
    struct follow follow;
    (void)state;
    begin(&follow, ACOG_DIALECT_RESPONSES);
    assert_true(follow.tracker.sequence == -1);
    (void)feed(&follow, "{\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":"
                        "\"resp_1\",\"model\":\"m-1\"}}");
    assert_true(follow.tracker.sequence == 0);
    (void)feed(&follow, "{\"type\":\"x\",\"sequence_number\":7}");
    assert_true(follow.tracker.sequence == 7);
    assert_string_equal(follow.tracker.id_text, "resp_1");
    assert_string_equal(follow.tracker.model_text, "m-1");
    (void)feed(
        &follow,
        "{\"type\":\"response.incomplete\",\"response\":{\"output\":[],\"incomplete_details\":{"
        "\"reason\":\"max_output_tokens\"},\"usage\":{\"input_tokens\":5,\"output_tokens\":6,"
        "\"input_tokens_details\":{\"cached_tokens\":1},\"output_tokens_details\":{"
        "\"reasoning_tokens\":2}}}}");
    assert_true(follow.tracker.usage.input_tokens == 5);
    assert_true(follow.tracker.usage.output_tokens == 6);
    assert_true(follow.tracker.usage.cached_tokens == 1);
    assert_true(follow.tracker.usage.reasoning_tokens == 2);
    assert_false(follow.tracker.refused);
    assert_true(acog_stream_tracker_complete(&follow.tracker));
    end(&follow);
}

/* FACTS 7: the shapes of an error inside a 200, and B57. */
static void errors_inside_a_stream(void **state)
{
    static const struct {
        enum acog_dialect dialect;
        const char *name;
        const char *data;
        const char *message;
        unsigned shapes;
    } cases[] = {
        {ACOG_DIALECT_RESPONSES, "error",
         "{\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"m\",\"sequence_number\":2}",
         "m", ACOG_BIT(ACOG_SHAPE_RATE_LIMIT)},
        {ACOG_DIALECT_RESPONSES, "",
         "{\"type\":\"error\",\"error\":{\"type\":\"server_error\",\"message\":\"m\"}}", "m", 0},
        {ACOG_DIALECT_RESPONSES, "response.failed",
         "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\",\"message\":"
         "\"m\"}}}",
         "m", 0},
        {ACOG_DIALECT_MESSAGES, "error",
         "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
         "Overloaded", ACOG_BIT(ACOG_SHAPE_OVERLOAD)},
        {ACOG_DIALECT_MESSAGES, "",
         "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"m\"}}", "m", 0},
        {ACOG_DIALECT_CHAT, "error", "{\"error\":{\"message\":\"m\",\"code\":\"tool_use_failed\"}}",
         "m", 0},
        {ACOG_DIALECT_CHAT, "", "{\"error\":{\"message\":\"m\"}}", "m", 0},
        {ACOG_DIALECT_CHAT, "",
         "{\"id\":\"x\",\"error\":{\"code\":502,\"message\":\"m\"},\"choices\":[{\"index\":0,\"delta\":{"
         "\"content\":\"\"},\"finish_reason\":\"error\"}]}",
         "m", 0},
        {ACOG_DIALECT_CHAT, "", "{\"error\":\"m\"}", "m", 0},
        {ACOG_DIALECT_CHAT, "error", "upstream went away", "upstream went away", 0},
        {ACOG_DIALECT_CHAT, "",
         "[{\"error\":{\"code\":429,\"message\":\"m\",\"status\":"
         "\"RESOURCE_EXHAUSTED\"}}]",
         "m", ACOG_BIT(ACOG_SHAPE_RATE_LIMIT)},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct follow follow;
        begin(&follow, cases[i].dialect);
        assert_int_equal(feed_named(&follow, cases[i].name, cases[i].data),
                         ACOG_STREAM_EVENT_ERROR);
        assert_true(acog_view_equal(follow.failure.message, acog_view_of(cases[i].message)));
        assert_int_equal(follow.failure.shapes, cases[i].shapes);
        assert_int_equal(follow.failure.cause, ACOG_CAUSE_STREAM_ERROR);
        assert_true(follow.tracker.error_seen);
        (void)feed(&follow, "[DONE]"); /* as if all were well */
        assert_false(acog_stream_tracker_complete(&follow.tracker));
        end(&follow);
    }
    is(ACOG_DIALECT_CHAT, "{\"error\":null,\"choices\":[]}", ACOG_STREAM_EVENT_OTHER, 0);
    is(ACOG_DIALECT_CHAT, "{\"error\":\"\",\"choices\":[]}", ACOG_STREAM_EVENT_OTHER, 0);
}

/* B59 and decision 15: events one by one, and whether the stream may end behind them. */
static void how_a_stream_may_end(void **state)
{
    static const struct {
        const char *story;
        enum acog_dialect dialect;
        const char *events[4];
        bool complete;
    } cases[] = {
        {"text, finish stop, [DONE]",
         ACOG_DIALECT_CHAT,
         {DELTA("\"content\":\"a\""), FINISH("stop"), "[DONE]"},
         true},
        {"text, finish stop, EOF",
         ACOG_DIALECT_CHAT,
         {DELTA("\"content\":\"a\""), FINISH("stop")},
         true},
        {"text, [DONE], no finish",
         ACOG_DIALECT_CHAT,
         {DELTA("\"content\":\"a\""), "[DONE]"},
         true},
        {"text, EOF", ACOG_DIALECT_CHAT, {DELTA("\"content\":\"a\"")}, false},
        {"tool arguments cut, EOF", ACOG_DIALECT_CHAT, {TOOL_DELTA}, false},
        {"tool arguments cut, [DONE]", ACOG_DIALECT_CHAT, {TOOL_DELTA, "[DONE]"}, false},
        {"tool, finish", ACOG_DIALECT_CHAT, {TOOL_DELTA, FINISH("tool_calls")}, true},
        {"tool, finish, a late delta, [DONE]",
         ACOG_DIALECT_CHAT,
         {TOOL_DELTA, FINISH("tool_calls"), TOOL_DELTA, "[DONE]"},
         true},
        {"finish stop, [DONE], [DONE]",
         ACOG_DIALECT_CHAT,
         {FINISH("stop"), "[DONE]", "[DONE]"},
         true},
        {"finish stop, [DONE], more data",
         ACOG_DIALECT_CHAT,
         {FINISH("stop"), "[DONE]", "{\"error\":{\"message\":\"late\"}}"},
         true},
        {"nothing", ACOG_DIALECT_CHAT, {NULL}, false},
        {"[DONE] alone", ACOG_DIALECT_CHAT, {"[DONE]"}, false},
        {"two choices, one finished",
         ACOG_DIALECT_CHAT,
         {DELTA("\"content\":\"a\""),
          "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"},\"finish_reason\":null}]}",
          FINISH("stop")},
         false},
        {"two choices, both finished",
         ACOG_DIALECT_CHAT,
         {DELTA("\"content\":\"a\""),
          "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"length\"}]}",
          FINISH("stop")},
         true},
        {"content after its finish",
         ACOG_DIALECT_CHAT,
         {FINISH("stop"), DELTA("\"content\":\"a\"")},
         true},
        {"messages: stop_reason, EOF before message_stop",
         ACOG_DIALECT_MESSAGES,
         {BLOCK_DELTA("\"text\":\"a\""),
          "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}"},
         true},
        {"messages: EOF after content_block_stop",
         ACOG_DIALECT_MESSAGES,
         {BLOCK_DELTA("\"text\":\"a\""), "{\"type\":\"content_block_stop\",\"index\":0}"},
         false},
        {"messages: message_stop without a stop_reason",
         ACOG_DIALECT_MESSAGES,
         {BLOCK_DELTA("\"text\":\"a\""), "{\"type\":\"message_stop\"}"},
         true},
        {"messages: tool input cut, message_stop",
         ACOG_DIALECT_MESSAGES,
         {BLOCK_DELTA("\"partial_json\":\"{\""), "{\"type\":\"message_stop\"}"},
         false},
        {"responses: text, EOF",
         ACOG_DIALECT_RESPONSES,
         {"{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}"},
         false},
        {"responses: completed",
         ACOG_DIALECT_RESPONSES,
         {"{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}",
          "{\"type\":\"response.completed\",\"response\":{\"output\":[]}}"},
         true},
        {"responses: tool, completed, [DONE]",
         ACOG_DIALECT_RESPONSES,
         {"{\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\"}",
          "{\"type\":\"response.completed\",\"response\":{\"output\":[]}}", "[DONE]"},
         true},
        {"responses: text, [DONE], no terminal event",
         ACOG_DIALECT_RESPONSES,
         {"{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}", "[DONE]"},
         true},
        {"responses: failed",
         ACOG_DIALECT_RESPONSES,
         {"{\"type\":\"response.failed\",\"response\":{\"error\":{\"message\":\"m\"}}}"},
         false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct follow follow;
        begin(&follow, cases[i].dialect);
        for (size_t e = 0; e < 4 && cases[i].events[e] != NULL; e++) {
            (void)feed(&follow, cases[i].events[e]);
        }
        if (acog_stream_tracker_complete(&follow.tracker) != cases[i].complete) {
            fail_msg("%s", cases[i].story);
        }
        end(&follow);
    }
}

static void what_follows_the_last_event_changes_nothing(void **state)
{
    struct follow follow;
    (void)state;
    begin(&follow, ACOG_DIALECT_CHAT);
    (void)feed(&follow, FINISH("stop"));
    (void)feed(&follow, "[DONE]");
    assert_int_equal(feed(&follow, DELTA("\"content\":\"a\"")), ACOG_STREAM_EVENT_OTHER);
    assert_int_equal(feed(&follow, "broken"), ACOG_STREAM_EVENT_OTHER);
    assert_int_equal(follow.outputs, 0);
    assert_int_equal(follow.tracker.outputs, STOP);
    end(&follow);
}

/* S4.24 and the default policy's reading for chat */
static void refusals_as_the_reason_of_the_end(void **state)
{
    static const struct {
        enum acog_dialect dialect;
        const char *data;
        bool refused;
    } cases[] = {
        {ACOG_DIALECT_CHAT, FINISH("content_filter"), true},
        {ACOG_DIALECT_CHAT, FINISH("stop"), false},
        {ACOG_DIALECT_MESSAGES,
         "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\",\"stop_details\":{"
         "\"category\":\"cyber\"}}}",
         true},
        {ACOG_DIALECT_MESSAGES,
         "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}", false},
        {ACOG_DIALECT_RESPONSES,
         "{\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"content_"
         "filter\"}}}",
         true},
        {ACOG_DIALECT_RESPONSES, "{\"type\":\"response.completed\",\"response\":{}}", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct follow follow;
        begin(&follow, cases[i].dialect);
        (void)feed(&follow, cases[i].data);
        assert_int_equal(follow.tracker.refused, cases[i].refused);
        assert_true(follow.tracker.finish_seen);
        end(&follow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chat_deltas),
        cmocka_unit_test(chunks_without_anything_are_no_output),
        cmocka_unit_test(data_that_is_no_object_is_bad),
        cmocka_unit_test(chat_usage),
        cmocka_unit_test(names_are_kept_from_the_first_chunk_that_has_them),
        cmocka_unit_test(messages_events),
        cmocka_unit_test(messages_usage_is_overwritten),
        cmocka_unit_test(the_events_name_counts_where_the_type_is_missing),
        cmocka_unit_test(responses_events),
        cmocka_unit_test(responses_keep_sequence_names_and_usage),
        cmocka_unit_test(errors_inside_a_stream),
        cmocka_unit_test(how_a_stream_may_end),
        cmocka_unit_test(what_follows_the_last_event_changes_nothing),
        cmocka_unit_test(refusals_as_the_reason_of_the_end),
    };
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
