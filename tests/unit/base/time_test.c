/* time_test.c - moments as people write them. */
#include "acog/time.h"

#include "tests/support/check.h"

#include <string.h>

static void moments_are_written_in_utc_with_milliseconds(void **state)
{
    static const struct {
        int64_t unix_ms;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {INT64_C(951782399999), "2000-02-28T23:59:59.999Z"},
        {INT64_C(951782400000), "2000-02-29T00:00:00.000Z"},
        {INT64_C(1767225600007), "2026-01-01T00:00:00.007Z"},
        {-1, "1970-01-01T00:00:00.000Z"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct acog_buffer out;
        acog_buffer_init(&out, 64);
        assert_int_equal(acog_time_append(&out, cases[i].unix_ms), ACOG_OK);
        assert_true(acog_view_equal(acog_buffer_view(&out), acog_view_of(cases[i].text)));
        acog_buffer_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_written_in_utc_with_milliseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
