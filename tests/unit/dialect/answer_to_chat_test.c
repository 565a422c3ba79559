/* answer_to_chat_test.c - answers as a client of chat/completions reads them. */
#include "acog/json.h"
#include "core/dialect/flow.h"
#include "tests/support/check.h"
#include "tests/support/flow_seen.h"
#include "tests/support/memory_sweep.h"

#include <string.h>

#define OUT_BYTES_MAX 65536

static struct acog_translation from(enum acog_dialect upstream)
{
    return (struct acog_translation){
        .client = ACOG_DIALECT_CHAT,
        .upstream = upstream,
        .model = ACOG_VIEW("asked"),
        .request_id = ACOG_VIEW("req1"),
        .unix_s = 1700000000,
        .input_tokens_estimate = 12,
        .max_tokens = -1,
    };
}

/* An answer told call by call. */
struct told {
    char memory[OUT_BYTES_MAX];
    struct acog_buffer out;
    struct acog_translation translation;
    struct acog_flow flow;
};

static void begin(struct told *told, const struct acog_answer_writer_form *form)
{
    acog_buffer_init_over(&told->out, told->memory, sizeof(told->memory));
    assert_int_equal(acog_flow_init(&told->flow, &told->translation, form), ACOG_OK);
    told->flow.out = &told->out;
    acog_flow_begin(&told->flow, acog_text_plain(ACOG_VIEW("msg_1")),
                    acog_text_plain(ACOG_VIEW("m")));
}

static struct acog_text text_of(const char *text)
{
    return acog_text_plain(acog_view_of(text));
}

static void finish(struct told *told, enum acog_finish_reason reason, const char *native)
{
    const struct acog_usage usage = {9, 4, -1, 2, -1};
    acog_flow_finish(&told->flow, reason, text_of(native));
    if (told->flow.usage.output_tokens < 0) {
        acog_flow_usage(&told->flow, &usage);
    }
    acog_flow_end(&told->flow);
    assert_int_equal(told->flow.code, ACOG_OK);
    acog_flow_fini(&told->flow);
}

static void is_text(const struct told *told, const char *wanted)
{
    if (!acog_view_equal(acog_buffer_view(&told->out), acog_view_of(wanted))) {
        fail_msg("gave: %.*s\n  want: %s", (int)told->out.len, told->out.ptr, wanted);
    }
}

static void has(const struct told *told, const char *piece)
{
    if (acog_view_find(acog_buffer_view(&told->out), acog_view_of(piece)) == told->out.len) {
        fail_msg("gave: %.*s\n  without: %s", (int)told->out.len, told->out.ptr, piece);
    }
}

static void has_not(const struct told *told, const char *piece)
{
    if (acog_view_find(acog_buffer_view(&told->out), acog_view_of(piece)) < told->out.len) {
        fail_msg("gave: %.*s\n  with: %s", (int)told->out.len, told->out.ptr, piece);
    }
}

static size_t times(const struct told *told, const char *piece)
{
    size_t count = 0;
    struct acog_view rest = acog_buffer_view(&told->out);
    struct acog_view wanted = acog_view_of(piece);
    for (size_t at = acog_view_find(rest, wanted); at < rest.len;
         at = acog_view_find(rest, wanted)) {
        rest = acog_view_slice(rest, at + wanted.len, rest.len);
        count++;
    }
    return count;
}

#define HEAD                                                                                        \
    "data: {\"id\":\"chatcmpl-msg_1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000," \
    "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{"
#define OPEN "},\"logprobs\":null,\"finish_reason\":null}]}\n\n"
#define END(reason) \
    HEAD "},\"logprobs\":null,\"finish_reason\":\"" reason "\"}]}\n\ndata: [DONE]\n\n"

/* -- streams --------------------------------------------------------------------------------------- */

static void a_text_is_streamed_piece_by_piece(void **state)
{
    (void)state;
    struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
    begin(&told, &acog_chat_stream_form);
    acog_flow_text(&told.flow, ACOG_FLOW_TEXT, 0, text_of("He\"y"));
    acog_flow_text(&told.flow, ACOG_FLOW_TEXT, 0,
                   (struct acog_text){.bytes = ACOG_VIEW(" \\u00e9\\n"), .escaped = true});
    finish(&told, ACOG_FINISH_STOP, "end_turn");
    is_text(&told, HEAD "\"role\":\"assistant\"" OPEN HEAD "\"content\":\"He\\\"y\"" OPEN HEAD
                        "\"content\":\" \\u00e9\\n\"" OPEN END("stop"));
}

