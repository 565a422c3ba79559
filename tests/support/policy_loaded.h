/* policy_loaded.h - a configuration that a test loads: what it becomes, or what is said of it. */
#ifndef ACOG_TESTS_SUPPORT_POLICY_LOADED_H
#define ACOG_TESTS_SUPPORT_POLICY_LOADED_H

#include "acog/policy.h"
#include "acog/shared.h"
#include "tests/support/check.h"

#include <string.h>

/* `finding` NULL: it is good, and its snapshot is the caller's to unref. Else it is refused, NULL is returned, and one
 * of the findings holds that text. */
static inline struct acog_snapshot *policy_loaded(const struct acog_policy_options *options,
                                                  const char *finding)
{
    struct acog_shared *shared = acog_shared_new();
    struct acog_snapshot *snapshot = NULL;
    struct acog_report report;
    acog_report_init(&report);
    enum acog_code code = acog_policy_load(options, shared, &snapshot, &report);
    bool said = finding == NULL;
    for (size_t i = 0; i < report.count; i++) {
        said = said || strstr(report.findings[i].text.ptr, finding) != NULL;
        print_message("finding: %s\n", report.findings[i].text.ptr);
    }
    assert_true(said);
    assert_int_equal(code, finding == NULL ? ACOG_OK : ACOG_INVALID);
    assert_int_equal(snapshot == NULL, finding != NULL);
    acog_report_fini(&report);
    acog_shared_free(&shared);
    return snapshot;
}

#endif
