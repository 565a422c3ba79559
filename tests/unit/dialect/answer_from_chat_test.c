/* answer_from_chat_test.c - what chat providers answer, as the flow tells it. */
#include "acog/json.h"
#include "core/dialect/flow.h"
#include "tests/support/check.h"
#include "tests/support/flow_seen.h"
#include "tests/support/memory_sweep.h"

#include <string.h>

#define OUT_BYTES_MAX 65536

static const struct acog_translation translation = {
    .client = ACOG_DIALECT_MESSAGES,
    .upstream = ACOG_DIALECT_CHAT,
    .model = {"asked", 5},
    .request_id = {"req1", 4},
    .max_tokens = -1,
};

static void streamed_as(const char *stream, const char *wanted)
{
    char memory[OUT_BYTES_MAX];
    struct acog_buffer out;
    const size_t pieces[] = {SIZE_MAX, 1, 7};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        acog_buffer_init_over(&out, memory, sizeof(memory));
        flow_feed(&translation, &flow_seen_form, acog_chat_read_event, acog_view_of(stream),
                  pieces[i], &out);
        if (!acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted))) {
            fail_msg("%s\n  gave: %.*s\n  want: %s", stream, (int)out.len, out.ptr, wanted);
        }
    }
}

static void whole_as(const char *body, const char *wanted)
{
    char memory[OUT_BYTES_MAX];
    struct acog_buffer out;
    struct acog_flow flow;
    struct acog_arena scratch;
    struct acog_json_value object;
    struct acog_json_error error;
    acog_arena_init(&scratch, 1U << 20U);
    acog_buffer_init_over(&out, memory, sizeof(memory));
    assert_int_equal(acog_json_check(acog_view_of(body), 128, &object, &error), ACOG_OK);
    assert_int_equal(acog_flow_init(&flow, &translation, &flow_seen_form), ACOG_OK);
    flow.out = &out;
    acog_chat_read_whole(&flow, object, &scratch);
    acog_flow_end(&flow);
    assert_int_equal(flow.code, ACOG_OK);
    if (!acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted))) {
        fail_msg("%s\n  gave: %.*s\n  want: %s", body, (int)out.len, out.ptr, wanted);
    }
    acog_flow_fini(&flow);
    acog_arena_fini(&scratch);
}

#define CHUNK(choices) "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[" choices "]}\n\n"
#define DELTA(members) CHUNK("{\"index\":0,\"delta\":{" members "},\"finish_reason\":null}")
#define FINISH(reason) CHUNK("{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason "\"}")
#define USAGE(in, out)                                                                    \
    "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":" in \
    ",\"completion_tokens\":" out "}}\n\n"
#define DONE           "data: [DONE]\n\n"
#define CALLS(entries) DELTA("\"tool_calls\":[" entries "]")
#define ENTRY(index, id, name, arguments)                                                         \
    "{\"index\":" index ",\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name \
    "\",\"arguments\":\"" arguments "\"}}"
#define PIECE(index, arguments) \
    "{\"index\":" index ",\"function\":{\"arguments\":\"" arguments "\"}}"

/* -- texts, usage, ends ---------------------------------------------------------------------------- */

/* B49: usage in a chunk of its own, and beside an empty delta; text in the same chunk is not lost. */
static void usage_may_come_in_any_chunk(void **state)
{
    (void)state;
    const char *wanted = "begin \"c\" \"m\"\ntext 0 \"hi\"\nend 0\n"
                         "finish stop \"stop\", 100 in, 80 cached, 2 out\n";
    streamed_as(
        DELTA("\"role\":\"assistant\",\"content\":\"hi\"") FINISH(
            "stop") "data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":100,"
                    "\"completion_tokens\":2,\"total_tokens\":102,\"prompt_tokens_details\":{"
                    "\"cached_tokens\":80}}}\n\n" DONE,
        wanted);
    streamed_as(
        "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
        "\"hi\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":100,"
        "\"completion_tokens\":2,\"prompt_cache_hit_tokens\":80}}\n\n" DONE,
        wanted);
    streamed_as(
        DELTA("\"content\":\"hi\"") FINISH(
            "stop") "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{}}],\"x_groq\":{\"usage\":{"
                    "\"prompt_tokens\":100,\"completion_tokens\":2,\"prompt_tokens_details\":{"
                    "\"cached_tokens\":80}}}}\n\n" DONE,
        wanted);
}

