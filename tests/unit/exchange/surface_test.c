/* surface_test.c - where methods and paths lead, and what is answered here. */
#include "driver.h"
#include "state.h"

static enum acog_exchange_place place(const char *method, const char *path)
{
    struct acog_exchange_target target;
    acog_exchange_place(acog_view_of(method), acog_view_of(path), true, &target);
    return target.place;
}

static void each_surface_takes_post_at_its_path(void **state)
{
    (void)state;
    for (int i = 0; i < ACOG_SURFACE_COUNT; i++) {
        struct acog_exchange_target target;
        acog_exchange_place(ACOG_VIEW("POST"), acog_surface_path((enum acog_surface)i), true,
                            &target);
        assert_int_equal(target.place, ACOG_PLACE_SURFACE);
        assert_int_equal(target.surface, i);
        acog_exchange_place(ACOG_VIEW("GET"), acog_surface_path((enum acog_surface)i), true,
                            &target);
        assert_int_equal(target.place, ACOG_PLACE_WRONG_METHOD);
    }
}

static void a_path_leads_only_where_it_says(void **state) /* B114 */
{
    (void)state;
    assert_int_equal(place("POST", "/v1/messages/../admin"), ACOG_PLACE_NOWHERE);
    assert_int_equal(place("POST", "//v1/messages"), ACOG_PLACE_NOWHERE);
    assert_int_equal(place("POST", "/v1/%6dessages"), ACOG_PLACE_NOWHERE);
    assert_int_equal(place("POST", "/v1/messages/"), ACOG_PLACE_NOWHERE);
    assert_int_equal(place("POST", "/V1/messages"), ACOG_PLACE_NOWHERE);
    assert_int_equal(place("GET", "/v1/models/"), ACOG_PLACE_NOWHERE);
    assert_int_equal(place("GET", ""), ACOG_PLACE_NOWHERE);
}

static void health_is_always_well(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver.draining = true;
    driver_start(&driver, "GET", "/healthz?x=1", NULL, 0, ACOG_VIEW(""));
    assert_int_equal(driver.status, 200);
    assert_true(driver.finished && driver.ended);
    driver_fini(&driver);
}

static void ready_says_when_it_drains(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "GET", "/readyz", NULL, 0, ACOG_VIEW(""));
    assert_int_equal(driver.status, 200);
    driver_again(&driver);
    driver.draining = true;
    driver_start(&driver, "GET", "/readyz", NULL, 0, ACOG_VIEW(""));
    assert_int_equal(driver.status, 503);
    driver_fini(&driver);
}

static void an_unknown_path_is_a_404_that_names_it(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "GET", "/v2/\"x\"?key=secret", NULL, 0, ACOG_VIEW(""));
    assert_int_equal(driver.status, 404);
    assert_true(driver_has(&driver.reply, "\"message\":\"There is nothing at /v2/\\\"x\\\".\""));
    assert_true(driver_has(&driver.reply, "\"code\":\"not_found\""));
    assert_false(driver_has(&driver.reply, "secret"));
    assert_false(acog_exchange_record(driver.exchange)->routed);
    driver_fini(&driver);
}

static void a_wrong_method_is_a_405_that_says_which_is_right(void **state) /* B114 */
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "PUT", "/v1/messages", NULL, 0, ACOG_VIEW("{}"));
    assert_int_equal(driver.status, 405);
    driver_header_is(&driver, "allow: POST\n");
    driver_header_is(&driver, "request-id: ");
    assert_true(driver_has(&driver.reply, "{\"type\":\"error\""));
    driver_again(&driver);
    driver_start(&driver, "POST", "/v1/models", NULL, 0, ACOG_VIEW("{}"));
    assert_int_equal(driver.status, 405);
    driver_header_is(&driver, "allow: GET, HEAD\n");
    driver_fini(&driver);
}

static void a_head_request_gets_the_length_alone(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "HEAD", "/healthz", NULL, 0, ACOG_VIEW(""));
    assert_int_equal(driver.status, 200);
    assert_int_equal(driver.content_length, sizeof("{\"status\":\"ok\"}\n") - 1);
    assert_int_equal(driver.reply.len, 0);
    assert_true(driver.ended);
    driver_fini(&driver);
}

