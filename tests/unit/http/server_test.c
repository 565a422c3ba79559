/* server_test.c - requests, replies, limits and ends of connections, over real sockets. */
#include "acog/http.h"
#include "connection.h"
#include "tests/support/check.h"
#include "tests/unit/http/loopback.h"

#include <linux/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define GET(path)        "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST(path, size) "POST " path " HTTP/1.1\r\nHost: a\r\nContent-Length: " size "\r\n\r\n"

static void start(struct world *world)
{
    struct acog_http_server_options options = world_options(world);
    world_open(world, &options);
}

/* Sends a request for /hold and waits until the handler has it. */
static struct acog_http_stream *hold(struct world *world, struct client *client)
{
    size_t before = world->held_count;
    client_send(client, GET("/hold"));
    WORLD_UNTIL(world, world->held_count > before);
    return world->held[before];
}

static unsigned segments_received(const struct client *client)
{
    struct tcp_info info;
    socklen_t bytes = sizeof(info);
    assert_int_equal(getsockopt(client->fd, IPPROTO_TCP, TCP_INFO, &info, &bytes), 0);
    return info.tcpi_data_segs_in;
}

/* -- requests and replies -------------------------------------------------------------------------------- */

static void answers_with_one_send(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, POST("/echo", "3") "abc");
    WORLD_UNTIL(&world, client_has(&client, "/echoabc"));
    assert_int_equal(segments_received(&client), 1);
    assert_true(client_has(&client, "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ndate: "));
    assert_true(client_has(&client, " GMT\r\ncontent-length: 8\r\n\r\n/echoabc"));
    assert_false(client_has(&client, "connection"));
    assert_false(client_has(&client, "erver:"));
    client_close(&client);
    world_close(&world);
}

static void serves_many_requests_on_a_connection(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    for (unsigned i = 1; i <= 5; i++) {
        client_forget(&client);
        client_send(&client, GET("/again"));
        WORLD_UNTIL(&world, client_has(&client, "\r\n\r\n/again"));
        assert_int_equal(world.requests, i);
    }
    assert_int_equal(acog_http_server_connections(world.server), 1);
    client_close(&client);
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 0);
    assert_int_equal(world.gone, 0);
    world_close(&world);
}

static void an_idle_connection_holds_no_memory_of_a_request(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, GET("/one") GET("/two"));
    WORLD_UNTIL(&world, client_has(&client, "\r\n\r\n/two"));
    const struct acog_http_connection *connection = TAILQ_FIRST(&world.server->connections);
    assert_int_equal(connection->state, ACOG_CONNECTION_IDLE);
    assert_null(connection->stream);
    assert_null(connection->pending.ptr);
    assert_true(sizeof(*connection) <= 512);
    client_close(&client);
    world_close(&world);
}

static void answers_pipelined_requests_in_their_order(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, GET("/hold/1") POST("/two", "2") "hi" GET("/three"));
    WORLD_UNTIL(&world, world.held_count == 1);
    world_rest(&world);
    assert_int_equal(world.requests, 1);
    acog_http_reply_head(world.held[0], 200, NULL, 0, 3);
    acog_http_reply_data(world.held[0], ACOG_VIEW("one"));
    acog_http_reply_end(&world.held[0]);
    WORLD_UNTIL(&world, client_has(&client, "/three"));
    const char *text = client_text(&client);
    assert_true(strstr(text, "one") < strstr(text, "/twohi"));
    assert_true(strstr(text, "/twohi") < strstr(text, "\r\n\r\n/three"));
    assert_string_equal(world_told(&world), "/hold/1\n/two\n/three\n");
    client_close(&client);
    world_close(&world);
}

static void gathers_a_body_that_comes_byte_by_byte(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    const char *bytes = "POST /chunks HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    for (size_t i = 0; bytes[i] != '\0'; i++) {
        assert_int_equal(client_try_send(&client, (struct acog_view){.ptr = bytes + i, .len = 1}),
                         1);
        (void)event_base_loop(world.base, EVLOOP_NONBLOCK);
    }
    WORLD_UNTIL(&world, client_has(&client, "\r\n0\r\n\r\n"));
    assert_true(client_has(&client, "transfer-encoding: chunked\r\n\r\n"
                                    "7\r\n/chunks\r\n5\r\nabcde\r\n0\r\n\r\n"));
    client_close(&client);
    world_close(&world);
}

