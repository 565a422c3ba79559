/* reader_test.c - what the reader takes and what it refuses, each message whole and one byte at a time. */
#include "acog/http.h"
#include "tests/support/check.h"
#include "tests/unit/http/told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_target(const char *target, const char *expected)
{
    char bytes[512];
    (void)snprintf(bytes, sizeof(bytes), "GET %s HTTP/1.1\r\nHost: a:80\r\n\r\n", target);
    check_request(bytes, expected);
}

static void check_host(const char *host, const char *expected)
{
    char bytes[512];
    (void)snprintf(bytes, sizeof(bytes), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);
    check_request(bytes, expected);
}

static void reads_a_request_with_a_length(void **state)
{
    (void)state;
    check_request("POST /v1/messages?beta=true HTTP/1.1\r\nHost: localhost:4000\r\n"
                  "X-Api-Key:   k \t\r\nCONTENT-LENGTH: 3\r\nempty:\r\n\r\nabc",
                  "head POST /v1/messages?beta=true 1.1 length=3 keep "
                  "[host=localhost:4000][x-api-key=k][content-length=3][empty=]\n"
                  "body \"abc\"\nend\n");
}

static void reads_requests_one_after_another(void **state)
{
    (void)state;
    check_request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
                  "\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n"
                  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
                  "head POST / 1.1 length=2 keep [host=a][content-length=2]\nbody \"hi\"\nend\n"
                  "head GET /x 1.1 no-body keep [host=a]\nend\n"
                  "head POST / 1.1 length=0 keep [host=a][content-length=0]\nend\n");
}

