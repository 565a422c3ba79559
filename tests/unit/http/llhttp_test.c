/* llhttp_test.c - the cases of llhttp's own tests (ACOG_CORPUS/3-protocol/http/llhttp), fed to our reader.
 *
 * A case is a heading, a comment with its type, the bytes, and llhttp's log. What llhttp refuses, and what it takes only
 * in a lenient mode, must be refused here. What it takes must be taken here with as many messages and body bytes, but
 * for the cases of a table, which says why we are stricter. A request of HTTP/1.1 without Host, which llhttp does not
 * look at, gets one first. The exceptions are counted, so a change of either side shows. One case needs a callback of
 * llhttp's, to which we have no counterpart: it shows what must not happen.
 */
#include "tests/support/check.h"
#include "tests/support/corpus.h"
#include "tests/support/http_story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASE_BYTES_MAX ((size_t)64 << 10U)

struct exception {
    const char *title;
    const char *why;
};

/* Where we refuse what llhttp takes. */
static const struct exception stricter[] = {
    {"CONNECT request", "RFC 9110 section 9.3.6: CONNECT is for proxies"},
    {"CONNECT request with CAPS", "RFC 9110 section 9.3.6: CONNECT is for proxies"},
    {"CONNECT with body", "RFC 9110 section 9.3.6: CONNECT is for proxies"},
    {"Underscore in hostname", "RFC 9110 section 9.3.6: CONNECT is for proxies"},
    {"M-SEARCH request", "RFC 9112 section 3.2.4: * is for OPTIONS"},
    {"SOURCE request with ICE", "not HTTP"},
    {"OPTIONS request with RTSP", "not HTTP"},
    {"ANNOUNCE request with RTSP", "not HTTP"},
    {"No HTTP version", "HTTP/0.9 has no Host, no status and no length"},
    {"Fragment in URI", "a fragment is never sent: RFC 9112 section 3.2"},
    {"`host:port` and basic auth",
     "RFC 9110 section 4.2.4: user information in a target is refused"},
    {"HTTP 101 response with Upgrade and Content-Length header", "no upgrade is ever asked for"},
    {"HTTP 101 response with Upgrade and Transfer-Encoding header", "no upgrade is ever asked for"},
    {"HTTP 304 with Content-Length",
     "RFC 9112 section 2.2: only before a request an empty line is passed over"},
    {"HTTP 304 with Transfer-Encoding",
     "no condition was sent: after a 304 that announces a body the connection is not trusted"},
    {"HTTP 100 first, then 400",
     "RFC 9112 section 2.2: only before a request an empty line is passed over"},
    {"Should parse multiple events",
     "RFC 9112 section 2.2: only before a request an empty line is passed over"},
    {"Response starting with CRLF",
     "RFC 9112 section 2.2: only before a request an empty line is passed over"},
    {"RTSP response", "not HTTP"},
    {"ICE response", "not HTTP"},
    {"HTTP version 0.9", "only 1.0 and 1.1 are spoken"},
    {"`chunked` before other transfer-encoding",
     "RFC 9112 section 7: no coding but chunked comes unasked"},
    {"multiple transfer-encoding where chunked is not the last one",
     "RFC 9112 section 7: no coding but chunked comes unasked"},
    {"`chunkedchunked` transfer-encoding does not enable chunked enconding",
     "RFC 9112 section 7: no coding but chunked comes unasked"},
};

/* Where we take what llhttp refuses. */
static const struct exception laxer[] = {
    /* RFC 9110 section 9.1: a method is any token, and RFC 9112 section 6.3 frames a body by the fields alone, so a
     * method nobody knows cannot move the end of its request. The handler answers 405. */
    {"HTTP protocol and ANNOUNCE method", "a method is any token"},
    {"Invalid method", "a method is any token"},
};

#define STRICTER_COUNT (sizeof(stricter) / sizeof(stricter[0]))
#define LAXER_COUNT    (sizeof(laxer) / sizeof(laxer[0]))

struct tally {
    unsigned cases;
    unsigned failed;
    unsigned skipping; /* a callback of llhttp's skips the body */
    unsigned stricter_seen[STRICTER_COUNT];
    unsigned laxer_seen[LAXER_COUNT];
};

/* What llhttp makes of a case. */
struct verdict {
    bool refused;
    bool upgraded; /* what follows the first message is not HTTP for llhttp */
    unsigned messages;
    size_t body_bytes;
};

struct test_case {
    const char *file;
    char title[128];
    char type[64];
    bool skips_body; /* a callback tells llhttp to */
    struct acog_buffer http;
    struct acog_buffer log;
};

