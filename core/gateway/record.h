/* record.h - what the record of a finished exchange says, for the log line and the counters.
 */
#ifndef ACOG_GATEWAY_RECORD_H
#define ACOG_GATEWAY_RECORD_H

#include "acog/buffer.h"
#include "acog/error.h"
#include "acog/exchange.h"
#include "acog/log.h"
#include "acog/view.h"

#include <stdint.h>

/* The attempt that gave the answer, else the last one made; NULL when none was. */
const struct acog_attempt_row *acog_record_attempt(const struct acog_exchange_record *record);

/* Milliseconds from the request to its first output, -1 when there was none. */
int64_t acog_record_first_output_ms(const struct acog_exchange_record *record);

/* What the driver knows beside the record. */
struct acog_record_context {
    struct acog_view target; /* of the client, with its query, which is left out */
    struct acog_view why;    /* the last transport failure in words, or empty */
    int64_t unix_ms;
};

/* Health checks and lists that were answered well are debug lines, failures warnings, the rest info. */
enum acog_log_level acog_record_level(const struct acog_exchange_record *record);

/* Appends the request's line. */
enum acog_code acog_record_line(const struct acog_exchange_record *record,
                                const struct acog_record_context *context,
                                struct acog_buffer *out) ACOG_MUST_CHECK;

#endif
