/* corpus_test.c - the readers of the dialects on recorded traffic, with the exceptions named one by one; tests/data has
 * the errors and the waits. */
#include "tests/support/corpus.h"

#include "acog/dialect.h"
#include "acog/sse.h"
#include "core/dialect/moment.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#define DEPTH 128
#define NOW_S INT64_C(1784980800) /* Sat, 25 Jul 2026 12:00:00 GMT */

static const char *id_of(const json_t *row)
{
    return json_string_value(json_object_get(row, "id"));
}

/* The body of a row's request or response; empty when there is none. */
static struct acog_view body_of(const json_t *row, const char *side)
{
    const json_t *body = json_object_get(json_object_get(row, side), "body");
    return (struct acog_view){json_string_value(body), json_string_length(body)};
}

static unsigned status_of(const json_t *row)
{
    return (unsigned)json_integer_value(
        json_object_get(json_object_get(row, "response"), "status"));
}

/* Calls `each` with every line of a file of JSON lines. */
static void each_row(const char *name, void (*each)(const json_t *row, void *user), void *user)
{
    struct acog_buffer file;
    assert_true(acog_corpus_read(name, &file));
    struct acog_view rest = acog_buffer_view(&file);
    while (rest.len > 0) {
        size_t end = acog_view_find(rest, ACOG_VIEW("\n"));
        json_t *row = json_loadb(rest.ptr, end, JSON_ALLOW_NUL, NULL);
        assert_non_null(row);
        each(row, user);
        json_decref(row);
        rest = acog_view_slice(rest, end + 1, rest.len);
    }
    acog_buffer_fini(&file);
}

/* -- requests -------------------------------------------------------------------------------------- */

struct bodies {
    enum acog_surface surface;
    size_t count;
    size_t without_model;
};

static void read_body(const json_t *row, void *user)
{
    struct bodies *bodies = user;
    struct acog_view body = body_of(row, "request");
    struct acog_client_request request;
    struct acog_request_problem problem;
    struct acog_arena arena;
    if (body.len == 0) {
        return;
    }
    acog_arena_init(&arena, 1U << 20U);
    enum acog_code code =
        acog_dialect_read_request(bodies->surface, body, DEPTH, &arena, &request, &problem);
    bool no_model = strcmp(problem.text, "model: required") == 0;
    if (code != ACOG_OK && !no_model) {
        fail_msg("%s: %s\n%.600s", id_of(row), problem.text, body.ptr);
    }
    bodies->count++;
    bodies->without_model += no_model ? 1 : 0;
    acog_arena_fini(&arena);
}

/* Real clients' bodies are not refused, but for those that name no model. */
static void recorded_bodies_are_accepted(void **state)
{
    struct bodies bodies = {.surface = ACOG_SURFACE_CHAT};
    (void)state;
    each_row("1-llm/captures/openai.chat.json.open.jsonl", read_body, &bodies);
    each_row("1-llm/captures/openai.chat.stream.open.jsonl", read_body, &bodies);
    bodies.surface = ACOG_SURFACE_MESSAGES;
    each_row("1-llm/captures/anthropic.messages.json.open.jsonl", read_body, &bodies);
    each_row("1-llm/captures/anthropic.messages.stream.open.jsonl", read_body, &bodies);
    bodies.surface = ACOG_SURFACE_COUNT_TOKENS;
    each_row("1-llm/captures/anthropic.count_tokens.json.open.jsonl", read_body, &bodies);
    bodies.surface = ACOG_SURFACE_RESPONSES;
    each_row("1-llm/captures/openai.responses.json.open.jsonl", read_body, &bodies);
    each_row("1-llm/captures/openai.responses.stream.open.jsonl", read_body, &bodies);
    (void)printf("bodies: %zu, without a model: %zu\n", bodies.count, bodies.without_model);
    assert_true(bodies.count > 1000);
    assert_true(bodies.without_model < bodies.count / 10);
}

/* -- streams --------------------------------------------------------------------------------------- */

/* OpenRouter: tool arguments, then [DONE], and no finish reason: cut by decision 15. */
static const char *const cut_by_decision[] = {"0a4588d90fc6"};

struct streams {
    enum acog_dialect dialect;
    size_t count;
    size_t complete;
    size_t errors;
    size_t cut;
    size_t bad; /* events */
};

static struct acog_stream_tracker follow(enum acog_dialect dialect, struct acog_view text,
                                         size_t *bad)
{
    struct acog_stream_tracker tracker;
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    struct acog_arena arena;
    acog_stream_tracker_init(&tracker, dialect);
    acog_sse_init(&reader, ACOG_CORPUS_FILE_BYTES_MAX);
    acog_arena_init(&arena, ACOG_CORPUS_FILE_BYTES_MAX);
    for (enum acog_code code = ACOG_OK; code == ACOG_OK;) {
        struct acog_failure failure = {.retry_after_ms = -1};
        size_t used = 0;
        unsigned outputs = 0;
        code = acog_sse_next(&reader, text, &used, &event);
        code = code == ACOG_AGAIN ? acog_sse_end(&reader, &event) : code;
        if (code == ACOG_OK &&
            acog_stream_tracker_read(&tracker, event.name, event.data, &arena, &outputs,
                                     &failure) == ACOG_STREAM_EVENT_BAD) {
            (*bad)++;
        }
        text = acog_view_slice(text, used, text.len);
    }
    acog_arena_fini(&arena);
    acog_sse_fini(&reader);
    return tracker;
}