static void gathers_a_large_body_and_sends_it_back(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    size_t bytes = (size_t)3 << 20U;
    char *body = acog_new(bytes);
    assert_non_null(body);
    memset(body, 'x', bytes);
    memcpy(body + bytes - 4, (const char[]){'l', 'a', 's', 't'}, 4);
    start(&world);
    client_open(&client, &world);
    client_send(&client, POST("/echo", "3145728"));
    size_t sent = 0;
    while (sent < bytes) {
        sent +=
            client_try_send(&client, (struct acog_view){.ptr = body + sent, .len = bytes - sent});
        (void)event_base_loop(world.base, EVLOOP_NONBLOCK);
    }
    WORLD_UNTIL(&world, client.got.len > bytes &&
                            memcmp(client.got.ptr + client.got.len - 4, "last", 4) == 0);
    const char *at = strstr(client_text(&client), "\r\n\r\n");
    assert_non_null(at);
    assert_memory_equal(at + 4, "/echo", 5);
    assert_memory_equal(at + 9, body, bytes);
    acog_free(body);
    client_close(&client);
    world_close(&world);
}

static void does_not_take_memory_for_what_a_head_only_claims(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, POST("/echo", "4000000"));
    client_send(&client, "0123456789");
    world_rest(&world);
    const struct acog_http_connection *connection = TAILQ_FIRST(&world.server->connections);
    assert_int_equal(connection->state, ACOG_CONNECTION_BODY);
    assert_int_equal(connection->stream->body.len, 10);
    assert_true(connection->stream->body.room <= (size_t)2 * ACOG_HTTP_SCRATCH_BYTES);
    client_close(&client);
    world_close(&world);
}

static void says_continue_when_it_is_ready_for_the_body(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                         "Content-Length: 3\r\n\r\n");
    WORLD_UNTIL(&world, client_has(&client, "\r\n\r\n"));
    assert_string_equal(client_text(&client), "HTTP/1.1 100 Continue\r\n\r\n");
    client_forget(&client);
    client_send(&client, "abc");
    WORLD_UNTIL(&world, client_has(&client, "/echoabc"));
    client_forget(&client);
    client_send(&client, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                         "Content-Length: 3\r\n\r\nabc");
    WORLD_UNTIL(&world, client_has(&client, "/echoabc"));
    assert_false(client_has(&client, "100 Continue"));
    client_close(&client);
    world_close(&world);
}

static void sends_no_body_where_none_may_be(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, "HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n" GET(
                             "/204") "HEAD /chunks HTTP/1.1\r\nHost: a\r\n\r\n" GET("/end"));
    WORLD_UNTIL(&world, client_has(&client, "/end"));
    assert_true(client_has(&client, "content-length: 5\r\n\r\nHTTP/1.1 204 No Content\r\n"));
    assert_true(client_has(&client, " GMT\r\n\r\nHTTP/1.1 200 OK\r\n"));
    assert_true(client_has(&client, "transfer-encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\n"));
    client_close(&client);
    world_close(&world);
}

static void closes_when_the_client_asks_for_it(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" GET("/never"));
    WORLD_UNTIL(&world, client.closed);
    assert_false(client.reset);
    assert_true(client_has(&client, "connection: close\r\ncontent-length: 2\r\n\r\n/x"));
    assert_int_equal(world.requests, 1);
    client_close(&client);
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 0);
    world_close(&world);
}

/* B114: HTTP/1.0 keep-alive */
static void speaks_with_clients_of_http_1_0(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, "GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    WORLD_UNTIL(&world, client_has(&client, "\r\n\r\n/x"));
    assert_true(client_has(&client, "HTTP/1.1 200 OK\r\n"));
    assert_true(client_has(&client, "connection: keep-alive\r\ncontent-length: 2\r\n"));
    client_forget(&client);
    client_send(&client, "GET /chunks HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    WORLD_UNTIL(&world, client.closed);
    assert_false(client.reset);
    assert_true(client_has(&client, "connection: close\r\n\r\n/chunks"));
    assert_false(client_has(&client, "transfer-encoding"));
    client_close(&client);
    world_close(&world);
}

static void serves_a_unix_socket_and_knows_local_clients(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    (void)snprintf(world.path, sizeof(world.path), "/tmp/acog_server_test_%d", (int)getpid());
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    assert_true(stream->request.local);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, client_has(&client, "0\r\n\r\n"));
    (void)hold(&world, &client);
    client_close(&client);
    WORLD_UNTIL(&world, world.gone == 1);
    world_close(&world);
}

