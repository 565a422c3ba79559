/* status.h - /status.json: what the gateway is, and how its connections and circuits do.
 */
#ifndef ACOG_GATEWAY_STATUS_H
#define ACOG_GATEWAY_STATUS_H

#include "acog/buffer.h"
#include "acog/error.h"
#include "service.h"

#include <stdint.h>

/* Appends the page. Names and figures only: no key, no address of an upstream. */
enum acog_code acog_status_render(const struct acog_service *service, int64_t now_ms,
                                  struct acog_buffer *out) ACOG_MUST_CHECK;

#endif