static void usage_told_again_overwrites(void **state)
{
    (void)state;
    streamed_as(DELTA("\"content\":\"hi\"") USAGE("5", "1") FINISH("stop") USAGE("5", "9") DONE,
                "begin \"c\" \"m\"\ntext 0 \"hi\"\nend 0\nfinish stop \"stop\", 5 in, 9 out\n");
}

static void no_usage_is_estimated_and_says_so(void **state)
{
    (void)state;
    streamed_as(DELTA("\"content\":\"12345678\"") FINISH("stop") DONE,
                "begin \"c\" \"m\"\ntext 0 \"12345678\"\nend 0\n"
                "finish stop \"stop\", 0 in, 2 out, estimated\n");
}

/* B52: filter chunks and empty names begin nothing. */
static void azures_filter_chunks_are_nothing(void **state)
{
    (void)state;
    streamed_as(
        "data: {\"id\":\"\",\"object\":\"\",\"created\":0,\"model\":\"\",\"choices\":[],"
        "\"prompt_filter_results\":[{\"prompt_index\":0}]}\n\n"
        "data: {\"id\":\"x\",\"model\":\"gpt\",\"choices\":[{\"index\":0,\"delta\":{\"role\":"
        "\"assistant\",\"content\":\"A\"},\"finish_reason\":null}]}\n\n"
        "data: {\"id\":\"\",\"model\":\"\",\"choices\":[{\"index\":0,\"finish_reason\":null,"
        "\"content_filter_offsets\":{\"check_offset\":1}}]}\n\n"
        "data: {\"id\":\"x\",\"model\":\"gpt\",\"choices\":[{\"index\":0,\"delta\":{},"
        "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n" DONE,
        "begin \"x\" \"gpt\"\ntext 0 \"A\"\nend 0\nfinish stop \"stop\", 1 in, 1 out\n");
}

/* B53: also read one byte at a time. */
static void characters_of_several_bytes_come_through(void **state)
{
    (void)state;
    streamed_as(
        DELTA("\"content\":\"天気 🙂 é\"") FINISH("stop") USAGE("1", "1") DONE,
        "begin \"c\" \"m\"\ntext 0 \"天気 🙂 é\"\nend 0\nfinish stop \"stop\", 1 in, 1 out\n");
}

