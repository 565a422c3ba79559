/* request.c - the request as it goes out: a head of our own, then the body's pieces where they lie. */
#include "acog/contract.h"
#include "call.h"

#include <string.h>

#define OWN_ROWS 4 /* host, user-agent, accept-encoding, content-length */
#define TARGET_ROWS \
    (sizeof(((struct acog_upstream_target *)NULL)->headers) / sizeof(struct acog_header_row))
#define TURN_BYTES_MAX (1U << 20U) /* sent in one turn of the loop; then others have theirs */

static bool has(const struct acog_upstream_target *target, struct acog_view name)
{
    return acog_header_find(target->headers, target->header_count, name).ptr != NULL;
}

/* As RFC 9110 7.2 has it: brackets around an IPv6 address, no port that the scheme implies. */
static enum acog_code write_host(const struct acog_endpoint *endpoint, struct acog_buffer *out)
{
    char digits[ACOG_DIGITS_MAX];
    bool v6 = endpoint->host.len > 0 && memchr(endpoint->host.ptr, ':', endpoint->host.len) != NULL;
    bool implied = endpoint->port == (endpoint->tls ? 443 : 80);
    const struct acog_view none = {0};
    const struct acog_view parts[] = {
        v6 ? ACOG_VIEW("[") : none,
        endpoint->host,
        v6 ? ACOG_VIEW("]") : none,
        implied ? none : ACOG_VIEW(":"),
        implied ? none : acog_view_from_u64(endpoint->port, digits),
    };
    enum acog_code code = ACOG_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && code == ACOG_OK; i++) {
        code = acog_buffer_append(out, parts[i]);
    }
    return code;
}

static enum acog_code write_rows(struct acog_upstream_call *call,
                                 const struct acog_upstream_target *target)
{
    struct acog_header_row rows[OWN_ROWS + TARGET_ROWS];
    size_t count = 0;
    char host_bytes[300];
    char digits[ACOG_DIGITS_MAX];
    if (!has(target, ACOG_VIEW("host"))) {
        struct acog_buffer host;
        acog_buffer_init_over(&host, host_bytes, sizeof(host_bytes));
        enum acog_code code = write_host(&call->order->connection->endpoint, &host);
        if (code != ACOG_OK) {
            return code;
        }
        rows[count++] =
            (struct acog_header_row){.name = ACOG_VIEW("host"), .value = acog_buffer_view(&host)};
    }
    if (!has(target, ACOG_VIEW("user-agent"))) {
        rows[count++] = (struct acog_header_row){.name = ACOG_VIEW("user-agent"),
                                                 .value = ACOG_VIEW("acog/" ACOG_VERSION)};
    }
    rows[count++] = (struct acog_header_row){.name = ACOG_VIEW("accept-encoding"),
                                             .value = ACOG_VIEW("identity")};
    rows[count++] =
        (struct acog_header_row){.name = ACOG_VIEW("content-length"),
                                 .value = acog_view_from_u64(call->order->body_bytes, digits)};
    memcpy(rows + count, target->headers, target->header_count * sizeof(rows[0]));
    count += target->header_count;
    return acog_http_write_request(&call->head, ACOG_VIEW("POST"), target->target, rows, count);
}

enum acog_code acog_call_write_head(struct acog_upstream_call *call, const char **why)
{
    struct acog_arena *scratch = &call->upstream->scratch;
    struct acog_upstream_target target;
    *why = "the channel is not available yet";
    enum acog_code code = acog_channel_target(call->order, scratch, &target);
    if (code == ACOG_OK) {
        *why = "a header or the path of the request cannot be sent";
        code = write_rows(call, &target);
    }
    if (code == ACOG_NO_MEMORY || code == ACOG_TOO_BIG) {
        *why = code == ACOG_NO_MEMORY ? "no memory for a request" : "the request's head is too big";
    }
    acog_arena_reset(scratch);
    return code;
}

/* What is not sent yet, as pieces. */
static int unsent(const struct acog_upstream_call *call, struct iovec *pieces)
{
    size_t skip = call->sent;
    int count = 0;
    for (size_t i = 0; i <= call->order->piece_count; i++) {
        struct acog_view piece =
            i == 0 ? acog_buffer_view(&call->head) : call->order->pieces[i - 1];
        if (skip >= piece.len) {
            skip -= piece.len;
            continue;
        }
        const char *from = piece.ptr + skip;
        memcpy(&pieces[count].iov_base, &from, sizeof(from)); /* nobody writes through it */
        pieces[count].iov_len = piece.len - skip;
        count++;
        skip = 0;
    }
    return count;
}

void acog_call_send(struct acog_upstream_call *call)
{
    size_t limit = call->sent + TURN_BYTES_MAX;
    while (call->sending == ACOG_SENDING_RUNNING) {
        struct iovec pieces[ACOG_BODY_PIECES_MAX + 1];
        int count = unsent(call, pieces);
        if (count == 0) {
            call->sending = ACOG_SENDING_DONE;
            return;
        }
        size_t sent = 0;
        enum acog_link_io io =
            call->sent >= limit ? ACOG_IO_AGAIN : acog_link_send(call->link, pieces, count, &sent);
        switch (io) {
        case ACOG_IO_MOVED:
            call->sent += sent;
            break;
        case ACOG_IO_AGAIN:
            acog_link_watch_write(call->link);
            return;
        case ACOG_IO_CLOSED:
        case ACOG_IO_BROKEN:
            /* The provider may have answered before it closed: reading tells, and tells the failure if there is
             * nothing to read. */
            call->sending = ACOG_SENDING_BROKEN;
            acog_link_wake(call->link);
            return;
        }
    }
}
