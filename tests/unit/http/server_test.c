/* server_test.c - limits, draining and memory of the server, over real sockets. */
#include "acog/http.h"
#include "connection.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"
#include "tests/unit/http/loopback.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void serves_a_unix_socket_and_knows_local_clients(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    (void)snprintf(world.path, sizeof(world.path), "/tmp/acog_server_test_%d", (int)getpid());
    world_start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = client_hold(&world, &client);
    assert_true(stream->request.local);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, client_has(&client, "0\r\n\r\n"));
    (void)client_hold(&world, &client);
    client_close(&client);
    WORLD_UNTIL(&world, world.gone == 1);
    world_close(&world);
}

/* B113 (f) */
static void answers_503_above_the_number_of_connections(void **state)
{
    (void)state;
    struct world world = {0};
    struct client clients[3];
    struct acog_http_server_options options = world_options(&world);
    options.connections_max = 2;
    world_open(&world, &options);
    for (int i = 0; i < 2; i++) {
        client_open(&clients[i], &world);
    }
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 2);
    client_open(&clients[2], &world);
    client_send(&clients[2], GET("/x"));
    WORLD_UNTIL(&world, clients[2].closed);
    assert_false(clients[2].reset);
    assert_true(client_has(&clients[2], "HTTP/1.1 503 Service Unavailable\r\n"));
    assert_int_equal(world.requests, 0);
    client_close(&clients[0]);
    client_close(&clients[2]);
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 1);
    client_open(&clients[0], &world);
    client_send(&clients[0], GET("/x"));
    WORLD_UNTIL(&world, client_has(&clients[0], "\r\n\r\n/x"));
    client_close(&clients[0]);
    client_close(&clients[1]);
    world_close(&world);
}

static void closes_at_once_when_too_many_are_being_refused(void **state)
{
    (void)state;
    struct world world = {0};
    struct client clients[ACOG_HTTP_REFUSALS_MAX + 3];
    struct acog_http_server_options options = world_options(&world);
    options.connections_max = 1;
    world_open(&world, &options);
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
        client_open(&clients[i], &world);
    }
    struct client *last = &clients[ACOG_HTTP_REFUSALS_MAX + 2];
    WORLD_UNTIL(&world, last->closed);
    assert_int_equal(last->got.len, 0);
    WORLD_UNTIL(&world, client_has(&clients[ACOG_HTTP_REFUSALS_MAX], "503"));
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
        client_close(&clients[i]);
    }
    world_close(&world);
}

static void waits_for_descriptors_when_there_are_none(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, GET("/x"));
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit none = {.rlim_cur = 3, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    world_rest(world);
    assert_int_equal(acog_http_server_connections(world->server), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    WORLD_UNTIL(world, client_has(client, "\r\n\r\n/x"));
}

static void drains(void **state)
{
    (void)state;
    struct world world = {0};
    struct client idle;
    struct client busy;
    struct client pipelining;
    world_start(&world);
    client_open(&idle, &world);
    client_send(&idle, GET("/x"));
    WORLD_UNTIL(&world, client_has(&idle, "\r\n\r\n/x"));
    client_open(&busy, &world);
    struct acog_http_stream *stream = client_hold(&world, &busy);
    client_open(&pipelining, &world);
    struct acog_http_stream *open = client_hold(&world, &pipelining);
    acog_http_reply_head(open, 200, NULL, 0, -1);
    client_send(&pipelining, GET("/last"));
    world_rest(&world);
    acog_http_server_drain(world.server);
    WORLD_UNTIL(&world, idle.closed);
    assert_int_equal(acog_http_server_connections(world.server), 2);
    acog_http_reply_head(stream, 200, NULL, 0, 0);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, busy.closed);
    assert_true(client_has(&busy, "connection: close\r\n"));
    acog_http_reply_end(&open);
    WORLD_UNTIL(&world, pipelining.closed);
    assert_true(client_has(&pipelining, "connection: close\r\ncontent-length: 5\r\n\r\n/last"));
    client_close(&busy);
    client_close(&pipelining);
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(world.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_not_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    (void)close(fd);
    client_close(&idle);
    world_close(&world);
}

static void tells_of_every_stream_when_it_is_freed(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    (void)client_hold(world, client);
    acog_http_server_free(&world->server);
    assert_null(world->server);
    assert_int_equal(world->gone, 1);
}

static void refuses_options_that_make_no_sense(void **state)
{
    (void)state;
    struct world world = {0};
    struct acog_error error = {0};
    struct event_base *base = event_base_new();
    struct acog_http_server_options options = world_options(&world);
    options.connections_max = 0;
    assert_null(acog_http_server_new(base, &options, &error));
    assert_int_equal(error.code, ACOG_INVALID);
    options = world_options(&world);
    options.reader.fields_max = ACOG_HTTP_FIELDS_MAX + 1;
    assert_null(acog_http_server_new(base, &options, &error));
    options = world_options(&world);
    options.body_ms = 0;
    assert_null(acog_http_server_new(base, &options, &error));
    event_base_free(base);
}

static void closes_a_connection_whose_last_reply_was_open_when_it_drains(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    WORLD_UNTIL(world, client_has(client, "\r\n\r\n"));
    acog_http_server_drain(world->server);
    assert_int_equal(acog_http_server_connections(world->server), 1);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, client->closed);
    assert_true(client_has(client, "\r\n\r\n0\r\n\r\n"));
}

