/* http.h - HTTP/1.1 as it is spoken on both sides: a strict reader in two roles, a writer, and the server.
 *
 * The reader is pure (bytes in, heads and body pieces out) and refuses what RFC 9112 lets a recipient refuse:
 * bare LF and CR, obs-fold, NUL and other control characters, a space before the colon, two lengths (equal ones too),
 * a length beside a transfer coding, any coding but a sole "chunked", chunk sizes with signs, prefixes or spaces,
 * missing or double Host, a Host that is no host, an absolute target that names another host than Host does (else it
 * is made an origin target), "*" for anything but OPTIONS, CONNECT, and 101. Chunk extensions are checked and ignored,
 * trailers too, both up to a cap. Nobody else in the project parses HTTP.
 */
#ifndef ACOG_HTTP_H
#define ACOG_HTTP_H

#include "acog/buffer.h"
#include "acog/error.h"
#include "acog/header.h"
#include "acog/tls.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;

#define ACOG_HTTP_FIELDS_MAX 256 /* the compiled bound; limits.headers is lower */

/* -- reader ---------------------------------------------------------------------------------------- */

enum acog_http_role {
    ACOG_HTTP_REQUEST = 0,
    ACOG_HTTP_RESPONSE,
};

/* How a body ends. */
enum acog_http_framing {
    ACOG_HTTP_NO_BODY = 0,
    ACOG_HTTP_LENGTH,
    ACOG_HTTP_CHUNKED,
    ACOG_HTTP_UNTIL_CLOSE, /* responses only */
};

struct acog_http_head {
    struct acog_view method; /* requests */
    struct acog_view target; /* requests: origin form ("/v1/messages?beta=true"), or "*" */
    unsigned status;         /* responses */
    int minor;               /* of HTTP/1.x: 0 or 1 */
    enum acog_http_framing framing;
    uint64_t content_length; /* LENGTH */
    bool keep_alive;
    bool expect_continue; /* requests */
    size_t field_count;
    struct acog_header_row *fields; /* the reader's; names in lower case, values trimmed */
};

/* What was wrong; `status` is for the client (400, 408, 413, 417, 431, 501, 503, 505), and 502 for every response. */
struct acog_http_problem {
    unsigned status;
    const char *what; /* constant text for a human */
};

struct acog_http_reader_limits {
    size_t head_bytes_max; /* over it is 431 */
    size_t fields_max;     /* over it is 431; at most ACOG_HTTP_FIELDS_MAX */
    /* Requests: over it is 413, at the head when it has a length, else with the chunk that would pass it. Not used for
     * responses: who takes their bodies counts. */
    uint64_t body_bytes_max;
};

enum acog_http_step {
    ACOG_HTTP_STEP_MORE = 0, /* all bytes were taken; feed more */
    ACOG_HTTP_STEP_HEAD,     /* reader->head is complete */
    ACOG_HTTP_STEP_INTERIM,  /* responses: a 1xx head was read and is over */
    ACOG_HTTP_STEP_BODY,     /* `body` is a piece of the body, inside the fed bytes */
    ACOG_HTTP_STEP_END,      /* the message is complete; the next byte belongs to the next one */
    ACOG_HTTP_STEP_BROKEN,   /* reader->problem says why; the connection must be closed */
};

struct acog_http_reader {
    /* Responses: set before the first byte when the request was HEAD: then there is no body. */
    bool head_request;
    struct acog_http_problem problem;
    /* From here to `head`: private. */
    enum acog_http_role role;
    unsigned state;       /* enum acog_reader_state */
    unsigned chunk_state; /* enum acog_chunk_state */
    struct acog_http_reader_limits limits;
    struct acog_buffer head_bytes; /* the views of `head` point into it */
    size_t line_bytes;             /* of the unfinished line of the head */
    size_t line_count;             /* of the head, the first and the empty one too */
    size_t fields_room;            /* rows behind head.fields, made when the lines are counted */
    uint64_t body_left;            /* of the body, or of the chunk */
    uint64_t body_taken;
    size_t chunk_digits;
    size_t extension_bytes; /* of the chunk's line */
    size_t trailer_bytes;
    unsigned empty_lines;
    unsigned interim_count;
    struct acog_http_head head; /* its views are valid until the next message begins */
};

void acog_http_reader_init(struct acog_http_reader *reader, enum acog_http_role role,
                           const struct acog_http_reader_limits *limits);
