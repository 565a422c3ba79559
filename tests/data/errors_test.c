/* errors_test.c - the facts of recorded errors, each beside what a reviewer wrote down in errors.tsv.
 *
 *   errors_test TABLE           needs ACOG_CORPUS; ends with 77 (skipped) without it
 *   errors_test TABLE --print   prints a row for each error as it is read now, for a reviewer to look at
 *
 * The table has a row for every error of 2-errors, for every error event in the recorded streams, and for the error
 * bodies that other projects keep as fixtures; an error without a row fails, and a row without its error. No row holds
 * a body. Its columns: key, shapes, categories, code, type, whether there is a message, the wait in milliseconds that
 * head or body tell, the class by policies/routerplus and by policies/acog, the class that the data suggests (in
 * RouterPlus' export names), and a reason: there must be one where the suggestion is not what the body says, and must be
 * none elsewhere.
 */
#include "acog/dialect.h"
#include "acog/sse.h"
#include "tests/data/grade.h"
#include "tests/support/check.h"
#include "tests/support/corpus.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#define NOW_S     INT64_C(1784980800) /* Sat, 25 Jul 2026 12:00:00 GMT */
#define ARENA_MAX ((size_t)1 << 22U)

/* -- 2-errors: whole answers ----------------------------------------------------------------------- */

static struct acog_view take(struct acog_view *rest, struct acog_view end)
{
    size_t at = acog_view_find(*rest, end);
    struct acog_view part = acog_view_slice(*rest, 0, at);
    *rest = acog_view_slice(*rest, at + end.len, rest->len);
    return part;
}

static void each_line(const char *name, void (*each)(const json_t *record, void *user), void *user)
{
    struct acog_buffer file;
    assert_true(acog_corpus_read(name, &file));
    struct acog_view rest = acog_buffer_view(&file);
    while (rest.len > 0) {
        struct acog_view line = take(&rest, ACOG_VIEW("\n"));
        json_t *record = json_loadb(line.ptr, line.len, JSON_ALLOW_NUL, NULL);
        assert_non_null(record);
        each(record, user);
        json_decref(record);
    }
    acog_buffer_fini(&file);
}

static struct acog_view header_of(const json_t *response, const char *name)
{
    return acog_view_of(
        json_string_value(json_object_get(json_object_get(response, "headers"), name)));
}

/* A body with the status 200 is there because it is an error all the same; without one there was an answer. */
static void read_body(struct acog_view body, unsigned status, struct acog_arena *arena,
                      struct found *found)
{
    bool good = status >= 200 && status < 300;
    found->failed = !good || body.len > 0;
    if (found->failed) {
        acog_dialect_read_error(body, good ? 0 : status, arena, &found->failure);
        found->failure.cause = good ? ACOG_CAUSE_STREAM_ERROR : ACOG_CAUSE_STATUS;
    }
    found->failure.status = (uint16_t)status;
}

/* "in-stream" instead of a status: an event in a 200. */
static unsigned status_of(const json_t *response)
{
    const json_t *status = json_object_get(response, "status");
    return json_is_integer(status) ? (unsigned)json_integer_value(status) : 200;
}

static void grade_record(const json_t *record, void *user)
{
    const json_t *response = json_object_get(record, "response");
    const json_t *body = json_object_get(response, "body");
    struct acog_view text = {json_string_value(body), json_string_length(body)};
    struct found found = {.key = json_string_value(json_object_get(record, "id")),
                          .suggested =
                              json_string_value(json_object_get(record, "suggested_class"))};
    struct acog_arena arena;
    (void)user;
    acog_arena_init(&arena, ARENA_MAX);
    found.failure.retry_after_ms = acog_dialect_retry_after_ms(
        header_of(response, "retry-after"), header_of(response, "retry-after-ms"), NOW_S);
    read_body(text, status_of(response), &arena, &found);
    grade(&found);
    acog_arena_fini(&arena);
}

static void recorded_and_quoted_errors(void **state)
{
    (void)state;
    each_line("2-errors/errors.captured.open.jsonl", grade_record, NULL);
    each_line("2-errors/errors.quoted.open.jsonl", grade_record, NULL);
}

/* -- 1-llm: errors with the status 200 --------------------------------------------------------------- */

