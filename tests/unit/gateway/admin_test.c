/* admin_test.c - who may see the operator's pages. */
#include "admin.h"

#include "tests/support/check.h"

static void assert_all(const struct acog_listener *listener, const char *const *hosts, bool allowed)
{
    for (; *hosts != NULL; hosts++) {
        if (acog_admin_host_allowed(acog_view_of(*hosts), listener) != allowed) {
            fail_msg("%s: %s", *hosts, allowed ? "refused" : "allowed");
        }
    }
}

static void a_loopback_listener_is_seen_by_loopback_names_only(void **state) /* DNS rebinding */
{
    (void)state;
    const struct acog_listener listener = {.host = ACOG_VIEW("127.0.0.1"), .port = 4001};
    static const char *const good[] = {
        "127.0.0.1:4001", "127.0.0.1", "localhost:4001", "LOCALHOST", "[::1]:4001", "[::1]", NULL};
    static const char *const bad[] = {"",
                                      "evil.test",
                                      "evil.test:4001",
                                      "10.0.0.1",
                                      "127.0.0.1.evil.test",
                                      "127.0.0.1@evil.test",
                                      "[::1",
                                      "[::1]x",
                                      "127.0.0.1:x",
                                      "localhost.",
                                      "[2001:db8::1]:4001",
                                      NULL};
    assert_all(&listener, good, true);
    assert_all(&listener, bad, false);
}

static void an_open_listener_is_seen_by_its_name_and_by_addresses(void **state)
{
    (void)state;
    const struct acog_listener listener = {.host = ACOG_VIEW("metrics.internal"), .port = 4001};
    static const char *const good[] = {"metrics.internal:4001", "Metrics.Internal", "10.1.2.3:4001",
                                       "[2001:db8::1]:4001",    "localhost",        NULL};
    static const char *const bad[] = {"evil.test", "metrics.internal.evil.test", NULL};
    assert_all(&listener, good, true);
    assert_all(&listener, bad, false);
}

static void a_unix_socket_asks_for_no_name(void **state)
{
    (void)state;
    const struct acog_listener listener = {.unix_socket = ACOG_VIEW("/run/admin.sock")};
    static const char *const good[] = {"", "anything", NULL};
    assert_all(&listener, good, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loopback_listener_is_seen_by_loopback_names_only),
        cmocka_unit_test(an_open_listener_is_seen_by_its_name_and_by_addresses),
        cmocka_unit_test(a_unix_socket_asks_for_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
