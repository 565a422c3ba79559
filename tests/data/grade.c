/* grade.c - the reviewed table of recorded errors, and what is read beside it. */
#include "tests/data/grade.h"

#include "acog/dialect.h"
#include "acog/engine.h"
#include "acog/policy.h"
#include "acog/shared.h"
#include "core/dialect/moment.h"
#include "tests/support/check.h"
#include "tests/support/corpus.h"

#include <stdio.h>
#include <string.h>

#define NOW_S     INT64_C(1784980800) /* Sat, 25 Jul 2026 12:00:00 GMT */
#define ROW_BYTES 1024
#define ROWS_MAX  1000
#define NONE      "-"

enum column {
    ACOG_COLUMN_KEY = 0,
    ACOG_COLUMN_SHAPES,
    ACOG_COLUMN_CATEGORIES,
    ACOG_COLUMN_CODE,
    ACOG_COLUMN_TYPE,
    ACOG_COLUMN_MESSAGE,
    ACOG_COLUMN_WAIT,
    ACOG_COLUMN_ROUTERPLUS,
    ACOG_COLUMN_ACOG,
    ACOG_COLUMN_SUGGESTED,
    ACOG_COLUMN_REASON,
    ACOG_COLUMN_COUNT
};

struct row {
    struct acog_view columns[ACOG_COLUMN_COUNT];
    bool seen;
};

static struct {
    bool print;
    struct acog_buffer file;
    struct row rows[ROWS_MAX];
    size_t row_count;
    struct acog_snapshot *routerplus;
    struct acog_snapshot *acog;
    size_t errors;
    size_t suggested; /* of those, with a suggestion */
    size_t agree;
    size_t by_status; /* agree too, but the body alone would not tell */
    size_t differ;
    size_t wrong;
} test;

/* -- the table ------------------------------------------------------------------------------------- */

static struct acog_view take(struct acog_view *rest, struct acog_view end)
{
    size_t at = acog_view_find(*rest, end);
    struct acog_view part = acog_view_slice(*rest, 0, at);
    *rest = acog_view_slice(*rest, at + end.len, rest->len);
    return part;
}

static void read_table(const char *path)
{
    char piece[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    acog_buffer_init(&test.file, ACOG_CORPUS_FILE_BYTES_MAX);
    for (size_t got = sizeof(piece); got == sizeof(piece);) {
        got = fread(piece, 1, sizeof(piece), file);
        assert_int_equal(acog_buffer_append(&test.file, (struct acog_view){piece, got}), ACOG_OK);
    }
    (void)fclose(file);
    struct acog_view rest = acog_buffer_view(&test.file);
    while (rest.len > 0) {
        struct acog_view line = take(&rest, ACOG_VIEW("\n"));
        if (line.len == 0 || line.ptr[0] == '#') {
            continue;
        }
        assert_true(test.row_count < ROWS_MAX);
        struct row *row = &test.rows[test.row_count++];
        for (size_t i = 0; i < ACOG_COLUMN_COUNT; i++) {
            row->columns[i] = take(&line, ACOG_VIEW("\t"));
        }
    }
}

static struct row *find_row(struct acog_view key)
{
    for (size_t i = 0; i < test.row_count; i++) {
        if (acog_view_equal(test.rows[i].columns[ACOG_COLUMN_KEY], key)) {
            return &test.rows[i];
        }
    }
    return NULL;
}

/* -- what is read, as a row ------------------------------------------------------------------------ */

/* The class names of the export names that the data uses; NULL: none of them. */
static const char *suggestion_of(enum acog_failure_class class)
{
    static const struct {
        enum acog_failure_class class;
        const char *name;
    } names[] = {
        {ACOG_CLASS_THROTTLED, "rate_limit"},
        {ACOG_CLASS_AUTH, "auth"},
        {ACOG_CLASS_CONTEXT_OVERFLOW, "context_overflow"},
        {ACOG_CLASS_REFUSAL, "content_policy"},
        {ACOG_CLASS_NOT_FOUND, "model_unavailable"},
        {ACOG_CLASS_SERVER_ERROR, "upstream_error"},
        {ACOG_CLASS_OVERLOADED, "upstream_error"},
        {ACOG_CLASS_STREAM_ERROR_FIRST, "upstream_error"},
        {ACOG_CLASS_INVALID_REQUEST, "invalid_request"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].class == class) {
            return names[i].name;
        }
    }
    return NULL;
}

