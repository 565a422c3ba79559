/* note_test.c - the routing note in an answer of the fallback model: where it stands, and what makes room for it
 * (S4.26, decision 10).
 */
#include "driver.h"
#include "state.h"
#include "streams.h"

#define NOTE       "Another model \\\"m2\\\" answers.\\n\\n" /* as it stands in JSON */
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define THOUGHT    "{\"type\":\"thinking\",\"thinking\":\"Hm.\",\"signature\":\"s\"}"

static void begin(struct driver *driver)
{
    driver_init(driver);
    driver->snapshot->policy.refusal =
        (struct acog_refusal){.empty_200 = true,
                              .fallback_model = ACOG_VIEW("m2"),
                              .same_connection = true,
                              .note = ACOG_VIEW("Another model \"m2\" answers.")};
    (void)engine_rows_candidate(driver->rows, &driver->connections[0], "m2");
}

/* Asks, is refused, and has the fallback model's head. */
static void refused(struct driver *driver, const char *path, const char *ask, const char *refusal)
{
    const struct acog_header_row id = {ACOG_VIEW("x-request-id"), ACOG_VIEW("r1")};
    bool stream = strstr(ask, "\"stream\":true") != NULL;
    driver_start(driver, "POST", path, &id, 1, acog_view_of(ask));
    driver_head(driver, 1, 200, stream ? SSE : "application/json");
    driver_text(driver, 1, refusal);
    driver_end(driver, 1);
    assert_int_equal(driver->send_count, 2);
    driver_head(driver, 2, 200, stream ? SSE : "application/json");
}

static void answers(struct driver *driver, const char *text, size_t step)
{
    struct acog_view rest = acog_view_of(text);
    while (rest.len > 0) {
        driver_body(driver, 2, acog_view_slice(rest, 0, step));
        rest = acog_view_slice(rest, step, rest.len);
    }
    driver_end(driver, 2);
    assert_true(driver->ended && driver->finished);
    driver_header_is(driver, "x-acog-policy-fallback: applied\n");
}

/* -- whole answers --------------------------------------------------------------------------------- */

#define MESSAGE_OF(content) \
    "{\"id\":\"m\",\"content\":[" content "],\"stop_reason\":\"end_turn\",\"model\":\"m2\"}"
#define CHAT_OF(content)                                                                               \
    "{\"id\":\"c\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":" content \
    "},\"finish_reason\":\"stop\"},{\"index\":1,\"message\":{\"content\":\"b\"}}]}"
#define RESPONSE_OF(output) \
    "{\"id\":\"r\",\"object\":\"response\",\"status\":\"completed\",\"output\":[" output "]}"
#define ITEM(text)                                                                               \
    "{\"id\":\"i\",\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"" text \
    "\"}]}"
#define NOTE_ITEM                                                                              \
    "{\"id\":\"msg_r1\",\"type\":\"message\",\"status\":\"completed\",\"content\":[{\"type\":" \
    "\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"" NOTE                      \
    "\"}],\"role\":\"assistant\"}"
#define REASONING "{\"id\":\"rs\",\"type\":\"reasoning\",\"summary\":[]}"
#define TOOL      "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}"
#define CALL \
    "{\"id\":\"fc\",\"type\":\"function_call\",\"name\":\"f\",\"call_id\":\"c\",\"arguments\":\"{}\"}"
#define CHAT_REFUSED                                                                           \
    "{\"id\":\"c\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":" \
    "null},\"finish_reason\":\"content_filter\"}]}"
#define RESPONSE_REFUSED                                                                       \
    "{\"id\":\"r\",\"object\":\"response\",\"status\":\"incomplete\",\"incomplete_details\":{" \
    "\"reason\":\"content_filter\"},\"output\":[]}"

