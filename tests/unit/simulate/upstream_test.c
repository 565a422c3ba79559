/* upstream_test.c - scripts, and the requests that a test can look at. */
#include "upstream.h"

#include "acog/buffer.h"
#include "acog/memory.h"
#include "tests/support/check.h"

#include <stdio.h>

static const struct acog_connection plain = {.id = {.ptr = "one", .len = 3}};

static const struct acog_received *receive(struct acog_sim_upstream *upstream, const char *body)
{
    struct acog_upstream_order order = {.connection = upstream->connection,
                                        .surface = ACOG_SURFACE_CHAT,
                                        .model = ACOG_VIEW("m"),
                                        .query = ACOG_VIEW(""),
                                        .stream = true,
                                        .pieces = {{.ptr = body, .len = 1}, acog_view_of(body + 1)},
                                        .piece_count = 2};
    return acog_sim_upstream_receive(upstream, &order, 7);
}

/* Plays the answer to the newest request to its end: its body. */
static void play(struct acog_sim_upstream *upstream, const struct acog_received *received,
                 struct acog_buffer *body)
{
    struct acog_arena arena;
    struct acog_provider_step step;
    acog_arena_init(&arena, (size_t)1 << 20);
    struct acog_provider_play *playing = acog_sim_upstream_play(upstream, received, 0, &arena);
    assert_non_null(playing);
    body->len = 0;
    while (acog_provider_next(playing, &step)) {
        assert_int_equal(acog_buffer_append(body, step.bytes), ACOG_OK);
    }
    acog_arena_fini(&arena);
}

static bool says(const struct acog_buffer *body, const char *text)
{
    return acog_view_find(acog_buffer_view(body), acog_view_of(text)) < body->len;
}

static void an_order_is_kept_as_it_came(void **state)
{
    (void)state;
    struct acog_sim_upstream upstream;
    acog_sim_upstream_init(&upstream, &plain);
    const struct acog_received *received = receive(&upstream, "{\"a\":1}");
    assert_non_null(received);
    assert_true(acog_view_equal(received->body, ACOG_VIEW("{\"a\":1}")));
    assert_true(acog_view_equal(received->model, ACOG_VIEW("m")));
    assert_int_equal(received->at_ms, 7);
    assert_ptr_equal(acog_sim_upstream_received(&upstream, 0), received);
    acog_sim_upstream_fini(&upstream);
}

static void only_the_newest_requests_are_kept(void **state)
{
    (void)state;
    struct acog_sim_upstream upstream;
    acog_sim_upstream_init(&upstream, &plain);
    for (int i = 0; i < (int)ACOG_RECEIVED_MAX + 3; i++) {
        char body[16];
        (void)snprintf(body, sizeof(body), "%d", 10000 + i);
        assert_non_null(receive(&upstream, body));
    }
    assert_int_equal(upstream.received_count, ACOG_RECEIVED_MAX);
    assert_int_equal(upstream.served, ACOG_RECEIVED_MAX + 3);
    assert_true(
        acog_view_equal(acog_sim_upstream_received(&upstream, 0)->body, ACOG_VIEW("10003")));
    assert_true(acog_view_equal(acog_sim_upstream_received(&upstream, ACOG_RECEIVED_MAX - 1)->body,
                                ACOG_VIEW("11026")));
    acog_sim_upstream_fini(&upstream);
}

static void a_script_starts_with_its_first_reply(void **state)
{
    (void)state;
    struct acog_provider_reply replies[2];
    struct acog_sim_upstream upstream;
    struct acog_buffer body;
    acog_buffer_init(&body, (size_t)1 << 20);
    acog_provider_reply_init(&replies[0]);
    acog_provider_reply_init(&replies[1]);
    replies[0].text = ACOG_VIEW("first");
    replies[1].text = ACOG_VIEW("second");
    acog_sim_upstream_init(&upstream, &plain);
    play(&upstream, receive(&upstream, "{}"), &body);
    assert_true(says(&body, "one.")); /* "Hello from one." */
    struct acog_provider_script script = {.replies = replies, .reply_count = 2};
    acog_sim_upstream_answers(&upstream, &script);
    play(&upstream, receive(&upstream, "{}"), &body);
    assert_true(says(&body, "first"));
    play(&upstream, receive(&upstream, "{}"), &body);
    assert_true(says(&body, "second"));
    acog_buffer_fini(&body);
    acog_sim_upstream_fini(&upstream);
}

static void a_connection_that_is_simulated_plays_its_own_script(void **state)
{
    (void)state;
    struct acog_provider_reply reply;
    acog_provider_reply_init(&reply);
    reply.text = ACOG_VIEW("mine");
    struct acog_provider_script script = {.replies = &reply, .reply_count = 1};
    struct acog_connection connection = {.id = ACOG_VIEW("one"), .simulate = &script};
    struct acog_sim_upstream upstream;
    struct acog_buffer body;
    acog_buffer_init(&body, (size_t)1 << 20);
    acog_sim_upstream_init(&upstream, &connection);
    play(&upstream, receive(&upstream, "{}"), &body);
    assert_true(says(&body, "mine"));
    acog_buffer_fini(&body);
    acog_sim_upstream_fini(&upstream);
}

static void usage_is_told_when_the_body_asks_for_it(void **state) /* B51 */
{
    (void)state;
    struct acog_sim_upstream upstream;
    struct acog_buffer body;
    acog_buffer_init(&body, (size_t)1 << 20);
    acog_sim_upstream_init(&upstream, &plain);
    play(&upstream, receive(&upstream, "{\"stream_options\":{\"include_usage\":true}}"), &body);
    assert_true(says(&body, "prompt_tokens"));
    play(&upstream, receive(&upstream, "{\"stream_options\":{\"include_usage\":false}}"), &body);
    assert_false(says(&body, "prompt_tokens"));
    play(&upstream, receive(&upstream, "no JSON"), &body);
    assert_false(says(&body, "prompt_tokens"));
    acog_buffer_fini(&body);
    acog_sim_upstream_fini(&upstream);
}

struct countdown {
    int left;
};

static bool fails_at_zero(void *user)
{
    struct countdown *countdown = user;
    countdown->left--;
    return countdown->left == -1;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (int failing = 0;; failing++) {
        struct countdown countdown = {.left = failing};
        struct acog_sim_upstream upstream;
        acog_sim_upstream_init(&upstream, &plain);
        acog_memory_fail_when(fails_at_zero, &countdown);
        const struct acog_received *received = receive(&upstream, "{}");
        acog_memory_fail_when(NULL, NULL);
        assert_true((received == NULL) == (countdown.left < 0));
        assert_int_equal(upstream.served, received == NULL ? 0 : 1);
        acog_sim_upstream_fini(&upstream);
        if (received != NULL) {
            assert_true(failing > 0);
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_kept_as_it_came),
        cmocka_unit_test(only_the_newest_requests_are_kept),
        cmocka_unit_test(a_script_starts_with_its_first_reply),
        cmocka_unit_test(a_connection_that_is_simulated_plays_its_own_script),
        cmocka_unit_test(usage_is_told_when_the_body_asks_for_it),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
