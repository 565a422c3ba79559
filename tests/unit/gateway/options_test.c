/* options_test.c - the words after `acog serve`. */
#include "acog/gateway.h"
#include "tests/support/check.h"

#include <string.h>

static struct acog_serve_options options;
static struct acog_error error;

/* Words by spaces. */
static enum acog_code read_line(const char *line)
{
    static char text[200];
    static char *words[16];
    int count = 0;
    error = (struct acog_error){.code = ACOG_OK};
    assert_true(strlen(line) < sizeof(text));
    memcpy(text, line, strlen(line) + 1);
    for (char *at = text; *at != '\0';) {
        words[count++] = at;
        at += strcspn(at, " ");
        if (*at == ' ') {
            *at++ = '\0';
        }
    }
    return acog_serve_options_read(count, words, &options, &error);
}

static void assert_refused(const char *line, const char *part)
{
    assert_int_equal(read_line(line), ACOG_INVALID);
    if (strstr(error.text, part) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
    }
}

static void a_file_alone_leaves_the_rest_to_the_configuration(void **state)
{
    (void)state;
    assert_int_equal(read_line("gateway.lua"), ACOG_OK);
    assert_string_equal(options.path, "gateway.lua");
    assert_false(options.has_listen);
    assert_false(options.has_admin);
    assert_int_equal(options.workers, 0);
    assert_null(options.log_path);
    assert_int_equal(options.log_level, ACOG_LOG_INFO);
}

static void options_stand_before_and_behind_the_file(void **state)
{
    (void)state;
    assert_int_equal(read_line("--workers 3 gateway.lua --listen 127.0.0.1:0 --admin unix:/run/a "
                               "--log /tmp/log --log-level debug"),
                     ACOG_OK);
    assert_string_equal(options.path, "gateway.lua");
    assert_int_equal(options.workers, 3);
    assert_true(options.has_listen);
    assert_true(acog_view_equal(options.listen.host, ACOG_VIEW("127.0.0.1")));
    assert_int_equal(options.listen.port, 0);
    assert_true(options.has_admin);
    assert_true(acog_view_equal(options.admin.unix_socket, ACOG_VIEW("/run/a")));
    assert_string_equal(options.log_path, "/tmp/log");
    assert_int_equal(options.log_level, ACOG_LOG_DEBUG);
}

static void what_is_not_understood_is_named(void **state)
{
    (void)state;
    assert_refused("--port 4000 x.lua", "unknown option --port");
    assert_refused("x.lua y.lua", "x.lua and y.lua");
    assert_refused("x.lua --listen", "--listen wants a value");
    assert_refused("x.lua --bogus", "unknown option --bogus");
    assert_refused("x.lua --workers 0", "1 to 256");
    assert_refused("x.lua --workers 257", "1 to 256");
    assert_refused("x.lua --workers two", "\"two\"");
    assert_refused("x.lua --log-level loud", "debug, info, warning, error");
    assert_refused("x.lua --listen 4000", "HOST:PORT");
    assert_refused("--workers 2", "which configuration");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_alone_leaves_the_rest_to_the_configuration),
        cmocka_unit_test(options_stand_before_and_behind_the_file),
        cmocka_unit_test(what_is_not_understood_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