static const struct {
    const char *path;
    const char *ask;
    const char *refusal;
    const char *answer;
    const char *reply;
} wholes[] = {
    {"/v1/messages", ASK_MESSAGES_WHOLE, MESSAGES_REFUSED, MESSAGE_OF(TEXT("Hi")),
     MESSAGE_OF(TEXT(NOTE) "," TEXT("Hi"))},
    {"/v1/messages", ASK_MESSAGES_WHOLE, MESSAGES_REFUSED, MESSAGE_OF(THOUGHT "," TEXT("Hi")),
     MESSAGE_OF(THOUGHT "," TEXT(NOTE) "," TEXT("Hi"))},
    {"/v1/messages", ASK_MESSAGES_WHOLE, MESSAGES_REFUSED, MESSAGE_OF(THOUGHT " , " TOOL),
     MESSAGE_OF(THOUGHT " , " TEXT(NOTE) "," TOOL)},
    {"/v1/messages", ASK_MESSAGES_WHOLE, MESSAGES_REFUSED, MESSAGE_OF(THOUGHT " "),
     MESSAGE_OF(THOUGHT " ," TEXT(NOTE))},
    {"/v1/messages", ASK_MESSAGES_WHOLE, MESSAGES_REFUSED, MESSAGE_OF(" "),
     MESSAGE_OF(" " TEXT(NOTE))},
    {"/v1/chat/completions", ASK_CHAT_WHOLE, CHAT_REFUSED, CHAT_OF("\"Hi\""),
     CHAT_OF("\"" NOTE "Hi\"")},
    {"/v1/chat/completions", ASK_CHAT_WHOLE, CHAT_REFUSED,
     CHAT_OF("null,\"tool_calls\":[{\"id\":\"t\",\"function\":{\"name\":\"f\"}}]"),
     CHAT_OF("\"" NOTE "\",\"tool_calls\":[{\"id\":\"t\",\"function\":{\"name\":\"f\"}}]")},
    {"/v1/chat/completions", ASK_CHAT_WHOLE, CHAT_REFUSED, CHAT_OF("[" TEXT("Hi") "]"),
     CHAT_OF("[" TEXT(NOTE) "," TEXT("Hi") "]")},
    {"/v1/responses", "{\"model\":\"m\",\"input\":\"hi\"}", RESPONSE_REFUSED,
     RESPONSE_OF(REASONING "," ITEM("Hi")), RESPONSE_OF(REASONING "," NOTE_ITEM "," ITEM("Hi"))},
    {"/v1/responses", "{\"model\":\"m\",\"input\":\"hi\"}", RESPONSE_REFUSED, RESPONSE_OF(CALL),
     RESPONSE_OF(NOTE_ITEM "," CALL)},
};

static void a_whole_answer_has_it_behind_thinking_and_before_the_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
        struct driver driver;
        begin(&driver);
        refused(&driver, wholes[i].path, wholes[i].ask, wholes[i].refusal);
        answers(&driver, wholes[i].answer, 7);
        driver_reply_is(&driver, acog_view_of(wholes[i].reply));
        assert_int_equal(driver.content_length, driver.reply.len);
        driver_fini(&driver);
    }
}

static void structured_output_has_none(void **state)
{
    static const char *const asks[] = {
        "{\"model\":\"m\",\"max_tokens\":9,\"output_config\":{\"format\":{\"type\":"
        "\"json_schema\",\"schema\":{}}},\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
        "{\"model\":\"m\",\"response_format\":{\"type\":\"json_object\"},\"messages\":[{\"role\":"
        "\"user\",\"content\":\"hi\"}]}",
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct driver driver;
        bool chat = i == 1;
        const char *answer = chat ? CHAT_OF("\"{}\"") : MESSAGE_OF(TEXT("{}"));
        begin(&driver);
        refused(&driver, chat ? "/v1/chat/completions" : "/v1/messages", asks[i],
                chat ? CHAT_REFUSED : MESSAGES_REFUSED);
        answers(&driver, answer, 1000);
        driver_reply_is(&driver, acog_view_of(answer));
        driver_fini(&driver);
    }
}

