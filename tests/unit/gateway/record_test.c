/* record_test.c - the line of a request. */
#include "record.h"

#include "scene.h"
#include "tests/support/check.h"

#include <string.h>

#include <jansson.h>

static json_t *line_of(const struct scene *scene, const struct acog_record_context *context)
{
    struct acog_buffer out;
    acog_buffer_init(&out, 10000);
    assert_int_equal(acog_record_line(&scene->record, context, &out), ACOG_OK);
    json_t *line = json_loadb(out.ptr, out.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(line);
    acog_buffer_fini(&out);
    return line;
}

static const char *text_in(const json_t *line, const char *name)
{
    return json_string_value(json_object_get(line, name));
}

static int64_t number_in(const json_t *line, const char *name)
{
    json_t *value = json_object_get(line, name);
    return json_is_integer(value) ? json_integer_value(value) : -999;
}

static void a_request_that_failed_over_tells_who_answered_and_why_it_moved(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    struct acog_attempt_row *failed = scene_attempt(&scene, 0);
    failed->failed = true;
    failed->class = ACOG_CLASS_NETWORK;
    scene_attempt(&scene, 1)->first_output_at_ms = 1180;
    scene.request.committed = true;
    scene.request.has_failure = true;
    scene.request.last_class = ACOG_CLASS_NETWORK;
    const struct acog_record_context context = {.target = ACOG_VIEW("/v1/chat/completions"),
                                                .why = ACOG_VIEW("connection refused"),
                                                .unix_ms = 1735689600000};
    json_t *line = line_of(&scene, &context);
    assert_string_equal(text_in(line, "time"), "2025-01-01T00:00:00.000Z");
    assert_string_equal(text_in(line, "level"), "info");
    assert_string_equal(text_in(line, "event"), "request");
    assert_string_equal(text_in(line, "request_id"), "req-1");
    assert_string_equal(text_in(line, "surface"), "chat");
    assert_string_equal(text_in(line, "model"), "asked-model");
    assert_string_equal(text_in(line, "connection"), "second");
    assert_string_equal(text_in(line, "channel"), "vertex");
    assert_string_equal(text_in(line, "sent_model"), "sent-model");
    assert_string_equal(text_in(line, "class"), "network");
    assert_string_equal(text_in(line, "why"), "connection refused");
    assert_string_equal(text_in(line, "outcome"), "completed");
    assert_string_equal(text_in(line, "policy"), "acog");
    assert_true(json_is_true(json_object_get(line, "stream")));
    assert_int_equal(number_in(line, "status"), 200);
    assert_int_equal(number_in(line, "attempts"), 2);
    assert_int_equal(number_in(line, "duration_ms"), 250);
    assert_int_equal(number_in(line, "first_output_ms"), 180);
    assert_int_equal(number_in(line, "request_bytes"), 100);
    assert_int_equal(number_in(line, "reply_bytes"), 2000);
    assert_int_equal(number_in(line, "input_tokens"), 12);
    assert_int_equal(number_in(line, "cached_tokens"), 4);
    assert_int_equal(number_in(line, "output_tokens"), 34);
    json_decref(line);
}

static void a_translated_request_tells_in_which_dialect_and_whose_figures(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    (void)scene_attempt(&scene, 1);
    const struct acog_record_context context = {.unix_ms = 0};
    scene.connections[1].dialects = ACOG_BIT(ACOG_DIALECT_CHAT);
    json_t *own = line_of(&scene, &context);
    assert_null(json_object_get(own, "dialect"));
    assert_null(json_object_get(own, "usage_estimated"));
    json_decref(own);
    scene.connections[1].dialects = ACOG_BIT(ACOG_DIALECT_GEMINI);
    scene.record.usage_estimated = true;
    json_t *translated = line_of(&scene, &context);
    assert_string_equal(text_in(translated, "dialect"), "gemini");
    assert_true(json_is_true(json_object_get(translated, "usage_estimated")));
    json_decref(translated);
}

static void a_local_answer_tells_its_path_without_the_query(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    scene.record.routed = false;
    scene.record.request = NULL;
    scene.record.status = 404;
    scene.record.error_code = ACOG_VIEW("not_found");
    const struct acog_record_context context = {.target = ACOG_VIEW("/v2/x?key=sk-secret")};
    json_t *line = line_of(&scene, &context);
    assert_string_equal(text_in(line, "path"), "/v2/x");
    assert_string_equal(text_in(line, "error_code"), "not_found");
    assert_null(json_object_get(line, "surface"));
    assert_null(json_object_get(line, "attempts"));
    assert_null(json_object_get(line, "input_tokens"));
    json_decref(line);
}

static void what_is_not_known_is_left_out(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    scene.record.usage = (struct acog_usage){-1, -1, -1, -1, -1};
    const struct acog_record_context context = {.unix_ms = 0};
    json_t *line = line_of(&scene, &context);
    assert_null(json_object_get(line, "first_output_ms"));
    assert_null(json_object_get(line, "output_tokens"));
    assert_null(json_object_get(line, "connection"));
    assert_null(json_object_get(line, "class"));
    assert_null(json_object_get(line, "why"));
    assert_null(json_object_get(line, "error_code"));
    json_decref(line);
}

static void a_path_is_cut(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    scene.record.routed = false;
    char path[1000];
    memset(path, 'a', sizeof(path));
    const struct acog_record_context context = {.target = {path, sizeof(path)}};
    json_t *line = line_of(&scene, &context);
    assert_int_equal(strlen(text_in(line, "path")), 128);
    json_decref(line);
}

static void the_attempt_that_is_told_is_the_one_that_answered_else_the_last(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    assert_null(acog_record_attempt(&scene.record));
    (void)scene_attempt(&scene, 0);
    (void)scene_attempt(&scene, 1);
    assert_ptr_equal(acog_record_attempt(&scene.record), &scene.request.attempts[1]);
    scene.request.kept_attempt = 1; /* S4.29: the fallback failed, the refusal was replayed */
    assert_ptr_equal(acog_record_attempt(&scene.record), &scene.request.attempts[0]);
    scene.request.committed = true; /* S4.27: the fallback answered */
    assert_ptr_equal(acog_record_attempt(&scene.record), &scene.request.attempts[1]);
    scene.record.request = NULL;
    assert_null(acog_record_attempt(&scene.record));
}

static void health_checks_are_quiet_and_failures_are_loud(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    assert_int_equal(acog_record_level(&scene.record), ACOG_LOG_INFO);
    scene.record.status = 400;
    assert_int_equal(acog_record_level(&scene.record), ACOG_LOG_INFO);
    scene.record.status = 502;
    assert_int_equal(acog_record_level(&scene.record), ACOG_LOG_WARNING);
    scene.record.status = 200;
    scene.request.outcome = ACOG_OUTCOME_FAILED; /* cut after the head was sent */
    assert_int_equal(acog_record_level(&scene.record), ACOG_LOG_WARNING);
    scene.request.outcome = ACOG_OUTCOME_CANCELLED;
    assert_int_equal(acog_record_level(&scene.record), ACOG_LOG_INFO);
    scene.record.request = NULL;
    scene.record.routed = false;
    assert_int_equal(acog_record_level(&scene.record), ACOG_LOG_DEBUG);
    scene.record.status = 404;
    assert_int_equal(acog_record_level(&scene.record), ACOG_LOG_INFO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_failed_over_tells_who_answered_and_why_it_moved),
        cmocka_unit_test(a_translated_request_tells_in_which_dialect_and_whose_figures),
        cmocka_unit_test(a_local_answer_tells_its_path_without_the_query),
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(a_path_is_cut),
        cmocka_unit_test(the_attempt_that_is_told_is_the_one_that_answered_else_the_last),
        cmocka_unit_test(health_checks_are_quiet_and_failures_are_loud),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
