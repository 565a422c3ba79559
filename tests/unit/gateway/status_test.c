/* status_test.c - the page that tells how connections, circuits and workers do. */
#include "status.h"

#include "acog/shared.h"
#include "metrics.h"
#include "scene.h"
#include "tests/support/check.h"

#include <string.h>

#include <jansson.h>

struct stage {
    struct scene scene;
    struct acog_service service;
};

static void stage_init(struct stage *stage)
{
    scene_init(&stage->scene);
    stage->service = (struct acog_service){.path = "gateway.lua",
                                           .snapshot = &stage->scene.snapshot,
                                           .shared = acog_shared_new(),
                                           .metrics = acog_metrics_new(2, 2),
                                           .started_ms = 1000,
                                           .listen_text = "127.0.0.1:4000"};
    assert_non_null(stage->service.shared);
    assert_non_null(stage->service.metrics);
    assert_int_equal(acog_shared_circuit(stage->service.shared, ACOG_VIEW("direct/anthropic"),
                                         &stage->scene.candidates[0].circuit_cell),
                     ACOG_OK);
    assert_int_equal(acog_shared_spread(stage->service.shared, ACOG_VIEW("first"),
                                        &stage->scene.connections[0].spread_cell),
                     ACOG_OK);
}

static void stage_fini(struct stage *stage)
{
    acog_metrics_free(&stage->service.metrics);
    acog_shared_free(&stage->service.shared);
}

