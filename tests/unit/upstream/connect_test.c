/* connect_test.c - how a connection comes to stand, and why it does not. */
#include "fixture.h"
#include "tests/support/certificates.h"

#define BODY_BYTES (3U << 20U)
#define MANY       70 /* more than one multi handle takes */
#define HELLO      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

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

/* -- TLS ------------------------------------------------------------------------------------------- */

struct tls_files {
    char folder[64];
    char ca[128];
    char client[128];
};

static struct tls_files make_folder(void)
{
    struct tls_files files = {.folder = "/tmp/acog-upstream-XXXXXX"};
    assert_non_null(mkdtemp(files.folder));
    (void)snprintf(files.ca, sizeof(files.ca), "%s/ca.pem", files.folder);
    (void)snprintf(files.client, sizeof(files.client), "%s/client.pem", files.folder);
    return files;
}

static void remove_folder(const struct tls_files *files)
{
    (void)unlink(files->ca);
    (void)unlink(files->client);
    assert_int_equal(rmdir(files->folder), 0);
}

static const struct wanted authority = {
    .name = "Test CA", .authority = true, .from_s = -DAY_S, .to_s = DAY_S};

/* Serves with a certificate as wanted, signed by a CA of the test that the endpoint trusts. */
static void serve_tls(struct fixture *f, struct wanted wanted, const struct tls_files *files)
{
    struct identity ca = make_identity(&authority);
    wanted.issuer = &ca;
    struct identity server = make_identity(&wanted);
    write_pem(files->ca, &ca, false);
    f->provider.tls = make_server_tls(&server);
    f->connection.endpoint.tls = true;
    f->connection.endpoint.ca_file = acog_view_of(files->ca);
    forget_identity(&server);
    forget_identity(&ca);
}

static const struct wanted good = {
    .name = "provider", .alt_name = "IP:127.0.0.1", .from_s = -DAY_S, .to_s = DAY_S};

static void a_verified_server_answers_over_tls(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = make_folder();
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    serve_tls(f, good, &files);
    script(f, &reply, 1);
    send_and_finish(f);
    assert_string_equal(f->told.why, "");
    assert_int_equal(f->told.ends, 1);
    expect_body(f, ACOG_VIEW("hello"));
    settle(f); /* session tickets must not look like surplus */
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.reused, 1);
    assert_int_equal(f->provider.peer_count, 1);
    peer_close(&f->provider.peers[0], false);
    settle(f);
    assert_int_equal(acog_upstream_counts(f->upstream).open, 0);
    remove_folder(&files);
}

static void large_bodies_go_both_ways_over_tls(void **state)
{
    struct fixture *f = *state;

    struct tls_files files = make_folder();
    char *body = acog_new(BODY_BYTES);
    for (size_t i = 0; i < BODY_BYTES; i++) {
        body[i] = (char)('a' + i % 23);
    }
    serve_tls(f, good, &files);
    f->order.pieces[0] = (struct acog_view){.ptr = body, .len = 100};
    f->order.pieces[1] = (struct acog_view){.ptr = body + 100, .len = BODY_BYTES - 200};
    f->order.pieces[2] = (struct acog_view){.ptr = body + BODY_BYTES - 100, .len = 100};
    f->order.piece_count = 3;
    f->order.body_bytes = BODY_BYTES;
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    const struct acog_buffer *request = &f->provider.last_request;
    assert_memory_equal(request->ptr + (request->len - BODY_BYTES), body, BODY_BYTES);
    struct peer *peer = &f->provider.peers[0];
    peer_send(peer, ACOG_VIEW("HTTP/1.1 200 OK\r\nContent-Length: 3145728\r\n\r\n"));
    for (size_t at = 0; at < BODY_BYTES; at += 65536) {
        peer_send(peer, (struct acog_view){.ptr = body + at, .len = 65536});
        run_until(f, &f->told.body.len, at + 1);
        settle(f);
    }
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.ends, 1);
    expect_body(f, (struct acog_view){.ptr = body, .len = BODY_BYTES});
    acog_free(body);
    remove_folder(&files);
}

