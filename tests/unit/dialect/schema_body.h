/* schema_body.h - schemas for the tests of what becomes of a client's: texts, and what is written of one. */
#ifndef ACOG_TESTS_UNIT_DIALECT_SCHEMA_BODY_H
#define ACOG_TESTS_UNIT_DIALECT_SCHEMA_BODY_H

#include "core/dialect/schema.h"
#include "tests/support/check.h"
#include "tests/support/quotes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 22U)

static inline struct acog_json_value parsed(const char *text)
{
    struct acog_json_value value = {.raw = {0}};
    struct acog_json_error error;
    if (acog_json_check(acog_view_of(text), ACOG_JSON_DEPTH_MAX, &value, &error) != ACOG_OK) {
        fail_msg("%s\n%s at %zu", text, error.what, error.offset);
    }
    return value;
}

static inline char *nested(const char *before, const char *inside, const char *after, size_t times)
{
    size_t bytes = times * (strlen(before) + strlen(after)) + strlen(inside) + 1;
    char *text = malloc(bytes);
    assert_non_null(text);
    text[0] = '\0';
    char *end = text;
    for (size_t i = 0; i < times; i++) {
        end = stpcpy(end, before);
    }
    end = stpcpy(end, inside);
    for (size_t i = 0; i < times; i++) {
        end = stpcpy(end, after);
    }
    return text;
}

/* `count` elements made of `fmt` and their number. */
static inline char *many(const char *before, const char *element, const char *after, int count)
{
    size_t room = strlen(before) + (size_t)count * (strlen(element) + 8) + strlen(after) + 1;
    char *text = malloc(room);
    assert_non_null(text);
    char *end = stpcpy(text, before);
    for (int i = 0; i < count; i++) {
        for (const char *byte = element; *byte != '\0'; byte++) {
            if (*byte == '%') {
                end += snprintf(end, 8, "%d", i);
            } else {
                *end++ = *byte;
            }
        }
        *end++ = i + 1 < count ? ',' : ' ';
    }
    (void)stpcpy(end, after);
    char *quoted = with_quotes(text);
    free(text);
    return quoted;
}

struct written {
    struct acog_buffer out;
    struct acog_request_writer writer;
};

static inline void begin(struct written *written)
{
    *written = (struct written){.writer = {.code = ACOG_OK}};
    acog_buffer_init(&written->out, BYTES_MAX);
    written->writer.out = &written->out;
}

#endif
