/* reply_test.c - what the handler says, as the client gets it, over real sockets. */
#include "acog/http.h"
#include "connection.h"
#include "tests/support/check.h"
#include "tests/support/http_story.h"
#include "tests/unit/http/loopback.h"

#include <linux/tcp.h>
#include <string.h>

static unsigned segments_received(const struct client *client)
{
    struct tcp_info info;
    socklen_t bytes = sizeof(info);
    assert_int_equal(getsockopt(client->fd, IPPROTO_TCP, TCP_INFO, &info, &bytes), 0);
    return info.tcpi_data_segs_in;
}

static void answers_with_one_send(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, POST("/echo", "3") "abc");
    WORLD_UNTIL(world, client_has(client, "/echoabc"));
    assert_int_equal(segments_received(client), 1);
    assert_true(client_has(client, "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ndate: "));
    assert_true(client_has(client, " GMT\r\ncontent-length: 8\r\n\r\n/echoabc"));
    assert_false(client_has(client, "connection"));
    assert_false(client_has(client, "erver:"));
}

static void sends_no_body_where_none_may_be(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, "HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n" GET(
                            "/204") "HEAD /chunks HTTP/1.1\r\nHost: a\r\n\r\n" GET("/end"));
    WORLD_UNTIL(world, client_has(client, "/end"));
    assert_true(client_has(client, "content-length: 5\r\n\r\nHTTP/1.1 204 No Content\r\n"));
    assert_true(client_has(client, " GMT\r\n\r\nHTTP/1.1 200 OK\r\n"));
    assert_true(client_has(client, "transfer-encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\n"));
}

/* B114: HTTP/1.0 keep-alive */
static void speaks_with_clients_of_http_1_0(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, "GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    WORLD_UNTIL(world, client_has(client, "\r\n\r\n/x"));
    assert_true(client_has(client, "HTTP/1.1 200 OK\r\n"));
    assert_true(client_has(client, "connection: keep-alive\r\ncontent-length: 2\r\n"));
    client_forget(client);
    client_send(client, "GET /chunks HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    WORLD_UNTIL(world, client->closed);
    assert_false(client->reset);
    assert_true(client_has(client, "connection: close\r\n\r\n/chunks"));
    assert_false(client_has(client, "transfer-encoding"));
}

static void sends_what_is_said_in_a_turn_together_and_at_once(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_data(stream, ACOG_VIEW("one"));
    acog_http_reply_data(stream, ACOG_VIEW("two"));
    WORLD_UNTIL(world, client_has(client, "3\r\none\r\n3\r\ntwo\r\n"));
    assert_int_equal(segments_received(client), 1);
    acog_http_reply_data(stream, ACOG_VIEW("three"));
    WORLD_UNTIL(world, client_has(client, "5\r\nthree\r\n"));
    assert_int_equal(segments_received(client), 2);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, client_has(client, "\r\n0\r\n\r\n"));
}

static void an_empty_piece_does_not_end_a_chunked_reply(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_data(stream, ACOG_VIEW(""));
    acog_http_reply_data(stream, ACOG_VIEW("x"));
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, client_has(client, "0\r\n\r\n"));
    assert_true(client_has(client, "\r\n\r\n1\r\nx\r\n0\r\n\r\n"));
}

/* Reads the reply that the client has; returns the bytes of its body, and checks that it is whole. */
static size_t read_reply(struct client *client)
{
    struct http_story story = {.role = ACOG_HTTP_RESPONSE,
                               .limits = {.head_bytes_max = 8192, .fields_max = 50},
                               .close = client->closed};
    http_story_tell(&story, acog_buffer_view(&client->got));
    assert_false(story.broken);
    assert_int_equal(story.messages, 1);
    http_story_fini(&story);
    return story.body_bytes;
}

/* How far the server is ahead of the client is bounded; every byte arrives, in its order. */
static void check_slow_reader(const char *request, size_t piece)
{
    struct world world = {0};
    struct client client;
    world_start(&world);
    client_open(&client, &world);
    client_send(&client, request);
    WORLD_UNTIL(&world, world.held_count == 1);
    struct acog_http_stream *stream = world.held[0];
    client_stop_reading(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    size_t bytes = world_fill(&world, stream, piece);
    assert_true(acog_output_queued(stream) <= 65536 + 2 * piece);
    world_rest(&world);
    assert_int_equal(world.drained, 0);
    client_read_on(&client);
    WORLD_UNTIL(&world, world.drained == 1);
    assert_false(acog_http_reply_full(stream));
    acog_http_reply_data(stream, ACOG_VIEW("last"));
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, client.closed || (client_has_end(&client, "0\r\n\r\n")));
    assert_false(client.reset);
    assert_int_equal(read_reply(&client), bytes + 4);
    assert_int_equal(world.drained, 1);
    client_close(&client);
    world_close(&world);
}