/* B60 */
static void every_finish_reason_has_a_meaning(void **state)
{
    (void)state;

    static const struct {
        const char *word;
        const char *meaning;
    } rows[] = {
        {"stop", "stop"},
        {"length", "length"},
        {"tool_calls", "stop"},
        {"function_call", "stop"}, /* without a call it is none */
        {"content_filter", "refusal"},
        {"model_length", "context"},
        {"eos_token", "stop"},
        {"end_turn", "stop"},
        {"max_tokens", "length"},
        {"tool_use", "stop"},
        {"insufficient_system_resource", "unknown"},
        {"error", "unknown"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char body[512];
        char wanted[512];
        struct acog_buffer text;
        acog_buffer_init_over(&text, body, sizeof(body) - 1);
        assert_int_equal(acog_buffer_format(
                             &text,
                             "{\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"message\":{\"content\":"
                             "\"a\"},\"finish_reason\":\"%s\"}],\"usage\":{\"prompt_tokens\":1,"
                             "\"completion_tokens\":1}}",
                             rows[i].word),
                         ACOG_OK);
        body[text.len] = '\0';
        acog_buffer_init_over(&text, wanted, sizeof(wanted) - 1);
        assert_int_equal(
            acog_buffer_format(
                &text, "begin \"c\" \"m\"\ntext 0 \"a\"\nend 0\nfinish %s \"%s\", 1 in, 1 out\n",
                rows[i].meaning, rows[i].word),
            ACOG_OK);
        wanted[text.len] = '\0';
        whole_as(body, wanted);
    }
}

/* FACTS, 8: several finish reasons; the one that says most stays. B59: [DONE] without one is a stop. */
static void the_finish_reason_that_says_most_stays(void **state)
{
    (void)state;
    streamed_as(DELTA("\"content\":\"a\"") FINISH("length") FINISH("stop") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ntext 0 \"a\"\nend 0\nfinish length \"length\", 1 in, 1 out\n");
    streamed_as(DELTA("\"content\":\"a\"") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ntext 0 \"a\"\nend 0\nfinish stop \"\", 1 in, 1 out\n");
}

static void only_the_first_choice_counts(void **state)
{
    (void)state;
    streamed_as(CHUNK("{\"index\":1,\"delta\":{\"content\":\"no\"}},"
                      "{\"index\":0,\"delta\":{\"content\":\"yes\"}}")
                    CHUNK("{\"index\":1,\"delta\":{},\"finish_reason\":\"length\"}") FINISH("stop")
                        USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ntext 0 \"yes\"\nend 0\nfinish stop \"stop\", 1 in, 1 out\n");
}

static void refusals_and_citations_are_told(void **state)
{
    (void)state;
    streamed_as(DELTA("\"refusal\":\"I will\"") DELTA("\"refusal\":\" not\"") FINISH("stop")
                    USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\nrefusal 0 \"I will\"\nrefusal 0 \" not\"\nend 0\n"
                "finish refusal \"stop\", 1 in, 1 out\n");
    streamed_as(DELTA("\"content\":\"see\",\"annotations\":[{\"type\":\"url_citation\","
                      "\"url_citation\":{\"url\":\"https://a.example\",\"title\":\"A\"}}]")
                    FINISH("stop") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ntext 0 \"see\"\ncitation 0 \"https://a.example\" \"A\"\nend 0\n"
                "finish stop \"stop\", 1 in, 1 out\n");
}

/* Mistral, Databricks */
static void content_may_be_a_list_of_parts(void **state)
{
    (void)state;
    streamed_as(
        DELTA(
            "\"content\":[{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":"
            "\"hm\"}]}]") DELTA("\"content\":[{\"type\":\"text\",\"text\":\"A\"}]") FINISH("stop")
            USAGE("1", "1") DONE,
        "begin \"c\" \"m\"\nreasoning 0 \"hm\"\nend 0\ntext 1 \"A\"\nend 1\n"
        "finish stop \"stop\", 1 in, 1 out\n");
    streamed_as(
        DELTA("\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":"
              "\"hm\"}]}]") DELTA("\"content\":[{\"type\":\"text\",\"text\":\"A\"}]") FINISH("stop")
            USAGE("1", "1") DONE,
        "begin \"c\" \"m\"\nreasoning 0 \"hm\"\nend 0\ntext 1 \"A\"\nend 1\n"
        "finish stop \"stop\", 1 in, 1 out\n");
}

/* -- reasoning ------------------------------------------------------------------------------------- */

static void reasoning_says_where_it_stood(void **state)
{
    (void)state;
    streamed_as(DELTA("\"reasoning_content\":\"a\"")
                    DELTA("\"reasoning_content\":\"b\",\"content\":null")
                        DELTA("\"reasoning_content\":null,\"content\":\"A\"") FINISH("stop")
                            USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\nreasoning 0 \"a\"\nreasoning 0 \"b\"\n"
                "opaque 0 \"reasoning_content\"\nend 0\ntext 1 \"A\"\nend 1\n"
                "finish stop \"stop\", 1 in, 1 out\n");
    streamed_as(DELTA("\"reasoning\":\"a\"") FINISH("length") FINISH("length") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\nreasoning 0 \"a\"\nopaque 0 \"reasoning\"\nend 0\n"
                "finish length \"length\", 1 in, 1 out\n");
}

/* OpenRouter tells the text twice, and signatures and encrypted reasoning as entries that must come back as they are. */
static void entries_of_reasoning_details_are_kept(void **state)
{
    (void)state;
    streamed_as(
        DELTA("\"reasoning\":\"why\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":"
              "\"why\",\"index\":0}]")
            DELTA(
                "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"signature\":\"s\",\"index\":0}]")
                DELTA("\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":\"d\"}]")
                    DELTA("\"content\":\"A\"") FINISH("stop") USAGE("1", "1") DONE,
        "begin \"c\" \"m\"\nreasoning 0 \"why\"\n"
        "opaque 0 \"{\\\"type\\\":\\\"reasoning.text\\\",\\\"signature\\\":\\\"s\\\",\\\"index\\\":0}\"\n"
        "end 0\n"
        "redacted 1 \"{\\\"type\\\":\\\"reasoning.encrypted\\\",\\\"data\\\":\\\"d\\\"}\"\nend 1\n"
        "text 2 \"A\"\nend 2\nfinish stop \"stop\", 1 in, 1 out\n");
}

/* As a gateway like this one streams it: the pieces, and at the end all of it again with its signature. */
static void a_thought_that_is_told_again_counts_once(void **state)
{
    (void)state;
    streamed_as(DELTA("\"reasoning_content\":\"a\"") DELTA("\"reasoning_content\":\"b\"")
                    DELTA("\"reasoning_details\":[{\"text\":\"ab\",\"signature\":\"s\"}]")
                        DELTA("\"content\":\"A\"") FINISH("stop") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\nreasoning 0 \"a\"\nreasoning 0 \"b\"\n"
                "opaque 0 \"{\\\"text\\\":\\\"ab\\\",\\\"signature\\\":\\\"s\\\"}\"\nend 0\n"
                "text 1 \"A\"\nend 1\nfinish stop \"stop\", 1 in, 1 out\n");
    streamed_as(DELTA("\"reasoning\":\"a\"")
                    DELTA("\"reasoning\":\"b\",\"reasoning_details\":[{\"text\":\"b\"}]")
                        DELTA("\"content\":\"A\"") FINISH("stop") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\nreasoning 0 \"a\"\nreasoning 0 \"b\"\n"
                "opaque 0 \"reasoning\"\nend 0\n"
                "text 1 \"A\"\nend 1\nfinish stop \"stop\", 1 in, 1 out\n");
}

/* -- calls ----------------------------------------------------------------------------------------- */

/* B45, and B55: the same stream with other line ends. */
static void a_stream_may_begin_with_a_call(void **state)
{
    (void)state;
    const char *wanted = "begin \"c\" \"m\"\ncall 0 \"call_1\" \"f\"\n"
                         "arguments 0 \"{\\\"x\\\":2}\"\nend 0\n"
                         "finish calls \"tool_calls\", 1 in, 1 out\n";
    const char *stream = DELTA("\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" ENTRY(
        "0", "call_1", "f", "") "]") CALLS(PIECE("0", "{\\\"x\\\":2}")) FINISH("tool_calls")
        USAGE("1", "1") DONE;
    streamed_as(stream, wanted);
    static const char *const ends[] = {"\r\n", "\r", "\n"};
    for (size_t i = 0; i < 3; i++) {
        char text[4096];
        struct acog_buffer out;
        acog_buffer_init_over(&out, text, sizeof(text) - 1);
        assert_int_equal(acog_buffer_append(&out, ACOG_VIEW("id: 1\nretry: 10\n")), ACOG_OK);
        for (const char *at = stream; *at != '\0'; at++) {
            struct acog_view byte = {.ptr = at, .len = 1};
            bool mixed = i == 2 && (at - stream) % 2 == 0;
            if (*at == '\n') {
                byte = acog_view_of(mixed ? "\r\n" : ends[i]);
            }
            bool space = at > stream && at[-1] == ':' && *at == ' ';
            if (!space) { /* "data:{" is legal too */
                assert_int_equal(acog_buffer_append(&out, byte), ACOG_OK);
            }
        }
        text[out.len] = '\0';
        streamed_as(text, wanted);
    }
}

/* B46 */
static void text_between_calls_is_a_part_of_its_own(void **state)
{
    (void)state;
    streamed_as(CALLS(ENTRY("0", "a", "f", "{}")) DELTA("\"content\":\"\\n\"")
                    CALLS(ENTRY("1", "b", "g", "{}")) FINISH("tool_calls") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\narguments 0 \"{}\"\nend 0\n"
                "text 1 \"\\n\"\nend 1\ncall 2 \"b\" \"g\"\narguments 2 \"{}\"\nend 2\n"
                "finish calls \"tool_calls\", 1 in, 1 out\n");
}

/* B48 */
static void a_call_may_never_get_arguments(void **state)
{
    (void)state;
    streamed_as(CALLS(ENTRY("0", "a", "now", "")) FINISH("tool_calls") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"a\" \"now\"\nend 0\n"
                "finish calls \"tool_calls\", 1 in, 1 out\n");
}

#define TWO_CALLS                                                                              \
    "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\narguments 0 \"{\\\"x\\\"\"\narguments 0 \":1}\"\n" \
    "end 0\ncall 1 \"b\" \"g\"\narguments 1 \"{}\"\nend 1\n"                                   \
    "finish calls \"tool_calls\", 1 in, 1 out\n"

static void calls_are_told_apart_however_they_are_numbered(void **state)
{
    (void)state;
    streamed_as(CALLS(ENTRY("0", "a", "f", "{\\\"x\\\"")) CALLS(PIECE("0", ":1}"))
                    CALLS(ENTRY("1", "b", "g", "{}")) FINISH("tool_calls") USAGE("1", "1") DONE,
                TWO_CALLS);
    /* all of index 0 */
    streamed_as(CALLS(ENTRY("0", "a", "f", "{\\\"x\\\"")) CALLS(PIECE("0", ":1}"))
                    CALLS(ENTRY("0", "b", "g", "{}")) FINISH("tool_calls") USAGE("1", "1") DONE,
                TWO_CALLS);
    /* no index, the id told again */
    streamed_as(CALLS(ENTRY("null", "a", "f", "{\\\"x\\\""))
                    CALLS("{\"id\":\"a\",\"function\":{\"arguments\":\":1}\"}}")
                        CALLS(ENTRY("null", "b", "g", "{}")) FINISH("tool_calls") USAGE("1", "1")
                            DONE,
                TWO_CALLS);
    /* no index, ids only at the beginning; both in one chunk */
    streamed_as(CALLS("{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\"\"}}")
                    CALLS("{\"function\":{\"arguments\":\":1}\"}},"
                          "{\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}")
                        FINISH("tool_calls") USAGE("1", "1") DONE,
                TWO_CALLS);
    /* the name told again with each piece */
    streamed_as(CALLS(ENTRY("0", "a", "f", "{\\\"x\\\"")) CALLS(ENTRY("0", "a", "f", ":1}"))
                    CALLS(ENTRY("1", "b", "g", "{}")) FINISH("tool_calls") USAGE("1", "1") DONE,
                TWO_CALLS);
}

static void interleaved_arguments_are_put_in_order(void **state)
{
    (void)state;
    streamed_as(CALLS(ENTRY("0", "a", "f", "{\\\"x\\\"")) CALLS(ENTRY("1", "b", "g", "{"))
                    CALLS(PIECE("0", ":1}") "," PIECE("1", "}")) FINISH("tool_calls")
                        USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\narguments 0 \"{\\\"x\\\"\"\n"
                "arguments 0 \":1}\"\nend 0\ncall 1 \"b\" \"g\"\narguments 1 \"{\"\n"
                "arguments 1 \"}\"\nend 1\nfinish calls \"tool_calls\", 1 in, 1 out\n");
}

/* A trailing piece with the id again is no second call. */
static void an_id_told_again_begins_nothing(void **state)
{
    (void)state;
    streamed_as(CALLS(ENTRY("0", "a", "f", "{}")) DELTA("\"content\":\"t\"")
                    CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"arguments\":\"\"}}")
                        FINISH("tool_calls") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\narguments 0 \"{}\"\nend 0\n"
                "text 1 \"t\"\nend 1\nfinish calls \"tool_calls\", 1 in, 1 out\n");
}

