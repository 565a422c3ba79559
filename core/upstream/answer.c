/* answer.c - the answer as it comes in: reader, head hygiene, decoding, and what an end means.
 *
 * The one complication is a pause in the middle of bytes that were read: what is left of them is copied into
 * call->rest, compressed bytes of a body piece first, and goes through the same functions when the pause is over.
 * So a paused call holds at most one buffer (64 KB), whatever a compressed body would grow to.
 */
#include "acog/contract.h"
#include "call.h"

#include <string.h>

/* What became of a call while its bytes were read. */
enum flow {
    ACOG_FLOW_ON = 0, /* all was read */
    ACOG_FLOW_HALTED, /* by a pause; some is left */
    ACOG_FLOW_GONE,   /* the call is no more */
};

/* -- the head -------------------------------------------------------------------------------------- */

/* They belong to the connection or describe bytes that nobody sees any more (B102, B104). */
static const struct acog_view not_passed_on[] = {
    {.ptr = "connection", .len = 10},
    {.ptr = "keep-alive", .len = 10},
    {.ptr = "proxy-connection", .len = 16},
    {.ptr = "proxy-authenticate", .len = 18},
    {.ptr = "te", .len = 2},
    {.ptr = "trailer", .len = 7},
    {.ptr = "transfer-encoding", .len = 17},
    {.ptr = "upgrade", .len = 7},
    {.ptr = "content-length", .len = 14},
    {.ptr = "content-encoding", .len = 16},
};

/* `name` is one of the words of a Connection header. */
static bool is_named(struct acog_view list, struct acog_view name)
{
    while (list.len > 0) {
        size_t comma = acog_view_find(list, ACOG_VIEW(","));
        if (acog_view_equal_nocase(acog_view_trim(acog_view_slice(list, 0, comma)), name)) {
            return true;
        }
        list = acog_view_slice(list, comma + 1, list.len);
    }
    return false;
}

