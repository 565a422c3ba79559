/* connection.h - one client, from accept to close; what server.c, connection.c, output.c and reply.c share.
 *
 *   (HANDSHAKE, under TLS) ─> NEW ─byte─> HEAD ─head─> BODY ─end─> HANDLING ─reply's end─> FINISHING ─sent─> IDLE ─byte─> HEAD
 *                 └──refused or late──┴───────────────────────────^   └─(close)─> LINGERING ─> gone
 *   HANDLING ─send failed─> LOST ─handler told─> gone             any ─client closed─> gone
 *
 * A stream is the memory of one request and its reply. A connection has one from the first byte of a request until
 * the last byte of the reply is sent; an idle connection has none, so ten thousand of them cost little.
 *
 * Nothing is sent and no handler is called from inside a reply function (but for a large piece of data, which is sent
 * at once to spare its copy): the connection is marked, and settled once at the end of the turn of the event loop.
 */
#ifndef ACOG_HTTP_CONNECTION_H
#define ACOG_HTTP_CONNECTION_H

#include "acog/buffer.h"
#include "acog/contract.h"
#include "acog/http.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#define ACOG_HTTP_LISTENERS_MAX 16
#define ACOG_HTTP_SCRATCH_BYTES 65536 /* one receive */
#define ACOG_HTTP_RECORD_BYTES  16384 /* the most that a record of TLS takes */
#define ACOG_HTTP_PIPELINE_BYTES_MAX \
    65536 /* of later requests, while one is served; then reading pauses */
#define ACOG_HTTP_SPARE_STREAMS_MAX 64    /* kept for the next requests */
#define ACOG_HTTP_SPARE_KEEP_BYTES  16384 /* of each buffer of a spare stream */
#define ACOG_HTTP_FORGOTTEN_KEEP_BYTES \
    1024 /* of a body that nobody looks at while the reply goes on */
#define ACOG_HTTP_REFUSALS_MAX \
    64 /* connections over the limit that get a 503; more are just closed */
#define ACOG_HTTP_QUEUE_BYTES_MAX (64U << 20U) /* above write_high_bytes: one piece of a reply */
#define ACOG_HTTP_DIRECT_BYTES \
    16384 /* a piece of a reply from this size on is sent without a copy */
#define ACOG_HTTP_BODY_PROGRESS_BYTES 1024 /* so many must come in body_ms, or the rest */
#define ACOG_HTTP_LINGER_MS           2000
#define ACOG_HTTP_PAUSE_MS            3000 /* of reading; then what was pipelined is thrown away */
#define ACOG_HTTP_LINGER_BYTES_MAX    (16U << 20U)
#define ACOG_HTTP_REFUSAL_BYTES_MAX   16384 /* the body of a refusal */

enum acog_connection_state {
    ACOG_CONNECTION_NEW = 0,   /* accepted; no byte yet */
    ACOG_CONNECTION_HANDSHAKE, /* accepted; TLS does not stand yet */
    ACOG_CONNECTION_IDLE,      /* between two requests */
    ACOG_CONNECTION_HEAD,      /* reading a head */
    ACOG_CONNECTION_BODY,      /* reading a body */
    ACOG_CONNECTION_HANDLING,  /* the handler has the stream */
    ACOG_CONNECTION_LOST,      /* the handler has it, and must be told that the client is gone */
    ACOG_CONNECTION_FINISHING, /* the reply is whole; some of it waits to be sent */
    ACOG_CONNECTION_LINGERING, /* our side is closed; what the client still sends is thrown away */
};

/* What follows FINISHING. */
enum acog_connection_ending {
    ACOG_ENDING_KEEP = 0,
    ACOG_ENDING_CLOSE,
    ACOG_ENDING_RESET, /* a close that cannot be taken for the end of the body */
};

enum acog_connection_reading {
    ACOG_READING_ON = 0,
    ACOG_READING_PAUSED, /* only a hang-up is watched */
    ACOG_READING_WASTED, /* what comes is thrown away, and the connection closes after the reply */
};

/* Deadlines of one class have one length, so each class is a list in the order of expiry. */
enum acog_deadline {
    ACOG_DEADLINE_NONE = 0,
    ACOG_DEADLINE_HEAD,
    ACOG_DEADLINE_BODY,
    ACOG_DEADLINE_IDLE,
    ACOG_DEADLINE_WRITE,
    ACOG_DEADLINE_LINGER,
    ACOG_DEADLINE_PAUSE,
    ACOG_DEADLINE_COUNT,
};

enum acog_reply_phase {
    ACOG_REPLY_WAITING = 0,
    ACOG_REPLY_OPEN, /* the head is queued */
};

enum acog_reply_flow {
    ACOG_FLOW_OPEN = 0,
    ACOG_FLOW_FULL, /* it went over the high mark, and not yet below the low one */
};

struct acog_http_connection;
struct ssl_st; /* SSL of OpenSSL */