static void a_call_waits_for_its_name(void **state)
{
    (void)state;
    streamed_as(CALLS("{\"index\":0,\"id\":\"a\",\"type\":\"function\"}")
                    CALLS("{\"index\":0,\"function\":{\"name\":\"f\"}}") CALLS(PIECE("0", "{}"))
                        FINISH("tool_calls") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\narguments 0 \"{}\"\nend 0\n"
                "finish calls \"tool_calls\", 1 in, 1 out\n");
    streamed_as(CALLS("{\"id\":\"a\",\"type\":\"function\"}")
                    CALLS("{\"function\":{\"name\":\"f\"}}")
                        CALLS("{\"function\":{\"arguments\":\"{}\"}}") FINISH("tool_calls")
                            USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\narguments 0 \"{}\"\nend 0\n"
                "finish calls \"tool_calls\", 1 in, 1 out\n");
}

static void calls_without_ids_get_some(void **state)
{
    (void)state;
    streamed_as(
        CALLS(ENTRY("0", "", "f", "{}")) CALLS(ENTRY("0", "", "g", "{}")) FINISH("tool_calls")
            USAGE("1", "1") DONE,
        "begin \"c\" \"m\"\ncall 0 \"call_e3cc405339aefcf4_0\" \"f\"\narguments 0 \"{}\"\nend 0\n"
        "call 1 \"call_e3cc405339aefcf4_1\" \"g\"\narguments 1 \"{}\"\nend 1\n"
        "finish calls \"tool_calls\", 1 in, 1 out\n");
    streamed_as(DELTA("\"function_call\":{\"name\":\"f\",\"arguments\":\"\"}")
                    DELTA("\"function_call\":{\"arguments\":\"{\"}")
                        DELTA("\"function_call\":{\"arguments\":\"}\"}") FINISH("function_call")
                            USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"call_e3cc405339aefcf4_0\" \"f\"\narguments 0 \"{\"\n"
                "arguments 0 \"}\"\nend 0\nfinish calls \"function_call\", 1 in, 1 out\n");
}

