/* stub.c - a provider that costs nearly nothing, for the bench: one thread, epoll, canned answers.
 *
 *   stub PORT        listens on 127.0.0.1:PORT and prints "READY port=N" (PORT 0: the system picks one)
 *
 * It answers POST /v1/chat/completions and /v1/messages. With "stream":true it sends `max_tokens` events of about
 * 170 bytes, N milliseconds apart where a text of the request says "pause N" (else at once); each event is a chunk and a
 * send of its own. It is trusted with
 * requests of the bench only: it reads lengths and chunks loosely and never checks more than it needs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum dialect {
    CHAT = 0,
    MESSAGES,
    DIALECT_COUNT
};

struct text {
    char bytes[4096];
    size_t length;
};

struct canned {
    struct text whole; /* head and body */
    struct text start; /* head and first events */
    struct text event;
    struct text end;
};

struct connection {
    int socket;
    bool dead; /* freed when the timer list lets it go */
    char *in;
    size_t length;
    size_t room;
    bool streaming;
    enum dialect dialect;
    long events_left;
    int64_t pause_us;
    int64_t due_us;
    bool listed;
    struct connection *next_due;
    const char *pending; /* of a canned text the socket did not take */
    size_t pending_length;
};

static struct canned canned[DIALECT_COUNT];
static struct connection *due_first; /* all pauses of a run are equal, so a queue is a timer */
static struct connection *due_last;
static int poll_fd;
static volatile sig_atomic_t stopping;

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text->bytes + text->length, sizeof(text->bytes) - text->length, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof(text->bytes) - text->length) {
        abort();
    }
    text->length += (size_t)n;
}

static void add_chunk(struct text *text, const char *data)
{
    add(text, "%zx\r\n%s\r\n", strlen(data), data);
}

static void make_whole(struct text *text, const char *before, const char *after)
{
    char words[701];
    for (size_t i = 0; i < sizeof(words) - 1; i++) {
        words[i] = "lorem ipsum dolor sit amet "[i % 27];
    }
    words[sizeof(words) - 1] = '\0';
    add(text,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s%s%s",
        strlen(before) + strlen(words) + strlen(after), before, words, after);
}

static void make_canned(void)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                               "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";
    struct canned *chat = &canned[CHAT];
    make_whole(
        &chat->whole,
        "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\"m\","
        "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"",
        "\"},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":42,"
        "\"completion_tokens\":120,\"total_tokens\":162}}");
    add(&chat->start, "%s", head);
    add_chunk(
        &chat->start,
        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
        "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":"
        "\"\"},\"finish_reason\":null}]}\n\n");
    add_chunk(
        &chat->event,
        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
        "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},"
        "\"finish_reason\":null}]}\n\n");
    add_chunk(
        &chat->end,
        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
        "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
        "data: [DONE]\n\n");
    add(&chat->end, "0\r\n\r\n");

    struct canned *messages = &canned[MESSAGES];
    make_whole(
        &messages->whole,
        "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"",
        "\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":42,"
        "\"output_tokens\":120}}");
    add(&messages->start, "%s", head);
    add_chunk(
        &messages->start,
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":"
        "\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,"
        "\"stop_sequence\":null,\"usage\":{\"input_tokens\":42,\"output_tokens\":1}}}\n\n"
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
        "{\"type\":\"text\",\"text\":\"\"}}\n\n");
    add_chunk(&messages->event,
              "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
              "\"delta\":{\"type\":\"text_delta\",\"text\":\" some more token text\"}}\n\n");
    add_chunk(&messages->end,
              "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
              "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
              "\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":15}}\n\n"
              "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    add(&messages->end, "0\r\n\r\n");
}

static void drop(struct connection *connection)
{
    close(connection->socket);
    connection->dead = true;
    if (!connection->listed) {
        free(connection->in);
        free(connection);
    }
}

static void watch(struct connection *connection, uint32_t more)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | more, .data.ptr = connection};
    (void)epoll_ctl(poll_fd, EPOLL_CTL_MOD, connection->socket, &event);
}