static void append(struct acog_buffer *buffer, struct acog_view text)
{
    assert_int_equal(acog_buffer_append(buffer, text), ACOG_OK);
}

/* -- the file -------------------------------------------------------------------------------------------- */

/* Takes the next line of `text`, without its end. */
static struct acog_view next_line(struct acog_view *text)
{
    ACOG_ASSERT(text->ptr != NULL);
    size_t end = acog_view_find(*text, ACOG_VIEW("\n"));
    struct acog_view line = {.ptr = text->ptr, .len = end};
    *text = acog_view_slice(*text, end + 1, text->len);
    return line;
}

/* "<!-- meta={"type": "request"} -->" */
static void read_type(struct test_case *test, struct acog_view line)
{
    size_t at = acog_view_find(line, ACOG_VIEW("\"type\":"));
    assert_true(at < line.len);
    struct acog_view rest = acog_view_slice(line, at + 7, line.len);
    size_t open = acog_view_find(rest, ACOG_VIEW("\""));
    rest = acog_view_slice(rest, open + 1, rest.len);
    size_t close = acog_view_find(rest, ACOG_VIEW("\""));
    (void)snprintf(test->type, sizeof(test->type), "%.*s",
                   ACOG_VIEW_FMT(acog_view_slice(rest, 0, close)));
    test->skips_body = acog_view_find(line, ACOG_VIEW("skipBody")) < line.len;
}

/* One escape behind a backslash, or the backslash itself; returns how many bytes of `text` it took. */
static size_t unescape(struct acog_buffer *out, struct acog_view text)
{
    static const char letters[] = "rntf";
    static const char bytes[] = "\r\n\t\f";
    const char *letter = text.len > 1 && text.ptr[1] != '\0' ? strchr(letters, text.ptr[1]) : NULL;
    if (letter != NULL) {
        append(out, (struct acog_view){.ptr = bytes + (letter - letters), .len = 1});
        return 2;
    }
    if (text.len > 3 && text.ptr[1] == 'x') {
        const char digits[] = {text.ptr[2], text.ptr[3], '\0'};
        char byte = (char)strtoul(digits, NULL, 16);
        append(out, (struct acog_view){.ptr = &byte, .len = 1});
        return 4;
    }
    append(out, ACOG_VIEW("\\"));
    return 1;
}

/* The bytes that a block stands for: its lines end with CRLF, but for the last and those that end in a backslash. */
static void unfold(struct acog_buffer *out, struct acog_view block)
{
    while (block.len > 0) {
        struct acog_view line = next_line(&block);
        bool joined = line.len > 0 && line.ptr[line.len - 1] == '\\';
        line = acog_view_slice(line, 0, joined ? line.len - 1 : line.len);
        while (line.len > 0) {
            size_t plain = acog_view_find(line, ACOG_VIEW("\\"));
            append(out, acog_view_slice(line, 0, plain));
            line = acog_view_slice(line, plain, line.len);
            line = line.len > 0 ? acog_view_slice(line, unescape(out, line), line.len) : line;
        }
        if (!joined && block.len > 0) {
            append(out, ACOG_VIEW("\r\n"));
        }
    }
}

/* -- a Host for every request ------------------------------------------------------------------------------ */

static bool is_host_line(struct acog_view line)
{
    return line.len > 5 && acog_view_equal_nocase(acog_view_slice(line, 0, 5), ACOG_VIEW("host:"));
}

/* Whether the head that begins behind a first line has a Host. */
static bool head_has_host(struct acog_view rest)
{
    while (rest.len > 0) {
        struct acog_view line = next_line(&rest);
        if (is_host_line(line)) {
            return true;
        }
        if (line.len <= 1) {
            return false;
        }
    }
    return false;
}

/* The host that an absolute target names. */
static struct acog_view host_of(struct acog_view line)
{
    size_t at = acog_view_find(line, ACOG_VIEW("://"));
    if (at == line.len) {
        return ACOG_VIEW("localhost");
    }
    struct acog_view rest = acog_view_slice(line, at + 3, line.len);
    size_t end = 0;
    while (end < rest.len && strchr("/? ", rest.ptr[end]) == NULL) {
        end++;
    }
    return acog_view_slice(rest, 0, end);
}

static void add_hosts(struct acog_buffer *out, struct acog_view bytes)
{
    while (bytes.len > 0) {
        struct acog_view whole = bytes;
        struct acog_view line = next_line(&bytes);
        append(out, acog_view_slice(whole, 0, whole.len - bytes.len));
        bool first = acog_view_find(line, ACOG_VIEW(" HTTP/1.1\r")) < line.len;
        bool ended = whole.len > bytes.len && whole.ptr[whole.len - bytes.len - 1] == '\n';
        if (first && ended && !head_has_host(bytes)) {
            append(out, ACOG_VIEW("Host: "));
            append(out, host_of(line));
            append(out, ACOG_VIEW("\r\n"));
        }
    }
}

