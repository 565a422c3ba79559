/* loading.h - a configuration that a test loads, with all that came of it: its rows, its circuits, what is said of it. */
#ifndef ACOG_TESTS_UNIT_POLICY_LOADING_H
#define ACOG_TESTS_UNIT_POLICY_LOADING_H

#include "acog/policy.h"
#include "acog/shared.h"
#include "tests/support/check.h"

#include <stdbool.h>
#include <string.h>

#define GATEWAY(body) "local acog = require \"acog\"\nreturn acog.gateway {\n" body "}\n"
#define SIMULATED(id, models) \
    "acog.connection \"" id "\" { simulate = true, models = { " models " } },\n"
/* A gateway with these fields ("", or with a comma behind each) and a good connection; with one connection of these. */
#define WITH(fields)   GATEWAY(fields " connections = {" SIMULATED("a", "\"m\"") "}")
#define ON(id, fields) GATEWAY("connections = { acog.connection \"" id "\" { " fields " } }")

struct scene {
    struct acog_shared *shared;
    struct acog_snapshot *snapshot;
    struct acog_report report;
    enum acog_code code;
};

static inline const char *env(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "KEY") == 0 ? "sk-secret-value" : NULL;
}

static inline void load_with(struct scene *scene, const char *text, bool offline)
{
    struct acog_policy_options options = {
        .path = "gateway.lua",
        .text = acog_view_of(text),
        .env = env,
        .offline = offline,
    };
    scene->shared = acog_shared_new();
    assert_non_null(scene->shared);
    acog_report_init(&scene->report);
    scene->code = acog_policy_load(&options, scene->shared, &scene->snapshot, &scene->report);
}

static inline void load(struct scene *scene, const char *text)
{
    load_with(scene, text, false);
}

static inline void end(struct scene *scene)
{
    acog_snapshot_unref(&scene->snapshot);
    acog_report_fini(&scene->report);
    acog_shared_free(&scene->shared);
}

static inline bool says(const struct acog_report *report, const char *text)
{
    for (size_t i = 0; i < report->count; i++) {
        if (strstr(report->findings[i].text.ptr, text) != NULL) {
            return true;
        }
    }
    for (size_t i = 0; i < report->count; i++) {
        print_message("finding: %s\n", report->findings[i].text.ptr);
    }
    return false;
}

static inline void assert_good(const struct scene *scene)
{
    if (scene->code != ACOG_OK) {
        (void)says(&scene->report, "\n");
    }
    assert_int_equal(scene->code, ACOG_OK);
}

/* A text that must be refused, with this finding. */
static inline void assert_refused(const char *text, const char *finding)
{
    struct scene scene;
    load(&scene, text);
    assert_int_equal(scene.code, ACOG_INVALID);
    assert_null(scene.snapshot);
    assert_true(scene.report.errors > 0);
    assert_true(says(&scene.report, finding));
    end(&scene);
}

static inline void assert_warned(const char *text, const char *finding)
{
    struct scene scene;
    load(&scene, text);
    assert_good(&scene);
    assert_true(says(&scene.report, finding));
    end(&scene);
}

static inline void assert_view(struct acog_view view, const char *text)
{
    if (!acog_view_equal(view, acog_view_of(text))) {
        print_message("got \"%.*s\", expected \"%s\"\n", ACOG_VIEW_FMT(view), text);
        fail();
    }
}

#endif
