/* connect_tls_test.c - connections under TLS: whom they believe, and why they do not come to stand. */
#include "fixture.h"
#include "tests/support/certificates.h"

#define BODY_BYTES (3U << 20U)
#define MANY       70 /* more than one multi handle takes */
#define HELLO      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static struct {
    char folder[64];
    char ca[128];
    char client[128];
} files;

/* What a test has besides: a folder for certificates. */
static int set_up_files(void **state)
{
    static const char template[] = "/tmp/acog-upstream-XXXXXX";
    memcpy(files.folder, template, sizeof(template));
    assert_non_null(mkdtemp(files.folder));
    (void)snprintf(files.ca, sizeof(files.ca), "%s/ca.pem", files.folder);
    (void)snprintf(files.client, sizeof(files.client), "%s/client.pem", files.folder);
    return set_up(state);
}

static int tear_down_files(void **state)
{
    (void)unlink(files.ca);
    (void)unlink(files.client);
    assert_int_equal(rmdir(files.folder), 0);
    return tear_down(state);
}

static const struct wanted authority = {
    .name = "Test CA", .authority = true, .from_s = -DAY_S, .to_s = DAY_S};

/* Serves with a certificate as wanted, signed by a CA of the test that the endpoint trusts. */
static void serve_tls(struct fixture *f, struct wanted wanted)
{
    struct identity ca = make_identity(&authority);
    wanted.issuer = &ca;
    struct identity server = make_identity(&wanted);
    write_pem(files.ca, &ca, false);
    f->provider.tls = make_server_tls(&server);
    f->connection.endpoint.tls = true;
    f->connection.endpoint.ca_file = acog_view_of(files.ca);
    forget_identity(&server);
    forget_identity(&ca);
}

static const struct wanted good = {
    .name = "provider", .alt_name = "IP:127.0.0.1", .from_s = -DAY_S, .to_s = DAY_S};

static void a_verified_server_answers_over_tls(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    serve_tls(f, good);
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
}

static void large_bodies_go_both_ways_over_tls(void **state)
{
    struct fixture *f = *state;

    char *body = acog_new(BODY_BYTES);
    for (size_t i = 0; i < BODY_BYTES; i++) {
        body[i] = (char)('a' + i % 23);
    }
    serve_tls(f, good);
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
}

static void a_pause_holds_what_is_inside_tls(void **state)
{
    struct fixture *f = *state;
    serve_tls(f, good);
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
}

/* Without TLS's own goodbye anyone on the way could have ended the answer. */
static void a_tls_answer_until_close_without_goodbye_is_a_cut(void **state)
{
    struct fixture *f = *state;
    serve_tls(f, good);
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    struct peer *peer = &f->provider.peers[0];
    peer_send(peer, ACOG_VIEW("HTTP/1.1 200 OK\r\n\r\nhello"));
    run_until(f, &f->told.bodies, 1);
    assert_int_equal(shutdown(peer->socket, SHUT_WR), 0);
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CUT);
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
    struct wanted other = good;
    other.alt_name = "DNS:other.example";
    serve_tls(f, other);
    expect_tls_failure(f, "no alternative certificate subject name matches");
}

static void an_expired_certificate_is_refused(void **state)
{
    struct fixture *f = *state;
    struct wanted expired = good;
    expired.from_s = -2 * DAY_S;
    expired.to_s = -DAY_S;
    serve_tls(f, expired);
    expect_tls_failure(f, "certificate has expired");
}

static void a_certificate_of_tomorrow_is_refused(void **state)
{
    struct fixture *f = *state;
    struct wanted early = good;
    early.from_s = DAY_S;
    early.to_s = 2 * DAY_S;
    serve_tls(f, early);
    expect_tls_failure(f, "certificate is not yet valid");
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
    struct wanted other_wanted = authority;
    other_wanted.name = "Another CA";
    serve_tls(f, good);
    struct identity other = make_identity(&other_wanted);
    write_pem(files.ca, &other, false);
    forget_identity(&other);
    expect_tls_failure(f, "unable to get local issuer certificate");
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
    serve_tls(f, good);
    SSL_CTX_set_security_level(f->provider.tls, 0);
    assert_int_equal(SSL_CTX_set_max_proto_version(f->provider.tls, TLS1_1_VERSION), 1);
    assert_int_equal(SSL_CTX_set_min_proto_version(f->provider.tls, TLS1_VERSION), 1);
    expect_tls_failure(f, "version");
}

