/* chunk_test.c - chunked bodies, whole and one byte at a time. */
#include "tests/unit/http/told.h"

#include <stdio.h>
#include <string.h>

static void reads_a_chunked_body(void **state)
{
    (void)state;
    check_header("Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n00A;x;y=1;z=\"q\\\"; \"\r\n"
                 "0123456789\r\n0\r\nTrailer-One: 1\r\nContent-Length: 7",
                 "head POST / 1.1 chunked keep [host=a][transfer-encoding=Chunked]\n"
                 "body \"abc0123456789\"\nend\n");
}

static void refuses_bad_chunks(void **state)
{
    (void)state;

    static const struct {
        const char *body;
        const char *problem;
    } cases[] = {
        {"0x3\r\nabc\r\n", "bad chunk size"},
        {"+3\r\nabc\r\n", "bad chunk size"},
        {"-3\r\nabc\r\n", "bad chunk size"},
        {" 3\r\nabc\r\n", "bad chunk size"},
        {"3 \r\nabc\r\n", "bad chunk size"},
        {"3\nabc\r\n", "bad chunk size"},
        {"\r\nabc\r\n", "bad chunk size"},
        {";x\r\n", "bad chunk size"},
        {"3\rabc", "bad chunk size"},
        {"00000000000000003\r\n", "chunk size too long"},
        {"3\r\nabcd\r\n", "a chunk's data does not end with CRLF"},
        {"3\r\nabc\n", "a chunk's data does not end with CRLF"},
        {"3;\r\nabc", "bad chunk extension"},
        {"3; x\r\nabc", "bad chunk extension"},
        {"3;x=\r\nabc", "bad chunk extension"},
        {"3;x=\"a\r\n", "bad chunk extension"},
        {"3;x=\"a\"b\r\n", "bad chunk extension"},
        {"0\r\nname : value\r\n", "bad trailer"},
        {"0\r\nname: va\x01lue\r\n", "bad trailer"},
        {"0\r\n folded\r\n", "bad trailer"},
        {"0\r\nname: value\n\r\n", "bad trailer"},
        {"0\r\n\rX", "CR without LF after the body"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char lines[256];
        char expected[256];
        (void)snprintf(lines, sizeof(lines), "Transfer-Encoding: chunked\r\n\r\n%s", cases[i].body);
        bool data = strncmp(cases[i].body, "3\r\nabc", 6) == 0;
        (void)snprintf(expected, sizeof(expected),
                       "head POST / 1.1 chunked keep [host=a][transfer-encoding=chunked]\n%s"
                       "broken 400 %s\n",
                       data ? "body \"abc\"\n" : "", cases[i].problem);
        check_header(lines, expected);
    }
}

static void caps_what_it_throws_away(void **state)
{
    (void)state;
    char long_text[9000];
    memset(long_text, 'x', sizeof(long_text));
    char bytes[10000];
    const char *head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const char *told = "head POST / 1.1 chunked keep [host=a][transfer-encoding=chunked]\n";
    char expected[256];
    (void)snprintf(bytes, sizeof(bytes), "%s3;%.300s", head, long_text);
    (void)snprintf(expected, sizeof(expected), "%sbroken 400 chunk extensions too long\n", told);
    check_request(bytes, expected);
    (void)snprintf(bytes, sizeof(bytes), "%s0\r\na:%.8990s", head, long_text);
    (void)snprintf(expected, sizeof(expected), "%sbroken 431 the trailers are too large\n", told);
    check_request(bytes, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_chunked_body),
        cmocka_unit_test(refuses_bad_chunks),
        cmocka_unit_test(caps_what_it_throws_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