static void follow_row(const json_t *row, void *user)
{
    struct streams *streams = user;
    struct acog_view body = body_of(row, "response");
    if (status_of(row) != 200 || body.len == 0) {
        return;
    }
    struct acog_stream_tracker tracker = follow(streams->dialect, body, &streams->bad);
    bool decided = strcmp(id_of(row), cut_by_decision[0]) == 0;
    bool complete = acog_stream_tracker_complete(&tracker);
    streams->count++;
    streams->complete += complete ? 1 : 0;
    streams->errors += tracker.error_seen ? 1 : 0;
    assert_false(decided && complete);
    if (!complete && !tracker.error_seen && !decided) {
        (void)printf("  not complete: %s (outputs %#x)\n", id_of(row), tracker.outputs);
        streams->cut++;
    }
}

static void follow_file(enum acog_dialect dialect, const char *name, size_t least)
{
    struct streams streams = {.dialect = dialect};
    each_row(name, follow_row, &streams);
    (void)printf("%s: %zu streams, %zu complete, %zu with an error\n", name, streams.count,
                 streams.complete, streams.errors);
    assert_int_equal(streams.bad, 0);
    assert_int_equal(streams.cut, 0);
    assert_true(streams.count >= least);
    assert_true(streams.errors <= streams.count / 20);
}

static void recorded_streams_end_as_they_should(void **state)
{
    (void)state;
    follow_file(ACOG_DIALECT_CHAT, "1-llm/captures/openai.chat.stream.open.jsonl", 300);
    follow_file(ACOG_DIALECT_MESSAGES, "1-llm/captures/anthropic.messages.stream.open.jsonl", 50);
    follow_file(ACOG_DIALECT_RESPONSES, "1-llm/captures/openai.responses.stream.open.jsonl", 100);
    follow_file(ACOG_DIALECT_GEMINI, "1-llm/captures/gemini.stream.open.jsonl", 10);
}

/* -- whole answers --------------------------------------------------------------------------------- */

struct answers {
    enum acog_surface surface;
    enum acog_dialect dialect;
    size_t count;
    size_t errors;
};

static void read_answer(const json_t *row, void *user)
{
    struct answers *answers = user;
    struct acog_view body = body_of(row, "response");
    struct acog_whole_answer answer;
    struct acog_failure failure = {.retry_after_ms = -1};
    struct acog_arena arena;
    if (status_of(row) != 200 || body.ptr == NULL) {
        return;
    }
    acog_arena_init(&arena, 1U << 20U);
    if (acog_dialect_read_answer(answers->dialect, answers->surface, body, &arena, &answer,
                                 &failure) != ACOG_OK) {
        fail_msg("%s is no answer: %.300s", id_of(row), body.ptr);
    }
    answers->count++;
    answers->errors += answer.is_error ? 1 : 0;
    acog_arena_fini(&arena);
}

static void recorded_answers_are_answers(void **state)
{
    static const struct {
        const char *file;
        enum acog_surface surface;
        enum acog_dialect dialect;
    } files[] = {
        {"1-llm/captures/openai.chat.json.open.jsonl", ACOG_SURFACE_CHAT, ACOG_DIALECT_CHAT},
        {"1-llm/captures/anthropic.messages.json.open.jsonl", ACOG_SURFACE_MESSAGES,
         ACOG_DIALECT_MESSAGES},
        {"1-llm/captures/openai.responses.json.open.jsonl", ACOG_SURFACE_RESPONSES,
         ACOG_DIALECT_RESPONSES},
        {"1-llm/captures/anthropic.count_tokens.json.open.jsonl", ACOG_SURFACE_COUNT_TOKENS,
         ACOG_DIALECT_MESSAGES},
        {"1-llm/captures/gemini.json.open.jsonl", ACOG_SURFACE_CHAT, ACOG_DIALECT_GEMINI},
    };
    struct answers answers = {.count = 0};
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        answers.surface = files[i].surface;
        answers.dialect = files[i].dialect;
        each_row(files[i].file, read_answer, &answers);
    }
    (void)printf("answers: %zu, %zu of them errors\n", answers.count, answers.errors);
    assert_true(answers.count > 1000);
    assert_true(answers.errors < 10);
}

/* -- dates ----------------------------------------------------------------------------------------- */

/* Curl's list holds many forms that no HTTP date has; those that we read mean the same. */
static void published_dates(void **state)
{
    struct acog_buffer file;
    size_t index = 0;
    size_t read = 0;
    json_t *row = NULL;
    (void)state;
    assert_true(acog_corpus_read("3-protocol/http/curl-date-vectors.json", &file));
    json_t *rows = json_loadb(file.ptr, file.len, 0, NULL);
    assert_non_null(rows);
    json_array_foreach (rows, index, row) {
        const char *text = json_string_value(json_object_get(row, "input"));
        int64_t want = json_integer_value(json_object_get(row, "epoch"));
        int64_t got = -1;
        if (acog_moment_http(acog_view_of(text), NOW_S, &got)) {
            bool beyond_32_bits =
                want == -1 && got > INT32_MAX; /* the list is from such a machine */
            read++;
            if (got != want && !beyond_32_bits) {
                fail_msg("%s: %lld, want %lld", text, (long long)got, (long long)want);
            }
        }
    }
    (void)printf("dates: %zu listed, %zu are HTTP dates\n", json_array_size(rows), read);
    assert_true(read >= 3);
    json_decref(rows);
    acog_buffer_fini(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_bodies_are_accepted),
        cmocka_unit_test(recorded_streams_end_as_they_should),
        cmocka_unit_test(recorded_answers_are_answers),
        cmocka_unit_test(published_dates),
    };
    if (acog_corpus_missing()) {
        return ACOG_CORPUS_SKIPPED;
    }
    return cmocka_run_group_tests_name("corpus", tests, NULL, NULL);
}