static void a_pinned_minimum_refuses_what_is_older(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    serve_tls(f, good);
    f->connection.endpoint.tls_minimum = ACOG_TLS_1_3;
    assert_int_equal(SSL_CTX_set_max_proto_version(f->provider.tls, TLS1_2_VERSION), 1);
    expect_tls_failure(f, "version");
    assert_int_equal(SSL_CTX_set_max_proto_version(f->provider.tls, TLS1_3_VERSION), 1);
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
}

/* The clock that ends it is the engine's (connect): nobody is told of a connection before, and a cancel leaves nothing. */
static void a_handshake_that_hangs_is_not_a_connection(void **state)
{
    struct fixture *f = *state;
    f->connection.endpoint.tls = true; /* the provider speaks no TLS: it waits for a request */
    send_order(f);
    size_t waited = 0;
    while (f->provider.peer_count == 0 || f->provider.peers[0].request.len == 0) {
        assert_true(waited++ < 1000);
        (void)event_base_loop(f->base, EVLOOP_ONCE);
    }
    settle(f);
    assert_int_equal(f->told.connected, 0);
    cancel(f);
    run_until(f, &f->provider.ends, 1);
    assert_int_equal(acog_upstream_counts(f->upstream).open, 0);
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
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    const struct wanted client_wanted = {.name = "gateway", .from_s = -DAY_S, .to_s = DAY_S};
    serve_tls(f, good);
    struct identity client = make_identity(&client_wanted);
    write_pem(files.client, &client, true);
    X509_STORE *trusted = SSL_CTX_get_cert_store(f->provider.tls);
    assert_int_equal(X509_STORE_add_cert(trusted, client.certificate), 1);
    SSL_CTX_set_verify(f->provider.tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    script(f, &reply, 1);

    f->connection.endpoint.client_certificate_file = acog_view_of(files.client);
    f->connection.endpoint.client_key_file = acog_view_of(files.client);
    f->connection.endpoint.pool_key = ACOG_VIEW("with a certificate");
    send_and_finish(f);
    assert_string_equal(f->told.why, "");
    assert_int_equal(f->told.ends, 1);
    forget_identity(&client);
}

/* Under TLS 1.3 the refusal comes when the connection stands for us; it is a connection that failed all the same. */
static void expect_refused_certificate(struct fixture *f, const char *why)
{
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CONNECT);
    if (strstr(f->told.why, why) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", f->told.why, why);
    }
    assert_int_equal(f->provider.requests, 0);
    assert_int_equal(acog_upstream_counts(f->upstream).open, 0);
    assert_int_equal(acog_upstream_counts(f->upstream).connect_failures, 1);
}

