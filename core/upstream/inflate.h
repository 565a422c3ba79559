/* inflate.h - compressed answers in clear, piece by piece, up to a limit. */
#ifndef ACOG_CORE_UPSTREAM_INFLATE_H
#define ACOG_CORE_UPSTREAM_INFLATE_H

#include "acog/error.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum acog_coding {
    ACOG_CODING_IDENTITY = 0,
    ACOG_CODING_GZIP,
    ACOG_CODING_DEFLATE, /* zlib, as RFC 9110 has it, or raw, as some send it */
    ACOG_CODING_OTHER,
};

/* What a Content-Encoding value names; empty is IDENTITY, more than one coding is OTHER. */
enum acog_coding acog_coding_of(struct acog_view value);

struct acog_inflate;

/* For GZIP or DEFLATE. NULL without memory. */
struct acog_inflate *acog_inflate_new(enum acog_coding coding, uint64_t decoded_bytes_max);
void acog_inflate_free(struct acog_inflate **decoder);

/* Takes from the front of *in and writes up to `room` bytes. *made < room says that all of *in was taken and nothing is
 * held back; else call again, even with an empty *in. Whatever the sender flushed comes out at once.
 * ACOG_INVALID: not what the coding says. ACOG_TOO_BIG: over the limit. ACOG_NO_MEMORY. */
enum acog_code acog_inflate_feed(struct acog_inflate *decoder, struct acog_view *in, char *out,
                                 size_t room, size_t *made) ACOG_MUST_CHECK;

/* The compressed data ended as it should (or never began: an empty body). */
bool acog_inflate_complete(const struct acog_inflate *decoder);

#endif
