/* admin.h - the operator's listener: GET /metrics, /status.json, /healthz, /readyz, and the decision records at
 * /v1/generation?id= and /v1/receipts/{id}. On the main thread.
 *
 * It has no password, so it must not be reachable through a browser: a Host that is no address of this listener is
 * refused (DNS rebinding), no CORS header is ever sent, and nothing but GET is served.
 */
#ifndef ACOG_GATEWAY_ADMIN_H
#define ACOG_GATEWAY_ADMIN_H

#include "acog/error.h"
#include "acog/snapshot.h"
#include "acog/view.h"
#include "service.h"

#include <stdbool.h>

struct event_base;
struct acog_admin;

/* Takes `socket`, which listens. NULL with `error` filled in. */
struct acog_admin *acog_admin_new(struct event_base *base, const struct acog_service *service,
                                  const struct acog_listener *listener, int socket,
                                  struct acog_error *error);
void acog_admin_free(struct acog_admin **admin);

/* Whether a request with this Host header may see what the listener shows: loopback names for a loopback listener,
 * any address or the configured host for another, anything for a unix socket. */
bool acog_admin_host_allowed(struct acog_view host, const struct acog_listener *listener);

#endif