/* Text Generation Inference */
static void one_id_for_all_calls_is_that_of_the_first(void **state)
{
    (void)state;
    const char *wanted = "begin \"c\" \"m\"\ncall 0 \"0\" \"f\"\narguments 0 \"{}\"\nend 0\n"
                         "call 1 \"call_e3cc405339aefcf4_1\" \"g\"\narguments 1 \"{}\"\nend 1\n"
                         "call 2 \"call_e3cc405339aefcf4_2\" \"h\"\narguments 2 \"{}\"\nend 2\n"
                         "finish calls \"tool_calls\", 1 in, 1 out\n";
#define ALL ENTRY("0", "0", "f", "{}") "," ENTRY("1", "0", "g", "{}") "," ENTRY("2", "0", "h", "{}")
    streamed_as(CALLS(ALL) FINISH("tool_calls") USAGE("1", "1") DONE, wanted);
    whole_as(
        "{\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"tool_calls\":[" ALL
        "]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":1,"
        "\"completion_tokens\":1}}",
        wanted);
#undef ALL
}

static void arguments_as_an_object_are_json_text(void **state)
{
    (void)state;
    streamed_as(CALLS("{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}}")
                    FINISH("stop") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\narguments 0 \"{\\\"x\\\":1}\"\nend 0\n"
                "finish calls \"stop\", 1 in, 1 out\n");
}

