/* metrics_test.c - what a finished request counts, and the page that shows it. */
#include "metrics.h"

#include "acog/memory.h"
#include "acog/shared.h"
#include "scene.h"
#include "service.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

static bool fails_at(void *user)
{
    int *left = user;
    return (*left)-- == 0;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    struct acog_metrics *metrics = NULL;
    int tries = 0;
    while (metrics == NULL) {
        int left = tries++;
        acog_memory_fail_when(fails_at, &left);
        metrics = acog_metrics_new(2, 3);
        acog_memory_fail_when(NULL, NULL);
    }
    assert_int_equal(tries, 7); /* itself, the list, twice two */
    acog_metrics_free(&metrics);
    assert_null(metrics);
    acog_metrics_free(&metrics);
}

static void a_time_falls_into_the_first_bucket_that_holds_it(void **state)
{
    (void)state;
    struct acog_histogram histogram = {0};
    acog_histogram_note(&histogram, 0);
    acog_histogram_note(&histogram, 5);
    acog_histogram_note(&histogram, 6);
    acog_histogram_note(&histogram, 300000);
    acog_histogram_note(&histogram, 300001);
    assert_int_equal(acog_count_get(&histogram.counts[0]), 2);
    assert_int_equal(acog_count_get(&histogram.counts[1]), 1);
    assert_int_equal(acog_count_get(&histogram.counts[ACOG_BUCKET_COUNT - 1]), 1);
    assert_int_equal(acog_count_get(&histogram.counts[ACOG_BUCKET_COUNT]), 1);
    assert_int_equal(acog_count_get(&histogram.sum_ms), 600012);
}

static void a_request_counts_for_the_connection_that_answered(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    struct acog_attempt_row *failed = scene_attempt(&scene, 0);
    failed->failed = true;
    failed->class = ACOG_CLASS_SERVER_ERROR;
    scene_attempt(&scene, 1)->first_output_at_ms = 1180;
    scene.request.committed = true;
    scene.snapshot.policy.classes[ACOG_CLASS_SERVER_ERROR].charge = ACOG_CHARGE_ONE;
    struct acog_metrics *metrics = acog_metrics_new(1, 2);
    assert_non_null(metrics);
    struct acog_worker_counts *counts = metrics->workers[0];
    acog_metrics_note(counts, 2, &scene.record);
    assert_int_equal(acog_count_get(&counts->requests), 1);
    assert_int_equal(acog_count_get(&counts->charged_failures), 1);
    assert_int_equal(acog_count_get(&counts->request_bytes), 100);
    assert_int_equal(acog_count_get(&counts->reply_bytes), 2000);
    assert_int_equal(acog_count_get(&counts->connections[0].attempts[ACOG_CLASS_SERVER_ERROR]), 1);
    assert_int_equal(acog_count_get(&counts->connections[1].attempts[ACOG_CLASS_NONE]), 1);
    assert_int_equal(acog_count_get(&counts->connections[1].requests[ACOG_SURFACE_CHAT][2]), 1);
    assert_int_equal(acog_count_get(&counts->connections[1].output_tokens), 34);
    assert_int_equal(acog_count_get(&counts->connections[0].output_tokens), 0);
    assert_int_equal(acog_count_get(&counts->connections[1].first_output.sum_ms), 180);
    acog_metrics_free(&metrics);
}

static void only_charged_classes_are_charged_failures(void **state)
{
    (void)state;

    static const struct {
        enum acog_charge charge;
        uint64_t counted;
    } rows[] = {{ACOG_CHARGE_NONE, 0},
                {ACOG_CHARGE_ONE, 1},
                {ACOG_CHARGE_TRIP, 1},
                {ACOG_CHARGE_SUCCESS, 0},
                {ACOG_CHARGE_IGNORE, 0}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scene scene;
        scene_init(&scene);
        struct acog_attempt_row *failed = scene_attempt(&scene, 0);
        failed->failed = true;
        failed->class = ACOG_CLASS_THROTTLED;
        scene.snapshot.policy.classes[ACOG_CLASS_THROTTLED].charge = rows[i].charge;
        struct acog_metrics *metrics = acog_metrics_new(1, 2);
        assert_non_null(metrics);
        acog_metrics_note(metrics->workers[0], 2, &scene.record);
        assert_int_equal(acog_count_get(&metrics->workers[0]->charged_failures), rows[i].counted);
        acog_metrics_free(&metrics);
    }
}

static void a_local_answer_counts_for_no_connection(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    scene.record.routed = false;
    scene.record.request = NULL;
    scene.record.status = 0;
    struct acog_metrics *metrics = acog_metrics_new(1, 2);
    assert_non_null(metrics);
    acog_metrics_note(metrics->workers[0], 2, &scene.record);
    assert_int_equal(
        acog_count_get(&metrics->workers[0]->connections[2].requests[ACOG_SURFACE_OTHER][0]), 1);
    acog_metrics_free(&metrics);
}

