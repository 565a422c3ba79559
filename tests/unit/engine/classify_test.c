/* classify_test.c - failures meet the policy's rows: first row that fits, any field alone, declared classes only. */
#include "acog/engine.h"
#include "step.h"
#include "tests/support/check.h"
#include "tests/support/engine_rows.h"

#include <string.h>

static enum acog_failure_class with_row(const struct acog_classify_row *row,
                                        const struct acog_failure *failure, bool output_seen)
{
    struct acog_policy policy = {.classify = row, .classify_count = 1};
    policy.classes[row->class].declared = true;
    return acog_classify(&policy, failure, output_seen);
}

static void each_field_of_a_row_can_refuse(void **state)
{
    (void)state;
    const struct acog_failure failure = {
        .cause = ACOG_CAUSE_STATUS, .status = 503, .shapes = ACOG_BIT(ACOG_SHAPE_OVERLOAD)};

    static const struct {
        struct acog_classify_row row;
        bool fits;
    } rows[] = {
        {{.class = ACOG_CLASS_CONFLICT}, true}, /* says nothing: fits all */
        {{.causes = ACOG_BIT(ACOG_CAUSE_STATUS), .class = ACOG_CLASS_CONFLICT}, true},
        {{.causes = ACOG_BIT(ACOG_CAUSE_CUT), .class = ACOG_CLASS_CONFLICT}, false},
        {{.clocks = ACOG_BIT(ACOG_CLOCK_CONNECT), .class = ACOG_CLASS_CONFLICT}, false},
        {{.status_from = 500, .status_to = 599, .class = ACOG_CLASS_CONFLICT}, true},
        {{.status_from = 503, .class = ACOG_CLASS_CONFLICT}, true},
        {{.status_from = 504, .status_to = 599, .class = ACOG_CLASS_CONFLICT}, false},
        {{.status_from = 400, .status_to = 502, .class = ACOG_CLASS_CONFLICT}, false},
        {{.shapes = ACOG_BIT(ACOG_SHAPE_OVERLOAD) | ACOG_BIT(ACOG_SHAPE_KEY_BAD),
          .class = ACOG_CLASS_CONFLICT},
         true},
        {{.shapes = ACOG_BIT(ACOG_SHAPE_KEY_BAD), .class = ACOG_CLASS_CONFLICT}, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(with_row(&rows[i].row, &failure, false),
                         rows[i].fits ? ACOG_CLASS_CONFLICT : ACOG_CLASS_GATEWAY);
    }
}

static void a_clock_row_fits_its_clock_only(void **state)
{
    (void)state;
    const struct acog_classify_row row = {.clocks = ACOG_BIT(ACOG_CLOCK_HEADERS),
                                          .class = ACOG_CLASS_TIMEOUT_HEADERS};
    struct acog_failure failure = {.cause = ACOG_CAUSE_CLOCK, .clock = ACOG_CLOCK_HEADERS};
    assert_int_equal(with_row(&row, &failure, false), ACOG_CLASS_TIMEOUT_HEADERS);
    failure.clock = ACOG_CLOCK_IDLE;
    assert_int_equal(with_row(&row, &failure, false), ACOG_CLASS_GATEWAY);
}

static void a_row_for_the_time_before_output_does_not_fit_after_it(void **state)
{
    (void)state;
    const struct acog_classify_row row = {.causes = ACOG_BIT(ACOG_CAUSE_CUT),
                                          .before_output_only = true,
                                          .class = ACOG_CLASS_STREAM_ERROR_FIRST};
    const struct acog_failure failure = {.cause = ACOG_CAUSE_CUT};
    assert_int_equal(with_row(&row, &failure, false), ACOG_CLASS_STREAM_ERROR_FIRST);
    assert_int_equal(with_row(&row, &failure, true), ACOG_CLASS_GATEWAY);
}

static void the_first_row_wins_and_undeclared_classes_are_passed_over(void **state)
{
    (void)state;
    static const struct acog_classify_row rows[] = {
        {.shapes = ACOG_BIT(ACOG_SHAPE_OVERLOAD), .class = ACOG_CLASS_OVERLOADED},
        {.status_from = 500, .status_to = 599, .class = ACOG_CLASS_SERVER_ERROR},
    };
    const struct acog_failure failure = {
        .cause = ACOG_CAUSE_STATUS, .status = 503, .shapes = ACOG_BIT(ACOG_SHAPE_OVERLOAD)};
    struct acog_policy policy = {.classify = rows, .classify_count = 2};
    policy.classes[ACOG_CLASS_SERVER_ERROR].declared = true;
    assert_int_equal(acog_classify(&policy, &failure, false), ACOG_CLASS_SERVER_ERROR);
    policy.classes[ACOG_CLASS_OVERLOADED].declared = true;
    assert_int_equal(acog_classify(&policy, &failure, false), ACOG_CLASS_OVERLOADED);
}

static void the_five_policies_read_one_failure_in_five_ways(void **state)
{
    (void)state;

    static const struct {
        struct acog_failure failure;
        enum acog_failure_class classes[5]; /* acog, routerplus, rolter, kontinent, onerouter */
    } rows[] = {
        {{.cause = ACOG_CAUSE_STATUS, .status = 503, .shapes = ACOG_BIT(ACOG_SHAPE_OVERLOAD)},
         {ACOG_CLASS_SERVER_ERROR, ACOG_CLASS_SERVER_ERROR, ACOG_CLASS_SERVER_ERROR,
          ACOG_CLASS_OVERLOADED, ACOG_CLASS_SERVER_ERROR}},
        {{.cause = ACOG_CAUSE_STATUS, .status = 400, .shapes = ACOG_BIT(ACOG_SHAPE_OVERLOAD)},
         {ACOG_CLASS_INVALID_REQUEST, ACOG_CLASS_OVERLOADED, ACOG_CLASS_INVALID_REQUEST,
          ACOG_CLASS_INVALID_REQUEST, ACOG_CLASS_INVALID_REQUEST}},
        {{.cause = ACOG_CAUSE_STATUS, .status = 403, .shapes = ACOG_BIT(ACOG_SHAPE_REFUSAL)},
         {ACOG_CLASS_AUTH, ACOG_CLASS_REFUSAL, ACOG_CLASS_REFUSAL, ACOG_CLASS_AUTH,
          ACOG_CLASS_AUTH}},
        {{.cause = ACOG_CAUSE_STATUS,
          .status = 429,
          .shapes = ACOG_BIT(ACOG_SHAPE_REFUSAL)}, /* decision 16 */
         {ACOG_CLASS_THROTTLED, ACOG_CLASS_REFUSAL, ACOG_CLASS_THROTTLED, ACOG_CLASS_THROTTLED,
          ACOG_CLASS_THROTTLED}},
        {{.cause = ACOG_CAUSE_STATUS, .status = 408},
         {ACOG_CLASS_STATUS_408, ACOG_CLASS_INVALID_REQUEST, ACOG_CLASS_STATUS_408,
          ACOG_CLASS_STATUS_408, ACOG_CLASS_INVALID_REQUEST}},
        {{.cause = ACOG_CAUSE_STATUS, .status = 400, .shapes = ACOG_BIT(ACOG_SHAPE_MODEL_UNKNOWN)},
         {ACOG_CLASS_INVALID_REQUEST, ACOG_CLASS_NOT_FOUND, ACOG_CLASS_INVALID_REQUEST,
          ACOG_CLASS_INVALID_REQUEST, ACOG_CLASS_INVALID_REQUEST}},
    };

    for (size_t policy = 0; policy < 5; policy++) {
        struct engine_rows *made = engine_rows_new((enum engine_policy)policy);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            assert_int_equal(acog_classify(&made->snapshot.policy, &rows[i].failure, false),
                             rows[i].classes[policy]);
        }
        engine_rows_free(&made);
    }
}

