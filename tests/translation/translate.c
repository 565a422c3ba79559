/* translate.c - the translation alone, for tests that feed it in bulk: one JSON object a line in, one a line out.
 *
 *   {"op":"request","from":"chat","to":"messages","model":"claude-haiku-4-5","body":"…"}
 *       -> {"body":"…","dropped":"seed, logit_bias","schema_by_tool":false}      or {"refused":"why"}
 *   {"op":"whole","client":"chat","upstream":"messages","body":"…"}
 *       -> {"body":"…"}   or {"refused":"…"}, {"error":"…"} when the body tells an error
 *   {"op":"stream","client":"chat","upstream":"messages","sse":"…","piece":1}
 *       -> {"sse":"…","complete":true}   or {"error":"…","sse":"what went out before"}
 *
 * With `request`, the client's body, an answer is told to the client that asked for it so.
 * `model` chooses the rules (acog.model); `usage_asked` is as in acog/translate.h. `piece` bytes of the stream are fed at a
 * time; 0 or none: all at once.
 */
#include "acog/translate.h"

#include "acog/policy.h"
#include "acog/shared.h"
#include "acog/sse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define BODY_MAX   ((size_t)256 * 1024 * 1024)
#define ARENA_MAX  ((size_t)256 * 1024 * 1024)
#define CONFIG_MAX 4096

#define REMEMBERED_MAX 1024
#define MODEL_MAX      128

static struct acog_view text_of(const json_t *command, const char *name)
{
    const json_t *value = json_object_get(command, name);
    return (struct acog_view){.ptr = json_string_value(value), .len = json_string_length(value)};
}

static enum acog_dialect dialect_of(const json_t *command, const char *name)
{
    int found = acog_name_find(ACOG_VOCABULARY_DIALECT, text_of(command, name));
    if (found < 0) {
        (void)fprintf(stderr, "translate: no dialect in \"%s\"\n", name);
        abort();
    }
    return (enum acog_dialect)found;
}

/* As a configuration that declares the model gives them. */
static struct acog_model_rules declared_rules(struct acog_view model, enum acog_dialect dialect)
{
    struct acog_model_rules rules = acog_model_rules_default(dialect);
    char text[CONFIG_MAX];
    (void)snprintf(text, sizeof(text),
                   "local acog = require \"acog\"\nreturn acog.gateway { connections = { "
                   "acog.connection \"a\" { simulate = true, dialects = { \"%.*s\" }, models = { "
                   "\"%.*s\" } } } }",
                   ACOG_VIEW_FMT(acog_name(ACOG_VOCABULARY_DIALECT, (int)dialect)),
                   ACOG_VIEW_FMT(model));
    struct acog_policy_options options = {.path = "gateway.lua", .text = acog_view_of(text)};
    struct acog_shared *shared = acog_shared_new();
    struct acog_snapshot *snapshot = NULL;
    struct acog_report report;
    acog_report_init(&report);
    if (acog_policy_load(&options, shared, &snapshot, &report) == ACOG_OK) {
        rules = snapshot->candidates[0].rules;
        acog_snapshot_unref(&snapshot);
    }
    acog_report_fini(&report);
    acog_shared_free(&shared);
    return rules;
}

/* A test asks for few models and often: what was declared once is remembered. */
static struct acog_model_rules rules_of(const json_t *command, enum acog_dialect dialect)
{
    static struct remembered {
        char model[MODEL_MAX];
        enum acog_dialect dialect;
        struct acog_model_rules rules;
    } remembered[REMEMBERED_MAX];

    static size_t count;
    struct acog_view model = text_of(command, "model");
    if (model.len == 0) {
        return acog_model_rules_default(dialect);
    }
    for (size_t i = 0; i < count; i++) {
        if (remembered[i].dialect == dialect &&
            acog_view_equal(acog_view_of(remembered[i].model), model)) {
            return remembered[i].rules;
        }
    }
    struct acog_model_rules rules = declared_rules(model, dialect);
    if (count < REMEMBERED_MAX && model.len < MODEL_MAX) {
        memcpy(remembered[count].model, model.ptr, model.len);
        remembered[count].dialect = dialect;
        remembered[count].rules = rules;
        count++;
    }
    return rules;
}

static struct acog_translation translation_of(const json_t *command, enum acog_dialect client,
                                              enum acog_dialect upstream,
                                              const struct acog_model_rules *rules)
{
    return (struct acog_translation){
        .client = client,
        .upstream = upstream,
        .rules = rules,
        .model = text_of(command, "model"),
        .request_id = ACOG_VIEW("req-1"),
        .unix_s = 1700000000,
        .input_tokens_estimate = 100,
        .max_tokens = -1,
        .usage_asked = json_is_true(json_object_get(command, "usage_asked")),
    };
}

