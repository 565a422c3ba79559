/* direct_test.c - targets, headers and keys of the channels that speak a provider's own API. */
#include "acog/arena.h"
#include "acog/upstream.h"
#include "tests/support/check.h"

struct fixture {
    struct acog_arena arena;
    struct acog_connection connection;
    struct acog_upstream_order order;
    struct acog_upstream_target target;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){
        .connection = {.channel = ACOG_CHANNEL_DIRECT, .key = ACOG_VIEW("sk-secret")}};
    fixture.order.connection = &fixture.connection;
    acog_arena_init(&fixture.arena, 65536);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    acog_arena_fini(&f->arena);
    return 0;
}

static void ask(struct fixture *f, enum acog_surface surface)
{
    f->order.surface = surface;
    f->order.dialect = acog_surface_dialect(surface);
}

static void make(struct fixture *f)
{
    assert_int_equal(acog_channel_target(&f->order, &f->arena, &f->target), ACOG_OK);
}

static void expect_target(struct fixture *f, const char *base_path, enum acog_surface surface,
                          const char *query, const char *expected)
{
    f->connection.endpoint.base_path = acog_view_of(base_path);
    ask(f, surface);
    f->order.query = acog_view_of(query);
    make(f);
    assert_int_equal(f->target.target.len, strlen(expected));
    assert_memory_equal(f->target.target.ptr, expected, strlen(expected));
}

/* The value of the only header of that name, or NULL. */
static const char *value_of(struct fixture *f, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < f->target.header_count; i++) {
        if (acog_view_equal_nocase(f->target.headers[i].name, acog_view_of(name))) {
            assert_null(value);
            value = acog_arena_copy(&f->arena, f->target.headers[i].value).ptr;
        }
    }
    return value;
}

static void a_base_path_is_put_before_the_surfaces_path(void **state)
{
    struct fixture *f = *state;
    expect_target(f, "", ACOG_SURFACE_CHAT, "", "/v1/chat/completions");
    expect_target(f, "/api", ACOG_SURFACE_CHAT, "", "/api/v1/chat/completions");
    expect_target(f, "/api/", ACOG_SURFACE_MESSAGES, "", "/api/v1/messages");
    expect_target(f, "", ACOG_SURFACE_EMBEDDINGS, "", "/v1/embeddings");
}

static void a_base_path_that_ends_in_v1_is_not_doubled(void **state)
{
    struct fixture *f = *state;
    expect_target(f, "/v1", ACOG_SURFACE_CHAT, "", "/v1/chat/completions");
    expect_target(f, "/v1/", ACOG_SURFACE_RESPONSES, "", "/v1/responses");
    expect_target(f, "/openai/v1", ACOG_SURFACE_CHAT, "", "/openai/v1/chat/completions");
    expect_target(f, "/v1beta", ACOG_SURFACE_CHAT, "", "/v1beta/v1/chat/completions");
    expect_target(f, "/v1/acme", ACOG_SURFACE_CHAT, "", "/v1/acme/v1/chat/completions");
}

static void the_query_follows_the_path(void **state)
{
    struct fixture *f = *state;
    expect_target(f, "", ACOG_SURFACE_MESSAGES, "beta=true", "/v1/messages?beta=true");
    expect_target(f, "/v1", ACOG_SURFACE_COUNT_TOKENS, "beta=true",
                  "/v1/messages/count_tokens?beta=true");
}

static void chat_and_responses_carry_a_bearer(void **state)
{
    struct fixture *f = *state;

    static const enum acog_surface surfaces[] = {ACOG_SURFACE_CHAT, ACOG_SURFACE_RESPONSES,
                                                 ACOG_SURFACE_EMBEDDINGS};

    for (size_t i = 0; i < sizeof(surfaces) / sizeof(surfaces[0]); i++) {
        ask(f, surfaces[i]);
        make(f);
        assert_string_equal(value_of(f, "authorization"), "Bearer sk-secret");
        assert_int_equal(f->target.header_count, 1);
    }
}

static void messages_carry_an_api_key_and_a_version(void **state)
{
    struct fixture *f = *state;

    static const enum acog_surface surfaces[] = {ACOG_SURFACE_MESSAGES, ACOG_SURFACE_COUNT_TOKENS};

    for (size_t i = 0; i < sizeof(surfaces) / sizeof(surfaces[0]); i++) {
        ask(f, surfaces[i]);
        make(f);
        assert_string_equal(value_of(f, "x-api-key"), "sk-secret");
        assert_string_equal(value_of(f, "anthropic-version"), "2023-06-01");
        assert_int_equal(f->target.header_count, 2);
    }
}

static void expect_gemini(struct fixture *f, const char *base_path, const char *model, bool stream,
                          const char *expected)
{
    f->connection.endpoint.base_path = acog_view_of(base_path);
    f->order.surface = ACOG_SURFACE_CHAT;
    f->order.dialect = ACOG_DIALECT_GEMINI;
    f->order.model = acog_view_of(model);
    f->order.stream = stream;
    make(f);
    assert_string_equal(acog_arena_copy(&f->arena, f->target.target).ptr, expected);
}

