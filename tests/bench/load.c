/* load.c - a load generator for the bench: HTTP/1.1 keep-alive over loopback, aware of event streams.
 *
 *   load --port N --path P --body FILE [--connections 32] [--seconds 5] [--warm-up 1] [--rate R] [--pid PID]
 *
 * Without --rate each connection sends its next request when the last answer is complete (closed loop: saturation).
 * With --rate requests start at a fixed pace, and latency counts from the intended start (open loop: latency).
 * Prints one JSON object: counts, latencies in milliseconds, and the CPU that the process PID (all its threads) spent
 * in the measured time, per request and per event, from /proc/PID/task/<thread>/schedstat.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES_MAX ((size_t)1 << 22)
#define WAITING_MAX 65536

enum part {
    PART_HEAD = 0,
    PART_LENGTH,
    PART_CHUNK_SIZE,
    PART_CHUNK,
    PART_CHUNK_END,
    PART_TRAILER,
    PART_DONE
};

struct connection {
    int socket;
    bool busy;
    enum part part;
    uint64_t left;
    char line[4096];
    size_t line_length;
    size_t sent;
    bool after_newline;
    bool is_chunked; /* of the head being read, as the two below */
    uint64_t body_length;
    long status;
    int64_t started_ns;
    int64_t first_byte_ns;
};

struct samples {
    uint32_t *microseconds;
    size_t count;
};

static struct {
    uint16_t port;
    const char *path;
    const char *body_file;
    int connections;
    double seconds;
    double warm_up_seconds;
    double rate;
    long pid;
} options = {.path = "/v1/chat/completions", .connections = 32, .seconds = 5, .warm_up_seconds = 1};

static char *request;
static size_t request_length;
static int poll_fd;
static bool measuring;
static uint64_t done_count, event_count, error_count, other_status_count;
static struct samples latency, first_byte;
static struct connection **idle;
static int idle_count;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void sample(struct samples *samples, int64_t nanoseconds)
{
    if (measuring && samples->count < SAMPLES_MAX) {
        samples->microseconds[samples->count++] = (uint32_t)(nanoseconds / 1000);
    }
}

