/* log_test.c - the line, and the queue behind it. */
#include "acog/log.h"

#include "acog/memory.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#define PIPE_TEXT_MAX 65536

/* -- the line ---------------------------------------------------------------------------------------- */

static const char *line_at(struct acog_buffer *out, int64_t unix_ms)
{
    acog_buffer_init(out, 1000);
    assert_int_equal(acog_log_line(out, unix_ms, ACOG_LOG_INFO, "x", NULL, 0), ACOG_OK);
    assert_int_equal(acog_buffer_append(out, (struct acog_view){.ptr = "", .len = 1}), ACOG_OK);
    return out->ptr;
}

static void a_line_is_one_json_object_with_typed_fields(void **state)
{
    (void)state;
    struct acog_buffer out;
    acog_buffer_init(&out, 1000);
    const struct acog_log_field fields[] = {
        acog_log_text("model", ACOG_VIEW("say \"hi\"\n\x1b[31m\xff")),
        acog_log_number("least", INT64_MIN),
        acog_log_number("most", INT64_MAX),
        acog_log_flag("stream", true),
        acog_log_flag("whole", false),
    };
    assert_int_equal(acog_log_line(&out, 0, ACOG_LOG_WARNING, "request", fields, 5), ACOG_OK);
    assert_int_equal(memchr(out.ptr, '\n', out.len) == out.ptr + out.len - 1, 1);
    json_error_t error;
    json_t *read = json_loadb(out.ptr, out.len, 0, &error);
    assert_non_null(read);
    assert_string_equal(json_string_value(json_object_get(read, "level")), "warning");
    assert_string_equal(json_string_value(json_object_get(read, "event")), "request");
    assert_string_equal(json_string_value(json_object_get(read, "model")),
                        "say \"hi\"\n\x1b[31m\xef\xbf\xbd");
    assert_true(json_integer_value(json_object_get(read, "least")) == INT64_MIN);
    assert_true(json_integer_value(json_object_get(read, "most")) == INT64_MAX);
    assert_true(json_is_true(json_object_get(read, "stream")));
    assert_true(json_is_false(json_object_get(read, "whole")));
    json_decref(read);
    acog_buffer_fini(&out);
}

static void no_control_character_leaves_its_escape(void **state)
{
    (void)state;
    struct acog_buffer out;
    acog_buffer_init(&out, 1000);
    const struct acog_log_field field = acog_log_text("model", ACOG_VIEW("a\r\n\x1b\x7f\0b"));
    assert_int_equal(acog_log_line(&out, 0, ACOG_LOG_INFO, "x", &field, 1), ACOG_OK);
    for (size_t i = 0; i + 1 < out.len; i++) {
        assert_true((unsigned char)out.ptr[i] >= 0x20);
    }
    acog_buffer_fini(&out);
}

static void times_are_rfc_3339_in_utc_with_milliseconds(void **state)
{
    (void)state;

    static const struct {
        int64_t unix_ms;
        const char *text;
    } times[] = {
        {0, "{\"time\":\"1970-01-01T00:00:00.000Z\""},
        {951782400123, "{\"time\":\"2000-02-29T00:00:00.123Z\""},
        {951868800000, "{\"time\":\"2000-03-01T00:00:00.000Z\""},
        {1735689599999, "{\"time\":\"2024-12-31T23:59:59.999Z\""},
        {1735689600000, "{\"time\":\"2025-01-01T00:00:00.000Z\""},
        {4107542399000, "{\"time\":\"2100-02-28T23:59:59.000Z\""},
        {4107542400000, "{\"time\":\"2100-03-01T00:00:00.000Z\""},
        {-5, "{\"time\":\"1970-01-01T00:00:00.000Z\""},
    };

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct acog_buffer out;
        assert_memory_equal(line_at(&out, times[i].unix_ms), times[i].text, strlen(times[i].text));
        acog_buffer_fini(&out);
    }
}

static void a_line_without_room_leaves_nothing_behind(void **state)
{
    (void)state;
    struct acog_buffer out;
    acog_buffer_init(&out, 150);
    assert_int_equal(acog_log_line(&out, 0, ACOG_LOG_INFO, "fits", NULL, 0), ACOG_OK);
    size_t before = out.len;
    const struct acog_log_field field = acog_log_text(
        "long", ACOG_VIEW("0123456789012345678901234567890123456789012345678901234567890123"));
    assert_int_equal(acog_log_line(&out, 0, ACOG_LOG_INFO, "does not", &field, 1), ACOG_TOO_BIG);
    assert_int_equal(out.len, before);
    acog_buffer_fini(&out);
}

