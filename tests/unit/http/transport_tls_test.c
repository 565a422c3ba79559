/* transport_tls_test.c - the server under TLS, over real sockets: handshakes, bytes, hang-ups and goodbyes. */
#include "connection.h"
#include "tests/support/certificates.h"
#include "tests/support/check.h"
#include "tests/unit/http/loopback.h"

#include <openssl/err.h>

#define BODY_BYTES       ((size_t)3145728)
#define PIPELINED        2000
#define PIPELINED_RECORD 16000 /* does not divide what the server keeps */
#define STREAM_BYTES \
    ((size_t)12 << 20) /* more than the kernel keeps for a client that does not read */

struct scene {
    struct world world;
    struct acog_http_server_options options;
    struct acog_tls_rules rules;
    SSL_CTX *context; /* of clients */
    struct identity authority;
    struct identity stranger; /* of another CA */
    struct identity friend;   /* of ours */
    char folder[64];
    char pair[128];
    char ca[128];
};

static const struct wanted server_wanted = {
    .name = "server", .alt_name = "IP:127.0.0.1", .from_s = -DAY_S, .to_s = DAY_S};

static int set_up(void **state)
{
    static const char template[] = "/tmp/acog-tls-XXXXXX";
    const struct wanted ca = {.name = "CA", .authority = true, .from_s = -DAY_S, .to_s = DAY_S};
    struct wanted wanted = server_wanted;
    struct scene *scene = acog_new(sizeof(*scene));
    memcpy(scene->folder, template, sizeof(template));
    assert_non_null(mkdtemp(scene->folder));
    (void)snprintf(scene->pair, sizeof(scene->pair), "%s/pair.pem", scene->folder);
    (void)snprintf(scene->ca, sizeof(scene->ca), "%s/ca.pem", scene->folder);
    scene->authority = make_identity(&ca);
    wanted.name = "friend";
    wanted.alt_name = NULL;
    scene->stranger = make_identity(&wanted);
    wanted.issuer = &scene->authority;
    scene->friend = make_identity(&wanted);
    wanted = server_wanted;
    wanted.issuer = &scene->authority;
    struct identity server = make_identity(&wanted);
    write_pem(scene->pair, &server, true);
    write_pem(scene->ca, &scene->authority, false);
    forget_identity(&server);
    scene->rules = (struct acog_tls_rules){.certificate_file = acog_view_of(scene->pair),
                                           .key_file = acog_view_of(scene->pair)};
    scene->context = SSL_CTX_new(TLS_client_method());
    assert_int_equal(SSL_CTX_load_verify_file(scene->context, scene->ca), 1);
    SSL_CTX_set_verify(scene->context, SSL_VERIFY_PEER, NULL);
    scene->options = world_options(&scene->world);
    *state = scene;
    return 0;
}

static void start(struct scene *scene)
{
    struct acog_error error = {0};
    scene->world.tls = acog_http_tls_new(&scene->rules, 0, &error);
    assert_string_equal(error.text, "");
    world_open(&scene->world, &scene->options);
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    if (scene->world.base != NULL) {
        world_close(&scene->world);
        acog_http_tls_free(&scene->world.tls);
    }
    SSL_CTX_free(scene->context);
    forget_identity(&scene->authority);
    forget_identity(&scene->stranger);
    forget_identity(&scene->friend);
    (void)unlink(scene->pair);
    (void)unlink(scene->ca);
    assert_int_equal(rmdir(scene->folder), 0);
    acog_free(scene);
    return 0;
}