static void grade_if_error(const json_t *record, void *user)
{
    const char *body =
        json_string_value(json_object_get(json_object_get(record, "response"), "body"));
    json_t *answer = body == NULL ? NULL : json_loads(body, 0, NULL);
    size_t *answers = user;
    (*answers)++;
    if (json_is_object(json_object_get(answer, "error"))) {
        grade_record(record, NULL);
    }
    json_decref(answer);
}

static void errors_in_recorded_answers(void **state) /* FACTS 6 */
{
    size_t answers = 0;
    (void)state;
    each_line("1-llm/captures/openai.chat.json.open.jsonl", grade_if_error, &answers);
    each_line("1-llm/captures/openai.responses.json.open.jsonl", grade_if_error, &answers);
    each_line("1-llm/captures/anthropic.messages.json.open.jsonl", grade_if_error, &answers);
    each_line("1-llm/captures/gemini.json.open.jsonl", grade_if_error, &answers);
    assert_true(answers > 800);
}

/* -- 1-llm: error events in streams ---------------------------------------------------------------- */

struct stream {
    enum acog_dialect dialect;
    const char *key;
    size_t errors;
};

static void read_event(struct stream *stream, struct acog_stream_tracker *tracker,
                       const struct acog_sse_event *event)
{
    char key[KEY_BYTES_MAX];
    struct acog_arena arena;
    struct found found = {.key = key, .failed = true, .failure = {.retry_after_ms = -1}};
    unsigned outputs = 0;
    acog_arena_init(&arena, ARENA_MAX);
    if (acog_stream_tracker_read(tracker, event->name, event->data, &arena, &outputs,
                                 &found.failure) == ACOG_STREAM_EVENT_ERROR) {
        stream->errors++;
        (void)snprintf(key, sizeof(key), "%s#%zu", stream->key, stream->errors);
        found.failure.status = 200;
        grade(&found);
    }
    acog_arena_fini(&arena);
}

static void follow(struct stream *stream, struct acog_view text)
{
    struct acog_stream_tracker tracker;
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    acog_stream_tracker_init(&tracker, stream->dialect);
    acog_sse_init(&reader, ACOG_CORPUS_FILE_BYTES_MAX);
    for (enum acog_code code = ACOG_OK; code == ACOG_OK;) {
        size_t used = 0;
        code = acog_sse_next(&reader, text, &used, &event);
        code = code == ACOG_AGAIN ? acog_sse_end(&reader, &event) : code;
        if (code == ACOG_OK) {
            read_event(stream, &tracker, &event);
        }
        text = acog_view_slice(text, used, text.len);
    }
    acog_sse_fini(&reader);
}

static size_t streams_followed;

static void follow_record(const json_t *record, void *user)
{
    const json_t *body = json_object_get(json_object_get(record, "response"), "body");
    struct stream stream = {.dialect = *(const enum acog_dialect *)user,
                            .key = json_string_value(json_object_get(record, "id"))};
    if (json_string_length(body) > 0) { /* else frames of AWS, which are no text */
        follow(&stream, (struct acog_view){json_string_value(body), json_string_length(body)});
        streams_followed++;
    }
}

static bool has(const char *name, const char *word)
{
    return strstr(name, word) != NULL;
}

/* By the name of the file, or of the folder it is in. */
static enum acog_dialect dialect_of(const char *name)
{
    if (has(name, "anthropic")) {
        return ACOG_DIALECT_MESSAGES;
    }
    if (has(name, "gemini") || has(name, "google")) {
        return ACOG_DIALECT_GEMINI;
    }
    return has(name, "responses") ? ACOG_DIALECT_RESPONSES : ACOG_DIALECT_CHAT;
}

static void follow_file(const char *name, void *user)
{
    struct acog_buffer file;
    struct stream stream = {.dialect = dialect_of(name), .key = name};
    (void)user;
    assert_true(acog_corpus_read(name, &file));
    follow(&stream, acog_buffer_view(&file));
    streams_followed++;
    acog_buffer_fini(&file);
}

/* One payload a line, without its `data: `. */
static void follow_chunks(const char *name, void *user)
{
    struct acog_buffer file;
    struct acog_stream_tracker tracker;
    struct stream stream = {.dialect = dialect_of(name), .key = name};
    (void)user;
    assert_true(acog_corpus_read(name, &file));
    acog_stream_tracker_init(&tracker, stream.dialect);
    struct acog_view rest = acog_buffer_view(&file);
    while (rest.len > 0) {
        struct acog_sse_event event = {.data = take(&rest, ACOG_VIEW("\n"))};
        read_event(&stream, &tracker, &event);
    }
    streams_followed++;
    acog_buffer_fini(&file);
}

