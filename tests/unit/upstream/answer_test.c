/* answer_test.c - what a provider can send, over real sockets. */
#include "fixture.h"

#include <zlib.h>

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
#define HELLO   OK_HEAD "Content-Length: 5\r\n\r\nhello"

static void play(struct fixture *f, struct acog_view bytes, enum acog_then then)
{
    const struct scripted reply = {.bytes = bytes, .then = then};
    script(f, &reply, 1);
    send_and_finish(f);
    f->provider.script = NULL;
    f->provider.script_count = 0;
}

static void a_whole_answer_is_told(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW(HELLO), ACOG_THEN_STAY);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.connected, 1);
    assert_int_equal(f->told.reused, 0);
    assert_int_equal(f->told.status, 200);
    expect_body(f, ACOG_VIEW("hello"));
    assert_int_equal(acog_upstream_counts(f->upstream).idle, 1);
}

static void a_chunked_answer_is_told_without_its_chunks(void **state)
{
    struct fixture *f = *state;
    play(f,
         ACOG_VIEW(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"
                           "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nX-Trailer: 1\r\n\r\n"),
         ACOG_THEN_STAY);
    assert_int_equal(f->told.ends, 1);
    expect_body(f, ACOG_VIEW("hello"));
    assert_int_equal(acog_upstream_counts(f->upstream).idle, 1);
}

static void an_answer_until_close_ends_with_the_connection(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW(OK_HEAD "\r\nhello"), ACOG_THEN_CLOSE);
    assert_int_equal(f->told.ends, 1);
    expect_body(f, ACOG_VIEW("hello"));
    assert_int_equal(acog_upstream_counts(f->upstream).open, 0);
}

static void a_reset_is_no_end_of_an_answer_until_close(void **state)
{
    struct fixture *f = *state;
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    peer_send(&f->provider.peers[0], ACOG_VIEW(OK_HEAD "\r\nhel"));
    run_until(f, &f->told.bodies, 1);
    peer_close(&f->provider.peers[0], true);
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CUT);
}

static void interim_answers_are_skipped(void **state)
{
    struct fixture *f = *state;
    play(f,
         ACOG_VIEW("HTTP/1.1 100 Continue\r\n\r\n"
                   "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" HELLO),
         ACOG_THEN_STAY);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.status, 200);
    assert_false(holds(&f->told.headers, "link"));
    expect_body(f, ACOG_VIEW("hello"));
}

static void an_answer_without_body_ends_at_its_head(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW("HTTP/1.1 204 No Content\r\n\r\n"), ACOG_THEN_STAY);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.status, 204);
    assert_int_equal(f->told.bodies, 0);
    assert_int_equal(acog_upstream_counts(f->upstream).idle, 1);
}

/* B102 */
static void what_belongs_to_the_connection_is_not_told(void **state)
{
    struct fixture *f = *state;
    play(f,
         ACOG_VIEW("HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Int\r\nX-INT: 1\r\n"
                   "Keep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\nUpgrade: h2c\r\n"
                   "Trailer: X-T\r\nProxy-Authenticate: Basic\r\nContent-Type: text/plain\r\n"
                   "Retry-After: 3\r\n\r\n0\r\n\r\n"),
         ACOG_THEN_STAY);
    assert_int_equal(f->told.ends, 1);
    struct acog_view headers = acog_buffer_view(&f->told.headers);
    assert_true(acog_view_equal(headers, ACOG_VIEW("content-type: text/plain\nretry-after: 3\n")));
}

/* -- compressed (B104) ----------------------------------------------------------------------------- */

/* Compresses `text` into `out`, flushed; the stream goes on unless `last`. */
static size_t compress_piece(z_stream *zlib, struct acog_view text, bool last, char *out,
                             size_t room)
{
    unsigned char copy[4096];
    assert_true(text.len <= sizeof(copy));
    memcpy(copy, text.ptr, text.len);
    zlib->next_in = copy;
    zlib->avail_in = (uInt)text.len;
    zlib->next_out = (Bytef *)out;
    zlib->avail_out = (uInt)room;
    assert_true(deflate(zlib, last ? Z_FINISH : Z_SYNC_FLUSH) >= Z_OK);
    return room - zlib->avail_out;
}

