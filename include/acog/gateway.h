/* gateway.h - `acog serve`: the driver with sockets.
 *
 *   main thread     signals, the admin listener, the READY line; drains and ends the others
 *   worker threads  each with its own event loop, listener (SO_REUSEPORT), upstream, Lua state and spare exchanges
 *   log thread      writes what the workers hand over (log.h)
 *
 * Threads share the snapshot, the cells of shared.h and counters that one thread writes and the main thread reads;
 * there is no lock on the way of a request. What a request means is decided in core/exchange and core/engine; here
 * bytes move and time passes.
 *
 *   SERVING --SIGTERM, SIGINT--> DRAINING --all idle, or limits.drain_ms--> ENDED (exit 0)
 *                                    +------- a second signal ------------> ENDED (exit 1); a third one kills
 *
 * SIGHUP is ignored, so that a closed terminal ends no gateway.
 */
#ifndef ACOG_GATEWAY_H
#define ACOG_GATEWAY_H

#include "acog/error.h"
#include "acog/log.h"
#include "acog/snapshot.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stdint.h>

#define ACOG_WORKERS_MAX 256

/* Views and pointers are lent for as long as the gateway serves. */
struct acog_serve_options {
    const char *path; /* of the configuration */
    bool has_listen;  /* `listen` instead of the configuration's; likewise for admin */
    struct acog_listener listen;
    bool has_admin;
    struct acog_listener admin;
    uint32_t workers;     /* 0: the configuration's, which may mean one for each processor */
    const char *log_path; /* NULL: standard error */
    enum acog_log_level log_level;
};

/* Reads the words after `acog serve`. ACOG_INVALID with `error` filled in. */
enum acog_code acog_serve_options_read(int count, char *const *words,
                                       struct acog_serve_options *options,
                                       struct acog_error *error) ACOG_MUST_CHECK;

/* "127.0.0.1:4000", "[::1]:4000", "localhost:0", "unix:/run/acog.sock". The views point into `text`. */
enum acog_code acog_listener_read(struct acog_view text, struct acog_listener *listener,
                                  struct acog_error *error) ACOG_MUST_CHECK;

/* Serves until a signal ends it; prints one READY line on standard output once every worker listens. True when it
 * drained; false when it could not start (standard error says why) or was hurried. Must be called at most once at a
 * time in a process: it sets signal handlers. */
bool acog_serve(const struct acog_serve_options *options) ACOG_MUST_CHECK;

/* `acog check`: prints findings, one a line, on standard output. False when one is an error. */
bool acog_check(const char *path) ACOG_MUST_CHECK;

#endif