static void levels_have_words_and_words_have_levels(void **state)
{
    (void)state;
    enum acog_log_level level = ACOG_LOG_ERROR;
    assert_true(acog_log_level_find(ACOG_VIEW("debug"), &level));
    assert_int_equal(level, ACOG_LOG_DEBUG);
    assert_true(acog_log_level_find(ACOG_VIEW("warning"), &level));
    assert_false(acog_log_level_find(ACOG_VIEW("warn"), &level));
    assert_int_equal(level, ACOG_LOG_WARNING);
}

/* -- the queue --------------------------------------------------------------------------------------- */

/* A log into a pipe, and what came out of it once the log was closed. */
struct sink {
    int ends[2];
    struct acog_log *log;
    char text[PIPE_TEXT_MAX];
};

static void open_sink(struct sink *sink, size_t queue_bytes_max, int64_t linger_ms)
{
    assert_int_equal(pipe(sink->ends), 0);
    const struct acog_log_options options = {.fd = sink->ends[1],
                                             .level = ACOG_LOG_INFO,
                                             .queue_bytes_max = queue_bytes_max,
                                             .linger_ms = linger_ms,
                                             .close_ms = 60000};
    struct acog_error error;
    sink->log = acog_log_new(&options, &error);
    assert_non_null(sink->log);
}

static void close_sink(struct sink *sink)
{
    acog_log_free(&sink->log);
    assert_null(sink->log);
    assert_int_equal(close(sink->ends[1]), 0);
    size_t used = 0;
    for (;;) {
        ssize_t got = read(sink->ends[0], sink->text + used, sizeof(sink->text) - 1 - used);
        assert_true(got >= 0);
        if (got == 0) {
            break;
        }
        used += (size_t)got;
    }
    sink->text[used] = '\0';
    assert_int_equal(close(sink->ends[0]), 0);
}

static size_t lines_in(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n' ? 1 : 0;
    }
    return lines;
}

static void closing_writes_what_is_queued(void **state)
{
    (void)state;
    struct sink sink;
    open_sink(&sink, 100000, 3600000); /* the linger alone would hold the lines for an hour */
    for (int i = 0; i < 100; i++) {
        const struct acog_log_field field = acog_log_number("i", i);
        acog_log_write(sink.log, ACOG_LOG_INFO, "count", &field, 1);
    }
    close_sink(&sink);
    assert_int_equal(lines_in(sink.text), 100);
    assert_non_null(strstr(sink.text, "\"i\":99}\n"));
}

static void lines_below_the_level_are_not_written(void **state)
{
    (void)state;
    struct sink sink;
    open_sink(&sink, 100000, 0);
    assert_false(acog_log_wants(sink.log, ACOG_LOG_DEBUG));
    assert_true(acog_log_wants(sink.log, ACOG_LOG_INFO));
    acog_log_write(sink.log, ACOG_LOG_DEBUG, "fine", NULL, 0);
    acog_log_write(sink.log, ACOG_LOG_ERROR, "grave", NULL, 0);
    close_sink(&sink);
    assert_int_equal(lines_in(sink.text), 1);
    assert_non_null(strstr(sink.text, "\"level\":\"error\",\"event\":\"grave\""));
}

static void a_full_queue_drops_and_counts(void **state)
{
    (void)state;
    struct sink sink;
    open_sink(&sink, 600, 3600000);
    struct acog_buffer lines;
    acog_buffer_init(&lines, 10000);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(acog_log_line(&lines, 0, ACOG_LOG_INFO, "kept", NULL, 0), ACOG_OK);
    }
    acog_log_hand_over(sink.log, &lines, 3); /* under half: the writer lingers */
    assert_int_equal(lines.len, 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(acog_log_line(&lines, 0, ACOG_LOG_INFO, "lost", NULL, 0), ACOG_OK);
    }
    acog_log_hand_over(sink.log, &lines, 20);
    assert_int_equal(lines.len, 0);
    assert_int_equal(acog_log_dropped(sink.log), 20);
    close_sink(&sink);
    assert_int_equal(lines_in(sink.text), 3);
    assert_null(strstr(sink.text, "lost"));
    acog_buffer_fini(&lines);
}

