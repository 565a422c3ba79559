/* results.h - how tests went, for programs: JSON lines and JUnit's XML, a piece for each test.
 */
#ifndef ACOG_SIMULATE_RESULTS_H
#define ACOG_SIMULATE_RESULTS_H

#include "acog/view.h"

#include <stddef.h>
#include <stdio.h>

enum acog_test_outcome {
    ACOG_TEST_PASSED = 0,
    ACOG_TEST_FAILED,
    ACOG_TEST_BROKEN, /* the file could not be run: there is no name */
};

struct acog_test_result {
    const char *file;
    const char *name;
    enum acog_test_outcome outcome;
    struct acog_view why;      /* what was printed of a failure */
    struct acog_view attached; /* members of a JSON object, or empty */
};

/* One line with one JSON object. */
void acog_results_json(FILE *out, const struct acog_test_result *result);

/* One <testcase>. Without times: the same run gives the same bytes. */
void acog_results_junit(FILE *out, const struct acog_test_result *result);

/* Text as it stands in an attribute or between two tags, as UTF-8. */
void acog_results_xml_text(FILE *out, struct acog_view text);

#endif