void acog_http_reader_fini(struct acog_http_reader *reader);

/* For the next message on the same connection. */
void acog_http_reader_reset(struct acog_http_reader *reader);

/* Takes *used of `bytes` and says what came of it; call again with the rest, even when it is empty, until MORE (or END:
 * then reset). The steps do not depend on how the bytes were cut, but for where a body is cut into pieces. */
enum acog_http_step acog_http_reader_feed(struct acog_http_reader *reader, struct acog_view bytes,
                                          size_t *used, struct acog_view *body) ACOG_MUST_CHECK;

/* The peer closed. END when the message ends by that (UNTIL_CLOSE) or had ended, MORE when nothing had begun, else
 * BROKEN. */
enum acog_http_step acog_http_reader_close(struct acog_http_reader *reader) ACOG_MUST_CHECK;

/* -- writer ---------------------------------------------------------------------------------------- */

/* Each refuses (ACOG_INVALID, nothing appended) a name that is no token, a value with a control character other than
 * tab, a method or target that the reader would refuse. ACOG_TOO_BIG and ACOG_NO_MEMORY append nothing either. */
enum acog_code
acog_http_write_request(struct acog_buffer *out, struct acog_view method, struct acog_view target,
                        const struct acog_header_row *rows,
                        size_t count) ACOG_MUST_CHECK; /* rows end with the empty line */
enum acog_code acog_http_write_status(struct acog_buffer *out, unsigned status) ACOG_MUST_CHECK;
enum acog_code acog_http_write_header(struct acog_buffer *out, struct acog_view name,
                                      struct acog_view value) ACOG_MUST_CHECK;

/* -- TLS of a listener ------------------------------------------------------------------------------- */

/* The certificate of a listener and the rules of its handshakes: TLS 1.2 and 1.3, forward secrecy and AEAD only, no
 * renegotiation, HTTP/1.1 alone by ALPN. Shared by the servers of all threads, and outlives them. */
struct acog_http_tls;

/* Loads the files. NULL with `error` filled in: it names the file, and never what stands in a key. */
struct acog_http_tls *acog_http_tls_new(const struct acog_tls_rules *rules, int64_t now_ms,
                                        struct acog_error *error);
void acog_http_tls_free(struct acog_http_tls **tls);

enum acog_http_tls_news {
    ACOG_HTTP_TLS_SAME = 0,
    ACOG_HTTP_TLS_LOADED,   /* handshakes from now on use the new files */
    ACOG_HTTP_TLS_REJECTED, /* told once: `error` says why, and what was loaded before is used on */
};

/* Looks whether the files have changed; call it once a second or so, always from the same thread. Changed files are
 * loaded when two looks saw the same: a certificate and its key are seldom written in one moment. Also renews the key
 * of session tickets twice a day. */
enum acog_http_tls_news acog_http_tls_look(struct acog_http_tls *tls, int64_t now_ms,
                                           struct acog_error *error) ACOG_MUST_CHECK;

/* -- server ---------------------------------------------------------------------------------------- */

struct acog_http_server; /* one per worker */
struct
    acog_http_stream; /* one request and its reply; dies with the reply's end or abort, or with `gone` */

struct acog_http_request {
    const struct acog_http_head *head;
    struct acog_view body; /* whole; all of it is valid until the stream dies */
    bool local;            /* came through a unix socket or from a loopback address */
};

#define ACOG_HTTP_REFUSAL_ROWS_MAX 4

/* The answer to bytes that are no request. */
struct acog_http_refusal {
    unsigned status; /* the problem's; 400 to 599 */
    /* The handler's until it is called again; at most ACOG_HTTP_REFUSAL_ROWS_MAX, and no Content-Type. */
    const struct acog_header_row *rows;
    size_t row_count;
    struct acog_buffer body; /* empty; JSON is to be appended */
};