/* Whether the body alone says what was suggested. */
static bool body_says(unsigned shapes, const char *suggested)
{
    static const struct {
        const char *name;
        unsigned must;
        unsigned may;
    } rules[] = {
        {"auth", ACOG_BIT(ACOG_SHAPE_KEY_BAD), 0},
        {"model_unavailable", ACOG_BIT(ACOG_SHAPE_MODEL_UNKNOWN), 0},
        {"context_overflow", ACOG_BIT(ACOG_SHAPE_CONTEXT_OVERFLOW), 0},
        {"rate_limit", ACOG_BIT(ACOG_SHAPE_RATE_LIMIT), 0},
        {"content_policy", ACOG_BIT(ACOG_SHAPE_REFUSAL), 0},
        {"upstream_error", 0, ACOG_BIT(ACOG_SHAPE_OVERLOAD) | ACOG_BIT(ACOG_SHAPE_CANNOT_SERVE)},
        {"invalid_request", 0, 0},
        {"(none)", 0, 0},
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (strcmp(rules[i].name, suggested) == 0) {
            return (shapes & rules[i].must) == rules[i].must &&
                   (shapes & ~(rules[i].must | rules[i].may)) == 0;
        }
    }
    fail_msg("a class that nobody knows: %s", suggested);
    return false;
}

static void put(struct acog_buffer *line, struct acog_view text)
{
    text = text.len > 0 ? text : ACOG_VIEW(NONE);
    for (size_t i = 0; i < text.len; i++) {
        bool space = text.ptr[i] == '\t' || text.ptr[i] == '\n';
        struct acog_view byte = space ? ACOG_VIEW(" ") : acog_view_slice(text, i, i + 1);
        assert_int_equal(acog_buffer_append(line, byte), ACOG_OK);
    }
    assert_int_equal(acog_buffer_append(line, ACOG_VIEW("\t")), ACOG_OK);
}

static void put_joined(struct acog_buffer *line, const struct acog_view *words, size_t count)
{
    char text[ROW_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        int wrote = snprintf(text + used, sizeof(text) - used, "%s%.*s", i == 0 ? "" : ",",
                             ACOG_VIEW_FMT(words[i]));
        assert_true(wrote >= 0);
        used += (size_t)wrote;
    }
    put(line, acog_view_of(text));
}

static enum acog_failure_class class_by(const struct acog_snapshot *snapshot,
                                        const struct found *found)
{
    return acog_classify(&snapshot->policy, &found->failure, false);
}

static struct acog_view class_word(const struct acog_snapshot *snapshot, const struct found *found)
{
    return found->failed ? acog_name(ACOG_VOCABULARY_CLASS, (int)class_by(snapshot, found))
                         : (struct acog_view){0};
}

/* All columns but the reason, each with a tab behind it. */
static void write_row(struct acog_buffer *line, const struct found *found)
{
    struct acog_view shapes[ACOG_SHAPE_COUNT];
    size_t shape_count = 0;
    char wait[24] = "";
    for (int shape = 0; shape < ACOG_SHAPE_COUNT; shape++) {
        if ((found->failure.shapes & ACOG_BIT(shape)) != 0) {
            shapes[shape_count++] = acog_name(ACOG_VOCABULARY_SHAPE, shape);
        }
    }
    if (found->failure.retry_after_ms >= 0) {
        (void)snprintf(wait, sizeof(wait), "%lld", (long long)found->failure.retry_after_ms);
    }
    put(line, acog_view_of(found->key));
    put_joined(line, shapes, shape_count);
    put_joined(line, found->failure.categories, found->failure.category_count);
    put(line, found->failure.code);
    put(line, found->failure.type);
    put(line, found->failure.message.len > 0 ? ACOG_VIEW("message") : ACOG_VIEW(""));
    put(line, acog_view_of(wait));
    put(line, class_word(test.routerplus, found));
    put(line, class_word(test.acog, found));
    put(line, acog_view_of(found->suggested));
}

/* -- grading --------------------------------------------------------------------------------------- */

static void grade_reason(const struct found *found, struct acog_view reason)
{
    if (found->suggested == NULL) {
        return;
    }
    const char *class = found->failed ? suggestion_of(class_by(test.routerplus, found)) : "(none)";
    bool same = class != NULL && strcmp(class, found->suggested) == 0;
    bool says = body_says(found->failure.shapes, found->suggested);
    test.suggested++;
    test.agree += same && says ? 1 : 0;
    test.by_status += same && !says ? 1 : 0;
    test.differ += same ? 0 : 1;
    if ((same && says) != (reason.len == 0)) {
        test.wrong++;
        (void)printf("%s: %s, where %s is suggested: a reason %s\n", found->key,
                     class == NULL ? "another class" : class, found->suggested,
                     reason.len == 0 ? "must be given" : "is one too many");
    }
}

