/* connection_test.c - the life of a connection: how it goes on, how clients leave, and how it ends. */
#include "connection.h"

#include "acog/http.h"
#include "tests/support/check.h"
#include "tests/unit/http/loopback.h"

static void serves_many_requests_on_a_connection(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    for (unsigned i = 1; i <= 5; i++) {
        client_forget(client);
        client_send(client, GET("/again"));
        WORLD_UNTIL(world, client_has(client, "\r\n\r\n/again"));
        assert_int_equal(world->requests, i);
    }
    assert_int_equal(acog_http_server_connections(world->server), 1);
    client_close(client);
    WORLD_UNTIL(world, acog_http_server_connections(world->server) == 0);
    assert_int_equal(world->gone, 0);
}

static void an_idle_connection_holds_no_memory_of_a_request(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, GET("/one") GET("/two"));
    WORLD_UNTIL(world, client_has(client, "\r\n\r\n/two"));
    const struct acog_http_connection *connection = TAILQ_FIRST(&world->server->connections);
    assert_int_equal(connection->state, ACOG_CONNECTION_IDLE);
    assert_null(connection->stream);
    assert_null(connection->pending.ptr);
    assert_true(sizeof(*connection) <= 512);
}

static void closes_when_the_client_asks_for_it(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" GET("/never"));
    WORLD_UNTIL(world, client->closed);
    assert_false(client->reset);
    assert_true(client_has(client, "connection: close\r\ncontent-length: 2\r\n\r\n/x"));
    assert_int_equal(world->requests, 1);
    client_close(client);
    WORLD_UNTIL(world, acog_http_server_connections(world->server) == 0);
}

static void tells_that_a_client_closed_before_the_reply(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    (void)client_hold(world, client);
    client_close(client);
    WORLD_UNTIL(world, world->gone == 1);
    assert_int_equal(acog_http_server_connections(world->server), 0);
}

static void takes_a_half_close_for_a_close(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    (void)client_hold(world, client);
    assert_int_equal(shutdown(client->fd, SHUT_WR), 0);
    WORLD_UNTIL(world, world->gone == 1);
}

static void tells_that_a_client_reset_during_the_reply(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_data(stream, ACOG_VIEW("abc"));
    WORLD_UNTIL(world, client_has(client, "abc"));
    client_reset(client);
    WORLD_UNTIL(world, world->gone == 1);
}

static void tells_that_a_client_left_while_it_was_sent_to(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    client_stop_reading(client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    (void)world_fill(world, stream, 20000);
    client_close(client);
    WORLD_UNTIL(world, world->gone == 1);
}

static void check_late(const char *bytes, bool answered)
{
    struct world world = {0};
    struct client client;
    struct client other;
    struct acog_http_server_options options = world_options(&world);
    options.head_ms = 30;
    options.body_ms = 30;
    options.keep_alive_ms = 30;
    world_open(&world, &options);
    client_open(&other, &world);
    (void)client_hold(&world, &other);
    client_open(&client, &world);
    client_send(&client, bytes);
    WORLD_UNTIL(&world, client.closed);
    assert_false(client.reset);
    assert_int_equal(client_has(&client, "HTTP/1.1 408 Request Timeout\r\n"), answered);
    assert_false(other.closed);
    client_close(&client);
    client_close(&other);
    world_close(&world);
}

/* B113 (c), (e) */
static void ends_requests_that_do_not_come_to_their_end(void **state)
{
    (void)state;
    check_late("GET / HTTP/1.1\r\nHos", true);
    check_late(POST("/x", "10") "abc", true);
    check_late("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n", true);
}

static void closes_silent_connections_silently(void **state)
{
    (void)state;
    check_late("", false);
    check_late(GET("/x"), false);
    check_late("\r\n", false);
    check_late(GET("/x") "\r\n", false);
}

static void drip(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct client *client = arg;
    (void)client_try_send(client, ACOG_VIEW("x"));
}

/* B113 (e) */
static void a_body_that_drips_does_not_keep_its_deadline_off(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    struct acog_http_server_options options = world_options(&world);
    options.body_ms = 40;
    world_open(&world, &options);
    client_open(&client, &world);
    client_send(&client, POST("/x", "1000000"));
    struct event *dripping = event_new(world.base, -1, EV_PERSIST, drip, &client);
    const struct timeval often = {.tv_usec = 5000};
    assert_int_equal(event_add(dripping, &often), 0);
    WORLD_UNTIL(&world, client_has(&client, "HTTP/1.1 408 "));
    event_free(dripping);
    client_close(&client);
    world_close(&world);
}

static void does_not_wait_for_ever_for_a_client_to_close(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    WORLD_UNTIL(world, client->closed);
    assert_int_equal(acog_http_server_connections(world->server), 1);
    WORLD_UNTIL(world, acog_http_server_connections(world->server) == 0);
}

static void does_not_read_for_ever_what_it_throws_away(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    static const char piece[65536];
    client_send(client, POST("/x", "900000000"));
    size_t sent = 0;
    while (acog_http_server_connections(world->server) > 0 || sent == 0) {
        sent += client_try_send(client, (struct acog_view){.ptr = piece, .len = sizeof(piece)});
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    assert_true(sent > ACOG_HTTP_LINGER_BYTES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK(serves_many_requests_on_a_connection),
        TALK(an_idle_connection_holds_no_memory_of_a_request),
        TALK(closes_when_the_client_asks_for_it),
        TALK(tells_that_a_client_closed_before_the_reply),
        TALK(takes_a_half_close_for_a_close),
        TALK(tells_that_a_client_reset_during_the_reply),
        TALK(tells_that_a_client_left_while_it_was_sent_to),
        cmocka_unit_test(ends_requests_that_do_not_come_to_their_end),
        cmocka_unit_test(closes_silent_connections_silently),
        cmocka_unit_test(a_body_that_drips_does_not_keep_its_deadline_off),
        TALK(does_not_wait_for_ever_for_a_client_to_close),
        TALK(does_not_read_for_ever_what_it_throws_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
