/* findings.h - what a load has to say, for people.
 */
#ifndef ACOG_GATEWAY_FINDINGS_H
#define ACOG_GATEWAY_FINDINGS_H

#include "acog/policy.h"

#include <stdio.h>

/* "error: …" or "warning: …", one a line. */
void acog_findings_print(const struct acog_report *report, FILE *out);

#endif
