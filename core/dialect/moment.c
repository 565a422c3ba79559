/* moment.c - dates without a calendar library: the pure folders have no clock and no locale. */
#include "moment.h"

struct date_reader {
    struct acog_view rest;
    bool good;
};

struct date {
    int64_t year;
    int64_t month; /* 1 to 12 */
    int64_t day;
    int64_t hour;
    int64_t minute;
    int64_t second;
};

/* Days since 1970-01-01 in the Gregorian calendar: years begin in March, so that the leap day is the last one. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = month <= 2 ? year - 1 : year;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + day_of_year - 719468;
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const int64_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* A leap second counts as the first second of the next minute. */
static bool to_unix(const struct date *date, int64_t *unix_s)
{
    if (date->year < 1970 || date->month < 1 || date->month > 12 || date->day < 1 ||
        date->day > days_in_month(date->year, date->month) || date->hour > 23 ||
        date->minute > 59 || date->second > 60) {
        return false;
    }
    int64_t days = days_from_civil(date->year, date->month, date->day);
    *unix_s = ((days * 24 + date->hour) * 60 + date->minute) * 60 + date->second;
    return true;
}

static void expect(struct date_reader *reader, struct acog_view text)
{
    reader->good = reader->good && acog_view_starts(reader->rest, text);
    if (reader->good) {
        reader->rest = acog_view_slice(reader->rest, text.len, reader->rest.len);
    }
}

/* Exactly `count` digits; with `padded`, a space may stand for the first one. */
static int64_t digits(struct date_reader *reader, size_t count, bool padded)
{
    int64_t number = 0;
    if (!reader->good || reader->rest.len < count) {
        reader->good = false;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        char byte = reader->rest.ptr[i];
        if (i == 0 && padded && byte == ' ') {
            byte = '0';
        }
        if (byte < '0' || byte > '9') {
            reader->good = false;
            return 0;
        }
        number = number * 10 + (byte - '0');
    }
    reader->rest = acog_view_slice(reader->rest, count, reader->rest.len);
    return number;
}

/* The index of the word that stands here, or -1. */
static int64_t one_of(struct date_reader *reader, const char *const *words, size_t count)
{
    for (size_t i = 0; reader->good && i < count; i++) {
        struct acog_view word = acog_view_of(words[i]);
        if (acog_view_starts(reader->rest, word)) {
            expect(reader, word);
            return (int64_t)i;
        }
    }
    reader->good = false;
    return -1;
}

static int64_t month_name(struct date_reader *reader)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    return one_of(reader, months, 12) + 1;
}

static void day_name(struct date_reader *reader)
{
    static const char *const names[] = {"Sunday", "Monday",   "Tuesday", "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sun",     "Mon",       "Tue",
                                        "Wed",    "Thu",      "Fri",     "Sat"};
    (void)one_of(reader, names, 14);
}

static void clock_time(struct date_reader *reader, struct date *date)
{
    date->hour = digits(reader, 2, false);
    expect(reader, ACOG_VIEW(":"));
    date->minute = digits(reader, 2, false);
    expect(reader, ACOG_VIEW(":"));
    date->second = digits(reader, 2, false);
}

/* RFC 9110: a two-digit year that seems more than 50 years ahead is one of the past century. */
static int64_t full_year(int64_t short_year, int64_t now_s)
{
    int64_t now_year = 1970 + now_s / 31556952;
    int64_t year = now_year - now_year % 100 + short_year;
    return year > now_year + 50 ? year - 100 : year;
}

/* Behind the day's name: "06 Nov 1994 08:49:37 GMT", "06-Nov-94 08:49:37 GMT" */
static void day_first(struct date_reader *reader, int64_t now_s, struct date *date)
{
    expect(reader, ACOG_VIEW(", "));
    date->day = digits(reader, 2, false);
    bool dashes = reader->good && acog_view_starts(reader->rest, ACOG_VIEW("-"));
    struct acog_view mark = dashes ? ACOG_VIEW("-") : ACOG_VIEW(" ");
    expect(reader, mark);
    date->month = month_name(reader);
    expect(reader, mark);
    date->year = dashes ? full_year(digits(reader, 2, false), now_s) : digits(reader, 4, false);
    expect(reader, ACOG_VIEW(" "));
    clock_time(reader, date);
    expect(reader, ACOG_VIEW(" GMT"));
}

/* Behind the day's name: "Nov  6 08:49:37 1994" */
static void month_first(struct date_reader *reader, struct date *date)
{
    expect(reader, ACOG_VIEW(" "));
    date->month = month_name(reader);
    expect(reader, ACOG_VIEW(" "));
    date->day = digits(reader, 2, true);
    expect(reader, ACOG_VIEW(" "));
    clock_time(reader, date);
    expect(reader, ACOG_VIEW(" "));
    date->year = digits(reader, 4, false);
}

bool acog_moment_http(struct acog_view text, int64_t now_s, int64_t *unix_s)
{
    struct date_reader reader = {.rest = text, .good = true};
    struct date date = {0};
    day_name(&reader);
    if (reader.good && acog_view_starts(reader.rest, ACOG_VIEW(","))) {
        day_first(&reader, now_s, &date);
    } else {
        month_first(&reader, &date);
    }
    return reader.good && reader.rest.len == 0 && to_unix(&date, unix_s);
}

/* "Z" or "+02:00", in seconds. */
static int64_t offset_s(struct date_reader *reader)
{
    static const char *const signs[] = {"Z", "z", "+", "-"};
    int64_t sign = one_of(reader, signs, 4);
    if (sign < 2) {
        return 0;
    }
    int64_t hours = digits(reader, 2, false);
    expect(reader, ACOG_VIEW(":"));
    int64_t offset = (hours * 60 + digits(reader, 2, false)) * 60;
    return sign == 2 ? offset : -offset;
}

bool acog_moment_rfc3339(struct acog_view text, int64_t *unix_s)
{
    static const char *const marks[] = {"T", "t", " "};
    struct date_reader reader = {.rest = text, .good = true};
    struct date date;
    bool fraction = false;
    date.year = digits(&reader, 4, false);
    expect(&reader, ACOG_VIEW("-"));
    date.month = digits(&reader, 2, false);
    expect(&reader, ACOG_VIEW("-"));
    date.day = digits(&reader, 2, false);
    (void)one_of(&reader, marks, 3);
    clock_time(&reader, &date);
    if (reader.good && acog_view_starts(reader.rest, ACOG_VIEW("."))) {
        expect(&reader, ACOG_VIEW("."));
        fraction = digits(&reader, 1, false) > 0;
        while (reader.good && reader.rest.len > 0 && reader.rest.ptr[0] >= '0' &&
               reader.rest.ptr[0] <= '9') {
            fraction = digits(&reader, 1, false) > 0 || fraction;
        }
    }
    int64_t offset = offset_s(&reader);
    if (!reader.good || reader.rest.len > 0 || !to_unix(&date, unix_s)) {
        return false;
    }
    *unix_s += (fraction ? 1 : 0) - offset;
    return true;
}