static json_t *of_bytes(struct acog_view bytes)
{
    return json_stringn(bytes.len == 0 ? "" : bytes.ptr, bytes.len);
}

/* -- requests -------------------------------------------------------------------------------------- */

static json_t *translate_request(const json_t *command, struct acog_arena *arena,
                                 struct acog_buffer *out)
{
    enum acog_dialect from = dialect_of(command, "from");
    enum acog_dialect to = dialect_of(command, "to");
    struct acog_model_rules rules = rules_of(command, to);
    struct acog_client_request read;
    struct acog_request_problem problem = {{0}};
    const struct acog_conversation *conversation = NULL;
    struct acog_view body = text_of(command, "body");
    enum acog_code code =
        acog_dialect_read_request(acog_dialect_surface(from), body, 128, arena, &read, &problem);
    if (code == ACOG_OK) {
        code = acog_conversation_read(acog_dialect_surface(from), body, arena, &conversation,
                                      &problem);
    }
    if (code == ACOG_OK) {
        code = acog_conversation_fits(conversation, to, &rules, &problem);
    }
    if (code == ACOG_INVALID) {
        return json_pack("{s:s}", "refused", problem.text);
    }
    struct acog_translation translation = translation_of(command, from, to, &rules);
    if (translation.model.len == 0) {
        translation.model = read.model;
    }
    translation.max_tokens = read.max_tokens;
    translation.stream = read.stream;
    if (code == ACOG_OK) {
        code = acog_conversation_write(conversation, &translation, arena, out);
    }
    if (code != ACOG_OK) {
        return json_pack("{s:i}", "failed", (int)code);
    }
    return json_pack("{s:o,s:o,s:b}", "body", of_bytes(acog_buffer_view(out)), "dropped",
                     of_bytes(translation.dropped), "schema_by_tool",
                     (int)translation.schema_by_tool);
}

/* The client's tools, of the answer to a request that is given. */
static void know_tools(const json_t *command, struct acog_arena *arena,
                       struct acog_translation *translation)
{
    struct acog_request_problem problem = {{0}};
    const struct acog_conversation *conversation = NULL;
    struct acog_view body = text_of(command, "request");
    struct acog_buffer request;
    acog_buffer_init(&request, BODY_MAX);
    if (body.len == 0 ||
        acog_conversation_read(acog_dialect_surface(translation->client), body, arena,
                               &conversation, &problem) != ACOG_OK ||
        acog_conversation_write(conversation, translation, arena, &request) != ACOG_OK) {
        translation->identities = NULL;
    }
    acog_buffer_fini(&request);
}

/* -- answers --------------------------------------------------------------------------------------- */

static json_t *translate_whole(const json_t *command, struct acog_arena *arena,
                               struct acog_buffer *out)
{
    enum acog_dialect client = dialect_of(command, "client");
    enum acog_dialect upstream = dialect_of(command, "upstream");
    struct acog_model_rules rules = acog_model_rules_default(upstream);
    struct acog_translation translation = translation_of(command, client, upstream, &rules);
    struct acog_whole_answer answer = {0};
    struct acog_failure failure = {.retry_after_ms = -1};
    struct acog_view body = text_of(command, "body");
    enum acog_code code = acog_dialect_read_answer(upstream, acog_dialect_surface(upstream), body,
                                                   arena, &answer, &failure);
    if (code == ACOG_OK && answer.is_error) {
        return json_pack("{s:o}", "error", of_bytes(failure.message));
    }
    know_tools(command, arena, &translation);
    struct acog_translator *translator = acog_translator_new(&translation);
    if (code == ACOG_OK) {
        code = acog_translator_whole(translator, body, arena, out);
    }
    acog_translator_free(&translator);
    return code == ACOG_OK ? json_pack("{s:o}", "body", of_bytes(acog_buffer_view(out)))
                           : json_pack("{s:i}", "failed", (int)code);
}

struct stream {
    struct acog_translator *translator;
    struct acog_stream_tracker tracker;
    struct acog_arena *arena;
    struct acog_buffer *out;
    json_t *error;
    bool done;
    enum acog_code code;
};