/* The four shapes of FACTS 7, where recorded streams have them, and no error where there is none. */
static void error_events_in_recorded_streams(void **state)
{
    static const char *const folders[] = {"1-llm/vercel-ai/openai/responses",
                                          "1-llm/vercel-ai/openai/chat",
                                          "1-llm/vercel-ai/anthropic",
                                          "1-llm/vercel-ai/azure",
                                          "1-llm/vercel-ai/groq",
                                          "1-llm/vercel-ai/xai",
                                          "1-llm/vercel-ai/google",
                                          "1-llm/vercel-ai/mistral",
                                          "1-llm/vercel-ai/deepseek"};
    enum acog_dialect chat = ACOG_DIALECT_CHAT;
    enum acog_dialect messages = ACOG_DIALECT_MESSAGES;
    enum acog_dialect responses = ACOG_DIALECT_RESPONSES;
    enum acog_dialect gemini = ACOG_DIALECT_GEMINI;
    (void)state;
    each_line("1-llm/captures/openai.chat.stream.open.jsonl", follow_record, &chat);
    each_line("1-llm/captures/anthropic.messages.stream.open.jsonl", follow_record, &messages);
    each_line("1-llm/captures/vertex.anthropic.stream.open.jsonl", follow_record, &messages);
    each_line("1-llm/captures/openai.responses.stream.open.jsonl", follow_record, &responses);
    each_line("1-llm/captures/gemini.stream.open.jsonl", follow_record, &gemini);
    assert_true(acog_corpus_each("1-llm/streams", ".sse", follow_file, NULL) > 40);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        (void)acog_corpus_each(folders[i], ".chunks.txt", follow_chunks, NULL);
    }
    assert_true(streams_followed > 500);
}

/* -- fixtures of other projects -------------------------------------------------------------------- */

static void grade_file(const char *name, unsigned status)
{
    struct acog_buffer file;
    struct acog_arena arena;
    struct found found = {.key = name, .failure = {.retry_after_ms = -1}};
    assert_true(acog_corpus_read(name, &file));
    acog_arena_init(&arena, ARENA_MAX);
    read_body(acog_buffer_view(&file), status, &arena, &found);
    grade(&found);
    acog_arena_fini(&arena);
    acog_buffer_fini(&file);
}

struct fixtures {
    const char *ending;
    unsigned status;
    size_t count;
};

static void grade_fixture(const char *name, void *user)
{
    struct fixtures *fixtures = user;
    fixtures->count++;
    grade_file(name, fixtures->status);
}

static void error_bodies_of_other_projects(void **state)
{
    static const char *const folders[] = {
        "1-llm/kong-ai-proxy/anthropic/llm-v1-chat/responses",
        "1-llm/kong-ai-proxy/anthropic/llm-v1-completions/responses",
        "1-llm/kong-ai-proxy/cohere/llm-v1-chat/responses",
        "1-llm/kong-ai-proxy/cohere/llm-v1-completions/responses",
        "1-llm/kong-ai-proxy/huggingface/llm-v1-chat/responses",
        "1-llm/kong-ai-proxy/huggingface/llm-v1-completions/responses",
        "1-llm/kong-ai-proxy/llama2/raw/responses",
        "1-llm/kong-ai-proxy/openai/llm-v1-chat/responses",
        "1-llm/kong-ai-proxy/openai/llm-v1-completions/responses",
    };
    struct fixtures kinds[] = {{"bad_request.json", 400, 0},
                               {"unauthorized.json", 401, 0},
                               {"internal_server_error.html", 500, 0},
                               {"response_model_load.json", 503, 0},
                               {"response_timeout.json", 504, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
            (void)acog_corpus_each(folders[i], kinds[kind].ending, grade_fixture, &kinds[kind]);
        }
    }
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        assert_true(kinds[kind].count > 0);
    }
    grade_file("1-llm/vercel-ai/google/google-429-retry-info.json", 429);
    grade_file("1-llm/vercel-ai/openai/image/gpt-image-response-format-error.json", 400);
    grade_file("1-llm/vercel-ai/openai/chat/reasoning-model-legacy-parameter-error.json", 400);
    grade_file("1-llm/vercel-ai/openai/responses/reasoning-model-temperature-error.json", 400);
}