/* The page after one failed-over request and one local answer. */
static void render(struct acog_buffer *page)
{
    struct scene scene;
    scene_init(&scene);
    scene.connections[0].id = ACOG_VIEW("fir\"st\\\n");
    struct acog_attempt_row *failed = scene_attempt(&scene, 0);
    failed->failed = true;
    failed->class = ACOG_CLASS_NETWORK;
    scene_attempt(&scene, 1)->first_output_at_ms = 1180;
    scene.request.committed = true;
    struct acog_service service = {.snapshot = &scene.snapshot,
                                   .shared = acog_shared_new(),
                                   .metrics = acog_metrics_new(2, 2),
                                   .started_ms = 1000,
                                   .started_unix_ms = 1700000000500};
    assert_non_null(service.shared);
    assert_non_null(service.metrics);
    uint16_t cell;
    assert_int_equal(acog_shared_circuit(service.shared, ACOG_VIEW("direct/anthropic"), &cell),
                     ACOG_OK);
    assert_int_equal(
        acog_shared_spread(service.shared, ACOG_VIEW("second"), &scene.connections[1].spread_cell),
        ACOG_OK);
    acog_metrics_note(service.metrics->workers[0], 2, &scene.record);
    acog_metrics_note(service.metrics->workers[1], 2, &scene.record);
    scene.record.routed = false;
    scene.record.request = NULL;
    acog_metrics_note(service.metrics->workers[1], 2, &scene.record);
    acog_buffer_init(page, 100000);
    assert_int_equal(acog_metrics_render(&service, 3500, page), ACOG_OK);
    assert_int_equal(acog_buffer_append(page, (struct acog_view){.ptr = "", .len = 1}), ACOG_OK);
    acog_metrics_free(&service.metrics);
    acog_shared_free(&service.shared);
}

static void the_page_sums_the_workers(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "\nacog_requests_total{surface=\"chat\",status=\"2xx\",connection=\"second\"} 2\n",
        "\nacog_requests_total{surface=\"other\",status=\"2xx\",connection=\"none\"} 1\n",
        "\nacog_attempts_total{connection=\"fir\\\"st\\\\\\n\",class=\"network\"} 2\n",
        "\nacog_attempts_total{connection=\"second\",class=\"none\"} 2\n",
        "\nacog_tokens_total{connection=\"second\",kind=\"output\"} 68\n",
        "\nacog_circuit_state{circuit=\"direct/anthropic\"} 0\n",
        "\nacog_circuit_openings_total{circuit=\"direct/anthropic\"} 0\n",
        "\nacog_in_flight{connection=\"second\"} 0\n",
        "\nacog_request_duration_seconds_bucket{surface=\"chat\",le=\"0.100\"} 0\n",
        "\nacog_request_duration_seconds_bucket{surface=\"chat\",le=\"0.250\"} 2\n",
        "\nacog_request_duration_seconds_bucket{surface=\"chat\",le=\"+Inf\"} 2\n",
        "\nacog_request_duration_seconds_sum{surface=\"chat\"} 0.500\n",
        "\nacog_request_duration_seconds_count{surface=\"chat\"} 2\n",
        "\nacog_first_output_seconds_count{connection=\"second\"} 2\n",
        "\nacog_request_bytes_total 300\n",
        "\nacog_worker_requests_total{worker=\"1\"} 2\n",
        "\nacog_log_dropped_total 0\n",
        "\nacog_uptime_seconds 2.500\n",
        "\nprocess_start_time_seconds 1700000000.500\n",
        "\nprocess_resident_memory_bytes ",
    };
    static const char build[] = "acog_build_info{version=\"" ACOG_VERSION "\",";
    struct acog_buffer page;
    render(&page);
    assert_non_null(strstr(page.ptr, build));
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (strstr(page.ptr, lines[i]) == NULL) {
            fail_msg("missing: %s", lines[i]);
        }
    }
    acog_buffer_fini(&page);
}

static void each_family_is_announced_once_and_before_its_series(void **state)
{
    (void)state;
    struct acog_buffer page;
    render(&page);
    char announced[100] = "";
    for (const char *line = page.ptr; *line != '\0'; line = strchr(line, '\n') + 1) {
        if (strncmp(line, "# TYPE ", 7) == 0) {
            size_t bytes = strcspn(line + 7, " ");
            assert_true(bytes < sizeof(announced));
            memcpy(announced, line + 7, bytes);
            announced[bytes] = '\0';
            char again[120];
            (void)snprintf(again, sizeof(again), "# TYPE %s ", announced);
            assert_null(strstr(line + 7, again));
        } else if (line[0] != '#') {
            assert_memory_equal(line, announced, strlen(announced));
        }
    }
    acog_buffer_fini(&page);
}

static void a_page_that_finds_no_room_is_an_error(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    struct acog_service service = {.snapshot = &scene.snapshot,
                                   .shared = acog_shared_new(),
                                   .metrics = acog_metrics_new(1, 2)};
    struct acog_buffer page;
    acog_buffer_init(&page, 1000);
    assert_int_equal(acog_metrics_render(&service, 0, &page), ACOG_TOO_BIG);
    acog_buffer_fini(&page);
    acog_metrics_free(&service.metrics);
    acog_shared_free(&service.shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(a_time_falls_into_the_first_bucket_that_holds_it),
        cmocka_unit_test(a_request_counts_for_the_connection_that_answered),
        cmocka_unit_test(only_charged_classes_are_charged_failures),
        cmocka_unit_test(a_local_answer_counts_for_no_connection),
        cmocka_unit_test(the_page_sums_the_workers),
        cmocka_unit_test(each_family_is_announced_once_and_before_its_series),
        cmocka_unit_test(a_page_that_finds_no_room_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
