/* listen_test.c - listening sockets: ports, options, and the files of unix sockets. */
#include "acog/http.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/acog_listen_XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static struct acog_view path_of(char path[128], const char *name)
{
    (void)snprintf(path, 128, "%s/%s", folder, name);
    return acog_view_of(path);
}

static int option_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t bytes = sizeof(value);
    assert_int_equal(getsockopt(fd, level, name, &value, &bytes), 0);
    return value;
}

static void picks_a_port_that_others_may_share(void **state)
{
    (void)state;
    struct acog_error error = {0};
    int one = acog_http_listen(ACOG_VIEW("127.0.0.1"), 0, &error);
    assert_true(one >= 0);
    uint16_t port = acog_http_listen_port(one);
    assert_int_not_equal(port, 0);
    int two = acog_http_listen(ACOG_VIEW("127.0.0.1"), port, &error);
    assert_true(two >= 0);
    assert_int_equal(acog_http_listen_port(two), port);
    assert_int_equal(option_of(one, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(option_of(one, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_true((fcntl(one, F_GETFL) & O_NONBLOCK) != 0);
    assert_true((fcntl(one, F_GETFD) & FD_CLOEXEC) != 0);
    (void)close(one);
    (void)close(two);
}

static void says_why_it_cannot_listen(void **state)
{
    (void)state;
    struct acog_error error = {0};
    assert_int_equal(acog_http_listen(ACOG_VIEW("192.0.2.1"), 0, &error), -1);
    assert_int_equal(error.code, ACOG_IO);
    assert_non_null(strstr(error.text, "192.0.2.1"));
    assert_int_equal(acog_http_listen(ACOG_VIEW(""), 0, &error), -1);
    assert_int_equal(error.code, ACOG_INVALID);
    char host[300];
    memset(host, 'a', sizeof(host));
    assert_int_equal(
        acog_http_listen((struct acog_view){.ptr = host, .len = sizeof(host)}, 0, &error), -1);
    assert_int_equal(error.code, ACOG_INVALID);
}

static void replaces_a_unix_socket_that_nobody_listens_on(void **state)
{
    (void)state;
    char path[128];
    struct acog_error error = {0};
    struct acog_view where = path_of(path, "socket");
    int one = acog_http_listen_unix(where, &error);
    assert_true(one >= 0);
    assert_int_equal(acog_http_listen_port(one), 0);
    assert_int_equal(acog_http_listen_unix(where, &error), -1);
    assert_int_equal(error.code, ACOG_IO);
    assert_non_null(strstr(error.text, "in use"));
    (void)close(one);
    int two = acog_http_listen_unix(where, &error);
    assert_true(two >= 0);
    (void)close(two);
    (void)unlink(path);
}

static void never_replaces_what_is_no_socket(void **state)
{
    (void)state;
    char path[128];
    struct acog_error error = {0};
    struct acog_view where = path_of(path, "file");
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(acog_http_listen_unix(where, &error), -1);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    (void)unlink(path);
}

static void refuses_a_path_that_no_socket_has(void **state)
{
    (void)state;
    char path[200];
    memset(path, 'a', sizeof(path));
    struct acog_error error = {0};
    assert_int_equal(
        acog_http_listen_unix((struct acog_view){.ptr = path, .len = sizeof(path)}, &error), -1);
    assert_int_equal(error.code, ACOG_TOO_BIG);
    assert_int_equal(acog_http_listen_unix(ACOG_VIEW(""), &error), -1);
    assert_int_equal(error.code, ACOG_TOO_BIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picks_a_port_that_others_may_share),
        cmocka_unit_test(says_why_it_cannot_listen),
        cmocka_unit_test(replaces_a_unix_socket_that_nobody_listens_on),
        cmocka_unit_test(never_replaces_what_is_no_socket),
        cmocka_unit_test(refuses_a_path_that_no_socket_has),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
