/* connection_read_test.c - how bytes become requests, what is refused of them, and where reading pauses. */
#include "acog/http.h"
#include "connection.h"
#include "tests/support/check.h"
#include "tests/unit/http/loopback.h"

#include <string.h>

static void answers_pipelined_requests_in_their_order(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, GET("/hold/1") POST("/two", "2") "hi" GET("/three"));
    WORLD_UNTIL(world, world->held_count == 1);
    world_rest(world);
    assert_int_equal(world->requests, 1);
    acog_http_reply_head(world->held[0], 200, NULL, 0, 3);
    acog_http_reply_data(world->held[0], ACOG_VIEW("one"));
    acog_http_reply_end(&world->held[0]);
    WORLD_UNTIL(world, client_has(client, "/three"));
    const char *text = client_text(client);
    assert_true(strstr(text, "one") < strstr(text, "/twohi"));
    assert_true(strstr(text, "/twohi") < strstr(text, "\r\n\r\n/three"));
    assert_string_equal(world_told(world), "/hold/1\n/two\n/three\n");
}

static void gathers_a_body_that_comes_byte_by_byte(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    const char *bytes = "POST /chunks HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    for (size_t i = 0; bytes[i] != '\0'; i++) {
        assert_int_equal(client_try_send(client, (struct acog_view){.ptr = bytes + i, .len = 1}),
                         1);
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    WORLD_UNTIL(world, client_has(client, "\r\n0\r\n\r\n"));
    assert_true(client_has(client, "transfer-encoding: chunked\r\n\r\n"
                                   "7\r\n/chunks\r\n5\r\nabcde\r\n0\r\n\r\n"));
}

static void gathers_a_large_body_and_sends_it_back(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    size_t bytes = (size_t)3 << 20U;
    char *body = acog_new(bytes);
    assert_non_null(body);
    memset(body, 'x', bytes);
    memcpy(body + bytes - 4, (const char[]){'l', 'a', 's', 't'}, 4);
    client_send(client, POST("/echo", "3145728"));
    size_t sent = 0;
    while (sent < bytes) {
        sent +=
            client_try_send(client, (struct acog_view){.ptr = body + sent, .len = bytes - sent});
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    WORLD_UNTIL(world, client->got.len > bytes && client_has_end(client, "last"));
    const char *at = strstr(client_text(client), "\r\n\r\n");
    assert_non_null(at);
    assert_memory_equal(at + 4, "/echo", 5);
    assert_memory_equal(at + 9, body, bytes);
    acog_free(body);
}

static void gives_a_body_back_while_the_reply_goes_on(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    char body[4097] = {0};
    memset(body, 'x', sizeof(body) - 1);
    client_send(client, POST("/hold", "4096"));
    client_send(client, body);
    WORLD_UNTIL(world, world->held_count == 1);
    assert_int_equal(world->held[0]->body.len, 4096);
    acog_http_reply_head(world->held[0], 200, NULL, 0, -1);
    acog_http_request_forget_body(world->held[0]);
    assert_int_equal(world->held[0]->body.room, 0);
    acog_http_reply_data(world->held[0], ACOG_VIEW("still here"));
    acog_http_request_forget_body(world->held[0]);
    acog_http_reply_end(&world->held[0]);
    client_send(client, POST("/next", "2") "hi"); /* takes memory of its own */
    WORLD_UNTIL(world, client_has(client, "/nexthi"));
    assert_true(client_has(client, "still here"));
}

static void does_not_take_memory_for_what_a_head_only_claims(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, POST("/echo", "4000000"));
    client_send(client, "0123456789");
    world_rest(world);
    const struct acog_http_connection *connection = TAILQ_FIRST(&world->server->connections);
    assert_int_equal(connection->state, ACOG_CONNECTION_BODY);
    assert_int_equal(connection->stream->body.len, 10);
    assert_true(connection->stream->body.room <= (size_t)2 * ACOG_HTTP_SCRATCH_BYTES);
}

static void says_continue_when_it_is_ready_for_the_body(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                        "Content-Length: 3\r\n\r\n");
    WORLD_UNTIL(world, client_has(client, "\r\n\r\n"));
    assert_string_equal(client_text(client), "HTTP/1.1 100 Continue\r\n\r\n");
    client_forget(client);
    client_send(client, "abc");
    WORLD_UNTIL(world, client_has(client, "/echoabc"));
    client_forget(client);
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                        "Content-Length: 3\r\n\r\nabc");
    WORLD_UNTIL(world, client_has(client, "/echoabc"));
    assert_false(client_has(client, "100 Continue"));
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
    struct client *client = *state;
    struct world *world = client->world;
    (void)client_hold(world, client);
    pause_reading_of(world, client);
    world_rest(world);
    assert_int_equal(world->gone, 0);
    client_reset(client);
    WORLD_UNTIL(world, world->gone == 1);
    client_open(client, world);
    (void)client_hold(world, client);
    pause_reading_of(world, client);
    client_close(client);
    WORLD_UNTIL(world, world->gone == 2);
    assert_int_equal(acog_http_server_connections(world->server), 0);
}

