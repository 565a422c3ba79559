/* retry_after.c - how long a provider asks to wait, in any of the ways they say it (B69, FACTS 2). */
#include "acog/dialect.h"
#include "moment.h"

#define NUMBER_MAX \
    INT64_C(       \
        100000000000000) /* larger ones count as this: far above every cap, far below overflow */

/* A bare number of seconds that is no wait but a Unix time, in seconds or (OpenRouter) in milliseconds; as read_number()
 * gives them, in thousandths. */
#define UNIX_S_MIN_MS (INT64_C(1000000000) * 1000)
#define UNIX_MS_MIN   (INT64_C(1000000000) * 1000 * 1000)

static int64_t capped(int64_t milliseconds)
{
    if (milliseconds < 0) {
        return 0;
    }
    return milliseconds > ACOG_RETRY_AFTER_MS_MAX ? ACOG_RETRY_AFTER_MS_MAX : milliseconds;
}

static bool is_digit(struct acog_view text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

/* A decimal number at the start of `text`, without a sign, in thousandths (rounded up), and the bytes that it takes.
 * 0 bytes: none. */
static size_t read_decimal(struct acog_view text, int64_t *thousandths)
{
    int64_t whole = 0;
    int64_t part = 0;
    int64_t worth = 100; /* of the next digit, in thousandths; 0: below them */
    bool more = false;   /* something is below them */
    size_t at = 0;
    for (; is_digit(text, at); at++) {
        whole = whole > NUMBER_MAX ? NUMBER_MAX : whole * 10 + (text.ptr[at] - '0');
    }
    if (at == 0) {
        return 0;
    }
    if (at < text.len && text.ptr[at] == '.' && is_digit(text, at + 1)) {
        for (at++; is_digit(text, at); at++) {
            int64_t digit = text.ptr[at] - '0';
            part += digit * worth;
            more = more || (worth == 0 && digit > 0);
            worth /= 10;
        }
    }
    whole = whole > NUMBER_MAX ? NUMBER_MAX : whole;
    *thousandths = whole * 1000 + part + (more ? 1 : 0);
    return at;
}

struct unit {
    struct acog_view name;
    int64_t ms;
};

/* In the order in which they may stand; "ms" before "m", which it begins with. */
static const struct unit units[] = {
    {{"d", 1}, INT64_C(86400000)},
    {{"h", 1}, INT64_C(3600000)},
    {{"ms", 2}, 1},
    {{"m", 1}, 60000},
    {{"s", 1}, 1000},
};

static struct acog_view skip(struct acog_view text, size_t bytes)
{
    return (struct acog_view){.ptr = text.ptr + bytes, .len = text.len - bytes};
}

/* "6m0.5s", "1h2m3.4s", "6ms": -1 when it is not that. */
static int64_t read_duration(struct acog_view text)
{
    int64_t total = 0;
    int64_t above = INT64_MAX; /* units fall: "1s2m" is none */
    while (text.len > 0) {
        int64_t thousandths = 0;
        size_t bytes = read_decimal(text, &thousandths);
        if (bytes == 0) {
            return -1;
        }
        text = skip(text, bytes);
        const struct unit *unit = NULL;
        for (size_t i = 0; unit == NULL && i < sizeof(units) / sizeof(units[0]); i++) {
            unit = acog_view_starts(text, units[i].name) ? &units[i] : NULL;
        }
        if (unit == NULL || unit->ms >= above) {
            return -1;
        }
        above = unit->ms;
        text = skip(text, unit->name.len);
        int64_t limit = ACOG_RETRY_AFTER_MS_MAX / unit->ms * 1000;
        thousandths = thousandths > limit ? limit : thousandths;
        total += (thousandths * unit->ms + 999) / 1000;
    }
    return total;
}

/* The whole text is one number: thousandths of it, else -1. */
static int64_t read_number(struct acog_view text)
{
    int64_t thousandths = 0;
    size_t bytes = read_decimal(text, &thousandths);
    return bytes > 0 && bytes == text.len ? thousandths : -1;
}

int64_t acog_dialect_reset_ms(struct acog_view value, int64_t unix_now_s)
{
    int64_t moment = 0;
    value = acog_view_trim(value);
    if (value.len == 0) {
        return -1;
    }
    int64_t seconds_ms = read_number(value);
    if (seconds_ms >= UNIX_MS_MIN) {
        return capped(seconds_ms / 1000 - unix_now_s * 1000);
    }
    if (seconds_ms >= UNIX_S_MIN_MS) {
        return capped(seconds_ms - unix_now_s * 1000);
    }
    if (seconds_ms >= 0) {
        return capped(seconds_ms);
    }
    if (acog_moment_rfc3339(value, &moment)) {
        return capped((moment - unix_now_s) * 1000);
    }
    int64_t duration = read_duration(value);
    return duration < 0 ? -1 : capped(duration);
}

int64_t acog_dialect_retry_after_ms(struct acog_view retry_after, struct acog_view retry_after_ms,
                                    int64_t unix_now_s)
{
    int64_t moment = 0;
    int64_t thousandths = read_number(acog_view_trim(retry_after_ms));
    if (thousandths > 0) {
        return capped(thousandths / 1000 + (thousandths % 1000 > 0 ? 1 : 0));
    }
    retry_after = acog_view_trim(retry_after);
    if (acog_moment_http(retry_after, unix_now_s, &moment)) {
        return capped((moment - unix_now_s) * 1000);
    }
    int64_t milliseconds = acog_dialect_reset_ms(retry_after, unix_now_s);
    return milliseconds < 0 && thousandths == 0 ? 0 : milliseconds;
}