static void a_slow_reader_is_told_apart_and_drains(void **state)
{
    (void)state;
    check_slow_reader(GET("/hold"), 1000);
    check_slow_reader(GET("/hold"), 20000);
    check_slow_reader("GET /hold HTTP/1.0\r\n\r\n", 1000);
    check_slow_reader("GET /hold HTTP/1.0\r\n\r\n", 20000);
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
    struct acog_http_stream *stream = client_hold(&world, &client);
    client_stop_reading(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    (void)world_fill(&world, stream, 20000);
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
    options.write_ms = 500; /* long enough to fill the buffers meanwhile */
    world_open(&world, &options);
    client_open(&client, &world);
    struct acog_http_stream *stream = client_hold(&world, &client);
    client_stop_reading(&client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    (void)world_fill(&world, stream, 20000);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(&world, acog_http_server_connections(world.server) == 0);
    assert_int_equal(world.gone, 0);
    client_close(&client);
    world_close(&world);
}

static void cuts_data_beyond_the_promised_length(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    acog_http_reply_head(stream, 200, NULL, 0, 3);
    acog_http_reply_data(stream, ACOG_VIEW("abcdef"));
    acog_http_reply_data(stream, ACOG_VIEW("ghi"));
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, client->closed);
    assert_true(client_has(client, "content-length: 3\r\n\r\nabc"));
    assert_false(client_has(client, "abcd"));
    assert_false(client_has(client, "ghi"));
}

static void closes_after_a_reply_that_falls_short(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    acog_http_reply_head(stream, 200, NULL, 0, 5);
    acog_http_reply_data(stream, ACOG_VIEW("abc"));
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, client->closed);
    assert_true(client_has(client, "content-length: 5\r\n\r\nabc"));
}

static void aborts_a_chunked_reply_without_its_last_chunk(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_data(stream, ACOG_VIEW("abc"));
    acog_http_reply_abort(&stream);
    assert_null(stream);
    WORLD_UNTIL(world, client->closed);
    assert_true(client_has(client, "3\r\nabc\r\n"));
    assert_false(client_has(client, "0\r\n\r\n"));
}

static void resets_a_reply_whose_end_would_look_legal(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, "GET /hold HTTP/1.0\r\n\r\n");
    WORLD_UNTIL(world, world->held_count == 1);
    acog_http_reply_head(world->held[0], 200, NULL, 0, -1);
    acog_http_reply_data(world->held[0], ACOG_VIEW("abc"));
    acog_http_reply_abort(&world->held[0]);
    WORLD_UNTIL(world, client->closed);
    assert_true(client->reset);
}

static void leaves_out_headers_that_would_break_the_message(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
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
    WORLD_UNTIL(world, client_has(client, "\r\n\r\n"));
    assert_true(client_has(client, "HTTP/1.1 404 Not Found\r\nx-good: 1\r\nx-last: \r\ndate: "));
    assert_true(client_has(client, "GMT\r\ncontent-length: 0\r\n\r\n"));
}

static void never_tells_from_inside_a_reply(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    char *large = acog_new((size_t)1 << 20U);
    assert_non_null(large);
    struct acog_http_stream *stream = client_hold(world, client);
    client_reset(client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    /* Large enough to be sent from inside the call, which fails. */
    acog_http_reply_data(stream, (struct acog_view){.ptr = large, .len = (size_t)1 << 20U});
    acog_http_reply_data(stream, ACOG_VIEW("abc"));
    assert_int_equal(world->gone, 0);
    assert_int_equal(stream->connection->state, ACOG_CONNECTION_LOST);
    WORLD_UNTIL(world, world->gone == 1);
    acog_free(large);
}

static void a_stream_that_was_given_back_is_not_told_of(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    char *large = acog_new((size_t)1 << 20U);
    assert_non_null(large);
    struct acog_http_stream *stream = client_hold(world, client);
    client_reset(client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    acog_http_reply_data(stream, (struct acog_view){.ptr = large, .len = (size_t)1 << 20U});
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, acog_http_server_connections(world->server) == 0);
    assert_int_equal(world->gone, 0);
    acog_free(large);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void a_large_reply_without_memory_loses_the_client(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    client_stop_reading(client);
    acog_http_reply_head(stream, 200, NULL, 0, -1);
    static const char piece[(size_t)8 << 20U];
    acog_memory_fail_when(always, NULL);
    acog_http_reply_data(stream, (struct acog_view){.ptr = piece, .len = sizeof(piece)});
    acog_memory_fail_when(NULL, NULL);
    assert_int_equal(world->gone, 0);
    WORLD_UNTIL(world, world->gone == 1);
}

static void caps_what_is_queued_for_a_client(void **state)
{
    (void)state;
    struct world world = {0};
    struct client client;
    struct acog_http_server_options options = world_options(&world);
    world_open(&world, &options);
    client_open(&client, &world);
    struct acog_http_stream *stream = client_hold(&world, &client);
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
        TALK(answers_with_one_send),
        TALK(sends_no_body_where_none_may_be),
        TALK(speaks_with_clients_of_http_1_0),
        TALK(sends_what_is_said_in_a_turn_together_and_at_once),
        TALK(an_empty_piece_does_not_end_a_chunked_reply),
        cmocka_unit_test(a_slow_reader_is_told_apart_and_drains),
        cmocka_unit_test(a_client_that_takes_nothing_is_gone),
        cmocka_unit_test(a_whole_reply_that_nobody_takes_is_given_up),
        TALK(cuts_data_beyond_the_promised_length),
        TALK(closes_after_a_reply_that_falls_short),
        TALK(aborts_a_chunked_reply_without_its_last_chunk),
        TALK(resets_a_reply_whose_end_would_look_legal),
        TALK(leaves_out_headers_that_would_break_the_message),
        TALK(never_tells_from_inside_a_reply),
        TALK(a_stream_that_was_given_back_is_not_told_of),
        TALK(a_large_reply_without_memory_loses_the_client),
        cmocka_unit_test(caps_what_is_queued_for_a_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