/* -- streaming ------------------------------------------------------------------------------------------- */

static void sends_what_is_said_in_a_turn_together_and_at_once(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_data(stream, ACOG_VIEW("one"));
    acog_http_reply_data(stream, ACOG_VIEW("two"));
    WORLD_UNTIL(&world, client_has(&client, "3\r\none\r\n3\r\ntwo\r\n"));
    assert_int_equal(segments_received(&client), 1);
    acog_http_reply_data(stream, ACOG_VIEW("three"));
    WORLD_UNTIL(&world, client_has(&client, "5\r\nthree\r\n"));
    assert_int_equal(segments_received(&client), 2);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, client_has(&client, "\r\n0\r\n\r\n"));
    client_close(&client);
    world_close(&world);
}

static void an_empty_piece_does_not_end_a_chunked_reply(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_data(stream, ACOG_VIEW(""));
    acog_http_reply_data(stream, ACOG_VIEW("x"));
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, client_has(&client, "0\r\n\r\n"));
    assert_true(client_has(&client, "\r\n\r\n1\r\nx\r\n0\r\n\r\n"));
    client_close(&client);
    world_close(&world);
}

/* Fills the client's and the server's socket buffers until the reply is full, with pieces of `size` bytes. */
static size_t fill_with(struct world *world, struct acog_http_stream *stream, size_t size)
{
    static const char piece[20000];
    size_t bytes = 0;
    while (!acog_http_reply_full(stream)) {
        acog_http_reply_data(stream, (struct acog_view){.ptr = piece, .len = size});
        bytes += size;
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    return bytes;
}

static size_t fill(struct world *world, struct acog_http_stream *stream)
{
    return fill_with(world, stream, 20000);
}

/* How far the server is ahead of the client is bounded; every byte arrives, in its order. */
static void check_slow_reader(size_t piece)
{
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, "GET /hold HTTP/1.0\r\n\r\n");
    WORLD_UNTIL(&world, world.held_count == 1);
    struct acog_http_stream *stream = world.held[0];
    client_stop_reading(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    size_t bytes = fill_with(&world, stream, piece);
    assert_true(acog_output_queued(stream) <= 65536 + 2 * piece);
    world_rest(&world);
    assert_int_equal(world.drained, 0);
    client_read_on(&client);
    WORLD_UNTIL(&world, world.drained == 1);
    assert_false(acog_http_reply_full(stream));
    acog_http_reply_data(stream, ACOG_VIEW("last"));
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, client.closed);
    assert_false(client.reset);
    const char *end = client.got.ptr + client.got.len;
    const char *body = strstr(client_text(&client), "\r\n\r\n") + 4;
    assert_int_equal(end - body, bytes + 4);
    assert_memory_equal(end - 4, "last", 4);
    assert_int_equal(world.drained, 1);
    client_close(&client);
    world_close(&world);
}

static void a_slow_reader_is_told_apart_and_drains(void **state)
{
    (void)state;
    check_slow_reader(1000);
    check_slow_reader(20000);
}

static void a_client_that_takes_nothing_is_gone(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    struct acog_http_server_options options = world_options(&world);
    options.write_ms = 30;
    world_open(&world, &options);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    client_stop_reading(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    (void)fill(&world, stream);
    WORLD_UNTIL(&world, world.gone == 1);
    assert_int_equal(acog_http_server_connections(world.server), 0);
    client_close(&client);
    world_close(&world);
}

static void a_whole_reply_that_nobody_takes_is_given_up(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    struct acog_http_server_options options = world_options(&world);
    options.write_ms = 30;
    world_open(&world, &options);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    client_stop_reading(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    (void)fill(&world, stream);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 0);
    assert_int_equal(world.gone, 0);
    client_close(&client);
    world_close(&world);
}

/* -- framing is never broken ------------------------------------------------------------------------------- */

static void cuts_data_beyond_the_promised_length(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    acog_http_reply_head(stream, 200, NULL, 0, 3);
    acog_http_reply_data(stream, ACOG_VIEW("abcdef"));
    acog_http_reply_data(stream, ACOG_VIEW("ghi"));
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, client.closed);
    assert_true(client_has(&client, "content-length: 3\r\n\r\nabc"));
    assert_false(client_has(&client, "abcd"));
    assert_false(client_has(&client, "ghi"));
    client_close(&client);
    world_close(&world);
}