struct acog_http_handler {
    void *user;
    /* A whole request. The handler must end or abort the reply, at once or later, unless it is told `gone`. What the
     * client sends meanwhile waits; when that is more than 64 KB for some seconds, it is thrown away, and the connection
     * closes after the reply (RFC 9112, 9.3.2: it may be sent again). */
    void (*request)(void *user, struct acog_http_stream *stream,
                    const struct acog_http_request *request);
    /* The client is gone (reset, or closed its side: decision 17); the stream is dead when this returns. */
    void (*gone)(void *user, struct acog_http_stream *stream);
    /* What was queued for the client fell below the low mark again. */
    void (*drained)(void *user, struct acog_http_stream *stream);
    /* Bytes were refused before there was a request: fill in the answer. `target` is empty when unknown. NULL: the
     * problem's status without a body. The connection closes after it. */
    void (*refuse)(void *user, const struct acog_http_problem *problem, struct acog_view target,
                   struct acog_http_refusal *refusal);
    /* A handshake of TLS failed or took longer than head_ms: `why` is constant text. NULL: nobody wants to know. */
    void (*tls_refused)(void *user, const char *why);
};

struct acog_http_server_options {
    struct acog_http_reader_limits reader;
    size_t connections_max; /* of this server; more are closed at accept, after a 503 */
    int64_t keep_alive_ms;
    int64_t
        head_ms; /* from the first byte of a head to its end; from accept to the end of a handshake; and from there to the first byte */
    int64_t body_ms;  /* in which the next kilobyte of a body comes, or its rest */
    int64_t write_ms; /* a client that takes no byte for so long while some are queued is gone */
    size_t write_high_bytes; /* queued: acog_http_reply_full() says so */
    struct acog_http_handler handler;
};

/* `base` is lent and must have edge-triggered events (epoll). NULL with `error` filled in. */
struct acog_http_server *acog_http_server_new(struct event_base *base,
                                              const struct acog_http_server_options *options,
                                              struct acog_error *error);
/* Closes everything at once; a handler that has a stream is told `gone`. Not from inside a handler. */
void acog_http_server_free(struct acog_http_server **server);

/* Listens on a socket made by acog_http_listen() or acog_http_listen_unix(); takes it, also when it fails. */
enum acog_code acog_http_server_add(struct acog_http_server *server, int socket,
                                    struct acog_error *error) ACOG_MUST_CHECK;
/* Likewise, with TLS; `tls` is lent until the server is freed. Clients above connections_max are closed at accept. */
enum acog_code acog_http_server_add_tls(struct acog_http_server *server, int socket,
                                        struct acog_http_tls *tls,
                                        struct acog_error *error) ACOG_MUST_CHECK;

/* No new connections; idle ones are closed; each reply from now on says "Connection: close". */
void acog_http_server_drain(struct acog_http_server *server);
size_t acog_http_server_connections(const struct acog_http_server *server);
/* Frees what is kept for the next requests. */
void acog_http_server_rest(struct acog_http_server *server);

/* A listening, non-blocking TCP socket with SO_REUSEPORT and TCP_NODELAY, or a unix socket (its file is made; an old
 * one that nobody listens on is replaced). Port 0 picks one. -1 with `error` filled in. */
int acog_http_listen(struct acog_view host, uint16_t port, struct acog_error *error);
int acog_http_listen_unix(struct acog_view path, struct acog_error *error);

/* The port a socket listens on. */
uint16_t acog_http_listen_port(int socket);

/* The reply: a head, data, an end. content_length -1: chunked for HTTP/1.1, until close for HTTP/1.0. The server adds
 * Date, Connection, Content-Length or Transfer-Encoding; rows of these names are left out, and so are rows that are no
 * legal header. Data for HEAD, 204 and 304 is dropped; data beyond content_length is cut, and a reply that ends short of
 * it is aborted. `data` is lent for the call. What is said in one turn of the event loop leaves together at its end.
 * Errors of the connection come as `gone`, later; never from inside a call. */
void acog_http_reply_head(struct acog_http_stream *stream, unsigned status,
                          const struct acog_header_row *rows, size_t count, int64_t content_length);
void acog_http_reply_data(struct acog_http_stream *stream, struct acog_view data);
void acog_http_reply_end(struct acog_http_stream **stream); /* the stream is the server's again */
void acog_http_reply_abort(
    struct acog_http_stream **stream); /* sends what is queued, then closes without a legal end */

/* More than write_high_bytes are queued: stop the source until `drained`. */
bool acog_http_reply_full(const struct acog_http_stream *stream);

/* Nobody looks at the request's body any more: views of it are dead, and a large one's memory is free again. */
void acog_http_request_forget_body(struct acog_http_stream *stream);

/* What the handler wants to find again. */
void acog_http_stream_set_user(struct acog_http_stream *stream, void *user);
void *acog_http_stream_user(const struct acog_http_stream *stream);

#endif