static void half_a_queue_does_not_wait_for_the_linger(void **state)
{
    (void)state;
    struct sink sink;
    open_sink(&sink, 600, 3600000);
    struct acog_buffer lines;
    acog_buffer_init(&lines, 10000);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(acog_log_line(&lines, 0, ACOG_LOG_INFO, "five", NULL, 0), ACOG_OK);
    }
    acog_log_hand_over(sink.log, &lines, 5);
    char first;
    assert_int_equal(read(sink.ends[0], &first, 1), 1); /* would wait for an hour */
    assert_int_equal(first, '{');
    close_sink(&sink);
    acog_buffer_fini(&lines);
}

static void what_cannot_be_written_is_counted(void **state)
{
    (void)state;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    const struct acog_log_options options = {
        .fd = fd, .queue_bytes_max = 1000, .linger_ms = 0, .close_ms = 60000};
    struct acog_log *log = acog_log_new(&options, NULL);
    assert_non_null(log);
    acog_log_write(log, ACOG_LOG_INFO, "lost", NULL, 0);
    while (acog_log_dropped(log) == 0) { /* ends by the writer's own pace; ctest bounds it */
        assert_int_equal(sched_yield(), 0);
    }
    assert_int_equal(acog_log_dropped(log), 1);
    acog_log_free(&log);
    assert_int_equal(close(fd), 0);
}

static void *free_log(void *log)
{
    acog_log_free(log);
    return NULL;
}

static void a_non_blocking_file_is_waited_for(void **state)
{
    (void)state;
    struct sink sink;
    open_sink(&sink, 1 << 20, 3600000);
    assert_int_equal(fcntl(sink.ends[1], F_SETFL, O_NONBLOCK), 0);
    assert_true(fcntl(sink.ends[1], F_SETPIPE_SZ, 4096) >= 4096);
    for (int i = 0; i < 300; i++) { /* four times what the pipe holds */
        acog_log_write(sink.log, ACOG_LOG_INFO, "much", NULL, 0);
    }
    pthread_t closer;
    assert_int_equal(pthread_create(&closer, NULL, free_log, &sink.log), 0);
    size_t lines = 0;
    char text[1000];
    while (lines < 300) {
        ssize_t got = read(sink.ends[0], text, sizeof(text) - 1);
        assert_true(got > 0);
        text[got] = '\0';
        lines += lines_in(text);
    }
    assert_int_equal(pthread_join(closer, NULL), 0);
    assert_int_equal(lines, 300);
    close_sink(&sink);
}

static void without_a_log_nothing_happens(void **state)
{
    (void)state;
    struct acog_log *none = NULL;
    struct acog_buffer lines;
    acog_buffer_init(&lines, 100);
    assert_int_equal(acog_buffer_append(&lines, ACOG_VIEW("x\n")), ACOG_OK);
    acog_log_write(NULL, ACOG_LOG_ERROR, "x", NULL, 0);
    acog_log_hand_over(NULL, &lines, 1);
    assert_int_equal(lines.len, 0);
    assert_int_equal(acog_log_dropped(NULL), 0);
    acog_log_free(&none);
    acog_buffer_fini(&lines);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void without_memory_there_is_no_log(void **state)
{
    (void)state;
    const struct acog_log_options options = {.fd = 2, .queue_bytes_max = 1000};
    struct acog_error error = {0};
    acog_memory_fail_when(always, NULL);
    struct acog_log *log = acog_log_new(&options, &error);
    acog_memory_fail_when(NULL, NULL);
    assert_null(log);
    assert_int_equal(error.code, ACOG_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_one_json_object_with_typed_fields),
        cmocka_unit_test(no_control_character_leaves_its_escape),
        cmocka_unit_test(times_are_rfc_3339_in_utc_with_milliseconds),
        cmocka_unit_test(a_line_without_room_leaves_nothing_behind),
        cmocka_unit_test(levels_have_words_and_words_have_levels),
        cmocka_unit_test(closing_writes_what_is_queued),
        cmocka_unit_test(lines_below_the_level_are_not_written),
        cmocka_unit_test(a_full_queue_drops_and_counts),
        cmocka_unit_test(half_a_queue_does_not_wait_for_the_linger),
        cmocka_unit_test(what_cannot_be_written_is_counted),
        cmocka_unit_test(a_non_blocking_file_is_waited_for),
        cmocka_unit_test(without_a_log_nothing_happens),
        cmocka_unit_test(without_memory_there_is_no_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