static void knows_local_clients_of_ipv6(void **state)
{
    (void)state;
    struct world world = {0};
    struct acog_error error = {0};
    struct acog_http_server_options options = world_options(&world);
    world_open(&world, &options);
    int listener = acog_http_listen(ACOG_VIEW("[::1]"), 0, &error);
    if (listener < 0) {
        world_close(&world);
        (void)printf("skipped: no IPv6 here\n");
        skip();
    }
    uint16_t port = acog_http_listen_port(listener);
    assert_int_not_equal(port, 0);
    assert_int_equal(acog_http_server_add(world.server, listener, &error), ACOG_OK);
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    to.sin6_addr = in6addr_loopback;
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    const char bytes[] = GET("/hold");
    assert_int_equal(send(fd, bytes, sizeof(bytes) - 1, MSG_NOSIGNAL), sizeof(bytes) - 1);
    WORLD_UNTIL(&world, world.held_count == 1);
    assert_true(world.held[0]->request.local);
    (void)close(fd);
    WORLD_UNTIL(&world, world.gone == 1);
    world_close(&world);
}

static void listens_on_a_bounded_number_of_sockets(void **state)
{
    (void)state;
    struct world world = {0};
    struct acog_error error = {0};
    world_start(&world);
    for (int i = 1; i <= ACOG_HTTP_LISTENERS_MAX; i++) {
        int listener = acog_http_listen(ACOG_VIEW("127.0.0.1"), 0, &error);
        assert_true(listener >= 0);
        assert_int_equal(acog_http_server_add(world.server, listener, &error),
                         i < ACOG_HTTP_LISTENERS_MAX ? ACOG_OK : ACOG_TOO_BIG);
    }
    world_close(&world);
}

static void a_server_that_drains_takes_no_more_sockets(void **state)
{
    (void)state;
    struct world world = {0};
    struct acog_error error = {0};
    world_start(&world);
    int listener = acog_http_listen(ACOG_VIEW("127.0.0.1"), 0, &error);
    assert_true(listener >= 0);
    acog_http_server_drain(world.server);
    assert_int_equal(acog_http_server_add(world.server, listener, &error), ACOG_INVALID);
    assert_string_equal(error.text, "a server that drains takes no more sockets");
    world_close(&world);
}

