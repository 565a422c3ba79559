/* connect_test.c - how a connection comes to stand, and why it does not. */
#include "fixture.h"

#define HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

/* -- addresses ------------------------------------------------------------------------------------- */

/* A port of this machine that nobody listens on: it was free a moment ago. */
static uint16_t unused_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(probe, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(probe, (struct sockaddr *)&address, &length), 0);
    (void)close(probe);
    return ntohs(address.sin_port);
}

static void a_refused_connection_is_told(void **state)
{
    struct fixture *f = *state;
    point_to(f, ACOG_VIEW("127.0.0.1"), unused_port());
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CONNECT);
    assert_false(f->told.reused_no_byte);
    assert_int_equal(f->told.connected, 0);
    assert_non_null(strstr(f->told.why, "connect"));
    assert_int_equal(acog_upstream_counts(f->upstream).connect_failures, 1);
    assert_int_equal(acog_upstream_counts(f->upstream).open, 0);
}

static void a_name_that_does_not_exist_is_told(void **state)
{
    struct fixture *f = *state;
    point_to(f, ACOG_VIEW("no-such-host.invalid"), 80);
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CONNECT);
    assert_non_null(strstr(f->told.why, "no-such-host.invalid"));
}

/* A lookup cannot be stopped, so a cancel must not wait for it. The guard of the test would not fire either: what is
 * tested is that the loop goes on at once. */
static void a_cancel_during_a_lookup_does_not_wait_for_it(void **state)
{
    struct fixture *f = *state;
    point_to(f, ACOG_VIEW("slow-lookup.invalid"), 80);
    send_order(f);
    (void)event_base_loop(f->base, EVLOOP_NONBLOCK);
    if (f->call != NULL) {
        cancel(f);
    }
    assert_int_equal(acog_upstream_counts(f->upstream).open, 0);
}

/* localhost is two addresses to libcurl, ::1 first, and nobody listens there: the second attempt's socket gets the
 * number of the first one's. */
static void the_second_address_of_a_name_is_tried(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    point_to(f, ACOG_VIEW("localhost"), f->provider.port);
    for (size_t i = 0; i < 20; i++) {
        make_upstream(f, 64, 75000, 1U << 20U);
        send_and_finish(f);
        assert_int_equal(f->told.ends, 1);
    }
    assert_true(holds(&f->provider.last_request, "\r\nhost: localhost:"));
}

static void a_host_that_is_more_than_a_host_goes_nowhere(void **state)
{
    struct fixture *f = *state;
    static const char *const hosts[] = {"127.0.0.1/x?", "user@127.0.0.1", "127.0.0.1:1", "a b", ""};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        point_to(f, acog_view_of(hosts[i]), f->provider.port);
        send_and_finish(f);
        assert_int_equal(f->told.cause, ACOG_CAUSE_CONNECT);
    }
    assert_int_equal(f->provider.peer_count, 0);
}

static void an_ipv6_host_is_written_in_brackets(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(listener);
        skip(); /* a machine without IPv6 */
    }
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    provider_stop(&f->provider);
    provider_listen(&f->provider, f->base, listener);
    script(f, &reply, 1);
    point_to(f, ACOG_VIEW("::1"), ntohs(address.sin6_port));
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_true(holds(&f->provider.last_request, "\r\nhost: [::1]:"));
}

/* -- unix sockets and proxies ---------------------------------------------------------------------- */

static void a_unix_socket_is_an_endpoint(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char folder[] = "/tmp/acog-upstream-XXXXXX";
    assert_non_null(mkdtemp(folder));
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    provider_stop(&f->provider);
    provider_listen(&f->provider, f->base, listener);
    script(f, &reply, 1);
    f->connection.endpoint.unix_socket = acog_view_of(address.sun_path);
    point_to(f, ACOG_VIEW("model.local"), 80);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_true(holds(&f->provider.last_request, "\r\nhost: model.local\r\n"));
    send_and_finish(f);
    assert_int_equal(f->told.reused, 1);

    make_upstream(f, 64, 75000, 1U << 20U);
    assert_int_equal(unlink(address.sun_path), 0);
    assert_int_equal(rmdir(folder), 0);
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CONNECT);
}

static void the_environments_proxy_is_not_asked(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    /* NOLINTBEGIN(concurrency-mt-unsafe): no other thread runs */
    assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
    assert_int_equal(setenv("all_proxy", "http://127.0.0.1:1", 1), 0);
    send_and_finish(f);
    assert_int_equal(unsetenv("http_proxy"), 0);
    assert_int_equal(unsetenv("all_proxy"), 0);
    /* NOLINTEND(concurrency-mt-unsafe) */
    assert_int_equal(f->told.ends, 1);
}

static void use_proxy(struct fixture *f, char *text, size_t room)
{
    int length = snprintf(text, room, "http://127.0.0.1:%u", (unsigned)f->provider.port);
    f->connection.endpoint.proxy = (struct acog_view){.ptr = text, .len = (size_t)length};
    point_to(f, ACOG_VIEW("provider.example"), 8080);
}

/* The proxy sees where to, and nothing of the request. */
static void a_configured_proxy_is_a_tunnel(void **state)
{
    struct fixture *f = *state;
    char proxy[64];
    use_proxy(f, proxy, sizeof(proxy));
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    assert_true(acog_view_starts(acog_buffer_view(&f->provider.last_request),
                                 ACOG_VIEW("CONNECT provider.example:8080 HTTP/1.1\r\n")));
    assert_false(holds(&f->provider.last_request, "sk-test"));
    assert_int_equal(f->told.connected, 0);
    struct peer *peer = &f->provider.peers[0];
    peer_send(peer, ACOG_VIEW("HTTP/1.1 200 OK\r\n\r\n"));
    run_until(f, &f->provider.requests, 2);
    assert_true(holds(&f->provider.last_request, "\r\nhost: provider.example:8080\r\n"));
    peer_send(peer, ACOG_VIEW(HELLO));
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.ends, 1);
    expect_body(f, ACOG_VIEW("hello"));
}

static void a_proxy_that_refuses_is_a_connect_failure(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")};
    char proxy[64];
    use_proxy(f, proxy, sizeof(proxy));
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CONNECT);
    assert_non_null(strstr(f->told.why, "403"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_refused_connection_is_told),
        TEST(a_name_that_does_not_exist_is_told),
        TEST(a_cancel_during_a_lookup_does_not_wait_for_it),
        TEST(the_second_address_of_a_name_is_tried),
        TEST(a_host_that_is_more_than_a_host_goes_nowhere),
        TEST(an_ipv6_host_is_written_in_brackets),
        TEST(a_unix_socket_is_an_endpoint),
        TEST(the_environments_proxy_is_not_asked),
        TEST(a_configured_proxy_is_a_tunnel),
        TEST(a_proxy_that_refuses_is_a_connect_failure),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