struct acog_http_stream {
    uint32_t tag;
    struct acog_http_connection *connection;
    struct acog_http_stream *next; /* of the spares */
    void *user;
    struct acog_buffer out; /* to be sent; the first out_sent bytes are sent already */
    size_t out_sent;
    struct acog_buffer body;
    struct acog_http_request request;
    enum acog_reply_phase phase;
    enum acog_reply_flow flow;
    enum acog_http_framing framing; /* of the reply */
    uint64_t reply_left;            /* LENGTH */
    struct acog_http_reader reader;
};

struct acog_http_connection {
    uint32_t tag;
    int socket;
    struct acog_http_server *server;
    struct acog_http_stream *stream;
    struct ssl_st *tls; /* NULL: plain */
    size_t tls_room;    /* bytes that TLS may still take from the socket in this turn */
    enum acog_connection_state state;
    enum acog_connection_ending ending;
    enum acog_connection_reading reading;
    enum acog_deadline deadline;
    int64_t since_ms; /* when the deadline's time began */
    bool local;
    bool marked;          /* is in the server's list of those to settle */
    bool blocked;         /* the socket took no more; write_event waits */
    int watch;            /* while reading pauses: a second descriptor of the socket; else -1 */
    size_t body_progress; /* bytes since the body's deadline was started */
    size_t lingered_bytes;
    struct acog_buffer pending; /* bytes of later requests */
    struct event read_event;    /* of the socket, or of `watch` */
    struct event write_event;
    TAILQ_ENTRY(acog_http_connection) all;
    TAILQ_ENTRY(acog_http_connection) mark;
    TAILQ_ENTRY(acog_http_connection) timed;
};

TAILQ_HEAD(acog_connection_list, acog_http_connection);

enum acog_server_state {
    ACOG_SERVER_OPEN = 0,
    ACOG_SERVER_DRAINING,
};

struct acog_http_listener {
    uint32_t tag;
    int socket;
    struct acog_http_server *server;
    struct acog_http_tls *tls; /* lent; NULL: plain */
    struct event event;
};

struct acog_http_server {
    uint32_t tag;
    enum acog_server_state state;
    struct event_base *base; /* lent */
    struct acog_http_server_options options;
    struct acog_http_listener listeners[ACOG_HTTP_LISTENERS_MAX];
    size_t listener_count;
    struct event accept_again; /* runs while accepting pauses for want of descriptors */
    struct event settle_event; /* active when a connection is marked */
    struct event sweep_event;  /* ticks while a deadline runs */
    int64_t sweep_ms;
    bool sweeping; /* sweep_event is added */
    struct acog_connection_list connections;
    struct acog_connection_list marked;
    struct acog_connection_list timed[ACOG_DEADLINE_COUNT];
    size_t connection_count;
    struct acog_http_stream *spares;
    size_t spare_count;
    int64_t date_s; /* the second that `date` was made for */
    char date[80];  /* "Mon, 30 Nov 2026 13:50:00 GMT" */
    char scratch[ACOG_HTTP_SCRATCH_BYTES];
    char record[ACOG_HTTP_RECORD_BYTES]; /* small pieces joined for TLS */
};

/* -- server.c ---------------------------------------------------------------------------------------- */

/* To be settled at the end of this turn. */
void acog_server_mark(struct acog_http_server *server, struct acog_http_connection *connection);

/* Starts the connection's deadline of a class anew; NONE takes it out. */
void acog_server_time(struct acog_http_connection *connection, enum acog_deadline deadline);

/* A clean stream for the connection; NULL without memory. */
struct acog_http_stream *acog_server_take_stream(struct acog_http_connection *connection);
void acog_server_give_stream(struct acog_http_connection *connection);

/* For the Date header. */
struct acog_view acog_server_date(struct acog_http_server *server);

/* -- connection.c ------------------------------------------------------------------------------------ */

/* Takes the socket. `tls`: NULL for a plain one. `full`: it is over the limit and gets a 503. */
void acog_connection_open(struct acog_http_server *server, int socket, struct acog_http_tls *tls,
                          bool local, bool full);

/* Closes and frees it. A handler that has the stream is told first. */
void acog_connection_close(struct acog_http_connection *connection);

/* Sends what is queued and does what follows; the connection may be gone after it. */
void acog_connection_settle(struct acog_http_connection *connection);

/* Its deadline has passed; it may be gone after it. */
void acog_connection_expire(struct acog_http_connection *connection);

/* Answers for the handler, without it; the rest of what the client sends is thrown away. */
void acog_connection_refuse(struct acog_http_connection *connection,
                            const struct acog_http_problem *problem);

/* Goes on with a handshake; the connection may be gone after it. */
void acog_connection_shake(struct acog_http_connection *connection);

/* -- connection_read.c --------------------------------------------------------------------------------- */

/* The callback of the read event; the connection may be gone after it. */
void acog_connection_readable(evutil_socket_t fd, short what, void *arg);

/* Reads again after a pause; nothing to do without one. False without memory. */
bool acog_connection_resume(struct acog_http_connection *connection);