/* What an SDK's exception said, where the same request was really sent: errors inside of texts. */
static void grade_snapshot(const char *folder)
{
    static const char *const sides[] = {"anthropic", "bedrock-anthropic", "chat-completions",
                                        "google", "responses"};
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        struct fixtures kind = {"error.json", 400, 0};
        char name[KEY_BYTES_MAX];
        (void)snprintf(name, sizeof(name), "%s/%s", folder, sides[i]);
        (void)acog_corpus_each(name, kind.ending, grade_fixture, &kind);
    }
}

static void errors_that_a_client_library_wrapped(void **state)
{
    static const char *const cases[] = {"anthropicMidConversationSystemMessage",
                                        "bedrockAnthropicContextManagementParam",
                                        "chatCompletionsGcsBackedVideoFileParam",
                                        "chatCompletionsUrlBackedAudioFileParam",
                                        "exclusiveMinimumToolParam",
                                        "functionToolsWithReasoningEffortParam",
                                        "imageUrlMimeTypeFallbackParam",
                                        "textFormatJsonSchemaMissingRequiredPropertyParam"};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char folder[KEY_BYTES_MAX];
        (void)snprintf(folder, sizeof(folder), "1-llm/lingua/snapshots/%s", cases[i]);
        grade_snapshot(folder);
    }
}

/* -- waits ----------------------------------------------------------------------------------------- */

struct waits {
    size_t answers;
    size_t retry_after;
    size_t resets;
};

/* Each recorded Retry-After is a number of seconds; beside it Azure sends 0 milliseconds, which means nothing. What a
 * client is told of one is digits only (unit.exchange.reader). */
static void read_retry_after(const json_t *headers, struct waits *waits)
{
    unsigned long long seconds = 0;
    struct acog_view value =
        acog_view_of(json_string_value(json_object_get(headers, "retry-after")));
    struct acog_view fine =
        acog_view_of(json_string_value(json_object_get(headers, "retry-after-ms")));
    if (value.len > 0) {
        assert_true(acog_view_to_u64(value, &seconds));
        assert_true(acog_dialect_retry_after_ms(value, fine, NOW_S) == (int64_t)seconds * 1000);
        waits->retry_after++;
    }
}

static void read_resets(json_t *headers, const char *date, struct waits *waits)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach (headers, name, value) {
        if (strstr(name, "reset") != NULL) {
            grade_reset(json_string_value(value), date);
            waits->resets++;
        }
    }
}

static void read_waits(const json_t *record, void *user)
{
    struct waits *waits = user;
    json_t *headers = json_object_get(record, "headers");
    waits->answers++;
    read_retry_after(headers, waits);
    read_resets(headers, json_string_value(json_object_get(record, "date")), waits);
}

static void recorded_waits(void **state) /* FACTS 2, B69 */
{
    struct waits waits = {0};
    (void)state;
    each_line("2-errors/ratelimit-headers.jsonl", read_waits, &waits);
    each_line("2-errors/retry-after.jsonl", read_waits, &waits);
    (void)fprintf(stderr, "waits: %zu answers, %zu Retry-After, %zu reset values\n", waits.answers,
                  waits.retry_after, waits.resets);
    assert_true(waits.answers >= 110);
}

/* -- the end --------------------------------------------------------------------------------------- */

static void every_row_was_met(void **state)
{
    (void)state;
    assert_int_equal(grade_sum_up(), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_and_quoted_errors),
        cmocka_unit_test(errors_in_recorded_answers),
        cmocka_unit_test(error_events_in_recorded_streams),
        cmocka_unit_test(error_bodies_of_other_projects),
        cmocka_unit_test(errors_that_a_client_library_wrapped),
        cmocka_unit_test(recorded_waits),
        cmocka_unit_test(every_row_was_met),
    };
    if (acog_corpus_missing()) {
        return ACOG_CORPUS_SKIPPED;
    }
    if (argc < 2) {
        (void)fprintf(stderr, "usage: errors_test TABLE [--print]\n");
        return 2;
    }
    grade_begin(argv[1], argc > 2 && strcmp(argv[2], "--print") == 0);
    int failed = cmocka_run_group_tests_name("errors", tests, NULL, NULL);
    grade_end();
    return failed;
}
