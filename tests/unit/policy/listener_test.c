/* listener_test.c - `listen` and `admin` as tables with TLS, and TLS of a connection. */
#include "tests/support/policy_loaded.h"

#include <stdio.h>

#define TEXT_MAX  2000
#define WITH_KEYS "certificate_file = \"/c.pem\", key_file = \"/k.pem\""
#define ASKING    "client_ca_file = \"/ca.pem\", client_certificates = "

static struct acog_snapshot *load(const char *fields, const char *of_connection,
                                  const char *finding)
{
    char text[TEXT_MAX];
    int length = snprintf(text, sizeof(text),
                          "local acog = require \"acog\"\nreturn acog.gateway { %s\n"
                          "connections = { acog.connection \"a\" { dialects = \"chat\",\n"
                          "base_url = \"https://a.example\", models = { \"m\" }, %s } } }",
                          fields, of_connection);
    assert_true(length > 0);
    assert_true((size_t)length < sizeof(text));
    const struct acog_policy_options options = {.path = "gateway.lua", .text = acog_view_of(text)};
    return policy_loaded(&options, finding);
}

/* Loads what must be good; the snapshot is the caller's. */
static struct acog_snapshot *load_good(const char *fields, const char *of_connection)
{
    return load(fields, of_connection, NULL);
}

static void assert_refused(const char *fields, const char *finding)
{
    assert_null(load(fields, "", finding));
}

static void assert_view(struct acog_view view, const char *text)
{
    assert_true(acog_view_equal(view, acog_view_of(text)));
}

static void a_text_is_a_listener_without_tls(void **state)
{
    (void)state;
    struct acog_snapshot *snapshot = load_good("listen = \"127.0.0.1:4443\",", "");
    assert_int_equal(snapshot->listen.port, 4443);
    assert_int_equal(snapshot->listen.tls.certificate_file.len, 0);
    acog_snapshot_unref(&snapshot);
}

static void a_table_says_all_of_tls(void **state)
{
    (void)state;
    struct acog_snapshot *snapshot = load_good(
        "listen = { address = \"127.0.0.1:4443\", " WITH_KEYS ", " ASKING
        "\"optional\", minimum = \"1.3\" }, admin = { address = \"unix:/run/a\", " WITH_KEYS " },",
        "");
    const struct acog_listener *listen = &snapshot->listen;
    assert_view(listen->host, "127.0.0.1");
    assert_int_equal(listen->port, 4443);
    assert_view(listen->tls.certificate_file, "/c.pem");
    assert_view(listen->tls.key_file, "/k.pem");
    assert_view(listen->tls.client_ca_file, "/ca.pem");
    assert_int_equal(listen->tls.client_certificates, ACOG_CLIENT_CERTIFICATES_OPTIONAL);
    assert_int_equal(listen->tls.minimum, ACOG_TLS_1_3);
    assert_true(snapshot->has_admin);
    assert_view(snapshot->admin.unix_socket, "/run/a");
    assert_view(snapshot->admin.tls.certificate_file, "/c.pem");
    assert_int_equal(snapshot->admin.tls.minimum, ACOG_TLS_1_2);
    acog_snapshot_unref(&snapshot);
}

static void strangers_may_knock_where_they_must_show_a_certificate(void **state)
{
    (void)state;
    struct acog_snapshot *snapshot = load_good(
        "listen = { address = \"0.0.0.0:443\", " WITH_KEYS ", " ASKING "\"required\" },", "");
    assert_view(snapshot->listen.host, "0.0.0.0");
    acog_snapshot_unref(&snapshot);
    assert_refused("listen = { address = \"0.0.0.0:443\", " WITH_KEYS ", " ASKING "\"optional\" },",
                   "listen: without gateway keys everybody may use it");
    assert_refused("admin = { address = \"0.0.0.0:443\", " WITH_KEYS " },", "admin: has no keys");
}

static void half_of_tls_is_refused(void **state)
{
    (void)state;
    assert_refused("listen = { address = \"127.0.0.1:1\", key_file = \"/k.pem\" },",
                   "listen: certificate_file and key_file belong together");
    assert_refused("listen = { address = \"127.0.0.1:1\", certificate_file = \"/c.pem\" },",
                   "listen: certificate_file and key_file belong together");
    assert_refused("listen = { address = \"127.0.0.1:1\", " WITH_KEYS
                   ", client_certificates = \"required\" },",
                   "listen: client_ca_file and client_certificates");
    assert_refused("listen = { address = \"127.0.0.1:1\", " WITH_KEYS
                   ", client_ca_file = \"/ca.pem\" },",
                   "listen: client_ca_file and client_certificates");
    assert_refused("listen = { address = \"127.0.0.1:1\", " ASKING "\"required\" },",
                   "listen: needs certificate_file");
    assert_refused("listen = { address = \"127.0.0.1:1\", minimum = \"1.3\" },",
                   "listen: needs certificate_file");
}

static void what_is_no_field_or_word_is_told(void **state)
{
    (void)state;
    assert_refused("listen = { " WITH_KEYS " },", "listen: needs an address");
    assert_refused("listen = { address = \"x\", " WITH_KEYS " },",
                   "listen.address: must be \"HOST:PORT\"");
    assert_refused("listen = { address = \"127.0.0.1:1\", cert = \"/c.pem\" },",
                   "listen: \"cert\" is not a field here");
    assert_refused("listen = { address = \"127.0.0.1:1\", " WITH_KEYS ", minimum = \"1.1\" },",
                   "listen.minimum: \"1.1\" is not a version of TLS");
    assert_refused("listen = 4000,", "listen: must be");
}

static void a_connection_pins_its_minimum(void **state)
{
    (void)state;
    struct acog_snapshot *plain = load_good("", "");
    struct acog_snapshot *pinned = load_good("", "tls = { minimum = \"1.3\" }");
    assert_int_equal(plain->connections[0].endpoint.tls_minimum, ACOG_TLS_1_2);
    assert_int_equal(pinned->connections[0].endpoint.tls_minimum, ACOG_TLS_1_3);
    assert_false(acog_view_equal(plain->connections[0].endpoint.pool_key,
                                 pinned->connections[0].endpoint.pool_key));
    acog_snapshot_unref(&plain);
    acog_snapshot_unref(&pinned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_a_listener_without_tls),
        cmocka_unit_test(a_table_says_all_of_tls),
        cmocka_unit_test(strangers_may_knock_where_they_must_show_a_certificate),
        cmocka_unit_test(half_of_tls_is_refused),
        cmocka_unit_test(what_is_no_field_or_word_is_told),
        cmocka_unit_test(a_connection_pins_its_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
