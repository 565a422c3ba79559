/* head.c - reads a whole head: the first line, the fields, and what they say of the body's framing.
 *
 * The bytes are reader->head_bytes, a copy that belongs to the reader: names are lowered and an absolute target is made
 * an origin target in place. Each line is known to end with CRLF, and the head with an empty line; a CR or LF that does
 * not end a line is refused with the other control characters.
 */
#include "charset.h"
#include "reader_parts.h"

/* What the fields say of framing and connection, until all are read. */
struct facts {
    struct acog_view host;
    unsigned host_count;
    unsigned length_count;
    unsigned coding_count;
    unsigned expect_count;
    bool close;
    bool keep_alive;
};

/* Where the parser is. */
struct head_text {
    char *at;
    char *end;
};

static bool take_literal(struct head_text *text, struct acog_view literal)
{
    struct acog_view rest = {.ptr = text->at, .len = (size_t)(text->end - text->at)};
    if (!acog_view_starts(rest, literal)) {
        return false;
    }
    text->at += literal.len;
    return true;
}

static struct acog_view view_between(const char *from, const char *to)
{
    return (struct acog_view){.ptr = from, .len = (size_t)(to - from)};
}

/* "HTTP/1.1". Anything else of that form is another version. */
static bool parse_version(struct acog_http_reader *reader, struct head_text *text)
{
    if (!take_literal(text, ACOG_VIEW("HTTP/"))) {
        return acog_reader_refuse(reader, 400, "the first line has no HTTP version");
    }
    const char *v = text->at;
    if (text->end - v < 3 || v[0] < '0' || v[0] > '9' || v[1] != '.' || v[2] < '0' || v[2] > '9') {
        return acog_reader_refuse(reader, 400, "bad HTTP version");
    }
    if (v[0] != '1' || v[2] > '1') {
        return acog_reader_refuse(reader, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    }
    reader->head.minor = v[2] - '0';
    text->at += 3;
    return true;
}

static bool parse_method(struct acog_http_reader *reader, struct head_text *text)
{
    const char *from = text->at;
    while (acog_http_token_byte(*text->at) != 0) {
        text->at++;
    }
    struct acog_view method = view_between(from, text->at);
    if (method.len == 0 || *text->at != ' ') {
        return acog_reader_refuse(reader, 400, "bad method");
    }
    text->at++;
    reader->head.method = method;
    return !acog_view_equal(method, ACOG_VIEW("CONNECT")) ||
           acog_reader_refuse(reader, 501, "CONNECT is not offered");
}

/* The target as it is written; an absolute one is looked at again when Host is known. */
static bool parse_target(struct acog_http_reader *reader, struct head_text *text)
{
    const char *from = text->at;
    const char *to = acog_http_target_end(from, text->end);
    struct acog_view target = view_between(from, to);
    if (target.len == 0 || *to != ' ') {
        return acog_reader_refuse(reader, 400, "bad request target");
    }
    text->at += target.len + 1;
    if (target.ptr[0] == '*' &&
        (target.len > 1 || !acog_view_equal(reader->head.method, ACOG_VIEW("OPTIONS")))) {
        return acog_reader_refuse(reader, 400, "the target * is for OPTIONS");
    }
    reader->head.target = target;
    return true;
}

static bool parse_request_line(struct acog_http_reader *reader, struct head_text *text)
{
    if (!parse_method(reader, text) || !parse_target(reader, text) ||
        !parse_version(reader, text)) {
        return false;
    }
    return take_literal(text, ACOG_VIEW("\r\n")) ||
           acog_reader_refuse(reader, 400, "bad request line");
}

/* A reason may be empty, and its space missing: servers do both. */
static bool parse_status_line(struct acog_http_reader *reader, struct head_text *text)
{
    if (!parse_version(reader, text)) {
        return false;
    }
    unsigned long long status = 0;
    bool number = text->end - text->at > 4 && text->at[0] == ' ' &&
                  acog_view_to_u64(view_between(text->at + 1, text->at + 4), &status);
    if (!number || status < 100) {
        return acog_reader_refuse(reader, 502, "bad status");
    }
    reader->head.status = (unsigned)status;
    text->at += 4;
    if (*text->at == ' ') {
        const char *reason = text->at + 1;
        text->at += 1 + (acog_http_value_end(reason, text->end) - reason);
    }
    return take_literal(text, ACOG_VIEW("\r\n")) ||
           acog_reader_refuse(reader, 502, "bad status line");
}

/* A list of tokens; only two of them matter here. That it names others, Content-Length even, changes nothing: no header
 * is passed on because nobody named it. */
static void note_connection(struct facts *facts, struct acog_view list)
{
    while (list.len > 0) {
        size_t comma = acog_view_find(list, ACOG_VIEW(","));
        struct acog_view option = acog_view_trim(acog_view_slice(list, 0, comma));
        facts->close = facts->close || acog_view_equal_nocase(option, ACOG_VIEW("close"));
        facts->keep_alive =
            facts->keep_alive || acog_view_equal_nocase(option, ACOG_VIEW("keep-alive"));
        list = acog_view_slice(list, comma + 1, list.len);
    }
}

static bool note_length(struct acog_http_reader *reader, struct facts *facts,
                        struct acog_view value)
{
    unsigned long long length = 0;
    if (facts->length_count++ > 0) {
        return acog_reader_refuse(reader, 400, "more than one Content-Length");
    }
    if (!acog_view_to_u64(value, &length)) {
        return acog_reader_refuse(reader, 400, "bad Content-Length");
    }
    reader->head.content_length = length;
    return true;
}

static bool note_coding(struct acog_http_reader *reader, struct facts *facts,
                        struct acog_view value)
{
    if (facts->coding_count++ > 0) {
        return acog_reader_refuse(reader, 400, "more than one Transfer-Encoding");
    }
    return acog_view_equal_nocase(value, ACOG_VIEW("chunked")) ||
           acog_reader_refuse(reader, 501, "the only transfer coding is chunked");
}

/* In HTTP/1.0 its value is not looked at: RFC 9110 section 10.1.1. */
static bool note_expect(struct acog_http_reader *reader, struct facts *facts,
                        struct acog_view value)
{
    if (reader->role == ACOG_HTTP_RESPONSE) {
        return true;
    }
    if (facts->expect_count++ > 0) {
        return acog_reader_refuse(reader, 417, "more than one Expect");
    }
    if (reader->head.minor == 0) {
        return true;
    }
    reader->head.expect_continue = true;
    return acog_view_equal_nocase(value, ACOG_VIEW("100-continue")) ||
           acog_reader_refuse(reader, 417, "the only expectation is 100-continue");
}

static bool note_field(struct acog_http_reader *reader, struct facts *facts,
                       const struct acog_header_row *row)
{
    /* By length first: nearly every other name is told apart by it. */
    switch (row->name.len) {
    case sizeof("host") - 1:
        if (acog_view_equal(row->name, ACOG_VIEW("host"))) {
            facts->host_count++;
            facts->host = row->value;
        }
        return true;
    case sizeof("expect") - 1:
        return !acog_view_equal(row->name, ACOG_VIEW("expect")) ||
               note_expect(reader, facts, row->value);
    case sizeof("connection") - 1:
        if (acog_view_equal(row->name, ACOG_VIEW("connection"))) {
            note_connection(facts, row->value);
        }
        return true;
    case sizeof("content-length") - 1:
        return !acog_view_equal(row->name, ACOG_VIEW("content-length")) ||
               note_length(reader, facts, row->value);
    case sizeof("transfer-encoding") - 1:
        return !acog_view_equal(row->name, ACOG_VIEW("transfer-encoding")) ||
               note_coding(reader, facts, row->value);
    default:
        return true;
    }
}

/* "name: value" CRLF. */
static bool parse_field(struct acog_http_reader *reader, struct head_text *text,
                        struct acog_header_row *row)
{
    char *at = text->at;
    for (char lower = acog_http_token_byte(*at); lower != 0; lower = acog_http_token_byte(*at)) {
        *at++ = lower;
    }
    row->name = view_between(text->at, at);
    if (*at != ':' || row->name.len == 0) {
        bool folded = row->name.len == 0 && (*at == ' ' || *at == '\t');
        return acog_reader_refuse(reader, 400, folded ? "a folded header line" : "bad header name");
    }
    at++;
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    const char *value_end = acog_http_value_end(at, text->end);
    row->value = view_between(at, value_end);
    while (row->value.len > 0 && (row->value.ptr[row->value.len - 1] == ' ' ||
                                  row->value.ptr[row->value.len - 1] == '\t')) {
        row->value.len--;
    }
    text->at = at + (value_end - at);
    return take_literal(text, ACOG_VIEW("\r\n")) ||
           acog_reader_refuse(reader, 400, "a control character in a header value");
}

static bool parse_fields(struct acog_http_reader *reader, struct head_text *text,
                         struct facts *facts)
{
    struct acog_http_head *head = &reader->head;
    while (*text->at != '\r' || text->end - text->at != 2) {
        if (head->field_count == reader->limits.fields_max) {
            return acog_reader_refuse(reader, 431, "too many headers");
        }
        struct acog_header_row *row = &head->fields[head->field_count];
        if (!parse_field(reader, text, row) || !note_field(reader, facts, row)) {
            return false;
        }
        head->field_count++;
    }
    return true;
}

/* "http://host/path" becomes "/path" when the host is Host's; a missing path becomes "/". */
static bool settle_target(struct acog_http_reader *reader, const struct facts *facts)
{
    struct acog_view target = reader->head.target;
    if (target.ptr[0] == '/' || target.ptr[0] == '*') {
        return true;
    }
    size_t authority = acog_view_find(target, ACOG_VIEW("://")) + 3;
    struct acog_view scheme = acog_view_slice(target, 0, authority);
    if (!acog_view_equal_nocase(scheme, ACOG_VIEW("http://")) &&
        !acog_view_equal_nocase(scheme, ACOG_VIEW("https://"))) {
        return acog_reader_refuse(reader, 400, "bad request target");
    }
    size_t path = authority;
    while (path < target.len && target.ptr[path] != '/' && target.ptr[path] != '?') {
        path++;
    }
    if (path == authority ||
        !acog_view_equal_nocase(acog_view_slice(target, authority, path), facts->host)) {
        return acog_reader_refuse(reader, 400, "the target names another host than Host does");
    }
    if (path == target.len || target.ptr[path] == '?') {
        /* The authority has been compared and is not empty: its last byte makes room for the slash. */
        path--;
        reader->head_bytes.ptr[target.ptr + path - reader->head_bytes.ptr] = '/';
    }
    reader->head.target = acog_view_slice(target, path, target.len);
    return true;
}

static bool settle_request(struct acog_http_reader *reader, const struct facts *facts)
{
    struct acog_http_head *head = &reader->head;
    if (facts->host_count > 1) {
        return acog_reader_refuse(reader, 400, "more than one Host");
    }
    if (facts->host_count == 0 && head->minor == 1) {
        return acog_reader_refuse(reader, 400, "no Host");
    }
    if (facts->host_count == 1 && !acog_http_is_host(facts->host)) {
        return acog_reader_refuse(reader, 400, "bad Host");
    }
    if (!settle_target(reader, facts)) {
        return false;
    }
    if (head->framing == ACOG_HTTP_LENGTH && head->content_length > reader->limits.body_bytes_max) {
        return acog_reader_refuse(reader, 413, "the body is too large");
    }
    return true;
}

/* A 204 or 304 that announces a body may be followed by one after all, and later, when nobody looks at the connection:
 * it is not used again. (The length of a 304 is legal; to a POST it has no use.) */
static void settle_response(struct acog_http_reader *reader, const struct facts *facts)
{
    struct acog_http_head *head = &reader->head;
    bool bodiless = head->status < 200 || head->status == 204 || head->status == 304;
    if (reader->head_request || bodiless) {
        bool announced = facts->coding_count > 0 || head->content_length > 0;
        head->framing = ACOG_HTTP_NO_BODY;
        head->keep_alive = head->keep_alive && (reader->head_request || !announced);
    } else if (facts->length_count == 0 && facts->coding_count == 0) {
        head->framing = ACOG_HTTP_UNTIL_CLOSE;
        head->keep_alive = false;
    }
}

static bool settle(struct acog_http_reader *reader, const struct facts *facts)
{
    struct acog_http_head *head = &reader->head;
    if (facts->coding_count > 0 && facts->length_count > 0) {
        return acog_reader_refuse(reader, 400, "Content-Length beside Transfer-Encoding");
    }
    if (facts->coding_count > 0 && head->minor == 0) {
        return acog_reader_refuse(reader, 400, "Transfer-Encoding in HTTP/1.0");
    }
    if (facts->coding_count > 0) {
        head->framing = ACOG_HTTP_CHUNKED;
    } else if (facts->length_count > 0) {
        head->framing = ACOG_HTTP_LENGTH;
    } else {
        head->framing = ACOG_HTTP_NO_BODY;
    }
    head->keep_alive = !facts->close && (head->minor == 1 || facts->keep_alive);
    if (reader->role == ACOG_HTTP_REQUEST) {
        return settle_request(reader, facts);
    }
    if (head->status == 101) {
        return acog_reader_refuse(reader, 502, "101, and no upgrade was asked for");
    }
    settle_response(reader, facts);
    return true;
}

bool acog_reader_parse_head(struct acog_http_reader *reader)
{
    struct head_text text = {.at = reader->head_bytes.ptr,
                             .end = reader->head_bytes.ptr + reader->head_bytes.len};
    struct facts facts = {0};
    reader->head.field_count = 0;
    reader->head.content_length = 0;
    reader->head.expect_continue = false;
    bool first = reader->role == ACOG_HTTP_REQUEST ? parse_request_line(reader, &text)
                                                   : parse_status_line(reader, &text);
    return first && parse_fields(reader, &text, &facts) && settle(reader, &facts);
}

void acog_reader_note_target(struct acog_http_reader *reader)
{
    struct acog_view head = acog_buffer_view(&reader->head_bytes);
    size_t line_bytes = acog_view_find(head, ACOG_VIEW("\r\n")) + 2;
    if (reader->role == ACOG_HTTP_REQUEST && line_bytes <= head.len) {
        struct head_text text = {.at = reader->head_bytes.ptr,
                                 .end = reader->head_bytes.ptr + line_bytes};
        (void)parse_request_line(reader, &text);
    }
}
