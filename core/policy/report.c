/* report.c - a list of findings with a cap. */
#include "report.h"

#include "acog/contract.h"

#define TEXT_BYTES_MAX ((size_t)256 * 1024)

void acog_report_init(struct acog_report *report)
{
    report->count = 0;
    report->errors = 0;
    acog_arena_init(&report->texts, TEXT_BYTES_MAX);
}

void acog_report_fini(struct acog_report *report)
{
    acog_arena_fini(&report->texts);
    report->count = 0;
    report->errors = 0;
}

void report_add(struct acog_report *report, enum acog_finding_level level, const char *text)
{
    if (level == ACOG_FINDING_ERROR) {
        report->errors++;
    }
    if (report->count == ACOG_FINDINGS_MAX) {
        return;
    }
    struct acog_view copy = acog_arena_copy(&report->texts, acog_view_of(text));
    if (copy.ptr == NULL) {
        copy = acog_view_of("no memory for the text of a finding");
    }
    report->findings[report->count] = (struct acog_finding){.level = level, .text = copy};
    report->count++;
}