static void null_for_arguments_is_no_arguments(void **state)
{
    (void)state;
    streamed_as(CALLS(ENTRY("0", "a", "f", "null")) FINISH("tool_calls") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\nend 0\n"
                "finish calls \"tool_calls\", 1 in, 1 out\n");
    /* A second one, while the first is still open for what may come. */
    streamed_as(CALLS(ENTRY("0", "a", "f", "null")) CALLS(ENTRY("1", "b", "g", "null"))
                    FINISH("tool_calls") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\nend 0\ncall 1 \"b\" \"g\"\nend 1\n"
                "finish calls \"tool_calls\", 1 in, 1 out\n");
    streamed_as(CALLS(ENTRY("0", "a", "f", "{\\\"x\\\":")) CALLS(PIECE("0", "null"))
                    CALLS(PIECE("0", "}")) FINISH("tool_calls") USAGE("1", "1") DONE,
                "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\narguments 0 \"{\\\"x\\\":\"\n"
                "arguments 0 \"null\"\narguments 0 \"}\"\nend 0\n"
                "finish calls \"tool_calls\", 1 in, 1 out\n");
}

static void a_thought_signature_belongs_to_its_call(void **state)
{
    (void)state;
    streamed_as(
        CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"},"
              "\"extra_content\":{\"google\":{\"thought_signature\":\"s\"}}}") FINISH("tool_calls")
            USAGE("1", "1") DONE,
        "begin \"c\" \"m\"\ncall 0 \"a\" \"f\"\narguments 0 \"{}\"\n"
        "opaque 0 \"{\\\"google\\\":{\\\"thought_signature\\\":\\\"s\\\"}}\"\nend 0\n"
        "finish calls \"tool_calls\", 1 in, 1 out\n");
}

