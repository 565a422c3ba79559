/* writer_test.c - the request that goes up: the client's bytes, spliced where they must be, and headers by allow-list. */
#include "driver.h"
#include "streams.h"

#define REST "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"

static void body_becomes(struct driver *driver, const char *target, const char *asked,
                         const char *sent)
{
    driver_post(driver, target, asked);
    assert_int_equal(driver->send_count, 1);
    if (!acog_view_equal(acog_buffer_view(&driver->sends[0].body), acog_view_of(sent))) {
        print_error("sent:\n%.*s\nwanted:\n%s\n",
                    ACOG_VIEW_FMT(acog_buffer_view(&driver->sends[0].body)), sent);
        fail();
    }
    driver_gone(driver);
    driver_again(driver);
}

static void the_model_is_replaced_and_nothing_else(void **state) /* S4.9 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    body_becomes(&driver, "/v1/messages",
                 " {\"a\": 1.50,\"model\" : \"m\" ,\"max_tokens\":9," REST "\n",
                 " {\"a\": 1.50,\"model\" : \"m-1\" ,\"max_tokens\":9," REST "\n");
    body_becomes(&driver, "/v1/messages", "{\"max_tokens\":9,\"mod\\u0065l\":\"\\u006d\"," REST,
                 "{\"max_tokens\":9,\"mod\\u0065l\":\"m-1\"," REST);
    driver.candidates[0].send_id = ACOG_VIEW("m\"\\\n");
    body_becomes(&driver, "/v1/messages", "{\"model\":\"m\",\"max_tokens\":9," REST,
                 "{\"model\":\"m\\\"\\\\\\n\",\"max_tokens\":9," REST);
    driver_fini(&driver);
}

static void the_clients_bytes_stay_when_the_model_is_the_same(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.candidates[0].send_id = ACOG_VIEW("m");
    body_becomes(&driver, "/v1/messages", "{\"max_tokens\":9,\"model\":\"\\u006d\"," REST,
                 "{\"max_tokens\":9,\"model\":\"\\u006d\"," REST);
    driver_fini(&driver);
}

static void a_chat_stream_always_asks_for_usage(void **state) /* B51 */
{
    static const char *const cases[][2] = {
        {"{\"model\":\"m\",\"stream\":true," REST,
         "{\"stream_options\":{\"include_usage\":true},\"model\":\"m-1\",\"stream\":true," REST},
        {"{\"model\":\"m\",\"stream\":true,\"stream_options\":{}," REST,
         "{\"model\":\"m-1\",\"stream\":true,\"stream_options\":{\"include_usage\":true}," REST},
        {"{\"model\":\"m\",\"stream\":true,\"stream_options\":{ }," REST,
         "{\"model\":\"m-1\",\"stream\":true,\"stream_options\":{\"include_usage\":true }," REST},
        {"{\"model\":\"m\",\"stream\":true,\"stream_options\":null," REST,
         "{\"model\":\"m-1\",\"stream\":true,\"stream_options\":{\"include_usage\":true}," REST},
        {"{\"stream_options\":{\"include_usage\":false,\"x\":1},\"model\":\"m\",\"stream\":true," REST,
         "{\"stream_options\":{\"include_usage\":true,\"x\":1},\"model\":\"m-1\",\"stream\":true," REST},
        {"{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_obfuscation\":false}," REST,
         "{\"model\":\"m-1\",\"stream\":true,\"stream_options\":{\"include_usage\":true,"
         "\"include_obfuscation\":false}," REST},
        {"{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true}," REST,
         "{\"model\":\"m-1\",\"stream\":true,\"stream_options\":{\"include_usage\":true}," REST},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        body_becomes(&driver, "/v1/chat/completions", cases[i][0], cases[i][1]);
    }
    driver_fini(&driver);
}

static void nothing_else_is_asked_for_usage(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    body_becomes(&driver, "/v1/chat/completions", "{\"model\":\"m\",\"stream\":false," REST,
                 "{\"model\":\"m-1\",\"stream\":false," REST);
    body_becomes(&driver, "/v1/responses", "{\"model\":\"m\",\"stream\":true,\"input\":\"hi\"}",
                 "{\"model\":\"m-1\",\"stream\":true,\"input\":\"hi\"}");
    body_becomes(&driver, "/v1/embeddings", "{\"model\":\"m\",\"input\":\"hi\"}",
                 "{\"model\":\"m-1\",\"input\":\"hi\"}");
    driver_fini(&driver);
}

