/* report.h - adding to what a load has to say. */
#ifndef ACOG_POLICY_REPORT_H
#define ACOG_POLICY_REPORT_H

#include "acog/policy.h"

/* Adds one finding. Behind ACOG_FINDINGS_MAX only errors are counted. */
void report_add(struct acog_report *report, enum acog_finding_level level, const char *text);

#endif