static void a_pause_holds_what_is_inside_tls(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = make_folder();
    serve_tls(f, good, &files);
    f->pause_at_bodies = 1;
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    struct peer *peer = &f->provider.peers[0];
    peer_send(peer, ACOG_VIEW("HTTP/1.1 200 OK\r\n\r\nhel"));
    run_until(f, &f->told.bodies, 1);
    peer_send(peer, ACOG_VIEW("lo"));
    peer_close(peer, false);
    settle(f);
    expect_body(f, ACOG_VIEW("hel"));
    acog_upstream_pause(f->call, false);
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.ends, 1);
    expect_body(f, ACOG_VIEW("hello"));
    remove_folder(&files);
}

/* Without TLS's own goodbye anyone on the way could have ended the answer. */
static void a_tls_answer_until_close_without_goodbye_is_a_cut(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = make_folder();
    serve_tls(f, good, &files);
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    struct peer *peer = &f->provider.peers[0];
    peer_send(peer, ACOG_VIEW("HTTP/1.1 200 OK\r\n\r\nhello"));
    run_until(f, &f->told.bodies, 1);
    assert_int_equal(shutdown(peer->socket, SHUT_WR), 0);
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CUT);
    remove_folder(&files);
}

static void expect_tls_failure(struct fixture *f, const char *why)
{
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CONNECT);
    if (strstr(f->told.why, why) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", f->told.why, why);
    }
    assert_int_equal(f->provider.requests, 0);
    assert_int_equal(acog_upstream_counts(f->upstream).open, 0);
}

static void a_certificate_for_another_host_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = make_folder();
    struct wanted other = good;
    other.alt_name = "DNS:other.example";
    serve_tls(f, other, &files);
    expect_tls_failure(f, "no alternative certificate subject name matches");
    remove_folder(&files);
}

static void an_expired_certificate_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = make_folder();
    struct wanted expired = good;
    expired.from_s = -2 * DAY_S;
    expired.to_s = -DAY_S;
    serve_tls(f, expired, &files);
    expect_tls_failure(f, "certificate has expired");
    remove_folder(&files);
}

static void a_self_signed_certificate_is_refused(void **state)
{
    struct fixture *f = *state;
    struct identity server = make_identity(&good);
    f->provider.tls = make_server_tls(&server);
    f->connection.endpoint.tls = true;
    forget_identity(&server);
    expect_tls_failure(f, "self-signed certificate");
}

static void another_authority_than_the_ca_files_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = make_folder();
    struct wanted other_wanted = authority;
    other_wanted.name = "Another CA";
    serve_tls(f, good, &files);
    struct identity other = make_identity(&other_wanted);
    write_pem(files.ca, &other, false);
    forget_identity(&other);
    expect_tls_failure(f, "unable to get local issuer certificate");
    remove_folder(&files);
}

static void a_ca_file_that_is_none_is_told(void **state)
{
    struct fixture *f = *state;
    f->connection.endpoint.tls = true;
    f->connection.endpoint.ca_file = ACOG_VIEW("/nonexistent/ca.pem");
    expect_tls_failure(f, "/nonexistent/ca.pem");
}

static void old_tls_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = make_folder();
    serve_tls(f, good, &files);
    SSL_CTX_set_security_level(f->provider.tls, 0);
    assert_int_equal(SSL_CTX_set_max_proto_version(f->provider.tls, TLS1_1_VERSION), 1);
    assert_int_equal(SSL_CTX_set_min_proto_version(f->provider.tls, TLS1_VERSION), 1);
    expect_tls_failure(f, "version");
    remove_folder(&files);
}

static void a_plain_server_on_a_tls_port_is_told(void **state)
{
    struct fixture *f = *state;
    f->connection.endpoint.tls = true;
    send_order(f);
    size_t waited = 0;
    while (f->provider.peer_count == 0 || f->provider.peers[0].request.len == 0) {
        assert_true(waited++ < 1000);
        (void)event_base_loop(f->base, EVLOOP_ONCE);
    }
    peer_send(&f->provider.peers[0], ACOG_VIEW("HTTP/1.1 400 Bad Request\r\n\r\n"));
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CONNECT);
}

