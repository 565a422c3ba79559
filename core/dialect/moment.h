/* moment.h - private to core/dialect: moments as providers write them, on integers. */
#ifndef ACOG_CORE_DIALECT_MOMENT_H
#define ACOG_CORE_DIALECT_MOMENT_H

#include "acog/view.h"

#include <stdbool.h>
#include <stdint.h>

/* The three forms of an HTTP date (RFC 9110, 5.6.7). `now_s` tells the century of a two-digit year. */
bool acog_moment_http(struct acog_view text, int64_t now_s, int64_t *unix_s);

/* RFC 3339, with any offset. A fraction of a second counts as the whole one. */
bool acog_moment_rfc3339(struct acog_view text, int64_t *unix_s);

#endif