static void an_answer_of_the_model_that_was_asked_for_has_none(void **state)
{
    struct driver driver;
    (void)state;
    begin(&driver);
    driver_post(&driver, "/v1/messages", ASK_MESSAGES);
    driver_head(&driver, 1, 200, SSE);
    driver_text(&driver, 1, MESSAGES_STREAM);
    driver_end(&driver, 1);
    driver_reply_is(&driver, ACOG_VIEW(MESSAGES_STREAM));
    driver_fini(&driver);
}

/* -- streams --------------------------------------------------------------------------------------- */

#define BLOCK_EVENT(name, number, rest) MESSAGES_EVENT(name, ",\"index\":" #number rest)
#define BLOCK(number, block)            BLOCK_EVENT("content_block_start", number, ",\"content_block\":" block)
#define DELTA(number, type, field, text)       \
    BLOCK_EVENT("content_block_delta", number, \
                ",\"delta\":{\"type\":\"" type "\",\"" field "\":\"" text "\"}")
#define STOP(number) BLOCK_EVENT("content_block_stop", number, "")
#define NOTE_BLOCK(number) \
    BLOCK(number, TEXT("")) DELTA(number, "text_delta", "text", NOTE) STOP(number)
#define THINKING_BLOCK                                                       \
    BLOCK(0, "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}") \
    DELTA(0, "thinking_delta", "thinking", "Hm.")                            \
    DELTA(0, "signature_delta", "signature", "s") STOP(0)
#define TEXT_BLOCK(number) \
    BLOCK(number, TEXT("")) MESSAGES_PING DELTA(number, "text_delta", "text", "Hi") STOP(number)
#define END     MESSAGES_FINISH("end_turn") MESSAGES_STOP
#define REFUSED MESSAGES_START MESSAGES_FINISH("refusal") MESSAGES_STOP

static const struct {
    const char *answer;
    const char *reply;
} messages[] = {
    {MESSAGES_START TEXT_BLOCK(0) END, MESSAGES_START NOTE_BLOCK(0) TEXT_BLOCK(1) END},
    {MESSAGES_START THINKING_BLOCK TEXT_BLOCK(1) BLOCK(2, TOOL) STOP(2) END,
     MESSAGES_START THINKING_BLOCK NOTE_BLOCK(1) TEXT_BLOCK(2) BLOCK(3, TOOL) STOP(3) END},
    {MESSAGES_START THINKING_BLOCK END, MESSAGES_START THINKING_BLOCK NOTE_BLOCK(1) END},
};

static void a_messages_stream_has_a_block_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        for (size_t step = 1; step < 5000; step = step * 7) {
            struct driver driver;
            begin(&driver);
            refused(&driver, "/v1/messages", ASK_MESSAGES, REFUSED);
            answers(&driver, messages[i].answer, step);
            driver_reply_is(&driver, acog_view_of(messages[i].reply));
            driver_fini(&driver);
        }
    }
}

/* CRLF and CR for LF where it ends a line; none of these texts has one elsewhere. */
static void in_line_ends(const char *text, const char *line_end, struct acog_buffer *out)
{
    for (const char *at = text; *at != '\0'; at++) {
        driver_append(out, *at == '\n' ? acog_view_of(line_end)
                                       : (struct acog_view){.ptr = at, .len = 1});
    }
}