static void closes_after_a_reply_that_falls_short(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    acog_http_reply_head(stream, 200, NULL, 0, 5);
    acog_http_reply_data(stream, ACOG_VIEW("abc"));
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, client.closed);
    assert_true(client_has(&client, "content-length: 5\r\n\r\nabc"));
    client_close(&client);
    world_close(&world);
}

static void aborts_a_chunked_reply_without_its_last_chunk(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_data(stream, ACOG_VIEW("abc"));
    acog_http_reply_abort(&stream);
    assert_null(stream);
    WORLD_UNTIL(&world, client.closed);
    assert_true(client_has(&client, "3\r\nabc\r\n"));
    assert_false(client_has(&client, "0\r\n\r\n"));
    client_close(&client);
    world_close(&world);
}

static void resets_a_reply_whose_end_would_look_legal(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, "GET /hold HTTP/1.0\r\n\r\n");
    WORLD_UNTIL(&world, world.held_count == 1);
    acog_http_reply_head(world.held[0], 200, NULL, 0, -1);
    acog_http_reply_data(world.held[0], ACOG_VIEW("abc"));
    acog_http_reply_abort(&world.held[0]);
    WORLD_UNTIL(&world, client.closed);
    assert_true(client.reset);
    client_close(&client);
    world_close(&world);
}

static void leaves_out_headers_that_would_break_the_message(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("x-good"), ACOG_VIEW("1")},
        {ACOG_VIEW("x-split"), ACOG_VIEW("1\r\nset-cookie: a")},
        {ACOG_VIEW("x bad"), ACOG_VIEW("1")},
        {ACOG_VIEW("content-length"), ACOG_VIEW("99")},
        {ACOG_VIEW("transfer-encoding"), ACOG_VIEW("gzip")},
        {ACOG_VIEW("connection"), ACOG_VIEW("x-good")},
        {ACOG_VIEW("keep-alive"), ACOG_VIEW("timeout=5")},
        {ACOG_VIEW("date"), ACOG_VIEW("yesterday")},
        {ACOG_VIEW("x-last"), ACOG_VIEW("")},
    };
    acog_http_reply_head(stream, 404, rows, sizeof(rows) / sizeof(rows[0]), 0);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, client_has(&client, "\r\n\r\n"));
    assert_true(client_has(&client, "HTTP/1.1 404 Not Found\r\nx-good: 1\r\nx-last: \r\ndate: "));
    assert_true(client_has(&client, "GMT\r\ncontent-length: 0\r\n\r\n"));
    client_close(&client);
    world_close(&world);
}

/* -- a client that leaves: B62, decision 17 ---------------------------------------------------------------- */

static void tells_that_a_client_closed_before_the_reply(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    (void)hold(&world, &client);
    client_close(&client);
    WORLD_UNTIL(&world, world.gone == 1);
    assert_int_equal(acog_http_server_connections(world.server), 0);
    world_close(&world);
}

static void takes_a_half_close_for_a_close(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    (void)hold(&world, &client);
    assert_int_equal(shutdown(client.fd, SHUT_WR), 0);
    WORLD_UNTIL(&world, world.gone == 1);
    client_close(&client);
    world_close(&world);
}

static void tells_that_a_client_reset_during_the_reply(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_data(stream, ACOG_VIEW("abc"));
    WORLD_UNTIL(&world, client_has(&client, "abc"));
    client_reset(&client);
    WORLD_UNTIL(&world, world.gone == 1);
    world_close(&world);
}