/* False when the connection broke; what the socket did not take is remembered. */
static bool put(struct connection *connection, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(connection->socket, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            connection->pending = bytes;
            connection->pending_length = length;
            watch(connection, EPOLLOUT);
            return true;
        }
        if (sent < 0) {
            return false;
        }
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

static bool put_text(struct connection *connection, const struct text *text)
{
    return put(connection, text->bytes, text->length);
}

static void list_due(struct connection *connection)
{
    connection->due_us = now_us() + connection->pause_us;
    connection->listed = true;
    connection->next_due = NULL;
    if (due_last != NULL) {
        due_last->next_due = connection;
    } else {
        due_first = connection;
    }
    due_last = connection;
}

/* Sends events until the socket is full, a pause is due or the stream is over. */
static bool pump(struct connection *connection)
{
    const struct canned *texts = &canned[connection->dialect];
    while (connection->streaming && connection->pending_length == 0) {
        if (connection->events_left == 0) {
            connection->streaming = false;
            return put_text(connection, &texts->end);
        }
        connection->events_left--;
        if (!put_text(connection, &texts->event)) {
            return false;
        }
        if (connection->pause_us > 0) {
            list_due(connection);
            return true;
        }
    }
    return true;
}

static long number_after(const char *body, size_t length, const char *key, long otherwise)
{
    const char *at = memmem(body, length, key, strlen(key));
    return at == NULL ? otherwise : strtol(at + strlen(key), NULL, 10);
}

static bool answer(struct connection *connection, const char *head, const char *body, size_t length)
{
    connection->dialect = memmem(head, 64, "/messages", 9) != NULL ? MESSAGES : CHAT;
    const struct canned *texts = &canned[connection->dialect];
    if (memmem(body, length, "\"stream\":true", 13) == NULL) {
        return put_text(connection, &texts->whole);
    }
    connection->streaming = true;
    connection->events_left = number_after(body, length, "\"max_tokens\":", 100);
    connection->pause_us = 1000 * (int64_t)number_after(body, length, "pause ", 0);
    if (!put_text(connection, &texts->start)) {
        return false;
    }
    if (connection->pause_us > 0) {
        list_due(connection);
        return true;
    }
    return pump(connection);
}

/* The bytes of the first whole request in the buffer, or 0. */
static size_t request_length(const struct connection *connection, size_t *head_length)
{
    const char *end = memmem(connection->in, connection->length, "\r\n\r\n", 4);
    if (end == NULL) {
        return 0;
    }
    *head_length = (size_t)(end - connection->in) + 4;
    const char *length = strcasestr(connection->in, "\ncontent-length:");
    if (length != NULL && length < end) {
        size_t total = *head_length + strtoul(length + 16, NULL, 10);
        return connection->length >= total ? total : 0;
    }
    const char *last =
        memmem(connection->in + *head_length, connection->length - *head_length, "0\r\n\r\n", 5);
    return last == NULL ? 0 : (size_t)(last - connection->in) + 5;
}

static bool serve(struct connection *connection)
{
    while (!connection->streaming && connection->pending_length == 0 && connection->length > 0) {
        size_t head = 0;
        connection->in[connection->length] = '\0';
        size_t total = request_length(connection, &head);
        if (total == 0) {
            return true;
        }
        if (!answer(connection, connection->in, connection->in + head, total - head)) {
            return false;
        }
        memmove(connection->in, connection->in + total, connection->length - total);
        connection->length -= total;
    }
    return true;
}

static bool receive(struct connection *connection)
{
    for (;;) {
        if (connection->length == connection->room) {
            connection->room *= 2;
            connection->in = realloc(connection->in, connection->room + 1);
            if (connection->in == NULL) {
                abort();
            }
        }
        size_t want = connection->room - connection->length;
        ssize_t got = recv(connection->socket, connection->in + connection->length, want, 0);
        if (got < 0 && errno == EAGAIN) {
            break;
        }
        if (got <= 0) {
            return false;
        }
        connection->length += (size_t)got;
        if ((size_t)got < want) {
            break;
        }
    }
    return serve(connection);
}

static bool writable(struct connection *connection)
{
    const char *bytes = connection->pending;
    size_t length = connection->pending_length;
    connection->pending_length = 0;
    watch(connection, 0);
    return put(connection, bytes, length) && (connection->listed || pump(connection)) &&
           serve(connection);
}

static void accept_all(int listener)
{
    for (;;) {
        int one = 1;
        int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (accepted < 0) {
            return;
        }
        (void)setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        struct connection *connection = calloc(1, sizeof(*connection));
        if (connection == NULL) {
            abort();
        }
        connection->socket = accepted;
        connection->room = 8192;
        connection->in = malloc(connection->room + 1);
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = connection};
        (void)epoll_ctl(poll_fd, EPOLL_CTL_ADD, accepted, &event);
    }
}

static void run_due(void)
{
    int64_t now = now_us();
    while (due_first != NULL && due_first->due_us <= now) {
        struct connection *connection = due_first;
        due_first = connection->next_due;
        due_last = due_first == NULL ? NULL : due_last;
        connection->listed = false;
        if (connection->dead) {
            free(connection->in);
            free(connection);
        } else if (!pump(connection) || !serve(connection)) {
            drop(connection);
        }
    }
}

static void on_signal(int number)
{
    (void)number;
    stopping = 1;
}

static int listen_on(uint16_t port)
{
    int one = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    socklen_t length = sizeof(address);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 4096) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        perror("listen");
        exit(1);
    }
    printf("READY port=%u\n", (unsigned)ntohs(address.sin_port));
    (void)fflush(stdout);
    return listener;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: stub PORT\n");
        return 2;
    }
    (void)signal(SIGTERM, on_signal);
    (void)signal(SIGINT, on_signal);
    make_canned();
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    int listener = listen_on((uint16_t)strtoul(argv[1], NULL, 10));
    struct epoll_event first = {.events = EPOLLIN, .data.ptr = NULL};
    (void)epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &first);
    while (!stopping) {
        struct epoll_event events[512];
        int wait_ms = -1;
        if (due_first != NULL) {
            int64_t left = due_first->due_us - now_us();
            wait_ms = left <= 0 ? 0 : (int)((left + 999) / 1000);
        }
        int count = epoll_wait(poll_fd, events, 512, wait_ms);
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection == NULL) {
                accept_all(listener);
                continue;
            }
            bool fine = (events[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0 ||
                        receive(connection);
            if (fine && (events[i].events & EPOLLOUT) != 0) {
                fine = writable(connection);
            }
            if (!fine) {
                drop(connection);
            }
        }
        run_due();
    }
    return 0;
}