static void ignores_two_empty_lines_before_a_request_and_no_more(void **state)
{
    (void)state;
    check_request("\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                  "broken 400 too many empty lines before a request\n");
    check_request("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                  "broken 400 CR without LF before a request\n");
}

/* B111 */
static void refuses_two_lengths_and_a_length_beside_a_coding(void **state)
{
    (void)state;
    check_header("Content-Length: 3\r\nContent-Length: 5",
                 "broken 400 more than one Content-Length\n");
    check_header("Content-Length: 3\r\nContent-Length: 3",
                 "broken 400 more than one Content-Length\n");
    check_header("Content-Length: 5\r\nTransfer-Encoding: chunked",
                 "broken 400 Content-Length beside Transfer-Encoding\n");
    check_header("Transfer-Encoding: chunked\r\nContent-Length: 5",
                 "broken 400 Content-Length beside Transfer-Encoding\n");
    check_header("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                 "broken 400 more than one Transfer-Encoding\n");
}

static void refuses_lengths_that_are_no_number(void **state)
{
    (void)state;
    static const char *const values[] = {"+3",  "-3",  "0x3", "3,3", "3, 3",
                                         "3 3", "1e3", "",    "3;",  "18446744073709551616"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char lines[64];
        (void)snprintf(lines, sizeof(lines), "Content-Length: %s", values[i]);
        check_header(lines, "broken 400 bad Content-Length\n");
    }
}

static void refuses_other_codings(void **state)
{
    (void)state;
    static const char *const values[] = {
        "xchunked", "gzip, chunked", "chunked, identity", "identity",
        "",         "chunked;q=1",   "\"chunked\"",       "chunked,"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char lines[64];
        (void)snprintf(lines, sizeof(lines), "Transfer-Encoding: %s", values[i]);
        check_header(lines, "broken 501 the only transfer coding is chunked\n");
    }
    check_header("Transfer-Encoding: chunk\ved",
                 "broken 400 a control character in a header value\n");
    check_request("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
                  "broken 400 Transfer-Encoding in HTTP/1.0\n");
}

/* B114 */
static void refuses_malformed_fields(void **state)
{
    (void)state;
    check_header("name : value", "broken 400 bad header name\n");
    check_header("na me: value", "broken 400 bad header name\n");
    check_header("no-colon", "broken 400 bad header name\n");
    check_header(": value", "broken 400 bad header name\n");
    check_header("na\xc3\xafve: value", "broken 400 bad header name\n");
    check_header("name: value\r\n folded", "broken 400 a folded header line\n");
    check_header("name: value\r\n\tfolded", "broken 400 a folded header line\n");
    check_header("name: a\x7f", "broken 400 a control character in a header value\n");
    check_header("name: a\rb", "broken 400 a control character in a header value\n");
    check_header("name: value\nnext: value", "broken 400 a line ends with LF alone\n");
    struct http_story story = {.role = ACOG_HTTP_REQUEST};
    check_story(story, ACOG_VIEW("GET / HTTP/1.1\r\nHost: a\r\nname: a\0b\r\n\r\n"),
                "broken 400 a control character in a header value\n");
    check_story(story, ACOG_VIEW("GET / HTTP/1.1\r\nHost: a\r\nna\0me: b\r\n\r\n"),
                "broken 400 bad header name\n");
}

static void takes_bytes_above_ascii_and_tabs_in_values(void **state)
{
    (void)state;
    check_header("name: D\xc3\xbcsseldorf\t\xff 0123456789abcdef0123456789abcdef",
                 "head POST / 1.1 no-body keep "
                 "[host=a][name=D\xc3\xbcsseldorf\t\xff 0123456789abcdef0123456789abcdef]\nend\n");
}

static void refuses_a_bad_first_line(void **state)
{
    (void)state;

    static const struct {
        const char *line;
        const char *problem;
    } cases[] = {
        {"\x16\x03\x01", "broken 400 these bytes are not HTTP/1.1\n"},
        {" GET / HTTP/1.1\r\n\r\n", "broken 400 these bytes are not HTTP/1.1\n"},
        {"GET / HTTP/1.1\n", "broken 400 a line ends with LF alone\n"},
        {"GET\t/ HTTP/1.1\r\n\r\n", "broken 400 bad method\n"},
        {"G\"T / HTTP/1.1\r\n\r\n", "broken 400 bad method\n"},
        {"GET\r\n\r\n", "broken 400 bad method\n"},
        {"GET  / HTTP/1.1\r\n\r\n", "broken 400 bad request target\n"},
        {"GET /\r\n\r\n", "broken 400 bad request target\n"},
        {"GET / \r\n\r\n", "broken 400 the first line has no HTTP version\n"},
        {"GET /  HTTP/1.1\r\n\r\n", "broken 400 the first line has no HTTP version\n"},
        {"GET / http/1.1\r\n\r\n", "broken 400 the first line has no HTTP version\n"},
        {"GET / HTTP/1.1 \r\n\r\n", "broken 400 bad request line\n"},
        {"GET / HTTP/1\r\n\r\n", "broken 400 bad HTTP version\n"},
        {"GET / HTTP/11\r\n\r\n", "broken 400 bad HTTP version\n"},
        {"GET / HTTP/1.1x\r\n\r\n", "broken 400 bad request line\n"},
        {"GET / HTTP/1.2\r\n\r\n", "broken 505 only HTTP/1.1 and HTTP/1.0 are spoken here\n"},
        {"PRI * HTTP/2.0\r\n\r\n", "broken 400 the target * is for OPTIONS\n"},
        {"GET / HTTP/2.0\r\n\r\n", "broken 505 only HTTP/1.1 and HTTP/1.0 are spoken here\n"},
        {"GET / HTTP/0.9\r\n\r\n", "broken 505 only HTTP/1.1 and HTTP/1.0 are spoken here\n"},
        {"CONNECT a:80 HTTP/1.1\r\n\r\n", "broken 501 CONNECT is not offered\n"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_request(cases[i].line, cases[i].problem);
    }
}

/* B114 */
static void takes_absolute_targets_of_the_host_only(void **state)
{
    (void)state;
    check_target("http://a:80/v1/x?y", "head GET /v1/x?y 1.1 no-body keep [host=a:80]\nend\n");
    check_target("HTTPS://A:80", "head GET / 1.1 no-body keep [host=a:80]\nend\n");
    check_target("http://a:80?q=1", "head GET /?q=1 1.1 no-body keep [host=a:80]\nend\n");
    check_target("http://evil.example/v1/messages",
                 "broken 400 the target names another host than Host does\n");
    check_target("http://user@a:80/", "broken 400 the target names another host than Host does\n");
    check_target("http:///x", "broken 400 the target names another host than Host does\n");
    check_target("ftp://a:80/", "broken 400 bad request target\n");
    check_target("a:80", "broken 400 bad request target\n");
    check_target("v1/x", "broken 400 bad request target\n");
    check_target("?http://a:80/", "broken 400 bad request target\n");
    check_request("GET http://a/ HTTP/1.0\r\n\r\n",
                  "broken 400 the target names another host than Host does\n");
    check_request("GET http:///x HTTP/1.0\r\n\r\n",
                  "broken 400 the target names another host than Host does\n");
    check_target("*/v1/x", "broken 400 the target * is for OPTIONS\n");
    check_request("OPTIONS *x HTTP/1.1\r\nHost: a\r\n\r\n",
                  "broken 400 the target * is for OPTIONS\n");
}

static void leaves_paths_as_they_are_written(void **state)
{
    (void)state;
    check_target("/v1/messages/../admin",
                 "head GET /v1/messages/../admin 1.1 no-body keep [host=a:80]\nend\n");
    check_target("//v1/messages", "head GET //v1/messages 1.1 no-body keep [host=a:80]\nend\n");
    check_target("/%2e%2e/x", "head GET /%2e%2e/x 1.1 no-body keep [host=a:80]\nend\n");
}

static void refuses_bytes_that_no_target_has(void **state)
{
    (void)state;
    check_target("/a#b", "broken 400 bad request target\n");
    check_target("/caf\xc3\xa9", "broken 400 bad request target\n");
    check_target("/0123456789abcdef0123456789\x7f", "broken 400 bad request target\n");
    check_target("/a\tb", "broken 400 bad request target\n");
    check_target("/a b", "broken 400 the first line has no HTTP version\n");
    check_target("*", "broken 400 the target * is for OPTIONS\n");
    check_request("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
                  "head OPTIONS * 1.1 no-body keep [host=a]\nend\n");
}

/* B114 */
static void wants_one_good_host(void **state)
{
    (void)state;
    check_request("GET / HTTP/1.1\r\n\r\n", "broken 400 no Host\n");
    check_request("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
                  "broken 400 more than one Host\n");
    check_request("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n",
                  "broken 400 more than one Host\n");
    check_request("GET / HTTP/1.0\r\n\r\n", "head GET / 1.0 no-body close \nend\n");
    static const char *const bad[] = {"",      "a b",  "a/b",  "a:b", "a:70000",
                                      "a@b",   "[::1", "[]",   "[g]", "a,b c",
                                      "a:1:2", "%zz",  "a\\b", ":80", "http://a"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        check_host(bad[i], "broken 400 bad Host\n");
    }
    static const char *const good[] = {"a",        "a:",    "a:65535",        "[::1]",
                                       "[::1]:80", "a_b.c", "127.0.0.1:4000", "a%20b"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        char expected[128];
        (void)snprintf(expected, sizeof(expected), "head GET / 1.1 no-body keep [host=%s]\nend\n",
                       good[i]);
        check_host(good[i], expected);
    }
}

static void keeps_the_connection_as_the_head_says(void **state)
{
    (void)state;
    check_header("Connection: x, Close",
                 "head POST / 1.1 no-body close [host=a][connection=x, Close]\nend\n");
    check_header("Connection: keep-alive, close",
                 "head POST / 1.1 no-body close [host=a][connection=keep-alive, close]\nend\n");
    check_header("Connection: closed",
                 "head POST / 1.1 no-body keep [host=a][connection=closed]\nend\n");
    check_header("Connection: x\r\nConnection:close",
                 "head POST / 1.1 no-body close [host=a][connection=x][connection=close]\nend\n");
    check_request("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
                  "head GET / 1.0 no-body keep [connection=Keep-Alive]\nend\n");
    check_request("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET",
                  "head GET / 1.1 no-body close [host=a][connection=close]\nend\n");
}

static void knows_one_expectation(void **state)
{
    (void)state;
    check_header("Expect: 100-Continue\r\nContent-Length: 0",
                 "head POST / 1.1 length=0 keep expect "
                 "[host=a][expect=100-Continue][content-length=0]\nend\n");
    check_header("Expect: 200-ok", "broken 417 the only expectation is 100-continue\n");
    check_header("Expect: 100-continue\r\nExpect: 100-continue",
                 "broken 417 more than one Expect\n");
    check_request("POST / HTTP/1.0\r\nExpect: x\r\nExpect: x\r\n\r\n",
                  "broken 417 more than one Expect\n");
    check_request("POST / HTTP/1.0\r\nExpect: x\r\n\r\n",
                  "head POST / 1.0 no-body close [expect=x]\nend\n");
}

/* B113 */
static void caps_the_head(void **state)
{
    (void)state;
    char bytes[4096];
    char fill[4000];
    memset(fill, 'x', sizeof(fill));
    (void)snprintf(bytes, sizeof(bytes), "GET / HTTP/1.1\r\nHost: a\r\nx: %.2010s\r\n\r\n", fill);
    struct http_story fits = {.role = ACOG_HTTP_REQUEST, .limits = usual};
    http_story_tell(&fits, acog_view_of(bytes));
    assert_int_equal(strlen(bytes), 2042);
    assert_int_equal(fits.messages, 1);
    http_story_fini(&fits);
    (void)snprintf(bytes, sizeof(bytes), "GET / HTTP/1.1\r\nHost: a\r\nx: %.2017s\r\n\r\n", fill);
    check_request(bytes, "broken 431 the head is too large\n");
    (void)snprintf(bytes, sizeof(bytes), "GET /%.3000s", fill);
    check_request(bytes, "broken 431 the head is too large\n");
}

/* The target of a head that is refused before its end: whoever answers wants to know whom. */
static void check_told_target(const char *bytes, size_t piece, const char *target)
{
    struct acog_http_reader reader;
    acog_http_reader_init(&reader, ACOG_HTTP_REQUEST, &usual);
    struct acog_view rest = acog_view_of(bytes);
    enum acog_http_step step = ACOG_HTTP_STEP_MORE;
    while (rest.len > 0 && step == ACOG_HTTP_STEP_MORE) {
        size_t used = 0;
        struct acog_view body = {0};
        step = acog_http_reader_feed(&reader, acog_view_slice(rest, 0, piece), &used, &body);
        rest = acog_view_slice(rest, used, rest.len);
    }
    if (step == ACOG_HTTP_STEP_MORE) {
        step = acog_http_reader_close(&reader);
    }
    assert_int_equal(step, ACOG_HTTP_STEP_BROKEN);
    assert_int_equal(reader.head.target.len, strlen(target));
    assert_true(acog_view_equal(reader.head.target, acog_view_of(target)));
    acog_http_reader_fini(&reader);
}

static void tells_the_target_of_a_head_without_end(void **state)
{
    (void)state;
    char large[4096];
    (void)snprintf(large, sizeof(large), "POST /v1/messages HTTP/1.1\r\nx: %03000d", 1);
    static const size_t pieces[] = {1, 7, sizeof(large)};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        check_told_target(large, pieces[i], "/v1/messages");
        check_told_target("POST /v1/messages HTTP/1.1\r\nHost: a\n", pieces[i], "/v1/messages");
        check_told_target("POST /v1/messages HTTP/1.1\r\nHost:", pieces[i], "/v1/messages");
        check_told_target("POST /v1/messages HTTP/9.9\r\nHost:", pieces[i], "/v1/messages");
        check_told_target("POST /v1/messages HTTP/1.1", pieces[i], "");
        check_told_target("POST \x01/v1/messages HTTP/1.1\r\nHost:", pieces[i], "");
    }
}

static void caps_the_number_of_fields(void **state)
{
    (void)state;
    char bytes[2048] = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int i = 0; i < 20; i++) {
        size_t at = strlen(bytes);
        (void)snprintf(bytes + at, sizeof(bytes) - at, "n%d: v\r\n", i);
    }
    size_t at = strlen(bytes);
    (void)snprintf(bytes + at, sizeof(bytes) - at, "\r\n");
    check_request(bytes, "broken 431 too many headers\n");
}

/* B113 (d) */
static void caps_the_body(void **state)
{
    (void)state;
    check_header("Content-Length: 50000000", "broken 413 the body is too large\n");
    check_header("Content-Length: 1001", "broken 413 the body is too large\n");
    check_header("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3e6\r\n",
                 "head POST / 1.1 chunked keep [host=a][transfer-encoding=chunked]\n"
                 "body \"abc\"\nbroken 413 the body is too large\n");
    check_header("Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
                 "head POST / 1.1 chunked keep [host=a][transfer-encoding=chunked]\n"
                 "broken 413 the body is too large\n");
}

static void reads_responses_of_every_framing(void **state)
{
    (void)state;
    check_response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
                   "head 200 1.1 length=2 keep [content-length=2]\nbody \"hi\"\nend\n");
    check_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
                   "head 200 1.1 chunked keep [transfer-encoding=CHUNKED]\nbody \"hi\"\nend\n");
    check_response("HTTP/1.1 200 OK\r\n\r\nuntil\r\nclose",
                   "head 200 1.1 until-close close \nbody \"until\r\nclose\"\nend\n");
    check_response("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n",
                   "head 200 1.0 until-close close [connection=keep-alive]\nend\n");
    check_response(
        "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 0\r\n\r\n",
        "head 204 1.1 no-body keep \nend\n"
        "head 304 1.1 no-body keep [content-length=0]\nend\n");
    struct http_story head = {.role = ACOG_HTTP_RESPONSE, .head_request = true};
    check_story(head, ACOG_VIEW("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
                "head 200 1.1 no-body keep [content-length=5]\nend\n");
}

static void a_bodiless_answer_that_announces_a_body_ends_the_connection(void **state)
{
    (void)state;
    check_response("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
                   "head 204 1.1 no-body close [content-length=5]\nend\n");
    check_response("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                   "head 204 1.1 no-body close [transfer-encoding=chunked]\nend\n");
    check_response("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
                   "head 304 1.1 no-body close [content-length=5]\nend\n");
}

static void reads_status_lines_as_servers_write_them(void **state)
{
    (void)state;
    check_response("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
                   "head 200 1.1 length=0 keep [content-length=0]\nend\n");
    check_response("HTTP/1.1 529 \r\nContent-Length: 0\r\n\r\n",
                   "head 529 1.1 length=0 keep [content-length=0]\nend\n");
    check_response("HTTP/1.1 500 Ori\xc3\xabntatie\r\nContent-Length: 0\r\n\r\n",
                   "head 500 1.1 length=0 keep [content-length=0]\nend\n");
    static const char *const bad[] = {"HTTP/1.1  200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 099 OK",
                                      "HTTP/1.1 +20 OK"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char bytes[64];
        (void)snprintf(bytes, sizeof(bytes), "%s\r\n\r\n", bad[i]);
        check_response(bytes, "broken 502 bad status\n");
    }
    check_response("HTTP/1.1 2000 OK\r\n\r\n", "broken 502 bad status line\n");
    check_response("HTTP/2.0 200 OK\r\n\r\n",
                   "broken 502 only HTTP/1.1 and HTTP/1.0 are spoken here\n");
    check_response("ICY 200 OK\r\n\r\n", "broken 502 these bytes are not HTTP/1.1\n");
    check_response("\r\nHTTP/1.1 200 OK\r\n\r\n", "broken 502 these bytes are not HTTP/1.1\n");
}

static void passes_interim_responses_and_refuses_101(void **state)
{
    (void)state;
    check_response(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "interim 100\ninterim 103\nhead 200 1.1 length=0 keep [content-length=0]\nend\n");
    check_response("HTTP/1.1 101 Switching Protocols\r\n\r\n",
                   "broken 502 101, and no upgrade was asked for\n");
    char bytes[2048] = "";
    char expected[2048] = "";
    for (int i = 0; i < 17; i++) {
        size_t at = strlen(bytes);
        (void)snprintf(bytes + at, sizeof(bytes) - at, "HTTP/1.1 100 Continue\r\n\r\n");
        at = strlen(expected);
        (void)snprintf(expected + at, sizeof(expected) - at, "%s",
                       i < 16 ? "interim 100\n" : "broken 502 too many interim responses\n");
    }
    check_response(bytes, expected);
}

static void tells_a_cut_message_from_a_whole_one(void **state)
{
    (void)state;
    static const char cut[] = "broken 502 the connection closed inside a message\n";
    char expected[256];
    check_response("", "");
    check_response("HTTP/1.1 200", cut);
    (void)snprintf(expected, sizeof(expected),
                   "head 200 1.1 length=5 keep [content-length=5]\nbody \"hi\"\n%s", cut);
    check_response("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi", expected);
    (void)snprintf(expected, sizeof(expected),
                   "head 200 1.1 chunked keep [transfer-encoding=chunked]\nbody \"hi\"\n%s", cut);
    check_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n",
                   expected);
    (void)snprintf(expected, sizeof(expected), "interim 100\n%s", cut);
    check_response("HTTP/1.1 100 Continue\r\n\r\n", expected);
}

static void refuses_responses_with_two_lengths(void **state)
{
    (void)state;
    check_response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
                   "broken 502 more than one Content-Length\n");
    check_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
                   "broken 502 the only transfer coding is chunked\n");
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void says_so_when_there_is_no_memory(void **state)
{
    (void)state;
    struct acog_http_reader reader;
    acog_http_reader_init(&reader, ACOG_HTTP_REQUEST, &usual);
    acog_memory_fail_when(always, NULL);
    size_t used = 0;
    struct acog_view body;
    enum acog_http_step step =
        acog_http_reader_feed(&reader, ACOG_VIEW("GET / HTTP/1.1\r\n"), &used, &body);
    acog_memory_fail_when(NULL, NULL);
    assert_int_equal(step, ACOG_HTTP_STEP_BROKEN);
    assert_int_equal(reader.problem.status, 503);
    assert_int_equal(acog_http_reader_feed(&reader, ACOG_VIEW("x"), &used, &body),
                     ACOG_HTTP_STEP_BROKEN);
    acog_http_reader_fini(&reader);
}

