/* address.h - where a gateway listens: texts, loopback, sockets for all workers.
 */
#ifndef ACOG_GATEWAY_ADDRESS_H
#define ACOG_GATEWAY_ADDRESS_H

#include "acog/error.h"
#include "acog/snapshot.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "localhost", 127.0.0.0/8 or ::1, with or without brackets. */
bool acog_host_is_loopback(struct acog_view host);
/* An IPv4 or IPv6 address, with or without brackets. */
bool acog_host_is_address(struct acog_view host);
/* The host of "host", "host:port", "[v6]" or "[v6]:port"; empty when it is none of these. */
struct acog_view acog_host_without_port(struct acog_view field);
/* Of an Origin header: a page of a loopback host. "null", which any page can make a browser send, is none. */
bool acog_origin_is_local(struct acog_view origin);
/* Reachable from this machine only: a unix socket, or a loopback host. */
bool acog_listener_is_local(const struct acog_listener *listener);

/* "127.0.0.1:4000", "[::1]:4000", "unix:/path"; cut when it does not fit. */
void acog_listener_text(const struct acog_listener *listener, uint16_t port, char *out,
                        size_t out_bytes);

/* Fills `sockets` with `count` listening sockets for one address: SO_REUSEPORT for TCP, one shared socket for a unix
 * path (whoever is awake accepts). *port is the real one. A port that another process listens on is refused, although
 * SO_REUSEPORT would share it: half of the requests would go to a forgotten gateway. */
enum acog_code acog_listener_open(const struct acog_listener *listener, int *sockets, size_t count,
                                  uint16_t *port, struct acog_error *error) ACOG_MUST_CHECK;

/* Takes the file of a unix socket away; nothing for TCP. */
void acog_listener_remove(const struct acog_listener *listener);

#endif