static void a_pin_in_the_body_is_stripped_where_the_policy_says_so(void **state) /* S3.14 */
{
    static const char *const cases[][2] = {
        {"{\"provider\":{\"only\":\"one\"},\"model\":\"m\",\"stream\":true," REST,
         "{\"stream_options\":{\"include_usage\":true},\"model\":\"m-1\",\"stream\":true," REST},
        {"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
         "\"provider\":{\"only\":\"one\"}}",
         "{\"model\":\"m-1\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.snapshot->policy.pin = (struct acog_pin){
        .scope = ACOG_PIN_CONNECTION, .body_path = ACOG_VIEW("provider.only"), .strip = true};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        body_becomes(&driver, "/v1/chat/completions", cases[i][0], cases[i][1]);
    }
    driver.snapshot->policy.pin.strip = false;
    body_becomes(&driver, "/v1/chat/completions",
                 "{\"provider\":{\"only\":\"one\"},\"model\":\"m\"," REST,
                 "{\"provider\":{\"only\":\"one\"},\"model\":\"m-1\"," REST);
    driver_fini(&driver);
}

static void fields_that_would_choose_an_upstream_choose_nothing(void **state) /* B108 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    body_becomes(&driver, "/v1/messages",
                 "{\"model\":\"m\",\"max_tokens\":5,\"api_base\":\"http://127.0.0.1:9/\","
                 "\"api_key\":\"x\",\"extra_headers\":{\"Host\":\"evil\"}," REST,
                 "{\"model\":\"m-1\",\"max_tokens\":5,\"api_base\":\"http://127.0.0.1:9/\","
                 "\"api_key\":\"x\",\"extra_headers\":{\"Host\":\"evil\"}," REST);
    driver_fini(&driver);
}

static void credentials_and_hops_stay_here(void **state) /* B101, B102 */
{
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("host"), ACOG_VIEW("gw.local")},
        {ACOG_VIEW("authorization"), ACOG_VIEW("Bearer gw-client-key-1")},
        {ACOG_VIEW("x-api-key"), ACOG_VIEW("gw-client-key-1")},
        {ACOG_VIEW("api-key"), ACOG_VIEW("zzz")},
        {ACOG_VIEW("cookie"), ACOG_VIEW("sid=1")},
        {ACOG_VIEW("x-forwarded-for"), ACOG_VIEW("10.0.0.9")},
        {ACOG_VIEW("connection"), ACOG_VIEW("keep-alive, X-Secret-Hop")},
        {ACOG_VIEW("x-secret-hop"), ACOG_VIEW("1")},
        {ACOG_VIEW("accept-encoding"), ACOG_VIEW("gzip, br")},
        {ACOG_VIEW("user-agent"), ACOG_VIEW("sdk")},
        {ACOG_VIEW("openai-organization"), ACOG_VIEW("org-1")},
        {ACOG_VIEW("x-base-url"), ACOG_VIEW("http://evil")},
        {ACOG_VIEW("anthropic-version"), ACOG_VIEW("2023-06-01")},
        {ACOG_VIEW("content-type"), ACOG_VIEW("application/json; charset=utf-8")},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/messages", rows, sizeof(rows) / sizeof(rows[0]),
                 ACOG_VIEW(ASK_MESSAGES_WHOLE));
    assert_true(acog_view_equal(acog_buffer_view(&driver.sends[0].headers),
                                ACOG_VIEW("content-type: application/json\n"
                                          "accept: application/json\n"
                                          "anthropic-version: 2023-06-01\n")));
    driver_gone(&driver);
    driver_fini(&driver);
}