static void gemini_has_the_model_and_the_method_in_its_path(void **state)
{
    struct fixture *f = *state;
    const char *id = "gemini-2.5-flash";
    expect_gemini(f, "", id, false, "/v1beta/models/gemini-2.5-flash:generateContent");
    expect_gemini(f, "/v1beta/", id, true,
                  "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    expect_gemini(f, "/v1", id, false, "/v1/models/gemini-2.5-flash:generateContent");
    expect_gemini(f, "/proxy", id, false, "/proxy/v1beta/models/gemini-2.5-flash:generateContent");
    expect_gemini(f, "/vault", id, false, "/vault/v1beta/models/gemini-2.5-flash:generateContent");
    expect_gemini(f, "/v1alpha", "models/gemini-2.5-flash", false,
                  "/v1alpha/models/gemini-2.5-flash:generateContent");
    expect_gemini(f, "", "tunedModels/mine-1", false, "/v1beta/tunedModels/mine-1:generateContent");
}

/* B108: an id may be what the client wrote. */
static void a_models_id_never_changes_geminis_path(void **state)
{
    struct fixture *f = *state;
    expect_gemini(f, "", "../../v1/files", false,
                  "/v1beta/models/..%2F..%2Fv1%2Ffiles:generateContent");
    expect_gemini(f, "", "x:countTokens?key=1#", true,
                  "/v1beta/models/x%3AcountTokens%3Fkey%3D1%23:streamGenerateContent?alt=sse");
    expect_gemini(f, "", "a b\r\nhost: evil", false,
                  "/v1beta/models/a%20b%0D%0Ahost%3A%20evil:generateContent");
    expect_gemini(f, "", "models/../x", false, "/v1beta/models/..%2Fx:generateContent");
    expect_gemini(f, "", "%2e%2e\xff", false, "/v1beta/models/%252e%252e%FF:generateContent");
    expect_gemini(f, "", "", false, "/v1beta/models/:generateContent");
}

static void gemini_carries_googles_key_and_no_query_of_the_client(void **state)
{
    struct fixture *f = *state;
    f->order.query = ACOG_VIEW("beta=true");
    expect_gemini(f, "", "m", false, "/v1beta/models/m:generateContent");
    assert_string_equal(value_of(f, "x-goog-api-key"), "sk-secret");
    assert_int_equal(f->target.header_count, 1);
    f->connection.key = (struct acog_view){0};
    make(f);
    assert_int_equal(f->target.header_count, 0);
}

static void the_clients_version_is_kept(void **state)
{
    struct fixture *f = *state;
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("anthropic-version"), ACOG_VIEW("2024-01-01")}};
    ask(f, ACOG_SURFACE_MESSAGES);
    f->order.headers = rows;
    f->order.header_count = 1;
    make(f);
    assert_string_equal(value_of(f, "anthropic-version"), "2024-01-01");
}

static void without_a_key_there_is_no_auth_header(void **state)
{
    struct fixture *f = *state;
    f->connection.key = (struct acog_view){0};
    ask(f, ACOG_SURFACE_CHAT);
    make(f);
    assert_int_equal(f->target.header_count, 0);
    ask(f, ACOG_SURFACE_MESSAGES);
    make(f);
    assert_null(value_of(f, "x-api-key"));
    assert_non_null(value_of(f, "anthropic-version"));
}

/* B101 */
static void a_clients_credentials_do_not_pass_even_when_they_are_let_in(void **state)
{
    struct fixture *f = *state;
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("authorization"), ACOG_VIEW("Bearer gw-client-key-1")},
        {ACOG_VIEW("x-api-key"), ACOG_VIEW("gw-client-key-1")},
        {ACOG_VIEW("api-key"), ACOG_VIEW("zzz")},
        {ACOG_VIEW("x-goog-api-key"), ACOG_VIEW("zzz")},
        {ACOG_VIEW("cookie"), ACOG_VIEW("sid=1")},
        {ACOG_VIEW("x-forwarded-for"), ACOG_VIEW("10.0.0.9")},
        {ACOG_VIEW("forwarded"), ACOG_VIEW("for=10.0.0.9")},
        {ACOG_VIEW("proxy-authorization"), ACOG_VIEW("x")},
        {ACOG_VIEW("host"), ACOG_VIEW("evil.example")},
        {ACOG_VIEW("content-type"), ACOG_VIEW("application/json")},
    };
    ask(f, ACOG_SURFACE_MESSAGES);
    f->order.headers = rows;
    f->order.header_count = sizeof(rows) / sizeof(rows[0]);
    make(f);
    assert_int_equal(f->target.header_count, 3);
    assert_string_equal(value_of(f, "content-type"), "application/json");
    assert_string_equal(value_of(f, "x-api-key"), "sk-secret");
    assert_string_equal(value_of(f, "anthropic-version"), "2023-06-01");
}

