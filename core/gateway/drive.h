/* drive.h - one request on its way: sockets' events become calls of its exchange, the exchange's commands become
 * bytes. It knows no rules.
 *
 *   SPARE --request--> OPEN --REPLY_END----> ENDED ---+
 *     ^                  |---REPLY_ABORT---> ABORTED -+--FINISHED--> SPARE
 *     |                  +---client left---> GONE ----+
 *     +-----------------------------------------------+
 *
 * The client's stream is given back at FINISHED and not before, because the exchange looks at the client's bytes
 * until then. Where the policy reads on after a client left (drain_ms), those bytes would die first: such requests
 * are copied when they come.
 *
 * Clocks: one timer, armed only for a deadline earlier than the one it waits for. It stays armed when its request
 * ends, and a firing that comes early arms it again: most requests touch no timer at all.
 */
#ifndef ACOG_GATEWAY_DRIVE_H
#define ACOG_GATEWAY_DRIVE_H

#include "acog/http.h"
#include "worker.h"

/* A whole request has come: answers it, now or later. */
void acog_drive_begin(struct acog_worker *worker, struct acog_http_stream *stream,
                      const struct acog_http_request *request);
/* The client of the stream is gone. */
void acog_drive_gone(struct acog_http_stream *stream);
/* The client took what was queued. */
void acog_drive_drained(struct acog_http_stream *stream);

/* Frees the spare ones. */
void acog_drive_free_spares(struct acog_worker *worker);

/* Cuts off all that run and frees the spare ones. */
void acog_drive_end_all(struct acog_worker *worker);

#endif