static void tells_that_a_client_left_while_it_was_sent_to(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    client_stop_reading(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    (void)fill(&world, stream);
    client_close(&client);
    WORLD_UNTIL(&world, world.gone == 1);
    world_close(&world);
}

static void never_tells_from_inside_a_reply(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    char *large = acog_new((size_t)1 << 20U);
    assert_non_null(large);
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    client_reset(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    /* Large enough to be sent from inside the call, which fails. */
    acog_http_reply_data(stream, (struct acog_view){.ptr = large, .len = (size_t)1 << 20U});
    acog_http_reply_data(stream, ACOG_VIEW("abc"));
    assert_int_equal(world.gone, 0);
    assert_int_equal(stream->connection->state, ACOG_CONNECTION_LOST);
    WORLD_UNTIL(&world, world.gone == 1);
    acog_free(large);
    world_close(&world);
}

static void a_stream_that_was_given_back_is_not_told_of(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    char *large = acog_new((size_t)1 << 20U);
    assert_non_null(large);
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    client_reset(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_data(stream, (struct acog_view){.ptr = large, .len = (size_t)1 << 20U});
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 0);
    assert_int_equal(world.gone, 0);
    acog_free(large);
    world_close(&world);
}

/* Pipelines until the server stops reading. */
static void pause_reading_of(struct world *world, struct client *client)
{
    static const char junk[1000] = {'G'};
    const struct acog_http_connection *connection = TAILQ_FIRST(&world->server->connections);
    while (connection->reading == ACOG_READING_ON) {
        (void)client_try_send(client, (struct acog_view){.ptr = junk, .len = sizeof(junk)});
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    assert_int_equal(connection->pending.len, ACOG_HTTP_PIPELINE_BYTES_MAX);
}

static void sees_a_reset_and_a_close_while_reading_pauses(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    (void)hold(&world, &client);
    pause_reading_of(&world, &client);
    world_rest(&world);
    assert_int_equal(world.gone, 0);
    client_reset(&client);
    WORLD_UNTIL(&world, world.gone == 1);
    client_open(&client, &world);
    (void)hold(&world, &client);
    pause_reading_of(&world, &client);
    client_close(&client);
    WORLD_UNTIL(&world, world.gone == 2);
    assert_int_equal(acog_http_server_connections(world.server), 0);
    world_close(&world);
}

static void reads_on_after_a_pause(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    unsigned sent = 0;
    const struct acog_http_connection *connection = TAILQ_FIRST(&world.server->connections);
    while (connection->reading == ACOG_READING_ON) {
        client_send(&client, POST("/x", "1000"));
        static const char body[1000];
        assert_int_equal(client_try_send(&client, (struct acog_view){.ptr = body, .len = 1000}),
                         1000);
        sent++;
        (void)event_base_loop(world.base, EVLOOP_NONBLOCK);
    }
    acog_http_reply_head(stream, 200, NULL, 0, 0);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, world.requests == sent + 1);
    client_send(&client, GET("/end"));
    WORLD_UNTIL(&world, world.requests == sent + 2);
    client_close(&client);
    world_close(&world);
}

/* -- refusals -------------------------------------------------------------------------------------------- */

static void check_refused(const char *bytes, const char *status, const char *body)
{
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, bytes);
    WORLD_UNTIL(&world, client.closed);
    assert_false(client.reset);
    assert_true(client_has(&client, status));
    assert_true(client_has(&client, "connection: close\r\n"));
    assert_true(client_has(&client, body));
    assert_int_equal(world.requests, 0);
    assert_int_equal(world.refused, 1);
    client_close(&client);
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 0);
    world_close(&world);
}

/* B111, B113, B114 */
static void refuses_before_the_handler_hears_of_it(void **state)
{
    (void)state;
    check_refused("POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
                  "Content-Length: 5\r\n\r\nabcde",
                  "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n",
                  "{\"refused\":\"more than one Content-Length\",\"target\":\"/v1/messages\"}");
    check_refused("POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n",
                  "HTTP/1.1 400 ", "beside");
    check_refused("GET / HTTP/1.1\r\nHost: a\r\nExpect: pigs\r\n\r\n", "HTTP/1.1 417 ",
                  "100-continue");
    check_refused("GET / HTTP/3.0\r\nHost: a\r\n\r\n", "HTTP/1.1 505 ", "spoken here");
    check_refused("GET / HTTP/1.1\nHost: a\n\n", "HTTP/1.1 400 ", "LF alone");
    check_refused("\x16\x03\x01\x02", "HTTP/1.1 400 ", "not HTTP/1.1");
    check_refused(POST("/x", "50000000"), "HTTP/1.1 413 Content Too Large\r\n", "too large");
}

