/* request_test.c - what goes out, and what becomes of it when the provider does not want it. */
#include "fixture.h"

#define HELLO      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define BODY_BYTES (5U << 20U)

static void the_request_is_a_head_and_its_pieces(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    char expected[512];
    int length = snprintf(expected, sizeof(expected),
                          "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:%u\r\n"
                          "user-agent: acog/" ACOG_VERSION "\r\naccept-encoding: identity\r\n"
                          "content-length: 17\r\nauthorization: Bearer sk-test\r\n\r\n"
                          "{\"model\":\"gpt-5\"}",
                          (unsigned)f->provider.port);
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->provider.last_request.len, length);
    assert_memory_equal(f->provider.last_request.ptr, expected, (size_t)length);
}

static void a_body_larger_than_the_socket_arrives_whole(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.bytes = ACOG_VIEW(HELLO)};
    char *body = acog_new(BODY_BYTES);
    for (size_t i = 0; i < BODY_BYTES; i++) {
        body[i] = (char)('a' + i % 23);
    }
    f->order.pieces[0] = (struct acog_view){.ptr = body, .len = 1000};
    f->order.pieces[1] = (struct acog_view){0};
    f->order.pieces[2] = (struct acog_view){.ptr = body + 1000, .len = BODY_BYTES - 1000};
    f->order.piece_count = 3;
    f->order.body_bytes = BODY_BYTES;
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_true(f->told.sent);
    const struct acog_buffer *request = &f->provider.last_request;
    assert_true(request->len > BODY_BYTES);
    assert_memory_equal(request->ptr + (request->len - BODY_BYTES), body, BODY_BYTES);
    assert_int_equal(acog_upstream_counts(f->upstream).idle, 1);
    acog_free(body);
}

/* A provider that refuses a body need not read it: its answer counts, not the broken upload. */
static void an_early_answer_is_told_although_the_upload_breaks(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 413 Too Large\r\nConnection: close\r\n"
                           "Content-Length: 3\r\n\r\nbig"),
        .then = ACOG_THEN_CLOSE, /* with unread bytes: a reset */
        .at_head = true,
    };
    char *body = acog_new(BODY_BYTES);
    f->order.pieces[0] = (struct acog_view){.ptr = body, .len = BODY_BYTES};
    f->order.piece_count = 1;
    f->order.body_bytes = BODY_BYTES;
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
    assert_int_equal(f->told.status, 413);
    assert_false(f->told.sent);
    expect_body(f, ACOG_VIEW("big"));
    assert_int_equal(acog_upstream_counts(f->upstream).open, 0);
    acog_free(body);
}

static void an_upload_that_breaks_without_an_answer_is_closed(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {.then = ACOG_THEN_RESET, .at_head = true};
    char *body = acog_new(BODY_BYTES);
    f->order.pieces[0] = (struct acog_view){.ptr = body, .len = BODY_BYTES};
    f->order.piece_count = 1;
    f->order.body_bytes = BODY_BYTES;
    script(f, &reply, 1);
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_CLOSED);
    acog_free(body);
}

static void a_header_that_cannot_be_sent_is_the_gateways_fault(void **state)
{
    struct fixture *f = *state;
    f->connection.key = ACOG_VIEW("sk-test\r\nx-evil: 1");
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_GATEWAY);
    assert_null(strstr(f->told.why, "sk-test"));
    assert_int_equal(f->provider.peer_count, 0);
}

static void a_channel_that_is_not_built_yet_says_so(void **state)
{
    struct fixture *f = *state;
    f->connection.channel = ACOG_CHANNEL_BEDROCK;
    send_and_finish(f);
    assert_int_equal(f->told.cause, ACOG_CAUSE_GATEWAY);
    assert_string_equal(f->told.why, "the channel is not available yet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_request_is_a_head_and_its_pieces),
        TEST(a_body_larger_than_the_socket_arrives_whole),
        TEST(an_early_answer_is_told_although_the_upload_breaks),
        TEST(an_upload_that_breaks_without_an_answer_is_closed),
        TEST(a_header_that_cannot_be_sent_is_the_gateways_fault),
        TEST(a_channel_that_is_not_built_yet_says_so),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
