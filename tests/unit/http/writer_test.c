/* writer_test.c - heads as bytes, and what is refused because it would break them. */
#include "acog/http.h"
#include "tests/support/check.h"

static void check_bytes(const struct acog_buffer *buffer, const char *expected)
{
    assert_true(acog_view_equal(acog_buffer_view(buffer), acog_view_of(expected)));
}

static void writes_a_request(void **state)
{
    (void)state;
    struct acog_buffer out;
    acog_buffer_init(&out, 4096);
    const struct acog_header_row rows[] = {{ACOG_VIEW("host"), ACOG_VIEW("api.example")},
                                           {ACOG_VIEW("x-empty"), ACOG_VIEW("")},
                                           {ACOG_VIEW("content-length"), ACOG_VIEW("3")}};
    assert_int_equal(
        acog_http_write_request(&out, ACOG_VIEW("POST"), ACOG_VIEW("/v1/x?y=1"), rows, 3), ACOG_OK);
    check_bytes(&out, "POST /v1/x?y=1 HTTP/1.1\r\nhost: api.example\r\nx-empty: \r\n"
                      "content-length: 3\r\n\r\n");
    acog_buffer_fini(&out);
}

static void writes_a_status_and_headers(void **state)
{
    (void)state;
    struct acog_buffer out;
    acog_buffer_init(&out, 4096);
    assert_int_equal(acog_http_write_status(&out, 200), ACOG_OK);
    assert_int_equal(acog_http_write_header(&out, ACOG_VIEW("x-tab"), ACOG_VIEW("a\tb \xc3\xbc")),
                     ACOG_OK);
    assert_int_equal(acog_http_write_status(&out, 529), ACOG_OK);
    assert_int_equal(acog_http_write_status(&out, 799), ACOG_OK);
    check_bytes(&out, "HTTP/1.1 200 OK\r\nx-tab: a\tb \xc3\xbc\r\nHTTP/1.1 529 Overloaded\r\n"
                      "HTTP/1.1 799 \r\n");
    acog_buffer_fini(&out);
}

/* B102: nothing that a header carries becomes a header of its own */
static void refuses_what_would_break_the_head_and_writes_nothing(void **state)
{
    (void)state;
    struct acog_buffer out;
    acog_buffer_init(&out, 4096);
    static const struct acog_header_row bad[] = {
        {{"", 0}, {"x", 1}},      {{"a b", 3}, {"x", 1}},    {{"a:", 2}, {"x", 1}},
        {{"a\r\n", 3}, {"x", 1}}, {{"a", 1}, {"x\r\ny", 4}}, {{"a", 1}, {"x\ny", 3}},
        {{"a", 1}, {"x\0y", 3}},  {{"a", 1}, {"x\x7f", 2}},  {{"\xc3\xbc", 2}, {"x", 1}},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct acog_header_row rows[] = {{ACOG_VIEW("good"), ACOG_VIEW("1")}, bad[i]};
        assert_int_equal(acog_http_write_header(&out, bad[i].name, bad[i].value), ACOG_INVALID);
        assert_int_equal(acog_http_write_request(&out, ACOG_VIEW("GET"), ACOG_VIEW("/"), rows, 2),
                         ACOG_INVALID);
    }
    static const char *const targets[] = {"", "/a b", "/a\r\nx: y", "/caf\xc3\xa9", "/#"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        assert_int_equal(
            acog_http_write_request(&out, ACOG_VIEW("GET"), acog_view_of(targets[i]), NULL, 0),
            ACOG_INVALID);
    }
    assert_int_equal(acog_http_write_request(&out, ACOG_VIEW("G T"), ACOG_VIEW("/"), NULL, 0),
                     ACOG_INVALID);
    assert_int_equal(acog_http_write_status(&out, 99), ACOG_INVALID);
    assert_int_equal(acog_http_write_status(&out, 1000), ACOG_INVALID);
    assert_int_equal(out.len, 0);
    acog_buffer_fini(&out);
}

static void a_full_buffer_keeps_what_it_had(void **state)
{
    (void)state;
    struct acog_buffer out;
    acog_buffer_init(&out, 20);
    assert_int_equal(acog_http_write_status(&out, 200), ACOG_OK);
    assert_int_equal(acog_http_write_header(&out, ACOG_VIEW("name"), ACOG_VIEW("v")), ACOG_TOO_BIG);
    assert_int_equal(acog_http_write_status(&out, 200), ACOG_TOO_BIG);
    assert_int_equal(acog_http_write_request(&out, ACOG_VIEW("GET"), ACOG_VIEW("/"), NULL, 0),
                     ACOG_TOO_BIG);
    check_bytes(&out, "HTTP/1.1 200 OK\r\n");
    acog_buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_a_request),
        cmocka_unit_test(writes_a_status_and_headers),
        cmocka_unit_test(refuses_what_would_break_the_head_and_writes_nothing),
        cmocka_unit_test(a_full_buffer_keeps_what_it_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