static void betas_are_merged_and_filtered_by_connection(void **state) /* B103 */
{
    static const struct acog_view allowed[] = {{.ptr = "a-2025-01-01", .len = 12}};
    const struct acog_header_row rows[] = {
        {ACOG_VIEW("anthropic-beta"), ACOG_VIEW("a-2025-01-01, b-2025-02-02")},
        {ACOG_VIEW("anthropic-beta"), ACOG_VIEW("b-2025-02-02,,c")},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/messages?beta=true&key=x", rows, 2,
                 ACOG_VIEW(ASK_MESSAGES_WHOLE));
    assert_true(
        driver_has(&driver.sends[0].headers, "anthropic-beta: a-2025-01-01,b-2025-02-02,c\n"));
    assert_string_equal(driver.sends[0].query, "beta=true");
    driver_gone(&driver);
    driver_again(&driver);
    driver.connections[0].betas = allowed;
    driver.connections[0].beta_count = 1;
    driver_start(&driver, "POST", "/v1/messages", rows, 2, ACOG_VIEW(ASK_MESSAGES_WHOLE));
    assert_true(driver_has(&driver.sends[0].headers, "anthropic-beta: a-2025-01-01\n"));
    assert_string_equal(driver.sends[0].query, "");
    driver_head(&driver, 1, 200, "application/json");
    driver_text(&driver, 1, MESSAGES_WHOLE);
    driver_end(&driver, 1);
    driver_header_is(&driver,
                     "x-acog-dropped-params: anthropic-beta=b-2025-02-02,anthropic-beta=c\n");
    driver_fini(&driver);
}

static void only_beta_true_of_a_query_goes_up(void **state)
{
    static const struct {
        const char *target;
        const char *sent;
    } cases[] = {
        {"/v1/messages?beta=true", "beta=true"},
        {"/v1/messages?a=b&beta=true", "beta=true"},
        {"/v1/messages?xbeta=true&beta=true&c", "beta=true"},
        {"/v1/messages?beta=truely", ""},
        {"/v1/messages?beta=false", ""},
        {"/v1/messages?xbeta=true", ""},
        {"/v1/messages?", ""},
        {"/v1/messages?api_key=x", ""},
    };
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        driver_post(&driver, cases[i].target, ASK_MESSAGES_WHOLE);
        assert_string_equal(driver.sends[0].query, cases[i].sent);
        driver_gone(&driver);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void a_beta_is_not_for_openai(void **state) /* B103 */
{
    const struct acog_header_row row = {ACOG_VIEW("anthropic-beta"), ACOG_VIEW("a")};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/chat/completions?beta=true", &row, 1, ACOG_VIEW(ASK_CHAT));
    assert_false(driver_has(&driver.sends[0].headers, "beta"));
    assert_string_equal(driver.sends[0].query, "");
    assert_true(driver.sends[0].stream);
    driver_gone(&driver);
    driver_fini(&driver);
}

static void a_flood_of_betas_is_cut(void **state)
{
    static char flood[8192];
    for (size_t i = 0; i + 1 < sizeof(flood); i++) {
        flood[i] = "ab,cd,ef,gh,ij,kl,mn,op,qr,st,uv,wx,yz,"[i % 39];
    }
    const struct acog_header_row row = {ACOG_VIEW("anthropic-beta"), acog_view_of(flood)};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "POST", "/v1/messages", &row, 1, ACOG_VIEW(ASK_MESSAGES_WHOLE));
    assert_int_equal(driver.send_count, 1);
    assert_true(driver.sends[0].headers.len < 2500);
    driver_gone(&driver);
    driver_fini(&driver);
}

static void each_attempt_is_made_from_the_original(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.candidates[1].send_id = ACOG_VIEW("m-two");
    driver_post(&driver, "/v1/messages", "{\"model\":\"m\",\"max_tokens\":9," REST);
    driver_failed(&driver, 1, ACOG_CAUSE_CONNECT);
    assert_int_equal(driver.send_count, 2);
    assert_string_equal(driver.sends[1].model, "m-two");
    assert_true(acog_view_equal(acog_buffer_view(&driver.sends[1].body),
                                ACOG_VIEW("{\"model\":\"m-two\",\"max_tokens\":9," REST)));
    driver_gone(&driver);
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_replaced_and_nothing_else),
        cmocka_unit_test(the_clients_bytes_stay_when_the_model_is_the_same),
        cmocka_unit_test(a_chat_stream_always_asks_for_usage),
        cmocka_unit_test(nothing_else_is_asked_for_usage),
        cmocka_unit_test(a_pin_in_the_body_is_stripped_where_the_policy_says_so),
        cmocka_unit_test(fields_that_would_choose_an_upstream_choose_nothing),
        cmocka_unit_test(credentials_and_hops_stay_here),
        cmocka_unit_test(betas_are_merged_and_filtered_by_connection),
        cmocka_unit_test(only_beta_true_of_a_query_goes_up),
        cmocka_unit_test(a_beta_is_not_for_openai),
        cmocka_unit_test(a_flood_of_betas_is_cut),
        cmocka_unit_test(each_attempt_is_made_from_the_original),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