static void models_come_in_openais_shape(void **state)
{
    struct driver driver;
    (void)state;
    driver_init(&driver);
    driver_start(&driver, "GET", "/v1/models", NULL, 0, ACOG_VIEW(""));
    driver_reply_is(&driver, ACOG_VIEW("{\"object\":\"list\",\"data\":["
                                       "{\"id\":\"m\",\"object\":\"model\",\"created\":0,"
                                       "\"owned_by\":\"acog\"},"
                                       "{\"id\":\"a/b@1\",\"object\":\"model\",\"created\":0,"
                                       "\"owned_by\":\"maker\"}]}"));
    assert_int_equal(driver.content_length, driver.reply.len);
    driver_fini(&driver);
}

static void models_come_in_anthropics_shape_when_its_version_is_sent(void **state)
{
    struct driver driver;
    struct acog_header_row version = {ACOG_VIEW("anthropic-version"), ACOG_VIEW("2023-06-01")};
    (void)state;
    driver_init(&driver);
    driver.snapshot->model_count = 1;
    driver_start(&driver, "GET", "/v1/models", &version, 1, ACOG_VIEW(""));
    driver_reply_is(&driver, ACOG_VIEW("{\"data\":[{\"type\":\"model\",\"id\":\"m\","
                                       "\"display_name\":\"m\",\"created_at\":"
                                       "\"1970-01-01T00:00:00Z\"}],\"has_more\":false,"
                                       "\"first_id\":\"m\",\"last_id\":\"m\"}"));
    driver_again(&driver);
    driver.snapshot->model_count = 0;
    driver_start(&driver, "GET", "/v1/models", &version, 1, ACOG_VIEW(""));
    driver_reply_is(&driver, ACOG_VIEW("{\"data\":[],\"has_more\":false,\"first_id\":null,"
                                       "\"last_id\":null}"));
    driver_fini(&driver);
}

static void one_model_is_found_by_its_id_escaped_or_not(void **state)
{
    static const char *const paths[] = {"/v1/models/a/b@1", "/v1/models/a%2Fb%401",
                                        "/v1/models/a%2fb@1?x=y"};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        driver_start(&driver, "GET", paths[i], NULL, 0, ACOG_VIEW(""));
        assert_int_equal(driver.status, 200);
        assert_true(driver_has(&driver.reply, "{\"id\":\"a/b@1\",\"object\":\"model\""));
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void a_model_that_is_not_there_is_a_404(void **state)
{
    static const char *const paths[] = {"/v1/models/x", "/v1/models/m%", "/v1/models/m%4",
                                        "/v1/models/%zz", "/v1/models/m%00"};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        driver_start(&driver, "GET", paths[i], NULL, 0, ACOG_VIEW(""));
        assert_int_equal(driver.status, 404);
        driver_again(&driver);
    }
    driver_fini(&driver);
}

static void anthropics_clients_get_their_own_shape_on_every_path(void **state)
{
    static const char *const paths[] = {"/v1/models/x", "/v1/files"};
    struct acog_header_row version = {ACOG_VIEW("anthropic-version"), ACOG_VIEW("2023-06-01")};
    struct driver driver;
    (void)state;
    driver_init(&driver);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        driver_start(&driver, "GET", paths[i], &version, 1, ACOG_VIEW(""));
        assert_int_equal(driver.status, 404);
        assert_true(driver_has(&driver.reply, "{\"type\":\"error\",\"error\":"
                                              "{\"type\":\"not_found_error\""));
        driver_header_is(&driver, "request-id: ");
        driver_again(&driver);
    }
    driver_fini(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_surface_takes_post_at_its_path),
        cmocka_unit_test(a_path_leads_only_where_it_says),
        cmocka_unit_test(health_is_always_well),
        cmocka_unit_test(ready_says_when_it_drains),
        cmocka_unit_test(an_unknown_path_is_a_404_that_names_it),
        cmocka_unit_test(a_wrong_method_is_a_405_that_says_which_is_right),
        cmocka_unit_test(a_head_request_gets_the_length_alone),
        cmocka_unit_test(models_come_in_openais_shape),
        cmocka_unit_test(models_come_in_anthropics_shape_when_its_version_is_sent),
        cmocka_unit_test(one_model_is_found_by_its_id_escaped_or_not),
        cmocka_unit_test(a_model_that_is_not_there_is_a_404),
        cmocka_unit_test(anthropics_clients_get_their_own_shape_on_every_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
