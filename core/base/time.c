/* time.c - the civil calendar. Formatted by hand, because every log line begins with a time. */
#include "acog/time.h"

#define MS_PER_SECOND   INT64_C(1000)
#define SECONDS_PER_DAY 86400

/* Two decimal digits. */
static void put_two(char *at, unsigned value)
{
    at[0] = (char)('0' + value / 10 % 10);
    at[1] = (char)('0' + value % 10);
}

/* The civil date of a day since 1970-01-01 (the era algorithm of Howard Hinnant, for days that are not negative). */
static void put_date(char *at, int64_t day)
{
    int64_t shifted = day + 719468; /* days since 0000-03-01 */
    int64_t era = shifted / 146097;
    int64_t day_of_era = shifted % 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    unsigned day_of_month = (unsigned)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    unsigned month =
        (unsigned)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    unsigned year = (unsigned)(year_of_era + era * 400 + (month <= 2 ? 1 : 0));
    put_two(at, year / 100);
    put_two(at + 2, year % 100);
    put_two(at + 5, month);
    put_two(at + 8, day_of_month);
}

enum acog_code acog_time_append(struct acog_buffer *out, int64_t unix_ms)
{
    char text[] = "0000-00-00T00:00:00.000Z";
    int64_t ms = unix_ms < 0 ? 0 : unix_ms;
    int64_t second = ms / MS_PER_SECOND;
    unsigned of_day = (unsigned)(second % SECONDS_PER_DAY);
    unsigned millis = (unsigned)(ms % MS_PER_SECOND);
    put_date(text, second / SECONDS_PER_DAY);
    put_two(text + 11, of_day / 3600);
    put_two(text + 14, of_day / 60 % 60);
    put_two(text + 17, of_day % 60);
    text[20] = (char)('0' + millis / 100);
    put_two(text + 21, millis % 100);
    return acog_buffer_append(out, (struct acog_view){.ptr = text, .len = sizeof(text) - 1});
}
