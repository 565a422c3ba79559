/* world_test.c - the virtual clock: what comes when, and who is told first. */
#include "world.h"

#include "acog/memory.h"
#include "tests/support/check.h"

static const char configuration[] =
    "local acog = require 'acog'\n"
    "return acog.gateway {\n"
    "  policy = require('policies.acog'):with { clocks = { headers = 10, first_output = 60 } },\n"
    "  connections = { acog.connection 'one' { dialects = { 'messages', 'chat' },\n"
    "    models = { 'm' } } },\n"
    "}\n";

static struct acog_world *open_world(void)
{
    struct acog_report report;
    struct acog_snapshot *snapshot = NULL;
    struct acog_error error = {0};
    struct acog_policy_options options = {.path = "world.lua",
                                          .text = acog_view_of(configuration),
                                          .missing_env_is_warning = true,
                                          .offline = true};
    struct acog_shared *shared = acog_shared_new();
    acog_report_init(&report);
    if (acog_policy_load(&options, shared, &snapshot, &report) != ACOG_OK) {
        fail_msg("%.*s", ACOG_VIEW_FMT(report.findings[0].text));
    }
    acog_report_fini(&report);
    struct acog_policy_state *state = acog_policy_state_new(snapshot, &error);
    assert_non_null(state);
    struct acog_world *world = acog_world_new(snapshot, &state, &shared, 1);
    assert_non_null(world);
    assert_null(state);
    assert_null(shared);
    acog_snapshot_unref(&snapshot);
    return world;
}

static struct acog_sim_client *send(struct acog_world *world, const char *body)
{
    struct acog_header_row json = {.name = ACOG_VIEW("content-type"),
                                   .value = ACOG_VIEW("application/json")};
    struct acog_sim_request request = {.method = ACOG_VIEW("POST"),
                                       .target = ACOG_VIEW("/v1/messages"),
                                       .headers = &json,
                                       .header_count = 1,
                                       .body = acog_view_of(body)};
    struct acog_sim_client *client = acog_world_send(world, &request);
    assert_non_null(client);
    return client;
}

#define STREAMED                                                                          \
    "{\"model\":\"m\",\"max_tokens\":5,\"stream\":true,\"messages\":[{\"role\":\"user\"," \
    "\"content\":\"hi\"}]}"

/* The script of the only connection: one reply, which must live as long as the world. */
static void answer(struct acog_world *world, struct acog_provider_reply *reply)
{
    struct acog_provider_script script = {.replies = reply, .reply_count = 1};
    acog_sim_upstream_answers(acog_world_upstream(world, 0), &script);
}

static struct acog_provider_reply reply_after(int64_t delay_ms)
{
    struct acog_provider_reply reply;
    acog_provider_reply_init(&reply);
    reply.delay_ms = delay_ms;
    return reply;
}

static void the_clock_jumps_to_what_is_due(void **state)
{
    (void)state;
    struct acog_world *world = open_world();
    struct acog_provider_reply reply = reply_after(9999);
    answer(world, &reply);
    struct acog_sim_client *client = send(world, STREAMED);
    assert_int_equal(acog_world_now_ms(world), 0);
    assert_int_equal(acog_world_wait(world, client), ACOG_WAIT_OVER);
    assert_int_equal(acog_world_now_ms(world), 9999);
    struct acog_sim_reply seen = acog_sim_client_reply(client);
    assert_int_equal(seen.status, 200);
    assert_true(seen.complete);
    assert_int_equal(seen.duration_ms, 9999);
    acog_world_release(world, &client);
    assert_null(client);
    acog_world_free(&world);
}

static void at_the_same_moment_a_provider_comes_before_a_clock(void **state)
{
    (void)state;
    struct acog_world *world = open_world();
    struct acog_provider_reply reply = reply_after(10000); /* the clock `headers` is 10 s */
    answer(world, &reply);
    struct acog_sim_client *client = send(world, STREAMED);
    assert_int_equal(acog_world_wait(world, client), ACOG_WAIT_OVER);
    assert_int_equal(acog_sim_client_reply(client).status, 200);
    acog_world_free(&world);
}

static void a_clock_ends_an_attempt_that_is_later(void **state)
{
    (void)state;
    struct acog_world *world = open_world();
    struct acog_provider_reply reply = reply_after(10001);
    answer(world, &reply);
    struct acog_sim_client *client = send(world, STREAMED);
    assert_int_equal(acog_world_wait(world, client), ACOG_WAIT_OVER);
    assert_int_equal(acog_sim_client_reply(client).status, 504);
    const struct acog_exchange_record *record = acog_sim_client_record(client);
    assert_non_null(record);
    assert_int_equal(record->request->attempts[0].class, ACOG_CLASS_TIMEOUT_HEADERS);
    acog_world_free(&world);
}