static void line_ends_stay_as_they_came(void **state)
{
    static const char *const ends[] = {"\r\n", "\r"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct acog_buffer parts[3];
        struct driver driver;
        static const char *const texts[3] = {MESSAGES_START THINKING_BLOCK, TEXT_BLOCK(1) END,
                                             TEXT_BLOCK(2) END};
        for (size_t part = 0; part < 3; part++) {
            acog_buffer_init(&parts[part], (size_t)1 << 16);
            in_line_ends(texts[part], ends[i], &parts[part]);
        }
        size_t first = parts[0].len;
        driver_append(&parts[0], acog_buffer_view(&parts[1]));
        driver_append(&parts[0], ACOG_VIEW("\0"));
        begin(&driver);
        refused(&driver, "/v1/messages", ASK_MESSAGES, REFUSED);
        answers(&driver, parts[0].ptr, 4096);
        struct acog_buffer wanted;
        acog_buffer_init(&wanted, (size_t)1 << 16);
        driver_append(&wanted, acog_view_slice(acog_buffer_view(&parts[0]), 0, first));
        driver_append(&wanted, ACOG_VIEW(NOTE_BLOCK(1)));
        driver_append(&wanted, acog_buffer_view(&parts[2]));
        driver_reply_is(&driver, acog_buffer_view(&wanted));
        driver_fini(&driver);
        acog_buffer_fini(&wanted);
        for (size_t part = 0; part < 3; part++) {
            acog_buffer_fini(&parts[part]);
        }
    }
}

static void an_event_of_several_data_lines_becomes_one(void **state)
{
    struct driver driver;
    (void)state;
    begin(&driver);
    refused(&driver, "/v1/messages", ASK_MESSAGES, REFUSED);
    answers(&driver,
            MESSAGES_START
            "id: 7\nevent: content_block_start\ndata: {\"index\":0,\n"
            "data: \"content_block\":{\"type\":\"text\",\"text\":\"Hi\"}}\n\n" STOP(0) END,
            11);
    driver_reply_is(
        &driver, ACOG_VIEW(MESSAGES_START NOTE_BLOCK(
                     0) "event: content_block_start\ndata: {\"index\":1, "
                        "\"content_block\":{\"type\":\"text\",\"text\":\"Hi\"}}\n\n" STOP(1) END));
    driver_fini(&driver);
}

#define NOTE_CHUNK                                                                              \
    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1764500000," \
    "\"model\":\"m-1-served\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" NOTE         \
    "\"},\"finish_reason\":null}]}\n\n"
#define CHAT_THOUGHT \
    CHAT_CHUNK("{\"index\":0,\"delta\":{\"reasoning_content\":\"Hm.\"},\"finish_reason\":null}", "")

static void a_chat_stream_begins_its_text_with_it(void **state)
{
    (void)state;
    for (size_t step = 1; step < 5000; step = step * 7) {
        struct driver driver;
        begin(&driver);
        refused(&driver, "/v1/chat/completions", ASK_CHAT_USAGE,
                CHAT_ROLE CHAT_FINISH("content_filter") CHAT_DONE);
        answers(&driver, CHAT_ROLE CHAT_THOUGHT CHAT_TEXT("Hi") CHAT_FINISH("stop") CHAT_DONE,
                step);
        driver_reply_is(&driver, ACOG_VIEW(CHAT_ROLE CHAT_THOUGHT NOTE_CHUNK CHAT_TEXT("Hi")
                                               CHAT_FINISH("stop") CHAT_DONE));
        driver_fini(&driver);
    }
}

#define OUTPUT(status, output) \
    ",\"response\":{\"id\":\"resp_1\",\"status\":\"" status "\",\"output\":[" output "]"
#define AT(number)         ",\"output_index\":" #number
#define NOTE_PLACE(number) AT(number) ",\"item_id\":\"msg_r1\",\"content_index\":0"
#define NOTE_PART(text) \
    "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"" text "\"}"
#define RESPONSES_REFUSED              \
    RESPONSES_CREATED RESPONSES_EVENT( \
        "response.incomplete", 1,      \
        OUTPUT("incomplete", "") ",\"incomplete_details\":{\"reason\":\"content_filter\"}}")
#define THOUGHT_ITEM                                                   \
    RESPONSES_CREATED RESPONSES_EVENT("response.output_item.added", 1, \
                                      AT(0) ",\"item\":" REASONING)    \
        RESPONSES_EVENT("response.output_item.done", 2, AT(0) ",\"item\":" REASONING)
