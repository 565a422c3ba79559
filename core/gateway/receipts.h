/* receipts.h - the decision records of the last requests, in memory: a ring that all workers fill.
 *
 * A worker renders a record in a buffer of its own and hands it over; the lock is held for an exchange of buffers, so
 * workers do not wait for each other's rendering. Whoever asks for a record (GET /v1/generation, /v1/receipts) gets a
 * copy. What a client called its request may come twice: the younger one is found.
 */
#ifndef ACOG_GATEWAY_RECEIPTS_H
#define ACOG_GATEWAY_RECEIPTS_H

#include "acog/buffer.h"
#include "acog/error.h"
#include "acog/view.h"

#include <stddef.h>

#define ACOG_RECEIPT_BYTES_MAX ((size_t)256 * 1024) /* of one: more is not kept */

struct acog_receipts;

/* Room for `count` of them, at least one. NULL: no memory. */
struct acog_receipts *acog_receipts_new(size_t count);
void acog_receipts_free(struct acog_receipts **receipts); /* NULL is allowed */

/* Keeps the record in `rendered`, which gets an empty buffer in its place. From any thread. */
void acog_receipts_add(struct acog_receipts *receipts, struct acog_view request_id,
                       struct acog_buffer *rendered);

/* Appends a copy. ACOG_NOT_FOUND: it was never there, or has gone. From any thread. */
enum acog_code acog_receipts_find(struct acog_receipts *receipts, struct acog_view request_id,
                                  struct acog_buffer *out) ACOG_MUST_CHECK;

#endif
