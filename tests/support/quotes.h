/* quotes.h - JSON in a test's own strings: ' stands for ". */
#ifndef ACOG_TESTS_SUPPORT_QUOTES_H
#define ACOG_TESTS_SUPPORT_QUOTES_H

#include "acog/view.h"
#include "tests/support/check.h"

#include <stdlib.h>
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

/* The bytes are the expected text, with its quotes; else both are shown. */
static inline void assert_quoted(struct acog_view seen, const char *expected)
{
    char *wanted = with_quotes(expected);
    if (!acog_view_equal(seen, acog_view_of(wanted))) {
        fail_msg("seen\n%.*s\nnot\n%s", ACOG_VIEW_FMT(seen), wanted);
    }
    free(wanted);
}

#endif