static int by_value(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static double percentile_ms(const struct samples *samples, double share)
{
    size_t at = (size_t)(share * (double)(samples->count == 0 ? 0 : samples->count - 1));
    return samples->count == 0 ? 0 : samples->microseconds[at] / 1000.0;
}

static uint64_t cpu_ns(long pid)
{
    char path[320];
    uint64_t total = 0;
    (void)snprintf(path, sizeof(path), "/proc/%ld/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task = NULL; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        unsigned long long spent = 0;
        (void)snprintf(path, sizeof(path), "/proc/%ld/task/%s/schedstat", pid, task->d_name);
        FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file != NULL) {
            total += fscanf(file, "%llu", &spent) == 1 ? spent : 0;
            (void)fclose(file);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return total;
}

static void dial(struct connection *connection)
{
    int one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(options.port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof(address)) != 0) {
        fail("connect");
    }
    (void)setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    (void)epoll_ctl(poll_fd, EPOLL_CTL_ADD, connection->socket, &event);
}

/* Sends as much of the request as the socket takes. */
static void send_more(struct connection *connection)
{
    while (connection->sent < request_length) {
        ssize_t sent = send(connection->socket, request + connection->sent,
                            request_length - connection->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            break;
        }
        connection->sent += (size_t)sent;
    }
    static const uint32_t reading = EPOLLIN;
    bool all = connection->sent == request_length;
    struct epoll_event event = {.events = all ? reading : reading | EPOLLOUT,
                                .data.ptr = connection};
    if (!all || request_length > 16384) {
        (void)epoll_ctl(poll_fd, EPOLL_CTL_MOD, connection->socket, &event);
    }
}

static void start(struct connection *connection, int64_t at_ns)
{
    connection->busy = true;
    connection->part = PART_HEAD;
    connection->line_length = 0;
    connection->sent = 0;
    connection->after_newline = false;
    connection->started_ns = at_ns;
    connection->first_byte_ns = 0;
    send_more(connection);
}

static void count_events(struct connection *connection, const char *bytes, size_t length)
{
    for (const char *end = bytes + length; bytes < end;) {
        if (*bytes == '\n') {
            event_count += measuring && connection->after_newline ? 1 : 0;
            connection->after_newline = !connection->after_newline;
            bytes++;
            continue;
        }
        connection->after_newline = false;
        bytes = memchr(bytes, '\n', (size_t)(end - bytes));
        if (bytes == NULL) {
            return;
        }
    }
}

/* True when a whole line is in connection->line, without its end. */
static bool take_line(struct connection *connection, char byte)
{
    if (byte == '\n') {
        connection->line[connection->line_length] = '\0';
        return true;
    }
    if (byte != '\r' && connection->line_length < sizeof(connection->line) - 1) {
        connection->line[connection->line_length++] = byte;
    }
    return false;
}

static void take_head_line(struct connection *connection)
{
    if (strncmp(connection->line, "HTTP/", 5) == 0) {
        connection->is_chunked = false;
        connection->body_length = 0;
        connection->status = strtol(connection->line + 9, NULL, 10);
    } else if (strncasecmp(connection->line, "content-length:", 15) == 0) {
        connection->body_length = strtoull(connection->line + 15, NULL, 10);
    } else if (strncasecmp(connection->line, "transfer-encoding:", 18) == 0) {
        connection->is_chunked = true;
    }
}

static enum part part_after_head(const struct connection *connection)
{
    if (connection->is_chunked) {
        return PART_CHUNK_SIZE;
    }
    return connection->body_length == 0 ? PART_DONE : PART_LENGTH;
}

/* The bytes of `length` taken by the current part. */
static size_t take(struct connection *connection, const char *bytes, size_t length)
{
    switch (connection->part) {
    case PART_HEAD:
        if (take_line(connection, *bytes)) {
            take_head_line(connection);
            if (connection->line_length == 0) {
                other_status_count += measuring && connection->status != 200 ? 1 : 0;
                connection->left = connection->body_length;
                connection->part = part_after_head(connection);
            }
            connection->line_length = 0;
        }
        return 1;
    case PART_CHUNK_SIZE:
        if (take_line(connection, *bytes)) {
            connection->left = strtoull(connection->line, NULL, 16);
            connection->line_length = 0;
            connection->part = connection->left == 0 ? PART_TRAILER : PART_CHUNK;
        }
        return 1;
    case PART_LENGTH:
    case PART_CHUNK: {
        size_t some = length < connection->left ? length : (size_t)connection->left;
        count_events(connection, bytes, some);
        connection->left -= some;
        if (connection->left == 0) {
            connection->part = connection->part == PART_LENGTH ? PART_DONE : PART_CHUNK_END;
        }
        return some;
    }
    case PART_CHUNK_END:
        connection->part = *bytes == '\n' ? PART_CHUNK_SIZE : PART_CHUNK_END;
        return 1;
    case PART_TRAILER:
        connection->part = *bytes == '\n' ? PART_DONE : PART_TRAILER;
        return 1;
    case PART_DONE:
        break;
    }
    return length;
}

static void next_request(struct connection *connection)
{
    connection->busy = false;
    if (options.rate > 0) {
        idle[idle_count++] = connection;
    } else {
        start(connection, now_ns());
    }
}

static void receive(struct connection *connection)
{
    static char buffer[262144];
    ssize_t got = recv(connection->socket, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) {
        return;
    }
    if (got <= 0) {
        bool was_busy = connection->busy;
        error_count += measuring && was_busy ? 1 : 0;
        close(connection->socket);
        dial(connection);
        if (was_busy) {
            next_request(connection);
        }
        return;
    }
    int64_t now = now_ns();
    if (connection->first_byte_ns == 0) {
        connection->first_byte_ns = now;
        sample(&first_byte, now - connection->started_ns);
    }
    for (size_t at = 0; at < (size_t)got && connection->part != PART_DONE;) {
        at += take(connection, buffer + at, (size_t)got - at);
    }
    if (connection->part == PART_DONE) {
        done_count += measuring ? 1 : 0;
        sample(&latency, now - connection->started_ns);
        next_request(connection);
    }
}

static void read_options(int argc, char **argv)
{
    static const struct option names[] = {{"port", required_argument, NULL, 'p'},
                                          {"path", required_argument, NULL, 'u'},
                                          {"body", required_argument, NULL, 'b'},
                                          {"connections", required_argument, NULL, 'c'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {"warm-up", required_argument, NULL, 'w'},
                                          {"rate", required_argument, NULL, 'r'},
                                          {"pid", required_argument, NULL, 'P'},
                                          {NULL, 0, NULL, 0}};
    for (int name = 0; (name = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (name) {
        case 'p':
            options.port = (uint16_t)strtoul(optarg, NULL, 10);
            break;
        case 'u':
            options.path = optarg;
            break;
        case 'b':
            options.body_file = optarg;
            break;
        case 'c':
            options.connections = (int)strtol(optarg, NULL, 10);
            break;
        case 's':
            options.seconds = strtod(optarg, NULL);
            break;
        case 'w':
            options.warm_up_seconds = strtod(optarg, NULL);
            break;
        case 'r':
            options.rate = strtod(optarg, NULL);
            break;
        case 'P':
            options.pid = strtol(optarg, NULL, 10);
            break;
        default:
            exit(2);
        }
    }
    if (options.port == 0 || options.body_file == NULL) {
        (void)fprintf(stderr, "load: --port and --body are needed\n");
        exit(2);
    }
}

static void make_request(void)
{
    FILE *file = fopen(options.body_file, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fail(options.body_file);
    }
    size_t body_length = (size_t)ftell(file);
    rewind(file);
    request = malloc(body_length + 1024);
    int head = snprintf(
        request, 1024,
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nUser-Agent: load\r\nAuthorization: Bearer "
        "sk-test\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
        "Content-Length: %zu\r\n\r\n",
        options.path, (unsigned)options.port, body_length);
    if (fread(request + head, 1, body_length, file) != body_length) {
        fail(options.body_file);
    }
    (void)fclose(file);
    request_length = (size_t)head + body_length;
}

static void print_result(double seconds, uint64_t cpu)
{
    qsort(latency.microseconds, latency.count, sizeof(uint32_t), by_value);
    qsort(first_byte.microseconds, first_byte.count, sizeof(uint32_t), by_value);
    double cpu_us = (double)cpu / 1000.0;
    printf(
        "{\"requests\":%llu,\"requests_per_second\":%.1f,\"events\":%llu,\"errors\":%llu,\"other_status\":%llu,"
        "\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"first_byte_p50_ms\":%.3f,\"first_byte_p99_ms\":%.3f,"
        "\"cpu_us_per_request\":%.3f,\"cpu_us_per_event\":%.3f}\n",
        (unsigned long long)done_count, (double)done_count / seconds,
        (unsigned long long)event_count, (unsigned long long)error_count,
        (unsigned long long)other_status_count, percentile_ms(&latency, 0.5),
        percentile_ms(&latency, 0.99), percentile_ms(&first_byte, 0.5),
        percentile_ms(&first_byte, 0.99), done_count == 0 ? 0 : cpu_us / (double)done_count,
        event_count == 0 ? 0 : cpu_us / (double)event_count);
}

/* Requests whose intended start has come, in a ring: an open loop does not wait for the gateway. */
static void start_due(int64_t now, int64_t *next_ns)
{
    static int64_t waiting[WAITING_MAX];
    static size_t first;
    static size_t last;
    int64_t step = (int64_t)(1e9 / options.rate);
    for (; *next_ns <= now; *next_ns += step) {
        if (last - first < WAITING_MAX) {
            waiting[last++ % WAITING_MAX] = *next_ns;
        }
    }
    while (first != last && idle_count > 0) {
        start(idle[--idle_count], waiting[first++ % WAITING_MAX]);
    }
}

static void run(int64_t from_ns, int64_t until_ns)
{
    int64_t next_ns = from_ns;
    uint64_t cpu_before = 0;
    int64_t measured_from = from_ns + (int64_t)(options.warm_up_seconds * 1e9);
    for (;;) {
        int64_t now = now_ns();
        if (!measuring && now >= measured_from) {
            measuring = true;
            measured_from = now;
            cpu_before = options.pid > 0 ? cpu_ns(options.pid) : 0;
        }
        if (now >= until_ns) {
            print_result((double)(now - measured_from) / 1e9,
                         options.pid > 0 ? cpu_ns(options.pid) - cpu_before : 0);
            return;
        }
        int64_t wake = until_ns;
        if (options.rate > 0) {
            start_due(now, &next_ns);
            wake = next_ns < wake ? next_ns : wake;
        }
        wake = !measuring && measured_from < wake ? measured_from : wake;
        now = now_ns();
        int64_t wait = wake > now ? wake - now : 0;
        struct timespec timeout = {.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};
        struct epoll_event events[512];
        int count = epoll_pwait2(poll_fd, events, 512, &timeout, NULL);
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if ((events[i].events & EPOLLOUT) != 0) {
                send_more(connection);
            }
            if ((events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
                receive(connection);
            }
        }
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    make_request();
    latency.microseconds = malloc(SAMPLES_MAX * sizeof(uint32_t));
    first_byte.microseconds = malloc(SAMPLES_MAX * sizeof(uint32_t));
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct connection *connections = calloc((size_t)options.connections, sizeof(*connections));
    idle = calloc((size_t)options.connections, sizeof(*idle));
    if (connections == NULL || idle == NULL) {
        fail("memory");
    }
    for (int i = 0; i < options.connections; i++) {
        dial(&connections[i]);
    }
    int64_t from = now_ns();
    for (int i = 0; i < options.connections; i++) {
        next_request(&connections[i]);
    }
    run(from, from + (int64_t)((options.warm_up_seconds + options.seconds) * 1e9));
    return 0;
}