static void keeps_a_bounded_number_of_spare_streams(void **state)
{
    (void)state;
    struct world world = {0};
    struct client clients[ACOG_HTTP_SPARE_STREAMS_MAX + 10];
    size_t count = sizeof(clients) / sizeof(clients[0]);
    world_start(&world);
    for (size_t i = 0; i < count; i++) {
        client_open(&clients[i], &world);
        client_send(&clients[i], "GET ");
    }
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == count);
    world_rest(&world);
    for (size_t i = 0; i < count; i++) {
        client_close(&clients[i]);
    }
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 0);
    assert_int_equal(world.server->spare_count, ACOG_HTTP_SPARE_STREAMS_MAX);
    acog_http_server_rest(world.server);
    assert_int_equal(world.server->spare_count, 0);
    assert_null(world.server->spares);
    world_close(&world);
}

/* What a client sends, the second part after the server has had its say about the first. */
struct failing {
    const char *first;
    const char *then;
};

static void serve_once(void *user)
{
    const struct failing *failing = user;
    struct world world = {0};
    struct client client;
    memory_sweep_spare();
    world_start(&world);
    client_open(&client, &world);
    client_send(&client, failing->first);
    memory_sweep_fail_again();
    world_rest(&world);
    (void)client_try_send(&client, acog_view_of(failing->then));
    WORLD_UNTIL(&world, client.closed || client_has(&client, "\r\n\r\n/two") ||
                            client_has(&client, "HTTP/1.1 503 "));
    memory_sweep_spare();
    assert_true(memory_sweep_failed() || client_has(&client, "/two"));
    client_close(&client);
    client_open(&client, &world);
    client_send(&client, GET("/after"));
    WORLD_UNTIL(&world, client_has(&client, "\r\n\r\n/after"));
    client_close(&client);
    world_close(&world);
    memory_sweep_fail_again();
}

/* The client gets its answer, a 503, or the end of its connection, and the server lives on. */
static void survives_each_failed_allocation(void **state)
{
    (void)state;
    static char large[70001 + sizeof(GET("/two"))];
    memset(large, 'x', 70000);
    memcpy(large + 70000, GET("/two"), sizeof(GET("/two")));
    const struct failing all[] = {
        {POST("/echo", "3") "abc" GET("/two"), ""},
        {"POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
         "Transfer-Encoding: chunked\r\n\r\n",
         "3\r\nabc\r\n0\r\n\r\n" GET("/two")},
        {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", GET("/two")},
        {POST("/x", "70000"), large},
        {POST("/chunks", "70000"), large},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct failing failing = all[i];
        size_t allocations = memory_sweep(serve_once, &failing, 1);
        assert_true(allocations > 4); /* connection, stream, head, rows, reply */
    }
}

static void refuse_once(void *user)
{
    struct world world = {0};
    struct client client;
    memory_sweep_spare();
    world_start(&world);
    client_open(&client, &world);
    client_send(&client, user);
    memory_sweep_fail_again();
    WORLD_UNTIL(&world, client.closed);
    memory_sweep_spare();
    assert_true(memory_sweep_failed() || client_has(&client, "HTTP/1.1 400 "));
    client_close(&client);
    world_close(&world);
    memory_sweep_fail_again();
}

static void refuses_without_memory_too(void **state)
{
    (void)state;
    static char bad[] = "GET / HTTP/1.1\r\n\r\n";
    assert_true(memory_sweep(refuse_once, bad, 1) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serves_a_unix_socket_and_knows_local_clients),
        cmocka_unit_test(answers_503_above_the_number_of_connections),
        cmocka_unit_test(closes_at_once_when_too_many_are_being_refused),
        TALK(waits_for_descriptors_when_there_are_none),
        cmocka_unit_test(drains),
        TALK(tells_of_every_stream_when_it_is_freed),
        cmocka_unit_test(refuses_options_that_make_no_sense),
        TALK(closes_a_connection_whose_last_reply_was_open_when_it_drains),
        cmocka_unit_test(knows_local_clients_of_ipv6),
        cmocka_unit_test(listens_on_a_bounded_number_of_sockets),
        cmocka_unit_test(a_server_that_drains_takes_no_more_sockets),
        cmocka_unit_test(keeps_a_bounded_number_of_spare_streams),
        cmocka_unit_test(survives_each_failed_allocation),
        cmocka_unit_test(refuses_without_memory_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
