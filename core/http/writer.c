/* writer.c - heads as bytes. Whatever would break the framing of a message is refused, not repaired. */
#include "acog/http.h"
#include "charset.h"

#include <string.h>

/* Empty when a status has none. */
static struct acog_view reason_of(unsigned status)
{
    static const struct {
        unsigned status;
        struct acog_view reason;
    } reasons[] = {

#define REASON(status, text) {(status), {(text), sizeof(text) - 1}},
        /* clang-format off */
        REASON(200, "OK")
        REASON(100, "Continue")
        REASON(201, "Created")
        REASON(202, "Accepted")
        REASON(204, "No Content")
        REASON(206, "Partial Content")
        REASON(301, "Moved Permanently")
        REASON(302, "Found")
        REASON(303, "See Other")
        REASON(304, "Not Modified")
        REASON(307, "Temporary Redirect")
        REASON(308, "Permanent Redirect")
        REASON(400, "Bad Request")
        REASON(401, "Unauthorized")
        REASON(402, "Payment Required")
        REASON(403, "Forbidden")
        REASON(404, "Not Found")
        REASON(405, "Method Not Allowed")
        REASON(408, "Request Timeout")
        REASON(409, "Conflict")
        REASON(410, "Gone")
        REASON(413, "Content Too Large")
        REASON(415, "Unsupported Media Type")
        REASON(417, "Expectation Failed")
        REASON(422, "Unprocessable Content")
        REASON(424, "Failed Dependency")
        REASON(429, "Too Many Requests")
        REASON(431, "Request Header Fields Too Large")
        REASON(500, "Internal Server Error")
        REASON(501, "Not Implemented")
        REASON(502, "Bad Gateway")
        REASON(503, "Service Unavailable")
        REASON(504, "Gateway Timeout")
        REASON(505, "HTTP Version Not Supported")
        REASON(529, "Overloaded")
    /* clang-format on */
#undef REASON
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }
    return (struct acog_view){.ptr = "", .len = 0};
}

static bool legal_header(struct acog_view name, struct acog_view value)
{
    const char *end = value.ptr + value.len;
    return acog_http_is_token(name) &&
           (value.len == 0 || acog_http_value_end(value.ptr, end) == end);
}

static char *put(char *at, struct acog_view text)
{
    if (text.len > 0) {
        memcpy(at, text.ptr, text.len);
    }
    return at + text.len;
}

static char *put_header(char *at, struct acog_view name, struct acog_view value)
{
    at = put(at, name);
    at = put(at, ACOG_VIEW(": "));
    at = put(at, value);
    return put(at, ACOG_VIEW("\r\n"));
}

static size_t header_bytes(struct acog_view name, struct acog_view value)
{
    return name.len + value.len + sizeof(": \r\n") - 1;
}

enum acog_code acog_http_write_request(struct acog_buffer *out, struct acog_view method,
                                       struct acog_view target, const struct acog_header_row *rows,
                                       size_t count)
{
    const char *target_end = target.ptr + target.len;
    if (!acog_http_is_token(method) || target.len == 0 ||
        acog_http_target_end(target.ptr, target_end) != target_end) {
        return ACOG_INVALID;
    }
    size_t bytes = method.len + target.len + sizeof("  HTTP/1.1\r\n\r\n") - 1;
    for (size_t i = 0; i < count; i++) {
        if (!legal_header(rows[i].name, rows[i].value)) {
            return ACOG_INVALID;
        }
        bytes += header_bytes(rows[i].name, rows[i].value);
    }
    enum acog_code code = acog_buffer_reserve(out, bytes);
    if (code != ACOG_OK) {
        return code;
    }
    char *at = out->ptr + out->len;
    at = put(at, method);
    at = put(at, ACOG_VIEW(" "));
    at = put(at, target);
    at = put(at, ACOG_VIEW(" HTTP/1.1\r\n"));
    for (size_t i = 0; i < count; i++) {
        at = put_header(at, rows[i].name, rows[i].value);
    }
    (void)put(at, ACOG_VIEW("\r\n"));
    out->len += bytes;
    return ACOG_OK;
}

enum acog_code acog_http_write_status(struct acog_buffer *out, unsigned status)
{
    if (status < 100 || status > 999) {
        return ACOG_INVALID;
    }
    struct acog_view reason = reason_of(status);
    size_t bytes = sizeof("HTTP/1.1 200 \r\n") - 1 + reason.len;
    enum acog_code code = acog_buffer_reserve(out, bytes);
    if (code != ACOG_OK) {
        return code;
    }
    char digits[3] = {(char)('0' + status / 100), (char)('0' + status / 10 % 10),
                      (char)('0' + status % 10)};
    char *at = put(out->ptr + out->len, ACOG_VIEW("HTTP/1.1 "));
    at = put(at, (struct acog_view){.ptr = digits, .len = sizeof(digits)});
    at = put(at, ACOG_VIEW(" "));
    at = put(at, reason);
    (void)put(at, ACOG_VIEW("\r\n"));
    out->len += bytes;
    return ACOG_OK;
}

enum acog_code acog_http_write_header(struct acog_buffer *out, struct acog_view name,
                                      struct acog_view value)
{
    if (!legal_header(name, value)) {
        return ACOG_INVALID;
    }
    enum acog_code code = acog_buffer_reserve(out, header_bytes(name, value));
    if (code == ACOG_OK) {
        (void)put_header(out->ptr + out->len, name, value);
        out->len += header_bytes(name, value);
    }
    return code;
}