static void gzip_events_come_out_one_by_one_as_they_were_flushed(void **state)
{
    struct fixture *f = *state;
    z_stream zlib = {0};
    char bytes[512];
    assert_int_equal(deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    struct peer *peer = &f->provider.peers[0];
    peer_send(peer, ACOG_VIEW("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                              "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (size_t i = 1; i <= 3; i++) {
        char chunk[600];
        size_t length =
            compress_piece(&zlib, ACOG_VIEW("data: {\"n\":1}\n\n"), i == 3, bytes, sizeof(bytes));
        int head = snprintf(chunk, sizeof(chunk), "%zx\r\n", length);
        memcpy(chunk + head, bytes, length);
        chunk[(size_t)head + length] = '\r';
        chunk[(size_t)head + length + 1] = '\n';
        peer_send(peer, (struct acog_view){.ptr = chunk, .len = (size_t)head + length + 2});
        run_until(f, &f->told.body.len, i * 15);
        assert_int_equal(f->told.body.len, i * 15);
    }
    (void)deflateEnd(&zlib);
    peer_send(peer, ACOG_VIEW("0\r\n\r\n"));
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.ends, 1);
    assert_false(holds(&f->told.headers, "content-encoding"));
    assert_true(holds(&f->provider.last_request, "\r\naccept-encoding: identity\r\n"));
}

/* An answer of `plain_bytes` zeros in gzip. */
static struct acog_view zeros_in_gzip(size_t plain_bytes, char *out, size_t room)
{
    char coded[60000];
    unsigned char zeros[4096] = {0};
    z_stream zlib = {.next_out = (Bytef *)coded, .avail_out = sizeof(coded)};
    assert_int_equal(deflateInit2(&zlib, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    while (plain_bytes > 0) {
        size_t bytes = plain_bytes < sizeof(zeros) ? plain_bytes : sizeof(zeros);
        zlib.next_in = zeros;
        zlib.avail_in = (uInt)bytes;
        plain_bytes -= bytes;
        assert_true(deflate(&zlib, plain_bytes == 0 ? Z_FINISH : Z_NO_FLUSH) >= Z_OK);
    }
    size_t length = sizeof(coded) - zlib.avail_out;
    (void)deflateEnd(&zlib);
    int head = snprintf(out, room, OK_HEAD "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                        length);
    assert_true((size_t)head + length <= room);
    memcpy(out + head, coded, length);
    return (struct acog_view){.ptr = out, .len = (size_t)head + length};
}

static void a_decompression_bomb_is_a_bad_answer(void **state)
{
    struct fixture *f = *state;
    char bytes[61000];
    play(f, zeros_in_gzip((1U << 20U) + 1, bytes, sizeof(bytes)), ACOG_THEN_STAY);
    assert_int_equal(f->told.cause, ACOG_CAUSE_BAD_ANSWER);
    assert_string_equal(f->told.why, "the decompressed answer is over the limit");
    assert_true(f->told.body.len <= 1U << 20U);
    assert_int_equal(acog_upstream_counts(f->upstream).open, 0);
}

static void a_gzip_answer_up_to_the_limit_is_whole(void **state)
{
    struct fixture *f = *state;
    char bytes[61000];
    play(f, zeros_in_gzip(1U << 20U, bytes, sizeof(bytes)), ACOG_THEN_STAY);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.body.len, 1U << 20U);
}

static void a_pause_holds_what_a_small_compressed_piece_grows_to(void **state)
{
    struct fixture *f = *state;
    char bytes[61000];
    const struct scripted reply = {.bytes = zeros_in_gzip(1U << 20U, bytes, sizeof(bytes))};
    script(f, &reply, 1);
    f->pause_at_bodies = 1;
    send_order(f);
    run_until(f, &f->told.bodies, 1);
    settle(f);
    assert_int_equal(f->told.bodies, 1);
    assert_true(f->told.body.len <= 65536);
    f->pause_at_bodies = 3;
    acog_upstream_pause(f->call, false);
    run_until(f, &f->told.bodies, 3);
    settle(f);
    assert_int_equal(f->told.bodies, 3);
    f->pause_at_bodies = 0;
    acog_upstream_pause(f->call, false);
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.body.len, 1U << 20U);
}

static void broken_gzip_is_a_bad_answer(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW(OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"),
         ACOG_THEN_STAY);
    assert_int_equal(f->told.cause, ACOG_CAUSE_BAD_ANSWER);
}

static void gzip_that_ends_too_early_is_a_bad_answer(void **state)
{
    struct fixture *f = *state;
    play(f,
         ACOG_VIEW(OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 10\r\n\r\n"
                           "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"),
         ACOG_THEN_STAY);
    assert_int_equal(f->told.cause, ACOG_CAUSE_BAD_ANSWER);
}

static void a_coding_nobody_asked_for_is_a_bad_answer_before_the_head(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW(OK_HEAD "Content-Encoding: br\r\nContent-Length: 5\r\n\r\nhello"),
         ACOG_THEN_STAY);
    assert_int_equal(f->told.cause, ACOG_CAUSE_BAD_ANSWER);
    assert_int_equal(f->told.heads, 0);
}

static void an_error_with_an_unreadable_body_still_tells_its_status(void **state)
{
    struct fixture *f = *state;
    play(f,
         ACOG_VIEW("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Encoding: gzip, br\r\n"
                   "Content-Length: 5\r\n\r\nhello"),
         ACOG_THEN_STAY);
    assert_int_equal(f->told.status, 429);
    assert_true(holds(&f->told.headers, "retry-after: 7"));
    assert_int_equal(f->told.cause, ACOG_CAUSE_BAD_ANSWER);
}

/* -- ends that are none ---------------------------------------------------------------------------- */

static void a_close_inside_the_body_is_a_cut(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW(OK_HEAD "Content-Length: 50\r\n\r\nhello"), ACOG_THEN_CLOSE);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CUT);
    expect_body(f, ACOG_VIEW("hello"));
    assert_int_equal(f->told.failures, 1);
}