/* -- verdicts -------------------------------------------------------------------------------------------- */

static struct verdict verdict_of(const struct test_case *test)
{
    struct verdict verdict = {.refused = strstr(test->type, "lenient") != NULL};
    struct acog_view log = acog_buffer_view(&test->log);
    while (log.len > 0) {
        char line[512];
        struct acog_view next = next_line(&log);
        (void)snprintf(line, sizeof(line), "%.*s", ACOG_VIEW_FMT(next));
        const char *error = strstr(line, "error code=");
        const char *span = strstr(line, " span[body]=");
        const char *length = strstr(line, "len=");
        if (error != NULL) {
            unsigned long code = strtoul(error + strlen("error code="), NULL, 10);
            verdict.upgraded = verdict.upgraded || code == 22;
            verdict.refused = verdict.refused || code != 22;
        }
        if (strstr(line, "finish=2") != NULL) {
            verdict.refused = true;
        }
        if (strstr(line, "message complete") != NULL || strstr(line, "finish=1") != NULL) {
            verdict.messages++;
        }
        if (span != NULL && length != NULL) {
            verdict.body_bytes += strtoul(length + strlen("len="), NULL, 10);
        }
    }
    return verdict;
}

static bool is_listed(const struct exception *list, size_t count, const char *title, unsigned *seen)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].title, title) == 0) {
            seen[i]++;
            return true;
        }
    }
    return false;
}

/* Bytes behind the end of a connection's last message are refused as much as broken ones are. */
static bool refuses(const struct http_story *how, struct acog_view bytes)
{
    struct http_story story = *how;
    http_story_tell(&story, bytes);
    bool refused = story.broken || story.taken < bytes.len;
    http_story_fini(&story);
    return refused;
}

/* llhttp says no in the middle of a head, we may say it at its end: so it gets one. */
static bool refuses_with_an_end(const struct http_story *how, struct acog_buffer *bytes)
{
    struct http_story story = *how;
    append(bytes, ACOG_VIEW("\r\n\r\n"));
    http_story_tell(&story, acog_buffer_view(bytes));
    bool refused = story.broken;
    http_story_fini(&story);
    return refused;
}

/* As many messages and bytes of body; what follows an upgrade does not count. */
static bool takes_the_same(const struct http_story *how, struct acog_view bytes,
                           const struct verdict *theirs)
{
    struct http_story story = *how;
    http_story_tell(&story, bytes);
    unsigned messages = story.messages + story.interims;
    bool same = theirs->upgraded
                    ? messages >= theirs->messages
                    : !story.broken && story.taken == bytes.len && messages == theirs->messages &&
                          story.body_bytes == theirs->body_bytes;
    http_story_fini(&story);
    return same;
}

static bool is_good(const struct http_story *how, const struct test_case *test,
                    struct acog_buffer *bytes, struct tally *tally)
{
    struct verdict theirs = verdict_of(test);
    struct acog_view fed = acog_buffer_view(bytes);
    if (!http_story_same_when_cut(how, fed, 1, 0) || !http_story_same_when_cut(how, fed, 0, 5)) {
        return false;
    }
    if (theirs.refused) {
        return refuses(how, fed) || refuses_with_an_end(how, bytes) ||
               is_listed(laxer, LAXER_COUNT, test->title, tally->laxer_seen);
    }
    return takes_the_same(how, fed, &theirs) ||
           (refuses(how, fed) &&
            is_listed(stricter, STRICTER_COUNT, test->title, tally->stricter_seen));
}

/* A callback of llhttp's may say that a request has no body, whatever its length says; what follows is then a request.
 * That is smuggling with a name: our reader has no such word for requests (for responses it has, head_request), so all
 * that follows must be of the body, and no request is served. */
static bool keeps_to_the_length(const struct http_story *how, struct acog_view bytes)
{
    struct http_story story = *how;
    http_story_tell(&story, bytes);
    size_t head_bytes = acog_view_find(bytes, ACOG_VIEW("\r\n\r\n")) + 4;
    bool kept = !story.broken && story.messages == 0 && story.taken == bytes.len &&
                story.body_bytes == bytes.len - head_bytes;
    http_story_fini(&story);
    return kept;
}