static void a_client_certificate_is_shown(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = make_folder();
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    const struct wanted client_wanted = {.name = "gateway", .from_s = -DAY_S, .to_s = DAY_S};
    serve_tls(f, good, &files);
    struct identity client = make_identity(&client_wanted);
    write_pem(files.client, &client, true);
    X509_STORE *trusted = SSL_CTX_get_cert_store(f->provider.tls);
    assert_int_equal(X509_STORE_add_cert(trusted, client.certificate), 1);
    SSL_CTX_set_verify(f->provider.tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    script(f, &reply, 1);

    send_and_finish(f);
    assert_int_equal(f->told.ends, 0); /* TLS 1.3 tells it after the handshake */

    f->connection.endpoint.client_certificate_file = acog_view_of(files.client);
    f->connection.endpoint.client_key_file = acog_view_of(files.client);
    f->connection.endpoint.pool_key = ACOG_VIEW("with a certificate");
    send_and_finish(f);
    assert_string_equal(f->told.why, "");
    assert_int_equal(f->told.ends, 1);
    forget_identity(&client);
    remove_folder(&files);
}

/* Keeps what the client offers. */
static int choose_protocol(SSL *tls, const unsigned char **out, unsigned char *out_length,
                           const unsigned char *offered, unsigned offered_length, void *user)
{
    struct acog_buffer *seen = user;
    (void)tls;
    assert_int_equal(acog_buffer_append(seen, (struct acog_view){.ptr = (const char *)offered,
                                                                 .len = offered_length}),
                     ACOG_OK);
    *out = offered + 1;
    *out_length = offered[0];
    return SSL_TLSEXT_ERR_OK;
}

static void only_http_1_1_is_offered(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = make_folder();
    struct acog_buffer seen;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    acog_buffer_init(&seen, 256);
    serve_tls(f, good, &files);
    SSL_CTX_set_alpn_select_cb(f->provider.tls, choose_protocol, &seen);
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_true(acog_view_equal(acog_buffer_view(&seen), ACOG_VIEW("\x08http/1.1")));
    acog_buffer_fini(&seen);
    remove_folder(&files);
}

static void many_tls_connections_live_beside_new_ones(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = make_folder();

    struct fixture *users = acog_new(MANY * sizeof(*users));
    serve_tls(f, good, &files);
    for (size_t i = 0; i < MANY; i++) {
        users[i] = (struct fixture){.upstream = f->upstream, .order = f->order};
        acog_buffer_init(&users[i].told.headers, 65536);
        acog_buffer_init(&users[i].told.body, 65536);
        users[i].call = acog_upstream_send(f->upstream, &users[i].order, &told_events, &users[i]);
        run_until(f, &f->provider.requests, i + 1);
    }
    for (size_t i = 0; i < MANY; i++) {
        peer_send(&f->provider.peers[i], ACOG_VIEW(HELLO));
        run_until(f, &users[i].told.finished, 1);
        assert_int_equal(users[i].told.ends, 1);
        acog_buffer_fini(&users[i].told.headers);
        acog_buffer_fini(&users[i].told.body);
    }
    acog_free(users);
    remove_folder(&files);
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
        TEST(a_verified_server_answers_over_tls),
        TEST(large_bodies_go_both_ways_over_tls),
        TEST(a_pause_holds_what_is_inside_tls),
        TEST(a_tls_answer_until_close_without_goodbye_is_a_cut),
        TEST(a_certificate_for_another_host_is_refused),
        TEST(an_expired_certificate_is_refused),
        TEST(a_self_signed_certificate_is_refused),
        TEST(another_authority_than_the_ca_files_is_refused),
        TEST(a_ca_file_that_is_none_is_told),
        TEST(old_tls_is_refused),
        TEST(a_plain_server_on_a_tls_port_is_told),
        TEST(a_client_certificate_is_shown),
        TEST(only_http_1_1_is_offered),
        TEST(many_tls_connections_live_beside_new_ones),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