#define ADDED "{\"id\":\"i\",\"type\":\"message\",\"content\":[]}"
#define NOTE_EVENTS                                                                              \
    RESPONSES_EVENT("response.output_item.added", 3,                                             \
                    AT(1) ",\"item\":{\"id\":\"msg_r1\",\"type\":\"message\",\"status\":"        \
                          "\"in_progress\",\"content\":[],\"role\":\"assistant\"}")              \
    RESPONSES_EVENT("response.content_part.added", 4, NOTE_PLACE(1) ",\"part\":" NOTE_PART(""))  \
    RESPONSES_EVENT("response.output_text.delta", 5,                                             \
                    NOTE_PLACE(1) ",\"logprobs\":[],\"delta\":\"" NOTE "\"")                     \
    RESPONSES_EVENT("response.output_text.done", 6,                                              \
                    NOTE_PLACE(1) ",\"logprobs\":[],\"text\":\"" NOTE "\"")                      \
    RESPONSES_EVENT("response.content_part.done", 7, NOTE_PLACE(1) ",\"part\":" NOTE_PART(NOTE)) \
    RESPONSES_EVENT("response.output_item.done", 8, AT(1) ",\"item\":" NOTE_ITEM)

static void a_responses_stream_has_an_item_of_its_own(void **state)
{
    (void)state;
    for (size_t step = 1; step < 5000; step = step * 7) {
        struct driver driver;
        begin(&driver);
        refused(&driver, "/v1/responses", ASK_RESPONSES, RESPONSES_REFUSED);
        answers(
            &driver,
            THOUGHT_ITEM RESPONSES_EVENT("response.output_item.added", 3, AT(1) ",\"item\":" ADDED)
                RESPONSES_EVENT("response.output_text.delta", 4, AT(1) ",\"delta\":\"Hi\"")
                    RESPONSES_EVENT("response.completed", 5,
                                    OUTPUT("completed", REASONING "," ITEM("Hi")) "}"),
            step);
        driver_reply_is(
            &driver, ACOG_VIEW(THOUGHT_ITEM NOTE_EVENTS RESPONSES_EVENT(
                         "response.output_item.added", 9, AT(2) ",\"item\":" ADDED)
                                   RESPONSES_EVENT("response.output_text.delta", 10,
                                                   AT(2) ",\"delta\":\"Hi\"")
                                       RESPONSES_EVENT("response.completed", 11,
                                                       OUTPUT("completed", REASONING
                                                              "," NOTE_ITEM "," ITEM("Hi")) "}")));
        driver_fini(&driver);
    }
}

static void a_broken_stream_ends_with_the_number_that_follows(void **state) /* B41 */
{
    struct driver driver;
    (void)state;
    begin(&driver);
    refused(&driver, "/v1/responses", ASK_RESPONSES, RESPONSES_REFUSED);
    driver_text(
        &driver, 2,
        THOUGHT_ITEM RESPONSES_EVENT("response.output_item.added", 3, AT(1) ",\"item\":" ADDED)
            RESPONSES_EVENT("response.output_text.delta", 4, AT(1) ",\"delta\":\"Hi\""));
    driver_failed(&driver, 2, ACOG_CAUSE_CUT);
    assert_true(driver_has(&driver.reply, "\"response.failed\",\"sequence_number\":11,"));
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_answer_has_it_behind_thinking_and_before_the_text),
        cmocka_unit_test(structured_output_has_none),
        cmocka_unit_test(an_answer_of_the_model_that_was_asked_for_has_none),
        cmocka_unit_test(a_messages_stream_has_a_block_of_its_own),
        cmocka_unit_test(line_ends_stay_as_they_came),
        cmocka_unit_test(an_event_of_several_data_lines_becomes_one),
        cmocka_unit_test(a_chat_stream_begins_its_text_with_it),
        cmocka_unit_test(a_responses_stream_has_an_item_of_its_own),
        cmocka_unit_test(a_broken_stream_ends_with_the_number_that_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