static void a_close_between_chunks_is_a_cut(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), ACOG_THEN_CLOSE);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CUT);
    expect_body(f, ACOG_VIEW("hello"));
}

static void a_close_before_any_byte_is_told_as_closed(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW(""), ACOG_THEN_CLOSE);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CLOSED);
    assert_false(f->told.reused_no_byte);
}

static void a_reset_before_the_head_is_told_as_closed(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW(""), ACOG_THEN_RESET);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CLOSED);
    assert_non_null(strstr(f->told.why, "reset"));
}

static void a_close_inside_the_head_is_told_as_closed(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW("HTTP/1.1 200 OK\r\nContent-"), ACOG_THEN_CLOSE);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CLOSED);
    assert_false(f->told.reused_no_byte);
}

static void broken_http_is_a_bad_answer(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
         ACOG_THEN_STAY);
    assert_int_equal(f->told.cause, ACOG_CAUSE_BAD_ANSWER);
    assert_int_equal(f->told.heads, 0);
    assert_int_equal(acog_upstream_counts(f->upstream).open, 0);
}

static void a_head_over_the_limit_is_a_bad_answer(void **state)
{
    struct fixture *f = *state;
    char bytes[70000];
    int head = snprintf(bytes, sizeof(bytes), "HTTP/1.1 200 OK\r\nX-Long: ");
    memset(bytes + head, 'x', sizeof(bytes) - (size_t)head);
    play(f, (struct acog_view){.ptr = bytes, .len = sizeof(bytes)}, ACOG_THEN_STAY);
    assert_int_equal(f->told.cause, ACOG_CAUSE_BAD_ANSWER);
}

static void a_tls_server_on_a_plain_port_is_a_bad_answer(void **state)
{
    struct fixture *f = *state;
    play(f, ACOG_VIEW("\x15\x03\x03\x00\x02\x02\x0a"), ACOG_THEN_STAY);
    assert_int_equal(f->told.cause, ACOG_CAUSE_BAD_ANSWER);
}

/* -- bytes one by one, and pauses ------------------------------------------------------------------ */

static void an_answer_may_come_byte_by_byte(void **state)
{
    struct fixture *f = *state;
    const struct acog_view answer =
        ACOG_VIEW("HTTP/1.1 100 Continue\r\n\r\n" OK_HEAD
                  "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n");
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    for (size_t i = 0; i < answer.len; i++) {
        assert_int_equal(f->told.finished, 0);
        peer_send(&f->provider.peers[0], acog_view_slice(answer, i, i + 1));
        settle(f);
    }
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.ends, 1);
    expect_body(f, ACOG_VIEW("hello"));
}