/* B113 (d): the client sends its body without waiting, and can still read the answer */
static void answers_413_to_a_client_that_goes_on_sending(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    static const char piece[65536];
    start(&world);
    client_open(&client, &world);
    client_send(&client, POST("/x", "8000000"));
    size_t sent = 0;
    while (!client.closed && sent < 8000000) {
        sent += client_try_send(&client, (struct acog_view){.ptr = piece, .len = sizeof(piece)});
        (void)event_base_loop(world.base, EVLOOP_NONBLOCK);
    }
    WORLD_UNTIL(&world, client.closed);
    assert_false(client.reset);
    assert_true(client_has(&client, "HTTP/1.1 413 "));
    client_close(&client);
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 0);
    world_close(&world);
}

/* B113 (a), (b) */
static void refuses_large_heads(void **state)
{
    (void)state;
    char bytes[20000];
    char fill_bytes[9000];
    memset(fill_bytes, 'x', sizeof(fill_bytes));
    (void)snprintf(bytes, sizeof(bytes), "GET / HTTP/1.1\r\nHost: a\r\nx: %.9000s\r\n\r\n",
                   fill_bytes);
    check_refused(bytes, "HTTP/1.1 431 ", "the head is too large");
    size_t at = (size_t)snprintf(bytes, sizeof(bytes), "GET / HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < 60; i++) {
        at += (size_t)snprintf(bytes + at, sizeof(bytes) - at, "x%d: y\r\n", i);
    }
    (void)snprintf(bytes + at, sizeof(bytes) - at, "\r\n");
    check_refused(bytes, "HTTP/1.1 431 ", "too many headers");
}

static void a_refusal_stands_behind_the_replies_before_it(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, GET("/one") "GET / HTTP/1.1\r\n\r\n" GET("/never"));
    WORLD_UNTIL(&world, client.closed);
    const char *text = client_text(&client);
    assert_true(strstr(text, "\r\n\r\n/one") < strstr(text, "HTTP/1.1 400 "));
    assert_int_equal(world.requests, 1);
    client_close(&client);
    world_close(&world);
}

/* -- time ------------------------------------------------------------------------------------------------ */

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
    client_open(&client, &world);
    client_open(&other, &world);
    (void)hold(&world, &other);
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

/* -- limits of the server ----------------------------------------------------------------------------------- */

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
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, GET("/x"));
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit none = {.rlim_cur = 3, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    world_rest(&world);
    assert_int_equal(acog_http_server_connections(world.server), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    WORLD_UNTIL(&world, client_has(&client, "\r\n\r\n/x"));
    client_close(&client);
    world_close(&world);
}

static void drains(void **state)
{
    (void)state;
    struct world world = {0};
    struct client idle;
    struct client busy;
    struct client pipelining;
    start(&world);
    client_open(&idle, &world);
    client_send(&idle, GET("/x"));
    WORLD_UNTIL(&world, client_has(&idle, "\r\n\r\n/x"));
    client_open(&busy, &world);
    struct acog_http_stream *stream = hold(&world, &busy);
    client_open(&pipelining, &world);
    struct acog_http_stream *open = hold(&world, &pipelining);
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
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    (void)hold(&world, &client);
    acog_http_server_free(&world.server);
    assert_null(world.server);
    assert_int_equal(world.gone, 1);
    client_close(&client);
    world_close(&world);
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
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    WORLD_UNTIL(&world, client_has(&client, "\r\n\r\n"));
    acog_http_server_drain(world.server);
    assert_int_equal(acog_http_server_connections(world.server), 1);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, client.closed);
    assert_true(client_has(&client, "\r\n\r\n0\r\n\r\n"));
    client_close(&client);
    world_close(&world);
}

static void does_not_wait_for_ever_for_a_client_to_close(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    client_send(&client, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    WORLD_UNTIL(&world, client.closed);
    assert_int_equal(acog_http_server_connections(world.server), 1);
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 0);
    client_close(&client);
    world_close(&world);
}

