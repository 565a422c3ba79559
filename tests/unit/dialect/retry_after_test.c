/* retry_after_test.c - every spelling of "wait so long", and that no number overflows. */
#include "acog/dialect.h"
#include "core/dialect/moment.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#define NOW_S INT64_C(1784980800) /* Sat, 25 Jul 2026 12:00:00 GMT */
#define CAP   ACOG_RETRY_AFTER_MS_MAX

static void retry_after_forms(void **state) /* B69 */
{
    static const struct {
        const char *text;
        int64_t want_ms;
    } cases[] = {
        {"5", 5000},
        {"0", 0},
        {" 5 ", 5000},
        {"Sat, 25 Jul 2026 12:00:30 GMT", 30000},
        {"Sat, 25 Jul 2026 11:59:00 GMT", 0},
        {"Saturday, 25-Jul-26 12:00:30 GMT", 30000},
        {"Sat Jul 25 12:00:30 2026", 30000},
        {"999999", 999999000},
        {"2abc", -1},
        {"-3", -1},
        {"+3", -1},
        {"", -1},
        {"1.5", 1500},
        {"0.0001", 1},
        {"1.", -1},
        {".5", -1},
        {"1e3", -1},
        {"99999999999999999999", CAP},
        {"99999999999999999999999999999999999999.9", CAP},
        {"Fri, 31 Dec 9999 23:59:59 GMT", CAP},
        {"soon", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t got =
            acog_dialect_retry_after_ms(acog_view_of(cases[i].text), (struct acog_view){0}, NOW_S);
        if (got != cases[i].want_ms) {
            fail_msg("%s: %lld", cases[i].text, (long long)got);
        }
    }
}

static void milliseconds_beside_seconds(void **state)
{
    static const struct {
        const char *seconds;
        const char *milliseconds;
        int64_t want_ms;
    } cases[] = {
        {"", "250", 250},
        {"1", "250", 250},
        {"1", "0", 1000}, /* Azure sends this */
        {"", "0", 0},
        {"1", "-1", 1000}, /* and this */
        {"", "-1", -1},
        {"1", "12.5", 13},
        {"2", "x", 2000},
        {"x", "0", 0},
        {"", "99999999999999999999", CAP},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t got = acog_dialect_retry_after_ms(acog_view_of(cases[i].seconds),
                                                  acog_view_of(cases[i].milliseconds), NOW_S);
        if (got != cases[i].want_ms) {
            fail_msg("%s, %s: %lld", cases[i].seconds, cases[i].milliseconds, (long long)got);
        }
    }
}

static void reset_values_in_five_spellings(void **state) /* FACTS 2 */
{
    static const struct {
        const char *text;
        int64_t want_ms;
    } cases[] = {
        {"6ms", 6},
        {"1.2s", 1200},
        {"6m0.5s", 360500},
        {"1h2m3.4s", 3723400},
        {"83h10m39.057s", 299439057},
        {"17.399999999s", 17400},
        {"1m0s", 60000},
        {"2d", 172800000},
        {"7", 7000},
        {"0", 0},
        {"34.4s", 34400},
        {"999999999", CAP},       /* seconds, however many */
        {"1784980861", 61000},    /* a Unix time */
        {"1784980799", 0},        /* a past one */
        {"1784980861500", 61500}, /* in milliseconds (OpenRouter) */
        {"2026-07-25T12:00:01Z", 1000},
        {"2026-07-25T14:00:01+02:00", 1000},
        {"2026-07-25T12:00:00.25Z", 1000},
        {"2026-07-25T11:00:00Z", 0},
        {"-1", -1},
        {"1s2m", -1},
        {"1s1s", -1},
        {"1x", -1},
        {"s", -1},
        {"2ms, req_0", -1},
        {"", -1},
        {"99999999999999h", CAP},
        {"99999999999999999999999999d23h59m59.9s", CAP},
        {"2026-02-29T00:00:00Z", -1},
        {"2026-07-25", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t got = acog_dialect_reset_ms(acog_view_of(cases[i].text), NOW_S);
        if (got != cases[i].want_ms) {
            fail_msg("%s: %lld", cases[i].text, (long long)got);
        }
    }
}

static void calendar(void **state)
{
    static const struct {
        const char *text;
        int64_t unix_s; /* -1: no date */
    } cases[] = {
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {"Tue, 29 Feb 2000 12:00:00 GMT", 951825600},
        {"Thu, 29 Feb 2024 23:59:60 GMT", 1709251200},
        {"Fri, 29 Feb 2100 00:00:00 GMT", -1},
        {"Sun, 31 Apr 2026 00:00:00 GMT", -1},
        {"Sun, 00 Apr 2026 00:00:00 GMT", -1},
        {"Sun, 06 Nov 1994 24:00:00 GMT", -1},
        {"Sun, 06 Nov 1994 08:60:00 GMT", -1},
        {"Wed, 31 Dec 1969 23:59:59 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:37 PST", -1},
        {"Sun, 06 Nov 1994 08:49:37", -1},
        {"Sun, 6 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 nov 1994 08:49:37 GMT", -1},
        {"Sun Nov 6 08:49:37 1994", -1},
        {"Xxx, 06 Nov 1994 08:49:37 GMT", -1},
        {"", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t got = -1;
        bool good = acog_moment_http(acog_view_of(cases[i].text), NOW_S, &got);
        if (got != cases[i].unix_s || good != (cases[i].unix_s >= 0)) {
            fail_msg("%s: %lld", cases[i].text, (long long)got);
        }
    }
}

static void two_digit_years_lie_within_fifty_years(void **state)
{
    int64_t unix_s = 0;
    (void)state;
    assert_true(acog_moment_http(ACOG_VIEW("Sunday, 06-Nov-76 00:00:00 GMT"), NOW_S, &unix_s));
    assert_true(unix_s > NOW_S); /* 2076 */
    assert_true(acog_moment_http(ACOG_VIEW("Sunday, 06-Nov-77 00:00:00 GMT"), NOW_S, &unix_s));
    assert_true(unix_s < NOW_S); /* 1977 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retry_after_forms),
        cmocka_unit_test(milliseconds_beside_seconds),
        cmocka_unit_test(reset_values_in_five_spellings),
        cmocka_unit_test(calendar),
        cmocka_unit_test(two_digit_years_lie_within_fifty_years),
    };
    return cmocka_run_group_tests_name("retry_after", tests, NULL, NULL);
}