static void a_pause_stops_the_bytes_that_came_together(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"
                                   "3\r\nhel\r\n2\r\nlo\r\n1\r\n!\r\n0\r\n\r\n")};
    script(f, &reply, 1);
    f->pause_at_bodies = 1;
    send_order(f);
    run_until(f, &f->told.bodies, 1);
    settle(f);
    expect_body(f, ACOG_VIEW("hel"));
    assert_int_equal(f->told.finished, 0);
    f->pause_at_bodies = 2;
    acog_upstream_pause(f->call, false);
    run_until(f, &f->told.bodies, 2);
    settle(f);
    expect_body(f, ACOG_VIEW("hello"));
    acog_upstream_pause(f->call, false);
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.ends, 1);
    expect_body(f, ACOG_VIEW("hello!"));
}

static void a_pause_holds_from_the_first_moment(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    script(f, &reply, 1);
    for (size_t i = 1; i <= 2; i++) { /* a new connection, then a reused one */
        send_order(f);
        acog_upstream_pause(f->call, true);
        run_until(f, &f->told.connected, 1);
        run_until(f, &f->provider.requests, i);
        settle(f);
        assert_int_equal(f->told.heads, 0);
        acog_upstream_pause(f->call, false);
        run_until(f, &f->told.finished, 1);
        assert_int_equal(f->told.ends, 1);
        assert_int_equal(f->told.reused, i - 1);
        expect_body(f, ACOG_VIEW("hello"));
    }
}

static void while_paused_the_provider_is_not_read(void **state)
{
    struct fixture *f = *state;

    static char piece[65536];
    f->pause_at_bodies = 1;
    send_order(f);
    run_until(f, &f->provider.requests, 1);
    struct peer *peer = &f->provider.peers[0];
    peer_send(peer, ACOG_VIEW(OK_HEAD "\r\nx"));
    run_until(f, &f->told.bodies, 1);
    size_t sent = 1;
    bool full = false;
    for (size_t i = 0; i < 1024 && !full; i++) {
        ssize_t moved = send(peer->socket, piece, sizeof(piece), MSG_NOSIGNAL);
        full = moved < 0;
        sent += moved > 0 ? (size_t)moved : 0;
        settle(f);
    }
    assert_true(full); /* the kernel holds the rest back: nobody reads */
    assert_int_equal(f->told.body.len, 1);
    acog_upstream_pause(f->call, false);
    run_until(f, &f->told.body.len, sent);
    peer_close(peer, false);
    run_until(f, &f->told.finished, 1);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.body.len, sent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_answer_is_told),
        TEST(a_chunked_answer_is_told_without_its_chunks),
        TEST(an_answer_until_close_ends_with_the_connection),
        TEST(a_reset_is_no_end_of_an_answer_until_close),
        TEST(interim_answers_are_skipped),
        TEST(an_answer_without_body_ends_at_its_head),
        TEST(what_belongs_to_the_connection_is_not_told),
        TEST(gzip_events_come_out_one_by_one_as_they_were_flushed),
        TEST(a_decompression_bomb_is_a_bad_answer),
        TEST(a_gzip_answer_up_to_the_limit_is_whole),
        TEST(a_pause_holds_what_a_small_compressed_piece_grows_to),
        TEST(broken_gzip_is_a_bad_answer),
        TEST(gzip_that_ends_too_early_is_a_bad_answer),
        TEST(a_coding_nobody_asked_for_is_a_bad_answer_before_the_head),
        TEST(an_error_with_an_unreadable_body_still_tells_its_status),
        TEST(a_close_inside_the_body_is_a_cut),
        TEST(a_close_between_chunks_is_a_cut),
        TEST(a_close_before_any_byte_is_told_as_closed),
        TEST(a_reset_before_the_head_is_told_as_closed),
        TEST(a_close_inside_the_head_is_told_as_closed),
        TEST(broken_http_is_a_bad_answer),
        TEST(a_head_over_the_limit_is_a_bad_answer),
        TEST(a_tls_server_on_a_plain_port_is_a_bad_answer),
        TEST(an_answer_may_come_byte_by_byte),
        TEST(a_pause_stops_the_bytes_that_came_together),
        TEST(a_pause_holds_from_the_first_moment),
        TEST(while_paused_the_provider_is_not_read),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
