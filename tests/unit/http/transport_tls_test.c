/* transport_tls_test.c - the server under TLS, over real sockets: bytes, hang-ups and goodbyes. */
#include "connection.h"
#include "tests/unit/http/tls_scene.h"

#define BODY_BYTES       ((size_t)3145728)
#define PIPELINED        2000
#define PIPELINED_RECORD 16000 /* does not divide what the server keeps */
#define STREAM_BYTES \
    ((size_t)12 << 20) /* more than the kernel keeps for a client that does not read */

/* -- bytes ------------------------------------------------------------------------------------------------ */

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

/* -- ends ------------------------------------------------------------------------------------------------- */

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
