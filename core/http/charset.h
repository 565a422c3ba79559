/* charset.h - which bytes may stand where in a message (RFC 9110 section 5.6, RFC 9112 section 3). */
#ifndef ACOG_HTTP_CHARSET_H
#define ACOG_HTTP_CHARSET_H

#include "acog/view.h"

#include <stdbool.h>

/* For a byte that may stand in a token: the byte in lower case. For all others: 0. */
extern const char acog_http_token_lower[256];

static inline char acog_http_token_byte(char byte)
{
    return acog_http_token_lower[(unsigned char)byte];
}

/* At least one byte, and each may stand in a token. */
bool acog_http_is_token(struct acog_view text);

/* The first byte that may not stand in a header value (a control character other than tab), or `end`. */
const char *acog_http_value_end(const char *at, const char *end);

/* The first byte that may not stand in a request target (not visible ASCII, or '#'), or `end`. */
const char *acog_http_target_end(const char *at, const char *end);

/* host[:port] as a Host line may carry it: a name, an IPv4 or a bracketed IPv6 address; never empty. */
bool acog_http_is_host(struct acog_view text);

/* The value of a hexadecimal digit, or -1. */
int acog_http_hex(char byte);

#endif