/* Feeds a head of that many fields. */
static void feed_fields(struct acog_http_reader *reader, size_t count)
{
    struct acog_buffer text;
    acog_buffer_init(&text, 65536);
    assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("GET / HTTP/1.1\r\nHost: a\r\n")),
                     ACOG_OK);
    for (size_t i = 1; i < count; i++) {
        assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("x: y\r\n")), ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(&text, ACOG_VIEW("\r\n")), ACOG_OK);
    size_t used = 0;
    struct acog_view body;
    assert_int_equal(acog_http_reader_feed(reader, acog_buffer_view(&text), &used, &body),
                     ACOG_HTTP_STEP_HEAD);
    assert_int_equal(reader->head.field_count, count);
    acog_buffer_fini(&text);
}

/* An open stream keeps its head: PERF's budget for one is small. */
static void holds_rows_for_the_fields_that_came(void **state)
{
    (void)state;
    const struct acog_http_reader_limits limits = {
        .head_bytes_max = 8192, .fields_max = ACOG_HTTP_FIELDS_MAX, .body_bytes_max = 1};
    struct acog_http_reader reader;
    acog_http_reader_init(&reader, ACOG_HTTP_REQUEST, &limits);
    assert_null(reader.head.fields);
    feed_fields(&reader, 6);
    assert_int_equal(reader.fields_room, 6);
    acog_http_reader_reset(&reader);
    feed_fields(&reader, 200);
    assert_int_equal(reader.fields_room, 200);
    acog_http_reader_reset(&reader);
    assert_null(reader.head.fields); /* so many are rare, and not kept */
    acog_http_reader_fini(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_request_with_a_length),
        cmocka_unit_test(reads_requests_one_after_another),
        cmocka_unit_test(ignores_two_empty_lines_before_a_request_and_no_more),
        cmocka_unit_test(refuses_two_lengths_and_a_length_beside_a_coding),
        cmocka_unit_test(refuses_lengths_that_are_no_number),
        cmocka_unit_test(refuses_other_codings),
        cmocka_unit_test(refuses_malformed_fields),
        cmocka_unit_test(takes_bytes_above_ascii_and_tabs_in_values),
        cmocka_unit_test(refuses_a_bad_first_line),
        cmocka_unit_test(takes_absolute_targets_of_the_host_only),
        cmocka_unit_test(leaves_paths_as_they_are_written),
        cmocka_unit_test(refuses_bytes_that_no_target_has),
        cmocka_unit_test(wants_one_good_host),
        cmocka_unit_test(keeps_the_connection_as_the_head_says),
        cmocka_unit_test(knows_one_expectation),
        cmocka_unit_test(caps_the_head),
        cmocka_unit_test(tells_the_target_of_a_head_without_end),
        cmocka_unit_test(caps_the_number_of_fields),
        cmocka_unit_test(caps_the_body),
        cmocka_unit_test(reads_responses_of_every_framing),
        cmocka_unit_test(a_bodiless_answer_that_announces_a_body_ends_the_connection),
        cmocka_unit_test(reads_status_lines_as_servers_write_them),
        cmocka_unit_test(passes_interim_responses_and_refuses_101),
        cmocka_unit_test(tells_a_cut_message_from_a_whole_one),
        cmocka_unit_test(refuses_responses_with_two_lengths),
        cmocka_unit_test(says_so_when_there_is_no_memory),
        cmocka_unit_test(holds_rows_for_the_fields_that_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