static bool is_passed_on(const struct acog_http_head *head, struct acog_view name)
{
    for (size_t i = 0; i < sizeof(not_passed_on) / sizeof(not_passed_on[0]); i++) {
        if (acog_view_equal(name, not_passed_on[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < head->field_count; i++) {
        if (acog_view_equal(head->fields[i].name, ACOG_VIEW("connection")) &&
            is_named(head->fields[i].value, name)) {
            return false;
        }
    }
    return true;
}

static enum acog_coding coding_of(const struct acog_http_head *head)
{
    enum acog_coding coding = ACOG_CODING_IDENTITY;
    for (size_t i = 0; i < head->field_count; i++) {
        if (!acog_view_equal(head->fields[i].name, ACOG_VIEW("content-encoding"))) {
            continue;
        }
        enum acog_coding one = acog_coding_of(head->fields[i].value);
        if (coding == ACOG_CODING_IDENTITY) {
            coding = one;
        } else if (one != ACOG_CODING_IDENTITY) {
            coding = ACOG_CODING_OTHER; /* coded twice */
        }
    }
    return head->framing == ACOG_HTTP_NO_BODY ? ACOG_CODING_IDENTITY : coding;
}

static bool tell_head(struct acog_upstream_call *call)
{
    const struct acog_http_head *head = &call->reader.head;
    struct acog_header_row *rows = call->upstream->rows;
    size_t count = 0;
    for (size_t i = 0; i < head->field_count; i++) {
        if (is_passed_on(head, head->fields[i].name)) {
            rows[count++] = head->fields[i];
        }
    }
    return acog_call_tell_head(call, head->status, rows, count);
}

/* False: the call is gone. */
static bool take_head(struct acog_upstream_call *call)
{
    const struct acog_http_head *head = &call->reader.head;
    enum acog_coding coding = coding_of(head);
    call->answer = ACOG_ANSWER_BODY;
    switch (coding) {
    case ACOG_CODING_IDENTITY:
        return tell_head(call);
    case ACOG_CODING_GZIP:
    case ACOG_CODING_DEFLATE:
        call->inflate = acog_inflate_new(coding, call->upstream->options.decoded_bytes_max);
        if (call->inflate == NULL) {
            acog_call_fail(call, ACOG_CAUSE_GATEWAY, "no memory for a compressed answer");
            return false;
        }
        return tell_head(call);
    case ACOG_CODING_OTHER:
        /* The status of an error still says more than its body. */
        if (head->status / 100 == 2 || tell_head(call)) {
            acog_call_fail(call, ACOG_CAUSE_BAD_ANSWER,
                           "the answer has a content-encoding that nobody asked for");
        }
        return false;
    }
    ACOG_UNREACHABLE("a coding of no kind");
}

/* -- the body -------------------------------------------------------------------------------------- */

static enum flow fail_decoding(struct acog_upstream_call *call, enum acog_code code)
{
    if (code == ACOG_NO_MEMORY) {
        acog_call_fail(call, ACOG_CAUSE_GATEWAY, "no memory for a compressed answer");
    } else {
        acog_call_fail(call, ACOG_CAUSE_BAD_ANSWER,
                       code == ACOG_TOO_BIG ? "the decompressed answer is over the limit"
                                            : "the compressed answer is broken");
    }
    return ACOG_FLOW_GONE;
}

/* Decodes *piece, and what was held back before; HALTED leaves the rest in *piece. */
static enum flow decode(struct acog_upstream_call *call, struct acog_view *piece)
{
    char *out = call->upstream->decoded_bytes;
    size_t made = ACOG_READ_BYTES;
    while (made == ACOG_READ_BYTES) {
        enum acog_code code = acog_inflate_feed(call->inflate, piece, out, ACOG_READ_BYTES, &made);
        if (code != ACOG_OK) {
            return fail_decoding(call, code);
        }
        if (made > 0 && !acog_call_tell_body(call, (struct acog_view){.ptr = out, .len = made})) {
            return ACOG_FLOW_GONE;
        }
        if (call->state == ACOG_CALL_DRAINING) {
            *piece = (struct acog_view){0};
            return ACOG_FLOW_ON;
        }
        if (call->paused && made == ACOG_READ_BYTES) {
            return ACOG_FLOW_HALTED;
        }
    }
    return ACOG_FLOW_ON;
}

static enum flow take_body(struct acog_upstream_call *call, struct acog_view *piece)
{
    if (call->state == ACOG_CALL_DRAINING) {
        *piece = (struct acog_view){0};
        return ACOG_FLOW_ON;
    }
    if (call->inflate != NULL) {
        return decode(call, piece);
    }
    bool alive = acog_call_tell_body(call, *piece);
    *piece = (struct acog_view){0};
    return alive ? ACOG_FLOW_ON : ACOG_FLOW_GONE;
}

/* The message is complete. */
static void finish(struct acog_upstream_call *call, bool surplus)
{
    const struct acog_http_head *head = &call->reader.head;
    if (call->inflate != NULL && call->state == ACOG_CALL_LIVE &&
        !acog_inflate_complete(call->inflate)) {
        acog_call_fail(
            call, head->framing == ACOG_HTTP_UNTIL_CLOSE ? ACOG_CAUSE_CUT : ACOG_CAUSE_BAD_ANSWER,
            "the compressed answer ended too early");
        return;
    }
    acog_call_end(call, head->keep_alive && head->framing != ACOG_HTTP_UNTIL_CLOSE && !surplus &&
                            call->sending == ACOG_SENDING_DONE);
}

/* -- bytes ----------------------------------------------------------------------------------------- */

/* Reads `bytes` to their end, or until the call is halted: then *bytes is what is left, and *coded the compressed piece
 * before it that is not decoded yet. */
static enum flow feed(struct acog_upstream_call *call, struct acog_view *bytes,
                      struct acog_view *coded)
{
    for (;;) {
        size_t used = 0;
        struct acog_view piece = {0};
        enum flow flow = ACOG_FLOW_ON;
        enum acog_http_step step = acog_http_reader_feed(&call->reader, *bytes, &used, &piece);
        *bytes = acog_view_slice(*bytes, used, bytes->len);
        switch (step) {
        case ACOG_HTTP_STEP_MORE:
            return ACOG_FLOW_ON;
        case ACOG_HTTP_STEP_INTERIM:
            break;
        case ACOG_HTTP_STEP_HEAD:
            flow = take_head(call) ? ACOG_FLOW_ON : ACOG_FLOW_GONE;
            break;
        case ACOG_HTTP_STEP_BODY:
            call->body_taken += piece.len;
            flow = take_body(call, &piece);
            break;
        case ACOG_HTTP_STEP_END:
            finish(call, bytes->len > 0);
            return ACOG_FLOW_GONE;
        case ACOG_HTTP_STEP_BROKEN:
            acog_call_fail(call, ACOG_CAUSE_BAD_ANSWER, call->reader.problem.what);
            return ACOG_FLOW_GONE;
        }
        if (flow == ACOG_FLOW_GONE) {
            return ACOG_FLOW_GONE;
        }
        if (flow == ACOG_FLOW_HALTED || call->paused) {
            *coded = piece;
            return ACOG_FLOW_HALTED;
        }
    }
}

/* Keeps what a pause left. False: the call is gone. */
static bool keep_rest(struct acog_upstream_call *call, struct acog_view coded,
                      struct acog_view bytes)
{
    call->halted = true;
    call->rest_coded = coded.len;
    enum acog_code code = acog_buffer_append(&call->rest, coded);
    if (code == ACOG_OK) {
        code = acog_buffer_append(&call->rest, bytes);
    }
    if (code != ACOG_OK) {
        acog_call_fail(call, ACOG_CAUSE_GATEWAY, "no memory for an answer that has to wait");
        return false;
    }
    return true;
}

/* Of call->rest, what is still to be read stays: `coded` and `bytes`, which both lie in it, in this order. */
static void keep_waiting(struct acog_upstream_call *call, struct acog_view coded,
                         struct acog_view bytes)
{
    struct acog_buffer *rest = &call->rest;
    if (coded.ptr != NULL) {
        memmove(rest->ptr, coded.ptr, coded.len);
    }
    if (bytes.ptr != NULL) {
        memmove(rest->ptr + coded.len, bytes.ptr, bytes.len);
    }
    rest->len = coded.len + bytes.len;
    call->rest_coded = coded.len;
}

/* The pause is over: what waited goes on, perhaps into the next pause. */
static enum flow feed_rest(struct acog_upstream_call *call)
{
    struct acog_view all = acog_buffer_view(&call->rest);
    struct acog_view coded = acog_view_slice(all, 0, call->rest_coded);
    struct acog_view bytes = acog_view_slice(all, call->rest_coded, all.len);
    enum flow flow = ACOG_FLOW_ON;
    if (call->inflate != NULL && call->state != ACOG_CALL_DRAINING) {
        flow = decode(call, &coded);
    } else {
        coded = (struct acog_view){0};
    }
    if (flow == ACOG_FLOW_ON && call->paused) {
        flow = ACOG_FLOW_HALTED;
    }
    if (flow == ACOG_FLOW_ON) {
        flow = feed(call, &bytes, &coded);
    }
    switch (flow) {
    case ACOG_FLOW_ON:
        call->halted = false;
        call->rest_coded = 0;
        acog_buffer_clear(&call->rest, 0);
        break;
    case ACOG_FLOW_HALTED:
        keep_waiting(call, coded, bytes);
        break;
    case ACOG_FLOW_GONE:
        break;
    }
    return flow;
}

/* The peer ended the connection, cleanly or not. */
static void take_close(struct acog_upstream_call *call, enum acog_link_io io)
{
    const char *why = io == ACOG_IO_BROKEN && call->link->why[0] != '\0'
                          ? call->link->why
                          : "the connection was closed";
    switch (call->answer) {
    case ACOG_ANSWER_NOTHING:
        if (!call->reused && acog_link_is_refused(call->link)) {
            acog_call_unconnected(call, why);
            return;
        }
        acog_call_fail(call, ACOG_CAUSE_CLOSED, why);
        return;
    case ACOG_ANSWER_BEGUN:
        acog_call_fail(call, ACOG_CAUSE_CLOSED, why);
        return;
    case ACOG_ANSWER_BODY:
        if (io == ACOG_IO_CLOSED && acog_http_reader_close(&call->reader) == ACOG_HTTP_STEP_END) {
            finish(call, false);
        } else {
            acog_call_fail(call, ACOG_CAUSE_CUT, why);
        }
        return;
    }
}

static void take_bytes(struct acog_upstream_call *call, struct acog_view bytes)
{
    struct acog_view coded = {0};
    if (call->answer == ACOG_ANSWER_NOTHING) {
        call->answer = ACOG_ANSWER_BEGUN;
    }
    if (feed(call, &bytes, &coded) == ACOG_FLOW_HALTED) {
        (void)keep_rest(call, coded, bytes);
    }
}

void acog_call_readable(struct acog_upstream_call *call)
{
    if (call->news == ACOG_NEWS_CONNECTED && !acog_call_tell_connected(call)) {
        return;
    }
    if (call->paused) {
        return;
    }
    if (call->halted && feed_rest(call) != ACOG_FLOW_ON) {
        return;
    }
    size_t got = 0;
    char *bytes = call->upstream->read_bytes;
    enum acog_link_io io = acog_link_receive(call->link, bytes, ACOG_READ_BYTES, &got);
    switch (io) {
    case ACOG_IO_MOVED:
        take_bytes(call, (struct acog_view){.ptr = bytes, .len = got});
        return;
    case ACOG_IO_AGAIN:
        if (call->sending == ACOG_SENDING_BROKEN && call->answer != ACOG_ANSWER_BODY) {
            take_close(call, ACOG_IO_BROKEN);
        }
        return;
    case ACOG_IO_CLOSED:
    case ACOG_IO_BROKEN:
        take_close(call, io);
        return;
    }
}