static json_t *page_of(const struct stage *stage, int64_t now_ms)
{
    struct acog_buffer out;
    acog_buffer_init(&out, 100000);
    assert_int_equal(acog_status_render(&stage->service, now_ms, &out), ACOG_OK);
    json_t *page = json_loadb(out.ptr, out.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(page);
    acog_buffer_fini(&out);
    return page;
}

static json_t *row(json_t *page, const char *list, size_t index)
{
    json_t *found = json_array_get(json_object_get(page, list), index);
    assert_non_null(found);
    return found;
}

static const char *text_in(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static int64_t number_in(const json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    return json_is_integer(value) ? json_integer_value(value) : -999;
}

static void it_tells_what_serves(void **state)
{
    (void)state;
    struct stage stage;
    stage_init(&stage);
    json_t *page = page_of(&stage, 4500);
    assert_string_equal(text_in(page, "version"), ACOG_VERSION);
    assert_string_equal(text_in(page, "state"), "serving");
    assert_string_equal(text_in(page, "policy"), "acog");
    assert_string_equal(text_in(page, "listen"), "127.0.0.1:4000");
    assert_int_equal(number_in(page, "uptime_ms"), 3500);
    json_t *configuration = json_object_get(page, "configuration");
    assert_string_equal(text_in(configuration, "path"), "gateway.lua");
    assert_string_equal(text_in(configuration, "hash"), "0123456789abcdef");
    json_decref(page);
    atomic_store(&stage.service.state, ACOG_SERVICE_DRAINING);
    page = page_of(&stage, 4500);
    assert_string_equal(text_in(page, "state"), "draining");
    json_decref(page);
    stage_fini(&stage);
}

static void it_tells_each_worker_by_itself(void **state)
{
    (void)state;
    struct stage stage;
    stage_init(&stage);
    acog_count_add(&stage.service.metrics->workers[0]->requests, 3);
    acog_count_add(&stage.service.metrics->workers[1]->requests, 4);
    acog_count_add(&stage.service.metrics->workers[1]->charged_failures, 2);
    acog_count_set(&stage.service.metrics->workers[0]->in_flight, 5);
    acog_count_set(&stage.service.metrics->workers[1]->in_flight, 6);
    json_t *page = page_of(&stage, 4500);
    assert_int_equal(number_in(page, "requests_in_flight"), 11);
    assert_int_equal(json_array_size(json_object_get(page, "workers")), 2);
    assert_int_equal(number_in(row(page, "workers", 0), "requests"), 3);
    assert_int_equal(number_in(row(page, "workers", 0), "charged_failures"), 0);
    assert_int_equal(number_in(row(page, "workers", 1), "requests"), 4);
    assert_int_equal(number_in(row(page, "workers", 1), "charged_failures"), 2);
    json_decref(page);
    stage_fini(&stage);
}

static void an_open_circuit_is_told_with_its_connection(void **state)
{
    (void)state;
    struct stage stage;
    stage_init(&stage);
    struct acog_circuit_cell *cell =
        &stage.service.shared->circuits[stage.scene.candidates[0].circuit_cell];
    const struct acog_circuit_limits limits =
        acog_health_limits(&stage.scene.snapshot.policy.health);
    struct acog_circuit_ticket ticket;
    assert_true(acog_circuit_take(&cell->circuit, 10000, false, &ticket));
    assert_true(acog_circuit_settle(&cell->circuit, ticket, ACOG_CIRCUIT_TRIPPED, &limits, 10000));
    json_t *page = page_of(&stage, 14000);
    json_t *circuit = row(page, "circuits", 0);
    assert_string_equal(text_in(circuit, "name"), "direct/anthropic");
    assert_string_equal(text_in(circuit, "state"), "open");
    assert_int_equal(number_in(circuit, "open_for_ms"), 4000);
    assert_int_equal(number_in(circuit, "until_ms"), 26000);
    assert_string_equal(text_in(row(page, "connections", 0), "state"), "circuit_open");
    assert_string_equal(text_in(row(page, "connections", 1), "state"), "serving");
    json_t *circuits = json_object_get(row(page, "connections", 0), "circuits");
    assert_int_equal(json_array_size(circuits), 1);
    assert_string_equal(json_string_value(json_array_get(circuits, 0)), "direct/anthropic");
    json_decref(page);
    stage_fini(&stage);
}

static void a_closed_circuit_has_no_times(void **state)
{
    (void)state;
    struct stage stage;
    stage_init(&stage);
    json_t *page = page_of(&stage, 4500);
    json_t *circuit = row(page, "circuits", 0);
    assert_string_equal(text_in(circuit, "state"), "closed");
    assert_null(json_object_get(circuit, "open_for_ms"));
    assert_null(json_object_get(circuit, "until_ms"));
    json_decref(page);
    stage_fini(&stage);
}

static void a_connection_tells_what_it_is_and_never_its_key_or_address(void **state)
{
    (void)state;
    struct stage stage;
    stage_init(&stage);
    stage.scene.connections[0].key = ACOG_VIEW("sk-planted-key");
    stage.scene.connections[0].endpoint.host = ACOG_VIEW("planted.host.test");
    stage.scene.connections[0].is_default = true;
    stage.scene.connections[1].usable = ACOG_USABLE_NO;
    atomic_store(&stage.service.shared->spreads[stage.scene.connections[0].spread_cell].in_flight,
                 7);
    struct acog_buffer out;
    acog_buffer_init(&out, 100000);
    assert_int_equal(acog_status_render(&stage.service, 0, &out), ACOG_OK);
    assert_int_equal(acog_view_find(acog_buffer_view(&out), ACOG_VIEW("planted")), out.len);
    acog_buffer_fini(&out);
    json_t *page = page_of(&stage, 4500);
    json_t *first = row(page, "connections", 0);
    assert_string_equal(text_in(first, "id"), "first");
    assert_string_equal(text_in(first, "channel"), "direct");
    assert_true(json_is_true(json_object_get(first, "default")));
    assert_int_equal(number_in(first, "in_flight"), 7);
    assert_string_equal(text_in(row(page, "connections", 1), "state"), "not_usable");
    json_decref(page);
    stage_fini(&stage);
}

static void a_page_that_finds_no_room_is_an_error(void **state)
{
    (void)state;
    struct stage stage;
    stage_init(&stage);
    struct acog_buffer out;
    acog_buffer_init(&out, 100);
    assert_int_not_equal(acog_status_render(&stage.service, 0, &out), ACOG_OK);
    acog_buffer_fini(&out);
    stage_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_tells_what_serves),
        cmocka_unit_test(it_tells_each_worker_by_itself),
        cmocka_unit_test(an_open_circuit_is_told_with_its_connection),
        cmocka_unit_test(a_closed_circuit_has_no_times),
        cmocka_unit_test(a_connection_tells_what_it_is_and_never_its_key_or_address),
        cmocka_unit_test(a_page_that_finds_no_room_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