static void want_client_certificate(struct fixture *f, int newest_version)
{
    SSL_CTX_set_verify(f->provider.tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    assert_int_equal(SSL_CTX_set_max_proto_version(f->provider.tls, newest_version), 1);
}

static void a_missing_client_certificate_is_told(void **state)
{
    struct fixture *f = *state;
    serve_tls(f, good);
    want_client_certificate(f, TLS1_3_VERSION);
    expect_refused_certificate(f, "alert certificate required");
}

static void a_missing_client_certificate_is_told_by_tls_1_2(void **state)
{
    struct fixture *f = *state;
    serve_tls(f, good);
    want_client_certificate(f, TLS1_2_VERSION);
    expect_refused_certificate(f, "alert handshake failure");
}

static void a_refused_client_certificate_is_told(void **state)
{
    struct fixture *f = *state;
    const struct wanted client_wanted = {.name = "gateway", .from_s = -DAY_S, .to_s = DAY_S};
    struct identity client = make_identity(&client_wanted);
    serve_tls(f, good);
    write_pem(files.client, &client, true);
    forget_identity(&client);
    f->connection.endpoint.client_certificate_file = acog_view_of(files.client);
    f->connection.endpoint.client_key_file = acog_view_of(files.client);
    want_client_certificate(f, TLS1_3_VERSION);
    expect_refused_certificate(f, "alert unknown ca");
}

/* OpenSSL would ask for it at the terminal, and the worker would wait. */
static void a_client_key_with_a_password_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct wanted client_wanted = {.name = "gateway", .from_s = -DAY_S, .to_s = DAY_S};
    struct identity client = make_identity(&client_wanted);
    serve_tls(f, good);
    write_pem(files.client, &client, false);
    FILE *file = fopen(files.client, "a");
    assert_non_null(file);
    assert_int_equal(
        PEM_write_PKCS8PrivateKey(file, client.key, EVP_aes_128_cbc(), "secret", 6, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
    forget_identity(&client);
    f->connection.endpoint.client_certificate_file = acog_view_of(files.client);
    f->connection.endpoint.client_key_file = acog_view_of(files.client);
    expect_tls_failure(f, files.client);
}

/* libcurl keeps the store of the first connection of a multi handle, and would believe it for the next one. */
static void one_ca_file_is_not_believed_for_another(void **state)
{
    struct fixture *f = *state;
    struct wanted other_wanted = authority;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    serve_tls(f, good);
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    other_wanted.name = "Another CA";
    struct identity other = make_identity(&other_wanted);
    write_pem(files.client, &other, false);
    forget_identity(&other);
    f->connection.endpoint.ca_file = acog_view_of(files.client);
    f->connection.endpoint.pool_key = ACOG_VIEW("another authority");
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CONNECT);
    assert_non_null(strstr(f->told.why, "unable to get local issuer certificate"));
}

static void an_https_proxy_is_verified_with_the_ca_file(void **state)
{
    struct fixture *f = *state;
    char proxy[64];
    serve_tls(f, good);
    int length = snprintf(proxy, sizeof(proxy), "https://127.0.0.1:%u", (unsigned)f->provider.port);
    f->connection.endpoint.proxy = (struct acog_view){.ptr = proxy, .len = (size_t)length};
    point_to(f, ACOG_VIEW("provider.example"), 8080);
    f->connection.endpoint.tls = false;
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    struct peer *peer = &f->provider.peers[0];
    peer_send(peer, ACOG_VIEW("HTTP/1.1 200 OK\r\n\r\n"));
    run_until(f, &f->provider.requests, 2);
    peer_send(peer, ACOG_VIEW(HELLO));
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.ends, 1);
    f->connection.endpoint.ca_file = (struct acog_view){0};
    f->connection.endpoint.pool_key = ACOG_VIEW("the system's");
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CONNECT);
    assert_non_null(strstr(f->told.why, "unable to get local issuer certificate"));
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
    struct acog_buffer seen;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    acog_buffer_init(&seen, 256);
    serve_tls(f, good);
    SSL_CTX_set_alpn_select_cb(f->provider.tls, choose_protocol, &seen);
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_true(acog_view_equal(acog_buffer_view(&seen), ACOG_VIEW("\x08http/1.1")));
    acog_buffer_fini(&seen);
}

static void many_tls_connections_live_beside_new_ones(void **state)
{
    struct fixture *f = *state;

    struct fixture *users = acog_new(MANY * sizeof(*users));
    serve_tls(f, good);
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
}

#define TLS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_files, tear_down_files)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TLS_TEST(a_verified_server_answers_over_tls),
        TLS_TEST(large_bodies_go_both_ways_over_tls),
        TLS_TEST(a_pause_holds_what_is_inside_tls),
        TLS_TEST(a_tls_answer_until_close_without_goodbye_is_a_cut),
        TLS_TEST(a_certificate_for_another_host_is_refused),
        TLS_TEST(an_expired_certificate_is_refused),
        TLS_TEST(a_certificate_of_tomorrow_is_refused),
        TLS_TEST(a_self_signed_certificate_is_refused),
        TLS_TEST(another_authority_than_the_ca_files_is_refused),
        TLS_TEST(a_ca_file_that_is_none_is_told),
        TLS_TEST(old_tls_is_refused),
        TLS_TEST(a_pinned_minimum_refuses_what_is_older),
        TLS_TEST(a_handshake_that_hangs_is_not_a_connection),
        TLS_TEST(a_plain_server_on_a_tls_port_is_told),
        TLS_TEST(a_client_certificate_is_shown),
        TLS_TEST(a_missing_client_certificate_is_told),
        TLS_TEST(a_missing_client_certificate_is_told_by_tls_1_2),
        TLS_TEST(a_refused_client_certificate_is_told),
        TLS_TEST(a_client_key_with_a_password_is_refused),
        TLS_TEST(one_ca_file_is_not_believed_for_another),
        TLS_TEST(an_https_proxy_is_verified_with_the_ca_file),
        TLS_TEST(only_http_1_1_is_offered),
        TLS_TEST(many_tls_connections_live_beside_new_ones),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
