/* check.c - `acog check`: a load whose result is thrown away. */
#include "acog/gateway.h"
#include "acog/policy.h"
#include "acog/shared.h"
#include "findings.h"

void acog_findings_print(const struct acog_report *report, FILE *out)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct acog_finding *finding = &report->findings[i];
        (void)fprintf(out, "%s: %.*s\n", finding->level == ACOG_FINDING_ERROR ? "error" : "warning",
                      ACOG_VIEW_FMT(finding->text));
    }
}

bool acog_check(const char *path)
{
    struct acog_report report;
    struct acog_snapshot *snapshot = NULL;
    struct acog_shared *shared = acog_shared_new();
    if (shared == NULL) {
        (void)fprintf(stderr, "acog check: out of memory\n");
        return false;
    }
    const struct acog_policy_options options = {.path = path, .missing_env_is_warning = true};
    acog_report_init(&report);
    enum acog_code code = acog_policy_load(&options, shared, &snapshot, &report);
    acog_findings_print(&report, stdout);
    if (code == ACOG_OK) {
        (void)printf("%s: ok (%zu connections, %zu models, policy %.*s, hash %.*s)\n", path,
                     snapshot->connection_count, snapshot->model_count,
                     ACOG_VIEW_FMT(snapshot->policy.name), ACOG_VIEW_FMT(snapshot->hash));
        acog_snapshot_unref(&snapshot);
    } else if (code == ACOG_NO_MEMORY) {
        (void)fprintf(stderr, "acog check: out of memory\n");
    }
    acog_report_fini(&report);
    acog_shared_free(&shared);
    return code == ACOG_OK;
}
