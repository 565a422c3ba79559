/* address_test.c - texts, loopback, sockets. */
#include "address.h"

#include "acog/gateway.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void an_address_is_a_host_and_a_port_or_a_path(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        const char *host;
        uint16_t port;
        const char *path;
        const char *shown;
    } rows[] = {
        {"127.0.0.1:4000", "127.0.0.1", 4000, "", "127.0.0.1:4000"},
        {"localhost:0", "localhost", 0, "", "localhost:0"},
        {"[::1]:65535", "::1", 65535, "", "[::1]:65535"},
        {"unix:/run/acog.sock", "", 0, "/run/acog.sock", "unix:/run/acog.sock"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acog_listener listener;
        assert_int_equal(acog_listener_read(acog_view_of(rows[i].text), &listener, NULL), ACOG_OK);
        assert_true(acog_view_equal(listener.host, acog_view_of(rows[i].host)));
        assert_int_equal(listener.port, rows[i].port);
        assert_true(acog_view_equal(listener.unix_socket, acog_view_of(rows[i].path)));
        char shown[100];
        acog_listener_text(&listener, listener.port, shown, sizeof(shown));
        assert_string_equal(shown, rows[i].shown);
    }
}

static void what_is_no_address_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",        "4000",     ":4000", "host",  "host:",       "host:65536", "host:+1",
        "host:1x", "::1:4000", "[::1]", "unix:", "host:000001", "a:b:4000",   "[]:4000"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct acog_listener listener = {.port = 7};
        struct acog_error error;
        if (acog_listener_read(acog_view_of(texts[i]), &listener, &error) != ACOG_INVALID) {
            fail_msg("taken: %s", texts[i]);
        }
        assert_int_equal(listener.port, 7);
    }
}

static void a_page_is_local_by_the_host_of_its_origin(void **state) /* DNS rebinding */
{
    static const char *const inside[] = {"http://localhost", "https://localhost:3000",
                                         "http://127.0.0.1:4000", "http://[::1]:4000",
                                         "app://127.1.2.3"};
    static const char *const outside[] = {"",
                                          "null",
                                          "localhost",
                                          "://",
                                          "https://evil.example",
                                          "https://evil.example:4000",
                                          "http://127.0.0.1.evil.example",
                                          "http://localhost.evil.example",
                                          "http://localhost:80@evil.example",
                                          "http://evil.example/http://localhost",
                                          "http://[::1"};
    (void)state;
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
        assert_true(acog_origin_is_local(acog_view_of(inside[i])));
    }
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        assert_false(acog_origin_is_local(acog_view_of(outside[i])));
    }
}

static void loopback_is_known_by_name_and_by_number(void **state)
{
    (void)state;
    static const char *const inside[] = {"localhost", "LocalHost", "127.0.0.1",      "127.255.0.9",
                                         "::1",       "[::1]",     "0:0:0:0:0:0:0:1"};
    static const char *const outside[] = {
        "",         "0.0.0.0", "10.0.0.1",      "::",
        "[::2]",    "1.2.3.4", "127.evil.test", "localhost.evil.test",
        "128.0.0.1"};
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
        assert_true(acog_host_is_loopback(acog_view_of(inside[i])));
    }
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        assert_false(acog_host_is_loopback(acog_view_of(outside[i])));
    }
    assert_true(acog_host_is_address(ACOG_VIEW("[2001:db8::1]")));
    assert_false(acog_host_is_address(ACOG_VIEW("localhost")));
}

static void all_workers_listen_on_one_port(void **state)
{
    (void)state;
    const struct acog_listener listener = {.host = ACOG_VIEW("127.0.0.1")};
    int sockets[3];
    uint16_t port = 0;
    struct acog_error error;
    assert_int_equal(acog_listener_open(&listener, sockets, 3, &port, &error), ACOG_OK);
    assert_int_not_equal(port, 0);
    for (size_t i = 0; i < 3; i++) {
        int listens = 0;
        socklen_t bytes = sizeof(listens);
        assert_int_equal(getsockopt(sockets[i], SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes), 0);
        assert_int_equal(listens, 1);
        assert_int_equal(close(sockets[i]), 0);
    }
}

static void a_port_of_another_gateway_is_not_shared(void **state)
{
    (void)state;
    struct acog_listener listener = {.host = ACOG_VIEW("127.0.0.1")};
    int first;
    int second;
    uint16_t port = 0;
    struct acog_error error;
    assert_int_equal(acog_listener_open(&listener, &first, 1, &port, &error), ACOG_OK);
    listener.port = port;
    assert_int_equal(acog_listener_open(&listener, &second, 1, &port, &error), ACOG_IO);
    assert_non_null(strstr(error.text, "another process"));
    assert_int_equal(close(first), 0);
    assert_int_equal(acog_listener_open(&listener, &second, 1, &port, &error), ACOG_OK);
    assert_int_equal(close(second), 0);
}

static void workers_share_the_socket_of_a_path(void **state)
{
    (void)state;
    char path[100];
    (void)snprintf(path, sizeof(path), "/tmp/acog-address-test-%d.sock", (int)getpid());
    const struct acog_listener listener = {.unix_socket = acog_view_of(path)};
    int sockets[2];
    uint16_t port = 1;
    struct acog_error error;
    assert_int_equal(acog_listener_open(&listener, sockets, 2, &port, &error), ACOG_OK);
    assert_int_equal(port, 0);
    struct stat one;
    struct stat two;
    assert_int_equal(fstat(sockets[0], &one), 0);
    assert_int_equal(fstat(sockets[1], &two), 0);
    assert_int_equal(one.st_ino, two.st_ino);
    assert_int_equal(access(path, F_OK), 0);
    acog_listener_remove(&listener);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(close(sockets[0]), 0);
    assert_int_equal(close(sockets[1]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_a_host_and_a_port_or_a_path),
        cmocka_unit_test(what_is_no_address_is_refused_and_changes_nothing),
        cmocka_unit_test(a_page_is_local_by_the_host_of_its_origin),
        cmocka_unit_test(loopback_is_known_by_name_and_by_number),
        cmocka_unit_test(all_workers_listen_on_one_port),
        cmocka_unit_test(a_port_of_another_gateway_is_not_shared),
        cmocka_unit_test(workers_share_the_socket_of_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