/* -- whole ----------------------------------------------------------------------------------------- */

static void a_whole_answer_has_all_its_parts(void **state)
{
    (void)state;
    whole_as(
        "{\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":"
        "\"assistant\",\"content\":\"look\",\"reasoning_content\":\"why\",\"refusal\":null,"
        "\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\","
        "\"arguments\":\"{}\"}},{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"g\","
        "\"arguments\":\"\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{"
        "\"prompt_tokens\":9,\"completion_tokens\":5,\"completion_tokens_details\":{"
        "\"reasoning_tokens\":3}}}",
        "begin \"c\" \"m\"\nreasoning 0 \"why\"\nopaque 0 \"reasoning_content\"\nend 0\n"
        "text 1 \"look\"\nend 1\ncall 2 \"a\" \"f\"\narguments 2 \"{}\"\nend 2\n"
        "call 3 \"b\" \"g\"\nend 3\nfinish calls \"tool_calls\", 9 in, 5 out, 3 reasoning\n");
}

/* -- memory ---------------------------------------------------------------------------------------- */

static void story(void *user)
{
    struct acog_flow flow;
    struct acog_arena scratch;
    struct acog_buffer out;
    (void)user;
    acog_arena_init(&scratch, 4096);
    acog_buffer_init(&out, 65536);
    if (acog_flow_init(&flow, &translation, &flow_seen_form) == ACOG_OK) {
        flow.out = &out;
        const char *const events[] = {
            "{\"id\":\"c\",\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\","
            "\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}",
            "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\","
            "\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}}]}",
        };
        for (size_t i = 0; i < 2; i++) {
            acog_chat_read_event(&flow, ACOG_VIEW(""), acog_view_of(events[i]), &scratch);
        }
        acog_flow_end(&flow);
        assert_int_equal(flow.code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    } else {
        assert_true(memory_sweep_failed());
    }
    acog_flow_fini(&flow);
    acog_buffer_fini(&out);
    acog_arena_fini(&scratch);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(memory_sweep(story, NULL, 1) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usage_may_come_in_any_chunk),
        cmocka_unit_test(usage_told_again_overwrites),
        cmocka_unit_test(no_usage_is_estimated_and_says_so),
        cmocka_unit_test(azures_filter_chunks_are_nothing),
        cmocka_unit_test(characters_of_several_bytes_come_through),
        cmocka_unit_test(every_finish_reason_has_a_meaning),
        cmocka_unit_test(the_finish_reason_that_says_most_stays),
        cmocka_unit_test(only_the_first_choice_counts),
        cmocka_unit_test(refusals_and_citations_are_told),
        cmocka_unit_test(content_may_be_a_list_of_parts),
        cmocka_unit_test(reasoning_says_where_it_stood),
        cmocka_unit_test(entries_of_reasoning_details_are_kept),
        cmocka_unit_test(a_thought_that_is_told_again_counts_once),
        cmocka_unit_test(a_stream_may_begin_with_a_call),
        cmocka_unit_test(text_between_calls_is_a_part_of_its_own),
        cmocka_unit_test(a_call_may_never_get_arguments),
        cmocka_unit_test(calls_are_told_apart_however_they_are_numbered),
        cmocka_unit_test(interleaved_arguments_are_put_in_order),
        cmocka_unit_test(an_id_told_again_begins_nothing),
        cmocka_unit_test(a_call_waits_for_its_name),
        cmocka_unit_test(calls_without_ids_get_some),
        cmocka_unit_test(one_id_for_all_calls_is_that_of_the_first),
        cmocka_unit_test(arguments_as_an_object_are_json_text),
        cmocka_unit_test(null_for_arguments_is_no_arguments),
        cmocka_unit_test(a_thought_signature_belongs_to_its_call),
        cmocka_unit_test(a_whole_answer_has_all_its_parts),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
