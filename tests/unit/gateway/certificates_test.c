/* certificates_test.c - a log line for each change of a listener's certificate. */
#include "tests/support/certificates.h"

#include "acog/memory.h"
#include "certificates.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/event.h>

struct scene {
    char folder[64];
    char pair[128];
    int log_pipe[2];
    struct acog_log *log;
    struct event_base *base;
    struct acog_certificates certificates;
    struct acog_tls_rules rules;
};

static int set_up(void **state)
{
    static const char template[] = "/tmp/acog-certificates-XXXXXX";
    struct acog_error error = {0};
    struct scene *scene = acog_new(sizeof(*scene));
    memcpy(scene->folder, template, sizeof(template));
    assert_non_null(mkdtemp(scene->folder));
    (void)snprintf(scene->pair, sizeof(scene->pair), "%s/pair.pem", scene->folder);
    assert_int_equal(pipe2(scene->log_pipe, O_CLOEXEC), 0);
    const struct acog_log_options options = {.fd = scene->log_pipe[1],
                                             .level = ACOG_LOG_INFO,
                                             .queue_bytes_max = 1 << 20,
                                             .close_ms = 10000};
    scene->log = acog_log_new(&options, &error);
    scene->base = event_base_new();
    scene->rules = (struct acog_tls_rules){.certificate_file = acog_view_of(scene->pair),
                                           .key_file = acog_view_of(scene->pair)};
    assert_non_null(scene->log);
    assert_non_null(scene->base);
    acog_certificates_init(&scene->certificates, scene->log);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    acog_certificates_fini(&scene->certificates);
    acog_log_free(&scene->log);
    event_base_free(scene->base);
    (void)close(scene->log_pipe[0]);
    if (scene->log_pipe[1] >= 0) {
        (void)close(scene->log_pipe[1]);
    }
    (void)unlink(scene->pair);
    assert_int_equal(rmdir(scene->folder), 0);
    acog_free(scene);
    return 0;
}

static void write_pair(struct scene *scene)
{
    const struct wanted wanted = {.name = "server", .from_s = -DAY_S, .to_s = DAY_S};
    struct identity identity = make_identity(&wanted);
    write_pem(scene->pair, &identity, true);
    forget_identity(&identity);
}

static void write_junk(struct scene *scene)
{
    int file = open(scene->pair, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(write(file, "junk\n", 5), 5);
    assert_int_equal(close(file), 0);
}

/* The timer fires twice, without a wait for it. */
static void look_twice(struct scene *scene)
{
    for (int i = 0; i < 2; i++) {
        event_active(&scene->certificates.look, EV_TIMEOUT, 0);
        assert_true(event_base_loop(scene->base, EVLOOP_NONBLOCK) >= 0);
    }
}

/* Ends the log, and takes what was written. */
static void read_log(struct scene *scene, char *line, size_t room)
{
    acog_log_free(&scene->log); /* writes what is queued */
    (void)close(scene->log_pipe[1]);
    scene->log_pipe[1] = -1;
    ssize_t got = read(scene->log_pipe[0], line, room - 1);
    line[got > 0 ? got : 0] = '\0';
}

static void a_listener_without_tls_has_none(void **state)
{
    struct scene *scene = *state;
    struct acog_error error = {0};
    struct acog_tls_rules none = {0};
    struct acog_http_tls *tls = NULL;
    assert_int_equal(acog_certificates_load(&scene->certificates, "listen", &none, 0, &tls, &error),
                     ACOG_OK);
    assert_null(tls);
    assert_int_equal(acog_certificates_watch(&scene->certificates, scene->base, &error), ACOG_OK);
    assert_int_equal(event_base_get_num_events(scene->base, EVENT_BASE_COUNT_ADDED), 0);
}

static void a_start_without_its_certificate_is_refused(void **state)
{
    struct scene *scene = *state;
    struct acog_error error = {0};
    struct acog_http_tls *tls = NULL;
    assert_int_equal(
        acog_certificates_load(&scene->certificates, "listen", &scene->rules, 0, &tls, &error),
        ACOG_IO);
    assert_null(tls);
    assert_non_null(strstr(error.text, scene->pair));
}

static void load_and_watch(struct scene *scene)
{
    struct acog_error error = {0};
    struct acog_http_tls *tls = NULL;
    write_pair(scene);
    assert_int_equal(
        acog_certificates_load(&scene->certificates, "listen", &scene->rules, 0, &tls, &error),
        ACOG_OK);
    assert_non_null(tls);
    assert_int_equal(acog_certificates_watch(&scene->certificates, scene->base, &error), ACOG_OK);
}

static void a_new_certificate_is_logged(void **state)
{
    struct scene *scene = *state;
    char line[1024];
    load_and_watch(scene);
    assert_int_equal(unlink(scene->pair), 0);
    write_pair(scene);
    look_twice(scene);
    look_twice(scene);
    read_log(scene, line, sizeof(line));
    assert_non_null(strstr(line, "\"event\":\"certificate_loaded\",\"listener\":\"listen\""));
    assert_non_null(strstr(line, scene->pair));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1); /* once */
}

static void a_broken_certificate_is_logged_with_the_reason(void **state)
{
    struct scene *scene = *state;
    char line[1024];
    load_and_watch(scene);
    write_junk(scene);
    look_twice(scene);
    look_twice(scene);
    read_log(scene, line, sizeof(line));
    assert_non_null(strstr(line, "\"level\":\"error\",\"event\":\"certificate_rejected\""));
    assert_non_null(strstr(line, scene->pair));
    assert_non_null(strstr(line, "no start line"));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_listener_without_tls_has_none),
        TEST(a_start_without_its_certificate_is_refused),
        TEST(a_new_certificate_is_logged),
        TEST(a_broken_certificate_is_logged_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