static void take_event(struct stream *stream, const struct acog_sse_event *event)
{
    unsigned outputs = 0;
    struct acog_failure failure = {.retry_after_ms = -1};
    enum acog_stream_event kind = acog_stream_tracker_read(
        &stream->tracker, event->name, event->data, stream->arena, &outputs, &failure);
    switch (kind) {
    case ACOG_STREAM_EVENT_COMMENT:
    case ACOG_STREAM_EVENT_PING:
    case ACOG_STREAM_EVENT_BAD:
        return;
    case ACOG_STREAM_EVENT_ERROR:
        stream->error = of_bytes(failure.message);
        return;
    case ACOG_STREAM_EVENT_OTHER:
    case ACOG_STREAM_EVENT_OUTPUT:
    case ACOG_STREAM_EVENT_USAGE_ONLY:
    case ACOG_STREAM_EVENT_DONE:
        break;
    }
    stream->code = acog_translator_event(stream->translator, event->name, event->data,
                                         stream->arena, stream->out);
    stream->done = kind == ACOG_STREAM_EVENT_DONE;
}

static bool goes_on(const struct stream *stream)
{
    return stream->code == ACOG_OK && stream->error == NULL && !stream->done;
}

static void feed(struct stream *stream, struct acog_view sse, size_t piece)
{
    struct acog_sse_reader reader;
    struct acog_sse_event event;
    acog_sse_init(&reader, BODY_MAX);
    for (size_t at = 0; at < sse.len && goes_on(stream); at += piece) {
        struct acog_view bytes = acog_view_slice(sse, at, at + piece);
        while (bytes.len > 0 && goes_on(stream)) {
            size_t used = 0;
            if (acog_sse_next(&reader, bytes, &used, &event) == ACOG_OK) {
                take_event(stream, &event);
            }
            bytes = acog_view_slice(bytes, used, bytes.len);
        }
    }
    if (goes_on(stream) && acog_sse_end(&reader, &event) == ACOG_OK) {
        take_event(stream, &event);
    }
    acog_sse_fini(&reader);
}

static json_t *translate_stream(const json_t *command, struct acog_arena *arena,
                                struct acog_buffer *out)
{
    enum acog_dialect client = dialect_of(command, "client");
    enum acog_dialect upstream = dialect_of(command, "upstream");
    struct acog_model_rules rules = acog_model_rules_default(upstream);
    struct acog_translation translation = translation_of(command, client, upstream, &rules);
    translation.stream = true;
    know_tools(command, arena, &translation);
    struct acog_view sse = text_of(command, "sse");
    json_int_t piece = json_integer_value(json_object_get(command, "piece"));
    struct stream stream = {
        .translator = acog_translator_new(&translation), .arena = arena, .out = out};
    acog_stream_tracker_init(&stream.tracker, upstream);
    feed(&stream, sse, piece > 0 ? (size_t)piece : sse.len + 1);
    bool complete = stream.error == NULL && acog_stream_tracker_complete(&stream.tracker);
    if (complete && stream.code == ACOG_OK) {
        stream.code = acog_translator_end(stream.translator, out);
    }
    acog_translator_free(&stream.translator);
    if (stream.code != ACOG_OK) {
        json_decref(stream.error);
        return json_pack("{s:i}", "failed", (int)stream.code);
    }
    json_t *answer =
        json_pack("{s:o,s:b}", "sse", of_bytes(acog_buffer_view(out)), "complete", (int)complete);
    if (stream.error != NULL) {
        json_object_set_new(answer, "error", stream.error);
    }
    return answer;
}

/* -- lines ----------------------------------------------------------------------------------------- */

static json_t *obey(const json_t *command, struct acog_arena *arena, struct acog_buffer *out)
{
    struct acog_view op = text_of(command, "op");
    if (acog_view_equal(op, ACOG_VIEW("request"))) {
        return translate_request(command, arena, out);
    }
    if (acog_view_equal(op, ACOG_VIEW("whole"))) {
        return translate_whole(command, arena, out);
    }
    if (acog_view_equal(op, ACOG_VIEW("stream"))) {
        return translate_stream(command, arena, out);
    }
    return json_pack("{s:s}", "failed", "no such op");
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        json_t *command = json_loads(line, JSON_ALLOW_NUL, NULL);
        struct acog_arena arena;
        struct acog_buffer out;
        acog_arena_init(&arena, ARENA_MAX);
        acog_buffer_init(&out, BODY_MAX);
        json_t *answer =
            command == NULL ? json_pack("{s:s}", "failed", "no JSON") : obey(command, &arena, &out);
        char *text = json_dumps(answer, JSON_COMPACT);
        (void)puts(text == NULL ? "{\"failed\":\"not UTF-8\"}" : text);
        (void)fflush(stdout);
        free(text);
        json_decref(answer);
        json_decref(command);
        acog_buffer_fini(&out);
        acog_arena_fini(&arena);
    }
    free(line);
    return 0;
}
