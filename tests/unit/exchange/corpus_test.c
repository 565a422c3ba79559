/* corpus_test.c - recorded traffic through the exchange: what providers really answered comes out unchanged, or there is
 * a reason for it that is written down here.
 */
#include "tests/support/corpus.h"

#include "driver.h"
#include "streams.h"

#include <jansson.h>

#define CHUNK_BYTES 1000 /* of a read */

/* Why an answer may come out differently. */
enum reason {
    ACOG_REASON_NONE = 0,  /* it came out as it came in */
    ACOG_REASON_REQUEST,   /* the request itself is not one that is taken */
    ACOG_REASON_USAGE,     /* without the one usage chunk that the client did not ask for (B51) */
    ACOG_REASON_NO_ANSWER, /* an error, or nothing, with a good status */
    ACOG_REASON_CUT,       /* a stream that stops before its end (decision 15) */
    ACOG_REASON_AFTER_END, /* bytes behind the legal last event (B59) */
    ACOG_REASON_COUNT
};

struct replay {
    struct driver driver;
    const char *target;
    size_t seen;
    size_t reasons[ACOG_REASON_COUNT];
};

static struct acog_view text_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return (struct acog_view){.ptr = json_string_value(value), .len = json_string_length(value)};
}

/* Declares what the recorded request asks for, under the very same id, so that its bytes stay. */
static bool declare_model(struct replay *replay, struct acog_view body, char *model, size_t room)
{
    json_t *request = json_loadb(body.ptr, body.len, 0, NULL);
    const json_t *name = json_object_get(request, "model");
    bool given = json_is_string(name) && json_string_length(name) < room;
    if (given) {
        driver_copy(model, room, text_of(request, "model"));
        for (size_t i = 0; i < 2; i++) {
            replay->driver.candidates[i].declared = acog_view_of(model);
            replay->driver.candidates[i].family = acog_view_of(model);
            replay->driver.candidates[i].send_id = acog_view_of(model);
        }
    }
    json_decref(request);
    return given;
}

static void answer_with(struct driver *driver, const json_t *response)
{
    struct acog_view body = text_of(response, "body");
    const json_t *headers = json_object_get(response, "headers");
    struct acog_view type = text_of(headers, "content-type");
    char content_type[256];
    driver_copy(content_type, sizeof(content_type), type);
    driver_head(driver, 1, (unsigned)json_integer_value(json_object_get(response, "status")),
                type.len == 0 ? NULL : content_type);
    for (size_t at = 0; at < body.len && !driver->sends[0].cancelled; at += CHUNK_BYTES) {
        driver_body(driver, 1, acog_view_slice(body, at, at + CHUNK_BYTES));
    }
    if (driver->sends[0].running) {
        driver_end(driver, 1);
    }
}

/* `reply` is `body` without one piece, which this finds. */
static bool lacks_one_piece(struct acog_view reply, struct acog_view body, struct acog_view *piece)
{
    size_t same = 0;
    while (same < reply.len && reply.ptr[same] == body.ptr[same]) {
        same++;
    }
    size_t missing = body.len - reply.len;
    *piece = acog_view_slice(body, same, same + missing);
    return acog_view_equal(acog_view_slice(reply, same, reply.len),
                           acog_view_slice(body, same + missing, body.len));
}

static enum reason reason_of(const struct driver *driver, struct acog_view body)
{
    struct acog_view reply = acog_buffer_view(&driver->reply);
    struct acog_view piece;
    if (acog_view_equal(reply, body) && driver->ended) {
        return ACOG_REASON_NONE;
    }
    if (driver->status == 0) {
        return ACOG_REASON_NO_ANSWER;
    }
    if (acog_exchange_record(driver->exchange)->request->outcome == ACOG_OUTCOME_INCOMPLETE) {
        return driver_count(reply, "\"code\":\"upstream_error\"") == 1 ? ACOG_REASON_CUT
                                                                       : ACOG_REASON_COUNT;
    }
    if (reply.len >= body.len || !lacks_one_piece(reply, body, &piece)) {
        return ACOG_REASON_COUNT;
    }
    if (acog_view_find(piece, ACOG_VIEW("\"choices\":[],")) < piece.len &&
        driver_count(piece, "\n\n") == 1) {
        return ACOG_REASON_USAGE;
    }
    return acog_view_starts(body, reply) ? ACOG_REASON_AFTER_END : ACOG_REASON_COUNT;
}

static void replay_one(struct replay *replay, const json_t *capture)
{
    struct acog_view asked = text_of(json_object_get(capture, "request"), "body");
    const json_t *response = json_object_get(capture, "response");
    struct driver *driver = &replay->driver;
    enum reason reason = ACOG_REASON_REQUEST;
    char model[256];
    if (json_integer_value(json_object_get(response, "status")) != 200) {
        return; /* errors are told in other words */
    }
    replay->seen++;
    if (declare_model(replay, asked, model, sizeof(model))) {
        driver_start(driver, "POST", replay->target, NULL, 0, asked);
        if (driver->send_count == 1) {
            answer_with(driver, response);
            reason = reason_of(driver, text_of(response, "body"));
        }
        if (!driver->finished) {
            driver_gone(driver);
        }
        driver_again(driver);
    }
    assert_int_not_equal(reason, ACOG_REASON_COUNT);
    replay->reasons[reason]++;
}

static void replay_file(struct replay *replay, const char *target, const char *name)
{
    struct acog_buffer file;
    replay->target = target;
    replay->seen = 0;
    memset(replay->reasons, 0, sizeof(replay->reasons));
    assert_true(acog_corpus_read(name, &file));
    struct acog_view rest = acog_buffer_view(&file);
    while (rest.len > 0) {
        size_t end = acog_view_find(rest, ACOG_VIEW("\n"));
        json_t *capture = json_loadb(rest.ptr, end, JSON_ALLOW_NUL, NULL);
        assert_non_null(capture);
        replay_one(replay, capture);
        json_decref(capture);
        rest = acog_view_slice(rest, end + 1, rest.len);
    }
    acog_buffer_fini(&file);
    print_message("%s: %zu seen, %zu unchanged\n", name, replay->seen,
                  replay->reasons[ACOG_REASON_NONE]);
    /* The reasons are exceptions, each in a few records of a hundred. */
    assert_true(replay->reasons[ACOG_REASON_NONE] >= replay->seen * 95 / 100);
}

static void recorded_answers_come_out_unchanged(void **state)
{
    struct replay replay;
    (void)state;
    if (acog_corpus_missing()) {
        skip();
    }
    driver_init(&replay.driver);
    replay.driver.snapshot->limits.json_depth = 128;
    replay.driver.snapshot->limits.event_bytes = (size_t)8 << 20U;
    replay.driver.snapshot->limits.answer_bytes = (size_t)64 << 20U;
    replay_file(&replay, "/v1/chat/completions", "1-llm/captures/openai.chat.stream.open.jsonl");
    replay_file(&replay, "/v1/chat/completions", "1-llm/captures/openai.chat.json.open.jsonl");
    replay_file(&replay, "/v1/messages", "1-llm/captures/anthropic.messages.stream.open.jsonl");
    replay_file(&replay, "/v1/messages", "1-llm/captures/anthropic.messages.json.open.jsonl");
    replay_file(&replay, "/v1/responses", "1-llm/captures/openai.responses.stream.open.jsonl");
    replay_file(&replay, "/v1/responses", "1-llm/captures/openai.responses.json.open.jsonl");
    driver_fini(&replay.driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_answers_come_out_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