void grade(const struct found *found)
{
    struct acog_buffer line;
    acog_buffer_init(&line, ROW_BYTES);
    write_row(&line, found);
    struct row *row = find_row(acog_view_of(found->key));
    struct acog_view reason =
        row == NULL ? (struct acog_view){0} : row->columns[ACOG_COLUMN_REASON];
    test.errors++;
    if (test.print) {
        (void)printf("%.*s%.*s\n", ACOG_VIEW_FMT(acog_buffer_view(&line)), ACOG_VIEW_FMT(reason));
    } else if (row == NULL) {
        test.wrong++;
        (void)printf("%s: no row\n", found->key);
    } else {
        struct acog_view want = {row->columns[0].ptr, (size_t)(reason.ptr - row->columns[0].ptr)};
        if (!acog_view_equal(want, acog_buffer_view(&line))) {
            test.wrong++;
            (void)printf("table: %.*s\nfound: %.*s\n", ACOG_VIEW_FMT(want),
                         ACOG_VIEW_FMT(acog_buffer_view(&line)));
        }
        row->seen = true;
        grade_reason(found, reason);
    }
    acog_buffer_fini(&line);
}

/* -- waits ----------------------------------------------------------------------------------------- */

void grade_reset(const char *value, const char *date)
{
    char key[KEY_BYTES_MAX];
    char wait[24];
    int64_t now_s = NOW_S;
    bool moment = strchr(value, 'T') != NULL || strlen(value) >= 10;
    assert_true(date == NULL || acog_moment_http(acog_view_of(date), NOW_S, &now_s));
    (void)snprintf(key, sizeof(key), moment && date != NULL ? "reset %s at %s" : "reset %s", value,
                   date);
    (void)snprintf(wait, sizeof(wait), "%lld",
                   (long long)acog_dialect_reset_ms(acog_view_of(value), now_s));
    const struct row *row = find_row(acog_view_of(key));
    if (test.print) {
        (void)printf("%s\t%s\n", key, wait);
    } else if (row == NULL || !acog_view_equal(row->columns[1], acog_view_of(wait))) {
        (void)printf("%s: %s, which the table does not say\n", key, wait);
        test.wrong++;
    }
}

/* -- the end --------------------------------------------------------------------------------------- */

size_t grade_sum_up(void)
{
    if (test.print) {
        return 0;
    }
    for (size_t i = 0; i < test.row_count; i++) {
        struct acog_view key = test.rows[i].columns[ACOG_COLUMN_KEY];
        if (!test.rows[i].seen && !acog_view_starts(key, ACOG_VIEW("reset "))) {
            test.wrong++;
            (void)printf("%.*s: a row without an error\n", ACOG_VIEW_FMT(key));
        }
    }
    (void)printf(
        "errors: %zu read; of the %zu with a suggested class %zu are as suggested, %zu by their "
        "status alone, %zu differ with a reason; %zu wrong\n",
        test.errors, test.suggested, test.agree, test.by_status, test.differ, test.wrong);
    return test.wrong;
}

/* -- policies -------------------------------------------------------------------------------------- */

static struct acog_snapshot *load(const char *policy)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
                   "local acog = require \"acog\"\nreturn acog.gateway { policy = require "
                   "\"policies.%s\", connections = { acog.connection \"a\" { dialects = \"chat\", "
                   "models = { \"m\" }, simulate = true } } }",
                   policy);
    struct acog_policy_options options = {
        .path = "gateway.lua", .text = acog_view_of(text), .offline = true};
    struct acog_shared *shared = acog_shared_new();
    struct acog_snapshot *snapshot = NULL;
    struct acog_report report;
    acog_report_init(&report);
    assert_int_equal(acog_policy_load(&options, shared, &snapshot, &report), ACOG_OK);
    acog_report_fini(&report);
    acog_shared_free(&shared);
    return snapshot;
}

void grade_begin(const char *table_path, bool print)
{
    test.print = print;
    read_table(table_path);
    test.routerplus = load("routerplus");
    test.acog = load("acog");
}

void grade_end(void)
{
    acog_snapshot_unref(&test.routerplus);
    acog_snapshot_unref(&test.acog);
    acog_buffer_fini(&test.file);
}