static void does_not_read_for_ever_what_it_throws_away(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    static const char piece[65536];
    start(&world);
    client_open(&client, &world);
    client_send(&client, POST("/x", "900000000"));
    size_t sent = 0;
    while (acog_http_server_connections(world.server) > 0 || sent == 0) {
        sent += client_try_send(&client, (struct acog_view){.ptr = piece, .len = sizeof(piece)});
        (void)event_base_loop(world.base, EVLOOP_NONBLOCK);
    }
    assert_true(sent > ACOG_HTTP_LINGER_BYTES_MAX);
    client_close(&client);
    world_close(&world);
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
    start(&world);
    for (int i = 1; i <= ACOG_HTTP_LISTENERS_MAX; i++) {
        int listener = acog_http_listen(ACOG_VIEW("127.0.0.1"), 0, &error);
        assert_true(listener >= 0);
        assert_int_equal(acog_http_server_add(world.server, listener, &error),
                         i < ACOG_HTTP_LISTENERS_MAX ? ACOG_OK : ACOG_TOO_BIG);
    }
    world_close(&world);
}

static void keeps_a_bounded_number_of_spare_streams(void **state)
{
    (void)state;
    struct world world = {0};
    struct client clients[ACOG_HTTP_SPARE_STREAMS_MAX + 10];
    size_t count = sizeof(clients) / sizeof(clients[0]);
    start(&world);
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
    world_close(&world);
}

/* -- memory ---------------------------------------------------------------------------------------------- */

static unsigned allocations_left;

static bool after_some(void *user)
{
    (void)user;
    return allocations_left-- == 0;
}

