/* receipts_test.c - the last decision records (S0.78, S3.17). */
#include "receipts.h"

#include "tests/support/check.h"

#include <stdio.h>

static void add(struct acog_receipts *receipts, const char *id, const char *record)
{
    struct acog_buffer rendered;
    acog_buffer_init(&rendered, ACOG_RECEIPT_BYTES_MAX);
    assert_int_equal(acog_buffer_append(&rendered, acog_view_of(record)), ACOG_OK);
    acog_receipts_add(receipts, acog_view_of(id), &rendered);
    assert_int_equal(rendered.len, 0);
    acog_buffer_fini(&rendered);
}

static bool found(struct acog_receipts *receipts, const char *id, const char *record)
{
    struct acog_buffer out;
    acog_buffer_init(&out, 1024);
    enum acog_code code = acog_receipts_find(receipts, acog_view_of(id), &out);
    bool same = code == ACOG_OK && acog_view_equal(acog_buffer_view(&out), acog_view_of(record));
    acog_buffer_fini(&out);
    return same;
}

static void the_last_ones_are_found_and_older_ones_are_gone(void **state)
{
    (void)state;
    struct acog_receipts *receipts = acog_receipts_new(3);
    assert_non_null(receipts);
    assert_false(found(receipts, "r1", "{1}"));
    assert_false(found(receipts, "", ""));
    for (int i = 1; i <= 5; i++) {
        char id[16];
        char record[16];
        (void)snprintf(id, sizeof(id), "r%d", i);
        (void)snprintf(record, sizeof(record), "{%d}", i);
        add(receipts, id, record);
    }
    assert_false(found(receipts, "r1", "{1}"));
    assert_false(found(receipts, "r2", "{2}"));
    assert_true(found(receipts, "r3", "{3}"));
    assert_true(found(receipts, "r5", "{5}"));
    acog_receipts_free(&receipts);
    assert_null(receipts);
}

static void of_two_with_one_id_the_younger_is_found(void **state)
{
    (void)state;
    struct acog_receipts *receipts = acog_receipts_new(4);
    add(receipts, "same", "{old}");
    add(receipts, "same", "{new}");
    assert_true(found(receipts, "same", "{new}"));
    acog_receipts_free(&receipts);
}

static void what_does_not_fit_where_it_is_copied_is_an_ordinary_error(void **state)
{
    (void)state;
    struct acog_receipts *receipts = acog_receipts_new(1);
    struct acog_buffer small;
    acog_buffer_init(&small, 2);
    add(receipts, "r", "{long}");
    assert_int_equal(acog_receipts_find(receipts, ACOG_VIEW("r"), &small), ACOG_TOO_BIG);
    acog_buffer_fini(&small);
    acog_receipts_free(&receipts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_ones_are_found_and_older_ones_are_gone),
        cmocka_unit_test(of_two_with_one_id_the_younger_is_found),
        cmocka_unit_test(what_does_not_fit_where_it_is_copied_is_an_ordinary_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