static void what_is_kept_is_cut_and_never_half_a_character(void **state)
{
    (void)state;
    static struct acog_request request;
    char message[2000];
    memset(message, 'm', sizeof message);
    for (size_t i = 1; i + 1 < sizeof message; i += 2) {
        message[i] = '\xc3';
        message[i + 1] = '\xa9';
    }
    struct acog_failure failure = {.message = {message, sizeof message - 1},
                                   .code = ACOG_VIEW("a_code"),
                                   .type = ACOG_VIEW("a_type")};
    failure.categories[0] = ACOG_VIEW("hate");
    failure.category_count = 1;
    acog_failure_keep(&request, &failure);
    const struct acog_failure *kept = &request.last_failure;
    assert_true(acog_view_equal(kept->code, ACOG_VIEW("a_code")));
    assert_true(acog_view_equal(kept->type, ACOG_VIEW("a_type")));
    assert_true(acog_view_equal(kept->categories[0], ACOG_VIEW("hate")));
    assert_true(kept->message.len > 500 && kept->message.len < sizeof request.texts);
    assert_int_equal((unsigned char)kept->message.ptr[kept->message.len - 1], 0xa9);
    assert_true(kept->message.ptr >= request.texts &&
                kept->message.ptr + kept->message.len <= request.texts + sizeof request.texts);
}

static void a_hostile_code_is_cleaned_in_the_reason(void **state)
{
    (void)state;
    struct engine_rows *rows = engine_rows_new(ENGINE_POLICY_ROLTER);
    static struct acog_request request;
    struct acog_step step = {
        .snapshot = &rows->snapshot, .policy = &rows->snapshot.policy, .request = &request};
    request.last_class = ACOG_CLASS_REFUSAL;
    const struct acog_failure failure = {
        .code = ACOG_VIEW("a\r\nset-cookie: b\xff_and more than a reason can hold, by far, so that "
                          "it must be cut")};
    acog_failure_keep(&request, &failure);
    acog_failure_name_reason(&step);
    assert_true(
        acog_view_starts(request.fallback_reason, ACOG_VIEW("refusal:a__set-cookie:_b__and_more")));
    assert_true(request.fallback_reason.len <= sizeof request.fallback_reason_text);
    engine_rows_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_of_a_row_can_refuse),
        cmocka_unit_test(a_clock_row_fits_its_clock_only),
        cmocka_unit_test(a_row_for_the_time_before_output_does_not_fit_after_it),
        cmocka_unit_test(the_first_row_wins_and_undeclared_classes_are_passed_over),
        cmocka_unit_test(the_five_policies_read_one_failure_in_five_ways),
        cmocka_unit_test(what_is_kept_is_cut_and_never_half_a_character),
        cmocka_unit_test(a_hostile_code_is_cleaned_in_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