static void streamed_as(flow_reader *reader, enum acog_dialect upstream, const char *stream,
                        const char *wanted)
{
    struct told told = {.translation = from(upstream)};
    const size_t pieces[] = {SIZE_MAX, 1};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        acog_buffer_init_over(&told.out, told.memory, sizeof(told.memory));
        flow_feed(&told.translation, &acog_chat_stream_form, reader, acog_view_of(stream),
                  pieces[i], &told.out);
        is_text(&told, wanted);
    }
}

#define EVENT(name, data) "event: " name "\ndata: {\"type\":\"" name "\"" data "}\n\n"

/* B43, and the native reason is not told where the client's word says as much (B60). */
static void calls_are_numbered_among_calls(void **state)
{
    (void)state;
    streamed_as(
        acog_messages_read_event, ACOG_DIALECT_MESSAGES,
        EVENT(
            "message_start",
            ",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":"
            "\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{"
            "\"input_tokens\":9,\"output_tokens\":1}}")
            EVENT("content_block_start",
                  ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}")
                EVENT("content_block_delta",
                      ",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"ok\"}")
                    EVENT("content_block_stop", ",\"index\":0") EVENT(
                        "content_block_start",
                        ",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"tu_1\","
                        "\"name\":\"f\",\"input\":{}}") EVENT("ping", "")
                        EVENT("content_block_delta",
                              ",\"index\":1,\"delta\":{\"type\":\"input_json_delta\","
                              "\"partial_json\":\"{\\\"a\\\":\"}")
                            EVENT("content_block_delta",
                                  ",\"index\":1,\"delta\":{\"type\":\"input_json_delta\","
                                  "\"partial_json\":\"1}\"}")
                                EVENT("content_block_stop", ",\"index\":1")
                                    EVENT("message_delta",
                                          ",\"delta\":{\"stop_reason\":\"tool_use\","
                                          "\"stop_sequence\":null},\"usage\":{"
                                          "\"output_tokens\":12}") EVENT("message_stop", ""),
        HEAD "\"role\":\"assistant\"" OPEN HEAD "\"content\":\"ok\"" OPEN HEAD
             "\"tool_calls\":[{\"index\":0,\"id\":\"tu_1\",\"type\":\"function\",\"function\":{"
             "\"name\":\"f\",\"arguments\":\"\"}}]" OPEN HEAD
             "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"a\\\":\"}}]" OPEN HEAD
             "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]" OPEN END(
                 "tool_calls"));
}

/* B48 */
static void a_call_without_arguments_has_an_empty_object(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
        begin(&told, whole ? &acog_chat_whole_form : &acog_chat_stream_form);
        acog_flow_call(&told.flow, 1, text_of("tu_1"), text_of("now"));
        acog_flow_arguments(&told.flow, 1, text_of(""));
        acog_flow_part_end(&told.flow, 1);
        finish(&told, ACOG_FINISH_CALLS, "tool_use");
        has(&told, "\"arguments\":\"{}\"");
    }
}

/* B51: the usage chunk only where it was asked for, with `choices` empty. */
static void usage_is_a_chunk_only_where_it_was_asked_for(void **state)
{
    (void)state;
    struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
    begin(&told, &acog_chat_stream_form);
    acog_flow_text(&told.flow, ACOG_FLOW_TEXT, 0, text_of("a"));
    finish(&told, ACOG_FINISH_STOP, "end_turn");
    has_not(&told, "usage");
    told.translation.usage_asked = true;
    begin(&told, &acog_chat_stream_form);
    acog_flow_text(&told.flow, ACOG_FLOW_TEXT, 0, text_of("a"));
    finish(&told, ACOG_FINISH_STOP, "end_turn");
    assert_int_equal(times(&told, "\"usage\":null}\n\n"), 3);
    has(&told, "\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,"
               "\"total_tokens\":11,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n"
               "data: [DONE]\n\n");
    assert_int_equal(times(&told, "[DONE]"), 1);
}