static void check_case(const struct test_case *test, struct tally *tally)
{
    struct acog_buffer bytes;
    struct acog_buffer hosted;
    acog_buffer_init(&bytes, CASE_BYTES_MAX);
    acog_buffer_init(&hosted, CASE_BYTES_MAX);
    unfold(&bytes, acog_buffer_view(&test->http));
    struct http_story story = {
        .role = strncmp(test->type, "response", 8) == 0 ? ACOG_HTTP_RESPONSE : ACOG_HTTP_REQUEST,
        .limits = {.head_bytes_max = 8192, .fields_max = 100, .body_bytes_max = 65536},
        .close = strstr(test->type, "finish") != NULL,
    };
    if (story.role == ACOG_HTTP_REQUEST) {
        add_hosts(&hosted, acog_buffer_view(&bytes));
    } else {
        append(&hosted, acog_buffer_view(&bytes));
    }
    tally->cases++;
    tally->skipping += test->skips_body ? 1 : 0;
    bool good = test->skips_body ? keeps_to_the_length(&story, acog_buffer_view(&hosted))
                                 : is_good(&story, test, &hosted, tally);
    if (!good) {
        tally->failed++;
        http_story_tell(&story, acog_buffer_view(&hosted));
        (void)printf("%s, \"%s\" (%s):\n%.*s\n%.*s\n", test->file, test->title, test->type,
                     ACOG_VIEW_FMT(acog_buffer_view(&test->log)),
                     ACOG_VIEW_FMT(acog_buffer_view(&story.text)));
        http_story_fini(&story);
    }
    acog_buffer_fini(&bytes);
    acog_buffer_fini(&hosted);
}

/* Reads up to the closing fence. */
static void read_block(struct acog_buffer *into, struct acog_view *text)
{
    acog_buffer_clear(into, CASE_BYTES_MAX);
    while (text->len > 0) {
        struct acog_view line = next_line(text);
        if (acog_view_equal(line, ACOG_VIEW("```"))) {
            return;
        }
        append(into, line);
        append(into, ACOG_VIEW("\n"));
    }
}

static void check_file(const char *name, void *user)
{
    struct acog_buffer file;
    assert_true(acog_corpus_read(name, &file));
    struct acog_view text = acog_buffer_view(&file);
    struct test_case test = {.file = name};
    acog_buffer_init(&test.http, CASE_BYTES_MAX);
    acog_buffer_init(&test.log, CASE_BYTES_MAX);
    while (text.len > 0) {
        struct acog_view line = next_line(&text);
        if (acog_view_starts(line, ACOG_VIEW("#"))) {
            size_t space = acog_view_find(line, ACOG_VIEW(" "));
            (void)snprintf(test.title, sizeof(test.title), "%.*s",
                           ACOG_VIEW_FMT(acog_view_slice(line, space + 1, line.len)));
        } else if (acog_view_starts(line, ACOG_VIEW("<!-- meta="))) {
            read_type(&test, line);
        } else if (acog_view_equal(line, ACOG_VIEW("```http"))) {
            read_block(&test.http, &text);
        } else if (acog_view_equal(line, ACOG_VIEW("```log"))) {
            read_block(&test.log, &text);
            check_case(&test, user);
        }
    }
    acog_buffer_fini(&test.http);
    acog_buffer_fini(&test.log);
    acog_buffer_fini(&file);
}

static unsigned sum(const unsigned *counts, size_t count)
{
    unsigned total = 0;
    for (size_t i = 0; i < count; i++) {
        total += counts[i];
    }
    return total;
}

static void check_folder(const char *folder, unsigned cases, unsigned stricter_cases,
                         unsigned laxer_cases, unsigned skipping_cases)
{
    struct tally tally = {0};
    if (acog_corpus_missing()) {
        skip();
    }
    assert_true(acog_corpus_each(folder, ".md", check_file, &tally) > 0);
    (void)printf("%s: %u cases\n", folder, tally.cases);
    assert_int_equal(tally.failed, 0);
    assert_int_equal(tally.skipping, skipping_cases);
    assert_int_equal(tally.cases, cases);
    assert_int_equal(sum(tally.stricter_seen, STRICTER_COUNT), stricter_cases);
    assert_int_equal(sum(tally.laxer_seen, LAXER_COUNT), laxer_cases);
}

static void reads_requests_as_llhttp_does_or_stricter(void **state)
{
    (void)state;
    check_folder("3-protocol/http/llhttp/request", 130, 11, 2, 1);
}

static void reads_responses_as_llhttp_does_or_stricter(void **state)
{
    (void)state;
    check_folder("3-protocol/http/llhttp/response", 62, 13, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_requests_as_llhttp_does_or_stricter),
        cmocka_unit_test(reads_responses_as_llhttp_does_or_stricter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