static void show(struct scene *scene, const struct identity *identity)
{
    assert_int_equal(SSL_CTX_use_certificate(scene->context, identity->certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(scene->context, identity->key), 1);
}

static void open_and_shake(struct scene *scene, struct client *client)
{
    client_open_tls(client, &scene->world, scene->context);
    WORLD_UNTIL(&scene->world, SSL_is_init_finished(client->tls) || client->closed);
    assert_true(SSL_is_init_finished(client->tls));
}

static void assert_serves(struct scene *scene)
{
    struct client client;
    open_and_shake(scene, &client);
    client_send(&client, GET("/good"));
    WORLD_UNTIL(&scene->world, client_has_end(&client, "/good"));
    client_close(&client);
}

/* A client that the server must refuse, for a reason with `why` in it. */
static void assert_refused(struct scene *scene, const char *why)
{
    struct world *world = &scene->world;
    struct client client;
    unsigned before = world->requests;
    client_open_tls(&client, world, scene->context);
    WORLD_UNTIL(world, client.closed);
    WORLD_UNTIL(world, world->tls_refused == 1);
    if (strstr(world->tls_why, why) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", world->tls_why, why);
    }
    assert_int_equal(world->requests, before);
    client_close(&client);
    WORLD_UNTIL(world, acog_http_server_connections(world->server) == 0);
    ERR_clear_error();
}

/* -- handshakes --------------------------------------------------------------------------------------- */

static void a_verified_server_answers(void **state)
{
    struct scene *scene = *state;
    struct client client;
    start(scene);
    open_and_shake(scene, &client);
    assert_int_equal(SSL_get_verify_result(client.tls), X509_V_OK);
    assert_string_equal(SSL_get_version(client.tls), "TLSv1.3");
    for (unsigned i = 1; i <= 3; i++) {
        client_forget(&client);
        client_send(&client, GET("/again"));
        WORLD_UNTIL(&scene->world, client_has_end(&client, "/again"));
        assert_int_equal(scene->world.requests, i);
    }
    client_close(&client);
}

static void tls_1_2_is_spoken_with_forward_secrecy_and_aead_alone(void **state)
{
    struct scene *scene = *state;
    struct client client;
    start(scene);
    assert_int_equal(SSL_CTX_set_max_proto_version(scene->context, TLS1_2_VERSION), 1);
    open_and_shake(scene, &client);
    assert_string_equal(SSL_get_version(client.tls), "TLSv1.2");
    const SSL_CIPHER *cipher = SSL_get_current_cipher(client.tls);
    assert_int_equal(SSL_CIPHER_is_aead(cipher), 1);
    assert_int_equal(SSL_CIPHER_get_kx_nid(cipher), NID_kx_ecdhe);
    client_close(&client);
    assert_int_equal(SSL_CTX_set_cipher_list(scene->context, "ECDHE+AES:!AESGCM:!AESCCM"), 1);
    assert_refused(scene, "no shared cipher");
}

static void tls_1_1_is_refused(void **state)
{
    struct scene *scene = *state;
    start(scene);
    SSL_CTX_set_security_level(scene->context, 0);
    assert_int_equal(SSL_CTX_set_min_proto_version(scene->context, TLS1_VERSION), 1);
    assert_int_equal(SSL_CTX_set_max_proto_version(scene->context, TLS1_1_VERSION), 1);
    assert_refused(scene, "unsupported protocol");
}

static void the_minimum_can_be_tls_1_3(void **state)
{
    struct scene *scene = *state;
    scene->rules.minimum = ACOG_TLS_1_3;
    start(scene);
    assert_serves(scene);
    assert_int_equal(SSL_CTX_set_max_proto_version(scene->context, TLS1_2_VERSION), 1);
    assert_refused(scene, "unsupported protocol");
}

static void renegotiation_is_refused(void **state)
{
    struct scene *scene = *state;
    struct client client;
    start(scene);
    assert_int_equal(SSL_CTX_set_max_proto_version(scene->context, TLS1_2_VERSION), 1);
    open_and_shake(scene, &client);
    (void)SSL_renegotiate(client.tls);
    (void)SSL_do_handshake(client.tls);
    WORLD_UNTIL(&scene->world, client.closed);
    assert_int_equal(ERR_GET_REASON(ERR_peek_last_error()), SSL_R_NO_RENEGOTIATION);
    client_close(&client);
    ERR_clear_error();
    assert_serves(scene);
}

static void http_1_1_is_chosen_and_others_are_refused(void **state)
{
    struct scene *scene = *state;
    struct client client;
    const unsigned char *chosen = NULL;
    unsigned length = 0;
    start(scene);
    assert_int_equal(
        SSL_CTX_set_alpn_protos(scene->context, (const unsigned char *)"\x02h2\x08http/1.1", 12),
        0);
    open_and_shake(scene, &client);
    SSL_get0_alpn_selected(client.tls, &chosen, &length);
    assert_int_equal(length, 8);
    assert_memory_equal(chosen, "http/1.1", 8);
    client_close(&client);
    assert_int_equal(SSL_CTX_set_alpn_protos(scene->context, (const unsigned char *)"\x02h2", 3),
                     0);
    assert_refused(scene, "no application protocol");
}

static void plain_http_is_closed_with_a_reason(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    start(scene);
    client_open(&client, world);
    client_send(&client, GET("/x"));
    WORLD_UNTIL(world, client.closed);
    assert_int_equal(world->tls_refused, 1);
    assert_non_null(strstr(world->tls_why, "plain HTTP"));
    assert_int_equal(world->requests, 0);
    client_close(&client);
}

static void a_slow_handshake_is_cut_by_head_ms(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    scene->options.head_ms = 20;
    start(scene);
    client_open(&client, world);
    WORLD_UNTIL(world, client.closed);
    assert_int_equal(world->tls_refused, 1);
    assert_non_null(strstr(world->tls_why, "in time"));
    client_close(&client);
}

static void a_client_that_leaves_in_a_handshake_is_no_refusal(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    start(scene);
    client_open_tls(&client, world, scene->context);
    WORLD_UNTIL(world, acog_http_server_connections(world->server) == 1);
    client_close(&client);
    WORLD_UNTIL(world, acog_http_server_connections(world->server) == 0);
    assert_int_equal(world->tls_refused, 0);
    assert_serves(scene);
}

static void a_client_above_the_limit_is_closed(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client clients[2];
    scene->options.connections_max = 1;
    start(scene);
    open_and_shake(scene, &clients[0]);
    client_open_tls(&clients[1], world, scene->context);
    WORLD_UNTIL(world, clients[1].closed);
    assert_int_equal(clients[1].got.len, 0);
    client_close(&clients[0]);
    client_close(&clients[1]);
    ERR_clear_error();
}

static void a_session_is_resumed(void **state)
{
    struct scene *scene = *state;
    struct client client;
    start(scene);
    assert_int_equal(SSL_CTX_set_max_proto_version(scene->context, TLS1_2_VERSION), 1);
    open_and_shake(scene, &client);
    SSL_SESSION *session = SSL_get1_session(client.tls);
    SSL_set_shutdown(client.tls, SSL_SENT_SHUTDOWN); /* else OpenSSL takes it for a broken one */
    client_close(&client);
    client_open(&client, &scene->world);
    assert_int_equal(fcntl(client.fd, F_SETFL, O_NONBLOCK), 0);
    client.tls = SSL_new(scene->context);
    assert_int_equal(SSL_set_session(client.tls, session), 1);
    SSL_SESSION_free(session);
    assert_int_equal(SSL_set_fd(client.tls, client.fd), 1);
    SSL_set_connect_state(client.tls);
    (void)SSL_do_handshake(client.tls);
    WORLD_UNTIL(&scene->world, SSL_is_init_finished(client.tls));
    assert_int_equal(SSL_session_reused(client.tls), 1);
    client_close(&client);
}

/* -- client certificates ------------------------------------------------------------------------------ */

static void use_client_certificates(struct scene *scene, enum acog_client_certificates wanted)
{
    scene->rules.client_certificates = wanted;
    scene->rules.client_ca_file = acog_view_of(scene->ca);
    start(scene);
}

static void a_required_client_certificate_must_come(void **state)
{
    struct scene *scene = *state;
    use_client_certificates(scene, ACOG_CLIENT_CERTIFICATES_REQUIRED);
    assert_refused(scene, "peer did not return a certificate");
}

static void a_required_client_certificate_must_be_of_the_ca(void **state)
{
    struct scene *scene = *state;
    use_client_certificates(scene, ACOG_CLIENT_CERTIFICATES_REQUIRED);
    show(scene, &scene->friend);
    assert_serves(scene);
    show(scene, &scene->stranger);
    assert_refused(scene, "self-signed certificate");
}

static void an_expired_client_certificate_is_refused(void **state)
{
    struct scene *scene = *state;
    const struct wanted wanted = {
        .name = "late", .from_s = -2 * DAY_S, .to_s = -DAY_S, .issuer = &scene->authority};
    struct identity late = make_identity(&wanted);
    use_client_certificates(scene, ACOG_CLIENT_CERTIFICATES_REQUIRED);
    show(scene, &late);
    forget_identity(&late);
    assert_refused(scene, "certificate has expired");
}

static void an_optional_client_certificate_may_be_missing(void **state)
{
    struct scene *scene = *state;
    use_client_certificates(scene, ACOG_CLIENT_CERTIFICATES_OPTIONAL);
    assert_serves(scene);
    show(scene, &scene->friend);
    assert_serves(scene);
}

static void an_optional_client_certificate_may_not_be_a_strangers(void **state)
{
    struct scene *scene = *state;
    use_client_certificates(scene, ACOG_CLIENT_CERTIFICATES_OPTIONAL);
    show(scene, &scene->stranger);
    assert_refused(scene, "self-signed certificate");
}

/* -- bytes -------------------------------------------------------------------------------------------- */

static char *make_large(size_t bytes)
{
    char *large = acog_new(bytes);
    for (size_t i = 0; i < bytes; i++) {
        large[i] = (char)('a' + (i * 31 + i / 251) % 26);
    }
    return large;
}

static void expect_chunks(const struct client *client, const char *bytes, size_t count)
{
    struct acog_view got = acog_buffer_view(&client->got);
    size_t at = acog_view_find(got, ACOG_VIEW("\r\n\r\n")) + 4;
    size_t seen = 0;
    while (seen < count) {
        size_t size = strtoul(got.ptr + at, NULL, 16);
        assert_true(size > 0);
        at += acog_view_find(acog_view_slice(got, at, got.len), ACOG_VIEW("\r\n")) + 2;
        assert_memory_equal(got.ptr + at, bytes + seen, size);
        at += size + 2;
        seen += size;
    }
    assert_int_equal(seen, count);
    assert_string_equal(got.ptr + at, "0\r\n\r\n");
}

/* Small and large pieces, through a client that stops reading in between. */
static void a_large_streamed_reply_arrives_byte_for_byte(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    char *large = make_large(STREAM_BYTES);
    size_t sent = 0;
    start(scene);
    open_and_shake(scene, &client);
    struct acog_http_stream *stream = client_hold(world, &client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    client_stop_reading(&client);
    for (size_t i = 0; sent < STREAM_BYTES; i++) {
        static const size_t sizes[] = {1, 900, 17000, 3, 16384, 70000, 5000};
        size_t size = sizes[i % (sizeof(sizes) / sizeof(sizes[0]))];
        size = size < STREAM_BYTES - sent ? size : STREAM_BYTES - sent;
        acog_http_reply_data(stream, (struct acog_view){.ptr = large + sent, .len = size});
        sent += size;
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
        if (acog_http_reply_full(stream)) {
            unsigned before = world->drained;
            client_read_on(&client);
            WORLD_UNTIL(world, world->drained > before);
            client_stop_reading(&client);
        }
    }
    assert_true(world->drained > 0);
    client_read_on(&client);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, client_has_end(&client, "\r\n0\r\n\r\n"));
    (void)client_text(&client);
    expect_chunks(&client, large, STREAM_BYTES);
    acog_free(large);
    client_close(&client);
}

static void a_large_body_arrives_byte_for_byte(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    char *large = make_large(BODY_BYTES);
    size_t sent = 0;
    start(scene);
    open_and_shake(scene, &client);
    client_send(&client, POST("/echo", "3145728"));
    while (sent < BODY_BYTES) {
        size_t size = BODY_BYTES - sent < 16384 ? BODY_BYTES - sent : 16384;
        sent += client_try_send(&client, (struct acog_view){.ptr = large + sent, .len = size});
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    WORLD_UNTIL(world, client.got.len > BODY_BYTES);
    struct acog_view got = acog_buffer_view(&client.got);
    size_t at = acog_view_find(got, ACOG_VIEW("\r\n\r\n")) + 4;
    WORLD_UNTIL(world, client.got.len >= at + 5 + BODY_BYTES);
    assert_memory_equal(client.got.ptr + at, "/echo", 5);
    assert_memory_equal(client.got.ptr + at + 5, large, BODY_BYTES);
    acog_free(large);
    client_close(&client);
}

static void pipelined_requests_in_one_record_are_served_in_order(void **state)
{
    struct scene *scene = *state;
    struct client client;
    start(scene);
    open_and_shake(scene, &client);
    client_send(&client, GET("/one") GET("/two") POST("/three", "5") "hello" GET("/four"));
    WORLD_UNTIL(&scene->world, client_has_end(&client, "/four"));
    assert_string_equal(world_told(&scene->world), "/one\n/two\n/three\n/four\n");
    assert_true(client_has(&client, "/threehello"));
    client_close(&client);
}

/* Sends `count` bytes in records of `size`. */
static void send_records(struct world *world, struct client *client, const char *bytes,
                         size_t count, size_t size)
{
    size_t sent = 0;
    while (sent < count) {
        size_t left = count - sent;
        sent += client_try_send(
            client, (struct acog_view){.ptr = bytes + sent, .len = left < size ? left : size});
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
}

/* The body's place takes the body alone; the next request of the record is then where no event of the socket tells. */
static void a_request_behind_a_body_in_its_record_is_seen(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    start(scene);
    open_and_shake(scene, &client);
    client_send(&client, POST("/body", "10"));
    world_rest(world);
    client_send(&client, "0123456789" GET("/next"));
    WORLD_UNTIL(world, client_has_end(&client, "/next"));
    assert_true(client_has(&client, "/body0123456789"));
    client_close(&client);
}

/* The server reads no more than it keeps while it serves one. The rest of the last record waits inside TLS, with the
 * socket empty. */
static void pipelining_over_its_limit_waits_inside_tls(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    static const char request[] = GET("/fourteen-byte");
    const size_t length = sizeof(request) - 1;
    char *all = acog_new(PIPELINED * length);
    for (size_t i = 0; i < PIPELINED; i++) {
        memcpy(all + i * length, request, length);
    }
    assert_true(PIPELINED * length > ACOG_HTTP_PIPELINE_BYTES_MAX);
    assert_true(PIPELINED * length - ACOG_HTTP_PIPELINE_BYTES_MAX < PIPELINED_RECORD);
    start(scene);
    open_and_shake(scene, &client);
    struct acog_http_stream *stream = client_hold(world, &client);
    send_records(world, &client, all, PIPELINED * length, PIPELINED_RECORD);
    WORLD_UNTIL(world, stream->connection->reading == ACOG_READING_PAUSED);
    assert_int_equal(world->requests, 1);
    acog_http_reply_head(stream, 200, NULL, 0, 0);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, world->requests == PIPELINED + 1);
    acog_free(all);
    client_close(&client);
}

/* -- ends --------------------------------------------------------------------------------------------- */

static void a_hang_up_is_seen_while_a_request_is_served(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    start(scene);
    open_and_shake(scene, &client);
    (void)client_hold(world, &client);
    (void)SSL_shutdown(client.tls); /* the goodbye alone, and the socket stays */
    WORLD_UNTIL(world, world->gone == 1);
    client_close(&client);
    open_and_shake(scene, &client);
    (void)client_hold(world, &client);
    client_close(&client); /* without a goodbye */
    WORLD_UNTIL(world, world->gone == 2);
    open_and_shake(scene, &client);
    (void)client_hold(world, &client);
    client_reset(&client);
    WORLD_UNTIL(world, world->gone == 3);
}

static void a_reply_that_closes_ends_with_a_goodbye(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    start(scene);
    open_and_shake(scene, &client);
    client_send(&client, "GET /last HTTP/1.0\r\nHost: a\r\n\r\n");
    WORLD_UNTIL(world, client.closed);
    assert_true(client.goodbye);
    assert_true(client_has_end(&client, "/last"));
    client_close(&client);
    WORLD_UNTIL(world, acog_http_server_connections(world->server) == 0);
}

/* HTTP/1.0 takes the end of the connection for the end of the body: a goodbye would say that it is whole. */
static void an_aborted_reply_ends_without_a_goodbye(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    start(scene);
    open_and_shake(scene, &client);
    client_send(&client, "GET /hold HTTP/1.0\r\nHost: a\r\n\r\n");
    WORLD_UNTIL(world, world->held_count == 1);
    acog_http_reply_head(world->held[0], 200, NULL, 0, -1);
    acog_http_reply_data(world->held[0], ACOG_VIEW("half"));
    acog_http_reply_abort(&world->held[0]);
    WORLD_UNTIL(world, client.closed);
    assert_false(client.goodbye);
    client_close(&client);
}

static void an_idle_client_is_told_goodbye(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    scene->options.keep_alive_ms = 20;
    start(scene);
    open_and_shake(scene, &client);
    client_send(&client, GET("/x"));
    WORLD_UNTIL(world, client.closed);
    assert_true(client_has_end(&client, "/x"));
    assert_true(client.goodbye);
    client_close(&client);
}

static void a_refused_request_gets_its_answer(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    start(scene);
    open_and_shake(scene, &client);
    client_send(&client, "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc");
    WORLD_UNTIL(world, client.closed);
    assert_true(client_has(&client, "HTTP/1.1 400 Bad Request\r\n"));
    assert_true(client.goodbye);
    client_close(&client);
}

/* The queue holds what TLS has begun to send; the deadline cuts. */
static void a_client_that_takes_nothing_is_given_up(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client client;
    scene->options.write_ms = 50;
    start(scene);
    open_and_shake(scene, &client);
    struct acog_http_stream *stream = client_hold(world, &client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    client_stop_reading(&client);
    (void)world_fill(world, stream, 20000);
    WORLD_UNTIL(world, world->gone == 1);
    client_close(&client);
}

static void draining_ends_handshakes_and_idle_clients(void **state)
{
    struct scene *scene = *state;
    struct world *world = &scene->world;
    struct client clients[3];
    start(scene);
    open_and_shake(scene, &clients[0]);
    client_open(&clients[1], world); /* says nothing */
    open_and_shake(scene, &clients[2]);
    struct acog_http_stream *stream = client_hold(world, &clients[2]);
    WORLD_UNTIL(world, acog_http_server_connections(world->server) == 3);
    acog_http_server_drain(world->server);
    WORLD_UNTIL(world, clients[0].closed && clients[1].closed);
    assert_true(clients[0].goodbye);
    acog_http_reply_head(stream, 200, NULL, 0, 0);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, clients[2].closed);
    assert_true(clients[2].goodbye);
    for (size_t i = 0; i < 3; i++) {
        client_close(&clients[i]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_verified_server_answers),
        TEST(tls_1_2_is_spoken_with_forward_secrecy_and_aead_alone),
        TEST(tls_1_1_is_refused),
        TEST(the_minimum_can_be_tls_1_3),
        TEST(renegotiation_is_refused),
        TEST(http_1_1_is_chosen_and_others_are_refused),
        TEST(plain_http_is_closed_with_a_reason),
        TEST(a_slow_handshake_is_cut_by_head_ms),
        TEST(a_client_that_leaves_in_a_handshake_is_no_refusal),
        TEST(a_client_above_the_limit_is_closed),
        TEST(a_session_is_resumed),
        TEST(a_required_client_certificate_must_come),
        TEST(a_required_client_certificate_must_be_of_the_ca),
        TEST(an_expired_client_certificate_is_refused),
        TEST(an_optional_client_certificate_may_be_missing),
        TEST(an_optional_client_certificate_may_not_be_a_strangers),
        TEST(a_large_streamed_reply_arrives_byte_for_byte),
        TEST(a_large_body_arrives_byte_for_byte),
        TEST(pipelined_requests_in_one_record_are_served_in_order),
        TEST(a_request_behind_a_body_in_its_record_is_seen),
        TEST(pipelining_over_its_limit_waits_inside_tls),
        TEST(a_hang_up_is_seen_while_a_request_is_served),
        TEST(a_reply_that_closes_ends_with_a_goodbye),
        TEST(an_aborted_reply_ends_without_a_goodbye),
        TEST(an_idle_client_is_told_goodbye),
        TEST(a_refused_request_gets_its_answer),
        TEST(a_client_that_takes_nothing_is_given_up),
        TEST(draining_ends_handshakes_and_idle_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
