/* tls_scene.h - a server with a certificate of a CA that its clients know, for the tests of TLS over real sockets. */
#ifndef ACOG_TESTS_UNIT_HTTP_TLS_SCENE_H
#define ACOG_TESTS_UNIT_HTTP_TLS_SCENE_H

#include "tests/support/certificates.h"
#include "tests/support/check.h"
#include "tests/unit/http/loopback.h"

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

static inline int set_up(void **state)
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

static inline void start(struct scene *scene)
{
    struct acog_error error = {0};
    scene->world.tls = acog_http_tls_new(&scene->rules, 0, &error);
    assert_string_equal(error.text, "");
    world_open(&scene->world, &scene->options);
}

static inline int tear_down(void **state)
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

static inline void open_and_shake(struct scene *scene, struct client *client)
{
    client_open_tls(client, &scene->world, scene->context);
    WORLD_UNTIL(&scene->world, SSL_is_init_finished(client->tls) || client->closed);
    assert_true(SSL_is_init_finished(client->tls));
}

static inline void assert_serves(struct scene *scene)
{
    struct client client;
    open_and_shake(scene, &client);
    client_send(&client, GET("/good"));
    WORLD_UNTIL(&scene->world, client_has_end(&client, "/good"));
    client_close(&client);
}

#endif