/* As if the pause had lasted as long as one may. */
static void let_pause_pass(struct world *world)
{
    struct acog_http_connection *connection = TAILQ_FIRST(&world->server->connections);
    assert_int_equal(connection->deadline, ACOG_DEADLINE_PAUSE);
    connection->since_ms -= ACOG_HTTP_PAUSE_MS;
    WORLD_UNTIL(world, connection->reading == ACOG_READING_WASTED);
}

/* TCP keeps the end of a connection back while the bytes before it find no room. */
static void sees_a_client_leave_behind_more_than_is_read(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    static const char junk[65536] = {'G'};
    const struct acog_view more = {.ptr = junk, .len = sizeof(junk)};
    (void)client_hold(world, client);
    pause_reading_of(world, client);
    while (client_try_send(client, more) > 0) {
        world_rest(world);
    }
    let_pause_pass(world);
    assert_int_equal(world->gone, 0); /* it is still there, and may want its answer */
    client_close(client);
    WORLD_UNTIL(world, world->gone == 1);
    assert_int_equal(world->requests, 1);
}

static void closes_after_the_reply_when_a_pause_was_too_long(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    pause_reading_of(world, client);
    let_pause_pass(world);
    client_send(client, GET("/never"));
    acog_http_reply_head(stream, 200, NULL, 0, 2);
    acog_http_reply_data(stream, ACOG_VIEW("ok"));
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, client->closed);
    assert_false(client->reset);
    assert_true(client_has(client, "connection: close\r\ncontent-length: 2\r\n\r\nok"));
    assert_int_equal(world->requests, 1);
}

static void throws_away_a_bounded_number_of_bytes(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    static const char junk[65536];
    size_t sent = 0;
    (void)client_hold(world, client);
    pause_reading_of(world, client);
    let_pause_pass(world);
    while (world->gone == 0) {
        sent += client_try_send(client, (struct acog_view){.ptr = junk, .len = sizeof(junk)});
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    assert_true(sent > ACOG_HTTP_LINGER_BYTES_MAX / 2); /* some came before */
}

static void reads_on_after_a_pause(void **state)
{
    struct client *client = *state;
    struct world *world = client->world;
    struct acog_http_stream *stream = client_hold(world, client);
    unsigned sent = 0;
    const struct acog_http_connection *connection = TAILQ_FIRST(&world->server->connections);
    while (connection->reading == ACOG_READING_ON) {
        client_send(client, POST("/x", "1000"));
        static const char body[1000];
        assert_int_equal(client_try_send(client, (struct acog_view){.ptr = body, .len = 1000}),
                         1000);
        sent++;
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    acog_http_reply_head(stream, 200, NULL, 0, 0);
    acog_http_reply_end(&stream);
    WORLD_UNTIL(world, world->requests == sent + 1);
    client_send(client, GET("/end"));
    WORLD_UNTIL(world, world->requests == sent + 2);
}

static void check_refused(const char *bytes, const char *status, const char *body)
{
    struct world world = {0};
    struct client client;
    world_start(&world);
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
    check_refused(
        "POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
        "Content-Length: 5\r\n\r\nabcde",
        "HTTP/1.1 400 Bad Request\r\nx-refused: yes\r\ncontent-type: application/json\r\n",
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
    struct client *client = *state;
    struct world *world = client->world;
    static const char piece[65536];
    client_send(client, POST("/x", "8000000"));
    size_t sent = 0;
    while (!client->closed && sent < 8000000) {
        sent += client_try_send(client, (struct acog_view){.ptr = piece, .len = sizeof(piece)});
        (void)event_base_loop(world->base, EVLOOP_NONBLOCK);
    }
    WORLD_UNTIL(world, client->closed);
    assert_false(client->reset);
    assert_true(client_has(client, "HTTP/1.1 413 "));
    client_close(client);
    WORLD_UNTIL(world, acog_http_server_connections(world->server) == 0);
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
    struct client *client = *state;
    struct world *world = client->world;
    client_send(client, GET("/one") "GET / HTTP/1.1\r\n\r\n" GET("/never"));
    WORLD_UNTIL(world, client->closed);
    const char *text = client_text(client);
    assert_true(strstr(text, "\r\n\r\n/one") < strstr(text, "HTTP/1.1 400 "));
    assert_int_equal(world->requests, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK(answers_pipelined_requests_in_their_order),
        TALK(gathers_a_body_that_comes_byte_by_byte),
        TALK(gathers_a_large_body_and_sends_it_back),
        TALK(gives_a_body_back_while_the_reply_goes_on),
        TALK(does_not_take_memory_for_what_a_head_only_claims),
        TALK(says_continue_when_it_is_ready_for_the_body),
        TALK(sees_a_reset_and_a_close_while_reading_pauses),
        TALK(sees_a_client_leave_behind_more_than_is_read),
        TALK(closes_after_the_reply_when_a_pause_was_too_long),
        TALK(throws_away_a_bounded_number_of_bytes),
        TALK(reads_on_after_a_pause),
        cmocka_unit_test(refuses_before_the_handler_hears_of_it),
        TALK(answers_413_to_a_client_that_goes_on_sending),
        cmocka_unit_test(refuses_large_heads),
        TALK(a_refusal_stands_behind_the_replies_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