static void advancing_does_what_is_due_and_no_more(void **state)
{
    (void)state;
    struct acog_world *world = open_world();
    struct acog_provider_reply reply = reply_after(5000);
    answer(world, &reply);
    struct acog_sim_client *client = send(world, STREAMED);
    assert_int_equal(acog_world_advance(world, 4999), ACOG_WAIT_OVER);
    assert_int_equal(acog_world_now_ms(world), 4999);
    assert_false(acog_sim_client_reply(client).over);
    assert_null(acog_sim_client_record(client));
    assert_int_equal(acog_world_advance(world, 1), ACOG_WAIT_OVER);
    assert_true(acog_sim_client_reply(client).over);
    assert_int_equal(acog_world_advance(world, INT64_C(3600000)), ACOG_WAIT_OVER);
    assert_int_equal(acog_world_now_ms(world), 3605000);
    acog_world_free(&world);
}

static void a_request_nobody_looks_at_goes_on_and_is_freed(void **state)
{
    (void)state;
    struct acog_world *world = open_world();
    struct acog_provider_reply reply = reply_after(5000);
    answer(world, &reply);
    struct acog_sim_client *first = send(world, STREAMED);
    struct acog_sim_client *second = send(world, STREAMED);
    acog_world_release(world, &first);
    assert_ptr_equal(acog_world_last_client(world), second);
    assert_int_equal(acog_world_advance(world, 6000), ACOG_WAIT_OVER);
    assert_int_equal(acog_world_upstream(world, 0)->served, 2);
    acog_world_release(world, &second);
    assert_non_null(acog_world_last_client(world)); /* kept to be shown */
    acog_world_free(&world);
}

static void a_hang_up_cancels_and_nothing_more_is_due(void **state) /* B62 */
{
    (void)state;
    struct acog_world *world = open_world();
    struct acog_provider_reply reply = reply_after(0);
    reply.hang = ACOG_STAGE_BODY;
    answer(world, &reply);
    struct acog_sim_client *client = send(world, STREAMED);
    assert_int_equal(acog_world_advance(world, 500), ACOG_WAIT_OVER);
    acog_world_hang_up(world, client);
    acog_world_hang_up(world, client); /* once more changes nothing */
    assert_int_equal(acog_world_wait(world, client), ACOG_WAIT_OVER);
    assert_int_equal(acog_world_now_ms(world), 500);
    struct acog_sim_reply seen = acog_sim_client_reply(client);
    assert_int_equal(seen.status, 0);
    assert_false(seen.complete);
    const struct acog_exchange_record *record = acog_sim_client_record(client);
    assert_int_equal(record->request->attempts[0].outcome, ACOG_OUTCOME_CANCELLED);
    acog_world_free(&world);
}

static void what_the_gateway_refuses_needs_no_time(void **state)
{
    (void)state;
    struct acog_world *world = open_world();
    struct acog_sim_client *client = send(world, "{}");
    assert_true(acog_sim_client_reply(client).over);
    assert_int_equal(acog_sim_client_reply(client).status, 400);
    assert_int_equal(acog_world_upstream(world, 0)->served, 0);
    acog_world_free(&world);
}

static void a_provider_that_cannot_be_played_is_the_gateways_own_failure(void **state)
{
    (void)state;
    struct acog_world *world = open_world();
    struct acog_provider_reply reply = reply_after(0);
    reply.header_count =
        SIZE_MAX / sizeof(struct acog_header_row) / 2; /* more than any arena has */
    answer(world, &reply);
    struct acog_sim_client *client = send(world, STREAMED);
    assert_int_equal(acog_world_wait(world, client), ACOG_WAIT_OVER);
    assert_true(acog_sim_client_reply(client).status >= 500);
    const struct acog_exchange_record *record = acog_sim_client_record(client);
    assert_int_equal(record->request->attempts[0].class, ACOG_CLASS_GATEWAY);
    acog_world_free(&world);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void a_client_that_has_no_memory_is_not_sent(void **state)
{
    (void)state;
    struct acog_world *world = open_world();
    struct acog_sim_request request = {.method = ACOG_VIEW("GET"), .target = ACOG_VIEW("/healthz")};
    acog_memory_fail_when(always, NULL);
    struct acog_sim_client *none = acog_world_send(world, &request);
    acog_memory_fail_when(NULL, NULL);
    assert_null(none);
    struct acog_sim_client *client = acog_world_send(world, &request);
    assert_non_null(client);
    assert_int_equal(acog_sim_client_reply(client).status, 200);
    acog_world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_jumps_to_what_is_due),
        cmocka_unit_test(at_the_same_moment_a_provider_comes_before_a_clock),
        cmocka_unit_test(a_clock_ends_an_attempt_that_is_later),
        cmocka_unit_test(advancing_does_what_is_due_and_no_more),
        cmocka_unit_test(a_request_nobody_looks_at_goes_on_and_is_freed),
        cmocka_unit_test(a_hang_up_cancels_and_nothing_more_is_due),
        cmocka_unit_test(what_the_gateway_refuses_needs_no_time),
        cmocka_unit_test(a_provider_that_cannot_be_played_is_the_gateways_own_failure),
        cmocka_unit_test(a_client_that_has_no_memory_is_not_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