/* B102, B104 */
static void what_frames_the_message_is_written_by_nobody_else(void **state)
{
    struct fixture *f = *state;
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("connection"), ACOG_VIEW("x-secret-hop")},
        {ACOG_VIEW("keep-alive"), ACOG_VIEW("5")},
        {ACOG_VIEW("te"), ACOG_VIEW("trailers")},
        {ACOG_VIEW("trailer"), ACOG_VIEW("x")},
        {ACOG_VIEW("upgrade"), ACOG_VIEW("h2c")},
        {ACOG_VIEW("transfer-encoding"), ACOG_VIEW("chunked")},
        {ACOG_VIEW("content-length"), ACOG_VIEW("1")},
        {ACOG_VIEW("accept-encoding"), ACOG_VIEW("gzip, br")},
        {ACOG_VIEW("expect"), ACOG_VIEW("100-continue")},
    };
    f->order.headers = rows;
    f->order.header_count = sizeof(rows) / sizeof(rows[0]);
    f->connection.headers = rows;
    f->connection.header_count = sizeof(rows) / sizeof(rows[0]);
    make(f);
    assert_int_equal(f->target.header_count, 1);
    assert_string_equal(value_of(f, "authorization"), "Bearer sk-secret");
}

static void the_configurations_headers_replace_others(void **state)
{
    struct fixture *f = *state;
    const struct acog_header_row client[] = {{ACOG_VIEW("x-title"), ACOG_VIEW("client")},
                                             {ACOG_VIEW("accept"), ACOG_VIEW("*/*")}};
    const struct acog_header_row configured[] = {
        {ACOG_VIEW("x-title"), ACOG_VIEW("acog")},
        {ACOG_VIEW("authorization"), ACOG_VIEW("Basic eDp5")},
        {ACOG_VIEW("user-agent"), ACOG_VIEW("acme/1")},
    };
    f->order.headers = client;
    f->order.header_count = 2;
    f->connection.headers = configured;
    f->connection.header_count = 3;
    make(f);
    assert_int_equal(f->target.header_count, 4);
    assert_string_equal(value_of(f, "x-title"), "acog");
    assert_string_equal(value_of(f, "authorization"), "Basic eDp5");
    assert_string_equal(value_of(f, "user-agent"), "acme/1");
    assert_string_equal(value_of(f, "accept"), "*/*");
}

static void the_custom_channel_does_the_same(void **state)
{
    struct fixture *f = *state;
    f->connection.channel = ACOG_CHANNEL_CUSTOM;
    expect_target(f, "/v1", ACOG_SURFACE_CHAT, "", "/v1/chat/completions");
    assert_string_equal(value_of(f, "authorization"), "Bearer sk-secret");
}

static void other_channels_are_not_available_yet(void **state)
{
    struct fixture *f = *state;

    static const enum acog_channel channels[] = {ACOG_CHANNEL_BEDROCK, ACOG_CHANNEL_VERTEX,
                                                 ACOG_CHANNEL_AZURE};

    for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++) {
        f->connection.channel = channels[i];
        assert_int_equal(acog_channel_target(&f->order, &f->arena, &f->target), ACOG_INVALID);
    }
}

static void too_many_headers_are_an_error(void **state)
{
    struct fixture *f = *state;
    struct acog_header_row rows[64];
    for (size_t i = 0; i < 64; i++) {
        rows[i] = (struct acog_header_row){ACOG_VIEW("x-one"), ACOG_VIEW("1")};
    }
    f->order.headers = rows;
    f->order.header_count = 63;
    make(f);
    assert_int_equal(f->target.header_count, 64);
    f->order.header_count = 64;
    assert_int_equal(acog_channel_target(&f->order, &f->arena, &f->target), ACOG_TOO_BIG);
}

static void without_room_for_the_text_it_fails(void **state)
{
    struct fixture *f = *state;
    struct acog_arena none;
    acog_arena_init(&none, 8);
    assert_int_equal(acog_channel_target(&f->order, &none, &f->target), ACOG_NO_MEMORY);
    f->order.dialect = ACOG_DIALECT_GEMINI;
    f->order.model = ACOG_VIEW("gemini-2.5-flash");
    assert_int_equal(acog_channel_target(&f->order, &none, &f->target), ACOG_NO_MEMORY);
    acog_arena_fini(&none);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_base_path_is_put_before_the_surfaces_path),
        TEST(a_base_path_that_ends_in_v1_is_not_doubled),
        TEST(the_query_follows_the_path),
        TEST(chat_and_responses_carry_a_bearer),
        TEST(messages_carry_an_api_key_and_a_version),
        TEST(gemini_has_the_model_and_the_method_in_its_path),
        TEST(a_models_id_never_changes_geminis_path),
        TEST(gemini_carries_googles_key_and_no_query_of_the_client),
        TEST(the_clients_version_is_kept),
        TEST(without_a_key_there_is_no_auth_header),
        TEST(a_clients_credentials_do_not_pass_even_when_they_are_let_in),
        TEST(what_frames_the_message_is_written_by_nobody_else),
        TEST(the_configurations_headers_replace_others),
        TEST(the_custom_channel_does_the_same),
        TEST(other_channels_are_not_available_yet),
        TEST(too_many_headers_are_an_error),
        TEST(without_room_for_the_text_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