static void usage_tells_all_that_is_known(void **state)
{
    (void)state;
    const struct acog_usage usage = {100, 80, 10, 50, 30};
    struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
    begin(&told, &acog_chat_whole_form);
    acog_flow_text(&told.flow, ACOG_FLOW_TEXT, 0, text_of("a"));
    acog_flow_usage(&told.flow, &usage);
    finish(&told, ACOG_FINISH_STOP, "end_turn");
    has(&told, "\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":50,\"total_tokens\":150,"
               "\"prompt_tokens_details\":{\"cached_tokens\":80,\"cache_write_tokens\":10},"
               "\"completion_tokens_details\":{\"reasoning_tokens\":30}}}");
}

static void an_estimate_says_that_it_is_one(void **state)
{
    (void)state;
    struct told told = {.translation = from(ACOG_DIALECT_GEMINI)};
    begin(&told, &acog_chat_whole_form);
    acog_flow_text(&told.flow, ACOG_FLOW_TEXT, 0, text_of("12345678"));
    acog_flow_finish(&told.flow, ACOG_FINISH_STOP, text_of("STOP"));
    acog_flow_end(&told.flow);
    acog_flow_fini(&told.flow);
    has(&told, "\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":2,\"total_tokens\":14,"
               "\"estimated\":true}");
}

/* Every SDK's way to gather a stream keeps a list that comes in one chunk. */
static void signatures_come_with_their_whole_texts_at_the_end(void **state)
{
    (void)state;
    struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
    const struct acog_opaque signature = {.maker = ACOG_DIALECT_MESSAGES, .bytes = text_of("c2ln")};
    const struct acog_opaque redacted = {
        .maker = ACOG_DIALECT_MESSAGES, .bytes = text_of("ZGF0"), .redacted = true};
    begin(&told, &acog_chat_stream_form);
    acog_flow_text(&told.flow, ACOG_FLOW_REASONING, 0, text_of("one"));
    acog_flow_text(&told.flow, ACOG_FLOW_REASONING, 0, text_of(" two"));
    acog_flow_opaque(&told.flow, ACOG_FLOW_REASONING, 0, &signature);
    acog_flow_part_end(&told.flow, 0);
    acog_flow_opaque(&told.flow, ACOG_FLOW_REASONING, 1, &redacted);
    acog_flow_part_end(&told.flow, 1);
    acog_flow_text(&told.flow, ACOG_FLOW_TEXT, 2, text_of("A"));
    finish(&told, ACOG_FINISH_STOP, "end_turn");
    is_text(&told, HEAD "\"role\":\"assistant\"" OPEN HEAD "\"reasoning_content\":\"one\"" OPEN HEAD
                        "\"reasoning_content\":\" two\"" OPEN HEAD "\"content\":\"A\"" OPEN HEAD
                        "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"one two\","
                        "\"signature\":\"acog.messages..c2ln\",\"index\":0},"
                        "{\"type\":\"reasoning.encrypted\","
                        "\"data\":\"acog.redacted-messages..ZGF0\",\"index\":1}]" OPEN END("stop"));
}

/* Found by the fuzzer: who reads the entries reads nothing beside them, so a thought without a signature is one too. */
static void beside_a_signature_every_thought_is_an_entry(void **state)
{
    (void)state;
    const struct acog_opaque signature = {.maker = ACOG_DIALECT_MESSAGES, .bytes = text_of("c2ln")};
    for (int sealed = 0; sealed <= 1; sealed++) {
        struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
        begin(&told, &acog_chat_whole_form);
        acog_flow_text(&told.flow, ACOG_FLOW_REASONING, 0, text_of("one"));
        acog_flow_part_end(&told.flow, 0);
        acog_flow_text(&told.flow, ACOG_FLOW_REASONING, 1, text_of("two"));
        if (sealed == 1) {
            acog_flow_opaque(&told.flow, ACOG_FLOW_REASONING, 1, &signature);
        }
        finish(&told, ACOG_FINISH_STOP, "end_turn");
        has(&told, "\"reasoning_content\":\"onetwo\"");
        if (sealed == 1) {
            has(&told,
                "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"one\",\"index\":"
                "0},{\"type\":\"reasoning.text\",\"text\":\"two\",\"signature\":"
                "\"acog.messages..c2ln\",\"index\":1}]");
        } else {
            has_not(&told, "reasoning_details");
        }
    }
}

