/* tls_handshake_test.c - who gets through a handshake with the server, who does not, and which reason is told. */
#include "tests/unit/http/tls_scene.h"

#include <openssl/err.h>

static void show(struct scene *scene, const struct identity *identity)
{
    assert_int_equal(SSL_CTX_use_certificate(scene->context, identity->certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(scene->context, identity->key), 1);
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

/* -- versions, protocols and times ------------------------------------------------------------------------ */

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

/* -- client certificates ---------------------------------------------------------------------------------- */

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