/* What runs while the handler has the stream and nothing waits to be sent. */
static inline enum acog_deadline acog_connection_rest(const struct acog_http_connection *connection)
{
    bool pause = connection->reading == ACOG_READING_PAUSED && !connection->blocked;
    return pause ? ACOG_DEADLINE_PAUSE : ACOG_DEADLINE_NONE;
}

/* A pause was too long: throws away what was pipelined; the connection may be gone after it. */
void acog_connection_waste_pending(struct acog_http_connection *connection);

/* The request that is served is over and the bytes of the next are here; the connection may be gone after it. */
void acog_connection_read_pending(struct acog_http_connection *connection);

/* -- output.c: the queue of bytes for the client ------------------------------------------------------- */

enum acog_output {
    ACOG_OUTPUT_SENT = 0, /* nothing is queued */
    ACOG_OUTPUT_BLOCKED,
    ACOG_OUTPUT_FAILED,
};

static inline size_t acog_output_queued(const struct acog_http_stream *stream)
{
    return stream->out.len - stream->out_sent;
}

/* Makes room for `bytes` more and returns where they go, or NULL (too many, or no memory). */
char *acog_output_reserve(struct acog_http_stream *stream, size_t bytes);

/* Sends what the socket takes, and arms the write event for the rest. */
enum acog_output acog_output_flush(struct acog_http_stream *stream);

/* Nothing more can be sent now: settles again when it can. False without memory. */
bool acog_output_wait(struct acog_http_connection *connection);

/* Sends the queue and then the pieces, and queues what the socket did not take. */
enum acog_output acog_output_send(struct acog_http_stream *stream, const struct acog_view *pieces,
                                  size_t count);

/* -- transport.c: the one place where bytes of a connection are received and sent ----------------------- */

enum acog_transport {
    ACOG_TRANSPORT_OK = 0,
    ACOG_TRANSPORT_AGAIN,
    ACOG_TRANSPORT_CLOSED, /* by the client, or broken */
};

struct iovec;
enum acog_transport acog_transport_receive(struct acog_http_connection *connection, char *to,
                                           size_t bytes, size_t *received);
enum acog_transport acog_transport_send(struct acog_http_connection *connection,
                                        struct iovec *pieces, size_t count, size_t *sent);

/* Says that no more will be sent; under TLS with its goodbye, after which TLS is over: the peer's bytes are raw then.
 * AGAIN: when the socket takes bytes again. */
enum acog_transport acog_transport_finish(struct acog_http_connection *connection);

/* -- transport_tls.c: the same under TLS ------------------------------------------------------------------ */

/* False without memory. */
bool acog_tls_open(struct acog_http_connection *connection, struct acog_http_tls *tls);

enum acog_handshake {
    ACOG_HANDSHAKE_DONE = 0,
    ACOG_HANDSHAKE_WANTS_READ,
    ACOG_HANDSHAKE_WANTS_WRITE,
    ACOG_HANDSHAKE_LEFT,    /* the client is gone */
    ACOG_HANDSHAKE_REFUSED, /* by one of the two; *why is constant text */
};

enum acog_handshake acog_tls_shake(struct acog_http_connection *connection, const char **why);
/* Where bytes are left inside TLS that no event of the socket would tell, the read event is made active. */
enum acog_transport acog_tls_receive(struct acog_http_connection *connection, char *to,
                                     size_t bytes, size_t *received);
/* After AGAIN, or less than all, the rest must be sent with the same bytes first, and no fewer. */
enum acog_transport acog_tls_send(struct acog_http_connection *connection,
                                  const struct iovec *pieces, size_t count, size_t *sent);
/* Makes the read event active where bytes wait inside TLS. */
void acog_tls_wake(struct acog_http_connection *connection);
/* The goodbye: OK, AGAIN or CLOSED. */
enum acog_transport acog_tls_finish(struct acog_http_connection *connection);
/* NULL is allowed. Says nothing to the client. */
void acog_tls_free(struct acog_http_connection *connection);

/* -- tls.c ------------------------------------------------------------------------------------------------ */

/* A handshake with the files of now, as a server; NULL without memory. From any thread. */
struct ssl_st *acog_http_tls_session(struct acog_http_tls *tls);

/* -- reply.c ------------------------------------------------------------------------------------------- */

/* The server's own answer to a request that it refuses; the connection closes after it. */
void acog_reply_refusal(struct acog_http_stream *stream, const struct acog_http_problem *problem);

#define ACOG_CONNECTION_TAG UINT32_C(0x436f6e6e)
#define ACOG_STREAM_TAG     UINT32_C(0x5374726d)
#define ACOG_LISTENER_TAG   UINT32_C(0x4c73746e)
#define ACOG_SERVER_TAG     UINT32_C(0x53727672)

/* What an event's callback was given. */
static inline struct acog_http_connection *acog_connection_of(void *arg)
{
    struct acog_http_connection *connection = arg;
    ACOG_ASSERT(connection->tag == ACOG_CONNECTION_TAG);
    return connection;
}

#endif