static void a_calls_signature_names_the_call(void **state)
{
    (void)state;
    struct told told = {.translation = from(ACOG_DIALECT_GEMINI)};
    const struct acog_opaque opaque = {.maker = ACOG_DIALECT_GEMINI, .bytes = text_of("sig")};
    begin(&told, &acog_chat_whole_form);
    acog_flow_call(&told.flow, 0, text_of("c1"), text_of("f"));
    acog_flow_arguments(&told.flow, 0, text_of("{}"));
    acog_flow_opaque(&told.flow, ACOG_FLOW_CALL, 0, &opaque);
    finish(&told, ACOG_FINISH_STOP, "STOP");
    has(&told, "\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":"
               "\"acog.gemini..sig\",\"id\":\"c1\",\"index\":0}]");
    has_not(&told, "native");
}

static void the_routing_note_is_the_first_content(void **state)
{
    (void)state;
    struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
    told.translation.note = ACOG_VIEW("(moved)");
    begin(&told, &acog_chat_whole_form);
    acog_flow_text(&told.flow, ACOG_FLOW_REASONING, 0, text_of("why"));
    acog_flow_text(&told.flow, ACOG_FLOW_TEXT, 1, text_of("A"));
    finish(&told, ACOG_FINISH_STOP, "end_turn");
    has(&told, "\"content\":\"(moved)\\n\\nA\"");
    has(&told, "\"reasoning_content\":\"why\"");
}

/* Characters, not bytes; an escaped pair is one. */
static void a_citation_says_which_text_it_is_of(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
        begin(&told, whole ? &acog_chat_whole_form : &acog_chat_stream_form);
        acog_flow_text(&told.flow, ACOG_FLOW_TEXT, 0, text_of("é: "));
        acog_flow_part_end(&told.flow, 0);
        acog_flow_text(
            &told.flow, ACOG_FLOW_TEXT, 1,
            (struct acog_text){.bytes = ACOG_VIEW("\\ud83d\\ude42\\n\\u00e9x"), .escaped = true});
        acog_flow_citation(&told.flow, 1, text_of("https://a.example"), text_of("A"));
        acog_flow_citation(&told.flow, 1, text_of("https://b.example"), text_of(""));
        finish(&told, ACOG_FINISH_STOP, "end_turn");
        has(&told,
            "\"annotations\":[{\"type\":\"url_citation\",\"url_citation\":{\"start_index\":3,"
            "\"end_index\":7,\"url\":\"https://a.example\",\"title\":\"A\"}},{\"type\":"
            "\"url_citation\",\"url_citation\":{\"start_index\":3,\"end_index\":7,\"url\":"
            "\"https://b.example\",\"title\":\"\"}}]");
    }
}

/* -- reasons (B60) --------------------------------------------------------------------------------- */

static void every_reason_has_its_word_in_both_forms(void **state)
{
    (void)state;

    static const struct {
        enum acog_finish_reason reason;
        const char *native;
        const char *told;
    } rows[] = {
        {ACOG_FINISH_STOP, "end_turn", "\"finish_reason\":\"stop\"}"},
        {ACOG_FINISH_STOP_SEQUENCE, "stop_sequence",
         "\"finish_reason\":\"stop\",\"native_finish_reason\":\"stop_sequence\"}"},
        {ACOG_FINISH_LENGTH, "max_tokens", "\"finish_reason\":\"length\"}"},
        {ACOG_FINISH_CONTEXT, "model_context_window_exceeded",
         "\"finish_reason\":\"length\",\"native_finish_reason\":\"model_context_window_exceeded\"}"},
        {ACOG_FINISH_REFUSAL, "refusal", "\"finish_reason\":\"content_filter\"}"},
        {ACOG_FINISH_PAUSE, "pause_turn",
         "\"finish_reason\":\"length\",\"native_finish_reason\":\"pause_turn\"}"},
        {ACOG_FINISH_UNKNOWN, "brand_new",
         "\"finish_reason\":\"length\",\"native_finish_reason\":\"brand_new\"}"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int whole = 0; whole < 2; whole++) {
            struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
            begin(&told, whole ? &acog_chat_whole_form : &acog_chat_stream_form);
            acog_flow_text(&told.flow, ACOG_FLOW_TEXT, 0, text_of("a"));
            finish(&told, rows[i].reason, rows[i].native);
            has(&told, rows[i].told);
        }
    }
}

