/* quotes.h - JSON in a test's own strings: ' stands for ". */
#ifndef ACOG_TESTS_SUPPORT_QUOTES_H
#define ACOG_TESTS_SUPPORT_QUOTES_H

#include "tests/support/check.h"

#include <string.h>

/* A copy with " for ', to be freed. */
static inline char *with_quotes(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *at = strchr(copy, '\''); at != NULL; at = strchr(at, '\'')) {
        *at = '"';
    }
    return copy;
}

#endif