static void run_with_failing(struct world *world, unsigned failing)
{
    allocations_left = failing;
    acog_memory_fail_when(after_some, NULL);
    for (int i = 0; i < 10; i++) {
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    acog_memory_fail_when(NULL, NULL);
}

/* One allocation fails: the client gets its answer, a 503, or the end of its connection, and the server lives on. */
static void check_failing(const char *first, const char *then)
{
    for (unsigned failing = 0; failing < 12; failing++) {
        struct world world = {0};
        struct client client;
        start(&world);
        client_open(&client, &world);
        client_send(&client, first);
        run_with_failing(&world, failing);
        (void)client_try_send(&client, acog_view_of(then));
        run_with_failing(&world, failing);
        WORLD_UNTIL(&world, client.closed || client_has(&client, "\r\n\r\n/two") ||
                                client_has(&client, "HTTP/1.1 503 "));
        client_close(&client);
        client_open(&client, &world);
        client_send(&client, GET("/after"));
        WORLD_UNTIL(&world, client_has(&client, "\r\n\r\n/after"));
        client_close(&client);
        world_close(&world);
    }
}

static void survives_each_failed_allocation(void **state)
{
    (void)state;
    check_failing(POST("/echo", "3") "abc" GET("/two"), "");
    check_failing("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n",
                  "3\r\nabc\r\n0\r\n\r\n" GET("/two"));
    check_failing("GET / HTTP/1.1\r\n\r\n", "");
    static char large[70001 + sizeof(GET("/two"))];
    memset(large, 'x', 70000);
    memcpy(large + 70000, GET("/two"), sizeof(GET("/two")));
    check_failing(POST("/x", "70000"), large);
}

static void a_large_reply_without_memory_loses_the_client(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    start(&world);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    client_stop_reading(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    static const char piece[(size_t)8 << 20U];
    allocations_left = 0;
    acog_memory_fail_when(after_some, NULL);
    acog_http_reply_data(stream, (struct acog_view){.ptr = piece, .len = sizeof(piece)});
    acog_memory_fail_when(NULL, NULL);
    assert_int_equal(world.gone, 0);
    WORLD_UNTIL(&world, world.gone == 1);
    client_close(&client);
    world_close(&world);
}

static void caps_what_is_queued_for_a_client(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    struct acog_http_server_options options = world_options(&world);
    world_open(&world, &options);
    client_open(&client, &world);
    struct acog_http_stream *stream = hold(&world, &client);
    client_stop_reading(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    static const char piece[(size_t)8 << 20U];
    while (stream->connection->state == ACOG_CONNECTION_HANDLING) {
        assert_true(acog_output_queued(stream) <=
                    options.write_high_bytes + ACOG_HTTP_QUEUE_BYTES_MAX);
        acog_http_reply_data(stream, (struct acog_view){.ptr = piece, .len = sizeof(piece)});
    }
    WORLD_UNTIL(&world, world.gone == 1);
    client_close(&client);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_with_one_send),
        cmocka_unit_test(serves_many_requests_on_a_connection),
        cmocka_unit_test(an_idle_connection_holds_no_memory_of_a_request),
        cmocka_unit_test(answers_pipelined_requests_in_their_order),
        cmocka_unit_test(gathers_a_body_that_comes_byte_by_byte),
        cmocka_unit_test(gathers_a_large_body_and_sends_it_back),
        cmocka_unit_test(does_not_take_memory_for_what_a_head_only_claims),
        cmocka_unit_test(says_continue_when_it_is_ready_for_the_body),
        cmocka_unit_test(sends_no_body_where_none_may_be),
        cmocka_unit_test(closes_when_the_client_asks_for_it),
        cmocka_unit_test(speaks_with_clients_of_http_1_0),
        cmocka_unit_test(serves_a_unix_socket_and_knows_local_clients),
        cmocka_unit_test(sends_what_is_said_in_a_turn_together_and_at_once),
        cmocka_unit_test(an_empty_piece_does_not_end_a_chunked_reply),
        cmocka_unit_test(a_slow_reader_is_told_apart_and_drains),
        cmocka_unit_test(a_client_that_takes_nothing_is_gone),
        cmocka_unit_test(a_whole_reply_that_nobody_takes_is_given_up),
        cmocka_unit_test(cuts_data_beyond_the_promised_length),
        cmocka_unit_test(closes_after_a_reply_that_falls_short),
        cmocka_unit_test(aborts_a_chunked_reply_without_its_last_chunk),
        cmocka_unit_test(resets_a_reply_whose_end_would_look_legal),
        cmocka_unit_test(leaves_out_headers_that_would_break_the_message),
        cmocka_unit_test(tells_that_a_client_closed_before_the_reply),
        cmocka_unit_test(takes_a_half_close_for_a_close),
        cmocka_unit_test(tells_that_a_client_reset_during_the_reply),
        cmocka_unit_test(tells_that_a_client_left_while_it_was_sent_to),
        cmocka_unit_test(never_tells_from_inside_a_reply),
        cmocka_unit_test(a_stream_that_was_given_back_is_not_told_of),
        cmocka_unit_test(sees_a_reset_and_a_close_while_reading_pauses),
        cmocka_unit_test(reads_on_after_a_pause),
        cmocka_unit_test(refuses_before_the_handler_hears_of_it),
        cmocka_unit_test(answers_413_to_a_client_that_goes_on_sending),
        cmocka_unit_test(refuses_large_heads),
        cmocka_unit_test(a_refusal_stands_behind_the_replies_before_it),
        cmocka_unit_test(ends_requests_that_do_not_come_to_their_end),
        cmocka_unit_test(closes_silent_connections_silently),
        cmocka_unit_test(a_body_that_drips_does_not_keep_its_deadline_off),
        cmocka_unit_test(answers_503_above_the_number_of_connections),
        cmocka_unit_test(closes_at_once_when_too_many_are_being_refused),
        cmocka_unit_test(waits_for_descriptors_when_there_are_none),
        cmocka_unit_test(drains),
        cmocka_unit_test(tells_of_every_stream_when_it_is_freed),
        cmocka_unit_test(refuses_options_that_make_no_sense),
        cmocka_unit_test(closes_a_connection_whose_last_reply_was_open_when_it_drains),
        cmocka_unit_test(does_not_wait_for_ever_for_a_client_to_close),
        cmocka_unit_test(does_not_read_for_ever_what_it_throws_away),
        cmocka_unit_test(knows_local_clients_of_ipv6),
        cmocka_unit_test(listens_on_a_bounded_number_of_sockets),
        cmocka_unit_test(keeps_a_bounded_number_of_spare_streams),
        cmocka_unit_test(survives_each_failed_allocation),
        cmocka_unit_test(a_large_reply_without_memory_loses_the_client),
        cmocka_unit_test(caps_what_is_queued_for_a_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