static void a_refusal_has_its_category_and_its_words(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
        begin(&told, whole ? &acog_chat_whole_form : &acog_chat_stream_form);
        acog_flow_refusal(&told.flow, text_of("cyber"), text_of("Not this."));
        finish(&told, ACOG_FINISH_REFUSAL, "refusal");
        has(&told, "\"refusal\":\"Not this.\"");
        has(&told, "\"finish_reason\":\"content_filter\",\"stop_details\":{\"type\":\"refusal\","
                   "\"category\":\"cyber\",\"explanation\":\"Not this.\"}");
    }
}

/* -- whole ----------------------------------------------------------------------------------------- */

static void whole_as(void (*reader)(struct acog_flow *flow, struct acog_json_value body,
                                    struct acog_arena *scratch),
                     enum acog_dialect upstream, const char *body, const char *wanted)
{
    struct told told = {.translation = from(upstream)};
    struct acog_arena scratch;
    struct acog_json_value object;
    struct acog_json_error error;
    acog_arena_init(&scratch, 1U << 20U);
    acog_buffer_init_over(&told.out, told.memory, sizeof(told.memory));
    assert_int_equal(acog_json_check(acog_view_of(body), 128, &object, &error), ACOG_OK);
    assert_int_equal(acog_flow_init(&told.flow, &told.translation, &acog_chat_whole_form), ACOG_OK);
    told.flow.out = &told.out;
    reader(&told.flow, object, &scratch);
    acog_flow_end(&told.flow);
    assert_int_equal(told.flow.code, ACOG_OK);
    is_text(&told, wanted);
    acog_flow_fini(&told.flow);
    acog_arena_fini(&scratch);
}

/* B34: one choice. */
static void a_message_and_a_call_are_one_choice(void **state)
{
    (void)state;
    whole_as(
        acog_responses_read_whole, ACOG_DIALECT_RESPONSES,
        "{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"model\":\"m\",\"output\":["
        "{\"type\":\"reasoning\",\"id\":\"rs1\",\"summary\":[]},{\"type\":\"message\",\"id\":\"m1\","
        "\"role\":\"assistant\",\"status\":\"completed\",\"content\":[{\"type\":\"output_text\","
        "\"text\":\"one moment\",\"annotations\":[]}]},{\"type\":\"function_call\",\"id\":\"fc1\","
        "\"call_id\":\"c9\",\"name\":\"w\",\"arguments\":\"{}\",\"status\":\"completed\"}],\"usage\":{"
        "\"input_tokens\":5,\"output_tokens\":6,\"total_tokens\":11,\"input_tokens_details\":{"
        "\"cached_tokens\":0},\"output_tokens_details\":{\"reasoning_tokens\":2}}}",
        "{\"id\":\"chatcmpl-resp_1\",\"object\":\"chat.completion\",\"created\":1700000000,"
        "\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
        "\"one moment\",\"refusal\":null,\"tool_calls\":[{\"id\":\"c9\",\"type\":\"function\","
        "\"function\":{\"name\":\"w\",\"arguments\":\"{}\"}}]},\"logprobs\":null,"
        "\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6,"
        "\"total_tokens\":11,\"prompt_tokens_details\":{\"cached_tokens\":0},"
        "\"completion_tokens_details\":{\"reasoning_tokens\":2}}}");
}

/* B20: where a schema was emulated, nothing of the tool is seen. */
static void the_arguments_of_the_schema_tool_are_the_content(void **state)
{
    (void)state;
    struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
    told.translation.schema_by_tool = true;
    begin(&told, &acog_chat_whole_form);
    acog_flow_call(&told.flow, 0, text_of("tu_1"), text_of(ACOG_SCHEMA_TOOL_NAME));
    acog_flow_arguments(&told.flow, 0, text_of("{\"age\":41}"));
    acog_flow_part_end(&told.flow, 0);
    finish(&told, ACOG_FINISH_CALLS, "tool_use");
    has(&told, "\"content\":\"{\\\"age\\\":41}\"");
    has(&told, "\"finish_reason\":\"stop\"");
    has_not(&told, "tool_calls");
}

static void nothing_said_is_an_empty_content(void **state)
{
    (void)state;
    struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
    begin(&told, &acog_chat_whole_form);
    finish(&told, ACOG_FINISH_STOP, "end_turn");
    has(&told, "\"message\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}");
}

static void a_call_alone_has_a_null_content(void **state)
{
    (void)state;
    struct told told = {.translation = from(ACOG_DIALECT_MESSAGES)};
    begin(&told, &acog_chat_whole_form);
    acog_flow_call(&told.flow, 0, text_of("c1"), text_of("f"));
    finish(&told, ACOG_FINISH_CALLS, "tool_use");
    has(&told, "\"message\":{\"role\":\"assistant\",\"content\":null,\"refusal\":null,"
               "\"tool_calls\":[");
}

/* -- memory and caps ------------------------------------------------------------------------------- */

static void tell_all(struct acog_flow *flow)
{
    const struct acog_opaque opaque = {.maker = ACOG_DIALECT_MESSAGES, .bytes = text_of("s")};
    acog_flow_begin(flow, text_of("i"), text_of("m"));
    acog_flow_text(flow, ACOG_FLOW_REASONING, 0, text_of("r"));
    acog_flow_opaque(flow, ACOG_FLOW_REASONING, 0, &opaque);
    acog_flow_text(flow, ACOG_FLOW_TEXT, 1, text_of("t"));
    acog_flow_citation(flow, 1, text_of("https://a.example"), text_of("A"));
    acog_flow_call(flow, 2, text_of("c"), text_of("f"));
    acog_flow_arguments(flow, 2, text_of("{}"));
    acog_flow_end(flow);
}

static void story(void *user)
{
    const struct acog_answer_writer_form *form = user;
    const struct acog_translation translation = from(ACOG_DIALECT_MESSAGES);
    struct acog_flow flow;
    struct acog_buffer out;
    acog_buffer_init(&out, OUT_BYTES_MAX);
    if (acog_flow_init(&flow, &translation, form) == ACOG_OK) {
        flow.out = &out;
        tell_all(&flow);
        assert_int_equal(flow.code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    } else {
        assert_true(memory_sweep_failed());
    }
    acog_flow_fini(&flow);
    acog_buffer_fini(&out);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    struct acog_answer_writer_form stream = acog_chat_stream_form;
    struct acog_answer_writer_form whole = acog_chat_whole_form;
    assert_true(memory_sweep(story, &stream, 1) > 0);
    assert_true(memory_sweep(story, &whole, 1) > 0);
}

static void a_full_buffer_is_an_error_and_no_crash(void **state)
{
    (void)state;
    const struct acog_answer_writer_form *const forms[] = {&acog_chat_stream_form,
                                                           &acog_chat_whole_form};
    const struct acog_translation translation = from(ACOG_DIALECT_MESSAGES);
    for (size_t i = 0; i < 2; i++) {
        enum acog_code code = ACOG_TOO_BIG;
        for (size_t bytes = 1; code == ACOG_TOO_BIG; bytes += 13) {
            char memory[OUT_BYTES_MAX];
            struct acog_buffer out;
            struct acog_flow flow;
            assert_true(bytes < sizeof(memory));
            acog_buffer_init_over(&out, memory, bytes);
            assert_int_equal(acog_flow_init(&flow, &translation, forms[i]), ACOG_OK);
            flow.out = &out;
            tell_all(&flow);
            code = flow.code;
            assert_true(code == ACOG_OK || code == ACOG_TOO_BIG);
            acog_flow_fini(&flow);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_streamed_piece_by_piece),
        cmocka_unit_test(calls_are_numbered_among_calls),
        cmocka_unit_test(a_call_without_arguments_has_an_empty_object),
        cmocka_unit_test(usage_is_a_chunk_only_where_it_was_asked_for),
        cmocka_unit_test(usage_tells_all_that_is_known),
        cmocka_unit_test(an_estimate_says_that_it_is_one),
        cmocka_unit_test(signatures_come_with_their_whole_texts_at_the_end),
        cmocka_unit_test(beside_a_signature_every_thought_is_an_entry),
        cmocka_unit_test(a_calls_signature_names_the_call),
        cmocka_unit_test(the_routing_note_is_the_first_content),
        cmocka_unit_test(a_citation_says_which_text_it_is_of),
        cmocka_unit_test(every_reason_has_its_word_in_both_forms),
        cmocka_unit_test(a_refusal_has_its_category_and_its_words),
        cmocka_unit_test(a_message_and_a_call_are_one_choice),
        cmocka_unit_test(the_arguments_of_the_schema_tool_are_the_content),
        cmocka_unit_test(nothing_said_is_an_empty_content),
        cmocka_unit_test(a_call_alone_has_a_null_content),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(a_full_buffer_is_an_error_and_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
